"""How healthy a table is, or all tables of a catalog, on the command line."""

from __future__ import annotations

import sys
from typing import Any

import click

import explorer
from explorer.cli.base import (
    INCOMPLETE,
    Where,
    catalog_of,
    catalog_options,
    emit,
    engine_option,
    finish,
    main,
    opened,
    pairs,
    printable,
    say,
    snapshot_option,
)
from explorer.cli.listing import Asked, rows_options


@main.command()
@catalog_options
@click.option(
    "--threshold",
    "limits",
    multiple=True,
    metavar="NAME=VALUE",
    help="From where on a measure matters (docs/health.md).",
)
@click.option("--clustering", is_flag=True, help="Also how files are clustered by column, which reads all bounds.")
@snapshot_option
@engine_option
@rows_options()
def health(
    table: str | None, every: bool, snapshot: str | None, limits: tuple[str, ...], asked: Asked, catalog: str | None,
    properties: tuple[str, ...], roots: tuple[str, ...], relocate: tuple[str, ...], **options: Any,
) -> None:  # fmt: skip
    """Measure a table's health, each number against a threshold: file sizes, partitions, deletes, manifests, commits,
    snapshots, the metadata file. With --all a row for each table of a catalog, the worst first."""
    from explorer.render.health import health_object, render_health

    if (table is None) == (not every):
        raise click.UsageError("name a TABLE, or say --all")
    where: Where = (catalog, properties, roots, relocate)
    options["limits"] = {name: _number(name, text) for name, text in pairs(limits, "--threshold", "NAME=VALUE").items()}
    if table is None:
        _all(where, asked, options)
        return
    one = opened(table, *where)
    options["snapshot"] = snapshot
    checked = explorer.health(one, **options)
    told = health_object(checked)
    if asked.rows:
        asked.emit_listed(told["measures"], "measures")
    else:
        emit(told, asked.output, lambda: render_health(checked))
    finish(one)


def _number(name: str, text: str) -> float:
    try:
        return float(text)
    except ValueError as error:
        raise click.BadParameter(f"{name}={text!r} is no number", param_hint="--threshold") from error


def _all(where: Where, asked: Asked, options: dict[str, Any]) -> None:
    from explorer.render.health import told_row
    from explorer.render.text import render_table

    found = explorer.catalog_health(**catalog_of(*where), **options)
    rows = found.to_json()
    if asked.rows or asked.output != "text":
        asked.emit(found)
    else:
        click.echo(printable(render_table([told_row(row) for row in rows], None if sys.stdout.isatty() else 400)))
    if failed := sum(row["error"] is not None for row in rows):
        say(f"{failed} of the tables could not be read")
        sys.exit(INCOMPLETE)
