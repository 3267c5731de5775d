"""More troubles from public reports, made by Spark itself: what is answered, and that what is printed does it."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from explorer.spec.doctor.table_properties import KNOWN, OF_COLUMNS, VALUES
from tests.cases import twelfth
from tests.cases.mini import Table
from tests.statements.printed import statements
from tests.support import direct
from tests.support.report_tables import found, java_table, run_java
from tests.unit.test_screen import run

SPACE = "sandbox.twelfth"


def metadata_files(session: Any, name: str) -> list[Path]:
    return sorted(Path(java_table(session, name).location(), "metadata").glob("*.metadata.json"))


def test_partition_statistics_that_count_other_files(session: Any) -> None:
    """apache/iceberg#17915: computed from older ones, after a partition field was dropped."""
    name = f"{SPACE}.counts"
    session.sql(
        f"CREATE TABLE {name} (id INT, region STRING, k INT) USING iceberg PARTITIONED BY (region, bucket(4, k)) "
        "TBLPROPERTIES ('format-version' = '3', 'write.delete.mode' = 'merge-on-read')"
    )
    session.sql(f"INSERT INTO {name} VALUES (1, 'a', 1), (2, 'a', 2), (3, 'b', 3), (4, 'b', 9), (5, 'a', 2)")
    session.sql("CALL sandbox.system.compute_partition_stats('twelfth.counts')")
    session.sql(f"DELETE FROM {name} WHERE id = 5")
    session.sql("CALL sandbox.system.compute_partition_stats('twelfth.counts')")
    assert found(name, "statistics-file", deep=True) == []  # a deletion vector counts as Iceberg counts it
    session.sql(f"ALTER TABLE {name} DROP PARTITION FIELD region")
    for _ in range(2):
        session.sql(f"INSERT INTO {name} VALUES (6, 'a', 1), (7, 'c', 3)")
        session.sql("CALL sandbox.system.compute_partition_stats('twelfth.counts')")
    [finding] = found(name, "statistics-file")
    assert "k_bucket=0: data_record_count 1 instead of 2, data_file_count 1 instead of 2" in str(finding.found)
    session.sql("CALL sandbox.system.compute_partition_stats('twelfth.counts')")
    assert found(name, "statistics-file"), "Iceberg returns what is there"
    run_java(java_table(session, name), finding.remedy)
    session.sql(f"REFRESH TABLE {name}")
    for statement in statements(finding.remedy):
        session.sql(statement)
    assert found(name, "statistics-file", deep=True) == []
    assert direct.open_table(name).metadata.statistics
    Path(direct.open_table(name).metadata.statistics[0].path).unlink()
    [missing] = found(name, "statistics-file")
    run_java(java_table(session, name), missing.remedy)
    session.sql(f"REFRESH TABLE {name}")
    for statement in statements(missing.remedy):
        session.sql(statement)
    assert found(name, "statistics-file") == []
    assert direct.open_table(name).metadata.statistics


def test_where_the_values_of_a_newer_column_come_from(session: Any) -> None:
    """facebookincubator/velox#17790: a filter on a column with a default lost the rows of older files."""
    name = f"{SPACE}.defaults"
    session.sql(
        f"CREATE TABLE {name} (id INT, s STRUCT<a: INT>, l ARRAY<STRUCT<x: INT>>, m MAP<STRING, STRUCT<y: INT>>) "
        "USING iceberg TBLPROPERTIES ('format-version' = '3')"
    )
    session.sql(
        f"INSERT INTO {name} SELECT 1, named_struct('a', 1), array(named_struct('x', 1)), "
        "map('k', named_struct('y', 1))"
    )
    iceberg = session._jvm.org.apache.iceberg
    types, literal = iceberg.types.Types, iceberg.expressions.Expressions
    more = {
        "country": ("IN", types.StringType.get()), "day": ("2024-01-15", types.DateType.get()),
        "at": ("2024-01-15T01:02:03.000004+00:00", types.TimestampType.withZone()),
        "price": ("12.34", types.DecimalType.of(9, 2)), "flag": (True, types.BooleanType.get()),
        "own": ("f79c3e09-677c-4bbd-a479-3f349cb785e7", types.UUIDType.get()),
    }  # fmt: skip
    update = java_table(session, name).updateSchema()
    for column, (value, kind) in more.items():
        update = update.addColumn(column, kind, "", literal.lit(value).to(kind))
    update = update.addColumn("s", "b", types.IntegerType.get(), "", literal.lit(7))
    update = update.addColumn("l.element", "z", types.IntegerType.get(), "", literal.lit(8))
    update = update.addColumn("m.value", "w", types.StringType.get(), "", literal.lit("W"))
    update.addColumn("note", types.StringType.get()).commit()
    session.sql(f"REFRESH TABLE {name}")
    session.sql(f"INSERT INTO {name} (id, country) VALUES (2, 'US')")
    filters = {"country = 'IN'": {1}, "s.b = 7": {1}, "price = 12.34": {1, 2}, "country is null": set()}
    for where, matching in filters.items():
        spark = {row.id for row in session.sql(f"SELECT id FROM {name} WHERE {where}").collect()}
        history = direct.open_table(name).row_history(where)
        assert {row["id"] for row in history.rows.values()} == spark == matching, where
    told = run("data", "history", name, "country = 'IN'").output
    assert "l=[{'x': 1, 'z': 8}], m=[['k', {'y': 1, 'w': 'W'}]], country=IN, day=2024-01-15" in told
    source = "Its file lacks columns that the schema has: s.b = 7, l.element.z = 8, m.value.w = 'W', country = 'IN'"
    assert source in told
    assert "by the schema's initial default (readers that do not know defaults show null); note is null" in told
    assert "Its file lacks" not in run("data", "history", name, "country = 'US'").output
    path = direct.open_table(name).files("snapshot-1")[0]["file_path"]
    assert "lacks columns" in run("inspect", "file", name, path, "--show", "rows").output
    assert "skips it" not in told
    assert "skipped" not in run("plan", name, "country = 'IN'", "--stage", "row-groups").output


def test_paths_of_other_schemes_and_authorities(session: Any, tmp_path: Path) -> None:
    """apache/iceberg#7884: the procedure refuses, and says of two settings that they are missing."""
    table = Table(tmp_path / "t", [(1, "id", "long")], location=str(tmp_path / "t"))
    files = []
    for number, prefix in enumerate(("", "file://localhost", "hdfs://nn1", "s3a://nn2", "file:")):
        data = table.parquet(f"{number}.parquet", {"id": [number]})
        files.append((1, data | {"file_path": f"{prefix}{data['file_path']}"}))
    table.snapshot("append", [table.manifest("m1.avro", files)])
    orphan = tmp_path / "t" / "data" / "orphan.parquet"
    orphan.write_bytes(b"nothing")
    for path in (tmp_path / "t").rglob("*"):
        os.utime(path, (1e9, 1e9))
    [*_, last] = sorted((tmp_path / "t" / "metadata").glob("*.metadata.json"))
    session.sql(f"CALL sandbox.system.register_table('twelfth.prefixes', '{last}')")
    name = f"{SPACE}.prefixes"
    with pytest.raises(Exception, match="Unable to determine whether certain files are orphan"):
        session.sql("CALL sandbox.system.remove_orphan_files(table => 'twelfth.prefixes')")
    [finding] = found(name, "orphan-files", files=True)
    assert statements(finding.remedy) == []
    assert "icedive maintain preview TABLE remove-orphans" in finding.remedy
    told = run("maintain", "preview", name, "remove-orphans").output
    assert told.startswith("Spark's procedure would refuse: metadata names 3 files with another scheme or authority")
    [statement] = statements(told)
    assert [row[0] for row in session.sql(statement).collect()] == [f"file:{orphan}"]
    assert not orphan.exists()
    assert sorted(path.name for path in orphan.parent.iterdir()) == [f"{n}.parquet" for n in range(5)]


def test_a_version_that_the_metadata_log_leaves_out(session: Any) -> None:
    """apache/iceberg#13651."""
    name = f"{SPACE}.versions"
    session.sql(f"CREATE TABLE {name} (id INT) USING iceberg")
    for number in range(4):
        session.sql(f"INSERT INTO {name} VALUES ({number})")
    assert found(name, "metadata-log-file-missing") == []
    files = metadata_files(session, name)
    data = json.loads(files[-1].read_text())
    data["metadata-log"] = [e for e in data["metadata-log"] if not e["metadata-file"].endswith(files[2].name)]
    files[-1].write_text(json.dumps(data))
    [finding] = found(name, "metadata-log-file-missing")
    assert finding.severity == "info"
    assert "goes from version 1 to version 3: version 2 is not in it" in finding.what
    assert f"{files[2].name} is there, and the table has its snapshots" in finding.what
    assert "Between the two came 2 snapshots" in finding.what
    gone = data["snapshots"].pop(1)
    data["snapshots"][1]["parent-snapshot-id"] = data["snapshots"][0]["snapshot-id"]
    data["snapshot-log"].pop(1)
    files[-1].write_text(json.dumps(data))
    [finding] = found(name, "metadata-log-file-missing")
    assert finding.severity == "warning"
    assert f"with snapshot {gone['snapshot-id']}, which the table does not have" in finding.what
    assert "no row is affected" not in finding.what


@pytest.mark.parametrize("version", [1, 2])
def test_a_partition_field_that_keeps_the_name_of_a_column(session: Any, version: int) -> None:
    """apache/iceberg#11762: a column was renamed, and another cannot have its name."""
    name = f"{SPACE}.former{version}"
    session.sql(
        f"CREATE TABLE {name} (id INT, name STRING) USING iceberg PARTITIONED BY (name) "
        f"TBLPROPERTIES ('format-version' = '{version}')"
    )
    session.sql(f"INSERT INTO {name} VALUES (1, 'a')")
    assert found(name, "readers-differ") == []
    session.sql(f"ALTER TABLE {name} RENAME COLUMN name TO name1")
    add = f"ALTER TABLE {name} ADD COLUMN name INT"
    with pytest.raises(Exception, match="Cannot create identity partition sourced from different field in schema"):
        session.sql(add)
    [finding] = found(name, "readers-differ", deep=True)
    assert "partition field 'name', of column 'name1', keeps a name that a column had" in finding.what
    assert finding.severity == "info"
    *changes, expiry = statements(finding.remedy)
    for statement in changes:
        session.sql(statement)
    session.sql(f"INSERT INTO {name} VALUES (2, 'b')")
    session.sql(expiry.replace("clean_", "older_than => TIMESTAMP '2999-01-01 00:00:00', clean_"))
    session.sql(add)
    assert [f for f in found(name, "readers-differ", deep=True) if "keeps a name" in f.what] == []
    if version == 1:  # which keeps removed fields, and their names
        session.sql(f"ALTER TABLE {name} DROP PARTITION FIELD name_2")
        session.sql(f"ALTER TABLE {name} RENAME COLUMN name1 TO name_2")
        session.sql(f"ALTER TABLE {name} RENAME COLUMN name_2 TO name3")
        with pytest.raises(Exception, match="Cannot create identity partition sourced from different field in schema"):
            session.sql(f"ALTER TABLE {name} ADD COLUMN name_2 INT")
        [finding] = [f for f in found(name, "readers-differ", deep=True) if "keeps a name" in f.what]
        assert statements(finding.remedy) == []


def register(session: Any, path: Path, name: str) -> str:
    [*_, last] = sorted((path / "metadata").glob("*.metadata.json"))
    session.sql(f"CALL sandbox.system.register_table('twelfth.{name}', '{last}')")
    return f"{SPACE}.{name}"


def ids(session: Any, name: str, where: str = "true") -> list[int]:
    return sorted(row.id for row in session.sql(f"SELECT id FROM {name} WHERE {where}").collect())


def test_a_key_that_one_commit_wrote_twice(session: Any, tmp_path: Path) -> None:
    """apache/iceberg#11008."""
    name = register(session, twelfth.two_checkpoints(tmp_path / "t"), "twice")
    assert ids(session, name) == [1, 1, 2]
    [finding] = found(name, "delete-repeated", deep=True)
    assert "Delete them by their key, and insert the newest again" in finding.remedy
    session.sql(f"DELETE FROM {name} WHERE id = 1")
    session.sql(f"INSERT INTO {name} VALUES (1, 'checkpoint 2')")
    assert ids(session, name) == [1, 2]


def test_statistics_of_all_files_in_each_entry(session: Any, tmp_path: Path) -> None:
    """ClickHouse/ClickHouse#117116."""
    name = register(session, twelfth.statistics_of_all_files(tmp_path / "t"), "stats")
    assert ids(session, name, "v = 'x'") == []
    finding = next(f for f in found(name, "metrics-wrong", deep=True) if f.severity == "error")
    for statement in statements(finding.remedy):
        session.sql(statement)
    assert ids(session, name, "v = 'x'") == [1, 2]
    assert [f for f in found(name, "metrics-wrong", deep=True) if f.severity == "error" and "main" in f.refs] == []


def test_delete_files_in_a_data_manifest(session: Any, tmp_path: Path) -> None:
    """JanKaul/iceberg-rust#212."""
    name = register(session, twelfth.equality_deletes_as_data(tmp_path / "t"), "content")
    assert ids(session, name) == [1, 2, 2, 3]
    assert direct.live_rows(name).rows == 4
    [finding] = found(name, "manifest-content")
    for statement in statements(finding.remedy):
        session.sql(statement)
    assert ids(session, name) == [1, 2, 3]


def test_a_column_that_only_the_partition_has(session: Any, tmp_path: Path) -> None:
    """apache/iceberg#9404."""
    name = register(session, twelfth.column_of_the_partition_alone(tmp_path / "t"), "alone")
    [finding] = found(name, "readers-differ", deep=True)
    for statement in statements(finding.remedy):
        session.sql(statement)
    assert ids(session, name, "country = 'USA'") == [1, 2]
    files = [row.file_path for row in session.table(f"{name}.files").collect()]
    assert all("country" in session.read.parquet(path).columns for path in files)
    assert not [f for f in found(name, "readers-differ", deep=True) if "main" in f.refs]


def test_a_copy_on_write_that_brings_deleted_rows_back(session: Any) -> None:
    """apache/iceberg-go#2042: it wrote a file anew without the delete that applied to it."""
    name = f"{SPACE}.back"
    session.sql(
        f"CREATE TABLE {name} (id INT, v STRING) USING iceberg TBLPROPERTIES ('write.delete.mode' = 'merge-on-read')"
    )
    rows = f"INSERT INTO {name} SELECT /*+ COALESCE(1) */ id, CAST(id AS STRING) AS v FROM range(1, 5, 1, 1)"
    session.sql(rows)
    session.sql(f"DELETE FROM {name} WHERE id = 1")
    table = java_table(session, name)
    [old] = [row.file_path for row in session.table(f"{name}.files").collect() if row.content == 0]
    session.sql(f"{rows} WHERE id <> 2")
    tasks, files = java_table(session, name).newScan().planFiles().iterator(), {}
    while tasks.hasNext():
        file = tasks.next().file()
        files[file.location()] = file
    java_table(session, name).manageSnapshots().rollbackTo(table.currentSnapshot().snapshotId()).commit()
    [new] = [path for path in files if path != old]
    java_table(session, name).newOverwrite().deleteFile(files[old]).addFile(files[new]).commit()
    session.sql(f"REFRESH TABLE {name}")
    assert ids(session, name) == [1, 3, 4]
    told = run("data", "history", name, "id = 1").output
    assert "snapshot-4 came back: id=1, v=1" in told
    assert "this overwrite took that file out and wrote the row again, as if it had not been deleted" in told
    assert "came back" not in run("data", "history", name, "id = 3").output


def test_a_folder_whose_hint_is_gone(session: Any, tmp_path: Path) -> None:
    """ClickHouse/ClickHouse#120164."""
    table = Table(tmp_path / "t", [(1, "id", "long")], location=str(tmp_path / "t"))
    table.append(table.parquet("a.parquet", {"id": [2, 3]}))
    for path in (tmp_path / "t" / "metadata").glob("*.metadata.json"):
        path.unlink()
    (tmp_path / "t" / "metadata" / "v0.metadata.json").write_text(json.dumps(table.md | {"metadata-log": []}))
    reader = session.read.format("iceberg")
    assert sorted(row.id for row in reader.load(str(tmp_path / "t")).collect()) == [2, 3]
    assert found(tmp_path / "t", "metadata-choice")
    session.range(4, 5).write.format("iceberg").mode("append").save(str(tmp_path / "t"))
    assert found(tmp_path / "t", "metadata-choice") == []
    assert sorted(row.id for row in reader.load(str(tmp_path / "t")).collect()) == [2, 3, 4]


def test_position_deletes_of_a_table_that_was_moved(session: Any, tmp_path: Path) -> None:
    """apache/iceberg#11077."""
    name = register(session, twelfth.moved(tmp_path / "t"), "moved")
    assert ids(session, name) == [1, 2, 3]
    assert direct.live_rows(name).rows == 3
    assert statements(found(name, "delete-dangling")[0].remedy) == []


def test_a_tag_that_expired_with_its_snapshot(session: Any, tmp_path: Path) -> None:
    """seaweedfs/seaweedfs#10774."""
    name = register(session, twelfth.expired_with_its_tag(tmp_path / "t"), "lost_ref")
    [finding] = found(name, "ref-dangling")
    [statement] = statements(finding.remedy)
    session.sql(statement)
    rows = session.sql(f"SELECT id FROM {SPACE}.lost_ref_before VERSION AS OF 'month'").collect()
    assert [row.id for row in rows] == [1]


def test_properties_that_iceberg_knows(session: Any) -> None:
    """apache/gravitino#10995."""
    java, texts = session._jvm.java.lang.Class, set()
    for name in ("org.apache.iceberg.TableProperties", "org.apache.iceberg.spark.SparkTableProperties"):
        for field in java.forName(name).getDeclaredFields():
            if field.getType().getName() == "java.lang.String" and (text := field.get(None)) and "." in text:
                texts.add(text)
    unlike = {text for text in texts if text.startswith(("engine.", "identifier-fields."))}
    assert {text for text in texts - unlike if text not in KNOWN} == set(OF_COLUMNS)


@pytest.mark.parametrize("name", VALUES)
def test_values_that_iceberg_refuses(name: str, session: Any) -> None:
    table = f"{SPACE}.refused"
    kind = name.split(".")[1]
    properties = {f"write.{kind}.mode": "merge-on-read", name: "strange"}
    listed = ", ".join(f"'{key}' = '{value}'" for key, value in properties.items())
    session.sql(f"CREATE TABLE {table} (id INT, v INT) USING iceberg")
    session.sql(f"INSERT INTO {table} SELECT /*+ COALESCE(1) */ * FROM VALUES (1, 1), (2, 2)")
    session.sql(f"ALTER TABLE {table} SET TBLPROPERTIES ({listed})")
    [finding] = [f for f in found(table, "property-refused") if "has a value" in f.what]
    assert (finding.severity, finding.found) == ("warning", "strange")
    assert session.table(table).count() == 2
    write = {
        "delete": f"DELETE FROM {table} WHERE id = 1", "update": f"UPDATE {table} SET v = 3 WHERE id = 1",
        "merge": f"MERGE INTO {table} t USING (SELECT 1 AS id) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET v = 3",
    }.get(kind, f"INSERT INTO {table} VALUES (3, 3)")  # fmt: skip
    with pytest.raises(Exception, match="strange"):
        session.sql(write)
    [statement] = statements(finding.remedy)
    session.sql(statement)
    session.sql(write)


def test_an_empty_newest_version_in_a_folder(session: Any, tmp_path: Path) -> None:
    """ClickHouse/ClickHouse#111726."""
    folder = twelfth.empty_version(tmp_path / "t")
    reader = session.read.format("iceberg")
    with pytest.raises(Exception, match=r"v2\.metadata\.json|end-of-input"):
        reader.load(str(folder)).collect()
    (folder / "metadata" / "v2.metadata.json").rename(folder / "kept")
    (folder / "metadata" / "version-hint.text").write_text("1")
    assert sorted(row.id for row in reader.load(str(folder)).collect()) == [1, 2]


def test_statistics_of_an_older_snapshot_are_written_for_it(session: Any) -> None:
    name = f"{SPACE}.puffin"
    session.sql(f"CREATE TABLE {name} (id INT) USING iceberg")
    session.sql(f"INSERT INTO {name} VALUES (1)")
    session.sql("CALL sandbox.system.compute_table_stats('twelfth.puffin')")
    session.sql(f"INSERT INTO {name} VALUES (2)")
    Path(direct.open_table(name).metadata.statistics[0].path).unlink()
    [finding] = found(name, "statistics-file")
    [statement] = statements(finding.remedy)
    session.sql(statement)
    assert found(name, "statistics-file") == []
