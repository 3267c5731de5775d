"""Which snapshot a person means: by id, branch or tag, short name, or point in time (spec: "Point in Time Reads")."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from dataclasses import dataclass

from explorer.errors import NotFoundInTable
from explorer.model.metadata import Snapshot, TableMetadata
from explorer.spec.snapshots.log_gaps import LogGaps, log_gaps, shown_file
from explorer.spec.text.names import first_of, snapshot_name, snapshot_ordinals
from explorer.spec.text.units import instant, parse_int64


@dataclass(frozen=True)
class Resolved:
    """A snapshot and, in words, why it is the one that was meant."""

    snapshot: Snapshot
    reason: str


def _last(metadata: TableMetadata) -> str:
    """The name of the newest snapshot."""
    ordinals = snapshot_ordinals(metadata)
    return max((f"snapshot-{n}" for n in ordinals.values()), key=lambda name: int(name.rpartition("-")[2]))


def without_current(metadata: TableMetadata) -> str:
    """Say of a table that has snapshots, but none that is current, what there is; empty of any other table."""
    if metadata.current_snapshot_id is not None or not metadata.snapshots:
        return ""
    last, number = _last(metadata), len(metadata.snapshots)
    there = f"one snapshot, {last}" if number == 1 else f"{number:,} snapshots, the last of them {last}"
    has_main = any(ref.name == "main" and ref.raw for ref in metadata.refs)
    effect = "Iceberg Java refuses it, as main has one, and others see no rows" if has_main else "readers see no rows"
    return f"the table has no current snapshot, so that {effect}; its metadata has {there}: name it to ask about it"


def resolve_snapshot(
    metadata: TableMetadata, wanted: str | int | None = None, gaps: Callable[[], LogGaps] | None = None
) -> Resolved:
    """Find a snapshot by id, branch or tag, `snapshot-3` (as shown), or timestamp (ISO 8601, or milliseconds).

    A time without a zone is UTC, and a date stands for its end: what that day left. Time travel goes by the snapshot
    log, not by parents: the answer is what was current then. None means the current snapshot. `gaps` tells what older
    metadata files have of a time before the log. Raises NotFoundInTable saying what there is instead."""
    if wanted is None:
        if metadata.current_snapshot is None:
            raise NotFoundInTable(
                "the table has no current snapshot: nothing was committed yet"
                if not metadata.snapshots
                else f"the table has no current snapshot; of those that are left name one, such as {_last(metadata)}"
            )
        return Resolved(metadata.current_snapshot, "the current snapshot")
    text = str(wanted).strip()
    for ref in metadata.refs:
        if ref.name == text:
            return Resolved(_require(metadata, ref.snapshot_id, f"{ref.type} {text}"), f"{ref.type} {text}")
    by_name = {f"snapshot-{n}": i for i, n in snapshot_ordinals(metadata).items()}
    if text in by_name:
        return Resolved(_require(metadata, by_name[text], text), f"number {text[9:]} of this table's snapshots")
    if text in (twins := {f"snapshot-{n}": s for n, s in enumerate(metadata.by_number, 1)}):
        own = twins[text].snapshot_id
        raise NotFoundInTable(
            f"{text} has the id {own}, as snapshot-{metadata.ordinals[own]} has, so that nobody can ask for it: ids of "
            "snapshots must be unique (Iceberg Java refuses the table)"
        )
    if (number := parse_int64(text)) is not None:
        if snapshot := metadata.snapshot(number):
            return Resolved(snapshot, "that snapshot id")
        if 12 <= len(text) <= 13:
            return _at(metadata, number, gaps)
        raise NotFoundInTable(f"snapshot {text} not found; it may have expired")
    try:
        moment = time_ms(text)
    except (ValueError, OverflowError):
        names = first_of([r.name for r in metadata.refs]) or "none"
        raise NotFoundInTable(
            f"{text!r} is no snapshot id, branch, tag, ISO 8601 timestamp or number of a snapshot, such as "
            f"snapshot-{max(1, len(metadata.snapshots))} (branches and tags: {names})"
        ) from None
    return _at(metadata, moment, gaps)


def time_ms(text: str, end: bool = True) -> int:
    """Milliseconds since 1970 of a time in ISO 8601, UTC where it has no zone. A date stands for its `end`, or else its
    beginning. Raises ValueError or OverflowError for what is none."""
    moment = datetime.datetime.fromisoformat(text.replace("Z", "+00:00").replace(" UTC", "+00:00"))
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=datetime.timezone.utc)
    if end and len(text) <= len("2026-11-22"):
        moment += datetime.timedelta(days=1, milliseconds=-1)
    return int(moment.timestamp() * 1000)


NOTHING = "none"


def find_side(name: str, metadata: TableMetadata) -> str | None:
    """What a person means by a side of a comparison: "none" is the table before its first snapshot, unless a branch or
    tag is called so."""
    return None if name == NOTHING and all(ref.name != NOTHING for ref in metadata.refs) else name


def _require(metadata: TableMetadata, snapshot_id: int, name: str) -> Snapshot:
    snapshot = metadata.snapshot(snapshot_id)
    if snapshot is None:
        raise NotFoundInTable(
            f"{name} points to snapshot {snapshot_id}, which is not in the metadata: it has expired, or the ref dangles"
        )
    return snapshot


def _before_log(metadata: TableMetadata, timestamp_ms: int, begins: int, gaps: LogGaps) -> str:
    """Why a time before the first line of the snapshot log leads to no snapshot."""
    ordinals, then = snapshot_ordinals(metadata), instant(timestamp_ms)
    begin = f"the snapshot log begins {instant(begins)}"
    lines = [entry for entry in gaps.former_log if entry.timestamp_ms <= timestamp_ms]
    if lines:
        own = max(lines, key=lambda entry: entry.timestamp_ms).snapshot_id
        told = f"{begin}. By {shown_file(gaps.source)}"
        if metadata.snapshot(own) is None:
            return f"{told} snapshot {own} was current at {then}, which has expired"
        return f"{told} {snapshot_name(own, ordinals)} was current at {then}: name it, or its id, in place of the time"
    maybe = [own for own in gaps.line.unknown if own in gaps.unknown or own in gaps.lost]
    left = [s for own in (*gaps.line.kept, *maybe) if (s := metadata.snapshot(own)) and s.timestamp_ms is not None]
    of_then = [s for s in left if (s.timestamp_ms or 0) <= timestamp_ms]
    if of_then:
        newest = max(of_then, key=lambda s: s.timestamp_ms or 0)
        what = (
            "snapshot that is left" if newest.snapshot_id in gaps.line.unknown else "ancestor of the current snapshot"
        )
        return (
            f"{begin}, and does not say what was current at {then}. The newest {what} from then is "
            f"{snapshot_name(newest.snapshot_id, ordinals)}, of {instant(newest.timestamp_ms)}, and may have been: "
            "name it, or its id, in place of the time"
        )
    first = metadata.snapshot(min(metadata.snapshot_log, key=lambda e: e.timestamp_ms).snapshot_id)
    is_first = any(s.sequence_number == 1 and s.snapshot_id in gaps.line.kept for s in metadata.snapshots)
    parent = first.parent_snapshot_id if first else None
    if not is_first and (first is None or (parent is not None and parent not in gaps.line.linked)):
        return f"{begin}: what was current at {then} has expired"
    return f"no snapshot was current at {then}; {begin}"


def _at(metadata: TableMetadata, timestamp_ms: int, gaps: Callable[[], LogGaps] | None) -> Resolved:
    entries = [e for e in metadata.snapshot_log if e.timestamp_ms <= timestamp_ms]
    if not entries:
        first = min((e.timestamp_ms for e in metadata.snapshot_log), default=None)
        if first is None:
            raise NotFoundInTable(
                f"no snapshot was current at {instant(timestamp_ms)}, as far as is known: the metadata has no "
                "snapshot-log, which the spec allows and some readers need. A commit of Iceberg Java writes one"
            )
        known = gaps() if gaps else log_gaps(metadata)
        raise NotFoundInTable(_before_log(metadata, timestamp_ms, first, known))
    entry = max(entries, key=lambda e: e.timestamp_ms)
    reason = (
        f"it became current at {instant(entry.timestamp_ms)}, the last change of the snapshot log not after "
        f"{instant(timestamp_ms)}"
    )
    return Resolved(_require(metadata, entry.snapshot_id, f"the snapshot log at {instant(timestamp_ms)}"), reason)
