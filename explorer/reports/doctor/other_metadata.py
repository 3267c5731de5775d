"""What lies beside the files that a table names: other metadata files of one version, and lists of other attempts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from explorer.errors import ExplorerError, UnreadableFile
from explorer.model.metadata import Snapshot, TableMetadata
from explorer.progress import steps
from explorer.spec.doctor.findings import Finding, finding
from explorer.storage.reader import read_metadata
from explorer.table import Table

TRIED = 20
"""Other metadata files that are read."""
_VERSION = re.compile(r"(\d{5,})-[^/]*\.metadata\.json(?:\.gz)?|(\d{5,})-[^/]*\.gz\.metadata\.json")


def fork_rules(table: Table) -> Iterator[Finding]:
    """Rule 69: a second metadata file of one version, with a snapshot that the table does not have."""
    meta = table.metadata
    folder = meta.metadata_location.rpartition("/")[0]
    own_names = {
        path.rpartition("/")[2] for path in (meta.metadata_location, *(e.metadata_file for e in meta.metadata_log))
    }
    versions = {number: name for name in own_names if (number := _version(name)) is not None}
    twins = [name for name in names_in(table, folder) if name not in own_names and _version(name) in versions]
    for name in steps(twins[:TRIED], "metadata files"):
        try:
            other, _ = read_metadata(table.reader.storage, f"{folder}/{name}")
        except UnreadableFile:
            continue
        if other.table_uuid == meta.table_uuid and (own := _new_snapshots(other, meta)):
            yield _fork(meta, other, own, versions[_version(name) or 0])


def _version(name: str) -> int | None:
    match = _VERSION.fullmatch(name)
    return int(match[1] or match[2]) if match else None


def _new_snapshots(other: TableMetadata, meta: TableMetadata) -> list[Snapshot]:
    """The last snapshot of another metadata file, where the table does not have it."""
    last = other.last_sequence_number
    return [s for s in other.snapshots if meta.snapshot(s.snapshot_id) is None and s.sequence_number == last]


def _fork(meta: TableMetadata, other: TableMetadata, own: Sequence[Snapshot], twin: str) -> Finding:
    name = other.metadata_location.rpartition("/")[2]
    return finding(
        "metadata-fork",
        f"{name} is a second version {_version(name)}, with snapshot {own[-1].snapshot_id}, which the table does not "
        "have: its commit failed, or was lost after it was said to have succeeded",
        other.metadata_location,
        found=own[-1].snapshot_id,
        expected=f"{twin}, which the table went on from",
        node=("metadata", meta.metadata_location),
    )


def other_attempts(table: Table, snapshot: Snapshot) -> list[str]:
    """The manifest lists of other attempts to commit a snapshot, beside the one that is named."""
    if not snapshot.manifest_list:
        return []
    folder, _, own = snapshot.manifest_list.rpartition("/")
    begin = f"snap-{snapshot.snapshot_id}-"
    return sorted(n for n in names_in(table, folder) if n.startswith(begin) and n.endswith(".avro") and n != own)


def names_in(table: Table, folder: str) -> list[str]:
    """The names of the files in a folder; none where it cannot be listed."""
    storage = table.reader.storage
    try:
        root = storage.folder(folder)
        return storage.names(folder) if root is None else [p.name for p in Path(root).iterdir()]
    except (ExplorerError, OSError):
        return []
