"""Troubles of a twenty-eighth round of public reports, on tables that are built here."""

from __future__ import annotations

import copy
import shutil
import uuid
from pathlib import Path

import pytest

from tests.cases.mini import Table
from tests.support import direct
from tests.support.report_tables import found
from tests.support.small_tables import make_table, newest_metadata
from tests.unit.test_cli import run


# -- two live tables in one folder (ClickHouse/ClickHouse#78455) -------------------------------------------------------
@pytest.mark.parametrize("opened", ["folder", "older", "newer"])
def test_no_advice_takes_the_metadata_of_a_live_table_away(opened: str, tmp_path: Path) -> None:
    first, second = make_table(tmp_path / "a", 1), make_table(tmp_path / "b", 2)
    theirs = {path.name for path in (second / "metadata").iterdir()}
    shutil.copytree(second / "metadata", first / "metadata", dirs_exist_ok=True)
    older = next(path for path in (first / "metadata").glob("00001-*.json") if path.name not in theirs)
    place = {"folder": first, "older": older, "newer": first / "metadata" / newest_metadata(second).name}[opened]
    [finding] = found(str(place), "metadata-choice")
    assert "two tables have one location" in finding.what
    assert "take out of the folder" not in finding.remedy
    assert "See whether a catalog still has the other one" in finding.remedy
    assert "If not, its files may go" in finding.remedy


# -- gzipped metadata files (Snowflake-Labs/pg_lake#83) ----------------------------------------------------------------
def test_the_property_that_ends_gzipped_metadata_is_named(tmp_path: Path) -> None:
    table = make_table(tmp_path, 1)
    newest = newest_metadata(table)
    packed = newest.with_name(newest.name.replace(".metadata.json", ".gz.metadata.json"))
    newest.rename(packed)
    assert direct.open_table(str(packed)).metadata.format_version == 2
    told = run("readers", str(packed)).output
    assert "with the property write.metadata.compression-codec = none the next commit writes a plain one" in told
    assert "compression-codec = none" not in run("readers", str(make_table(tmp_path / "plain", 1))).output


# -- a delete that found its files no more (trinodb/trino#18393) -------------------------------------------------------
def test_a_delete_that_removed_nothing_is_told(tmp_path: Path) -> None:
    table = Table(tmp_path / "t", [(1, "id", "long")])
    old = table.parquet("old.parquet", {"id": [1, 2]})
    table.append(old)
    new = table.manifest("new.avro", [(1, table.parquet("new.parquet", {"id": [1, 2]}))])
    gone = table.manifest("gone.avro", [(2, old, {"sequence_number": 1})])
    table.snapshot("replace", [new, gone], {"added-data-files": "1", "deleted-data-files": "1"})
    table.snapshot("delete", [new], {"trino_query_id": "q_lost", "changed-partition-count": "0"})
    told = run("history", "landed", str(table.folder), "q_lost").output
    assert told.startswith("It landed. Snapshot-3: in main. By its summary the delete snapshot-3 removed nothing.")
    assert "Snapshot-2 (replace) had removed data files before" in told
    table.snapshot("delete", [], {"trino_query_id": "q_done", "deleted-data-files": "1", "deleted-records": "2"})
    assert "removed nothing" not in run("history", "landed", str(table.folder), "q_done").output


# -- a commit on stale metadata that lost a change of schema (apache/iceberg#14093) ------------------------------------
PHONE, EMAIL = (3, "phone", "string"), (4, "email", "string")
COLUMNS = [(1, "id", "long"), (2, "name", "string"), PHONE]


def stale(folder: Path, rows: bool, skipped: bool) -> str:
    """A table whose newest commit began before another one, which added a column, and rows too, and is lost. Its
    metadata file has the number of the lost one, or the next that is free."""
    table = Table(folder, COLUMNS)
    table.append(table.parquet("first.parquet", {"id": [1], "name": ["a"], "phone": ["1"]}))
    kept = copy.deepcopy((table.md, table.last, table.stamp, table.clock, table.lists))
    number = table.n
    table.clock += 1000
    table.set_schema([*COLUMNS, EMAIL])
    table.save()
    if rows:
        table.append(table.parquet("lost.parquet", {"id": [2], "name": ["b"], "phone": ["2"]}))
    number = (table.n if skipped else number) + 1
    table.md, table.last, table.stamp, table.clock, table.lists = kept
    table.clock, table.snaps = table.clock + 90_000, table.snaps + 5
    save, name = table.save, f"{number:05d}-{uuid.UUID(int=555)}.metadata.json"
    table.save = lambda *_, **__: save(name=name)
    table.append(table.parquet("won.parquet", {"id": [3], "name": ["c"], "phone": ["3"]}))
    return f"{folder}/metadata/{name}"


def test_a_lost_column_is_told_where_two_files_are_of_one_version(tmp_path: Path) -> None:
    [fork] = found(stale(tmp_path / "t", rows=False, skipped=False), "metadata-fork")
    assert "with column email (schema 1), which the table does not have" in fork.what
    assert "register_table" in fork.remedy


@pytest.mark.parametrize("rows", [False, True])
def test_a_lost_commit_that_the_log_leaves_out_is_told(rows: bool, tmp_path: Path) -> None:
    [gap] = found(stale(tmp_path / "t", rows=rows, skipped=True), "metadata-log-file-missing")
    assert gap.severity == "warning"
    assert "column email (schema 1), which the table does not have: its commit was lost" in gap.what
    assert ("snapshot 102 and column" in gap.what) == rows
    assert ("has its sequence number" in gap.what) == rows
    assert "By the log the writer of version" in gap.what
    assert "Nothing has to be done: no row is affected" not in gap.remedy
    assert "ADD COLUMN" in gap.remedy
    assert "Do not run remove_orphan_files before you know" in gap.remedy
