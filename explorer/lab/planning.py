"""Carry out the operations of spec.commits.operations. Each method plans against the loaded table, writes real files,
and builds an operation of Iceberg's Java API. Its validations are those that Spark sets (Flink for equality deletes),
or those that a person chose."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from explorer.lab import java as reflect
from explorer.lab.scenarios.workshop import Workshop
from explorer.spec.commits.operations import Operation
from explorer.spec.text.names import base_name
from explorer.spec.text.units import count
from explorer.spec.values.values import partition_path
from explorer.storage.rows import read_schema
from explorer.table import Table

KEY, PARTITION = 1, "a"
"""Operations on rows are about the rows with this id, operations on partitions about this one."""
MERGED = (KEY, 4)
"""The ids of a MERGE's source: a row that is there, and one that is not."""


@dataclass
class WritePlan:
    """What a writer planned: the paths of files that it replaces, refers to, and added. `pending` is Iceberg's pending
    update. If an operation changes only metadata, `update` applies it; it returns the base metadata, the metadata to
    write, and a description."""

    replaced: list[str] = field(default_factory=list)
    referenced: list[str] = field(default_factory=list)
    added: list[str] = field(default_factory=list)
    pending: Any = None
    update: Callable[[], tuple[Any, Any, str]] | None = None


def live_rows(table: Table) -> list[tuple[Any, Mapping[str, Any]]]:
    """The visible rows, each as (data file, row with _pos)."""
    at = table.metadata.current_snapshot
    files = table.row_reader.applicability(at)
    schema = read_schema(table.metadata, at.schema_id if at else None)
    return [
        (data, row) for data in files.data for row in table.row_reader.live(data, files.of(data), schema).to_pylist()
    ]


def rows_of(table: Table) -> list[tuple[int, str, str]]:
    """The visible rows, sorted."""
    return sorted((r["id"], r["v"], r["p"]) for _, r in live_rows(table))


def plan_and_write(operation: Operation, writer: str, table: Table, java: Any, workshop: Workshop) -> WritePlan:
    """Plan an operation, write its data and delete files, and build the pending update with its validations. `table`
    and `java` are the same loaded table. Nothing is committed."""
    return _Planner(operation, writer, table, java, workshop).plan()


class _Planner:
    def __init__(self, operation: Operation, writer: str, table: Table, java: Any, workshop: Workshop) -> None:
        self.operation, self.writer, self.table, self.java, self.workshop = operation, writer, table, java, workshop
        self.checks = operation.validations
        self.jvm = workshop.jvm
        self.rows = live_rows(table)
        self.by_path = {data.path: data for data, _ in self.rows}
        self.ids = MERGED if operation.kind in ("cow-merge", "mor-merge") else (KEY,)
        self.matching = [(data, row) for data, row in self.rows if row["id"] in self.ids]
        self.touched = list(dict.fromkeys(data.path for data, _ in self.matching))
        self.of_partition = [path for path in self.by_path if self.where(path).split("/")[0] == f"p={PARTITION}"]
        self.added: list[str] = []

    def plan(self) -> WritePlan:
        pending = getattr(self.java, self.operation.what.api)()
        plan: WritePlan = getattr(self, self.operation.kind.replace("-", "_"))(pending)
        plan.added, plan.pending = self.added, pending
        return plan

    # -- helpers ------------------------------------------------------------------------------------------------------
    def where(self, path: str) -> str:
        data = self.by_path[path]
        return partition_path(data.partition, self.table.metadata.spec(data.spec_id), self.table.metadata)

    def name(self, what: str) -> str:
        return f"{self.writer}-{what}-{uuid.uuid4().hex[:6]}.parquet"

    def write(self, rows: Sequence[Mapping[str, Any]]) -> list[Any]:
        """Write data files, one for each partition of the rows. The spec is that of the loaded table; all its fields
        are identities."""
        spec = self.table.metadata.spec(self.table.metadata.default_spec_id)
        groups: dict[str, list[Mapping[str, Any]]] = {}
        for row in rows:
            groups.setdefault("/".join(f"{f.name}={row[f.name]}" for f in (spec.fields if spec else ())), []).append(
                row
            )
        files = [self.workshop.data_file(self.java, self.name("data"), group, place) for place, group in groups.items()]
        self.added += [str(file.location()) for file in files]
        return files

    def add(self, pending: Any, rows: Sequence[Mapping[str, Any]], method: str = "addFile") -> None:
        for file in self.write(rows):
            getattr(pending, method)(file)

    def change_row(self, row: Mapping[str, Any]) -> dict[str, Any]:
        return _plain(row) | {"v": f"{row['v']}+{self.writer}"}

    @cached_property
    def tasks(self) -> dict[str, tuple[Any, list[Any]]]:
        """Iceberg's own objects for the live data files, each with the delete files that apply to it."""
        by_path = {}
        tasks = self.java.newScan().planFiles()
        iterator = tasks.iterator()
        while iterator.hasNext():
            task = iterator.next()
            by_path[str(task.file().location())] = (task.file(), reflect.items(task.deletes()))
        tasks.close()
        return by_path

    def file(self, path: str) -> Any:
        return self.tasks[path][0]

    def equal(self, column: str, value: Any) -> Any:
        return self.workshop.iceberg("expressions.Expressions").equal(column, value)

    def validate(self, pending: Any, condition: Any = None) -> None:
        """Set the validations of the operation."""
        for check in self.checks:
            if check == "validateFromSnapshot":
                pending.validateFromSnapshot(self.table.metadata.current_snapshot_id)
            elif check == "conflictDetectionFilter":
                pending.conflictDetectionFilter(condition)
            elif check == "validateDataFilesExist":
                # equality deletes refer to no file: their writer (Flink) asks for those of its own commit
                files = self.touched if self.operation.what.refers else self.added
                pending.validateDataFilesExist(self.collection("ArrayList", files))
            elif check != "dataSequenceNumber":
                getattr(pending, check)()

    def collection(self, kind: str, items: Iterable[Any]) -> Any:
        java_items = getattr(self.jvm.java.util, kind)()
        for item in items:
            java_items.add(item)
        return java_items

    # -- the operations -----------------------------------------------------------------------------------------------
    def append(self, pending: Any) -> WritePlan:
        self.add(pending, [{"id": KEY, "v": f"by {self.writer}", "p": PARTITION}], "appendFile")
        return WritePlan()

    fast_append = append_other = append

    def cow_delete(self, pending: Any, update: bool = False) -> WritePlan:
        for path in self.touched:
            kept = [_plain(r) for d, r in self.rows if d.path == path and r["id"] not in self.ids]
            kept += [self.change_row(r) for d, r in self.matching if d.path == path and update]
            pending.deleteFile(self.file(path))
            self.add(pending, kept)
        self.validate(pending, self.equal("id", KEY))
        return WritePlan(replaced=self.touched)

    def cow_update(self, pending: Any) -> WritePlan:
        return self.cow_delete(pending, update=True)

    def cow_merge(self, pending: Any) -> WritePlan:
        return self.insert_new_rows(pending, self.cow_update(pending), "addFile")

    def insert_new_rows(self, pending: Any, plan: WritePlan, method: str) -> WritePlan:
        """Insert the rows of a MERGE's source that match no row."""
        there = {row["id"] for _, row in self.matching}
        new = [{"id": i, "v": f"by {self.writer}", "p": PARTITION} for i in self.ids if i not in there]
        self.add(pending, new, method)
        return plan

    def mor_delete(self, pending: Any, update: bool = False) -> WritePlan:
        vectors = self.table.metadata.format_version >= 3
        for path in self.touched:
            positions = sorted(r["_pos"] for d, r in self.matching if d.path == path)
            if vectors:
                self.vector(pending, path, positions)
            else:
                places = [(path, position) for position in positions]
                delete_file = self.workshop.position_delete_file(
                    self.java, self.name("deletes"), places, of=self.file(path)
                )
                self.added.append(str(delete_file.location()))
                pending.addDeletes(delete_file)
            if update:
                self.add(pending, [self.change_row(r) for d, r in self.matching if d.path == path], "addRows")
        self.validate(pending, self.equal("id", KEY))
        return WritePlan(referenced=self.touched)

    def mor_update(self, pending: Any) -> WritePlan:
        return self.mor_delete(pending, update=True)

    def mor_merge(self, pending: Any) -> WritePlan:
        return self.insert_new_rows(pending, self.mor_update(pending), "addRows")

    def vector(self, pending: Any, path: str, positions: Sequence[int]) -> None:
        """Replace the deletion vector of a data file, which has at most one (spec: "Deletion Vectors")."""
        file, old = self.file(path), self.tasks[path][1]
        live = {r["_pos"] for d, r in self.rows if d.path == path}
        gone = set(range(self.by_path[path].record_count)) - live
        for delete_file in self.workshop.vectors(
            self.java, f"{self.writer}-vector-{uuid.uuid4().hex[:6]}", file, sorted(gone | set(positions))
        ):
            self.added.append(str(delete_file.location()))
            pending.addDeletes(delete_file)
        for vector in old:
            pending.removeDeletes(vector)

    def equality_delete(self, pending: Any) -> WritePlan:
        spec = self.table.metadata.spec(self.table.metadata.default_spec_id)
        place = "/".join(f"{f.name}={PARTITION if f.name == 'p' else KEY}" for f in (spec.fields if spec else ()))
        delete_file = self.workshop.equality_delete_file(self.java, self.name("deletes"), [{"id": KEY}], place)
        self.added.append(str(delete_file.location()))
        pending.addDeletes(delete_file)
        self.validate(pending, self.equal("id", KEY))
        return WritePlan()

    def compaction(self, pending: Any) -> WritePlan:
        rows = [_plain(r) for d, r in self.rows if d.path in self.of_partition]
        for path in self.of_partition:
            pending.deleteFile(self.file(path))
        self.add(pending, rows)
        if "dataSequenceNumber" in self.checks:
            pending.dataSequenceNumber(self.table.metadata.last_sequence_number)
        self.validate(pending)
        return WritePlan(replaced=self.of_partition)

    def replace_partitions(self, pending: Any) -> WritePlan:
        self.add(pending, [{"id": 7, "v": f"by {self.writer}", "p": PARTITION}])
        self.validate(pending)
        return WritePlan()

    def overwrite_filter(self, pending: Any) -> WritePlan:
        condition = self.equal("p", PARTITION)
        self.add(pending.overwriteByRowFilter(condition), [{"id": 7, "v": f"by {self.writer}", "p": PARTITION}])
        self.validate(pending, condition)
        return WritePlan()

    def delete_files(self, pending: Any) -> WritePlan:
        for path in self.of_partition:
            pending.deleteFile(self.file(path))
        self.validate(pending)
        return WritePlan(replaced=self.of_partition)

    def rewrite_manifests(self, pending: Any) -> WritePlan:
        pending.clusterBy(reflect.constant(self.jvm, "all"))
        return WritePlan()

    def base(self) -> Any:
        return self.java.operations().current()

    def add_column(self, pending: Any) -> WritePlan:
        text = getattr(self.jvm.org.apache.iceberg.types, "Types$StringType").get()
        pending.addColumn(f"note_{self.writer.lower()}", text)
        words = "adds a schema with the column to the metadata it loaded"
        return WritePlan(update=lambda: (self.base(), self.base().updateSchema(pending.apply()), words))

    def evolve_spec(self, pending: Any) -> WritePlan:
        spec = self.table.metadata.spec(self.table.metadata.default_spec_id)
        there = any(f.name == "id" for f in (spec.fields if spec else ()))
        (pending.removeField if there else pending.addField)("id")  # the second of two writers removes it
        words = "adds a partition spec to the metadata it loaded"
        return WritePlan(update=lambda: (self.base(), self.base().updatePartitionSpec(pending.apply()), words))

    def expire(self, pending: Any) -> WritePlan:
        pending.expireOlderThan(1 << 62).retainLast(1)
        # as Spark's procedure does: unreachable files are removed now, not with the snapshot that deleted them
        reflect.call(self.workshop, pending, "withIncrementalCleanup", False)

        def update() -> tuple[Any, Any, str]:  # it refreshes, and decides again what to expire
            updated = reflect.call(self.workshop, pending, "internalApply")
            base = reflect.field(pending, "base")
            gone = count(len(list(base.snapshots())) - len(list(updated.snapshots())), "snapshot")
            return base, updated, f"refreshes to {base_name(str(base.metadataFileLocation()))}, finds {gone} to expire"

        return WritePlan(update=update)


def _plain(row: Mapping[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in row.items() if k in ("id", "v", "p")}
