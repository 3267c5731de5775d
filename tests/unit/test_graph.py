"""The graph: what is shared is drawn once, what is hidden is counted, and no text of a table becomes syntax."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from explorer.app.graph_state import ViewState
from explorer.app.hosts.file import export
from explorer.graph.drawing import PAGE, Drawing
from explorer.graph.graph import Graph
from explorer.graph.ids import list_node
from explorer.graph.layout import layout
from explorer.graph.table_graph import METADATA
from explorer.render.text import render_tree
from explorer.table import Table
from tests.support import direct
from tests.support.small_tables import edit_metadata, in_catalog, make_table, partitioned, writable

EVIL = '<script>alert(1)</script>"];evil[label=<<b>x</b>>]\n\x1b[31m${jndi}'


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Table:
    return direct.open_table(str(make_table(tmp_path_factory.mktemp("graph"), commits=4)))


def test_a_carried_manifest_is_one_node_with_many_parents(table: Table) -> None:
    every = frozenset(list_node(s.snapshot_id) for s in table.metadata.snapshots)
    view = table.default_view()
    graph = table.graph(view=replace(view, open_nodes=view.open_nodes | every))
    manifests = [n for n in graph.nodes if n.kind == "data_manifest"]
    assert len(manifests) == 4
    parents = [sum(e.target == n.id and e.kind == "contains" for e in graph.edges) for n in manifests]
    assert sorted(parents) == [1, 2, 3, 4]
    assert len({n.id for n in graph.nodes}) == len(graph.nodes)


def test_ids_stay_from_step_to_step(table: Table) -> None:
    before = {(n.kind, n.facts.get("path")): n.id for n in table.graph("snapshot-2").nodes if "path" in n.facts}
    after = {(n.kind, n.facts.get("path")): n.id for n in table.graph("snapshot-4").nodes if "path" in n.facts}
    common = before.keys() & after.keys()
    assert len(common) > 4
    assert all(before[k] == after[k] for k in common)


def heights(graph: Graph) -> dict[str, float]:
    return {item: box.y for item, box in layout(graph).items()}


def test_what_two_neighbouring_pictures_have_in_common_stays_where_it_is(tmp_path: Path) -> None:
    folder = make_table(tmp_path, commits=16)
    for id in (13, 9):
        writable(folder).delete(f"id in ({id}, {id + 100})")  # a whole file: its manifest is written anew
    table = direct.open_table(str(folder))
    graphs = [table.graph(s.snapshot_id) for s in table.metadata.snapshots]
    steps = [heights(graph) for graph in graphs]
    windows = [{n.id for n in graph.nodes if n.kind == "snapshot"} for graph in graphs]
    moved = [{i for i in a.keys() & b.keys() if a[i] != b[i]} for a, b in pairwise(steps)]
    assert [bool(some) for some in moved] == [a != b for a, b in pairwise(windows)]
    assert sum(map(bool, moved)) == 1  # the window of twelve snapshots has moved on, by six
    assert all(len(a.keys() & b.keys()) > 12 for a, b in pairwise(steps))


def test_nothing_that_is_unfolded_moves_what_leads_to_it(tmp_path: Path) -> None:
    table = direct.open_table(str(partitioned(tmp_path)))
    folded = table.graph(view=replace(table.default_view(), open_nodes=frozenset()))
    [manifest] = [n.id for n in folded.nodes if n.kind == "data_manifest"]
    unfolded = table.graph(view=replace(table.default_view(), open_nodes=frozenset([manifest])))
    before, after = heights(folded), heights(unfolded)
    assert len(after) > len(before) + PAGE
    assert {i: after[i] for i in before} == before
    [way] = {after[n.id] for n in unfolded.nodes if n.kind in ("snapshot", "manifest_list", "data_manifest")}
    assert min(after[n.id] for n in unfolded.nodes if n.kind == "data_file") == way


def test_nothing_overlaps_and_every_node_has_a_place(table: Table) -> None:
    graph = table.graph()
    boxes = layout(graph)
    assert boxes.keys() == {n.id for n in graph.nodes} | {e.id for e in graph.elided}
    placed = list(boxes.values())
    for i, a in enumerate(placed):
        for b in placed[i + 1 :]:
            assert a.x + a.width <= b.x or b.x + b.width <= a.x or a.y + a.height <= b.y or b.y + b.height <= a.y


def test_the_pointer_stands_over_all_metadata_files_on_any_page(table: Table) -> None:
    view = replace(table.default_view(), pages={METADATA: 2}, page_size=2)
    graph = table.graph(view=view)
    boxes = layout(graph)
    pointer = next(n.id for n in graph.nodes if n.kind == "catalog")
    newer, older = (next(e.id for e in graph.elided if e.key == METADATA and e.before is b) for b in (True, False))
    files = [n.id for n in graph.nodes if n.kind == "metadata"]
    assert sorted(boxes[i].y for i in (pointer, newer, *files, older)) == [
        boxes[i].y for i in (pointer, newer, *files, older)
    ]


def test_long_levels_are_counted_not_dropped(table: Table) -> None:
    view = replace(table.default_view(), page_size=2)
    graph = table.graph(view=view)
    shown = [n for n in graph.nodes if n.kind == "data_manifest"]
    hidden = [e for e in graph.elided if e.what == "manifests"]
    assert len(shown) + sum(e.hidden for e in hidden) == 4
    second = table.graph(view=replace(view, pages={hidden[0].key: hidden[0].start}))
    assert {n.id for n in second.nodes if n.kind == "data_manifest"}.isdisjoint({n.id for n in shown})


@pytest.mark.parametrize("total", [0, 1, PAGE, PAGE + 1, 3 * PAGE - 1])
def test_pages_together_show_every_child_once_or_more_and_count_the_rest(total: int) -> None:
    reached: set[int] = set()
    start: int | None = 0
    while start is not None:
        drawing = Drawing({"parent": start})
        shown = drawing.page("parent", total, "files", 4)
        assert len(shown) == min(total, PAGE)
        assert len(shown) + sum(e.hidden for e in drawing.elided) == total
        assert {e.before: e.label for e in drawing.elided} == {
            before: f"{hidden:,} {word} files"
            for before, hidden, word in ((True, shown.start, "previous"), (False, total - shown.stop, "more"))
            if hidden
        }
        assert reached.isdisjoint(shown) or shown.stop == total  # the last page is full
        reached.update(shown)
        start = next((e.start for e in drawing.elided if not e.before), None)
    assert reached == set(range(total))


def test_a_page_that_is_not_there_is_the_nearest_one() -> None:
    drawing = Drawing({"early": -7, "late": 1000, "k": 1000}, size=10)
    assert drawing.page("early", 100, "files", 4) == range(10)
    assert drawing.page("late", 100, "files", 4) == range(90, 100)
    assert drawing.page("other", 100, "files", 4, labels=("newer", "older"), key="k") == range(90, 100)
    assert [(e.label, e.key, e.action) for e in drawing.elided] == [
        ("90 more files", "early", "page"), ("90 previous files", "late", "page"), ("90 newer files", "k", "page"),
    ]  # fmt: skip
    assert len({e.id for e in drawing.elided}) == 3


def test_a_level_opens_around_what_is_in_view_until_it_is_paged() -> None:
    assert Drawing().page("parent", 100, "snapshots", 1, around=50, size=12) == range(44, 56)
    assert Drawing().page("parent", 100, "snapshots", 1, around=99, size=12) == range(88, 100)
    assert Drawing({"parent": 3}).page("parent", 100, "snapshots", 1, around=50, size=12) == range(3, 15)


def test_search_keeps_matches_and_counts_the_rest(table: Table) -> None:
    path = table.files()[2]["file_path"].rsplit("/", 1)[-1]
    graph = table.graph(view=replace(table.default_view(), search=path[:30]))
    assert [n.facts["path"].rsplit("/", 1)[-1] for n in graph.nodes if n.kind == "data_file"] == [path]
    assert sum(e.hidden for e in graph.elided if e.what == "manifests") == 3


def test_text_of_a_table_is_never_syntax(tmp_path: Path) -> None:
    folder = make_table(tmp_path)
    edit_metadata(folder, lambda d: d["refs"].update({EVIL: {"type": "tag", "snapshot-id": d["current-snapshot-id"]}}))
    table = direct.open_table(str(folder))
    graph = table.graph()
    assert any(EVIL in n.label for n in graph.nodes)
    svg, page, dot = (export(graph, k).decode() for k in ("svg", "html", "dot"))
    assert "<script>alert" not in svg
    assert "<script>alert" not in page.replace("<script type", "")
    assert "\x1b" not in render_tree(graph) + svg + dot
    import pygraphviz

    drawn = pygraphviz.AGraph(string=dot)
    assert len(drawn.nodes()) == len(graph.nodes) + len(graph.elided)
    assert "evil" not in [str(n) for n in drawn.nodes()]
    assert export(graph, "png")[:4] == b"\x89PNG"


@pytest.mark.parametrize(
    "request_",
    [{}, {"type": "select", "ids": 7}, {"type": "select", "ids": [None, "nope"]}, {"type": "toggle", "id": None},
     {"type": "page", "id": "x"},
     {"type": "focus"}, {"type": "search", "text": ["a"]}, {"type": "unheard-of"}, {"type": "snapshot", "id": "77"}],
)  # fmt: skip
def test_no_request_of_the_browser_raises(table: Table, request_: dict[str, object]) -> None:
    state = ViewState(table)
    state.handle(request_)
    assert state.state()["picture"]["nodes"]
    if request_.get("type") == "snapshot":
        assert "not found" in state.message


def test_the_whole_tree_of_one_table_as_text(table: Table) -> None:
    text = render_tree(table.graph())
    assert text.count("data_manifest") == 0
    assert text.count("manifest list 4") == 1
    assert "branch main -> snapshot-4" in text


@pytest.mark.parametrize("by", ["folder", "catalog"])
def test_reload_follows_new_commits(by: str, tmp_path: Path) -> None:
    import pyarrow as pa
    from pyiceberg.catalog.sql import SqlCatalog

    folder = make_table(tmp_path, commits=2)
    properties = in_catalog(folder)
    name = ("db.t", "small", properties) if by == "catalog" else (str(folder),)
    table = direct.open_table(*name)
    state, pinned = ViewState(table), ViewState(table, "snapshot-1")
    catalog = SqlCatalog("small", **properties)
    catalog.load_table("db.t").append(pa.table({"id": pa.array([7], pa.int64()), "fruit": ["fig"]}))
    catalog.engine.dispose()
    for view, expected in ((state, 3), (pinned, 1)):
        view.handle({"type": "reload"})
        assert not view.message
        assert len(view.timeline()["ids"]) == 3
        assert view.timeline()["ids"].index(str(view.snapshot_id)) + 1 == expected


def test_of_many_branches_and_tags_some_are_drawn_and_the_others_can_be_had(tmp_path: Path) -> None:
    folder = make_table(tmp_path)

    def tag(data: dict[str, Any]) -> None:
        own = data["current-snapshot-id"]
        data["refs"] |= {f"tag-{n:03}": {"snapshot-id": own, "type": "tag"} for n in range(500)}

    edit_metadata(folder, tag)
    opened = direct.open_table(folder)
    graph = opened.graph()
    refs = [node.label for node in graph.nodes if node.kind == "ref"]
    assert refs == ["branch main", *(f"tag tag-{n:03}" for n in range(7))]
    [more] = [e for e in graph.elided if e.what == "branches and tags"]
    assert (more.label, more.hidden, more.total) == ("493 more branches and tags", 493, 501)
    view = opened.default_view()
    later = opened.graph(view=replace(view, pages={**view.pages, more.key: more.start}))
    assert "tag tag-007" in [node.label for node in later.nodes if node.kind == "ref"]
