"""The lab of one session: a run whose writers are stepped, every order of their steps, and a race that is watched.

The run belongs to the session. When the session ends, the run ends with it; a page that has kept it plays it again."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from explorer.app.graph_state import MarkedState
from explorer.app.graphs import carry_out
from explorer.errors import NotInstalled, NotPossible, WrongUsage
from explorer.lab.catalogue import predict
from explorer.lab.interleave import interleave
from explorer.lab.observe import API
from explorer.lab.planning import rows_of
from explorer.lab.race import FAULTS, faults, race
from explorer.lab.sandbox import shared_bench
from explorer.lab.stepper import Run, read_saved_run, replay
from explorer.progress import as_one_step, is_cancelled, tell
from explorer.render.lab_runs import interleaving_rows, load_rows, race_svg, rows_words, sequence_svg
from explorer.render.text import clean, clean_lines
from explorer.serving.pools import CLICKS, ELSEWHERE, Pool
from explorer.spec.commits.commit import Decision
from explorer.spec.commits.lab_runs import Event, Interleavings, Lap
from explorer.spec.commits.operations import (
    ISOLATION,
    NO_ISOLATION,
    PROTECTS,
    TAKE_PART,
    Operation,
    default_isolation,
    operation_title,
)
from explorer.spec.text.names import base_name

MAX_LANES = 3
MAX_RACERS, MAX_COMMITS = 16, 200
RACES = Pool("races", 1, 1)
"""One race at a time in this process: the machine is shared."""
AT_ONCE = frozenset({"choices", "state", "laps"})
"""Actions that wait for nothing."""


def pool_of(action: str) -> Pool:
    """Return where an action is carried out."""
    return CLICKS if action in AT_ONCE else RACES if action in ("race", "faults") else ELSEWHERE


def choices() -> dict[str, Any]:
    """Return what forms offer: operations with their engines and validations, what these protect, and operations of the
    table API."""
    operations = [
        {
            "name": kind, "title": operation_title(kind), "engines": list(traits.engines), "reads": traits.reads,
            "validations": list(Operation(kind).available_validations),
            "usual": {level: list(Operation(kind, level).validations) for level in (*ISOLATION, NO_ISOLATION)},
            "isolation": default_isolation(kind, {}),
        }
        for kind, traits in TAKE_PART.items()
    ]  # fmt: skip
    api = [{"name": name, "title": title} for name, (title, _) in API.items()]
    return {"operations": operations, "isolation": list(ISOLATION), "protects": dict(PROTECTS), "api": api}


@dataclass
class _Known:
    """What is known of the run that is shown. `refusals` were found when their writers were refused."""

    run: Run
    graph: MarkedState
    shown: dict[str, Any] = field(default_factory=dict)
    refusals: dict[str, Decision] = field(default_factory=dict)


class Lab:
    """The lab of one session. One action that changes the run is carried out at a time, completely."""

    def __init__(self) -> None:
        self._alone = threading.Lock()
        self._known: _Known | None = None
        self._orders: Interleavings | None = None
        self._laps: list[Lap] = []
        self._racers = 0

    def act(self, action: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Carry out an action.

        Args:
            action: `choices`, `state`, `new`, `step`, `replay`, `orders`, `race`, `faults` or `laps`.
            arguments: What it takes, as JSON.

        Returns:
            What the page shows then, as JSON: a run, the orders, or a race.

        Raises:
            WrongUsage: There is no such action, or an argument is missing or of another type.
            ExplorerError: Iceberg, Spark or the run refuses it.
        """
        actions: dict[str, Callable[[Mapping[str, Any]], dict[str, Any]]] = {
            "choices": lambda _: choices(), "state": lambda _: self._state(), "new": self._new, "step": self._step,
            "replay": self._replay, "orders": self._every_order, "race": self._race, "faults": self._faults,
            "laps": lambda _: self._race_so_far(),
        }  # fmt: skip
        if action not in actions:
            raise WrongUsage(f"the lab has no action {action[:40]!r}")
        return actions[action](arguments)

    def draw(self, action: Mapping[str, Any]) -> MarkedState | None:
        """Return the graph of the run, with what is not committed, after an action on it; None where there is no run,
        or where nothing came of the action."""
        kept = self._known
        if kept is None or not action:
            return kept.graph if kept else None
        before = kept.graph
        later = carry_out(before, action)
        if not isinstance(later, MarkedState):
            return None
        if kept.graph is before:  # else a step was taken meanwhile
            kept.graph = later
        return kept.graph

    def close(self) -> None:
        """End the run, after what is under way."""
        with self._alone:
            self._end_run()

    # -- the run ------------------------------------------------------------------------------------------------------
    def _state(self) -> dict[str, Any]:
        return {"run": self._known.shown if self._known else None}

    def _new(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        operations, version = _operations(arguments), _version(arguments)
        return self._begin(lambda: Run(shared_bench(), operations, version))

    def _replay(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        saved, order = arguments.get("saved", ""), arguments.get("order", "")
        if order:
            found = [one.saved for one in self._orders.outcomes if one.order == order] if self._orders else []
            if not found:
                raise NotPossible("the orders are gone: run them again")
            saved = found[0]
        if not isinstance(saved, str) or not saved:
            raise WrongUsage("replay takes the text of a saved run, or one of the orders that were run")
        read_saved_run(saved)  # a wrong one is told before Spark starts and before the run that is shown ends
        return self._begin(lambda: replay(shared_bench(), saved))

    def _begin(self, make: Callable[[], Run]) -> dict[str, Any]:
        """Show another run. The one before is dropped."""
        with self._alone:
            self._end_run()
            run = make()
            table, marks = run.table_with_uncommitted_work()
            self._known = _Known(run, MarkedState(table, marks=marks))
            return self._look(self._known)

    def _step(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        token = arguments.get("token")
        if not isinstance(token, str) or not token:
            raise WrongUsage("a step is that of a writer: A, A! (killed), A? (its answer is lost), A+ (again)")
        with self._alone, as_one_step():
            if self._known is None:
                raise NotPossible("there is no run: begin one")
            self._known.run.step(token)
            return self._look(self._known)

    def _end_run(self) -> None:
        kept, self._known = self._known, None
        if kept is None or kept.run.bench.engine.is_lost:
            return
        if kept.run.bench is shared_bench():  # else Spark was restarted, and it is gone
            kept.run.close()

    def _look(self, kept: _Known) -> dict[str, Any]:
        """Work out what a page shows of the run."""
        run, table = kept.run, kept.run.table()
        planned = [w for w in run.writers if w.plan is not None and w.table_name == run.name]
        for writer in planned:
            if writer.state == "refused" and writer.name not in kept.refusals:
                kept.refusals[writer.name] = predict(run, table, writer.name)
        waiting = [w.name for w in planned if w.state in ("apply", "metadata", "swap")]
        marked, marks = run.table_with_uncommitted_work(table)
        against = {i for d in kept.refusals.values() for c in d.conflicts for i in (c.snapshot_id, *c.files)}
        later = kept.graph.copied()
        later.show(marked, replace(marks, conflicts=against))
        kept.graph = later
        left = [(m.writer, m.path) for m in marks.loose if m.mark == "orphan"]
        left += [(writer, path) for path, writer in marks.paths.items() if writer in marks.gone]
        kept.shown = {
            "version": run.version,
            "said": clean(f"{run.events[-1].writer} {run.events[-1].words}") if run.events else "",
            "lanes": [
                {
                    "name": w.name, "operation": w.operation.kind, "words": str(w.operation), "state": w.state,
                    "over": w.over, "reads": w.operation.what.reads,
                }
                for w in run.writers
            ],
            "picture": sequence_svg(run.events, run.writers),
            "rows": [list(map(str, row)) for row in rows_of(table)],
            "loads": load_rows(run.writers),
            "predictions": [_decision(name, predict(run, table, name)) for name in waiting],
            "refusals": [_decision(name, why) for name, why in kept.refusals.items()],
            "left": [{"writer": writer, "file": clean(base_name(path))} for writer, path in left],
            "steps": [_event(event) for event in run.events],
            "saved": run.to_json(),
        }  # fmt: skip
        return {"run": kept.shown}

    # -- every order --------------------------------------------------------------------------------------------------
    def _every_order(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        operations, version = _operations(arguments), _version(arguments)
        if not 2 <= len(operations) <= MAX_LANES or any(one.what.reads for one in operations):
            raise WrongUsage("every order is run of two or three writers, without readers")
        with self._alone:
            orders = interleave(
                shared_bench(), operations, lambda done, total: tell(done, total, "orders"), is_cancelled, version
            )
        self._orders = orders
        summary = [f"{number:,} × {what}" for what, number in orders.summary().items()]
        try:
            from explorer.render.state_graph import state_svg

            picture = state_svg(orders)
        except NotInstalled as error:  # the orders are known without it
            picture, summary = "", [*summary, f"No picture: {error}"]
        return {
            "summary": summary,
            "picture": picture,
            "orders": interleaving_rows(orders),
            "serial": [{"order": order or "none", "rows": rows_words(rows)} for order, rows in orders.serial.items()],
        }

    # -- races --------------------------------------------------------------------------------------------------------
    def _race(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        writers = _number(arguments, "writers", MAX_RACERS)
        commits = _number(arguments, "commits", MAX_COMMITS)
        laps: list[Lap] = []
        self._laps, self._racers = laps, writers * commits

        def add(lap: Lap) -> None:
            laps.append(lap)
            tell(lap.acknowledged, writers * commits, "commits")

        tally = race(writers, commits, add, is_cancelled)
        kept = tally.acknowledged == tally.snapshots == tally.rows
        verdict = "nothing is missing, and nothing else is there" if kept else "they differ"
        words = (
            f"{tally.acknowledged:,} commits were acknowledged; there are {tally.snapshots:,} snapshots and "
            f"{tally.rows:,} rows: {verdict}. {tally.commits_per_second:.1f} commits a second; {tally.retries:,} swaps "
            f"lost, {tally.failures:,} commits failed, {tally.orphans:,} files left behind."
        )
        return {**self._race_so_far(), "words": words}

    def _race_so_far(self) -> dict[str, Any]:
        laps = list(self._laps)
        if not laps:
            return {"words": "", "picture": ""}
        lap = laps[-1]
        speed = lap.acknowledged / lap.seconds if lap.seconds else 0.0
        words = (
            f"{lap.acknowledged:,} of {self._racers:,} commits in {lap.seconds:.0f} s ({speed:.1f} a second); "
            f"{lap.retries:,} swaps lost, {lap.failures:,} commits failed."
        )
        return {"words": words, "picture": race_svg(laps, self._racers)}

    def _faults(self, _: Mapping[str, Any]) -> dict[str, Any]:
        met = faults(progress=lambda done, total: tell(done, total, "faults"))
        lost = sum(one.acknowledged > one.committed for one in met)
        unclean = sum(not one.opens_clean for one in met)
        rows = [
            {
                "writer": one.writer, "fault": FAULTS[one.fault], "it was told": clean_lines(one.told),
                "acknowledged": str(one.acknowledged), "committed": str(one.committed),
                "left behind": clean_lines("\n".join(one.left_behind)) or "nothing",
                "opens without problems": "yes" if one.opens_clean else "no",
            }
            for one in met
        ]  # fmt: skip
        words = (
            f"Acknowledged commits that are lost: {lost}. Tables that do not open without problems: {unclean}. A "
            "commit that was not acknowledged may be there all the same: a writer that got no answer must look."
        )
        return {"words": words, "rows": rows}


def _decision(writer: str, decision: Decision) -> dict[str, str]:
    return {"writer": writer, "outcome": decision.outcome, "words": clean(decision.words)}


def _event(event: Event) -> dict[str, Any]:
    files = [*event.files, *(f"removed {path}" for path in event.removed)]
    return {
        "n": event.n, "writer": event.writer, "step": event.step, "outcome": event.outcome,
        "words": clean_lines(event.words), "files": [clean(file) for file in files],
    }  # fmt: skip


def _operations(arguments: Mapping[str, Any]) -> list[Operation]:
    """Return what the lanes of a request are to do. Raises WrongUsage, and NotFoundInTable for what there is not."""
    lanes, isolation = arguments.get("lanes"), arguments.get("isolation", "serializable")
    if not isinstance(lanes, list) or not 1 <= len(lanes) <= MAX_LANES:
        raise WrongUsage(f"a run has one to {MAX_LANES} lanes")
    operations = []
    for lane in lanes:
        given = lane if isinstance(lane, dict) else {}
        kind, engine, chosen = given.get("operation"), given.get("engine", "java"), given.get("validations")
        if not all(isinstance(text, str) for text in (kind, engine, isolation)):
            raise WrongUsage("a lane has an operation and an engine")
        if chosen is not None and not (isinstance(chosen, list) and all(isinstance(one, str) for one in chosen)):
            raise WrongUsage("the validations of a lane are a list of their names")
        operation = Operation(str(kind), str(isolation), str(engine))
        operation.check()
        if chosen is not None and set(chosen) != set(operation.validations):
            operation = replace(operation, chosen=tuple(dict.fromkeys(chosen)))
            operation.check()
        operations.append(operation)
    return operations


def _version(arguments: Mapping[str, Any]) -> int:
    version = arguments.get("version", 2)
    if version not in (2, 3) or isinstance(version, bool):
        raise WrongUsage("the format version is 2 or 3")
    return int(version)


def _number(arguments: Mapping[str, Any], name: str, most: int) -> int:
    number = arguments.get(name)
    if not isinstance(number, int) or isinstance(number, bool) or not 1 <= number <= most:
        raise WrongUsage(f"{name} is a number from 1 to {most}")
    return number
