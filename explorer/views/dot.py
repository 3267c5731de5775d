"""Graphviz: DOT text by the graphviz package, pictures by pygraphviz, which needs no `dot` on the PATH."""

from __future__ import annotations

import threading

import graphviz

from explorer.graphs.graph import Graph
from explorer.graphs.vocabulary import DASHED, GONE, KIND_STYLE, STATUS_STYLE
from explorer.views.text import clean

LAYOUT_LOCK = threading.Lock()  # libgvc is not thread-safe


def text(words: str) -> graphviz.quoting.NoHtml:
    """Words as a DOT label: no escapes or entities, and never HTML, whatever a table's author wrote."""
    return lines(words)


def lines(*words: str) -> graphviz.quoting.NoHtml:
    """Several lines as one DOT label."""
    # The type tells graphviz that <...> is no HTML; a plain str, made by + or str(), would be HTML again. And Graphviz
    # decodes entities in labels, which could bring back what `clean` took out.
    return graphviz.nohtml("\\n".join(str(graphviz.escape(clean(w).replace("&", "&amp;"))) for w in words))


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
        color, shape = KIND_STYLE[node.kind]
        mark = f"{STATUS_STYLE[node.status][1]} " if node.status else ""
        style = (
            "filled,dashed"
            if node.status in GONE or node.mark in ("staged", "orphan")
            else "filled,bold"
            if node.current
            else "filled"
        )
        problem = (f"! {node.problem}",) if node.problem and node.kind != "problem" else ()
        dot.node(
            names[node.id],
            lines(mark + node.label, *node.lines, *problem, *([node.mark] if node.mark else [])),
            color=color,
            shape=shape,
            style=style,
        )
    for edge in graph.edges:
        options = {"style": "dashed"} if edge.kind in DASHED else {}
        if edge.status:
            options |= {"color": STATUS_STYLE[edge.status][0], "label": STATUS_STYLE[edge.status][1]}
        if edge.kind in DASHED and edge.kind != "deletes from":
            options["constraint"] = "false"
        dot.edge(names[edge.source], names[edge.target], **options)
    for elided in graph.elided:
        dot.node(names[elided.id], text("… " + elided.label), shape="plaintext", fontcolor="#666666")
        dot.edge(names[elided.parent], names[elided.id], style="dotted")
    return str(dot.source)


def render_image(graph: Graph, image_format: str) -> bytes:
    """The graph laid out and drawn by Graphviz as `png`, `svg` or `pdf`."""
    import pygraphviz

    with LAYOUT_LOCK:
        return bytes(pygraphviz.AGraph(string=render_dot(graph)).draw(prog="dot", format=image_format))
