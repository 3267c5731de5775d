"""Troubles of a twenty-ninth round of public reports: sinks, folders and expiry, on tables that are built here."""

from __future__ import annotations

from pathlib import Path

import pytest

from explorer.reports.duplicate_keys import explain_keys
from tests.cases.mini import Table
from tests.support import direct
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
