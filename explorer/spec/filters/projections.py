"""A filter on rows, projected onto the fields of a partition spec (spec: "Scan Planning", "Partition Transforms").

The inclusive projection holds for the partition of every row that matches; the strict one only for partitions all of
whose rows match. The rules are Iceberg's: org.apache.iceberg.expressions.Projections and .transforms.ProjectionUtil."""

from __future__ import annotations

import decimal
from collections import Counter
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any

from explorer.model.metadata import PartitionField, PartitionSpec, TableMetadata
from explorer.spec.filters.expressions import (
    FALSE,
    TRUE,
    And,
    BoundTerm,
    Expression,
    FilterColumn,
    Or,
    Predicate,
    PredicateOperation,
    join_parts,
    rebuilt,
)
from explorer.spec.scan.reader_rules import JAVA, ReaderRules
from explorer.spec.values.transforms import Apply, is_known, parse_transform, step, transform_function
from explorer.spec.values.values import primitive_type, result_type, source_type

_EXACT = decimal.Context(prec=80)


def takes(transform: str, kind: Any) -> bool:
    """Whether a transform is one of the spec's, and takes a type. Readers ignore others (spec: "Partitioning")."""
    primitive = primitive_type(kind)
    if primitive is None or not is_known(transform):
        return False
    return bool(parse_transform(transform).can_transform(primitive))


def partition_columns(spec: PartitionSpec, metadata: TableMetadata) -> dict[int, FilterColumn]:
    """A spec's fields as columns, by partition field id; their type is None where the transform is not known."""
    columns = {}
    for field in spec.fields:
        source = source_type(metadata, field.source_ids)
        kind = result_type(field.transform, source) if takes(field.transform, source) else None
        columns[field.field_id] = FilterColumn(field.field_id, field.name, kind, False, field.transform, source)
    return columns


class Projection:
    """How filters project onto one spec."""

    def __init__(self, spec: PartitionSpec, metadata: TableMetadata, rules: ReaderRules = JAVA) -> None:
        self.spec, self.columns, self._rules = spec, partition_columns(spec, metadata), rules
        ids = Counter(field.field_id for field in spec.fields)
        self._known = [field for field in spec.fields if ids[field.field_id] == 1]
        """Those whose partition values can be told: of two with one id they could be the other's."""

    def inclusive(self, bound: Expression) -> Expression:
        """What holds for the partition of every row that matches a bound filter without NOT."""
        return rebuilt(bound, lambda leaf: _join(And, TRUE, self.each(leaf, strict=False)))

    def strict(self, bound: Expression) -> Expression:
        """What holds for partitions of which every row matches."""
        return rebuilt(bound, lambda leaf: _join(Or, FALSE, self.each(leaf, strict=True)))

    def each(self, leaf: Predicate, strict: bool) -> list[Predicate | None]:
        """A bound predicate projected onto each field of its column; None for a field that says nothing."""
        term = leaf.term
        assert isinstance(term, BoundTerm)
        fields = [f for f in self._known if f.source_ids == (term.column.field_id,)]
        return [self._onto(field, leaf, term, strict) for field in fields]

    def _onto(self, field: PartitionField, leaf: Predicate, term: BoundTerm, strict: bool) -> Predicate | None:
        column = self.columns[field.field_id]
        if column.kind is None or field.transform == "void":
            return None
        onto = BoundTerm(column, "identity", column.kind)
        if field.transform == "identity":
            same = term.transform == "identity"
            return Predicate(leaf.op, onto, leaf.literals) if same else None
        if term.transform != "identity":
            return Predicate(leaf.op, onto, leaf.literals) if term.transform == field.transform else None
        primitive = primitive_type(term.column.kind)
        if primitive is None:
            return None
        if leaf.op in ("is-null", "not-null"):
            return Predicate(leaf.op, onto)
        apply = transform_function(field.transform, primitive, self._rules.wraps)

        def further(value: Any, number: int) -> Any:
            return step(value, number, term.column.kind, self._rules.wraps)

        kind = field.transform.partition("[")[0]
        if kind == "bucket":
            projected = _bucket(leaf, apply, strict)
        elif kind == "truncate":
            projected = _truncate(leaf, apply, strict, field.transform, further)
        else:
            projected = _order_projection(leaf, apply, strict, further)
            if self._rules.widens_old_times and (term.column.kind, field.transform) != ("date", "day"):
                projected = _once_wrong(projected, strict)
        if projected is None:
            return None
        op, values = projected[0], tuple(dict.fromkeys(projected[1]))
        if op in ("in", "not-in") and len(values) == 1:
            op = "eq" if op == "in" else "not-eq"
        return Predicate(op, onto, values)


def _join(join: type[And] | type[Or], nothing: Expression, projected: Sequence[Predicate | None]) -> Expression:
    known = [predicate for predicate in projected if predicate is not None]
    return join_parts(join, known) if known else nothing


Projected = tuple[PredicateOperation, Sequence[Any]] | None


def _bucket(leaf: Predicate, apply: Apply, strict: bool) -> Projected:
    """Equal values fall into one bucket; nothing else is known of a hash."""
    wanted: tuple[PredicateOperation, ...] = ("not-eq", "not-in") if strict else ("eq", "in")
    return (leaf.op, [apply(v) for v in leaf.literals]) if leaf.op in wanted else None


def _order_projection(leaf: Predicate, apply: Apply, strict: bool, one: Callable[[Any, int], Any]) -> Projected:
    """Of a transform that keeps the order; `one(value, n)` is the value n steps further where there are steps."""
    op, values = leaf.op, leaf.literals
    if op in ("in", "not-in"):
        return (op, [apply(v) for v in values]) if op == ("not-in" if strict else "in") else None
    value = values[0] if values else None
    if strict:
        strictly: dict[PredicateOperation, tuple[PredicateOperation, int]] = {
            "lt": ("lt", 0), "lt-eq": ("lt", 1), "gt": ("gt", 0), "gt-eq": ("gt", -1), "not-eq": ("not-eq", 0),
        }  # fmt: skip
        other = strictly.get(op)
    else:
        loosely: dict[PredicateOperation, tuple[PredicateOperation, int]] = {
            "lt": ("lt-eq", -1), "lt-eq": ("lt-eq", 0), "gt": ("gt-eq", 1), "gt-eq": ("gt-eq", 0), "eq": ("eq", 0),
        }  # fmt: skip
        other = loosely.get(op)
    return (other[0], [apply(one(value, other[1]))]) if other else None


def _once_wrong(projected: Projected, strict: bool) -> Projected:
    """Iceberg up to 0.10 wrote times before 1970 one too large; its planner still reads such tables
    (ProjectionUtil.fixInclusiveTimeProjection, fixStrictTimeProjection)."""
    if projected is None:
        return None
    op, values = projected[0], list(projected[1])
    below = [v + 1 for v in values if v < 0]
    if strict:
        if op in ("gt", "gt-eq"):
            return op, [v + 1 if v <= 0 else v for v in values]
        if op in ("not-eq", "not-in") and below:
            return "not-in", values + below
        return op, values
    if op in ("lt", "lt-eq"):
        return op, [v + 1 if v < 0 else v for v in values]
    if op in ("eq", "in") and below:
        return "in", values + below
    return op, values


def _truncate(
    leaf: Predicate, apply: Apply, strict: bool, transform: str, further: Callable[[Any, int], Any]
) -> Projected:
    value = leaf.literals[0] if leaf.literals else None
    if leaf.op in ("starts-with", "not-starts-with"):
        return _prefix(leaf.op, str(value), int(transform[9:-1]), apply, strict)
    if isinstance(value, (str, bytes)):
        return _order_projection(leaf, apply, strict, lambda v, _: v)  # between two texts there is always another
    if isinstance(value, Decimal):
        kind = leaf.term.column.kind if isinstance(leaf.term, BoundTerm) else ""
        scale = int(kind.rstrip(")").split(",")[1])
        if any(v.as_tuple().exponent != -scale for v in leaf.literals):
            return None  # more digits than the column has
        return _order_projection(leaf, apply, strict, lambda v, n: _EXACT.add(v, Decimal(n).scaleb(-scale)))
    return _order_projection(leaf, apply, strict, further)


def _prefix(op: PredicateOperation, prefix: str, width: int, apply: Apply, strict: bool) -> Projected:
    if len(prefix) < width:
        return op, [prefix]
    if len(prefix) == width:
        return ("eq" if op == "starts-with" else "not-eq"), [prefix]
    if op == "starts-with":
        return None if strict else (op, [apply(prefix)])
    return (op, [apply(prefix)]) if strict else None
