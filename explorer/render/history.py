"""Diffs, lifecycles, lineages and lives of files as JSON and as text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import pyarrow as pa

from explorer.graph.lanes import MOST_LANES, lanes
from explorer.graph.vocabulary import KINDS
from explorer.model.metadata import TableMetadata
from explorer.render.rows import JsonRows, plain
from explorer.render.text import cell, clean, render_table
from explorer.spec.commits.costs import RunCost
from explorer.spec.commits.new_commits import NewCommit
from explorer.spec.entries.entries import read_as
from explorer.spec.secrets.redaction import HIDDEN
from explorer.spec.snapshots.diff import SnapshotDiff
from explorer.spec.snapshots.file_changes import CHANGES, FileChanges
from explorer.spec.snapshots.lifecycle import FileLife, LifecycleCell, matrix
from explorer.spec.snapshots.lineage import LineageEntry, LogEntry, ancestry
from explorer.spec.snapshots.snapshot_names import without_current
from explorer.spec.text.names import base_name, first_of, runs, snapshot_name, snapshot_ordinals
from explorer.spec.text.units import count, human_bytes, instant


def file_rows(files: FileChanges) -> JsonRows:
    """Files that differ as JSON, as they are asked for."""
    return JsonRows(CHANGES, files.parts(AT_ONCE))


AT_ONCE = 20_000
"""Files that become text at once."""
CHANGED_FILES = pa.schema([("change", pa.string()), *CHANGES])
"""Files that differ as rows; `change` is added or removed."""


def file_change_parts(diff: SnapshotDiff) -> Iterator[pa.Table]:
    """The files that differ, some at a time."""
    for change, files in (("added", diff.added), ("removed", diff.removed)):
        for part in files.parts():
            yield part.add_column(0, CHANGED_FILES.field(0), pa.repeat(pa.scalar(change), part.num_rows))


def diff_parts(diff: SnapshotDiff) -> dict[str, Any]:
    """A SnapshotDiff as JSON, its files as iterators over their objects."""
    return {
        "before": diff.before,
        "after": diff.after,
        "added_data_files": file_rows(diff.of("added", deletes=False)),
        "removed_data_files": file_rows(diff.of("removed", deletes=False)),
        "added_delete_files": file_rows(diff.of("added", deletes=True)),
        "removed_delete_files": file_rows(diff.of("removed", deletes=True)),
        "manifests": {
            "kept": list(diff.kept_manifests),
            "added": list(diff.added_manifests),
            "rewritten": [
                {"from": list(r.sources), "into": list(r.into), "merged": r.is_merge, "reason": r.reason}
                for r in diff.rewritten
            ],
            "dropped": [{"manifest_path": d.manifest_path, "reason": d.reason} for d in diff.dropped],
        },
        "partitions": diff.partitions,
        **{name: plain(value) for name, value in diff.table.items()},
    }


def diff_json(diff: SnapshotDiff) -> dict[str, Any]:
    """A SnapshotDiff as JSON."""
    return {name: list(v) if isinstance(v, Iterator) else v for name, v in diff_parts(diff).items()}


def _words(value: Any) -> str:
    if isinstance(value, Mapping) and {"name", "type", "required"} <= value.keys():
        return f"{value['name']} {value['type']}{' required' if value['required'] else ''}"
    if isinstance(value, list) and len(value) == 2 and value[0] in ("branch", "tag"):
        return f"{value[0]} at {value[1]}"
    return cell(plain(value))


def _change_words(change: Any) -> str:
    """A change in words: the two sides of it, or HIDDEN where they are secrets."""
    if change == HIDDEN:
        return f"{HIDDEN} → {HIDDEN}, another value"
    old, new = change
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        keys = [k for k in (*old, *(k for k in new if k not in old)) if old.get(k) != new.get(k)]
        return ", ".join(f"{k}: {_words(old.get(k))} → {_words(new.get(k))}" for k in keys)
    return f"{_words(old)} → {_words(new)}"


def change_rows(changes: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """What spec.snapshots.metadata_diff found, a line a change: (of what, which one, the change in words)."""
    rows: list[tuple[str, str, str]] = []
    for name, value in changes.items():
        what = name.replace("_", " ")
        if not isinstance(value, Mapping):
            rows.append((what, "", _change_words(value)))
            continue
        for how, items in value.items():
            if how == "changed":
                field = "field " if name == "schema" else ""
                rows += [(what, f"{field}{key}", _change_words(pair)) for key, pair in items.items()]
            elif how == "default":
                rows.append((what, how, _change_words(items)))
            elif isinstance(items, Mapping):
                field = "field " if name == "schema" else ""  # by its id
                rows += [(what, f"{field}{key}", f"{how}: {_words(item)}") for key, item in items.items()]
            elif name in ("snapshots", "snapshot_log"):
                rows += [(what, str(item), how) for item in items]
            else:
                rows.append((what, "", f"{how}: {_words(items)}"))
    return rows


def render_changes(changes: Mapping[str, Any]) -> str:
    """What spec.snapshots.metadata_diff found, as text."""
    rows = [{"what": what, "which": which, "change": change} for what, which, change in change_rows(changes)]
    return render_table(rows, width=160) if rows else "nothing differs\n"


def render_diff(diff: SnapshotDiff) -> str:
    """A SnapshotDiff as text: `+` and `-` lines, then what became of the manifests."""
    return "".join(f"{line}\n" for line in diff_lines(diff))


def diff_lines(diff: SnapshotDiff) -> Iterator[str]:
    """The lines of that text, as they are asked for."""
    ids = (f" ({i})" if i is not None else "" for i in (diff.before, diff.after))
    yield " -> ".join(f"{name}{i}" for name, i in zip(diff.names, ids, strict=True))
    for mark, changes in (("+", diff.added), ("-", diff.removed)):
        for c in changes:
            where = f" [{c.partition}]" if c.partition else ""
            yield clean(
                f"{mark} {KINDS[c.kind].title} {base_name(c.file_path)}{where}: {count(c.record_count, 'row')}, "
                f"{human_bytes(c.bytes)}"
            )
    if not diff.added and not diff.removed:
        yield "no files differ"
    rewritten = sum(len(r.sources) for r in diff.rewritten)
    yield (
        f"manifests: {len(diff.kept_manifests)} kept, {len(diff.added_manifests)} added, {rewritten} rewritten, "
        f"{len(diff.dropped)} dropped"
    )
    for rewrite in diff.rewritten:
        names = [", ".join(map(base_name, side)) for side in (rewrite.sources, rewrite.into)]
        yield clean(f"  {' -> '.join(names)}: {rewrite.reason}")
    for dropped in diff.dropped:
        yield clean(f"  {base_name(dropped.manifest_path)} dropped: {dropped.reason}")
    for what, which, change in change_rows(diff.table):
        yield clean(f"{what}{f' {which}' if which else ''}: {change}")


def new_commit_json(landed: NewCommit) -> dict[str, Any]:
    """A commit that landed as JSON: the metadata file that was current then, the snapshot, its diff or the changes."""
    at = {"metadata_location": landed.metadata.metadata_location}
    if landed.snapshot is None:
        return {**at, "changes": plain(landed.changes)}
    snapshot = landed.snapshot
    about = {
        "snapshot_id": snapshot.snapshot_id,
        "operation": snapshot.operation,
        "timestamp_ms": snapshot.timestamp_ms,
    }
    return {**at, **about, "diff": diff_json(landed.diff) if landed.diff else None}


def render_new_commit(landed: NewCommit) -> str:
    """A commit that landed as text: a line that names it, and what it changed."""
    if landed.snapshot is None:
        return f"{clean(base_name(landed.metadata.metadata_location))}\n{render_changes(landed.changes)}"
    snapshot = landed.snapshot
    name = snapshot_name(snapshot.snapshot_id, snapshot_ordinals(landed.metadata))
    head = f"{name} {snapshot.operation or 'no operation'} {instant(snapshot.timestamp_ms)}"
    return f"{clean(head)}\n{render_diff(landed.diff) if landed.diff else 'its parent has expired'}"


def lifecycle_rows(cells: Sequence[LifecycleCell]) -> list[dict[str, Any]]:
    """Cells as JSON."""
    return [plain(asdict(cell)) | {"live": cell.live} for cell in cells]


SNAPSHOTS_SHOWN = 60
"""Columns of the matrix as text, which has a row for each manifest."""
SHORT = {"created": "created", "carried": "·", "rewritten": "→", "merged": "⇒", "dropped": "dropped"}


def contents(cells: Sequence[LifecycleCell]) -> dict[str, dict[str, str]]:
    """The column that says whether a manifest, by its name, lists data or deletes, where any lists deletes."""
    lists = {c.manifest: {"lists": "deletes" if c.kind == "delete_manifest" else "data"} for c in cells}
    return lists if any(c.kind == "delete_manifest" for c in cells) else {}


def render_lifecycle(cells: Sequence[LifecycleCell]) -> str:
    """The matrix manifests by snapshots (counts are added/existing/deleted), and under it what is more than carrying
    on."""
    names, snapshots, at = matrix(cells)
    older = len(snapshots) - SNAPSHOTS_SHOWN
    if older > 0:
        snapshots = snapshots[older:]
        newer = set(snapshots)
        names = list(dict.fromkeys(c.manifest for c in cells if c.snapshot in newer))

    def text(cell: LifecycleCell | None) -> str:
        if cell is None:
            return ""
        if cell.state in ("created", "carried"):
            counts = "/".join("?" if n is None else str(n) for n in (cell.added, cell.existing, cell.deleted))
            return f"{SHORT[cell.state]} {counts}"
        return f"{SHORT[cell.state]} {first_of(cell.into)}".strip()

    lists = contents(cells)
    shown = [
        {"manifest": name} | lists.get(name, {}) | {s: text(at.get((name, s))) for s in snapshots} for name in names
    ]
    notes = [
        f"{c.snapshot}: {c.manifest} {c.state}: {c.reason}" for c in cells if c.state not in ("created", "carried")
    ]
    if older > 0:
        notes.insert(0, f"({older:,} older snapshots, and manifests of these alone, are left out: -o json has them)")
    return render_table(shown, width=max(100, 20 + 18 * len(snapshots))) + "\n".join(clean(n) for n in notes) + "\n"


def lineage_json(entries: Sequence[LineageEntry], log: Sequence[LogEntry]) -> dict[str, Any]:
    """The lineage as JSON: the snapshots and the snapshot log."""
    return {"snapshots": [plain(asdict(e)) for e in entries], "snapshot-log": [plain(asdict(e)) for e in log]}


def render_lineage(entries: Sequence[LineageEntry], log: Sequence[LogEntry]) -> str:
    """Newest first, like a log: one column a line of descent; then the snapshot log, where it says more than the
    lineage."""
    lines, drawn = [], lanes(entries)
    for entry, row in zip(reversed(entries), drawn, strict=True):
        width = max((row.lane, *row.through, *row.above)) + 1
        joins = "".join(
            "|/"[i > row.lane and i in row.above] if i in (*row.through, *row.above) else " " for i in range(width)
        )
        if len(row.above) > 1:
            lines.append(" ".join(joins).rstrip())
        marks = "".join(
            "* " if i == row.lane else "| " if i in row.through else "  "
            for i in range(max((row.lane, *row.through)) + 1)
        )
        refs = f" ({', '.join(entry.refs)})" if entry.refs else ""
        notes = f"  {'; '.join(entry.notes)}" if entry.notes else ""
        when = instant(entry.timestamp_ms)
        lines.append(f"{marks}{entry.snapshot}{refs} {entry.operation or '?'} {when} [{entry.kind}]{notes}")
    if any(row.lane == MOST_LANES for row in drawn):
        lines.append(f"(of lines of descent, at most {MOST_LANES} are drawn side by side)")
    odd = [e for e in log if e.how != "commit"]
    if odd:
        lines.append("the snapshot log parts from the lineage:")
        lines += [f"  {instant(e.timestamp_ms)} {e.how}: {e.reason}" for e in odd]
    return "\n".join(clean(line) for line in lines) + "\n"


def file_life_json(file: FileLife) -> dict[str, Any]:
    """The life of a file as JSON."""
    return plain(asdict(file))  # type: ignore[no-any-return]


def render_file_life(file: FileLife) -> str:
    """The life of a file as text."""
    lines = [file.file_path]
    for events in file.chapters():
        event = events[0]
        read = read_as(event.logical_status)
        by = f" ({event.operation})" if len(events) == 1 else ""
        lines.append(
            f"  {runs(e.snapshot for e in events)}{by}: {event.manifest} stores {event.status}, read as {read}"
        )
    lines.append(f"added by {file.added_by or 'an expired snapshot'}; deleted by {file.deleted_by or 'none'}")
    lines.append(f"live in {runs(file.live_in) or 'no snapshot'}; refs: {', '.join(file.refs) or 'none'}")
    lines.append(f"to let it go: {file.goes_when}")
    return "\n".join(clean(line) for line in lines) + "\n"


def commits_json(run: RunCost) -> dict[str, Any]:
    """A run of commits as JSON."""
    totals = {n: getattr(run, n) for n in ("bytes_written", "bytes_kept", "metadata_bytes", "write_amplification")}
    return {"commits": [plain(asdict(c)) | {"metadata_bytes": c.metadata_bytes} for c in run.commits], **totals}


COMMIT_SIZES = ("written", "removed", "manifest bytes", "list", "metadata.json")
"""The columns of `commit_rows` that are bytes."""


def commit_rows(run: RunCost, metadata: TableMetadata) -> list[dict[str, Any]]:
    """A run of commits for a table that people read: when, by which engine and application, what it did and cost."""

    def change(added: int, removed: int) -> str:
        return " ".join(part for part, n in ((f"+{added:,}", added), (f"−{removed:,}", removed)) if n)

    snapshots = {s.snapshot_id: s for s in metadata.snapshots}
    return [
        {
            "snapshot": c.snapshot,
            "when": instant(snapshots[c.snapshot_id].timestamp_ms),
            "by": _writer(snapshots[c.snapshot_id].summary),
            "operation": c.operation or "?",
            "data files": change(c.data_files_added, c.data_files_removed),
            "delete files": change(c.delete_files_added, c.delete_files_removed),
            "rows": change(c.rows_added, c.rows_removed),
            "written": c.bytes_added,
            "removed": c.bytes_removed,
            "manifests": c.manifests_written,
            "manifest bytes": c.manifest_bytes,
            "list": c.manifest_list_bytes,
            "metadata.json": c.metadata_json_bytes,
        }
        for c in run.commits
    ]


def _writer(summary: Mapping[str, str]) -> str:
    """Which engine and application made a snapshot, as far as its summary says."""
    engine = " ".join(summary[name] for name in ("engine-name", "engine-version") if summary.get(name))
    return ", ".join(part for part in (engine, summary.get("app-id", "")) if part)


def run_words(run: RunCost, metadata: TableMetadata) -> str:
    """The totals of a run in a sentence; of a table without a current snapshot, and so without a run, what there is."""
    if not run.commits and (without := without_current(metadata)):
        return f"{without[0].upper()}{without[1:]}."
    factor = (
        "nothing of it is read any more"
        if run.write_amplification is None
        else f"write amplification {run.write_amplification:.2f}"
    )
    unknown = sum(c.metadata_json_bytes is None for c in run.commits)
    gone = f", without the metadata.json of {unknown:,}, which the metadata log no longer has" if unknown else ""
    together = [c.snapshot for c in run.commits if c.metadata_json_bytes == 0]
    one_file = (
        f" {first_of(together, 5)} {'was' if len(together) == 1 else 'were'} committed in one transaction with a later "
        "one, which has the metadata.json of both."
        if together
        else ""
    )
    written = human_bytes(run.bytes_written)
    left = (
        f"how much of it is still read at the end is not known, since what {run.commits[-1].snapshot} reads cannot be "
        "read whole"
        if run.bytes_kept is None
        else f"{human_bytes(run.bytes_kept)} are still read at the end: {factor}"
    )
    return (
        f"{count(len(run.commits), 'commit')} wrote {written} of files; {left}. "
        + f"Their metadata took {human_bytes(run.metadata_bytes)}{gone}.{one_file}{_elsewhere_words(run, metadata)}"
    )


def _elsewhere_words(run: RunCost, metadata: TableMetadata) -> str:
    """That a table has snapshots beside the history of a run."""
    if not run.commits:
        return ""
    history = set(ancestry(metadata, run.commits[-1].snapshot_id))
    others = sum(snapshot.snapshot_id not in history for snapshot in metadata.snapshots)
    if not others:
        return ""
    are = "is" if others == 1 else "are"
    return (
        f" {count(others, 'snapshot')} {are} not in the history of {run.commits[-1].snapshot}: on other branches, "
        "staged, later or rolled back (icedive history lineage TABLE shows them)."
    )


def render_commits(run: RunCost, metadata: TableMetadata) -> str:
    """A run of commits as text."""
    rows = [
        {name: human_bytes(value) if name in COMMIT_SIZES else value for name, value in row.items() if name != "by"}
        for row in commit_rows(run, metadata)
    ]
    return (render_table(rows, width=170) if rows else "") + clean(run_words(run, metadata)) + "\n"
