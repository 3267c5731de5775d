"""Headers of manifests that nobody goes by, asked of Spark (tests/unit/test_header_rules.py has our answers)."""

from __future__ import annotations

from pathlib import Path

import pytest

from explorer.spark_engine.spark import SparkEngine
from tests.cases.headers import HEADERS, KINDS, RULES, with_header, without_fields
from tests.statements.printed import statements
from tests.support import direct


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", HEADERS)
def test_spark_reads_the_table_and_what_is_printed_mends_it(
    name: str, kind: str, engine: SparkEngine, tmp_path: Path
) -> None:
    session, path = engine.session(), with_header(tmp_path / "t", name, kind)
    own = f"headers.t_{name}_{kind}".replace(" ", "_").replace("-", "_")
    session.sql("CREATE NAMESPACE IF NOT EXISTS sandbox.headers")
    location = direct.open_table(path).metadata.metadata_location
    session.sql(f"CALL sandbox.system.register_table('{own}', '{location}')")
    rows = [1, 2, 3] if kind == "data" else [1, 3]

    def read() -> list[int]:
        return sorted(row.id for row in session.sql(f"SELECT id FROM sandbox.{own}").collect())

    assert read() == rows
    rule = RULES.get(name, "avro-schema")
    [told] = [f for f in direct.doctor(f"sandbox.{own}", deep=True).findings if f.rule == rule]
    for statement in statements(told.remedy):
        session.sql(statement)
    session.sql(f"CALL sandbox.system.rewrite_manifests('{own}')")  # of the old files, now DELETED
    left = direct.doctor(f"sandbox.{own}", deep=True, snapshot="main").findings
    assert read() == rows
    assert not [f for f in left if f.rule == rule]
    session.sql(f"DROP TABLE sandbox.{own}")


def test_spark_takes_from_the_list_what_entries_lack(engine: SparkEngine, tmp_path: Path) -> None:
    session = engine.session()
    session.sql("CREATE NAMESPACE IF NOT EXISTS sandbox.headers")
    path = without_fields(tmp_path / "t", ("snapshot_id", "sequence_number", "file_sequence_number"))
    location = direct.open_table(path).metadata.metadata_location
    session.sql(f"CALL sandbox.system.register_table('headers.lacking', '{location}')")
    entries = session.sql("SELECT snapshot_id, sequence_number FROM sandbox.headers.lacking.entries").collect()
    assert sorted(map(tuple, entries)) == [(101, 1), (102, 2)]
    [told] = [f for f in direct.doctor("sandbox.headers.lacking").findings if f.rule == "avro-schema"]
    for statement in statements(told.remedy):
        session.sql(statement)
    left = direct.doctor("sandbox.headers.lacking", snapshot="main").findings
    assert not [f for f in left if f.rule == "avro-schema"]
    assert session.sql("SELECT id FROM sandbox.headers.lacking").count() == 2
    session.sql("DROP TABLE sandbox.headers.lacking")
