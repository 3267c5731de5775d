"""Filters bound to columns: names looked up, literals as the values that Iceberg compares (spec: "Appendix D")."""

from __future__ import annotations

import datetime
import re
import uuid
from collections.abc import Mapping
from decimal import Context, Decimal, InvalidOperation
from typing import Any, Final

import numpy as np

from explorer.spec.filters.expressions import (
    FALSE,
    TRUE,
    BoundTerm,
    Constant,
    Expression,
    FilterColumn,
    Predicate,
    PredicateOperation,
    Term,
    push_down_not,
    rebuilt,
)
from explorer.spec.filters.filter_text import FilterError, UnquotedText
from explorer.spec.filters.projections import takes
from explorer.spec.text.names import shorten, similar_names
from explorer.spec.values.values import result_type

ABOVE: Final = "above"
BELOW: Final = "below"
_ABOVE_ALL: tuple[PredicateOperation, ...] = ("lt", "lt-eq", "not-eq")
_BELOW_ALL: tuple[PredicateOperation, ...] = ("gt", "gt-eq", "not-eq")
"""What all values do that are below, or above, a literal that the type cannot hold."""
_TIME = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?)?\s*(Z|UTC|[+-]\d\d:?\d\d)?", re.ASCII
)
_BITS = {"int": 31, "long": 63, "date": 31, "time": 63, "timestamp": 63, "timestamptz": 63, "timestamp_ns": 63,
         "timestamptz_ns": 63}  # fmt: skip
_EPOCH = datetime.date(1970, 1, 1).toordinal()
_PARTS = {"year": 1, "month": 2, "day": 3, "hour": 4}


def bind(expression: Expression, columns: Mapping[str, FilterColumn], null_too: bool = True) -> Expression:
    """The expression bound to columns, which go by their path, with NOT pushed down and what is always so folded. What
    holds for all values holds for null too, as Iceberg has it, or else, as in SQL, not. Raises FilterError for a name
    that is not there and a literal that does not fit."""

    def leaf(predicate: Predicate) -> Expression:
        try:
            bound = _bind(predicate, columns)
        except FilterError as error:
            error.column = str(getattr(predicate.term, "name", ""))
            raise
        if bound == TRUE and not null_too and predicate.literals:
            return Predicate("not-null", _term(predicate.term, columns))
        return bound

    return rebuilt(push_down_not(expression), leaf)


def _bind(predicate: Predicate, columns: Mapping[str, FilterColumn]) -> Expression:
    term = _term(predicate.term, columns)
    op = predicate.op
    if op in ("is-null", "not-null"):
        if term.kind == "unknown":  # spec: "Primitive Types": all its values are null
            return Constant(op == "is-null")
        return Constant(op == "not-null") if term.column.required else Predicate(op, term)
    if not isinstance(term.kind, str) or term.kind in ("unknown", "variant") or term.kind.startswith("geo"):
        kind = term.kind if isinstance(term.kind, str) else term.kind.get("type")
        raise FilterError(f"{term} is a {kind}: it can only be asked for IS NULL")
    if op in ("is-nan", "not-nan") and term.kind not in ("float", "double"):
        raise FilterError(f"{term} is of type {term.kind}: only float and double have NaN")
    if op in ("starts-with", "not-starts-with") and term.kind != "string":
        raise FilterError(f"{term} is of type {term.kind}: LIKE takes texts")
    if op in ("in", "not-in"):
        return _bind_in(op, term, predicate.literals)
    values = tuple(literal_value(v, term) for v in predicate.literals)
    if values and values[0] in (ABOVE, BELOW):
        return TRUE if op in (_ABOVE_ALL if values[0] is ABOVE else _BELOW_ALL) else FALSE
    return Predicate(op, term, values)


def _bind_in(op: PredicateOperation, term: BoundTerm, literals: tuple[Any, ...]) -> Expression:
    values = tuple(dict.fromkeys(v for v in (literal_value(x, term) for x in literals) if v not in (ABOVE, BELOW)))
    if not values:
        return Constant(op == "not-in")
    if len(values) == 1:
        return Predicate("eq" if op == "in" else "not-eq", term, values)
    return Predicate(op, term, values)


def _term(term: Any, columns: Mapping[str, FilterColumn]) -> BoundTerm:
    assert isinstance(term, Term)
    column = columns.get(term.name)
    if column is None:
        raise FilterError(_no_column_text(term.name, columns))
    if column.same_name:
        raise FilterError(
            f"{term.name!r} is ambiguous: it is the name of {' and of '.join(column.same_name)}; Iceberg Java refuses "
            "to load such a table"
        )
    if term.transform == "identity":
        return BoundTerm(column, "identity", column.kind)
    kind = result_type(term.transform, column.kind) if takes(term.transform, column.kind) else None
    if kind is None:
        shown = column.kind if isinstance(column.kind, str) else column.kind.get("type")
        raise FilterError(f"{term}: {term.transform.partition('[')[0]} takes no {shown}")
    return BoundTerm(column, term.transform, kind)


def _no_column_text(name: str, columns: Mapping[str, FilterColumn]) -> str:
    near = similar_names(name, columns) or [c for c in columns if c.lower() == name.lower()]
    meant = f"; is {near[0]!r} meant?" if near else f" (columns: {shorten(', '.join(columns), 400)})"
    return f"there is no column {name!r}{meant}"


def literal_value(literal: Any, term: BoundTerm) -> Any:
    """A literal as the value that Iceberg compares with the term's: days, microseconds, bytes; ABOVE or BELOW where its
    type has no such value. Raises FilterError."""
    kind, part = term.kind, _PARTS.get(term.transform)
    try:
        if part and isinstance(literal, str):
            return _part(literal, part)
        value = _convert(literal, kind)
    except (ValueError, InvalidOperation, OverflowError) as error:
        why = f": {error}" if isinstance(error, FilterError) else ""
        if kind == "string" and isinstance(literal, int | float | Decimal) and not isinstance(literal, bool):
            raise UnquotedText(f"{literal} is no string, which {term} is: write it in quotes") from error
        raise FilterError(f"{shorten(repr(literal), 60)} is no {kind}, which {term} is{why}") from error
    bits = _BITS.get(kind)
    if bits and isinstance(value, int) and not -(1 << bits) <= value < 1 << bits:
        return ABOVE if value > 0 else BELOW
    if kind == "float" and isinstance(value, float):
        largest = float(np.finfo(np.float32).max)
        return ABOVE if value > largest else BELOW if value < -largest else float(np.float32(value))
    return value


def _convert(literal: Any, kind: str) -> Any:
    number = isinstance(literal, (int, float, Decimal)) and not isinstance(literal, bool)
    if kind == "boolean":
        if isinstance(literal, str) and literal.lower() in ("true", "false"):
            return literal.lower() == "true"
        if isinstance(literal, bool):
            return literal
    elif kind in ("int", "long") and (number or isinstance(literal, str)):
        exact = Decimal(literal)
        if exact.is_finite() and exact.adjusted() > 40:  # beyond any type; as an integer it may fill the memory
            return 1 << 200 if exact > 0 else -1 << 200
        if exact != exact.to_integral_value():
            raise FilterError("it has a fraction")
        return int(exact)
    elif kind in ("float", "double") and (number or isinstance(literal, str)):
        value = float(literal)
        if value != value:
            raise FilterError("NaN is asked for with IS NAN")
        return value
    elif kind.startswith("decimal") and (number or isinstance(literal, str)):
        return _decimal(Decimal(literal), kind)
    elif kind == "string" and isinstance(literal, str):
        return literal
    elif kind in ("binary", "uuid") or kind.startswith("fixed"):
        return _bytes(literal, kind)
    elif kind in ("date", "time") or kind.startswith("timestamp"):
        if isinstance(literal, int) and not isinstance(literal, bool):
            return literal * 1000 if "_ns" in kind else literal
        if isinstance(literal, str):
            return _time(literal.strip(), kind)
    raise ValueError


def _decimal(value: Decimal, kind: str) -> Decimal:
    scale = int(kind.rstrip(")").split(",")[1])
    if not value.is_finite() or abs(value.adjusted()) > 40:
        raise FilterError("a decimal has at most 38 digits")
    with_scale = value.quantize(Decimal(1).scaleb(-scale), context=Context(prec=120))
    return with_scale if with_scale == value else value


def _bytes(literal: Any, kind: str) -> bytes:
    if isinstance(literal, bytes):
        value = literal
    elif kind == "uuid":
        value = uuid.UUID(str(literal)).bytes
    else:
        value = bytes.fromhex(str(literal).removeprefix("0x"))
    length = 16 if kind == "uuid" else int(kind[6:-1]) if kind.startswith("fixed[") else len(value)
    if len(value) != length:
        raise FilterError(f"it has {len(value)} bytes")
    return value


def _time(text: str, kind: str) -> int:
    if kind == "time":
        clock = datetime.time.fromisoformat(text)
        if clock.tzinfo:
            raise FilterError("it has a time zone")
        return ((clock.hour * 60 + clock.minute) * 60 + clock.second) * 1_000_000 + clock.microsecond
    match = _TIME.fullmatch(text)
    if not match:
        raise FilterError("it is written 2024-03-01" + ("" if kind == "date" else " or 2024-03-01 10:00:00"))
    year, month, day, hour, minute, second = (int(x or 0) for x in match.groups()[:6])
    days = datetime.date(year, month, day).toordinal() - _EPOCH
    if kind == "date":
        return days
    if hour > 23 or minute > 59 or second > 59:
        raise ValueError
    nanos = ((days * 24 + hour) * 60 + minute) * 60 + second
    zone = match[8]
    if zone and not kind.startswith("timestamptz"):
        raise FilterError("it has a time zone")
    if zone and zone not in ("Z", "UTC"):
        if int(zone[1:3]) > 18 or int(zone[-2:]) > 59:
            raise FilterError("there is no such time zone")
        away = int(zone[1:3]) * 3600 + int(zone[-2:]) * 60
        nanos -= away if zone[0] == "+" else -away
    nanos = nanos * 1_000_000_000 + int((match[7] or "").ljust(9, "0"))
    return nanos if "_ns" in kind else nanos // 1000


def milliseconds(text: str) -> int:
    """A time as milliseconds since 1970; without a zone it is UTC. Raises FilterError."""
    try:
        return _time(text.strip(), "timestamptz") // 1000
    except ValueError as error:
        raise FilterError(f"{text[:40]!r} is no time: it is written 2024-03-01 or 2024-03-01 10:00:00") from error


def _part(text: str, parts: int) -> int:
    """What year, month, day or hour gives for a time written as far as that: '2024', '2024-03', '2024-03-01-10'."""
    given = [int(x) for x in re.split(r"[- T:]", text.strip())]
    if len(given) != parts:
        raise FilterError(f"it is written {'-'.join(['2024', '03', '01', '10'][:parts])}")
    if parts == 1:
        return given[0] - 1970
    if parts == 2:
        if not 1 <= given[1] <= 12:
            raise ValueError
        return (given[0] - 1970) * 12 + given[1] - 1
    days = datetime.date(*given[:3]).toordinal() - _EPOCH
    return days if parts == 3 else days * 24 + given[3]
