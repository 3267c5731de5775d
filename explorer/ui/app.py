"""The dashboard: catalogs and tables at the left, one table's graph and lists in the middle. One `Dashboard` a session.

`iceberg-explorer serve` runs it; `panel serve explorer/ui/app.py` works too, behind the same door."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import panel as pn
import panel.reactive
import panel_material_ui as pmui
from panel.io.resources import LOCAL_DIST

from explorer.engines.reads import ReadSession
from explorer.engines.spark import shared_engine
from explorer.errors import ExplorerError
from explorer.graphs.ids import manifest_node
from explorer.io.locate import locate, parse_move
from explorer.io.reader import TableReader
from explorer.progress import Cancelled
from explorer.table import Table
from explorer.ui.background import AWAY, Job
from explorer.ui.changes import diff_view, history_view, lifecycle_view
from explorer.ui.export import export
from explorer.ui.lab import lab_view
from explorer.ui.maintain import maintain_view
from explorer.ui.pane import GraphPane
from explorer.ui.picker import Picker
from explorer.ui.plan import plan_view
from explorer.ui.rows import deletes_view, rows_view
from explorer.ui.state import ViewState
from explorer.ui.tables import downloads, table_view
from explorer.ui.widgets import Text, grid, toast

pn.extension("tabulator", notifications=True)
panel.reactive.CDN_DIST = (
    LOCAL_DIST  # else what changes while it is not on the page asks Panel's CDN for its style sheets
)
LISTS = ("snapshots", "manifests", "files", "entries", "partitions")
TABS = (
    "graph",
    "diff",
    "lifecycle",
    "history",
    "rows",
    "deletes",
    "plan",
    "maintain",
    "lab",
    *LISTS,
    "problems",
    "export",
)
FIRST = "sandbox.demo.manifest_lifecycle"
TABLE_VARIABLE = "ICEBERG_EXPLORER_TABLE"

COMPACT = {
    "& .MuiToolbar-root": {"minHeight": "46px !important", "height": "46px"},
    "& .header .title": {"fontSize": "17px"},
    "& .main": {"padding": "2px"},
}
EXPORTS = {
    "svg": "a picture that scales",
    "png": "a picture, laid out by Graphviz",
    "html": "a page that opens from disk, with pan, zoom and search",
    "dot": "Graphviz source",
    "json": "nodes, edges and what was left out",
}


@dataclass(frozen=True)
class Offers:
    """What a server lets people do besides looking: SQL, and all that writes."""

    sql: bool = True
    lab: bool = True


class Dashboard:
    """One viewer's dashboard."""

    def __init__(self, query: Mapping[str, str] | None = None, offers: Offers | None = None) -> None:
        self.query, self.offers = dict(query or {}), offers or Offers()
        self.view: ViewState | None = None
        self.opened = self._asked = ""
        self.pane = GraphPane(sizing_mode="stretch_both", min_height=420)
        self.pane.answered = self._answered
        self.picker = Picker(self.open)
        self.path = pmui.TextInput(
            label="Table, folder or metadata.json",
            placeholder="db.table, catalog.db.table or a path",
            size="small",
            sizing_mode="stretch_width",
            margin=(10, 10),
        )
        self.path.param.watch(self._on_path, "value")
        self.moved = pmui.TextAreaInput(
            label="OLD=NEW, one a line", placeholder="s3://bucket/house=/mirror/house", rows=2, max_length=20_000,
            size="small", sizing_mode="stretch_width", margin=(10, 4),
        )  # fmt: skip
        self.moved.param.watch(self._on_moved, "value")
        self.spark = Text("", variant="caption", margin=(8, 12), sx={"color": "#fff"})
        self.restart = pmui.Button(
            label="Restart Spark", size="small", color="warning", variant="contained", visible=False, margin=(4, 6)
        )
        self.restart.on_click(lambda _: self._restart_spark())
        self.opening = Job(pool=AWAY)
        self.lists = {name: pn.Column(sizing_mode="stretch_both") for name in TABS[1:]}
        self.tabs = pn.Tabs(
            ("Graph", self.pane),
            *((name.capitalize(), self.lists[name]) for name in TABS[1:]),
            dynamic=True,
            stylesheets=[".bk-tab { padding: 6px 9px !important; font-size: 14px !important; }"],
            sizing_mode="stretch_both",
            active=TABS.index(self.query.get("view", "graph")) if self.query.get("view") in TABS else 0,
        )
        self.tabs.param.watch(self._on_tab, "active")
        self._filled: set[str] = set()
        self._lab: Any = None
        self.reads = ReadSession(shared_engine())

    # -- page ---------------------------------------------------------------------------------------------------------
    def page(self) -> Any:
        """The whole page, still empty: a GET reads nothing. Once the page talks to us, `load` fills it."""
        pn.state.onload(self.load)
        moved = pn.Card(
            self.moved, title="Places that moved", collapsed=True, sizing_mode="stretch_width", margin=(0, 10)
        )
        header = [pn.Row(pn.layout.HSpacer(), self.spark, self.restart, sizing_mode="stretch_width")]
        page = pmui.template.Page(
            title="Iceberg metadata explorer",
            sidebar=[self.path, moved, self.opening.view, self.picker.view],
            header=header,
            main=[self.tabs],
            sidebar_width=250,
            sidebar_open=True,
            sx=COMPACT,
        )
        self._watch_spark()
        return page

    def load(self) -> None:
        """List the catalogs; open the table in the URL, or else the first one."""
        wanted = self.query.get("table") or os.environ.get(TABLE_VARIABLE)
        if wanted:
            self.open(wanted, self.query.get("snapshot"), self.query.get("node"))
        self.picker.fill(lambda: self._open_first() if not wanted else None)

    def _open_first(self) -> None:
        if self.view is None and not self.opening.busy and (first := self.picker.first(FIRST)):
            self.open(first)

    def _exports(self) -> pn.viewable.Viewable:
        """Downloads of the graph as it is drawn now."""

        def made(kind: str) -> bytes:
            return export(self.view.graph, kind) if self.view else b""

        *buttons, progress = downloads({f"graph.{kind}": partial(made, kind) for kind in EXPORTS}, width=140)
        lines = [pn.Row(b, Text(about, margin=(14, 6))) for b, about in zip(buttons, EXPORTS.values(), strict=True)]
        return pn.Column(Text("The graph as it is drawn now", variant="subtitle1"), *lines, progress, margin=12)

    def _watch_spark(self) -> None:
        """Say how Spark is, as long as the page is open: it can also be lost later."""
        shared_engine().start()

        def show() -> None:
            engine = shared_engine()
            lost = engine.lost
            words = "Spark: lost (its Java process has ended)" if lost else str(engine.state)
            if self.spark.object != words:
                self.spark.object = words
            self.restart.visible = lost or engine.state.phase == "failed"

        show()
        if pn.state.curdoc:
            pn.state.add_periodic_callback(show, period=1000)

    def _restart_spark(self) -> None:
        self.restart.visible = False
        shared_engine().restart()

    # -- what the person does -----------------------------------------------------------------------------------------
    def open(
        self,
        name: str,
        snapshot: str | None = None,
        node: str | None = None,
        then: Callable[[], None] = lambda: None,
    ) -> None:
        """Open a table, and then do what is next; what is wrong is said, and what was open stays."""
        self._asked, moved = name, self.moved.value.split("\n")

        def read() -> ViewState | ExplorerError:
            try:
                moves = [parse_move(line.strip()) for line in moved if line.strip()]
                view = ViewState(Table(TableReader(locate(name, relocate=moves))), snapshot)
            except Cancelled:
                raise
            except ExplorerError as error:
                return error
            if node and view.graph.node(node):
                view.selected = [node]
            view.details()  # what drawing it asks
            return view

        def show(view: ViewState | ExplorerError) -> None:
            if isinstance(view, ExplorerError):
                self.opening.say(str(view))
                toast("error", str(view), 12_000)
                return
            self._opened(name, view)
            then()

        self.opening.start(read, show, "Opening…")

    def _opened(self, name: str, view: ViewState) -> None:
        self.view, self.opened = view, name
        table = view.table
        self._show()
        errors = [p for p in table.problems if p.severity != "info"]
        if errors:
            toast("warning", f"{len(errors)} problems in {name}; see the Problems tab. First: {errors[0]}", 10_000)

    def _show(self) -> None:
        if self.view is None:
            return
        self.pane.draw(self.view)
        self._refill()

    def _refill(self) -> None:
        """The graph shows something else: so does the tab that is looked at, and the others when they are."""
        self._filled.clear()
        self._fill(TABS[self.tabs.active])
        self._to_url()

    def _answered(self, redrawn: bool) -> None:
        if redrawn:
            self._refill()
        else:
            self._to_url()

    def _on_path(self, event: Any) -> None:
        if event.new:
            self.open(event.new.strip())

    def _on_moved(self, _: Any) -> None:
        if self._asked:
            self.open(self._asked)

    def _on_tab(self, event: Any) -> None:
        self._fill(TABS[event.new])
        self._to_url()

    def _fill(self, name: str) -> None:
        """Make a list when its tab is looked at, for the snapshot in view."""
        if name == "graph" or name in self._filled or self.view is None:
            return
        self._filled.add(name)
        box, table, snapshot = self.lists[name], self.view.table, self.view.snapshot_id
        if name == "problems":
            box[:] = [_problems(table)]
            return
        panels: dict[str, Any] = {
            "export": self._exports,
            "diff": lambda: diff_view(table, snapshot),
            "lifecycle": lambda: lifecycle_view(table, self._go),
            "history": lambda: history_view(table),
            "rows": lambda: rows_view(table, snapshot, self.reads, self._show_row, self.offers.sql),
            "deletes": lambda: deletes_view(table, snapshot),
            "plan": lambda: plan_view(table, snapshot, self.reads, self.offers.sql),
            "lab": lambda: self._lab_view(table),
            "maintain": lambda: maintain_view(table, self._changed, self.offers.lab),
        }
        if name in panels:
            box[:] = [panels[name]()]
            return
        rows = (lambda: table.snapshots) if name == "snapshots" else partial(getattr(table, name), snapshot)
        box[:] = [table_view(rows, name, table.metadata)]

    def _go(self, snapshot_id: int, manifest_path: str) -> None:
        """To a manifest in the graph, as a snapshot sees it."""
        if self.view is None:
            return
        self.view.handle({"type": "snapshot", "id": snapshot_id})
        node = manifest_node(manifest_path)
        self.view.selected = [node] if self.view.graph.node(node) else []
        self.tabs.active = 0
        self._show()

    def _committed(self, table: Table) -> None:
        """The lab committed to the open table: everything but the lab itself shows it as it is now."""
        if self.view is not None:
            self.view = ViewState(table)
            self.pane.draw(self.view)
            self._filled = {"lab"}

    def _lab_view(self, table: Table) -> Any:
        self._lab = lab_view(table, self._committed, self._copied, self.offers.lab)
        return self._lab

    def _copied(self, name: str) -> None:
        """The lab made a copy to change: open it where one runs statements."""

        def run_statements() -> None:
            if self._lab is not None:
                self._lab.active = 1

        self._changed(name, run_statements)

    def _changed(self, name: str, then: Callable[[], None] = lambda: None) -> None:
        """Open a table that was made or changed just now; the picker lists it."""
        self.picker.fill()
        self.open(name, then=then)

    def _show_row(self, path: str, snapshot_id: int | None) -> None:
        """To a data file in the graph as of a snapshot, with its deletes and their manifests."""
        if self.view is None:
            return
        if snapshot_id is not None and snapshot_id != self.view.snapshot_id:
            self.view.handle({"type": "snapshot", "id": snapshot_id})
        self.view.show_file(path)
        self.tabs.active = 0
        self._show()

    def _to_url(self) -> None:
        if self.view is None or not pn.state.location:
            return
        state = {"table": self.opened, "view": TABS[self.tabs.active]}
        if self.view.snapshot_id is not None:
            state["snapshot"] = str(self.view.snapshot_id)
        if self.view.selected:
            state["node"] = self.view.selected[-1]
        old = {
            k: v for k, v in pn.state.location.query_params.items() if k not in ("table", "view", "snapshot", "node")
        }
        from urllib.parse import urlencode

        pn.state.location.search = "?" + urlencode({**old, **state})


def _problems(table: Table) -> pn.viewable.Viewable:
    import pandas as pd

    from explorer.views.rows import problem_row

    if not table.problems:
        return Text("Nothing wrong was found in what has been read so far.", margin=20)
    data = pd.DataFrame([problem_row(p) for p in table.problems])
    widths = {"severity": 90, "file": 420, "location": 160, "cause": 460, "unaffected": 300}
    return grid(data, widths)


def create(offers: Offers | None = None) -> Any:
    """The page of a new session."""
    location = pn.state.location
    query = {k: str(v) for k, v in location.query_params.items()} if location else {}
    raw = {k: v[0].decode() for k, v in (pn.state.session_args or {}).items()}
    return Dashboard({**query, **raw}, offers).page()


if __name__.startswith("bokeh_app"):  # panel serve explorer/ui/app.py
    from explorer.ui.serve import PASSWORD_VARIABLE, came_through_the_door

    alone = not os.environ.get(PASSWORD_VARIABLE)
    outside = "This server is guarded from now on: open the URL, with its token, that it printed."
    (create(Offers(alone, alone)) if came_through_the_door() else Text(outside)).servable()
