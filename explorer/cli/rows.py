"""Commands on rows and the deletes that hide them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from explorer.cli.base import (
    emit,
    emit_json,
    engine_option,
    finish,
    main,
    opened,
    output_of,
    say,
    snapshot_option,
    table_options,
    where_options,
)
from explorer.cli.listing import Asked, emit_rows, rows_options

if TYPE_CHECKING:
    from explorer.spark_engine.engine_choice import Engine

SHOWN = ("sequence_number", "kind", "partition", "files", "rows", "bytes", "applied", "path")
"""Of a layer, in text."""


class RowLimit(click.ParamType):
    """A number of rows, or `all`."""

    name = "N|all"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int | None:
        """None for all."""
        if value is None or str(value).lower() == "all":
            return None
        if not (text := str(value)).isdecimal():
            self.fail(f"{text!r} is neither a number of rows nor 'all'", param, ctx)
        return int(text)


limit_option = click.option(
    "--limit", type=RowLimit(), default=100, show_default=True, help="The first so many rows, or all."
)


@main.command()
@where_options
@output_of("jsonl")
@snapshot_option
@engine_option
@click.option("--limit", type=click.IntRange(min=0), help="At most so many pairs and dangling deletes.")
@click.option("--layers", is_flag=True, help="Data files and deletes by data sequence number instead, from below.")
def deletes(
    limit: int | None, layers: bool, snapshot: str | None, engine: Engine, output: str, **where: Any
) -> None:  # fmt: skip
    """Show which deletes apply to which data files, clause by clause, and which dangle."""
    from explorer.render.row_views import delete_lines, delete_rows, layer_rows
    from explorer.render.text import render_table
    from explorer.spec.text.names import base_name

    table = opened(**where)
    known = table.deletes(snapshot, engine)
    if layers:
        rows = layer_rows(table.delete_layers(known, engine)[:limit])
        if output == "jsonl":
            emit_json(rows, output)
        else:
            shown = [row | {"path": base_name(row["path"])} for row in rows]
            emit(rows, output, lambda: render_table(shown, 220, SHOWN))
        finish(table)
        return
    if output != "text":
        emit_json(delete_rows(known, limit), output)
    else:
        for line in delete_lines(known, limit):
            click.echo(line)
    if limit is not None and limit < max(len(known.verdicts), len(known.alone)):
        cut = f"at most {limit:,} are told of {len(known.verdicts):,} pairs and of {len(known.alone):,} without any"
        say(f"{cut}; {known.applying:,} pairs apply")
    finish(table)


@main.command("delete-contents")
@where_options
@rows_options()
@snapshot_option
@click.argument("path")
@click.option("--offset", type=int, help="Of a deletion vector, where several are in one Puffin file.")
def delete_contents(path: str, offset: int | None, snapshot: str | None, asked: Asked, **where: Any) -> None:
    """Print what a position or equality delete file or a deletion vector holds."""
    table = opened(**where)
    asked.emit(table.delete_contents(path, snapshot, offset))
    finish(table)


@main.command("file-rows")
@where_options
@rows_options()
@snapshot_option
@click.argument("path")
def file_rows(path: str, snapshot: str | None, asked: Asked, **where: Any) -> None:
    """Print the rows of one data file, and what deletes them. Needs no Spark."""
    table = opened(**where)
    asked.emit(table.file_rows(path, snapshot))
    finish(table)


@main.command()
@table_options
@snapshot_option
@click.argument("path")
def footer(path: str, snapshot: str | None, output: str, **where: Any) -> None:
    """Print the footer of a Parquet file (field ids, iceberg.schema, row groups, statistics) or a Puffin file."""
    from explorer.render.row_views import render_footer
    from explorer.render.rows import plain

    table = opened(**where)
    said = table.footer(path, snapshot)
    emit(plain(said), output, lambda: render_footer(said))
    finish(table)


@main.command()
@where_options
@output_of("jsonl")
@snapshot_option
@click.option("--column", "columns", multiple=True, help="Only these columns; may be given several times.")
@click.option("--where", "condition", default="", help="A filter in Spark SQL.")
@limit_option
@click.option("--provenance", is_flag=True, help="Also each row's file, position, partition and, in version 3, row id.")
def rows(
    columns: tuple[str, ...], condition: str, limit: int | None, provenance: bool, snapshot: str | None, output: str,
    **where: Any
) -> None:  # fmt: skip
    """Read rows of any version through Spark."""
    table = opened(**where)
    emit_read(table.rows(snapshot, columns, condition, limit, provenance), output)
    finish(table)


@main.command()
@where_options
@output_of("jsonl")
@click.argument("query")
@limit_option
def sql(query: str, limit: int | None, output: str, **where: Any) -> None:
    """Run a read-only query through Spark: `t` is TABLE, `t@snapshot-1` and `db.other@tag` are versions."""
    table = opened(**where)
    emit_read(table.sql(query, limit), output)
    finish(table)


def emit_read(read: Any, output: str) -> None:
    """Rows to stdout; which version they are, that there are more and what the scan took to stderr."""
    from explorer.spec.text.names import base_name

    emit_rows(read, output)
    if read.cut:
        say(read.cut.replace("limit=None", "--limit all"))
    if read.words:
        say(read.words)
    for report in read.reports:
        parts = [
            f"{what}: {kept} scanned, {skipped} skipped" for what in SCANNED for kept, skipped in [report.pair(what)]
        ]
        say(f"scan of {base_name(report.table)}: {'; '.join(parts)}")


SCANNED = ("DataManifests", "DeleteManifests", "DataFiles", "DeleteFiles")


@main.command("row-diff")
@table_options
@click.argument("before")
@click.argument("after")
@click.option("--key", "keys", multiple=True, help="A column that tells updates; may be given several times.")
@engine_option
def row_diff(before: str, after: str, keys: tuple[str, ...], engine: Any, output: str, **where: Any) -> None:
    """Show the rows that differ between two snapshots; reads only files that differ. BEFORE may be `none`. Needs no
    Spark while they fit in memory."""
    from explorer.render.row_views import render_row_diff, row_diff_object
    from explorer.spec.snapshots.snapshot_names import side_named

    table = opened(**where)
    result = table.row_diff(side_named(before, table.metadata), after, keys, engine)
    emit(row_diff_object(result), output, lambda: render_row_diff(result))
    finish(table)


@main.command()
@table_options
@snapshot_option
@click.argument("condition")
@click.option("--key", "keys", multiple=True, help="A column that tells a changed row; may be given several times.")
@engine_option
@click.option(
    "--every-file",
    is_flag=True,
    help="Also read the data files that the filter excludes by partition values, counts or bounds, which may be wrong, "
    "however many they are.",
)
@click.option(
    "--limit", type=click.IntRange(min=0), default=100, show_default=True, help="Rows that are explained one by one."
)
def fate(
    condition: str, keys: tuple[str, ...], engine: Any, every_file: bool, limit: int, snapshot: str | None,
    output: str, **where: Any
) -> None:  # fmt: skip
    """Show what became of the rows that match CONDITION, and why they are there or not as of a snapshot. Needs no
    Spark while the entries fit in memory."""
    from explorer.render.row_views import fate_object, render_fate, version_rows
    from explorer.spec.text.names import snapshot_ordinals

    table = opened(**where)
    told = table.fate(condition, keys, engine, every_file, snapshot)
    at = table.resolve(snapshot).snapshot
    sentences = told.explain(at, limit)
    columns = [f.name for f in told.schema.fields]
    ordinals = snapshot_ordinals(table.metadata)
    names = [f"snapshot-{n}" for n in sorted(ordinals[s.snapshot_id] for s in table.metadata.snapshots)]
    emit(
        fate_object(told.events, {str(at.snapshot_id): sentences}, version_rows(told.versions, names)),
        output,
        lambda: render_fate(told.events, columns, sentences),
    )
    finish(table)
