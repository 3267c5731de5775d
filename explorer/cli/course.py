"""The course: the notebooks in a folder of one's own, and what is solved of their exercises."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import asdict
from itertools import groupby
from pathlib import Path

import click

from explorer.cli.base import COMMAND, FAILED, fail, main
from explorer.cli.output import FORMATS, output_option, print_object
from explorer.cli.screen import say
from explorer.errors import NotPossible
from explorer.extras import needs_extra
from explorer.spec.text.units import count
from explorer.storage.python_children import module_command


@main.command()
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path), default="iceberg-course")
@click.argument("jupyter", nargs=-1, metavar="[-- JUPYTERLAB'S OPTIONS]")
@click.option(
    "--progress",
    "only_progress",
    is_flag=True,
    help="Only show which exercises are solved, looked up or tried, per notebook.",
)
@click.option(
    "--class",
    "class_folder",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="CLASS",
    help="A folder that a class shares: exercises report there which of them are solved. With --progress, show the "
    "teacher how far each student is.",
)
@click.option("--student", default="", metavar="NAME", help="The name under which the class sees you [your account's].")
@output_option(*FORMATS)
def course(
    folder: Path, jupyter: tuple[str, ...], only_progress: bool, class_folder: Path | None, student: str, output: str
) -> None:
    """Copy the notebooks to FOLDER (./iceberg-course) and open JupyterLab there, at the first one. A notebook that is
    there already is left as it is: it is somebody's work."""
    from explorer.lab import progress_store
    from explorer.lab.exercises.course import START, copy
    from explorer.lab.scenarios import missing

    if student and class_folder is None:
        raise click.UsageError("--student needs --class")
    if class_folder is not None and not class_folder.is_dir():
        fail(
            NotPossible(f"there is no folder {class_folder}: a class shares one that each student may write to"), FAILED
        )
    if only_progress and class_folder is not None:
        _class_progress(class_folder, output)
        return
    if only_progress:
        _progress(output)
        return
    with needs_extra():
        import jupyterlab  # noqa: F401
    if str(folder).startswith("-"):  # no folder was given, but options
        folder, jupyter = Path("iceberg-course"), (str(folder), *jupyter)
    try:
        copied = copy(folder)
    except OSError as error:
        fail(NotPossible(f"the notebooks cannot be copied to {folder}: {error.strerror or error}"), FAILED)
    kept = [name for name, new in copied.items() if not new]
    rows = [{"notebook": name, "copied": new} for name, new in copied.items()]
    lines = [f"{len(copied) - len(kept)} notebooks copied to {folder.resolve()}"]
    lines += [f"left as it is: {name}" for name in kept]
    print_object({"folder": str(folder.resolve()), "notebooks": rows}, output, lambda: "\n".join(lines))
    if names := missing():
        say(f"{len(names)} teaching tables are missing: {COMMAND} demo")
    sys.stdout.flush()
    root = ["--allow-root"] if getattr(os, "geteuid", lambda: 1)() == 0 else []  # which Jupyter refuses otherwise
    first = f"--LabApp.default_url=/lab/tree/{START}"
    command = [*module_command("jupyterlab"), first, f"--ServerApp.root_dir={folder.resolve()}", *root, *jupyter]
    if class_folder is not None:
        os.environ.update(progress_store.class_environment(class_folder, student))
        try:
            progress_store.report_to_class(class_folder, student)
        except OSError as error:
            fail(NotPossible(f"nothing can be reported to {class_folder}: {error.strerror or error}"), FAILED)
    os.execv(sys.executable, command)  # it takes this process's place: who stops one stops both


def _progress(output: str) -> None:
    from explorer.lab.exercises.course import progress
    from explorer.lab.progress_store import LOOKED_UP, SOLVED, STATES, TRIED
    from explorer.render.text import render_table

    try:
        exercises = progress()
    except OSError as error:
        fail(NotPossible(f"what is solved cannot be read: {error}"), FAILED)
    rows = []
    for notebook, of in groupby(exercises, lambda one: one.notebook):
        each = list(of)
        numbers = {state: [one.number for one in each if one.state == state] for state in (*STATES, "")}
        rows.append({
            "notebook": notebook,
            "solved": f"{len(numbers[SOLVED])} of {len(each)}",
            "looked up": _ranges(numbers[LOOKED_UP]),
            "tried": _ranges(numbers[TRIED]),
            "open": _ranges(numbers[""]),
        })  # fmt: skip
    print_object([asdict(one) for one in exercises], output, lambda: render_table(rows, width=120))


def _class_progress(folder: Path, output: str) -> None:
    """Show a teacher how far each student of a class is, and which exercises are hard."""
    from explorer.lab.exercises.course import class_progress
    from explorer.render.text import clean, render_table

    try:
        told = class_progress(folder)
    except OSError as error:
        fail(NotPossible(f"the class's folder cannot be read: {error}"), FAILED)
    if not told.students:
        say(f"Nobody has answered yet. A student joins with {COMMAND} course --class {folder}")
    if told.left_out:
        say(f"{count(told.left_out, 'more file')} in {folder} not read: no class has so many students")
    rows = [
        {
            "student": clean(one.student),
            "solved": f"{len(one.solved)} of {told.exercises}",
            "looked up": _by_notebook(one.looked_up),
            "tried": _by_notebook(one.tried),
            "last answer": clean(one.last)[:19].replace("T", " "),
        }
        for one in told.students
    ]
    hard = [f"{number} ({count(students, 'student')})" for number, students in list(told.hard.items())[:10]]
    told_hard = f"\nTried or looked up, not solved: {', '.join(hard)}" if hard else ""
    print_object(asdict(told), output, lambda: f"{render_table(rows, width=120)}{told_hard}")


def _by_notebook(numbers: Sequence[str]) -> str:
    """Numbers of exercises by notebook, such as `1.1-3 2.5`."""
    groups = groupby(numbers, lambda number: number.partition(".")[0])
    each = [(notebook, [int(one.partition(".")[2]) for one in of]) for notebook, of in groups]
    return " ".join(f"{notebook}.{run}" for notebook, of in each for run in _ranges(of).split())


def _ranges(numbers: list[int]) -> str:
    """Numbers in their order, such as `1-3 7`."""
    runs = [[n for _, n in run] for _, run in groupby(enumerate(numbers), lambda pair: pair[1] - pair[0])]
    return " ".join(f"{run[0]}-{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs)
