"""Say which commit that a table does not have names a file."""

from __future__ import annotations

from explorer.errors import ExplorerError
from explorer.queries.metadata_tree import MetadataTree
from explorer.queries.orphans import files_beside, other_metadata
from explorer.queries.unnamed_commits import find_unnamed_commits
from explorer.spec.commits.unnamed_commits import UnnamedCommit
from explorer.spec.snapshots.lifecycle import file_life
from explorer.spec.text.names import base_name

LOST = "only a commit that the table does not have names it"
NEWEST = 20
"""So many metadata files that the table does not know are looked at, the newest."""


def is_of_commit(commit: UnnamedCommit, wanted: str) -> bool:
    """Return whether a file is one that an unnamed commit added, or its manifest list.

    Args:
        commit: The commit.
        wanted: The file's path, or its name.
    """
    return any(wanted in (path, base_name(path)) for path in (*(commit.added_files or ()), commit.listed.path))


def explain_lost_commit(tree: MetadataTree, path: str) -> str:
    """Say which commit that the table does not have names a file which no snapshot of the table lists.

    Args:
        tree: The table's.
        path: The file's path, or the end of it.

    Returns:
        A part of a sentence; empty where none is found.
    """
    wanted = path.strip()
    try:
        commits = find_unnamed_commits(tree).commits
        own = next((commit for commit in reversed(commits) if is_of_commit(commit, wanted)), None)
        if own is not None:
            return f"{LOST}: {own.brief(tree.metadata)}. icedive doctor TABLE says how its rows are got back"
        return _of_other_metadata(tree, wanted)
    except (ExplorerError, OSError):  # what cannot be listed or read tells nothing
        return ""


def _of_other_metadata(tree: MetadataTree, wanted: str) -> str:
    """The same, of commits that are in a metadata file which is not in the table's log."""
    known = {snapshot.snapshot_id for snapshot in tree.metadata.snapshots}
    others = [o for o in other_metadata(tree, files_beside(tree)) if _is_same_table(tree, o.tree)]
    for other in sorted(others, key=lambda o: -(o.tree.metadata.last_updated_ms or 0))[:NEWEST]:
        try:
            life = file_life(other.tree, wanted)
        except ValueError:  # it means several files
            continue
        added = next((e for e in life.events if e.logical_status == "ADDED"), None) if life else None
        if added is not None and added.snapshot_id not in known:
            return (
                f"{LOST}: snapshot {added.snapshot_id} ({added.operation}) added it, of {base_name(other.path)}, which "
                "lies beside the table's metadata, and which its log does not name. icedive doctor TABLE tells of it"
            )
    return ""


def _is_same_table(tree: MetadataTree, other: MetadataTree) -> bool:
    return other.metadata.table_uuid == tree.metadata.table_uuid
