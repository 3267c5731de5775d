"""Blocks of an answer as JSON (render.blocks), and the answers of a session, whose rows are asked for later."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from explorer.app.row_pages import RowPages
from explorer.queries.collection import Collection
from explorer.render.blocks import Block, Picture, Rows
from explorer.table import Table

FIRST_ROWS = 100
"""Rows that come with an answer."""
MOST_LINES = 5_000
"""Lines of text that a page shows; the command line prints all."""


class ShownAnswer:
    """An answer that a page shows: its blocks, and the rows of these.

    Args:
        result: The answer, or a list of rows.
        table: The table that it is about, as it was then.
    """

    def __init__(self, result: Any, table: Table | None) -> None:
        self.table = table
        metadata = table.metadata if table else None
        self._blocks: Sequence[Block] = result.blocks()
        self.level = getattr(result, "level", lambda: "ok")()
        self.notes = getattr(result, "notes", ())
        self._pages = {
            at: RowPages(_collection(block), metadata)
            for at, block in enumerate(self._blocks)
            if isinstance(block, Rows)
        }

    def to_json(self) -> dict[str, Any]:
        """Return what a page draws first."""
        blocks = [self._block(at, block) for at, block in enumerate(self._blocks)]
        return {"blocks": blocks, "level": self.level, "notes": list(self.notes)}

    def rows(self, block: int) -> RowPages | None:
        """Return the rows of a block; None if it has none."""
        return self._pages.get(block)

    def _block(self, at: int, block: Block) -> dict[str, Any]:
        if isinstance(block, Rows):
            pages = self._pages[at]
            return {"kind": "rows", "columns": pages.columns(), **pages.page(0, FIRST_ROWS)}
        if isinstance(block, Picture):
            return {"kind": "picture", "svg": block.svg}
        lines = block.lines[:MOST_LINES]
        return {"kind": "text", "lines": list(lines), "left_out": len(block.lines) - len(lines)}


def _collection(block: Rows) -> Collection:
    rows = block.rows
    return rows if isinstance(rows, Collection) else Collection.of_rows(list(rows), "rows")
