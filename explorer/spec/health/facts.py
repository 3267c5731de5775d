"""What one manifest adds to a table's health, and all of it added up. Made of whole columns where manifests are
decoded, here or by Spark's workers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from explorer.model.manifest import ManifestFile
from explorer.spec.commits.costs import Wrote
from explorer.spec.deletes.delete_pairs import DeletePairs, fitting, live_in
from explorer.spec.entries.entries import ADDED, DELETED, EXISTING, snapshot_ids
from explorer.spec.entries.lazy_table import AT_ONCE, Batches
from explorer.spec.entries.numpy_columns import MOST, Flags, Ints, amounts, flags, ints, total
from explorer.spec.maintenance.rewrite_options import SMALL
from explorer.spec.values.values import conform_partition, distinct_partitions

DATA, POSITION, EQUALITY, VECTOR = range(4)
BUCKETS = 64
SUMS = ("files", "rows", "bytes", "small_files", "small_bytes", "manifests")
LOADS = 24
OWN = (
    "added_files", "added_rows", "added_bytes", "added_partitions", "removed_files", "removed_rows", "removed_bytes",
    "removed_partitions", "kept_bytes",
)  # fmt: skip
HELD = (
    "live",
    "entries",
    "smallest",
    "largest",
    "in_order",
    "other_order",
    "loaded",
    "most",
    "equality",
    "newer_equality",
    "of_own_commit",
)


@dataclass(frozen=True)
class HealthContext:
    """What the part of each manifest has to know. `current` are the paths of the current snapshot's manifests, `run`
    the snapshots that lead to it, `partition` the type of all partitions (spec.values.values.unified_partition_type),
    `pairs` its deletes, if there are any, `order_id` the table's sort order."""

    current: frozenset[str]
    run: frozenset[int]
    target: int
    partition: pa.StructType
    pairs: DeletePairs | None = None
    order_id: int = 0

    @property
    def schema(self) -> pa.Schema:
        """Of `facts`: a row each manifest. Of the entries that its own snapshot wrote OWN (`kept_bytes` of all live
        ones that a snapshot of the run added); of the live files of a current one HELD: `in_order` data files record
        the table's sort order, `other_order` another one, `most` deletes apply to its most loaded data file (`worst` is
        its path), `equality` pairs of an equality delete and a data file apply, of `newer_equality` that would without
        bounds, `of_own_commit` rows were hidden by the commit that added them, as far as deletes name one data
        file; `loads`: data files by the bits of that number, `sizes`: by the bits of their size, `reaching`: the
        places of the deletes that may hide rows, `used`: of those that apply; and `cells`: its live files by
        partition, its spec and kind."""
        long = pa.int64()
        cell = [("partition", self.partition), ("spec_id", long), ("kind", long), *((name, long) for name in SUMS)]
        numbers = [(name, long) for name in ("snapshot_id", *OWN, *HELD)]
        named = ("sizes", "loads", "reaching", "used")
        lists = [*((name, pa.list_(long)) for name in named), ("cells", pa.list_(pa.struct(cell)))]
        return pa.schema([("manifest_path", pa.string()), *numbers, ("worst", pa.string()), *lists])


def facts(about: HealthContext, manifest: ManifestFile, stored: pa.Table) -> pa.Table:
    """What one manifest's stored entries add; see HealthContext.schema."""
    status, content = ints(stored["status"], -1), ints(stored["content"], 0)
    is_live = fitting(manifest, content) & ((status == EXISTING) | (status == ADDED))
    vector = (content == 1) & flags(pc.equal(pc.utf8_lower(stored["file_format"]), "puffin"))
    kind = np.where(vector, VECTOR, np.clip(content, 0, 2))
    rows, sizes = amounts(stored["record_count"]), amounts(stored["file_size_in_bytes"])
    sizes = np.where(vector, amounts(stored["content_size_in_bytes"]), sizes)
    ids = ints(snapshot_ids(stored, manifest), -1)
    own_entries = ids == (manifest.added_snapshot_id if manifest.added_snapshot_id is not None else -2)
    numbers = []
    for which in (own_entries & (status == ADDED), own_entries & (status == DELETED)):
        places = distinct_partitions(stored["partition"].filter(pa.array(which)))[1] if which.any() else ()
        numbers += [int(which.sum()), total(rows[which]), total(sizes[which]), len(places)]
    row: dict[str, Any] = {"manifest_path": manifest.manifest_path, "snapshot_id": manifest.added_snapshot_id}
    row |= {"kept_bytes": 0, "entries": len(status)}
    row |= dict(zip(OWN[:8], numbers, strict=True))
    if manifest.manifest_path in about.current:
        among = np.isin(ids, np.fromiter(about.run, np.int64, len(about.run)))
        is_data = is_live & (content == 0)
        data_sizes, orders = sizes[is_data], ints(stored["sort_order_id"], 0)[is_data]
        row |= {
            "kept_bytes": total(sizes[is_live & among]), "live": int(is_live.sum()),
            "smallest": int(data_sizes.min()) if len(data_sizes) else None,
            "largest": int(data_sizes.max()) if len(data_sizes) else None,
            "in_order": int((orders == about.order_id).sum()),
            "other_order": int(((orders != about.order_id) & (orders != 0)).sum()),
            "sizes": np.bincount(_bits(np.maximum(data_sizes, 0)), minlength=BUCKETS),
            **_loads(about, manifest, stored),
            "cells": _cells(about, manifest, stored, is_live, kind, rows, sizes),
        }  # fmt: skip
    return pa.table([pa.array([row.get(f.name)], f.type) if f.name != "cells" else _list(row.get("cells"), f.type)
                     for f in about.schema], schema=about.schema)  # fmt: skip


def _list(cells: pa.StructArray | None, kind: pa.ListType) -> pa.Array:
    if cells is None:
        return pa.nulls(1, kind)
    return pa.ListArray.from_arrays(pa.array([0, len(cells)], pa.int32()), cells, type=kind)


def _bits(values: Ints) -> Ints:
    """How many bits a number needs: 0 of 0, n of [2^(n-1), 2^n)."""
    return np.frexp(values.astype(np.float64))[1].astype(np.int64)


def _cells(
    about: HealthContext, manifest: ManifestFile, stored: pa.Table, is_live: Flags, kind: Ints, rows: Ints, sizes: Ints
) -> pa.StructArray:
    files = stored.select(["partition"]).filter(pa.array(is_live))
    kind, rows, sizes = kind[is_live], rows[is_live], sizes[is_live]
    partitions = distinct_partitions(files["partition"])[0]
    distinct, at, inverse = np.unique(partitions * 4 + kind, return_index=True, return_inverse=True)
    small = (kind == DATA) & (sizes < SMALL * about.target)
    new = np.zeros(len(distinct), np.int64)
    new[np.unique(distinct // 4, return_index=True)[1]] = 1  # one cell of each partition counts the manifest
    weights = (np.ones(len(sizes)), rows, sizes, small, np.where(small, sizes, 0))
    sums = [np.minimum(np.bincount(inverse, w, len(distinct)), MOST).astype(np.int64) for w in weights]
    partition = conform_partition(files.take(pa.array(at)), about.partition)
    if isinstance(partition, pa.ChunkedArray):
        partition = partition.combine_chunks()
    specs = np.full(len(distinct), manifest.partition_spec_id, np.int64)
    columns = [partition, *map(pa.array, (specs, distinct % 4, *sums, new))]
    return pa.StructArray.from_arrays(columns, fields=list(about.schema.field("cells").type.value_type))


def _loads(about: HealthContext, manifest: ManifestFile, stored: pa.Table) -> dict[str, Any]:
    if about.pairs is None or manifest.content != 0:
        return {}
    files, _ = live_in(manifest, stored)
    counted = about.pairs.count(files, manifest.partition_spec_id)
    number = sum(counted.sums[name] for name in ("position", "equality", "vectors"))
    if not isinstance(number, np.ndarray) or not len(number):
        return {}
    worst = int(number.argmax())
    return {
        "loads": np.bincount(_bits(number), minlength=LOADS), "reaching": counted.reaching, "used": counted.used,
        "loaded": int((number > 0).sum()),
        **{name: int(counted.sums[name].sum()) for name in ("equality", "newer_equality", "of_own_commit")},
        "most": int(number[worst]), "worst": files["file_path"][worst].as_py() if number[worst] else None,
    }  # fmt: skip


@dataclass(frozen=True)
class Facts:
    """The facts of all manifests: `rows` by manifest (HealthContext.schema without its lists), `cells` of the current
    snapshot added up by partition and kind, `sizes` its data files by the bits of their size, `loads` by those of how
    many deletes apply to them, `reaching` the places of deletes that may hide rows of any, `used` of those that apply
    to any, so that readers open them."""

    rows: Mapping[str, Mapping[str, Any]]
    cells: pa.Table
    sizes: Ints
    loads: Ints
    reaching: frozenset[int]
    used: frozenset[int]

    @property
    def entries_by_snapshot(self) -> Wrote:
        """What spec.commits.costs goes by: what the snapshot of each manifest added and removed in it."""

        def of(row: Mapping[str, Any], status: int, name: str) -> dict[str, int | None]:
            own = {"snapshot_id": row["snapshot_id"], "status": status}
            return own | {n: row[f"{name}_{n}"] for n in ("files", "rows", "bytes", "partitions")}

        return {path: [of(r, ADDED, "added"), of(r, DELETED, "removed")] for path, r in self.rows.items()}

    @property
    def live_run_bytes(self) -> int:
        """Bytes of the live files that snapshots of the run added."""
        return sum(row["kept_bytes"] for row in self.rows.values())


def add_up(parts: Batches) -> Facts:
    """All facts; a manifest that comes twice counts once."""
    rows: dict[str, Mapping[str, Any]] = {}
    sums = {"sizes": np.zeros(BUCKETS, np.int64), "loads": np.zeros(LOADS, np.int64)}
    places: dict[str, set[int]] = {"reaching": set(), "used": set()}
    cells = pa.schema(list(parts.schema.field("cells").type.value_type)).empty_table()
    held, size = [cells], 0
    for part in parts.read():
        for at, row in enumerate(part.drop_columns([*sums, *places, "cells"]).to_pylist()):
            if row["manifest_path"] in rows:
                continue
            rows[row["manifest_path"]] = row
            lists = {name: part[name].slice(at, 1).combine_chunks().flatten() for name in (*sums, *places, "cells")}
            for name, array in sums.items():
                array += lists[name].to_numpy() if len(lists[name]) else 0
            for name, some in places.items():
                some |= set(lists[name].to_pylist())
            cells_of = pa.RecordBatch.from_struct_array(lists["cells"])
            held.append(pa.Table.from_batches([cells_of]).cast(cells.schema))
            size += cells_of.num_rows
        if size > AT_ONCE:
            held, size = [sum_cells(pa.concat_tables(held), ("kind",))], 0
    of_deletes = [frozenset(some) for some in places.values()]
    return Facts(rows, sum_cells(pa.concat_tables(held), ("kind",)), sums["sizes"], sums["loads"], *of_deletes)


def sum_cells(cells: pa.Table, keys: tuple[str, ...] = ()) -> pa.Table:
    """Cells added up by partition and spec, and some more of their columns."""
    kind = cells.schema.field("partition").type
    struct = cells["partition"].combine_chunks() if cells.num_rows else pa.array([], kind)
    wide = {f"key{i}": struct.field(i) for i in range(kind.num_fields)}
    keys = ("spec_id", *keys)
    by = [*wide, *keys]
    grouped = pa.table({**wide, **{name: cells[name] for name in (*keys, *SUMS)}})
    grouped = grouped.group_by(by, use_threads=False).aggregate([(name, "sum") for name in SUMS])
    arrays = [grouped[f"key{i}"].combine_chunks() for i in range(kind.num_fields)]
    partition = (
        pa.StructArray.from_arrays(arrays, fields=list(kind))
        if arrays
        else pa.array([{}] * grouped.num_rows, pa.struct([]))
    )
    return pa.table({"partition": partition, **{n: grouped[n] for n in keys}, **{n: grouped[f"{n}_sum"] for n in SUMS}})
