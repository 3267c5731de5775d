"""Rules 67 and 68 over commits that were lost or cut off, from snapshots and the snapshot log."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import reduce
from operator import or_
from typing import Any

from explorer.model.metadata import Snapshot
from explorer.spec.doctor.findings import Finding, finding
from explorer.spec.doctor.manifest_list_rules import Lists
from explorer.spec.doctor.remedy_cases import WITHOUT_PARENT
from explorer.spec.snapshots.ancestors import parents_of, reachable_snapshots
from explorer.spec.snapshots.lineage import ancestry
from explorer.spec.text.units import count

JAVA = "Apache Iceberg "
"""How the version of Iceberg Java begins, in the summaries of its snapshots."""
CurrentBefore = Callable[[Snapshot], "tuple[bool, int | None]"]
"""Whether the metadata file before a snapshot's can be read, and its current snapshot."""


def commit_rules(lists: Lists, current_before: CurrentBefore) -> Iterator[Finding]:
    """Sequence numbers that two commits share, and commits that were not made on the snapshot before them."""
    lost: set[int] = set()
    for finding_of_pair, newest in _duplicate_numbers(lists):
        lost |= newest
        yield finding_of_pair
    for earlier, later in _cut_off(lists):
        if later.snapshot_id not in lost:
            yield from _cut(lists, earlier, later, current_before)


def _duplicate_numbers(lists: Lists) -> Iterator[tuple[Finding, set[int]]]:
    """Each number that several commits have, and the snapshot after which one of them is lost."""
    meta = lists.meta
    by_number: dict[int, list[int]] = defaultdict(list)
    for snapshot in meta.snapshots:
        by_number[snapshot.sequence_number].append(snapshot.snapshot_id)
    current = set(ancestry(meta, meta.current_snapshot_id)) if meta.current_snapshot else set()
    reachable = reachable_snapshots(parents_of(meta.snapshots), [ref.snapshot_id for ref in meta.refs]) | current
    heads = {meta.current_snapshot_id, *(ref.snapshot_id for ref in meta.refs)}
    readable = reduce(or_, map(lists.bit, heads), 0)
    is_certain = all(snapshot.operation == "append" for snapshot in meta.snapshots)  # else its files may be rewritten
    for number, taken_ids in by_number.items():
        ids = tuple(dict.fromkeys(taken_ids))
        if number < 1 or len(ids) < 2:
            continue
        others = [i for i in ids if i not in reachable]
        gone = [i for i in others if not _is_listed(lists, i, readable)]
        words = f"the sequence number {number} was given to {len(ids)} snapshots: "
        if others and not gone:
            words += (
                f"last-sequence-number went back. No row that snapshot {others[0]} added is lost by it, since "
                "the table still lists its manifests"
            )
        else:
            words += "two commits did not see each other"
        if gone and len(gone) < len(ids):
            words += f", and what snapshot {gone[0]} did {'is' if is_certain else 'may be'} lost"
        newest = next((i for i in ids if i in current), ids[-1])
        yield (
            finding(
                "sequence-twice",
                words,
                meta.metadata_location,
                "/snapshots",
                found=list(ids),
                expected="one snapshot for each sequence number",
                snapshots=ids,
                node=("snapshot", gone[0] if gone else newest),
            ),
            {newest} if gone or not others else set(),
        )


def _is_listed(lists: Lists, snapshot_id: int, readable: int) -> bool:
    """Whether a snapshot of some, as a mask, lists each manifest that a commit added, or the current one its files."""
    listed = lists.lists.get(snapshot_id, ())
    added = [m for m in listed if m.added_snapshot_id == snapshot_id]
    if not added or all(lists.masks[m.manifest_path] & readable for m in added):
        return bool(added)
    current = lists.meta.current_snapshot
    if current is None or not all(m.manifest_path in lists.held for m in added):
        return False
    known = _keys(lists, current, "keys") | _keys(lists, current, "gone")
    return {
        (key, bool(m.content)) for m in added for key in lists.held[m.manifest_path].numbers("keys").tolist()
    } <= known


def _cut_off(lists: Lists) -> Iterator[tuple[Snapshot, Snapshot]]:
    """Snapshots of the log, each with the next one, where that was committed there and is not its descendant."""
    meta, seen = lists.meta, set[int]()
    earlier: Snapshot | None = None
    for entry in meta.snapshot_log:
        later = meta.snapshot(entry.snapshot_id)
        committed = later is not None and entry.timestamp_ms == later.timestamp_ms and entry.snapshot_id not in seen
        if earlier and later and committed and not lists.ancestors.has(later.snapshot_id, earlier.snapshot_id):
            yield earlier, later
        seen.add(entry.snapshot_id)
        earlier = later or earlier


def _cut(lists: Lists, earlier: Snapshot, later: Snapshot, current_before: CurrentBefore) -> Iterator[Finding]:
    """A table that is replaced begins anew too: in one commit, or in a commit of its own before. Of Iceberg Java no
    other commit does; it is in the summary that it wrote a snapshot. What others replace in one commit overwrites."""
    is_certain, before = True, None
    if later.parent_snapshot_id is None:
        if later.operation == "overwrite" or str(later.summary.get("iceberg-version")).startswith(JAVA):
            return
        is_certain, before = current_before(later)
        if is_certain and before is None:
            return
    lost = _keys(lists, earlier, "keys") - _keys(lists, later, "keys") - _keys(lists, later, "gone")
    about: dict[str, Any] = {} if is_certain else {"severity": "info"}
    about |= {"found": later.parent_snapshot_id, "expected": earlier.snapshot_id}
    place = f"/snapshots ({later.snapshot_id})/parent-snapshot-id"
    both = earlier.snapshot_id, later.snapshot_id
    if not lost and later.parent_snapshot_id is None:
        what = f"a snapshot has no parent, though it keeps all files of the one before: {WITHOUT_PARENT}"
        about |= {"snapshots": both, "node": ("snapshot", later.snapshot_id)}
        yield finding("commit-cut-off", what, lists.meta.metadata_location, place, **about)
        return
    files = len({key for key, is_delete in lost if not is_delete})
    without = "no parent" if later.parent_snapshot_id is None else f"the parent {later.parent_snapshot_id}"
    yield finding(
        "commit-cut-off",
        f"snapshot {later.snapshot_id} ({later.operation or 'no operation'}) has {without}, though "
        f"{earlier.snapshot_id} was current: {count(files, 'data file')} of that went, which no commit removed",
        lists.meta.metadata_location,
        place,
        snapshots=both,
        node=("snapshot", earlier.snapshot_id),
        **about,
    )


def _keys(lists: Lists, snapshot: Snapshot, name: str) -> set[tuple[int, bool]]:
    """What tells the files of a snapshot apart, and whether each is a delete file."""
    listed = [m for m in lists.lists.get(snapshot.snapshot_id, ()) if m.manifest_path in lists.held]
    return {(key, bool(m.content)) for m in listed for key in lists.held[m.manifest_path].numbers(name).tolist()}
