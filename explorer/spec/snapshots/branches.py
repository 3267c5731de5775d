"""On which branch each snapshot was committed, as far as the parents that are left tell."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from explorer.model.metadata import TableMetadata
from explorer.spec.text.names import first_of

MAIN, NO_BRANCH = "main", "no branch"
NAMED = 3
"""Branches that a sentence names."""


def branch_of_each(metadata: TableMetadata) -> dict[int, str]:
    """Return for each snapshot the branch that it was committed on.

    What main has is of main. Of another snapshot each branch that has it is named, and `no branch` where none has it:
    it is staged, or a rollback or a dropped branch left it.

    Args:
        metadata: The table's.
    """
    heads = {ref.name: ref.snapshot_id for ref in metadata.refs if ref.type == "branch" and ref.name != MAIN}
    main = set(_line(metadata, metadata.current_snapshot_id, set()))
    names: defaultdict[int, list[str]] = defaultdict(list)
    for name, head in sorted(heads.items()):
        for snapshot_id in _line(metadata, head, main):
            names[snapshot_id].append(name)
    return {
        one: MAIN if one in main else first_of(names[one], NAMED) if one in names else NO_BRANCH
        for one in (snapshot.snapshot_id for snapshot in metadata.snapshots)
    }


def about_main(metadata: TableMetadata, what: str) -> str:
    """Say that an answer is about main, where a table has other branches; empty where it has none.

    Args:
        metadata: The table's.
        what: What the answer is about, with a verb: `The plan is`.
    """
    others = sorted(ref.name for ref in metadata.refs if ref.type == "branch" and ref.name != MAIN)
    if not others:
        return ""
    return f"{what} about main. Of the table's other branches ({first_of(others, NAMED)}) it says nothing."


def branches_at(metadata: TableMetadata, snapshots: Iterable[int]) -> list[str]:
    """Return the branches to which commits come onto one of some snapshots.

    Args:
        metadata: The table's.
        snapshots: The snapshots.
    """
    some = set(snapshots)
    names = {ref.name for ref in metadata.refs if ref.type == "branch" and ref.snapshot_id in some}
    return sorted(names | ({MAIN} if metadata.current_snapshot_id in some else set()))


def _line(metadata: TableMetadata, head: int | None, before: set[int]) -> Iterator[int]:
    """A snapshot and its ancestors, up to one of those `before`. A circle of parents is walked once."""
    seen: set[int] = set()
    snapshot = metadata.snapshot(head)
    while snapshot is not None and snapshot.snapshot_id not in seen and snapshot.snapshot_id not in before:
        seen.add(snapshot.snapshot_id)
        yield snapshot.snapshot_id
        snapshot = metadata.snapshot(snapshot.parent_snapshot_id)
