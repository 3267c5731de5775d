"""Bars as a picture; several series stand beside each other."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import expm1, log1p

from explorer.render.pictures import WIDTH, svg_head, text, title_tag
from explorer.spec.text.names import shorten

LEFT, RIGHT, TOP, LABELS = 76, 16, 30, 34
HEIGHT = 150
"""Pixels of the highest bar."""
COLOURS = ("#1565c0", "#b35900", "#2e7d32", "#6b4fa0")
LOG_FROM, LOG_WORDS = 1_000, " (logarithmic axis)"
"""The axis is logarithmic if the highest bar is so many times the lowest one."""
LETTERS = 12
"""Letters of a label, where bars are far enough apart."""


def bars_svg(
    title: str,
    labels: tuple[str, ...],
    series: Mapping[str, tuple[float, ...]],
    amount: Callable[[float], str],
    marked: int | None = None,
    mark: str = "",
) -> str:
    """Draw bars. Where they differ by far, the axis is logarithmic.

    Args:
        title: What they show.
        labels: One for each place of the axis.
        series: Their heights by series, 0 or more.
        amount: Writes a height with its unit.
        marked: The place at which a target lies, if there is one.
        mark: What the target is called.

    Returns:
        The picture as SVG, with each bar in words in its tooltip.
    """
    heights = [value for values in series.values() for value in values if value > 0]
    most = max(heights, default=0) or 1
    is_log = bool(heights) and most / min(heights) >= LOG_FROM

    def share(value: float) -> float:
        return log1p(value) / log1p(most) if is_log else value / most

    base, room = TOP + HEIGHT, WIDTH - LEFT - RIGHT
    step = room / max(len(labels), 1)
    wide = min(46.0, step * 0.8 / max(len(series), 1))
    out = [
        svg_head(base + LABELS + (20 if len(series) > 1 else 0), title),
        text(0, 14, f"{title}{LOG_WORDS if is_log else ''}", 'font-weight="600"'),
    ]
    for level in (0.0, expm1(log1p(most) / 2) if is_log else most / 2, most):
        y = base - HEIGHT * share(level)
        faint = 0.15 if level else 0.5
        out.append(f'<path d="M{LEFT},{y:.1f} H{WIDTH - RIGHT}" stroke="currentColor" opacity="{faint}"/>')
        out.append(text(LEFT - 6, y + 4, amount(level), 'text-anchor="end" font-size="11"'))
    every = max(1, -(-len(labels) * 62 // room)) if labels else 1
    for at, label in enumerate(labels):
        middle = LEFT + step * (at + 0.5)
        for number, (name, values) in enumerate(series.items()):
            tall = max(HEIGHT * share(values[at]), 2.0 if values[at] else 0.0)
            x = middle + wide * (number - len(series) / 2)
            of = f" {name}" if len(series) > 1 else ""
            bar = f'x="{x:.1f}" y="{base - tall:.1f}" width="{wide:.1f}" height="{tall:.1f}"'
            said = title_tag(f"{label}:{of} {amount(values[at])}")
            out.append(f'<rect {bar} fill="{COLOURS[number % len(COLOURS)]}">{said}</rect>')
        if at % every == 0:
            out.append(text(middle, base + 16, shorten(label, LETTERS), 'text-anchor="middle" font-size="11"'))
    if marked is not None and 0 <= marked < len(labels):
        x = LEFT + step * (marked + 0.5)
        out.append(f'<path d="M{x:.1f},{TOP - 4} V{base}" stroke="#b3261e" stroke-dasharray="4 3"/>')
        side = "end" if x > WIDTH * 0.7 else "start"
        out.append(text(x + (-5 if side == "end" else 5), TOP + 6, mark, f'text-anchor="{side}" font-size="11"'))
    if len(series) > 1:
        for number, name in enumerate(series):
            x = LEFT + 150 * number
            fill = COLOURS[number % len(COLOURS)]
            out.append(f'<rect x="{x}" y="{base + LABELS - 4}" width="12" height="12" fill="{fill}"/>')
            out.append(text(x + 18, base + LABELS + 6, name, 'font-size="12"'))
    return "\n".join([*out, "</svg>"])
