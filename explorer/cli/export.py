"""Pages and pictures of tables, which open without this program, and bundles of metadata without secrets."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import explorer
from explorer.cli.base import COMMAND, FAILED, INCOMPLETE, finish, group, pairs, place_options, places
from explorer.cli.output import FORMATS, ROW_FORMATS, output_option, print_object, print_rows
from explorer.cli.screen import say
from explorer.questions.parameters import TableAt
from explorer.storage.processor_time import begin
from explorer.storage.whole_files import write_whole

if TYPE_CHECKING:
    from explorer.reports.bundle import TableBundle

export = group("export")


@export.command()
@click.argument("table")
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--catalog", help="The catalog that TABLE is in.")
@place_options
@output_option(*FORMATS)
def page(table: str, file: Path, catalog: str | None, output: str, **where: Any) -> None:
    """Write a table as one HTML file that needs no kernel, server or network."""
    from explorer.render.text import render_fields

    if not file.parent.is_dir():
        raise click.BadParameter(f"there is no folder {file.parent}", param_hint="FILE")
    begin(table)
    opened = TableAt(table, catalog, **places(**where)).open()
    written = explorer.export_html(opened, file)
    print_object(written, output, lambda: render_fields(written))
    finish(opened, output)


@export.command()
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@click.option("--catalog", default="", help="All tables of this catalog instead of the teaching tables.")
@click.option(
    "--property", "-p", "properties", multiple=True, metavar="KEY=VALUE", help="A catalog or storage property."
)
@output_option(*ROW_FORMATS)
def gallery(folder: Path, catalog: str, properties: tuple[str, ...], output: str) -> None:
    """Write the teaching tables as a folder of such files, with an index.html."""
    rows = explorer.gallery(folder, catalog, pairs(properties, "--property", "KEY=VALUE") or None)
    print_rows(rows, output, ["table", "snapshots", "nodes", "bytes", "file", "error"])
    if not len(rows):
        say(f"no tables: {COMMAND} demo unpacks the teaching tables")
        sys.exit(FAILED)
    if any(row.get("error") for row in rows):
        sys.exit(INCOMPLETE)


@export.command()
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@output_option(*FORMATS)
def slides(file: Path, output: str) -> None:
    """Write the lesson of `icedive docs lesson` as a page of slides: each question, then its answer."""
    from explorer.render.text import render_fields

    if not file.parent.is_dir():
        raise click.BadParameter(f"there is no folder {file.parent}", param_hint="FILE")
    written = explorer.export_slides(file)
    print_object(written, output, lambda: render_fields(written))


@export.command()
@click.argument("table")
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--catalog", help="The catalog that TABLE is in.")
@click.option(
    "--ask", "filters", multiple=True, metavar="FILTER",
    help="A filter to be asked of the bundle: its values are replaced, too. May be given several times.",
)  # fmt: skip
@place_options
@output_option(*FORMATS)
def bundle(table: str, file: Path, catalog: str | None, filters: tuple[str, ...], output: str, **where: Any) -> None:
    """Write a table's metadata as a zip without its secrets, for a report of a bug.

    Names, paths, partition values and bounds are replaced, each time by the same and in the same order, so plans
    stay the same. FILE is a new .zip; data files are not in it."""
    from explorer.render.text import render_fields

    if not file.parent.is_dir():
        raise click.BadParameter(f"there is no folder {file.parent}", param_hint="FILE")
    begin(table)
    opened = TableAt(table, catalog, **places(**where)).open()
    written = explorer.export_bundle(opened, file, filters)
    print_object(asdict(written), output, lambda: render_fields(_bundle_fields(written)))
    finish(opened, output)


def _bundle_fields(written: TableBundle) -> dict[str, str]:
    """What was written, for people."""
    fields = {
        "file": written.file,
        "bytes": f"{written.bytes:,}",
        "files in it": f"{written.metadata_files:,} metadata files, {written.manifest_lists:,} manifest lists, "
        f"{written.manifests:,} manifests",
        "replaced": "; ".join(f"{number:,} {what}" for what, number in written.replaced.items() if number),
        "columns": "; ".join(f"{old} is {new}" for old, new in written.columns.items()),
        "filters": "; ".join(f"{old} is {new}" for old, new in written.filters.items()),
        "not in it": "; ".join(f"{one['file']}: {one['why']}" for one in written.left_out),
        "note": "; ".join(written.notes),
    }
    return {name: text for name, text in fields.items() if text}


@export.command()
@click.argument("table")
@click.option("--catalog", help="The catalog that TABLE is in.")
@place_options
@click.option(
    "--snapshot",
    "-s",
    metavar="SNAPSHOT",
    help="The snapshot: an id, branch, tag, snapshot-N or time. The current one if left out.",
)
@click.option(
    "--format", "picture", type=click.Choice(["dot", "svg", "png", "html", "json"]), default="svg", show_default=True,
    help="What to draw: DOT, SVG, PNG, a page with pan and zoom, or the graph as JSON.",
)  # fmt: skip
@click.option(
    "--file", "-f", "target", type=click.Path(dir_okay=False, path_type=Path), help="Write here instead of to stdout."
)
@click.option("--search", default="", help="Only files, manifests and snapshots that contain this text.")
@click.option("--diff", "sides", nargs=2, metavar="A B", help="Draw the difference of two snapshots instead.")
def graph(
    table: str, catalog: str | None, snapshot: str | None, picture: str, target: Path | None, search: str,
    sides: tuple[str, str] | None, **where: Any,
) -> None:  # fmt: skip
    """Draw the metadata tree."""
    from dataclasses import replace

    from explorer.app.hosts.file import export as drawing

    if sides and (snapshot or search):
        raise click.UsageError("--diff takes no --snapshot or --search")
    begin(table)
    opened = TableAt(table, catalog, **places(**where)).open()
    view = None if sides else replace(opened.default_view(snapshot), search=search)
    data = drawing(opened.diff_graph(*sides) if sides else opened.graph(view=view), picture)
    if target:
        write_whole(target, data)
        say(f"wrote {target} ({len(data):,} bytes)")
    elif picture == "png" and sys.stdout.isatty():
        raise click.UsageError("a PNG is no text for a terminal: use --file")
    else:
        sys.stdout.buffer.write(data)
    finish(opened, "json")
