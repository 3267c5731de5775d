"""Main's history across snapshots that have expired, as far as older metadata files tell of them."""

from __future__ import annotations

from dataclasses import dataclass

from explorer.model.metadata import TableMetadata
from explorer.spec.snapshots.ancestors import NO_PARENTS, Parents


@dataclass(frozen=True)
class MainLine:
    """The snapshots that are left, by whether the current one descends from them.

    Attributes:
        linked: The current snapshot and its ancestors, newest first, up to the first that has expired.
        cut_off: Ancestors from which an expired snapshot cuts them off, newest first. Iceberg does not know them as
            ancestors any more.
        unknown: Snapshots older than the last known ancestor, whose parent has expired: nobody knows whether they are
            ancestors. Those of branches and staged ones are among them.
    """

    linked: tuple[int, ...]
    cut_off: tuple[int, ...]
    unknown: frozenset[int]

    @property
    def kept(self) -> tuple[int, ...]:
        """The current snapshot and all known ancestors that are left, newest first."""
        return (*self.linked, *self.cut_off)


NO_LINE = MainLine((), (), frozenset())
"""That of a table without snapshots."""


def main_line(metadata: TableMetadata, former: Parents = NO_PARENTS) -> MainLine:
    """Follow the parents of the current snapshot, also through those that have expired.

    Args:
        metadata: The table's.
        former: The parents of snapshots as older metadata files have them, also of those that have expired since.
            pyiceberg forgets a parent that it expires.

    Returns:
        The line.
    """
    linked: list[int] = []
    cut_off: list[int] = []
    walked: set[int] = set()
    at, is_cut = metadata.current_snapshot_id, False
    last: int | None = None
    while at is not None and at not in walked:
        walked.add(at)
        snapshot = metadata.snapshot(at)
        is_cut |= snapshot is None
        if snapshot is not None:
            (cut_off if is_cut else linked).append(at)
        last = at
        at = snapshot.parent_snapshot_id if snapshot else None
        if at is None:
            at = former.get(last)
            is_cut |= at is not None
    kept = [*linked, *cut_off]
    if not kept or last is None or at is not None or _has_no_parent(metadata, last, former):
        return MainLine(tuple(linked), tuple(cut_off), frozenset())
    end = metadata.ordinals[kept[-1]]
    older = {own for own, number in metadata.ordinals.items() if number < end} - walked
    return MainLine(tuple(linked), tuple(cut_off), frozenset(older))


def _has_no_parent(metadata: TableMetadata, own: int, former: Parents) -> bool:
    """Whether a snapshot without a parent never had one: an older metadata file says so, or no number is missing."""
    return own in former or began_anew(metadata, own)


def began_anew(metadata: TableMetadata, own: int) -> bool:
    """Tell whether a snapshot without a parent never had one, by the numbers of those before it.

    Args:
        metadata: The table's.
        own: The snapshot's id.

    Returns:
        Whether no number is missing before it. False where the table does not have it.
    """
    if metadata.snapshot(own) is None:
        return False
    before = metadata.by_number[: metadata.ordinals[own]]
    return before[-1].sequence_number - before[0].sequence_number == len(before) - 1
