"""All orders of some writers as a state graph: what the writers have done by then, and how each order ends."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable

from explorer.extras import needs_extra
from explorer.render.dot import LAYOUT_LOCK, lines
from explorer.render.svg_colors import text_color
from explorer.spec.commits.lab_runs import Interleavings
from explorer.spec.text.units import count

with needs_extra():
    import graphviz
    import pygraphviz

WRITER_COLORS = ("#0072b2", "#d55e00", "#7b4fd0")
ENDS = {"serial": ("#00895a22", "#00895a"), "refused": ("#0072b222", "#0072b2"), "anomaly": ("#d0021b22", "#d0021b")}
"""Fill (the page shows through) and line of an end: the rows of a serial order, the same with a writer refused, rows of
no serial order."""

COLOURED = re.compile(r'(<text [^<>]*?)fill="(#[0-9a-f]{6})"')


def state_dot(run: Interleavings) -> str:
    """The state graph as DOT. Ids are positions, so that no word of a table is ever syntax."""
    dot = graphviz.Digraph(
        "orders",
        graph_attr={"nodesep": "0.15", "ranksep": "0.26", "bgcolor": "transparent"},
        node_attr={
            "fontname": "sans-serif",
            "fontsize": "10",
            "shape": "box",
            "style": "rounded,filled",
            "fillcolor": "transparent",
            "margin": "0.08,0.04",
            "color": "#999999",
        },
        edge_attr={"fontname": "sans-serif", "fontsize": "9", "arrowsize": "0.6"},
    )
    ids: dict[Hashable, str] = {(): "s0"}
    dot.node("s0", lines("the table as it was"))
    edges: dict[tuple[str, str], tuple[str, str]] = {}
    ways: Counter[tuple[str, str]] = Counter()
    ends: Counter[str] = Counter()
    for outcome in run.outcomes:
        at = "s0"
        for moment in outcome.moments:
            key = (moment.standings, moment.commits)
            if key not in ids:
                ids[key] = f"s{len(ids)}"
                dot.node(ids[key], lines(*(f"{s.writer} {s.word}" for s in moment.standings if s.phases)))
            edges[(at, ids[key])] = (moment.writer, moment.phase)
            ways[(at, ids[key])] += 1
            at = ids[key]
        end = (outcome.writers, outcome.rows, outcome.anomaly)
        if end not in ids:
            ids[end] = f"s{len(ids)}"
        ends[ids[end]] += 1
        edges[(at, ids[end])] = ("", "")
        ways[(at, ids[end])] += 1
    for outcome in run.outcomes:
        ending = ids[(outcome.writers, outcome.rows, outcome.anomaly)]
        kind = "anomaly" if outcome.anomaly else "refused" if "refused" in outcome.writers else "serial"
        fill, line = ENDS[kind]
        equals = (
            f"anomaly: {outcome.anomaly}"
            if outcome.anomaly
            else f"as if {' or '.join(o or 'none' for o in outcome.serial)}"
        )
        rows = [f"{i} {v!r}" for i, v, _ in outcome.rows] or ["no rows"]
        dot.node(
            ending,
            lines(*outcome.ends, *rows, equals, count(ends[ending], "order")),
            fillcolor=fill,
            color=line,
            style="filled",
            penwidth="2",
        )
    for (a, b), (writer, what) in edges.items():
        color = WRITER_COLORS["ABC".index(writer)] if writer else "#999999"
        dot.edge(
            a,
            b,
            lines(f"{writer} {what}" if writer else ""),
            color=color,
            fontcolor=color,
            penwidth=f"{1 + ways[(a, b)] / 6:.1f}",
        )
    return str(dot.source)


def state_svg(run: Interleavings) -> str:
    """The state graph as SVG, laid out by Graphviz."""
    if not run.outcomes:
        return '<svg xmlns="http://www.w3.org/2000/svg" width="10" height="10"/>'
    with LAYOUT_LOCK:
        drawn = bytes(pygraphviz.AGraph(string=state_dot(run)).draw(prog="dot", format="svg")).decode()
    drawn = COLOURED.sub(lambda text: f"{text[1]}{text_color(text[2])}", drawn[drawn.index("<svg") :])
    return drawn.replace("<svg ", '<svg fill="currentColor" ', 1)  # of text, which Graphviz leaves as it is
