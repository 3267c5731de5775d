"""Where readers of a table deviate from the spec, or from each other, in what they skip (docs/readers.md).

Every answer follows Iceberg Java 1.12 on Spark 4.1. A `ReaderRules` says how others take the same metadata, so that a
plan can be made as each of them makes it. Tests hold each rule against the readers that run here."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

from explorer.model.metadata import Schema, TableMetadata
from explorer.spec.filters.expressions import (
    BoundTerm,
    Expression,
    FilterColumn,
    Predicate,
    either,
    predicates,
    rebuilt,
)
from explorer.spec.values.transforms import is_known, is_narrow, step, transform_function
from explorer.spec.values.values import primitive_type

UNSIGNED_UUID = "fixed[16]"
"""A type whose values order as the spec orders UUIDs: by their bytes, unsigned."""


@dataclass(frozen=True)
class ReaderRules:
    """How some readers take metadata where readers differ.

    Attributes:
        unsigned_uuids: UUIDs order by their bytes, as the spec has it. Java compares two signed numbers.
        short_bounds_are_days: Bounds of a timestamp that have 4 bytes are the days of a date, which the column was
            (spec: "Schema Evolution"). Java takes them for microseconds.
        widens_old_times: Filters on times before 1970 also keep the partition one above, since Iceberg up to 0.10
            wrote years, months, days and hours before 1970 one too high.
        keeps_nan: A file that may have NaN is kept where values above something are asked for, since Spark takes NaN
            for the greatest value. Bounds leave NaN out.
        wraps: Results of a transform that have no place in 32 or 64 bits wrap round, of the filter's literals as of
            the values that were written.
    """

    unsigned_uuids: bool = False
    short_bounds_are_days: bool = False
    widens_old_times: bool = True
    keeps_nan: bool = False
    wraps: bool = True

    def metadata(self, metadata: TableMetadata) -> TableMetadata:
        """Return a table's metadata as these readers take its types."""
        if not self.unsigned_uuids:
            return metadata
        return replace(metadata, schemas=tuple(_uuids_without_sign(schema) for schema in metadata.schemas))

    def expression(self, bound: Expression) -> Expression:
        """Return a bound filter as these readers take it."""

        def leaf(predicate: Predicate) -> Expression:
            term = predicate.term
            assert isinstance(term, BoundTerm)
            if self.unsigned_uuids and term.kind == "uuid":
                column = replace(term.column, kind=UNSIGNED_UUID)
                return Predicate(predicate.op, BoundTerm(column, term.transform, UNSIGNED_UUID), predicate.literals)
            if self.keeps_nan and asks_above(predicate):
                return either(predicate, Predicate("is-nan", term))
            return predicate

        return rebuilt(bound, leaf)


JAVA = ReaderRules()


@dataclass(frozen=True)
class ReaderDifference:
    """A place where readers differ.

    Attributes:
        rule: Its name in docs/readers.md.
        readers: Who takes metadata by `rules`, in words.
        words: In what they differ from Iceberg Java 1.12, as a sentence.
        concerns: Whether it can matter to a comparison of a filter on a table.
        rules: How those readers take metadata.
        inside_files: Whether they differ in what they skip inside data files too.
    """

    rule: str
    readers: str
    words: str
    concerns: Callable[[TableMetadata, Predicate], bool]
    rules: ReaderRules
    inside_files: bool = False


def _uuids_without_sign(schema: Schema) -> Schema:
    fields = {i: replace(f, type=UNSIGNED_UUID) if f.type == "uuid" else f for i, f in schema.by_id.items()}
    return replace(schema, by_id=fields, fields=tuple(fields[f.id] for f in schema.fields))


def asks_above(predicate: Predicate) -> bool:
    """Whether a comparison asks for all floating-point values above one."""
    term = predicate.term
    return isinstance(term, BoundTerm) and term.kind in ("float", "double") and predicate.op in ("gt", "gt-eq")


def was_date(metadata: TableMetadata, column: FilterColumn) -> bool:
    """Whether a timestamp column was a date in an older schema."""
    is_timestamp = isinstance(column.kind, str) and column.kind.startswith("timestamp")
    types = (schema.by_id[column.field_id].type for schema in metadata.schemas if column.field_id in schema.by_id)
    return is_timestamp and "date" in types


def _orders_uuids(_: TableMetadata, predicate: Predicate) -> bool:
    return isinstance(predicate.term, BoundTerm) and predicate.term.kind == "uuid" and bool(predicate.literals)


def _asks_promoted_date(metadata: TableMetadata, predicate: Predicate) -> bool:
    return isinstance(predicate.term, BoundTerm) and was_date(metadata, predicate.term.column)


def _asks_time_before_1970(metadata: TableMetadata, predicate: Predicate) -> bool:
    term = predicate.term
    if not isinstance(term, BoundTerm) or not any(_is_before_1970(v) for v in predicate.literals):
        return False
    fields = [f for spec in metadata.partition_specs for f in spec.fields]
    return any(f.source_ids == (term.column.field_id,) and f.transform in _TIMES for f in fields)


def _asks_what_wraps(metadata: TableMetadata, predicate: Predicate) -> bool:
    term = predicate.term
    primitive = primitive_type(term.column.kind) if isinstance(term, BoundTerm) else None
    if not isinstance(term, BoundTerm) or primitive is None or term.transform != "identity":
        return False
    own = [f for spec in metadata.partition_specs for f in spec.fields if f.source_ids == (term.column.field_id,)]
    for transform in {f.transform for f in own if is_known(f.transform) and is_narrow(f.transform, term.column.kind)}:
        java, plain = (transform_function(transform, primitive, wraps) for wraps in (True, False))
        for value, number in product(predicate.literals, (-1, 0, 1)):
            if java(step(value, number, term.column.kind)) != plain(value + number):
                return True
    return False


_TIMES = ("year", "month", "day", "hour")


def _is_before_1970(value: Any) -> bool:
    return isinstance(value, int) and value <= 0


DIFFERENCES = (
    ReaderDifference(
        "uuid-order",
        "pyiceberg 0.12 and DuckDB 1.5",
        "Iceberg Java 1.12 orders UUIDs as signed numbers, inside data files too, so that 8… to f… come before 0… to "
        "7…; pyiceberg 0.12 and DuckDB 1.5 order their bytes, as the spec does",
        _orders_uuids,
        ReaderRules(unsigned_uuids=True),
        inside_files=True,
    ),
    ReaderDifference(
        "promoted-date",
        "DuckDB 1.5, as the spec says,",
        "bounds of 4 bytes are days, since the column was a date; Iceberg Java 1.12 takes them for microseconds, and "
        "neither Spark 4.1 nor pyiceberg 0.12 can read the column in older files",
        _asks_promoted_date,
        ReaderRules(short_bounds_are_days=True),
    ),
    ReaderDifference(
        "nan-order",
        "A scan that misses no NaN",
        "Spark takes NaN for the greatest value, and bounds leave NaN out, so that Spark skips files that may have NaN",
        lambda _, predicate: asks_above(predicate),
        ReaderRules(keeps_nan=True),
    ),
    ReaderDifference(
        "times-before-1970",
        "pyiceberg 0.12",
        "Iceberg up to 0.10 wrote years, months, days and hours before 1970 one too high; Iceberg Java keeps such "
        "partitions, pyiceberg 0.12 does not",
        _asks_time_before_1970,
        ReaderRules(widens_old_times=False),
    ),
    ReaderDifference(
        "wraps-round",
        "pyiceberg 0.12",
        "a truncated number, or an hour, that has no place in 32 or 64 bits wraps round in Iceberg Java, which writes "
        "partitions and looks filters up that way; pyiceberg 0.12 looks for a number that no partition has",
        _asks_what_wraps,
        ReaderRules(wraps=False, widens_old_times=False),
    ),
)


def differences(metadata: TableMetadata, bound: Expression) -> Iterator[ReaderDifference]:
    """Find the places where readers may differ in what they skip for a filter.

    Args:
        metadata: The table's metadata.
        bound: The filter, bound to columns.

    Yields:
        The differences that concern the filter's comparisons.
    """
    comparisons = list(predicates(bound))
    for difference in DIFFERENCES:
        if any(difference.concerns(metadata, predicate) for predicate in comparisons):
            yield difference
