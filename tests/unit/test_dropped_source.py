"""A live file of an older spec, whose source column was dropped (tests/spark/test_dropped_source.py asks readers)."""

from __future__ import annotations

from pathlib import Path

from explorer.spec.doctor.remedy_cases import DROPPED_SOURCE
from tests.cases.dropped_source import with_dropped_source
from tests.cases.mini import Table
from tests.support import direct


def test_only_live_files_of_it_are_told(tmp_path: Path) -> None:
    explained = direct.doctor(with_dropped_source(tmp_path / "t", "bucket[4]")).findings
    assert [(f.rule, f.what.endswith(DROPPED_SOURCE), f.columns) for f in explained] == [
        ("readers-differ", True, ("trip_part",))
    ]
    assert explained[0].remedy.startswith("First run doctor --deep")
    empty = Table(tmp_path / "empty", [(1, "id", "int"), (2, "trip", "int")], spec=[(2, 1000, "p", "identity")])
    empty.set_spec([])
    empty.set_schema([(1, "id", "int")])
    empty.append(empty.parquet("b.parquet", {"id": [2]}))
    assert not direct.doctor(tmp_path / "empty").findings
