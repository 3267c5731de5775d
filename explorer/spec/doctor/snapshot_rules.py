"""Rules over snapshots, refs and logs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import pairwise
from typing import Any

from explorer.model.metadata import Snapshot, TableMetadata
from explorer.spec.doctor.findings import Finding, finding
from explorer.spec.doctor.metadata_rules import current_schema
from explorer.spec.doctor.remedy_cases import CHANGED_SNAPSHOT, LOST_REF, NO_OPERATION, NO_SCHEME, UNSET_CURRENT
from explorer.spec.text.units import instant

MINUTE = 60_000
"""Milliseconds that clocks may differ by, as Iceberg has it."""
WALK = ("current-schema-missing", "ref-dangling", "parent-cycle", "snapshot-twice")


def walkable(meta: TableMetadata) -> Iterator[Finding]:
    """Whether the tree can be walked at all, and by ids: rules 4, 12, 14 and 15."""
    yield from current_schema(meta)
    here = partial(finding, file=meta.metadata_location)
    if meta.current_snapshot_id is not None and meta.current_snapshot is None:
        yield here(
            "ref-dangling",
            f"snapshot {meta.current_snapshot_id} is not in `snapshots`",
            location="/current-snapshot-id",
            found=meta.current_snapshot_id,
            refs=("main",),
            node=("metadata", meta.metadata_location),
            refused="table",
        )
    for ref in meta.refs:
        if meta.snapshot(ref.snapshot_id) is None and ref.raw:
            yield here(
                "ref-dangling",
                f"points to snapshot {ref.snapshot_id}, which is not in `snapshots`",
                location=f"/refs/{ref.name}",
                found=ref.snapshot_id,
                refs=(ref.name,),
                node=("ref", ref.name),
                refused="table",
            )
    for own, times in Counter(s.snapshot_id for s in meta.snapshots).items():
        if times > 1:
            yield here(
                "snapshot-twice",
                f"{times} snapshots have the id {own}, and answers are of the first of them",
                location="/snapshots",
                found=own,
                refused="table",
                snapshots=(own,),
                node=("snapshot", own),
            )
    parents = {s.snapshot_id: s.parent_snapshot_id for s in meta.snapshots}
    settled: set[int] = set()
    for start in parents:
        walk: dict[int, None] = {}  # in order, and quick to look into
        at: int | None = start
        while at in parents and at not in settled and at not in walk:
            walk[at] = None
            at = parents[at]
        if at in walk:
            path = list(walk)
            circle = path[path.index(at) :]
            chain = " -> ".join(map(str, [*circle[:20], at]))
            yield here(
                "parent-cycle",
                f"the parents of snapshot {start} run in a circle: {chain}",
                location="/snapshots",
                found=start,
                snapshots=tuple(circle),
                node=("snapshot", start),
            )
        settled.update(walk)


def history_rules(meta: TableMetadata, previous: TableMetadata | None = None) -> Iterator[Finding]:
    """What is wrong with snapshots, refs and logs, by themselves and beside the metadata file before."""
    here = partial(finding, file=meta.metadata_location)
    yield from walkable(meta)
    yield from _refs(meta, here)
    expired = [
        s for s in meta.snapshots if s.parent_snapshot_id is not None and not meta.snapshot(s.parent_snapshot_id)
    ]
    if expired:
        first = expired[0]
        yield here(
            "parent-expired",
            f"the parents of {len(expired):,} snapshots have expired",
            location="/snapshots",
            found=first.parent_snapshot_id,
            count=len(expired),
            snapshots=tuple(s.snapshot_id for s in expired),
            node=("snapshot", first.snapshot_id),
        )
    for snapshot in meta.snapshots:
        yield from _snapshot(meta, snapshot, partial(_about, meta, snapshot))
    if previous is not None:
        yield from _snapshot_changes(meta, previous)
        yield from _lost_refs(meta, previous)
    yield from _logs(meta, here)


def _about(meta: TableMetadata, snapshot: Snapshot, rule: str, what: str, field: str = "", **more: Any) -> Finding:
    own = snapshot.snapshot_id
    return finding(
        rule,
        what,
        meta.metadata_location,
        f"/snapshots ({own}){field and '/' + field}",
        snapshots=(own,),
        node=("snapshot", own),
        **more,
    )


def _refs(meta: TableMetadata, here: Any) -> Iterator[Finding]:
    main = next((r for r in meta.refs if r.name == "main" and r.raw), None)
    if main and main.snapshot_id != meta.current_snapshot_id:
        two_tables = "readers of `main` and of the current snapshot see two tables"
        yield here(
            "current-unlike-main",
            UNSET_CURRENT if meta.current_snapshot_id is None else two_tables,
            location="/current-snapshot-id",
            found=meta.current_snapshot_id,
            expected=f"main: {main.snapshot_id}",
            snapshots=(main.snapshot_id,),
            refs=("main",),
            node=("ref", "main"),
            refused="table",
        )
    elif main is None and meta.raw.get("refs") and meta.current_snapshot_id is not None:
        yield here(
            "current-unlike-main",
            "there are refs, but no `main`",
            location="/refs",
            expected=f"current-snapshot-id: {meta.current_snapshot_id}",
            severity="warning",
            node=("metadata", meta.metadata_location),
        )
    for ref in meta.refs:
        tag = ref.type == "tag"
        numbers = (ref.min_snapshots_to_keep, ref.max_snapshot_age_ms, ref.max_ref_age_ms)
        cause, refused = "", "table"
        if ref.type not in ("branch", "tag"):
            cause = f"its type is {ref.type[:40]!r}: neither branch nor tag"
            refused = "" if ref.type.lower() in ("branch", "tag") else refused
        elif ref.name == "main" and tag:
            cause, refused = "`main` is a tag", ""
        elif any(n is not None and n <= 0 for n in numbers):
            cause = "its retention has a number that is not above 0"
        elif tag and (ref.min_snapshots_to_keep is not None or ref.max_snapshot_age_ms is not None):
            cause = "a tag keeps one snapshot, yet it says how many or how old"
        if cause:
            yield here(
                "metadata-field",
                f"ref {ref.name!r}: {cause}",
                location=f"/refs/{ref.name}",
                refs=(ref.name,),
                node=("ref", ref.name),
                refused=refused,
            )


def _snapshot(meta: TableMetadata, snapshot: Snapshot, about: Any) -> Iterator[Finding]:
    own, parent = snapshot.sequence_number, meta.snapshot(snapshot.parent_snapshot_id)
    if own > meta.last_sequence_number:
        yield about(
            "sequence-above-last",
            "its sequence number is above last-sequence-number: the next commit may take it again",
            "sequence-number",
            found=own,
            expected=f"at most {meta.last_sequence_number}",
            refused="table",
        )
    if own < 0 or (meta.format_version == 1 and own):
        yield about(
            "sequence-above-last",
            "version 1 has no sequence numbers, and none is below 0",
            "sequence-number",
            found=own,
            severity="warning",
        )
    if parent and parent is not snapshot and own and parent.sequence_number >= own:
        yield about(
            "sequence-regresses",
            "its sequence number is not above its parent's",
            "sequence-number",
            found=own,
            expected=f"above {parent.sequence_number}, of {parent.snapshot_id}",
        )
    if snapshot.schema_id is not None and meta.schema(snapshot.schema_id) is None:
        yield about(
            "snapshot-schema-missing",
            f"its schema {snapshot.schema_id} is not in `schemas`: time travel to it fails",
            "schema-id",
            found=snapshot.schema_id,
            expected=[s.schema_id for s in meta.schemas],
            severity="error",
            refused="scan",
        )
    if (
        snapshot.timestamp_ms
        and parent
        and parent.timestamp_ms
        and parent.timestamp_ms - snapshot.timestamp_ms > MINUTE
    ):
        yield about(
            "time-out-of-order",
            "it is older than its parent",
            "timestamp-ms",
            found=instant(snapshot.timestamp_ms),
            expected=instant(parent.timestamp_ms),
        )
    elif snapshot.timestamp_ms and meta.last_updated_ms and snapshot.timestamp_ms - meta.last_updated_ms > MINUTE:
        yield about(
            "time-out-of-order",
            "it is younger than the table's last update",
            "timestamp-ms",
            found=instant(snapshot.timestamp_ms),
            expected=instant(meta.last_updated_ms),
        )
    if snapshot.manifest_list is None and meta.format_version >= 2 and snapshot.manifests:
        yield about(
            "metadata-field", "it lists its manifests inline, as only version 1 does", "manifests", severity="warning"
        )
    if snapshot.summary and snapshot.operation is None:
        cause = f"{NO_OPERATION}, and DuckDB 1.3 refuses the table (duckdb-iceberg#412)"
        yield about("metadata-field", cause, "summary", severity="info")
    scheme = meta.location.partition("://")[0] if "://" in meta.location else ""
    path = snapshot.manifest_list or ""
    if scheme and path and ":" not in path.split("/")[0]:
        yield about(
            "path-outside",
            f"{NO_SCHEME}, and the table's location has {scheme}://",
            "manifest-list",
            found=path[:300],
        )
    if meta.next_row_id is not None and snapshot.first_row_id is not None:
        end = snapshot.first_row_id + (snapshot.added_rows or 0)
        if snapshot.first_row_id < 0 or end > meta.next_row_id:
            yield about(
                "next-row-id",
                "its row ids reach next-row-id: the next commit gives them out again",
                "first-row-id",
                found=end,
                expected=f"at most {meta.next_row_id}",
            )
        if (
            parent
            and parent.first_row_id is not None
            and snapshot.first_row_id < parent.first_row_id + (parent.added_rows or 0)
        ):
            yield about(
                "row-ids-overlap",
                "its first row id is among its parent's rows",
                "first-row-id",
                found=snapshot.first_row_id,
                expected=f"from {parent.first_row_id + (parent.added_rows or 0)} on",
            )
    elif meta.format_version >= 3 and parent and parent.first_row_id is not None and snapshot.first_row_id is None:
        yield about("metadata-field", "it has no first-row-id, and its parent has", "first-row-id")


def _lost_refs(meta: TableMetadata, previous: TableMetadata) -> Iterator[Finding]:
    """Of rule 14: refs that one commit took out with their snapshots, which Iceberg does once they are old enough."""
    names = {ref.name for ref in meta.refs}
    for ref in previous.refs:
        snapshot = previous.snapshot(ref.snapshot_id)
        if ref.name in names or snapshot is None or meta.snapshot(ref.snapshot_id) is not None or not names:
            continue
        text = previous.properties.get("history.expire.max-ref-age-ms", "")
        age = ref.max_ref_age_ms or (int(text) if text.isascii() and text.isdecimal() else None)
        if age is not None and (snapshot.timestamp_ms or 0) + age <= (meta.last_updated_ms or 0):
            continue
        yield finding(
            "ref-dangling",
            f"the {ref.type} {ref.name[:100]!r} and its snapshot {ref.snapshot_id} {LOST_REF}",
            previous.metadata_location,
            f"/refs ({ref.name})",
            found=ref.snapshot_id,
            refs=(ref.name,),
            node=("metadata", meta.metadata_location),
            severity="warning",
        )


def _snapshot_changes(meta: TableMetadata, previous: TableMetadata) -> Iterator[Finding]:
    """Snapshots never change."""
    moved = meta.location != previous.location
    times = Counter(s.snapshot_id for of in (meta, previous) for s in of.snapshots)
    for snapshot in meta.snapshots:
        old = previous.snapshot(snapshot.snapshot_id)
        if old is None or times[snapshot.snapshot_id] > 2:  # of two with one id nobody knows which is the old one
            continue
        pairs = {
            "parent-snapshot-id": (snapshot.parent_snapshot_id, old.parent_snapshot_id),
            "sequence-number": (snapshot.sequence_number, old.sequence_number),
            "timestamp-ms": (snapshot.timestamp_ms, old.timestamp_ms),
            "schema-id": (snapshot.schema_id, old.schema_id),
            "first-row-id": (snapshot.first_row_id, old.first_row_id),
            "added-rows": (snapshot.added_rows, old.added_rows),
            "manifest-list": (None, None) if moved else (snapshot.manifest_list, old.manifest_list),
            "summary": (dict(snapshot.summary), dict(old.summary)),
        }
        if snapshot.parent_snapshot_id is None and meta.snapshot(old.parent_snapshot_id) is None:
            del pairs["parent-snapshot-id"]  # pyiceberg's expiry forgets a parent that it removes
        for field, (now, before) in pairs.items():
            if now != before:
                yield _about(
                    meta,
                    snapshot,
                    "snapshot-twice",
                    f"its {field} is another than in the metadata file before: {CHANGED_SNAPSHOT}",
                    field,
                    severity="warning" if field == "summary" else "error",
                    found=_differences(now, before),
                    expected=_differences(before, now),
                )


def _differences(value: Any, other: Any) -> Any:
    """Of a summary only what differs."""
    if isinstance(value, dict) and isinstance(other, dict):
        return {k: v for k, v in value.items() if other.get(k) != v}
    return value


def _logs(meta: TableMetadata, here: Any) -> Iterator[Finding]:
    """Rules 18 and 19."""
    node = ("metadata", meta.metadata_location)
    for name, times in (
        ("snapshot-log", [e.timestamp_ms for e in meta.snapshot_log]),
        ("metadata-log", [e.timestamp_ms for e in meta.metadata_log]),
    ):
        late = _backwards(times)
        if late:
            at = late[0]
            yield here(
                "time-out-of-order",
                f"the {name} runs backwards",
                location=f"/{name}/{at}",
                count=len(late),
                found=instant(times[at]),
                expected=f"not before {instant(times[at - 1])}",
                node=node,
                severity="error",
                refused="table",
            )
        if times and meta.last_updated_ms and times[-1] - meta.last_updated_ms > MINUTE:
            yield here(
                "time-out-of-order",
                f"last-updated-ms is before the last line of the {name}",
                location="/last-updated-ms",
                found=instant(meta.last_updated_ms),
                expected=f"not before {instant(times[-1])}",
                node=node,
                severity="error",
                refused="table",
            )
    gone = [(i, e) for i, e in enumerate(meta.snapshot_log) if meta.snapshot(e.snapshot_id) is None]
    if gone:
        at, entry = gone[0]
        yield here(
            "log-of-expired",
            f"{len(gone)} lines of the snapshot log name snapshots that are not there: time travel into them fails",
            location=f"/snapshot-log/{at}",
            found=entry.snapshot_id,
            count=len(gone),
            node=node,
        )
    for i, entry in enumerate(meta.snapshot_log):
        snapshot = meta.snapshot(entry.snapshot_id)
        if snapshot and snapshot.timestamp_ms and snapshot.timestamp_ms - entry.timestamp_ms > MINUTE:
            yield here(
                "time-out-of-order",
                "a snapshot is in the log before it was made",
                location=f"/snapshot-log/{i}",
                found=instant(entry.timestamp_ms),
                expected=f"not before {instant(snapshot.timestamp_ms)}",
                snapshots=(entry.snapshot_id,),
                node=("snapshot", entry.snapshot_id),
            )
    last = meta.snapshot_log[-1].snapshot_id if meta.snapshot_log else None
    if last is not None and meta.current_snapshot_id is not None and last != meta.current_snapshot_id:
        yield here(
            "log-of-expired",
            "the snapshot log does not end with the current snapshot",
            location=f"/snapshot-log/{len(meta.snapshot_log) - 1}",
            found=last,
            expected=meta.current_snapshot_id,
            node=node,
        )


def _backwards(times: Sequence[int]) -> list[int]:
    return [i for i, (one, other) in enumerate(pairwise(times), 1) if one - other > MINUTE]
