"""Which statements are run: Spark parses and analyses them, and only plain queries, or writes to one table, go through.

Every node of the parsed plan, every function by name, and every node of the analysed plan must be on a list of
spark_engine.sql_guard.sql_allowlist; tables are read only if they are views of this session or the caller lets them be.
What a person may reach beside that, should this fail, is what spark_engine.spark leaves in a `person_session`."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from explorer.errors import AccessRefused, StatementFailed
from explorer.spark_engine.java_names import java_names
from explorer.spark_engine.plan_walk import Unknown, Walk, strings
from explorer.spark_engine.sql_guard import sql_allowlist
from explorer.spark_engine.sql_guard.patterns import why_slow
from explorer.spark_engine.sql_guard.quoting import identifier
from explorer.spark_engine.user_spark import active_session
from explorer.spark_engine.versions import sql_package
from explorer.spec.text.names import similar_names
from explorer.storage.paths import canonical

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Tables = Callable[[tuple[str, ...]], str]
"""The canonical path of the metadata file of a table, by the parts of its full name; raises AccessRefused for one that
may not be read."""
Views = Mapping[str, Callable[[], str]]
"""Views of a session that may be read, each with the same for it."""
LONGEST = 100_000
"""Characters of a statement."""
_PLAIN = re.compile(r"[^./\\:#?*\x00-\x1f]+")
"""A part of a table's name: Iceberg takes what has a slash in it for a path."""
_PRIVILEGES = "__required_write_privileges__"
"""An option that Spark's parser itself sets on what is written to."""
ICEBERG_CALL = "plans.logical.CallStatement"
"""CALL as Iceberg's extension parses it, for Spark 3, which has none."""
_DEFAULTS = {"plans.logical.QualifiedColType": "default", "plans.logical.AlterColumn": "setDefaultExpression"}
"""Where Spark 3 has SQL as a text that it computes later, and newer ones an expression that is visited."""
_SELECTOR = re.compile(r"branch_\w+")


def query(spark: SparkSession, sql: str, views: Views, tables: Tables) -> DataFrame:
    """The rows of a plain query over views of this session and tables that `tables` lets through, not yet read. Raises
    AccessRefused for anything else, and StatementFailed when it is no SQL."""
    plan = _parse(spark, sql)
    statement = _Statement(spark, views, tables)
    statement.check(plan, sql_allowlist.QUERIES)
    frame = run(spark, plan)
    check_analysis(spark, frame._jdf.queryExecution().analyzed(), statement.checked)  # type: ignore[operator]
    return frame


def condition(spark: SparkSession, frame: DataFrame, where: str) -> DataFrame:
    """The rows of a frame for which a condition holds. Raises AccessRefused, and StatementFailed when it is no SQL."""
    expression = check_condition(spark, where)
    logical: Any = java_names(spark._jvm).org.apache.spark.sql.catalyst.plans.logical
    rows = run(spark, logical.Filter(expression, frame._jdf.logicalPlan()))  # type: ignore[operator]
    check_analysis(spark, rows._jdf.queryExecution().analyzed())  # type: ignore[operator]
    return rows


def check_condition(spark: SparkSession, where: str) -> Any:
    """The parsed condition. Refuses one that does more than compute over the columns of its row: it reads no table.
    Raises AccessRefused, and StatementFailed when it is no SQL."""
    expression = _parse(spark, where, "parseExpression")
    _Statement(spark, {}, refuse_tables).check(expression, sql_allowlist.QUERIES)
    return expression


def run(spark: SparkSession, plan: Any) -> DataFrame:
    """What a plan that was checked gives, the plan itself and not its text: text can be read in more than one way. A
    query is analysed, not yet read; a statement is carried out."""
    from pyspark.sql import DataFrame

    try:
        rows = sql_package(java_names(spark._jvm)).Dataset.ofRows(spark._jsparkSession, plan)  # type: ignore[attr-defined]
    except Exception as error:
        raise StatementFailed(reason(error)) from error
    return DataFrame(rows, spark)


def refuse_tables(name: tuple[str, ...]) -> str:
    """For statements that read no table by its name."""
    raise AccessRefused(f"{'.'.join(name)} may not be read here")


def check_write(spark: SparkSession, sql: str, table: Sequence[str], tables: Tables) -> Any:
    """The parsed statement, for `run`. Refuses one unless it writes to this table (catalog, namespaces, name) and to
    nothing else, and reads only it and tables that `tables` lets through. Raises AccessRefused, and StatementFailed
    when it is no SQL."""
    own = tuple(table)

    def readable(name: tuple[str, ...]) -> str:
        return tables(name) if name[: len(own)] != own else ""

    plan = _parse(spark, sql)
    statement = _Statement(spark, {}, readable)
    if statement.kind(plan) in ("plans.logical.Call", ICEBERG_CALL):
        # Spark's analysis already runs a procedure, so its arguments are all checked as they are written
        _check_call(spark, statement, plan, own)
        return plan
    top = plan.child() if statement.kind(plan) == "plans.logical.UnresolvedWith" else plan
    kind = statement.kind(top)
    short = kind.rsplit(".", 1)[-1]
    if kind not in sql_allowlist.STATEMENTS:
        raise AccessRefused(
            f"{short} is not run here: only INSERT, UPDATE, DELETE, MERGE, ALTER TABLE, TRUNCATE and CALL are, "
            "on this table"
        )
    _check_target(statement, top, own)
    if kind == "plans.logical.SetTableProperties":
        _check_properties(top.properties())
    # the statement itself, and what stands only inside one; nothing below may be another statement
    statement.check(plan, sql_allowlist.QUERIES | sql_allowlist.INSIDE_STATEMENTS | {kind})
    if statement.count[kind] != 1:
        raise AccessRefused(f"a {short} inside another is not run here")
    state = spark._jsparkSession.sessionState()  # type: ignore[attr-defined]
    skip = java_names(spark._jvm).org.apache.spark.sql.execution.CommandExecutionMode.SKIP()
    try:
        analysed = state.executePlan(plan, skip).analyzed()
    except Exception as error:
        raise StatementFailed(reason(error)) from error
    check_analysis(spark, analysed)
    return plan


def check_analysis(spark: SparkSession, plan: Any, checked: Collection[str] | None = None) -> None:
    """Refuse a plan in which Spark's analysis put anything that does more than compute, or rows that are not Iceberg's;
    where `checked` says which metadata files were looked at, also a table as another file has it. Raises
    AccessRefused."""

    def visit(name: str, node: Any, scope: frozenset[str]) -> None:
        if name == "expressions.objects.StaticInvoke":  # how Spark calls a function of a catalog
            function = str(node.staticObject().getName())
            if not function.startswith("org.apache.iceberg.spark.functions."):
                raise AccessRefused(f"the function {function} is not allowed here")
        if name == "plans.logical.View" and not node.isTempView():
            raise AccessRefused("views of a catalog are not read here")
        if name in sql_allowlist.RELATIONS:
            table = node.table()
            if str(table.getClass().getSimpleName()) == "RowLevelOperationTable":  # what UPDATE, DELETE, MERGE rewrite
                table = table.table()
            source = str(table.getClass().getName())
            if not source.startswith("org.apache.iceberg.spark."):
                raise AccessRefused(f"only Iceberg tables are read and written here, and {source} is none")
            if checked is not None and (location := _metadata_location(table)) not in checked:
                raise AccessRefused(f"Spark would read {location}, which is not what was looked at")

    walk = Walk(
        java_names(spark._jvm), sql_allowlist.ANALYSED, sql_allowlist.ANALYSED_LEAVES, visit, frozenset({"replacement"})
    )
    _carry_out(walk, plan)


def _metadata_location(table: Any) -> str:
    """The metadata file that Spark has of a table, or of the table of a metadata table."""
    inner = table.table()
    if str(inner.getClass().getName()) != "org.apache.iceberg.BaseTable":
        inner = inner.table()
    return canonical(str(inner.operations().current().metadataFileLocation()))


def reason(error: Exception) -> str:
    """Spark's own first lines of a parser's or analyser's error; of another of Java's, its innermost cause in words."""
    cause = getattr(error, "java_exception", None)
    if cause is not None:
        while cause.getCause() is not None:
            cause = cause.getCause()
        return str(cause.getMessage() or cause.getClass().getName())[:700]
    return str(error).split("JVM stacktrace")[0].strip()[:700]


def _parse(spark: SparkSession, sql: str, how: str = "parsePlan") -> Any:
    if len(sql) > LONGEST:
        raise AccessRefused(f"a statement has at most {LONGEST:,} characters here, and this has {len(sql):,}")
    with active_session(spark):  # whose settings decide
        try:
            return getattr(spark._jsparkSession.sessionState().sqlParser(), how)(sql)  # type: ignore[attr-defined]
        except Exception as error:
            raise StatementFailed(f"this is no statement of Spark's: {reason(error)}") from error


def _carry_out(walk: Walk, plan: Any) -> None:
    try:
        walk.of(plan)
    except Unknown as unknown:
        what = str(unknown).rsplit(".", 1)[-1].rstrip("$")
        raise AccessRefused(
            f"only what reads rows and computes is allowed here, and {what} is not on the list of what does"
        ) from unknown
    except RecursionError as error:
        raise AccessRefused("the statement nests too deeply to be checked") from error


class _Statement:
    """The rules for a parsed statement."""

    def __init__(self, spark: SparkSession, views: Views, tables: Tables) -> None:
        self.spark, self.tables = spark, tables
        self.views = {view.lower(): check for view, check in views.items()}
        self.count: dict[str, int] = {}
        self.checked: set[str] = set()

    def check(self, plan: Any, nodes: frozenset[str]) -> None:
        """Raises AccessRefused."""
        _carry_out(
            Walk(java_names(self.spark._jvm), nodes | sql_allowlist.EXPRESSIONS, sql_allowlist.LEAVES, self._visit),
            plan,
        )

    def kind(self, node: Any) -> str:
        """The class of a node, as the lists have it."""
        return str(node.getClass().getName()).removeprefix("org.apache.spark.sql.catalyst.")

    def _visit(self, name: str, node: Any, scope: frozenset[str]) -> None:
        self.count[name] = self.count.get(name, 0) + 1
        if name == "analysis.UnresolvedRelation":
            self._relation(node, scope)
        elif name == "analysis.UnresolvedFunction":
            self._function(strings(node.nameParts()), sql_allowlist.FUNCTIONS)
            for i in sql_allowlist.PATTERNS.get(str(node.nameParts().last()).lower(), ()):
                if i < node.arguments().size():
                    _check_pattern(node.arguments().apply(i))
        elif name in _DEFAULTS:
            default = getattr(node, _DEFAULTS[name])()
            if default.isDefined() and isinstance(default.get(), str):
                raise AccessRefused("a default of a column is not set here through Spark 3, which has it as a text")
        elif name == "expressions.RLike":
            _check_pattern(node.right())
        elif name == "analysis.UnresolvedGenerator":
            self._function((str(node.name().unquotedString()),), sql_allowlist.FUNCTIONS)
        elif name == "analysis.UnresolvedTableValuedFunction":
            self._function(strings(node.name()), sql_allowlist.TABLE_FUNCTIONS)

    def _relation(self, node: Any, scope: frozenset[str]) -> None:
        parts = strings(node.multipartIdentifier())
        name = ".".join(parts)
        options = {str(key) for key in node.options().keySet()} - {_PRIVILEGES}
        if node.isStreaming() or options:
            raise AccessRefused(f"{name} is read as it is here: not as a stream, and without options")
        if len(parts) == 1:
            if parts[0].lower() in scope:
                return
            if parts[0].lower() not in self.views:
                names = ", ".join(sorted(self.views)) or "none"
                raise AccessRefused(f"there is no view {name} here (there are: {names}); name a table in full")
            self.checked.add(self.views[parts[0].lower()]())
            return
        if not all(_PLAIN.fullmatch(part) for part in parts):
            raise AccessRefused(f"{name} is no plain table name: files are not read by their paths here")
        if len(parts) < 3 or not is_iceberg_catalog(self.spark, parts[0]):
            raise AccessRefused(
                f"this reads {name}: {parts[0]} is no Iceberg catalog that Spark knows; name a version, {name}@main"
            )
        self.checked.add(self.tables(parts))

    def _function(self, parts: tuple[str, ...], functions: frozenset[str]) -> None:
        name = parts[-1].lower()
        if len(parts) == 1 and name in functions:
            return
        iceberg = len(parts) == 3 and parts[1].lower() == "system" and name in sql_allowlist.ICEBERG_FUNCTIONS
        if iceberg and is_iceberg_catalog(self.spark, parts[0]):
            return
        if name in sql_allowlist.REACHING:
            raise AccessRefused(f"the function {name} is not allowed here: it reaches out of the query")
        near = similar_names(name, functions)
        hint = f"; did you mean {near[0]}?" if near else ""
        raise AccessRefused(f"{'.'.join(parts)} is not on the list of functions that are allowed here{hint}")


def _check_pattern(expression: Any) -> None:
    """Refuse a regular expression that is not written out, or may take very long."""
    literal = str(expression.getClass().getSimpleName()) == "Literal"
    if not literal:
        raise AccessRefused("a regular expression is written out here, as a text in quotes")
    if reason := why_slow(str(expression.value())):
        raise AccessRefused(f"a regular expression may take very long, and is not run: {reason}")


def is_iceberg_catalog(spark: SparkSession, name: str) -> bool:
    """Whether Spark has an Iceberg catalog of that name."""
    kind = spark.conf.get(f"spark.sql.catalog.{name}", None)
    return kind in ("org.apache.iceberg.spark.SparkCatalog", "org.apache.iceberg.spark.SparkSessionCatalog")


def _check_target(statement: _Statement, plan: Any, own: tuple[str, ...]) -> None:
    target = plan.targetTable() if statement.kind(plan) == "plans.logical.MergeIntoTable" else plan.table()
    parts = _parts(statement, target)
    branch = parts[len(own) :]
    if parts[: len(own)] != own or len(branch) > 1 or not all(_SELECTOR.fullmatch(part) for part in branch):
        raise AccessRefused(
            f"this would write to {'.'.join(parts) or 'something that is no table'}, "
            f"and only {'.'.join(own)} may be written to"
        )


def _parts(statement: _Statement, target: Any) -> tuple[str, ...]:
    """The name of what is written to: a plan with a relation at its foot, or the parts themselves."""
    if str(target.getClass().getName()).startswith("scala.collection"):
        return strings(target)
    while statement.kind(target) not in ("analysis.UnresolvedRelation", "analysis.UnresolvedTable"):
        if target.children().size() != 1:
            return ()
        target = target.children().apply(0)
    return strings(target.multipartIdentifier())


def _check_properties(properties: Any) -> None:
    keys = properties.keysIterator()
    while keys.hasNext():
        key = str(keys.next())
        if key not in sql_allowlist.PROPERTIES and not key.startswith(sql_allowlist.PROPERTY_PREFIXES):
            raise AccessRefused(
                f"the property {key} is not set here: it is not on the list of those that name no place and no class"
            )


def _spellings(own: tuple[str, ...]) -> set[str]:
    """How an argument of CALL may name the table: with its catalog or without, in backticks where they are needed."""
    names = {identifier(own), identifier(own[1:])}
    if all(re.fullmatch(r"\w+", part) for part in own):
        names |= {".".join(own), ".".join(own[1:])}
    return names


def _check_call(spark: SparkSession, statement: _Statement, plan: Any, own: tuple[str, ...]) -> None:
    """A procedure on the list, about this table, whose arguments are constants or computed."""
    is_icebergs = statement.kind(plan) == ICEBERG_CALL
    procedure = strings(plan.name() if is_icebergs else plan.procedure().nameParts())
    parameters = sql_allowlist.PROCEDURES.get(procedure[-1].lower())
    if procedure[:-1] != (own[0], "system") or parameters is None:
        raise AccessRefused(
            f"the procedure {'.'.join(procedure)} is not run here: there are "
            f"{', '.join(sorted(sql_allowlist.PROCEDURES))}"
        )
    arguments: dict[str, Any] = {}
    for i in range(plan.args().size()):
        key, value = _argument(statement, plan.args().apply(i))
        name = key or (parameters[i] if i < len(parameters) else f"number {i + 1}")
        if name not in parameters or name in sql_allowlist.WITHHELD:
            raise AccessRefused(f"the argument {name} of {procedure[-1]} is not taken here")
        if name in arguments:
            raise AccessRefused(f"the argument {name} is given twice")
        arguments[name] = value
    table = _literal(statement, arguments.get("table"))
    if table not in _spellings(own):
        raise AccessRefused(f"this is about {table or 'no table'}, and only {'.'.join(own[1:])} may be written to")
    for name in sql_allowlist.LITERALS & arguments.keys():
        text = _literal(statement, arguments[name])
        if text is None:
            raise AccessRefused(f"the argument {name} must be a plain text here")
        if name == "where":
            check_condition(spark, text)
    for value in arguments.values():
        statement.check(value, sql_allowlist.QUERIES)


def _argument(statement: _Statement, argument: Any) -> tuple[str, Any]:
    """The name of an argument of CALL in lower case, empty if it has none, and its value."""
    kind = statement.kind(argument)
    if kind == "expressions.NamedArgumentExpression":
        return str(argument.key()).lower(), argument.value()
    if kind == "plans.logical.NamedArgument":
        return str(argument.name()).lower(), argument.expr()
    return "", argument.expr() if kind == "plans.logical.PositionalArgument" else argument


def _literal(statement: _Statement, argument: Any) -> str | None:
    if argument is None or statement.kind(argument) != "expressions.Literal":
        return None
    return str(argument.value().toString()) if hasattr(argument.value(), "toString") else str(argument.value())
