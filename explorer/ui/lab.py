"""The commit lab on the dashboard: writers stepped one by one, a sequence diagram, and all orders of two operations."""

from __future__ import annotations

import functools
import io
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from typing import Any

import pandas as pd
import panel as pn
import panel_material_ui as pmui

from explorer.core.names import base_name
from explorer.core.units import count, human_bytes
from explorer.engines.spark import shared_engine
from explorer.errors import ExplorerError
from explorer.lab.catalogue import predicted
from explorer.lab.interleave import Interleavings, interleave
from explorer.lab.observe import Observation, observe
from explorer.lab.operations import ISOLATION, KINDS, Operation, rows_of
from explorer.lab.stepper import Bench, Run, replay
from explorer.maintenance import is_writable
from explorer.ui.changes import grid, heading, lazy_tabs
from explorer.ui.pane import GraphPane
from explorer.ui.rows import SMALL
from explorer.ui.state import CompareState, ViewState
from explorer.views.labviews import interleaving_rows, rows_words, sequence_svg

_BENCH = threading.Lock()


@functools.cache
def _bench_of(session: Any) -> Bench:
    return Bench(shared_engine())


def bench() -> Bench:
    """The bench of this process; a new one when Spark was restarted."""
    with _BENCH:
        return _bench_of(shared_engine().session())


def lab_view(table: Any, changed: Callable[[Any], None]) -> Any:
    """Two writers on a bench of their own; and one statement, observed, on the table that is open."""
    return lazy_tabs({"Two writers": lambda: LabPanel().view(), "One statement": lambda: ObservePanel(table, changed).view()})


class ObservePanel:
    """A statement on a sandbox table; the files it wrote in order, the swap, and the diff."""

    def __init__(self, table: Any, changed: Callable[[Any], None]) -> None:
        self.table, self.changed = table, changed
        columns = [f.name for f in table.metadata.schema(table.metadata.current_schema_id).fields]
        label = f"t is {table.name}, with columns {', '.join(columns)}; {{name}} its name for CALL"
        first = f"DELETE FROM t WHERE {columns[0]} IS NULL"
        self.sql = pmui.TextAreaInput(
            label=label, value=first, rows=2, max_length=20_000, sizing_mode="stretch_width", margin=(14, 10, 4, 10)
        )
        allowed = is_writable(table)
        self.run = pmui.Button(label="Run it", variant="contained", width=100, margin=(6, 10), disabled=not allowed)
        words = "Runs through Spark on this sandbox table."
        if not allowed:
            words = "Nothing is written to this table. The Maintain tab makes a copy of a teaching table to change."
        self.status = pmui.Typography(words, variant="body2", margin=(12, 10))
        self.box = pn.Column(sizing_mode="stretch_both", scroll=True)
        self.run.on_click(lambda _: self.start())

    def view(self) -> Any:
        """The panel."""
        return pn.Column(self.sql, pn.Row(self.run, self.status), self.box, sizing_mode="stretch_both")

    def start(self) -> None:
        """Run the statement on a thread and show what it did."""
        self.run.disabled = True
        self.status.object = "Running through Spark…"
        future = _OBSERVER.submit(observe, self.table, self.sql.value)

        def poll() -> None:
            if not future.done():
                return
            ticking.stop()
            self.run.disabled = False
            try:
                self.show(future.result())
            except ExplorerError as error:
                self.status.object = f"⚠ {error}"

        ticking = pn.state.add_periodic_callback(poll, period=200)

    def show(self, seen: Observation) -> None:
        """What the statement did."""
        self.table = seen.table
        swap = "nothing was committed"
        if seen.swapped:
            swap = f"the catalog swapped {base_name(seen.swapped[0])} for {base_name(seen.swapped[1])}"
        self.status.object = f"{seen.seconds:.1f} s, {count(seen.commits, 'commit')}: {swap}."
        files = [
            {"n": i, "after ms": round(f.after_ms), "what": f.what, "file": f.path, "size": human_bytes(f.size)}
            for i, f in enumerate(seen.files, 1)
        ]
        tabs: dict[str, Callable[[], Any]] = {
            f"Files in order ({len(files)})": lambda: grid(pd.DataFrame(files), {"n": 40, "file": 620, "what": 130}),
        }
        if seen.diff is not None:
            sides = (seen.diff.before, seen.diff.after)
            tabs["What changed"] = lambda: GraphPane.of(CompareState(seen.table, *sides), sizing_mode="stretch_both", min_height=400)
        if seen.cost is not None:
            report = [{"of the commit": k.replace("_", " "), "": v} for k, v in asdict(seen.cost).items()]
            tabs["Commit report"] = lambda: grid(pd.DataFrame(report), {"of the commit": 220, "": 260})
        tabs["Graph"] = lambda: GraphPane.of(ViewState(seen.table), sizing_mode="stretch_both", min_height=400)
        self.box[:] = [lazy_tabs(tabs)]
        self.changed(seen.table)


_OBSERVER = ThreadPoolExecutor(2, thread_name_prefix="observe")


class LabPanel:
    """One viewer's lab. Work goes to a thread of its own, one piece at a time; the page polls."""

    def __init__(self) -> None:
        self.run: Run | None = None
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="lab")
        self._stop = threading.Event()
        self._progress = ""
        options = {words: kind for kind, words in KINDS.items()}
        self.first = pmui.Select(label="writer A", options=options, value="append", width=290, **SMALL)
        self.second = pmui.Select(label="writer B", options=options, value="append", width=290, **SMALL)
        self.isolation = pmui.Select(label="isolation", options=list(ISOLATION), value="serializable", width=150, **SMALL)
        look: dict[str, Any] = {"variant": "outlined", "margin": (14, 4)}
        self.reset = pmui.Button(label="New run", variant="contained", width=110, margin=(14, 4))
        self.step_a = pmui.Button(label="Step A", width=90, disabled=True, **look)
        self.step_b = pmui.Button(label="Step B", width=90, disabled=True, **look)
        self.play = pmui.Button(label="Play on", width=100, disabled=True, **look)
        self.orders = pmui.Button(label="All orders", width=120, **look)
        self.cancel = pmui.Button(label="Cancel", width=90, visible=False, **look)
        words = "Each writer is a real operation of Iceberg's Java API on a small table of its own: load, write, apply, metadata, swap."
        self.status = pmui.Typography(words, variant="body2", margin=(4, 10))
        self.box = pn.Column(sizing_mode="stretch_both", scroll=True)
        self.saved = pn.widgets.FileInput(accept=".json", width=220, margin=(20, 6))
        self.reset.on_click(lambda _: self._new())
        self.step_a.on_click(lambda _: self._do(lambda run: run.step("A")))
        self.step_b.on_click(lambda _: self._do(lambda run: run.step("B")))
        self.play.on_click(lambda _: self._do(lambda run: run.play("AB" * 12)))
        self.orders.on_click(lambda _: self._all_orders())
        self.cancel.on_click(lambda _: self._stop.set())
        self.saved.param.watch(lambda event: self._replay(event.new), "value")

    def view(self) -> Any:
        """The panel."""
        chosen = pn.Row(self.first, self.second, self.isolation)
        return pn.Column(
            chosen,
            pn.Row(self.reset, self.step_a, self.step_b, self.play, self.orders, self.cancel, heading("replay:"), self.saved),
            self.status,
            self.box,
            sizing_mode="stretch_both",
        )

    def _operations(self) -> list[Operation]:
        return [Operation(self.first.value, self.isolation.value), Operation(self.second.value, self.isolation.value)]

    def _background(self, work: Callable[[], Any], done: Callable[[Any], None], words: str) -> None:
        buttons = (self.reset, self.step_a, self.step_b, self.play, self.orders)
        for button in buttons:
            button.disabled = True
        self._progress = ""
        self.status.object = words
        future = self._worker.submit(work)

        def poll() -> None:
            if not future.done():
                spark = shared_engine().state
                self.status.object = words + (f" {self._progress}" if spark.phase == "ready" else f" ({spark})")
                return
            ticking.stop()
            self.reset.disabled = self.orders.disabled = False
            self.cancel.visible = False
            try:
                done(future.result())
            except ExplorerError as error:
                self.status.object = f"⚠ {error}"
            self._enable()

        ticking = pn.state.add_periodic_callback(poll, period=150)

    def _enable(self) -> None:
        over = {w.name: w.over for w in self.run.writers} if self.run else {"A": True, "B": True}
        self.step_a.disabled, self.step_b.disabled = over.get("A", True), over.get("B", True)
        self.play.disabled = all(over.values())

    def _new(self) -> None:
        operations = self._operations()
        self._background(lambda: Run(bench(), operations), self._show, "A fresh table…")

    def _replay(self, data: Any) -> None:
        if data:
            self._background(lambda: replay(bench(), bytes(data).decode(errors="replace")), self._show, "Replaying…")

    def _do(self, act: Callable[[Run], Any]) -> None:
        run = self.run
        if run is None:
            return

        def work() -> Run:
            act(run)
            return run

        self._background(work, self._show, "Working…")

    def _show(self, run: Run) -> None:
        self.run = run
        last = run.events[-1] if run.events else None
        said = f"{last.writer} {last.words}" if last else f"{run.name}: three rows in two files. Step a writer."
        waiting = [f"{w.name}: {w.state if w.over else 'next ' + w.state}" for w in run.writers]
        self.status.object = f"{said}  ({'; '.join(waiting)})"
        picture = pn.pane.HTML(f'<div style="overflow:auto">{sequence_svg(run.events, run.writers)}</div>', margin=(4, 10))
        table = run.table()
        rows = pd.DataFrame([{"id": i, "v": v, "p": p} for i, v, p in rows_of(table)])
        left = [{"writer": w.name, "left behind by it": f} for w in run.writers if w.over or w.attempts > 1 for f in w.left_behind]
        side: list[Any] = [heading("Rows now"), grid(rows, {"v": 140}, height=200)]
        writer = run.writer("A")
        if writer.state in ("apply", "metadata", "swap") and writer.plan is not None:
            side += [heading("If A went on now"), pmui.Typography(predicted(run, table).words, variant="body2", margin=(0, 10))]
        if left:
            side += [heading("Orphans"), grid(pd.DataFrame(left), {"left behind by it": 330}, height=170)]
        steps = [
            {"n": e.n, "writer": e.writer, "step": e.step, "outcome": e.outcome, "what": e.words, "files, in order": "\n".join(e.files)}
            for e in reversed(run.events)
        ]
        look: dict[str, Any] = {"label": "save this run", "button_type": "default", "width": 140}
        saved = pn.widgets.FileDownload(callback=lambda: io.BytesIO(run.to_json().encode()), filename="run.json", **look)
        widths = {"n": 40, "writer": 65, "step": 80, "outcome": 90, "what": 560, "files, in order": 420}
        tabs = lazy_tabs(
            {
                "Sequence": lambda: pn.Row(picture, pn.Column(*side, saved, width=360), sizing_mode="stretch_both"),
                "Steps and files": lambda: grid(pd.DataFrame(steps), widths),
                "Graph": lambda: GraphPane.of(ViewState(table), sizing_mode="stretch_both", min_height=420),
            }
        )
        self.box[:] = [tabs]

    def _all_orders(self) -> None:
        operations = self._operations()
        self._stop.clear()
        self.cancel.visible = True

        def work() -> Interleavings:
            def tell(done: int, total: int) -> None:
                self._progress = f"{done} of {total}"

            return interleave(bench(), operations, tell, self._stop.is_set)

        self._background(work, self._show_orders, "Running every order on Iceberg…")

    def _show_orders(self, found: Interleavings) -> None:
        summary = "; ".join(f"{n} × {words}" for words, n in found.summary().items()) or "cancelled before the first order was done"
        self.status.object = f"{len(found.outcomes)} orders: {summary}"
        table = grid(pd.DataFrame(interleaving_rows(found)), {"order": 90, "outcomes": 190, "rows": 420, "equals": 90, "anomaly": 140})

        def clicked(event: Any) -> None:
            self._replay(found.outcomes[event.row].saved.encode())

        table.on_click(clicked)
        ends = [{"serial order": o or "(none)", "rows": rows_words(r)} for o, r in found.serial.items()]
        self.box[:] = [
            heading("Each order of reading, applying and committing, and which serial order its rows equal. Click one to replay it."),
            table,
            grid(pd.DataFrame(ends), {"rows": 520}, height=220),
        ]
