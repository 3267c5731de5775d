"""By which schema Iceberg Java takes the names of a filter's columns, if not by the one that rows are read by."""

from __future__ import annotations

from dataclasses import dataclass

from explorer.model.metadata import Schema, Snapshot, TableMetadata
from explorer.spec.filters.expressions import BoundTerm, Expression, predicates
from explorer.spec.rows.row_diff import fields_by_path

READER = "Spark 4.1 with Iceberg Java 1.12"


@dataclass(frozen=True)
class OtherNames:
    """Columns of a filter that Iceberg Java does not find, or takes for others.

    Attributes:
        schema: What it calls the schema that it looks in.
        absent: Names that are not there.
        taken: Names that are of other columns there.
    """

    schema: str
    absent: tuple[str, ...]
    taken: tuple[str, ...]

    def __str__(self) -> str:
        where = f"Iceberg looks for its columns in {self.schema}"
        if self.absent:
            names = ", ".join(map(repr, self.absent))
            return f"{READER} fails with this filter: {where}, which has no {names} ('Cannot find field', #11162)"
        names = ", ".join(map(repr, self.taken))
        return f"{READER} may lose rows with this filter: {where}, and skips files by the columns called {names} there"


def other_names(
    metadata: TableMetadata, snapshot: Snapshot | None, schema: Schema, bound: Expression
) -> OtherNames | None:
    """Find columns of a filter that Iceberg Java takes for others. Of the current snapshot it binds filters to the
    table's current schema, of others to the snapshot's own, whatever schema Spark reads the version by: a branch by the
    current one, a snapshot's id or tag by its own (apache/iceberg#11162).

    Args:
        metadata: The table's.
        snapshot: The one that is read.
        schema: By which its rows are read.
        bound: The filter, bound to that schema.

    Returns:
        None where it finds all of them.
    """
    if snapshot is None or snapshot.schema_id is None:
        return None
    is_current = snapshot.snapshot_id == metadata.current_snapshot_id
    own = metadata.schema(metadata.current_schema_id if is_current else snapshot.schema_id)
    if own is None or own.schema_id == schema.schema_id:
        return None
    terms = (p.term for p in predicates(bound))
    columns = {t.column.name: t.column.field_id for t in terms if isinstance(t, BoundTerm)}
    there = {name: field["id"] for name, field in fields_by_path(own.raw["fields"]).items()}
    absent = tuple(name for name in columns if name not in there)
    taken = tuple(name for name, field_id in columns.items() if there.get(name, field_id) != field_id)
    called = "the table's current schema" if is_current else "the schema of the snapshot"
    return OtherNames(f"{called} ({own.schema_id})", absent, taken) if absent or taken else None
