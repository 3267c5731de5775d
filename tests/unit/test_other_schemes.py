"""Files that metadata names by another scheme or authority than the table's: readers compare paths as texts."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from explorer.reports.maintenance import runs
from explorer.spec.doctor.path_schemes import in_same_store
from tests.cases.mini import Table as Written
from tests.support import direct


def aged(folder: Path) -> Path:
    for path in folder.rglob("*"):
        os.utime(path, (time.time() - 9 * 86_400,) * 2)
    return folder


def named_by_another_scheme(folder: Path, *more: str) -> direct.Table:
    """A position delete for row 1 that names its data file with `file:/` in place of `file:///` (apache/doris#35957),
    and data files `more`, so that its bounds of paths are not equal."""
    table = Written(folder / "t", [(1, "id", "long")])
    data = table.parquet("a.parquet", {"id": [1, 2, 3]})
    table.append(data)
    names = [(data["file_path"].replace("file:///", "file:/"), 1), *((name, 0) for name in more)]
    table.delta(deletes=[table.position_delete("p.parquet", names)], operation="delete")
    return direct.open_table(aged(folder / "t"))


def test_a_delete_of_a_respelled_path_is_not_offered_to_be_dropped(tmp_path: Path) -> None:
    table = named_by_another_scheme(tmp_path)
    told = "readers compare paths as texts"
    [row] = runs.preview(table, "dangling-deletes").tables["deletes"]
    assert row["may_be_needed"].endswith(told)
    for finding in direct.doctor(table, deep=True).findings:
        assert finding.rule in ("delete-names-nothing", "delete-dangling")
        assert "Do not drop them before you know" in finding.remedy
    fate = "\n".join(table.row_history("id = 2").explain(table.metadata.current_snapshot))
    assert "p.parquet holds its position, but does not apply: it names the data file by another scheme" in fate
    assert "p.parquet" not in "\n".join(table.row_history("id = 3").explain(table.metadata.current_snapshot))


def test_so_is_one_that_names_several_files(tmp_path: Path) -> None:
    table = named_by_another_scheme(tmp_path, "zzz.parquet")
    fate = "\n".join(table.row_history("id = 2").explain(table.metadata.current_snapshot))
    assert "it names the data file by another scheme" in fate


def test_a_file_that_is_named_elsewhere_is_no_orphan(tmp_path: Path) -> None:
    written = Written(tmp_path / "t", [(1, "id", "long")])
    data = written.parquet("a.parquet", {"id": [1, 2, 3]})
    written.append(data)
    delete = written.position_delete("p.parquet", [(data["file_path"], 1)])
    delete["file_path"] = "s3://container/0000-uuid/data/p.parquet"  # apache/doris#67544
    written.delta(deletes=[delete], operation="delete")
    (tmp_path / "t" / "data" / "orphan.parquet").write_bytes(b"x")
    table = direct.open_table(aged(tmp_path / "t"))
    [finding] = [f for f in direct.doctor(table, files=True).findings if f.rule == "orphan-files"]
    assert [Path(path).name for path in finding.examples] == ["orphan.parquet"]
    seen = runs.preview(table, "remove-orphans")
    assert (seen.call, seen.refusal[:15]) == ("", "Do not run this")
    [told] = [f for f in direct.doctor(table).findings if f.rule == "path-outside"]
    assert (told.found, told.severity) == (delete["file_path"], "warning")
    reasons = {Path(row["file"]).name: row["reason"] for row in seen.tables["files"]}
    assert reasons["p.parquet"].startswith("it may be live: metadata names a file of this name in another place, s3:")


def test_the_files_of_a_table_within_are_no_orphans(tmp_path: Path) -> None:
    outer = Written(tmp_path / "t", [(1, "id", "long")])
    outer.append(outer.parquet("a.parquet", {"id": [1]}))
    inner = Written(tmp_path / "t" / "inner", [(1, "id", "long")], uuid="00000000-0000-0000-0000-000000000007")
    inner.append(inner.parquet("b.parquet", {"id": [2]}))
    report = direct.doctor(aged(tmp_path / "t"), files=True)
    assert "orphan-files" not in {f.rule for f in report.findings}
    assert any("is of another table" in text for text in report.not_checked)


@pytest.mark.parametrize(
    ("location", "same", "other"),
    [
        ("/t", ["/t/a", "file:/t/a", "file:///t/a"], ["s3://b/a", "hdfs:///a", "t/a"]),
        ("file:///t", ["/t/a", "file:///t/a"], ["s3://b/a"]),
        ("s3://b/t", ["s3://b/t/a", "s3a://c/a", "S3N://b/a"], ["/a", "file:///a", "gs://b/a", "b/s3://a"]),
        ("abfss://c@x/t", ["wasbs://c@x/a", "abfs://c@x/a"], ["s3://b/a"]),
        ("my+store://x", ["my+store://y"], ["mystore://y"]),
    ],
)
def test_which_schemes_are_one_store(location: str, same: list[str], other: list[str]) -> None:
    pattern = in_same_store(location)
    assert pattern is not None
    assert pc.match_substring_regex(pa.array(same), pattern).to_pylist() == [True] * len(same)
    assert pc.match_substring_regex(pa.array(other), pattern).to_pylist() == [False] * len(other)


def test_a_location_without_a_store_says_nothing() -> None:
    assert in_same_store("warehouse/t") is None
