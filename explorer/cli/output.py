"""Printing answers: as text, JSON, lines of JSON, CSV or Parquet; rows as they are read."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from explorer.cli.screen import chosen, printable, screen_options, show, text_settings, width
from explorer.errors import WrongUsage

if TYPE_CHECKING:
    from explorer.queries.collection import Collection
    from explorer.questions.answers import Answer
    from explorer.table import Table

AT_A_TIME = 1_000
"""Rows that are made before they are printed."""
FORMATS = ("text", "json")
ROW_FORMATS = (*FORMATS, "jsonl", "csv", "parquet")
NOT_ROWS = "this answer is not a list of rows: "


def output_option(*formats: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add --output with these formats, and options for how text looks."""
    choice = click.Choice(list(formats))
    option = click.option("--output", "-o", type=choice, default="text", show_default=True, help="How to print.")

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(command)
        def run(**given: Any) -> Any:
            if given["output"] != "text" and isinstance(sys.stdout, io.TextIOWrapper):
                sys.stdout.reconfigure(encoding="utf-8", newline="\n")  # data are not what a terminal can show
            with text_settings() if given["output"] == "text" else nullcontext():
                return command(**given)

        return option(screen_options()(run))

    return decorate


def print_object(data: Any, form: str, text: Callable[[], str]) -> None:
    """Print JSON data, or the text made of it."""
    from explorer.questions.answers import Answer

    Output(form).print(Answer(data, lambda: data, lambda: [text()]))


@dataclass(frozen=True)
class Output:
    """How an answer is printed, and which of its rows: --output, --filter, --columns and --limit."""

    form: str = "text"
    where: str = ""
    columns: tuple[str, ...] = ()
    limit: int | None = None
    in_pages: bool = True

    @property
    def chooses_rows(self) -> bool:
        """Whether some of the rows are asked for."""
        return bool(self.where or self.columns or self.limit is not None)

    def print(self, answer: Answer[Any] | Collection, shown: Sequence[str] = (), table: Table | None = None) -> None:
        """Print an answer; in text rows have the columns `shown`, and partitions of `table` as paths."""
        from explorer.queries.collection import Collection

        if isinstance(answer, Collection):
            self._print_rows(answer, shown, table)
        elif isinstance(answer.value, Collection):
            self._print_rows(answer.value, shown, table)
        elif (self.form not in FORMATS or self.chooses_rows) and answer.rows is not None:
            self._print_rows(answer.rows(), shown, None)
        elif self.chooses_rows:
            raise WrongUsage(f"{NOT_ROWS}leave out --filter, --columns and --limit")
        elif self.form == "text":
            show(answer.lines(), self.in_pages)
        else:
            self._print_data(answer.document())

    def _print_data(self, data: Any) -> None:
        from explorer.render.row_formats import json_array, json_pieces
        from explorer.render.text import json_text

        if isinstance(data, Mapping) and self.form == "json":
            _print_pieces(json_pieces(data))
            click.echo()
        elif isinstance(data, Iterator) and self.form in ("json", "jsonl"):
            lines = (f"{json_text(row, indent=None)}\n" for row in data)
            _print_pieces(json_array(data) if self.form == "json" else lines)
        elif self.form == "json":
            click.echo(json_text(data))
        else:
            raise WrongUsage(f"{NOT_ROWS}use --output json")

    def _print_rows(self, rows: Collection, shown: Sequence[str], table: Table | None) -> None:
        some = rows.select(self.where, self.columns, self.limit) if rows.columns else rows
        print_rows(some, self.form, self.columns or shown, table, fitting=not self.columns)


def print_rows(
    rows: Collection, form: str, columns: Sequence[str] = (), table: Table | None = None, fitting: bool = False
) -> None:
    """Print a list of rows as it is read; in text, what `table` lists in words (partitions as paths), and where it must
    be `fitting` only as many columns as the terminal has room for."""
    from explorer.render.list_columns import first_columns, in_words
    from explorer.render.row_formats import table_pieces
    from explorer.render.text import render_stream

    if form == "csv" and sys.stdout.isatty():
        written = io.BytesIO()
        rows.to_csv(written)
        show(map(printable, written.getvalue().decode(errors="replace").splitlines()))  # nothing commands the terminal
    elif form == "csv":
        rows.to_csv(sys.stdout.buffer)
    elif form == "parquet":
        if sys.stdout.isatty():
            raise WrongUsage("Parquet is not text for a terminal: write it to a file with >")
        rows.to_parquet(sys.stdout.buffer)
    elif form == "text":
        parts = rows.iter_tables(AT_A_TIME)
        cells = (row for part in parts for row in in_words(part, rows.what, table.metadata if table else None))
        listed = [c for c in columns if c in rows.columns and not chosen("wide")]
        pages = render_stream(cells, width(), listed or first_columns(rows.what, rows.columns), fitting)
        show(page.rstrip("\n") for page in pages)
    else:
        _print_pieces(table_pieces(rows.iter_tables(), is_array=form == "json"))


def _print_pieces(pieces: Iterable[str]) -> None:
    for piece in pieces:
        click.echo(piece, nl=False)
