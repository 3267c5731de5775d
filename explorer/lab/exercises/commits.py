"""Exercises about commits, whose answers are checked by running them on Iceberg."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from typing import Any

from explorer.errors import ExplorerError
from explorer.lab.exercises.answers import Words, interpret, words
from explorer.lab.exercises.tables import remove_tables_afterwards
from explorer.lab.progress_store import keep
from explorer.lab.sandbox import Bench
from explorer.lab.stepper import Run
from explorer.render.lab_runs import sequence_svg
from explorer.render.plan_result import ShownPlan
from explorer.render.text import not_typeset
from explorer.spec.commits.operations import CATALOGUED, STEPS, Operation


@dataclass(frozen=True)
class ExerciseResult:
    """The result of an answer: right (True), wrong (False) or not answered (None), the reason in words, and the run or
    plan that shows it."""

    right: bool | None
    words: str
    run: Run | None = None
    plan: ShownPlan | None = None

    def __repr__(self) -> str:
        return self.words

    def _repr_html_(self) -> str:
        mark = {True: "✔", False: "✘", None: "…"}[self.right]
        picture = sequence_svg(self.run.events, self.run.writers) if self.run else ""
        plan = self.plan._repr_html_() if self.plan else ""
        return not_typeset(f'<p><b>{mark}</b> {escape(self.words)}</p><div style="overflow:auto">{picture}{plan}</div>')


@dataclass(frozen=True)
class Exercise:
    """A question, and the function that judges an answer by running it. `example` is one right answer. `words` maps the
    words of an answer, in lower case, to their meaning."""

    question: str
    judge: Callable[[Any, Any], ExerciseResult]
    example: Any
    words: Words = field(default_factory=dict)

    def check(self, bench: Bench | None = None, answer: Any = ...) -> ExerciseResult:
        """Judge an answer. Exercises that run something need a bench. Without an answer, repeat the question. An answer
        that cannot be run is wrong; the result says why. Right answers are saved (lab.progress_store)."""
        if answer is ...:
            return ExerciseResult(None, f"Not answered yet. {self.question}")
        try:
            with remove_tables_afterwards(bench.engine if bench else None):
                marked = self.judge(bench, interpret(answer, self.example, self.words))
        except (ExplorerError, TypeError, ValueError, AttributeError) as error:
            return ExerciseResult(False, f"This cannot be run: {error}")
        if marked.right and (failed := keep(self.question)):
            return replace(marked, words=f"{marked.words} (That it is solved could not be kept: {failed})")
        return marked


def _run_order(bench: Bench, operations: Sequence[Operation], order: str, version: int = 2) -> Run:
    run = Run(bench, operations, version)
    run.play(order)
    return run


def _judge_isolation(bench: Bench, answer: str) -> ExerciseResult:
    states = {}
    for level in ("serializable", "snapshot"):
        run = _run_order(bench, [Operation("mor-update", level), Operation("append")], "AABBBBBAAA")
        states[level] = (run.writer("A").state, run)
    committed = [level for level, (state, _) in states.items() if state == "committed"]
    state_by_level = "; ".join(f"{level}: {state}" for level, (state, _) in states.items())
    return ExerciseResult(
        [answer] == committed, f"Run under both: {state_by_level}.", states.get(answer, states["snapshot"])[1]
    )


def _judge_validation(bench: Bench, answer: str) -> ExerciseResult:
    usual = Operation("mor-update").validations
    lets_pass, shown = [], None
    for off in usual:
        left = tuple(v for v in usual if v != off)
        run = _run_order(bench, [Operation("mor-update", chosen=left), Operation("append")], "AABBBBBAAA")
        if run.writer("A").state == "committed":
            lets_pass.append(off)
        if off == answer:
            shown = run
    return ExerciseResult(
        [answer] == lets_pass,
        f"Each was switched off in turn. It commits without {' or '.join(lets_pass)} only.",
        shown,
    )


def _judge_format_version(bench: Bench, answer: int) -> ExerciseResult:
    pair = [Operation("mor-delete"), Operation("mor-delete")]
    runs = {version: _run_order(bench, pair, "AABBBBBAAAAA", version) for version in (2, 3)}
    refused = [version for version, run in runs.items() if run.writer("A").state == "refused"]
    state_by_version = "; ".join(f"format version {v}: {run.writer('A').state}" for v, run in runs.items())
    return ExerciseResult([answer] == refused, f"Run in both: {state_by_version}.", runs.get(answer, runs[3]))


def _judge_lost_swaps(bench: Bench, answer: str) -> ExerciseResult:
    run = _run_order(bench, [Operation("append")] * 3, answer.upper())
    lost = sum(e.outcome == "lost" for e in run.events if e.writer == "C")
    return ExerciseResult(
        lost == 2 and run.writer("C").state == "committed", f"C lost {lost} swaps, and is {run.writer('C').state}.", run
    )


def _judge_repeated_append(bench: Bench, answer: str) -> ExerciseResult:
    run = _run_order(bench, [Operation("append")], answer.upper())
    times = sum(v == "by A" for _, v, _ in run.rows())
    return ExerciseResult(times == 2, f"The row is there {times} times.", run)


def _judge_expiry(bench: Bench, answer: str) -> ExerciseResult:
    run = _run_order(bench, [Operation("mor-delete"), Operation("append"), Operation("expire")], answer.upper())
    last = [e for e in run.events if e.writer == "A"][-1]
    return ExerciseResult(
        "not an ancestor" in last.error or "Cannot determine history" in last.error, f"A: {last.words}", run
    )


def _judge_anomaly(bench: Bench, answer: tuple[str, str]) -> ExerciseResult:
    from explorer.lab.interleave import outcome, serial_rows

    late, early = answer
    pair = [Operation(late, "snapshot"), Operation(early, "snapshot")]
    run = _run_order(bench, pair, "AABBBBBAAAAA")
    happened = outcome(run, "", serial_rows(bench, pair))
    verdict = f"an anomaly: {happened.anomaly}" if happened.anomaly else f"as if {' or '.join(happened.serial)}"
    return ExerciseResult(
        bool(happened.anomaly), f"A {run.writer('A').state}, B {run.writer('B').state}: {verdict}.", run
    )


EXERCISES = (
    Exercise(
        "A merge-on-read UPDATE (A) comes to commit after an append of a row that it matches (B). Under which "
        "isolation level, "
        "'serializable' or 'snapshot', does it commit?",
        _judge_isolation,
        "snapshot",
        words("serializable", "snapshot"),
    ),
    Exercise(
        "Under serializable isolation that UPDATE is refused. Which one of its validations, switched off, lets it "
        "commit? "
        f"({', '.join(Operation('mor-update').validations)})",
        _judge_validation,
        "validateNoConflictingDataFiles",
        words(*Operation("mor-update").validations),
    ),
    Exercise(
        (
            "Two merge-on-read DELETEs of one row begin from one base. In which format version, 2 or 3, is the second "
            "refused?"
        ),
        _judge_format_version,
        3,
    ),
    Exercise(
        "Three appends. Give an order of steps, such as 'AABBC', in which C loses two swaps and commits in the "
        f"end. (The steps of each: {', '.join(STEPS)}; after a lost swap apply again. "
        "What you leave out runs afterwards, A first.)",
        _judge_lost_swaps,
        "CCCCAAAAACCCBBBBBC",
    ),
    Exercise(
        "One append. Give an order, with '?' after a step of A whose answer is lost and '+' where A begins again "
        "without looking, so that "
        "its row is there twice.",
        _judge_repeated_append,
        "AAAAA?A+",
    ),
    Exercise(
        "A deletes a row in merge-on-read, B appends, C expires all snapshots but the last. Give an order in which "
        "A is refused because "
        "the snapshot it began from is gone.",
        _judge_expiry,
        "AABBBBBCCCCCA",
    ),
    Exercise(
        "Under snapshot isolation, find two operations (late, early) of which both commit, and the rows equal no "
        "serial order. "
        f"(There are {', '.join(CATALOGUED)}.)",
        _judge_anomaly,
        ("mor-delete", "mor-update"),
        words(*CATALOGUED),
    ),
)
"""The exercises of notebook 04, from reading the rules to breaking them."""
