"""Writer processes racing for one table, live; and writers that meet a fault in the middle of a commit."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pandas as pd
import panel as pn
import panel_material_ui as pmui

from explorer.core.runs import Lap
from explorer.core.units import count
from explorer.lab.race import FAULTS, Fault, Tally, faults, race
from explorer.ui.background import in_background
from explorer.ui.rows import SMALL
from explorer.ui.widgets import grid, heading, note, picture
from explorer.views.labviews import race_svg

_WORKERS = ThreadPoolExecutor(1, thread_name_prefix="race")
"""One race at a time in this process: the machine is shared."""


class RacePanel:
    """How many writers, how many commits; what happens while they run, and what was there at the end."""

    def __init__(self) -> None:
        self.writers = pmui.IntInput(label="writer processes", value=4, start=1, end=16, width=150, **SMALL)
        self.commits = pmui.IntInput(label="commits of each", value=15, start=1, end=200, width=150, **SMALL)
        self.run = pmui.Button(label="Race", variant="contained", width=100, margin=(14, 6))
        self.meet = pmui.Button(label="Run the faults", variant="outlined", width=150, margin=(14, 6))
        self.cancel = pmui.Button(label="Cancel", variant="outlined", width=90, margin=(14, 6), visible=False)
        words = (
            "Half of the writers are Java, half pyiceberg; each is a process of its own, on one table in a "
            "temporary catalog."
        )
        self.status = note(words)
        self.picture = picture("", margin=(4, 10))
        self.box = pn.Column(sizing_mode="stretch_both")
        self._stop = threading.Event()
        self._laps: list[Lap] = []
        self._words = ""
        self.run.on_click(lambda _: self.start_race())
        self.meet.on_click(lambda _: self.start_faults())
        self.cancel.on_click(lambda _: self._stop.set())

    def view(self) -> Any:
        """The panel."""
        controls = pn.Row(self.writers, self.commits, self.run, self.meet, self.cancel)
        return pn.Column(controls, self.status, self.picture, self.box, sizing_mode="stretch_both")

    def _start(self, work: Any, done: Any, waiting: Any, cancellable: bool) -> None:
        self.run.disabled = self.meet.disabled = True
        self.cancel.visible = cancellable
        self._stop.clear()
        self._laps, self._words = [], ""
        self.box[:] = []
        self.picture.object = ""

        def ended() -> None:
            self.run.disabled = self.meet.disabled = False
            self.cancel.visible = False

        def failed(words: str) -> None:
            self.status.object = f"⚠ {words}"

        in_background(_WORKERS, work, done, failed, ended, waiting, period=400)

    def start_race(self) -> None:
        """Race, and say each moment how far it is."""
        writers, commits = self.writers.value or 1, self.commits.value or 1
        total = writers * commits

        def waiting() -> None:
            laps = list(self._laps)
            if not laps:
                self.status.object = "The writers get ready…"
                return
            lap = laps[-1]
            speed = lap.acknowledged / lap.seconds if lap.seconds else 0.0
            self.status.object = (
                f"{lap.acknowledged} of {total} commits in {lap.seconds:.0f} s: {speed:.1f} a second, "
                f"{count(lap.retries, 'swap')} lost, {count(lap.failures, 'failure')}"
            )
            self.picture.object = race_svg(laps, total)

        self._start(
            lambda: race(writers, commits, self._laps.append, self._stop.is_set), self._show_race, waiting, True
        )

    def _show_race(self, found: Tally) -> None:
        kept = found.acknowledged == found.snapshots == found.rows
        verdict = (
            "nothing acknowledged is missing, and nothing else is there"
            if kept
            else "what was acknowledged and what is there differ"
        )
        self.status.object = (
            f"{found.acknowledged} acknowledged = {found.snapshots} snapshots = {found.rows} rows: {verdict}. "
            f"{found.commits_per_second:.1f} commits a second, {count(found.retries, 'swap')} lost, "
            f"{count(found.failures, 'failure')}, "
            f"{count(found.orphans, 'file')} left behind."
        )
        if self._laps:
            self.picture.object = race_svg(self._laps, max(found.acknowledged, 1))

    def start_faults(self) -> None:
        """Let writers meet every fault."""

        def tell(done: int, total: int) -> None:
            self._words = f"{done} of {total}"

        def waiting() -> None:
            self.status.object = f"Writers meet faults, each in a process of its own… {self._words}"

        self._start(lambda: faults(progress=tell), self._show_faults, waiting, False)

    def _show_faults(self, found: list[Fault]) -> None:
        lost = sum(f.acknowledged > f.committed for f in found)
        self.status.object = (
            f"Acknowledged commits that are lost: {lost}. Tables that do not open clean: "
            f"{sum(not f.opens_clean for f in found)}. "
            "What was not acknowledged may be there all the same: who was told nothing must look."
        )
        rows = [
            {
                "writer": f.writer, "what befell it": FAULTS[f.fault], "it was told": f.told,
                "acknowledged": f.acknowledged,
                "committed": f.committed, "left behind": "\n".join(f.left_behind) or "nothing",
                "opens clean": "yes" if f.opens_clean else "no",
            }
            for f in found
        ]  # fmt: skip
        widths = {
            "writer": 75,
            "what befell it": 190,
            "it was told": 220,
            "acknowledged": 118,
            "committed": 98,
            "left behind": 300,
        }
        self.box[:] = [
            heading("One commit each"),
            grid(
                pd.DataFrame(rows),
                widths,
                wrapped=("what befell it", "left behind", "it was told"),
            ),
        ]
