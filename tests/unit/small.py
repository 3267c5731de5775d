"""Small tables written by pyiceberg: real commits without Spark, for tests of reading and of bad input."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyiceberg.catalog.sql import SqlCatalog


def make_table(folder: Path, commits: int = 3, **properties: str) -> Path:
    """A table of `commits` appends; returns the table's folder."""
    folder.mkdir(parents=True, exist_ok=True)
    catalog = SqlCatalog("small", uri=f"sqlite:///{folder}/catalog.db", warehouse=f"file://{folder}/warehouse")
    catalog.create_namespace("db")
    schema = pa.schema([("id", pa.int64()), ("fruit", pa.string())])
    table = catalog.create_table("db.t", schema, properties=properties)
    for i in range(commits):
        table.append(pa.table({"id": [i, i + 100], "fruit": [f"fruit-{i}", None]}, schema))
    catalog.engine.dispose()
    return folder / "warehouse" / "db" / "t"


def partitioned(folder: Path) -> Path:
    """A table of 130 partitions, a file each, whose names are no text to a browser or TeX; returns its folder."""
    folder.mkdir(parents=True, exist_ok=True)
    catalog = SqlCatalog("small", uri=f"sqlite:///{folder}/catalog.db", warehouse=f"file://{folder}/warehouse")
    catalog.create_namespace("db")
    rows = pa.table({"id": range(130), "kind": ["$$x$$" if i % 13 else "<b>" for i in range(130)]})
    table = catalog.create_table("db.parts", rows.schema)
    with table.update_spec() as spec:
        spec.add_identity("id")
        spec.add_identity("kind")
    table.append(rows)
    catalog.engine.dispose()
    return folder / "warehouse" / "db" / "parts"


def newest_metadata(table: Path) -> Path:
    return max((table / "metadata").glob("*.metadata.json"))


def edit_metadata(table: Path, change: Any) -> Path:
    """Apply `change(dict)` to the newest metadata file, in place."""
    path = newest_metadata(table)
    data = json.loads(path.read_text())
    change(data)
    path.write_text(json.dumps(data))
    return path
