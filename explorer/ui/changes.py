"""Panels for what changed: the lifecycle matrix, the history, and the diff of two snapshots."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import chain, islice, repeat
from typing import Any

import pandas as pd
import panel as pn
import panel_material_ui as pmui

from explorer.app.answer_states import CompareState
from explorer.graph.lanes import LaneRow, lanes
from explorer.graph.vocabulary import KINDS
from explorer.render.history import COMMIT_SIZES, change_rows, commit_rows, contents, run_words
from explorer.spec.commits.costs import RunCost
from explorer.spec.snapshots.diff import SnapshotDiff
from explorer.spec.snapshots.lifecycle import LifecycleCell, matrix
from explorer.spec.snapshots.lineage import LineageEntry, LogEntry
from explorer.spec.text.names import base_name, first_of, snapshot_ordinals
from explorer.spec.text.units import count, instant
from explorer.table import Table
from explorer.ui.background import Job, answered
from explorer.ui.costs import costs_figures, costs_words
from explorer.ui.lifelines import lifeline_words, lifelines
from explorer.ui.pane import GraphPane
from explorer.ui.widgets import WRAP, grid, heading, lazy_tabs, note, plot

Go = Callable[[int, str], None]
COLUMNS_SHOWN = 40
FILES_SHOWN = 10_000


def lifecycle_view(table: Table, go: Go) -> Any:
    """Manifests by snapshots; a click on a cell goes to the manifest as that snapshot sees it."""
    return answered(table.lifecycle, partial(_lifecycle_parts, go), "Following every manifest through every snapshot…")


def _lifecycle_parts(go: Go, cells: list[LifecycleCell]) -> list[Any]:
    names, snapshots, at = matrix(cells)
    shown = snapshots[-COLUMNS_SHOWN:]
    names = [n for n in names if any((n, s) in at for s in shown)]
    lists = contents(cells)
    data = pd.DataFrame([{"manifest": n} | lists.get(n, {}) | {s: _text(at.get((n, s))) for s in shown} for n in names])
    widget = grid(data, {"manifest": 130} | dict.fromkeys(shown, 170), whole=True, page_size=40)

    def clicked(event: Any) -> None:
        cell = at.get((names[event.row], event.column))
        if cell is not None and cell.state in ("created", "carried"):
            go(cell.snapshot_id, cell.manifest_path)

    widget.on_click(clicked)
    told = [c for c in cells if c.state not in ("created", "carried") and c.snapshot in shown]
    notes = pd.DataFrame(
        [{"snapshot": c.snapshot, "manifest": c.manifest, "became": c.state, "why": c.reason} for c in told]
    )
    figure = plot(lifelines(cells, go), lifeline_words(cells))
    first = f", of the last {len(shown)} of {len(snapshots)} snapshots" if len(shown) < len(snapshots) else ""
    parts = [
        heading(
            "Each manifest from the snapshot that wrote it to the last that lists it; the thicker, the more entries."
        ),
        figure,
        heading(
            f"Manifests by snapshots{first}: added / existing / deleted entries as stored. Click a cell to see the "
            "manifest there."
        ),
        widget,
    ]
    if told:
        parts += [heading("What became of them, and why"), grid(notes, {"why": 620}, whole=True, wrapped=("why",))]
    return parts


def _text(cell: LifecycleCell | None) -> str:
    if cell is None:
        return ""
    if cell.state in ("created", "carried"):
        counts = " / ".join("?" if n is None else str(n) for n in (cell.added, cell.existing, cell.deleted))
        return f"{'created' if cell.state == 'created' else 'carried'} {counts}"
    return f"{cell.state} {'into ' + first_of(cell.into) if cell.into else ''}".strip()


LANE, ROW, BELOW = 16, 30, 2000
LANE_COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7f6fb6")
SOLID = ("current", "ancestor", "branch")


def lane_cell(row: LaneRow, kind: str) -> str:
    """One row of the lineage as SVG: lines from above and to below, as far down as the row's notes make it high, the
    snapshot as a disc, hollow when no ref leads to it."""

    def x(lane: int) -> int:
        return 10 + LANE * lane

    def color(lane: int) -> str:
        return LANE_COLORS[lane % len(LANE_COLORS)]

    middle, own, solid = ROW // 2, x(row.lane), kind in SOLID
    radius = 7 if kind == "current" else 5
    edge = 0 if solid else radius  # lines end there, and the page is seen through what is hollow
    parts = [f'<path d="M{x(i)},0 V{BELOW}" stroke="{color(i)}"/>' for i in row.through]
    for i in row.above:
        across = (i > row.lane) - (i < row.lane)
        way = f"C{x(i)},{middle} {x(i)},{middle} {own + across * edge},{middle}" if across else f"V{middle - edge}"
        parts.append(f'<path d="M{x(i)},0 {way}" stroke="{color(i)}"/>')
    if row.continues:
        parts.append(f'<path d="M{own},{middle + edge} V{BELOW}" stroke="{color(row.lane)}"/>')
    fill, dash = (color(row.lane), "") if solid else ("none", ' stroke-dasharray="2 2"')
    parts.append(f'<circle cx="{own}" cy="{middle}" r="{radius}" fill="{fill}" stroke="{color(row.lane)}"{dash}/>')
    width = x(max((row.lane, *row.above, *row.through))) + 12
    return (
        f'<svg width="{width}" height="{ROW}" fill="none" stroke-width="2" style="display:block;overflow:visible">'
        f"{''.join(parts)}</svg>"
    )


PLAIN_ROWS = f"""
.tabulator-row .tabulator-cell {{ min-height: {ROW}px; }}
.tabulator-row .tabulator-cell[tabulator-field="lineage"] {{ padding: 0 !important; }}
"""


def lineage_view(table: Table) -> Any:
    """Every snapshot and its parent at the left, newest first; what was current when at the right."""

    def read() -> tuple[list[LineageEntry], list[LogEntry]]:
        return table.lineage(), table.current_log()

    return answered(read, lambda answer: [_lineage_row(*answer)], "Following the lineage…")


def _lineage_row(entries: list[LineageEntry], log: list[LogEntry]) -> Any:
    drawn = lanes(entries)
    rows = [
        {
            "lineage": lane_cell(row, e.kind), "snapshot": e.snapshot, "refs": ", ".join(e.refs),
            "operation": e.operation or "",
            "kind": e.kind, "notes": "; ".join(e.notes), "committed": instant(e.timestamp_ms),
            "snapshot id": str(e.snapshot_id),
        }
        for e, row in zip(reversed(entries), drawn, strict=True)
    ]  # fmt: skip
    width = 26 + LANE * max((i for r in drawn for i in (r.lane, *r.through)), default=0)
    times = [
        {"current from": instant(e.timestamp_ms), "snapshot": e.snapshot, "how": e.how, "why": e.reason}
        for e in reversed(log)
    ]
    odd = [e for e in log if e.how != "commit"]
    caption = f"it parts from the lineage {count(len(odd), 'time')}" if odd else "it follows the lineage"
    widths = {
        "lineage": max(50, width),
        "snapshot": 115,
        "refs": 105,
        "operation": 85,
        "kind": 95,
        "notes": 150,
        "committed": 205,
    }
    left = grid(
        pd.DataFrame(rows), widths, page_size=200, drawn="lineage", stylesheets=[PLAIN_ROWS], sortable=False,
        wrapped=("notes",), whole=True,
    )  # fmt: skip
    right = grid(
        pd.DataFrame(times),
        {"current from": 205, "snapshot": 115, "how": 80, "why": 280},
        page_size=200,
        wrapped=("why",),
        whole=True,
    )
    beside = {"flex": "1 1 620px", "min-width": "0"}  # below each other where a page is narrower
    return pn.Row(
        pn.Column(
            heading("Lineage: every snapshot and its parent, newest first"), left, sizing_mode="stretch_width",
            styles={**beside, "flex": "2 1 960px"},
        ),
        pn.Column(
            heading(f"Snapshot log: what was current when; {caption}"), right, sizing_mode="stretch_width",
            styles=beside
        ),
        sizing_mode="stretch_both", scroll=True, styles={**WRAP, "align-content": "flex-start"},
    )  # fmt: skip


def commits_view(table: Table, at: Callable[[int], None]) -> Any:
    """What each commit on the way to the current snapshot did and cost; a click on one leads to its snapshot."""

    def show(run: RunCost) -> list[Any]:
        rows = pd.DataFrame(list(reversed(commit_rows(run, table.metadata))))
        widths = {"when": 230, "by": 240, "operation": 100, "manifests": 95}
        figures = [plot(drawn, "" if nth else costs_words(run)) for nth, drawn in enumerate(costs_figures(run, at))]
        return [
            heading(run_words(run, table.metadata)),
            *(figures if run.commits else []),
            grid(rows, widths, sizes=COMMIT_SIZES, wrapped=("by",)),
        ]

    return answered(table.commits, show, "Adding up what every commit wrote…")


def metadata_view(table: Table) -> Any:
    """Two pickers of metadata files and what differs between them, by meaning."""
    files = [row["metadata-file"] for row in table.metadata_log]
    if len(files) < 2:
        return heading("There is only one metadata file.")
    names = {base_name(path): path for path in files}
    labels = list(names)
    first, second = pickers(labels, labels[-2], labels[-1], 330)
    box = pn.Column(sizing_mode="stretch_both")

    job = Job(box=box)

    def start(*_: Any) -> None:
        sides = [names.get(picker.value, picker.value) for picker in (first, second)]
        job.start(lambda: table.metadata_diff(*sides), show, "Comparing two metadata files…")

    def show(changes: dict[str, Any]) -> None:
        rows = pd.DataFrame([{"what": w, "which": k, "change": v} for w, k, v in change_rows(changes)])
        widths = {"what": 190, "which": 240}
        box[:] = [grid(rows, widths, wrapped=("change",)) if len(rows) else heading("Nothing differs.")]

    for picker in (first, second):
        picker.param.watch(start, "value")
    start()
    return pn.Column(pn.Row(first, second, styles=WRAP), job.view, box, sizing_mode="stretch_both")


MANY = 200


def pickers(labels: Sequence[str], first: str, second: str, width: int) -> tuple[Any, Any]:
    """Two choices, from and to; where there are too many to list, two texts."""
    options: dict[str, Any] = {"width": width, "size": "small", "margin": (16, 10, 4, 10)}
    if len(labels) > MANY:
        return pmui.TextInput(label="from", value=first, **options), pmui.TextInput(label="to", value=second, **options)
    options["options"] = list(labels)
    return pmui.Select(label="from", value=first, **options), pmui.Select(label="to", value=second, **options)


def diff_view(table: Table, snapshot_id: int | None, compare: str, told: Callable[[str, int], None]) -> Any:
    """Two pickers and what differs between their snapshots; at first the snapshot in view against `compare`, or else
    its parent. `told` is called with the name of the one and the id of the other of a pair that is shown."""
    ordinals = snapshot_ordinals(table.metadata)
    if len(ordinals) < 2:
        return heading("This table has fewer than two snapshots.")
    labels = [f"snapshot-{n}" for n in sorted(ordinals.values())]
    if compare and compare not in labels:
        labels.insert(0, compare)  # a branch, a tag, a time
    here = table.metadata.snapshot(snapshot_id) or table.metadata.snapshots[-1]
    parent = ordinals.get(here.parent_snapshot_id or 0)
    after = f"snapshot-{ordinals[here.snapshot_id]}"
    first, second = pickers(labels, compare or (f"snapshot-{parent}" if parent else labels[0]), after, 170)
    box = pn.Column(sizing_mode="stretch_both")

    job = Job(box=box)

    def start(*_: Any) -> None:
        sides = first.value, second.value
        box.clear()  # should they not be found, no other pair's difference stands there
        job.start(lambda: CompareState(table, *sides), show, f"Comparing {sides[0]} with {sides[1]}…")

    def show(state: CompareState) -> None:
        change = state.diff
        job.say(f"{count(len(change.added), 'file')} added, {len(change.removed):,} removed, net")
        if change.after is not None:
            told(first.value, change.after)
        pane = GraphPane.of(state, sizing_mode="stretch_both", min_height=380)
        box[:] = [lazy_tabs({"Graph": lambda: pane} | _diff_parts(change))]

    first.param.watch(start, "value")
    second.param.watch(start, "value")
    start()
    return pn.Column(pn.Row(first, second, job.view, styles=WRAP), box, sizing_mode="stretch_both")


def _diff_parts(diff: SnapshotDiff) -> dict[str, Callable[[], Any]]:
    """The tables of a diff, by the title of their tab; each is made when it is looked at."""
    number = len(diff.added) + len(diff.removed)
    files_words = f"{count(number, 'file')} differ{'s' if number == 1 else ''}, net"
    if number > FILES_SHOWN:
        files_words += f"; the first {FILES_SHOWN:,} are shown, `icedive diff` has all"
    fates = [{"manifest": base_name(p), "became": "added", "why": ""} for p in diff.added_manifests]
    fates += [
        {
            "manifest": base_name(p),
            "became": "merged" if r.is_merge else "rewritten",
            "why": f"into {', '.join(map(base_name, r.into))}: {r.reason}",
        }
        for r in diff.rewritten
        for p in r.sources
    ]
    fates += [{"manifest": base_name(d.manifest_path), "became": "dropped", "why": d.reason} for d in diff.dropped]
    partitions = [{"partition": name or "(unpartitioned)"} | dict(row) for name, row in diff.partitions.items()]
    changed = [{"what": w, "which": k, "change": v} for w, k, v in change_rows(diff.table)]
    kept = f"{count(len(diff.kept_manifests), 'manifest')} kept and not decoded"

    def part(
        rows: Callable[[], list[dict[str, Any]]], caption: str, widths: dict[str, int], *sizes: str
    ) -> Callable[[], Any]:
        def make() -> Any:
            data = pd.DataFrame(rows())
            body = grid(data, widths, sizes=sizes, wrapped=("why", "change")) if len(data) else note("Nothing differs.")
            return pn.Column(heading(caption), body, sizing_mode="stretch_both")

        return make

    return {
        f"Files ({number:,})": part(lambda: _file_rows(diff), files_words, {"file": 460}, "size"),
        f"Manifests ({len(fates):,})": part(lambda: fates, kept, {"manifest": 360, "why": 560}),
        f"Partitions ({len(partitions):,})": part(
            lambda: partitions, f"{count(len(partitions), 'partition')} touched", {"partition": 260}
        ),
        f"Table ({len(changed):,})": part(
            lambda: changed, "Schema, partition spec, sort order, properties", {"change": 640}
        ),
    }


def _file_rows(diff: SnapshotDiff) -> list[dict[str, Any]]:
    """The first files of a diff as rows of its table."""
    both = chain(zip(repeat("+ added"), diff.added), zip(repeat("− removed"), diff.removed))
    return [
        {
            "": mark,
            "kind": KINDS[c.kind].title,
            "file": base_name(c.file_path),
            "partition": c.partition,
            "rows": c.record_count,
            "size": c.bytes,
        }
        for mark, c in islice(both, FILES_SHOWN)
    ]
