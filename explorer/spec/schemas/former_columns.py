"""Columns that had a name which another column has now: names come back, field ids do not (spec: "Schema
Evolution")."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from explorer.model.metadata import Schema, TableMetadata
from explorer.spec.rows.row_diff import fields_by_path
from explorer.spec.text.names import snapshot_name, snapshot_ordinals


@dataclass(frozen=True)
class FormerColumn:
    """A column that went by the name of another one: its field id, and a snapshot that is read by a schema with it."""

    name: str
    now_id: int
    field_id: int
    schema_id: int
    snapshot: str

    def __str__(self) -> str:
        return (
            f"{self.name} is field {self.now_id} of the schema that the filter is read by. Another column, field "
            f"{self.field_id}, had this name in schema {self.schema_id}: the filter does not ask for its values, which "
            f"-s {self.snapshot} shows"
        )


def former_columns(metadata: TableMetadata, schema: Schema, names: Iterable[str]) -> list[FormerColumn]:
    """Find other columns that had the names of columns of a schema.

    Args:
        metadata: The table's.
        schema: The schema by which the names are meant.
        names: Paths of columns in it.

    Returns:
        One for each field id that is still in the schema of a snapshot, by the newest such snapshot.
    """
    ordinals = snapshot_ordinals(metadata)
    here = {name: field["id"] for name, field in fields_by_path(schema.raw["fields"]).items()}
    wanted = [name for name in dict.fromkeys(names) if name in here]
    former_by_id: dict[tuple[str, int], FormerColumn] = {}
    fields: dict[int, dict[str, int]] = {}
    for snapshot in sorted(metadata.snapshots, key=lambda s: -ordinals[s.snapshot_id]):
        own = metadata.schema(snapshot.schema_id) if snapshot.schema_id is not None else None
        if own is None or own.schema_id is None:
            continue
        if own.schema_id not in fields:
            fields[own.schema_id] = {name: field["id"] for name, field in fields_by_path(own.raw["fields"]).items()}
        for name in wanted:
            field_id = fields[own.schema_id].get(name)
            if field_id is not None and field_id != here[name]:
                shown = snapshot_name(snapshot.snapshot_id, ordinals)
                former = FormerColumn(name, here[name], field_id, own.schema_id, shown)
                former_by_id.setdefault((name, field_id), former)
    return list(former_by_id.values())
