"""Deletes above the data files that they apply to, by data sequence number, drawn by Bokeh."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from bokeh.models import FixedTicker, PlainText, Range1d
from bokeh.plotting import figure

from explorer.graph.vocabulary import KINDS
from explorer.render.text import clean
from explorer.spec.deletes.delete_layers import ORDER, OTHERS, Layer
from explorer.spec.deletes.deletes import KIND_WORDS
from explorer.spec.text.names import base_name, natural, shorten
from explorer.spec.text.units import count, human_bytes
from explorer.ui.figures import clicks, hover, inert, legend_above, quiet, wheel

ROW, MOST, FRAME = 26, 560, 90
"""Heights in pixels: of a layer, of all of them, and of what is around them."""
LABELS, TICKS, WIDE, LETTER = 26, 24, 1000, 6.6
"""Partitions, and sequence numbers, that are named; the width that texts are fitted to, and that of one letter."""
GAP, EDGE = 0.35, "#8a7d6a"
HATCH = {"equality_deletes": "horizontal_line", "position_deletes": "right_diagonal_line", "deletion_vector": "dot"}
SHORT = {"equality_deletes": "equality", "position_deletes": "position", "deletion_vector": "vector"}

Box = tuple[Layer, float, float, int]
"""A layer, its left and right, and its row from below."""


def placed(layers: Sequence[Layer]) -> tuple[list[Box], dict[str, tuple[float, float]], dict[int, tuple[int, int]]]:
    """(each layer's box, left and right of each partition, first row of each sequence number and the one after its
    last). What overlaps with another of its kind and number stands above it, so that no delete hides another."""
    slots: dict[str, dict[str, int]] = {}
    for layer in layers:
        if layer.partition is not None:
            mine = slots.setdefault(layer.partition, {})
            if layer.data_file is not None:
                mine.setdefault(layer.data_file, len(mine))
    columns, x = dict[str, tuple[float, float]](), 0.0
    for name in sorted(slots, key=lambda name: (name.endswith(OTHERS), natural(name))):
        columns[name] = (x, x + max(1, len(slots[name])))
        x = columns[name][1] + GAP
    end = max(x - GAP, 1.0)
    boxes, bands, row, height = list[Box](), dict[int, tuple[int, int]](), 0, None
    free: list[list[tuple[float, float]]] = []
    for layer in layers:
        if layer.height != height:
            row, free, height = row + len(free), [], layer.height
        left, right = columns.get(layer.partition, (0.0, end)) if layer.partition is not None else (0.0, end)
        if layer.partition is not None and layer.data_file is not None:
            left += slots[layer.partition][layer.data_file]
            right = left + 1
        at = next((i for i, taken in enumerate(free) if all(b <= left or a >= right for a, b in taken)), len(free))
        free[at:at] = [[]] if at == len(free) else []
        free[at].append((left, right))
        boxes.append((layer, left, right, row + at))
        number = layer.height[0]
        first, after = bands.get(number, (row, row))
        bands[number] = (first, max(after, row + at + 1))
    return boxes, columns, bands


def layers_figure(layers: Sequence[Layer], chosen: Callable[[str], None]) -> Any:
    """The figure; `chosen` is called with the path of the file that is clicked, or of the first of several."""
    boxes, columns, bands = placed(layers)
    rows = max((after for _, after in bands.values()), default=1)
    end = max((right for *_, right, _ in boxes), default=1.0)
    drawn: Any = figure(
        height=FRAME + min(ROW * max(rows, 3), MOST), sizing_mode="stretch_width", tools="box_zoom,pan,reset,save",
        x_range=Range1d(start=-0.02 * end, end=1.02 * end), y_range=Range1d(start=-0.1, end=max(rows, 3) + 0.1),
        outline_line_color=None, min_border_right=24,
    )  # fmt: skip
    quiet(drawn, "deletes")
    wheel(drawn)
    drawn.grid.grid_line_color = None
    striped = list(bands.values())[::2]
    drawn.quad(
        left=-0.02 * end, right=1.02 * end, bottom=[first for first, _ in striped], top=[after for _, after in striped],
        fill_color="#7a8594", fill_alpha=0.12, line_color=None,
    )  # fmt: skip
    high = min(ROW, MOST / max(rows, 1))
    drawn_boxes = [
        _boxes(drawn, kind, [b for b in boxes if b[0].kind == kind], high > 12, chosen)
        for kind in ("data_file", *(k for k in ORDER if k != "data_file"))
    ]
    shown = [r for r in drawn_boxes if r is not None]
    hover(drawn, shown, "name", "told")
    if high > 14:
        fit = [(box, _label(box[0], int((box[2] - box[1]) / end * WIDE / LETTER) - 2)) for box in boxes]
        named = [(box, text) for box, text in fit if text]
        drawn.text(
            x=[(left + right) / 2 for (_, left, right, _), _ in named], y=[box[3] + 0.5 for box, _ in named],
            text=[inert(text) for _, text in named], text_font_size="11px", text_align="center", text_baseline="middle",
            text_color="#000000", background_fill_color="#ffffff", padding=2,
            background_fill_alpha=[0.7 if box[0].kind in HATCH or not box[0].applied else 0.0 for box, _ in named],
        )  # fmt: skip
    legend_above(drawn)
    _axes(drawn, columns, bands)
    return drawn


def _boxes(drawn: Any, kind: str, boxes: Sequence[Box], roomy: bool, chosen: Callable[[str], None]) -> Any:
    """The boxes of one kind; paler are data files without deletes, dashed deletes that apply to nothing."""
    if not boxes:
        return None
    apart = 0.06 if roomy else 0
    data = {
        "left": [left for _, left, *_ in boxes], "right": [right for *_, right, _ in boxes],
        "bottom": [row + apart for *_, row in boxes], "top": [row + 1 - apart for *_, row in boxes],
        "alpha": [1.0 if layer.applied else 0.45 for layer, *_ in boxes],
        "dash": ["solid" if layer.applied or kind == "data_file" else "dashed" for layer, *_ in boxes],
        "name": [inert(clean(_name(layer))) for layer, *_ in boxes],
        "told": [inert(clean(told(layer))) for layer, *_ in boxes],
    }  # fmt: skip
    made = drawn.quad(
        left="left", right="right", bottom="bottom", top="top", fill_alpha="alpha", line_dash="dash",
        fill_color=KINDS[kind].color, line_color="#ffffff" if kind == "data_file" else EDGE,
        line_width=1 if roomy else 0,
        hatch_pattern=HATCH.get(kind, " "), hatch_color="#3a2a10", hatch_alpha=0.45, hatch_scale=7,
        legend_label=KINDS[kind].title, source=data,
    )  # fmt: skip

    clicks(drawn, made, boxes, lambda box: chosen(box[0].path))
    return made


def _axes(drawn: Any, columns: dict[str, tuple[float, float]], bands: dict[int, tuple[int, int]]) -> None:
    middles = {(left + right) / 2: name for name, (left, right) in columns.items()}
    few = list(middles) if len(middles) <= LABELS else []
    heights = {(first + after) / 2: number for number, (first, after) in bands.items()}
    numbers = list(heights)[:: max(1, -(-len(heights) // TICKS))]
    drawn.xaxis.ticker, drawn.yaxis.ticker = FixedTicker(ticks=few), FixedTicker(ticks=numbers)
    room = max(4, int(WIDE / LETTER / max(len(few), 1)) - 1)
    drawn.xaxis.major_label_overrides = {
        x: PlainText(text=shorten(clean(middles[x]) or "(unpartitioned)", room)) for x in few
    }
    drawn.yaxis.major_label_overrides = {
        y: PlainText(text="unknown" if heights[y] < 0 else str(heights[y])) for y in numbers
    }
    drawn.yaxis.axis_label = "data sequence number"
    if not few:
        last = list(columns)[-1]
        more = f", the last {last}" if last.endswith(OTHERS) else ""
        drawn.xaxis.axis_label = inert(clean(f"{len(columns):,} columns, a partition each{more}"))
    drawn.axis.major_label_text_font_size, drawn.axis.minor_tick_line_color = "12px", None
    drawn.axis.axis_line_color = drawn.axis.major_tick_line_color = None


def _label(layer: Layer, letters: int) -> str:
    """As much of what it is as there is room for; nothing where that says nothing."""
    kind = f"{SHORT[layer.kind]} · " if layer.kind in SHORT else ""
    number = count(layer.rows, "row") if layer.files == 1 else count(layer.files, "file")
    texts = (f"{clean(base_name(layer.path))} · {kind}{number}", kind + number, number, f"{layer.files:,}")
    return next((text for text in (texts if layer.files == 1 else texts[1:]) if len(text) <= letters), "")


def _name(layer: Layer) -> str:
    return base_name(layer.path) if layer.files == 1 else f"{count(layer.files, 'file')}, first {base_name(layer.path)}"


def told(layer: Layer) -> str:
    """A layer in words."""
    where = "global" if layer.partition is None else layer.partition or "unpartitioned"
    size = f"{count(layer.rows, 'row')}, {human_bytes(layer.bytes)}"
    known = f"data sequence number {layer.sequence_number}"
    if layer.kind == "data_file":
        hit = "no delete applies" if not layer.applied else (
            "deletes apply" if layer.files == 1 else f"deletes apply to {layer.applied:,}")  # fmt: skip
        return f"{where}; {known}; {size}; {hit}"
    used = f"{layer.applied:,} of {layer.files:,} apply" if layer.files > 1 else (
        "it applies" if layer.applied else "it applies to no data file")  # fmt: skip
    return f"{KIND_WORDS[layer.kind]}, {where}; {known}; {size}; {used}"


def layers_words(layers: Sequence[Layer]) -> str:
    """The same in words, for who cannot see it."""
    each = "; ".join(f"{_name(layer)}: {told(layer)}" for layer in layers[:LABELS])
    return f"{count(len(layers), 'layer')} by data sequence number, from below. {each}"
