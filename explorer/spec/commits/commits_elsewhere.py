"""Commits to other branches than main: they replace the same metadata file, so that a commit to main loses the swap."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from explorer.model.metadata import Snapshot, TableMetadata
from explorer.spec.snapshots.branches import MAIN
from explorer.spec.text.names import first_of, shorten, snapshot_name, snapshot_ordinals
from explorer.spec.text.units import count

REFS_NAMED, BRANCH_LENGTH = 3, 60
"""Refs that are named, and characters of a branch's name."""


@dataclass(frozen=True)
class CommitsElsewhere:
    """Snapshots that came after a base and that are not on the way from it to the current one, oldest first; `refs` are
    the branches and tags that point to one of them."""

    snapshots: tuple[Snapshot, ...]
    refs: tuple[str, ...]


def commits_elsewhere(metadata: TableMetadata, base: Snapshot, line: Collection[int]) -> CommitsElsewhere:
    """Find the snapshots that were committed after a base, and not to main.

    Args:
        metadata: The table's.
        base: The snapshot from which a commit begins.
        line: Ids of the current snapshot and its ancestors.
    """

    def age(snapshot: Snapshot) -> tuple[int, int]:  # version 1 has no sequence numbers: all are 0
        return snapshot.sequence_number, snapshot.timestamp_ms or 0

    others = [s for s in metadata.snapshots if s.snapshot_id not in line and age(s) > age(base)]
    ids = {snapshot.snapshot_id for snapshot in others}
    refs = tuple(f"{ref.type} {ref.name}" for ref in metadata.refs if ref.snapshot_id in ids)
    return CommitsElsewhere(tuple(sorted(others, key=age)), refs)


def elsewhere_words(
    metadata: TableMetadata, base: Snapshot, others: CommitsElsewhere, retried: bool, branch: str = MAIN
) -> str:
    """Say what commits to other branches do to a commit to one.

    Args:
        metadata: The table's.
        base: The snapshot from which the commit begins.
        others: What was committed after it, and not to the branch.
        retried: Whether Iceberg tries such a commit again.
        branch: The branch that it is committed to.
    """
    ordinals = snapshot_ordinals(metadata)
    first, last = (snapshot_name(others.snapshots[i].snapshot_id, ordinals) for i in (0, -1))
    which = first if first == last else f"{first} to {last}"
    where = f" ({first_of(others.refs, REFS_NAMED)})" if others.refs else ", and no branch or tag points to them"
    costs = "costs it a try" if retried else "has it refused"
    return (
        f"{count(len(others.snapshots), 'snapshot')} ({which}) came after "
        f"{snapshot_name(base.snapshot_id, ordinals)}, and not on {shorten(branch, BRANCH_LENGTH)}{where}. All "
        f"branches share one metadata file: each commit to any of them {costs}. No validation looks at another branch. "
        f"A job that began after {last} does not lose to these."
    )
