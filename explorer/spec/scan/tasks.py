"""Scan tasks: chosen files split by their offsets and packed into tasks, as an engine would read them.

The rules are Iceberg's (BaseFileScanTask.split, util.BinPacking, util.TableScanUtil.planTasks); the properties
read.split.target-size, read.split.planning-lookback and read.split.open-file-cost (docs: "Configuration")."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from explorer.spec.entries.numpy_columns import Ints, amounts, ints
from explorer.spec.text.units import whole

TARGET, LOOKBACK, OPEN_COST = 128 << 20, 10, 4 << 20
MOST_OPEN, MOST_SPLITS = 1000, 10_000
"""Bins that are kept open, and parts of one file; a file that would have more is read as one."""
SPLITTABLE = ("PARQUET", "ORC", "AVRO")
HEAVIEST = (1 << 62) - 1
"""What is larger counts as this: the numbers are strangers', and two of them must have a sum."""
TASKS = 1000
"""Tasks that a plan keeps; all are counted."""
CHOSEN = pa.schema(
    [
        ("file_path", pa.string()), ("file_size_in_bytes", pa.int64()), ("file_format", pa.string()),
        ("split_offsets", pa.list_(pa.int64())), ("deletes", pa.int64()), ("delete_bytes", pa.int64()),
    ]
)  # fmt: skip
"""A data file that is read: where it may be split, and the number and bytes of the delete files that come along."""


@dataclass(frozen=True)
class Packing:
    """How tasks are made: bytes of one, bins that are kept open, and what opening a file weighs in bytes."""

    target: int = TARGET
    lookback: int = LOOKBACK
    open_cost: int = OPEN_COST

    @classmethod
    def of(cls, properties: Mapping[str, str]) -> Packing:
        """As a table's properties say; what is no number above zero counts as not set."""

        def number(name: str, default: int) -> int:
            return whole(properties.get(f"read.split.{name}")) or default

        lookback = min(number("planning-lookback", LOOKBACK), MOST_OPEN)
        return cls(number("target-size", TARGET), lookback, number("open-file-cost", OPEN_COST))


class Splits(NamedTuple):
    """Parts of some data files, in their order: which of the files, where the part starts, its bytes, and what it is
    packed by."""

    file: Ints
    start: Ints
    length: Ints
    weight: Ints


class Split(NamedTuple):
    """A part of a data file; `deletes` is the number of delete files that come along."""

    path: str
    start: int
    length: int
    weight: int
    deletes: int


@dataclass(frozen=True)
class Task:
    """One task of a scan: what an engine reads at once."""

    splits: tuple[Split, ...]

    @property
    def bytes(self) -> int:
        """Bytes of data files."""
        return sum(s.length for s in self.splits)

    @property
    def weight(self) -> int:
        """What it is packed by: bytes with deletes, or what opening its files weighs."""
        return sum(s.weight for s in self.splits)


@dataclass(frozen=True)
class Tasks:
    """All tasks, counted; the first TASKS of them themselves."""

    packing: Packing
    count: int
    largest: int
    first: tuple[Task, ...]


def splits(files: pa.Table, packing: Packing) -> Splits:
    """The parts that each file of CHOSEN may be read in: by its offsets where these ascend, else of the target size."""
    size = ints(files["file_size_in_bytes"], 0)
    of_row, offsets, by_own_offsets = _offsets(files["split_offsets"], size)
    splittable = pc.is_in(pc.utf8_upper(files["file_format"]), pa.array(SPLITTABLE)).to_numpy()
    by_offsets = splittable & by_own_offsets
    target = min(packing.target, HEAVIEST)
    by_target = splittable & ~by_own_offsets & (size > target) & (size <= min(target * MOST_SPLITS, HEAVIEST))
    parts = np.where(by_target, -(-size // target), (size > 0).astype(np.int64))
    parts[by_offsets] = np.bincount(of_row, minlength=len(size))[by_offsets]
    file = np.repeat(np.arange(len(size)), parts)
    place = np.arange(len(file)) - np.repeat(np.cumsum(parts) - parts, parts)
    start = np.where(by_target[file], place * target, 0)
    start[by_offsets[file]] = offsets[by_offsets[of_row]]
    end = np.append(start[1:], 0)
    last = place == parts[file] - 1
    end[last] = size[file][last]
    length = end - start
    return Splits(file, start, length, _weight(files, packing, file, length))


def pack(weights: Iterable[int], packing: Packing) -> Iterator[tuple[int, list[int]]]:
    """Tasks, each as its weight and the numbers of its splits: a split goes into the first open bin that has room; when
    more than `lookback` are open, the heaviest is done."""
    bins: list[list[int]] = []
    open_weights: list[int] = []
    for number, weight in enumerate(weights):
        room = packing.target - weight
        for at, filled in enumerate(open_weights):
            if filled <= room:
                bins[at].append(number)
                open_weights[at] += weight
                break
        else:
            bins.append([number])
            open_weights.append(weight)
            if len(bins) > packing.lookback:
                heaviest = open_weights.index(max(open_weights))
                yield open_weights.pop(heaviest), bins.pop(heaviest)
    yield from zip(open_weights, bins, strict=True)


def tasks(packing: Packing, chosen: Iterable[pa.Table]) -> Tasks:
    """The tasks of all files of CHOSEN, which come in parts."""
    read: list[tuple[pa.Table, Splits]] = []
    first: list[Task] = []

    def weights() -> Iterator[int]:
        for files in chosen:
            parts = splits(files, packing)
            if len(first) < TASKS:
                read.append((files, parts))
            yield from parts.weight.tolist()

    count = largest = 0
    for weight, numbers in pack(weights(), packing):
        count += 1
        largest = max(largest, weight)
        if count <= TASKS:
            first.append(Task(_splits_of(read, numbers)))
        elif read:
            read.clear()
    return Tasks(packing, count, largest, tuple(first))


def _splits_of(read: list[tuple[pa.Table, Splits]], numbers: list[int]) -> tuple[Split, ...]:
    """Splits by their numbers, which count through all that was read."""
    ends = np.cumsum([len(parts.file) for _, parts in read])
    named = []
    for number in numbers:
        part = int(np.searchsorted(ends, number, "right"))
        files, parts = read[part]
        at = number - int(ends[part])  # from the end
        row = int(parts.file[at])
        path, deletes = files["file_path"][row].as_py(), files["deletes"][row].as_py()
        named.append(Split(path, int(parts.start[at]), int(parts.length[at]), int(parts.weight[at]), deletes))
    return tuple(named)


def _offsets(column: pa.ChunkedArray, size: Ints) -> tuple[Ints, Ints, Any]:
    """All offsets with the file that each is of, and which files have ascending ones that end within the file."""
    number = ints(pc.list_value_length(column), 0)
    of_row = np.repeat(np.arange(len(size)), number)
    values = pc.list_flatten(column)
    offsets = ints(values, -1)
    falls = (offsets[1:] <= offsets[:-1]) & (np.diff(of_row) == 0)
    usable = number > 0
    usable[of_row[1:][falls]] = False
    usable[of_row[pc.is_null(values).to_numpy()]] = False
    some = np.flatnonzero(number)
    usable[some] &= offsets[np.cumsum(number)[some] - 1] < size[some]
    return of_row, offsets, usable


def _weight(files: pa.Table, packing: Packing, file: Ints, length: Ints) -> Ints:
    """What each part is packed by: its bytes with those of the deletes, or what opening all these files weighs."""
    cost = min(packing.open_cost, HEAVIEST)
    opening = np.minimum(1 + ints(files["deletes"], 0), HEAVIEST // cost) * cost
    bytes_too = np.minimum(length, HEAVIEST) + amounts(files["delete_bytes"])[file]
    weight: Ints = np.maximum(bytes_too, opening[file])
    return weight
