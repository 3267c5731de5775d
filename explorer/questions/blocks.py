"""Blocks: the parts of a page that shows an answer. Hosts draw them; they hold data and no markup but pictures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from explorer.queries.collection import Collection


@dataclass(frozen=True)
class Text:
    """Lines of plain text, without control characters and credentials."""

    lines: tuple[str, ...]


@dataclass(frozen=True)
class Rows:
    """Rows, which a host delivers in pages."""

    rows: Collection


@dataclass(frozen=True)
class Picture:
    """A picture as SVG."""

    svg: str


Block: TypeAlias = "Text | Rows | Picture"
