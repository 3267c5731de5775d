"""Snapshots drawn to time: lineage as lanes, and below it what each added and removed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from bokeh.models import FixedTicker, PlainText, Range1d
from bokeh.plotting import figure

from explorer.graph.lanes import lanes
from explorer.graph.vocabulary import OPERATIONS
from explorer.render.health import amount
from explorer.render.overview import moment_row
from explorer.render.text import clean
from explorer.spec.health.measures import Unit
from explorer.spec.overview.overview import AMOUNTS, Overview, SnapshotCounts
from explorer.spec.text.names import shorten
from explorer.ui.figures import COLOURS, MARK, clicks, hover, inert, legend_above, quiet

DRAWN, NAMED, FEW = 1000, 12, 80
"""Snapshots that are drawn, and of them how many refs are named: the last ones; and how many may be large."""
SHAPES = {"append": "circle", "overwrite": "square", "delete": "inverted_triangle", "replace": "diamond"}
OTHER = "#7a8594"
LEFT, RIGHT = 66, 24
LETTER = 7
"""Pixels of a letter of a label, at most."""
STRIP, APART, LABEL, AXIS = 58, 8, 16, 66
"""Heights in pixels: of a strip, between two, of a label and of the axis."""


def moments_figures(told: Overview, chosen: Callable[[int], None]) -> list[Any]:
    """The lineage, and a strip each for rows, files and bytes, above one another by the same time; `chosen` is called
    with the snapshot that is clicked."""
    shown = [m for m in told.moments if m.entry.timestamp_ms is not None][-DRAWN:]
    times = [float(m.entry.timestamp_ms or 0) for m in shown]
    first, last = (min(times), max(times)) if times else (0.0, 1.0)
    room = (last - first) * 0.03 or 500.0  # around a single one
    span = Range1d(start=first - room, end=last + room)
    drawn = [_lineage(told, shown, times, span, chosen)]
    strips = [_strip(what, shown, times, span, bottom=what == AMOUNTS[-1]) for what in AMOUNTS]
    drawn += [strip for strip, _ in strips]
    left = max(LEFT, *(LETTER * letters + 12 for _, letters in strips))
    for panel in drawn:  # the same for all, or a bar would stand below another commit's time
        panel.min_border_left = left
    return drawn


def _frame(name: str, height: int, span: Range1d, **more: Any) -> Any:
    drawn = figure(
        height=height, x_range=span, x_axis_type="datetime", sizing_mode="stretch_width", tools="xbox_zoom,reset,save",
        outline_line_color=None, min_border_left=LEFT,
        min_border_right=RIGHT, min_border_top=2, min_border_bottom=2, **more,
    )  # fmt: skip
    quiet(drawn, name)
    drawn.xgrid.grid_line_color = None
    drawn.axis.major_label_text_font_size, drawn.axis.minor_tick_line_color = "11px", None
    drawn.axis.axis_line_color = drawn.axis.major_tick_line_color = None
    return drawn


def _lineage(
    told: Overview,
    shown: Sequence[SnapshotCounts],
    times: Sequence[float],
    span: Range1d,
    chosen: Callable[[int], None],
) -> Any:
    entries = [m.entry for m in shown]
    lane = dict(zip((e.snapshot_id for e in reversed(entries)), (row.lane for row in lanes(entries)), strict=True))
    most = max(lane.values(), default=0)
    drawn = _frame("snapshots", 62 + 24 * min(most + 1, 8), span, y_range=(most + 0.6, -0.9))
    drawn.yaxis.visible = drawn.xaxis.visible = False
    drawn.ygrid.grid_line_color = None
    at = {e.snapshot_id: (x, lane[e.snapshot_id]) for e, x in zip(entries, times, strict=True)}
    edges = [(at[e.parent_snapshot_id], at[e.snapshot_id]) for e in entries if e.parent_snapshot_id in at]
    drawn.segment(
        x0=[a[0] for a, _ in edges], y0=[a[1] for a, _ in edges], x1=[b[0] for _, b in edges],
        y1=[b[1] for _, b in edges], line_color=OTHER, line_width=2,
    )  # fmt: skip
    rows, few = [moment_row(m) for m in shown], len(shown) <= FEW
    data: dict[str, Any] = {name: [inert(clean(row[name])) for row in rows] for name in ("name", "when", "did", "refs")}
    data |= {
        "x": times, "y": [lane[e.snapshot_id] for e in entries],
        "colour": [OPERATIONS.get(e.operation or "", OTHER) for e in entries],
        "shape": [SHAPES.get(e.operation or "", "hex") for e in entries],
        "operation": [inert(clean(row["operation"])) for row in rows],
        "size": [15 if e.snapshot_id == told.snapshot_id else 10 if few else 6 for e in entries],
    }  # fmt: skip
    points = drawn.scatter(
        "x", "y", marker="shape", size="size", fill_color="colour", line_color=None, source=data,
        legend_group="operation", nonselection_alpha=1, nonselection_line_alpha=1,
    )  # fmt: skip
    named = [(e, x) for e, x in zip(entries, times, strict=True) if e.refs][-NAMED:]
    drawn.text(
        x=[x for _, x in named], y=[lane[e.snapshot_id] - 0.3 for e, _ in named],
        text=[inert(shorten(clean(", ".join(r.partition(" ")[2] for r in e.refs)), 28)) for e, _ in named],
        text_font_size="11px", text_align="center", text_baseline="bottom", text_color=MARK,
    )  # fmt: skip
    odd = [e for e in told.log if e.how not in ("commit", "expired") and e.snapshot_id in at]
    turned = drawn.scatter(
        "x", "y", marker="asterisk", size=11, line_color=MARK, line_width=2,
        source={
            "x": [float(e.timestamp_ms) for e in odd], "y": [at[e.snapshot_id][1] for e in odd],
            "how": [e.how for e in odd], "why": [inert(clean(e.reason)) for e in odd],
        },
    )  # fmt: skip
    hover(drawn, [points], "name: @operation", "when", "did", "refs")
    hover(drawn, [turned], "how: @why")
    clicks(drawn, points, entries, lambda entry: chosen(entry.snapshot_id))
    legend_above(drawn)
    for legend in drawn.legend:
        legend.glyph_height = legend.glyph_width = 14
    return drawn


def _strip(
    what: str, shown: Sequence[SnapshotCounts], times: Sequence[float], span: Range1d, bottom: bool
) -> tuple[Any, int]:
    """What each snapshot added (up) and removed (down), and the letters of the longest label. A snapshot whose summary
    records neither has a cross."""
    unit: Unit = "bytes" if what == "bytes" else ""
    up, down = ([float(side[what] or 0) for side in sides] for sides in
                ([m.added for m in shown], [m.removed for m in shown]))  # fmt: skip
    most, least = max(up, default=0.0), max(down, default=0.0)
    top = max(most, least) or 1.0
    drawn = _frame(
        what,
        STRIP + APART + (AXIS if bottom else 0),
        span,
        y_range=(-1.15 * least - 0.08 * top, 1.15 * most + 0.08 * top),
    )
    drawn.min_border_top = APART
    wide = max(2, min(9, 420 // max(len(shown), 1)))
    told = [inert(clean(moment_row(m)["did"])) for m in shown]
    names = [m.entry.snapshot for m in shown]
    bars = []
    for sign, values, colour in ((1, up, COLOURS[0]), (-1, down, COLOURS[1])):
        some = [i for i, v in enumerate(values) if v]
        data = {"x": [times[i] for i in some], "v": [sign * values[i] for i in some], "name": [names[i] for i in some],
                "did": [told[i] for i in some]}  # fmt: skip
        bars.append(drawn.segment(x0="x", x1="x", y0=0, y1="v", line_color=colour, line_width=wide, source=data))
    hover(drawn, bars, "name: @did")
    unknown = [i for i, m in enumerate(shown) if m.added[what] is None and m.removed[what] is None]
    if unknown:
        data = {"x": [times[i] for i in unknown], "y": [0.0] * len(unknown), "name": [names[i] for i in unknown]}
        crosses = drawn.scatter("x", "y", marker="x", size=8, line_color=OTHER, line_width=2, source=data)
        hover(drawn, [crosses], "name: its summary records no " + what)
    drawn.xaxis.visible = bottom
    apart = LABEL / STRIP * 1.2 * (most + least)  # labels that are nearer than that would lie over each other
    ticks = sorted({0.0, *(v for v in (-least, most) if abs(v) >= apart)})
    drawn.yaxis.ticker = FixedTicker(ticks=ticks)
    labels = {v: f"{'−' if v < 0 else '+'}{amount(abs(v), unit)}" if v else what for v in ticks}
    drawn.yaxis.major_label_overrides = {v: PlainText(text=label) for v, label in labels.items()}
    drawn.ygrid.ticker = FixedTicker(ticks=[0.0])
    return drawn, max(map(len, labels.values()))


def moments_words(told: Overview) -> str:
    """The same in words, for who cannot see it."""
    rows = [moment_row(m) for m in told.moments[-NAMED:]]
    each = "; ".join(f"{r['name']} {r['operation']} at {r['when']}: {r['did']}, {r['refs']}" for r in rows)
    return f"snapshots in time, the last {len(rows)} of {len(told.moments):,}. {each}"
