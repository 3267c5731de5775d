"""Small tables written by pyiceberg: real commits without Spark, for tests of reading and of bad input."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.table import Table


@cache
def _catalog() -> SqlCatalog:
    """In the memory of the process, for tests that ask the folder only: one of its own took each table longer than its
    commits. It is known to one thread."""
    catalog = SqlCatalog("small", uri="sqlite://")
    catalog.create_namespace("db")
    return catalog


def new_table(place: Path, schema: pa.Schema, **properties: str) -> Table:
    """A table without snapshots, whose folder is `place`."""
    return _catalog().create_table(("db", str(place)), schema, location=f"file://{place}", properties=properties)


def writable(place: Path) -> Table:
    """The table of this module whose folder is `place`, to commit to."""
    return _catalog().load_table(("db", str(place)))


def set_back(place: Path) -> None:
    """Let the catalog point to the metadata file before the newest one, and remove that one, as where another writer
    replaces it."""
    newest = newest_metadata(place)
    newest.unlink()
    _catalog().drop_table(("db", str(place)))
    _catalog().register_table(("db", str(place)), f"file://{newest_metadata(place)}")


def in_catalog(place: Path, name: str = "small", namespace: str = "db", table: str = "t") -> dict[str, str]:
    """The properties of a new catalog, kept in a file, in which the table in `place` is `db.t`."""
    properties = {"type": "sql", "uri": f"sqlite:///{place.parent}/catalog.db", "warehouse": f"file://{place.parent}"}
    catalog = SqlCatalog(name, **properties)
    catalog.create_namespace((namespace,))
    catalog.register_table((namespace, table), f"file://{newest_metadata(place)}")
    catalog.engine.dispose()
    return properties


def make_table(folder: Path, commits: int = 3, **properties: str) -> Path:
    """A table of `commits` appends; returns the table's folder."""
    place = folder / "warehouse" / "db" / "t"
    schema = pa.schema([("id", pa.int64()), ("fruit", pa.string())])
    table = new_table(place, schema, **properties)
    for i in range(commits):
        table.append(pa.table({"id": [i, i + 100], "fruit": [f"fruit-{i}", None]}, schema))
    return place


def partitioned(folder: Path) -> Path:
    """A table of 130 partitions, a file each, whose names are no text to a browser or TeX; returns its folder."""
    place = folder / "warehouse" / "db" / "parts"
    rows = pa.table({"id": range(130), "kind": ["$$x$$" if i % 13 else "<b>" for i in range(130)]})
    table = new_table(place, rows.schema)
    with table.update_spec() as spec:
        spec.add_identity("id")
        spec.add_identity("kind")
    table.append(rows)
    return place


def newest_metadata(table: Path) -> Path:
    return max((table / "metadata").glob("*.metadata.json"))


def edit_metadata(table: Path, change: Any) -> Path:
    """Apply `change(dict)` to the newest metadata file, in place."""
    path = newest_metadata(table)
    data = json.loads(path.read_text())
    change(data)
    path.write_text(json.dumps(data))
    return path
