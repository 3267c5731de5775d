"""A table followed: its catalog's pointer or its folder's version hint is asked, and each commit told as it lands."""

from __future__ import annotations

import time
from collections.abc import Iterator

from explorer.errors import ExplorerError, NotPossible
from explorer.progress import is_cancelled
from explorer.spec.commits.new_commits import NewCommit, new_snapshots
from explorer.spec.snapshots.metadata_diff import metadata_diff
from explorer.storage.locate import moves
from explorer.storage.paths import local_path
from explorer.table import Table

INTERVAL_S = 1.0
"""How often a table on this machine is asked for, where nobody says otherwise."""
PATIENCE = 5
"""A table that cannot be found so many times in a row is no longer followed: a pointer is swapped in between."""
SLICE_S = 0.1


def watch(table: Table, interval: float | None = None) -> Iterator[NewCommit]:
    """The commits to a table as they land, for ever; each poll reads the pointer alone, every `interval` seconds. Who
    listens (progress.Watch) may end it. Raises NotPossible for a table in a remote store without an interval, since
    each poll is a request that is paid for, and for a metadata file opened by its own name; TableNotFound and
    UnreadableFile when the table stays away."""
    seconds = interval_of(table, interval)
    failed = 0
    while not _wait(seconds):
        try:
            newer = table.newer()
            landings = commits_between(table, newer) if newer else []
            failed = 0
        except ExplorerError:
            failed += 1
            if failed >= PATIENCE:
                raise
            continue
        yield from landings
        table = newer or table


def interval_of(table: Table, interval: float | None = None) -> float:
    """How often to ask. Raises NotPossible."""
    if not moves(table.reader.location):
        raise NotPossible(f"{table.name} was opened as one metadata file, which stays as it is: name its folder")
    if interval is None and local_path(table.reader.location.metadata_location) is None:
        raise NotPossible(f"{table.name} lies in a remote store, where each look is a request: say how often to look")
    return INTERVAL_S if interval is None else interval


def commits_between(before: Table, after: Table) -> list[NewCommit]:
    """What came between two states of a table, in the order of its commits."""
    new = new_snapshots(before.metadata, after.metadata)
    if not new:
        return [NewCommit(after.metadata, changes=metadata_diff(before.metadata, after.metadata))]
    commits = []
    for snapshot in new:
        parent = snapshot.parent_snapshot_id
        has_parent = parent is None or after.metadata.snapshot(parent) is not None
        commits.append(
            NewCommit(after.metadata, snapshot, after.diff(parent, snapshot.snapshot_id) if has_parent else None)
        )
    return commits


def _wait(seconds: float) -> bool:
    """Wait; whether who listens has had enough."""
    end = time.monotonic() + seconds
    while not is_cancelled() and (left := end - time.monotonic()) > 0:
        time.sleep(min(left, SLICE_S))
    return is_cancelled()
