"""Names and texts of strangers as parts of a statement of ours."""

from __future__ import annotations

from collections.abc import Iterable


def identifier(parts: Iterable[str]) -> str:
    """A name of several parts, each in backticks."""
    return ".".join("`" + part.replace("`", "``") + "`" for part in parts)


def literal(text: str) -> str:
    """A string literal, in which nothing is an escape but what is escaped here."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
