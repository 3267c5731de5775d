"""Avro container files (Avro spec 1.11, "Object Container Files"), written record by record.

The values are those that lie under Avro's logical types, so that each is written as it was read."""

from __future__ import annotations

import io
import json
import zlib
from collections.abc import Callable, Iterable, Mapping
from typing import IO, Any

import fastavro

from explorer.storage.formats.avro import MAGIC, write_long, zstd

SYNC = b"icedive-sync-16b"
BLOCK = 64 << 10
"""Bytes after which a block ends."""


def without_logical_types(schema: Any) -> Any:
    """Return an Avro schema whose values are numbers, texts and bytes only: it reads and writes the same bytes."""
    if isinstance(schema, list):
        return [without_logical_types(option) for option in schema]
    if not isinstance(schema, Mapping):
        return schema
    plain = {key: value for key, value in schema.items() if key != "logicalType"}
    for key in ("type", "items", "values"):
        if key in plain:
            plain[key] = without_logical_types(plain[key])
    if isinstance(plain.get("fields"), list):
        plain["fields"] = [without_logical_types(field) for field in plain["fields"]]
    return plain


def write_avro(
    file: IO[bytes], schema: Any, header: Mapping[str, str], codec: str, records: Iterable[Mapping[str, Any]]
) -> int:
    """Write an Avro file.

    Args:
        file: Where to.
        schema: The schema that its header has.
        header: The other metadata of its header.
        codec: null, deflate or zstandard; of another codec, deflate.
        records: The records; their values are those under the logical types.

    Returns:
        The bytes that were written.

    Raises:
        ValueError, TypeError, KeyError, OverflowError: A record does not fit the schema.
    """
    parsed = fastavro.parse_schema(without_logical_types(schema))
    name, compress = _COMPRESS.get(codec, _COMPRESS["deflate"])
    metadata = {"avro.schema": json.dumps(schema), "avro.codec": name} | dict(header)
    written = file.write(MAGIC + write_long(len(metadata)))
    for key, text in metadata.items():
        written += file.write(b"".join(write_long(len(part)) + part for part in (key.encode(), text.encode())))
    written += file.write(write_long(0) + SYNC)
    block, count = io.BytesIO(), 0

    def end_block() -> int:
        data = compress(block.getvalue())
        return file.write(write_long(count) + write_long(len(data)) + data + SYNC)

    for record in records:
        fastavro.schemaless_writer(block, parsed, dict(record))
        count += 1
        if block.tell() >= BLOCK:
            written += end_block()
            block, count = io.BytesIO(), 0
    return written + (end_block() if count else 0)


def _deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(data) + packer.flush()


_COMPRESS: Mapping[str, tuple[str, Callable[[bytes], bytes]]] = {
    "null": ("null", bytes), "deflate": ("deflate", _deflate), "zstandard": ("zstandard", zstd.compress),
}  # fmt: skip
