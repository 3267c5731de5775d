"""Manifests with fewer partition summaries than their spec has fields (Spark: tests/spark/test_few_summaries.py)."""

from __future__ import annotations

from pathlib import Path

import pytest

from explorer.render.plans import plan_json, summary_lines
from tests.cases.mini import Table
from tests.cases.summaries import FILTERS, SUMMARIES, with_summaries
from tests.support import direct


@pytest.mark.parametrize("number", SUMMARIES)
@pytest.mark.parametrize("of_deletes", [False, True])
def test_a_plan_says_where_iceberg_fails(number: int | None, of_deletes: bool, tmp_path: Path) -> None:
    table = direct.open_table(with_summaries(tmp_path / "t", number, of_deletes))
    for where, last in FILTERS:
        plan = table.plan(where)
        fails = number is not None and last >= number
        assert [path.rpartition("/")[2] for path in plan.failing] == ["m1.avro"] * fails, where
        assert plan_json(plan)["failing_manifests"] == list(plan.failing)
        assert any("fails with this filter" in line and "m1.avro" in line for line in summary_lines(plan)) == fails


@pytest.mark.parametrize("number", SUMMARIES)
def test_the_doctor_calls_it_an_error(number: int | None, tmp_path: Path) -> None:
    table = direct.open_table(with_summaries(tmp_path / "t", number, False))
    told = [(f.severity, f.refused) for f in direct.doctor(table).findings if f.rule == "partition-summary"]
    assert told == ([] if number is None else [("error", "part")])


def test_the_spec_of_a_header_hinders_no_rewrite(tmp_path: Path) -> None:
    written = Table(tmp_path / "t", [(1, "id", "long"), (2, "p", "string")], spec=[(2, 1000, "p", "identity")])
    file = written.parquet("a.parquet", {"id": [1], "p": ["a"]}, partition={"p": "a"})
    written.snapshot(
        "append", [written.manifest("m1.avro", [(1, file)], partitions=[], header={"partition-spec": "[]"})]
    )
    written.save()
    findings = {f.rule: f for f in direct.doctor(tmp_path / "t", deep=True).findings}
    for rule in ("spec-unknown", "partition-summary"):
        assert findings[rule].remedy.startswith("CALL your_catalog.system.rewrite_data_files("), findings[rule].remedy
