"""Filters as expressions: comparisons of terms with literals, joined by AND, OR and NOT (spec: "Scan Planning").

Operations have the names of Iceberg's expressions in JSON (REST catalog specification, "Expressions")."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from explorer.spec.values.ordering import comparable
from explorer.spec.values.values import partition_value, readable

PredicateOperation = Literal[
    "is-null", "not-null", "is-nan", "not-nan", "lt", "lt-eq", "gt", "gt-eq", "eq", "not-eq", "in", "not-in",
    "starts-with", "not-starts-with",
]  # fmt: skip

NEGATED: dict[PredicateOperation, PredicateOperation] = {
    "is-null": "not-null", "is-nan": "not-nan", "lt": "gt-eq", "gt": "lt-eq", "eq": "not-eq", "in": "not-in",
    "starts-with": "not-starts-with", "not-null": "is-null", "not-nan": "is-nan", "gt-eq": "lt", "lt-eq": "gt",
    "not-eq": "eq", "not-in": "in", "not-starts-with": "starts-with",
}  # fmt: skip
SIGNS = {"lt": "<", "lt-eq": "<=", "gt": ">", "gt-eq": ">=", "eq": "=", "not-eq": "!="}
_TESTS = {"is-null": "IS NULL", "not-null": "IS NOT NULL", "is-nan": "IS NAN", "not-nan": "IS NOT NAN"}


@dataclass(frozen=True)
class Term:
    """What is compared, as it was written: a column, or a transform of one (`day(ts)`, `bucket[16](id)`)."""

    name: str
    transform: str = "identity"

    def __str__(self) -> str:
        return term_text(self.name, self.transform)


def term_text(name: str, transform: str) -> str:
    """A term as a person writes it: `bucket(16, id)` for the transform bucket[16]."""
    if transform == "identity":
        return name
    kind, _, argument = transform.partition("[")
    return f"{kind}({argument[:-1]}, {name})" if argument else f"{kind}({name})"


@dataclass(frozen=True)
class FilterColumn:
    """A column or partition field that filters may name. `kind` is the spec's JSON type, of a partition field that of
    the transform's result; `shown_as` the transform whose results its values are. `name` is the dotted path;
    `same_name` has in words the fields that share it, if there are several."""

    field_id: int
    name: str
    kind: Any
    required: bool = False
    shown_as: str = "identity"
    source_kind: Any = None
    same_name: tuple[str, ...] = ()

    def value_text(self, value: Any) -> str:
        """One of its values, as a person reads it."""
        return value_text(value, self.kind, self.shown_as, self.source_kind)


def value_text(value: Any, kind: Any, transform: str = "identity", source_kind: Any = None) -> str:
    """A value as filters write it: texts in quotes, dates and times in ISO form, month 650 as 2024-03."""
    if value is None:
        return "null"
    if transform != "identity" and not transform.startswith("truncate"):
        return str(partition_value(value, transform, source_kind))
    shown = readable(value, kind)
    if isinstance(shown, bool):
        return str(shown).lower()
    quoted = isinstance(value, str) or (isinstance(shown, str) and not isinstance(value, bytes) and kind != "uuid")
    return "'" + str(shown).replace("'", "''") + "'" if quoted and not _decimal(kind) else str(shown)


def _decimal(kind: Any) -> bool:
    return isinstance(kind, str) and kind.startswith("decimal")


@dataclass(frozen=True)
class BoundTerm:
    """A column, or a transform of it, with the type of what is compared."""

    column: FilterColumn
    transform: str
    kind: Any

    def __str__(self) -> str:
        return term_text(self.column.name, self.transform)

    def value_text(self, value: Any) -> str:
        """One of its values, as a person reads it."""
        if self.transform == "identity":
            return self.column.value_text(value)
        return value_text(value, self.kind, self.transform, self.column.kind)


@dataclass(frozen=True)
class Constant:
    """All rows, or none."""

    value: bool

    def __str__(self) -> str:
        return "true" if self.value else "false"


TRUE, FALSE = Constant(True), Constant(False)


@dataclass(frozen=True)
class Predicate:
    """One comparison. Of a bound one the `literals` are Iceberg's internal values: days, microseconds, bytes."""

    op: PredicateOperation
    term: Term | BoundTerm
    literals: tuple[Any, ...] = ()

    @cached_property
    def keys(self) -> tuple[Any, ...]:
        """Of a bound one the literals, as values that order."""
        kind = self.term.kind if isinstance(self.term, BoundTerm) else None
        return tuple(comparable(v, kind) for v in self.literals)

    @cached_property
    def key_set(self) -> frozenset[Any]:
        """The keys, to be looked up."""
        return frozenset(self.keys)

    def __str__(self) -> str:
        if self.op in _TESTS:
            return f"{self.term} {_TESTS[self.op]}"
        values = [self.term.value_text(v) if isinstance(self.term, BoundTerm) else _plain(v) for v in self.literals]
        if self.op in ("in", "not-in"):
            listed = ", ".join(values[:20]) + (f", … {len(values) - 20} more" if len(values) > 20 else "")
            return f"{self.term} {'NOT ' if self.op == 'not-in' else ''}IN ({listed})"
        if self.op in ("starts-with", "not-starts-with"):
            return f"{self.term} {'NOT ' if self.op == 'not-starts-with' else ''}LIKE {values[0][:-1]}%'"
        return f"{self.term} {SIGNS[self.op]} {values[0]}"


def _plain(value: Any) -> str:
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    if isinstance(value, bool):
        return str(value).lower()
    return f"X'{value.hex()}'" if isinstance(value, bytes) else str(value)


@dataclass(frozen=True)
class And:
    """Rows that match both sides."""

    left: Expression
    right: Expression

    def __str__(self) -> str:
        return " AND ".join(f"({side})" if isinstance(side, Or) else str(side) for side in (self.left, self.right))


@dataclass(frozen=True)
class Or:
    """Rows that match one side or both."""

    left: Expression
    right: Expression

    def __str__(self) -> str:
        return " OR ".join(f"({side})" if isinstance(side, And) else str(side) for side in (self.left, self.right))


@dataclass(frozen=True)
class Not:
    """Rows that do not match."""

    child: Expression

    def __str__(self) -> str:
        return f"NOT ({self.child})"


Expression = Constant | Predicate | And | Or | Not


def both(left: Expression, right: Expression) -> Expression:
    """AND, without what changes nothing."""
    if FALSE in (left, right):
        return FALSE
    return right if left == TRUE else left if right == TRUE else And(left, right)


def either(left: Expression, right: Expression) -> Expression:
    """OR, without what changes nothing."""
    if TRUE in (left, right):
        return TRUE
    return right if left == FALSE else left if right == FALSE else Or(left, right)


def join_parts(join: type[And] | type[Or], parts: Sequence[Expression]) -> Expression:
    """Many parts joined as a balanced tree: as deep as their number has digits."""
    if len(parts) == 1:
        return parts[0]
    middle = len(parts) // 2
    return join(join_parts(join, parts[:middle]), join_parts(join, parts[middle:]))


def rebuilt(expression: Expression, leaf: Callable[[Predicate], Expression]) -> Expression:
    """The expression with something else for each predicate; constants are folded. NOTs must have been pushed down."""
    if isinstance(expression, And):
        return both(rebuilt(expression.left, leaf), rebuilt(expression.right, leaf))
    if isinstance(expression, Or):
        return either(rebuilt(expression.left, leaf), rebuilt(expression.right, leaf))
    if isinstance(expression, Not):
        raise ValueError("NOT must be pushed down first")
    return leaf(expression) if isinstance(expression, Predicate) else expression


def push_down_not(expression: Expression, negate: bool = False) -> Expression:
    """The same without NOT: it is pushed down to the predicates (Iceberg: RewriteNot)."""
    if isinstance(expression, Not):
        return push_down_not(expression.child, not negate)
    if isinstance(expression, (And, Or)):
        left, right = push_down_not(expression.left, negate), push_down_not(expression.right, negate)
        return both(left, right) if isinstance(expression, And) != negate else either(left, right)
    if not negate:
        return expression
    if isinstance(expression, Constant):
        return Constant(not expression.value)
    return Predicate(NEGATED[expression.op], expression.term, expression.literals)


def has_or(expression: Expression) -> bool:
    """Whether rows need not meet every comparison."""
    if isinstance(expression, And):
        return has_or(expression.left) or has_or(expression.right)
    return isinstance(expression, Or)


def predicates(expression: Expression) -> Iterator[Predicate]:
    """All comparisons, from left to right."""
    if isinstance(expression, Predicate):
        yield expression
    elif isinstance(expression, Not):
        yield from predicates(expression.child)
    elif isinstance(expression, (And, Or)):
        yield from predicates(expression.left)
        yield from predicates(expression.right)
