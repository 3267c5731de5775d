"""The notebooks as a course: copy them to a folder, and list which of their exercises are solved."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from explorer.errors import NotFoundInTable
from explorer.lab.exercises import (
    articles,
    commit_runs,
    commits,
    layout,
    layout_costs,
    layout_quizzes,
    planning,
    reading,
    row_changes,
    skipping,
    tree,
)  # fmt: skip
from explorer.lab.exercises.catalogs import CATALOG_EXERCISES
from explorer.lab.exercises.doctor import DOCTOR_EXERCISES
from explorer.lab.exercises.exercise import Exercise
from explorer.lab.exercises.spark_metadata import AUTHORS, DAY, STATUS_COUNTS
from explorer.lab.progress_store import (
    LOOKED_UP,
    SOLVED,
    STATES,
    STUDENTS,
    TRIED,
    Reached,
    files_of_students,
    states_by_question,
    states_by_student,
)

PACKAGE = Path(__file__).parents[2]
NOTEBOOKS = PACKAGE / "notebooks"
"""In the repository, a link to notebooks/ at its top; in a wheel, the notebooks themselves."""
START = "00-start.ipynb"
"""The notebook that the course begins with."""
REPLAYS = PACKAGE / "replays"
"""The same for docs/replays/."""
EXERCISES_BY_NOTEBOOK: Mapping[str, Sequence[Exercise]] = {
    "01-first-look": (
        tree.POINTER, tree.NAMING, tree.FILE_FORMATS, tree.TREE, tree.WHERE, articles.TREE_ERROR,
        reading.DELETED_MANIFEST, tree.TRACKED, reading.FIVE_STATUSES, tree.FIVE_LISTS,
    ),
    "02-manifests-and-logical-status": (
        reading.STORED_STATUSES, tree.MANIFEST_2, tree.RECORD, reading.STORED_NUMBERS, tree.LIFE, reading.ONE_ROW,
        row_changes.COPY_ON_WRITE, articles.MANIFEST_ERROR,
    ),
    "03-deletes-and-time-travel": (
        row_changes.MERGE_ON_READ, row_changes.DELETE_CONTENTS, reading.DELETE_TARGETS, row_changes.VECTORS,
        row_changes.COMPACTION, reading.DANGLING, articles.DELETE_ERROR, row_changes.TIME_TRAVEL, reading.MISTAKE,
        row_changes.HISTORY,
    ),
    "04-commits-and-conflicts": (
        commit_runs.ONE_COMMIT, commit_runs.INTERFACE, commit_runs.TWO_WRITERS, articles.COMMIT_ERROR,
        commits.LOST_SWAPS, commit_runs.CONFLICT, commits.ISOLATION_LEVEL, commits.VALIDATION, commits.FORMAT_VERSION,
        commits.ANOMALY, commits.REPEATED_APPEND, commits.LOST_BASE, commit_runs.TWO_ENGINES,
    ),
    "05-planning-and-pruning": (
        skipping.BOUNDS, planning.SORT_ORDER, skipping.HIDDEN, skipping.MANIFEST_SKIP, skipping.LARGE,
        planning.CONDITION, planning.LOST_STATISTICS, planning.CUT_BOUNDS,
    ),
    "06-a-sick-table": DOCTOR_EXERCISES,
    "07-layout-and-evolution": (
        layout_quizzes.SPEC, layout.PARTITION_FIELDS, layout.TRANSFORM, layout_quizzes.EVOLUTION, articles.SPEC_ERROR,
        layout.NEW_SPEC, layout_quizzes.NEW_COLUMN, layout.RENAME, layout.WIDER_TYPE, layout.FIELD_ID,
        layout.WRITE_ORDER, layout.FILE_FORMAT, layout.DELETE_MODE, layout_quizzes.FORMATS, layout_quizzes.MODES,
        layout_costs.COMPACTION_STRATEGY,
    ),
    "08-catalogs-readers-and-folders": CATALOG_EXERCISES,
    "09-metadata-in-spark-sql": (STATUS_COUNTS, AUTHORS, DAY),
}  # fmt: skip
"""The exercises of each notebook, in its order."""
_LINK = re.compile(r"\[([^\]\[]+)\]\(\.\./(docs/[\w./#-]+)\)")


@dataclass(frozen=True)
class CourseExercise:
    """An exercise of a notebook, what was reached in it (solved, looked up, tried, or empty), and when."""

    notebook: str
    number: int
    question: str
    state: str
    at: str


def progress() -> list[CourseExercise]:
    """All exercises of the course, in its order."""
    states, never = states_by_question(), Reached("", "")
    return [
        CourseExercise(notebook, number, exercise.question, now.state, now.at)
        for notebook, exercises in EXERCISES_BY_NOTEBOOK.items()
        for number, exercise in enumerate(exercises, 1)
        for now in [states.get(exercise.question, never)]
    ]


@dataclass(frozen=True)
class StudentProgress:
    """How far a student is: the exercises `solved`, `looked_up` and `tried`, by their numbers (`1.3`), and the time of
    the last answer (ISO 8601, UTC; empty without one)."""

    student: str
    solved: tuple[str, ...]
    looked_up: tuple[str, ...]
    tried: tuple[str, ...]
    last: str


@dataclass(frozen=True)
class ClassProgress:
    """How far a class is.

    Attributes:
        students: Each student, by name.
        exercises: The number of exercises in the course.
        hard: Exercises that students only tried or looked up, by number, with how many; the most first.
        left_out: Files of the folder that were not read, since there are too many.
    """

    students: tuple[StudentProgress, ...]
    exercises: int
    hard: Mapping[str, int]
    left_out: int = 0


def class_progress(folder: Path) -> ClassProgress:
    """Read how far the students of a class are.

    Args:
        folder: The class's folder, to which each student's exercises report (ICEDIVE_CLASS).

    Returns:
        The students that have answered at least once.

    Raises:
        OSError: The folder cannot be listed.
    """
    numbers = {
        exercise.question: f"{int(notebook.partition('-')[0])}.{number}"
        for notebook, exercises in EXERCISES_BY_NOTEBOOK.items()
        for number, exercise in enumerate(exercises, 1)
    }
    students, hard = [], Counter[str]()
    for name, states in states_by_student(folder).items():
        reached = {numbers[question]: one for question, one in states.items() if question in numbers}
        by_state = {
            state: tuple(number for number in numbers.values() if number in reached and reached[number].state == state)
            for state in STATES
        }
        hard.update([*by_state[TRIED], *by_state[LOOKED_UP]])
        last = max((one.at for one in reached.values()), default="")
        students.append(StudentProgress(name, by_state[SOLVED], by_state[LOOKED_UP], by_state[TRIED], last))
    left_out = max(0, len(files_of_students(folder)) - STUDENTS)
    return ClassProgress(tuple(students), len(numbers), dict(hard.most_common()), left_out)


def find_exercise(name: str) -> Exercise:
    """Find an exercise by the number of its notebook and its own, such as `1.3`. Raises NotFoundInTable."""
    notebook, _, number = name.partition(".")
    for title, exercises in EXERCISES_BY_NOTEBOOK.items():
        if title.partition("-")[0] == notebook.zfill(2) and number.isdigit() and 0 < int(number) <= len(exercises):
            return exercises[int(number) - 1]
    raise NotFoundInTable(f"no exercise {name!r}: give the notebook and the number, such as '1.3'")


def copy(folder: Path) -> dict[str, bool]:
    """Copy the notebooks to a folder; return for each name whether it was copied. Existing files stay unchanged. Links
    to documents of the repository, which are not in the folder, become text."""
    folder.mkdir(parents=True, exist_ok=True)
    copied = {}
    for source in sorted(NOTEBOOKS.glob("*.ipynb")):
        text = _LINK.sub(r"\1 (\2)", source.read_text(encoding="utf-8"))
        try:
            with (folder / source.name).open("x", encoding="utf-8") as file:
                file.write(text)
            copied[source.name] = True
        except FileExistsError:
            copied[source.name] = False
    return copied


def read_run(name: str) -> str:
    """Read a saved run by its name: JSON for lab.stepper.replay."""
    return (REPLAYS / f"{name}.json").read_text(encoding="utf-8")
