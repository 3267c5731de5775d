"""Writer processes racing for one table, live; and writers that meet a fault in the middle of a commit."""

from __future__ import annotations

from typing import Any

import pandas as pd
import panel as pn
import panel_material_ui as pmui

from explorer.lab.race import FAULTS, FaultResult, Tally, faults, race
from explorer.progress import Progress, is_cancelled, tell
from explorer.render.lab_runs import race_svg
from explorer.serving.pools import Pool
from explorer.spec.commits.lab_runs import Lap
from explorer.spec.text.units import count
from explorer.ui.background import Job
from explorer.ui.widgets import NUMBER, WRAP, grid, heading, picture

RACES = Pool("races", 1, 1)
"""One race at a time in this process: the machine is shared."""


class RacePanel:
    """How many writers, how many commits; what happens while they run, and what was there at the end."""

    def __init__(self) -> None:
        self.writers = pmui.IntInput(label="writer processes", value=4, start=1, end=16, width=150, **NUMBER)
        self.commits = pmui.IntInput(label="commits of each", value=15, start=1, end=200, width=150, **NUMBER)
        self.run = pmui.Button(label="Race", variant="contained", width=100, margin=(14, 6))
        self.meet = pmui.Button(label="Run the faults", variant="outlined", width=150, margin=(14, 6))
        caption = (
            "Half of the writers are Java, half pyiceberg; each is a process of its own, on one table in a "
            "temporary catalog."
        )
        self.picture = picture("", margin=(4, 10))
        self.box = pn.Column(sizing_mode="stretch_both")
        self.job = Job(caption, [self.run, self.meet], self.box, RACES)
        self._laps: list[Lap] = []
        self.run.on_click(lambda _: self.start_race())
        self.meet.on_click(lambda _: self.start_faults())

    def view(self) -> Any:
        """The panel."""
        controls = pn.Row(self.writers, self.commits, self.run, self.meet, styles=WRAP)
        return pn.Column(controls, self.job.view, self.picture, self.box, sizing_mode="stretch_both")

    def start_race(self) -> None:
        """Race, and say each moment how far it is."""
        writers, commits = self.writers.value or 1, self.commits.value or 1
        total = writers * commits
        laps: list[Lap] = []
        self._laps, self.picture.object = laps, ""

        def so_far(progress: Progress) -> str:
            if not laps:
                return f"The writers get ready… {str(progress).removeprefix('running, ')}"
            lap = laps[-1]
            speed = lap.acknowledged / lap.seconds if lap.seconds else 0.0
            self.picture.object = race_svg(list(laps), total)
            return (
                f"{lap.acknowledged:,} of {total:,} commits in {lap.seconds:.0f} s: {speed:.1f} a second, "
                f"{count(lap.retries, 'swap')} lost, {count(lap.failures, 'failure')}"
            )

        def add(lap: Lap) -> None:
            laps.append(lap)
            tell(lap.acknowledged, total, "commits")

        self.job.start(lambda: race(writers, commits, add, is_cancelled), self._show_race, so_far)

    def _show_race(self, tally: Tally) -> None:
        kept = tally.acknowledged == tally.snapshots == tally.rows
        verdict = (
            "nothing acknowledged is missing, and nothing else is there"
            if kept
            else "what was acknowledged and what is there differ"
        )
        self.job.say(
            f"{tally.acknowledged:,} acknowledged = {tally.snapshots:,} snapshots = {tally.rows:,} rows: {verdict}. "
            f"{tally.commits_per_second:.1f} commits a second, {count(tally.retries, 'swap')} lost, "
            f"{count(tally.failures, 'failure')}, "
            f"{count(tally.orphans, 'file')} left behind."
        )
        if self._laps:
            self.picture.object = race_svg(self._laps, max(tally.acknowledged, 1))

    def start_faults(self) -> None:
        """Let writers meet every fault."""
        self.picture.object = ""
        caption = "Writers meet faults, each in a process of its own…"
        self.job.start(faults, self._show_faults, caption)

    def _show_faults(self, met: list[FaultResult]) -> None:
        lost = sum(f.acknowledged > f.committed for f in met)
        self.job.say(
            f"Acknowledged commits that are lost: {lost}. Tables that do not open clean: "
            f"{sum(not f.opens_clean for f in met)}. "
            "What was not acknowledged may be there all the same: who was told nothing must look."
        )
        rows = [
            {
                "writer": f.writer, "what befell it": FAULTS[f.fault], "it was told": f.told,
                "acknowledged": f.acknowledged,
                "committed": f.committed, "left behind": "\n".join(f.left_behind) or "nothing",
                "opens clean": "yes" if f.opens_clean else "no",
            }
            for f in met
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
