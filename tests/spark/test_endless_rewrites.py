"""A compaction that takes its own files again, and what ends it, asked of Spark."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from explorer.reports.maintenance.runs import preview
from explorer.spark_engine.spark import SparkEngine
from tests.support import direct


@pytest.fixture
def endless(engine: SparkEngine) -> Iterator[str]:
    """A table of eight files of 0.6 of the target each."""
    session = engine.session()
    session.sql("CREATE NAMESPACE IF NOT EXISTS sandbox.endless")
    session.sql("DROP TABLE IF EXISTS sandbox.endless.t")
    session.sql(
        "CREATE TABLE sandbox.endless.t (id BIGINT, pad STRING) USING iceberg TBLPROPERTIES "
        "('write.target-file-size-bytes' = '1000000')"
    )
    pad = ", ".join(["uuid()"] * 32)
    for start in range(0, 8000, 1000):
        rows = session.range(start, start + 1000).selectExpr("id", f"concat({pad}) AS pad")
        rows.coalesce(1).writeTo("sandbox.endless.t").append()
    yield "sandbox.endless.t"
    session.sql("DROP TABLE sandbox.endless.t")
    session.sql("DROP NAMESPACE sandbox.endless")


def test_it_never_ends_and_ends_as_is_said(engine: SparkEngine, endless: str) -> None:
    session = engine.session()
    call = "CALL sandbox.system.rewrite_data_files(table => 'endless.t', options => map({}))"
    for _ in range(2):
        words = preview(direct.open_table(endless), "compact").words
        told = next(int(found[1]) for line in words if (found := re.search(r"would become about (\d+) data", line)))
        (never,) = [line for line in words if line.startswith("It never ends")]
        row = session.sql("CALL sandbox.system.rewrite_data_files(table => 'endless.t')").collect()[0]
        assert (row.rewritten_data_files_count, row.added_data_files_count) == (8, told) == (8, 8)
    size = re.search(r"min-file-size-bytes => (\d+)", never)
    assert size is not None
    row = session.sql(call.format(f"'min-file-size-bytes', '{size[1]}'")).collect()[0]
    assert row.rewritten_data_files_count == 0
    larger = "'target-file-size-bytes', '2000000'"
    options = {"target-file-size-bytes": "2000000"}
    words = preview(direct.open_table(endless), "compact", options=options).words
    assert any("would become about 3 data files" in line for line in words), words
    assert session.sql(call.format(larger)).collect()[0].added_data_files_count == 3
    assert session.sql(call.format(larger)).collect()[0].rewritten_data_files_count == 0
