"""Commands on what changed: snapshots, manifests, commits and metadata files."""

from __future__ import annotations

import signal
from itertools import chain
from typing import TYPE_CHECKING, Any

import click

import explorer
from explorer.cli.base import (
    emit,
    emit_json,
    emit_pieces,
    engine_option,
    finish,
    main,
    opened,
    output_of,
    printable,
    say,
    table_options,
    where_options,
)
from explorer.cli.listing import Asked, rows_options
from explorer.cli.patience import unlimited
from explorer.progress import listener

if TYPE_CHECKING:
    from explorer.spark_engine.engine_choice import Engine


@main.command()
@where_options
@rows_options()
@engine_option
@click.argument("before")
@click.argument("after")
def diff(before: str, after: str, engine: Engine, asked: Asked, **where: Any) -> None:
    """Show what differs between two snapshots: net files, and what became of the manifests; of a snapshot and its
    parent in a sentence, too. BEFORE may be `none`: the table before its first snapshot."""
    from explorer.render.changes import CHANGED_FILES, changed_files, diff_lines, diff_parts
    from explorer.render.text import clean

    table = opened(**where)
    from explorer.spec.snapshots.snapshot_names import side_named

    result = table.diff(side_named(before, table.metadata), after, engine)
    if asked.rows:
        from explorer.spec.entries.lazy_table import Batches

        asked.emit(explorer.Collection(Batches(CHANGED_FILES, lambda: changed_files(result)), "files"))
    else:
        snapshot = table.metadata.snapshot(result.after)
        told = table.step(result.after) if snapshot and snapshot.parent_snapshot_id == result.before else None
        said = {"step": told.words} if told else {}
        emit_pieces({**said, **diff_parts(result)}, asked.output, chain(map(clean, said.values()), diff_lines(result)))
    finish(table)


@main.command()
@where_options
@rows_options()
@engine_option
def lifecycle(engine: Engine, asked: Asked, **where: Any) -> None:
    """Show what became of every manifest: created, carried, rewritten, merged, dropped, and why."""
    from explorer.render.changes import lifecycle_rows, render_lifecycle

    table = opened(**where)
    cells = table.lifecycle(engine)
    if asked.rows:
        asked.emit_listed(lifecycle_rows(cells), "manifests")
    else:
        emit(lifecycle_rows(cells), asked.output, lambda: render_lifecycle(cells))
    finish(table)


@main.command()
@where_options
@rows_options()
def history(asked: Asked, **where: Any) -> None:
    """Show the lineage of snapshots beside the snapshot log, and explain where they part."""
    from explorer.render.changes import history_object, render_history

    table = opened(**where)
    lineage, log = table.history(), table.current_log()
    told = history_object(lineage, log)
    if asked.rows:
        asked.emit_listed(told["snapshots"], "snapshots")
    else:
        emit(told, asked.output, lambda: render_history(lineage, log))
    finish(table)


@main.command()
@where_options
@rows_options()
@engine_option
@click.option("--from", "first", help="The snapshot before the first commit; from the oldest one on if left out.")
@click.option("--to", "last", help="The snapshot of the last commit; the current one if left out.")
def commits(first: str | None, last: str | None, engine: Engine, asked: Asked, **where: Any) -> None:
    """Show what each commit of a run did and cost, and the run's write amplification."""
    from explorer.render.changes import commits_object, render_commits

    table = opened(**where)
    run = table.commits(first, last, engine)
    told = commits_object(run)
    if asked.rows:
        asked.emit_listed(told["commits"], "commits")
    else:
        emit(told, asked.output, lambda: render_commits(run, table.metadata))
    finish(table)


@main.command()
@table_options
@engine_option
@click.argument("path")
def file(path: str, engine: Engine, output: str, **where: Any) -> None:
    """Tell the life of one data or delete file, named by its path or the end of it."""
    from explorer.render.changes import biography_object, render_biography

    table = opened(**where)
    life = table.file(path, engine)
    emit(biography_object(life), output, lambda: render_biography(life))
    finish(table)


@main.command()
@where_options
@output_of("jsonl")
@click.option(
    "--interval", type=click.FloatRange(min=0.1), metavar="S",
    help="Look every S seconds: every second if left out, but never at a table in a remote store.",
)  # fmt: skip
def watch(interval: float | None, output: str, **where: Any) -> None:
    """Follow a table, and show what each commit changed as it lands, until Ctrl+C. Only the pointer is polled."""
    from explorer.render.changes import landed_object, render_landed

    table = opened(**where)
    from explorer.reports.watch import interval_of

    seconds = interval_of(table, interval)
    unlimited()
    say(f"{table.why}; looking every {seconds:g} s, Ctrl+C ends")
    heard = listener()
    assert heard is not None  # main listens
    before = signal.signal(signal.SIGINT, lambda *_: heard.cancel())  # wherever it comes, what is begun is printed
    try:
        landings = explorer.watch(table, seconds)
        if output != "text":
            emit_json(map(landed_object, landings), output)
            return
        for landed in landings:
            click.echo(printable(render_landed(landed)))
    finally:
        signal.signal(signal.SIGINT, before)


@main.command("metadata-diff")
@table_options
@click.argument("before")
@click.argument("after", required=False)
def metadata_diff(before: str, after: str | None, output: str, **where: Any) -> None:
    """Compare two metadata files by meaning; each is a version number or a path. Also `metadata diff`."""
    from explorer.render.changes import render_changes
    from explorer.render.rows import plain

    table = opened(**where)
    changes = table.metadata_diff(before, after)
    emit(plain(changes), output, lambda: render_changes(changes))
    finish(table)
