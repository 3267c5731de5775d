"""A table's metadata tree as a graph: data that every renderer draws from."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from explorer.graph.vocabulary import COLUMNS, KINDS


@dataclass(frozen=True)
class Card:
    """What the app's card of a node says instead of `Node.lines`. `chips` are partition values, or ranges of them, by
    field name; `rows` and `bytes` are a file's, `operation` is a snapshot's. A delete is `dead` where every data file
    is drawn and it applies to none."""

    measures: str = ""
    note: str = ""
    chips: tuple[tuple[str, str], ...] = ()
    rows: int | None = None
    bytes: int | None = None
    operation: str = ""
    dead: bool = False


def partition_chips(path: str | None) -> tuple[tuple[str, str], ...]:
    """The names and values of a partition as `partition_path` of spec.values.values tells it."""
    parts = re.split(r"/(?=[^/=]+=)", path) if path else []
    return tuple((name, value) for name, _, value in (part.partition("=") for part in parts))


@dataclass(frozen=True)
class Node:
    """A node. `id` is opaque and stays the same for the same thing from step to step. `label` and `lines` are plain
    text. `status` is a logical status, "filtered", in a diff "added", "removed" or "kept", or "" where it has none.
    `fold` is "" (a leaf), "folded" or "open". `facts` identify the thing (snapshot_id, path, ...), and are JSON. `mark`
    says more of it: one of MARKS. `beside` is the node of the snapshot that added it, drawn or not. Without a `card`
    the lines are all that is said."""

    id: str
    kind: str
    label: str
    lines: tuple[str, ...] = ()
    status: str = ""
    fold: str = ""
    current: bool = False
    problem: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)
    mark: str = ""
    beside: str = ""
    card: Card | None = None

    @property
    def column(self) -> int:
        """Index into the graph's columns: what `facts` say, else by kind."""
        return int(self.facts["column"]) if "column" in self.facts else KINDS[self.kind].column


@dataclass(frozen=True)
class Edge:
    """A directed edge. `kind` is one of EDGES; `status` that of the entry which makes an edge from manifest to file; a
    delete's edge says `why` it does not apply."""

    source: str
    target: str
    kind: str = "contains"
    status: str = ""
    why: str = ""


@dataclass(frozen=True)
class Elided:
    """Nodes that are there but not drawn: `hidden` of `total` children of `parent`, of the kind `what`. `action` says
    what brings them up: the level `key` shown from its child `start` on (see GraphView.pages), an end to the search,
    all `levels`, or nothing. Nothing is ever dropped without one of these saying so."""

    id: str
    parent: str
    what: str
    hidden: int
    total: int
    column: int
    label: str
    action: Literal["page", "search", "levels", ""] = ""
    key: str = ""
    start: int = 0
    before: bool = False


@dataclass(frozen=True)
class Graph:
    """Nodes and edges in drawing order, and what was left out. `title` names the table, `snapshot_id` the snapshot that
    statuses are read as of."""

    title: str
    snapshot_id: int | None
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    elided: tuple[Elided, ...]
    columns: tuple[str, ...] = COLUMNS

    def node(self, node_id: str) -> Node | None:
        """The node with that id, or None."""
        return next((n for n in self.nodes if n.id == node_id), None)

    def group(self, group_id: str) -> Elided | None:
        """The hidden nodes with that id, or None."""
        return next((e for e in self.elided if e.id == group_id), None)
