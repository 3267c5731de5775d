"""The doctor's rules on deletes that apply to nothing, or were dropped while they were needed: 46, 70 and 71."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from explorer.model.manifest import ManifestFile
from explorer.model.metadata import Snapshot
from explorer.spec.deletes.delete_pairs import DeletePairs
from explorer.spec.deletes.deletes import Applicability, target_file
from explorer.spec.deletes.snapshot_deletes import LATER, Deletes
from explorer.spec.doctor.findings import Finding
from explorer.spec.doctor.manifest_list_rules import Lists
from explorer.spec.doctor.remedies import may_be_needed, takes_others
from explorer.spec.doctor.remedy_cases import CHANGED_NOTHING
from explorer.spec.entries.entries import ADDED, DELETED, as_of_snapshot, live_entries
from explorer.spec.entries.live_files import LiveFile, LiveFiles, files_of, live_files
from explorer.spec.text.units import count, human_bytes, whole
from explorer.spec.values.values import partition_path
from explorer.table import Table

LOOKED_AT = 3
"""Commits of which it is asked whether their deletes ever applied: each takes a look at a snapshot's manifests."""
MANY = 100
"""Dangling deletes of one kind that are worth a warning: every compaction leaves some."""


def dangling_rules(table: Table, lists: Lists, at: Snapshot, deletes: Deletes) -> Iterator[Finding]:
    """Rules 46, 58 and 70, of one snapshot."""
    misplaced: set[tuple[str, int | None]] = set()
    for delete in deletes.dangling:
        data = deletes.misplaced_files.get(delete.key)
        if data is not None and any(i in data.lower and i in delete.lower for i in delete.equality_ids):
            misplaced.add(delete.key)
            yield _misplacement(table, lists, at, delete, data)
    for kind in dict.fromkeys(d.kind for d in deletes.dangling):
        of_kind = [d for d in deletes.dangling if d.kind == kind and d.key not in misplaced]
        if of_kind:
            idle = _commits_without_effect(table, at, deletes, of_kind)
            yield _dangling(lists, at, deletes, of_kind, _remedy(deletes, of_kind), idle)
    if deletes.spent:
        yield _spent(lists, at, deletes.spent)


def _commits_without_effect(table: Table, at: Snapshot, deletes: Deletes, of_kind: Sequence[LiveFile]) -> str:
    """Say which commits did nothing but add deletes of these that applied to no data file from the first: the newest of
    such commits. What adds data too is an upsert, which deletes keys whether they are there or not."""
    by_number = {d.file_sequence_number: d for d in reversed(of_kind)}
    commits = [
        (snapshot, by_number[snapshot.sequence_number])
        for snapshot in table.metadata.snapshots
        if snapshot.sequence_number in by_number
        and snapshot.operation in ("delete", "overwrite")
        and not any(whole(snapshot.summary.get(name)) for name in ("added-data-files", "deleted-data-files"))
    ]
    idle = []
    for snapshot, delete in sorted(commits, key=lambda pair: -pair[0].sequence_number)[:LOOKED_AT]:
        then = deletes if snapshot == at else table.deletes(snapshot.snapshot_id)
        added = [d for d in then.files.deletes if d.file_sequence_number == delete.file_sequence_number]
        if added and {d.key for d in added} <= {d.key for d in then.dangling}:
            idle.append(f"what snapshot {snapshot.snapshot_id} ({snapshot.operation}) added {CHANGED_NOTHING}")
    return "".join(f"; {words}" for words in idle)


def _spent(lists: Lists, at: Snapshot, spent: Sequence[LiveFile]) -> Finding:
    size, number = human_bytes(sum(d.bytes for d in spent)), count(len(spent), "position delete file")
    return lists.of(
        "delete-names-nothing",
        f"{number} of the snapshot ({size}) {'names' if len(spent) == 1 else 'name'} only data files that are gone: "
        "compaction wrote these anew with the old sequence number, so readers still open the deletes",
        spent[0].manifest_path,
        found=spent[0].path,
        expected=LATER,
        count=len(spent),
        examples=tuple(d.path for d in spent[:3]),
        snapshots=(at.snapshot_id,),
        node=("file", spent[0].path),
        **({} if len(spent) >= MANY else {"severity": "info"}),
    )


def _remedy(deletes: Deletes, of_kind: Sequence[LiveFile]) -> str:
    """Why deletes of one kind are not to be dropped, or not as their rule's remedy does; empty where they may be."""
    if reasons := _doubts(deletes, of_kind):
        return may_be_needed(len(reasons), reasons[0])
    others = _doubts(deletes, deletes.dangling)
    return takes_others(of_kind[0].kind, len(others), others[0]) if others else ""


def _doubts(deletes: Deletes, some: Iterable[LiveFile]) -> list[str]:
    return [why for delete in some if (why := deletes.doubt(delete))]


def doubts_by_kind(deletes: Deletes) -> dict[str, tuple[int, str]]:
    """How many deletes of each kind apply to nothing and may be needed, and why, of the first of them."""
    kinds = dict.fromkeys(d.kind for d in deletes.dangling)
    reasons_by_kind = {kind: _doubts(deletes, [d for d in deletes.dangling if d.kind == kind]) for kind in kinds}
    return {kind: (len(reasons), reasons[0]) for kind, reasons in reasons_by_kind.items() if reasons}


def _misplacement(table: Table, lists: Lists, at: Snapshot, delete: LiveFile, data: LiveFile) -> Finding:
    meta = table.metadata
    own, other = (_where(table, file) for file in (delete, data))
    no_partition = all(value is None for value in delete.partition.values())
    words = "an equality delete may name rows of another partition than its own, and hides nothing there"
    if no_partition and not all(value is None for value in data.partition.values()):
        words = (
            "an equality delete of no partition has a partitioned spec: a delete for all partitions needs an "
            "unpartitioned spec"
        )
    return lists.of(
        "delete-misplaced",
        words,
        delete.manifest_path,
        found=f"{delete.path}, of {own}",
        expected=f"{other}, of {data.path}",
        examples=(delete.path,),
        snapshots=(at.snapshot_id,),
        node=("file", delete.path),
        columns=tuple(f.name for i in delete.equality_ids if (f := meta.field(i))),
    )


def _where(table: Table, file: LiveFile) -> str:
    """A file's partition, with its spec where the table has several."""
    meta = table.metadata
    where = partition_path(file.partition, meta.spec(file.spec_id), meta) or "no partition"
    return f"{where} (spec {file.spec_id})" if len(meta.partition_specs) > 1 else where


def _dangling(
    lists: Lists, at: Snapshot, deletes: Deletes, of_kind: Sequence[LiveFile], remedy: str, idle: str
) -> Finding:  # fmt: skip
    size = human_bytes(sum(d.bytes for d in of_kind))
    number = count(len(of_kind), of_kind[0].kind.replace("_", " ").rstrip("s") + " file")
    what = f"{number} of the snapshot ({size}) {'applies' if len(of_kind) == 1 else 'apply'} to no "
    path = target_file(of_kind[0])
    counts = (
        ", and who counts rows by the summary takes off its positions" if of_kind[0].kind != "equality_deletes" else ""
    )
    cut = path and any(data.startswith(path) for data in deletes.files.data.paths())
    why = f"its path bounds are cut to {path!r}, where paths of data files only begin so" if cut else ""
    return lists.of(
        "delete-dangling",
        f"{what}data file of it: whoever plans a scan reads what hides nothing{counts}{idle}",
        of_kind[0].manifest_path,
        found=of_kind[0].path,
        expected=why or deletes.why_alone(of_kind[0]),
        count=len(of_kind),
        examples=tuple(d.path for d in of_kind[:3]),
        snapshots=(at.snapshot_id,),
        node=("file", of_kind[0].path),
        remedy=remedy,
        **({} if len(of_kind) >= MANY or _doubts(deletes, of_kind) else {"severity": "info"}),
    )


def removal_rules(table: Table, lists: Lists) -> Iterator[Finding]:
    """Rule 71: a commit that removes equality deletes which the files that it adds still need."""
    for snapshot in lists.snapshots:
        own = [
            m
            for m in lists.lists[snapshot.snapshot_id]
            if m.added_snapshot_id == snapshot.snapshot_id and m.manifest_path in lists.held
        ]
        sums = [(m, lists.held[m.manifest_path].sums) for m in own]
        removing = [m for m, held in sums if m.content and held["removed_delete_files"]]
        adding = [m for m, held in sums if not m.content and held["added_data_files"]]
        if not removing or not adding:
            continue
        gone: list[LiveFile] = []
        for manifest, stored in table.tree.stored_entries(removing, metrics=True):
            entries = removed_entries(stored, manifest)
            gone += files_of(entries, manifest.partition_spec_id, manifest.manifest_path, ("DELETED",))
        gone = [d for d in gone if d.kind == "equality_deletes"]
        pairs = DeletePairs(Applicability(table.metadata, LiveFiles.of([]), gone))
        for manifest, stored in table.tree.stored_entries(adding, metrics=True) if gone else ():
            entries = live_entries(stored.filter(pc.fill_null(pc.equal(stored["status"], ADDED), False)), manifest)
            first = pairs.find_first(entries, manifest.partition_spec_id)
            hit = entries.filter(pa.array(first >= 0))
            files = live_files(hit, manifest.partition_spec_id, manifest.manifest_path)
            for data, at in zip(files, first[first >= 0].tolist(), strict=True):
                yield _removal_finding(lists, snapshot, data, gone[at])


def removed_entries(stored: pa.Table, manifest: ManifestFile) -> pa.Table:
    """A manifest's DELETED entries, with what they inherit."""
    some = stored.filter(pc.fill_null(pc.equal(stored["status"], DELETED), False))
    entries = as_of_snapshot(some, manifest, manifest.added_snapshot_id)
    return entries.filter(pc.fill_null(pc.equal(entries["logical_status"], "DELETED"), False))


def _removal_finding(lists: Lists, snapshot: Snapshot, data: LiveFile, needed: LiveFile) -> Finding:
    operation = snapshot.operation or "commit"
    return lists.of(
        "delete-dropped",
        f"a {operation} removed an equality delete that would apply to a data file which it added: rows may be back",
        data.manifest_path,
        found=f"{needed.path}, of data sequence number {needed.sequence_number}",
        expected=f"kept, for {data.path}, of data sequence number {data.sequence_number}",
        examples=(data.path,),
        snapshots=(snapshot.snapshot_id,),
        node=("file", data.path),
    )
