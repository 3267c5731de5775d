"""The difference of any two snapshots, as data: net files, and what became of the manifests.

Manifests that both snapshots list hold the same live files for both, so only the others are looked at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from explorer.core.entries import DELETED
from explorer.core.tree import Tree
from explorer.core.values import partition_path
from explorer.model.manifest import FileKind, ManifestFile, file_kind
from explorer.model.metadata import Snapshot, TableMetadata

Key = tuple[str, int | None, int | None]
"""A file as readers know it: path, and for deletion vectors content offset and size."""


@dataclass(frozen=True)
class FileChange:
    """A file that one side reads and the other does not. `kind` is what file_kind says of it."""

    file_path: str
    kind: FileKind
    record_count: int
    file_size_in_bytes: int
    spec_id: int
    partition: str
    content_offset: int | None
    content_size_in_bytes: int | None
    manifest_path: str

    @property
    def key(self) -> Key:
        """What identifies it."""
        return (self.file_path, self.content_offset, self.content_size_in_bytes)

    @property
    def bytes(self) -> int:
        """Bytes it takes: of a deletion vector only its blob."""
        return self.content_size_in_bytes if self.content_size_in_bytes is not None else self.file_size_in_bytes


@dataclass(frozen=True)
class Rewrite:
    """Manifests of the first snapshot whose entries went on into manifests of the second."""

    sources: tuple[str, ...]
    into: tuple[str, ...]
    reason: str

    @property
    def merged(self) -> bool:
        """Several became one."""
        return len(self.sources) > 1


@dataclass(frozen=True)
class Dropped:
    """A manifest of the first snapshot that left nothing in the second, and why."""

    manifest_path: str
    reason: str


@dataclass(frozen=True)
class SnapshotDiff:
    """What it takes to get from snapshot `before` to `after` (None: the empty table). Files are net: one that was added
    and removed in between is in neither list."""

    before: int | None
    after: int | None
    added: tuple[FileChange, ...]
    removed: tuple[FileChange, ...]
    kept_manifests: tuple[str, ...]
    added_manifests: tuple[str, ...]
    rewritten: tuple[Rewrite, ...]
    dropped: tuple[Dropped, ...]
    table: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    carried: Mapping[str, int] = field(default_factory=dict)
    """Of each manifest that only one side lists: how many of its live files both sides read."""

    def of(self, side: str, deletes: bool) -> list[FileChange]:
        """`added` or `removed` data files, or delete files and vectors."""
        changes = self.added if side == "added" else self.removed
        return [c for c in changes if (c.kind != "data_file") == deletes]

    @property
    def partitions(self) -> dict[str, dict[str, int]]:
        """Per partition touched: files, rows and bytes added and removed."""
        touched: dict[str, dict[str, int]] = {}
        for side, changes in (("added", self.added), ("removed", self.removed)):
            for change in changes:
                row = touched.setdefault(
                    change.partition, {f"{s}_{n}": 0 for s in ("added", "removed") for n in ("files", "rows", "bytes")}
                )
                row[f"{side}_files"] += 1
                row[f"{side}_rows"] += change.record_count if change.kind == "data_file" else 0
                row[f"{side}_bytes"] += change.bytes
        return dict(sorted(touched.items()))


@dataclass(frozen=True)
class Side:
    """One snapshot as the diff needs it: its manifest list, and the entries (core.entries' columns, as of it) of the
    manifests that the other side does not list. An unreadable manifest is absent from `entries`."""

    snapshot: Snapshot | None
    manifests: Sequence[ManifestFile]
    entries: Mapping[str, pa.Table]


def only(mine: Sequence[ManifestFile], other: Sequence[ManifestFile]) -> list[ManifestFile]:
    """The manifests that must be decoded: those the other side does not list."""
    theirs = {m.manifest_path for m in other}
    return [m for m in mine if m.manifest_path not in theirs]


def diff(
    tree: Tree,
    first: Snapshot | None,
    second: Snapshot | None,
    table: Mapping[str, Mapping[str, Any]] | None = None,
) -> SnapshotDiff:
    """Compare two snapshots of one table; they need not be related, and None is the table before its first. `table` is
    what core.metadata_diff says of their times."""
    tree.ahead(snapshot for snapshot in (first, second) if snapshot)
    mine, theirs, metadata = tree.manifests(first), tree.manifests(second), tree.metadata
    tree.ahead(manifests=[*only(mine, theirs), *only(theirs, mine)])
    before, after = _side(tree, first, mine, theirs), _side(tree, second, theirs, mine)
    (old, old_carried), (new, new_carried) = _changes(before, after, metadata), _changes(after, before, metadata)
    kept = {m.manifest_path for m in before.manifests} & {m.manifest_path for m in after.manifests}
    gone, made = only(before.manifests, after.manifests), only(after.manifests, before.manifests)
    rewritten, dropped = manifest_fates(gone, made, before.entries, after.entries)
    return SnapshotDiff(
        before=before.snapshot.snapshot_id if before.snapshot else None,
        after=after.snapshot.snapshot_id if after.snapshot else None,
        added=new,
        removed=old,
        kept_manifests=tuple(m.manifest_path for m in after.manifests if m.manifest_path in kept),
        added_manifests=tuple(m.manifest_path for m in made),
        rewritten=rewritten,
        dropped=dropped,
        table=table or {},
        carried=old_carried | new_carried,
    )


def _side(tree: Tree, snapshot: Snapshot | None, mine: list[ManifestFile], other: list[ManifestFile]) -> Side:
    entries = tree.logical(only(mine, other), snapshot) if snapshot else ()
    return Side(snapshot, mine, {m.manifest_path: table for m, table in entries})


_COLUMNS = ["content", "file_path", "file_format", "record_count", "file_size_in_bytes", "partition"]
_KEY = ["file_path", "content_offset", "content_size_in_bytes"]


def _live_keys(side: Side) -> pa.Table:
    """The keys of a side's live files, nulls as -1 so that they join, with where each is: `manifest` (index), `row`."""
    parts = []
    for i, manifest in enumerate(side.manifests):
        table = side.entries.get(manifest.manifest_path)
        if table is None:
            continue
        keys = pa.table(
            {
                "file_path": table["file_path"].cast(pa.string()),
                **{name: pc.fill_null(table[name].cast(pa.int64()), -1) for name in _KEY[1:]},
                "manifest": pa.repeat(pa.scalar(i, pa.int32()), table.num_rows),
                "row": pa.array(range(table.num_rows), pa.int64()),
            }
        )
        parts.append(keys.filter(pc.fill_null(pc.not_equal(table["status"], DELETED), True)))
    empty = pa.schema(
        [
            ("file_path", pa.string()),
            *((n, pa.int64()) for n in _KEY[1:]),
            ("manifest", pa.int32()),
            ("row", pa.int64()),
        ]
    )
    return pa.concat_tables(parts) if parts else empty.empty_table()


def _changes(mine: Side, other: Side, metadata: TableMetadata) -> tuple[tuple[FileChange, ...], dict[str, int]]:
    """The live files of `mine` that `other` does not have, by path; and for each manifest how many files both have."""
    keys = _live_keys(mine)
    own = keys.join(_live_keys(other).select(_KEY), keys=_KEY, join_type="left anti")
    carried = {m.manifest_path: 0 for m in mine.manifests if m.manifest_path in mine.entries}
    for table, sign in ((keys, 1), (own, -1)):
        for item in pc.value_counts(table["manifest"]).to_pylist():
            carried[mine.manifests[item["values"]].manifest_path] += sign * item["counts"]
    changes: dict[Key, FileChange] = {}
    for i in pc.unique(own["manifest"]).to_pylist():
        manifest = mine.manifests[i]
        rows = pc.filter(own["row"], pc.equal(own["manifest"], i))
        spec = metadata.spec(manifest.partition_spec_id)
        table = mine.entries[manifest.manifest_path].select([*_COLUMNS, *_KEY[1:]]).take(rows)
        for row in table.to_pylist():
            change = FileChange(
                file_path=row["file_path"],
                kind=file_kind(row["content"] or 0, row["file_format"] or ""),
                record_count=row["record_count"],
                file_size_in_bytes=row["file_size_in_bytes"],
                spec_id=manifest.partition_spec_id,
                partition=partition_path(row["partition"], spec, metadata),
                content_offset=row["content_offset"],
                content_size_in_bytes=row["content_size_in_bytes"],
                manifest_path=manifest.manifest_path,
            )
            changes[change.key] = change
    return tuple(changes[k] for k in sorted(changes, key=lambda key: (key[0], key[1] or 0))), carried


def _keys(table: pa.Table | None) -> set[Key]:
    if table is None:
        return set()
    columns = (table[n].to_pylist() for n in ("file_path", "content_offset", "content_size_in_bytes"))
    return set(zip(*columns, strict=True))


def manifest_fates(
    gone: Sequence[ManifestFile], made: Sequence[ManifestFile], old: Mapping[str, pa.Table], new: Mapping[str, pa.Table]
) -> tuple[tuple[Rewrite, ...], tuple[Dropped, ...]]:
    """What became of each manifest that is no longer listed: rewritten or merged into which, or dropped, and why."""
    holders: dict[Key, set[str]] = {}
    for manifest in made:
        for key in _keys(new.get(manifest.manifest_path)):
            holders.setdefault(key, set()).add(manifest.manifest_path)
    into: dict[tuple[str, ...], list[str]] = {}
    dropped: list[Dropped] = []
    for manifest in gone:
        table = old.get(manifest.manifest_path)
        if table is None:
            dropped.append(
                Dropped(manifest.manifest_path, "it cannot be read, so what became of its entries is not known")
            )
            continue
        targets = sorted(set().union(*(holders.get(key, set()) for key in _keys(table))))
        if targets:
            into.setdefault(tuple(targets), []).append(manifest.manifest_path)
        elif set(table["status"].to_pylist()) <= {DELETED}:
            dropped.append(
                Dropped(manifest.manifest_path, "it holds only DELETED entries, which no later snapshot reads")
            )
        else:
            dropped.append(
                Dropped(manifest.manifest_path, "none of its files is in any manifest of the other snapshot")
            )
    rewrites = []
    for targets_, sources in into.items():
        several = len(sources) > 1
        reason = (
            f"{len(sources)} manifests were merged"
            if several
            else "its entries were written anew, with changed statuses"
        )
        rewrites.append(Rewrite(tuple(sources), targets_, reason))
    return tuple(rewrites), tuple(dropped)
