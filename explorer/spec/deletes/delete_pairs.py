"""The pairs of data and delete files of a snapshot, counted a manifest at a time: the rules of spec.deletes.deletes
over whole columns, without the words."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from explorer.model.manifest import ManifestFile
from explorer.spec.deletes.deletes import Applicability, lacks_place, nulls_of, target_file
from explorer.spec.deletes.own_partition import contradicted_fields
from explorer.spec.entries.entries import live_entries, stored_live
from explorer.spec.entries.live_files import LiveFile, PartitionPlace, place
from explorer.spec.entries.numpy_columns import MOST, Flags, Ints, ints, narrow, possible
from explorer.spec.values.values import comparable_bound, partition_dicts

CELLS = 4_000_000
"""Pairs that are looked at together."""
NEVER = np.iinfo(np.int64).max
"""A sequence number that none is above."""
DELETES = 1_000
"""Deletes that are looked for in other partitions together."""
COSTS = ("position", "equality", "vectors", "rows", "bytes")
SUMS = ("pairs", *COSTS, "own_rows", "of_own_commit", "refused", "newer_equality")
SUM_OF = {"position_deletes": "position", "equality_deletes": "equality", "deletion_vector": "vectors"}


@dataclass(frozen=True)
class DeleteCounts:
    """Of each live data file of one manifest, in order: how many deletes could matter, how many apply, by kind, these
    deletes' rows and bytes, the rows of those that are for that file alone (spec.deletes.deletes.target_file), and
    whether Iceberg Java refuses to scan it (`refused`, 0 or 1; see spec.deletes.deletes.DeleteVerdict.is_refused).
    `of_own_commit` counts the rows of those that the data file's own commit added, where they name that file alone.
    `newer_equality` counts the equality deletes that apply by number and partition, whatever bounds say.
    `used` are the places in Applicability.deletes of those that apply to any, `reaching` of these the ones whose rows
    may name one: a position delete names no data file that a commit wrote after it."""

    sums: Mapping[str, Ints]
    used: Ints
    reaching: Ints

    @property
    def with_deletes(self) -> TouchedFiles:
        """The same of those files alone of which there is something to tell."""
        places = np.flatnonzero(self.sums["pairs"])
        sums = {name: narrow(self.sums[name][places]) for name in HELD}
        return TouchedFiles(len(self.sums["pairs"]), narrow(places), sums, self.used, self.reaching)


HELD = ("pairs", *COSTS, "refused", "newer_equality")
LISTS = ("places", *HELD, "used", "reaching")
TOUCHED = pa.schema(
    [("manifest_path", pa.string()), ("misplaced", pa.bool_()), ("files", pa.int64()),
     *((name, pa.list_(pa.int64())) for name in LISTS)]
)  # fmt: skip
"""A TouchedFiles a row; whether its manifest lists files of the other kind, too."""


@dataclass(frozen=True)
class TouchedFiles:
    """Of one manifest's live data files, which are so many, those that deletes could matter to: their places among
    them, and what was counted of each, as in DeleteCounts, in as few bytes as they need: those of all manifests are
    held."""

    files: int
    places: Ints
    sums: Mapping[str, Ints]
    used: Ints
    reaching: Ints

    @classmethod
    def nothing(cls) -> TouchedFiles:
        """Of a manifest that cannot be read."""
        none = narrow(np.zeros(0, np.int64))
        return cls(0, none, dict.fromkeys(HELD, none), none, none)

    @classmethod
    def of(cls, row: pa.Table) -> TouchedFiles:
        """Of a row of TOUCHED."""
        lists = {name: narrow(row[name].combine_chunks().flatten().to_numpy()) for name in LISTS}
        sums = {name: lists[name] for name in HELD}
        return cls(int(row["files"][0].as_py()), lists["places"], sums, lists["used"], lists["reaching"])


def touch_counts(pairs: DeletePairs, manifest: ManifestFile, stored: pa.Table) -> pa.Table:
    """TOUCHED, of one data manifest."""
    files = live_entries(stored, manifest) if len(pairs) else stored_live(stored)  # no delete asks for their numbers
    files, misplaced = of_its_content(manifest, files)
    counts = pairs.count(files, manifest.partition_spec_id).with_deletes
    columns = {"places": counts.places, **counts.sums, "used": counts.used, "reaching": counts.reaching}
    lists = {name: [column] for name, column in columns.items()}
    about = {"manifest_path": [manifest.manifest_path], "misplaced": [misplaced], "files": [counts.files]}
    return pa.table({**about, **lists}, schema=TOUCHED)


def live_in(manifest: ManifestFile, stored: pa.Table) -> tuple[pa.Table, bool]:
    """The live files of the kind that a manifest is for, of its stored entries; and whether there are others."""
    return of_its_content(manifest, live_entries(stored, manifest))


def of_its_content(manifest: ManifestFile, files: pa.Table) -> tuple[pa.Table, bool]:
    """The files of the kind that a manifest is for (spec: "Manifest Lists", `content`), and whether there are
    others."""
    fits = fitting(manifest, ints(files["content"], 0))
    misplaced = not fits.all()
    return (files.filter(pa.array(fits)) if misplaced else files), misplaced


def fitting(manifest: ManifestFile, content: Ints) -> Flags:
    """Which files, by their `content`, are of the kind that a manifest is for."""
    fits: Flags = content == 0 if manifest.content == 0 else (content == 1) | (content == 2)
    return fits  # the name says its type, which an expression of numpy's does not


ELSEWHERE = pa.schema([("delete", pa.int64()), ("manifest_path", pa.string()), ("row", pa.int64())])
"""A delete's place in Applicability.deletes, and a data file that it would apply to in that file's partition; COMPACTED
where it is known to have been needed in its own."""
COMPACTED = -1


def deletes_elsewhere(pairs: DeletePairs, manifest: ManifestFile, stored: pa.Table) -> pa.Table:
    """ELSEWHERE, of one data manifest."""
    files, spec_id = live_in(manifest, stored)[0], manifest.partition_spec_id
    rows = {**pairs.elsewhere(files, spec_id), **dict.fromkeys(pairs.compacted(files, spec_id), COMPACTED)}
    paths = [manifest.manifest_path] * len(rows)
    return pa.table({"delete": list(rows), "manifest_path": paths, "row": list(rows.values())}, schema=ELSEWHERE)


class DeletePairs:
    """Counts the pairs of a snapshot's data files with its deletes."""

    def __init__(self, files: Applicability) -> None:
        self._files = files
        self._index = {delete.key: at for at, delete in enumerate(files.deletes)}
        ids = sorted({i for delete in files.deletes for i in delete.equality_ids})
        self._fields = {i: _Field(i, files) for i in ids}
        self._groups: dict[PartitionPlace, _Group] = {}
        self._everywhere = self._group(files.everywhere)

    def __len__(self) -> int:
        return len(self._files.deletes)

    def of(self, keys: Collection[tuple[str, int | None]]) -> DeletePairs:
        """Those of some of the deletes, by their keys."""
        return DeletePairs(Applicability(self._files.metadata, self._files.data, self._some(keys, True)))

    def without(self, keys: Collection[tuple[str, int | None]]) -> DeletePairs:
        """Those of all other deletes."""
        return DeletePairs(Applicability(self._files.metadata, self._files.data, self._some(keys, False)))

    def _some(self, keys: Collection[tuple[str, int | None]], among: bool) -> list[LiveFile]:
        return [delete for delete in self._files.deletes if (delete.key in keys) == among]

    def vectors_without_place(self, used: Iterable[int]) -> tuple[LiveFile, ...]:
        """Those of some deletes that are vectors without their place, see spec.deletes.deletes.lacks_place."""
        return tuple(delete for at in sorted(used) if lacks_place(delete := self._files.deletes[at]))

    def bytes_of(self, used: Iterable[int]) -> int:
        """Return the bytes of some deletes, each counted once."""
        return possible(sum(possible(self._files.deletes[at].bytes) for at in used))

    @property
    def fields(self) -> bool:
        """Whether the counts and bounds of data files matter."""
        return bool(self._fields)

    def count(self, entries: pa.Table, spec_id: int) -> DeleteCounts:
        """The pairs of one data manifest's live entries (with counts and bounds where `fields` says so)."""
        sums = {name: np.zeros(entries.num_rows, np.int64) for name in SUMS}
        used, reaching = (np.zeros(len(self), bool) for _ in range(2))
        if not len(self):
            return DeleteCounts(sums, np.flatnonzero(used), np.flatnonzero(reaching))
        data = _Data(entries, spec_id, self._fields)
        superseded = self._count_file_deletes(data, sums, used)
        reaching |= used
        for group, rows in self._blocks(data):
            self._count(data, rows, group, superseded, sums, used, reaching)
        return DeleteCounts(sums, np.flatnonzero(used), np.flatnonzero(reaching))

    def find_first(self, entries: pa.Table, spec_id: int) -> Ints:
        """Find a delete that applies, of those that are for no data file alone.

        Args:
            entries: One data manifest's live entries (with counts and bounds where `fields` says so).
            spec_id: The manifest's partition spec.

        Returns:
            For each entry the place in Applicability.deletes of the first of its partition, else of those of all
            partitions; -1 where none applies.
        """
        data = _Data(entries, spec_id, self._fields)
        superseded, first = np.zeros(data.count, bool), np.full(data.count, -1)
        for group, rows in self._blocks(data):
            applies = group.applies(data, rows, superseded)
            hit = applies.any(axis=1) & (first[rows] < 0)
            first[rows[hit]] = group.index[applies[hit].argmax(axis=1)]
        return first

    def _blocks(self, data: _Data) -> Iterator[tuple[_Group, Ints]]:
        """The deletes of each partition, then those of all, each with rows of data files, CELLS pairs at a time."""
        order = np.argsort(data.codes, kind="stable")
        starts = np.searchsorted(data.codes[order], np.arange(len(data.places) + 1))
        groups: list[tuple[_Group, Ints]] = []
        for code, where in enumerate(data.places):
            if deletes := self._files.by_place.get(where):
                if where not in self._groups:
                    self._groups[where] = self._group(deletes)
                groups.append((self._groups[where], order[starts[code] : starts[code + 1]]))
        if self._files.everywhere:
            groups.append((self._everywhere, np.arange(data.count)))
        for group, rows in groups:
            step = max(1, CELLS // len(group.index))
            yield from ((group, rows[at : at + step]) for at in range(0, len(rows), step))

    def elsewhere(self, entries: pa.Table, spec_id: int) -> dict[int, int]:
        """Find data files that deletes would apply to, were they recorded in the partitions of these files.

        Args:
            entries: One data manifest's live entries, with counts and bounds.
            spec_id: The manifest's partition spec.

        Returns:
            The row of the first such data file, by the delete's place in Applicability.deletes.
        """
        data = _Data(entries, spec_id, self._fields)
        superseded = np.zeros(data.count, bool)
        first: dict[int, int] = {}
        for start in range(0, len(self), DELETES):
            group = self._group(self._files.deletes[start : start + DELETES])
            allowed = self._other_places(group.deletes, spec_id, data.places)
            step = max(1, CELLS // len(group.deletes))
            for begin in range(0, data.count, step):
                rows = np.arange(begin, min(begin + step, data.count))
                applies = group.applies(data, rows, superseded) & allowed[data.codes[rows]]
                for at in np.flatnonzero(applies.any(axis=0)).tolist():
                    first.setdefault(start + at, begin + int(applies[:, at].argmax()))
        return first

    def compacted(self, entries: pa.Table, spec_id: int) -> list[int]:
        """Find deletes whose own partition has a data file that a compaction wrote after them: it applied them. Of a
        commit that has expired nobody knows what it was: it may have been one.

        Args:
            entries: One data manifest's live entries.
            spec_id: The manifest's partition spec.

        Returns:
            The deletes' places in Applicability.deletes.
        """
        data, snapshots = _Data(entries, spec_id, {}), self._files.metadata.snapshots
        others = np.array([s.sequence_number for s in snapshots if s.operation != "replace"], np.int64)
        latest = np.zeros(len(data.places), np.int64)
        np.maximum.at(latest, data.codes, np.where(np.isin(data.written, others), 0, data.written))
        return [
            at
            for where, number in zip(data.places, latest.tolist(), strict=True)
            for at, written in self._by_place.get(where, ())
            if number > written
        ]

    @cached_property
    def _by_place(self) -> Mapping[PartitionPlace, Sequence[tuple[int, int]]]:
        """By partition the places of its deletes, and the sequence numbers of the commits that added them."""
        deletes: dict[PartitionPlace, list[tuple[int, int]]] = {}
        for at, delete in enumerate(self._files.deletes):
            written = delete.file_sequence_number or delete.sequence_number or NEVER
            deletes.setdefault(delete.place, []).append((at, written))
        return deletes

    def _other_places(self, deletes: Sequence[LiveFile], spec_id: int, places: Sequence[PartitionPlace]) -> Flags:
        """Which places (a row each) other than its own a delete (a column each) may have rows of. Where it goes by a
        partition's column, its rows are of the partition that it is recorded in, unless that is null: then it was meant
        for all; or unless its own bounds are of another one."""
        allowed = np.zeros((len(places), len(deletes)), bool)
        spec = self._files.metadata.spec(spec_id)
        own_row = {where: row for row, where in enumerate(places)}
        by_value: dict[tuple[str, ...], dict[tuple[Any, ...], list[int]]] = {}
        for column, delete in enumerate(deletes):
            names: tuple[str, ...] = ()
            if spec is not None and delete.spec_id == spec_id and any(v is not None for v in delete.partition.values()):
                ids = set(delete.equality_ids)
                for part, _ in contradicted_fields(self._files.metadata, delete):
                    ids -= set(part.source_ids)
                names = tuple(str(f.field_id) for f in spec.fields if f.source_ids and ids.issuperset(f.source_ids))
            if names not in by_value:
                by_value[names] = {}
                for row, (_, partition) in enumerate(places):
                    values = tuple(map(dict(partition).get, names))
                    by_value[names].setdefault(values, []).append(row)
            rows = by_value[names].get(tuple(map(delete.partition.get, names)), [])
            allowed[rows, column] = True
            own = own_row.get(delete.place)
            if own is not None:
                allowed[own, column] = False
        return allowed

    def _group(self, deletes: Sequence[LiveFile]) -> _Group:
        return _Group(deletes, [self._index[d.key] for d in deletes], self._fields)

    def _count_file_deletes(self, data: _Data, sums: Mapping[str, Ints], used: Flags) -> Flags:
        """Count the deletes that name one data file; which data files have a deletion vector that applies."""
        superseded = np.zeros(data.count, bool)
        by_path = self._files.by_path
        if not by_path:
            return superseded
        paths = data.table["file_path"].to_pylist()
        named = [(row, delete) for row, path in enumerate(paths) if path in by_path for delete in by_path[path]]
        for row, delete in sorted(named, key=lambda pair: pair[1].kind != "deletion_vector"):
            applies = self._hits(data, row, delete, superseded)
            sums["refused"][row] |= applies and data.place(row) != delete.place
            superseded[row] |= delete.kind == "deletion_vector" and applies
            sums["pairs"][row] += 1
            if applies:
                sums[SUM_OF[delete.kind]][row] += 1
                more = {"rows": possible(delete.record_count), "bytes": possible(delete.bytes)}
                own = own_rows(delete)
                is_same_commit = data.written[row] and data.written[row] == delete.file_sequence_number
                more |= {"own_rows": own, "of_own_commit": own if is_same_commit else 0}
                for name, amount in more.items():
                    sums[name][row] = min(sums[name][row] + amount, MOST)
                used[self._index[delete.key]] = True
        return superseded

    def _hits(self, data: _Data, row: int, delete: LiveFile, superseded: Flags) -> bool:
        """Whether a position delete or vector that names a data file applies to it."""
        both_numbers = data.has_number[row] and delete.sequence_number is not None
        replaced = superseded[row] and delete.kind == "position_deletes"
        return bool(both_numbers and data.sequence[row] <= delete.sequence_number and not replaced)

    @staticmethod
    def _count(
        data: _Data, rows: Ints, group: _Group, superseded: Flags, sums: Mapping[str, Ints], used: Flags,
        reaching: Flags,
    ) -> None:  # fmt: skip
        applies = group.applies(data, rows, superseded)
        _add(sums, used, group, rows, applies)
        sums["newer_equality"][rows] += group.newer_equality(data, rows)
        if group.position.any():
            applies &= ~group.older(data, rows)
        reaching[group.index[applies.any(axis=0)]] = True


def _add(sums: Mapping[str, Ints], used: Flags, group: _Group, rows: Ints, applies: Flags) -> None:
    sums["pairs"][rows] += len(group.index)
    for name, weights in group.weights.items():
        sums[name][rows] = np.minimum(sums[name][rows] + applies @ weights, MOST)
    used[group.index[applies.any(axis=0)]] = True


class _Group:
    """Deletes that could matter to the same data files, as columns."""

    def __init__(self, deletes: Sequence[LiveFile], index: Sequence[int], fields: Mapping[int, _Field]) -> None:
        self.deletes, self.index = deletes, np.array(index, np.int64)
        kinds = np.array([d.kind for d in deletes])
        self.position, self.equality = kinds == "position_deletes", kinds == "equality_deletes"
        self.vector = kinds == "deletion_vector"
        self.has_number = np.array([d.sequence_number is not None for d in deletes], bool)
        self.sequence = np.array([d.sequence_number or 0 for d in deletes], np.int64)
        written = [d.file_sequence_number if d.kind == "position_deletes" else None for d in deletes]
        self.written = np.array([NEVER if number is None else number for number in written], np.int64)
        """The sequence number of the commit that added each position delete; NEVER of others, and where it is not
        told."""
        weights = {
            "position": self.position.astype(np.int64),
            "equality": self.equality.astype(np.int64),
            "vectors": self.vector.astype(np.int64),
            "rows": np.array([possible(d.record_count) for d in deletes], np.int64),
            "bytes": np.array([possible(d.bytes) for d in deletes], np.int64),
            "own_rows": np.array([own_rows(d) for d in deletes], np.int64),
        }
        self.weights = {name: _summable(column) for name, column in weights.items()}
        self.columns = [(field, field.of(deletes)) for field in fields.values() if field.is_needed(deletes)]

    def older(self, data: _Data, rows: Ints) -> Flags:
        """A row a data file, a column a delete: whether it is a position delete that a commit before the data file's
        own added. Then none of its rows names that file."""
        older: Flags = data.written[rows][:, None] > self.written[None, :]
        return older

    def newer_equality(self, data: _Data, rows: Ints) -> Ints:
        """Of each data file, how many of the equality deletes are newer than it."""
        numbers = np.sort(self.sequence[self.equality & self.has_number])
        newer: Ints = len(numbers) - np.searchsorted(numbers, data.sequence[rows], "right")
        return newer * data.has_number[rows]

    def applies(self, data: _Data, rows: Ints, superseded: Flags) -> Flags:
        """A row a data file, a column a delete: whether all clauses but that of the partition hold."""
        data_numbers, delete_numbers = data.sequence[rows][:, None], self.sequence[None, :]
        applies = np.where(self.equality[None, :], data_numbers < delete_numbers, data_numbers <= delete_numbers)
        applies &= data.has_number[rows][:, None] & self.has_number[None, :]
        applies[:, self.vector] = False  # it names no data file
        applies &= ~(superseded[rows][:, None] & self.position[None, :])
        for field, (places, metrics) in self.columns:
            applies[:, places] &= ~field.apart(data, rows, metrics)
        return applies


def _summable(column: Ints) -> npt.NDArray[Any]:
    """A column of which any sum is of 64 bits: a stranger's numbers are so as floats only."""
    return column if column.sum(dtype=float) < MOST else column.astype(float)


def own_rows(delete: LiveFile) -> int:
    """Rows of a position delete or vector that is for one data file alone; 0 of others."""
    return possible(delete.record_count) if delete.kind != "equality_deletes" and target_file(delete) is not None else 0


class _Data:
    """The live data files of one manifest, as columns."""

    def __init__(self, table: pa.Table, spec_id: int, fields: Mapping[int, _Field]) -> None:
        self.table, self.count = table, table.num_rows
        sequence = table["inherited_sequence_number"]
        self.has_number: Flags = _array(pc.is_valid(sequence))
        self.sequence: Ints = _array(pc.fill_null(sequence, 0))
        self.written = ints(table["inherited_file_sequence_number"], 0)
        """The sequence number of the commit that added each; 0 where it is not told."""
        self.codes, partitions = partition_dicts(table)
        self.places = [place(spec_id, partition) for partition in partitions]
        self.metrics = {field_id: field.of_table(table) for field_id, field in fields.items()}

    def place(self, row: int) -> PartitionPlace:
        return self.places[int(self.codes[row])]


@dataclass(frozen=True)
class _Metrics:
    """What several files say of one column: which of them have nulls in `all`, `none` of their rows, or surely no NaN,
    and their bounds as codes that order as the bounds do, among the deletes' bounds."""

    all: Flags
    none: Flags
    no_nan: Flags
    low: Ints
    has_low: Flags
    high: Ints
    has_high: Flags

    def take(self, rows: Ints) -> _Metrics:
        return _Metrics(*(column[rows] for column in self.__dict__.values()))


class _Field:
    """One column that equality deletes go by."""

    def __init__(self, field_id: int, files: Applicability) -> None:
        self.id = field_id
        column = files.metadata.field(field_id)
        self.kind = column.type if column else None
        self.floats = self.kind in ("float", "double")
        bounds = (b for d in files.deletes for b in (d.lower.get(field_id), d.upper.get(field_id)))
        values = {v for v in (comparable_bound(b, self.kind) for b in set(bounds)) if v is not None and v == v}
        self.cuts: list[Any] = sorted(values)

    def is_needed(self, deletes: Iterable[LiveFile]) -> bool:
        return any(self.id in d.equality_ids for d in deletes)

    def _codes(self, bounds: Iterable[bytes | None]) -> tuple[Ints, Flags]:
        codes, valid = [], []
        seen: dict[bytes, int | None] = {}
        for bound in bounds:
            if bound is not None and bound not in seen:
                seen[bound] = self._code(bound)
            code = None if bound is None else seen[bound]
            codes.append(code or 0)
            valid.append(code is not None)
        return np.array(codes, np.int64), np.array(valid, bool)

    def _code(self, bound: bytes) -> int | None:
        """Odd codes are bounds of deletes, in order; even ones lie between. None is no statement."""
        value = comparable_bound(bound, self.kind)
        if value is None or value != value:
            return None
        at = bisect_left(self.cuts, value)
        return 2 * at + (at < len(self.cuts) and self.cuts[at] == value)

    def of(self, deletes: Sequence[LiveFile]) -> tuple[Ints, _Metrics]:
        """Which of the deletes go by this column, and what they say of it."""
        places = [at for at, d in enumerate(deletes) if self.id in d.equality_ids]
        own_deletes = [deletes[at] for at in places]
        nulls = [nulls_of(d.nulls.get(self.id), d.values.get(self.id)) for d in own_deletes]
        no_nan = np.array([d.nans.get(self.id) == 0 for d in own_deletes], bool)
        low = self._codes(d.lower.get(self.id) for d in own_deletes)
        high = self._codes(d.upper.get(self.id) for d in own_deletes)
        full, none = (np.array([n == which for n in nulls], bool) for which in ("all", "none"))
        return np.array(places, np.int64), _Metrics(full, none, no_nan, *low, *high)

    def of_table(self, table: pa.Table) -> _Metrics:
        """What data files say of it."""
        nulls, values, nans = (_metric(table, f"{n}_counts", self.id) for n in ("null_value", "value", "nan_value"))
        none = _array(pc.fill_null(pc.equal(nulls, 0), False))
        full = _array(pc.fill_null(pc.equal(nulls, values), False)) & ~none
        no_nan = _array(pc.fill_null(pc.equal(nans, 0), False))
        low, high = (self._codes(_metric(table, f"{n}_bounds", self.id).to_pylist()) for n in ("lower", "upper"))
        return _Metrics(full, none, no_nan, *low, *high)

    def apart(self, data: _Data, rows: Ints, deletes: _Metrics) -> Flags:
        """Whether no row of a data file can equal one of a delete's in this column."""
        metrics = data.metrics[self.id].take(rows)
        a, b = _Metrics(*(c[:, None] for c in metrics.__dict__.values())), deletes
        apart = (a.all & b.none) | (a.none & b.all)
        by_bounds = (a.has_high & b.has_low & (a.high < b.low)) | (a.has_low & b.has_high & (a.low > b.high))
        may_decide = a.none | b.none
        if self.floats:
            may_decide &= a.no_nan | b.no_nan
        result: Flags = apart | (may_decide & by_bounds)
        return result


def _metric(table: pa.Table, name: str, field_id: int) -> pa.ChunkedArray:
    column = table[name]
    return pc.map_lookup(column, pa.scalar(field_id, column.type.key_type), "last")


def _array(column: Any) -> Any:
    """A column without nulls, as numpy has it."""
    return column.to_numpy() if isinstance(column, pa.ChunkedArray) else column.to_numpy(zero_copy_only=False)
