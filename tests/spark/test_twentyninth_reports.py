"""Remedies of the twenty-ninth reports of trouble with Iceberg tables, run as they are printed."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyiceberg.table import StaticTable

from explorer.spark_engine.spark import SparkEngine
from explorer.spec.doctor.findings import Finding
from tests.statements.printed import statements
from tests.support import direct
from tests.support.other_types import BY_SOME, INT96, Stored, write_table
from tests.support.report_tables import spark_namespace

FAR = [datetime(3332, 12, 14, 11, 33, 10, 965000), datetime(2020, 1, 1)]
BY_SPARK = [Stored("timestamp", "int96", pa.array(FAR, pa.timestamp("us")), INT96), *BY_SOME]


@pytest.fixture(scope="module")
def spark(engine: SparkEngine) -> Iterator[Any]:
    with spark_namespace(engine, "sandbox.twentyninth") as session:
        yield session
    session.sql("DROP NAMESPACE sandbox.twentyninth")


def type_findings(name: str) -> list[Finding]:
    return [f for f in direct.doctor(name, deep=True, snapshot="main").findings if f.rule == "column-type"]


@pytest.mark.parametrize("stored", BY_SPARK, ids=str)
def test_a_rewrite_writes_what_all_readers_take(stored: Stored, spark: Any, tmp_path: Path) -> None:
    """apache/datafusion-comet#3856."""
    table, name = write_table(tmp_path / "t", stored), f"sandbox.twentyninth.{stored.kind}"
    place = f"file://{table.folder}/metadata/{table.last}"
    spark.sql(f"CALL sandbox.system.register_table('twentyninth.{stored.kind}', '{place}')")
    before = [row.x for row in spark.table(name).orderBy("id").collect()]
    [finding] = type_findings(name)
    assert finding.severity == "warning"
    [statement] = statements(finding.remedy)
    spark.sql(statement)
    assert type_findings(name) == []
    assert [row.x for row in spark.table(name).orderBy("id").collect()] == before
    opened = direct.open_table(name).metadata.metadata_location
    shown = StaticTable.from_metadata(opened).scan().to_arrow().sort_by("id")["x"].to_pylist()
    assert shown == before
    assert stored.kind == "date" or shown == FAR
