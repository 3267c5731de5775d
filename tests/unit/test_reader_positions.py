"""Readers that come back, by what a person names. tests/spark holds what they need against Iceberg."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

import explorer
from explorer.errors import AccessRefused, NotFoundInTable, UnreadableFile
from explorer.reports.maintenance import Preview
from tests.support.small_tables import make_table

FLINK = Path(__file__).with_name("flink_checkpoint")
"""A checkpoint that Flink 2.1 made, of a source of Iceberg 1.11 that had read snapshot 5054290478343413570."""


def preview(table: Path, *readers: str, roots: tuple[Path, ...] = (), **arguments: object) -> Preview:
    opened = explorer.open_table(str(table), roots=[str(root) for root in roots])
    option = {"older_than": "2999-01-01"}
    return opened.maintain.preview("expire", option=option, reader=readers, **arguments).value  # type: ignore[arg-type]


def rows(seen: Preview) -> list[tuple[str, str]]:
    return [(row["use"], row["becomes"]) for row in seen.tables["readers"]]


def write_checkpoint(folder: Path, batches: list[int], begins: int, other_lines: tuple[str, ...] = ()) -> str:
    """A checkpoint as Spark writes it: a batch for each snapshot; the last batch was not committed."""

    def offset(snapshot_id: int) -> str:
        return json.dumps({"version": 1, "snapshot_id": snapshot_id, "position": 1, "scan_all_files": False})

    for part in ("offsets", "commits", "sources/0/offsets"):
        (folder / part).mkdir(parents=True)
    (folder / "sources/0/offsets/0").write_text(offset(begins))
    for number, snapshot_id in enumerate(batches):
        lines = ["v1", '{"batchWatermarkMs":0,"conf":{}}', *other_lines, offset(snapshot_id)]
        (folder / f"offsets/{number}").write_text("\n".join(lines))
        if number + 1 < len(batches):
            (folder / f"commits/{number}").write_text('v1\n{"nextBatchWatermarkMs":0}')
    return str(folder)


def test_a_snapshot_is_a_reader_in_each_way_that_is_open(tmp_path: Path) -> None:
    table = make_table(tmp_path, 4)
    seen = preview(table, "snapshot-2")
    assert rows(seen) == [("time travel", "breaks"), ("incremental read", "breaks"), ("Spark stream", "breaks")]
    assert seen.refusal == "Do not run this: 3 ways to read would no longer work."
    assert seen.call == ""
    assert seen.words[1].startswith("This expiry breaks none of them, and removes 1 snapshot: CALL ")
    assert rows(preview(table, "snapshot-4")) == [(use, "goes on") for use, _ in rows(seen)]
    assert preview(table, "snapshot-4").call


def test_an_incremental_read_goes_on_where_the_snapshot_after_it_stays(tmp_path: Path) -> None:
    seen = preview(make_table(tmp_path, 4), "snapshot-3")
    assert rows(seen) == [("time travel", "breaks"), ("incremental read", "goes on"), ("Spark stream", "breaks")]


def test_branches_times_and_numbers_that_are_gone(tmp_path: Path) -> None:
    table = make_table(tmp_path, 3)
    assert rows(preview(table, "main")) == [("time travel", "goes on")]
    gone = preview(table, "1234567890123456789")
    assert {becomes for _, becomes in rows(gone)} == {"is broken already"}
    assert gone.call  # nothing that works now would break
    assert rows(preview(table, "1999-01-01")) == [("time travel", "is broken already"), ("incremental read", "breaks")]
    with pytest.raises(NotFoundInTable, match=r"Unknown reader 'nobody'\. Give a snapshot's id or name"):
        preview(table, "nobody")
    with pytest.raises(NotFoundInTable, match="compact takes no readers: only expire breaks them"):
        explorer.open_table(str(table)).maintain.preview("compact", reader=["main"])


def test_a_stream_of_spark_stands_at_the_last_batch_that_was_committed(tmp_path: Path) -> None:
    table = make_table(tmp_path / "t", 4)
    first, second, *_ = snapshot_ids(table)
    other = '{"topic":{"0":12}}'  # the offset of a source that is not Iceberg
    checkpoint = write_checkpoint(tmp_path / "c", [first, second, second], first, (other, "-", "[" * 5000))
    seen = preview(table, checkpoint, roots=(tmp_path / "c",))
    assert [row["stands_at"] for row in seen.tables["readers"]] == ["snapshot-2", "snapshot-1"]
    assert rows(seen) == [("Spark stream", "breaks"), ("Spark stream, AvailableNow", "breaks")]
    [offset] = preview(table, f"{checkpoint}/offsets/0", roots=(tmp_path / "c",)).tables["readers"]
    assert (offset["use"], offset["stands_at"]) == ("Spark stream", "snapshot-1")


def test_a_stream_that_has_committed_nothing_stands_where_it_begins(tmp_path: Path) -> None:
    table = make_table(tmp_path / "t", 2)
    checkpoint = write_checkpoint(tmp_path / "c", snapshot_ids(table)[:1], -1)
    [reader] = preview(table, checkpoint, roots=(tmp_path,)).tables["readers"]
    assert (reader["stands_at"], reader["becomes"]) == ("before the first snapshot", "goes on")


@pytest.mark.parametrize("name", ["", "/_metadata"])
def test_a_source_of_flink_stands_where_its_checkpoint_says(tmp_path: Path, name: str) -> None:
    table = make_table(tmp_path, 2)
    [reader] = preview(table, f"{FLINK}{name}", roots=(FLINK,)).tables["readers"]
    assert (reader["use"], reader["becomes"]) == ("Flink source", "is broken already")
    assert "Starting snapshot (exclusive) 5054290478343413570 is not a parent ancestor" in reader["reason"]


def test_what_is_no_checkpoint_is_refused(tmp_path: Path) -> None:
    table = make_table(tmp_path / "t", 2)
    with pytest.raises(AccessRefused, match="outside the table's folder"):
        preview(table, str(FLINK))
    (tmp_path / "c").mkdir()
    (tmp_path / "c/text").write_text('[1]\n{"snapshot_id": true, "scan_all_files": 1}\n{\n{"snapshot_id": 5}')
    for path, message in (
        ("c/text", "has no offset of an Iceberg source"),
        ("c", "is no checkpoint"),
    ):
        with pytest.raises(NotFoundInTable, match=message):
            preview(table, f"{tmp_path}/{path}", roots=(tmp_path,))
    with pytest.raises(UnreadableFile, match="c/gone"):
        preview(table, f"{tmp_path}/c/gone", roots=(tmp_path,))
    shutil.copytree(FLINK, tmp_path / "flink")
    (tmp_path / "flink/_metadata").write_bytes((FLINK / "_metadata").read_bytes().replace(b"\x12\x01", b"\x12\x02"))
    with pytest.raises(NotFoundInTable, match="has no position of an Iceberg source of Flink"):
        preview(table, f"{tmp_path}/flink", roots=(tmp_path,))


def snapshot_ids(table: Path) -> list[int]:
    return [s.snapshot_id for s in explorer.open_table(str(table)).metadata.by_number]
