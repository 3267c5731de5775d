"""Names, texts and filters of strangers as parts of a statement of ours."""

from __future__ import annotations

import datetime
import re
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from explorer.errors import NotPossible
from explorer.spec.filters.expressions import SIGNS, TRUE, And, BoundTerm, Constant, Expression, Or, Predicate
from explorer.spec.text.names import in_backticks, is_plain
from explorer.spec.values.values import readable
from explorer.storage.catalogs.sandbox_entries import SANDBOX

EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
_NUMBERS = {"float": "FLOAT", "double": "DOUBLE"}
_DECIMAL = re.compile(r"decimal\(\s*(\d{1,2})\s*,\s*(\d{1,2})\s*\)", re.ASCII)


def identifier(parts: Iterable[str]) -> str:
    """A name of several parts, those in backticks that need them."""
    return ".".join(part if is_plain(part) else in_backticks(part) for part in parts)


def column(parts: Iterable[str]) -> str:
    """A column in a query, or a field inside structs: always in backticks, since `true` and `all` are words of SQL."""
    return ".".join(map(in_backticks, parts))


def literal(text: str) -> str:
    """A string literal, in which nothing is an escape but what is escaped here."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def timestamp(milliseconds: int) -> str:
    """Return a moment as a literal that Spark 3.5 and later accept as an argument of CALL, which takes no functions.

    Args:
        milliseconds: Since 1970, in UTC.

    Raises:
        NotPossible: The moment is before year 1 or after year 9999.
    """
    try:
        moment = EPOCH + datetime.timedelta(milliseconds=milliseconds)
    except OverflowError as error:
        raise NotPossible(f"{milliseconds} milliseconds is not between the years 1 and 9999") from error
    return f"TIMESTAMP '{moment.isoformat(' ', 'milliseconds').removesuffix('+00:00')} UTC'"


Paths = Mapping[int, Sequence[str]]


def condition(
    bound: Expression, fields: Sequence[Mapping[str, Any]], catalog: str = SANDBOX, in_call: bool = False
) -> str:
    """A filter bound to a schema's fields (as JSON) as Spark SQL; of all rows nothing. Every name is in backticks: null
    and true are words of SQL. Transforms are functions of `catalog`. Raises NotPossible for what Spark has no words
    for. `in_call`: only what Iceberg translates in the argument of a procedure."""
    return "" if bound == TRUE else _condition(bound, dict(_paths(fields)), catalog, in_call)


def _paths(fields: Sequence[Mapping[str, Any]], above: Sequence[str] = ()) -> Iterator[tuple[int, Sequence[str]]]:
    """The names from the schema down to each field, which may have dots themselves, by field id."""
    for field in fields:
        path, kind = (*above, field["name"]), field["type"]
        yield field["id"], path
        if isinstance(kind, Mapping) and kind.get("type") == "struct":
            yield from _paths(kind["fields"], path)


def _condition(node: Expression, paths: Paths, catalog: str, in_call: bool) -> str:
    if isinstance(node, Constant):
        return str(node)
    if isinstance(node, (And, Or)):
        join = "AND" if isinstance(node, And) else "OR"
        left, right = (_condition(side, paths, catalog, in_call) for side in (node.left, node.right))
        return f"({left} {join} {right})"
    assert isinstance(node, Predicate)
    assert isinstance(node.term, BoundTerm)
    term, op = _term(node.term, paths, catalog), node.op
    if op in ("is-null", "not-null"):
        return f"{term} IS {'NOT ' if op == 'not-null' else ''}NULL"
    if op in ("is-nan", "not-nan"):
        if in_call:  # Iceberg cannot translate isnan() there
            nan = f"CAST('NaN' AS {_NUMBERS[node.term.kind]})"
            return f"{term} = {nan}" if op == "is-nan" else f"({term} IS NULL OR {term} != {nan})"
        return f"{'NOT ' if op == 'not-nan' else ''}isnan({term})"
    if op.endswith("starts-with"):
        negation, begin = "NOT " if op.startswith("not") else "", str(node.literals[0])
        if in_call:  # nor LIKE with an escape
            return f"{negation}startswith({term}, {literal(begin)})"
        escaped = re.sub(r"([%_\\])", r"\\\1", begin)
        return f"{term} {negation}LIKE {literal(escaped + '%')}"
    values = [_value(value, node.term) for value in node.literals]
    if op in ("in", "not-in"):
        return f"{term} {'NOT ' if op == 'not-in' else ''}IN ({', '.join(values)})"
    return f"{term} {SIGNS[op]} {values[0]}"


def _term(term: BoundTerm, paths: Paths, catalog: str) -> str:
    path = paths.get(term.column.field_id)
    if path is None:
        raise NotPossible(f"the schema has no field of id {term.column.field_id}, which {term} asks for")
    column = ".".join(map(in_backticks, path))
    if term.transform == "identity":
        return column
    name, _, argument = term.transform.partition("[")
    function = identifier([catalog, "system", name if argument else f"{name}s"])
    return f"{function}({int(argument[:-1])}, {column})" if argument else f"{function}({column})"


def _value(value: Any, term: BoundTerm) -> str:
    kind = "date" if term.transform == "day" else term.kind
    shown = str(readable(value, kind))
    if kind in ("int", "long", "boolean"):
        return shown.lower()
    if kind in _NUMBERS:
        return f"CAST({literal(str(value))} AS {_NUMBERS[kind]})"
    if digits := _DECIMAL.fullmatch(kind):
        return f"CAST({literal(str(value))} AS DECIMAL({int(digits[1])}, {int(digits[2])}))"
    if kind in ("string", "uuid"):
        return literal(str(uuid.UUID(bytes=value)) if kind == "uuid" else shown)
    if kind == "binary" or kind.startswith("fixed"):
        return f"X'{value.hex()}'"
    types = {"date": "DATE", "timestamp": "TIMESTAMP_NTZ", "timestamptz": "TIMESTAMP"}
    if kind not in types:
        raise NotPossible(f"Spark SQL has no value of {term}'s type, {kind}")
    return f"{types[kind]}{literal(shown)}"
