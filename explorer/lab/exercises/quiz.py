"""Exercises of several short questions, and exercises that find the wrong sentence of an article. What is right is
computed from a table, or from a run of the lab."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from explorer.lab.exercises.answers import words
from explorer.lab.exercises.entries import ChoiceEntry, NumberEntry, RowsEntry, answer_text, fits
from explorer.lab.exercises.exercise import Exercise, ExerciseResult
from explorer.storage.locate import locate
from explorer.storage.reader import TableReader
from explorer.table import Table


@dataclass(frozen=True)
class Line:
    """A short question of a quiz, with the replies to typical wrong answers."""

    label: str
    entry: ChoiceEntry | NumberEntry
    replies: Mapping[Any, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Sentence:
    """A sentence of an article, what decides whether it holds (it gets the bench), and what is true."""

    text: str
    holds: Callable[[Any], bool]
    truth: str


def open_demo(name: str) -> Table:
    """Open a teaching table."""
    return Table(TableReader(locate(f"demo.{name}")))


def quiz(
    question: str,
    lines: Sequence[Line],
    facts: Callable[[Any], Sequence[Any]],
    example: tuple[Any, ...],
    nudge: str,
    look: str,
    reason: str,
    needs_lab: bool = False,
) -> Exercise:
    """An exercise of several lines. `facts` computes the right answer of each; it gets the bench."""
    options = [option for line in lines if isinstance(line.entry, ChoiceEntry) for option in line.entry.options]
    entry = RowsEntry(tuple(line.label for line in lines), tuple(line.entry for line in lines))
    return Exercise(
        question,
        partial(_judge_lines, lines, entry, facts),
        example,
        entry,
        nudge=nudge,
        look=look,
        reason=reason,
        words=words(*options),
        needs_lab=needs_lab,
    )


def _judge_lines(
    lines: Sequence[Line], entry: RowsEntry, facts: Callable[[Any], Sequence[Any]], bench: Any, answer: Any
) -> ExerciseResult:
    truth = list(facts(bench))
    facts_text = answer_text(entry, truth)
    wrong = [n for n, true in enumerate(truth) if answer[n] != true]
    if not wrong:
        return ExerciseResult(True, f"All {len(lines)} are right.", f"{facts_text}.")
    first = lines[wrong[0]]
    given = answer[wrong[0]]
    reply = first.replies.get(given, "")
    told = f"{score(len(lines) - len(wrong), len(lines))} Not so: {first.label}: {_given(first, given)}. {reply}"
    return ExerciseResult(False, told.strip(), f"{facts_text}.")


def score(right: int, count: int) -> str:
    """How many of several answers are right, and how many are wrong."""
    wrong = count - right
    return f"{right} of {count} {'is' if right == 1 else 'are'} right, {wrong} {'is' if wrong == 1 else 'are'} wrong."


def _given(line: Line, value: Any) -> str:
    """What was given for a line, even if it is not of the line's form."""
    return answer_text(line.entry, value) if fits(line.entry, value) else str(value)


def article_error(
    sentences: Sequence[Sentence],
    example: str,
    nudge: str,
    look: str,
    reason: str,
    needs_lab: bool = False,
) -> Exercise:
    """An exercise to find the one sentence of articles that does not hold."""
    letters = tuple("abcdefgh"[: len(sentences)])
    named = tuple((letter, f"{letter}: {one.text}") for letter, one in zip(letters, sentences, strict=True))
    listed = "\n".join(f"- {name}" for _, name in named)
    return Exercise(
        f"Four sentences from articles on Iceberg; one is wrong. Which?\n\n{listed}",
        partial(_judge_sentence, dict(zip(letters, sentences, strict=True))),
        example,
        ChoiceEntry(
            letters, tuple((letter, f"{letter}: {one.text}") for letter, one in zip(letters, sentences, strict=True))
        ),
        nudge=nudge,
        look=look,
        reason=reason,
        words=words(*letters),
        needs_lab=needs_lab,
    )


def _judge_sentence(sentences: Mapping[str, Sentence], bench: Any, answer: str) -> ExerciseResult:
    one = sentences[answer]
    if one.holds(bench):
        return ExerciseResult(False, f"Sentence {answer} is true. {one.truth}")
    return ExerciseResult(True, f"Sentence {answer} is wrong. {one.truth}")
