"""What Iceberg will say to a commit, decided from metadata alone: commit, retry and then commit, or refuse, and why.

The rules are those of Iceberg's validations (MergingSnapshotProducer and its kin); the tests hold every decision against what the
library did."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from explorer.core.deletes import LiveFile

Matches = Callable[[LiveFile], bool]
ADDS_DATA = ("append", "overwrite")
ADDS_DELETES = ("overwrite", "delete")
ANY_REMOVAL = ("overwrite", "replace", "delete")


@dataclass(frozen=True)
class Change:
    """A snapshot that was committed since the writer's base: its operation, the files it added, and the data files it removed."""

    snapshot_id: int
    snapshot: str
    operation: str
    added_data: tuple[LiveFile, ...] = ()
    added_deletes: tuple[LiveFile, ...] = ()
    removed_data: tuple[LiveFile, ...] = ()


@dataclass(frozen=True)
class Intent:
    """What a commit wants: the validations that are set on it (by the names of Iceberg's API), the data files it replaces or refers to,
    and which files its conflict detection filter may concern."""

    kind: str
    validations: frozenset[str]
    replaced: tuple[LiveFile, ...] = ()
    referenced: tuple[LiveFile, ...] = ()
    may_match: Matches = lambda _: True


@dataclass(frozen=True)
class Conflict:
    """Why a commit is refused: which snapshot's which files, found by which check."""

    check: str
    snapshot_id: int
    snapshot: str
    files: tuple[str, ...]
    words: str


@dataclass(frozen=True)
class Decision:
    """`outcome` is commit, retry (a lost swap, then commit) or refused."""

    outcome: str
    conflicts: tuple[Conflict, ...] = ()

    @property
    def words(self) -> str:
        """In a sentence."""
        if self.outcome == "commit":
            return "It commits: nothing was committed since its base."
        if self.outcome == "retry":
            return "It loses the swap, applies its changes again on the new metadata, and commits: no check finds a conflict."
        return "It is refused: " + "; ".join(c.words for c in self.conflicts) + "."


def decide(intent: Intent, since: Sequence[Change]) -> Decision:
    """What happens to a commit whose base is older than the snapshots `since`, oldest first."""
    if not since:
        return Decision("commit")
    found = [conflict for change in since for conflict in _conflicts(intent, change)]
    return Decision("refused", tuple(found)) if found else Decision("retry")


def _conflicts(intent: Intent, change: Change) -> list[Conflict]:
    found: list[Conflict] = []
    checks, kind = intent.validations, intent.kind
    replaced = {f.path for f in intent.replaced}

    def conflict(check: str, files: Sequence[LiveFile], words: str) -> None:
        found.append(Conflict(check, change.snapshot_id, change.snapshot, tuple(f.path for f in files), f"{change.snapshot} {words}"))

    gone = [f for f in change.removed_data if f.path in replaced]
    if gone:  # files that a rewrite deletes must be there still
        conflict("failMissingDeletePaths", gone, "removed a data file that this commit replaces")
    if kind != "replace-partitions" and checks & {"validateNoConflictingData", "validateNoConflictingDataFiles"}:
        added = [f for f in change.added_data if intent.may_match(f)]
        if added and change.operation in ADDS_DATA:
            name = next(c for c in sorted(checks) if c.startswith("validateNoConflictingData"))
            conflict(name, added, "added data files that may hold rows of its conflict detection filter")
    if "validateNoConflictingDeletes" in checks and kind != "replace-partitions" and change.operation in ADDS_DELETES:
        hit = _hitting(change.added_deletes, intent.replaced, equality=True)
        if hit:
            conflict("validateNoConflictingDeletes", hit, "added deletes for a data file that this commit replaces")
    if kind == "compaction" and change.operation in ADDS_DELETES:
        hit = _hitting(change.added_deletes, intent.replaced, equality="dataSequenceNumber" not in checks)
        if hit:
            conflict("validateFromSnapshot", hit, "added position deletes for a data file that this commit rewrites")
    if "validateDataFilesExist" in checks:
        counted = ANY_REMOVAL if "validateDeletedFiles" in checks else ("overwrite", "replace")
        referenced = {f.path for f in intent.referenced}
        lost = [f for f in change.removed_data if f.path in referenced]
        if lost and change.operation in counted:
            conflict("validateDataFilesExist", lost, "removed a data file that its deletes refer to")
    if "validateNoConflictingDeleteFiles" in checks and change.operation in ADDS_DELETES:
        added = [f for f in change.added_deletes if intent.may_match(f)]
        if added:
            conflict("validateNoConflictingDeleteFiles", added, "added deletes that may concern rows of its conflict detection filter")
    if kind == "replace-partitions":
        data = [f for f in change.added_data if intent.may_match(f)]
        if data and "validateNoConflictingData" in checks and change.operation in ADDS_DATA:
            conflict("validateNoConflictingData", data, "added data files to a partition that this commit replaces")
        deletes = [f for f in change.added_deletes if intent.may_match(f)]
        removed = [f for f in change.removed_data if intent.may_match(f)]
        if deletes and "validateNoConflictingDeletes" in checks and change.operation in ADDS_DELETES:
            conflict("validateNoConflictingDeletes", deletes, "added deletes to a partition that this commit replaces")
        if removed and "validateNoConflictingDeletes" in checks and change.operation in ANY_REMOVAL:
            conflict("validateNoConflictingDeletes", removed, "removed data files from a partition that this commit replaces")
    return found


def _hitting(deletes: Sequence[LiveFile], data: Sequence[LiveFile], equality: bool) -> list[LiveFile]:
    """The deletes that apply to one of the data files; of several partitions, those of its own."""
    places = {f.place for f in data}
    paths = {f.path for f in data}
    found = []
    for delete in deletes:
        if delete.kind == "equality_deletes" and not equality:
            continue
        if delete.referenced_data_file in paths or (delete.referenced_data_file is None and delete.place in places):
            found.append(delete)
    return found
