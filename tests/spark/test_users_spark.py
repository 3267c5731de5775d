"""A user's own SparkSession is left as it is, and what cannot work in it is said."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from explorer.errors import EngineError
from explorer.spark_engine.spark import SparkEngine


def run_beside(how: str, folder: Path) -> Any:
    command = [sys.executable, "-m", "tests.spark.users_session", how, str(folder)]
    environment = {**os.environ, "ICEDIVE_HOME": str(folder / "home")}
    ran = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=Path(__file__).parents[2])
    assert ran.returncode == 0, ran.stderr[-3000:]
    return json.loads(ran.stdout.splitlines()[-1])


def test_nothing_of_a_users_session_changes(tmp_path: Path) -> None:
    answer = run_beside("with", tmp_path)
    told = answer["told"]
    assert told[:6] == ["UTC", 4, 2, 2, 2, 1]
    assert told[6:9] == [{"name": True, "frame": True, "query": True}, ["own.db.t", "own"], [True, "own.db.t"]]
    assert told[9].startswith("CALL own.system.rewrite_data_files(table => 'db.t'")
    assert told[10] == 4
    assert told[11] == "the DataFrame reads several Iceberg tables: own.db.t, own.db.other"
    assert told[12] == "the DataFrame reads no Iceberg table"
    assert told[13].startswith("Spark does not load own.db.nothing as a table of Iceberg: ")
    about = "own.db.t.files is a metadata table: give the table that it is about"
    of_name = f"TableNotFound: Spark does not load own.db.t.files as a table of Iceberg: {about}"
    assert told.pop(14) == ["by_path", 2, "own.db.`a.b`", f"WrongUsage: {about}", of_name]
    assert told.pop(14) == [{}, {}]
    for catalog, of_it in (("own", told[14][:5]), ("prod", told[14][5:])):
        assert of_it[:4] == [
            [2, 3],
            [f"{catalog}.db.written", True, False],
            "refused without allow_writes",
            [3, 1, 4, 3],
        ]
        assert of_it[4].startswith(f"CALL {catalog}.system.rewrite_data_files(table => 'db.written'")
    assert told[15:] == [3, True]
    assert answer["differs"] == {}
    assert answer["stopped"] == 1


def test_names_are_resolved_as_spark_does(tmp_path: Path) -> None:
    assert run_beside("names", tmp_path) == {}


def test_a_users_spark_without_iceberg_is_told(tmp_path: Path) -> None:
    answer = run_beside("without", tmp_path)
    assert "Java has no Iceberg" in answer["told"]
    assert "spark.jars.packages=org.apache.iceberg:iceberg-spark-runtime" in answer["told"]
    assert answer["differs"] == {}


def test_a_session_that_was_stopped_is_made_anew(engine: SparkEngine) -> None:
    first = engine.session()
    first.stop()
    again = engine.session()
    assert again is not first
    assert again.sql("SELECT 1 AS one").first()["one"] == 1  # type: ignore[index]


def test_an_older_pyspark_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pyspark.__version__", "3.4.6")
    engine = SparkEngine()
    with pytest.raises(
        EngineError, match=r"3\.4\.6 is installed.* 3\.5, 4\.0, 4\.1: pip install 'pyspark>=3\.5,<4\.2'"
    ):
        engine.session()
