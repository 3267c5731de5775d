"""Printing answers: as text, JSON, lines of JSON, CSV or Parquet; rows as they are read."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from explorer.cli.base import printable
from explorer.errors import WrongUsage

if TYPE_CHECKING:
    from explorer.queries.collection import Collection
    from explorer.questions.answers import Answer
    from explorer.table import Table

AT_A_TIME = 1_000
"""Rows that are made before they are printed."""
FORMATS = ("text", "json")
ROW_FORMATS = (*FORMATS, "jsonl", "csv", "parquet")


def output_option(*formats: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add --output with these formats."""
    choice = click.Choice(list(formats))
    return click.option("--output", "-o", type=choice, default="text", show_default=True, help="How to print.")


def print_data(data: Any, form: str, text: Callable[[], str]) -> None:
    """Print JSON data, or the text made of it."""
    from explorer.render.text import json_text

    click.echo(json_text(data) if form == "json" else printable(text().rstrip("\n")))


@dataclass(frozen=True)
class Output:
    """How an answer is printed, and which of its rows: --output, --filter, --columns and --limit."""

    form: str = "text"
    where: str = ""
    columns: tuple[str, ...] = ()
    limit: int | None = None

    @property
    def is_of_rows(self) -> bool:
        """Whether rows are asked for of an answer that has more than rows."""
        return self.form not in FORMATS or bool(self.where or self.columns or self.limit is not None)

    def print(self, answer: Answer[Any] | Collection, shown: Sequence[str] = (), table: Table | None = None) -> None:
        """Print an answer; in text rows have the columns `shown`, and partitions of `table` as paths."""
        from explorer.queries.collection import Collection

        if isinstance(answer, Collection):
            self._print_rows(answer, shown, table)
        elif isinstance(answer.value, Collection):
            self._print_rows(answer.value, shown, table)
        elif self.is_of_rows and answer.rows is not None:
            self._print_rows(answer.rows(), shown, None)
        elif self.where or self.columns or self.limit is not None:
            raise WrongUsage("this answer is not a list of rows: leave out --filter, --columns and --limit")
        elif self.form == "text":
            for line in answer.lines():
                click.echo(printable(line))
        else:
            self._print_data(answer.json())

    def _print_data(self, data: Any) -> None:
        from explorer.render.text import json_pieces, json_text

        if self.form == "jsonl" or isinstance(data, Iterator):
            if isinstance(data, Mapping) or self.form not in ("json", "jsonl"):
                raise WrongUsage("this answer is not a list of rows: use --output json")
            print_json_rows(data, self.form)
        elif self.form != "json":
            raise WrongUsage("this answer is not a list of rows: use --output json")
        elif isinstance(data, Mapping):
            for piece in json_pieces(data):
                click.echo(piece, nl=False)
            click.echo()
        else:
            click.echo(json_text(data))

    def _print_rows(self, rows: Collection, shown: Sequence[str], table: Table | None) -> None:
        chosen = rows.select(self.where, self.columns, self.limit) if rows.columns else rows
        print_rows(chosen, self.form, self.columns or shown, table, fitting=not self.columns)


def print_rows(
    rows: Collection, form: str, columns: Sequence[str] = (), table: Table | None = None, fitting: bool = False
) -> None:
    """Print a list of rows as it is read; in text, what `table` lists in words (partitions as paths), and where it must
    be `fitting` only as many columns as the terminal has room for."""
    from explorer.render.list_columns import first_columns, with_times
    from explorer.render.rows import json_rows
    from explorer.render.text import render_stream

    if form in ("csv", "parquet"):
        write_table(rows, form)
        return
    parts = map(_as_table, rows.iter_batches(AT_A_TIME))
    if form != "text":
        print_json_rows((row for part in parts for row in json_rows(part)), form)
        return
    cells = (
        row for part in parts for row in with_times(_in_words(part, table) if table else json_rows(part), rows.what)
    )
    width = shutil.get_terminal_size((160, 24)).columns if sys.stdout.isatty() else 220
    named = [c for c in columns if c in rows.columns] or first_columns(rows.what, rows.columns)
    for text in render_stream(cells, width, named, fitting):
        click.echo(printable(text.rstrip("\n")))


def _as_table(batch: Any) -> Any:
    import pyarrow as pa

    return pa.Table.from_batches([batch])


def print_json_rows(rows: Iterable[Any], form: str) -> None:
    """Print an array with a row on each line, or (jsonl) these lines alone."""
    from explorer.render.text import json_text

    lines = (json_text(row, indent=None) for row in rows)
    if form == "jsonl":
        for line in lines:
            click.echo(line)
        return
    first = next(lines, None)
    click.echo("[]" if first is None else f"[\n{first}", nl=False)
    for line in lines:
        click.echo(f",\n{line}", nl=False)
    click.echo("" if first is None else "\n]")


def write_table(rows: Collection, form: str) -> None:
    """Write rows to stdout as CSV, in which nested values are JSON, or as Parquet. Raises WrongUsage on a terminal."""
    import pyarrow as pa
    import pyarrow.csv as pa_csv
    import pyarrow.parquet as pq

    out = sys.stdout.buffer
    if form == "parquet":
        if sys.stdout.isatty():
            raise WrongUsage("Parquet is not text for a terminal: write it to a file with >")
        schema = pa.schema([pa.field(f.name, _in_parquet(f.type)) for f in rows.schema])
        with pq.ParquetWriter(out, schema) as parquet:
            for batch in rows.iter_batches():
                arrays = [_without_empty(column, f.type) for column, f in zip(batch.columns, rows.schema, strict=True)]
                parquet.write_table(pa.table(arrays, schema=schema))
        return
    schema = pa.schema([pa.field(f.name, f.type if _is_simple(f.type) else pa.string()) for f in rows.schema])
    with pa_csv.CSVWriter(out, schema) as writer:
        for batch in rows.iter_batches():
            writer.write_table(_flat(_as_table(batch), schema))


def _in_parquet(kind: Any) -> Any:
    """A type as Parquet has it: a struct without fields, such as an unpartitioned table's partition, is null."""
    import pyarrow as pa

    if not pa.types.is_struct(kind):
        return kind
    fields = [pa.field(field.name, _in_parquet(field.type)) for field in kind]
    return pa.struct(fields) if fields else pa.null()


def _without_empty(column: Any, kind: Any) -> Any:
    """The column with such nulls."""
    import pyarrow as pa

    if _in_parquet(kind) == kind:
        return column
    if kind.num_fields == 0:
        return pa.nulls(len(column))
    parts = [_without_empty(column.field(at), field.type) for at, field in enumerate(kind)]
    return pa.StructArray.from_arrays(parts, fields=list(_in_parquet(kind)), mask=column.is_null())


def _is_simple(kind: Any) -> bool:
    import pyarrow as pa

    tests = (pa.types.is_integer, pa.types.is_floating, pa.types.is_string, pa.types.is_boolean, pa.types.is_null)
    return any(test(kind) for test in tests)


def _flat(table: Any, schema: Any) -> Any:
    """A table whose nested and other values are text: JSON, where they are nested."""
    import pyarrow as pa

    from explorer.render.rows import json_rows
    from explorer.render.text import json_text

    arrays = []
    for field in schema:
        column = table[field.name]
        if not _is_simple(table.schema.field(field.name).type):
            values = [row[field.name] for row in json_rows(table.select([field.name]))]
            texts = [v if v is None or isinstance(v, str) else json_text(v, indent=None) for v in values]
            column = pa.chunked_array([pa.array(texts, pa.string())])
        arrays.append(column)
    return pa.table(arrays, schema=schema)


def _in_words(part: Any, table: Table) -> list[dict[str, Any]]:
    """Rows as JSON data, partitions as paths, and what is told by a number in the spec's words."""
    import pyarrow as pa

    from explorer.model.manifest import FILE_CONTENT, STATUS
    from explorer.render.rows import json_rows
    from explorer.spec.values.values import column_values, partition_path_by_name

    rows = json_rows(part)
    if {"partition", "spec_id"} <= set(part.column_names) and pa.types.is_struct(part["partition"].type):
        specs = {s.spec_id: s for s in table.metadata.partition_specs}
        for row, value in zip(rows, column_values(part["partition"]), strict=True):
            row["partition"] = partition_path_by_name(value, specs.get(row["spec_id"]), table.metadata)
    for name, words in (("content", FILE_CONTENT), ("status", STATUS)):
        for row in rows if name in part.column_names else ():
            row[name] = words.get(row[name], row[name])
    return rows
