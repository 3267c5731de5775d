"""All files of a table: what its metadata names, and what lies in its folders."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice

import pyarrow as pa
import pyarrow.compute as pc

from explorer.errors import ExplorerError, UnreadableFile
from explorer.model.manifest import ManifestFile
from explorer.progress import steps
from explorer.queries.metadata_tree import MetadataTree
from explorer.queries.orphans import METADATA_ENDINGS, other_metadata
from explorer.spec.entries.lazy_table import Batches, Parts, combine_rows
from explorer.spec.layout.file_origins import CommitTimes
from explorer.spec.layout.stored_files import (
    FILES,
    LISTED,
    OLDER_METADATA,
    OTHERS,
    SUMS,
    TABLE,
    NamedFiles,
    Ranks,
    add_up,
    file_rows,
    sum_files,
)
from explorer.spec.maintenance.orphan_rules import partition_folder_prefixes
from explorer.spec.rows.spilled_rows import RowParts
from explorer.storage import limits
from explorer.storage.folder_listing import local_files
from explorer.storage.paths import below
from explorer.storage.spill import deal_out, spool
from explorer.storage.storage import Storage
from explorer.storage.store_listing import ListedFile

AT_ONCE = 50_000
"""Files of a listing that are made rows together."""


@dataclass(frozen=True)
class StoredFiles:
    """The files of a table, added up.

    Attributes:
        sums: SUMS.
        folders: The folders that were listed.
        others: What is to be said of metadata files that the table does not know.
        unknown: What could not be listed or read, a sentence each: unused files may be in use there.
    """

    sums: pa.Table
    folders: Sequence[str]
    others: Sequence[str]
    unknown: Sequence[str]


def add_up_files(tree: MetadataTree, ranks: Ranks, by: str, now_ms: int) -> StoredFiles:
    """Add up the files of a table: those that metadata names, and those below its folders.

    Args:
        tree: The table's.
        ranks: Of its snapshots.
        by: `partition`, `month`, or nothing.
        now_ms: The time, in ms since 1970.

    Returns:
        The sums. What cannot be read is left out, and told.
    """
    tops, listing, unknown = _list_folders(tree)
    others: list[str] = []
    named = [_named_files(tree, ranks, tops, by == "partition")]
    try:
        for other in other_metadata(tree, _metadata_paths(listing)):
            others.append(other.why)
            named.append(_named_files(other.tree, None, tops, False))
    except UnreadableFile as error:
        unknown.append(f"{error.args[0]}: what it names counts as unused here")
    rows = spool(FILES, chain(listing.read(), *named))
    hidden = partition_folder_prefixes(tree.metadata)
    number = -(-rows.on_disk // limits.share(16))
    deals = deal_out(Batches(FILES, rows.read), "place", number) if number > 1 else iter([rows.whole()])
    commits = CommitTimes.of(tree.metadata, not tree.unreadable)
    sums = Batches(
        SUMS, lambda: (sum_files(deal, ranks, tops, hidden, by, now_ms, commits) for deal in steps(deals, "files"))
    )
    all_sums = combine_rows(sums, add_up)
    return StoredFiles(all_sums, tops, others, [*unknown, *([tree.lacks] if tree.lacks else [])])


def list_files(tree: MetadataTree) -> Iterator[tuple[str, ListedFile]]:
    """Return the files of a table's folders.

    Args:
        tree: The table's.

    Yields:
        The place of each, and what the listing has of it.

    Raises:
        ExplorerError: A folder cannot be listed.
    """
    meta, storage = tree.metadata, tree.reader.storage
    tops: list[str] = []
    for folder in (meta.location, meta.metadata_location.rpartition("/")[0]):
        top = storage.canonical(storage.resolve(folder)).rstrip("/")
        if not any(below(top, other) for other in tops):
            tops.append(top)
            yield from _files_in(storage, folder, top)


def _list_folders(tree: MetadataTree) -> tuple[list[str], RowParts, list[str]]:
    """The folders that could be listed, as `places` spells them, without those in others; the rows of their files; and
    what is to be said of one that could not be."""
    meta, storage = tree.metadata, tree.reader.storage
    tops: list[str] = []
    parts: list[Iterator[pa.Table]] = []
    unknown: list[str] = []
    for folder in (meta.location, meta.metadata_location.rpartition("/")[0]):
        try:
            top = storage.canonical(storage.resolve(folder)).rstrip("/")
            if not any(below(top, other) for other in tops):
                parts.append(_listed_rows(_files_in(storage, folder, top)))
                tops.append(top)
        except ExplorerError as error:
            unknown.append(f"{error}: what nothing refers to there is not counted")
    return tops, spool(FILES, chain.from_iterable(parts)), unknown


def _files_in(storage: Storage, folder: str, top: str) -> Iterable[tuple[str, ListedFile]]:
    """The files below a folder, by their places; a store is asked at once."""
    if (root := storage.folder(folder)) is not None:
        return local_files(root)
    start = len(storage.resolve(folder).rstrip("/"))
    return ((top + path[start:], of) for path, of in storage.files_below(folder).items())


def _listed_rows(files: Iterable[tuple[str, ListedFile]]) -> Iterator[pa.Table]:
    remaining = iter(files)
    while some := list(islice(remaining, AT_ONCE)):
        yield file_rows(
            pa.array([path for path, _ in some], pa.large_string()),
            LISTED,
            listed=pa.array([of.bytes for _, of in some], pa.int64()),
            written_ms=pa.array([int(of.written * 1000) for _, of in some], pa.int64()),
        )


def _metadata_paths(listing: RowParts) -> list[str]:
    """The paths of metadata files in a listing."""
    paths: list[str] = []
    for part in listing.read():
        lower = pc.utf8_lower(part["place"])
        is_metadata = pc.or_(*(pc.ends_with(lower, ending) for ending in METADATA_ENDINGS))
        paths += part["place"].filter(is_metadata).to_pylist()
    return paths


def _named_files(
    tree: MetadataTree, ranks: Ranks | None, tops: Sequence[str], by_partition: bool
) -> Iterator[pa.Table]:
    """FILES of all that a table's metadata names; without ranks it is metadata that another table does not know."""
    meta, storage = tree.metadata, tree.reader.storage
    snapshots = ranks.snapshots if ranks else meta.snapshots
    tree.ahead(snapshots)
    of_manifest: dict[str, int] = {}
    manifests: dict[str, ManifestFile] = {}
    lists: dict[str, tuple[int, str, int | None]] = {}
    for rank, snapshot in enumerate(steps(snapshots, "snapshots")):
        at = rank if ranks else OTHERS
        if snapshot.manifest_list:
            lists.setdefault(snapshot.manifest_list, (at, "manifest lists", None))
        for manifest in tree.manifests(snapshot):
            of_manifest.setdefault(manifest.manifest_path, at)
            manifests.setdefault(manifest.manifest_path, manifest)
            lists.setdefault(manifest.manifest_path, (at, "manifests", manifest.manifest_length))
    rank_of = {snapshot.snapshot_id: rank for rank, snapshot in reversed(list(enumerate(snapshots)))}
    own = TABLE if ranks else OTHERS
    for statistics in meta.statistics:
        at = rank_of.get(statistics.snapshot_id, own) if ranks else OTHERS
        lists.setdefault(statistics.path, (at, statistics.kind, statistics.file_size_in_bytes))
    lists.setdefault(meta.metadata_location, (own, "metadata.json", None))
    for entry in meta.metadata_log:
        lists.setdefault(entry.metadata_file, (own, OLDER_METADATA, None))
    yield from _rows_of_metadata(storage, lists, tops)
    of_entries = NamedFiles(of_manifest, meta if by_partition else None)
    parts = Parts(list(manifests.values()), False, of_entries.part, FILES, of_entries.alike)
    for part in tree.read(parts).read():
        yield part.set_column(0, FILES.field(0), places(storage, part["place"]))


def _rows_of_metadata(
    storage: Storage, named: Mapping[str, tuple[int, str, int | None]], tops: Sequence[str]
) -> Iterator[pa.Table]:
    """FILES of metadata files, lists, manifests and statistics: path, and rank, kind and bytes of each. The length of
    one in another folder is asked for where metadata does not have it."""
    paths = list(named)
    at = places(storage, pa.chunked_array([pa.array(paths, pa.large_string())]))
    elsewhere = [
        path
        for path, place in zip(paths, at.to_pylist(), strict=True)
        if named[path][2] is None and not any(place.startswith(f"{top}/") for top in tops)
    ]
    sizes = dict(zip(elsewhere, storage.sizes(elsewhere), strict=True))
    yield pa.table(
        {
            "place": at,
            "rank": pa.array([named[path][0] for path in paths], pa.int32()),
            "kind": pa.array([named[path][1] for path in paths], pa.string()),
            "partition": pa.nulls(len(paths), pa.string()),
            "recorded": pa.array(
                [sizes.get(path) if named[path][2] is None else named[path][2] for path in paths], pa.int64()
            ),
            "listed": pa.nulls(len(paths), pa.int64()),
            "written_ms": pa.nulls(len(paths), pa.int64()),
        }
    ).cast(FILES)


def places(storage: Storage, paths: pa.ChunkedArray) -> pa.ChunkedArray:
    """One spelling for each path: what is the same for two paths leads to the same file. Only the last part of a path
    may be a link.

    Args:
        storage: Reads the table's files.
        paths: As metadata spells them.

    Returns:
        As many texts. Of what is no path it is the text itself.
    """
    texts = paths.cast(pa.large_string())
    folders = pc.replace_substring_regex(texts, r"[^/]*\z", "").combine_chunks().dictionary_encode()
    names = pc.replace_substring_regex(texts, r"(?s)\A.*/", "").combine_chunks()
    real = [_place_of_folder(storage, folder) for folder in steps(folders.dictionary.to_pylist(), "folders")]
    tops = pa.array(real, pa.large_string()).take(folders.indices)
    return pa.chunked_array([pc.binary_join_element_wise(tops, names, pa.scalar("", pa.large_string()))])


def _place_of_folder(storage: Storage, folder: str) -> str:
    """With a slash at its end; nothing for a name without a folder."""
    try:
        return f"{storage.canonical(storage.resolve(folder.rstrip('/'))).rstrip('/')}/" if folder.strip("/") else folder
    except UnreadableFile:
        return folder
