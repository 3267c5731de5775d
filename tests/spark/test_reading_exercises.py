"""Exercises of the first three notebooks, which need the teaching tables and no Spark: a right answer passes, typical
wrong ones fail with a hint that names the mistake, an empty one asks for an answer. What is solved is kept, and the
course tells it."""

from __future__ import annotations

import json
import re
import shlex
import stat
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import explorer
from explorer.cli import main
from explorer.lab import progress_store
from explorer.lab.exercises import articles, course
from explorer.lab.exercises import exercise as exercises
from explorer.lab.exercises.entries import RowsEntry
from explorer.lab.exercises.quiz import score
from explorer.lab.exercises.reading import DELETE_EXERCISES, FIRST_EXERCISES, STATUS_EXERCISES

EXERCISES = (*FIRST_EXERCISES, *STATUS_EXERCISES, *DELETE_EXERCISES)
WRONG: list[tuple[tuple[Any, str], ...]] = [
    (
        (("manifest-1", "manifest-2", "manifest-3"), "snapshot-3 wrote its entries anew, into another manifest."),
        ("manifest-3", "One more is in the list: it is carried"),
        (("manifest-2", "manifest-9"), "neither lists nor replaces it"),
    ),
    (
        (("ADDED", "ADDED", "ADDED", "DELETED", ""), "You have ADDED more than once"),
        (("ADDED", "EXISTING", "EXISTING", "DELETED", "DELETED"), "or its manifest is no longer listed"),
        (("ADDED", "ADDED", "ADDED", "", "DELETED"), "1 of 5 is right, 4 are wrong. data-2.parquet in"),
        (("ADDED", "EXISTING", "EXISTING", "", ""), "its entry is there and says DELETED"),
        (("ADDED", "EXISTING"), "Give 5 values"),
    ),
    (
        (("", "EXISTING", "ADDED"), "That is how it reads as of the snapshot"),
        (("DELETED", "ADDED", "ADDED"), "data-2.parquet in snapshot-3: not ADDED"),
    ),
    (
        ((None, None, None), "DELETED entries must carry theirs"),
        ((2, 2, None), "1 of 3 is right, 2 are wrong."),
        ((1, 1, 3), "3 is inherited from the manifest list"),
        ((1, 2, None), "keeps the number of the commit that added it"),
    ),
    (
        ((1, 1), "0 of 2 are right, 2 are wrong. Copy-on-write writes whole files"),
        ((3, 0), "no part of the table any more"),
        (5, "Give 2 values"),
    ),
    (
        (("data-1.parquet", "data-2.parquet"), "it must be strictly less"),
        ((), "a file that you left out"),
        ("data-9.parquet", "no data file 'data-9.parquet'"),
    ),
    (
        ((0, 0), "1 of 2 is right, 1 is wrong. Compaction removes data files; a delete file stays"),
        ((2, 2), "has the rows without the deleted ones"),
    ),
    (
        ("main", "took it out of main, not out of the table"),
        ("opening", "in another line"),
        ("nowhere", "Give one of"),
    ),
]


@pytest.fixture(autouse=True)
def nothing_solved(sandbox: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    file = tmp_path / "home" / "solved.jsonl"
    monkeypatch.setattr(progress_store, "_file", lambda: file)
    monkeypatch.setattr(exercises, "_wrong_answers", {})
    return file


@pytest.mark.parametrize("number", range(len(EXERCISES)))
def test_a_right_answer_and_wrong_ones(number: int, nothing_solved: Path) -> None:
    exercise = EXERCISES[number]
    empty = exercise.check()
    assert empty.right is None
    assert exercise.question in empty.words
    for answer, says in WRONG[number]:
        marked = exercise.check(answer=answer)
        assert marked.right is False, answer
        assert says in marked.words, marked.words
    assert exercise.question in progress_store.states_by_question()
    nothing_solved.unlink()
    for _ in range(2):
        right = exercise.check(answer=exercise.example)
        assert right.right, right.words
        assert exercise.reason in right.words
    assert {question: one.state for question, one in progress_store.states_by_question().items()} == {
        exercise.question: "solved"
    }
    assert stat.S_IMODE(nothing_solved.stat().st_mode) == 0o600
    assert nothing_solved.read_text().strip().count("\n") == 0


def test_the_course_says_what_was_reached(nothing_solved: Path) -> None:
    solved, tried, looked_up = (explorer.exercise(f"2.{n}") for n in (1, 4, 3))
    solved.check(solved.example)
    tried.check((9, 9, 9))
    looked_up.show_answer()
    with nothing_solved.open("a") as file:
        file.write('{"question": "cut o')  # by a full disk
    assert progress_store.keep("after it") == ""
    assert progress_store.states_by_question()["after it"].state == "solved"
    told = CliRunner().invoke(main, ["course", "--progress"]).output
    assert re.search(r"02-\S+ +1 of 8 +3 +4 +2 5-8\n", told)
    data = json.loads(CliRunner().invoke(main, ["course", "--progress", "-o", "json"]).output)
    assert [(one["notebook"][:2], one["number"], one["state"]) for one in data if one["state"]] == [
        ("02", 1, "solved"), ("02", 3, "looked up"), ("02", 4, "tried"),
    ]  # fmt: skip
    nothing_solved.unlink()
    nothing_solved.mkdir()  # where nothing can be kept, an answer is right all the same
    marked = solved.check(solved.example)
    assert marked.right
    assert "could not be kept" in marked.words


QUIZZES = {
    f"{notebook[:2]}.{number}": exercise
    for notebook, exercises_there in course.EXERCISES_BY_NOTEBOOK.items()
    for number, exercise in enumerate(exercises_there, 1)
    if isinstance(exercise.entry, RowsEntry) and not exercise.needs_lab and exercise not in EXERCISES
}


@pytest.mark.parametrize("name", QUIZZES)
def test_a_quiz_is_judged_by_what_the_table_says(name: str) -> None:
    quiz = QUIZZES[name]
    assert quiz.check(quiz.example).right, quiz.check(quiz.example).words
    for line, (entry, right) in enumerate(zip(quiz.entry.entries, quiz.example, strict=True)):
        options = getattr(entry, "options", ()) or (right + 1,)
        wrong = next(one for one in options if one != right)
        marked = quiz.check((*quiz.example[:line], wrong, *quiz.example[line + 1 :]))
        assert marked.right is False
        assert f"{score(len(quiz.example) - 1, len(quiz.example))} Not so: {quiz.entry.labels[line]}" in marked.words
    assert "Give" in quiz.check(("one",)).words


def test_who_counts_the_snapshot_that_deletes_a_file_is_told_why_not() -> None:
    life = course.find_exercise("2.5")
    marked = life.check((*life.example[:-1], 4))
    assert "5 of 6 are right, 1 is wrong." in marked.words
    assert "snapshot-4 lists it as DELETED" in marked.words


ARTICLES = (articles.TREE_ERROR, articles.MANIFEST_ERROR, articles.DELETE_ERROR, articles.SPEC_ERROR)


@pytest.mark.parametrize("number", range(len(ARTICLES)))
def test_one_sentence_of_an_article_is_wrong(number: int) -> None:
    exercise = ARTICLES[number]
    letters = exercise.entry.options
    assert [letter for letter in letters if exercise.check(letter).right] == [exercise.example]
    other = next(letter for letter in letters if letter != exercise.example)
    assert f"Sentence {other} is true." in exercise.check(other).words


PLACES = sorted(
    command
    for exercises_there in course.EXERCISES_BY_NOTEBOOK.values()
    for exercise in exercises_there
    for command in re.findall(r"`icedive ([^`]+)`", exercise.look)
    if not re.match(r"lab |rows |.*(TABLE|--sql)", command)  # which need Spark, or a table or a filter of the learner's
)


@pytest.mark.parametrize("command", dict.fromkeys(PLACES))
def test_where_to_look_there_is_something(command: str) -> None:
    result = CliRunner().invoke(main, shlex.split(command))
    assert result.exit_code == 0, result.output
    assert result.output.strip()


def test_an_exercise_is_found_by_its_number() -> None:
    for name in ("1.0", "1.99", "10.1", "x", "1"):
        with pytest.raises(explorer.NotFoundInTable, match="give the notebook and the number"):
            explorer.exercise(name)


def test_options_of_jupyterlab_are_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[list[str]] = []
    monkeypatch.setattr("os.execv", lambda _, command: ran.append(command))
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    monkeypatch.chdir(tmp_path)
    CliRunner().invoke(main, ["course", "--", "--no-browser"])
    assert [path.name for path in tmp_path.iterdir()] == ["iceberg-course"]
    assert ran[0][-2:] == [f"--ServerApp.root_dir={tmp_path / 'iceberg-course'}", "--no-browser"]
    assert "--LabApp.default_url=/lab/tree/00-start.ipynb" in ran[0]
    assert (tmp_path / "iceberg-course" / "00-start.ipynb").exists()
    assert "--allow-root" not in ran[0]


def test_jupyterlab_is_told_that_it_runs_as_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[list[str]] = []
    monkeypatch.setattr("os.execv", lambda _, command: ran.append(command))
    monkeypatch.setattr("os.geteuid", lambda: 0)
    monkeypatch.chdir(tmp_path)
    CliRunner().invoke(main, ["course"])
    assert ran[0][-1] == "--allow-root"
    makefile = (Path(__file__).parents[2] / "Makefile").read_text()
    assert "$(if $(filter 0,$(shell id -u)),--allow-root)" in makefile


def test_each_exercise_is_asked_before_its_input() -> None:
    for notebook, exercises_there in course.EXERCISES_BY_NOTEBOOK.items():
        cells = json.loads((course.NOTEBOOKS / f"{notebook}.ipynb").read_text())["cells"]
        asked = [n for n, cell in enumerate(cells) if cell["id"].startswith("ex") and cell["cell_type"] == "markdown"]
        assert len(asked) == len(exercises_there) >= 3, notebook
        for number, (n, exercise) in enumerate(zip(asked, exercises_there, strict=True), 1):
            name = f"{int(notebook[:2])}.{number}"
            question, answer = "".join(cells[n]["source"]), "".join(cells[n + 1]["source"])
            assert cells[n]["id"] == f"ex{number:02}"
            assert question.startswith(f"**Exercise {name}. ")
            assert question.endswith(exercise.text), name
            assert answer == f'explorer.exercise("{name}")'
    start = json.loads((course.NOTEBOOKS / course.START).read_text())["cells"]
    [question] = ["".join(cell["source"]) for cell in start if cell["id"] == "start03"]
    assert question.endswith(explorer.exercise("3.8").text)


def test_the_start_tells_how_many_exercises_each_notebook_has() -> None:
    text = (course.NOTEBOOKS / course.START).read_text()
    told = re.findall(r"\]\((\S+)\.ipynb\) \|[^|]*\|[^|]*\| (\d+) \|", text)
    assert told == [(name, str(len(there))) for name, there in course.EXERCISES_BY_NOTEBOOK.items()]


def test_a_students_work_is_not_overwritten(tmp_path: Path) -> None:
    mine = tmp_path / "01-first-look.ipynb"
    mine.write_text("my work")
    copied = course.copy(tmp_path)
    assert [name for name, new in copied.items() if not new] == [mine.name]
    assert mine.read_text() == "my work"
    assert len(copied) == len(list((Path(__file__).parents[2] / "notebooks").glob("*.ipynb")))
    for path in tmp_path.glob("0[2-9]*.ipynb"):
        assert json.loads(path.read_text())["nbformat"] == 4
        assert "../docs" not in path.read_text()
    assert not any(course.copy(tmp_path).values())
