"""What Spark answers to MIN, MAX and COUNT from manifests, as docs/readers.md has it; and the way back of a table whose
current schema is missing."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from explorer.spark_engine.spark import SparkEngine
from tests.cases.mini import Table, single
from tests.support import direct
from tests.support.report_tables import found, spark_namespace
from tests.unit.test_twentythird_schema_reports import lose_schema

SETTING = "spark.sql.iceberg.aggregate-push-down.enabled"
THREE = {"x": [1, 2, 3]}
LONG = [(1, "x", "long")]
LETTERS = {"x": ["a" * 20, "b" * 20]}


@pytest.fixture(scope="module")
def session(engine: SparkEngine) -> Iterator[Any]:
    with spark_namespace(engine, "sandbox.aggregated") as session:
        yield session


def answers(session: Any, table: Table, name: str) -> list[tuple[Any, ...]]:
    """MIN, MAX, COUNT(*) and COUNT(x), from manifests where Spark does so, and from the rows."""
    own = f"aggregated.{name}"
    session.sql(f"CALL sandbox.system.register_table('{own}', 'file:{table.folder}/metadata/{table.last}')")
    told = []
    for pushes in ("true", "false"):
        session.sql(f"SET `{SETTING}` = {pushes}")
        told.append(tuple(session.sql(f"SELECT min(x), max(x), count(*), count(x) FROM sandbox.{own}").collect()[0]))
    session.sql(f"SET `{SETTING}` = true")
    return told


@pytest.mark.parametrize(("name", "fields", "rows", "changes", "pushed"), [
    ("wide", LONG, THREE, {"upper_bounds": {1: single("long", 99)}}, (1, 99, 3, 3)),
    ("narrow", LONG, THREE, {"upper_bounds": {1: single("long", 2)}}, (1, 2, 3, 3)),
    ("nulls", LONG, {"x": [1, None, 3]}, {"null_value_counts": {1: 0}}, (1, 3, 3, 3)),
    ("records", LONG, THREE, {"record_count": 30}, (1, 3, 30, 3)),
    ("unbounded", LONG, THREE, {"lower_bounds": {}, "upper_bounds": {}, "record_count": 30}, (1, 3, 3, 3)),
    ("text", [(1, "x", "string")], LETTERS, {"lower_bounds": {1: b"aaa"}, "upper_bounds": {1: b"bbc"}},
     ("a" * 20, "b" * 20, 2, 2)),
])  # fmt: skip
def test_aggregates_are_answered_from_manifests(
    session: Any, name: str, fields: Any, rows: Any, changes: Any, pushed: Any, tmp_path: Path
) -> None:
    table = Table(tmp_path / "t", fields)
    table.append(table.parquet("a.parquet", rows) | changes)
    values = [value for value in rows["x"] if value is not None]
    assert answers(session, table, name) == [pushed, (min(values), max(values), len(rows["x"]), len(values))]


@pytest.mark.parametrize(("counts", "most"), [({"nan_value_counts": {1: 1}}, "nan"), ({}, "2.0")])
def test_max_leaves_nan_out_that_nobody_counts(session: Any, counts: Any, most: str, tmp_path: Path) -> None:
    table = Table(tmp_path / "t", [(1, "x", "double")])
    table.append(table.parquet("a.parquet", {"x": [1.0, float("nan"), 2.0]}) | counts)
    name = f"nan{len(counts)}"
    assert [str(answer[1]) for answer in answers(session, table, name)] == [most, "nan"]
    query = f"SELECT count(*) FROM sandbox.aggregated.{name} WHERE x > 5"
    assert [session.sql(query + more).collect()[0][0] for more in ("", " OR isnan(x)")] == [0, 1]


def test_deletes_have_spark_read_the_rows(session: Any, tmp_path: Path) -> None:
    table = Table(tmp_path / "t", LONG)
    data = table.parquet("a.parquet", THREE) | {"upper_bounds": {1: single("long", 99)}}
    table.append(data)
    table.delta(deletes=[table.position_delete("d.parquet", [(data["file_path"], 0)])])
    assert answers(session, table, "deleted") == [(2, 3, 2, 2)] * 2


def test_a_rewrite_writes_bounds_that_are_values(session: Any, tmp_path: Path) -> None:
    table = Table(tmp_path / "t", LONG)
    table.append(table.parquet("a.parquet", THREE) | {"upper_bounds": {1: single("long", 99)}})
    assert answers(session, table, "rewritten")[0][1] == 99
    [finding] = found("sandbox.aggregated.rewritten", "readers-differ", deep=True)
    session.sql(re.findall(r"CALL .*\)\)", finding.remedy)[0])
    assert session.sql("SELECT max(x) FROM sandbox.aggregated.rewritten").collect()[0][0] == 3


def test_min_and_max_of_uuids_fail(session: Any, tmp_path: Path) -> None:
    table = Table(tmp_path / "t", [(1, "x", "uuid")])
    table.append(table.parquet("a.parquet", {"x": [b"\x10" * 16, b"\x20" * 16]}))
    with pytest.raises(Exception, match=r"Cannot cast java.util.UUID to java.lang.CharSequence"):
        answers(session, table, "uuids")
    session.sql(f"SET `{SETTING}` = true")


def test_a_lost_schema_comes_back_from_a_manifest(session: Any, tmp_path: Path) -> None:
    """linkedin/openhouse#541."""
    [finding] = direct.doctor(str(lose_schema(tmp_path / "t"))).findings
    broken = Path(finding.file.removeprefix("file://"))
    with pytest.raises(Exception, match=r"Cannot find schema with current-schema-id=1 from schemas"):
        session.sql(f"CALL sandbox.system.register_table('aggregated.broken', 'file:{broken}')")
    schema = json.loads(re.findall(r"of the copy this: (\{.*\})\. See", finding.remedy)[0])
    copy = Path(re.findall(r"metadata_file => 'file://([^']*)'", finding.remedy)[0])
    raw = json.loads(broken.read_text())
    copy.write_text(json.dumps(raw | {"schemas": [*raw["schemas"], schema]}))
    call = re.findall(r"CALL .*?'\)", finding.remedy)[0]
    session.sql(call.replace("your_catalog", "sandbox").replace("your_db.your_table", "aggregated.orders"))
    rows = session.sql("SELECT id, c6 FROM sandbox.aggregated.orders_mended ORDER BY id").collect()
    assert [tuple(row) for row in rows] == [(1, None), (2, None), (3, None), (4, "q"), (5, "r")]
