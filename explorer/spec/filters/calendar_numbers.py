"""Numbers that a person writes for a year, month, day or hour of a column. Transforms of those names count from 1970
(spec: "Partition Transforms"), SQL's functions of those names within a year, month or day."""

from __future__ import annotations

from collections.abc import Mapping

from explorer.spec.filters.expressions import Expression, Predicate, Term, push_down_not, rebuilt
from explorer.spec.filters.filter_text import FilterError

CALENDAR_YEARS = range(1000, 10_000)
"""Numbers that are the year itself: as years since 1970 they would be after 2970."""
WITHIN: Mapping[str, tuple[range, str]] = {
    "month": (range(1, 13), "'2024-03'"),
    "day": (range(1, 32), "'2024-03-01'"),
    "hour": (range(24), "'2024-03-01-10'"),
}
"""By transform: numbers that SQL's function may have been meant by, and what names one in this language."""


def with_stored_numbers(expression: Expression) -> Expression:
    """Return a filter with years as Iceberg stores them.

    Args:
        expression: The filter as a person wrote it, not bound.

    Raises:
        FilterError: A number of a month, day or hour may mean either.
    """

    def leaf(predicate: Predicate) -> Expression:
        term = predicate.term
        if not isinstance(term, Term) or term.transform not in ("year", *WITHIN):
            return predicate
        return Predicate(predicate.op, term, tuple(_stored(literal, term) for literal in predicate.literals))

    return rebuilt(push_down_not(expression), leaf)


def _stored(literal: object, term: Term) -> object:
    if not isinstance(literal, int) or isinstance(literal, bool):
        return literal
    if term.transform == "year":
        return literal - 1970 if literal in CALENDAR_YEARS else literal
    numbers, example = WITHIN[term.transform]
    if literal in numbers:
        raise FilterError(
            f"{term} counts from 1970 here, so {literal} is not a {term.transform} of every "
            f"{'day' if term.transform == 'hour' else 'year' if term.transform == 'month' else 'month'}: write "
            f"{term} = {example}. SQL's function of that name skips no file: ask it with icedive sql, or plan --sql",
            column=term.name,
        )
    return literal
