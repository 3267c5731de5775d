"""Live files added up by partition, as Iceberg's `partitions` table does."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa
import pyarrow.compute as pc

from explorer.core.entries import live

_SUMS = ("record_count", "file_count", "total_data_file_size_in_bytes")
_DELETES = tuple(f"{kind}_delete_{what}_count" for kind in ("position", "equality") for what in ("record", "file"))


def partitions(entries: pa.Table, times: Mapping[int, int | None]) -> pa.Table:
    """One row a partition of the logical `entries` (with `spec_id` and a `partition` struct of the unified type):
    partition, spec_id, the sums, last_updated_ms and last_updated_snapshot_id. `times` are the snapshots' timestamps;
    files of expired snapshots have none."""
    files = live(entries)
    content = pc.fill_null(files["content"], 0)
    at = pa.array([times.get(i) for i in files["inherited_snapshot_id"].to_pylist()], pa.int64())
    struct = (
        files["partition"].combine_chunks() if files.num_rows else pa.array([], files.schema.field("partition").type)
    )
    keys = {f"key{i}": struct.field(i) for i in range(struct.type.num_fields)}

    def of(kind: int, column: pa.ChunkedArray | pa.Array) -> pa.ChunkedArray:
        return pc.if_else(pc.equal(content, kind), column, pa.scalar(0, pa.int64()))

    one = pa.repeat(pa.scalar(1, pa.int64()), files.num_rows)
    sizes = files["file_size_in_bytes"]
    values = {
        "record_count": of(0, files["record_count"]),
        "file_count": of(0, one),
        "total_data_file_size_in_bytes": of(0, sizes),
    }
    for name, kind in (("position", 1), ("equality", 2)):
        values[f"{name}_delete_record_count"] = of(kind, files["record_count"])
        values[f"{name}_delete_file_count"] = of(kind, one)
    last = {
        "spec_id": files["spec_id"],
        "last_updated_ms": at,
        "last_updated_snapshot_id": files["inherited_snapshot_id"],
    }
    table = pa.table({**keys, "all": one, **values, **last}).sort_by([("last_updated_ms", "ascending")])
    names = [*keys, "all"]
    sums = [(name, "sum") for name in values]
    lasts = [(name, "last") for name in last]
    grouped = table.group_by(names, use_threads=False).aggregate([*sums, *lasts])
    arrays = [grouped[name].combine_chunks() for name in keys]
    values = (
        pa.StructArray.from_arrays(arrays, fields=list(struct.type))
        if arrays
        else pa.array([{}] * grouped.num_rows, pa.struct([]))
    )
    known = pc.is_valid(grouped["last_updated_ms_last"])
    return pa.table(
        {
            "partition": values,
            "spec_id": grouped["spec_id_last"],
            **{name: grouped[f"{name}_sum"] for name in (*_SUMS, *_DELETES)},
            "last_updated_ms": grouped["last_updated_ms_last"],
            "last_updated_snapshot_id": pc.if_else(
                known, grouped["last_updated_snapshot_id_last"], pa.scalar(None, pa.int64())
            ),
        }
    )
