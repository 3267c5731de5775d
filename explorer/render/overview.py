"""A table at a glance, as text, JSON, rows of facts, and in a notebook."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from html import escape
from typing import Any

from explorer.render.health import LEFT, bar_lines
from explorer.render.rows import plain
from explorer.render.text import brief, clean, not_typeset, render_table
from explorer.spec.deletes.deletes import KIND_WORDS
from explorer.spec.overview.overview import AMOUNTS, Overview, SnapshotCounts
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
        """Return the overview as JSON data; a moment is a flat object."""
        shown: dict[str, Any] = plain(asdict(self))
        shown["moments"] = [
            {**plain(asdict(m.entry)), **{f"{what}_added": m.added[what] for what in AMOUNTS},
             **{f"{what}_removed": m.removed[what] for what in AMOUNTS}}
            for m in self.moments
        ]  # fmt: skip
        return shown


def tiles(overview: Overview) -> list[tuple[str, str, str]]:
    """The few numbers that say most: what, how much, and more about it."""
    most = "≤ " if overview.rows_counted is None and overview.rows_listed else ""
    rows = f"{most}{count(overview.rows_listed if overview.rows_counted is None else overview.rows_counted)}"
    by_kind = ", ".join(
        f"{n:,} {KIND_WORDS[kind]}" for kind, n in (overview.deletes or {}).items() if kind in KIND_WORDS
    )
    deletes = " with deletes" if overview.delete_files else ""
    newest = "the current snapshot" if overview.is_current else "not the current snapshot"
    return [
        ("rows", rows, _rows(overview)),
        ("data files", count(overview.data_files), f"{human_bytes(overview.bytes)}{deletes}" if overview.bytes else ""),
        ("delete files", count(overview.delete_files), by_kind),
        ("snapshots", count(len(overview.moments)), count(len(overview.refs), "branch or tag", "branches and tags")),
        (overview.snapshot, f"{span(overview.age_ms)} ago" if overview.snapshot_id is not None else "–",
         f"{overview.operation}, {newest}" if overview.snapshot_id is not None else ""),
    ]  # fmt: skip


def _rows(overview: Overview) -> str:
    """Rows as readers see them against what is recorded."""
    if overview.snapshot_id is None:
        return ""
    recorded = f"{count(overview.rows_recorded)} recorded"
    if overview.rows_counted is None:
        return recorded if overview.rows_listed is None else f"{recorded}; deletes are not subtracted"
    return recorded if overview.rows_counted != overview.rows_recorded else "as recorded"


def facts(overview: Overview) -> list[tuple[str, str]]:
    """What the table is, a name and a text each."""
    columns = [f"{c.name} {c.type}{' (required)' if c.required else ''}" for c in overview.columns[:COLUMNS]]
    more = [f"{len(overview.columns) - COLUMNS:,} more"] if len(overview.columns) > COLUMNS else []
    more_refs = [f"{len(overview.refs) - COLUMNS:,} more"] if len(overview.refs) > COLUMNS else []
    refs = [*overview.refs[:COLUMNS], *more_refs]
    return [
        ("location", overview.location),
        ("metadata file", _below(overview.metadata_file, overview.location)),
        ("format", f"Iceberg v{overview.format_version}"),
        ("catalog", overview.catalog or "none: opened by its path"),
        ("committed", _commit_words(overview)),
        ("branches and tags", "; ".join(refs) or "none"),
        ("columns", f"{', '.join([*columns, *more]) or 'none'}{_of('schema', overview.schema_id, overview.schemas)}"),
        ("partitioned by", overview.partitioned_by + _of("spec", overview.spec_id, overview.specs)),
        ("sorted by", overview.sorted_by + _of("sort order", overview.order_id, overview.orders)),
        *([("readers need", "; ".join(overview.readers_need))] if overview.readers_need else []),
    ]


def _below(path: str, location: str) -> str:
    """A path below the table's location; as it is where its key has an empty segment there."""
    inner = path.removeprefix(f"{location.rstrip('/')}/")
    return path if inner.startswith("/") else inner


def _commit_words(overview: Overview) -> str:
    """When and by what the snapshot was committed; of a table without a current one when its last snapshot was."""
    if overview.snapshot_id is not None:
        return f"{instant(overview.timestamp_ms)} ({overview.operation})"
    if not overview.moments:
        return "never"
    last = overview.moments[-1].entry
    when = f"{last.snapshot} at {instant(last.timestamp_ms)} ({last.operation or 'unknown operation'})"
    return f"the last of {count(len(overview.moments), 'snapshot')}, none of them current: {when}"


def _of(what: str, number: int | None, kept: int) -> str:
    """Which one of several this is."""
    return f" ({what} {number}; {kept:,} are kept)" if kept > 1 else ""


def moment_words(moment: SnapshotCounts) -> str:
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


def odd(overview: Overview) -> list[str]:
    """Where the table was set to another snapshot than a new one: rollbacks, fast-forwards, jumps."""
    return [
        f"{e.how} at {instant(e.timestamp_ms)}: {e.reason}" for e in overview.log if e.how not in ("commit", "expired")
    ]


def _title(overview: Overview) -> str:
    if overview.snapshot_id is None:
        return f"{overview.table}, which has {overview.snapshot}"
    return f"{overview.table} as of {overview.snapshot}{'' if overview.is_current else ', which is not current'}"


def render_overview(overview: Overview) -> str:
    """A table at a glance as text."""
    lines = [_title(overview), ""]
    lines += [f"{what:>18}  {number}{f' ({more})' if more else ''}" for what, number, more in tiles(overview)]
    lines += [f"{name:>18}  {text}" for name, text in facts(overview)]
    lines += [f"{name:>18}  {text}" for name, text in verdict_facts(overview)]
    told_moments = [
        {"snapshot": m.entry.snapshot, "committed": instant(m.entry.timestamp_ms),
         "operation": m.entry.operation or "?", "by its summary": moment_words(m), "refs": ", ".join(m.entry.refs),
         "": "" if m.entry.kind in USUAL else m.entry.kind}
        for m in overview.moments[-LAST:]
    ]  # fmt: skip
    if told_moments:
        last = f", the last {LAST} of {len(overview.moments):,}" if len(overview.moments) > LAST else ""
        lines += ["", f"Snapshots{last}", *render_table(told_moments, 200).splitlines()]
    lines += odd(overview)[-LAST:]
    lines += list(_picture_lines(overview))
    return "\n".join(map(clean, lines)) + "\n"


USUAL = ("current", "ancestor")


def verdict_facts(overview: Overview) -> list[tuple[str, str]]:
    """Health and doctor, a line each, or why they say nothing."""
    if overview.judged is None:
        return []
    return [("health", overview.judged.health), ("doctor", overview.judged.doctor)]


def _picture_lines(overview: Overview) -> Iterator[str]:
    if overview.judged is None:
        return
    if overview.judged.sizes is not None and overview.judged.sizes.labels:
        yield from ("", *bar_lines(overview.judged.sizes))
    if len(overview.judged.tiles) > 1:
        drawn = overview.judged.tiles
        are_several = any(tile.partitions > 1 for tile in drawn[:PARTITIONS])
        rows = [{"partition": shorten(t.label, 60), "files": t.files, "size": human_bytes(t.bytes)}
                | ({"partitions": t.partitions} if are_several else {})
                for t in drawn[:PARTITIONS]]  # fmt: skip
        yield from ("", "Partitions by bytes, the largest first", *render_table(rows, 120).splitlines())
        if more := sum(tile.partitions for tile in drawn[PARTITIONS:]):
            yield f"… {more:,} more: `icedive inspect partitions` lists all"


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


def tiles_html(overview: Overview) -> str:
    """The few numbers as a line of tiles, in the page's colours."""
    box = "border:1px solid color-mix(in srgb, currentColor 22%, transparent);border-radius:8px;padding:7px 14px 8px"
    small = "font-size:12px;opacity:.75;overflow-wrap:anywhere"
    each = "".join(
        f"<div style='{box};flex:1 1 120px;min-width:0'><div style='{small}'>{_name_html(what)}</div>"
        f"<div style='font-size:23px;font-weight:600;line-height:1.25'>{escape(brief(number))}</div>"
        f"<div style='{small}'>{escape(brief(more)) or '&#8203;'}</div></div>"
        for what, number, more in tiles(overview)
    )
    return f"<div style='display:flex;flex-wrap:wrap;gap:10px'>{each}</div>"


def facts_html(overview: Overview) -> str:
    """What the table is, as a table."""
    rows = "".join(
        f"<tr><td style='{LEFT};opacity:.75;white-space:nowrap'>{_name_html(name)}</td>"
        f"<td style='{LEFT};overflow-wrap:anywhere'>{escape(brief(text))}</td></tr>"
        for name, text in facts(overview)
    )
    return f"<table style='font-size:13px;border-collapse:collapse'>{rows}</table>"
