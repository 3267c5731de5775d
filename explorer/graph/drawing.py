"""A graph under construction: each thing is one node however many parents it has, and long levels are paged."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from explorer.graph.graph import Edge, Elided, Graph, Node
from explorer.graph.ids import node_id
from explorer.graph.vocabulary import COLUMNS

PAGE = 30
"""Siblings drawn at once on one level."""


class Drawing:
    """Nodes and edges in drawing order, and what was left out. `pages` is the first child shown of each level that was
    paged, by the level's key; `size` how many siblings are drawn at once."""

    def __init__(self, pages: Mapping[str, int] | None = None, size: int = PAGE) -> None:
        self.pages, self.size = pages or {}, size
        self.nodes: dict[str, Node] = {}
        self.edges: dict[tuple[str, str, str], Edge] = {}
        self.elided: list[Elided] = []

    def add(self, node: Node) -> None:
        """Draw a node, unless it is drawn already."""
        self.nodes.setdefault(node.id, node)

    def edge(self, source: str, target: str, kind: str = "contains", status: str = "", why: str = "") -> None:
        """Draw an edge between nodes that are drawn."""
        if source in self.nodes and target in self.nodes:
            self.edges.setdefault((source, target, kind), Edge(source, target, kind, status, why))

    def graph(self, title: str, snapshot_id: int | None, columns: tuple[str, ...] = COLUMNS) -> Graph:
        """What is drawn by now, without the edges to what is not drawn."""
        edges = tuple(e for e in self.edges.values() if e.source in self.nodes and e.target in self.nodes)
        return Graph(title, snapshot_id, tuple(self.nodes.values()), edges, tuple(self.elided), columns)

    def rows(self, key: str, total: int, around: int | None = None, size: int = 0) -> range:
        """The indices to draw of a level with `total` children, `size` at most: from the page that was asked for on,
        else those around a child, else the first."""
        size = size or self.size
        first = self.pages.get(key, 0 if around is None else around - size // 2)
        start = max(0, min(first, total - size))
        return range(start, min(total, start + size))

    def page(
        self, parent: str, total: int, what: str, column: int, *,
        key: str = "", around: int | None = None, size: int = 0, labels: tuple[str, str] = ("previous", "more"),
    ) -> range:  # fmt: skip
        """Those rows, and what is not drawn elided before and after them, called by `labels`. `key` tells levels of one
        parent apart; without it the level goes by its parent."""
        key, size = key or parent, size or self.size
        rows = self.rows(key, total, around, size)
        sides = (
            (rows.start, rows.start - size, "before", labels[0]),
            (total - rows.stop, rows.stop, "after", labels[1]),
        )
        for hidden, at, where, word in sides:
            if hidden > 0:
                label = f"{hidden:,} {word} {what}"
                before = where == "before"
                self.leave_out(where, parent, what, hidden, total, column, label, "page", key, max(0, at), before)
        return rows

    def leave_out(
        self, where: str, parent: str, what: str, hidden: int, total: int, column: int, label: str,
        action: Literal["page", "search", "levels", ""] = "", key: str = "", start: int = 0, before: bool = False,
    ) -> None:  # fmt: skip
        """Say what is not drawn of a level: see Elided. `where` tells a level's groups apart."""
        group = node_id("more", f"{key or parent}|{where}")
        self.elided.append(Elided(group, parent, what, hidden, total, column, label, action, key, start, before))
