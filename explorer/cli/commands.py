"""The commands that ask questions, generated from the registry."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from explorer.cli import complete
from explorer.cli.base import ERROR, WARNING, finish, group, pairs, place_options, places
from explorer.cli.gate import GATE_FORMATS, gate_text, log_health, tell_webhook
from explorer.cli.output import FORMATS, ROW_FORMATS, Output, output_option
from explorer.cli.screen import safe, say
from explorer.errors import ExplorerError, WrongUsage
from explorer.progress import listener
from explorer.questions import QUESTIONS, Parameter, Question
from explorer.questions.answers import check_picture_file
from explorer.questions.offers import OF_METADATA, told_names
from explorer.questions.parameters import CatalogAt, Offer, TableAt
from explorer.spec.doctor.gate import FAIL_ON, FailOn, level_of_exit
from explorer.spec.doctor.rules import EXIT_CODES
from explorer.storage.processor_time import begin, remove_limit

if TYPE_CHECKING:
    from explorer.questions.answers import Answer

FAILS_ON: dict[str, FailOn] = {"doctor": "warning", "health": "never"}
"""From which level on the exit code of a command tells, if nothing is said."""
PLACE = ("catalog", "properties", "roots", "relocate")
SHORT = {"snapshot": "-s", "option": "-O"}


class CountType(click.ParamType):
    """A number, or `all`."""

    name = "N|all"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int | None:
        """Return None for all."""
        if value is None or str(value).lower() == "all":
            return None
        if not str(value).isdecimal():
            self.fail(f"{value!r} is neither a number nor 'all'", param, ctx)
        return int(value)


class ChoiceType(click.Choice[str]):
    """One of some words. For an operation Iceberg's name of the procedure will do, as statements have it."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the word."""
        if value not in self.choices:
            from explorer.reports.maintenance.procedure_calls import named_operation

            value = named_operation(str(value))
        return super().convert(value, param, ctx)


class QuestionCommand(click.Command):
    """A command that says, where an argument is missing that names something of the table, which names there are."""

    def __init__(self, *args: Any, offered: Mapping[str, Offer], **options: Any) -> None:
        super().__init__(*args, **options)
        self.offered = offered

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except click.MissingParameter as error:
            offer = self.offered.get((error.param.name if error.param else None) or "", "")
            if offer not in OF_METADATA or not (name := ctx.params.get("subject")):
                raise
            names = ""
            with suppress(ExplorerError, OSError):
                names = told_names(offer, TableAt(name, ctx.params.get("catalog")).open())
            if not names:
                raise
            raise click.UsageError(f"{error.format_message().rstrip('.')}: there are {names}.", ctx) from error


def add_commands() -> None:
    """Add a command for each question of the registry."""
    for question in QUESTIONS.values():
        group(question.group).add_command(command_of(question))


def command_of(question: Question) -> click.Command:
    """Return the command that asks a question."""

    def run(**given: Any) -> None:
        try:
            _ask(question, given)
        except WrongUsage as error:  # whose message then names the command's own help
            raise click.UsageError(safe(str(error))) from error

    decorated: Callable[..., Any] = _output_options(question)(run)
    for parameter in reversed(question.parameters):
        decorated = _option(parameter)(decorated)
    if question.subject in ("table", "place"):
        decorated = click.option("--catalog", help="The catalog that TABLE is in.")(place_options(decorated))
        decorated = click.argument("subject", metavar="TABLE", shell_complete=complete.tables)(decorated)
    elif question.subject == "catalog":
        decorated = click.argument("subject", metavar="[CATALOG]", required=False)(place_options(decorated))
    positional = [f"{p.name.upper()}: {_about(p)}" for p in question.parameters if p.is_positional]
    about = "\n\n".join(filter(None, (question.summary, question.description, *positional)))
    offered = {parameter.name: parameter.kind.offer for parameter in question.parameters}
    command = click.command(
        question.name, cls=QuestionCommand, offered=offered, help=about, short_help=question.summary
    )(decorated)
    command.params.sort(key=lambda param: param.name in PLACE)  # options that most people never need come last
    return command


def _about(parameter: Parameter) -> str:
    """What an argument is, with all that it may be: its usage line only names it."""
    words = ", ".join(choice for choice in parameter.kind.choices if choice)
    return f"{parameter.help} One of: {words}." if words else parameter.help


def _option(parameter: Parameter) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    kind, name = parameter.kind, parameter.name
    types: dict[str, Any] = {
        "number": int if kind.least is None else click.IntRange(min=int(kind.least)),
        "count": CountType(),
        "decimal": click.FloatRange(min=kind.least),
        "choice": ChoiceType([choice for choice in kind.choices if choice]),
    }
    how: dict[str, Any] = {"type": types.get(kind.form, str)}
    if (completer := complete.values(kind.offer)) is not None:
        how["shell_complete"] = completer
    if parameter.is_positional:
        how |= {"nargs": -1} if kind.several else {}
        if not (parameter.is_required or kind.several):
            how["default"] = parameter.default
        return click.argument(name, metavar=parameter.place, required=parameter.is_required, **how)
    words = [parameter.option, *([SHORT[name]] if name in SHORT else []), name]
    if kind.form == "flag":
        return click.option(*words, is_flag=True, help=parameter.help)
    if kind.several:
        return click.option(*words, multiple=True, metavar=kind.metavar or None, help=parameter.help, **how)
    default = parameter.default
    return click.option(
        *words,
        default=default or None if isinstance(default, str) and not default else default,
        show_default=default not in (None, ""),
        metavar=kind.metavar if kind.form != "choice" else None,
        help=parameter.help,
        **how,
    )


def _output_options(question: Question) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    formats = list(ROW_FORMATS if question.has_rows else (*FORMATS, "jsonl") if question.is_endless else FORMATS)
    formats += GATE_FORMATS.get(question.path, ())

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        if question.path in GATE_FORMATS:
            command = click.option(
                "--fail-on", type=click.Choice(FAIL_ON), default=FAILS_ON[question.name], show_default=True,
                help="The lowest level that fails the command: exit code 5 for a warning, 6 for an error.",
            )(command)  # fmt: skip
            command = click.option(
                "--webhook", metavar="URL", help="If --fail-on fails the command, post what failed there, as JSON.",
            )(command)  # fmt: skip
        if question.name == "health" and question.path in GATE_FORMATS:
            command = click.option(
                "--history", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
                help="Add what was measured to this file, and say what changed since the runs before.",
            )(command)  # fmt: skip
        if question.has_rows and not question.reads_rows:  # else it would choose among the first rows
            names = {parameter.name for parameter in question.parameters}
            if "limit" not in names:
                command = click.option(
                    "--limit", "row_limit", type=CountType(), metavar="N|all",
                    help="The largest number of rows; `all` reads all.",
                )(command)  # fmt: skip
            command = click.option("--columns", "row_columns", metavar="A,B", help="Print only these columns.")(command)
            command = click.option(
                "--filter", "row_filter", default="", metavar="FILTER",
                help='Print only rows that match, such as "record_count > 1000".',
            )(command)  # fmt: skip
        if question.has_picture:
            command = click.option(
                "--picture", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
                help="Draw the answer into this file (.svg or .html), and print nothing.",
            )(command)  # fmt: skip
        return output_option(*formats)(command)

    return decorate


def _ask(question: Question, given: dict[str, Any]) -> None:
    """Ask a question, print its answer and exit with its code."""
    form, picture = given.pop("output"), given.pop("picture", None)
    fail_on, history, webhook = given.pop("fail_on", "warning"), given.pop("history", None), given.pop("webhook", None)
    if webhook is not None and fail_on == "never":
        raise WrongUsage("--webhook tells what fails: choose --fail-on warning or error")
    columns = tuple(name.strip() for name in (given.pop("row_columns", None) or "").split(",") if name.strip())
    output = Output(form, given.pop("row_filter", ""), columns, given.pop("row_limit", None), not question.is_endless)
    if picture is not None:
        check_picture_file(picture)
    arguments = {p.name: _value(p, given[p.name]) for p in question.parameters}
    if question.check:
        question.check(**arguments, drawing=picture is not None)
    subject = _subject(question, given)
    opened = subject.open() if question.subject == "table" else subject
    answer = question.ask(opened, **arguments)
    for note in getattr(answer, "notes", ()):
        say(note)
    if picture is not None:
        answer.save_picture(picture)
        say(f"wrote {picture}")
    elif question.is_endless:
        _print_until_interrupt(answer, output)
    elif form in GATE_FORMATS.get(question.path, ()):
        text = gate_text(question, answer, form, fail_on, arguments.get("threshold"))
        click.echo(text, nl=bool(text))
    else:
        output.print(answer, question.columns, opened if question.subject == "table" else None)
    if history is not None:
        for line in ("", *log_health(history, answer, arguments.get("threshold"))):
            click.echo(line, err=form != "text")
    level = level_of_exit(answer.level(), fail_on) if hasattr(answer, "level") else "ok"
    if webhook is not None and level in ("warning", "error"):
        tell_webhook(webhook, question, answer, fail_on, arguments.get("threshold"))
    code = EXIT_CODES[level]
    if code in (WARNING, ERROR):
        sys.exit(code)
    if isinstance(subject, TableAt) and subject.opened is not None and question.name != "doctor":
        finish(subject.opened, form)
    sys.exit(code)


def _subject(question: Question, given: dict[str, Any]) -> Any:
    if not question.subject:
        return None
    name = given.pop("subject")
    where = places(given.pop("properties"), given.pop("roots"), given.pop("relocate"))
    if question.subject == "catalog":
        from explorer.storage.catalogs.catalogs import choose_name

        if not question.is_of_all_tables(given):
            begin(given["name"])
        return CatalogAt(choose_name(name, where["properties"]), **where)
    begin(name)
    return TableAt(name, given.pop("catalog"), **where)


def _value(parameter: Parameter, given: Any) -> Any:
    """The value of a parameter as its question takes it."""
    kind, option = parameter.kind, parameter.option
    if given is None:
        return parameter.default if kind.form != "count" else None
    if kind.form == "pairs":
        return pairs(given, option, "NAME=VALUE")
    if kind.form == "numbers":
        return {name: _number(option, name, text) for name, text in pairs(given, option, "NAME=VALUE").items()}
    if kind.is_in_files:
        return [line for text in given for line in (_lines(text[1:]) if text.startswith("@") else [text])]
    return given


def _lines(name: str) -> list[str]:
    """The lines of a file, or of stdin for `-`, without comments and empty ones. Raises ClickException."""
    try:
        with click.open_file(name, encoding="utf-8") as file:
            lines = [line.strip() for line in file]
    except OSError as error:
        raise click.ClickException(f"{name} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise click.ClickException(f"{name}: not all of it is UTF-8 text ({error.reason})") from error
    return [line for line in lines if line and not line.startswith("#")]


def _number(option: str, name: str, text: str) -> float:
    try:
        return float(text)
    except ValueError as error:
        raise click.BadParameter(f"{name}={text!r} is no number", param_hint=option) from error


def _print_until_interrupt(answer: Answer[Any], output: Output) -> None:
    """Print an answer that goes on until Ctrl+C; what has begun is printed to its end."""
    remove_limit()
    say("Ctrl+C ends")
    watch = listener()
    assert watch is not None  # main listens
    before = signal.signal(signal.SIGINT, lambda *_: watch.cancel())
    try:
        output.print(answer)
    finally:
        signal.signal(signal.SIGINT, before)
