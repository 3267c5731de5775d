"""Every question that reads metadata, asked of a teaching table: Python and the command line answer the same.

Two test files ask the questions, of half the tables each: one process takes a whole file, and both take minutes."""

from __future__ import annotations

import contextlib
import json
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import explorer
from explorer.cli import main
from explorer.lab.scenarios import SCENARIOS
from explorer.questions import QUESTIONS, Question
from explorer.questions.answers import Result
from tests.support.helpers import steady

SPARK = {("rows",), ("sql",), ("data", "duplicates"), ("history", "watch")}
"""They need Spark, or do not end."""
ASKED = [q for q in QUESTIONS.values() if q.subject in ("table", "place") and not q.is_writing and q.path not in SPARK]
LONG = {("data", "history"), ("data", "diff")}
"""They read the rows of 300 snapshots, three times, where there are so many."""
TIMES = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)? UTC|\d+ (?:second|minute|hour)s? ago|\S*… ?\S*")


def cases(start: int) -> list[Any]:
    """Pairs of a question and a table, of every second table from `start`."""
    return [
        pytest.param(
            one, scenario.name, id=f"{' '.join(one.path)}-{scenario.name}",
            marks=[pytest.mark.rest] if one.path in LONG and scenario.name == "long_history" else [],
        )
        for one in ASKED
        for scenario in SCENARIOS[start::2]
    ]  # fmt: skip


def arguments(one: Question, table: explorer.OpenTable) -> list[list[str]]:
    """Words for what a question requires, once or more often."""
    column = table.inspect.schema()[0]["name"]
    files = [Path(row["file_path"]).name for row in table.inspect.files()]
    known: dict[str, list[str]] = {
        "where": [f"{column} is not null"], "before": ["snapshot-1"], "after": ["main"], "base": ["snapshot-1"],
        "path": files[:1] or ["no-such-file"], "operation": ["append"], "what": ["snapshot-1"],
        "other": [table.metadata.metadata_location],
    }  # fmt: skip
    if one.path == ("history", "metadata"):
        return [["0"]]
    if one.path == ("maintain", "preview"):
        return [[operation] for operation in ("compact", "rewrite-manifests", "next-append", "dangling-deletes")]
    if one.path == ("refs", "preview"):
        return [["tag", "--name", "x"]]
    required = [
        p.name for p in one.parameters if p.is_required or (one.path == ("scan", "estimate") and p.name == "where")
    ]
    return [[known[name][0] for name in required]]


def method(one: Question, table: explorer.OpenTable) -> Any:
    """The method of a question."""
    holder = getattr(table, one.group) if one.group else table
    return getattr(holder, one.name.replace("-", "_"))


def ask_all(table: explorer.OpenTable) -> None:
    """Ask a table every question that its files answer, as text and as JSON. A question may refuse."""
    for one in ASKED:
        if one.path == ("catalog", "pointer"):
            continue
        for words in arguments(one, table):
            given: dict[str, Any] = {"name": words[2], "snapshot": "main"} if "--name" in words else {}
            asked = [[words[0]]] if one.path == ("scan", "estimate") else words[: 1 if given else None]
            with contextlib.suppress(explorer.ExplorerError):
                answer = method(one, table)(*asked, **given)
                assert answer.to_text() or answer.to_json() == [], one.path


def aged(data: Any) -> Any:
    """JSON data without ages and ids of this moment."""
    if isinstance(data, dict) and "procedures" in data:  # why an expiry has nothing to do names its time
        data = {**data, "procedures": [{**line, "why": same(line["why"])} for line in data["procedures"]]}
    return {**steady(data), "age_ms": 0} if isinstance(data, dict) and "age_ms" in data else steady(data)


def same(text: str) -> str:
    """A text without what no two askings have in common."""
    return TIMES.sub("(time)", text)


def compare_answers(one: Question, name: str) -> None:
    """Ask Python and the command line one question of a table, and compare JSON and text."""
    teaching_table = f"demo.{name}"
    table = explorer.open_table(teaching_table)
    for words in arguments(one, table):
        given: dict[str, Any] = {"name": words[2]} if "--name" in words else {}
        asked = [[words[0]]] if one.path == ("scan", "estimate") else words[: 1 if given else None]
        try:
            answer = method(one, table)(*asked, **given)
        except explorer.ExplorerError as error:
            failed = CliRunner().invoke(main, [*one.path, teaching_table, *words])
            assert (failed.exit_code, str(error) in failed.stderr) == (1, True)
            continue
        run = CliRunner().invoke(main, [*one.path, teaching_table, *words, "--output", "json"])
        assert isinstance(answer, Result)
        level = answer.level() if hasattr(answer, "level") and one.path != ("health",) else "ok"  # which never fails
        assert run.exit_code == {"ok": 0, "incomplete": 3, "warning": 5, "error": 6}[level], run.output
        assert aged(json.loads(run.stdout)) == aged(json.loads(json.dumps(answer.to_json())))
        text = CliRunner().invoke(main, [*one.path, teaching_table, *words]).stdout
        if not isinstance(answer, explorer.Collection):
            assert same(text) == same(answer.to_text())
        else:
            assert text.splitlines()[0].split()[0] in answer.columns if len(answer) else text.strip() in ("", "(none)")
