"""When measures of health crossed their thresholds, as text, rows and blocks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from explorer.render.blocks import Block, Notice, Rows
from explorer.render.health import amount
from explorer.render.text import clean
from explorer.spec.commits.commit_writers import UNKNOWN
from explorer.spec.health.crossings import Crossing
from explorer.spec.text.units import second

NOTHING = "No measure is above its threshold."


def crossing_rows(crossings: Sequence[Crossing]) -> list[dict[str, Any]]:
    """Return a row for each crossing."""
    return [
        {
            "measure": one.id, "level": one.level, "value": one.value, "threshold": one.threshold,
            "snapshot": one.snapshot or None, "timestamp": second(one.timestamp_ms) if one.snapshot else None,
            "operation": one.operation or None, "writer": one.writer or None, "before": one.before,
            "after": one.after, "words": _words(one),
        }
        for one in crossings
    ]  # fmt: skip


def _words(one: Crossing) -> str:
    unit = one.about.unit
    now = f"{one.id} is {amount(one.value, unit)} now, above {amount(one.threshold, unit)}"
    if one.unknown:
        return clean(f"{now}. The commit is unknown: {one.unknown}.")
    by = f" by {one.writer}" if one.writer not in ("", UNKNOWN) else ""
    before = "the snapshot before says nothing of it" if one.before is None else f"from {amount(one.before, unit)}"
    steps = (
        f"{before} to {amount(one.after, unit)}"
        if one.before is not None
        else f"{before}, this {amount(one.after, unit)}"
    )
    return clean(f"{now}. {one.snapshot} took it there at {second(one.timestamp_ms)}, {steps}: {one.operation}{by}.")


def render_crossings(crossings: Sequence[Crossing]) -> Iterator[str]:
    """Return a sentence or two for each crossing."""
    yield from [_words(one) for one in crossings] or [NOTHING]


def crossing_blocks(crossings: Sequence[Crossing]) -> list[Block]:
    """Return the blocks of a page."""
    notes = [Notice(_words(one), one.level) for one in crossings] or [Notice(NOTHING)]
    return [*notes, *([Rows(crossing_rows(crossings), "Crossings")] if crossings else [])]
