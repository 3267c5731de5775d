"""What a table's folder tells of a file that no snapshot lists: whether it is there, and newer than every commit."""

from __future__ import annotations

import re
import time

from explorer.errors import ExplorerError
from explorer.queries.metadata_tree import MetadataTree
from explorer.queries.stored_files import list_files
from explorer.spec.commits.kept_commits import kept_commits
from explorer.spec.commits.uncommitted_files import UNDER_WAY, YOUNG
from explorer.spec.layout.file_origins import UUID
from explorer.spec.text.names import base_name, snapshot_name, snapshot_ordinals
from explorer.spec.text.units import instant

UUIDS = re.compile(UUID)
NOT_COMMITTED = (
    "it was written at {written}, after the newest snapshot ({newest}), so no commit listed it unless it was copied "
    "here since (icedive doctor TABLE --files tells of such files)"
)
NEVER = "it lies in the table's folder, but it was never committed: no commit lists it, and {commits}{written}"
NOT_YET = f"it lies in the table's folder: no commit lists it yet. What is {YOUNG}"
OF_UNREADABLE = (
    "it lies in the table's folder, and its name has the UUID of {path}, which cannot be read: it "
    "probably is of {commit}, and then landed with it (icedive doctor TABLE says how its rows are got back)"
)
OLDER = "it lies in the table's folder: a snapshot that has expired listed it, or it was never committed"
GONE = "no file of that name lies in the table's folder: it was never there, or went with snapshots that expired"
NEVER_THERE = "no file of that name lies in the table's folder, and no commit ever listed it: {commits}"


def explain_unlisted(tree: MetadataTree, path: str) -> str:
    """Say of a file that no snapshot lists what the table's folder tells of it.

    Args:
        tree: The table's.
        path: The file's path, or the end of it.

    Returns:
        A part of a sentence; empty where the folders cannot be listed.
    """
    wanted = base_name(path)
    try:
        found = [listed.written for place, listed in list_files(tree) if base_name(place) == wanted]
    except (ExplorerError, OSError):
        return ""
    kept = None if tree.lacks else kept_commits(tree.metadata)
    if not found:
        return GONE if kept is None or kept.since_ms is not None else NEVER_THERE.format(commits=kept.words)
    if unread := _of_unreadable(tree, wanted):
        return unread
    written, newest = int(max(found) * 1000), max((s.timestamp_ms or 0 for s in tree.metadata.snapshots), default=0)
    is_young = written > time.time() * 1000 - UNDER_WAY
    if written > max(newest, tree.metadata.last_updated_ms or 0):
        told = NOT_COMMITTED.format(written=instant(written, "seconds"), newest=instant(newest, "seconds"))
        return f"{told}. What is {YOUNG}" if is_young else told
    if is_young:
        return NOT_YET
    if kept is None or not kept.are_all_since(min(found) * 1000):
        return OLDER
    at = "" if kept.since_ms is None else f" (it was written at {instant(written, 'seconds')})"
    return NEVER.format(commits=kept.words, written=at)


def _of_unreadable(tree: MetadataTree, name: str) -> str:
    """Say that a file in the table's folder is probably of a commit whose manifest list, or manifest, cannot be read:
    both names have one UUID. Empty where none has."""
    own = set(UUIDS.findall(name.lower()))
    for snapshot in tree.metadata.snapshots if own and tree.lacks else ():
        is_lost, manifests = tree.unreadable_in(snapshot)
        for path in (*([snapshot.manifest_list] if is_lost and snapshot.manifest_list else []), *manifests):
            if own & set(UUIDS.findall(base_name(path).lower())):
                commit = snapshot_name(snapshot.snapshot_id, snapshot_ordinals(tree.metadata))
                return OF_UNREADABLE.format(path=base_name(path), commit=commit)
    return ""
