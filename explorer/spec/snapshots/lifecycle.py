"""What became of every manifest, snapshot by snapshot (Part 1, figures 7 and 8: docs/texts.md), and of every file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import Literal

import pyarrow as pa
import pyarrow.compute as pc

from explorer.model.manifest import STATUS, ManifestFile, ManifestKind
from explorer.model.metadata import Snapshot
from explorer.progress import steps
from explorer.spec.entries.entries import LIVE, as_of
from explorer.spec.entries.lazy_table import Parts
from explorer.spec.entries.manifest_set_diff import KEY
from explorer.spec.entries.table_protocol import Tree
from explorer.spec.snapshots.diff import explain_manifests, only
from explorer.spec.text.names import first_of, manifest_names, runs, snapshot_name, snapshot_ordinals
from explorer.spec.text.path_lookup import closeness
from explorer.spec.values.values import row_dicts

ManifestState = Literal["created", "carried", "rewritten", "merged", "dropped"]


@dataclass(frozen=True)
class LifecycleCell:
    """One manifest at one snapshot. `state` is created, carried, rewritten, merged or dropped; `into` names the
    manifests it went on in, `reason` says why in words; counts are the manifest list's (None: unknown)."""

    manifest_path: str
    manifest: str
    snapshot_id: int
    snapshot: str
    state: ManifestState
    into: tuple[str, ...] = ()
    reason: str = ""
    added: int | None = None
    existing: int | None = None
    deleted: int | None = None
    kind: ManifestKind = "data_manifest"

    @property
    def entries(self) -> int:
        """All that the manifest lists, as far as it is known."""
        return sum(max(0, n or 0) for n in (self.added, self.existing, self.deleted))

    @property
    def live(self) -> int | None:
        """Entries a reader of that snapshot sees; of a manifest just created, DELETED ones are not among them."""
        return None if self.added is None or self.existing is None else self.added + self.existing


def _manifest_changes(tree: Tree, snapshot: Snapshot) -> tuple[list[ManifestFile], list[ManifestFile]]:
    """The manifests of the parent that a snapshot no longer lists, and those it lists newly; neither is looked at where
    nothing went."""
    parent = tree.metadata.snapshot(snapshot.parent_snapshot_id)
    here, before = tree.manifests(snapshot), tree.manifests(parent)
    gone = only(before, here)
    return (gone, only(here, before)) if gone else ([], [])


def lifecycle(tree: Tree) -> list[LifecycleCell]:
    """The cells of the matrix manifests by snapshots, in the order of the snapshots. Each snapshot is held against its
    parent. Only manifests that come or go are decoded."""
    metadata, ordinals = tree.metadata, snapshot_ordinals(tree.metadata)
    cells: list[LifecycleCell] = []
    first = {s.snapshot_id: s for s in reversed(metadata.snapshots)}  # of two with one id
    snapshots = sorted(first.values(), key=lambda s: ordinals[s.snapshot_id])
    tree.ahead(snapshots)
    changed = {s.snapshot_id: _manifest_changes(tree, s) for s in steps(snapshots, "snapshots")}
    tree.ahead(manifests=[m for gone, added in changed.values() for m in (*gone, *added)])
    compared = tree.comparisons([sets for sets in changed.values() if sets[0]], KEY)
    every = {m.manifest_path: m.added_snapshot_id for s in snapshots for m in tree.manifests(s)}
    names = manifest_names(every.items(), ordinals)
    for snapshot in steps(snapshots, "snapshots"):
        here = tree.manifests(snapshot)
        parent = metadata.snapshot(snapshot.parent_snapshot_id)
        before = {m.manifest_path: m for m in tree.manifests(parent)}
        label = snapshot_name(snapshot.snapshot_id, ordinals)

        def cell(
            m: ManifestFile,
            state: ManifestState,
            into: tuple[str, ...] = (),
            reason: str = "",
            *,
            at: Snapshot = snapshot,
            name: str = label,
        ) -> LifecycleCell:
            counts = (m.added_files_count, m.existing_files_count, m.deleted_files_count)
            return LifecycleCell(
                m.manifest_path, names[m.manifest_path], at.snapshot_id, name, state, into, reason, *counts,
                m.kind,
            )  # fmt: skip

        for manifest in here:
            if manifest.manifest_path in before:
                cells.append(
                    cell(manifest, "carried", reason="not touched by this commit, so the same file is listed again")
                )
            elif manifest.added_snapshot_id == snapshot.snapshot_id:
                cells.append(cell(manifest, "created", reason=f"written by {label}"))
            else:
                other = snapshot_name(manifest.added_snapshot_id, ordinals)
                why = (
                    f"written by {other}, and not in the parent's list: its parent has expired, or it came from "
                    "another branch"
                )
                cells.append(cell(manifest, "carried", reason=why))
        gone, added = changed[snapshot.snapshot_id]
        if not gone:
            continue
        rewrites, dropped = explain_manifests(gone, added, next(compared))
        for rewrite in rewrites:
            into = tuple(names[t] for t in rewrite.into)
            why = f"{rewrite.reason}: {first_of(into)}"  # once: each of thousands may have gone into each of thousands
            state: ManifestState = "merged" if rewrite.is_merge else "rewritten"
            cells += [cell(before[path], state, into, why) for path in rewrite.sources]
        cells += [cell(before[item.manifest_path], "dropped", reason=item.reason) for item in dropped]
    return cells


@dataclass(frozen=True)
class ManifestLife:
    """A manifest in the matrix of `lifecycle`: the cells of the snapshots that list it, in runs of columns that follow
    each other, and what ended it, once or on several branches."""

    manifest_path: str
    manifest: str
    runs: tuple[tuple[int, int, LifecycleCell], ...]
    """First and last column, and the cell of the last."""
    ends: tuple[tuple[int, LifecycleCell], ...]
    """The column of each end, and its cell."""


def lives(cells: Sequence[LifecycleCell]) -> tuple[list[str], list[ManifestLife]]:
    """(snapshot names, a life for each manifest), both in the order in which they come in `lifecycle`'s cells."""
    column = {name: at for at, name in enumerate(dict.fromkeys(c.snapshot for c in cells))}
    runs: dict[str, list[tuple[int, int, LifecycleCell]]] = {}
    ends: dict[str, list[tuple[int, LifecycleCell]]] = {}
    for cell in cells:
        at, path = column[cell.snapshot], cell.manifest_path
        own_runs = runs.setdefault(path, [])
        if cell.state not in ("created", "carried"):
            ends.setdefault(path, []).append((at, cell))
        elif own_runs and own_runs[-1][1] == at - 1:
            own_runs[-1] = (own_runs[-1][0], at, cell)
        else:
            own_runs.append((at, at, cell))
    return list(column), [
        ManifestLife(path, own_runs[0][2].manifest, tuple(own_runs), tuple(ends.get(path, ())))
        for path, own_runs in runs.items()
        if own_runs
    ]


@dataclass(frozen=True)
class FileEvent:
    """A file in one snapshot: its entry as stored and as of that snapshot, and in which manifest."""

    snapshot_id: int
    snapshot: str
    operation: str | None
    timestamp_ms: int | None
    manifest_path: str
    manifest: str
    status: str
    logical_status: str | None
    reason: str


@dataclass(frozen=True)
class FileLife:
    """The life of one data or delete file. `live_in` and `refs` say where it can still be read; `goes_when` what would
    have to happen before it could be deleted."""

    file_path: str
    events: tuple[FileEvent, ...]
    added_by: str | None
    deleted_by: str | None
    live_in: tuple[str, ...]
    refs: tuple[str, ...]
    goes_when: str

    def chapters(self) -> list[list[FileEvent]]:
        """The events, with those together that follow each other in one manifest and read the same."""
        alike = groupby(self.events, lambda e: (e.manifest, e.status, e.logical_status))
        return [list(events) for _, events in alike]


def file_life(tree: Tree, path: str) -> FileLife | None:
    """The life of the file that `path` means (see spec.text.path_lookup); None when no snapshot mentions it. Each
    manifest is looked through once. Raises ValueError when it means several."""
    metadata, ordinals = tree.metadata, snapshot_ordinals(tree.metadata)
    snapshots = sorted(metadata.snapshots, key=lambda s: ordinals[s.snapshot_id])
    tree.ahead(snapshots)
    every = {m.manifest_path: m for s in steps(snapshots, "snapshots") for m in tree.manifests(s)}
    parts = tree.read(Parts(list(every.values()), False, partial(_mentions, path), MENTIONS))
    rows = pa.concat_tables([MENTIONS.empty_table(), *parts.read()])
    rows = rows.filter(pc.equal(rows["closeness"], pc.min(rows["closeness"])))
    names = manifest_names(((m.manifest_path, m.added_snapshot_id) for m in every.values()), ordinals)
    listing = pc.unique(rows["manifest_path"]).to_pylist()
    mentions = {where: rows.filter(pc.equal(rows["manifest_path"], where)) for where in listing}
    events: list[FileEvent] = []
    paths: set[str] = set()
    for snapshot in steps(snapshots, "snapshots"):
        name = snapshot_name(snapshot.snapshot_id, ordinals)
        for manifest in tree.manifests(snapshot):
            if manifest.manifest_path not in mentions:
                continue
            listed = names[manifest.manifest_path]
            for row in row_dicts(as_of(mentions[manifest.manifest_path], manifest, snapshot.snapshot_id)):
                paths.add(row["file_path"])
                status = STATUS.get(row["status"], str(row["status"]))
                where = (
                    snapshot.snapshot_id,
                    name,
                    snapshot.operation,
                    snapshot.timestamp_ms,
                    manifest.manifest_path,
                    listed,
                )
                events.append(FileEvent(*where, status, row["logical_status"], row["reason"]))
    if len(paths) > 1:
        raise ValueError(f"{path!r} may mean {len(paths)} files: {', '.join(sorted(paths)[:5])}")
    if not events:
        return None
    live = tuple(dict.fromkeys(e.snapshot for e in events if e.logical_status in LIVE))
    refs = tuple(r.name for r in metadata.refs if snapshot_name(r.snapshot_id, ordinals) in live)
    added = next((e.snapshot for e in events if e.logical_status == "ADDED"), None)
    deleted = next((e.snapshot for e in events if e.logical_status == "DELETED"), None)
    if not live:
        goes = (
            "no snapshot reads it any more: expiring the snapshots that list it as DELETED, or removing orphan "
            "files, lets it go"
        )
    elif refs:
        there = first_of(refs)
        is_delete = any(every[e.manifest_path].content for e in events)
        goes = (
            f"it is a delete file of {there}: a commit would have to rewrite it there, or drop it whole (icedive "
            f"maintain file TABLE PATH tells whether it hides anything), and then {runs(live)} expire"
            if is_delete
            else f"it is read through {there}: a commit would have to rewrite it there, or drop it whole (rows that "
            f"deletes hide stay in it), and then {runs(live)} expire"
        )
    else:
        goes = f"{runs(live)} would have to expire"
    return FileLife(next(iter(paths)), tuple(events), added, deleted, live, refs, goes)


MENTIONS = pa.schema(
    [("manifest_path", pa.string()), ("file_path", pa.string()), ("status", pa.int32()), ("closeness", pa.int8())]
)


def _mentions(path: str, manifest: ManifestFile, stored: pa.Table) -> pa.Table:
    close = closeness(stored["file_path"], path)
    near = stored.select(MENTIONS.names[1:3]).append_column("closeness", close).filter(pc.is_valid(close))
    where = pa.repeat(pa.scalar(manifest.manifest_path), near.num_rows)
    return near.add_column(0, MENTIONS.names[0], where).cast(MENTIONS)


def matrix(cells: Sequence[LifecycleCell]) -> tuple[list[str], list[str], Mapping[tuple[str, str], LifecycleCell]]:
    """(manifest names, snapshot names, cells by both), for drawing."""
    rows = list(dict.fromkeys(c.manifest for c in cells))
    columns = list(dict.fromkeys(c.snapshot for c in cells))
    return rows, columns, {(c.manifest, c.snapshot): c for c in cells}
