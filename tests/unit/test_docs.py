"""docs/architecture.md names every folder and nothing that is not there; the package cites nothing outside it."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "explorer"
ARCHITECTURE = (ROOT / "docs" / "architecture.md").read_text()
CITED = re.compile(r"(?:docs/)[\w./-]+\.(?:md|png|json)")
TEXTS = [
    path
    for pattern in ("explorer/**/*.py", "explorer/**/*.js", "tests/**/*.py", "benchmarks/*.py", "docs/**/*.md",
                    "notebooks/*.ipynb", "*.md", "pyproject.toml", "Makefile")
    for path in ROOT.glob(pattern)
]  # fmt: skip


def test_every_folder_of_a_layer_has_one_line() -> None:
    listed = re.findall(r"`([\w/]+)`", "".join(re.findall(r"^\| (`[^|]*) \| \S", ARCHITECTURE, flags=re.MULTILINE)))
    layers = ("spec", "storage", "spark_engine", "queries", "reports", "lab")
    folders = [p.parent for layer in layers for p in (PACKAGE / layer).rglob("__init__.py") if p.parent.name != layer]
    assert sorted(listed) == sorted(str(p.relative_to(PACKAGE)) for p in folders)


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda p: str(p.relative_to(PACKAGE)))
def test_every_module_says_what_it_holds(path: Path) -> None:
    assert ast.get_docstring(ast.parse(path.read_text())), "a module begins with a line that says what it holds"


def test_the_flows_name_files_that_are_there() -> None:
    named = set(re.findall(r"`([\w/]+\.(?:py|js))`", ARCHITECTURE))
    assert len(named) > 50
    assert not [name for name in named if not (PACKAGE / name).is_file()]


def test_the_layers_are_those_that_are_checked() -> None:
    drawn = ARCHITECTURE.split("```")[1]
    contract = (ROOT / "pyproject.toml").read_text().split('type = "layers"')[1].split("]")[0]
    checked = [re.findall(r"explorer\.(\w+)", line) for line in contract.splitlines() if "explorer." in line]
    at = [min(drawn.index(f"{name} ") if f"{name} " in drawn else drawn.index(f"{name}\n") for name in names)
          for names in checked]  # fmt: skip
    assert len(checked) == 12
    assert at == sorted(at)


@pytest.mark.parametrize("path", TEXTS, ids=lambda p: str(p.relative_to(ROOT)))
def test_only_documents_of_the_repository_are_cited(path: Path) -> None:
    text = path.read_text()
    assert [name for name in CITED.findall(text) if not (ROOT / name).is_file()] == []
    if path != Path(__file__):
        assert not re.search(
            r"design\.md|the seeds?['\u2019 ]|\bof the seeds?\b|the design (?:has|had|offers|wants)", text
        )


NAMED = re.compile(
    r"(?<![\w/.`\"'-])((?:spec|storage|spark_engine|graph|render|queries|reports|lab|serving)(?:\.[a-z]\w*)+)"
)


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda p: str(p.relative_to(PACKAGE)))
def test_docstrings_name_modules_that_are_there(path: Path) -> None:
    tree = ast.parse(path.read_text())
    nodes = [n for n in ast.walk(tree) if isinstance(n, (ast.Module, ast.ClassDef, ast.FunctionDef))]
    for text in filter(None, map(ast.get_docstring, nodes)):
        for name in NAMED.findall(re.sub(r"^\s*>>> .*$", "", text, flags=re.M)):  # an example is code
            parts = name.split(".")
            assert any(
                (PACKAGE.joinpath(*parts[:at])).is_dir() or PACKAGE.joinpath(*parts[:at]).with_suffix(".py").is_file()
                for at in range(len(parts), 1, -1)
            ), name  # fmt: skip
