"""Would a commit that began at an older snapshot succeed now? Decided from a table's metadata, read-only (see
spec.commits.commit)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import islice

from explorer.errors import ExplorerError, NotFoundInTable, NotPossible
from explorer.model.manifest import ManifestFile
from explorer.model.metadata import Snapshot
from explorer.progress import steps
from explorer.queries.filters import filter_columns, may_match, parse_filter
from explorer.queries.miscounted_manifests import (
    explain_miscounted,
    kept_words,
    lost_words,
    uncounted_manifests,
)
from explorer.spec.commits.commit import (
    HISTORY,
    Decision,
    Intent,
    LaterCommit,
    came_between,
    decide,
    history_words,
    older_java_words,
    retry_words,
    rewrite_words,
    sequence_words,
    unnamed_target_words,
    walks_history,
)
from explorer.spec.commits.commit_pace import pace_of, pace_words, try_words
from explorer.spec.commits.commits_elsewhere import commits_elsewhere, elsewhere_words
from explorer.spec.commits.costs import run_between
from explorer.spec.commits.operations import KINDS, MERGING, OperationTraits
from explorer.spec.deletes.deletes import target_file
from explorer.spec.entries.live_files import LiveFile, files_of
from explorer.spec.filters.expressions import TRUE
from explorer.spec.filters.projections import Projection
from explorer.spec.maintenance.manifest_merges import rewrite_manifests
from explorer.spec.scan.scan import evaluate
from explorer.spec.snapshots.branches import MAIN
from explorer.spec.snapshots.lineage import ancestry
from explorer.spec.text.names import base_name, first_of, snapshot_name, snapshot_ordinals
from explorer.spec.values.values import internal_value, partition_path
from explorer.storage.rows import read_schema
from explorer.table import Table

OPENED, OPENED_BYTES = 5, 64 << 20
"""So many delete files in conflict are opened, of at most so many bytes."""

KEEPS_SEQUENCE = "dataSequenceNumber"
"""What has the rows of a compaction keep their sequence number."""
NO_HISTORY = (
    "Iceberg refuses a commit that began at a snapshot from which the history to the current one is not left ('Cannot "
    "determine history between starting snapshot … and the last known ancestor …'), and does not try again. Nothing of "
    "the table is damaged: start the job again, and keep snapshots for longer than the longest job runs "
    "(history.expire.max-snapshot-age-ms)"
)


NO_START = (
    "Nothing of the table is damaged. Iceberg does not try again, and it does not help to start the job again: each "
    "such commit is refused from now on. The writer has to name the snapshot that it read (validateFromSnapshot), or "
    "not to validate. Flink's sink once named none, and validated the data files of its own commit. Since "
    "apache/iceberg#3258 it does not validate: use a newer one"
)
NOT_NEEDED = "With these validations, Iceberg does not look through the history, so it does not need that snapshot"
ONE_TRY = (
    "Iceberg tries a change of schema or spec once. If a property, a schema, a branch or a tag was changed since it "
    "began, it is refused: such a change makes no snapshot, so the base does not tell."
)
NO_SNAPSHOT = ("null", "none")
"""What Iceberg calls the starting snapshot of a writer that names none."""
MAX_FILES = 100_000
"""Files that are held one by one: those that the commit may touch, and those that commits since its base changed."""


def names_no_start(table: Table, base: str | int) -> bool:
    """Whether the base of a commit is given as Iceberg calls that of a writer that names no starting snapshot, and is
    no ref's name."""
    return str(base).lower() in NO_SNAPSHOT and all(ref.name != base for ref in table.metadata.refs)


def _expired(table: Table, line: Sequence[Snapshot]) -> str:
    """The name of the oldest snapshot of a line if its parent is gone; else empty."""
    parent = line[0].parent_snapshot_id if line else None
    if parent is None or table.metadata.snapshot(parent) is not None:
        return ""
    return snapshot_name(line[0].snapshot_id, snapshot_ordinals(table.metadata))


def _without_base(table: Table, intent: Intent, current: Snapshot | None) -> str:
    """What to say where the base is gone; empty where the history is whole."""
    if intent.needs_whole_history:
        line = line_to(table, current.snapshot_id if current else None)
        return (
            f"Which one it was does not matter: {history_words(name)}. {NO_START}"
            if (name := _expired(table, line))
            else ""
        )
    return NO_HISTORY if walks_history(intent) else NOT_NEEDED


def head_of(table: Table, branch: str) -> Snapshot | None:
    """Return the snapshot that a commit to a branch is committed onto.

    Args:
        table: The table.
        branch: The branch's name.

    Returns:
        The snapshot; None where main has none.

    Raises:
        NotFoundInTable: There is no such branch, or it leads to a snapshot that the table does not have.
    """
    meta = table.metadata
    heads = {ref.name: ref.snapshot_id for ref in meta.refs if ref.type == "branch" and ref.name != MAIN}
    if branch not in (MAIN, *heads):
        raise NotFoundInTable(f"no branch {branch!r}: there are {first_of(sorted((MAIN, *heads)))}")
    snapshot_id = heads.get(branch, meta.current_snapshot_id)
    head = meta.snapshot(snapshot_id)
    if head is None and snapshot_id is not None:
        raise NotFoundInTable(
            f"branch {branch!r} leads to snapshot {snapshot_id}, which the table does not have: there is nothing to "
            "commit onto. icedive doctor TABLE tells more"
        )
    return head


def explain_conflict(
    table: Table, base: str | int | None, kind: str, validations: Sequence[str], where: str = "", branch: str = MAIN
) -> Decision:
    """What Iceberg would say to an operation of a `kind` (see spec.commits.operations.KINDS) with these validations on
    the rows that match `where`, had it begun at snapshot `base` and came to commit now. The data files it would replace
    or refer to are those of `base` that may hold such rows; of a MERGE without `where` they are not known. The commit
    goes to a `branch`. Raises NotFoundInTable, NotPossible for too many files, UnreadableFile for a manifest list or
    manifest that the answer depends on."""
    table = table.complete
    if kind not in KINDS:
        raise NotFoundInTable(f"no operation {kind!r}: there are {', '.join(KINDS)}")
    what = KINDS[kind]
    matches = file_filter(table, where)
    is_merge = what.statement == "merge" and bool(where.strip())  # Spark pushes what stands in ON beside the join
    filtered = "conflictDetectionFilter" in validations or what.decided_by == "filter" or is_merge

    def intent_at(start: Snapshot | None) -> Intent:
        """The commit that began at a snapshot."""
        reads = what.replaces or what.refers
        data = table.row_reader.applicability(start).data if start and reads else ()
        touched = tuple(islice((file for file in data if matches(file)), MAX_FILES + 1))
        if len(touched) > MAX_FILES:
            raise NotPossible(
                f"the commit may touch more than {MAX_FILES:,} data files, which are not compared one by one: name the "
                "rows that it is about (--where)"
            )
        return Intent(
            what,
            frozenset(validations),
            replaced=touched if what.replaces else (),
            referenced=touched if what.refers else (),
            may_match=matches if filtered else lambda _: True,
            vectors=table.metadata.format_version >= 3 and what.refers,
            others=what.api == "newRewrite" or not (what.refers or what.replaces),
            version=table.metadata.format_version,
        )

    current = head_of(table, branch)
    try:
        start = table.resolve(base).snapshot
    except NotFoundInTable as error:
        words = _without_base(table, intent_at(current), current)
        raise NotFoundInTable(f"{error}. {words}" if words else str(error)) from error
    if current is None:
        raise NotFoundInTable(f"{branch} has no current snapshot: nothing that was committed can conflict there")
    intent = intent_at(start)
    before = line_to(table, start.snapshot_id)
    try:
        later = run_between(table.metadata, start.snapshot_id, current.snapshot_id)
    except ValueError as error:
        line = line_to(table, current.snapshot_id)
        if walks_history(intent) and _expired(table, line):
            cause = (
                f"{base} is no ancestor of the current snapshot as far as is left: the commits between may have expired"
            )
            raise NotFoundInTable(f"{cause}. {NO_HISTORY}") from error
        if walks_history(intent):
            raise NotFoundInTable(
                f"{base} is no ancestor of {branch}'s current snapshot: Iceberg refuses a commit to {branch} that "
                "begins there"
            ) from error
        before, later = [], line  # it looks at the whole line, or at nothing
    on_branch = {start.snapshot_id, *(one.snapshot_id for one in line_to(table, current.snapshot_id))}
    others = commits_elsewhere(table.metadata, start, on_branch)
    moved = bool(later or others.snapshots)
    decision = decision_of(table, intent, later, before, moved)
    if what.statement == "merge" and not where.strip() and decision.outcome == "refused":
        # Which files have rows of its source is known to nobody: Spark replaces and refers to these alone.
        sure = decision_of(table, replace(intent, replaced=(), referenced=()), later, before, moved)
        decision = replace(sure, unless=() if sure.outcome == "refused" else decision.conflicts)
    decision = _with_notes(table, intent, later, decision, current)
    if decision.outcome != "refused" and (words := _miscounted_words(table, what, current)):
        decision = replace(decision, notes=(words, *decision.notes))
    if not others.snapshots:
        is_single = decision.outcome == "commit" and not what.retried
        return replace(decision, notes=(*decision.notes, ONE_TRY)) if is_single else decision
    elsewhere = elsewhere_words(table.metadata, start, others, what.retried, branch)
    return replace(decision, notes=(*decision.notes, elsewhere))


def _with_notes(
    table: Table, intent: Intent, later: Sequence[Snapshot], decision: Decision, current: Snapshot
) -> Decision:
    """A decision, with what else may make the commit fail, and what to do where it is refused."""
    if decision.outcome == "commit":
        return decision
    if any(conflict.check == HISTORY for conflict in decision.conflicts):
        return replace(decision, notes=(f"{NO_START}.",))
    changes = [change_of(table, one) for one in steps(later, "snapshots")]
    sequence = _sequence_words(intent, changes, decision)
    if decision.outcome == "retry":
        between = came_between([f"{change.snapshot} ({change.operation})" for change in changes])
        pace = pace_of(later)
        paced = [pace_words(pace), _try_words(table, intent, current)] if pace else []
        notes = [older_java_words(intent, changes), sequence, between, *paced, retry_words(table.metadata.properties)]
        decision = replace(decision, usual_ms=pace.usual_ms if pace else None)
    else:
        notes = [*_opened_deletes(table, intent, changes, decision), sequence, rewrite_words(intent)]
    return replace(decision, notes=tuple(filter(None, notes)))


def _miscounted_words(table: Table, what: OperationTraits, current: Snapshot) -> str:
    """What becomes of live files that the list of the snapshot does not count, which a commit comes onto."""
    if what.api == "rewriteManifests":
        return explain_miscounted(table.tree, _rewritten(table, current), current)
    if what.api not in (*MERGING, "newFastAppend") or not (lost := uncounted_manifests(table.tree, current)):
        return ""
    return lost_words(lost) if what.api in MERGING else kept_words(lost)


def _rewritten(table: Table, current: Snapshot) -> set[str]:
    """The manifests that rewrite_manifests writes anew; none where it fails."""
    meta = table.metadata
    with suppress(ValueError):
        plans = rewrite_manifests(table.tree.manifests(current), meta.properties, meta.default_spec_id or 0)
        return {manifest.manifest_path for plan in plans if plan.rewritten for manifest in plan.manifests}
    return set()


def _try_words(table: Table, intent: Intent, current: Snapshot) -> str:
    """What a try reads and writes here."""
    meta = table.metadata
    size = table.tree.sizes([meta.metadata_location]).get(meta.metadata_location)
    return try_words(intent.kind, meta, table.tree.manifests(current), size)


def _sequence_words(intent: Intent, changes: Sequence[LaterCommit], decision: Decision) -> str:
    """Say so where it decides over a compaction whether its rows keep their sequence number."""
    if intent.kind.api != "newRewrite":
        return ""
    other = replace(intent, validations=intent.validations ^ {KEEPS_SEQUENCE})
    refused = decision.outcome == "refused"
    return sequence_words(refused) if (decide(other, changes).outcome == "refused") != refused else ""


def _opened_deletes(table: Table, intent: Intent, changes: Sequence[LaterCommit], decision: Decision) -> Iterator[str]:
    """Say of position deletes in conflict, whose entries name no data file, which data files their rows name."""
    paths = {path for conflict in decision.conflicts for path in conflict.files}
    deletes = [
        delete
        for change in changes
        for delete in change.added_deletes
        if delete.path in paths and delete.kind == "position_deletes" and target_file(delete) is None
    ]
    replaced = {file.path for file in intent.replaced}
    for delete in deletes[:OPENED]:
        if delete.size > OPENED_BYTES:
            continue
        try:
            named = set(table.row_reader.position_deletes(delete)["file_path"].unique().to_pylist())
        except ExplorerError:
            continue
        yield unnamed_target_words(base_name(delete.path), len(named), len(named & replaced))


def line_to(table: Table, snapshot_id: int | None) -> list[Snapshot]:
    """A snapshot and its ancestors that are left, oldest first."""
    return [s for i in reversed(ancestry(table.metadata, snapshot_id)) if (s := table.metadata.snapshot(i))]


def decision_of(
    table: Table,
    intent: Intent,
    since: Sequence[Snapshot],
    before: Sequence[Snapshot],
    moved: bool | None = None,
    base_is_ancestor: bool = True,
) -> Decision:
    """spec.commits.commit.decide on what these snapshots changed, with the partitions of the files in conflict. Those
    `before` are read only where the intent looks at them."""
    expired = _expired(table, before or since)
    if expired and intent.needs_whole_history:
        return decide(intent, (), (), bool(since) if moved is None else moved, base_is_ancestor, expired)
    back = intent.looks and "validateFromSnapshot" not in intent.validations
    looked = [*(before if back else ()), *since]
    table.tree.ahead(looked)
    manifests = [m for s in steps(looked, "snapshots") for m in _own_manifests(table, s)]
    changed = sum((m.added_files_count or 0) + (m.deleted_files_count or 0) for m in manifests)
    if changed > MAX_FILES and (intent.looks or intent.validations):
        raise NotPossible(
            f"commits since the base changed {changed:,} files, and at most {MAX_FILES:,} are compared one by one: "
            "name a later base"
        )
    table.tree.ahead(manifests=manifests)
    earlier = [change_of(table, s) for s in steps(before, "snapshots")] if back else []
    later = [change_of(table, s) for s in steps(since, "snapshots")]
    decision, meta = decide(intent, later, earlier, moved, base_is_ancestor), table.metadata
    files = {f.path: f for c in (*earlier, *later) for f in (*c.added_data, *c.added_deletes, *c.removed_data)}

    def of(path: str) -> str:
        file = files.get(path)
        return partition_path(file.partition, meta.spec(file.spec_id), meta) if file else ""

    placed = [replace(c, partitions=tuple(dict.fromkeys(of(path) for path in c.files))) for c in decision.conflicts]
    return replace(decision, conflicts=tuple(placed))


def _own_manifests(table: Table, snapshot: Snapshot) -> list[ManifestFile]:
    """The manifests that a snapshot wrote."""
    return [m for m in table.tree.manifests(snapshot) if m.added_snapshot_id == snapshot.snapshot_id]


def change_of(table: Table, snapshot: Snapshot) -> LaterCommit:
    """What a snapshot added and removed, by the manifests that it wrote."""
    by_status: dict[str, list[LiveFile]] = {"ADDED": [], "DELETED": []}
    for manifest, entries in table.tree.logical(_own_manifests(table, snapshot), snapshot, metrics=True):
        for status, files in by_status.items():
            files += files_of(entries, manifest.partition_spec_id, manifest.manifest_path, (status,))
    added = by_status["ADDED"]
    name = snapshot_name(snapshot.snapshot_id, snapshot_ordinals(table.metadata))
    return LaterCommit(
        snapshot.snapshot_id,
        name,
        snapshot.operation or "",
        tuple(f for f in added if f.kind == "data_file"),
        tuple(f for f in added if f.kind != "data_file"),
        tuple(f for f in by_status["DELETED"] if f.kind == "data_file"),
    )


def file_filter(table: Table, where: str) -> Callable[[LiveFile], bool]:
    """Whether a file may concern rows of a filter, by its partition and, of data files, its bounds."""
    bound = parse_filter(where, filter_columns(read_schema(table.metadata, None)), null_too=True)
    specs = {spec.spec_id: Projection(spec, table.metadata).inclusive(bound) for spec in table.metadata.partition_specs}

    def matches(file: LiveFile) -> bool:
        partition = {int(name): internal_value(value) for name, value in file.partition.items()}
        if not evaluate(specs.get(file.spec_id, TRUE), partition):
            return False
        return may_match(bound, file) if file.kind == "data_file" else True

    return matches
