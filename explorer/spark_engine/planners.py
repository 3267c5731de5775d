"""Other planners, asked for the same scan: Iceberg's own in Spark's JVM, and pyiceberg's; and what Spark hands to
Iceberg of a condition in SQL."""

from __future__ import annotations

import contextlib
import json
import uuid
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from explorer.errors import ExplorerError, StatementFailed
from explorer.progress import Cancelled, steps
from explorer.spark_engine.failures import failure
from explorer.spark_engine.java_names import java_names
from explorer.spark_engine.read_queue import ReadSession
from explorer.spark_engine.sql_guard import guard
from explorer.spark_engine.tables import FileAccess, iceberg_table, load
from explorer.spec.filters.expression_json import expression_json, parse_expression
from explorer.spec.filters.expressions import (
    TRUE,
    And,
    BoundTerm,
    Constant,
    Expression,
    Or,
    Predicate,
    both,
    predicates,
)
from explorer.spec.filters.pushdown import Pushdown
from explorer.spec.scan.plan import PLANNERS, PlannerAnswer

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from explorer.spark_engine.spark import SparkEngine

NAMED = 5000
"""Files that are told by name; of more only the number is known."""


def ask_planners(
    reads: ReadSession, files: FileAccess, snapshot_id: int | None, bound: Expression
) -> dict[str, PlannerAnswer | ExplorerError]:
    """The answers of all planners (spec.scan.plan.PLANNERS); an error for one that cannot."""

    def answer(ask: Callable[[], PlannerAnswer]) -> PlannerAnswer | ExplorerError:
        try:
            return ask()
        except Cancelled:
            raise
        except ExplorerError as error:
            return error

    answers = (
        answer(lambda: iceberg_plan(reads.engine, reads.session(), files, snapshot_id, bound)),
        answer(lambda: pyiceberg_plan(files, snapshot_id, bound)),
    )
    return dict(zip(PLANNERS, answers, strict=True))


def iceberg_plan(
    engine: SparkEngine, spark: SparkSession, files: FileAccess, snapshot_id: int | None, bound: Expression
) -> PlannerAnswer:
    """Iceberg's planFiles and planTasks with a bound filter. Raises StatementFailed, EngineError, NotSupported."""
    with _closing_ios() as opened:
        try:
            table = iceberg_table(engine, spark, files, opened)
            jvm: Any = java_names(spark._jvm)
            scan = table.newScan().filter(iceberg_expression(jvm, table, bound))
            scan = scan if snapshot_id is None else scan.useSnapshot(snapshot_id)
            paths = set()
            count = 0
            for task in steps(_each(scan.planFiles()), "files"):
                count += 1
                if count <= NAMED:
                    paths.add(str(task.file().location()))
            tasks = int(jvm.org.apache.iceberg.relocated.com.google.common.collect.Iterables.size(scan.planTasks()))
        except ExplorerError:
            raise
        except Exception as error:  # Iceberg and py4j raise many kinds
            raise failure(error, engine.is_lost, "Iceberg's planner") from error
    return PlannerAnswer(count, tasks, frozenset(paths) if count <= NAMED else None)


def iceberg_expression(jvm: Any, table: Any, bound: Expression) -> Any:
    """A bound filter as Iceberg's own. Numbers for nanoseconds it would take for microseconds, so these go as text."""
    kinds = [p.term.kind for p in predicates(bound) if isinstance(p.term, BoundTerm)]
    schema = None if any("_ns" in kind for kind in kinds) else table.schema()
    text = json.dumps(expression_json(bound))
    return jvm.org.apache.iceberg.expressions.ExpressionParser.fromJson(text, schema)


def _each(iterable: Any) -> Iterator[Any]:
    items = iterable.iterator()
    while items.hasNext():
        yield items.next()


@contextlib.contextmanager
def _closing_ios() -> Iterator[Callable[[Any], None]]:
    ios: list[Any] = []
    try:
        yield ios.append
    finally:
        with contextlib.suppress(Exception):  # gone where Spark is
            for io in ios:
                io.close()


def pyiceberg_plan(files: FileAccess, snapshot_id: int | None, bound: Expression) -> PlannerAnswer:
    """pyiceberg's plan_files with a bound filter. Raises StatementFailed, also for a filter that it cannot express."""
    from pyiceberg.table import StaticTable

    try:
        table = StaticTable.from_metadata(files.metadata_location, dict(files.properties))
        scan = table.scan(row_filter=_pyiceberg(bound), snapshot_id=snapshot_id)
        paths = [task.file.file_path for task in scan.plan_files()]
    except ExplorerError:
        raise
    except Exception as error:  # pyiceberg raises many kinds
        raise StatementFailed(f"pyiceberg's planner: {str(error)[:300] or type(error).__name__}") from error
    return PlannerAnswer(len(paths), None, frozenset(paths) if len(paths) <= NAMED else None)


def _pyiceberg(node: Expression) -> Any:
    from pyiceberg import expressions as e

    if isinstance(node, (And, Or)):
        return (e.And if isinstance(node, And) else e.Or)(_pyiceberg(node.left), _pyiceberg(node.right))
    if isinstance(node, Constant):
        return e.AlwaysTrue() if node.value else e.AlwaysFalse()
    assert isinstance(node, Predicate)
    assert isinstance(node.term, BoundTerm)
    if node.term.transform != "identity":
        raise StatementFailed(f"pyiceberg's filters have no transforms such as {node.term}")
    kinds = {
        "is-null": e.IsNull, "not-null": e.NotNull, "is-nan": e.IsNaN, "not-nan": e.NotNaN, "lt": e.LessThan,
        "lt-eq": e.LessThanOrEqual, "gt": e.GreaterThan, "gt-eq": e.GreaterThanOrEqual, "eq": e.EqualTo,
        "not-eq": e.NotEqualTo, "in": e.In, "not-in": e.NotIn, "starts-with": e.StartsWith,
        "not-starts-with": e.NotStartsWith,
    }  # fmt: skip
    values = [uuid.UUID(bytes=v) if node.term.kind == "uuid" else v for v in node.literals]
    make: Any = kinds[node.op]
    if node.op in ("in", "not-in"):
        return make(node.term.column.name, values)
    return make(node.term.column.name, *values)


def push_down(reads: ReadSession, files: FileAccess, version: str | None, where: str) -> Pushdown:
    """What Spark makes of a condition in SQL on a version. Nothing is read but metadata. Raises AccessRefused,
    StatementFailed, EngineError, NotSupported."""
    if where.split(None, 1)[:1] and where.split(None, 1)[0].lower() in ("select", "with"):
        raise StatementFailed("this is a query: give its condition alone, what stands after WHERE")
    engine, spark = reads.engine, reads.session()
    with _closing_ios() as opened:
        try:
            frame = guard.condition(spark, load(engine, spark, files, version, opened), where)
            handed, kept = [], []
            parser = java_names(spark._jvm).org.apache.iceberg.expressions.ExpressionParser
            for node in _nodes(frame._jdf.queryExecution().executedPlan()):  # type: ignore[operator]
                kind = node.getClass().getSimpleName()
                if kind == "BatchScanExec":
                    handed += [json.loads(str(parser.toJson(e))) for e in node.scan().filters().toArray()]
                elif kind == "FilterExec":
                    kept += _conjuncts(node.condition())
        except ExplorerError as error:
            raise _of_one_table(error) from error
        except Exception as error:  # Spark and py4j raise many kinds
            raise _of_one_table(failure(error, engine.is_lost, where)) from error
    expression: Expression = TRUE
    for data in handed:
        expression = both(expression, parse_expression(data))
    return Pushdown(expression, tuple(kept))


def _of_one_table(error: ExplorerError) -> ExplorerError:
    """The error; of a column that is none of the table's with what that means in a MERGE or a join."""
    if "UNRESOLVED_COLUMN" not in str(error):
        return error
    return StatementFailed(
        f"{error}. A condition between columns of two tables, as in MERGE ... ON t.id = s.id, is no filter of this "
        "table: it skips no file. Ask with the conditions on this table's columns and constants alone, without the "
        "table's name before them (icedive docs slow-scans shows how to write a MERGE)"
    )


def _conjuncts(condition: Any) -> list[str]:
    if condition.getClass().getSimpleName() == "And":
        return [*_conjuncts(condition.left()), *_conjuncts(condition.right())]
    return [str(condition.sql())]


def _nodes(node: Any) -> Iterator[Any]:
    kind = node.getClass().getSimpleName()
    if kind == "AdaptiveSparkPlanExec":
        yield from _nodes(node.executedPlan())
        return
    yield node
    children = node.children()
    for at in range(children.size()):
        yield from _nodes(children.apply(at))
