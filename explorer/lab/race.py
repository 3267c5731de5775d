"""Let writer processes of Java and pyiceberg race for one table, and kill writers at random moments.

These rules must hold: every acknowledged commit is a snapshot and a row; a killed writer has at most one commit more
than it acknowledged; no snapshot names a missing file; the table opens without problems.
"""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from explorer.errors import EngineError
from explorer.lab.race_workers import (
    FAULT,
    FAULTS,
    SCHEMA,
    TABLE,
    catalog_of,
    end_with,
    pyiceberg_writer,
    read_notes,
    work,
)
from explorer.progress import as_one_step, steps
from explorer.queries.orphans import orphans
from explorer.spec.commits.lab_runs import Lap
from explorer.spec.commits.operations import ENGINES
from explorer.storage.locate import locate
from explorer.storage.python_children import module_command
from explorer.storage.reader import TableReader
from explorer.storage.scratch import remove_abandoned, scratch
from explorer.table import Table


def _lap(home: Path, names: Sequence[str], seconds: float) -> Lap:
    """The progress of a race, from the notes of its writers."""
    lines = {name: [line.split() for line in read_notes(home, name)] for name in names}
    done = {name: [line for line in entries if line[0] == "ok"] for name, entries in lines.items()}
    lost = sum(int(line[2]) for entries in done.values() for line in entries if len(line) == 3)
    failed = sum(line[0] == "failed" for entries in lines.values() for line in entries)
    by_writer = {name: len(entries) for name, entries in done.items()}
    return Lap(seconds, sum(by_writer.values()), lost, failed, by_writer)


@dataclass(frozen=True)
class Tally:
    """The result of a race. `acknowledged` counts the commits that writers were told had succeeded. `retries` counts
    the swaps that they lost before."""

    acknowledged: int
    snapshots: int
    rows: int
    retries: int
    failures: int
    seconds: float
    missing_files: int
    orphans: int
    excess: int = 0
    """Commits that are there beyond the acknowledged ones."""

    @property
    def commits_per_second(self) -> float:
        """Acknowledged commits per second."""
        return self.acknowledged / self.seconds if self.seconds else 0.0


def _make(home: Path) -> None:
    catalog = catalog_of(home)
    catalog.create_namespace(TABLE[0])
    properties = {
        "commit.retry.num-retries": "200",
        "commit.retry.min-wait-ms": "5",
        "commit.retry.max-wait-ms": "200",
        "format-version": "2",
    }
    catalog.create_table(TABLE, SCHEMA, properties=properties)
    catalog.engine.dispose()


def _start(home: Path, kind: str, name: str, commits: int) -> subprocess.Popen[bytes]:
    """Start a writer process, which ends when this one does: the pipe to it closes then."""
    command = [*module_command("explorer.lab.race_workers"), str(home), kind, name, str(commits)]
    with open(home / f"{name}.log", "wb") as log:
        return subprocess.Popen(command, stdin=subprocess.PIPE, stderr=log, start_new_session=True)


def _kill(process: subprocess.Popen[bytes] | _Forked) -> None:
    """Kill a writer and what it has started, and wait until it is gone."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    if isinstance(process, subprocess.Popen) and process.stdin is not None:
        process.stdin.close()
    remove_abandoned(Path(tempfile.gettempdir()))  # what it had made for itself, such as for a JVM that started


def race(
    writers: int = 8,
    commits: int = 50,
    progress: Callable[[Lap], Any] = lambda _: None,
    cancelled: Callable[[], bool] = lambda: False,
) -> Tally:
    """Let `writers` processes, Java and pyiceberg in turn, make `commits` commits each. Call `progress` while they run.
    If `cancelled()`, kill them and examine the table at that moment. Raises EngineError if a writer does not get
    ready."""
    running: list[subprocess.Popen[bytes]] = []
    with scratch("race") as home, contextlib.ExitStack() as ends:
        ends.callback(lambda: [*map(_kill, running)])
        _make(home)
        names = [f"{ENGINES[i % 2]}-{i}" for i in range(writers)]
        for name in names:
            running.append(_start(home, name.split("-")[0], name, commits))
        deadline = time.time() + 120
        while any("ready" not in read_notes(home, name) for name in names):
            if time.time() > deadline or any(p.poll() is not None for p in running):
                logs = " | ".join((home / f"{n}.log").read_text()[-300:] for n in names)
                raise EngineError(f"a writer did not get ready: {logs}")
            time.sleep(0.05)
        (home / "go").touch()
        began = time.time()
        while any(p.poll() is None for p in running):
            time.sleep(0.2)
            progress(_lap(home, names, time.time() - began))
            if cancelled():
                [*map(_kill, running)]
        with as_one_step():  # a cancelled race has a result, too
            return _tally(home, names, time.time() - began)


def kills(
    times: int = 100, kind: str = "pyiceberg", seed: int = 7, progress: Callable[[int, int], Any] = lambda *_: None
) -> list[Tally]:
    """Start a writer, kill it with SIGKILL at a random moment of its commits, and examine the table; repeat this
    `times` times on one table."""
    chance = random.Random(seed)
    tallies = []
    with scratch("kills") as home:
        _make(home)
        (home / "go").touch()
        for i in steps(range(times), "kills"):
            name = f"{kind}-{i}"
            process = _start(home, kind, name, 1_000_000) if kind == "java" else _fork(home, name)
            try:
                while "ready" not in read_notes(home, name):
                    time.sleep(0.002)
                time.sleep(chance.random() * 0.25)
            finally:
                _kill(process)
            tallies.append(_tally(home, [name], 0.0))
            progress(i + 1, times)
        return tallies


# -- faults at chosen points ------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class FaultResult:
    """The result of one commit that met a fault. `told` is what the writer was told (nothing if it was killed).
    `acknowledged` counts the commits that it was told had succeeded, `committed` those that exist. `left_behind` are
    its orphan files. `opens_clean`: all files that the table names exist."""

    writer: str
    fault: str
    told: str
    acknowledged: int
    committed: int
    left_behind: tuple[str, ...]
    opens_clean: bool


def faults(kinds: Sequence[str] = ENGINES, progress: Callable[[int, int], Any] = lambda *_: None) -> list[FaultResult]:
    """Let a writer process of each kind meet each fault of FAULTS in one commit, and examine the table afterwards."""
    met = []
    with scratch("faults") as home:
        _make(home)
        (home / "go").touch()
        pyiceberg_writer(home, "first")(0)
        wanted = [(kind, fault) for kind in kinds for fault in FAULTS]
        for i, (kind, fault) in enumerate(steps(wanted, "faults"), 1):
            name = f"{kind}-{fault}"
            before = set(orphans(table_of(home).tree))
            process = _start(home, f"{FAULT}{kind}/{fault}", name, 1)
            try:
                process.wait(timeout=180)
            finally:
                _kill(process)
            table, tally = table_of(home), _tally(home, [name], 0.0)
            answers = [line.removeprefix("told ") for line in read_notes(home, name) if line.startswith("told ")]
            answer = answers[0] if answers else "committed" if tally.acknowledged else "nothing: it was killed"
            left = tuple(Path(p).name for p in orphans(table.tree) if p not in before)
            met.append(
                FaultResult(kind, fault, answer, tally.acknowledged, tally.snapshots, left, tally.missing_files == 0)
            )
            progress(i, len(wanted))
        return met


@dataclass
class _Forked:
    """A forked process; it ends when `pipe` is closed."""

    pid: int
    pipe: int

    def wait(self) -> None:
        os.waitpid(self.pid, 0)
        os.close(self.pipe)


def _fork(home: Path, name: str) -> _Forked:
    """Fork a pyiceberg writer, which ends when this process does. Its libraries are loaded, so it is ready in
    milliseconds."""
    from_parent, to_child = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.close(to_child)
            os.setsid()
            end_with(from_parent)
            work(home, "pyiceberg", name, 1_000_000)
        finally:
            os._exit(0)
    os.close(from_parent)
    while True:  # until it leads its own process group
        try:
            if os.getpgid(pid) == pid:
                return _Forked(pid, to_child)
        except ProcessLookupError:
            return _Forked(pid, to_child)
        time.sleep(0.001)


def table_of(home: Path) -> Table:
    """The current table of a race."""
    catalog = catalog_of(home)
    try:
        return Table(TableReader(locate(catalog.load_table(TABLE).metadata_location)))
    finally:
        catalog.engine.dispose()


def _tally(home: Path, names: list[str], seconds: float) -> Tally:
    """Compare what writers were told with what the table contains."""
    table = table_of(home)
    lines = [line.split() for name in names for line in read_notes(home, name)]
    acknowledged = [line for line in lines if line[0] == "ok"]
    own_snapshots = [s for s in table.metadata.snapshots if s.summary.get("writer") in names]
    files = [f["file_path"] for f in table.files()] if table.metadata.snapshots else []
    missing = sum(not Path(f.removeprefix("file://").removeprefix("file:")).exists() for f in files)
    rows = {(s.summary.get("writer"), s.summary.get("n")) for s in own_snapshots}
    if seconds:  # read the rows; after a kill the summaries of the snapshots are enough
        stored = [table.file_rows(f)[0] for f in files]
        rows = {(r["writer"], str(r["n"])) for r in stored}
    return Tally(
        acknowledged=len(acknowledged), snapshots=len(own_snapshots), rows=len(rows),
        retries=sum(int(line[2]) for line in acknowledged),
        failures=sum(line[0] == "failed" for line in lines), seconds=seconds,
        missing_files=missing + sum(problem.severity == "error" for problem in table.problems),
        orphans=len(orphans(table.tree)) if seconds else 0, excess=len(own_snapshots) - len(acknowledged),
    )  # fmt: skip
