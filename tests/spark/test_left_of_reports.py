"""What Spark does on the tables of tests/unit/test_left_of_reports.py."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from explorer.spark_engine.spark import SparkEngine
from tests.cases.mini import Table
from tests.robustness.editing import edit_avro
from tests.statements.printed import statements
from tests.support.report_tables import found, java_table, spark_namespace
from tests.support.small_tables import make_table, newest_metadata
from tests.unit.test_left_of_reports import contradictory

NAMESPACE = "sandbox.left_of_reports"


@pytest.fixture(scope="module")
def session(engine: SparkEngine) -> Iterator[Any]:
    with spark_namespace(engine, NAMESPACE) as own:
        yield own


def _registered(session: Any, name: str, folder: Path) -> str:
    table = f"{NAMESPACE}.{name}"
    session.sql(f"CALL sandbox.system.register_table('{table.partition('.')[2]}', 'file:{newest_metadata(folder)}')")
    return table


def _ids(session: Any, table: str, where: str = "true") -> list[int]:
    return sorted(row.id for row in session.sql(f"SELECT id FROM {table} WHERE {where}").collect())


@pytest.mark.parametrize("elsewhere", [False, True])
def test_a_delete_that_contradicts_its_partition_hides_nothing(session: Any, elsewhere: bool, tmp_path: Path) -> None:
    folder = contradictory(tmp_path / "t", 2, elsewhere=elsewhere).folder
    table = _registered(session, f"contradictory_{elsewhere}".lower(), folder)
    assert _ids(session, table) == ([1, 1, 2] if elsewhere else [1, 2])
    assert found(table, "partition-value")


def test_the_column_of_a_void_field_is_read_from_the_file(session: Any, tmp_path: Path) -> None:
    table = Table(tmp_path / "t", [(1, "id", "long"), (2, "p", "string")], [(2, 1000, "p", "void")], version=1)
    table.append(table.parquet("a.parquet", {"id": [1], "p": ["x"]}, partition={"p": None}))
    assert _ids(session, _registered(session, "void", table.folder), "p = 'x'") == [1]


def test_null_is_unlike_in_icebergs_expressions_and_not_in_sql(session: Any, tmp_path: Path) -> None:
    own = Table(tmp_path / "t", [(1, "id", "long"), (2, "k", "string")])
    own.append(own.parquet("a.parquet", {"id": [1, 2, 3], "k": ["x", None, "y"]}))
    table = _registered(session, "nulls", own.folder)
    for where in ("k != 'x'", "k NOT IN ('x', 'z')", "NOT (k = 'x')"):
        assert _ids(session, table, where) == [3]
        assert _ids(session, table, f"{where} OR k IS NULL") == [2, 3]
    java = session._jvm.org.apache.iceberg
    rows = java.data.IcebergGenerics.read(java_table(session, table)).where(
        java.expressions.Expressions.notEqual("k", "x")
    )
    answers, ids = rows.build().iterator(), []
    while answers.hasNext():
        ids.append(answers.next().getField("id"))
    assert sorted(ids) == [2, 3]


def test_an_equality_delete_of_null_deletes_rows_with_null(session: Any, tmp_path: Path) -> None:
    for name, key, left in (("null", None, [1, 3]), ("x", "x", [2, 3])):
        own = Table(tmp_path / name, [(1, "id", "long"), (2, "k", "string")])
        own.append(own.parquet("a.parquet", {"id": [1, 2, 3], "k": ["x", None, "y"]}))
        own.delta(deletes=[own.equality_delete("d.parquet", {"k": [key]})], operation="delete")
        assert _ids(session, _registered(session, f"of_{name}", own.folder)) == left


def test_a_delete_that_changed_nothing_is_dropped_as_is_printed(session: Any, tmp_path: Path) -> None:
    own = Table(tmp_path / "t", [(1, "id", "long")])
    own.append(own.parquet("a.parquet", {"id": [1, 2]}))
    own.delta(deletes=[own.equality_delete("d.parquet", {"id": [9]})], operation="delete")
    table = _registered(session, "changed_nothing", own.folder)
    [finding] = found(table, "delete-dangling", deep=True)
    assert "that commit changed no row" in finding.what
    [statement] = statements(finding.remedy)
    session.sql(statement)
    assert _ids(session, table) == [1, 2]
    assert not found(table, "delete-dangling", deep=True)


def test_a_property_that_names_a_class_is_taken_away_as_is_printed(session: Any, tmp_path: Path) -> None:
    folder = make_table(tmp_path, 1, **{"write.summary.impl": "org.x.Y"})
    table = _registered(session, "class_property", folder)
    [finding] = found(table, "property-unsafe")
    [statement] = statements(finding.remedy)
    session.sql(statement)
    assert not found(table, "property-unsafe")


def test_a_swapped_metadata_file_has_a_way_back(session: Any, tmp_path: Path) -> None:
    own, other = make_table(tmp_path / "a", 3), make_table(tmp_path / "b", 1)
    log = json.loads(newest_metadata(own).read_text())["metadata-log"]
    theirs = json.loads(newest_metadata(other).read_text())
    newest_metadata(own).write_text(json.dumps({**theirs, "metadata-log": log}))
    table = _registered(session, "swapped", own)
    assert session.table(table).count() == 2  # Spark loads it
    [finding] = found(table, "uuid-changed")
    [statement] = statements(finding.remedy)
    session.sql(statement)
    assert session.table(f"{table}_restored").count() == 4


def test_an_overwritten_file_of_the_log_keeps_nobody_from_reading(session: Any, tmp_path: Path) -> None:
    own, other = make_table(tmp_path / "a", 3), make_table(tmp_path / "b", 1)
    before = json.loads(newest_metadata(own).read_text())["metadata-log"][-1]["metadata-file"].removeprefix("file://")
    shutil.copy(newest_metadata(other), before)
    table = _registered(session, "overwritten", own)
    [finding] = found(table, "uuid-changed")
    assert not statements(finding.remedy)
    session.sql(f"INSERT INTO {table} VALUES (7, 'x')")
    assert session.table(table).count() == 7


def test_a_rewrite_makes_a_wrong_sequence_number_true_for_good(session: Any, tmp_path: Path) -> None:
    own = Table(tmp_path / "t", [(1, "id", "long")])
    own.append(own.parquet("a.parquet", {"id": [1]}))
    own.append(own.parquet("b.parquet", {"id": [2]}))
    own.delta(deletes=[own.equality_delete("d.parquet", {"id": [1]})], operation="delete")
    lists = json.loads(newest_metadata(own.folder).read_text())["snapshots"]

    def later(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
        for record in records:
            record["sequence_number"] = record["min_sequence_number"] = 3
        return records

    edit_avro(Path(lists[-1]["manifest-list"].removeprefix("file://")), later)
    table = _registered(session, "wrong_list", own.folder)
    assert _ids(session, table) == [1, 2]  # the delete is not newer than the data, by this list
    assert "Do not run rewrite_manifests" in found(table, "records-differ")[0].remedy
    session.sql(f"CALL sandbox.system.rewrite_manifests('{table.partition('.')[2]}')")
    assert _ids(session, table) == [1, 2]
    assert not found(table, "records-differ", snapshot="main")  # nothing tells of it any more
