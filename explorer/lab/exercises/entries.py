"""How an exercise is answered: what a person may enter, and the words for it. The widgets are made of these."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True)
class ChoiceEntry:
    """One of several values. A value that is not its own name has a name in `named`."""

    options: tuple[str, ...]
    named: tuple[tuple[str, str], ...] = ()

    @property
    def form(self) -> str:
        """What to give."""
        return f"one of {', '.join(repr(option) for option in self.options)}"

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

    options: tuple[object, ...]

    @property
    def form(self) -> str:
        """What to give."""
        return f"all that belong to the answer, in a tuple, of {', '.join(map(repr, self.options))}"


@dataclass(frozen=True)
class NamesEntry:
    """Names in an order that matters."""

    form = "names in their order, in a tuple"


@dataclass(frozen=True)
class StepsEntry:
    """An order of steps. `letters` are the writers; `marks` come after a letter. `goal` is what the order has to
    reach, and `par` the fewest steps known."""

    letters: str
    goal: str
    par: int
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


def rows(labels: Sequence[str], entry: One) -> RowsEntry:
    """Several answers of one kind."""
    return RowsEntry(tuple(labels), (entry,) * len(labels))


AnswerEntry: TypeAlias = One | RowsEntry | SeveralEntry | NamesEntry | StatementsEntry | StepsEntry
