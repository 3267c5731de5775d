"""Nulls in required columns, asked of Spark (tests/unit/test_required_nulls.py has our answers)."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException

from explorer.spark_engine.spark import SparkEngine
from explorer.spec.schemas.required_nulls import FAILS, OTHERS
from tests.cases.nulls import EFFECTS, with_null
from tests.statements.printed import statements
from tests.support import direct


@pytest.mark.parametrize("kind", EFFECTS)
def test_spark_makes_of_them_what_the_doctor_says(kind: str, engine: SparkEngine, tmp_path: Path) -> None:
    session, effect = engine.session(), EFFECTS[kind]
    session.sql("CREATE NAMESPACE IF NOT EXISTS sandbox.nulls")
    own = "".join(c if c.isalnum() else "_" for c in kind)
    names = []
    for use in ("read", "rewritten"):
        table = direct.open_table(with_null(tmp_path / use, kind))
        names.append(f"nulls.{use}_{own}")
        session.sql(f"CALL sandbox.system.register_table('{names[-1]}', '{table.metadata.metadata_location}')")

    def read(name: str) -> list[Any] | None:
        with contextlib.suppress(Py4JJavaError, PySparkException):
            return [row.b for row in session.sql(f"SELECT a, b FROM sandbox.{name} ORDER BY a").collect()]
        return None

    read_name, rewritten = names
    shown = read(read_name)
    assert (shown is None) == (effect == FAILS)
    assert shown is None or (shown[1] is None) == (effect != OTHERS)
    assert session.sql(f"SELECT a FROM sandbox.{read_name} WHERE b IS NULL").count() == 0
    [told] = [f for f in direct.doctor(f"sandbox.{read_name}").findings if f.rule == "required-absent"]
    [statement] = statements(told.remedy)
    session.sql(statement)
    assert (read(read_name) or [])[1:] == [None]
    assert session.sql(f"SELECT a FROM sandbox.{read_name} WHERE b IS NULL").count() == 1

    rewrite = f"CALL sandbox.system.rewrite_data_files(table => '{rewritten}', options => map('rewrite-all', 'true'))"
    try:
        session.sql(rewrite)
        done = True
    except (Py4JJavaError, PySparkException):
        done = False
    assert done == (effect == OTHERS)
    session.sql(statement.replace(read_name.partition(".")[2], rewritten.partition(".")[2]))
    assert ((read(rewritten) or [])[1:] == [None]) == (effect != OTHERS)  # what was null is another value for good
    for name in names:
        session.sql(f"DROP TABLE sandbox.{name}")
