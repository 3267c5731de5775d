"""Diffs, lifecycles, histories and biographies as JSON and as text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from explorer.core.diff import FileChange, SnapshotDiff
from explorer.core.lifecycle import Biography, Cell, matrix
from explorer.core.lineage import HistoryEntry, LogEntry
from explorer.core.names import base_name
from explorer.core.units import count, human_bytes, instant
from explorer.model.graph import KINDS
from explorer.views.rows import plain
from explorer.views.text import clean, render_table


def _change(change: FileChange) -> dict[str, Any]:
    return plain(asdict(change))  # type: ignore[no-any-return]


def diff_object(diff: SnapshotDiff) -> dict[str, Any]:
    """A SnapshotDiff as JSON."""
    return {
        "before": diff.before,
        "after": diff.after,
        "added_data_files": [_change(c) for c in diff.of("added", deletes=False)],
        "removed_data_files": [_change(c) for c in diff.of("removed", deletes=False)],
        "added_delete_files": [_change(c) for c in diff.of("added", deletes=True)],
        "removed_delete_files": [_change(c) for c in diff.of("removed", deletes=True)],
        "manifests": {
            "kept": list(diff.kept_manifests),
            "added": list(diff.added_manifests),
            "rewritten": [{"from": list(r.sources), "into": list(r.into), "merged": r.merged, "reason": r.reason} for r in diff.rewritten],
            "dropped": [{"manifest_path": d.manifest_path, "reason": d.reason} for d in diff.dropped],
        },
        "partitions": diff.partitions,
        **{name: plain(value) for name, value in diff.table.items()},
    }


def render_diff(diff: SnapshotDiff) -> str:
    """A SnapshotDiff as text: `+` and `-` lines, then what became of the manifests."""
    lines = [f"snapshot {diff.before} -> {diff.after}"]
    for mark, changes in (("+", diff.added), ("-", diff.removed)):
        for c in changes:
            where = f" [{c.partition}]" if c.partition else ""
            lines.append(f"{mark} {KINDS[c.kind]} {base_name(c.file_path)}{where}: {count(c.record_count, 'row')}, {human_bytes(c.bytes)}")
    if not diff.added and not diff.removed:
        lines.append("no files differ")
    rewritten = sum(len(r.sources) for r in diff.rewritten)
    lines.append(
        f"manifests: {len(diff.kept_manifests)} kept, {len(diff.added_manifests)} added, {rewritten} rewritten, {len(diff.dropped)} dropped"
    )
    for rewrite in diff.rewritten:
        names = [", ".join(map(base_name, side)) for side in (rewrite.sources, rewrite.into)]
        lines.append(f"  {' -> '.join(names)}: {rewrite.reason}")
    lines += [f"  {base_name(d.manifest_path)} dropped: {d.reason}" for d in diff.dropped]
    for name, value in diff.table.items():
        if value:
            lines.append(f"{name}: {plain(value)}")
    return "\n".join(clean(line) for line in lines) + "\n"


def lifecycle_rows(cells: Sequence[Cell]) -> list[dict[str, Any]]:
    """Cells as JSON."""
    return [plain(asdict(cell)) | {"live": cell.live} for cell in cells]


SHORT = {"created": "created", "carried": "·", "rewritten": "→", "merged": "⇒", "dropped": "dropped"}


def render_lifecycle(cells: Sequence[Cell]) -> str:
    """The matrix manifests by snapshots (counts are added/existing/deleted), and under it what is more than carrying on."""
    names, snapshots, at = matrix(cells)

    def text(cell: Cell | None) -> str:
        if cell is None:
            return ""
        if cell.state in ("created", "carried"):
            counts = "/".join("?" if n is None else str(n) for n in (cell.added, cell.existing, cell.deleted))
            return f"{SHORT[cell.state]} {counts}"
        return f"{SHORT[cell.state]} {','.join(cell.into)}".strip()

    shown = [{"manifest": name} | {s.replace("snapshot-", "s"): text(at.get((name, s))) for s in snapshots} for name in names]
    notes = [f"{c.snapshot}: {c.manifest} {c.state}: {c.reason}" for c in cells if c.state not in ("created", "carried")]
    return render_table(shown, width=max(100, 20 + 18 * len(snapshots))) + "\n".join(clean(n) for n in notes) + "\n"


def history_object(entries: Sequence[HistoryEntry], log: Sequence[LogEntry]) -> dict[str, Any]:
    """History as JSON: the lineage and the snapshot log."""
    return {"snapshots": [plain(asdict(e)) for e in entries], "snapshot-log": [plain(asdict(e)) for e in log]}


def render_history(entries: Sequence[HistoryEntry], log: Sequence[LogEntry]) -> str:
    """Newest first, like a log: one column a line of descent; then the snapshot log, where it says more than the lineage."""
    lanes: list[int | None] = []
    lines = []
    for entry in reversed(entries):
        if entry.snapshot_id not in lanes:
            lanes.append(entry.snapshot_id)
        own = lanes.index(entry.snapshot_id)
        marks = "".join("* " if i == own else "| " if lane is not None else "  " for i, lane in enumerate(lanes))
        refs = f" ({', '.join(entry.refs)})" if entry.refs else ""
        notes = f"  {'; '.join(entry.notes)}" if entry.notes else ""
        when = instant(entry.timestamp_ms)
        lines.append(f"{marks}{entry.snapshot}{refs} {entry.operation or '?'} {when} [{entry.kind}]{notes}")
        known = entry.parent is not None and not entry.parent.startswith("expired")
        lanes[own] = entry.parent_snapshot_id if known and entry.parent_snapshot_id not in lanes else None
        while lanes and lanes[-1] is None:
            lanes.pop()
    odd = [e for e in log if e.how != "commit"]
    if odd:
        lines.append("the snapshot log parts from the lineage:")
        lines += [f"  {instant(e.timestamp_ms)} {e.how}: {e.reason}" for e in odd]
    return "\n".join(clean(line) for line in lines) + "\n"


def biography_object(file: Biography) -> dict[str, Any]:
    """A biography as JSON."""
    return plain(asdict(file))  # type: ignore[no-any-return]


def render_biography(file: Biography) -> str:
    """A biography as text."""
    lines = [file.file_path]
    for event in file.events:
        read = event.logical_status or "filtered out"
        lines.append(f"  {event.snapshot} ({event.operation}): {event.manifest} stores {event.status}, read as {read}")
    lines.append(f"added by {file.added_by or 'an expired snapshot'}; deleted by {file.deleted_by or 'none'}")
    lines.append(f"live in {', '.join(file.live_in) or 'no snapshot'}; refs: {', '.join(file.refs) or 'none'}")
    lines.append(f"to let it go: {file.goes_when}")
    return "\n".join(clean(line) for line in lines) + "\n"
