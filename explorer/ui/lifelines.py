"""The lifecycle of manifests drawn to scale: a line for each, the thicker the more entries it has, from the
snapshot that wrote it to the last that lists it, with what became of it there (Part 1, figure 8: docs/texts.md)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from math import log1p
from typing import Any

from bokeh.models import Range1d
from bokeh.plotting import figure

from explorer.graph.vocabulary import ENDS, KINDS
from explorer.render.text import clean
from explorer.spec.snapshots.lifecycle import LifecycleCell, lives
from explorer.spec.text.names import shorten
from explorer.spec.text.units import count
from explorer.ui.figures import (
    clicks,
    hover,
    inert,
    lanes_down,
    legend_above,
    quiet,
    snapshots_across,
    wheel,
)

NAMED = 40
"""Manifests of which each has its name at the side."""
ROW, LEAST, USUAL, MOST, FRAME = 24, 3, 520, 1000, 70
"""Heights in pixels: of a line, of a line of so many that they are higher than usual, of all of them, and of what is
around them."""
THIN, THICK = 0.35, 0.65
"""Of a line's height, that of no entry and of the most; a pixel is the least."""
JOINS, NAME = 5000, 60
"""So many lines from manifests to those they went into, or else one of each; letters of a manifest's name."""
MARKERS = {"▼": "inverted_triangle", "◆": "diamond", "✕": "x"}
"""What Bokeh calls the signs of the ends."""


def lifelines(cells: Sequence[LifecycleCell], chosen: Callable[[int, str], None]) -> Any:
    """The figure; `chosen` is called with a snapshot's id and the path of the manifest that is clicked."""
    snapshots, drawn_lives = lives(cells)
    row = {life.manifest_path: at for at, life in enumerate(drawn_lives)}
    born = {(life.manifest, first): row[life.manifest_path] for life in drawn_lives for first, *_ in life.runs}
    number, several = len(drawn_lives), len(snapshots)
    height = min(ROW * max(number, 2), max(USUAL, LEAST * number), MOST)
    line = height / max(number, 2)
    drawn: Any = figure(
        height=FRAME + height, sizing_mode="stretch_width",
        x_range=Range1d(start=-0.7, end=several - 0.3), y_range=Range1d(start=number - 0.3, end=-0.7),
        tools="box_zoom,pan,reset,save", outline_line_color=None,
        min_border_right=24,
    )  # fmt: skip
    quiet(drawn, "lifecycle")
    wheel(drawn)
    drawn.grid.grid_line_color = None
    most = log1p(max((cell.entries for life in drawn_lives for *_, cell in life.runs), default=0)) or 1
    runs = [(life, *run) for life in drawn_lives for run in life.runs]
    kinds = [KINDS[cell.kind] for *_, cell in runs]
    bars = drawn.hbar(
        left="left", right="right", y="y", height="height", fill_color="colour", line_color=None, border_radius=4,
        legend_group="kind",
        source={
            "left": [first - 0.2 for _, first, _, _ in runs], "right": [last + 0.2 for _, _, last, _ in runs],
            "y": [row[life.manifest_path] for life, *_ in runs],
            "height": [max(1 / line, THIN + (THICK - THIN) * log1p(cell.entries) / most) for *_, cell in runs],
            "colour": [kind.color for kind in kinds], "kind": [kind.title for kind in kinds],
            "name": [inert(clean(shorten(life.manifest, NAME))) for life, *_ in runs],
            "told": [inert(clean(_run_words(snapshots, *run))) for life in drawn_lives for run in life.runs],
        },
    )  # fmt: skip
    ends = [(life, at, cell) for life in drawn_lives for at, cell in life.ends]
    each = 1 if sum(len(cell.into) for *_, cell in ends) > JOINS else None
    joins = [(life, at, born[into, at]) for life, at, cell in ends for into in cell.into[:each] if (into, at) in born]
    drawn.bezier(
        x0=[at - 0.8 for _, at, _ in joins], y0=[row[life.manifest_path] for life, *_ in joins],
        x1=[at - 0.2 for _, at, _ in joins], y1=[into for *_, into in joins],
        cx0=[at - 0.3 for _, at, _ in joins], cy0=[row[life.manifest_path] for life, *_ in joins],
        cx1=[at - 0.7 for _, at, _ in joins], cy1=[into for *_, into in joins],
        line_color=ENDS["merged"][1], line_width=1.6 if line > 8 else 0.8, line_alpha=0.8,
    )  # fmt: skip
    marks = drawn.scatter(
        "x", "y", marker="mark", size=max(4, min(10, line)), fill_color="colour", line_color="colour", line_width=2,
        legend_group="state",
        source={
            "x": [at - 0.72 for _, at, _ in ends], "y": [row[life.manifest_path] for life, *_ in ends],
            "mark": [MARKERS[ENDS[cell.state][0]] for *_, cell in ends], "state": [cell.state for *_, cell in ends],
            "colour": [ENDS[cell.state][1] for *_, cell in ends],
            "name": [inert(clean(shorten(life.manifest, NAME))) for life, *_ in ends],
            "told": [f"{cell.state} by {cell.snapshot}: {inert(clean(cell.reason))}" for *_, cell in ends],
        },
    )  # fmt: skip
    hover(drawn, [bars, marks], "name", "told")
    clicks(drawn, bars, [run[-1] for run in runs], lambda cell: chosen(cell.snapshot_id, cell.manifest_path))
    legend_above(drawn)
    snapshots_across(drawn, snapshots)
    lanes_down(drawn, [shorten(clean(life.manifest), 26) for life in drawn_lives], NAMED, "manifests")
    return drawn


def _run_words(snapshots: Sequence[str], first: int, last: int, cell: LifecycleCell) -> str:
    listed = f"listed by {snapshots[first]}" + (f" to {snapshots[last]}" if last > first else "")
    if None in (cell.added, cell.existing, cell.deleted):
        return f"{listed}; its entries are not counted in the list"
    return f"{listed}: {cell.added:,} added, {cell.existing:,} existing, {cell.deleted:,} deleted entries"


def lifeline_words(cells: Sequence[LifecycleCell]) -> str:
    """The same in words, for who cannot see it."""
    snapshots, drawn_lives = lives(cells)
    ends = Counter(cell.state for life in drawn_lives for _, cell in life.ends)
    became = ", ".join(f"{number:,} {state}" for state, number in ends.items()) or "none rewritten or dropped"
    return f"{count(len(drawn_lives), 'manifest')} by {count(len(snapshots), 'snapshot')}: {became}"
