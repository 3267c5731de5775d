"""The filter language: what stands after WHERE, as pyiceberg's parser reads it and a little more.

`=`, `!=`, `<`, `<=`, `>`, `>=`, IN, BETWEEN, LIKE 'prefix%', IS NULL, IS NAN, AND, OR, NOT and parentheses; columns by
their path (`address.city`), in double quotes or backticks where they are no words; transforms of columns as the spec
names them (`day(ts)`, `bucket(16, id)`, `truncate(3, name)`); DATE and TIMESTAMP before a text may stand or not. A `-`
inside a word is part of it, since nothing is subtracted here."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

from explorer.errors import PrintableError
from explorer.spec.filters.expressions import (
    FALSE,
    TRUE,
    And,
    Expression,
    Not,
    Or,
    Predicate,
    PredicateOperation,
    Term,
    join_parts,
)

_TOKEN = re.compile(
    r"""\s*(?:
      (?P<bytes>[xX]'[0-9a-fA-F]*') | (?P<text>'[^']*(?:''[^']*)*') |
      (?P<quoted>"[^"\\]*(?:\\.[^"\\]*)*"|`[^`]*(?:``[^`]*)*`) |
      (?P<number>[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?) | (?P<word>[^\W\d]\w*(?:-\w+)*(?:\$\w*)?) |
      (?P<sign><=|>=|<>|!=|==|=|<|>|\(|\)|,|\.)
    )""",
    re.VERBOSE,
)
LONGEST = 1 << 20
"""Characters of a filter: each quote in a text takes a hundred bytes while it is read."""
_COMPARED: dict[str, PredicateOperation] = {
    "=": "eq", "==": "eq", "!=": "not-eq", "<>": "not-eq", "<": "lt", "<=": "lt-eq", ">": "gt", ">=": "gt-eq",
}  # fmt: skip
_FLIPPED: dict[str, str] = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
TRANSFORMS = {
    "year": "year", "years": "year", "month": "month", "months": "month", "day": "day", "days": "day", "date": "day",
    "hour": "hour", "hours": "hour", "bucket": "bucket", "truncate": "truncate",
}  # fmt: skip
_PATTERN = re.compile(r"\\[\\%_]|[%_]|[^\\%_]+|\\")
"""The pieces of a LIKE: letters after a backslash, signs, text."""
_WORDS = {"and", "or", "not", "in", "is", "null", "nan", "like", "between", "true", "false"}
DEEPEST = 100
"""Parentheses and NOTs in each other."""


class FilterError(PrintableError, ValueError):
    """What is wrong with a filter, in a sentence.

    Args:
        text: The sentence.
        position: The place in the filter's text, from 0, where it is known.
        column: The column that it is about, where that is known instead.
    """

    def __init__(self, text: str, position: int | None = None, column: str = "") -> None:
        super().__init__(text)
        self.position, self.column = position, column


class UnquotedText(FilterError):
    """A number is compared with a column of texts."""


def parse(text: str) -> Expression:
    """A filter's text as an unbound expression; of nothing, TRUE. Raises FilterError."""
    if len(text) > LONGEST:
        raise FilterError(f"a filter of {len(text):,} characters is longer than {LONGEST:,}", 0)
    parser = _Parser(text)
    if not parser.left:
        return TRUE
    expression = parser.either()
    if parser.left:
        raise parser.error(f"{parser.here()} is not expected: AND or OR may follow, or the end")
    return expression


NO_PART = "this is no part of a filter"
SQL_ALONE = " (icedive plan TABLE FILTER --sql asks Spark what it makes of any expression)"


class _Parser:
    def __init__(self, text: str) -> None:
        self.left: list[tuple[str, str]] = []
        self._deep = 0
        self._starts: list[int] = []
        """Where all tokens start, the last one first."""
        at = 0
        text = text.rstrip()
        self._end = len(text)
        while at < len(text):
            token = _TOKEN.match(text, at)
            if not token:
                rest = text[at : at + 200].strip()
                what = "a text begins that has no end" if rest[0] in "'\"`" else NO_PART
                more = SQL_ALONE if what == NO_PART else ""
                if rest[0] in "$@#" and what == NO_PART:
                    more = " (write a name with such signs between backticks, and the filter between single quotes)"
                raise FilterError(f"{what}: {rest[:40]}{more}", text.index(rest[0], at))
            self.left.append((str(token.lastgroup), token.group(str(token.lastgroup))))
            self._starts.append(token.start(str(token.lastgroup)))
            at = token.end()
        self.left.reverse()
        self._starts.reverse()

    def here(self) -> str:
        return self.left[-1][1] if self.left else "the end of the filter"

    def error(self, text: str) -> FilterError:
        """What is wrong with the next token."""
        return FilterError(text, self._starts[len(self.left) - 1] if self.left else self._end)

    def word(self, *wanted: str) -> bool:
        """Take these words, if they come next."""
        coming = [t[1].lower() for t in self.left[: -len(wanted) - 1 : -1] if t[0] == "word"]
        if coming != list(wanted):
            return False
        del self.left[-len(wanted) :]
        return True

    def sign(self, *wanted: str) -> str:
        """Take one of these signs, if it comes next."""
        if self.left and self.left[-1][0] == "sign" and self.left[-1][1] in wanted:
            return self.left.pop()[1]
        return ""

    def need(self, sign: str, after: str) -> None:
        if not self.sign(sign):
            raise self.error(f"{sign} is expected after {after}, not {self.here()}")

    def either(self) -> Expression:
        parts = [self.both()]
        while self.word("or"):
            parts.append(self.both())
        return join_parts(Or, parts)

    def both(self) -> Expression:
        parts = [self.negation()]
        while self.word("and"):
            parts.append(self.negation())
        return join_parts(And, parts)

    def negation(self) -> Expression:
        self._deep += 1
        if self._deep > DEEPEST:
            raise self.error(f"more than {DEEPEST} parentheses in each other")
        try:
            if self.word("not"):
                return Not(self.negation())
            if self.sign("("):
                expression = self.either()
                self.need(")", "what stands in parentheses")
                return expression
            return self.predicate()
        finally:
            self._deep -= 1

    def predicate(self) -> Expression:
        if self.left and self.left[-1][0] in ("text", "number", "bytes"):
            value = self.literal()
            sign = self.sign(*_COMPARED)
            if not sign:
                raise self.error(
                    f"{_literal_text(value)} is a value: compare a column with it, as in name = {_literal_text(value)}"
                )
            return Predicate(_COMPARED[_FLIPPED.get(sign, sign)], self.term(), (value,))
        for name, constant in (("true", TRUE), ("false", FALSE)):
            if self.word(name):
                return constant
        term = self.term()
        if sign := self.sign(*_COMPARED):
            return Predicate(_COMPARED[sign], term, (self.literal(),))
        if self.word("is"):
            negated = self.word("not")
            if self.word("null"):
                return Predicate("not-null" if negated else "is-null", term)
            if self.word("nan"):
                return Predicate("not-nan" if negated else "is-nan", term)
            raise self.error(f"NULL or NAN is expected after IS, not {self.here()}")
        negated = self.word("not")
        if self.word("in"):
            return Predicate("not-in" if negated else "in", term, self.value_list())
        if self.word("like"):
            return self.like(term, negated)
        if self.word("between"):
            low = self.literal()
            if not self.word("and"):
                raise self.error(f"AND is expected after BETWEEN {_literal_text(low)}, not {self.here()}")
            between = And(Predicate("gt-eq", term, (low,)), Predicate("lt-eq", term, (self.literal(),)))
            return Not(between) if negated else between
        raise self.error(
            f"a comparison is expected after {term}, such as {term} = 'a' (texts stand in single quotes), "
            f"not {self.here()}"
        )

    def term(self) -> Term:
        if not self.left or self.left[-1][0] not in ("word", "quoted") or self.left[-1][1].lower() in _WORDS:
            raise self.error(f"a column is expected, not {self.here()}")
        kind, name = self.left.pop()
        if kind == "word" and name.lower() in TRANSFORMS and self.sign("("):
            return self.transform_term(TRANSFORMS[name.lower()])
        parts = [_unquote(kind, name)]
        while self.sign("."):
            if not self.left or self.left[-1][0] not in ("word", "quoted"):
                raise self.error(f"a field's name is expected after {'.'.join(parts)}., not {self.here()}")
            parts.append(_unquote(*self.left.pop()))
        return Term(".".join(parts))

    def transform_term(self, transform: str) -> Term:
        if transform in ("bucket", "truncate"):
            width = self.literal() if self.left and self.left[-1][0] == "number" else None
            if width is not None:
                self.need(",", f"{transform}({width}")
            column = self.term().name
            if width is None:
                self.need(",", f"{transform}({column}")
                width = self.literal()
            if not isinstance(width, int) or isinstance(width, bool) or not 0 < width < 2**31:
                raise self.error(f"{transform} takes a number from 1, not {_literal_text(width)}")
            transform = f"{transform}[{width}]"
        else:
            column = self.term().name
        self.need(")", str(Term(column, transform)).rstrip(")"))
        return Term(column, transform)

    def literal(self) -> Any:
        if (
            self.left
            and self.left[-1][0] == "word"
            and self.left[-1][1].lower() in ("date", "timestamp", "timestamptz")
        ):
            self.left.pop()
        if self.word("true"):
            return True
        if self.word("false"):
            return False
        if not self.left or self.left[-1][0] not in ("text", "number", "bytes"):
            raise self.error(f"a value is expected, not {self.here()} (texts stand in single quotes)")
        kind, text = self.left.pop()
        if kind == "text":
            return text[1:-1].replace("''", "'")
        if kind == "bytes":
            if len(text) % 2 == 0:
                raise self.error("bytes are pairs of digits, such as X'00ff'")
            return bytes.fromhex(text[2:-1])
        if len(text) > 300:
            raise self.error(f"a number of {len(text):,} characters is more than any column holds")
        return int(text) if re.fullmatch(r"[+-]?\d+", text) else Decimal(text)

    def value_list(self) -> tuple[Any, ...]:
        self.need("(", "IN")
        values = [self.literal()]
        while self.sign(","):
            values.append(self.literal())
        self.need(")", "the values of IN")
        return tuple(values)

    def like(self, term: Term, negated: bool) -> Predicate:
        pattern = self.literal()
        if not isinstance(pattern, str):
            raise self.error(f"LIKE takes a text, not {_literal_text(pattern)}")
        plain, pieces = "", _PATTERN.findall(pattern)
        for at, piece in enumerate(pieces):
            if piece == "%" and at == len(pieces) - 1:
                return Predicate("not-starts-with" if negated else "starts-with", term, (plain,))
            if piece in "%_":
                raise self.error("LIKE can have % at the end only: Iceberg plans with prefixes (\\% is a letter)")
            plain += piece[1:] if piece[0] == "\\" and len(piece) > 1 else piece
        return Predicate("not-eq" if negated else "eq", term, (plain,))


def column_text(name: str) -> str:
    """A column's name as a filter has it: quoted where it is no word, or one of the language's."""
    return name if name.isidentifier() and name.lower() not in _WORDS else "`" + name.replace("`", "``") + "`"


def _unquote(kind: str, name: str) -> str:
    if kind != "quoted":
        return name
    return name[1:-1].replace("``", "`") if name[0] == "`" else re.sub(r"\\(.)", r"\1", name[1:-1])


def _literal_text(value: Any) -> str:
    return repr(value) if isinstance(value, (str, bytes)) else str(value)
