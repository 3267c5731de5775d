"""What would help: past filters ranked, and what a change would make of them; and a filter run in Spark."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import pandas as pd
import panel as pn
import panel_material_ui as pmui

from explorer.render.estimates import assumptions, short_changes, short_filters, verdicts
from explorer.render.scan_reports import short_figures, timing
from explorer.reports.estimates import estimate
from explorer.reports.timings import RUNS, measure
from explorer.serving.pools import ELSEWHERE
from explorer.spark_engine.read_queue import ReadSession
from explorer.spec.layout.estimates import Estimates
from explorer.spec.scan.scan_report_diff import MeasuredRun
from explorer.table import Table
from explorer.ui.background import Job
from explorer.ui.widgets import NUMBER, SMALL, WRAP, grid, heading, note

MIB = 1 << 20
FIGURES = {"figure": 180, "the plan": 100, "Spark": 100, "whose choice": 360}
"""Widths of columns."""


def estimates_view(table: Table, where: str, snapshot_id: int | None) -> Any:
    """A list of filters, this one first, ranked; and the changes that would help them."""
    filters = pmui.TextAreaInput(
        label="queries for rows where, one on each line", value=where, rows=4, width=480, **SMALL
    )
    size = pmui.FloatInput(label="new files, MiB (0: as now)", value=0.0, start=0.0, width=200, **NUMBER)
    run = pmui.Button(label="Estimate", variant="contained", width=110, margin=(14, 6))
    box = pn.Column(sizing_mode="stretch_width")
    job = Job("Files stay as large as now, and are compacted to the table's target size, if none is given.", [run], box)

    def start(*_: Any) -> None:
        asked = [line.strip() for line in filters.value.splitlines() if line.strip()] or [""]
        job.start(
            partial(estimate, table, asked, snapshot_id, round(size.value * MIB) if size.value else None),
            show,
            "Adding up bounds…",
        )

    def show(estimates: Estimates) -> None:
        box[:] = _shown(estimates)

    run.on_click(start)
    start()
    return pn.Column(pn.Row(filters, size, run, styles=WRAP), job.view, box, sizing_mode="stretch_width")


def _shown(estimates: Estimates) -> list[Any]:
    filters, changes = pd.DataFrame(short_filters(estimates)), pd.DataFrame(short_changes(estimates))
    wide = {"filter": 330, "reads": 220, "of the table": 100, "columns": 130, "helped most by": 260,
            "then (estimate)": 120}  # fmt: skip
    widths = {
        "change": 260,
        "is": 100,
        "files read": 90,
        "bytes read": 100,
        "weight": 100,
        "of now": 80,
        "files then": 90,
    }
    ranked = grid(filters, wide, _height(len(filters), 50), wrapped=("filter", "reads", "helped most by"))
    if not any(asked.plan for asked in estimates.filters):
        return [ranked]
    return [
        *(note(text, margin=(1, 10)) for text in verdicts(estimates)),
        ranked,
        heading("All of them together"),
        grid(changes, widths, _height(len(changes)), page_size=12),
        *(note(text, margin=(1, 10)) for text in assumptions(estimates)),
    ]


def _height(rows: int, each: int = 36) -> int:
    return 52 + each * min(rows, 12)


def runs_view(table: Table, where: str, versions: Sequence[str], sql: bool, reads: ReadSession) -> Any:
    """A button that runs a filter in Spark on each version; seconds, and its scan reports beside the plans."""
    run = pmui.Button(label="Run in Spark", variant="outlined", width=140, margin=(8, 10))
    box = pn.Row(styles=WRAP)
    hint = (
        f"Reads every column of the rows that match, once to warm up and {RUNS} times for the time. Nothing is written."
    )
    job = Job(hint, [run], box, ELSEWHERE)

    def show(measured: list[MeasuredRun]) -> None:
        box[:] = [
            pn.Column(
                note(timing(m)),
                grid(pd.DataFrame(short_figures(m)), FIGURES, _height(6), wrapped=("whose choice",)),
                width=780,
            )
            for m in measured
        ]  # fmt: skip

    run.on_click(
        lambda _: job.start(
            partial(measure, table, where, versions, sql, session=reads), show, "Spark reads, several times…"
        )
    )
    return pn.Column(pn.Row(run, job.view), box, sizing_mode="stretch_width")
