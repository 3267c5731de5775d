"""The Health tab: one table's measures with a picture each, and all tables of a catalog, which open on a click."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd
import panel as pn
import panel_material_ui as pmui

from explorer.errors import NotFoundInTable
from explorer.render.health import bar_words, beyond_html, level_counts, section_html, short_row, summary
from explorer.reports.health import catalog_checkup, checkup
from explorer.serving.pools import AWAY
from explorer.spec.health.measures import BY_ID, LEVELS, MEASURES, Bars, Health, HealthSection, Tile, thresholds
from explorer.spec.text.names import shorten
from explorer.spec.text.units import count
from explorer.table import Table
from explorer.ui.background import Job
from explorer.ui.figures import bars_figure, shades_key, tiles_figure, told
from explorer.ui.widgets import CHOICE, SMALL, WRAP, grid, heading, note, picture, plot

CARD, DRAWN = 490, 460
"""Pixels across: two cards beside each other on 1280, three on 1920."""
TILES = "a partition each, as large as its bytes"
"""What the map of partitions means."""
WIDTHS = {"level": 80, "table": 310, "beyond its thresholds": 420, "data files": 90, "size": 90, "why it failed": 300}


def table_health(table: Table, snapshot_id: int | None) -> Any:
    """One table's health as of a snapshot; thresholds may be set, and columns' clustering asked for."""
    limits: dict[str, float] = {}
    checked: list[Health] = []
    measure = pmui.Select(label="threshold of", options=[m.id for m in MEASURES], width=220, **CHOICE)
    value = pmui.TextInput(label="beyond", value=f"{MEASURES[0].threshold:.15g}", width=140, **SMALL)
    apply = pmui.Button(label="Set", variant="outlined", width=70, margin=(14, 6))
    clustering = pmui.Button(label="Clustering by column", variant="outlined", width=190, margin=(14, 6))
    box = pn.Column(sizing_mode="stretch_width")
    job = Job(buttons=[apply, clustering], box=box)

    def start(columns: bool = False) -> None:
        job.start(lambda: checkup(table, clustering=columns, snapshot_id=snapshot_id), show, "Measuring the table…")

    def show(health: Health) -> None:
        checked[:] = [health]
        told = health.under(limits)
        box[:] = [
            note(f"{summary(told)}."),
            *([picture(beyond_html(told), margin=(4, 10), sizing_mode="stretch_width")] if told.beyond else []),
            pn.Row(*(_card(section) for section in told.sections), styles=WRAP),
        ]

    def chosen(event: Any) -> None:
        value.value = f"{limits.get(event.new, BY_ID[event.new].threshold):.15g}"

    def judge(_: Any) -> None:
        try:
            limits[measure.value] = thresholds({measure.value: float(value.value)})[measure.value]
        except (ValueError, NotFoundInTable):
            job.say(f"{shorten(value.value, 40)!r} is no threshold: a number above 0 is.")
            return
        job.say("")
        for health in list(checked):
            show(health)

    measure.param.watch(chosen, "value")
    apply.on_click(judge)
    clustering.on_click(lambda _: start(True))
    start()
    return pn.Column(
        pn.Row(measure, value, apply, clustering, styles=WRAP), job.view, box, sizing_mode="stretch_both", scroll=True
    )  # fmt: skip


def _card(section: HealthSection) -> Any:
    """A section: its picture, in words for whoever cannot see it, and its numbers."""
    drawn = []
    if section.bars and section.bars.labels:
        drawn = [
            note(_told(section.bars), variant="caption"),
            plot(bars_figure(section.bars, DRAWN), bars_words(section.bars)),
        ]
    elif section.tiles:
        drawn = [
            note(TILES, variant="caption"),
            picture(shades_key(), margin=(0, 12)),
            plot(tiles_figure(section.tiles, DRAWN, 230), tiles_words(section.tiles)),
        ]
    same = section.title.lower() == section.scope
    return pn.Column(
        heading(section.title if same else f"{section.title} · {section.scope}"), *drawn,
        picture(section_html(section), margin=(4, 12), width=CARD - 30), width=CARD,
    )  # fmt: skip


def _told(bars: Bars) -> str:
    return f"{bars.title} ({bars.mark} is dashed)" if bars.marked is not None else bars.title


def bars_words(bars: Bars) -> str:
    """What a picture of bars shows, in words."""
    return f"{_told(bars)}. {each_bar(bars)}"


def each_bar(bars: Bars) -> str:
    """What each bar is of, and how long it is."""
    return "; ".join(
        f"{label}: {', '.join(bar_words(bars, name, at) for name in bars.series)}"
        for at, label in enumerate(bars.labels)
    )


def tiles_words(tiles: tuple[Tile, ...]) -> str:
    each = [f"{tile.label}: {told(tile)}" for tile in tiles[:20]]
    return f"{count(len(tiles), 'partition')} by bytes. {'; '.join(each)}"


class CatalogHealth:
    """The tables of one catalog, the worst first; `open` is called with the name of one that is clicked. Asked when it
    is first looked at, and kept until it is asked again."""

    def __init__(self, open_table: Callable[[str], None]) -> None:
        self._open, self._catalog = open_table, ""
        self._again = pmui.Button(label="Measure again", variant="outlined", width=150, margin=(14, 6))
        self._again.on_click(lambda _: self._start())
        self._box = pn.Column(sizing_mode="stretch_both")
        self._job = Job(buttons=[self._again], box=self._box, pool=AWAY)
        self.view = pn.Column(self._again, self._job.view, self._box, sizing_mode="stretch_both")

    def look(self, catalog: str) -> Any:
        """The view, of this catalog."""
        if catalog != self._catalog:
            self._catalog = catalog
            self._start()
        return self.view

    def _start(self) -> None:
        catalog = self._catalog
        self._job.start(lambda: catalog_checkup(catalog), self._show, f"Measuring the tables of {catalog}…")

    def _show(self, rows: list[dict[str, Any]]) -> None:
        if not rows:
            self._box[:] = [note(f"The catalog {self._catalog} has no tables.")]
            return
        levels = [row["level"] for row in rows]
        told = level_counts(levels, ("failed", *LEVELS))
        data = pd.DataFrame([_row(row) for row in rows])
        data["level"] = pd.Categorical(data["level"], ["failed", *LEVELS], ordered=True)
        widths = WIDTHS | {m.id: 9 * len(m.id) + 30 for m in MEASURES}
        if "failed" not in levels:
            data = data.drop(columns="why it failed")
        wrapped = [name for name in ("beyond its thresholds", "why it failed") if name in data]
        listed = grid(data, widths, wrapped=wrapped, sizes=["size", "metadata-size"], frozen_columns=["level", "table"])
        listed.on_click(lambda event: self._open(str(rows[event.row]["table"])))
        self._box[:] = [
            note(f"{self._catalog}: {told}. Click a table to open it; a heading sorts by a measure."), listed
        ]  # fmt: skip


def _row(row: dict[str, Any]) -> dict[str, Any]:
    """A table's row with the numbers that sort, as people read them."""
    numbers = {m.id: row[m.id] for m in MEASURES if m.id in row}
    rounded = {k: round(v, 3) if isinstance(v, float) else v for k, v in numbers.items()}
    return short_row(row) | {"table": shorten(row["table"], 400), "size": row["bytes"]} | rounded
