"""Which operations drop deletes that apply to no data file (Iceberg: RemoveDanglingDeleteFilesAction,
MergingSnapshotProducer)."""

from __future__ import annotations

from collections.abc import Iterable

from explorer.model.manifest import ManifestFile
from explorer.model.metadata import TableMetadata
from explorer.spec.deletes.deletes import target_file
from explorer.spec.entries.live_files import LiveFile

REMOVAL = "rewrite_data_files with remove-dangling-deletes"
REWRITE = "rewrite_position_delete_files, if its group is rewritten"


def oldest_data(manifests: Iterable[ManifestFile]) -> int | None:
    """The lowest data sequence number of a snapshot's data files, as its manifest list has it.

    Args:
        manifests: The snapshot's.

    Returns:
        The number; None where there is no data file.
    """
    live = [m for m in manifests if m.content == 0 and (m.added_files_count, m.existing_files_count) != (0, 0)]
    return min((m.min_sequence_number for m in live), default=None)


def cut_off(metadata: TableMetadata, delete: LiveFile) -> str:
    """Say that the path which a position delete file is for is not whole.

    Args:
        metadata: The table's.
        delete: The delete.

    Returns:
        The sentence; empty where the path is whole, or there is none.
    """
    named = target_file(delete)
    if delete.kind != "position_deletes" or not named or delete.referenced_data_file:
        return ""
    if not metadata.location.startswith(named):
        return ""
    return f"its bounds name {named!r}, which is cut off: its rows may name data files of this snapshot"


def operations_that_drop(delete: LiveFile, oldest: int | None, spent: bool = False) -> list[str]:
    """The operations that would drop a delete which hides nothing.

    Args:
        delete: The delete.
        oldest: As oldest_data has it.
        spent: Whether readers open it all the same (spec.deletes.snapshot_deletes.Deletes.spent).
    """
    if spent:
        return [REWRITE]
    ways = [REMOVAL]
    if delete.kind == "position_deletes":
        ways.append(REWRITE)
    number = delete.sequence_number
    if number is not None and oldest is not None and 0 < number < oldest:
        ways.append("the next commit that removes data files: no data file is as old")
    return ways
