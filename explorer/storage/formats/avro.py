"""Avro container files (Avro spec 1.11, "Object Container Files"), opened with care.

We walk the container ourselves: header, then blocks, each unpacked with a size limit. That gives byte offsets for
errors, keeps the good blocks of a truncated file, reads every codec, and lets bad schemas and counts be refused before
any decoder sees them (fastavro crashes on self-referencing schemas and hangs on huge counts of empty records). The
unpacked blocks then go to polars in bulk, or to fastavro record by record: here, when schema and blocks are of the kind
that Iceberg's writers make, else in a child process that may die of them (storage.decoder_process.client)."""

from __future__ import annotations

import bz2
import functools
import io
import json
import lzma
import sys
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import fastavro
from isal import isal_zlib

from explorer.errors import UnreadableFile
from explorer.model.problem import Problem, Problems
from explorer.progress import check_cancellation
from explorer.storage import limits
from explorer.storage.decoder_process import client
from explorer.storage.excerpts import quote
from explorer.storage.formats.avro_schema import Shape, check_schema, load_schema
from explorer.storage.formats.encryption import refuse_encrypted

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

MAGIC = b"Obj\x01"
PLAIN_BLOCK = 16 << 20
"""Unpacked bytes; writers end a block after 16 to 64 KB, pyiceberg's manifest lists are one block."""
PLAIN_RECORDS = 512 << 10
"""The same where records become Python objects, of up to 250 times their bytes."""
SNAPPY_RATIO = 32
"""Snappy's densest element writes 64 bytes from 3."""
XZ_MEMORY = 256 << 20


@dataclass(frozen=True)
class AvroBlock:
    """One block: its byte offset in the file, the number of records, and the unpacked bytes."""

    offset: int
    count: int
    data: bytes = field(repr=False)


@dataclass(frozen=True)
class Container:
    """An opened Avro file. `problems` says what of it could not be read; `blocks` is all that could. A `plain` one is
    decoded in this process, any other in a child (see storage.formats.avro_schema)."""

    path: str
    schema: Any = field(repr=False)
    metadata: Mapping[str, str]
    codec: str
    blocks: tuple[AvroBlock, ...] = field(repr=False)
    problems: tuple[Problem, ...] = ()
    plain: bool = True

    @property
    def count(self) -> int:
        """Number of records in the readable blocks."""
        return sum(block.count for block in self.blocks)


def _long(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return (value >> 1) ^ -(value & 1), at
        shift += 7
        if shift > 63:
            raise ValueError("a number has more than ten bytes")


def write_long(value: int) -> bytes:
    """Return a number as Avro writes it: zigzag, seven bits a byte."""
    value, out = (value << 1) ^ (value >> 63), bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _read_bytes(data: bytes, at: int) -> tuple[bytes, int]:
    size, at = _long(data, at)
    if size < 0 or at + size > len(data):
        raise IndexError
    return data[at : at + size], at + size


def _unpack(codec: str, data: bytes, room: int, most: int) -> bytes:
    """A block's bytes, for which there is `room` of the `most` that its file may unpack to. Raises ValueError."""
    too_much = f"unpacks to more than {most} bytes in all"
    if room <= 0:  # which decoders would take for: no limit
        raise ValueError(too_much)
    if codec == "null":
        return data
    if codec == "deflate":
        unpacker = isal_zlib.decompressobj(-15)  # 3 times as fast as zlib
        out = unpacker.decompress(data, room)
        if unpacker.unconsumed_tail or (len(out) >= room and not unpacker.eof):  # what it holds back is no tail
            raise ValueError(too_much)
        return out
    if codec == "snappy":
        size, shift = 0, 0  # raw snappy starts with its unpacked size; Avro adds a 4-byte CRC at the end
        for byte in data[:5]:
            size |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                break
        if size > room:
            raise ValueError(too_much)
        if size > SNAPPY_RATIO * len(data):
            raise ValueError(f"claims to unpack {len(data)} bytes of snappy to {size}")
        import pyarrow

        out = pyarrow.decompress(data[:-4], decompressed_size=size, codec="snappy", asbytes=True)
        if zlib.crc32(out) != int.from_bytes(data[-4:], "big"):
            raise ValueError("snappy checksum does not match")
        return bytes(out)
    makers: dict[str, Callable[[], Any]] = {
        "zstandard": zstd.ZstdDecompressor,
        "bzip2": bz2.BZ2Decompressor,
        "xz": lambda: lzma.LZMADecompressor(memlimit=XZ_MEMORY),
    }
    if codec not in makers:
        raise ValueError(f"unknown codec {codec[:40]!r}")
    stream = makers[codec]()
    out = bytes(stream.decompress(data, max_length=room))
    if not stream.eof:
        raise ValueError(f"is cut off, or {too_much}")
    return out


def _schema(text: bytes, path: str) -> tuple[Any, Shape]:
    try:
        return cached_schema(text)
    except UnreadableFile as error:
        raise UnreadableFile(path, error.cause) from error


@functools.lru_cache(16)
def cached_schema(text: bytes) -> tuple[Any, Shape]:
    """A schema and its shape; manifests of a table share a few. Raises UnreadableFile."""
    schema = load_schema(text, "")
    return schema, check_schema(schema, "")


@dataclass(frozen=True)
class Header:
    """The header of an Avro file: its schema, as text too, and what that amounts to, its codec, its other metadata, and
    the byte at which its first block starts."""

    text: bytes = field(repr=False)
    schema: Any = field(repr=False)
    shape: Shape
    codec: str
    metadata: Mapping[str, str]
    start: int


def read_header(data: bytes, path: str) -> Header:
    """Read the header of an Avro file's bytes. Raises UnreadableFile when it is unusable."""
    if data[:4] != MAGIC:
        refuse_encrypted(data[:4], path)
        what = "it is empty" if not data else f"it starts with {quote(data[:12])}, not with Avro's {MAGIC!r}"
        raise UnreadableFile(path, f"not an Avro file: {what}")
    try:
        meta: dict[str, bytes] = {}
        count, at = _long(data, 4)
        while count:
            if count < 0:  # a negative count is followed by the size in bytes
                _, at = _long(data, at)
            for _ in range(abs(count)):
                check_cancellation()
                key, at = _read_bytes(data, at)
                value, at = _read_bytes(data, at)
                meta[key.decode()] = value
            count, at = _long(data, at)
        at += 16
        if at > len(data):
            raise IndexError
        text = meta["avro.schema"]
    except (IndexError, ValueError, KeyError) as error:
        why = "cut off inside the Avro header" if isinstance(error, IndexError) else f"damaged Avro header: {error!r}"
        raise UnreadableFile(path, f"{why} ({len(data)} bytes)") from error
    schema, shape = _schema(text, path)
    codec = meta.get("avro.codec", b"null").decode("latin-1")
    others = {k: v.decode("utf-8", "replace") for k, v in meta.items() if k != "avro.schema"}
    return Header(text, schema, shape, codec, others, at)


def open_container(data: bytes, path: str, header_only: bool = False, room: int | None = None) -> Container:
    """Open an Avro file's bytes, which unpack to no more than `room`, or else to as many as any file. Raises
    UnreadableFile when the header is unusable; damage after it is a Problem."""
    header = read_header(data, path)
    shape = header.shape
    if header_only:
        return Container(path, header.schema, header.metadata, header.codec, (), plain=shape.plain)
    sync = data[header.start - 16 : header.start]
    blocks, problems = _blocks(data, header.start, sync, header.codec, path, shape.least, room or limits.UNPACKED)
    plain = shape.plain and all(len(block.data) <= PLAIN_BLOCK for block in blocks)
    return Container(path, header.schema, header.metadata, header.codec, tuple(blocks), tuple(problems), plain)


def _blocks(
    data: bytes, at: int, sync: bytes, codec: str, path: str, least: int, most: int
) -> tuple[list[AvroBlock], list[Problem]]:
    """`least`: the fewest bytes that a record takes, which bounds the records that a block can hold; `most`: the bytes
    that all blocks may unpack to."""
    blocks: list[AvroBlock] = []
    problems = Problems(path)
    room, read, empty = most, 0, 0
    while at < len(data):
        check_cancellation()
        offset = at
        kept = f"the {read} records before it are shown" if read else "nothing before it could be read"
        try:
            count, at = _long(data, at)
            packed, at = _read_bytes(data, at)
            if data[at : at + 16] != sync:
                cause = "the file is cut off" if at + 16 > len(data) else "the sync marker does not match"
                raise ValueError(cause)
            at += 16
            unpacked = _unpack(codec, packed, room, most)
            room -= len(unpacked)
            if not 0 <= count <= len(unpacked) // least:
                raise ValueError(f"claims {count} records in {len(unpacked)} bytes")
        except IndexError:
            problems.add(f"the file is cut off at byte {len(data)}", f"byte {offset}", kept)
            break
        except Exception as error:  # each codec has exceptions of its own
            problems.add(f"damaged block: {error}", f"byte {offset}", kept)
            break
        if count:
            blocks.append(AvroBlock(offset, count, unpacked))
            read += count
        else:
            empty += 1
    if empty > 1:  # pyiceberg writes one into a list without manifests
        problems.add(f"{empty:,} of its blocks have no records, which no writer makes", severity="warning")
    return blocks, problems.as_list()


class Undecodable(Exception):
    """A decoder refused the bytes, or broke on them."""


def repack(container: Container, schema: Any = None) -> bytes:
    """The readable blocks as an Avro file without compression, under the writer's schema or another one that reads the
    same bytes."""
    sync = b"icedive-sync-16b"
    text = json.dumps(schema or container.schema).encode()
    out = [MAGIC, write_long(1), write_long(11), b"avro.schema", write_long(len(text)), text, write_long(0), sync]
    for block in container.blocks:
        out += [write_long(block.count), write_long(len(block.data)), block.data, sync]
    return b"".join(out)


def records(container: Container, start: int = 0, limit: int | None = None) -> Iterator[dict[str, Any]]:
    """The records as stored, with every field the writer wrote. Raises UnreadableFile naming the record."""
    if container.plain and all(len(block.data) <= PLAIN_RECORDS for block in container.blocks):
        return records_here(container, start, limit)
    return client.records(container.path, repack(container), start, limit)


def records_here(container: Container, start: int = 0, limit: int | None = None) -> Iterator[dict[str, Any]]:
    """`records` by fastavro, in this process."""
    try:
        schema = fastavro.parse_schema(container.schema)
    except Exception as error:  # names and defaults that our own check lets pass
        raise UnreadableFile(container.path, f"damaged Avro schema: {error!r}") from error
    position = 0
    end = container.count if limit is None else min(container.count, start + limit)
    for block in container.blocks:
        if position + block.count <= start:
            position += block.count
            continue
        stream = io.BytesIO(block.data)
        for _ in range(block.count):
            if position >= end:
                return
            try:
                record = fastavro.schemaless_reader(stream, schema, None)
            except Exception as error:  # fastavro raises whatever it trips over
                cause = f"record {position} (block at byte {block.offset}) cannot be decoded: {error!r}"
                raise UnreadableFile(container.path, cause[:500]) from error
            if position >= start:
                yield record  # type: ignore[misc]
            position += 1
