"""The dashboard: catalogs and tables at the left, one table's graph and lists in the middle. One `Dashboard` a session.

`icedive serve` runs it; `panel serve explorer/ui/app.py` works too, behind the same door.

It is longer than other modules: what all rooms share (table, snapshot, pair, URL) is changed here and nowhere else."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

import panel as pn
import panel.reactive
import panel_material_ui as pmui
from panel.io.resources import LOCAL_DIST

from explorer.app.bring_up import show_file, show_node, show_row
from explorer.app.graph_state import ViewState
from explorer.errors import ExplorerError
from explorer.graph.ids import manifest_node
from explorer.progress import Cancelled, is_cancelled
from explorer.serving import places
from explorer.serving.pools import AWAY, PoolTask
from explorer.spark_engine.read_queue import ReadSession
from explorer.spark_engine.spark import shared_engine
from explorer.spec.doctor.findings import Finding
from explorer.spec.text.names import snapshot_name, snapshot_ordinals
from explorer.storage.catalogs.sandbox_entries import SANDBOX
from explorer.storage.locate import parse_move
from explorer.table import Table
from explorer.ui.background import Job, Session
from explorer.ui.bar import Bar, SparkWords
from explorer.ui.beside import WITHIN, Beside
from explorer.ui.browser import LOOK, Browser, query
from explorer.ui.contents import ON_SPARK, WRITING, Offers, content
from explorer.ui.doctor import show_finding
from explorer.ui.first import REST, TITLE, First, Opened, coming, opened, starts_at, wanted
from explorer.ui.health import CatalogHealth
from explorer.ui.overview import welcome
from explorer.ui.palette import FILES, Palette, Place
from explorer.ui.pane import GraphPane
from explorer.ui.picker import Picker
from explorer.ui.rooms import TITLES, VIEWS, Rooms
from explorer.ui.widgets import SHORT, Text, folded, shell, soon, toast, versions

pn.extension("tabulator", notifications=True)
panel.reactive.CDN_DIST = LOCAL_DIST  # else what changes while it is not on the page asks Panel's CDN for styles
BENCH = ("lab", "race")
"""Views that are of no table: they stay as they are, whatever is opened."""
RELOAD = "Read the table again"
COMPARE = "compare with"
FIRST = "sandbox.demo.manifest_lifecycle"

COMPACT = {
    "& .MuiToolbar-root": {"minHeight": "46px !important", "height": "46px"},
    "& .header .title": {"fontSize": "16px", "whiteSpace": "nowrap"},
    # it stays the name of the link that it is in
    "@media (max-width: 1200px)": {
        "& .header .title": {"position": "absolute", "clipPath": "inset(50%)", "width": "1px"}
    },
    "& .main": {"padding": "2px"},
    "& .MuiLinearProgress-root": {"display": "none"},  # Panel's, which never shows here, and has no name
    # what stands around is hidden, and the rest larger, while the page is presented (browser.js)
    "& > nav, & main .MuiToolbar-root": {"display": "var(--chrome, flex)"},
    # the palette's dialog is in there, and stays; by night Material would lay a lighter ground below white letters
    "& .MuiAppBar-root": {"visibility": "var(--bar, visible)", "backgroundImage": "none"},
    "& main": {"zoom": "var(--scale, 1)"},
}


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
            label="Table, folder or metadata.json", placeholder="db.table, catalog.db.table or a path", size="small",
            sx=SHORT, sizing_mode="stretch_width", margin=(10, 10),
        )  # fmt: skip
        self.path.param.watch(self._on_path, "value")
        self._moves = ""
        self.spark = SparkWords()
        self.browser = Browser(self.query, self._went, dark=str((pn.state.cookies or {}).get(LOOK)).endswith("dark"))
        self.beside = Beside(lambda: self.browser.search)
        self.compare = self.query.get("compare", "")
        self._compare_next = ""
        self.bar = Bar(self._look_at, self._compare_with, lambda: self.rooms.go("problems"))
        self.opening = Job(pool=AWAY)
        self._coming = coming()
        self.rooms = Rooms(self.pane, self._came, starts_at(self.query), () if self.offers.sql else ("sql",))
        self._filled: set[str] = set()
        self._checked: Table | None = None
        self.reads = ReadSession(shared_engine())

    @cached_property
    def catalog_health(self) -> CatalogHealth:
        """Made when it is first looked at."""
        return CatalogHealth(lambda name: self.open(name, then=lambda: self.rooms.go("health")))

    # -- page ---------------------------------------------------------------------------------------------------------
    def page(self) -> Any:
        """The whole page, still empty: a GET reads nothing. Once the page talks to us, `load` fills it."""
        pn.state.onload(self.load)
        Session.current().answered = self._warn
        palette = Palette(self._places, self._go_to)
        controls = (self.browser, palette, *self.bar.parts, pn.layout.HSpacer(), self.spark.view, self.beside.button)
        both = pn.Row(self.rooms.view, self.beside.view, sizing_mode="stretch_both", margin=0)
        page = shell(
            title=TITLE,
            template=REST,
            sidebar=[
                self.path,
                *([] if places.is_restricted() else [folded("Places that moved", self._moved)]),
                self.opening.view,
                self.picker.view,
            ],
            header=[pn.Row(*controls, sizing_mode="stretch_width")],
            main=[self.bar.lacks, both],
            sidebar_width=250,
            sidebar_open=WITHIN not in self.query,
            dark_theme=self.browser.dark,
            sx=COMPACT,
        )
        page.param.watch(lambda event: setattr(self.browser, "dark", event.new), "dark_theme")
        self.spark.watch()
        return page

    def load(self) -> None:
        """List the catalogs; open the table in the URL, or, for a view that needs one, the first."""
        name = wanted(self.query)
        if name:
            begun, self._coming = self._coming, None
            if begun is not None:
                begun.taken = True
            self.open(name, self.query.get("snapshot"), self.query.get("node"), begun=begun)
        else:
            self._fill(self.rooms.active)
        self.picker.fill(lambda: self._open_first() if not name else None)

    def _open_first(self) -> None:
        if self.rooms.active in ("overview", "tables") or self.view is not None or self.opening.busy:
            return
        if first := self.picker.first(FIRST):
            self.open(first)

    # -- what the person does -----------------------------------------------------------------------------------------
    def open(
        self,
        name: str,
        snapshot: str | None = None,
        node: str | None = None,
        then: Callable[[], None] = lambda: None,
        begun: PoolTask | None = None,
    ) -> None:
        """Open a table, which the page may have `begun` to, and then do what is next; what is wrong is said, and what
        was open stays."""
        self._asked, moved = name, self._moves.split("\n")

        def read() -> Opened | ExplorerError:
            if begun is not None and (made := _made(begun)) is not None:
                return made
            try:
                moves = [parse_move(line.strip()) for line in moved if line.strip()]
                return opened(name, snapshot, node, moves)
            except Cancelled:
                raise
            except ExplorerError as error:
                return error

        def show(answer: Opened | ExplorerError) -> None:
            if isinstance(answer, ExplorerError):
                self._refused(str(answer))
                return
            self._opened(name, answer.view, answer.shown)
            then()

        self.opening.start(read, show, "Opening…")

    def _refused(self, problem: str) -> None:
        """Say once what is wrong: below the field, or, where nothing is open, on the page to go on from."""
        self.picker.mark(self.view.table.name if self.view else "")
        if self.view is not None:
            self.opening.say(problem)
            return
        self.rooms.box("overview")[:] = [welcome(self.open, problem)]
        self.rooms.go("overview")
        self.seen()

    def _opened(self, name: str, view: ViewState, shown: dict[str, Any]) -> None:
        if self.opened and name != self.opened:
            self.compare = self._compare_next
            self.rooms.leave(self._filled - {"tables", *BENCH}, looked_at=True)
        self._compare_next = ""
        self.view, self.opened = view, name
        table = view.table
        self.picker.mark(table.name)
        self._show(shown)
        if view.message:
            toast("warning", view.message, 12_000)

    def _show(self, shown: dict[str, Any] | None = None) -> None:
        if self.view is None:
            return
        self.pane.draw(self.view, shown)
        if self.rooms.active == "graph":
            self.seen()
        self._refill()

    def _refill(self) -> None:
        """The graph shows something else: so does the tab that is looked at, and the others when they are. What
        has been chosen is said first: to make a tab takes longer."""
        checked = self.view is not None and self._checked is self.view.table  # which takes long, and stays true
        self._keep({*BENCH, *(("problems",) if checked else ())})
        self._say_where()
        soon(lambda: self._fill(self.rooms.active))

    def _warn(self) -> None:
        if self.view is not None:
            self.bar.warn(self.view.table, self.rooms.active)

    def _answered(self, redrawn: bool) -> None:
        if self.view is not None and self.view.message and self.rooms.active != "graph":  # which says it itself
            toast("error", self.view.message, 12_000)
        if redrawn:
            self._refill()
        else:
            self._say_where()

    def _on_path(self, event: Any) -> None:
        if event.new:
            self.open(event.new.strip())

    def _moved(self) -> Any:
        field = pmui.TextAreaInput(
            label="OLD=NEW, one a line", placeholder="s3://bucket/house=/mirror/house", rows=2, max_length=20_000,
            size="small", sizing_mode="stretch_width", margin=(10, 4),
        )  # fmt: skip
        field.param.watch(self._on_moved, "value")
        return field

    def _on_moved(self, event: Any) -> None:
        self._moves = event.new
        if self._asked:
            self.open(self._asked)

    def _places(self) -> list[Place]:
        """Where one can go by name."""
        known = versions(self.view.table) if self.view else []
        views = [("view", title) for title in TITLES]
        kept = {name: what for what in ("pinned", "recent") for name in self.picker.kept.names(what)}
        first = [(f"{what} table", name) for name, what in kept.items()]
        tables = [("table", name) for name in self.picker.names() if name not in kept]
        actions = [("action", RELOAD)] if self.view else []
        to = [(kind, version) for kind in ("snapshot", COMPARE) for version in known]
        return [*first, *views, *tables, *actions, *to]

    def _go_to(self, kind: str, name: str) -> None:
        if kind == "view":
            self.rooms.go(TITLES[name])
        elif kind.endswith("table"):
            self.open(name)
        elif kind == COMPARE:
            self._compare_with(name)
            self.rooms.go("diff")
        elif kind == "action":
            self.pane.answer({"type": "reload"})
        elif kind == FILES:
            self.rooms.go("graph")
            self.pane.answer({"type": "search", "text": name})
        else:
            self._look_at(name)

    def _look_at(self, version: str) -> None:
        """Another snapshot, in whatever room."""
        self.pane.answer({"type": "snapshot", "id": version})

    def _compare_with(self, version: str) -> None:
        self.compare = version
        self._keep(self._filled - {"diff", "row-diff"})
        self._came(self.rooms.active)

    def compared(self, before: str, after: int) -> None:
        """A pair is shown: it is what the header and the URL say."""
        if self.view is None:
            return
        metadata = self.view.table.metadata
        if after != self.view.snapshot_id:
            self.view.handle({"type": "snapshot", "id": after})
            self.pane.draw(self.view)
            self._keep({"diff", *BENCH})
        snapshot = metadata.snapshot(after)
        parent = snapshot_name(snapshot.parent_snapshot_id if snapshot else None, snapshot_ordinals(metadata))
        self.compare = "" if before == parent else before
        self._keep(self._filled - {"row-diff"})
        self._say_where()

    def _came(self, name: str) -> None:
        """To a view."""
        self._fill(name)
        self._say_where()

    def _keep(self, names: set[str]) -> None:
        """What all other views show is not so any more; that of the catalog goes on."""
        self.rooms.leave(self._filled - names - {"tables"})
        self._filled &= names

    def _fill(self, name: str) -> None:
        """Make a view when it is looked at, for the snapshot in view."""
        if name == "graph" or name in self._filled:
            return
        box = self.rooms.box(name)
        if self.view is None:
            if name == "overview" and not box.objects and not self.opening.busy:
                box[:] = [welcome(self.open)]
                self.seen()
            elif name == "tables":  # which one is worth opening
                box[:] = [self.catalog_health.look(SANDBOX)]
                self.seen()
            return
        self._filled.add(name)
        if name == "problems":
            self._checked = self.view.table
        if name in ON_SPARK and (self.offers.lab or name not in WRITING):  # a person still has to say what to do there
            shared_engine().start()
        box[:] = [content(self, name, self.view)]
        if name != "overview":  # which says it itself
            self.seen()

    def seen(self) -> None:
        """The view that is looked at is there."""
        self.browser.seen = True

    def show_snapshot(self, snapshot_id: int) -> None:
        """To the graph of a snapshot."""
        self.rooms.go("graph")
        self._look_at(str(snapshot_id))

    def show_manifest(self, snapshot_id: int, manifest_path: str) -> None:
        """To a manifest in the graph, as a snapshot sees it."""
        self._bring(lambda view: show_node(view, snapshot_id, manifest_node(manifest_path)))

    def committed(self, table: Table) -> None:
        """The lab committed to the open table: everything but the lab itself shows it as it is now."""
        if self.view is not None:
            self.view = ViewState(table)
            self.pane.draw(self.view)
            self._keep({"statement", *BENCH})

    def copied(self, name: str) -> None:
        """The lab made a copy to change: open it where one runs statements."""
        self.changed(name, lambda: self.rooms.go("statement"))

    def changed(self, name: str, then: Callable[[], None] = lambda: None) -> None:
        """Open a table that was made or changed just now; the picker lists it."""
        self.picker.fill()
        self.open(name, then=then)

    def show_row(self, path: str, snapshot_id: int | None) -> None:
        """To a data file in the graph as of a snapshot, with its deletes and their manifests."""
        self._bring(lambda view: show_file(view, path, snapshot_id))

    def found(self, findings: Sequence[Finding]) -> None:
        """The doctor has looked: what it found is marked in the graph."""
        if self.view is not None and self.view.findings != tuple(findings):
            self.view.mark(findings)
            self.pane.draw(self.view)

    def show_row_of(self, kind: str, key: str) -> None:
        """To what a row of a list is about, in the graph."""
        self._bring(lambda view: show_row(view, kind, key))

    def show_finding(self, finding: Finding) -> None:
        """To the node that a finding is about, as of a snapshot that is affected."""
        self._bring(lambda view: show_finding(view, finding))

    def _bring(self, change: Callable[[ViewState], None], to: str = "graph") -> None:
        """Change the view, and go there. A manifest or all of them may have to be read: off the page's thread."""
        view = self.view
        if view is None:
            return
        later = view.copied()

        def work() -> dict[str, Any]:
            change(later)
            return later.state()

        def show(shown: dict[str, Any]) -> None:
            if self.view is view:
                view.become(later)
                self.rooms.go(to)
                self._show(shown)

        self.opening.start(work, show, "Looking for it…")

    def _say_where(self) -> None:
        if self.view is None:
            return
        place = {"table": self.opened, "view": self.rooms.active}
        if self.view.snapshot_id is not None:
            place["snapshot"] = str(self.view.snapshot_id)
        if self.view.selected:
            place["node"] = self.view.selected[-1]
        if self.compare:
            place["compare"] = self.compare
        self.browser.say(place)
        self.bar.show(self.view, self.compare)
        self._warn()

    def _went(self, place: Mapping[str, str]) -> None:
        """Back or forward, to another table, snapshot, node or view."""
        name = place["view"] if place.get("view") in VIEWS else "overview"
        table, snapshot, node = (place.get(key) for key in ("table", "snapshot", "node"))
        if table and (self.view is None or table != self.opened):
            self._compare_next = place.get("compare", "")
            self._filled.add(name)  # not for the table that is still open
            self.rooms.go(name)
            self.open(table, snapshot, node)
        elif self.view is not None:
            self.compare = place.get("compare", "")
            known = snapshot in {str(s.snapshot_id) for s in self.view.table.metadata.snapshots}
            if known and snapshot != str(self.view.snapshot_id):
                self._bring(lambda view: show_node(view, snapshot, node), name)
            else:
                self.view.select(node)
                self.rooms.go(name)
                self._show()


def _made(begun: PoolTask) -> Opened | ExplorerError | None:
    """What was opened for the first part of the page; None where that was given up before the page came. Raises
    Cancelled."""
    try:
        made = begun.joined()
    except Cancelled:
        if is_cancelled():
            raise
        return None
    return made.table if isinstance(made, First) else None


def create(offers: Offers | None = None) -> Any:
    """The page of a new session."""
    return Dashboard(query(pn.state.session_args or {}), offers).page()


if __name__.startswith("bokeh_app"):  # panel serve explorer/ui/app.py
    from explorer.serving.server_address import PASSWORD_VARIABLE
    from explorer.ui.serve import came_through_the_door

    alone = not os.environ.get(PASSWORD_VARIABLE)
    outside = "This server is guarded from now on: open the URL, with its token, that it printed."
    (create(Offers(alone, alone)) if came_through_the_door() else Text(outside)).servable()
