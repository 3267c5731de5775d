"""Footers of Parquet data and delete files: schema with field ids, row groups and column chunk statistics.

They are decoded in a child process: pyarrow ends its process when a column chunk's type is not the schema's."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from explorer.errors import UnreadableFile
from explorer.io import budget
from explorer.io.chunks import places
from explorer.io.isolated import from_json, run
from explorer.io.storage import Storage

TAIL = 64 << 10
MAX_FOOTER, MAX_PLACES = 64 << 20, 4 << 20
"""Bytes of a footer that is read, and of one that is looked through for dictionaries, bloom filters and indexes."""


def read_footer(storage: Storage, path: str, columns: Sequence[int] = ()) -> dict[str, Any]:
    """The footer as plain data: num_rows, created_by, key_value_metadata, columns (name, field_id, type) and row_groups
    (num_rows, total_byte_size, offset, and per column: min, max, null_count, compressed size, codec, encodings). The
    chunks of `columns`, given by field id, also have their `parts` (see io.chunks.places), or `unread`, why not.

    Only the end of the file is read. Raises UnreadableFile."""
    tail, size = storage.tail(path, TAIL)
    if size < 12:
        raise UnreadableFile(path, f"too short for a Parquet file: {size} bytes")
    if tail[-4:] != b"PAR1":
        raise UnreadableFile(path, f"not a Parquet file: it ends with {tail[-4:]!r}, not b'PAR1'")
    length = int.from_bytes(tail[-8:-4], "little") + 8
    if length > size:
        raise UnreadableFile(path, f"the Parquet footer claims {length} bytes in a file of {size}")
    budget.within(length, MAX_FOOTER, path, "bytes of Parquet footer")
    if length > len(tail):
        tail = storage.read(path, size - length, length)
    try:
        packed = run("footer", path, tail[-length:], columns=list(columns))["footer"][0].as_py()
        told: dict[str, Any] = from_json(packed)
        return told
    except UnreadableFile as error:
        raise UnreadableFile(path, f"the Parquet footer is damaged: {error.cause}") from error


def plain_footer(footer: bytes, wanted: Sequence[int] = ()) -> dict[str, Any]:
    """See `read_footer`; of a file's last bytes. Raises what pyarrow raises."""
    metadata = pq.read_metadata(pa.BufferReader(b"PAR1" + footer))
    field_ids = dict(_field_ids("", metadata.schema.to_arrow_schema()))
    columns = [metadata.schema.column(i) for i in range(metadata.num_columns)]
    groups = []
    for i in range(metadata.num_row_groups):
        group = metadata.row_group(i)
        chunks = []
        for j in range(group.num_columns):
            chunk = group.column(j)
            stats = chunk.statistics if chunk.is_stats_set else None
            least, most = _bounds(stats) if stats and stats.has_min_max else (None, None)
            chunks.append(
                {
                    "path": chunk.path_in_schema,
                    "min": least,
                    "max": most,
                    "null_count": stats.null_count if stats and stats.has_null_count else None,
                    "total_compressed_size": chunk.total_compressed_size,
                    "compression": chunk.compression,
                    "encodings": list(chunk.encodings),
                }
            )
        groups.append(
            {
                "ordinal": i, "num_rows": group.num_rows, "total_byte_size": group.total_byte_size,
                "offset": _start(group), "columns": chunks,
            }
        )  # fmt: skip
    described = [
        {
            "path": c.path,
            "field_id": field_ids.get(c.path),
            "type": c.physical_type,
            "logical_type": str(c.logical_type),
        }
        for c in columns
    ]
    if asked := [at for at, c in enumerate(described) if c["field_id"] in wanted]:
        _add_parts(groups, asked, footer)
        for at in asked:
            described[at] |= {n: getattr(columns[at], n) for n in ("length", "precision", "scale")}
    return {
        "num_rows": metadata.num_rows,
        "created_by": metadata.created_by,
        "key_value_metadata": {
            k.decode("utf-8", "replace"): v.decode("utf-8", "replace")
            for k, v in (metadata.metadata or {}).items()
            if k != b"ARROW:schema"
        },
        "columns": described,
        "row_groups": groups,
    }


def _start(group: pq.RowGroupMetaData) -> int | None:
    """Where a row group begins: its first column's dictionary, or else its first page."""
    if not group.num_columns:
        return None
    first = group.column(0)
    dictionary = first.dictionary_page_offset if first.has_dictionary_page else None
    return int(first.data_page_offset if dictionary is None else min(dictionary, first.data_page_offset))


def _add_parts(groups: Sequence[dict[str, Any]], columns: Sequence[int], footer: bytes) -> None:
    """Where the parts of these columns' chunks are. What pyarrow reads of the footer stands without."""
    try:
        if len(footer) > MAX_PLACES:
            raise ValueError(f"it has {len(footer):,} bytes, and is looked through up to {MAX_PLACES:,}")
        for group, found in zip(groups, places(footer, columns), strict=True):
            for at, parts in zip(columns, found, strict=True):
                group["columns"][at]["parts"] = parts
    except Exception as error:  # whatever damaged structs lead to
        for chunk in (group["columns"][at] for group in groups for at in columns):
            chunk["unread"] = f"the footer does not tell where it is: {type(error).__name__}: {error}"


def _field_ids(above: str, fields: Iterable[pa.Field]) -> Iterator[tuple[str, int]]:
    """The field ids of columns and of fields inside structs, by their path."""
    for field in fields:
        if field.metadata and b"PARQUET:field_id" in field.metadata:
            yield above + field.name, int(field.metadata[b"PARQUET:field_id"])
        if pa.types.is_struct(field.type):
            yield from _field_ids(f"{above}{field.name}.", field.type)


def _bounds(stats: pq.Statistics) -> tuple[Any, Any]:
    """A chunk's bounds; none where they are not what the type says."""
    try:
        return stats.min, stats.max
    except (ValueError, OverflowError):
        return None, None
