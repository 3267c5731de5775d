"""Whether something landed in a table, be it of a summary or a file."""

from __future__ import annotations

from dataclasses import replace

from explorer.errors import NotFoundInTable
from explorer.queries.lost_commits import LOST, explain_lost_commit, is_of_commit
from explorer.queries.unlisted_files import NEVER, explain_unlisted
from explorer.queries.unnamed_commits import find_unnamed_commits
from explorer.spark_engine.engine_choice import Engine
from explorer.spec.commits.landed import Landed, landed, matching_snapshots
from explorer.spec.commits.uncommitted_files import YOUNG
from explorer.spec.text.names import shorten
from explorer.spec.text.units import count
from explorer.table import Table


def find_landed(table: Table, wanted: str, engine: Engine = "auto") -> Landed:
    """Say where the snapshots are that have something.

    Args:
        table: The table.
        wanted: What spec.commits.landed.matching_snapshots takes, or a data or delete file.
        engine: What decodes manifests, which are read only for a file.

    Returns:
        The answer. A file that is in main's history but deleted since is said to be so.
    """
    metadata = table.metadata
    if reasons := matching_snapshots(metadata, wanted):
        return landed(metadata, wanted, reasons, table.log_gaps)
    if not looks_like_a_file(wanted):
        return _with_unnamed(table, landed(metadata, wanted, {}))
    try:
        life = table.file_life(wanted.strip(), engine)
    except NotFoundInTable as error:
        said = unlisted_words(table, wanted, error)
        verdict = "It did not land. " if NEVER.partition("{")[0] in said or LOST in said else ""
        answer = replace(landed(metadata, wanted, {}), words=f"{verdict}{said[:1].upper()}{said[1:]}.")
        return _with_unnamed(table, answer)
    added = {
        e.snapshot_id: f"it added {shorten(life.file_path, 200)}" for e in life.events if e.logical_status == "ADDED"
    }
    added = added or {life.events[0].snapshot_id: "it is the oldest that is left which lists the file"}
    answer = landed(metadata, wanted, added, table.log_gaps)
    current = metadata.current_snapshot_id
    live = any(e.snapshot_id == current and e.logical_status in ("ADDED", "EXISTING") for e in life.events)
    deleted = f", deleted by {life.deleted_by}" if life.deleted_by else ""
    now = "The current snapshot reads the file" if live else f"The current snapshot does not read the file{deleted}"
    return replace(answer, words=f"{answer.words} {now}.")


def unlisted_words(table: Table, wanted: str, error: NotFoundInTable) -> str:
    """Return why a file is not found, with what the table's folder tells of it.

    Args:
        table: The table.
        wanted: The file.
        error: What was said of it.
    """
    if " may mean " in str(error):
        return str(error)
    words = explain_lost_commit(table.tree, wanted) or explain_unlisted(table.tree, wanted.strip())
    return f"{error}: {words}" if words else str(error)


def _with_unnamed(table: Table, answer: Landed) -> Landed:
    """The answer with what the table's folder has of a commit that the table does not have."""
    wanted = answer.wanted.strip()
    found = find_unnamed_commits(table.tree)
    for commit in found.commits:
        if str(commit.listed.snapshot_id) == wanted or is_of_commit(commit, wanted):
            return replace(
                answer,
                words=f"It did not land, but its files lie in the table's folder. {commit.words(table.metadata)}. "
                "icedive doctor TABLE says how its rows are got back.",
            )
    if found.young:
        lists = count(len(found.young), "manifest list")
        own = " One is that of this snapshot." if any(f"/snap-{wanted}-" in path for path in found.young) else ""
        words = f"{answer.words} Besides, no metadata names {lists} in the table's folder.{own} What is {YOUNG}."
        return replace(answer, words=words)
    return answer


def looks_like_a_file(wanted: str) -> bool:
    """Whether a text may be the path of a data or delete file, or its end."""
    return "/" in wanted or wanted.strip().lower().endswith((".parquet", ".orc", ".avro", ".puffin"))
