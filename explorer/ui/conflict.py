"""Would a commit that began at an older snapshot succeed now, and if not, which snapshot's which files stand against
it? Read-only."""

from __future__ import annotations

from typing import Any

import pandas as pd
import panel as pn
import panel_material_ui as pmui

from explorer.app.graph_state import MarkedState
from explorer.graph.ids import list_node, manifest_node
from explorer.graph.uncommitted import Uncommitted
from explorer.reports.conflicts import explain_conflict
from explorer.spec.commits.commit import Decision
from explorer.spec.commits.operations import ISOLATION, KINDS, PROTECTS, Operation, isolation_of
from explorer.spec.text.names import base_name, snapshot_name, snapshot_ordinals
from explorer.table import Table
from explorer.ui.background import Job
from explorer.ui.pane import GraphPane
from explorer.ui.widgets import CHOICE, SMALL, WRAP, WRAPPED, Text, folded, grid, heading, version_input


def validation_switches(operation: Operation, width: int) -> Any | None:
    """A switch for each validation that an operation offers, with what it protects from, set as its engine sets it;
    None without any."""
    options = {f"{name}: {PROTECTS[name]}": name for name in operation.available_validations}
    on = [v for v in operation.available_validations if v in operation.validations]
    look: dict[str, Any] = {
        "margin": (2, 10),
        "sizing_mode": "stretch_width",
        "max_width": width,
        "stylesheets": [WRAPPED],
    }
    return pn.widgets.CheckBoxGroup(options=options, value=on, **look) if options else None


def switched_on(switches: Any) -> tuple[str, ...]:
    """The validations that are on, in the order of PROTECTS."""
    return tuple(v for v in PROTECTS if v in switches.value)


def conflict_view(table: Table) -> Any:
    """Choose a base, an operation, its rows and validations; see what Iceberg would say, with the conflicts lit in the
    graph."""
    ordinals = snapshot_ordinals(table.metadata)
    here = table.metadata.current_snapshot
    if here is None:
        return Text("This table has no snapshot: every commit succeeds.", margin=20)
    parent = snapshot_name(
        here.parent_snapshot_id if here.parent_snapshot_id in ordinals else here.snapshot_id, ordinals
    )
    base = version_input(table, "it began at", parent, 170)
    kind = pmui.Select(label="operation", options={k: k for k in KINDS}, value="cow-update", width=190, **CHOICE)
    isolation = pmui.Select(label="isolation", options=list(ISOLATION), value="serializable", width=140, **CHOICE)
    where = pmui.TextInput(label="on rows where (empty: all)", width=320, **SMALL)
    ask = pmui.Button(label="Explain", variant="contained", width=100, margin=(14, 6))
    checks = pn.Column(sizing_mode="stretch_width")
    card = folded("Validations, one by one", lambda: checks)
    box = pn.Column(sizing_mode="stretch_both")
    job = Job("From metadata alone: nothing is written.", [ask], box)

    def by_property(*_: Any) -> None:
        isolation.value = isolation_of(kind.value, table.metadata.properties)
        offer()

    def offer(*_: Any) -> None:
        switches = validation_switches(Operation(kind.value, isolation.value), 900)
        checks[:] = [switches] if switches else []

    def chosen() -> tuple[str, ...]:
        return switched_on(checks.objects[0]) if checks.objects else ()

    def show(answer: tuple[Decision, MarkedState | None]) -> None:
        verdict, state = answer
        job.say(verdict.words)
        rows = [
            {
                "check": c.check,
                "snapshot": c.snapshot,
                "file": base_name(f),
                "in": ", ".join(c.partitions),
                "it": PROTECTS.get(c.check, ""),
            }
            for c in verdict.conflicts
            for f in c.files or ("",)
        ]
        parts: list[Any] = []
        if rows:
            widths = {"check": 230, "snapshot": 110, "file": 300, "in": 160, "it": 560}
            told = pd.DataFrame(rows)
            told = told.loc[:, told.ne("").any()]
            parts += [heading("What stands against it"), grid(told, widths, whole=True, wrapped=("it",))]
        if state is not None:
            parts.append(GraphPane.of(state, sizing_mode="stretch_both", min_height=420))
        box[:] = parts

    def start(_: Any) -> None:
        arguments = (base.value.strip(), kind.value, chosen(), where.value.strip())

        def explain() -> tuple[Decision, MarkedState | None]:
            decision = explain_conflict(table, *arguments)
            return decision, _lit(table, decision)

        job.start(explain, show, "Reading what was committed since…")

    kind.param.watch(by_property, "value")
    isolation.param.watch(offer, "value")
    ask.on_click(start)
    by_property()
    asked = pn.Row(base, kind, isolation, where, ask, styles=WRAP)
    return pn.Column(asked, card, job.view, box, sizing_mode="stretch_both")


def _lit(table: Table, decision: Decision) -> MarkedState | None:
    """The graph with the conflicts lit in it, opened there; None without any that a snapshot made."""
    snapshots = [c.snapshot_id for c in decision.conflicts if c.snapshot_id]
    if not snapshots:
        return None
    files = {f for c in decision.conflicts for f in c.files}
    opened = [list_node(i) for i in snapshots] + [manifest_node(m) for c in decision.conflicts for m in c.manifests]
    state = MarkedState(table)
    state.show(table, Uncommitted({}, {}, conflicts={*snapshots, *files}), snapshots[0], opened)
    return state
