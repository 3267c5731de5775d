"""Remedies of the thirtieth reports of trouble with Iceberg tables, run as they are printed or as the documents say."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from pyiceberg.table import StaticTable

from explorer.reports.maintenance import preview
from explorer.reports.maintenance_plan import plan_all
from explorer.table import open_table
from tests.cases.mini import Table
from tests.statements.printed import statements
from tests.support import direct
from tests.support.report_tables import found, java_table
from tests.support.thirtieth_tables import current_list, mend, metadata_file, uncounted, uncounted_before, upserted

REWRITE = "CALL sandbox.system.rewrite_data_files(table => '{}', options => map('rewrite-all', 'true'))"
MERGE = "CALL sandbox.system.rewrite_manifests('{}')"


SPACE = "sandbox.thirtieth"


def registered(spark: Any, table: Table, own: str) -> str:
    spark.sql(f"CALL sandbox.system.register_table('thirtieth.{own}', '{metadata_file(table)}')")
    return f"sandbox.thirtieth.{own}"


def ids(spark: Any, name: str) -> list[int]:
    return sorted(row.id for row in spark.table(name).collect())


def read_elsewhere(name: str) -> list[int]:
    """The ids that pyiceberg reads."""
    place = direct.open_table(name).metadata.metadata_location
    return sorted(StaticTable.from_metadata(place).scan().to_arrow()["id"].to_pylist())


# -- a list that counts no live file in a manifest that has some (apache/iceberg#10919) --------------------------------
MENDED = [
    ({"version": 1}, [1, 2], [1, 2, 3, 4]),
    ({"version": 2}, [1, 2], [1, 2, 3, 4]),
    ({"version": 3}, [1, 2], [1, 2, 3, 4]),
    ({"counts": {"added_files_count": -1}}, [1, 2], [1, 2, 3, 4]),
    ({"parted": True}, [1, 2], [1, 2, 3, 4]),
    ({"delete": True}, [1, 2], [1, 2, 4]),
    ({"delete": True, "of": "deletes"}, [1, 2, 3, 4], [1, 2, 4]),
]


@pytest.mark.parametrize(("how", "read", "whole"), MENDED, ids=str)
def test_the_program_of_the_documents_keeps_the_rows(
    how: Mapping[str, Any], read: list[int], whole: list[int], spark: Any, tmp_path: Path
) -> None:
    own = f"mended_{MENDED.index((dict(how), read, whole))}"
    table = uncounted(tmp_path / "t", **how)
    name = registered(spark, table, own)
    assert ids(spark, name) == read
    [finding] = [f for f in found(name, "manifest-counts") if "live in it" in f.what]
    assert "icedive docs broken-tables has a program" in finding.remedy
    mend([current_list(table)], tmp_path)
    assert not found(name, "manifest-counts")
    assert ids(spark, name) == whole
    if how.get("version") == 3:
        assert sorted(row._row_id for row in spark.sql(f"SELECT _row_id FROM {name}").collect()) == [0, 1, 2, 3]
    spark.sql(f"INSERT INTO {name} VALUES (9, 'x')")
    spark.sql(REWRITE.format(f"thirtieth.{own}"))
    assert ids(spark, name) == [*whole, 9]


@pytest.mark.parametrize("harm", ["INSERT INTO {0} VALUES (9, 'x')", REWRITE])
def test_what_is_said_to_lose_the_rows_does(harm: str, spark: Any, tmp_path: Path) -> None:
    own = f"lost_{harm.startswith('CALL')}"
    table = uncounted(tmp_path / "t")
    name = registered(spark, table, own)
    assert read_elsewhere(name) == [1, 2, 3, 4]
    at = table.md["current-snapshot-id"]
    spark.sql(harm.format(f"thirtieth.{own}" if harm.startswith("CALL") else name))
    assert not {3, 4} & set(read_elsewhere(name))
    spark.sql(f"CALL sandbox.system.rollback_to_snapshot('thirtieth.{own}', {at})")
    mend([current_list(table)], tmp_path)
    assert ids(spark, name) == [1, 2, 3, 4]


@pytest.mark.parametrize("version", [1, 2, 3])
def test_the_printed_insert_keeps_the_rows(version: int, spark: Any, tmp_path: Path) -> None:
    own = f"inserted_{version}"
    name = registered(spark, uncounted(tmp_path / "t", version=version), own)
    [insert] = {s for f in found(name, "manifest-counts", deep=True) for s in statements(f.remedy)}
    spark.sql(insert)
    assert ids(spark, name) == [1, 2, 3, 4]
    assert not [f for f in found(name, "manifest-counts", snapshot="main") if "live in it" in f.what]
    if version > 1:
        assert read_elsewhere(name) == [1, 2, 3, 4]
    spark.sql(REWRITE.format(f"thirtieth.{own}"))
    assert ids(spark, name) == [1, 2, 3, 4]


@pytest.mark.parametrize(
    ("counts", "fails"),
    [
        ({"added_files_count": 7}, True), ({"deleted_files_count": 3}, False), ({"added_rows_count": 0}, False),
        ({"added_files_count": 0, "existing_files_count": 1}, False),
    ],
)  # fmt: skip
def test_the_remedy_of_other_wrong_counts_keeps_the_rows(
    counts: Mapping[str, int], fails: bool, spark: Any, tmp_path: Path
) -> None:
    own = f"other_{'_'.join(f'{key}_{value}' for key, value in counts.items())}"
    name = registered(spark, uncounted(tmp_path / "t", counts), own)
    shown = preview(open_table(name), "rewrite-manifests")
    assert shown.refusal.startswith("Spark would fail: the manifest list counts 7 live files") is fails
    if fails:
        with pytest.raises(Exception, match="must have the same number of active files"):
            spark.sql(MERGE.format(f"thirtieth.{own}")).collect()
    [finding] = found(name, "manifest-counts", deep=True)
    [statement] = statements(finding.remedy)
    spark.sql(statement)
    spark.sql(MERGE.format(f"thirtieth.{own}"))
    assert ids(spark, name) == [1, 2, 3, 4]
    assert not found(name, "manifest-counts", snapshot="main")


def test_what_is_said_to_lose_nothing_loses_nothing(spark: Any, tmp_path: Path) -> None:
    table = uncounted(tmp_path / "t")
    name = registered(spark, table, "kept")
    spark.sql(f"ALTER TABLE {name} SET TBLPROPERTIES ('a' = 'b')")
    assert read_elsewhere(name) == [1, 2, 3, 4]
    with pytest.raises(Exception, match="must have the same number of active files"):
        spark.sql(MERGE.format("thirtieth.kept")).collect()
    java = java_table(spark, name)
    file, jvm = table.parquet("5.parquet", {"id": [5], "p": ["x"]}), spark._jvm.org.apache.iceberg
    added = jvm.DataFiles.builder(java.spec()).withPath(file["file_path"]).withFormat("parquet").withRecordCount(1)
    java.newFastAppend().appendFile(added.withFileSizeInBytes(file["file_size_in_bytes"]).build()).commit()
    assert read_elsewhere(name) == [1, 2, 3, 4, 5]


@pytest.mark.parametrize("harm", [
    "UPDATE {0} SET p = 'y' WHERE id = 1",
    "DELETE FROM {0} WHERE id = 1",
    "MERGE INTO {0} t USING (SELECT 1 AS id) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET p = 'y'",
])  # fmt: skip
def test_each_statement_that_is_said_to_lose_the_rows_does(harm: str, spark: Any, tmp_path: Path) -> None:
    name = registered(spark, uncounted(tmp_path / "t"), f"lost_by_{harm.split()[0].lower()}")
    spark.sql(harm.format(name))
    assert not {3, 4} & set(read_elsewhere(name))


def test_a_list_of_an_older_snapshot_that_counts_none_loses_rows_after_a_rollback_alone(
    spark: Any, tmp_path: Path
) -> None:
    table = uncounted_before(tmp_path / "t")
    before = table.md["snapshots"][-2]["snapshot-id"]
    name = registered(spark, table, "before")
    [finding] = found(name, "manifest-counts", deep=True)
    assert not statements(finding.remedy)
    assert ids(spark, name) == [1, 2, 3, 4]
    old = spark.sql(f"SELECT id FROM {name} VERSION AS OF {before}").collect()
    assert sorted(row.id for row in old) == [1, 2]
    spark.sql(f"INSERT INTO {name} VALUES (9, 'x')")
    spark.sql(REWRITE.format("thirtieth.before"))
    assert read_elsewhere(name) == [1, 2, 3, 4, 9]
    spark.sql(f"CALL sandbox.system.rollback_to_snapshot('thirtieth.before', {before})")
    spark.sql(f"INSERT INTO {name} VALUES (9, 'x')")
    assert read_elsewhere(name) == [1, 2, 9]


def test_no_insert_is_printed_for_rows_that_the_mended_list_counts(spark: Any, tmp_path: Path) -> None:
    """Two lists are wrong, and the program mends the current one alone."""
    table = uncounted(tmp_path / "t")
    listed = [dict(record) for record in table.lists[table.md["current-snapshot-id"]]]
    listed[-1]["added_files_count"] = 0
    table.snapshot("append", listed)
    name = registered(spark, table, "both")
    mend([current_list(table)], tmp_path)
    assert ids(spark, name) == [1, 2, 3, 4]
    [finding] = found(name, "manifest-counts", deep=True)
    assert not statements(finding.remedy)


# -- readers that refuse equality deletes (j3-signalroom/apache_flink-kickstarter#769) ---------------------------------
@pytest.mark.parametrize("first", [False, True])
def test_the_compaction_of_all_maintenance_leaves_no_equality_delete(first: bool, spark: Any, tmp_path: Path) -> None:
    name = registered(spark, upserted(tmp_path / "t", first=first), f"upserted_{first}")
    before = sorted((row.id, row.n) for row in spark.table(name).collect())
    [line] = [line for line in plan_all(open_table(name)).lines if line.operation == "compact"]
    option = "rewrite-all', 'true" if first else "delete-file-threshold', '1"
    words = f"{line.statement} {line.note} {line.why}"
    assert f"'{option}', 'remove-dangling-deletes', 'true'" in words
    spark.sql(next(s for s in statements(words) if "remove-dangling-deletes" in s))
    assert not [file for file in direct.open_table(name).files() if file["content"]]
    assert sorted((row.id, row.n) for row in spark.table(name).collect()) == before
    assert sorted(read_elsewhere(name)) == [id for id, _ in before]
