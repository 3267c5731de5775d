"""No command takes more than linear work in anything that the author of a table can write more of.

Work is counted, never timed: the lines and calls of each function of the package, and the bytes that are printed. From
a size to four times it, little more than four times as much may be added as from a quarter of the size to it."""

from __future__ import annotations

import os
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import CodeType, FrameType, SimpleNamespace
from typing import Any

import click
import pytest
from click.testing import CliRunner

import explorer
from explorer.app import standalone
from explorer.cli import main
from explorer.graph import lanes
from explorer.render import history
from explorer.storage import processor_time
from tests.security.dimensions import DIMENSIONS, TOGETHER, make

ALONE = "ICEDIVE_EVERY_SIZE" in os.environ
SIZE = 60 if ALONE else 6
MOST = 5 if ALONE else 8
"""Times the work that may be added when the size is four times as large: in linear time it is four, in quadratic time
sixteen. Small sizes are below some limits that make work linear, such as the columns of a matrix."""
SMALL = {"nesting": 15, "definitions": 5}
"""What a limit of its own ends soon."""
MOST_IN_ALL = 4
"""Times the work in all: no linear work has more, also where a limit ended some of it at the smallest size."""
NOISE = 400
"""Steps or bytes that are not worth a word."""
PACKAGE = str(Path(explorer.__file__).parent)
COMMANDS = [
    "show {}", "inspect metadata {}", "catalog pointer {}", "inspect snapshots {}", "inspect refs {}",
    "inspect manifests {}", "inspect entries {} --view all", "inspect files {} --metrics", "inspect partitions {}",
    "inspect schema {}", "inspect properties {}", "export graph {} --format svg", "export graph {} --format json",
    "export graph {} --format dot", "doctor {} --each", "doctor {} --files", "count {}", "health {} --clustering",
    "overview {}", "history lifecycle {}", "history lineage {}", "history commits {}", "inspect file {} a.parquet",
    "inspect deletes {}", "inspect deletes {} --show layers", "plan {} id=1", "inspect columns {}",
    "inspect columns {} --show clustering", "inspect profile {}",
    "inspect profile {} id", "check copy {} {}", "scan estimate {} id=1", "inspect map {} --deletes",
    "diff {} none main",
    "diff {} 101 main", "export page {} {}.html", "export bundle {} {}.zip",
    "maintain preview {} expire", "maintain preview {} compact",
    "maintain preview {} rewrite-manifests", "maintain preview {} remove-orphans",
    "refs preview {} rollback --snapshot 101", "refs preview {} tag --name x -s 101", "check conflict {} 101 append",
    "data history {} id=1", "data diff {} 101 102", "inspect file {} a.parquet --show rows",
    "inspect file {} a.parquet --show footer", "inspect file {} p.parquet --show deletes", "history metadata {} 1",
    "storage {}", "storage {} --by partition", "history writers {}", "history landed {} a.parquet",
    "history schemas {}", "maintain file {} a.parquet", "maintain all {}",
    "history health {}", "maintain preview {} expire --reader 101", "readers {}",
]  # fmt: skip
ELSEWHERE = {
    "demo", "open", "serve", "course", "config", "docs", "completion", "glossary", "check rules", "catalog tables",
    "catalog namespaces", "catalog views", "catalog add", "catalog remove", "export slides",
    "catalog doctor", "catalog health", "export gallery", "history watch", "rows", "sql", "data duplicates",
    "lab copy", "lab observe",
    "lab run", "lab race", "lab streaming", "lab catalogue", "maintain run", "refs run", "mcp",
}  # fmt: skip
"""Commands that read no table, or answer of tables what the others do, or leave it to Spark."""


Steps = Counter[str]
"""Lines and calls, by function; and bytes."""


class Work:
    """The work that is done while it is entered, in all threads."""

    def __init__(self) -> None:
        self._steps: dict[tuple[int, CodeType], int] = {}
        """By thread: two that count in one place lose some."""

    def _call(self, frame: FrameType, event: str, _: Any) -> Any:
        if not frame.f_code.co_filename.startswith(PACKAGE):
            return None
        return self._line(frame)

    def _line(self, frame: FrameType, *_: Any) -> Any:
        key = (threading.get_ident(), frame.f_code)
        self._steps[key] = self._steps.get(key, 0) + 1
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

    def by_function(self) -> Steps:
        counted = Steps()
        for (_, code), steps in list(self._steps.items()):  # other threads may still count
            counted[f"{code.co_filename[len(PACKAGE) + 1 :]}:{code.co_firstlineno} {code.co_name}"] += steps
        return counted


def ask(command: str, folder: Path) -> Steps:
    """The work of a command."""
    work = Work()
    words = command.replace("{}", str(folder)).split()
    with work.counted():
        result = CliRunner().invoke(main, words)
    assert result.exception is None or isinstance(result.exception, SystemExit), (command, result.exception)
    assert result.exit_code != 2, result.output
    return work.by_function() + Counter({"printed bytes": len(result.output)})


@pytest.fixture(autouse=True)
def low_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """What draws or writes a matrix in part does so at the sizes of these tables."""
    for module in (lanes, history):
        monkeypatch.setattr(module, "MOST_LANES", 2)
    monkeypatch.setattr(history, "SNAPSHOTS_SHOWN", 2)
    monkeypatch.setenv(processor_time.VARIABLE, "100000")  # counting takes long itself
    for limit in ("SNAPSHOTS", "LEVEL", "SNAPSHOT_FILES", "INSPECTED"):
        monkeypatch.setattr(standalone, limit, 2)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("growth")


def growth(place: Path, name: str, size: int) -> dict[str, str]:
    """The commands whose work grows too much in a dimension, and how."""
    slow = {}
    sizes = (size // 4, size, 4 * size)
    folders = [make(place / f"{name}-{n}".replace(" ", "-"), name, n) for n in sizes]
    for command in COMMANDS:
        warm_up(place, command)
        quarter, one, four = (ask(command, folder) for folder in folders)
        for what, steps in four.items():
            added = max(NOISE, one[what] - quarter[what])
            if steps - one[what] > MOST * added and steps > MOST_IN_ALL * one[what]:
                slow[f"{command}: {what}"] = f"{quarter[what]}, {one[what]}, {steps}"
    return slow


@cache
def warm_up(place: Path, command: str) -> None:
    """Let a command load what it loads the first time."""
    folder = place / "base"
    ask(command, folder if folder.is_dir() else make(folder, "", 0))


@pytest.mark.parametrize("name", DIMENSIONS if ALONE else TOGETHER)
def test_work_grows_linearly(name: str, place: Path) -> None:
    slow = growth(place, name, SMALL.get(name, SIZE))
    assert not slow, "\n".join(f"{command} {how}" for command, how in slow.items())


def every_command() -> Iterator[str]:
    for name, command in main.commands.items():
        if isinstance(command, click.Group):
            yield from (f"{name} {inner}" for inner in command.commands)
        else:
            yield name


def test_every_command_is_asked() -> None:
    asked = {command.split(" {}")[0] for command in COMMANDS}
    assert asked | ELSEWHERE == set(every_command())
    assert not asked & ELSEWHERE


def test_the_count_tells_quadratic_work_from_linear(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a walk for each branch, as it was, `history lineage` fails."""
    from explorer.spec.snapshots import ancestors, lineage

    def walk(parents: ancestors.Parents, heads: Any) -> set[int]:
        found: set[int] = set()
        for head in heads:
            found.update(lineage._walk(metadata_of(parents), head))
        return found

    def metadata_of(parents: ancestors.Parents) -> Any:
        return {own: SimpleNamespace(parent_snapshot_id=parent) for own, parent in parents.items()}

    monkeypatch.setattr(lineage, "reachable_snapshots", walk)
    monkeypatch.setattr("tests.security.test_growth.COMMANDS", ["history lineage {} -o json"])
    assert growth(place, "branches on a chain", 2 * SIZE)
