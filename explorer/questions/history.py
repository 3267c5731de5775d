"""Questions about how a table came to be what it is."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any

from explorer.questions.answers import Answer
from explorer.questions.parameters import EngineName, MetadataRef, Seconds, Side, SnapshotRef
from explorer.questions.registry import question

if TYPE_CHECKING:
    from explorer.spec.commits.costs import RunCost
    from explorer.spec.snapshots.diff import SnapshotDiff
    from explorer.table import Table


@question("diff", rows=True, picture=True)
def diff(table: Table, before: Side, after: Side, *, engine: EngineName = "auto") -> Answer[SnapshotDiff]:
    """Show what differs between two snapshots: the net files, and what happened to the manifests.

    Of a snapshot and its parent the answer begins with a sentence.

    Args:
        before: The older snapshot, or `none`: the table before its first snapshot.
        after: The newer snapshot.

    Returns:
        The difference: files added and removed, manifests, schema, spec, sort order and properties.
        Rows: change, file_path, record_count, file_size_in_bytes and more.
    """
    from explorer.queries.collection import Collection
    from explorer.render.changes import CHANGED_FILES, diff_lines, diff_parts, file_change_parts
    from explorer.render.history_pictures import diff_svg
    from explorer.render.text import clean
    from explorer.spec.entries.lazy_table import Batches
    from explorer.spec.snapshots.snapshot_names import find_side

    change = table.diff(find_side(before, table.metadata), after, engine)
    snapshot = table.metadata.snapshot(change.after)
    step = table.step(change.after) if snapshot and snapshot.parent_snapshot_id == change.before else None
    sentence = {"step": step.words} if step else {}
    return Answer(
        change,
        lambda: {**sentence, **diff_parts(change)},
        lambda: chain(map(clean, sentence.values()), diff_lines(change)),
        lambda: Collection(Batches(CHANGED_FILES, lambda: file_change_parts(change)), "files"),
        lambda: diff_svg(change),
    )


@question("lineage", "history", rows=True, picture=True)
def lineage(table: Table) -> Answer[Any]:
    """Show the lineage of snapshots beside the snapshot log, and explain where they differ.

    Returns:
        A row for each snapshot: its place (current, ancestor, branch, staged, abandoned) and why;
        beside it what was current when.
    """
    from explorer.queries.collection import Collection
    from explorer.render.changes import history_object, render_history
    from explorer.render.history_pictures import history_svg

    entries, log = table.history(), table.current_log()
    data = history_object(entries, log)
    return Answer(
        entries,
        lambda: data,
        lambda: (render_history(entries, log),),
        lambda: Collection.of_rows(data["snapshots"], "snapshots"),
        lambda: history_svg(entries),
    )


@question("lifecycle", "history", rows=True, picture=True)
def lifecycle(table: Table, *, engine: EngineName = "auto") -> Answer[Any]:
    """Show what happened to every manifest: created, carried, rewritten, merged, dropped, and why.

    Returns:
        A row for each manifest and snapshot: manifest, snapshot, state, counts and why.
    """
    from explorer.queries.collection import Collection
    from explorer.render.changes import lifecycle_rows, render_lifecycle
    from explorer.render.history_pictures import lifecycle_svg

    cells = table.lifecycle(engine)
    return Answer(
        cells,
        lambda: lifecycle_rows(cells),
        lambda: (render_lifecycle(cells),),
        lambda: Collection.of_rows(lifecycle_rows(cells), "manifests"),
        lambda: lifecycle_svg(cells),
    )


@question("commits", "history", rows=True)
def commits(
    table: Table, *, first: SnapshotRef = None, last: SnapshotRef = None, engine: EngineName = "auto"
) -> Answer[RunCost]:
    """Show what each commit did and cost, and the write amplification of them all.

    The write amplification is the bytes written for each byte that is still read at the end.

    Args:
        first: The snapshot before the first commit. From the oldest one on if left out.
        last: The snapshot of the last commit. The current one if left out.

    Returns:
        A row for each commit: files, rows and bytes that it added and removed, bytes of metadata; and
        the write amplification of all.
    """
    from explorer.queries.collection import Collection
    from explorer.render.changes import commits_object, render_commits

    run = table.commits(first, last, engine)
    data = commits_object(run)
    return Answer(
        run,
        lambda: data,
        lambda: (render_commits(run, table.metadata),),
        lambda: Collection.of_rows(data["commits"], "commits"),
    )


@question("metadata", "history")
def metadata(table: Table, older: MetadataRef, newer: MetadataRef | None = None) -> Answer[dict[str, Any]]:
    """Compare two metadata files by meaning.

    Args:
        older: The older metadata file: its version number, or its path.
        newer: The newer metadata file. The current one if left out.

    Returns:
        What was added, removed and changed, by part of the metadata.
    """
    from explorer.render.changes import render_changes
    from explorer.render.rows import plain

    changes = table.metadata_diff(older, newer)
    return Answer(changes, lambda: plain(changes), lambda: (render_changes(changes),))


@question("watch", "history", endless=True)
def watch(table: Table, *, interval: Seconds = None) -> Answer[Any]:
    """Follow a table, and show what each commit changed as soon as it is committed.

    It prints the difference of each new commit until Ctrl+C. It asks only for the catalog's pointer, or for the
    folder's version hint and file names.

    Args:
        interval: Look every so many seconds. Every second if left out, but never at a table in a remote store.

    Returns:
        The commits, as they are made.
    """
    from explorer.render.changes import new_commit_object, render_new_commit
    from explorer.reports.watch import interval_of
    from explorer.reports.watch import watch as commits_to

    seconds = interval_of(table, interval)
    landings = commits_to(table, seconds)
    return Answer(
        landings,
        lambda: map(new_commit_object, landings),
        lambda: map(render_new_commit, landings),
        notes=(f"{table.why}; looking every {seconds:g} s",),
    )
