"""Remedies of the thirty-second reports of trouble with Iceberg tables, run as they are printed."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from click.testing import CliRunner
from py4j.protocol import Py4JJavaError
from pyspark.errors import IllegalArgumentException

from explorer.cli import main
from explorer.spec.doctor.manifest_list_rules import MERGE
from explorer.spec.doctor.remedy_cases import DROPPED_SOURCE, FORGOTTEN_PARTITION, REFUSES_SPEC, WRITES_FAIL
from explorer.spec.schemas.required_nulls import NOT_WRITTEN
from tests.statements.printed import statements
from tests.support import direct
from tests.support.other_types import INT96, Stored, write_table
from tests.support.report_tables import found, java_table

SPACE = "sandbox.thirtysecond"
OF_FILES = ("files", "data_files", "entries")
NO_LIVE_SPEC = "a manifest without live files is of spec 0"


def fails(spark: Any, query: str) -> bool:
    try:
        spark.sql(query).collect()
    except Py4JJavaError as error:
        assert "Cannot partition by non-primitive source field" in str(error)
        return True
    return False


def create(spark: Any, name: str, columns: str, spec: str, **properties: str) -> str:
    """Create a table without rows. Return its name."""
    table = f"{SPACE}.{name}"
    spark.sql(f"CREATE NAMESPACE IF NOT EXISTS {SPACE}")
    set_ = ", ".join(f"'{key.replace('_', '.')}' = '{value}'" for key, value in properties.items())
    spark.sql(
        f"CREATE TABLE {table} ({columns}) USING iceberg PARTITIONED BY ({spec})"
        + f" TBLPROPERTIES ({set_})" * bool(set_)
    )
    return table


def drop_name(spark: Any, table: str) -> None:
    """Drop the column `name` of a table, and the partition field that is made of it."""
    spark.sql(f"ALTER TABLE {table} DROP PARTITION FIELD truncate(5, name)")
    spark.sql(f"ALTER TABLE {table} DROP COLUMN name")


# -- rows that come back where a merge of manifests forgets a partition ------------------------------------------------
def test_rows_that_a_merge_of_manifests_brings_back_are_told(spark: Any) -> None:
    modes = {"write_delete_mode": "merge-on-read", "write_delete_granularity": "partition"}
    table = create(spark, "forgotten", "id INT, name STRING, v INT", "id, truncate(5, name)", **modes)
    for start in (0, 100):
        spark.sql(f"INSERT INTO {table} SELECT 1, 'Aachen', id FROM range({start}, {start + 10})")
    spark.sql(f"DELETE FROM {table} WHERE v IN (1, 2, 101)")
    drop_name(spark, table)
    [warned] = direct.doctor(table).findings
    assert (warned.severity, warned.what.endswith(f"{MERGE}. {WRITES_FAIL}")) == ("warning", True)
    spark.sql(f"ALTER TABLE {table} SET TBLPROPERTIES ('commit.manifest.min-count-to-merge' = '2')")
    assert spark.table(table).where("v IN (1, 2, 101)").count() == 0
    spark.sql(f"INSERT INTO {table} VALUES (3, 3)")
    assert spark.table(table).where("v IN (1, 2, 101)").count() == 3
    [told] = direct.doctor(table, deep=True).findings
    assert (told.rule, told.severity, told.what) == ("partition-value", "error", FORGOTTEN_PARTITION)
    assert {one.rule for one in told.explains} == {"delete-dangling", "readers-differ"}
    [alter] = statements(told.remedy)
    shown = CliRunner().invoke(main, ["maintain", "all", table]).output
    assert shown.startswith("There is nothing to run.\nMust not be run: dangling-deletes, expire, remove-orphans.")
    with pytest.raises(Py4JJavaError, match="Cannot find field"):
        spark.sql(f"DELETE FROM {table} WHERE v IN (1, 2, 101)")
    spark.sql(alter)
    spark.sql(f"DELETE FROM {table} WHERE v IN (1, 2, 101)")
    assert spark.table(table).where("v IN (1, 2, 101)").count() == 0
    assert spark.table(table).count() == 18


def test_merge_on_read_fails_until_the_old_spec_is_gone(spark: Any) -> None:
    modes = {"write_delete_mode": "merge-on-read"}
    table = create(spark, "merge_on_read", "id INT, name STRING", "truncate(5, name)", **modes)
    spark.sql(f"INSERT INTO {table} VALUES (1, 'Aachen'), (2, 'Aachen')")
    drop_name(spark, table)
    [live] = direct.doctor(table).findings
    assert (live.severity, live.what.endswith(f". {WRITES_FAIL}")) == ("warning", True)
    for statement in statements(live.remedy)[:2]:
        spark.sql(statement)
    [kept] = direct.doctor(table).findings
    assert kept.what == f"spec 0 has the partition field name_trunc, whose column was dropped. {WRITES_FAIL}"
    delete = f"DELETE FROM {table} WHERE id = 1"
    with pytest.raises(Py4JJavaError, match="Cannot find field"):
        spark.sql(delete)
    expire, alter = statements(kept.remedy)
    spark.sql(alter)
    spark.sql(delete)
    assert spark.table(table).count() == 1
    spark.sql(f"ALTER TABLE {table} SET TBLPROPERTIES ('write.delete.mode' = 'merge-on-read')")
    spark.sql(expire.replace("clean_", "retain_last => 1, older_than => TIMESTAMP '2100-01-01 00:00:00', clean_"))
    assert not found(table, "readers-differ")
    spark.sql(f"INSERT INTO {table} VALUES (3), (4)")
    spark.sql(f"DELETE FROM {table} WHERE id = 3")
    assert sorted(row.id for row in spark.table(table).collect()) == [2, 4]


# -- a dropped column that only an old spec uses (trinodb/trino#15729) -------------------------------------------------
@pytest.mark.parametrize(("name", "spec"), [("last", "id, truncate(5, name)"), ("first", "truncate(5, name), id")])
def test_a_dropped_column_of_an_old_spec_is_gone_after_the_printed_statements(spark: Any, name: str, spec: str) -> None:
    table, is_last = create(spark, name, "id INT, name STRING, v INT", spec), name == "last"
    spark.sql(f"INSERT INTO {table} VALUES (1, 'Aachen', 1), (2, 'Berlin', 2)")
    spark.sql(f"INSERT INTO {table} VALUES (1, 'Bonn', 3)")
    drop_name(spark, table)
    for number in (3, 4):
        spark.sql(f"INSERT INTO {table} VALUES ({number}, {number * 10})")
    [finding] = direct.doctor(table, deep=True).findings
    assert finding.what.endswith(REFUSES_SPEC if is_last else DROPPED_SOURCE)
    assert [fails(spark, f"SELECT * FROM {table}.{one}") for one in OF_FILES] == [is_last] * 3
    assert fails(spark, f"CALL sandbox.system.rewrite_manifests('thirtysecond.{name}')") is is_last
    assert spark.table(table).where("id = 1").count() == 2
    rewrite, insert, expire = statements(finding.remedy)
    spark.sql(rewrite)
    if is_last:
        assert fails(spark, f"SELECT * FROM {table}.files")
        [dead] = direct.doctor(table).findings
        assert dead.what.startswith(NO_LIVE_SPEC)
        assert statements(dead.remedy) == [insert]
    spark.sql(insert)
    assert not [f for f in direct.doctor(table).findings if f.columns]
    assert not any(fails(spark, f"SELECT * FROM {table}.{one}") for one in OF_FILES)
    spark.sql(expire.replace("clean_expired", "older_than => now(), clean_expired"))
    assert [one.spec_id for one in direct.open_table(table).metadata.partition_specs] == [1]
    assert sorted(row.v for row in spark.table(table).collect()) == [1, 2, 3, 30, 40]


# -- a required column that a table got after rows (prestodb/presto#20618) ---------------------------------------------
def test_a_required_column_that_older_files_lack_is_optional_after_the_printed_statement(spark: Any) -> None:
    table = f"{SPACE}.late"
    spark.sql(f"CREATE NAMESPACE IF NOT EXISTS {SPACE}")
    spark.sql(f"CREATE TABLE {table} (id INT) USING iceberg")
    spark.sql(f"INSERT INTO {table} VALUES (1), (2)")
    kind = spark._jvm.org.apache.iceberg.types.Types.IntegerType.get()
    java_table(spark, table).updateSchema().allowIncompatibleChanges().addRequiredColumn("added", kind).commit()
    spark.sql(f"REFRESH TABLE {table}")
    spark.sql(f"INSERT INTO {table} VALUES (3, 3)")
    with pytest.raises(Py4JJavaError, match="Missing required field: added"):
        spark.sql(f"SELECT * FROM {table}").collect()
    [told] = found(table, "required-absent")
    assert told.what == NOT_WRITTEN
    [statement] = statements(told.remedy)
    spark.sql(statement)
    assert not found(table, "required-absent")
    assert [row.added for row in spark.table(table).orderBy("id").collect()] == [None, None, 3]


# -- times that are stored as INT96 (trinodb/trino#11338) --------------------------------------------------------------
def test_the_printed_rewrite_writes_int96_as_the_spec_has_it(spark: Any, tmp_path: Path) -> None:
    times = pa.array([datetime(2021, 3, 1), datetime(2021, 3, 2)], pa.timestamp("us", "UTC"))
    own = write_table(tmp_path / "t", Stored("timestamptz", "int96", times, INT96))
    table = f"{SPACE}.times"
    spark.sql(f"CREATE NAMESPACE IF NOT EXISTS {SPACE}")
    place = f"file://{own.folder}/metadata/{own.last}"
    spark.sql(f"CALL sandbox.system.register_table('thirtysecond.times', '{place}')")
    before = spark.table(table).orderBy("id").collect()
    [told] = found(table, "column-type", deep=True)
    assert told.what.endswith("Trino before 453 fails on it (trinodb/trino#11338)")
    [statement] = statements(told.remedy)
    spark.sql(statement)
    assert not found(table, "column-type", deep=True, snapshot="main")
    assert spark.table(table).orderBy("id").collect() == before


# -- a void field without its column (trinodb/trino#15738) -------------------------------------------------------------
def test_spark_writes_again_once_the_void_field_is_gone(spark: Any) -> None:
    table = f"{SPACE}.void"
    spark.sql(f"CREATE NAMESPACE IF NOT EXISTS {SPACE}")
    spark.sql(
        f"CREATE TABLE {table} (id INT, name STRING) USING iceberg PARTITIONED BY (id, truncate(5, name)) "
        "TBLPROPERTIES ('format-version' = '1')"
    )
    spark.sql(f"INSERT INTO {table} VALUES (1, 'Aachen'), (2, 'Berlin')")
    drop_name(spark, table)
    with pytest.raises((Py4JJavaError, IllegalArgumentException), match="Cannot build accessor for field: null"):
        spark.sql(f"INSERT INTO {table} VALUES (3)")
    told = {f.severity: f for f in direct.doctor(table, deep=True).findings}
    upgrade, drop = statements(told["warning"].remedy)
    assert statements(told["info"].remedy)[:2] == [upgrade, drop]
    for statement in statements(told["info"].remedy)[:4]:
        spark.sql(statement)
    assert not [f for f in direct.doctor(table).findings if f.columns]
    assert sorted(row.id for row in spark.table(table).collect()) == [1, 2]
