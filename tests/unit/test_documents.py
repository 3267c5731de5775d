"""The documents that an installed program shows: messages and help name pages, and no file that a wheel lacks."""

from __future__ import annotations

import re
from pathlib import Path

import explorer
from explorer.cli.documents import pages
from explorer.lab.exercises.course import REPLAYS
from explorer.questions import QUESTIONS
from explorer.questions.lab import _read_run
from tests.unit.test_screen import run

PACKAGE = Path(explorer.__file__).parent
NAMED = re.compile(r"icedive docs ([a-z-]+)")


def test_every_page_that_is_named_is_there() -> None:
    named = {name for path in PACKAGE.rglob("*.py") for name in NAMED.findall(path.read_text())}
    assert {"readers", "filters", "doctor"} <= named <= set(pages())


def test_help_names_no_file_that_a_wheel_lacks() -> None:
    for words, question in QUESTIONS.items():
        told = run(*words, "--help").output
        assert not re.search(r"\bdocs/|\.md\b", told), words
        assert not re.search(r"\bdocs/\w+\.md\b", question.ask.__doc__ or ""), words


def test_runs_that_can_be_replayed_are_named() -> None:
    told = " ".join(run("lab", "run", "--help").output.split())
    for path in REPLAYS.glob("*.json"):
        assert path.stem in told
        assert _read_run(path.stem) == path.read_text()


def test_pages_are_listed_and_shown() -> None:
    listed = run("docs").output
    assert re.search(r"^filters +\S", listed, re.MULTILINE)
    assert run("docs", "filters").output.splitlines()[0] == pages()["filters"].splitlines()[0]
    wrong = run("docs", "filter")
    assert wrong.exit_code == 1
    assert "did you mean filters?" in wrong.stderr


def test_pages_in_folders_have_names_of_their_own() -> None:
    """`icedive docs slow-query` shows docs/tutorials/slow-query.md: no other page may have its name."""
    names = [path.stem for path in (PACKAGE / "docs").rglob("*.md")]
    assert len(names) == len(set(names)) == len(pages())
    told = run("docs", "broken-tables").output
    assert told.startswith("# The table does not load")
    assert "<!--" not in told
