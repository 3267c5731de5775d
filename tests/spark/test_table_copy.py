"""The statement that a copy's check prints, and what Iceberg's procedure makes of the table."""

from __future__ import annotations

import csv
import shutil
from pathlib import Path

import pytest

import explorer
from explorer.spark_engine.spark import SparkEngine

PLACE = "copied.t"


@pytest.fixture
def table(engine: SparkEngine) -> str:
    spark = engine.session()
    spark.sql("CREATE NAMESPACE IF NOT EXISTS sandbox.copied")
    spark.sql(f"DROP TABLE IF EXISTS sandbox.{PLACE} PURGE")
    properties = "'write.delete.mode' = 'merge-on-read', 'format-version' = '2'"
    spark.sql(
        f"CREATE TABLE sandbox.{PLACE} (id INT, part STRING) USING iceberg PARTITIONED BY (part) "
        f"TBLPROPERTIES ({properties})"
    )
    spark.sql(f"INSERT INTO sandbox.{PLACE} VALUES (1, 'a'), (2, 'a'), (3, 'b')")
    spark.sql(f"DELETE FROM sandbox.{PLACE} WHERE id = 1")
    spark.sql(f"INSERT INTO sandbox.{PLACE} VALUES (4, 'c')")
    return PLACE


def test_the_statement_makes_a_copy_that_stands_alone(engine: SparkEngine, table: str, tmp_path: Path) -> None:
    opened = explorer.open_table(table)
    source = opened.metadata.location.removeprefix("file:")
    target = tmp_path / "backup" / "t"
    shutil.copytree(source, target)
    first = opened.check.copy(str(target), check_files=True).value
    assert first.is_whole
    assert not first.stands_alone
    [row] = engine.session().sql(first.statement).collect()
    for path in target.rglob("*"):
        if path.is_file() and path.parent.name == "metadata":
            path.unlink()
    listed = Path(row["file_list_location"].removeprefix("file:"))
    parts = [listed] if listed.is_file() else sorted(listed.glob("part-*.csv"))
    for part in parts:
        for staged, final in csv.reader(part.read_text().splitlines()):
            place = Path(final.removeprefix("file:"))
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(staged.removeprefix("file:"), place)
    copy = opened.check.copy(str(target), check_files=True).value
    assert copy.is_whole, copy.words
    assert copy.stands_alone, copy.words
    assert copy.leads_to == ""
    metadata = explorer.open_table(str(target)).metadata.metadata_location
    engine.session().sql("DROP TABLE IF EXISTS sandbox.copied.back")
    engine.session().sql(
        f"CALL sandbox.system.register_table(table => 'copied.back', metadata_file => 'file:{metadata}')"
    )
    shutil.rmtree(source)
    rows = engine.session().sql("SELECT * FROM sandbox.copied.back ORDER BY id").collect()
    assert [tuple(one) for one in rows] == [(2, "a"), (3, "b"), (4, "c")]
    assert explorer.open_table(str(target)).check.copy(str(target), check_files=True).value.absent == 0
