"""The difference of two metadata files by meaning: what was added, removed and changed, not which lines."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from explorer.model.metadata import TableMetadata
from explorer.spec.secrets.redaction import metadata_without_secrets, without_secrets


def changes(before: Mapping[Any, Any], after: Mapping[Any, Any]) -> dict[str, Any]:
    """{added, removed, changed: {key: [before, after]}} of two mappings; empty when they are equal."""
    result: dict[str, Any] = {}
    if added := {str(k): after[k] for k in after if k not in before}:
        result["added"] = added
    if removed := {str(k): before[k] for k in before if k not in after}:
        result["removed"] = removed
    if changed := {str(k): [before[k], after[k]] for k in before if k in after and before[k] != after[k]}:
        result["changed"] = changed
    return result


def _by(items: Iterable[Any], key: str) -> dict[Any, Any]:
    return {getattr(item, key): item.raw for item in items}


def schema_changes(
    before: TableMetadata, after: TableMetadata, old_id: int | None, new_id: int | None
) -> dict[str, Any]:
    """Fields added, removed and changed between two schemas, by field id."""
    old, new = before.schema(old_id), after.schema(new_id)

    def fields(schema: Any) -> dict[int, Any]:
        return (
            {
                i: {
                    "name": f.name,
                    "type": f.type if isinstance(f.type, str) else f.type.get("type"),
                    "required": f.required,
                }
                for i, f in schema.by_id.items()
            }
            if schema
            else {}
        )

    result = changes(fields(old), fields(new))
    if (
        old
        and new
        and [f.id for f in old.fields if f.id in new.by_id] != [f.id for f in new.fields if f.id in old.by_id]
    ):
        result["reordered"] = [f.name for f in new.fields]
    return result


def metadata_diff(before: TableMetadata, after: TableMetadata) -> dict[str, Any]:
    """Everything that differs, under these keys, each absent when nothing of it does: snapshots {added, expired},
    snapshot_log {lost: snapshots that are there still, and whose lines are not}, refs,
    current_snapshot_id, schema, current_schema_id, partition_specs, default_spec_id, sort_orders,
    default_sort_order_id, properties, statistics, format_version, table_uuid, location. Two equal files give {}."""
    old, new = {s.snapshot_id for s in before.snapshots}, {s.snapshot_id for s in after.snapshots}
    result: dict[str, Any] = {}
    snapshots: dict[str, Any] = {}
    if new - old:
        snapshots["added"] = [s.snapshot_id for s in after.snapshots if s.snapshot_id not in old]
    if old - new:
        snapshots["expired"] = [s.snapshot_id for s in before.snapshots if s.snapshot_id not in new]
    logged = {entry.snapshot_id for entry in after.snapshot_log}
    lost = dict.fromkeys(e.snapshot_id for e in before.snapshot_log if e.snapshot_id in new - logged)
    schema = schema_changes(before, after, before.current_schema_id, after.current_schema_id)
    candidates = {
        "snapshots": snapshots,
        "snapshot_log": {"lost": list(lost)} if lost else {},
        "refs": changes(
            {r.name: [r.type, r.snapshot_id] for r in before.refs},
            {r.name: [r.type, r.snapshot_id] for r in after.refs},
        ),
        "schema": schema,
        "partition_specs": changes(_by(before.partition_specs, "spec_id"), _by(after.partition_specs, "spec_id")),
        "sort_orders": changes(_by(before.sort_orders, "order_id"), _by(after.sort_orders, "order_id")),
        "properties": {
            how: without_secrets(what) for how, what in changes(before.properties, after.properties).items()
        },
        "statistics": metadata_without_secrets(
            changes({s.path: s.raw for s in before.statistics}, {s.path: s.raw for s in after.statistics})
        ),
    }
    result.update({k: v for k, v in candidates.items() if v})
    for name in (
        "current_snapshot_id",
        "current_schema_id",
        "default_spec_id",
        "default_sort_order_id",
        "format_version",
        "table_uuid",
        "location",
    ):
        a, b = getattr(before, name), getattr(after, name)
        if a != b:
            result[name] = metadata_without_secrets([a, b])
    return result
