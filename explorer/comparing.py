"""Two snapshots of one table compared: what core.diff and core.metadata_diff need is read from the tree."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from explorer.core.diff import SnapshotDiff, diff
from explorer.core.metadata_diff import metadata_diff, schema_changes
from explorer.metadata_tree import MetadataTree
from explorer.model.metadata import Snapshot


def snapshot_diff(tree: MetadataTree, before: Snapshot | None, after: Snapshot | None) -> SnapshotDiff:
    """The net difference; None is the table before its first snapshot. Manifests that both list are not decoded."""
    return diff(tree, before, after, table_changes(tree, before, after))


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
