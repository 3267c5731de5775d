"""What a server's operator sets: quotas, the audit log."""

from __future__ import annotations

import json
import os
import re
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from explorer.errors import ExplorerError
from explorer.spark_engine.sql_guard import quotas
from explorer.spark_engine.sql_guard.quotas import Quotas, acting, audit, person


@pytest.fixture(autouse=True)
def anew() -> Iterator[None]:
    for cached in (quotas.quotas, quotas._slots):
        cached.cache_clear()
    yield
    for cached in (quotas.quotas, quotas._slots):
        cached.cache_clear()


def test_quotas_are_numbers_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    assert quotas.quotas() == Quotas()
    for text in ("{", "[]", "3", '{"rows": 0}', '{"rows": "7"}', '{"rows": true}', '{"row": 7}'):
        quotas.quotas.cache_clear()
        monkeypatch.setenv(quotas.VARIABLE, text)
        with pytest.raises(ExplorerError, match=quotas.VARIABLE):
            quotas.quotas()
    quotas.quotas.cache_clear()
    monkeypatch.setenv(quotas.VARIABLE, '{"rows": 7, "reads": 1}')
    assert quotas.quotas() == Quotas(reads=1, rows=7)


def test_so_many_reads_at_once_and_who_gives_up_leaves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(quotas.VARIABLE, '{"reads": 1}')
    gone = threading.Event()
    gone.set()
    with quotas.slot(threading.Event()) as first, quotas.slot(gone) as second:
        assert (first, second) == (True, False)
    with quotas.slot(threading.Event()) as third:
        assert third


def test_the_audit_log_has_who_asked_what(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "audit.jsonl"
    monkeypatch.setenv(quotas.AUDIT_VARIABLE, str(path))
    with acting("ada"):
        said = "SELECT 1 -- \nforged \u2028 s3://AKIAABCDEFGHIJKLMNOP:secret@b/c"
        audit("sql", person(), said, ["/t/v1.json@7"], "answered", 1.23456, 3)
    audit("write", person(), "CALL x()", [], "failed: no", 0, 0)
    first, second = [json.loads(line) for line in path.read_text().splitlines()]
    assert (first["who"], first["kind"], first["rows"], first["seconds"]) == ("ada", "sql", 3, 1.235)
    assert "secret" not in first["statement"]
    assert (second["who"], second["outcome"]) == ("", "failed: no")
    assert os.stat(path).st_mode & 0o077 == 0
    assert quotas.outcomes["write", "failed"] >= 1
    monkeypatch.setenv(quotas.AUDIT_VARIABLE, str(tmp_path / "no" / "folder"))
    with pytest.raises(ExplorerError, match="cannot be written: No such file"):
        quotas.check_audit()


def test_the_container_has_what_the_package_leads_to() -> None:
    root = Path(__file__).parents[2]
    copied = [place for line in (root / "Dockerfile").read_text().splitlines() if line.startswith("COPY ")
              for place in line.split()[1:-1]]  # fmt: skip
    links = [link.resolve().relative_to(root) for link in (root / "explorer").iterdir() if link.is_symlink()]
    assert len(links) == 3
    assert [link for link in links if not {str(link), *map(str, link.parents)} & set(copied)] == []
    allowed = {line.removeprefix("!") for line in (root / ".dockerignore").read_text().splitlines() if line[:1] == "!"}
    assert set(copied) == allowed


def test_the_container_has_the_versions_that_are_tested_and_no_tests() -> None:
    folder = Path(__file__).parents[2] / "requirements"
    run, all_of_them = (set(re.findall(r"^[\w.-]+==[^ ;]+", (folder / name).read_text(), re.MULTILINE))
                        for name in ("run.txt", "all.txt"))  # fmt: skip
    assert run - all_of_them == set()
    assert {name.partition("==")[0] for name in all_of_them - run} >= {"pytest", "playwright", "ruff", "mypy"}


def test_the_container_names_no_registry() -> None:
    text = (Path(__file__).parents[2] / "Dockerfile").read_text()
    named = [line for line in text.splitlines() if line.startswith(("FROM", "ARG"))]
    assert named == ["ARG BASE=python:3.12-slim", "FROM ${BASE}"]
