"""Commands on what changed: snapshots, manifests, commits and metadata files."""

from __future__ import annotations

from typing import Any

import click

from explorer.cli.base import (
    emit,
    finish,
    main,
    opened,
    table_options,
)


@main.command()
@table_options
@click.argument("before")
@click.argument("after")
def diff(before: str, after: str, output: str, **where: Any) -> None:
    """Show what differs between two snapshots: net files, and what became of the manifests."""
    from explorer.views.changes import diff_object, render_diff

    table = opened(**where)
    result = table.diff(before, after)
    emit(diff_object(result), output, lambda: render_diff(result))
    finish(table)


@main.command()
@table_options
def lifecycle(output: str, **where: Any) -> None:
    """Show what became of every manifest: created, carried, rewritten, merged, dropped, and why."""
    from explorer.views.changes import lifecycle_rows, render_lifecycle

    table = opened(**where)
    cells = table.lifecycle()
    emit(lifecycle_rows(cells), output, lambda: render_lifecycle(cells))
    finish(table)


@main.command()
@table_options
def history(output: str, **where: Any) -> None:
    """Show the lineage of snapshots beside the snapshot log, and explain where they part."""
    from explorer.views.changes import history_object, render_history

    table = opened(**where)
    lineage, log = table.history(), table.current_log()
    emit(history_object(lineage, log), output, lambda: render_history(lineage, log))
    finish(table)


@main.command()
@table_options
@click.option("--from", "first", help="The snapshot before the first commit; from the oldest one on if left out.")
@click.option("--to", "last", help="The snapshot of the last commit; the current one if left out.")
def commits(first: str | None, last: str | None, output: str, **where: Any) -> None:
    """Show what each commit of a run did and cost, and the run's write amplification."""
    from explorer.views.changes import commits_object, render_commits

    table = opened(**where)
    run = table.commits(first, last)
    emit(commits_object(run), output, lambda: render_commits(run))
    finish(table)


@main.command()
@table_options
@click.argument("path")
def file(path: str, output: str, **where: Any) -> None:
    """Tell the life of one data or delete file, named by its path or the end of it."""
    from explorer.views.changes import biography_object, render_biography

    table = opened(**where)
    life = table.file(path)
    emit(biography_object(life), output, lambda: render_biography(life))
    finish(table)


@main.command("metadata-diff")
@table_options
@click.argument("before")
@click.argument("after", required=False)
def metadata_diff(before: str, after: str | None, output: str, **where: Any) -> None:
    """Compare two metadata files by meaning; each is a version number or a path. Also `metadata diff`."""
    from explorer.views.changes import render_changes
    from explorer.views.rows import plain

    table = opened(**where)
    changes = table.metadata_diff(before, after)
    emit(plain(changes), output, lambda: render_changes(changes))
    finish(table)
