"""Which files a rewrite takes, in which groups, and why (Iceberg: SizeBasedFileRewritePlanner and, of it,
BinPackRewriteFilePlanner and BinPackRewritePositionDeletePlanner): in columns, from sizes and deletes alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from explorer.spec.entries.entries import WORDS
from explorer.spec.entries.live_files import LazySequence
from explorer.spec.entries.numpy_columns import Flags, Ints, ints
from explorer.spec.maintenance.rewrite_options import LONG_MAX, RewriteOptions
from explorer.spec.text.units import human_bytes
from explorer.spec.values.hashes import hashes

TOO_SMALL, TOO_LARGE, MANY_DELETES, DELETE_RATIO = 1, 2, 4, 8
"""What of a file makes it a candidate, as bits."""
SIZES, DELETES = TOO_SMALL | TOO_LARGE, MANY_DELETES | DELETE_RATIO
GROUP_REASONS = (
    "enough input files", "enough content", "too much content", "a file with too many deletes",
    "a file with too high a delete ratio", "rewrite-all",
)  # fmt: skip
JUDGED = pa.schema(
    [
        ("file_path", pa.string()), ("place", WORDS), ("partition", WORDS), ("spec_id", pa.int32()),
        ("record_count", pa.int64()), ("size", pa.int64()), ("deletes", pa.int64()), ("deleted_rows", pa.int64()),
        ("reasons", pa.int64()), ("vector", pa.bool_()), ("parts", pa.int64()), ("manifest_path", WORDS),
        ("target", pa.int64()), ("written_at", pa.int64()),
    ]
)  # fmt: skip
"""A row for each file that the planner looks at. `place` tells groups of partitions apart, `partition` names them.
`deletes` apply to the file; `deleted_rows` are those of deletes that are for it alone. `reasons` are bits. `parts` is
in how many parts a file can be read, by its split offsets; 0 where it can be cut anywhere. `target` is the hash of the
path of the one data file that position deletes are for; 0 where they are for several, or nobody says, and of data
files. `written_at` is the file's own sequence number."""


def candidate_reasons(rule: RewriteOptions, sizes: Ints, records: Ints, deletes: Ints, deleted_rows: Ints) -> Ints:
    """The reasons why each of some files is a candidate; 0 where it is none."""
    reasons = np.where(sizes < rule.smallest, TOO_SMALL, 0) | np.where(sizes > rule.largest, TOO_LARGE, 0)
    if rule.delete_files is not None:
        reasons |= np.where(deletes >= rule.delete_files, MANY_DELETES, 0)
    if rule.delete_ratio is not None:
        has_ratio = (deletes > 0) & (records != 0)
        ratio = np.minimum(deleted_rows, records) / np.where(has_ratio, records, 1)
        reasons |= np.where(has_ratio & (ratio >= rule.delete_ratio), DELETE_RATIO, 0)
    return reasons.astype(np.int64)


def file_reasons(rule: RewriteOptions, part: pa.Table) -> list[str]:
    """Why each file of JUDGED rows is a candidate, or is none."""
    reasons = ints(part["reasons"], 0)
    no_reason = "rewrite-all takes every file" if rule.rewrite_all else f"left: {rule.range_words}"
    of_size = np.array([_size_words(rule, bits) or no_reason for bits in range(SIZES + 1)], object)
    texts: list[str] = of_size[reasons & SIZES].tolist()
    with_deletes = np.flatnonzero(reasons & DELETES)
    chosen = part.select(["record_count", "deletes", "deleted_rows"]).take(pa.array(with_deletes))
    for at, row in zip(with_deletes.tolist(), chosen.to_pylist(), strict=True):
        texts[at] = _reason_words(rule, int(reasons[at]), **row)
    return texts


def _size_words(rule: RewriteOptions, reasons: int) -> str:
    small = f"too small: less than {human_bytes(rule.smallest)}" if reasons & TOO_SMALL else ""
    large = f"too large: more than {human_bytes(rule.largest)}" if reasons & TOO_LARGE else ""
    return "; ".join(filter(None, (small, large)))


def _reason_words(rule: RewriteOptions, reasons: int, record_count: int, deletes: int, deleted_rows: int) -> str:
    parts = [_size_words(rule, reasons)]
    if reasons & MANY_DELETES:
        parts.append(f"too many deletes: {deletes} apply, delete-file-threshold is {rule.delete_files}")
    if reasons & DELETE_RATIO:
        rows = min(deleted_rows, record_count)
        parts.append(
            f"delete ratio: {rows:,} of {record_count:,} rows, delete-ratio-threshold is {rule.delete_ratio:g}"
        )
    return "; ".join(filter(None, parts))


@dataclass(frozen=True)
class FileGroup:
    """Files that would be rewritten together, or be left together. `partition` is empty where the table has none, or
    the files are of another spec than the table's. `expected_files` are those that would be written, of at most
    `max_output_bytes`; both are 0 where the group is left."""

    number: int
    partition: str
    files: int
    bytes: int
    reasons: tuple[str, ...]
    expected_files: int
    split_bytes: int

    @property
    def is_rewritten(self) -> bool:
        """Whether the engine takes it."""
        return bool(self.reasons)


@dataclass
class CandidateTotals:
    """What was looked at, added up."""

    files: int = 0
    bytes: int = 0
    candidates: int = 0
    vectors: int = 0
    with_deletes: int = 0
    candidate_rows: int = 0
    by_reason: dict[int, int] = field(default_factory=lambda: dict.fromkeys((1, 2, 4, 8), 0))


class Grouping:
    """The candidates among JUDGED rows, packed into groups. Held are, for each candidate, its size, parts, reasons and
    the code of its place; of each place its name."""

    def __init__(self, rule: RewriteOptions, parts: Iterable[pa.Table]) -> None:
        self.rule, self.seen = rule, CandidateTotals()
        self.names: list[str] = []
        self.offsets: dict[str, int] = {}
        """By manifest: how many candidates come before its."""
        places: dict[str, int] = {}
        columns: list[tuple[Ints, ...]] = [(np.zeros(0, np.int64),) * 6]
        for part in parts:
            columns += [self._add(part, places)]
        self._codes, self._sizes, self._reasons, self._hashes, self._parts, self._targets = (
            np.concatenate(c) for c in zip(*columns, strict=True)
        )
        self._order = np.argsort(self._codes, kind="stable")
        self._starts = self._pack()

    def _add(self, part: pa.Table, places: dict[str, int]) -> tuple[Ints, ...]:
        sizes, reasons = ints(part["size"], 0), ints(part["reasons"], 0)
        seen = self.seen
        seen.files += part.num_rows
        seen.bytes += int(sizes.sum())
        seen.with_deletes += int((ints(part["deletes"], 0) > 0).sum())
        seen.vectors += pc.sum(part["vector"]).as_py() or 0
        for bit in seen.by_reason:
            seen.by_reason[bit] += int((reasons & bit > 0).sum())
        taken = np.full(len(reasons), True) if self.rule.rewrite_all else reasons > 0
        for path, count in _by_manifest(part, taken):
            self.offsets.setdefault(path, seen.candidates)
            seen.candidates += count
        some = part.filter(pa.array(taken))
        seen.candidate_rows += pc.sum(some["record_count"]).as_py() or 0
        names, indices = _encode(some["place"])
        place_codes = {}
        for index, first in zip(*np.unique(indices, return_index=True), strict=True):
            place = names[int(index)]
            if place not in places:
                places[place] = len(places)
                self.names.append(some["partition"][int(first)].as_py() or "")
            place_codes[int(index)] = places[place]
        codes = np.array([place_codes.get(index, 0) for index in range(len(names))], np.int64)
        hashed, targets = hashes(some["file_path"]), ints(some["target"], 0)
        return codes[indices], sizes[taken], reasons[taken], hashed, ints(some["parts"], 1), targets

    def _pack(self) -> Ints:
        """Where groups begin among the candidates in the order of their places: a group is full when the next file
        would make it larger than allowed (Iceberg's ListPacker with a lookback of 1)."""
        sizes, rule = self._sizes[self._order], self.rule
        codes = self._codes[self._order]
        firsts = np.flatnonzero(np.diff(codes, prepend=-1))
        if not len(firsts):
            return firsts
        ends = np.append(firsts[1:], len(codes))
        done = np.concatenate([[0], np.cumsum(sizes)])
        fits = (done[ends] - done[firsts] <= rule.max_group_bytes) & (ends - firsts <= rule.max_group_files)
        starts = [firsts]
        for first, end in zip(firsts[~fits].tolist(), ends[~fits].tolist(), strict=True):
            at, more = first, []
            while at < end:
                full = (
                    int(
                        np.searchsorted(
                            done[at + 1 : end + 1], min(int(done[at]) + rule.max_group_bytes, LONG_MAX), "right"
                        )
                    )
                    + at
                )
                at = min(max(full, at + 1), at + rule.max_group_files, end)
                more.append(at)
            starts.append(np.array(more[:-1], np.int64))
        return np.sort(np.concatenate(starts))

    @cached_property
    def _ends(self) -> Ints:
        return np.append(self._starts[1:], len(self._order)) if len(self._starts) else self._starts

    @cached_property
    def files(self) -> Ints:
        """Files of each group."""
        return self._ends - self._starts

    @cached_property
    def bytes(self) -> Ints:
        """Bytes of each group."""
        return _sum(self._sizes[self._order], self._starts)

    @cached_property
    def _reason_flags(self) -> Flags:
        """A row a group, a column for each of GROUP_REASONS: whether it holds."""
        rule, files, sizes = self.rule, self.files, self.bytes
        bits = self._reasons[self._order]
        deletes = [_sum((bits & bit > 0).astype(np.int64), self._starts) > 0 for bit in (MANY_DELETES, DELETE_RATIO)]
        met = [(files > 1) & (files >= rule.min_input_files), (files > 1) & (sizes > rule.target), sizes > rule.largest]
        met = [*met, *deletes, np.zeros(len(files), bool)]
        if rule.rewrite_all:  # nothing else is asked
            met = [*(np.zeros(len(files), bool) for _ in met[:-1]), np.ones(len(files), bool)]
        holds: Flags = np.column_stack(met)
        return holds

    @cached_property
    def groups_to_rewrite(self) -> Ints:
        """The places of the groups that would be rewritten, in the order that is asked for. Of `max-files-to-rewrite`
        the first come first: which partitions these are is the engine's choice."""
        chosen = np.flatnonzero(self._reason_flags.any(axis=1))
        if self.rule.max_files is not None:
            before = np.cumsum(self.files[chosen]) - self.files[chosen]
            chosen = chosen[before < self.rule.max_files]
        keys = {"bytes": self.bytes, "files": self.files}
        if (by := self.rule.order.partition("-"))[0] in keys:
            key = keys[by[0]][chosen]
            chosen = chosen[np.argsort(-key if by[2] == "desc" else key, kind="stable")]
        return chosen

    @cached_property
    def cut(self) -> tuple[int, int] | None:
        """The group of which only the first files are taken, for max-files-to-rewrite, and how many."""
        most = self.rule.max_files
        if most is None:
            return None
        more = int(self.files[self.groups_to_rewrite].sum()) - most
        last = int(self.groups_to_rewrite.max()) if len(self.groups_to_rewrite) else 0
        return (last, int(self.files[last]) - more) if more > 0 else None

    @cached_property
    def amounts(self) -> tuple[Ints, Ints]:
        """Files and bytes of the groups that would be rewritten, in their order."""
        files, sizes = self.files.copy(), self.bytes.copy()
        if self.cut:
            at, count = self.cut
            start = int(self._starts[at])
            files[at] = count
            sizes[at] = int(self._sizes[self._order[start : start + count]].sum())
        return files[self.groups_to_rewrite], sizes[self.groups_to_rewrite]

    def members(self) -> Iterator[tuple[str, Ints, Ints]]:
        """Of each group that would be rewritten, in their order, the name of its place, and sizes and parts of its
        files."""
        for at in self.groups_to_rewrite.tolist():
            start, end = int(self._starts[at]), int(self._ends[at])
            if self.cut and at == self.cut[0]:
                end = start + self.cut[1]
            files = self._order[start:end]
            yield self.names[self._codes[files[0]]], self._sizes[files], self._parts[files]

    @cached_property
    def groups(self) -> Sequence[FileGroup]:
        """Those that would be rewritten, in their order, then those that are left; made as they are asked for."""
        left = np.setdiff1d(np.arange(len(self._starts)), self.groups_to_rewrite)
        return _Groups(self, np.concatenate([self.groups_to_rewrite, left]))

    def group(self, at: int, number: int) -> FileGroup:
        """The group in a place."""
        taken = number <= len(self.groups_to_rewrite)
        files, size = int(self.files[at]), int(self.bytes[at])
        if taken:
            files, size = (int(column[number - 1]) for column in self.amounts)
        reasons = (
            tuple(r for r, holds in zip(GROUP_REASONS, self._reason_flags[at], strict=True) if holds) if taken else ()
        )
        expected = int(self.rule.count_output_files(np.array([size]))[0]) if taken else 0
        split = int(self.rule.split_bytes(np.array([size]))[0]) if taken else 0
        name = self.names[self._codes[self._order[self._starts[at]]]]
        return FileGroup(number, name, files, size, reasons, expected, split)

    @cached_property
    def numbers(self) -> Ints:
        """The number of its group for each candidate, in the order they were read; negative where it is left."""
        shown = np.zeros(len(self._starts), np.int64)
        shown[self.groups.order] = np.arange(1, len(shown) + 1)  # type: ignore[attr-defined]
        shown[np.setdiff1d(np.arange(len(shown)), self.groups_to_rewrite)] *= -1
        result = np.zeros(len(self._order), np.int64)
        result[self._order] = np.repeat(shown, self.files)
        if self.cut:
            at, count = self.cut
            result[self._order[int(self._starts[at]) + count : int(self._ends[at])]] *= -1
        return result

    @cached_property
    def duplicates(self) -> Ints:
        """Hashes of paths that stand more than once among the files that would be rewritten."""
        values, counts = np.unique(self._hashes[self.numbers > 0], return_counts=True)
        return values[counts > 1]

    @cached_property
    def target_counts(self) -> tuple[int, int]:
        """Of the position deletes that would be rewritten: how many data files those are for that are for one each,
        and how many are for several, or nobody says."""
        targets = self._targets[self.numbers > 0]
        return len(np.unique(targets[targets != 0])), int((targets == 0).sum())

    def group_numbers(self, part: pa.Table) -> Ints:
        """The number of each file's group (see `numbers`) of JUDGED rows that are read again; 0 of no candidates."""
        manifests, codes = _encode(part["manifest_path"])
        taken = np.full(len(codes), True) if self.rule.rewrite_all else ints(part["reasons"], 0) != 0
        order = np.argsort(codes, kind="stable")
        sums = np.concatenate([np.zeros(1, np.int64), np.cumsum(taken[order])])
        starts = np.searchsorted(codes[order], np.arange(len(manifests)))
        before = np.empty(len(codes), np.int64)
        """How many candidates of its manifest come before each file."""
        before[order] = sums[:-1] - sums[starts][codes[order]]
        offsets = np.array([self.offsets.get(path, 0) for path in manifests], np.int64)
        at = offsets[codes] + before
        numbers = np.zeros(len(codes), np.int64)
        has_number = taken & (at < len(self.numbers))
        numbers[has_number] = self.numbers[at[has_number]]
        return numbers


class _Groups(LazySequence[FileGroup]):
    def __init__(self, grouping: Grouping, order: Ints) -> None:
        self.order, self._grouping = order, grouping

    def __len__(self) -> int:
        return len(self.order)

    def take(self, indices: Sequence[int]) -> list[FileGroup]:
        return [self._grouping.group(int(self.order[i]), i + 1) for i in indices]

    def __iter__(self) -> Iterator[FileGroup]:
        for i in range(len(self)):
            yield from self.take([i])


def _by_manifest(part: pa.Table, taken: Flags) -> Iterator[tuple[str, int]]:
    """The manifests of JUDGED rows, in order, and how many candidates each has."""
    paths, indices = _encode(part["manifest_path"])
    yield from zip(paths, np.bincount(indices, taken, len(paths)).astype(np.int64).tolist(), strict=True)


def _encode(column: pa.ChunkedArray) -> tuple[list[str], Ints]:
    """The texts of a column, each once, and which of them each row has."""
    array = column.combine_chunks()
    array = array if pa.types.is_dictionary(array.type) else array.dictionary_encode()
    return array.dictionary.to_pylist(), array.indices.to_numpy(zero_copy_only=False).astype(np.int64)


def _sum(values: Ints, starts: Ints) -> Ints:
    return np.add.reduceat(values, starts) if len(starts) else values[:0]
