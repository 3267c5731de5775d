"""One statement, or one operation of the table API, on a sandbox table: what it wrote, the swap, the report, the diff,
and the graph."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import pandas as pd
import panel as pn
import panel_material_ui as pmui

from explorer.app.answer_states import CompareState
from explorer.app.graph_state import ViewState
from explorer.lab.observe import API, Observation, observe, observe_api
from explorer.lab.scenarios import fresh_copy, origin, reset_copy
from explorer.render.lab_runs import report_rows
from explorer.reports.maintenance.runs import is_teaching, is_writable
from explorer.serving.pools import ELSEWHERE
from explorer.spec.text.names import base_name
from explorer.spec.text.units import count, human_bytes
from explorer.ui.background import Job, answered
from explorer.ui.pane import GraphPane
from explorer.ui.widgets import CHOICE, WRAP, LiveTabs, grid, heading, label


class ObservePanel:
    """A statement on a sandbox table. The graph stays, and what a commit adds comes into it."""

    def __init__(self, table: Any, changed: Callable[[Any], None], opened: Callable[[str], None]) -> None:
        self.table, self.changed, self.opened = table, changed, opened
        self.state = ViewState(table)
        columns = [f.name for f in table.metadata.schema(table.metadata.current_schema_id).fields]
        about = label(f"t is {table.name}, with columns {', '.join(columns)}; {{name}} its name for CALL")
        first = f"DELETE FROM t WHERE {columns[0]} IS NULL"
        self.sql = pmui.TextAreaInput(
            label=about, value=first, rows=2, max_length=20_000, sizing_mode="stretch_width", margin=(14, 10, 4, 10)
        )
        teaching, allowed = is_teaching(table), is_writable(table)
        self.run = pmui.Button(
            label="Run it", variant="contained", width=100, margin=(8, 4, 8, 10), disabled=not allowed
        )
        self.api = pmui.Select(
            label="or the table API", options={w: n for n, (w, _) in API.items()}, width=400, **CHOICE
        )
        self.call = pmui.Button(label="Call it", variant="outlined", width=90, margin=(8, 4), disabled=not allowed)
        self.copy = pmui.Button(
            label="Make a copy of my own", variant="contained", width=210, margin=(8, 4), visible=teaching
        )
        self.reset = pmui.Button(
            label="Reset", variant="outlined", width=90, margin=(8, 4), visible=bool(origin(table.name))
        )
        caption = "Runs through Spark on this sandbox table; nothing else can be written to."
        if teaching:
            caption = "A teaching table stays as it is: make a copy of your own to change."
        elif not allowed:
            caption = "Nothing is written to this table: it is not in the sandbox."
        self.job = Job(caption, [self.run, self.call, self.copy, self.reset], None, ELSEWHERE)
        self.graph = GraphPane.of(self.state, sizing_mode="stretch_both", min_height=400)
        names = ("Files in order", "What changed", "Commit report")
        nothing = "Nothing has been run yet."
        self.boxes = [pn.Column(heading(nothing), sizing_mode="stretch_both", scroll=True) for _ in names]
        fill = (self._show_files, self._show_changes, self._show_report)
        parts = {
            "Graph": (self.graph, self._show_graph),
            **dict(zip(names, zip(self.boxes, fill, strict=True), strict=True)),
        }
        self.tabs = LiveTabs(parts)
        self._observed: Observation | None = None
        self.run.on_click(lambda _: self.start(lambda: observe(self.table, self.sql.value), self.show))
        self.call.on_click(lambda _: self.start(lambda: observe_api(self.table, self.api.value), self.show))
        self.copy.on_click(lambda _: self.start(lambda: fresh_copy(table.name.rsplit(".", 1)[-1]), self.opened))
        self.reset.on_click(lambda _: self.start(lambda: reset_copy(table.name), self.opened))

    def view(self) -> Any:
        """The panel."""
        controls = pn.Row(self.run, self.api, self.call, self.copy, self.reset, styles=WRAP)
        return pn.Column(self.sql, controls, self.job.view, self.tabs.tabs, sizing_mode="stretch_both")

    def start(self, work: Callable[[], Any], done: Callable[[Any], None]) -> None:
        """Do something on a thread and show what it did."""
        self.job.start(work, done, "Running through Spark…", cancels=False)

    def show(self, observed: Observation) -> None:
        """What the statement did."""
        self.table = observed.table
        swap = "nothing was committed"
        if observed.swapped:
            swap = f"the catalog swapped {base_name(observed.swapped[0])} for {base_name(observed.swapped[1])}"
        gone = f"; {count(len(observed.removed), 'file')} removed" if observed.removed else ""
        self.job.say(f"{observed.seconds:.1f} s, {count(observed.commits, 'commit')}: {swap}{gone}.")
        self._observed = observed
        self.tabs.changed()
        self.changed(observed.table)

    def _show_graph(self) -> None:
        self.state.move_to(self.table)
        self.graph.draw()

    def _show_files(self) -> None:
        observed = self._observed
        if observed is None:
            return
        files = [
            {"n": i, "after ms": round(f.after_ms), "what": f.what, "file": f.path, "size": human_bytes(f.size)}
            for i, f in enumerate(observed.files, 1)
        ]
        files += [{"n": "", "after ms": "", "what": "removed", "file": path, "size": ""} for path in observed.removed]
        widths = {"n": 40, "file": 620, "what": 130}
        order: list[Any] = [heading("No file was written or removed.")]
        if files:
            order = [grid(pd.DataFrame(files), widths, height=min(420, 50 + 34 * len(files)))]
        if observed.swapped:
            pointer = [
                {"the catalog": w, "metadata file": f}
                for w, f in zip(("pointed to", "points to"), observed.swapped, strict=True)
            ]
            order += [heading("Compare-and-swap"), grid(pd.DataFrame(pointer), {"metadata file": 800}, height=110)]
        self.boxes[0][:] = order

    def _show_changes(self) -> None:
        if self._observed is None or self._observed.diff is None:
            self.boxes[1][:] = [heading("There is no new snapshot with a parent to compare.")]
            return
        table, sides = self._observed.table, (self._observed.diff.before, self._observed.diff.after)

        def draw(state: CompareState) -> list[Any]:
            return [GraphPane.of(state, sizing_mode="stretch_both", min_height=400)]

        self.boxes[1][:] = [answered(lambda: CompareState(table, *sides), draw, "Comparing the two snapshots…")]

    def _show_report(self) -> None:
        observed, told = self._observed, list[Any]()
        if observed is not None and observed.report is not None:
            told.append(grid(pd.DataFrame(report_rows(observed.report)), {"of the commit": 230, "": 270}))
        if observed is not None and observed.cost is not None:
            ours = [
                {"counted from metadata": k.replace("_", " "), "": str(v)} for k, v in asdict(observed.cost).items()
            ]
            told.append(grid(pd.DataFrame(ours), {"counted from metadata": 220, "": 230}))
        caption = (
            "Iceberg's own CommitReport, and what the metadata says."
            if told
            else "Iceberg reports commits that make a snapshot."
        )
        self.boxes[2][:] = [heading(caption), pn.Row(*told, sizing_mode="stretch_both")]
