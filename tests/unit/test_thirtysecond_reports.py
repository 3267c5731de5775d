"""What public reports of trouble with Iceberg tables told, a thirty-second time."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner

from explorer.cli import main
from explorer.spec.doctor.remedy_cases import DROPPED_SOURCE, REFUSES_SPEC
from explorer.spec.schemas.partition_names import fields_taken_for_metrics
from tests.cases.mini import Table
from tests.support import direct
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
