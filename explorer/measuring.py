"""A filter run in Spark on several versions of a table, timed, beside its plans."""

from __future__ import annotations

from collections.abc import Sequence

from explorer.core.measured import Measured
from explorer.engines.quoting import condition
from explorer.engines.reads import ReadRequest, ReadSession, SparkRead
from explorer.progress import steps
from explorer.table import Table

RUNS = 3


def measure(
    table: Table, where: str, versions: Sequence[str | int | None] = (None,), sql: bool = False, runs: int = RUNS,
    session: ReadSession | None = None,
) -> list[Measured]:  # fmt: skip
    """Run a filter in Spark, `runs` times and once before to warm up, on each version (see Table.rows) in turn. All
    columns of the rows that match are read, and the rows are counted. With `sql` the filter is Spark SQL. Nothing is
    written. Raises NotFoundInTable, NotPossible for a filter that Spark has no words for, StatementFailed,
    EngineError."""
    reads = session or table.reads
    plans = []
    for version in versions:
        asked = None if sql else table.plan(where, version)
        text = where if asked is None else condition(asked.bound, asked.schema.raw["fields"])
        pushed, found = table.plan_sql(text, version) if text else (table.plan("", version), None)
        plans.append((text, asked or pushed, pushed, found.kept if found else ()))
    requests = [
        ReadRequest(table.reading(version).version, None, plan[0], None, count=True)
        for version, plan in zip(versions, plans, strict=True)
    ]
    done: list[list[SparkRead]] = [[] for _ in requests]
    for run in steps(range((runs + 1) * len(requests)), "runs"):
        done[run % len(requests)].append(reads.read(requests[run % len(requests)]))
    return [
        Measured(
            str(version or "current"), *plan, some[0].seconds, tuple(read.seconds for read in some[1:]),
            some[-1].result()["rows"][0].as_py(), some[-1].reports[0].metrics if some[-1].reports else {},
        )
        for version, plan, some in zip(versions, plans, done, strict=True)
    ]  # fmt: skip
