"""What documents print can be run: each command of a block prints what stands below it, and each statement of Python
does something, on the table that it names."""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

import explorer
from explorer.cli import main

ROOT = Path(__file__).parents[2]


DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
NOT_RUN = {
    "docs/architecture.md": "modules that a reader would write, to add a question",
    "docs/serving.md": "a setting of Jupyter's server",
    "docs/reference.md": "made of docstrings, whose examples have tests of their own",
}
"""Documents whose blocks of Python are no statements to run, and why."""


def blocks(language: str) -> Iterator[tuple[str, str]]:
    """Each block of a language, and the document that it is in."""
    for path in DOCUMENTS:
        for block in re.findall(rf"^```{language}\n(.*?)^```", path.read_text(), re.M | re.S):
            yield path.relative_to(ROOT).as_posix(), block


def proofs() -> list[tuple[str, list[str]]]:
    """Each command, and the lines below it."""
    found: list[tuple[str, list[str]]] = []
    for _, block in blocks(""):
        if not block.startswith("$ "):
            continue
        for line in block.splitlines():
            if line.startswith("$ icedive "):
                found.append((line.removeprefix("$ icedive "), []))
            else:
                found[-1][1].append(line)
    return found


@pytest.mark.parametrize("document", sorted({name for name, _ in blocks("python")} - set(NOT_RUN)))
def test_every_statement_of_python_runs(
    document: str, sandbox: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for _, block in (one for one in blocks("python") if one[0] == document):
        names: dict[str, object] = {} if "import explorer" in block else {"explorer": explorer}
        for statement in ast.parse(block).body:
            part = ast.get_source_segment(block, statement) or ""
            if isinstance(statement, ast.Expr):
                value = eval(part, names)
                assert isinstance(value, tuple | str) or repr(value), part
            else:
                exec(part, names)


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
