"""Since when all commits of a table are known: their sequence numbers have no gap."""

from __future__ import annotations

from dataclasses import dataclass

from explorer.model.metadata import TableMetadata
from explorer.spec.text.units import count, instant


@dataclass(frozen=True)
class KeptCommits:
    """The commits up to the last one of which every snapshot is there.

    Attributes:
        commits: How many they are.
        since_ms: When the first of them was committed; None where no commit was ever before them.
    """

    commits: int
    since_ms: int | None

    @property
    def words(self) -> str:
        """Say which they are, as the subject of a sentence."""
        if self.since_ms is None and not self.commits:
            return "the table never had a commit"
        if self.since_ms is None:
            return f"all commits that the table ever had ({self.commits:,}) are there"
        return f"all {count(self.commits, 'commit')} since {instant(self.since_ms, 'seconds')} are there"

    def are_all_since(self, written_ms: float) -> bool:
        """Return whether each commit that can have added a file of that time is there."""
        return self.since_ms is None or written_ms > self.since_ms


def kept_commits(metadata: TableMetadata) -> KeptCommits | None:
    """Return the newest commits without a gap; None where that is not known, as in format version 1.

    Each commit of format version 2 has the next sequence number, on whatever branch it is, and the table has the last
    one that was given. A snapshot that has expired leaves its number free.

    Args:
        metadata: The table's.
    """
    last = metadata.last_sequence_number
    if metadata.format_version < 2 or last is None:
        return None
    by_number = {snapshot.sequence_number: snapshot for snapshot in metadata.snapshots}
    first = last
    while first >= 1 and first in by_number:
        first -= 1
    if first == 0 and (metadata.snapshots or not last) and not _had_earlier(metadata):
        return KeptCommits(last, None)
    oldest = by_number.get(first + 1)
    if oldest is None or oldest.timestamp_ms is None:
        return None
    return KeptCommits(last - first, oldest.timestamp_ms)


def _had_earlier(metadata: TableMetadata) -> bool:
    """Whether snapshots without a sequence number, of format version 1, may have expired."""
    return any(
        not snapshot.sequence_number
        or (snapshot.parent_snapshot_id is not None and metadata.snapshot(snapshot.parent_snapshot_id) is None)
        for snapshot in metadata.snapshots
    )
