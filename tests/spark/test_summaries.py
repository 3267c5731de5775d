"""Snapshots without a summary, or with one that counts nothing, asked of Spark (tests/unit/test_twin_snapshots.py has
our answers)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException

from explorer.spark_engine.spark import SparkEngine
from tests.support import direct
from tests.unit.test_twin_snapshots import twins, without_summary

ERRORS = (Py4JJavaError, PySparkException)
QUERIES = (
    "SELECT * FROM {t}", "SELECT count(*) FROM {t}", "SELECT * FROM {t} WHERE id = 2",
    "SELECT * FROM {t} WHERE p = 'x'", "SELECT a.id FROM {t} a JOIN {t} b ON a.id = b.id",
    "SELECT id, count(*) FROM {t} GROUP BY id",
)  # fmt: skip


def asked(session: Any, sql: str) -> str:
    """What Spark says to a statement: empty for nothing against it."""
    try:
        session.sql(sql).collect()
    except ERRORS as error:
        return str(error)
    return ""


@pytest.mark.parametrize("deletes", [False, True])
def test_spark_asks_the_summary_where_there_are_deletes(engine: SparkEngine, deletes: bool, tmp_path: Path) -> None:
    session, path = engine.session(), without_summary(tmp_path / "t", deletes)
    location = direct.open_table(path).metadata.metadata_location
    session.sql("CREATE NAMESPACE IF NOT EXISTS sandbox.summed")
    assert asked(session, f"CALL sandbox.system.register_table('summed.t', '{location}')")  # and makes it all the same
    try:
        for query in QUERIES:
            assert bool(asked(session, query.format(t="sandbox.summed.t"))) == deletes, query
        session.sql("INSERT INTO sandbox.summed.t VALUES (9, 'y')")
        for query in QUERIES:
            assert not asked(session, query.format(t="sandbox.summed.t")), query
        told = direct.doctor("sandbox.summed.t", snapshot="main").findings
        assert not [f for f in told if f.rule == "metadata-field"]
    finally:
        session.sql("DROP TABLE sandbox.summed.t")
        session.sql("DROP NAMESPACE sandbox.summed")


def test_java_refuses_two_snapshots_with_one_id(engine: SparkEngine, tmp_path: Path) -> None:
    session, path = engine.session(), twins(tmp_path / "t")
    location = direct.open_table(path).metadata.metadata_location
    session.sql("CREATE NAMESPACE IF NOT EXISTS sandbox.summed")
    assert "Multiple entries with same key" in asked(
        session, f"CALL sandbox.system.register_table('summed.twins', '{location}')"
    )
    session.sql("DROP NAMESPACE sandbox.summed")


@pytest.mark.parametrize("missing", ["total-records", "total-data-files"])
def test_register_table_ends_in_an_error_where_the_remedy_says_so(
    engine: SparkEngine, missing: str, tmp_path: Path
) -> None:
    session, path = engine.session(), twins(tmp_path / "t")
    first = next((path / "metadata").glob("00001-*.json"))
    raw = json.loads(first.read_text())
    for at, complains in ((raw, False), ({}, True)):
        if not at:
            raw["snapshots"][0]["summary"].pop(missing)
            first.write_text(json.dumps(raw))
        (told,) = [f for f in direct.doctor(path).findings if f.rule == "snapshot-twice"]
        assert ("reports an error after it made the table" in told.remedy) == complains
        session.sql("CREATE NAMESPACE IF NOT EXISTS sandbox.summed")
        said = asked(session, f"CALL sandbox.system.register_table('summed.first', 'file://{first}')")
        assert bool(said) == complains, said
        assert session.table("sandbox.summed.first").count() == 1
        session.sql("DROP TABLE sandbox.summed.first")
        session.sql("DROP NAMESPACE sandbox.summed")
