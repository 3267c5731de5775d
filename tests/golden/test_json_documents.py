"""The JSON of every question: a format version, one style of keys, and an order that does not depend on hashes."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import explorer
from explorer.questions import QUESTIONS, Question
from explorer.questions.answers import JSON_FORMAT, Answer
from tests.golden.every_question import ASKED, aged, arguments, method, same

TABLES = ("branches_and_tags", "column_statistics", "copy_on_write_update", "deletion_vectors", "hidden_partitioning")
ALONE = [("glossary",), ("check", "rules")]
"""Questions about nothing, which run nothing."""
PROCEDURES = QUESTIONS["maintain", "preview"].parameters[0].kind.choices
OWN = re.compile(r"[a-z][a-z0-9_]*|_(?:file|pos|deleted_by|partition|spec_id|row_id|last_updated_sequence_number)")
SPEC = {
    "snapshot-id", "parent-snapshot-id", "sequence-number", "timestamp-ms", "manifest-list", "schema-id",
    "first-row-id", "added-rows", "min-snapshots-to-keep", "max-snapshot-age-ms", "max-ref-age-ms", "field-id",
    "source-id", "source-ids", "spec-id", "order-id", "initial-default", "write-default", "snapshot-log",
    "metadata-location", "sort-order-id", "partition-spec-id",
}  # fmt: skip
"""Names of metadata.json, as it writes them."""
DATA = re.compile(
    r"(inspect metadata .*|inspect snapshots \[\]\.summary\..*|(diff|data diff) \.partitions\..*"
    r"|(diff|history metadata) \.(properties|refs|schemas|partition_specs|sort_orders|spec|schema|sort_order)\..*"
    r"|data history \.explained\..*|data (diff|history) .*|plan \.residuals\..*"
    r"|inspect (files|entries|partitions|file|manifests) .*\.partition\..*|inspect (entries|files) .*bounds.*"
    r"|history writers \.commits\[\]\.(ids|progress)\..*|catalog pointer \.stored\..*)"
)
"""Places whose keys are data: the metadata file's own JSON, properties, partitions, snapshot ids, columns."""


def answers(name: str) -> Iterator[tuple[Question, Any]]:
    """Every question of a teaching table, with its JSON."""
    table = explorer.open_table(f"demo.{name}")
    for one in ASKED:
        asked = [[word] for word in PROCEDURES] if one.path == ("maintain", "preview") else arguments(one, table)
        for words in asked:
            given: dict[str, Any] = {"name": words[2]} if "--name" in words else {}
            positional = [[words[0]]] if one.path == ("scan", "estimate") else words[: 1 if given else None]
            try:
                answer = method(one, table)(*positional, **given)
            except explorer.ExplorerError:
                continue
            yield one, (answer, answer.to_json())


def keys(data: Any, place: str = "") -> Iterator[tuple[str, str]]:
    """Every key of JSON data, and its place."""
    if isinstance(data, dict):
        for name, value in data.items():
            yield name, f"{place}.{name}"
            yield from keys(value, f"{place}.{name}")
    elif isinstance(data, list):
        for value in data:
            yield from keys(value, f"{place}[]")


@pytest.mark.parametrize("name", TABLES)
def test_objects_begin_with_the_format(name: str, sandbox: Path) -> None:
    for one, (answer, data) in answers(name):
        if isinstance(answer, Answer) and isinstance(data, dict):
            assert next(iter(data.items())) == ("json_format", JSON_FORMAT), one.path
        else:
            assert isinstance(data, list), one.path


@pytest.mark.parametrize("name", TABLES)
def test_keys_have_one_style(name: str, sandbox: Path) -> None:
    odd = set()
    for one, (_, data) in answers(name):
        of = " ".join(one.path)
        odd |= {
            f"{of} {place}"
            for key, place in keys(json.loads(json.dumps(data)))
            if not OWN.fullmatch(key) and key not in SPEC and not DATA.fullmatch(f"{of} {place}")
        }
    assert odd == set()


def test_keys_of_questions_about_nothing_have_one_style() -> None:
    for path in ALONE:
        assert not [key for key, _ in keys(QUESTIONS[path].ask().to_json()) if not OWN.fullmatch(key)]


def test_no_order_depends_on_hashes(sandbox: Path) -> None:
    code = "import json; from tests.golden.test_json_documents import everything; print(json.dumps(everything()))"
    runs = []
    for seed in ("1", "2"):
        done = subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True, text=True, env={**os.environ, "PYTHONHASHSEED": seed}, cwd=Path(__file__).parents[2],
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        runs.append(json.loads(done.stdout))
    assert len(runs[0]) > 100
    for first, second in zip(*runs, strict=True):
        assert same(json.dumps(first, ensure_ascii=False)) == same(json.dumps(second, ensure_ascii=False))


def everything() -> list[Any]:
    """The JSON of every question and table, without ages; and its text, where it has one."""
    out = []
    for name in TABLES:
        for one, (answer, data) in answers(name):
            out.append([name, *one.path, aged(data)])
            if one.path not in {("health",), ("overview",), ("maintain", "preview")}:  # which tell ages
                out.append([name, *one.path, answer.to_text()])
    return out
