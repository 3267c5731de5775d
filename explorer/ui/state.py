"""What one viewer looks at: a table, a snapshot, what is open and selected. Both hosts drive it with the same requests.

State belongs to one session; nothing here is shared between sessions. Requests come from the browser, so everything in
them is checked: an unknown id or a wrong type is a message to the person, never an exception."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from explorer.core.diff_graph import BOTH, KEPT, diff_graph, kept_page
from explorer.core.graph import GraphView, list_node
from explorer.core.names import snapshot_ordinals
from explorer.core.units import instant
from explorer.errors import ExplorerError
from explorer.inspection import inspect, life
from explorer.model.graph import Graph, Node
from explorer.table import Table
from explorer.views.svg import picture

FILES = ("data_file", "position_deletes", "equality_deletes", "deletion_vector")


class GraphState:
    """The state behind one widget: a graph of a table, and what is selected. `handle` takes a request of the widget and returns
    whether the graph must be drawn again (else only the details)."""

    compares = False
    """Whether this is the difference of two snapshots: the widget then offers no search, timeline or reload."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.message = ""
        self.selected: list[str] = []
        self.graph: Graph
        self._n = 0
        self._told: set[str] = set()

    def timeline(self) -> dict[str, Any]:
        """What can be stepped through; empty when nothing can."""
        return {}

    def state(self) -> dict[str, Any]:
        """What the widget draws; `n` tells one redraw from the next."""
        self._n += 1
        return {
            "n": self._n, "picture": picture(self.graph), "selected": self.selected, "message": self.message,
            "details": self.details(), "compares": self.compares,
        }  # fmt: skip

    def details(self) -> dict[str, Any] | None:
        """The inspection of the node selected last."""
        node = self.graph.node(self.selected[-1]) if self.selected else None
        if node is None:
            return None
        found = inspect(self.table, node)
        if node.kind not in FILES:
            return found.to_json()
        if node.id not in self._told:
            return {**found.to_json(), "actions": [["life", "Tell the life of this file"]]}
        return replace(found, sections=(life(self.table, node.facts["path"]), *found.sections)).to_json()

    def handle(self, request: Mapping[str, Any]) -> bool:
        """Carry out a request of the widget. What is wrong with it is a message to the person."""
        self.message = ""
        kind = str(request.get("type"))
        if kind == "select":
            wanted = request.get("ids")
            self.selected = [i for i in wanted if isinstance(i, str) and self.graph.node(i)] if isinstance(wanted, list) else []
            return False
        if kind == "life":
            self._told.update(self.selected[-1:])
            return False
        try:
            self._carry_out(kind, request)
        except ExplorerError as error:
            self.message = str(error)
        return True

    def _carry_out(self, kind: str, request: Mapping[str, Any]) -> None:
        raise NotImplementedError


class CompareState(GraphState):
    """The difference of two snapshots, with its long levels paged."""

    compares = True

    def __init__(self, table: Table, before: str | int | None, after: str | int | None) -> None:
        super().__init__(table)
        self.diff = table.diff(before, after)
        self._before, self._after = (table.manifest_files(table.metadata.snapshot(i)) for i in (self.diff.before, self.diff.after))
        self._pages: dict[str, int] = {}
        self._draw()

    def _draw(self) -> None:
        self.graph = diff_graph(self.table.name, self.diff, self.table.metadata, self._before, self._after, self._pages)

    def _carry_out(self, kind: str, request: Mapping[str, Any]) -> None:
        group = next((e for e in self.graph.elided if e.id == request.get("id")), None)
        if kind == "page" and group and group.what != BOTH:
            self._pages[kept_page(group.parent) if group.what == KEPT else group.parent] = group.start
            self._draw()


class ViewState(GraphState):
    """A table as of one snapshot: which nodes are open, the timeline, search and paging."""

    def __init__(self, table: Table, snapshot: str | int | None = None) -> None:
        super().__init__(table)
        self.view: GraphView
        self._look(snapshot)

    def _look(self, snapshot: str | int | None) -> None:
        """Start over at a snapshot, with its default view."""
        old = getattr(self, "view", None)
        self.view = self.table.default_view(snapshot)
        if old is not None:
            keep = frozenset(n for n in old.open_nodes if not n.startswith(("closed:", "l")))
            self.view = replace(self.view, open_nodes=self.view.open_nodes | keep, show_filtered=old.show_filtered, search=old.search)
        self._draw()

    def _draw(self) -> None:
        self.graph = self.table.graph(view=self.view)

    def timeline(self) -> dict[str, Any]:
        """All snapshots, oldest first, as parallel lists: ids (text: they do not fit a JavaScript number), operations,
        times and refs."""
        meta = self.table.metadata
        ordinals = snapshot_ordinals(meta)
        ordered = sorted(meta.snapshots, key=lambda s: ordinals[s.snapshot_id])
        refs: dict[int, list[str]] = {}
        for ref in meta.refs:
            refs.setdefault(ref.snapshot_id, []).append(f"{ref.type} {ref.name}")
        return {
            "ids": [str(s.snapshot_id) for s in ordered],
            "operations": [s.operation or "unknown" for s in ordered],
            "times": [instant(s.timestamp_ms)[:19] + " UTC" for s in ordered],
            "refs": [refs.get(s.snapshot_id, []) for s in ordered],
        }

    @property
    def snapshot_id(self) -> int | None:
        """The snapshot in view."""
        return self.view.snapshot_id

    def _carry_out(self, kind: str, request: Mapping[str, Any]) -> None:
        if kind == "snapshot":
            self._look(str(request.get("id")))
        elif kind == "reload":
            latest = self.view.snapshot_id == self.table.metadata.current_snapshot_id
            self.table = self.table.refresh()
            self._look(None if latest else self.view.snapshot_id)
        elif kind == "search":
            self.view = replace(self.view, search=str(request.get("text", ""))[:200].strip(), pages={})
        elif kind == "filtered":
            self.view = replace(self.view, show_filtered=bool(request.get("value")))
        elif kind in ("toggle", "focus", "page"):
            self._on_node(kind, str(request.get("id")))
        self._draw()

    def _on_node(self, kind: str, node_id: str) -> None:
        if kind == "page":
            group = next((e for e in self.graph.elided if e.id == node_id), None)
            if group and "without a match" in group.label:
                self.view = replace(self.view, search="")
            elif group:
                key = "snapshots" if group.what == "snapshots" else group.parent
                opened = self.view.open_nodes | ({group.parent} if group.what == "metadata files" else set())
                self.view = replace(self.view, pages={**self.view.pages, key: group.start}, open_nodes=opened)
            return
        node = self.graph.node(node_id)
        if node is None:
            return
        if kind == "focus" and node.kind == "snapshot":
            self._look(node.facts["snapshot_id"])
        else:
            self._toggle(node)

    def _toggle(self, node: Node) -> None:
        opened = set(self.view.open_nodes)
        target = node.id
        if node.kind == "snapshot":
            target = list_node(node.facts["snapshot_id"])
            if node.facts.get("focus"):
                target = f"closed:{target}"
        elif node.kind == "manifest_list":
            target = f"closed:{node.id}"
        opened.symmetric_difference_update({target})
        self.view = replace(self.view, open_nodes=frozenset(opened))
