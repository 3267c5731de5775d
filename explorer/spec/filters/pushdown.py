"""What Spark hands to Iceberg of a condition in SQL, and why it keeps the rest for itself."""

from __future__ import annotations

import re
from dataclasses import dataclass

from explorer.spec.filters.expressions import Expression


@dataclass(frozen=True)
class Pushdown:
    """A condition in SQL as Spark plans it: what it hands to Iceberg, as an unbound filter, and what it keeps for
    itself, in SQL."""

    pushed: Expression
    kept: tuple[str, ...]


_ADVICE = (
    (re.compile(r"(?i)\b(year|month|quarter|weekofyear|dayofmonth|date_format|date_trunc|trunc)\("),
     "a part of a date is computed for each row: compare the column itself with the first and the last moment meant"),
    (re.compile(r"(?i)\b(endswith|contains)\(|LIKE '%|RLIKE"),
     "only the beginning of a text can be looked for in bounds: LIKE 'abc%'"),
    (re.compile(r"(?i)\b(lower|upper|trim|substring|substr|concat)\("),
     "the text is changed for each row: compare the column itself"),
    (re.compile(r"(?i)\bCAST\("),
     "the column is converted for each row: write the value in the column's own type"),
    (re.compile(r"(?i)\)\s*[=<>]|\s[-+*/%]\s"),
     "an expression is computed for each row: have the column alone on its side"),
)  # fmt: skip


def advice(kept: str) -> str:
    """Why Spark keeps a condition for itself, and what would be handed to Iceberg; empty where nothing would."""
    return next((hint for pattern, hint in _ADVICE if pattern.search(kept)), "")
