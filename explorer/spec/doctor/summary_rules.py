"""Rules over snapshots' summaries: what they count, and what the operation says, against the entries."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from explorer.model.metadata import Snapshot, TableMetadata
from explorer.spec.commits.landed import what_took_its_files
from explorer.spec.doctor.facts import LIVE, OWN
from explorer.spec.doctor.findings import Finding, finding
from explorer.spec.doctor.manifest_list_rules import Lists
from explorer.spec.doctor.remedy_cases import ADDS_ROWS, EMPTY_DELETE, LOST_ROWS, NO_SUMMARY, NO_TOTALS, STILL_LIVE
from explorer.spec.overview.summary_totals import live_totals, own_totals
from explorer.spec.text.names import first_of
from explorer.spec.text.units import count, whole

MostHidden = Callable[[Lists, Snapshot, Snapshot], "int | None"]
"""Of a commit and its parent: how many rows of the data files that it removed the parent's deletes hide at most."""


def absent_summaries(lists: Lists) -> Iterator[Finding]:
    """Rule 1, of snapshots without a summary: Java asks it for equality deletes where there are delete files
    (BaseDistributedDataScan.mayHaveEqualityDeletes). Rule 63, where the current one's lacks a total a reader needs."""
    for snapshot in lists.snapshots if lists.meta.format_version > 1 else ():
        if snapshot.summary or isinstance(snapshot.raw.get("summary"), str):
            continue
        listed = lists.lists[snapshot.snapshot_id]
        deletes = any(m.content and (m.added_files_count, m.existing_files_count) != (0, 0) for m in listed)
        more: dict[str, Any] = {"refused": "scan"} if deletes else {"severity": "warning"}
        yield finding(
            "metadata-field",
            NO_SUMMARY + (": Iceberg Java asks it for equality deletes" if deletes else ": the spec requires one"),
            lists.meta.metadata_location,
            f"/snapshots ({snapshot.snapshot_id})/summary",
            snapshots=(snapshot.snapshot_id,),
            node=("snapshot", snapshot.snapshot_id),
            **more,
        )
    current = lists.meta.current_snapshot
    if current and current in lists.snapshots and current.summary and "total-records" not in current.summary:
        yield finding(
            "readers-differ",
            NO_TOTALS,
            lists.meta.metadata_location,
            f"/snapshots ({current.snapshot_id})/summary",
            snapshots=(current.snapshot_id,),
            node=("snapshot", current.snapshot_id),
            severity="info",
        )


def summary_rules(lists: Lists, most_hidden: MostHidden) -> Iterator[Finding]:
    """Rules 52 and 53, of snapshots whose manifests could all be read."""
    differences: dict[int, dict[str, int]] = {}
    first: dict[tuple[str, int], list[Any]] = {}
    live_by_snapshot: dict[int, Mapping[str, int]] = {}
    empty: list[Snapshot] = []
    silent: set[tuple[str, int]] = set()
    """Differences that come from what a writer did not count."""
    for snapshot in sorted(lists.snapshots, key=lambda s: s.sequence_number):
        listed = lists.lists[snapshot.snapshot_id]
        held = [lists.held.get(m.manifest_path) for m in listed]
        if snapshot.snapshot_id in lists.unread or not all(held):
            continue
        live = {name: sum(h.sums[name] for h in held if h) for name in LIVE}
        live_by_snapshot[snapshot.snapshot_id] = live
        own_facts = [h for h, m in zip(held, listed, strict=True) if h and m.added_snapshot_id == snapshot.snapshot_id]
        own = {name: sum(h.sums[name] for h in own_facts) for name in OWN}
        before = differences.get(snapshot.parent_snapshot_id or 0, {})
        now = differences[snapshot.snapshot_id] = {}
        for total in live_totals(snapshot.summary, live):
            if total.name == "total-files-size" and total.summary == live["bytes_of_files"]:
                continue  # iceberg-go counts the file of a deletion vector, Java its blob
            if total.agrees is False and total.summary is not None and total.computed is not None:
                now[total.name] = total.summary - total.computed
                if _lacks_sizes(total.name, snapshot, own) or (total.name, now[total.name]) in silent:
                    silent.add((total.name, now[total.name]))
                elif before.get(total.name) == now[total.name] and (total.name, now[total.name]) in first:
                    first[total.name, now[total.name]][1].append(snapshot.snapshot_id)
                else:
                    first[total.name, now[total.name]] = [(snapshot, total, live), [snapshot.snapshot_id]]
        for total in own_totals(snapshot.summary, own):
            if total.agrees is False:
                yield _summary(
                    lists.meta, snapshot, f"its {total.name} is not that of its entries", total, "totals-differ"
                )
        yield from _operation(lists.meta, snapshot, own)
        parents = live_by_snapshot.get(snapshot.parent_snapshot_id or 0)
        yield from _lost_rows(lists, snapshot, own, parents, most_hidden)
        if parents is not None:
            yield from _kept_files(lists, snapshot, own, parents, live)
            same = all(parents[name] == live[name] for name in ("data_files", "delete_files"))
            empty += [snapshot] if snapshot.operation == "delete" and same and not any(own.values()) else []
    if empty:
        yield _empty_deletes(lists.meta, empty)
    for (snapshot, total, live), snapshots in first.values():
        less = total.computed - live["position_deletes"]
        hidden = total.name == "total-records" and total.summary == less
        claim = "subtracts what deletes hide, which the spec does not" if hidden else "is not that of its entries"
        severity = {"severity": "info"} if hidden else {}
        yield _summary(
            lists.meta,
            snapshot,
            f"its {total.name} {claim}; later snapshots count on from it",
            total,
            "totals-differ",
            snapshots=tuple(snapshots),
            count=len(snapshots),
            **severity,
        )


def _lacks_sizes(name: str, snapshot: Snapshot, own: Mapping[str, int]) -> bool:
    """Whether a commit added files without their sizes, as Spark's add_files does."""
    added = own["added_data_files"] + own["added_delete_files"]
    return name == "total-files-size" and bool(added) and "added-files-size" not in snapshot.summary


def _summary(meta: TableMetadata, snapshot: Snapshot, what: str, total: Any, rule: str, **more: Any) -> Finding:
    place = f"/snapshots ({snapshot.snapshot_id})/summary/{total.name}"
    more.setdefault("snapshots", (snapshot.snapshot_id,))
    return finding(
        rule,
        what,
        meta.metadata_location,
        place,
        found=total.summary,
        expected=total.computed,
        node=("snapshot", snapshot.snapshot_id),
        **more,
    )


def _operation(meta: TableMetadata, snapshot: Snapshot, own: Mapping[str, int]) -> Iterator[Finding]:
    """Rule 53 (spec: "Snapshots", operation)."""
    operation, cause = snapshot.operation, ""
    removed = own["removed_data_files"] + own["removed_delete_files"]
    if operation == "append" and (removed or own["added_delete_files"]):
        cause = "an append only adds data files"
    elif operation == "delete" and own["added_data_files"]:
        cause = "a delete adds no data files"
    elif operation == "replace" and own["added_data_rows"] > own["removed_data_rows"]:
        cause = ADDS_ROWS
    elif operation not in (None, "append", "delete", "replace", "overwrite"):
        cause = "it is none of the spec's"
    if cause:
        counts = {name: count for name, count in own.items() if count}
        yield finding(
            "operation-contradicts",
            f"the operation is {operation!r}: {cause}; incremental reads go by it",
            meta.metadata_location,
            f"/snapshots ({snapshot.snapshot_id})/summary/operation",
            found=operation,
            expected=counts,
            snapshots=(snapshot.snapshot_id,),
            node=("snapshot", snapshot.snapshot_id),
        )


def _empty_deletes(meta: TableMetadata, snapshots: Sequence[Snapshot]) -> Finding:
    """Rule 53, of deletes that removed no file and added no delete."""
    names = first_of([str(snapshot.snapshot_id) for snapshot in snapshots], 3)
    which = "the delete" if len(snapshots) == 1 else f"{len(snapshots):,} deletes, the newest last:"
    taken = what_took_its_files(meta, snapshots[-1])
    return finding(
        "operation-contradicts",
        f"{which} {names} {EMPTY_DELETE}, as where no row matches. {taken}".removesuffix(". "),
        meta.metadata_location,
        f"/snapshots ({snapshots[-1].snapshot_id})/summary/operation",
        found="delete",
        count=len(snapshots),
        snapshots=tuple(snapshot.snapshot_id for snapshot in snapshots),
        node=("snapshot", snapshots[-1].snapshot_id),
        severity="info",
    )


def _lost_rows(
    lists: Lists,
    snapshot: Snapshot,
    own: Mapping[str, int],
    before: Mapping[str, int] | None,
    most_hidden: MostHidden,
) -> Iterator[Finding]:
    """Rule 53, of a replace that wrote fewer rows than its parent's deletes explain (spec: "Snapshots", operation
    `replace`: data files are "added and removed without changing table data").

    Args:
        lists: The manifest lists.
        snapshot: The snapshot.
        own: What it added and removed.
        before: What was live in its parent; None where that is not known.
        most_hidden: How many of the removed rows the parent's deletes hide at most.
    """
    less = own["removed_data_rows"] - own["added_data_rows"]
    parent = lists.meta.snapshot(snapshot.parent_snapshot_id)
    if snapshot.operation != "replace" or before is None or parent is None or less <= 0:
        return
    deleted: int | None = 0
    if before["delete_files"]:
        sure = None if before["equality_deletes"] else before["position_deletes"]
        nearer = most_hidden(lists, snapshot, parent)
        deleted = sure if nearer is None else nearer if sure is None else min(sure, nearer)
    if deleted is None or less <= deleted:
        return
    lost = less - deleted
    are_lost = f"{count(lost, 'row')} {'is' if lost == 1 else 'are'} lost"
    cause = f"its parent has no deletes, so {are_lost}"
    if deleted:
        cause = f"its parent's deletes hide {deleted:,} of these at most, so at least {are_lost}"
    elif before["delete_files"]:
        cause = f"its parent's deletes hide none of these, so {are_lost}"
    yield finding(
        "operation-contradicts",
        f"{LOST_ROWS}: it removed files of {own['removed_data_rows']:,} rows and added {own['added_data_rows']:,}; "
        + cause,
        lists.meta.metadata_location,
        f"/snapshots ({snapshot.snapshot_id})/summary/operation",
        found=own["added_data_rows"],
        expected=own["removed_data_rows"] - deleted,
        snapshots=lists.listing(lists.descendants[snapshot.snapshot_id]),
        node=("snapshot", snapshot.snapshot_id),
        severity="error",
    )


def _kept_files(
    lists: Lists, snapshot: Snapshot, own: Mapping[str, int], before: Mapping[str, int], live: Mapping[str, int]
) -> Iterator[Finding]:
    """Rule 53, of a commit whose summary counts data files as removed that are still live: what it wrote in their place
    is there beside them (apache/iceberg-python#3758).

    Args:
        lists: The manifest lists.
        snapshot: The snapshot.
        own: What it added and removed.
        before: What was live in its parent.
        live: What is live in it.
    """
    said = {name: whole(snapshot.summary.get(name)) or 0 for name in ("deleted-data-files", "deleted-records")}
    gone = before["data_files"] + own["added_data_files"] - live["data_files"]
    gone_rows = before["data_rows"] + own["added_data_rows"] - live["data_rows"]
    if said["deleted-data-files"] <= max(gone, own["removed_data_files"]) or said["deleted-records"] <= gone_rows:
        return
    kept = count(said["deleted-data-files"] - gone, "data file")
    yield finding(
        "operation-contradicts",
        f"the summary of snapshot {snapshot.snapshot_id} ({snapshot.operation or 'no operation'}) counts {kept} of "
        f"{count(said['deleted-records'] - gone_rows, 'row')} as removed, {STILL_LIVE}: if it wrote their rows anew, "
        "these are there twice, and what it replaced is there too",
        lists.meta.metadata_location,
        f"/snapshots ({snapshot.snapshot_id})/summary/deleted-data-files",
        found=said["deleted-data-files"],
        expected=gone,
        snapshots=lists.listing(lists.descendants[snapshot.snapshot_id]),
        node=("snapshot", snapshot.snapshot_id),
    )
