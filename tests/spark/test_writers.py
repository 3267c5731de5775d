"""What real writers record: a Spark session, a Spark stream that starts again, and pyiceberg, which records nothing."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

import explorer
from explorer.spark_engine.spark import SparkEngine
from explorer.spec.commits.commit_writers import UNKNOWN, Writers
from tests.support.small_tables import make_table


def writers_of(name: str | Path) -> Writers:
    return explorer.open_table(name).history.writers().value


def test_a_session_of_spark_is_named(sandbox: Path, engine: SparkEngine) -> None:
    spark = engine.session()
    spark.sql("CREATE OR REPLACE TABLE sandbox.written.batch AS SELECT 1 AS id")
    writers = writers_of("written.batch")
    [one] = writers.writers
    assert (one.engine, one.runs, one.snapshots) == ("spark", 1, 1)
    assert one.writer == f"spark: {spark.sparkContext.appName}"
    assert one.versions[0] == spark.version
    assert one.versions[1].startswith("Apache Iceberg ")
    run = spark.sparkContext.applicationId
    assert explorer.open_table("written.batch").history.landed(run).value.in_main


def test_a_stream_that_starts_again_goes_on_counting(sandbox: Path, engine: SparkEngine, tmp_path: Path) -> None:
    spark, arriving = engine.session(), tmp_path / "arriving"
    arriving.mkdir()
    spark.sql("CREATE OR REPLACE TABLE sandbox.written.stream (id BIGINT) USING iceberg")

    def run(number: int) -> None:
        pq.write_table(pa.table({"id": [number]}), arriving / f"{number}.parquet")
        rows = spark.readStream.schema("id BIGINT").parquet(str(arriving))
        stream = rows.writeStream.format("iceberg").option("checkpointLocation", str(tmp_path / "checkpoint"))
        stream.trigger(availableNow=True).toTable("sandbox.written.stream").awaitTermination()

    for number in range(3):
        run(number)
    writers = writers_of("written.stream")
    epochs = [epoch for commit in writers.commits for epoch in commit.progress.values()]
    assert len({commit.writer for commit in writers.commits}) == 1
    assert writers.writers[0].writer.startswith("spark: stream ")
    assert (epochs, [event.kind for event in writers.events]) == ([0, 1, 2], [])
    assert explorer.open_table("written.stream").history.landed("spark.sql.streaming.epochId=1").value.in_main


def test_pyiceberg_records_nothing(tmp_path: Path) -> None:
    [one] = writers_of(make_table(tmp_path, 2)).writers
    assert (one.writer, one.engine, one.versions, one.snapshots) == (UNKNOWN, "", (), 2)
    assert one.added_rows == 4
