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


def doubt(metadata: TableMetadata, delete: LiveFile, lowest: Mapping[str, int | None]) -> str:
    """Say why a delete that applies to nothing may have been meant for rows that are there.

    Args:
        metadata: The table's.
        delete: The delete.
        lowest: For each spec and partition the lowest sequence number of its data files, as by_place has it.

    Returns:
        The reason; empty where dropping the delete loses nothing.
    """
    spec, number = metadata.spec(delete.spec_id), delete.sequence_number
    if delete.kind == "position_deletes":
        named = named_file(delete)
        if named and not delete.referenced_data_file and metadata.location.startswith(named):
            return f"its bounds name {named!r}, which is cut off: its rows may name data files of this snapshot"
        return ""
    if delete.kind != "equality_deletes" or spec is None or is_unpartitioned(spec):
        return ""
    older = [where for where, at in lowest.items() if at is None or number is None or at < number]
    others = [where for where in older if where != repr(delete.place)]
    same_spec = all(where.startswith(f"({delete.spec_id}, ") for where in others)
    by_partition = {i for field in spec.fields for i in field.source_ids} <= set(delete.equality_ids)
    if others and all(value is None for value in delete.partition.values()):
        return "its partition is null: a delete for all partitions needs an unpartitioned spec"
    if others and not (same_spec and by_partition):
        return "data files of other partitions or specs are older than it, and may hold the rows that it names"
    return ""


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
