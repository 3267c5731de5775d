"""A pyiceberg writer that takes the steps of its commit one at a time."""

from __future__ import annotations

import queue
import threading
from typing import Any, Literal

import pyarrow as pa
from pyiceberg.exceptions import CommitFailedException, ValidationException

from explorer.errors import StatementFailed
from explorer.lab.planning import KEY, PARTITION, WritePlan, live_rows
from explorer.lab.pyiceberg_hooks import (
    THREADS,
    HookedCatalog,
    Point,
    before_apply,
    break_connection,
    pending_snapshots,
)
from explorer.lab.sandbox import CATALOG, NAMESPACE, Bench
from explorer.lab.writers import StepResult, Writer, look_at
from explorer.spec.commits.lab_runs import TABLE
from explorer.spec.commits.operations import Operation, State
from explorer.spec.text.names import base_name


class _Killed(BaseException):
    """Ends the thread of a paused writer."""


class PyicebergWriter(Writer):
    """pyiceberg's own append or delete, on a thread that waits before each step. pyiceberg checks the table's state
    (its requirements) before it writes metadata.json. So it finds a lost race there or at the swap. It validates when
    it tries again."""

    _catalog: HookedCatalog
    _transaction: Any = None

    def __init__(self, name: str, operation: Operation, bench: Bench, table_name: str) -> None:
        super().__init__(name, operation, bench, table_name)
        self._go = threading.Semaphore(0)
        self._reached: queue.Queue[tuple[State | Literal["error"], Any]] = queue.Queue()
        self._thread = threading.Thread(target=self._work, name=f"{THREADS}{self.name}", daemon=True)
        self._began = self._lose_answer = False

    def kill(self) -> None:
        super().kill()
        self._go.release()

    def _at(self, at: Point) -> None:
        if at != "answer":
            self._pause(at)
        elif self._lose_answer:
            break_connection()

    def _pause(self, at: State) -> None:
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
            loaded = self._catalog.load_table(f"{NAMESPACE}.{self.table_name}")
            self.table = self.bench.open_table(loaded.metadata_location)
            self.saw = [look_at(TABLE, self.table)]
            self._pause("write")
            self._transaction = transaction = loaded.transaction()
            before_apply(transaction, lambda: self._pause("apply"))
            if self.operation.kind == "append":
                row = {"id": KEY, "v": f"by {self.name}", "p": PARTITION}
                transaction.append(pa.Table.from_pylist([row], loaded.schema().as_arrow()))
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

    def take(self, lose_answer: bool = False) -> StepResult:
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
            raise StatementFailed(
                f"writer {self.name}: pyiceberg did not come to its next step in two minutes"
            ) from None
        if step == "apply":
            self.attempts += 1
        if at == "error":
            return self._handle_error(error)
        self.state = at
        if self._transaction is not None:
            self.applied = pending_snapshots(self._transaction) if at in ("metadata", "swap") else []
        if at == "committed":
            self.applied = []
            name = base_name(self._catalog.location)
            return StepResult(
                "committed", f"the catalog swaps for {name}" if step == "swap" else "there is nothing to commit"
            )
        return self._describe_step(step, at)

    def _describe_step(self, step: State, at: State) -> StepResult:
        assert self.table is not None
        if step == "load":
            return StepResult("ok", f"loads {base_name(self.table.metadata.metadata_location)} with pyiceberg")
        if step == "write":
            rows = live_rows(self.table)
            touched = list(dict.fromkeys(d.path for d, r in rows if r["id"] == KEY))
            self.plan = WritePlan(replaced=touched if self.operation.what.replaces else [])
            return StepResult("ok", "writes its data files")
        if step == "apply":
            return StepResult(
                "ok", ("validates, " if self.attempts > 1 else "") + "writes manifests and the manifest list"
            )
        if at == "apply":
            why = "its requirement on the branch does not hold" if step == "metadata" else "the swap is lost"
            return StepResult("lost", f"{why}: CommitFailedException; it will refresh, validate and apply again")
        self.base, self.metadata_location = "", self._catalog.location
        return StepResult(
            "ok",
            f"holds its requirements against the table as it is now, and writes {base_name(self.metadata_location)}",
        )

    def _handle_error(self, error: Exception) -> StepResult:
        self.applied = []
        if isinstance(error, TimeoutError):
            self.state = "check"
            return StepResult(
                "unknown", f"asks the catalog to swap; {error}: it cannot know whether it committed", str(error)
            )
        unable = "does not yet support" in str(error)  # such as equality deletes
        if not isinstance(error, (CommitFailedException, ValidationException)) and not unable:
            raise StatementFailed(f"writer {self.name}: pyiceberg: {type(error).__name__}: {error}") from error
        self.state = "refused"
        return StepResult("refused", f"{type(error).__name__}: {error}", str(error))

    def _check(self) -> StepResult:
        now = self.bench.table(self.table_name).metadata
        name = base_name(self.metadata_location)
        locations = [now.metadata_location, *(e.metadata_file for e in now.metadata_log)]
        if any(base_name(k) == name for k in locations):
            self.state = "committed"
            return StepResult(
                "committed", f"loads the table anew: {name} is in its metadata log, so the commit had gone in"
            )
        self.state = "refused"
        return StepResult(
            "refused",
            f"loads the table anew: {name} is not in its metadata log, so nothing was committed; pyiceberg gives up",
        )
