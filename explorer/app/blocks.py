"""Blocks of an answer as JSON (render.blocks), and the answers of a session, whose rows are asked for later."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import cached_property
from typing import Any

from explorer.app.row_pages import RowPages
from explorer.queries.collection import Collection
from explorer.render.blocks import (
    Block,
    FactTable,
    FindingCards,
    FoldedBlocks,
    JsonTree,
    LinkList,
    Notice,
    Picture,
    Rows,
    Statement,
    Text,
)
from explorer.render.text import clean
from explorer.table import Table

FIRST_ROWS = 100
"""Rows that come with an answer."""
KINDS = {
    Picture: "picture", Notice: "message", Statement: "statement", FactTable: "facts", FindingCards: "findings",
    LinkList: "links",
}  # fmt: skip
"""Blocks that are as JSON what they are."""
MOST_ITEMS = 5_000
"""Items of one list of JSON that a page shows."""
MOST_LINES = 5_000
"""Lines of text that a page shows; the command line prints all."""


class ShownAnswer:
    """An answer that a page shows: its blocks, and the rows of these.

    Args:
        result: The answer, or a list of rows.
        table: The table that it is about, as it was then.
    """

    def __init__(self, result: Any, table: Table | None) -> None:
        self.table, self.result = table, result

    @cached_property
    def _blocks(self) -> Sequence[Block]:
        """Made when they are asked for: a file needs none."""
        return self.result.blocks()  # type: ignore[no-any-return]

    @cached_property
    def _pages(self) -> list[RowPages]:
        metadata = self.table.metadata if self.table else None
        return [RowPages(_collection(block), metadata) for block in _rows_in(self._blocks)]

    def to_json(self) -> dict[str, Any]:
        """Return what a page draws first."""
        numbers = iter(range(len(self._pages)))
        blocks = [self._block(block, numbers) for block in self._blocks]
        level = getattr(self.result, "level", lambda: "ok")()
        return {"blocks": blocks, "level": level, "notes": list(getattr(self.result, "notes", ()))}

    def rows(self, block: int) -> RowPages | None:
        """Return the rows of the block with a number; None if there is none."""
        return self._pages[block] if 0 <= block < len(self._pages) else None

    def _block(self, block: Block, numbers: Iterator[int]) -> dict[str, Any]:
        """Return a block as JSON; lists of rows are numbered in their order."""
        if isinstance(block, Rows):
            number = next(numbers)
            pages = self._pages[number]
            head = {"kind": "rows", "block": number, "title": block.title, "what": pages.rows.what}
            return {**head, "columns": pages.columns(), **pages.page(0, FIRST_ROWS)}
        if isinstance(block, Text):
            lines = block.lines[:MOST_LINES]
            left_out = len(block.lines) - len(lines)
            return {"kind": "text", "lines": list(lines), "left_out": left_out, "folded": block.folded}
        if isinstance(block, FoldedBlocks):
            inner = [self._block(one, numbers) for one in block.blocks]
            return {**vars(block), "kind": "group", "blocks": inner}
        if isinstance(block, JsonTree):
            older = None if block.older is None else json_tree(block.older)
            titles = {"title": block.title, "older_title": block.older_title}
            return {"kind": "json", **titles, "value": json_tree(block.value), "older": older}
        return {"kind": KINDS[type(block)], **asdict(block)}


def json_tree(value: Any) -> Any:
    """Return JSON as a page shows it: values as JSON texts, since a browser rounds large numbers; of a long list the
    first ones."""
    if isinstance(value, Mapping):
        return {clean(str(name)): json_tree(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        more = len(value) - MOST_ITEMS
        return [*map(json_tree, value[:MOST_ITEMS]), *([f"… {more:,} more"] if more > 0 else [])]
    return json.dumps(clean(value) if isinstance(value, str) else value, ensure_ascii=False, default=str)


def _rows_in(blocks: Sequence[Block]) -> Iterator[Rows]:
    for block in blocks:
        if isinstance(block, Rows):
            yield block
        elif isinstance(block, FoldedBlocks):
            yield from _rows_in(block.blocks)


def _collection(block: Rows) -> Collection:
    rows = block.rows
    return rows if isinstance(rows, Collection) else Collection.of_rows(list(rows), "rows")
