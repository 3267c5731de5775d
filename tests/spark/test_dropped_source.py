"""A live file of an older spec, whose source column was dropped, asked of Spark and pyiceberg."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyiceberg.table import StaticTable

from explorer.spark_engine.spark import SparkEngine
from explorer.spec.doctor.findings import Finding
from explorer.spec.doctor.remedy_cases import DROPPED_SOURCE
from tests.cases.dropped_source import with_dropped_source
from tests.statements.printed import statements
from tests.support import direct


def told(table: direct.Table | str) -> list[Finding]:
    return [f for f in direct.doctor(table, deep=True).findings if f.what.endswith(DROPPED_SOURCE)]


@pytest.mark.parametrize("transform", ["identity", "truncate[10]"])
def test_what_readers_make_of_it(engine: SparkEngine, transform: str, tmp_path: Path) -> None:
    session, table = engine.session(), direct.open_table(with_dropped_source(tmp_path / "t", transform))
    location = table.metadata.metadata_location
    static = StaticTable.from_metadata(location)
    assert static.scan().to_arrow()["id"].to_pylist() == [1, 2]
    with pytest.raises(ValueError, match="Could not find field"):
        static.inspect.files()
    session.sql("CREATE NAMESPACE IF NOT EXISTS sandbox.dropped_source")
    name = f"dropped_source.{transform[:8]}"
    session.sql(f"CALL sandbox.system.register_table('{name}', '{location}')")
    assert session.table(f"sandbox.{name}").count() == 2
    assert session.table(f"sandbox.{name}.files").select("partition.*").columns == ["distance_part"]
    [finding] = told(f"sandbox.{name}")
    assert (finding.rule, finding.severity, finding.columns) == ("readers-differ", "info", ("trip_part",))
    for statement in statements(finding.remedy):
        session.sql(statement)
    assert session.table(f"sandbox.{name}").count() == 2
    assert not told(f"sandbox.{name}")
    session.sql(f"DROP TABLE sandbox.{name}")
