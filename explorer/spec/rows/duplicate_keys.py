"""Keys that several visible rows of a snapshot have: since which commit, in which files, and why."""

from __future__ import annotations

import datetime
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from explorer.spec.filters.filter_text import column_text
from explorer.spec.rows.row_versions import RowEvent, RowPlace
from explorer.spec.text.names import base_name, snapshot_name
from explorer.spec.text.units import count

FILES = 5
"""Files of a key that are named."""


@dataclass(frozen=True)
class DuplicateKey:
    """A key that several rows have.

    Attributes:
        values: The key, by column.
        rows: How many rows have it.
        since: The snapshot since which it has several rows without a break; empty where that is unknown.
        files: Files that have these rows.
        why: How they came to be, as far as metadata and files tell.
    """

    values: Mapping[str, Any]
    rows: int
    since: str = ""
    files: tuple[str, ...] = ()
    why: str = ""


@dataclass(frozen=True)
class DuplicateKeys:
    """The answer for one snapshot.

    Attributes:
        columns: The columns of the key.
        snapshot: The snapshot's name.
        keys: How many keys several rows have.
        rows: How many rows these keys have together.
        first: The keys that most rows have.
    """

    columns: tuple[str, ...]
    snapshot: str
    keys: int
    rows: int
    first: tuple[DuplicateKey, ...]

    @property
    def words(self) -> str:
        """The answer in a sentence."""
        names = ", ".join(self.columns)
        if not self.keys:
            return f"At {self.snapshot}, no two rows have the same {names}."
        return (
            f"At {self.snapshot}, {count(self.keys, 'key')} ({names}) {'has' if self.keys == 1 else 'have'} several "
            f"rows: {self.rows:,} in total, {self.rows - self.keys:,} too many if keys are to be unique."
        )


def key_filter(values: Mapping[str, Any]) -> str:
    """Return the filter that rows with a key match (icedive docs filters)."""
    return " AND ".join(_equals(column_text_of(name), value) for name, value in values.items())


def column_text_of(name: str) -> str:
    """Return a column, or a field inside structs, as a filter has it."""
    return ".".join(map(column_text, name.split(".")))


def _equals(name: str, value: Any) -> str:
    if value is None:
        return f"{name} IS NULL"
    if isinstance(value, float) and math.isnan(value):
        return f"{name} IS NAN"
    if isinstance(value, (bytes, bytearray)):
        return f"{name} = X'{value.hex()}'"
    if isinstance(value, bool):
        return f"{name} = {str(value).lower()}"
    if isinstance(value, (str, datetime.date, datetime.time)):
        text = value if isinstance(value, str) else value.isoformat()
        return f"{name} = '{text.replace(chr(39), chr(39) * 2)}'"
    return f"{name} = {value}"


def duplicate_reason(places: Sequence[RowPlace], arrivals: Sequence[RowEvent], operation: str | None) -> str:
    """Say how a key came to have several rows.

    Args:
        places: The rows that are visible.
        arrivals: What happened at the commit since which there are several.
        operation: What that commit did.
    """
    if any(place.copy for place in places):
        return "the same data file is live twice: icedive doctor has the remedy"
    files = {place.file for place in places}
    if len(files) == 1:
        return f"one file has it {len(places):,} times: its writer wrote it so"
    came = [event for event in arrivals if event.what in ("appeared", "came back", "changed")]
    if not came:
        return "a rewrite, a rollback or a branch brought these rows together"
    told = "; ".join(dict.fromkeys(f"{event.what}: {event.words}" for event in came))
    if len(came) == len(places):
        return f"one commit wrote it into {count(len(files), 'file')} ({told})"
    if operation == "append":
        return f"an append deletes nothing, so that the older row stays ({told})"
    return f"the deletes of this {operation or 'commit'} do not reach the older row ({told})"


def duplicate_key(
    values: Mapping[str, Any],
    rows: int,
    visible: Sequence[tuple[int, Sequence[RowPlace]]],
    events: Sequence[RowEvent],
    operations: Mapping[int, str | None],
    ordinals: Mapping[int, int],
) -> DuplicateKey:
    """Say of one key since when it has several rows, where they are and why.

    Args:
        values: The key.
        rows: How many rows have it.
        visible: The visible rows with the key of the snapshot and its ancestors, newest first, by snapshot id.
        events: What happened to these rows.
        operations: What each snapshot did.
        ordinals: The number of each snapshot.
    """
    run = [one for one, places in visible if len(places) > 1]
    length = next((n for n, (_, places) in enumerate(visible) if len(places) < 2), len(visible))
    now = visible[0][1] if visible else []
    files = tuple(base_name(one) for one in sorted({place.file for place in now}))
    shown = (*files[:FILES], *([f"and {len(files) - FILES:,} more"] if len(files) > FILES else []))
    if not length or not run:
        return DuplicateKey(values, rows, "", shown, "files show other rows than Spark read")
    since = visible[length - 1][0]
    own = {(place.file, place.pos, place.copy) for place in now}
    arrivals = [e for e in events if e.snapshot_id == since and (e.file, e.pos, e.copy) in own]
    name = snapshot_name(since, dict(ordinals))
    if length == len(visible) and all(event.what == "was there" for event in arrivals):
        name = f"{name} or before: older snapshots have expired"
    return DuplicateKey(values, rows, name, shown, duplicate_reason(now, arrivals, operations.get(since)))
