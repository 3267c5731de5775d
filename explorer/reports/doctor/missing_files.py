"""What the metadata of a table tells of its missing files: what removed them, and where their rows are too."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from explorer.spec.doctor.manifest_list_rules import Lists
from explorer.spec.doctor.missing_files import MAX_NAMED, MissingFile, find_filter
from explorer.spec.entries.entries import ADDED, DELETED, live_entries, snapshot_ids
from explorer.spec.entries.live_files import LiveFile, live_files
from explorer.spec.values.hashes import hashes
from explorer.table import Table

MAX_LIVE = 20_000
"""Data files of the current snapshot whose metrics are compared."""
MAX_COMPARED = MAX_NAMED
"""Missing files of the current snapshot that are held against the others, for a filter: a remedy names no more."""


def find_missing_files(table: Table, lists: Lists, gone: Mapping[str, int]) -> dict[str, MissingFile]:
    """Find what metadata tells of missing files.

    Args:
        table: The table.
        lists: What was read of its manifest lists and manifests.
        gone: The missing files' paths, and which snapshots read each, as a mask.

    Returns:
        What is told of each, by its path.
    """
    if not gone:
        return {}
    removers = _removers(table, lists, gone)
    found = {path: MissingFile(removers=tuple(removers.get(path, ()))) for path in gone}
    live = _live_data(table, lists, gone)
    here = {file.path: file for file in live}
    missing = frozenset(gone)
    kept: dict[int, tuple[int, dict[str, int]]] = {}
    for number, path in enumerate([path for path in gone if path in here]):
        file = here[path]
        where = find_filter(file, live, missing, table.metadata) if number < MAX_COMPARED else ""
        one = replace(found[path], rows=file.record_count, where=where)
        for remover in one.removers:
            if remover not in kept:
                kept[remover] = _kept_rows(table, lists, remover, here.keys() - missing)
            files, rows = kept[remover]
            if files and rows.get(path) == file.record_count:
                one = replace(one, kept_in=files, kept_by=remover)
        found[path] = one
    return found


def _removers(table: Table, lists: Lists, gone: Mapping[str, int]) -> dict[str, list[int]]:
    """The snapshots that removed a file which one of them, or a later one, reads."""
    paths = pa.array(list(gone), pa.string())
    keys = hashes(pa.chunked_array([paths]))
    some = [path for path in lists.held if np.isin(lists.held[path].numbers("gone"), keys).any()]
    removers: dict[str, list[int]] = {}
    for manifest, stored in table.tree.stored_entries([lists.records[path] for path in some]):
        stored = stored.append_column("by", snapshot_ids(stored, manifest))
        removed = stored.filter(pc.and_(pc.equal(stored["status"], DELETED), pc.is_in(stored["file_path"], paths)))
        for path, by in zip(removed["file_path"].to_pylist(), removed["by"].to_pylist(), strict=True):
            is_before = gone[path] & lists.descendants.get(by or 0, 0)
            if is_before and lists.bit(by) and by not in removers.setdefault(path, []):
                removers[path].append(by)
    return removers


def _live_data(table: Table, lists: Lists, gone: Mapping[str, int]) -> list[LiveFile]:
    """The data files of the current snapshot, with bounds; none where it reads no missing file, where not all of its
    manifests are read, or where they are too many."""
    current = table.metadata.current_snapshot_id
    listed = [m for m in lists.lists.get(current or 0, ()) if not m.content]
    is_read = current not in lists.unread and all(m.manifest_path in lists.held for m in listed)
    if not is_read or not any(mask & lists.bit(current) for mask in gone.values()):
        return []
    numbers = [n for m in listed for n in (m.added_files_count, m.existing_files_count)]
    if None in numbers or sum(n or 0 for n in numbers) > MAX_LIVE:
        return []
    files: list[LiveFile] = []
    for manifest, stored in table.tree.stored_entries(listed, metrics=True):
        files += live_files(live_entries(stored, manifest), manifest.partition_spec_id, manifest.manifest_path)
    return files


def _kept_rows(table: Table, lists: Lists, remover: int, live: frozenset[str] | set[str]) -> tuple[int, dict[str, int]]:
    """How many data files a replace added, and how many rows each file has that it removed; nothing where it dropped
    rows, or where the current snapshot does not read all that it added, or has deletes."""
    snapshot, current = table.metadata.snapshot(remover), table.metadata.current_snapshot_id
    if snapshot is None or snapshot.operation != "replace" or remover in lists.unread:
        return 0, {}
    if any(m.content for m in (*lists.lists.get(remover, ()), *lists.lists.get(current or 0, ()))):
        return 0, {}
    added: dict[str, int] = {}
    removed: dict[str, int] = {}
    own = [m for m in lists.lists.get(remover, ()) if m.added_snapshot_id == remover]
    if any(m.manifest_path not in lists.held for m in own):
        return 0, {}
    for manifest, stored in table.tree.stored_entries(own):
        stored = stored.append_column("by", snapshot_ids(stored, manifest))
        for status, rows in ((ADDED, added), (DELETED, removed)):
            some = stored.filter(pc.and_(pc.equal(stored["status"], status), pc.equal(stored["by"], remover)))
            rows |= dict(zip(some["file_path"].to_pylist(), some["record_count"].to_pylist(), strict=True))
    counts = [*added.values(), *removed.values()]
    if None in counts or not added or sum(added.values()) != sum(removed.values()) or not added.keys() <= live:
        return 0, {}
    return len(added), removed
