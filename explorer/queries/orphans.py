"""Files below a table's folder that nothing leads to, and metadata files that a table does not know."""

from __future__ import annotations

import contextlib
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import pyarrow as pa
import pyarrow.compute as pc

from explorer.errors import UnreadableFile
from explorer.model.manifest import ManifestFile
from explorer.model.problem import ANYWHERE
from explorer.progress import steps
from explorer.queries.metadata_tree import MetadataTree
from explorer.spec.commits.uncommitted_files import is_data_file
from explorer.spec.entries.entries import DELETED
from explorer.spec.entries.lazy_table import Parts
from explorer.spec.maintenance.orphan_rules import (
    EQUAL,
    FOLDERS,
    Listing,
    Prefix,
    is_hidden,
    missing_equalities,
    partition_folder_prefixes,
    split_uri,
)
from explorer.spec.text.names import base_name
from explorer.storage.folder_listing import local_files
from explorer.storage.folder_state import metadata_version
from explorer.storage.reader import TableReader
from explorer.storage.store_listing import ListedFile

NAMING = ("/snapshots", "/statistics", "/partition-statistics", "/metadata-log")
"""What names files in a metadata file."""
METADATA_ENDINGS = ("metadata.json", "metadata.json.gz")
"""How the names of metadata files end, in small letters; Hadoop's of compressed ones end as the others do."""
PATHS = pa.schema([("file_path", pa.string())])


def _paths(_: ManifestFile, stored: pa.Table) -> pa.Table:
    """Of entries that are not DELETED."""
    return stored.filter(pc.fill_null(pc.not_equal(stored["status"], DELETED), True)).select(PATHS.names).cast(PATHS)


def files_in_metadata(tree: MetadataTree) -> Iterator[str]:
    """Every file that a table's metadata leads to, some more than once: metadata files, statistics, manifest lists,
    manifests, and the files that these name."""
    meta = tree.metadata
    yield meta.metadata_location
    yield from (entry.metadata_file for entry in meta.metadata_log)
    yield from (statistics.path for statistics in meta.statistics)
    lists, manifests = _leading(tree)
    yield from lists
    yield from manifests
    for part in tree.read(Parts(list(manifests.values()), False, _paths, PATHS)).read():
        yield from part["file_path"].to_pylist()


def _leading(tree: MetadataTree) -> tuple[set[str], dict[str, ManifestFile]]:
    """The manifest lists and manifests: what leads to other files."""
    snapshots = tree.metadata.snapshots
    tree.ahead(snapshots)
    manifests = {m.manifest_path: m for s in steps(snapshots, "snapshots") for m in tree.manifests(s)}
    return {s.manifest_list for s in snapshots if s.manifest_list}, manifests


def all_files_in_metadata(tree: MetadataTree) -> Iterator[str]:
    """`files_in_metadata`, all of them: raises UnreadableFile at the end where a manifest list or manifest, or what in
    the metadata file names files, could not be read, since nobody knows what it names."""
    yield from files_in_metadata(tree)
    meta, lost = tree.metadata, tree.unreadable
    ids = Counter(snapshot.snapshot_id for snapshot in meta.snapshots)
    if twice := [i for i, times in ids.items() if times > 1]:
        raise UnreadableFile(meta.metadata_location, f"it has two snapshots {twice[0]}: only one of them can be read")
    for problem in tree.problems:
        own = problem.file == meta.metadata_location and problem.location.startswith((*NAMING, ANYWHERE))
        if problem.severity == "error" and (own or problem.file in lost):
            raise UnreadableFile(problem.file, f"{problem.cause}; nobody knows which files it names")
    if lost:
        raise UnreadableFile(min(lost), "it cannot be read; nobody knows which files it names")


@dataclass(frozen=True)
class OtherMetadata:
    """A metadata file in a table's folders that is neither the opened one nor in its log, and no earlier version that
    the log has dropped: what it leads to may be live. `why` says what it is."""

    path: str
    why: str
    tree: MetadataTree


def other_metadata(tree: MetadataTree, files: Iterable[str]) -> list[OtherMetadata]:
    """Read the metadata files among some files that a table does not know.

    Args:
        tree: The opened table.
        files: Paths of files in the table's folders.

    Returns:
        Those that may lead to live files, by path.

    Raises:
        UnreadableFile: One of them cannot be read, so nobody knows which files it names.
    """
    meta, reader = tree.metadata, tree.reader
    own_places = {
        place_of(tree, path) for path in (meta.metadata_location, *(e.metadata_file for e in meta.metadata_log))
    }
    log = [e.timestamp_ms for e in meta.metadata_log if e.timestamp_ms is not None]
    begins = min([*log, meta.last_updated_ms or 0])
    candidates = [p for p in files if p.lower().endswith(METADATA_ENDINGS) and place_of(tree, p) not in own_places]
    others = []
    for path in steps(sorted(candidates), "metadata files"):
        location = replace(reader.location, metadata_location=path)
        other = MetadataTree(TableReader(location, reader.extra_roots))
        updated = other.metadata.last_updated_ms or 0
        if other.metadata.table_uuid != meta.table_uuid:
            others.append(OtherMetadata(path, f"{path} is of another table (its UUID differs)", other))
        elif updated > (meta.last_updated_ms or 0):
            why = f"{path} is newer than {meta.metadata_location}, which was opened"
            others.append(OtherMetadata(path, why, other))
        elif updated >= begins:
            others.append(OtherMetadata(path, f"{path} is not in the log of {meta.metadata_location}", other))
        elif why := _follows(tree, other):
            others.append(OtherMetadata(path, f"{path} {why}, whatever its time says", other))
    return others


def _follows(tree: MetadataTree, other: MetadataTree) -> str:
    """Why a metadata file with an older time may be newer than the opened one: clocks differ, and can be set."""
    own, its = tree.metadata, other.metadata
    if place_of(tree, own.metadata_location) in {place_of(tree, e.metadata_file) for e in its.metadata_log}:
        return "has the opened metadata file in its log"
    if (its.last_sequence_number or 0) > (own.last_sequence_number or 0):
        return "has a higher sequence number than the opened metadata file"
    versions = [metadata_version(meta.metadata_location) for meta in (its, own)]
    if None not in versions and versions[0] >= versions[1]:  # type: ignore[operator]
        return "has no lower version than the opened metadata file"
    return ""


def files_beside(tree: MetadataTree) -> dict[str, ListedFile]:
    """The files in the folders where a table keeps its metadata."""
    own = tree.metadata.metadata_location.rpartition("/")[0]
    folders = {f"{tree.metadata.location.rstrip('/')}/metadata", own}
    there: dict[str, ListedFile] = {}
    for folder in sorted(folders):
        with contextlib.suppress(UnreadableFile):  # there is no such folder
            there |= _files_below(tree, folder)
    return there


def place_of(tree: MetadataTree, path: str) -> str:
    """What is the same for all spellings of a path."""
    storage = tree.reader.storage
    try:
        return storage.canonical_place(path)
    except UnreadableFile:
        return path


class FolderFiles:
    """The files below a folder, by what follows its path: when each was `written` (ms since 1970), how long they are,
    and which of them are `live`, as far as was told. Raises UnreadableFile where the folder cannot be listed."""

    def __init__(self, tree: MetadataTree, folder: str) -> None:
        self._storage = tree.reader.storage
        there, top = _files_below(tree, folder), _top(tree, folder)
        self.paths = there
        self.written = {path[len(top) :]: of.written * 1000 for path, of in there.items()}
        self.bytes = {path[len(top) :]: of.bytes for path, of in there.items()}
        self._really = defaultdict[str, list[str]](list)
        """By where a path really leads: links may lead to the same file."""
        for path, rest in zip(there, self.written, strict=True):
            self._really[self._storage.canonical(path)].append(rest)
        self._by_name = defaultdict[str, list[str]](list)
        for rest in self.written:
            self._by_name[base_name(rest)].append(rest)
        self.live: set[str] = set()
        self.prefixes: set[Prefix] = set()
        """The schemes and authorities by which metadata names files."""
        self.namesakes: dict[str, str] = {}
        """Files whose name metadata has in a place that is not below the folder, each with that path."""

    def telling(self, named: Iterable[str]) -> Iterator[str]:
        """The same paths; the files that they name, however these are spelled, are live."""
        prefix_of_folder = lru_cache(FOLDERS)(lambda folder: split_uri(f"{folder}/")[0])
        for path in named:
            folder = path.rpartition("/")[0]
            is_odd = not folder or folder[-1] == "/"
            self.prefixes.add(split_uri(path)[0] if is_odd else prefix_of_folder(folder))
            live: Sequence[str] = ()
            with contextlib.suppress(UnreadableFile):  # names nothing that could be below the folder
                live = self._really.get(self._storage.canonical_place(path), ())
            self.live.update(live)
            if not live:
                self.namesakes |= dict.fromkeys(self._by_name.get(base_name(path), ()), path)
            yield path

    def may_be_live(self, others: Iterable[OtherMetadata]) -> dict[str, str]:
        """Say which files may be live, though the table's own metadata does not lead to them.

        Args:
            others: Metadata that the table does not know.

        Returns:
            The reason for each such file. What only `others` lead to is no longer among `live`.
        """
        own, reasons = set(self.live), dict[str, str]()
        for other in others:
            for _ in self.telling(all_files_in_metadata(other.tree)):
                pass
            reasons |= dict.fromkeys(self.live - own - reasons.keys(), f"it is live: {other.path} leads to it")
        self.live = own
        words = "it may be live: metadata names a file of this name in another place, {}"
        namesakes = {rest: words.format(path) for rest, path in self.namesakes.items() if rest not in own}
        return namesakes | reasons


def _files_below(tree: MetadataTree, folder: str) -> dict[str, ListedFile]:
    """The files below a folder."""
    root = tree.reader.storage.folder(folder)
    if root is None:
        return tree.reader.storage.files_below(folder)
    return dict(sorted(local_files(root)))


@dataclass(frozen=True)
class Orphans:
    """What is below a table's folder and its own metadata does not lead to.

    Attributes:
        loose: Files that no metadata there leads to.
        spared: Files that may be live all the same, each with the reason; by what follows the folder's path.
        others: The metadata files that the table does not know.
        is_apart: Whether metadata names files by other schemes or authorities than the table's location has.
    """

    loose: Mapping[str, ListedFile]
    spared: Mapping[str, str]
    others: Sequence[OtherMetadata]
    is_apart: bool


def orphan_files(tree: MetadataTree) -> Orphans:
    """Find the files below a table's folder that its metadata does not lead to.

    Args:
        tree: The table's.

    Returns:
        Those to which no metadata there leads, and those that may be live.

    Raises:
        UnreadableFile: The folder cannot be listed, or a manifest list or manifest cannot be read.
    """
    below = _read_below(tree)
    prefixes = frozenset(below.prefixes)
    others = other_metadata(tree, {**below.paths, **files_beside(tree)})
    listing = Listing(tree.metadata.location, 0, 0, "", EQUAL, {})
    spared = below.may_be_live(others)
    return Orphans(_orphans_below(tree, below, spared), spared, others, bool(missing_equalities(listing, prefixes)))


def orphans(tree: MetadataTree) -> dict[str, float]:
    """The files below a table's folder that its own metadata does not lead to, with their age in hours: what writers
    that were killed left, their metadata files too. Raises as `orphan_files` does."""
    now = time.time()
    return {path: (now - of.written) / 3600 for path, of in _orphans_below(tree, _read_below(tree), {}).items()}


def _read_below(tree: MetadataTree) -> FolderFiles:
    below = FolderFiles(tree, tree.metadata.location)
    for _ in below.telling(all_files_in_metadata(tree)):
        pass
    return below


def _orphans_below(tree: MetadataTree, below: FolderFiles, maybe: Mapping[str, str]) -> dict[str, ListedFile]:
    """What is neither live nor may be, but files that are hidden to remove_orphan_files, such as Delta's log of the
    same table."""
    own = partition_folder_prefixes(tree.metadata)
    return {
        path: of
        for rest, (path, of) in zip(below.written, below.paths.items(), strict=True)
        if rest not in below.live
        and rest not in maybe
        and not rest.endswith((".crc", "/version-hint.text"))
        and not any(is_hidden(name, own) for name in rest.split("/"))
    }


def data_files_without_entry(tree: MetadataTree) -> list[str]:
    """Return the data files below a table's folder that nothing names which can be read, as the table spells paths.

    Raises:
        UnreadableFile: The folder cannot be listed.
    """
    location = tree.metadata.location
    below = FolderFiles(tree, location)
    for _ in below.telling(files_in_metadata(tree)):
        pass
    own = partition_folder_prefixes(tree.metadata)
    rest = [
        rest
        for rest in sorted(below.written.keys() - below.live - below.namesakes.keys())
        if is_data_file(rest) and not any(is_hidden(name, own) for name in rest.split("/"))
    ]
    return [location.rstrip("/") + name for name in rest]


def _top(tree: MetadataTree, folder: str) -> str:
    storage = tree.reader.storage
    return (storage.folder(folder) or storage.resolve(folder)).rstrip("/")
