"""Every order in which two writers can take the steps of a commit: each is run on real Iceberg, and its rows are held
against serial orders."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal

from explorer.errors import NotFoundInTable
from explorer.lab.sandbox import Bench
from explorer.lab.stepper import NAMES, Run
from explorer.progress import as_one_step
from explorer.spec.commits.lab_runs import Interleavings, Moment, Outcome, Rows, Standing
from explorer.spec.commits.operations import KINDS, SEES_TABLE, STEPS, Operation, StepName


def _phases(*last: StepName) -> tuple[tuple[str, int], ...]:
    """(phase, how many steps it takes) from the last step of each; a phase is called what its steps are."""
    names, ends = list(STEPS), [list(STEPS).index(step) + 1 for step in last]
    return tuple((", ".join(names[begin:end]), end - begin) for begin, end in zip([0, *ends], ends, strict=False))


PHASES: Mapping[int, tuple[tuple[str, int], ...]] = {
    2: _phases("write", "apply", "swap"),
    3: _phases("write", "swap"),
}
"""By the number of writers: each phase that matters to others, and how many steps it takes. The three phases of two
writers have 20 orders; the two of three, who apply when they swap, 90."""


def orders(writers: int) -> Iterator[str]:
    """Every distinct order of the phases, as names: AAABBB, AABABB..."""

    def rest(left: Mapping[str, int]) -> Iterator[str]:
        if not any(left.values()):
            yield ""
        for name, count in left.items():
            if count:
                yield from (name + tail for tail in rest({**left, name: count - 1}))

    return rest({NAMES[i]: len(PHASES[writers]) for i in range(writers)})


def play(bench: Bench, operations: Sequence[Operation], order: str, version: int = 2) -> tuple[Run, tuple[Moment, ...]]:
    """Let writers take whole phases in an order; what is left (retries) runs to its end afterwards."""
    run = Run(bench, operations, version)
    phases = PHASES[len(operations)]
    standings = {writer.name: Standing(writer.name) for writer in run.writers}
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
        standings[name] = Standing(name, standings[name].phases + 1, looked_at, word)
        moments.append(Moment(name, phase, tuple(standings.values()), commits))
    run.play("")
    return run, tuple(moments)


def serial_rows(bench: Bench, operations: Sequence[Operation], version: int = 2) -> dict[str, Rows]:
    """The rows after each serial order of each subset of the writers, by their names: '' is the table as it began. An
    order in which one of them cannot commit is left out."""
    by_order: dict[str, Rows] = {}
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
    """Run every order of the phases of two or three operations, each on a fresh table. `progress(done, total)` is
    called after each; when `cancelled()` the orders done so far are returned. Raises NotFoundInTable for another number
    of operations."""
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


def outcome(run: Run, order: str, serial: Mapping[str, Rows], moments: tuple[Moment, ...] = ()) -> Outcome:
    """What came of a run that is over."""
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
    return Outcome(order, tuple(states), rows, matching, anomaly, tuple(run.events), run.to_json(), moments)


def name_anomaly(rows: Rows, expected: Mapping[str, Rows], serial: Mapping[str, Rows]) -> str:
    """A name for rows that no serial order of the committed writers gives."""
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
