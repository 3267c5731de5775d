"""Panels for rows: reads through Spark, SQL over versions, row diffs, the fate of rows, and which deletes apply."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd
import panel as pn
import panel_material_ui as pmui
import pyarrow as pa
import pyarrow.compute as pc

from explorer.collection import Collection
from explorer.core.names import base_name, snapshot_name, snapshot_ordinals
from explorer.core.units import count, human_bytes
from explorer.engines.reads import Read, ReadRequest, ReadSession, SqlRequest, metadata_columns
from explorer.errors import ExplorerError
from explorer.table import Table
from explorer.ui.changes import lazy_tabs
from explorer.ui.pane import GraphPane
from explorer.ui.state import DeletesState
from explorer.ui.tables import download_buttons
from explorer.ui.widgets import Text, grid, heading, note
from explorer.views.rows import plain
from explorer.views.rowviews import change_table, cost_rows, delete_rows, event_rows, row_diff_words
from explorer.views.text import cell

Show = Callable[[str, "int | None"], None]
TICK_MS = 250
SCANNED = {"DataManifests": "data manifests", "DeleteManifests": "delete manifests"}
SCANNED |= {"DataFiles": "data files", "DeleteFiles": "delete files"}
WRAPPED = "label { white-space: normal !important; font-size: 13px; } .bk-input-group { gap: 3px; }"
"""For a group of check boxes with long labels."""
SMALL: dict[str, Any] = {"size": "small", "margin": (14, 6, 4, 6)}


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
            data[field.name] = column.to_pandas()
        else:
            data[field.name] = [None if v is None else cell(plain(v)) for v in column.to_pylist()]
    return pd.DataFrame(data)


def downloads(get: Callable[[], pa.Table], name: str) -> pn.Row:
    """Buttons that save rows as CSV and Parquet."""
    return pn.Row(*download_buttons(lambda: Collection(get(), name), name, ("csv", "parquet")))


def version_input(table: Table, label: str, value: str, width: int) -> Any:
    """A field for a version, which suggests refs and snapshots."""
    return pmui.AutocompleteInput(
        label=label, value=value, options=versions(table), restrict=False, min_characters=0, width=width, **SMALL
    )


def versions(table: Table) -> list[str]:
    """Names to choose from: refs, then snapshots, newest first."""
    ordinals = snapshot_ordinals(table.metadata)
    refs = [r.name for r in sorted(table.metadata.refs, key=lambda r: (r.name != "main", r.type, r.name))]
    return [*refs, *(f"snapshot-{n}" for n in sorted(ordinals.values(), reverse=True)[:500])]


def column_names(table: Table) -> list[str]:
    """The top-level columns of every schema the table had, the current one's first."""
    schemas = sorted(table.metadata.schemas, key=lambda s: s.schema_id != table.metadata.current_schema_id)
    return list(dict.fromkeys(f.name for schema in schemas for f in schema.fields))


def rows_view(table: Table, snapshot_id: int | None, reads: ReadSession, show: Show, sql: bool) -> Any:
    """Everything about rows, as of the snapshot in view; `sql` says whether people may write conditions and queries."""
    if snapshot_id is None:
        return heading("The table has no snapshot, so it has no rows.")
    query = {"SQL": lambda: SqlPanel(table, snapshot_id, reads, show).view()} if sql else {}
    return lazy_tabs(
        {
            "Read": lambda: ReadPanel(table, snapshot_id, reads, show, sql).view(),
            **query,
            "Row diff": lambda: row_diff_view(table, snapshot_id),
            "Fate of a row": lambda: fate_view(table, snapshot_id),
        }
    )


class ReadPanel:
    """Choose a version, columns, a filter and a limit; run, watch and cancel the read; rows beside the scan report."""

    def __init__(self, table: Table, snapshot_id: int, reads: ReadSession, show: Show, sql: bool = True) -> None:
        self.sql = sql
        self.table, self.reads, self.show = table, reads, show
        self.now: Read | None = None
        self.rows: pa.Table | None = None
        self.words = ""
        here = snapshot_name(snapshot_id, snapshot_ordinals(table.metadata))
        self.version = version_input(table, "version: snapshot, branch, tag or time", here, 250)
        self.where = pmui.TextInput(
            label="where (Spark SQL)", placeholder="id > 3 AND name = 'jack'", width=230, **SMALL
        )
        self.columns = pmui.MultiChoice(label="columns", options=column_names(table), width=200, margin=(14, 6, 4, 6))
        self.limit = pmui.IntInput(label="limit", value=1000, start=1, end=1_000_000, width=110, **SMALL)
        self.provenance = pmui.Checkbox(label="provenance", value=True, margin=(18, 6, 4, 6))
        self.run = pmui.Button(label="Run", variant="contained", width=80, margin=(14, 6))
        self.cancel = pmui.Button(label="Cancel", variant="outlined", width=90, margin=(14, 6), disabled=True)
        self.bar = pmui.LinearProgress(value=0, variant="determinate", sizing_mode="stretch_width", margin=(2, 10))
        self.status = note("Not read yet.", margin=(2, 10))
        self.box = pn.Column(sizing_mode="stretch_both")
        self.report = pn.Column(width=320)
        self.run.on_click(lambda _: self.start())
        self.cancel.on_click(lambda _: self.now.cancel() if self.now else None)
        self._ticking: Any = None

    def controls(self) -> list[Any]:
        """What is chosen above the rows."""
        where = [self.where] if self.sql else []
        return [pn.Row(self.version, *where, self.columns, self.limit, self.provenance, self.run, self.cancel)]

    def request(self) -> ReadRequest | SqlRequest:
        """The read that the controls ask for. Raises NotFoundInTable."""
        known = self.table.reading(self.version.value.strip() or None)
        self.words = known.words
        extra = tuple(metadata_columns(self.table.metadata.format_version)) if self.provenance.value else ()
        where = self.where.value.strip() if self.sql else ""
        return ReadRequest(known.version, tuple(self.columns.value or ()) or None, where, self.limit.value, extra)

    def view(self) -> Any:
        """The panel."""
        body = pn.Row(self.box, self.report, sizing_mode="stretch_both")
        return pn.Column(*self.controls(), self.bar, self.status, body, sizing_mode="stretch_both")

    def start(self) -> None:
        """Queue the read and watch it."""
        try:
            self.now = self.reads.submit(self.request())
        except ExplorerError as error:
            self.status.object = f"⚠ {error}"
            return
        self.cancel.disabled = False
        if self._ticking is None:
            self._ticking = pn.state.add_periodic_callback(self.tick, period=TICK_MS)
        self.tick()

    def tick(self) -> None:
        """Show how far the read is, and its rows at the end."""
        read = self.now
        if read is None:
            return
        progress = read.progress()
        spark = "" if self.reads.engine.state.phase == "ready" else f"; {self.reads.engine.state}"
        self.status.object = f"{progress}{spark}"
        self.bar.variant = "determinate" if progress.tasks or read.over else "indeterminate"
        self.bar.value = (
            100 if read.over else round(100 * progress.tasks_done / progress.tasks) if progress.tasks else 0
        )
        if not read.over:
            return
        if self._ticking is not None:
            self._ticking.stop()
            self._ticking = None
        self.cancel.disabled = True
        try:
            self.rows = read.result()
        except ExplorerError as error:
            self.bar.value = 0
            self.status.object = f"⚠ {error}"
            return
        self.status.object = f"{count(self.rows.num_rows, 'row')} in {progress.seconds:.1f} s. {self.words}"
        self.fill(read)

    def fill(self, read: Read) -> None:
        """The rows, and what the scan took."""
        rows = self.rows
        assert rows is not None
        shown = rows
        if "_file" in rows.column_names:
            shown = rows.set_column(rows.schema.get_field_index("_file"), "_file", _short(rows["_file"]))
        widget = grid(rows_frame(shown), {"_file": 240})
        if "_file" in rows.column_names:
            widget.on_click(lambda event: self.show(rows["_file"][event.row].as_py(), self._snapshot()))
        self.box[:] = [widget]
        parts: list[Any] = [heading("Scan report")]
        for report in read.reports:
            lines = [
                {"of": words, "scanned": report.pair(what)[0], "skipped": report.pair(what)[1]}
                for what, words in SCANNED.items()
            ]
            parts.append(grid(pd.DataFrame(lines), {"of": 130, "scanned": 85, "skipped": 85}, height=190))
            size, took = (
                human_bytes(report.metrics.get("totalDataFileSize")),
                report.metrics.get("totalPlanningDuration", 0),
            )
            parts.append(Text(f"{size} of data files, planned in {took} ms", variant="body2"))
        if "_file" in rows.column_names:
            parts.append(Text("Click a row to see its file and deletes in the graph.", variant="body2"))
        parts.append(downloads(lambda: rows, "rows"))
        if rows.num_rows == self.limit.value:
            parts += [
                Text("The limit cut it off. All rows:", variant="body2"),
                downloads(self._everything, "all-rows"),
            ]
        self.report[:] = parts

    def _everything(self) -> pa.Table:
        request = self.request()
        unlimited = SqlRequest(request.sql, request.views, None) if isinstance(request, SqlRequest) else ReadRequest(
            request.version, request.columns, request.where, None, request.metadata_columns
        )  # fmt: skip
        return self.reads.read(unlimited).result()

    def _snapshot(self) -> int | None:
        found = self.table.reading(self.version.value.strip() or None).resolved
        return found.snapshot.snapshot_id if found else None


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
        return [self.query, pn.Row(self.limit, self.run, self.cancel)]

    def request(self) -> ReadRequest | SqlRequest:
        self.words = "Read-only: every node of the query is checked."
        return self.table.sql_request(self.query.value, self.limit.value)


def _short(paths: pa.ChunkedArray) -> pa.ChunkedArray:
    return pc.replace_substring_regex(paths, r"^.*/", "")


def row_diff_view(table: Table, snapshot_id: int) -> Any:
    """Two versions, the columns that tell updates, and the rows that differ."""
    ordinals = snapshot_ordinals(table.metadata)
    here = table.metadata.snapshot(snapshot_id)
    parent = here.parent_snapshot_id if here else None
    before_name = snapshot_name(parent, ordinals) if parent in ordinals else versions(table)[-1]
    first = version_input(table, "from", before_name, 190)
    second = version_input(table, "to", snapshot_name(snapshot_id, ordinals), 190)
    keys = pmui.MultiChoice(
        label="columns that tell an update", options=column_names(table), width=300, margin=(14, 6, 4, 6)
    )
    run = pmui.Button(label="Compare", variant="contained", width=100, margin=(14, 6))
    words = note("")
    box = pn.Column(sizing_mode="stretch_both")

    def show(*_: Any) -> None:
        try:
            found = table.row_diff(first.value, second.value, keys.value or ())
        except ExplorerError as error:
            words.object, box[:] = f"⚠ {error}", []
            return
        words.object = row_diff_words(found)
        everything = change_table(found)
        shown = change_table(found, 500).select(["change", *found.columns, "_file", "_pos"])
        shown = shown.set_column(shown.schema.get_field_index("_file"), "_file", _short(shown["_file"]))
        parts = [{"partition": n or "(unpartitioned)"} | dict(c) for n, c in sorted(found.partitions.items())]
        side = [heading("By partition"), grid(pd.DataFrame(parts), {"partition": 150}, height=220)] if parts else []
        if everything.num_rows > shown.num_rows:
            side.append(
                Text(f"{shown.num_rows:,} of {everything.num_rows:,} rows shown; all of them:", variant="body2")
            )
        side.append(downloads(lambda: everything, "row-diff"))
        box[:] = [
            pn.Row(grid(rows_frame(shown), {"_file": 240}), pn.Column(*side, width=430), sizing_mode="stretch_both")
        ]

    run.on_click(show)
    show()
    return pn.Column(pn.Row(first, second, keys, run), words, box, sizing_mode="stretch_both")


def fate_view(table: Table, snapshot_id: int) -> Any:
    """A filter, the timeline of the rows that match it, and why they are there or not as of the snapshot in view."""
    name = snapshot_name(snapshot_id, snapshot_ordinals(table.metadata))
    where = pmui.TextInput(label="which rows", placeholder="name = 'jack' and id > 3", width=380, **SMALL)
    version = version_input(table, "as of", name, 190)
    keys = pmui.MultiChoice(
        label="columns that tell a changed row", options=column_names(table), width=260, margin=(14, 6, 4, 6)
    )
    run = pmui.Button(label="Tell", variant="contained", width=80, margin=(14, 6))
    box = pn.Column(sizing_mode="stretch_both", scroll=True)
    hint = "Why is a row missing, or still there? Give a filter; every snapshot that is left is looked through."

    def show(*_: Any) -> None:
        try:
            fate = table.fate(where.value.strip(), keys.value or ())
            told = fate.explain(table.resolve(version.value.strip() or None).snapshot)
        except ExplorerError as error:
            box[:] = [heading(f"⚠ {error}")]
            return
        events = pd.DataFrame(event_rows(fate.events, [f.name for f in fate.schema.fields]))
        widths = {"when": 165, "snapshot": 100, "what": 85, "row": 300, "at": 190, "how": 560}
        parts: list[Any] = [grid(events, widths, height=min(420, 70 + 34 * max(1, len(events))))] if len(events) else []
        lines = [note(t, margin=(1, 10, 1, 10 + 22 * t.startswith("  "))) for t in told[:200]]
        box[:] = [*parts, heading("The answer"), *lines]

    run.on_click(show)
    where.param.watch(lambda _: show(), "value")
    box[:] = [heading(hint)]
    return pn.Column(pn.Row(where, version, keys, run), box, sizing_mode="stretch_both")


def deletes_view(table: Table, snapshot_id: int | None) -> Any:
    """Which deletes apply to which data files, as a graph and as tables."""
    if snapshot_id is None:
        return heading("The table has no snapshot.")
    state = DeletesState(table, snapshot_id)
    known = state.deletes
    if not known.files.deletes:
        return heading("No deletes are live in this snapshot: every row of every data file is read.")
    applying = sum(v.applies for v in known.verdicts)
    words = (
        f"{applying:,} of {len(known.verdicts):,} pairs of data and delete files apply; "
        f"{len(known.dangling):,} deletes dangle."
    )
    pairs = [
        {
            "data file": base_name(r["data_file"] or "(none)"), "delete file": base_name(r["delete_file"]),
            "kind": r["kind"],
            "applies": "yes" if r["applies"] else "no",
            "why": "; ".join(("✓ " if x["holds"] else "✗ ") + x["words"] for x in r["reasons"]),
        }
        for r in delete_rows(known.verdicts, known.dangling)
    ]  # fmt: skip
    costs = [
        r | {"data_file": base_name(r["data_file"]), "delete_bytes": human_bytes(r["delete_bytes"])}
        for r in cost_rows(known.costs)
    ]
    tabs = lazy_tabs(
        {
            "Graph": lambda: GraphPane.of(state, sizing_mode="stretch_both", min_height=380),
            f"Pairs ({len(pairs):,})": lambda: grid(
                pd.DataFrame(pairs), {"data file": 250, "delete file": 250, "applies": 80, "why": 760}
            ),
            "Cost by data file": lambda: grid(pd.DataFrame(costs), {"data_file": 380}),
        }
    )
    return pn.Column(heading(words), tabs, sizing_mode="stretch_both")
