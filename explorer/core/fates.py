"""What happened to a stored row, as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

What = Literal["appeared", "copied", "changed", "deleted", "came back", "left"]


@dataclass(frozen=True)
class FateEvent:
    """Something that happened to a stored row. `what` is appeared, copied (its file was rewritten), changed, deleted,
    came back or left (with a rollback); `by` is the delete file or the data file's path; `row` the values."""

    snapshot_id: int
    snapshot: str
    timestamp_ms: int | None
    what: What
    file: str
    pos: int
    row: Mapping[str, Any]
    by: str
    words: str
