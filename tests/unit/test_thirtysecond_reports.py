"""What public reports of trouble with Iceberg tables told, a thirty-second time."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from click.testing import CliRunner

from explorer.cli import main
from explorer.spec.doctor.remedy_cases import DROPPED_SOURCE, REFUSES_SPEC, VOID_WITHOUT_SOURCE
from explorer.spec.schemas.partition_names import fields_taken_for_metrics
from explorer.spec.schemas.required_nulls import NOT_WRITTEN
from tests.cases.mini import Table
from tests.support import direct
from tests.support.other_types import INT96, Stored, write_table
from tests.support.thirtysecond_tables import with_nulled_partition


def run(*words: str) -> str:
    return CliRunner().invoke(main, list(words)).output


# -- a dropped column that only an old spec uses (trinodb/trino#15729) -------------------------------------------------
def test_no_reader_skips_rows_by_a_field_without_its_column(tmp_path: Path) -> None:
    folder = str(with_nulled_partition(tmp_path / "t").folder)
    [finding] = direct.doctor(folder, deep=True).findings
    assert (finding.rule, finding.severity, finding.snapshots) == ("readers-differ", "info", (102,))
    assert "rollback" not in finding.remedy
    assert "must not be run: expire" not in run("maintain", "all", folder).lower()


def test_a_field_that_time_travel_filters_by_is_told_of_older_snapshots_alone(tmp_path: Path) -> None:
    table = Table(str(tmp_path / "t"), [(1, "id", "int"), (2, "name", "string")], spec=[(2, 1000, "name", "identity")])
    table.append(table.parquet("a.parquet", {"id": [1], "name": ["b"]}, partition={"name": "a"}))
    assert [f.snapshots for f in direct.doctor(str(table.folder)).findings if f.rule == "partition-value"] == [(101,)]
    table.set_spec([])
    table.set_schema([(1, "id", "int")])
    table.append(table.parquet("b.parquet", {"id": [2]}))
    wrong = [f for f in direct.doctor(str(table.folder)).findings if f.rule == "partition-value"]
    assert [f.snapshots for f in wrong] == [(101,)]
    assert "rollback" not in wrong[0].remedy


def test_metadata_tables_fail_where_a_struct_gets_the_id_of_the_field(tmp_path: Path) -> None:
    for id_is_first, words in ((True, REFUSES_SPEC), (False, DROPPED_SOURCE)):
        folder = str(with_nulled_partition(tmp_path / str(id_is_first), id_is_first).folder)
        [finding] = direct.doctor(folder, deep=True).findings
        assert finding.what.endswith(words)
        statement = "rewrite_manifests(table => 'your_db.your_table')" in run("maintain", "all", folder)
        assert statement is not id_is_first
        assert ("Iceberg would refuse: Cannot partition by" in run("maintain", "all", folder)) is id_is_first
    metadata = direct.open_table(folder).metadata
    assert not fields_taken_for_metrics(metadata, 0)


def test_the_commit_that_leaves_a_dead_manifest_out_is_printed(tmp_path: Path) -> None:
    folder = str(with_nulled_partition(tmp_path / "t", live=False).folder)
    [finding] = [f for f in direct.doctor(folder).findings if "name_part" in f.columns]
    assert finding.what.startswith("a manifest without live files is of spec 0")
    assert finding.remedy.startswith("INSERT INTO your_catalog.your_db.your_table SELECT * FROM")
    assert "rewrite_data_files" not in finding.remedy


# -- a required column that a table got after rows (prestodb/presto#20618) ---------------------------------------------
@pytest.fixture
def late(tmp_path: Path) -> Table:
    """A table with a row, which gets a required column and another row then."""
    table = Table(str(tmp_path / "t"), [(1, "id", "int")])
    table.append(table.parquet("a.parquet", {"id": [1]}))
    table.set_schema([(1, "id", "int"), (2, "added", "int", True)])
    table.append(table.parquet("b.parquet", {"id": [2], "added": [2]}))
    return table


def absent(folder: Path, **options: bool) -> list[tuple[str, tuple[int, ...]]]:
    findings = direct.doctor(str(folder), **options).findings
    return [(f.severity, f.snapshots) for f in findings if f.rule == "required-absent"]


def test_metadata_tells_that_older_files_lack_a_required_column(late: Table) -> None:
    assert absent(late.folder) == [("warning", (102,))]
    assert absent(late.folder, deep=True) == [("error", (102,))]
    [told] = [f for f in direct.doctor(str(late.folder)).findings if f.rule == "required-absent"]
    assert (told.what, told.columns, told.count) == (NOT_WRITTEN, ("added",), 1)
    assert "ALTER COLUMN added DROP NOT NULL" in told.remedy
    says = run("history", "schemas", str(late.folder))
    assert "added (field 2): added as required int; it has no initial default" in says
    assert "have null" not in says


def test_a_branch_is_read_by_the_schema_of_the_table(late: Table) -> None:
    late.md["refs"]["old"] = {"snapshot-id": 101, "type": "tag"}
    late.write()
    assert absent(late.folder) == [("warning", (102,))]  # a tag by its own schema
    late.md["refs"]["dev"] = {"snapshot-id": 101, "type": "branch"}
    late.write()
    assert absent(late.folder) == [("warning", (101, 102))]
    assert absent(late.folder, deep=True) == [("error", (101, 102))]


def test_what_a_reader_does_depends_on_older_files(late: Table) -> None:
    says = run("readers", str(late.folder))
    assert "maybe fault required-absent: " in says
    assert "Can read it" not in says


def test_a_file_whose_counts_have_the_column_does_not_lack_it(tmp_path: Path) -> None:
    table = Table(str(tmp_path / "t"), [(1, "id", "int")])
    fields = [{"id": 1, "name": "id", "type": "int"}, {"id": 2, "name": "added", "type": "int"}]
    table.append(table.parquet("a.parquet", {"id": [1], "added": [5]}, fields=fields))
    table.set_schema([(1, "id", "int"), (2, "added", "int", True)])
    table.append(table.parquet("b.parquet", {"id": [2], "added": [2]}))
    assert not absent(table.folder)


@pytest.mark.parametrize("change", ["default", "optional", "expired", "partition"])
def test_no_column_is_told_that_readers_read(late: Table, change: str) -> None:
    schema = late.md["schemas"][1]
    if change == "default":
        late.md["format-version"], late.md["next-row-id"] = 3, 2
        schema["fields"][1]["initial-default"] = 7
    elif change == "optional":
        schema["fields"][1]["required"] = False
    elif change == "expired":
        del late.md["snapshots"][0]
        del late.md["snapshot-log"][0]
    else:
        late.md["partition-specs"][0]["fields"] = [
            {"source-id": 2, "field-id": 1000, "name": "added", "transform": "identity"}
        ]
    late.write()
    assert not absent(late.folder)


def test_deep_goes_by_the_files_alone(tmp_path: Path) -> None:
    """A file of an older schema that has the column, though nobody counted its values."""
    table = Table(str(tmp_path / "t"), [(1, "id", "int")])
    fields = [{"id": 1, "name": "id", "type": "int"}, {"id": 2, "name": "added", "type": "int"}]
    table.append(table.parquet("a.parquet", {"id": [1], "added": [5]}, fields=fields, value_counts={}))
    table.set_schema([(1, "id", "int"), (2, "added", "int", True)])
    table.append(table.parquet("b.parquet", {"id": [2], "added": [2]}))
    assert absent(table.folder) == [("warning", (102,))]
    assert not absent(table.folder, deep=True)


def test_a_required_field_inside_a_struct_is_told_where_the_struct_is_older(tmp_path: Path) -> None:
    def struct(*fields: tuple[int, str, bool]) -> dict[str, Any]:
        inside = [{"id": own, "name": name, "type": "int", "required": needed} for own, name, needed in fields]
        return {"type": "struct", "fields": inside}

    table = Table(str(tmp_path / "t"), [(1, "id", "int"), (2, "place", struct((3, "x", False)))])
    table.append(table.parquet("a.parquet", {"id": [1]}))
    table.set_schema([(1, "id", "int"), (2, "place", struct((3, "x", False), (4, "y", True))),
                      (5, "new", struct((6, "z", True)))])  # fmt: skip
    table.append(table.parquet("b.parquet", {"id": [2]}))
    [told] = [f for f in direct.doctor(str(table.folder)).findings if f.what == NOT_WRITTEN]
    assert told.columns == ("place.y",)
    says = run("history", "schemas", str(table.folder))
    assert "place.y (field 4): added as required int; it has no initial default" in says
    assert "new.z (field 6): added as required int; rows of older files have null" in says


# -- times that are stored as INT96 (trinodb/trino#11338) --------------------------------------------------------------
@pytest.mark.parametrize("zone", [None, "UTC"])
def test_int96_names_readers_and_the_rewrite(zone: str | None, tmp_path: Path) -> None:
    times = pa.array([datetime(2021, 3, 1), datetime(2021, 3, 2)], pa.timestamp("us", zone))
    write_table(tmp_path / "t", Stored("timestamptz" if zone else "timestamp", "int96", times, INT96))
    [told] = [f for f in direct.doctor(str(tmp_path / "t"), deep=True).findings if f.rule == "column-type"]
    assert told.severity == "info"
    assert "Spark 4.1 and pyiceberg 0.12 read it right, since no value is outside 1677-09-21" in told.what
    assert ("Trino before 453 fails on it (trinodb/trino#11338)" in told.what) is (zone is not None)
    assert told.remedy.count("rewrite_data_files(table => 'your_db.your_table', options => map('rewrite-all'") == 1


# -- a void field without its column (trinodb/trino#15738) -------------------------------------------------------------
@pytest.mark.parametrize("version", [1, 2])
def test_a_void_field_without_its_column_is_dropped_first(version: int, tmp_path: Path) -> None:
    spec = [(1, 1000, "id", "identity"), (2, 1001, "name", "void")]
    table = Table(str(tmp_path / "t"), [(1, "id", "int"), (2, "name", "string")], spec=spec, version=version)
    table.set_schema([(1, "id", "int")])
    table.write()
    [told] = [f for f in direct.doctor(str(table.folder)).findings if f.what.endswith(VOID_WITHOUT_SOURCE)]
    assert told.severity == "warning"
    assert "ALTER TABLE your_catalog.your_db.your_table DROP PARTITION FIELD name: writes work again." in told.remedy
    assert ("'format-version' = '2'" in told.remedy) == (version == 1)


def test_a_spec_of_void_alone_keeps_nobody_from_writing(tmp_path: Path) -> None:
    fields = [(1, "id", "int"), (2, "name", "string")]
    table = Table(str(tmp_path / "t"), fields, spec=[(2, 1000, "name", "void")], version=1)
    table.set_schema([(1, "id", "int")])
    table.write()
    assert not [f for f in direct.doctor(str(table.folder)).findings if f.what.endswith(VOID_WITHOUT_SOURCE)]
