"""What commits cost: files, rows and bytes that each wrote and removed, its metadata, and how much of what a run of
commits wrote is still read at its end."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

import pyarrow as pa
import pyarrow.compute as pc

from explorer.model.manifest import ManifestFile
from explorer.model.metadata import Snapshot, TableMetadata
from explorer.progress import steps
from explorer.spec.entries.entries import ADDED, DELETED, snapshot_ids
from explorer.spec.entries.lazy_table import Batches, Parts
from explorer.spec.entries.table_protocol import Tree
from explorer.spec.text.names import snapshot_name, snapshot_ordinals
from explorer.spec.values.values import distinct_partitions

Size = Callable[[str], "int | None"]


@dataclass(frozen=True)
class CommitCost:
    """One commit. Bytes of deletion vectors are their blobs'; `delete_bytes_added` are those of `bytes_added` that are
    delete files'; `partitions_added` are those of the data files that it added, for each manifest that it wrote.
    `manifest_list_bytes` and `metadata_json_bytes` are None
    where the file is gone (or, for metadata.json, no longer in the metadata log). `metadata_json_bytes` is 0 where the
    commit that added the snapshot added a later one too, which has the file."""

    snapshot_id: int
    snapshot: str
    operation: str | None
    data_files_added: int
    partitions_added: int
    data_files_removed: int
    delete_files_added: int
    delete_files_removed: int
    rows_added: int
    rows_removed: int
    bytes_added: int
    delete_bytes_added: int
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
    reads; None where what that reads is not known whole."""

    commits: tuple[CommitCost, ...]
    bytes_kept: int | None

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
        when nothing is left, or nobody knows."""
        return self.bytes_written / self.bytes_kept if self.bytes_kept else None


def file_bytes(entries: pa.Table) -> int:
    """Bytes of an entries table's files: of deletion vectors only their blobs."""
    sizes = pc.coalesce(entries["content_size_in_bytes"], entries["file_size_in_bytes"])
    return int(pc.sum(sizes).as_py() or 0)


LATE_MS = 10
"""So much later than its snapshot a commit's metadata file may be dated where the metadata log does not reach back
before the commit: Iceberg asks the clock for each."""


def metadata_files(metadata: TableMetadata) -> dict[int, str]:
    """The metadata file that the commit of a snapshot wrote, by the snapshot's id, as far as the metadata log has it:
    the first that is dated as the snapshot is, or later. The log keeps the newest files without a gap, so it has this
    one if it has an older one. Else the file must be dated at most LATE_MS later."""
    files: list[tuple[int | None, str]] = [(e.timestamp_ms, e.metadata_file) for e in metadata.metadata_log]
    files.append((metadata.last_updated_ms, metadata.metadata_location))
    snapshots = sorted((s.timestamp_ms, at, s.snapshot_id) for at, s in enumerate(metadata.snapshots) if s.timestamp_ms)
    first_with: dict[int, str] = {}
    dated_files = sorted((time, path) for time, path in files if time is not None)
    for time, path in dated_files:
        at = bisect_right(snapshots, (time, len(snapshots), 0)) - 1
        if at >= 0 and (dated_files[0][0] < snapshots[at][0] or time - snapshots[at][0] <= LATE_MS):
            first_with.setdefault(snapshots[at][2], path)
    return first_with


def committed_with_later(metadata: TableMetadata) -> frozenset[int]:
    """The snapshots that one commit added together with a child of theirs, as transactions do: no metadata file was
    written for them, though the metadata log has one from before. Two of one time cannot be told apart."""
    files = metadata_files(metadata)
    times = Counter(s.timestamp_ms for s in metadata.snapshots)
    parents = {s.parent_snapshot_id for s in metadata.snapshots}
    first = min((e.timestamp_ms for e in metadata.metadata_log if e.timestamp_ms is not None), default=None)
    return frozenset(
        s.snapshot_id
        for s in metadata.snapshots
        if s.snapshot_id in parents and s.snapshot_id not in files and first is not None
        and s.timestamp_ms is not None and first < s.timestamp_ms and times[s.timestamp_ms] == 1
    )  # fmt: skip


def transaction_words(metadata: TableMetadata, snapshot_id: int) -> str:
    """Say that a snapshot is in the middle of a transaction, and what the table was before and after it.

    Args:
        metadata: The table's.
        snapshot_id: The snapshot.

    Returns:
        A sentence; empty where the metadata log does not show it (see committed_with_later). Clocks that differ can
        make a commit look so: it must be missing in the snapshot log too, or be the delete of an overwrite, which
        pyiceberg leaves in that log.
    """
    together = committed_with_later(metadata)
    own_snapshot = metadata.snapshot(snapshot_id)
    if snapshot_id not in together or own_snapshot is None:
        return ""
    is_logged = any(entry.snapshot_id == snapshot_id for entry in metadata.snapshot_log)
    children = [s.operation for s in metadata.snapshots if s.parent_snapshot_id == snapshot_id]
    if is_logged and (own_snapshot.operation not in ("delete", "overwrite") or children != ["append"]):
        return ""
    children_of: dict[int | None, list[int]] = {}
    for snapshot in metadata.snapshots:
        children_of.setdefault(snapshot.parent_snapshot_id, []).append(snapshot.snapshot_id)
    after, before = snapshot_id, own_snapshot
    for _ in together:  # parents may be in a circle
        if after in together:
            if len(children_of[after]) > 1:  # nobody knows which of them is of the same commit
                return ""
            after = children_of[after][0]
        parent = metadata.snapshot(before.parent_snapshot_id) if before.snapshot_id in together else None
        before = parent or before
    name, name_after, name_before = (
        snapshot_name(own, snapshot_ordinals(metadata)) for own in (snapshot_id, after, before.snapshot_id)
    )
    was = "" if before.snapshot_id in together else f" The table was {name_before} before."
    return f"{name} is in the middle of a transaction, whose commit made {name_after} current at once.{was}"


WROTE = pa.schema(
    [
        ("manifest_path", pa.string()), ("snapshot_id", pa.int64()), ("status", pa.int32()), ("files", pa.int64()),
        ("rows", pa.int64()), ("bytes", pa.int64()), ("partitions", pa.int64()),
    ]
)  # fmt: skip
Wrote = Mapping[str, Sequence[Mapping[str, int | None]]]
"""Rows of WROTE by manifest."""


def entries_by_snapshot(manifest: ManifestFile, stored: pa.Table) -> pa.Table:
    """WROTE, the entries of a manifest by the snapshot that they store or inherit and their stored status; `partitions`
    is how many partitions they are of."""
    sizes = pc.coalesce(stored["content_size_in_bytes"], stored["file_size_in_bytes"])
    one = pa.repeat(pa.scalar(1, pa.int64()), stored.num_rows)
    places, _ = distinct_partitions(stored["partition"])
    columns = (snapshot_ids(stored, manifest), stored["status"], one, stored["record_count"], sizes, pa.array(places))
    table = pa.table(dict(zip(WROTE.names[1:], columns, strict=True)))
    keys = ["snapshot_id", "status"]
    sums = [(name, "sum") for name in WROTE.names[3:-1]]
    added = table.group_by(keys, use_threads=False).aggregate([*sums, ("partitions", "count_distinct")])
    named = [*(f"{name}_{how}" for name, how in sums), "partitions_count_distinct"]
    added = added.select([*keys, *named]).rename_columns(WROTE.names[1:])
    path = pa.repeat(pa.scalar(manifest.manifest_path), added.num_rows)
    return added.add_column(0, WROTE.names[0], path).cast(WROTE)


def by_manifest(rows: Batches) -> Wrote:
    """All rows of WROTE."""
    bounds: dict[str, list[Mapping[str, int | None]]] = {}
    for row in chain.from_iterable(part.to_pylist() for part in rows.read()):
        bounds.setdefault(row["manifest_path"], []).append(row)
    return bounds


def commit_costs(
    metadata: TableMetadata, commits: Iterable[tuple[Snapshot, Sequence[ManifestFile]]], entries: Wrote, size: Size
) -> Iterator[CommitCost]:
    """The cost of each commit, whose manifest list is at hand. `entries` are those of the manifests that they wrote."""
    files, ordinals = metadata_files(metadata), snapshot_ordinals(metadata)
    together = committed_with_later(metadata)
    for snapshot, manifests in commits:
        name = snapshot_name(snapshot.snapshot_id, ordinals)
        cost = _commit_cost(snapshot, name, manifests, entries, files.get(snapshot.snapshot_id), size)
        yield replace(cost, metadata_json_bytes=0) if snapshot.snapshot_id in together else cost


def _commit_cost(
    snapshot: Snapshot, name: str, manifests: Sequence[ManifestFile], entries: Wrote, json_file: str | None, size: Size
) -> CommitCost:
    counts = {(content, status): 0 for content in (0, 1) for status in (ADDED, DELETED)}
    rows, sizes, deletes, partitions = {ADDED: 0, DELETED: 0}, {ADDED: 0, DELETED: 0}, 0, 0
    written = [m for m in manifests if m.added_snapshot_id == snapshot.snapshot_id]
    for manifest in written:
        for row in entries.get(manifest.manifest_path, ()):
            status = row["status"]
            if row["snapshot_id"] == snapshot.snapshot_id and status in (ADDED, DELETED):
                counts[(min(manifest.content, 1), status)] += row["files"] or 0
                partitions += (row["partitions"] or 0) if manifest.content == 0 and status == ADDED else 0
                rows[status] += (row["rows"] or 0) if manifest.content == 0 else 0
                sizes[status] += row["bytes"] or 0
                deletes += (row["bytes"] or 0) if manifest.content != 0 and status == ADDED else 0
    return CommitCost(
        snapshot_id=snapshot.snapshot_id,
        snapshot=name,
        operation=snapshot.operation,
        data_files_added=counts[(0, ADDED)],
        partitions_added=partitions,
        data_files_removed=counts[(0, DELETED)],
        delete_files_added=counts[(1, ADDED)],
        delete_files_removed=counts[(1, DELETED)],
        rows_added=rows[ADDED],
        rows_removed=rows[DELETED],
        bytes_added=sizes[ADDED],
        delete_bytes_added=deletes,
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
    own = [m for s in steps(run, "snapshots") for m in tree.manifests(s) if m.added_snapshot_id == s.snapshot_id]
    last = tree.manifests(run[-1])
    parts = Parts(list({m.manifest_path: m for m in (*own, *last)}.values()), False, entries_by_snapshot, WROTE)
    tree.ahead(manifests=parts.manifests)
    entries = by_manifest(tree.read(parts))
    return cost_of(
        tree, run, entries, live_bytes(entries, [m.manifest_path for m in last], {s.snapshot_id for s in run})
    )


def cost_of(tree: Tree, run: Sequence[Snapshot], entries: Wrote, kept: int) -> RunCost:
    """The cost of a run whose manifests were read, and of whose files so many bytes are kept."""
    files = metadata_files(tree.metadata)
    sizes = tree.sizes(path for s in run for path in (s.manifest_list, files.get(s.snapshot_id)) if path)
    commits = ((s, tree.manifests(s)) for s in steps(run, "snapshots"))
    costs = tuple(commit_costs(tree.metadata, commits, entries, sizes.get))
    is_lost, manifests = tree.unreadable_in(run[-1]) if run else (False, [])
    return RunCost(costs, None if is_lost or manifests else kept)


def live_bytes(entries: Wrote, manifests: Iterable[str], run: Container[int]) -> int:
    """Bytes of the live files in some manifests that snapshots of the run added."""
    rows = chain.from_iterable(entries.get(path, ()) for path in manifests)
    live = (r for r in rows if r["status"] not in (DELETED, None) and r["snapshot_id"] in run)
    return sum(r["bytes"] or 0 for r in live)


def run_between(metadata: TableMetadata, first: int | None, last: int) -> list[Snapshot]:
    """The snapshots after `first` up to and with `last`, by parents, oldest first; None: from the oldest that is left.
    Raises ValueError when `first` is no ancestor of `last`, or nobody knows."""
    run: dict[int, Snapshot] = {}
    snapshot = metadata.snapshot(last)
    while snapshot is not None and snapshot.snapshot_id != first and snapshot.snapshot_id not in run:
        run[snapshot.snapshot_id] = snapshot
        snapshot = metadata.snapshot(snapshot.parent_snapshot_id)
    if first is not None and (snapshot is None or snapshot.snapshot_id != first):
        ends = list(run.values())[-1:]
        if snapshot is None and ends and ends[0].parent_snapshot_id is not None:
            words = f"whether {last} descends from {first} is not known: an ancestor, {ends[0].parent_snapshot_id}, has"
            raise ValueError(f"{words} expired, so no run of commits leads from one to the other")
        raise ValueError(f"snapshot {first} is no ancestor of {last}, so no run of commits leads from one to the other")
    return list(reversed(run.values()))
