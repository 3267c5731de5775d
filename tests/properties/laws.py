"""The laws that every table's snapshots and diffs obey, whoever wrote it."""

from __future__ import annotations

import random
from collections import Counter

from explorer.spec.deletes.deletes import Applicability, target_file
from explorer.spec.deletes.snapshot_deletes import Deletes
from explorer.spec.entries.live_files import LiveFile
from explorer.spec.overview.summary_totals import totals
from explorer.spec.snapshots.diff import SnapshotDiff
from explorer.spec.snapshots.file_changes import ChangeKey
from explorer.table import Table


def live(table: Table, snapshot_id: int) -> set[ChangeKey]:
    rows = table.files(snapshot_id)
    return {(r["file_path"], r["content_offset"], r["content_size_in_bytes"]) for r in rows}


def applied(files: set[ChangeKey], change: SnapshotDiff) -> set[ChangeKey]:
    return (files - {c.key for c in change.removed}) | {c.key for c in change.added}


def check_laws(table: Table, seed: int) -> None:
    """Hold a table against all laws; `seed` chooses the three snapshots that are compared."""
    ids = [s.snapshot_id for s in table.metadata.snapshots]
    if not ids:
        return
    files = {i: live(table, i) for i in ids}
    chosen = random.Random(seed)
    a, b, c = (chosen.choice(ids) for _ in range(3))
    ab, bc, ac = table.diff(a, b), table.diff(b, c), table.diff(a, c)

    # patch(a, diff(a, b)) == b, for any two snapshots, and diffs compose
    assert applied(files[a], ab) == files[b]
    assert applied(applied(files[a], ab), bc) == applied(files[a], ac) == files[c]
    # nothing differs from itself, and reversing swaps the sides
    same = table.diff(a, a)
    assert not same.added
    assert not same.removed
    back = table.diff(b, a)
    assert ({x.key for x in ab.added}, {x.key for x in ab.removed}) == (
        {x.key for x in back.removed},
        {x.key for x in back.added},
    )
    # each snapshot is its parent plus what its own entries say it added and removed
    for snapshot in table.metadata.snapshots:
        entries = list(table.entries(snapshot.snapshot_id))
        keys = {
            s: {
                (r["file_path"], r["content_offset"], r["content_size_in_bytes"])
                for r in entries
                if r["logical_status"] == s
            }
            for s in ("ADDED", "DELETED")
        }
        if snapshot.parent_snapshot_id is None or snapshot.parent_snapshot_id in files:  # else the parent has expired
            parent = files.get(snapshot.parent_snapshot_id or 0, set())
            assert (parent - keys["DELETED"]) | keys["ADDED"] == files[snapshot.snapshot_id]
        # computed totals equal the summary's and the manifest list's
        checked = [t.agrees for t in totals(snapshot.summary, table.tree.manifests(snapshot))]
        assert True in checked
        assert False not in checked
        data_files = [r for r in table.files(snapshot.snapshot_id) if not r["content"]]
        assert int(snapshot.summary["total-data-files"]) == len(data_files)
        for manifest in table.tree.manifests(snapshot):
            stored = table.reader.entries(manifest).value["status"].to_pylist()
            listed = (manifest.existing_files_count, manifest.added_files_count, manifest.deleted_files_count)
            assert tuple(stored.count(s) for s in (0, 1, 2)) == listed
    # every manifest of the first side is accounted for, once
    rewritten = [p for r in ab.rewritten for p in r.sources]
    fates = [*ab.kept_manifests, *rewritten, *(d.manifest_path for d in ab.dropped)]
    assert sorted(fates) == sorted(m["manifest_path"] for m in table.manifests(a))
    # the lifecycle tells of exactly the manifests each list holds
    cells = table.lifecycle()
    for i in ids:
        here = {c.manifest_path for c in cells if c.snapshot_id == i and c.state in ("created", "carried")}
        assert here == {m["manifest_path"] for m in table.manifests(i)}
    assert {h.snapshot_id for h in table.lineage()} == set(ids)
    for i in {a, b, c}:
        check_deletes(table.deletes(i))


def _is_of_older_files(data: LiveFile, delete: LiveFile) -> bool:
    """Whether a position delete that may name several files was committed before a data file."""
    if delete.kind != "position_deletes" or target_file(delete) is not None:
        return False
    numbers = data.file_sequence_number, delete.file_sequence_number
    return numbers[0] is not None and numbers[1] is not None and numbers[0] > numbers[1]


def check_deletes(deletes: Deletes) -> None:
    """What is counted in columns is what the rules say of each pair."""
    files = deletes.files
    by_data = {data.key: files.of(data) for data in files.data}
    verdicts = [v for data in files.data for v in by_data[data.key]]
    assert list(deletes.verdicts) == verdicts
    assert len(deletes.verdicts) == len(verdicts)
    assert [deletes.verdicts[i] for i in range(len(verdicts))] == verdicts
    assert deletes.applying == sum(v.applies for v in verdicts)
    used = {v.delete.key for v in verdicts if v.applies}
    assert list(deletes.dangling) == [d for d in files.deletes if d.key not in used]
    reaching = {v.delete.key for v in verdicts if v.applies and not _is_of_older_files(v.data, v.delete)}
    assert list(deletes.spent) == [d for d in files.deletes if d.key in used - reaching]
    applied = Counter(v.data.key for v in verdicts if v.applies)
    assert [d.key for d in deletes.hit] == [d.key for d in files.data if applied[d.key]]
    told = [(d.path, applied[d.key]) for d in files.data if applied[d.key]]
    assert [(row["file_path"], row["deletes"]) for row in deletes.counts_by_file.to_pylist()] == told
    costs = list(deletes.costs)
    assert sorted(c.data.path for c in costs) == sorted(d.path for d in files.data)
    for cost in costs:
        applied = [v.delete for v in by_data[cost.data.key] if v.applies]
        kinds = [d.kind for d in applied]
        told = (cost.position, cost.equality, cost.vectors)
        assert told == tuple(kinds.count(k) for k in ("position_deletes", "equality_deletes", "deletion_vector"))
        assert cost.delete_rows == sum(d.record_count for d in applied)
        sizes = (d.size if d.content_size is None else d.content_size for d in applied)
        assert cost.delete_bytes == sum(sizes)
    for data in files.data:
        mine = Applicability(files.metadata, files.data, files.concerning({data.path}, {data.place}))
        applied = [v.delete.key for v in by_data[data.key] if v.applies]
        assert [v.delete.key for v in mine.of(data) if v.applies] == applied
    order = [(-c.deletes, -c.delete_bytes) for c in costs]
    assert order == sorted(order)
    assert deletes.costs[1:3] == costs[1:3]
