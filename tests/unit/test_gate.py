"""Checks in a pipeline: exit codes by --fail-on, JUnit, annotations of GitHub, OpenMetrics."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, ClassVar
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


def test_a_log_of_health_tells_what_changed(tmp_path: Path) -> None:
    """Each run adds a line for each table, and compares it with the runs before."""
    place, log = make_table(tmp_path / "t", 3), tmp_path / "health.jsonl"
    first = run("health", place, "--history", log, "--threshold", "schemas=0.5")
    assert "This is the first run of the log" in first.stdout
    [line] = map(json.loads, log.read_text().splitlines())
    assert (line["level"], line["measures"]["schemas"]) == ("warning", 1)
    line["time_ms"], line["measures"]["schemas"] = 1767225600000, 0
    log.write_text(json.dumps(line) + "\n")
    second = run("health", place, "--history", log, "--threshold", "schemas=0.5", "--output", "json")
    assert json.loads(second.stdout)["level"] == "warning"
    assert "1 earlier run since 2026-01-01 00:00:00 UTC. Of 1 table, 1 is above a threshold now, 0 at" in second.stderr
    assert "schemas 0 → 1, above 0.5 since" in second.stderr
    third = run("health", place, "--history", log)
    assert third.stdout.splitlines()[-1].endswith("Of 1 table, 0 are above a threshold now, 0 at the last run.")
    assert len(log.read_text().splitlines()) == 3


@pytest.mark.parametrize(
    "line", ["[]", "{", '{"time_ms": "x"}', '{"time_ms": 1, "table": 2, "level": "ok", "measures": {}}']
)
def test_a_file_that_is_no_log_of_health_stays_as_it_is(tmp_path: Path, line: str) -> None:
    place, log = make_table(tmp_path / "t", 1), tmp_path / "health.jsonl"
    log.write_text(f"{line}\n")
    result = run("health", place, "--history", log)
    assert (result.exit_code, "line 1 is not one of a log of health" in result.stderr) == (1, True)
    assert log.read_text() == f"{line}\n"


class _Hook(BaseHTTPRequestHandler):
    """Keeps what it gets; its path says what it answers."""

    messages: ClassVar[list[Any]] = []

    def do_POST(self) -> None:
        self.messages.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.send_response(int(self.path.rsplit("/", 1)[-1]))
        self.send_header("Location", "http://127.0.0.1:1/elsewhere")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        """Print nothing."""


@pytest.fixture
def hook() -> Iterator[str]:
    server = HTTPServer(("127.0.0.1", 0), _Hook)
    Thread(target=server.serve_forever, daemon=True).start()
    _Hook.messages.clear()
    yield f"http://127.0.0.1:{server.server_port}/secret-{SECRET[-16:]}"
    server.shutdown()
    server.server_close()


def test_a_webhook_gets_what_fails(sick: Path, hook: str) -> None:
    assert run("doctor", sick, "--webhook", f"{hook}/200").exit_code == 6
    [message] = _Hook.messages
    assert (message["checks"][0]["level"], message["all_checks"]) == ("error", 1)
    assert "manifest-missing" in message["text"]
    assert run("health", sick, "--webhook", f"{hook}/200", "--fail-on", "error").exit_code == 3
    assert len(_Hook.messages) == 1


def test_a_webhook_that_does_not_take_it_is_an_error_without_its_secret(sick: Path, hook: str) -> None:
    for status in (302, 500):
        result = run("doctor", sick, "--webhook", f"{hook}/{status}")
        assert (result.exit_code, f"the webhook at 127.0.0.1 answered {status}" in result.stderr) == (1, True)
        assert "secret-" not in result.output
    gone = run("doctor", sick, "--webhook", "http://127.0.0.1:1/secret-x")
    assert (gone.exit_code, "secret-" in gone.output) == (1, False)


@pytest.mark.parametrize("url", ["file:///etc/passwd", "ftp://x/y", "http://", "x", "http://[::1"])
def test_a_webhook_is_a_url_of_http(sick: Path, url: str) -> None:
    assert run("doctor", sick, "--webhook", url).exit_code == 2
    assert run("health", sick, "--webhook", url).exit_code == 2
