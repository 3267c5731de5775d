"""A race of writer processes on one table, some of them Java and some pyiceberg, and writers that are killed at any moment.

What must hold: every acknowledged commit is a snapshot and a row; of a killed writer at most one commit more than it acknowledged is
there; no snapshot names a file that is missing; the table opens clean."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.exceptions import CommitFailedException

from explorer.errors import EngineError
from explorer.lab.stepper import opened
from explorer.table import Table

TABLE = ("race", "t")
SCHEMA = pa.schema(
    [pa.field(n, t, metadata={"PARQUET:field_id": str(i)}) for i, (n, t) in enumerate((("writer", pa.string()), ("n", pa.int64())), 1)]
)
KINDS = ("java", "pyiceberg")


@dataclass(frozen=True)
class Tally:
    """What came of a race. `acknowledged` are commits that writers were told had succeeded; `retries` those that lost a swap first."""

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
        """Acknowledged ones."""
        return self.acknowledged / self.seconds if self.seconds else 0.0


def _catalog(home: Path) -> SqlCatalog:
    # a writer waits for SQLite's lock rather than failing at once
    options = {"uri": f"sqlite:///{home}/catalog.db?timeout=60", "warehouse": f"file://{home}/warehouse"}
    return SqlCatalog("race", **options)


def _make(home: Path) -> None:
    catalog = _catalog(home)
    catalog.create_namespace(TABLE[0])
    properties = {
        "commit.retry.num-retries": "200",
        "commit.retry.min-wait-ms": "5",
        "commit.retry.max-wait-ms": "200",
        "format-version": "2",
    }
    catalog.create_table(TABLE, SCHEMA, properties=properties)
    catalog.engine.dispose()


def _row(name: str, n: int) -> pa.Table:
    return pa.table({"writer": [name], "n": [n]}, SCHEMA)


def _pyiceberg_writer(home: Path, name: str) -> Callable[[int], int]:
    """A function that appends row n, and returns how many swaps it lost first."""
    catalog = _catalog(home)

    def commit(n: int) -> int:
        for attempt in range(1000):
            try:
                catalog.load_table(TABLE).append(_row(name, n), {"writer": name, "n": str(n)})
                return attempt
            except CommitFailedException:
                time.sleep(random.random() * 0.02)
        raise EngineError(f"{name} lost a thousand swaps")

    return commit


def _java_writer(home: Path, name: str) -> Callable[[int], int]:
    from explorer.engines.spark import java_without_spark

    jvm = java_without_spark()
    catalog = jvm.org.apache.iceberg.jdbc.JdbcCatalog()
    catalog.setConf(jvm.org.apache.hadoop.conf.Configuration())
    options = jvm.java.util.HashMap()
    wanted = {"uri": f"jdbc:sqlite:{home}/catalog.db?busy_timeout=60000", "warehouse": f"file://{home}/warehouse"}
    for key, value in {**wanted, "jdbc.schema-version": "V1", "io-impl": "org.apache.iceberg.hadoop.HadoopFileIO"}.items():
        options.put(key, value)
    catalog.initialize("race", options)
    table = catalog.loadTable(jvm.org.apache.iceberg.catalog.TableIdentifier.parse(".".join(TABLE)))
    folder = Path(str(table.location()).removeprefix("file://").removeprefix("file:")) / "data"
    folder.mkdir(parents=True, exist_ok=True)

    def commit(n: int) -> int:
        path = folder / f"{name}-{n}-{uuid.uuid4().hex[:8]}.parquet"
        pq.write_table(_row(name, n), path)
        file = jvm.org.apache.iceberg.DataFiles.builder(table.spec()).withPath(str(path)).withFormat("parquet")
        file = file.withFileSizeInBytes(path.stat().st_size).withRecordCount(1).build()
        append = table.newFastAppend().appendFile(file).set("writer", name).set("n", str(n))
        append.commit()
        attempts = table.currentSnapshot().manifestListLocation().rsplit("/", 1)[-1].split("-")[2]
        return int(attempts) - 1

    return commit


def _work(home: Path, kind: str, name: str, commits: int) -> None:
    """In a process of its own: commit, and write a line for each acknowledged commit."""
    commit = (_java_writer if kind == "java" else _pyiceberg_writer)(home, name)
    with open(home / f"{name}.acks", "a", buffering=1) as acks:
        acks.write("ready\n")
        while not (home / "go").exists():
            time.sleep(0.01)
        for n in range(commits):
            try:
                acks.write(f"ok {n} {commit(n)}\n")
            except Exception as error:
                acks.write(f"failed {n} {type(error).__name__}\n")


def _start(home: Path, kind: str, name: str, commits: int) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "explorer.lab.race", str(home), kind, name, str(commits)]
    return subprocess.Popen(command, stderr=open(home / f"{name}.log", "wb"), start_new_session=True)


def race(writers: int = 8, commits: int = 50, progress: Callable[[int, float], Any] = lambda *_: None) -> Tally:
    """That many writer processes, Java and pyiceberg in turn, make that many commits each. `progress(acknowledged, seconds)` is called
    while they run. Raises EngineError when a writer does not get ready."""
    home = Path(tempfile.mkdtemp(prefix="iceberg-explorer-race-"))
    try:
        _make(home)
        names = [f"{KINDS[i % 2]}-{i}" for i in range(writers)]
        running = [_start(home, name.split("-")[0], name, commits) for name in names]
        deadline = time.time() + 120
        while any("ready" not in _acks(home, name) for name in names):
            if time.time() > deadline or any(p.poll() is not None for p in running):
                logs = " | ".join((home / f"{n}.log").read_text()[-300:] for n in names)
                for process in running:
                    os.killpg(process.pid, signal.SIGKILL)
                raise EngineError(f"a writer did not get ready: {logs}")
            time.sleep(0.05)
        (home / "go").touch()
        began = time.time()
        while any(p.poll() is None for p in running):
            time.sleep(0.2)
            progress(sum(line.startswith("ok") for n in names for line in _acks(home, n)), time.time() - began)
        return _tally(home, names, time.time() - began)
    finally:
        shutil.rmtree(home, ignore_errors=True)


def kills(times: int = 100, kind: str = "pyiceberg", seed: int = 7, progress: Callable[[int, int], Any] = lambda *_: None) -> list[Tally]:
    """Start a writer, kill it with SIGKILL at some moment while it commits, and look at the table; so often, on one table."""
    chance = random.Random(seed)
    home = Path(tempfile.mkdtemp(prefix="iceberg-explorer-kills-"))
    tallies = []
    try:
        _make(home)
        (home / "go").touch()
        for i in range(times):
            name = f"{kind}-{i}"
            process = _start(home, kind, name, 1_000_000) if kind == "java" else _fork(home, name)
            while "ready" not in _acks(home, name):
                time.sleep(0.002)
            time.sleep(chance.random() * 0.25)
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            tallies.append(_tally(home, [name], 0.0))
            progress(i + 1, times)
        return tallies
    finally:
        shutil.rmtree(home, ignore_errors=True)


@dataclass
class _Forked:
    pid: int

    def wait(self) -> None:
        os.waitpid(self.pid, 0)


def _fork(home: Path, name: str) -> _Forked:
    """A writer as a copy of this process: it is ready in milliseconds, for the libraries are loaded. pyiceberg only."""
    pid = os.fork()
    if pid == 0:
        try:
            os.setsid()
            _work(home, "pyiceberg", name, 1_000_000)
        finally:
            os._exit(0)
    while True:  # until it leads a process group of its own
        try:
            if os.getpgid(pid) == pid:
                return _Forked(pid)
        except ProcessLookupError:
            return _Forked(pid)
        time.sleep(0.001)


def _acks(home: Path, name: str) -> list[str]:
    path = home / f"{name}.acks"
    return path.read_text().splitlines() if path.exists() else []


def table_of(home: Path) -> Table:
    """The race's table as its catalog has it."""
    catalog = _catalog(home)
    try:
        return opened(catalog.load_table(TABLE).metadata_location)
    finally:
        catalog.engine.dispose()


def _tally(home: Path, names: list[str], seconds: float) -> Tally:
    """Hold what writers were told against what is there."""
    table = table_of(home)
    lines = [line.split() for name in names for line in _acks(home, name)]
    acknowledged = [line for line in lines if line[0] == "ok"]
    mine = [s for s in table.metadata.snapshots if s.summary.get("writer") in names]
    files = [f["file_path"] for f in table.files()] if table.metadata.snapshots else []
    missing = sum(not Path(f.removeprefix("file://").removeprefix("file:")).exists() for f in files)
    rows = {(s.summary.get("writer"), s.summary.get("n")) for s in mine}
    if seconds:  # the rows themselves; after a kill the snapshots' words will do, the files are counted
        found = [table.file_rows(f)[0] for f in files]
        rows = {(r["writer"], str(r["n"])) for r in found}
    from explorer.maintenance import orphans

    return Tally(
        acknowledged=len(acknowledged), snapshots=len(mine), rows=len(rows), retries=sum(int(line[2]) for line in acknowledged),
        failures=sum(line[0] == "failed" for line in lines), seconds=seconds, missing_files=missing + len(table.problems),
        orphans=len(orphans(table)) if seconds else 0, excess=len(mine) - len(acknowledged),
    )  # fmt: skip


if __name__ == "__main__":
    _work(Path(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4]))
