"""The state graph of all orders, from results made by hand: orders that come to the same point meet there."""

from __future__ import annotations

from itertools import pairwise

import pygraphviz

from explorer.render.lab_runs import interleaving_rows
from explorer.render.state_graph import ENDS, WRITER_COLORS, state_dot, state_svg
from explorer.spec.commits.lab_runs import Interleavings, LabRows, OrderOutcome, OrderPoint, WriterProgress
from explorer.spec.commits.operations import Operation

OPERATIONS = (Operation("append"), Operation("append"))


def outcome(
    order: str, ends: tuple[str, str], rows: LabRows, serial: tuple[str, ...], anomaly: str = ""
) -> OrderOutcome:
    """An order of two writers, each in two phases."""
    standings, commits, moments = {"A": WriterProgress("A"), "B": WriterProgress("B")}, "", []
    for name in order:
        last = standings[name].phases == 1
        word = ends["AB".index(name)] if last else "load, write"
        looked_at = standings[name].looked_at + (() if last else (commits,))
        commits += name if last and word == "committed" else ""
        standings[name] = WriterProgress(name, standings[name].phases + 1, looked_at, word)
        phase = "apply, metadata, swap" if last else "load, write"
        moments.append(OrderPoint(name, phase, tuple(standings.values()), commits))
    return OrderOutcome(order, ends, rows, serial, anomaly, (), "{}", tuple(moments))  # type: ignore[arg-type]


def drawn(*outcomes: OrderOutcome) -> tuple[dict[str, str], set[tuple[str, str]], pygraphviz.AGraph]:
    graph = pygraphviz.AGraph(string=state_dot(Interleavings(OPERATIONS, outcomes, {})))
    return {str(n): n.attr["label"] for n in graph.nodes()}, {(str(a), str(b)) for a, b in graph.edges()}, graph


def test_orders_meet_where_all_writers_stand_alike() -> None:
    both: LabRows = ((1, "a", "p"), (2, "b", "p"))
    ends = ("committed", "committed")
    labels, edges, _ = drawn(outcome("ABAB", ends, both, ("AB", "BA")), outcome("BAAB", ends, both, ("AB", "BA")))
    assert sorted(labels.values()) == sorted([
        "the table as it was", "A load, write", "B load, write", "A load, write\\nB load, write",
        "A committed\\nB load, write", "A committed\\nB committed",
        "A committed\\nB committed\\n1 'a'\\n2 'b'\\nas if AB or BA\\n2 orders",
    ])  # fmt: skip
    assert len(edges) == 7  # two ways to "both read", one from there on


def test_what_a_writer_had_looked_at_tells_points_apart() -> None:
    rows: LabRows = ((1, "a", "p"),)
    labels, _, _ = drawn(
        outcome("AABB", ("committed", "committed"), rows, ("AB",)),
        outcome("ABAB", ("committed", "committed"), rows, ("AB",)),
    )
    assert list(labels.values()).count("A committed\\nB load, write") == 2  # B read before, or after, A's commit


def test_ends_have_colours_and_text_is_text() -> None:
    evil = '<b>"];x[label=<i>'
    _, _, graph = drawn(
        outcome("AABB", ("committed", "committed"), ((1, evil, "p"),), ("AB",)),
        outcome("ABAB", ("committed", "refused"), ((1, "a", "p"),), ("A",)),
        outcome("ABBA", ("committed", "committed"), ((9, "z", "p"),), (), "lost update"),
    )
    last = {str(n): n for n in graph.nodes() if not graph.out_edges(n)}
    colours = {n.attr["color"]: n.attr["label"] for n in last.values()}
    assert colours.keys() == {line for _, line in ENDS.values()}
    assert "anomaly: lost update" in colours[ENDS["anomaly"][1]]
    assert "as if A" in colours[ENDS["refused"][1]]
    assert set(map(str, graph.nodes())) == {f"s{i}" for i in range(len(graph.nodes()))}
    assert {e.attr["color"] for e in graph.edges()} == {*WRITER_COLORS[:2], "#999999"}


def test_an_order_is_one_path_from_the_table_to_its_end() -> None:
    _, edges, graph = drawn(outcome("ABAB", ("committed", "retried"), ((1, "a", "p"),), ("AB",)))
    path = ["s0"]
    while following := graph.successors(path[-1]):
        path.append(str(following[0]))
    assert edges == set(pairwise(path))
    assert len(path) == 6


def test_what_came_of_an_order_names_its_writers() -> None:
    run = Interleavings(OPERATIONS, (outcome("ABAB", ("committed", "refused"), ((1, "a", "p"),), ("A",)),), {})
    assert interleaving_rows(run)[0]["outcomes"] == "A committed, B refused" == next(iter(run.summary()))


def test_nothing_run_is_an_empty_picture() -> None:
    assert state_svg(Interleavings(OPERATIONS, (), {})).startswith("<svg")
