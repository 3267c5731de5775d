"""Troubles of a sixteenth round of public reports, on tables that are built here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from explorer.reports.maintenance import preview
from explorer.reports.readers import find_readers
from explorer.spec.commits.landed import landed, matching_snapshots
from explorer.spec.snapshots.refs import preview_refs
from tests.cases.mini import Table
from tests.support import direct
from tests.support.report_tables import found
from tests.support.small_tables import edit_metadata, make_table


def test_a_misspelled_transform_is_named_and_its_bounds_are_not_judged(tmp_path: Path) -> None:
    """ClickHouse/ClickHouse#114848: `days` for `day`."""
    table = Table(tmp_path / "t", [(1, "ts", "date")], [(1, 1000, "ts_day", "day")])
    table.append(table.parquet("a.parquet", {"ts": [20666]}, partition={"ts_day": 20666}))
    place = tmp_path / "t"
    assert not found(str(place), "partition-summary")
    edit_metadata(place, lambda raw: raw["partition-specs"][0]["fields"][0].update(transform="days"))
    assert not found(str(place), "partition-summary")
    [finding] = found(str(place), "metadata-field")
    assert "Iceberg's word is `day`" in finding.what
    assert finding.refused == "table"


def test_a_parent_of_minus_one_is_no_parent(tmp_path: Path) -> None:
    """ClickHouse/ClickHouse#118812: nothing has expired."""
    place = make_table(tmp_path, 2)
    edit_metadata(place, lambda raw: raw["snapshots"][0].update({"parent-snapshot-id": -1}))
    report = direct.doctor(str(place))
    assert {(f.rule, f.severity) for f in report.findings} == {("metadata-field", "info")}
    assert "-1" in report.findings[0].what
    assert direct.open_table(str(place)).metadata.snapshots[0].parent_snapshot_id is None


def test_readers_say_that_spark_refuses_the_metadata(tmp_path: Path) -> None:
    """apache/iceberg-python#2166: the column of the sort order is gone."""
    place = make_table(tmp_path, 1)
    assert all(feature.spark is None for feature in find_readers(direct.open_table(str(place))).features)

    def change(raw: dict[str, Any]) -> None:
        raw["sort-orders"].append({"order-id": 1, "fields": [
            {"transform": "identity", "source-id": 99, "direction": "asc", "null-order": "nulls-first"}]})  # fmt: skip
        raw["default-sort-order-id"] = 1

    edit_metadata(place, change)
    answer = find_readers(direct.open_table(str(place)))
    assert [feature.spark for feature in answer.features if feature.spark] == ["no"]
    assert "Spark 4.1 with Iceberg Java cannot, because of fault metadata-field" in answer.words


def test_a_wap_id_that_main_has_is_published(tmp_path: Path) -> None:
    """apache/iceberg#14953: two staged snapshots of one WAP id, of which one is main's now."""
    place = make_table(tmp_path, 3)

    def change(raw: dict[str, Any]) -> None:
        for snapshot in raw["snapshots"][1:]:
            snapshot["summary"]["wap.id"] = "job"
        del raw["snapshot-log"][2:]
        raw["snapshots"][2]["parent-snapshot-id"] = raw["snapshots"][0]["snapshot-id"]
        raw["current-snapshot-id"] = raw["refs"]["main"]["snapshot-id"] = raw["snapshots"][1]["snapshot-id"]

    edit_metadata(place, change)
    table = direct.open_table(str(place))
    seen = preview_refs(table.metadata, "cherry-pick", "", table.metadata.snapshots[2])
    assert not seen.allowed
    assert "has published the staged write 'job' already" in seen.words[0]
    assert landed(table.metadata, "job", matching_snapshots(table.metadata, "job")).words.startswith(
        "It landed in part: 1 of 2 are staged alone. "
    )
    assert "make a branch at each" in preview_refs(table.metadata, "publish", "job", None).words[0]


def compacted(folder: Path, operation: str) -> str:
    """A partition with an equality delete, written anew since; and another partition whose keys overlap with it."""
    table = Table(folder, [(1, "id", "long"), (2, "dt", "string")], [(2, 1000, "dt", "identity")])
    old = table.parquet("a.parquet", {"id": [1, 9], "dt": ["x", "x"]}, partition={"dt": "x"})
    other = table.parquet("b.parquet", {"id": [2, 8], "dt": ["y", "y"]}, partition={"dt": "y"})
    table.append(old, other)
    table.delta(deletes=[table.equality_delete("e.parquet", {"id": [5]}, partition={"dt": "x"})])
    new = table.parquet("c.parquet", {"id": [1, 9], "dt": ["x", "x"]}, partition={"dt": "x"})
    before = table.lists[table.md["current-snapshot-id"]]
    kept = [m for m in before if m["content"]]
    stays = (0, other, {"sequence_number": 1, "file_sequence_number": 1})
    table.snapshot(operation, [table.manifest("new.avro", [(1, new), stays]), *kept])
    return str(folder)


def test_a_delete_that_a_compaction_applied_is_not_misplaced(tmp_path: Path) -> None:
    """apache/iceberg#8933: bounds of another partition overlap with it, as those of serial keys do."""
    sound = compacted(tmp_path / "sound", "replace")
    assert not found(sound, "delete-misplaced")
    assert [f.count for f in found(sound, "delete-dangling")] == [1]
    seen = preview(direct.open_table(sound), "dangling-deletes")
    assert "remove-dangling-deletes" in seen.call
    assert found(compacted(tmp_path / "odd", "overwrite"), "delete-misplaced")  # which is no compaction
