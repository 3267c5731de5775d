"""What pipelines take: SARIF, JUnit, annotations of GitHub, OpenMetrics, and a log of health."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from explorer.spec.doctor.gate import CheckCase, FailOn, fails

if TYPE_CHECKING:
    from explorer.questions import Question
    from explorer.questions.answers import Answer

_DOCTOR, _HEALTH = ("sarif", "junit", "github"), ("junit", "github", "openmetrics")
GATE_FORMATS: Mapping[tuple[str, ...], tuple[str, ...]] = {
    ("doctor",): _DOCTOR, ("catalog", "doctor"): _DOCTOR, ("health",): _HEALTH, ("catalog", "health"): _HEALTH,
}  # fmt: skip
"""What each check can be printed as beside the usual formats."""
TOLD, MOST_CHECKS = 5, 200
"""Checks that a webhook's sentence names, and that its message has."""


def gate_text(
    question: Question, answer: Answer[Any], form: str, fail_on: FailOn, thresholds: Mapping[str, float] | None
) -> str:
    """Return an answer as a pipeline takes it.

    Args:
        question: The doctor's or that of health, of a table or of a catalog.
        answer: Its answer.
        form: One of GATE_FORMATS.
        fail_on: From which level on a check is a failure.
        thresholds: Those that were given for health.
    """
    from explorer.render.gate import github_annotations, junit, open_metrics

    if form == "sarif":
        from explorer.render.doctor import sarif
        from explorer.render.text import json_text

        return json_text(sarif(_reports(answer)))
    if form == "openmetrics":
        return open_metrics([(table, measures) for table, _, measures in _measured(answer)])
    cases = _cases(question, answer, thresholds)
    return junit(cases, fail_on) if form == "junit" else "\n".join(github_annotations(cases))


def tell_webhook(
    url: str, question: Question, answer: Answer[Any], fail_on: FailOn, thresholds: Mapping[str, float] | None
) -> None:
    """Post what failed to a webhook: a sentence as `text`, which chats show, then the checks.

    Args:
        url: The webhook's.
        question: The doctor's or that of health, of a table or of a catalog.
        answer: Its answer.
        fail_on: From which level on a check is a failure.
        thresholds: Those that were given for health.

    Raises:
        WrongUsage: It is no URL of http or https.
        NotPossible: It does not take the message.
    """
    from explorer.render.text import clean
    from explorer.spec.text.units import count
    from explorer.storage.webhook import post

    failed = [case for case in _cases(question, answer, thresholds) if fails(case.level, fail_on)]
    names = ", ".join(f"{clean(case.table)}: {case.name}" for case in failed[:TOLD])
    more = f" and {len(failed) - TOLD:,} more" if len(failed) > TOLD else ""
    text = f"icedive {' '.join(question.path)}: {count(len(failed), 'check')} failed: {names}{more}"
    checks = [{"table": case.table, "check": case.name, "level": case.level, "title": case.title} for case in failed]
    post(url, {"text": text, "checks": checks[:MOST_CHECKS], "all_checks": len(failed)})


def log_health(path: Path, answer: Answer[Any], thresholds: Mapping[str, float] | None) -> list[str]:
    """Add an answer of health to a log, and compare it with the runs before.

    Args:
        path: The log; it is made if it is not there.
        answer: The answer, of a table or of a catalog.
        thresholds: Those that were given.

    Returns:
        How the measures went, in lines.

    Raises:
        UnreadableFile: The log cannot be read or written, or a line is not one of a log. Nothing is added then.
    """
    from explorer.errors import UnreadableFile
    from explorer.render.health_log import render_trends
    from explorer.spec.health.health_log import LoggedHealth, health_trends, parse_health_log
    from explorer.spec.health.measures import thresholds as all_thresholds
    from explorer.storage.limits import METADATA, within

    now_ms = int(time.time() * 1000)
    now = [
        LoggedHealth(now_ms, table, level, {name: value for name, value in measures.items() if value is not None})
        for table, level, measures in _measured(answer)
    ]
    try:
        within(path.stat().st_size if path.exists() else 0, METADATA, str(path), "bytes", "begin another log")
        log = parse_health_log(path.read_text("utf-8").splitlines() if path.exists() else [], str(path))
        with path.open("a", encoding="utf-8") as file:
            file.write("".join(f"{logged.to_line()}\n" for logged in now))
    except (OSError, UnicodeDecodeError) as error:
        raise UnreadableFile(str(path), f"the log cannot be read or written ({type(error).__name__})") from error
    return list(render_trends(log, now, list(health_trends(log, now, all_thresholds(thresholds)))))


def _reports(answer: Answer[Any]) -> list[Any]:
    answer.to_json()  # of a catalog the reports are made now
    return answer.value if isinstance(answer.value, list) else [answer.value]


def _cases(question: Question, answer: Answer[Any], thresholds: Mapping[str, float] | None) -> Iterator[CheckCase]:
    return _doctor_cases(answer) if question.name == "doctor" else _health_cases(answer, thresholds)


def _doctor_cases(answer: Answer[Any]) -> Iterator[CheckCase]:
    from explorer.render.gate import doctor_cases

    for report in _reports(answer):
        yield from doctor_cases(report)


def _health_cases(answer: Answer[Any], thresholds: Mapping[str, float] | None) -> Iterator[CheckCase]:
    from explorer.render.gate import catalog_health_cases, health_cases
    from explorer.spec.health.measures import thresholds as all_thresholds

    if isinstance(answer.value, list):
        yield from catalog_health_cases(answer.value, all_thresholds(thresholds))
    else:
        yield from health_cases(answer.value)


def _measured(answer: Answer[Any]) -> list[tuple[str, str, dict[str, float | None]]]:
    """What health measured: each table, its level, and the value of each measure."""
    from explorer.spec.health.measures import BY_ID

    if isinstance(answer.value, list):
        return [(row["table"], row["level"], {name: row.get(name) for name in BY_ID}) for row in answer.value]
    health = answer.value
    return [(health.table, health.worst, {measured.id: measured.value for measured in health.measures})]
