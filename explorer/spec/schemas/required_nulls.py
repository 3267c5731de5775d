"""Nulls in columns that a schema promises to be never null: what Spark makes of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from explorer.model.metadata import Schema
from explorer.spec.schemas.stored_types import TypeDifference

BYTES = ("string", "binary", "uuid", "fixed")
"""What begins the types of which Spark takes a value's bytes, whether it is there or not."""
FAILS = "Spark 4.1 fails on queries that read those rows' values (NullPointerException)"
OTHERS = "Spark 4.1 shows other values in their place (0, or that of a row before), and a rewrite writes those for good"
NOT_WRITTEN = (
    "as far as metadata tells, the file is older than this required column, which has no initial default: Spark 4.1 "
    "and pyiceberg 0.12 fail on queries that read it"
)
SHOWS = "Spark 4.1 shows them, finds none by IS NULL, and fails to write them anew"


def spark_reading(kind: str) -> str:
    """Say what Spark makes of nulls in a required column of a primitive type."""
    if kind.startswith(BYTES):
        return FAILS
    return SHOWS if kind.startswith("decimal") else OTHERS


def required_nulls(footer: Mapping[str, Any], schema: Schema) -> Iterator[tuple[str, TypeDifference]]:
    """Find the required columns at the top of a schema of which a Parquet file has nulls.

    Args:
        footer: As storage.formats.parquet.read_footer returns it.
        schema: The schema under which the file is read.

    Yields:
        The name of a column, and what Spark makes of it.
    """
    wanted = {field.id: field for field in schema.fields if field.required and isinstance(field.type, str)}
    nulls: Counter[int] = Counter()
    for group in footer["row_groups"]:
        for column, chunk in zip(footer["columns"], group["columns"], strict=True):
            if column["field_id"] in wanted:
                nulls[column["field_id"]] += chunk["null_count"] or 0
    for own, number in nulls.items():
        if number:
            effect = spark_reading(str(wanted[own].type))
            stored = f"an optional column with nulls ({number:,})"
            yield (
                wanted[own].name,
                TypeDifference(stored, "a required one", effect, fails=effect != OTHERS, misread=effect == OTHERS),
            )
