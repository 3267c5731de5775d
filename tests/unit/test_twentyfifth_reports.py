"""Troubles of a twenty-fifth round of public reports, on tables that are built here."""

from __future__ import annotations

import json
import os
import time
from dataclasses import replace
from pathlib import Path

import pytest

from explorer.render.writers import SHOWN, render_writers, writers_words
from explorer.reports.landed import find_landed
from explorer.reports.maintenance.previews import preview
from explorer.reports.readers import find_readers
from explorer.spec.commits.commit_writers import MOST_EVENTS, WriterEvent, writers_of
from explorer.spec.commits.kept_commits import kept_commits
from explorer.spec.commits.unnamed_commits import UnnamedCommit, UnnamedList
from explorer.spec.doctor.loading import explain_not_opened
from explorer.spec.doctor.remedy_parts import unnamed_commit_recovery
from tests.cases.mini import Table
from tests.support import direct
from tests.support.feature_tables import OURS
from tests.support.report_tables import found
from tests.support.small_tables import make_table, newest_metadata
from tests.unit.test_cli import run


# -- a table of version 1 without a UUID (StarRocks/starrocks#48235) ---------------------------------------------------
def test_a_table_without_a_uuid_gets_one_in_a_copy(tmp_path: Path) -> None:
    OURS["fault-no-uuid"](tmp_path / "t")
    [finding] = found(tmp_path / "t", "uuid-changed")
    assert "Iceberg Java loads it" in finding.what
    assert "cannot load a table with this fault" not in finding.remedy
    assert "backup" not in finding.remedy
    assert '"table-uuid": "' in finding.remedy
    assert "-mended.metadata.json') makes a table of it under another name" in finding.remedy
    assert "it cannot query this table" in preview(direct.open_table(str(tmp_path / "t")), "compact").refusal


def test_in_a_folder_the_copy_is_the_next_version(tmp_path: Path) -> None:
    OURS["fault-no-uuid"](tmp_path / "t")
    newest = newest_metadata(tmp_path / "t")
    newest.rename(newest.with_name("v7.metadata.json"))
    (newest.parent / "version-hint.text").write_text("7")
    [finding] = found(tmp_path / "t", "uuid-changed")
    assert "(v8.metadata.json)" in finding.remedy
    assert "register_table" not in finding.remedy


def test_readers_say_who_reads_a_table_without_a_uuid(tmp_path: Path) -> None:
    """The doctor said that pyiceberg reads it, and `readers` that no reader does."""
    OURS["fault-no-uuid"](tmp_path / "t")
    answers = {v.reader.id: v.answer for v in find_readers(direct.open_table(str(tmp_path / "t"))).verdicts}
    assert {"pyiceberg", "trino", "clickhouse"} <= {name for name, answer in answers.items() if answer == "yes"}
    assert {"spark", "duckdb"} <= {name for name, answer in answers.items() if answer == "no"}


def test_why_spark_cannot_open_a_table_is_known_from_its_metadata(tmp_path: Path) -> None:
    OURS["fault-no-uuid"](tmp_path / "t")
    table = direct.open_table(str(tmp_path / "t"))
    words = explain_not_opened(table.metadata)
    assert words.startswith(f"Spark cannot open {table.metadata.metadata_location}: the table has no UUID")
    assert "uuid-changed" in words
    assert explain_not_opened(direct.open_table(str(make_table(tmp_path / "whole"))).metadata) == ""


# -- a folder in which readers find another version (ClickHouse/ClickHouse#120833) -------------------------------------
@pytest.mark.parametrize(
    ("hint", "lost", "words"),
    [
        (None, (), "Any commit that Spark makes in this folder writes the file"),
        ("1", (), "The next commit that Spark makes in this folder writes the number anew"),
        ("3", ("v3",), "take version-hint.text away"),
        ("1", ("v2",), "write the number of the version that is to be the table's"),
    ],
)
def test_each_fault_of_a_hint_has_its_own_remedy(
    hint: str | None, lost: tuple[str, ...], words: str, tmp_path: Path
) -> None:
    """Nothing named a hint \"that is wrong\" where there was none."""
    table = Table(tmp_path / "t", [(1, "id", "long")])
    table.append(table.parquet("a.parquet", {"id": [1]}))
    metadata = tmp_path / "t" / "metadata"
    text = newest_metadata(tmp_path / "t").read_text()
    for file in metadata.glob("*.metadata.json"):
        file.unlink()
    for name in {"v1", "v2", "v3"} - set(lost):
        (metadata / f"{name}.metadata.json").write_text(text)
    if hint is not None:
        (metadata / "version-hint.text").write_text(hint)
    [finding] = found(tmp_path / "t", "metadata-choice")
    assert words in finding.remedy
    assert "a version-hint.text that is wrong" not in finding.remedy


# -- what no commit listed (Altinity/ice#158) --------------------------------------------------------------------------
HOURS = 3600


def append_files(folder: Path, *names: str) -> Table:
    """A table of commits that each add a file."""
    table = Table(folder, [(1, "id", "long")])
    for number, name in enumerate(names):
        table.append(table.parquet(name, {"id": [number]}))
    return table


def age(path: Path, hours: float) -> None:
    then = time.time() - hours * HOURS
    os.utime(path, (then, then))


def refuse_insert(folder: Path, hours: float = 4, committed: tuple[int, int] = (5, 3)) -> Table:
    """Two commits, and between them a data file of an insert that was refused."""
    table = append_files(folder, "base.parquet", "won.parquet")
    table.parquet("refused.parquet", {"id": [7]})
    age(folder / "data" / "refused.parquet", hours)
    now = int(time.time() * 1000)
    for snapshot, ago in zip(table.md["snapshots"], committed, strict=True):
        snapshot["timestamp-ms"] = now - ago * HOURS * 1000
    table.md["last-updated-ms"] = now - committed[1] * HOURS * 1000
    table.md["snapshot-log"] = []
    table.write()
    return table


def test_a_file_that_no_snapshot_can_have_listed_did_not_land(tmp_path: Path) -> None:
    refuse_insert(tmp_path / "t")
    table = direct.open_table(str(tmp_path / "t"))
    words = find_landed(table, "refused.parquet").words
    assert words.startswith("It did not land. ")
    assert "all commits that the table ever had (2) are there" in words
    assert "has expired" not in words
    assert "no commit ever listed it" in find_landed(table, "never.parquet").words
    shown = run("inspect", "file", str(tmp_path / "t"), "refused.parquet").output
    assert "it was never committed" in shown
    assert "as a snapshot it did not land" in find_landed(table, "2088013820286580968").words
    assert "did not land" not in find_landed(table, "some-application").words


def test_where_snapshots_have_expired_the_commits_since_tell(tmp_path: Path) -> None:
    """The first of three commits is gone: what was written after the second cannot be of it."""
    table = append_files(tmp_path / "t", "a.parquet", "b.parquet", "c.parquet")
    now = int(time.time() * 1000)
    for snapshot, ago in zip(table.md["snapshots"], (50, 40, 30), strict=True):
        snapshot["timestamp-ms"] = now - ago * HOURS * 1000
    table.md["last-updated-ms"] = now - 30 * HOURS * 1000
    table.md["snapshots"] = table.md["snapshots"][1:]
    table.md["snapshot-log"] = []
    for name, hours in (("before.parquet", 45), ("since.parquet", 35)):
        table.parquet(name, {"id": [9]})
        age(tmp_path / "t" / "data" / name, hours)
    table.write()
    opened = direct.open_table(str(tmp_path / "t"))
    kept = kept_commits(opened.metadata)
    assert kept is not None
    assert (kept.commits, kept.since_ms) == (2, now - 40 * HOURS * 1000)
    assert "it was never committed" in find_landed(opened, "since.parquet").words
    assert "a snapshot that has expired listed it" in find_landed(opened, "before.parquet").words


def test_of_a_table_without_a_commit_no_file_landed(tmp_path: Path) -> None:
    table = Table(tmp_path / "t", [(1, "id", "long")])
    table.write()
    table.parquet("a.parquet", {"id": [1]})
    age(tmp_path / "t" / "data" / "a.parquet", 1_000_000)
    words = find_landed(direct.open_table(str(tmp_path / "t")), "a.parquet").words
    assert "no commit lists it, and the table never had a commit" in words


@pytest.mark.parametrize("change", ["version", "number", "parent"])
def test_nothing_is_sure_without_all_sequence_numbers(change: str, tmp_path: Path) -> None:
    table = append_files(tmp_path / "t", "a.parquet", "b.parquet")
    if change == "version":
        table.md["format-version"] = 1
    elif change == "number":
        table.md["last-sequence-number"] = 9
    else:  # of version 1, before the upgrade
        table.md["snapshots"][0]["parent-snapshot-id"] = 55
    table.write()
    kept = kept_commits(direct.open_table(str(tmp_path / "t")).metadata)
    assert kept is None or kept.since_ms is not None


def test_rows_of_a_refused_insert_are_told_before_they_are_removed(tmp_path: Path) -> None:
    refuse_insert(tmp_path / "t")
    [finding] = found(tmp_path / "t", "orphan-files", files=True)
    assert "1 data file" in finding.what
    assert "is in no commit" in finding.what
    before, _, after = finding.remedy.partition("remove_orphan_files")
    assert "add_files" in before
    assert "insert them again" in before
    assert "removes them, those files too" in after
    shown = run("storage", str(tmp_path / "t")).output
    assert "No commit listed 1 data file of them" in shown
    assert "refused or killed write, or failed task" in shown


def test_what_is_left_out_for_an_hour_is_told(tmp_path: Path) -> None:
    refuse_insert(tmp_path / "t", hours=0.2)
    lost = tmp_path / "t" / "metadata" / "snap-2088013820286580968-1-b07c21d6-93a0-4a0e-b0c5-5e1f0f6cd003.avro"
    lost.write_bytes(next((tmp_path / "t" / "metadata").glob("snap-*.avro")).read_bytes())
    table = direct.open_table(str(tmp_path / "t"))
    words = find_landed(table, "2088013820286580968").words
    assert "One is that of this snapshot." in words
    assert "ask again later" in words
    assert "ask again later" in find_landed(table, "refused.parquet").words
    assert "did not land" not in find_landed(table, "refused.parquet").words
    report = direct.doctor(tmp_path / "t", files=True)  # a commit may be under way
    assert not any("that no metadata names" in one for one in report.not_checked)
    os.utime(lost, (time.time() - 600,) * 2)
    report = direct.doctor(tmp_path / "t", files=True)
    assert any("1 manifest list that no metadata names" in one and "ask again" in one for one in report.not_checked)
    [orphans] = [f for f in report.findings if f.rule == "orphan-files"]
    assert "ask again later" in orphans.what


@pytest.mark.parametrize(("name", "told"), [("00001-aaaa.metadata.json", False), ("v3.metadata.json", True)])
def test_a_lost_commit_of_a_catalog_is_not_told_of_folders(name: str, told: bool, tmp_path: Path) -> None:
    listed = UnnamedList("m/snap-7-1-x.avro", 7, None, 2, [])
    commit = UnnamedCommit(listed, "beside", 5, (), 0)
    metadata = direct.open_table(str(make_table(tmp_path / "t"))).metadata
    words = commit.words(replace(metadata, metadata_location=f"file:///t/metadata/{name}"))
    assert ("atomic rename" in words) == told
    assert ("the catalog" in words) != told
    remedy = unnamed_commit_recovery("c", "db.t", ["file:///t/a.parquet"], True, told)
    assert ("swaps the pointer atomically" in remedy) == told


# -- counts of what was capped -----------------------------------------------------------------------------------------
@pytest.mark.parametrize("few", [False, True])
def test_an_overview_counts_all_partitions(few: bool, tmp_path: Path) -> None:
    """It counted what a picture draws, 120 at most. Of two fields the one with few values is drawn."""
    fields = [(1, "id", "long"), *([(2, "kind", "string")] if few else [])]
    table = Table(tmp_path / "t", fields)
    table.set_spec([(of, 999 + of, name, "identity") for of, name, _ in fields])
    data = []
    for number in range(130):
        own = {"id": number, **({"kind": "abcdefghijkl"[number % 12]} if few else {})}
        columns = {name: [value] for name, value in own.items()}
        data.append(table.parquet(f"{number}.parquet", columns, partition=own))
    table.append(*data)
    shown = run("overview", str(tmp_path / "t")).output
    [line] = [line for line in shown.splitlines() if "`icedive inspect partitions` lists all" in line]
    rest = int(line.split()[1])
    assert rest == (130 - 110 if few else 120)
    assert ("partitions\n" in shown.replace(" ", "")) == few or not few


def test_events_of_writers_that_were_left_out_are_counted(tmp_path: Path) -> None:
    metadata = direct.open_table(str(make_table(tmp_path / "t"))).metadata
    event = WriterEvent("gap", ("snapshot-1",), "a gap")
    writers = replace(writers_of(metadata), events=(event,) * MOST_EVENTS, left_out=234)
    assert "1,234 things to look at" in writers_words(writers)
    [line] = [line for line in render_writers(writers) if line.startswith("…")]
    assert "all" not in line
    assert f"{1_234 - SHOWN:,} more: --output json has the first 1,000" in line


# -- which commit did it -----------------------------------------------------------------------------------------------
TRINO = {"engine-name": "trino", "trino_query_id": "q", "trino_user": "etl"}


def test_a_commit_whose_tasks_share_data_files_is_told(tmp_path: Path) -> None:
    """trinodb/trino#28504: a MERGE writes a delete file for each data file and writer."""
    table = Table(tmp_path / "t", [(1, "id", "long")])
    data = [table.parquet(f"{name}.parquet", {"id": [1, 2, 3, 4]}) for name in "abc"]
    table.append(*data)
    deletes = [
        table.position_delete(
            f"{task}-{at}.parquet", [(file["file_path"], task)], referenced_data_file=file["file_path"]
        )
        for task in range(3)
        for at, file in enumerate(data[:2])
    ]
    alone = table.position_delete("x.parquet", [(data[2]["file_path"], 0)], referenced_data_file=data[2]["file_path"])
    table.delta(deletes=[*deletes, alone])
    table.md["snapshots"][-1]["summary"].update(TRINO)
    table.write()
    shown = run("inspect", "deletes", str(tmp_path / "t")).output
    assert "snapshot-2 (trino, overwrite) added 3 delete files for each of 2 data files: its tasks share" in shown


@pytest.mark.parametrize(("jobs", "told"), [(("a1", "b2"), True), (("a1", "a1"), False)])
def test_a_sink_that_started_again_with_a_new_job_id_is_told(jobs: tuple[str, str], told: bool, tmp_path: Path) -> None:
    """apache/iceberg#16008."""
    table = Table(tmp_path / "t", [(1, "id", "long")])
    file = table.parquet("a.parquet", {"id": [1]})
    for job in jobs:
        sink = {"flink.job-id": job, "flink.operator-id": "op", "flink.max-committed-checkpoint-id": "3"}
        table.append(file)
        table.md["snapshots"][-1]["summary"].update(sink)
    table.write()
    [finding] = found(tmp_path / "t", "file-twice")
    assert "the sink committed it twice" in finding.what
    assert ("flink.job-id is a1 and then b2, with the same flink.operator-id" in finding.what) == told


def test_a_header_of_another_schema_that_only_older_snapshots_have_is_said_to_go(tmp_path: Path) -> None:
    """ClickHouse/ClickHouse#120833: after rewrite_manifests the advice was to run it."""
    table = Table(tmp_path / "t", [(1, "id", "long"), (2, "state", "string")])
    file = table.parquet("a.parquet", {"id": [1], "state": ["x"]})
    schema = {"type": "struct", "schema-id": 0, "fields": [{"id": 1, "name": "id", "required": False, "type": "long"}]}
    table.snapshot("append", [table.manifest("old.avro", [(1, file)], header={"schema": json.dumps(schema)})])
    [finding] = found(tmp_path / "t", "schema-rebound")
    assert "rewrite_manifests" in finding.remedy
    table.snapshot("replace", [table.manifest("new.avro", [(0, {**file, "snapshot_id": 101, "sequence_number": 1})])])
    [finding] = found(tmp_path / "t", "schema-rebound")
    assert finding.remedy.startswith("Only older snapshots have it: the current one is not affected")
