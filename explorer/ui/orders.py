"""Every order of what writers do, each run on Iceberg: their outcomes as a state graph and as a table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
import panel as pn

from explorer.lab.interleave import interleave
from explorer.lab.sandbox import Bench
from explorer.progress import is_cancelled, tell
from explorer.render.lab_runs import interleaving_rows, rows_words
from explorer.render.state_graph import state_svg
from explorer.spec.commits.lab_runs import Interleavings
from explorer.spec.commits.operations import Operation
from explorer.ui.widgets import grid, heading, lazy_tabs, picture


@dataclass(frozen=True)
class Orders:
    """The outcomes, and their state graph as SVG."""

    outcomes: Interleavings
    drawn: str

    @property
    def summary(self) -> str:
        """How often each outcome came."""
        sums = "; ".join(f"{n} × {what}" for what, n in self.outcomes.summary().items())
        return f"{len(self.outcomes.outcomes)} orders: {sums or 'cancelled before the first order was done'}"


def every_order(bench: Bench, operations: Sequence[Operation], version: int) -> Orders:
    """Run them all. Cancelled, those that were run are there."""
    outcomes = interleave(bench, operations, lambda done, total: tell(done, total, "orders"), is_cancelled, version)
    return Orders(outcomes, state_svg(outcomes))


def orders_view(orders: Orders, replay: Callable[[bytes], None]) -> Any:
    """Tabs of the state graph, the orders (a click on one replays it) and the serial orders."""
    outcomes = orders.outcomes
    table = grid(
        pd.DataFrame(interleaving_rows(outcomes)),
        {"order": 90, "outcomes": 190, "rows": 420, "equals": 90, "anomaly": 140},
    )
    table.on_click(lambda event: replay(outcomes.outcomes[event.row].saved.encode()))
    ends = [{"serial order": o or "(none)", "rows": rows_words(r)} for o, r in outcomes.serial.items()]
    caption = "Each order of what the writers do, and which serial order its rows equal. Click one to replay it."
    return lazy_tabs(
        {
            "State graph": lambda: picture(f'<div style="overflow:auto">{orders.drawn}</div>', margin=(4, 10)),
            "Orders": lambda: pn.Column(heading(caption), table, sizing_mode="stretch_both"),
            "Serial orders": lambda: grid(pd.DataFrame(ends), {"rows": 520}),
        }
    )
