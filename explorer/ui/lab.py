"""The commit lab on the dashboard: writers stepped one by one, their sequence diagram, what they staged in the graph,
and all orders."""

from __future__ import annotations

import functools
import io
import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import pandas as pd
import panel as pn
import panel_material_ui as pmui

from explorer.app.graph_state import MarkedState
from explorer.graph.uncommitted import Uncommitted
from explorer.lab.catalogue import predict
from explorer.lab.planning import rows_of
from explorer.lab.sandbox import shared_bench
from explorer.lab.stepper import NAMES, Run, replay
from explorer.render.lab_runs import load_rows, sequence_svg
from explorer.serving.pools import ELSEWHERE
from explorer.spec.commits.commit import Decision
from explorer.spec.text.names import base_name
from explorer.table import Table
from explorer.ui.background import Job
from explorer.ui.orders import Orders, every_order, orders_view
from explorer.ui.pane import GraphPane
from explorer.ui.visitors import submit
from explorer.ui.widgets import WRAP, LiveTabs, grid, heading, note, picture, upload
from explorer.ui.writers import Writers

STEP_MS = 700
DIAGRAM, SIDE = 560, 390
"""Pixels that a run's diagram has at least beside what is told of it; where there are fewer, it stands above."""
FAULTS = {"none": "", "kill it": "!", "lose the answer to its swap": "?", "begin again without looking": "+"}


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
        """Look at a run; `why` holds the reasons of refusals that were known before."""
        table = run.table()
        planned = [w for w in run.writers if w.plan is not None and w.table_name == run.name]
        waiting = [w for w in planned if w.state in ("apply", "metadata", "swap")]
        refused = [w for w in planned if w.state == "refused" and w.name not in why]
        why = why | {w.name: predict(run, table, w.name) for w in refused}
        shown, marks = run.table_with_uncommitted_work(table)
        against = {item for d in why.values() for c in d.conflicts for item in (c.snapshot_id, *c.files)}
        would = {w.name: predict(run, table, w.name) for w in waiting}
        return cls(run, rows_of(table), shown, replace(marks, conflicts=against), would, why)


class LabPanel:
    """One viewer's lab: one piece of work at a time, off the page's thread."""

    def __init__(self) -> None:
        self.run: Run | None = None
        self.state: MarkedState | None = None
        self._look: Look | None = None
        self._alone = threading.Lock()
        self._playing = False
        self._then: Callable[[], None] | None = None
        self.writers = Writers()
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
        caption = (
            "Each writer is a real operation on a small table of its own: load, write, apply, metadata, swap; "
            "a reader loads, plans and reads. New run begins anew."
        )
        self.saved, self._upload = upload("Replay a run", ".json", self._replay)
        self.job = Job(caption, [self.reset, self.orders, self.saved], None, ELSEWHERE, self._settled)
        self.box = pn.Column(sizing_mode="stretch_both", scroll=True)
        self.switches = pmui.Button(label="Validations", width=125, **look)
        shown = self.writers.validations
        self.switches.on_click(lambda _: setattr(shown, "visible", not shown.visible))
        self._parts()
        self.reset.on_click(lambda _: self._new())
        for name, button in zip(NAMES, self.steps, strict=False):
            button.on_click(functools.partial(self._clicked_step, name))
        self.play.on_click(lambda _: self._toggle_play())
        self.orders.on_click(lambda _: self._all_orders())

    def _parts(self) -> None:
        """What a run is shown in; each step changes it in place."""
        self.picture = picture("", margin=(4, 10), styles={"flex": f"1 1 {DIAGRAM}px", "min-width": "0"})
        self.side = pn.Column(width=SIDE)
        # by titles, what is said there and the parts that show it: a grid, drawn anew, costs a browser more than a step
        self._beside: dict[str, tuple[Any, list[Any]]] = {}
        self.graph = GraphPane(sizing_mode="stretch_both", min_height=440)
        self.table = pn.Column(sizing_mode="stretch_both")
        look: dict[str, Any] = {"label": "Save this run", "variant": "outlined", "width": 150}
        saved = pmui.FileDownload(callback=lambda: io.BytesIO(self._saved()), filename="run.json", **look)
        self.tabs = LiveTabs(
            {
                "Sequence": (
                    pn.Row(
                        self.picture,
                        pn.Column(self.side, saved, width=SIDE),
                        styles=WRAP,
                        sizing_mode="stretch_both",
                        scroll="y-auto",
                    ),
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
        buttons = (self.reset, *self.steps, self.play, self.fault, self.orders, self.switches)
        return pn.Column(
            self.writers.fields,
            pn.Row(*buttons, self._upload, styles=WRAP),
            self.writers.validations,
            self.job.view,
            self.box,
            sizing_mode="stretch_both",
        )

    def _end(self, _: Any) -> None:
        if self.run is not None:
            submit(ELSEWHERE, self._one_at_a_time(self.run.close), self)

    # -- what is done -------------------------------------------------------------------------------------------------
    def _one_at_a_time(self, work: Callable[[], Any]) -> Callable[[], Any]:
        """What is cancelled may still be in the middle of a step; the next begins when that is over."""

        def alone() -> Any:
            with self._alone:
                return work()

        return alone

    def _ask(self, work: Callable[[], Any], done: Callable[[Any], None], doing: str, cancels: bool = False) -> None:
        self.job.start(self._one_at_a_time(work), done, doing, cancels)
        self._enable()

    def _settled(self, answered: bool) -> None:
        self._playing = self._playing and answered
        self._enable()
        if self._then is not None:
            then, self._then = self._then, None
            then()

    def _enable(self) -> None:
        writers, busy = self.run.writers if self.run else [], self.job.busy
        for i, button in enumerate(self.steps):
            button.disabled = busy or i >= len(writers) or writers[i].over or self._playing
            button.visible = i < max(2, len(writers))
        self.play.disabled = not self._playing and (busy or all(w.over for w in writers))
        self.play.label = "Pause" if self._playing else "Play"

    def _begin(self, make: Callable[[], Run], doing: str) -> None:
        if not self.job.open:
            return
        old, self.run, self._look, self._playing = self.run, None, None, False

        def work() -> Look:
            if old is not None and old.bench is shared_bench():
                old.close()
            return Look.of(make(), {})

        self._ask(work, self._show, doing)

    def _new(self) -> None:
        operations, version = self.writers.operations(), self.writers.version.value
        self._begin(lambda: Run(shared_bench(), operations, version), "A fresh table…")

    def _replay(self, data: bytes) -> None:
        if data:
            self._begin(lambda: replay(shared_bench(), data.decode(errors="replace")), "Replaying…")

    def _clicked_step(self, name: str, _: Any) -> None:
        self._step(name)

    def _step(self, name: str) -> None:
        run, token, why = self.run, name + self.fault.value, self._look.why if self._look else {}
        if run is None or not self.job.open:
            return
        self.fault.value = ""

        def work() -> Look:
            run.step(token)
            return Look.of(run, why)

        self._ask(work, self._show, "Working…")

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
    def _show(self, look: Look) -> None:
        run = self.run = look.run
        last = run.events[-1] if run.events else None
        said = (
            f"{last.writer} {last.words}"
            if last
            else "Three rows in two files, each of a snapshot of its own. Step a writer."
        )
        waiting = [f"{w.name}: {w.state if w.over else 'next ' + w.state}" for w in run.writers]
        self.job.say(f"{said}  ({'; '.join(waiting)})")
        self._look = look
        if self.box.objects != [self.tabs.tabs]:
            self.box[:] = [self.tabs.tabs]
        self.tabs.changed()
        if self._playing:
            pn.state.add_periodic_callback(self._next, period=STEP_MS, count=1)

    def _show_sequence(self) -> None:
        look = self._look
        if look is None:
            return
        drawn = sequence_svg(look.run.events, look.run.writers)
        self.picture.object = f'<div style="overflow:auto">{drawn}</div>'
        before, self._beside = self._beside, {}

        def beside(title: str, said: Any, make: Callable[[Any], Any]) -> None:
            known = before.get(title)
            self._beside[title] = known if known and known[0] == said else (said, [heading(title), make(said)])

        def rows(title: str, said: list[dict[str, Any]], widths: dict[str, int], *wrapped: str) -> None:
            beside(title, said, lambda rows: grid(pd.DataFrame(rows), widths, whole=True, wrapped=wrapped))

        rows("Rows now", [{"id": i, "v": v, "p": p} for i, v, p in look.rows], {"v": 140})
        if saw := load_rows(look.run.writers):
            widths = {"lane": 45, "table": 85, "snapshot": 90, "rows": 110}
            rows("What each lane loaded", saw, widths, "table", "rows")
        for title, decisions in (("If {} went on now", look.would), ("Why {} was refused", look.why)):
            for name, decision in decisions.items():
                beside(title.format(name), decision.words, lambda words: note(words, margin=(0, 10)))
        orphans = [
            {"writer": m.writer, "left behind by it": base_name(m.path)} for m in look.marks.loose if m.mark == "orphan"
        ]
        orphans += [
            {"writer": w, "left behind by it": base_name(p)}
            for p, w in look.marks.paths.items()
            if w in look.marks.gone
        ]
        if orphans:
            rows("Orphans", orphans, {"left behind by it": 280})
        self.side[:] = [part for _, parts in self._beside.values() for part in parts]

    def _show_graph(self) -> None:
        look = self._look
        if look is None:
            return
        if self.state is None:
            self.state = MarkedState(look.table, marks=look.marks)
        self.state.show(look.table, look.marks)
        self.graph.draw(self.state)

    def _show_steps(self) -> None:
        steps = [
            {
                "n": e.n, "writer": e.writer, "step": e.step, "outcome": e.outcome, "what": e.words,
                "files, in order": "\n".join([*e.files, *(f"removed {f}" for f in e.removed)]),
            }
            for e in reversed(self._look.run.events if self._look else [])
        ]  # fmt: skip
        # anew, as rows that come while Panel's Tabulator is being built are lost
        widths = {"n": 40, "writer": 65, "step": 80, "outcome": 90, "what": 480, "files, in order": 430}
        self.table[:] = [grid(pd.DataFrame(steps), widths, wrapped=("what", "files, in order"))] if steps else []

    def _all_orders(self) -> None:
        """A run that plays is paused, or its next step would replace this; one under way is waited for."""
        self._playing = False
        if not self.job.open:
            self._then = self._all_orders
            return
        operations, version = self.writers.operations(), self.writers.version.value
        doing = "Running every order on Iceberg…"
        self._ask(lambda: every_order(shared_bench(), operations, version), self._show_orders, doing, cancels=True)

    def _show_orders(self, orders: Orders) -> None:
        self.job.say(orders.summary)
        self.box[:] = [orders_view(orders, self._replay)]
