"""What a twenty-ninth round of public reports led to, held against Spark: sinks, folders and expiry."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from explorer.spark_engine.spark import SparkEngine
from tests.support.report_tables import java_table, spark_namespace
from tests.unit.test_cli import run
from tests.unit.test_twentyninth_sink_reports import sink

SPACE = "sandbox.twentyninth_sinks"


@pytest.fixture
def session(engine: SparkEngine) -> Iterator[Any]:
    with spark_namespace(engine, SPACE) as session:
        yield session


def register(session: Any, name: str, metadata: str) -> None:
    """Make a folder's table a table of the sandbox."""
    session.sql(f"CALL sandbox.system.register_table('{name.removeprefix('sandbox.')}', '{metadata}')")


def test_the_identifier_fields_are_dropped(session: Any, tmp_path: Path) -> None:
    """apache/iceberg#9773: Spark shows what the explorer shows, and runs the statement on this very table."""
    table, name = sink(tmp_path / "t"), f"{SPACE}.events"
    register(
        session, name, str(max(table.folder.glob("metadata/*.metadata.json"), key=lambda one: one.stat().st_mtime))
    )
    assert sorted(row.value for row in session.table(name).collect()) == ["value 1", "value 3"]
    text = run("data", "history", name, "id = 1").output
    [statement] = re.findall("To drop the identifier fields: (ALTER TABLE .*)", text)
    assert name in statement
    session.sql(statement)
    assert not java_table(session, name).schema().identifierFieldIds()
    assert "DROP IDENTIFIER FIELDS" not in run("data", "history", name, "id = 1").output
