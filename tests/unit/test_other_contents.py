"""Files that are not as their manifest entries say: written over in place (Basekick-Labs/arc#836)."""

from __future__ import annotations

from pathlib import Path

import pytest

from explorer.render.doctor import render_live_rows, render_report
from tests.cases.mini import Table
from tests.support import direct


def written_over(place: Path, rows: int) -> Path:
    """Write a table of 1,000 and 500 rows, and its first file again with so many rows."""
    table = Table(place, [(1, "id", "long"), (2, "v", "string")])
    for name, ids in (("a", range(1000)), ("b", range(1000, 1500))):
        table.append(table.parquet(f"{name}.parquet", {"id": list(ids), "v": [f"text {i}" for i in ids]}))
    table.parquet("a.parquet", {"id": list(range(rows)), "v": [f"text {i}" for i in range(rows)]})
    return place


@pytest.mark.parametrize("rows", [600, 1200])
def test_whoever_reads_a_file_written_over_is_told(rows: int, tmp_path: Path) -> None:
    place = written_over(tmp_path / "t", rows)
    table = direct.open_table(place)
    counted = render_live_rows(direct.live_rows(table))
    assert "no file was opened: rows as manifests record them" in counted
    assert not table.problems
    assert len(table.row_history("id = 700").rows) == (rows > 700)
    [problem] = table.problems
    assert f"and {rows:,} rows, and its manifest entry says" in problem.cause
    assert problem.cause.endswith("Iceberg Java opens a Parquet file by the recorded size, and fails")
    quick = [f for f in direct.doctor(table).findings if f.rule == "file-missing"]
    assert [f.severity for f in quick] == ["warning"]
    [deep] = [f for f in direct.doctor(table, deep=True).findings if f.rule == "file-missing"]
    assert (deep.refused, deep.remedy.split(".")[0]) == ("scan", "Another file took its place")


def test_a_report_shows_what_the_explained_contradict(tmp_path: Path) -> None:
    report = direct.doctor(written_over(tmp_path / "t", 600), deep=True)
    assert "this explains: record-count: found 600, expected record_count 1000 in the manifest" in render_report(report)


def test_deletes_written_over_are_told(tmp_path: Path) -> None:
    table = Table(tmp_path / "t", [(1, "id", "long")])
    table.append(table.parquet("a.parquet", {"id": [1, 2, 3]}))
    before = table.lists[table.md["current-snapshot-id"]]
    delete = {**table.equality_delete("d.parquet", {"id": [2]}), "record_count": 2}
    table.snapshot("delete", [*before, table.manifest("m1.avro", [(1, delete)], content=1)])
    table.save()
    opened = direct.open_table(tmp_path / "t")
    direct.live_rows(opened)
    [problem] = opened.problems
    assert (problem.rule, "1 row, and its manifest entry says" in problem.cause) == ("record-count", True)
    assert "2 rows" in problem.cause
