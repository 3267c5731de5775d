"""Plain text: tables and trees for terminals and golden files."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from contextvars import ContextVar
from html import escape
from itertools import accumulate, chain, islice
from typing import Any, Literal

from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.table import Table
from rich.text import Text

from explorer.graph.graph import Edge, Elided, Graph, Node
from explorer.graph.vocabulary import STATUSES
from explorer.render.rows import columns_of
from explorer.spec.secrets.redaction import LONGEST, beginning, metadata_without_secrets, redact
from explorer.spec.text.names import shorten
from explorer.spec.text.printable import printable, printable_lines, show_blanks
from explorer.spec.text.units import count

FIRST, PAGE = 200, 1000
"""Rows that decide how a text table looks, and rows of it that are held at once."""
BRIEF = 10_000
"""Characters of a text that are looked through for a picture or a page."""
WIDE: ContextVar[bool] = ContextVar("wide", default=False)
"""Whether text tables have all columns, however wide they are, and whole cells."""
WIDEST = 1_000_000
"""Columns of a text that is as wide as it has to be."""
DEFAULT_WIDTH, SHORTEST_CELL = 160, 16
"""Columns of a text where nobody says how wide it may be, and letters of a cell that are left in any case."""
READABLE = 24
"""Letters of a text that a column must have room for."""


def clean(text: str) -> str:
    """Text from a table, an error or a person as it may be shown: without control characters, which could command a
    terminal, and without credentials."""
    return printable(redact(text))


def brief(text: str) -> str:
    """`clean` text for a picture or a page, which show its beginning."""
    return printable(redact(text, longest=BRIEF))


def clean_lines(text: str) -> str:
    """The same of a text whose lines stay."""
    return printable_lines(redact(text))


def not_typeset(html: str) -> str:
    """HTML of a notebook's output in which MathJax, of 2 and from 3 on, takes nothing for TeX."""
    return f'<div class="tex2jax_ignore mathjax_ignore">{html}</div>'


def pre(text: str) -> str:
    """Text as HTML whose spaces and lines stay. Exported notebooks have no font for `pre`, so it says its own."""
    return f'<pre style="font-family:monospace;white-space:pre-wrap">{escape(text)}</pre>'


def json_text(data: Any, indent: int | None = 2) -> str:
    """JSON that reads well, with every character that `clean` would replace as an escape: the data stay the same."""
    return escape_json(json.dumps(data, indent=indent, ensure_ascii=False))


def escape_json(text: str) -> str:
    """Return JSON with every character that `clean` would replace as an escape."""
    if text.replace("\n", "").isprintable():
        return text
    return "".join(c if c.isprintable() or c == "\n" else json.dumps(c)[1:-1] for c in text)


def cell(value: Any, longest: int = LONGEST) -> str:
    """One value in a text table, of about so many characters."""
    if value is None:
        return "null"
    if isinstance(value, (dict, list)):
        value = json.dumps(metadata_without_secrets(beginning(value, longest)), default=str, ensure_ascii=False)
    return printable(redact(str(value), longest=longest))


def render_table(
    rows: Sequence[Mapping[str, Any]], width: int | None = None, columns: Sequence[str] | None = None
) -> str:
    """Rows as a text table; where they need more room than there is, the longest cells are shortened in the middle, so
    that both ends of paths stay readable."""
    if not rows:
        return "(none)\n"
    names = columns or columns_of(rows)
    width = WIDEST if WIDE.get() else width
    table = Table(box=None, pad_edge=False, header_style="bold")
    right = {name for name in names if _numeric(rows, name)}
    for name in names:
        justify: Literal["left", "right"] = "right" if name in right else "left"
        table.add_column(Text(clean(name)), justify=justify, no_wrap=True, overflow="ellipsis")
    cells = [[show_blanks(cell(row.get(name))) for name in names] for row in rows]
    sizes = {name: max(cell_len(text[at]) for text in (names, *cells)) for at, name in enumerate(names)}
    widest = _longest_cell(sizes, right, width or DEFAULT_WIDTH)
    for texts in cells:
        table.add_row(*(Text(shorten(text, widest)) for text in texts))
    return _print(table, width)


def _longest_cell(sizes: Mapping[str, int], right: Set[str], width: int) -> int:
    """How long a text may be where columns of such sizes are side by side, with two blanks between: those that are
    shorter leave room to the others."""
    texts = sorted(size for name, size in sizes.items() if name not in right)
    room = width - 2 * (len(sizes) - 1) - sum(size for name, size in sizes.items() if name in right)
    for at, size in enumerate(texts):
        share = room // (len(texts) - at)
        if size > share:
            return max(SHORTEST_CELL, share)
        room -= size
    return WIDEST


def _fitting(sizes: Mapping[str, int], right: Set[str], width: int) -> int:
    """How many of the columns, from the first on, have room for their numbers and for READABLE letters of a text."""
    least = (2 + (size if name in right else min(size, READABLE)) for name, size in sizes.items())
    return max(1, sum(total <= width + 2 for total in accumulate(least)))


def _numeric(rows: Sequence[Mapping[str, Any]], name: str) -> bool:
    return all(isinstance(r.get(name), (int, float)) or r.get(name) is None for r in rows)


def render_stream(
    rows: Iterable[Mapping[str, Any]], width: int | None, columns: Sequence[str], fitting: bool = False
) -> Iterator[str]:
    """Rows as a text table, a page at a time: the FIRST rows decide how wide columns are, later texts are cut to that,
    and numbers are whole. What is no more than these looks like `render_table`. Where it must be `fitting`, only the
    first columns that can be read beside each other, and at the end the names of the others."""
    width, fitting = (WIDEST, False) if WIDE.get() else (width, fitting)
    left = iter(rows)
    first, more = list(islice(left, FIRST)), list(islice(left, 1))
    pages = iter(lambda: list(islice(left, PAGE)), [])
    if not first or not (more or fitting):
        yield render_table(first, width, columns)
        return
    right = {name for name in columns if _numeric(first, name)}
    sizes = {n: max(cell_len(text) for text in (n, *(show_blanks(cell(row.get(n))) for row in first))) for n in columns}
    some = _fitting(sizes, right, width or DEFAULT_WIDTH) if fitting else len(columns)
    columns, others = columns[:some], columns[some:]
    sizes = {name: sizes[name] for name in columns}
    widest = _longest_cell(sizes, right, width or DEFAULT_WIDTH)
    sizes = {name: size if name in right else min(widest, size) for name, size in sizes.items()}
    texts = [name for name in columns if name not in right]
    while sum(sizes.values()) + 2 * len(sizes) > (width or DEFAULT_WIDTH) and any(sizes[name] > 8 for name in texts):
        sizes[max(texts, key=lambda name: sizes[name])] -= 1

    def line(row: Mapping[str, Any]) -> str:
        texts = []
        for name in columns:
            value, size = row.get(name), sizes[name]
            is_whole = width == WIDEST or isinstance(value, (int, float))
            text = show_blanks(cell(value)) if is_whole else shorten(show_blanks(cell(value)), size)
            texts.append(text.rjust(size) if name in right else set_cell_size(text, max(size, len(text))))
        return "  ".join(texts).rstrip()

    yield line({name: name for name in columns}) + "\n"
    for page in filter(None, chain((first, more), pages)):
        yield "".join(f"{line(row)}\n" for row in page)
    if others:
        yield f"… and {count(len(others), 'more column')}: {', '.join(map(clean, others))}\n"


def render_fields(fields: Mapping[str, Any], width: int | None = None) -> str:
    """One object as a list of its fields."""
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(no_wrap=True, style="bold")
    table.add_column(overflow="fold")
    for key, value in fields.items():
        table.add_row(Text(clean(str(key))), Text(show_blanks(cell(value))))
    return _print(table, width)


def _print(renderable: Any, width: int | None) -> str:
    out = io.StringIO()
    console = Console(
        file=out,
        width=width or DEFAULT_WIDTH,
        highlight=False,
        markup=False,
        emoji=False,
        color_system=None,
        force_jupyter=False,
    )
    console.print(renderable)
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines()) + "\n"


def render_tree(graph: Graph) -> str:
    """The graph as an indented tree. A node with several parents is written out once, and named after that."""
    children: dict[str, list[Edge]] = {}
    for edge in graph.edges:
        if edge.kind in ("contains", "points to"):
            children.setdefault(edge.source, []).append(edge)
    more: dict[str, list[Elided]] = {}
    for elided in graph.elided:
        more.setdefault(elided.parent, []).append(elided)
    by_id = {n.id: n for n in graph.nodes}
    written: set[str] = set()
    lines: list[str] = []

    def write(node: Node, prefix: str, branch: str, status: str) -> None:
        first = node.id not in written
        written.add(node.id)
        lines.append(clean(prefix + branch + _node_line(node, first, status)))
        if not first:
            return
        inner = prefix + {"": "", "├─ ": "│  ", "└─ ": "   "}[branch]
        below = [(by_id[e.target], e.status) for e in children.get(node.id, [])]
        hidden = more.get(node.id, [])
        last = len(below) + len(hidden)
        for i, (child, child_status) in enumerate(below, 1):
            write(child, inner, "└─ " if i == last else "├─ ", child_status)
        for i, group in enumerate(hidden, len(below) + 1):
            lines.append(clean(f"{inner}{'└─ ' if i == last else '├─ '}… {group.label}"))

    targets = {e.target for e in graph.edges if e.kind in ("contains", "points to")}
    refs = [n for n in graph.nodes if n.kind == "ref"]
    for node in graph.nodes:
        if node.id not in targets and node.kind not in ("ref", "metadata"):
            write(node, "", "", "")
    if refs:
        lines.append(
            "refs: "
            + clean(", ".join(f"{r.label} -> {by_id[e.target].label}" for r in refs for e in children.get(r.id, [])))
        )
    return "\n".join(lines) + "\n"


def _node_line(node: Node, first: bool, status: str) -> str:
    line = f"{STATUSES[status].ascii} {node.label}" if status else node.label
    line += " (current)" if node.current and node.kind != "ref" else ""
    if not first:
        return f"{line} (shown above)"
    detail = " · ".join(node.lines)
    problem = f"  !! {node.problem}" if node.problem and node.kind != "problem" else ""
    fold = " [+]" if node.fold == "folded" and node.kind != "metadata" else ""
    return f"{line}{': ' if detail else ''}{detail}{fold}{problem}"
