"""What the browser and a graph say to each other, through the host that the dashboard uses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from explorer.app.answer_states import CompareState
from explorer.app.graph_state import MarkedState, ViewState
from explorer.graph.graph import Elided
from explorer.graph.vocabulary import COLUMNS, EDGES, KINDS, MARKS, OPERATIONS, STATUSES
from explorer.render.svg import picture, vocabulary
from explorer.table import Table
from explorer.ui.host import GraphHost
from explorer.ui.pane import GraphPane
from tests.support import direct
from tests.support.small_tables import make_table, writable

HOSTS = {"pane": GraphPane.of}


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Table:
    return direct.open_table(str(make_table(tmp_path_factory.mktemp("host"), commits=16)))


def ask(host: Any, **request: object) -> None:
    """As a browser does: by setting `request` to something new."""
    host.request = {**request, "n": host.request.get("n", 0) + 1}


def labels(host: Any) -> list[str]:
    return [n["label"] for n in host.state["picture"]["nodes"]]


def group(host: Any, text: str) -> Elided:
    return next(e for e in host.graph_state.graph.elided if text in e.label)


@pytest.mark.parametrize("name", HOSTS)
def test_a_host_answers_by_drawing_or_by_details(name: str, table: Table) -> None:
    host: Any = HOSTS[name](ViewState(table))
    assert isinstance(host, GraphHost)
    assert host.vocabulary == vocabulary()
    assert len(host.timeline["ids"]) == 16
    told: list[bool] = []
    host.answered = told.append
    node = next(n for n in host.state["picture"]["nodes"] if n["label"] == "snapshot-16")
    ask(host, type="select", ids=[node["id"]])
    assert host.details["details"]["title"] == "snapshot-16"
    before = host.state
    ask(host, type="snapshot", id="snapshot-2")
    assert host.state["picture"]["snapshot"] == host.timeline["ids"][1]
    assert host.state["n"] != before["n"]
    assert told == [False, True]


@pytest.mark.parametrize("name", HOSTS)
def test_the_same_details_reach_a_page_that_shows_something_else_by_now(name: str, table: Table) -> None:
    """A host sends only what has changed: the same node chosen on another visit to the table has changed."""
    host: Any = HOSTS[name](ViewState(table))
    told: list[str] = []
    watch = host.param.watch if name == "pane" else host.observe
    watch(lambda _: told.append(host.details["details"]["title"]), "details")
    node = next(n["id"] for n in host.state["picture"]["nodes"] if n["label"] == "snapshot-16")
    ask(host, type="select", ids=[node])
    host.draw(ViewState(table))
    assert host.state["details"] is None
    ask(host, type="select", ids=[node])
    assert told == ["snapshot-16", "snapshot-16"]


@pytest.mark.parametrize("name", HOSTS)
def test_a_reload_brings_the_timeline_wherever_the_graph_is_shown(name: str, tmp_path: Path) -> None:
    folder = make_table(tmp_path, commits=2)
    host: Any = HOSTS[name](ViewState(direct.open_table(str(folder))))
    writable(folder).append(pa.table({"id": pa.array([7], pa.int64()), "fruit": ["fig"]}))
    assert len(host.timeline["ids"]) == 2
    ask(host, type="reload")
    assert len(host.timeline["ids"]) == 3
    assert host.state["picture"]["snapshot"] == host.timeline["ids"][2]


@pytest.mark.parametrize("name", HOSTS)
def test_a_graph_and_its_timeline_are_one_message(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = make_table(tmp_path, commits=2)
    host: Any = HOSTS[name](ViewState(direct.open_table(str(folder))))
    writable(folder).append(pa.table({"id": pa.array([7], pa.int64()), "fruit": ["fig"]}))
    messages: list[set[str]] = []
    if name == "pane":
        host.param.watch(lambda *events: messages.append({e.name for e in events}), ["state", "timeline"])
    else:
        one = lambda _, key: messages.append({key} if isinstance(key, str) else {*key})  # noqa: E731
        monkeypatch.setattr(type(host), "send_state", one)
    ask(host, type="reload")
    both = {"state", "timeline"}
    assert [told & both for told in messages if told & both] == [both]


def test_a_timeline_that_could_not_be_told_is_told_later(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    host: Any = GraphPane()
    view, often = ViewState(table), []
    once = view.timeline
    monkeypatch.setattr(view, "timeline", lambda: once() if often else often.append(1) or 1 / 0)
    with pytest.raises(ZeroDivisionError):
        host.draw(view)
    host.draw(view)
    assert len(host.timeline["ids"]) == 16


def test_levels_page_by_what_their_groups_say(table: Table) -> None:
    host: Any = GraphPane.of(ViewState(table))
    ask(host, type="page", id=group(host, "older snapshots").id)
    assert "snapshot-1" in labels(host)
    assert "snapshot-16" not in labels(host)
    older = group(host, "older metadata files")
    ask(host, type="page", id=older.id)
    assert "metadata-0" in labels(host)
    ask(host, type="snapshot", id="snapshot-3")
    assert "metadata-0" in labels(host)  # what was paged and belongs to no snapshot stays
    assert group(host, "newer snapshots").start == 0
    ask(host, type="page", id="more of what is not there")
    assert not host.state["message"]


def test_a_click_on_what_the_search_left_out_ends_it(table: Table) -> None:
    host: Any = GraphPane.of(ViewState(table))
    everything = labels(host)
    path = table.files()[2]["file_path"].rsplit("/", 1)[-1]
    ask(host, type="search", text=path)
    left_out = group(host, "without a match")
    assert left_out.action == "search"
    assert host.state["asked"] == {"search": path, "filtered": True}
    ask(host, type="page", id=left_out.id)
    assert labels(host) == everything
    assert host.state["asked"] == {"search": "", "filtered": True}


def test_a_manifest_list_closes_and_opens_again(table: Table) -> None:
    host: Any = GraphPane.of(ViewState(table))
    box = next(n.id for n in host.graph_state.graph.nodes if n.kind == "manifest_list")
    everything = labels(host)
    ask(host, type="toggle", id=box)
    assert host.graph_state.view.closed == {box}
    assert "manifest-16" not in labels(host)
    ask(host, type="toggle", id=box)
    assert labels(host) == everything
    ask(host, type="toggle", id=box)
    ask(host, type="snapshot", id="snapshot-15")
    ask(host, type="snapshot", id="snapshot-16")
    assert labels(host) == everything  # closing ends with the visit


def test_only_open_files_have_their_footers_read(table: Table) -> None:
    host: Any = GraphPane.of(ViewState(table))
    if not any(n["kind"] == "data_file" for n in host.state["picture"]["nodes"]):
        manifest = next(n.id for n in host.graph_state.graph.nodes if n.kind == "data_manifest")
        ask(host, type="toggle", id=manifest)
    file = next(n.id for n in host.graph_state.graph.nodes if n.kind == "data_file")
    ask(host, type="toggle", id=file)
    assert host.graph_state.view.open_files == {file}
    assert "row group 0" in labels(host)
    ask(host, type="toggle", id=file)
    assert "row group 0" not in labels(host)


def test_a_state_offers_what_it_carries_out(table: Table) -> None:
    """A button that does nothing is not there."""
    assert CompareState(table, "snapshot-1", "snapshot-2").state()["offers"] == []
    marked = MarkedState(table)
    assert "reload" not in marked.state()["offers"]
    for kind, value in (("search", {"text": "no such text"}), ("filtered", {"value": False})):
        assert kind in marked.offers
        before = marked.view
        marked.handle({"type": kind, **value})
        assert marked.view != before


def test_the_vocabulary_is_whole(table: Table) -> None:
    """Everything a picture names is in what the browser was sent, and all of it is JSON for any page."""
    sent = vocabulary()
    drawn = picture(table.graph())
    assert {n["kind"] for n in drawn["nodes"]} <= sent["kinds"].keys() == KINDS.keys()
    assert {e["kind"] for e in drawn["edges"]} <= sent["edges"].keys() == EDGES.keys()
    assert {n["status"] for n in drawn["nodes"]} - {""} <= sent["statuses"].keys() == STATUSES.keys()
    assert sent["marks"].keys() == MARKS.keys()
    assert sent["operations"].keys() == OPERATIONS.keys()
    assert all(k.color and k.glyph and 0 <= k.column < len(COLUMNS) for k in KINDS.values())
