"""The doctor against what Spark was seen to refuse (tests/spark/test_refusals.py asks Spark again)."""

from __future__ import annotations

from pathlib import Path

import pytest

from explorer.render.doctor import REFUSED
from tests.cases.edits import ANSWERS, R, make_edited
from tests.support import direct


@pytest.mark.parametrize("name", ANSWERS)
def test_what_spark_refuses_is_an_error_that_says_so(name: str, tmp_path: Path) -> None:
    path = make_edited(name, tmp_path / "t")
    report = direct.doctor(str(path), deep=R[name][1] in ("manifest", "make"))
    answer, rule = ANSWERS[name]
    unreadable = any(f.rule == "metadata-unreadable" for f in report.findings)
    current = None if unreadable else direct.open_table(str(path)).metadata.current_snapshot_id
    telling = [
        f
        for f in report.findings
        if f.refused == "table" or (f.refused == "scan" and (not f.snapshots or current in f.snapshots))
    ]
    if answer == "reads":
        assert not telling, report
        return
    telling = telling or [f for f in report.findings if f.refused == "part"]
    assert rule in {f.rule for f in telling}, report
    assert all(f.severity in ("fatal", "error") or (f.rule, f.refused) == ("readers-differ", "part") for f in telling)
    assert any(words in repr(report) for words in REFUSED.values())
