"""A reader that takes the steps of its query one at a time: it loads a table, plans with Iceberg's planFiles, and reads
the planned files."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import replace

from explorer.errors import StatementFailed, UnreadableFile
from explorer.lab import java as reflect
from explorer.lab.sandbox import Bench
from explorer.lab.writers import StepResult, Writer, look_at
from explorer.spec.commits.lab_runs import OTHER, TABLE, LabRow
from explorer.spec.commits.operations import READ_STEPS, Operation
from explorer.spec.deletes.deletes import DeleteVerdict
from explorer.spec.entries.live_files import LiveFile
from explorer.spec.text.names import base_name
from explorer.spec.text.units import count
from explorer.storage.rows import read_schema
from explorer.table import Table


class _Scan:
    """One loaded table of a query. Its files are those of the loaded snapshot, whatever is committed later."""

    def __init__(self, bench: Bench, table_name: str) -> None:
        self._java = bench.load(table_name)
        self.table: Table = bench.open_table(str(self._java.operations().current().metadataFileLocation()))
        self._planned: list[tuple[LiveFile, list[DeleteVerdict]]] = []

    def plan(self) -> list[str]:
        """Plan with Iceberg's planFiles, pinned to the snapshot; return the data files, sorted because their order
        varies."""
        at = self.table.metadata.current_snapshot
        assert at is not None
        tasks = self._java.newScan().useSnapshot(at.snapshot_id).planFiles()
        iterator, paths = tasks.iterator(), []
        while iterator.hasNext():
            paths.append(str(iterator.next().file().location()))
        tasks.close()
        paths.sort()
        files = self.table.row_reader.applicability(at)
        by_path = {data.path: data for data in files.data}
        self._planned = [(by_path[path], files.of(by_path[path])) for path in paths]
        return paths

    def read(self) -> Iterator[LabRow]:
        """Read the rows of the planned files. Raises UnreadableFile."""
        at = self.table.metadata.current_snapshot
        schema = read_schema(self.table.metadata, at.schema_id if at else None)
        for data, deletes in self._planned:
            for row in self.table.row_reader.live(data, deletes, schema).to_pylist():
                yield row["id"], row["v"], row["p"]


class Reader(Writer):
    """A query of the run's table, or of both tables. It asks the catalog once per table. No step waits for a writer."""

    def __init__(self, name: str, operation: Operation, bench: Bench, table_name: str, other: str = "") -> None:
        super().__init__(name, operation, bench, table_name)
        self._other = other
        self._scans: list[_Scan] = []

    def take(self, lose_answer: bool = False) -> StepResult:
        steps = [step for step in READ_STEPS if step != "other" or self._other]
        doing: dict[str, Callable[[], StepResult]] = {
            "load": self._load, "plan": self._plan, "other": self._load_other, "read": self._read
        }  # fmt: skip
        try:
            with _translate_missing_file():
                taken = doing[self.state]()
        except UnreadableFile as error:
            self.state = "failed"
            gone = base_name(error.path)
            of = next((s for s in self.saw if gone in map(base_name, s.files)), self.saw[-1])
            words = f"{gone} of {of.snapshot} of {of.table} is gone: who removed it did not know of this reader"
            return StepResult("failed", words, str(error), f"{gone} is gone")
        at = steps.index(self.state)  # type: ignore[arg-type]
        self.state = "answered" if self.state == "read" else steps[at + 1]
        return taken

    def _load_table(self, table_name: str, called: str) -> str:
        self._scans.append(scan := _Scan(self.bench, table_name))
        self.saw.append(look_at(called, scan.table))
        self.table = self._scans[0].table
        return f"loads {base_name(scan.table.metadata.metadata_location)} of {called}: it will read "

    def _load(self) -> StepResult:
        action = self._load_table(self.table_name, TABLE)
        return StepResult("ok", action + self.saw[-1].snapshot, short=self.saw[-1].snapshot)

    def _plan(self) -> StepResult:
        paths = self._scans[-1].plan()
        self.saw[-1] = replace(self.saw[-1], files=tuple(paths))
        words = f"plans {self.saw[-1].snapshot} of {self.saw[-1].table}: {', '.join(map(base_name, paths))}"
        return StepResult("ok", words, short=count(len(paths), "file"))

    def _load_other(self) -> StepResult:
        action = self._load_table(self._other, OTHER)
        return StepResult("ok", f"{action}{self.saw[-1].snapshot}; {self._plan().words}", short=self.saw[-1].snapshot)

    def _read(self) -> StepResult:
        for i, scan in enumerate(self._scans):
            self.saw[i] = replace(self.saw[i], rows=tuple(sorted(scan.read())))
        row_counts = "; ".join(f"{count(len(s.rows or ()), 'row')} of {s.snapshot} of {s.table}" for s in self.saw)
        return StepResult(
            "answered", f"reads {row_counts}", short=" and ".join(count(len(s.rows or ()), "row") for s in self.saw)
        )


@contextlib.contextmanager
def _translate_missing_file() -> Iterator[None]:
    """Raise UnreadableFile if Iceberg does not find a file."""
    try:
        yield
    except UnreadableFile:
        raise
    except Exception as error:
        kind, message = reflect.cause(error)
        path = message.rpartition(": ")[2] if kind.endswith("NotFoundException") else ""
        if not path:
            raise StatementFailed(f"a reader: {kind}: {message}") from error
        raise UnreadableFile(path, message) from error
