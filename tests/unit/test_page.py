"""What a page asks without a panel of its own: requests of a graph, and the catalogs at its left. On an event loop, as
a page has one, and with tables and catalogs that are there."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import panel as pn
import panel_material_ui as pmui
import pyarrow as pa
import pytest
from bokeh.document import Document
from panel.io.resources import Resources
from panel.io.state import set_curdoc
from pyiceberg.catalog.sql import SqlCatalog

from explorer.app.graph_state import ViewState
from explorer.errors import TableNotFound
from explorer.graph.ids import manifest_node
from explorer.progress import steps
from explorer.storage.storage import Storage
from explorer.ui import bundled, tables
from explorer.ui.app import Dashboard, query
from explorer.ui.background import Job, Session
from explorer.ui.contents import content
from explorer.ui.pane import GraphPane
from explorer.ui.picker import SHOWN, Picker
from explorer.ui.rooms import ROOMS, VIEWS, Rooms
from explorer.ui.widgets import Text, grid
from tests.support import direct
from tests.support.small_tables import make_table
from tests.unit.test_background import on_a_page, until


class Slow(ViewState):
    """A state whose search waits, step by step, until it is let through."""

    gate: threading.Event
    entered: threading.Event

    def _carry_out(self, kind: str, request: Any) -> None:
        if kind == "search":
            self.entered.set()
            for _ in steps(range(10_000), "manifests"):
                if self.gate.wait(0.005):
                    break
        super()._carry_out(kind, request)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_table(tmp_path_factory.mktemp("page"), commits=4)


@pytest.fixture
def slow(folder: Path) -> Iterator[Slow]:
    state = Slow(direct.open_table(str(folder)))
    state.gate, state.entered = threading.Event(), threading.Event()
    yield state
    state.gate.set()


def ask(pane: Any, **request: object) -> None:
    pane.request = {**request, "n": pane.request.get("n", 0) + 1}


def test_a_graph_answers_in_turn_and_says_how_far_it_is(slow: Slow) -> None:
    async def test() -> None:
        with set_curdoc(Document()):
            pane: Any = GraphPane.of(slow)
            told: list[bool] = []
            pane.answered = told.append
            before = pane.state
            ask(pane, type="search", text="manifest")
            ask(pane, type="snapshot", id="snapshot-2")
            ask(pane, type="snapshot", id="snapshot-3")
            await until(lambda: pane.progress.get("busy"))
            assert "of 10,000 manifests" in pane.progress["text"]
            assert pane.state is before  # nothing is half done
            assert (slow.view.search, told) == ("", [])
            slow.gate.set()
            await until(lambda: not pane.busy)
        assert told == [True, True, True]
        assert slow.view.search == "manifest"
        assert pane.state["picture"]["snapshot"] == pane.timeline["ids"][2]
        assert (pane.progress["busy"], pane.progress["text"]) == (False, "")

    on_a_page(test)


def test_what_is_given_up_leaves_the_graph_as_it_was(slow: Slow) -> None:
    async def test() -> None:
        with set_curdoc(Document()):
            pane: Any = GraphPane.of(slow)
            before = pane.state
            ask(pane, type="search", text="manifest")
            ask(pane, type="snapshot", id="snapshot-2")
            await until(lambda: pane.progress.get("busy"))
            ask(pane, type="cancel")
            await until(lambda: not pane.busy)
            assert (pane.progress["busy"], pane.progress["text"]) == (False, "Cancelled.")
            assert pane.state is before
            assert slow.view.search == ""
            ask(pane, type="snapshot", id="snapshot-3")
            await until(lambda: not pane.busy)
        assert pane.state["picture"]["snapshot"] == pane.timeline["ids"][2]

    on_a_page(test)


def test_what_was_asked_of_another_state_is_never_shown(slow: Slow, folder: Path) -> None:
    async def test() -> None:
        with set_curdoc(Document()):
            pane: Any = GraphPane.of(slow)
            ask(pane, type="search", text="manifest")
            assert await asyncio.to_thread(slow.entered.wait, 5)
            other = ViewState(direct.open_table(str(folder)), "snapshot-1")
            pane.draw(other)
            shown = pane.state
            slow.gate.set()
            await asyncio.sleep(0.3)
        assert pane.state is shown
        assert other.view.search == ""
        assert not pane.busy

    on_a_page(test)


def test_a_fault_is_said_and_the_next_request_answered(slow: Slow, caplog: pytest.LogCaptureFixture) -> None:
    async def test() -> None:
        with set_curdoc(Document()):
            pane: Any = GraphPane.of(slow)
            ask(pane, type="page", id=slow.graph.elided[0].id if slow.graph.elided else "")
            await until(lambda: not pane.busy)
            slow.entered = None  # type: ignore[assignment]
            ask(pane, type="search", text="manifest")
            await until(lambda: not pane.busy)
            assert "NoneType" in pane.progress["text"]
            told: list[Any] = []
            pane.param.watch(lambda event: told.append(event.new), "progress")
            ask(pane, type="search", text="manifest")
            await until(lambda: not pane.busy)
            assert told  # again: the page shows "Reading…" until it is told
            ask(pane, type="snapshot", id="snapshot-3")
            await until(lambda: not pane.busy)
        assert pane.state["picture"]["snapshot"] == pane.timeline["ids"][2]
        assert "a request of the graph failed" in caplog.text

    on_a_page(test)


# -- the picker -------------------------------------------------------------------------------------------------------
@pytest.fixture
def large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SqlCatalog:
    """A configured catalog with two namespaces, one of them of more tables than are shown."""
    uri = f"sqlite:///{tmp_path}/catalog.db"
    catalog = SqlCatalog("large", uri=uri, warehouse=f"file://{tmp_path}/warehouse")
    schema = pa.schema([("id", pa.int64())])
    for namespace in ("few", "many"):
        catalog.create_namespace(namespace)
    for name in ("b", "a"):
        catalog.create_table(("few", name), schema)
    rows = [("large", "many", f"t{i:04}", "file:///no") for i in range(SHOWN + 20)]
    with contextlib.closing(sqlite3.connect(tmp_path / "catalog.db")) as database, database:
        columns = "catalog_name, table_namespace, table_name, metadata_location"
        database.executemany(f"INSERT INTO iceberg_tables ({columns}) VALUES (?, ?, ?, ?)", rows)
    monkeypatch.setenv("PYICEBERG_CATALOG__LARGE__URI", uri)
    monkeypatch.setenv("PYICEBERG_CATALOG__LARGE__TYPE", "sql")
    monkeypatch.setattr("explorer.storage.catalogs.catalogs.catalog_names", lambda: ["large", "absent"])
    return catalog


async def filled(opened: list[str]) -> Picker:
    """A tree of catalogs that has been listed; what is chosen in it goes to `opened`."""
    picker = Picker(opened.append)
    picker.fill()
    await until(lambda: not picker.job.busy)
    return picker


def test_a_namespace_is_listed_when_it_is_unfolded(large: SqlCatalog, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    whole = SqlCatalog.list_tables

    def counted(self: SqlCatalog, namespace: Any) -> Any:
        asked.append(namespace)
        return whole(self, namespace)

    monkeypatch.setattr(SqlCatalog, "list_tables", counted)

    async def test() -> None:
        opened: list[str] = []
        with set_curdoc(Document()):
            picker = await filled(opened)
            listed, absent = picker.tree.items
            assert [s["label"] for s in listed["items"]] == ["few", "many"]
            assert "absent" in absent["items"][0]["label"]  # says so, and leaves the others
            assert asked == []
            picker.tree.active = [(0, 0, 0)]
            assert opened == []
            picker.tree.expanded = [(0,), (0, 0)]
            picker.tree.active = [(0, 1)]  # a click on its name
            await until(lambda: len(asked) == 2 and not picker.job.busy)
            few, many = picker.tree.items[0]["items"]
            assert [t["label"] for t in few["items"]] == ["a", "b"]
            assert len(many["items"]) == SHOWN + 1
            assert many["items"][-1]["label"].startswith("… 20 more")
            assert (0, 1) in map(tuple, picker.tree.expanded)
            picker.tree.active = [(0, 0, 1)]
            picker.tree.active = [(0, 1, SHOWN)]  # the line that says how many more
            picker.tree.active = [(0, 1, 3)]
            picker.mark("large.few.a")  # opened by a link: highlighted, and not opened again
            assert picker.tree.active == [(0, 0, 0)]
            picker.mark("/elsewhere/t")
            assert picker.tree.active == []
            kept = picker.kept  # what a browser tells, which may be anything
            kept.kept = {"pinned": ["large.few.b", "/etc/passwd", 7, "large.none.x"], "recent": [["large.few.a"]]}
            assert kept.shown == [["large.few.b", "few.b"]]
            kept.kept = {"pinned": "large.few.a", "recent": ["large.few.a", "large.few.", "large.few.b", "large.few.a"]}
            assert [name for name, _ in kept.shown] == ["large.few.a", "large.few.b"]
            kept.chosen = {"name": "large.few.b"}
            kept.chosen = {"name": "/etc/passwd"}
            assert (kept.opened, opened.pop()) == ("large.few.a", "large.few.b")  # opened by a link; at a click
        assert opened == ["large.few.b", "large.many.t0003"]
        assert picker.first("large.few.b") == "large.few.b"
        assert picker.first("large.few.c") == "large.few.a"

    on_a_page(test)


def test_every_table_of_a_large_namespace_can_be_filtered_for(large: SqlCatalog) -> None:
    async def test() -> None:
        opened: list[str] = []
        with set_curdoc(Document()):
            picker = await filled(opened)
            picker.filter.value_input = "T051"
            assert [t["label"] for t in picker.tree.items[0]["items"][1]["items"]] == ["…"]  # nothing was listed for it
            picker.filter.param.trigger("enter_pressed")
            await until(lambda: picker.knows("large.many.t0519") and not picker.job.busy)
            few, many = picker.tree.items[0]["items"]
            assert [t["label"] for t in few["items"]] == ["none of 2"]
            assert [t["label"] for t in many["items"]] == [f"t{n:04}" for n in range(510, 520)]
            picker.tree.active = [(0, 1, 9)]
            picker.mark("large.many.t0519")
            assert picker.tree.active == [(0, 1, 9)]
            picker.filter.value_input = ""
            assert len(picker.tree.items[0]["items"][1]["items"]) == SHOWN + 1
            assert picker.tree.active == []  # it is not in the tree
        assert opened == ["large.many.t0519"]

    on_a_page(test)


def test_a_listing_that_is_given_up_is_folded_again(large: SqlCatalog, monkeypatch: pytest.MonkeyPatch) -> None:
    gate, whole, asked = threading.Event(), SqlCatalog.list_tables, list[Any]()

    def slow(self: SqlCatalog, namespace: Any) -> Any:
        asked.append(namespace)
        gate.wait(10)
        return whole(self, namespace)

    monkeypatch.setattr(SqlCatalog, "list_tables", slow)

    async def test() -> None:
        with set_curdoc(Document()):
            picker = Picker(lambda name: None)
            picker.fill()
            await until(lambda: not picker.job.busy)
            picker.tree.expanded = [(0,), (0, 1)]
            await until(lambda: asked)
            picker.job.cancel()
            gate.set()
            await until(lambda: not picker.job.busy)
            assert picker.tree.expanded == [(0,)]
            picker.tree.expanded = [(0,), (0, 0)]
            await until(lambda: "'label': 'a'" in str(picker.tree.items))
            assert len(asked) == 2  # not the one that was given up

    on_a_page(test)


def test_a_namespace_that_cannot_be_listed_says_so(large: SqlCatalog, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(name: str, namespace: Any) -> Any:
        raise TableNotFound("the server is away")

    async def test() -> None:
        with set_curdoc(Document()):
            picker = Picker(lambda name: None)
            picker.fill()
            await until(lambda: not picker.job.busy)
            monkeypatch.setattr("explorer.storage.catalogs.catalogs.tables_in", refuse)
            picker.tree.expanded = [(0,), (0, 1)]
            await until(lambda: "away" in str(picker.tree.items))

    on_a_page(test)


def test_sizes_sort_as_numbers() -> None:
    sizes = grid(pd.DataFrame({"size": [57_344, 7_400, None, 900]}), sizes=("size",)).value["size"]
    assert list(sizes) == ["56.0 KiB", "7.2 KiB", "?", "900 B"]
    assert list(sizes.sort_values()) == ["?", "900 B", "7.2 KiB", "56.0 KiB"]


def test_the_scripts_of_a_page_are_worked_out_once_and_are_its_own() -> None:
    with set_curdoc(Document()):
        resources = Resources(mode="server")
        theirs = bundled._bundle([], resources)
        ours = bundled._kept([], resources)
        for name in ("js_files", "css_files", "js_raw", "css_raw", "js_modules"):
            assert getattr(ours, name) == getattr(theirs, name)
        ours.js_raw.append("of one page")
        assert "of one page" not in bundled._kept([], resources).js_raw


def test_rooms_have_each_view_once_and_are_entered_where_they_were_left() -> None:
    came: list[str] = []
    rooms = Rooms(pn.Column(), came.append, "files", without=("sql",))
    assert (rooms.active, sum(len(room.views) for room in ROOMS)) == ("files", len(VIEWS))
    rooms.view.active = VIEWS["diff"]  # as a click does
    rooms.go("fate")
    rooms.go("sql")  # which this server is without
    rooms.view.active = VIEWS["files"]
    assert came == ["history", "fate", "files"]
    for name in VIEWS.keys() - {"sql"}:
        rooms.go(name)
        assert rooms.active == name


def test_a_long_list_has_its_first_rows_and_a_field_for_a_condition(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables, "SHOWN", 2)
    monkeypatch.setattr(tables, "FIRST", 2)
    table = direct.open_table(str(folder))
    whole = table.files()
    paths = whole.to_arrow()["file_path"].to_pylist()

    async def test() -> None:
        with set_curdoc(Document()):
            view = tables.table_view(table.files, "files", table.metadata, lambda *_: None)
            [which] = view.select(pmui.TextInput)
            await until(lambda: view.select(pn.widgets.Tabulator))
            assert which.visible
            assert f"the first 2 of {len(whole)} files" in said(view)
            assert len(view.select(pn.widgets.Tabulator)[0].value) == 2
            which.value = f"file_path = '{paths[-1]}'"
            await until(lambda: "Click one" in said(view) and "the first" not in said(view))
            assert len(view.select(pn.widgets.Tabulator)[0].value) == 1
            which.value = "no_such = 1"
            await until(lambda: "no_such" in said(view))

    def said(view: Any) -> str:
        return " ".join(str(text.object) for text in view.select(Text))

    on_a_page(test)


def test_a_list_says_what_could_not_be_read(tmp_path: Path) -> None:
    place = make_table(tmp_path)
    first = min((place / "metadata").glob("*-m0.avro"), key=lambda file: file.stat().st_mtime)
    first.write_text("no manifest")

    async def said(name: str) -> str:
        with set_curdoc(Document()):
            dashboard = Dashboard({"view": name})
            dashboard.open(str(place))
            await until(lambda: dashboard.view and not dashboard.opening.busy)
            view: Any = content(dashboard, name, dashboard.view)  # type: ignore[arg-type]
            if name == "files":
                view = view[0]
            await until(lambda: not Session.current().jobs)
            return " ".join(str(text.object) for text in view.select(Text))

    async def test() -> None:
        for name in ("entries", "partitions", "files"):
            assert "1 of 3 manifests could not be read whole" in await said(name)
        for name in ("manifests", "snapshots"):
            assert "could not" not in await said(name)
        for manifest in (place / "metadata").glob("*-m0.avro"):
            manifest.write_text("no manifest")
        assert "3 of 3 manifests could not be read whole" in (told := await said("entries"))
        assert "No entries could be read." in told
        for listed in (place / "metadata").glob("snap-*.avro"):
            listed.write_text("no list")
        for name in ("manifests", "entries"):
            assert "The manifest list could not be read whole" in await said(name)

    on_a_page(test)


def test_nobody_waits_for_a_view_that_is_left(folder: Path) -> None:
    gate, boxes = threading.Event(), []

    def work() -> None:
        for _ in steps(range(10_000), "manifests"):
            if gate.wait(0.005):
                return

    async def test() -> None:
        with set_curdoc(Document()):
            rooms = Rooms(pn.pane.Str("graph"), lambda _: None, "files")
            for name in ("files", "entries"):
                job = Job()
                boxes.append(job)
                rooms.box(name)[:] = [pn.Column(job.view)]
                job.start(work, lambda _: None, "Reading…")
            writes = Job()
            rooms.box("maintain")[:] = [writes.view]
            writes.start(work, lambda _: None, "Writing…", cancels=False)
            rooms.leave(["files", "entries", "maintain"])
            assert [job.busy for job in (*boxes, writes)] == [False, False, True]
            assert len(rooms.box("files")) == 1  # it is looked at: what comes next replaces it
            assert not len(rooms.box("entries"))
            gate.set()
            await until(lambda: not writes.busy)

    on_a_page(test)


def test_what_is_brought_up_is_read_off_the_pages_thread(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = direct.open_table(str(folder))
    first, *_, last = table.metadata.snapshots
    [manifest] = table.tree.manifests(first)
    [file] = table.files(first.snapshot_id)
    readers: set[int] = set()
    read = Storage.read

    def watched(storage: Storage, *asked: Any, **how: Any) -> bytes:
        readers.add(threading.get_ident())
        return read(storage, *asked, **how)

    async def test() -> None:
        with set_curdoc(Document()):
            dashboard = Dashboard({"view": "history"})
            dashboard.open(str(folder))
            await until(lambda: dashboard.view and not dashboard.opening.busy)
            monkeypatch.setattr(Storage, "read", watched)
            place = {"table": str(folder), "view": "graph", "snapshot": str(first.snapshot_id)}
            for bring in (
                lambda: dashboard.show_row(file["file_path"], first.snapshot_id),
                lambda: dashboard.show_manifest(last.snapshot_id, manifest.manifest_path),
                lambda: dashboard._went({**place, "node": manifest_node(manifest.manifest_path)}),
            ):
                bring()
                assert dashboard.opening.busy
                await until(lambda: not dashboard.opening.busy)
                assert dashboard.view is not None
                assert dashboard.view.selected
            assert dashboard.view.snapshot_id == first.snapshot_id

    on_a_page(test)
    assert readers
    assert threading.get_ident() not in readers


def test_a_url_may_have_any_bytes() -> None:
    assert query({"table": [b"demo.\xff", b"x"], "view": [b"graph"]}) == {"table": "demo.\ufffd", "view": "graph"}
