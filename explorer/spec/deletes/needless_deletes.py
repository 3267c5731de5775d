"""Equality deletes that never hid a row: a writer in upsert mode adds them for rows that are all new."""

from __future__ import annotations

from explorer.model.metadata import Snapshot, TableMetadata
from explorer.spec.commits.costs import run_between
from explorer.spec.text.units import count, whole

TAKES_AWAY = (
    "deleted-data-files", "deleted-records", "removed-delete-files", "removed-equality-delete-files",
    "removed-equality-deletes",
)  # fmt: skip
"""In the summary of a commit that took files away."""


def only_adds(metadata: TableMetadata, snapshot: Snapshot | None, rows: int) -> bool:
    """Whether the history of a snapshot is whole, and no commit of it took a data or delete file away.

    Args:
        metadata: The table's.
        snapshot: The snapshot.
        rows: The rows of its data files: its commits must have added as many.
    """
    if snapshot is None:
        return False
    run = run_between(metadata, None, snapshot.snapshot_id)
    if not run or run[0].parent_snapshot_id is not None:
        return False
    if any(whole(one.summary.get(name)) for one in run for name in TAKES_AWAY):
        return False
    return sum(whole(one.summary.get("added-records")) or 0 for one in run) == rows


def needless_words(number: int) -> str:
    """Say that all equality deletes of a table are needless, and what their writer can do; empty for none."""
    if not number:
        return ""
    none = "The equality delete hides" if number == 1 else f"None of {count(number, 'equality delete')} hides"
    return (
        f"{none} {'no' if number == 1 else 'a'} row, and none ever did: no commit updated or deleted a row. A writer "
        "whose rows are all new needs no deletes: turn off its upsert mode, or what removes duplicates by a key"
    )
