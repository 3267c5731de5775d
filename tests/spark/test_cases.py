"""The thirty tables of tests/cases held against Spark: rows, counts and plans are equal, and where Spark does not
return a row that is there, the row history says why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException

from explorer.spark_engine.spark import SparkEngine
from explorer.spec.scan.plan import PLANNERS, PlannerAnswer
from tests.cases import NAMES, build_case
from tests.support import direct

UUID_9 = "'99999999-9999-9999-9999-999999999999'"
FILTERS: Mapping[str, tuple[str, ...]] = {
    "16": ("ts = '2024-03-01 05:00:00'", "id = 1"), "18": ("id = 2", "id > 0"), "20": (f"u = {UUID_9}", "id = 2"),
    "21": ("text > 'B'", "id = 1"), "22": ("x > 5", "x < 5", "x = 1"), "33": ("dt is null", "dt = '2024-01-01'"),
    "35": ("ts > '2000-01-01'", "id = 1"), "13": ("id = 1",), "54": ("id < 20",),
}  # fmt: skip
"""Filters that mean the same to us and to Spark, by case; of others `id > 0`."""
NO_ID = {"07": "first = 'aaa'", "39": "age > 1", "21": "id = 1"}
REFUSED = {
    "04": "FileNotFoundException", "05": "FileNotFoundException", "15": "Mismatched partition",
    "26": "ClassCastException", "27": "", "37": "Metadata file for version", "52": "Multiple entries with same key",
}  # fmt: skip
"""Cases of which Spark refuses to return rows, and what it says."""
BY_FOLDER = ("37", "38")
"""Cases with Hadoop's names of metadata files, which Spark reads by their folder."""


@dataclass(frozen=True)
class Case:
    """A table as the explorer opens it, and as Spark names it."""

    number: str
    table: direct.Table
    frame: Any
    """A function that returns Spark's DataFrame."""


@pytest.fixture(scope="module")
def cases(engine: SparkEngine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Case]]:
    spark, folder = engine.session(), tmp_path_factory.mktemp("cases")
    spark.sql("CREATE NAMESPACE IF NOT EXISTS sandbox.cases")
    built = {}
    for name in NAMES:
        place, number = build_case(name, folder), name.split("-")[0]
        table = direct.open_table(str(place))
        if number in BY_FOLDER:
            built[number] = Case(number, table, lambda p=place: spark.read.format("iceberg").load(str(p)))
            continue
        known = f"sandbox.cases.c{number}"
        location = table.metadata.metadata_location
        spark.sql(f"CALL sandbox.system.register_table('cases.c{number}', 'file://{location.removeprefix('file://')}')")
        built[number] = Case(number, table, lambda known=known: spark.table(known))
    yield built
    for number in built.keys() - set(BY_FOLDER):
        spark.sql(f"DROP TABLE sandbox.cases.c{number}")
    spark.sql("DROP NAMESPACE sandbox.cases")


def numbers() -> list[str]:
    return [name.split("-")[0] for name in NAMES]


@pytest.mark.parametrize("number", [n for n in numbers() if n not in REFUSED])
def test_rows_counts_and_plans_are_those_of_spark(cases: dict[str, Case], number: str) -> None:
    case = cases[number]
    rows = case.frame().count()
    assert direct.live_rows(case.table).rows == rows
    current = case.table.metadata.current_snapshot
    assert current is not None
    assert len(case.table.row_history("").by_snapshot[current.snapshot_id].visible) == rows
    assert case.table.rows(limit=100).to_arrow().num_rows == rows
    for where in FILTERS.get(number, (NO_ID.get(number, "id > 0"),)):
        plan = case.table.plan(where)
        answer = case.table.ask_planners(plan)[PLANNERS[0]]
        assert isinstance(answer, PlannerAnswer), answer
        assert plan.left.files == answer.files, where


@pytest.mark.parametrize("number", [n for n in numbers() if n not in REFUSED])
def test_a_fate_names_what_hides_a_row_from_spark(cases: dict[str, Case], number: str) -> None:
    case = cases[number]
    current = case.table.metadata.current_snapshot
    assert current is not None
    for where in FILTERS.get(number, (NO_ID.get(number, "id > 0"),)):
        fate = case.table.row_history(where)
        standing = fate.by_snapshot[current.snapshot_id]
        theirs = case.frame().where(where).count()
        assert len(standing.visible) - len(standing.skipped) == theirs, (where, fate.explain(current))
        said = " ".join(fate.explain(current))
        assert ("Spark does not return" in said) == (theirs < len(standing.visible)), where
        assert "No data file" not in said or not standing.visible


@pytest.mark.parametrize("number", REFUSED)
def test_a_table_that_spark_refuses_opens_and_is_an_error_of_the_doctor(cases: dict[str, Case], number: str) -> None:
    case = cases[number]
    with pytest.raises((PySparkException, Py4JJavaError), match=REFUSED[number]):
        case.frame().collect()
    assert case.table.graph().nodes
    findings = direct.doctor(case.table, files=True, deep=True).findings
    said = [f for f in findings if f.refused or "Iceberg fails" in f.what]
    assert {f.severity for f in said} & ({"warning"} if number == "26" else {"error", "fatal"}), findings


def test_filters_that_statistics_hide_are_tested(cases: dict[str, Case]) -> None:
    """Each of these cases has a row that Spark does not return for one of its filters."""
    hidden = {}
    for number in ("16", "18", "20", "22", "35"):
        table = cases[number].table
        current = table.metadata.current_snapshot
        assert current is not None
        fates = (table.row_history(where).by_snapshot[current.snapshot_id] for where in FILTERS[number])
        hidden[number] = sum(len(standing.skipped) for standing in fates)
    assert hidden == {"16": 2, "18": 1, "20": 1, "22": 2, "35": 1}
