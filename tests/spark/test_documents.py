"""What documents print can be run: each command of a block prints what stands below it, and each statement of Python
and each magic does something, on the table that it names.

A comment before a block says on what its commands run, and how they end: `<!-- case: 05-lost-manifest, exit: 3 -->`
runs them in a folder where warehouse/orders is that table of tests/cases, and `moved` moves it there after it was
written."""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from click.testing import CliRunner
from IPython.core.interactiveshell import InteractiveShell

import explorer
from explorer.cli import main
from tests.cases import build_case

ROOT = Path(__file__).parents[2]


DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
NOT_RUN = {
    "docs/architecture.md": "modules that a reader would write, to add a question",
    "docs/serving.md": "a setting of Jupyter's server",
    "docs/reference.md": "made of docstrings, whose examples have tests of their own",
}
"""Documents whose blocks of Python are no statements to run, and why."""


@dataclass(frozen=True)
class Proof:
    """A command of a document, the lines below it, and what the comment before its block says."""

    document: str
    command: str
    lines: tuple[str, ...]
    case: str = ""
    is_moved: bool = False
    exit_code: int = 0


def blocks(language: str) -> Iterator[tuple[str, str]]:
    """Each block of a language, and the document that it is in."""
    for path in DOCUMENTS:
        for block in re.findall(rf"^```{language}\n(.*?)^```", path.read_text(), re.M | re.S):
            yield path.relative_to(ROOT).as_posix(), block


def proofs() -> list[Proof]:
    """Each command that has its output below it, and each command about a teaching table that has none."""
    found = []
    for path in DOCUMENTS:
        name = path.relative_to(ROOT).as_posix()
        for comment, language, block in re.findall(
            r"(?:^<!-- (case: [^\n]*) -->\n)?^```(|sh)\n(.*?)^```", path.read_text(), re.M | re.S
        ):
            settings = dict(part.split(": ") if ": " in part else (part, "yes") for part in comment.split(", ") if part)
            assert settings.keys() <= {"case", "moved", "exit"}, comment
            for command, *lines in _commands(block, language):
                if language == "sh" and "demo." not in command:
                    continue
                case, is_moved = settings.get("case", ""), "moved" in settings
                found.append(Proof(name, command, tuple(lines), case, is_moved, int(settings.get("exit", "0"))))
    return found


def _commands(block: str, language: str) -> Iterator[list[str]]:
    """The commands of a block, each before the lines that it prints."""
    prompt = "$ icedive " if language == "" else "icedive "
    if language == "" and not block.startswith("$ "):
        return
    found: list[list[str]] = []
    for line in block.splitlines():
        if line.startswith(prompt):
            found.append([line.removeprefix(prompt).partition("  #")[0]])
        elif language == "":
            found[-1].append(line)
    yield from found


@pytest.mark.parametrize("document", sorted({name for name, _ in blocks("python")} - set(NOT_RUN)))
def test_every_statement_of_python_runs(
    document: str, sandbox: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", ["program"])  # a program of a document is given no files
    for _, block in (one for one in blocks("python") if one[0] == document):
        names: dict[str, object] = {} if "import explorer" in block else {"explorer": explorer}
        for statement in ast.parse(block).body:
            part = ast.get_source_segment(block, statement) or ""
            if isinstance(statement, ast.Expr):
                value = eval(part, names)
                assert isinstance(value, tuple | str) or repr(value), part
            else:
                exec(part, names)


MAGICS = {name for name, block in blocks(r"\w*") if re.search("^%", block, re.M)}


def test_documents_with_magics_are_known() -> None:
    assert sorted(MAGICS) == ["docs/python.md"]


@pytest.mark.parametrize("document", sorted(MAGICS))
def test_every_magic_runs(document: str, sandbox: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a real shell, after the blocks of Python above it, whose names it uses. A cell begins with two percent signs;
    each line of other blocks is one."""
    monkeypatch.chdir(tmp_path)
    shell = InteractiveShell.instance()
    try:
        for _, block in (one for one in blocks(r"(?:python|ipython)?") if one[0] == document):
            is_magic = re.search("^%", block, re.M) and not block.startswith("%%")
            for cell in block.splitlines() if is_magic else [block]:
                ran = shell.run_cell(cell)
                assert ran.success, f"{cell}: {ran.error_in_exec or ran.error_before_exec}"
                assert not cell.startswith("%") or cell.startswith("%load_ext") or repr(ran.result) != "None", cell
    finally:
        InteractiveShell.clear_instance()


def pattern(line: str) -> str:
    """A line of the document: … stands for anything, spaces for any number of them."""
    return "[^\n]*".join(r"\s+".join(map(re.escape, part.split())) for part in re.split("…", line))


@pytest.mark.parametrize("proof", proofs(), ids=lambda proof: f"{proof.document}: {proof.command}")
def test_a_command_prints_what_the_document_says(
    sandbox: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, proof: Proof
) -> None:
    monkeypatch.chdir(ROOT)
    if proof.case:
        monkeypatch.chdir(tmp_path)
        place, orders = build_case(proof.case, tmp_path), tmp_path / "warehouse" / "orders"
        orders.parent.mkdir()
        place.rename(orders) if proof.is_moved else orders.symlink_to(place)
    result = CliRunner().invoke(main, shlex.split(proof.command))
    findings = (5, 6) if proof.command.startswith("doctor") or "--fail-on" in proof.command else ()
    assert result.exit_code in (proof.exit_code, *findings), result.output
    for line in proof.lines:
        assert re.search(pattern(line), result.output), f"{line!r} is not in:\n{result.output}"


def test_every_answer_by_symptom_has_a_command_that_runs() -> None:
    """Each of the 28 questions leads to a section, and each section has a command with its output."""
    links = re.findall(r"\]\((how-to/[a-z0-9-]+\.md)#([\w-]+)\)", (ROOT / "docs" / "how-to.md").read_text())
    assert len(links) == len(set(links)) == 28
    proven = {proof.document for proof in proofs() if proof.lines}
    for page, anchor in links:
        sections = re.split(r"^## ", (ROOT / "docs" / page).read_text(), flags=re.M)[1:]
        [section] = [text for text in sections if slug(text.partition("\n")[0]) == anchor]
        assert f"docs/{page}" in proven
        assert "```\n$ icedive " in section, anchor


def slug(heading: str) -> str:
    """A heading as the anchor that GitHub and the site make of it."""
    return re.sub(r"[^\w -]", "", heading).strip().lower().replace(" ", "-")


def test_each_erratum_names_a_text_and_lines() -> None:
    said = re.split(r"\n(?=\*\*)", (ROOT / "docs" / "errata.md").read_text())[1:]
    assert len(said) > 20
    for erratum in said:
        assert re.search(r"\*(Part 1|The walk-through|The hierarchy)\*, lines? \d+", erratum), erratum
