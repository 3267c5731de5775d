"""The map of all files of a snapshot as SVG: a cell for each file, as large as its bytes, or for many together."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Literal

from explorer.graph.vocabulary import STATUSES
from explorer.render.pictures import WIDTH, link_attributes, sentence, svg_head, text, title_tag
from explorer.render.treemap import Rectangle, treemap
from explorer.spec.layout.file_map import STATUS, VERDICTS, MapCell
from explorer.spec.text.names import file_label, shorten
from explorer.spec.text.units import DAY, HOUR, MINUTE, SECOND, count, human_bytes, span

HIGH, TOP, LETTER = 430.0, 26.0, 7.2
AS_BYTES, NAME_HIGH = 600, 14
"""So many files are drawn as large as their bytes, by partition; the height that a name takes."""
OF_PARTITIONS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#7f6fb6")
RISING = ("#443983", "#31688e", "#21918c", "#35b779", "#90d743", "#fde725")
"""From little to much."""
OTHER, WHITE = "#9aa5b4", 'stroke="#fff"'
OF_VERDICTS = dict(zip(VERDICTS, ("#dfe3e8", "#c9b58f", "#7fb8a4", "#b79bd0", "#1565c0"), strict=True))
AGES = (0, SECOND, MINUTE, HOUR, 6 * HOUR, DAY, 7 * DAY, 30 * DAY, 90 * DAY, 365 * DAY)
OF_DELETES = {0: "no delete", 1: "1 delete", 2: "2", 5: "3 to 5", 10: "6 to 10"}
"""Classes of data files by the deletes that apply, by the most there are; more are the last class."""

MapColor = Literal["status", "partition", "size", "age", "deletes", "scan"]
"""What the color of a cell shows."""
Look = tuple[int, str, str]
"""The place of a class of cells among others, its color and its meaning."""


def map_svg(cells: Sequence[MapCell], color: MapColor) -> str:
    """Draw cells, those of a partition together."""
    if not cells:
        return sentence("The snapshot has no files.")
    looks, many = _looks(cells, color), _is_of_many(cells)
    places, names = place_cells(cells)
    files = sum(cell.files for cell in cells)
    out = [svg_head(TOP + HIGH + 4, f"{count(files, 'file')} by bytes and partition"), *_legend(looks)]
    thin = 1 if len(cells) <= AS_BYTES else 0.3
    for cell, (_, fill, _), (x, y, wide, high) in zip(cells, looks, places, strict=True):
        box = f'x="{x:.1f}" y="{TOP + y:.1f}" width="{wide:.1f}" height="{high:.1f}"'
        link = link_attributes("file", cell.path) if cell.files == 1 else ""
        rect = f'<rect {box} fill="{fill}" {WHITE} stroke-width="{thin}"/>'
        out.append(f"<g{link}>{title_tag(f'{_name(cell)}: {cell_words(cell)}')}{rect}</g>")
    for xs in partition_ends(cells) if many else ():
        points = " ".join(f"{x:.1f},{TOP + y:.1f}" for x, y in xs)
        for stroke, wide in (("#fff", 4), ("#20262e", 1.5)):
            out.append(f'<polyline points="{points}" fill="none" stroke="{stroke}" stroke-width="{wide}"/>')
    for name, (x, y, wide, _) in names:
        if (letters := int(wide / LETTER) - 1) >= 4:
            label = shorten(name or "unpartitioned", letters)
            if many:
                out.append(f'<rect x="{x}" y="{TOP + y + 1:.1f}" width="{len(label) * LETTER + 6:.1f}" height="14" '
                           'fill="#fff" fill-opacity="0.85"/>')  # fmt: skip
            fill = ' fill="#20262e"' if many else ""
            out.append(text(x + 2, TOP + y + 12, label, f'font-size="11"{fill}'))
    return "\n".join([*out, "</svg>"])


def _legend(looks: Sequence[Look]) -> list[str]:
    out, x = [], 0.0
    for _, fill, meaning in sorted({look for look in looks if look[2]}):
        out.append(f'<rect x="{x:.0f}" y="4" width="14" height="12" fill="{fill}"/>')
        out.append(text(x + 20, 15, meaning, 'font-size="12"'))
        x += 40 + LETTER * len(meaning)
    return out


def _is_of_many(cells: Sequence[MapCell]) -> bool:
    return len(cells) > AS_BYTES or any(cell.files > 1 for cell in cells)


def _grid(cells: Sequence[MapCell]) -> tuple[int, int]:
    """Of many cells: how many lie beside each other, and how many rows that makes."""
    across = max(1, round((len(cells) * WIDTH / HIGH) ** 0.5))
    return across, -(-len(cells) // across)


def _starts(cells: Sequence[MapCell]) -> list[int]:
    """The first cell of each partition, or of each run of cells that are of several."""
    return [at for at in range(len(cells)) if not at or cells[at].partition != cells[at - 1].partition]


def partition_ends(cells: Sequence[MapCell]) -> list[list[tuple[float, float]]]:
    """Return the corners of a line between any two partitions of many cells, from the right edge down to the left one,
    as stairs are; none where partitions fill fewer than two rows on the whole."""
    across, down = _grid(cells)
    wide, high, lines = WIDTH / across, HIGH / down, []
    for at in _starts(cells)[1:]:
        left, top = at % across * wide, at // across * high
        stairs = [(float(WIDTH), top), (left, top), (left, top + high), (0.0, top + high)]
        lines.append(stairs if left else [(float(WIDTH), top), (0.0, top)])
    return lines if len(lines) <= down / 2 else []


def place_cells(cells: Sequence[MapCell]) -> tuple[list[Rectangle], list[tuple[str, Rectangle]]]:
    """Return the place of each cell, and names of partitions with theirs: few files as large as their bytes, in
    rectangles that are their partitions; many in rows of cells of one size."""
    if _is_of_many(cells):
        return _in_rows(cells)
    groups = [(name or "", list(at)) for name, at in groupby(range(len(cells)), lambda at: cells[at].partition)]

    def size(at: int) -> int:
        return max(1, cells[at].bytes)

    groups.sort(key=lambda group: -sum(map(size, group[1])))
    boxes = treemap([sum(map(size, each)) for _, each in groups], WIDTH, HIGH)
    places: dict[int, Rectangle] = {}
    for (_, each), (left, top, wide, high) in zip(groups, boxes, strict=True):
        each.sort(key=size, reverse=True)
        head = NAME_HIGH if high > 2 * NAME_HIGH else 0
        inner = treemap([size(at) for at in each], max(1.0, wide - 3), max(1.0, high - head - 3))
        places |= {at: (left + x, top + head + y, w, h) for at, (x, y, w, h) in zip(each, inner, strict=True)}
    names = [(name, box) for (name, _), box in zip(groups, boxes, strict=True) if box[3] > 2 * NAME_HIGH]
    return [places[at] for at in range(len(cells))], names


def _in_rows(cells: Sequence[MapCell]) -> tuple[list[Rectangle], list[tuple[str, Rectangle]]]:
    across, down = _grid(cells)
    wide, high = WIDTH / across, HIGH / down
    places = [(at % across * wide, at // across * high, wide, high) for at in range(len(cells))]
    starts, names = _starts(cells), list[tuple[str, Rectangle]]()
    for first, end in zip(starts, [*starts[1:], len(cells)], strict=True):
        row, below = -(-first // across), down if end == len(cells) else end // across
        name = cells[first].partition
        if name and (below - row) * high > NAME_HIGH:  # rows that are the partition's alone have room for its name
            names.append((name, (0.0, row * high, WIDTH / 2, (below - row) * high)))
    return places, names


def _looks(cells: Sequence[MapCell], color: MapColor) -> list[Look]:
    if color == "status":
        fills = {status: STATUSES[status].color for status in STATUS} | {"EXISTING": OTHER}
        return [(STATUS.index(cell.status), fills[cell.status], cell.status) for cell in cells]
    if color == "partition":
        numbers = {name: at for at, name in enumerate(dict.fromkeys(cell.partition for cell in cells))}
        return [_partition_look(numbers, cell.partition) for cell in cells]
    if color == "size":
        sizes = [cell.bytes // cell.files for cell in cells]
        bounds = size_classes(sizes)
        return [_size_look(bounds, size, cells[0].files > 1) for size in sizes]
    if color == "age":
        return [_age_look(cell.age_ms) for cell in cells]
    if color == "scan":
        verdicts = [cell.verdict or VERDICTS[0] for cell in cells]
        return [(VERDICTS.index(verdict), OF_VERDICTS[verdict], verdict) for verdict in verdicts]
    return [_delete_look(cell) for cell in cells]


def _partition_look(numbers: Mapping[str | None, int], name: str | None) -> Look:
    """Of many partitions the colors only show where one ends."""
    if name is None:
        return len(OF_PARTITIONS), OTHER, "files of several partitions"
    at = numbers[name] % len(OF_PARTITIONS)
    meaning = shorten(name, 18) or "unpartitioned"
    return at, OF_PARTITIONS[at], meaning if len(numbers) <= len(OF_PARTITIONS) else ""


def size_classes(sizes: Sequence[int], number: int = 6) -> list[int]:
    """Return bounds that part sizes into so many classes at most, each as many times as large as the one before."""
    least, most = max(1, min(sizes, default=1)), max(1, max(sizes, default=1))
    if most < 2 * least:
        return [most]
    return [round(least * (most / least) ** (i / number)) for i in range(1, number)] + [most]


def _size_look(bounds: Sequence[int], size: int, is_mean: bool) -> Look:
    at = min(bisect_left(bounds, size), len(bounds) - 1)
    place = at * (len(RISING) - 1) // max(1, len(bounds) - 1)
    return at, RISING[place], f"up to {human_bytes(bounds[at])}{' on average' if is_mean else ''}"


def _age_look(age_ms: int | None) -> Look:
    if age_ms is None:
        return len(AGES) + 1, OTHER, "age unknown"
    at = bisect_left(AGES, age_ms)
    fill = RISING[min(at, len(AGES) - 1) * (len(RISING) - 1) // (len(AGES) - 1)]
    if at == len(AGES):
        return at, fill, f"more than {span(AGES[-1])} before"
    return at, fill, f"up to {span(AGES[at])} before" if at else "with this snapshot"


def _delete_look(cell: MapCell) -> Look:
    if cell.delete_files == cell.files:
        return -1, "#c9b58f", "delete files"
    at = next((at for at, most in enumerate(OF_DELETES) if (cell.deletes or 0) <= most), len(OF_DELETES))
    return at, RISING[at] if at else OTHER, [*OF_DELETES.values(), "more than 10"][at]


def _name(cell: MapCell) -> str:
    name = file_label(cell.path)
    return name if cell.files == 1 else f"{count(cell.files, 'file')}, the first {name}"


def cell_words(cell: MapCell) -> str:
    """Describe a cell."""
    where = "of several partitions" if cell.partition is None else cell.partition or "unpartitioned"
    kind = "" if not cell.delete_files else "delete file; " if cell.files == 1 else (
        f"{count(cell.delete_files, 'delete file')}; ")  # fmt: skip
    status = f"some {cell.status}" if cell.mixed else cell.status
    deletes = f"; {count(cell.deletes, 'delete')} {'apply' if cell.deletes > 1 else 'applies'}" if cell.deletes else ""
    added = f"{'added' if cell.files == 1 else 'the newest added'} {age_words(cell.age_ms)}"
    verdict = f"; {'some ' if cell.files > 1 else ''}{cell.verdict}" if cell.verdict else ""
    size = f"{count(cell.rows, 'row')}, {human_bytes(cell.bytes)}"
    return f"{kind}{where}; {size}; {status}; {added}{deletes}{verdict}"


def age_words(age_ms: int | None) -> str:
    """Write how long before the snapshot in view a file was added."""
    if not age_ms:
        return "at an unknown time" if age_ms is None else "with this snapshot"
    return f"{span(age_ms) if age_ms >= SECOND else 'less than 1 second'} before"
