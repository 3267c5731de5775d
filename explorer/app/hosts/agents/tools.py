"""The questions that agents may ask, as tools: their names, and the JSON schemas of their parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from explorer.app.forms import LARGEST, is_asked
from explorer.app.protocol import Ask
from explorer.app.rights import ALLOW_WRITES, Rights
from explorer.app.session import NOT_SAVED
from explorer.errors import WrongUsage
from explorer.questions import QUESTIONS, Parameter, Question

RIGHTS = Rights()
"""Agents neither write nor run SQL."""
LEFT_OUT = frozenset({*NOT_SAVED, ALLOW_WRITES, "sql", "compare_with"})
"""Parameters by which a question writes, or runs SQL or measurements in Spark."""


@dataclass(frozen=True)
class ItemChoice:
    """Which items of which part are wanted: all parts from their beginning, or one of them (`part`), from `start`."""

    part: int | None = None
    start: int = 0
    filter: str = ""
    sort: str = ""
    descending: bool = False


TABLE = (
    "The table: catalog.namespace.name, such as sandbox.demo.three_inserts, or the path or URI of a table folder or of "
    "a metadata.json."
)
SUBJECTS: Mapping[str, Mapping[str, Mapping[str, str]]] = {
    "": {},
    "table": {"table": {"type": "string", "description": TABLE}},
    "place": {"table": {"type": "string", "description": TABLE}},
    "catalog": {"catalog": {"type": "string", "description": "The catalog. Of the sandbox name the namespace demo."}},
}
"""By what a question is about: the parameter that names it."""
TYPES = {"string": str, "object": dict, "integer": int, "boolean": bool}
MORE = "more"
"""The tool that continues one part of another tool's answer."""
MORE_PARAMETERS: Mapping[str, Mapping[str, Any]] = {
    "tool": {"type": "string", "description": "The tool that gave the answer."},
    "arguments": {"type": "object", "description": "The arguments that it was given."},
    "part": {"type": "integer", "minimum": 0, "description": "The number of the part."},
    "start": {"type": "integer", "minimum": 0, "default": 0, "description": "The first item: `next` of the answer."},
    "filter": {"type": "string", "description": "Only rows that match, such as record_count > 1000."},
    "sort": {"type": "string", "description": "The column by which rows are sorted."},
    "descending": {"type": "boolean", "default": False, "description": "Whether the largest comes first."},
}
MORE_SUMMARY = "Continue one part of another tool's answer, or choose and sort its rows."


def tool_name(question: Question) -> str:
    """Return the name of a question's tool."""
    return "_".join(question.path).replace("-", "_")


@cache
def offered() -> Mapping[str, Question]:
    """Return the questions that agents may ask, by the names of their tools."""
    asked = (one for one in QUESTIONS.values() if is_asked(one) and RIGHTS.allow(one))
    return {tool_name(one): one for one in asked}


def parameters(question: Question) -> list[Parameter]:
    """Return the parameters that agents may give."""
    return [one for one in question.parameters if one.name not in LEFT_OUT]


def describe(question: Question) -> str:
    """Return what a question's tool is for."""
    returns = f"Returns: {question.returns}" if question.returns else ""
    return "\n\n".join(filter(None, (question.summary, question.description, returns)))


def input_schema(question: Question | None) -> dict[str, Any]:
    """Return the JSON schema of what a question's tool takes; without a question of what the tool MORE takes."""
    if question is None:
        tool = {**MORE_PARAMETERS["tool"], "enum": [*offered()]}
        return _object({**MORE_PARAMETERS, "tool": tool}, ["tool", "arguments", "part"])
    properties: dict[str, Any] = {**SUBJECTS[question.subject]}
    required = [*properties] if question.subject != "catalog" else []
    for one in parameters(question):
        given = {} if one.is_required or one.default in (None, "") else {"default": one.default}
        simple = given if isinstance(given.get("default"), str | int | float) else {}
        properties[one.name] = {**one.kind.schema(), "description": one.help, **simple}
        required += [one.name] if one.is_required else []
    return _object(properties, required)


def _object(properties: Mapping[str, Any], required: list[str]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def asked(tool: str, given: Mapping[str, Any]) -> tuple[Ask, ItemChoice]:
    """Return the question that a call of a tool asks, and which part of its answer it wants.

    Args:
        tool: The tool.
        given: What it was given.

    Returns:
        The request, whose own parameters are checked when it is answered, and the choice.

    Raises:
        WrongUsage: There is no such tool or parameter, one is missing, or has another type.
    """
    if tool == MORE:
        own = _checked(tool, given, input_schema(None))
        inner, arguments = own.pop("tool"), own.pop("arguments")
        if inner == MORE or not 0 <= own["part"] <= LARGEST or not 0 <= own.get("start", 0) <= LARGEST:
            raise WrongUsage(f"tool is the one that gave the answer, and numbers are from 0 to {LARGEST:,.0f}")
        return asked(inner, arguments)[0], ItemChoice(**own)
    question = offered().get(tool)
    if question is None:
        raise WrongUsage(f"there is no tool {tool[:60]!r}")
    subjects = SUBJECTS[question.subject]
    schema = input_schema(question)
    loose = {name: {} if name not in subjects else one for name, one in schema["properties"].items()}
    arguments = _checked(tool, given, {**schema, "properties": loose})
    subject = {name: arguments.pop(name) for name in subjects if name in arguments}
    return Ask(1, " ".join(question.path), arguments=arguments, **subject), ItemChoice()


def _checked(tool: str, given: Mapping[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a tool was given, if the schema's names and simple types allow it. Raises WrongUsage."""
    properties = schema["properties"]
    for name, value in given.items():
        if name not in properties:
            raise WrongUsage(f"{tool} has no parameter {name[:60]!r}: it has {', '.join(properties)}")
        wanted = properties[name].get("type")
        if wanted and type(value) is not TYPES[wanted]:
            raise WrongUsage(f"{name} is of the type {wanted}")
    if missing := [name for name in schema["required"] if given.get(name) in (None, "")]:
        raise WrongUsage(f"{tool} needs {', '.join(missing)}")
    return dict(given)
