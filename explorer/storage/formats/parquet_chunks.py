"""Dictionaries, bloom filters and page indexes of Parquet's column chunks (parquet-format's parquet.thrift). Only their
ranges of a file are read; the child process of storage.decoder_process.client decodes them."""

from __future__ import annotations

import bisect
import zlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from explorer.errors import UnreadableFile
from explorer.spec.scan.chunk_tests import ChunkPart, Unread
from explorer.storage.decoder_process.client import from_json, run
from explorer.storage.formats.thrift import Compact
from explorer.storage.storage import Storage

LARGEST = 16 << 20
"""Bytes of one dictionary, also unpacked, one bloom filter or index; writers make them of 2 MiB at most by default."""
VALUES = 1 << 19
"""Values of a dictionary, and pages of an index: 2 MiB of the shortest numbers."""
BLOOM = (1 << 20) + 64
"""Bytes read of a bloom filter whose length is not told: the largest by default, and its header."""
GAP = 64 << 10
"""Bytes that are read, too, to make one range of two."""
CODECS = {1: "snappy", 2: "gzip", 4: "brotli", 6: "zstd", 7: "lz4_raw"}
_DICTIONARY, _LEVELS, _DATA_PAGES = {2, 8}, {3, 4}, (0, 3)
"""Encodings of dictionary encoded pages and of levels; types of pages."""
_WIDTHS = {"INT32": "<i4", "INT64": "<i8", "FLOAT": "<f4", "DOUBLE": "<f8"}
_INT96 = 12
"""Bytes of one."""


def places(footer: bytes, columns: Sequence[int]) -> list[list[dict[str, Any]]]:
    """Where the parts of the chunks of these columns are, for each row group. In the child; of a file's last bytes."""
    return [[_places(group[1][at]) for at in columns] for group in Compact(footer[:-8]).struct()[4]]


def _places(chunk: Mapping[int, Any]) -> dict[str, Any]:
    about = chunk[3]
    first, page, bloom = about.get(11, 0), about[9], about.get(14, 0)
    places = {
        "dictionary": [(first, page - first)] if 0 < first < page else [],
        "bloom filter": [(bloom, about.get(15, BLOOM))] if bloom > 0 else [],
        "page index": [(chunk[6], chunk[7]), (chunk[4], chunk[5])] if {4, 5, 6, 7} <= set(chunk) else [],
    }
    if wrong := [n for ranges in places.values() for some in ranges for n in some if type(n) is not int]:
        raise ValueError(f"{wrong[0]!r:.40} is no place")
    return {**places, "codec": about[4], "dictionary_only": _dictionary_only(about)}


def _dictionary_only(about: Mapping[int, Any]) -> bool:
    """Whether all data pages are dictionary encoded (Iceberg: ParquetUtil.hasNonDictionaryPages)."""
    if 13 in about:
        encodings = {s[2] for s in about[13] if s[1] in _DATA_PAGES}
        return bool(encodings) and encodings <= _DICTIONARY
    return 2 in about[2] and set(about[2]) <= {2} | _LEVELS


def read_parts(
    storage: Storage, path: str, part: ChunkPart, chunks: Sequence[tuple[int, int]], footer: Mapping[str, Any]
) -> Iterator[Any]:
    """One kind of part of each of these chunks (row group, column), which have it: of a dictionary the values, of a
    bloom filter the bits, of a page index what it says of pages; `Unread` where it cannot be read. `footer` has the
    places (storage.formats.parquet.read_footer)."""
    parts_of_chunks = [footer["row_groups"][group]["columns"][column]["parts"] for group, column in chunks]
    ranges = _Ranges(storage, path, [(o, n) for parts in parts_of_chunks for o, n in parts[part]])
    for (group, column), parts in zip(chunks, parts_of_chunks, strict=True):
        chunk = footer["columns"][column] | {"codec": parts["codec"], "rows": footer["row_groups"][group]["num_rows"]}
        try:
            data = [ranges.read(offset, length) for offset, length in parts[part]]
            answer = run("part", path, b"".join(data), part=part, lengths=[len(d) for d in data], chunk=chunk)
        except UnreadableFile as error:
            yield Unread(error.cause)
            continue
        content = from_json(answer["part"][0].as_py())
        yield data[0][content[0] : content[1]] if part == "bloom filter" else content


class _Ranges:
    """Ranges of a file that will be asked for about in this order; those close to each other are read at once."""

    def __init__(self, storage: Storage, path: str, wanted: Sequence[tuple[int, int]]) -> None:
        self.storage, self.path, self.wanted = storage, path, sorted(wanted)
        self.start, self.data = 0, b""

    def read(self, offset: int, length: int) -> bytes:
        if not 0 < length <= LARGEST:
            raise UnreadableFile(self.path, f"{length:,} bytes at {offset}; at most {LARGEST:,} are read here")
        if not self.start <= offset or offset + length > self.start + len(self.data):
            end = offset + length
            for at, size in self.wanted[bisect.bisect_left(self.wanted, (offset, length)) :]:
                if at > end + GAP or at + size > offset + LARGEST:
                    break
                end = max(end, at + size)
            self.start, self.data = offset, self.storage.read(self.path, offset, end - offset)
        return self.data[offset - self.start :][:length]


def decode_part(data: bytes, part: ChunkPart, lengths: Sequence[int], chunk: Mapping[str, Any]) -> Any:
    """See `read_parts`; of a bloom filter where its bits begin and end. In the child. Raises ValueError, pyarrow's
    too."""
    try:
        if part == "dictionary":
            return _dictionary(data, chunk)
        if part == "bloom filter":
            return _bloom_place(data)
        return _page_index(data[: lengths[0]], data[lengths[0] :], chunk)
    except KeyError as error:
        raise ValueError(f"field {error} of its {part} is missing") from error


def _dictionary(data: bytes, chunk: Mapping[str, Any]) -> list[Any]:
    header = Compact(data)
    page = header.struct()
    about, size, packed = page[7], page[2], data[header.at :][: page[3]]
    if len(packed) != page[3] or not 0 <= size <= LARGEST:
        raise ValueError(f"a dictionary page of {page[3]:,} bytes, {size:,} unpacked, in {len(data):,}")
    if 4 in page and zlib.crc32(packed) != page[4] & 0xFFFFFFFF:
        raise ValueError("a dictionary page that is not what its checksum says")
    if about[2] not in (0, 2):
        raise ValueError(f"a dictionary in encoding {about[2]}")
    width = _width(chunk)
    if not 0 <= about[1] <= VALUES or (width and size != about[1] * width):
        raise ValueError(f"a dictionary of {about[1]:,} values in {size:,} bytes; at most {VALUES:,} are read here")
    values = _plain(_unpack(packed, chunk["codec"], size), chunk["type"], chunk["length"])
    if len(values) != about[1]:
        raise ValueError(f"{len(values):,} values in a dictionary of {about[1]:,}")
    return values


def _width(chunk: Mapping[str, Any]) -> int:
    """Bytes of a value in plain encoding; 0 where they differ."""
    if chunk["type"] in _WIDTHS:
        return int(_WIDTHS[chunk["type"]][2])
    return {"FIXED_LEN_BYTE_ARRAY": int(chunk["length"]), "INT96": _INT96}.get(chunk["type"], 0)


def _unpack(packed: bytes, codec: int, size: int) -> bytes:
    """As many bytes. pyarrow leaves what was in memory after fewer, so one byte less must be too little room."""
    if codec == 0 and size != len(packed):
        raise ValueError(f"{len(packed):,} bytes that are not compressed, {size:,} once unpacked")
    if codec == 0 or size == 0:
        return packed[:size]
    if codec not in CODECS:
        raise ValueError(f"a dictionary compressed by codec {codec}, which is not read here")
    unpacked: bytes = pa.Codec(CODECS[codec]).decompress(packed, size, asbytes=True)
    try:
        pa.Codec(CODECS[codec]).decompress(packed, size - 1)
    except (OSError, ValueError):
        return unpacked
    raise ValueError(f"fewer than {size:,} bytes once unpacked")


def _plain(data: bytes, physical: str, length: int) -> list[Any]:
    """Values in plain encoding; texts as bytes."""
    if physical in _WIDTHS:
        return np.frombuffer(data, _WIDTHS[physical]).tolist()
    length = _INT96 if physical == "INT96" else length
    if physical in ("FIXED_LEN_BYTE_ARRAY", "INT96") and length > 0 and not len(data) % length:
        return [data[at : at + length] for at in range(0, len(data), length)]
    if physical != "BYTE_ARRAY":
        raise ValueError(f"{len(data):,} bytes are no values of {physical}")
    values: list[bytes] = []
    at = 0
    while at < len(data):
        end = at + 4 + int.from_bytes(data[at : at + 4], "little")
        if end > len(data) or len(values) == VALUES:
            raise ValueError(f"value {len(values):,} of a dictionary ends at {end:,} of {len(data):,}")
        values.append(data[at + 4 : end])
        at = end
    return values


def _bloom_place(data: bytes) -> tuple[int, int]:
    """Where the bits begin and end. They must be all there, in blocks, hashed and stored as is known here."""
    header = Compact(data)
    about = header.struct()
    size, kinds = about[1], [next(iter(about[i]), None) for i in (2, 3, 4)]
    if kinds != [1, 1, 1]:
        raise ValueError(f"a bloom filter of algorithm, hash and compression {kinds}, not split blocks of XXH64")
    if size <= 0 or size % 32 or size > len(data) - header.at:
        raise ValueError(f"a bloom filter of {size:,} bytes in {len(data):,}")
    return header.at, header.at + size


def _page_index(column: bytes, offsets: bytes, chunk: Mapping[str, Any]) -> dict[str, Any]:
    """The first row of each page, whether it has only nulls, its number of nulls, least and most value."""
    about, pages = Compact(column).struct(), Compact(offsets).struct()[1]
    rows, only, nulls = [page[3] for page in pages], about[1], about.get(5)
    same = {len(rows), len(only), len(about[2]), len(about[3]), len(rows if nulls is None else nulls)}
    if len(same) != 1 or not 0 < len(rows) <= VALUES:
        raise ValueError(f"an index of {' and '.join(map(str, sorted(same)))} pages")
    if {type(n) for n in (*rows, *(nulls or ()))} != {int} or {type(n) for n in only} != {bool}:
        raise ValueError("an index whose rows, nulls or null pages are none")
    if rows[0] != 0 or any(a >= b for a, b in zip(rows, [*rows[1:], chunk["rows"]], strict=True)):
        raise ValueError(f"pages that begin with rows {rows[:5]}… of {chunk['rows']:,}")
    bounds = [[None if n else _bound_value(b, chunk) for n, b in zip(only, about[i], strict=True)] for i in (2, 3)]
    return {"rows": rows, "only_nulls": only, "nulls": nulls, "min": bounds[0], "max": bounds[1]}


def _bound_value(data: bytes, chunk: Mapping[str, Any]) -> Any:
    """A bound in plain encoding; None for what is not one value of the type. Raises TypeError for what is no bytes."""
    data = bytes(memoryview(data))
    if chunk["type"] == "BYTE_ARRAY":
        return data
    if chunk["type"] == "BOOLEAN":
        return bool(data[0]) if len(data) == 1 else None
    return _plain(data, chunk["type"], chunk["length"])[0] if len(data) == _width(chunk) else None
