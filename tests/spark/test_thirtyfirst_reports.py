"""Remedies of the thirty-first reports of trouble with Iceberg tables, run as they are printed or as the documents
say."""

from __future__ import annotations

import re
import runpy
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from py4j.protocol import Py4JJavaError

from explorer.cli import main
from tests.support import direct
from tests.support.report_tables import found
from tests.support.thirtieth_tables import metadata_file
from tests.support.thirtyfirst_tables import with_numbers_that_went_back

SPACE = "sandbox.thirtyfirst"
PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "broken-tables.md"


def run(*words: str) -> str:
    return CliRunner().invoke(main, list(words)).output


# -- numbers that went back (lakekeeper/lakekeeper#949) ----------------------------------------------------------------
def test_the_program_of_the_documents_raises_the_number(spark: Any, tmp_path: Path, monkeypatch: Any) -> None:
    table = with_numbers_that_went_back(tmp_path / "t")
    broken = metadata_file(table)
    with pytest.raises(Py4JJavaError, match="greater than last sequence number"):
        spark.sql(f"CALL sandbox.system.register_table('thirtyfirst.broken', '{broken}')")
    section = PAGE.read_text().split("greater than last sequence number", 1)[1]
    program = re.search(r"```python\n(.*?)```", section, re.DOTALL)
    assert program
    (tmp_path / "raise.py").write_text(program[1])
    mended = str(broken).replace("00006-", "00007-")
    monkeypatch.setattr(sys, "argv", ["raise.py", *(path.removeprefix("file:") for path in (str(broken), mended))])
    runpy.run_path(str(tmp_path / "raise.py"), run_name="__main__")
    spark.sql(f"CALL sandbox.system.register_table('thirtyfirst.mended', '{mended}')")
    ids = [*range(1, 10), 100, 200, 201]
    assert sorted(row.id for row in spark.table("sandbox.thirtyfirst.mended").collect()) == ids
    spark.sql("INSERT INTO sandbox.thirtyfirst.mended VALUES (300, 'new')")
    assert sorted(row.id for row in spark.table("sandbox.thirtyfirst.mended").collect()) == [*ids, 300]
    assert not [f for f in found("sandbox.thirtyfirst.mended", "sequence-above-last") if "last-sequence" in f.what]


# -- a number beside a column of texts (apache/iceberg#12491) ----------------------------------------------------------
def test_spark_converts_the_column_and_skips_no_file(spark: Any) -> None:
    name = f"{SPACE}.days"
    spark.sql(f"CREATE TABLE {name} (id BIGINT, day STRING) USING iceberg PARTITIONED BY (day)")
    for day in ("20250301", "20250302", "20250303"):
        spark.sql(f"INSERT INTO {name} VALUES (1, '{day}')")
    says = run("plan", name, "day = 20250301", "--sql")
    assert "Spark hands to Iceberg: day IS NOT NULL\nSpark asks every row itself: (CAST(day AS BIGINT)" in says
    assert "all rows match what Spark hands to Iceberg in 3 of 3 files" in says
    assert "the engine still asks all conditions that Spark keeps of the rows of 3 files" in says
    assert spark.table(name).where("day = 20250301").count() == 1


# -- columns that were dropped (apache/iceberg#5591) -------------------------------------------------------------------
def test_time_travel_reads_a_column_that_a_rollback_does_not_bring_back(spark: Any) -> None:
    name = f"{SPACE}.dropped"
    spark.sql(f"CREATE TABLE {name} (id BIGINT, note STRING) USING iceberg")
    spark.sql(f"INSERT INTO {name} VALUES (1, 'x')")
    spark.sql(f"ALTER TABLE {name} DROP COLUMN note")
    spark.sql(f"ALTER TABLE {name} ADD COLUMN c2 STRING")
    spark.sql(f"INSERT INTO {name} VALUES (2, 'y')")
    first = direct.open_table(name).metadata.snapshots[0].snapshot_id
    said = run("refs", "preview", name, "rollback", "-s", "snapshot-1")
    assert (
        f"(note), and a new column of such a name is another one. Readers by its snapshot id (VERSION AS OF {first}"
        in said
    )
    spark.sql(f"CALL sandbox.system.rollback_to_snapshot('thirtyfirst.dropped', {first})")
    spark.sql(f"ALTER TABLE {name} ADD COLUMN note STRING")
    spark.sql(f"ALTER TABLE {name} CREATE TAG old AS OF VERSION {first}")
    assert [tuple(row) for row in spark.table(name).select("id", "c2", "note").collect()] == [(1, None, None)]
    for version in (first, "'old'"):
        assert [tuple(r) for r in spark.sql(f"SELECT * FROM {name} VERSION AS OF {version}").collect()] == [(1, "x")]
