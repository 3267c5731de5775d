"""Every order in which two or three writers can take the steps of a commit. Each order runs on real Iceberg; its rows
are compared with those of serial orders."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal

from explorer.errors import NotFoundInTable
from explorer.lab.sandbox import Bench
from explorer.lab.stepper import NAMES, Run
from explorer.progress import as_one_step
from explorer.spec.commits.lab_runs import Interleavings, LabRows, OrderOutcome, OrderPoint, WriterProgress
from explorer.spec.commits.operations import KINDS, SEES_TABLE, STEPS, Operation, StepName


def _phases(*last: StepName) -> tuple[tuple[str, int], ...]:
    """Phases that end at these steps: (name, number of steps). The name lists the steps of the phase."""
    names, ends = list(STEPS), [list(STEPS).index(step) + 1 for step in last]
    return tuple((", ".join(names[begin:end]), end - begin) for begin, end in zip([0, *ends], ends, strict=False))


PHASES: Mapping[int, tuple[tuple[str, int], ...]] = {
    2: _phases("write", "apply", "swap"),
    3: _phases("write", "swap"),
}
"""For two and three writers: the phases that matter to other writers, and the number of steps in each. Two writers with
three phases have 20 orders. Three writers with two phases, which apply and swap in one, have 90."""


def orders(writers: int) -> Iterator[str]:
    """Every distinct order of the phases, as names of writers: AAABBB, AABABB..."""

    def rest(left: Mapping[str, int]) -> Iterator[str]:
        if not any(left.values()):
            yield ""
        for name, count in left.items():
            if count:
                yield from (name + tail for tail in rest({**left, name: count - 1}))

    return rest({NAMES[i]: len(PHASES[writers]) for i in range(writers)})


def play(
    bench: Bench, operations: Sequence[Operation], order: str, version: int = 2
) -> tuple[Run, tuple[OrderPoint, ...]]:
    """Let writers take complete phases in an order. Afterwards the remaining steps (retries) run to their end."""
    run = Run(bench, operations, version)
    phases = PHASES[len(operations)]
    standings = {writer.name: WriterProgress(writer.name) for writer in run.writers}
    commits, moments = "", []
    for name in order:
        phase, steps = phases[standings[name].phases]
        looked_at, ended = standings[name].looked_at, ""
        for _ in range(steps):
            if run.writer(name).over:
                break
            event = run.step(name)
            if event.step in SEES_TABLE:
                looked_at = (*looked_at, commits)
            if event.outcome in ("committed", "lost", "refused"):
                ended = event.outcome
            if event.outcome == "committed":
                commits += name
        word = ended or (standings[name].word if run.writer(name).over else phase)
        standings[name] = WriterProgress(name, standings[name].phases + 1, looked_at, word)
        moments.append(OrderPoint(name, phase, tuple(standings.values()), commits))
    run.play("")
    return run, tuple(moments)


def serial_rows(bench: Bench, operations: Sequence[Operation], version: int = 2) -> dict[str, LabRows]:
    """The rows after each serial order of each subset of the writers. The key is the writers' names in order; '' is the
    table without any. Orders in which a writer cannot commit are missing."""
    by_order: dict[str, LabRows] = {}
    names = NAMES[: len(operations)]
    for size in range(len(names) + 1):
        for order in itertools.permutations(names, size):
            run = Run(bench, operations, version)
            for name in order:
                while not run.writer(name).over:
                    run.step(name)
            if all(run.writer(name).state == "committed" for name in order):
                by_order["".join(order)] = tuple(run.rows())
            run.close()
    return by_order


def interleave(
    bench: Bench,
    operations: Sequence[Operation],
    progress: Callable[[int, int], Any] = lambda *_: None,
    cancelled: Callable[[], bool] = lambda: False,
    version: int = 2,
) -> Interleavings:
    """Run every order of the phases of two or three operations, each on a fresh table. Call `progress(done, total)`
    after each. If `cancelled()`, return the orders that are done. Raises NotFoundInTable for another number of
    operations."""
    if len(operations) not in PHASES or not all(o.kind in KINDS for o in operations):
        raise NotFoundInTable("an interleaving takes two or three operations that commit to one table, and no reader")
    wanted = list(orders(len(operations)))
    with as_one_step():
        serial = serial_rows(bench, operations, version)
    outcomes = []
    for i, order in enumerate(wanted, 1):
        if cancelled():
            break
        with as_one_step():
            run, moments = play(bench, operations, order, version)
            outcomes.append(outcome(run, order, serial, moments))
            run.close()
        progress(i, len(wanted))
    return Interleavings(tuple(operations), tuple(outcomes), serial)


def outcome(run: Run, order: str, serial: Mapping[str, LabRows], moments: tuple[OrderPoint, ...] = ()) -> OrderOutcome:
    """The outcome of a run that is over."""
    states: list[Literal["committed", "retried", "refused"]] = []
    for writer in run.writers:
        lost = any(e.writer == writer.name and e.outcome == "lost" for e in run.events)
        states.append("refused" if writer.state == "refused" else "retried" if lost else "committed")
    rows = tuple(run.rows())
    committed = sorted(w.name for w in run.writers if w.state == "committed")
    matching = tuple(o for o, expected in serial.items() if sorted(o) == committed and expected == rows)
    anomaly = (
        "" if matching else name_anomaly(rows, {o: r for o, r in serial.items() if sorted(o) == committed}, serial)
    )
    return OrderOutcome(order, tuple(states), rows, matching, anomaly, tuple(run.events), run.to_json(), moments)


def name_anomaly(rows: LabRows, expected: Mapping[str, LabRows], serial: Mapping[str, LabRows]) -> str:
    """A name for the anomaly if no serial order of the committed writers gives these rows."""
    counts = Counter(r[0] for r in rows)
    most: Counter[int] = Counter()
    for serial_order in expected.values():
        most |= Counter(r[0] for r in serial_order)
    if any(counts[i] > most[i] for i in counts if most[i] == 0):
        return "resurrected rows"
    if any(counts[i] > most[i] for i in counts):
        return "duplicated rows"
    if any(r == rows for o, r in serial.items() if o and o not in expected):
        return "lost update"
    return "write skew"
