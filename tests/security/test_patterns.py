"""Regular expressions that may take very long are not run; a read that does not stop frees its place all the same."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from explorer.errors import AccessRefused
from explorer.spark_engine import read_queue
from explorer.spark_engine.read_queue import ReadCancelled, ReadFailed, ReadSession, SqlRequest
from explorer.spark_engine.spark import SparkEngine
from explorer.spark_engine.sql_guard import guard, quotas
from explorer.spark_engine.sql_guard.patterns import LONGEST, why_slow

SLOW = [
    r"(a+)+$", r"(a*)*b", r"(a|a)*b", r"(a|ab)*c", r"(\w+\s?)*x", r"((a|a)b)*", r"(a?){30}a{30}", r"(a+){20}",
    r"(?:a+)+", r"([a-z]+)*", r"(.*a){12}", r"(a)\1", r"(?<n>a)\k<n>", "(?x)(a # )\n+)+", "a?" * 30, "(a|a)" * 30,
    r"([]a]+)+", r"([^]a]+)+", r"(\Q(\E+)+", r"(?i)(a|A)*", r"(?i:(a+)+)", r"(?=(a+)+)b", r"((a+))+", r"(a{1,}){2}",
    r"([(]+)+", r"(a||b)*", r"(\d|\w)+", r"(a+|b)*", r"(a.*?)+", r"(a|[ab])+", r"(x|\Qx\E)*", r"\c[(a+)+]",
    r"[\c[](a+)+", r"[\Q[\E](a+)+", r"[a[](a+)+", r"(\p{L}+)+", "a" * (LONGEST + 1),
]  # fmt: skip
QUICK = [
    "", "a", "(a)", "(a)|b", ",", r"(\d+)-(\d+)", r"^\d+(\.\d+)?$", r"(?:foo|bar)+", r"^[\w.+-]+@[\w-]+\.[a-z]{2,}$",
    r"\p{L}+", "([0-9]{3})-([0-9]{4})", "[|,]", "(?i)error.*timeout", "a{3}", "(ab)+", "(ab){2,3}", r"\$\{(\w+)\}",
    r"^(\S+) (\S+) \[([^\]]*)\] .(\S+)", r"[\[\](){}*+]+", "(a+){1}", "[^]a]+", "[a-z&&[^b]]+", r"\Qa(b+)+\E",
]  # fmt: skip
SUBJECT = "'" + "a" * 40 + "!'"
STATEMENTS = [
    "SELECT {} RLIKE '{}'", "SELECT {} NOT REGEXP '{}'", "SELECT regexp_replace({}, '{}', '')",
    "SELECT rlike({}, '{}')",
    "SELECT regexp_extract({}, '{}', 0)", "SELECT split({}, '{}')", "SELECT str_to_map({}, ',', '{}')",
    "SELECT regexp_count({}, '{}') FROM range(1)", "SELECT 1 LIMIT regexp_instr({}, '{}')",
    "SELECT s RLIKE '{1}' FROM VALUES ({0}) AS v (s)", "SELECT * FROM VALUES (regexp_like({}, '{}'))",
    "SELECT explode(regexp_extract_all({}, '{}', 0))", "SELECT regexp_substr(str => {}, regexp => '{}')",
    "SELECT {} RLIKE concat('{}', '')", "SELECT s RLIKE p FROM VALUES ({}, '{}') AS v (s, p)",
    "SELECT parse_url(concat('http://x/?', {}), 'QUERY', '{}')",
]  # fmt: skip
LOOPS = "SELECT aggregate(sequence(1, 30000), 0L, (a, x) -> a + aggregate(sequence(1, 30000), 0L, (b, y) -> b + x * y))"
"""Nothing but constants: Spark computes it, for minutes, while it plans."""


@pytest.mark.parametrize("pattern", SLOW)
def test_what_may_take_very_long_is_told(pattern: str) -> None:
    assert why_slow(pattern)


@pytest.mark.parametrize("pattern", QUICK)
def test_what_people_write_is_run(pattern: str) -> None:
    assert why_slow(pattern) is None


@pytest.mark.parametrize("statement", STATEMENTS)
@pytest.mark.parametrize("pattern", ["(a+)+$", "(a|a)*b", "(a?){40}a{40}"])
def test_spark_never_meets_a_slow_pattern(statement: str, pattern: str, session: object) -> None:
    began = time.monotonic()
    with pytest.raises(AccessRefused):
        guard.query(session, statement.format(SUBJECT, pattern), {}, guard.refuse_tables).toArrow()  # type: ignore[arg-type]
    assert time.monotonic() - began < 20


@pytest.fixture(scope="module")
def session(engine: SparkEngine) -> object:
    return engine.person_session()


@pytest.fixture
def audit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """One place for all reads, an audit log, and little patience."""
    log = tmp_path / "audit.jsonl"
    monkeypatch.setenv(quotas.AUDIT_VARIABLE, str(log))
    monkeypatch.setenv(quotas.VARIABLE, json.dumps({"reads": 1, "seconds": 20}))
    monkeypatch.setattr(read_queue, "GRACE_S", 1)
    quotas.quotas.cache_clear()
    quotas._slots.cache_clear()
    yield log
    monkeypatch.undo()
    quotas.quotas.cache_clear()
    quotas._slots.cache_clear()


def lines(log: Path) -> list[tuple[str, str]]:
    return [(line["statement"], line["outcome"]) for line in map(json.loads, log.read_text().splitlines())]


def test_a_read_that_does_not_stop_frees_its_place(engine: SparkEngine, audit: Path) -> None:
    engine.session()
    mine, another = ReadSession(engine), ReadSession(engine)
    late = mine.submit(SqlRequest(LOOPS, {}))
    with pytest.raises(ReadFailed, match="stopped after 20 seconds"):
        late.result(90)
    assert lines(audit)[0] == (LOOPS, "began")
    assert lines(audit)[1][1].startswith("failed: stopped after")
    assert mine.submit(SqlRequest("SELECT 1", {})).result(60).num_rows == 1
    cancelled = mine.submit(SqlRequest(LOOPS, {}))
    while cancelled.progress().phase != "planning":
        time.sleep(0.05)
    time.sleep(1)
    cancelled.cancel()
    with pytest.raises(ReadCancelled):
        cancelled.result(20)
    assert [outcome for _, outcome in lines(audit)][-2:] == ["began", "cancelled"]
    until = time.monotonic() + 60  # two are too many: Spark is started anew, and with it its processors are free
    while any(thread.is_alive() for thread in threading.enumerate() if thread.name == "read"):
        assert time.monotonic() < until
        time.sleep(0.1)
    engine.session()
    assert another.submit(SqlRequest("SELECT 2", {})).result(60).num_rows == 1
    assert mine.submit(SqlRequest("SELECT 3", {})).result(60).num_rows == 1
