"""The registry: every question that the product answers, described once.

A question is a function with typed parameters (see parameters.py) that returns an answer (see answers.py). Its first
parameter says what it is about: `table: Table`, `table: TableAt` where the table may not open, or
`catalog: CatalogAt`. The first line of its docstring is its summary. `Args` describes its parameters, but for those
whose kind says what they are; `Returns` and `Raises` say what comes of it. `Example` is run as a test."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from textwrap import dedent
from typing import Any, Literal, TypeVar

from explorer.questions.parameters import Kind, kind_of

F = TypeVar("F", bound=Callable[..., Any])
Subject = Literal["", "table", "place", "catalog"]
SUBJECTS: dict[str, Subject] = {"Table": "table", "TableAt": "place", "CatalogAt": "catalog"}
SECTION = re.compile(r"(?:    .*\n?|\n(?=    ))+")
"""The lines of a section of a docstring."""
GROUPS = {
    "": "Everyday questions.",
    "inspect": "What a table's metadata says: snapshots, manifests, entries, files, deletes.",
    "history": "How a table came to be what it is: commits, lineage, lifecycles.",
    "data": "Rows: how they differ between snapshots, and what happened to them.",
    "scan": "What other layouts would make of queries, and where files lie.",
    "check": "Whether a commit would succeed.",
    "maintain": "Maintenance: what a procedure would do, and doing it.",
    "refs": "Branches, tags and rollbacks: what an operation would do, and doing it.",
    "catalog": "All tables of a catalog, and what the catalog stores.",
    "lab": "Commits that meet: writers and readers step by step, on Iceberg itself.",
}
"""The groups of questions, with a line for each."""


@dataclass(frozen=True)
class Parameter:
    """A parameter of a question: its name, kind, description and default. It is required if it has no default. On the
    command line a positional one has a place, the others are options."""

    name: str
    kind: Kind
    help: str
    default: Any = inspect.Parameter.empty
    is_positional: bool = True

    @property
    def is_required(self) -> bool:
        """Whether it has no default."""
        return self.default is inspect.Parameter.empty

    @property
    def label(self) -> str:
        """What a form calls it."""
        return self.name.replace("_", " ")

    @property
    def option(self) -> str:
        """The option that it is on the command line, if it is not positional."""
        return f"--{self.name.replace('_', '-')}"

    @property
    def place(self) -> str:
        """What stands for it on the command line, if it is positional."""
        name = self.name.upper()
        return name if self.is_required else f"[{name}]{'...' if self.kind.several else ''}"


@dataclass(frozen=True)
class Question:
    """One question.

    Args:
        name: Its name, with dashes, as the command line has it.
        group: The group that it is in; "" for everyday questions.
        function: Answers it.
        columns: The columns of its rows that text shows, where it has no room for all.
        is_writing: Whether it changes tables.
        is_endless: Whether its answer goes on until somebody stops it.
        has_rows: Whether its answer is a list of rows, or has rows.
        reads_rows: Whether these are rows of the table, which it chooses itself.
        has_picture: Whether its answer has a picture.
        check: Raises WrongUsage for parameters that do not go together; it opens nothing.
    """

    name: str
    group: str
    function: Callable[..., Any]
    columns: tuple[str, ...] = ()
    is_writing: bool = False
    is_endless: bool = False
    has_rows: bool = False
    reads_rows: bool = False
    has_picture: bool = False
    check: Callable[..., None] | None = None

    @property
    def path(self) -> tuple[str, ...]:
        """The words that name it on the command line."""
        return (self.group, self.name) if self.group else (self.name,)

    @cached_property
    def subject(self) -> Subject:
        """What it is about."""
        first = next(iter(inspect.signature(self.function).parameters.values()), None)
        return SUBJECTS.get(str(first.annotation), "") if first else ""

    def is_of_all_tables(self, arguments: Mapping[str, Any]) -> bool:
        """Return whether it is of all tables of a catalog, each of which has a limit of its own; of a view that it
        names it is not."""
        return self.subject == "catalog" and not arguments.get("name")

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        """Its parameters, without the subject."""
        names = vars(sys.modules[self.function.__module__])
        described = _parameter_descriptions(self.function)
        listed = list(inspect.signature(self.function).parameters.values())[1 if self.subject else 0 :]
        return tuple(
            Parameter(
                p.name,
                kind := kind_of(eval(str(p.annotation), dict(names))),
                described.get(p.name) or kind.help,
                p.default,
                p.kind is p.POSITIONAL_OR_KEYWORD,
            )
            for p in listed
        )

    @property
    def summary(self) -> str:
        """Its first line."""
        return inspect.getdoc(self.function).partition("\n")[0]  # type: ignore[union-attr]

    @property
    def description(self) -> str:
        """What follows the first line, up to its parameters."""
        text = (inspect.getdoc(self.function) or "").partition("\n")[2]
        return re.split(r"^(?:Args|Returns|Raises|Example):$", text, maxsplit=1, flags=re.MULTILINE)[0].strip()

    @property
    def returns(self) -> str:
        """What it returns."""
        return " ".join(self._section("Returns").split())

    @property
    def example(self) -> str:
        """An example in Python, as a session of its prompt."""
        return self._section("Example").rstrip()

    def _section(self, title: str) -> str:
        """Return the text of a section of the docstring; empty if there is none."""
        _, found, rest = f"\n{inspect.getdoc(self.function) or ''}".partition(f"\n{title}:\n")
        section = SECTION.match(rest) if found else None
        return dedent(section[0]) if section else ""

    def ask(self, subject: Any = None, **arguments: Any) -> Any:
        """Answer the question.

        Args:
            subject: What it is about; nothing where the question has no subject.
            arguments: Its parameters, by name.

        Returns:
            The answer.
        """
        return self.function(subject, **arguments) if self.subject else self.function(**arguments)


QUESTIONS: dict[tuple[str, ...], Question] = {}
"""All questions, by the words that name each."""


def question(
    name: str,
    group: str = "",
    *,
    columns: tuple[str, ...] = (),
    writing: bool = False,
    endless: bool = False,
    rows: bool = False,
    picture: bool = False,
    check: Callable[..., None] | None = None,
) -> Callable[[F], F]:
    """Register a function as a question; see Question."""

    def register(function: F) -> F:
        returned = function.__annotations__["return"]
        lists = rows or bool(re.search(r"\b(?:Collection|SparkRows)\b", returned))
        one = Question(name, group, function, columns, writing, endless, lists, returned == "SparkRows", picture, check)
        if one.path in QUESTIONS or group not in GROUPS:
            raise ValueError(f"{' '.join(one.path)} is registered already, or its group is unknown")
        QUESTIONS[one.path] = one
        return function

    return register


def _parameter_descriptions(function: Callable[..., Any]) -> dict[str, str]:
    """Return the descriptions of a function's parameters, from `Args:` of its docstring."""
    text = inspect.getdoc(function) or ""
    section = re.search(r"^Args:\n((?:[ \t]+.*\n?|\n)+)", text, re.MULTILINE)
    parts = re.split(r"^(\w+): ", dedent(section[1]) if section else "", flags=re.MULTILINE)[1:]
    return {name: " ".join(description.split()) for name, description in zip(parts[::2], parts[1::2], strict=True)}
