"""Layouts of the same rows side by side, as JSON, text, a picture, and in a notebook."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from typing import Any

from explorer.render.text import clean, not_typeset, render_table
from explorer.spec.layout.layout_comparison import Layout, LayoutComparison
from explorer.spec.scan.plan import Amount
from explorer.spec.text.names import shorten
from explorer.spec.text.units import count, human_bytes

COLOURS = ("#1565c0", "#e08a2e", "#2e7d32", "#7b4fd0", "#c23b3b", "#5c8fc7")
"""Of queries, in turn."""
WIDTH, LEFT, COST, READ = 900, 230, 90, 330
LINE, HEAD = 40, 22


def layouts_json(comparison: LayoutComparison) -> dict[str, Any]:
    """A layout each: what it cost, and what each query reads of it."""
    layouts = [
        {
            "layout": one.name, "how": one.how, "why_not": one.why or None, "seconds": round(one.seconds, 3),
            "files": one.written.files, "bytes": one.written.bytes,
            "reads": [{"where": q, "data_files": r.files, "bytes": r.bytes}
                      for q, r in zip(comparison.queries, one.reads, strict=False)],
        }
        for one in comparison.layouts
    ]  # fmt: skip
    return {"table": comparison.table, "rows": comparison.rows, "which": comparison.which_rows,
            "queries": list(comparison.queries), "drawn": comparison.drawn or None, "layouts": layouts}  # fmt: skip


def layout_rows(comparison: LayoutComparison) -> list[dict[str, Any]]:
    """The same as a person reads it: a column for each query, by its number."""
    return [_row(one, len(comparison.queries)) for one in comparison.layouts]


def _row(one: Layout, queries: int) -> dict[str, Any]:
    numbered = {f"query {at + 1}": _amount(one.reads[at]) if one.reads else "" for at in range(queries)}
    if one.why:
        return {"layout": one.name, "how": f"not written: {one.why}", "seconds": "", "wrote": "", **numbered}
    seconds = f"{one.seconds:.2f}"
    return {"layout": one.name, "how": one.how, "seconds": seconds, "wrote": _amount(one.written), **numbered}


def _amount(of: Amount) -> str:
    return f"{count(of.files, 'file')}, {human_bytes(of.bytes)}"


def head_lines(comparison: LayoutComparison) -> Iterator[str]:
    """What was written, and what is asked."""
    yield clean(f"{comparison.table}: {comparison.which_rows}, written in each layout; the table itself is as it was.")
    yield clean(f"Queries{f', {comparison.drawn}' if comparison.drawn else ''}:")
    yield from (clean(f"  query {at}: {query}") for at, query in enumerate(comparison.queries, 1))


def layouts_lines(comparison: LayoutComparison) -> Iterator[str]:
    """All of it as text."""
    yield from head_lines(comparison)
    yield ""
    yield from render_table(layout_rows(comparison), 240).splitlines()


def layouts_svg(comparison: LayoutComparison) -> str:
    """For each layout a bar of the seconds that writing it took, and one of the bytes that queries read, each query in
    a colour of its own."""
    measured = [one for one in comparison.layouts if not one.why]
    slowest = max((one.seconds for one in measured), default=0) or 1
    most = max((one.read[1] for one in measured), default=0) or 1
    height = HEAD + LINE * len(measured) + 8
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="100%" style="max-width:'
        f'{WIDTH}px" font-family="system-ui, sans-serif" font-size="13" fill="currentColor" role="img">'
        f"<title>{escape(clean(f'layouts of {comparison.table}: seconds to write, bytes that queries read'))}</title>",
        _text(LEFT, 14, "seconds to write", 12), _text(LEFT + COST + 90, 14, "bytes read by all queries:", 12),
    ]  # fmt: skip
    for number in range(len(comparison.queries)):
        at, colour = LEFT + COST + 250 + 75 * number, COLOURS[number % len(COLOURS)]
        out.append(f'<rect x="{at}" y="4" width="11" height="11" fill="{colour}"/>')
        out.append(_text(at + 15, 14, f"query {number + 1}", 12))
    for at, one in enumerate(measured):
        y, files = HEAD + LINE * at, one.read[0]
        out += [_text(0, y + 13, one.name, 13, "600"), _text(0, y + 28, shorten(one.how, 34), 11)]
        out.append(_bar(LEFT, y + 4, COST * one.seconds / slowest, "#8a8f98", f"{one.name}: {one.seconds:.2f} s"))
        out.append(_text(LEFT + COST * one.seconds / slowest + 5, y + 19, f"{one.seconds:.2f}", 12))
        x = LEFT + COST + 90.0
        for number, read in enumerate(one.reads):
            wide = READ * (read.bytes or 0) / most
            title = f"query {number + 1}, {comparison.queries[number]}: {_amount(read)}"
            out.append(_bar(x, y + 4, wide, COLOURS[number % len(COLOURS)], title))
            x += wide
        out.append(_text(x + 6, y + 19, f"{human_bytes(one.read[1])}, {count(files, 'file')}", 12))
    return "\n".join([*out, "</svg>"])


def _bar(x: float, y: float, wide: float, colour: str, title: str) -> str:
    return (
        f'<rect x="{x:.1f}" y="{y}" width="{wide:.1f}" height="20" fill="{colour}">'
        f"<title>{escape(clean(title))}</title></rect>"
    )


def _text(x: float, y: float, text: str, size: int, weight: str = "400") -> str:
    return f'<text x="{x:.1f}" y="{y}" font-size="{size}" font-weight="{weight}">{escape(clean(text))}</text>'


def _cell(value: str) -> str:
    return f"<td style='text-align:left'>{escape(clean(value))}</td>"


@dataclass(frozen=True)
class ShownLayouts:
    """Layouts compared, as a notebook shows them."""

    compared: LayoutComparison

    def __repr__(self) -> str:
        return "\n".join(layouts_lines(self.compared))

    def _repr_html_(self) -> str:
        return not_typeset(f"{layouts_svg(self.compared)}{self.facts_html()}")

    def facts_html(self) -> str:
        """What is told without a picture: what was written, and each layout's costs."""
        rows = layout_rows(self.compared)
        head = "".join(f"<th style='text-align:left'>{escape(clean(name))}</th>" for name in rows[0])
        body = "".join(f"<tr>{''.join(map(_cell, row.values()))}</tr>" for row in rows)
        sentences = "".join(f"<div>{escape(line)}</div>" for line in head_lines(self.compared))
        return f"{sentences}<table><tr>{head}</tr>{body}</table>"
