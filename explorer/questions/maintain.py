"""Questions about maintenance, and about operations on branches, tags and the current snapshot."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

from explorer.questions.answers import Answer
from explorer.questions.parameters import NOTHING, EngineName, Filter, Kind, Number, Pairs, SnapshotRef
from explorer.questions.registry import question
from explorer.spec.maintenance.statement_engines import StatementEngine
from explorer.spec.snapshots.ref_operations import OPERATIONS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from explorer.reports.maintenance import Preview
    from explorer.reports.maintenance.runs import MaintenanceOutcome
    from explorer.spec.maintenance.all_procedures import MaintenancePlan
    from explorer.spec.maintenance.file_stay import FileStay
    from explorer.spec.snapshots.refs import RefPreview
    from explorer.table import Table

Procedure = Literal[
    "compact", "compact-sort", "compact-z-order", "rewrite-manifests", "rewrite-position-deletes", "expire",
    "remove-orphans", "next-append", "dangling-deletes",
]  # fmt: skip

OF_ALL_BRANCHES = ("expire", "remove-orphans")
"""The procedures that are about all branches."""
AnyFile: TypeAlias = Annotated[str, Kind(metavar="PATH", offer="files")]
Readers: TypeAlias = Annotated["Sequence[str]", Kind(metavar="READER", several=True)]


@question("preview", "maintain")
def preview(
    table: Table,
    operation: Procedure,
    *,
    sort_by: str = "",
    retain_last: Number = None,
    option: Pairs = NOTHING,
    where: Filter = "",
    reader: Readers = (),
    engine: EngineName = "auto",
) -> Answer[Preview]:
    """Plan maintenance from metadata alone, as Iceberg would.

    It shows groups, files, manifests or snapshots with the reason for each; why nothing would happen, or why it
    never ends; and the statement to paste (icedive docs maintenance). next-append shows what appends merge,
    dangling-deletes what drops deletes that hide nothing.

    Args:
        operation: The operation.
        sort_by: For sorting: column names, separated by commas.
        retain_last: For expiry: the snapshots to keep on each branch, in place of the table's policy.
        option: An option of the procedure, by its name. May be given several times.
        where: Rewrite only files that may match this filter.
        reader: For expiry: a reader that must go on: the snapshot at which it stands, a branch or tag, a time, or
            the checkpoint of a Spark or Flink stream. May be given several times.

    Returns:
        Sentences, the statement, and rows of groups, files, manifests or snapshots, each with what
        becomes of it and why.

    Raises:
        NotFoundInTable: There is no such operation, option, column or reader, or the filter does not fit.
        UnreadableFile: A checkpoint cannot be read.
        EngineError: The engine is spark, and Spark or Java is not available.

    Example:
        >>> table = explorer.open_table("demo.three_inserts")
        >>> print(table.maintain.preview("compact").value.words[0])
        3 data files (1.3 KiB): 3 candidates (3 smaller than 384 MiB).
    """
    from explorer.render.maintenance import render_preview
    from explorer.render.rows import json_rows
    from explorer.render.writing_blocks import preview_blocks
    from explorer.reports.maintenance import preview as preview_of
    from explorer.spec.snapshots.branches import about_main

    seen = preview_of(table, operation, sort_by, retain_last, engine, option, where, reader)
    if operation not in OF_ALL_BRANCHES and (main := about_main(table.metadata, "The answer is")):
        seen = replace(seen, words=(*seen.words, main))
    head = {"operation": seen.operation, "call": seen.call, "refusal": seen.refusal, "words": list(seen.words)}

    def json() -> Any:
        parts = {
            name: (row for part in rows.iter_tables() for row in json_rows(part)) for name, rows in seen.tables.items()
        }
        return {**head, **parts}

    return Answer(
        seen,
        json,
        lambda: (render_preview(seen.words, seen.call, seen.tables, table.metadata.location),),
        parts=lambda: preview_blocks(seen.words, seen.refusal, seen.call, seen.tables),
    )


@question("all", "maintain", rows=True)
def all_procedures(
    table: Table, *, statements: StatementEngine = "spark", engine: EngineName = "auto"
) -> Answer[MaintenancePlan]:
    """Say what all maintenance would do, in the order in which to run it, with the statements.

    Each line is the preview of one procedure with its defaults and the table's properties, on the table as it is now.

    Args:
        statements: The engine that is to run them: its statements, and what it would do.

    Returns:
        How to carry it out. A row for each procedure: operation, what it does, files and bytes, statement, and why it
        is run in this place.

    Raises:
        EngineError: The engine is spark, and Spark or Java is not available.

    Example:
        >>> table = explorer.open_table("demo.three_inserts")
        >>> [line.operation for line in table.maintain.all().value.lines if line.statement]
        ['rewrite-manifests']
    """
    from explorer.queries.collection import Collection
    from explorer.render.maintenance import plan_rows, render_plan
    from explorer.render.writing_blocks import procedure_blocks
    from explorer.reports.maintenance_plan import plan_all

    plan = plan_all(table, engine, statements)
    return Answer(
        plan,
        lambda: {"words": list(plan.words), "procedures": plan_rows(plan.lines)},
        lambda: (render_plan(plan.words, plan.lines),),
        lambda: Collection.of_rows(plan_rows(plan.lines), "procedures"),
        parts=lambda: procedure_blocks(plan.words, plan.lines),
    )


@question("file", "maintain")
def file(table: Table, path: AnyFile, *, engine: EngineName = "auto") -> Answer[FileStay]:
    """Say why a file is still there, and when it can go.

    It may be any file of the table: data, deletes, manifests, manifest lists, metadata files, statistics, and files
    that nothing needs. The table's policy of retention decides when snapshots expire.

    Args:
        path: The file: its path, or the end or beginning of its name.

    Returns:
        Sentences: what needs the file, which rules keep that, and from when it can go. If it can go now, the statement
        that removes it, among others.

    Raises:
        NotFoundInTable: There is no such file, or several.
        EngineError: The engine is spark, and Spark or Java is not available.

    Example:
        >>> table = explorer.open_table("demo.three_inserts")
        >>> stay = table.maintain.file(table.inspect.manifests()[0]["manifest_path"]).value
        >>> stay.kind, stay.needed_by
        ('manifest', ('snapshot-3',))
    """
    from explorer.render.maintenance import render_file_stay
    from explorer.render.writing_blocks import file_stay_blocks
    from explorer.reports.maintenance.file_stay import file_stay

    stay = file_stay(table, path, engine)
    return Answer(stay, lambda: asdict(stay), lambda: (render_file_stay(stay),), parts=lambda: file_stay_blocks(stay))


@question("run", "maintain", writing=True)
def run(
    table: Table,
    operation: Procedure,
    *,
    sort_by: str = "",
    retain_last: Number = None,
    option: Pairs = NOTHING,
    where: Filter = "",
    reader: Readers = (),
    allow_writes: bool = False,
) -> Answer[MaintenanceOutcome]:
    """Carry maintenance out through Spark's procedures, on a table of the sandbox.

    Args:
        operation: The operation.
        sort_by: For sorting: column names, separated by commas.
        retain_last: For expiry: the snapshots to keep on each branch, in place of the table's policy.
        option: An option of the procedure, by its name. May be given several times.
        where: Rewrite only files that may match this filter.
        reader: For expiry: a reader that must go on: the snapshot at which it stands, a branch or tag, a time, or
            the checkpoint of a Spark or Flink stream. May be given several times.
        allow_writes: Also write to a teaching table, or a table of another catalog that Spark knows (spark.json).

    Returns:
        What the procedure returned, and what the table held before and after.

    Raises:
        AccessRefused: The table is not one that may be written.
        NotPossible: The procedure would fail, or would do harm; the message has the reason.
        EngineError: Spark or Java is not available.
        StatementFailed: Iceberg refuses the procedure; the message is its reason.

    Example:
        >>> from explorer.questions import lab
        >>> table = explorer.open_table(lab.copy("three_inserts").value)
        >>> done = table.maintain.run("rewrite-manifests").value
        >>> done.before.manifests, done.after.manifests
        (3, 1)
    """
    from explorer.render.rows import plain
    from explorer.render.text import render_fields, render_table
    from explorer.render.writing_blocks import outcome_blocks
    from explorer.reports.maintenance import runs

    done, _ = runs.run(
        table, operation, sort_by, retain_last, allow_writes, options=option, where=where, readers=reader
    )
    rows = [{"of": k, "before": v, "after": asdict(done.after)[k]} for k, v in asdict(done.before).items()]
    return Answer(
        done,
        lambda: plain(asdict(done)),
        lambda: (render_fields(dict(done.answer[0]) if done.answer else {}) + render_table(rows),),
        parts=lambda: outcome_blocks(done.sql, done.before, done.after, done.answer),
    )


RefOperation: TypeAlias = Annotated[str, Kind("choice", "OPERATION", choices=tuple(OPERATIONS))]


@question("preview", "refs")
def preview_refs(
    table: Table, operation: RefOperation, *, name: str = "", snapshot: SnapshotRef = None
) -> Answer[RefPreview]:
    """Show what an operation on branches, tags or the current snapshot would do, from metadata alone.

    It shows refs, the current snapshot, what stays reachable, and the files that no metadata would name.

    Args:
        operation: The operation.
        name: The branch or tag; for publish, the WAP id.
        snapshot: The snapshot that it is about; for rollback-to-time, a time.

    Returns:
        Sentences, and the files that nothing would reach.

    Raises:
        NotFoundInTable: There is no such operation, branch, tag or snapshot.

    Example:
        >>> table = explorer.open_table("demo.branches_and_tags")
        >>> table.refs.preview("drop", name="audit").value.words[1]
        'No branch or tag would lead to snapshot-2: the next expiry may remove what only they read.'
    """
    from explorer.reports.maintenance import runs

    outcome = runs.preview_undo(table, operation, name, _text(snapshot))
    return _refs_answer(table, outcome, _statement(table, outcome, name, _text(snapshot)), False)


@question("run", "refs", writing=True)
def run_refs(
    table: Table,
    operation: RefOperation,
    *,
    name: str = "",
    snapshot: SnapshotRef = None,
    allow_writes: bool = False,
) -> Answer[RefPreview]:
    """Carry an operation on branches, tags or the current snapshot out, on a table of the sandbox.

    Args:
        operation: The operation.
        name: The branch or tag; for publish, the WAP id.
        snapshot: The snapshot that it is about; for rollback-to-time, a time.
        allow_writes: Also write to a teaching table, or a table of another catalog that Spark knows (spark.json).

    Returns:
        The same as the preview; a note has the statement that ran.

    Raises:
        AccessRefused: The table is not one that may be written.
        NotFoundInTable: There is no such operation, branch, tag or snapshot.
        EngineError: Spark or Java is not available.
        StatementFailed: Iceberg refuses the operation; the message is its reason.

    Example:
        >>> from explorer.questions import lab
        >>> table = explorer.open_table(lab.copy("three_inserts").value)
        >>> _ = table.refs.run("tag", name="first", snapshot="snapshot-1")
        >>> [ref["name"] for ref in table.refresh().inspect.refs()]
        ['main', 'first']
    """
    from explorer.reports.maintenance import runs

    outcome = runs.preview_undo(table, operation, name, _text(snapshot))
    statement, _ = runs.run_undo(table, operation, name, _text(snapshot), allow_writes)
    return _refs_answer(table, outcome, statement, True)


def _text(snapshot: str | int | None) -> str | None:
    return None if snapshot is None else str(snapshot)


def _statement(table: Table, outcome: RefPreview, name: str, snapshot: str | None) -> str:
    """The statement that carries an operation out; empty where Iceberg refuses it, or where it cannot be pasted."""
    from explorer.errors import NotFoundInTable
    from explorer.reports.maintenance.procedure_calls import is_printable
    from explorer.reports.maintenance.runs import undo_statement

    try:
        statement = undo_statement(table, outcome.operation, name, snapshot) if outcome.allowed else ""
    except NotFoundInTable:
        return ""
    return statement if is_printable(table, statement) else ""


def _refs_answer(table: Table, outcome: RefPreview, statement: str, was_run: bool) -> Answer[RefPreview]:
    from explorer.render.writing_blocks import ref_blocks
    from explorer.spec.text.names import snapshot_ordinals

    ordinals = snapshot_ordinals(table.metadata)
    return Answer(
        outcome,
        lambda: asdict(outcome),
        lambda: [*(outcome.words or ("nothing else changes",)), *(f"  {file}" for file in outcome.files)],
        notes=(statement,) if was_run else (),
        parts=lambda: ref_blocks(outcome, ordinals, statement, was_run),
    )
