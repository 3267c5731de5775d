"""Commands on the sandbox, a catalog, and one table as it is."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import explorer
from explorer.cli.base import (
    INCOMPLETE,
    catalog_of,
    emit,
    engine_option,
    finish,
    located,
    main,
    opened,
    output_option,
    reading_options,
    say,
    snapshot_option,
    table_options,
    where_options,
)
from explorer.cli.listing import Asked, emit_rows, rows_options
from explorer.errors import UnreadableFile

if TYPE_CHECKING:
    from explorer.lab.scenarios import Scenario


@main.command()
@click.argument("names", nargs=-1)
@click.option(
    "--list", "listing", is_flag=True, help="List the teaching tables and what each shows, and build nothing."
)
@click.option("--rebuild", is_flag=True, help="Have Spark make the commits again here, in minutes; needs Java.")
@output_option
def demo(names: tuple[str, ...], listing: bool, rebuild: bool, output: str) -> None:
    """Unpack the teaching tables, which Spark wrote by real commits, into the sandbox, skipping those that are
    there."""
    from explorer.lab import scenarios

    done = scenarios.built()
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
        emit_rows(explorer.Collection.of_rows(rows, "scenarios"), output)
        return
    _forget_another_sandbox()
    todo = [s for s in chosen if rebuild or s.name not in done]
    if todo and rebuild:
        _rebuild(todo)
    elif todo:
        scenarios.unpack_all(todo)
    emit_rows(explorer.Collection.of_rows([row | {"built": True} for row in rows], "scenarios"), output)
    if todo and output == "text":
        click.echo("They are in the sandbox: `iceberg-explorer serve` shows them in a browser.", err=True)


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

        def built(name: str, number: int, _: int) -> None:
            bar.update(task, completed=number, description=name or "done")
            if not bar.console.is_terminal:  # where a bar is drawn when all is over
                click.echo(f"{number} of {len(todo)} tables are built", err=True)

        scenarios.build_all(engine, todo, built)


def _forget_another_sandbox() -> None:
    """Of a sandbox that was moved or copied: remove what its catalog has of the place it came from, and say so."""
    from explorer.storage.catalogs.sandbox_entries import forget_entries, stray_entries
    from explorer.storage.data_dirs import sandbox_home

    strays = stray_entries(sandbox_home())
    if strays:
        forget_entries(sandbox_home(), strays)
        others = ", ".join(sorted(set(strays.values())))
        say(f"the sandbox was moved or copied from {others}: entries removed of {', '.join(sorted(strays))}")


@main.command()
@click.argument("table", required=False)
@click.option("--port", type=click.IntRange(0, 65535), default=5006, show_default=True, help="0 for any free one.")
@click.option(
    "--address",
    default="127.0.0.1",
    show_default=True,
    help="Others than loopback need a password in ICEBERG_EXPLORER_PASSWORD.",
)
@click.option("--allow-host", "hosts", multiple=True, metavar="NAME", help="Another name that browsers call it by.")
@click.option("--allow-sql", is_flag=True, help="Also on another address than loopback: SQL.")
@click.option("--allow-lab", is_flag=True, help="Also on another address than loopback: the lab, and all that writes.")
@click.option("--prefix", default="", metavar="PATH", help="The path, or URL, below which a reverse proxy serves it.")
@click.option(
    "--root",
    "roots",
    multiple=True,
    metavar="FOLDER",
    help="Open paths below this folder or URI only; may be given several times. On another address than loopback, and "
    "behind a proxy, no others are opened in any case.",
)
@click.option("--show", is_flag=True, help="Open a browser.")
def serve(
    table: str | None, port: int, address: str, hosts: tuple[str, ...], allow_sql: bool, allow_lab: bool, prefix: str,
    roots: tuple[str, ...], show: bool,
) -> None:  # fmt: skip
    """Serve the dashboard on loopback, and print its URL with the token that opens it."""
    from explorer.ui.serve import serve as run

    run(table, port, address, show, hosts, allow_sql, allow_lab, prefix, roots)


@main.command()
@click.option("--catalog", default="sandbox", show_default=True)
@rows_options()
def tables(catalog: str, asked: Asked) -> None:
    """List the tables of a catalog."""
    asked.emit(explorer.catalog(catalog))


SWEPT_COLUMNS = ["table", "format_version", "snapshots", "refs", "manifests", "data_files", "delete_files", "records"]
SWEPT_COLUMNS += ["file_bytes", "problems", "error"]


@main.command()
@click.argument("catalog", required=False)
@reading_options
@click.option("--namespace", default="", help="Only tables of this namespace.")
@rows_options()
def sweep(namespace: str, asked: Asked, **where: Any) -> None:
    """Count files, rows, sizes, snapshots and problems of all tables of a catalog."""
    from explorer.reports.catalog_sweep import summaries

    failed = 0

    def counted(rows: Any) -> Any:
        nonlocal failed
        failed += len(rows) - rows["error"].null_count
        return rows

    rows = summaries(namespace=namespace, **catalog_of(**where)).map(counted)
    asked.emit(explorer.Collection(rows, "tables"), SWEPT_COLUMNS)
    if failed:
        say(f"{failed} of the tables could not be read")
        sys.exit(INCOMPLETE)


@main.command()
@table_options
@snapshot_option
def show(snapshot: str | None, output: str, **where: Any) -> None:
    """Show the metadata tree of a table as text."""
    from explorer.render.rows import graph_object
    from explorer.render.text import render_tree

    table = opened(**where)
    graph = table.graph(snapshot)
    emit(graph_object(graph), output, lambda: f"{table.why}\n{render_tree(graph)}")
    finish(table)


@main.command()
@table_options
def metadata(output: str, **where: Any) -> None:
    """Show the metadata file: every field, unknown ones too."""
    from explorer.render.rows import metadata_object
    from explorer.render.text import render_fields

    table = opened(**where)
    data = metadata_object(table.metadata)
    emit(data, output, lambda: render_fields(data))
    finish(table)


@main.command()
@table_options
def pointer(output: str, **where: Any) -> None:
    """Show what the table's catalog stores of it (the row of an SQL catalog, the answer of a REST server), and the
    metadata file that it was opened at."""
    from explorer.render.text import render_fields
    from explorer.reports.catalog_entry import pointer as pointed
    from explorer.reports.catalog_entry import pointer_alone

    table: explorer.Table | None = None
    try:
        table = opened(**where)
        pointing = pointed(table)
    except UnreadableFile as error:
        if table is not None:
            raise
        pointing = pointer_alone(located(**where), error)
    opened_at = {
        "metadata_location": pointing.metadata_location,
        "previous": pointing.previous,
        "newer": pointing.newer,
        "beside": pointing.beside,
    } | ({"unreadable": pointing.unreadable} if pointing.unreadable else {})
    row = dict(pointing.stored.row)
    data = {"where": pointing.stored.where, "stored": row, "opened": opened_at}
    emit(
        data,
        output,
        lambda: "\n".join((f"{pointing.stored.where}:", render_fields(row), "opened:", render_fields(opened_at))),
    )
    if table is not None:
        finish(table)
    elif pointing.unreadable:
        sys.exit(INCOMPLETE)


def _collection_command(
    name: str,
    about: str,
    rows: Callable[..., explorer.Collection],
    columns: list[str] | None = None,
    snapshot: bool = True,
) -> None:
    def command(
        table: str,
        catalog: str | None,
        properties: tuple[str, ...],
        roots: tuple[str, ...],
        relocate: tuple[str, ...],
        asked: Asked,
        **options: Any,
    ) -> None:
        opened_table = opened(table, catalog, properties, roots, relocate)
        asked.emit(rows(opened_table, **options), columns, opened_table)
        finish(opened_table)

    decorated: Any = where_options(rows_options()(snapshot_option(command) if snapshot else command))
    if name in ("entries", "files", "partitions"):
        decorated = engine_option(decorated)
    if name in ("entries", "files"):
        decorated = click.option("--metrics", is_flag=True, help="Also column sizes, counts and bounds.")(decorated)
    if name == "entries":
        decorated = click.option(
            "--view", type=click.Choice(["stored", "inherited", "logical", "all"]), default="logical", show_default=True
        )(decorated)
    main.command(name, help=about)(decorated)


_collection_command("snapshots", "List all snapshots.", lambda t: t.snapshots, snapshot=False)
_collection_command("refs", "List branches and tags.", lambda t: t.refs, snapshot=False)
_collection_command("manifests", "List the manifests of a snapshot.", lambda t, snapshot: t.manifests(snapshot))
_collection_command(
    "entries",
    "List manifest entries: as stored, inherited, or with their logical status.",
    lambda t, snapshot, view, metrics, engine: t.entries(snapshot, view, metrics, engine),
)
_collection_command(
    "files",
    "List the files a reader of a snapshot sees.",
    lambda t, snapshot, metrics, engine: t.files(snapshot, metrics, engine),
)
PARTITION_COLUMNS = ["partition", "spec_id", "record_count", "file_count", "total_data_file_size_in_bytes"]
PARTITION_COLUMNS += ["position_delete_file_count", "equality_delete_file_count"]
_collection_command(
    "partitions",
    "Add up the live files by partition.",
    lambda t, snapshot, engine: t.partitions(snapshot, engine),
    columns=PARTITION_COLUMNS,
)


@main.command()
@table_options
@snapshot_option
@click.option(
    "--format", "picture", type=click.Choice(["dot", "svg", "png", "html", "json"]), default="svg", show_default=True
)
@click.option(
    "--file", "-f", "target", type=click.Path(dir_okay=False, path_type=Path), help="Write here instead of to stdout."
)
@click.option("--search", default="", help="Only files, manifests and snapshots that contain this text.")
@click.option("--diff", "sides", nargs=2, metavar="A B", help="Draw the difference of two snapshots instead.")
def graph(
    snapshot: str | None, picture: str, target: Path | None, search: str, sides: tuple[str, str] | None, output: str,
    **where: Any,
) -> None:  # fmt: skip
    """Draw the metadata tree as DOT, SVG, PNG, HTML (opens from disk, with pan and zoom) or JSON."""
    from dataclasses import replace

    from explorer.ui.export import export

    table = opened(**where)
    if sides and (snapshot or search):
        raise click.UsageError("--diff takes no --snapshot or --search")
    drawn = (
        table.diff_graph(*sides) if sides else table.graph(view=replace(table.default_view(snapshot), search=search))
    )
    data = export(drawn, "json" if output == "json" else picture)
    if target:
        target.write_bytes(data)
        say(f"wrote {target} ({len(data):,} bytes)")
    elif picture == "png" and output != "json" and sys.stdout.isatty():
        raise click.UsageError("a PNG is no text for a terminal: use --file")
    else:
        sys.stdout.buffer.write(data)
    finish(table)
