"""Questions about how a table came to be what it is."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any

from explorer.questions.answers import Answer
from explorer.questions.parameters import NOTHING, EngineName, Limits, MetadataRef, Seconds, Side, SnapshotRef
from explorer.questions.registry import question

if TYPE_CHECKING:
    from collections.abc import Sequence

    from explorer.render.blocks import Block
    from explorer.spec.commits.costs import RunCost
    from explorer.spec.health.crossings import Crossing
    from explorer.spec.schemas.schema_history import SchemaVersion
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

    Raises:
        NotFoundInTable: There is no such snapshot.
        UnreadableFile: A manifest list or manifest that the difference depends on cannot be read.
        EngineError: The engine is spark, and Spark or Java is not available.

    Example:
        >>> table = explorer.open_table("demo.three_inserts")
        >>> print(table.diff("snapshot-1", "snapshot-2").to_text().splitlines()[0])
        snapshot-2 added manifest-2 with 1 data file
    """
    from explorer.queries.collection import Collection
    from explorer.render.history import CHANGED_FILES, diff_lines, diff_parts, file_change_parts
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
        is_graph=True,
    )


@question("lineage", "history", rows=True, picture=True)
def lineage(table: Table) -> Answer[Any]:
    """Show the lineage of snapshots beside the snapshot log, and explain where they differ.

    Returns:
        A row for each snapshot: its place (current, ancestor, cut off, branch, staged, abandoned) and why;
        beside it what was current when.

    Example:
        >>> table = explorer.open_table("demo.branches_and_tags")
        >>> lineage = table.history.lineage().to_arrow()
        >>> lineage["snapshot"].to_pylist()
        ['snapshot-1', 'snapshot-2', 'snapshot-3', 'snapshot-4', 'snapshot-5', 'snapshot-6']
        >>> lineage["kind"].to_pylist()
        ['ancestor', 'branch', 'staged', 'ancestor', 'current', 'abandoned']
    """
    from explorer.queries.collection import Collection
    from explorer.render.history import lineage_json, render_lineage
    from explorer.render.history_pictures import lineage_svg

    entries, log = table.lineage(), table.current_log()
    data = lineage_json(entries, log)
    return Answer(
        entries,
        lambda: data,
        lambda: (render_lineage(entries, log),),
        lambda: Collection.of_rows(data["snapshots"], "snapshots"),
        lambda: lineage_svg(entries),
    )


@question("lifecycle", "history", rows=True, picture=True)
def lifecycle(table: Table, *, engine: EngineName = "auto") -> Answer[Any]:
    """Show what happened to every manifest: created, carried, rewritten, merged, dropped, and why.

    Returns:
        A row for each manifest and snapshot: manifest, snapshot, state, counts and why.

    Raises:
        EngineError: The engine is spark, and Spark or Java is not available.

    Example:
        >>> table = explorer.open_table("demo.manifest_lifecycle")
        >>> sorted(set(table.history.lifecycle().to_arrow()["state"].to_pylist()))
        ['carried', 'created', 'dropped', 'rewritten']
    """
    from explorer.queries.collection import Collection
    from explorer.render.history import lifecycle_rows, render_lifecycle
    from explorer.render.history_pictures import lifecycle_svg

    cells = table.lifecycle(engine)
    return Answer(
        cells,
        lambda: lifecycle_rows(cells),
        lambda: (render_lifecycle(cells),),
        lambda: Collection.of_rows(lifecycle_rows(cells), "states of manifests"),
        lambda: lifecycle_svg(cells),
    )


@question("commits", "history", rows=True, picture=True)
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

    Raises:
        NotFoundInTable: There is no such snapshot, or `first` is no ancestor of `last`.
        EngineError: The engine is spark, and Spark or Java is not available.

    Example:
        >>> table = explorer.open_table("demo.three_inserts")
        >>> table.history.commits().to_arrow()["operation"].to_pylist()
        ['append', 'append', 'append']
    """
    from explorer.queries.collection import Collection
    from explorer.render.blocks import Notice, Picture, Rows
    from explorer.render.commit_picture import commits_svg
    from explorer.render.history import commits_json, render_commits, run_words
    from explorer.render.text import clean

    run = table.commits(first, last, engine)
    data = commits_json(run)

    def rows() -> Collection:
        return Collection.of_rows(data["commits"], "commits")

    return Answer(
        run,
        lambda: data,
        lambda: (render_commits(run, table.metadata),),
        rows,
        lambda: commits_svg(run),
        parts=lambda: (Notice(clean(run_words(run, table.metadata))), Picture(commits_svg(run)), Rows(rows())),
    )


@question("metadata", "history")
def metadata(table: Table, older: MetadataRef, newer: MetadataRef | None = None) -> Answer[dict[str, Any]]:
    """Compare two metadata files by meaning.

    Args:
        older: The older metadata file: metadata-3, its version number, or its path.
        newer: The newer metadata file. The current one if left out.

    Returns:
        What was added, removed and changed, by part of the metadata.

    Raises:
        NotFoundInTable: There is no such metadata file.
        UnreadableFile: A metadata file cannot be read.

    Example:
        >>> table = explorer.open_table("demo.three_inserts")
        >>> sorted(table.history.metadata("0").to_json())
        ['current_snapshot_id', 'json_format', 'refs', 'snapshots']
    """
    from explorer.queries.metadata_files import find_metadata, is_in_log
    from explorer.render.history import render_changes
    from explorer.render.metadata_blocks import metadata_change_blocks
    from explorer.render.rows import plain
    from explorer.spec.snapshots.metadata_diff import metadata_diff
    from explorer.spec.text.names import base_name

    before, after = (find_metadata(table.tree, name) for name in (older, newer))
    changes = metadata_diff(before, after)
    strays = [m.metadata_location for m in (before, after) if not is_in_log(table.metadata, m.metadata_location)]
    notes = tuple(f"{base_name(path)} lies in the folder, and the metadata log does not have it" for path in strays)

    def parts() -> Sequence[Block]:
        return metadata_change_blocks(before, after, tuple(render_changes(changes).rstrip("\n").split("\n")))

    return Answer(changes, lambda: plain(changes), lambda: (render_changes(changes),), parts=parts, notes=notes)


@question("schemas", "history", rows=True, picture=True)
def schemas(table: Table, *, engine: EngineName = "auto") -> Answer[list[SchemaVersion]]:
    """Show how schemas, partition specs and sort orders changed, and what that means for older files.

    Returns:
        A row for each version: kind, id, current, words, first, first_at, writer, snapshots, files and changes. The
        JSON has the changes too, by field id.

    Raises:
        EngineError: The engine is spark, and Spark or Java is not available.

    Example:
        >>> table = explorer.open_table("demo.schema_evolution")
        >>> print(table.history.schemas().to_text().splitlines()[0])
        schema 0: 5 fields
    """
    from explorer.queries.collection import Collection
    from explorer.render.schema_history import (
        render_schema_history,
        schema_history_blocks,
        schema_history_json,
        version_rows,
    )
    from explorer.render.schema_picture import schemas_svg
    from explorer.reports.schema_history import find_schema_history
    from explorer.spec.schemas.field_lanes import field_lanes

    versions = find_schema_history(table, engine)

    def drawn() -> str:
        return schemas_svg(field_lanes(table.metadata))

    return Answer(
        versions,
        lambda: schema_history_json(versions),
        lambda: render_schema_history(versions),
        lambda: Collection.of_rows(version_rows(versions), "versions"),
        picture=drawn,
        parts=lambda: schema_history_blocks(versions, drawn()),
    )


@question("health", "history", rows=True)
def health(table: Table, *, threshold: Limits = NOTHING, engine: EngineName = "auto") -> Answer[list[Crossing]]:
    """Say when each measure of health went above its threshold, and which commit did it.

    It measures snapshots of main as they were when they were current, as few as it needs. Measures of the metadata
    file belong to no snapshot.

    Args:
        threshold: The value above which a measure matters (icedive docs health). May be given several times.

    Returns:
        A row for each measure above its threshold: measure, level, value, threshold, snapshot, timestamp, operation,
        writer, before, after and words.

    Raises:
        NotFoundInTable: There is no such measure.
        EngineError: The engine is spark, and Spark or Java is not available.

    Example:
        >>> table = explorer.open_table("demo.long_history")
        >>> {one.id: one.snapshot for one in table.history.health().value}["small-files"]
        'snapshot-27'
    """
    from explorer.queries.collection import Collection
    from explorer.render.health_history import crossing_blocks, crossing_rows, render_crossings
    from explorer.reports.health_history import find_crossings

    crossings = find_crossings(table, threshold, engine)
    return Answer(
        crossings,
        lambda: crossing_rows(crossings),
        lambda: render_crossings(crossings),
        lambda: Collection.of_rows(crossing_rows(crossings), "crossings"),
        parts=lambda: crossing_blocks(crossings),
    )


@question("watch", "history", endless=True)
def watch(table: Table, *, interval: Seconds = None) -> Answer[Any]:
    """Follow a table, and show what each commit changed as soon as it is committed.

    It prints the difference of each new commit until Ctrl+C. It asks only for the catalog's pointer, or for the
    folder's version hint and file names.

    Args:
        interval: Look every so many seconds. Every second if left out, but never at a table in a remote store.

    Returns:
        The commits, as they are made.

    Raises:
        NotPossible: The table was opened as one metadata file; or it is in a remote store, and no interval is given.

    Example:
        >>> table = explorer.open_table("demo.three_inserts")
        >>> table.history.watch(interval=2).notes[0].endswith("looking every 2 s")
        True
    """
    from explorer.render.history import new_commit_json, render_new_commit
    from explorer.reports.watch import interval_of
    from explorer.reports.watch import watch as commits_to

    seconds = interval_of(table, interval)
    landings = commits_to(table, seconds)
    return Answer(
        landings,
        lambda: map(new_commit_json, landings),
        lambda: map(render_new_commit, landings),
        notes=(f"{table.why}; looking every {seconds:g} s",),
    )
