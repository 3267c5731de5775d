"""Checks of tables for pipelines: JUnit, annotations of GitHub, and OpenMetrics. No credentials are in them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any
from xml.etree import ElementTree

from explorer.render.doctor import lines as finding_lines
from explorer.render.health import amount
from explorer.render.health import lines as measure_lines
from explorer.render.text import clean
from explorer.spec.doctor.findings import Report
from explorer.spec.doctor.gate import CaseLevel, CheckCase, FailOn, fails
from explorer.spec.doctor.rules import RULES, Severity
from explorer.spec.health.measures import MEASURES, Health, MeasuredValue, Unit
from explorer.spec.secrets.redaction import metadata_without_secrets

LEVELS: Mapping[Severity, CaseLevel] = {"fatal": "error", "error": "error", "warning": "warning", "info": "info"}
COMMANDS: Mapping[CaseLevel, str] = {"error": "error", "warning": "warning", "info": "notice"}
"""GitHub's workflow command for each level that is told."""
SUFFIXES: Mapping[Unit, str] = {"bytes": "_bytes", "share": "_ratio", "times": "_ratio", "per hour": "", "": ""}
"""What OpenMetrics wants at the end of a name, by unit."""
UNPRINTABLE = re.compile("[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What no XML document may have."""


def doctor_cases(report: Report) -> Iterator[CheckCase]:
    """Make a case of each finding, and of each rule that found nothing or was not asked."""
    for finding in report.findings:
        text = "\n".join(finding_lines(finding))
        yield CheckCase(report.table, finding.rule, finding.about.title, LEVELS[finding.severity], text)
    told = {finding.rule for finding in report.findings}
    for rule in RULES:
        if rule.id not in told:
            reason = report.rules_left_out.get(rule.id, "")
            yield CheckCase(report.table, rule.id, rule.title, "not judged" if reason else "ok", reason)
    for unchecked in report.not_checked:
        yield CheckCase(report.table, "not-checked", "Could not be checked", "not judged", unchecked)


def health_cases(health: Health) -> Iterator[CheckCase]:
    """Make a case of each measure."""
    for measured in health.measures:
        yield _measure_case(health.table, measured, "\n".join(measure_lines(measured)))


def catalog_health_cases(rows: Iterable[Mapping[str, Any]], thresholds: Mapping[str, float]) -> Iterator[CheckCase]:
    """Make a case of each measure of each table of a catalog, by its rows (render.health.catalog_row)."""
    for row in rows:
        if row["error"]:
            yield CheckCase(row["table"], "readable", "The table can be read", "error", row["error"])
            continue
        for measure in MEASURES:
            if measure.id in row:
                measured = MeasuredValue(measure.id, row[measure.id], thresholds[measure.id])
                yield _measure_case(row["table"], measured, f"what would help: {measured.helps}")


def _measure_case(table: str, measured: MeasuredValue, text: str) -> CheckCase:
    about = measured.about
    if measured.value is None:
        return CheckCase(table, about.id, about.title, "not judged", measured.words or "not judged")
    value = f"{amount(measured.value, about.unit)}, threshold {amount(measured.threshold, about.unit)}"
    return CheckCase(table, about.id, about.title, measured.level, f"{value}\n{text}" if measured.helps else value)


def _plain(case: CheckCase) -> dict[str, str]:
    """The texts of a case, without credentials and signs that command a terminal."""
    texts = {"table": case.table, "name": case.name, "title": case.title, "text": case.text}
    told: dict[str, str] = metadata_without_secrets(texts)
    return {name: "\n".join(map(clean, text.split("\n"))) for name, text in told.items()}


def junit(cases: Iterable[CheckCase], fail_on: FailOn) -> str:
    """Return checks as JUnit's XML: a suite for each table, in which what is no failure is told as output.

    Args:
        cases: The checks.
        fail_on: From which level on a check is a failure.
    """
    suites: dict[str, list[CheckCase]] = {}
    for case in cases:
        suites.setdefault(case.table, []).append(case)
    root = ElementTree.Element("testsuites")
    for own in suites.values():
        suite = ElementTree.SubElement(root, "testsuite", name=_xml(_plain(own[0])["table"]), tests=str(len(own)))
        suite.set("failures", str(sum(fails(case.level, fail_on) for case in own)))
        suite.set("skipped", str(sum(case.level == "not judged" for case in own)))
        for case in own:
            _add_case(suite, case, fail_on)
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode")


def _add_case(suite: ElementTree.Element, case: CheckCase, fail_on: FailOn) -> None:
    texts = _plain(case)
    item = ElementTree.SubElement(suite, "testcase", classname=_xml(texts["table"]), name=texts["name"])
    if fails(case.level, fail_on):
        failure = ElementTree.SubElement(item, "failure", message=_xml(texts["title"]), type=case.level)
        failure.text = _xml(texts["text"])
    elif case.level == "not judged":
        ElementTree.SubElement(item, "skipped", message=_xml(texts["text"]))
    elif texts["text"]:
        ElementTree.SubElement(item, "system-out").text = _xml(f"{case.level}: {texts['text']}")


def _xml(text: str) -> str:
    return UNPRINTABLE.sub("\ufffd", text)


def github_annotations(cases: Iterable[CheckCase]) -> Iterator[str]:
    """Return checks that did not pass as workflow commands of GitHub, a line each."""
    for case in cases:
        if case.level in COMMANDS:
            texts = _plain(case)
            title = _property(f"{texts['table']}: {texts['name']}")
            yield f"::{COMMANDS[case.level]} title={title}::{_message(texts['title'] + chr(10) + texts['text'])}"


def _message(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _message(text).replace(":", "%3A").replace(",", "%2C")


def open_metrics(tables: Sequence[tuple[str, Mapping[str, float | None]]]) -> str:
    """Return measures as OpenMetrics text, a gauge for each measure.

    Args:
        tables: Names of tables, each with its measures by id; None is not judged, and left out.
    """
    output: list[str] = []
    for measure in MEASURES:
        own = [(name, value) for name, values in tables if (value := values.get(measure.id)) is not None]
        if own:
            name = f"iceberg_{measure.id.replace('-', '_')}{SUFFIXES[measure.unit]}"
            output += [f"# TYPE {name} gauge"]
            output += [f"# UNIT {name} {SUFFIXES[measure.unit][1:]}"] if SUFFIXES[measure.unit] else []
            output += [f"# HELP {name} {_label(measure.title)}"]
            output += [f'{name}{{table="{_label(clean(table))}"}} {value:.10g}' for table, value in own]
    return "\n".join([*output, "# EOF"])


def _label(text: str) -> str:
    told: dict[str, str] = metadata_without_secrets({"text": text})
    return told["text"].replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')
