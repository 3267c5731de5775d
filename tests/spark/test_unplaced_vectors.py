"""Deletion vectors whose entries lack fields, asked of Spark (tests/unit/test_unplaced_vectors.py has our answers)."""

from __future__ import annotations

from pathlib import Path

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException

from explorer.reports.maintenance import runs
from explorer.spark_engine.spark import SparkEngine
from tests.cases.vectors import FIELDS, with_vector
from tests.support import direct

OFFSET, SIZE, NAMED = FIELDS


def fails(engine: SparkEngine, sql: str) -> bool:
    """Whether Spark refuses a statement."""
    try:
        engine.session().sql(sql).collect()
    except (Py4JJavaError, PySparkException):
        return True
    return False


@pytest.mark.parametrize(
    ("missing", "rows"),
    [((), 2), (FIELDS, 3), ((NAMED,), 3), ((OFFSET, SIZE), None), ((SIZE,), None), ((OFFSET,), None)],
)
@pytest.mark.parametrize("version", [2, 3])
def test_spark_reads_and_rewrites_as_is_told(
    engine: SparkEngine, missing: tuple[str, ...], rows: int | None, version: int, tmp_path: Path
) -> None:
    session, table = engine.session(), direct.open_table(with_vector(tmp_path / "t", missing, version))
    session.sql("CREATE NAMESPACE IF NOT EXISTS sandbox.vectors")
    for options in ({"rewrite-all": "true"}, {"rewrite-all": "true", "remove-dangling-deletes": "true"}):
        session.sql("DROP TABLE IF EXISTS sandbox.vectors.t")
        session.sql(f"CALL sandbox.system.register_table('vectors.t', '{table.metadata.metadata_location}')")
        scan = "SELECT * FROM sandbox.vectors.t"
        assert fails(engine, scan) == (rows is None)
        if rows is not None:
            assert direct.live_rows(table).rows == len(session.sql(scan).collect()) == rows
        said = runs.preview(table, "compact", options=options)
        listed = ", ".join(f"'{k}', '{v}'" for k, v in options.items())
        call = f"CALL sandbox.system.rewrite_data_files(table => 'vectors.t', options => map({listed}))"
        would = said.refusal.startswith("Spark would fail")
        assert fails(engine, call) == would, said
    session.sql("DROP TABLE IF EXISTS sandbox.vectors.t")
