"""A writer that takes one step of its commit at a time: of Iceberg's Java library, or of pyiceberg."""

from __future__ import annotations

import json
import logging
import queue
import re
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import pyarrow as pa
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.exceptions import CommitFailedException, ValidationException

from explorer.core.names import base_name
from explorer.core.units import count
from explorer.errors import EngineError
from explorer.lab import java as reflect
from explorer.lab.bench import CATALOG, NAMESPACE, Bench
from explorer.lab.operations import KEY, METADATA_ONLY, PARTITION, Operation, Plan, live_rows, stage
from explorer.table import Table

ENDS = ("committed", "refused", "killed")
ATTEMPTS = 5


class Taken(NamedTuple):
    """What came of a step: ok, committed, lost (the swap), unknown (the swap's answer), refused; in words; what the
    library threw."""

    outcome: str
    words: str
    error: str = ""


@dataclass
class Writer:
    """One writer: its operation, its own copy of the table, and how far it is. `state` is the step it takes next
    (`check` after the answer to its swap was lost), or one of ENDS. `staged` are the snapshots it has applied and not
    committed, as in metadata.json."""

    name: str
    operation: Operation
    bench: Bench
    table_name: str
    state: str = "load"
    attempts: int = 0
    table: Table | None = None
    plan: Plan | None = None
    staged: list[dict[str, Any]] = field(default_factory=list)
    base: str = ""
    metadata_location: str = ""
    left_behind: list[str] = field(default_factory=list)

    @property
    def over(self) -> bool:
        """Whether it has no step left."""
        return self.state in ENDS

    def take(self, lose_answer: bool = False) -> Taken:
        """Take the next step. `lose_answer`: carry out the swap and forget what came of it."""
        raise NotImplementedError

    def kill(self) -> None:
        """Gone, without a chance to tidy up."""
        self.state = "killed"


def new_writer(name: str, operation: Operation, bench: Bench, table_name: str) -> Writer:
    """A writer of the operation's engine."""
    kind = PyicebergWriter if operation.engine == "pyiceberg" else JavaWriter
    return kind(name, operation, bench, table_name)


class JavaWriter(Writer):
    """Every step is Iceberg's own code on its own classes; only the order is ours. The swap is JdbcCatalog's
    conditional UPDATE."""

    _java: Any = None
    _snapshot: Any = None
    _base: Any = None
    _updated: Any = None

    def take(self, lose_answer: bool = False) -> Taken:
        taken: Taken = self._swap(lose_answer) if self.state == "swap" else getattr(self, f"_{self.state}")()
        return taken

    def _load(self) -> Taken:
        self._java = self.bench.load(self.table_name)
        location = str(self._java.operations().current().metadataFileLocation())
        self.table = self.bench.opened(location)
        self.state = "write"
        return Taken("ok", f"loads {base_name(location)}, {count(len(self.table.metadata.snapshots), 'snapshot')}")

    def _write(self) -> Taken:
        assert self.table is not None
        self.plan = stage(self.operation, self.name, self.table, self._java, self.bench.workshop)
        self.state = "apply"
        if not self.plan.added:
            return Taken("ok", "has no file to write: it plans its change")
        replaced = f", replacing {len(self.plan.replaced)}" if self.plan.replaced else ""
        return Taken("ok", f"writes {count(len(self.plan.added), 'data or delete file')}{replaced}")

    def _apply(self) -> Taken:
        """SnapshotProducer.apply: refresh, validate against what was committed since, write manifests and the manifest
        list."""
        assert self.plan is not None
        pending, workshop = self.plan.pending, self.bench.workshop
        self.attempts += 1
        try:
            if self.operation.kind in METADATA_ONLY:
                words = self._apply_to_metadata(pending)
            else:
                self._snapshot = pending.apply()
                self._base = self._java.operations().current()
                self._updated = reflect.with_snapshot(workshop, self._base, self._snapshot)
                self.staged = [json.loads(str(workshop.jvm.org.apache.iceberg.SnapshotParser.toJson(self._snapshot)))]
                now = base_name(str(self._base.metadataFileLocation()))
                words = f"refreshes to {now}, validates, writes manifests and the manifest list"
        except Exception as error:
            return self._refuse(error)
        self.base, self.state = str(self._base.metadataFileLocation()), "metadata"
        return Taken("ok", words)

    def _apply_to_metadata(self, pending: Any) -> str:
        workshop = self.bench.workshop
        if self.operation.kind == "expire":  # it refreshes, and decides anew
            self._updated = reflect.call(workshop, pending, "internalApply")
            self._base = reflect.field(pending, "base")
            gone = len(list(self._base.snapshots())) - len(list(self._updated.snapshots()))
            return (
                f"refreshes to {base_name(str(self._base.metadataFileLocation()))}, finds "
                f"{count(gone, 'snapshot')} to expire"
            )
        self._base = self._java.operations().current()
        if self.operation.kind == "add-column":
            self._updated = self._base.updateSchema(pending.apply())
            return "adds a schema with the column to the metadata it loaded"
        self._updated = self._base.updatePartitionSpec(pending.apply())
        return "adds a partition spec to the metadata it loaded"

    def _metadata(self) -> Taken:
        self.metadata_location = reflect.write_metadata(
            self.bench.workshop, self._java.operations(), self._base, self._updated
        )
        self.state = "swap"
        return Taken("ok", f"writes {base_name(self.metadata_location)}")

    def _swap(self, lose_answer: bool) -> Taken:
        old, new = base_name(self.base), base_name(self.metadata_location)
        try:
            reflect.swap(self.bench.workshop, self._java.operations(), self.metadata_location, self.base)
        except Exception as error:
            kind, message = reflect.cause(error)
            if not kind.endswith("CommitFailedException"):
                raise EngineError(f"writer {self.name}: {kind}: {message}") from error
            return self._unknown() if lose_answer else self._lost(old, message)
        return self._unknown() if lose_answer else self._done(f"the catalog swaps {old} for {new}")

    def _unknown(self) -> Taken:
        self.state = "check"
        return Taken(
            "unknown", "asks the catalog to swap, and the connection breaks before the answer: commit state unknown"
        )

    def _check(self) -> Taken:
        operations = self._java.operations()
        status = str(
            reflect.call(self.bench.workshop, operations, "checkCommitStatusStrict", self.metadata_location, self._base)
        )
        name = base_name(self.metadata_location)
        if status == "SUCCESS":
            return self._done(f"looks in the table's metadata log: {name} is there, so the commit had gone in")
        return self._lost(name, f"{name} is not in the table's metadata log: {status}")

    def _done(self, words: str) -> Taken:
        assert self.plan is not None
        self.state, self.staged = "committed", []
        self._java.refresh()
        if self.operation.kind == "expire":
            reflect.call(self.bench.workshop, self.plan.pending, "cleanExpiredSnapshots")
        elif self.operation.kind not in METADATA_ONLY:
            reflect.clean_up(
                self.bench.workshop, self._java.operations(), self.plan.pending, self._snapshot.snapshotId()
            )
        return Taken("committed", words)

    def _lost(self, old: str, message: str) -> Taken:
        if self.operation.kind in ("add-column", "evolve-spec"):
            self.state = "refused"
            return Taken(
                "refused",
                "the swap is lost, and Iceberg does not retry a change of schema or spec: CommitFailedException",
                message,
            )
        if self.attempts >= ATTEMPTS:
            self.state, self.staged = "refused", []
            return Taken("refused", f"gives up after {self.attempts} attempts", message)
        self.state, self.staged = "apply", []
        return Taken(
            "lost", f"the catalog no longer points to {old}: the swap is lost; it will refresh and apply again", message
        )

    def _refuse(self, error: Exception) -> Taken:
        kind, message = reflect.cause(error)
        if not kind.endswith(("ValidationException", "IllegalArgumentException")):
            raise EngineError(f"writer {self.name}: {kind}: {message}") from error
        assert self.plan is not None
        if self.operation.kind not in METADATA_ONLY:
            reflect.call(self.bench.workshop, self.plan.pending, "cleanAll")
        self.state, self.staged = "refused", []
        return Taken(
            "refused",
            f"{kind.rsplit('.', 1)[-1]}: {_FILE.sub(lambda found: base_name(found.group(1)), message)}",
            message,
        )


_FILE = re.compile(r"Generic(?:Data|Delete)File\{.*?file_path=([^,]+),.*\}")
"""How Iceberg's messages print a file: all its fields."""

# the lab tells of lost swaps itself
logging.getLogger("pyiceberg.table").addFilter(lambda _: not threading.current_thread().name.startswith("pyiceberg-"))


class _Killed(BaseException):
    """Ends a paused writer's thread where it stands."""


class HookedCatalog(SqlCatalog):
    """pyiceberg's own catalog. `at` is called before it looks at the table's state and writes metadata.json
    ("metadata"), before the swap ("swap"), and after it ("answer")."""

    at: Callable[[str], None]
    location = ""

    def commit_table(self, table: Any, requirements: Any, updates: Any) -> Any:
        self.at("metadata")
        answer = super().commit_table(table, requirements, updates)
        self.at("answer")
        return answer

    def _write_metadata(self, metadata: Any, io: Any, metadata_path: str, *more: Any, **named: Any) -> None:  # type: ignore[override]
        SqlCatalog._write_metadata(metadata, io, metadata_path, *more, **named)
        self.location = metadata_path
        self.at("swap")


def break_connection() -> None:
    """What a writer meets whose answer is lost."""
    raise TimeoutError("the connection broke before the answer")


class PyicebergWriter(Writer):
    """pyiceberg's own append or delete on a thread that waits before each step. It looks at the table's state (its
    requirements) before it writes metadata.json, so a lost race is found there or at the swap; it validates when it
    tries again."""

    _catalog: HookedCatalog
    _transaction: Any = None

    def __init__(self, name: str, operation: Operation, bench: Bench, table_name: str) -> None:
        super().__init__(name, operation, bench, table_name)
        self._go = threading.Semaphore(0)
        self._reached: queue.Queue[tuple[str, Any]] = queue.Queue()
        self._thread = threading.Thread(target=self._work, name=f"pyiceberg-{self.name}", daemon=True)
        self._began = self._lose_answer = False

    def kill(self) -> None:
        super().kill()
        self._go.release()

    def _at(self, at: str) -> None:
        if at != "answer":
            self._pause(at)
        elif self._lose_answer:
            break_connection()

    def _pause(self, at: str) -> None:
        self._reached.put((at, None))
        self._go.acquire()
        if self.state == "killed":
            raise _Killed

    def _work(self) -> None:
        try:
            options = {
                "uri": f"sqlite:///{self.bench.home}/catalog.db?timeout=60",
                "warehouse": f"file://{self.bench.home}/warehouse",
                "init_catalog_tables": "false",
            }
            self._catalog = HookedCatalog(CATALOG, **options)
            self._catalog.at = self._at
            found = self._catalog.load_table(f"{NAMESPACE}.{self.table_name}")
            self.table = self.bench.opened(found.metadata_location)
            self._pause("write")
            self._transaction = transaction = found.transaction()
            register, rebuild = transaction._register_snapshot_producer, transaction._rebuild_snapshot_updates

            def registered(producer: Any) -> None:
                if not getattr(producer, "rewrites_needed", False):  # such a delete goes on to write files
                    self._pause("apply")
                register(producer)

            def rebuilt() -> None:
                self._pause("apply")
                rebuild()

            transaction.__dict__.update(_register_snapshot_producer=registered, _rebuild_snapshot_updates=rebuilt)
            if self.operation.kind == "append":
                row = {"id": KEY, "v": f"by {self.name}", "p": PARTITION}
                transaction.append(pa.Table.from_pylist([row], found.schema().as_arrow()))
            else:
                transaction.delete(f"id = {KEY}")
            transaction.commit_transaction()
            self._reached.put(("committed", None))
        except _Killed:
            pass
        except Exception as error:
            self._reached.put(("error", error))
        finally:
            if hasattr(self, "_catalog"):
                self._catalog.engine.dispose()

    def take(self, lose_answer: bool = False) -> Taken:
        step = self.state
        if step == "check":
            return self._check()
        if self._began:
            self._lose_answer = lose_answer and step == "swap"
            self._go.release()
        else:
            self._began = True
            self._thread.start()
        try:
            at, error = self._reached.get(timeout=120)
        except queue.Empty:
            raise EngineError(f"writer {self.name}: pyiceberg did not come to its next step in two minutes") from None
        if step == "apply":
            self.attempts += 1
        if at == "error":
            return self._failed(error)
        self.state = at
        if self._transaction is not None:
            snapshots = [u.snapshot for u in self._transaction._updates if type(u).__name__ == "AddSnapshotUpdate"]
            self.staged = [
                json.loads(s.model_dump_json(by_alias=True, exclude_none=True))
                for s in snapshots
                if at in ("metadata", "swap")
            ]
        if at == "committed":
            self.staged = []
            name = base_name(self._catalog.location)
            return Taken(
                "committed", f"the catalog swaps for {name}" if step == "swap" else "there is nothing to commit"
            )
        return self._said(step, at)

    def _said(self, step: str, at: str) -> Taken:
        assert self.table is not None
        if step == "load":
            return Taken("ok", f"loads {base_name(self.table.metadata.metadata_location)} with pyiceberg")
        if step == "write":
            rows = live_rows(self.table)
            touched = list(dict.fromkeys(d.path for d, r in rows if r["id"] == KEY))
            self.plan = Plan(replaced=touched if self.operation.kind == "cow-delete" else [])
            return Taken("ok", "writes its data files")
        if step == "apply":
            return Taken("ok", ("validates, " if self.attempts > 1 else "") + "writes manifests and the manifest list")
        if at == "apply":
            why = "its requirement on the branch does not hold" if step == "metadata" else "the swap is lost"
            return Taken("lost", f"{why}: CommitFailedException; it will refresh, validate and apply again")
        self.base, self.metadata_location = "", self._catalog.location
        return Taken(
            "ok",
            f"holds its requirements against the table as it is now, and writes {base_name(self.metadata_location)}",
        )

    def _failed(self, error: Exception) -> Taken:
        self.staged = []
        if isinstance(error, TimeoutError):
            self.state = "check"
            return Taken(
                "unknown", f"asks the catalog to swap; {error}: it cannot know whether it committed", str(error)
            )
        unable = "does not yet support" in str(error)  # such as equality deletes
        if not isinstance(error, (CommitFailedException, ValidationException)) and not unable:
            raise EngineError(f"writer {self.name}: pyiceberg: {type(error).__name__}: {error}") from error
        self.state = "refused"
        return Taken("refused", f"{type(error).__name__}: {error}", str(error))

    def _check(self) -> Taken:
        now = self.bench.table(self.table_name).metadata
        name = base_name(self.metadata_location)
        known = [now.metadata_location, *(e.metadata_file for e in now.metadata_log)]
        if any(base_name(k) == name for k in known):
            self.state = "committed"
            return Taken("committed", f"loads the table anew: {name} is in its metadata log, so the commit had gone in")
        self.state = "refused"
        return Taken(
            "refused",
            f"loads the table anew: {name} is not in its metadata log, so nothing was committed; pyiceberg gives up",
        )
