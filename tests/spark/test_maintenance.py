"""Previews against what Spark's procedures then really do, on fresh copies of teaching tables."""

from __future__ import annotations

from pathlib import Path

import pytest

import explorer
from explorer import maintenance, scenarios
from explorer.cli import OPERATIONS
from explorer.engines.spark import SparkEngine
from explorer.errors import AccessRefused, NotFoundInTable
from explorer.table import Table
from tests.unit.small import make_table


def copy(engine: SparkEngine, name: str) -> Table:
    return explorer.open_table(scenarios.fresh_copy(engine, name))


def on_disk(table: Table) -> set[str]:
    root = Path(table.metadata.location.removeprefix("file:"))
    return {str(p) for p in root.rglob("*") if p.is_file() and p.suffix != ".crc"}


def test_the_command_knows_every_operation() -> None:
    assert tuple(maintenance.OPERATIONS) == OPERATIONS


@pytest.mark.parametrize(
    ("name", "retain"),
    [("manifest_lifecycle", 1), ("manifest_lifecycle", 2), ("branches_and_tags", 1), ("deletion_vectors", 1), ("compaction_sort", 1)],
)
def test_expiry_removes_what_the_preview_says(name: str, retain: int, sandbox: Path, engine: SparkEngine) -> None:
    table = copy(engine, name)
    before = on_disk(table)
    seen = maintenance.preview(table, "expire", retain_last=retain)
    done, after = maintenance.run(table, "expire", retain_last=retain, engine=engine)
    gone = before - on_disk(after)
    assert {p.removeprefix("file:") for p in seen.files} == gone
    assert gone
    assert done.after.snapshots == len(after.metadata.snapshots) < done.before.snapshots
    assert f"{done.before.snapshots - done.after.snapshots} snapshot" in seen.words[0]


def test_compaction_before_and_after(sandbox: Path, engine: SparkEngine) -> None:
    table = copy(engine, "position_deletes")
    seen = maintenance.preview(table, "compact")
    assert len(seen.files) == 2
    done, after = maintenance.run(table, "compact", engine=engine)
    assert (done.before.data_files, done.before.position_delete_files) == (2, 1)
    assert done.after.data_files == 1
    assert {f["file_path"] for f in after.files()} & set(seen.files) == set()
    assert done.answer[0]["rewritten_data_files_count"] == 2
    assert after.row_diff("snapshot-2", "main").changes.inserted.num_rows == 0  # no row changed


def test_sorting_and_the_other_rewrites(sandbox: Path, engine: SparkEngine) -> None:
    table = copy(engine, "three_inserts")
    for operation in ("compact-sort", "compact-z-order", "rewrite-manifests"):
        done, table = maintenance.run(table, operation, "fruit", engine=engine)
        assert done.after.manifests >= 1
    assert [r["fruit"] for r in table.file_rows(table.files()[0]["file_path"])] == ["apple", "banana", "cherry"]
    table = copy(engine, "compaction_bin_pack")
    assert len(table.deletes().dangling) == 2
    assert "2 of them dangle" in maintenance.preview(table, "rewrite-position-deletes").words[0]
    done, table = maintenance.run(table, "rewrite-position-deletes", engine=engine)
    assert done.after.position_delete_files == 0


def test_orphans_are_found_and_young_ones_kept(sandbox: Path, engine: SparkEngine) -> None:
    import os
    import time

    table = copy(engine, "three_inserts")
    assert maintenance.orphans(table) == {}
    folder = Path(table.metadata.location.removeprefix("file:")) / "data"
    young, old = folder / "left-behind-1.parquet", folder / "left-behind-2.parquet"
    young.write_text("x")
    old.write_text("x")
    past = time.time() - 5 * 86400
    os.utime(old, (past, past))
    seen = maintenance.preview(table, "remove-orphans")
    assert set(seen.files) == {str(young), str(old)}
    maintenance.run(table, "remove-orphans", engine=engine)
    assert (young.exists(), old.exists()) == (True, False)


def test_only_in_the_sandbox(sandbox: Path, engine: SparkEngine, tmp_path: Path) -> None:
    with pytest.raises(AccessRefused, match="teaching table"):
        maintenance.run(explorer.open_table("demo.three_inserts"), "compact", engine=engine)
    elsewhere = explorer.open_table(str(make_table(tmp_path)))
    assert maintenance.preview(elsewhere, "compact").files  # a preview writes nothing
    with pytest.raises(AccessRefused, match="not in the sandbox"):
        maintenance.run(elsewhere, "compact", engine=engine, allow_writes=True)
    with pytest.raises(NotFoundInTable, match="no column"):
        maintenance.preview(explorer.open_table("demo.three_inserts"), "compact-sort", "x')")
