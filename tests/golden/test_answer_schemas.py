"""Answers are as docs/schemas says, each question's: a key that is not there, or another type, is a change of the
format."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

import explorer
from explorer.questions import QUESTIONS
from tests.answer_schemas import FOLDER, answers, file_of
from tests.golden.every_question import ASKED
from tests.golden.test_json_documents import TABLES
from tests.support.small_tables import make_table


def problems(question: str, data: object) -> list[str]:
    schema = json.loads(file_of(question).read_text())
    Draft202012Validator.check_schema(schema)
    return [
        f"{question} {error.json_path}: {error.message[:200]}"
        for error in Draft202012Validator(schema).iter_errors(data)
    ]


@pytest.mark.parametrize("name", TABLES)
def test_answers_are_as_their_schemas_say(name: str, sandbox: Path) -> None:
    found = [problem for question, data in answers(name) for problem in problems(question, data)]
    assert not found, "\n".join(found[:20])


def test_answers_about_other_tables_are_too(tmp_path: Path) -> None:
    table = explorer.open_table(make_table(tmp_path))
    for question, answer in (
        ("overview", table.overview()), ("doctor", table.doctor()), ("health", table.health()),
        ("inspect entries", table.inspect.entries()), ("plan", table.plan("id = 1")), ("count", table.count()),
    ):  # fmt: skip
        assert problems(question, json.loads(json.dumps(answer.to_json()))) == []


def test_there_is_a_schema_of_each_question_and_no_other() -> None:
    named = {file_of(" ".join(one.path)).name for one in ASKED}
    assert {path.name for path in FOLDER.iterdir()} == named
    assert len(named) > 25
    assert problems("count", {"rows": "three"})
    assert ("count",) in QUESTIONS


def test_no_schema_has_a_path_of_the_machine_that_wrote_it() -> None:
    assert not [file.name for file in FOLDER.glob("*.json") if "file:/" in file.read_text()]
