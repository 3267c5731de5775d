"""Panels for rows: reads through Spark, SQL over versions, row diffs, row histories, and which deletes apply."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Any

import pandas as pd
import panel as pn
import panel_material_ui as pmui
import pyarrow as pa
import pyarrow.compute as pc

from explorer.app.answer_states import DeletesState
from explorer.queries.collection import Collection
from explorer.render.row_views import change_table, cost_rows, delete_rows, event_rows, row_diff_words
from explorer.render.rows import plain
from explorer.render.text import cell
from explorer.serving.pools import ELSEWHERE, HERE, Pool
from explorer.spark_engine.read_queue import ReadRequest, ReadSession, SparkRead, SqlRequest, metadata_columns
from explorer.spec.deletes.delete_layers import Layer
from explorer.spec.deletes.snapshot_deletes import Deletes
from explorer.spec.rows.row_diff import RowDiff
from explorer.spec.rows.row_versions import RowVersion
from explorer.spec.text.names import base_name, snapshot_name, snapshot_ordinals
from explorer.spec.text.units import count, human_bytes
from explorer.spec.values.values import pandas_values, row_dicts
from explorer.table import Table
from explorer.ui.background import Job, answered
from explorer.ui.layers import layers_figure, layers_words
from explorer.ui.pane import GraphPane
from explorer.ui.tables import download_buttons
from explorer.ui.timeline import DRAWN, timeline, timeline_words
from explorer.ui.widgets import (
    CELL,
    LIST,
    NUMBER,
    SMALL,
    WRAP,
    Text,
    column_names,
    grid,
    heading,
    lazy_tabs,
    note,
    plot,
    version_input,
    versions,
)

Show = Callable[[str, "int | None"], None]
LISTED = 1000
"""Pairs, and costs of data files, in a table."""
SENTENCES = 200
"""Of an answer to why rows are there or not."""
SCANNED = {"DataManifests": "data manifests", "DeleteManifests": "delete manifests"}
SCANNED |= {"DataFiles": "data files", "DeleteFiles": "delete files"}


def rows_frame(rows: pa.Table) -> pd.DataFrame:
    """Arrow rows for a table on screen: nested values, times and long integers as text."""
    data = {}
    for i, field in enumerate(rows.schema):
        column, kind = rows.column(i), field.type
        exact = (
            pa.types.is_floating(kind)
            or pa.types.is_boolean(kind)
            or (pa.types.is_integer(kind) and kind.bit_width < 64)
        )
        if exact or pa.types.is_string(kind):
            data[field.name] = pandas_values(column)
        else:
            data[field.name] = [
                None if (v := row["v"]) is None else cell(plain(v), CELL) for row in row_dicts(pa.table({"v": column}))
            ]
    return pd.DataFrame(data)


def save_buttons(get: Callable[[], pa.Table], name: str, pool: Pool = HERE) -> pn.Row:
    """Buttons that save rows as CSV and Parquet."""
    return pn.Row(*download_buttons(lambda: Collection(get(), name), name, ("csv", "parquet"), pool))


@dataclass(frozen=True)
class Asked:
    """A read, and what its version is in words, with its snapshot."""

    request: ReadRequest | SqlRequest
    about: str
    snapshot_id: int | None = None


class ReadPanel:
    """Choose a version, columns, a filter and a limit; run, watch and cancel the read; rows beside the scan report."""

    def __init__(self, table: Table, snapshot_id: int, reads: ReadSession, show: Show, sql: bool = True) -> None:
        self.sql = sql
        self.table, self.reads, self.show = table, reads, show
        here = snapshot_name(snapshot_id, snapshot_ordinals(table.metadata))
        self.version = version_input(table, "version: snapshot, branch, tag or time", here, 250)
        self.where = pmui.TextInput(
            label="where (Spark SQL)", placeholder="id > 3 AND name = 'jack'", width=210, **SMALL
        )
        self.columns = pmui.MultiChoice(label="columns", options=column_names(table), width=150, **LIST)
        self.limit = pmui.IntInput(label="limit", value=1000, start=1, end=1_000_000, width=110, **NUMBER)
        self.provenance = pmui.Checkbox(label="provenance", value=True, margin=(18, 6, 4, 6))
        self.run = pmui.Button(label="Run", variant="contained", width=80, margin=(14, 6))
        self.box = pn.Row(sizing_mode="stretch_both")
        self.job = Job("Not read yet.", [self.run], self.box, ELSEWHERE)
        self.run.on_click(lambda _: self.start())

    def controls(self) -> list[Any]:
        """What is chosen above the rows."""
        where = [self.where] if self.sql else []
        return [pn.Row(self.version, *where, self.columns, self.limit, self.provenance, self.run, styles=WRAP)]

    def asking(self) -> Callable[[], Asked]:
        """What to call for the read that the controls ask for, as they are now. It raises NotFoundInTable."""
        version, columns = self.version.value.strip() or None, tuple(self.columns.value or ()) or None
        extra = tuple(metadata_columns(self.table.metadata.format_version)) if self.provenance.value else ()
        where, limit = self.where.value.strip() if self.sql else "", self.limit.value

        def ask() -> Asked:
            known = self.table.reading(version)
            snapshot_id = known.resolved.snapshot.snapshot_id if known.resolved else None
            return Asked(ReadRequest(known.version, columns, where, limit, extra), known.words, snapshot_id)

        return ask

    def view(self) -> Any:
        """The panel."""
        return pn.Column(*self.controls(), self.job.view, self.box, sizing_mode="stretch_both")

    def start(self) -> None:
        """Read, through the session's queue."""
        ask = self.asking()

        def read() -> tuple[Asked, SparkRead]:
            asked = ask()
            return asked, self.reads.read(asked.request)

        self.job.start(read, lambda answer: self.fill(*answer), "Reading through Spark…")

    def fill(self, asked: Asked, read: SparkRead) -> None:
        """The rows, and what the scan took."""
        rows = shown = read.result()
        self.job.say(
            f"{count(rows.num_rows, 'row')} in {read.progress().seconds:.1f} s. {asked.about} {read.cut_note}".rstrip()
        )
        if "_file" in rows.column_names:
            shown = rows.set_column(rows.schema.get_field_index("_file"), "_file", _short(rows["_file"]))
        widget = grid(rows_frame(shown), {"_file": 240}, ours=False)
        if "_file" in rows.column_names:
            widget.on_click(lambda event: self.show(rows["_file"][event.row].as_py(), asked.snapshot_id))
        parts: list[Any] = [heading("Scan report")]
        for report in read.reports:
            lines = [
                {"of": caption, "scanned": report.pair(what)[0], "skipped": report.pair(what)[1]}
                for what, caption in SCANNED.items()
            ]
            parts.append(grid(pd.DataFrame(lines), {"of": 125, "scanned": 75, "skipped": 75}, height=190))
            size, took = (
                human_bytes(report.metrics.get("totalDataFileSize")),
                report.metrics.get("totalPlanningDuration", 0),
            )
            parts.append(Text(f"{size} of data files, planned in {took} ms", variant="body2"))
        if "_file" in rows.column_names:
            parts.append(Text("Click a row to see its file and deletes in the graph.", variant="body2"))
        parts.append(save_buttons(lambda: rows, "rows"))
        if read.more and not read.cut:
            everything = replace(asked.request, limit=None)
            parts += [
                Text("The limit cut it off. All rows:", variant="body2"),
                save_buttons(lambda: self.reads.read(everything).result(), "all-rows", ELSEWHERE),
            ]
        self.box[:] = [widget, pn.Column(*parts, width=335)]


class SqlPanel(ReadPanel):
    """The same for a read-only query over versions."""

    def __init__(self, table: Table, snapshot_id: int, reads: ReadSession, show: Show) -> None:
        super().__init__(table, snapshot_id, reads, show)
        names = [f"snapshot-{n}" for n in sorted(snapshot_ordinals(table.metadata).values())]
        first, last = names[0], names[-1]
        self.query = pmui.TextAreaInput(
            label="A query: t is the table as opened, t@snapshot-1 or db.other@tag a version",
            value=f"SELECT 'gone' AS what, * FROM (SELECT * FROM t@{first} EXCEPT ALL SELECT * FROM t@{last})",
            sizing_mode="stretch_width", rows=3, max_length=20_000, margin=(14, 10, 4, 10),
        )  # fmt: skip

    def controls(self) -> list[Any]:
        return [self.query, pn.Row(self.limit, self.run)]

    def asking(self) -> Callable[[], Asked]:
        query, limit = self.query.value, self.limit.value
        caption = "Read-only: every node of the query is checked."
        return lambda: Asked(self.table.sql_request(query, limit), caption)


def _short(paths: pa.ChunkedArray) -> pa.ChunkedArray:
    return pc.replace_substring_regex(paths, r"^.*/", "")


def row_diff_view(table: Table, snapshot_id: int, compare: str) -> Any:
    """Two versions, at first the snapshot in view against `compare`, or else its parent; the columns that tell updates,
    and the rows that differ."""
    ordinals = snapshot_ordinals(table.metadata)
    here = table.metadata.snapshot(snapshot_id)
    parent = here.parent_snapshot_id if here else None
    before_name = compare or (snapshot_name(parent, ordinals) if parent in ordinals else versions(table)[-1])
    first = version_input(table, "from", before_name, 190)
    second = version_input(table, "to", snapshot_name(snapshot_id, ordinals), 190)
    keys = pmui.MultiChoice(label="columns that tell an update", options=column_names(table), width=300, **LIST)
    run = pmui.Button(label="Compare", variant="contained", width=100, margin=(14, 6))
    box = pn.Column(sizing_mode="stretch_both")
    job = Job(buttons=[run], box=box)

    def show(answer: tuple[RowDiff, pa.Table]) -> None:
        changes, everything = answer
        job.say(row_diff_words(changes))
        shown = change_table(changes, 500).select(["change", *changes.columns, "_file", "_pos"])
        shown = shown.set_column(shown.schema.get_field_index("_file"), "_file", _short(shown["_file"]))
        parts = [{"partition": n or "(unpartitioned)"} | dict(c) for n, c in sorted(changes.partitions.items())]
        side = [heading("By partition"), grid(pd.DataFrame(parts), {"partition": 150}, height=220)] if parts else []
        if everything.num_rows > shown.num_rows:
            side.append(
                Text(f"{shown.num_rows:,} of {everything.num_rows:,} rows shown; all of them:", variant="body2")
            )
        side.append(save_buttons(lambda: everything, "row-diff"))
        box[:] = [
            pn.Row(
                grid(rows_frame(shown), {"_file": 240}, ours=False),
                pn.Column(*side, width=430),
                sizing_mode="stretch_both",
            )
        ]

    def start(*_: Any) -> None:
        sides, told_by = (first.value, second.value), keys.value or ()

        def compare() -> tuple[RowDiff, pa.Table]:
            changes = table.row_diff(*sides, told_by)
            return changes, change_table(changes)

        job.start(compare, show, f"Comparing the rows of {sides[0]} and {sides[1]}…")

    run.on_click(start)
    start()
    return pn.Column(pn.Row(first, second, keys, run, styles=WRAP), job.view, box, sizing_mode="stretch_both")


def fate_view(table: Table, snapshot_id: int, go: Show) -> Any:
    """A filter, the timeline of the rows that match it, and why they are there or not as of the snapshot in view; a
    click on a row leads to its file."""
    ordinals = snapshot_ordinals(table.metadata)
    name = snapshot_name(snapshot_id, ordinals)
    where = pmui.TextInput(label="which rows", placeholder="name = 'jack' and id > 3", width=380, **SMALL)
    version = version_input(table, "as of", name, 190)
    keys = pmui.MultiChoice(label="columns that tell a changed row", options=column_names(table), width=290, **LIST)
    run = pmui.Button(label="Tell", variant="contained", width=80, margin=(14, 6))
    box = pn.Column(sizing_mode="stretch_both", scroll=True)
    hint = "Why is a row missing, or still there? Give a filter; every snapshot that is left is looked through."
    job = Job(hint, [run], box)

    def start(*_: Any) -> None:
        condition, at, told_by = where.value.strip(), version.value.strip() or None, keys.value or ()

        def tell() -> tuple[pd.DataFrame, list[str], list[RowVersion], int]:
            snapshot = table.resolve(at).snapshot
            fate = table.row_history(condition, told_by, snapshot=at)
            events = event_rows(fate.events, [f.name for f in fate.schema.fields])
            return pd.DataFrame(events), fate.explain(snapshot), fate.versions, snapshot.snapshot_id

        job.start(tell, lambda answer: show(*answer), "Looking through every snapshot…")

    def show(events: pd.DataFrame, told: list[str], rows: list[RowVersion], asked: int) -> None:
        widths = {"when": 185, "snapshot": 100, "what": 85, "row": 300, "at": 190, "how": 560}
        parts: list[Any] = [grid(events, widths, whole=True, wrapped=("row", "how"))] if len(events) else []
        names = [(i, snapshot_name(i, ordinals)) for i in sorted(ordinals, key=lambda i: ordinals[i])]
        some = f", the first {DRAWN:,} of {len(rows):,}" if len(rows) > DRAWN else ""
        figure = [
            heading(f"Each stored row over the snapshots in whose files it lies{some}; dashed: the one asked about"),
            plot(timeline(rows, names, asked, go), timeline_words(rows, names)),
        ] if rows else []  # fmt: skip
        answer = note("\n".join(told[:SENTENCES]), styles={"white-space": "pre-wrap"})
        box[:] = [*figure, *parts, heading("The answer"), answer]
        if len(told) > SENTENCES:
            box.append(note(f"and {len(told) - SENTENCES:,} sentences more: ask for fewer rows."))

    run.on_click(start)
    where.param.watch(start, "value")
    return pn.Column(pn.Row(where, version, keys, run, styles=WRAP), job.view, box, sizing_mode="stretch_both")


def deletes_view(table: Table, snapshot_id: int, show: Callable[[str], None]) -> Any:
    """Which deletes apply to which data files, as a graph, as layers and as tables; `show` is called with the path of a
    file that is clicked."""
    parts = partial(_deletes_parts, show)
    return answered(lambda: DeletesState(table, snapshot_id), parts, "Holding deletes against data files…")


def _deletes_parts(show: Callable[[str], None], state: DeletesState) -> list[Any]:
    known = state.deletes
    if not known.files.deletes:
        return [heading("No deletes are live in this snapshot: every row of every data file is read.")]
    pairs = len(known.verdicts)
    dangle = count(len(known.dangling), "delete dangles", "deletes dangle")
    told = dangle if known.whole else "which deletes dangle cannot be told, since some manifests could not be read"
    caption = f"{known.applying:,} of {count(pairs, 'pair')} of data and delete files apply; {told}."
    tabs = lazy_tabs(
        {
            "Graph": lambda: GraphPane.of(state, sizing_mode="stretch_both", min_height=380),
            "Layers": lambda: answered(state.layers, partial(_layers, show), "Adding layers up…"),
            f"Pairs ({_shown(pairs)})": lambda: answered(lambda: _pairs(known), _pairs_grid, "Telling pairs…"),
            f"Cost by data file ({_shown(len(known.costs))})": lambda: answered(
                lambda: _costs(known), _costs_grid, "Adding costs up…"
            ),
        }
    )
    return [heading(caption), tabs]


def _layers(show: Callable[[str], None], layers: list[Layer]) -> list[Any]:
    caption = (
        "Each delete lies above the data files that it may apply to: those below it, within its width. To paler data "
        "files no delete applies, and dashed deletes apply to none. Click one to see it in the graph."
    )
    figure = plot(layers_figure(layers, show), layers_words(layers))
    return [note(caption), pn.Column(figure, scroll=True, sizing_mode="stretch_both")]


def _shown(count: int) -> str:
    return f"{count:,}" if count <= LISTED else f"the first {LISTED:,} of {count:,}"


def _pairs(known: Deletes) -> list[dict[str, Any]]:
    return [
        {
            "data file": base_name(r["data_file"] or "(none)"), "delete file": base_name(r["delete_file"]),
            "kind": r["kind"],
            "applies": "yes" if r["applies"] else "no",
            "why": "; ".join(("✓ " if x["holds"] else "✗ ") + x["words"] for x in r["reasons"]),
        }
        for r in islice(delete_rows(known, LISTED), LISTED)
    ]  # fmt: skip


def _pairs_grid(pairs: list[dict[str, Any]]) -> list[Any]:
    return [
        grid(pd.DataFrame(pairs), {"data file": 220, "delete file": 220, "applies": 80, "why": 430}, wrapped=["why"])
    ]


def _costs(known: Deletes) -> list[dict[str, Any]]:
    return [
        r | {"data_file": base_name(r["data_file"]), "delete_bytes": human_bytes(r["delete_bytes"])}
        for r in cost_rows(known.costs[:LISTED])
    ]


def _costs_grid(costs: list[dict[str, Any]]) -> list[Any]:
    return [grid(pd.DataFrame(costs), {"data_file": 380})]
