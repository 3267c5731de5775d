"""The footer of a Puffin file (Puffin spec, "Footer structure"): which blobs it holds and where."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from explorer.errors import UnreadableFile
from explorer.model.problem import Problems
from explorer.storage import limits
from explorer.storage.excerpts import quote
from explorer.storage.formats.json_text import load_json
from explorer.storage.storage import Storage

MAGIC = b"PFA1"
TAIL, MAX_FOOTER = 16 << 10, 16 << 20


class NoPuffin(UnreadableFile):
    """A file that does not end as Puffin files do."""


def read_footer(storage: Storage, path: str) -> dict[str, Any]:
    """The footer's JSON: `blobs` (type, fields, snapshot-id, sequence-number, offset, length, properties) and
    `properties`. Raises UnreadableFile saying which part of the file is wrong."""
    tail, size = storage.tail(path, TAIL)
    if size < 16:
        raise UnreadableFile(path, f"too short for a Puffin file: {size} bytes")
    if tail[-4:] != MAGIC:
        raise NoPuffin(path, f"not a Puffin file: it ends with {quote(tail[-4:])}, not {MAGIC!r}")
    length, compressed = int.from_bytes(tail[-12:-8], "little", signed=True), tail[-8] & 1
    if not 0 <= length <= size - 16:
        raise UnreadableFile(path, f"the Puffin footer claims {length} bytes in a file of {size}")
    limits.within(length, MAX_FOOTER, path, "bytes of Puffin footer")
    if length + 16 > len(tail):
        tail = storage.read(path, size - 16 - length, length + 16)
    begin = len(tail) - 16 - length
    payload = tail[begin + 4 : begin + 4 + length]
    if tail[begin : begin + 4] != MAGIC:
        raise UnreadableFile(path, "the Puffin footer does not start with its magic")
    try:
        if compressed:
            payload = pa.input_stream(pa.BufferReader(payload), compression="lz4").read(MAX_FOOTER + 1)
            limits.within(len(payload), MAX_FOOTER, path, "bytes of Puffin footer, unpacked")
        footer = load_json(payload, path, Problems(path))
    except UnreadableFile as error:
        raise UnreadableFile(path, f"the Puffin footer cannot be read: {error.cause}") from error
    except (ValueError, OSError) as error:
        raise UnreadableFile(path, f"the Puffin footer cannot be unpacked: {error}") from error
    if not isinstance(footer, dict):
        raise UnreadableFile(path, "the Puffin footer is not a JSON object")
    blobs = footer.get("blobs")
    if not isinstance(blobs, list) or not all(map(is_blob, blobs)):
        raise UnreadableFile(path, "the Puffin footer has no list of blobs")
    return footer


def is_blob(raw: Any) -> bool:
    """Return whether JSON tells of a blob as the spec has it, in a footer or in a metadata file: what it has of a type,
    fields and properties has their types."""
    if not isinstance(raw, dict):
        return False
    fields, properties = raw.get("fields", []), raw.get("properties")
    return (
        isinstance(raw.get("type", ""), str)
        and isinstance(fields, list)
        and all(type(own) is int for own in fields)
        and (properties is None or isinstance(properties, dict))
    )


def read_blob(storage: Storage, path: str, kind: str, field_id: int, most: int) -> bytes:
    """Return the bytes of one blob, unpacked.

    Args:
        storage: Where the file is.
        path: The Puffin file.
        kind: The type of the blob.
        field_id: The one field that it is about.
        most: The most bytes that it may have.

    Raises:
        UnreadableFile: There is no such blob, or it cannot be read.
    """
    blobs = [blob for blob in read_footer(storage, path)["blobs"]
             if blob.get("type") == kind and blob.get("fields") == [field_id]]  # fmt: skip
    if not blobs:
        raise UnreadableFile(path, f"it has no blob of type {kind} for the field {field_id}")
    offset, length, codec = (blobs[0].get(name) for name in ("offset", "length", "compression-codec"))
    if type(offset) is not int or type(length) is not int or offset < 0 or length < 0:
        raise UnreadableFile(path, "its footer does not say where a blob is")
    limits.within(length, most, path, "bytes of a blob")
    data = storage.read(path, offset, length)
    if codec is None:
        return data
    if codec not in ("lz4", "zstd"):
        raise UnreadableFile(
            path, f"a blob has the codec {quote(str(codec).encode()[:40])}, which Puffin does not have"
        )
    try:
        unpacked: bytes = pa.input_stream(pa.BufferReader(data), compression=codec).read(most + 1)
    except (ValueError, OSError) as error:
        raise UnreadableFile(path, f"a blob cannot be unpacked: {error}") from error
    limits.within(len(unpacked), most, path, "bytes of a blob, unpacked")
    return unpacked
