"""Lines of descent side by side, as a log draws them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from explorer.spec.snapshots.lineage import LineageEntry

MOST_LANES = 40
"""Lines of descent that are drawn side by side."""


@dataclass(frozen=True)
class LaneRow:
    """Where a snapshot stands in a drawing of the lineage, newest first, one row a snapshot. Lanes count from 0 at the
    left. `lane` is its own; lines come down to it from the lanes `above`, one goes on down when `continues` (to a
    parent that is there); `through` are lanes that only pass."""

    lane: int
    above: tuple[int, ...]
    continues: bool
    through: tuple[int, ...]


def lanes(entries: Sequence[LineageEntry]) -> list[LaneRow]:
    """A row for each entry of `lineage`, newest first. A line stays in its lane down to the parent it leads to. Of
    lines side by side the first `MOST_LANES` are drawn; snapshots beyond have the next lane, and no line."""
    listed = {e.snapshot_id for e in entries}
    waiting: list[int | None] = []
    rows = []
    for entry in reversed(entries):
        above = tuple(i for i, wanted in enumerate(waiting) if wanted == entry.snapshot_id)
        if not above and None not in waiting:
            if len(waiting) == MOST_LANES:
                rows.append(LaneRow(MOST_LANES, (), False, tuple(range(MOST_LANES))))
                continue
            waiting.append(None)
        lane = above[0] if above else waiting.index(None)
        for i in above:
            waiting[i] = None
        through = tuple(i for i, wanted in enumerate(waiting) if wanted is not None)
        parent = entry.parent_snapshot_id if entry.parent_snapshot_id in listed else None
        waiting[lane] = parent
        rows.append(LaneRow(lane, above, parent is not None, through))
        while waiting and waiting[-1] is None:
            waiting.pop()
    return rows
