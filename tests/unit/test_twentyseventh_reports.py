"""Troubles of a twenty-seventh round of public reports, on tables that are built here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from explorer.reports.doctor import removed_rows
from tests.cases.mini import Table
from tests.support import direct
from tests.unit.test_cli import run
from tests.unit.test_twentyfifth_reports import refuse_insert


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


def test_commits_say_what_is_not_in_their_history(tmp_path: Path) -> None:
    folder = branch_ahead(tmp_path / "t")
    told = run("history", "commits", folder).output
    assert "3 snapshots are not in the history of snapshot-2: on other branches" in told
    told = run("history", "commits", branch_ahead(tmp_path / "u", 0)).output
    assert "not in the history" not in told


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


# -- files of a compaction that did not commit (apache/iceberg#12545) --------------------------------------------------
def test_files_that_no_commit_listed_may_be_a_compactions(tmp_path: Path) -> None:
    refuse_insert(tmp_path / "t", hours=200, committed=(300, 100))
    folder = str(tmp_path / "t")
    for asked in (["doctor", folder, "--files"], ["maintain", "preview", folder, "remove-orphans"]):
        told = run(*asked).output
        assert "An insert's may be nowhere else; those of a compaction, UPDATE or MERGE that did not commit" in told
        assert "doubles them, and brings back rows that deletes hide" in told
    told = run("storage", folder).output
    assert "refused or killed write, or failed task" in told


# -- rows that a compaction lost beside deletes of other files (apache/iceberg#11014) ----------------------------------
FIELDS = [(1, "id", "long"), (2, "p", "string")]


def compact_parts(folder: Path, kept: int, delete: str, of: str = "a", sequence: int | None = 1) -> Table:
    """Partitions a and b, a delete in one of them, and a compaction of b's ten rows that writes `kept` of them."""
    table = Table(folder, FIELDS, [(2, 1000, "p", "identity")])

    def write(name: str, ids: list[int], part: str) -> dict[str, Any]:
        return {**table.parquet(name, {"id": ids, "p": [part] * len(ids)}), "partition": {"p": part}}

    of_a, first = write("a.parquet", list(range(10)), "a"), write("b1.parquet", list(range(10, 15)), "b")
    second = write("b2.parquet", list(range(15, 20)), "b")
    table.append(of_a, first, second)
    hit = of_a if of == "a" else first
    if delete == "equality":
        made = table.equality_delete("e.parquet", {"id": [1 if of == "a" else 11]}, partition={"p": of})
    else:
        rows = [(hit["file_path"], n) for n in range(3)]
        rows += [(of_a["file_path"] if of == "b" else first["file_path"], 9)] if delete == "several" else []
        made = {**table.position_delete("d.parquet", rows), "partition": {"p": of}}
    table.delta(deletes=[made])
    deletes = [one for one in table.lists[table.md["current-snapshot-id"]] if one["content"] == 1]
    new = write("new.parquet", list(range(10, 10 + kept)), "b")
    numbers = {"sequence_number": sequence}
    manifests = [
        table.manifest("r-m0.avro", [(1, new)]),
        table.manifest("r-m1.avro", [(0, of_a, {"sequence_number": 1}), (2, first, numbers), (2, second, numbers)]),
    ]
    table.snapshot("replace", [*manifests, *deletes], {})
    return table


def lost_rows(table: Table) -> list[str]:
    findings = direct.doctor(str(table.folder)).findings
    return [one.what for one in findings if one.rule == "operation-contradicts"]


@pytest.mark.parametrize("delete", ["position", "equality", "several"])
def test_deletes_of_other_partitions_explain_no_loss(delete: str, tmp_path: Path) -> None:
    [what] = lost_rows(compact_parts(tmp_path / "t", 8, delete))
    assert "its parent's deletes hide none of these, so 2 rows are lost" in what
    [what] = lost_rows(compact_parts(tmp_path / "u", 9, delete))
    assert "so 1 row is lost" in what


def test_deletes_of_the_removed_files_explain_what_they_hide(tmp_path: Path) -> None:
    assert lost_rows(compact_parts(tmp_path / "a", 7, "position", "b")) == []
    [what] = lost_rows(compact_parts(tmp_path / "b", 6, "position", "b"))
    assert "hide 3 of these at most, so at least 1 row is lost" in what
    assert lost_rows(compact_parts(tmp_path / "c", 6, "several", "b")) == []  # four positions, one of another file
    assert lost_rows(compact_parts(tmp_path / "d", 5, "equality", "b")) == []  # it may hide all rows of a file
    [what] = lost_rows(compact_parts(tmp_path / "e", 4, "equality", "b"))
    assert "hide 5 of these at most" in what or "hide 10 of these at most" in what


def test_an_unknown_sequence_number_explains_as_much_as_all_deletes(tmp_path: Path) -> None:
    assert lost_rows(compact_parts(tmp_path / "a", 7, "position", sequence=None)) == []
    [what] = lost_rows(compact_parts(tmp_path / "b", 5, "position", sequence=None))
    assert "hide 3 of these at most, so at least 2 rows are lost" in what
    assert lost_rows(compact_parts(tmp_path / "c", 5, "equality", sequence=None)) == []


def test_too_many_files_are_not_compared_and_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(removed_rows, "FILES_COMPARED", 2)
    table = compact_parts(tmp_path / "t", 8, "equality")
    assert lost_rows(table) == []
    assert "whether snapshot-3 lost rows: more than 2 files would be compared" in str(direct.doctor(str(table.folder)))


def test_no_remedy_expires_the_way_back(tmp_path: Path) -> None:
    table = compact_parts(tmp_path / "t", 3, "equality")
    table.md["snapshots"][-1]["summary"]["added-records"] = "8"
    table.save()
    told = {one.rule: one.remedy for one in direct.doctor(str(table.folder)).findings}
    way_back = table.md["snapshots"][-2]["snapshot-id"]
    assert f"rollback_to_snapshot('your_db.your_table', {way_back})" in told["operation-contradicts"]
    assert told["totals-differ"].startswith(f"First mend what leads back to snapshot {way_back}: this may take that")


# -- files of an older partition spec (Eventual-Inc/Daft#7428) ---------------------------------------------------------
@pytest.mark.parametrize("transform", ["identity", "truncate[1]"])
def test_files_of_an_older_spec_are_written_anew_not_sorted(transform: str, tmp_path: Path) -> None:
    table = Table(tmp_path / "t", FIELDS)
    table.append(table.parquet("old.parquet", {"id": [1, 2, 3], "p": ["a", "b", "c"]}))
    told = run("plan", str(table.folder), "p = 'b'").output
    assert "older partition spec" not in told
    table.set_spec([(2, 1000, "p", transform)])
    table.save()
    table.append({**table.parquet("new.parquet", {"id": [4], "p": ["b"]}), "partition": {"p": "b"}})
    told = run("plan", str(table.folder), "p = 'b'").output
    assert "no file is skipped by p: files of an older partition spec are read, which does not partition by it" in told
    assert "maintain preview TABLE compact --option rewrite-all=true" in told
    assert "sorting the rows" not in told
