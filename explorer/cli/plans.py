"""Commands on what a query would read, and why."""

from __future__ import annotations

import os
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import click

import explorer
from explorer.cli.base import (
    emit,
    engine_option,
    finish,
    main,
    opened,
    say,
    snapshot_option,
    table_options,
    where_options,
)
from explorer.cli.listing import Asked, rows_options
from explorer.errors import NotFoundInTable

if TYPE_CHECKING:
    from explorer.spark_engine.engine_choice import Engine


@main.command()
@where_options
@rows_options()
@snapshot_option
@engine_option
@click.argument("where")
@click.option(
    "--stage",
    type=click.Choice(["filter", "manifests", "partitions", "files", "row-groups", "tasks"]),
    help="Only this stage, in full.",
)
@click.option(
    "--file",
    "-f",
    "target",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Draw it into this file and print nothing: a page (.html) or a picture (.svg) of funnel, bounds, partitions.",
)
@click.option("--sql", is_flag=True, help="WHERE is Spark SQL: also show what Spark hands to Iceberg of it.")
@click.option("--engines", is_flag=True, help="Also ask Iceberg's own planner, in Spark, and pyiceberg's.")
@click.option(
    "--run", is_flag=True, help="Also run it in Spark, four times, and hold its scan report against the plan."
)
@click.option(
    "--beside",
    multiple=True,
    help="With --run: run it on this version, or other table, too; may be given several times.",
)
def plan(
    where: str, stage: str | None, sql: bool, engines: bool, run: bool, beside: tuple[str, ...], target: Path | None,
    snapshot: str | None, engine: Engine, asked: Asked, **table_at: Any,
) -> None:  # fmt: skip
    """Show what a query with the filter WHERE reads and skips, and why, from metadata alone.

    WHERE is a filter such as "name = 'jack' AND day(ts) = '2024-03-01'" (docs/filters.md)."""
    from explorer.render import plans, scan_reports
    from explorer.reports.timings import measure

    if beside and not run:
        raise click.UsageError("--beside is for --run")
    if target and (stage or engines or run):
        raise click.UsageError("--file draws the plan and prints nothing: leave out --stage, --engines and --run")
    if stage and (engines or run):
        raise click.UsageError("--stage prints that stage alone: leave out --engines and --run")
    if asked.rows and not stage:
        raise click.UsageError("--where, --columns, --limit and jsonl are of the rows of a --stage")
    if target:
        _check_drawable(target)
    table = opened(**table_at)
    planned, pushed_down = (
        table.plan_sql(where, snapshot, engine) if sql else (table.plan(where, snapshot, engine), None)
    )
    if target:
        shown = table.shown(planned, pushed_down)
        drawn = shown.to_html() if target.suffix == ".html" else shown.to_svg()
        _write(target, drawn)
        say(f"wrote {target}")
    elif stage == "files":
        asked.emit(explorer.Collection(planned.files, "files"))
    elif stage == "filter":
        asked.emit_listed(plans.spec_rows(planned), "specs")
    elif stage == "manifests":
        asked.emit_listed(plans.manifest_rows(planned), "manifests")
    elif stage == "partitions":
        asked.emit(table.partition_verdicts(planned, engine))
    elif stage == "row-groups":
        groups = list(plans.group_rows(table.row_groups(planned)))
        if asked.rows:
            asked.emit_listed(groups, "row groups")
        else:
            emit(groups, asked.output, lambda: "\n".join(plans.group_lines(groups)) or "(none)")
    elif stage == "tasks":
        asked.emit_listed(plans.task_rows(planned.tasks.first), "tasks")
    else:
        ran = measure(table, where, (snapshot, *beside), sql) if run else []
        answers = plans.answer_rows(planned, table.ask_planners(planned)) if engines else []
        told = (
            plans.plan_object(planned)
            | plans.pushed_object(planned, pushed_down)
            | ({"planners": answers} if engines else {})
            | ({"runs": scan_reports.measured_object(ran)} if run else {})
        )
        lines = (
            *plans.pushed_lines(planned, pushed_down), *plans.plan_lines(planned), *plans.answer_lines(answers),
            *scan_reports.measured_lines(ran),
        )  # fmt: skip
        emit(told, asked.output, lambda: "\n".join(lines))
    finish(table)


def _check_drawable(target: Path) -> None:
    """What can be known of a file before there is something to write. Raises UsageError, ClickException."""
    if target.suffix not in (".html", ".svg"):
        raise click.UsageError(f"{target.name}: a plan is drawn as .html or .svg")
    if not target.parent.is_dir():
        raise click.ClickException(f"{target} cannot be written: there is no folder {target.parent}")
    if not os.access(target if target.exists() else target.parent, os.W_OK):
        raise click.ClickException(f"{target} cannot be written: permission denied")


@main.command()
@where_options
@rows_options()
@snapshot_option
@engine_option
def metrics(snapshot: str | None, engine: Engine, asked: Asked, **where: Any) -> None:
    """Show which statistics of each column are kept, by which rule, and what a filter on it can skip."""
    from explorer.render.plans import mode_rows

    table = opened(**where)
    asked.emit_listed(mode_rows(table.metrics(snapshot, engine)), "columns")
    finish(table)


@main.command()
@where_options
@rows_options()
@snapshot_option
@click.option("--column", "columns", multiple=True, help="Only this column; may be given several times.")
@engine_option
def clustering(columns: tuple[str, ...], snapshot: str | None, engine: Engine, asked: Asked, **where: Any) -> None:
    """Show how many files a query for one value of a column opens, by the files' bounds alone."""
    from explorer.render.plans import clustering_rows

    table = opened(**where)
    asked.emit_listed(clustering_rows(table.clustering(columns, snapshot, engine)), "columns")
    finish(table)


@main.command()
@table_options
@snapshot_option
@click.argument("filters", nargs=-1)
@click.option("--filters", "file", type=click.File(encoding="utf-8"), help="More filters, one per line; - is stdin.")
@click.option("--file-size", type=click.IntRange(min=1), help="Bytes of a file as it would be written.")
def estimate(
    filters: tuple[str, ...], file: IO[str] | None, file_size: int | None, snapshot: str | None, output: str,
    **where: Any,
) -> None:  # fmt: skip
    """Estimate what queries with FILTERS would read if the table were sorted by one of their columns, partitioned by
    one or compacted, beside what they read now.

    Filters are ranked by the bytes that they read, changes by what all filters would read together."""
    from explorer.render.estimates import estimates_lines, estimates_object
    from explorer.reports.estimates import estimate as estimated

    try:
        more = [line.strip() for line in file or ()]
    except UnicodeDecodeError as error:
        raise click.ClickException(f"--filters: not all of it is UTF-8 text ({error.reason})") from error
    asked = [*filters, *(line for line in more if line and not line.startswith("#"))]
    if not asked:
        raise click.UsageError("a filter is expected, or --filters FILE")
    table = opened(**where)
    estimates = estimated(table, asked, snapshot, file_size)
    if not any(a.plan for a in estimates.asked):
        raise NotFoundInTable("\n".join(f"{a.where}: {a.error}" for a in estimates.asked))
    emit(estimates_object(estimates), output, lambda: "\n".join(estimates_lines(estimates)))
    finish(table)


@main.command("compare-layouts")
@table_options
@snapshot_option
@click.option("--query", "queries", multiple=True, metavar="WHERE", help="A query; may be given several times.")
@click.option("--rows", type=click.IntRange(min=1), default=100_000, show_default=True, help="Write at most so many.")
@click.option(
    "--file", "-f", "target", type=click.Path(dir_okay=False, path_type=Path), help="Draw it as SVG here too."
)
def compare_layouts(
    queries: tuple[str, ...], rows: int, target: Path | None, snapshot: str | None, output: str, **where: Any
) -> None:
    """Write the same rows unsorted, bin-packed, sorted, z-ordered and partitioned into the sandbox, and show what each
    cost and what queries read of it.

    Without --query they are drawn of the rows. The table itself is only read; what is written is dropped again."""
    from explorer.lab.layouts import compare_layouts as compared
    from explorer.render.layouts import layouts_lines, layouts_object, layouts_svg

    table = opened(**where)
    comparison = compared(table, queries, snapshot, rows)
    if target:
        _write(target, layouts_svg(comparison))
    emit(layouts_object(comparison), output, lambda: "\n".join(layouts_lines(comparison)))
    finish(table)


def _write(target: Path, drawn: str) -> None:
    try:
        target.write_text(drawn, "utf-8")
    except OSError as error:
        raise click.ClickException(f"{target} cannot be written: {error.strerror}") from error


@main.command("file-map")
@where_options
@rows_options("columns", "limit")
@snapshot_option
@click.option("--where", "condition", default="", help="A filter (docs/filters.md): also tell what its scan reads.")
@click.option("--deletes", is_flag=True, help="Also count the deletes that apply to each file.")
def file_map(condition: str, deletes: bool, snapshot: str | None, asked: Asked, **where: Any) -> None:
    """List all files of a snapshot, and those that it removed, as the cells of the dashboard's map: a file each, or as
    many as leave at most 4,000."""
    table = opened(**where)
    plan = table.plan(condition, snapshot) if condition else None
    cells = explorer.file_map(table, snapshot, plan=plan, deletes=deletes).every
    asked.emit_listed(map(vars, cells), "cells")
    finish(table)
