"""What each manifest adds to a table's health, and all of it added up. Made of whole columns where manifests are
decoded, here or by Spark's workers."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from explorer.model.manifest import ManifestFile
from explorer.spec.commits.costs import Wrote
from explorer.spec.deletes.delete_pairs import DeletePairs, fitting, live_in
from explorer.spec.entries.entries import ADDED, DELETED, EXISTING
from explorer.spec.entries.lazy_table import AT_ONCE, Batches
from explorer.spec.entries.manifest_run import ManifestRun
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
    return facts_of_run(about, ManifestRun([manifest], [stored.num_rows]), stored)


def alike(manifest: ManifestFile) -> Hashable:
    """What manifests have in common whose facts may be made together."""
    return manifest.content, manifest.partition_spec_id


def facts_of_run(about: HealthContext, run: ManifestRun, stored: pa.Table) -> pa.Table:
    """What manifests add that are alike, whose stored entries follow each other: a row for each."""
    stored = stored.combine_chunks()
    status, content = ints(stored["status"], -1), ints(stored["content"], 0)
    is_live = fitting(run.manifests[0], content) & ((status == EXISTING) | (status == ADDED))
    vector = (content == 1) & flags(pc.equal(pc.utf8_lower(stored["file_format"]), "puffin"))
    kind = np.where(vector, VECTOR, np.clip(content, 0, 2))
    rows, sizes = amounts(stored["record_count"]), amounts(stored["file_size_in_bytes"])
    sizes = np.where(vector, amounts(stored["content_size_in_bytes"]), sizes)
    added_by = [m.added_snapshot_id for m in run.manifests]
    ids = ints(pc.coalesce(stored["snapshot_id"], run.each(added_by)), -1)
    own_entries = ids == run.numbers([-2 if snapshot_id is None else snapshot_id for snapshot_id in added_by])
    among = np.isin(ids, np.fromiter(about.run, np.int64, len(about.run)))
    orders = ints(stored["sort_order_id"], 0)
    partitions = distinct_partitions(stored["partition"])[0]
    ways = [
        (name, which := own_entries & (status == code), _count_distinct(run, partitions, which))
        for name, code in (("added", ADDED), ("removed", DELETED))
    ]
    is_current = np.array([m.manifest_path in about.current for m in run.manifests], bool)
    held: list[dict[str, Any]] = []
    for place, (manifest, start, end) in enumerate(run.ranges()):
        at = slice(start, end)
        row: dict[str, Any] = {"manifest_path": manifest.manifest_path, "snapshot_id": manifest.added_snapshot_id}
        row |= {"kept_bytes": 0, "entries": end - start}
        for name, which, numbers in ways:
            own = which[at]
            row |= {
                f"{name}_files": int(own.sum()), f"{name}_rows": total(rows[at][own]),
                f"{name}_bytes": total(sizes[at][own]), f"{name}_partitions": int(numbers[place]),
            }  # fmt: skip
        if is_current[place]:
            is_data = is_live[at] & (content[at] == 0)
            data_sizes, data_orders = sizes[at][is_data], orders[at][is_data]
            row |= {
                "kept_bytes": total(sizes[at][is_live[at] & among[at]]), "live": int(is_live[at].sum()),
                "smallest": int(data_sizes.min()) if len(data_sizes) else None,
                "largest": int(data_sizes.max()) if len(data_sizes) else None,
                "in_order": int((data_orders == about.order_id).sum()),
                "other_order": int(((data_orders != about.order_id) & (data_orders != 0)).sum()),
                "sizes": np.bincount(_bits(np.maximum(data_sizes, 0)), minlength=BUCKETS),
                **_loads(about, manifest, stored.slice(start, end - start)),
            }  # fmt: skip
        held.append(row)
    cells = _cells(about, run, stored, is_live, is_current, kind, rows, sizes, partitions)
    columns = [
        cells if field.name == "cells" else pa.array([row.get(field.name) for row in held], field.type)
        for field in about.schema
    ]
    return pa.table(columns, schema=about.schema)


def _count_distinct(run: ManifestRun, codes: Ints, chosen: Flags) -> Ints:
    """How many codes the chosen entries of each manifest have."""
    pairs = np.unique(run.places()[chosen] << 32 | codes[chosen])
    return np.bincount(pairs >> 32, minlength=len(run.manifests))


def _bits(values: Ints) -> Ints:
    """How many bits a number needs: 0 of 0, n of [2^(n-1), 2^n)."""
    return np.frexp(values.astype(np.float64))[1].astype(np.int64)


def _cells(
    about: HealthContext, run: ManifestRun, stored: pa.Table, is_live: Flags, is_current: Flags, kind: Ints, rows: Ints,
    sizes: Ints, partitions: Ints,
) -> pa.ListArray:  # fmt: skip
    """The live files of each current manifest by partition and kind."""
    chosen = is_live & np.repeat(is_current, run.counts)
    kind, rows, sizes = kind[chosen], rows[chosen], sizes[chosen]
    of_partition = run.places()[chosen] << 32 | partitions[chosen]
    distinct, at, inverse = np.unique(of_partition * 4 + kind, return_index=True, return_inverse=True)
    small = (kind == DATA) & (sizes < SMALL * about.target)
    new = np.zeros(len(distinct), np.int64)
    new[np.unique(distinct // 4, return_index=True)[1]] = 1  # one cell of each partition counts the manifest
    weights = (np.ones(len(sizes)), rows, sizes, small, np.where(small, sizes, 0))
    sums = [np.minimum(np.bincount(inverse, w, len(distinct)), MOST).astype(np.int64) for w in weights]
    files = stored.select(["partition"]).take(pa.array(np.flatnonzero(chosen)[at]))
    partition = conform_partition(files, about.partition)
    if isinstance(partition, pa.ChunkedArray):
        partition = partition.combine_chunks()
    specs = np.full(len(distinct), run.manifests[0].partition_spec_id, np.int64)
    kind_of_list = about.schema.field("cells").type
    columns = [partition, *map(pa.array, (specs, distinct % 4, *sums, new))]
    cells = pa.StructArray.from_arrays(columns, fields=list(kind_of_list.value_type))
    numbers = np.bincount(distinct // 4 >> 32, minlength=len(run.manifests))
    ends = pa.array(np.concatenate([[0], np.cumsum(numbers)]), pa.int32())
    return pa.ListArray.from_arrays(ends, cells, kind_of_list, mask=pa.array(~is_current))


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
        is_new = []
        for row in part.drop_columns([*sums, *places, "cells"]).to_pylist():
            is_new.append(row["manifest_path"] not in rows)
            rows.setdefault(row["manifest_path"], row)
        new = part if all(is_new) else part.filter(pa.array(is_new))
        for name, array in sums.items():
            array += _flat(new, name).to_numpy().reshape(-1, len(array)).sum(0)
        for name, some in places.items():
            some |= set(pc.unique(_flat(new, name)).to_pylist())
        cells_of = pa.RecordBatch.from_struct_array(_flat(new, "cells"))
        held.append(pa.Table.from_batches([cells_of]).cast(cells.schema))
        size += cells_of.num_rows
        if size > AT_ONCE:
            held, size = [sum_cells(pa.concat_tables(held), ("kind",))], 0
    of_deletes = [frozenset(some) for some in places.values()]
    return Facts(rows, sum_cells(pa.concat_tables(held), ("kind",)), sums["sizes"], sums["loads"], *of_deletes)


def _flat(part: pa.Table, name: str) -> pa.Array:
    """The items of all lists of a column."""
    return part[name].combine_chunks().flatten()


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
