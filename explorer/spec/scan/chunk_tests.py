"""What the statistics, the dictionary or the bloom filter of a column chunk say of one comparison.

The rules are Iceberg's (org.apache.iceberg.parquet.ParquetMetricsRowGroupFilter, ParquetDictionaryRowGroupFilter and
ParquetBloomRowGroupFilter); each says whether rows of the chunk may match, and why."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from explorer.spec.filters.binding import ABOVE, BELOW, literal_value
from explorer.spec.filters.expressions import BoundTerm, Predicate
from explorer.spec.filters.filter_text import FilterError
from explorer.spec.scan.bloom import may_hold
from explorer.spec.scan.pruning import Why, inclusive, words
from explorer.spec.scan.ranges import Bounds, Ranges, values_of
from explorer.spec.text.names import shorten
from explorer.spec.values.ordering import comparable
from explorer.spec.values.stored_values import Column, encode_value, from_stored_in_java

ChunkPart = Literal["dictionary", "bloom filter", "page index"]
ChunkAnswer = tuple[bool, str]
"""Whether rows may match, and why; no words where the test does not apply."""
NULLS = ("is-null", "not-null")
NEGATIVE = ("not-eq", "not-in", "not-starts-with", "not-nan")
"""What null matches too, as Iceberg has it."""
_NAMED = 5


@dataclass(frozen=True)
class Unread:
    """A part of a chunk that cannot be read, or not be told apart: what may be in it is not known."""

    cause: str


def by_statistics(leaf: Predicate, ranges: Ranges, absent: bool) -> ChunkAnswer:
    """Of `ranges` of one place. A column that is `absent` from the file holds nulls, or its initial default."""
    if leaf.op in ("not-eq", "not-in") and not absent:
        return True, "Iceberg holds != and NOT IN against no statistics"
    why = Why(int(inclusive(leaf, ranges)[0]))
    return why >= 0, words(why, leaf, ranges, 0) + (" (the file has no such column)" if absent else "")


def by_dictionary(leaf: Predicate, values: Sequence[Any] | Unread, column: Column, may_null: bool) -> ChunkAnswer:
    """Of all values of a chunk, as they are stored."""
    assert isinstance(leaf.term, BoundTerm)
    entries = values if isinstance(values, Unread) else _internal(values, column, leaf.term.kind)
    if isinstance(entries, Unread):
        return True, f"its dictionary is not used: {entries.cause}"
    test = _test(leaf)
    matching = next((v for v in entries if test(comparable(v, leaf.term.kind))), None)
    named = ", ".join(shorten(leaf.term.value_text(v), 60) for v in entries[:_NAMED]) + (
        ", …" if len(entries) > _NAMED else ""
    )
    opening = f"dictionary of {len(entries):,} value{'' if len(entries) == 1 else 's'}{named and ': '}{named}; "
    if matching is not None:
        return True, f"{opening}{shorten(leaf.term.value_text(matching), 60)} matches"
    if leaf.op in NEGATIVE and may_null:
        return True, f"{opening}none matches, but there may be nulls"
    wanted = leaf.term.value_text(leaf.literals[0]) if leaf.op == "eq" else ""
    return False, opening + (f"{shorten(wanted, 60)} is not among them" if wanted else "none matches")


def _internal(values: Sequence[Any], column: Column, kind: str) -> list[Any] | Unread:
    convert = from_stored_in_java(column, kind)
    if convert is None:
        return Unread(f"a {kind} stored as {column['type']} ({column['logical_type']})")
    try:
        return [convert(v) for v in values]
    except ValueError as error:
        return Unread(f"not all its values are of type {kind}: {error}")


def _test(leaf: Predicate) -> Callable[[Any], bool]:
    """Whether a value that is not null matches."""
    keys, wanted, nan = leaf.keys, leaf.key_set, comparable(float("nan"), "double")
    tests: dict[str, Callable[[Any], bool]] = {
        "eq": lambda v: v in wanted, "in": lambda v: v in wanted,
        "not-eq": lambda v: v not in wanted, "not-in": lambda v: v not in wanted,
        "lt": lambda v: v < keys[0], "lt-eq": lambda v: v <= keys[0],
        "gt": lambda v: v > keys[0], "gt-eq": lambda v: v >= keys[0],
        "starts-with": lambda v: v.startswith(keys[0]), "not-starts-with": lambda v: not v.startswith(keys[0]),
        "is-nan": lambda v: v == nan, "not-nan": lambda v: v != nan,
    }  # fmt: skip
    return tests[leaf.op]


def by_bloom_filter(leaf: Predicate, bits: bytes | Unread, column: Column) -> ChunkAnswer:
    """Of the bits of a filter. Only = and IN can be looked up."""
    assert isinstance(leaf.term, BoundTerm)
    if isinstance(bits, Unread):
        return True, f"its bloom filter is not used: {bits.cause}"
    stored = [encode_value(v, column, leaf.term.kind) for v in leaf.literals]
    if None in stored:
        return True, f"Iceberg looks no {leaf.term.kind} up in a bloom filter of {column['type']}"
    opening = f"bloom filter of {len(bits):,} bytes: "
    for value, item in zip(leaf.literals, stored, strict=True):
        if item is not None and may_hold(bits, item):
            return True, f"{opening}{shorten(leaf.term.value_text(value), 60)} may be in it"
    wanted = shorten(leaf.term.value_text(leaf.literals[0]), 60) if leaf.op == "eq" else "none of those asked for"
    return False, f"{opening}{wanted} is{' not' if leaf.op == 'eq' else ''} in it"


def chunk_ranges(
    only_nulls: Sequence[bool], nulls: Sequence[int | None], low: Sequence[Any], high: Sequence[Any], kind: str
) -> Ranges:
    """What is promised of a column in some places, by their nulls and bounds; None where they are not known."""
    only, no = np.array(only_nulls, bool), np.zeros(len(only_nulls), bool)
    return Ranges(
        nulls_only=only, may_null=np.array([n is None or n > 0 for n in nulls], bool), nans_only=no, may_nan=~no,
        empty=only, sure_no_null=no, sure_no_nan=no, lower=_bounds(low, kind, -0.0), upper=_bounds(high, kind, 0.0),
    )  # fmt: skip


def _bounds(statistics: Sequence[Any], kind: str, zero: float) -> Bounds:
    """Bounds as values that order. A zero may have either sign."""
    values = [zero if isinstance(v, float) and v == 0 else v for v in statistics]
    valid = np.array([v is not None and v == v for v in values], bool)
    return Bounds(values_of([comparable(v, kind) if k else 0 for v, k in zip(values, valid, strict=True)]), valid)


def statistic_value(stored: Any, term: BoundTerm) -> Any:
    """A bound of the footer's statistics, or a default, as an internal value; None for what does not fit the type."""
    try:
        value = None if stored is None else literal_value(stored, term)
    except (FilterError, TypeError, ValueError, ArithmeticError):
        return None
    return None if value in (ABOVE, BELOW) else value


def absent_ranges(value: Any, nested: bool, term: BoundTerm) -> Ranges:
    """Of a column that a file lacks: nulls in all rows, or its initial default; a field of a null struct is null."""
    ranges = chunk_ranges([value is None], [None if value is None or nested else 0], [value], [value], term.kind)
    return replace(ranges, may_nan=np.zeros(1, bool))
