"""Find commits that a table does not have, though their manifest lists lie in its folder."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from explorer.errors import UnreadableFile
from explorer.model.manifest import ManifestFile
from explorer.model.metadata import Snapshot
from explorer.progress import steps
from explorer.queries.metadata_tree import MetadataTree
from explorer.queries.orphans import METADATA_ENDINGS, files_beside
from explorer.spec.commits.uncommitted_files import UNDER_WAY
from explorer.spec.commits.unnamed_commits import LIST_NAME, UnnamedCommit, UnnamedList
from explorer.spec.entries.entries import ADDED
from explorer.spec.entries.lazy_table import Parts
from explorer.spec.text.names import base_name
from explorer.spec.text.units import parse_int64
from explorer.storage import limits, manifests
from explorer.storage.formats import avro
from explorer.storage.paths import normal_path
from explorer.storage.reader import read_metadata
from explorer.storage.storage import Storage
from explorer.storage.store_listing import ListedFile

LISTS, TRIED, FILES, ENTRIES, METADATA_FILES = 20, 200, 100, 200_000, 5
"""So many lists are read, the newest, among so many that are tried, since some cannot be read; so many files of a
commit are looked for, among so many entries of the table; and so many metadata files that the table does not know are
read, the newest."""
USUAL_S = 300
"""What nearly every commit takes less than, from its manifest list to the metadata file, in seconds."""
_PATHS = pa.schema([("file_path", pa.string())])


@dataclass(frozen=True)
class UnnamedCommits:
    """The commits that were found, the oldest first, the lists that nobody looked at, which are older, and those of the
    last hour, which may be of commits under way: `late` are those among them that most commits take less time for."""

    commits: tuple[UnnamedCommit, ...]
    left: tuple[str, ...] = ()
    young: tuple[str, ...] = ()
    late: tuple[str, ...] = ()

    @property
    def unread(self) -> int:
        """How many lists nobody looked at."""
        return len(self.left)


def read_unnamed_list(storage: Storage, path: str, snapshot_id: int) -> UnnamedList:
    """Read a manifest list that no metadata names.

    Args:
        storage: Where it is.
        path: Its path.
        snapshot_id: The snapshot that its name says.

    Raises:
        UnreadableFile: It cannot be read.
    """
    data = storage.read_through_cache(path, limit=limits.MANIFEST)
    container = avro.open_container(data, path, room=limits.unpack_limit(len(data)))
    listed, _ = manifests.manifest_files(container, manifests.Known())
    parent = parse_int64(container.metadata.get("parent-snapshot-id"))
    recorded = parse_int64(container.metadata.get("sequence-number"))
    own = [manifest.sequence_number for manifest in listed if manifest.added_snapshot_id == snapshot_id]
    return UnnamedList(path, snapshot_id, parent, recorded or max(own, default=0) or None, tuple(listed))


def find_unnamed_commits(tree: MetadataTree) -> UnnamedCommits:
    """Find commits that a table does not have.

    A snapshot that has expired is none: what shows that the table had it is a child, the log, an entry of its own, or
    that no snapshot that is left has its sequence number.

    Args:
        tree: The table's.

    Returns:
        The commits of the newest lists in the folders of its metadata. What was written within the last hour may be of
        a commit under way, and is left out.
    """
    meta, now, there = tree.metadata, time.time(), files_beside(tree)
    known = {s.snapshot_id for s in meta.snapshots}
    unnamed: list[tuple[float, str, int]] = []
    young: list[tuple[float, str, int]] = []
    for path, of in there.items():
        match = LIST_NAME.fullmatch(base_name(path))
        own = parse_int64(match[1]) if match else None
        if own is None or own in known:
            continue
        if of.written < now - UNDER_WAY / 1000:
            unnamed.append((of.written, path, own))
        else:
            young.append((of.written, path, own))
    if not unnamed and not young:
        return UnnamedCommits(())
    elsewhere = _snapshots_elsewhere(tree, there) | {s.parent_snapshot_id for s in meta.snapshots}
    elsewhere |= {entry.snapshot_id for entry in meta.snapshot_log}
    unnamed = [one for one in unnamed if one[2] not in elsewhere]
    waiting = [(written, path) for written, path, own in young if own not in elsewhere]
    under_way = tuple(path for _, path in waiting)
    late = tuple(path for written, path in waiting if written < now - USUAL_S)
    if not unnamed:
        return UnnamedCommits((), (), under_way, late)
    listed = {m.manifest_path: m for s in meta.snapshots for m in tree.manifests(s)}
    had = {m.added_snapshot_id for m in listed.values()}
    unnamed = sorted(one for one in unnamed if one[2] not in had)
    commits, tried, lists = [], 0, 0
    for _, path, own in steps(unnamed[: -TRIED - 1 : -1], "manifest lists"):
        if lists == LISTS:
            break
        tried += 1
        try:
            read = read_unnamed_list(tree.reader.storage, path, own)
        except UnreadableFile:
            continue
        lists += 1
        commit = _commit(tree, read, listed, unnamed)
        if commit is not None:
            commits.append(commit)
    commits.sort(key=lambda commit: (commit.listed.sequence_number or 0, there[commit.listed.path].written))
    left = tuple(path for _, path, _ in unnamed[: len(unnamed) - tried])
    return UnnamedCommits(tuple(commits), left, under_way, late)


def _snapshots_elsewhere(tree: MetadataTree, there: Mapping[str, ListedFile]) -> set[int | None]:
    """The snapshots of the newest metadata files that the table does not know: it may have been opened by an older
    one."""
    meta, found = tree.metadata, set[int | None]()
    own = {base_name(path) for path in (meta.metadata_location, *(e.metadata_file for e in meta.metadata_log))}
    others = [path for path in there if path.lower().endswith(METADATA_ENDINGS) and base_name(path) not in own]
    for path in steps(sorted(others, key=lambda path: there[path].written)[-METADATA_FILES:], "metadata files"):
        with contextlib.suppress(UnreadableFile):
            found |= {s.snapshot_id for s in read_metadata(tree.reader.storage, path)[0].snapshots}
    return found


def _commit(
    tree: MetadataTree, read: UnnamedList, listed: Mapping[str, ManifestFile], others: Iterable[tuple[float, str, int]]
) -> UnnamedCommit | None:
    """A commit that the table does not have; None of one that it had, or whose files another commit has."""
    meta, number = tree.metadata, read.sequence_number
    twins = [s for s in meta.snapshots if _has_place(s, read)]
    is_after = number is not None and number > (meta.last_sequence_number or 0)
    if is_after and read.parent_id is not None:  # a list of another table that was in this folder
        is_after = meta.snapshot(read.parent_id) is not None or read.parent_id in {own for _, _, own in others}
    if not twins and not is_after:
        return None
    own = read.own
    if not own or all(manifest.manifest_path in listed for manifest in own):
        return None
    lost = len(own) - len(tree.sizes(manifest.manifest_path for manifest in own))
    added = None if lost else _added_files(tree, own)
    files = None
    if added is not None and (named := _named_files(tree, list(listed.values()), added)) is not None:
        files = tuple(path for path in added if path not in named)
        if added and not files:
            return None
    missing = lost + (len(files) - len(tree.sizes(files)) if files else 0)
    if number is None and (missing or files is None):  # an expiry may have left the list alone
        return None
    twin = twins[0].snapshot_id if twins else None
    return UnnamedCommit(read, "beside" if twins else "after", twin, files, missing)


def _has_place(snapshot: Snapshot, read: UnnamedList) -> bool:
    """Whether a snapshot was committed where the unnamed one would be: a sequence number is that of one commit."""
    if read.sequence_number is not None:
        return snapshot.sequence_number == read.sequence_number
    return read.parent_id is not None and snapshot.parent_snapshot_id == read.parent_id


def _added_files(tree: MetadataTree, own: Sequence[ManifestFile]) -> list[str] | None:
    """The data files that a commit added; None where they are too many, or their manifests cannot be read."""
    data = [manifest for manifest in own if not manifest.content]
    numbers = [manifest.added_files_count for manifest in data]
    if None in numbers or sum(number or 0 for number in numbers) > FILES:
        return None
    paths: list[str] = []
    for _, read in tree.reader.many_entries(data, False):
        if read.value is None:
            return None
        paths += read.value.filter(pc.equal(read.value["status"], ADDED))["file_path"].to_pylist()
    return paths


def _named_files(tree: MetadataTree, listed: Sequence[ManifestFile], paths: Collection[str]) -> set[str] | None:
    """Which of some files any manifest of the table names, by whatever spelling; None where it has too many entries to
    look."""
    counts = [(m.added_files_count, m.existing_files_count, m.deleted_files_count) for m in listed]
    if any(None in three for three in counts) or sum(n or 0 for three in counts for n in three) > ENTRIES:
        return None
    by_path = {normal_path(path): path for path in paths}
    names = pa.array({base_name(path) for path in paths}, pa.string())

    def same(_: ManifestFile, stored: pa.Table) -> pa.Table:
        own = pc.replace_substring_regex(stored["file_path"], "^.*/", "")
        return stored.filter(pc.is_in(own, names)).select(_PATHS.names).cast(_PATHS)

    found: set[str] = set()
    for part in tree.read(Parts(listed, False, same, _PATHS)).read():
        found.update(by_path[own] for own in map(normal_path, part["file_path"].to_pylist()) if own in by_path)
    return found
