"""The processes of a race. Each commits rows to one table and notes what it was told, or meets a fault at a chosen
point."""

from __future__ import annotations

import os
import random
import signal
import sys
import threading
import time
import uuid
from collections.abc import Callable, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.exceptions import CommitFailedException

from explorer.errors import StatementFailed
from explorer.lab import java as reflect
from explorer.lab.pyiceberg_hooks import HookedCatalog, Point, break_connection
from explorer.spark_engine.java_names import java_names

TABLE = ("race", "t")
SCHEMA = pa.schema(
    [
        pa.field(n, t, metadata={"PARQUET:field_id": str(i)})
        for i, (n, t) in enumerate((("writer", pa.string()), ("n", pa.int64())), 1)
    ]
)


FAULT = "fault:"
FAULTS: Mapping[str, str] = {
    "before-metadata": "killed before it writes metadata.json",
    "before-swap": "killed before the swap",
    "after-swap": "killed after the swap, before the answer",
    "answer-lost": "the answer to the swap is lost: commit state unknown",
    "disk-full": "no file may grow beyond a kilobyte, as on a full disk",
    "read-only": "the catalog is read-only",
}
"""The faults that a writer can meet, in words."""


def catalog_of(home: Path) -> SqlCatalog:
    # a writer waits for SQLite's lock instead of failing immediately
    options = {"uri": f"sqlite:///{home}/catalog.db?timeout=60", "warehouse": f"file://{home}/warehouse"}
    return SqlCatalog("race", **options)


def row(name: str, n: int) -> pa.Table:
    return pa.table({"writer": [name], "n": [n]}, SCHEMA)


def pyiceberg_writer(home: Path, name: str) -> Callable[[int], int]:
    """Return a function that appends row n and returns how many swaps it lost before."""
    catalog = catalog_of(home)

    def commit(n: int) -> int:
        for attempt in range(1000):
            try:
                catalog.load_table(TABLE).append(row(name, n), {"writer": name, "n": str(n)})
                return attempt
            except CommitFailedException:
                time.sleep(random.random() * 0.02)
        raise StatementFailed(f"{name} lost a thousand swaps")

    return commit


def _java_table(home: Path, gateway: Any, read_only: bool = False) -> Any:
    jvm = java_names(gateway.jvm)
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
    """A pending append of row n, in a new data file."""
    folder = Path(str(table.location()).removeprefix("file://").removeprefix("file:")) / "data"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}-{n}-{uuid.uuid4().hex[:8]}.parquet"
    pq.write_table(row(name, n), path)
    file = jvm.org.apache.iceberg.DataFiles.builder(table.spec()).withPath(str(path)).withFormat("parquet")
    file = file.withFileSizeInBytes(path.stat().st_size).withRecordCount(1).build()
    return table.newFastAppend().appendFile(file).set("writer", name).set("n", str(n))


def _java_writer(home: Path, name: str) -> Callable[[int], int]:
    from explorer.spark_engine.spark import java_without_spark

    gateway = java_without_spark()
    table = _java_table(home, gateway)

    def commit(n: int) -> int:
        _java_append(java_names(gateway.jvm), table, name, n).commit()
        attempts = table.currentSnapshot().manifestListLocation().rsplit("/", 1)[-1].split("-")[2]
        return int(attempts) - 1

    return commit


def work(home: Path, kind: str, name: str, commits: int) -> None:
    """Commit rows in this process, and write a line for each acknowledged commit."""
    if kind.startswith(FAULT):
        _meet_fault(home, name, *kind.removeprefix(FAULT).split("/"))
        return
    commit = (_java_writer if kind == "java" else pyiceberg_writer)(home, name)
    with open(home / f"{name}.acks", "a", buffering=1) as acks:
        acks.write("ready\n")
        while not (home / "go").exists():
            time.sleep(0.01)
        for n in range(commits):
            try:
                acks.write(f"ok {n} {commit(n)}\n")
            except Exception as error:
                acks.write(f"failed {n} {type(error).__name__}\n")


def end_with(pipe: int) -> None:
    """End this process, and what it has started, as soon as the other end of a pipe is closed: its parent has ended."""

    def look() -> None:
        while os.read(pipe, 1):
            pass
        os.killpg(0, signal.SIGKILL)

    threading.Thread(target=look, name="parent", daemon=True).start()


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _limit_files(pid: int) -> None:
    """Limit all files of a process to a kilobyte, so that writing more fails as on a full disk. POSIX only."""
    import resource

    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (1024, 1024))


def _meet_fault(home: Path, name: str, kind: str, fault: str) -> None:
    """Make one commit in this process that meets a fault."""
    with open(home / f"{name}.acks", "a", buffering=1) as acks:
        acks.write("ready\n")
        try:
            (_java_fault if kind == "java" else _pyiceberg_fault)(home, name, fault)
            acks.write("ok 0 0\n")
        except Exception as error:
            kind, reason = reflect.cause(error)
            deepest = getattr(error, "java_exception", None)
            while deepest is not None and deepest.getCause() is not None:
                deepest = deepest.getCause()
            if deepest is not None and str(deepest.getMessage()) not in reason:
                reason += f": {deepest.getMessage()}"
            acks.write(f"told {kind.rsplit('.', 1)[-1]}: {' '.join(reason.split())[:200]}\n")


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
    table.append(row(name, 0), {"writer": name, "n": "0"})


def _java_fault(home: Path, name: str, fault: str) -> None:
    from explorer.spark_engine import gateway as java_process
    from explorer.spark_engine.spark import java_without_spark

    gateway = java_without_spark()
    table = _java_table(home, gateway, fault == "read-only")
    pending = _java_append(java_names(gateway.jvm), table, name, 0)
    if fault in ("disk-full", "read-only"):
        if fault == "disk-full":
            _limit_files(java_process.pid())
        pending.commit()
        return
    api = SimpleNamespace(jvm=java_names(gateway.jvm), gateway=gateway)
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


def read_notes(home: Path, name: str) -> list[str]:
    path = home / f"{name}.acks"
    return path.read_text().splitlines() if path.exists() else []


if __name__ == "__main__":
    end_with(sys.stdin.fileno())
    work(Path(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4]))
