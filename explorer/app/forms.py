"""Questions as a page lists them: their names, and what their forms have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from explorer.app.rights import ALLOW_WRITES, Rights
from explorer.errors import WrongUsage
from explorer.questions import GROUPS, QUESTIONS, Parameter, Question
from explorer.questions.parameters import OtherTable, kind_of
from explorer.serving import places
from explorer.storage.locate import names_a_path

LABS_OWN = frozenset({("lab", "run"), ("lab", "race"), ("lab", "streaming"), ("lab", "catalogue")})
OTHER_TABLE = kind_of(OtherTable)
LARGEST = 1e15
"""Of a number."""


def groups() -> list[dict[str, str]]:
    """Return the groups of questions, with a line for each."""
    return [{"name": name, "title": title} for name, title in GROUPS.items()]


def questions(rights: Rights) -> list[dict[str, Any]]:
    """Return the questions that a session may ask, with their parameters."""
    return [_form(one) for one in QUESTIONS.values() if is_asked(one) and rights.allow(one)]


def is_asked(question: Question) -> bool:
    """Return whether a page asks a question: not one that has no end, nor those that the lab's messages carry out, with
    limits of their own."""
    return not question.is_endless and question.path not in LABS_OWN


def _form(question: Question) -> dict[str, Any]:
    return {
        "name": " ".join(question.path),
        "group": question.group,
        "subject": question.subject,
        "summary": question.summary,
        "description": question.description,
        "writes": question.is_writing,
        "parameters": [field(one) for one in question.parameters if one.name != ALLOW_WRITES],
    }


_LABELS = {"sql": "Spark SQL", "column_path": "Column", "other": "Copy"}
"""Of parameters whose name says too little."""


def field(parameter: Parameter) -> dict[str, Any]:
    """Return what a form needs to ask for a parameter."""
    kind = parameter.kind
    given = None if parameter.is_required else parameter.default
    return {
        "name": parameter.name,
        "label": "Filter" if kind.metavar == "FILTER" else _LABELS.get(parameter.label, parameter.label.capitalize()),
        "help": parameter.help,
        "form": kind.form,
        "choices": list(kind.choices),
        "several": kind.several,
        "offer": kind.offer,
        "required": parameter.is_required,
        "default": list(given) if isinstance(given, tuple) else given if not hasattr(given, "keys") else {},
        "least": kind.least,
        "is_filter": kind.metavar == "FILTER",
        "is_sql": kind.metavar == "SQL",
    }


def read_arguments(question: Question, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of a question as Python takes them.

    Args:
        question: The question.
        given: Its parameters by name, as JSON.

    Returns:
        The arguments; what was left empty is left out.

    Raises:
        WrongUsage: There is no such parameter, its value has another type, or a required one is missing.
        AccessRefused: A text names a path that this server does not open.
    """
    parameters = {one.name: one for one in question.parameters}
    arguments = {}
    for name, value in given.items():
        if name not in parameters:
            raise WrongUsage(f"{' '.join(question.path)} has no parameter {name[:60]!r}")
        if value is not None and value != "" and value != []:
            arguments[name] = _value(parameters[name], value)
    if missing := [one.label for one in parameters.values() if one.is_required and one.name not in arguments]:
        raise WrongUsage(f"enter a value for {', '.join(missing)}")
    return arguments


def _value(parameter: Parameter, value: Any) -> Any:
    kind = parameter.kind
    if kind.form in ("pairs", "numbers"):
        is_good = _is_number if kind.form == "numbers" else (lambda one: isinstance(one, str))
        if not isinstance(value, dict) or not all(map(is_good, value.values())):
            raise WrongUsage(f"{parameter.label} has names with values")
        return value
    if not kind.several:
        return _one(parameter, value)
    if not isinstance(value, list):
        raise WrongUsage(f"{parameter.label} is a list")
    return tuple(_one(parameter, one) for one in value)


def _one(parameter: Parameter, value: Any) -> Any:
    kind, label = parameter.kind, parameter.label
    if kind.form == "flag":
        if not isinstance(value, bool):
            raise WrongUsage(f"{label} is true or false")
        return value
    if kind.form in ("number", "count", "decimal"):
        if not _is_number(value) or (isinstance(value, float) and kind.form != "decimal"):
            raise WrongUsage(f"{label} is a number")
        if kind.least is not None and value < kind.least:
            raise WrongUsage(f"{label} is at least {kind.least:g}")
        return value
    if not isinstance(value, str):
        raise WrongUsage(f"{label} is a text")
    if kind.choices and value not in kind.choices:
        raise WrongUsage(f"{label} is one of {', '.join(filter(None, kind.choices))}")
    if kind.metavar == "FILE":
        raise WrongUsage(f"{label} is a file of the server, which no page opens")
    if kind == OTHER_TABLE:
        places.check(value)
    elif not kind.offer and names_a_path(table := value.partition("@")[0]):  # it names nothing of this table
        places.check(table)
    return value


def _is_number(value: Any) -> bool:
    """Whether a value is a number that is not too large; NaN is none."""
    return isinstance(value, int | float) and not isinstance(value, bool) and -LARGEST <= value <= LARGEST
