"""Troubles from public reports, made by Spark itself: what is answered, and that what is printed does it."""

from __future__ import annotations

import os
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from explorer.storage.paths import local_path
from tests.cases.mini import Table
from tests.statements.printed import statements
from tests.support import direct
from tests.support.report_tables import found, java_table, live_files
from tests.support.small_tables import newest_metadata
from tests.unit.test_screen import run

SPACE = "sandbox.fourteenth"


def expire_by_api(session: Any, name: str) -> None:
    """Expire all snapshots but the current one, by Iceberg's API."""
    now = int(time.time() * 1000) + 1
    java_table(session, name).expireSnapshots().expireOlderThan(now).retainLast(1).cleanExpiredFiles(True).commit()
    session.sql(f"REFRESH TABLE {name}")


def readd(session: Any, name: str) -> None:
    """A table of two partitions, whose files one commit removed and added again."""
    session.sql(f"CREATE TABLE {name} (id INT, p STRING) USING iceberg PARTITIONED BY (p)")
    session.sql(f"INSERT INTO {name} VALUES (1, 'a'), (2, 'b')")
    overwrite = java_table(session, name).newOverwrite()
    for file in live_files(session, name):
        overwrite.deleteFile(file)
        overwrite.addFile(file)
    overwrite.commit()
    session.sql(f"REFRESH TABLE {name}")


def test_a_file_that_one_commit_removed_and_added(session: Any) -> None:
    """apache/iceberg#2131: an expiry by Iceberg's API removes it, though it is live."""
    lost, kept = f"{SPACE}.lost", f"{SPACE}.kept"
    for name in (lost, kept):
        readd(session, name)
        [finding] = direct.doctor(name).findings
        assert (finding.rule, finding.severity, statements(finding.remedy)) == ("deleted-file-live", "warning", [])
        session.sql(f"INSERT OVERWRITE {name} PARTITION (p = 'b') VALUES (3)")
    expire_by_api(session, lost)
    with pytest.raises(Exception, match="Failed to open input stream"):
        session.sql(f"SELECT sum(id) FROM {lost}").collect()
    [finding] = found(kept, "deleted-file-live")
    assert "removed a file, and added it again" in finding.what
    assert len(finding.snapshots) == 1  # of the other file the deleter is the last snapshot
    [statement] = statements(finding.remedy)
    session.sql(statement)
    session.sql(f"REFRESH TABLE {kept}")
    assert not found(kept, "deleted-file-live")
    session.sql(f"INSERT INTO {kept} VALUES (4, 'c')")
    expire_by_api(session, kept)
    assert sorted(row.id for row in session.table(kept).collect()) == [1, 3, 4]


def test_a_file_that_was_added_again_later(session: Any) -> None:
    name = f"{SPACE}.later"
    session.sql(f"CREATE TABLE {name} (id INT) USING iceberg")
    session.sql(f"INSERT INTO {name} VALUES (1)")
    [file] = live_files(session, name)
    session.sql(f"DELETE FROM {name}")
    java_table(session, name).newAppend().appendFile(file).commit()
    session.sql(f"REFRESH TABLE {name}")
    [finding] = found(name, "deleted-file-live")
    assert "removed a file, and a later one added it again" in finding.what


@pytest.mark.parametrize("rewrite", ["rewrite_data_files(table => '{}', options => map('rewrite-all', 'true'))",
                                     "rewrite_manifests('{}')", "rollback_to_snapshot('{}', {})"])  # fmt: skip
def test_what_keeps_files_is_no_such_commit(session: Any, rewrite: str) -> None:
    name = f"{SPACE}.sound"
    session.sql(f"CREATE TABLE {name} (id INT) USING iceberg TBLPROPERTIES ('write.delete.mode' = 'merge-on-read')")
    for number in range(3):
        session.sql(f"INSERT INTO {name} VALUES ({number}), ({number + 10})")
    session.sql(f"DELETE FROM {name} WHERE id = 1")
    first = java_table(session, name).history()[0].snapshotId()
    session.sql(f"CALL sandbox.system.{rewrite.format(name.removeprefix('sandbox.'), first)}")
    session.sql(f"INSERT INTO {name} VALUES (7)")
    assert not found(name, "deleted-file-live")


def migrated(session: Any, name: str) -> None:
    """A table with a file without field ids, as migrations make them."""
    session.sql(f"CREATE TABLE {name} (id INT, first STRING, last STRING) USING iceberg")
    data = Path(java_table(session, name).location()) / "data"
    data.mkdir(exist_ok=True)
    rows = pa.table({"id": pa.array([11], pa.int32()), "first": ["Lisa"], "last": ["Truman"]})
    pq.write_table(rows, data / "f.parquet")
    source = f"source_table => '`parquet`.`{data}`'"
    session.sql(f"CALL sandbox.system.add_files(table => '{name.removeprefix('sandbox.')}', {source})")


def rows_of(session: Any, name: str) -> list[tuple[Any, ...]]:
    return sorted(tuple(row) for row in session.sql(f"SELECT id, first, last FROM {name}").collect())


@pytest.mark.parametrize("is_renamed", [False, True])
def test_a_name_that_the_mapping_gives_to_another_column(session: Any, is_renamed: bool) -> None:
    """apache/iceberg#4930: the values of a column that was dropped, or renamed, are back under its name."""
    name = f"{SPACE}.people_{is_renamed}".lower()
    migrated(session, name)
    assert "columns by field id" not in run("overview", name).output
    session.sql(f"ALTER TABLE {name} {'RENAME COLUMN first TO given' if is_renamed else 'DROP COLUMN first'}")
    assert not [f for f in found(name, "readers-differ", deep=True) if f.severity != "info"]
    session.sql(f"ALTER TABLE {name} ADD COLUMN first STRING")
    session.sql(f"INSERT INTO {name} (id, first, last) VALUES (12, 'Ann', 'New')") if not is_renamed else session.sql(
        f"INSERT INTO {name} (id, given, last, first) VALUES (12, 'Given', 'New', 'Ann')"
    )
    assert rows_of(session, name) == [(11, "Lisa", "Truman"), (12, "Ann", "New")]
    told = run("history", "schemas", name).output
    words = "by the name mapping field 4 has what files without field ids have in a column first"
    assert told.count(words) == 2
    [finding] = found(name, "readers-differ", deep=True)
    assert (finding.severity, finding.columns) == ("warning", ("first",))
    assert "first (field 4) has the values of field 2, which was their column first" in finding.what
    [statement] = statements(finding.remedy)
    session.sql(statement)
    assert rows_of(session, name) == [(11, None, "Truman"), (12, "Ann", "New")]
    if is_renamed:
        assert sorted(row.given for row in session.table(name).collect()) == ["Given", "Lisa"]
    assert {f.severity for f in found(name, "readers-differ", deep=True)} == {"info"}
    assert "by the name mapping" not in run("history", "schemas", name).output


def test_a_file_that_was_added_for_the_newer_column(session: Any) -> None:
    name = f"{SPACE}.newer"
    session.sql(f"CREATE TABLE {name} (id INT, first STRING, last STRING) USING iceberg")
    session.sql(f"ALTER TABLE {name} DROP COLUMN first")
    session.sql(f"ALTER TABLE {name} ADD COLUMN first STRING")
    data = Path(java_table(session, name).location()) / "data"
    data.mkdir(exist_ok=True)
    pq.write_table(pa.table({"id": pa.array([1], pa.int32()), "first": ["meant"]}), data / "f.parquet")
    source = f"source_table => '`parquet`.`{data}`'"
    session.sql(f"CALL sandbox.system.add_files(table => '{name.removeprefix('sandbox.')}', {source})")
    assert {f.severity for f in found(name, "readers-differ", deep=True)} == {"info"}


def test_a_summary_without_totals(session: Any, tmp_path: Path) -> None:
    """duckdb/duckdb-iceberg#633: Redshift refuses it, and later commits of Spark do not write them."""
    table = Table(tmp_path / "t", [(1, "id", "long")], location=str(tmp_path / "t"))
    manifest = table.manifest("m.avro", [(1, table.parquet("a.parquet", {"id": [1, 2]}))])
    table.snapshot("append", [manifest])
    table.md["snapshots"][-1]["summary"] = {"operation": "append"}
    table.write()
    name, newest = f"{SPACE}.silent", newest_metadata(tmp_path / "t")
    with pytest.raises(Exception, match="Cannot parse null string"):  # after it made the table
        session.sql(f"CALL sandbox.system.register_table(table => 'fourteenth.silent', metadata_file => '{newest}')")
    session.sql(f"INSERT INTO {name} VALUES (3)")
    [finding] = direct.doctor(name, deep=True).findings
    assert (finding.rule, finding.severity) == ("readers-differ", "info")
    assert "Redshift refuses the table" in finding.what
    for statement in statements(finding.remedy):
        session.sql(statement)
    assert direct.doctor(name).findings == ()
    assert sorted(row.id for row in session.table(name).collect()) == [1, 2, 3]


def test_a_table_that_was_renamed_and_created_again(session: Any) -> None:
    """apache/iceberg#7052: two tables have one folder, and remove_orphan_files of one takes the other's files."""
    stage, prod = f"{SPACE}.stage", f"{SPACE}.prod"
    session.sql(f"CREATE TABLE {stage} (id INT) USING iceberg")
    session.sql(f"INSERT INTO {stage} VALUES (1)")
    assert direct.doctor(stage).findings == ()
    session.sql(f"ALTER TABLE {stage} RENAME TO fourteenth.prod")
    session.sql(f"CREATE TABLE {stage} (id INT) USING iceberg")
    session.sql(f"INSERT INTO {stage} VALUES (2)")
    assert java_table(session, stage).location() == java_table(session, prod).location()
    for name, severity in ((prod, "warning"), (stage, "info")):
        [finding] = direct.doctor(name).findings
        assert (finding.rule, finding.severity) == ("metadata-choice", severity)
        assert "the files of each are orphans of the other" in finding.what
        told = run("maintain", "preview", name, "remove-orphans").output
        assert "is of another table (its UUID differs). Its files would go too, once they are old enough." in told
        later = "older_than=2099-01-01 00:00:00"
        told = run("maintain", "preview", name, "remove-orphans", "-O", later).output
        assert "Do not run this" in told
        assert statements(told) == []
    session.sql(f"INSERT INTO {prod} VALUES (3)")
    [finding] = direct.doctor(stage).findings
    assert finding.severity == "warning"
    days_old(java_table(session, stage).location())
    call = "CALL sandbox.system.remove_orphan_files(table => 'fourteenth.prod', dry_run => true)"
    orphans = {local_path(row.orphan_file_location) for row in session.sql(call).collect()}
    assert {local_path(file.location()) for file in live_files(session, stage)} <= orphans


def test_a_table_that_was_registered_twice(session: Any) -> None:
    """trinodb/trino#15753: both commit to one folder, and neither has what the other wrote."""
    one, two = f"{SPACE}.registered", f"{SPACE}.again"
    session.sql(f"CREATE TABLE {one} (id INT) USING iceberg")
    session.sql(f"INSERT INTO {one} VALUES (1)")
    newest = newest_metadata(Path(java_table(session, one).location()))
    session.sql(f"CALL sandbox.system.register_table(table => 'fourteenth.again', metadata_file => '{newest}')")
    for name, value in ((one, 2), (two, 3)):
        session.sql(f"INSERT INTO {name} VALUES ({value})")
    for name in (one, two):
        [finding] = direct.doctor(name).findings
        assert finding.rule == "metadata-fork"
        assert "or another table was made of this one's metadata (register_table), and has it" in finding.what
        assert "If a catalog has that state under another name already" in finding.remedy
    told = run("maintain", "preview", one, "remove-orphans", "-O", "older_than=2099-01-01 00:00:00").output
    assert "Do not run this" in told


def days_old(location: str) -> None:
    """Make all files of a folder old enough to be orphans."""
    for path in Path(location).rglob("*"):
        if path.is_file():
            os.utime(path, (time.time() - 10 * 86_400,) * 2)


@pytest.mark.parametrize("matched", ["", "WHEN MATCHED THEN UPDATE SET *"])
def test_two_merges_of_one_new_key(session: Any, matched: str) -> None:
    """apache/iceberg#12653: of inserts alone both are committed; with WHEN MATCHED one of them is refused."""
    name = f"{SPACE}.merged{len(matched)}"
    session.sql(f"CREATE TABLE {name} (id INT, v STRING) USING iceberg")
    session.sql(f"INSERT INTO {name} VALUES (1, 'old')")
    base = java_table(session, name).currentSnapshot().snapshotId()
    source = "(SELECT /*+ REPARTITION(1) */ 2 AS id, '{}' AS v FROM range(1))"
    merge = f"MERGE INTO {name} AS t USING {source} AS s ON t.id = s.id {matched} WHEN NOT MATCHED THEN INSERT *"

    def commit(text: str) -> bool:
        try:
            session.sql(merge.format(text))
        except Exception as error:
            assert "Found conflicting files" in str(error)
            return False
        return True

    for _ in range(20):  # until two of them meet
        with ThreadPoolExecutor(2) as pool:
            done = list(pool.map(commit, ("one", "two")))
        session.sql(f"REFRESH TABLE {name}")
        both = session.table(name).where("id = 2").count()
        if both > 1 or not all(done):
            break
        session.sql(f"CALL sandbox.system.rollback_to_snapshot('{name.removeprefix('sandbox.')}', {base})")
    assert (all(done), both) == ((False, 1) if matched else (True, 2))
    told = run("check", "conflict", name, str(base), "cow-merge").output
    assert "It is refused" in told
    assert "A MERGE with WHEN NOT MATCHED alone is an append to Spark, which no check refuses" in told
    if not matched:
        assert run("data", "history", name, "id = 2").output.count("added by this append") == 2


def test_metadata_that_a_store_removed_by_its_age(session: Any) -> None:
    """apache/iceberg#10560: the oldest metadata file, manifest list and manifests are gone; all rows are got back."""
    name = f"{SPACE}.events"
    session.sql(f"CREATE TABLE {name} (x INT, id INT, v STRING COMMENT 'of it') USING iceberg")
    session.sql(f"ALTER TABLE {name} DROP COLUMN x")
    for number in range(4):
        session.sql(f"INSERT INTO {name} VALUES ({number}, 'v{number}')")
    session.sql(f"ALTER TABLE {name} RENAME COLUMN v TO w")
    folder = Path(java_table(session, name).location()) / "metadata"
    for kind in ("*-m0.avro", "snap-*.avro", "*.metadata.json"):
        some = sorted(folder.glob(kind), key=lambda path: path.stat().st_mtime_ns)
        for path in some[: 2 if kind == "*-m0.avro" else 1]:
            path.unlink()
    with pytest.raises(Exception, match="Failed to open input stream"):
        session.sql(f"SELECT sum(id) FROM {name}").collect()
    [sick] = [f for f in found(name, "manifest-missing") if "main" in f.refs]
    assert "What is lost is older than all that is left" in sick.remedy
    printed = statements(sick.remedy)
    assert [statement.split()[0] for statement in printed] == ["CREATE", *["CALL"] * 4]
    for statement in printed:
        session.sql(statement)
    assert sorted(tuple(row) for row in session.table(name).collect()) == [(n, f"v{n}") for n in range(4)]
    assert [(c.fieldId(), c.name(), c.doc()) for c in java_table(session, name).schema().columns()] == [
        (2, "id", None), (3, "w", "of it")
    ]  # fmt: skip
    assert direct.doctor(name, snapshot="main", deep=True).level != "error"


def test_metadata_that_is_lost_with_files_that_do_not_fit(session: Any) -> None:
    name = f"{SPACE}.unfit"
    session.sql(f"CREATE TABLE {name} (id INT) USING iceberg")
    for number in range(3):
        session.sql(f"INSERT INTO {name} VALUES ({number})")
    location = Path(java_table(session, name).location())
    some = sorted((location / "metadata").glob("*-m0.avro"), key=lambda path: path.stat().st_mtime_ns)
    some[0].unlink()
    data = sorted((location / "data").glob("*.parquet"))
    (location / "data" / "more.parquet").write_bytes(data[0].read_bytes())
    [sick] = [f for f in found(name, "manifest-missing") if "main" in f.refs]
    assert statements(sick.remedy) == []
    assert "no procedure mends it" in sick.remedy
