"""The files of a snapshot as cells of a map, those of a partition beside each other: a file each, or as many files as
leave no more cells than can be drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import polars
import pyarrow as pa
import pyarrow.compute as pc

from explorer.core.columns import MOST, Flags, Ints, amounts, flags, ints, narrow
from explorer.core.names import natural
from explorer.core.row_parts import RowParts
from explorer.core.scan import BY_METRICS, BY_PARTITION, OUTCOMES, READ
from explorer.core.units import DAY, HOUR, MINUTE, SECOND
from explorer.core.values import distinct_partitions, named_partition_path, row_dicts
from explorer.model.metadata import Snapshot, TableMetadata

CELLS = 4000
"""At most so many."""
ASKED = (
    "logical_status", "file_path", "content", "partition", "spec_id", "record_count", "file_size_in_bytes",
    "snapshot_id", "file_sequence_number",
)  # fmt: skip
"""The columns of logical entries that a map is made of."""
STATUS = ("EXISTING", "ADDED", "DELETED")
"""Logical statuses; the later is shown where files of several are one cell, since it is rarer."""
VERDICTS = (
    "not a live data file",
    "skipped with its manifest",
    *(OUTCOMES[o] for o in (BY_PARTITION, BY_METRICS, READ)),
)
"""What a planned scan does with files; the later is shown where files of several are one cell."""
UNKNOWN = np.iinfo(np.int64).max
"""The age of files of which nothing says when they were added."""
AGES = (0, SECOND, 10 * SECOND, MINUTE, 10 * MINUTE, HOUR, 6 * HOUR, DAY, 7 * DAY, 30 * DAY, 90 * DAY, 365 * DAY)
"""Bounds of classes of ages, in milliseconds."""


Numbers = npt.NDArray[Any]


@dataclass(frozen=True)
class Cell:
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


class Gathered:
    """What the map holds of each file: some numbers, in as few bytes as they need. Logical entries of a snapshot, with
    the columns ASKED, are added a part at a time."""

    def __init__(self, metadata: TableMetadata, snapshot: Snapshot | None) -> None:
        self.names = _Names(metadata)
        self._metadata, self._snapshot, self._rows = metadata, snapshot, 0
        self._parts: list[dict[str, Numbers]] = []

    def add(self, entries: pa.Table, deletes: Ints | None = None) -> None:
        """`deletes` says of each how many apply to it."""
        told = flags(pc.is_valid(entries["logical_status"]))
        table = entries.filter(pa.array(told))
        status = ints(pc.index_in(table["logical_status"].cast(pa.string()), pa.array(STATUS)), 0)
        part: dict[str, Numbers] = {"row": self._rows + np.flatnonzero(told), "status": status}
        part |= {"partition": self.names.codes(table), "delete_files": ints(table["content"], 0) > 0}
        part |= {"rows": amounts(table["record_count"]), "bytes": amounts(table["file_size_in_bytes"])}
        part["age"] = _ages(table, status == STATUS.index("DELETED"), self._metadata, self._snapshot)
        if deletes is not None:
            part["deletes"] = deletes[told]
        self._parts.append({name: narrow(column) for name, column in part.items()})
        self._rows += entries.num_rows

    def take(self) -> dict[str, Numbers]:
        """The columns of all parts, which let go of them."""
        names = [*self._parts[0]] if self._parts else []
        return {name: np.concatenate([part.pop(name) for part in self._parts]) for name in names}


class FileMap:
    """The files of a snapshot, with those that it removed, in the order of the map."""

    def __init__(self, paths: RowParts, files: Gathered, planned: pa.Table | None = None) -> None:
        """`paths` has the file_path of all entries that were gathered, in order; `planned` has file_path and verdict
        (one of OUTCOMES) of the data files that a plan looked at."""
        columns = files.take()
        rows = columns.pop("row", np.zeros(0, np.int64))
        if planned is not None and len(rows):
            verdicts = pc.index_in(_looked_up(paths, planned, "verdict"), pa.array(VERDICTS))
            data = (columns["delete_files"] == 0) & (columns["status"] != STATUS.index("DELETED"))
            columns["verdict"] = narrow(np.where(data, ints(verdicts, 1)[rows], 0))
        places, self.partitions = files.names.sorted()
        codes = places[columns.pop("partition", rows)]
        order = np.argsort(codes, kind="stable")
        self._paths, self._partition, self._order = paths, codes[order], rows[order]
        self._columns = {name: columns.pop(name)[order] for name in [*columns]}
        self.every = self.cells(0, len(order))
        """The cells of all files."""

    def __len__(self) -> int:
        return len(self._order)

    def cells(self, start: int, stop: int) -> list[Cell]:
        """Cells of the files from one place to another, of equally many files each."""
        if stop <= start:
            return []
        firsts = np.arange(start, stop, -(-(stop - start) // CELLS))
        starts, ends = firsts - start, np.append(firsts[1:], stop) - 1
        some = {name: column[start:stop] for name, column in self._columns.items()}
        sums = ("rows", "bytes", "delete_files")
        added = {n: np.add.reduceat(some[n], starts, dtype=np.int64).tolist() for n in sums}
        least = {n: np.minimum.reduceat(some[n], starts).tolist() for n in ("status", "age")}
        most = {n: np.maximum.reduceat(some[n], starts).tolist() for n in ("status", "deletes", "verdict") if n in some}
        paths = self._paths.picked(self._order[firsts].astype(np.int64))["file_path"].to_pylist()
        places = zip(self._partition[firsts].tolist(), self._partition[ends].tolist(), strict=True)
        return [
            Cell(
                int(firsts[i]), int(ends[i] - firsts[i] + 1), added["rows"][i], added["bytes"][i], paths[i],
                self.partitions[first] if first == last else None, STATUS[most["status"][i]],
                least["status"][i] < most["status"][i], most["deletes"][i] if "deletes" in most else None,
                added["delete_files"][i], None if least["age"][i] == UNKNOWN else least["age"][i],
                VERDICTS[most["verdict"][i]] if "verdict" in most else None,
            )
            for i, (first, last) in enumerate(places)
        ]  # fmt: skip

    def counts(self) -> dict[str, int]:
        """Files by logical status."""
        numbers = np.bincount(self._columns.get("status", np.zeros(0, np.uint8)), minlength=len(STATUS)).tolist()
        return dict(zip(STATUS, numbers, strict=True))


def _looked_up(paths: RowParts, known: pa.Table, name: str) -> pa.ChunkedArray:
    """The words that are known of each path, or null."""
    once = polars.DataFrame(polars.from_arrow(known.select(["file_path", name]))).unique("file_path", keep="first")
    parts = (polars.DataFrame(polars.from_arrow(part)) for part in paths.read())
    found = (part.join(once, on="file_path", how="left", maintain_order="left")[name] for part in parts)
    return pa.chunked_array([words.to_arrow().cast(pa.string()) for words in found], pa.string())


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
    """Partitions by name, each with a number, as they come."""

    def __init__(self, metadata: TableMetadata) -> None:
        self._metadata = metadata
        self._numbers: dict[str, int] = {}

    def codes(self, table: pa.Table) -> Ints:
        """The number of the partition of each file."""
        if not table.num_rows:
            return np.zeros(0, np.int64)
        codes, _ = distinct_partitions(table["partition"])
        pairs = codes * (int(pc.max(table["spec_id"]).as_py()) + 1) + ints(table["spec_id"], 0)
        _, first, inverse = np.unique(pairs, return_index=True, return_inverse=True)
        rows = row_dicts(table.select(["partition", "spec_id"]).take(pa.array(first)))
        meta = self._metadata
        named = [named_partition_path(row["partition"], meta.spec(row["spec_id"]), meta) for row in rows]
        return np.array([self._numbers.setdefault(n, len(self._numbers)) for n in named], np.int64)[inverse]

    def sorted(self) -> tuple[Ints, list[str]]:
        """(the place of each number among the names in order), and these."""
        names = sorted(self._numbers, key=natural)
        places = np.zeros(len(names), np.int64)
        places[[self._numbers[name] for name in names]] = np.arange(len(names))
        return narrow(places), names


def size_classes(sizes: Sequence[int], number: int = 6) -> list[int]:
    """Bounds that part sizes into so many classes at most, each as many times as large as the one before."""
    least, most = max(1, min(sizes, default=1)), max(1, max(sizes, default=1))
    if most < 2 * least:
        return [most]
    return [round(least * (most / least) ** (i / number)) for i in range(1, number)] + [most]


def age_classes(ages: Sequence[int], number: int = 6) -> list[int]:
    """Bounds that part ages into so many classes at most: those of AGES, without those between which no age lies, and
    of the others without those that tell the fewest ages apart."""
    oldest = -(-max(ages, default=0) // DAY) * DAY
    bounds = np.array([*AGES, *([oldest] if oldest > AGES[-1] else [])])
    counts = np.bincount(np.searchsorted(bounds, ages), minlength=len(bounds)).tolist()
    used = [(bound, count) for bound, count in zip(bounds.tolist(), counts, strict=True) if count]
    while len(used) > number:  # what is newest stays apart: it is rare
        at = min(range(1, len(used) - 1), key=lambda at: used[at][1] + used[at + 1][1])
        used[at : at + 2] = [(used[at + 1][0], used[at][1] + used[at + 1][1])]
    return [bound for bound, _ in used]
