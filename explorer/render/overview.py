"""A table at a glance, as text, JSON, rows of facts, and in a notebook."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from html import escape
from typing import Any

from explorer.render.health import LEFT, told_bars
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


def overview_object(told: Overview) -> dict[str, Any]:
    """A table at a glance as JSON data; a moment is a flat object."""
    shown: dict[str, Any] = plain(asdict(told))
    shown["moments"] = [
        {**plain(asdict(m.entry)), **{f"{what}_added": m.added[what] for what in AMOUNTS},
         **{f"{what}_removed": m.removed[what] for what in AMOUNTS}}
        for m in told.moments
    ]  # fmt: skip
    return shown


def tiles(told: Overview) -> list[tuple[str, str, str]]:
    """The few numbers that say most: what, how much, and more about it."""
    most = "≤ " if told.rows_counted is None and told.rows_listed else ""
    rows = f"{most}{count(told.rows_listed if told.rows_counted is None else told.rows_counted)}"
    by_kind = ", ".join(f"{n:,} {KIND_WORDS[kind]}" for kind, n in (told.deletes or {}).items() if kind in KIND_WORDS)
    deletes = " with deletes" if told.delete_files else ""
    newest = "the current snapshot" if told.is_current else "not the current snapshot"
    return [
        ("rows", rows, _rows(told)),
        ("data files", count(told.data_files), f"{human_bytes(told.bytes)}{deletes}" if told.bytes else ""),
        ("delete files", count(told.delete_files), by_kind),
        ("snapshots", count(len(told.moments)), f"{count(len(told.refs), 'branch or tag', 'branches and tags')}"),
        (told.snapshot, f"{span(told.age_ms)} ago" if told.snapshot_id is not None else "–",
         f"{told.operation}, {newest}" if told.snapshot_id is not None else ""),
    ]  # fmt: skip


def _rows(told: Overview) -> str:
    """Rows as readers see them against what is recorded."""
    if told.snapshot_id is None:
        return ""
    recorded = f"{count(told.rows_recorded)} recorded"
    if told.rows_counted is None:
        return recorded if told.rows_listed is None else f"{recorded}; deletes are not subtracted"
    return recorded if told.rows_counted != told.rows_recorded else "as recorded"


def facts(told: Overview) -> list[tuple[str, str]]:
    """What the table is, a name and a text each."""
    columns = [f"{c.name} {c.type}{' (required)' if c.required else ''}" for c in told.columns[:COLUMNS]]
    more = [f"{len(told.columns) - COLUMNS:,} more"] if len(told.columns) > COLUMNS else []
    refs = list(told.refs[:COLUMNS]) + ([f"{len(told.refs) - COLUMNS:,} more"] if len(told.refs) > COLUMNS else [])
    return [
        ("location", told.location),
        ("metadata file", told.metadata_file.removeprefix(told.location + "/")),
        ("format", f"Iceberg v{told.format_version}"),
        ("catalog", told.catalog or "none: opened by its path"),
        ("committed", _committed(told)),
        ("branches and tags", "; ".join(refs) or "none"),
        ("columns", f"{', '.join([*columns, *more]) or 'none'}{_of('schema', told.schema_id, told.schemas)}"),
        ("partitioned by", told.partitioned_by + _of("spec", told.spec_id, told.specs)),
        ("sorted by", told.sorted_by + _of("sort order", told.order_id, told.orders)),
    ]


def _committed(told: Overview) -> str:
    """When and by what the snapshot was committed; of a table without a current one when its last snapshot was."""
    if told.snapshot_id is not None:
        return f"{instant(told.timestamp_ms)} ({told.operation})"
    if not told.moments:
        return "never"
    last = told.moments[-1].entry
    when = f"{last.snapshot} at {instant(last.timestamp_ms)} ({last.operation or 'unknown operation'})"
    return f"the last of {count(len(told.moments), 'snapshot')}, none of them current: {when}"


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
        told = " ".join(f"{sign}{say(n)}" for sign, n in (("+", added), ("−", removed)) if n)
        noun = "" if what == "bytes" else f" {what}" if added + removed > 1 else f" {what.removesuffix('s')}"
        parts += [told + noun] if told else []
    return ", ".join(parts) or ("nothing" if moment.added["rows"] is not None else "not told")


def odd(told: Overview) -> list[str]:
    """Where the table was set to another snapshot than a new one: rollbacks, fast-forwards, jumps."""
    return [f"{e.how} at {instant(e.timestamp_ms)}: {e.reason}" for e in told.log if e.how not in ("commit", "expired")]


def _title(told: Overview) -> str:
    if told.snapshot_id is None:
        return f"{told.table}, which has {told.snapshot}"
    return f"{told.table} as of {told.snapshot}{'' if told.is_current else ', which is not current'}"


def render_overview(told: Overview) -> str:
    """A table at a glance as text."""
    lines = [_title(told), ""]
    lines += [f"{what:>18}  {number}{f' ({more})' if more else ''}" for what, number, more in tiles(told)]
    lines += [f"{name:>18}  {text}" for name, text in facts(told)]
    lines += [f"{name:>18}  {text}" for name, text in judged(told)]
    told_moments = [
        {"snapshot": m.entry.snapshot, "committed": instant(m.entry.timestamp_ms),
         "operation": m.entry.operation or "?", "what it did": moment_words(m), "refs": ", ".join(m.entry.refs),
         "": "" if m.entry.kind in USUAL else m.entry.kind}
        for m in told.moments[-LAST:]
    ]  # fmt: skip
    if told_moments:
        last = f", the last {LAST} of {len(told.moments):,}" if len(told.moments) > LAST else ""
        lines += ["", f"Snapshots{last}", *render_table(told_moments, 200).splitlines()]
    lines += odd(told)[-LAST:]
    lines += list(_drawn(told))
    return "\n".join(map(clean, lines)) + "\n"


USUAL = ("current", "ancestor")


def judged(told: Overview) -> list[tuple[str, str]]:
    """Health and doctor, a line each, or why they say nothing."""
    if told.judged is None:
        return []
    return [("health", told.judged.health), ("doctor", told.judged.doctor)]


def _drawn(told: Overview) -> Iterator[str]:
    if told.judged is None:
        return
    if told.judged.sizes is not None and told.judged.sizes.labels:
        yield from ("", *told_bars(told.judged.sizes))
    if len(told.judged.tiles) > 1:
        rows = [{"partition": shorten(t.label, 60), "files": t.files, "size": human_bytes(t.bytes)}
                for t in told.judged.tiles[:PARTITIONS]]  # fmt: skip
        yield from ("", "Partitions by bytes, the largest first", *render_table(rows, 120).splitlines())
        if len(told.judged.tiles) > PARTITIONS:
            yield f"… {len(told.judged.tiles) - PARTITIONS:,} more: `icedive inspect partitions` lists all"


EXPLAINED = {
    "data files": ("data file",), "delete files": ("delete file",), "snapshots": ("snapshot",),
    "metadata file": ("metadata file",), "catalog": ("catalog",), "branches and tags": ("branch", "tag"),
    "columns": ("schema",), "partitioned by": ("partition spec",), "sorted by": ("sort order",),
    "committed": ("operation",),
}  # fmt: skip
"""The words of the glossary that a name here stands for."""


def _named(what: str) -> str:
    """A name, with what the glossary has of it on hover and focus."""
    terms = EXPLAINED.get(what, ())
    if not terms:
        return escape(brief(what))
    told = "\n".join(f"{term}: {TERMS[term]}" for term in terms)
    look = "text-decoration:underline dotted;cursor:help"
    return f"<abbr tabindex='0' title='{escape(told)}' style='{look}'>{escape(brief(what))}</abbr>"


def tiles_html(told: Overview) -> str:
    """The few numbers as a line of tiles, in the page's colours."""
    box = "border:1px solid color-mix(in srgb, currentColor 22%, transparent);border-radius:8px;padding:7px 14px 8px"
    small = "font-size:12px;opacity:.75;overflow-wrap:anywhere"
    each = "".join(
        f"<div style='{box};flex:1 1 120px;min-width:0'><div style='{small}'>{_named(what)}</div>"
        f"<div style='font-size:23px;font-weight:600;line-height:1.25'>{escape(brief(number))}</div>"
        f"<div style='{small}'>{escape(brief(more)) or '&#8203;'}</div></div>"
        for what, number, more in tiles(told)
    )
    return f"<div style='display:flex;flex-wrap:wrap;gap:10px'>{each}</div>"


def facts_html(told: Overview) -> str:
    """What the table is, as a table."""
    rows = "".join(
        f"<tr><td style='{LEFT};opacity:.75;white-space:nowrap'>{_named(name)}</td>"
        f"<td style='{LEFT};overflow-wrap:anywhere'>{escape(brief(text))}</td></tr>"
        for name, text in facts(told)
    )
    return f"<table style='font-size:13px;border-collapse:collapse'>{rows}</table>"


def moment_row(moment: Moment) -> Mapping[str, Any]:
    """A snapshot as a figure tells of it."""
    entry = moment.entry
    return {
        "name": entry.snapshot, "when": instant(entry.timestamp_ms), "operation": entry.operation or "unknown",
        "did": moment_words(moment), "refs": ", ".join(entry.refs) or "no branch or tag", "id": str(entry.snapshot_id),
    }  # fmt: skip
