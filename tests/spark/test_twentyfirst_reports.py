"""Remedies of a twenty-first round of public reports, executed in Spark as they say."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import pytest

from explorer.errors import StatementFailed
from explorer.reports.maintenance import preview
from explorer.spark_engine.spark import SparkEngine
from explorer.storage.catalogs.sandbox_entries import forget_entries
from explorer.table import open_table
from tests.cases.mini import Table
from tests.statements.printed import statements
from tests.support.report_tables import found
from tests.support.small_tables import newest_metadata

SPACE = "sandbox.twentyfirst"


def local(path: str) -> Path:
    return Path(path.removeprefix("file:"))


def register(session: Any, name: str, metadata: Path) -> None:
    session.sql(f"CALL sandbox.system.register_table('twentyfirst.{name}', 'file:{metadata}')")


def test_the_rows_of_a_commit_that_was_replaced_come_back(session: Any, engine: SparkEngine) -> None:
    """apache/iceberg#970: Iceberg Java's own files, and the statement that the doctor prints."""
    name = f"{SPACE}.raced"
    session.sql(f"CREATE TABLE {name} (id INT) USING iceberg TBLPROPERTIES ('commit.retry.num-retries' = '0')")
    session.sql(f"INSERT INTO {name} VALUES (1)")
    session.sql(f"INSERT INTO {name} VALUES (2)")
    newest = local(open_table(name).metadata.metadata_location)
    before = sorted(newest.parent.glob("*.metadata.json"))[-2]
    newest.unlink()  # what a rename over it does
    forget_entries(engine.sandbox, ["twentyfirst.raced"])
    session.catalog.clearCache()
    register(session, "raced", before)
    session.sql(f"INSERT INTO {name} VALUES (3)")
    then = time.time() - 10 * 86_400
    for path in newest.parents[1].rglob("*"):
        os.utime(path, (then, then))
    table = open_table(name)
    assert preview(table, "remove-orphans").call == ""
    [finding] = found(name, "commit-unnamed")
    assert "snapshot-2 has its place" in finding.what
    [printed] = statements(finding.remedy)
    session.sql(printed)
    assert sorted(row.id for row in session.table(name).collect()) == [1, 2, 3]
    assert found(name, "commit-unnamed") == []


def test_a_key_of_two_tasks_is_deleted_by_a_later_commit(tmp_path: Path, session: Any) -> None:
    """apache/iceberg#15305."""
    table = Table(tmp_path / "t", [(1, "id", "int"), (2, "v", "string")])
    row = table.parquet("00000-0-j-00002.parquet", {"id": [7], "v": ["new"]})
    table.delta([row], [table.equality_delete("00001-0-j-00003.parquet", {"id": [7]})])
    register(session, "crossed", newest_metadata(tmp_path / "t"))
    name = f"{SPACE}.crossed"
    assert [row.v for row in session.table(name).collect()] == ["new"]
    assert "a DELETE in Spark does" in found(name, "delete-repeated", deep=True)[0].remedy
    session.sql(f"DELETE FROM {name} WHERE id = 7")
    assert session.table(name).collect() == []


def test_headers_are_written_by_the_tables_schema(tmp_path: Path, session: Any) -> None:
    """ClickHouse/ClickHouse#119743: what rewrite_manifests does for readers that refuse another header."""
    table = Table(tmp_path / "t", [(1, "id", "int")])
    schema = '{"type": "struct", "schema-id": 0, "fields": [{"id": 1, "name": "x", "required": false, "type": "long"}]}'
    manifests = [
        table.manifest(f"m{n}.avro", [(1, table.parquet(f"{n}.parquet", {"id": [n]}))], header={"schema": schema})
        for n in range(2)
    ]
    table.snapshot("append", manifests)
    register(session, "headers", newest_metadata(tmp_path / "t"))
    name = f"{SPACE}.headers"
    assert "maintain preview TABLE rewrite-manifests" in found(name, "schema-rebound")[0].remedy
    session.sql(preview(open_table(name), "rewrite-manifests").call)
    current = open_table(name).metadata.current_snapshot
    assert current is not None
    snapshots = [f.snapshots for f in found(name, "schema-rebound")]
    assert not any(current.snapshot_id in ids for ids in snapshots)
    assert sorted(row.id for row in session.table(name).collect()) == [0, 1]


def test_a_condition_between_two_tables_is_no_filter(session: Any) -> None:
    """apache/iceberg#3607: what stands in ON of a MERGE."""
    session.sql(f"CREATE TABLE {SPACE}.merged (id INT) USING iceberg")
    session.sql(f"INSERT INTO {SPACE}.merged VALUES (1)")
    with pytest.raises(StatementFailed, match="A condition between columns of two tables"):
        open_table(f"{SPACE}.merged").plan_sql("t.id = s.id")
    plan, _ = open_table(f"{SPACE}.merged").plan_sql("id = 2")
    assert plan.left.files == 0
