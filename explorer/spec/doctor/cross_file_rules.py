"""Rules over files of several manifests at once, by hashes of what tells files apart: which manifests meet in one
snapshot decides. What is found is looked up again, by name."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from explorer.progress import steps
from explorer.spec.commits.commit_writers import JOB, OPERATOR
from explorer.spec.commits.uncommitted_files import PROGRESS
from explorer.spec.commits.uncommitted_files import SHOWN as PROGRESS_SHOWN
from explorer.spec.doctor.findings import Finding, Refused
from explorer.spec.doctor.manifest_list_rules import Lists
from explorer.spec.doctor.remedy_cases import REMOVED_WITH_SNAPSHOT
from explorer.spec.entries.numpy_columns import Ints, ints
from explorer.spec.values.equality import first_places, join_rows, number_rows

Named = Callable[[str, Sequence[int], str, "int | None"], Sequence[Mapping[str, Any]]]
"""The stored entries, with `record` and `inherited_snapshot_id`, that have these keys in a manifest; what the keys are
of, `keys` or `vectors`; and how many of them are wanted, or all."""
SHOWN = 3
LOOKED_AT = 50
TOLD = 100
"""Pairs of manifests that are told of one by one."""
AT_ONCE = 1 << 20
"""Files, and pairs of entries, that are held against each other at once, about."""


class CrossFileRules:
    """The rules over all manifests of some lists."""

    def __init__(self, lists: Lists, named: Named) -> None:
        self.lists, self._named = lists, named
        self._paths = list(lists.held)

    def findings(self) -> Iterator[Finding]:
        """Rules 35, 37, 43, 45, 50 and 51."""
        yield from self._twice("keys", "file-twice", "{commits}: its rows are read as often")
        yield from self._twice("vectors", "two-vectors", "it and {other} have deletion vectors of one data file",
                               refused="scan")  # fmt: skip
        yield from self._again()
        yield from self._elsewhere()
        yield from self._row_ids()

    def _all(self, name: str) -> tuple[Ints, Ints]:
        """The numbers of all manifests, and which manifest each is of."""
        return _join_parts([self.lists.held[path].numbers(name) for path in self._paths])

    def _deals(self, *names: str) -> Iterator[list[tuple[Ints, Ints]]]:
        """The same of hashes, some ranges of them after another: each has about AT_ONCE."""
        every = [[self.lists.held[path].numbers(name) for path in self._paths] for name in names]
        number = max(1, -(-max(sum(map(len, parts)) for parts in every) // AT_ONCE))
        bounds = [deal * (1 << 64) // number - (1 << 63) for deal in range(number + 1)]
        for low, end in steps(list(pairwise(bounds)), "files"):
            yield [_join_parts([part[(part >= low) & (part <= end - 1)] for part in parts]) for parts in every]

    def _together(self, one: int, other: int) -> int:
        """The snapshots that list both manifests."""
        return self.lists.masks[self._paths[one]] & self.lists.masks[self._paths[other]]

    def _twice(self, name: str, rule: str, what: str, refused: Refused = "") -> Iterator[Finding]:
        met = _Pairs()
        for [(every, of)] in self._deals(name):
            if not len(every):
                continue
            keys, which, times = _distinct(every, of)
            for n in np.unique(which[times > 1]).tolist():
                met.add((n, n), keys[(which == n) & (times > 1)])
            for some, manifests in _alike(keys, which):
                seen: list[int] = []  # the snapshots of the first manifest, of the first two, and so on
                for n in manifests:
                    mask = self.lists.masks[self._paths[n]]
                    if seen and mask & seen[-1]:
                        met.add((n, manifests[bisect_left(seen, True, key=partial(_share, mask))]), some)
                    seen.append(mask | (seen[-1] if seen else 0))
        pairs = sorted(met.keys, key=lambda pair: (pair[0] != pair[1], pair))  # those with themselves first
        for pair in pairs[:TOLD]:
            yield from self._pair(met.keys[pair], met.counts[pair], pair, name, rule, what, refused)
        if len(pairs) > TOLD:
            path, rest = self._paths[pairs[TOLD][0]], len(pairs) - TOLD
            yield self.lists.of(rule, f"so are files of {rest:,} more pairs of manifests", path, count=rest)

    def _pair(
        self, keys: Ints, number: int, pair: tuple[int, int], name: str, rule: str, what: str, refused: Refused
    ) -> Iterator[Finding]:
        (one, other), (path, there) = pair, (self._paths[n] for n in pair)
        entries = self._named(path, keys.tolist(), name, SHOWN)
        if not entries:
            return
        target = "file_path" if name == "keys" else "referenced_data_file"
        yield self.lists.of(
            rule,
            what.format(other="itself" if one == other else there, commits=self._commits(keys, name, (path, there))),
            path,
            f"record {entries[0]['record']}",
            found=entries[0][target],
            count=number,
            examples=tuple(str(e[target]) for e in entries[:SHOWN]),
            snapshots=self.lists.listing(self._together(one, other)),
            refused=refused,
        )

    def _commits(self, keys: Ints, name: str, paths: tuple[str, str]) -> str:
        """Which commits added a file that is live twice, and whether both say the same of it."""
        if paths[0] == paths[1]:
            return "a file is listed as live more than once in this manifest"
        ours, theirs = (self._named(path, keys[:1].tolist(), name, 1) for path in paths)
        if not ours or not theirs:
            return f"a file is live in it and in {paths[1]}"
        (one, other) = (entries[0]["inherited_snapshot_id"] for entries in (ours, theirs))
        sizes = [(e[0]["record_count"], e[0]["file_size_in_bytes"]) for e in (ours, theirs)]
        alike = "the same size and rows" if sizes[0] == sizes[1] else "another size or other rows"
        if one == other:
            return f"snapshot {one} added a file twice, here and in {paths[1]} (with {alike})"
        summaries = [s.summary if (s := self.lists.meta.snapshot(i)) else {} for i in (one, other)]
        same = [f"{k} = {v}" for k, v in summaries[0].items() if k.startswith(PROGRESS) and summaries[1].get(k) == v]
        sink = f", and both say {same[0][:PROGRESS_SHOWN]}: the sink committed it twice" if same else ""
        jobs, operators = ([s.get(key, "") for s in reversed(summaries)] for key in (JOB, OPERATOR))
        if same and all(jobs) and jobs[0] != jobs[1] and operators[0] and operators[0] == operators[1]:
            ids = " and then ".join(job[:PROGRESS_SHOWN] for job in jobs)
            sink += (
                f" ({JOB} is {ids}, with the same {OPERATOR}: a job that starts again with a new id does not know what "
                "it has committed)"
            )
        return f"snapshot {one} added a file again that snapshot {other} had added (with {alike}){sink}"

    def _again(self) -> Iterator[Finding]:
        """Rule 37: live in a snapshot after the one that deleted it, or in that one."""
        met = _Pairs()
        for (gone, by), (keys, which) in self._deals("gone", "keys"):
            if len(gone):
                self._meet(_distinct(gone, by), _distinct(keys, which), met)
        for (one, other), some in sorted(met.keys.items()):
            yield from self._live_again(one, other, some)

    def _meet(self, deleted: tuple[Ints, Ints, Ints], living: tuple[Ints, Ints, Ints], met: _Pairs) -> None:
        """Note which manifests have what others deleted, where a later snapshot lists them."""
        (gone, by, _), (keys, which, _) = deleted, living
        start, end = np.searchsorted(keys, gone, "left"), np.searchsorted(keys, gone, "right")
        ends = np.cumsum(end - start)
        cuts = np.searchsorted(ends, np.arange(AT_ONCE, ends[-1] + 1, AT_ONCE))
        for part in np.split(np.arange(len(gone)), np.unique(cuts)):
            lengths = end[part] - start[part]
            before = np.repeat(np.cumsum(lengths) - lengths, lengths)
            at = np.repeat(start[part], lengths) + np.arange(lengths.sum()) - before
            for (one, other), some in _group_by_pair(np.repeat(by[part], lengths), which[at]):
                if self.lists.masks[self._paths[other]] & self._after(one):
                    met.add((one, other), np.unique(keys[at][some]))

    def _after(self, manifest: int) -> int:
        """The snapshots after the one that wrote a manifest."""
        return self.lists.descendants.get(self.lists.records[self._paths[manifest]].added_snapshot_id or 0, 0)

    def _live_again(self, one: int, other: int, keys: Ints) -> Iterator[Finding]:
        path, later = self._paths[other], self._after(one)
        entries = self._named(path, keys.tolist(), "keys", None)
        deleter = self.lists.records[self._paths[one]].added_snapshot_id
        old = [
            e for e in entries
            if not self.lists.bit(e["inherited_snapshot_id"]) & later
            and not self.lists.ancestors.has(e["inherited_snapshot_id"], deleter or 0)
        ]  # fmt: skip
        if old:
            yield self.lists.of(
                "deleted-file-live",
                f"snapshot {deleter} deleted a file that is live here, and nothing added it since",
                path,
                f"record {old[0]['record']}",
                found=old[0]["file_path"],
                expected=f"DELETED in {self._paths[one]}",
                count=len(old),
                examples=tuple(e["file_path"] for e in old[:SHOWN]),
                snapshots=self.lists.listing(self.lists.masks[path] & later),
            )
        again = [
            e for e in entries
            if e["inherited_snapshot_id"] == deleter or self.lists.bit(e["inherited_snapshot_id"]) & later
        ]  # fmt: skip
        own_bit = self.lists.bit(deleter)
        held = self.lists.masks[path] & (later if later == own_bit else later & ~own_bit)
        if again and held and own_bit:
            own = all(e["inherited_snapshot_id"] == deleter for e in again)
            yield self.lists.of(
                "deleted-file-live",
                f"snapshot {deleter} removed a file, and {'added it again' if own else 'a later one added it again'}: "
                f"{REMOVED_WITH_SNAPSHOT}",
                path,
                f"record {again[0]['record']}",
                found=again[0]["file_path"],
                expected=f"DELETED in {self._paths[one]}",
                count=len(again),
                examples=tuple(e["file_path"] for e in again[:SHOWN]),
                snapshots=self.lists.listing(held),
                node=("snapshot", deleter),
                severity="warning",
            )

    def _elsewhere(self) -> Iterator[Finding]:
        """Rule 45."""
        named, data_files = self._places("named"), self._places("found")
        if not len(named) or not len(data_files):
            return
        named = named.take(_first_rows(named, ["key", "manifest", "spec_id", "partition"]))
        data_files = data_files.take(_first_rows(data_files, ["key", "manifest"]))  # in two places is another rule's
        places = join_rows(*number_rows([named["key"]], [data_files["key"]]))
        pairs, files = (table.take(pa.array(at)) for table, at in zip((named, data_files), places, strict=True))
        for name in files.column_names:
            pairs = pairs.append_column(f"{name}_2", files[name])
        older = pc.less(pairs["sequence"], pairs["sequence_2"])
        apart = pc.or_kleene(
            pc.not_equal(pairs["spec_id"], pairs["spec_id_2"]), pc.not_equal(pairs["partition"], pairs["partition_2"])
        )
        yield from self._older_vectors(pairs.filter(pc.and_kleene(older, pairs["vector"])))
        pairs = pairs.filter(pc.and_kleene(apart, pc.or_kleene(pairs["vector"], pc.invert(older))))
        for (one, other), some in _group_by_pair(ints(pairs["manifest"], 0), ints(pairs["manifest_2"], 0)):
            if snapshots := self._together(one, other):
                [row] = pairs.slice(int(some[0]), 1).to_pylist()
                entry = self._named(self._paths[other], [row["key"]], "keys", SHOWN)
                yield self.lists.of(
                    "delete-partition",
                    "a delete is recorded in another partition than its data file: Iceberg Java 1.12 refuses the scan, "
                    "earlier versions, pyiceberg and DuckDB apply it",
                    self._paths[one],
                    f"record {row['record']}",
                    found=f"{row['words']} (spec {row['spec_id']})",
                    expected=f"{row['words_2']} (spec {row['spec_id_2']})",
                    count=len(some),
                    examples=tuple(e["file_path"] for e in entry),
                    snapshots=self.lists.listing(snapshots),
                    refused="scan",
                )

    def _older_vectors(self, pairs: pa.Table) -> Iterator[Finding]:
        """Of rule 44: vectors that are older than their data files."""
        for (one, other), some in _group_by_pair(ints(pairs["manifest"], 0), ints(pairs["manifest_2"], 0)):
            [row] = pairs.slice(int(some[0]), 1).to_pylist()
            listing = self.lists.listing(self._together(one, other))
            if snapshots := tuple(i for i in listing if row["sequence"] >= self._least(i)):
                yield self.lists.of(
                    "vector-wrong",
                    "a deletion vector has a lower sequence number than its data file",
                    self._paths[one],
                    f"record {row['record']}",
                    found=row["sequence"],
                    expected=f"at least {row['sequence_2']}",
                    count=len(some),
                    snapshots=snapshots,
                    refused="scan",
                )

    def _least(self, snapshot_id: int) -> int:
        """The lowest sequence number of a snapshot's data: Java takes no notice of older deletes."""
        listed = self.lists.lists[snapshot_id]
        return min((m.min_sequence_number for m in listed if not m.content), default=0)

    def _places(self, name: str) -> pa.Table:
        parts = [self._places_in(n, path, name) for n, path in enumerate(self._paths)]
        return pa.concat_tables(parts) if parts else pa.table({})

    def _places_in(self, number: int, path: str, name: str) -> pa.Table:
        places = pa.Table.from_struct_array(self.lists.held[path].row[name].combine_chunks().flatten())
        return places.append_column("manifest", pa.array(np.full(len(places), number, np.int64)))

    def _row_ids(self) -> Iterator[Finding]:
        first, which = self._all("first_row_ids")
        rows, _ = self._all("row_counts")
        tracked = [p for p in self._paths if len(self.lists.held[p].numbers("first_row_ids"))]
        keys = np.concatenate([*(self.lists.held[p].numbers("keys") for p in tracked), np.zeros(0, np.int64)])
        with_ids = (first >= 0) & (rows > 0)
        first, rows, which, keys = first[with_ids], rows[with_ids], which[with_ids], keys[with_ids].astype(np.int64)
        if not len(first):
            return
        end, limit = first + rows, self.lists.meta.next_row_id
        if limit is not None and end.max() > limit:
            at = int(end.argmax())
            yield self._finding(
                "next-row-id",
                "its row ids reach next-row-id: the next commit gives them out again",
                which[at],
                keys[at],
                int(end[at]),
                f"at most {limit}",
            )
        _, distinct = np.unique(keys, return_index=True)
        order = distinct[np.argsort(first[distinct], kind="stable")]
        ends = np.maximum.accumulate(end[order])
        for at in np.flatnonzero(first[order][1:] < ends[:-1])[:LOOKED_AT].tolist():
            later = order[at + 1]
            holds = order[: at + 1][end[order[: at + 1]] > first[later]]
            masks = [self._snapshot_mask(which[keys == keys[n]]) for n in (later, holds[0])]
            if masks[0] & masks[1]:
                other = self._named(self._paths[which[holds[0]]], [int(keys[holds[0]])], "keys", 1)
                claim = f"its row ids are also those of {other[0]['file_path'] if other else 'another file'}"
                yield self._finding(
                    "row-ids-overlap",
                    claim,
                    which[later],
                    keys[later],
                    f"{first[later]} to {end[later]}",
                    f"{first[holds[0]]} to {end[holds[0]]}",
                )

    def _snapshot_mask(self, manifests: Ints) -> int:
        mask = 0
        for n in set(manifests.tolist()):
            mask |= self.lists.masks[self._paths[n]]
        return mask

    def _finding(self, rule: str, what: str, manifest: int, key: int, value: Any, expected: Any) -> Finding:
        path = self._paths[manifest]
        entries = self._named(path, [int(key)], "keys", SHOWN)
        place = f"record {entries[0]['record']}" if entries else ""
        return self.lists.of(
            rule, what, path, place, found=value, expected=expected, examples=tuple(e["file_path"] for e in entries[:1])
        )


def _share(snapshots: int, others: int) -> bool:
    """Whether two masks have a snapshot in common."""
    return bool(snapshots & others)


class _Pairs:
    """Pairs of manifests with the smallest hashes of their files, LOOKED_AT at most, and how many there are."""

    def __init__(self) -> None:
        self.keys: dict[tuple[int, int], Ints] = {}
        self.counts: Counter[tuple[int, int]] = Counter()

    def add(self, pair: tuple[int, int], keys: Ints) -> None:
        earlier = self.keys.get(pair)
        self.keys[pair] = np.unique(keys if earlier is None else np.concatenate([earlier, keys]))[:LOOKED_AT]
        self.counts[pair] += len(keys)


def _first_rows(table: pa.Table, columns: Sequence[str]) -> pa.Array:
    """The first of the rows that are equal in some columns, in order."""
    return pa.array(first_places(number_rows([table[name] for name in columns])[0]))


def _join_parts(parts: Sequence[Ints]) -> tuple[Ints, Ints]:
    """Numbers of several manifests as one, and which of them each is of."""
    which = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
    return np.concatenate([*parts, np.zeros(0, np.int64)]).astype(np.int64), which.astype(np.int64)


def _distinct(keys: Ints, which: Ints) -> tuple[Ints, Ints, Ints]:
    """Each key once in a manifest, in order of keys, then manifests; and how often it is there."""
    order = np.lexsort((which, keys))
    keys, which = keys[order], which[order]
    first = np.flatnonzero(np.r_[True, (keys[1:] != keys[:-1]) | (which[1:] != which[:-1])][: len(keys)])
    return keys[first], which[first], np.diff(np.r_[first, len(keys)])


def _alike(keys: Ints, which: Ints) -> Iterator[tuple[Ints, list[int]]]:
    """Keys that are in the same manifests, of which there are several, and these: files are carried along together.
    Of `_distinct`."""
    start = np.flatnonzero(np.r_[True, keys[1:] != keys[:-1]])
    end = np.r_[start[1:], len(keys)]
    marks = np.random.default_rng().integers(1 << 63, size=int(which.max()) + 1, dtype=np.uint64)
    sums = np.add.reduceat(marks[which], start)  # sets of manifests that differ have other sums
    several = np.flatnonzero(end - start > 1)
    _, groups = np.unique(sums[several], return_inverse=True)
    order = np.argsort(groups, kind="stable")
    for some in np.split(several[order], np.flatnonzero(np.diff(groups[order])) + 1) if len(several) else ():
        yield keys[start[some]], which[start[some[0]] : end[some[0]]].tolist()


def _group_by_pair(ones: Ints, others: Ints) -> Iterator[tuple[tuple[int, int], Ints]]:
    """Places of each pair of manifests."""
    if not len(ones):
        return
    codes = ones.astype(np.int64) << 32 | others.astype(np.int64)
    order = np.argsort(codes, kind="stable")
    for some in np.split(order, np.flatnonzero(np.diff(codes[order])) + 1):
        yield (int(ones[some[0]]), int(others[some[0]])), some
