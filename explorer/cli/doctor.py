"""The doctor, and rows counted, on the command line."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

import explorer
from explorer.cli.base import (
    Where,
    catalog_of,
    catalog_options,
    emit,
    engine_option,
    fail,
    finish,
    main,
    opened,
    printable,
    say,
    snapshot_option,
    table_options,
)
from explorer.errors import ExplorerError, UnreadableFile

if TYPE_CHECKING:
    from explorer.render.doctor import ShownReport

COULD_NOT_RUN = 8


@main.command()
@click.option("--files", is_flag=True, help="Also whether each file is there and as long as recorded; orphans.")
@click.option("--deep", is_flag=True, help="Also footers, deletes and data. Takes --files with it.")
@click.option("--skip", multiple=True, metavar="RULE", help="Leave a rule out, by id or number.")
@click.option(
    "--severity", "levels", multiple=True, metavar="RULE=LEVEL", help="fatal, error, warning or info instead."
)
@click.option("--each", is_flag=True, help="Also list each finding that one stands for or explains.")
@catalog_options
@snapshot_option
@engine_option
@click.option("--output", "-o", type=click.Choice(["text", "json", "sarif"]), default="text", show_default=True,
              help="How to print.")  # fmt: skip
def doctor(
    table: str | None, every: bool, each: bool, levels: tuple[str, ...], output: str, catalog: str | None,
    properties: tuple[str, ...], roots: tuple[str, ...], relocate: tuple[str, ...], **options: Any,
) -> None:  # fmt: skip
    """Check a table against the spec and itself: docs/doctor.md has the rules.

    Exit codes: 0 nothing above info, 1 warnings, 2 errors, 4 a table cannot be read, 8 a check could not run."""
    from explorer.render.doctor import render_report, report_object, sarif

    if (table is None) == (not every):
        raise click.UsageError("name a TABLE, or say --all")
    options["severity"] = {name: level for name, _, level in (text.partition("=") for text in levels)}
    reports, code = [], 0
    try:
        for name, report in _reports(table, (catalog, properties, roots, relocate), options):
            if isinstance(report, str):
                say(f"{name}: {report}")
                code = COULD_NOT_RUN
                continue
            reports.append(report)
            code = max(code, report.exit_code or (COULD_NOT_RUN if report.not_checked else 0))
            if output == "text":
                click.echo(printable(render_report(report, each).rstrip("\n")))
    except ExplorerError as error:  # the catalog cannot be listed
        fail(error, COULD_NOT_RUN)
    if output != "text":
        told = [report_object(r, each) for r in reports]
        emit(sarif(reports) if output == "sarif" else told if every else next(iter(told), None), "json", str)
    sys.exit(code)


def _reports(table: str | None, where: Where, options: dict[str, Any]) -> Iterator[tuple[str, ShownReport | str]]:
    """The report on TABLE, or on each table of a catalog as it is done; why there is none, where there is none."""
    from explorer.reports.catalog_sweep import sweep
    from explorer.reports.doctor import diagnose

    if table is None:
        for swept in sweep(lambda one: diagnose(one, **options), **catalog_of(*where)):
            yield swept.table, swept.answer or _unopened(swept.table, swept.failure, swept.error, options)
        return
    try:
        yield table, diagnose(opened(table, *where), **options)
    except ExplorerError as error:
        yield table, _unopened(table, error, str(error), options)


def _unopened(name: str, failure: Exception | None, reason: str, options: dict[str, Any]) -> ShownReport | str:
    from explorer.reports.doctor import unopened

    if not isinstance(failure, UnreadableFile):
        return reason
    try:
        return unopened(name, failure, options["skip"], options["severity"])
    except ExplorerError as error:
        return str(error)


@main.command()
@table_options
@snapshot_option
def count(snapshot: str | None, output: str, **where: Any) -> None:
    """Count the rows that readers see, and those that each delete hides."""
    from explorer.render.doctor import live_rows_object, render_live_rows

    table = opened(**where)
    counted = explorer.live_rows(table, snapshot)
    emit(live_rows_object(counted), output, lambda: render_live_rows(counted))
    finish(table)
