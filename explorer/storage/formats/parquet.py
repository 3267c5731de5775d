"""Footers of Parquet data and delete files: schema with field ids, row groups and column chunk statistics.

They are decoded in a child process: pyarrow ends its process when a column chunk's type is not the schema's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from explorer.errors import UnreadableFile
from explorer.storage import limits
from explorer.storage.decoder_process.client import from_json, run
from explorer.storage.excerpts import quote
from explorer.storage.formats.encryption import refuse_encrypted
from explorer.storage.formats.parquet_chunks import places
from explorer.storage.projection import children, field_id, has_ids, map_ids, with_ids_by_place
from explorer.storage.storage import TAIL, Storage

MAX_FOOTER, MAX_PLACES = 64 << 20, 4 << 20
"""Bytes of a footer that is read, and of one that is looked through for dictionaries, bloom filters and indexes."""


def read_footer(
    storage: Storage, path: str, columns: Sequence[int] = (), ids: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Read a footer as plain data. Only the end of the file is read.

    Args:
        storage: Where the file is.
        path: The file.
        columns: Field ids of columns whose chunks also have their `parts` (see storage.formats.parquet_chunks.places),
        or `unread`, why not,
            and of whole numbers their bounds as they are stored, `raw`.
        ids: Where a file without field ids gets them from: its name mapping as `mapping`, or, where that is None, the
            places of its columns (see storage.projection). The footer then has all ids in `field_ids`, those of
            structs, lists and maps too, and says in `by_place` whether they are those of places. Without `ids` it tells
            what the file itself says.

    Returns:
        num_rows, created_by, key_value_metadata, columns (path, field_id, type) and row_groups (num_rows,
        total_byte_size, offset, and per column: min, max, null_count, compressed size, codec, encodings).

    Raises:
        UnreadableFile: The footer is damaged, or cannot be had.
    """
    tail, size = storage.tail(path, TAIL)
    if size < 12:
        raise UnreadableFile(path, f"too short for a Parquet file: {size} bytes")
    if tail[-4:] != b"PAR1":
        refuse_encrypted(tail[-4:], path)
        raise UnreadableFile(path, f"not a Parquet file: it ends with {quote(tail[-4:])}, not b'PAR1'")
    length = int.from_bytes(tail[-8:-4], "little") + 8
    if length > size:
        raise UnreadableFile(path, f"the Parquet footer claims {length} bytes in a file of {size}")
    limits.within(length, MAX_FOOTER, path, "bytes of Parquet footer")
    if length > len(tail):
        tail = storage.read(path, size - length, length)
    try:
        packed = run("footer", path, tail[-length:], columns=list(columns), ids=ids)["footer"][0].as_py()
        footer: dict[str, Any] = from_json(packed)
        return footer
    except UnreadableFile as error:
        raise UnreadableFile(path, f"the Parquet footer is damaged: {error.cause}") from error


def plain_footer(footer: bytes, wanted: Sequence[int] = (), ids: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """See `read_footer`; of a file's last bytes. Raises what pyarrow raises."""
    metadata = pq.read_metadata(pa.BufferReader(b"PAR1" + footer))
    schema = metadata.schema.to_arrow_schema()
    without_ids = ids is not None and not has_ids(schema)
    if ids is not None and without_ids:
        mapping = ids["mapping"]
        schema = with_ids_by_place(schema) if mapping is None else pa.schema([map_ids(f, mapping) for f in schema])
    field_ids = _column_ids(metadata, schema)
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
            "field_id": own,
            "type": c.physical_type,
            "logical_type": str(c.logical_type),
            "length": c.length,
            "precision": c.precision,
            "scale": c.scale,
        }
        for c, own in zip(columns, field_ids, strict=True)
    ]
    if indexes := [at for at, c in enumerate(described) if c["field_id"] in wanted]:
        _add_parts(groups, indexes, footer)
        _add_raw_bounds(groups, indexes, metadata)
    as_read: dict[str, Any] = {}
    if ids is not None:
        as_read = {"field_ids": sorted({i for f in schema for i in _ids_within(f)})}
        as_read["by_place"] = without_ids and ids["mapping"] is None
    return as_read | {
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
        for group, parts_of_columns in zip(groups, places(footer, columns), strict=True):
            for at, parts in zip(columns, parts_of_columns, strict=True):
                group["columns"][at]["parts"] = parts
    except Exception as error:  # whatever damaged structs lead to
        for chunk in (group["columns"][at] for group in groups for at in columns):
            chunk["unread"] = f"the footer does not tell where it is: {type(error).__name__}: {error}"


def _add_raw_bounds(groups: Sequence[dict[str, Any]], columns: Sequence[int], metadata: pq.FileMetaData) -> None:
    """The bounds of columns of whole numbers, as they are stored: without the unit of times."""
    for at in (at for at in columns if metadata.schema.column(at).physical_type in ("INT32", "INT64")):
        for group in groups:
            chunk = metadata.row_group(group["ordinal"]).column(at)
            if chunk.is_stats_set and chunk.statistics.has_min_max:
                group["columns"][at]["raw"] = [chunk.statistics.min_raw, chunk.statistics.max_raw]


def _column_ids(metadata: pq.FileMetaData, schema: pa.Schema) -> list[int | None]:
    """The field id of each column, in the file's order; none where Arrow takes the file to have other columns."""
    leaves = [own for field in schema for own in _leaf_ids(field)]
    return leaves if len(leaves) == metadata.num_columns else [None] * metadata.num_columns


def _leaf_ids(field: pa.Field) -> Iterator[int | None]:
    """The ids of the columns that a field is stored as, deeper ones too."""
    inside = children(field.type)
    if inside:
        yield from (own for part in inside for own in _leaf_ids(part))
    else:
        yield field_id(field)


def _ids_within(field: pa.Field) -> Iterator[int]:
    """The ids of a field and of all that is inside."""
    own = field_id(field)
    yield from () if own is None else (own,)
    yield from (i for part in children(field.type) for i in _ids_within(part))


def _bounds(stats: pq.Statistics) -> tuple[Any, Any]:
    """A chunk's bounds; none where they are not what the type says."""
    try:
        return stats.min, stats.max
    except (ValueError, OverflowError):
        return None, None
