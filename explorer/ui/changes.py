"""Panels for what changed: the lifecycle matrix, the history, and the diff of two snapshots."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pandas as pd
import panel as pn
import panel_material_ui as pmui

from explorer.core.diff import SnapshotDiff
from explorer.core.lifecycle import Cell, matrix
from explorer.core.names import base_name, snapshot_ordinals
from explorer.core.units import human_bytes, instant
from explorer.errors import ExplorerError
from explorer.model.graph import KINDS
from explorer.table import Table

Go = Callable[[int, str], None]
COLUMNS_SHOWN = 40


def grid(data: pd.DataFrame, widths: dict[str, int] | None = None, height: int = 0, **options: Any) -> Any:
    """A read-only table."""
    size = {"height": height, "sizing_mode": "stretch_width"} if height else {"sizing_mode": "stretch_both", "min_height": 200}
    return pn.widgets.Tabulator(
        data, show_index=False, disabled=True, selectable=False, theme="simple", layout="fit_data", widths=widths or {}, **size, **options
    )


def heading(text: str) -> Any:
    """A line above a table."""
    return pmui.Typography(text, variant="subtitle1", margin=(6, 10))


def lifecycle_view(table: Table, go: Go) -> Any:
    """Manifests by snapshots; a click on a cell goes to the manifest as that snapshot sees it."""
    cells = table.lifecycle()
    names, snapshots, at = matrix(cells)
    shown = snapshots[-COLUMNS_SHOWN:]
    names = [n for n in names if any((n, s) in at for s in shown)]
    data = pd.DataFrame([{"manifest": n} | {s: _text(at.get((n, s))) for s in shown} for n in names])
    widget = grid(data, {"manifest": 130} | dict.fromkeys(shown, 170), pagination="local", page_size=40)

    def clicked(event: Any) -> None:
        cell = at.get((names[event.row], event.column))
        if cell is not None and cell.state in ("created", "carried"):
            go(cell.snapshot_id, cell.manifest_path)

    widget.on_click(clicked)
    told = [c for c in cells if c.state not in ("created", "carried") and c.snapshot in shown]
    notes = pd.DataFrame([{"snapshot": c.snapshot, "manifest": c.manifest, "became": c.state, "why": c.reason} for c in told])
    first = f", of the last {len(shown)} of {len(snapshots)} snapshots" if len(shown) < len(snapshots) else ""
    parts = [heading(f"Manifests by snapshots{first}: added / existing / deleted entries. Click a cell to see the manifest there."), widget]
    if told:
        parts += [heading("What became of them, and why"), grid(notes, {"why": 620}, height=240)]
    return pn.Column(*parts, sizing_mode="stretch_both")


def _text(cell: Cell | None) -> str:
    if cell is None:
        return ""
    if cell.state in ("created", "carried"):
        counts = " / ".join("?" if n is None else str(n) for n in (cell.added, cell.existing, cell.deleted))
        return f"{'created' if cell.state == 'created' else 'carried'} {counts}"
    return f"{cell.state} {'into ' + ', '.join(cell.into) if cell.into else ''}".strip()


def history_view(table: Table) -> Any:
    """The lineage, newest first, beside the snapshot log."""
    lineage = [
        {
            "snapshot": e.snapshot, "kind": e.kind, "refs": ", ".join(e.refs), "operation": e.operation, "parent": e.parent or "",
            "committed": instant(e.timestamp_ms), "notes": "; ".join(e.notes), "snapshot id": str(e.snapshot_id),
        }
        for e in reversed(table.history())
    ]  # fmt: skip
    log = [{"when": instant(e.timestamp_ms), "snapshot": e.snapshot, "how": e.how, "why": e.reason} for e in reversed(table.current_log())]
    return pn.Column(
        heading("Lineage: every snapshot and its parent"),
        grid(pd.DataFrame(lineage), {"notes": 420, "refs": 170}, pagination="local", page_size=50),
        heading("Snapshot log: what was current when"),
        grid(pd.DataFrame(log), {"why": 620}, height=230, pagination="local", page_size=50),
        sizing_mode="stretch_both",
    )


def diff_view(table: Table, snapshot_id: int | None) -> Any:
    """Two pickers and what differs between their snapshots; at first the snapshot in view against its parent."""
    ordinals = snapshot_ordinals(table.metadata)
    names = {f"snapshot-{n}": i for i, n in sorted(ordinals.items(), key=lambda item: item[1])}
    if len(names) < 2:
        return heading("This table has fewer than two snapshots.")
    labels = list(names)
    here = table.metadata.snapshot(snapshot_id) or table.metadata.snapshots[-1]
    parent = ordinals.get(here.parent_snapshot_id or 0)
    after = f"snapshot-{ordinals[here.snapshot_id]}"
    before = f"snapshot-{parent}" if parent else labels[0]
    first = pmui.Select(label="from", options=labels, value=before, width=170, size="small", margin=(16, 10, 4, 10))
    second = pmui.Select(label="to", options=labels, value=after, width=170, size="small", margin=(16, 10, 4, 10))
    box = pn.Column(sizing_mode="stretch_both")

    def show(*_: Any) -> None:
        try:
            box[:] = _diff_parts(table.diff(names[first.value], names[second.value]))
        except ExplorerError as error:
            box[:] = [heading(str(error))]

    first.param.watch(show, "value")
    second.param.watch(show, "value")
    show()
    return pn.Column(pn.Row(first, second), box, sizing_mode="stretch_both")


def _diff_parts(diff: SnapshotDiff) -> Sequence[Any]:
    files = [
        {
            "": mark,
            "kind": KINDS[c.kind],
            "file": base_name(c.file_path),
            "partition": c.partition,
            "rows": c.record_count,
            "size": human_bytes(c.bytes),
        }
        for mark, changes in (("+ added", diff.added), ("− removed", diff.removed))
        for c in changes
    ]
    fates = [{"manifest": base_name(p), "became": "added", "why": ""} for p in diff.added_manifests]
    fates += [
        {
            "manifest": base_name(p),
            "became": "merged" if r.merged else "rewritten",
            "why": f"into {', '.join(map(base_name, r.into))}: {r.reason}",
        }
        for r in diff.rewritten
        for p in r.sources
    ]
    fates += [{"manifest": base_name(d.manifest_path), "became": "dropped", "why": d.reason} for d in diff.dropped]
    changed = [{"of the table": name, "changes": str(value)} for name, value in diff.table.items() if value]
    parts = [heading(f"{len(diff.added):,} files added, {len(diff.removed):,} removed, net")]
    if files:
        parts.append(grid(pd.DataFrame(files), {"file": 460}, pagination="local", page_size=30))
    parts.append(heading(f"Manifests: {len(diff.kept_manifests):,} kept and not decoded, {len(fates):,} added, rewritten or dropped"))
    if fates:
        parts.append(grid(pd.DataFrame(fates), {"manifest": 360, "why": 560}, height=min(300, 80 + 40 * len(fates))))
    if changed:
        parts.append(grid(pd.DataFrame(changed), {"changes": 820}, height=60 + 40 * len(changed)))
    return parts
