"""The partition type that Iceberg Java makes of all specs of a table for its metadata tables
(Partitioning.partitionType), and what does not fit into it."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from explorer.model.metadata import PartitionField, TableMetadata
from explorer.spec.text.names import name_in_sql

WIDTHS = {"bucket": "bucket({width}, {source})", "truncate": "truncate({width}, {source})"}
HIGHEST_FILE_ID = 145
"""The highest id of a field of data files, beside those of partition fields."""
NO_PRIMITIVE = "Cannot partition by non-primitive source field"
"""How Java takes a partition field's id for that of a struct."""
METRICS = 6
"""Fields that `readable_metrics` has of each column."""
NO_PRIMITIVES = ("variant",)
"""Types that are written as one name, and that `readable_metrics` leaves out."""
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


def fields_without_source(metadata: TableMetadata, spec_id: int) -> list[PartitionField]:
    """Return the fields of a partition spec that come from a column which the current schema does not have."""
    schema, spec = metadata.schema(metadata.current_schema_id), metadata.spec(spec_id)
    columns = schema.by_id if schema else {}
    return [field for field in (spec.fields if spec else ()) if not all(i in columns for i in field.source_ids)]


def voids_without_source(metadata: TableMetadata) -> list[PartitionField]:
    """Return the fields `void` of the default spec whose column was dropped, where Spark's writes fail for them: the
    spec has other fields."""
    own, spec = metadata.default_spec_id or 0, metadata.spec(metadata.default_spec_id or 0)
    is_partitioned = any(field.transform != "void" for field in (spec.fields if spec else ()))
    return [f for f in fields_without_source(metadata, own) if f.transform == "void" and is_partitioned]


def fields_taken_for_metrics(metadata: TableMetadata, spec_id: int) -> list[PartitionField]:
    """Find the partition fields of a spec whose id stands for something else in Iceberg Java's metadata tables.

    The tables `files` and `entries` leave out a partition field whose column was dropped, and number the fields of
    `readable_metrics` from the next id on (MetricsUtil.readableMetricsSchema). Where a struct of these gets the id of
    the field that was left out, Java refuses each manifest of the spec (PartitionSpec.checkCompatibility).

    Args:
        metadata: The table's.
        spec_id: The spec's id.

    Returns:
        These fields.
    """
    schema = metadata.schema(metadata.current_schema_id)
    columns = schema.by_id if schema else {}
    there = [
        field.field_id
        for spec in metadata.partition_specs
        for field in spec.fields
        if all(i in columns for i in field.source_ids)
    ]
    first = max(there, default=HIGHEST_FILE_ID) + 1
    leaves = sum(isinstance(column.type, str) and column.type not in NO_PRIMITIVES for column in columns.values())
    structs = range(first, first + leaves * (METRICS + 1) + 1, METRICS + 1)
    return [field for field in fields_without_source(metadata, spec_id) if field.field_id in structs]


def refusal_of_entries(metadata: TableMetadata, spec_ids: Collection[int]) -> str:
    """Say why Iceberg Java refuses what reads the metadata table `entries`, as rewrite_manifests does.

    Args:
        metadata: The table's.
        spec_ids: The partition specs that the current snapshot's manifests are of.

    Returns:
        Its words; empty where it does not refuse.
    """
    for name, (first, second, *_) in clashing_names(metadata).items():
        return f"Invalid schema: multiple fields for name partition.{name}: {first} and {second}"
    return NO_PRIMITIVE if any(fields_taken_for_metrics(metadata, spec_id) for spec_id in spec_ids) else ""


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
