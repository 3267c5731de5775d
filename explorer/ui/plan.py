"""What a query would read, and why: the filter put to manifests, partitions and metrics, as pictures and tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any

import pandas as pd
import panel as pn
import panel_material_ui as pmui
import pyarrow as pa
import pyarrow.compute as pc

from explorer.app.answer_states import PlanState
from explorer.queries.collection import Collection
from explorer.render.html_page import still_page
from explorer.render.plan_pictures import funnel_svg, intervals_svg, partitions_svg
from explorer.render.plans import (
    answer_rows,
    because,
    clustering_rows,
    group_rows,
    manifest_rows,
    mode_rows,
    page_words,
    pushdown_lines,
    spec_lines,
    summary_lines,
    task_rows,
)
from explorer.render.rows import json_rows
from explorer.reports.timings import beside
from explorer.spark_engine.read_queue import ReadSession
from explorer.spec.filters.pushdown import Pushdown
from explorer.spec.layout.clustering import Clustering
from explorer.spec.layout.metrics_modes import PREFIX, ColumnMode
from explorer.spec.scan.plan import Intervals, Plan
from explorer.spec.scan.scan import OUTCOMES, READ
from explorer.spec.text.names import base_name, snapshot_name, snapshot_ordinals
from explorer.spec.text.units import count, human_bytes
from explorer.table import Table
from explorer.ui.background import Job, answered
from explorer.ui.estimates import estimates_view, runs_view
from explorer.ui.file_map import FileMapPanel
from explorer.ui.layouts import layouts_view
from explorer.ui.pane import GraphPane
from explorer.ui.tables import downloads
from explorer.ui.widgets import (
    CHOICE,
    SMALL,
    WRAP,
    column_names,
    grid,
    heading,
    lazy_tabs,
    note,
    picture,
    version_input,
)

LISTED = 2000
"""Files, manifests and tasks that are listed; all are counted."""
SIDE = 780
"""Pixels of each of two plans: below each other where they have no room beside each other."""


@dataclass(frozen=True)
class _Planned:
    """One of the plans that are shown: what a person called it, with SQL what Spark pushed down, and where it stands
    beside others the bounds of the column that is asked first."""

    name: str
    table: Table
    plan: Plan
    found: Pushdown | None
    bounds: Intervals | None


def plan_view(
    table: Table, snapshot_id: int | None, reads: ReadSession, may_run_sql: bool, writes: bool,
    chosen: Callable[[str, int | None], None],
) -> Any:  # fmt: skip
    """A filter and one or two versions; the stages of planning, and what each skips. Spark SQL is planned for
    everybody, and run if `may_run_sql`; layouts are written if `writes`. A click on a file of the table in the map
    calls `chosen` with its path and the plan's snapshot."""
    if snapshot_id is None:
        return heading("The table has no snapshot.")
    ordinals = snapshot_ordinals(table.metadata)
    where = pmui.TextInput(label="a query for rows where", placeholder="name = 'jack' AND id > 3", width=330, **SMALL)
    version = version_input(table, "as of", snapshot_name(snapshot_id, ordinals), 180)
    other = version_input(table, "beside: a version, a table", "", 210)
    sql = pmui.Switch(label="in Spark SQL", value=False, margin=(20, 6))
    run = pmui.Button(label="Plan", variant="contained", width=90, margin=(14, 6))
    box = pn.Column(sizing_mode="stretch_both", scroll=True)
    job = Job("From metadata alone. Every manifest and file that is skipped says why.", [run], box)

    def start(*_: Any) -> None:
        asked = where.value.strip()
        names = [v for v in (version.value.strip(), other.value.strip()) if v]

        def plan() -> list[_Planned]:
            in_sql = sql.value and asked
            plans = []
            for name in names or [str(snapshot_id)]:
                of, at = beside(table, name)
                made, pushed_down = of.plan_sql(asked, at) if in_sql else (of.plan(asked, at), None)
                _ = made.tasks  # made here, off the page's thread
                bounds = of.intervals(made, made.columns[0]) if made.columns and len(names) > 1 else None
                plans.append(_Planned(name, of, made, pushed_down, bounds))
            return plans

        job.start(plan, partial(show, asked), "Planning…")

    def show(asked: str, plans: list[_Planned]) -> None:
        in_sql = plans[0].found is not None

        def runs() -> Any:
            if in_sql and not may_run_sql:
                return note("Conditions in SQL are not run here: the server was started without --allow-sql.")
            return runs_view(table, asked, [p.name for p in plans], in_sql, reads)

        def layouts() -> Any:
            if not writes:
                return note("Nothing is written here: the server was started without --allow-lab.")
            return layouts_view(plans[0].table, plans[0].plan.where, _version(plans[0].plan), reads)

        def go(path: str) -> None:
            if plans[0].table is table:
                chosen(path, _version(plans[0].plan))

        box[:] = [*_beside(plans), runs()] if len(plans) > 1 else _alone(plans[0], runs, layouts, go)

    run.on_click(start)
    where.param.watch(start, "value")
    start()
    return pn.Column(pn.Row(where, version, other, sql, run, styles=WRAP), job.view, box, sizing_mode="stretch_both")


def _beside(plans: list[_Planned]) -> list[Any]:
    sides = [
        pn.Column(
            heading(f"{p.name}: {p.plan.bound}"),
            _summary(p.plan, (*pushdown_lines(p.plan, p.found), *summary_lines(p.plan))),
            *(_intervals(p.bounds) if p.bounds else ()),
            width=SIDE,
        )
        for p in plans
    ]
    return [pn.Row(*sides, styles=WRAP)]


def _alone(
    planned: _Planned, runs: Callable[[], Any], layouts: Callable[[], Any], go: Callable[[str], None]
) -> list[Any]:
    table, plan, pushed_down = planned.table, planned.plan, planned.found
    tabs = lazy_tabs(
        {
            "Files": lambda: answered(partial(_files, plan), _files_grid, "Telling why…"),
            "Map": lambda: FileMapPanel(table, _version(plan), go, plan).view,
            "Graph": lambda: answered(partial(PlanState, table, plan), partial(_graph, table, pushed_down), "Drawing…"),
            "Bounds": lambda: _intervals_view(table, plan),
            "Partitions": lambda: answered(partial(table.partition_verdicts, plan), _partitions, "Adding up…"),
            "Manifests": lambda: _manifests(plan),
            "Row groups": lambda: answered(
                partial(_row_groups, table, plan), partial(_groups_grid, plan), "Reading footers…"
            ),
            f"Tasks ({plan.tasks.count:,})": lambda: _tasks(plan),
            "Engines": lambda: pn.Column(
                answered(
                    lambda: answer_rows(plan, table.ask_planners(plan)), _answers_grid, "Asking Iceberg and pyiceberg…"
                ),
                runs(),
                sizing_mode="stretch_width",
            ),
            "What would help": lambda: estimates_view(table, plan.where, _version(plan)),
            "Layouts": layouts,
            "Statistics": lambda: answered(
                lambda: (table.metrics(_version(plan)), table.clustering((), _version(plan))),
                partial(_statistics, plan),
                "Counting…",
            ),
        }
    )
    told = (*filter(None, pushdown_lines(plan, pushed_down)), *spec_lines(plan), *summary_lines(plan))
    return [_summary(plan, told), tabs]


def _summary(plan: Plan, lines: Iterable[str]) -> Any:
    """The funnel, and what is to be said, beside it where there is room."""
    look = {"white-space": "pre-line", "line-height": "1.45", "flex": "1 1 430px", "min-width": "0"}
    funnel = picture(funnel_svg(plan), margin=(0, 10), styles={"flex": "2 1 640px", "min-width": "0"})
    return pn.Row(funnel, note("\n".join(lines), margin=(4, 10), styles=look), styles=WRAP, margin=(0, 0, 4, 0))


def _version(plan: Plan) -> int | None:
    return plan.snapshot.snapshot_id if plan.snapshot else None


def _files(plan: Plan) -> pd.DataFrame:
    """Those that are read first; as many of the others. No more of the plan's files are looked at than that needs."""
    looked_at, read = plan.stages[1].left.files or 0, plan.left.files or 0
    missing = {True: min(LISTED, read), False: min(LISTED, looked_at - read)}
    listed: dict[bool, list[dict[str, Any]]] = {True: [], False: []}
    for part in plan.files.read():
        is_read = pc.equal(part["verdict"].cast(pa.string()), OUTCOMES[READ])
        for wanted, rows in listed.items():
            some = part.filter(is_read if wanted else pc.invert(is_read))
            rows += json_rows(some.slice(0, missing[wanted] - len(rows)))
        if all(len(rows) == missing[wanted] for wanted, rows in listed.items()):
            break
    return pd.DataFrame(
        [
            {
                "file": base_name(r["file_path"]), "verdict": r["verdict"],
                "because": because(r), "partition": r["partition"],
                "still asked of its rows": _residual(r), "rows": r["record_count"],
            }
            for r in (*listed[True], *listed[False])
        ]
    )  # fmt: skip


def _residual(row: dict[str, Any]) -> str:
    if row["verdict"] != "read":
        return ""
    return "nothing" if row["residual"] == "true" else str(row["residual"])


def _files_grid(files: pd.DataFrame) -> list[Any]:
    if files.empty:
        return [note("No manifest is read, so no file is looked at: the tab Manifests says why.")]
    is_cut = (files["verdict"] == OUTCOMES[READ]).sum() >= LISTED or (
        files["verdict"] != OUTCOMES[READ]
    ).sum() >= LISTED
    text = {"type": "input", "func": "like", "placeholder": "filter"}
    filters = {} if is_cut else dict.fromkeys(files.columns[:-1], text)  # which would search what is listed alone
    widths = {"file": 200, "verdict": 110, "because": 310, "partition": 120, "still asked of its rows": 170, "rows": 70}
    cut = f"At most {LISTED:,} that are read and {LISTED:,} that are skipped are listed; plan --stage files tells all."
    more = [note(cut)] if is_cut else []
    wrapped = list(widths)[:-1]
    return [*more, grid(files, widths, min_height=260, wrapped=wrapped, header_filters=filters)]


def _graph(table: Table, pushed_down: Pushdown | None, state: PlanState) -> list[Any]:
    files = {
        "plan.html": lambda: still_page(
            f"plan: {state.plan.bound}", table.plan_pictures(state.plan, pushed_down)._repr_html_()
        ).encode(),
        "plan.svg": lambda: table.plan_pictures(state.plan, pushed_down).to_svg().encode(),
    }
    buttons = pn.Row(*downloads(files, width=110, height=34))
    return [GraphPane.of(state, sizing_mode="stretch_width", height=460), buttons]


def _intervals_view(table: Table, plan: Plan) -> Any:
    names = list(dict.fromkeys([*plan.columns, *column_names(table)]))
    column = pmui.Select(label="column", options=names, value=names[0], width=220, **CHOICE)
    box = pn.Column(sizing_mode="stretch_width")
    job = Job("", [column], box)

    def show(intervals: Intervals) -> None:
        box[:] = _intervals(intervals)

    def start(*_: Any) -> None:
        job.start(partial(table.intervals, plan, column.value), show, "Reading bounds…")

    column.param.watch(start, "value")
    start()
    return pn.Column(pn.Row(column, job.view), box, sizing_mode="stretch_width")


def _intervals(intervals: Intervals) -> list[Any]:
    if not intervals.items:
        return [note("No file is looked at.")]
    return [picture(intervals_svg(intervals), margin=(0, 10), sizing_mode="stretch_width")]


def _partitions(partitions: Collection) -> list[Any]:
    focusable = f'<div tabindex="0">{partitions_svg(partitions.to_arrow())}</div>'  # by keys it can be scrolled, too
    return [picture(focusable, margin=(0, 10), sizing_mode="stretch_width")]


def _manifests(plan: Plan) -> Any:
    rows = [
        {
            "manifest": base_name(r["manifest_path"]), "spec": r["spec_id"], "verdict": r["verdict"],
            "because": because(r), "data files": r["data_files"],
        }
        for r in manifest_rows(plan)[:LISTED]
    ]  # fmt: skip
    if not rows:
        return note("The snapshot has no data manifest.")
    widths = {"manifest": 330, "spec": 60, "verdict": 110, "because": 420, "data files": 90}
    return grid(pd.DataFrame(rows), widths, min_height=260, wrapped=("verdict", "because"))


def _row_groups(table: Table, plan: Plan) -> list[dict[str, Any]]:
    return [
        {
            "file": base_name(r["file_path"]), "group": r["row_group"], "verdict": r["verdict"], "by": r["by"],
            "because": because(r), "pages that may match": page_words(r), "rows": r["rows"],
            "size": human_bytes(r["total_byte_size"]),
        }
        for r in islice(group_rows(table.row_groups(plan)), LISTED)
    ]  # fmt: skip


def _groups_grid(plan: Plan, rows: list[dict[str, Any]]) -> list[Any]:
    if not rows:
        none = "none of them is a Parquet file whose footer could be read" if plan.left.files else "no file is read"
        return [note(f"There are no row groups to tell of: {none}.")]
    kept = sum(r["verdict"] == "read" for r in rows)
    widths = {
        "file": 180,
        "group": 80,
        "verdict": 80,
        "by": 100,
        "because": 330,
        "pages that may match": 300,
        "rows": 70,
    }
    first = "the first " if len(rows) == LISTED else ""
    whole = "Iceberg's readers read these whole; others go by pages."
    said = f"{kept:,} of {first}{count(len(rows), 'row group')} read. {whole}"
    wrapped = ("file", "because", "pages that may match")
    return [note(said), grid(pd.DataFrame(rows), widths, min_height=260, wrapped=wrapped)]


def _answers_grid(rows: list[dict[str, Any]]) -> list[Any]:
    shown = [
        {**r, "data_files": "" if r["data_files"] is None else f"{r['data_files']:,}", "tasks": str(r["tasks"] or "")}
        for r in rows
    ]
    return [grid(pd.DataFrame(shown), {"planner": 160, "difference": 620}, min_height=160, wrapped=("difference",))]


def _tasks(plan: Plan) -> Any:
    rows = [
        {
            "task": r["task"], "bytes": r["bytes"], "weight": r["weight"],
            "reads": ", ".join(f"{base_name(s['file_path'])} from {s['start']:,}" for s in r["splits"][:20]),
        }
        for r in task_rows(plan.tasks.first[:LISTED])
    ]  # fmt: skip
    return (
        grid(pd.DataFrame(rows), {"reads": 720}, min_height=260, wrapped=("reads",))
        if rows
        else note("Nothing is read.")
    )


def _statistics(plan: Plan, answer: tuple[list[ColumnMode], list[Clustering]]) -> list[Any]:
    """The columns that are asked first."""
    modes, clusters = answer
    opened = {r["column"]: r for r in clustering_rows(clusters)}
    rows = [
        {
            "column": r["column"], "mode": r["mode"], "because": r["rule"], "a filter on it can skip by": r["skips"],
            "one value opens": _opens(opened.get(r["column"])), "files": r["agreement"],
        }
        for r in mode_rows(sorted(modes, key=lambda mode: mode.name not in plan.columns))
    ]  # fmt: skip
    widths = {"column": 120, "mode": 100, "because": 270, "a filter on it can skip by": 190, "one value opens": 130,
              "files": 180}  # fmt: skip
    sets = f"A column's mode is set by the property {PREFIX}NAME. 'One value': a query for one, by bounds, on average."
    return [note(sets), grid(pd.DataFrame(rows), widths, min_height=260, wrapped=list(widths))]


def _opens(row: dict[str, Any] | None) -> str:
    if row is None:
        return ""
    return f"{row['opened']:,} of {row['data_files']:,} files" + ("" if row["with_bounds"] else " (no bounds)")
