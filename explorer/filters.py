"""Filters in pyiceberg's syntax: which rows match, and which data files may hold some.

Fields inside structs go by their path (`address.city = 'x'`); lists, maps and types that pyiceberg does not know can be
asked for nulls."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyiceberg.expressions import AlwaysTrue, BooleanExpression
from pyiceberg.expressions.parser import parse
from pyiceberg.expressions.visitors import BoundBooleanExpressionVisitor, _InclusiveMetricsEvaluator, bind, visit
from pyiceberg.manifest import DataFile, DataFileContent, FileFormat
from pyiceberg.schema import Schema
from pyiceberg.typedef import Record
from pyiceberg.types import NestedField, UnknownType

from explorer.core.deletes import LiveFile
from explorer.core.names import shorten
from explorer.core.row_diff import column_at, named_fields
from explorer.core.values import primitive_type
from explorer.errors import NotFoundInTable
from explorer.model import metadata as model


def filter_schema(schema: model.Schema) -> Schema:
    """A schema as filters see it: every column and every field inside a struct, side by side, under its path."""
    fields = []
    for path, field in named_fields(schema.raw["fields"]).items():
        known = primitive_type(field["type"]) or UnknownType()
        fields.append(NestedField(field["id"], path, known, required=False))
    return Schema(*fields, schema_id=schema.schema_id)


def bound_filter(where: str, schema: Schema, bind_it: bool = True) -> BooleanExpression:
    """A filter bound to a filter_schema (or checked and left unbound). Raises NotFoundInTable when it does not fit."""
    try:
        if not where.strip():
            return AlwaysTrue()
        bound = bind(schema, parse(where), case_sensitive=True)
        return bound if bind_it else parse(where)
    except Exception as error:  # the parser and the binder have many kinds of errors
        names = ", ".join(f.name for f in schema.fields)
        first = shorten(str(error).splitlines()[0] if str(error) else type(error).__name__, 160)
        raise NotFoundInTable(f"the filter {where!r} does not fit: {first} (columns: {names})") from error


def matching(rows: pa.Table, bound: BooleanExpression) -> pa.Table:
    """The rows of a table that match a bound filter."""
    return rows if isinstance(bound, AlwaysTrue) else rows.filter(visit(bound, _Rows(rows)))


def _comparison(compare: Callable[..., Any]) -> Any:
    def visited(self: _Rows, term: Any, literal: Any) -> Any:
        column = self.column(term)
        return compare(column, pa.scalar(literal.value, column.type))

    return visited


class _Rows(BoundBooleanExpressionVisitor[Any]):
    """Of each row whether it matches; null where a comparison with null decides."""

    def __init__(self, rows: pa.Table) -> None:
        self.rows = rows

    def column(self, term: Any) -> Any:
        column = column_at(self.rows, term.ref().field.name)
        return column.cast(column.type.storage_type) if isinstance(column.type, pa.BaseExtensionType) else column

    visit_equal, visit_not_equal = _comparison(pc.equal), _comparison(pc.not_equal)
    visit_less_than, visit_less_than_or_equal = _comparison(pc.less), _comparison(pc.less_equal)
    visit_greater_than, visit_greater_than_or_equal = _comparison(pc.greater), _comparison(pc.greater_equal)

    def visit_in(self, term: Any, literals: Any) -> Any:
        column = self.column(term)
        return pc.is_in(column, value_set=pa.array(list(literals), column.type))

    def visit_not_in(self, term: Any, literals: Any) -> Any:
        return pc.invert(self.visit_in(term, literals))

    def visit_is_nan(self, term: Any) -> Any:
        return pc.is_nan(self.column(term))

    def visit_not_nan(self, term: Any) -> Any:
        return pc.invert(self.visit_is_nan(term))

    def visit_is_null(self, term: Any) -> Any:
        return pc.is_null(self.column(term))

    def visit_not_null(self, term: Any) -> Any:
        return pc.is_valid(self.column(term))

    def visit_starts_with(self, term: Any, literal: Any) -> Any:
        return pc.starts_with(self.column(term), literal.value)

    def visit_not_starts_with(self, term: Any, literal: Any) -> Any:
        return pc.invert(self.visit_starts_with(term, literal))

    def visit_true(self) -> Any:
        return pa.repeat(True, self.rows.num_rows)

    def visit_false(self) -> Any:
        return pa.repeat(False, self.rows.num_rows)

    def visit_not(self, child_result: Any) -> Any:
        return pc.invert(child_result)

    def visit_and(self, left_result: Any, right_result: Any) -> Any:
        return pc.and_kleene(left_result, right_result)

    def visit_or(self, left_result: Any, right_result: Any) -> Any:
        return pc.or_kleene(left_result, right_result)


def metrics_filter(unbound: BooleanExpression, schema: Schema) -> Callable[[LiveFile], bool]:
    """Whether a data file's counts and bounds allow a match of an unbound filter (spec: "Scan Planning")."""
    if isinstance(unbound, AlwaysTrue):
        return lambda _: True
    return functools.partial(_may_match, _InclusiveMetricsEvaluator(schema, unbound))


def _may_match(evaluator: _InclusiveMetricsEvaluator, data: LiveFile) -> bool:
    file = DataFile.from_args(
        content=DataFileContent.DATA, file_path=data.path, file_format=FileFormat.PARQUET, partition=Record(),
        record_count=data.record_count, file_size_in_bytes=data.size, value_counts=dict(data.values),
        null_value_counts=dict(data.nulls), nan_value_counts=dict(data.nans),
        lower_bounds=dict(data.lower), upper_bounds=dict(data.upper),
    )  # fmt: skip
    try:
        return bool(evaluator.eval(file))
    except Exception:  # bounds written before a promotion, or damaged: the file is read
        return True
