"""The lineage of a table: snapshots by parents, what was current when by the snapshot log, and where the two part."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from explorer.model.metadata import Snapshot, TableMetadata
from explorer.progress import steps
from explorer.spec.snapshots.ancestors import (
    Ancestors,
    Parents,
    parents_first,
    parents_of,
    reachable_snapshots,
    with_former_parents,
)
from explorer.spec.snapshots.log_gaps import LogGaps, log_gaps, shown_file
from explorer.spec.text.names import first_named, snapshot_name, snapshot_ordinals
from explorer.spec.text.units import instant, parse_int64

LineagePlace = Literal["current", "ancestor", "cut off", "branch", "staged", "abandoned", "detached"]
LEFT = "a rollback or a reset left it"
NOT_KNOWN = "whether the current snapshot descends from it is not known: snapshots between them may have expired"
BEGAN_ANEW = "the table was replaced (CREATE OR REPLACE), or a writer began anew"
FORGOTTEN = f"{BEGAN_ANEW}, or pyiceberg expired its parent"
MAX_CHAIN = 20
"""Snapshots of a circle that a sentence names."""
How = Literal["commit", "rollback", "fast-forward", "jump", "expired", "begins"]


@dataclass(frozen=True)
class LineageEntry:
    """One snapshot in the lineage. `kind` is current, ancestor (of the current one), cut off (an ancestor, from which a
    snapshot that has expired cuts off), branch (only on another branch or tag), staged (write-audit-publish, on no
    ref), abandoned (was current once, on no ref now) or detached. `notes` explain."""

    snapshot_id: int
    snapshot: str
    parent_snapshot_id: int | None
    parent: str | None
    timestamp_ms: int | None
    operation: str | None
    kind: LineagePlace
    refs: tuple[str, ...]
    became_current: tuple[int, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class LogEntry:
    """One change of the current snapshot. `how` it came to be (expired: its snapshot, or one between it and the one
    before, is gone, so nobody knows; begins: the log lacks what was current before), with the reason in words."""

    timestamp_ms: int
    snapshot_id: int
    snapshot: str
    how: How
    reason: str


def lineage(metadata: TableMetadata, gaps: LogGaps | None = None) -> list[LineageEntry]:
    """All snapshots, oldest first. A circle of parents is walked once. `gaps` is what is known of those that the
    snapshot log lacks; None to go by this metadata file alone."""
    gaps = gaps or log_gaps(metadata)
    ordinals = snapshot_ordinals(metadata)
    by_id = {s.snapshot_id: s for s in metadata.snapshots}
    on_main = set(_walk(by_id, metadata.current_snapshot_id))
    on_refs = reachable_snapshots(parents_of(metadata.snapshots), (ref.snapshot_id for ref in metadata.refs))
    replaced = _replaced(metadata)
    was_current: dict[int, list[int]] = {}
    for entry in metadata.snapshot_log:
        was_current.setdefault(entry.snapshot_id, []).append(entry.timestamp_ms)
    was_current |= {own: list(times) for own, times in gaps.lost.items()}
    refs: dict[int, list[str]] = {}
    for ref in metadata.refs:
        refs.setdefault(ref.snapshot_id, []).append(f"{ref.type} {ref.name}")
    result = []
    for number, snapshot in enumerate(steps(metadata.by_number, "snapshots"), 1):
        own = snapshot.snapshot_id
        summary, notes = snapshot.summary, []
        twin = ordinals[own] != number
        kind: LineagePlace
        if twin:
            kind = "detached"
            notes.append(f"it has the id of snapshot-{ordinals[own]}, which is taken for both: ids must be unique")
        elif own == metadata.current_snapshot_id:
            kind = "current"
        elif own in on_main:
            kind = "ancestor"
        elif own in gaps.line.cut_off:
            kind = "cut off"
            notes.append(
                "the current snapshot descends from it, but a snapshot between them has expired: rollback_to_snapshot "
                "refuses it, and set_current_snapshot goes to it"
            )
            notes += [] if own in on_refs else ["no ref leads to it"]
        elif own in on_refs:
            kind = "branch"
            notes += [NOT_KNOWN] if own in gaps.line.unknown else []
        elif own in was_current and own in gaps.line.unknown:
            kind = "detached"
            notes.append(f"it was current once, and no ref leads to it; {NOT_KNOWN}")
        elif own in was_current:
            kind = "abandoned"
            by = replaced.get(own)
            left = f"{snapshot_name(by.snapshot_id, ordinals)}, which has no parent, took its place" if by else LEFT
            notes.append(f"it was current once, but {left}, and no ref leads to it")
        elif "wap.id" in summary:
            kind = "staged"
        else:
            kind = "detached"
            known = "whether it was current is not known" if own in gaps.unknown else "it was never current"
            notes.append(f"no ref leads to it, and {known}")
            notes += [NOT_KNOWN] if own in gaps.line.unknown else []
        if own in gaps.lost:
            notes.append(f"it was current, by {shown_file(gaps.source)}: the snapshot log lacks it")
        elif own in gaps.with_later and kind == "ancestor":
            notes.append("one commit added it and a later one, so it was never current")
        if "wap.id" in summary:
            notes.append(f"staged for write-audit-publish as {summary['wap.id']!r}")
        if "published-wap-id" in summary:
            notes.append(f"publishes the staged write {summary['published-wap-id']!r}")
        if source := summary.get("source-snapshot-id"):
            picked = parse_int64(source)
            notes.append(f"cherry-picked from {source if picked is None else snapshot_name(picked, ordinals)}")
        parent = snapshot.parent_snapshot_id
        if parent is not None and parent not in by_id:
            notes.append(f"its parent {parent} has expired")
        name = None if parent is None else snapshot_name(parent, ordinals)
        times = () if twin else tuple(was_current.get(own, ()))
        result.append(
            LineageEntry(
                own, f"snapshot-{number}", parent, name, snapshot.timestamp_ms, snapshot.operation, kind,
                () if twin else tuple(sorted(refs.get(own, ()))), times, tuple(notes),
            )
        )  # fmt: skip
    return result


def _walk(by_id: Mapping[int, Snapshot], start: int | None) -> list[int]:
    walked: dict[int, None] = {}
    while start is not None and start in by_id and start not in walked:
        walked[start] = None
        start = by_id[start].parent_snapshot_id
    return list(walked)


def ancestry(metadata: TableMetadata, snapshot_id: int | None) -> list[int]:
    """A snapshot and its ancestors that are left, newest first; empty for None."""
    return _walk({s.snapshot_id: s for s in metadata.snapshots}, snapshot_id)


def parent_circle(metadata: TableMetadata, snapshot_id: int | None) -> tuple[int, ...]:
    """Return the snapshots through which the parents of a snapshot lead again and again.

    Args:
        metadata: The table's.
        snapshot_id: Where to begin; None for nowhere.

    Returns:
        Their ids, each the child of the next; empty where the parents end.
    """
    line = ancestry(metadata, snapshot_id)
    last = metadata.snapshot(line[-1]) if line else None
    parent = last.parent_snapshot_id if last else None
    return tuple(line[line.index(parent) :]) if parent in line else ()


def circle_words(metadata: TableMetadata, snapshot_id: int | None, name: str) -> str:
    """Say that the parents of a snapshot run in a circle, which Iceberg follows without end.

    Args:
        metadata: The table's.
        snapshot_id: Where to begin.
        name: What stands for that snapshot in the sentence: a branch, say.

    Returns:
        A sentence; empty where the parents end.
    """
    circle = parent_circle(metadata, snapshot_id)
    if not circle:
        return ""
    ordinals = snapshot_ordinals(metadata)
    chain = " -> ".join(snapshot_name(i, ordinals) for i in (*circle[:MAX_CHAIN], circle[0]))
    return (
        f"Do not run this: the parents of {name} run in a circle ({chain}). Iceberg follows them until its memory is "
        "full."
    )


def newer(metadata: TableMetadata, one: Snapshot | None, other: Snapshot | None) -> Snapshot | None:
    """Which of two snapshots was made later; the other one for None. Lineage decides, then the sequence number, which
    v1 does not have (0), then when each became current last, their times, and their order in the metadata file."""
    if one is None or other is None:
        return one or other
    first, second = one.snapshot_id, other.snapshot_id
    for descendant, ancestor in ((one, second), (other, first)):
        if ancestor in ancestry(metadata, descendant.snapshot_id):
            return descendant
    logged = {entry.snapshot_id: i for i, entry in enumerate(metadata.snapshot_log)}
    order = {s.snapshot_id: i for i, s in enumerate(metadata.snapshots)}

    def age(snapshot: Snapshot) -> tuple[int, ...]:
        own = snapshot.snapshot_id
        both = first in logged and second in logged
        return snapshot.sequence_number, logged[own] if both else 0, snapshot.timestamp_ms or 0, order.get(own, 0)

    return max(one, other, key=age)


def _with_missing_ancestor(by_id: Mapping[int, Snapshot], former: Parents) -> set[int]:
    """The snapshots that have an ancestor whose parent has expired and is not known from older metadata files."""
    broken: set[int] = set()
    parents = with_former_parents(by_id.values(), former)
    for own in parents_first(parents):
        parent = parents[own]
        named = by_id[own].parent_snapshot_id if own in by_id else None
        if parent in broken or (parent is None and (named or former.get(own)) is not None):
            broken.add(own)
    return broken


def _replaced(metadata: TableMetadata) -> dict[int, Snapshot]:
    """Snapshots that were left when a newer one without a parent became current, with that one."""
    by_id, parents = {s.snapshot_id: s for s in metadata.snapshots}, parents_of(metadata.snapshots)
    ordinals = snapshot_ordinals(metadata)
    replaced: dict[int, Snapshot] = {}
    previous: int | None = None
    for entry in metadata.snapshot_log:
        own = entry.snapshot_id
        is_newer = previous is not None and ordinals.get(own, 0) > ordinals.get(previous, 0)
        if is_newer and own in by_id and by_id[own].parent_snapshot_id is None:
            at: int | None = previous
            while at is not None and at not in replaced:
                replaced[at] = by_id[own]
                at = parents.get(at)
        previous = own
    return replaced


def _beginning(metadata: TableMetadata, own: int, gaps: LogGaps) -> tuple[How, str]:
    """How the first line of the snapshot log came about, and why."""
    ordinals = snapshot_ordinals(metadata)
    name, snapshot = snapshot_name(own, ordinals), metadata.snapshot(own)
    if snapshot is None:
        return "expired", f"{own} has expired since"
    former = Ancestors(metadata.snapshots, gaps.former_parents)
    before = [*ancestry(metadata, own)[1:], *(i for i in gaps.line.cut_off if i != own and former.has(own, i))]
    parent = gaps.former_parents.get(own) if snapshot.parent_snapshot_id is None else snapshot.parent_snapshot_id
    if parent is None:
        return "commit", f"{name} was committed on top of nothing"
    if not before:
        return "commit", f"the log begins with {name}, whose parent has expired"
    if lost := [i for i in before if i in gaps.lost]:
        are = "were" if len(lost) > 1 else "was"
        names = first_named(lost, lambda i: snapshot_name(i, ordinals), between=" and ")
        return "begins", f"the log begins with {name}, though {names} {are} current before: {gaps.taken_words()}"
    if set(before) <= gaps.with_later | gaps.beside:
        return "fast-forward", f"{name} has ancestors that were never current: several commits became current at once"
    return "begins", f"the log begins with {name}, and does not say what was current before, though the parent is there"


def current_log(metadata: TableMetadata, gaps: LogGaps | None = None) -> list[LogEntry]:
    """The snapshot log with, for each change, how it came about: by lineage or against it. `gaps` is as for lineage."""
    gaps = gaps or log_gaps(metadata)
    ordinals = snapshot_ordinals(metadata)
    by_id = {s.snapshot_id: s for s in metadata.snapshots}
    twice = Counter(s.snapshot_id for s in metadata.snapshots)
    ancestors, former = Ancestors(metadata.snapshots), Ancestors(metadata.snapshots, gaps.former_parents)
    broken = _with_missing_ancestor(by_id, gaps.former_parents)
    result: list[LogEntry] = []
    previous: int | None = None
    later: list[int] = []  # times of lines that no line after them has reached
    for entry in steps(metadata.snapshot_log, "lines of the log"):
        own = entry.snapshot_id
        name, before = snapshot_name(own, ordinals), snapshot_name(previous, ordinals)
        snapshot = by_id.get(own)
        how: How
        if previous == own and twice[own] > 1:
            how, reason = "commit", f"another snapshot with the id {own} was committed: ids must be unique"
        elif previous == own:
            how, reason = "jump", f"{name} was current before, too"
        elif previous is None:
            how, reason = _beginning(metadata, own, gaps)
        elif snapshot and snapshot.parent_snapshot_id == previous:
            how, reason = "commit", f"{name} was committed on top of {before}"
        elif snapshot is None:
            how, reason = "expired", f"{own} has expired since"
        elif ancestors.has(previous, own):
            how, reason = "rollback", f"the table went back from {before} to its ancestor {name}"
        elif ancestors.has(own, previous):
            how, reason = "fast-forward", f"{name} descends from {before}: several commits became current at once"
        elif former.has(previous, own):
            how, reason = "rollback", f"the table went back from {before} to its ancestor {name}"
        elif former.has(own, previous):
            how, reason = "expired", f"{name} descends from {before}, and what came between has expired"
        elif own in broken and ordinals.get(previous, 0) < ordinals[own]:
            how, reason = "expired", f"whether {name} descends from {before} is not known: an ancestor has expired"
        elif previous in broken and ordinals[own] < ordinals.get(previous, 0):
            reason = f"{name} was set by hand: whether {before} descends from it is not known, since ancestors have"
            how, reason = "jump", f"{reason} expired"
        elif snapshot.parent_snapshot_id is None and ordinals[own] > ordinals.get(previous, 0):
            is_known = own in gaps.former_parents or ordinals[own] - ordinals.get(previous, 0) == (
                snapshot.sequence_number - (by_id[previous].sequence_number if previous in by_id else 0)
            )
            how, reason = "jump", f"{name} has no parent: {BEGAN_ANEW if is_known else FORGOTTEN}"
        else:
            how, reason = "jump", f"{name} does not descend from {before}: set by hand, or from another branch"
        while later and later[-1] <= entry.timestamp_ms:
            later.pop()
        if later:
            reason += f" (out of order: an earlier line of the log says {instant(later[-1])})"
        later.append(entry.timestamp_ms)
        result.append(LogEntry(entry.timestamp_ms, own, name, how, reason))
        previous = own
    return result
