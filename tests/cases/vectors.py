"""A table with one deletion vector, whose manifest entry may lack fields."""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from pyroaring import BitMap64

from tests.cases.mini import Table

FIELDS = ("content_offset", "content_size_in_bytes", "referenced_data_file")
IDS = {"referenced_data_file": 143, "content_offset": 144, "content_size_in_bytes": 145}


def with_vector(
    folder: Path, missing: Collection[str] = (), version: int = 2, header: Mapping[str, str | None] | None = None
) -> str:
    """Rows 1 to 3, the second hidden by a deletion vector.

    Args:
        folder: Where the table is made.
        missing: Those of FIELDS that the vector's manifest has not.
        version: The table's format version.
        header: Keys of the header of the vector's manifest that are another than the spec's, None where it lacks them.

    Returns:
        The folder.
    """
    table = Table(folder, [(1, "id", "long")], version=version)
    data = table.parquet("a.parquet", {"id": [1, 2, 3]})
    table.append(data)
    body = struct.pack("<I", 1681511377) + BitMap64([1]).serialize()
    blob = struct.pack(">I", len(body)) + body + struct.pack(">I", zlib.crc32(body))
    named = {"referenced-data-file": data["file_path"], "cardinality": "1"}
    about = {"type": "deletion-vector-v1", "fields": [2147483645], "snapshot-id": -1, "sequence-number": -1}
    blobs = [{**about, "offset": 4, "length": len(blob), "properties": named}]
    foot = json.dumps({"blobs": blobs, "properties": {}}).encode()
    stored = b"PFA1" + blob + b"PFA1" + foot + struct.pack("<I", len(foot)) + b"\0\0\0\0" + b"PFA1"
    path = f"{table.location}/data/dv.puffin"
    table.local(path).write_bytes(stored)
    entry = {
        "content": 1, "file_path": path, "file_format": "PUFFIN", "partition": {}, "record_count": 1,
        "file_size_in_bytes": len(stored), "referenced_data_file": data["file_path"], "content_offset": 4,
        "content_size_in_bytes": len(blob),
    }  # fmt: skip

    def edit(schema: Any) -> None:
        fields = next(f for f in schema["fields"] if f["name"] == "data_file")["type"]["fields"]
        there = [f for f in fields if f["field-id"] not in IDS.values()]
        kept = {name: field_id for name, field_id in IDS.items() if name not in missing}
        added = [
            {"name": n, "type": ["null", "string" if i == 143 else "long"], "default": None, "field-id": i}
            for n, i in kept.items()
        ]
        fields[:] = [*there, *added]

    manifest = table.manifest(f"{table.uid()}-m1.avro", [(1, entry)], content=1, edit_schema=edit, header=header)
    table.snapshot("delete", [*table.lists[101], manifest], {"added-delete-files": "1", "added-dvs": "1"})
    return str(folder)
