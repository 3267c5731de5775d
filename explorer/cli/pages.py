"""Commands that write pages: tables that are looked at without this program."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

import explorer
from explorer.cli.base import INCOMPLETE, emit, finish, main, opened, output_of, pairs, say, table_options
from explorer.cli.listing import emit_rows


@main.command()
@table_options
@click.option(
    "--html", "target", required=True, type=click.Path(dir_okay=False, path_type=Path), help="The file to write."
)
def export(target: Path, output: str, **where: Any) -> None:
    """Write a table as one HTML file that needs no kernel, server or network: step, unfold, search, inspect, diff."""
    from explorer.render.text import render_fields

    if not target.parent.is_dir():
        raise click.BadParameter(f"there is no folder {target.parent}", param_hint="--html")
    table = opened(**where)
    told = explorer.export_html(table, target)
    emit(told, output, lambda: render_fields(told))
    finish(table)


@main.command()
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@click.option("--catalog", default="", help="All tables of this catalog instead of the teaching tables.")
@click.option("--property", "-p", "properties", multiple=True, metavar="KEY=VALUE", help="A property of the catalog.")
@output_of("jsonl")
def gallery(folder: Path, catalog: str, properties: tuple[str, ...], output: str) -> None:
    """Write the teaching tables as a folder of such files, with an index.html."""
    rows = explorer.gallery(folder, catalog, pairs(properties, "--property", "KEY=VALUE") or None)
    emit_rows(rows, output, ["table", "snapshots", "nodes", "bytes", "file", "error"])
    if not len(rows):
        say("no tables: iceberg-explorer demo unpacks the teaching tables")
        sys.exit(1)
    if any(row.get("error") for row in rows):
        sys.exit(INCOMPLETE)
