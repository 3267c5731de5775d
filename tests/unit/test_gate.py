"""Checks in a pipeline: exit codes by --fail-on, JUnit, annotations of GitHub, OpenMetrics."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner, Result
from prometheus_client.openmetrics.parser import text_string_to_metric_families

from explorer.cli import main
from explorer.render.gate import github_annotations, junit, open_metrics
from explorer.spec.doctor.gate import CaseLevel, CheckCase
from explorer.spec.health.measures import MEASURES
from tests.support.small_tables import make_table

NASTY = 'a"b\\c]]></testcase><x>&\x1b[31m\x00\ud800%0A::error::\r\n, :'
SECRET = "s3://bucket/t?X-Amz-Signature=0123456789abcdef0123456789abcdef&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE"


def run(*words: str | Path) -> Result:
    return CliRunner().invoke(main, list(map(str, words)))


@pytest.fixture
def sick(tmp_path: Path) -> Path:
    """A table without one of its manifests."""
    table = make_table(tmp_path, 2)
    next((table / "metadata").glob("*-m0.avro")).unlink()
    return table


def test_the_exit_code_tells_from_the_level_that_is_asked_for(sick: Path, sandbox: Path) -> None:
    assert [run("doctor", sick, *more).exit_code for more in ((), ("--fail-on", "error"), ("--fail-on", "never"))] == [
        6, 6, 0,
    ]  # fmt: skip
    levels = [run("health", "demo.long_history", *more).exit_code for more in ((), ("--fail-on", "warning"))]
    assert levels == [0, 5]
    assert run("health", "demo.long_history", "--fail-on", "error").exit_code == 0
    assert run("catalog", "health", "--namespace", "demo", "--fail-on", "warning").exit_code == 5
    strict = ("--threshold", "small-files=1", "--fail-on", "error")
    assert run("health", "demo.long_history", *strict).exit_code == 6


def test_junit_has_a_suite_for_a_table_and_a_case_for_each_rule(sick: Path) -> None:
    done = run("doctor", sick, "-o", "junit")
    [suite] = ElementTree.fromstring(done.stdout)
    failures = suite.findall("testcase/failure")
    assert done.exit_code == 6
    assert int(suite.get("failures") or 0) == len(failures) > 0
    assert int(suite.get("tests") or 0) == len(suite.findall("testcase")) > 70
    never = ElementTree.fromstring(run("doctor", sick, "-o", "junit", "--fail-on", "never").stdout)
    assert never.findall(".//failure") == []
    assert [case.text or "" for case in never.findall(".//system-out")][0].startswith("error: ")


def test_a_rule_that_was_not_asked_is_skipped_in_junit(tmp_path: Path) -> None:
    table = make_table(tmp_path, 1)

    def skipped(*more: str) -> dict[str, str]:
        [suite] = ElementTree.fromstring(run("doctor", table, "-o", "junit", *more).stdout)
        cases = [(case.get("name") or "", case.find("skipped")) for case in suite]
        return {name: why.get("message") or "" for name, why in cases if why is not None}

    quick, files, deep = skipped("--skip", "file-twice"), skipped("--files"), skipped("--deep")
    assert quick["file-twice"] == "left out by --skip"
    assert (quick["file-missing"], quick["column-type"]) == ("needs --files", "needs --deep")
    assert "file-missing" not in files
    assert files["column-type"] == "needs --deep"
    assert "column-type" not in deep
    for other in (table / "metadata").glob("*.metadata.json"):
        other.write_text("{")
    assert skipped()["file-twice"] == "the metadata file cannot be read"


def test_a_catalog_is_told_table_by_table(sandbox: Path) -> None:
    root = ElementTree.fromstring(run("catalog", "health", "--namespace", "demo", "-o", "junit").stdout)
    assert len(root) > 20
    doctor = ElementTree.fromstring(run("catalog", "doctor", "--namespace", "demo", "-o", "junit").stdout)
    assert {suite.get("name") for suite in doctor} == {suite.get("name") for suite in root}


@pytest.mark.parametrize("level", ["error", "warning", "info", "ok", "not judged"])
def test_nothing_of_a_stranger_is_markup_or_a_command(level: CaseLevel) -> None:
    case = CheckCase(NASTY, "rule", NASTY, level, f"{NASTY}\n{SECRET}")
    [suite] = ElementTree.fromstring(junit([case], "warning"))
    assert len(suite.findall("testcase")) == 1
    lines = list(github_annotations([case]))
    assert len(lines) == (level in ("error", "warning", "info"))
    for line in lines:
        assert re.fullmatch(r"::(error|warning|notice) title=[^,:\n\r]*::[^\n\r]*", line)
    told = junit([case], "warning") + "".join(lines)
    assert "AKIAIOSFODNN7EXAMPLE" not in told
    assert "\x1b" not in told


def test_metrics_are_what_a_parser_of_open_metrics_takes(sandbox: Path) -> None:
    for words in (("health", "demo.long_history"), ("catalog", "health", "--namespace", "demo")):
        text = run(*words, "-o", "openmetrics").stdout
        families = {family.name: family for family in text_string_to_metric_families(text)}
        [size] = [
            sample.value
            for sample in families["iceberg_metadata_size_bytes"].samples
            if sample.labels["table"] == "sandbox.demo.long_history"
        ]
        assert size > 10_000
    nasty = open_metrics([(NASTY, {measure.id: 1.5 for measure in MEASURES}), ("t", {"schemas": None})])
    assert len(list(text_string_to_metric_families(nasty))) == len(MEASURES)
