"""The teaching tables and the server."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

import explorer
from explorer.cli.base import COMMAND, main
from explorer.cli.output import ROW_FORMATS, output_option, print_rows
from explorer.cli.screen import say
from explorer.serving.server_address import LOOPBACK, PORT, is_free

if TYPE_CHECKING:
    from explorer.lab.scenarios import Scenario


@main.command()
@click.argument("names", nargs=-1)
@click.option(
    "--list", "listing", is_flag=True, help="List the teaching tables and what each shows, and build nothing."
)
@click.option("--rebuild", is_flag=True, help="Have Spark make the commits again here, in minutes; needs Java.")
@output_option(*ROW_FORMATS)
def demo(names: tuple[str, ...], listing: bool, rebuild: bool, output: str) -> None:
    """Unpack the teaching tables, which Spark wrote by real commits, into the sandbox, skipping those that are
    there."""
    from explorer.lab import scenarios

    done = scenarios.available_names()
    unknown = set(names) - {s.name for s in scenarios.SCENARIOS}
    if unknown:
        raise click.BadParameter(f"no such teaching table: {', '.join(sorted(unknown))} (see --list)")
    chosen = [s for s in scenarios.SCENARIOS if not names or s.name in names]
    rows = [
        {
            "table": f"{scenarios.NAMESPACE}.{s.name}",
            "from": s.source,
            "teaches": s.teaches,
            "built": s.name in done,
        }
        for s in chosen
    ]
    if listing:
        print_rows(explorer.Collection.of_rows(rows, "scenarios"), output)
        return
    _forget_other_places()
    todo = [s for s in chosen if rebuild or s.name not in done]
    if todo and rebuild:
        _rebuild(todo)
    elif todo:
        scenarios.unpack_all(todo)
    print_rows(explorer.Collection.of_rows([row | {"built": True} for row in rows], "scenarios"), output)
    if todo and output == "text":
        click.echo(f"They are in the sandbox: `{COMMAND} serve` shows them in a browser.", err=True)


def _forget_other_places() -> None:
    """Take out of the sandbox's catalog what a move or a copy left in it, and say so."""
    from explorer.storage.catalogs.sandbox_entries import forget_other_places
    from explorer.storage.data_dirs import sandbox_home

    if note := forget_other_places(sandbox_home()):
        say(note)


def _rebuild(todo: Sequence[Scenario]) -> None:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    from explorer.lab import scenarios
    from explorer.spark_engine.spark import SparkEngine

    columns = (TextColumn("{task.description:<34}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task("Spark", total=len(todo))
        engine = SparkEngine()
        engine.on_change(lambda state: bar.update(task, description=f"Spark: {state.phase}"))

        def show_progress(name: str, number: int, _: int) -> None:
            bar.update(task, completed=number, description=name or "done")
            if not bar.console.is_terminal:  # where a bar is drawn when all is over
                click.echo(f"{number} of {len(todo)} tables are built", err=True)

        scenarios.build_all(engine, todo, show_progress)


@main.command()
@click.argument("table", required=False)
def open(table: str | None) -> None:
    """Open the page in a browser, with TABLE or with the teaching tables; also without the word `open`."""
    from explorer.app.hosts.serve import serve as run
    from explorer.lab import scenarios

    if table is not None:
        explorer.open_table(table)  # one that is not there is told here, and no server starts
    elif missing := scenarios.missing():
        _forget_other_places()
        say("unpacking the teaching tables")
        scenarios.unpack_all(missing)
    run(table, PORT if is_free(PORT) else 0, LOOPBACK, True)


@main.command()
@click.argument("table", required=False)
@click.option("--port", type=click.IntRange(0, 65535), default=PORT, show_default=True, help="0 for any free one.")
@click.option(
    "--address",
    default=LOOPBACK,
    show_default=True,
    help="Others than loopback need a password in ICEDIVE_PASSWORD.",
)
@click.option("--allow-host", "hosts", multiple=True, metavar="NAME", help="Another name that browsers call it by.")
@click.option("--allow-sql", is_flag=True, help="Also on another address than loopback: SQL.")
@click.option("--allow-lab", is_flag=True, help="Also on another address than loopback: the lab, and all that writes.")
@click.option("--prefix", default="", metavar="PATH", help="The path, or URL, below which a reverse proxy serves it.")
@click.option(
    "--only-root",
    "roots",
    multiple=True,
    metavar="FOLDER",
    help="Open paths below this folder or URI only; may be given several times. On another address than loopback, and "
    "behind a proxy, no others are opened in any case.",
)
@click.option("--browser", "show", is_flag=True, help="Open a browser.")
def serve(
    table: str | None, port: int, address: str, hosts: tuple[str, ...], allow_sql: bool, allow_lab: bool, prefix: str,
    roots: tuple[str, ...], show: bool,
) -> None:  # fmt: skip
    """Serve the page on loopback, and print its URL with the token that opens it."""
    from explorer.app.hosts.serve import serve as run

    run(table, port, address, show, hosts, allow_sql, allow_lab, prefix, roots)
