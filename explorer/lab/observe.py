"""Observe one statement: the files it wrote, in order; the pointers that the catalog swapped; and what changed."""

from __future__ import annotations

import itertools
import json
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from explorer.errors import NotFoundInTable, NotSupported, UnreadableFile
from explorer.lab import java as reflect
from explorer.reports.maintenance.procedure_calls import catalog_and_name
from explorer.reports.maintenance.runs import check_same_table, check_writable, prepare_write, refuse_connect
from explorer.spark_engine.failures import failure
from explorer.spark_engine.java_names import java_names
from explorer.spark_engine.spark import SparkEngine, shared_engine
from explorer.spark_engine.sql_guard import quoting
from explorer.spark_engine.sql_guard.guard import run
from explorer.spark_engine.sql_guard.quotas import audit, person
from explorer.spark_engine.tables import iceberg_catalog, iceberg_catalog_table
from explorer.spark_engine.versions import arrow_table
from explorer.spec.commits.statement_effects import Effects, WrittenFile
from explorer.spec.text.identifiers import split_identifier
from explorer.storage.paths import local_path
from explorer.table import Table

_NAMED = re.compile(
    r"""('(?:[^'\\]|\\.)*(?:'|\\?\Z)|"(?:[^"\\]|\\.)*(?:"|\\?\Z)|`[^`]*(?:`|\Z))|\{t\}|(?<![\w.])t(?!\w)""", re.DOTALL
)
"""Quoted text, which stays unchanged (to the end if the quote is not closed), or the table's short name."""


@dataclass(frozen=True)
class Observation(Effects):
    """What a statement did to a table, and the table afterwards."""

    table: Table


def observe(table: Table, sql: str, engine: SparkEngine | None = None, allow_writes: bool = False) -> Observation:
    """Run one writing statement on a sandbox table through Spark, and observe what it writes. In the statement, `t` is
    the table and `{name}` is its name for CALL. The statement may write to that table only. Teaching tables and other
    catalogs need `allow_writes`. Raises AccessRefused, EngineError, StatementFailed, NotSupported."""
    check_writable(table, allow_writes)
    spark = engine or shared_engine()
    check_same_table(table, spark)
    name = quoting.identifier(split_identifier(table.name))
    statement = _NAMED.sub(lambda match: match.group(1) or name, sql.strip().rstrip(";"))
    statement = statement.replace("{name}", quoting.literal(catalog_and_name(table)[1])[1:-1])
    session, plan = prepare_write(table, statement, spark)
    return _observe_action(table, spark, session, statement, lambda: tuple(arrow_table(run(session, plan)).to_pylist()))


def observe_api(
    table: Table, operation: str, engine: SparkEngine | None = None, allow_writes: bool = False
) -> Observation:
    """Run one operation of API on a table through Iceberg's Java library, and observe what it writes. The same tables
    are allowed as in `observe`. Raises AccessRefused, EngineError, NotFoundInTable, NotSupported, StatementFailed."""
    if operation not in API:
        raise NotFoundInTable(f"no operation {operation!r}: there are {', '.join(API)}")
    check_writable(table, allow_writes)
    refuse_connect(table)
    spark = engine or shared_engine()
    check_same_table(table, spark)
    session: Any = spark.session()
    java = iceberg_catalog_table(session, table.name)
    title, act = API[operation]

    def run() -> tuple[()]:
        audit("write", person(), title, [table.metadata.metadata_location], "began", 0, 0)
        act(java, java_names(session._jvm))
        return ()

    return _observe_action(table, spark, session, title, run)


def _stage_only(java: Any, jvm: Any) -> None:
    java.newFastAppend().stageOnly().set("wap.id", f"audit-{int(time.time() * 1000)}").commit()


def _delete_first(java: Any, jvm: Any) -> None:
    tasks = java.newScan().planFiles()
    planned = tasks.iterator()
    if not planned.hasNext():
        raise ValueError("the table has no data file to delete")
    file = planned.next().file()
    tasks.close()
    java.newDelete().deleteFile(file).commit()


def _column(java: Any, jvm: Any) -> None:
    taken = {str(f.name()) for f in java.schema().columns()}
    name = next(n for n in (f"note_{i}" for i in itertools.count(1)) if n not in taken)
    java.updateSchema().addColumn(name, getattr(jvm.org.apache.iceberg.types, "Types$StringType").get()).commit()


def _partition_field(java: Any, jvm: Any) -> None:
    first = str(java.schema().columns()[0].name())
    java.updateSpec().addField(jvm.org.apache.iceberg.expressions.Expressions.bucket(first, 4)).commit()


def _rollback(java: Any, jvm: Any) -> None:
    current = java.currentSnapshot()
    if current is None or current.parentId() is None:
        raise ValueError("the current snapshot has no parent")
    java.manageSnapshots().rollbackTo(current.parentId()).commit()


def _tag(java: Any, jvm: Any) -> None:
    name = f"tag-{int(time.time() * 1000)}"
    java.manageSnapshots().createTag(name, java.currentSnapshot().snapshotId()).commit()


API: Mapping[str, tuple[str, Callable[[Any, Any], Any]]] = {
    "newFastAppend": ("newFastAppend() of no file", lambda java, jvm: java.newFastAppend().commit()),
    "stageOnly": ("newFastAppend().stageOnly(): a write to audit and publish (WAP)", _stage_only),
    "newDelete": ("newDelete() of the first data file", _delete_first),
    "rewriteManifests": (
        "rewriteManifests() into one",
        lambda java, jvm: java.rewriteManifests().clusterBy(reflect.constant(jvm, "all")).commit(),
    ),
    "updateSchema": ("updateSchema(): add a column", _column),
    "updateSpec": ("updateSpec(): add a field, bucket 4 of the first column", _partition_field),
    "updateProperties": (
        "updateProperties(): set commented-at",
        lambda java, jvm: java.updateProperties().set("commented-at", str(int(time.time()))).commit(),
    ),
    "createTag": ("manageSnapshots(): tag the current snapshot", _tag),
    "rollbackTo": ("manageSnapshots(): roll back to the parent", _rollback),
    "expireSnapshots": (
        "expireSnapshots(): all but the last",
        lambda java, jvm: java.expireSnapshots().expireOlderThan(int(time.time() * 1000) + 1000).retainLast(1).commit(),
    ),
}
"""Operations of Iceberg's table API that need only a table: a description, and the call."""


def _observe_action(
    table: Table, engine: SparkEngine, session: Any, statement: str, act: Callable[[], tuple[dict[str, Any], ...]]
) -> Observation:
    root = table.reader.storage.folder(table.metadata.location)
    if root is None:
        raise NotSupported("commits are observed on local tables only")
    folder = Path(root)
    before = _listing(folder)
    began_at, began = time.time(), time.perf_counter()
    try:
        answer = act()
    except Exception as error:  # Spark and Iceberg raise many types of exceptions
        raise failure(error, engine.is_lost) from error
    seconds = time.perf_counter() - began
    after = table.refresh()
    now = _listing(folder)
    kinds = _kinds(after)
    files = []
    for path, (written, size) in sorted(((p, s) for p, s in now.items() if p not in before), key=lambda item: item[1]):
        files.append(
            WrittenFile(
                str(Path(path).relative_to(folder)),
                kinds.get(path, "not reachable"),
                size,
                (written / 1e9 - began_at) * 1000,
            )
        )
    removed = tuple(str(Path(p).relative_to(folder)) for p in sorted(before.keys() - now.keys()))
    old, new = table.metadata.metadata_location, after.metadata.metadata_location
    old_ids = {s.snapshot_id for s in table.metadata.snapshots}
    fresh = [s for s in after.metadata.snapshots if s.snapshot_id not in old_ids]
    diff = cost = report = None
    if fresh:
        report = _commit_report(session, catalog_and_name(table)[0], fresh[-1].snapshot_id)
        if after.metadata.snapshot(fresh[-1].parent_snapshot_id) is not None:
            diff = after.diff(fresh[-1].parent_snapshot_id, fresh[-1].snapshot_id)
            cost = after.commits(fresh[-1].parent_snapshot_id, fresh[-1].snapshot_id).commits[-1]
    commits = len(after.metadata_log) - len(table.metadata_log)
    swapped = (old, new) if old != new else None
    return Observation(statement, tuple(files), removed, swapped, commits, diff, cost, report, answer, seconds, after)


def _commit_report(session: Any, name: str, snapshot_id: int) -> dict[str, Any] | None:
    """Iceberg's own CommitReport of a snapshot, if the reporter of the session's catalog still has it."""
    from py4j.protocol import Py4JError

    jvm = java_names(session._jvm)
    catalog = iceberg_catalog(session, name)
    try:
        reporter = reflect.field(catalog, "metricsReporter")
        report = reporter.commitReport() if reporter is not None else None
        if report is None or int(report.snapshotId()) != snapshot_id:
            return None
        parsed: dict[str, Any] = json.loads(str(jvm.org.apache.iceberg.metrics.CommitReportParser.toJson(report)))
    except (AttributeError, Py4JError):  # another reporter was configured
        return None
    return parsed


def _listing(folder: Path) -> dict[str, tuple[int, int]]:
    """The (modification time in ns, size) of every file."""
    files = {}
    for path in folder.rglob("*"):
        if path.is_file() and path.suffix != ".crc":
            state = path.stat()
            files[str(path)] = (state.st_mtime_ns, state.st_size)
    return files


def _kinds(table: Table) -> dict[str, str]:
    """The kind of each file of a table's newest snapshots."""
    kinds = {e["metadata-file"]: "metadata file" for e in table.metadata_log}
    for snapshot in table.metadata.snapshots[-3:]:
        if snapshot.manifest_list:
            kinds[snapshot.manifest_list] = "manifest list"
        try:
            kinds |= {
                m.manifest_path: "delete manifest" if m.content else "data manifest"
                for m in table.tree.manifests(snapshot)
            }
            for row in table.entries(snapshot.snapshot_id, "stored"):
                kinds[row["file_path"]] = "data file" if not row["content"] else "delete file"
        except UnreadableFile:
            continue
    kinds |= {s.path: "statistics file" for s in table.metadata.statistics}
    return {local_path(path) or path: what for path, what in kinds.items()}
