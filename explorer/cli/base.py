"""What all commands share: groups, messages, errors and exit codes.

\b
Exit codes:
  0    the answer is complete
  1    there is no answer; the message names the file and the cause
  2    wrong usage
  3    the answer is incomplete, since some files cannot be read; each is named on stderr
  4    Spark, Java or a package that the answer needs is not available
  5    the doctor has warnings
  6    the doctor has errors
  130  interrupted"""

from __future__ import annotations

import io
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import click

import explorer
from explorer.cli.screen import Teller, safe, say, screen_options, show
from explorer.errors import EngineError, ExplorerError, NotPossible, WrongUsage
from explorer.questions import GROUPS as QUESTION_GROUPS
from explorer.questions.answers import JSON_FORMAT
from explorer.spec.doctor.rules import EXIT_CODES
from explorer.storage.processor_time import time_limit
from explorer.storage.whole_files import os_error_words

FAILED, NO_ENGINE, INTERRUPTED = 1, 4, 130
END_S = 3.0
"""Seconds in which threads end after the command was interrupted."""
SIGNALLED = (INTERRUPTED, *(128 + getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)))
"""Exit codes of a command that was ended from outside."""
INCOMPLETE, WARNING, ERROR = (EXIT_CODES[level] for level in ("incomplete", "warning", "error"))
COMMAND = "icedive"
GROUPS = {**QUESTION_GROUPS, "export": "Files for others: pages, pictures, and metadata without its secrets."}


class Group(click.Group):
    """Commands in the order in which they are added; our errors as messages, not tracebacks."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)

    def make_context(self, *args: Any, **options: Any) -> click.Context:
        with _safe_errors():
            return super().make_context(*args, **options)


FIRST = ("show", "overview", "plan", "doctor", "health", "storage", "readers", "diff", "rows", "sql", "count")
OPEN = "open"
"""The command that is meant where none is named."""
LAST = ("glossary", "demo", OPEN, "serve", "mcp", "course", "config", "docs", "completion")


class Main(Group):
    """The command itself: everyday commands, groups, and what hosts the product."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        between = [name for name in GROUPS if name]
        return [*FIRST, *between, *LAST]

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        return super().parse_args(ctx, args or [OPEN])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] not in self.commands and _is_place(args[0]):
            args = [OPEN, *args]
        return super().resolve_command(ctx, args)

    def main(self, args: Sequence[str] | None = None, *rest: Any, **more: Any) -> Any:
        try:
            return super().main(args, *rest, **more)
        except SystemExit as end:
            if args is None and isinstance(end.code, int) and end.code in SIGNALLED:  # of a process of its own
                _end_soon(end.code)
            raise

    def invoke(self, ctx: click.Context) -> Any:
        try:
            _show_what_can_be()
            with ends_in_order(), Teller().listening(), time_limit(), _safe_errors():
                return super().invoke(ctx)
        except WrongUsage as error:
            raise click.UsageError(safe(str(error)), ctx) from error
        except EngineError as error:
            fail(error, NO_ENGINE)
        except ExplorerError as error:
            fail(error, FAILED)
        except KeyboardInterrupt:
            say("interrupted")
            sys.exit(INTERRUPTED)
        except BrokenPipeError:  # `| head` closed the pipe: nothing more to say
            _quiet_stdout()
            sys.exit(0)
        except OSError as error:
            _quiet_stdout()
            fail(NotPossible(safe(os_error_words(error))), FAILED)


def _is_place(word: str) -> bool:
    """Whether a word is the name or place of a table, and no mistyped command."""
    return any(sign in word for sign in "./\\") or Path(word).exists()


def _show_what_can_be() -> None:
    """Characters that the terminal's encoding lacks are shown as ?, and none ends the command."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and stream.encoding.lower().replace("-", "") != "utf8":
            stream.reconfigure(errors="replace")


def _quiet_stdout() -> None:
    """What is left of the output goes nowhere: else Python tries once more when it ends, and complains."""
    with suppress(OSError, ValueError):  # it is none of the system's
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _leave_java() -> None:
    """Java ends too, whatever it computes."""
    if (gateway := sys.modules.get("explorer.spark_engine.gateway")) is not None:
        gateway.leave()


def _end_soon(code: int) -> None:
    """The process ends in END_S at the latest: a thread may still wait for a store that says nothing."""
    timer = threading.Timer(END_S, os._exit, [code])
    timer.daemon = True
    timer.start()


@contextmanager
def ends_in_order() -> Iterator[None]:
    """A signal to end, and a terminal that is closed, end the command as Ctrl+C does: what it made for itself goes."""

    def end(number: int, _: Any) -> None:
        sys.exit(128 + number)

    numbers = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    is_main = threading.current_thread() is threading.main_thread()
    mine = [number for number in numbers if is_main and signal.getsignal(number) is signal.SIG_DFL]
    for number in mine:  # not one that is ignored, as under nohup
        signal.signal(number, end)
    try:
        yield
    except (SystemExit, KeyboardInterrupt) as error:
        if isinstance(error, KeyboardInterrupt) or error.code in {128 + number for number in mine}:
            _leave_java()
        raise
    finally:
        for number in mine:
            signal.signal(number, signal.SIG_DFL)


@contextmanager
def _safe_errors() -> Iterator[None]:
    """Click's errors quote what was typed, which may be another's file name: it commands no terminal."""
    try:
        yield
    except click.exceptions.NoArgsIsHelpError:  # quotes nothing
        raise
    except click.UsageError as error:
        raise click.UsageError(safe(error.format_message().expandtabs(2)), error.ctx) from error


def fail(error: Exception, code: int) -> None:
    """Print on stderr what is wrong, and exit."""
    say(f"{COMMAND}: {error}")
    sys.exit(code)


def _version(context: click.Context, parameter: click.Parameter, asked: bool) -> None:
    if asked:
        from explorer.native_module import decoder

        click.echo(f"{COMMAND} {explorer.__version__}, JSON format {JSON_FORMAT}, decoder: {decoder()}")
        context.exit()


@click.group(
    cls=Main,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=__doc__.partition("\n\n")[2] if __doc__ else None,
)
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_version, help="Show the version and exit."
)
@screen_options(is_global=True)
def main() -> None:
    """Explore the metadata of Apache Iceberg tables.

    Without a command it opens the page in a browser: with the teaching tables, or with the TABLE that is named.

    TABLE is db.table in the embedded sandbox, catalog.db.table from .pyiceberg.yaml, or a path or URI of a table folder
    or metadata.json. A snapshot is an id, a branch or tag, a name as shown (snapshot-3), or a time.
    """


def group(name: str) -> click.Group:
    """Return the group of commands with a name; "" is the command itself."""
    if not name:
        return main
    if name not in main.commands:
        main.add_command(Group(name, help=GROUPS.get(name)))
    command = main.commands[name]
    assert isinstance(command, click.Group), f"{name} is a command"
    return command


def place_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add --property, --root and --relocate."""
    for option in (
        click.option(
            "--relocate",
            multiple=True,
            metavar="OLD=NEW",
            help="Read below NEW what the metadata places below OLD. May be given several times.",
        ),
        click.option("--root", "roots", multiple=True, help="Also read below this folder or URI."),
        click.option(
            "--property", "-p", "properties", multiple=True, metavar="KEY=VALUE", help="A catalog or storage property."
        ),
    ):
        command = option(command)
    return command


def places(properties: Iterable[str], roots: Iterable[str], relocate: Iterable[str]) -> dict[str, Any]:
    """Return these options as parameters.TableAt and CatalogAt take them. Raises BadParameter."""
    own = pairs(properties, "--property", "KEY=VALUE")
    return {"properties": own or None, "roots": tuple(roots), "relocate": tuple(map(_move, relocate))}


def _move(text: str) -> tuple[str, str]:
    from explorer.errors import TableNotFound
    from explorer.storage.locate import parse_move

    try:
        return parse_move(text)
    except TableNotFound as error:
        raise click.BadParameter(str(error), param_hint="--relocate") from error


def pairs(items: Iterable[str], option: str, form: str) -> dict[str, str]:
    """Return KEY=VALUE options as a dict. Raises BadParameter."""
    values = {}
    for item in items:
        key, separator, value = item.partition("=")
        if not (key and separator):
            raise click.BadParameter(f"{item!r} is not {form}", param_hint=option)
        values[key] = value
    return values


def finish(table: explorer.Table, output: str) -> None:
    """Name every problem of a table on stderr; in text say what the answer lacks. Exits with INCOMPLETE if a file could
    not be read."""
    lacks = table.tree.lacks
    if lacks and output == "text":
        show([f"⚠ {lacks}."], in_pages=False)
    for problem in table.problems:
        say(" ".join(f"{problem.severity}: {problem}".splitlines()))  # a name with a line break begins no line
    if table.tree.more_problems:
        say("there are more problems than these")
    if any(problem.severity == "error" for problem in table.problems):
        sys.exit(INCOMPLETE)
