"""Two snapshots of one table compared, or the commits between them: what spec.snapshots.diff,
spec.commits.commit_summary, spec.snapshots.metadata_diff and spec.commits.costs need is read from the tree."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from explorer.errors import NotFoundInTable
from explorer.model.manifest import ManifestFile
from explorer.model.metadata import Snapshot
from explorer.queries.metadata_tree import MetadataTree
from explorer.spec.commits.commit_summary import Step, step, with_few_removals
from explorer.spec.commits.costs import RunCost, run_between, run_cost
from explorer.spec.snapshots.diff import SnapshotDiff, diff, only
from explorer.spec.snapshots.metadata_diff import metadata_diff, schema_changes


def snapshot_diff(tree: MetadataTree, before: Snapshot | None, after: Snapshot | None) -> SnapshotDiff:
    """The net difference; None is the table before its first snapshot. Manifests that both list are not decoded."""
    return diff(tree, before, after, table_changes(tree, before, after))


FEW = 60
"""Entries of a manifest that is read to name the files that a step removed."""


def snapshot_step(tree: MetadataTree, snapshot: Snapshot, opened: Collection[str] | None = None) -> Step | None:
    """What a snapshot made of its parent's manifests, from the two lists. Files that it removed are named where they
    are few and in a small manifest; or, so that none is read for it, in those of `opened`. None where a list cannot be
    read."""
    parent = tree.metadata.snapshot(snapshot.parent_snapshot_id)
    before, here = tree.manifests(parent), tree.manifests(snapshot)
    if not tree.unreadable.isdisjoint(s.manifest_list for s in (parent, snapshot) if s is not None):
        return None
    read = [
        m
        for m in with_few_removals(only(here, before))
        if (_entries(m) <= FEW if opened is None else m.manifest_path in opened)
    ]
    entries = {m.manifest_path: table for m, table in tree.stored_entries(read)}
    return step(tree.metadata, snapshot, before, here, entries)


def _entries(manifest: ManifestFile) -> int:
    counts = (manifest.added_files_count, manifest.existing_files_count, manifest.deleted_files_count)
    return sum(n or 0 for n in counts)


def commit_run(tree: MetadataTree, start: Snapshot | None, end: Snapshot | None) -> RunCost:
    """What each commit after `start` (None: from the oldest snapshot on) up to `end` did and cost. Raises
    NotFoundInTable."""
    if end is None:
        return RunCost((), 0)
    try:
        run = run_between(tree.metadata, start.snapshot_id if start else None, end.snapshot_id)
    except ValueError as error:
        raise NotFoundInTable(str(error)) from error
    return run_cost(tree, run)


def table_changes(
    tree: MetadataTree, before: Snapshot | None, after: Snapshot | None
) -> Mapping[str, Mapping[str, Any]]:
    """What changed of the table itself: the schema by the snapshots' own schema ids; spec, sort order and properties
    from the metadata files that were current when each was new."""
    if before is None or after is None:
        return {}
    changes: dict[str, Any] = {
        "schema": schema_changes(tree.metadata, tree.metadata, before.schema_id, after.schema_id)
    }
    then, now = tree.metadata_of(before), tree.metadata_of(after)
    if then is None or now is None:
        note = "the metadata file of that time is gone, so this is not known"
        return changes | {name: {"unknown": note} for name in ("spec", "sort_order", "properties")}
    differing = metadata_diff(then, now)
    names = {"spec": "partition_specs", "sort_order": "sort_orders", "properties": "properties"}
    changes |= {name: differing.get(key, {}) for name, key in names.items()}
    for name, key in (("spec", "default_spec_id"), ("sort_order", "default_sort_order_id")):
        if key in differing:
            changes[name] = {**changes[name], "default": differing[key]}
    return changes
