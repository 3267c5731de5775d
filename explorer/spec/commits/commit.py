"""What Iceberg will say to a commit, decided from metadata alone: commit, retry and then commit, or refuse, and why.

One function for each of Iceberg's validations, named after its method; the tests hold every decision against what the
library did."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from explorer.spec.commits.operations import OperationTraits
from explorer.spec.deletes.deletes import target_file
from explorer.spec.entries.live_files import LiveFile
from explorer.spec.text.names import base_name, first_of
from explorer.spec.text.units import count, interval, whole

Matches = Callable[[LiveFile], bool]
RETRIES, RETRY_MS = 4, 30 * 60 * 1000
"""How often and how long a commit is tried again where the table does not say."""
WHOSE_RETRIES = (
    f"{RETRIES} is the number of Iceberg Java, pyiceberg 0.12 and iceberg-rust where the table sets none; iceberg-go "
    "0.7 tries no more, and fails where it loses once ('Requirement failed: branch main has changed'). The property, "
    "set on the table, holds for each of them"
)
FOLLOWED = "Iceberg Java, pyiceberg 0.12, iceberg-rust and iceberg-go go by the table's property"
MOST_NAMED = 5
"""Commits since a base that are named."""
HISTORY = "validationHistory"
"""The check that refuses a commit without a starting snapshot where the first snapshots have expired."""
ADDS_DATA = ("append", "overwrite")
ADDS_DELETES = ("overwrite", "delete")
ANY_REMOVAL = ("overwrite", "replace", "delete")
"""The operations of snapshots that each of MergingSnapshotProducer's validations looks at."""


@dataclass(frozen=True)
class LaterCommit:
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
    deletion vectors. `others`: it replaces or refers to data files besides those, such as some that it adds itself.
    `version`: the table's format version. `engine`: pyiceberg holds requirements against the table before it writes
    metadata, and validates only when it tries again."""

    kind: OperationTraits
    validations: frozenset[str]
    replaced: tuple[LiveFile, ...] = ()
    referenced: tuple[LiveFile, ...] = ()
    may_match: Matches = lambda _: True
    vectors: bool = False
    others: bool = False
    version: int = 2
    engine: str = "java"

    @property
    def by_filter(self) -> bool:
        """Whether validations go by a filter rather than by the files it has read; pyiceberg's always do."""
        return self.kind.decided_by == "filter" or self.engine == "pyiceberg"

    @property
    def from_base(self) -> bool:
        """Whether it looks only at what was committed since its base."""
        return "validateFromSnapshot" in self.validations or self.engine == "pyiceberg"

    @property
    def looks(self) -> bool:
        """Whether any validation looks at other snapshots at all."""
        return self.kind.api == "newRewrite" or self.vectors or bool(self.validations - {"conflictDetectionFilter"})

    @property
    def needs_whole_history(self) -> bool:
        """Whether it names no starting snapshot, and a validation of it walks back from the current snapshot to the
        first one (MergingSnapshotProducer.validationHistory). Deletes are looked for from version 2 on."""
        checks = self.validations
        if self.from_base or not self.kind.retried:
            return False
        deletes = self.version >= 2
        if self.kind.api == "newRewrite":
            return (bool(self.replaced) or self.others) and deletes
        if self.kind.api == "newRowDelta":
            exist = "validateDataFilesExist" in checks and (bool(self.referenced) or self.others)
            added = self.vectors and bool(self.referenced)
            new = "validateNoConflictingDeleteFiles" in checks and deletes
            return exist or added or new or "validateNoConflictingDataFiles" in checks
        if "validateNoConflictingDeletes" in checks and (self.by_filter or (bool(self.replaced) and deletes)):
            return True
        return "validateNoConflictingData" in checks

    def matching(self, files: Sequence[LiveFile]) -> list[LiveFile]:
        """The files that its conflict detection filter may concern."""
        return [f for f in files if self.may_match(f)]


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
    """`outcome` is commit, retry (a lost swap, then commit) or refused; `unless` are conflicts with files of which
    nobody knows whether the commit changes rows of them: it is refused if it does. `notes` say what else may make it
    fail, in sentences. `usual_ms`: how often others commit, where that is known: a try has to take less."""

    outcome: Literal["commit", "retry", "refused"]
    conflicts: tuple[Conflict, ...] = ()
    unless: tuple[Conflict, ...] = ()
    notes: tuple[str, ...] = ()
    usual_ms: int | None = None

    @property
    def words(self) -> str:
        """In a sentence."""
        files = "; ".join(c.words + _places(c.partitions) for c in self.unless)
        unless = f" It is refused if it changes rows of such files: {files}." if self.unless else ""
        if self.outcome == "commit":
            return f"It commits: nothing was committed since its base that it has to look at.{unless}"
        if self.outcome == "retry":
            when = "" if self.usual_ms is None else f" if a try takes less than {interval(self.usual_ms)} or so"
            return (
                f"It loses the swap, applies its changes again on the new metadata, and commits{when}: no check finds "
                f"a conflict.{unless}"
            )
        return "It is refused: " + "; ".join(c.words + _places(c.partitions) for c in self.conflicts) + "."


def _places(partitions: Sequence[str]) -> str:
    named = [p for p in partitions if p]
    return f" (in {', '.join(named[:3])}{' and others' if len(named) > 3 else ''})" if named else ""


def decide(
    intent: Intent,
    since: Sequence[LaterCommit],
    earlier: Sequence[LaterCommit] = (),
    moved: bool | None = None,
    base_is_ancestor: bool = True,
    expired: str = "",
) -> Decision:
    """What happens to a commit whose base is older than the snapshots `since`, oldest first. `earlier` are those up to
    its base: they count when it does not validate from its base. `moved`: the table's metadata is another than its
    base, be it without a snapshot. `base_is_ancestor`: its base is still an ancestor of the current snapshot.
    `expired`: the oldest ancestor of the current snapshot, if its parent is gone."""
    moved = bool(since) if moved is None else moved
    if not intent.kind.retried:  # SchemaUpdate.commit and BaseUpdatePartitionSpec.commit: one try
        if not moved:
            return Decision("commit")
        reason = "metadata.json is another than its base, and Iceberg does not retry a change of schema or spec"
        return Decision("refused", (Conflict("CommitFailedException", 0, "", (), reason),))
    if intent.engine == "pyiceberg" and not since:
        return Decision("commit")
    if not base_is_ancestor and walks_history(intent):
        reason = (
            "the snapshot it began from has expired or is no ancestor any more, so what was committed since "
            "cannot be looked through"
        )
        return Decision("refused", (Conflict("validateFromSnapshot", 0, "", (), reason),))
    if expired and intent.needs_whole_history:
        return Decision("refused", (Conflict(HISTORY, 0, "", (), history_words(expired)),))
    counted = since if intent.from_base else (*earlier, *since)
    conflicts = tuple(c for change in counted for validation in VALIDATIONS for c in validation(intent, change))
    if conflicts:
        return Decision("refused", conflicts)
    return Decision("retry" if moved else "commit")


def history_words(oldest: str) -> str:
    """Say why a commit without a starting snapshot is refused where the first snapshots have expired.

    Args:
        oldest: The name of the oldest ancestor of the current snapshot that is left.
    """
    return (
        f"it names no starting snapshot, so Iceberg looks through the whole history, and what came before {oldest} "
        "is gone ('Cannot determine history between starting snapshot null and the last known ancestor …')"
    )


def retry_words(properties: Mapping[str, str]) -> str:
    """Say when a commit gives up trying again (Iceberg Java: SnapshotProducer.commit, TableProperties.COMMIT_*).

    Args:
        properties: The table's.
    """
    tries = whole(properties.get("commit.retry.num-retries"))
    whose = WHOSE_RETRIES if tries is None else FOLLOWED
    tries = RETRIES if tries is None else tries
    total_ms = whole(properties.get("commit.retry.total-timeout-ms"))
    minutes = (RETRY_MS if total_ms is None else total_ms) / 60_000
    return (
        f"Each commit of others that comes first costs a try. After {count(tries, 'more try', 'more tries')} "
        f"(commit.retry.num-retries), or {minutes:g} minutes (commit.retry.total-timeout-ms), it gives up with "
        f"CommitFailedException. {whose}."
    )


def came_between(since: Sequence[str]) -> str:
    """Name the commits that came first.

    Args:
        since: The names of the snapshots since a commit's base, oldest first.
    """
    return f"Since its base came {first_of(since, MOST_NAMED)}." if since else ""


def rewrite_words(intent: Intent) -> str:
    """Say what to do where a rewrite of data files is refused; nothing of another operation."""
    if intent.kind.api != "newRewrite":
        return ""
    return (
        "Nothing is lost: start the compaction again, which then begins at the current snapshot. Beside a stream of "
        "deletes it may be refused each time. Then compact what the stream does not touch (where => 'a filter on "
        "older partitions'), or in parts of which each commits by itself (options => "
        "map('partial-progress.enabled', 'true')): a refusal then costs one part."
    )


def sequence_words(refused: bool) -> str:
    """Say of a compaction beside new equality deletes what it depends on that they are no conflict.

    Args:
        refused: Whether it is refused, since its rows do not keep their sequence number.
    """
    keep = "use-starting-sequence-number, true unless a rewrite_data_files says otherwise; Trino since 476"
    if refused:
        return (
            f"It would commit if its rows kept their sequence number ({keep}): equality deletes committed meanwhile "
            "would hit them still."
        )
    return (
        f"This holds for a compaction whose rows keep their sequence number ({keep}). Trino up to 475, and whoever "
        "switches that off, is refused: 'Cannot commit, found new delete for replaced data file' "
        "(trinodb/trino#25584). --without dataSequenceNumber names the deletes."
    )


def unnamed_target_words(name: str, files: int, rewritten: int) -> str:
    """Say whether a position delete file in conflict is about the data files that a commit replaces.

    Args:
        name: The delete file's name.
        files: How many data files its rows name.
        rewritten: How many of these the commit replaces.
    """
    which = "none of which this commit rewrites" if not rewritten else f"{rewritten:,} of which this commit rewrites"
    text = f"The rows of {name} name {count(files, 'data file')}, {which}."
    if rewritten:
        return text
    return (
        f"{text} Iceberg does not open the delete file. Its manifest entry has no bounds that name one data file, so "
        "it may be about any data file of its partition, and the commit is refused without need. A writer that writes "
        "a delete file for each data file (write.delete.granularity = file), or deletion vectors (format version 3), "
        "avoids this."
    )


def older_java_words(intent: Intent, since: Sequence[LaterCommit]) -> str:
    """Say why Iceberg Java before 1.12 refuses a commit that the newest one lets pass: it cannot put two deletion
    vectors of one data file into an index, whatever files the commit is about (apache/iceberg#17764). Nothing where it
    does not.

    Args:
        intent: The commit.
        since: What was committed since its base.
    """
    checks_deletes = any(name.startswith("validateNoConflictingDelete") for name in intent.validations)
    if not (checks_deletes or (intent.kind.api == "newRewrite" and intent.replaced)):
        return ""
    first: dict[str, str] = {}
    for change in since if intent.from_base else ():
        for delete in change.added_deletes:
            if delete.kind != "deletion_vector" or delete.referenced_data_file is None:
                continue
            before = first.setdefault(delete.referenced_data_file, change.snapshot)
            if before != change.snapshot:
                return (
                    'Iceberg Java before 1.12 refuses it, whatever files it is about ("Can\'t index multiple DVs"): '
                    f"{before} and {change.snapshot} both added a deletion vector for "
                    f"{base_name(delete.referenced_data_file)}. Start it again from the current snapshot."
                )
    return ""


def walks_history(intent: Intent) -> bool:
    """Whether its validations walk from its base to the current snapshot (MergingSnapshotProducer.validationHistory,
    which needs every snapshot in between)."""
    if "validateFromSnapshot" not in intent.validations:
        return False
    walks = any(c.startswith(("validateNoConflicting", "validateDataFilesExist")) for c in intent.validations)
    return walks or intent.kind.api in ("newRewrite", "newRowDelta")


# -- Iceberg's validations --------------------------------------------------------------------------------------------
Validation = Callable[[Intent, LaterCommit], Iterator[Conflict]]


def _conflict(check: str, change: LaterCommit, files: Sequence[LiveFile], reason: str) -> Iterator[Conflict]:
    """The conflict with these files of a snapshot; none without any."""
    if files:
        paths, manifests = tuple(f.path for f in files), tuple(dict.fromkeys(f.manifest_path for f in files))
        yield Conflict(check, change.snapshot_id, change.snapshot, paths, f"{change.snapshot} {reason}", manifests)


def fail_missing_delete_paths(intent: Intent, change: LaterCommit) -> Iterator[Conflict]:
    """ManifestFilterManager.failMissingDeletePaths: the files that a commit deletes must be there still.

    BaseRewriteFiles always asks for it, BaseOverwriteFiles with either of its validations, StreamingDelete with
    validateFilesExist."""
    checked_by_api = {
        "newRewrite": True,
        "newOverwrite": bool(intent.validations & {"validateNoConflictingData", "validateNoConflictingDeletes"}),
        "newDelete": "validateFilesExist" in intent.validations,
    }
    if checked_by_api.get(intent.kind.api):
        replaced = {f.path for f in intent.replaced}
        gone = [f for f in change.removed_data if f.path in replaced]
        yield from _conflict("failMissingDeletePaths", change, gone, "removed a data file that this commit replaces")


def validate_added_data_files(intent: Intent, change: LaterCommit) -> Iterator[Conflict]:
    """MergingSnapshotProducer.validateAddedDataFiles, which BaseOverwriteFiles and BaseReplacePartitions call for
    validateNoConflictingData, and BaseRowDelta for validateNoConflictingDataFiles."""
    where = (
        "to what this commit replaces" if intent.by_filter else "that may hold rows of its conflict detection filter"
    )
    for check in ("validateNoConflictingData", "validateNoConflictingDataFiles"):
        if check in intent.validations and change.operation in ADDS_DATA:
            yield from _conflict(check, change, intent.matching(change.added_data), f"added data files {where}")


def validate_no_new_deletes_for_data_files(intent: Intent, change: LaterCommit) -> Iterator[Conflict]:
    """MergingSnapshotProducer.validateNoNewDeletesForDataFiles, which BaseOverwriteFiles calls for
    validateNoConflictingDeletes when files decide, and BaseRewriteFiles always: there equality deletes count only if
    the rewritten rows do not keep their sequence number."""
    if change.operation not in ADDS_DELETES or intent.by_filter:
        return
    if "validateNoConflictingDeletes" in intent.validations:
        hit = _hitting(change.added_deletes, intent.replaced, equality=True)
        reason = "added deletes for a data file that this commit replaces"
        yield from _conflict("validateNoConflictingDeletes", change, hit, reason)
    if intent.kind.api == "newRewrite":
        keeps = "dataSequenceNumber" in intent.validations
        hit = _hitting(change.added_deletes, intent.replaced, equality=not keeps)
        sure = any(target_file(delete) is not None or delete.kind == "equality_deletes" for delete in hit)
        are = "for" if sure else "that may be for"
        reason = f"added {'position deletes' if keeps else 'deletes'} {are} a data file that this commit rewrites"
        yield from _conflict("validateFromSnapshot", change, hit, reason)


def validate_no_new_delete_files(intent: Intent, change: LaterCommit) -> Iterator[Conflict]:
    """MergingSnapshotProducer.validateNoNewDeleteFiles, which BaseOverwriteFiles and BaseReplacePartitions call for
    validateNoConflictingDeletes when a filter decides, and BaseRowDelta for validateNoConflictingDeleteFiles."""
    if change.operation not in ADDS_DELETES:
        return
    deletes = intent.matching(change.added_deletes)
    if "validateNoConflictingDeletes" in intent.validations and intent.by_filter:
        reason = "added deletes to what this commit replaces"
        yield from _conflict("validateNoConflictingDeletes", change, deletes, reason)
    if "validateNoConflictingDeleteFiles" in intent.validations:
        reason = "added deletes that may concern rows of its conflict detection filter"
        yield from _conflict("validateNoConflictingDeleteFiles", change, deletes, reason)


def validate_deleted_data_files(intent: Intent, change: LaterCommit) -> Iterator[Conflict]:
    """MergingSnapshotProducer.validateDeletedDataFiles, which BaseOverwriteFiles and BaseReplacePartitions call for
    validateNoConflictingDeletes when a filter decides."""
    validates = "validateNoConflictingDeletes" in intent.validations and intent.by_filter
    if validates and change.operation in ANY_REMOVAL:
        reason = "removed data files from what this commit replaces"
        yield from _conflict("validateNoConflictingDeletes", change, intent.matching(change.removed_data), reason)


def validate_data_files_exist(intent: Intent, change: LaterCommit) -> Iterator[Conflict]:
    """MergingSnapshotProducer.validateDataFilesExist, which BaseRowDelta calls for the files that its deletes refer to;
    snapshots of DELETE count only with validateDeletedFiles."""
    counted = ANY_REMOVAL if "validateDeletedFiles" in intent.validations else ("overwrite", "replace")
    if "validateDataFilesExist" in intent.validations and change.operation in counted:
        referenced = {f.path for f in intent.referenced}
        lost = [f for f in change.removed_data if f.path in referenced]
        yield from _conflict("validateDataFilesExist", change, lost, "removed a data file that its deletes refer to")


def validate_added_dvs(intent: Intent, change: LaterCommit) -> Iterator[Conflict]:
    """MergingSnapshotProducer.validateAddedDVs, which BaseRowDelta always calls: a data file has one deletion vector at
    most (spec: "Deletion Vectors")."""
    if intent.vectors and change.operation in ANY_REMOVAL:
        paths = {f.path for f in intent.referenced}
        twice = [f for f in change.added_deletes if f.kind == "deletion_vector" and f.referenced_data_file in paths]
        reason = "added a deletion vector for a data file that this commit adds one for: there can be one only"
        yield from _conflict("validateAddedDVs", change, twice, reason)


VALIDATIONS: tuple[Validation, ...] = (
    fail_missing_delete_paths,
    validate_added_data_files,
    validate_no_new_deletes_for_data_files,
    validate_no_new_delete_files,
    validate_deleted_data_files,
    validate_data_files_exist,
    validate_added_dvs,
)


def _hitting(deletes: Sequence[LiveFile], data: Sequence[LiveFile], equality: bool) -> list[LiveFile]:
    """The deletes that apply to one of the data files, as DeleteFileIndex finds them: those that are for one data file,
    and of others those of its partition."""
    places = {f.place for f in data}
    paths = {f.path for f in data}
    hitting = []
    for delete in deletes:
        if delete.kind == "equality_deletes" and not equality:
            continue
        target = target_file(delete)  # of one data file: then its partition says nothing
        if target in paths if target is not None else delete.place in places:
            hitting.append(delete)
    return hitting
