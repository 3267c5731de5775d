"""What a notebook shows of results that are plain data: the text that the command line has for them, and above it a
picture, which stays where no kernel runs and no script is trusted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from explorer.errors import ExplorerError, NotPossible
from explorer.graph.delete_graph import delete_graph
from explorer.graph.graph import Graph
from explorer.queries.row_history import RowHistory
from explorer.render.history import diff_lines, render_file_life, render_lifecycle, render_lineage
from explorer.render.history_pictures import diff_svg, lifecycle_svg, lineage_svg, overview_svg
from explorer.render.lab_runs import render_run, sequence_svg
from explorer.render.overview import ShownOverview, facts_html, tiles_html
from explorer.render.pictures import sentence, still, with_white_ground
from explorer.render.plan_result import ShownPlan
from explorer.render.row_views import delete_lines, render_row_diff, render_row_history
from explorer.render.svg import render_svg
from explorer.render.text import clean, not_typeset, pre, render_tree
from explorer.spec.deletes.snapshot_deletes import Deletes
from explorer.spec.rows.row_diff import RowDiff
from explorer.spec.scan.plan import Plan
from explorer.spec.snapshots.diff import SnapshotDiff
from explorer.spec.snapshots.lifecycle import FileLife, LifecycleCell, matrix
from explorer.spec.snapshots.lineage import LineageEntry
from explorer.spec.text.units import count

LONG, PRINTED = 20_000, 200_000
"""Characters of the text that stand below a picture, and of one that stands alone, at most."""
COLUMNS, LINES = 60, 200
"""Snapshots and manifests of a lifecycle that are told as text: each is a column or a line."""


@dataclass(frozen=True)
class Shown:
    """How a kind of result is shown: as the lines of a text, and as a picture, if there is one of it; `html` is what
    stands in a page in place of the text."""

    what: str
    lines: Callable[[Any], Iterable[str]]
    picture: Callable[[Any], str] | None = None
    html: Callable[[Any], str] | None = None

    def text(self, result: Any, longest: int = PRINTED) -> str:
        """The text, of so many characters at most: no more lines are made."""
        kept, size = [], 0
        for line in map(clean, self.lines(result)):
            size += len(line) + 1
            if size > longest:
                kept.append("… and more: icedive prints all of it")
                break
            kept.append(line)
        return "\n".join(kept) + "\n"

    def to_svg(self, result: Any) -> str | None:
        """The picture on a ground of its own."""
        return with_white_ground(self.picture(result)) if self.picture else None

    def to_html(self, result: Any) -> str | None:
        """The picture as an <img>, and the text folded below it."""
        if self.picture is None:
            return None
        more = self.html(result) if self.html else _folded(self.text(result, LONG))
        return not_typeset(f"{still(self.picture(result), self.what)}{more}")


def _folded(text: str) -> str:
    return f"<details><summary>as text</summary>{pre(text)}</details>"


def _lines(render: Callable[[Any], str]) -> Callable[[Any], list[str]]:
    return lambda result: render(result).splitlines()


def _of_lifecycle(cells: Sequence[LifecycleCell]) -> list[str]:
    _, snapshots, _ = matrix(cells)
    late = set(snapshots[-COLUMNS:])
    shown = [cell for cell in cells if cell.snapshot in late]
    manifests = list(dict.fromkeys(cell.manifest_path for cell in shown))
    newest = set(manifests[-LINES:])
    cut = (("snapshot", len(snapshots) - COLUMNS), ("manifest", len(manifests) - LINES))
    left_out = [f"… {count(number, f'older {noun}')}" for noun, number in cut if number > 0]
    return [*left_out, *render_lifecycle([cell for cell in shown if cell.manifest_path in newest]).splitlines()]


def _of_row_history(rows: RowHistory) -> str:
    now = rows.metadata.current_snapshot
    return render_row_history(rows.events, [f.name for f in rows.schema.fields], rows.explain(now) if now else [])


def _of_deletes(known: Deletes) -> str:
    if not known.files.deletes:
        return sentence("No deletes are live in this snapshot.")
    return render_svg(delete_graph("deletes", 0, known))


SHOWN: dict[type, Shown] = {
    SnapshotDiff: Shown("the difference of two snapshots", diff_lines, diff_svg),
    Deletes: Shown("data files and the deletes that could matter to them", delete_lines, _of_deletes),
    RowDiff: Shown("rows that differ", _lines(render_row_diff)),
    FileLife: Shown("the life of a file", _lines(render_file_life)),
    Plan: Shown(
        "a planned scan", lambda plan: repr(ShownPlan(plan)).splitlines(), lambda plan: ShownPlan(plan).to_svg()
    ),
    ShownPlan: Shown("a planned scan", _lines(repr), lambda plan: plan.to_svg()),
    ShownOverview: Shown(
        "snapshots in time", _lines(repr), overview_svg, lambda one: f"{tiles_html(one)}{facts_html(one)}"
    ),
    RowHistory: Shown("the history of rows", _lines(_of_row_history)),
    Graph: Shown("a metadata tree", _lines(render_tree), render_svg),
    ExplorerError: Shown("an error", lambda error: [f"{type(error).__name__}: {error}"]),
}  # fmt: skip
LISTS: dict[type, Shown] = {
    LifecycleCell: Shown("the lifecycle of manifests", _of_lifecycle, lifecycle_svg),
    LineageEntry: Shown("the lineage of snapshots", lambda lines: render_lineage(lines, []).splitlines(), lineage_svg),
}
"""Of lists of these."""
LATER: dict[tuple[str, str], Shown] = {
    ("explorer.lab.stepper", "Run"): Shown(
        "a run of the lab",
        lambda run: render_run(run.events, run.writers, run.rows()).splitlines(),
        lambda run: sequence_svg(run.events, run.writers),
    ),
}
"""Of kinds that few notebooks import: by their module and name."""


class Exhibit:
    """A result that shows itself so where no IPython does it, as in marimo."""

    def __init__(self, result: Any, shown: Shown | None = None) -> None:
        known = shown or _shown(result)
        if known is None:
            raise NotPossible(f"there is no picture of a {type(result).__name__}: it shows itself")
        self.result, self._shown = result, known

    def __repr__(self) -> str:
        return self._shown.text(self.result)

    def _repr_html_(self) -> str:
        return self._shown.to_html(self.result) or pre(repr(self))

    def _repr_svg_(self) -> str | None:
        return self._shown.to_svg(self.result)


def _shown(result: Any) -> Shown | None:
    if isinstance(result, list):
        return LISTS.get(type(result[0])) if result else None
    kind = type(result)
    return SHOWN.get(kind) or LATER.get((kind.__module__, kind.__name__))


def teach(shell: Any) -> None:
    """Have an IPython shell show them so; all else as it did."""
    formatters = shell.display_formatter.formatters
    texts = formatters["text/plain"]
    every = list(SHOWN.items())
    for kind, shown in every:
        texts.for_type(kind, _printed(shown))
    for place, shown in LATER.items():
        texts.for_type_by_name(*place, _printed(shown))
    before = texts.for_type(list)

    def of_list(result: Any, printer: Any, cycle: bool) -> None:
        shown = _shown(result)
        if shown is None:
            before(result, printer, cycle)
        else:
            printer.text(shown.text(result))

    texts.for_type(list, of_list)
    for name, make in (("text/html", Shown.to_html), ("image/svg+xml", Shown.to_svg)):
        pictures = formatters[name]
        for kind, shown in every:
            pictures.for_type(kind, lambda result, shown=shown, make=make: make(shown, result))
        for place, shown in LATER.items():
            pictures.for_type_by_name(*place, lambda result, shown=shown, make=make: make(shown, result))
        pictures.for_type(list, lambda result, make=make: _of_list(result, make))


def _printed(shown: Shown) -> Callable[[Any, Any, bool], None]:
    return lambda result, printer, cycle: printer.text(shown.text(result))


def _of_list(result: list[Any], make: Callable[[Shown, Any], str | None]) -> str | None:
    shown = _shown(result)
    return make(shown, result) if shown else None
