"""Types in which Parquet files store columns, as Spark reads them: what spec/schemas/stored_types.py says of each is
so; and the remedies of what Spark misreads or fails on, run as they are printed."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from py4j.protocol import Py4JJavaError
from pyiceberg.table import StaticTable
from pyspark.errors import PySparkException

from explorer.spark_engine.spark import SparkEngine
from explorer.spec.doctor.findings import Finding
from explorer.spec.schemas.stored_types import type_difference
from explorer.storage.formats.parquet import read_footer
from explorer.storage.paths import local_path
from explorer.storage.storage import Storage
from tests.cases.mini import Table
from tests.spark.planner_oracle import Iceberg
from tests.spark.row_group_oracle import Judge
from tests.statements.printed import statements
from tests.support import direct
from tests.support.other_types import BY_SOME, COMMON, DAYS, FAILS, MISREAD, RIGHT, Stored, write_table

FAILED = (PySparkException, Py4JJavaError, OverflowError, ValueError)
SET = re.compile(r"SET [\w.]+=\w+")


SPACE = "sandbox.stored"


def register(spark: Any, table: Table, name: str) -> str:
    spark.sql(f"CALL sandbox.system.register_table('stored.{name}', 'file://{table.folder}/metadata/{table.last}')")
    return f"sandbox.stored.{name}"


def values(spark: Any, table: Table, vectorized: bool) -> list[Any] | None:
    """What Spark shows of the column x, in the order of ids; None where it fails."""
    spark.conf.set("spark.sql.iceberg.vectorization.enabled", str(vectorized).lower())
    try:
        frame = spark.read.format("iceberg").load(str(table.folder / "metadata" / table.last))
        return [row.x for row in sorted(frame.collect(), key=lambda row: row.id)]
    except FAILED:
        return None
    finally:
        spark.conf.unset("spark.sql.iceberg.vectorization.enabled")


def of_rows(folder: Path) -> list[Any]:
    """What we read of the column x."""
    table = direct.open_table(str(folder))
    return [row["x"] for row in table.row_history("", engine="local").rows.values()]


@pytest.mark.parametrize("stored", [*RIGHT, *BY_SOME, *COMMON, *MISREAD, *FAILS], ids=str)
def test_what_is_said_of_a_type_is_so(stored: Stored, spark: Any, tmp_path: Path) -> None:
    shown, by_rows = {}, []
    for dictionary in (True, False):
        table = write_table(tmp_path / str(dictionary), stored, dictionary)
        shown[dictionary] = values(spark, table, True)
        by_rows.append(values(spark, table, False))
    footer = read_footer(Storage([str(tmp_path)]), str(tmp_path / "True" / "data" / "a.parquet"))
    difference = type_difference(footer["columns"][1], stored.kind)
    if stored in FAILS:
        assert difference is not None
        assert difference.fails
        assert None in shown.values()
    elif stored in MISREAD:
        assert difference is not None
        assert difference.misread
        assert shown[True] != of_rows(tmp_path / "True")
    else:
        assert difference is None or not (difference.fails or difference.misread)
        assert shown[True] == shown[False]
        assert None not in shown.values()
    if difference is not None and (difference.fails or difference.misread):
        assert difference.mended_by_rows == (None not in by_rows and "nanos" not in stored.name)


@pytest.mark.parametrize("dictionary", [True, False])
@pytest.mark.parametrize("stored", MISREAD[:3], ids=str)
def test_row_groups_are_those_that_java_reads(stored: Stored, dictionary: bool, spark: Any, tmp_path: Path) -> None:
    """Spark loses the rows; pyiceberg and we read what is stored."""
    table = write_table(tmp_path / "t", stored, dictionary)
    name = register(spark, table, f"groups_{MISREAD.index(stored)}_{dictionary}".lower())
    own = direct.open_table(str(table.folder))
    [verdict] = own.row_groups(own.plan("x = '2020-01-01'"))
    assert not verdict.keeps
    literal = "timestamp" if stored.kind == "timestamptz" else "timestamp_ntz"
    assert spark.table(name).where(f"x = {literal}'2020-01-01'").count() == 0
    current = own.metadata.current_snapshot
    assert current is not None
    said = "\n".join(own.row_history("x = '2020-01-01'").explain(current))
    assert "Spark does not return 1 of them" in said
    assert "microseconds" in said
    if stored.name == "millis":
        read = StaticTable.from_metadata(str(table.folder / "metadata" / table.last)).scan().to_arrow()["x"].to_pylist()
        assert [day.replace(tzinfo=None) for day in read] == DAYS


TIMES = ("x = '2020-01-01'", "x > '1990-01-01'", "x < '2021-01-01'", "x > '1970-01-02'", "x = '1970-01-19 06:17:16.8'",
         "x IN ('2020-01-01', '2020-01-05')", "x < '1960-01-01'", "x != '2020-01-01'")  # fmt: skip


AS_TIMES = [*((stored, False) for stored in (*RIGHT[:4], *MISREAD[:3])),
            *((stored, True) for stored in (*RIGHT[2:4], *MISREAD[:3]))]  # fmt: skip
"""With or without bloom filters, which pyarrow does not write of INT96."""


@pytest.mark.parametrize("dictionary", [True, False])
@pytest.mark.parametrize(("stored", "bloom"), AS_TIMES, ids=str)
def test_each_test_of_row_groups_is_icebergs(
    stored: Stored, dictionary: bool, bloom: bool, engine: SparkEngine, tmp_path: Path
) -> None:
    options = {**stored.options, "bloom_filter_options": {"x": {"ndv": 8, "fpp": 0.01}}} if bloom else stored.options
    stored = replace(stored, options=options)
    table = write_table(tmp_path / "t", stored, dictionary)
    judge = Judge.open(Iceberg(engine), table.folder / "data" / "a.parquet", table.md["schemas"][0])
    own = direct.open_table(str(table.folder))
    for where in TIMES:
        plan = own.plan(where)
        [verdict] = own.row_groups(plan)
        [theirs] = judge.verdicts(plan.scan.bound)
        for test, said in verdict.tests:
            assert said.keeps == theirs[test], (where, test, said)
    judge.reader.close()


def run(spark: Any, remedy: str) -> None:
    """Execute what a remedy prints, in its order."""
    printed = sorted([*SET.findall(remedy), *statements(remedy)], key=remedy.index)
    assert printed
    for statement in printed:
        spark.sql(statement)


def finding_of(name: str, rule: str, **options: Any) -> Finding | None:
    findings = direct.doctor(name, deep=True, snapshot="main", **options).findings
    return next((f for f in findings if f.rule == rule and f.severity == "error"), None)


@pytest.mark.parametrize("stored", [s for s in (*MISREAD, *FAILS) if "nanos" not in s.name], ids=str)
def test_the_remedy_writes_the_values_that_are_stored(stored: Stored, spark: Any, tmp_path: Path) -> None:
    """Where there is one."""
    table = write_table(tmp_path / "t", stored)
    name = register(spark, table, f"mended_{[*MISREAD, *FAILS].index(stored)}")
    sick = finding_of(name, "column-type")
    assert sick is not None
    if not statements(sick.remedy):
        assert "No procedure mends it" in sick.remedy
        return
    before = values(spark, table, False)
    run(spark, sick.remedy)
    spark.sql(f"ALTER TABLE {name} UNSET TBLPROPERTIES ('read.parquet.vectorization.enabled')")
    assert [row.x for row in spark.table(name).orderBy("id").collect()] == before
    assert finding_of(name, "column-type") is None


@pytest.mark.parametrize("nested", [False, True])
def test_a_required_column_that_a_file_lacks(nested: bool, spark: Any, tmp_path: Path) -> None:
    year = {"id": 15, "name": "year", "required": True, "type": "int"}
    detail = {"id": 14, "name": "detail", "required": False, "type": "string"}
    struct = {"type": "struct", "fields": [detail, year]}
    table = Table(tmp_path / "t", [(1, "id", "long"), (4, "school", struct) if nested else (15, "year", "int", True)])
    table.md["last-column-id"] = 15
    fields = [pa.field("id", pa.int64(), metadata={"PARQUET:field_id": "1"})]
    kind = pa.struct([pa.field("detail", pa.string(), metadata={"PARQUET:field_id": "14"})])
    fields += [pa.field("school", kind, metadata={"PARQUET:field_id": "4"})] if nested else []
    rows = [pa.array([1]), pa.array([{"detail": "d"}], kind)][: len(fields)]
    table.append(table.parquet("a.parquet", pa.table(rows, schema=pa.schema(fields)), ids=False))
    name = register(spark, table, f"lacks_{nested}".lower())
    with pytest.raises((PySparkException, Py4JJavaError), match="Missing required field: year"):
        spark.table(name).collect()
    assert spark.table(name).select("id").count() == 1
    sick = finding_of(name, "required-absent")
    assert sick is not None
    assert sick.columns == ("school.year" if nested else "year",)
    spark.sql(statements(sick.remedy)[0])
    [row] = spark.table(name).collect()
    assert (row.school.year if nested else row.year) is None
    assert finding_of(name, "required-absent") is None


@pytest.mark.parametrize("mode", ["static", "dynamic"])
def test_rows_are_not_doubled_where_overwrites_are_dynamic(mode: str, spark: Any, tmp_path: Path) -> None:
    """ClickHouse#119534 and trinodb/trino#18580: partition values that are not the transform of the data."""
    table = Table(tmp_path / "t", [(1, "id", "long"), (2, "x", "int")], [(2, 1000, "p", "truncate[10]")])
    first = table.parquet("a.parquet", {"id": [1, 2], "x": [-1, -15]}, partition={"p": -6})
    table.append(first, table.parquet("b.parquet", {"id": [3], "x": [15]}, partition={"p": None}))
    name = register(spark, table, f"overwritten_{mode}")
    spark.conf.set("spark.sql.sources.partitionOverwriteMode", mode)
    try:
        sick = finding_of(name, "partition-value")
        assert sick is not None
        run(spark, sick.remedy)
    finally:
        spark.conf.unset("spark.sql.sources.partitionOverwriteMode")
    assert [(row.id, row.x) for row in spark.table(name).orderBy("id").collect()] == [(1, -1), (2, -15), (3, 15)]
    assert spark.table(name).where("x = -1").count() == 1
    assert finding_of(name, "partition-value") is None


def test_add_files_of_milliseconds(spark: Any) -> None:
    """apache/iceberg#18173, as Spark does it: files without field ids, and a name mapping."""
    spark.sql("CREATE TABLE sandbox.stored.added (id BIGINT, x TIMESTAMP) USING iceberg")
    place = Path(str(local_path(direct.open_table("sandbox.stored.added").metadata.location))) / "data"
    place.mkdir(exist_ok=True)
    rows = {"id": pa.array([1, 2]), "x": pa.array(DAYS, pa.timestamp("ms", "UTC"))}
    pq.write_table(pa.table(rows), place / "a.parquet")
    spark.sql(f"CALL sandbox.system.add_files(table => 'stored.added', source_table => '`parquet`.`{place}`')")
    name = "sandbox.stored.added"
    assert {row.x.year for row in spark.table(name).collect()} == {1970}
    assert spark.table(name).where("x > timestamp'1990-01-01'").count() == 0
    table = direct.open_table(name)  # its bounds are wrong too, so that the file is skipped before its row groups
    assert table.plan("x > '1990-01-01'").left.files == 0
    current = table.metadata.current_snapshot
    assert current is not None
    assert "Spark does not return 2 of them" in "\n".join(table.row_history("x > '1990-01-01'").explain(current))
    bounds = finding_of(name, "metrics-wrong")
    assert bounds is not None
    assert bounds.remedy.startswith("First mend column-type")
    sick = finding_of(name, "column-type")
    assert sick is not None
    run(spark, sick.remedy)
    assert [row.x for row in spark.table(name).orderBy("id").collect()] == [datetime(2020, 1, 1), datetime(2020, 1, 2)]
    assert spark.table(name).where("x > timestamp'1990-01-01'").count() == 2
