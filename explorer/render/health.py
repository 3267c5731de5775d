"""How healthy tables are, as text, JSON, rows of a catalog, and in a notebook."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from explorer.render.rows import plain
from explorer.render.text import clean, not_typeset, pre, render_table
from explorer.spec.health.measures import LEVELS, MEASURES, Bars, Health, HealthSection, MeasuredValue, Unit
from explorer.spec.text.names import shorten
from explorer.spec.text.units import count, human_bytes

NOT_JUDGED = "not judged"
COLOURS = {"error": "#cc0000", "warning": "#b35900", "ok": "#2e7d32", NOT_JUDGED: "#6b7280"}
SIGNS = {"ok": "✓", "info": "•", "warning": "⚠", "error": "✕", "fatal": "✕"}
"""Of levels, the doctor's too: that something is not as it should be is seen before it is read."""
MOST = 3
"""Measures that a catalog's row names."""


class ShownHealth(Health):
    """A table's health that shows itself."""

    def __repr__(self) -> str:
        return render_health(self)

    def _repr_html_(self) -> str:
        return not_typeset(health_html(self))

    def to_json(self) -> dict[str, Any]:
        """Return the health as JSON data."""
        return {
            "table": self.table, "level": self.worst, "snapshot": self.snapshot, "not_read": self.not_read,
            "measures": [measure_row(m) for m in self.measures],
            "sections": [_section_json(section) for section in self.sections],
        }  # fmt: skip


def amount(value: float | int | str | None, unit: Unit = "") -> str:
    """A number in its unit; `–` where nothing is told."""
    if value is None or isinstance(value, str):
        return value or "–"
    if unit == "bytes":
        return human_bytes(int(value))
    if unit == "share":
        return f"{value:.0%}" if value >= 0.1 or not value else f"{value:.1%}"
    digits = f"{value:,.0f}" if value == int(value) or abs(value) >= 1000 else f"{value:,.2f}".rstrip("0").rstrip(".")
    return f"{digits}{'×' if unit == 'times' else ''}{' an hour' if unit == 'per hour' else ''}"


def level_word(measured: MeasuredValue) -> str:
    """A measure's level, if it has one: of a table that is too small, or has no such thing, it says nothing."""
    return NOT_JUDGED if measured.value is None else measured.level


def measure_row(measured: MeasuredValue) -> dict[str, Any]:
    """One measure as JSON data."""
    about = measured.about
    return {
        "measure": about.id, "level": measured.level, "title": about.title, "of": about.scope,
        "value": measured.value, "unit": about.unit, "threshold": measured.threshold,
        "error_above": measured.threshold * about.error, "words": measured.words, "why": about.why,
        "helps": measured.helps,
    }  # fmt: skip


def _section_json(section: HealthSection) -> dict[str, Any]:
    bars = section.bars
    return {
        "section": section.id, "title": section.title, "of": section.scope,
        "numbers": [{"name": number.name, "value": plain(number.value)} for number in section.numbers],
        "bars": bars and {"title": bars.title, "unit": bars.unit, "labels": list(bars.labels),
                          "series": [{"name": name, "values": list(v)} for name, v in bars.series.items()]},
        "partitions": [vars(tile) for tile in section.tiles],
    }  # fmt: skip


def summary(health: Health) -> str:
    """How many measures are beyond their thresholds, and of what the table is."""
    counts = level_counts([level_word(m) for m in health.measures], (*LEVELS, NOT_JUDGED))
    missing = f"; {count(health.not_read, 'thing')} could not be read" if health.not_read else ""
    size = f"{count(health.data_files, 'data file')}, {human_bytes(health.data_bytes)}"
    return f"{health.table}: {counts} ({health.snapshot}, {size}{missing})"


def level_counts(levels: Sequence[str], order: Sequence[str]) -> str:
    """How many there are of each level: `2 warnings, 11 ok`."""
    number = {level: levels.count(level) for level in order if level in levels}
    return ", ".join(count(n, each) if each in ("error", "warning") else f"{n} {each}" for each, n in number.items())


def verdict(health: Health) -> str:
    """The same in a line without the table's name, with what is worst."""
    missing = f"{count(health.not_read, 'thing')} could not be read; of the rest " if health.not_read else ""
    return f"{missing}{_verdict(health)}"


def _verdict(health: Health) -> str:
    beyond = health.beyond
    if not beyond:
        silent = sum(m.value is None for m in health.measures)
        rest = f", {silent} not judged" if silent else ""
        number = len(health.measures) - silent
        return f"{count(number, 'measure')} within {'its threshold' if number == 1 else 'their thresholds'}{rest}"
    whose = "its threshold" if len(beyond) == 1 else "their thresholds"
    return f"{count(len(beyond), 'measure')} beyond {whose}: {'; '.join(map(beyond_words, beyond[:MOST]))}"


def beyond_words(measured: MeasuredValue) -> str:
    """A measure against its threshold."""
    unit = measured.about.unit
    return f"{measured.id} {amount(measured.value, unit)} (above {amount(measured.threshold, unit)})"


def render_health(health: Health) -> str:
    """A table's health as text: what is beyond its threshold, then everything, side by side."""
    output = [summary(health)]
    for measured in health.beyond:
        output += ["", f"{measured.level} {beyond_words(measured)}: {measured.about.title}"]
        output += [f"    {line}" for line in lines(measured)]
    for section in health.sections:
        output += ["", f"{section.title} ({section.scope})"]
        rows = [{"name": m.id, "value": amount(m.value, m.about.unit),
                 "threshold": amount(m.threshold, m.about.unit), "": "" if level_word(m) == "ok" else level_word(m)}
                for m in section.measures]  # fmt: skip
        rows += [{"name": n.name, "value": amount(n.value, n.unit), "threshold": "", "": ""} for n in section.numbers]
        reasons = [clean(m.words) if m.value is None else "" for m in section.measures]
        reasons += [""] * len(section.numbers)
        for line, reason in zip(render_table(rows, 280).splitlines()[1:], reasons, strict=True):
            output.append(f"    {line.rstrip()}: {reason}" if reason else f"    {line}")
        output += [f"    {line}" for line in _bar_block(section)]
    return "\n".join(output) + "\n"


def lines(measured: MeasuredValue) -> list[str]:
    """What there is to say of a measure beyond its threshold."""
    sentences = [measured.words, f"why: {measured.about.why}", f"what would help: {measured.helps}"]
    return [clean(line) for line in sentences if line and not line.endswith(": ")]


def _bar_block(section: HealthSection) -> list[str]:
    bars = section.bars
    if bars is None or not bars.labels:
        return []
    return ["", *bar_lines(bars)]


WIDE = 30


def bar_lines(bars: Bars) -> list[str]:
    """Bars as lines of text, which is also what a picture's reader hears who cannot see it."""
    most = max((v for values in bars.series.values() for v in values), default=0) or 1
    label = max(len(clean(text)) for text in bars.labels)
    name = max(len(series) for series in bars.series) if len(bars.series) > 1 else 0
    output = [f"{bars.title}{f' ({bars.mark} at >)' if bars.marked is not None else ''}"]
    for at, text in enumerate(bars.labels):
        for series, values in bars.series.items():
            mark = ">" if at == bars.marked else " "
            bar = "█" * max(round(WIDE * values[at] / most), 1 if values[at] else 0)
            first = clean(text) if series == next(iter(bars.series)) else ""
            output.append(f"{mark} {first.rjust(label)} {series.ljust(name) if name else ''} {bar} "
                        f"{amount(values[at], bars.unit)}".rstrip())  # fmt: skip
    return output


def health_html(health: Health) -> str:
    """A table's health for a notebook: what is beyond its threshold and would help, then all numbers."""
    parts = [f"<p>{escape(clean(summary(health)))}</p>", beyond_html(health)]
    for section in health.sections:
        drawn = "\n".join(bar_lines(section.bars)) if section.bars and section.bars.labels else ""
        picture = pre(drawn) if drawn else ""
        parts.append(f"<details><summary>{escape(_title(section))}</summary>{section_html(section)}{picture}</details>")
    return f"<div>{''.join(parts)}</div>"


def _title(section: HealthSection) -> str:
    return f"{section.title} ({section.scope})"


LEFT = "text-align:left;vertical-align:top;padding:2px 8px 2px 0"
RIGHT = "text-align:right;vertical-align:top;padding:2px 0 2px 8px;white-space:nowrap"


def badge(level: str) -> str:
    """A level in its colour, on any background."""
    look = f"background:{COLOURS[level]};color:#fff;border-radius:3px;padding:0 5px;font-size:12px"
    return f"<span style='{look}'>{escape(level)}</span>"


def beyond_html(health: Health) -> str:
    """The measures beyond their thresholds, the worst first, with what would help."""
    rows = "".join(
        f"<tr><td style='{LEFT}'>{badge(m.level)}</td><td style='{LEFT}'><b>{escape(m.about.title)}</b>: "
        f"{escape(amount(m.value, m.about.unit))}, above {escape(amount(m.threshold, m.about.unit))}<br>"
        f"<span style='font-size:12px'>{'<br>'.join(map(escape, lines(m)))}</span></td></tr>"
        for m in health.beyond
    )
    return f"<table style='font-size:13px;border-collapse:collapse'>{rows}</table>" if rows else ""


def section_html(section: HealthSection) -> str:
    """The measures and numbers of a section as a table."""
    rows = [
        f"<tr title='{escape(clean(m.about.why), quote=True)}'><td style='{LEFT}'>{badge(level_word(m))} "
        f"{escape(m.about.title)}</td><td style='{RIGHT}'><b>{escape(amount(m.value, m.about.unit))}</b></td>"
        f"<td style='{RIGHT}'>≤ {escape(amount(m.threshold, m.about.unit))}</td></tr>"
        for m in section.measures
    ]
    rows += [
        f"<tr><td style='{LEFT}'>{escape(clean(n.name))}</td><td style='{RIGHT}' colspan='2'>"
        f"{escape(clean(amount(n.value, n.unit)))}</td></tr>"
        for n in section.numbers
    ]
    return f"<table style='font-size:13px;width:100%;border-collapse:collapse'>{''.join(rows)}</table>"


def catalog_row(table: str, health: Health | None, error: str = "", file: str | None = None) -> dict[str, Any]:
    """A table's row among those of its catalog: its level and what is worst, each measure by its id; `error` says why
    there is none; `file` is its metadata file."""
    measures = {m.id: m.value for m in health.measures} if health else {}
    worst = "; ".join(beyond_words(m) for m in health.beyond[:MOST]) if health else ""
    more = f"; {len(health.beyond) - MOST} more" if health and len(health.beyond) > MOST else ""
    return {
        "table": table, "level": health.worst if health else "failed", "worst": worst + more,
        "beyond": len(health.beyond) if health else None,
        "data_files": health.data_files if health else None, "bytes": health.data_bytes if health else None,
        **{m.id: _number(measures.get(m.id), m.unit) for m in MEASURES if m.id != "unclustered"},
        "not_read": health.not_read if health else None, "error": error or None,
        "metadata_file": file,
    }  # fmt: skip


def _number(value: float | None, unit: Unit) -> float | int | None:
    return value if value is None or unit in ("share", "times") else round(value)


def worst_first(rows: Sequence[tuple[dict[str, Any], Health | None]]) -> list[dict[str, Any]]:
    """Rows of a catalog, the worst table first: those that failed, then by level, then by how far beyond."""

    def key(item: tuple[dict[str, Any], Health | None]) -> Any:
        row, health = item
        if health is None:
            return -1, 0, 0.0, row["table"]
        measures = health.measures
        errors = sum(m.level == "error" for m in measures)
        return LEVELS.index(health.worst), -errors, -len(health.beyond), -measures[0].times, row["table"]

    return [row for row, _ in sorted(rows, key=key)]


def short_row(row: Mapping[str, Any]) -> dict[str, Any]:
    """A catalog's row as people read it: what is told of all tables in a few columns."""
    return {
        "level": row["level"], "table": row["table"], "beyond its thresholds": shorten(row["worst"], 160),
        "data files": row["data_files"], "size": None if row["bytes"] is None else human_bytes(row["bytes"]),
        "why it failed": row["error"] or "",
    }  # fmt: skip
