"""Manifests with fewer partition summaries than their spec has fields, asked of Spark (tests/unit/test_few_summaries.py
has our answers)."""

from __future__ import annotations

from pathlib import Path

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException

from explorer.spark_engine.spark import SparkEngine
from tests.cases.summaries import FILTERS, SUMMARIES, with_summaries
from tests.statements.printed import statements
from tests.support import direct


@pytest.mark.parametrize("number", SUMMARIES)
@pytest.mark.parametrize("of_deletes", [False, True])
def test_spark_fails_where_the_plan_says_so(
    engine: SparkEngine, number: int | None, of_deletes: bool, tmp_path: Path
) -> None:
    session, path = engine.session(), with_summaries(tmp_path / "t", number, of_deletes)
    session.sql("CREATE NAMESPACE IF NOT EXISTS sandbox.summaries")
    name = f"summaries.t_{'none' if number is None else number}_{of_deletes}"
    session.sql(f"CALL sandbox.system.register_table('{name}', '{direct.open_table(path).metadata.metadata_location}')")
    for where, _ in FILTERS:
        table = direct.open_table(f"sandbox.{name}")
        try:
            rows = session.sql(f"SELECT * FROM sandbox.{name} WHERE {where}").count()
        except (Py4JJavaError, PySparkException):
            rows = None
        assert (rows is None) == bool(table.plan(where).failing), where
    if number is not None:
        told = [f for f in direct.doctor(f"sandbox.{name}", deep=True).findings if f.rule == "partition-summary"]
        session.sql(statements(told[0].remedy)[-1])
        assert session.sql(f"SELECT * FROM sandbox.{name} WHERE q = 1").count() == 3 - of_deletes
        left = direct.doctor(f"sandbox.{name}", deep=True, snapshot="main").findings
        assert not [f for f in left if f.rule == "partition-summary"]
    session.sql(f"DROP TABLE sandbox.{name}")
