"""A graph in any of the export formats, as bytes."""

from __future__ import annotations

from importlib.resources import files

from explorer.graphs.graph import Graph
from explorer.views.dot import render_dot, render_image
from explorer.views.rows import graph_object
from explorer.views.svg import render_html, render_svg
from explorer.views.text import json_text


def asset(name: str) -> str:
    """The text of a file in explorer/ui/static."""
    return files("explorer.ui").joinpath("static").joinpath(name).read_text(encoding="utf-8")


def export(graph: Graph, picture: str) -> bytes:
    """The graph as svg, png, html, dot or json."""
    if picture == "png":
        return render_image(graph, "png")
    if picture == "html":
        return render_html(graph, asset("view.js"), asset("view.css")).encode()
    text = {
        "svg": render_svg,
        "dot": render_dot,
        "json": lambda g: json_text(graph_object(g)),
    }[picture](graph)
    return text.encode()
