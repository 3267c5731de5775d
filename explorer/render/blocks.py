"""Blocks: the parts of a page that shows an answer. Hosts draw them; they hold data and no markup but pictures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias


@dataclass(frozen=True)
class Text:
    """Lines of plain text, without control characters and credentials."""

    lines: tuple[str, ...]


@dataclass(frozen=True)
class Rows:
    """Rows, which a host delivers in pages."""

    rows: Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class Picture:
    """A picture as SVG."""

    svg: str


Block: TypeAlias = "Text | Rows | Picture"
