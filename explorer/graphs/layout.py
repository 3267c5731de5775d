"""Place a graph's nodes in columns, in linear time, so that the same things stay near the same places from step to
step.

The columns are fixed by kind and the order within one by the graph, so no crossing minimisation is needed: metadata
files and snapshots are stacked, newest first; below a manifest list the tree is tidy: parents sit at the middle of
their children."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from explorer.graphs.graph import Graph

WIDTH, COLUMN_GAP, ROW_GAP, HEADER = 208, 46, 12, 30
MORE_HEIGHT = 26


@dataclass(frozen=True)
class Box:
    """Where a node or elided group is drawn: top left corner and size, in CSS pixels at zoom 1."""

    x: float
    y: float
    width: float
    height: float


def node_height(lines: int) -> float:
    """Height of a card with a title and that many lines."""
    return 26 + 15 * lines if lines else 24


def layout(graph: Graph) -> Mapping[str, Box]:
    """A box for every node and elided group, by id."""
    column = {n.id: n.column for n in graph.nodes} | {e.id: e.column for e in graph.elided}
    height = {n.id: node_height(len(n.lines)) for n in graph.nodes} | {e.id: float(MORE_HEIGHT) for e in graph.elided}
    children: dict[str, list[str]] = {}
    placed_under: set[str] = set()
    for edge in graph.edges:  # the first parent is the one a shared node is placed under
        if edge.kind == "contains" and column[edge.target] > column[edge.source] and edge.target not in placed_under:
            children.setdefault(edge.source, []).append(edge.target)
            placed_under.add(edge.target)
    for group in graph.elided:
        if group.column > 1:
            siblings = children.setdefault(group.parent, [])
            siblings.insert(0 if group.before else len(siblings), group.id)

    top: dict[str, float] = {}
    bottoms = [float(HEADER)] * len(graph.columns)
    for at in (0, 1):
        here = [n for n in graph.nodes if n.column == at]
        stack = [n.id for n in here if n.kind == "catalog"]  # over all that it leads to
        stack += [e.id for e in graph.elided if e.column == at and e.before]
        stack += [n.id for n in here if n.kind != "catalog"]
        stack += [e.id for e in graph.elided if e.column == at and not e.before]
        for item in stack:
            top[item] = bottoms[at]
            bottoms[at] += height[item] + ROW_GAP

    def place(item: str) -> None:
        """Children first, then this node at their middle, but never above what its own column already holds."""
        at = column[item]
        below = [c for c in children.get(item, []) if column[c] > at]
        for child in below:
            place(child)
        wanted = bottoms[at]
        if below:
            middle = (top[below[0]] + top[below[-1]] + height[below[-1]]) / 2
            wanted = max(wanted, middle - height[item] / 2)
        top[item] = wanted
        bottoms[at] = wanted + height[item] + ROW_GAP

    for snapshot in (n for n in graph.nodes if n.kind == "snapshot"):
        for child in children.get(snapshot.id, []):
            place(child)
    for node in graph.nodes:
        if node.id not in top:
            place(node.id)
    _near_parents(graph, top, height, column)
    x = {c: column_x(graph, c) for c in range(len(graph.columns))}
    return {item: Box(x[column[item]], top[item], WIDTH, height[item]) for item in top}


def column_x(graph: Graph, column: int) -> float:
    """Left edge of a column; empty ones at the left take no room."""
    first = min((n.column for n in graph.nodes), default=0)
    return (column - first) * (WIDTH + COLUMN_GAP)


def _near_parents(graph: Graph, top: dict[str, float], height: Mapping[str, float], column: Mapping[str, int]) -> None:
    """Move the tree of the snapshot in view down to that snapshot, when the tree is short and the snapshot far down."""
    tree = [item for item in top if column[item] > 1]
    focus = next((n.id for n in graph.nodes if n.kind == "snapshot" and n.facts.get("focus")), None)
    if not tree or focus is None:
        return
    extent = max(top[i] + height[i] for i in tree) - HEADER
    shift = top[focus] + height[focus] / 2 - HEADER - extent / 2
    if shift > 0:
        for item in tree:
            top[item] += shift
