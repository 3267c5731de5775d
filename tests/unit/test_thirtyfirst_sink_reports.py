"""What public reports of trouble with Iceberg tables told, a thirty-first time: of readers and writers that return."""

from __future__ import annotations

import itertools
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import explorer
from explorer.reports.maintenance import Preview
from explorer.spec.readers.reader_support import (
    ReaderAnswer,
    ReaderVerdict,
    ReaderVersion,
    Support,
    readers_sentence,
)
from explorer.spec.readers.table_features import TableFeature
from tests.cases.mini import Table
from tests.support.small_tables import make_table, writable
from tests.unit.test_reader_positions import write_checkpoint
from tests.unit.test_thirtieth_reports import run

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
    assert f"(snapshot-2) stops at snapshot-3, whatever expires, if no option passes over it: {error}.\n" in text
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


# -- what distributes the rows of a MERGE (apache/iceberg#5099) --------------------------------------------------------
SPARK_41 = {
    "engine-name": "spark", "engine-version": "4.1.4", "iceberg-version": "Apache Iceberg 1.12.0 (commit 212aa89)",
}  # fmt: skip
SPARK_35 = {**SPARK_41, "engine-version": "3.5.7"}
MERGE = {**SPARK_41, "spark.merge-into.num-target-rows-updated": "1"}
SAME, FEWER = {"added-records": "9", "deleted-records": "9"}, {"added-records": "7", "deleted-records": "9"}
ON_READ = {"added-delete-files": "1"}
HASH = "write.{}distribution-mode=hash (it is {} now)"
HASHED = "is hash now: later commits show whether that is enough. If not, an option of the write, the session"
ADVICE = [
    ("append", SPARK_41, {"write.distribution-mode": "none"}, f"of INSERT by Spark: {HASH.format('', 'none')};"),
    ("append", SPARK_41, {}, f"of INSERT by Spark: write.distribution-mode {HASHED}"),
    ("append", {"flink.job-id": "j"}, {}, f"of INSERT by Flink: {HASH.format('', 'none')};"),
    ("append", {"flink.job-id": "j"}, {"write.distribution-mode": "hash"}, f"write.distribution-mode {HASHED}"),
    ("append", {}, {}, "what would help: fewer tasks that write"),
    ("append", {"trino_query_id": "q"}, {}, "what would help: fewer tasks that write"),
    ("replace", SPARK_41, {"write.merge.distribution-mode": "none"}, "what would help: fewer tasks that write"),
    (
        "overwrite", MERGE, {"write.distribution-mode": "none"},
        f"of MERGE by Spark: write.merge.distribution-mode {HASHED}",
    ),
    (
        "overwrite", MERGE, {"write.merge.distribution-mode": "none", "write.distribution-mode": "hash"},
        f"of MERGE by Spark: {HASH.format('merge.', 'none')};",
    ),
    (
        "append", MERGE, {"write.merge.distribution-mode": "none"},
        f"of MERGE by Spark: {HASH.format('merge.', 'none')};",
    ),
    (
        "overwrite", {**SPARK_41, "replace-partitions": "true"}, {"write.distribution-mode": "none"},
        f"of INSERT by Spark: {HASH.format('', 'none')};",
    ),
    (
        "overwrite", {**SPARK_41, **ON_READ}, {"write.update.distribution-mode": "none"},
        f"of UPDATE by Spark: {HASH.format('update.', 'none')};",
    ),
    (
        "overwrite", {**SPARK_35, **ON_READ}, {"write.merge.distribution-mode": "none"},
        f"of MERGE or UPDATE by Spark: {HASH.format('merge.', 'none')}, by which of them it was;",
    ),
    (
        "overwrite", {**SPARK_41, **SAME}, {"write.update.distribution-mode": "NONE"},
        f"of UPDATE or INSERT by Spark: {HASH.format('update.', 'none')}, by which of them it was;",
    ),
    (
        "overwrite", {**SPARK_41, **FEWER}, {"write.delete.distribution-mode": "range"},
        f"of DELETE or INSERT by Spark: {HASH.format('delete.', 'range')}, by which of them it was;",
    ),
    (
        "overwrite", {**SPARK_35, **FEWER}, {},
        f"write.merge.distribution-mode and write.delete.distribution-mode and write.distribution-mode {HASHED}",
    ),
]  # fmt: skip


def spread_table(
    folder: Path, commits: int, tasks: int, properties: dict[str, str], flat: bool = False
) -> tuple[Table, list[list[dict[str, Any]]]]:
    """An empty table, and the files of commits: one of each task in each of two partitions."""
    spec = [] if flat else [(1, 1000, "id", "identity")]
    table = Table(folder, [(1, "id", "int")], spec, properties=properties)
    kinds = [table.parquet(f"{n}.parquet", {"id": [n]}, partition={} if flat else {"id": n}) for n in (0, 1)]
    numbers = itertools.count()
    return table, [
        [{**file, "file_path": f"{file['file_path']}.{next(numbers)}"} for _ in range(tasks) for file in kinds]
        for _ in range(commits)
    ]


@pytest.mark.parametrize(("operation", "summary", "properties", "words"), ADVICE)
@pytest.mark.parametrize("by", ["bytes", "number"])
def test_the_property_of_the_statement_is_named(
    operation: str, summary: dict[str, str], properties: dict[str, str], words: str, by: str, tmp_path: Path
) -> None:
    """Of commits of a file's worth of bytes, and of smaller ones that are many."""
    target = {"write.target-file-size-bytes": "2000"} if by == "bytes" else {}
    table, commits = spread_table(tmp_path / "t", 3, 20, {**properties, **target})
    for files in commits:
        table.append(*files)
        table.md["snapshots"][-1]["summary"].update({**summary, "operation": operation})
        table.save()
    text = run("health", str(table.folder), "--threshold", "written-files=1.5")
    if by == "number" and operation == "replace":
        assert "written-files" not in text.partition("Commits (retained history)")[0]
        return
    assert words in text, text
    assert "120 data files by 3 commits to 6 partitions" in text
    assert ("3 commits of them wrote less than a file's worth of bytes, 40 files each on average" in text) is (
        by == "number"
    )


@pytest.mark.parametrize(("summary", "words"), [
    (SPARK_41, "of INSERT by Spark: write.distribution-mode cannot help, as the table has no partitions"),
    (MERGE, "of MERGE by Spark: write.merge.distribution-mode cannot help, as the table has no partitions"),
    ({**MERGE, **ON_READ}, f"of MERGE by Spark: {HASH.format('merge.', 'none')}"),
])  # fmt: skip
def test_no_mode_helps_an_insert_into_a_table_without_partitions(
    summary: dict[str, str], words: str, tmp_path: Path
) -> None:
    table, commits = spread_table(tmp_path / "t", 3, 30, {"write.merge.distribution-mode": "none"}, flat=True)
    for files in commits:
        table.append(*files)
        table.md["snapshots"][-1]["summary"].update(summary)
        table.save()
    assert words in run("health", str(table.folder), "--threshold", "written-files=1.5")


def test_small_commits_that_are_few_are_no_cause(tmp_path: Path) -> None:
    table, commits = spread_table(tmp_path / "t", 2, 20, {})
    for files in commits:
        table.append(*files)
    text = run("health", str(table.folder))
    assert "written-files" not in text.partition("Commits (retained history)")[0]
    assert "no commit wrote a file's worth of bytes" in text


def test_small_files_say_how_many_commits_were_small(tmp_path: Path) -> None:
    table, commits = spread_table(tmp_path / "t", 3, 20, {"write.target-file-size-bytes": "100000"})
    large = {**commits[0][0], "file_path": f"{table.location}/data/large", "file_size_in_bytes": 200_000}
    table.append(large)
    for files in commits:
        table.append(*files)
    text = run("health", str(table.folder), "--threshold", "small-files=3")
    assert "; 3 of 4 commits that added data wrote less than a file's worth of it" in text


# -- a compaction that leaves no position delete (ClickHouse/ClickHouse#53088) -----------------------------------------
DROPS = "'remove-dangling-deletes', 'true'"
NEW = f"{DROPS}, 'use-starting-sequence-number', 'false'"


def deleted_table(folder: Path, of_several: bool, later: bool) -> Table:
    """Six small files, of each of which a position delete hides a row; `of_several` of them are one delete file."""
    table = Table(folder, [(1, "id", "long")])
    files = [table.parquet(f"{n}.parquet", {"id": [n, n + 10]}) for n in range(6)]
    table.append(*files)
    rows = [[(file["file_path"], 0)] for file in files]
    rows = [list(itertools.chain(*rows))] if of_several else rows
    table.delta((), [table.position_delete(f"d{n}.parquet", some) for n, some in enumerate(rows)], operation="delete")
    if later:
        table.append(table.parquet("later.parquet", {"id": [99]}))
    return table


@pytest.mark.parametrize(("of_several", "later", "options"), [
    (False, False, DROPS), (True, False, NEW), (True, True, DROPS), (False, True, DROPS),
])  # fmt: skip
def test_the_statement_of_all_maintenance_drops_position_deletes(
    of_several: bool, later: bool, options: str, tmp_path: Path
) -> None:
    text = run("maintain", "all", str(deleted_table(tmp_path / "t", of_several, later).folder))
    assert f"rewrite_data_files(table => 'your_db.your_table', options => map({options}))" in text
    assert text.count("rewrite_data_files(") == 1
    assert "rewrite_position_delete_files(" not in text
    assert "as ClickHouse does, subtract their rows" in text


def test_a_compaction_without_position_deletes_has_its_defaults(tmp_path: Path) -> None:
    table = Table(tmp_path / "t", [(1, "id", "long")])
    table.append(*(table.parquet(f"{n}.parquet", {"id": [n]}) for n in range(6)))
    text = run("maintain", "all", str(table.folder))
    assert "rewrite_data_files(table => 'your_db.your_table')" in text
    assert "dangling" not in text.partition("rewrite_data_files")[2].partition("\n")[0]


# -- readers that were not asked (trinodb/trino#22677) -----------------------------------------------------------------
def case_table(folder: Path) -> Table:
    """A table of two columns whose names differ in case only."""
    table = Table(folder, [(1, "body", "string"), (2, "Body", "string")])
    table.append(table.parquet("1.parquet", {"body": ["a"], "Body": ["b"]}))
    return table


def test_readers_that_were_not_asked_are_not_said_to_be_unable(tmp_path: Path) -> None:
    words = run("readers", str(case_table(tmp_path / "t").folder))
    assert "No reader is known that can read the table" not in words
    assert "It is not known of" in words


ASKED = "Of the readers that were asked, none can read the table."
NONE = "No reader is known that can read the table."
SENTENCES = [
    (("no", "unknown"), f"{ASKED} A cannot, because of X. It is not known of B."),
    (("no", "no"), f"{NONE} A and B cannot, because of X."),
    (("unknown", "unknown"), f"{NONE} It is not known of A and B, as none was asked."),
    (("yes", "unknown"), "A can read the table. It is not known of B."),
]


@pytest.mark.parametrize(("answers", "words"), SENTENCES)
def test_the_sentence_about_readers(answers: tuple[ReaderAnswer, ReaderAnswer], words: str) -> None:
    feature = TableFeature("x", "", own_title="X")
    verdicts = [
        ReaderVerdict(ReaderVersion(name, name, "1"), answer, ((feature, Support(answer, "s", "d")),))
        for name, answer in zip("AB", answers, strict=True)
    ]
    assert readers_sentence(verdicts) == words
