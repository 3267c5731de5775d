"""Answers to exercises are taken as people write them, and no question tells its answer."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest

from explorer.errors import StatementFailed, TableNotFound
from explorer.lab import progress_store
from explorer.lab.exercises import exercise as exercises
from explorer.lab.exercises.answers import interpret, names_with_numbers, words
from explorer.lab.exercises.course import EXERCISES_BY_NOTEBOOK
from explorer.lab.exercises.entries import (
    ChoiceEntry,
    NamesEntry,
    NumberEntry,
    RowsEntry,
    SeveralEntry,
    StatementsEntry,
    StepsEntry,
    TextEntry,
    answer_text,
    fits,
    rows,
)
from explorer.lab.exercises.exercise import Exercise, ExerciseResult, WrongForm, one_sentence
from explorer.lab.exercises.reading import MANIFESTS, STATUSES
from explorer.lab.exercises.widgets import exercise_widget, make_input

ALL = [one for of in EXERCISES_BY_NOTEBOOK.values() for one in of]


@pytest.fixture(autouse=True)
def nothing_reached(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress_store, "_file", lambda: tmp_path / "home" / "solved.jsonl")
    monkeypatch.setattr(exercises, "_wrong_answers", {})


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


def test_no_question_and_no_first_help_tells_the_answer() -> None:
    for exercise in ALL:
        told = [repr(exercise.example)] if isinstance(exercise.example, tuple) else []
        told += [exercise.example] if isinstance(exercise.example, str) and not exercise.words else []
        for text in told:
            assert text not in exercise.text + exercise.nudge + exercise.look, exercise.question
        assert exercise.nudge.strip()
        assert exercise.look.strip()
        assert exercise.reason.strip()
    assert len({exercise.question for exercise in ALL}) == len(ALL)  # progress is kept by it


def test_an_example_is_of_the_form_that_is_asked_for() -> None:
    for exercise in ALL:
        entry, example = exercise.entry, exercise.example
        if isinstance(entry, ChoiceEntry):
            assert example in entry.options
        elif isinstance(entry, RowsEntry):
            assert len(example) == len(entry.labels)
            for one, value in zip(entry.entries, example, strict=True):
                assert not isinstance(one, ChoiceEntry) or value in one.options, (exercise.question, value)
                assert not isinstance(one, NumberEntry) or value is None or isinstance(value, int)
        elif isinstance(entry, SeveralEntry):
            assert all(interpret(option, example, exercise.words) is not None for option in entry.options)
            assert set(example) <= set(entry.options)
        elif isinstance(entry, StepsEntry):
            assert set(example) <= {*entry.letters, *entry.marks}
            assert sum(letter in entry.letters for letter in example) <= entry.par


def sums(entry: Any = None, judge: Any = None) -> Exercise:
    def right(_: Any, answer: Any) -> ExerciseResult:
        return ExerciseResult(answer == 3, f"{answer} is given.", "One and two are three.")

    return Exercise("1 + 2?", judge or right, 3, entry or NumberEntry(), "Count.", "your fingers.", "Adding counts on.")


def test_help_comes_step_by_step() -> None:
    exercise = sums()
    assert exercise.check().right is None
    for _ in range(2):  # the same answer again brings no further help
        assert exercise.check(1).words == "1 is given.\nThink: Count."
    assert exercise.check(2).words == "2 is given.\nLook here: your fingers."
    assert progress_store.states_by_question()["1 + 2?"].state == "tried"
    assert exercise.check(4).words == "4 is given.\nA right answer: 3\nOne and two are three.\nWhy: Adding counts on."
    assert progress_store.states_by_question()["1 + 2?"].state == "looked up"
    right = exercise.check("3")
    assert right.right
    assert "Why" not in right.words
    assert "Adding counts on." in right.words
    assert progress_store.states_by_question()["1 + 2?"].state == "looked up"  # who has seen the answer did not find it
    assert exercise.check(1).words == "1 is given.\nThink: Count."


def test_an_answer_is_shown_as_a_person_reads_it() -> None:
    status = ChoiceEntry(("ADDED", ""), (("", "no reader sees it"),))
    assert answer_text(rows(("first", "last"), status), ("ADDED", "")) == "first: ADDED; last: no reader sees it"
    assert answer_text(SeveralEntry(("a", "b")), ("a", "b")) == "a; b"
    assert answer_text(StatementsEntry(), ("REFRESH TABLE t", "ANALYZE TABLE t")) == "REFRESH TABLE t; ANALYZE TABLE t"
    assert answer_text(NumberEntry(or_null=True), None) == "null"


def test_what_is_solved_stays_solved() -> None:
    exercise = sums()
    assert exercise.check(3).right
    assert "3" in exercise.show_answer().words
    exercise.check(1)
    assert progress_store.states_by_question()["1 + 2?"].state == "solved"


def raises(error: Exception) -> Any:
    def judge(_: Any, answer: Any) -> ExerciseResult:
        raise error

    return judge


def test_no_raw_error_reaches_the_learner() -> None:
    for error in (TypeError("'int' object is not iterable"), RuntimeError("py4j.Py4JError: o12"), KeyError("x")):
        said = sums(judge=raises(error)).check(2)
        assert said.words == "This cannot be run: the answer has another form. Give a number."
    assert sums(judge=raises(WrongForm("give a digit"))).check(2).words == "This cannot be run: give a digit"
    assert progress_store.states_by_question() == {}
    missing = sums(judge=raises(TableNotFound("no table 'demo.x'"))).check(2)
    assert (missing.right, missing.words) == (None, "Your answer could not be judged: no table 'demo.x'")
    text = "[PARSE_SYNTAX_ERROR] Syntax error at or near 'SELEC'. SQLSTATE: 42601\n== SQL ==\nSELEC"
    assert one_sentence(StatementFailed(text)) == "Syntax error at or near 'SELEC'."
    java = "org.apache.iceberg.exceptions.ValidationException: Found conflicting files\n\tat org.apache"
    assert one_sentence(StatementFailed(java)) == "Found conflicting files"
    for text, plain in (
        (
            "this is no statement of Spark's: mismatched input 'TABLE' expecting {<EOF>, '.'}",
            "'TABLE' does not belong there",
        ),
        ("this is no statement of Spark's: An error occurred while calling o24.parse. Trace:", "Spark cannot read it"),
        ("Cannot find field 'x' in struct: struct<1: id: optional int>", "Cannot find field 'x'"),
    ):
        assert one_sentence(StatementFailed(text)).endswith(plain)
    assert "Give one of 'a', 'b'" in sums(ChoiceEntry(("a", "b"))).check("c").words


def test_a_reply_is_set_in_html() -> None:
    html = ExerciseResult(
        False, "a < b\nLook here: `icedive docs` and *Two writers*; not SELECT * FROM t"
    )._repr_html_()
    assert "a &lt; b" in html
    assert "<code>icedive docs</code> and <i>Two writers</i>; not SELECT * FROM t" in html


def test_a_short_order_gets_its_score() -> None:
    def judge(_: Any, answer: str) -> ExerciseResult:
        return ExerciseResult("B" in answer, answer)

    order = Exercise(
        "?", judge, "AB", StepsEntry("AB", "B comes.", 2, lambda _, order: f"so far {order}", marks="?"), "n", "l", "r"
    )
    assert "You gave 3 steps. The fewest known are 2." in order.check("AA?B").words
    assert "You gave 2 steps. No shorter order is known." in order.check("AB").words


def test_an_answer_of_another_form_is_not_judged() -> None:
    for exercise in ALL:
        assert fits(exercise.entry, interpret(exercise.example, exercise.example, exercise.words)), exercise.question
        for answer in ({"a": 1}, object(), 2.5):
            marked = exercise.check(answer, bench=cast(Any, object()))
            assert marked.right is False
            assert marked.words.startswith("This cannot be run: the answer has another form. Give "), marked.words
    assert progress_store.states_by_question() == {}


def fill(widget: Any, values: list[Any]) -> None:
    """Enter values into the inputs below a widget, in their order."""
    if not getattr(widget, "children", ()):
        if type(widget).__name__ not in ("HTML", "Button"):
            widget.value = values.pop(0)
        return
    for child in widget.children:
        fill(child, values)


@pytest.mark.parametrize(
    ("entry", "entered", "value"),
    [
        (ChoiceEntry(("a", "b")), ["b"], "b"),
        (NumberEntry(or_null=True), [" null "], "null"),
        (TextEntry(), ["day = 3"], "day = 3"),
        (SeveralEntry(("a", "b")), [False, True], ("b",)),
        (NamesEntry(), ["city, day"], ("city", "day")),
        (StatementsEntry(), ["DELETE FROM t;\n"], "DELETE FROM t"),
        (StatementsEntry(), ["REFRESH TABLE t\nANALYZE TABLE t"], ("REFRESH TABLE t", "ANALYZE TABLE t")),
        (RowsEntry(("x", "y"), (ChoiceEntry(("a",)), NumberEntry())), ["a", "3"], ("a", "3")),
        (rows(("x", "y"), ChoiceEntry(("a", ""), (("", "no"),))), ["a", ""], ("a", "")),
    ],
)  # fmt: skip
def test_a_widget_gives_what_is_entered(entry: Any, entered: list[Any], value: Any) -> None:
    given = make_input(entry)
    assert given.value() is ...
    fill(given.widget, list(entered))
    assert given.value() == value


def test_steps_are_added_and_undone() -> None:
    entry = StepsEntry("AB", "B comes.", 2, lambda _, order: order, marks="?")
    given = make_input(entry, lambda order: f"so far {order}")
    goal, state, buttons, _ = given.widget.children
    a, b, mark, undo = buttons.children
    assert "B comes. The fewest steps known: 2." in goal.value
    for button in (a, mark, b, undo):
        button.click()
    assert given.value() == "A?"
    assert "so far A?" in state.value


def test_the_widget_of_every_exercise_replies() -> None:
    for exercise in ALL:
        assert exercise_widget(exercise).children
    exercise = sums()
    line, buttons, reply = exercise_widget(exercise).children
    check, answer, state = buttons.children
    check.click()
    assert "has a gap" in reply.value
    line.value = "1"
    check.click()
    assert "Think: Count." in reply.value
    assert "tried" in state.value
    answer.click()
    assert "A right answer: 3" in reply.value
    assert "looked up" in state.value
