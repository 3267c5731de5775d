"""How many files bin-packing writes: one for each task that reads a part of a group (Iceberg: SparkStagedScan,
TableScanUtil.planTaskGroups), and whether it would take its own files again for ever."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from explorer.spec.entries.numpy_columns import Ints
from explorer.spec.maintenance.rewrite_options import RewriteOptions
from explorer.spec.scan.tasks import Packing, pack

MOST = 100_000
"""Files of all groups that are packed; of more the planner's own estimate is told."""
ROUNDS = 5
"""Runs that are looked ahead."""


@dataclass(frozen=True)
class Endless:
    """Files that each run writes anew as they are: how many, of how many bytes on average, and how much a task reads
    at once."""

    files: int
    bytes: int
    split: int


def output_sizes(rule: RewriteOptions, sizes: Ints, parts: Ints, lookback: int, least: int = 0) -> list[int]:
    """The bytes of the files that a group becomes, if they take as much as before.

    Args:
        rule: What the rewrite goes by.
        sizes: Bytes of the group's files.
        parts: In how many parts each can be read, by its split offsets; 0 where it can be cut anywhere.
        lookback: The tasks that are kept open (read.split.planning-lookback).
        least: Bytes of a file before which its writer does not look at its size.
    """
    split = int(rule.split_bytes(np.array([int(sizes.sum())]))[0])
    tasks = pack(_parts(sizes, parts, split), Packing(split, lookback, 0))
    return [size for weight, _ in tasks for size in _files(weight, max(rule.max_output_bytes, least))]


def endless(rule: RewriteOptions, sizes: Ints, parts: Ints, lookback: int) -> Endless | None:
    """The files of a group that no run ever makes larger, where it would take them again and again."""
    taken = output_sizes(rule, sizes, parts, lookback)
    for _ in range(ROUNDS):
        again = np.array([size for size in taken if not rule.smallest <= size <= rule.largest], np.int64)
        if not _is_rewritten(rule, again):
            return None
        taken = output_sizes(rule, again, np.ones(len(again), np.int64), lookback)
        if len(taken) == len(again) and sorted(taken) == sorted(again.tolist()):
            total = int(again.sum())
            return Endless(len(again), total // len(again), int(rule.split_bytes(np.array([total]))[0]))
    return None


def _is_rewritten(rule: RewriteOptions, sizes: Ints) -> bool:
    """Whether a group is rewritten for its sizes alone."""
    total = int(sizes.sum())
    several = len(sizes) > 1 and (len(sizes) >= rule.min_input_files or total > rule.target)
    return several or total > rule.largest


def _parts(sizes: Ints, parts: Ints, split: int) -> Iterator[int]:
    for size, number in zip(sizes.tolist(), parts.tolist(), strict=True):
        count = min(number or -(-size // split), MOST)
        if count <= 1:
            yield size
            continue
        yield from [size // count] * (count - 1)
        yield size - size // count * (count - 1)


def _files(weight: int, most: int) -> Sequence[int]:
    """A task's bytes as files: a writer begins another one where the first is large enough."""
    count = min(max(1, -(-weight // most)), MOST)
    return [weight // count] * count
