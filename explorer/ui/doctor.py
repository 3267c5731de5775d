"""The Problems tab: what the doctor finds in the whole table; a click on a finding goes to its node."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pandas as pd
import panel as pn
import panel_material_ui as pmui

from explorer.app.bring_up import bring_up
from explorer.app.graph_state import ViewState
from explorer.graph.finding_nodes import about
from explorer.render.doctor import summary
from explorer.render.rows import plain
from explorer.render.text import cell
from explorer.reports.doctor import diagnose
from explorer.spec.doctor.findings import Finding, Report
from explorer.spec.text.names import shorten
from explorer.table import Table
from explorer.ui.background import Job
from explorer.ui.widgets import SMALL, WRAP, grid, note

WIDTHS = {"severity": 80, "rule": 150, "what is wrong": 360, "where": 320, "found": 150, "expected": 150, "times": 60,
          "what would help": 500}  # fmt: skip


def doctor_view(
    table: Table, go: Callable[[Finding], None], told: Callable[[Sequence[Finding]], None]
) -> pn.viewable.Viewable:
    """The quick check, made now, and deeper ones. `go` shows a finding in the graph; `told` is given all."""
    depth = pmui.RadioButtonGroup(
        options={"Metadata": "quick", "Files too": "files", "What is in them": "deep"}, value="quick",
        sx={"& .MuiToggleButton-root": {"textTransform": "none", "whiteSpace": "nowrap"}}, **SMALL,
    )  # fmt: skip
    run = pmui.Button(label="Check again", variant="outlined", width=140, margin=(14, 6))
    box = pn.Column(sizing_mode="stretch_both")
    job = Job(buttons=[run], box=box)

    def start(*_: object) -> None:
        files, deep = depth.value in ("files", "deep"), depth.value == "deep"
        job.start(lambda: diagnose(table, files=files, deep=deep), show, "Checking the whole table…")

    def show(report: Report) -> None:
        told(report.findings)
        missing = [note(f"not checked: {shorten(line, 300)}") for line in report.not_checked[:10]]
        parts: list[pn.viewable.Viewable] = [note(f"{summary(report)}."), *missing]
        if report.findings:
            parts.append(note("Click a finding to see it in the graph."))
            parts.append(_grid(report.findings, go))
        box[:] = parts

    depth.param.watch(start, "value")
    run.on_click(start)
    start()
    return pn.Column(pn.Row(depth, run, styles=WRAP), job.view, box, sizing_mode="stretch_both")


def show_finding(view: ViewState, finding: Finding) -> None:
    """Bring up and select the node that a finding is about, as of a snapshot that it affects."""
    kind, key = finding.node or ("metadata", view.table.metadata.metadata_location)
    known = [i for i in finding.snapshots if view.table.metadata.snapshot(i)]
    if known and view.view.snapshot_id not in known:
        view.look_at(str(known[-1]))
    if not bring_up(view, kind, str(key), lambda node: about(node, finding)):
        view.message = f"{finding.rule}: what it is about is not drawn here"


def _grid(findings: Sequence[Finding], go: Callable[[Finding], None]) -> pn.viewable.Viewable:
    data = pd.DataFrame(
        [
            {
                "severity": f.severity,
                "rule": f.rule,
                "what is wrong": f.what,
                "where": f"{shorten(f.read_at or f.file, 90)} {f.location}".strip(),
                "what would help": f.remedy,
                "found": _text(f.found),
                "expected": _text(f.expected),
                "times": f.count,
                "snapshots": len(f.snapshots),
                "refs": ", ".join(f.refs),
            }
            for f in findings
        ]
    )
    data = data[[name for name in data.columns if any(data[name] != "")]]
    listed = grid(data, WIDTHS, wrapped=["what is wrong", "what would help", "where"])
    listed.on_click(lambda event: go(findings[event.row]))
    return listed


def _text(value: object) -> str:
    return "" if value is None else shorten(cell(plain(value)), 200)
