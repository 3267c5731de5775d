"""Troubles of a twenty-ninth round of public reports: sinks, folders and expiry, on tables that are built here."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from pyiceberg.table import StaticTable

from explorer.reports.duplicate_keys import explain_keys
from tests.cases.mini import Table
from tests.support import direct
from tests.support.report_tables import found
from tests.unit.test_cli import run


# -- a commit that hides its own rows (apache/iceberg#9773) ------------------------------------------------------------
def sink(folder: Path, identifier: bool = True, own: bool = True) -> Table:
    """An append, and a commit of two rows of one key with a position delete: of its own first row, or of a row of the
    append."""
    table = Table(folder, [(1, "id", "int", True), (2, "value", "string")])
    if identifier:
        table.md["schemas"][0]["identifier-field-ids"] = [1]
    first = table.parquet("first.parquet", {"id": [1], "value": ["value 1"]})
    table.append(first)
    second = table.parquet("second.parquet", {"id": [1, 1], "value": ["value 2", "value 3"]})
    hit = second if own else first
    table.delta([second], [table.position_delete("delete.parquet", [(hit["file_path"], 0)])])
    table.md["snapshots"][-1]["summary"] |= {"added-position-deletes": "1", "flink.job-id": "a"}
    table.write()
    return table


@pytest.mark.parametrize("own", [True, False])
@pytest.mark.parametrize("identifier", [True, False])
def test_a_row_that_its_own_commit_hid_is_shown(identifier: bool, own: bool, tmp_path: Path) -> None:
    table = sink(tmp_path / "t", identifier, own)
    history = direct.open_table(str(table.folder)).row_history("id = 1")
    told = [e for e in history.events if e.words.startswith("added and hidden at once")]
    text = run("data", "history", str(table.folder), "id = 1").output
    assert ("the data file still has it" in text.lower()) is own
    assert ("A sink with equality fields writes such deletes, in upsert mode or not" in text) is own
    assert ("Flink takes the table's identifier fields (id)" in text) is (own and identifier)
    assert ("DROP IDENTIFIER FIELDS id" in text) is (own and identifier)
    if own:
        [event] = told
        assert (event.what, event.row["value"], event.pos, event.snapshot) == ("deleted", "value 2", 0, "snapshot-2")
        assert "value='value 2'." in text
    else:
        assert not told


def test_a_row_stays_hidden_by_the_commit_that_added_it(tmp_path: Path) -> None:
    """A later commit tells it no second time."""
    table = sink(tmp_path / "t")
    table.append(table.parquet("third.parquet", {"id": [2], "value": ["x"]}))
    events = direct.open_table(str(table.folder)).row_history("").events
    assert [e.snapshot for e in events if "at once" in e.words] == ["snapshot-2"]


@pytest.mark.parametrize("own", [True, False])
def test_duplicates_that_a_sink_leaves_are_explained(own: bool, tmp_path: Path) -> None:
    table = sink(tmp_path / "t", own=own)
    if not own:
        table.append(table.parquet("third.parquet", {"id": [1], "value": ["value 4"]}))
    [told] = explain_keys(direct.open_table(str(table.folder)), [({"id": 1}, 2)], ["id"], None)
    assert ("hide only rows that it added itself, not the older row" in told.why) is own
    assert ("Drop the table's identifier fields" in told.why) is own


@pytest.mark.parametrize("own", [True, False])
def test_health_and_overview_warn_of_the_last_copy(own: bool, tmp_path: Path) -> None:
    table = sink(tmp_path / "t", own=own)
    text = run("health", str(table.folder)).output
    assert "what would help: compaction applies deletes" in text
    assert ("1 row was hidden by the commit that added it, and has never been visible. Comp" in text) is own
    assert ("rows that their own commit hid" in text) is own
    assert ("1 row hidden by the commit that added it" in run("overview", str(table.folder)).output) is own


# -- metadata files whose names have no version (ClickHouse/ClickHouse#68436) ------------------------------------------
def without_version(folder: Path, name: str = "v00001-34e20dae-5c6f-4d3e-abb6-4710cb2c43de.metadata.json") -> Path:
    """A table whose one metadata file has a name in which Iceberg finds no version; that file."""
    table = Table(folder, [(1, "id", "int")])
    table.append(table.parquet("a.parquet", {"id": [1, 2]}))
    newest = max(table.folder.glob("metadata/*.metadata.json"), key=lambda one: one.stat().st_mtime_ns)
    text = newest.read_text()
    for one in table.folder.glob("metadata/*.metadata.json"):
        one.unlink()
    for one in table.folder.glob("metadata/version-hint.text"):
        one.unlink()
    newest.with_name(name).write_text(text)
    return newest.with_name(name)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("v00001-34e20dae-5c6f-4d3e-abb6-4710cb2c43de.metadata.json", "ClickHouse 26.9 reads it, and older versions f"),
        ("backup.metadata.json", "ClickHouse fails on backup.metadata.json ('Bad metadata file name')"),
    ],
)
def test_a_name_without_a_version_and_clickhouse(name: str, words: str, tmp_path: Path) -> None:
    place = without_version(tmp_path / "t", name)
    [finding] = found(tmp_path / "t", "metadata-choice")
    assert words in finding.what
    assert "another table state that readers" not in finding.about.title
    assert "or fail" in finding.about.title
    assert "as v1.metadata.json beside it, and write 1 into version-hint.text" in finding.remedy
    assert "The old names stay in the folder" in finding.remedy
    assert words in run("readers", str(tmp_path / "t")).output
    assert "holds where they are given that file" not in run("readers", str(place)).output


def test_readers_of_the_folder_read_a_copy_with_a_version(tmp_path: Path) -> None:
    place = without_version(tmp_path / "t")
    shutil.copy(place, place.with_name("v1.metadata.json"))
    (place.parent / "version-hint.text").write_text("1")
    assert StaticTable.from_metadata(str(tmp_path / "t")).scan().to_arrow()["id"].to_pylist() == [1, 2]
    assert not found(tmp_path / "t", "metadata-choice")
