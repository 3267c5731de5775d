"""A graph in any of the export formats, as bytes."""

from __future__ import annotations

from explorer.graphs.graph import Graph
from explorer.ui.assets import script, style
from explorer.views.dot import render_dot, render_image
from explorer.views.rows import graph_object
from explorer.views.svg import render_html, render_svg
from explorer.views.text import json_text


def export(graph: Graph, picture: str) -> bytes:
    """The graph as svg, png, html, dot or json."""
    if picture == "png":
        return render_image(graph, "png")
    if picture == "html":
        return render_html(graph, script(), style()).encode()
    text = {
        "svg": render_svg,
        "dot": render_dot,
        "json": lambda g: json_text(graph_object(g)),
    }[picture](graph)
    return text.encode()
