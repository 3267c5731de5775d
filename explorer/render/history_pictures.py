"""Pictures of how a table came to be what it is, as SVG: lives of manifests, snapshots in lanes and in time, two
snapshots compared. The newest part of what is too long for one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from math import log1p

from explorer.graph.lanes import lanes
from explorer.graph.vocabulary import ENDS, KINDS, OPERATIONS, STATUSES
from explorer.render.overview import moment_words
from explorer.render.pictures import WIDTH, svg_head, text, title_tag
from explorer.render.svg_colors import FAINT, text_color
from explorer.spec.overview.overview import AMOUNTS, Overview, SnapshotCounts
from explorer.spec.snapshots.diff import SnapshotDiff
from explorer.spec.snapshots.file_changes import FileChange
from explorer.spec.snapshots.lifecycle import LifecycleCell, ManifestLife, lives
from explorer.spec.snapshots.lineage import LineageEntry
from explorer.spec.text.names import file_label, shorten
from explorer.spec.text.units import count, human_bytes, instant

LEFT, LINE = 190, 24
MANIFESTS, SNAPSHOTS, FILES = 40, 60, 24
"""So many of each are drawn."""
NAMED = 80.0
"""From this width on there is room for a snapshot's whole name above its column."""
ADDED, REMOVED, OTHER = "#3d8fd1", "#e08a2e", "#7a8594"
SMALL = 'font-size="12"'
END = 'text-anchor="end"'


def _omission_note(number: int, noun: str, y: float) -> list[str]:
    return [text(0, y, f"… {count(number, f'older {noun}')} not drawn", SMALL)] if number > 0 else []


def lifecycle_svg(cells: Sequence[LifecycleCell]) -> str:
    """A line for each manifest from the snapshot that wrote it to the last that lists it, and what became of it."""
    snapshots, every = lives(cells)
    first = max(0, len(snapshots) - SNAPSHOTS)
    late = [life for life in every if max(last for _, last, _ in life.runs) >= first - 1]
    drawn = late[-MANIFESTS:]
    if len(drawn) < len(every):  # from where the oldest that is drawn begins
        first = max(first, min((start for life in drawn for start, *_ in life.runs), default=0))
    step = min(120.0, (WIDTH - LEFT - 40) / max(len(snapshots) - first, 1))
    row = {life.manifest_path: 40.0 + LINE * at for at, life in enumerate(drawn)}
    named = Counter(life.manifest for life in drawn)  # those of expired snapshots may share a name
    by_name = {life.manifest: row[life.manifest_path] for life in drawn if named[life.manifest] == 1}
    bottom, each = 40.0 + LINE * len(drawn), max(1, -(-44 // int(step)))
    most = log1p(max((cell.entries for life in drawn for *_, cell in life.runs), default=0)) or 1

    def x(column: float) -> float:
        return LEFT + step * (max(column, first) - first + 0.5)

    out = [svg_head(bottom + 38, "the lifecycle of manifests")]
    for at in range(first, len(snapshots), each):
        name = snapshots[at] if step * each >= NAMED else snapshots[at].removeprefix("snapshot-")
        out.append(text(x(at), 16, name, f'text-anchor="middle" {SMALL}'))
    for life in drawn:
        y = row[life.manifest_path]
        out.append(text(0, y + 4, shorten(life.manifest, 26), SMALL))
        for start, end, cell in life.runs:
            if end < first:
                continue
            title = f"{life.manifest}, {snapshots[start]} to {snapshots[end]}: {_entries(cell)}"
            thick = 5 + 9 * log1p(cell.entries) / most
            out.append(
                f'<g>{title_tag(title)}<line x1="{x(start) - 5:.1f}" x2="{x(end) + 5:.1f}" y1="{y}" y2="{y}" '
                f'stroke="{KINDS[cell.kind].color}" stroke-width="{thick:.1f}" stroke-linecap="round"/></g>'
            )
        for at, cell in (end for end in life.ends if end[0] >= first):
            for into in cell.into:
                if (to := by_name.get(into)) is not None:
                    out.append(
                        f'<path d="M{x(at - 1) + 8:.1f},{y} C{x(at) - 8:.1f},{y} {x(at - 1) + 8:.1f},{to} '
                        f'{x(at) - 8:.1f},{to}" fill="none" stroke="{ENDS["merged"][1]}" stroke-width="1.5"/>'
                    )
            sign, colour = ENDS[cell.state]
            mark = text(x(at - 0.62), y + 4, sign, f'{text_color(colour)} font-size="11"')
            out.append(f"<g>{title_tag(f'{cell.state} by {cell.snapshot}')}{mark}</g>")
    out += _key(drawn, first, bottom + 14)
    out += _omission_note(len(every) - len(drawn), "manifest", bottom + 32)
    return "\n".join([*out, "</svg>"])


def _key(drawn: Sequence[ManifestLife], first: int, y: float) -> list[str]:
    """What the colours and signs of a lifecycle say, of those that are in it."""
    out, left = [], float(LEFT)
    for kind in dict.fromkeys(cell.kind for life in drawn for _, end, cell in life.runs if end >= first):
        out.append(f'<rect x="{left}" y="{y - 9}" width="18" height="9" rx="4" fill="{KINDS[kind].color}"/>')
        out.append(text(left + 24, y, KINDS[kind].title, SMALL))
        left += 150
    for state in dict.fromkeys(cell.state for life in drawn for at, cell in life.ends if at >= first):
        sign, colour = ENDS[state]
        out.append(text(left, y, sign, f"{text_color(colour)} {SMALL}") + text(left + 16, y, state, SMALL))
        left += 100
    return out


def _entries(cell: LifecycleCell) -> str:
    counts = zip((cell.added, cell.existing, cell.deleted), ("added", "existing", "deleted"), strict=True)
    return ", ".join(f"{'?' if n is None else f'{n:,}'} {what}" for n, what in counts)


def lineage_svg(entries: Sequence[LineageEntry]) -> str:
    """Snapshots as a log draws them, the newest above: lines of descent as lanes."""
    shown = list(entries[-SNAPSHOTS:])
    rows = lanes(shown)
    wide = 20.0 * (1 + max((r.lane for r in rows), default=0)) + 20
    height = 12 + LINE * len(shown)
    out = [svg_head(height + 20, "the lineage of snapshots")]
    at = {
        e.snapshot_id: (14 + 20.0 * r.lane, 16 + LINE * float(i))
        for i, (e, r) in enumerate(zip(shown[::-1], rows, strict=True))
    }
    for entry in shown:
        (x, y), parent = at[entry.snapshot_id], at.get(entry.parent_snapshot_id or -1)
        if parent:
            bend = f"C{x:.0f},{parent[1]:.0f} {parent[0]:.0f},{y:.0f} " if parent[0] != x else "L"
            out.append(f'<path d="M{x:.0f},{y:.0f} {bend}{parent[0]:.0f},{parent[1]:.0f}" fill="none" {FAINT}/>')
    for entry in shown:
        x, y = at[entry.snapshot_id]
        colour = OPERATIONS.get(entry.operation or "", OTHER)
        out.append(f'<circle cx="{x:.0f}" cy="{y:.0f}" r="6" fill="{colour}"/>')
        kind = "" if entry.kind in ("current", "ancestor") else f", {entry.kind}"
        refs = f"  [{', '.join(entry.refs)}]" if entry.refs else ""
        words = f"{entry.snapshot}  {instant(entry.timestamp_ms)}  {entry.operation or '?'}{kind}{refs}"
        out.append(text(wide, y + 4, shorten(words, 110)))
    out += _omission_note(len(entries) - len(shown), "snapshot", height + 14)
    return "\n".join([*out, "</svg>"])


def overview_svg(seen: Overview) -> str:
    """What each snapshot added and removed, in rows, files and bytes, by time."""
    moments = [m for m in seen.moments if m.entry.timestamp_ms is not None][-SNAPSHOTS:]
    times = [float(m.entry.timestamp_ms or 0) for m in moments]
    start, span = (min(times), (max(times) - min(times)) or 1.0) if times else (0.0, 1.0)

    def x(moment: SnapshotCounts) -> float:
        here = (float(moment.entry.timestamp_ms or 0) - start) / span
        return 90 + (WIDTH - 150) * (here if len(moments) > 1 else 0.5)

    out = [svg_head(60 + 62 * len(AMOUNTS), f"{seen.table}: snapshots in time")]
    out.append(f'<line x1="90" x2="{WIDTH - 60}" y1="22" y2="22" {FAINT}/>')
    for moment in moments:
        colour = OPERATIONS.get(moment.entry.operation or "", OTHER)
        title = f"{moment.entry.snapshot}, {moment.entry.operation}: {moment_words(moment)}"
        radius = 8 if moment.entry.snapshot_id == seen.snapshot_id else 5
        out.append(f'<circle cx="{x(moment):.1f}" cy="22" r="{radius}" fill="{colour}">{title_tag(title)}</circle>')
    for at, what in enumerate(AMOUNTS):
        out += _strip(what, moments, 40.0 + 62 * at, x)
    if times:
        y = 54 + 62 * len(AMOUNTS)
        out += [
            text(90, y, instant(int(start)), SMALL),
            text(WIDTH - 60, y, instant(int(max(times))), f"{END} {SMALL}"),
        ]
    ops = dict.fromkeys(m.entry.operation or "unknown" for m in moments)
    for at, operation in enumerate(ops):
        left, y, colour = 300 + 90 * at, 50 + 62 * len(AMOUNTS), OPERATIONS.get(operation, OTHER)
        out.append(f'<circle cx="{left}" cy="{y}" r="5" fill="{colour}"/>')
        out.append(text(left + 10, y + 4, shorten(operation, 12), SMALL))
    left_out = len(seen.moments) - len(moments)
    out += [text(0, 26, f"… {left_out:,} older", SMALL)] if left_out > 0 else []
    return "\n".join([*out, "</svg>"])


def _strip(what: str, moments: Sequence[SnapshotCounts], top: float, x: Callable[[SnapshotCounts], float]) -> list[str]:
    """Bars up for what was added, down for what was removed, each to the scale of the larger."""
    ups, downs = (
        [side[what] or 0 for side in sides] for sides in ([m.added for m in moments], [m.removed for m in moments])
    )
    most = max([*ups, *downs, 1])
    middle, say = top + 30, human_bytes if what == "bytes" else count
    out = [text(0, middle + 4, what, SMALL), f'<line x1="90" x2="{WIDTH - 60}" y1="{middle}" y2="{middle}" {FAINT}/>']
    wide = max(2.0, min(10.0, 420 / max(len(moments), 1)))
    for moment, up, down in zip(moments, ups, downs, strict=True):
        for amount, colour, sign in ((up, ADDED, -1), (down, REMOVED, 1)):
            if amount:
                high = max(1.5, 26 * amount / most)
                y = middle if sign > 0 else middle - high
                out.append(
                    f'<rect x="{x(moment) - wide / 2:.1f}" y="{y:.1f}" width="{wide:.1f}" height="{high:.1f}" '
                    f'fill="{colour}">{title_tag(f"{moment.entry.snapshot}: {moment_words(moment)}")}</rect>'
                )
    for amount, y, mark in ((max(ups, default=0), middle - 18, "+"), (max(downs, default=0), middle + 26, "−")):
        if amount:
            out.append(text(82, y, f"{mark}{say(amount)}", f'{END} font-size="11"'))
    return out


def diff_svg(diff: SnapshotDiff) -> str:
    """Files that only one of two snapshots reads, by their rows; and what became of the manifests."""
    number, y = len(diff.removed) + len(diff.added), 34.0
    removed = diff.removed[: max(FILES // 2, FILES - len(diff.added))]
    added = diff.added[: FILES - len(removed)]
    shown = [(STATUSES[side], c) for side, changes in (("removed", removed), ("added", added)) for c in changes]
    most = max((rows_of(c) for _, c in shown), default=0) or 1
    out = [svg_head(LINE * (len(shown) + 3) + 12, "the difference of two snapshots")]
    out.append(text(0, 16, f"from {diff.names[0]} to {diff.names[1]}", 'font-weight="600"'))
    gone = STATUSES["removed"]
    for status, change in shown:
        wide = max(4.0, (WIDTH - 2 * LEFT - 170) * rows_of(change) / most)
        out.append(f"<g>{title_tag(f'{status.title}: {change.file_path}')}")
        out.append(
            text(0, y + 13, f"{status.sign} {file_label(change.file_path, 36)}", f"{text_color(status.color)} {SMALL}")
        )
        out.append(
            f'<rect x="{LEFT + 90}" y="{y + 2}" width="{wide:.1f}" height="14" {_look(change, status is gone)}/>'
        )
        out.append(text(LEFT + 96 + wide, y + 13, _amount(change), SMALL) + "</g>")
        y += LINE
    if number > len(shown):
        out.append(text(0, y + 13, f"… {count(number - len(shown), 'more file')} not drawn", SMALL))
    elif not number:
        out.append(text(0, y + 13, "both read the same files", SMALL))
    kinds = {
        "kept": len(diff.kept_manifests), "added": len(diff.added_manifests),
        "rewritten": sum(len(r.sources) for r in diff.rewritten), "dropped": len(diff.dropped),
    }  # fmt: skip
    out.append(text(0, y + LINE + 20, f"manifests: {', '.join(f'{n:,} {what}' for what, n in kinds.items())}"))
    return "\n".join([*out, "</svg>"])


def _look(change: FileChange, hollow: bool) -> str:
    """The bar of a file that is read now, or no longer."""
    color = KINDS[change.kind].color
    return f'fill="none" stroke="{color}" stroke-dasharray="4 2"' if hollow else f'fill="{color}"'


def rows_of(change: FileChange) -> int:
    """A file's rows; what no file can have is 0."""
    return max(0, change.record_count or 0)


def _amount(change: FileChange) -> str:
    where = f", {shorten(change.partition, 24)}" if change.partition else ""
    noun = "row" if change.kind == "data_file" else "delete"
    return f"{count(rows_of(change), noun)}, {human_bytes(change.bytes)}{where}"
