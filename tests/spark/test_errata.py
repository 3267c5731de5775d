"""docs/errata.md: each of its commands prints what stands below it."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from explorer.cli import main

ROOT = Path(__file__).parents[2]


def proofs() -> list[tuple[str, list[str]]]:
    """Each command, and the lines below it."""
    found: list[tuple[str, list[str]]] = []
    for block in re.findall(r"^```\n(.*?)^```", (ROOT / "docs" / "errata.md").read_text(), re.M | re.S):
        for line in block.splitlines():
            if line.startswith("$ icedive "):
                found.append((line.removeprefix("$ icedive "), []))
            else:
                found[-1][1].append(line)
    return found


def pattern(line: str) -> str:
    """A line of the document: … stands for anything, spaces for any number of them."""
    return "[^\n]*".join(r"\s+".join(map(re.escape, part.split())) for part in re.split("…", line))


@pytest.mark.parametrize(("command", "lines"), proofs(), ids=[command for command, _ in proofs()])
def test_a_command_prints_what_the_document_says(
    sandbox: Path, monkeypatch: pytest.MonkeyPatch, command: str, lines: list[str]
) -> None:
    monkeypatch.chdir(ROOT)
    result = CliRunner().invoke(main, shlex.split(command))
    assert result.exit_code == 0, result.output
    assert lines
    for line in lines:
        assert re.search(pattern(line), result.output), f"{line!r} is not in:\n{result.output}"


def test_each_erratum_names_a_text_and_lines() -> None:
    said = re.split(r"\n(?=\*\*)", (ROOT / "docs" / "errata.md").read_text())[1:]
    assert len(said) > 20
    for erratum in said:
        assert re.search(r"\*(Part 1|The walk-through|The hierarchy)\*, lines? \d+", erratum), erratum
