"""Every notebook runs from top to bottom in a real kernel, and keeps no output and no machine's path."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from nbclient.util import run_sync

from tests.notebooks.checks import CHECKS

FOLDER = Path(__file__).parents[2] / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
SICK = ("06-a-sick-table",)
"""Those that show tables with problems."""


@pytest.fixture(scope="module")
def kernel() -> Iterator[AsyncKernelManager]:
    """One for all, with one Spark: each notebook finds it without the names of the one before."""
    manager = AsyncKernelManager(kernel_name="python3")
    yield manager
    run_sync(manager.shutdown_kernel)(now=True)


def with_checks(number: str, cells: list[Any]) -> Iterator[Any]:
    """The cells of a notebook, each with its check after it."""
    for cell in cells:
        yield cell
        if check := CHECKS.get(f"{number} {cell.id}"):
            yield nbformat.v4.new_code_cell(check)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_runs(path: Path, sandbox: Path, kernel: AsyncKernelManager) -> None:
    notebook = nbformat.read(path, as_version=4)
    assert not any(cell.get("outputs") for cell in notebook.cells), "commit notebooks without outputs"
    notebook.cells = [nbformat.v4.new_code_cell("%reset -f"), *with_checks(path.stem[:2], notebook.cells)]
    client = NotebookClient(notebook, km=kernel, timeout=300, resources={"metadata": {"path": str(FOLDER)}})
    client.execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    shown = [output["data"] for output in outputs if "data" in output]
    live = [data for data in shown if "application/vnd.jupyter.widget-view+json" in data]
    inputs = [data for data in live if ".check(answer)" in data["text/plain"]]
    assert len(inputs) == len(
        [cell for cell in notebook.cells if cell.cell_type == "code" and "explorer.exercise(" in cell.source]
    )
    widgets = [data for data in live if data not in inputs]
    assert widgets, "the notebook shows no widget"
    assert all("<svg" in data["image/svg+xml"] and len(data["text/plain"].splitlines()) > 1 for data in widgets), (
        "no picture or text for readers without a kernel"
    )
    if path.stem not in SICK:
        problems = [line for data in shown for line in str(data.get("text/plain", "")).splitlines() if "!!" in line]
        assert not problems, "a table that the notebook shows has problems"


SHOWING = [path for path in NOTEBOOKS if path.stem[:2] != "00"]


@pytest.mark.parametrize("path", SHOWING, ids=lambda p: p.stem)
def test_results_show_themselves_and_one_line_imports_the_explorer(path: Path) -> None:
    sources = [cell.source for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    assert not [source for source in sources if "print(" in source or ".show(" in source]
    imports = [line for source in sources for line in source.splitlines() if re.match(r"(import|from) ", line)]
    assert imports == ["import explorer"]


JUDGED = [path for path in NOTEBOOKS if path.stem[:2] not in ("04", "09")]
"""Those whose cells judge nothing themselves."""


@pytest.mark.parametrize("path", JUDGED, ids=lambda p: p.stem)
def test_each_question_is_an_exercise_and_no_cell_tells_its_answer(path: Path) -> None:
    """Nobody answers a question that the next cell answers, and an assert in a cell below tells it."""
    cells = nbformat.read(path, as_version=4).cells
    assert not [cell.id for cell in cells if "**Question" in cell.source]
    assert not [cell.id for cell in cells if cell.cell_type == "code" and "assert " in cell.source]
    for cell, after in zip(cells, [*cells[1:], None], strict=True):
        if cell.source.startswith("**Exercise "):
            number = cell.source.removeprefix("**Exercise ").partition(". ")[0]
            assert after is not None
            assert after.source == f'explorer.exercise("{number}")'


def test_text_is_text_in_a_kernel_too(sandbox: Path) -> None:
    """Rich's Console shows tables itself where it finds a notebook, and leaves the text empty."""
    source = """
import explorer
from explorer.render.text import render_table
table = explorer.open_table("demo.three_inserts")
print(repr(table.inspect.snapshots()))
print(render_table([{"only": "here"}]))
print(table)
table.inspect.snapshots()
"""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source)])
    NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    printed, result = notebook.cells[0]["outputs"]
    assert "manifest-list" in printed["text"]
    assert all(word in printed["text"] for word in ("only", "here", "snapshot-3"))
    assert "manifest-list" in result["data"]["text/plain"]


def test_there_are_notebooks_and_the_cells_that_are_checked() -> None:
    cells = {f"{path.stem[:2]} {cell.id}" for path in NOTEBOOKS for cell in nbformat.read(path, as_version=4).cells}
    assert set(CHECKS) <= cells
