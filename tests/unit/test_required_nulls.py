"""Nulls in required columns (Spark: tests/spark/test_required_nulls.py)."""

from __future__ import annotations

from pathlib import Path

import pytest

from explorer.render.plans import plan_json, summary_lines
from explorer.reports.maintenance import preview
from explorer.spec.schemas.required_nulls import FAILS, OTHERS
from tests.cases.mini import Table
from tests.cases.nulls import EFFECTS, with_null
from tests.support import direct


@pytest.mark.parametrize("kind", EFFECTS)
def test_the_doctor_says_what_spark_makes_of_them(kind: str, tmp_path: Path) -> None:
    [told] = direct.doctor(with_null(tmp_path / "t", kind)).findings
    effect = EFFECTS[kind]
    assert told.rule == "required-absent"
    assert told.what == f"a required column has nulls: {effect}"
    assert (told.severity, told.refused) == {
        FAILS: ("error", "part"),
        OTHERS: ("error", ""),
    }.get(effect, ("warning", ""))
    assert "ALTER COLUMN b DROP NOT NULL" in told.remedy


@pytest.mark.parametrize("kind", EFFECTS)
@pytest.mark.parametrize("counted", [True, False])
def test_no_rewrite_is_printed(kind: str, counted: bool, tmp_path: Path) -> None:
    table = direct.open_table(with_null(tmp_path / "t", kind, counted))
    planned = preview(table, "compact", options={"rewrite-all": "true"})
    assert planned.call == ""
    assert planned.refusal.startswith("Do not run this" if EFFECTS[kind] == OTHERS else "Spark would fail")
    assert EFFECTS[kind] in planned.refusal


def test_no_remedy_writes_the_rows_anew(tmp_path: Path) -> None:
    table = Table(tmp_path / "t", [(1, "a", "int"), (2, "b", "int", True)])
    file = table.parquet("x.parquet", {"a": [1, 2], "b": [1, None]})
    wrong = file | {"upper_bounds": {1: b"\1\0\0\0", 2: b"\0\0\0\0"}}
    table.append(wrong)
    for deep in (False, True):
        remedies = {f.rule: f.remedy for f in direct.doctor(str(tmp_path / "t"), deep=deep).findings}
        assert remedies["metrics-wrong"].startswith("First mend required-absent: ")


def test_a_plan_says_why_is_null_finds_nothing(tmp_path: Path) -> None:
    table = direct.open_table(with_null(tmp_path / "t", "int"))
    for where, words in (
        ("b is null", "takes b IS NULL for False, since b is required"),
        ("b is not null or a = 1", "takes b IS NOT NULL for True, since b is required"),
        ("a is null", ""),
    ):
        plan = table.plan(where)
        assert plan.folded.lower().startswith(words.lower())
        assert plan_json(plan)["folded"] == plan.folded
        assert any(line == f"Spark {plan.folded}" for line in summary_lines(plan)) == bool(words)


def test_a_fate_says_that_spark_may_show_another_value(tmp_path: Path) -> None:
    table = direct.open_table(with_null(tmp_path / "t", "long"))
    current = table.metadata.current_snapshot
    assert current is not None
    assert "Spark may show another value of b" in "\n".join(table.row_history("a = 2").explain(current))
