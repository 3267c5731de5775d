"""What a table's folder tells of a file that no snapshot lists: whether it is there, and newer than every commit."""

from __future__ import annotations

from explorer.errors import ExplorerError
from explorer.queries.metadata_tree import MetadataTree
from explorer.queries.stored_files import list_files
from explorer.spec.text.names import base_name
from explorer.spec.text.units import instant

NOT_COMMITTED = (
    "it was written at {written}, after the newest snapshot ({newest}), so no commit listed it unless it was copied "
    "here since (icedive doctor TABLE --files tells of such files)"
)
OLDER = "it lies in the table's folder: a snapshot that has expired listed it, or it was never committed"
GONE = "no file of that name lies in the table's folder: it was never there, or went with snapshots that expired"


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
    if not found:
        return GONE
    written, newest = int(max(found) * 1000), max((s.timestamp_ms or 0 for s in tree.metadata.snapshots), default=0)
    if written <= max(newest, tree.metadata.last_updated_ms or 0):
        return OLDER
    return NOT_COMMITTED.format(written=instant(written, "seconds"), newest=instant(newest, "seconds"))
