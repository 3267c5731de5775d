"""A graph in any of the export formats, and whole tables as pages that need no kernel."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from explorer.app.assets import asset
from explorer.app.local_paths import LocalPaths
from explorer.app.standalone import Standalone, notes, of_graph, of_table
from explorer.graph.graph import Graph
from explorer.graph.ids import node_id
from explorer.lab.lesson import slides
from explorer.lab.scenarios import NAMESPACE, SCENARIOS
from explorer.questions.answers import JSON_FORMAT
from explorer.render.html_page import render_index, render_page, render_slides, still_page
from explorer.render.rows import graph_json
from explorer.render.svg import render_svg
from explorer.render.text import clean, json_text
from explorer.reports.catalog_sweep import sweep
from explorer.storage.catalogs import catalogs
from explorer.storage.locate import locate
from explorer.storage.reader import TableReader
from explorer.storage.whole_files import write_whole
from explorer.table import Table


def export(graph: Graph, picture: str) -> bytes:
    """The graph as svg, png, html, dot or json."""
    if picture in ("png", "dot"):
        from explorer.render.dot import render_dot, render_image

        return render_image(graph, "png") if picture == "png" else render_dot(graph).encode()
    text = {
        "svg": render_svg,
        "html": lambda g: _page(g.title, of_graph(g), [], g),
        "json": lambda g: json_text({"json_format": JSON_FORMAT, **graph_json(g)}),
    }[picture](graph)
    return text.encode()


def export_table(table: Table, file: Path, pages: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Write a table as one page (see app.standalone), and tell what is in it: the `file`, its `bytes`, how many
    `snapshots` and `nodes`, and what was left out. `pages` are its neighbours in a folder of pages."""
    page = of_table(table, pages)
    data = _page(table.name, page, notes(table, page.cuts), table.graph()).encode()
    write_whole(file, data)
    nodes = {n["id"] for shown in page.data["pictures"].values() for n in shown["picture"]["nodes"]}
    return {
        "table": table.name, "file": str(file), "bytes": len(data),
        "snapshots": len(page.data["timeline"].get("ids", ())), "nodes": len(nodes), "left_out": list(page.cuts),
    }  # fmt: skip


def export_gallery(
    folder: Path, catalog: str = "", properties: Mapping[str, str] | None = None
) -> Iterator[dict[str, Any]]:
    """Write all tables of a catalog, or the teaching tables that are built, as a folder of pages with an index, and
    tell of each what export_table does, or why it failed. Raises TableNotFound where a catalog cannot be listed."""
    teaches = {} if catalog else {f"sandbox.{NAMESPACE}.{s.name}": s.teaches for s in SCENARIOS}
    name, listed = catalog or "sandbox", catalogs.tables(catalog or "sandbox", properties)
    tables = [f"{name}.{one.identifier}" for one in listed]
    order = [one for one in teaches if one in tables] or tables
    warehouse = catalogs.properties(name, properties).get("warehouse", "")
    folder.mkdir(parents=True, exist_ok=True)

    def ask(table: Table) -> dict[str, Any]:
        return export_table(table, folder / _file_name(table.name), _neighbours(table.name, order))

    pages: list[dict[str, Any]] = []
    told: dict[str, str] = {}  # an error, without local paths
    for swept in sweep(ask, name, properties, "" if catalog else NAMESPACE):
        about = {"table": swept.table, "teaches": teaches.get(swept.table, "")}
        if swept.answer is None:  # its neighbours lead here
            place = getattr(swept.failure, "path", "").rpartition("/")[0].removesuffix("/metadata")
            told[swept.table] = LocalPaths((place, warehouse)).cut(swept.error)
            error = f"<h1>{escape(clean(swept.table))}</h1><p>{escape(clean(told[swept.table]))}</p>"
            page = f'{error}<p><a href="index.html">All tables</a></p>'
            write_whole(folder / _file_name(swept.table), still_page(swept.table, page).encode())
        pages.append({**about, **(swept.answer or {"error": swept.error})})
        yield pages[-1]
    pages.sort(key=lambda page: order.index(page["table"]) if page["table"] in order else len(order))
    links = [{**p, "file": Path(p["file"]).name} if "file" in p else {**p, "error": told[p["table"]]} for p in pages]
    title = f"The tables of {catalog}" if catalog else "The teaching tables"
    sentence = (
        "Each page opens from disk: step through its snapshots, unfold, search, and see what each commit changed."
    )
    write_whole(folder / "index.html", render_index(title, sentence, links))


def export_slides(file: Path) -> dict[str, Any]:
    """Write the lesson as a page of slides, and tell its `file`, `bytes` and number of `slides`. Raises
    TableNotFound where the teaching tables are missing."""
    made = slides()
    pages = [(one.title, one.lines, _drawn(one.table, one.snapshot) if one.table else "") for one in made]
    data = render_slides("Iceberg's metadata: a lesson", pages).encode()
    write_whole(file, data)
    return {"file": str(file), "bytes": len(data), "slides": len(made)}


def _drawn(name: str, snapshot: str) -> str:
    """A teaching table's graph as SVG."""
    table = Table(TableReader(locate(f"{NAMESPACE}.{name}")))
    paths = LocalPaths((table.metadata.location,))
    return paths.cut_picture(render_svg(table.graph(view=table.default_view(snapshot or None))))


def _neighbours(table: str, order: Sequence[str]) -> dict[str, Any]:
    """The pages before and after a table's in their folder, and the folder's index."""
    at = order.index(table) if table in order else -1
    beside = {"previous": at - 1, "next": at + 1} if at >= 0 else {}
    pages = {way: order[i] for way, i in beside.items() if 0 <= i < len(order)}
    links = {way: {"title": one, "file": _file_name(one)} for way, one in pages.items()}
    return {**links, "index": {"title": "All tables", "file": "index.html"}}


def _file_name(table: str) -> str:
    """The name of a table's page; two tables never share one, and none has that of the index."""
    name = re.sub(r"[^a-z0-9_.-]+", "-", table.lower())[:100]
    plain = name == table and not re.search(r"-t[0-9a-f]{12}$", name)  # which could be made of another's
    return f"{name}.html" if plain and name != "index" else f"{name}-{node_id('table', table)}.html"


def _page(title: str, page: Standalone, lines: list[str], first: Graph) -> str:
    cut = page.paths.cut
    picture = page.paths.cut_picture(render_svg(first))
    return render_page(
        cut(title), page.data, [cut(line) for line in lines], asset("file.js"), asset("app.css"), picture
    )
