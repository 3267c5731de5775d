"""What became of a table while somebody watched."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from explorer.model.metadata import Snapshot, TableMetadata
from explorer.spec.snapshots.diff import SnapshotDiff


@dataclass(frozen=True)
class NewCommit:
    """A commit that landed: `metadata` is the file that was current when it was seen. A new `snapshot` comes with its
    `diff` against its parent (the table before its first snapshot where it has none; None where the parent has
    expired); where no snapshot came, `changes` say what differs from the metadata file before
    (spec.snapshots.metadata_diff)."""

    metadata: TableMetadata
    snapshot: Snapshot | None = None
    diff: SnapshotDiff | None = None
    changes: Mapping[str, Any] = field(default_factory=dict)


def new_snapshots(before: TableMetadata, after: TableMetadata) -> list[Snapshot]:
    """The snapshots that one metadata file has more than another, in the order of their commits."""
    earlier_ids = {s.snapshot_id for s in before.snapshots}
    new = [s for s in after.snapshots if s.snapshot_id not in earlier_ids]
    return sorted(new, key=lambda s: (s.sequence_number, s.timestamp_ms or 0))
