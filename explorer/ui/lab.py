"""The commit lab on the dashboard: writers stepped one by one, their sequence diagram, what they staged in the graph,
and all orders."""

from __future__ import annotations

import functools
import io
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any

import pandas as pd
import panel as pn
import panel_material_ui as pmui

from explorer.core.commit import Decision
from explorer.core.names import base_name
from explorer.core.operations import ISOLATION, KINDS, Operation
from explorer.core.runs import Interleavings
from explorer.engines.spark import shared_engine
from explorer.graphs.uncommitted import Uncommitted
from explorer.lab.bench import Bench
from explorer.lab.catalogue import predicted
from explorer.lab.interleave import interleave
from explorer.lab.planning import rows_of
from explorer.lab.stepper import NAMES, Run, replay
from explorer.table import Table
from explorer.ui.background import in_background
from explorer.ui.changes import LiveTabs, lazy_tabs
from explorer.ui.conflict import conflict_view, switched_on, validation_switches
from explorer.ui.observe import ObservePanel
from explorer.ui.pane import GraphPane
from explorer.ui.race import RacePanel
from explorer.ui.rows import SMALL
from explorer.ui.state import MarkedState
from explorer.ui.widgets import grid, heading, note, picture
from explorer.views.labviews import interleaving_rows, rows_words, sequence_svg
from explorer.views.stategraph import state_svg

_BENCH = threading.Lock()
NOBODY = ""
STEP_MS = 700
WRAP = {"flex-wrap": "wrap", "width": "100%"}
"""A row that breaks where the page is narrow. (Panel's FlexBox evaluates text as a script, which our pages may not.)"""
FAULTS = {"none": "", "kill it": "!", "lose the answer to its swap": "?", "begin again without looking": "+"}


@functools.cache
def _bench_of(session: Any) -> Bench:
    return Bench(shared_engine())


def bench() -> Bench:
    """The bench of this process; a new one when Spark was restarted."""
    with _BENCH:
        return _bench_of(shared_engine().session())


def lab_view(table: Any, changed: Callable[[Any], None], opened: Callable[[str], None], writes: bool) -> Any:
    """Writers on a bench of their own; one statement, observed, on the table that is open; would a commit to it
    succeed; and races. `changed(table)` and `opened(name)` tell of a commit to the open table, and of a table that was
    made. Without `writes` only what reads is offered."""
    if not writes:
        off = heading("This server does not run the lab's writers and statements (serve with --allow-lab).")
        return pn.Column(off, conflict_view(table), sizing_mode="stretch_both")
    return lazy_tabs(
        {
            "Writers, step by step": lambda: LabPanel().view(),
            "One statement": lambda: ObservePanel(table, changed, opened).view(),
            "Explain a conflict": lambda: conflict_view(table),
            "Race and faults": lambda: RacePanel().view(),
        }
    )


def _choices() -> dict[str, str]:
    """What a writer may do, in words, to `kind@engine`."""
    return {
        kind.title + (f", by {e}" if e != "java" else ""): f"{name}@{e}"
        for name, kind in KINDS.items()
        for e in kind.engines
    }


@dataclass
class Look:
    """A run as it is after a step: worked out on the lab's thread, shown on the page's."""

    run: Run
    rows: list[tuple[int, str, str]]
    table: Table
    marks: Uncommitted
    would: dict[str, Decision]
    why: dict[str, Decision] = field(default_factory=dict)

    @classmethod
    def of(cls, run: Run, why: dict[str, Decision]) -> Look:
        """Look at a run; `why` holds the reasons of refusals that were found before."""
        table = run.table()
        waiting = [w for w in run.writers if w.plan is not None and w.state in ("apply", "metadata", "swap")]
        refused = [w for w in run.writers if w.plan is not None and w.state == "refused" and w.name not in why]
        why = why | {w.name: predicted(run, table, w.name) for w in refused}
        shown, marks = run.drawn(table)
        against = {found for d in why.values() for c in d.conflicts for found in (c.snapshot_id, *c.files)}
        would = {w.name: predicted(run, table, w.name) for w in waiting}
        return cls(run, rows_of(table), shown, replace(marks, conflicts=against), would, why)


class LabPanel:
    """One viewer's lab. Work goes to a thread of its own, one piece at a time; the page polls."""

    def __init__(self) -> None:
        self.run: Run | None = None
        self.state: MarkedState | None = None
        self._seen: Look | None = None
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="lab")
        self._stop = threading.Event()
        self._progress = ""
        self._playing = False
        self.writers = [
            pmui.Select(label=f"writer {n}", options=_choices(), value="append@java", width=224, **SMALL)
            for n in NAMES[:2]
        ]
        third = {"nobody": NOBODY, **_choices()}
        self.writers.append(pmui.Select(label="writer C", options=third, value=NOBODY, width=224, **SMALL))
        self.isolation = pmui.Select(
            label="isolation", options=list(ISOLATION), value="serializable", width=132, **SMALL
        )
        versions = {"2: delete files": 2, "3: deletion vectors": 3}
        self.version = pmui.Select(label="format version", options=versions, value=2, width=150, **SMALL)
        self.fault = pmui.Select(
            label="fault at the next step", options=FAULTS, value="", width=190, size="small", margin=(8, 6)
        )
        look: dict[str, Any] = {"variant": "outlined", "margin": (8, 4)}
        self.reset = pmui.Button(label="New run", variant="contained", width=105, margin=(8, 4, 8, 10))
        self.steps = [
            pmui.Button(label=f"Step {n}", width=88, disabled=True, visible=n != "C", **look) for n in NAMES[:3]
        ]
        self.play = pmui.Button(label="Play", width=88, disabled=True, **look)
        self.orders = pmui.Button(label="All orders", width=115, **look)
        self.cancel = pmui.Button(label="Cancel", width=90, visible=False, **look)
        words = (
            "Each writer is a real operation on a small table of its own: load, write, apply, metadata, swap. "
            "New run begins anew."
        )
        self.status = note(words)
        self.box = pn.Column(sizing_mode="stretch_both", scroll=True)
        self.saved = pmui.FileInput(label="Replay a run", accept=".json", variant="outlined", width=145, margin=(8, 4))
        self.checks = [pn.Column(width=520) for _ in self.writers]
        self.validations = pn.Row(*self.checks, visible=False)
        self.switches = pmui.Button(label="Validations", width=125, **look)
        self.switches.on_click(lambda _: setattr(self.validations, "visible", not self.validations.visible))
        self._parts()
        self.reset.on_click(lambda _: self._new())
        for name, button in zip(NAMES, self.steps, strict=False):
            button.on_click(functools.partial(self._clicked_step, name))
        self.play.on_click(lambda _: self._toggle_play())
        self.orders.on_click(lambda _: self._all_orders())
        self.cancel.on_click(lambda _: self._stop.set())
        self.saved.param.watch(lambda event: self._replay(event.new), "value")
        for control in (*self.writers, self.isolation):
            control.param.watch(lambda _: self._offer_checks(), "value")
        self._offer_checks()

    def _parts(self) -> None:
        """What a run is shown in; each step changes it in place."""
        self.picture = picture("", margin=(4, 10))
        self.side = pn.Column(width=370)
        self.graph = GraphPane(sizing_mode="stretch_both", min_height=440)
        self.table = grid(
            pd.DataFrame(),
            {"n": 40, "writer": 65, "step": 80, "outcome": 90, "what": 480, "files, in order": 430},
            wrapped=("what", "files, in order"),
        )
        look: dict[str, Any] = {"label": "Save this run", "variant": "outlined", "width": 150}
        saved = pmui.FileDownload(callback=lambda: io.BytesIO(self._saved()), filename="run.json", **look)
        self.tabs = LiveTabs(
            {
                "Sequence": (
                    pn.Row(self.picture, pn.Column(self.side, saved, width=380), sizing_mode="stretch_both"),
                    self._show_sequence,
                ),
                "Graph, with what is not committed": (self.graph, self._show_graph),
                "Steps and files": (self.table, self._show_steps),
            }
        )

    def view(self) -> Any:
        """The panel. With the page goes the run."""
        if pn.state.curdoc:
            pn.state.on_session_destroyed(self._end)
        return pn.Column(
            pn.Row(*self.writers, self.isolation, self.version, styles=WRAP),
            pn.Row(
                self.reset,
                *self.steps,
                self.play,
                self.fault,
                self.orders,
                self.cancel,
                self.switches,
                self.saved,
                styles=WRAP,
            ),
            self.validations,
            self.status,
            self.box,
            sizing_mode="stretch_both",
        )

    def _end(self, _: Any) -> None:
        if self.run is not None:
            self._worker.submit(self.run.close)

    # -- what is chosen -----------------------------------------------------------------------------------------------
    def _chosen(self) -> list[tuple[str, str]]:
        """(kind, engine) of each writer that takes part."""
        return [tuple(w.value.split("@")) for w in self.writers if w.value]  # type: ignore[misc]

    def _offer_checks(self) -> None:
        """One switch for each validation that a writer's operation offers, set as its engine sets it."""
        chosen = self._chosen()
        for i, box in enumerate(self.checks):
            box[:] = []
            if i >= len(chosen):
                continue
            kind, engine = chosen[i]
            box.append(heading(f"writer {NAMES[i]}: {KINDS[kind].title}"))
            switches = validation_switches(Operation(kind, self.isolation.value, engine), 510)
            box.append(switches or note("no validations to set", margin=(2, 10)))

    def _operations(self) -> list[Operation]:
        found = []
        for (kind, engine), box in zip(self._chosen(), self.checks, strict=False):
            usual = Operation(kind, self.isolation.value, engine)
            groups = [g for g in box.objects if isinstance(g, pn.widgets.CheckBoxGroup)]
            checks = switched_on(groups[0]) if groups else usual.validations
            found.append(
                usual if checks == usual.validations else Operation(kind, self.isolation.value, engine, checks)
            )
        return found

    # -- what is done -------------------------------------------------------------------------------------------------
    def _background(self, work: Callable[[], Any], done: Callable[[Any], None], words: str) -> None:
        for button in (self.reset, *self.steps, self.orders):
            button.disabled = True
        self.play.disabled = not self._playing
        self._progress = ""
        self.status.object = words

        def waiting() -> None:
            spark = shared_engine().state
            self.status.object = words + (f" {self._progress}" if spark.phase == "ready" else f" ({spark})")

        def ended() -> None:
            self.reset.disabled = self.orders.disabled = False
            self.cancel.visible = False
            self._enable()

        def failed(reason: str) -> None:
            self._playing = False
            self.status.object = f"⚠ {reason}"
            self._enable()

        in_background(self._worker, work, done, failed, ended, waiting, period=150)

    def _enable(self) -> None:
        writers = self.run.writers if self.run else []
        for i, button in enumerate(self.steps):
            button.disabled = i >= len(writers) or writers[i].over or self._playing
            button.visible = i < max(2, len(writers))
        self.play.disabled = all(w.over for w in writers)
        self.play.label = "Pause" if self._playing else "Play"

    def _begin(self, make: Callable[[], Run], words: str) -> None:
        old, self.run, self._seen, self._playing = self.run, None, None, False

        def work() -> Look:
            if old is not None and old.bench is bench():
                old.close()
            return Look.of(make(), {})

        self._background(work, self._show, words)

    def _new(self) -> None:
        operations, version = self._operations(), self.version.value
        self._begin(lambda: Run(bench(), operations, version), "A fresh table…")

    def _replay(self, data: Any) -> None:
        if data:
            self._begin(lambda: replay(bench(), bytes(data).decode(errors="replace")), "Replaying…")

    def _clicked_step(self, name: str, _: Any) -> None:
        self._step(name)

    def _step(self, name: str) -> None:
        run, token, why = self.run, name + self.fault.value, self._seen.why if self._seen else {}
        self.fault.value = ""
        if run is None:
            return

        def work() -> Look:
            run.step(token)
            return Look.of(run, why)

        self._background(work, self._show, "Working…")

    def _toggle_play(self) -> None:
        self._playing = not self._playing
        self._enable()
        if self._playing:
            self._next()

    def _next(self) -> None:
        """The next step of a run that plays: the writers take turns."""
        run = self.run
        if run is None or not self._playing:
            return
        waiting = [w.name for w in run.writers if not w.over]
        if not waiting:
            self._playing = False
            self._enable()
            return
        last = run.events[-1].writer if run.events else ""
        self._step(next((n for n in waiting if n > last), waiting[0]))

    def _saved(self) -> bytes:
        return self.run.to_json().encode() if self.run else b"{}"

    # -- what is shown ------------------------------------------------------------------------------------------------
    def _show(self, seen: Look) -> None:
        run = self.run = seen.run
        last = run.events[-1] if run.events else None
        said = (
            f"{last.writer} {last.words}"
            if last
            else "Three rows in two files, each of a snapshot of its own. Step a writer."
        )
        waiting = [f"{w.name}: {w.state if w.over else 'next ' + w.state}" for w in run.writers]
        self.status.object = f"{said}  ({'; '.join(waiting)})"
        self._seen = seen
        if self.box.objects != [self.tabs.tabs]:
            self.box[:] = [self.tabs.tabs]
        self.tabs.changed()
        self._enable()
        if self._playing:
            pn.state.add_periodic_callback(self._next, period=STEP_MS, count=1)

    def _show_sequence(self) -> None:
        seen = self._seen
        if seen is None:
            return
        drawn = sequence_svg(seen.run.events, seen.run.writers)
        self.picture.object = f'<div style="overflow:auto">{drawn}</div>'
        rows = pd.DataFrame([{"id": i, "v": v, "p": p} for i, v, p in seen.rows])
        side: list[Any] = [heading("Rows now"), grid(rows, {"v": 140}, height=200)]
        for title, decisions in (("If {} went on now", seen.would), ("Why {} was refused", seen.why)):
            for name, decision in decisions.items():
                side += [heading(title.format(name)), note(decision.words, margin=(0, 10))]
        orphans = [
            {"writer": m.writer, "left behind by it": base_name(m.path)} for m in seen.marks.loose if m.mark == "orphan"
        ]
        orphans += [
            {"writer": w, "left behind by it": base_name(p)}
            for p, w in seen.marks.paths.items()
            if w in seen.marks.gone
        ]
        if orphans:
            side += [heading("Orphans"), grid(pd.DataFrame(orphans), {"left behind by it": 290}, height=170)]
        self.side[:] = side

    def _show_graph(self) -> None:
        seen = self._seen
        if seen is None:
            return
        if self.state is None:
            self.state = MarkedState(seen.table, marks=seen.marks)
        self.state.show(seen.table, seen.marks)
        self.graph.draw(self.state)

    def _show_steps(self) -> None:
        steps = [
            {
                "n": e.n, "writer": e.writer, "step": e.step, "outcome": e.outcome, "what": e.words,
                "files, in order": "\n".join([*e.files, *(f"removed {f}" for f in e.removed)]),
            }
            for e in reversed(self._seen.run.events if self._seen else [])
        ]  # fmt: skip
        self.table.value = pd.DataFrame(steps)

    def _all_orders(self) -> None:
        operations, version = self._operations(), self.version.value
        self._stop.clear()
        self.cancel.visible = True

        def work() -> tuple[Interleavings, str]:
            def tell(done: int, total: int) -> None:
                self._progress = f"{done} of {total}"

            found = interleave(bench(), operations, tell, self._stop.is_set, version)
            return found, state_svg(found)

        self._background(work, lambda found: self._show_orders(*found), "Running every order on Iceberg…")

    def _show_orders(self, found: Interleavings, drawn: str) -> None:
        summary = (
            "; ".join(f"{n} × {words}" for words, n in found.summary().items())
            or "cancelled before the first order was done"
        )
        self.status.object = f"{len(found.outcomes)} orders: {summary}"
        table = grid(
            pd.DataFrame(interleaving_rows(found)),
            {"order": 90, "outcomes": 190, "rows": 420, "equals": 90, "anomaly": 140},
        )

        def clicked(event: Any) -> None:
            self._replay(found.outcomes[event.row].saved.encode())

        table.on_click(clicked)
        ends = [{"serial order": o or "(none)", "rows": rows_words(r)} for o, r in found.serial.items()]
        words = "Each order of what the writers do, and which serial order its rows equal. Click one to replay it."
        self.box[:] = [
            lazy_tabs(
                {
                    "State graph": lambda: picture(f'<div style="overflow:auto">{drawn}</div>', margin=(4, 10)),
                    "Orders": lambda: pn.Column(heading(words), table, sizing_mode="stretch_both"),
                    "Serial orders": lambda: grid(pd.DataFrame(ends), {"rows": 520}),
                }
            )
        ]
