"""What Iceberg will say to a commit, decided from metadata alone: commit, retry and then commit, or refuse, and why.

The rules are those of Iceberg's validations (MergingSnapshotProducer and its kin); the tests hold every decision
against what the library did."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from explorer.core.deletes import LiveFile

Matches = Callable[[LiveFile], bool]
ADDS_DATA = ("append", "overwrite")
ADDS_DELETES = ("overwrite", "delete")
ANY_REMOVAL = ("overwrite", "replace", "delete")
NO_CONFLICTING = {"validateNoConflictingData", "validateNoConflictingDeletes"}
COPY_ON_WRITE = ("cow-update", "cow-delete")
ROW_DELTA = ("mor-update", "mor-delete", "equality-delete")
BY_FILTER = ("replace-partitions", "overwrite-filter")
"""They replace whatever is there by a condition, rather than files that they have read."""
UNRETRIED = ("add-column", "evolve-spec")


@dataclass(frozen=True)
class Change:
    """A snapshot that was committed since the writer's base: its operation, the files it added, and the data files it
    removed."""

    snapshot_id: int
    snapshot: str
    operation: str
    added_data: tuple[LiveFile, ...] = ()
    added_deletes: tuple[LiveFile, ...] = ()
    removed_data: tuple[LiveFile, ...] = ()


@dataclass(frozen=True)
class Intent:
    """What a commit wants: the validations that are set on it (by the names of Iceberg's API), the data files it
    replaces or refers to, and which files its conflict detection filter may concern. `vectors`: its deletes are
    deletion vectors. `engine`: pyiceberg holds requirements against the table before it writes metadata, and validates
    only when it tries again."""

    kind: str
    validations: frozenset[str]
    replaced: tuple[LiveFile, ...] = ()
    referenced: tuple[LiveFile, ...] = ()
    may_match: Matches = lambda _: True
    vectors: bool = False
    engine: str = "java"


@dataclass(frozen=True)
class Conflict:
    """Why a commit is refused: which snapshot's which files, found by which check."""

    check: str
    snapshot_id: int
    snapshot: str
    files: tuple[str, ...]
    words: str
    manifests: tuple[str, ...] = ()
    """Where those files' entries are."""
    partitions: tuple[str, ...] = ()
    """Of those files, as paths: filled in by who knows the table's specs."""


@dataclass(frozen=True)
class Decision:
    """`outcome` is commit, retry (a lost swap, then commit) or refused."""

    outcome: str
    conflicts: tuple[Conflict, ...] = ()

    @property
    def words(self) -> str:
        """In a sentence."""
        if self.outcome == "commit":
            return "It commits: nothing was committed since its base that it has to look at."
        if self.outcome == "retry":
            return (
                "It loses the swap, applies its changes again on the new metadata, and commits: no check finds "
                "a conflict."
            )
        return "It is refused: " + "; ".join(c.words + _places(c.partitions) for c in self.conflicts) + "."


def _places(partitions: Sequence[str]) -> str:
    named = [p for p in partitions if p]
    return f" (in {', '.join(named[:3])}{' and others' if len(named) > 3 else ''})" if named else ""


def decide(
    intent: Intent,
    since: Sequence[Change],
    earlier: Sequence[Change] = (),
    moved: bool | None = None,
    known: bool = True,
) -> Decision:
    """What happens to a commit whose base is older than the snapshots `since`, oldest first. `earlier` are those up to
    its base: they count when it does not validate from its base. `moved`: the table's metadata is another than its
    base, be it without a snapshot. `known`: its base is still an ancestor of the current snapshot."""
    moved = bool(since) if moved is None else moved
    if intent.kind in UNRETRIED:
        words = "metadata.json is another than its base, and Iceberg does not retry a change of schema or spec"
        return (
            Decision("refused", (Conflict("CommitFailedException", 0, "", (), words),)) if moved else Decision("commit")
        )
    if intent.engine == "pyiceberg" and not since:
        return Decision("commit")
    if not known and _looks_back(intent):
        words = (
            "the snapshot it began from has expired or is no ancestor any more, so what was committed since "
            "cannot be looked through"
        )
        return Decision("refused", (Conflict("validateFromSnapshot", 0, "", (), words),))
    counted = (
        since if "validateFromSnapshot" in intent.validations or intent.engine == "pyiceberg" else (*earlier, *since)
    )
    found = [conflict for change in counted for conflict in _conflicts(intent, change)]
    if found:
        return Decision("refused", tuple(found))
    return Decision("retry" if moved else "commit")


def _looks_back(intent: Intent) -> bool:
    """Whether its validations walk from its base to the current snapshot."""
    if "validateFromSnapshot" not in intent.validations:
        return False
    walks = any(c.startswith(("validateNoConflicting", "validateDataFilesExist")) for c in intent.validations)
    return walks or intent.kind in ("compaction", *ROW_DELTA)


def _conflicts(intent: Intent, change: Change) -> list[Conflict]:
    found: list[Conflict] = []
    checks, kind = intent.validations, intent.kind
    replaced = {f.path for f in intent.replaced}

    def conflict(check: str, files: Sequence[LiveFile], words: str) -> None:
        paths, manifests = tuple(f.path for f in files), tuple(dict.fromkeys(f.manifest_path for f in files))
        found.append(
            Conflict(check, change.snapshot_id, change.snapshot, paths, f"{change.snapshot} {words}", manifests)
        )

    def matching(files: Sequence[LiveFile], operations: Sequence[str]) -> list[LiveFile]:
        return [f for f in files if intent.may_match(f)] if change.operation in operations else []

    strict = (
        kind == "compaction"
        or (kind in (*COPY_ON_WRITE, "overwrite-filter") and checks & NO_CONFLICTING)
        or "validateFilesExist" in checks
    )
    gone = [f for f in change.removed_data if f.path in replaced]
    if gone and strict:  # files that a rewrite deletes must be there still
        conflict("failMissingDeletePaths", gone, "removed a data file that this commit replaces")
    by_filter = kind in BY_FILTER or (intent.engine == "pyiceberg" and kind in COPY_ON_WRITE)
    for check in sorted(checks & {"validateNoConflictingData", "validateNoConflictingDataFiles"}):
        if added := matching(change.added_data, ADDS_DATA):
            where = (
                "to what this commit replaces" if by_filter else "that may hold rows of its conflict detection filter"
            )
            conflict(check, added, f"added data files {where}")
    if "validateNoConflictingDeletes" in checks:
        if by_filter:
            if deletes := matching(change.added_deletes, ADDS_DELETES):
                conflict("validateNoConflictingDeletes", deletes, "added deletes to what this commit replaces")
            if removed := matching(change.removed_data, ANY_REMOVAL):
                conflict("validateNoConflictingDeletes", removed, "removed data files from what this commit replaces")
        elif change.operation in ADDS_DELETES and (
            hit := _hitting(change.added_deletes, intent.replaced, equality=True)
        ):
            conflict("validateNoConflictingDeletes", hit, "added deletes for a data file that this commit replaces")
    if kind == "compaction" and change.operation in ADDS_DELETES:
        hit = _hitting(change.added_deletes, intent.replaced, equality="dataSequenceNumber" not in checks)
        which = "position deletes" if "dataSequenceNumber" in checks else "deletes"
        if hit:
            conflict("validateFromSnapshot", hit, f"added {which} for a data file that this commit rewrites")
    if "validateDataFilesExist" in checks:
        referenced = {f.path for f in intent.referenced}
        lost = [f for f in change.removed_data if f.path in referenced]
        if lost and change.operation in (ANY_REMOVAL if "validateDeletedFiles" in checks else ("overwrite", "replace")):
            conflict("validateDataFilesExist", lost, "removed a data file that its deletes refer to")
    if "validateNoConflictingDeleteFiles" in checks and (added := matching(change.added_deletes, ADDS_DELETES)):
        conflict(
            "validateNoConflictingDeleteFiles",
            added,
            "added deletes that may concern rows of its conflict detection filter",
        )
    if intent.vectors and change.operation in ANY_REMOVAL:
        paths = {f.path for f in intent.referenced}
        if twice := [
            f for f in change.added_deletes if f.kind == "deletion_vector" and f.referenced_data_file in paths
        ]:
            conflict(
                "validateAddedDVs",
                twice,
                "added a deletion vector for a data file that this commit adds one for: there can be one only",
            )
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
