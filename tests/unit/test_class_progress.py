"""A teacher's view of a class: what its students' exercises report, and what others put into the folder."""

from __future__ import annotations

import json
import os
import stat
import threading
from pathlib import Path

import pytest

from explorer.lab import progress_store
from explorer.lab.exercises.course import EXERCISES_BY_NOTEBOOK, class_progress
from explorer.lab.progress_store import CLASS_VARIABLE, LOOKED_UP, SOLVED, STUDENTS, TRIED, keep
from tests.unit.test_cli import run

ONE, TWO, THREE = (one.question for one in EXERCISES_BY_NOTEBOOK["01-first-look"][:3])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "class").mkdir()
    return tmp_path / "class"


def answers(folder: Path, name: str, monkeypatch: pytest.MonkeyPatch, **states: str) -> None:
    """What a student's kernel does."""
    monkeypatch.setattr(progress_store, "_file", lambda: folder.parent / name / "solved.jsonl")
    for variable, value in progress_store.class_environment(folder, name).items():
        monkeypatch.setenv(variable, value)
    for question, state in zip((ONE, TWO, THREE), states.values(), strict=False):
        assert keep(question, state) == ""


def test_a_teacher_sees_each_student_and_what_is_hard(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answers(folder, "ann", monkeypatch, a=SOLVED, b=TRIED, c=SOLVED)
    answers(folder, "ann", monkeypatch, a=SOLVED, b=SOLVED)
    answers(folder, "ben", monkeypatch, a=SOLVED, b=LOOKED_UP, c=LOOKED_UP)
    answers(folder, "cleo", monkeypatch, a=TRIED, b=TRIED)
    assert keep("of another course", SOLVED) == ""
    told = class_progress(folder)
    assert [(s.student, s.solved, s.looked_up, s.tried) for s in told.students] == [
        ("ann", ("1.1", "1.2", "1.3"), (), ()), ("ben", ("1.1",), ("1.2", "1.3"), ()), ("cleo", (), (), ("1.1", "1.2")),
    ]  # fmt: skip
    assert told.exercises == sum(map(len, EXERCISES_BY_NOTEBOOK.values()))
    assert told.hard == {"1.2": 2, "1.1": 1, "1.3": 1}
    shown = run("course", "--progress", "--class", str(folder))
    assert shown.exit_code == 0, shown.output
    lines = shown.output.splitlines()
    assert [line.split()[0] for line in lines[1:4]] == ["ann", "ben", "cleo"]
    assert "1.2-3" in lines[2]
    assert lines[-1].startswith("Tried or looked up, not solved: 1.2 (2 students), ")
    data = json.loads(run("course", "--progress", "--class", str(folder), "-o", "json").stdout)
    assert data["students"][0]["solved"] == ["1.1", "1.2", "1.3"]


def test_the_teacher_may_read_what_a_student_wrote_and_no_answer_is_in_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers(folder, "ann", monkeypatch, a=SOLVED)
    [file] = folder.iterdir()
    assert stat.S_IMODE(file.stat().st_mode) & stat.S_IROTH
    assert set(json.loads(file.read_text())) == {"question", "at", "state"}


def test_what_others_put_into_the_folder_harms_nobody(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mine = folder.parent / "mine.txt"
    mine.write_text("mine\n")
    (folder / "ann.jsonl").symlink_to(mine)
    os.mkfifo(folder / "pipe.jsonl")
    (folder / "folder.jsonl").mkdir()
    (folder / "loop.jsonl").symlink_to(folder / "loop.jsonl")
    (folder / "\x1b[31mred.jsonl").write_text('{"question": "[[[["}\n' + "[" * 100_000 + "\n\x00\n")
    monkeypatch.setattr(progress_store, "_file", lambda: folder.parent / "home" / "solved.jsonl")
    for variable, value in progress_store.class_environment(folder, "ann").items():
        monkeypatch.setenv(variable, value)
    assert "ann.jsonl" in keep(ONE, SOLVED)
    assert mine.read_text() == "mine\n"
    told: list[int] = []
    reader = threading.Thread(target=lambda: told.append(len(class_progress(folder).students)), daemon=True)
    reader.start()
    reader.join(60)
    assert told == [1]
    assert "\x1b" not in run("course", "--progress", "--class", str(folder)).output


def test_a_class_of_too_many_is_cut(folder: Path) -> None:
    for number in range(STUDENTS + 5):
        (folder / f"s{number:05}.jsonl").write_text("")
    assert len(class_progress(folder).students) == STUDENTS


def test_names_are_those_of_files(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert [progress_store.file_name(name) for name in ("../../etc/x", "Ann Lee", "..", "a" * 300)] == [
        "etc-x", "Ann-Lee", "student", "a" * 100,
    ]  # fmt: skip
    monkeypatch.delenv(CLASS_VARIABLE, raising=False)
    assert run("course", "--student", "ann").exit_code == 2
    assert "Nobody has answered yet" in run("course", "--progress", "--class", str(tmp_path)).output


def test_a_class_hears_of_what_was_reached_before(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = folder.parent / "home"
    monkeypatch.setattr(progress_store, "_file", lambda: home / "solved.jsonl")
    monkeypatch.delenv(CLASS_VARIABLE, raising=False)
    assert [keep(ONE, SOLVED), keep(TWO, TRIED)] == ["", ""]
    assert class_progress(folder).students == ()
    progress_store.report_to_class(folder, "ann")  # what `course --class` does
    [ann] = class_progress(folder).students
    assert (ann.solved, ann.tried) == (("1.1",), ("1.2",))
    for variable, value in progress_store.class_environment(folder, "ben").items():
        monkeypatch.setenv(variable, value)
    assert keep(ONE, SOLVED) == ""  # again, and the class does not know yet
    assert keep(TWO, LOOKED_UP) == ""
    assert [(s.student, s.solved, s.looked_up) for s in class_progress(folder).students][1] == (
        "ben",
        ("1.1",),
        ("1.2",),
    )
    before = (folder / "ben.jsonl").read_text()
    assert keep(ONE, TRIED) == ""
    assert (folder / "ben.jsonl").read_text() == before


def test_a_class_without_a_folder_is_refused(tmp_path: Path) -> None:
    done = run("course", "--progress", "--class", str(tmp_path / "none"))
    assert done.exit_code == 1
    assert "there is no folder" in done.output
