"""Tables of one manifest whose header says something else than the manifest list and the table's metadata."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from tests.cases.mini import Table
from tests.cases.vectors import with_vector

ENTRIES = json.dumps(
    {
        "type": "struct",
        "schema-id": 0,
        "fields": [
            {"id": 0, "name": "status", "required": True, "type": "int"},
            {"id": 1, "name": "snapshot_id", "required": False, "type": "long"},
            {"id": 2, "name": "data_file", "required": True, "type": {"type": "struct", "fields": []}},
        ],
    }
)
"""The schema of manifest entries, where that of the table belongs (duckdb-iceberg#799)."""
KINDS = ("data", "positions", "equality", "vector")
HEADERS: Mapping[str, Mapping[str, str | None]] = {
    "content": {"content": "other"},
    "entries": {"schema": ENTRIES, "schema-id": None},
    "schema": {"schema": "odd"},
    "spec-id": {"partition-spec-id": "5"},
    "spec-id odd": {"partition-spec-id": "odd"},
    "spec odd": {"partition-spec": "odd"},
    "version odd": {"format-version": "odd"},
}
RULES = {"content": "manifest-content", "spec-id": "spec-unknown"}
"""By header: the rule that tells of it, where that is not avro-schema."""


def with_header(folder: Path, name: str, kind: str) -> str:
    """Write three rows, the second of them hidden unless the header is that of the data manifest."""
    header = dict(HEADERS[name])
    if kind == "vector":
        return with_vector(folder, version=3, header=_of(header, "data"))
    table = Table(folder, [(1, "id", "long")])
    data = table.parquet("a.parquet", {"id": [1, 2, 3]})
    own = _of(header, "deletes") if kind == "data" else {}
    table.snapshot("append", [table.manifest("m0.avro", [(1, data)], header=own)], {"added-data-files": "1"})
    if kind != "data":
        delete = (
            table.position_delete("d.parquet", [(data["file_path"], 1)])
            if kind == "positions"
            else table.equality_delete("d.parquet", {"id": [2]})
        )
        manifest = table.manifest("m1.avro", [(1, delete)], content=1, header=_of(header, "data"))
        table.snapshot("delete", [*table.lists[101], manifest], {"added-delete-files": "1"})
    return str(folder)


def _of(header: dict[str, str | None], other: str) -> dict[str, str | None]:
    return {key: other if key == "content" else value for key, value in header.items()}


def without_fields(folder: Path, fields: Collection[str], version: int = 2) -> str:
    """Write two appends whose manifests lack fields of entries."""

    def lacking(schema: Any) -> None:
        schema["fields"] = [f for f in schema["fields"] if f["name"] not in fields]

    table = Table(folder, [(1, "id", "long")], version=version)
    listed: list[Any] = []
    for number in (1, 2):
        file = table.parquet(f"{number}.parquet", {"id": [number]})
        listed.append(table.manifest(f"m{number}.avro", [(1, file)], edit_schema=lacking))
        table.snapshot("append", list(listed), {"added-data-files": "1", "added-records": "1"})
    return str(folder)
