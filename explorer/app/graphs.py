"""The graphs of a table: the metadata tree, and the same files under a question. Each is a GraphState."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from explorer.app.answer_states import CompareState, DeletesState, PlanState
from explorer.app.bring_up import show_file, show_row
from explorer.app.graph_state import GraphState, MarkedState, ViewState
from explorer.app.protocol import BadMessage, DrawGraph
from explorer.app.tree_state import LEVEL, TreeState
from explorer.errors import NotFoundInTable
from explorer.graph.ids import list_node, manifest_node
from explorer.graph.summary import summary
from explorer.graph.uncommitted import Uncommitted
from explorer.graph.vocabulary import KINDS
from explorer.render.text import clean
from explorer.reports.inspector import Inspection
from explorer.spec.commits.commit import Decision
from explorer.table import Table

Answerer = Callable[[str, Mapping[str, Any]], Any]
"""Gives what a question about the table, with its arguments, is answered with. The page asks the same beside."""


def _tree(table: Table, request: DrawGraph, _: Answerer) -> GraphState:
    """The tree as of a snapshot; of one that is gone, the current one: a link may be older than what expired."""
    try:
        return TreeState(table, request.snapshot or None, request.levels)
    except NotFoundInTable as error:
        state = TreeState(table, None, request.levels)
        state.message = f"{error}. This is the current snapshot."
        return state


def _findings(table: Table, request: DrawGraph, answer: Answerer) -> GraphState:
    """The tree with what the doctor finds: a finding may be of any level."""
    state = TreeState(table, request.snapshot or None)
    state.mark(answer("doctor", {"snapshot": request.snapshot} if request.snapshot else {}).findings)
    return state


def _difference(table: Table, request: DrawGraph, _: Answerer) -> GraphState:
    """What a snapshot has that another has not; without a name that other one is its parent."""
    after = table.resolve(request.snapshot or None).snapshot
    before: str | int | None = request.before or after.parent_snapshot_id
    return CompareState(table, None if before == "none" else before, after.snapshot_id, LEVEL)


def _conflict(table: Table, request: DrawGraph, answer: Answerer) -> GraphState:
    """The tree with what stands against a commit: the answer of the question `check conflict` lights it up."""
    decision: Decision = answer("check conflict", request.arguments)
    state = MarkedState(table)
    snapshots = [one.snapshot_id for one in decision.conflicts if one.snapshot_id]
    if snapshots:
        files = {file for one in decision.conflicts for file in one.files}
        manifests = {manifest for one in decision.conflicts for manifest in one.manifests}
        opened = [*map(list_node, snapshots), *map(manifest_node, manifests)]
        state.show(table, Uncommitted({}, {}, conflicts={*snapshots, *files}), snapshots[0], opened)
    return state


MODES: Mapping[str, Callable[[Table, DrawGraph, Answerer], GraphState]] = {
    "table": _tree,
    "findings": _findings,
    "plan": lambda table, request, _: PlanState(table, table.plan(request.filter, request.snapshot or None), LEVEL),
    "deletes": lambda table, request, _: DeletesState(table, request.snapshot or None),
    "diff": _difference,
    "conflict": _conflict,
}
"""How each graph is made."""


def key_of(request: DrawGraph) -> tuple[str, ...]:
    """Return what tells one graph of a session from the others. The tree goes from snapshot to snapshot."""
    place = () if request.mode == "table" else (request.snapshot, request.filter, request.before)
    arguments = json.dumps(dict(request.arguments), sort_keys=True)
    return (request.table, request.mode, arguments, *place)


def make(table: Table, request: DrawGraph, answer: Answerer) -> GraphState:
    """Make the graph that is asked for. Raises BadMessage for a mode that there is not, and ExplorerError."""
    if request.mode not in MODES:
        raise BadMessage(f"there is no graph {request.mode[:40]!r}", request.id)
    return MODES[request.mode](table, request, answer)


def follow(state: GraphState, request: DrawGraph) -> GraphState:
    """Return a tree as a page asks for it anew: of the snapshot in view and with the levels that it has now."""
    later = state
    if request.snapshot:
        later = carry_out(state, {"type": "snapshot", "id": request.snapshot}) or state
    if isinstance(later, TreeState):
        later = later.copied()
        later.show_levels(request.levels)
    return later


def preview(state: GraphState, kind: str, key: str) -> dict[str, Any] | None:
    """Return what the inspector says first of what a link leads to, without its details; None if it is not here."""
    later = carry_out(state, {"type": "show", "kind": kind, "key": key})
    node = later.graph.node(later.selected[-1]) if later is not None and later.selected else None
    if later is None or node is None:
        return None
    problems = (node.problem,) if node.problem else ()
    told = Inspection(node.label, KINDS[node.kind].title, (), problems, summary(later.graph, node)).to_json()
    return {"summary": [], **{name: told[name] for name in ("title", "kind", "problems", "summary") if name in told}}


def carry_out(state: GraphState, action: Mapping[str, Any]) -> GraphState | None:
    """Carry out an action on a copy of a graph.

    Args:
        state: The graph, which stays as it is.
        action: See graph_state.GraphState.handle; or `show`, with the `kind` (snapshot, manifest, file) and the `key`
            (an id, or a path) of what is brought up. Kind `data_file` brings up its deletes too, as of a `snapshot`.

    Returns:
        The graph as it is then; None if nothing came of it.
    """
    later = state.copied()
    if action.get("type") == "show":
        later.message = ""
        if isinstance(later, ViewState):
            kind, key = str(action.get("kind"))[:20], str(action.get("key"))[:10_000]
            if kind == "data_file":
                show_file(later, key, _snapshot_of(later, action.get("snapshot")))
            else:
                show_row(later, kind, key)
        else:
            later.select(next((n.id for n in later.graph.nodes if n.facts.get("path") == action.get("key")), None))
        return later
    return None if later.handle(action) is None else later


def _snapshot_of(view: ViewState, name: Any) -> int | None:
    """The id of the snapshot that a page names; None without a name, or where there is none."""
    return view.table.resolve(name).snapshot.snapshot_id if isinstance(name, str) and name else None


def shown(state: GraphState) -> dict[str, Any]:
    """Return what a page draws of a graph."""
    snapshot = state.snapshot_id
    return {**state.state(), "timeline": state.timeline(), "snapshot": "" if snapshot is None else str(snapshot),
            "title": clean(state.graph.title)}  # fmt: skip
