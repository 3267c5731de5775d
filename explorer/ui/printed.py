"""What a notebook prints of results that are plain data: the text that the command line has for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from explorer.core.diff import SnapshotDiff
from explorer.core.lifecycle import Biography, Cell
from explorer.core.lineage import HistoryEntry
from explorer.core.plan import Plan
from explorer.core.row_diff import RowDiff
from explorer.core.snapshot_deletes import Deletes
from explorer.fate import Fate
from explorer.views.changes import render_biography, render_diff, render_history, render_lifecycle
from explorer.views.rowviews import render_deletes, render_fate, render_row_diff
from explorer.views.shown_plan import ShownPlan

TEXTS: dict[type, Callable[[Any], str]] = {
    SnapshotDiff: render_diff,
    Deletes: render_deletes,
    RowDiff: render_row_diff,
    Biography: render_biography,
    Plan: lambda plan: repr(ShownPlan(plan)),
    Fate: lambda fate: _of_fate(fate),
}
LISTS: dict[type, Callable[[Any], str]] = {
    Cell: render_lifecycle,
    HistoryEntry: lambda lines: render_history(lines, []),
}
"""Of lists of these."""


def _of_fate(fate: Fate) -> str:
    now = fate.metadata.current_snapshot
    return render_fate(fate.events, [f.name for f in fate.schema.fields], fate.explain(now) if now else [])


def teach(shell: Any) -> None:
    """Have an IPython shell print them so; all else as it did."""
    texts = shell.display_formatter.formatters["text/plain"]
    for kind, render in TEXTS.items():
        texts.for_type(kind, lambda result, printer, cycle, render=render: printer.text(render(result)))
    before = texts.for_type(list)

    def of_list(result: Any, printer: Any, cycle: bool) -> None:
        render = LISTS.get(type(result[0])) if result else None
        if render is None:
            before(result, printer, cycle)
        else:
            printer.text(render(result))

    texts.for_type(list, of_list)
