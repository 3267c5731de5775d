"""Which statements are run: Spark parses them, and only plain queries, or writes to one table, are let through."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from explorer.engines.spark import SANDBOX
from explorer.errors import AccessRefused, EngineError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

QUERIES = frozenset(
    {
        "Project", "Filter", "Join", "LateralJoin", "Aggregate", "Sort", "GlobalLimit", "LocalLimit", "Offset", "Tail",
        "Distinct", "Deduplicate", "SubqueryAlias", "UnresolvedRelation", "UnresolvedWith", "UnresolvedHaving", "Union",
        "Except", "Intersect", "UnresolvedInlineTable", "OneRowRelation", "LocalRelation",
        "UnresolvedSubqueryColumnAliases",
        "Generate", "Pivot", "Unpivot", "WithWindowDefinition", "Sample", "UnresolvedHint",
        "UnresolvedTableValuedFunction",
        "RelationTimeTravel", "AsOfJoin",
    }
)  # fmt: skip
FORBIDDEN = frozenset({"reflect", "java_method", "try_reflect", "python_udf"})
"""Functions that run any code."""
STATEMENTS = frozenset(
    {
        "InsertIntoStatement", "UpdateTable", "DeleteFromTable", "MergeIntoTable", "TruncateTable", "AddColumns",
        "RenameColumn",
        "DropColumns", "AlterColumns", "ReplaceColumns", "SetTableProperties", "UnsetTableProperties",
        "AddPartitionField",
        "DropPartitionField", "ReplacePartitionField", "CreateOrReplaceBranch", "CreateOrReplaceTag", "DropBranch",
        "DropTag",
        "SetIdentifierFields", "DropIdentifierFields", "SetWriteDistributionAndOrdering",
    }
)  # fmt: skip
PROCEDURES = frozenset(
    {
        "rewrite_data_files", "rewrite_manifests", "rewrite_position_delete_files", "expire_snapshots",
        "remove_orphan_files",
        "rollback_to_snapshot", "rollback_to_timestamp", "set_current_snapshot", "cherrypick_snapshot",
        "publish_changes", "fast_forward",
        "ancestors_of", "compute_table_stats", "compute_partition_stats",
    }
)  # fmt: skip
ARGUMENTS = frozenset({"location", "file_list_view", "prefix_mismatch_mode"})
"""Arguments that would lead a procedure away from the table's own files."""

SUBQUERIES = frozenset(
    {"ScalarSubquery", "Exists", "ListQuery", "LateralSubquery", "FunctionTableSubqueryArgumentExpression"}
)
"""Expressions with a plan inside."""


def _parsed(spark: SparkSession, sql: str) -> Any:
    try:
        return spark._jsparkSession.sessionState().sqlParser().parsePlan(sql)  # type: ignore[attr-defined]
    except Exception as error:
        raise EngineError(
            f"this is no statement of Spark's: {str(error).split('JVM stacktrace')[0].strip()[:700]}"
        ) from error


def check_query(spark: SparkSession, sql: str) -> None:
    """Refuse whatever is not a plain query: every node of the parsed statement must be on a list. Raises AccessRefused,
    and EngineError when it is no SQL."""
    for node in _nodes(_parsed(spark, sql)):
        if _kind(node) not in QUERIES:
            raise AccessRefused(
                f"only queries are allowed here, and {_kind(node)} is none: rows are read, nothing is written or run"
            )


def check_write(spark: SparkSession, sql: str, table: Sequence[str]) -> None:
    """Refuse a statement unless it writes to this table (catalog, namespace, name) and to nothing else, and reads
    nothing but sandbox tables. Raises AccessRefused, and EngineError when it is no SQL."""
    whole = _parsed(spark, sql)
    nodes = list(_nodes(whole))
    plan = whole.child() if _kind(whole) == "UnresolvedWith" else whole
    kind = _kind(plan)
    if kind == "Call":
        _check_call(plan, table)
        return
    if kind not in STATEMENTS:
        raise AccessRefused(
            f"{kind} is not run here: only INSERT, UPDATE, DELETE, MERGE, ALTER TABLE, TRUNCATE and CALL, on this table"
        )
    target = plan.targetTable() if kind == "MergeIntoTable" else plan.table()
    parts = _parts(target)
    if parts[: len(table)] != list(table):
        raise AccessRefused(
            f"this would write to {'.'.join(parts) or 'something that is no table'}, and only {'.'.join(table)} "
            "may be written to"
        )
    if kind == "SetTableProperties":
        for key in _keys(plan.properties()):
            if any(word in key for word in ("path", "location", "impl")):
                raise AccessRefused(f"the property {key} could lead writes out of the table's folder")
    names = {name for node in nodes if _kind(node) == "UnresolvedWith" for name in _aliases(node)}
    for node in nodes:
        if _kind(node) == "UnresolvedRelation":
            read = _items(node.multipartIdentifier())
            if read[0] not in (SANDBOX, table[0]) and not (len(read) == 1 and read[0] in names):
                raise AccessRefused(
                    f"this reads {'.'.join(read)}: only tables of the sandbox are read here, by their full names"
                )


def _kind(node: Any) -> str:
    return str(node.getClass().getSimpleName())


def _items(sequence: Any) -> list[str]:
    return [str(sequence.apply(i)) for i in range(sequence.size())]


def _keys(found: Any) -> list[str]:
    keys = found.keysIterator()
    names = []
    while keys.hasNext():
        names.append(str(keys.next()))
    return names


def _aliases(node: Any) -> list[str]:
    return [str(node.cteRelations().apply(i)._1()) for i in range(node.cteRelations().size())]


def _parts(target: Any) -> list[str]:
    """The name of what is written to: a plan with a relation at its foot, or the parts themselves."""
    if str(target.getClass().getName()).startswith("scala.collection"):
        return _items(target)
    while _kind(target) not in ("UnresolvedRelation", "UnresolvedTable"):
        if target.children().size() != 1:
            return []
        target = target.children().apply(0)
    return _items(target.multipartIdentifier())


def _nodes(plan: Any) -> Iterator[Any]:
    """Every plan in a plan: children, the query of an INSERT, common table expressions, and subqueries in expressions.
    Raises AccessRefused for a function that runs any code."""
    yield plan
    inner = [plan.children().apply(i) for i in range(plan.children().size())]
    if _kind(plan) == "UnresolvedWith":
        inner += [plan.cteRelations().apply(i)._2() for i in range(plan.cteRelations().size())]
    if _kind(plan) == "InsertIntoStatement":
        inner.append(plan.table())
    for node in inner:
        yield from _nodes(node)
    for i in range(plan.expressions().size()):
        yield from _in_expression(plan.expressions().apply(i))


def _in_expression(expression: Any) -> Iterator[Any]:
    if _kind(expression) == "UnresolvedFunction" and (name := str(expression.nameParts().last()).lower()) in FORBIDDEN:
        raise AccessRefused(f"the function {name} is not allowed here: it runs any code")
    if _kind(expression) in SUBQUERIES:
        yield from _nodes(expression.plan())
    for i in range(expression.children().size()):
        yield from _in_expression(expression.children().apply(i))


def _check_call(plan: Any, table: Sequence[str]) -> None:
    procedure = _items(plan.procedure().nameParts())
    if procedure[:-1] != [table[0], "system"] or procedure[-1].lower() not in PROCEDURES:
        raise AccessRefused(
            f"the procedure {'.'.join(procedure)} is not run here: there are {', '.join(sorted(PROCEDURES))}"
        )
    named, placed = {}, []
    for i in range(plan.args().size()):
        argument = plan.args().apply(i)
        if _kind(argument) == "NamedArgumentExpression":
            named[str(argument.key()).lower()] = argument.value()
        else:
            placed.append(argument)
    about = named.get("table") or (placed[0] if placed else None)
    said = str(about.toString()) if about is not None else ""
    if said not in (".".join(table), ".".join(table[1:])):
        raise AccessRefused(f"this is about {said or 'no table'}, and only {'.'.join(table[1:])} may be written to")
    if led := ARGUMENTS & named.keys():
        raise AccessRefused(f"the argument {sorted(led)[0]} could lead the procedure out of the table's folder")
    if procedure[-1].lower() == "remove_orphan_files" and len(placed) > 2:
        raise AccessRefused("name the arguments of remove_orphan_files")
