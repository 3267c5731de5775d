"""The files of a snapshot as cells of a map, those of a partition beside each other: a file each, or as many files as
leave no more cells than can be drawn."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from explorer.model.metadata import Snapshot, TableMetadata
from explorer.progress import steps
from explorer.spec.entries.numpy_columns import MOST, Flags, Ints, amounts, flags, ints
from explorer.spec.rows.spilled_rows import RowParts
from explorer.spec.scan.scan import BY_METRICS, BY_PARTITION, OUTCOMES, READ
from explorer.spec.text.names import natural, shorten
from explorer.spec.values.values import distinct_partitions, partition_path_by_name, row_dicts

CELLS = 4000
"""At most so many."""
ASKED = (
    "logical_status", "file_path", "content", "partition", "spec_id", "record_count", "file_size_in_bytes",
    "snapshot_id", "file_sequence_number",
)  # fmt: skip
"""The columns of logical entries that a map is made of."""
LONGEST = 300
"""Characters of a partition's name that are held; of a longer one its two ends and its digest."""
STATUS = ("EXISTING", "ADDED", "DELETED")
"""Logical statuses; the later is shown where files of several are one cell, since it is rarer."""
VERDICTS = (
    "no live data file: a delete file, or removed",
    "skipped with its manifest",
    *(OUTCOMES[o] for o in (BY_PARTITION, BY_METRICS, READ)),
)
"""What a planned scan does with files; the later is shown where files of several are one cell."""
UNKNOWN = np.iinfo(np.int64).max
"""The age of files of which nothing says when they were added."""
MAPPED = pa.schema(
    [("file_path", pa.string()), ("partition", pa.int32()), ("status", pa.uint8()), ("delete_file", pa.bool_()),
     ("rows", pa.int64()), ("bytes", pa.int64()), ("age", pa.int64())]
)  # fmt: skip
"""A file of a map; of its partition the number, of its status the place in STATUS."""
SUMMED: Mapping[str, tuple[int, np.ufunc]] = {
    **dict.fromkeys(("rows", "bytes", "delete_file"), (0, np.add)),
    **dict.fromkeys(("partition", "status", "deletes", "verdict"), (0, np.maximum)),
    **dict.fromkeys(("least_partition", "least_status", "age"), (UNKNOWN, np.minimum)),
}
"""What a cell tells of all its files: what it begins with, and how one more is added."""


@dataclass(frozen=True)
class MapCell:
    """Files that follow each other in the map, from its place `first` on. `path` is the first one's, `partition` None
    where they are of several; of status, deletes and verdict the highest, `mixed` where not all are of this status.
    `age_ms` is how long before the snapshot the newest was added, None where that is unknown; `deletes` and `verdict`
    are None where nobody asked."""

    first: int
    files: int
    rows: int
    bytes: int
    path: str
    partition: str | None
    status: str
    mixed: bool
    deletes: int | None
    delete_files: int
    age_ms: int | None
    verdict: str | None


class MapRows:
    """Makes rows of a map of logical entries of a snapshot, with the columns ASKED, and counts them: how many there are
    of each status and partition is held, all else is the rows'."""

    def __init__(self, metadata: TableMetadata, snapshot: Snapshot | None, deletes: bool = False) -> None:
        self.schema = pa.schema([*MAPPED, *([("deletes", pa.int32())] if deletes else [])])
        self.names, self.statuses = _Names(metadata), np.zeros(len(STATUS), np.int64)
        self._metadata, self._snapshot = metadata, snapshot

    def add(self, entries: pa.Table, deletes: Ints | None = None) -> pa.Table:
        """Rows, with `schema`, of those of the next entries that are the snapshot's, in order. `deletes` says of each
        how many apply to it."""
        in_snapshot = flags(pc.is_valid(entries["logical_status"]))
        table = entries.filter(pa.array(in_snapshot))
        status = ints(pc.index_in(table["logical_status"].cast(pa.string()), pa.array(STATUS)), 0)
        self.statuses += np.bincount(status, minlength=len(STATUS))
        columns: dict[str, Any] = {"file_path": table["file_path"], "status": status}
        columns |= {"partition": self.names.numbers(table), "delete_file": ints(table["content"], 0) > 0}
        columns |= {"rows": amounts(table["record_count"]), "bytes": amounts(table["file_size_in_bytes"])}
        columns["age"] = _ages(table, status == STATUS.index("DELETED"), self._metadata, self._snapshot)
        if deletes is not None:
            columns["deletes"] = deletes[in_snapshot]
        return pa.table({name: columns[name] for name in self.schema.names}).cast(self.schema)


class FileMap:
    """The files of a snapshot, with those that it removed. Their place is that of their partition among others by name,
    and in it that in which they came. What is known of a file is its row, which may be on the disk; a byte of each is
    held where there is a plan."""

    def __init__(self, rows: RowParts, map_rows: MapRows, planned: pa.Table | None = None) -> None:
        """`rows` are all that were made; `planned` has file_path and verdict (one of OUTCOMES) of the data files that a
        plan looked at."""
        self._rows, self._statuses = rows, map_rows.statuses
        self._place_of, self.partitions, self._starts = map_rows.names.order()
        self._verdicts = _verdicts(rows, planned) if planned is not None else None
        self.every = self.cells(0, len(rows))
        """The cells of all files."""

    def __len__(self) -> int:
        return len(self._rows)

    def cells(self, start: int, stop: int) -> list[MapCell]:
        """Cells of the files from one place to another, of equally many files each. All rows are gone through."""
        if stop <= start:
            return []
        each = -(-(stop - start) // CELLS)
        firsts = range(start, stop, each)
        sums = {name: np.full(len(firsts), least, np.int64) for name, (least, _) in SUMMED.items()}
        paths = [""] * len(firsts)
        for part, places in self._parts_with_places():
            in_range = np.flatnonzero((places >= start) & (places < stop))
            at = (places[in_range] - start) // each
            columns = {name: ints(part[name], 0)[in_range] for name in part.column_names if name in SUMMED}
            columns["partition"] = self._place_of[columns["partition"]]
            columns |= {"least_" + name: columns[name] for name in ("partition", "status")}
            for name, column in columns.items():
                SUMMED[name][1].at(sums[name], at, column)
            first = (places[in_range] - start) % each == 0
            named = part["file_path"].take(pa.array(in_range[first])).to_pylist()
            for cell, path in zip(at[first].tolist(), named, strict=True):
                paths[cell] = path
        of = {name: column.tolist() for name, column in sums.items()}
        return [
            MapCell(
                first, min(each, stop - first), of["rows"][i], of["bytes"][i], paths[i],
                self.partitions[of["partition"][i]] if of["least_partition"][i] == of["partition"][i] else None,
                STATUS[of["status"][i]], of["least_status"][i] < of["status"][i],
                of["deletes"][i] if "deletes" in self._rows.schema.names else None, of["delete_file"][i],
                None if of["age"][i] == UNKNOWN else of["age"][i],
                None if self._verdicts is None else VERDICTS[of["verdict"][i]],
            )
            for i, first in enumerate(firsts)
        ]  # fmt: skip

    def _parts_with_places(self) -> Iterator[tuple[pa.Table, Ints]]:
        """The rows, a part at a time, with their verdicts if there are any; and the place of each."""
        free, gone = self._starts.copy(), 0
        for part in steps(self._rows.read(), "parts of the files"):
            codes = self._place_of[ints(part["partition"], 0)]
            order = np.argsort(codes, kind="stable")
            counts = np.bincount(codes, minlength=len(free))
            places = np.empty(len(codes), np.int64)
            places[order] = (free - np.cumsum(counts) + counts)[codes[order]] + np.arange(len(codes))
            if self._verdicts is not None:
                part = part.append_column("verdict", pa.array(self._verdicts[gone : gone + len(codes)]))
            yield part, places
            free += counts
            gone += len(codes)

    def counts(self) -> dict[str, int]:
        """Files by logical status."""
        return dict(zip(STATUS, self._statuses.tolist(), strict=True))


def _verdicts(rows: RowParts, planned: pa.Table) -> npt.NDArray[np.uint8]:
    """The place in VERDICTS of each row: what is said of its path, where it is a live data file."""
    verdict_of = ints(pc.index_in(planned["verdict"].cast(pa.string()), pa.array(VERDICTS)), 1)
    known = planned["file_path"].combine_chunks().cast(pa.large_string())
    codes = [np.zeros(0, np.uint8)]
    for part in _join_parts(steps(rows.read(), "parts of the files"), len(known)):
        at = ints(pc.index_in(part["file_path"].cast(pa.large_string()), known), -1)
        verdicts = np.append(verdict_of, 1)[at]
        data = ~flags(part["delete_file"]) & (ints(part["status"], 0) != STATUS.index("DELETED"))
        codes.append(np.where(data, verdicts, 0).astype(np.uint8))
    return np.concatenate(codes)


def _join_parts(parts: Iterable[pa.Table], least: int) -> Iterator[pa.Table]:
    """Parts together that have at least so many rows: what is looked up in as many paths should not be fewer."""
    held: list[pa.Table] = []
    for part in parts:
        held.append(part.select(["file_path", "delete_file", "status"]))
        if sum(map(len, held)) >= least:
            yield pa.concat_tables(held)
            held = []
    if held:
        yield pa.concat_tables(held)


def _ages(table: pa.Table, deleted: Flags, metadata: TableMetadata, snapshot: Snapshot | None) -> Ints:
    """How many milliseconds before the snapshot each file was added: 0 for those that it added itself, at least 1 for
    others, though clocks went back. UNKNOWN where the snapshot that added it has expired."""
    if snapshot is None or snapshot.timestamp_ms is None:
        return np.full(table.num_rows, UNKNOWN, np.int64)
    by_id = _times(table["snapshot_id"], {s.snapshot_id: s.timestamp_ms for s in metadata.snapshots})
    # the entry of a deleted file names the snapshot that deleted it; v1 has no sequence numbers, which are read as 0
    numbered = {s.sequence_number: s.timestamp_ms for s in metadata.snapshots if s.sequence_number > 0}
    added = np.where(deleted, _times(table["file_sequence_number"], numbered), by_id)
    own = ~deleted & flags(pc.equal(table["snapshot_id"], snapshot.snapshot_id))
    age = np.where(own, 0, (min(snapshot.timestamp_ms, MOST) - np.clip(added, 0, MOST)).clip(min=1))
    return np.where(added == UNKNOWN, UNKNOWN, age)


def _times(keys: pa.ChunkedArray, times: Mapping[int, int | None]) -> Ints:
    """What each key stands for, or UNKNOWN."""
    times_of = pc.take(pa.array(times.values(), pa.int64()), pc.index_in(keys, pa.array(times, pa.int64())))
    return ints(times_of, UNKNOWN)


class _Names:
    """Partitions by name, each with a number, as they come, and how many files are of each."""

    def __init__(self, metadata: TableMetadata) -> None:
        self._metadata = metadata
        self._numbers: dict[str, int] = {}
        self._files: list[int] = []

    def numbers(self, table: pa.Table) -> Ints:
        """The number of the partition of each file."""
        if not table.num_rows:
            return np.zeros(0, np.int64)
        codes, _ = distinct_partitions(table["partition"])
        specs = ints(table["spec_id"], 0).astype(np.int64)
        least = int(specs.min())
        pairs = codes * (int(specs.max()) - least + 1) + specs - least
        _, first, inverse, files = np.unique(pairs, return_index=True, return_inverse=True, return_counts=True)
        rows = row_dicts(table.select(["partition", "spec_id"]).take(pa.array(first)))
        return np.array([self._number(row, some) for row, some in zip(rows, files.tolist(), strict=True)])[inverse]

    def _number(self, row: Mapping[str, Any], files: int) -> int:
        name = partition_path_by_name(row["partition"], self._metadata.spec(row["spec_id"]), self._metadata)
        if len(name) > LONGEST:  # as many as there are partitions are held
            name = f"{shorten(name, LONGEST)} {sha256(name.encode(errors='replace')).hexdigest()[:16]}"
        number = self._numbers.setdefault(name, len(self._numbers))
        self._files += [0] * (number == len(self._files))
        self._files[number] += files
        return number

    def order(self) -> tuple[Ints, list[str], Ints]:
        """The place of each number among the names in order, these, and how many files come before each's."""
        names = sorted(self._numbers, key=lambda name: (natural(name), name))
        numbers = np.array([self._numbers[name] for name in names], np.int64)
        places = np.zeros(len(names), np.int64)
        places[numbers] = np.arange(len(names))
        files = np.array(self._files, np.int64)[numbers]
        return places, names, np.cumsum(files) - files
