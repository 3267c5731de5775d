"""How an exercise is answered: what a person may enter, and the words for it. The widgets are made of these."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias


@dataclass(frozen=True)
class ChoiceEntry:
    """One of several values. A value that is not its own name has a name in `named`."""

    options: tuple[str, ...]
    named: tuple[tuple[str, str], ...] = ()

    @property
    def form(self) -> str:
        """What to give."""
        return f"one of {', '.join(repr(o) if o else f'{o!r} ({self.name(o)})' for o in self.options)}"

    @property
    def listed(self) -> str:
        """What there is to choose from, as Markdown."""
        return "" if self.named else f"\n\nChoose from: {', '.join(self.options)}."

    def name(self, option: str) -> str:
        """The name of an option."""
        return dict(self.named).get(option, option)


@dataclass(frozen=True)
class NumberEntry:
    """A whole number; where `or_null`, null too."""

    or_null: bool = False

    @property
    def form(self) -> str:
        """What to give."""
        return "a number, or None for null" if self.or_null else "a number"


@dataclass(frozen=True)
class TextEntry:
    """A line of text, such as a property or a filter."""

    form = "a text"


@dataclass(frozen=True)
class StatementsEntry:
    """One SQL statement, or several."""

    form = "a statement, or several in a tuple"


@dataclass(frozen=True)
class SeveralEntry:
    """Some of several values: all that belong to the answer."""

    options: tuple[str, ...]

    @property
    def form(self) -> str:
        """What to give."""
        return f"all that belong to the answer, in a tuple, of {', '.join(map(repr, self.options))}"

    @property
    def listed(self) -> str:
        """What there is to choose from, as Markdown."""
        return f"\n\nChoose all that belong to the answer: {'; '.join(self.options)}."


@dataclass(frozen=True)
class NamesEntry:
    """Names in an order that matters."""

    form = "names in their order, in a tuple"


@dataclass(frozen=True)
class StepsEntry:
    """An order of steps.

    Args:
        letters: The writers.
        goal: What the order has to reach.
        par: The fewest steps known.
        state: Says what an order has led to so far; it gets a bench.
        marks: What may come after a letter.
    """

    letters: str
    goal: str
    par: int
    state: Callable[[Any, str], str]
    marks: str = ""

    @property
    def form(self) -> str:
        """What to give."""
        marks = f", and {' or '.join(self.marks)} after a letter" if self.marks else ""
        return f"a text of the letters {', '.join(self.letters)}{marks}"


One: TypeAlias = ChoiceEntry | NumberEntry | TextEntry


@dataclass(frozen=True)
class RowsEntry:
    """Several answers, each with a label."""

    labels: tuple[str, ...]
    entries: tuple[One, ...]

    @property
    def form(self) -> str:
        """What to give."""
        kinds = dict.fromkeys(entry.form for entry in self.entries)
        return f"{len(self.labels)} values in a tuple, each {'; or '.join(kinds)}"

    @property
    def listed(self) -> str:
        """The questions, as Markdown."""
        return "\n\n" + "\n".join(f"- {label}" for label in self.labels)


def rows(labels: Sequence[str], entry: One) -> RowsEntry:
    """Several answers of one kind."""
    return RowsEntry(tuple(labels), (entry,) * len(labels))


AnswerEntry: TypeAlias = One | RowsEntry | SeveralEntry | NamesEntry | StatementsEntry | StepsEntry


def answer_text(entry: AnswerEntry, answer: Any) -> str:
    """An answer as a person reads it: with the labels of its lines, and the names of options."""
    if isinstance(entry, RowsEntry):
        parts = zip(entry.labels, entry.entries, answer, strict=True)
        return "; ".join(f"{label}: {answer_text(one, value)}" for label, one, value in parts)
    if isinstance(entry, ChoiceEntry):
        return entry.name(answer)
    if answer is None:
        return "null"
    if isinstance(answer, tuple):
        return "; ".join(map(str, answer))
    return str(answer)


def fits(entry: AnswerEntry, answer: Any) -> bool:
    """Whether an answer has the form that an entry asks for."""
    if isinstance(entry, ChoiceEntry):
        return answer in entry.options
    if isinstance(entry, NumberEntry):
        return (answer is None and entry.or_null) or (isinstance(answer, int) and not isinstance(answer, bool))
    if isinstance(entry, RowsEntry):
        return isinstance(answer, (list, tuple)) and len(answer) == len(entry.labels)
    if isinstance(entry, SeveralEntry):
        return isinstance(answer, (str, list, tuple, set, frozenset))
    if isinstance(entry, (NamesEntry, StatementsEntry)) and isinstance(answer, (list, tuple)):
        return all(isinstance(one, str) for one in answer)
    return isinstance(answer, str)
