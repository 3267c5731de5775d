"""Format version 4, as Iceberg Java 1.12 writes it by Spark: the same answers as for the same table of version 3 and as
Spark's own metadata tables; and what the printed statements do there."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from explorer.reports.maintenance import preview
from explorer.spark_engine.spark import SparkEngine
from tests.support import direct
from tests.support.report_tables import spark_namespace

TABLE = """CREATE TABLE {name} (id bigint, name string, ts timestamp, price decimal(9, 2)) USING iceberg
{partitioned} LOCATION '{place}' TBLPROPERTIES ('format-version'='{version}', 'write.delete.mode'='merge-on-read')"""
OPTIONS = {
    "compact": {"rewrite-all": "true"}, "rewrite-manifests": {},
    "expire": {"older_than": "2100-01-01 00:00:00", "retain_last": "1"},
}  # fmt: skip
LAYOUTS = {"partitioned": "PARTITIONED BY (days(ts), bucket(4, id), truncate(1, name))", "unpartitioned": ""}


@pytest.fixture(scope="module")
def namespace(engine: SparkEngine) -> Iterator[Any]:
    if engine.session().version < "4.1":
        pytest.skip("Iceberg for older Spark knows no version 4")
    with spark_namespace(engine, "sandbox.version_4") as session:
        yield session


def build(session: Any, name: str, place: Path, version: int, layout: str) -> str:
    full = f"sandbox.version_4.{name}"
    session.sql(TABLE.format(name=full, place=f"file:{place}", version=version, partitioned=LAYOUTS[layout]))
    for day in (1, 2, 3):
        rows = ", ".join(f"({day * 10 + n}, 'n{n}', timestamp'2024-01-0{day} 0{n}:00:00', {n}.50)" for n in range(4))
        session.sql(f"INSERT INTO {full} VALUES {rows}")
    session.sql(f"DELETE FROM {full} WHERE id IN (11, 22)")
    session.sql(f"INSERT INTO {full} VALUES (99, NULL, NULL, NULL)")
    return full


@pytest.fixture(params=LAYOUTS)
def twins(request: pytest.FixtureRequest, namespace: Any, tmp_path: Path) -> Iterator[tuple[Any, str, Path, Path]]:
    made = [build(namespace, f"t{version}", tmp_path / f"v{version}", version, request.param) for version in (3, 4)]
    yield namespace, made[1], tmp_path / "v3", tmp_path / "v4"
    for name in made:
        namespace.sql(f"DROP TABLE IF EXISTS {name} PURGE")


def shape(place: Path) -> list[tuple[Any, ...]]:
    """Of each entry, what is the same in a table that was built alike."""
    table = direct.open_table(str(place))
    names = ["logical_status", "sequence_number", "file_sequence_number", "first_row_id", "record_count", "content"]
    names += ["spec_id", "partition"]
    entries = table.entries().to_arrow()
    assert not table.problems
    return sorted((tuple(row[name] for name in names) for row in entries.select(names).to_pylist()), key=repr)


def test_answers_equal_those_of_version_3_and_of_spark(twins: tuple[Any, str, Path, Path]) -> None:
    session, name, third, fourth = twins
    assert list((fourth / "metadata").glob("*.parquet"))
    assert shape(third) == shape(fourth)
    one, other = direct.open_table(str(third)), direct.open_table(str(fourth))
    said = [[(c.manifest, c.snapshot, c.state, c.reason) for c in table.lifecycle()] for table in (one, other)]
    assert said[0] == said[1]
    for where in ("id = 11", "ts >= '2024-01-02' AND ts < '2024-01-03'", "name IS NULL"):
        counts = [
            [(s.name, s.left.manifests, s.left.files, s.left.rows) for s in table.plan(where).stages]
            for table in (one, other)
        ]
        assert counts[0] == counts[1]
    columns = ["file_path", "record_count", "file_size_in_bytes"]
    files = {tuple(row) for row in session.table(f"{name}.files").select(*columns).collect()}
    assert {tuple(row.values()) for row in other.files().to_arrow().select(columns).to_pylist()} == files
    assert direct.live_rows(other).rows == session.table(name).count()
    assert not direct.doctor(other, deep=True).findings
    assert sorted(row["id"] for row in other.rows()) == sorted(row.id for row in session.table(name).collect())


def test_spark_decodes_parquet_manifests_too(twins: tuple[Any, str, Path, Path]) -> None:
    *_, fourth = twins
    table = direct.open_table(str(fourth))
    here, there = (table.entries(engine=engine).to_arrow().to_pylist() for engine in ("local", "spark"))  # type: ignore[arg-type]
    assert sorted(here, key=repr) == sorted(there, key=repr)


@pytest.mark.parametrize("operation", OPTIONS)
def test_what_is_printed_for_version_4_runs(operation: str, twins: tuple[Any, str, Path, Path]) -> None:
    session, name, *_ = twins
    table = direct.open_table(name)
    statement = preview(table, operation, options=OPTIONS.get(operation, {})).call
    assert statement.startswith("CALL sandbox.system."), statement
    before = session.table(name).count()
    session.sql(statement).collect()
    session.sql(f"REFRESH TABLE {name}")
    assert session.table(name).count() == before
    after = direct.open_table(name)
    assert after.metadata.metadata_location != table.metadata.metadata_location
    assert not after.problems
    assert direct.live_rows(after).rows == before
