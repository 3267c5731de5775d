"""What Spark refuses the doctor calls an error and says so; of what Spark opens it never says that it cannot.

Each row is an edit of a small table (tests/cases/edits.py). What Spark says to it is recorded in spark_answers.json,
and asked again here; tests/unit/test_spark_refusals.py holds the doctor to it."""

from __future__ import annotations

from pathlib import Path

import pytest

from explorer.spark_engine.spark import SparkEngine
from tests.cases.edits import ANSWERS, make_edited


@pytest.mark.parametrize("name", ANSWERS)
def test_spark_says_what_is_recorded(name: str, tmp_path: Path, engine: SparkEngine) -> None:
    path = make_edited(name, tmp_path / "t")
    try:
        engine.session().read.format("iceberg").load(str(path)).write.format("noop").mode("overwrite").save()
        answer = "reads"
    except Exception:  # of many kinds: Java's, Spark's, py4j's
        answer = "refuses"
    assert answer == ANSWERS[name][0]
