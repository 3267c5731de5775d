"""The notebooks as a course: copy them to a folder, and list which of their exercises are solved."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from explorer.errors import NotFoundInTable
from explorer.lab.exercises.catalogs import CATALOG_EXERCISES
from explorer.lab.exercises.commits import EXERCISES
from explorer.lab.exercises.doctor import DOCTOR_EXERCISES
from explorer.lab.exercises.exercise import Exercise
from explorer.lab.exercises.layout import LAYOUT_EXERCISES
from explorer.lab.exercises.planning import PLAN_EXERCISES
from explorer.lab.exercises.reading import DELETE_EXERCISES, FIRST_EXERCISES, STATUS_EXERCISES
from explorer.lab.progress_store import Reached, reached

PACKAGE = Path(__file__).parents[2]
NOTEBOOKS = PACKAGE / "notebooks"
"""In the repository, a link to notebooks/ at its top; in a wheel, the notebooks themselves."""
REPLAYS = PACKAGE / "replays"
"""The same for docs/replays/."""
EXERCISES_BY_NOTEBOOK: Mapping[str, Sequence[Exercise]] = {
    "01-first-look": FIRST_EXERCISES,
    "02-manifests-and-logical-status": STATUS_EXERCISES,
    "03-deletes-and-time-travel": DELETE_EXERCISES,
    "04-commits-and-conflicts": EXERCISES,
    "05-planning-and-pruning": PLAN_EXERCISES,
    "06-a-sick-table": DOCTOR_EXERCISES,
    "07-layout-and-evolution": LAYOUT_EXERCISES,
    "08-catalogs-readers-and-folders": CATALOG_EXERCISES,
}
"""The exercises of each notebook that has exercises."""
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
    states, never = reached(), Reached("", "")
    return [
        CourseExercise(notebook, number, exercise.question, now.state, now.at)
        for notebook, exercises in EXERCISES_BY_NOTEBOOK.items()
        for number, exercise in enumerate(exercises, 1)
        for now in [states.get(exercise.question, never)]
    ]


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
