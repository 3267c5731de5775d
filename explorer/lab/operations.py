"""What a writer of the lab does: plan against the table it loaded, write real files, and stage a real operation of
Iceberg's Java API with the validations that Spark sets (Flink for equality deletes), or with those a person chose."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from explorer.core.values import partition_path
from explorer.errors import NotFoundInTable
from explorer.io.rows import read_schema
from explorer.scenarios.workshop import Workshop
from explorer.table import Table

KEY, PARTITION = 1, "a"
"""Operations on rows are about the rows with this id, operations on partitions about this one."""
ISOLATION = ("serializable", "snapshot")
ENGINES = ("java", "pyiceberg")

PROTECTS: Mapping[str, str] = {
    "validateFromSnapshot": (
        "looks only at commits made after the snapshot that was read; without it, at the whole history"
    ),
    "conflictDetectionFilter": "counts only files that may hold rows of the condition; without it, every file",
    "validateNoConflictingData": "refuses when rows that the condition matches were added meanwhile: write skew",
    "validateNoConflictingDataFiles": (
        "refuses when rows that the condition matches were added meanwhile: write skew, a lost update"
    ),
    "validateNoConflictingDeletes": (
        "refuses when rows of a file that is replaced were deleted meanwhile: they would be resurrected"
    ),
    "validateNoConflictingDeleteFiles": (
        "refuses when rows of the condition were deleted or updated meanwhile: a lost update"
    ),
    "validateDataFilesExist": (
        "refuses when a data file that its deletes point to was rewritten: the deletes would hit nothing"
    ),
    "validateDeletedFiles": (
        "counts a data file removed by a DELETE as missing too; without it only rewrites and overwrites"
    ),
    "validateFilesExist": "refuses when a file to delete is not there any more",
    "dataSequenceNumber": (
        "rewritten rows keep their sequence number: equality deletes committed meanwhile still hit them"
    ),
}
"""Each validation, by its name in Iceberg's API, and what it protects from."""
_SINCE = ("validateFromSnapshot", "conflictDetectionFilter")
_DELTA = (
    "validateDataFilesExist",
    "validateDeletedFiles",
    "validateNoConflictingDataFiles",
    "validateNoConflictingDeleteFiles",
)


@dataclass(frozen=True)
class Kind:
    """An operation: in words, the method of Table that makes it, the validations its engine always sets, those it sets
    under serializable isolation also, and others that its API offers."""

    words: str
    api: str
    always: tuple[str, ...] = ()
    serializable: tuple[str, ...] = ()
    more: tuple[str, ...] = ()
    engines: tuple[str, ...] = ("java",)

    @property
    def offered(self) -> tuple[str, ...]:
        """Every validation that may be set on it, in the order of PROTECTS."""
        return tuple(v for v in PROTECTS if v in {*self.always, *self.serializable, *self.more})


_COW = ((*_SINCE, "validateNoConflictingDeletes"), ("validateNoConflictingData",))
_MOR_DELETE = (*_SINCE, "validateDataFilesExist")
_OVERWRITE = (("validateFromSnapshot", "validateNoConflictingDeletes"), ("validateNoConflictingData",))
KINDS: Mapping[str, Kind] = {
    "append": Kind("INSERT a row with id 1", "newAppend", engines=ENGINES),
    "cow-update": Kind("UPDATE WHERE id = 1, copy-on-write", "newOverwrite", *_COW),
    "cow-delete": Kind("DELETE WHERE id = 1, copy-on-write", "newOverwrite", *_COW, engines=ENGINES),
    "mor-update": Kind(
        "UPDATE WHERE id = 1, merge-on-read",
        "newRowDelta",
        (*_SINCE, *_DELTA[:2], _DELTA[3]),
        ("validateNoConflictingDataFiles",),
    ),
    "mor-delete": Kind(
        "DELETE WHERE id = 1, merge-on-read", "newRowDelta", _MOR_DELETE, ("validateNoConflictingDataFiles",), _DELTA
    ),
    "equality-delete": Kind("delete id 1 by value (Flink)", "newRowDelta", more=(*_SINCE, *_DELTA[2:])),
    "compaction": Kind(
        "rewrite the data files of partition a into one", "newRewrite", ("validateFromSnapshot", "dataSequenceNumber")
    ),
    "replace-partitions": Kind("INSERT OVERWRITE partition a, dynamic", "newReplacePartitions", *_OVERWRITE),
    "fast-append": Kind("INSERT a row with id 1, fast append", "newFastAppend"),
    "delete-files": Kind("delete the data files of partition a", "newDelete", more=("validateFilesExist",)),
    "overwrite-filter": Kind(
        "INSERT OVERWRITE WHERE p = 'a'", "newOverwrite", *_OVERWRITE, more=("conflictDetectionFilter",)
    ),
    "rewrite-manifests": Kind("rewrite the manifests into one", "rewriteManifests"),
    "add-column": Kind("ALTER TABLE ADD COLUMN", "updateSchema"),
    "evolve-spec": Kind("ALTER TABLE ADD PARTITION FIELD id", "updateSpec"),
    "expire": Kind("expire all snapshots but the last", "expireSnapshots"),
}
"""Every operation of the lab."""
METADATA_ONLY = ("add-column", "evolve-spec", "expire")
"""They make no snapshot."""
CATALOGUED = tuple(KINDS)[:8]
"""The operations whose pairs docs/concurrency.md lists."""


@dataclass(frozen=True)
class Operation:
    """One writer's intention. `isolation` decides which validations the engine sets, unless `chosen` says them one by
    one."""

    kind: str
    isolation: str = "serializable"
    engine: str = "java"
    chosen: tuple[str, ...] | None = None

    def check(self) -> None:
        """Raises NotFoundInTable for what there is not."""
        if self.kind not in KINDS or self.isolation not in ISOLATION:
            raise NotFoundInTable(
                f"no operation {self.kind!r} with isolation {self.isolation!r}: there are {', '.join(KINDS)}"
            )
        if self.engine not in KINDS[self.kind].engines:
            raise NotFoundInTable(
                f"no {self.kind} by {self.engine!r}: it is done by {' or '.join(KINDS[self.kind].engines)}"
            )
        offered = KINDS[self.kind].offered if self.engine == "java" else ()
        if unknown := set(self.chosen or ()) - set(offered):
            raise NotFoundInTable(
                f"{self.kind} has no validation {sorted(unknown)[0]!r}: there are {', '.join(offered) or 'none'}"
            )

    @property
    def validations(self) -> tuple[str, ...]:
        """The validations that are set on it, by the names of Iceberg's API."""
        kind = KINDS[self.kind]
        if self.chosen is not None:
            return self.chosen
        wanted = {*kind.always, *(kind.serializable if self.isolation == "serializable" else ())}
        return tuple(v for v in PROTECTS if v in wanted)

    def __str__(self) -> str:
        by = " by pyiceberg" if self.engine == "pyiceberg" else ""
        if self.chosen is not None:
            return f"{self.kind}{by}, with {', '.join(self.chosen) or 'no validations'}"
        return f"{self.kind}{by}" + (f", {self.isolation}" if KINDS[self.kind].serializable else "")


@dataclass
class Plan:
    """What a writer found in the snapshot it loaded, and the files it wrote: paths that it replaces, refers to, and
    adds."""

    replaced: list[str] = field(default_factory=list)
    referenced: list[str] = field(default_factory=list)
    added: list[str] = field(default_factory=list)
    pending: Any = None


def live_rows(table: Table) -> list[tuple[Any, Mapping[str, Any]]]:
    """(data file, row with _pos) for every row that a reader sees."""
    at = table.metadata.current_snapshot
    found = table.row_reader.applicability(at)
    schema = read_schema(table.metadata, at.schema_id if at else None)
    return [
        (data, row) for data in found.data for row in table.row_reader.live(data, found.of(data), schema).to_pylist()
    ]


def rows_of(table: Table) -> list[tuple[int, str, str]]:
    """The rows that a reader sees, sorted."""
    return sorted((r["id"], r["v"], r["p"]) for _, r in live_rows(table))


def stage(operation: Operation, writer: str, table: Table, java: Any, workshop: Workshop) -> Plan:
    """Plan the operation against `table` (as loaded, beside its Java twin), write its data and delete files, and build
    the pending update with its validations. Nothing is committed."""
    return _Staging(operation, writer, table, java, workshop).plan()


class _Staging:
    def __init__(self, operation: Operation, writer: str, table: Table, java: Any, workshop: Workshop) -> None:
        self.operation, self.writer, self.table, self.java, self.workshop = operation, writer, table, java, workshop
        self.checks = operation.validations
        self.jvm = workshop.jvm
        self.rows = live_rows(table)
        self.by_path = {data.path: data for data, _ in self.rows}
        self.matching = [(data, row) for data, row in self.rows if row["id"] == KEY]
        self.touched = list(dict.fromkeys(data.path for data, _ in self.matching))
        self.of_partition = [path for path in self.by_path if self.where(path).split("/")[0] == f"p={PARTITION}"]
        self.added: list[str] = []

    def plan(self) -> Plan:
        kind = KINDS[self.operation.kind]
        pending = getattr(self.java, kind.api)()
        found: Plan = getattr(self, self.operation.kind.replace("-", "_"))(pending)
        found.added, found.pending = self.added, pending
        return found

    # -- helpers ------------------------------------------------------------------------------------------------------
    def where(self, path: str) -> str:
        data = self.by_path[path]
        return partition_path(data.partition, self.table.metadata.spec(data.spec_id), self.table.metadata)

    def name(self, what: str) -> str:
        return f"{self.writer}-{what}-{uuid.uuid4().hex[:6]}.parquet"

    def write(self, rows: Sequence[Mapping[str, Any]]) -> list[Any]:
        """Data files, one for each partition of the rows by the table's spec as it was loaded; all its fields are
        identities."""
        spec = self.table.metadata.spec(self.table.metadata.default_spec_id)
        groups: dict[str, list[Mapping[str, Any]]] = {}
        for row in rows:
            groups.setdefault("/".join(f"{f.name}={row[f.name]}" for f in (spec.fields if spec else ())), []).append(
                row
            )
        made = [self.workshop.data_file(self.java, self.name("data"), group, place) for place, group in groups.items()]
        self.added += [str(file.location()) for file in made]
        return made

    def add(self, pending: Any, rows: Sequence[Mapping[str, Any]], method: str = "addFile") -> None:
        for file in self.write(rows):
            getattr(pending, method)(file)

    def changed(self, row: Mapping[str, Any]) -> dict[str, Any]:
        return _plain(row) | {"v": f"{row['v']}+{self.writer}"}

    @cached_property
    def tasks(self) -> dict[str, tuple[Any, list[Any]]]:
        """Iceberg's own objects for the live data files, each with the delete files that apply to it."""
        found = {}
        tasks = self.java.newScan().planFiles()
        iterator = tasks.iterator()
        while iterator.hasNext():
            task = iterator.next()
            found[str(task.file().location())] = (task.file(), list(task.deletes()))
        tasks.close()
        return found

    def file(self, path: str) -> Any:
        return self.tasks[path][0]

    def equal(self, column: str, value: Any) -> Any:
        return self.jvm.org.apache.iceberg.expressions.Expressions.equal(column, value)

    def validate(self, pending: Any, condition: Any = None) -> None:
        """Set the validations that are wanted."""
        for check in self.checks:
            if check == "validateFromSnapshot":
                pending.validateFromSnapshot(self.table.metadata.current_snapshot_id)
            elif check == "conflictDetectionFilter":
                pending.conflictDetectionFilter(condition)
            elif check == "validateDataFilesExist":
                pending.validateDataFilesExist(self.collection("ArrayList", self.touched))
            elif check != "dataSequenceNumber":
                getattr(pending, check)()

    def collection(self, kind: str, items: Iterable[Any]) -> Any:
        made = getattr(self.jvm.java.util, kind)()
        for item in items:
            made.add(item)
        return made

    # -- the operations -----------------------------------------------------------------------------------------------
    def append(self, pending: Any) -> Plan:
        self.add(pending, [{"id": KEY, "v": f"by {self.writer}", "p": PARTITION}], "appendFile")
        return Plan()

    fast_append = append

    def cow_delete(self, pending: Any, update: bool = False) -> Plan:
        for path in self.touched:
            kept = [_plain(r) for d, r in self.rows if d.path == path and r["id"] != KEY]
            kept += [self.changed(r) for d, r in self.matching if d.path == path and update]
            pending.deleteFile(self.file(path))
            self.add(pending, kept)
        self.validate(pending, self.equal("id", KEY))
        return Plan(replaced=self.touched)

    def cow_update(self, pending: Any) -> Plan:
        return self.cow_delete(pending, update=True)

    def mor_delete(self, pending: Any, update: bool = False) -> Plan:
        vectors = self.table.metadata.format_version >= 3
        for path in self.touched:
            positions = sorted(r["_pos"] for d, r in self.matching if d.path == path)
            if vectors:
                self.vector(pending, path, positions)
            else:
                places = [(path, position) for position in positions]
                made = self.workshop.position_delete_file(self.java, self.name("deletes"), places, of=self.file(path))
                self.added.append(str(made.location()))
                pending.addDeletes(made)
            if update:
                self.add(pending, [self.changed(r) for d, r in self.matching if d.path == path], "addRows")
        self.validate(pending, self.equal("id", KEY))
        return Plan(referenced=self.touched)

    def mor_update(self, pending: Any) -> Plan:
        return self.mor_delete(pending, update=True)

    def vector(self, pending: Any, path: str, positions: Sequence[int]) -> None:
        """A deletion vector in place of the one that is there: a data file has at most one (spec: "Deletion
        Vectors")."""
        file, old = self.file(path), self.tasks[path][1]
        live = {r["_pos"] for d, r in self.rows if d.path == path}
        gone = set(range(self.by_path[path].record_count)) - live
        for made in self.workshop.vectors(
            self.java, f"{self.writer}-vector-{uuid.uuid4().hex[:6]}", file, sorted(gone | set(positions))
        ):
            self.added.append(str(made.location()))
            pending.addDeletes(made)
        for vector in old:
            pending.removeDeletes(vector)

    def equality_delete(self, pending: Any) -> Plan:
        spec = self.table.metadata.spec(self.table.metadata.default_spec_id)
        place = "/".join(f"{f.name}={PARTITION if f.name == 'p' else KEY}" for f in (spec.fields if spec else ()))
        made = self.workshop.equality_delete_file(self.java, self.name("deletes"), [{"id": KEY}], place)
        self.added.append(str(made.location()))
        pending.addDeletes(made)
        self.validate(pending, self.equal("id", KEY))
        return Plan()

    def compaction(self, pending: Any) -> Plan:
        rows = [_plain(r) for d, r in self.rows if d.path in self.of_partition]
        for path in self.of_partition:
            pending.deleteFile(self.file(path))
        self.add(pending, rows)
        if "dataSequenceNumber" in self.checks:
            pending.dataSequenceNumber(self.table.metadata.last_sequence_number)
        self.validate(pending)
        return Plan(replaced=self.of_partition)

    def replace_partitions(self, pending: Any) -> Plan:
        self.add(pending, [{"id": 7, "v": f"by {self.writer}", "p": PARTITION}])
        self.validate(pending)
        return Plan()

    def overwrite_filter(self, pending: Any) -> Plan:
        condition = self.equal("p", PARTITION)
        self.add(pending.overwriteByRowFilter(condition), [{"id": 7, "v": f"by {self.writer}", "p": PARTITION}])
        self.validate(pending, condition)
        return Plan()

    def delete_files(self, pending: Any) -> Plan:
        for path in self.of_partition:
            pending.deleteFile(self.file(path))
        self.validate(pending)
        return Plan(replaced=self.of_partition)

    def rewrite_manifests(self, pending: Any) -> Plan:
        pending.clusterBy(self.jvm.com.google.common.base.Functions.constant("all"))
        return Plan()

    def add_column(self, pending: Any) -> Plan:
        pending.addColumn(
            f"note_{self.writer.lower()}", getattr(self.jvm.org.apache.iceberg.types, "Types$StringType").get()
        )
        return Plan()

    def evolve_spec(self, pending: Any) -> Plan:
        spec = self.table.metadata.spec(self.table.metadata.default_spec_id)
        there = any(f.name == "id" for f in (spec.fields if spec else ()))
        (pending.removeField if there else pending.addField)("id")  # the second of two takes it away again
        return Plan()

    def expire(self, pending: Any) -> Plan:
        pending.expireOlderThan(1 << 62).retainLast(1)
        return Plan()


def _plain(row: Mapping[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in row.items() if k in ("id", "v", "p")}
