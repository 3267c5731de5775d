"""What commands that list rows share: which rows and columns, in which form, printed as they are read."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import wraps
from typing import Any, TypeVar

import click

import explorer
from explorer.cli.base import as_table, emit_json, output_of, printable

F = TypeVar("F", bound=Callable[..., Any])
AT_A_TIME = 1_000
"""Rows that are made before they are printed."""


@dataclass(frozen=True)
class Asked:
    """Which rows are to be printed, and how: --where, --columns, --limit and --output."""

    output: str
    where: str = ""
    columns: tuple[str, ...] = ()
    limit: int | None = None

    @property
    def rows(self) -> bool:
        """Whether rows are asked for of a command that prints something else without these options."""
        return bool(self.output == "jsonl" or self.where or self.columns or self.limit is not None)

    def emit(
        self,
        rows: explorer.Collection,
        columns: list[str] | None = None,
        table: explorer.Table | None = None,
    ) -> None:
        """Print those of the rows; in text these columns, if no others are asked for, and partitions of `table` as
        paths."""
        chosen = rows.select(self.where, self.columns, self.limit) if rows.columns else rows
        emit_rows(chosen, self.output, list(self.columns) or columns, table, fitting=not self.columns)

    def emit_listed(self, rows: Iterable[Mapping[str, Any]], what: str) -> None:
        """The same for rows that are there."""
        self.emit(explorer.Collection.of_rows(list(rows), what))


def rows_options(*names: str) -> Callable[[F], F]:
    """--output with jsonl, and --where, --columns and --limit, or only those of them that are named. The command gets
    them as `asked`."""
    choices = {
        "limit": click.option("--limit", type=click.IntRange(min=0), help="At most so many rows."),
        "columns": click.option("--columns", "only", metavar="A,B", help="Only these columns."),
        "where": click.option(
            "--where", "condition", default="", help='Only rows that match, such as "status = 2".'
        ),
    }  # fmt: skip

    def decorated(command: F) -> F:
        @wraps(command)
        def asking(*args: Any, output: str, **options: Any) -> Any:
            mine = {name: options.pop(key, None) for name, key in KEYS.items() if not names or name in names}
            columns = tuple(name.strip() for name in (mine.get("columns") or "").split(",") if name.strip())
            asked = Asked(output, mine.get("where") or "", columns, mine.get("limit"))
            return command(*args, asked=asked, **options)

        made: Any = output_of("jsonl")(asking)
        for name, option in choices.items():
            if not names or name in names:
                made = option(made)
        return made  # type: ignore[no-any-return]

    return decorated


KEYS = {"where": "condition", "columns": "only", "limit": "limit"}


def emit_rows(
    rows: explorer.Collection,
    output: str,
    columns: list[str] | None = None,
    table: explorer.Table | None = None,
    fitting: bool = False,
) -> None:
    """Print a collection as it is read; in text, what `table` lists in words (partitions as paths), and where it must
    be `fitting` only as many columns as the terminal has room for."""
    from explorer.render.list_columns import first_columns, with_times
    from explorer.render.rows import json_rows
    from explorer.render.text import render_stream

    parts = map(as_table, rows.iter_batches(AT_A_TIME))
    if output != "text":
        emit_json((row for part in parts for row in json_rows(part)), output)
        return
    told = (
        row for part in parts for row in with_times(_in_words(part, table) if table else json_rows(part), rows.what)
    )
    width = shutil.get_terminal_size((160, 24)).columns if sys.stdout.isatty() else 220
    shown = [c for c in columns if c in rows.columns] if columns else first_columns(rows.what, rows.columns)
    for text in render_stream(told, width, shown, fitting):
        click.echo(printable(text.rstrip("\n")))


def _in_words(part: Any, table: explorer.Table) -> list[dict[str, Any]]:
    """Rows as JSON data, partitions as paths, and what is told by a number in the spec's words."""
    from explorer.model.manifest import FILE_CONTENT, STATUS
    from explorer.render.rows import json_rows
    from explorer.spec.values.values import column_values, named_partition_path

    rows = json_rows(part)
    if {"partition", "spec_id"} <= set(part.column_names):
        specs = {s.spec_id: s for s in table.metadata.partition_specs}
        for row, value in zip(rows, column_values(part["partition"]), strict=True):
            row["partition"] = named_partition_path(value, specs.get(row["spec_id"]), table.metadata)
    for name, words in (("content", FILE_CONTENT), ("status", STATUS)):
        for row in rows if name in part.column_names else ():
            row[name] = words.get(row[name], row[name])
    return rows
