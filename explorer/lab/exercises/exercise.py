"""An exercise: its question, how it is answered and judged, and the help that it gives step by step."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from html import escape
from typing import Any

from explorer.errors import EngineError, ExplorerError, TableNotFound
from explorer.lab import progress_store
from explorer.lab.exercises.answers import Words, interpret
from explorer.lab.exercises.entries import AnswerEntry, RowsEntry, StepsEntry, answer_text, fits
from explorer.lab.exercises.tables import remove_tables_afterwards
from explorer.lab.sandbox import Bench
from explorer.lab.stepper import Run
from explorer.render.lab_runs import sequence_svg
from explorer.render.plan_result import ShownPlan
from explorer.render.text import not_typeset

TRIES = 3
"""The wrong answers after which the right one is shown."""
_LONGEST = 300
_RAW = (
    (re.compile(r"\[[A-Z_.\d]+\]\s*"), ""),
    (re.compile(r"SQLSTATE:.*$"), ""),
    (re.compile(r"\bin struct: struct<.*$"), ""),
    (re.compile(r"(?:extraneous|mismatched) input ('[^']*') expecting .*$"), r"\1 does not belong there"),
    (re.compile(r"no viable alternative at input ('[^']*').*$"), r"\1 does not belong there"),
    (re.compile(r"An error occurred while calling .*$"), "Spark cannot read it"),
)
"""What Spark and Java add to a message, and what a learner reads instead."""


class WrongForm(ValueError):
    """An answer that is not of the form that its exercise asks for; the message is a sentence for the learner."""


@dataclass(frozen=True)
class ExerciseResult:
    """The result of an answer: right (True), wrong (False) or not answered (None); the reply to this answer; the facts,
    which tell the right one; and the run or plan that shows it."""

    right: bool | None
    words: str
    facts: str = ""
    run: Run | None = None
    plan: ShownPlan | None = None

    def __repr__(self) -> str:
        return self.words

    def _repr_html_(self) -> str:
        mark = {True: "✔", False: "✘", None: "…"}[self.right]
        picture = sequence_svg(self.run.events, self.run.writers) if self.run else ""
        plan = self.plan._repr_html_() if self.plan else ""
        first, *more = (_html(line) for line in self.words.splitlines() or [""])
        lines = "".join(f"<p>{line}</p>" for line in [f"<b>{mark}</b> {first}", *more])
        return not_typeset(f'{lines}<div style="overflow:auto">{picture}{plan}</div>')


@dataclass(frozen=True)
class Exercise:
    """A question, and the function that judges an answer.

    Args:
        question: The question.
        judge: Judges an answer: it gets a bench (None where `needs_lab` is not set) and the answer.
        example: One right answer.
        entry: How it is answered.
        nudge: What to think of, shown after the first wrong answer.
        look: Where to look, shown after the second.
        reason: Why the right answer is right, shown with it.
        words: The meaning of the words of an answer, by the word in lower case.
        needs_lab: Whether the judge runs the answer in the lab, which needs Spark.
    """

    question: str
    judge: Callable[[Any, Any], ExerciseResult]
    example: Any
    entry: AnswerEntry
    nudge: str
    look: str
    reason: str
    words: Words = field(default_factory=dict)
    needs_lab: bool = False

    @property
    def text(self) -> str:
        """The question with its lines, or with what there is to choose from, as Markdown."""
        return f"{self.question}{getattr(self.entry, 'listed', '')}"

    def check(self, answer: Any = ..., bench: Bench | None = None) -> ExerciseResult:
        """Judge an answer, and help after a wrong one: a nudge, then where to look, then the answer with its reason.

        Args:
            answer: The answer; without one, the question is repeated.
            bench: Where the lab runs the answer; by default one that all exercises of this process share.

        Returns:
            The result. What the learner reached is kept (lab.progress_store).
        """
        if answer is ...:
            return ExerciseResult(None, f"Not answered yet. {self.text}\nGive {self.entry.form}.")
        if self.needs_lab and bench is None:
            try:
                bench = shared_bench()
            except ExplorerError as error:
                return ExerciseResult(None, f"The lab cannot run your answer: {one_sentence(error)}")
        meant = interpret(answer, self.example, self.words)
        other_form = f"This cannot be run: the answer has another form. Give {self.entry.form}."
        if not fits(self.entry, meant):
            return ExerciseResult(False, other_form)
        try:
            with remove_tables_afterwards(bench.engine if bench else None):
                marked = self.judge(bench, meant)
        except (EngineError, TableNotFound) as error:
            return ExerciseResult(None, f"Your answer could not be judged: {one_sentence(error)}")
        except WrongForm as error:
            return ExerciseResult(False, f"This cannot be run: {error}")
        except ExplorerError as error:
            marked = ExerciseResult(False, f"This cannot be run: {one_sentence(error)}")
        except Exception:  # whatever else an answer of another form leads to
            return ExerciseResult(False, other_form)
        return self._mark_solved(marked, meant) if marked.right else self._add_help(marked, meant)

    def state_after(self, order: str) -> str:
        """Say what an order of steps has led to so far; empty for exercises of another kind."""
        if not isinstance(self.entry, StepsEntry):
            return ""
        try:
            return self.entry.state(shared_bench(), order.upper())
        except ExplorerError as error:
            return one_sentence(error)

    def show_answer(self) -> ExerciseResult:
        """Show a right answer with its reason. The exercise is kept as looked up, unless it is solved."""
        return self._keep(ExerciseResult(None, self._answer("")), progress_store.LOOKED_UP)

    def _mark_solved(self, marked: ExerciseResult, answer: Any) -> ExerciseResult:
        lines = [marked.words, marked.facts, self.reason, self._score(answer)]
        _wrong_answers.pop(self.question, None)
        return self._keep(replace(marked, words=_lines(lines)), progress_store.SOLVED)

    def _add_help(self, marked: ExerciseResult, answer: Any) -> ExerciseResult:
        """Add the help that comes after this many different wrong answers."""
        wrong = _wrong_answers.setdefault(self.question, {})
        wrong.setdefault(repr(answer), len(wrong) + 1)
        state = progress_store.TRIED
        if wrong[repr(answer)] == 1:
            hint = f"Think: {self.nudge}"
        elif wrong[repr(answer)] < TRIES:
            hint = f"Look here: {self.look}"
        else:
            hint, state = self._answer(marked.facts), progress_store.LOOKED_UP
        return self._keep(replace(marked, words=_lines([marked.words, hint])), state)

    def _answer(self, facts: str) -> str:
        right = f"A right answer: {answer_text(self.entry, self.example)}"
        more = "" if isinstance(self.entry, RowsEntry) else facts  # which say the same of each line
        return _lines([right, more, f"Why: {self.reason}"])

    def _score(self, answer: Any) -> str:
        """The steps of an order, and the fewest known."""
        if not isinstance(self.entry, StepsEntry):
            return ""
        steps = sum(letter in self.entry.letters for letter in str(answer).upper())
        best = "No shorter order is known." if steps <= self.entry.par else f"The fewest known are {self.entry.par}."
        return f"You gave {steps} steps. {best}"

    def _keep(self, marked: ExerciseResult, state: str) -> ExerciseResult:
        if failed := progress_store.keep(self.question, state):
            return replace(marked, words=f"{marked.words}\n(Your progress could not be kept: {failed})")
        return marked

    def __repr__(self) -> str:
        return f"{self.text}\nGive {self.entry.form}: .check(answer)"

    def _ipython_display_(self) -> None:
        """Show the input of this exercise."""
        from explorer.lab.exercises.widgets import show  # which needs an extra

        show(self)


_wrong_answers: dict[str, dict[str, int]] = {}
"""The different wrong answers of this process, by question, each with its number."""


@functools.cache
def shared_bench() -> Bench:
    """The bench of all exercises of this process. Raises EngineError."""
    return Bench()


def one_sentence(error: Exception) -> str:
    """What an error says to a learner: its first line, without codes of Spark and names of Java's classes."""
    text = (str(error).strip().splitlines() or [""])[0]
    for raw, plain in _RAW:
        text = raw.sub(plain, text)
    words = text.split(" ")
    text = " ".join(word for word in words if not (word.endswith(("Exception:", "Error:")) and "." in word))
    text = text.strip()
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST].rsplit(' ', 1)[0]} …"


def _html(line: str) -> str:
    """A line as HTML: `code`, and *names of sections*."""
    code = re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(line))
    return re.sub(r"(?<!\S)\*([A-Z][^*]*)\*", r"<i>\1</i>", code)


def _lines(parts: Iterable[str]) -> str:
    return "\n".join(part for part in parts if part)
