"""What public reports of trouble with Iceberg tables told, a thirtieth time."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import fastavro
import pytest
from click.testing import CliRunner
from pyiceberg.table import StaticTable

from explorer.cli import main
from explorer.spec.doctor.findings import Finding
from explorer.spec.doctor.remedy_cases import LOSES
from explorer.spec.rows.duplicate_keys import DuplicateKeys
from explorer.spec.text.units import human_bytes
from tests.cases.mini import Table
from tests.robustness.editing import edit_avro
from tests.statements.printed import statements
from tests.support import direct
from tests.support.small_tables import make_table, newest_metadata
from tests.support.thirtieth_tables import (
    current_list,
    mend,
    metadata_file,
    uncounted,
    uncounted_before,
    upserted,
    with_a_column_of_an_expired_schema,
)


def run(*words: str) -> str:
    return CliRunner().invoke(main, list(words)).output


def counts_found(table: Table, **how: Any) -> list[Finding]:
    return [f for f in direct.doctor(str(table.folder), **how).findings if f.rule == "manifest-counts"]


# -- a list that counts no live file in a manifest that has some (apache/iceberg#10919) --------------------------------
@pytest.mark.parametrize("version", [1, 2, 3])
@pytest.mark.parametrize("counted", [0, -1])
def test_rows_that_the_next_commit_loses_are_told_of(counted: int, version: int, tmp_path: Path) -> None:
    table = uncounted(tmp_path / "t", {"added_files_count": counted}, version=version)
    [finding] = [f for f in counts_found(table) if "live in it" in f.what]
    assert "1 data file with 2 rows is live in it: Spark does not read these rows" in finding.what
    assert f"{LOSES} by Iceberg Java leaves the manifest out" in finding.what
    assert [Path(path).name for path in finding.examples] == ["3.parquet"]
    assert finding.remedy.startswith("Stop all writers, and all maintenance that commits")
    assert "another, empty ICEDIVE_CACHE" in finding.remedy
    assert "CALL" not in finding.remedy
    assert not statements(finding.remedy)
    [deep] = [f for f in counts_found(table, deep=True) if "live in it" in f.what]
    assert statements(deep.remedy) == [
        "INSERT INTO your_catalog.your_db.your_table (id, p) SELECT id, p FROM "
        f"parquet.`file://{table.folder}/data/3.parquet`"
    ]
    if version > 1:  # pyiceberg wants a field of version 1 that the table lacks
        rows = StaticTable.from_metadata(metadata_file(table)).scan().to_arrow()["id"].to_pylist()
        assert sorted(rows) == [1, 2, 3, 4]
    mend([current_list(table)], tmp_path)
    assert not counts_found(table)


def test_the_program_of_the_documents_opens_the_manifests_of_a_copy(tmp_path: Path) -> None:
    """Of a table in a store, whose paths lead to no local file."""
    table = uncounted(tmp_path / "t")

    def far(records: list[dict[str, Any]]) -> None:
        for record in records:
            record["manifest_path"] = record["manifest_path"].replace(f"file://{table.folder}", "s3://bucket/wh/t")

    edit_avro(current_list(table), far)
    shutil.copytree(table.folder / "metadata", tmp_path / "copy")
    copy = tmp_path / "copy" / current_list(table).name
    before = copy.read_bytes()
    for _ in range(2):
        mend([copy], tmp_path)
        with copy.open("rb") as file:
            assert [record["added_files_count"] for record in fastavro.reader(file)] == [1, 1]
        assert copy.with_name(f"{copy.name}.old").read_bytes() == before


def test_one_insert_has_the_rows_of_all_such_manifests(tmp_path: Path) -> None:
    table = Table(tmp_path / "t", [(1, "id", "long")])
    for n in (1, 2, 3):
        table.append(table.parquet(f"{n}.parquet", {"id": [n] * n}))
    for manifest in (listed := table.lists[table.md["current-snapshot-id"]])[1:]:
        manifest["added_files_count"] = 0
    table.snapshot("append", listed)
    inserts = {s for f in counts_found(table, deep=True) for s in statements(f.remedy)}
    [insert] = inserts
    assert "2.parquet` UNION ALL SELECT id FROM parquet." in insert
    assert "3.parquet`" in insert
    assert "1.parquet" not in insert


@pytest.mark.parametrize(("name", "value", "rule"), [
    ("partition_spec_id", 7, "spec-unknown"), ("sequence_number", 99, "sequence-above-last"),
    ("min_sequence_number", 99, "min-sequence"), ("added_files_count", 7, "manifest-counts"),
    ("manifest_length", 7, "manifest-length"), ("added_rows_count", -1, "manifest-counts"),
])  # fmt: skip
def test_a_record_of_an_older_list_is_no_fault_of_the_current_one(
    name: str, value: int, rule: str, tmp_path: Path
) -> None:
    table = Table(tmp_path / "t", [(1, "id", "long")])
    for n in (1, 2, 3):
        table.append(table.parquet(f"{n}.parquet", {"id": [n]}))
    older = table.md["snapshots"][1]

    def change(records: list[dict[str, Any]]) -> None:
        records[-1][name] = value

    edit_avro(Path(older["manifest-list"].removeprefix("file://")), change)
    told = [f for f in direct.doctor(str(table.folder)).findings if f.rule == rule]
    assert told
    assert {f.snapshots for f in told} == {(older["snapshot-id"],)}


def test_many_such_manifests_are_not_told_as_counts_that_lose_nothing(tmp_path: Path) -> None:
    """One finding stands for many of a rule: not for these and others, whose remedy loses the rows."""
    table = Table(tmp_path / "t", [(1, "id", "long")])
    for n in range(1, 12):
        table.append(table.parquet(f"{n}.parquet", {"id": [n] * n}))
    listed = table.lists[table.md["current-snapshot-id"]]
    listed[0]["added_files_count"] = 7
    for manifest in listed[1:]:
        manifest["added_files_count"] = 0
    table.snapshot("append", listed)
    by_words = {"no live file" in f.what: f.remedy for f in counts_found(table)}
    assert by_words[True].startswith("Stop all writers")
    assert by_words[False].startswith("First mend manifest-counts")


@pytest.mark.parametrize("fault", ["deletes", "partition", "columns"])
def test_no_insert_is_printed_where_a_file_has_other_rows_than_the_table(fault: str, tmp_path: Path) -> None:
    table = uncounted(tmp_path / "t", delete=fault == "deletes", parted=fault == "partition")
    if fault == "columns":
        table.set_schema([(1, "id", "long"), (2, "q", "string")])
        table.save()
    [finding] = counts_found(table, deep=True)
    assert "Do not insert the rows by the paths of their files instead: " in finding.remedy
    assert not statements(finding.remedy)
    assert "icedive docs broken-tables has a program" in finding.remedy


def test_deletes_that_come_undone_are_told_of(tmp_path: Path) -> None:
    table = uncounted(tmp_path / "t", delete=True, of="deletes")
    [finding] = counts_found(table, deep=True)
    assert "1 delete file with 1 delete is live in it: Spark does not apply these deletes" in finding.what
    assert "INSERT INTO" not in finding.remedy
    assert "CALL" not in finding.remedy
    shown = run("maintain", "preview", str(table.folder), "compact")
    assert "a MERGE or a compaction by Iceberg Java leaves such a manifest out, and so loses these deletes" in shown


@pytest.mark.parametrize(
    "counts",
    [{"added_files_count": 7}, {"deleted_files_count": 3}, {"added_files_count": 0, "existing_files_count": 1}],
)
def test_other_counts_that_are_wrong_lose_nothing(counts: dict[str, int], tmp_path: Path) -> None:
    """tests/spark/test_thirtieth_reports.py runs the remedy."""
    table = uncounted(tmp_path / "t", counts)
    [finding] = counts_found(table, deep=True)
    assert "readers skip by these" in finding.what
    assert "rewrite_data_files" in finding.remedy
    shown = run("maintain", "preview", str(table.folder), "rewrite-manifests")
    assert ("the manifest list counts 7 live files" in shown) is (counts.get("added_files_count") == 7)
    assert "leaves such a manifest out" not in run("maintain", "all", str(table.folder))


def test_nothing_else_advises_a_commit_that_loses_the_rows(tmp_path: Path) -> None:
    table = uncounted(tmp_path / "t")
    del table.md["snapshots"][-1]["summary"]["total-records"]
    table.write()
    place = str(table.folder)
    by_rule = {f.rule: f.remedy for f in direct.doctor(place, deep=True).findings}
    assert by_rule["readers-differ"].startswith("First mend manifest-counts, and let nobody commit until then")
    shown = run("maintain", "all", place)
    assert shown.startswith("There is nothing to run.")
    assert "CALL" not in shown
    assert f"{LOSES} by Iceberg Java loses 1 live file" in run("maintain", "preview", place, "next-append")
    for base, outcome in (("snapshot-2", "It commits"), ("snapshot-1", "It loses the swap")):
        told = run("check", "conflict", place, base, "append")
        assert told.startswith(outcome)
        assert f"Let nobody commit: {LOSES} by Iceberg Java loses 1 live file" in told
    assert "DELETED" not in (planned := run("plan", place, "id = 3"))
    assert "the manifest list counts no live file in it" in planned
    told = run("readers", place)
    assert told.startswith("pyiceberg, polars, DuckDB, ClickHouse and iceberg-rust can read the table. Spark")


def test_operations_that_lose_nothing_are_not_said_to_lose_rows(tmp_path: Path) -> None:
    """tests/spark/test_thirtieth_reports.py runs them."""
    place = str(uncounted(tmp_path / "t").folder)
    fast = run("check", "conflict", place, "snapshot-2", "fast-append")
    assert "A fast append keeps each manifest, so nothing is lost by it. Let nobody commit: an INSERT" in fast
    rewrite = run("check", "conflict", place, "snapshot-2", "rewrite-manifests")
    assert "Let nobody commit" not in rewrite
    fails = "Spark would fail: the manifest list counts 0 live files in "
    assert fails in rewrite
    assert fails in run("maintain", "preview", place, "rewrite-manifests")
    assert "live file" not in run("check", "conflict", place, "snapshot-2", "expire")
    for kind in ("append", "cow-delete", "mor-update", "cow-merge", "compaction", "replace-partitions"):
        assert "Let nobody commit" in run("check", "conflict", place, "snapshot-2", kind)


@pytest.mark.parametrize("fault", ["expired schema", "no ids", "one of two"])
def test_no_insert_is_printed_where_a_footer_has_other_columns(fault: str, tmp_path: Path) -> None:
    if fault == "expired schema":
        table = with_a_column_of_an_expired_schema(tmp_path / "t")
    else:
        table = uncounted(tmp_path / "t", ids=fault != "no ids")
    if fault == "one of two":
        listed = [dict(record) for record in table.lists[table.md["current-snapshot-id"]]]
        listed[-1]["added_files_count"] = 0
        other = [{"id": 1, "name": "id", "type": "long"}, {"id": 7, "name": "p", "type": "string"}]
        file = table.parquet("5.parquet", {"id": [5], "p": ["x"]}, fields=other)
        table.snapshot("append", [*listed, {**table.manifest("own.avro", [(1, file)]), "added_files_count": 0}])
    told = [f for f in counts_found(table, deep=True) if f.severity == "error"]
    assert {f.count for f in told} == {1}
    assert len(told) == (2 if fault == "one of two" else 1)
    for finding in told:
        assert "Do not insert the rows by the paths of their files instead: a file has not all" in finding.remedy
        assert not statements(finding.remedy)


@pytest.mark.parametrize("of", ["data", "deletes"])
def test_a_list_of_an_older_snapshot_that_counts_none_has_nothing_lost(of: str, tmp_path: Path) -> None:
    """tests/spark/test_thirtieth_reports.py reads, writes and goes back."""
    table = uncounted_before(tmp_path / "t", of)
    before, current = table.md["snapshots"][-2]["snapshot-id"], table.md["current-snapshot-id"]
    del table.md["snapshots"][-1]["summary"]["total-records"]
    table.write()
    place = str(table.folder)
    [finding] = counts_found(table, deep=True)
    assert (finding.severity, finding.snapshots) == ("warning", (before,))
    assert "in Spark, time travel to such a snapshot " in finding.what
    assert "leaves the manifest out" not in finding.what
    assert finding.remedy.startswith("Writers may go on. Do not go back to such a snapshot (rollback_to_snapshot)")
    assert not statements(finding.remedy)
    others = [f for f in direct.doctor(place, deep=True).findings if f is not finding]
    assert not [f for f in others if "First mend manifest-counts" in f.remedy]
    assert "Let nobody commit" not in run(
        "check", "conflict", place, f"snapshot-{len(table.md['snapshots']) - 1}", "append"
    )
    assert "counts no live file" not in run("maintain", "preview", place, "compact")
    assert not counts_found(table, snapshot=current)


def test_a_remedy_leads_back_to_no_snapshot_whose_list_counts_none(tmp_path: Path) -> None:
    table = uncounted_before(tmp_path / "t")
    table.append(table.parquet("9.parquet", {"id": [9], "p": ["x"]}))
    Path(table.md["snapshots"][-1]["manifest-list"].removeprefix("file://")).unlink()
    table.md["snapshots"] = [
        s for s in table.md["snapshots"] if s["snapshot-id"] != table.md["snapshots"][-2]["snapshot-id"]
    ]
    table.md["snapshots"][-1]["parent-snapshot-id"] = table.md["snapshots"][-2]["snapshot-id"]
    table.save()
    [lost] = [f for f in direct.doctor(str(table.folder)).findings if f.rule == "manifest-list-missing"]
    assert f"rollback_to_snapshot('your_db.your_table', {table.md['snapshots'][0]['snapshot-id']})" in lost.remedy


def test_lists_that_count_otherwise_are_told_apart(tmp_path: Path) -> None:
    """Both are wrong, in different words: each finding names the snapshots of its own list."""
    table = uncounted(tmp_path / "t")
    listed = [dict(record) for record in table.lists[table.md["current-snapshot-id"]]]
    listed[-1]["added_files_count"] = 7
    table.snapshot("append", listed)
    older, newer = (s["snapshot-id"] for s in table.md["snapshots"][-2:])
    found = {f.severity: f for f in counts_found(table, deep=True)}
    assert {severity: f.snapshots for severity, f in found.items()} == {"error": (newer,), "warning": (older,)}
    assert "rewrite_data_files" in found["error"].remedy


def test_a_list_of_a_branch_that_counts_none_loses_rows_there_alone(tmp_path: Path) -> None:
    table = uncounted_before(tmp_path / "t")
    before = table.md["snapshots"][-2]["snapshot-id"]
    table.md["refs"]["audit"] = {"snapshot-id": before, "type": "branch"}
    del table.md["snapshots"][-1]["summary"]["total-records"]
    table.write()
    place = str(table.folder)
    findings = direct.doctor(place, deep=True).findings
    [finding] = [f for f in findings if f.rule == "manifest-counts"]
    assert (finding.severity, finding.snapshots) == ("error", (before,))
    assert "a MERGE or a compaction on branch audit by Iceberg Java leaves the manifest out" in finding.what
    assert finding.remedy.startswith("Stop all writers of branch audit, and all maintenance that commits: ")
    assert not statements(finding.remedy)
    assert not [f for f in findings if "First mend manifest-counts" in f.remedy]
    append = ("check", "conflict", place, "snapshot-2", "append")
    assert "Let nobody commit" not in run(*append)
    assert "Let nobody commit" in run(*append, "--branch", "audit")


def test_a_plan_does_not_count_a_manifest_as_read_that_its_counts_skip(tmp_path: Path) -> None:
    table = uncounted(tmp_path / "t")
    lengths = [record["manifest_length"] for record in table.lists[table.md["current-snapshot-id"]]]
    told = run("plan", str(table.folder), "id >= 0")
    assert "after the manifest list  ███████████████" in told
    assert "  1 manifest, 1 data file, 2 rows" in told.replace("█ ", "  ")
    assert f"1 of 2 data manifests is read, {human_bytes(lengths[0])} of {human_bytes(sum(lengths))}" in told
    assert "skipped by its counts" in told
    answer = json.loads(run("plan", str(table.folder), "id >= 0", "-o", "json"))
    assert answer["manifest_bytes"] == {"read": lengths[0], "all": sum(lengths)}


def test_a_manifest_of_deleted_entries_alone_is_no_fault(tmp_path: Path) -> None:
    table = Table(tmp_path / "t", [(1, "id", "long")])
    file = table.parquet("1.parquet", {"id": [1]})
    table.append(file)
    gone = table.manifest("gone.avro", [(2, file, {"sequence_number": 1})])
    table.snapshot("delete", [gone])
    assert not counts_found(table)
    assert "Let nobody commit" not in run("check", "conflict", str(table.folder), "snapshot-1", "append")
    assert "live file" in run("plan", str(table.folder), "id = 1")


# -- a rewrite of which each try takes longer than others leave (apache/iceberg#1286) ----------------------------------
def streamed(folder: Path, step: int, commits: int = 12, **properties: str) -> str:
    """A table of appends by one stream, `step` ms apart."""
    table = Table(folder, [(1, "id", "long")], properties=properties)
    for n in range(commits):
        table.append(table.parquet(f"{n}.parquet", {"id": [n]}), step=step)
        table.md["snapshots"][-1]["summary"] |= {"engine-name": "spark", "spark.sql.streaming.queryId": "abc"}
    table.write()
    return str(folder)


def test_a_pace_that_a_try_has_to_keep_is_told_with_what_a_try_does(tmp_path: Path) -> None:
    place = streamed(tmp_path / "t", 10_000)
    told = run("check", "conflict", place, "snapshot-5", "compaction")
    first = told.splitlines()[0]
    assert first.endswith("and commits if a try takes less than 10 seconds or so: no check finds a conflict.")
    assert "others made 7 commits, usually one every 10 seconds, most of them by spark: stream abc." in told
    assert "do not make a try shorter" in told
    assert "looks for the files that it removes: the first try in up to 12 manifests (" in told
    assert "writes a list of about 13 manifests" in told
    assert "'partial-progress.enabled', 'true'" in told
    assert "merge manifests first (icedive maintain preview TABLE rewrite-manifests" in told
    appended = run("check", "conflict", place, "snapshot-5", "append")
    assert "usually one every 10 seconds" in appended
    assert "partial-progress" not in appended
    assert "files that it removes" not in appended
    answer = json.loads(run("check", "conflict", place, "snapshot-5", "append", "-o", "json"))
    assert answer["words"].endswith("commits if a try takes less than 10 seconds or so: no check finds a conflict.")
    assert "usual_ms" not in answer


def test_merges_that_each_try_does_anew_are_told(tmp_path: Path) -> None:
    place = streamed(tmp_path / "t", 10_000, **{"commit.manifest.min-count-to-merge": "3"})
    told = run("check", "conflict", place, "snapshot-5", "compaction")
    assert "merges 12 manifests (" in told
    assert "anew where a commit came between" in told


@pytest.mark.parametrize(("step", "base"), [(3_600_000, "snapshot-5"), (10_000, "snapshot-10")])
def test_a_slow_pace_or_few_commits_say_nothing_of_tries(step: int, base: str, tmp_path: Path) -> None:
    told = run("check", "conflict", streamed(tmp_path / "t", step), base, "compaction")
    assert told.startswith("It loses the swap, applies its changes again on the new metadata, and commits: no check")
    assert "A try" not in told


# -- readers that refuse equality deletes (j3-signalroom/apache_flink-kickstarter#769) ---------------------------------
def test_snowflake_refuses_equality_deletes_or_shows_an_older_snapshot(tmp_path: Path) -> None:
    told = run("readers", str(upserted(tmp_path / "t").folder))
    assert "pyiceberg, polars and Snowflake cannot, because of equality deletes" in told
    [line] = [line for line in told.splitlines() if line.startswith("  Snowflake, equality deletes: ")]
    assert "091968 (0A000)" in line
    assert "goes on to show the last snapshot without them, and nothing newer, without an error" in line
    assert "(https://github.com/MaterializeInc/materialize/pull/38458, 2026-08-25)" in line


@pytest.mark.parametrize("deletes", [True, False])
def test_all_maintenance_has_the_compaction_that_leaves_no_equality_delete(deletes: bool, tmp_path: Path) -> None:
    """tests/spark/test_thirtieth_reports.py runs it."""
    told = run("maintain", "all", str(upserted(tmp_path / "t", deletes).folder))
    words = "These options have it apply and drop 3 equality deletes, which pyiceberg, polars and Snowflake refuse."
    assert (words in told) is deletes
    assert ("'delete-file-threshold', '1', 'remove-dangling-deletes', 'true'" in told) is deletes
    assert ("1. compact: rewrites 3 files" in told) is deletes


# -- a file of a commit whose manifest list is gone (apache/iceberg#9406) ----------------------------------------------
@pytest.mark.parametrize("lost", ["list", "manifest", ""])
def test_a_file_that_is_named_after_an_unreadable_commit_is_probably_of_it(lost: str, tmp_path: Path) -> None:
    place = make_table(tmp_path, 3)
    snapshot = json.loads(newest_metadata(place).read_text())["snapshots"][-1]
    name = snapshot["manifest-list"].rpartition("/")[2]
    own = name.removesuffix(".avro").split("-", 3)[3]
    [file] = (place / "data").glob(f"*{own}*.parquet")
    if lost == "list":
        (place / "metadata" / name).unlink()
    elif lost:
        [manifest] = (place / "metadata").glob(f"{own}-m*.avro")
        manifest.unlink()
    told = run("history", "landed", str(place), file.name)
    assert (", which cannot be read: it probably is of snapshot-3, and then landed with it" in told) is bool(lost)
    assert ("no commit lists it yet" in told) is False
    other = run("history", "landed", str(place), "00000-0-11111111-1111-1111-1111-111111111111.parquet")
    assert "it probably is of" not in other


# -- metadata files that the log does not have (apache/iceberg#2931) ---------------------------------------------------
def test_storage_says_that_the_property_does_not_remove_what_fell_out_of_the_log(tmp_path: Path) -> None:
    on = {"write.metadata.delete-after-commit.enabled": "true"}
    table = Table(tmp_path / "t", [(1, "id", "long")], properties=on)
    for n in range(3):
        table.append(table.parquet(f"{n}.parquet", {"id": [n]}))
    words = "write.metadata.delete-after-commit.enabled never removes the 2 metadata files that the log does not have"
    assert words not in run("storage", str(table.folder))
    table.md["metadata-log"] = table.md["metadata-log"][2:]
    table.write()
    told = run("storage", str(table.folder))
    assert words in told
    assert "what was taken out before stays" in told


# -- a commit to another branch ----------------------------------------------------------------------------------------
def test_a_conflict_on_another_branch_is_decided(tmp_path: Path) -> None:
    table = Table(tmp_path / "t", [(1, "id", "long")])
    table.append(table.parquet("1.parquet", {"id": [1]}))
    table.append(table.parquet("2.parquet", {"id": [1]}))
    table.snapshot("append", [*table.lists[102], table.manifest("audit.avro", [
        (1, table.parquet("3.parquet", {"id": [1]}))
    ])], parent=102, ref="audit")  # fmt: skip
    place = str(table.folder)
    on_main = run("check", "conflict", place, "snapshot-2", "cow-delete", "--where", "id = 1")
    assert on_main.startswith("It loses the swap")
    assert "1 snapshot (snapshot-3) came after snapshot-2, and not on main (branch audit)" in on_main
    assert "Of the table's other branches (audit) it says nothing." in on_main
    told = run("check", "conflict", place, "snapshot-2", "cow-delete", "--where", "id = 1", "--branch", "audit")
    assert told.startswith("It is refused: snapshot-3 added data files")
    assert "it says nothing" not in told
    assert run("check", "conflict", place, "snapshot-3", "append", "--branch", "audit").startswith("It commits")
    behind = run("check", "conflict", place, "snapshot-1", "append", "--branch", "audit")
    assert "Since its base came snapshot-2 (append), snapshot-3 (append)." in behind
    refused = CliRunner().invoke(main, ["check", "conflict", place, "snapshot-2", "append", "--branch", "nightly"])
    assert "no branch 'nightly': there are audit, main" in refused.output + refused.stderr


# -- rows of one key ---------------------------------------------------------------------------------------------------
def test_no_rows_of_the_key_of_the_schema_hints_at_another_key() -> None:
    hint = "To look for another one, name its columns: --key COLUMN, once for each."
    assert DuplicateKeys(("id",), "snapshot-3", 0, 0, (), True).words.endswith(hint)
    assert hint not in DuplicateKeys(("id",), "snapshot-3", 0, 0, ()).words
    assert hint not in DuplicateKeys(("id",), "snapshot-3", 1, 2, (), True).words


# -- an older sort order that goes by a dropped column (apache/iceberg#16519) ------------------------------------------
@pytest.mark.parametrize("default", [0, 1])
def test_the_doctor_tells_of_an_older_order_by_a_dropped_column(default: int, tmp_path: Path) -> None:
    table = Table(tmp_path / "t", [(1, "id", "int"), (2, "ts", "long")])
    table.append(table.parquet("1.parquet", {"id": [1], "ts": [1]}))
    field = {"source-id": 2, "transform": "identity", "direction": "asc", "null-order": "nulls-first"}
    table.md["sort-orders"].append({"order-id": 1, "fields": [field]})
    table.md["default-sort-order-id"] = default
    found = [f for f in direct.doctor(str(table.folder)).findings if "sort" in f.what.lower()]
    assert not found  # the column is there
    table.set_schema([(1, "id", "int")], 1)
    table.save()
    told = [f for f in direct.doctor(str(table.folder)).findings if f.what.startswith("Sort order 1 goes by ts")]
    assert [(f.rule, f.severity, f.found) for f in told] == ([] if default else [("readers-differ", "info", [1])])
    assert all(f.source == "apache/iceberg#16519, apache/iceberg#8614" for f in told)
    assert all("Write with Iceberg 1.10.1, or with 1.12 or later." in f.remedy for f in told)
