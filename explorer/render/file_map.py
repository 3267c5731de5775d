"""When the files of a map were added, in words."""

from __future__ import annotations

from explorer.spec.text.units import SECOND, span


def age_words(age_ms: int | None) -> str:
    """When a file was added: `3 days before`, namely before the snapshot that is looked at."""
    if not age_ms:
        return "at an unknown time" if age_ms is None else "with this snapshot"
    return f"{span(age_ms) if age_ms >= SECOND else 'less than 1 second'} before"
