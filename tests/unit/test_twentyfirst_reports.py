"""Troubles of a twenty-first round of public reports, on tables that are built here."""

from __future__ import annotations

import os
import re
import shutil
import time
from pathlib import Path
from typing import get_args

import pytest

from explorer.queries.unnamed_commits import UnnamedCommits, find_unnamed_commits
from explorer.reports.landed import find_landed
from explorer.reports.maintenance import preview
from explorer.reports.maintenance.file_stay import file_stay
from explorer.reports.maintenance_plan import plan_all
from explorer.reports.storage_ledger import storage_ledger
from explorer.spec.doctor.remedy_cases import CROSSED, OTHER_HEADER_SCHEMA
from explorer.spec.doctor.remedy_texts import TEXTS_OF
from explorer.spec.maintenance.statement_engines import StatementEngine
from tests.cases.mini import Table
from tests.support import direct
from tests.support.report_tables import found
from tests.support.small_tables import edit_metadata, make_table, set_back, writable
from tests.unit.test_cli import run


def age(folder: Path, days: float = 10) -> None:
    then = time.time() - days * 86_400
    for path in folder.rglob("*"):
        os.utime(path, (then, then))


def as_java_names(folder: Path) -> None:
    """Name manifest lists that no metadata names as Iceberg Java does: its attempts begin at 1."""
    texts = "".join(path.read_text() for path in folder.glob("metadata/*.metadata.json"))
    for path in folder.glob("metadata/snap-*-0-*.avro"):
        if path.name not in texts:
            path.rename(path.with_name(re.sub(r"^(snap-\d+)-0-", r"\1-1-", path.name)))


def raced(tmp_path: Path, java: bool = True) -> Path:
    """Two writers began at snapshot-2; both have committed, and the second replaced the metadata file of the first."""
    place = make_table(tmp_path, 2)
    rows = writable(place).scan().to_arrow().slice(0, 1)
    writable(place).append(rows)
    set_back(place)
    writable(place).append(rows)
    if java:
        as_java_names(place)
    age(place)
    return place


def unnamed(place: Path) -> UnnamedCommits:
    tree = direct.open_table(str(place)).tree
    return find_unnamed_commits(tree)


def test_a_commit_that_another_took_the_place_of_is_found_and_kept(tmp_path: Path) -> None:
    """apache/iceberg#970: two writers were told that they succeeded, and what was printed deleted the rows of one."""
    place = raced(tmp_path)
    [commit] = unnamed(place).commits
    table = direct.open_table(str(place))
    assert (commit.place, commit.twin) == ("beside", table.metadata.snapshots[2].snapshot_id)
    assert commit.added_files is not None
    [lost] = commit.added_files
    [finding] = found(str(place), "commit-unnamed")
    assert finding.severity == "warning"
    assert "on top of snapshot-2 with sequence number 3 (snapshot-3 has its place)" in finding.what
    assert "added 1 data file with 1 row, which is in no snapshot, and all of its files are there" in finding.what
    assert f"source_table => '`parquet`.`{lost}`'" in finding.remedy
    orphans = preview(table, "remove-orphans")
    assert (orphans.call, orphans.refusal[:15]) == ("", "Do not run this")
    for engine in get_args(StatementEngine):
        lines = plan_all(table, statements=engine).lines
        assert [line.statement for line in lines if line.operation == "remove-orphans" and line.statement] == []
    assert [g.cleanup.statement for g in storage_ledger(table).groups if g.group == "unused"] == [""]
    assert file_stay(table, lost).statement == ""
    for wanted in (str(commit.listed.snapshot_id), lost, lost.rpartition("/")[2]):
        assert find_landed(table, wanted).words.startswith("It did not land, but its files lie in the table's folder.")


def test_what_pyiceberg_leaves_of_a_failed_commit_is_said_and_may_go(tmp_path: Path) -> None:
    place = raced(tmp_path, java=False)
    [finding] = found(str(place), "commit-unnamed")
    assert finding.severity == "info"
    assert "pyiceberg before 0.12 leaves such a list where a commit fails" in finding.what
    orphans = preview(direct.open_table(str(place)), "remove-orphans")
    assert "remove_orphan_files" in orphans.call
    assert "It would remove the files of a commit that the table does not have" in orphans.warning


def test_commits_after_the_last_one_are_found(tmp_path: Path) -> None:
    """cloudflare/workers-sdk#12774: the lists of later commits lie there, and nothing names them."""
    place = make_table(tmp_path, 4)
    for path in sorted(place.glob("metadata/*.metadata.json"))[-2:]:
        path.unlink()
    as_java_names(place)
    age(place)
    commits = unnamed(place).commits
    assert [(c.place, c.listed.sequence_number) for c in commits] == [("after", 3), ("after", 4)]
    [finding] = found(str(place), "commit-unnamed")
    assert finding.count == 2
    assert "the table's last commit has sequence number 2" in finding.what
    assert "Its list has 4 manifests: the table as it was after this commit" in finding.what


def test_where_the_current_snapshot_cannot_be_read_nothing_is_added_to_the_table(tmp_path: Path) -> None:
    place = make_table(tmp_path, 4)
    for path in sorted(place.glob("metadata/*.metadata.json"))[-2:]:
        path.unlink()
    for snapshot in direct.open_table(str(place)).metadata.snapshots:
        Path(str(snapshot.manifest_list).removeprefix("file://")).unlink()
    as_java_names(place)
    age(place)
    [finding] = found(str(place), "commit-unnamed")
    assert "add_files fails on this table" in finding.remedy
    assert "Create a new table" in finding.remedy
    [current] = [f for f in found(str(place), "manifest-list-missing") if "No older snapshot" in f.remedy]
    assert "in a new table. On this one it fails" in current.remedy
    assert "removes a snapshot that no branch or tag needs" in current.remedy


def drop_snapshots(place: Path, numbers: set[int]) -> None:
    """Expire snapshots, but leave their files."""

    def change(data: dict[str, object]) -> None:
        snapshots = data["snapshots"]
        assert isinstance(snapshots, list)
        gone = {s["snapshot-id"] for i, s in enumerate(snapshots, 1) if i in numbers}
        data["snapshots"] = [s for s in snapshots if s["snapshot-id"] not in gone]
        data["snapshot-log"] = []

    edit_metadata(place, change)


@pytest.mark.parametrize("numbers", [{1}, {2}, {1, 2}, {1, 2, 3}])
def test_a_snapshot_that_has_expired_is_no_lost_commit(numbers: set[int], tmp_path: Path) -> None:
    place = make_table(tmp_path, 4)
    drop_snapshots(place, numbers)
    as_java_names(place)
    age(place)
    assert unnamed(place).commits == ()


def test_a_table_that_is_opened_by_an_older_metadata_file_has_lost_nothing(tmp_path: Path) -> None:
    place = make_table(tmp_path, 4)
    as_java_names(place)
    for path in place.glob("metadata/snap-*-0-*.avro"):  # as a writer of Iceberg Java names them all
        other = path.with_name(path.name.replace("-0-", "-1-", 1))
        path.rename(other)
        for metadata in place.glob("metadata/*.metadata.json"):
            metadata.write_text(metadata.read_text().replace(path.name, other.name))
    age(place)
    older = sorted(place.glob("metadata/*.metadata.json"))[2]
    assert unnamed(older).commits == ()
    assert unnamed(place).commits == ()
    for path in sorted(place.glob("metadata/*.metadata.json"))[3:]:
        path.unlink()
    assert [c.place for c in unnamed(older).commits] == ["after", "after"]


def test_a_young_list_may_be_of_a_commit_under_way(tmp_path: Path) -> None:
    place = raced(tmp_path)
    for path in place.glob("metadata/*.avro"):
        os.utime(path)
    assert unnamed(place).commits == ()


def test_a_commit_whose_files_another_has_is_not_lost(tmp_path: Path) -> None:
    place = raced(tmp_path)
    [commit] = unnamed(place).commits
    assert commit.added_files is not None
    writable(place).add_files(list(commit.added_files), check_duplicate_files=False)
    age(place)
    assert unnamed(place).commits == ()


def test_lists_that_say_nothing_or_too_much_do_no_harm(tmp_path: Path) -> None:
    place = make_table(tmp_path, 2)
    metadata = place / "metadata"
    own = next(metadata.glob("snap-*.avro"))
    (metadata / "snap-5-1-x.avro").write_bytes(b"no Avro")
    (metadata / "snap-99999999999999999999-1-x.avro").write_bytes(b"")
    (metadata / "snap-6-1-x.avro").write_bytes(own.read_bytes())  # whose manifests another snapshot wrote
    for number in range(100, 140):
        shutil.copy(own, metadata / f"snap-{number}-1-y.avro")
    age(place)
    told = unnamed(place)
    assert told.commits == ()
    assert told.unread == 21  # beside the one that is no Avro


def test_nessies_tables_keep_their_files_for_other_branches(tmp_path: Path) -> None:
    """apache/iceberg#9562: Nessie sets gc.enabled, and its own tool removes files."""
    place = make_table(tmp_path, 3)
    edit_metadata(place, lambda d: d["properties"].update({"gc.enabled": "false"}))
    plain = preview(direct.open_table(str(place)), "expire").refusal
    assert "may belong to other tables too" in plain
    edit_metadata(place, lambda d: d["properties"].update({"nessie.commit.id": "abc"}))
    for operation in ("expire", "remove-orphans"):
        told = preview(direct.open_table(str(place)), operation)
        assert told.call == ""
        assert "nessie-gc" in told.refusal


@pytest.mark.parametrize(("task", "number"), [("00001", 1), ("00000", 0), ("x", 0)])
def test_a_delete_of_one_task_and_a_row_of_another_in_one_commit_are_found(
    task: str, number: int, tmp_path: Path
) -> None:
    """apache/iceberg#15305: the row stays, and nothing told of it where nobody knew a key. A task that deletes a key,
    and writes it anew, is as it should be."""
    table = Table(tmp_path / "t", [(1, "id", "int"), (2, "v", "string")])
    table.append(table.parquet("00000-0-j-00001.parquet", {"id": [7, 8], "v": ["old", "old"]}))
    row = table.parquet("00000-0-j-00002.parquet", {"id": [7], "v": ["new"]})
    table.delta([row], [table.equality_delete(f"{task}-0-j-00003.parquet", {"id": [7, 9]})])
    findings = found(tmp_path / "t", "delete-repeated", deep=True)
    assert len(findings) == number
    if number:
        [finding] = findings
        assert finding.what == f"an equality delete of task 00001 holds 1 key of {CROSSED}"
        assert (finding.found, finding.columns) == ("7", ("id",))
        assert "keyBy" in finding.remedy


@pytest.mark.parametrize("touches", [True, False])
def test_a_compaction_that_is_refused_without_need(touches: bool, tmp_path: Path) -> None:
    """apache/iceberg#6330: the delete file's entry names no data file; its rows name those of their own commit."""
    table = Table(tmp_path / "t", [(1, "id", "int")])
    old = table.parquet("a.parquet", {"id": [1, 2]})
    table.append(old)
    new = [table.parquet(f"{n}.parquet", {"id": [3, 4]}) for n in ("b", "c")]
    named = [old["file_path"] if touches else new[0]["file_path"], new[1]["file_path"]]
    table.delta(new, [table.position_delete("p.parquet", [(path, 0) for path in sorted(named)])])
    told = run("check", "conflict", str(tmp_path / "t"), "snapshot-1", "compaction").output
    assert "snapshot-2 added position deletes that may be for a data file that this commit rewrites" in told
    assert ("name 2 data files, 1 of which this commit rewrites" in told) == touches
    assert ("the commit is refused without need" in told) != touches
    assert "partial-progress.enabled" in told


def test_a_header_with_another_schema_says_which_reader_refuses_it() -> None:
    """ClickHouse/ClickHouse#119743."""
    assert "ClickHouse before 26.9 refuses such a table" in OTHER_HEADER_SCHEMA
    assert "rewrite_manifests" in TEXTS_OF["header-schema"]
