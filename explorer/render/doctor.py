"""What the doctor found, as text, JSON, SARIF and in a notebook; rows that were counted."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from html import escape
from typing import Any
from urllib.parse import quote

from explorer.render.rows import plain
from explorer.render.text import cell, clean, not_typeset, render_table
from explorer.spec.deletes.deletes import refusal
from explorer.spec.deletes.needless_deletes import needless_words
from explorer.spec.doctor.findings import Finding, Report
from explorer.spec.doctor.rules import RULES
from explorer.spec.rows.live_rows import LiveRows
from explorer.spec.secrets.redaction import metadata_without_secrets
from explorer.spec.text.names import base_name
from explorer.spec.text.units import count

SINGULAR = {
    "snapshots": "snapshot",
    "manifests": "manifest",
    "entries": "entry",
    "files": "file",
    "files read": "file read",
}
"""Of what the doctor looked at."""
COLOURS = {"fatal": "#a40000", "error": "#cc0000", "warning": "#b35900", "info": "#4a6fa5"}
LEVELS = {"fatal": "error", "error": "error", "warning": "warning", "info": "note"}
"""SARIF's words for severities."""
SNAPSHOTS = 5
REFUSED = {
    "table": "Spark 4.1 (Iceberg Java 1.12) cannot open the table",
    "scan": "Spark 4.1 (Iceberg Java 1.12) cannot read these snapshots",
    "part": "Spark 4.1 (Iceberg Java 1.12) cannot run every query on these snapshots",
}
"""What a finding keeps Spark from."""


UNOPENED = "Data files were not opened; --deep opens them."
"""Of a report without `--deep`."""
TELLING = ("CALL ", "icedive maintain", "written-again")
"""In remedies that lead on to a command."""
IDLE = ("Nothing has to be done", "Nothing is wrong")
"""How remedies begin that text leaves out of what is no fault."""
UNLISTED = "--files asks whether each file is there, and for files that nothing leads to; it opens none."
"""Of a report without `--files`."""


class ShownReport(Report):
    """A report that shows itself."""

    def __repr__(self) -> str:
        return render_report(self)

    def _repr_html_(self) -> str:
        return not_typeset(report_html(self))

    def to_json(self, every: bool = False) -> dict[str, Any]:
        """Return the report as JSON data; with `every` also each finding that one stands for or explains."""
        return {
            "table": self.table,
            "metadata_file": self.metadata_file,
            "worst": self.worst,
            "checked": dict(self.checked),
            "not_checked": list(self.not_checked),
            "findings": [finding_row(f, every) for f in self.findings],
        }


def finding_row(finding: Finding, every: bool = False) -> dict[str, Any]:
    """One finding as JSON data; with `every` also those that it stands for, and those that it explains."""
    row = {
        "rule": finding.rule,
        "number": finding.about.number,
        "severity": finding.severity,
        "title": finding.about.title,
        "what": finding.what,
        "file": finding.file,
        "read_at": finding.read_at,
        "location": finding.location,
        "found": plain(finding.found),
        "expected": plain(finding.expected),
        "refused": finding.refused,
        "columns": list(finding.columns),
        "explains": dict(Counter(f.rule for f in finding.explains)),
        "count": finding.count,
        "examples": list(finding.examples),
        "snapshots": list(finding.snapshots),
        "refs": list(finding.refs),
        "source": finding.source,
        "remedy": finding.remedy,
    }
    if every:
        row["members"] = [finding_row(f, every) for f in finding.members]
        row["explained"] = [finding_row(f, every) for f in finding.explains]
    return row


def summary(report: Report) -> str:
    """How many findings of which severity, and what was looked at."""
    looked = ", ".join(f"{n:,} {SINGULAR.get(what, what) if n == 1 else what}" for what, n in report.checked.items())
    return f"{report.table}: {_by_severity(report)} ({looked})"


def _is_unopened(report: Report) -> bool:
    """Whether a table has files that nobody looked into."""
    return bool(report.checked.get("entries")) and "files read" not in report.checked


def not_looked_at(report: Report) -> list[str]:
    """What a deeper look would take in, in sentences."""
    if not _is_unopened(report):
        return [] if report.checked.get("snapshots") or "files" in report.checked else [UNLISTED]
    return [UNOPENED, *([] if "files" in report.checked else [UNLISTED])]


def verdict(report: Report) -> str:
    """How many findings of which severity, and the worst of them, in a line."""
    counts = _by_severity(report)
    return f"{counts}; first: {clean(report.findings[0].what)}" if report.findings else counts


def _by_severity(report: Report) -> str:
    by = [(level, sum(f.severity == level for f in report.findings)) for level in COLOURS]
    named = (count(n, level) if level in ("error", "warning") else f"{n:,} {level}" for level, n in by if n)
    return ", ".join(named) or f"nothing wrong was found{' in what could be checked' if report.not_checked else ''}"


def lines(finding: Finding) -> list[str]:
    """What there is to say of a finding, below its title."""
    place = f"{finding.file}{', ' + finding.location if finding.location else ''}"
    parts = [finding.what, place, *([f"looked for at {finding.read_at}"] if finding.read_at else [])]
    if values := _values(finding):
        parts.append("; ".join(values))
    if finding.columns:
        parts.append(f"{'column' if len(finding.columns) == 1 else 'columns'} {', '.join(finding.columns)}")
    if finding.count > 1:
        more = f" and {finding.count - len(finding.examples):,} more" if finding.count > len(finding.examples) else ""
        named = f": {', '.join(map(base_name, finding.examples))}{more}" if finding.examples else ""
        parts.append(f"{finding.count:,} times{named}")
    elif finding.examples and base_name(finding.examples[0]) not in place:
        parts.append(f"of {base_name(finding.examples[0])}")
    if finding.explains:
        parts.append(f"this explains: {'; '.join(_explanations(finding))}")
    if finding.refused:
        parts.append(REFUSED[finding.refused])
    if finding.snapshots:
        shown = ", ".join(map(str, finding.snapshots[:SNAPSHOTS]))
        more = f" and {len(finding.snapshots) - SNAPSHOTS:,} more" if len(finding.snapshots) > SNAPSHOTS else ""
        refs = f" ({', '.join(finding.refs)})" if finding.refs else ""
        parts.append(f"of {'snapshot' if len(finding.snapshots) == 1 else 'snapshots'} {shown}{more}{refs}")
    if finding.remedy and (finding.severity != "info" or not _is_idle(finding.remedy)):
        parts.append(f"what would help: {finding.remedy}")
    return [clean(line) for line in parts]


def _is_idle(remedy: str) -> bool:
    """Whether a remedy says that nothing has to be done, and leads on to no command."""
    return remedy.startswith(IDLE) and not any(word in remedy for word in TELLING)


def _values(finding: Finding) -> list[str]:
    """What stands there, and what should. A statistic is wrong, not the data that it is held against."""
    is_of_data = finding.rule == "metrics-wrong" and finding.location.startswith("named in ")
    names = ("the data have", "recorded are") if is_of_data else ("found", "expected")
    sides = zip(names, (finding.found, finding.expected), strict=True)
    return [f"{side} {_value(value)}" for side, value in sides if value is not None]


def _value(value: Any) -> str:
    """A value in words; bytes as a plan writes them."""
    return f"0x{value.hex()}" if isinstance(value, bytes) else cell(plain(value))


def _explanations(finding: Finding) -> Iterator[str]:
    """The rules of what a finding explains, each with how often, and with what the first contradicts."""
    times = Counter(f.rule for f in finding.explains)
    for first in reversed({f.rule: f for f in reversed(finding.explains)}.values()):
        number = f" ({times[first.rule]:,})" if times[first.rule] > 1 else ""
        values = _values(first)
        yield f"{first.rule}{number}{': ' if values else ''}{', '.join(values)}"


def render_report(report: Report, every: bool = False) -> str:
    """A report as text; with `every` also the place of each finding that one stands for or explains."""
    output = [summary(report), *not_looked_at(report)]
    for finding in report.findings:
        output += ["", f"{finding.severity} {finding.rule} ({finding.about.number}): {finding.about.title}"]
        output += [f"    {line}" for line in lines(finding)]
        output += [f"        {clean(line)}" for line in _each(finding)] if every else []
    if report.not_checked:
        output += ["", f"not checked: {count(len(report.not_checked), 'thing')}"]
        output += [f"    {clean(line)}" for line in report.not_checked[:20]]
    return "\n".join(output) + "\n"


def _each(finding: Finding) -> Iterator[str]:
    """A line for each finding that one stands for, or explains."""
    for other in (*finding.members, *finding.explains):
        columns = f" ({', '.join(other.columns)})" if other.columns else ""
        place = f", {other.location}" if other.location else ""
        yield f"{other.rule}: {other.file}{place}{columns}"
    if finding.count > len(finding.members) > 0 and sum(f.count for f in finding.members) < finding.count:
        yield f"and more: {len(finding.members):,} of {finding.count:,} are listed"


def report_html(report: Report) -> str:
    """A report for a notebook."""
    rows = "".join(
        f"<tr><td style='color:{COLOURS[f.severity]};vertical-align:top'>{escape(f.severity)}</td>"
        f"<td style='text-align:left;vertical-align:top'><b>{escape(f.rule)}</b><br>{escape(f.about.title)}</td>"
        f"<td style='text-align:left'>{'<br>'.join(map(escape, lines(f)))}</td></tr>"
        for f in report.findings
    )
    missing = "".join(f"<br>not checked: {escape(clean(line))}" for line in report.not_checked[:20])
    unopened = "".join(f"<br>{escape(line)}" for line in not_looked_at(report))
    return f"<div><p>{escape(clean(summary(report)))}{unopened}{missing}</p><table>{rows}</table></div>"


def sarif(reports: Sequence[Report]) -> dict[str, Any]:
    """Reports as SARIF 2.1.0, as code scanners take and show it: without credentials."""
    rules = [
        {
            "id": r.id,
            "shortDescription": {"text": r.title},
            "helpUri": "https://iceberg.apache.org/spec/",
            "defaultConfiguration": {"level": LEVELS[r.severity]},
            "properties": {"number": r.number, "source": r.source},
        }
        for r in RULES
    ]
    results = [metadata_without_secrets(_result(report, f)) for report in reports for f in report.findings]
    driver = {"name": "icedive", "rules": rules}
    return {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "results": results}],
    }


def _result(report: Report, finding: Finding) -> dict[str, Any]:
    logical = [{"fullyQualifiedName": f"{report.table} {finding.location}".strip()}]
    file = {"artifactLocation": {"uri": quote(finding.file, safe=":/@")}}
    place = {"physicalLocation": file, "logicalLocations": logical}
    return {
        "ruleId": finding.rule,
        "level": LEVELS[finding.severity],
        "message": {"text": re.sub(r"[\[\]\\]", r"\\\g<0>", "\n".join(lines(finding)))},  # or they would be links
        "locations": [place],
        "properties": finding_row(finding) | {"table": report.table},
    }


def live_rows_json(counted: LiveRows) -> dict[str, Any]:
    """Counted rows as JSON data."""
    return {
        "snapshot-id": counted.snapshot_id, "rows": counted.rows, "recorded": counted.recorded,
        "data_rows": counted.data_rows, "hidden": counted.hidden, "files_read": counted.files_read,
        "refused_by_iceberg_java": counted.refused, "by_summary": counted.by_summary,
        "needless_equality_deletes": counted.needless,
        "deletes": [
            {"path": d.path, "content_offset": d.content_offset, "kind": d.kind, "recorded": d.recorded,
             "hides": d.rows, "data_files": d.data_files}
            for d in counted.deletes
        ],
    }  # fmt: skip


def live_rows_words(counted: LiveRows) -> str:
    """Counted rows in a sentence."""
    recorded = "nothing" if counted.recorded is None else f"{counted.recorded:,}"
    opened = (
        "no file was opened: rows as manifests record them"
        if counted.files_read == 0
        else f"files opened: {counted.files_read}"
    )
    return (
        f"{counted.rows:,} visible rows: {counted.data_rows:,} in data files, less {counted.hidden:,} that "
        f"deletes hide (total-records, which ignores deletes, says {recorded}; {opened})"
    )


def render_live_rows(counted: LiveRows) -> str:
    """Counted rows as text."""
    rows = [
        {
            "delete": base_name(d.path),
            "kind": d.kind,
            "recorded": d.recorded,
            "hides": d.rows,
            "data files": d.data_files,
        }
        for d in counted.deletes
    ]
    refused = f"⚠ {refusal(counted.refused)}\n" if counted.refused else ""
    by_summary = f"⚠ {by_summary_words(counted)}\n" if by_summary_words(counted) else ""
    needless = f"{needless_words(counted.needless)}.\n" if counted.needless else ""
    return (
        f"{live_rows_words(counted)}\n" + refused + by_summary + needless + (f"\n{render_table(rows)}" if rows else "")
    )


def by_summary_words(counted: LiveRows) -> str:
    """What readers show that count rows by the summary; nothing where that is right, or not known."""
    if counted.by_summary in (None, counted.rows):
        return ""
    return (
        f"total-records less total-position-deletes is {counted.by_summary:,}: readers that answer count(*) from the "
        "summary, as ClickHouse does, show that number."
    )
