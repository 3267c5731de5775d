"""Appends of a stream and of batches as text, JSON and curves."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

from explorer.render.text import clean, render_table
from explorer.spec.commits.lab_runs import Appends

COLOURS = ("#d55e00", "#1565c0")
CLASSES = {"stream": "FastAppend", "batch": "MergeAppend"}
"""Iceberg's class that commits each."""
WIDTH, HEIGHT, LEFT, TOP, ROOM = 640, 220, 48, 12, 200


def appends_rows(appends: Sequence[Appends]) -> list[dict[str, Any]]:
    """One row each."""
    return [
        {
            "append": one.kind, "class": CLASSES[one.kind], "commits": len(one.manifests),
            "manifests_most": max(one.manifests), "manifests_last": one.manifests[-1],
            "manifests_written": one.written, "seconds": round(one.seconds, 1),
        }
        for one in appends
    ]  # fmt: skip


def appends_json(appends: Sequence[Appends]) -> list[dict[str, Any]]:
    """The same, with the manifests after each commit."""
    return [row | {"manifests": list(one.manifests)} for row, one in zip(appends_rows(appends), appends, strict=True)]


def appends_text(appends: Sequence[Appends]) -> str:
    """The same as text."""
    curves = [f"{one.kind}: {' '.join(map(str, one.manifests))}" for one in appends]
    return "\n".join([render_table(appends_rows(appends), 160), "manifests after each commit:", *curves])


def appends_svg(appends: Sequence[Appends]) -> str:
    """Manifests over commits, a curve each."""
    most, longest = max(max(one.manifests) for one in appends), max(len(one.manifests) for one in appends)
    title = "manifests after each commit: " + "; ".join(f"{o.kind} {o.manifests[-1]} in the end" for o in appends)
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {LEFT + WIDTH + ROOM} {TOP + HEIGHT + 36}" width="100%" '
        f'style="max-width:{LEFT + WIDTH + ROOM}px" font-family="system-ui, sans-serif" font-size="12" '
        f'fill="currentColor" role="img"><title>{escape(clean(title))}</title>',
        f'<rect x="{LEFT}" y="{TOP}" width="{WIDTH}" height="{HEIGHT}" fill="none" stroke="currentColor" '
        'opacity="0.3"/>',
        f'<text x="{LEFT - 6}" y="{TOP + 10}" text-anchor="end">{most}</text>',
        f'<text x="{LEFT - 6}" y="{TOP + HEIGHT}" text-anchor="end">0</text>',
        f'<text x="{LEFT}" y="{TOP + HEIGHT + 18}">commit 1</text>',
        f'<text x="{LEFT + WIDTH}" y="{TOP + HEIGHT + 18}" text-anchor="end">{longest}</text>',
    ]
    for at, one in enumerate(appends):
        colour = COLOURS[at % len(COLOURS)]
        points = " ".join(
            f"{LEFT + WIDTH * n / max(1, longest - 1):.1f},{TOP + HEIGHT * (1 - value / most):.1f}"
            for n, value in enumerate(one.manifests)
        )
        dashes = ' stroke-dasharray="6 3"' if at else ""
        out.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"{dashes}/>')
        y, x = TOP + 14 + 20 * at, LEFT + WIDTH + 14
        out.append(f'<rect x="{x}" y="{y - 9}" width="12" height="10" fill="{colour}"/>')
        out.append(f'<text x="{x + 18}" y="{y}">{escape(f"{one.kind} ({CLASSES[one.kind]})")}</text>')
    return "\n".join([*out, "</svg>"])
