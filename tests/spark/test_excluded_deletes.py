"""Rows that come back with filters that exclude their delete, asked of Spark (tests/unit/test_excluded_deletes.py has
our answers)."""

from __future__ import annotations

from pathlib import Path

import pytest

from explorer.spark_engine.spark import SparkEngine
from tests.cases.excluded_deletes import DELETES, FILTERS, with_delete
from tests.statements.printed import statements
from tests.support import direct


@pytest.mark.parametrize("kind", DELETES)
def test_spark_returns_as_many_rows_as_a_fate_says(engine: SparkEngine, kind: str, tmp_path: Path) -> None:
    session, path = engine.session(), with_delete(tmp_path / "t", kind)
    session.sql("CREATE NAMESPACE IF NOT EXISTS sandbox.excluded")
    name = f"excluded.{kind.replace(' ', '_')}"
    location = direct.open_table(path).metadata.metadata_location
    session.sql(f"CALL sandbox.system.register_table('{name}', '{location}')")
    table = direct.open_table(f"sandbox.{name}")
    for where in FILTERS:
        theirs = session.sql(f"SELECT * FROM sandbox.{name} WHERE {where}").count()
        standing = table.row_history(where, engine="local").by_snapshot[102]
        assert len(standing.visible) - len(standing.skipped) + len(standing.come_back) == theirs, where
        assert not standing.come_back or table.plan(where).skipped_deletes, where
    if kind == "whole row":
        [told] = [f for f in direct.doctor(table, deep=True).findings if f.rule == "readers-differ"]
        rows = sorted(map(tuple, session.sql(f"SELECT id FROM sandbox.{name}").collect()))
        [statement] = statements(told.remedy)
        session.sql(statement)
        assert sorted(map(tuple, session.sql(f"SELECT id FROM sandbox.{name}").collect())) == rows
        assert session.sql(f"SELECT id FROM sandbox.{name} WHERE name = 1").count() == 1
        left = direct.doctor(f"sandbox.{name}", deep=True, snapshot="main").findings
        assert not [f for f in left if f.rule == "readers-differ"]
    session.sql(f"DROP TABLE sandbox.{name}")
