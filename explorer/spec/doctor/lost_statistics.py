"""Of rule 54: statistics that an older metadata file has, and that the table has no more."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from explorer.model.metadata import TableMetadata
from explorer.spec.doctor.findings import Finding, finding
from explorer.spec.doctor.metadata_rules import is_of_other_table
from explorer.spec.snapshots.log_gaps import shown_file

PLACES = {"statistics": "/statistics", "partition statistics": "/partition-statistics"}
"""Where a metadata file has statistics, by their kind."""


def lost_statistics(meta: TableMetadata, older: Mapping[str, TableMetadata]) -> Iterator[Finding]:
    """Tell of each kind of statistics that the table has no more.

    Args:
        meta: The table's.
        older: Older metadata files that were read, by their paths, the oldest first.

    Returns:
        A finding a kind, by the newest file that has some.
    """
    now = meta.current_snapshot
    own = {path: file for path, file in older.items() if not is_of_other_table(meta, file)}
    for kind, place in PLACES.items():
        with_some = [path for path, file in own.items() if any(s.kind == kind for s in file.statistics)]
        if now is None or not with_some or any(s.kind == kind for s in meta.statistics):
            continue
        last = with_some[-1]
        files = [s for s in own[last].statistics if s.kind == kind]
        are_expired = all(meta.snapshot(file.snapshot_id) is None for file in files)
        expired = "its snapshot has expired" if len(files) == 1 else "their snapshots have expired"
        yield finding(
            "statistics-stale",
            f"the table has no {kind} file any more: {shown_file(last)} has {len(files):,}, and "
            f"{_without(meta, own, last)} has none{f': {expired}' if are_expired else ''}",
            meta.metadata_location,
            place,
            found=files[-1].snapshot_id,
            expected=now.snapshot_id,
            snapshots=(now.snapshot_id,),
            node=("metadata", meta.metadata_location),
        )


def _without(meta: TableMetadata, older: Mapping[str, TableMetadata], last: str) -> str:
    """The first metadata file without them after the last one that has some, or the current one where it is not
    known which that is."""
    paths = [*(entry.metadata_file for entry in meta.metadata_log), meta.metadata_location]
    following = paths[paths.index(last) + 1]
    return shown_file(following if following in older else meta.metadata_location)
