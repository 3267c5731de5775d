"""The first room: one table at a glance; and the page of who has opened none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd
import panel as pn
import panel_material_ui as pmui

from explorer.lab.scenarios.build import available_names
from explorer.lab.scenarios.registry import NAMESPACE, SCENARIOS
from explorer.render.health import SIGNS
from explorer.render.overview import facts_html, odd, tiles_html
from explorer.reports.overview import complete_overview, overview
from explorer.spec.health.measures import Tile
from explorer.spec.overview.overview import Assessment, Overview
from explorer.spec.text.units import count
from explorer.table import Table
from explorer.ui.background import Job
from explorer.ui.figures import bars_figure, shades_key, tiles_figure
from explorer.ui.health import TILES, bars_words, each_bar, tiles_words
from explorer.ui.moments import DRAWN, moments_figures, moments_words
from explorer.ui.widgets import WRAP, grid, heading, label, note, picture, plot, soon

CARD = 470
WELCOME = (
    "An Iceberg table is a tree of files: a metadata file names snapshots, each snapshot a list of manifests, and each "
    "manifest data and delete files with their statistics.",
    "This page shows that tree, how each commit changed it, which rows are there and why, and what a query would read; "
    "it writes to no table of yours, and the lab commits to tables of its own.",
    "Open a table at the left by its name or path, or begin with one of these, each of which shows one thing.",
)


class OverviewPanel:
    """`view` shows a table as of a snapshot: at once what metadata tells, then what manifests do. `go(view)` leads to
    another room, `at(snapshot)` to a snapshot in the graph; `seen()` is called when there is something to see."""

    def __init__(
        self,
        table: Table,
        snapshot_id: int | None,
        go: Callable[[str], None],
        at: Callable[[int], None],
        seen: Callable[[], None],
    ) -> None:
        self._table, self._go, self._at, self._seen = table, go, at, seen
        self._first, self._more = Job(), Job()
        self._tiles = picture("", sizing_mode="stretch_width", margin=(8, 10, 4, 10))
        self._lines = pn.Column(sizing_mode="stretch_width", margin=(2, 4))
        self._cards = pn.Row(styles=WRAP, sizing_mode="stretch_width")
        self.view = pn.Column(
            self._tiles, self._first.view, self._more.view, self._lines, self._cards, sizing_mode="stretch_both",
            scroll=True,
        )  # fmt: skip
        self._first.start(lambda: overview(table, snapshot_id, quick=True), self._show, "Looking at the table…")

    def _show(self, told: Overview) -> None:
        self._tiles.object = tiles_html(told)
        what = heading("What it is")
        facts = picture(facts_html(told), margin=(0, 14), sizing_mode="stretch_width")
        look = {"flex": f"1 1 {CARD}px", "min-width": "0"}
        self._cards[:] = [pn.Column(what, facts, sizing_mode="stretch_width", styles=look)]
        self._seen()
        soon(lambda: self._draw(told))

    def _draw(self, told: Overview) -> None:
        """What takes the page longer."""
        if told.moments:
            self._cards.insert(0, self._moments(told))
        more = "Counting rows, and checking the table…"
        self._more.start(lambda: complete_overview(self._table, told), self._complete, more)

    def _moments(self, told: Overview) -> Any:
        some = f", the last {DRAWN:,} of {len(told.moments):,}" if len(told.moments) > DRAWN else ""
        turns = [note(line, variant="caption", margin=(0, 14)) for line in odd(told)[-3:]]
        figures = [plot(drawn, moments_words(told) if not at else "") for at, drawn in
                   enumerate(moments_figures(told, self._at))]  # fmt: skip
        return pn.Column(
            heading(f"Snapshots in time{some}: click one to see it in the graph"), *figures, *turns,
            sizing_mode="stretch_width", styles={"flex": "2 1 760px", "min-width": "0"},
        )  # fmt: skip

    def _complete(self, told: Overview) -> None:
        self._tiles.object = tiles_html(told)
        if told.judged is None:
            caption = "Health and doctor tell of the current snapshot" if not told.is_current else (
                "Much would have to be read: health and doctor are asked in their room")  # fmt: skip
            self._lines[:] = [self._line("Health", f"{caption}.", "health")]
            return
        judged = told.judged
        doctor = f"{SIGNS[judged.doctor_level]} Doctor: {judged.doctor_level}" if judged.doctor_level else "Doctor"
        self._lines[:] = [
            self._line(f"{SIGNS[judged.health_level]} Health: {judged.health_level}", judged.health, "health"),
            self._line(doctor, judged.doctor, "problems"),
        ]
        self._cards.extend(_drawn(judged))

    def _line(self, title: str, caption: str, view: str) -> Any:
        button = pmui.Button(label=label(title), variant="outlined", size="small", width=150, margin=(2, 8))
        button.on_click(lambda _: self._go(view))
        return pn.Row(button, note(caption, margin=(7, 6), sizing_mode="stretch_width"), sizing_mode="stretch_width")


def _drawn(judged: Assessment) -> list[Any]:
    cards = []
    if judged.sizes is not None and judged.sizes.labels:
        if len(judged.sizes.labels) > 1:
            drawn = plot(bars_figure(judged.sizes, CARD), bars_words(judged.sizes))
        else:  # one bar is no picture
            drawn = note(each_bar(judged.sizes), margin=(0, 14))
        cards.append(pn.Column(heading("Data files by size"), drawn, width=CARD + 20))
    if len(judged.tiles) > 1:
        tiles: tuple[Tile, ...] = judged.tiles
        key = picture(shades_key(), margin=(0, 12))
        drawn = [note(TILES, variant="caption"), key, plot(tiles_figure(tiles, CARD, 210), tiles_words(tiles))]
        title = heading(f"{count(sum(t.partitions for t in tiles), 'partition')} by bytes")
        cards.append(pn.Column(title, *drawn, width=CARD + 20))
    return cards


def welcome(open_table: Callable[[str], None], problem: str = "") -> Any:
    """What this is, in three sentences, and the teaching tables, of which a click opens one; above it what went wrong
    with the table that was asked for."""
    look = {"font-weight": "600", "overflow-wrap": "anywhere"}
    parts: list[Any] = [note(f"⚠ {problem}", margin=(12, 14), styles=look)] if problem else []
    parts += [note(sentence, variant="body1", margin=(6, 14), styles={"max-width": "900px"}) for sentence in WELCOME]
    there = available_names()
    rows = [{"table": s.name, "teaches": s.teaches, "from": s.source} for s in SCENARIOS if s.name in there]
    if rows:
        listed = grid(pd.DataFrame(rows), {"table": 210, "teaches": 640, "from": 300}, wrapped=["teaches", "from"])
        listed.on_click(lambda event: open_table(f"sandbox.{NAMESPACE}.{rows[event.row]['table']}"))
        parts.append(listed)
    else:
        parts.append(note("There are none yet: icedive demo builds them.", margin=(6, 14)))
    return pn.Column(*parts, sizing_mode="stretch_both")
