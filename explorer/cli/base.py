"""What all commands share: the group, opening a table, printing, problems and exit codes.

Exit codes: 0 all is well; 1 what was asked for cannot be had (the message names the file and the cause); 2 wrong usage;
3 the output is incomplete, since some of the table's files cannot be read (each is named on stderr); 4 Spark or Java is
not to be had."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import click

import explorer
from explorer.cli.patience import begin, patience
from explorer.errors import EngineError, ExplorerError, TableNotFound
from explorer.progress import Watch

if TYPE_CHECKING:
    from explorer.storage.locate import Location

F = TypeVar("F", bound=Callable[..., Any])
Where = tuple["str | None", tuple[str, ...], tuple[str, ...], tuple[str, ...]]
"""--catalog, --property, --root and --relocate."""
INCOMPLETE, FAILED, NO_ENGINE = 3, 1, 4


class Group(click.Group):
    """Commands in the order they are written; our errors as messages, not tracebacks."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        if args[:2] == ["metadata", "diff"]:
            args = ["metadata-diff", *args[2:]]
        return super().resolve_command(ctx, args)

    def make_context(self, *args: Any, **options: Any) -> click.Context:
        with _safe_errors():
            return super().make_context(*args, **options)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            with _Told().listening(), patience(), _safe_errors():
                return super().invoke(ctx)
        except EngineError as error:
            fail(error, NO_ENGINE)
        except ExplorerError as error:
            fail(error, FAILED)
        except BrokenPipeError:  # `| head` closed the pipe: nothing more to say
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            sys.exit(0)


@contextmanager
def _safe_errors() -> Iterator[None]:
    """Click's errors quote what was typed, which may be another's file name: it commands no terminal."""
    try:
        yield
    except click.exceptions.NoArgsIsHelpError:  # quotes nothing
        raise
    except click.UsageError as error:
        raise click.UsageError(safe(error.format_message()), error.ctx) from error


class _Told(Watch):
    """Says on stderr what is to be known of an answer, once."""

    def say(self, text: str) -> None:
        if text != self.said:
            say(text)
        super().say(text)


def fail(error: Exception, code: int) -> None:
    """Say what is wrong on stderr and leave."""
    say(f"iceberg-explorer: {error}")
    sys.exit(code)


def say(message: str) -> None:
    """A message on stderr: no command to the terminal, no credentials, whatever a table, a path or an error holds."""
    click.echo(safe(message), err=True)


def safe(message: str) -> str:
    """A message without commands to a terminal and credentials."""
    from explorer.spec.secrets.redaction import redacted

    return printable(redacted(message))


def printable(text: str) -> str:
    """Lines of text, without what could command a terminal or pass for other text."""
    from explorer.render.text import printable_lines

    return printable_lines(text)


@click.group(
    cls=Group,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=__doc__.partition("\n\n")[2] if __doc__ else None,
)
@click.version_option(explorer.__version__)
def main() -> None:
    """Explore the metadata of Apache Iceberg tables.

    TABLE is db.table in the embedded sandbox, catalog.db.table from .pyiceberg.yaml, or a path or URI of a table folder
    or metadata.json. A snapshot is an id, a branch or tag, a name as shown (snapshot-3), or a timestamp."""


def output_of(*formats: str) -> Callable[[F], F]:
    """--output text|json and more formats."""
    choice = click.Choice(["text", "json", *formats])
    return click.option("--output", "-o", type=choice, default="text", show_default=True, help="How to print.")


output_option = output_of()
"""--output text|json."""


def table_options(command: F) -> F:
    """TABLE, --catalog, --property, --root, --relocate, --output."""
    return where_options(output_option(command))


def where_options(command: F) -> F:
    """TABLE, --catalog, --property, --root, --relocate."""
    return click.argument("table")(_place_options(command))


def catalog_options(command: F) -> F:
    """TABLE or --all, and where: --catalog, --property, --root, --relocate."""
    every = click.option(
        "--all", "every", is_flag=True, help="Every table of a catalog (--catalog, the sandbox if left out)."
    )
    return click.argument("table", required=False)(every(_place_options(command)))


def _place_options(command: F) -> F:
    """--catalog, --property, --root, --relocate."""
    return click.option("--catalog", help="The catalog that TABLE is in.")(reading_options(command))


def reading_options(command: F) -> F:
    """--property, --root, --relocate."""
    for option in (
        click.option(
            "--relocate",
            multiple=True,
            metavar="OLD=NEW",
            help="What the metadata says is below OLD was moved, and is below NEW now.",
        ),
        click.option("--root", "roots", multiple=True, help="Also allow reading below this folder or URI."),
        click.option(
            "--property", "-p", "properties", multiple=True, metavar="KEY=VALUE", help="A catalog or storage property."
        ),
    ):
        command = option(command)
    return command


writes_option = click.option(
    "--allow-writes",
    is_flag=True,
    help="Also on a teaching table, or a table of another catalog that Spark knows (spark.json).",
)
snapshot_option = click.option(
    "--snapshot", "-s", help="Id, branch, tag, snapshot-N or timestamp; the current one if left out."
)
engine_option = click.option(
    "--engine", type=click.Choice(["auto", "local", "spark"]), default="auto", show_default=True,
    help="Who decodes the manifests: this process, or Spark's workers.",
)  # fmt: skip


def opened(
    table: str, catalog: str | None, properties: Iterable[str], roots: Iterable[str], relocate: Iterable[str]
) -> explorer.Table:
    """Open TABLE with the common options."""
    own = pairs(properties, "--property", "KEY=VALUE")
    moves = dict(map(_move, relocate))
    begin(table)
    return explorer.open_table(table, catalog, own or None, list(roots), moves)


def located(
    table: str, catalog: str | None, properties: Iterable[str], roots: Iterable[str], relocate: Iterable[str]
) -> Location:
    """Where TABLE is, whose metadata file cannot be read."""
    from explorer.storage.locate import locate

    own = pairs(properties, "--property", "KEY=VALUE")
    return locate(table, catalog, own or None, tuple(map(_move, relocate)))


def catalog_of(
    catalog: str | None, properties: Iterable[str], roots: Iterable[str], relocate: Iterable[str]
) -> dict[str, Any]:
    """The common options as explorer.reports.catalog_sweep.sweep has them; without a name the catalog that the
    properties describe, or the sandbox."""
    from explorer.storage.catalogs.catalogs import chosen_name

    own = pairs(properties, "--property", "KEY=VALUE") or None
    moves = tuple(map(_move, relocate))
    return {"catalog": chosen_name(catalog, own), "properties": own, "roots": tuple(roots), "relocate": moves}


def _move(text: str) -> tuple[str, str]:
    from explorer.storage.locate import parse_move

    try:
        return parse_move(text)
    except TableNotFound as error:
        raise click.BadParameter(str(error), param_hint="--relocate") from error


def pairs(items: Iterable[str], option: str, form: str) -> dict[str, str]:
    """KEY=VALUE options. Raises BadParameter."""
    values = {}
    for item in items:
        key, separator, value = item.partition("=")
        if not (key and separator):
            raise click.BadParameter(f"{item!r} is not {form}", param_hint=option)
        values[key] = value
    return values


def emit(data: Any, output: str, text: Callable[[], str]) -> None:
    """Print JSON data, or the text made of it."""
    from explorer.render.text import json_text

    click.echo(json_text(data) if output == "json" else printable(text().rstrip("\n")))


def as_table(batch: Any) -> Any:
    """One batch."""
    import pyarrow as pa

    return pa.Table.from_batches([batch])


def emit_json(rows: Iterable[Any], output: str) -> None:
    """An array with a row on each line, or (jsonl) these lines alone."""
    from explorer.render.text import json_text

    lines = (json_text(row, indent=None) for row in rows)
    if output == "jsonl":
        for line in lines:
            click.echo(line)
        return
    first = next(lines, None)
    click.echo("[]" if first is None else f"[\n{first}", nl=False)
    for line in lines:
        click.echo(f",\n{line}", nl=False)
    click.echo("" if first is None else "\n]")


def emit_pieces(data: Mapping[str, Any], output: str, lines: Iterable[str]) -> None:
    """Print JSON data, whose values that are iterators are made as they are printed, or lines of text as they are."""
    from explorer.render.text import json_pieces

    if output == "json":
        for piece in json_pieces(data):
            click.echo(piece, nl=False)
        click.echo()
        return
    for line in lines:
        click.echo(printable(line))


def emit_object(head: Mapping[str, Any], tables: Mapping[str, explorer.Collection]) -> None:
    """An object with the rows of tables, each of them as it is read."""
    from explorer.render.rows import json_rows
    from explorer.render.text import json_text

    click.echo(json_text(dict(head))[:-2], nl=False)
    for name, rows in tables.items():
        lines = (json_text(row, None) for batch in rows.iter_batches() for row in json_rows(as_table(batch)))
        click.echo(f",\n  {json_text(name)}: [", nl=False)
        for at, line in enumerate(lines):
            click.echo(f"{',' if at else ''}\n    {line}", nl=False)
        click.echo("\n  ]", nl=False)
    click.echo("\n}")


def finish(table: explorer.Table) -> None:
    """Say in a text answer what it lacks. Name every problem on stderr; exit with 3 when something could not be
    read."""
    lacks = table.tree.lacks
    if lacks and click.get_current_context().params.get("output") == "text":
        click.echo(printable(f"⚠ {lacks}."))
    for problem in table.problems:
        say(f"{problem.severity}: {problem}")
    if table.tree.more_problems:
        say("there are more problems than these")
    if any(problem.severity == "error" for problem in table.problems):
        sys.exit(INCOMPLETE)
