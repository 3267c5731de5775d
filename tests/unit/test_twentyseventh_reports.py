"""Troubles of a twenty-seventh round of public reports, on tables that are built here."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cases.mini import Table
from tests.support import direct
from tests.unit.test_cli import run


# -- commits to another branch (risingwavelabs/risingwave#26660) -------------------------------------------------------
def branch_ahead(folder: Path, commits: int = 3, version: int = 2) -> str:
    """A table whose branch `ingestion` goes on from main's two snapshots while main stands still."""
    table = Table(folder, [(1, "id", "long")], version=version)
    for number in range(2):
        table.append(table.parquet(f"main-{number}.parquet", {"id": [number]}))
    parent = table.md["current-snapshot-id"]
    for number in range(commits):
        table.clock += 60_000
        data = table.parquet(f"branch-{number}.parquet", {"id": [10 + number]})
        parent = table.snapshot(
            "append", [table.manifest(f"b{number}.avro", [(1, data)])], ref="ingestion", parent=parent
        )
    return str(folder)


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("kind", ["append", "compaction", "cow-update", "expire"])
def test_commits_to_another_branch_cost_a_try(kind: str, version: int, tmp_path: Path) -> None:
    told = run("check", "conflict", branch_ahead(tmp_path / "t", version=version), "snapshot-2", kind).output
    assert told.startswith("It loses the swap, applies its changes again on the new metadata, and commits")
    assert "3 snapshots (snapshot-3 to snapshot-5) came after snapshot-2, and not on main (branch ingestion)" in told
    assert "each commit to any of them costs it a try" in told
    assert "A job that began after snapshot-5 does not lose to these" in told
    assert "use-starting-sequence-number" not in told  # no delete came


def test_a_change_of_schema_is_refused_after_a_commit_to_another_branch(tmp_path: Path) -> None:
    told = run("check", "conflict", branch_ahead(tmp_path / "t", 1), "snapshot-2", "add-column").output
    assert told.startswith("It is refused: metadata.json is another than its base")
    assert "1 snapshot (snapshot-3) came after snapshot-2, and not on main (branch ingestion)" in told
    assert "has it refused" in told


def test_a_change_of_schema_is_tried_once(tmp_path: Path) -> None:
    folder = branch_ahead(tmp_path / "t", 0)
    told = run("check", "conflict", folder, "snapshot-2", "add-column").output
    assert told.startswith("It commits")
    assert "If a property, a schema, a branch or a tag was changed since it began, it is refused" in told
    told = run("check", "conflict", folder, "snapshot-2", "append").output
    assert told.startswith("It commits")
    assert "not on main" not in told


def test_what_came_before_the_base_is_no_commit_since(tmp_path: Path) -> None:
    table = Table(tmp_path / "t", [(1, "id", "long")])
    table.append(table.parquet("a.parquet", {"id": [1]}))
    data = table.parquet("b.parquet", {"id": [2]})
    table.snapshot(
        "append", [table.manifest("b.avro", [(1, data)])], ref="other", parent=table.md["current-snapshot-id"]
    )
    table.append(table.parquet("c.parquet", {"id": [3]}))
    told = run("check", "conflict", str(tmp_path / "t"), "snapshot-3", "append").output
    assert told.startswith("It commits")
    assert "not on main" not in told


def test_the_overview_says_how_far_branches_are_from_main(tmp_path: Path) -> None:
    refs = direct.overview(branch_ahead(tmp_path / "t")).refs
    assert refs == ("branch main: snapshot-2", "branch ingestion: snapshot-5 (3 ahead of main)")
    table = Table(tmp_path / "u", [(1, "id", "long")])
    first = table.append(table.parquet("a.parquet", {"id": [1]}))
    table.append(table.parquet("b.parquet", {"id": [2]}))
    table.md["refs"].update(old={"snapshot-id": first, "type": "branch"}, then={"snapshot-id": first, "type": "tag"})
    table.save()
    refs = direct.overview(str(tmp_path / "u")).refs
    assert refs == ("branch main: snapshot-2", "branch old: snapshot-1 (1 behind main)", "tag then: snapshot-1")
