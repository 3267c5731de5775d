"""Commits that wrote data files anew for some rows of them (copy-on-write), by what Spark writes into summaries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from explorer.model.metadata import Snapshot, TableMetadata
from explorer.spec.commits.commit_writers import commit_writer
from explorer.spec.text.names import snapshot_name, snapshot_ordinals
from explorer.spec.text.units import count, whole

MERGE_ROWS = "spark.merge-into.num-target-rows-"
"""How keys begin with which Spark 4.1 counts the rows of a MERGE."""
CHANGES = ("updated", "deleted")
RowStatement = Literal["delete", "merge", "update"]
ANY: tuple[RowStatement, ...] = ("delete", "merge", "update")


@dataclass(frozen=True)
class WholeFileCommit:
    """A commit that replaced data files, and carried rows of them over.

    Attributes:
        statements: What it may have been: summaries count the rows of a MERGE alone.
        words: What it did, with the numbers.
    """

    statements: tuple[RowStatement, ...]
    words: str


def whole_file_commits(metadata: TableMetadata) -> list[WholeFileCommit]:
    """Find the commits of Spark that are left and carried rows over. An INSERT OVERWRITE looks as one where it wrote as
    many rows as it replaced, or fewer.

    Args:
        metadata: The table's.

    Returns:
        The commits, the oldest first.
    """
    ordinals = snapshot_ordinals(metadata)
    commits = (_commit(s, snapshot_name(s.snapshot_id, ordinals).capitalize()) for s in metadata.by_number)
    return [commit for commit in commits if commit is not None]


def _commit(snapshot: Snapshot, name: str) -> WholeFileCommit | None:
    summary = snapshot.summary
    keys = ("deleted-data-files", "added-data-files", "deleted-records", "added-records")
    gone, come, removed, added = (whole(summary.get(key)) or 0 for key in keys)
    if snapshot.operation != "overwrite" or not gone or not come or whole(summary.get("added-delete-files")):
        return None
    if commit_writer(snapshot, "").engine != "spark" or summary.get("replace-partitions") == "true":
        return None
    if any("streaming" in key for key in summary):  # a stream in complete mode overwrites the table
        return None
    files = f"replaced {count(gone, 'data file')} of {count(removed, 'row')} by {come:,}"
    if (copied := whole(summary.get(f"{MERGE_ROWS}copied"))) is not None:
        changed = sum(whole(summary.get(f"{MERGE_ROWS}{change}")) or 0 for change in CHANGES)
        words = f"{name} is a MERGE that {files}: it carried {count(copied, 'row')} over, and changed {changed:,}"
        return WholeFileCommit(("merge",), words) if copied > changed else None
    if added == removed:
        like = "of as many rows: how many rows it changed is not recorded"
        return WholeFileCommit(ANY, f"{name} {files} {like}")
    if removed - added < added < removed:
        return WholeFileCommit(ANY, f"{name} {files} of {added:,}")
    return None


def copy_on_write_words(metadata: TableMetadata, table: str) -> str:
    """Say what copy-on-write costs a table, and how later commits avoid it.

    Args:
        metadata: The table's.
        table: Its name in SQL.

    Returns:
        Sentences, with a statement; empty where no commit carried rows over, or later ones will not.
    """
    commits = [
        commit for commit in whole_file_commits(metadata)
        if any(metadata.properties.get(_mode(one), "").lower() != "merge-on-read" for one in commit.statements)
    ]  # fmt: skip
    if not commits or metadata.format_version < 2:
        return ""
    others = len(commits) - 1
    more = f" {count(others, 'more commit')} did so." if others else ""
    statements = sorted({statement for commit in commits for statement in commit.statements})
    properties = ", ".join(f"'{_mode(statement)}' = 'merge-on-read'" for statement in statements)
    names = " or ".join(statement.upper() for statement in statements)
    is_sure = commits[-1].statements == ("merge",)
    may_be = "" if is_sure else " A DELETE, MERGE or UPDATE by copy-on-write does so, and an INSERT OVERWRITE."
    return (
        f"{commits[-1].words}.{may_be}{more} The old files stay until their snapshots expire. By merge-on-read the "
        f"next {names} adds delete files and rewrites no data file, and readers apply the deletes until a compaction: "
        f"ALTER TABLE {table} SET TBLPROPERTIES ({properties})"
    )


def _mode(statement: RowStatement) -> str:
    """The property that says how a statement writes."""
    return f"write.{statement}.mode"
