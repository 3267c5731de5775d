"""A table at a glance, and what words mean, on the command line."""

from __future__ import annotations

from typing import Any

import click

import explorer
from explorer.cli.base import emit, finish, main, opened, output_option, snapshot_option, table_options


@main.command()
@table_options
@snapshot_option
def overview(snapshot: str | None, output: str, **where: Any) -> None:
    """Show a table at a glance: what it is and holds, and what each snapshot added and removed. In tables whose
    manifests are small also deletes by kind, rows as readers see them, health, doctor, file sizes and partitions."""
    from explorer.render.overview import overview_object, render_overview

    table = opened(**where)
    told = explorer.overview(table, snapshot)
    emit(overview_object(told), output, lambda: render_overview(told))
    finish(table)


@main.command()
@click.argument("words", nargs=-1)
@output_option
def glossary(words: tuple[str, ...], output: str) -> None:
    """Say what the words of Iceberg mean: those with WORDS in their name or meaning, or all."""
    from explorer.spec.text.glossary import TERMS, looked_up

    terms = looked_up(" ".join(words)) if words else TERMS
    rows = {name: {"meaning": term.meaning, "section": term.section} for name, term in terms.items()}
    emit(rows, output, lambda: "\n".join(f"{name}: {term}" for name, term in terms.items()))
