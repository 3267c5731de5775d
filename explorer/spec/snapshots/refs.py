"""What an operation on branches, tags or the current snapshot would do, decided from metadata alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from explorer.model.metadata import Snapshot, TableMetadata
from explorer.spec.commits.costs import transaction_words
from explorer.spec.snapshots.ancestors import parents_of, reachable_snapshots
from explorer.spec.snapshots.lineage import ancestry, circle_words
from explorer.spec.snapshots.ref_operations import OPERATIONS
from explorer.spec.text.names import first_named, first_of, runs, shorten, snapshot_name, snapshot_ordinals
from explorer.spec.text.units import instant

FOLLOWS_MAIN = ("rollback", "rollback-to-time", "cherry-pick", "publish")
"""The operations for which Iceberg lists all ancestors of the current snapshot."""


@dataclass(frozen=True)
class RefPreview:
    """What would happen: whether Iceberg would do it and why not; the refs before and after (names to snapshot ids);
    the snapshot that would be current (None where a new one is made); snapshots that no ref would lead to any more, and
    the files that only those reach."""

    operation: str
    allowed: bool
    words: tuple[str, ...]
    before: dict[str, int]
    after: dict[str, int]
    current: int | None
    abandoned: tuple[int, ...]
    files: tuple[str, ...] = ()


def preview_refs(
    metadata: TableMetadata, operation: str, name: str, snapshot: Snapshot | None, timestamp_ms: int | None = None
) -> RefPreview:
    """Preview one of OPERATIONS. `name` is a branch, tag or WAP id; `snapshot` the one it is about. Raises ValueError
    for an unknown operation or when what it needs is not given."""
    if operation not in OPERATIONS:
        raise ValueError(f"no operation {operation!r}: there are {', '.join(OPERATIONS)}")
    ordinals = snapshot_ordinals(metadata)
    before = {r.name: r.snapshot_id for r in metadata.refs}
    kinds = {r.name: r.type for r in metadata.refs}
    after, current = dict(before), metadata.current_snapshot_id
    sentences: list[str] = []
    refusal = ""
    main = ancestry(metadata, current)

    def of(snapshot_id: int | None) -> str:
        return snapshot_name(snapshot_id, ordinals)

    if operation == "rollback-to-time":
        if timestamp_ms is None:
            raise ValueError("rollback-to-time takes a time")
        older = [s for i in main if (s := metadata.snapshot(i)) and 0 < (s.timestamp_ms or 0) < timestamp_ms]
        snapshot = max(older, key=lambda s: s.timestamp_ms or 0, default=None)  # the newest of those of one time
        if snapshot is None:
            refusal = f"no ancestor of the current snapshot is older than {instant(timestamp_ms)}"
        elif older[0] is not snapshot:
            sentences.append(
                f"{of(older[0].snapshot_id)} descends from {of(snapshot.snapshot_id)} and is older by its clock: "
                "Iceberg takes the ancestor with the latest time."
            )
    elif operation == "publish":
        with_id = [s for s in metadata.snapshots if name and s.summary.get("wap.id") == name]
        snapshot = with_id[0] if with_id else None
        staged = sorted({s.summary["wap.id"] for s in metadata.snapshots if "wap.id" in s.summary})
        if snapshot is None:
            refusal = f"no snapshot has the WAP id {name!r}; there are {first_of(staged) or 'none'}"
        elif len(with_id) > 1:  # PublishChangesProcedure
            names = first_named([s.snapshot_id for s in with_id], of, between=" and ")
            refusal = (
                f"{names} have the WAP id {name!r}, and it publishes one "
                "that is unique. Cherry-pick one by its snapshot id. Iceberg then refuses the others, whose WAP id is "
                "published: make a branch at each, and insert its rows from there"
            )
    elif operation != "drop" and snapshot is None:
        raise ValueError(f"{operation} takes a snapshot")
    if operation in ("tag", "branch", "drop", "fast-forward") and not name:
        raise ValueError(f"{operation} takes the name of a branch or tag")

    if operation in ("tag", "branch") and snapshot is not None:
        if name in before:
            refusal = f"{kinds[name]} {name} is there already, at {of(before[name])}"
        else:
            after[name] = snapshot.snapshot_id
            sentences.append(f"{operation} {name} would keep {of(snapshot.snapshot_id)} and all it reads from expiry.")
    elif operation == "drop":
        if name not in before:
            refusal = f"there is no branch or tag {name}"
        elif name == "main":
            refusal = "the main branch cannot be dropped"
        else:
            del after[name]
    elif operation == "fast-forward" and snapshot is not None:
        if name not in before:
            after[name] = snapshot.snapshot_id
            current = snapshot.snapshot_id if name == "main" else current
            sentences.append(f"There is no branch {name}: it would be made, at {of(snapshot.snapshot_id)}.")
        elif kinds[name] != "branch":
            refusal = f"{name} is a tag, and no branch"
        elif before[name] not in ancestry(metadata, snapshot.snapshot_id):
            refusal = f"{of(snapshot.snapshot_id)} does not descend from {of(before[name])}, where {name} is"
        else:
            after[name] = snapshot.snapshot_id
            current = snapshot.snapshot_id if name == "main" else current
            sentences.append(
                f"{name} would go from {of(before[name])} to {of(snapshot.snapshot_id)}; nothing is written but a "
                "metadata file."
            )
    elif operation in ("rollback", "rollback-to-time", "set-current") and snapshot is not None:
        if operation == "rollback" and snapshot.snapshot_id not in main:
            refusal = f"{of(snapshot.snapshot_id)} is no ancestor of the current snapshot: set-current goes anywhere"
        else:
            after["main"] = current = snapshot.snapshot_id
            sentences.append(f"main would go from {of(metadata.current_snapshot_id)} to {of(snapshot.snapshot_id)}.")
            if middle := transaction_words(metadata, snapshot.snapshot_id):
                sentences.append(f"{middle[0].upper()}{middle[1:]}")
            if metadata.current_snapshot_id is not None:
                sentences.append("Readers by snapshot id still see the newer snapshots, until they expire.")
            if snapshot.schema_id not in (None, metadata.current_schema_id):
                sentences += _schema_stays(metadata, snapshot)
    elif operation in ("cherry-pick", "publish") and snapshot is not None:
        refusal = refusal or _pick_refusal(metadata, snapshot, main, of)
        if not refusal and snapshot.parent_snapshot_id == current:
            after["main"] = current = snapshot.snapshot_id
            staged_on = "the current snapshot" if metadata.current_snapshot_id is not None else "the empty table"
            sentences.append(f"{of(snapshot.snapshot_id)} was staged on {staged_on}: main is moved on to it.")
        elif not refusal:
            current = None
            del after["main"]
            sentences.append(
                f"A new snapshot on {of(metadata.current_snapshot_id)} would add the files that "
                f"{of(snapshot.snapshot_id)} added."
            )
    endless = endless_walk(metadata, operation, snapshot)
    if endless or refusal:
        words = endless or f"Iceberg would refuse: {refusal}."
        return RefPreview(operation, False, (words,), before, before, metadata.current_snapshot_id, ())
    moves = current != metadata.current_snapshot_id
    to = "the new snapshot" if current is None else of(current)
    sentences.append(
        f"The snapshot log would get a line: {to}, current from then on."
        if moves
        else "The snapshot log would stay as it is."
    )
    heads_before, heads_after = set(before.values()), {*after.values(), *([current] if current else [])}
    parents = parents_of(metadata.snapshots)
    still = reachable_snapshots(parents, heads_after)
    if current is None:  # the new snapshot's parent is the old current one
        still |= set(main)
    abandoned = tuple(sorted(reachable_snapshots(parents, heads_before) - still, key=lambda i: ordinals.get(i, 0)))
    if abandoned:
        sentences.append(
            f"No branch or tag would lead to {runs(of(i) for i in abandoned)}: the next expiry may remove what "
            "only they read."
        )
    return RefPreview(operation, True, tuple(sentences), before, after, current, abandoned)


def endless_walk(metadata: TableMetadata, operation: str, snapshot: Snapshot | None) -> str:
    """Return why one of OPERATIONS must not be run: Iceberg would follow parents in a circle. Empty where it would end.

    Args:
        metadata: The table's.
        operation: One of OPERATIONS.
        snapshot: The one that the operation is about.
    """
    if operation in FOLLOWS_MAIN:
        return circle_words(metadata, metadata.current_snapshot_id, "the current snapshot")
    if operation == "fast-forward" and snapshot is not None:
        return circle_words(metadata, snapshot.snapshot_id, "the snapshot that it would move to")
    return ""


def _schema_stays(metadata: TableMetadata, snapshot: Snapshot) -> list[str]:
    """Say what the current schema makes of a snapshot that was written by another."""
    now, then = metadata.schema(metadata.current_schema_id), metadata.schema(snapshot.schema_id)
    stays = f"The schema stays {metadata.current_schema_id}; that snapshot was written by schema {snapshot.schema_id}."
    if now is None or then is None:
        return [stays]
    sentences = [stays]
    if dropped := _outermost(field.name for own, field in then.by_id.items() if own not in now.by_id):
        sentences.append(
            f"Columns that were dropped since do not come back ({first_of(dropped, 3)}), and a new column of such a "
            f"name is another one. Readers by its snapshot id (VERSION AS OF {snapshot.snapshot_id}) or a tag see "
            "the old values until the snapshot expires."
        )
    if added := _outermost(field.name for own, field in now.by_id.items() if own not in then.by_id):
        sentences.append(f"Columns that were added since stay: {first_of(added, 3)}.")
    both = [(then.by_id[own].name, field.name) for own, field in now.by_id.items() if own in then.by_id]
    if renamed := [f"{shorten(old, 60)} is {shorten(new, 60)}" for old, new in both if old != new]:
        sentences.append(f"Columns that were renamed since keep their new names: {first_of(renamed, 3)}.")
    return sentences


def _outermost(names: Iterable[str]) -> list[str]:
    """The names of fields that are in no other of them."""
    known = set(names)
    return [name for name in sorted(known) if not any(name[:at] in known for at, c in enumerate(name) if c == ".")]


def _pick_refusal(metadata: TableMetadata, snapshot: Snapshot, main: list[int], of: Callable[[int | None], str]) -> str:
    own = snapshot.snapshot_id
    picked = [s for i in main if (s := metadata.snapshot(i)) and s.summary.get("source-snapshot-id") == str(own)]
    wap = snapshot.summary.get("wap.id")
    ids = ("wap.id", "published-wap-id")  # that of a snapshot to which main was moved counts, too (WapUtil)
    published = [
        s for i in main if (s := metadata.snapshot(i)) and wap and wap in (s.summary.get(name) for name in ids)
    ]
    if own in main:
        return f"{of(own)} is an ancestor of the current snapshot already"
    if picked:
        return f"{of(picked[0].snapshot_id)} has picked it already"
    if published:
        return f"{of(published[0].snapshot_id)} has published the staged write {wap!r} already"
    dynamic = snapshot.operation == "overwrite" and snapshot.summary.get("replace-partitions") == "true"
    if snapshot.operation != "append" and not dynamic and snapshot.parent_snapshot_id != metadata.current_snapshot_id:
        return f"{of(own)} is no append but {snapshot.operation}, and was not made on the current snapshot"
    return ""


def free_ref_name(metadata: TableMetadata, name: str) -> str:
    """Return a name for a new branch or tag: this one, with a number where it is taken."""
    taken = {ref.name for ref in metadata.refs}
    return next(n for i in range(1, len(taken) + 2) if (n := name if i == 1 else f"{name}_{i}") not in taken)
