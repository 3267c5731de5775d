"""The maintenance panel: preview for any table, run for tables of the sandbox, on fresh copies of the teaching
tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import partial
from typing import Any

import pandas as pd
import panel as pn
import panel_material_ui as pmui

from explorer.errors import NotFoundInTable
from explorer.lab.scenarios import fresh_copy
from explorer.render.maintenance import display_row
from explorer.render.text import cell
from explorer.reports.maintenance import runs
from explorer.reports.maintenance.procedure_calls import LOOKS, PROCEDURES, STRATEGIES
from explorer.serving.pools import ELSEWHERE
from explorer.spec.snapshots.ref_operations import OPERATIONS as REF_OPERATIONS
from explorer.spec.snapshots.refs import RefPreview
from explorer.spec.text.names import snapshot_name, snapshot_ordinals
from explorer.spec.text.units import human_bytes
from explorer.table import Table
from explorer.ui.background import Job
from explorer.ui.widgets import CHOICE, NUMBER, SMALL, WRAP, Statement, grid, heading, lazy_tabs, note, version_input

ABOUT = {
    "compact": "rewrite_data_files, bin-pack",
    "compact-sort": "rewrite_data_files, sort",
    "compact-z-order": "rewrite_data_files, z-order",
    "rewrite-manifests": "rewrite_manifests",
    "rewrite-position-deletes": "rewrite_position_delete_files",
    "expire": "expire_snapshots",
    "remove-orphans": "remove_orphan_files",
    "next-append": "the next append's merges",
    "dangling-deletes": "deletes that hide nothing",
}
SHOWN = 2000
"""Rows of each table that a page is given."""
WIDTHS = {
    "group": 70, "bin": 60, "becomes": 95, "reason": 430, "file": 340, "partition": 220, "manifest": 140, "files": 70,
    "manifest_path": 330, "bytes": 95, "snapshot": 110, "snapshot_id": 180, "timestamp": 230, "dropped_by": 330,
    "kind": 130, "live": 60, "age": 80, "expected_files": 120, "expected_file_bytes": 160,
}  # fmt: skip


def undo_view(table: Table, changed: Callable[[str], None], writes: bool) -> Any:
    """Choose an operation on refs or the current snapshot, see what it would do, run it on a sandbox table."""
    operation = pmui.Select(
        label="operation", options={w: n for n, w in REF_OPERATIONS.items()}, value="rollback", width=400, **CHOICE
    )
    name = pmui.TextInput(label="branch, tag or WAP id", width=210, **SMALL)
    ordinals = snapshot_ordinals(table.metadata)
    here = table.metadata.current_snapshot
    parent = snapshot_name(here.parent_snapshot_id if here else None, ordinals)
    snapshot = version_input(
        table, "snapshot (or a time)", parent if here and here.parent_snapshot_id in ordinals else "main", 220
    )
    writable = writes and runs.is_writable(table)
    run = pmui.Button(label="Run", variant="contained", width=80, margin=(14, 6), disabled=not writable)
    box = pn.Column(sizing_mode="stretch_both")
    looking = Job(box=box)
    running = Job("" if writable else "Previews only: this table is not written to.", [run], None, ELSEWHERE)

    def chosen() -> tuple[str, str, str | None]:
        return operation.value, name.value.strip(), snapshot.value.strip() or None

    def look(*_: Any) -> None:
        arguments = chosen()
        looking.start(lambda: runs.preview_undo(table, *arguments), show, "Looking what it would do…")

    def show(outcome: RefPreview) -> None:
        names = list(dict.fromkeys([*outcome.before, *outcome.after]))
        rows = [
            {"ref": n, "before": _of(outcome.before.get(n), ordinals), "after": _of(outcome.after.get(n), ordinals)}
            for n in names
        ]
        if outcome.current is None:
            rows = [r | ({"after": "a new snapshot"} if r["ref"] == "main" else {}) for r in rows]
        lines = [note(w, margin=(2, 10)) for w in outcome.words]
        refs = grid(pd.DataFrame(rows), {"ref": 160, "before": 160, "after": 160}, height=min(300, 60 + 30 * len(rows)))
        box[:] = [heading("What it would do"), *lines, refs]
        if outcome.files:
            prefix = table.metadata.location.rstrip("/") + "/"
            listed = pd.DataFrame(
                [{"file that no branch or tag would lead to": f.replace(prefix, "")} for f in outcome.files]
            )
            box.append(grid(listed, {"file that no branch or tag would lead to": 700}))

    def start(_: Any) -> None:
        arguments = chosen()

        def done(result: tuple[str, Table]) -> None:
            running.say(result[0])
            changed(table.name)

        running.start(lambda: runs.run_undo(table, *arguments), done, "Running through Spark…", cancels=False)

    for control in (operation, name, snapshot):
        control.param.watch(look, "value")
    if writable:  # a browser can press what it was told is disabled
        run.on_click(start)
    look()
    return pn.Column(
        pn.Row(operation, name, snapshot, run, styles=WRAP), running.view, looking.view, box, sizing_mode="stretch_both"
    )


def _of(snapshot_id: int | None, ordinals: dict[int, int]) -> str:
    return "" if snapshot_id is None else snapshot_name(snapshot_id, ordinals)


def procedures_view(table: Table, changed: Callable[[str], None], writes: bool) -> Any:
    """Choose an operation, see what it would do, run it. `changed(name)` opens a table that was made or changed."""
    operation = pmui.Select(
        label="operation", options={w: n for n, w in ABOUT.items()}, value="compact", width=250, **CHOICE
    )
    columns = pmui.TextInput(label="columns to sort by", width=160, visible=False, **SMALL)
    retain = pmui.IntInput(label="keep (0: by policy)", value=0, start=0, width=140, visible=False, **NUMBER)
    where = pmui.TextInput(label="only files that may match", width=210, **SMALL)
    options = pmui.TextInput(label="options: name=value; …", width=240, **SMALL)
    teaching, writable = writes and runs.is_teaching(table), writes and runs.is_writable(table)
    run = pmui.Button(label="Run", variant="contained", width=80, margin=(14, 6), disabled=not writable)
    copy = pmui.Button(label="Make a copy to change", variant="outlined", width=220, margin=(14, 6), visible=teaching)
    caption = ""
    if not writes:
        caption = "Previews only: this server does not write (serve with --allow-lab)."
    elif teaching:
        caption = "A teaching table stays as it is. Make a copy of it, and run maintenance there."
    elif not writable:
        caption = "This table is not in the sandbox: previews only, nothing is ever written to it."
    box = pn.Column(sizing_mode="stretch_both")
    looking = Job(box=box)
    running = Job(caption, [run, copy], None, ELSEWHERE)

    def chosen() -> dict[str, Any]:
        rewrites = operation.value in STRATEGIES
        return {
            "operation": operation.value, "columns": columns.value, "retain_last": retain.value or None,
            "options": _options(options.value), "where": where.value if rewrites else "",
        }  # fmt: skip

    def look(*_: Any) -> None:
        columns.visible = operation.value in ("compact-sort", "compact-z-order")
        retain.visible = operation.value == "expire"
        where.visible = operation.value in STRATEGIES
        options.visible = operation.value not in LOOKS
        run.disabled = not writable or operation.value in LOOKS

        def ask() -> tuple[runs.Preview, dict[str, list[Any]]]:
            seen = runs.preview(table, **chosen())
            return seen, {name: list(rows.select(limit=SHOWN + 1)) for name, rows in seen.tables.items()}

        looking.start(ask, preview, "Looking what it would do…")

    def preview(asked: tuple[runs.Preview, dict[str, list[Any]]]) -> None:
        seen, tables = asked
        lines = [note(w, margin=(2, 10)) for w in seen.words]
        call = [Statement(text=seen.call, margin=(8, 10), sizing_mode="stretch_width")] if seen.call else []
        made = {
            f"{name} ({f'{SHOWN:,} shown' if len(rows) > SHOWN else f'{len(rows):,}'})": partial(_table, rows, table)
            for name, rows in tables.items()
        }
        box[:] = [heading("What it would do"), *lines, *call, *([lazy_tabs(made)] if made else [])]

    def show(result: Any) -> None:
        outcome, _ = result
        after = asdict(outcome.after)

        def said(name: str, value: int) -> str:
            return human_bytes(value) if name.endswith("bytes") else f"{value:,}"

        rows = [
            {"of": k.replace("_", " "), "before": said(k, v), "after": said(k, after[k])}
            for k, v in asdict(outcome.before).items()
        ]
        answer = [{"the procedure says": k, "": cell(v)} for r in outcome.answer for k, v in r.items()]
        running.say(outcome.sql)
        tables = [
            grid(pd.DataFrame(rows), {"of": 200}, height=330),
            grid(pd.DataFrame(answer), {"the procedure says": 260}, height=330),
        ]
        again = pmui.Button(label="Open the table as it is now", variant="outlined", width=240, margin=10)
        again.on_click(lambda _: changed(table.name))
        box[:] = [heading("Before and after"), pn.Row(*tables, sizing_mode="stretch_width"), again]

    def start(_: Any) -> None:
        looking.cancel()
        running.start(
            lambda: runs.run(table, **chosen()), show, f"Running {ABOUT[operation.value]} through Spark…", False
        )

    def make(_: Any) -> None:
        name = table.name.rsplit(".", 1)[-1]
        running.start(lambda: fresh_copy(name), changed, "Making a copy…", cancels=False)

    def other(event: Any) -> None:
        """Another operation; another procedure has options of its own."""
        if PROCEDURES.get(event.old) != PROCEDURES.get(event.new):
            options.value = where.value = ""
        look()

    operation.param.watch(other, "value")
    for control in (columns, retain, where, options):
        control.param.watch(look, "value")
    if writable:
        run.on_click(start)
    if teaching:
        copy.on_click(make)
    look()
    return pn.Column(
        pn.Row(operation, columns, retain, where, options, run, copy, styles=WRAP),
        running.view,
        looking.view,
        box,
        sizing_mode="stretch_both",
    )


def _options(text: str) -> dict[str, str]:
    """What was typed, as the procedure's options. Raises NotFoundInTable."""
    given = {}
    for part in filter(None, map(str.strip, text.split(";"))):
        name, separator, value = (piece.strip() for piece in part.partition("="))
        if not (name and separator):
            raise NotFoundInTable(f"{part!r} is no option: write name=value, and ; between two of them")
        given[name] = value
    return given


def _table(rows: Sequence[Any], table: Table) -> Any:
    """Rows of a preview, at most SHOWN."""
    if not rows:
        return note("none")
    told = [
        display_row(row, table.metadata.location) | ({"bytes": row["bytes"]} if "bytes" in row else {})
        for row in rows[:SHOWN]
    ]
    data = pd.DataFrame(told)
    for name in data.columns:
        if name.endswith("snapshot_id"):  # JavaScript rounds them
            data[name] = data[name].astype(str)
    sizes = [name for name in ("bytes",) if name in data.columns and data[name].notna().any()]
    return grid(data, WIDTHS, sizes=sizes, wrapped=["reason", "dropped_by"])
