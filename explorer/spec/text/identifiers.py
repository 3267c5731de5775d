"""Names of tables as text: parts with dots between them, and in backticks, as in Spark SQL, those parts that have dots
or backticks themselves, or nothing."""

from __future__ import annotations

import re
from collections.abc import Iterable

_PART = re.compile(r"`((?:[^`]|``)*)`|([^.`]*)")


def join_identifier(parts: Iterable[str]) -> str:
    """Return the text of a name.

    Args:
        parts: Its namespace, level by level, and the name in it.
    """
    return ".".join(_quote(part) if not part or "." in part or "`" in part else part for part in parts)


def split_identifier(text: str) -> tuple[str, ...]:
    """Return the parts of a name: what `join_identifier` made one of. A text with a backtick that ends nowhere has its
    dots between parts."""
    parts, at = [], 0
    while True:
        match = _PART.match(text, at)
        assert match is not None  # an empty part matches everywhere
        if match.end() < len(text) and text[match.end()] != ".":
            return tuple(text.split("."))
        parts.append(match[2] if match[1] is None else match[1].replace("``", "`"))
        if match.end() == len(text):
            return tuple(parts)
        at = match.end() + 1


def _quote(part: str) -> str:
    return "`" + part.replace("`", "``") + "`"
