"""No command takes more than linear work in anything that the author of a table can write more of.

Work is counted, never timed: the lines and calls of the package that run, and the bytes that are printed. What a table
takes without more of anything is taken off; four times as much of one thing must then take at most five times the
work."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from click.testing import CliRunner

import explorer
from explorer.cli import main
from tests.security.dimensions import DIMENSIONS, TOGETHER, make

ALONE = "ICEBERG_EXPLORER_EVERY_SIZE" in os.environ
SIZE = 100 if ALONE else 8
MOST = 5
"""Times the work that four times the size may take."""
SMALL = {"nesting": 15, "definitions": 6}
"""What a limit of its own ends soon."""
NOISE = 400
"""Lines and calls that are not worth a word."""
PACKAGE = str(Path(explorer.__file__).parent)
COMMANDS = [
    "show {}", "metadata {}", "pointer {}", "snapshots {}", "refs {}", "manifests {}", "entries {} --view all",
    "files {} --metrics", "partitions {}", "graph {} --format svg", "graph {} --format json", "graph {} --format dot",
    "doctor {} --each", "doctor {} --files", "count {}", "health {} --clustering", "overview {}", "lifecycle {}",
    "history {}", "commits {}", "file {} a.parquet", "deletes {}", "deletes {} --layers", "plan {} id=1",
    "metrics {}", "clustering {}", "estimate {} id=1", "file-map {} --deletes", "diff {} none main",
    "diff {} 101 main", "export {} --html {}.html", "maintain {} expire", "maintain {} compact",
    "maintain {} rewrite-manifests", "maintain {} remove-orphans", "undo {} rollback --snapshot 101",
    "undo {} tag --name x", "explain-conflict {} --base 101 --operation append", "fate {} id=1", "row-diff {} 101 102",
    "file-rows {} a.parquet", "footer {} a.parquet", "delete-contents {} p.parquet",
]  # fmt: skip
ELSEWHERE = {
    "demo", "serve", "tables", "sweep", "glossary", "gallery", "watch", "rows", "sql", "compare-layouts", "copy",
    "observe", "lab", "lab-race", "lab-streaming", "lab-catalogue", "course", "metadata-diff",
}  # fmt: skip
"""Commands that read no table, or answer of tables what the others do, or leave it to Spark."""


class Work:
    """The work that is done while it is entered: lines and calls of the package, in all threads."""

    def __init__(self) -> None:
        self.steps = 0

    def _call(self, frame: FrameType, event: str, _: Any) -> Any:
        if not frame.f_code.co_filename.startswith(PACKAGE):
            return None
        self.steps += 1
        return self._line

    def _line(self, *_: Any) -> Any:
        self.steps += 1
        return self._line

    @contextmanager
    def counted(self) -> Iterator[None]:
        before = sys.gettrace()
        threading.settrace(self._call)
        sys.settrace(self._call)
        try:
            yield
        finally:
            sys.settrace(before)
            threading.settrace(before)  # type: ignore[arg-type]


def ask(command: str, folder: Path) -> tuple[int, int]:
    """The steps and the printed bytes of a command."""
    work = Work()
    words = command.replace("{}", str(folder)).split()
    with work.counted():
        result = CliRunner().invoke(main, words)
    assert result.exception is None or isinstance(result.exception, SystemExit), (command, result.exception)
    assert result.exit_code != 2 or command.startswith("doctor"), result.output
    return work.steps, len(result.output)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("growth")


def growth(place: Path, name: str, size: int) -> dict[str, str]:
    """The commands whose work grows too much in a dimension, and how."""
    slow = {}
    small, large = (make(place / f"{name}-{n}".replace(" ", "-"), name, n) for n in (size, 4 * size))
    for command in COMMANDS:
        start, one, four = of_base(place, command), ask(command, small), ask(command, large)
        for what, nothing, little, much in zip(("steps", "bytes"), start, one, four, strict=True):
            added = max(NOISE, abs(little - nothing))
            if much - nothing > MOST * added:
                slow[f"{command}: {what}"] = f"{nothing}, {little}, {much}: {(much - nothing) / added:.1f}"
    return slow


@cache
def of_base(place: Path, command: str) -> tuple[int, int]:
    """The work on the table without more of anything, after what a first call loads."""
    folder = place / "base"
    ask(command, folder if folder.is_dir() else make(folder, "", 0))
    return ask(command, folder)


@pytest.mark.parametrize("name", DIMENSIONS if ALONE else TOGETHER)
def test_work_grows_linearly(name: str, place: Path) -> None:
    slow = growth(place, name, SMALL.get(name, SIZE))
    assert not slow, "\n".join(f"{command} {how}" for command, how in slow.items())
