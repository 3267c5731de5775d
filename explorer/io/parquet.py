"""Footers of Parquet data and delete files: schema with field ids, row groups and column chunk statistics.

They are decoded in a child process: pyarrow ends its process when a column chunk's type is not the schema's."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from explorer.errors import UnreadableFile
from explorer.io import budget
from explorer.io.isolated import from_json, run
from explorer.io.storage import Storage

TAIL = 64 << 10
MAX_FOOTER = 64 << 20


def read_footer(storage: Storage, path: str) -> dict[str, Any]:
    """The footer as plain data: num_rows, created_by, key_value_metadata, columns (name, field_id, type) and row_groups
    (num_rows, total_byte_size, and per column: min, max, null_count, compressed size, codec, encodings).

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
        return from_json(run("footer", path, tail[-length:])["footer"][0].as_py())  # type: ignore[no-any-return]
    except UnreadableFile as error:
        raise UnreadableFile(path, f"the Parquet footer is damaged: {error.cause}") from error


def plain_footer(footer: bytes) -> dict[str, Any]:
    """See `read_footer`; of a file's last bytes. Raises what pyarrow raises."""
    metadata = pq.read_metadata(pa.BufferReader(b"PAR1" + footer))
    arrow = metadata.schema.to_arrow_schema()
    field_ids = {
        f.name: int(f.metadata[b"PARQUET:field_id"]) for f in arrow if f.metadata and b"PARQUET:field_id" in f.metadata
    }
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
            {"ordinal": i, "num_rows": group.num_rows, "total_byte_size": group.total_byte_size, "columns": chunks}
        )
    return {
        "num_rows": metadata.num_rows,
        "created_by": metadata.created_by,
        "key_value_metadata": {
            k.decode("utf-8", "replace"): v.decode("utf-8", "replace")
            for k, v in (metadata.metadata or {}).items()
            if k != b"ARROW:schema"
        },
        "columns": [
            {
                "path": c.path,
                "field_id": field_ids.get(c.path.split(".")[0]) if "." not in c.path else None,
                "type": c.physical_type,
                "logical_type": str(c.logical_type),
            }
            for c in columns
        ],
        "row_groups": groups,
    }


def _bounds(stats: pq.Statistics) -> tuple[Any, Any]:
    """A chunk's bounds; none where they are not what the type says."""
    try:
        return stats.min, stats.max
    except (ValueError, OverflowError):
        return None, None
