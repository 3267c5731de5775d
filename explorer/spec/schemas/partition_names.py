"""The partition type that Iceberg Java makes of all specs of a table for its metadata tables
(Partitioning.partitionType), and what does not fit into it."""

from __future__ import annotations

from collections.abc import Mapping

from explorer.model.metadata import PartitionField, TableMetadata
from explorer.spec.text.names import name_in_sql

WIDTHS = {"bucket": "bucket({width}, {source})", "truncate": "truncate({width}, {source})"}
TIMES = {"year": "years({source})", "month": "months({source})", "day": "days({source})", "hour": "hours({source})"}


def clashing_names(metadata: TableMetadata) -> Mapping[str, tuple[int, ...]]:
    """Find names that several partition fields have in that type: of each field the newest spec's name counts.

    Args:
        metadata: The table's.

    Returns:
        The ids of the fields, by name.
    """
    schema = metadata.schema(metadata.current_schema_id)
    columns = schema.by_id if schema else {}
    names: dict[int, str] = {}
    for spec in sorted(metadata.partition_specs, key=lambda one: one.spec_id, reverse=True):
        for field in spec.fields:
            if field.transform != "void" and all(i in columns for i in field.source_ids):
                names.setdefault(field.field_id, field.name)
    ids: dict[str, list[int]] = {}
    for field_id, name in names.items():
        ids.setdefault(name, []).append(field_id)
    return {name: tuple(sorted(found)) for name, found in ids.items() if len(found) > 1}


def former_names(metadata: TableMetadata) -> dict[str, str]:
    """Find partition fields that keep a name which a column had, and no column has now.

    Args:
        metadata: The table's.

    Returns:
        The column that each such field comes from, by the field's name: Iceberg Java adds no column of that name.
    """
    schema = metadata.schema(metadata.current_schema_id)
    columns = {column.id: column.name for column in schema.by_id.values()} if schema else {}
    gone = {column.name for each in metadata.schemas for column in each.by_id.values()} - set(columns.values())
    names: dict[str, str] = {}
    for field in (field for spec in metadata.partition_specs for field in spec.fields):
        if field.name in gone and len(field.source_ids) == 1 and field.source_ids[0] in columns:
            names.setdefault(field.name, columns[field.source_ids[0]])
    return names


def refusal_of_clash(metadata: TableMetadata) -> str:
    """Say why Iceberg Java refuses what reads a metadata table; empty where it does not."""
    for name, (first, second, *_) in clashing_names(metadata).items():
        return f"Invalid schema: multiple fields for name partition.{name}: {first} and {second}"
    return ""


def rename_statement(metadata: TableMetadata, table: str, name: str) -> str:
    """Return the statement that gives a partition field of the default spec another name; empty where it has none of
    that name, or it cannot be printed."""
    spec = metadata.spec(metadata.default_spec_id or 0)
    field = next((one for one in (spec.fields if spec else ()) if one.name == name), None)
    others = {one.name for each in metadata.partition_specs for one in each.fields}
    schema = metadata.schema(metadata.current_schema_id)
    columns = {one.name.lower() for one in schema.by_id.values()} if schema else set()
    free = next(new for n in range(2, 100) if (new := f"{name}_{n}") not in others and new.lower() not in columns)
    term = _term(metadata, field) if field else ""
    old, new = name_in_sql(name), name_in_sql(free)
    return f"ALTER TABLE {table} REPLACE PARTITION FIELD {old} WITH {term} AS {new}" if term and old and new else ""


def _term(metadata: TableMetadata, field: PartitionField) -> str:
    column = metadata.field(field.source_ids[0]) if len(field.source_ids) == 1 else None
    parts = [name_in_sql(part) for part in column.name.split(".")] if column else []
    source = ".".join(parts) if parts and all(parts) else ""
    kind, _, width = field.transform.rstrip("]").partition("[")
    shape = "{source}" if kind == "identity" else TIMES.get(kind) or WIDTHS.get(kind, "")
    return shape.format(source=source, width=width) if source and (not width or width.isdecimal()) else ""
