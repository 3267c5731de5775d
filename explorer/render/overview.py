"""A table at a glance, as text, JSON, rows of facts, and in a notebook."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from html import escape
from typing import Any

from explorer.render.health import LEFT, bar_lines
from explorer.render.rows import plain
from explorer.render.text import brief, clean, not_typeset, render_table
from explorer.spec.deletes.deletes import KIND_WORDS
from explorer.spec.overview.overview import AMOUNTS, Moment, Overview
from explorer.spec.text.glossary import TERMS
from explorer.spec.text.names import shorten
from explorer.spec.text.units import count, human_bytes, instant, span

LAST, COLUMNS, PARTITIONS = 20, 30, 10
"""Snapshots, columns and partitions that are told; JSON has all."""


class ShownOverview(Overview):
    """A table at a glance that shows itself."""

    def __repr__(self) -> str:
        return render_overview(self)

    def _repr_html_(self) -> str:
        return not_typeset(f"{tiles_html(self)}{facts_html(self)}")

    def to_json(self) -> dict[str, Any]:
        """As JSON data."""
        return overview_object(self)


def overview_object(view: Overview) -> dict[str, Any]:
    """A table at a glance as JSON data; a moment is a flat object."""
    shown: dict[str, Any] = plain(asdict(view))
    shown["moments"] = [
        {**plain(asdict(m.entry)), **{f"{what}_added": m.added[what] for what in AMOUNTS},
         **{f"{what}_removed": m.removed[what] for what in AMOUNTS}}
        for m in view.moments
    ]  # fmt: skip
    return shown


def tiles(view: Overview) -> list[tuple[str, str, str]]:
    """The few numbers that say most: what, how much, and more about it."""
    most = "≤ " if view.rows_counted is None and view.rows_listed else ""
    rows = f"{most}{count(view.rows_listed if view.rows_counted is None else view.rows_counted)}"
    by_kind = ", ".join(f"{n:,} {KIND_WORDS[kind]}" for kind, n in (view.deletes or {}).items() if kind in KIND_WORDS)
    deletes = " with deletes" if view.delete_files else ""
    newest = "the current snapshot" if view.is_current else "not the current snapshot"
    return [
        ("rows", rows, _rows(view)),
        ("data files", count(view.data_files), f"{human_bytes(view.bytes)}{deletes}" if view.bytes else ""),
        ("delete files", count(view.delete_files), by_kind),
        ("snapshots", count(len(view.moments)), f"{count(len(view.refs), 'branch or tag', 'branches and tags')}"),
        (view.snapshot, f"{span(view.age_ms)} ago" if view.snapshot_id is not None else "–",
         f"{view.operation}, {newest}" if view.snapshot_id is not None else ""),
    ]  # fmt: skip


def _rows(view: Overview) -> str:
    """Rows as readers see them against what is recorded."""
    if view.snapshot_id is None:
        return ""
    recorded = f"{count(view.rows_recorded)} recorded"
    if view.rows_counted is None:
        return recorded if view.rows_listed is None else f"{recorded}; deletes are not subtracted"
    return recorded if view.rows_counted != view.rows_recorded else "as recorded"


def facts(view: Overview) -> list[tuple[str, str]]:
    """What the table is, a name and a text each."""
    columns = [f"{c.name} {c.type}{' (required)' if c.required else ''}" for c in view.columns[:COLUMNS]]
    more = [f"{len(view.columns) - COLUMNS:,} more"] if len(view.columns) > COLUMNS else []
    refs = list(view.refs[:COLUMNS]) + ([f"{len(view.refs) - COLUMNS:,} more"] if len(view.refs) > COLUMNS else [])
    return [
        ("location", view.location),
        ("metadata file", view.metadata_file.removeprefix(view.location + "/")),
        ("format", f"Iceberg v{view.format_version}"),
        ("catalog", view.catalog or "none: opened by its path"),
        ("committed", _commit_words(view)),
        ("branches and tags", "; ".join(refs) or "none"),
        ("columns", f"{', '.join([*columns, *more]) or 'none'}{_of('schema', view.schema_id, view.schemas)}"),
        ("partitioned by", view.partitioned_by + _of("spec", view.spec_id, view.specs)),
        ("sorted by", view.sorted_by + _of("sort order", view.order_id, view.orders)),
    ]


def _commit_words(view: Overview) -> str:
    """When and by what the snapshot was committed; of a table without a current one when its last snapshot was."""
    if view.snapshot_id is not None:
        return f"{instant(view.timestamp_ms)} ({view.operation})"
    if not view.moments:
        return "never"
    last = view.moments[-1].entry
    when = f"{last.snapshot} at {instant(last.timestamp_ms)} ({last.operation or 'unknown operation'})"
    return f"the last of {count(len(view.moments), 'snapshot')}, none of them current: {when}"


def _of(what: str, number: int | None, kept: int) -> str:
    """Which one of several this is."""
    return f" ({what} {number}; {kept:,} are kept)" if kept > 1 else ""


def moment_words(moment: Moment) -> str:
    """What a snapshot added and removed: `+3 −1 rows, +2 files, +1.4 KiB`."""
    parts = []
    for what in AMOUNTS:
        added, removed = moment.added[what], moment.removed[what]
        if added is None or removed is None:
            continue
        say = human_bytes if what == "bytes" else count
        change = " ".join(f"{sign}{say(n)}" for sign, n in (("+", added), ("−", removed)) if n)
        noun = "" if what == "bytes" else f" {what}" if added + removed > 1 else f" {what.removesuffix('s')}"
        parts += [change + noun] if change else []
    return ", ".join(parts) or ("nothing" if moment.added["rows"] is not None else "not told")


def odd(view: Overview) -> list[str]:
    """Where the table was set to another snapshot than a new one: rollbacks, fast-forwards, jumps."""
    return [f"{e.how} at {instant(e.timestamp_ms)}: {e.reason}" for e in view.log if e.how not in ("commit", "expired")]


def _title(view: Overview) -> str:
    if view.snapshot_id is None:
        return f"{view.table}, which has {view.snapshot}"
    return f"{view.table} as of {view.snapshot}{'' if view.is_current else ', which is not current'}"


def render_overview(view: Overview) -> str:
    """A table at a glance as text."""
    lines = [_title(view), ""]
    lines += [f"{what:>18}  {number}{f' ({more})' if more else ''}" for what, number, more in tiles(view)]
    lines += [f"{name:>18}  {text}" for name, text in facts(view)]
    lines += [f"{name:>18}  {text}" for name, text in verdict_facts(view)]
    told_moments = [
        {"snapshot": m.entry.snapshot, "committed": instant(m.entry.timestamp_ms),
         "operation": m.entry.operation or "?", "what it did": moment_words(m), "refs": ", ".join(m.entry.refs),
         "": "" if m.entry.kind in USUAL else m.entry.kind}
        for m in view.moments[-LAST:]
    ]  # fmt: skip
    if told_moments:
        last = f", the last {LAST} of {len(view.moments):,}" if len(view.moments) > LAST else ""
        lines += ["", f"Snapshots{last}", *render_table(told_moments, 200).splitlines()]
    lines += odd(view)[-LAST:]
    lines += list(_picture_lines(view))
    return "\n".join(map(clean, lines)) + "\n"


USUAL = ("current", "ancestor")


def verdict_facts(view: Overview) -> list[tuple[str, str]]:
    """Health and doctor, a line each, or why they say nothing."""
    if view.judged is None:
        return []
    return [("health", view.judged.health), ("doctor", view.judged.doctor)]


def _picture_lines(view: Overview) -> Iterator[str]:
    if view.judged is None:
        return
    if view.judged.sizes is not None and view.judged.sizes.labels:
        yield from ("", *bar_lines(view.judged.sizes))
    if len(view.judged.tiles) > 1:
        rows = [{"partition": shorten(t.label, 60), "files": t.files, "size": human_bytes(t.bytes)}
                for t in view.judged.tiles[:PARTITIONS]]  # fmt: skip
        yield from ("", "Partitions by bytes, the largest first", *render_table(rows, 120).splitlines())
        if len(view.judged.tiles) > PARTITIONS:
            yield f"… {len(view.judged.tiles) - PARTITIONS:,} more: `icedive inspect partitions` lists all"


EXPLAINED = {
    "data files": ("data file",), "delete files": ("delete file",), "snapshots": ("snapshot",),
    "metadata file": ("metadata file",), "catalog": ("catalog",), "branches and tags": ("branch", "tag"),
    "columns": ("schema",), "partitioned by": ("partition spec",), "sorted by": ("sort order",),
    "committed": ("operation",),
}  # fmt: skip
"""The words of the glossary that a name here stands for."""


def _name_html(what: str) -> str:
    """A name, with what the glossary has of it on hover and focus."""
    terms = EXPLAINED.get(what, ())
    if not terms:
        return escape(brief(what))
    explanations = "\n".join(f"{term}: {TERMS[term]}" for term in terms)
    look = "text-decoration:underline dotted;cursor:help"
    return f"<abbr tabindex='0' title='{escape(explanations)}' style='{look}'>{escape(brief(what))}</abbr>"


def tiles_html(view: Overview) -> str:
    """The few numbers as a line of tiles, in the page's colours."""
    box = "border:1px solid color-mix(in srgb, currentColor 22%, transparent);border-radius:8px;padding:7px 14px 8px"
    small = "font-size:12px;opacity:.75;overflow-wrap:anywhere"
    each = "".join(
        f"<div style='{box};flex:1 1 120px;min-width:0'><div style='{small}'>{_name_html(what)}</div>"
        f"<div style='font-size:23px;font-weight:600;line-height:1.25'>{escape(brief(number))}</div>"
        f"<div style='{small}'>{escape(brief(more)) or '&#8203;'}</div></div>"
        for what, number, more in tiles(view)
    )
    return f"<div style='display:flex;flex-wrap:wrap;gap:10px'>{each}</div>"


def facts_html(view: Overview) -> str:
    """What the table is, as a table."""
    rows = "".join(
        f"<tr><td style='{LEFT};opacity:.75;white-space:nowrap'>{_name_html(name)}</td>"
        f"<td style='{LEFT};overflow-wrap:anywhere'>{escape(brief(text))}</td></tr>"
        for name, text in facts(view)
    )
    return f"<table style='font-size:13px;border-collapse:collapse'>{rows}</table>"


def moment_row(moment: Moment) -> Mapping[str, Any]:
    """A snapshot as a figure tells of it."""
    entry = moment.entry
    return {
        "name": entry.snapshot, "when": instant(entry.timestamp_ms), "operation": entry.operation or "unknown",
        "did": moment_words(moment), "refs": ", ".join(entry.refs) or "no branch or tag", "id": str(entry.snapshot_id),
    }  # fmt: skip
