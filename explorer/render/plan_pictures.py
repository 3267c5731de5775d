"""Pictures of planned scans, as SVG: the funnel, files as intervals of a column against what is asked of it, partitions
by what becomes of their files.

Text has the colour of the page around it; kinds are told apart by fill, outline and a mark as well as by colour."""

from __future__ import annotations

import bisect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa

from explorer.render.heat_map import heat_map, legend
from explorer.render.pictures import WIDTH, svg_head, text, title_tag
from explorer.render.plans import STAGE_WORDS, brief_amount
from explorer.spec.filters.expressions import Predicate
from explorer.spec.scan.plan import Interval, Intervals, Plan
from explorer.spec.scan.scan import BY_PARTITION, READ
from explorer.spec.text.names import base_name, file_label, shorten
from explorer.spec.text.units import count
from explorer.spec.values.ordering import comparable, plain

LEFT, RIGHT = 190, 20
NAMED = 24
"""Files that are named beside their intervals; more are drawn thinner, and told when they are pointed at."""
LINES = 200
"""Lines of files; of more, those that follow each other share one."""
HEIGHT = 480
"""Of more files together; lines may lie closer than a pixel, those that are read above the others."""
ASKED = 4
"""Comparisons that stand in words above the files."""
LOOKS = {"wholly": ("#2e7d32", ""), "read": ("#1565c0", ""), "metrics": ("none", "4 2"), "partition": ("none", "1 3")}
LEGEND = {
    "read": "read", "wholly": "read, all rows match", "metrics": "skipped by its bounds",
    "partition": "skipped by its partition",
}  # fmt: skip


def funnel_svg(plan: Plan) -> str:
    """What is left after each stage: a bar for the data files, and the numbers."""
    most = max((s.left.files or 0 for s in plan.stages), default=0) or 1
    room = WIDTH - LEFT - 510
    out = [svg_head(34 * len(plan.stages) + 8, f"the scan's funnel for {plan.bound}")]
    for at, stage in enumerate(plan.stages):
        y, files = 34 * at + 6, stage.left.files
        wide = max(3.0, room * files / most) if files else 0.0
        out.append(text(0, y + 17, STAGE_WORDS[stage.name]))
        out.append(f'<rect x="{LEFT}" y="{y}" width="{room}" height="24" rx="3" fill="currentColor" opacity="0.08"/>')
        colour = "#1565c0" if stage is plan.stages[-1] else "#5c8fc7"
        out.append(f'<rect x="{LEFT}" y="{y}" width="{wide:.1f}" height="24" rx="3" fill="{colour}"/>')
        skipped = ""
        if stage.skipped:
            skipped = f" (−{count(stage.skipped, 'manifest' if stage.name == 'manifests' else 'file')})"
        out.append(text(LEFT + room + 10, y + 17, f"{brief_amount(stage.left)}{skipped}"))
    return "\n".join([*out, "</svg>"])


def intervals_svg(intervals: Intervals) -> str:
    """A line for each data file from its lower to its upper bound, and what the filter asks as a band behind them."""
    kind = intervals.column.kind
    points = sorted(
        {v for i in intervals.items for v in (i.low, i.high) if v is not None} | set(_filter_values(intervals, kind))
    )
    place = _scale(points)
    items = _added_up(intervals.items) if len(intervals.items) > LINES else [(item, "") for item in intervals.items]
    named = len(items) <= NAMED
    step = 20 if named else min(8.0, HEIGHT / len(items))
    bounds = [p for p in intervals.comparisons if p.term.transform == "identity" and p.literals]
    top = 44 + 14 * len(bounds[:ASKED])
    bottom = top + step * len(items)
    out = [svg_head(bottom + 44, f"data files by the bounds of {intervals.column.name}"), *_legend()]
    out += _bands(bounds, intervals.together, kind, place, (top - 6, bottom + 4))
    out += [_asks(p, kind, place, 44 + 14 * at) for at, p in enumerate(bounds[:ASKED])]
    lines = sorted(enumerate(items), key=lambda line: line[1][0].outcome == READ)
    out += [_line(item, place, top + step * at, step, named, title) for at, (item, title) in lines]
    if points:
        out += _axis(intervals, points, place, bottom)
    if intervals.left_out:
        out.append(text(LEFT, bottom + 38, f"… {count(intervals.left_out, 'more file')} not drawn"))
    return "\n".join([*out, "</svg>"])


def _filter_values(intervals: Intervals, kind: Any) -> list[Any]:
    return [comparable(v, kind) for p in intervals.comparisons if p.term.transform == "identity" for v in p.literals]


def _asks(predicate: Predicate, kind: Any, place: Place, y: float) -> str:
    """What is asked, in words above its band."""
    x = min(place(comparable(v, kind)) for v in predicate.literals)
    anchor = "start" if x < (LEFT + WIDTH) / 2 else "end"
    return text(x, y, shorten(str(predicate), 60), f'text-anchor="{anchor}" font-size="12"')


Place = Callable[[Any], float]


def _scale(points: Sequence[Any]) -> Place:
    """Where a value lies: in proportion for numbers, by rank for all else."""
    room = WIDTH - LEFT - RIGHT
    if not points:
        return lambda _: float(LEFT)
    low, high = points[0], points[-1]
    if low == high:
        return lambda value: LEFT + room / 2 + (0 if value == low else -room if value < low else room)
    if all(isinstance(p, int) or hasattr(p, "dtype") for p in points):  # exact, also where floats would be the same
        return lambda value: LEFT + room * ((int(value) - int(low)) / (int(high) - int(low)))
    return lambda value: LEFT + room * bisect.bisect_left(points, value) / (len(points) - 1)


def _look(item: Interval) -> str:
    if item.outcome == READ:
        return "wholly" if item.wholly else "read"
    return "partition" if item.outcome == BY_PARTITION else "metrics"


def _legend(looks: Iterable[str] = LEGEND) -> list[str]:
    out, x = [], float(LEFT)
    for name in looks:
        title = LEGEND[name]
        out.append(_bar(x, 12, 22, 10, name))
        out.append(text(x + 28, 21, title, 'font-size="12"'))
        x += 52 + 6 * len(title)
    return out


def _bar(x: float, y: float, wide: float, high: float, look: str) -> str:
    fill, dashes = LOOKS[look]
    line = f'stroke="currentColor" stroke-width="1" stroke-dasharray="{dashes}" opacity="0.7"' if dashes else ""
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="{wide:.1f}" height="{high:.1f}" rx="2" fill="{fill}" {line}/>'


def _thin(x: float, y: float, wide: float, high: float, look: str) -> str:
    """A bar too thin for dashes: what is skipped is thinner and paler."""
    fill = LOOKS[look][0]
    shade = f'fill="{fill}"' if fill != "none" else f'opacity="{0.4 if look == "metrics" else 0.2}"'
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="{wide:.1f}" height="{high:.1f}" {shade}/>'


def _added_up(items: Sequence[Interval]) -> list[tuple[Interval, str]]:
    """Many files as LINES lines at most, those that are read before the others, each with what it stands for: files of
    one outcome that follow each other are one."""
    by_look: dict[str, list[Interval]] = {}
    for item in sorted(items, key=lambda item: item.outcome != READ):
        by_look.setdefault(_look(item), []).append(item)
    lines: list[tuple[Interval, str]] = []
    for part in by_look.values():
        each = -(-len(part) // (LINES // len(by_look)))
        for at in range(0, len(part), each):
            some = part[at : at + each]
            lows, highs = [i.low for i in some if i.low is not None], [i.high for i in some if i.high is not None]
            whole = len(lows) == len(highs) == len(some)
            low, high = (min(lows), max(highs)) if whole else (None, None)
            title = "" if len(some) == 1 else f"{count(len(some), 'file')}, the first {base_name(some[0].path)}"
            lines.append((replace(some[0], low=low, high=high), title))
    return lines


def _line(item: Interval, place: Place, y: float, step: float, named: bool, title: str = "") -> str:
    start = place(item.low) if item.low is not None else float(LEFT)
    end = place(item.high) if item.high is not None else float(WIDTH - RIGHT)
    high = 12.0 if named else max(4.0, step + 1) if item.outcome == READ else max(1.0, step - 0.5)
    parts = [f"<g>{title_tag(f'{title or base_name(item.path)}: {item.text}; {item.reason}')}"]
    if named:
        parts.append(text(0, y + 11, file_label(item.path, 26), 'font-size="12"'))
    wide = max(5.0 if named or item.outcome == READ else 2.0, end - start)
    bar = _bar if step > 3 else _thin
    parts.append(bar(start, y, wide, high, _look(item)))
    if named and (item.low is None or item.high is None):
        parts.append(text(start + 6, y + 10, "no bounds", 'font-size="10" opacity="0.8"'))
    return "".join([*parts, "</g>"])


def _bands(
    predicates: Sequence[Predicate], together: bool, kind: Any, place: Place, ends: tuple[float, float]
) -> list[str]:
    """What is asked for, as bands from top to bottom. Of a range with two ends it is what lies between them."""
    each = [(str(p), spans) for p in predicates if (spans := _spans(p, kind, place))]
    halves = [p for p in predicates if p.op in ("lt", "lt-eq", "gt", "gt-eq")]
    if together and len(halves) > 1:
        spans = [_spans(p, kind, place)[0] for p in halves]
        low, high = max(a for a, _ in spans), min(b for _, b in spans)
        others = [(str(p), spans_of) for p in predicates if p not in halves and (spans_of := _spans(p, kind, place))]
        each = [(" AND ".join(map(str, halves)), [(low, high)] if low <= high else []), *others]
    look = f'y="{ends[0]}" height="{ends[1] - ends[0]:.1f}" fill="#f9a825" opacity="0.35"'
    return [
        f'<rect x="{a:.1f}" width="{max(4.0, b - a):.1f}" {look}>{title_tag(f"asked: {words}")}</rect>'
        for words, spans in each
        for a, b in spans
    ]


def _spans(predicate: Predicate, kind: Any, place: Place) -> list[tuple[float, float]]:
    """From where to where one comparison asks; nothing where it asks for what is unequal."""
    values = sorted(comparable(v, kind) for v in predicate.literals)
    left, right = float(LEFT), float(WIDTH - RIGHT)
    if predicate.op in ("eq", "in", "starts-with"):
        return [(place(v) - 2, place(v) + 2) for v in values]
    if predicate.op in ("lt", "lt-eq"):
        return [(left, place(values[0]))]
    return [(place(values[0]), right)] if predicate.op in ("gt", "gt-eq") else []


def _axis(intervals: Intervals, points: Sequence[Any], place: Place, bottom: float) -> list[str]:
    back, y = plain(intervals.column.kind), bottom + 6
    ends = ((points[0], "start"), (points[-1], "end")) if len(points) > 1 else ((points[0], "middle"),)
    line = f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}" stroke="currentColor" opacity="0.5"/>'
    out = [line, text(0, bottom + 20, shorten(intervals.column.name, 26), 'font-size="12" font-weight="600"')]
    for value, anchor in ends:
        label = shorten(intervals.column.value_text(back(value)), 40)
        out.append(text(place(value), bottom + 20, label, f'text-anchor="{anchor}" font-size="12"'))
    return out


CELLS = 50_000
"""Partitions that are drawn."""
OUTCOME_LOOKS = {"read": "read", "by_metrics": "metrics", "by_partition": "partition"}


def partitions_svg(partitions: pa.Table) -> str:
    """Partitions (spec.scan.plan_parts.PARTITIONS) by what becomes of their files: a bar each with its name while they
    are few, else a heat map."""
    rows = partitions.slice(0, CELLS).to_pylist()
    more = len(partitions) - len(rows)
    if len(rows) <= NAMED:
        titles = [f"{r['partition'] or 'unpartitioned'}, spec {r['spec_id']}: {_outcome_words(r)}" for r in rows]
        (height, drawn), key = _partition_bars(rows, titles), _legend(OUTCOME_LOOKS.values())
    else:
        (height, drawn), key = heat_map(rows, _outcome_words), legend()
    left_out = [text(LEFT, height + 16, f"… {count(more, 'more partition')} not drawn")] if more else []
    title = f"{count(len(partitions), 'partition')} by what is read of them"
    return "\n".join([svg_head(height + 24, title), *key, *drawn, *left_out, "</svg>"])


def _outcome_words(row: Mapping[str, Any]) -> str:
    title = {"read": "read", "by_metrics": "skipped by bounds", "by_partition": "skipped by partition"}
    return ", ".join(f"{count(row[name], 'file')} {what}" for name, what in title.items() if row[name])


def _partition_bars(rows: Sequence[dict[str, Any]], titles: Sequence[str]) -> tuple[float, list[str]]:
    most = max((sum(row[name] for name in OUTCOME_LOOKS) for row in rows), default=0) or 1
    room, out = WIDTH - LEFT - 290, []
    for at, (row, title) in enumerate(zip(rows, titles, strict=True)):
        x, y = float(LEFT), 40.0 + 20 * at
        out.append(f"<g>{title_tag(title)}")
        out.append(text(0, y + 11, shorten(row["partition"] or "unpartitioned", 25), 'font-size="12"'))
        for name, look in OUTCOME_LOOKS.items():
            if row[name]:
                wide = max(3.0, room * row[name] / most)
                out.append(_bar(x, y, wide, 12, look))
                x += wide + 1
        out.append(text(x + 8, y + 11, shorten(_outcome_words(row), 44), 'font-size="12"') + "</g>")
    return 44.0 + 20 * len(rows), out
