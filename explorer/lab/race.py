"""A race of writer processes on one table, some of them Java and some pyiceberg, and writers that are killed at any
moment.

What must hold: every acknowledged commit is a snapshot and a row; of a killed writer at most one commit more than it
acknowledged is there; no snapshot names a file that is missing; the table opens clean."""

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
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.exceptions import CommitFailedException

from explorer.core.operations import ENGINES
from explorer.core.runs import Lap
from explorer.errors import EngineError, StatementFailed
from explorer.io.locate import locate
from explorer.io.reader import TableReader
from explorer.lab import java as reflect
from explorer.lab.pyiceberg_hooks import HookedCatalog, Point, break_connection
from explorer.maintenance import orphans
from explorer.progress import as_one_step, steps
from explorer.table import Table

TABLE = ("race", "t")
SCHEMA = pa.schema(
    [
        pa.field(n, t, metadata={"PARQUET:field_id": str(i)})
        for i, (n, t) in enumerate((("writer", pa.string()), ("n", pa.int64())), 1)
    ]
)


def _lap(home: Path, names: Sequence[str], seconds: float) -> Lap:
    """A lap from what the writers have noted."""
    lines = {name: [line.split() for line in _acks(home, name)] for name in names}
    done = {name: [line for line in noted if line[0] == "ok"] for name, noted in lines.items()}
    lost = sum(int(line[2]) for noted in done.values() for line in noted if len(line) == 3)
    failed = sum(line[0] == "failed" for noted in lines.values() for line in noted)
    by_writer = {name: len(noted) for name, noted in done.items()}
    return Lap(seconds, sum(by_writer.values()), lost, failed, by_writer)


@dataclass(frozen=True)
class Tally:
    """What came of a race. `acknowledged` are commits that writers were told had succeeded; `retries` those that lost a
    swap first."""

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
        raise StatementFailed(f"{name} lost a thousand swaps")

    return commit


def _java_table(home: Path, gateway: Any, read_only: bool = False) -> Any:
    jvm = gateway.jvm
    catalog = jvm.org.apache.iceberg.jdbc.JdbcCatalog()
    catalog.setConf(jvm.org.apache.hadoop.conf.Configuration())
    options = jvm.java.util.HashMap()
    uri = (
        f"jdbc:sqlite:file:{home}/catalog.db?mode=ro"
        if read_only
        else f"jdbc:sqlite:{home}/catalog.db?busy_timeout=60000"
    )
    wanted = {"uri": uri, "warehouse": f"file://{home}/warehouse", "init-catalog-tables": "false"}
    for key, value in {
        **wanted,
        "jdbc.schema-version": "V1",
        "io-impl": "org.apache.iceberg.hadoop.HadoopFileIO",
    }.items():
        options.put(key, value)
    catalog.initialize("race", options)
    return catalog.loadTable(jvm.org.apache.iceberg.catalog.TableIdentifier.parse(".".join(TABLE)))


def _java_append(jvm: Any, table: Any, name: str, n: int) -> Any:
    """A pending append of row n, in a data file of its own."""
    folder = Path(str(table.location()).removeprefix("file://").removeprefix("file:")) / "data"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}-{n}-{uuid.uuid4().hex[:8]}.parquet"
    pq.write_table(_row(name, n), path)
    file = jvm.org.apache.iceberg.DataFiles.builder(table.spec()).withPath(str(path)).withFormat("parquet")
    file = file.withFileSizeInBytes(path.stat().st_size).withRecordCount(1).build()
    return table.newFastAppend().appendFile(file).set("writer", name).set("n", str(n))


def _java_writer(home: Path, name: str) -> Callable[[int], int]:
    from explorer.engines.spark import java_without_spark

    gateway = java_without_spark()
    table = _java_table(home, gateway)

    def commit(n: int) -> int:
        _java_append(gateway.jvm, table, name, n).commit()
        attempts = table.currentSnapshot().manifestListLocation().rsplit("/", 1)[-1].split("-")[2]
        return int(attempts) - 1

    return commit


def _work(home: Path, kind: str, name: str, commits: int) -> None:
    """In a process of its own: commit, and write a line for each acknowledged commit."""
    if kind.startswith(FAULT):
        _meet_fault(home, name, *kind.removeprefix(FAULT).split("/"))
        return
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


def race(
    writers: int = 8,
    commits: int = 50,
    progress: Callable[[Lap], Any] = lambda _: None,
    cancelled: Callable[[], bool] = lambda: False,
) -> Tally:
    """That many writer processes, Java and pyiceberg in turn, make that many commits each. `progress` is called while
    they run; when `cancelled()` they are killed, and the table is looked at as it is then. Raises EngineError when a
    writer does not get ready."""
    home = Path(tempfile.mkdtemp(prefix="iceberg-explorer-race-"))
    try:
        _make(home)
        names = [f"{ENGINES[i % 2]}-{i}" for i in range(writers)]
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
            progress(_lap(home, names, time.time() - began))
            if cancelled():
                for process in running:
                    os.killpg(process.pid, signal.SIGKILL)
                    process.wait()
        with as_one_step():  # cancelled, too, it is told what came of it
            return _tally(home, names, time.time() - began)
    finally:
        shutil.rmtree(home, ignore_errors=True)


def kills(
    times: int = 100, kind: str = "pyiceberg", seed: int = 7, progress: Callable[[int, int], Any] = lambda *_: None
) -> list[Tally]:
    """Start a writer, kill it with SIGKILL at some moment while it commits, and look at the table; so often, on one
    table."""
    chance = random.Random(seed)
    home = Path(tempfile.mkdtemp(prefix="iceberg-explorer-kills-"))
    tallies = []
    try:
        _make(home)
        (home / "go").touch()
        for i in steps(range(times), "kills"):
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


# -- faults at chosen points
# --------------------------------------------------------------------------------------------
FAULT = "fault:"
FAULTS: Mapping[str, str] = {
    "before-metadata": "killed before it writes metadata.json",
    "before-swap": "killed before the swap",
    "after-swap": "killed after the swap, before the answer",
    "answer-lost": "the answer to the swap is lost: commit state unknown",
    "disk-full": "no file may grow beyond a kilobyte, as on a full disk",
    "read-only": "the catalog is read-only",
}
"""What can befall a writer, in words."""


@dataclass(frozen=True)
class Fault:
    """What came of one commit that met a fault: what the writer was told (nothing when it was killed), how many commits
    it was told had succeeded and how many are there, the files it left behind, and whether all that the table names is
    there."""

    writer: str
    fault: str
    told: str
    acknowledged: int
    committed: int
    left_behind: tuple[str, ...]
    opens_clean: bool


def faults(kinds: Sequence[str] = ENGINES, progress: Callable[[int, int], Any] = lambda *_: None) -> list[Fault]:
    """Let a writer process of each kind meet each of FAULTS in one commit, and look at the table afterwards."""
    home = Path(tempfile.mkdtemp(prefix="iceberg-explorer-faults-"))
    found = []
    try:
        _make(home)
        (home / "go").touch()
        _pyiceberg_writer(home, "first")(0)
        wanted = [(kind, fault) for kind in kinds for fault in FAULTS]
        for i, (kind, fault) in enumerate(steps(wanted, "faults"), 1):
            name = f"{kind}-{fault}"
            before = set(orphans(table_of(home)))
            process = _start(home, f"{FAULT}{kind}/{fault}", name, 1)
            process.wait(timeout=180)
            table, tally = table_of(home), _tally(home, [name], 0.0)
            said = [line.removeprefix("told ") for line in _acks(home, name) if line.startswith("told ")]
            told = said[0] if said else "committed" if tally.acknowledged else "nothing: it was killed"
            left = tuple(Path(p).name for p in orphans(table) if p not in before)
            found.append(Fault(kind, fault, told, tally.acknowledged, tally.snapshots, left, tally.missing_files == 0))
            progress(i, len(wanted))
        return found
    finally:
        shutil.rmtree(home, ignore_errors=True)


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _limit_files(pid: int) -> None:
    """No file of a process may grow beyond a kilobyte from now on: writing more fails, as on a full disk. POSIX
    only."""
    import resource

    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (1024, 1024))


def _meet_fault(home: Path, name: str, kind: str, fault: str) -> None:
    """In a process of its own: make one commit that meets a fault."""
    with open(home / f"{name}.acks", "a", buffering=1) as acks:
        acks.write("ready\n")
        try:
            (_java_fault if kind == "java" else _pyiceberg_fault)(home, name, fault)
            acks.write("ok 0 0\n")
        except Exception as error:
            kind, words = reflect.cause(error)
            deepest = getattr(error, "java_exception", None)
            while deepest is not None and deepest.getCause() is not None:
                deepest = deepest.getCause()
            if deepest is not None and str(deepest.getMessage()) not in words:
                words += f": {deepest.getMessage()}"
            acks.write(f"told {kind.rsplit('.', 1)[-1]}: {' '.join(words.split())[:200]}\n")


KILLED_AT = {"before-metadata": "metadata", "before-swap": "swap", "after-swap": "answer"}


def _pyiceberg_fault(home: Path, name: str, fault: str) -> None:
    path = f"file:{home}/catalog.db?mode=ro&uri=true" if fault == "read-only" else f"{home}/catalog.db?timeout=60"
    options = {"uri": f"sqlite:///{path}", "warehouse": f"file://{home}/warehouse", "init_catalog_tables": "false"}

    def at(point: Point) -> None:
        if KILLED_AT.get(fault) == point:
            _die()
        if (fault, point) == ("answer-lost", "answer"):
            break_connection()

    catalog = HookedCatalog("race", **options)
    catalog.at = at
    table = catalog.load_table(TABLE)
    if fault == "disk-full":
        _limit_files(0)
    table.append(_row(name, 0), {"writer": name, "n": "0"})


def _java_fault(home: Path, name: str, fault: str) -> None:
    from explorer.engines.spark import gateway_pid, java_without_spark

    gateway = java_without_spark()
    table = _java_table(home, gateway, fault == "read-only")
    pending = _java_append(gateway.jvm, table, name, 0)
    if fault in ("disk-full", "read-only"):
        if fault == "disk-full":
            _limit_files(gateway_pid())
        pending.commit()
        return
    api = SimpleNamespace(jvm=gateway.jvm, gateway=gateway)
    snapshot, operations = pending.apply(), table.operations()
    base = operations.current()
    updated = reflect.with_snapshot(api, base, snapshot)
    if fault == "before-metadata":
        _die()
    location = reflect.write_metadata(api, operations, base, updated)
    if fault == "before-swap":
        _die()
    reflect.swap(api, operations, location, str(base.metadataFileLocation()))
    if fault == "after-swap":
        _die()
    break_connection()


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
        return Table(TableReader(locate(catalog.load_table(TABLE).metadata_location)))
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
    return Tally(
        acknowledged=len(acknowledged), snapshots=len(mine), rows=len(rows),
        retries=sum(int(line[2]) for line in acknowledged),
        failures=sum(line[0] == "failed" for line in lines), seconds=seconds,
        missing_files=missing + len(table.problems),
        orphans=len(orphans(table)) if seconds else 0, excess=len(mine) - len(acknowledged),
    )  # fmt: skip


if __name__ == "__main__":
    _work(Path(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4]))
