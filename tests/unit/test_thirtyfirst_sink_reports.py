"""What public reports of trouble with Iceberg tables told, a thirty-first time: of readers and writers that return."""

from __future__ import annotations

from datetime import datetime, timezone
from pathlib import Path

import pyarrow as pa
import pytest

import explorer
from explorer.reports.maintenance import Preview
from tests.cases.mini import Table
from tests.support.small_tables import make_table, writable
from tests.unit.test_reader_positions import write_checkpoint

NEVER = "2999-01-01"


def expiry_preview(place: Path, *readers: str, **option: str) -> Preview:
    opened = explorer.open_table(str(place), roots=[str(place.parent)])
    return opened.maintain.preview("expire", option=option, reader=readers).value


def states(seen: Preview) -> dict[str, str]:
    return {row["use"]: row["becomes"] for row in seen.tables["readers"]}


def snapshot_ids(place: Path) -> list[int]:
    snapshots = explorer.open_table(str(place)).metadata.snapshots
    return [s.snapshot_id for s in sorted(snapshots, key=lambda s: s.sequence_number)]


def changed_table(folder: Path) -> Path:
    """Two appends, an overwrite that keeps one row of a file, an append, a delete of a whole file, an append."""
    place = make_table(folder, 2)
    table = writable(place)
    more = pa.schema([("id", pa.int64()), ("fruit", pa.string())])
    table.delete("id = 0")
    table.append(pa.table({"id": [6], "fruit": ["fig"]}, more))
    table.delete("id = 6")
    table.append(pa.table({"id": [7], "fruit": ["kiwi"]}, more))
    operations = [s.operation for s in explorer.open_table(str(place)).metadata.snapshots]
    assert operations == ["append", "append", "overwrite", "append", "delete", "append"]
    return place


# -- readers of changes, by the operations of what they have to read (apache/iceberg#3265) -----------------------------
def test_a_stream_stops_at_the_first_snapshot_that_is_no_append(tmp_path: Path) -> None:
    place = changed_table(tmp_path / "t")
    first, second, overwrite, _, delete, _ = snapshot_ids(place)
    checkpoint = write_checkpoint(place / "c", [second, second], first)
    seen = expiry_preview(place, checkpoint)
    assert states(seen) == {"Spark stream": "stops", "Spark stream, AvailableNow": "stops"}
    error = (
        f"Spark fails: Cannot process overwrite snapshot: {overwrite}, to ignore overwrites, set "
        "streaming-skip-overwrite-snapshots=true"
    )
    assert [row["reason"] for row in seen.tables["readers"]] == [error, error]
    text = "\n".join(seen.words)
    assert "ways to read go on" not in text
    assert "The reader goes on" not in text
    assert f"(snapshot-2) stops at snapshot-3, whatever expires: {error}.\n" in text
    assert (
        "With streaming-skip-overwrite-snapshots=true a stream passes over snapshot-3 (overwrite): it never reads the "
        "rows that these added" in text
    )
    assert "With streaming-skip-delete-snapshots=true a stream passes over snapshot-5 (delete): it does not" in text
    assert str(delete) not in text
    assert (
        "A changelog view has all changes after snapshot-2, deleted rows too: CALL your_catalog.system."
        "create_changelog_view(table => 'your_db.your_table', options => map('start-snapshot-id', "
        f"'{second}'))." in text
    )


@pytest.mark.parametrize(("reader", "stops"), [(1, True), (2, True), (3, True), (4, True), (5, True), (6, False)])
def test_a_stream_looks_at_the_snapshot_at_which_it_stands(reader: int, stops: bool, tmp_path: Path) -> None:
    seen = expiry_preview(changed_table(tmp_path / "t"), f"snapshot-{reader}")
    assert states(seen)["Spark stream"] == ("stops" if stops else "goes on")
    assert ("All 3 ways to read go on: what they need stays." in seen.words) is not stops
    assert ("2 of 3 ways to read go on: what they need stays." in seen.words) is stops
    assert any("changelog view" in word for word in seen.words) is (reader < 6)


def test_a_new_stream_begins_with_the_oldest_snapshot(tmp_path: Path) -> None:
    place = changed_table(tmp_path / "t")
    seen = expiry_preview(place, write_checkpoint(place / "c", snapshot_ids(place)[:1], -1))
    assert states(seen) == {"Spark stream": "stops"}
    assert any(" after snapshot-1, deleted rows too" in word for word in seen.words)


def test_a_stream_passes_over_what_only_rewrites(tmp_path: Path) -> None:
    table = Table(tmp_path / "t", [(1, "id", "long")])
    table.append(table.parquet("1.parquet", {"id": [1]}))
    table.append(table.parquet("2.parquet", {"id": [2]}))
    table.snapshot("replace", table.lists[table.md["current-snapshot-id"]])
    seen = expiry_preview(table.folder, "snapshot-1", older_than="2000-01-01")
    assert set(states(seen).values()) == {"goes on"}
    assert "All 3 ways to read go on: what they need stays." in seen.words


@pytest.mark.parametrize("operation", ["merge", ""])
def test_no_option_passes_over_an_operation_that_nobody_knows(operation: str, tmp_path: Path) -> None:
    table = Table(tmp_path / "t", [(1, "id", "long")])
    table.append(table.parquet("1.parquet", {"id": [1]}))
    table.snapshot(operation, table.lists[table.md["current-snapshot-id"]])
    text = "\n".join(expiry_preview(table.folder, "snapshot-1").words)
    assert f"Cannot process unknown snapshot operation: {operation} (snapshot id" in text
    assert "No option lets a stream pass over snapshot-2" in text


def test_an_incremental_read_passes_over_what_is_no_append(tmp_path: Path) -> None:
    place = changed_table(tmp_path / "t")
    seen = expiry_preview(place, "snapshot-3")
    assert states(seen)["incremental read"] == "goes on"
    assert (
        "An incremental read after snapshot-3 reads appends alone, unless it is a changelog view: without an error it "
        "passes over snapshot-5 (delete)." in seen.words
    )


def test_a_changelog_read_needs_the_files_that_the_next_snapshot_removed(tmp_path: Path) -> None:
    """They go with the snapshot before it."""
    place = changed_table(tmp_path / "t")
    seen = expiry_preview(place, "snapshot-2", older_than=NEVER, retain_last="4")
    assert states(seen)["incremental read"] == "breaks"
    reasons = [row["reason"] for row in seen.tables["readers"]]
    assert any("a changelog read would fail, as the files that snapshot" in reason for reason in reasons)
    others = expiry_preview(place, "snapshot-3", older_than=NEVER, retain_last="3")
    assert states(others)["incremental read"] == "goes on"
    [_, offer, *_] = seen.words
    assert offer.startswith("This expiry breaks none of them, and removes 1 snapshot: CALL ")


def test_a_changelog_view_reads_no_snapshot_with_delete_files(tmp_path: Path) -> None:
    table = Table(tmp_path / "t", [(1, "id", "long")])
    one = table.parquet("1.parquet", {"id": [1, 2]})
    table.append(one)
    table.delta((), [table.position_delete("d.parquet", [(one["file_path"], 0)])])
    text = "\n".join(expiry_preview(table.folder, "snapshot-1").words)
    assert "A changelog view cannot read the changes after snapshot-1: snapshot-2 lists delete files" in text
    assert "CALL your_catalog.system.create_changelog_view" not in text


def test_a_time_after_which_changes_are_read(tmp_path: Path) -> None:
    place = changed_table(tmp_path / "t")
    second = explorer.open_table(str(place)).metadata.snapshots[1]
    assert second.timestamp_ms is not None
    moment = datetime.fromtimestamp(second.timestamp_ms / 1000, timezone.utc).isoformat()
    text = "\n".join(expiry_preview(place, moment).words)
    assert "unless it is a changelog view: without an error it passes over snapshot-3 (overwrite), snapshot-5" in text
    assert f"options => map('start-timestamp', '{second.timestamp_ms}'))." in text
