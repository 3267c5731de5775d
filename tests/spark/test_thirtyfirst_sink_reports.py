"""What is said of readers and writers of the thirty-first reports, tried in Spark as it is printed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import explorer
from explorer.reports.maintenance import Preview
from tests.statements.printed import statements

SPACE = "sandbox.thirtyfirst_sinks"
REWRITE = "CALL sandbox.system.rewrite_data_files"


@pytest.fixture(scope="module")
def spark(engine: Any) -> Any:
    session = engine.session()
    session.sql(f"CREATE NAMESPACE IF NOT EXISTS {SPACE}")
    return session


# -- readers of changes, by the operations of what they have to read (apache/iceberg#3265) -----------------------------
def read_stream(spark: Any, name: str, folder: Path, *options: str) -> list[int]:
    """The ids that a stream has brought in all its runs, of which this is one more."""
    reader = spark.readStream.format("iceberg")
    for option in options:
        reader = reader.option(option, "true")
    writer = reader.load(f"{SPACE}.{name}").writeStream.format("parquet").trigger(availableNow=True)
    query = writer.option("path", str(folder / "sink")).option("checkpointLocation", str(folder / "c")).start()
    query.awaitTermination()
    return sorted(row.id for row in spark.read.parquet(str(folder / "sink")).collect())


def reader_preview(name: str, reader: str, root: Path, **option: str) -> Preview:
    table = explorer.open_table(f"thirtyfirst_sinks.{name}", roots=[str(root)])
    return table.maintain.preview("expire", option=option, reader=[reader]).value


def test_a_stream_stops_and_goes_on_as_it_is_told(spark: Any, tmp_path: Path) -> None:
    name = f"{SPACE}.stream"
    spark.sql(f"CREATE TABLE {name} (id BIGINT, status STRING) USING iceberg")
    spark.sql(f"INSERT INTO {name} VALUES (1, 'new'), (2, 'new')")
    spark.sql(f"INSERT INTO {name} VALUES (3, 'new')")
    assert read_stream(spark, "stream", tmp_path) == [1, 2, 3]
    spark.sql(f"{REWRITE}('thirtyfirst_sinks.stream', options => map('rewrite-all', 'true'))")
    spark.sql(f"INSERT INTO {name} VALUES (4, 'new')")
    seen = reader_preview("stream", str(tmp_path / "c"), tmp_path)
    assert {row["becomes"] for row in seen.tables["readers"]} == {"goes on"}
    assert read_stream(spark, "stream", tmp_path) == [1, 2, 3, 4]

    spark.sql(
        f"MERGE INTO {name} t USING (SELECT * FROM VALUES (2L, 'paid'), (5L, 'new') AS v (id, status)) u "
        "ON t.id = u.id WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
    )
    spark.sql(f"INSERT INTO {name} VALUES (6, 'new')")
    spark.sql(f"DELETE FROM {name} WHERE id = 6")
    spark.sql(f"INSERT INTO {name} VALUES (7, 'new')")
    seen = reader_preview("stream", str(tmp_path / "c"), tmp_path)
    assert {row["becomes"] for row in seen.tables["readers"]} == {"stops"}
    [error, *_] = [row["reason"].removeprefix("Spark fails: ") for row in seen.tables["readers"]]
    with pytest.raises(Exception, match=error):
        read_stream(spark, "stream", tmp_path)
    skips = [word.split()[1].removesuffix("=true") for word in seen.words if word.startswith("With streaming-skip-")]
    assert skips == ["streaming-skip-overwrite-snapshots", "streaming-skip-delete-snapshots"]
    with pytest.raises(Exception, match="Cannot process delete snapshot"):
        read_stream(spark, "stream", tmp_path, skips[0])
    assert read_stream(spark, "stream", tmp_path, *skips) == [1, 2, 3, 4, 6, 7]  # without 5, and with 6

    [view] = statements("\n".join(word for word in seen.words if word.startswith("A changelog view")))
    changes = {tuple(row) for row in view_rows(spark, view)}
    assert changes == {(2, "DELETE"), (2, "INSERT"), (5, "INSERT"), (6, "INSERT"), (6, "DELETE"), (7, "INSERT")}

    seen = reader_preview("stream", "snapshot-2", tmp_path)
    assert any("it passes over snapshot-5 (overwrite), snapshot-7 (delete)." in word for word in seen.words)
    second = explorer.open_table("thirtyfirst_sinks.stream").metadata.snapshots[1].snapshot_id
    rows = spark.read.format("iceberg").option("start-snapshot-id", second).load(name).collect()
    assert sorted(row.id for row in rows) == [4, 6, 7]


def view_rows(spark: Any, statement: str) -> list[Any]:
    [[view]] = spark.sql(statement).collect()
    return list(spark.sql(f"SELECT id, _change_type FROM {view}").collect())


def test_a_changelog_read_fails_without_the_files_that_the_next_snapshot_removed(spark: Any, tmp_path: Path) -> None:
    name = f"{SPACE}.changes"
    spark.sql(f"CREATE TABLE {name} (id BIGINT) USING iceberg")
    spark.sql(f"INSERT INTO {name} VALUES (1)")
    spark.sql(f"INSERT OVERWRITE {name} VALUES (2)")
    spark.sql(f"INSERT INTO {name} VALUES (3)")
    option = {"older_than": "2999-01-01", "retain_last": "2"}
    seen = reader_preview("changes", "snapshot-1", tmp_path, **option)
    by_use = {row["use"]: row for row in seen.tables["readers"]}
    assert by_use["incremental read"]["becomes"] == "breaks"
    assert by_use["incremental read"]["reason"].startswith("a changelog read would fail")
    first = explorer.open_table("thirtyfirst_sinks.changes").metadata.snapshots[0]
    [view] = statements("\n".join(word for word in seen.words if word.startswith("A changelog view")))
    assert len(view_rows(spark, view)) == 3
    by_time = f"{view.partition('options')[0]}options => map('start-timestamp', '{first.timestamp_ms}'))"
    assert len(view_rows(spark, by_time)) == 3
    spark.sql("CALL sandbox.system.expire_snapshots('thirtyfirst_sinks.changes', TIMESTAMP '2999-01-01', 2)")
    with pytest.raises(Exception, match="NotFoundException"):
        view_rows(spark, view)
    seen = reader_preview("changes", "snapshot-1", tmp_path)  # which is the overwrite now
    [view] = statements("\n".join(word for word in seen.words if word.startswith("A changelog view")))
    assert [tuple(row) for row in view_rows(spark, view)] == [(3, "INSERT")]
    with pytest.raises(Exception, match="Cannot process overwrite snapshot"):
        read_stream(spark, "changes", tmp_path)
    assert read_stream(spark, "changes", tmp_path, "streaming-skip-overwrite-snapshots") == [3]


def test_a_changelog_view_reads_no_snapshot_with_delete_files(spark: Any, tmp_path: Path) -> None:
    name = f"{SPACE}.merged_on_read"
    spark.sql(f"CREATE TABLE {name} (id BIGINT) USING iceberg TBLPROPERTIES ('write.delete.mode' = 'merge-on-read')")
    spark.sql(f"INSERT INTO {name} SELECT /*+ COALESCE(1) */ id FROM range(3)")
    spark.sql(f"DELETE FROM {name} WHERE id = 1")
    seen = reader_preview("merged_on_read", "snapshot-1", tmp_path)
    [word] = [word for word in seen.words if word.startswith("A changelog view")]
    assert not statements(word)
    with pytest.raises(Exception, match="Delete files are currently not supported in changelog scans"):
        view_rows(spark, "CALL sandbox.system.create_changelog_view(table => 'thirtyfirst_sinks.merged_on_read')")


# -- what distributes the rows of a MERGE (apache/iceberg#5099) --------------------------------------------------------
ROWS = "SELECT /*+ REPARTITION(6) */ id, CAST(id % 4 AS INT) AS part FROM range"
STATEMENTS = {
    "": f"INSERT INTO {{name}} {ROWS}(4000, 8000)",
    "merge": f"MERGE INTO {{name}} t USING ({ROWS}(0, 8000, 3)) s ON t.id = s.id "
    "WHEN MATCHED THEN UPDATE SET part = s.part WHEN NOT MATCHED THEN INSERT *",
    "update": f"UPDATE {{name}} SET id = id + 10000 WHERE id IN (SELECT id FROM ({ROWS}(0, 4000, 3)))",
    "delete": f"DELETE FROM {{name}} WHERE id IN (SELECT id FROM ({ROWS}(0, 4000, 3)))",
}
SESSION = {"spark.sql.shuffle.partitions": "6", "spark.sql.adaptive.enabled": "false",
           "spark.sql.autoBroadcastJoinThreshold": "-1"}  # fmt: skip


@pytest.mark.parametrize(("kind", "mode"), [
    ("", "copy-on-write"), ("merge", "copy-on-write"), ("update", "copy-on-write"), ("delete", "copy-on-write"),
    ("merge", "merge-on-read"), ("update", "merge-on-read"),
])  # fmt: skip
@pytest.mark.parametrize("flat", [False, True], ids=["partitioned", "flat"])
def test_the_named_property_and_no_other_makes_fewer_files(flat: bool, kind: str, mode: str, spark: Any) -> None:
    own, own_mode = f"spread_{kind}_{mode[:4]}_{flat}".lower(), f"write.{kind}.mode"
    name, named = f"{SPACE}.{own}", f"write.{kind}.distribution-mode".replace("..", ".")
    modes = {f"write.{other}distribution-mode": "none" for other in ("", "merge.", "update.", "delete.")}
    properties = {**modes, "write.spark.fanout.enabled": "true", **({own_mode: mode} if kind else {})}
    listed = ", ".join(f"'{key}' = '{value}'" for key, value in properties.items())
    old = {key: spark.conf.get(key) for key in SESSION}

    def write() -> int:
        """Write the first rows and run the statement: how many data files it adds."""
        spark.sql(f"INSERT OVERWRITE {name} SELECT /*+ COALESCE(1) */ id, CAST(id % 4 AS INT) FROM range(4000)")
        spark.sql(STATEMENTS[kind].format(name=name))
        [[added]] = spark.sql(
            f"SELECT summary['added-data-files'] FROM {name}.snapshots ORDER BY committed_at DESC LIMIT 1"
        ).collect()
        return int(added)

    try:
        for key, value in SESSION.items():
            spark.conf.set(key, value)
        partitions = "" if flat else "PARTITIONED BY (part)"
        spark.sql(f"CREATE TABLE {name} (id BIGINT, part INT) USING iceberg {partitions} TBLPROPERTIES ({listed})")
        before = write()
        table = explorer.open_table(f"thirtyfirst_sinks.{own}")
        [measured] = [
            m for s in table.health(threshold={"small-files": 1, "written-files": 1.1}).value.sections
            for m in s.measures if m.id == "written-files"
        ]  # fmt: skip
        if flat and (not kind or (kind == "merge" and mode == "copy-on-write")):
            assert f"{named} cannot help, as the table has no partitions" in measured.helps
            spark.sql(f"ALTER TABLE {name} SET TBLPROPERTIES ('{named}' = 'hash')")
            assert write() == before
            return
        assert f"{named}=hash (it is none now)" in measured.helps
        others = ", ".join(f"'{other}' = 'hash'" for other in modes if other != named)
        spark.sql(f"ALTER TABLE {name} SET TBLPROPERTIES ({others})")
        assert write() == before
        spark.sql(f"ALTER TABLE {name} SET TBLPROPERTIES ('{named}' = 'hash')")
        assert write() == (1 if flat else 4) < before
    finally:
        for key, value in old.items():
            spark.conf.set(key, value)


# -- keys that an append doubled (aws-samples/dbt-glue#571) ------------------------------------------------------------
COLUMNS = "cost, `year`, `mo nth`, `at`"
AGAIN = "SELECT 2.5 * id, 2024 + id DIV 12, id % 12 + 1, named_struct('kind', 'taxi') FROM range(20)"


def doubled_table(spark: Any, own: str) -> str:
    """A table of 20 keys that a MERGE made, to which all were then appended again."""
    name = f"{SPACE}.{own}"
    spark.sql(
        f"CREATE TABLE {name} (cost DOUBLE, `year` BIGINT, `mo nth` BIGINT, `at` STRUCT<kind: STRING>) USING iceberg"
    )
    spark.sql(f"INSERT INTO {name} {AGAIN.replace('2.5 * id', '1.5 * id').replace('range(20)', 'range(18)')}")
    merge(spark, name, AGAIN.replace("2.5 * id", "99.0 * 1"))
    spark.sql(f"INSERT INTO {name} {AGAIN}")
    return name


def merge(spark: Any, name: str, rows: str) -> None:
    source = spark.sql(rows).toDF("cost", "year", "mo nth", "at")
    source.createOrReplaceTempView("merged_rows")
    spark.sql(
        f"MERGE INTO {name} t USING merged_rows s ON t.`year` = s.`year` AND t.`mo nth` = s.`mo nth` "
        "AND t.`at`.kind = s.`at`.kind WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
    )


def remedy(own: str, explain: int = 20, **more: Any) -> str:
    key = ["year", "mo nth", "at.kind"]
    return (
        explorer.open_table(f"thirtyfirst_sinks.{own}").data.duplicates(key=key, explain=explain, **more).value.remedy
    )


def key_counts(spark: Any, name: str) -> tuple[int, int]:
    [row] = spark.sql(f"SELECT count(*), count(DISTINCT `year`, `mo nth`, `at`.kind) FROM {name}").collect()
    return tuple(row)


def test_an_append_that_doubled_keys_is_taken_back_and_merged(spark: Any) -> None:
    name = doubled_table(spark, "doubled")
    words = remedy("doubled")
    assert words.startswith(
        "snapshot-3, the current snapshot, appended a second row of 20 keys. icedive refs preview TABLE rollback -s "
        "snapshot-2 tells what going back before it takes away"
    )
    assert remedy("doubled", explain=2).startswith(
        "snapshot-3, the current snapshot, appended a second row of at least 2"
    )
    assert not remedy("doubled", snapshot="snapshot-2")
    before = explorer.open_table("thirtyfirst_sinks.doubled").metadata.snapshots[1].snapshot_id
    spark.sql(f"CALL sandbox.system.rollback_to_snapshot('thirtyfirst_sinks.doubled', {before})")
    merge(spark, name, AGAIN)
    assert key_counts(spark, name) == (20, 20)
    assert not remedy("doubled")
    assert spark.table(name).where("cost = 99").count() == 0


def test_one_row_of_each_key_is_kept(spark: Any) -> None:
    name = doubled_table(spark, "kept_one")
    spark.sql(f"INSERT INTO {name} VALUES (1, 1999, 1, named_struct('kind', 'bus'))")
    words = remedy("kept_one")
    assert words.startswith("Keep one row of each key by an INSERT OVERWRITE")  # going back would lose more
    spark.sql(f"{REWRITE}('thirtyfirst_sinks.kept_one', options => map('rewrite-all', 'true'))")
    assert key_counts(spark, name) == (41, 21)  # as it says of a compaction
    assert spark.sql(f"SELECT DISTINCT * FROM {name}").count() == 41  # and of DISTINCT
    number = words[words.index("row_number()") : words.index(" ORDER BY …)")]
    spark.sql(
        f"INSERT OVERWRITE {name} SELECT {COLUMNS} FROM (SELECT *, {number} ORDER BY cost DESC) AS n FROM {name}) "
        "WHERE n = 1"
    )
    assert key_counts(spark, name) == (21, 21)


# -- a compaction that leaves no position delete (ClickHouse/ClickHouse#53088) -----------------------------------------
@pytest.mark.parametrize("flat", [False, True], ids=["partitioned", "flat"])
@pytest.mark.parametrize(("version", "granularity"), [(2, "file"), (2, "partition"), (3, "file")])
def test_one_statement_leaves_no_position_delete(version: int, granularity: str, flat: bool, spark: Any) -> None:
    own = f"deleted_{version}_{granularity}_{flat}".lower()
    name = f"{SPACE}.{own}"
    spark.sql(
        f"CREATE TABLE {name} (id BIGINT, part BIGINT) USING iceberg {'' if flat else 'PARTITIONED BY (part)'} "
        f"TBLPROPERTIES ('format-version' = '{version}', 'write.update.mode' = 'merge-on-read', "
        f"'write.delete.granularity' = '{granularity}')"
    )
    for number in range(3):
        spark.sql(f"INSERT INTO {name} SELECT /*+ COALESCE(1) */ id + {number * 1000}, id % 2 FROM range(1000)")
    spark.sql(f"UPDATE {name} SET id = id + 100000 WHERE id % 2 = 0 OR id % 3 = 0")
    spark.sql(f"UPDATE {name} SET id = id + 100000 WHERE id % 5 = 0")
    rows = spark.sql(f"SELECT count(*), sum(id) FROM {name}").collect()
    plan = explorer.open_table(f"thirtyfirst_sinks.{own}").maintain.all().value
    [compacts] = [line for line in plan.lines if line.operation == "compact"]
    assert not any("delete" in line.operation and line.statement for line in plan.lines)
    spark.sql(compacts.statement)
    assert spark.table(f"{name}.delete_files").count() == 0
    assert spark.sql(f"SELECT count(*), sum(id) FROM {name}").collect() == rows
    [[left]] = spark.sql(
        f"SELECT summary['total-position-deletes'] FROM {name}.snapshots ORDER BY committed_at DESC LIMIT 1"
    ).collect()
    assert left == "0"
