"""A Java writer that takes the steps of its commit one at a time, with Iceberg's own library."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from explorer.errors import StatementFailed
from explorer.lab import java as reflect
from explorer.lab.planning import WritePlan, plan_and_write
from explorer.lab.sandbox import Bench
from explorer.spec.commits.lab_runs import OTHER, TABLE, LaneView, WriterState
from explorer.spec.commits.operations import StepOutcome, state_after
from explorer.spec.text.names import base_name, snapshot_name, snapshot_ordinals
from explorer.spec.text.units import count
from explorer.table import Table

ATTEMPTS = 5


class StepResult(NamedTuple):
    """The result of a step. `outcome` is ok, committed, lost (the swap), unknown (no answer to the swap) or refused.
    `words` describes it, and `error` is the library's message."""

    outcome: StepOutcome
    words: str
    error: str = ""
    short: str = ""


def look_at(name: str, table: Table) -> LaneView:
    """Describe a table as a writer or reader loaded it."""
    at = table.metadata.current_snapshot_id
    return LaneView(name, at, snapshot_name(at, snapshot_ordinals(table.metadata)))


@dataclass
class Writer(WriterState):
    """A writer with its own copy of the table. `applied` are the snapshots that it has applied and not committed, as in
    metadata.json."""

    bench: Bench
    table_name: str
    table: Table | None = None
    plan: WritePlan | None = None
    applied: list[dict[str, Any]] = field(default_factory=list)
    base: str = ""
    metadata_location: str = ""

    def take(self, lose_answer: bool = False) -> StepResult:
        """Take the next step. With `lose_answer`, swap and then forget the answer."""
        raise NotImplementedError

    def kill(self) -> None:
        """Kill the writer; it cleans up nothing."""
        self.state = "killed"


class JavaWriter(Writer):
    """A writer whose steps are Iceberg's own code; only their order is ours. The swap is JdbcCatalog's conditional
    UPDATE."""

    _java: Any = None
    _snapshot: Any = None
    _base: Any = None
    _updated: Any = None

    def take(self, lose_answer: bool = False) -> StepResult:
        taken: StepResult = self._swap(lose_answer) if self.state == "swap" else getattr(self, f"_{self.state}")()
        self.state = state_after(self.state, taken.outcome)
        if taken.outcome in ("committed", "lost", "refused"):
            self.applied = []
        return taken

    def _load(self) -> StepResult:
        self._java = self.bench.load(self.table_name)
        location = str(self._java.operations().current().metadataFileLocation())
        self.table = self.bench.open_table(location)
        self.saw = [look_at(OTHER if self.operation.what.other else TABLE, self.table)]
        return StepResult("ok", f"loads {base_name(location)}, {count(len(self.table.metadata.snapshots), 'snapshot')}")

    def _write(self) -> StepResult:
        assert self.table is not None
        self.plan = plan_and_write(self.operation, self.name, self.table, self._java, self.bench.workshop)
        if not self.plan.added:
            return StepResult("ok", "has no file to write: it plans its change")
        replaced = f", replacing {len(self.plan.replaced)}" if self.plan.replaced else ""
        return StepResult("ok", f"writes {count(len(self.plan.added), 'data or delete file')}{replaced}")

    def _apply(self) -> StepResult:
        """Call SnapshotProducer.apply: refresh, validate against later commits, write manifests and the manifest
        list."""
        assert self.plan is not None
        pending, workshop = self.plan.pending, self.bench.workshop
        self.attempts += 1
        try:
            if self.plan.update is not None:
                self._base, self._updated, words = self.plan.update()
            else:
                self._snapshot = pending.apply()
                self._base = self._java.operations().current()
                self._updated = reflect.with_snapshot(workshop, self._base, self._snapshot)
                self.applied = [json.loads(str(workshop.jvm.org.apache.iceberg.SnapshotParser.toJson(self._snapshot)))]
                now = base_name(str(self._base.metadataFileLocation()))
                words = f"refreshes to {now}, validates, writes manifests and the manifest list"
        except Exception as error:
            return self._refuse(error)
        self.base = str(self._base.metadataFileLocation())
        return StepResult("ok", words)

    def _metadata(self) -> StepResult:
        self.metadata_location = reflect.write_metadata(
            self.bench.workshop, self._java.operations(), self._base, self._updated
        )
        return StepResult("ok", f"writes {base_name(self.metadata_location)}")

    def _swap(self, lose_answer: bool) -> StepResult:
        old, new = base_name(self.base), base_name(self.metadata_location)
        try:
            reflect.swap(self.bench.workshop, self._java.operations(), self.metadata_location, self.base)
        except Exception as error:
            kind, message = reflect.cause(error)
            if not kind.endswith("CommitFailedException"):
                raise StatementFailed(f"writer {self.name}: {kind}: {message}") from error
            return self._report_missing_answer() if lose_answer else self._lose_swap(old, message)
        return self._report_missing_answer() if lose_answer else self._finish(f"the catalog swaps {old} for {new}")

    def _report_missing_answer(self) -> StepResult:
        return StepResult(
            "unknown", "asks the catalog to swap, and the connection breaks before the answer: commit state unknown"
        )

    def _check(self) -> StepResult:
        operations = self._java.operations()
        status = str(
            reflect.call(self.bench.workshop, operations, "checkCommitStatusStrict", self.metadata_location, self._base)
        )
        name = base_name(self.metadata_location)
        if status == "SUCCESS":
            return self._finish(f"looks in the table's metadata log: {name} is there, so the commit had gone in")
        return self._lose_swap(name, f"{name} is not in the table's metadata log: {status}")

    def _finish(self, words: str) -> StepResult:
        assert self.plan is not None
        self._java.refresh()
        if self.operation.what.removes_files:
            reflect.call(self.bench.workshop, self.plan.pending, "cleanExpiredSnapshots")
        elif self.operation.what.makes_snapshot:
            reflect.clean_up(
                self.bench.workshop, self._java.operations(), self.plan.pending, self._snapshot.snapshotId()
            )
        return StepResult("committed", words)

    def _lose_swap(self, old: str, message: str) -> StepResult:
        if not self.operation.what.retried:
            words = "the swap is lost, and Iceberg does not retry a change of schema or spec: CommitFailedException"
            return StepResult("refused", words, message)
        if self.attempts >= ATTEMPTS:
            return StepResult("refused", f"gives up after {self.attempts} attempts", message)
        words = f"loses the swap, since the catalog no longer points to {old}; it will refresh and apply again"
        return StepResult("lost", words, message)

    def _refuse(self, error: Exception) -> StepResult:
        kind, message = reflect.cause(error)
        if not kind.endswith(("ValidationException", "IllegalArgumentException")):
            raise StatementFailed(f"writer {self.name}: {kind}: {message}") from error
        assert self.plan is not None
        if self.operation.what.makes_snapshot:
            reflect.call(self.bench.workshop, self.plan.pending, "cleanAll")
        return StepResult(
            "refused",
            f"{kind.rsplit('.', 1)[-1]}: {_FILE.sub(lambda match: base_name(match.group(1)), message)}",
            message,
        )


_FILE = re.compile(r"Generic(?:Data|Delete)File\{.{0,1000}?file_path=([^,]{1,2000}),.{0,9000}\}")
"""A file in Iceberg's messages, which print all its fields."""
