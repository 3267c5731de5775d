"""A commit that landed though its writer took it for failed and removed its files: apache/iceberg#2932."""

from __future__ import annotations

from pathlib import Path

import pytest

from explorer.reports.maintenance.file_stay import file_stay
from tests.cases.mini import Table
from tests.statements.printed import statements
from tests.support import direct
from tests.support.report_tables import found

UNKNOWN = "for failed may have removed what it had added, though the commit landed (CommitStateUnknownException)"
BACK = "CALL your_catalog.system.rollback_to_snapshot('your_db.your_table', 102)"


def compacted(folder: Path, operation: str = "replace", later: str = "", gone: tuple[str, ...] = ("c", "d")) -> Path:
    """Two files written anew as two others, some of which are gone; and a commit after it."""
    table = Table(folder, [(1, "id", "long")], location=str(folder))
    files = [table.parquet(f"{name}.parquet", {"id": [at]}) for at, name in enumerate("ab")]
    for file in files:
        table.append(file)
    old = [(2, file, {"sequence_number": at + 1}) for at, file in enumerate(files)]
    new = [(1, table.parquet(f"{name}.parquet", {"id": [at]})) for at, name in enumerate("cd")]
    table.snapshot(operation, [table.manifest("old.avro", old), table.manifest("new.avro", new)])
    if later:
        table.delta([table.parquet("later.parquet", {"id": [9]})], operation=later)
    for name in gone:
        (folder / "data" / f"{name}.parquet").unlink()
    return folder


def test_a_compaction_whose_files_are_gone_is_undone_without_loss(tmp_path: Path) -> None:
    path = str(compacted(tmp_path / "t"))
    [finding] = found(path, "file-missing", files=True)
    assert finding.count == 2
    assert "the file does not exist, nor does 1 other of its manifest: a writer that took" in finding.what
    assert f"a writer that took snapshot 103 (replace) {UNKNOWN}" in finding.what
    assert statements(finding.remedy) == [BACK]
    assert (
        "only replaces (compaction), which add no row: going back loses none. Run no expire_snapshots" in finding.remedy
    )
    assert "Or take out" not in finding.remedy
    words = file_stay(direct.open_table(path), "c.parquet").words
    assert "icedive doctor TABLE --files has the remedy" in words[0]


@pytest.mark.parametrize("later", ["append", "overwrite"])
def test_what_was_committed_after_it_is_named(later: str, tmp_path: Path) -> None:
    [finding] = found(str(compacted(tmp_path / "t", later=later)), "file-missing", files=True)
    assert (
        f"what was committed since is lost to readers: that of 104 ({later}), as replaces change no" in finding.remedy
    )
    again = ["CALL your_catalog.system.cherrypick_snapshot('your_db.your_table', 104)"] if later == "append" else []
    out = [f"DELETE FROM your_catalog.your_db.your_table WHERE id = {number}" for number in (0, 1)]
    assert statements(finding.remedy) == [BACK, *again, *out]
    assert (
        "Or take out these files alone, and keep the others, in Java: table.newDelete().deleteFile(" in finding.remedy
    )


def test_other_commits_lose_rows(tmp_path: Path) -> None:
    [finding] = found(str(compacted(tmp_path / "t", "overwrite")), "file-missing", files=True)
    assert "what was committed since is lost to readers." in finding.remedy
    assert UNKNOWN in finding.what


def test_a_file_alone_that_is_gone_is_no_sign_of_a_writer(tmp_path: Path) -> None:
    [finding] = found(str(compacted(tmp_path / "t", gone=("c",))), "file-missing", files=True)
    assert finding.what == "the file does not exist"
    assert "going back loses none" in finding.remedy
