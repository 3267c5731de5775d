"""A filter run in Spark on several versions of a table, or of other tables, timed, beside its plans."""

from __future__ import annotations

import re
from collections.abc import Sequence

from explorer.errors import NotFoundInTable, TableNotFound
from explorer.progress import steps
from explorer.queries.versions import another
from explorer.spark_engine.read_queue import ReadRequest, ReadSession, SparkRead
from explorer.spark_engine.sql_guard.quoting import condition
from explorer.spec.scan.scan_report_diff import MeasuredRun
from explorer.table import Table

RUNS = 3


def beside(table: Table, wanted: str | int | None) -> tuple[Table, str | int | None]:
    """What a person wants to see beside a table: a version of it, or another table, `name` or `name@version`. Raises
    NotFoundInTable when it is neither."""
    if wanted is None:
        return table, None
    try:
        table.resolve(wanted)
    except NotFoundInTable as unknown:
        name, _, version = str(wanted).partition("@")
        if not re.search(r"[./]", name):
            raise
        try:
            return other_table(table, name), version or None
        except NotFoundInTable as error:
            raise NotFoundInTable(f"{unknown}; {error}") from error
    return table, wanted


def other_table(table: Table, name: str) -> Table:
    """Open another table, by its name as a person gives it beside a table. Raises NotFoundInTable, UnreadableFile."""
    try:
        return Table(another(table.reader, name))
    except TableNotFound as error:
        raise NotFoundInTable(f"it is no table: {error}") from error


def measure(
    table: Table, where: str, versions: Sequence[str | int | None] = (None,), sql: bool = False, runs: int = RUNS,
    session: ReadSession | None = None,
) -> list[MeasuredRun]:  # fmt: skip
    """Run a filter in Spark, `runs` times and once before to warm up, on each version in turn (see Table.rows, and
    `beside`: it may be another table's). All columns of the rows that match are read, and the rows are counted. With
    `sql` the filter is Spark SQL. Nothing is written. Raises NotFoundInTable, NotPossible for a filter that Spark has
    no words for, StatementFailed, EngineError."""
    reads = session or table.reads
    plans, requests = [], []
    for wanted in versions:
        of, version = beside(table, wanted)
        planned = None if sql else of.plan(where, version)
        text = where if planned is None else condition(planned.bound, planned.schema.raw["fields"])
        pushed, pushed_down = of.plan_sql(text, version) if text else (of.plan("", version), None)
        plans.append((text, planned or pushed, pushed, pushed_down.kept if pushed_down else ()))
        requests.append(ReadRequest(of.reading(version).version, None, text, None, count=True))
    done: list[list[SparkRead]] = [[] for _ in requests]
    for run in steps(range((runs + 1) * len(requests)), "runs"):
        done[run % len(requests)].append(reads.read(requests[run % len(requests)]))
    return [
        MeasuredRun(
            str(version or "current"), *plan, some[0].seconds, tuple(read.seconds for read in some[1:]),
            some[-1].result()["rows"][0].as_py(), some[-1].reports[0].metrics if some[-1].reports else {},
        )
        for version, plan, some in zip(versions, plans, done, strict=True)
    ]  # fmt: skip
