"""What metadata says of the values in columns: counts, bytes and bounds of live data files, added up, for the whole
table or by partition (spec: "Data File Fields", "Appendix D").

Nothing of it is read from data files. Rows that delete files hide count, too."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from explorer.model.manifest import ManifestFile
from explorer.model.metadata import Snapshot, TableMetadata
from explorer.spec.entries.entries import chosen_rows, live, stored_live
from explorer.spec.entries.lazy_table import Batches, Parts, combine_rows
from explorer.spec.entries.metric_maps import MetricMaps
from explorer.spec.entries.numpy_columns import amounts
from explorer.spec.scan.ranges import Bounds, decode_bounds
from explorer.spec.values.values import decode_bound

THETA = "apache-datasketches-theta-v1"
SUMS = {
    "values": "value_counts", "nulls": "null_value_counts", "nans": "nan_value_counts", "bytes": "column_sizes",
}  # fmt: skip
"""What is added up, and the map of an entry that has it."""
BOUNDS = {"lower": "lower_bounds", "upper": "upper_bounds"}
FACTS = (*SUMS, *BOUNDS)
NUMBERS = ("files", "rows", *SUMS, *(f"{fact}_files" for fact in FACTS))
_FIELD = "field_id"

Groups = npt.NDArray[np.int64]


@dataclass(frozen=True)
class ColumnFacts:
    """What the live data files of a group say of one column. `known` is how many of the files have each fact; bounds
    are as stored, and None where no file has one."""

    files: int
    rows: int
    sums: Mapping[str, int]
    known: Mapping[str, int]
    lower: bytes | None
    upper: bytes | None


def profile_schema(key: pa.Field) -> pa.Schema:
    """The columns of a part: what its rows are for, the sums, and the bounds as stored."""
    return pa.schema([key, *((name, pa.int64()) for name in NUMBERS), *((name, pa.binary()) for name in BOUNDS)])


def by_column(kinds: Mapping[int, Any], _: ManifestFile, stored: pa.Table) -> pa.Table:
    """Add up the live data files of manifests: a row for each column.

    Args:
        kinds: The type of each column, by its field id.
        stored: The manifests' entries, with counts and bounds.
    """
    files = stored_live(stored)
    groups, maps = np.zeros(files.num_rows, np.int64), _open(files)
    own = [_of_files(files, maps, i, kind, groups, 1).add_column(0, _FIELD, pa.array([i], pa.int64()))
           for i, kind in kinds.items()]  # fmt: skip
    schema = profile_schema(pa.field(_FIELD, pa.int64()))
    return pa.concat_tables([schema.empty_table(), *(table.cast(schema) for table in own)])


def add_columns(kinds: Mapping[int, Any], parts: Iterable[pa.Table]) -> dict[int, ColumnFacts]:
    """Add up what `by_column` gave, by field id."""
    rows = pa.concat_tables([profile_schema(pa.field(_FIELD, pa.int64())).empty_table(), *parts])
    ids = rows[_FIELD].to_numpy()
    facts = {}
    for field_id, kind in kinds.items():
        own = rows.take(pa.array(np.flatnonzero(ids == field_id)))
        [sums] = _merge(own, kind, np.zeros(own.num_rows, np.int64), 1).to_pylist()
        facts[field_id] = facts_of(sums)
    return facts


def by_partition_of(field_id: int, kind: Any, entries: Parts) -> Parts:
    """Add up the live data files of each manifest's logical entries by partition, for one column."""
    return entries.map(partial(_partitions, field_id, kind))


def add_partitions(kind: Any, parts: Batches) -> pa.Table:
    """Add up what `by_partition_of` gave: a row for each partition."""
    return combine_rows(parts, partial(_merge_partitions, kind))


def facts_of(row: Mapping[str, Any]) -> ColumnFacts:
    """Return what a row of `add_partitions` says."""
    return ColumnFacts(
        row["files"], row["rows"], {name: row[name] for name in SUMS}, {name: row[f"{name}_files"] for name in FACTS},
        row["lower"], row["upper"],
    )  # fmt: skip


def _partitions(field_id: int, kind: Any, entries: pa.Table) -> pa.Table:
    files = live(entries)
    files = chosen_rows(files, pc.equal(pc.fill_null(files["content"], 0), 0))
    groups, first = _groups(files)
    facts = _of_files(files, _open(files, field_id), field_id, kind, groups, len(first))
    return _with_partition(files, first, facts)


def _merge_partitions(kind: Any, table: pa.Table) -> pa.Table:
    groups, first = _groups(table)
    return _with_partition(table, first, _merge(table, kind, groups, len(first)))


def _with_partition(table: pa.Table, first: Groups, facts: pa.Table) -> pa.Table:
    own = table.select(["partition", "spec_id"]).take(pa.array(first))
    return pa.table({**{name: own[name] for name in own.column_names}, **{n: facts[n] for n in facts.column_names}})


def _groups(table: pa.Table) -> tuple[Groups, Groups]:
    """The partition of each row, as a number, and a row of each partition."""
    kind = table.schema.field("partition").type
    struct = table["partition"].combine_chunks() if table.num_rows else pa.array([], kind)
    keys = {f"key{i}": struct.field(i) for i in range(kind.num_fields)} | {"spec_id": table["spec_id"]}
    rows = pa.table({**keys, "row": pa.array(np.arange(table.num_rows))})
    grouped = rows.group_by(list(keys), use_threads=False).aggregate([("row", "list")])["row_list"].combine_chunks()
    offsets = grouped.offsets.to_numpy()
    members = grouped.values.to_numpy()
    groups = np.empty(table.num_rows, np.int64)
    groups[members] = np.repeat(np.arange(len(grouped)), np.diff(offsets))
    return groups, members[offsets[:-1]] if len(members) else np.zeros(0, np.int64)


def _open(files: pa.Table, only: int | None = None) -> MetricMaps:
    return MetricMaps(files, (*SUMS.values(), *BOUNDS.values()), only)


def _of_files(files: pa.Table, maps: MetricMaps, field_id: int, kind: Any, groups: Groups, count: int) -> pa.Table:
    columns: dict[str, Any] = {
        "files": np.bincount(groups, minlength=count), "rows": _sum(amounts(files["record_count"]), groups, count),
    }  # fmt: skip
    for name, source in SUMS.items():
        own, values = maps.numbers(source, field_id)
        columns[name] = _sum(values, groups[own], count)
        columns[f"{name}_files"] = np.bincount(groups[own], minlength=count)
    for name, source in BOUNDS.items():
        own, bounds = maps.of(source, field_id)
        columns[name] = _extreme(bounds, kind, groups[own], count, name == "upper")
        if len(own) < maps.size:
            own = np.union1d(own, _without_values(maps, field_id))
        columns[f"{name}_files"] = np.bincount(groups[own], minlength=count)
    return _table(columns)


def _without_values(maps: MetricMaps, field_id: int) -> Groups:
    """The files whose values of a column are all null or NaN: these have no bounds."""
    left = np.full(maps.size, -1, np.int64)
    own, values = maps.numbers(SUMS["values"], field_id)
    left[own] = values
    counted = np.zeros(maps.size, bool)
    for name in ("nulls", "nans"):
        own, values = maps.numbers(SUMS[name], field_id)
        left[own] -= values
        counted[own] = True
    return np.flatnonzero((left == 0) & counted)


def _merge(table: pa.Table, kind: Any, groups: Groups, count: int) -> pa.Table:
    columns: dict[str, Any] = {name: _sum(table[name].to_numpy(), groups, count) for name in NUMBERS}
    for name in BOUNDS:
        columns[name] = _extreme(table[name].combine_chunks(), kind, groups, count, name == "upper")
    return _table(columns)


def _table(columns: Mapping[str, Any]) -> pa.Table:
    schema = profile_schema(pa.field(_FIELD, pa.int64())).remove(0)
    return pa.table({name: columns[name] for name in schema.names}, schema)


def _sum(values: npt.NDArray[np.int64], groups: Groups, count: int) -> Groups:
    if count == 1:
        return np.array([values.sum()], np.int64)
    sums = np.zeros(count, np.int64)
    np.add.at(sums, groups, values)
    return sums


def _extreme(column: pa.Array, kind: Any, groups: Groups, count: int, highest: bool) -> pa.Array:
    """The lowest or the highest bound of each group, as stored; null where none can be read."""
    if count == 1 and kind == "string":
        with contextlib.suppress(pa.ArrowInvalid):  # one is no UTF-8
            most = (pc.max if highest else pc.min)(column.cast(pa.string()))
            return pa.array([most.as_py()], pa.string()).cast(pa.binary())
    bounds: Bounds = decode_bounds(column, kind)
    known = np.flatnonzero(bounds.known)
    if count == 1 and len(known):
        values = bounds.values[known]
        place = len(known) - 1 - np.argmax(values[::-1]) if highest else np.argmin(values)
        return column.take(pa.array([known[place]]))
    order = known[np.argsort(bounds.values[known], kind="stable")]
    own, first = np.unique(groups[order[::-1] if highest else order], return_index=True)
    places = np.full(count, -1, np.int64)
    places[own] = (order[::-1] if highest else order)[first]
    return column.take(pa.array(places, mask=places < 0))


# -- distinct values ---------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class DistinctValues:
    """How many values a column has, as a statistics file estimates it, and the snapshot that the file is of. `number`
    is None where the metadata does not say it: the file's sketch does."""

    snapshot_id: int
    number: int | None
    path: str
    blob: Mapping[str, Any]


def distinct_values(metadata: TableMetadata, snapshot: Snapshot | None) -> dict[int, DistinctValues]:
    """Find the newest estimates of distinct values, of a snapshot or of one before it.

    Args:
        metadata: The table's metadata.
        snapshot: The snapshot.

    Returns:
        By field id, the estimate of the nearest snapshot (Puffin spec, "apache-datasketches-theta-v1").
    """
    by_snapshot: dict[int, list[Any]] = {}
    for file in metadata.statistics:
        if file.kind == "statistics":
            by_snapshot.setdefault(file.snapshot_id, []).append(file)
    known: dict[int, DistinctValues] = {}
    seen: set[int] = set()
    while snapshot is not None and snapshot.snapshot_id not in seen:
        seen.add(snapshot.snapshot_id)
        for file in by_snapshot.get(snapshot.snapshot_id, ()):
            for blob in file.blob_metadata:
                fields = blob.get("fields")
                if blob.get("type") == THETA and isinstance(fields, list) and len(fields) == 1:
                    text = str((blob.get("properties") or {}).get("ndv", ""))
                    number = int(text) if text.isascii() and text.isdigit() and len(text) < 19 else None
                    known.setdefault(fields[0], DistinctValues(snapshot.snapshot_id, number, file.path, blob))
        snapshot = metadata.snapshot(snapshot.parent_snapshot_id)
    return known


def profile_row(facts: ColumnFacts, kind: Any) -> dict[str, Any]:
    """Return a group's facts as a row: the sums, the bounds as people read them, and what some files do not say."""
    nulls, values = (facts.sums[name] if facts.known[name] else None for name in ("nulls", "values"))
    share = nulls / values if nulls is not None and values else None
    of_values = "" if values in (None, facts.rows) else f" of {values:,} values"
    return {
        "files": facts.files, "rows": facts.rows, "values": values, "nulls": nulls,
        "null_share": None if share is None else f"{share:.0%}{of_values}",
        "nans": facts.sums["nans"] if facts.known["nans"] else None,
        "lower_bound": _text(facts.lower, kind), "upper_bound": _text(facts.upper, kind),
        "bytes": facts.sums["bytes"] if facts.known["bytes"] else None, "lacks": lacks(facts),
    }  # fmt: skip


def _text(bound: bytes | None, kind: Any) -> str | None:
    return None if bound is None else str(decode_bound(bound, kind))


NAMED = {"values": "count of values", "nulls": "count of nulls", "bytes": "size", "lower": "lower bound",
         "upper": "upper bound"}  # fmt: skip


def lacks(facts: ColumnFacts) -> str:
    """Say which facts some files do not have: sums are then at least so much, and values may lie beyond bounds."""
    missing: dict[int, list[str]] = {}
    for fact, words in NAMED.items():
        number = facts.files - facts.known[fact]
        if number:
            missing.setdefault(number, []).append(words)
    parts: Sequence[str] = [f"{number:,} of {facts.files:,} files have no {' or '.join(words)}"
                            for number, words in missing.items()]  # fmt: skip
    return "; ".join(parts)
