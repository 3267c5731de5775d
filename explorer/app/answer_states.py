"""The graphs of answers: a comparison, deletes, a plan."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import pyarrow as pa

from explorer.app.graph_state import GraphState, is_as_asked
from explorer.graph.delete_graph import delete_graph
from explorer.graph.diff_graph import diff_graph
from explorer.graph.drawing import PAGE
from explorer.graph.plan_graph import plan_graph
from explorer.queries.graph import OPEN_ENTRIES, OPEN_MANIFESTS
from explorer.reports.inspector import InspectorSection
from explorer.spec.deletes.delete_layers import Layer
from explorer.spec.scan.plan import Plan
from explorer.spec.scan.plan_parts import verdicts
from explorer.table import Table


class CompareState(GraphState):
    """The difference of two snapshots, with its long levels paged."""

    def __init__(self, table: Table, before: str | int | None, after: str | int | None, size: int = PAGE) -> None:
        super().__init__(table)
        self._size = size
        self.diff = table.diff(before, after)
        self._before, self._after = (
            table.tree.manifests(table.metadata.snapshot(i)) for i in (self.diff.before, self.diff.after)
        )
        self._draw()

    def _draw(self) -> None:
        lists = (self._before, self._after)
        self.graph = diff_graph(self.table.name, self.diff, self.table.metadata, *lists, self.pages, self._size)


class DeletesState(GraphState):
    """Data files and the deletes that could matter to them, the dearest first, a page at a time."""

    def __init__(self, table: Table, snapshot: str | int | None) -> None:
        super().__init__(table)
        self.deletes = table.deletes(snapshot)
        self._snapshot_id = table.resolve(snapshot).snapshot.snapshot_id
        self._draw()

    def _draw(self) -> None:
        known = self.deletes
        self.graph = delete_graph(self.table.name, self._snapshot_id, known, self.pages)

    def layers(self) -> list[Layer]:
        """The data files and deletes by data sequence number."""
        return self.table.delete_layers(self.deletes)


class PlanState(GraphState):
    """The manifests and files of a planned scan, read and skipped, with what decided; small plans with their files."""

    def __init__(self, table: Table, plan: Plan, size: int = PAGE) -> None:
        super().__init__(table)
        self.plan, self._size = plan, size
        kept = [v.manifest.manifest_path for v in plan.manifests if v.keeps]
        few = len(kept) <= OPEN_MANIFESTS and (plan.stages[1].left.files or 0) <= OPEN_ENTRIES
        self._files = self._read(kept if few else ())
        self._draw()

    def details(self) -> dict[str, Any] | None:
        """With why the node is read or skipped."""
        node = self.graph.node(self.selected[-1]) if self.selected else None
        details = super().details()
        if details is None or node is None or "because" not in node.facts:
            return details
        why = InspectorSection("in this plan", [(node.status, node.facts["because"], "")])
        return {**details, "sections": [why.to_json(), *details["sections"]]}

    def _carry_out(self, kind: str, request: Mapping[str, Any]) -> None:
        node = self.graph.node(str(request.get("id")))
        if kind == "toggle" and node is not None and node.fold and not is_as_asked(node, request):
            path = node.facts["path"]
            if path in self._files:
                self._files = {p: files for p, files in self._files.items() if p != path}
            else:
                self._files = {**self._files, **self._read([path])}
            self._draw()

    def _read(self, paths: Collection[str]) -> Mapping[str, pa.Table]:
        """What becomes of the files of some manifests, by path."""
        some = [v.manifest for v in self.plan.manifests if v.manifest.manifest_path in paths]
        return {m.manifest_path: verdicts(self.plan.scan, m, e) for m, e in self.table.tree.stored_entries(some, True)}

    def _draw(self) -> None:
        self.graph = plan_graph(self.table.name, self.plan, self._files, self.pages, self._size)
