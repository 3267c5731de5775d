"""Bars and tiles as Bokeh draws them, in the page's theme. Labels come from tables: they are text, never TeX or
HTML."""

from __future__ import annotations

import math
from base64 import b64encode
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from bokeh.models import CustomAction, FixedTicker, HoverTool, NoOverlap, PlainText, SaveTool, TapTool, WheelZoomTool
from bokeh.models.annotations import Span
from bokeh.plotting import figure

from explorer.render.health import amount, bar_words
from explorer.render.text import clean
from explorer.spec.health.measures import Bars, Tile
from explorer.spec.text.names import shorten
from explorer.spec.text.units import count, human_bytes

COLOURS = ("#3d8fd1", "#e08a2e")
MARK = "#d6409f"
SHADES = ("#5d7488", "#4a6c9c", "#4160ad", "#4f4bb4", "#6d33b8")
"""Of tiles: by the share of files that merging would save, from none to all. Whether that is bad the measures say."""
SVG = (
    "data:image/svg+xml;base64,"
    + b64encode(
        b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24"><text x="12" y="16" font-family="sans-serif" '
        b'font-size="11" font-weight="700" text-anchor="middle" fill="#a1a6a9">SVG</text></svg>'
    ).decode()
)
"""The sign of the tool that saves one."""
LONG, HEIGHT = 11, 210
FEW, TICKS, SNAPSHOTS = 6, 12, 20
"""Upright bars for which there is room at least; labels of them, and snapshots on an axis, that fit beside each
other."""


def bars_figure(bars: Bars, width: int) -> Any:
    """Bars, upright, or lying where labels are long; two series stand beside each other, what each is in the legend."""
    lying = max(len(text) for text in bars.labels) > LONG
    number, several = len(bars.labels), len(bars.series)
    most = max((v for values in bars.series.values() for v in values), default=0) or 1
    places, values = (-0.6, max(number, 3 if lying else FEW) - 0.4), (0, most * 1.06)
    across, up = (values, places[::-1]) if lying else (places, values)
    drawn = _figure(bars.title, width, 60 + 22 * max(number, 3) if lying else HEIGHT, across, up)
    thick = 0.8 / several
    for at, (name, each) in enumerate(bars.series.items()):
        middles = [i + (at - (several - 1) / 2) * thick for i in range(number)]
        data = {
            "place": middles, "value": list(each), "label": [clean(text) for text in bars.labels],
            "told": [bar_words(bars, name, i) for i in range(number)],
        }  # fmt: skip
        look: dict[str, Any] = {"fill_color": COLOURS[at], "line_color": None}
        if several > 1:
            look["legend_label"] = name
        if lying:
            drawn.hbar(y="place", right="value", height=thick * 0.92, source=data, **look)
        else:
            drawn.vbar(x="place", top="value", width=thick * 0.92, source=data, **look)
    drawn.add_tools(HoverTool(tooltips=[("", "@label"), ("", "@told")], visible=False))
    axes: tuple[Any, Any] = (drawn.yaxis, drawn.xaxis) if lying else (drawn.xaxis, drawn.yaxis)
    labels, scale = axes
    step = 1 if lying else -(-number // TICKS)
    labels.ticker = FixedTicker(ticks=list(range(0, number, step)))
    labels.major_label_overrides = {
        i: PlainText(text=shorten(clean(bars.labels[i]), 30)) for i in range(0, number, step)
    }
    ticks = _ticks(most, bars.unit)
    scale.ticker = FixedTicker(ticks=ticks)
    scale.major_label_overrides = {v: amount(v, bars.unit) for v in ticks}
    if bars.marked is not None:
        drawn.add_layout(
            Span(location=bars.marked, dimension="width" if lying else "height", line_color=MARK, line_dash="dashed",
                 line_width=2)
        )  # fmt: skip
    for axis in (drawn.xaxis, drawn.yaxis):
        axis.major_label_text_font_size, axis.minor_tick_line_color = "11px", None
    drawn.min_border_right = 30
    labels.axis_line_color = labels.major_tick_line_color = None
    (drawn.ygrid if lying else drawn.xgrid).grid_line_color = None
    legend_above(drawn)
    return drawn


def _figure(name: str, width: int, height: int, across: tuple[float, ...], up: tuple[float, ...]) -> Any:
    """An empty figure, which does not scroll."""
    look: Any = {"x_range": across, "y_range": up, "tools": "save", "outline_line_color": None}
    drawn: Any = figure(width=width, height=height, **look)
    quiet(drawn, name)
    return drawn


def quiet(drawn: Any, name: str) -> None:
    """Have a figure show its tools only under the mouse: two of them save it as a picture of this name, as PNG and as
    SVG (static/figures.js, which knows the tool by its description)."""
    drawn.toolbar.autohide, drawn.toolbar.logo = True, None
    drawn.name = name
    drawn.select_one(SaveTool).filename = name  # or else a page asks for one
    drawn.add_tools(CustomAction(description="Save as SVG", icon=SVG))


def wheel(drawn: Any, dimensions: Any = "both") -> None:
    """Have Ctrl and the mouse's wheel zoom."""
    drawn.add_tools(WheelZoomTool(modifiers="ctrl", dimensions=dimensions, visible=False))


def hover(drawn: Any, renderers: Sequence[Any], *fields: str) -> None:
    """Have the mouse tell these fields of what is under it."""
    tips = [("", f"@{name}") for name in fields]
    drawn.add_tools(HoverTool(tooltips=tips, renderers=list(renderers), visible=False))


T = TypeVar("T")


def clicks(drawn: Any, renderer: Any, items: Sequence[T], chosen: Callable[[T], None]) -> None:
    """Have a click on something call `chosen` with the one of `items` that it is of."""

    def tapped(_: str, __: Any, indices: list[int]) -> None:
        if indices and indices[0] < len(items):
            renderer.data_source.selected.indices = []  # or else the same one again would be no change
            chosen(items[indices[0]])

    renderer.data_source.selected.on_change("indices", tapped)
    taps = drawn.select_one(TapTool) or TapTool(renderers=[], visible=False)  # of two a figure heeds one
    taps.renderers = [*taps.renderers, renderer]
    if taps not in drawn.tools:
        drawn.add_tools(taps)


def snapshots_across(drawn: Any, names: Sequence[str]) -> None:
    """Name the snapshots below, as many as there is room for, and where these are many only by their numbers; axes have
    no lines."""
    step = max(1, -(-len(names) // SNAPSHOTS))
    columns = list(range(0, len(names), step))
    short = len(columns) > SNAPSHOTS // 2
    drawn.xaxis.ticker = FixedTicker(ticks=columns)
    drawn.xaxis.major_label_overrides = {
        at: PlainText(text=names[at].removeprefix("snapshot-") if short else names[at]) for at in columns
    }
    drawn.xaxis.major_label_policy = NoOverlap()  # of a narrow page
    drawn.axis.major_label_text_font_size, drawn.axis.minor_tick_line_color = "12px", None
    drawn.axis.axis_line_color = drawn.axis.major_tick_line_color = None


def lanes_down(drawn: Any, names: Sequence[str], most: int, what: str) -> None:
    """Name the lanes at the left; where they are more than `most`, say how many there are."""
    few = len(names) <= most
    drawn.yaxis.ticker = FixedTicker(ticks=list(range(len(names))) if few else [])
    drawn.yaxis.major_label_overrides = {at: PlainText(text=text) for at, text in enumerate(names)} if few else {}
    if not few:
        drawn.yaxis.axis_label = f"{len(names):,} {what}, the oldest above"


def legend_above(drawn: Any) -> None:
    """The legend, if there is one, in a line above the figure."""
    if not drawn.legend:
        return
    legend = drawn.legend[0]
    legend.orientation, legend.label_text_font_size, legend.padding, legend.margin = "horizontal", "11px", 0, 0
    legend.background_fill_alpha = legend.border_line_alpha = 0
    drawn.add_layout(legend, "above")


def _ticks(most: float, unit: str) -> list[float]:
    """A few round numbers up to the largest."""
    base = 1024 if unit == "bytes" else 1000
    power = base ** math.floor(math.log(most, base))
    steps = (power * part * ten for ten in (0.1, 1, 10, 100) for part in (1, 2, 5))
    step = next(s for s in steps if most / s <= 5 and (unit == "share" or s >= 1))
    return [step * i for i in range(int(most / step) + 1)]


def tiles_figure(tiles: Sequence[Tile], width: int, height: int) -> Any:
    """Partitions as rectangles as large as their bytes, coloured by the share of their files that merging small ones
    would save."""
    places = squarified([max(tile.bytes, 1) for tile in tiles], width, height)
    drawn = _figure("partitions", width, height, (0, width), (height, 0))
    drawn.min_border = 0
    data = {
        "left": [p[0] for p in places], "top": [p[1] for p in places], "right": [p[0] + p[2] for p in places],
        "bottom": [p[1] + p[3] for p in places], "colour": [shade(tile) for tile in tiles],
        "label": [clean(tile.label) for tile in tiles],
        "told": [told(tile) for tile in tiles],
    }  # fmt: skip
    quads = drawn.quad(
        left="left", top="top", right="right", bottom="bottom", fill_color="colour", line_color="#ffffff", line_width=1,
        source=data,
    )  # fmt: skip
    named = [i for i, (_, _, wide, high) in enumerate(places) if wide > 50 and high > 18]
    drawn.text(
        x=[places[i][0] + 4 for i in named], y=[places[i][1] + 4 for i in named],
        text=[inert(_fitting(clean(tiles[i].label), int(places[i][2] // 6.5))) for i in named],
        text_font_size="11px", text_color="#ffffff", text_baseline="top",
    )  # fmt: skip
    drawn.add_tools(HoverTool(tooltips=[("", "@label"), ("", "@told")], renderers=[quads], visible=False))
    drawn.axis.visible = drawn.grid.visible = False
    return drawn


def _fitting(label: str, most: int) -> str:
    """As much of a partition's path as there is room for: its last value that is not null first."""
    if len(label) <= most:
        return label
    values = [part.rpartition("=")[2] for part in label.split("/")]
    return shorten(([value for value in values if value != "null"] or values)[-1], most)


def shade(tile: Tile) -> str:
    """A tile's colour."""
    return SHADES[round(tile.saved / tile.files * (len(SHADES) - 1)) if tile.files else 0]


def shades_key() -> str:
    """What the colours of tiles say, as SVG."""
    squares = "".join(
        f'<rect x="{70 + 26 * at}" y="3" width="24" height="12" fill="{colour}"/>' for at, colour in enumerate(SHADES)
    )
    right = 78 + 26 * len(SHADES)
    return (
        '<svg width="460" height="18" font-size="12" fill="currentColor" role="img" aria-label="colours of partitions">'
        f'<text x="0" y="13">saves none</text>{squares}'
        f'<text x="{right}" y="13">all of its files, by merging small ones</text></svg>'
    )


def told(tile: Tile) -> str:
    """A tile in words."""
    several = f" of {count(tile.partitions, 'partition')}" if tile.partitions > 1 else ""
    return f"{human_bytes(tile.bytes)} in {count(tile.files, 'file')}{several}; merging saves {tile.saved:,}"


def inert(text: str) -> str:
    """Text that Bokeh does not take for TeX."""
    return text.replace("$$", "$\u200a$").replace("\\[", "\\\u200a[").replace("\\(", "\\\u200a(")


Place = tuple[float, float, float, float]


def squarified(sizes: Sequence[float], width: float, height: float) -> list[Place]:
    """Rectangles (left, top, width, height) for sizes in descending order, which fill a larger one and are as nearly
    square as rows of them allow (Bruls, Huizing, van Wijk: "Squarified Treemaps")."""
    scale = width * height / (sum(sizes) or 1)
    areas, places = [size * scale for size in sizes], list[Place]()
    left, top, at = 0.0, 0.0, 0
    while at < len(areas):
        side = min(width, height)
        end = at + 1
        while end < len(areas) and _worst(areas[at : end + 1], side) <= _worst(areas[at:end], side):
            end += 1
        row = areas[at:end]
        deep, along = sum(row) / side if side else 0.0, 0.0
        for area in row:
            long = area / deep if deep else 0.0
            places.append((left, top + along, deep, long) if width >= height else (left + along, top, long, deep))
            along += long
        if width >= height:
            left, width = left + deep, width - deep
        else:
            top, height = top + deep, height - deep
        at = end
    return places


def _worst(row: Sequence[float], side: float) -> float:
    """How far the rectangles of a row are from squares."""
    total = sum(row)
    return max(side * side * max(row) / total**2, total**2 / (side * side * min(row))) if total and side else 0.0
