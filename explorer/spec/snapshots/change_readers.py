"""Readers of changes: what they do with snapshots that are no appends.

As Iceberg 1.12 does it: BaseSparkMicroBatchPlanner reads appends, passes over `replace`, and stops at all else.
BaseIncrementalAppendScan, which Flink's source uses too, reads appends and passes over all else."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from explorer.model.metadata import Snapshot
from explorer.spec.text.names import first_of, shorten, snapshot_name

SKIPS: Mapping[str, str] = {
    "overwrite": "streaming-skip-overwrite-snapshots", "delete": "streaming-skip-delete-snapshots",
}  # fmt: skip
"""The options of a Spark stream that let it pass over snapshots, by their operation."""
_OTHER_KIND = 40
"""Letters of an operation that nobody knows."""
_NAMED = 3
"""Snapshots that a sentence names."""


def other_changes(unread: Iterable[Snapshot]) -> tuple[Snapshot, ...]:
    """Return the snapshots that change rows and are no appends.

    Args:
        unread: What a reader of changes still has to read.

    Returns:
        Those, in the same order.
    """
    return tuple(s for s in unread if _operation(s) not in ("append", "replace"))


def _operation(snapshot: Snapshot) -> str | None:
    """What Iceberg takes for a snapshot's operation: a summary without one is an overwrite's."""
    return "overwrite" if snapshot.operation is None and snapshot.summary else snapshot.operation


def stream_error(snapshot: Snapshot) -> str:
    """Return the error with which a Spark stream stops at a snapshot that is no append.

    Args:
        snapshot: One of `other_changes`.

    Returns:
        Iceberg's words.
    """
    own, operation = snapshot.snapshot_id, _operation(snapshot)
    if operation is None:
        return f"snapshot {own} names no operation"
    if operation not in SKIPS:
        return (
            f"Cannot process unknown snapshot operation: {shorten(operation, _OTHER_KIND).lower()} (snapshot id {own})"
        )
    return f"Cannot process {operation} snapshot: {own}, to ignore {operation}s, set {SKIPS[operation]}=true"


def skip_words(changes: Sequence[Snapshot], ordinals: dict[int, int]) -> list[str]:
    """Say what the options leave out with which a Spark stream goes on.

    Args:
        changes: Snapshots that it would stop at.
        ordinals: The number of each snapshot, as `snapshot_ordinals` gives them.

    Returns:
        A sentence for each option that it needs; one that says that there is none, where there is none.
    """
    by_operation: dict[str, list[Snapshot]] = {}
    for snapshot in changes:
        by_operation.setdefault(_operation(snapshot) or "", []).append(snapshot)
    if others := [s for operation, of_it in by_operation.items() if operation not in SKIPS for s in of_it]:
        return [f"No option lets a stream pass over {named_changes(others, ordinals)}."]
    costs = {
        "overwrite": "it never reads the rows that these added, new values of changed rows among them, and does not "
        "learn which rows they removed",
        "delete": "it does not learn which rows these deleted",
    }
    return [
        f"With {option}=true a stream passes over {named_changes(by_operation[operation], ordinals)}: "
        f"{costs[operation]}."
        for operation, option in SKIPS.items()
        if operation in by_operation
    ]


def named_changes(changes: Sequence[Snapshot], ordinals: dict[int, int]) -> str:
    """Return the names of snapshots, each with its operation; of many the first ones, and their number."""
    return first_of(
        [f"{snapshot_name(s.snapshot_id, ordinals)} ({shorten(s.operation or '-', _OTHER_KIND)})" for s in changes],
        _NAMED,
    )
