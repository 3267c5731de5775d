"""Many partitions as a heat map, as SVG: by two of their fields, or by one in rows, with axes."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from explorer.render.pictures import WIDTH, text, title_tag
from explorer.spec.text.names import natural, shorten
from explorer.spec.text.units import count

LEFT, TOP, RIGHT = 150, 62, 10
MOST_ACROSS, MOST_DOWN = 60, 24
"""Columns and rows; beyond these, values that follow each other share one."""
SIDE = 24.0
"""The greatest height of a cell in pixels."""
LETTER = 6.2
MANY = " … "
"""Between the first and the last value of a place."""
OUTCOMES = ("read", "by_metrics", "by_partition")
READ, BOUNDS = "#1565c0", "#8e6bb0"


@dataclass(frozen=True)
class HeatMapAxis:
    """Values of a partition field, in order, some together where there are many.

    Attributes:
        name: The field; empty for no field.
        labels: What each place of the axis has.
        place: The place of each value.
    """

    name: str
    labels: tuple[str, ...]
    place: Mapping[str, int]


@dataclass(frozen=True)
class Cell:
    """Partitions that are drawn at one place, by what becomes of their files."""

    x: int
    y: int
    name: str
    counts: Mapping[str, int]


def heat_map(rows: Sequence[Mapping[str, Any]], words: Callable[[Mapping[str, Any]], str]) -> tuple[float, list[str]]:
    """Draw partitions by what becomes of their files.

    Args:
        rows: Partitions (spec.scan.plan_parts.PARTITIONS).
        words: Describes the files of a row, or of several that were added up.

    Returns:
        The height below which the picture ends, and its parts as SVG.
    """
    fields = [_fields(row["partition"] or "") for row in rows]
    if not set.intersection(*map(set, fields)):
        fields = [{"partition": row["partition"] or "unpartitioned"} for row in rows]
    across, down = _axes(fields)
    counts: dict[tuple[int, int], Counter[str]] = defaultdict(Counter)
    for row, values in zip(rows, fields, strict=True):
        place = across.place[values[across.name]], down.place[values[down.name]] if down.name else 0
        counts[place].update({"partitions": 1, **{outcome: row[outcome] for outcome in OUTCOMES}})
    cells = [
        Cell(x, y, ", ".join(f"{a.name}={a.labels[n]}" for a, n in ((across, x), (down, y)) if a.name), number)
        for (x, y), number in sorted(counts.items())
    ]
    if not down.name:
        across, down, cells = _in_rows(across, cells)
    wide = (WIDTH - LEFT - RIGHT) / len(across.labels)
    high = min(SIDE, max(wide, 12.0))
    out = [text(LEFT, TOP - 22, across.name, 'font-size="12" font-weight="600"')]
    out.append(text(0, TOP - 6, down.name, 'font-size="12" font-weight="600"'))
    ticks = [label.partition(MANY)[0] for label in across.labels]
    step = max(1, -(-int(LETTER * max(map(len, ticks)) + 12) // max(int(wide), 1)))
    for at, tick in enumerate(ticks):
        if at % step == 0 and LEFT + wide * at + LETTER * len(tick) < WIDTH:
            out.append(text(LEFT + wide * at, TOP - 6, tick, 'font-size="11"'))
    for at, label in enumerate(down.labels):
        out.append(text(0, TOP + high * (at + 0.5) + 4, shorten(label, 22), 'font-size="11"'))
    for cell in cells:
        several = f" ({count(cell.counts['partitions'], 'partition')})" if cell.counts["partitions"] > 1 else ""
        place_of = f'x="{LEFT + wide * cell.x:.1f}" y="{TOP + high * cell.y:.1f}"'
        box = f'{place_of} width="{max(wide - 1, 1):.1f}" height="{high - 1:.1f}"'
        out.append(
            f"<rect {box} {_fill(cell.counts)}>{title_tag(f'{cell.name}{several}: {words(cell.counts)}')}</rect>"
        )
    return TOP + high * max(len(down.labels), 1), out


def legend() -> list[str]:
    """What the colors of a heat map mean."""
    out, x = [], float(LEFT)
    for fill, meaning in (
        (f'fill="{READ}"', "read (paler: a part of its files)"),
        (f'fill="{BOUNDS}" fill-opacity="0.45"', "skipped by its bounds"),
        ('fill="currentColor" fill-opacity="0.1"', "skipped by its partition"),
    ):
        out.append(f'<rect x="{x:.0f}" y="8" width="14" height="12" {fill}/>')
        out.append(text(x + 20, 19, meaning, 'font-size="12"'))
        x += 44 + LETTER * len(meaning)
    return out


def _fields(partition: str) -> dict[str, str]:
    """The values of a partition's path by field. A part without = belongs to the value before it."""
    values: dict[str, str] = {}
    name = ""
    for part in partition.split("/"):
        field, equals, value = part.partition("=")
        if equals:
            name, values[field] = field, value
        else:
            values[name] = f"{values.get(name, '')}/{part}".lstrip("/")
    return values


def _axes(fields: Sequence[Mapping[str, str]]) -> tuple[HeatMapAxis, HeatMapAxis]:
    """The two fields with the most values that all partitions have; the second has no name where there is only one."""
    shared = set.intersection(*map(set, fields))
    values = {name: {each[name] for each in fields} for name in shared}
    names = sorted(shared, key=lambda name: (-len(values[name]), name))
    two = len(names) > 1 and len(values[names[1]]) > 1
    across = _axis(names[0], values[names[0]], MOST_ACROSS if two else MOST_ACROSS * MOST_DOWN)
    return across, _axis(names[1], values[names[1]], MOST_DOWN) if two else HeatMapAxis("", (), {})


def _axis(name: str, values: set[str], most: int) -> HeatMapAxis:
    ordered = sorted(values, key=natural)
    each = -(-len(ordered) // most)
    groups = [ordered[at : at + each] for at in range(0, len(ordered), each)]
    labels = [group[0] if len(group) == 1 else f"{group[0]}{MANY}{group[-1]}" for group in groups]
    return HeatMapAxis(name, tuple(labels), {value: at for at, group in enumerate(groups) for value in group})


def _in_rows(axis: HeatMapAxis, cells: Sequence[Cell]) -> tuple[HeatMapAxis, HeatMapAxis, list[Cell]]:
    """Lay one field out in rows, each of which has the value that it begins with at its left."""
    across = min(MOST_ACROSS, max(1, round((len(axis.labels) * 3) ** 0.5)))
    down = HeatMapAxis("", tuple(f"from {axis.labels[at]}" for at in range(0, len(axis.labels), across)), {})
    placed = [replace(cell, x=cell.x % across, y=cell.x // across) for cell in cells]
    return HeatMapAxis(axis.name, ("",) * across, {}), down, placed


def _fill(cell: Mapping[str, int]) -> str:
    files = sum(cell[outcome] for outcome in OUTCOMES) or 1
    if cell["read"]:
        return f'fill="{READ}" fill-opacity="{0.3 + 0.7 * cell["read"] / files:.2f}"'
    return f'fill="{BOUNDS}" fill-opacity="0.45"' if cell["by_metrics"] else 'fill="currentColor" fill-opacity="0.1"'
