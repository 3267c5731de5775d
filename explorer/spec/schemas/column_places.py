"""Columns of files without field ids that Spark takes for others, as it goes by their places."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from explorer.model.metadata import Schema, TableMetadata
from explorer.spec.schemas.stored_types import TypeDifference


def schema_when_written(metadata: TableMetadata, sequence_number: int | None) -> Schema | None:
    """Return the schema under which a data file was written: that of the snapshot which added it.

    Args:
        metadata: The table's.
        sequence_number: The file's own (file_sequence_number).

    Returns:
        The schema; None where the snapshot has expired, or several have the number.
    """
    adders = [one for one in metadata.snapshots if one.sequence_number == sequence_number]
    return metadata.schema(adders[0].schema_id) if len(adders) == 1 and adders[0].schema_id is not None else None


def taken_by_place(
    footer: Mapping[str, Any],
    metadata: TableMetadata,
    schema: Schema,
    sequence_number: int | None,
    is_strict: bool = False,
) -> Iterator[tuple[str, TypeDifference]]:
    """Find the columns at the top of a schema that a Parquet file has by name, and that Spark takes for others (Iceberg
    Java: ParquetSchemaUtil.addFallbackIds).

    Args:
        footer: As storage.formats.parquet.read_footer returns it, as readers read it.
        metadata: The table's.
        schema: The schema under which the file is read.
        sequence_number: The file's own.
        is_strict: Whether a column counts of which that cannot be told, since the name has stood for two fields.

    Yields:
        The name of a column, and what Spark makes of it; nothing of a file that has field ids, or a name mapping.
    """
    if not footer.get("by_place"):
        return
    own, names = ({f.name: f.id for f in schema.fields}, {f.id: f.name for f in schema.fields})
    written, maybe = schema_when_written(metadata, sequence_number), [] if is_strict else metadata.schemas
    then = [written] if written else maybe
    meant = {(field.id, field.name) for one in then for field in one.fields}
    for place, name in enumerate(dict.fromkeys(column["path"].partition(".")[0] for column in footer["columns"]), 1):
        if own.get(name, place) == place or (place, name) in meant:
            continue
        taken = f"{names[place]} (field {place})" if place in names else f"field {place}"
        gone = "" if place in names else f", which the schema does not have, so that {name} is null"
        effect = f"Spark 4.1 goes by its place, and takes its values for those of {taken}{gone}"
        yield name, TypeDifference(f"column {place}, without a field id", f"field {own[name]}", effect, misread=True)
