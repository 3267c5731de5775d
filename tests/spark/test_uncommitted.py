"""Rows that nobody committed, given back to the table by Spark (tests/unit/test_uncommitted.py has our answers)."""

from __future__ import annotations

from pathlib import Path

from explorer.spark_engine.spark import SparkEngine
from explorer.spec.commits.uncommitted_files import PROGRESS
from tests.support import direct
from tests.unit.test_uncommitted import OFFSETS, stalled, told


def test_files_that_nobody_committed_are_added(engine: SparkEngine, tmp_path: Path) -> None:
    session = engine.session()
    session.sql("CREATE NAMESPACE IF NOT EXISTS sandbox.stalled")
    table = stalled(tmp_path / "t", OFFSETS, {"b.parquet": 100, "c.parquet": 100})
    session.sql(f"CALL sandbox.system.register_table('stalled.t', '{table.metadata.metadata_location}')")
    _, remedy = told(direct.open_table("sandbox.stalled.t"))
    assert "have the procedure add_files add the files" in remedy
    for name in ("b", "c"):
        file = f"{table.metadata.location}/data/{name}.parquet"
        session.sql(f"CALL sandbox.system.add_files(table => 'stalled.t', source_table => '`parquet`.`{file}`')")
    assert sorted(row.id for row in session.sql("SELECT id FROM sandbox.stalled.t").collect()) == [1, 2, 2]
    left = direct.doctor("sandbox.stalled.t", files=True).findings
    assert not [f for f in left if f.rule == "orphan-files"]
    session.sql("DROP TABLE sandbox.stalled.t")


def test_a_stream_of_spark_says_how_far_it_came(engine: SparkEngine, tmp_path: Path) -> None:
    session = engine.session()
    session.sql("CREATE NAMESPACE IF NOT EXISTS sandbox.stalled")
    session.sql("CREATE TABLE sandbox.stalled.s (value STRING) USING iceberg")
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.txt").write_text("a\n")
    stream = session.readStream.format("text").load(str(tmp_path / "in")).writeStream.format("iceberg")
    stream = stream.option("checkpointLocation", str(tmp_path / "checkpoint")).trigger(availableNow=True)
    stream.toTable("sandbox.stalled.s").awaitTermination()
    summary = direct.open_table("sandbox.stalled.s").metadata.snapshots[-1].summary
    assert [key for key in summary if key.startswith(PROGRESS)] == ["spark.sql.streaming.epochId"]
    session.sql("DROP TABLE sandbox.stalled.s")
