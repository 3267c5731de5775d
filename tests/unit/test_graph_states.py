"""What a browser asks of a graph, and how the graph answers."""

from __future__ import annotations

import pytest

from explorer.app.answer_states import CompareState
from explorer.app.graph_state import MarkedState, ViewState
from explorer.graph.graph import Elided
from explorer.graph.vocabulary import COLUMNS, EDGES, KINDS, MARKS, OPERATIONS, STATUSES
from explorer.render.svg import picture, vocabulary
from explorer.table import Table
from tests.support import direct
from tests.support.small_tables import make_table


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Table:
    return direct.open_table(str(make_table(tmp_path_factory.mktemp("host"), commits=16)))


def ask(state: ViewState, **request: object) -> None:
    """Ask as a browser does."""
    state.handle(request)


def labels(state: ViewState) -> list[str]:
    return [node["label"] for node in state.state()["picture"]["nodes"]]


def group(state: ViewState, text: str) -> Elided:
    return next(e for e in state.graph.elided if text in e.label)


def test_a_state_answers_by_drawing_or_by_details(table: Table) -> None:
    state = ViewState(table)
    ids = state.timeline()["ids"]
    assert len(ids) == 16
    node = next(n for n in state.state()["picture"]["nodes"] if n["label"] == "snapshot-16")
    assert state.handle({"type": "select", "ids": [node["id"]]}) is False
    before = state.selection()
    assert before["details"]["title"] == "snapshot-16"
    assert state.handle({"type": "snapshot", "id": "snapshot-2"}) is True
    assert state.state()["picture"]["snapshot"] == ids[1]
    assert state.state()["n"] != before["n"]


def test_levels_page_by_what_their_groups_say(table: Table) -> None:
    state = ViewState(table)
    ask(state, type="page", id=group(state, "older snapshots").id)
    assert "snapshot-1" in labels(state)
    assert "snapshot-16" not in labels(state)
    older = group(state, "older metadata files")
    ask(state, type="page", id=older.id)
    assert "metadata-0" in labels(state)
    ask(state, type="snapshot", id="snapshot-3")
    assert "metadata-0" in labels(state)  # what was paged and belongs to no snapshot stays
    assert group(state, "newer snapshots").start == 0
    ask(state, type="page", id="more of what is not there")
    assert not state.state()["message"]


def test_a_click_on_what_the_search_left_out_ends_it(table: Table) -> None:
    state = ViewState(table)
    everything = labels(state)
    path = table.files()[2]["file_path"].rsplit("/", 1)[-1]
    ask(state, type="search", text=path)
    left_out = group(state, "without a match")
    assert left_out.action == "search"
    assert state.state()["asked"] == {"search": path, "filtered": True, "folded": 0}
    ask(state, type="page", id=left_out.id)
    assert labels(state) == everything
    assert state.state()["asked"] == {"search": "", "filtered": True, "folded": 0}


def test_a_manifest_list_closes_and_opens_again(table: Table) -> None:
    state = ViewState(table)
    box = next(n.id for n in state.graph.nodes if n.kind == "manifest_list")
    everything = labels(state)
    ask(state, type="toggle", id=box)
    assert state.view.closed == {box}
    assert "manifest-16" not in labels(state)
    ask(state, type="toggle", id=box)
    assert labels(state) == everything
    ask(state, type="toggle", id=box)
    ask(state, type="snapshot", id="snapshot-15")
    ask(state, type="snapshot", id="snapshot-16")
    assert labels(state) == everything  # closing ends with the visit


def test_a_node_that_is_as_a_page_wants_it_stays(table: Table) -> None:
    """The server may hear a request twice, or in a session that does not know what was folded."""
    state = ViewState(table)
    box = next(n.id for n in state.graph.nodes if n.kind == "manifest_list")
    everything = labels(state)
    for _ in range(2):
        ask(state, type="toggle", id=box, open=False)
        assert state.view.closed == {box}
    for _ in range(2):
        ask(state, type="toggle", id=box, open=True)
        assert labels(state) == everything


def test_only_open_files_have_their_footers_read(table: Table) -> None:
    state = ViewState(table)
    if not any(n["kind"] == "data_file" for n in state.state()["picture"]["nodes"]):
        manifest = next(n.id for n in state.graph.nodes if n.kind == "data_manifest")
        ask(state, type="toggle", id=manifest)
    file = next(n.id for n in state.graph.nodes if n.kind == "data_file")
    ask(state, type="toggle", id=file)
    assert state.view.open_files == {file}
    assert "row group 0" in labels(state)
    ask(state, type="toggle", id=file)
    assert "row group 0" not in labels(state)


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
