"""Writers that commit to one table, and readers of it. Each takes its next step (STEPS and READ_STEPS of
spec.commits.operations) only on request. A writer can be killed, or lose the answer to its swap."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

import pyarrow.compute as pc

from explorer.errors import ExplorerError, NotFoundInTable, NotPossible
from explorer.graph.graph import Graph
from explorer.graph.uncommitted import Loose, Uncommitted, kind_of, overlay
from explorer.lab.planning import rows_of
from explorer.lab.pyiceberg_writer import PyicebergWriter
from explorer.lab.readers import Reader
from explorer.lab.sandbox import Bench
from explorer.lab.writers import JavaWriter, Writer
from explorer.progress import steps
from explorer.queries.orphans import files_in_metadata
from explorer.spec.commits.lab_runs import Event
from explorer.spec.commits.operations import Operation, State, StepOutcome
from explorer.table import Table

NAMES = "ABCDEFG"
VERSIONS = (2, 3)


class Run:
    """Writers and readers on one fresh table of a format version. If an operation needs two tables, `other` is the
    second."""

    def __init__(self, bench: Bench, operations: Sequence[Operation], version: int = 2) -> None:
        for operation in operations:
            operation.check()
        if version not in VERSIONS or not 1 <= len(operations) <= len(NAMES):
            raise NotFoundInTable(
                f"a run takes 1 to {len(NAMES)} operations, on format version {' or '.join(map(str, VERSIONS))}"
            )
        if version == 3 and any(o.engine == "pyiceberg" for o in operations):
            raise NotFoundInTable("pyiceberg 0.12 does not write tables of format version 3")
        own = any(o.what.removes_files for o in operations)
        levels = [
            o.isolation for o in operations if o.engine == "pyiceberg"
        ]  # pyiceberg reads it from the table's properties
        by_property = {"write.delete.isolation-level": levels[-1]} if levels else None
        self.bench, self.version, self.name = bench, version, bench.fresh(version, own, by_property)
        self.other = bench.fresh(version) if any(o.what.other for o in operations) else ""
        self.writers = [self._new(NAMES[i], operation) for i, operation in enumerate(operations)]
        self.events: list[Event] = []
        self.folder = Path(str(bench.load(self.name).location()).removeprefix("file:"))
        self._seen = self._files()

    def _new(self, name: str, operation: Operation) -> Writer:
        """A writer of the operation's engine, or a reader."""
        if operation.what.reads:
            return Reader(name, operation, self.bench, self.name, self.other if operation.what.other else "")
        writer_class = PyicebergWriter if operation.engine == "pyiceberg" else JavaWriter
        return writer_class(name, operation, self.bench, self.other if operation.what.other else self.name)

    def _files(self) -> dict[str, int]:
        """The files of the run's tables; those of the other table are below its name."""
        there = _files_below(self.folder)
        if self.other:
            other = _files_below(self.folder.parent / self.other)
            there |= {f"../{self.other}/{path}": at for path, at in other.items()}
        return there

    def writer(self, name: str) -> Writer:
        """The writer of a name: A, B... Raises NotFoundInTable."""
        for writer in self.writers:
            if writer.name == name:
                return writer
        raise NotFoundInTable(f"no writer {name!r}: there are {', '.join(w.name for w in self.writers)}")

    def step(self, token: str) -> Event:
        """Let a writer take its next step, or meet a fault (see Event.token). Raises NotPossible if it has no step
        left, or if the fault is not possible at its step."""
        writer, fault = self.writer(token[:1]), token[1:]
        if writer.over:
            raise NotPossible(f"writer {writer.name} is {writer.state}: it has no step left")
        if (
            (fault == "?" and writer.state != "swap")
            or (fault == "+" and writer.state != "check")
            or fault not in ("", "!", "?", "+")
        ):
            raise NotPossible(f"{token} cannot come now: writer {writer.name} is before its step {writer.state}")
        if fault == "!":
            writer.kill()
            event = self._event(writer, "kill", "killed", "is killed: it removes nothing of what it wrote")
        elif fault == "+":
            self.writers[self.writers.index(writer)] = again = self._new(writer.name, writer.operation)
            again.left_behind = writer.left_behind
            event = self._event(
                again, "again", "ok", "takes the missing answer for a failure, and begins again without looking"
            )
        else:
            step = writer.state
            taken = writer.take(lose_answer=fault == "?")
            event = self._event(writer, step, taken.outcome, taken.words, taken.error, taken.short)
        self.events.append(event)
        return event

    def _event(
        self, writer: Writer, step: State | Literal["kill", "again"], outcome: StepOutcome, words: str, error: str = "",
        short: str = "",
    ) -> Event:  # fmt: skip
        now = self._files()
        new = sorted(now.keys() - self._seen.keys(), key=lambda p: (now[p], p))
        gone = tuple(sorted(self._seen.keys() - now.keys()))
        self._seen = now
        writer.left_behind += new
        kept = self._reachable(self.bench.table(writer.table_name)) if writer.over else set()
        writer.left_behind = [f for f in writer.left_behind if f in now and f not in kept]
        return Event(len(self.events) + 1, writer.name, step, outcome, words, tuple(new), error, gone, short)

    def table(self) -> Table:
        """Open the current table."""
        return self.bench.table(self.name)

    def table_with_uncommitted_work(self, now: Table | None = None) -> tuple[Table, Uncommitted]:
        """The current table together with the snapshots that writers have applied, and a list of everything that
        writers have written and that is not in the current table. After a lost answer, an applied snapshot may be in
        the current table already."""
        now, prefix = now or self.table(), f"file:{self.folder}/"
        writers = [w for w in self.writers if w.table_name == self.name]
        applied = {
            w.name: [s for s in w.applied if now.metadata.snapshot(int(s["snapshot-id"])) is None] for w in writers
        }
        every = [s for snapshots in applied.values() for s in snapshots]
        table = self.bench.open_table(now.metadata.metadata_location, every)
        written_by = {int(s["snapshot-id"]): name for name, snapshots in applied.items() for s in snapshots}
        paths: dict[str, str] = {}
        for snapshot_id, writer in written_by.items():
            wrote = [
                m
                for m in table.tree.manifests(table.metadata.snapshot(snapshot_id))
                if m.added_snapshot_id == snapshot_id
            ]
            for manifest, entries in table.tree.stored_entries(wrote):
                paths[manifest.manifest_path] = writer
                added = entries.filter(pc.equal(entries["status"], 1))["file_path"].to_pylist()
                paths.update((str(path), writer) for path in added)
        lists = {str(s["manifest-list"]) for s in every}
        kept = {f"{prefix}{path}" for path in self._reachable(now)}
        loose = []
        for w in writers:
            deletes = next((a for a in w.operation.what.adds if a != "data_file"), "position_deletes")
            for path in (prefix + f for f in w.left_behind):
                if path in paths or path in lists or path in kept:
                    continue
                waits = (path == w.metadata_location and w.state in ("swap", "check")) or not (
                    w.applied or path.endswith((".json", ".avro"))
                )
                mark = "staged" if waits and not w.over else "orphan"
                loose.append(Loose(path, kind_of(path, deletes), w.name, mark))
        return table, Uncommitted(written_by, paths, tuple(loose), {w.name for w in self.writers if w.over})

    def graph(self) -> Graph:
        """The metadata tree of the current table, with the uncommitted work of writers."""
        table, staged = self.table_with_uncommitted_work()
        return overlay(table.graph(), staged)

    def _reachable(self, now: Table) -> set[str]:
        named = (path.removeprefix("file://").removeprefix("file:") for path in files_in_metadata(now.tree))
        other = f"{self.folder.parent / self.other}/" if self.other else f"{self.folder}/"
        short = {f"{self.folder}/": "", other: f"../{self.other}/" if self.other else ""}
        return {path.replace(folder, name) for path in named for folder, name in short.items() if folder in path}

    # -- whole runs ---------------------------------------------------------------------------------------------------
    def play(self, order: str) -> list[Event]:
        """Let writers take steps in an order such as `AABB!` (see Event.token); skip writers that are over. Afterwards
        all writers run to their end, in turn."""
        for token in re.findall(r"\S[!?+]?", order):
            if not self.writer(token[0]).over:
                self.step(token)
        while rest := [w.name for w in self.writers if not w.over]:
            self.step(rest[0])
        return self.events

    def rows(self) -> list[tuple[int, str, str]]:
        """The visible rows of the current table, sorted."""
        return rows_of(self.table())

    def to_json(self) -> str:
        """The run as JSON, which `replay` can play again."""
        operations = [asdict(w.operation) for w in self.writers]
        events = [asdict(e) for e in self.events]
        return json.dumps(
            {
                "version": self.version,
                "operations": operations,
                "order": [e.token for e in self.events],
                "events": events,
            }
        )

    def close(self) -> None:
        """Kill the writers that are not over, and drop the table."""
        for writer in self.writers:
            if not writer.over:
                writer.kill()
        for name in filter(None, (self.name, self.other)):
            self.bench.drop(name)


@dataclass(frozen=True)
class SavedSteps:
    """What a saved run says: its operations, the steps in their order, and the format version of its table."""

    operations: tuple[Operation, ...]
    order: tuple[str, ...]
    version: int


def read_saved_run(saved: str) -> SavedSteps:
    """Read the text that `Run.to_json` writes. Raises NotFoundInTable, and NotPossible for a run on a folder."""
    try:
        data = json.loads(saved)
        if "folder" in data:
            raise NotPossible("this run is one on a folder: `icedive lab run --replay` plays it")
        operations = []
        for o in data["operations"]:
            chosen = o.get("chosen")
            operations.append(
                Operation(
                    str(o["kind"]),
                    str(o["isolation"]),
                    str(o.get("engine", "java")),
                    tuple(chosen) if chosen is not None else None,
                )
            )
        return SavedSteps(tuple(operations), tuple(str(name) for name in data["order"]), int(data.get("version", 2)))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, OverflowError) as error:
        raise NotFoundInTable(f"not a saved run: {error}") from error


def replay(bench: Bench, saved: str) -> Run:
    """Play a saved run again on a fresh table: the same steps of the same operations in the same order. Raises as
    `read_saved_run` does."""
    told = read_saved_run(saved)
    run = Run(bench, told.operations, told.version)
    try:
        for token in steps(told.order, "steps"):
            run.step(token)
    except ExplorerError:
        run.close()
        raise
    return run


def _files_below(folder: Path) -> dict[str, int]:
    """The files of a folder, by their path in it, with their modification times in ns."""
    return {
        str(p.relative_to(folder)): p.stat().st_mtime_ns
        for p in folder.rglob("*")
        if p.is_file() and p.suffix != ".crc"
    }
