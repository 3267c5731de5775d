"""All deletes of a snapshot: which pairs there are, which deletes apply to nothing, what a reader opens."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import NamedTuple, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from explorer.model.metadata import Snapshot
from explorer.progress import steps
from explorer.spec.commits.partial_commits import late_files
from explorer.spec.deletes.delete_pairs import COSTS, HELD, TouchedFiles
from explorer.spec.deletes.deletes import (
    NAMES_NOTHING,
    Applicability,
    DeleteVerdict,
    is_unpartitioned,
    lacks_place,
    target_file,
)
from explorer.spec.deletes.own_partition import contradicted_fields
from explorer.spec.entries.entries import LIVE
from explorer.spec.entries.lazy_table import AT_ONCE
from explorer.spec.entries.live_files import LazySequence, LiveFile, LiveFiles, PartitionPlace
from explorer.spec.entries.numpy_columns import Ints, flags, ints, narrow
from explorer.spec.maintenance.dangling_deletes import cut_off
from explorer.spec.text.names import base_name, ending_below, endings_elsewhere, without_place

LATER = (
    "all data files that it applies to were written after it, so its rows name none of them; readers open it all the "
    "same"
)
"""Why a delete file is spent."""
MOVED = (
    ". The table was moved or copied, and its position deletes name the old place: the procedure rewrite_table_path, "
    "run on the original, writes these anew too"
)
T = TypeVar("T")
FileKey = tuple[str, int | None]
Search = Callable[[Sequence[LiveFile]], Mapping[FileKey, LiveFile]]
"""Finds for each of some deletes, by its key, a data file that it would apply to if it were recorded in that file's
partition."""
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
    counted of each; `snapshot_id` is None where there is no snapshot; they are `whole` if all manifests could be
    read; `search` reads their data files again. Of data files that no delete could matter to nothing is held."""

    def __init__(
        self,
        files: Applicability,
        counted: Sequence[tuple[str, TouchedFiles]],
        snapshot_id: int | None = None,
        whole: bool = True,
        search: Search = lambda _: {},
    ) -> None:
        self.files, self.snapshot_id, self.whole, self._search = files, snapshot_id, whole, search
        self._number = sum(counts.files for _, counts in counted)
        touched = sum(len(counts.places) for _, counts in counted)
        self._places = np.empty(touched, np.min_scalar_type(max(self._number, 1) - 1))
        """Of the data files that deletes could matter to, in order."""
        self._manifests = dict[str, _Mine]()
        """By path. Of one that is listed twice the files are the same twice."""
        first = at = 0
        for path, counts in counted:
            self._manifests[path] = _Mine(first, counts.files, slice(at, at + len(counts.places)))
            self._places[at : at + len(counts.places)] = counts.places + np.int64(first)
            first, at = first + counts.files, at + len(counts.places)
        self._sums = {name: _concatenate([counts.sums[name] for _, counts in counted]) for name in HELD}
        used = {files.deletes[at].key for _, counts in counted for at in counts.used.tolist()}
        by_kind = [self._sums[name] for name in ("position", "equality", "vectors")]
        self._applying = narrow(np.add.reduce(by_kind, axis=0, dtype=np.uint32))  # sums may be of fewer bytes
        self.applying = int(self._applying.sum())
        """Pairs of which the delete applies."""
        self.equality_pairs = int(self._sums["newer_equality"].sum(dtype=np.int64))
        """Pairs of an equality delete and an older data file of its partition, whatever bounds say."""
        self.equality_applying = int(self._sums["equality"].sum(dtype=np.int64))
        """Those that bounds do not exclude."""
        self.refused = int(np.count_nonzero(self._sums["refused"]))
        """Data files that Iceberg Java 1.12 refuses to scan (see spec.deletes.deletes.DeleteVerdict.is_refused)."""
        self._hit = narrow(np.flatnonzero(self._applying))
        """Which of these some delete applies to."""
        self.unplaced = tuple(d for d in files.deletes if d.key in used and lacks_place(d))
        """Vectors that apply and whose entries do not say where they are, so that Spark fails."""
        self.alone = tuple(delete for delete in files.deletes if delete.key not in used)
        """Delete files that apply to no data file of the snapshot that could be read."""
        self.dangling = self.alone if whole else ()
        """Delete files that apply to no data file of the snapshot: rewriting or expiring them loses nothing."""
        reaching = {files.deletes[at].key for _, counts in counted for at in counts.reaching.tolist()}
        self.spent = tuple(d for d in files.deletes if d.key in used and d.key not in reaching) if whole else ()
        """Position delete files that readers open although commits wrote all data files that they apply to after them
        (by file sequence numbers). Their rows name older data files, which are gone, so they hide nothing."""

    @cached_property
    def verdicts(self) -> Sequence[DeleteVerdict]:
        """A verdict for each pair, in the order of the data files."""
        return _Verdicts(self.files, self._places, self._sums["pairs"])

    @property
    def unopened(self) -> int:
        """How many position delete files hide something as far as metadata tells: their rows may still name only data
        files that are gone."""
        of_several = (d for d in self.files.deletes if d.kind == "position_deletes" and target_file(d) is None)
        alone = {delete.key for delete in self.alone}
        return sum(delete.key not in alone and delete.key not in self.spent_keys for delete in of_several)

    @cached_property
    def spent_keys(self) -> frozenset[FileKey]:
        """The keys of `spent`."""
        return frozenset(delete.key for delete in self.spent)

    def why_idle(self, delete: LiveFile) -> str:
        """Why a delete file of `dangling` or `spent` hides nothing."""
        return LATER if delete.key in self.spent_keys else self.why_alone(delete)

    def why_alone(self, delete: LiveFile) -> str:
        """Why a delete applies to no data file, as far as manifests tell."""
        if not self.whole:
            return "it applies to no data file that could be read: some manifests could not, so it may not dangle"
        if spelled := self._other_spelling(delete):
            return spelled
        if (named := target_file(delete)) in self._strays:
            return f"it names {named!r}, which is no data file of this snapshot: it hides nothing"
        if where := self._elsewhere(delete) or self._of_other_partition(delete):
            return where
        return _names_nothing(delete) or "it applies to no data file of this snapshot"

    @cached_property
    def misplaced_files(self) -> Mapping[FileKey, LiveFile]:
        """By the key of an equality delete that dangles, the first data file that it would apply to if it were recorded
        in that file's partition."""
        metadata = self.files.metadata
        some = [
            delete
            for delete in self.dangling
            if delete.kind == "equality_deletes"
            and (spec := metadata.spec(delete.spec_id))
            and not is_unpartitioned(spec)
        ]
        return self._search(some) if some else {}

    def doubt(self, delete: LiveFile) -> str:
        """Say why a delete that applies to nothing may be needed.

        Args:
            delete: One of `dangling`.

        Returns:
            The reason; empty where dropping the delete loses nothing.
        """
        return (
            self._elsewhere(delete)
            or self._other_spelling(delete)
            or self._of_other_partition(delete)
            or cut_off(self.files.metadata, delete)
            or _names_nothing(delete)
            or self._came_late(delete)
        )

    def _of_other_partition(self, delete: LiveFile) -> str:
        """Say that an equality delete's own rows are of another partition than it, which has older data files."""
        fields = self._contradictions.get(delete.key)
        oldest = self._oldest_by_place.get(delete.place)
        if not fields or oldest is None or delete.sequence_number is None or oldest >= delete.sequence_number:
            return ""
        return f"{fields}, which has data files that are older than it: one of the two is wrong"

    @cached_property
    def _contradictions(self) -> Mapping[FileKey, str]:
        """By the key of an equality delete that dangles and contradicts its own partition: how."""
        fields_of_delete = {d.key: contradicted_fields(self.files.metadata, d) for d in self.alone}
        return {key: "; ".join(words for _, words in fields) for key, fields in fields_of_delete.items() if fields}

    @cached_property
    def _oldest_by_place(self) -> Mapping[PartitionPlace, int]:
        """The least sequence number of the data files in each partition that such a delete is recorded in."""
        places = {delete.place for delete in self.alone if delete.key in self._contradictions}
        oldest: dict[PartitionPlace, int] = {}
        for data in self.files.data if places else ():
            if data.place in places and data.sequence_number is not None:
                oldest[data.place] = min(data.sequence_number, oldest.get(data.place, data.sequence_number))
        return oldest

    def _came_late(self, delete: LiveFile) -> str:
        """Say that an equality delete may be of rows which came late, in the delete's own commit."""
        partial = self._late_files.get(delete.sequence_number) if delete.kind == "equality_deletes" else None
        if partial is None:
            return ""
        return (
            f"Kafka Connect's commit before it ({partial.snapshot_id}) was partial: rows of that cycle came with this "
            "delete's commit, and no equality delete hides rows of its own commit"
        )

    @cached_property
    def _late_files(self) -> Mapping[int | None, Snapshot]:
        """By the sequence number of a commit of Kafka Connect, the partial commit before it."""
        return {late.after.sequence_number: late.partial for late in late_files(self.files.metadata)}

    def _other_spelling(self, delete: LiveFile) -> str:
        """Say that the file which a delete names is a data file of another scheme, authority or place."""
        named = target_file(delete)
        data = self._spellings.get(named) if named else None
        if not named or not data:
            return ""
        moved = "" if without_place(named) == without_place(data) else MOVED
        return f"it names {named!r}, and the data file is {data!r}: readers compare paths as texts{moved}"

    @cached_property
    def _spellings(self) -> Mapping[str, str]:
        """By what deletes name that is no data file, the data file that is the same but for scheme and authority, or
        for the place where the table was."""
        strays = {without_place(name): name for name in self._strays}
        if not strays:
            return {}
        location = self.files.metadata.location
        ends = {end: name for name in self._strays for end in endings_elsewhere(name, location)}
        spelled = (
            (strays.get(without_place(path)) or ends.get(ending_below(path, location)), path)
            for path in self.files.data.paths()
        )
        return {name: path for name, path in spelled if name is not None}

    def _elsewhere(self, delete: LiveFile) -> str:
        """Name the data file of `misplaced`."""
        data = self.misplaced_files.get(delete.key)
        if data is None:
            return ""
        alone = Applicability(self.files.metadata, LiveFiles.of([]), [delete])
        return "".join(f"it would apply to {base_name(data.path)}, but {v.against}" for v in alone.elsewhere(data))

    @cached_property
    def _strays(self) -> frozenset[str]:
        """What such deletes name that is no data file of the snapshot."""
        named = {name for delete in self.alone if (name := target_file(delete))}
        return frozenset(named - named.intersection(self.files.data.paths()))

    @property
    def hit(self) -> Sequence[LiveFile]:
        """The data files that some delete applies to, made as they are asked for."""
        hit = self._hit
        return _Made(len(hit), lambda some: self.files.data.take([int(self._places[hit[i]]) for i in some]))

    @cached_property
    def counts_by_file(self) -> pa.Table:
        """How many deletes apply to each data file that any applies to: `file_path` and `deletes`."""
        numbers = pa.array(self._applying[self._hit], pa.int64())
        marked = np.zeros(self._number, np.uint8)
        marked[self._places[self._hit]] = 1
        hit = (path for path, applied in zip(self.files.data.paths(), marked.tobytes(), strict=True) if applied)
        paths = [pa.array(some, pa.string()) for some in iter(lambda: list(islice(hit, AT_ONCE)), [])]
        return pa.table({"file_path": pa.chunked_array(paths, pa.string()), "deletes": numbers})

    def beside(self, files: Iterable[pa.Table]) -> Iterator[tuple[pa.Table, Ints]]:
        """Parts of the snapshot's files (or of its logical entries, with `logical_status`), and how many deletes apply
        to each: 0 to what is no live data file. Those of one manifest must come in its order; `manifest_path` and
        `content` say what is whose. No path is held."""
        gone = dict.fromkeys(self._manifests, 0)
        for part in files:
            numbers, live = np.zeros(part.num_rows, np.int64), ints(part["content"], 0) == 0
            if "logical_status" in part.column_names:
                live &= flags(pc.is_in(part["logical_status"].cast(pa.string()), pa.array(LIVE, pa.string())))
            manifests = part["manifest_path"].combine_chunks()
            if not pa.types.is_dictionary(manifests.type):
                manifests = manifests.dictionary_encode()
            codes = manifests.indices.to_numpy()
            for code in np.unique(codes).tolist():
                path, rows = manifests.dictionary[code].as_py(), np.flatnonzero(live & (codes == code))
                manifest = self._manifests.get(path)
                if manifest and manifest.files:
                    all_of_it = np.zeros(manifest.files, np.int64)
                    all_of_it[self._places[manifest.touched] - np.int64(manifest.first)] = self._applying[
                        manifest.touched
                    ]
                    numbers[rows] = all_of_it[(gone[path] + np.arange(len(rows))) % manifest.files]
                    gone[path] += len(rows)
            yield part, numbers

    @cached_property
    def costs(self) -> Sequence[ReadCost]:
        """What a reader opens for each data file, the dearest first: most deletes, then most of their bytes."""
        by = (column[self._hit] for column in (self._sums["bytes"], self._applying))
        dearest = self._hit[np.lexsort([column.max(initial=0) - column for column in by])]
        spared = narrow(self._places[self._hit] - np.arange(len(self._hit), dtype=np.int64))
        """Before each file that deletes apply to, how many are spared."""

        def read_costs(some: Sequence[int]) -> list[ReadCost]:
            wanted = np.array(some, np.int64)
            hit, places = wanted < len(dearest), wanted - len(dearest)
            places += np.searchsorted(spared, places.clip(0, np.iinfo(spared.dtype).max).astype(spared.dtype), "right")
            at = dearest[wanted[hit]]
            places[hit] = self._places[at]
            numbers = np.zeros((len(wanted), len(COSTS)), np.int64)
            numbers[hit] = np.stack([self._sums[name][at] for name in COSTS], axis=1)
            files = self.files.data.take(places.tolist())
            return [ReadCost(data, *row) for data, row in zip(files, numbers.tolist(), strict=True)]

        return _Made(self._number, read_costs)


def _names_nothing(delete: LiveFile) -> str:
    """Say that the manifest entry of a vector does not tell which data file it is for."""
    if delete.kind != "deletion_vector" or delete.referenced_data_file:
        return ""
    return f"{NAMES_NOTHING}: its Puffin file may name one of this snapshot"


class _Mine(NamedTuple):
    """Of a manifest the place of its first data file, how many it has, and which of the touched ones are its own."""

    first: int
    files: int
    touched: slice


def _concatenate(columns: Sequence[Ints]) -> Ints:
    return np.concatenate([np.zeros(0, np.uint8), *columns])


class _Made(LazySequence[T]):
    def __init__(self, length: int, make: Callable[[Sequence[int]], list[T]]) -> None:
        self._length, self._make = length, make

    def __len__(self) -> int:
        return self._length

    def take(self, indices: Sequence[int]) -> list[T]:
        return self._make(indices)

    def __iter__(self) -> Iterator[T]:
        for start in range(0, self._length, TOGETHER):
            yield from self._make(range(start, min(start + TOGETHER, self._length)))


class _Verdicts(_Made[DeleteVerdict]):
    def __init__(self, files: Applicability, places: Ints, pairs: Ints) -> None:
        self._files, self._places = files, places
        self._ends = narrow(np.cumsum(pairs, dtype=np.int64))
        super().__init__(int(self._ends[-1]) if len(self._ends) else 0, self._verdicts_at)

    def _verdicts_at(self, indices: Sequence[int]) -> list[DeleteVerdict]:
        return [self._verdict(index) for index in indices]

    def _verdict(self, index: int) -> DeleteVerdict:
        at = bisect_right(self._ends, index)
        before = int(self._ends[at - 1]) if at else 0
        return self._files.of(self._files.data[int(self._places[at])])[index - before]

    def __iter__(self) -> Iterator[DeleteVerdict]:
        for start in steps(range(0, len(self._places), TOGETHER), f"times {TOGETHER} data files"):
            for data in self._files.data.take(self._places[start : start + TOGETHER].tolist()):
                yield from self._files.of(data)
