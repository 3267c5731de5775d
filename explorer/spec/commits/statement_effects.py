"""What one statement did to a table, as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from explorer.spec.commits.costs import CommitCost
from explorer.spec.snapshots.diff import SnapshotDiff


@dataclass(frozen=True)
class WrittenFile:
    """A file that a statement wrote; `what` is its part in the table."""

    path: str
    what: str
    size: int
    after_ms: float


@dataclass(frozen=True)
class Effects:
    """What a statement did to a table. `removed` are files that are gone; `swapped` is (old, new) metadata location, or
    None when nothing was committed; `diff`, `cost` and `report` (Iceberg's own CommitReport, as JSON) are of the last
    commit, where it made a snapshot."""

    sql: str
    files: tuple[WrittenFile, ...]
    removed: tuple[str, ...]
    swapped: tuple[str, str] | None
    commits: int
    diff: SnapshotDiff | None
    cost: CommitCost | None
    report: Mapping[str, Any] | None
    answer: tuple[dict[str, Any], ...]
    seconds: float
