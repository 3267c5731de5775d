"""Place a graph's nodes in columns, in the time of a sort, so that the same things stay at the same places from step to
step (docs/decisions/019-places-that-stay.md).

Metadata files and snapshots are stacked, newest first. What is right of them is placed column by column: a manifest or
file stands beside the snapshot that added it (`Node.beside`), all else as high as what leads to it. So what is unfolded
moves neither what leads to it nor, where there is room, what was there before. static/pure.js does the same."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from explorer.graph.graph import Graph

WIDTH, COLUMN_GAP, ROW_GAP, HEADER = 208, 46, 12, 30
MORE_HEIGHT = 26
BLANK = 332
"""At most so much is left free above a node, four rows: what follows is still in sight."""
NEAR = BLANK / 2
"""So much higher than what leads to it may a node stand, or lower than it should, before either follows the other."""


@dataclass(frozen=True)
class Box:
    """Where a node or elided group is drawn: top left corner and size, in CSS pixels at zoom 1. `row` is the height of
    what it should stand beside, None where that is what leads to it."""

    x: float
    y: float
    width: float
    height: float
    row: float | None = None


def node_height(lines: int) -> float:
    """Height of a card with a title and that many lines."""
    return 26 + 15 * lines if lines else 24


def layout(graph: Graph) -> Mapping[str, Box]:
    """A box for every node and elided group, by id."""
    placing = _Placing(graph)
    placing.stack()
    for column in range(2, len(graph.columns)):
        placing.fill(column)
    for column in range(len(graph.columns) - 2, 2, -1):
        placing.follow(column)
    x = {c: column_x(graph, c) for c in range(len(graph.columns))}
    return {
        item: Box(x[placing.column[item]], y, WIDTH, placing.height[item], placing.rows.get(item))
        for item, y in placing.top.items()
    }


def column_x(graph: Graph, column: int) -> float:
    """Left edge of a column; empty ones left of it take no room."""
    before = {n.column for n in graph.nodes if n.column < column}
    return len(before) * (WIDTH + COLUMN_GAP)


class _Placing:
    """A graph's items while they are placed. `led` has what leads to each, `wanted` where it would stand alone."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.column = {n.id: n.column for n in graph.nodes} | {e.id: e.column for e in graph.elided}
        self.height = {n.id: node_height(len(n.lines)) for n in graph.nodes} | {
            e.id: float(MORE_HEIGHT) for e in graph.elided
        }
        self.top: dict[str, float] = {}
        self.wanted: dict[str, float] = {}
        self.rows: dict[str, float] = {}
        self.led: dict[str, str] = {}
        self.children: dict[str, list[str]] = {}
        column = self.column
        for edge in graph.edges:  # the first parent is the one a shared node is placed under
            down = edge.kind == "contains" and column[edge.target] > column[edge.source]
            if down and edge.target not in self.led:
                self.led[edge.target] = edge.source
                self.children.setdefault(edge.source, []).append(edge.target)
        for group in graph.elided:
            if group.column > 1:
                self.led[group.id] = group.parent
                siblings = self.children.setdefault(group.parent, [])
                siblings.insert(0 if group.before else len(siblings), group.id)
        self.last = {siblings[-1] for siblings in self.children.values()} & {e.id for e in graph.elided}

    def stack(self) -> None:
        """The first two columns, and what the second says of the others: a manifest of a snapshot that is not drawn, an
        older one, stands below all."""
        bottom = float(HEADER)
        for at in (0, 1):
            here = [n for n in self.graph.nodes if n.column == at]
            groups = [e for e in self.graph.elided if e.column == at]
            stack = [n.id for n in here if n.kind == "catalog"]  # over all that it leads to
            stack += [e.id for e in groups if e.before]
            stack += [n.id for n in here if n.kind != "catalog"]
            stack += [e.id for e in groups if not e.before]
            bottom = self._sweep((item, HEADER) for item in stack)
        for node in self.graph.nodes:
            if node.beside in self.top:
                self.rows[node.id] = self.top[node.beside]
            elif node.beside and node.kind.endswith("_manifest"):
                self.rows[node.id] = bottom

    def fill(self, column: int) -> None:
        """A column: what should stand higher first, else in the order of what leads there."""
        here = []
        for parent in sorted(self.top, key=self.top.__getitem__):
            least = self.top[parent]
            siblings = [item for item in self.children.get(parent, ()) if self.column[item] == column]
            for item in siblings:
                self.wanted[item] = max(least - NEAR, self.rows.get(item, least))
            if siblings and siblings[-1] in self.last:  # what follows on a long level
                self.wanted[siblings[-1]] = max(self.wanted[item] for item in siblings)
            here += siblings
        here.sort(key=self.wanted.__getitem__)
        bottom = self._sweep((item, self.wanted[item]) for item in here)
        alone = [n.id for n in self.graph.nodes if n.column == column and n.id not in self.led]
        self._sweep(((item, bottom) for item in alone), bottom)

    def follow(self, column: int) -> None:
        """What leads to things that had no room beside it, nor near, moves down as far as they did."""
        lower = []
        for item in sorted((i for i in self.top if self.column[i] == column), key=self.top.__getitem__):
            below = self.children.get(item)
            first = min(below, key=self.top.__getitem__) if below else ""
            pushed = self.top[first] - self.wanted[first] if first else 0
            lower.append((item, self.top[item] + (pushed if pushed > NEAR else 0)))
        self._sweep(lower)

    def _sweep(self, items: Iterable[tuple[str, float]], bottom: float = HEADER) -> float:
        """Place items of a column one below the other, each where it should stand or lower; where the next could."""
        for item, wanted in items:
            least = self.top.get(self.led.get(item, ""), 0.0) if item not in self.top else wanted
            self.top[item] = max(bottom, min(wanted, max(bottom, least) + BLANK))
            bottom = self.top[item] + self.height[item] + ROW_GAP
        return bottom
