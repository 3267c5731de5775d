"""Blocks of an answer as HTML for a notebook, which needs no script and no kernel."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from explorer.render.blocks import Block, Fact, FactTable, FoldedBlocks, Notice, Rows, Statement, Text
from explorer.render.text import clean, clean_lines, pre


def blocks_html(blocks: Sequence[Block]) -> str | None:
    """Return blocks as HTML; None if one is of a kind that only a page shows, such as a tree of JSON."""
    parts = [_block_html(block) for block in blocks]
    return None if None in parts else "".join(part for part in parts if part)


def _block_html(block: Block) -> str | None:
    if isinstance(block, Notice):
        return f"<p>{_text(block.text)}</p>"
    if isinstance(block, Statement):
        return pre(clean_lines(block.sql))
    if isinstance(block, Text):
        text = pre("\n".join(map(clean, block.lines)))
        return _folded("as text", text) if block.folded else text
    if isinstance(block, Rows):
        return _rows_html(block)
    if isinstance(block, FactTable):
        return f"<table>{''.join(map(_fact_html, block.facts))}</table>"
    if isinstance(block, FoldedBlocks):
        inner = blocks_html(block.blocks)
        title = f"{block.title} ({block.note})" if block.note else block.title
        return None if inner is None else _folded(title, inner, block.is_open)
    return None


def _text(text: str) -> str:
    return escape(clean(text))


def _rows_html(block: Rows) -> str:
    from explorer.queries.collection import SHOWN, Collection

    title = f"<p><b>{_text(block.title)}</b></p>" if block.title else ""
    if isinstance(block.rows, Collection):
        return f"{title}{block.rows._repr_html_()}"
    first, more = Collection.of_rows(block.rows[:SHOWN], "rows"), len(block.rows) - SHOWN
    return f"{title}{first._repr_html_()}{f'<p>… {more:,} more rows</p>' if more > 0 else ''}"


def _fact_html(fact: Fact) -> str:
    value = f"{fact.value} ({fact.limit})" if fact.limit else fact.value
    name = f"<th style='text-align:left'>{_text(fact.name)}</th>"
    return f"<tr>{name}<td style='text-align:left'>{_text(value)}</td></tr>"


def _folded(title: str, inner: str, is_open: bool = False) -> str:
    return f"<details{' open' if is_open else ''}><summary>{_text(title)}</summary>{inner}</details>"
