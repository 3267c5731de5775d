"""All deletes of a snapshot: which pairs there are, which deletes apply to nothing, what a reader opens."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from explorer.core.batches import AT_ONCE
from explorer.core.columns import Ints, flags, ints, narrow
from explorer.core.delete_pairs import COSTS, Counted
from explorer.core.deletes import Applicability, Verdict, named_file
from explorer.core.entries import LIVE
from explorer.core.live_files import LiveFile, Made
from explorer.progress import steps

T = TypeVar("T")
HELD = ("pairs", *COSTS)
TOGETHER = 500
"""Data files whose verdicts are made together."""


@dataclass(frozen=True)
class ReadCost:
    """What a reader opens for one data file: how many delete files and vectors, their rows and bytes."""

    data: LiveFile
    position: int
    equality: int
    vectors: int
    delete_rows: int
    delete_bytes: int

    @property
    def deletes(self) -> int:
        """All of them."""
        return self.position + self.equality + self.vectors


class Deletes:
    """Every pair of data and delete file of a snapshot that could matter, counted; verdicts and costs are made as they
    are asked for. `files` are the snapshot's; `counted` are the paths of its data manifests, in order, and what was
    counted of each; `snapshot_id` is None where there is no snapshot."""

    def __init__(
        self, files: Applicability, counted: Sequence[tuple[str, Counted]], snapshot_id: int | None = None
    ) -> None:
        self.files, self.snapshot_id = files, snapshot_id
        self._starts, self._counts = dict[str, int](), dict[str, int]()
        """Of each manifest where its files begin, and how many they are. One that is listed twice has the same
        twice."""
        start = 0
        for path, known in counted:
            self._starts[path], self._counts[path] = start, len(known.sums["pairs"])
            start += self._counts[path]
        self._sums = {n: np.concatenate([c.sums[n] for _, c in counted] or [np.zeros(0, np.int64)]) for n in HELD}
        self.applying = sum(c.applying for _, c in counted)
        """Pairs of which the delete applies."""
        used = {files.deletes[at].key for _, c in counted for at in c.used.tolist()}
        by_kind = [self._sums[name] for name in ("position", "equality", "vectors")]
        self._applying = narrow(np.add.reduce(by_kind, axis=0, dtype=np.uint32))  # sums may be of fewer bytes
        self.dangling = tuple(delete for delete in files.deletes if delete.key not in used)
        """Delete files that apply to no data file of the snapshot: rewriting or expiring them loses nothing."""

    @cached_property
    def verdicts(self) -> Sequence[Verdict]:
        """A verdict for each pair, in the order of the data files."""
        return _Verdicts(self.files, self._sums["pairs"])

    def why_dangling(self, delete: LiveFile) -> str:
        """Why a dangling delete applies to no data file, as far as manifests tell."""
        if (named := named_file(delete)) in self._strays:
            return f"it names {named!r}, which is no data file of this snapshot: it hides nothing"
        return "it applies to no data file of this snapshot"

    @cached_property
    def _strays(self) -> frozenset[str]:
        """What dangling deletes name that is no data file of the snapshot."""
        named = {name for delete in self.dangling if (name := named_file(delete))}
        return frozenset(named - named.intersection(self.files.data.paths()))

    @property
    def hit(self) -> Sequence[LiveFile]:
        """The data files that some delete applies to, made as they are asked for."""
        places = np.flatnonzero(self._applying)
        return _Made(len(places), lambda some: self.files.data.take([int(places[i]) for i in some]))

    @cached_property
    def applied(self) -> pa.Table:
        """How many deletes apply to each data file that any applies to: `file_path` and `deletes`."""
        numbers = pa.array(self._applying[self._applying > 0], pa.int64())
        hit = (path for path, n in zip(self.files.data.paths(), self._applying.tolist(), strict=True) if n)
        paths = [pa.array(some, pa.string()) for some in iter(lambda: list(islice(hit, AT_ONCE)), [])]
        return pa.table({"file_path": pa.chunked_array(paths, pa.string()), "deletes": numbers})

    def beside(self, files: Iterable[pa.Table]) -> Iterator[tuple[pa.Table, Ints]]:
        """Parts of the snapshot's files (or of its logical entries, with `logical_status`), and how many deletes apply
        to each: 0 to what is no live data file. Those of one manifest must come in its order; `manifest_path` and
        `content` say what is whose. No path is held."""
        gone = dict.fromkeys(self._starts, 0)
        for part in files:
            numbers, live = np.zeros(part.num_rows, np.int64), ints(part["content"], 0) == 0
            if "logical_status" in part.column_names:
                live &= flags(pc.is_in(part["logical_status"].cast(pa.string()), pa.array(LIVE, pa.string())))
            manifests = part["manifest_path"].combine_chunks()
            if not pa.types.is_dictionary(manifests.type):
                manifests = manifests.dictionary_encode()
            codes = manifests.indices.to_numpy()
            for code in np.unique(codes).tolist():
                path, mine = manifests.dictionary[code].as_py(), np.flatnonzero(live & (codes == code))
                if self._counts.get(path):
                    places = (gone[path] + np.arange(len(mine))) % self._counts[path]
                    numbers[mine] = self._applying[self._starts[path] + places]
                    gone[path] += len(mine)
            yield part, numbers

    @cached_property
    def costs(self) -> Sequence[ReadCost]:
        """What a reader opens for each data file, the dearest first: most deletes, then most of their bytes."""
        hit = np.flatnonzero(self._applying)
        by = (column[hit] for column in (self._sums["bytes"], self._applying))
        hit = hit[np.lexsort([column.max(initial=0) - column for column in by])]

        def made(some: Sequence[int]) -> list[ReadCost]:
            places = [int(hit[i] if i < len(hit) else self._spared[i - len(hit)]) for i in some]
            numbers = zip(*(self._sums[n][places].tolist() for n in COSTS), strict=True)
            return [ReadCost(data, *row) for data, row in zip(self.files.data.take(places), numbers, strict=True)]

        return _Made(len(self._applying), made)

    @cached_property
    def _spared(self) -> Ints:
        """The places of the data files that no delete applies to."""
        return narrow(np.flatnonzero(self._applying == 0))


class _Made(Made[T]):
    def __init__(self, length: int, make: Callable[[Sequence[int]], list[T]]) -> None:
        self._length, self._make = length, make

    def __len__(self) -> int:
        return self._length

    def take(self, indices: Sequence[int]) -> list[T]:
        return self._make(indices)

    def __iter__(self) -> Iterator[T]:
        for start in range(0, self._length, TOGETHER):
            yield from self._make(range(start, min(start + TOGETHER, self._length)))


class _Verdicts(_Made[Verdict]):
    def __init__(self, files: Applicability, pairs: Ints) -> None:
        self._files, self._places = files, narrow(np.flatnonzero(pairs))
        """Those of the data files that have pairs."""
        self._ends = narrow(np.cumsum(pairs[self._places], dtype=np.int64))
        super().__init__(int(self._ends[-1]) if len(self._ends) else 0, self._told)

    def _told(self, indices: Sequence[int]) -> list[Verdict]:
        return [self._verdict(index) for index in indices]

    def _verdict(self, index: int) -> Verdict:
        at = int(np.searchsorted(self._ends, index, side="right"))
        before = int(self._ends[at - 1]) if at else 0
        return self._files.of(self._files.data[int(self._places[at])])[index - before]

    def __iter__(self) -> Iterator[Verdict]:
        wanted = self._places.tolist()
        for start in steps(range(0, len(wanted), TOGETHER), f"times {TOGETHER} data files"):
            for data in self._files.data.take(wanted[start : start + TOGETHER]):
                yield from self._files.of(data)
