"""Names and texts of strangers as parts of a statement of ours."""

from __future__ import annotations

import re
from collections.abc import Iterable

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def identifier(parts: Iterable[str]) -> str:
    """A name of several parts, those in backticks that need them."""
    return ".".join(part if _PLAIN.fullmatch(part) else "`" + part.replace("`", "``") + "`" for part in parts)


def literal(text: str) -> str:
    """A string literal, in which nothing is an escape but what is escaped here."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
