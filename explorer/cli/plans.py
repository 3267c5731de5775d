"""Commands on what a query would read, and why."""

from __future__ import annotations

from typing import Any

import click

from explorer import Collection
from explorer.cli.base import emit, emit_rows, finish, main, opened, snapshot_option, table_options


@main.command()
@table_options
@snapshot_option
@click.argument("where")
@click.option(
    "--stage",
    type=click.Choice(["filter", "manifests", "files", "row-groups", "tasks"]),
    help="Only this stage, in full.",
)
@click.option("--sql", is_flag=True, help="WHERE is Spark SQL: also show what Spark hands to Iceberg of it.")
@click.option("--engines", is_flag=True, help="Also ask Iceberg's own planner, in Spark, and pyiceberg's.")
def plan(
    where: str, stage: str | None, sql: bool, engines: bool, snapshot: str | None, output: str, **table_at: Any
) -> None:
    """Show what a query with the filter WHERE reads and skips, and why, from metadata alone.

    WHERE is a filter such as "name = 'jack' AND day(ts) = '2024-03-01'" (docs/filters.md)."""
    from explorer.views import plans

    table = opened(**table_at)
    planned, found = table.plan_sql(where, snapshot) if sql else (table.plan(where, snapshot), None)
    if stage == "files":
        emit_rows(Collection(planned.files, "files"), output)
    elif stage == "filter":
        emit_rows(Collection.of_rows(plans.spec_rows(planned), "specs"), output)
    elif stage == "manifests":
        emit_rows(Collection.of_rows(plans.manifest_rows(planned), "manifests"), output)
    elif stage == "row-groups":
        groups = list(plans.group_rows(table.row_groups(planned)))
        emit(groups, output, lambda: "\n".join(plans.group_lines(groups)) or "(none)")
    elif stage == "tasks":
        emit_rows(Collection.of_rows(plans.task_rows(planned.tasks.first), "tasks"), output)
    else:
        answers = plans.answer_rows(planned, table.ask_planners(planned)) if engines else []
        told = (
            plans.plan_object(planned)
            | plans.pushed_object(planned, found)
            | ({"planners": answers} if engines else {})
        )
        lines = (*plans.pushed_lines(planned, found), *plans.plan_lines(planned), *plans.answer_lines(answers))
        emit(told, output, lambda: "\n".join(lines))
    finish(table)


@main.command()
@table_options
@snapshot_option
def metrics(snapshot: str | None, output: str, **where: Any) -> None:
    """Show which statistics of each column are kept, by which rule, and what a filter on it can skip."""
    from explorer.views.plans import mode_rows

    table = opened(**where)
    emit_rows(Collection.of_rows(mode_rows(table.metrics(snapshot)), "columns"), output)
    finish(table)


@main.command()
@table_options
@snapshot_option
@click.option("--column", "columns", multiple=True, help="Only this column; may be given several times.")
def clustering(columns: tuple[str, ...], snapshot: str | None, output: str, **where: Any) -> None:
    """Show how many files a query for one value of a column opens, by the files' bounds alone."""
    from explorer.views.plans import clustering_rows

    table = opened(**where)
    emit_rows(Collection.of_rows(clustering_rows(table.clustering(columns, snapshot)), "columns"), output)
    finish(table)
