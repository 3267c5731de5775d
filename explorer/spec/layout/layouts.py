"""A snapshot's data files by partition, as they are and as they might be: sorted, partitioned further, compacted.

Real and imagined files are the same kind of thing: how many rows and bytes there are, and between which bounds."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from explorer.progress import steps
from explorer.spec.entries.numpy_columns import Ints
from explorer.spec.filters.expressions import TRUE, BoundTerm, FilterColumn
from explorer.spec.layout.value_distribution import POINTS, TINY, Axis, Curve, Floats, Spread
from explorer.spec.scan.pruning import judge
from explorer.spec.scan.ranges import (
    Bounds,
    Mask,
    Ranges,
    Values,
    after,
    counts,
    file_ranges,
    join_values,
    merge_ranges,
)
from explorer.spec.scan.scan import Scan, partition_values
from explorer.spec.values.values import distinct_partitions

MOST_FILES = 100_000
"""Files that are imagined one by one; of more, each stands for several."""
MOST_POINTS = 1 << 20
"""Of the curves of all partitions together, if there are not very many."""
AT_ONCE = 20_000
"""Files that are put into their partitions at once, at least."""
_UNITS = {"year": "Y", "month": "M", "day": "D", "hour": "h"}
COARSER = {"hour": ("day", "month", "year"), "day": ("month", "year"), "month": ("year",)}
"""The transforms of a time whose partitions hold whole ones of another."""


@dataclass(frozen=True)
class FileKinds:
    """Files, an item for each kind: the place of its partition, how many such files there are, their rows and bytes
    together, and what is promised of each column that is asked for. Where partitions are put together, `members` has
    for each the place of the one that it goes into."""

    group: Ints
    number: Floats
    rows: Floats
    bytes: Floats
    ranges: tuple[Ranges, ...]
    members: Ints | None = None

    def take(self, places: npt.NDArray[Any]) -> FileKinds:
        """Some of them."""
        number, rows, sizes = (a[places] for a in (self.number, self.rows, self.bytes))
        ranges = tuple(r.take(places) for r in self.ranges)
        return FileKinds(self.group[places], number, rows, sizes, ranges, self.members)

    def together(self, starts: Ints) -> FileKinds:
        """Neighbours taken together, which begin at `starts`."""
        number, rows, sizes = (np.add.reduceat(a, starts) for a in (self.number, self.rows, self.bytes))
        return FileKinds(self.group[starts], number, rows, sizes, tuple(merge_ranges(r, starts) for r in self.ranges))

    def amount(self, open_cost: float) -> Floats:
        """Files, rows, bytes and weight of all: a file weighs its bytes, or what opening one costs if that is more.
        Where there may be a file there is one."""
        weight = np.maximum(self.bytes, self.number * open_cost)
        number, rows, sizes, weights = (float(a.sum()) for a in (self.number, self.rows, self.bytes, weight))
        return np.array([max(number, 1.0), rows, sizes, max(weights, open_cost)]) if number else np.zeros(4)


def _by_group(parts: Sequence[FileKinds]) -> FileKinds:
    """Several as one, those of a partition beside each other and in order."""
    group, number, rows, sizes = (
        np.concatenate([getattr(p, name) for p in parts]) for name in ("group", "number", "rows", "bytes")
    )
    ranges = tuple(after([p.ranges[at] for p in parts]) for at in range(len(parts[0].ranges)))
    return FileKinds(group, number, rows, sizes, ranges).take(np.argsort(group, kind="stable"))


def _starts(*keys: Ints) -> Ints:
    """Where another item begins, of sorted items."""
    changes = np.any([np.diff(key, prepend=-1) != 0 for key in keys], axis=0)
    return np.flatnonzero(changes)


@dataclass(frozen=True)
class Cut:
    """How the rows of one partition would be cut into files, or partitions, by a column: which share of the rows each
    has, its bounds, whether it may hold nulls and whether nothing else. What nothing is known of is not cut."""

    shares: Floats
    lower: Values
    upper: Values
    may_null: Mask
    nulls_only: Mask
    is_cut: bool = True


class Layouts:
    """The data files of a snapshot, gathered manifest by manifest for some columns and some filters (each a Scan). Kept
    are, for each partition, one item and for each column at most spec.layout.value_distribution.MOST intervals; files
    are compacted to `target` bytes as they come. `open_cost` is what opening a file weighs, in bytes.

    What is read, or there, is an array: files, rows, bytes, weight."""

    def __init__(self, columns: Sequence[FilterColumn], scans: Sequence[Scan], target: float, open_cost: float) -> None:
        self.columns, self._scans, self._target, self._open_cost = columns, scans, target, open_cost
        self._places: dict[tuple[int, str], int] = {}
        self._values: list[Mapping[int, Any]] = []
        """The values of each partition, by field id."""
        self._keeps: list[list[bool]] = [[] for _ in scans]
        self._spreads: list[list[Spread]] = [[] for _ in columns]
        self._partitions: FileKinds | None = None
        self._waiting: list[FileKinds] = []
        """Files that are not among the partitions yet: to put some in takes as long as there are partitions."""
        self.bounded = np.zeros(len(columns), np.int64)
        """Files that have bounds of each column, or no value of it."""
        self._open: FileKinds | None = None
        self._curves: tuple[int, list[Curve | None]] = (-1, [])
        self.present, self._compacted = np.zeros((2, len(scans) + 1, 4))
        """All files, and what each filter reads of them."""

    def add(self, spec_id: int, living: pa.Table) -> None:
        """The data files of one manifest's live entries, with their metrics."""
        if not living.num_rows:
            return
        codes, first = distinct_partitions(living["partition"])
        places = [self._place(spec_id, p) for p in partition_values(living["partition"], first)]
        rows, sizes = (
            living[n].cast(pa.float64()).fill_null(unknown).to_numpy()
            for n, unknown in (("record_count", TINY), ("file_size_in_bytes", 0.0))  # rows that are not told may match
        )
        ranges = tuple(file_ranges(living, c.field_id, c.kind, True) for c in self.columns)
        files = FileKinds(np.array(places, np.int64)[codes], np.ones(len(rows)), rows, sizes, ranges)
        order = np.argsort(files.group, kind="stable")
        nulls = [counts(living, "null_value_counts", c.field_id).values[order] for c in self.columns]
        files = files.take(order)
        self.present += self._read(files)
        self._spread(files, nulls)
        self._waiting.append(files)
        if sum(len(some.group) for some in self._waiting) >= max(AT_ONCE, len(self._values)):
            self._put_in()

    def _put_in(self) -> None:
        """Put the files that wait into their partitions, and into files as they would be."""
        if self._waiting:
            files = _by_group(self._waiting)
            self._waiting = []
            together = _by_group([self._partitions, files] if self._partitions else [files])
            self._partitions = together.together(_starts(together.group))
            self._compact(_by_group([self._open, files] if self._open else [files]))

    @property
    def partitions(self) -> FileKinds | None:
        """Each partition as if it were one file; None without any."""
        self._put_in()
        return self._partitions

    def of_other_specs(self, spec_id: int | None) -> int:
        """Partitions, as far as there are files, of other specs than this."""
        return sum(spec != spec_id for spec, _ in self._places)

    def _place(self, spec_id: int, partition: Mapping[int, Any]) -> int:
        key = (spec_id, repr(sorted(partition.items())))
        if key not in self._places:
            self._places[key] = len(self._places)
            self._values.append(dict(partition))
            for scan, keeps in zip(self._scans, self._keeps, strict=True):
                keeps.append(scan.keeps(spec_id, partition))
            for column, spreads in zip(self.columns, self._spreads, strict=True):
                spreads.append(Spread(column.kind))
        return self._places[key]

    def _spread(self, files: FileKinds, nulls: Sequence[Ints]) -> None:
        starts = _starts(files.group)
        ends = [*starts[1:], len(files.group)]
        for at, ranges in enumerate(files.ranges):
            bounded = ranges.lower.known & ranges.upper.known & ~ranges.empty
            self.bounded[at] += int((bounded | ranges.empty).sum())
            for start, end in zip(starts, ends, strict=True):
                spread, some = self._spreads[at][files.group[start]], np.flatnonzero(bounded[start:end]) + start
                spread.nulls += float(nulls[at][start:end].sum())
                with_value = np.maximum(files.rows[some] - nulls[at][some], 0)
                spread.add(ranges.lower.values[some], ranges.upper.values[some], with_value)

    def _compact(self, files: FileKinds) -> None:
        """Bins are filled in order, a file into that in which its middle lies; all but the last of each partition are
        done."""
        done = np.cumsum(files.bytes) - files.bytes
        first = _starts(files.group)
        done -= np.repeat(done[first], np.diff([*first, len(done)]))
        starts = _starts(files.group, ((done + files.bytes / 2) // self._target).astype(np.int64))
        bins = files.together(starts)
        last = np.append(np.diff(bins.group) != 0, True)
        self._close(bins.take(~last))
        self._open = bins.take(last)

    def _close(self, bins: FileKinds) -> None:
        """What the filters read of files that were put together."""
        if len(bins.group):
            self._compacted += self._read(self._with_numbers(bins, self._target))

    def _with_numbers(self, bins: FileKinds, size: float) -> FileKinds:
        return replace(bins, number=np.minimum(bins.number, np.maximum(1, np.round(bins.bytes / size))))

    def _read(self, files: FileKinds) -> Floats:
        return np.array([self.amount(files), *(self.read(files, at) for at in range(len(self._scans)))])

    def amount(self, files: FileKinds) -> Floats:
        """All of some files."""
        return files.amount(self._open_cost)

    def coarsen(self, spec_id: int, field_id: int, before: str, transform: str, size: float) -> FileKinds:
        """The partitions of one spec put together by a coarser transform of a time.

        Args:
            spec_id: The spec; partitions of others stay as they are.
            field_id: Its partition field.
            before: The field's transform.
            transform: The coarser one.
            size: Bytes of a file at most.
        """
        assert self.partitions
        groups: dict[Any, int] = {}
        first = np.arange(len(self._values))
        for place, (own, values) in enumerate(zip((own for own, _ in self._places), self._values, strict=True)):
            value = values.get(field_id)
            if own == spec_id and isinstance(value, int):
                fine = np.array(value, np.int64).astype(f"M8[{_UNITS[before]}]")
                coarse = int(fine.astype(f"M8[{_UNITS[transform]}]").astype(np.int64))
                others = repr(sorted((name, other) for name, other in values.items() if name != field_id))
                groups.setdefault((coarse, others), place)
                first[place] = groups[coarse, others]
        moved = replace(self.partitions, group=first[self.partitions.group])
        moved = moved.take(np.argsort(moved.group, kind="stable"))
        whole = moved.together(_starts(moved.group))
        return replace(whole, number=_few(whole.rows, whole.bytes, size), members=first)

    def read(self, files: FileKinds, at: int) -> Floats:
        """What the filter in place `at` reads of some files."""
        scan, keeps = self._scans[at], np.array(self._keeps[at], bool)
        if files.members is not None:  # a partition is read where the filter keeps any of those that it is made of
            kept = np.zeros(len(keeps), bool)
            np.logical_or.at(kept, files.members, keeps)
            keeps = kept
        of = {c.field_id: r for c, r in zip(self.columns, files.ranges, strict=True)}

        def ranges(term: BoundTerm) -> Ranges | None:
            ranges_of = of.get(term.column.field_id)
            return None if ranges_of is None else ranges_of.of(term)

        may = judge(scan.bound, len(files.group), ranges).may & keeps[files.group]
        return self.amount(files.take(may & ((files.rows > 0) | (scan.bound == TRUE))))

    def compact(self) -> Floats:
        """The compacted table, and what each filter would read of it."""
        self._put_in()
        left = self._read(self._with_numbers(self._open, self._target)) if self._open else 0
        return self._compacted + left

    def axis(self, at: int) -> Axis | None:
        """Of one column, by all its bounds; None where there are none, or nothing lies between two of its values."""
        bounds = join_values([spread.bounds for spread in self._spreads[at]])
        return Axis.of(self.columns[at].kind, bounds) if len(bounds) else None

    def curves(self, at: int, axis: Axis) -> list[Curve | None]:
        """How one column is spread in each partition; those of the column that was asked last are kept."""
        if self._curves[0] != at:
            spreads = self._spreads[at]
            points = max(256, MOST_POINTS // len(spreads))
            self._curves = (at, [s.curve(axis, min(POINTS, points)) for s in steps(spreads, "partitions")])
        return self._curves[1]

    def sort_by(self, at: int, axis: Axis, size: float) -> FileKinds:
        """Each partition's rows sorted by a column, nulls first, into files of one size."""
        assert self.partitions
        wanted = np.maximum(1, np.ceil(self.partitions.bytes / size - TINY))
        wanted = np.minimum(wanted, np.maximum(1, self.partitions.rows))
        numbers = np.maximum(1, wanted / max(1.0, wanted.sum() / MOST_FILES)).astype(np.int64)

        def cut(place: int, curve: Curve, nulls: float) -> Cut:
            edges = np.linspace(0, 1, numbers[place] + 1)
            lower, upper = curve.between((edges - nulls) / (1 - nulls))
            may_null = (edges[:-1] < nulls) | (nulls == 0)  # where none are counted, whether there are is told before
            return Cut(np.diff(edges), lower, upper, may_null, edges[1:] <= nulls)

        files = self._cut(at, axis, cut)
        each = np.bincount(files.group)
        return replace(files, number=(wanted / each)[files.group])

    def split_by(self, at: int, axis: Axis, transform: str, size: float) -> FileKinds | None:
        """Each partition split by a transform that keeps the order; None where that makes too many partitions."""
        column = self.columns[at]
        inner: dict[int, Floats] = {}
        many = 0
        for place, curve in enumerate(self.curves(at, axis)):
            if curve:
                edges = _boundaries(transform, column.kind, axis, curve)
                many += MOST_FILES if edges is None else len(edges) + 1
                if edges is None or many > MOST_FILES:
                    return None
                inner[place] = edges

        def cut(place: int, curve: Curve, nulls: float) -> Cut:
            ends = np.concatenate([[curve.low], inner[place], [curve.high + axis.step]])
            shares = np.diff(np.concatenate([[0.0], curve.below(inner[place]), [1.0]]))
            there, null = shares > 0, int(nulls > 0)  # nulls are a partition of their own, the first
            lower, upper = (
                axis.values(np.concatenate([ends[:null], side[there]])) for side in (ends[:-1], ends[1:] - axis.step)
            )
            of_nulls = np.arange(len(lower)) < null
            return Cut(
                np.append([nulls] * null, shares[there] * (1 - nulls)), lower, upper, of_nulls | (not null), of_nulls
            )

        files = self._cut(at, axis, cut)
        return replace(files, number=_few(files.rows, files.bytes, size))

    def buckets(self, number: int, size: float) -> FileKinds:
        """Each partition split evenly into buckets, all of a partition taken together."""
        assert self.partitions
        rows, sizes = self.partitions.rows / number, self.partitions.bytes / number
        return replace(self.partitions, number=number * _few(rows, sizes, size))

    def _cut(self, at: int, axis: Axis, cut: Callable[[int, Curve, float], Cut]) -> FileKinds:
        """The partitions cut by a column. What has no bounds stays together."""
        whole = self.partitions
        assert whole
        cuts: list[Cut] = []
        for place, (curve, spread) in enumerate(zip(self.curves(at, axis), self._spreads[at], strict=True)):
            nulls = min(1.0, spread.nulls / whole.rows[place]) if whole.rows[place] else 0.0
            cuts.append(cut(place, curve, nulls) if curve and nulls < 1 else _uncut(whole.ranges[at], place))
        sizes = [len(c.shares) for c in cuts]
        files, is_cut = whole.take(np.repeat(np.arange(len(cuts)), sizes)), np.repeat([c.is_cut for c in cuts], sizes)
        by, shares = files.ranges[at], np.concatenate([c.shares for c in cuts])
        nulls_only, may_null = (np.concatenate([getattr(c, n) for c in cuts]) for n in ("nulls_only", "may_null"))
        cut_by = replace(
            by, may_null=by.may_null & may_null, nulls_only=nulls_only, empty=np.where(is_cut, nulls_only, by.empty),
            lower=Bounds(join_values([c.lower for c in cuts]), is_cut | by.lower.known),
            upper=Bounds(join_values([c.upper for c in cuts]), is_cut | by.upper.known),
        )  # fmt: skip
        ranges = (*files.ranges[:at], cut_by, *files.ranges[at + 1 :])
        return replace(files, rows=files.rows * shares, bytes=files.bytes * shares, ranges=ranges)


def _uncut(ranges: Ranges, place: int) -> Cut:
    one = ranges.take(np.array([place]))
    return Cut(np.ones(1), one.lower.values, one.upper.values, one.may_null, one.nulls_only, is_cut=False)


def _few(rows: Floats, sizes: Floats, size: float) -> Floats:
    """Files of partitions with so many rows and bytes; of less than a row there is a file now and then."""
    return np.where(rows < 1, rows, np.minimum(np.maximum(1, np.ceil(sizes / size - TINY)), rows))


def _boundaries(transform: str, kind: str, axis: Axis, curve: Curve) -> Floats | None:
    """Where the results of a transform change between the ends of a curve; None where that is too often."""
    if transform.startswith("truncate"):
        first, last, width = curve.low // axis.letter, curve.high // axis.letter, axis.letter
        return np.arange(first + 1, last + 1) * width if last - first < MOST_FILES else None
    ends = axis.values(np.array([curve.low, curve.high])).astype(np.int64)
    if transform == "identity":
        more = int(ends[1]) - int(ends[0])
        return axis.numbers(ends[0] + np.arange(1, more + 1)) if more < MOST_FILES else None
    base = "D" if kind == "date" else "ns" if "_ns" in kind else "us"
    first, last = ends.astype(f"M8[{base}]").astype(f"M8[{_UNITS[transform]}]")
    if not 0 <= (last - first).astype(np.int64) < MOST_FILES:
        return None
    return axis.numbers(np.arange(first + 1, last + 1).astype(f"M8[{base}]").astype(np.int64))


def transforms(column: FilterColumn, axis: Axis) -> list[str]:
    """Partition transforms that keep the order of a column's values, and may be of use."""
    if column.kind == "date":
        return ["month", "day"]
    if column.kind.startswith("timestamp"):
        return ["month", "day", "hour"]
    if column.kind == "string":
        return [f"truncate[{len(axis.prefix) + 1}]"]
    return ["identity"] if column.kind in ("int", "long", "boolean") else []


def bucket_count(files: float) -> int:
    """How many buckets suit a partition of so many files."""
    return int(2 ** min(10, max(1, round(math.log2(max(1.0, files))))))
