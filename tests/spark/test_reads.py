"""Reads through Spark: every way to name a version, provenance, scan reports, refusal of writes, cancelling, and
failures."""

from __future__ import annotations

import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import explorer
from explorer.errors import AccessRefused, NotPossible, StatementFailed, UnreadableFile
from explorer.spark_engine.read_queue import ReadCancelled, ReadFailed, ReadRequest, ReadSession, SqlRequest
from explorer.spark_engine.spark import SparkEngine
from explorer.table import Table, open_table
from tests.support.helpers import open_demo
from tests.support.small_tables import make_table


@pytest.fixture(scope="module")
def reads(engine: SparkEngine) -> ReadSession:
    return ReadSession(engine)


def values(table: Table, reads: ReadSession, version: str | int | None, column: str) -> list[object]:
    return sorted((r[column] for r in table.rows(version, session=reads)), key=str)


def test_every_way_to_name_a_version(sandbox: Path, reads: ReadSession) -> None:
    table = open_demo("branches_and_tags")
    assert values(table, reads, "audit", "fruit") == ["apple", "banana"]
    assert values(table, reads, "opening", "fruit") == ["apple"]
    assert values(table, reads, "snapshot-6", "fruit") == ["a mistake", "apple", "cherry", "damson"]
    assert values(table, reads, None, "fruit") == ["apple", "cherry", "damson"]
    log = table.metadata.snapshot_log
    mistake = log[-2].timestamp_ms  # current then, and rolled back since: the log knows, the parents do not
    assert "a mistake" in values(table, reads, mistake, "fruit")
    assert "a mistake" not in values(table, reads, log[-1].timestamp_ms, "fruit")


def test_schemas_of_old_snapshots(sandbox: Path, reads: ReadSession) -> None:
    table = open_demo("schema_evolution")
    old, new = table.rows("snapshot-1", session=reads), table.rows("main", session=reads)
    assert old.columns == ["id", "name", "price", "place"]
    assert "fruit" in new.columns
    assert "its own schema, 0" in old.words
    assert {r["id"]: r["color"] for r in new} == {1: None, 2: None, 3: "red"}  # dropped and added again: another column


def test_columns_filter_limit_and_provenance(sandbox: Path, reads: ReadSession) -> None:
    table = open_demo("deletion_vectors")
    found = table.rows("snapshot-2", ["name"], "favorite_color = 'yellow'", provenance=True, session=reads)
    assert found.columns == [
        "name",
        "_file",
        "_pos",
        "_spec_id",
        "_partition",
        "_row_id",
        "_last_updated_sequence_number",
    ]
    assert [(r["name"], r["_row_id"], r["_last_updated_sequence_number"]) for r in found] == [("jack", 0, 2)]
    assert len(table.rows(None, limit=1, session=reads)) == 1
    skipping = open_demo("sorted_files").rows(None, where="name = 'jack'", session=reads)
    scanned, skipped = skipping.reports[0].pair("DataFiles")
    assert scanned == 1
    assert skipped > 1


def test_queries_over_versions(sandbox: Path, reads: ReadSession) -> None:
    table = open_demo("equality_deletes")
    found = table.sql(
        "SELECT a.name, b.favorite_color AS now FROM t@snapshot-1 a JOIN t@main b USING (name) ORDER BY now",
        session=reads,
    )
    assert [(r["name"], r["now"]) for r in found] == [
        ("sarah", "blue"),
        ("tom", "green"),
        ("jack", "purple"),
        ("jack", "yellow"),
    ]
    assert len(found.reports) == 2
    other = table.sql("SELECT count(*) AS n FROM demo.three_inserts@snapshot-2", session=reads)
    assert other[0]["n"] == 2


@pytest.mark.parametrize(
    "query",
    ["DROP TABLE t", "INSERT INTO t VALUES (1)", ("SELECT reflect('java.lang.System', "
     "'exit', 1)"), "CALL sandbox.system.x()", "SET a = b",
     ("SELECT TRANSFORM (name) USING 'cat' "
      "FROM t"), "SELECT (SELECT java_method('a', 'b'))", "CREATE TABLE x AS SELECT 1", "CACHE TABLE t",
     "WITH x AS (SELECT reflect('a', 'b')) SELECT * FROM x", "SELECT * FROM parquet.`/etc/passwd`"],
)  # fmt: skip
def test_nothing_but_queries(query: str, sandbox: Path, reads: ReadSession) -> None:
    with pytest.raises((AccessRefused, StatementFailed)):
        open_demo("equality_deletes").sql(query, session=reads)
    with pytest.raises((AccessRefused, StatementFailed)):
        open_demo("equality_deletes").rows(where="name IN (SELECT reflect('a', 'b'))", session=reads)


def test_a_running_read_is_watched_and_cancelled(sandbox: Path, reads: ReadSession) -> None:
    slow = reads.submit(SqlRequest("SELECT count(*) FROM range(100000000000) WHERE hash(id) = 3", {}))
    waiting = reads.submit(SqlRequest("SELECT 1", {}))
    deadline = time.time() + 30
    while not slow.progress().total and time.time() < deadline:
        time.sleep(0.1)
    assert slow.progress().phase == "running"
    assert waiting.progress().phase == "queued"
    waiting.cancel()
    slow.cancel()
    with pytest.raises(ReadCancelled):  # it would take hours
        slow.result(60)
    with pytest.raises(ReadCancelled):
        waiting.result(20)
    assert reads.read(SqlRequest("SELECT 1 AS one", {})).result().to_pylist() == [{"one": 1}]


def test_the_queue_is_bounded(sandbox: Path, engine: SparkEngine) -> None:
    session = ReadSession(engine)
    running = [session.submit(SqlRequest("SELECT count(*) FROM range(100000000000) WHERE hash(id) = 3", {}))]
    try:
        with pytest.raises(NotPossible, match="waiting already"):
            running += [session.submit(SqlRequest("SELECT 1", {})) for _ in range(9)]
    finally:
        for read in [*running, *session._waiting]:
            read.cancel()


def test_sessions_do_not_share_views(sandbox: Path, engine: SparkEngine) -> None:
    table = open_demo("manifest_lifecycle")
    sessions = [ReadSession(engine), ReadSession(engine)]
    answers: dict[int, int] = {}

    def count(i: int, version: str) -> None:
        answers[i] = table.sql(f"SELECT count(*) AS n FROM t@{version}", session=sessions[i])[0]["n"]

    threads = [threading.Thread(target=count, args=(i, v)) for i, v in enumerate(("snapshot-2", "snapshot-3"))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert answers == {0: 1, 1: 3}


def test_failing_reads_name_the_file(sandbox: Path, reads: ReadSession, tmp_path: Path) -> None:
    folder = make_table(tmp_path, commits=2)
    table = open_table(str(folder))
    files = sorted((folder / "data").glob("*.parquet"))
    files[0].unlink()
    with pytest.raises((ReadFailed, UnreadableFile), match=files[0].name) as caught:
        table.rows(session=reads)
    assert "does not exist" in str(caught.value)
    files[1].write_text("not parquet")
    with pytest.raises((ReadFailed, UnreadableFile)):
        table.rows(where="1 = 1", session=reads)
    manifests = list((folder / "metadata").glob("*-m0.avro"))
    manifests[0].unlink()
    with pytest.raises((ReadFailed, UnreadableFile), match=r"avro: the file does not exist"):
        table.rows(session=reads)
    with pytest.raises(explorer.NotFoundInTable, match="may have expired"):
        table.rows("123456789", session=reads)
    assert values(open_demo("three_inserts"), reads, None, "fruit") == [
        "apple",
        "banana",
        "cherry",
    ]  # the session goes on


def test_unreadable_deletes_name_the_file(
    sandbox: Path, reads: ReadSession, tmp_path: Path, engine: SparkEngine
) -> None:
    name = "sandbox.demo.broken_deletes"
    spark = engine.session()
    spark.sql(f"DROP TABLE IF EXISTS {name}")
    location = sandbox / "warehouse" / "laws" / "broken"
    shutil.rmtree(location, ignore_errors=True)
    spark.sql(
        f"CREATE TABLE {name} (id INT) USING iceberg LOCATION '{location}' TBLPROPERTIES ('format-version'='2', "
        "'write.delete.mode'='merge-on-read')"
    )
    try:
        spark.sql(f"INSERT INTO {name} SELECT /*+ COALESCE(1) */ id FROM range(10)")
        spark.sql(f"DELETE FROM {name} WHERE id = 3")
        table = open_table("demo.broken_deletes")
        [broken] = [f["file_path"] for f in table.files() if f["content"]]
        Path(broken.removeprefix("file:")).write_text("no deletes")
        with pytest.raises(ReadFailed, match=broken.rsplit("/", 1)[-1]):
            table.rows(session=reads)
        [data] = [f["file_path"] for f in table.files() if not f["content"]]
        with pytest.raises(explorer.UnreadableFile, match="not a Parquet file"):
            table.file_rows(data)
        assert [v.applies for v in table.deletes().verdicts] == [True]
    finally:
        spark.sql(f"DROP TABLE {name} PURGE")


def test_metadata_columns_need_a_version(sandbox: Path, reads: ReadSession) -> None:
    table = open_demo("three_inserts")
    request = ReadRequest(table.reading("snapshot-1").version, ("nope",))
    with pytest.raises(ReadFailed, match="nope"):
        reads.read(request)


LOSE = """
import explorer
from explorer.table import open_table
from explorer.spark_engine import gateway
from explorer.spark_engine.spark import shared_engine

table = open_table("demo.three_inserts")
assert len(table.rows()) == 3
gateway._process.kill()
gateway._process.wait()
for _ in range(2):
    try:
        table.rows()
    except explorer.EngineError as error:
        assert "Spark was lost" in str(error), error
assert len(table.file_rows(table.files()[0]["file_path"])) == 1  # what needs no Spark goes on
shared_engine().restart()
assert len(table.rows()) == 3
print("went on")
"""


def test_a_lost_spark_says_so_and_can_be_restarted(sandbox: Path) -> None:
    found = subprocess.run([sys.executable, "-c", LOSE], capture_output=True, text=True, timeout=200)
    assert found.stdout.strip().endswith("went on"), found.stderr[-2000:]
