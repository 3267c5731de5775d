"""Manifests whose Avro records have other names than Java's: Spark 4.1 reads them, and what is printed mends them for
older versions (tests/unit/test_avro_names.py has our answers)."""

from __future__ import annotations

from pathlib import Path

import pytest

from explorer.spark_engine.spark import SparkEngine
from tests.statements.printed import statements
from tests.support import direct
from tests.unit.test_avro_names import with_names


@pytest.mark.parametrize("old", ["manifest_file", "r508", "manifest_entry", "r2", "r102"])
def test_spark_reads_and_mends_it(engine: SparkEngine, old: str, tmp_path: Path) -> None:
    session, location = engine.session(), direct.open_table(with_names(tmp_path / "t", old, "other")).metadata
    session.sql("CREATE NAMESPACE IF NOT EXISTS sandbox.named")
    session.sql(f"CALL sandbox.system.register_table('named.t', '{location.metadata_location}')")
    try:
        assert session.sql("SELECT * FROM sandbox.named.t WHERE p = 'x'").count() == 1
        (told,) = direct.doctor("sandbox.named.t", deep=True).findings
        session.sql(statements(told.remedy)[-1])
        assert not direct.doctor("sandbox.named.t", snapshot="main").findings
    finally:
        session.sql("DROP TABLE sandbox.named.t")
        session.sql("DROP NAMESPACE sandbox.named")
