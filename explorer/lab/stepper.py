"""Writers that commit to one table, each step when it is told to: load, write files, apply (refresh, validate, write manifests and
list), write metadata.json, compare-and-swap; after a lost swap, apply again.

Every step is Iceberg's own code on its own classes; only the order is ours. The swap is JdbcCatalog's conditional UPDATE."""

from __future__ import annotations

import itertools
import json
import shutil
import tempfile
import weakref
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from explorer.engines.spark import SANDBOX, SparkEngine, sandbox_conf
from explorer.errors import EngineError, NotFoundInTable
from explorer.io.locate import locate
from explorer.io.reader import TableReader
from explorer.lab.operations import ISOLATION, KINDS, Operation, Plan, rows_of, stage
from explorer.maintenance import named_files
from explorer.scenarios.workshop import Workshop
from explorer.table import Table

STEPS = ("load", "write", "apply", "metadata", "swap")
CATALOG, NAMESPACE = "lab", "runs"
ATTEMPTS = 5
ROWS = (({"id": 1, "v": "one", "p": "a"}, {"id": 2, "v": "two", "p": "a"}), ({"id": 3, "v": "three", "p": "b"},))
"""The small table's two data files, in partitions a and b."""


@dataclass(frozen=True)
class Event:
    """One step that was taken. `outcome` is ok, committed, lost (the swap) or refused (a validation); `files` are those it wrote, below
    the table's folder, in the order they were written."""

    n: int
    writer: str
    step: str
    outcome: str
    words: str
    files: tuple[str, ...] = ()
    error: str = ""


@dataclass
class Writer:
    """One writer: its operation, its own copy of the table, and how far it is. `state` is a step it can take next, committed or
    refused."""

    name: str
    operation: Operation
    state: str = "load"
    attempts: int = 0
    table: Table | None = None
    java: Any = None
    plan: Plan | None = None
    snapshot: Any = None
    base: Any = None
    metadata_location: str = ""
    left_behind: list[str] = field(default_factory=list)

    @property
    def over(self) -> bool:
        """Committed or refused."""
        return self.state in ("committed", "refused")


def opened(location: str) -> Table:
    """A table by its metadata file."""
    return Table(TableReader(locate(location)))


class Bench:
    """Where runs take place: a catalog of its own in a folder of its own, which goes when this does. One small table is written once and
    registered anew under another name for every run, so that a fresh table costs one row in the catalog."""

    def __init__(self, engine: SparkEngine) -> None:
        self.engine = engine
        self.home = Path(tempfile.mkdtemp(prefix="iceberg-explorer-lab-"))
        weakref.finalize(self, shutil.rmtree, self.home, ignore_errors=True)
        self.spark = engine.session().newSession()
        for key, value in sandbox_conf(self.home).items():
            self.spark.conf.set(key.replace(f".{SANDBOX}", f".{CATALOG}"), value)
        self.workshop = Workshop(engine, "bench", "")
        self._runs = itertools.count(1)
        self.spark.sql(f"CREATE NAMESPACE {CATALOG}.{NAMESPACE}")
        session: Any = self.spark._jsparkSession  # type: ignore[attr-defined]
        self.catalog = self.workshop.jvm.org.apache.iceberg.spark.Spark3Util.loadIcebergCatalog(session, CATALOG)
        self.spark.sql(
            f"CREATE TABLE {CATALOG}.{NAMESPACE}.base (id INT, v STRING, p STRING) USING iceberg PARTITIONED BY (p) "
            "TBLPROPERTIES ('format-version' = '2', 'commit.retry.num-retries' = '0')"
        )
        java = self.load("base")
        append = java.newAppend()
        for i, rows in enumerate(ROWS):
            append.appendFile(self.workshop.data_file(java, f"base-{i + 1}-{id(self)}.parquet", rows, f"p={rows[0]['p']}"))
        append.commit()
        self.base = str(java.operations().current().metadataFileLocation())

    def identifier(self, name: str) -> Any:
        """A name in the lab's namespace as Iceberg has it."""
        jvm = self.workshop.jvm
        return jvm.org.apache.iceberg.catalog.TableIdentifier.parse(f"{NAMESPACE}.{name}")

    def load(self, name: str) -> Any:
        """An org.apache.iceberg.Table with operations of its own."""
        return self.catalog.loadTable(self.identifier(name))

    def fresh(self) -> str:
        """A new table as the base table was; returns its name."""
        name = f"run_{next(self._runs)}"
        self.catalog.registerTable(self.identifier(name), self.base)
        return name

    def drop(self, name: str) -> None:
        """Forget a run's table; its files stay with the base table's."""
        self.catalog.dropTable(self.identifier(name), False)


class Run:
    """Some writers on one fresh table."""

    def __init__(self, bench: Bench, operations: Sequence[Operation]) -> None:
        for operation in operations:
            if operation.kind not in KINDS or operation.isolation not in ISOLATION:
                raise NotFoundInTable(
                    f"no operation {operation.kind!r} with isolation {operation.isolation!r}: there are {', '.join(KINDS)}"
                )
        self.bench, self.name = bench, bench.fresh()
        self.writers = [Writer("ABCDEFG"[i], operation) for i, operation in enumerate(operations)]
        self.events: list[Event] = []
        self._folder = Path(str(bench.load(self.name).location()).removeprefix("file:"))
        self._seen = self._files()

    def _files(self) -> dict[str, int]:
        return {
            str(p.relative_to(self._folder)): p.stat().st_mtime_ns for p in self._folder.rglob("*") if p.is_file() and p.suffix != ".crc"
        }

    def writer(self, name: str) -> Writer:
        """The writer A, B... Raises NotFoundInTable."""
        for writer in self.writers:
            if writer.name == name:
                return writer
        raise NotFoundInTable(f"no writer {name!r}: there are {', '.join(w.name for w in self.writers)}")

    def step(self, name: str) -> Event:
        """Let a writer take its next step. Raises EngineError when it has none left."""
        writer = self.writer(name)
        if writer.over:
            raise EngineError(f"writer {name} is {writer.state}: it has no step left")
        step = writer.state
        outcome, words, error = getattr(self, f"_{step}")(writer)
        now = self._files()
        new = sorted(now.keys() - self._seen.keys(), key=lambda p: (now[p], p))
        self._seen = now
        event = Event(len(self.events) + 1, name, step, outcome, words, tuple(new), error)
        writer.left_behind += new
        if outcome == "committed":
            writer.left_behind = [f for f in writer.left_behind if f not in self._reachable()]
        self.events.append(event)
        return event

    def table(self) -> Table:
        """The table as the catalog has it now, opened anew."""
        location = str(self.bench.load(self.name).operations().current().metadataFileLocation())
        return opened(location)

    def _reachable(self) -> set[str]:
        return {path.removeprefix("file:").removeprefix(f"{self._folder}/") for path in named_files(self.table())}

    # -- the steps ----------------------------------------------------------------------------------------------------
    def _load(self, writer: Writer) -> tuple[str, str, str]:
        writer.java = self.bench.load(self.name)
        location = str(writer.java.operations().current().metadataFileLocation())
        writer.table = opened(location)
        writer.state = "write"
        return "ok", f"loads {location.rsplit('/', 1)[-1]}, {len(writer.table.metadata.snapshots)} snapshots", ""

    def _write(self, writer: Writer) -> tuple[str, str, str]:
        assert writer.table is not None
        writer.plan = stage(writer.operation, writer.name, writer.table, writer.java, self.bench.workshop)
        writer.state = "apply"
        replaced = f", replacing {len(writer.plan.replaced)}" if writer.plan.replaced else ""
        return "ok", f"writes {len(writer.plan.added)} data or delete files{replaced}", ""

    def _apply(self, writer: Writer) -> tuple[str, str, str]:
        """SnapshotProducer.apply: refresh, validate against what was committed since, write manifests and the manifest list."""
        assert writer.plan is not None
        writer.attempts += 1
        try:
            writer.snapshot = writer.plan.pending.apply()
        except Exception as error:
            return self._refuse(writer, error)
        writer.base = writer.java.operations().current()
        writer.state = "metadata"
        location = str(writer.base.metadataFileLocation()).rsplit("/", 1)[-1]
        return "ok", f"refreshes to {location}, validates, writes manifests and the manifest list", ""

    def _metadata(self, writer: Writer) -> tuple[str, str, str]:
        jvm = self.bench.workshop.jvm
        updated = jvm.org.apache.iceberg.TableMetadata.buildFrom(writer.base).setBranchSnapshot(writer.snapshot, "main").build()
        operations = writer.java.operations()
        version = int(str(writer.base.metadataFileLocation()).rsplit("/", 1)[-1].split("-")[0])
        parent = "org.apache.iceberg.BaseMetastoreTableOperations"
        writer.metadata_location = str(self._call(operations, "writeNewMetadata", [updated, version + 1], parent))
        writer.state = "swap"
        return "ok", f"writes {writer.metadata_location.rsplit('/', 1)[-1]}", ""

    def _swap(self, writer: Writer) -> tuple[str, str, str]:
        operations, old = writer.java.operations(), str(writer.base.metadataFileLocation())
        try:
            self._call(operations, "updateTable", [writer.metadata_location, old], "org.apache.iceberg.jdbc.JdbcTableOperations")
        except Exception as error:
            cause = _cause(error)
            if "CommitFailedException" not in cause[0]:
                return self._refuse(writer, error)
            if writer.attempts >= ATTEMPTS:
                writer.state = "refused"
                return "refused", f"gives up after {writer.attempts} attempts", cause[1]
            writer.state = "apply"
            words = f"the catalog no longer points to {old.rsplit('/', 1)[-1]}: the swap is lost; it will refresh and apply again"
            return "lost", words, cause[1]
        writer.java.refresh()
        writer.state = "committed"
        return "committed", f"the catalog swaps {old.rsplit('/', 1)[-1]} for {writer.metadata_location.rsplit('/', 1)[-1]}", ""

    def _refuse(self, writer: Writer, error: Exception) -> tuple[str, str, str]:
        kind, message = _cause(error)
        if not kind.endswith(("ValidationException", "IllegalArgumentException", "CommitFailedException")):
            raise EngineError(f"writer {writer.name}: {kind}: {message}") from error
        writer.state = "refused"
        return "refused", f"{kind.rsplit('.', 1)[-1]}: {message}", message

    def _call(self, target: Any, method: str, arguments: Sequence[Any], owner: str) -> Any:
        """Call a protected or private method of Iceberg's by reflection: its commit() does two of our steps in one."""
        jvm, gateway = self.bench.workshop.jvm, self.bench.workshop.gateway
        found = jvm.java.lang.Class.forName(owner, True, target.getClass().getClassLoader())
        chosen = next(m for m in found.getDeclaredMethods() if m.getName() == method and m.getParameterCount() == len(arguments))
        chosen.setAccessible(True)
        values = gateway.new_array(jvm.java.lang.Object, len(arguments))
        for i, value in enumerate(arguments):
            values[i] = value
        return chosen.invoke(target, values)

    # -- whole runs ---------------------------------------------------------------------------------------------------
    def play(self, order: str) -> list[Event]:
        """Let writers take steps in an order such as `AABB`; a writer that is over is passed. Afterwards all run to their end, in
        turn."""
        for name in order:
            if not self.writer(name).over:
                self.step(name)
        while rest := [w.name for w in self.writers if not w.over]:
            self.step(rest[0])
        return self.events

    def rows(self) -> list[tuple[int, str, str]]:
        """The rows of the table now, sorted."""
        return rows_of(self.table())

    def to_json(self) -> str:
        """The run as JSON, from which `replay` makes it again."""
        operations = [asdict(w.operation) for w in self.writers]
        return json.dumps({"operations": operations, "order": [e.writer for e in self.events], "events": [asdict(e) for e in self.events]})


def replay(bench: Bench, saved: str) -> Run:
    """Carry out a saved run again on a fresh table: the same steps of the same operations in the same order. Raises NotFoundInTable."""
    try:
        data = json.loads(saved)
        operations = [Operation(str(o["kind"]), str(o["isolation"])) for o in data["operations"]]
        order = [str(name) for name in data["order"]]
    except (ValueError, KeyError, TypeError) as error:
        raise NotFoundInTable(f"not a saved run: {error}") from error
    run = Run(bench, operations)
    for name in order:
        run.step(name)
    return run


def _cause(error: Exception) -> tuple[str, str]:
    """(Java class, message) of what Iceberg threw, below reflection's wrapping."""
    java = getattr(error, "java_exception", None)
    while java is not None and java.getCause() is not None and str(java.getClass().getName()).endswith("InvocationTargetException"):
        java = java.getCause()
    if java is None:
        return type(error).__name__, str(error)
    return str(java.getClass().getName()), str(java.getMessage())
