"""Live files added up by partition, as the `partitions` table of Iceberg 1.12 does: null where the snapshot that added
a file last has expired. Partitions of several specs are several, also where they agree in all fields: a field that a
spec lacks is null there, whatever the rows have."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import pyarrow as pa
import pyarrow.compute as pc

from explorer.spec.entries.entries import live
from explorer.spec.entries.lazy_table import Batches, Parts, combine_rows

_SUMS = ("record_count", "file_count", "total_data_file_size_in_bytes")
_DELETES = tuple(f"{kind}_delete_{what}_count" for kind in ("position", "equality") for what in ("record", "file"))
KEY = "partition"
"""Rows of the same are added up together."""
_LAST = ("last_updated_ms", "last_updated_snapshot_id")


def by_partition(entries: Parts, times: Mapping[int, int | None]) -> Parts:
    """The live files of each manifest's logical entries, added up by partition: for `add_up`. `times` are the
    snapshots' timestamps; files of expired snapshots have none."""
    return entries.map(partial(_of_manifest, dict(times)))


def _of_manifest(times: Mapping[int, int | None], entries: pa.Table) -> pa.Table:
    return _add_up(_files(entries, times))


def add_up(parts: Batches) -> pa.Table:
    """One row a partition: partition, spec_id, the sums, last_updated_ms and last_updated_snapshot_id."""
    if not parts.schema.names:
        return pa.table({})
    sums = combine_rows(parts, _add_up)
    has_time = pc.is_valid(sums["last_updated_ms"])
    snapshot = pc.if_else(has_time, sums["last_updated_snapshot_id"], pa.scalar(None, pa.int64()))
    return pa.table(
        {
            "partition": sums["partition"],
            **{name: sums[name] for name in ("spec_id", *_SUMS, *_DELETES, "last_updated_ms")},
            "last_updated_snapshot_id": snapshot,
        }
    )


def lazy_sums(parts: Batches) -> Batches:
    """`add_up`, when it is asked for."""
    nothing = Batches(parts.schema, lambda: iter(()))
    return Batches(add_up(nothing).schema, lambda: iter([add_up(parts)]))


def _files(entries: pa.Table, times: Mapping[int, int | None]) -> pa.Table:
    """One row a live file: its partition, what it adds to each sum, and what it says if it is the last."""
    files = live(entries)
    content = pc.fill_null(files["content"], 0)
    snapshots = pa.array(times, pa.int64())
    at = pc.take(pa.array(times.values(), pa.int64()), pc.index_in(files["inherited_snapshot_id"], snapshots))

    def of(kind: int, column: pa.ChunkedArray | pa.Array) -> pa.ChunkedArray:
        return pc.if_else(pc.equal(content, kind), column, pa.scalar(0, pa.int64()))

    one = pa.repeat(pa.scalar(1, pa.int64()), files.num_rows)
    sums = {
        "record_count": of(0, files["record_count"]),
        "file_count": of(0, one),
        "total_data_file_size_in_bytes": of(0, files["file_size_in_bytes"]),
    }
    for name, deletes in (("position", 1), ("equality", 2)):
        sums[f"{name}_delete_record_count"] = of(deletes, files["record_count"])
        sums[f"{name}_delete_file_count"] = of(deletes, one)
    last = (at, files["inherited_snapshot_id"])
    own = {"partition": files["partition"], "spec_id": files["spec_id"]}
    return pa.table({**own, **sums, **dict(zip(_LAST, last, strict=True))})


def _add_up(table: pa.Table) -> pa.Table:
    """One row a partition of rows as `_files` has them, or as this has."""
    ordered = table.take(pc.sort_indices(pc.fill_null(table["last_updated_ms"], -(1 << 63))))
    kind = ordered.schema.field("partition").type
    struct = ordered["partition"].combine_chunks() if ordered.num_rows else pa.array([], kind)
    keys = {f"key{i}": struct.field(i) for i in range(kind.num_fields)}
    keys["spec_id"] = ordered["spec_id"]
    sums = (*_SUMS, *_DELETES)
    wanted = [*((name, "sum") for name in sums), *((name, "last") for name in _LAST)]
    grouped = pa.table({**keys, **{name: ordered[name] for name in (*sums, *_LAST)}})
    grouped = grouped.group_by(list(keys), use_threads=False).aggregate(wanted)
    arrays = [grouped[f"key{i}"].combine_chunks() for i in range(kind.num_fields)]
    partition = (
        pa.StructArray.from_arrays(arrays, fields=list(kind))
        if arrays
        else pa.array([{}] * grouped.num_rows, pa.struct([]))
    )
    own = {"partition": partition, "spec_id": grouped["spec_id"]}
    return pa.table({**own, **{name: grouped[f"{name}_{how}"] for name, how in wanted}})
