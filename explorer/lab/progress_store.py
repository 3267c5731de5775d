"""What a person has reached in each exercise (tried, looked up or solved): lines in a private file of the data folder,
and, in a class, in a file of the class's folder that the teacher reads."""

from __future__ import annotations

import getpass
import json
import os
import re
import stat
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from itertools import islice
from pathlib import Path

from explorer.errors import AccessRefused
from explorer.storage.data_dirs import data_home, private

CLASS_VARIABLE = "ICEDIVE_CLASS"
"""Names the folder of a class; every exercise that is answered leaves a line there, too."""
_NAME_VARIABLE = "ICEDIVE_STUDENT"
_LONGEST = 4_000_000
_SUFFIX = ".jsonl"
_LINKLESS = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
"""In a class's folder no link is followed, and no pipe waited for: others write there too."""
STUDENTS, LINES, TOLD = 1_000, 1_000, 128 << 10
"""So many files of a class are read, and so many lines and bytes of each: a student leaves two for each exercise."""
TRIED, LOOKED_UP, SOLVED = "tried", "looked up", "solved"
STATES = (TRIED, LOOKED_UP, SOLVED)


@dataclass(frozen=True)
class Reached:
    """The state of an exercise, one of STATES, and the time when it was reached."""

    state: str
    at: str


def _file() -> Path:
    return data_home() / "solved.jsonl"


def keep(question: str, state: str = SOLVED) -> str:
    """Save the state of a question, unless it has gone that far already; return the reason if that failed, else an
    empty string. Lines are appended, so several kernels may do it at the same time."""
    try:
        known = states_by_question()
        now = Reached(state, datetime.now(timezone.utc).isoformat(timespec="seconds"))
        if _is_further(state, known.get(question)):
            file = _file()
            private(file.parent)
            _append(file, _line(question, now), 0o600)
            known[question] = now
        if folder := os.environ.get(CLASS_VARIABLE):
            _report(Path(folder), known)
    except (OSError, AccessRefused) as error:
        return str(error)
    return ""


def report_to_class(folder: Path, name: str) -> None:
    """Tell a class what this person has reached so far. Raises OSError."""
    _report(folder, states_by_question(), name)


def _report(folder: Path, known: Mapping[str, Reached], name: str = "") -> None:
    """Append to a student's file what the class does not know yet."""
    file = folder / f"{file_name(name) if name else student()}{_SUFFIX}"
    told = _told(_read_plain(file) or "")
    for question, reached in known.items():
        if _is_further(reached.state, told.get(question)):
            _append(file, _line(question, reached), 0o644, _LINKLESS)


def _line(question: str, reached: Reached) -> str:
    return json.dumps({"question": question, "at": reached.at, "state": reached.state})


def student() -> str:
    """The name under which a class sees this person: $ICEDIVE_STUDENT, or that of the account."""
    return file_name(os.environ.get(_NAME_VARIABLE) or getpass.getuser())


def file_name(name: str) -> str:
    """A name as that of a file."""
    return re.sub(r"[^\w.-]+", "-", name)[:100].strip(".-") or "student"


def class_environment(folder: Path, name: str) -> dict[str, str]:
    """The environment in which exercises report to a class."""
    return {CLASS_VARIABLE: str(folder.resolve()), _NAME_VARIABLE: name or student()}


def _append(file: Path, line: str, mode: int, flags: int = 0) -> None:
    place = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT | flags, mode)
    try:
        os.write(place, f"\n{line}\n".encode())  # the last line may be cut off
    finally:
        os.close(place)


def states_by_question() -> dict[str, Reached]:
    """The state of each question that was answered. The first of looked up and solved stays: who has seen the answer
    did not find it. Lines that are cut off are skipped. Raises OSError."""
    file = _file()
    if not file.exists():
        return {}
    with file.open(encoding="utf-8", errors="replace") as lines:
        return _states(lines.read(_LONGEST).splitlines())


def states_by_student(folder: Path) -> dict[str, dict[str, Reached]]:
    """What each student of a class has reached, by name and question.

    Args:
        folder: The class's folder.

    Returns:
        The first STUDENTS of them by name. What is no plain file is left out.

    Raises:
        OSError: The folder cannot be listed.
    """
    states = {}
    for name in files_of_students(folder)[:STUDENTS]:
        if (text := _read_plain(folder / name)) is not None:
            states[name.removesuffix(_SUFFIX)] = _told(text)
    return states


def files_of_students(folder: Path) -> list[str]:
    """The names of the files in a class's folder to which students report. Raises OSError."""
    return sorted(entry.name for entry in os.scandir(folder) if entry.name.endswith(_SUFFIX))


def _told(text: str) -> dict[str, Reached]:
    """What a student's file says: others can have written it, so no more of it is parsed than a student leaves."""
    return _states(islice(filter(str.strip, text.splitlines()), LINES))


def _read_plain(file: Path) -> str | None:
    """The text of a plain file, TOLD of it; None of a link, a pipe, a folder, or what cannot be read."""
    try:
        place = os.open(file, os.O_RDONLY | _LINKLESS)
        try:
            return os.read(place, TOLD).decode("utf-8", "replace") if stat.S_ISREG(os.fstat(place).st_mode) else None
        finally:
            os.close(place)
    except OSError:
        return None


def _states(lines: Iterable[str]) -> dict[str, Reached]:
    states: dict[str, Reached] = {}
    for line in lines:
        try:
            record = json.loads(line)
            question, one = str(record["question"]), Reached(str(record.get("state", SOLVED)), str(record["at"]))
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            continue
        if one.state in STATES and _is_further(one.state, states.get(question)):
            states[question] = one
    return states


def _is_further(state: str, before: Reached | None) -> bool:
    return before is None or (before.state == TRIED and state != TRIED)
