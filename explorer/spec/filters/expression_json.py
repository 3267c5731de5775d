"""Bound filters as Iceberg's JSON (REST catalog specification, "Expressions"; org.apache.iceberg.SingleValueParser)."""

from __future__ import annotations

import datetime
import uuid
from decimal import Decimal
from typing import Any

from explorer.spec.filters.expressions import NEGATED, And, BoundTerm, Constant, Expression, Not, Or, Predicate, Term

_EPOCH = datetime.datetime(1970, 1, 1)


def expression_json(node: Expression) -> Any:
    """A bound filter without NOT as JSON data. Raises ValueError for a time outside the years 1 to 9999."""
    if isinstance(node, (And, Or)):
        kind = "and" if isinstance(node, And) else "or"
        return {"type": kind, "left": expression_json(node.left), "right": expression_json(node.right)}
    if isinstance(node, Constant):
        return node.value
    assert isinstance(node, Predicate)
    assert isinstance(node.term, BoundTerm)
    term: Any = node.term.column.name
    if node.term.transform != "identity":
        term = {"type": "transform", "transform": node.term.transform, "term": term}
    values = [value_json(v, node.term.kind) for v in node.literals]
    operands = {"values": values} if node.op in ("in", "not-in") else {"value": values[0]} if values else {}
    return {"type": node.op, "term": term, **operands}


def parse_expression(data: Any) -> Expression:
    """Iceberg's JSON as an unbound expression, NOT and all. Raises ValueError for what it is not."""
    if isinstance(data, bool):
        return Constant(data)
    if not isinstance(data, dict):
        raise ValueError(f"no expression: {data!r}")
    kind = data.get("type")
    if kind in ("and", "or"):
        return (And if kind == "and" else Or)(parse_expression(data["left"]), parse_expression(data["right"]))
    if kind == "not":
        return Not(parse_expression(data["child"]))
    if kind not in NEGATED:
        raise ValueError(f"no operation {kind!r}")
    term = data["term"]
    named = Term(term["term"], term["transform"]) if isinstance(term, dict) and "transform" in term else Term(str(term))
    literals = data.get("values", [data["value"]] if "value" in data else [])
    return Predicate(kind, named, tuple(Decimal(repr(v)) if isinstance(v, float) else v for v in literals))


def value_json(value: Any, kind: str) -> Any:
    """An internal value of a type as JSON data (spec: "JSON single-value serialization")."""
    try:
        if kind == "date":
            return (_EPOCH.date() + datetime.timedelta(days=value)).isoformat()
        if kind == "time":
            return (_EPOCH + datetime.timedelta(microseconds=value)).time().isoformat("microseconds")
        if kind.startswith("timestamp"):
            micros, rest = divmod(value, 1000) if "_ns" in kind else (value, 0)
            text = (_EPOCH + datetime.timedelta(microseconds=micros)).isoformat(timespec="microseconds")
            return text + (f"{rest:03}" if "_ns" in kind else "") + ("+00:00" if "tz" in kind else "")
    except OverflowError as error:
        raise ValueError(f"{value} is no {kind} of the years 1 to 9999") from error
    if kind == "uuid":
        return str(uuid.UUID(bytes=value))
    if isinstance(value, bytes):
        return value.hex().upper()
    if kind in ("float", "double"):
        return float(value)
    return str(value) if kind.startswith("decimal") else value
