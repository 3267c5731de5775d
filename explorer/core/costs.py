"""What commits cost: files, rows and bytes that each wrote and removed, its metadata, and how much of what a run of
commits wrote is still read at its end."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from explorer.core.entries import ADDED, DELETED, snapshot_ids
from explorer.core.names import snapshot_name, snapshot_ordinals
from explorer.core.tree import Tree
from explorer.model.manifest import ManifestFile
from explorer.model.metadata import Snapshot, TableMetadata
from explorer.progress import steps

Size = Callable[[str], "int | None"]


@dataclass(frozen=True)
class CommitCost:
    """One commit. Bytes of deletion vectors are their blobs'. `manifest_list_bytes` and `metadata_json_bytes` are None
    where the file is gone (or, for metadata.json, no longer in the metadata log)."""

    snapshot_id: int
    snapshot: str
    operation: str | None
    data_files_added: int
    data_files_removed: int
    delete_files_added: int
    delete_files_removed: int
    rows_added: int
    rows_removed: int
    bytes_added: int
    bytes_removed: int
    manifests_written: int
    manifest_bytes: int
    manifest_list_bytes: int | None
    metadata_json_bytes: int | None

    @property
    def metadata_bytes(self) -> int:
        """Bytes of all metadata it wrote, as far as known."""
        return self.manifest_bytes + (self.manifest_list_bytes or 0) + (self.metadata_json_bytes or 0)


@dataclass(frozen=True)
class RunCost:
    """A run of commits, oldest first. `bytes_kept` are those of the files it added that its last snapshot still
    reads."""

    commits: tuple[CommitCost, ...]
    bytes_kept: int

    @property
    def bytes_written(self) -> int:
        """Data and delete files of all commits."""
        return sum(c.bytes_added for c in self.commits)

    @property
    def metadata_bytes(self) -> int:
        """Metadata of all commits, as far as known."""
        return sum(c.metadata_bytes for c in self.commits)

    @property
    def write_amplification(self) -> float | None:
        """Bytes of files written for each byte that is still read at the end: 1 when nothing was written twice. None
        when nothing is left."""
        return self.bytes_written / self.bytes_kept if self.bytes_kept else None


def file_bytes(entries: pa.Table) -> int:
    """Bytes of an entries table's files: of deletion vectors only their blobs."""
    sizes = pc.coalesce(entries["content_size_in_bytes"], entries["file_size_in_bytes"])
    return int(pc.sum(sizes).as_py() or 0)


def metadata_files(metadata: TableMetadata) -> dict[int | None, str]:
    """Metadata files by the time in them, which is also that of the snapshot that a commit made."""
    files: dict[int | None, str] = {e.timestamp_ms: e.metadata_file for e in metadata.metadata_log}
    return files | {metadata.last_updated_ms: metadata.metadata_location}


def commit_cost(
    metadata: TableMetadata,
    snapshot: Snapshot,
    manifests: Sequence[ManifestFile],
    entries: Mapping[str, pa.Table],
    size: Size,
) -> CommitCost:
    """The cost of one commit. `entries` are those of the manifests that it wrote, by path."""
    ordinals = snapshot_ordinals(metadata)
    counts = {(content, status): 0 for content in (0, 1) for status in (ADDED, DELETED)}
    rows, sizes = {ADDED: 0, DELETED: 0}, {ADDED: 0, DELETED: 0}
    written = [m for m in manifests if m.added_snapshot_id == snapshot.snapshot_id]
    for manifest in written:
        table = entries.get(manifest.manifest_path)
        if table is None:
            continue
        table = table.filter(pc.equal(table["inherited_snapshot_id"], snapshot.snapshot_id))
        for status in (ADDED, DELETED):
            part = table.filter(pc.equal(table["status"], status))
            counts[(min(manifest.content, 1), status)] += part.num_rows
            rows[status] += int(pc.sum(part["record_count"]).as_py() or 0) if manifest.content == 0 else 0
            sizes[status] += file_bytes(part)
    json_file = metadata_files(metadata).get(snapshot.timestamp_ms)
    return CommitCost(
        snapshot_id=snapshot.snapshot_id,
        snapshot=snapshot_name(snapshot.snapshot_id, ordinals),
        operation=snapshot.operation,
        data_files_added=counts[(0, ADDED)],
        data_files_removed=counts[(0, DELETED)],
        delete_files_added=counts[(1, ADDED)],
        delete_files_removed=counts[(1, DELETED)],
        rows_added=rows[ADDED],
        rows_removed=rows[DELETED],
        bytes_added=sizes[ADDED],
        bytes_removed=sizes[DELETED],
        manifests_written=len(written),
        manifest_bytes=sum(m.manifest_length or 0 for m in written),
        manifest_list_bytes=size(snapshot.manifest_list) if snapshot.manifest_list else None,
        metadata_json_bytes=size(json_file) if json_file else None,
    )


def run_cost(tree: Tree, run: Sequence[Snapshot]) -> RunCost:
    """What the commits of a run (see run_between) did and cost, and what of their files its last snapshot still
    reads."""
    if not run:
        return RunCost((), 0)
    tree.ahead(run)
    wrote = [m for s in steps(run, "snapshots") for m in tree.manifests(s) if m.added_snapshot_id == s.snapshot_id]
    tree.ahead(manifests=wrote)
    times = metadata_files(tree.metadata)
    sizes = tree.sizes(path for s in run for path in (s.manifest_list, times.get(s.timestamp_ms)) if path)
    entries = _entries(tree, wrote)
    ahead, commits = next(entries, None), []
    for snapshot in steps(run, "snapshots"):
        mine = {}
        while ahead and ahead[0].added_snapshot_id == snapshot.snapshot_id:
            mine[ahead[0].manifest_path], ahead = ahead[1], next(entries, None)
        commits.append(commit_cost(tree.metadata, snapshot, tree.manifests(snapshot), mine, sizes.get))
    last = (table for _, table in _entries(tree, tree.manifests(run[-1])))
    return RunCost(tuple(commits), bytes_kept(last, [s.snapshot_id for s in run]))


def _entries(tree: Tree, manifests: Sequence[ManifestFile]) -> Iterator[tuple[ManifestFile, pa.Table]]:
    """Entries as stored, with the snapshot that each inherits."""
    for manifest, stored in tree.stored(manifests):
        yield manifest, stored.append_column("inherited_snapshot_id", snapshot_ids(stored, manifest))


def bytes_kept(tables: Iterable[pa.Table], run: Sequence[int]) -> int:
    """Bytes of the live files that snapshots of the run added; `tables` are entries of the last one's manifests."""
    ids = pa.array(run, pa.int64())
    kept = (
        t.filter(pc.and_(pc.not_equal(t["status"], DELETED), pc.is_in(t["inherited_snapshot_id"], ids))) for t in tables
    )
    return sum(map(file_bytes, kept))


def run_between(metadata: TableMetadata, first: int | None, last: int) -> list[Snapshot]:
    """The snapshots after `first` up to and with `last`, by parents, oldest first; None: from the oldest that is left.
    Raises ValueError when `first` is no ancestor of `last`."""
    run: dict[int, Snapshot] = {}
    snapshot = metadata.snapshot(last)
    while snapshot is not None and snapshot.snapshot_id != first and snapshot.snapshot_id not in run:
        run[snapshot.snapshot_id] = snapshot
        snapshot = metadata.snapshot(snapshot.parent_snapshot_id)
    if first is not None and (snapshot is None or snapshot.snapshot_id != first):
        raise ValueError(f"snapshot {first} is no ancestor of {last}, so no run of commits leads from one to the other")
    return list(reversed(run.values()))
