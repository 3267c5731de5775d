"""Branches, tags, rollbacks, the lineage and the snapshot log, on small trees."""

from __future__ import annotations

from typing import Any

import pytest

from explorer.errors import NotFoundInTable
from explorer.model.metadata import TableMetadata
from explorer.spec.snapshots.lineage import ancestry, current_log, lineage, parent_circle
from explorer.spec.snapshots.refs import RefPreview, preview_refs
from explorer.spec.snapshots.snapshot_names import resolve_snapshot
from explorer.spec.text.names import (
    base_name,
    file_label,
    manifest_name,
    runs,
    shorten,
    snapshot_name,
    snapshot_ordinals,
)
from tests.support.paper_tables import HOUR, manifest, on_paper

NOW = 500_000 * HOUR  # 2027-01-15 08:00 UTC
# 1 - 2 - 4 (main)      3 stands on 2 (branch audit), 5 on 3 (a staged write), 6 on 4 (nowhere)
PARENTS = [None, 1, 2, 2, 3, 4]
REFS = {
    "main": {"snapshot-id": 4, "type": "branch"},
    "audit": {"snapshot-id": 3, "type": "branch"},
    "opening": {"snapshot-id": 1, "type": "tag"},
}


def log(*ids: int) -> list[dict[str, int]]:
    return [{"timestamp-ms": NOW - (20 - i) * HOUR, "snapshot-id": n} for i, n in enumerate(ids)]


def staged(data: dict[str, Any]) -> None:
    data["snapshots"][4]["summary"] = {"operation": "append", "wap.id": "night"}
    data["snapshot-log"] = log(1, 2, 6, 4)


TABLE = on_paper(PARENTS, REFS, {}, NOW, staged)


def preview(
    operation: str, name: str = "", at: int | None = None, table: TableMetadata = TABLE, **more: Any
) -> RefPreview:
    return preview_refs(table, operation, name, table.snapshot(at), **more)


def refused(operation: str, name: str = "", at: int | None = None, table: TableMetadata = TABLE, **more: Any) -> str:
    found = preview(operation, name, at, table, **more)
    assert not found.allowed
    assert (found.before, found.current, found.abandoned) == (found.after, 4, ())
    [reason] = found.words
    assert reason.startswith("Iceberg would refuse: ")
    return reason


def test_creating_and_dropping() -> None:
    for kind in ("tag", "branch"):
        made = preview(kind, "new", 2)
        assert (made.allowed, made.after, made.current) == (True, made.before | {"new": 2}, 4)
        assert "keep snapshot-2" in made.words[0]
        assert made.words[1] == "The snapshot log would stay as it is."
        assert "tag opening is there already, at snapshot-1" in refused(kind, "opening", 2)
    gone = preview("drop", "audit")
    assert gone.after == {"main": 4, "opening": 1}
    assert gone.abandoned == (3,)
    assert "No branch or tag would lead to snapshot-3" in gone.words[-1]
    assert preview("drop", "opening").abandoned == ()  # main leads to it too
    assert "no branch or tag nowhere" in refused("drop", "nowhere")
    assert "cannot be dropped" in refused("drop", "main")


def test_fast_forward_goes_to_descendants_only() -> None:
    ahead = preview("fast-forward", "main", 6)
    assert (ahead.allowed, ahead.after["main"], ahead.current, ahead.abandoned) == (True, 6, 6, ())
    assert "The snapshot log would get a line: snapshot-6" in ahead.words[-1]
    other = preview("fast-forward", "audit", 5)
    assert (other.after["audit"], other.after["main"], other.current) == (5, 4, 4)
    assert "log would stay as it is" in other.words[-1]
    assert "does not descend from snapshot-4" in refused("fast-forward", "main", 3)
    assert "opening is a tag" in refused("fast-forward", "opening", 4)
    made = preview("fast-forward", "release", 4)
    assert made.after["release"] == 4
    assert made.words[0] == "There is no branch release: it would be made, at snapshot-4."


def test_rollback_goes_to_ancestors_and_set_current_anywhere() -> None:
    back = preview("rollback", at=2)
    assert (back.allowed, back.after["main"], back.current, back.abandoned) == (True, 2, 2, (4,))
    assert "no ancestor" in refused("rollback", at=3)
    anywhere = preview("set-current", at=3)
    assert (anywhere.allowed, anywhere.current, anywhere.abandoned) == (True, 3, (4,))
    same = preview("set-current", at=4)
    assert (same.current, same.words[-1]) == (4, "The snapshot log would stay as it is.")


def test_rollback_to_a_time_takes_the_newest_ancestor_before_it() -> None:
    times = {s.snapshot_id: s.timestamp_ms or 0 for s in TABLE.snapshots}
    assert preview("rollback-to-time", timestamp_ms=times[4]).current == 2  # strictly before
    assert preview("rollback-to-time", timestamp_ms=times[4] + 1).current == 4
    assert preview("rollback-to-time", timestamp_ms=times[3] + 1).current == 2  # 3 is no ancestor
    assert "no ancestor of the current snapshot is older" in refused("rollback-to-time", timestamp_ms=times[1])


def test_publishing_a_staged_write() -> None:
    made = preview("publish", "night")
    assert (made.allowed, made.current) == (True, None)  # 5 stands on 3, so a new snapshot is made on 4
    assert "main" not in made.after
    assert made.abandoned == ()
    assert "A new snapshot on snapshot-4 would add the files that snapshot-5 added" in made.words[0]
    assert "the new snapshot, current from then on" in made.words[-1]
    assert "there are night" in refused("publish", "day")
    assert "there are night" in refused("publish", "")


def summary(n: int, **more: str) -> Any:
    def change(data: dict[str, Any]) -> None:
        staged(data)
        data["snapshots"][n - 1]["summary"].update({k.replace("_", "-"): v for k, v in more.items()})

    return change


def test_what_can_be_cherry_picked() -> None:
    on_top = preview("cherry-pick", at=6)
    assert (on_top.allowed, on_top.current, on_top.after["main"]) == (True, 6, 6)
    assert "main is moved on to it" in on_top.words[0]
    assert preview("cherry-pick", at=3).current is None
    assert "an ancestor of the current snapshot already" in refused("cherry-pick", at=2)
    picked = on_paper(PARENTS, REFS, {}, NOW, summary(4, source_snapshot_id="3"))
    assert "snapshot-4 has picked it already" in refused("cherry-pick", at=3, table=picked)
    published = on_paper(PARENTS, REFS, {}, NOW, summary(4, published_wap_id="night"))
    assert "has published the staged write 'night' already" in refused("cherry-pick", at=5, table=published)
    overwrite = on_paper(PARENTS, REFS, {}, NOW, summary(3, operation="overwrite"))
    assert "no append but overwrite" in refused("cherry-pick", at=3, table=overwrite)
    dynamic = on_paper(PARENTS, REFS, {}, NOW, summary(3, operation="overwrite", replace_partitions="true"))
    assert preview("cherry-pick", at=3, table=dynamic).allowed
    delete = on_paper(PARENTS, REFS, {}, NOW, summary(6, operation="delete"))
    assert preview("cherry-pick", at=6, table=delete).allowed  # it was made on the current snapshot


def test_what_must_be_given() -> None:
    for operation, name, at in (
        ("rename", "x", 1), ("tag", "x", None), ("tag", "", 1), ("drop", "", None), ("fast-forward", "", 4),
        ("rollback", "", None), ("rollback-to-time", "", None), ("cherry-pick", "", None),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=r"takes|no operation"):
            preview(operation, name, at)


# -- lineage ----------------------------------------------------------------------------------------------------------
def test_where_each_snapshot_stands() -> None:
    entries = {e.snapshot_id: e for e in lineage(TABLE)}
    assert {i: e.kind for i, e in entries.items()} == {
        1: "ancestor", 2: "ancestor", 3: "branch", 4: "current", 5: "staged", 6: "abandoned",
    }  # fmt: skip
    assert (entries[4].refs, entries[1].refs, entries[4].parent) == (("branch main",), ("tag opening",), "snapshot-2")
    assert entries[6].notes == ("it was current once, but a rollback or a reset left it, and no ref leads to it",)
    assert "'night'" in entries[5].notes[0]
    detached = on_paper([None, 1, 1, 9], {"main": {"snapshot-id": 2, "type": "branch"}}, {}, NOW)
    kinds = {e.snapshot_id: (e.kind, e.notes) for e in lineage(detached)}
    assert kinds[3] == ("detached", ("no ref leads to it, and whether it was current is not known",))
    assert kinds[4][1][-1] == "its parent 9 has expired"
    picked = on_paper(PARENTS, REFS, {}, NOW, summary(4, source_snapshot_id="3", published_wap_id="x"))
    notes = " ".join(next(e for e in lineage(picked) if e.snapshot_id == 4).notes)
    assert "cherry-picked from snapshot-3" in notes
    assert "publishes the staged write 'x'" in notes


def test_ancestry_walks_parents_and_ends_in_a_circle() -> None:
    assert ancestry(TABLE, 5) == [5, 3, 2, 1]
    assert ancestry(TABLE, None) == ancestry(TABLE, 99) == []
    circle = on_paper([2, 1], {"main": {"snapshot-id": 2, "type": "branch"}}, {}, NOW)
    assert ancestry(circle, 2) == [2, 1]


def test_how_each_change_of_the_current_snapshot_came_about() -> None:
    def many(data: dict[str, Any]) -> None:
        data["snapshot-log"] = log(1, 2, 4, 2, 6, 3, 77, 4)

    entries = current_log(on_paper(PARENTS, REFS, {}, NOW, many))
    assert [e.how for e in entries] == [
        "commit", "commit", "commit", "rollback", "fast-forward", "jump", "expired", "jump",
    ]  # fmt: skip
    assert "out of order" not in "".join(e.reason for e in entries)

    def late(data: dict[str, Any]) -> None:
        data["snapshot-log"] = [{"timestamp-ms": t, "snapshot-id": n} for t, n in ((5, 1), (4, 2), (4, 4))]

    entries = current_log(on_paper(PARENTS, REFS, {}, NOW, late))
    assert ["out of order" in e.reason for e in entries] == [False, True, True]

    def early(data: dict[str, Any]) -> None:
        data["snapshot-log"] = [{"timestamp-ms": t, "snapshot-id": n} for t, n in ((-9, 1), (-8, 2), (-9, 4))]

    entries = current_log(on_paper(PARENTS, REFS, {}, NOW, early))
    assert ["out of order" in e.reason for e in entries] == [False, False, True]


# -- names and times --------------------------------------------------------------------------------------------------
def test_snapshots_are_numbered_by_sequence_number() -> None:
    def shuffled(data: dict[str, Any]) -> None:
        data["snapshots"].reverse()

    assert snapshot_ordinals(on_paper([None, 1, 2], None, {}, NOW, shuffled)) == {1: 1, 2: 2, 3: 3}
    ordinals = {70: 3}
    assert [snapshot_name(i, ordinals) for i in (70, 123456, None)] == ["snapshot-3", "expired …3456", "no snapshot"]
    names = [manifest_name(manifest(p, by), ordinals) for p, by in (("a-m0.avro", 70), ("a-m2.avro", 70), ("x", 98765))]
    assert names == ["manifest-3", "manifest-3.m2", "manifest-…8765"]


def test_short_names() -> None:
    assert [base_name(p) for p in ("s3://b/t/data/x.parquet", "/t/data/", "x")] == ["x.parquet", "data", "x"]
    assert [shorten("abcdefgh", n) for n in (8, 7, 6, 5)] == ["abcdefgh", "abc…fgh", "ab…fgh", "ab…gh"]
    assert runs(["snapshot-9", "snapshot-10", "snapshot-12"]) == "snapshot-9 to snapshot-10, snapshot-12"
    assert runs(["snapshot-3", "snapshot-2"]) == "snapshot-3, snapshot-2"


def test_which_snapshot_is_meant() -> None:
    def at(wanted: str | int | None, table: TableMetadata = TABLE) -> int:
        return resolve_snapshot(table, wanted).snapshot.snapshot_id

    assert (at(None), at("audit"), at("snapshot-2"), at(6), at("6"), at(" main ")) == (4, 3, 2, 6, 6, 4)
    times = [e.timestamp_ms for e in TABLE.snapshot_log]
    assert [at(t) for t in times] == [1, 2, 6, 4]  # what was current then, not what descends from what
    assert at(times[2] - 1) == 2
    assert resolve_snapshot(TABLE, "audit").reason == "branch audit"
    assert at("2027-01-14 15:00:00") == at("2027-01-14T15:00:00Z") == at("2027-01-14 16:00:00+01:00") == 4
    assert at("2027-01-14") == at("2027-01-14 23:59:59.999") == 4  # a date is its end
    assert at("2027-01-14 12:30") == at("2027-01-14 12:30 UTC") == 1
    for wanted, message in (
        (times[0] - 1, "no snapshot was current"), ("1960-01-01", "no snapshot was current"), (77, "may have expired"),
        ("nonsense", "branches and tags: main, audit, opening"), (12345678901, "may have expired"),
        (12345678901234, "may have expired"),
    ):  # fmt: skip
        with pytest.raises(NotFoundInTable, match=message):
            at(wanted)
    lost = on_paper([None], {"main": {"snapshot-id": 1, "type": "branch"}, "old": {"snapshot-id": 5, "type": "tag"}})
    with pytest.raises(NotFoundInTable, match="tag old points to snapshot 5, which is not in the metadata"):
        at("old", lost)
    empty = on_paper([], {}, {}, NOW)
    with pytest.raises(NotFoundInTable, match="nothing was committed yet"):
        at(None, empty)
    with pytest.raises(NotFoundInTable, match="the metadata has no snapshot-log"):
        at(times[0], empty)


def test_labels_tell_files_of_one_writer_apart() -> None:
    """By what Iceberg's writers put in the middle of their names."""
    uuids = "c4071610-06b6-4848-bd33-70a5ffa6582a", "5642b13b-9d3d-461e-a4e3-2f67139a5d5f"
    names = [f"s3://house/data/00000-18-{uuid}-0-00001.parquet" for uuid in uuids]
    assert [file_label(name, 17) for name in names] == ["18-c407…1.parquet", "18-5642…1.parquet"]
    assert file_label(f"00007-104-{uuids[1]}-00012-deletes.puffin") == "104-5642…12-del.puffin"
    assert file_label(f"00000-0-{uuids[0]}.parquet") == "0-c407….parquet"  # pyiceberg's
    assert file_label("data/data-3.parquet") == "data-3.parquet"


def test_what_iceberg_would_follow_without_end_is_not_run() -> None:
    round_table = on_paper([4, 1, 2, 3], {"main": {"snapshot-id": 4, "type": "branch"}}, {}, NOW)
    assert parent_circle(round_table, 4) == (4, 3, 2, 1)
    for operation, more in (("rollback", {}), ("rollback-to-time", {"timestamp_ms": NOW}), ("cherry-pick", {})):
        found = preview(operation, at=2, table=round_table, **more)
        assert not found.allowed
        assert found.words[0].startswith("Do not run this: the parents of the current snapshot run in a circle")
    assert not preview("fast-forward", "main", 2, round_table).allowed
    assert preview("set-current", at=2, table=round_table).allowed  # follows no parents
    beside = on_paper([None, 1, 4, 3], {"main": {"snapshot-id": 2, "type": "branch"}}, {}, NOW)
    assert parent_circle(beside, 2) == ()
    assert preview("rollback", at=1, table=beside).allowed


def test_a_staged_write_is_published_by_an_id_that_one_snapshot_has() -> None:
    """PublishChangesProcedure of Iceberg 1.12 refuses an id of several, and earlier versions take the first."""

    def twice(data: dict[str, Any]) -> None:
        staged(data)
        data["snapshots"][5]["summary"] = {"operation": "append", "wap.id": "night"}

    reason = refused("publish", "night", table=on_paper(PARENTS, REFS, {}, NOW, twice))
    assert "snapshot-5 and snapshot-6 have the WAP id 'night'" in reason
    assert "Cherry-pick one" in reason

    def empty(data: dict[str, Any]) -> None:
        data["snapshots"][0]["summary"] = {"operation": "append", "wap.id": "first"}
        data.pop("current-snapshot-id")

    first = preview("publish", "first", table=on_paper([None], {}, {}, NOW, empty))
    assert first.words[0] == "snapshot-1 was staged on the empty table: main is moved on to it."


def test_a_rollback_to_a_time_goes_to_the_ancestor_of_the_latest_time() -> None:
    """SetSnapshotOperation.findLatestAncestorOlderThan: clocks of two writers may disagree."""

    def skewed(data: dict[str, Any]) -> None:
        data["snapshots"][3]["timestamp-ms"] = data["snapshots"][1]["timestamp-ms"] - 1
        data["snapshot-log"] = []

    table = on_paper(PARENTS, REFS, {}, NOW, skewed)
    times = {n: table.snapshot(n).timestamp_ms for n in (1, 2, 4)}  # type: ignore[union-attr]
    assert times[1] < times[4] < times[2]
    gone = preview("rollback-to-time", table=table, timestamp_ms=times[2] + 1)
    assert gone.after["main"] == 2
    assert "snapshot-4 descends from snapshot-2 and is older by its clock" in gone.words[0]
    assert preview("rollback-to-time", table=table, timestamp_ms=times[2]).current == 4
