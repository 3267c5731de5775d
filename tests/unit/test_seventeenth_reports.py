"""Troubles of a seventeenth round of public reports, on tables that are built here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from explorer.reports.maintenance import preview
from explorer.reports.maintenance_plan import plan_all
from explorer.reports.readers import find_readers
from tests.cases.mini import Table
from tests.support import direct
from tests.support.feature_tables import OURS
from tests.support.report_tables import found
from tests.support.small_tables import edit_metadata, make_table


def test_readers_begin_with_what_keeps_spark_from_a_manifest(tmp_path: Path) -> None:
    """No feature keeps a reader away, but a lost manifest does."""
    place = make_table(tmp_path, 2)
    lost = next((place / "metadata").glob("*-m0.avro"))
    lost.unlink()
    answer = find_readers(direct.open_table(str(place)))
    assert answer.features[0].title == "fault manifest-missing"
    assert answer.features[0].where.startswith(f"{lost.name}: ")
    assert "Spark 4.1 with Iceberg Java cannot, because of fault manifest-missing" in answer.words
    assert "It is not known of Spark 4.0" in answer.words


OF_OLDER_READERS = {"fault-no-current-id"}
"""Faults that only versions refuse which are too old to run here."""


@pytest.mark.parametrize("feature", [name for name in OURS if name.startswith("fault-")])
def test_faults_are_what_readers_meet(feature: str, tmp_path: Path) -> None:
    """duckdb-iceberg#321 and #799, iceberg-rust#1088, timeplus-io/proton#1035, JanKaul/iceberg-rust#212."""
    table, _ = OURS[feature](tmp_path / "t")
    answer = find_readers(direct.open_table(str(table.folder)))
    assert feature in {one.feature for one in answer.features}
    cells = [cell for verdict in answer.verdicts for one, cell in verdict.cells if one.feature == feature]
    assert sum(cell.is_tried for cell in cells) >= 9, "each reader that can be run was tried"
    assert feature in OF_OLDER_READERS or {cell.reads for cell in cells if cell.is_tried} != {"yes"}


def test_a_new_uuid_of_the_same_table_loses_nothing(tmp_path: Path) -> None:
    """duckdb/duckdb-iceberg#750: going back to the file before would bring deleted rows back."""
    place = make_table(tmp_path, 2)
    edit_metadata(place, lambda raw: raw.update({"table-uuid": "99900000-0000-4000-8000-000000000002"}))
    [finding] = found(str(place), "uuid-changed")
    assert (finding.severity, finding.refused, "register_table" in finding.remedy) == ("warning", "", False)
    assert "Nothing is lost" in finding.remedy


def test_another_table_in_its_place_is_an_error(tmp_path: Path) -> None:
    place = make_table(tmp_path, 2)

    def change(raw: dict[str, Any]) -> None:
        raw["table-uuid"] = "99900000-0000-4000-8000-000000000002"
        raw["snapshots"] = [{**raw["snapshots"][-1], "snapshot-id": 77, "parent-snapshot-id": None}]
        raw["current-snapshot-id"] = raw["refs"]["main"]["snapshot-id"] = 77
        raw["snapshot-log"] = []

    edit_metadata(place, change)
    [finding] = found(str(place), "uuid-changed")
    assert (finding.severity, "the table was replaced, or this file was swapped" in finding.what) == ("error", True)


def test_nothing_is_written_anew_where_a_delete_is_listed_as_data(tmp_path: Path) -> None:
    """JanKaul/iceberg-rust#212: rewrite_manifests would drop equality_ids for good."""
    table, _ = OURS["fault-delete-as-data"](tmp_path / "t")
    opened = direct.open_table(str(table.folder))
    for operation in ("compact", "rewrite-manifests", "dangling-deletes", "rewrite-position-deletes"):
        seen = preview(opened, operation)
        assert (seen.call, seen.refusal[:16]) == ("", "Do not run this:"), operation
    assert not [line for line in plan_all(opened).lines if line.statement]


def test_void_beside_other_fields_is_another_feature_than_void_alone(tmp_path: Path) -> None:
    """trinodb/trino#8284: Flink fails on a spec of void alone."""
    for number, fields in enumerate(([(2, 1000, "x", "void")], [(2, 1000, "x", "void"), (1, 1001, "id", "identity")])):
        table = Table(tmp_path / str(number), [(1, "id", "long"), (2, "x", "string")], fields, version=1)
        partition = {"x": None} | ({"id": 1} if number else {})
        table.append(table.parquet("a.parquet", {"id": [1], "x": ["a"]}, partition=partition))
        features = {one.feature for one in find_readers(direct.open_table(str(tmp_path / str(number)))).features}
        assert ("transform-void-beside" if number else "transform-void") in features


def test_a_writer_looks_at_the_size_of_its_file_after_a_thousand_rows(tmp_path: Path) -> None:
    """StarRocks/starrocks#64231: files do not become as many as a small target asks for."""
    properties = {"write.target-file-size-bytes": "100"}
    table = Table(tmp_path / "t", [(1, "id", "long"), (2, "x", "string")], properties=properties)
    table.append(*(table.parquet(f"{n}.parquet", {"id": [*range(900)], "x": ["a"] * 900}) for n in range(6)))
    seen = preview(direct.open_table(str(tmp_path / "t")), "compact", options={"rewrite-all": "true"})
    [words] = [line for line in seen.words if "would become" in line]
    assert "would become about 6 data files" in words


def test_maintenance_says_why_there_is_nothing_to_do(tmp_path: Path) -> None:
    plan = plan_all(direct.open_table(str(make_table(tmp_path, 2))))
    [line] = [line for line in plan.lines if line.operation == "compact"]
    assert (line.statement, line.why[:26]) == ("", "Nothing would be rewritten")
