"""The doctor finds nothing above info in tables that are well, however they came to be."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from explorer.spark_engine.spark import SparkEngine
from tests.support import direct

T = "sandbox.healthy.t"
V2 = "USING iceberg TBLPROPERTIES ('format-version'='2', 'write.delete.mode'='merge-on-read')"
FEW_FILES = (
    "TBLPROPERTIES ('write.metadata.previous-versions-max'='1', 'write.metadata.delete-after-commit.enabled'='true')"
)
HEALTHY: dict[str, Sequence[str]] = {
    "replaced": (
        f"CREATE TABLE {T} (id INT, v STRING) USING iceberg",
        f"INSERT INTO {T} VALUES (1, 'a')",
        f"CREATE OR REPLACE TABLE {T} (id STRING, v DOUBLE) USING iceberg PARTITIONED BY (id)",
        f"INSERT INTO {T} VALUES ('x', 1.0D)",
    ),
    "replaced by what a query gives": (
        f"CREATE TABLE {T} (id INT, v STRING) USING iceberg PARTITIONED BY (id)",
        f"INSERT INTO {T} VALUES (1, 'a')",
        f"CREATE OR REPLACE TABLE {T} USING iceberg AS SELECT 'x' AS id, 3 AS v",
        f"INSERT INTO {T} VALUES ('b', 2)",
    ),
    "replaced by its like": (
        f"CREATE TABLE {T} (id INT) USING iceberg",
        f"INSERT INTO {T} VALUES (1)",
        f"CREATE OR REPLACE TABLE {T} USING iceberg AS SELECT 2 AS id",
        f"CREATE OR REPLACE TABLE {T} (id INT) USING iceberg",
        f"INSERT INTO {T} VALUES (3)",
    ),
    "replaced by a query without rows": (
        f"CREATE TABLE {T} (id INT) USING iceberg",
        f"INSERT INTO {T} VALUES (1)",
        f"CREATE OR REPLACE TABLE {T} USING iceberg AS SELECT 2 AS id WHERE false",
        f"INSERT INTO {T} VALUES (3)",
    ),
    "replaced, and the metadata files of that time are gone": (
        f"CREATE TABLE {T} (id INT) USING iceberg {FEW_FILES}",
        f"INSERT INTO {T} VALUES (1)",
        f"CREATE OR REPLACE TABLE {T} (id INT) USING iceberg {FEW_FILES}",
        *(f"INSERT INTO {T} VALUES ({i})" for i in range(3)),
    ),
    "with keys that are no secrets": (
        f"CREATE TABLE {T} (id INT) USING iceberg TBLPROPERTIES ('key'='id', 'description.key'='text')",
        f"INSERT INTO {T} VALUES (1)",
    ),
    "with far dates and long numbers": (
        f"CREATE TABLE {T} (d DATE, t TIMESTAMP, n DECIMAL(38,0), h TIMESTAMP) USING iceberg "
        "PARTITIONED BY (d, hours(h))",
        f"INSERT INTO {T} VALUES (date'+12024-01-01', timestamp'+12024-01-01 00:00:00', {'9' * 38}, "
        f"timestamp'2024-01-01 00:00:00'), (date'-0044-03-15', timestamp'-0044-03-15 00:00:00', -{'9' * 38}, "
        "timestamp'1960-01-01 10:30:00')",
    ),
    "with branches": (
        f"CREATE TABLE {T} (id INT) USING iceberg",
        f"INSERT INTO {T} VALUES (1)",
        f"ALTER TABLE {T} CREATE BRANCH b",
        f"INSERT INTO {T}.branch_b VALUES (2)",
        "CALL sandbox.system.fast_forward('healthy.t', 'main', 'b')",
        f"INSERT INTO {T} VALUES (3)",
    ),
    "emptied and filled": (
        f"CREATE TABLE {T} (id INT) USING iceberg",
        f"INSERT INTO {T} VALUES (1)",
        f"TRUNCATE TABLE {T}",
        f"INSERT OVERWRITE {T} VALUES (2)",
        f"DELETE FROM {T}",
        f"INSERT INTO {T} VALUES (2)",
    ),
    "upgraded from version 1": (
        f"CREATE TABLE {T} (id INT, p STRING) USING iceberg PARTITIONED BY (p) TBLPROPERTIES ('format-version'='1')",
        f"INSERT INTO {T} VALUES (1, 'a')",
        f"ALTER TABLE {T} DROP PARTITION FIELD p",
        f"INSERT INTO {T} VALUES (1, 'a')",
        f"ALTER TABLE {T} SET TBLPROPERTIES ('format-version'='2')",
        f"DELETE FROM {T} WHERE id = 1",
        f"INSERT INTO {T} VALUES (2, 'a')",
    ),
    "upgraded to version 3": (
        f"CREATE TABLE {T} (id INT, p STRING) {V2}",
        f"INSERT INTO {T} SELECT id, 'x' FROM range(20)",
        f"DELETE FROM {T} WHERE id = 1",
        f"ALTER TABLE {T} SET TBLPROPERTIES ('format-version'='3')",
        f"DELETE FROM {T} WHERE id = 2",
        "CALL sandbox.system.rewrite_data_files(table => 'healthy.t', options => map('rewrite-all', 'true'))",
        "CALL sandbox.system.rewrite_manifests('healthy.t')",
    ),
    "of every type, with NaN and nulls": (
        f"CREATE TABLE {T} (b BOOLEAN, f FLOAT, n DECIMAL(9,2), bi BINARY, ts TIMESTAMP_NTZ, l ARRAY<INT>, "
        "m MAP<STRING, STRUCT<a: INT>>, st STRUCT<x: DOUBLE, y: STRING>) USING iceberg "
        "PARTITIONED BY (truncate(2, st.y), b)",
        f"INSERT INTO {T} VALUES (true, float('nan'), 1.50, X'00ff', timestamp_ntz'0001-01-01 00:00:00', array(1), "
        "map('a', named_struct('a', 1)), named_struct('x', 1.0D, 'y', 'yyy')), "
        "(null, null, null, null, null, null, null, null)",
    ),
}


@pytest.fixture
def engine_with_room(engine: SparkEngine, sandbox: Path) -> Iterator[SparkEngine]:
    session = engine.session()
    session.sql("CREATE NAMESPACE IF NOT EXISTS sandbox.healthy")
    session.sql(f"DROP TABLE IF EXISTS {T} PURGE")
    yield engine
    session.sql(f"DROP TABLE IF EXISTS {T} PURGE")


@pytest.mark.parametrize("name", HEALTHY)
def test_nothing_is_wrong_with_a_table(name: str, engine_with_room: SparkEngine) -> None:
    for statement in HEALTHY[name]:
        engine_with_room.session().sql(statement)
    report = direct.doctor("healthy.t", files=True, deep=True)
    assert [f for f in report.findings if f.severity != "info" or f.rule == "commit-cut-off"] == [], report
    assert report.not_checked == ()


def test_a_replacement_that_appends_in_one_commit(engine_with_room: SparkEngine) -> None:
    session = engine_with_room.session()
    session.sql(f"CREATE TABLE {T} (id INT) USING iceberg")
    for i in range(3):
        session.sql(f"INSERT INTO {T} VALUES ({i})")
    [file] = session.sql(f"SELECT file_path, file_size_in_bytes FROM {T}.files LIMIT 1").collect()
    jvm: Any = session._jvm
    catalog = jvm.org.apache.iceberg.spark.Spark3Util.loadIcebergCatalog(session._jsparkSession, "sandbox")
    name = jvm.org.apache.iceberg.catalog.TableIdentifier.parse("healthy.t")
    table = catalog.loadTable(name)
    replacement = catalog.newReplaceTableTransaction(name, table.schema(), False)
    data = jvm.org.apache.iceberg.DataFiles.builder(table.spec()).withPath(file.file_path).withFormat("PARQUET")
    data = data.withFileSizeInBytes(file.file_size_in_bytes).withRecordCount(1).build()
    replacement.newAppend().appendFile(data).commit()
    replacement.commitTransaction()
    session.sql(f"REFRESH TABLE {T}")
    session.sql(f"INSERT INTO {T} VALUES (9)")
    snapshots = direct.open_table("healthy.t").metadata.snapshots
    assert [s.operation for s in snapshots if s.parent_snapshot_id is None] == ["append", "append"]
    assert direct.doctor("healthy.t").findings == ()


def test_files_that_were_added_have_no_sizes_in_summaries(engine_with_room: SparkEngine, tmp_path: Path) -> None:
    session = engine_with_room.session()
    session.range(5).selectExpr("id").write.parquet(str(tmp_path / "source"))
    session.sql(f"CREATE TABLE {T} (id BIGINT) USING iceberg")
    session.sql(f"INSERT INTO {T} VALUES (1)")
    source = f"`parquet`.`{tmp_path / 'source'}`"
    session.sql(f"CALL sandbox.system.add_files(table => 'healthy.t', source_table => '{source}')")
    session.sql(f"INSERT INTO {T} VALUES (2)")
    assert direct.doctor("healthy.t").findings == ()
