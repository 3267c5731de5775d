"""The data files of lost manifests that may be added again: those in the folder that no other manifest names."""

from __future__ import annotations

from explorer.errors import ExplorerError
from explorer.model.manifest import ManifestFile
from explorer.queries.orphans import data_files_without_entry
from explorer.spec.doctor.manifest_list_rules import Lists
from explorer.spec.doctor.remedies import LostFiles
from explorer.spec.entries.entries import live_entries
from explorer.spec.entries.live_files import live_files
from explorer.spec.text.names import file_in_sql
from explorer.table import Table

MAX_READ = 100
"""Files whose rows are counted."""


def find_lost_files(table: Table, lists: Lists) -> LostFiles | None:
    """Find the files that the lost manifests of the current snapshot may have named.

    Args:
        table: The table.
        lists: What was read of its manifest lists and manifests.

    Returns:
        The files; None where no data manifest is lost, or nothing is found.
    """
    current = table.metadata.current_snapshot
    listed = lists.lists.get(current.snapshot_id, ()) if current else ()
    lost = frozenset(m.manifest_path for m in listed if m.manifest_path not in lists.held)
    if current is None or not lost or current.snapshot_id in lists.unread:
        return None
    try:
        files = data_files_without_entry(table.tree)
    except ExplorerError:
        return None
    records = [m for m in listed if m.manifest_path in lost]
    numbers = [n for m in records for n in (m.added_files_count, m.existing_files_count)]
    rows = [n for m in records for n in (m.added_rows_count, m.existing_rows_count)]
    simple = not any(m.content for m in listed) and not any(spec.fields for spec in table.metadata.partition_specs)
    fits = (
        simple
        and None not in (*numbers, *rows)
        and sum(n or 0 for n in numbers) == len(files) <= MAX_READ
        and _rows(table, files) == sum(n or 0 for n in rows)
    )
    added = {m.manifest_path: m.added_snapshot_id for s in lists.lists.values() for m in s}
    broken = frozenset(added[path] for path in lost)
    whole = frozenset(i for path, i in added.items() if path not in lost and i is not None)
    rest = [m for m in listed if m.manifest_path not in lost]
    is_oldest = max(m.sequence_number or 0 for m in records) < min([m.sequence_number or 0 for m in rest], default=0)
    left = _live_files(table, rest) if fits else ()
    return LostFiles(tuple(files), fits, broken - whole, whole - broken, left, is_oldest) if files else None


def _live_files(table: Table, manifests: list[ManifestFile]) -> tuple[str, ...]:
    """The live files of manifests; none where they are too many to be named, or one of them is missing."""
    numbers = [n for m in manifests for n in (m.added_files_count, m.existing_files_count)]
    if None in numbers or sum(n or 0 for n in numbers) > MAX_READ:
        return ()
    paths: list[str] = []
    for manifest, stored in table.tree.stored_entries(manifests):
        entries = live_entries(stored, manifest)
        paths += (file.path for file in live_files(entries, manifest.partition_spec_id, manifest.manifest_path))
    return tuple(paths) if len(table.tree.sizes(paths)) == len(paths) else ()


def _rows(table: Table, files: list[str]) -> int | None:
    """The rows of Parquet files whose paths can be made a part of SQL; None where they are not known."""
    if not all(path.endswith(".parquet") and file_in_sql(path) for path in files):
        return None
    try:
        ahead = table.reader.storage.read_ahead(files, lambda path: (path, 0), ends=True)
        return sum(table.reader.parquet_footer(path)["num_rows"] for path in ahead)
    except ExplorerError:
        return None
