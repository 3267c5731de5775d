"""Exercises about commits, whose answers are checked by running them on Iceberg."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial

from explorer.lab.exercises.answers import words
from explorer.lab.exercises.entries import ChoiceEntry, NumberEntry, RowsEntry, StepsEntry
from explorer.lab.exercises.exercise import Exercise, ExerciseResult
from explorer.lab.sandbox import Bench
from explorer.lab.stepper import Run
from explorer.spec.commits.operations import CATALOGUED, STEPS, Operation
from explorer.spec.text.units import count

ONE_APPEND = (Operation("append"),)
THREE_APPENDS = (Operation("append"),) * 3
EXPIRY = (Operation("mor-delete"), Operation("append"), Operation("expire"))


def _run_order(bench: Bench, operations: Sequence[Operation], order: str, version: int = 2) -> Run:
    run = Run(bench, operations, version)
    run.play(order)
    return run


def _state_so_far(operations: Sequence[Operation], bench: Bench, order: str) -> str:
    """Where each writer is after these steps, and the rows that readers see."""
    run = Run(bench, operations)
    for token in re.findall(r"\S[!?+]?", order):
        run.step(token)
    lost = {w.name: sum(e.outcome == "lost" for e in run.events if e.writer == w.name) for w in run.writers}
    writers = []
    for writer in run.writers:
        swaps = f", and has lost {count(lost[writer.name], 'swap')}" if lost[writer.name] else ""
        writers.append(f"{writer.name} is {'' if writer.over else 'before '}{writer.state}{swaps}")
    return f"{'; '.join(writers)}. Readers see {count(len(run.rows()), 'row')}."


def _judge_isolation(bench: Bench, answer: str) -> ExerciseResult:
    states = {}
    for level in ("serializable", "snapshot"):
        run = _run_order(bench, [Operation("mor-update", level), Operation("append")], "AABBBBBAAA")
        states[level] = (run.writer("A").state, run)
    committed = [level for level, (state, _) in states.items() if state == "committed"]
    state_by_level = "; ".join(f"{level}: {state}" for level, (state, _) in states.items())
    state, run = states[answer]
    return ExerciseResult(
        [answer] == committed, f"Under {answer} A is {state}.", f"Run under both: {state_by_level}.", run
    )


def _judge_validation(bench: Bench, answer: str) -> ExerciseResult:
    usual = Operation("mor-update").validations
    lets_pass, runs = [], {}
    for off in usual:
        left = tuple(v for v in usual if v != off)
        run = _run_order(bench, [Operation("mor-update", chosen=left), Operation("append")], "AABBBBBAAA")
        if run.writer("A").state == "committed":
            lets_pass.append(off)
        runs[off] = run
    shown = runs[answer]
    facts = f"Each was switched off in turn. It commits without {' or '.join(lets_pass)} only."
    return ExerciseResult(
        [answer] == lets_pass, f"Without {answer} alone A is {shown.writer('A').state}.", facts, shown
    )


def _judge_format_version(bench: Bench, answer: int) -> ExerciseResult:
    pair = [Operation("mor-delete"), Operation("mor-delete")]
    runs = {version: _run_order(bench, pair, "AABBBBBAAAAA", version) for version in (2, 3)}
    refused = [version for version, run in runs.items() if run.writer("A").state == "refused"]
    state_by_version = "; ".join(f"format version {v}: {run.writer('A').state}" for v, run in runs.items())
    run = runs.get(answer, runs[3])
    facts = f"Run in both: {state_by_version}."
    return ExerciseResult([answer] == refused, f"In format version {answer} A is {run.writer('A').state}.", facts, run)


def _judge_lost_swaps(bench: Bench, answer: str) -> ExerciseResult:
    run = _run_order(bench, THREE_APPENDS, answer.upper())
    lost = sum(e.outcome == "lost" for e in run.events if e.writer == "C")
    return ExerciseResult(
        lost == 2 and run.writer("C").state == "committed",
        f"C lost {count(lost, 'swap')}, and is {run.writer('C').state}.",
        run=run,
    )


def _judge_repeated_append(bench: Bench, answer: str) -> ExerciseResult:
    run = _run_order(bench, ONE_APPEND, answer.upper())
    times = sum(v == "by A" for _, v, _ in run.rows())
    return ExerciseResult(times == 2, f"The row is there {count(times, 'time')}.", run=run)


def _judge_expiry(bench: Bench, answer: str) -> ExerciseResult:
    run = _run_order(bench, EXPIRY, answer.upper())
    last = [e for e in run.events if e.writer == "A"][-1]
    return ExerciseResult(
        "not an ancestor" in last.error or "Cannot determine history" in last.error,
        f"A: {last.words}",
        run=run,
    )


def _judge_anomaly(bench: Bench, answer: tuple[str, str]) -> ExerciseResult:
    from explorer.lab.interleave import outcome, serial_rows

    late, early = answer
    pair = [Operation(late, "snapshot"), Operation(early, "snapshot")]
    run = _run_order(bench, pair, "AABBBBBAAAAA")
    happened = outcome(run, "", serial_rows(bench, pair))
    verdict = f"an anomaly: {happened.anomaly}" if happened.anomaly else f"as if {' or '.join(happened.serial)}"
    return ExerciseResult(
        bool(happened.anomaly), f"A {run.writer('A').state}, B {run.writer('B').state}: {verdict}.", run=run
    )


_UPDATE = Operation("mor-update").validations
ISOLATION_LEVEL = Exercise(
    "A merge-on-read UPDATE (A) comes to commit after an append of a row that it matches (B). Under which "
    "isolation level does it commit?",
    _judge_isolation,
    "snapshot",
    ChoiceEntry(("serializable", "snapshot")),
    nudge="Serializable means: as if one had come after the other. Would the UPDATE, run second, see B's row?",
    look="the list of validations above: what validateNoConflictingDataFiles protects from.",
    reason="Under serializable isolation the engine requests validateNoConflictingDataFiles, which finds the "
    "appended row. Under snapshot isolation it does not: the UPDATE keeps to the rows of its base.",
    words=words("serializable", "snapshot"),
    needs_lab=True,
)
VALIDATION = Exercise(
    "Under serializable isolation that UPDATE is refused. Which one of its validations, switched off, lets it commit?",
    _judge_validation,
    "validateNoConflictingDataFiles",
    ChoiceEntry(_UPDATE),
    nudge="What did B add: data files or delete files?",
    look="the list of validations above: what each protects from.",
    reason="B added a data file with a matching row. The validation of conflicting data files alone looks for that.",
    words=words(*_UPDATE),
    needs_lab=True,
)
FORMAT_VERSION = Exercise(
    "Two merge-on-read DELETEs of one row begin from one base. In which format version is the second refused?",
    _judge_format_version,
    3,
    NumberEntry(),
    nudge="How many position delete files may a data file have in version 2, and how many deletion vectors in 3?",
    look="notebook 03, *Deletion vectors*; the format versions are 2 and 3.",
    reason="In version 3 a data file has at most one deletion vector. The second DELETE would replace the vector "
    "of "
    "the first without its rows, so Iceberg refuses it. In version 2 both delete files count.",
    needs_lab=True,
)
LOST_SWAPS = Exercise(
    "Three appends. Give an order of steps in which C loses two swaps and commits in the end. The steps of each "
    f"are {', '.join(STEPS)}; after a lost swap a writer applies again. What you leave out runs afterwards, A "
    "first.",
    _judge_lost_swaps,
    "CCCCAAAAACCC",
    StepsEntry("ABC", "C loses two swaps, and commits.", 12, partial(_state_so_far, THREE_APPENDS)),
    nudge="C loses a swap if somebody commits between its apply and its swap.",
    look="the picture of your order: which writer commits between C's apply and its swap?",
    reason="C is before its swap when A commits, so the swap is lost. C applies again and writes metadata; then B "
    "commits, and the second swap is lost, too.",
    needs_lab=True,
)
REPEATED_APPEND = Exercise(
    "One append. Give an order after which its row is there twice. A '?' after a step loses its answer, and '+' "
    "lets A begin again without looking.",
    _judge_repeated_append,
    "AAAAA?A+",
    StepsEntry("A", "the row is there twice.", 6, partial(_state_so_far, ONE_APPEND), marks="?+"),
    nudge="When has a commit happened though the writer does not know it?",
    look="the text on *Faults* above: what does a writer know whose answer was lost?",
    reason="The swap succeeded, and only its answer was lost. A writer that begins again without looking commits "
    "its row a second time.",
    needs_lab=True,
)
LOST_BASE = Exercise(
    "A deletes a row in merge-on-read, B appends, C expires all snapshots but the last. Give an order in which "
    "A is refused because the snapshot that it began from is gone.",
    _judge_expiry,
    "ABBBBBCCCCC",
    StepsEntry("ABC", "A is refused: its base is gone.", 11, partial(_state_so_far, EXPIRY)),
    nudge="A must have its base, and then the base must expire. When is it not the newest any more?",
    look="the picture of your order: what did C remove, and had A applied before?",
    reason="B's commit makes A's base an old snapshot, and C expires it. A validates from its base on, and cannot "
    "find it any more.",
    needs_lab=True,
)
ANOMALY = Exercise(
    "Under snapshot isolation, find two operations of which both commit, and the rows equal no serial order. The "
    "late one loads and writes first, and applies after the early one has committed.",
    _judge_anomaly,
    ("mor-delete", "mor-update"),
    RowsEntry(("late", "early"), (ChoiceEntry(CATALOGUED), ChoiceEntry(CATALOGUED))),
    nudge="A row that one changes, the other deletes. Which files does each look at?",
    look="docs/concurrency.md: pairs of row changes under snapshot isolation.",
    reason="The UPDATE hides the old row and writes a new one into a new file. The DELETE knows only the old file, "
    "so the updated row stays, though it was to be deleted.",
    words=words(*CATALOGUED),
    needs_lab=True,
)
EXERCISES = (ISOLATION_LEVEL, VALIDATION, FORMAT_VERSION, LOST_SWAPS, REPEATED_APPEND, LOST_BASE, ANOMALY)
"""The exercises of notebook 04, from reading the rules to breaking them."""
