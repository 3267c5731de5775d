"""What the doctor prints for rows that a compaction lost, and for version 1 without its old fields, run as printed
(tests/unit/test_lost_rows.py has our answers)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyiceberg.table import StaticTable

from explorer.spark_engine.spark import SparkEngine
from tests.cases.mini import Table
from tests.statements.printed import statements
from tests.support import direct
from tests.support.small_tables import edit_metadata, newest_metadata
from tests.unit.test_lost_rows import FIELDS, compacted

NAME = "sandbox.lost.t"


@pytest.fixture
def session(engine: SparkEngine) -> Iterator[Any]:
    spark = engine.session()
    spark.sql("CREATE NAMESPACE IF NOT EXISTS sandbox.lost")
    yield spark
    spark.sql(f"DROP TABLE IF EXISTS {NAME}")
    spark.sql("DROP NAMESPACE sandbox.lost")


def registered(session: Any, folder: Path) -> str:
    session.sql(f"CALL sandbox.system.register_table('lost.t', 'file:{newest_metadata(folder)}')")
    return NAME


def test_rows_that_a_compaction_lost_come_back(session: Any, tmp_path: Path) -> None:
    name = registered(session, compacted(tmp_path / "t", 7).folder)
    assert session.table(name).count() == 7
    [lost] = [f for f in direct.doctor(name).findings if f.rule == "operation-contradicts"]
    for statement in statements(lost.remedy):
        session.sql(statement)
    assert session.table(name).count() == 10
    assert not [f for f in direct.doctor(name, snapshot="main").findings if f.rule == "operation-contradicts"]


def test_a_commit_writes_old_fields_of_version_1_again(session: Any, tmp_path: Path) -> None:
    table = Table(tmp_path / "t", FIELDS, version=1)
    table.append(table.parquet("a.parquet", {"id": [1], "p": ["x"]}))
    edit_metadata(folder := Path(table.folder), lambda d: [d.pop("schema", None), d.pop("partition-spec", None)])
    with pytest.raises(Exception, match="schema"):
        StaticTable.from_metadata(str(newest_metadata(folder)))
    name = registered(session, folder)
    fields = [f for f in direct.doctor(name).findings if f.rule == "metadata-field"]
    assert len(fields) == 2
    for statement in statements(fields[0].remedy):
        session.sql(statement)
    opened = direct.open_table(name).metadata
    assert StaticTable.from_metadata(opened.metadata_location).scan().to_arrow().num_rows == 1
    assert not [f for f in direct.doctor(name).findings if f.rule == "metadata-field"]
    assert "written-again" not in opened.properties


def test_a_removed_field_is_read_by_spark(session: Any, tmp_path: Path) -> None:
    table = Table(tmp_path / "t", FIELDS, [(1, 1000, "gone", "void")], version=1)
    table.append(table.parquet("a.parquet", {"id": [1], "p": ["x"]}))

    def add_old_fields(data: dict[str, Any]) -> None:
        data["schema"], data["partition-spec"] = data["schemas"][0], data["partition-specs"][0]["fields"]

    edit_metadata(folder := Path(table.folder), add_old_fields)
    assert session.table(registered(session, folder)).count() == 1
    assert StaticTable.from_metadata(str(newest_metadata(folder))).scan().to_arrow().num_rows == 1
