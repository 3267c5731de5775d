"""The options of the procedures that rewrite files, by Iceberg's names, and what sizes they ask for (Iceberg:
SizeBasedFileRewritePlanner, BinPackRewriteFilePlanner, SparkShufflingDataRewritePlanner, the actions)."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from explorer.model.metadata import TableMetadata
from explorer.spec.entries.numpy_columns import Ints
from explorer.spec.text.units import human_bytes, whole

Strategy = Literal["binpack", "sort", "zorder", "position-deletes"]
OptionKind = Literal["long", "int", "double", "boolean", "order"]
ORDERS = ("none", "bytes-asc", "bytes-desc", "files-asc", "files-desc")
GROUPS: Mapping[str, OptionKind] = {
    "target-file-size-bytes": "long", "min-file-size-bytes": "long", "max-file-size-bytes": "long",
    "min-input-files": "int", "rewrite-all": "boolean", "max-file-group-size-bytes": "long",
    "max-file-group-input-files": "long", "rewrite-job-order": "order",
    "max-concurrent-file-group-rewrites": "int", "partial-progress.enabled": "boolean",
    "partial-progress.max-commits": "int",
}  # fmt: skip
DATA: Mapping[str, OptionKind] = {
    **GROUPS, "delete-file-threshold": "int", "delete-ratio-threshold": "double", "max-files-to-rewrite": "int",
    "partial-progress.max-failed-commits": "int", "use-starting-sequence-number": "boolean", "output-spec-id": "int",
    "remove-dangling-deletes": "boolean", "cache-delete-files": "boolean",
}  # fmt: skip
SORT: Mapping[str, OptionKind] = {**DATA, "shuffle-partitions-per-file": "int", "compression-factor": "double"}
OPTIONS: Mapping[Strategy, Mapping[str, OptionKind]] = {
    "binpack": DATA,
    "sort": SORT,
    "zorder": {**SORT, "max-output-size": "int", "var-length-contribution": "int"},
    "position-deletes": GROUPS,
}
"""What each strategy takes, and as what; the same as Iceberg 1.12 (a test says so)."""
TARGETS = {True: ("write.target-file-size-bytes", 512 << 20), False: ("write.delete.target-file-size-bytes", 64 << 20)}
"""The property that sets the target, and its default, for data files and for deletes."""
UNLIMITED = 1 << 62
"""Sizes from here on stand for no limit, as of engines that have none."""
SMALL, LARGE = 0.75, 1.8
"""Below and above which shares of the target a file is too small and too large, where no option says."""
_INT, LONG_MAX = 2**31 - 1, 2**63 - 1


@dataclass(frozen=True)
class RewriteOptions:
    """What a rewrite goes by, in bytes and files. `delete_files` and `delete_ratio` are None where deletes do not
    matter; `max_files` is None for all."""

    strategy: Strategy
    target: int
    smallest: int
    largest: int
    min_input_files: int
    rewrite_all: bool
    max_group_bytes: int
    max_group_files: int
    order: str
    delete_files: int | None
    delete_ratio: float | None
    max_files: int | None
    compression: float
    output_spec_id: int | None
    commits: int | None
    """The commits that partial progress allows; None for one."""
    removes_dangling: bool

    @property
    def range_words(self) -> str:
        """Between which sizes files are left."""
        if self.largest >= UNLIMITED:
            return f"at {human_bytes(self.smallest)} or above"
        low, high = (f"{100 * n / self.target:.0f}" for n in (self.smallest, self.largest))
        sizes = f"{human_bytes(self.smallest)} to {human_bytes(self.largest)}"
        return f"within {low}–{high} % of the target of {human_bytes(self.target)} ({sizes})"

    @property
    def max_output_bytes(self) -> int:
        """The size at which a writer begins another file: half way between target and maximum."""
        return int(self.target + (self.largest - self.target) * 0.5)

    def count_output_files(self, sizes: Ints) -> Ints:
        """How many files groups of such sizes are expected to become."""
        sized = (sizes * self.compression).astype(np.int64) if self.compression != 1 else sizes
        floor, rest = sized // self.target, sized % self.target
        average = sized // np.maximum(floor, 1)
        keeps = (rest <= self.smallest) & (average < min(1.1 * self.target, float(self.max_output_bytes)))
        some = np.where(keeps, floor, floor + (rest > 0))
        return np.where(sized < self.target, 1, some).astype(np.int64)

    def split_bytes(self, sizes: Ints) -> Ints:
        """How much of a group each task reads, in bin-packing."""
        split = sizes // self.count_output_files(sizes) + 5 * 1024
        return np.where(split < self.target, self.target, np.minimum(split, self.max_output_bytes))


def file_target(metadata: TableMetadata) -> int:
    """How large data files are to be, in bytes: by the table's property or, where that says nothing, Iceberg's."""
    name, default = TARGETS[True]
    return whole(metadata.properties.get(name)) or default


def rule(metadata: TableMetadata, strategy: Strategy, options: Mapping[str, str]) -> RewriteOptions:
    """What a rewrite with these options goes by. Raises ValueError where Iceberg would refuse them, with its reason,
    and for options that there are not, naming those that there are."""
    kinds = OPTIONS[strategy]
    if unknown := [name for name in options if name not in kinds]:
        raise ValueError(f"no option {unknown[0]!r}: there are {', '.join(sorted(kinds))}")
    given = {name: _parse(name, kinds[name], text) for name, text in options.items()}
    data = strategy != "position-deletes"
    of_table, default = TARGETS[data]
    target = given.get("target-file-size-bytes", _parse(of_table, "long", metadata.properties.get(of_table, default)))
    smallest = int(given.get("min-file-size-bytes", int(target * SMALL)))
    largest = int(given.get("max-file-size-bytes", min(int(target * LARGE), LONG_MAX)))
    spec = int(given["output-spec-id"]) if "output-spec-id" in given else metadata.default_spec_id
    _check(target > 0, f"target-file-size-bytes is {target}, and must be > 0")
    _check(smallest >= 0, f"min-file-size-bytes is {smallest}, and must be >= 0")
    _check(
        target > smallest,
        f"target-file-size-bytes ({target}) must be > min-file-size-bytes ({smallest}): all files would be too small",
    )
    _check(
        target < largest,
        f"target-file-size-bytes ({target}) must be < max-file-size-bytes ({largest}): all files would be too large",
    )
    for name in POSITIVE:
        _check(given.get(name, 1) > 0, f"{name} is {options.get(name)}, and must be > 0")
    _check(given.get("delete-file-threshold", 0) >= 0, "delete-file-threshold must be >= 0")
    _check(given.get("delete-ratio-threshold", 0) <= 1, "delete-ratio-threshold must be <= 1")
    _check(metadata.spec(spec) is not None or "output-spec-id" not in given, f"there is no partition spec {spec}")
    partial = bool(given.get("partial-progress.enabled"))
    _check(not partial or given.get("partial-progress.max-commits", 10) > 0, "partial-progress.max-commits must be > 0")
    return RewriteOptions(
        strategy=strategy, target=int(target), smallest=smallest, largest=largest,
        min_input_files=int(given.get("min-input-files", 5)), rewrite_all=bool(given.get("rewrite-all", False)),
        max_group_bytes=int(given.get("max-file-group-size-bytes", 100 << 30)),
        max_group_files=int(given.get("max-file-group-input-files", LONG_MAX)),
        order=ORDERS[int(given.get("rewrite-job-order", 0))],
        delete_files=int(given.get("delete-file-threshold", _INT)) if data else None,
        delete_ratio=given.get("delete-ratio-threshold", 0.3) if data else None,
        max_files=int(given["max-files-to-rewrite"]) if "max-files-to-rewrite" in given else None,
        compression=given.get("compression-factor", 1.0), output_spec_id=spec,
        commits=int(given.get("partial-progress.max-commits", 10)) if partial else None,
        removes_dangling=bool(given.get("remove-dangling-deletes", False)),
    )  # fmt: skip


POSITIVE = (
    "min-input-files", "max-file-group-size-bytes", "max-file-group-input-files", "max-files-to-rewrite",
    "delete-ratio-threshold", "compression-factor", "max-concurrent-file-group-rewrites", "shuffle-partitions-per-file",
    "max-output-size", "var-length-contribution",
)  # fmt: skip


def _check(holds: bool, complaint: str) -> None:
    if not holds:
        raise ValueError(complaint)


def _parse(name: str, kind: OptionKind, text: str | int) -> float:
    """A value as Java reads it: true and false as 1 and 0, an order as its place in ORDERS."""
    written = str(text)
    if kind == "boolean":
        return written.lower() == "true"
    if kind == "order":
        if written.lower() not in ORDERS:
            raise ValueError(f"{name} is {written!r}: there are {', '.join(ORDERS)}")
        return ORDERS.index(written.lower())
    if kind == "double":
        try:
            number = float(written)
        except ValueError:
            number = math.nan
        if not math.isfinite(number):
            raise ValueError(f"{name} is {written!r}, which is no number")
        return number
    most = _INT if kind == "int" else LONG_MAX
    if not re.fullmatch(r"[+-]?[0-9]{1,19}", written) or not -most - 1 <= int(written) <= most:
        raise ValueError(f"{name} is {written!r}, which is no whole number that fits")
    return int(written)
