"""What a writer of the lab does: plan against the table it loaded, write real files, and stage a real operation of Iceberg's Java API
with the validations that Spark sets (Flink for equality deletes)."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from explorer.core.values import partition_path
from explorer.io.rows import read_schema
from explorer.scenarios.workshop import Workshop
from explorer.table import Table

KEY = 1
"""Every operation but compaction is about the rows with this id."""
KINDS: Mapping[str, str] = {
    "append": "INSERT a row with id 1",
    "cow-update": "UPDATE WHERE id = 1, copy-on-write",
    "cow-delete": "DELETE WHERE id = 1, copy-on-write",
    "mor-update": "UPDATE WHERE id = 1, merge-on-read",
    "mor-delete": "DELETE WHERE id = 1, merge-on-read",
    "equality-delete": "delete id 1 by value (Flink)",
    "compaction": "rewrite the data files of partition a into one",
    "replace-partitions": "INSERT OVERWRITE partition a",
}
ISOLATION = ("serializable", "snapshot")
SERIALIZABLE_ONLY = {"cow-update": "validateNoConflictingData", "cow-delete": "validateNoConflictingData"}
SERIALIZABLE_ONLY |= {"mor-update": "validateNoConflictingDataFiles", "mor-delete": "validateNoConflictingDataFiles"}
SERIALIZABLE_ONLY |= {"replace-partitions": "validateNoConflictingData"}


@dataclass(frozen=True)
class Operation:
    """One writer's intention. `isolation` decides which validations are set."""

    kind: str
    isolation: str = "serializable"

    @property
    def validations(self) -> tuple[str, ...]:
        """The validations that the engine sets on it, by the names of Iceberg's API."""
        since = ("validateFromSnapshot", "conflictDetectionFilter")
        files = (*since, "validateDataFilesExist")
        always = {
            "cow-update": (*since, "validateNoConflictingDeletes"),
            "cow-delete": (*since, "validateNoConflictingDeletes"),
            "mor-update": (*files, "validateDeletedFiles", "validateNoConflictingDeleteFiles"),
            "mor-delete": files,
            "compaction": ("validateFromSnapshot", "dataSequenceNumber"),
            "replace-partitions": ("validateFromSnapshot", "validateNoConflictingDeletes"),
        }.get(self.kind, ())
        extra = SERIALIZABLE_ONLY.get(self.kind)
        return (*always, extra) if extra and self.isolation == "serializable" else always


@dataclass
class Plan:
    """What a writer found in the snapshot it loaded, and the files it wrote: paths that it replaces, refers to, and adds."""

    replaced: list[str]
    referenced: list[str]
    added: list[str]
    pending: Any


def live_rows(table: Table) -> list[tuple[Any, Mapping[str, Any]]]:
    """(data file, row with _pos) for every row that a reader sees."""
    at = table.metadata.current_snapshot
    found = table.row_reader.applicability(at)
    schema = read_schema(table.metadata, at.schema_id if at else None)
    return [(data, row) for data in found.data for row in table.row_reader.live(data, found.of(data), schema).to_pylist()]


def rows_of(table: Table) -> list[tuple[int, str, str]]:
    """The rows that a reader sees, sorted."""
    return sorted((r["id"], r["v"], r["p"]) for _, r in live_rows(table))


def _plain(row: Mapping[str, Any], **changes: Any) -> dict[str, Any]:
    return {k: v for k, v in {**row, **changes}.items() if k != "_pos"}


def stage(operation: Operation, writer: str, table: Table, java: Any, workshop: Workshop) -> Plan:
    """Plan the operation against `table` (as loaded, beside its Java twin), write its data and delete files, and build the pending
    update with its validations. Nothing is committed."""
    kind, rows = operation.kind, live_rows(table)
    snapshot_id = table.metadata.current_snapshot_id
    assert snapshot_id is not None
    by_path = {data.path: data for data, _ in rows}
    java_files = _java_files(java)
    added: list[str] = []

    def where(path: str) -> str:
        data = by_path[path]
        return partition_path(data.partition, table.metadata.spec(data.spec_id), table.metadata)

    def name(what: str) -> str:
        return f"{writer}-{what}-{uuid.uuid4().hex[:6]}.parquet"

    def write(found: Sequence[Mapping[str, Any]], partition: str) -> Any:
        made = workshop.data_file(java, name("data"), found, partition)
        added.append(str(made.location()))
        return made

    matching = [(data, row) for data, row in rows if row["id"] == KEY]
    touched = list(dict.fromkeys(data.path for data, _ in matching))
    equal = workshop.jvm.org.apache.iceberg.expressions.Expressions.equal("id", KEY)
    pending: Any
    if kind == "append":
        pending = java.newAppend().appendFile(write([{"id": KEY, "v": f"by {writer}", "p": "a"}], "p=a"))
        return Plan([], [], added, pending)
    if kind in ("cow-update", "cow-delete"):
        pending = java.newOverwrite()
        for path in touched:
            kept = [_plain(r) for d, r in rows if d.path == path and r["id"] != KEY]
            if kind == "cow-update":
                kept += [_plain(r, v=f"{r['v']}+{writer}") for d, r in matching if d.path == path]
            pending.deleteFile(java_files[path])
            if kept:
                pending.addFile(write(kept, where(path)))
        pending.validateFromSnapshot(snapshot_id).conflictDetectionFilter(equal).validateNoConflictingDeletes()
        if operation.isolation == "serializable":
            pending.validateNoConflictingData()
        return Plan(touched, [], added, pending)
    if kind in ("mor-update", "mor-delete"):
        pending = java.newRowDelta()
        for path in touched:
            places = sorted((d.path, r["_pos"]) for d, r in matching if d.path == path)
            made = workshop.position_delete_file(java, name("deletes"), places, where(path))
            added.append(str(made.location()))
            pending.addDeletes(made)
            if kind == "mor-update":
                pending.addRows(write([_plain(r, v=f"{r['v']}+{writer}") for d, r in matching if d.path == path], where(path)))
        paths = workshop.jvm.java.util.ArrayList()
        for path in touched:
            paths.add(path)
        pending.conflictDetectionFilter(equal).validateDataFilesExist(paths).validateFromSnapshot(snapshot_id)
        if kind == "mor-update":
            pending.validateDeletedFiles().validateNoConflictingDeleteFiles()
        if operation.isolation == "serializable":
            pending.validateNoConflictingDataFiles()
        return Plan([], touched, added, pending)
    if kind == "equality-delete":
        made = workshop.equality_delete_file(java, name("deletes"), [{"id": KEY}], "p=a")
        added.append(str(made.location()))
        return Plan([], [], added, java.newRowDelta().addDeletes(made))
    if kind == "compaction":
        paths_a = [path for path, data in by_path.items() if where(path) == "p=a"]
        old, new = workshop.jvm.java.util.HashSet(), workshop.jvm.java.util.HashSet()
        for path in paths_a:
            old.add(java_files[path])
        new.add(write([_plain(r) for d, r in rows if d.path in paths_a], "p=a"))
        sequence = table.metadata.last_sequence_number
        pending = java.newRewrite().validateFromSnapshot(snapshot_id).rewriteFiles(old, new, sequence)
        return Plan(paths_a, [], added, pending)
    if kind == "replace-partitions":
        pending = java.newReplacePartitions().addFile(write([{"id": 7, "v": f"by {writer}", "p": "a"}], "p=a"))
        pending.validateFromSnapshot(snapshot_id).validateNoConflictingDeletes()
        if operation.isolation == "serializable":
            pending.validateNoConflictingData()
        return Plan([], [], added, pending)
    raise ValueError(f"no operation {kind!r}: there are {', '.join(KINDS)}")


def _java_files(java: Any) -> dict[str, Any]:
    """Iceberg's own objects for the live data files."""
    found = {}
    tasks = java.newScan().planFiles()
    iterator = tasks.iterator()
    while iterator.hasNext():
        file = iterator.next().file()
        found[str(file.location())] = file
    tasks.close()
    return found
