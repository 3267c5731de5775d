"""What a notebook prints of plain results is what the command line prints of them."""

from __future__ import annotations

from pathlib import Path

import pytest
from IPython.core.interactiveshell import InteractiveShell

import explorer
from explorer.ui.printed import teach
from explorer.views.changes import render_biography, render_diff, render_history, render_lifecycle
from explorer.views.rowviews import render_deletes, render_row_diff


@pytest.fixture(scope="module")
def shell() -> InteractiveShell:
    made = InteractiveShell()
    teach(made)
    return made


def test_results_are_told_and_not_represented(shell: InteractiveShell, whole: Path) -> None:
    table = explorer.open_table(str(whole))
    fate = table.fate("id = 1")
    for result, text in {
        "diff": (table.diff("snapshot-1", "snapshot-3"), render_diff),
        "lifecycle": (table.lifecycle(), render_lifecycle),
        "history": (table.history(), lambda lines: render_history(lines, [])),
        "deletes": (table.deletes(), render_deletes),
        "row diff": (table.row_diff("snapshot-1", "snapshot-3"), render_row_diff),
        "file": (table.file(table.files()[0]["file_path"]), render_biography),
        "plan": (table.plan("id = 1"), lambda plan: "filter: "),
        "fate": (fate, lambda fate: fate.explain(table.metadata.current_snapshot)[0]),
        "a list": ([1, "two"], lambda _: "[1, 'two']"),
        "an empty one": ([], lambda _: "[]"),
    }.values():
        printed, _ = shell.display_formatter.format(result)
        assert text(result).strip() in printed["text/plain"]
        assert " object at 0x" not in printed["text/plain"]
