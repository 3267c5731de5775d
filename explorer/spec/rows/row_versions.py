"""What happened to a stored row, as data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

What = Literal["was there", "appeared", "copied", "changed", "deleted", "came back", "left"]


class StoredRow(NamedTuple):
    """A row of a data file: the file's path, and the row's position in it."""

    file: str
    pos: int


class RowPlace(NamedTuple):
    """A stored row as one live entry of its file has it. A file with several live entries in a snapshot is read
    once for each: `copy` numbers them, by data sequence number, from 0."""

    file: str
    pos: int
    copy: int = 0

    @property
    def row_key(self) -> StoredRow:
        """The row, whichever entry it is read for."""
        return StoredRow(self.file, self.pos)


@dataclass(frozen=True)
class RowEvent:
    """Something that happened to a stored row. `what` is appeared, was there (an older snapshot added the row, and the
    parent of this one has expired), copied (its file was rewritten), changed, deleted, came back (with a rollback, or
    since its delete is gone) or left (with a rollback); `by` is the delete file or the data file's path; `row` the
    values; `copy` is that of RowPlace."""

    snapshot_id: int
    snapshot: str
    timestamp_ms: int | None
    what: What
    file: str
    pos: int
    copy: int
    row: Mapping[str, Any]
    by: str
    words: str


@dataclass(frozen=True)
class Stretch:
    """Snapshots that follow each other, from the `first` to the `last` place among all, in which a stored row reads the
    same: `hidden_by` names the delete that hides it; empty where it is seen."""

    first: int
    last: int
    hidden_by: str = ""


@dataclass(frozen=True)
class RowVersion:
    """A stored row over all snapshots, in whose files it lies as long as it is in a stretch; `events` are what happened
    to it, by the place of the snapshot; `copy` is that of RowPlace."""

    file: str
    pos: int
    copy: int
    row: Mapping[str, Any]
    stretches: tuple[Stretch, ...]
    events: tuple[tuple[int, RowEvent], ...]


def row_versions(
    snapshot_ids: Sequence[int],
    rows: Mapping[StoredRow, Mapping[str, Any]],
    seen: Sequence[Mapping[RowPlace, str]],
    events: Sequence[RowEvent],
) -> list[RowVersion]:
    """The versions of some rows, in the order in which they came. `seen` has a mapping for each snapshot: the rows that
    lie in its files, and the name of the delete that hides each, if one does."""
    stretches: dict[RowPlace, list[Stretch]] = {}
    for at, standing in enumerate(seen):
        for place in sorted(standing):
            own_stretches, by = stretches.setdefault(place, []), standing[place]
            if own_stretches and own_stretches[-1].last == at - 1 and own_stretches[-1].hidden_by == by:
                own_stretches[-1] = Stretch(own_stretches[-1].first, at, by)
            else:
                own_stretches.append(Stretch(at, at, by))
    column = {snapshot_id: at for at, snapshot_id in enumerate(snapshot_ids)}
    happened: dict[RowPlace, list[tuple[int, RowEvent]]] = {}
    for event in events:
        happened.setdefault(RowPlace(event.file, event.pos, event.copy), []).append((column[event.snapshot_id], event))
    return [
        RowVersion(*place, rows[place.row_key], tuple(own_stretches), tuple(happened.get(place, ())))
        for place, own_stretches in stretches.items()
    ]
