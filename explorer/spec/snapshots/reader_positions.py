"""Readers that come back to a table: what each still needs of its history, and whether it is there.

What readers need is as Iceberg 1.12 checks it: SparkMicroBatchStream, BaseIncrementalScan, SnapshotUtil, and Flink's
ContinuousSplitPlannerImpl. The snapshot log after an expiry is as TableMetadata.Builder leaves it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from explorer.model.metadata import Snapshot, SnapshotLogEntry, TableMetadata
from explorer.progress import steps
from explorer.spec.snapshots.change_readers import other_changes, stream_error
from explorer.spec.snapshots.retention import Retention
from explorer.spec.text.names import snapshot_name, snapshot_ordinals
from explorer.spec.text.units import instant, whole

ReaderUse = Literal["time travel", "incremental read", "Spark stream", "Spark stream, AvailableNow", "Flink source"]
STREAMS: tuple[ReaderUse, ...] = ("Spark stream", "Spark stream, AvailableNow")
"""A stream with the trigger AvailableNow looks at the snapshot at which it began, each time that it starts (#18000)."""
ReaderState = Literal["goes on", "stops", "breaks", "is broken already"]
"""A reader stops at a snapshot that is no append, whatever expires: a Spark stream without the options for it."""
WITHOUT_SNAPSHOT = -1
"""The snapshot id of a stream that has not begun."""


@dataclass(frozen=True)
class ReaderPosition:
    """Where a reader stands.

    Attributes:
        reader: What a person calls it: a snapshot, branch, tag or time, or a checkpoint.
        use: How it reads.
        snapshot_id: The snapshot at which it stands; WITHOUT_SNAPSHOT of a stream that has not begun.
        ref: The branch or tag by whose name it reads.
        time_ms: The time as of which it reads.
    """

    reader: str
    use: ReaderUse
    snapshot_id: int | None = None
    ref: str | None = None
    time_ms: int | None = None


@dataclass(frozen=True)
class ReaderOutcome:
    """What becomes of a reader: whether it goes on, and why not. `other_changes` are the snapshots that it still has to
    read, as the table is now, and that are no appends, oldest first: of a reader of changes that is not broken."""

    position: ReaderPosition
    stands_at: str
    becomes: ReaderState
    reason: str
    other_changes: tuple[Snapshot, ...] = ()


@dataclass(frozen=True)
class HistoryLeft:
    """What is left of a table's history: of its snapshots, branches and tags."""

    metadata: TableMetadata
    snapshot_ids: Collection[int]
    ref_names: Collection[str]

    @classmethod
    def all_of(cls, metadata: TableMetadata) -> HistoryLeft:
        """Return what a table has now."""
        return cls(metadata, {s.snapshot_id for s in metadata.snapshots}, {ref.name for ref in metadata.refs})

    @classmethod
    def after(cls, metadata: TableMetadata, decided: Retention) -> HistoryLeft:
        """Return what an expiry leaves."""
        kept = {s.snapshot_id for s in decided.snapshots_to_keep}
        return cls(metadata, kept, {r.ref.name for r in decided.refs if r.kept})

    @cached_property
    def main(self) -> list[Snapshot]:
        """The current snapshot and its ancestors, newest first, as far as they are left."""
        chain: list[Snapshot] = []
        seen: set[int] = set()
        at = self.metadata.current_snapshot
        while at is not None and at.snapshot_id in self.snapshot_ids and at.snapshot_id not in seen:
            chain.append(at)
            seen.add(at.snapshot_id)
            at = None if at.parent_snapshot_id is None else self.metadata.snapshot(at.parent_snapshot_id)
        return chain

    @cached_property
    def _places(self) -> dict[int | None, int]:
        """How many snapshots of `main` come after one, by its id: also after the parent of the oldest."""
        places: dict[int | None, int] = {s.parent_snapshot_id: n for n, s in enumerate(self.main, 1)}
        return places | ({self.main[0].snapshot_id: 0} if self.main else {})

    def after_on_main(self, snapshot_id: int) -> list[Snapshot] | None:
        """Return the snapshots of main after one; None where the way to it is cut off."""
        number = self._places.get(snapshot_id)
        return None if number is None else self.main[:number]

    @cached_property
    def log(self) -> Sequence[SnapshotLogEntry]:
        """The snapshot log as an expiry leaves it: without all that is before an entry of a snapshot that is gone."""
        entries = self.metadata.snapshot_log
        gone = (n for n, entry in enumerate(entries, 1) if entry.snapshot_id not in self.snapshot_ids)
        return entries[max(gone, default=0) :]


def needed_snapshots(history: HistoryLeft, position: ReaderPosition) -> list[Snapshot] | str:
    """Say what a reader needs.

    Args:
        history: What is left.
        position: Where the reader stands.

    Returns:
        The snapshots without which it could not go on; or why it cannot go on even now.
    """
    if position.ref is not None:
        return _needed_of_ref(history, position.ref)
    if position.time_ms is not None:
        return _needed_of_time(history, position.time_ms, position.use)
    own = position.snapshot_id
    if own is None or own == WITHOUT_SNAPSHOT:
        return []  # it begins with the oldest that is left
    snapshot = history.metadata.snapshot(own) if own in history.snapshot_ids else None
    if snapshot is None and position.use == "time travel":
        return f"snapshot {own} is gone"
    if snapshot is None and position.use in STREAMS:
        return f"Spark fails: Cannot load current offset at snapshot {own}, the snapshot was expired or removed"
    if position.use == "time travel":
        return [snapshot] if snapshot else []
    after = history.after_on_main(own)
    if after is None and position.use in STREAMS:
        return f"Spark fails: Cannot find snapshot after {own}: not an ancestor of table's current snapshot"
    if after is None:
        return (
            f"Iceberg fails: Starting snapshot (exclusive) {own} is not a parent ancestor of end snapshot "
            f"{history.metadata.current_snapshot_id}"
        )
    return [*after, snapshot] if snapshot and position.use in STREAMS else after


def _needed_of_ref(history: HistoryLeft, name: str) -> list[Snapshot] | str:
    ref = next((ref for ref in history.metadata.refs if ref.name == name), None)
    if ref is None or name not in history.ref_names:
        return f"there is no branch or tag {name}" if ref is None else f"the {ref.type} {name} is gone"
    snapshot = history.metadata.snapshot(ref.snapshot_id) if ref.snapshot_id in history.snapshot_ids else None
    return [snapshot] if snapshot else f"the snapshot of {ref.type} {name} is gone"


def _needed_of_time(history: HistoryLeft, time_ms: int, use: ReaderUse) -> list[Snapshot] | str:
    if use == "time travel":
        before = [n for n, entry in enumerate(history.log) if entry.timestamp_ms <= time_ms]
        if not before:
            return f"Spark fails: Cannot find a snapshot older than {instant(time_ms)}"
        rest = {entry.snapshot_id for entry in history.log[before[-1] :]}
        return [s for s in history.metadata.snapshots if s.snapshot_id in rest]
    for number, snapshot in enumerate(history.main, 1):
        moment = snapshot.timestamp_ms or 0
        if moment <= time_ms:  # what is at that time is read, what is before shows that nothing is missing
            return history.main[:number]
    if history.main and history.main[-1].parent_snapshot_id is not None:
        return (
            f"no snapshot before {instant(time_ms)} is left on main. Flink and changelog reads fail; a new Spark "
            "stream begins with the oldest snapshot that is left, and passes over what is gone"
        )
    return list(history.main)


def reader_outcomes(
    metadata: TableMetadata, positions: Iterable[ReaderPosition], decided: Retention
) -> list[ReaderOutcome]:
    """Say which readers an expiry breaks.

    Args:
        metadata: The table's.
        positions: Where readers stand.
        decided: What the expiry keeps.

    Returns:
        An outcome for each, in the same order.
    """
    now, after = HistoryLeft.all_of(metadata), HistoryLeft.after(metadata, decided)
    return [_outcome(now, after, position) for position in steps(list(positions), "readers")]


def _outcome(now: HistoryLeft, after: HistoryLeft, position: ReaderPosition) -> ReaderOutcome:
    place = _stands_at(now.metadata, position)
    if isinstance(broken := needed_snapshots(now, position), str):
        return ReaderOutcome(position, place, "is broken already", broken)
    changes = other_changes(_unread(now, position, broken))
    if isinstance(breaks := needed_snapshots(after, position), str):
        return ReaderOutcome(position, place, "breaks", breaks, changes)
    if (start := _changelog_start(now, position, broken)) and start.snapshot_id not in after.snapshot_ids:
        reason = (
            f"a changelog read would fail, as the files that snapshot {changes[0].snapshot_id} removed may be gone "
            "with the snapshot before it; a read of appends goes on"
        )
        return ReaderOutcome(position, place, "breaks", reason, changes)
    if changes and position.use in STREAMS:
        return ReaderOutcome(position, place, "stops", f"Spark fails: {stream_error(changes[0])}", changes)
    passes = ", and it passes over what is no append" if changes else ""
    return ReaderOutcome(position, place, "goes on", f"all that it needs stays{passes}", changes)


def _changelog_start(now: HistoryLeft, position: ReaderPosition, needed: Sequence[Snapshot]) -> Snapshot | None:
    """The snapshot at which an incremental read stands, where it keeps files that a changelog read needs: those that
    the next snapshot removed."""
    own = position.snapshot_id
    removes = needed and whole(needed[-1].summary.get("deleted-data-files", "0"))
    is_needed = (
        position.use == "incremental read" and own in now.snapshot_ids and removes and other_changes(needed[-1:])
    )
    return now.metadata.snapshot(own) if is_needed and own is not None else None


def _unread(now: HistoryLeft, position: ReaderPosition, needed: Sequence[Snapshot]) -> list[Snapshot]:
    """The snapshots that a reader of changes still has to look at, oldest first; none of time travel. A stream looks at
    the one at which it stands, too."""
    if position.use == "time travel":
        return []
    if position.time_ms is not None:
        return [s for s in reversed(needed) if (s.timestamp_ms or 0) >= position.time_ms]
    is_new = position.snapshot_id in (None, WITHOUT_SNAPSHOT)
    return list(reversed(now.main if is_new and position.use in STREAMS else needed))


def _stands_at(metadata: TableMetadata, position: ReaderPosition) -> str:
    if position.snapshot_id == WITHOUT_SNAPSHOT:
        return "before the first snapshot"
    if position.time_ms is not None:
        return instant(position.time_ms)
    own = position.snapshot_id
    if position.ref is not None:
        own = next((ref.snapshot_id for ref in metadata.refs if ref.name == position.ref), None)
    return "" if own is None else snapshot_name(own, snapshot_ordinals(metadata))


def oldest_needed_ms(metadata: TableMetadata, positions: Iterable[ReaderPosition]) -> int | None:
    """Return the time of the oldest snapshot that readers need which go on now; None where they need none."""
    now = HistoryLeft.all_of(metadata)
    oldest: int | None = None
    for position in steps(list(positions), "readers"):
        needed = needed_snapshots(now, position)
        all_needed = [] if isinstance(needed, str) else [*needed, _changelog_start(now, position, needed)]
        times = [s.timestamp_ms for s in all_needed if s is not None and s.timestamp_ms is not None]
        oldest = min([*times, *([] if oldest is None else [oldest])], default=None)
    return oldest
