"""Files as an attacker would write them, byte by byte."""

from __future__ import annotations

import io
import json
import struct
import zlib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from explorer.spec.entries.live_files import LiveFile
from explorer.storage.formats import avro
from tests.support import direct
from tests.support.small_tables import edit_metadata, newest_metadata

SYNC = b"s" * 16


def long(value: int) -> bytes:
    return avro.write_long(value)


def text(value: bytes) -> bytes:
    return long(len(value)) + value


def avro_file(schema: Any, *blocks: tuple[int, bytes], codec: str = "null", raw: bytes | None = None) -> bytes:
    """An Avro file; `schema` is JSON data, or its bytes. `raw` stands in for the blocks."""
    schema = schema if isinstance(schema, bytes) else json.dumps(schema).encode()
    header = long(2) + text(b"avro.schema") + text(schema) + text(b"avro.codec") + text(codec.encode()) + long(0)
    body = b"".join(long(count) + text(data) + SYNC for count, data in blocks) if raw is None else raw
    return avro.MAGIC + header + SYNC + body


class Victim:
    """A table to be damaged, with the files that its current snapshot names."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        opened = direct.open_table(str(folder))
        snapshot = opened.metadata.current_snapshot
        assert snapshot is not None
        local = opened.reader.storage.check
        self.list = Path(local(str(snapshot.manifest_list)).removeprefix("file://"))
        self.manifest = Path(local(opened.manifests()[0]["manifest_path"]).removeprefix("file://"))
        self.data = Path(local(opened.files()[0]["file_path"]).removeprefix("file://"))

    @property
    def metadata(self) -> Path:
        return newest_metadata(self.folder)

    def edit(self, change: Callable[[dict[str, Any]], Any]) -> None:
        edit_metadata(self.folder, change)

    def schema_with(self, kind: Any, **field: Any) -> dict[str, Any]:
        """The manifest's schema, with one more field of that type in front."""
        schema = json.loads(json.dumps(avro.open_container(self.manifest.read_bytes(), "", header_only=True).schema))
        schema["fields"].insert(0, {"name": "x", "field-id": 999, "type": kind} | field)
        return schema  # type: ignore[no-any-return]

    def manifest_of(self, kind: Any, *blocks: tuple[int, bytes], **field: Any) -> None:
        """Make the manifest one whose records begin with a value of that type."""
        self.manifest.write_bytes(avro_file(self.schema_with(kind, **field), *(blocks or [(1, b"\0" * 64)])))


def zstd(data: bytes) -> bytes:
    return bytes(avro.zstd.compress(data))


def parquet(table: pa.Table, **options: Any) -> bytes:
    out = io.BytesIO()
    pq.write_table(table, out, **options)
    return out.getvalue()


def with_ids(table: pa.Table) -> pa.Table:
    """Columns with the field ids 1, 2, …"""
    fields = [f.with_metadata({"PARQUET:field_id": str(i + 1)}) for i, f in enumerate(table.schema)]
    return table.cast(pa.schema(fields))


def vector_file(bitmap: bytes, footer: bytes | None = None, flags: int = 0) -> tuple[bytes, int]:
    """A Puffin file with one deletion vector at byte 4, and that vector's length."""
    inner = bytes.fromhex("d1d33964") + bitmap
    blob = struct.pack(">I", len(inner)) + inner + struct.pack(">I", zlib.crc32(inner))
    if footer is None:
        footer = json.dumps({"blobs": [{"type": "deletion-vector-v1", "offset": 4, "length": len(blob)}]}).encode()
    end = struct.pack("<i", len(footer)) + bytes([flags, 0, 0, 0]) + b"PFA1"
    return b"PFA1" + blob + b"PFA1" + footer + end, len(blob)


def delete_file(path: Path, size: int | None, count: int, offset: int = 4) -> LiveFile:
    place = {"content_offset": offset, "content_size": size}
    return LiveFile(str(path), "deletion_vector", 0, {}, 1, 1, count, 1, "m.avro", "PUFFIN", **place)


def dictionary_bomb(value: int, rows: int, as_dictionary: bool) -> bytes:
    """One string of `value` bytes, `rows` times, in about a kilobyte; with or without the wish to be read as such."""
    strings = pa.DictionaryArray.from_arrays(pa.array([0] * rows, pa.int32()), pa.array(["x" * value]))
    table = with_ids(pa.table({"id": pa.array(range(rows), pa.int64()), "fruit": strings}))
    return parquet(table, compression="zstd", store_schema=as_dictionary)


def roaring(containers: Iterable[bytes]) -> bytes:
    """A 64-bit bitmap of 32-bit bitmaps."""
    parts = list(containers)
    return struct.pack("<Q", len(parts)) + b"".join(struct.pack("<I", i) + part for i, part in enumerate(parts))
