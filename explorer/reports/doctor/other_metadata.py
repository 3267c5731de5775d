"""What lies beside the files that a table names: other metadata files of one version, other tables, and lists of other
attempts."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

from explorer.errors import ExplorerError, UnreadableFile
from explorer.model.metadata import Snapshot, TableMetadata
from explorer.progress import steps
from explorer.queries.unnamed_commits import find_unnamed_commits
from explorer.spec.commits.uncommitted_files import YOUNG
from explorer.spec.commits.unnamed_commits import is_of_folder
from explorer.spec.doctor.findings import Finding, finding
from explorer.spec.doctor.remedy_cases import BEGUN_ANEW, NOT_IN_TABLE, OTHER_TABLE
from explorer.spec.doctor.remedy_parts import unnamed_commit_recovery
from explorer.spec.snapshots.branches import NO_BRANCH, branch_of_each
from explorer.spec.snapshots.log_gaps import log_begins
from explorer.spec.text.names import NOWHERE, ONE_WORD, base_name, first_of, in_sql
from explorer.spec.text.units import count, instant
from explorer.storage.folder_state import METADATA_NAME, RULE, metadata_version
from explorer.storage.reader import read_metadata
from explorer.table import Table

TRIED = 20
"""Other metadata files that are read."""
_ZERO = re.compile(r"v0(?:\.gz)?\.metadata\.json(?:\.gz)?")
_VERSION = re.compile(r"(\d{5,})-[^/]*\.metadata\.json(?:\.gz)?|(\d{5,})-[^/]*\.gz\.metadata\.json")


def fork_rules(table: Table) -> Iterator[Finding]:
    """Rule 69: a second metadata file of one version, with a snapshot that the table does not have. Rule 73: one of
    another table, where the way in which this one was opened says nothing of it."""
    meta, strange = table.metadata, list[TableMetadata]()
    folder = meta.metadata_location.rpartition("/")[0]
    own_names = {
        path.rpartition("/")[2] for path in (meta.metadata_location, *(e.metadata_file for e in meta.metadata_log))
    }
    versions = {number: name for name in own_names if (number := _version(name)) is not None}
    unknown = [name for name in names_in(table, folder) if name not in own_names]
    numbers = {name: number for name in unknown if (number := _version(name)) is not None}
    times, last = Counter(numbers.values()), max(versions, default=0)
    some = [name for name, number in numbers.items() if number in versions or times[number] > 1 or number > last]
    for name in steps(sorted(some, reverse=True)[:TRIED], "metadata files"):
        try:
            other, _ = read_metadata(table.reader.storage, f"{folder}/{name}")
        except UnreadableFile:
            continue
        twin = versions.get(numbers[name])
        if other.table_uuid != meta.table_uuid:
            strange += [other] if other.table_uuid else []
        elif twin:
            own, columns = _new_snapshots(other, meta), lost_columns(other, meta)
            if own or columns:
                yield _fork(meta, other, own, columns, twin)
    if strange and not any(problem.rule == RULE for problem in table.problems):
        yield _other_table(meta, strange)


def _other_table(meta: TableMetadata, strange: Sequence[TableMetadata]) -> Finding:
    """Another table in the folder: a warning where its metadata is not all older than this table's."""
    newest = max(strange, key=lambda other: other.last_updated_ms or 0)
    times = [*(entry.timestamp_ms for entry in meta.metadata_log), *(s.timestamp_ms for s in meta.snapshots)]
    began = min([time for time in times if time is not None], default=meta.last_updated_ms or 0)
    is_older = (newest.last_updated_ms or 0) < began
    began_then = (
        "before this one began: it was dropped without its files, or renamed, and this one was created"
        if is_older
        else "after this one began: one of them was renamed, and the other created"
    )
    when = f"{began_then} in its place, or two tables have one location"
    return finding(
        "metadata-choice",
        f"{OTHER_TABLE} has the UUID {newest.table_uuid}, and wrote its newest metadata file {when}. To "
        "remove_orphan_files the files of each are orphans of the other (#7052)",
        newest.metadata_location,
        "/table-uuid",
        found=newest.table_uuid,
        expected=meta.table_uuid,
        count=len(strange),
        examples=tuple(other.metadata_location for other in strange[:3]),
        node=("metadata", meta.metadata_location),
        severity="info" if is_older else "warning",
    )


def unnamed_rules(table: Table, not_checked: list[str]) -> Iterator[Finding]:
    """Rule 77: manifest lists beside the metadata of commits that the table does not have."""
    meta, tree = table.metadata, table.tree
    found = find_unnamed_commits(tree)
    if found.unread:
        not_checked.append(f"{count(found.unread, 'manifest list')} that no metadata names, the oldest")
    if found.late:
        not_checked.append(f"{count(len(found.late), 'manifest list')} that no metadata names: what is {YOUNG}")
    for is_pyiceberg in (False, True):
        commits = [commit for commit in found.commits if commit.is_pyiceberg == is_pyiceberg]
        if not commits:
            continue
        newest = commits[-1]
        others = f"{count(len(commits), 'such commit')}, the newest: " if len(commits) > 1 else ""
        files = [path for commit in commits for path in commit.added_files or ()]
        own = [*tree.sizes(files)]  # no file of another table's folder becomes one of this table
        current = meta.current_snapshot
        is_readable = current is None or current.manifest_list not in tree.unreadable
        yield finding(
            "commit-unnamed",
            f"{others}{newest.words(meta)}",
            newest.listed.path,
            found=newest.listed.snapshot_id,
            count=len(commits),
            examples=tuple(files[:3]),
            node=("metadata", meta.metadata_location),
            remedy=unnamed_commit_recovery(
                *(NOWHERE if "/" in table.name else in_sql(table.name)), own, is_readable, is_of_folder(meta)
            ),
            **({"severity": "info"} if is_pyiceberg else {}),
        )


def log_rules(table: Table) -> Iterator[Finding]:
    """Of rule 20: versions that the metadata log leaves out between two others."""
    meta = table.metadata
    paths = [*(e.metadata_file for e in meta.metadata_log), meta.metadata_location]
    versions = [(path, number) for path in paths if (number := metadata_version(path)) is not None]
    pairs = list(pairwise(versions))
    if 2 * sum(there - here == 1 for (_, here), (_, there) in pairs) < len(pairs):
        return  # these writers do not number from one to the next
    left_out = [(one, other) for one, other in pairs if other[1] - one[1] > 1]
    if not left_out:
        return
    (before, first), (after, last) = left_out[0]
    skipped = {v for (_, one), (_, other) in left_out for v in range(one + 1, min(other, one + 1 + TRIED))}
    folder, own = meta.metadata_location.rpartition("/")[0], {path.rpartition("/")[2] for path in paths}
    there = sorted(n for n in names_in(table, folder) if metadata_version(n) in skipped and n not in own)
    left, lost = _what_is_left(table, [f"{folder}/{name}" for name in there])
    which = f"version {first + 1} is" if last - first == 2 else f"versions {first + 1} to {last - 1} are"
    words = f"the metadata log goes from version {first} to version {last}: {which} not in it{left}"
    words += _between(table, before, after)
    why = "A writer did not record the file that it began from (older pyiceberg did not)"
    if lost:
        why = f"By the log the writer of version {last} began from version {first}, and did not know what came between"
    else:
        words += ". Readers do not go by these numbers, and no row is affected by this"
    yield finding(
        "metadata-log-file-missing",
        f"{words}. {why}, or somebody took the line out. Iceberg never deletes a metadata file that is not in the "
        "log; remove_orphan_files does",
        meta.metadata_location,
        "/metadata-log",
        found=last,
        expected=first + 1,
        count=sum(other - one - 1 for (_, one), (_, other) in left_out),
        examples=tuple(f"{folder}/{name}" for name in there[:3]),
        node=("metadata", meta.metadata_location),
        **({"severity": "warning"} if lost else {}),
    )


def log_gap_rules(table: Table) -> Iterator[Finding]:
    """Rule 78: ancestors of the current snapshot that were current, and that the snapshot log lacks; also snapshots of
    which an expiry hides whether they are ancestors."""
    meta, gaps, begins = table.metadata, table.log_gaps, log_begins(table.metadata)
    of_branches, named = branch_of_each(meta), {ref.snapshot_id for ref in meta.refs}
    candidates = (s for s in reversed(meta.by_number) if s.snapshot_id in gaps.line.unknown - named)
    beside = [
        s.snapshot_id for s in candidates if of_branches[s.snapshot_id] == NO_BRANCH and "wap.id" not in s.summary
    ]
    line = [*gaps.line.kept[1:], *beside]
    lost = [own for own in line if own in gaps.lost]
    unknown = [own for own in line if own in gaps.unknown]
    if not (lost or unknown) or (begins is None and not gaps.taken_by):  # the log is optional
        return
    found = lost or unknown
    are_ancestors = gaps.line.unknown.isdisjoint(found)
    those = (
        f"{count(len(found), 'ancestor')} of the current snapshot" if are_ancestors else count(len(found), "snapshot")
    )
    current = ("were current" if len(found) > 1 else "was current") if lost else "may have been current"
    at = [gaps.lost[own][-1] for own in lost]
    more = f" {len(unknown):,} older ones may have been current too." if lost and unknown else ""
    told = gaps.taken_words() if lost else "no older metadata file is at hand that tells"
    fails = "a time fails" if begins is None else f"a time before {instant(begins)} fails"
    if at and begins is not None and max(at) > begins:
        fails = "a time when one of them was current leads to an earlier snapshot, or fails"
    yield finding(
        "log-incomplete",
        f"{those} {current}, and {'have' if len(found) > 1 else 'has'} no line in the snapshot log: {told}.{more} "
        f"No row is lost. Time travel to {fails} ('Cannot find a snapshot older than'); by a snapshot's id or a tag it "
        "works. Iceberg 0.14.0 erased the log in each transaction of several operations (#5442), and an expiry drops "
        "what stands before the line of a snapshot that goes",
        meta.metadata_location,
        "/snapshot-log",
        found=len(meta.snapshot_log),
        count=len(found),
        snapshots=tuple(found),
        node=("metadata", meta.metadata_location),
        **({} if lost and not gaps.is_expiry else {"severity": "info"}),
    )


def beginning_rules(table: Table) -> Iterator[Finding]:
    """Of rule 20: a metadata file that tells of no earlier one, though the table is older or its name is no first
    one."""
    meta = table.metadata
    if meta.metadata_log:
        return
    folder, _, name = meta.metadata_location.rpartition("/")
    last = meta.last_sequence_number or 0
    numbers = {snapshot.sequence_number for snapshot in meta.snapshots if snapshot.sequence_number}
    signs = []
    if _ZERO.fullmatch(name):
        signs.append(
            f"{name} is no name that Iceberg Java writes, whose folders begin with v1, nor one of a catalog's table"
        )
    if last > max(len(numbers), 1):
        signs.append(f"its last-sequence-number is {last:,}, and it has {count(len(numbers), 'snapshot')} of its own")
    if not signs:
        return
    others = [n for n in names_in(table, folder) if METADATA_NAME.match(n) and n != name]
    left = (
        f"The folder has {count(len(others), 'other metadata file')} ({first_of(sorted(others), 3)}), which may be of "
        "before"
        if others
        else "The folder has no other metadata file, so nothing in it leads back to what was there before"
    )
    yield finding(
        "metadata-log-file-missing",
        f"its metadata log is empty, and {' and '.join(signs)}: {BEGUN_ANEW}, or its writer keeps no log. A compaction "
        f"that writes the table anew does so (ClickHouse/ClickHouse#120165). {left}",
        meta.metadata_location,
        "/metadata-log",
        found=0,
        node=("metadata", meta.metadata_location),
    )


def _what_is_left(table: Table, paths: Sequence[str]) -> tuple[str, bool]:
    """Whether metadata files that are not in the log are there, in words, and whether the table lacks a snapshot that
    one of them has, and that has not expired with those before it."""
    ours = table.metadata
    first = min((s.sequence_number for s in ours.snapshots), default=0)
    for path in reversed(paths[-TRIED:]):  # the newest has the most
        name = base_name(path)
        try:
            other, _ = read_metadata(table.reader.storage, path)
        except UnreadableFile:
            return f", and {name} cannot be read", False
        lost = [s for s in other.snapshots if ours.snapshot(s.snapshot_id) is None and s.sequence_number > first]
        columns = lost_columns(other, ours)
        if other.table_uuid == ours.table_uuid and (lost or columns):
            twins = {s.sequence_number: s.snapshot_id for s in ours.snapshots if s.sequence_number}
            twin = twins.get(lost[-1].sequence_number) if lost else None
            how = "it was expired, or its commit was lost" if lost and not columns else "its commit was lost"
            if lost and twin is not None:
                how = f"its commit was lost, since the table's snapshot {twin} has its sequence number"
            shown = path if ONE_WORD.fullmatch(path) else "PATH"
            return (
                f". {name} is there, with {_lost_words(lost, columns, other)}, {NOT_IN_TABLE}: {how} "
                f"(icedive inspect snapshots {shown} and icedive history schemas {shown} show what it has)"
            ), True
    if not paths:
        return ", and no such file is in the folder", False
    return f". {first_of([base_name(path) for path in paths], 3)} is there, and the table has its snapshots", False


def _between(table: Table, before: str, after: str) -> str:
    """Say how many snapshots came between two metadata files, where both are there."""
    try:
        one, other = (table.tree.metadata_file(path) for path in (before, after))
    except ExplorerError:
        return ""
    new = [s for s in other.snapshots if one.snapshot(s.snapshot_id) is None]
    return f". Between the two came {count(len(new), 'snapshot')} that the later one has"


def _version(name: str) -> int | None:
    match = _VERSION.fullmatch(name)
    return int(match[1] or match[2]) if match else None


def _new_snapshots(other: TableMetadata, meta: TableMetadata) -> list[Snapshot]:
    """The last snapshot of another metadata file, where the table does not have it."""
    last = other.last_sequence_number
    return [s for s in other.snapshots if meta.snapshot(s.snapshot_id) is None and s.sequence_number == last]


def lost_columns(other: TableMetadata, meta: TableMetadata) -> list[str]:
    """Return the names of the columns that the current schema of another metadata file has, and no schema of a table.

    Args:
        other: The other metadata file.
        meta: The table's.
    """
    schema = other.schema(other.current_schema_id)
    ours = {(field.id, field.name) for one in meta.schemas for field in one.by_id.values()}
    return [field.name for field in schema.fields if (field.id, field.name) not in ours] if schema else []


def _lost_words(own: Sequence[Snapshot], columns: Sequence[str], other: TableMetadata) -> str:
    """A snapshot and columns that a table does not have, in words."""
    named = f"{'column' if len(columns) == 1 else 'columns'} {first_of(columns, 3)}"
    parts = [
        f"snapshot {own[-1].snapshot_id}" if own else "",
        f"{named} (schema {other.current_schema_id})" if columns else "",
    ]
    return " and ".join(filter(None, parts))


def _fork(
    meta: TableMetadata, other: TableMetadata, own: Sequence[Snapshot], columns: Sequence[str], twin: str
) -> Finding:
    name = other.metadata_location.rpartition("/")[2]
    return finding(
        "metadata-fork",
        f"{name} is a second version {_version(name)}, with {_lost_words(own, columns, other)}, {NOT_IN_TABLE}: "
        "its commit failed, or was lost after it was said to have succeeded, or another table was made of this "
        "one's metadata (register_table), and has it",
        other.metadata_location,
        found=own[-1].snapshot_id if own else f"schema {other.current_schema_id}",
        expected=f"{twin}, which the table went on from",
        node=("metadata", meta.metadata_location),
    )


def other_attempts(table: Table, snapshot: Snapshot) -> list[str]:
    """The manifest lists of other attempts to commit a snapshot, beside the one that is named."""
    if not snapshot.manifest_list:
        return []
    folder, _, own = snapshot.manifest_list.rpartition("/")
    begin = f"snap-{snapshot.snapshot_id}-"
    return sorted(n for n in names_in(table, folder) if n.startswith(begin) and n.endswith(".avro") and n != own)


def names_in(table: Table, folder: str) -> list[str]:
    """The names of the files in a folder; none where it cannot be listed."""
    storage = table.reader.storage
    try:
        root = storage.folder(folder)
        return storage.names(folder) if root is None else [p.name for p in Path(root).iterdir()]
    except (ExplorerError, OSError):
        return []
