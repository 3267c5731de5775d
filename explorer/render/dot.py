"""Graphviz: DOT text by the graphviz package, pictures by pygraphviz, which needs no `dot` on the PATH."""

from __future__ import annotations

import threading

from explorer.extras import needs_extra
from explorer.graph.graph import Graph
from explorer.graph.vocabulary import EDGES, GONE, KINDS, MARKS, STATUSES
from explorer.render.text import clean

with needs_extra():
    import graphviz

LAYOUT_LOCK = threading.Lock()  # libgvc is not thread-safe


def text(texts: str) -> graphviz.quoting.NoHtml:
    """Words as a DOT label: no escapes or entities, and never HTML, whatever a table's author wrote."""
    return lines(texts)


def lines(*texts: str) -> graphviz.quoting.NoHtml:
    """Several lines as one DOT label."""
    # The type tells graphviz that <...> is no HTML; a plain str, made by + or str(), would be HTML again. And Graphviz
    # decodes entities in labels, which could bring back what `clean` took out.
    return graphviz.nohtml("\\n".join(str(graphviz.escape(clean(w).replace("&", "&amp;"))) for w in texts))


def render_dot(graph: Graph) -> str:
    """The graph as DOT. Node ids are positions, so no text of the table is ever syntax."""
    dot = graphviz.Digraph(
        "table",
        graph_attr={
            "rankdir": "LR",
            "label": text(graph.title),
            "labelloc": "t",
            "fontname": "sans-serif",
            "nodesep": "0.15",
            "ranksep": "0.6",
        },
        node_attr={
            "fontname": "sans-serif",
            "fontsize": "10",
            "style": "filled",
            "fillcolor": "white",
            "margin": "0.12,0.06",
        },
        edge_attr={"color": "#888888", "arrowsize": "0.6", "fontname": "sans-serif", "fontsize": "9"},
    )
    names = {n.id: f"n{i}" for i, n in enumerate(graph.nodes)} | {e.id: f"e{i}" for i, e in enumerate(graph.elided)}
    for node in graph.nodes:
        kind, status = KINDS[node.kind], STATUSES.get(node.status)
        sign = f"{status.sign} " if status else ""
        loose = bool(node.mark) and MARKS[node.mark].look == "loose"
        style = (
            "filled,dashed"
            if loose or (status is not None and status.look in GONE)
            else "filled,bold"
            if node.current
            else "filled"
        )
        problem = (f"! {node.problem}",) if node.problem and node.kind != "problem" else ()
        dot.node(
            names[node.id],
            lines(sign + node.label, *node.lines, *problem, *([node.mark] if node.mark else [])),
            color=kind.color,
            shape=kind.shape,
            style=style,
        )
    for edge in graph.edges:
        dashed = EDGES[edge.kind].dashed
        options = {"style": "dashed"} if dashed else {}
        if edge.status:
            options |= {"color": STATUSES[edge.status].color, "label": STATUSES[edge.status].sign}
        if dashed and edge.kind != "deletes from":
            options["constraint"] = "false"
        dot.edge(names[edge.source], names[edge.target], **options)
    for elided in graph.elided:
        dot.node(names[elided.id], text("… " + elided.label), shape="plaintext", fontcolor="#666666")
        dot.edge(names[elided.parent], names[elided.id], style="dotted")
    return str(dot.source)


def render_image(graph: Graph, image_format: str) -> bytes:
    """The graph laid out and drawn by Graphviz as `png`, `svg` or `pdf`."""
    with needs_extra():
        import pygraphviz
    with LAYOUT_LOCK:
        return bytes(pygraphviz.AGraph(string=render_dot(graph)).draw(prog="dot", format=image_format))
