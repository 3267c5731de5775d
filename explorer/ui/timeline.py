"""A row history as a timeline: each stored row as a bar over the snapshots in whose files it lies, by Bokeh."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from bokeh.models import Range1d
from bokeh.models.annotations import Span
from bokeh.plotting import figure

from explorer.graph.vocabulary import KINDS
from explorer.render.rows import plain
from explorer.render.text import clean
from explorer.spec.rows.row_versions import RowVersion, Stretch
from explorer.spec.text.names import base_name, shorten
from explorer.spec.text.units import count, second
from explorer.ui.figures import (
    COLOURS,
    MARK,
    clicks,
    hover,
    inert,
    lanes_down,
    legend_above,
    quiet,
    snapshots_across,
    wheel,
)

DRAWN, NAMED = 200, 30
"""Rows that are drawn, rows of which each has its values at the side."""
ROW, MOST, FRAME = 30, 480, 76
"""Heights in pixels: of a row, of all of them, and of what is around them."""
WIDE, LETTER, VALUES = 700, 6.6, 34
MARKS = {
    "was there": "circle_dot", "appeared": "circle", "copied": "diamond", "changed": "square", "deleted": "x",
    "came back": "triangle", "left": "inverted_triangle",
}  # fmt: skip


def timeline(
    versions: Sequence[RowVersion],
    snapshots: Sequence[tuple[int, str]],
    asked: int,
    chosen: Callable[[str, int], None],
) -> Any:
    """The figure, of the first DRAWN rows. `snapshots` are ids and names, in order, `asked` is the id of the one asked
    about; `chosen` is called with the path of a data file, and a snapshot that lists it."""
    shown, names = versions[:DRAWN], [name for _, name in snapshots]
    number = max(len(shown), 2)
    drawn: Any = figure(
        height=FRAME + min(ROW * number, MOST), sizing_mode="stretch_width", tools="box_zoom,pan,reset,save",
        x_range=Range1d(start=-0.7, end=max(len(names), 4) - 0.3), y_range=Range1d(start=number - 0.3, end=-0.7),
        outline_line_color=None, min_border_right=24,
    )  # fmt: skip
    quiet(drawn, "fate")
    wheel(drawn)
    drawn.grid.grid_line_color = None
    stretches = [(row, version, each) for row, version in enumerate(shown) for each in version.stretches]
    bars = [
        _bars(drawn, some, snapshots, hidden, chosen)
        for hidden in (False, True)
        if (some := [s for s in stretches if bool(s[2].hidden_by) == hidden])
    ]
    marks = _marks(drawn, shown)
    hover(drawn, [*bars, marks], "name", "told")
    letters = WIDE / max(len(names), 4) / LETTER
    fit = [(row, v, s, shorten(clean(f"{base_name(v.file)}:{v.pos}"), int(letters * (s.last - s.first + 1)) - 3))
           for row, v, s in stretches if not s.hidden_by]  # fmt: skip
    if MOST / number >= 14:
        named = [each for each in fit if len(each[3]) > 8]
        drawn.text(
            x=[(s.first + s.last) / 2 for *_, s, _ in named], y=[row for row, *_ in named],
            text=[inert(text) for *_, text in named], text_font_size="11px", text_align="center",
            text_baseline="middle", text_color="#000000",
        )  # fmt: skip
    ids = [snapshot_id for snapshot_id, _ in snapshots]
    if asked in ids:
        drawn.add_layout(Span(location=ids.index(asked), dimension="height", line_color=MARK, line_dash="dashed"))
    legend_above(drawn)
    snapshots_across(drawn, names)
    lanes_down(drawn, [shorten(clean(values(version.row)), VALUES) for version in shown], NAMED, "stored rows")
    return drawn


def _bars(
    drawn: Any,
    stretches: Sequence[tuple[int, RowVersion, Stretch]],
    snapshots: Sequence[tuple[int, str]],
    hidden: bool,
    chosen: Callable[[str, int], None],
) -> Any:
    high = 0.16 if hidden else 0.36
    data = {
        "left": [s.first - 0.5 for *_, s in stretches], "right": [s.last + 0.5 for *_, s in stretches],
        "bottom": [row - high for row, *_ in stretches], "top": [row + high for row, *_ in stretches],
        "name": [inert(clean(values(v.row))) for _, v, _ in stretches],
        "told": [inert(clean(_stretch_words(v, s, snapshots))) for _, v, s in stretches],
    }  # fmt: skip
    kind = KINDS["position_deletes" if hidden else "data_file"].color
    bars = drawn.quad(
        left="left", right="right", bottom="bottom", top="top", source=data, fill_color=kind, line_color=kind,
        fill_alpha=0.3 if hidden else 0.9, hatch_pattern="right_diagonal_line" if hidden else " ", hatch_color=kind,
        hatch_scale=7, legend_label="stored, but hidden by a delete" if hidden else "seen by readers",
    )  # fmt: skip
    clicks(drawn, bars, stretches, lambda each: chosen(each[1].file, snapshots[each[2].last][0]))
    return bars


def _marks(drawn: Any, shown: Sequence[RowVersion]) -> Any:
    """What happened, where the snapshot that did it begins; rollbacks, which make none, in the middle of theirs."""
    events = [(row, at, event) for row, version in enumerate(shown) for at, event in version.events]
    data = {
        "x": [at - (0 if e.what in ("came back", "left") else 0.5) for _, at, e in events],
        "y": [row for row, *_ in events], "mark": [MARKS[e.what] for *_, e in events],
        "what": [e.what for *_, e in events],
        "name": [inert(clean(f"{e.snapshot}: {e.what}, {second(e.timestamp_ms)}")) for *_, e in events],
        "told": [inert(clean(e.words)) for *_, e in events],
    }  # fmt: skip
    return drawn.scatter(
        "x", "y", marker="mark", size=11, fill_color=COLOURS[0], line_color=MARK, line_width=1.5, source=data,
        legend_group="what",
    )  # fmt: skip


def values(row: Mapping[str, Any]) -> str:
    """A row's own columns as text."""
    return ", ".join(f"{name}={plain(value)}" for name, value in row.items() if not name.startswith("_"))


def _stretch_words(version: RowVersion, stretch: Stretch, snapshots: Sequence[tuple[int, str]]) -> str:
    first, last = snapshots[stretch.first][1], snapshots[stretch.last][1]
    where = f"at position {version.pos} of {base_name(version.file)}"
    when = f"in {first}" if first == last else f"from {first} to {last}"
    return f"{where}, {when}: " + (f"hidden by {stretch.hidden_by}" if stretch.hidden_by else "readers see it")


def timeline_words(versions: Sequence[RowVersion], snapshots: Sequence[tuple[int, str]]) -> str:
    """The same in words, for who cannot see it."""
    each = (
        f"{values(v.row)}: {', '.join(_stretch_words(v, s, snapshots) for s in v.stretches)}" for v in versions[:NAMED]
    )
    return f"{count(len(versions), 'stored row')} by {count(len(snapshots), 'snapshot')}. {'; '.join(each)}"
