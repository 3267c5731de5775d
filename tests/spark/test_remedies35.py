"""The remedies of faults, run in Spark 3.5 as they are printed (see `make spark35`)."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from explorer.spark_engine.java import find_java, resolve_jars
from explorer.spark_engine.versions import SQLITE
from tests.cases import build_case
from tests.spark.test_remedies import CASES, FAULTS, faulty_table, found
from tests.statements import run35
from tests.statements.printed import statements
from tests.support.small_tables import newest_metadata

SPARK35 = os.environ.get("ICEDIVE_SPARK35", "")
"""A Python with pyspark 3.5, and the path of Iceberg's jar for it, with a comma between."""


@pytest.mark.skipif(not SPARK35, reason="needs Spark 3.5: make spark35")
def test_what_is_printed_runs_in_spark_35(tmp_path: Path) -> None:
    jobs, expected = [], []

    def job(folder: Path, rule: str, first: int, last: int | None, rows: object) -> None:
        number = len(jobs)
        printed = statements(found(str(folder), rule, deep=True)[0].remedy)[first:last]
        told = [s.replace("your_catalog", "sandbox").replace("your_db.your_table", f"db.t{number}") for s in printed]
        query = f"SELECT count(*) FROM sandbox.db.t{number}"
        jobs.append({"table": f"db.t{number}", "metadata": f"file:{newest_metadata(folder)}", "statements": told,
                     "query": query})  # fmt: skip
        expected.append(rows)

    for number, (rule, case, damage, after) in enumerate(FAULTS):
        place = tmp_path / str(number)
        folder = faulty_table(case, place)
        if damage is not None:
            damage(folder)
        job(folder, rule, 0, None, None if after is None else len(after))
    job(build_case("05", tmp_path), "manifest-missing", 0, None, 4)
    for case, rule in CASES:
        for at in range(2 if rule == "file-twice" else 1):
            job(build_case(case, tmp_path / f"{case}-{at}"), rule, at, at + 1, None)
    python, jar = SPARK35.split(",")
    sqlite = resolve_jars(find_java(), (SQLITE,))
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    run = subprocess.run(
        [python, run35.__file__, jar, *map(str, sqlite)], input="".join(json.dumps(j) + "\n" for j in jobs),
        capture_output=True, text=True, env=environment, timeout=580, check=True,
    )  # fmt: skip
    answers = [json.loads(line) for line in run.stdout.splitlines()]
    assert len(answers) == len(jobs)
    for one, rows, answer in zip(jobs, expected, answers, strict=True):
        assert isinstance(answer, list), (one, answer)
        assert rows is None or answer == [rows], (one, answer)
