"""What changes to a table would make of queries, not estimated but written: the same rows in several layouts."""

from __future__ import annotations

from functools import partial
from typing import Any

import pandas as pd
import panel as pn
import panel_material_ui as pmui

from explorer.lab.layouts import LIMIT, compare_layouts
from explorer.render.layouts import head_lines, layout_rows, layouts_svg
from explorer.serving.pools import ELSEWHERE
from explorer.spark_engine.read_queue import ReadSession
from explorer.spec.layout.layout_comparison import LayoutComparison
from explorer.table import Table
from explorer.ui.background import Job
from explorer.ui.widgets import NUMBER, SMALL, WRAP, grid, note, picture


def layouts_view(table: Table, where: str, snapshot_id: int | None, reads: ReadSession) -> Any:
    """Queries, this one first, and a button that writes rows of the version in each layout; a picture and a table."""
    queries = pmui.TextAreaInput(
        label="queries for rows where, one on each line (none: drawn of the rows)", value=where, rows=4, width=480,
        **SMALL,
    )  # fmt: skip
    rows = pmui.IntInput(label="rows at most", value=LIMIT, start=1, width=160, **NUMBER)
    run = pmui.Button(label="Write and compare", variant="contained", width=180, margin=(14, 6))
    box = pn.Column(sizing_mode="stretch_width")
    hint = (
        "Spark writes the rows into the sandbox, unsorted and in four layouts, and drops them. The table is only read."
    )
    job = Job(hint, [run], box, ELSEWHERE)

    def start(*_: Any) -> None:
        asked = [line.strip() for line in queries.value.splitlines() if line.strip()]
        wanted = partial(compare_layouts, table, asked, snapshot_id, rows.value or LIMIT, reads)
        job.start(wanted, show, "Spark writes the rows in each layout…")

    def show(comparison: LayoutComparison) -> None:
        told = pd.DataFrame(layout_rows(comparison))
        widths = {"layout": 110, "how": 220, "seconds": 80, "wrote": 140}
        numbered = {name: 150 for name in told.columns if name not in widths}
        box[:] = [
            *(note(line, margin=(1, 10)) for line in head_lines(comparison)),
            picture(layouts_svg(comparison), margin=(6, 10), sizing_mode="stretch_width"),
            grid(told, widths | numbered, 260, wrapped=("how",)),
        ]

    run.on_click(start)
    return pn.Column(pn.Row(queries, rows, run, styles=WRAP), job.view, box, sizing_mode="stretch_width")
