"""A map of all files of a snapshot: a cell each, as large as its bytes, or many together; drawn by Bokeh."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import groupby
from typing import Any

import panel as pn
import panel_material_ui as pmui
from bokeh.models import Range1d
from bokeh.plotting import figure

from explorer.graph.vocabulary import STATUSES
from explorer.render.file_map import age_words
from explorer.render.text import clean
from explorer.reports.file_map import file_map
from explorer.spec.layout.file_map import STATUS, VERDICTS, FileMap, MapCell, age_classes, size_classes
from explorer.spec.scan.plan import Plan
from explorer.spec.text.names import file_label, shorten
from explorer.spec.text.units import count, human_bytes
from explorer.table import Table
from explorer.ui.background import Job
from explorer.ui.figures import Place, clicks, hover, inert, legend_above, quiet, squarified, wheel
from explorer.ui.widgets import CHOICE, heading, plot

WIDE, HIGH, LETTER = 1000, 460, 6.6
"""Of the map: its pixels; it is stretched to the page's width. The width of a letter."""
TREE, NAMED = 600, 14
"""So many files are drawn as large as their bytes, by partition; the height that a name takes."""
SEVEN = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#7f6fb6")
"""Of partitions, in turn."""
SIX = ("#443983", "#31688e", "#21918c", "#35b779", "#90d743", "#fde725")
"""From little to much."""
OTHER = "#9aa5b4"
HATCH = {"ADDED": "dot", "DELETED": "diagonal_cross"}
MANY = {
    "status": "DELETED or ADDED if one of them is", "partition": "grey where they are of several", "size": "their mean",
    "age": "as old as the newest", "deletes": "as the one with the most", "verdict": "read if one of them is",
}  # fmt: skip
"""By what cells are coloured, and how those of many files are; by verdict where there is a plan."""
PLANNED = dict(
    zip(
        VERDICTS,
        (
            ("#e8ebef", "cross"),
            ("#c9b58f", " "),
            ("#7fb8a4", "dot"),
            ("#b79bd0", "right_diagonal_line"),
            ("#1565c0", " "),
        ),
        strict=True,
    )
)
"""Colour and hatch pattern by what a planned scan does."""
TOLD = 300
"""Letters of a file's or a partition's name that are told: there are thousands of cells."""
UNTOLD = "Unknown: the snapshot that added it has expired, or v1 does not say which one it was."
DELETES = {0: "no delete", 1: "1 delete", 2: "2", 5: "3 to 5", 10: "6 to 10"}
"""Classes of data files by the deletes that apply, by the most there are; more are the last class."""
Look = tuple[int, str, str, str]
"""The place among others, colour, hatch pattern and meaning of a class of cells."""


class FileMapPanel:
    """`view` has the files of a snapshot, and those that it removed. A click on a cell calls `chosen` with the path of
    its file; where it is of many, these are drawn. With `plan` cells tell what the scan does with their files. `lacks`
    says, once they are read, what could not be."""

    def __init__(
        self,
        table: Table,
        snapshot_id: int | None,
        chosen: Callable[[str], None],
        plan: Plan | None = None,
        lacks: Callable[[], str] = str,
    ) -> None:
        self._table, self._snapshot, self._chosen, self._plan, self._lacks = table, snapshot_id, chosen, plan, lacks
        ways = list(MANY)[::-1] if plan else [by for by in MANY if by != "verdict"]
        self._by = pmui.Select(label="colour by", options=ways, width=150, **CHOICE)
        self._all = pmui.Button(label="All files", variant="outlined", width=110, margin=(14, 6), visible=False)
        self._box = pn.Column(sizing_mode="stretch_both", scroll=True)
        self._job = Job(box=self._box)
        self._map: FileMap | None = None
        self._lack = ""
        self._counted, self._span = False, (0, 0)
        self._cells: Sequence[MapCell] = ()
        self._by.param.watch(lambda _: self._recolour(), "value")
        self._all.on_click(lambda _: self._look())
        self.view = pn.Column(pn.Row(self._by, self._all), self._job.view, self._box, sizing_mode="stretch_both")
        self._read(False)

    def _read(self, counted: bool) -> None:
        def made() -> tuple[FileMap, str]:
            return file_map(self._table, self._snapshot, plan=self._plan, deletes=counted), self._lacks()

        def show(answer: tuple[FileMap, str]) -> None:
            span = None if self._map is None else self._span
            (self._map, self._lack), self._counted = answer, counted
            self._look(span)

        self._job.start(made, show, "Holding deletes against data files…" if counted else "Placing files…")

    def _recolour(self) -> None:
        if self._by.value == "deletes" and not self._counted:
            self._read(True)
        else:
            self._draw()

    def _look(self, span: tuple[int, int] | None = None) -> None:
        """At some files of the map, or all."""
        if self._map is None:
            return
        everything = (0, len(self._map))
        span = span or everything

        def show(cells: Sequence[MapCell]) -> None:
            self._span, self._cells, self._all.visible = span, cells, span != everything
            self._draw()

        known = self._map
        work = partial(known.cells, *span) if span != everything else lambda: known.every
        self._job.start(work, show, "Adding up files…")  # also what is known: it takes the place of what was asked

    def _draw(self) -> None:
        """What is looked at."""
        if self._map is None:
            return
        cells, by = self._cells, self._by.value
        drawn = [plot(map_figure(cells, by, self._went), map_words(cells))] if cells else []
        none = "No files could be read." if self._lack else "This snapshot has no files."
        said = [heading(f"⚠ {self._lack}")] if self._lack else []
        told = _heading(self._map, cells, self._span, by) if cells else none
        self._box[:] = [*said, heading(told), *drawn]

    def _went(self, cell: MapCell) -> None:
        if cell.files == 1:
            self._chosen(cell.path)
        else:
            self._look((cell.first, cell.first + cell.files))


def _heading(known: FileMap, cells: Sequence[MapCell], span: tuple[int, int], by: str) -> str:
    counts = ", ".join(f"{number:,} {status}" for status, number in known.counts().items() if number)
    place = f"files {span[0] + 1:,} to {span[1]:,} of {len(known):,}" if span != (0, len(known)) else (
        f"{count(len(known), 'file')}: {counts}")  # fmt: skip
    more = f" {UNTOLD}" if by == "age" and any(cell.age_ms is None for cell in cells) else ""
    if cells[0].files > 1:
        return f"{place}. A cell is {cells[0].files:,} files, {MANY[by]}; click one to see these.{more}"
    size = "as large as its bytes" if len(cells) <= TREE else "all as large"
    return f"{place}. A cell is a file, {size}, partition by partition; click one to see it in the graph.{more}"


def _rows(cells: Sequence[MapCell]) -> tuple[int, int]:
    """Of many cells: how many lie beside each other, and how many rows that makes."""
    across = max(1, round((len(cells) * WIDE / HIGH) ** 0.5))
    return across, -(-len(cells) // across)


def ends(cells: Sequence[MapCell]) -> tuple[list[list[float]], list[list[float]]]:
    """Between partitions of many cells, if they fill two rows or more on the whole: the corners (x of each, y of each)
    of a line from the right edge down to the left one, as stairs are."""
    across, down = _rows(cells)
    wide, high = WIDE / across, HIGH / down
    xs, ys = [], []
    for at in _starts(cells)[1:]:
        left, top = at % across * wide, at // across * high
        xs.append([WIDE, left, left, 0.0] if left else [WIDE, 0.0])
        ys.append([top, top, top + high, top + high] if left else [top, top])
    return (xs, ys) if len(xs) <= down / 2 else ([], [])


def _starts(cells: Sequence[MapCell]) -> list[int]:
    """Of each partition, or each cell of several that follow each other, the first."""
    return [at for at in range(len(cells)) if not at or cells[at].partition != cells[at - 1].partition]


def _many(cells: Sequence[MapCell]) -> bool:
    return len(cells) > TREE or any(cell.files > 1 for cell in cells)


def map_figure(cells: Sequence[MapCell], by: str, chosen: Callable[[MapCell], None]) -> Any:
    """The figure, coloured by one of MANY; `chosen` is called with the cell that is clicked."""
    drawn: Any = figure(
        height=HIGH + 40, sizing_mode="stretch_width", tools="box_zoom,pan,reset,save",
        x_range=Range1d(start=0, end=WIDE), y_range=Range1d(start=HIGH, end=0),
        outline_line_color=None, min_border=4,
    )  # fmt: skip
    quiet(drawn, "files")
    drawn.axis.visible = drawn.grid.visible = False
    wheel(drawn)
    places, names = placed(cells)
    looks = _looks(cells, by)
    classes = sorted(set(looks))
    quads = []
    for look in classes:
        mine = [at for at, other in enumerate(looks) if other == look]
        quads.append(_cells(drawn, look, [(cells[at], places[at]) for at in mine], chosen, len(cells)))
    hover(drawn, quads, "name", "told")
    many = _many(cells)
    if many:
        xs, ys = ends(cells)
        for colour, width in (("#ffffff", 5), ("#20262e", 2)):
            drawn.multi_line(xs, ys, line_color=colour, line_width=width)
    room = [(name, box, int(box[2] / LETTER) - 1) for name, box in names if box[2] > 30]
    drawn.text(
        x=[left + 2 for _, (left, *_), _ in room], y=[top + NAMED / 2 for _, (_, top, *_), _ in room],
        text=[inert(shorten(clean(name) or "(unpartitioned)", letters)) for name, _, letters in room],
        text_font_size="11px", text_baseline="middle", text_color="#20262e" if many else "#7a8594",
        **({"background_fill_color": "#ffffff", "background_fill_alpha": 0.85, "padding": 2} if many else {}),
    )  # fmt: skip
    legend_above(drawn)
    return drawn


def _cells(
    drawn: Any, look: Look, mine: Sequence[tuple[MapCell, Place]], chosen: Callable[[MapCell], None], number: int
) -> Any:
    _, colour, hatch, meaning = look
    data = {
        "left": [p[0] for _, p in mine], "right": [p[0] + p[2] for _, p in mine], "top": [p[1] for _, p in mine],
        "bottom": [p[1] + p[3] for _, p in mine],
        "name": [inert(clean(_name(cell))) for cell, _ in mine], "told": [inert(clean(told(cell))) for cell, _ in mine],
    }  # fmt: skip
    quads = drawn.quad(
        left="left", right="right", top="top", bottom="bottom", source=data, fill_color=colour, line_color="#ffffff",
        line_width=1 if number <= TREE else 0.4, hatch_pattern=hatch, hatch_color="#ffffff", hatch_alpha=0.6,
        hatch_scale=10, nonselection_alpha=1, **({"legend_label": inert(meaning)} if meaning else {}),
    )  # fmt: skip
    clicks(drawn, quads, [cell for cell, _ in mine], chosen)
    return quads


def placed(cells: Sequence[MapCell]) -> tuple[list[Place], list[tuple[str, Place]]]:
    """(left, top, width and height of each cell; the same of each partition, by its name): few files as large as their
    bytes, in rectangles that are their partitions; many in rows of cells that are all as large, of partitions that fill
    as many rows as a name takes."""
    if _many(cells):
        return _in_rows(cells)
    groups = [(name or "", list(mine)) for name, mine in groupby(range(len(cells)), lambda at: cells[at].partition)]

    def size(at: int) -> int:
        return max(1, cells[at].bytes)

    groups.sort(key=lambda group: -sum(map(size, group[1])))
    boxes = squarified([sum(map(size, mine)) for _, mine in groups], WIDE, HIGH)
    places: dict[int, Place] = {}
    for (_, mine), (left, top, wide, high) in zip(groups, boxes, strict=True):
        mine.sort(key=size, reverse=True)
        head = NAMED if high > 2 * NAMED else 0
        inner = squarified([size(at) for at in mine], max(1.0, wide - 3), max(1.0, high - head - 3))
        places |= {at: (left + x, top + head + y, w, h) for at, (x, y, w, h) in zip(mine, inner, strict=True)}
    names = [(name, box) for (name, _), box in zip(groups, boxes, strict=True) if box[3] > 2 * NAMED]
    return [places[at] for at in range(len(cells))], names


def _in_rows(cells: Sequence[MapCell]) -> tuple[list[Place], list[tuple[str, Place]]]:
    across, down = _rows(cells)
    wide, high = WIDE / across, HIGH / down
    places = [(at % across * wide, at // across * high, wide, high) for at in range(len(cells))]
    starts = _starts(cells)
    whole = [
        (cells[first].partition, -(-first // across), down if end == len(cells) else end // across)
        for first, end in zip(starts, [*starts[1:], len(cells)], strict=True)
    ]  # rows that are a partition's alone: there is its name, if they have room for it
    return places, [
        (name, (0.0, row * high, WIDE / 2, (below - row) * high))
        for name, row, below in whole
        if name and (below - row) * high > NAMED
    ]


def _looks(cells: Sequence[MapCell], by: str) -> list[Look]:
    if by == "status":
        order = {status: at for at, status in enumerate(STATUS)}
        colours = {status: STATUSES[status].color for status in STATUS} | {"EXISTING": OTHER}
        return [(order[c.status], colours[c.status], HATCH.get(c.status, " "), c.status) for c in cells]
    if by == "partition":
        names = {name: at for at, name in enumerate(dict.fromkeys(c.partition for c in cells))}
        return [_of_partition(names, cell.partition) for cell in cells]
    if by == "size":
        sizes = [c.bytes // c.files for c in cells]
        bounds = size_classes(sizes)
        return [_size_class(bounds, size, cells[0].files > 1) for size in sizes]
    if by == "age":
        known = age_classes([c.age_ms for c in cells if c.age_ms is not None])
        return [_age_class(known, cell) for cell in cells]
    if by == "verdict":
        told = [cell.verdict or VERDICTS[0] for cell in cells]
        return [(VERDICTS.index(verdict), *PLANNED[verdict], verdict) for verdict in told]
    return [_delete_class(cell) for cell in cells]


def _of_partition(names: Mapping[str | None, int], name: str | None) -> Look:
    """Of many partitions the colours say only where one ends."""
    if name is None:
        return len(SEVEN), OTHER, " ", "files of several partitions"
    at = names[name] % len(SEVEN)
    meaning = shorten(clean(name), 18) or "unpartitioned"
    return at, SEVEN[at], " ", meaning if len(names) <= len(SEVEN) else ""


def _size_class(bounds: Sequence[int], size: int, mean: bool) -> Look:
    at = next((at for at, bound in enumerate(bounds) if size <= bound), len(bounds) - 1)
    place = at * (len(SIX) - 1) // max(1, len(bounds) - 1)
    return at, SIX[place], " ", f"up to {human_bytes(bounds[at])}{' on average' if mean else ''}"


def _age_class(bounds: Sequence[int], cell: MapCell) -> Look:
    if cell.age_ms is None:
        return len(bounds), OTHER, "right_diagonal_line", "unknown"
    at = bisect_left(bounds, cell.age_ms)
    place = at * (len(SIX) - 1) // max(1, len(bounds) - 1)
    return at, SIX[place], " ", f"{'up to ' if bounds[at] else ''}{age_words(bounds[at])}"


def _delete_class(cell: MapCell) -> Look:
    if cell.delete_files == cell.files:
        return -1, OTHER, "right_diagonal_line", "delete files"
    at = next((at for at, most in enumerate(DELETES) if (cell.deletes or 0) <= most), len(DELETES))
    return at, SIX[at] if at else OTHER, " ", [*DELETES.values(), "more than 10"][at]


def _name(cell: MapCell) -> str:
    name = file_label(cell.path, TOLD)
    return name if cell.files == 1 else f"{count(cell.files, 'file')}, the first {name}"


def told(cell: MapCell) -> str:
    """A cell in words."""
    where = "of several partitions" if cell.partition is None else shorten(cell.partition, TOLD) or "unpartitioned"
    kind = "" if not cell.delete_files else "delete file; " if cell.files == 1 else (
        f"{count(cell.delete_files, 'delete file')}; ")  # fmt: skip
    status = f"some {cell.status}" if cell.mixed else cell.status
    hit = f"; {count(cell.deletes, 'delete')} {'apply' if cell.deletes > 1 else 'applies'}" if cell.deletes else ""
    added = f"{'added' if cell.files == 1 else 'the newest added'} {age_words(cell.age_ms)}"
    planned = f"; {'some ' if cell.files > 1 else ''}{cell.verdict}" if cell.verdict else ""
    return f"{kind}{where}; {count(cell.rows, 'row')}, {human_bytes(cell.bytes)}; {status}; {added}{hit}{planned}"


def map_words(cells: Sequence[MapCell]) -> str:
    """The same in words, for who cannot see it."""
    each = "; ".join(f"{_name(cell)}: {told(cell)}" for cell in cells[:20])
    return f"{count(sum(c.files for c in cells), 'file')} as {count(len(cells), 'cell')}. {each}"
