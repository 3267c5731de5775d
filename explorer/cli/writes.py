"""Commands that may write, to a sandbox table or with --allow-writes: maintenance, refs, copies, statements."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from explorer.cli.base import (
    emit,
    emit_object,
    engine_option,
    finish,
    main,
    opened,
    output_option,
    pairs,
    say,
    table_options,
    writes_option,
)
from explorer.spec.snapshots.ref_operations import OPERATIONS as REF_OPERATIONS

if TYPE_CHECKING:
    from explorer.spark_engine.engine_choice import Engine

OPERATIONS = (
    "compact",
    "compact-sort",
    "compact-z-order",
    "rewrite-manifests",
    "rewrite-position-deletes",
    "expire",
    "remove-orphans",
    "next-append",
    "dangling-deletes",
)
UNDO = tuple(REF_OPERATIONS)


@main.command()
@table_options
@click.argument("operation", type=click.Choice(list(OPERATIONS)))
@click.option("--columns", default="", help="For sorting: column names, separated by commas.")
@click.option(
    "--retain-last", type=int, help="For expiry: snapshots to keep on each branch, in place of the table's policy."
)
@click.option(
    "--option", "-O", "given", multiple=True, metavar="NAME=VALUE", help="An option of the procedure, by its name."
)
@click.option("--where", "condition", default="", help="To rewrite only files that may match a filter.")
@click.option("--run", "really", is_flag=True, help="Carry it out; without it, only show what it would do.")
@writes_option
@engine_option
def maintain(
    operation: str, columns: str, retain_last: int | None, given: tuple[str, ...], condition: str, really: bool,
    allow_writes: bool, engine: Engine, output: str, **where: Any,
) -> None:  # fmt: skip
    """Plan maintenance from metadata alone as Iceberg would, or with --run carry it out on a sandbox table through
    Spark's procedures."""
    from dataclasses import asdict

    from explorer.render.maintenance import render_preview
    from explorer.render.rows import plain
    from explorer.render.text import render_fields, render_table
    from explorer.reports.maintenance import runs

    options = pairs(given, "--option", "NAME=VALUE")
    table = opened(**where)
    if not really:
        seen = runs.preview(table, operation, columns, retain_last, engine, options, condition)
        head = {"operation": seen.operation, "call": seen.call, "refusal": seen.refusal, "words": list(seen.words)}
        if output == "json":
            emit_object(head, seen.tables)
        else:
            emit(head, output, lambda: render_preview(seen.words, seen.call, seen.tables, table.metadata.location))
        finish(table)
        return
    done, after = runs.run(table, operation, columns, retain_last, allow_writes, options=options, where=condition)
    rows = [{"of": k, "before": v, "after": asdict(done.after)[k]} for k, v in asdict(done.before).items()]
    emit(
        plain(asdict(done)),
        output,
        lambda: render_fields(dict(done.answer[0]) if done.answer else {}) + render_table(rows),
    )
    finish(after)


@main.command()
@table_options
@click.argument("operation", type=click.Choice(UNDO))
@click.option("--name", default="", help="The branch or tag; of publish, the WAP id.")
@click.option("--snapshot", "-s", help="Id, branch, tag or snapshot-N; for rollback-to-time a time.")
@click.option("--run", "really", is_flag=True, help="Carry it out; without it, only show what it would do.")
@writes_option
def undo(
    operation: str, name: str, snapshot: str | None, really: bool, allow_writes: bool, output: str, **where: Any
) -> None:
    """Preview branches, tags, rollbacks and cherry-picks from metadata alone, or with --run carry them out on a sandbox
    table."""
    from dataclasses import asdict

    from explorer.reports.maintenance import runs

    table = opened(**where)
    outcome = runs.preview_undo(table, operation, name, snapshot)
    if really:
        sql, table = runs.run_undo(table, operation, name, snapshot, allow_writes)
        say(sql)
    emit(
        asdict(outcome),
        output,
        lambda: "\n".join([*(outcome.words or ("nothing else changes",)), *(f"  {f}" for f in outcome.files)]),
    )
    finish(table)


@main.command("copy")
@click.argument("name")
@output_option
def copy_scenario(name: str, output: str) -> None:
    """Make a copy of a teaching table as lab.NAME_1, lab.NAME_2..., to be changed at will."""
    from explorer.lab import scenarios

    made = scenarios.fresh_copy(name.removeprefix("demo."))
    emit({"table": made}, output, lambda: made)


@main.command()
@table_options
@click.argument("sql", required=False)
@click.option("--api", default="", help="Instead of SQL: an operation of the table API, such as rewriteManifests.")
@writes_option
def observe(sql: str | None, api: str, allow_writes: bool, output: str, **where: Any) -> None:
    """Run one writing statement (t is the table) on a sandbox table, and say which files it wrote in order, the swap
    and the report."""
    from explorer.lab.observe import API, observe_api
    from explorer.lab.observe import observe as run
    from explorer.render.lab_runs import observation_object, render_observation

    if bool(sql) == bool(api):
        raise click.UsageError(f"give a statement, or --api with one of {', '.join(API)}")
    table = opened(**where)
    observed = (
        observe_api(table, api, allow_writes=allow_writes) if api else run(table, sql or "", allow_writes=allow_writes)
    )
    emit(observation_object(observed), output, lambda: render_observation(observed))
    finish(observed.table)
