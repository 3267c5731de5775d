"""Whether something landed: a commit, an application, a query, a checkpoint, a staged write or a time range, by what
summaries record; and where its snapshots are now."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from explorer.model.metadata import Snapshot, TableMetadata
from explorer.spec.commits.costs import transaction_words
from explorer.spec.commits.kept_commits import kept_commits
from explorer.spec.snapshots.lineage import LineageEntry, LineagePlace, ancestry, lineage
from explorer.spec.snapshots.log_gaps import LogGaps, log_gaps
from explorer.spec.snapshots.snapshot_names import time_ms
from explorer.spec.text.names import first_of, shorten, snapshot_name, snapshot_ordinals
from explorer.spec.text.units import count, instant, parse_int64, whole

PLACES: Mapping[LineagePlace, str] = {
    "current": "in main", "ancestor": "in main", "cut off": "in main", "branch": "only on a branch or tag",
    "staged": "staged, not published", "abandoned": "rolled back", "detached": "in no branch or tag",
}  # fmt: skip
"""Where a snapshot is now, by its place in the lineage."""
LONG = 200
ANCESTORS = 10
"""Commits before a delete among which the one is looked for that took its files."""
CHANGED = re.compile(r"(?:added|removed|deleted)-|changed-partition-count$")
"""Keys of summaries that count what a commit changed."""


@dataclass(frozen=True)
class LandedSnapshot:
    """A snapshot that has what was asked for.

    Attributes:
        snapshot: Its name, such as snapshot-3.
        snapshot_id: Its id.
        where: Where it is now: one of PLACES.
        refs: Branches and tags that name it.
        why: What of it fits.
        notes: What the lineage says of it.
        timestamp_ms: When it was committed.
    """

    snapshot: str
    snapshot_id: int
    where: str
    refs: tuple[str, ...]
    why: str
    notes: tuple[str, ...]
    timestamp_ms: int | None


@dataclass(frozen=True)
class Landed:
    """The answer: the snapshots that fit, oldest first, and a sentence. `still_staged` names those of them that are
    staged and that no other snapshot published."""

    wanted: str
    snapshots: tuple[LandedSnapshot, ...]
    words: str
    still_staged: tuple[str, ...] = ()

    @property
    def in_main(self) -> bool:
        """Whether any of them is in main's history."""
        return any(one.where == "in main" for one in self.snapshots)

    @property
    def in_part(self) -> bool:
        """Whether some of them are in main's history and others are only staged."""
        return self.in_main and bool(self.still_staged)


def landed(metadata: TableMetadata, wanted: str, reasons: Mapping[int, str], gaps: LogGaps | None = None) -> Landed:
    """Say where snapshots are that something led to.

    Args:
        metadata: The table's.
        wanted: What was asked for, as a person wrote it.
        reasons: Why each snapshot fits, by its id.
        gaps: What older metadata files tell of main's history; None to go by this one alone.

    Returns:
        The answer. Where nothing fits it says what the table no longer knows.
    """
    gaps = gaps or log_gaps(metadata)
    entries = [entry for entry in lineage(metadata, gaps) if entry.snapshot_id in reasons]
    unknown = gaps.line.unknown
    snapshots = tuple(_landed(entry, reasons[entry.snapshot_id], entry.snapshot_id in unknown) for entry in entries)
    picked = {snapshot.summary.get("source-snapshot-id") for snapshot in metadata.snapshots}
    staged = (one for one in snapshots if one.where == PLACES["staged"] and str(one.snapshot_id) not in picked)
    still_staged = tuple(one.snapshot for one in staged)
    words = _words(metadata, shorten(wanted, LONG), snapshots, len(still_staged), unknown)
    return Landed(wanted, snapshots, words, still_staged)


def _landed(entry: LineageEntry, why: str, is_unknown: bool) -> LandedSnapshot:
    where = "on a branch or tag" if is_unknown and entry.kind == "branch" else PLACES[entry.kind]
    return LandedSnapshot(entry.snapshot, entry.snapshot_id, where, entry.refs, why, entry.notes, entry.timestamp_ms)


def matching_snapshots(metadata: TableMetadata, wanted: str) -> dict[int, str]:
    """Find the snapshots that have what a person asks for.

    Args:
        metadata: The table's.
        wanted: A snapshot's id or name, a value of a summary (an application, job, query, commit or WAP id),
            KEY=VALUE of one, or two times with `..` between them, in ISO 8601 and UTC.

    Returns:
        Why each fits, by snapshot id.
    """
    text = wanted.strip()
    first, between, last = text.partition("..")
    if between:
        try:
            begin, end = time_ms(first.strip(), end=False), time_ms(last.strip())
        except (ValueError, OverflowError):
            pass
        else:
            return {
                s.snapshot_id: f"it was committed at {instant(s.timestamp_ms)}"
                for s in metadata.snapshots
                if s.timestamp_ms is not None and begin <= s.timestamp_ms <= end
            }
    own_ids = {str(own): own for own in snapshot_ordinals(metadata)}
    own_ids |= {f"snapshot-{number}": own for own, number in snapshot_ordinals(metadata).items()}
    if text in own_ids:
        return {own_ids[text]: "it is this snapshot"}
    key, equals, value = text.partition("=")
    reasons: dict[int, str] = {}
    for snapshot in metadata.snapshots:
        if equals and snapshot.summary.get(key) == value:
            reasons[snapshot.snapshot_id] = f"its summary has {shorten(text, LONG)}"
        elif keys := [name for name, own in snapshot.summary.items() if own == text and not _is_amount(name)]:
            reasons[snapshot.snapshot_id] = f"its summary has this as {first_of(keys, 3)}"
    return reasons


def _is_amount(key: str) -> bool:
    """Whether a key of a summary counts something: a number that is asked for is no such amount."""
    return bool(re.match(r"(?:added|removed|deleted|total|changed|manifests|entries)-", key))


def _words(
    metadata: TableMetadata,
    wanted: str,
    snapshots: Sequence[LandedSnapshot],
    still_staged: int,
    unknown: Collection[int],
) -> str:
    if not snapshots:
        lost = "icedive doctor TABLE tells of metadata files whose commits were lost."
        kept = kept_commits(metadata)
        if kept is not None and kept.since_ms is None and kept.commits:
            none = f"No snapshot has {wanted!r}, and {kept.words}"
            if parse_int64(wanted) is not None or wanted.startswith("snapshot-"):
                none += ": as a snapshot it did not land"
            return f"{none}. What a write leaves that was refused, icedive doctor TABLE --files finds. {lost}"
        return f"No snapshot that is left has {wanted!r}. {_unknown(metadata)} {lost}"
    by_place: dict[str, list[str]] = {}
    for one in snapshots:
        by_place.setdefault(one.where, []).append(one.snapshot)
    found = "; ".join(f"{first_of(names, 5)}: {where}" for where, names in by_place.items())
    verdict = "It landed" if "in main" in by_place else "It is not in main's history"
    if verdict != "It landed" and any(one.snapshot_id in unknown for one in snapshots):
        verdict = "Whether it is in main's history is not known, since snapshots of main have expired"
    if still_staged and "in main" in by_place:
        verdict = f"It landed in part: {still_staged:,} of {len(snapshots):,} are staged alone"
    middle = transaction_words(metadata, snapshots[0].snapshot_id) if len(snapshots) == 1 else ""
    middle = middle and f" {middle[0].upper()}{middle[1:]}"
    return f"{verdict}. {found[0].upper()}{found[1:]}.{middle}{_empty_deletes(metadata, snapshots)}"


def _empty_deletes(metadata: TableMetadata, snapshots: Sequence[LandedSnapshot]) -> str:
    """Say which of the snapshots are deletes that removed nothing, by their summaries, and what may be the reason."""
    empty = [
        (one.snapshot, snapshot)
        for one in snapshots
        if (snapshot := metadata.snapshot(one.snapshot_id)) and snapshot.operation == "delete" and snapshot.summary
        and not any(CHANGED.match(name) and whole(amount) != 0 for name, amount in snapshot.summary.items())
    ]  # fmt: skip
    if not empty:
        return ""
    names = first_of([name for name, _ in empty], 5)
    which = "its summary the delete" if len(empty) == 1 else "their summaries the deletes"
    taken = what_took_its_files(metadata, empty[-1][1])
    again = f" {taken}: look whether its rows are there, and delete them again." if taken else ""
    return f" By {which} {names} removed nothing.{again}"


def what_took_its_files(metadata: TableMetadata, snapshot: Snapshot) -> str:
    """Say which commit before a delete that removed nothing may have taken its files.

    Args:
        metadata: The table's.
        snapshot: The delete.

    Returns:
        Sentences without the last full stop; empty where no commit before it removed data files.
    """
    before = ancestry(metadata, snapshot.parent_snapshot_id)[:ANCESTORS]
    replaced = next((one for own in before if (one := metadata.snapshot(own)) and _removed_files(one)), None)
    if replaced is None:
        return ""
    return (
        f"{snapshot_name(replaced.snapshot_id, snapshot_ordinals(metadata)).capitalize()} ({replaced.operation}) "
        "had removed data files before. A delete by file paths that began before that finds its files no more, and "
        "Iceberg does not refuse it (trinodb/trino#18393)"
    )


def _removed_files(snapshot: Snapshot) -> bool:
    return bool(whole(snapshot.summary.get("deleted-data-files")))


def _unknown(metadata: TableMetadata) -> str:
    """What nobody can tell, since snapshots have expired."""
    times = [s.timestamp_ms for s in metadata.snapshots if s.timestamp_ms is not None]
    newest = max((s.sequence_number or 0 for s in metadata.snapshots), default=0)
    gone = max(0, newest - len(metadata.snapshots))
    if not times:
        return "The table has no snapshots."
    since = f"The oldest snapshot that is left is of {instant(min(times), 'seconds')}."
    return f"{since} At least {count(gone, 'commit')} before are gone, and what they had." if gone else f"{since}"
