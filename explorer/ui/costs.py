"""What each commit wrote, as stacked bars: files, and below them metadata, drawn by Bokeh."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import Any

from bokeh.models import AdaptiveTicker, NumeralTickFormatter, Range1d
from bokeh.models.annotations import BoxAnnotation, Label
from bokeh.plotting import figure

from explorer.graph.vocabulary import KINDS
from explorer.render.history import WRITTEN, bytes_by_part
from explorer.render.text import clean
from explorer.spec.commits.costs import RunCost
from explorer.spec.text.units import count, human_bytes
from explorer.ui.figures import clicks, hover, inert, legend_above, quiet, snapshots_across, wheel

HEIGHT, AXIS, SAID, FEW, BROAD = 130, 26, 20, 8, 0.25
"""Heights in pixels: of a figure's bars, and of the names below them; commits told in words; bars that there is room
for; the share of the bars that has room for a few words."""
KIND = {
    "data files": "data_file", "delete files": "position_deletes", "manifests": "data_manifest",
    "manifest list": "manifest_list", "metadata.json": "metadata",
}  # fmt: skip
HATCH = {"delete files": "right_diagonal_line", "manifest list": "dot", "metadata.json": "left_diagonal_line"}


def costs_figures(run: RunCost, chosen: Callable[[int], None]) -> list[Any]:
    """The figures, by the same commits; `chosen` is called with the snapshot of the commit that is clicked."""
    number = len(run.commits)
    span = Range1d(start=-0.6, end=max(number, FEW) - 0.4)
    return [_stacked(run, what, span, what == "metadata", chosen) for what in WRITTEN]


def _stacked(run: RunCost, what: str, span: Range1d, named: bool, chosen: Callable[[int], None]) -> Any:
    drawn: Any = figure(
        height=HEIGHT + 30 + (AXIS if named else 0), sizing_mode="stretch_width", x_range=span,
        tools="box_zoom,reset,save", outline_line_color=None,
        min_border_left=96, min_border_right=24, min_border_top=2, min_border_bottom=4,
    )  # fmt: skip
    quiet(drawn, f"commits-{what}")
    wheel(drawn, "width")
    drawn.y_range.start = 0
    sizes = [bytes_by_part(cost) for cost in run.commits]
    below, stacks = [0] * len(sizes), []
    told = [inert(clean(f"{cost.snapshot}: {cost.operation or '?'}")) for cost in run.commits]
    for part in WRITTEN[what]:
        above = [start + (size[part] or 0) for start, size in zip(below, sizes, strict=True)]
        data = {
            "x": list(range(len(sizes))), "bottom": below, "top": above, "name": told,
            "told": ["; ".join(f"{p} {human_bytes(size[p])}" for p in WRITTEN[what]) for size in sizes],
        }  # fmt: skip
        stacks.append(drawn.vbar(
            x="x", bottom="bottom", top="top", width=0.8 if len(sizes) < 200 else 1.0, source=data, line_color=None,
            fill_color=KINDS[KIND[part]].color, hatch_pattern=HATCH.get(part, " "), hatch_color="#ffffff",
            hatch_alpha=0.35, hatch_scale=9, legend_label=part, nonselection_alpha=1,
        ))  # fmt: skip
        below = above
    for part in WRITTEN[what]:
        for first, end in _spans([size[part] is None for size in sizes]):
            _unknown(drawn, f"{part}: gone, size not known", first, end, BROAD * max(len(sizes), FEW))
    hover(drawn, stacks, "name", "told")
    for stack in stacks:
        clicks(drawn, stack, run.commits, lambda cost: chosen(cost.snapshot_id))
    legend_above(drawn)
    snapshots_across(drawn, [cost.snapshot for cost in run.commits])
    drawn.xaxis.visible = named
    drawn.yaxis.ticker = AdaptiveTicker(base=1024, mantissas=[2**n for n in range(10)], desired_num_ticks=4)
    drawn.yaxis.formatter = NumeralTickFormatter(format="0.[0] ib")
    drawn.yaxis.axis_label, drawn.yaxis.axis_label_standoff = f"{what} written", 8
    drawn.xgrid.grid_line_color = None
    return drawn


def _spans(unknown: Sequence[bool]) -> Iterator[tuple[int, int]]:
    """The first and the end of each run of commits of which something is not known."""
    at = 0
    for is_unknown, run in groupby(unknown):
        end = at + len(list(run))
        if is_unknown:
            yield at, end
        at = end


def _unknown(drawn: Any, said: str, first: int, end: int, broad: float) -> None:
    """Tint commits whose bars are too low by what is not known; say so where there is room for it."""
    tint: dict[str, Any] = {"fill_color": "gray", "fill_alpha": 0.12, "line_color": None, "level": "underlay"}
    drawn.add_layout(BoxAnnotation(left=first - 0.5, right=end - 0.5, **tint))
    if end - first >= broad:
        look: dict[str, Any] = {"text_align": "center", "text_color": "gray", "text_font_size": "12px"}
        drawn.add_layout(Label(x=(first + end - 1) / 2, y=HEIGHT - 22, y_units="screen", text=said, **look))


def costs_words(run: RunCost) -> str:
    """The same in words, for who cannot see it."""
    last = run.commits[-SAID:]
    each = (
        f"{cost.snapshot}: " + ", ".join(f"{part} {human_bytes(size)}" for part, size in bytes_by_part(cost).items())
        for cost in last
    )
    return f"bytes written by the last {len(last)} of {count(len(run.commits), 'commit')}. {'; '.join(each)}"
