"""docs/readers.md: what Iceberg Java on Spark and pyiceberg make of the places where readers differ."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from py4j.protocol import Py4JJavaError
from pyiceberg.table import StaticTable
from pyspark.errors import PySparkException

from explorer.spark_engine.spark import SparkEngine
from explorer.spec.scan.plan import PLANNERS
from tests.cases.mini import Table
from tests.support import direct

PATHS = 2147483546
FIELDS = [(1, "id", "long"), (2, "p", "string")]
BY_P = [(2, 1000, "p", "identity")]


class Readers:
    """Iceberg Java on Spark and pyiceberg, asked for the same table."""

    def __init__(self, spark: Any) -> None:
        self.spark, self.names = spark, []

    def register(self, table: Table) -> str:
        name = f"readers.t{len(self.names)}"
        self.names.append(name)
        metadata = table.folder / "metadata" / table.last
        self.spark.sql(f"CALL sandbox.system.register_table('{name}', 'file://{metadata}')")
        return f"sandbox.{name}"

    def java(self, table: Table, where: str = "true") -> list[int]:
        return sorted(row.id for row in self.spark.table(self.register(table)).where(where).collect())

    @staticmethod
    def pyiceberg(table: Table) -> list[int]:
        opened = StaticTable.from_metadata(str(table.folder / "metadata" / table.last))
        return sorted(opened.scan().to_arrow()["id"].to_pylist())

    @staticmethod
    def ours(table: Table) -> list[int]:
        opened = direct.open_table(str(table.folder))
        current = opened.metadata.current_snapshot
        assert current is not None
        fate = opened.row_history("")
        return sorted(fate.rows[place.row_key]["id"] for place in fate.by_snapshot[current.snapshot_id].visible)


@pytest.fixture(scope="module")
def readers(engine: SparkEngine) -> Iterator[Readers]:
    asked = Readers(engine.session())
    asked.spark.sql("CREATE NAMESPACE IF NOT EXISTS sandbox.readers")
    yield asked
    for name in asked.names:
        asked.spark.sql(f"DROP TABLE sandbox.{name}")
    asked.spark.sql("DROP NAMESPACE sandbox.readers")


def two_partitions(folder: Path) -> tuple[Table, dict[str, Any], dict[str, Any]]:
    table = Table(folder, FIELDS, BY_P)
    first = table.parquet("a.parquet", {"id": [1, 2], "p": ["x", "x"]}, partition={"p": "x"})
    second = table.parquet("b.parquet", {"id": [3], "p": ["y"]}, partition={"p": "y"})
    table.append(first, second)
    return table, first, second


@pytest.mark.parametrize("named_by", ["bounds", "referenced_data_file"])
def test_a_delete_that_names_a_file_of_another_partition(readers: Readers, tmp_path: Path, named_by: str) -> None:
    table, first, _ = two_partitions(tmp_path)
    more = {"referenced_data_file": first["file_path"]} if named_by != "bounds" else {}
    table.delta(deletes=[table.position_delete("d.parquet", [(first["file_path"], 0)], partition={"p": "y"}, **more)])
    with pytest.raises((PySparkException, Py4JJavaError), match="Mismatched partition tuples"):
        readers.java(table)
    assert readers.pyiceberg(table) == readers.ours(table) == [2, 3]
    opened = direct.open_table(str(tmp_path))
    counted = direct.live_rows(opened)
    assert (counted.rows, counted.refused, opened.plan("").refused, opened.deletes().refused) == (2, 1, 1, 1)
    assert not opened.deletes().dangling


@pytest.mark.parametrize("partition", [None, "cold"])
def test_iceberg_java_takes_identity_columns_from_the_partition(
    readers: Readers, tmp_path: Path, partition: str | None
) -> None:
    table = Table(tmp_path, FIELDS, BY_P)
    table.append(table.parquet("a.parquet", {"id": [1], "p": ["hot"]}, partition={"p": partition}))
    assert [row.p for row in readers.spark.table(readers.register(table)).collect()] == [partition]
    by_pyiceberg = StaticTable.from_metadata(str(table.folder / "metadata" / table.last)).scan().to_arrow()
    assert by_pyiceberg["p"].to_pylist() == ["hot"]
    opened = direct.open_table(str(tmp_path))
    (row,) = opened.row_history("id = 1").rows.values()
    assert row["p"] == "hot"
    said = "\n".join(opened.row_history("id = 1").explain(opened.metadata.snapshots[-1]))
    assert f"Iceberg Java shows p = {(partition and repr(partition)) or 'null'} in every row" in said


def test_a_delete_of_several_files_does_not_reach_another_partition(readers: Readers, tmp_path: Path) -> None:
    table, first, second = two_partitions(tmp_path)
    rows = [(first["file_path"], 0), (second["file_path"], 0)]
    table.delta(deletes=[table.position_delete("d.parquet", rows, partition={"p": "y"})])
    assert readers.java(table) == readers.ours(table) == [1, 2]
    assert readers.pyiceberg(table) == [2]
    opened = direct.open_table(str(tmp_path))
    said = "\n".join(opened.row_history("id = 1").explain(opened.metadata.snapshots[-1]))
    assert "holds its position, but does not apply: the delete is in partition p=y, the data file in p=x" in said


def test_unequal_path_bounds_keep_no_reader_from_a_delete(readers: Readers, tmp_path: Path) -> None:
    table = Table(tmp_path, FIELDS)
    files = [table.parquet(f"{n}.parquet", {"id": [i * 10, i * 10 + 1], "p": ["x", "x"]}) for i, n in enumerate("abc")]
    table.append(*files)
    delete = table.position_delete("d.parquet", [(files[2]["file_path"], 0)])
    delete["lower_bounds"], delete["upper_bounds"] = ({PATHS: f["file_path"].encode()} for f in files[:2])
    table.delta(deletes=[delete])
    assert readers.java(table) == readers.pyiceberg(table) == readers.ours(table) == [0, 1, 10, 11, 21]


def test_a_referenced_data_file_limits_a_delete(readers: Readers, tmp_path: Path) -> None:
    table = Table(tmp_path, FIELDS)
    files = [table.parquet(f"{n}.parquet", {"id": [i * 10, i * 10 + 1], "p": ["x", "x"]}) for i, n in enumerate("ab")]
    table.append(*files)
    rows = [(file["file_path"], 0) for file in files]
    referenced = {"referenced_data_file": files[1]["file_path"]}
    table.delta(deletes=[table.position_delete("d.parquet", rows, **referenced)])
    assert readers.java(table) == readers.ours(table) == [0, 1, 11]
    assert readers.pyiceberg(table) == [1, 11]


def planned(table: Table, where: str) -> tuple[direct.Table, dict[str, int], dict[str, int]]:
    """What planners say, and what we say that other readers would read, by rule."""
    opened = direct.open_table(str(table.folder))
    plan = opened.plan(where)
    files = {
        name: answer.files for name, answer in opened.ask_planners(plan).items() if not isinstance(answer, Exception)
    }
    assert files[PLANNERS[0]] == plan.left.files, where
    return opened, files, {o.difference.rule: o.files for o in plan.other_readers}


@pytest.mark.parametrize("order", ["spec", "java"])
def test_the_order_of_uuids(readers: Readers, tmp_path: Path, order: str) -> None:
    table = Table(tmp_path, [(1, "id", "long"), (2, "u", "uuid")])
    values = [uuid.UUID(digit * 32).bytes for digit in "29f"]
    file = table.parquet("a.parquet", {"id": [1, 2, 3], "u": values})
    if order == "java":
        file["lower_bounds"][2], file["upper_bounds"][2] = values[1], values[0]
    table.append(file)
    where = f"u = '{uuid.UUID(bytes=values[1])}'"
    opened, files, others = planned(table, where)
    assert (files[PLANNERS[0]], files[PLANNERS[1]]) == ((1, 0) if order == "java" else (0, 1))
    assert others == {"uuid-order": files[PLANNERS[1]]}
    assert readers.java(table, where) == []
    said = "\n".join(opened.row_history(where).explain(opened.metadata.snapshots[-1]))
    assert "orders UUIDs as signed numbers" in said
    assert "⚠ Spark does not return 1 of them" in said


def test_times_before_1970(readers: Readers, tmp_path: Path) -> None:
    table = Table(tmp_path, [(1, "id", "long"), (2, "ts", "timestamp")], [(2, 1000, "ts_day", "day")])
    rows = {"id": [1], "ts": [datetime(1969, 12, 31, 10)]}
    table.append(table.parquet("a.parquet", rows, partition={"ts_day": 0}))  # as Iceberg 0.10 wrote it: -1 is right
    where = "ts < '1970-01-01 00:00:00'"
    _, files, others = planned(table, where)
    assert (files[PLANNERS[0]], files[PLANNERS[1]], others) == (1, 0, {"times-before-1970": 0})
    assert readers.java(table, where) == [1]


def test_a_date_that_became_a_timestamp_and_nan(readers: Readers, tmp_path: Path) -> None:
    from tests.cases import build_case

    promoted = direct.open_table(str(build_case("26", tmp_path)))
    plan = promoted.plan("d > '2020-01-01'")
    assert [(o.difference.rule, o.files, o.more) for o in plan.other_readers] == [("promoted-date", 2, 1)]
    nan = direct.open_table(str(build_case("22", tmp_path)))
    plan = nan.plan("x > 5")
    assert [(o.difference.rule, o.files, o.more) for o in plan.other_readers] == [("nan-order", 3, 2)]
