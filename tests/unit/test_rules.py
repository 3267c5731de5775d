"""Files, manifests and commits: what differs, what became of what, what is reached, what it cost; on entries made by
hand."""

from __future__ import annotations

import datetime
import pickle
import random
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from explorer.model.manifest import ManifestFile
from explorer.model.metadata import MetadataLogEntry, Snapshot, TableMetadata
from explorer.spec.commits.costs import (
    LATE_MS,
    WROTE,
    Wrote,
    by_manifest,
    commit_costs,
    entries_by_snapshot,
    file_bytes,
    live_bytes,
    metadata_files,
    run_between,
)
from explorer.spec.entries.entries import as_of_snapshot
from explorer.spec.entries.lazy_table import Batches, Parts
from explorer.spec.entries.manifest_headers import check_header
from explorer.spec.entries.manifest_set_diff import KEY, compare, compare_keys, comparisons, keys_of
from explorer.spec.entries.manifest_sets import Comparison, Sets
from explorer.spec.layout.partitions import add_up, by_partition
from explorer.spec.maintenance.reachability import HELD, holdings, live_file_rows, reach
from explorer.spec.overview.summary_totals import totals
from explorer.spec.rows.spilled_rows import RowParts
from explorer.spec.secrets.redaction import HIDDEN, harmless, redact, secret_values, without_secrets
from explorer.spec.secrets.secret_names import is_secret
from explorer.spec.snapshots.diff import SnapshotDiff, diff, explain_manifests
from explorer.spec.snapshots.file_changes import FileChanges
from explorer.spec.snapshots.lifecycle import file_life, lifecycle, matrix
from explorer.spec.snapshots.metadata_diff import changes, metadata_diff, schema_changes
from explorer.spec.text.units import TIME_ZONE, count, human_bytes, instant
from explorer.storage import limits, spill
from explorer.storage.spill import deal_out, in_order
from tests.support.paper_tables import HOUR, entries, manifest, on_paper

ADDED, EXISTING, DELETED = 1, 0, 2


class Paper:
    """A table's manifest lists and manifests: paths of manifests by snapshot, stored entries by path."""

    at_once = 500_000

    def __init__(self, lists: Mapping[int, Sequence[str]], stored: Mapping[str, pa.Table]) -> None:
        self.metadata = on_paper([None if n == 1 else n - 1 for n in lists])
        by = {path: n for n in sorted(lists, reverse=True) for path in lists[n]}  # the first that lists it wrote it
        self.files = {path: self._listed(path, by[path], table) for path, table in stored.items()}
        self.lists, self.tables = lists, stored

    @staticmethod
    def _listed(path: str, by: int, table: pa.Table) -> ManifestFile:
        statuses = table["status"].to_pylist()
        counts = (statuses.count(s) for s in (ADDED, EXISTING, DELETED))
        listed: ManifestFile = manifest(path, by, *counts, content=int("deletes" in path))
        return listed

    def manifests(self, snapshot: Snapshot | None) -> list[ManifestFile]:
        return [self.files[p] for p in self.lists[snapshot.snapshot_id]] if snapshot else []

    def ahead(self, snapshots: Iterable[Snapshot] = (), manifests: Iterable[ManifestFile] = ()) -> None:
        list(snapshots), list(manifests)

    def sizes(self, paths: Iterable[str]) -> Mapping[str, int]:
        return dict.fromkeys(paths, 9)

    def stored_entries(
        self, manifests: Sequence[ManifestFile], metrics: bool = False
    ) -> Iterator[tuple[ManifestFile, pa.Table]]:
        yield from ((m, self.tables[m.manifest_path]) for m in manifests if m.manifest_path in self.tables)

    def logical(
        self, manifests: Sequence[ManifestFile], snapshot: Snapshot, metrics: bool = False
    ) -> Iterator[tuple[ManifestFile, pa.Table]]:
        yield from ((m, as_of_snapshot(t, m, snapshot.snapshot_id)) for m, t in self.stored_entries(manifests))

    def read(self, parts: Parts) -> Batches:
        return Batches(parts.schema, lambda: (parts.part(m, t) for m, t in self.stored_entries(parts.manifests)))

    def comparisons(self, sets: Sequence[Sets], by: Sequence[str]) -> Iterator[Comparison]:
        return (compare(self, *two, by) for two in sets)

    def in_order(self, rows: Batches, by: Sequence[str]) -> RowParts:
        return in_order(rows, by)

    def entries(self, path: str, snapshot_id: int) -> pa.Table:
        return as_of_snapshot(self.tables[path], self.files[path], snapshot_id)

    def diff(self, a: int | None, b: int | None) -> SnapshotDiff:
        return diff(self, self.metadata.snapshot(a), self.metadata.snapshot(b))


def files(**statuses: int) -> pa.Table:
    return entries(*({"status": s, "file_path": f"/t/data/{name}.parquet"} for name, s in statuses.items()))


# the consistency model's figure 8: two files, one is deleted, one is added, the other one is deleted
FIGURE = Paper(
    {1: ["m1"], 2: ["m2"], 3: ["m3", "m2"], 4: ["m4", "m3"], 5: ["m5", "m3"]},
    {
        "m1": files(a=ADDED, b=ADDED),
        "m2": files(a=DELETED, b=EXISTING),
        "m3": files(c=ADDED),
        "m4": files(b=DELETED),
        "m5": files(d=ADDED),
    },
)


def names(side: Sequence[Any]) -> list[str]:
    return [c.file_path.rsplit("/", 1)[-1].removesuffix(".parquet") for c in side]


@pytest.mark.parametrize(
    ("a", "b", "added", "removed"),
    [(1, 2, "", "a"), (1, 3, "c", "a"), (3, 4, "", "b"), (1, 5, "cd", "ab"), (5, 1, "ab", "cd"), (2, 2, "", "")],
)
def test_a_diff_is_net(a: int, b: int, added: str, removed: str) -> None:
    found = FIGURE.diff(a, b)
    assert ("".join(names(found.added)), "".join(names(found.removed))) == (added, removed)
    assert (found.before, found.after) == (a, b)
    assert [c.kind for c in (*found.added, *found.removed)] == ["data_file"] * len(added + removed)


def test_none_is_the_table_before_its_first_snapshot() -> None:
    change = FIGURE.diff(None, 3)
    assert (change.before, change.after, names(change.added), change.removed) == (None, 3, ["b", "c"], ())
    back = FIGURE.diff(3, None)
    assert (back.before, back.after, back.added, names(back.removed)) == (3, None, (), ["b", "c"])
    assert FIGURE.diff(None, None).added == ()


def test_a_diff_accounts_for_manifests() -> None:
    found = FIGURE.diff(2, 3)
    assert (found.kept_manifests, found.added_manifests) == (("m2",), ("m3",))
    assert not found.carried.get("m3")
    found = FIGURE.diff(1, 2)
    [rewrite] = found.rewritten
    assert (rewrite.sources, rewrite.into, rewrite.is_merge) == (("m1",), ("m2",), False)
    assert "written anew" in rewrite.reason
    assert dict(found.carried) == {"m1": 1, "m2": 1}  # b, which both sides read
    [dropped] = FIGURE.diff(4, 5).dropped
    assert (dropped.manifest_path, "only DELETED" in dropped.reason) == ("m4", True)
    assert found.partitions == {
        "": {
            "added_files": 0, "added_rows": 0, "added_bytes": 0,
            "removed_files": 1, "removed_rows": 10, "removed_bytes": 100,
        }
    }  # fmt: skip
    assert (names(found.of("removed", deletes=False)), found.of("removed", deletes=True)) == (["a"], [])
    assert found.of("added", deletes=False) == []


def test_two_vectors_in_one_file_are_two_files() -> None:
    def vector(offset: int, status: int = ADDED) -> dict[str, Any]:
        return {
            "status": status, "file_path": "/t/v.puffin", "file_format": "PUFFIN", "content": 1, "record_count": 3,
            "content_offset": offset, "content_size_in_bytes": 40,
        }  # fmt: skip

    paper = Paper({1: ["deletes-1"], 2: ["deletes-2"]}, {
        "deletes-1": entries(vector(4)), "deletes-2": entries(vector(4, DELETED), vector(0)),
    })  # fmt: skip
    found = paper.diff(1, 2)
    assert [(c.kind, c.content_offset, c.bytes) for c in found.added] == [("deletion_vector", 0, 40)]
    assert [c.content_offset for c in found.removed] == [4]
    assert found.of("added", deletes=True) == list(found.added)
    assert found.partitions[""]["added_rows"] == 0  # rows of data files only
    assert found.partitions[""]["added_bytes"] == 40


def test_what_became_of_manifests_that_are_gone() -> None:
    old = {"m1": files(a=ADDED), "m2": files(b=ADDED), "m3": files(x=ADDED), "m4": files(y=DELETED)}
    new = {"n1": files(a=EXISTING, b=EXISTING)}
    gone, made = [manifest(p, 1) for p in ("m1", "m2", "m3", "m4", "m5")], [manifest("n1", 2)]
    tree = Paper({1: list(old), 2: list(new)}, old | new)
    rewritten, dropped = explain_manifests(gone, made, compare(tree, gone, made))
    assert [(r.sources, r.into, r.is_merge, r.reason) for r in rewritten] == [
        (("m1", "m2"), ("n1",), True, "2 manifests were merged")
    ]
    assert [(d.manifest_path, d.reason.split(",")[0]) for d in dropped] == [
        ("m3", "none of its files is in any manifest of the other snapshot"),
        ("m4", "it holds only DELETED entries"),
        ("m5", "it cannot be read"),
    ]


@pytest.mark.parametrize("by", [KEY, KEY[:1]])
@pytest.mark.parametrize("deals", [1, 3, 7, 100_000])
def test_sets_are_compared_alike_however_they_are_dealt_out(by: Sequence[str], deals: int) -> None:
    lists = [FIGURE.manifests(snapshot) for snapshot in (None, *FIGURE.metadata.snapshots)]
    both = [(a, b) for a in lists for b in lists]
    keys = FIGURE.read(keys_of(both, by))
    found = pa.concat_tables(compare_keys(by, deal) for deal in deal_out(keys, KEY[0], deals))
    for told, ours in zip(comparisons(found, len(both)), FIGURE.comparisons(both, by), strict=True):
        assert (told.live, told.shared) == (ours.live, ours.shared)
        for mine, theirs in zip(told.alone, ours.alone, strict=True):
            assert {at: rows.tolist() for at, rows in mine.items()} == {at: r.tolist() for at, r in theirs.items()}


@pytest.mark.parametrize("at_once", [1, 2])
def test_a_diff_is_the_same_however_many_entries_are_held(at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    ids = [None, *(s.snapshot_id for s in FIGURE.metadata.snapshots)]
    whole = [FIGURE.diff(a, b) for a in ids for b in ids]
    monkeypatch.setattr(Paper, "at_once", at_once)
    assert [FIGURE.diff(a, b) for a in ids for b in ids] == whole


def test_files_that_differ_are_a_sequence_in_columns() -> None:
    wide = files(c=ADDED, a=ADDED, e=ADDED)
    delete = {"status": ADDED, "file_path": "/t/data/d.parquet", "content": 1, "record_count": 5}
    paper = Paper({1: ["m1", "m2", "deletes-1"]}, {"m1": wide, "m2": files(b=ADDED), "deletes-1": entries(delete)})
    added = paper.diff(None, 1).added
    assert names(added) == ["a", "b", "c", "d", "e"]  # by path, whatever manifest they are in
    assert {path: names(some) for path, some in added.by_manifest().items()} == {
        "m1": ["a", "c", "e"], "m2": ["b"], "deletes-1": ["d"],
    }  # fmt: skip
    assert (names(added.of_content(True)), names(added.of_content(False).of_content(False))) == (
        ["d"],
        ["a", "b", "c", "e"],
    )
    assert len(added.of_content(True).of_content(False)) == 0
    data = added.of_content(False)
    assert (names(data[1:3]), names(data[::-1]), names([data[-1]])) == (["b", "c"], ["e", "c", "b", "a"], ["e"])
    assert added.sums() == {"": (5, 40, 500)}  # rows of data files only
    assert data.sums() == {"": (4, 40, 400)}
    assert data == tuple(data) == pickle.loads(pickle.dumps(data)) != added
    assert data != data[:3]
    assert FileChanges.of(added) == added
    assert [row["file_path"] for part in data.parts(3) for row in part.to_pylist()] == [c.file_path for c in data]
    assert repr(FileChanges.of([])) == "()"
    assert repr(data).count("FileChange(") == 4


@pytest.mark.parametrize("room", [1, 300, 1 << 20])
def test_rows_are_put_in_order_on_the_disk_as_in_memory(room: int, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = random.Random(room)
    keys = [("é" * (n % 3) + f"{n % 37}", drawn.choice([None, 0, 4]), n) for n in range(200)]
    drawn.shuffle(keys)
    rows = pa.Table.from_pylist([{"path": p, "offset": o, "n": n} for p, o, n in keys])
    batches = Batches(rows.schema, lambda: (rows.slice(at, 7) for at in range(0, 200, 7)))
    last = {(path, offset): n for path, offset, n in keys}
    true = sorted(((p, o, n) for (p, o), n in last.items()), key=lambda r: (r[0], r[1] is not None, r[1] or 0))
    monkeypatch.setattr(limits, "share", lambda _: room)
    told = in_order(batches, ("path", "offset"))
    assert [tuple(row.values()) for row in told.whole().to_pylist()] == true
    assert len(in_order(Batches(rows.schema, lambda: iter(())), ("path", "offset"))) == 0


def test_what_is_dealt_out_keeps_no_words_of_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    schema = pa.schema([("path", pa.string()), ("partition", pa.dictionary(pa.int32(), pa.string()))])
    names = [f"partition {n % 1000:04}" for n in range(2000)]
    rows = pa.table({"path": [f"{n:05}" for n in range(2000)], "partition": names}).cast(schema)
    monkeypatch.setattr(limits, "share", lambda _: rows.nbytes // 8)
    monkeypatch.setattr(spill, "LARGER", rows.nbytes // 40)
    told = in_order(Batches(schema, lambda: iter([rows])), ("path",)).whole()
    assert told.schema == schema
    assert told["partition"].to_pylist() == names
    assert told["partition"].num_chunks > 20
    assert all(0 < len(chunk.dictionary) <= len(chunk) for chunk in told["partition"].chunks)


def test_many_small_parts_with_words_of_their_own_are_put_in_order() -> None:
    """Of 850 manifests; together they have as many words."""
    schema = pa.schema([("path", pa.string()), ("manifest", pa.dictionary(pa.int32(), pa.string()))])
    parts = [
        pa.table({"path": [f"{n:03}{i:02}" for i in range(40)], "manifest": ["m" * 90 + f"{n}"] * 40})
        for n in range(850)
    ]
    told = in_order(Batches(schema, lambda: (part.cast(schema) for part in reversed(parts))), ("path",))
    assert told.on_disk == 0
    assert [row["path"] for row in told.take(np.array([33_999, 0, 41])).to_pylist()] == ["84939", "00000", "00101"]


def test_an_entry_without_a_status_is_not_taken_for_deleted() -> None:
    stored = entries(*({"status": status, "file_path": f"/{status}"} for status in (None, ADDED, DELETED)))
    paper = Paper({1: ["m"], 2: ["n"]}, {"m": stored, "n": files(b=ADDED)})
    [found] = paper.comparisons([([paper.files["m"]], [paper.files["n"]])], KEY)
    assert found.live == ({0: 2}, {0: 1})
    assert found.alone[0][0].tolist() == [0, 1]


def test_a_manifest_that_is_listed_twice_is_one() -> None:
    paper = Paper({1: ["m1", "m1"], 2: ["n1"]}, {"m1": files(a=ADDED), "n1": files(b=ADDED)})
    found = paper.diff(1, 2)
    assert [d.manifest_path for d in found.dropped] == ["m1"]
    assert "none of its files" in found.dropped[0].reason


def test_the_life_of_manifests() -> None:
    cells = lifecycle(FIGURE)
    assert [(c.snapshot, c.manifest, c.state, c.into) for c in cells] == [
        ("snapshot-1", "manifest-1", "created", ()),
        ("snapshot-2", "manifest-2", "created", ()),
        ("snapshot-2", "manifest-1", "rewritten", ("manifest-2",)),
        ("snapshot-3", "manifest-3", "created", ()),
        ("snapshot-3", "manifest-2", "carried", ()),
        ("snapshot-4", "manifest-4", "created", ()),
        ("snapshot-4", "manifest-3", "carried", ()),
        ("snapshot-4", "manifest-2", "rewritten", ("manifest-4",)),
        ("snapshot-5", "manifest-5", "created", ()),
        ("snapshot-5", "manifest-3", "carried", ()),
        ("snapshot-5", "manifest-4", "dropped", ()),
    ]
    assert [c.live for c in cells[:3]] == [2, 1, 2]
    assert cells[0].reason == "written by snapshot-1"
    assert replace(cells[0], existing=None).live is None
    assert replace(cells[0], added=None).live is None
    rows, columns, by_both = matrix(cells)
    assert rows == [f"manifest-{n}" for n in range(1, 6)]
    assert columns == [f"snapshot-{n}" for n in range(1, 6)]
    assert by_both[("manifest-4", "snapshot-5")].state == "dropped"
    orphaned = Paper({1: ["m2"]}, {"m2": files(a=EXISTING)})
    orphaned.files["m2"] = manifest("m2", 77)
    [cell] = lifecycle(orphaned)
    assert (cell.state, "its parent has expired, or" in cell.reason) == ("carried", True)


def test_merged_manifests_are_told_apart_from_rewritten_ones() -> None:
    paper = Paper({1: ["m1"], 2: ["m2", "m1"], 3: ["m3"]}, {
        "m1": files(a=ADDED), "m2": files(b=ADDED), "m3": files(a=EXISTING, b=EXISTING),
    })  # fmt: skip
    states = {c.manifest: c.state for c in lifecycle(paper) if c.snapshot_id == 3}
    assert states == {"manifest-3": "created", "manifest-1": "merged", "manifest-2": "merged"}


def test_the_life_of_a_file() -> None:
    def told(path: str) -> Any:
        return file_life(FIGURE, path)

    assert told("a\ud800.parquet") is None  # of a command line whose bytes are no text
    a = told("a.parquet")
    assert (a.added_by, a.deleted_by, a.live_in, a.refs) == ("snapshot-1", "snapshot-2", ("snapshot-1",), ())
    assert a.goes_when == "snapshot-1 would have to expire"
    assert [(e.snapshot, e.status, e.logical_status) for e in a.events] == [
        ("snapshot-1", "ADDED", "ADDED"), ("snapshot-2", "DELETED", "DELETED"), ("snapshot-3", "DELETED", None),
    ]  # fmt: skip
    assert [len(c) for c in a.chapters()] == [1, 1, 1]
    c = told("/t/data/c.parquet")
    assert (c.live_in, c.refs, c.deleted_by) == (("snapshot-3", "snapshot-4", "snapshot-5"), ("main",), None)
    assert "read through main" in c.goes_when
    assert [len(chapter) for chapter in c.chapters()] == [1, 2]
    b = told("b.parquet")
    assert b.live_in == ("snapshot-1", "snapshot-2", "snapshot-3")
    assert b.goes_when == "snapshot-1 to snapshot-3 would have to expire"
    assert told("nothing.parquet") is None
    with pytest.raises(ValueError, match=r"may mean 4 files: /a/x\.parquet"):
        file_life(
            Paper({1: ["m1"]}, {"m1": entries(*({"status": 1, "file_path": f"/{d}/x.parquet"} for d in "abcd"))}),
            "x.parquet",
        )
    left = Paper({1: ["m1"]}, {"m1": files(a=DELETED)})
    gone = file_life(left, "a.parquet")
    assert gone is not None
    assert (gone.live_in, "no snapshot reads it any more" in gone.goes_when) == ((), True)


# -- reach and costs --------------------------------------------------------------------------------------------------
def test_what_snapshots_reach() -> None:
    every = reach(FIGURE, FIGURE.metadata.snapshots)
    kept = reach(FIGURE, FIGURE.metadata.snapshots[4:])
    assert sorted(kept.files) == ["/t/data/c.parquet", "/t/data/d.parquet"]
    assert sorted(kept.manifests) == ["m3", "m5"]
    assert kept.bytes == 2 * 100 + 2 * 100
    gone = reach(FIGURE, FIGURE.metadata.snapshots, without=FIGURE.metadata.snapshots[4:])
    assert sorted(gone.files) == ["/t/data/a.parquet", "/t/data/b.parquet"]
    assert sorted(gone.manifests) == ["m1", "m2", "m4"]
    assert len(gone.manifest_lists) == 4
    assert set(gone.paths) | set(kept.paths) == set(every.paths)
    assert not set(gone.paths) & set(kept.paths)
    unknown = replace(kept, manifests={"m3": None})
    assert unknown.bytes == 200
    assert reach(FIGURE, []).paths == []


def test_a_file_is_reached_while_one_of_its_vectors_is() -> None:
    def vector(offset: int) -> dict[str, Any]:
        return {
            "status": ADDED, "file_path": "/t/v.puffin", "file_format": "PUFFIN", "content": 1, "record_count": 1,
            "content_offset": offset, "content_size_in_bytes": 4,
        }  # fmt: skip

    paper = Paper({1: ["deletes-1"], 2: ["deletes-2"]}, {
        "deletes-1": entries(vector(4)), "deletes-2": entries(vector(8)),
    })  # fmt: skip
    first, second = paper.metadata.snapshots
    assert reach(paper, [first], without=[second]).files == {}
    assert list(reach(paper, [first]).files) == ["/t/v.puffin"]


def kinds() -> pa.Table:
    vector = {
        "status": 1, "file_path": "v", "file_format": "puffin", "content": 1,
        "content_offset": 4, "content_size_in_bytes": 7,
    }  # fmt: skip
    return entries(
        {"status": 1, "file_path": "a"}, {"status": 1, "file_path": "b", "content": None},
        {"status": 1, "file_path": "p", "content": 1}, {"status": 1, "file_path": "e", "content": 2}, vector,
        {"status": 2, "file_path": "gone"},
    )  # fmt: skip


def test_what_a_table_holds() -> None:
    parts = [live_file_rows(manifest("m", 1), kinds()), live_file_rows(FIGURE.files["m1"], FIGURE.tables["m1"])]
    found = holdings(FIGURE.metadata, Batches(HELD, lambda: iter(parts)))
    assert (found.snapshots, found.manifests) == (5, 2)
    assert (found.data_files, found.data_bytes) == (4, 400)
    assert (found.position_delete_files, found.equality_delete_files, found.deletion_vectors) == (1, 1, 1)
    assert found.delete_bytes == 100 + 100 + 7
    assert file_bytes(kinds()) == 507


def written(*parts: pa.Table) -> Wrote:
    return by_manifest(Batches(WROTE, lambda: iter(parts)))


def test_what_a_commit_cost() -> None:
    listed = [*FIGURE.manifests(FIGURE.metadata.snapshots[1]), manifest("deletes", 2, content=1)]
    delete = entries({"status": 1, "file_path": "d", "content": 1})
    logical = written(
        entries_by_snapshot(FIGURE.files["m2"], FIGURE.tables["m2"]),
        entries_by_snapshot(manifest("deletes", 2), delete),
    )
    sizes = {"/t/metadata/snap-2.avro": 50}
    [cost] = commit_costs(FIGURE.metadata, [(FIGURE.metadata.snapshots[1], listed)], logical, sizes.get)
    assert (cost.data_files_added, cost.data_files_removed) == (0, 1)
    assert (cost.delete_files_added, cost.delete_files_removed) == (1, 0)
    assert (cost.rows_added, cost.rows_removed) == (0, 10)  # rows of data files
    assert (cost.bytes_added, cost.delete_bytes_added, cost.bytes_removed) == (100, 100, 100)
    assert (cost.manifests_written, cost.manifest_bytes, cost.manifest_list_bytes) == (2, 200, 50)
    assert cost.metadata_json_bytes is None
    assert cost.metadata_bytes == 250
    assert replace(cost, manifest_list_bytes=None, metadata_json_bytes=5).metadata_bytes == 205
    last = FIGURE.metadata.snapshots[4]  # its time is the metadata file's
    [whole] = commit_costs(FIGURE.metadata, [(last, FIGURE.manifests(last))], {}, lambda path: 9)
    assert (whole.metadata_json_bytes, whole.manifests_written, whole.bytes_added) == (9, 1, 0)
    for late, known in ((3, {last.snapshot_id}), (LATE_MS + 1, set())):
        dated = replace(FIGURE.metadata, last_updated_ms=(last.timestamp_ms or 0) + late, metadata_log=())
        assert set(metadata_files(dated)) == known
    # a log that reaches back before the commit, and one that does not
    for earlier, known in ((1, {last.snapshot_id}), (-1, set())):
        older = MetadataLogEntry((last.timestamp_ms or 0) - earlier, "/t/metadata/older.json")
        dated = replace(FIGURE.metadata, last_updated_ms=(last.timestamp_ms or 0) + 60_000, metadata_log=(older,))
        assert {id for id, path in metadata_files(dated).items() if path != older.metadata_file} == known
    deletes = manifest("deletes", 2, content=1)
    unsized = entries({"status": 1, "file_path": "d", "file_size_in_bytes": None})
    second = (FIGURE.metadata.snapshots[1], [deletes])
    [untold] = commit_costs(FIGURE.metadata, [second], written(entries_by_snapshot(deletes, unsized)), sizes.get)
    assert (untold.delete_files_added, untold.bytes_added, untold.delete_bytes_added) == (1, 0, 0)
    left = written(*(entries_by_snapshot(FIGURE.files[m], FIGURE.tables[m]) for m in ("m5", "m3")))
    assert [live_bytes(left, ["m5", "m3"], run) for run in ([5], [3, 5], [1])] == [100, 200, 0]


def test_runs_of_commits() -> None:
    def run(first: int | None, last: int, table: TableMetadata = FIGURE.metadata) -> list[int]:
        return [s.snapshot_id for s in run_between(table, first, last)]

    assert (run(2, 4), run(None, 3), run(3, 3)) == ([3, 4], [1, 2, 3], [])
    with pytest.raises(ValueError, match="no ancestor"):
        run(4, 2)
    circle = on_paper([2, 1])
    assert run(None, 2, circle) == [1, 2]


def partitions(entries: Sequence[pa.Table], times: Mapping[int, int | None]) -> list[dict[str, Any]]:
    """By partition, of the entries of manifests."""
    numbered = [manifest(str(i), 1) for i in range(len(entries))]
    every = Parts(numbered, False, lambda _, table: table, entries[0].schema)
    parts = by_partition(every, times)
    made = Batches(parts.schema, lambda: (parts.part(m, t) for m, t in zip(numbered, entries, strict=True)))
    return list(add_up(made).to_pylist())


def test_partitions_add_up() -> None:
    struct = pa.struct([("p", pa.string())])
    table = as_of_snapshot(kinds(), manifest("m", 1), 1)
    where = pa.array([{"p": x} for x in ("x", "y", "x", "x", "y", "x")], struct)
    table = table.drop(["partition"]).append_column("partition", where)
    table = table.append_column("spec_id", pa.array([0] * 6, pa.int32()))
    rows = {r["partition"]["p"]: r for r in partitions([table], {1: 77})}
    assert {k: (r["record_count"], r["file_count"], r["total_data_file_size_in_bytes"]) for k, r in rows.items()} == {
        "x": (10, 1, 100), "y": (10, 1, 100),
    }  # fmt: skip
    deletes = (
        "position_delete_record_count",
        "position_delete_file_count",
        "equality_delete_record_count",
        "equality_delete_file_count",
    )
    assert [rows["x"][d] for d in deletes] == [10, 1, 10, 1]
    assert [rows["y"][d] for d in deletes] == [10, 1, 0, 0]
    assert (rows["x"]["last_updated_ms"], rows["x"]["last_updated_snapshot_id"]) == (77, 1)
    expired = partitions([table], {})[0]
    assert (expired["last_updated_ms"], expired["last_updated_snapshot_id"]) == (None, None)


@pytest.mark.parametrize("at_once", [1, 3, 1000])
def test_partitions_add_up_whatever_the_parts(at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("explorer.spec.entries.lazy_table.AT_ONCE", at_once)
    struct = pa.struct([("p", pa.string())])
    parts, ids = [], (3, 1, 4, 2)  # 4 has expired
    for number, snapshot_id in enumerate(ids):
        table = as_of_snapshot(files(a=ADDED, b=ADDED, c=ADDED), manifest(f"m{number}", snapshot_id), snapshot_id)
        where = pa.array([{"p": x} for x in ("x", None, f"only {number}")], struct)
        table = table.drop(["partition"]).append_column("partition", where)
        parts.append(table.append_column("spec_id", pa.array([7] * 3, pa.int32())))
    for order in (parts, parts[::-1], [pa.concat_tables(parts)]):
        rows = {r["partition"]["p"]: r for r in partitions(order, {1: 11, 2: 22, 3: 33})}
        assert len(rows) == 6
        for p in ("x", None):
            last = rows[p]["spec_id"], rows[p]["last_updated_ms"], rows[p]["last_updated_snapshot_id"]
            assert (rows[p]["file_count"], *last) == (4, 7, 33, 3)
        assert [rows[f"only {n}"]["last_updated_ms"] for n in range(4)] == [33, 11, None, 22]
    apart = [part.set_column(part.column_names.index("spec_id"), "spec_id", pa.array([number] * 3, pa.int32()))
             for number, part in enumerate(parts)]  # fmt: skip
    assert [(r["spec_id"], r["file_count"]) for r in partitions(apart, {}) if r["partition"]["p"] == "x"] == [
        (0, 1), (1, 1), (2, 1), (3, 1),
    ]  # fmt: skip


# -- metadata files ---------------------------------------------------------------------------------------------------
def edited(**top: Any) -> TableMetadata:
    return on_paper([None, 1], None, {"a": "1", "s3.secret-access-key": "x"}, 1_000 * HOUR, lambda d: d.update(top))


def test_two_metadata_files_by_meaning() -> None:
    before = edited()
    assert metadata_diff(before, edited()) == {}
    assert changes({1: "a", 2: "b"}, {2: "c", 3: "d"}) == {
        "added": {"3": "d"}, "removed": {"1": "a"}, "changed": {"2": ["b", "c"]},
    }  # fmt: skip
    after = edited(**{
        "snapshots": [*before.raw["snapshots"][1:], {**before.raw["snapshots"][1], "snapshot-id": 3}],
        "refs": {"main": {"snapshot-id": 3, "type": "branch"}, "t": {"snapshot-id": 2, "type": "tag"}},
        "current-snapshot-id": 3, "format-version": 3, "location": "/u", "default-spec-id": 1,
        "properties": {"b": "2", "s3.secret-access-key": "y"},
        "partition-specs": [{"spec-id": 0, "fields": []}, {"spec-id": 1, "fields": []}],
        "sort-orders": [{"order-id": 0, "fields": []}, {"order-id": 2, "fields": []}], "default-sort-order-id": 2,
        "statistics": [{"snapshot-id": 2, "statistics-path": "s", "file-size-in-bytes": 1, "blob-metadata": []}],
    })  # fmt: skip
    found = metadata_diff(before, after)
    assert found["snapshots"] == {"added": [3], "expired": [1]}
    assert found["refs"] == {"added": {"t": ["tag", 2]}, "changed": {"main": [["branch", 2], ["branch", 3]]}}
    assert (found["current_snapshot_id"], found["format_version"], found["location"]) == ([2, 3], [2, 3], ["/t", "/u"])
    assert found["properties"] == {
        "added": {"b": "2"}, "removed": {"a": "1"}, "changed": {"s3.secret-access-key": HIDDEN},
    }  # fmt: skip
    assert list(found["partition_specs"]["added"]) == ["1"]
    assert list(found["sort_orders"]["added"]) == ["2"]
    assert (found["default_spec_id"], found["default_sort_order_id"]) == ([0, 1], [0, 2])
    assert list(found["statistics"]["added"]) == ["s"]
    back = metadata_diff(after, before)
    assert (back["snapshots"], back["location"]) == ({"added": [1], "expired": [3]}, ["/u", "/t"])
    for name in ("table_uuid", "schema", "current_schema_id"):
        assert name not in found


def test_schemas_are_compared_by_field_id() -> None:
    def schema(n: int, *fields: tuple[int, str, Any, bool]) -> dict[str, Any]:
        made = [{"id": i, "name": name, "type": kind, "required": required} for i, name, kind, required in fields]
        return {"type": "struct", "schema-id": n, "fields": made}

    nested = {"type": "list", "element-id": 9, "element": "int", "element-required": False}
    table = edited(schemas=[
        schema(0, (1, "a", "int", False), (2, "b", "int", False), (3, "c", nested, False)),
        schema(1, (2, "b", "long", True), (1, "z", "int", False), (4, "d", "string", False)),
        schema(2, (1, "a", "int", False), (3, "c", nested, False), (2, "b", "int", False), (5, "e", "int", False)),
    ])  # fmt: skip
    found = schema_changes(table, table, 0, 1)
    assert found["added"]["4"] == {"name": "d", "type": "string", "required": False}
    assert found["removed"]["3"]["type"] == "list"
    assert [side["name"] for side in found["changed"]["1"]] == ["a", "z"]
    assert [(side["type"], side["required"]) for side in found["changed"]["2"]] == [("int", False), ("long", True)]
    assert found["reordered"] == ["b", "z", "d"]
    assert schema_changes(table, table, 0, 2)["reordered"] == ["a", "c", "b", "e"]
    assert "reordered" not in schema_changes(table, table, 0, 0)
    assert set(schema_changes(table, table, None, 0)) == {"added"}
    assert schema_changes(table, table, 7, 8) == {}
    other = edited(
        schemas=[schema(0, (1, "id", "long", False)), schema(1, (1, "n", "long", False))], **{"current-schema-id": 1}
    )
    whole = metadata_diff(edited(), other)
    assert (whole["current_schema_id"], list(whole["schema"]["changed"])) == ([0, 1], ["1"])


def test_an_error_that_repeats_a_secret_is_told_without_it() -> None:
    known = {
        "credential": "me:first-hush", "token": "second-hush", "uri": "postgresql://me:third%2Fhush@host/db",
        "s3.access-key-id": "AKID", "s3.region": "eu-west-1", "password": "x",
    }  # fmt: skip
    values = secret_values(known)
    assert values == {"me:first-hush", "first-hush", "second-hush", "third%2Fhush", "third/hush"}
    assert redact("no such user second-hush, in eu-west-1", values) == f"no such user {HIDDEN}, in eu-west-1"
    inner, outer = ValueError("I got third/hush"), ValueError("refused")
    assert harmless(outer, known) is outer
    assert harmless(inner, known) is None
    outer.__cause__ = inner
    assert harmless(outer, known) is None


def test_what_looks_like_a_secret_is_hidden() -> None:
    for key in ("s3.secret-access-key", "s3.session-token", "adls.sas-token.x", "PASSWORD", "rest.authorization"):
        assert is_secret(key), key
    for key in ("write.format.default", "owner", "commit.retry.num-retries"):
        assert not is_secret(key), key
    for key in ("encryption.key", "key", "kms.keys", "key.hash", "column.key"):
        assert is_secret(key), key
    for key in ("primary-key", "write.upsert.sort-key", "hash.keys", "key-columns", "encryption.key-id", "keys.count"):
        assert not is_secret(key), key
    assert without_secrets({"token": "x", "owner": "me"}) == {"token": HIDDEN, "owner": "me"}


def test_what_stands_before_the_host_is_hidden_unless_it_is_a_container() -> None:
    assert redact("abfss://files@acc.dfs.core.windows.net/t") == "abfss://files@acc.dfs.core.windows.net/t"
    assert redact("WASB://files@acc/t") == "WASB://files@acc/t"
    for uri in ("abfss://me:hush@acc/t", "https://hush@host/t", "s3://me:hush@bucket/t"):
        assert "hush" not in redact(f"no such file: {uri}")


def test_a_token_is_hidden_wherever_it_stands() -> None:
    token = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl"
    for text in (token, f"x-{token}", f"a.{token}.b", f"/{token}/", f"of-eyJ-{token} and"):
        assert "eyJhbG" not in redact(text), text
    assert redact("eyJhbGciOiJIUzI1NiJ9 alone") == "eyJhbGciOiJIUzI1NiJ9 alone"


@pytest.mark.parametrize(
    "part", ["a", "a.", "Aa", "a://", "-eyJaaaaaaaa", "jdbc:oracle:thin:", "a=", "-----BEGIN ", ";a  "]
)
def test_secrets_are_looked_for_in_linear_time(part: str) -> None:
    began = time.process_time()
    redact(part * (100_000 // len(part)))
    redact(f"a://{part * (100_000 // len(part))}")
    assert time.process_time() - began < 5  # nothing can stop a search, and all pages wait for it


def test_headers_of_older_and_newer_versions() -> None:
    table = edited()
    header = {"partition-spec": "[]", "partition-spec-id": "0", "schema": '{"fields": [{"id": 1}]}'}

    def said(**more: str) -> dict[str, tuple[Any, Any, bool | None]]:
        full = header | {k.replace("_", "-"): v for k, v in more.items()}
        return {c.name: (c.header, c.other, c.agrees) for c in check_header(full, manifest("m", 1), table)}

    assert said()["content"] == ("data", "data", True)  # version 1 wrote none
    assert said(format_version="1")["format-version"] == (1, 1, True)  # an upgraded table
    assert said(format_version="3")["format-version"] == (3, 2, False)
    assert "format-version" not in said(format_version="x")
    assert said(partition_spec_id="-1")["partition-spec-id"] == (-1, 0, False)
    assert said(partition_spec="nonsense")["partition-spec"][2] is None
    assert said(partition_spec='{"spec-id": 0, "fields": []}')["partition-spec"] == ([], [], True)
    named = said(partition_spec='[{"name": "p", "transform": "void"}, {"name": "q", "transform": "void"}, 7]')
    assert named["partition-spec"][0] == [[1000, "p", "void"], [1001, "q", "void"]]  # ids count from 1000 (v1)
    assert said(schema='{"fields": [{"id": 9}, {"id": 1}]}')["schema field ids in no schema"][0] == [9]
    assert said(schema="[]")["schema field ids in no schema"][2] is None
    unknown_spec = check_header(header, manifest("m", 1, partition_spec_id=5), table)
    assert [c.agrees for c in unknown_spec] == [True, False, None, True]


def test_totals_that_nobody_says() -> None:
    listed = [manifest("m", 1, added=2, existing=1), manifest("d", 1, added=1, content=1)]
    told = {
        t.name: (t.summary, t.computed, t.agrees)
        for t in totals({"total-data-files": "3", "total-records": "x"}, listed)
    }
    assert told == {
        "total-data-files": (3, 3, True), "total-delete-files": (None, 1, None), "total-records": (None, 30, None),
    }  # fmt: skip
    unknown = totals({"total-data-files": "3"}, [replace(listed[0], existing_files_count=None)])
    assert (unknown[0].computed, unknown[0].agrees) == (None, None)
    assert totals({"total-data-files": "4"}, listed)[0].agrees is False


def test_numbers_as_people_read_them() -> None:
    assert [count(n, "row") for n in (0, 1, 2, 1234, None)] == ["0 rows", "1 row", "2 rows", "1,234 rows", "? rows"]
    assert (count(2, "entry", "entries"), count(1, "entry", "entries"), count(5)) == ("2 entries", "1 entry", "5")
    assert [human_bytes(n) for n in (None, 1, 1024, 1 << 20, 100 << 10, 102399, 1 << 60, -2048)] == [
        "?", "1 B", "1.0 KiB", "1.0 MiB", "100 KiB", "100.0 KiB", "1024 PiB", "-2.0 KiB",
    ]  # fmt: skip
    assert instant(None) == "?"
    assert instant(1_000_000_000_089) == "2001-09-09 01:46:40.089 UTC"
    before = TIME_ZONE.set(datetime.timezone(datetime.timedelta(hours=2)))
    assert instant(0) == "1970-01-01 02:00:00.000+02:00"
    TIME_ZONE.reset(before)
