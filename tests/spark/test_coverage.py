"""docs/coverage.md: each of its commands runs, each cell that it names is there, and it is what its table makes."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from explorer.cli import main
from explorer.lab.exercises.course import EXERCISES_BY_NOTEBOOK
from tests.spark.test_documents import proofs
from tests.texts import COMMAND, PAGE, claims, page

ROOT = Path(__file__).parents[2]
CLAIMS = claims()
PLACES = dict.fromkeys(place for claim in CLAIMS for place in claim.places)
PROVED = {proof.command for proof in proofs()}
COMMANDS = [p.removeprefix(COMMAND) for p in PLACES if p.startswith(COMMAND)]


def cells() -> dict[str, list[str]]:
    """Ids of the cells of each notebook, by its number."""
    return {
        path.name[:2]: [cell["id"] for cell in json.loads(path.read_text())["cells"]]
        for path in (ROOT / "notebooks").glob("*.ipynb")
    }


def test_every_claim_is_seen_or_explained() -> None:
    assert not [c for c in CLAIMS if bool(c.seen) == bool(c.why)]
    assert not [c for c in CLAIMS if c.asked and not c.seen]
    for text, lines in (("Part 1", 293), ("The walk-through", 252), ("The hierarchy", 223)):
        said = [c.line for c in CLAIMS if c.text == text]
        assert said == sorted(said)
        assert said[-1] <= lines


def test_the_page_is_made_of_the_table() -> None:
    assert PAGE.read_text() == page(CLAIMS), "run `make coverage`"


def test_every_cell_is_there() -> None:
    known = cells()
    for place in PLACES:
        if not place.startswith(COMMAND):
            notebook, cell = place.split()
            assert cell in known[notebook], place


def test_only_exercises_ask() -> None:
    judged = {
        f"{notebook[:2]} ex{number:02}"
        for notebook, exercises in EXERCISES_BY_NOTEBOOK.items()
        for number in range(1, len(exercises) + 1)
    }
    assert {claim.asked for claim in CLAIMS if claim.asked} <= judged


@pytest.mark.parametrize("command", [c for c in COMMANDS if c not in PROVED])
def test_a_command_runs(sandbox: Path, monkeypatch: pytest.MonkeyPatch, command: str) -> None:
    """Those of docs/errata.md are run by its own test."""
    monkeypatch.chdir(ROOT)
    result = CliRunner().invoke(main, shlex.split(command))
    assert result.exit_code == 0, result.output
    assert result.output.strip()
