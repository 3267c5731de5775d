"""What each operation of the lab is, and the steps of a commit: said here once. What a commit answers to them is in
spec.commits.commit, how their files are written in lab.planning."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Literal

from explorer.errors import NotFoundInTable

# -- the steps of a commit --------------------------------------------------------------------------------------------
StepName = Literal["load", "write", "apply", "metadata", "swap"]
ReadStepName = Literal["load", "plan", "other", "read"]
State = Literal[
    "load", "write", "apply", "metadata", "swap", "check", "committed", "refused", "killed",
    "plan", "other", "read", "answered", "failed",
]  # fmt: skip
StepOutcome = Literal["ok", "committed", "lost", "unknown", "refused", "killed", "answered", "failed"]

STEPS: Mapping[StepName, str] = {
    "load": "reads the metadata.json that the catalog points to",
    "write": "plans its change on what it read, and writes data and delete files",
    "apply": "refreshes, validates against what was committed since, and writes manifests and a manifest list",
    "metadata": "writes the next metadata.json",
    "swap": "asks the catalog to point to it, if it still points to the one before",
}
"""The steps of a commit, in their order."""
READ_STEPS: Mapping[ReadStepName, str] = {
    "load": "reads the metadata.json that the catalog points to: its current snapshot is the one that is read",
    "plan": "lists that snapshot's files, by its manifest list and manifests",
    "other": "loads and plans the second table of its query",
    "read": "reads the rows of those files",
}
"""The steps of a reader, in their order (`other` only in a query over two tables). Only loading asks the catalog, and
none waits for a writer."""
RETRY_FROM: StepName = "apply"
"""Where a writer that has lost its swap goes on."""
ENDS: tuple[State, ...] = ("committed", "refused", "killed", "answered", "failed")
LOOKS_AT_CATALOG = ("load", "swap", "check", "other")
"""What goes to the catalog itself; `check` looks for the commit whose answer was lost. (`apply` refreshes too.)"""
SEES_TABLE = ("load", "apply")
"""The steps whose result depends on what others have committed by then."""


def state_after(state: State, outcome: StepOutcome) -> State:
    """Where a step leaves a writer: the step it takes next, `check`, or one of ENDS."""
    if outcome == "ok":
        order = list(STEPS)
        return order[order.index(state) + 1]  # type: ignore[arg-type]  # nothing but a step goes well
    if outcome == "lost":
        return RETRY_FROM
    return "check" if outcome == "unknown" else outcome


# -- validations ------------------------------------------------------------------------------------------------------
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

# -- operations -------------------------------------------------------------------------------------------------------
WriterEngine = Literal["java", "pyiceberg"]
ENGINES: tuple[WriterEngine, ...] = ("java", "pyiceberg")
ISOLATION = ("serializable", "snapshot")
NO_ISOLATION = "none"
UNISOLATED = ("replace-partitions", "overwrite-filter")
"""What Spark's INSERT OVERWRITE does: it validates nothing unless its write option `isolation-level` says a level."""
Added = Literal["data_file", "position_deletes", "equality_deletes"]


@dataclass(frozen=True)
class OperationTraits:
    """An operation.

    `statement` is the SQL command whose isolation level a property of the table says. `api` is the method of
    org.apache.iceberg.Table that makes it, `adds` the kinds of files it adds (position deletes
    are deletion vectors from format version 3 on). `replaces`: it removes data files that it has read; `refers`: its
    deletes point to data files that it has read; `decided_by`: whether those files decide what it changes, or a filter
    that is held against whatever is there when it commits.

    `retried`: Iceberg applies it again after a lost swap. `makes_snapshot`: it is no change of metadata alone.
    `removes_files`: once committed. `always` are the validations its engine sets, `serializable` those it sets under
    serializable isolation also, `more` others that its API offers. `catalogued`: docs/concurrency.md lists its pairs
    first. `other`: it is about the second table of a run, too or alone."""

    title: str
    api: str
    statement: Literal["", "delete", "update", "merge"] = ""
    adds: tuple[Added, ...] = ()
    replaces: bool = False
    refers: bool = False
    decided_by: Literal["files", "filter"] = "files"
    retried: bool = True
    makes_snapshot: bool = True
    removes_files: bool = False
    always: tuple[str, ...] = ()
    serializable: tuple[str, ...] = ()
    more: tuple[str, ...] = ()
    engines: tuple[WriterEngine, ...] = ("java",)
    catalogued: bool = False
    other: bool = False

    @property
    def reads(self) -> bool:
        """Whether it is a reader, which commits nothing."""
        return self.api == "newScan"

    @property
    def available_validations(self) -> tuple[str, ...]:
        """Every validation that may be set on it, in the order of PROTECTS."""
        return tuple(v for v in PROTECTS if v in {*self.always, *self.serializable, *self.more})


_SINCE = ("validateFromSnapshot", "conflictDetectionFilter")
_DELTA = (
    "validateDataFilesExist",
    "validateDeletedFiles",
    "validateNoConflictingDataFiles",
    "validateNoConflictingDeleteFiles",
)
KINDS: Mapping[str, OperationTraits] = {
    "append": OperationTraits(
        "INSERT a row with id 1",
        "newAppend",
        adds=("data_file",),
        engines=ENGINES,
        catalogued=True,
    ),
    "cow-update": OperationTraits(
        "UPDATE WHERE id = 1, copy-on-write",
        "newOverwrite",
        statement="update",
        adds=("data_file",),
        replaces=True,
        always=(*_SINCE, "validateNoConflictingDeletes"),
        serializable=("validateNoConflictingData",),
        catalogued=True,
    ),
    "cow-delete": OperationTraits(
        "DELETE WHERE id = 1, copy-on-write",
        "newOverwrite",
        statement="delete",
        adds=("data_file",),
        replaces=True,
        always=(*_SINCE, "validateNoConflictingDeletes"),
        serializable=("validateNoConflictingData",),
        engines=ENGINES,
        catalogued=True,
    ),
    "mor-update": OperationTraits(
        "UPDATE WHERE id = 1, merge-on-read",
        "newRowDelta",
        statement="update",
        adds=("data_file", "position_deletes"),
        refers=True,
        always=(*_SINCE, "validateDataFilesExist", "validateDeletedFiles", "validateNoConflictingDeleteFiles"),
        serializable=("validateNoConflictingDataFiles",),
        catalogued=True,
    ),
    "mor-delete": OperationTraits(
        "DELETE WHERE id = 1, merge-on-read",
        "newRowDelta",
        statement="delete",
        adds=("position_deletes",),
        refers=True,
        always=(*_SINCE, "validateDataFilesExist"),
        serializable=("validateNoConflictingDataFiles",),
        more=_DELTA,
        catalogued=True,
    ),
    "cow-merge": OperationTraits(
        "MERGE ON t.id = s.id, of ids 1 and 4: UPDATE what matches, INSERT what does not, copy-on-write",
        "newOverwrite",
        statement="merge",
        adds=("data_file",),
        replaces=True,
        always=("validateFromSnapshot", "validateNoConflictingDeletes"),
        serializable=("validateNoConflictingData",),
    ),
    "mor-merge": OperationTraits(
        "MERGE ON t.id = s.id, of ids 1 and 4: UPDATE what matches, INSERT what does not, merge-on-read",
        "newRowDelta",
        statement="merge",
        adds=("data_file", "position_deletes"),
        refers=True,
        always=(
            "validateFromSnapshot",
            "validateDataFilesExist",
            "validateDeletedFiles",
            "validateNoConflictingDeleteFiles",
        ),
        serializable=("validateNoConflictingDataFiles",),
    ),
    "equality-delete": OperationTraits(
        "delete id 1 by value (Flink)",
        "newRowDelta",
        adds=("equality_deletes",),
        more=(*_SINCE, *_DELTA),
        catalogued=True,
    ),
    "compaction": OperationTraits(
        "rewrite the data files of partition a into one",
        "newRewrite",
        adds=("data_file",),
        replaces=True,
        always=("validateFromSnapshot", "dataSequenceNumber"),
        catalogued=True,
    ),
    "replace-partitions": OperationTraits(
        "INSERT OVERWRITE partition a, dynamic",
        "newReplacePartitions",
        adds=("data_file",),
        decided_by="filter",
        always=("validateFromSnapshot", "validateNoConflictingDeletes"),
        serializable=("validateNoConflictingData",),
        catalogued=True,
    ),
    "fast-append": OperationTraits("INSERT a row with id 1, fast append", "newFastAppend", adds=("data_file",)),
    "delete-files": OperationTraits(
        "delete the data files of partition a",
        "newDelete",
        replaces=True,
        more=("validateFilesExist",),
    ),
    "overwrite-filter": OperationTraits(
        "INSERT OVERWRITE WHERE p = 'a'",
        "newOverwrite",
        adds=("data_file",),
        decided_by="filter",
        always=("validateFromSnapshot", "validateNoConflictingDeletes"),
        serializable=("validateNoConflictingData",),
        more=("conflictDetectionFilter",),
    ),
    "rewrite-manifests": OperationTraits("rewrite the manifests into one", "rewriteManifests"),
    "add-column": OperationTraits("ALTER TABLE ADD COLUMN", "updateSchema", retried=False, makes_snapshot=False),
    "evolve-spec": OperationTraits(
        "ALTER TABLE ADD PARTITION FIELD id", "updateSpec", retried=False, makes_snapshot=False
    ),
    "expire": OperationTraits(
        "expire all snapshots but the last",
        "expireSnapshots",
        makes_snapshot=False,
        removes_files=True,
    ),
}
"""Every operation of the lab that commits to a run's table, by name."""
BESIDE: Mapping[str, OperationTraits] = {
    "read": OperationTraits("SELECT * (a reader)", "newScan", retried=False, makes_snapshot=False),
    "read-both": OperationTraits(
        "SELECT from two tables (a reader)", "newScan", retried=False, makes_snapshot=False, other=True
    ),
    "append-other": OperationTraits(
        "INSERT a row with id 1 into the second table", "newAppend", adds=("data_file",), other=True
    ),
}
"""What else may take part in a run: readers, and a writer of the second table that a query over two reads."""
TAKE_PART: Mapping[str, OperationTraits] = {**KINDS, **BESIDE}
CLASSES: Mapping[str, tuple[str, str]] = {
    "newAppend": ("AppendFiles", "MergeAppend"),
    "newFastAppend": ("AppendFiles", "FastAppend"),
    "newOverwrite": ("OverwriteFiles", "BaseOverwriteFiles"),
    "newRowDelta": ("RowDelta", "BaseRowDelta"),
    "newRewrite": ("RewriteFiles", "BaseRewriteFiles"),
    "newReplacePartitions": ("ReplacePartitions", "BaseReplacePartitions"),
    "newDelete": ("DeleteFiles", "StreamingDelete"),
    "rewriteManifests": ("RewriteManifests", "BaseRewriteManifests"),
    "updateSchema": ("UpdateSchema", "SchemaUpdate"),
    "updateSpec": ("UpdatePartitionSpec", "BaseUpdatePartitionSpec"),
    "expireSnapshots": ("ExpireSnapshots", "RemoveSnapshots"),
}
"""What each method of org.apache.iceberg.Table returns: the interface, in the module iceberg-api, and the class behind
it, in iceberg-core."""
MERGING = ("newAppend", "newOverwrite", "newRowDelta", "newRewrite", "newReplacePartitions", "newDelete")
"""The methods whose commits leave out manifests in which the list counts no live file (MergingSnapshotProducer)."""
CATALOGUED = tuple(name for name, kind in KINDS.items() if kind.catalogued)


def operation_title(kind: str) -> str:
    """An operation by its name, which diagrams and commands have, and in words: `append: INSERT a row with id 1`."""
    return f"{kind}: {TAKE_PART[kind].title}"


def isolation_property(kind: str) -> str:
    """The table property that says the isolation level of an operation in Spark; empty where none does."""
    statement = TAKE_PART[kind].statement
    return f"write.{statement}.isolation-level" if statement else ""


def isolation_of(kind: str, properties: Mapping[str, str]) -> str:
    """The isolation level that a table's properties say for an operation; serializable where they say none of
    ISOLATION."""
    level = properties.get(isolation_property(kind), "").lower()
    return level if level in ISOLATION else "serializable"


def default_isolation(kind: str, properties: Mapping[str, str]) -> str:
    """The isolation level that an operation has in Spark where its statement names none."""
    return NO_ISOLATION if kind in UNISOLATED else isolation_of(kind, properties)


@dataclass(frozen=True)
class Operation:
    """One writer's intention: the name of a kind. `isolation` decides which validations the engine sets, unless
    `chosen` says them one by one."""

    kind: str
    isolation: str = "serializable"
    engine: str = "java"
    chosen: tuple[str, ...] | None = None

    def check(self) -> None:
        """Raises NotFoundInTable for what there is not."""
        levels = (*ISOLATION, NO_ISOLATION) if self.kind in UNISOLATED else ISOLATION
        if self.kind not in TAKE_PART or self.isolation not in levels:
            raise NotFoundInTable(
                f"no operation {self.kind!r} with isolation {self.isolation!r}: there are {', '.join(TAKE_PART)}"
            )
        if self.engine not in self.what.engines:
            raise NotFoundInTable(f"no {self.kind} by {self.engine!r}: it is done by {' or '.join(self.what.engines)}")
        if unknown := set(self.chosen or ()) - set(self.available_validations):
            available = ", ".join(self.available_validations) or "none"
            raise NotFoundInTable(f"{self.kind} has no validation {sorted(unknown)[0]!r}: there are {available}")

    @property
    def what(self) -> OperationTraits:
        """Its description."""
        return TAKE_PART[self.kind]

    @property
    def available_validations(self) -> tuple[str, ...]:
        """The validations that may be chosen: pyiceberg sets its own."""
        return self.what.available_validations if self.engine == "java" else ()

    @property
    def validations(self) -> tuple[str, ...]:
        """The validations that are set on it, by the names of Iceberg's API."""
        if self.chosen is not None:
            return self.chosen
        if self.isolation == NO_ISOLATION:
            return ()
        wanted = {*self.what.always, *(self.what.serializable if self.isolation == "serializable" else ())}
        return tuple(v for v in PROTECTS if v in wanted)

    def __str__(self) -> str:
        by = " by pyiceberg" if self.engine == "pyiceberg" else ""
        if self.chosen is not None:
            return f"{self.kind}{by}, with {', '.join(self.chosen) or 'no validations'}"
        return f"{self.kind}{by}" + (f", {self.isolation}" if self.what.serializable else "")


def operation_without(
    kind: str, isolation: str, without: Collection[str], engine: str = "java", also: Collection[str] = ()
) -> Operation:
    """Return an operation with the validations of its isolation level, without those that are named, and with others
    also."""
    usual = Operation(kind, isolation, engine)
    more = [v for v in also if v not in usual.validations]
    left = (*(v for v in usual.validations if v not in without), *more)
    return usual if left == usual.validations else Operation(kind, isolation, engine, left)
