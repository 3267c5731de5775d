"""Files that nothing leads to: how large they are, and whether nobody committed their rows."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from explorer.reports.maintenance import preview
from explorer.spec.commits.uncommitted_files import writer_progress
from explorer.spec.text.units import human_bytes
from tests.cases.mini import T0, Table
from tests.support import direct

HOUR = 3600
OFFSETS = {"kafka.connect.offsets.control-iceberg.cg-control": '{"0":100}', "kafka.connect.commit-id": "c"}
CHECKPOINT = {"flink.job-id": "a", "flink.max-committed-checkpoint-id": "7"}


def stalled(folder: Path, summary: dict[str, str], ages: dict[str, float]) -> direct.Table:
    """Write a commit with a summary, a compaction after it, and files that nobody commits, by their age in hours."""
    table = Table(folder, [(1, "id", "long")])
    file = table.parquet("a.parquet", {"id": [1]})
    manifest = table.manifest("m0.avro", [(1, file)])
    table.snapshot("append", [manifest], {"added-data-files": "1"} | summary)
    table.snapshot("replace", [manifest])
    for name, hours in ages.items():
        table.parquet(name, {"id": [2]})
        at = time.time() - hours * HOUR
        os.utime(table.folder / "data" / name, (at, at))
    return direct.open_table(str(folder))


def told(table: direct.Table) -> tuple[str, str]:
    [one] = [f for f in direct.doctor(table, files=True).findings if f.rule == "orphan-files"]
    return one.what, one.remedy


@pytest.mark.parametrize(
    ("summary", "words"),
    [
        (OFFSETS, 'kafka.connect.offsets.control-iceberg.cg-control = {"0":100}'),
        (CHECKPOINT, "flink.max-committed-checkpoint-id = 7"),
        ({}, ""),
    ],
)
def test_rows_that_nobody_committed_are_told_before_they_are_removed(
    summary: dict[str, str], words: str, tmp_path: Path
) -> None:
    table = stalled(tmp_path / "t", summary, {"b.parquet": 100, "c.parquet": 100})
    size = (tmp_path / "t" / "data" / "b.parquet").stat().st_size
    what, remedy = told(table)
    for said in (what, preview(table, "remove-orphans").words[1]):
        assert "2 data files (1" in said
        assert "nobody has committed their rows" in said
        assert words in said
        assert ("its writer leaves out" in said) == bool(words)
    assert remedy.startswith("First ask the writer of those files")
    planned = preview(table, "remove-orphans")
    assert planned.words[0].endswith(f"old enough to be removed ({human_bytes(2 * size)}).")
    assert planned.tables["files"].to_arrow()["bytes"].to_pylist() == [size, size]


def test_files_of_failed_writes_and_of_commits_under_way_are_nobodys_rows(tmp_path: Path) -> None:
    before = (time.time() - T0 / 1000) / HOUR + 100
    table = stalled(tmp_path / "t", OFFSETS, {"old.parquet": before, "now.parquet": 0})
    what, remedy = told(table)
    size = (tmp_path / "t" / "data" / "old.parquet").stat().st_size
    assert what.startswith(f"2 files ({human_bytes(2 * size)}) below")
    assert f"; 1 ({human_bytes(size)})" in what
    assert "nobody" not in what
    assert remedy.startswith("CALL")
    assert "nobody" not in " ".join(preview(table, "remove-orphans").words)


def test_the_newest_commit_that_says_so_counts(tmp_path: Path) -> None:
    table = stalled(tmp_path / "t", CHECKPOINT | OFFSETS, {})
    assert writer_progress(table.metadata).startswith("flink")  # the first by name, of the commit before the rewrite
    assert writer_progress(stalled(tmp_path / "u", {}, {}).metadata) == ""


def test_a_quick_report_says_what_files_are_for(tmp_path: Path) -> None:
    table = stalled(tmp_path / "t", {}, {"b.parquet": 100})
    quick, files = direct.doctor(table), direct.doctor(table, files=True)
    for text in (repr(quick), quick._repr_html_()):
        assert "--files asks whether each file is there" in text
    assert "--files asks" not in repr(files)
    assert "--deep opens them" in repr(files)
    assert "--files asks" not in repr(direct.doctor(table, deep=True))
