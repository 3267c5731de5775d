"""What remove-dangling-deletes drops, held against Iceberg's own action on tables that are made of metadata alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from explorer.reports.maintenance import preview
from explorer.spark_engine.spark import SparkEngine
from tests.spark.planner_oracle import Iceberg
from tests.spark.test_maintenance_plans import BY_DAY, Maker

OPTION = {"remove-dangling-deletes": "true"}
WAY = "rewrite_data_files with remove-dangling-deletes"


@pytest.fixture(scope="module")
def iceberg(engine: SparkEngine) -> Iceberg:
    return Iceberg(engine)


def removed(table: Maker, before: set[str]) -> set[str]:
    """The deletes that the action takes away, while it rewrites nothing."""
    action = table.iceberg.iceberg.spark.actions.SparkActions.get().rewriteDataFiles(table.made)
    done = action.option("remove-dangling-deletes", "true").execute()
    left = deletes(table)
    assert (done.rewrittenDataFilesCount(), done.removedDeleteFilesCount()) == (0, len(before - left))
    return before - left


def deletes(table: Maker) -> set[str]:
    """The live deletes."""
    table.made.refresh()
    found = table.opened().deletes().files.deletes
    return {delete.path for delete in found}


def told(table: Maker) -> set[str]:
    """The deletes that the plan says go so; the statement is printed where nobody needs any of them."""
    compaction, looked = preview(table.opened(), "compact", options=OPTION), preview(table.opened(), "dangling-deletes")
    rows = [row for row in looked.tables["deletes"] if WAY in row["dropped_by"]]
    doubted = any(row["may_be_needed"] for row in rows)
    assert bool(looked.call) == (bool(rows) and not doubted)
    assert looked.call == compaction.call
    assert bool(compaction.refusal) == doubted
    return {row["file"] for row in rows}


def names(file: Any) -> dict[str, Any]:
    return {"referenced-data-file": file.location()}


@pytest.mark.parametrize("spec", [[], BY_DAY], ids=["unpartitioned", "by day"])
@pytest.mark.parametrize("version", [2, 3])
def test_deletes_that_apply_to_nothing_go_though_nothing_is_rewritten(
    iceberg: Iceberg, tmp_path: Path, spec: list[dict[str, Any]], version: int
) -> None:
    table = Maker(iceberg, tmp_path / "t", spec, version)
    day, other = (1, 2) if spec else (None, None)
    old, new, gone = (table.file("data", 100, 10, day) for _ in range(3))
    table.append(old, gone)
    vector = {"content-offset": 4, "content-size-in-bytes": 40}

    def position(data: Any) -> Any:
        if version == 2:
            return table.file("position", 40, 2, day, **names(data))
        return table.file("vector", 40, 2, day, **vector, **names(data))

    table.delete(
        table.file("equality", 40, 2, day), position(old), position(gone), table.file("equality", 40, 2, other)
    )
    table.remove(gone)
    table.append(new)
    same = table.made.newRowDelta().addRows(table.file("data", 100, 10, other))
    same.addDeletes(table.file("equality", 40, 2, other)).commit()  # of the same sequence number
    said = told(table)
    assert said == removed(table, deletes(table))
    assert said or not spec
    assert not told(table)


def test_deletes_of_several_specs_go_where_each_applies_to_nothing(iceberg: Iceberg, tmp_path: Path) -> None:
    table = Maker(iceberg, tmp_path / "t", [])
    table.delete(table.file("equality", 40, 2), table.file("position", 40, 2))
    table.append(table.file("data", 100, 10))
    table.evolve()
    table.append(table.file("data", 100, 10, 1))
    table.delete(table.file("equality", 40, 2, 1), table.file("position", 40, 2, 2))
    table.delete(table.file("equality", 40, 2, spec=0))  # of no partition: for all
    said = told(table)
    assert len(said) == 3
    assert said == removed(table, deletes(table))


def test_nothing_goes_without_data_or_without_deletes(iceberg: Iceberg, tmp_path: Path) -> None:
    table = Maker(iceberg, tmp_path / "t", [])
    table.append(table.file("data", 100, 10))
    assert told(table) == removed(table, deletes(table)) == set()
    bare = Maker(iceberg, tmp_path / "bare", [])
    bare.delete(bare.file("equality", 40, 2))
    assert told(bare) == removed(bare, deletes(bare)) != set()
