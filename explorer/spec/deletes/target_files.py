"""The one data file that a delete file is for, in columns."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from explorer.spec.deletes.deletes import PATH_ID
from explorer.spec.scan.ranges import look_up


def target_files(stored: pa.Table) -> pa.ChunkedArray:
    """The one data file that each delete is for, as Iceberg's readers take it: its referenced_data_file, or of position
    deletes the path that both bounds of their paths are; null where there is none."""
    named = stored["referenced_data_file"]
    if "lower_bounds" not in stored.column_names or not pc.any(pc.equal(stored["content"], 1)).as_py():
        return named
    low, high = (look_up(stored, name, PATH_ID) for name in ("lower_bounds", "upper_bounds"))
    equal = pc.and_(pc.fill_null(pc.equal(low, high), False), pc.equal(stored["content"].combine_chunks(), 1))
    paths = [_text(value) for value in pc.if_else(equal, low, pa.scalar(None, low.type)).to_pylist()]
    return pa.chunked_array([pc.coalesce(named.combine_chunks(), pa.array(paths, pa.string()))])


def _text(value: bytes | None) -> str | None:
    return None if value is None else value.decode(errors="replace")
