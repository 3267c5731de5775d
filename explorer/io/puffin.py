"""The footer of a Puffin file (Puffin spec, "Footer structure"): which blobs it holds and where."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from explorer.errors import UnreadableFile
from explorer.io import budget
from explorer.io.json_text import load_json
from explorer.io.storage import Storage

MAGIC = b"PFA1"
MAX_FOOTER = 16 << 20


def read_footer(storage: Storage, path: str) -> dict[str, Any]:
    """The footer's JSON: `blobs` (type, fields, snapshot-id, sequence-number, offset, length, properties) and
    `properties`. Raises UnreadableFile saying which part of the file is wrong."""
    size = storage.size(path)
    if size < 16:
        raise UnreadableFile(path, f"too short for a Puffin file: {size} bytes")
    tail = storage.read(path, size - 12, 12)
    if tail[8:] != MAGIC:
        raise UnreadableFile(path, f"not a Puffin file: it ends with {tail[8:]!r}, not {MAGIC!r}")
    length, compressed = int.from_bytes(tail[:4], "little", signed=True), tail[4] & 1
    if not 0 <= length <= size - 16:
        raise UnreadableFile(path, f"the Puffin footer claims {length} bytes in a file of {size}")
    budget.within(length, MAX_FOOTER, path, "bytes of Puffin footer")
    payload = storage.read(path, size - 12 - length, length)
    if storage.read(path, size - 16 - length, 4) != MAGIC:
        raise UnreadableFile(path, "the Puffin footer does not start with its magic")
    try:
        if compressed:
            payload = pa.input_stream(pa.BufferReader(payload), compression="lz4").read(MAX_FOOTER + 1)
            budget.within(len(payload), MAX_FOOTER, path, "bytes of Puffin footer, unpacked")
        footer = load_json(payload, path, [])
    except UnreadableFile as error:
        raise UnreadableFile(path, f"the Puffin footer cannot be read: {error.cause}") from error
    except (ValueError, OSError) as error:
        raise UnreadableFile(path, f"the Puffin footer cannot be unpacked: {error}") from error
    if not isinstance(footer, dict):
        raise UnreadableFile(path, "the Puffin footer is not a JSON object")
    blobs = footer.get("blobs")
    if not isinstance(blobs, list) or not all(isinstance(blob, dict) for blob in blobs):
        raise UnreadableFile(path, "the Puffin footer has no list of blobs")
    return footer
