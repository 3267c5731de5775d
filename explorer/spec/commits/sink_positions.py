"""Where writers that continue a stream find what they committed last: in the summaries of snapshots. A job that finds
nothing there commits its last files again, or fails."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from explorer.model.metadata import Snapshot
from explorer.spec.commits.commit_writers import CHECKPOINT, EPOCH, JOB, LONG, OFFSETS, OPERATOR, STREAM
from explorer.spec.text.names import shorten


@dataclass(frozen=True)
class SinkPosition:
    """The newest snapshot in which a writer can find its position.

    Attributes:
        writer: The writer, as its snapshots name it.
        snapshot: The snapshot.
    """

    writer: str
    snapshot: Snapshot


def sink_positions(snapshots: Sequence[Snapshot]) -> list[SinkPosition]:
    """Find the newest position of each writer.

    Args:
        snapshots: Snapshots, oldest first.
    """
    newest: dict[str, SinkPosition] = {}
    for snapshot in snapshots:
        for writer in _writers(snapshot):
            newest[writer] = SinkPosition(writer, snapshot)
    return list(newest.values())


def _writers(snapshot: Snapshot) -> Iterator[str]:
    """The writers that find their position in a snapshot, by what stays the same when they start again."""
    summary = snapshot.summary
    if CHECKPOINT in summary:
        operator, job = summary.get(OPERATOR), summary.get(JOB, "")
        yield f"Flink operator {shorten(operator, LONG)}" if operator else f"Flink job {shorten(job, LONG)}"
    if STREAM in summary and EPOCH in summary:
        yield f"Spark stream {shorten(summary[STREAM], LONG)}"
    if any(name.startswith(OFFSETS) for name in summary):
        yield "Kafka Connect's sink"
