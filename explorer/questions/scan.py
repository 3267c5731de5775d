"""Questions about what a query reads, and what it would read of another layout."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Literal

from explorer.errors import NotFoundInTable, WrongUsage
from explorer.questions.answers import Answer
from explorer.questions.parameters import EngineName, Filter, Filters, Positive, SnapshotRef, Texts
from explorer.questions.registry import question

if TYPE_CHECKING:
    from collections.abc import Sequence

    from explorer.queries.collection import Collection
    from explorer.spec.scan.plan import Plan
    from explorer.table import Table

Stage = Literal["all", "filter", "manifests", "partitions", "files", "row-groups", "tasks"]


def check_plan(
    stage: Stage = "all",
    engines: bool = False,
    measure: bool = False,
    compare_with: Sequence[str] = (),
    drawing: bool = False,
    **_: Any,
) -> None:
    """Check that parameters of a plan go together; `drawing` says that it is drawn, not printed. Raises WrongUsage."""
    if compare_with and not measure:
        raise WrongUsage("--compare-with requires --measure")
    if drawing and (stage != "all" or engines or measure):
        raise WrongUsage("--picture draws the plan and prints nothing: leave out --stage, --engines and --measure")
    if stage != "all" and (engines or measure):
        raise WrongUsage("--stage shows that stage alone: leave out --engines and --measure")


@question("plan", picture=True, check=check_plan)
def plan(
    table: Table,
    where: Filter = "",
    *,
    stage: Stage = "all",
    sql: bool = False,
    engines: bool = False,
    measure: bool = False,
    compare_with: Texts = (),
    snapshot: SnapshotRef = None,
    engine: EngineName = "auto",
) -> Answer[Plan] | Collection:
    """Show what a query reads and skips, and the comparison that decides, from metadata alone.

    It shows partition summaries, partition values, column metrics, conditions that are left for rows, deletes
    and tasks. The stage row-groups reads the footers of the files, and shows which row groups statistics,
    dictionaries or bloom filters skip, and which pages may match.

    Args:
        where: A filter such as "name = 'jack' AND day(ts) = '2024-03-01'" (icedive docs filters). Without one: a read
            of the whole table.
        stage: Show only the rows of this stage, in full.
        sql: The filter is Spark SQL: also show what Spark hands to Iceberg of it.
        engines: Also ask Iceberg's own planner, in Spark, pyiceberg's, and the server of a REST catalog.
        measure: Also run it in Spark, four times, and compare its scan report with the plan.
        compare_with: With --measure: run it on this version, or other table, too. May be given several times.

    Returns:
        The plan: what is left after each stage, in manifests, files, rows and bytes. With a stage, a
        list of rows.

    Raises:
        WrongUsage: The parameters do not go together.
        NotFoundInTable: The filter does not fit the schema, or there is no such snapshot.
        EngineError: Spark is needed (`sql`, `engines`, `measure`), or is the engine, and is not available.

    Example:
        >>> table = explorer.open_table("demo.three_inserts")
        >>> [(stage.name, stage.left.files) for stage in table.plan("fruit = 'apple'").value.stages]
        [('snapshot', 3), ('manifests', 3), ('partitions', 3), ('metrics', 1)]
    """
    from explorer.queries.collection import Collection
    from explorer.render import plans

    check_plan(stage, engines, measure, compare_with)
    planned, pushed = (
        table.plan_sql(where.strip() or "true", snapshot, engine)
        if sql
        else (table.plan(where, snapshot, engine), None)
    )
    listed = {
        "filter": lambda: Collection.of_rows(plans.spec_rows(planned), "specs"),
        "manifests": lambda: Collection.of_rows(plans.manifest_rows(planned), "manifests"),
        "partitions": lambda: table.partition_verdicts(planned, engine),
        "files": lambda: Collection(planned.files, "files"),
        "tasks": lambda: Collection.of_rows(plans.task_rows(planned.tasks.first), "tasks"),
    }
    if stage in listed:
        return listed[stage]()
    if stage == "row-groups":
        groups = list(plans.group_rows(table.row_groups(planned)))
        return Answer(
            planned,
            lambda: groups,
            lambda: list(plans.group_lines(groups)) or ["(none)"],
            lambda: Collection.of_rows(groups, "row groups"),
        )
    from explorer.render import scan_reports
    from explorer.render.plan_blocks import plan_blocks
    from explorer.reports.timings import measure as measured

    runs = measured(table, where, (snapshot, *compare_with), sql) if measure else []
    answers = plans.answer_rows(planned, table.ask_planners(planned)) if engines else []
    data = plans.plan_json(planned) | plans.pushdown_json(planned, pushed)
    data |= {"planners": answers} if engines else {}
    data |= {"runs": scan_reports.timings_json(runs)} if measure else {}
    others = (*plans.answer_lines(answers), *scan_reports.timings_lines(runs))
    lines = (*plans.pushdown_lines(planned, pushed), *plans.plan_lines(planned, pushed), *others)
    shown = cache(lambda: table.plan_pictures(planned, pushed))
    return Answer(
        planned,
        lambda: data,
        lambda: lines,
        picture=lambda: shown().to_svg(),
        html=lambda: shown().facts_html(),
        parts=lambda: plan_blocks(planned, shown().pictures(), lines, others, pushed),
    )


@question("estimate", "scan", picture=True)
def estimate(
    table: Table,
    where: Filters = (),
    *,
    write: bool = False,
    rows: Positive = 100_000,
    file_size: Positive | None = None,
    snapshot: SnapshotRef = None,
) -> Answer[Any]:
    """Estimate what queries would read if the table were sorted, partitioned or compacted.

    It estimates the effect of sorting by a column, of one more partition field, and of compaction
    (icedive docs estimates). Filters are ranked by the bytes that they read, changes by what all filters would
    read together.

    Args:
        where: A filter; several may be given, and @FILE stands for the lines of a file. With --write it may be left
            out.
        write: Really write the same rows in several layouts into the sandbox, measure, and drop them again. The table
            itself is only read.
        rows: With --write: the largest number of rows to write.
        file_size: The size of a file as it would be written, in bytes.

    Returns:
        Files, rows and bytes that each filter reads now, and would read after each change.

    Raises:
        WrongUsage: No filter is given, and nothing is written.
        NotFoundInTable: No filter fits the schema, or there is no such snapshot.
        EngineError: Layouts are written, and Spark or Java is not available.

    Example:
        >>> table = explorer.open_table("demo.unsorted_files")
        >>> estimates = table.scan.estimate(["name = 'jack'"]).value
        >>> [change.text for change in estimates.changes][:2]
        ['compaction to 512 MiB', 'sort by name']
    """
    if write:
        from explorer.lab.layouts import compare_layouts
        from explorer.render.layouts import ShownLayouts, layouts_json, layouts_lines, layouts_svg
        from explorer.render.writing_blocks import layout_blocks

        layouts = compare_layouts(table, where, snapshot, rows)
        return Answer(
            layouts,
            lambda: layouts_json(layouts),
            lambda: layouts_lines(layouts),
            picture=lambda: layouts_svg(layouts),
            html=ShownLayouts(layouts).facts_html,
            parts=lambda: layout_blocks(layouts),
        )
    from explorer.render.estimates import estimates_blocks, estimates_json, estimates_lines
    from explorer.reports.estimates import estimate as estimates_of

    if not where:
        raise WrongUsage("name at least one filter")
    estimates = estimates_of(table, where, snapshot, file_size)
    if not any(query.plan for query in estimates.filters):
        raise NotFoundInTable("\n".join(f"{query.where}: {query.error}" for query in estimates.filters))
    return Answer(
        estimates,
        lambda: estimates_json(estimates),
        lambda: estimates_lines(estimates),
        parts=lambda: estimates_blocks(estimates),
    )
