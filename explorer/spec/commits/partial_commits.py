"""Partial commits of Kafka Connect's sink: the coordinator commits after a time-out what has come, and what comes late
goes with the next commit (kafka-connect's Coordinator.commit; databricks/iceberg-kafka-connect#303)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from explorer.model.metadata import Snapshot, TableMetadata
from explorer.spec.snapshots.lineage import ancestry

COMPLETE = ("kafka.connect.valid-through-ts", "kafka.connect.vtts")
"""What the sink records of a commit that is complete; the second is the older name."""
COMMIT = "kafka.connect.commit-id"


@dataclass(frozen=True)
class LateFiles:
    """A partial commit, and the next one of the sink, with which files of the same cycle may have come."""

    partial: Snapshot
    after: Snapshot


def late_files(metadata: TableMetadata) -> list[LateFiles]:
    """Find the partial commits on the way to the current snapshot.

    A commit is partial if it has no time until which its rows are complete, and others of the sink have one: topics
    whose records have no time have it nowhere.
    """
    by_id = {snapshot.snapshot_id: snapshot for snapshot in metadata.snapshots}
    line = [by_id[own] for own in reversed(ancestry(metadata, metadata.current_snapshot_id)) if own in by_id]
    return list(_late(line))


def _late(line: Sequence[Snapshot]) -> Iterator[LateFiles]:
    commits = [snapshot for snapshot in line if snapshot.summary.get(COMMIT)]
    if not any(_is_complete(snapshot) for snapshot in commits):
        return
    for before, after in pairwise(commits):
        if not _is_complete(before):
            yield LateFiles(before, after)


def _is_complete(snapshot: Snapshot) -> bool:
    return any(snapshot.summary.get(key) for key in COMPLETE)
