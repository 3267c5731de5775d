"""What filters make of null that compare a column by `!=` or NOT IN."""

from __future__ import annotations

from collections.abc import Iterable

from explorer.model.metadata import Schema
from explorer.spec.filters.expressions import BoundTerm, Expression, Predicate, predicates
from explorer.spec.text.names import first_of, shorten

NEGATIVE = ("not-eq", "not-in", "not-starts-with")
DELETES = (
    "An equality delete is no such filter: its null deletes the rows whose {} is null, and no other value of it does. "
    "StarRocks shows the rows that a null deletes (StarRocks#67326). iceberg-rust before its pull request 2781 hid "
    "rows with null for any value"
)
"""Beside a filter on a column that equality deletes go by."""


def compared_with_null(bound: Expression, schema: Schema) -> list[Predicate]:
    """Find comparisons that null decides otherwise in SQL than in Iceberg's expressions.

    Args:
        bound: A filter, bound to columns, without NOT.
        schema: That of the columns.

    Returns:
        The comparisons by !=, NOT IN or NOT LIKE with a column that may be null, and that the filter does not ask for
        null, each column once.
    """
    leaves = [leaf for leaf in predicates(bound) if isinstance(leaf.term, BoundTerm)]
    required = {field.id for field in schema.fields if field.required}
    told = required | {leaf.term.column.field_id for leaf in leaves if leaf.op in ("is-null", "not-null")}  # type: ignore[union-attr]
    found: dict[int, Predicate] = {}
    for leaf in leaves:
        column = leaf.term.column  # type: ignore[union-attr]
        if leaf.op in NEGATIVE and column.field_id not in told:
            found.setdefault(column.field_id, leaf)
    return list(found.values())


def words_of_plan(bound: Expression, schema: Schema) -> str:
    """Say what a plan makes of null, and what readers do; empty where null matters not."""
    some = compared_with_null(bound, schema)
    if not some:
        return ""
    text, names = shorten(str(some[0]), 80), _names(some)
    return (
        f"rows whose {names} is null match {text} in Iceberg's own expressions, as this plan has it. In SQL they do "
        f"not: Spark asks for {_column(some[0])} IS NOT NULL too. pyiceberg 0.12 returns them for NOT IN with two "
        "values or more alone (iceberg-python#3918)"
    )


def words_of_rows(bound: Expression, schema: Schema, equality_ids: Iterable[int]) -> list[str]:
    """Say which rows a filter leaves out because of null, as in SQL.

    Args:
        bound: The filter.
        schema: That of its columns.
        equality_ids: The fields that equality deletes of the snapshot go by.

    Returns:
        Sentences.
    """
    some = compared_with_null(bound, schema)
    if not some:
        return []
    column = _column(some[0])
    words = [
        f"Rows whose {_names(some)} is null are not among them, as in SQL, where null is not unlike a value. OR "
        f"{column} IS NULL adds them. Iceberg's API for Java takes null for unlike."
    ]
    own = {leaf.term.column.field_id for leaf in some}  # type: ignore[union-attr]
    return [*words, f"{DELETES.format(_names(some))}."] if own & set(equality_ids) else words


def _column(leaf: Predicate) -> str:
    return shorten(leaf.term.column.name, 60)  # type: ignore[union-attr]


def _names(some: list[Predicate]) -> str:
    return first_of([_column(leaf) for leaf in some], 3)
