"""Values of lists as they are displayed, in filters over these lists: `status = 'ADDED'`, `"timestamp-ms" >
'2024-03-01'`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from explorer.model.manifest import FILE_CONTENT, STATUS
from explorer.spec.filters.binding import milliseconds
from explorer.spec.filters.expressions import And, Expression, Not, Or, Predicate, Term
from explorer.spec.filters.filter_text import FilterError

TIMES = ("timestamp-ms", "last_updated_ms")
"""Columns in milliseconds since 1970."""


def with_stored_values(expression: Expression, what: str) -> Expression:
    """A filter over a list of `what`, with what is stored in place of what is displayed. Raises FilterError."""
    if isinstance(expression, (And, Or)):
        return type(expression)(with_stored_values(expression.left, what), with_stored_values(expression.right, what))
    if isinstance(expression, Not):
        return Not(with_stored_values(expression.child, what))
    if isinstance(expression, Predicate) and isinstance(expression.term, Term):
        read = _reader(expression.term, what)
        literals = tuple(read(value) if isinstance(value, str) else value for value in expression.literals)
        return Predicate(expression.op, expression.term, literals)
    return expression


def _reader(term: Term, what: str) -> Callable[[str], Any]:
    """What makes a stored value of a text for a column."""
    if term.transform != "identity":
        return str
    words: dict[str, Mapping[int, str]] = {"status": STATUS, "content": FILE_CONTENT}
    name = term.name.rpartition(".")[2]  # of stored.status, too
    if what in ("entries", "files") and name in words:
        return lambda text: _number(text, term.name, words[name])
    return milliseconds if term.name in TIMES and what != "rows" else str


def _number(text: str, name: str, words: Mapping[int, str]) -> int | str:
    by_word = {word.lower(): number for number, word in words.items()}
    if text.lower() not in by_word:
        raise FilterError(f"{name} is one of {', '.join(repr(word) for word in words.values())}, not {text[:40]!r}")
    return by_word[text.lower()]
