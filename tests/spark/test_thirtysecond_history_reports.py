"""Histories that maintenance cut, as the thirty-second reports tell of them, held against Spark: what is printed is run
as it is printed."""

from __future__ import annotations

import re
from typing import Any

import pytest
from click.testing import CliRunner

from explorer.cli import main
from explorer.spec.text.units import instant
from tests.support import direct
from tests.support.report_tables import found, java_table

SPACE, IN_CALLS = "sandbox.cut_history", "cut_history"


def run(*words: str) -> str:
    return CliRunner().invoke(main, list(words)).output


def with_inserts(spark: Any, name: str, number: int) -> list[int]:
    spark.sql(f"CREATE TABLE {SPACE}.{name} (x INT) USING iceberg")
    for value in range(1, number + 1):
        spark.sql(f"INSERT INTO {SPACE}.{name} VALUES ({value})")
    return [s.snapshot_id for s in direct.open_table(f"{SPACE}.{name}").metadata.snapshots]


# -- a history that an expiry cut in the middle (apache/iceberg#8565) --------------------------------------------------
def test_spark_loses_times_and_rollbacks_behind_an_expired_snapshot(spark: Any) -> None:
    name = f"{SPACE}.middle"
    ids = with_inserts(spark, "middle", 5)
    times = {s.snapshot_id: int(s.timestamp_ms or 0) for s in direct.open_table(name).metadata.snapshots}
    said = run("maintain", "preview", name, "expire", "-O", f"snapshot_ids={ids[2]}")
    assert "TIMESTAMP AS OF no longer finds snapshot-1 to snapshot-2, which stay: VERSION AS OF with their ids" in said
    assert "rollback_to_snapshot no longer goes to snapshot-1 to snapshot-2: set_current_snapshot does." in said
    call = re.search(r"^CALL .*expire_snapshots.*$", said, re.MULTILINE)
    assert call
    as_of_first = f"SELECT * FROM {name} TIMESTAMP AS OF '{instant(times[ids[0]]).removesuffix(' UTC')} UTC'"
    assert [row.x for row in spark.sql(as_of_first).collect()] == [1]
    spark.sql(call[0])
    with pytest.raises(Exception, match="Cannot find a snapshot older than"):
        spark.sql(as_of_first).collect()
    [lines] = spark.sql(f"SELECT collect_list(snapshot_id) FROM {name}.history").collect()
    assert set(lines[0]) == {ids[3], ids[4]}

    kinds = {e.snapshot_id: e.kind for e in direct.open_table(name).lineage()}
    assert [kinds[own] for own in (ids[0], ids[1], ids[3], ids[4])] == ["cut off", "cut off", "ancestor", "current"]
    assert run("history", "landed", name, str(ids[0])).startswith("It landed.")
    told = run("count", name, "-s", str(times[ids[1]]))
    assert "snapshot-2 was current at" in told
    assert sorted(row.x for row in spark.sql(f"SELECT * FROM {name} VERSION AS OF {ids[1]}").collect()) == [1, 2]
    [finding] = found(name, "log-incomplete")
    [tag] = re.findall(r"ALTER TABLE \S+ CREATE TAG [^.]*\d", finding.remedy)
    spark.sql(tag)
    assert spark.sql(f"SELECT * FROM {name} VERSION AS OF 'before_the_log'").count() == 2

    with pytest.raises(Exception, match="not an ancestor of the current state"):
        spark.sql(f"CALL sandbox.system.rollback_to_snapshot('{IN_CALLS}.middle', {ids[0]}L)")
    spark.sql(f"CALL sandbox.system.set_current_snapshot('{IN_CALLS}.middle', {ids[0]}L)")
    assert [row.x for row in spark.table(name).collect()] == [1]
    assert "the table went back from snapshot-4 to its ancestor snapshot-1" in run("history", "lineage", name)


def test_two_expiries_in_the_middle_are_both_bridged(spark: Any) -> None:
    name = f"{SPACE}.twice"
    ids = with_inserts(spark, "twice", 6)
    for own in (ids[1], ids[3]):
        spark.sql(f"CALL sandbox.system.expire_snapshots(table => '{IN_CALLS}.twice', snapshot_ids => array({own}L))")
    kinds = {e.snapshot_id: e.kind for e in direct.open_table(name).lineage()}
    assert [kinds[own] for own in (ids[0], ids[2], ids[4], ids[5])] == ["cut off", "cut off", "ancestor", "current"]


# -- statistics that went with their snapshots (trinodb/trino#19992) ---------------------------------------------------
def test_statistics_are_missed_and_computed_anew(spark: Any) -> None:
    name = f"{SPACE}.statistics"
    with_inserts(spark, "statistics", 2)
    spark.sql(f"CALL sandbox.system.compute_table_stats('{IN_CALLS}.statistics')")
    spark.sql(f"INSERT INTO {name} VALUES (9)")
    said = run("maintain", "preview", name, "expire", "-O", "older_than=2099-01-01")
    assert "1 statistics file of them would be removed, and the table would have none." in said
    call = re.search(r"^CALL .*expire_snapshots.*$", said, re.MULTILINE)
    assert call
    spark.sql(call[0])
    assert java_table(spark, name).statisticsFiles().isEmpty()
    [finding] = found(name, "statistics-stale")
    assert finding.what.endswith("has 1, and metadata-5 has none: its snapshot has expired")
    spark.sql(finding.remedy.removesuffix(" writes new ones."))
    assert java_table(spark, name).statisticsFiles().size() == 1
    assert not found(name, "statistics-stale")


# -- files that one row rewrote (apache/iceberg#8378) ------------------------------------------------------------------
@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("UPDATE {} SET v = 'b' WHERE id = 5", "replaced 1 data file of 100 rows by 1 of as many rows: "),
        ("DELETE FROM {} WHERE id = 5", "replaced 1 data file of 100 rows by 1 of 99. "),
        (
            "MERGE INTO {} t USING (SELECT 5L id, 'm' v) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET v = s.v",
            "is a MERGE that replaced 1 data file of 100 rows by 1: it carried 99 rows over, and changed 1.",
        ),
    ],
)
def test_merge_on_read_rewrites_no_data_file(statement: str, words: str, spark: Any) -> None:
    kind = statement.split()[0].lower()
    name = f"{SPACE}.rewritten_{kind}"
    spark.sql(f"CREATE TABLE {name} (id BIGINT, v STRING) USING iceberg")
    spark.range(0, 100).selectExpr("id", "'a' AS v").coalesce(1).writeTo(name).append()

    def files() -> set[str]:
        return {row.file_path for row in spark.sql(f"SELECT file_path FROM {name}.data_files").collect()}

    first = files()
    spark.sql(statement.format(name))
    second = files()
    assert not first & second
    told = run("storage", name)
    assert words in told
    alter = re.search(r"ALTER TABLE \S+ SET TBLPROPERTIES \([^)]+\)", told)
    assert alter
    assert f"write.{kind}.mode" in alter[0]
    spark.sql(alter[0])
    assert "copy-on-write" not in run("storage", name)
    spark.sql(statement.format(name).replace("5", "6"))
    assert second <= files()
    assert spark.sql(f"SELECT * FROM {name}.delete_files").count() == 1
