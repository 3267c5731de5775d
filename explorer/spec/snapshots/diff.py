"""The difference of any two snapshots, as data: net files, and what became of the manifests.

Manifests that both snapshots list hold the same live files for both, so only the others are looked at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from explorer.model.manifest import ManifestFile
from explorer.model.metadata import Snapshot
from explorer.spec.entries.manifest_set_diff import KEY, rows_at
from explorer.spec.entries.manifest_sets import Comparison, RowsByManifest
from explorer.spec.entries.table_protocol import Tree
from explorer.spec.snapshots.file_changes import CHANGES, FileChanges, file_change_rows
from explorer.spec.text.names import snapshot_name, snapshot_ordinals


@dataclass(frozen=True)
class ManifestsRewrite:
    """Manifests of the first snapshot whose entries went on into manifests of the second."""

    sources: tuple[str, ...]
    into: tuple[str, ...]
    reason: str

    @property
    def is_merge(self) -> bool:
        """Several became one."""
        return len(self.sources) > 1


@dataclass(frozen=True)
class DroppedManifest:
    """A manifest of the first snapshot that left nothing in the second, and why."""

    manifest_path: str
    reason: str


@dataclass(frozen=True)
class SnapshotDiff:
    """What it takes to get from snapshot `before` to `after` (None: the empty table). Files are net: one that was added
    and removed in between is in neither list."""

    before: int | None
    after: int | None
    added: FileChanges
    removed: FileChanges
    kept_manifests: tuple[str, ...]
    added_manifests: tuple[str, ...]
    rewritten: tuple[ManifestsRewrite, ...]
    dropped: tuple[DroppedManifest, ...]
    table: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    carried: Mapping[str, int] = field(default_factory=dict)
    """Of each manifest that only one side lists: how many of its live files both sides read."""
    names: tuple[str, str] = ("nothing", "nothing")
    """Of both sides, as people call them."""

    def of(self, side: str, deletes: bool) -> FileChanges:
        """`added` or `removed` data files, or delete files and vectors."""
        return (self.added if side == "added" else self.removed).of_content(deletes)

    @property
    def partitions(self) -> dict[str, dict[str, int]]:
        """Per partition touched: files, rows and bytes added and removed."""
        sides = {"added": self.added.sums(), "removed": self.removed.sums()}
        return {
            name: {
                f"{side}_{what}": number
                for side, sums in sides.items()
                for what, number in zip(("files", "rows", "bytes"), sums.get(name, (0, 0, 0)), strict=True)
            }
            for name in sorted(sides["added"].keys() | sides["removed"].keys())
        }


def only(manifests: Sequence[ManifestFile], other: Sequence[ManifestFile]) -> list[ManifestFile]:
    """The manifests that must be decoded: those the other side does not list."""
    theirs = {m.manifest_path for m in other}
    return list(
        {m.manifest_path: m for m in manifests if m.manifest_path not in theirs}.values()
    )  # a list may repeat one


def diff(
    tree: Tree,
    first: Snapshot | None,
    second: Snapshot | None,
    table: Mapping[str, Mapping[str, Any]] | None = None,
) -> SnapshotDiff:
    """Compare two snapshots of one table; they need not be related, and None is the table before its first. `table` is
    what spec.snapshots.metadata_diff says of their times."""
    tree.ahead(snapshot for snapshot in (first, second) if snapshot)
    first_manifests, second_manifests = tree.manifests(first), tree.manifests(second)
    gone, added = only(first_manifests, second_manifests), only(second_manifests, first_manifests)
    tree.ahead(manifests=[*gone, *added])
    [comparison] = tree.comparisons([(gone, added)], KEY)
    old, new = (_changes(tree, side, alone) for side, alone in zip((gone, added), comparison.alone, strict=True))
    kept = {m.manifest_path for m in first_manifests} & {m.manifest_path for m in second_manifests}
    rewritten, dropped = explain_manifests(gone, added, comparison)
    carried: dict[str, int] = {}
    for side, live, alone in zip((gone, added), comparison.live, comparison.alone, strict=True):
        carried |= {side[at].manifest_path: count - len(alone.get(at, ())) for at, count in live.items()}
    ordinals = snapshot_ordinals(tree.metadata)
    before, after = (snapshot_name(s.snapshot_id, ordinals) if s else "nothing" for s in (first, second))
    return SnapshotDiff(
        before=first.snapshot_id if first else None,
        after=second.snapshot_id if second else None,
        added=new,
        removed=old,
        kept_manifests=tuple(m.manifest_path for m in second_manifests if m.manifest_path in kept),
        added_manifests=tuple(m.manifest_path for m in added),
        rewritten=rewritten,
        dropped=dropped,
        table=table or {},
        carried=carried,
        names=(before, after),
    )


def _changes(tree: Tree, manifests: Sequence[ManifestFile], rows: RowsByManifest) -> FileChanges:
    """The files of some rows of these manifests, by path."""
    parts = rows_at(manifests, rows, partial(file_change_rows, tree.metadata), CHANGES)
    return FileChanges(tree.in_order(tree.read(parts).map(lambda part: part.cast(CHANGES)), KEY))


def explain_manifests(
    gone: Sequence[ManifestFile], added: Sequence[ManifestFile], comparison: Comparison
) -> tuple[tuple[ManifestsRewrite, ...], tuple[DroppedManifest, ...]]:
    """What became of each manifest that is no longer listed, by what `compare` found of both: rewritten or merged into
    which, or dropped, and why."""
    holders: dict[int, list[str]] = {}
    for gone_place, added_place in comparison.shared:
        holders.setdefault(gone_place, []).append(added[added_place].manifest_path)
    into: dict[tuple[str, ...], list[str]] = {}
    dropped: list[DroppedManifest] = []
    for at, manifest in enumerate(gone):
        if at in holders:
            into.setdefault(tuple(sorted(holders[at])), []).append(manifest.manifest_path)
            continue
        live = comparison.live[0].get(at)
        if live is None:
            reason = "it cannot be read, so what became of its entries is not known"
        elif live:
            reason = "none of its files is in any manifest of the other snapshot"
        else:
            reason = "it holds only DELETED entries, which no later snapshot reads"
        dropped.append(DroppedManifest(manifest.manifest_path, reason))
    rewrites = []
    for targets_, sources in into.items():
        several = len(sources) > 1
        reason = (
            f"{len(sources):,} manifests were merged"
            if several
            else "its entries were written anew, with changed statuses"
        )
        rewrites.append(ManifestsRewrite(tuple(sources), targets_, reason))
    return tuple(rewrites), tuple(dropped)
