"""Scan tasks: chosen files split by their offsets and packed into tasks, as an engine would read them.

The rules are Iceberg's (BaseFileScanTask.split, util.BinPacking, util.TableScanUtil.planTasks); the properties
read.split.target-size, read.split.planning-lookback and read.split.open-file-cost (docs: "Configuration")."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from explorer.core.units import whole

TARGET, LOOKBACK, OPEN_COST = 128 << 20, 10, 4 << 20
MOST_OPEN, MOST_SPLITS = 1000, 10_000
"""Bins that are kept open, and parts of one file; a file that would have more is read as one."""
SPLITTABLE = ("PARQUET", "ORC", "AVRO")


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


class Chosen(NamedTuple):
    """A data file that is read: its size, where it may be split, and the delete files that come along."""

    path: str
    size: int
    file_format: str
    offsets: Sequence[int] = ()
    deletes: int = 0
    delete_bytes: int = 0


class Split(NamedTuple):
    """A part of a data file; `weight` is what it is packed by."""

    file: Chosen
    start: int
    length: int
    weight: int


def splits(file: Chosen, packing: Packing) -> Iterator[Split]:
    """The parts that a file may be read in: by its offsets where these ascend, else of the target size."""
    offsets, size, most = file.offsets, file.size, packing.target
    starts: Iterable[int] = (0,) if size > 0 else ()
    if file.file_format.upper() in SPLITTABLE:
        told = bool(offsets) and None not in offsets and offsets[-1] < size
        ascending = told and all(a < b for a, b in pairwise(offsets))
        starts = offsets if ascending else range(0, size, most) if most < size <= most * MOST_SPLITS else starts
    opening = (1 + file.deletes) * packing.open_cost
    for start, end in pairwise((*starts, size)):
        yield Split(file, start, end - start, max(end - start + file.delete_bytes, opening))


def packed(files: Iterable[Chosen], packing: Packing) -> Iterator[list[Split]]:
    """Tasks, each a list of splits: a split goes into the first open bin that has room; when more than `lookback` are
    open, the heaviest is done."""
    bins: list[list[Split]] = []
    weights: list[int] = []
    for file in files:
        for split in splits(file, packing):
            room = packing.target - split.weight
            for at, weight in enumerate(weights):
                if weight <= room:
                    bins[at].append(split)
                    weights[at] += split.weight
                    break
            else:
                bins.append([split])
                weights.append(split.weight)
                if len(bins) > packing.lookback:
                    heaviest = weights.index(max(weights))
                    del weights[heaviest]
                    yield bins.pop(heaviest)
    yield from bins
