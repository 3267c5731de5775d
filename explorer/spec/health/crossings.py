"""When measures of health crossed their thresholds, and which commit did it."""

from __future__ import annotations

from dataclasses import dataclass

from explorer.spec.health.measures import BY_ID, Measure, MeasureLevel


@dataclass(frozen=True)
class Crossing:
    """The commit at which a measure went above its threshold.

    Attributes:
        id: The measure.
        value: What it is now.
        threshold: Above which it matters.
        snapshot: The first snapshot that is above; empty where that is unknown.
        timestamp_ms: When it was committed, in ms since 1970.
        operation: What it did.
        writer: Who committed it, as far as the summary says.
        before: The value at the snapshot before; None where it says nothing.
        after: The value at this snapshot.
        unknown: Why the commit is unknown, if it is.
    """

    id: str
    value: float
    threshold: float
    snapshot: str = ""
    timestamp_ms: int | None = None
    operation: str = ""
    writer: str = ""
    before: float | None = None
    after: float | None = None
    unknown: str = ""

    @property
    def about(self) -> Measure:
        """Which measure it is."""
        return BY_ID[self.id]

    @property
    def level(self) -> MeasureLevel:
        """How bad it is now."""
        return "error" if self.value / self.threshold > self.about.error else "warning"
