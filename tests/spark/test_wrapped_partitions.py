"""Partition values that have no place in 32 or 64 bits, asked of Spark (tests/unit/test_wrapped_partitions.py has our
answers)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pyiceberg.table import StaticTable

from explorer.spark_engine.spark import SparkEngine
from tests.cases.wrapped import LONG, OPERATORS, TABLES, with_wrapped
from tests.statements.printed import statements
from tests.support import direct


@pytest.fixture
def registered(engine: SparkEngine, tmp_path: Path) -> Iterator[Callable[[str], str]]:
    """What writes one of TABLES and registers it with Spark."""
    session, names = engine.session(), []
    session.sql("CREATE NAMESPACE IF NOT EXISTS sandbox.wrapped")

    def register(name: str) -> str:
        location = direct.open_table(with_wrapped(tmp_path / name, name).folder).metadata.metadata_location
        session.sql(f"CALL sandbox.system.register_table('wrapped.{name}', '{location}')")
        names.append(name)
        return f"sandbox.wrapped.{name}"

    yield register
    for name in names:
        session.sql(f"DROP TABLE sandbox.wrapped.{name}")
    session.sql("DROP NAMESPACE sandbox.wrapped")


@pytest.mark.parametrize("name", TABLES)
def test_spark_writes_what_wrapped_round(engine: SparkEngine, name: str) -> None:
    session, (kind, transform, files, _) = engine.session(), TABLES[name]
    session.sql("CREATE NAMESPACE IF NOT EXISTS sandbox.wraps")
    column, width = {"long": "bigint"}.get(kind, kind), transform[9:-1]
    session.sql(f"CREATE TABLE sandbox.wraps.t (a {column}) USING iceberg PARTITIONED BY (truncate({width}, a))")
    session.sql(f"INSERT INTO sandbox.wraps.t VALUES {', '.join(f'({value})' for value, _ in files)}")
    written = {row[0] for row in session.sql("SELECT partition.a_trunc FROM sandbox.wraps.t.files").collect()}
    session.sql("DROP TABLE sandbox.wraps.t")
    session.sql("DROP NAMESPACE sandbox.wraps")
    assert written == {partition for _, partition in files}


@pytest.mark.parametrize("name", TABLES)
def test_spark_returns_what_fate_says(engine: SparkEngine, name: str, registered: Callable[[str], str]) -> None:
    session, full, (_, _, files, asked) = engine.session(), registered(name), TABLES[name]
    opened = direct.open_table(full)
    for value in asked:
        for where in (operator.format(value) for operator in OPERATORS):
            (standing,) = opened.row_history(where).by_snapshot.values()
            rows = session.sql(f"SELECT * FROM {full} WHERE {where}").count()
            assert rows == len(standing.visible) - len(standing.skipped), where
            assert rows <= opened.plan(where).left.files, where
    (finding,) = [f for f in direct.doctor(full, deep=True).findings if f.rule == "partition-value"]
    before = session.table(full).collect()
    for statement in statements(finding.remedy):
        session.sql(statement)
    assert not [f for f in direct.doctor(full, deep=True, snapshot="main").findings if f.rule == "partition-value"]
    assert sorted(before) == sorted(session.table(full).collect())
    assert session.sql(f"SELECT * FROM {full} WHERE a < 0").count() == sum(value < 0 for value, _ in files)


def test_a_delete_of_other_rows_takes_them(engine: SparkEngine, registered: Callable[[str], str]) -> None:
    session, full = engine.session(), registered("long")
    session.sql(f"DELETE FROM {full} WHERE a > 100")
    assert [row.a for row in session.table(full).collect()] == [5]


def test_pyiceberg_looks_for_what_nobody_wrote(tmp_path: Path) -> None:
    table = with_wrapped(tmp_path / "t", "long")
    opened = StaticTable.from_metadata(str(table.folder / "metadata" / table.last))
    for where in (f"a = {LONG}", f"a <= {LONG}", f"a in ({LONG}, 5)", "a < 0"):
        plan = direct.open_table(table.folder).plan(where)
        files = {o.difference.rule: o.files for o in plan.other_readers}.get("wraps-round", plan.left.files)
        assert len(list(opened.scan(where).plan_files())) == files, where


def test_spark_finds_an_hour_that_wrapped_round(engine: SparkEngine) -> None:
    session = engine.session()
    session.sql("CREATE NAMESPACE IF NOT EXISTS sandbox.wraps")
    session.sql("CREATE TABLE sandbox.wraps.h (ts TIMESTAMP_NTZ) USING iceberg PARTITIONED BY (hours(ts))")
    far = "TIMESTAMP_NTZ '+250000-01-01 00:00:00'"
    session.sql(f"INSERT INTO sandbox.wraps.h VALUES ({far}), (TIMESTAMP_NTZ '2020-01-01 00:00:00')")
    table = direct.open_table("sandbox.wraps.h")
    micros = 7_827_070_780_800_000_000
    for sign, rows in (("=", 1), (">", 0), (">=", 1), ("<", 0), ("<=", 1)):
        assert session.sql(f"SELECT 1 FROM sandbox.wraps.h WHERE ts {sign} {far}").count() == rows, sign
        (standing,) = table.row_history(f"ts {sign} {micros}").by_snapshot.values()
        assert len(standing.visible) - len(standing.skipped) == rows, sign
    session.sql("DROP TABLE sandbox.wraps.h")
    session.sql("DROP NAMESPACE sandbox.wraps")
