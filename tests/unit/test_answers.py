"""Answers to exercises are taken as people write them, and no question tells its answer."""

from __future__ import annotations

from typing import Any

import pytest

from explorer.lab.exercises.answers import interpret, names_with_numbers, words
from explorer.lab.exercises.catalogs import CATALOG_EXERCISES
from explorer.lab.exercises.commits import EXERCISES, Exercise, ExerciseResult
from explorer.lab.exercises.doctor import DOCTOR_EXERCISES
from explorer.lab.exercises.layout import LAYOUT_EXERCISES
from explorer.lab.exercises.planning import PLAN_EXERCISES
from explorer.lab.exercises.reading import (
    DELETE_EXERCISES,
    FIRST_EXERCISES,
    MANIFESTS,
    STATUS_EXERCISES,
    STATUSES,
)

ALL = (
    *EXERCISES, *FIRST_EXERCISES, *STATUS_EXERCISES, *DELETE_EXERCISES, *PLAN_EXERCISES, *LAYOUT_EXERCISES,
    *CATALOG_EXERCISES, *DOCTOR_EXERCISES,
)  # fmt: skip


@pytest.mark.parametrize(
    ("answer", "example", "known", "meant"),
    [
        ("3", 2, {}, 3), (" 3 ", 2, {}, 3), (3.0, 2, {}, 3), (2.5, 2, {}, 2.5), ("three", 2, {}, "three"),
        ("null", None, {}, None), ("None", 1, {}, None), ("7", None, {}, 7), (True, 2, {}, True),
        ("Snapshot", "snapshot", words("serializable", "snapshot"), "snapshot"),
        ("VALIDATEFROMSNAPSHOT", "x", words("validateFromSnapshot"), "validateFromSnapshot"),
        (["Manifest-2", "MANIFEST-3"], ("manifest-2", "manifest-3"), MANIFESTS, ("manifest-2", "manifest-3")),
        ({"Manifest-2"}, ("manifest-2", "manifest-3"), MANIFESTS, {"manifest-2"}),
        ("Manifest-2", ("manifest-2", "manifest-3"), MANIFESTS, "manifest-2"),
        (("added", "Existing", "filtered"), ("ADDED", "EXISTING", ""), STATUSES, ("ADDED", "EXISTING", "")),
        ("data-1", ("data-1.parquet",), names_with_numbers("data", ".parquet"), "data-1.parquet"),
        ((("1", "2"), ["3", "4"]), ((1, 2),), {}, ((1, 2), (3, 4))),
        (("1", "null", "3"), (1, 1, None), {}, (1, None, 3)),
        ("DELETE FROM t ", "DELETE FROM t", {}, "DELETE FROM t"),
    ],
)  # fmt: skip
def test_what_is_meant(answer: Any, example: Any, known: dict[str, Any], meant: Any) -> None:
    told = interpret(answer, example, known)
    assert told == meant
    assert type(told) is type(meant)


def test_an_example_means_itself() -> None:
    for exercise in ALL:
        assert interpret(exercise.example, exercise.example, exercise.words) == exercise.example


def test_no_question_tells_its_answer() -> None:
    for exercise in ALL:
        told = [exercise.example] if isinstance(exercise.example, str) else []
        told += [repr(exercise.example)] if isinstance(exercise.example, tuple) else []
        if exercise.words:  # a choice of words that the question names
            told = [text for text in told if text.startswith("(")]
        assert not [text for text in told if text in exercise.question], exercise.question


def test_a_judge_gets_what_is_meant() -> None:
    exercise = Exercise("?", lambda _, answer: ExerciseResult(answer == 3, repr(answer)), 3)
    assert exercise.judge(None, 3).right
    assert interpret("3", exercise.example, exercise.words) == 3
