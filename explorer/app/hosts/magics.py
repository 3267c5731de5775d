"""`%iceberg` and `%%iceberg` of IPython: every question of the registry, written as on the command line.

`%load_ext explorer` registers them. `%iceberg plan db.t "id = 7"` asks a question; `%%iceberg sql db.t` takes the cell
below as what the question asks for last. A table is a name, a path, or a variable that holds one."""

from __future__ import annotations

import argparse
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, NoReturn

from explorer.errors import ExplorerError, TableNotFound, WrongUsage
from explorer.lab.scenarios.registry import NAMESPACE, SCENARIOS
from explorer.queries.collection import Collection
from explorer.questions import QUESTIONS, Parameter, Question
from explorer.questions.offers import NAMES, offers
from explorer.questions.parameters import CatalogAt, TableAt
from explorer.render.text import clean_lines
from explorer.spec.text.names import ONE_WORD
from explorer.table import Table, open_table

NAME = "iceberg"
TABLE = "TABLE"
MATCHER = "explorer.iceberg"
"""What IPython knows our completions by."""
_LINE = re.compile(rf"(?:^|=)\s*(%%?{NAME}\s.*)\Z")
"""A line with our magic, whose answer may be kept in a variable, up to the cursor."""
CATALOG = "catalog_of_table"
DEMO = "demo"
"""The word that makes the teaching tables. It is no question."""
ASKED = {path: one for path, one in QUESTIONS.items() if not one.is_endless}
"""Questions without an end are the command line's."""


class _Help(Exception):
    """Somebody asks for help, which is the message."""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise WrongUsage(f"{message}. {' '.join(self.format_usage().split())}")

    def print_help(self, file: Any = None) -> None:
        raise _Help(self.format_help())


def register(shell: Any) -> None:
    """Add the magics to an IPython shell, and complete their words.

    Args:
        shell: The shell.
    """
    from IPython.core.error import UsageError
    from IPython.core.magic import no_var_expand

    @no_var_expand  # else IPython runs what stands in braces, such as the name of a branch
    def iceberg(line: str, cell: str | None = None) -> Any:
        """Ask a question about a table: `%iceberg plan db.t "id = 7"`. `%iceberg` alone lists all."""
        try:
            return run(line, cell, shell.user_ns)
        except _Help as text:
            print(text)
            return None
        except ExplorerError as error:
            raise UsageError(clean_lines(str(error))) from error

    shell.register_magic_function(iceberg, magic_kind="line_cell", magic_name=NAME)
    matchers = shell.Completer.custom_matchers
    matchers[:] = [one for one in matchers if getattr(one, "matcher_identifier", "") != MATCHER]
    matchers.append(_matcher(shell.user_ns))


def _matcher(variables: Mapping[str, Any]) -> Any:
    """What offers words to IPython. Where it has some, no other words are offered, Python's own among them: IPython
    would sort those in between."""
    from IPython.core.completer import CompletionContext, SimpleCompletion, SimpleMatcherResult, context_matcher

    @context_matcher(identifier=MATCHER)
    def offer(context: CompletionContext) -> SimpleMatcherResult:
        match = _LINE.search(context.text_until_cursor)
        line = match[1] if match else ""
        begun = "" if line[-1:].isspace() or not line else line.split()[-1]
        words = [SimpleCompletion(text=word) for word in complete(line, variables)] if line else []
        return SimpleMatcherResult(
            completions=words, matched_fragment=begun, suppress=bool(words), do_not_suppress=set(), ordered=True
        )

    return offer


def run(line: str, cell: str | None, variables: Mapping[str, Any]) -> Any:
    """Answer what a line, and the cell below it, ask.

    Args:
        line: The words after `%iceberg`.
        cell: The text of the cell, where the magic has one: what the question asks for last.
        variables: The notebook's, by which tables may be named.

    Returns:
        The answer, as the question's method returns it.

    Raises:
        WrongUsage: There is no such question or option.
        TableNotFound: No table goes by that name.
    """
    try:
        words = shlex.split(line)
    except ValueError as error:
        raise WrongUsage(f"a quote is not closed: {line}") from error
    if words[:1] == [DEMO]:
        return make_teaching_tables(words[1:])
    question, rest = _question_of(words)
    parsed = _parse(question, rest, cell)
    arguments = {one.name: _value(one, parsed[one.name]) for one in question.parameters}
    if question.check:
        question.check(**arguments, drawing=False)
    return question.ask(_subject(question, parsed, variables), **arguments)


def make_teaching_tables(names: Sequence[str]) -> Collection:
    """Unpack teaching tables into the sandbox, as `icedive demo` does; those that are there stay as they are.

    Args:
        names: Their names, without the namespace; all of them if empty.

    Returns:
        A row for each: table, teaches.

    Raises:
        WrongUsage: There is no such teaching table.
    """
    from explorer.lab.scenarios.build import missing, unpack_all

    if unknown := sorted({*names} - {one.name for one in SCENARIOS}):
        raise WrongUsage(f"no such teaching table: {', '.join(unknown)}")
    wanted = [one for one in SCENARIOS if not names or one.name in names]
    absent = {one.name for one in missing()}
    unpack_all([one for one in wanted if one.name in absent])
    rows = [{"table": f"{NAMESPACE}.{one.name}", "teaches": one.teaches} for one in wanted]
    return Collection.of_rows(rows, "teaching tables")


def _question_of(words: Sequence[str]) -> tuple[Question, Sequence[str]]:
    """The question that words begin with, and the words after its name."""
    if not words or words[0] in ("help", "--help", "-h"):
        names = "\n".join(f"  {' '.join(path):26} {one.summary}" for path, one in ASKED.items())
        demo = f"  {DEMO:26} Unpack the teaching tables into the sandbox."
        raise _Help(f"%{NAME} QUESTION {TABLE} ...; %{NAME} QUESTION --help explains one.\n{names}\n{demo}")
    for length in (2, 1):
        if (path := tuple(words[:length])) in ASKED:
            return ASKED[path], words[length:]
    raise WrongUsage(f"there is no question {' '.join(words[:2])!r}: %{NAME} without words lists all")


def _parse(question: Question, words: Sequence[str], cell: str | None) -> dict[str, Any]:
    """The words after a question's name. The cell stands for the last positional parameter."""
    parser = _Parser(f"%{NAME} {' '.join(question.path)}", description=question.summary)
    if question.subject in ("table", "place"):
        parser.add_argument("subject", metavar=TABLE, help="A name, a path, or a variable that holds a table.")
        parser.add_argument("--catalog", dest=CATALOG, metavar="CATALOG", help="The catalog that the table is in.")
    elif question.subject == "catalog":
        parser.add_argument("subject", metavar="CATALOG", nargs="?", default="sandbox", help="The catalog.")
    positional = [one for one in question.parameters if one.is_positional]
    if cell is not None and not positional:
        raise WrongUsage(f"{' '.join(question.path)} takes no cell")
    for one in question.parameters:
        if one.is_positional and not (cell is not None and one is positional[-1]):
            _add_positional(parser, one)
        elif not one.is_positional:
            _add_option(parser, one)
    parsed = vars(parser.parse_args(list(words)))
    return parsed if cell is None else {**parsed, positional[-1].name: cell.strip()}


def _add_positional(parser: argparse.ArgumentParser, one: Parameter) -> None:
    number = "*" if one.kind.several else None if one.is_required else "?"
    default = None if one.is_required or one.kind.several else one.default
    parser.add_argument(one.name, metavar=one.name.upper(), nargs=number, default=default, help=_help(one))


def _add_option(parser: argparse.ArgumentParser, one: Parameter) -> None:
    if one.kind.form == "flag":
        parser.add_argument(one.option, dest=one.name, action="store_true", help=_help(one))
    else:
        action = "append" if one.kind.several else "store"
        metavar = one.kind.metavar or "VALUE"
        parser.add_argument(one.option, dest=one.name, action=action, metavar=metavar, help=_help(one))


def _help(one: Parameter) -> str:
    choices = f" One of {', '.join(filter(None, one.kind.choices))}." if one.kind.choices else ""
    return f"{one.help}{choices}".replace("%", "%%")


def _value(one: Parameter, given: Any) -> Any:
    """The value of a parameter as its question takes it."""
    kind = one.kind
    if given is None or given is one.default or (kind.several and not given):
        return None if one.is_required else one.default
    if kind.form in ("pairs", "numbers"):
        pairs = dict(_pair(one, text) for text in given)
        return {key: _number(one, text) for key, text in pairs.items()} if kind.form == "numbers" else pairs
    if kind.form == "count" and str(given).lower() == "all":
        return None
    if kind.form in ("number", "count", "decimal"):
        value = _number(one, given)
        return value if kind.form == "decimal" else int(value)
    if kind.choices and given not in kind.choices:
        raise WrongUsage(f"{one.name} is {given!r}: there are {', '.join(filter(None, kind.choices))}")
    return given


def _pair(one: Parameter, text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals:
        raise WrongUsage(f"{one.option} is {text!r}, which is not {one.kind.metavar}")
    return key, value


def _number(one: Parameter, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        raise WrongUsage(f"{one.name} is {text!r}, which is no number") from None
    if one.kind.form != "decimal" and one.kind.form != "numbers" and value != int(value):
        raise WrongUsage(f"{one.name} is {text!r}, which is no whole number")
    if one.kind.least is not None and value < one.kind.least:
        raise WrongUsage(f"{one.name} is {text}: {one.kind.least:g} is the least")
    return value


# -- tables ------------------------------------------------------------------------------------------------------------
def _subject(question: Question, parsed: Mapping[str, Any], variables: Mapping[str, Any]) -> Any:
    if question.subject == "catalog":
        return CatalogAt(parsed["subject"])
    if question.subject == "place" and parsed["subject"] not in variables:
        return TableAt(parsed["subject"], parsed[CATALOG])
    if not question.subject:
        return None
    table = _open(parsed["subject"], parsed[CATALOG], variables)
    return table if question.subject == "table" else TableAt(table.name, opened=table)


def _open(word: str, catalog: str | None, variables: Mapping[str, Any]) -> Table:
    """The table that a word means: a variable, a name or a path, else a name in the notebook's own Spark session."""
    if word in variables:
        given = variables[word]
        return open_table(getattr(given, "engine", given))
    try:
        return open_table(word, catalog)
    except TableNotFound:
        if (spark := variables.get("spark")) is None or catalog is not None or not hasattr(spark, "sql"):
            raise
        with suppress(TableNotFound):
            return open_table(word, spark=spark)
        raise


# -- completion --------------------------------------------------------------------------------------------------------
def complete(text: str, variables: Mapping[str, Any]) -> Iterator[str]:
    """Offer what may follow.

    Args:
        text: A line of a notebook, from its `%` up to the cursor.
        variables: The notebook's.

    Yields:
        Words that begin as the last one does: questions, tables, options and values. Whatever fails offers nothing, and
        a name that is not one word is not offered: it would be put into the line as it is.
    """
    words = text.split()[1:]
    begun = "" if text[-1:].isspace() else words.pop() if words else ""
    with suppress(ExplorerError, OSError):
        yield from sorted({name for name in _offered(words, begun, variables) if name.startswith(begun)})


def _offered(words: Sequence[str], begun: str, variables: Mapping[str, Any]) -> Iterable[str]:
    path = next((tuple(words[:n]) for n in (2, 1) if tuple(words[:n]) in ASKED), ())
    if words[:1] == [DEMO]:
        return [one.name for one in SCENARIOS if one.name not in words]
    if not path:
        own = {DEMO} if not words else set()
        return own | {one[len(words)] for one in ASKED if one[: len(words)] == tuple(words) and len(one) > len(words)}
    question, after = ASKED[path], words[len(path) :]
    options = {one.option: one for one in question.parameters if not one.is_positional}
    if after and after[-1] in options and options[after[-1]].kind.form != "flag":
        return _values(options[after[-1]], after, begun, variables)
    if begun.startswith("-"):
        return options
    places = [
        word for at, word in enumerate(after) if not word.startswith("-") and (not at or after[at - 1] not in options)
    ]
    if question.subject in ("table", "place") and not places:
        return _tables(variables)
    positional = [one for one in question.parameters if one.is_positional]
    at = len(places) - (1 if question.subject else 0)
    return _values(positional[at], after, begun, variables) if at < len(positional) else ()


def _values(one: Parameter, after: Sequence[str], begun: str, variables: Mapping[str, Any]) -> Iterable[str]:
    if one.kind.choices:
        return filter(None, one.kind.choices)
    if one.kind.offer not in NAMES or not after:
        return ()
    return filter(ONE_WORD.fullmatch, offers(one.kind.offer, _open(after[0], None, variables), begun))


def _tables(variables: Mapping[str, Any]) -> Iterator[str]:
    from explorer.storage.catalogs.catalogs import tables

    for name, value in list(variables.items()):
        if not name.startswith("_") and isinstance(getattr(value, "engine", value), Table):
            yield name
    yield from filter(ONE_WORD.fullmatch, (table.identifier for table in tables()))
