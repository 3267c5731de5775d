"""Snapshots that the table has and its snapshot log lacks: which were current once, and which never were."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from explorer.model.metadata import Snapshot, SnapshotLogEntry, TableMetadata
from explorer.spec.commits.costs import committed_with_later, metadata_files
from explorer.spec.snapshots.main_line import NO_LINE, MainLine, began_anew, main_line
from explorer.spec.text.names import base_name, metadata_name
from explorer.spec.text.units import instant

ReadOlder = Callable[[Sequence[str]], "Iterable[TableMetadata | None]"]
"""Older metadata files by their paths, in that order; None for one that cannot be read. Of a store they are fetched
together."""
FILES_ASKED = 10
"""Older metadata files that are asked what was current, the newest first."""


@dataclass(frozen=True)
class LogGaps:
    """The snapshots that the snapshot log lacks, by what is known of them.

    Attributes:
        lost: Those that an older metadata file has in its log, or as its current snapshot, with the times when they
            became current.
        with_later: Those that were never current, since one commit added them and a later one of their line.
        beside: Those that were never current by the metadata file of their commit, or since the log covers their time.
        unknown: All others: the log begins after them, and no older metadata file is at hand.
        source: The newest older metadata file that was found to have lines which this one lacks; empty for none.
        taken_by: The metadata file whose commit took the lines out; empty where that is not known, or no file had them.
        is_expiry: Whether a snapshot that has expired stood behind the lines: Iceberg drops all lines before it then.
        former_log: The snapshot log of `source`, where it has lines that this one lacks.
        former_parents: The parents of snapshots as older metadata files have them, also of those that have expired.
        line: The ancestors of the current snapshot, as far as these parents lead.
    """

    lost: Mapping[int, tuple[int, ...]]
    with_later: frozenset[int]
    beside: frozenset[int]
    unknown: frozenset[int]
    source: str = ""
    taken_by: str = ""
    is_expiry: bool = False
    former_log: Sequence[SnapshotLogEntry] = ()
    former_parents: Mapping[int, int | None] = field(default_factory=dict)
    line: MainLine = NO_LINE

    def taken_words(self) -> str:
        """How the lines were lost, in words; empty where none were."""
        if not self.source:
            return ""
        if not self.taken_by:
            return f"{shown_file(self.source)} tells so"
        told = f"{shown_file(self.source)} has them"
        by = shown_file(self.taken_by)
        why = "a snapshot between them expired, and Iceberg drops all lines before that one" if self.is_expiry else ""
        return f"{told}, and {by} does not{f': {why}' if why else ''}"


def shown_file(path: str) -> str:
    """A metadata file's name as it is shown."""
    return metadata_name(path) or base_name(path)


def log_gaps(metadata: TableMetadata, older: ReadOlder | None = None) -> LogGaps:
    """Tell the snapshots apart that the snapshot log lacks.

    Args:
        metadata: The table's.
        older: What reads older metadata files; None to go by this one alone.

    Returns:
        What is known of each of these snapshots.
    """
    logged = {entry.snapshot_id for entry in metadata.snapshot_log}
    absent = {s.snapshot_id: s for s in metadata.snapshots if s.snapshot_id not in logged}
    absent.pop(metadata.current_snapshot_id or 0, None)
    together = committed_with_later(metadata) & absent.keys()
    begins = log_begins(metadata)
    lost: dict[int, tuple[int, ...]] = {}
    beside: set[int] = set()
    sources: list[str] = []
    former: dict[int, int | None] = {}
    files = {own: path for own, path in metadata_files(metadata).items() if path != metadata.metadata_location}
    older = _noting_parents(older, former) if older is not None else None
    if older is not None and absent.keys() - together:
        by_age = sorted(absent.keys() - together, key=lambda i: -(absent[i].timestamp_ms or 0))
        newest_first = [own for own in by_age if own in files]
        # of a log that was lost the newest file has all lines: the others are asked for where it does not
        for some, most in ((newest_first[:1], 1), (newest_first[1:], FILES_ASKED - 1)):
            asked = [own for own in some if own not in lost][:most]
            for own, then in zip(asked, older([files[own] for own in asked]), strict=True):
                if then is None:
                    continue
                found = _current_once(then, absent)
                if found.keys() - lost.keys():
                    sources.append(files[own])
                lost = found | lost
                if own not in lost:
                    beside.add(own)
                if lost.keys() | beside >= set(asked):
                    break
    left = absent.keys() - together - lost.keys() - beside
    covered = {i for i in left if begins is not None and (absent[i].timestamp_ms or 0) >= begins}
    unknown = frozenset(left - covered)
    gaps = LogGaps(lost, together, frozenset(beside | covered), unknown, former_parents=former)
    if lost and older is not None:
        newest = max(lost, key=lambda i: max(lost[i]))
        source, taken_by, is_expiry, log = _when_taken(metadata, newest, sources[0], older)
        gaps = replace(gaps, source=source, taken_by=taken_by, is_expiry=is_expiry, former_log=log)
    return replace(gaps, line=_line(metadata, files, former, older))


def _noting_parents(older: ReadOlder, former: dict[int, int | None]) -> ReadOlder:
    """Read older metadata files, and note which parents they have."""

    def read(paths: Sequence[str]) -> Iterator[TableMetadata | None]:
        for file in older(paths):
            for snapshot in file.snapshots if file else ():
                own, parent = snapshot.snapshot_id, snapshot.parent_snapshot_id
                if parent is not None:
                    former[own] = parent
                elif file and (file.last_updated_ms == snapshot.timestamp_ms or began_anew(file, own)):
                    former.setdefault(
                        own, None
                    )  # by the file of its commit: pyiceberg forgets a parent that it expires
            yield file

    return read


def _line(
    metadata: TableMetadata, files: Mapping[int, str], former: Mapping[int, int | None], older: ReadOlder | None
) -> MainLine:
    """The ancestors of the current snapshot. The metadata file of the commit after an expired one has its parents."""
    asked: set[str] = set()
    while True:
        line = main_line(metadata, former)
        file = next((files[own] for own in reversed(line.kept) if own in files), None)
        if older is None or not line.unknown or file is None or file in asked or len(asked) == FILES_ASKED:
            return line
        asked.add(file)
        list(older([file]))


def log_begins(metadata: TableMetadata) -> int | None:
    """The earliest time of the snapshot log; None where it has no line."""
    return min((entry.timestamp_ms for entry in metadata.snapshot_log), default=None)


def _current_once(then: TableMetadata, absent: Mapping[int, Snapshot]) -> dict[int, tuple[int, ...]]:
    """Of these snapshots those that were current by an older metadata file, with the times."""
    found: dict[int, tuple[int, ...]] = {}
    for entry in then.snapshot_log:
        if entry.snapshot_id in absent:
            found[entry.snapshot_id] = (*found.get(entry.snapshot_id, ()), entry.timestamp_ms)
    current = then.current_snapshot_id
    if current in absent and current not in found and current is not None:
        found[current] = (absent[current].timestamp_ms or then.last_updated_ms or 0,)
    return found


def _when_taken(
    metadata: TableMetadata, lost: int, source: str, older: ReadOlder
) -> tuple[str, str, bool, Sequence[SnapshotLogEntry]]:
    """The last metadata file that has a line of the log, the first that lacks it, whether a snapshot behind it has
    expired, and the log of the former. Files are halved between one that has it and the current one, which lacks it."""
    paths = [*(entry.metadata_file for entry in metadata.metadata_log), metadata.metadata_location]
    low, high = paths.index(source), len(paths) - 1
    [with_line] = older([source])
    if with_line is None or all(entry.snapshot_id != lost for entry in with_line.snapshot_log):
        return source, "", False, ()  # its writer had no line either
    while high - low > 1:
        middle = (low + high) // 2
        [file] = older([paths[middle]])
        if file is None:
            return source, "", False, ()
        if any(entry.snapshot_id == lost for entry in file.snapshot_log):
            low, with_line = middle, file
        else:
            high = middle
    log = with_line.snapshot_log
    at = max((i for i, entry in enumerate(log) if entry.snapshot_id == lost), default=len(log))
    is_expiry = any(metadata.snapshot(entry.snapshot_id) is None for entry in log[at:])
    return paths[low], paths[high], is_expiry, log


def became_current_words(metadata: TableMetadata, snapshot_id: int, gaps: LogGaps) -> str:
    """When a snapshot became current that the snapshot log lacks, or why that is not known."""
    begins = log_begins(metadata)
    if times := gaps.lost.get(snapshot_id):
        at = ", ".join(map(instant, times))
        return f"{at}, by {shown_file(gaps.source)}: the snapshot log lacks it"
    if snapshot_id in gaps.with_later:
        return "never: one commit added it and a later one of its line"
    if snapshot_id in gaps.beside:
        if snapshot_id in gaps.line.unknown:
            return "never"
        is_ancestor = snapshot_id in gaps.line.kept
        return "never: a later one of its line became current" if is_ancestor else "never: staged, or on a branch only"
    if begins is None:
        return "not known: the metadata has no snapshot log"
    return f"not known: the snapshot log begins {instant(begins)}"
