"""A graph under construction: each thing is one node however many parents it has, and long levels are paged."""

from __future__ import annotations

from explorer.graphs.graph import Edge, Elided, Graph, Node
from explorer.graphs.ids import node_id
from explorer.graphs.vocabulary import COLUMNS

PAGE = 30
"""Siblings drawn at once on one level."""
LABEL = 23
"""Characters of a label that fit a card."""


class Drawing:
    """Nodes and edges in drawing order, and what was left out."""

    def __init__(self) -> None:
        self.nodes: dict[str, Node] = {}
        self.edges: dict[tuple[str, str, str], Edge] = {}
        self.elided: list[Elided] = []

    def add(self, node: Node) -> None:
        """Draw a node, unless it is drawn already."""
        self.nodes.setdefault(node.id, node)

    def edge(self, source: str, target: str, kind: str = "contains", status: str = "") -> None:
        """Draw an edge between nodes that are drawn."""
        if source in self.nodes and target in self.nodes:
            self.edges.setdefault((source, target, kind), Edge(source, target, kind, status))

    def graph(self, title: str, snapshot_id: int | None, columns: tuple[str, ...] = COLUMNS) -> Graph:
        """What is drawn by now, without the edges to what is not drawn."""
        edges = tuple(e for e in self.edges.values() if e.source in self.nodes and e.target in self.nodes)
        return Graph(title, snapshot_id, tuple(self.nodes.values()), edges, tuple(self.elided), columns)

    def page(
        self, parent: str, total: int, what: str, column: int, *, start: int = 0, size: int = PAGE,
        words: tuple[str, str] = ("previous", "more"), key: str = "",
    ) -> range:  # fmt: skip
        """The indices to draw of a level with `total` children, at most `size` from `start` on; what is not drawn is
        elided before and after them, called by `words`. `key` tells levels of one parent apart."""
        start = max(0, min(start, total - size))
        stop = min(total, start + size)
        sides = ((start, start - size, "before", words[0]), (total - stop, stop, "after", words[1]))
        for hidden, at, where, word in sides:
            if hidden > 0:
                label = f"{hidden:,} {word} {what}"
                identity = node_id("more", f"{key or parent}|{where}")
                self.elided.append(
                    Elided(identity, parent, what, hidden, total, max(0, at), column, label, where == "before")
                )
        return range(start, stop)
