"""Deletes that a filter excludes by their own metrics, so that rows come back (tests/spark asks Spark)."""

from __future__ import annotations

from pathlib import Path

import pytest

from explorer.render.plans import plan_json, summary_lines
from tests.cases.excluded_deletes import DELETES, FILTERS, with_delete
from tests.support import direct


@pytest.mark.parametrize("kind", DELETES)
def test_a_plan_counts_deletes_that_its_filter_excludes(kind: str, tmp_path: Path) -> None:
    table = direct.open_table(with_delete(tmp_path / "t", kind))
    for where, excluded in FILTERS.items():
        plan = table.plan(where)
        assert plan.skipped_deletes == (excluded if kind == "whole row" else 0), where
        if plan.skipped_deletes:
            assert plan.delete_files == 0
            assert plan_json(plan)["skipped_delete_files"] == 1
            assert not any(split.deletes for task in plan.tasks.first for split in task.splits)
    said = "\n".join(summary_lines(table.plan("name = 1")))
    warned = (
        "⚠ the filter skips 1 delete file by its own bounds, counts or partition: matching rows that it alone hides"
    )
    assert (warned in said) == (kind == "whole row")
    assert ("1 delete file comes along" in said) == (kind != "whole row")


def test_a_fate_says_that_a_scan_returns_what_an_excluded_delete_hides(tmp_path: Path) -> None:
    table = direct.open_table(with_delete(tmp_path / "t", "whole row"))
    snapshot = table.metadata.current_snapshot
    assert snapshot is not None
    fate = table.row_history("name = 1")
    said = fate.explain(snapshot)
    assert said[0] == "snapshot-2 shows 1 row with name = 1."
    assert said[1].startswith("⚠ Spark returns 1 row more for this filter: it does not open the deletes that hide it")
    assert (
        "  A scan with this filter returns it (id=1, name=1): it skips that delete, whose manifest entry rules the "
        "filter out: name = 1: its values begin at 2." in said
    )
    assert not fate.by_snapshot[101].come_back
    assert not table.row_history("id = 1").by_snapshot[102].come_back


@pytest.mark.parametrize("kind", DELETES)
def test_the_doctor_tells_of_columns_beyond_the_key(kind: str, tmp_path: Path) -> None:
    report = direct.doctor(str(with_delete(tmp_path / "t", kind)), deep=True)
    told = [(f.severity, f.columns) for f in report.findings if f.rule == "readers-differ"]
    assert told == ([("info", ("name",))] if kind == "whole row" else [])
