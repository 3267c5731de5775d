"""Which operations drop deletes that apply to no data file (Iceberg: RemoveDanglingDeletesSparkAction,
MergingSnapshotProducer)."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

from explorer.core.batches import Batches, combined
from explorer.core.deletes import is_unpartitioned, named_file
from explorer.core.entries import live_entries
from explorer.core.live_files import LiveFile, place
from explorer.core.values import partition_dicts
from explorer.model.manifest import ManifestFile
from explorer.model.metadata import TableMetadata

OLDEST = pa.schema([("place", pa.string()), ("sequence_number", pa.int64())])
"""For each spec and partition the lowest data sequence number of its data files."""


def oldest(manifest: ManifestFile, stored: pa.Table) -> pa.Table:
    """OLDEST, of one data manifest."""
    files = live_entries(stored, manifest)
    codes, partitions = partition_dicts(files)
    names = pa.array([repr(place(manifest.partition_spec_id, p)) for p in partitions], pa.string())
    numbers = files["inherited_sequence_number"]
    return _lowest(pa.table({"place": names.take(pa.array(codes)), "sequence_number": numbers}, schema=OLDEST))


def by_place(rows: Batches) -> dict[str, int | None]:
    """All rows of OLDEST."""
    lowest = combined(rows, _lowest)
    return dict(zip(lowest["place"].to_pylist(), lowest["sequence_number"].to_pylist(), strict=True))


def _lowest(rows: pa.Table) -> pa.Table:
    lowest = rows.group_by("place", use_threads=False).aggregate([("sequence_number", "min")])
    return lowest.rename_columns(["place", "sequence_number"]).cast(OLDEST)


def cut_off(metadata: TableMetadata, delete: LiveFile) -> str:
    """Say that the path which a position delete file is for is not whole.

    Args:
        metadata: The table's.
        delete: The delete.

    Returns:
        The sentence; empty where the path is whole, or there is none.
    """
    named = named_file(delete)
    if delete.kind != "position_deletes" or not named or delete.referenced_data_file:
        return ""
    if not metadata.location.startswith(named):
        return ""
    return f"its bounds name {named!r}, which is cut off: its rows may name data files of this snapshot"


def dropped_by(metadata: TableMetadata, delete: LiveFile, lowest: Mapping[str, int | None]) -> list[str]:
    """The operations that would drop a delete which applies to nothing; `lowest` as by_place has it."""
    ways = []
    mine, number = lowest.get(repr(delete.place)), delete.sequence_number
    if not (len(metadata.partition_specs) == 1 and is_unpartitioned(metadata.partition_specs[0])) and (
        delete.kind == "deletion_vector"
        or mine is None
        or (number is not None and (number < mine or (number == mine and delete.kind == "equality_deletes")))
    ):
        ways.append("rewrite_data_files with remove-dangling-deletes, if it rewrites any file")
    if delete.kind == "position_deletes":
        ways.append("rewrite_position_delete_files, if its group is rewritten")
    known = [n for n in lowest.values() if n is not None]
    if number is not None and number > 0 and known and number < min(known):
        ways.append("the next commit that removes data files: no data file is as old")
    return ways
