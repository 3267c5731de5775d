"""Maintenance through Spark's procedures, on sandbox tables: a preview from metadata alone, then the run, with before
and after."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from explorer.errors import AccessRefused, NotFoundInTable, NotPossible, NotSupported
from explorer.model.metadata import Snapshot
from explorer.reports.maintenance import Preview, preview
from explorer.reports.maintenance.procedure_calls import (
    LOOKS,
    call,
    catalog_and_name,
    check_request,
    moment,
    name_argument,
    procedure_call,
    table_in_sql,
)
from explorer.reports.maintenance.refusals import explain_unreadable
from explorer.spark_engine.failures import failure
from explorer.spark_engine.spark import SparkEngine, shared_engine
from explorer.spark_engine.sql_guard import quoting
from explorer.spark_engine.sql_guard.guard import check_write
from explorer.spark_engine.sql_guard.guard import run as run_checked
from explorer.spark_engine.sql_guard.quotas import audit, person
from explorer.spark_engine.tables import catalog_table_uuid
from explorer.spark_engine.versions import arrow_table
from explorer.spec.entries.lazy_table import Parts
from explorer.spec.entries.manifest_set_diff import KEY
from explorer.spec.maintenance.reachability import HELD, Holdings, holdings, live_file_rows, reach
from explorer.spec.snapshots.diff import only
from explorer.spec.snapshots.refs import RefPreview, endless_walk, preview_refs
from explorer.spec.text.identifiers import split_identifier
from explorer.spec.text.units import count
from explorer.storage.catalogs.sandbox_entries import NAMESPACE, SANDBOX
from explorer.storage.paths import below, canonical
from explorer.table import Table

__all__ = ["MaintenanceOutcome", "Preview", "preview", "preview_undo", "run", "run_undo", "table_holdings"]


@dataclass(frozen=True)
class MaintenanceOutcome:
    """What an operation did: the procedure's own answer, and the table's holdings before and after."""

    operation: str
    sql: str
    answer: tuple[Mapping[str, Any], ...]
    before: Holdings
    after: Holdings


def table_holdings(table: Table) -> Holdings:
    """What the current snapshot holds."""
    snapshot = table.metadata.current_snapshot
    return holdings(table.metadata, table.tree.read(Parts(table.tree.manifests(snapshot), False, live_file_rows, HELD)))


def is_teaching(table: Table) -> bool:
    """Whether it is one of the teaching tables, whose claims a change would break."""
    return table.name.startswith(f"{SANDBOX}.{NAMESPACE}.")


def is_writable(table: Table) -> bool:
    """Whether statements may be run on it without `allow_writes`: a sandbox table that is no teaching table."""
    return table.reader.location.catalog == SANDBOX and _is_in_warehouse(table) and not is_teaching(table)


def _is_in_warehouse(table: Table) -> bool:
    """Whether a sandbox table has its files in the sandbox, and was not registered there from elsewhere."""
    warehouse = (table.reader.location.properties or {})["warehouse"]
    return below(canonical(table.metadata.metadata_location), canonical(warehouse))


def check_writable(table: Table, allow_writes: bool = False) -> None:
    """Raises AccessRefused when nothing may be written to a table. Without `allow_writes` that is all but sandbox
    tables that are no teaching tables; with it, tables that no catalog holds."""
    catalog = table.reader.location.catalog
    if catalog is None:
        raise AccessRefused(
            f"{table.name} was opened by its path: it is not in the sandbox, nor in a catalog that a commit could "
            "go through"
        )
    if catalog != SANDBOX and not allow_writes:
        raise AccessRefused(
            f"{table.name} is not in the sandbox catalog: nothing is written to it unless allow_writes=True is passed"
        )
    if catalog == SANDBOX and not allow_writes and not _is_in_warehouse(table):
        raise AccessRefused(
            f"{table.name} is registered in the sandbox, and its files are elsewhere ({table.metadata.location}): "
            "nothing is written to it unless allow_writes=True is passed"
        )
    if is_teaching(table) and not allow_writes:
        raise AccessRefused(
            f"{table.name} is a teaching table: work on a copy (icedive lab copy NAME), or pass allow_writes=True"
        )


def check_same_table(table: Table, engine: SparkEngine) -> None:
    """Check that Spark would write to the table that was opened.

    Raises NotPossible when Spark has no catalog of the name of the table's, and AccessRefused when that catalog has
    another table under its name; EngineError, StatementFailed. Of Spark Connect nothing is checked: there prepare_write
    refuses all statements."""
    if table.is_of_connect:
        return
    catalog, name = catalog_and_name(table)
    if catalog != SANDBOX and engine.session().conf.get(f"spark.sql.catalog.{catalog}", None) is None:
        raise NotPossible(
            f"Spark does not know the catalog {catalog}: set spark.sql.catalog.{catalog} and its options in spark.json"
        )
    spark_uuid = catalog_table_uuid(engine.session(), catalog, name)
    if spark_uuid != table.metadata.table_uuid:
        raise AccessRefused(
            f"Spark's catalog {catalog} has another table named {name} than the one that was opened: its UUID is "
            f"{spark_uuid}, not {table.metadata.table_uuid}. Nothing was written"
        )


def refuse_connect(table: Table, sql: str = "") -> None:
    """Raises NotSupported for a table of Spark Connect, and says which statement does the same there."""
    if table.is_of_connect:
        raise NotSupported(
            f"{table.name} is a table of a Spark Connect session. The explorer checks in Spark's JVM what a statement "
            "writes before it runs it, and Spark Connect gives no JVM. "
            + (f"Run the statement in your session: spark.sql({sql!r})" if sql else "Use a session with a JVM")
        )


def prepare_write(table: Table, sql: str, engine: SparkEngine) -> tuple[Any, Any]:
    """A session for a statement that writes to a table, and its plan, for guard.run. Raises AccessRefused, EngineError,
    NotSupported, StatementFailed, UnreadableFile."""
    refuse_connect(table, sql)
    own = split_identifier(table.name)
    table.check_readable(own)
    session = engine.person_session()
    plan = check_write(session, sql, own, table.check_readable)
    audit("write", person(), sql, [table.metadata.metadata_location], "began", 0, 0)
    return session, plan


def _sql(table: Table, sql: str, what: str, engine: SparkEngine | None) -> list[dict[str, Any]]:
    """Run a statement of ours on a table, checked like a person's: its names are strangers', too."""
    spark, began = engine or shared_engine(), time.perf_counter()
    session, plan = prepare_write(table, sql, spark)
    noted = partial(audit, "write", person(), sql, [table.metadata.metadata_location])
    try:
        answer: list[dict[str, Any]] = arrow_table(run_checked(session, plan)).to_pylist()
    except Exception as error:  # Spark raises many kinds
        failed = failure(error, spark.is_lost, what)
        noted(f"failed: {failed}", time.perf_counter() - began, 0)
        raise failed from error
    noted("answered", time.perf_counter() - began, len(answer))
    return answer


def run(
    table: Table,
    operation: str,
    columns: str = "",
    retain_last: int | None = None,
    allow_writes: bool = False,
    engine: SparkEngine | None = None,
    options: Mapping[str, str] | None = None,
    where: str = "",
    readers: Sequence[str] = (),
) -> tuple[MaintenanceOutcome, Table]:
    """Carry out an operation with the options, filter and readers of its preview, and return what it did and the table
    as it is then. On tables of the sandbox catalog; on those of another catalog that Spark knows, and on the teaching
    tables (whose claims it would break), only with `allow_writes`. Raises AccessRefused, EngineError, NotFoundInTable,
    StatementFailed, and NotPossible for what no procedure does, or what the preview says must not be run."""
    check_writable(table, allow_writes)
    check_same_table(table, engine or shared_engine())
    sql = call(table, check_request(table, operation, options or {}, where, columns, retain_last, readers))
    if operation in LOOKS:
        raise NotPossible(f"{operation} can only be looked at")
    seen = preview(table, operation, columns, retain_last, options=options, where=where, readers=readers)
    if seen.refusal:
        raise NotPossible(seen.refusal.rstrip("."))
    before = table_holdings(table)
    answer = _sql(table, sql, operation, engine)
    after = table.refresh()
    return MaintenanceOutcome(operation, sql, tuple(answer), before, table_holdings(after)), after


def preview_undo(table: Table, operation: str, name: str = "", snapshot: str | int | None = None) -> RefPreview:
    """What an operation on branches, tags or the current snapshot would do (see spec.snapshots.refs). `snapshot` is an
    id, branch, tag, `snapshot-3`, or for rollback-to-time a time. Raises NotFoundInTable."""
    outcome = _preview_refs(table, operation, name, snapshot)
    if outcome.allowed and (refusal := explain_unreadable(table.metadata)):
        return replace(
            outcome, allowed=False, words=(f"Iceberg would refuse: {refusal}.",), after=outcome.before,
            current=table.metadata.current_snapshot_id, abandoned=(),
        )  # fmt: skip
    sentences, files = list(outcome.words), list[str]()
    if outcome.allowed and outcome.current != table.metadata.current_snapshot_id and outcome.current is not None:
        sentences.append(_come_and_go(table, table.metadata.current_snapshot_id, outcome.current))
    if outcome.abandoned:
        gone = [s for s in table.metadata.snapshots if s.snapshot_id in outcome.abandoned]
        rest = [s for s in table.metadata.snapshots if s.snapshot_id not in outcome.abandoned]
        only = reach(table.tree, gone, without=rest)
        if any(_is_incomplete(table, snapshot) for snapshot in rest):
            sentences.append(f"Which files no other snapshot reaches is not known: {table.tree.lacks}.")
        else:
            files = only.paths
            at_least = "at least " if any(_is_incomplete(table, snapshot) for snapshot in gone) else ""
            sentences.append(
                f"No other snapshot reaches {at_least}{count(len(only.files), 'data or delete file')}, "
                f"{count(len(only.manifests), 'manifest')} and {count(len(only.manifest_lists), 'manifest list')}."
            )
    return replace(outcome, words=tuple(sentences), files=tuple(files))


def _preview_refs(table: Table, operation: str, name: str, snapshot: str | int | None) -> RefPreview:
    """What metadata.json alone says of it."""
    at, at_time = None, None
    if operation == "rollback-to-time":
        at_time = moment(snapshot)
    elif snapshot is not None:
        at = table.resolve(snapshot).snapshot
    try:
        return preview_refs(table.metadata, operation, name, at, at_time)
    except ValueError as error:
        raise NotFoundInTable(str(error)) from error


def _come_and_go(table: Table, first: int | None, second: int) -> str:
    """Say how many data and delete files, and deletion vectors, only the second of two snapshots has, and only the
    first; of the manifests that both list nothing is read."""
    tree = table.tree
    old, new = (tree.manifests(table.metadata.snapshot(i)) for i in (first, second))
    old_alone, new_alone = only(old, new), only(new, old)
    [comparison] = tree.by("auto", "undo").comparisons([(old_alone, new_alone)], KEY)
    gone, come = (sum(map(len, side.values())) for side in comparison.alone)
    lost, lists = tree.unreadable, [table.metadata.snapshot(i) for i in (first, second)]
    old_lost, new_lost = (
        (snapshot is not None and tree.unreadable_in(snapshot)[0]) or any(m.manifest_path in lost for m in alone)
        for snapshot, alone in zip(lists, (old_alone, new_alone), strict=True)
    )
    if old_lost and new_lost:
        return f"How many files would come and go for readers of main is not known: {tree.lacks}."
    bounds = ("at most ", "at least ") if old_lost else ("at least ", "at most ") if new_lost else ("", "")
    because = f": {tree.lacks}" if old_lost or new_lost else ""
    return f"For readers of main {bounds[0]}{count(come, 'file')} would come, and {bounds[1]}{gone:,} go{because}."


def _is_incomplete(table: Table, snapshot: Snapshot) -> bool:
    """Whether something of a snapshot is known to be lost."""
    list_is_lost, manifests = table.tree.unreadable_in(snapshot)
    return list_is_lost or bool(manifests)


def run_undo(
    table: Table,
    operation: str,
    name: str = "",
    snapshot: str | int | None = None,
    allow_writes: bool = False,
    engine: SparkEngine | None = None,
) -> tuple[str, Table]:
    """Carry out such an operation on a sandbox table (on others see `run`); returns the statement and the table as it
    is then. Raises AccessRefused, EngineError, NotFoundInTable, NotPossible where Iceberg would not come to an end,
    StatementFailed (with Iceberg's reason)."""
    check_writable(table, allow_writes)
    check_same_table(table, engine or shared_engine())
    _preview_refs(table, operation, name, snapshot)
    about = None if operation == "rollback-to-time" or snapshot is None else table.resolve(snapshot).snapshot
    if endless := endless_walk(table.metadata, operation, about):
        raise NotPossible(endless.rstrip("."))
    sql = undo_statement(table, operation, name, snapshot)
    _sql(table, sql, operation, engine)
    return sql, table.refresh()


def undo_statement(table: Table, operation: str, name: str = "", snapshot: str | int | None = None) -> str:
    """Return the statement that carries out an operation on branches, tags or the current snapshot.

    Args:
        table: The table.
        operation: One of spec.snapshots.ref_operations.OPERATIONS.
        name: The branch or tag; of publish, the WAP id.
        snapshot: As preview_undo has it.

    Raises:
        NotFoundInTable: There is no such snapshot, or no branch to move to.
    """
    timed = operation == "rollback-to-time" or snapshot is None
    at = None if timed or snapshot is None else table.resolve(snapshot).snapshot.snapshot_id
    own, quoted = table_in_sql(table), quoting.identifier([name])
    if operation in ("tag", "branch"):
        sql = f"ALTER TABLE {own} CREATE {operation.upper()} {quoted} AS OF VERSION {at}"
    elif operation == "drop":
        kind = next((r.type for r in table.metadata.refs if r.name == name), "branch")
        sql = f"ALTER TABLE {own} DROP {kind.upper()} {quoted}"
    else:
        branches = [r.name for r in table.metadata.refs if r.type == "branch"]
        target = str(snapshot) if str(snapshot) in branches else ""
        if operation == "fast-forward" and not target:
            raise NotFoundInTable(
                f"Iceberg fast-forwards a branch to another branch, and {snapshot!r} is none: there are "
                f"{', '.join(branches)}"
            )
        literal = quoting.literal(name)
        at_time = moment(snapshot) if operation == "rollback-to-time" else 0
        procedure, arguments = {
            "fast-forward": ("fast_forward", f"{literal}, {quoting.literal(target)}"),
            "rollback": ("rollback_to_snapshot", f"{at}"),
            "rollback-to-time": ("rollback_to_timestamp", quoting.timestamp(at_time)),
            "set-current": ("set_current_snapshot", f"{at}"),
            "cherry-pick": ("cherrypick_snapshot", f"{at}"),
            "publish": ("publish_changes", literal),
        }[operation]
        sql = procedure_call(table, procedure, name_argument(table), arguments)
    return sql
