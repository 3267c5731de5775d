"""Copies of tables: whole or not, behind or not, and whether their metadata leads back to the original."""

from __future__ import annotations

import shutil
from pathlib import Path

import pyarrow as pa
import pytest

import explorer
from explorer.spec.snapshots.table_copy import CopyCheck
from tests.support.small_tables import make_table, writable
from tests.unit.test_cli import run

ROW = pa.table({"id": [7], "fruit": ["fig"]})


def check(place: Path, copy: Path, files: bool = True) -> CopyCheck:
    return explorer.open_table(str(place)).check.copy(str(copy), check_files=files).value


@pytest.fixture
def pair(tmp_path: Path) -> tuple[Path, Path]:
    place = make_table(tmp_path)
    return place, Path(shutil.copytree(place, tmp_path / "backup" / "t"))


def test_a_copy_of_all_files_is_whole_and_leads_back_to_the_table(pair: tuple[Path, Path]) -> None:
    found = check(*pair)
    assert found.history.relation == "same"
    assert found.is_whole
    assert not found.stands_alone
    assert found.elsewhere == {"manifest lists": (3, 3), "manifests": (3, 3), "data and delete files": (3, 3)}
    assert found.leads_to == f"file://{pair[0]}"
    assert "names all 3 live files of snapshot-3" in " ".join(found.words)
    own = check(pair[0], pair[0])
    assert own.stands_alone
    assert own.is_whole


def test_a_copy_that_is_behind_and_one_with_commits_of_its_own(pair: tuple[Path, Path], tmp_path: Path) -> None:
    writable(pair[0]).append(ROW)
    found = check(*pair)
    assert (found.history.relation, found.history.commits, found.snapshot) == ("behind", 1, "snapshot-3")
    assert found.is_whole
    assert "The copy is 1 commit behind the table." in found.words
    ahead = check(pair[1], pair[0])
    assert (ahead.history.relation, ahead.history.commits) == ("ahead", 1)
    other = tmp_path / "other"
    shutil.copytree(pair[0], other / "t")
    table = writable(pair[0])
    table.manage_snapshots().rollback_to_snapshot(table.snapshots()[2].snapshot_id).commit()
    table.append(ROW)
    assert check(pair[0], other / "t").history.relation == "own commits"
    stranger = make_table(tmp_path / "stranger")
    assert check(pair[0], stranger).history.relation == "another table"


def test_a_table_without_commits_and_its_copy(tmp_path: Path) -> None:
    empty = make_table(tmp_path, commits=0)
    copy = shutil.copytree(empty, tmp_path / "backup" / "t")
    assert check(empty, copy).history.relation == "same"
    writable(empty).append(ROW)
    assert (check(empty, copy).history.relation, check(copy, empty).history.relation) == ("behind", "ahead")
    assert check(empty, copy).copied is None


def test_files_that_are_gone_or_of_another_length_are_named(pair: tuple[Path, Path]) -> None:
    first, second, third = sorted((pair[1] / "data").rglob("*.parquet"))
    first.unlink()
    second.write_bytes(second.read_bytes() + b" ")
    found = check(*pair)
    assert found.absent == 2
    assert not found.is_whole
    assert {Path(path).name for path in found.absent_examples} == {first.name, second.name}
    assert check(*pair, files=False).absent is None
    assert third.exists()


def test_entries_that_differ_are_counted(pair: tuple[Path, Path]) -> None:
    """The copy's newest manifest names a file that is not the table's, and another number of rows."""
    import fastavro

    newest = explorer.open_table(str(pair[1]))
    newest_id = newest.inspect.snapshots()[2]["snapshot-id"]
    [manifest] = [one["manifest_path"] for one in newest.inspect.manifests() if one["added_snapshot_id"] == newest_id]
    file = pair[1] / "metadata" / Path(manifest).name
    with file.open("rb") as data:
        reader = fastavro.reader(data)
        schema, records, header = reader.writer_schema, list(reader), reader.metadata
    records[0]["data_file"]["record_count"] += 1
    records.append(
        {**records[0], "data_file": {**records[0]["data_file"], "file_path": f"file://{pair[0]}/data/new.parquet"}}
    )
    own = {key: value for key, value in header.items() if not key.startswith("avro.")}
    with file.open("wb") as data:
        fastavro.writer(data, schema, records, metadata=own)
    copied = check(*pair, files=False).copied
    assert copied is not None
    assert (copied.missing, copied.extra, copied.different) == (0, 1, 1)
    assert copied.examples["extra"] == ["data/new.parquet"]


def test_many_files_are_compared_in_parts(pair: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("explorer.reports.table_copy.AT_ONCE", 1)
    assert check(*pair).copied == check(pair[0], pair[0]).copied


def test_the_command_says_it_and_its_exit_code_too(pair: tuple[Path, Path]) -> None:
    done = run("check", "copy", str(pair[0]), str(pair[1]), "--check-files")
    assert done.exit_code == 5
    assert "The copy's metadata names files outside the copy's folder" in done.output
    assert "CALL" not in done.output  # the table was opened by its path
    assert run("check", "copy", str(pair[0]), str(pair[0])).exit_code == 0
    assert run("check", "copy", str(pair[0]), "no.such").exit_code == 1
