"""The history of rows as SVG: each stored row is a bar over the snapshots in whose files it lies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from explorer.graph.vocabulary import KINDS
from explorer.render.pictures import WIDTH, link_attributes, sentence, svg_head, text, title_tag
from explorer.render.rows import plain
from explorer.render.svg_colors import FAINT
from explorer.spec.rows.row_versions import RowEvent, RowVersion, Stretch
from explorer.spec.text.names import base_name, shorten
from explorer.spec.text.units import count, second

DRAWN, NAMED, NAMED_SNAPSHOTS = 200, 30, 12
"""Rows that are drawn, rows of which each has its values at the side, snapshots that are named."""
LEFT, RIGHT, TOP, ROW, HEIGHT = 210, 20, 52, 26.0, 520.0
LETTER = 6.4
SEEN, HIDDEN = KINDS["data_file"].color, KINDS["position_deletes"].color
MARKS = {
    "was there": "●", "appeared": "●", "copied": "◆", "changed": "■", "deleted": "✕", "came back": "▲", "left": "▼",
}  # fmt: skip


def row_history_svg(versions: Sequence[RowVersion], snapshots: Sequence[tuple[int, str]], at_id: int) -> str:
    """Draw stored rows over snapshots.

    Args:
        versions: The rows; the first DRAWN are drawn.
        snapshots: Ids and names of all snapshots, in order.
        at_id: The snapshot that was asked about.

    Returns:
        The picture as SVG, with each bar in words in its tooltip.
    """
    if not versions:
        return sentence("No stored row matches.")
    shown = versions[:DRAWN]
    high = min(ROW, HEIGHT / len(shown))
    step, base = (WIDTH - LEFT - RIGHT) / max(len(snapshots), 1), TOP + high * len(shown)
    out = [svg_head(base + 24, "stored rows by snapshots"), *_legend(shown)]
    every = max(1, -(-len(snapshots) // NAMED_SNAPSHOTS))
    for place, (snapshot_id, name) in enumerate(snapshots):
        x = LEFT + step * (place + 0.5)
        if place % every == 0:
            label = name if step * every > 80 else name.removeprefix("snapshot-")
            out.append(text(x, TOP - 10, label, 'text-anchor="middle" font-size="11"'))
        if snapshot_id == at_id:
            out.append(f'<path d="M{x:.1f},{TOP - 6} V{base}" stroke="currentColor" stroke-dasharray="4 3"/>')
    for row, version in enumerate(shown):
        y = TOP + high * row
        if len(shown) <= NAMED:
            out.append(text(0, y + high / 2 + 4, shorten(row_words(version.row), 28), 'font-size="12"'))
        out += [_bar(version, stretch, snapshots, LEFT + step * stretch.first, y, step, high)
                for stretch in version.stretches]  # fmt: skip
        out += [_mark(event, LEFT + step * (place + 0.06), y + high / 2) for place, event in version.events]
    if len(versions) > len(shown):
        out.append(text(0, base + 18, f"… {count(len(versions) - len(shown), 'more row')} not drawn", 'font-size="12"'))
    return "\n".join([*out, "</svg>"])


def _legend(shown: Sequence[RowVersion]) -> list[str]:
    out, x = [], float(LEFT)
    for color, words, opacity in ((SEEN, "seen by readers", 0.9), (HIDDEN, "stored, hidden by a delete", 0.35)):
        out.append(f'<rect x="{x}" y="4" width="14" height="12" fill="{color}" fill-opacity="{opacity}"/>')
        out.append(text(x + 20, 15, words, 'font-size="12"'))
        x += 32 + LETTER * len(words)
    for what in dict.fromkeys(event.what for version in shown for _, event in version.events):
        out.append(text(x, 15, f"{MARKS[what]} {what}", 'font-size="12"'))
        x += 26 + LETTER * len(what)
    return out


def _bar(
    version: RowVersion, stretch: Stretch, snapshots: Sequence[tuple[int, str]], x: float, y: float, step: float,
    high: float,
) -> str:  # fmt: skip
    wide, share = step * (stretch.last - stretch.first + 1), 0.4 if stretch.hidden_by else 0.76
    title = title_tag(f"{row_words(version.row)} {_stretch_words(version, stretch, snapshots)}")
    color, opacity = (HIDDEN, 0.35) if stretch.hidden_by else (SEEN, 0.9)
    box = f'x="{x:.1f}" y="{y + high * (1 - share) / 2:.1f}" width="{wide:.1f}" height="{high * share:.1f}"'
    out = [
        f"<g{link_attributes('file', version.file)}>{title}",
        f'<rect {box} rx="2" fill="{color}" fill-opacity="{opacity}"/>',
    ]
    letters = int((wide - 24) / LETTER)
    if high > 16 and letters > 8 and not stretch.hidden_by:
        label = shorten(f"{base_name(version.file)}:{version.pos}", letters)
        out.append(text(x + wide / 2, y + high / 2 + 4, label, 'text-anchor="middle" font-size="11" fill="#000"'))
    return "".join([*out, "</g>"])


def _mark(event: RowEvent, x: float, y: float) -> str:
    title = title_tag(f"{event.snapshot}: {event.what}, {second(event.timestamp_ms)}. {event.words}")
    sign = text(x, y + 5, MARKS[event.what], f'font-size="13" {FAINT} stroke-width="0.5"')
    return f"<g{link_attributes('snapshot', str(event.snapshot_id))}>{title}{sign}</g>"


def row_words(row: Mapping[str, Any]) -> str:
    """Write a row's own columns."""
    return ", ".join(f"{name}={plain(value)}" for name, value in row.items() if not name.startswith("_"))


def _stretch_words(version: RowVersion, stretch: Stretch, snapshots: Sequence[tuple[int, str]]) -> str:
    first, last = snapshots[stretch.first][1], snapshots[stretch.last][1]
    where = f"at position {version.pos} of {base_name(version.file)}"
    when = f"in {first}" if first == last else f"from {first} to {last}"
    return f"{where}, {when}: " + (f"hidden by {stretch.hidden_by}" if stretch.hidden_by else "readers see it")
