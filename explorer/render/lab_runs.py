"""Runs of the lab and interleavings as text and JSON, and a run as a sequence diagram."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from html import escape
from typing import Any

from explorer.render.rows import plain
from explorer.render.svg_colors import FAINT, text_color
from explorer.render.text import clean, clean_lines, render_table
from explorer.spec.commits.lab_runs import Event, Interleavings, LabRow, Lap, WriterState
from explorer.spec.commits.operations import LOOKS_AT_CATALOG, StepOutcome
from explorer.spec.commits.statement_effects import Effects
from explorer.spec.text.names import file_label, shorten
from explorer.spec.text.units import count


def render_run(events: Iterable[Event], writers: Sequence[WriterState], rows: Sequence[LabRow]) -> str:
    """A run as text: the steps, with the files each wrote in order; what each writer left behind;
    what each lane loaded; the rows."""
    lines = [
        f"{w.name}: {w.operation.kind}" + ("" if w.operation.what.reads else f", {w.operation.isolation}")
        for w in writers
    ]
    lines += step_lines(events)
    for w in writers:
        lines.append(f"{w.name} {w.state}" + (f"; left behind: {', '.join(w.left_behind)}" if w.left_behind else ""))
    for row in load_rows(writers):
        lines.append(
            f"{row['lane']} loaded {row['snapshot']} of {row['table']}" + (f": {row['rows']}" if row["rows"] else "")
        )
    lines.append("rows: " + "; ".join(f"{i} {v!r} {p}" for i, v, p in rows))
    return "\n".join(clean(line) for line in lines) + "\n"


def step_lines(events: Iterable[Event]) -> Iterator[str]:
    """The steps of a run as lines, with the files each wrote and removed."""
    for e in events:
        yield f"{e.n:>3} {e.writer} {e.step:<9}{e.outcome:<10}{e.words}"
        yield from (f"      wrote {f}" for f in e.files)
        yield from (f"      removed {f}" for f in e.removed)


def run_json(saved: str, writers: Sequence[WriterState], rows: Sequence[LabRow]) -> dict[str, Any]:
    """A run as JSON; it can be saved and replayed."""
    ends = [
        {
            "writer": w.name, "state": w.state, "attempts": w.attempts, "left_behind": list(w.left_behind),
            "saw": [plain(asdict(s)) for s in w.saw],
        }
        for w in writers
    ]  # fmt: skip
    return {**json.loads(saved), "writers": ends, "rows": plain(list(rows))}


def load_rows(writers: Sequence[WriterState]) -> list[dict[str, str]]:
    """What each lane loaded of each table, one row each: writers what they loaded, readers also what they read."""
    return [
        {
            "lane": w.name,
            "table": saw.table,
            "snapshot": saw.snapshot,
            "rows": "" if saw.rows is None else rows_words(saw.rows) or "none",
        }
        for w in writers
        for saw in w.saw
    ]


def rows_words(rows: Sequence[LabRow]) -> str:
    """The rows on one line."""
    return "; ".join(f"{i} {v!r}" for i, v, _ in rows)


def interleaving_rows(run: Interleavings) -> list[dict[str, Any]]:
    """One row an order."""
    return [
        {
            "order": o.order,
            "outcomes": ", ".join(o.ends),
            "rows": rows_words(o.rows),
            "equals": " ".join(o.serial),
            "anomaly": o.anomaly,
        }
        for o in run.outcomes
    ]


def render_interleavings(run: Interleavings) -> str:
    """All orders as text."""
    summary = "\n".join(f"{n:>4}  {label}" for label, n in run.summary().items())
    serial = "\n".join(f"  {o or 'at first'}: {rows_words(r)}" for o, r in run.serial.items())
    return render_table(interleaving_rows(run), width=170) + f"\nserial orders:\n{serial}\n\n{summary}\n"


def interleavings_json(run: Interleavings) -> dict[str, Any]:
    """All orders as JSON, each with its saved run."""
    orders = [row | {"run": json.loads(o.saved)} for row, o in zip(interleaving_rows(run), run.outcomes, strict=True)]
    operations = [{"kind": o.kind, "isolation": o.isolation} for o in run.operations]
    return {"operations": operations, "serial": plain(run.serial), "summary": run.summary(), "orders": orders}


COLORS: Mapping[StepOutcome, str] = {
    "ok": "#555555", "committed": "#007d52", "lost": "#b84e00", "refused": "#b00020", "killed": "#111111",
    "unknown": "#7b4fd0", "answered": "#007d52", "failed": "#b00020",
}  # fmt: skip
"""Of discs, with a number in white; `toned` where they are text on the page."""
LANES, LETTER, TOP, LINE = 480, 8, 46, 38
"""All lanes are within so many pixels of the first one, unless their names would touch; of each letter of a name."""


def sequence_svg(events: Sequence[Event], writers: Sequence[WriterState]) -> str:
    """A run as a sequence diagram: lanes for writers and readers, the storage and the catalog; all text is escaped."""
    lanes = [*(f"{w.name}: {w.operation.kind}" for w in writers), "storage", "catalog"]
    between = max(LANES // (len(lanes) - 1), LETTER * max(map(len, lanes)) + LETTER)
    *own_lanes, storage, catalog = (70 + between * i for i in range(len(lanes)))
    x = {w.name: at for w, at in zip(writers, own_lanes, strict=True)}
    height, width = TOP + LINE * (len(events) + 1), catalog + 70
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        'font-family="system-ui, sans-serif" font-size="12" fill="currentColor" style="max-width:none">'
    ]
    for i, name in enumerate(lanes):
        at = 70 + between * i
        out.append(f'<text x="{at}" y="20" text-anchor="middle" font-weight="600">{escape(clean(name))}</text>')
        out.append(f'<line x1="{at}" y1="28" x2="{at}" y2="{height - 8}" {FAINT} stroke-dasharray="3 3"/>')
    for i, event in enumerate(events):
        y, own, color = TOP + LINE * i + 16, x[event.writer], COLORS[event.outcome]
        reads = event.step in ("plan", "read")
        target = catalog if event.step in LOOKS_AT_CATALOG else storage if event.files or reads else own
        if event.step == "apply" and event.outcome != "refused":
            out.append(f'<line x1="{own}" y1="{y}" x2="{catalog}" y2="{y}" {FAINT} stroke-dasharray="2 3"/>')
        if target != own:
            out.append(f'<line x1="{own}" y1="{y}" x2="{target}" y2="{y}" stroke="{color}" stroke-width="2"/>')
            out.append(f'<circle cx="{target}" cy="{y}" r="4" fill="{color}"/>')
        out.append(f"<g><title>{escape(clean(event.words))}</title>")
        out.append(f'<circle cx="{own}" cy="{y}" r="9" fill="{color}" {FAINT}/>')
        out.append(f'<text x="{own}" y="{y + 4}" text-anchor="middle" fill="#fff" font-size="10">{event.n}</text>')
        label = event.step if event.outcome in ("ok", "answered") else f"{event.step}: {event.outcome}"
        label += f": {event.short}" if event.short and event.outcome != "failed" else ""
        out.append(f'<text x="{own + 14}" y="{y - 5}" {text_color(color)} font-weight="600">{escape(label)}</text>')
        more = (
            count(len(event.files), "file")
            if len(event.files) > 1
            else file_label(event.files[0], 25)
            if event.files
            else shorten(event.short, 25)
            if event.outcome == "failed"
            else ""
        )
        if more:
            out.append(f'<text x="{storage + 8}" y="{y - 5}" font-size="11">{escape(clean(more))}</text>')
        out.append("</g>")
    out.append("</svg>")
    return "\n".join(out)


def report_rows(report: Mapping[str, Any]) -> list[dict[str, Any]]:
    """A CommitReport as rows: each metric with its value and unit."""
    rows = [{"of the commit": k, "": str(v)} for k, v in report.items() if not isinstance(v, (dict, list))]
    for name, metric in (report.get("metrics") or {}).items():
        if "total-duration" in metric:
            rows.append({"of the commit": name, "": f"{metric['total-duration'] / 1e6:.1f} ms"})
        else:
            rows.append(
                {
                    "of the commit": name,
                    "": f"{metric['value']:,}" + (" bytes" if metric.get("unit") == "bytes" else ""),
                }
            )
    return rows


def race_svg(laps: Sequence[Lap], total: int) -> str:
    """Commits acknowledged over time, in all and by each writer, and swaps lost."""
    width, height, left, top = 760, 230, 56, 14
    until = max(laps[-1].seconds, 0.1)
    most = max(total, laps[-1].retries, 1)

    def line(values: Sequence[float], color: str, thick: float) -> str:
        points = " ".join(
            f"{left + lap.seconds / until * width:.1f},{top + height - v / most * height:.1f}"
            for lap, v in zip(laps, values, strict=True)
        )
        return (
            f'<polyline points="{left},{top + height} {points}" fill="none" stroke="{color}" stroke-width="{thick}"/>'
        )

    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + width + 190}" height="{top + height + 34}" '
        'font-family="system-ui, sans-serif" font-size="12" fill="currentColor">',
        f'<rect x="{left}" y="{top}" width="{width}" height="{height}" fill-opacity="0.04" {FAINT}/>',
    ]
    for part in (0, 0.5, 1):
        y = top + height * (1 - part)
        out.append(f'<text x="{left - 6}" y="{y + 4:.0f}" text-anchor="end">{most * part:,.0f}</text>')
        out.append(
            f'<text x="{left + width * part:.0f}" y="{top + height + 18}" text-anchor="middle">'
            f"{until * part:.0f} s</text>"
        )
    for name in laps[-1].by_writer:
        out.append(line([lap.by_writer[name] for lap in laps], "#d18e00" if name.startswith("java") else "#7b4fd0", 1))
    out += [line([lap.retries for lap in laps], "#d55e00", 2), line([lap.acknowledged for lap in laps], "#00895a", 3)]
    key = (
        ("acknowledged commits", "#00895a"),
        ("swaps lost", "#d55e00"),
        ("of each Java writer", "#d18e00"),
        ("of each pyiceberg writer", "#7b4fd0"),
    )
    for i, (label, color) in enumerate(key):
        y = top + 14 + 20 * i
        out.append(f'<rect x="{left + width + 14}" y="{y - 9}" width="12" height="10" fill="{color}"/>')
        out.append(f'<text x="{left + width + 32}" y="{y}">{label}</text>')
    return "\n".join([*out, "</svg>"])


def observation_json(done: Effects) -> dict[str, Any]:
    """What one statement did, as JSON."""
    files = [{"path": f.path, "what": f.what, "size": f.size, "after_ms": round(f.after_ms, 1)} for f in done.files]
    return {
        "statement": done.sql, "seconds": round(done.seconds, 3), "commits": done.commits, "files": files,
        "removed": list(done.removed),
        "swapped": list(done.swapped) if done.swapped else None, "report": plain(done.report),
        "answer": plain(list(done.answer)),
    }  # fmt: skip


def render_observation(done: Effects) -> str:
    """What one statement did, as text: its files in the order they were written, the swap, and Iceberg's report."""
    rows = [
        {"n": i, "after ms": round(f.after_ms), "what": f.what, "file": f.path, "bytes": f.size}
        for i, f in enumerate(done.files, 1)
    ]
    lines = [done.sql, render_table(rows, width=200) if rows else "no file was written"]
    lines += [f"removed {path}" for path in done.removed]
    if done.swapped:
        lines.append(f"the catalog pointed to {done.swapped[0]}\n        and points to {done.swapped[1]}")
    lines += [f"  {row['of the commit']}: {row['']}" for row in report_rows(done.report or {})]
    return clean_lines("\n".join(lines)) + "\n"
