"""What public reports of trouble told a thirtieth time, on tables that are built here: engines that refuse, forget, or
show null."""

from __future__ import annotations

import json
import random
import threading
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.schema import Schema
from pyiceberg.types import LongType, NestedField

from explorer.lab.slow_s3 import FarStore
from explorer.reports.inspector.table_nodes import inspect_snapshot
from explorer.reports.maintenance_plan import plan_all
from explorer.reports.readers import find_readers
from explorer.spec.commits.commit_writers import writers_of
from explorer.spec.doctor.findings import Finding
from explorer.spec.maintenance.all_procedures import ProcedureLine
from explorer.spec.snapshots.log_gaps import LogGaps
from explorer.spec.text.units import human_bytes, instant
from tests.cases.mini import T0, Table
from tests.support import direct
from tests.unit.test_cli import run


# -- snapshots that the snapshot log lacks (trinodb/trino#12843, apache/iceberg#5442) ----------------------------------
def transaction(table: Table, erases: bool) -> None:
    """Two operations of one transaction, of which the last one alone has a metadata file and a line in the log."""
    save, table.save = table.save, lambda *_, **__: None  # type: ignore[method-assign]
    table.append(table.parquet("third.parquet", {"x": [3]}))
    table.save = save  # type: ignore[method-assign]
    if erases:
        table.md["snapshot-log"].clear()
    else:
        table.md["snapshot-log"].pop()
    table.append(table.parquet("fourth.parquet", {"x": [4]}))


def logged(folder: Path, erases: bool = True, commits: int = 2, older: bool = True, **more: Any) -> Table:
    """Some appends, and a transaction of two; `erases` as Iceberg 0.14.0 erased the log then."""
    table = Table(folder, [(1, "x", "int")], **more)
    for number in range(commits):
        table.append(table.parquet(f"{number}.parquet", {"x": [number]}))
    transaction(table, erases)
    if not older:
        table.md["metadata-log"].clear()
        table.write()
    return table


def gap_findings(table: Table) -> list[Finding]:
    return [f for f in direct.doctor(str(table.folder)).findings if f.rule == "log-incomplete"]


def shown_current(table: Table, number: int) -> str:
    section = inspect_snapshot(direct.open_table(str(table.folder)), {"snapshot_id": 100 + number})[0]
    return next(str(value) for name, value, _ in section.fields if name == "became current")


def test_a_log_that_a_transaction_erased(tmp_path: Path) -> None:
    table = logged(tmp_path / "t")
    name = str(table.folder)
    [finding] = gap_findings(table)
    assert (finding.severity, finding.snapshots, finding.count) == ("warning", (102, 101), 2)
    assert "metadata-2 has them, and metadata-3 does not." in finding.what
    assert "No row is lost" in finding.what
    assert "VERSION AS OF 102" in finding.remedy
    text = run("history", "lineage", name).output
    assert "the log begins with snapshot-4, though snapshot-2 and snapshot-1 were current before" in text
    assert text.count("the snapshot log lacks it") == 2
    assert text.count("one commit added it and a later one, so it was never current") == 1
    assert "on top of nothing" not in run("history", "lineage", name, "-o", "json").output
    changes = direct.open_table(name).metadata_diff("metadata-2", "metadata-3")
    assert changes["snapshot_log"] == {"lost": [101, 102]}
    between = run("history", "metadata", name, "metadata-2", "metadata-3").output
    assert between.count("lost") == 2
    for number in (1, 2):
        assert shown_current(table, number).startswith(instant(T0 + number * 60_000))
    assert shown_current(table, 3).startswith("never: one commit added it and a later one")


def test_a_tag_of_a_remedy_has_a_name_that_is_free(tmp_path: Path) -> None:
    table = logged(tmp_path / "t")
    for name in ("before_the_log", "before_the_log_2"):
        [finding] = gap_findings(table)
        assert f"CREATE TAG {name} AS OF VERSION 102 " in finding.remedy
        table.md["refs"][name] = {"snapshot-id": 102, "type": "branch" if name.endswith("2") else "tag"}
        table.write()
    assert "CREATE TAG before_the_log_3 AS OF" in gap_findings(table)[0].remedy


def test_a_time_before_an_erased_log(tmp_path: Path) -> None:
    table = logged(tmp_path / "t")
    told = run("rows", str(table.folder), "-s", str(T0 + 125_000)).output
    assert "no snapshot was current" not in told
    assert "is snapshot-2, of" in told
    assert "does not say what was current" in told
    told = run("rows", str(table.folder), "-s", str(T0 + 1)).output
    assert "no snapshot was current" in told


def test_a_time_before_the_first_snapshot_or_an_expired_one(tmp_path: Path) -> None:
    table = logged(tmp_path / "t", erases=False)
    assert "no snapshot was current" in run("rows", str(table.folder), "-s", str(T0 + 1)).output
    table.md["snapshots"], table.md["snapshot-log"] = table.md["snapshots"][2:], table.md["snapshot-log"][2:]
    table.md["snapshots"] = table.md["snapshots"][1:]
    table.write()
    assert "has expired" in run("rows", str(table.folder), "-s", str(T0 + 1)).output


@pytest.mark.parametrize("commits", [0, 2])
def test_a_transaction_keeps_the_log(commits: int, tmp_path: Path) -> None:
    """Its first snapshot was never current, and never had a metadata file."""
    table = logged(tmp_path / "t", erases=False, commits=commits)
    name = str(table.folder)
    assert not gap_findings(table)
    text = run("history", "commits", name).output
    assert "no longer has" not in text
    assert " was committed in one transaction with a later one" in text
    lineage = run("history", "lineage", name).output
    assert "several commits became current at once" in lineage
    assert lineage.count("so it was never current") == 1
    assert "lacks it" not in lineage
    assert shown_current(table, commits + 1).startswith("never: one commit added it")


def test_without_older_metadata_files_nothing_is_certain(tmp_path: Path) -> None:
    table = logged(tmp_path / "t", older=False)
    [finding] = gap_findings(table)
    assert finding.severity == "info"
    assert "may have been current" in finding.what
    assert "3 ancestors" in finding.what
    assert shown_current(table, 1).startswith("not known: the snapshot log begins")
    text = run("history", "lineage", str(table.folder)).output
    assert "does not say what was current before" in text
    assert (
        "without the metadata.json of 3, which the metadata log no longer has"
        in run("history", "commits", str(table.folder)).output
    )


def test_an_older_metadata_file_that_is_gone(tmp_path: Path) -> None:
    table = logged(tmp_path / "t")
    for entry in table.md["metadata-log"]:
        (table.folder / "metadata" / entry["metadata-file"].rpartition("/")[2]).unlink()
    [finding] = gap_findings(table)
    assert finding.severity == "info"
    assert "2 ancestors" in finding.what


def test_a_writer_that_writes_no_snapshot_log(tmp_path: Path) -> None:
    table = Table(tmp_path / "t", [(1, "x", "int")])
    for number in range(3):
        table.md["snapshot-log"] = []
        table.append(table.parquet(f"{number}.parquet", {"x": [number]}))
        table.md["snapshot-log"] = []
        table.write()
    assert not gap_findings(table)
    assert shown_current(table, 2).startswith(instant(T0 + 120_000))


@pytest.mark.parametrize("older", [True, False])
def test_no_snapshot_log_at_all(older: bool, tmp_path: Path) -> None:
    """The field is optional: what an older metadata file has is told, and nothing else."""
    table = logged(tmp_path / "t", older=older)
    del table.md["snapshot-log"]
    table.write()
    found = gap_findings(table)
    assert [(f.severity, f.snapshots) for f in found] == ([("warning", (102, 101))] if older else [])
    assert all("Time travel to a time fails" in f.what for f in found)
    times = shown_current(table, 1)
    assert times.endswith("lacks it") if older else times == "not known: the metadata has no snapshot log"


def test_a_branch_that_main_was_moved_on_to(tmp_path: Path) -> None:
    """Its commits have metadata files, and were not current."""
    table = Table(tmp_path / "t", [(1, "x", "int")])
    table.append(table.parquet("0.parquet", {"x": [0]}))
    table.md["refs"]["side"] = dict(table.md["refs"]["main"])
    for number in (1, 2):
        table.append(table.parquet(f"{number}.parquet", {"x": [number]}), ref="side")
    table.md["refs"]["main"]["snapshot-id"] = table.md["current-snapshot-id"] = 103
    table.clock += 60_000
    table.md["last-updated-ms"] = table.clock
    table.md["snapshot-log"].append({"snapshot-id": 103, "timestamp-ms": table.clock})
    table.save()
    assert not gap_findings(table)
    assert shown_current(table, 2) == "never: a later one of its line became current"


def test_a_log_that_an_expiry_shortened(tmp_path: Path) -> None:
    """Iceberg drops all lines before that of a snapshot that goes."""
    table = Table(tmp_path / "t", [(1, "x", "int")])
    for number in range(3):
        table.append(table.parquet(f"{number}.parquet", {"x": [number]}))
    table.md["refs"]["main"]["snapshot-id"] = table.md["current-snapshot-id"] = 102  # a rollback
    table.clock += 60_000
    table.md["last-updated-ms"] = table.clock
    table.md["snapshot-log"].append({"snapshot-id": 102, "timestamp-ms": table.clock})
    table.save()
    table.md["snapshots"] = [s for s in table.md["snapshots"] if s["snapshot-id"] != 103]
    table.md["snapshot-log"] = table.md["snapshot-log"][-1:]
    table.clock += 60_000
    table.md["last-updated-ms"] = table.clock
    table.save()
    [finding] = gap_findings(table)
    assert finding.severity == "info"
    assert finding.snapshots == (101,)
    assert "a snapshot between them expired, and Iceberg drops all lines before that one" in finding.what


class CountingStore(FarStore):
    """A store that notes how many requests came, and how many were under way at a time."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, 0.3)
        self.reads = self.now = self.together = 0
        self.counting = threading.Lock()

    def count_request(self, what: str) -> None:
        with self.counting:
            self.reads += what == "GET"
            self.now += 1
            self.together = max(self.together, self.now)
        super().count_request(what)
        with self.counting:
            self.now -= 1


def gaps_of_a_store(table: Table) -> tuple[LogGaps, int, int]:
    """What is known of the snapshots that the log lacks, the files that were read for it, and the most at a time."""
    with CountingStore(table.folder.parent) as store:
        opened = direct.open_table(f"{table.location}/metadata/{table.last}", properties=store.properties)
        before, store.together = store.reads, 0
        return opened.log_gaps, store.reads - before, store.together


def test_older_metadata_files_of_a_store_are_fetched_together(tmp_path: Path) -> None:
    table = Table(tmp_path / "t", [(1, "x", "int")], location="s3://lab/t")
    table.append(table.parquet("0.parquet", {"x": [0]}))
    table.md["refs"]["side"] = dict(table.md["refs"]["main"])
    for number in range(1, 13):
        table.append(table.parquet(f"{number}.parquet", {"x": [number]}), ref="side")
    table.append(table.parquet("last.parquet", {"x": [99]}))
    gaps, reads, together = gaps_of_a_store(table)
    assert len(gaps.beside) == 12
    assert reads == 10
    assert together > 4


def test_of_a_lost_log_only_the_file_that_tells_is_read(tmp_path: Path) -> None:
    table = logged(tmp_path / "t", commits=20, location="s3://lab/t")
    gaps, reads, _ = gaps_of_a_store(table)
    assert len(gaps.lost) == 20
    assert reads == 1


# -- no current-snapshot-id (apache/iceberg-python#1164) ---------------------------------------------------------------
def pyiceberg_table(folder: Path) -> Any:
    """An empty table by pyiceberg, in a catalog of its own."""
    folder.mkdir()
    catalog = SqlCatalog("own", uri=f"sqlite:///{folder}/catalog.db", warehouse=f"file://{folder}")
    catalog.create_namespace("db")
    return catalog.create_table("db.t", Schema(NestedField(1, "id", LongType(), required=False)))


def stored(table: Any) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(Path(table.metadata_location.removeprefix("file://")).read_text())
    return found


def test_an_empty_table_that_older_iceberg_refuses(tmp_path: Path) -> None:
    table = pyiceberg_table(tmp_path / "c")
    place = table.metadata_location.removeprefix("file://")
    [finding] = [f for f in direct.doctor(place).findings if f.location == "/current-snapshot-id"]
    assert finding.severity == "info"
    assert "Iceberg Java before 1.4.0 refuses the table" in finding.what
    assert "in the one that refuses it, they fail by the same error" in finding.remedy
    assert "PYICEBERG_LEGACY_CURRENT_SNAPSHOT_ID=true" in finding.remedy
    found = find_readers(direct.open_table(place))
    answers = {verdict.reader.id: verdict.answer for verdict in found.verdicts}
    assert answers["athena"] == "unknown"
    assert {answers[one] for one in ("spark", "pyiceberg", "duckdb", "trino")} == {"yes"}
    assert "before 1.4.0" in run("readers", place).output


def test_pyiceberg_writes_the_field_when_it_is_told_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the remedy says of it: with the setting -1 is written, without it the field is left out again."""
    table = pyiceberg_table(tmp_path / "c")
    assert "current-snapshot-id" not in stored(table)
    monkeypatch.setenv("PYICEBERG_LEGACY_CURRENT_SNAPSHOT_ID", "true")
    with table.transaction() as change:
        change.set_properties(a="1")
    assert stored(table)["current-snapshot-id"] == -1
    place = table.metadata_location.removeprefix("file://")
    assert not [f for f in direct.doctor(place).findings if f.location == "/current-snapshot-id"]
    monkeypatch.delenv("PYICEBERG_LEGACY_CURRENT_SNAPSHOT_ID")
    with table.transaction() as change:
        change.set_properties(a="2")
    assert "current-snapshot-id" not in stored(table)
    table.append(pa.table({"id": pa.array([1], pa.int64())}))
    own = stored(table)["current-snapshot-id"]
    with table.transaction() as change:
        change.set_properties(a="3")
    assert stored(table)["current-snapshot-id"] == own > 0


# -- readers that read all manifests (duckdb/duckdb-iceberg#995) -------------------------------------------------------
def many_manifests(folder: Path, commits: int, partitioned: bool = True) -> Table:
    spec = [(2, 1000, "x", "identity")] if partitioned else []
    table = Table(folder, [(1, "id", "long"), (2, "x", "string")], spec)
    for number in range(commits):
        partition = {"x": f"v{number}"} if partitioned else {}
        rows = {"id": [number], "x": [f"v{number}"]}
        table.append(table.parquet(f"{number}.parquet", rows, partition=partition))
    return table


def test_a_plan_tells_the_bytes_of_manifests(tmp_path: Path) -> None:
    table = many_manifests(tmp_path / "t", 12)
    lengths = [manifest["manifest_length"] for manifest in table.lists[112]]
    text = run("plan", str(table.folder), "x = 'v2'").output
    of_all = human_bytes(sum(lengths))
    assert f"1 of 12 data manifests is read, {human_bytes(lengths[2])} of {of_all}" in text
    assert "duckdb/duckdb-iceberg#995" in text
    answer = json.loads(run("plan", str(table.folder), "x = 'v2'", "-o", "json").output)
    assert answer["manifest_bytes"] == {"read": lengths[2], "all": sum(lengths)}
    assert f"read all 12 data manifests ({of_all})" in run("readers", str(table.folder)).output


@pytest.mark.parametrize(("commits", "partitioned"), [(2, True), (12, False)])
def test_who_reads_all_manifests_is_not_told_where_it_does_not_matter(
    commits: int, partitioned: bool, tmp_path: Path
) -> None:
    table = many_manifests(tmp_path / "t", commits, partitioned)
    assert "read all" not in run("readers", str(table.folder)).output
    assert "data manifests are read" not in run("plan", str(table.folder), "id >= 0").output


@pytest.mark.parametrize(("commits", "told"), [(9, False), (10, True)])
def test_a_plan_names_who_reads_all_manifests_where_they_are_many(commits: int, told: bool, tmp_path: Path) -> None:
    text = run("plan", str(many_manifests(tmp_path / "t", commits).folder), "x = 'v2'").output
    assert f"1 of {commits} data manifests is read, " in text
    assert ("ClickHouse" in text) is told


# -- a writer of new rows that adds deletes all the same (airbytehq/airbyte#76343) -------------------------------------
def upserts(folder: Path, commits: int, random_keys: bool = False, again: bool = False) -> Table:
    """A stream in upsert mode: each commit writes rows, and deletes of their keys. `again` writes one key twice."""
    table = Table(folder, [(1, "id", "long"), (2, "name", "string")])
    keys = random.Random(1).sample(range(10**9), 4 * commits) if random_keys else list(range(4 * commits))
    for number in range(commits):
        own = keys[4 * number : 4 * number + 4]
        if again and number:
            own[0] = keys[0]
        data = table.parquet(f"d{number}.parquet", {"id": own, "name": ["a"] * 4})
        delete = table.equality_delete(f"e{number}.parquet", {"id": own})
        size = str(data["file_size_in_bytes"] + delete["file_size_in_bytes"])
        table.delta([data], [delete], "overwrite")
        table.md["snapshots"][-1]["summary"] |= {"added-files-size": size, "added-equality-delete-files": "1"}
        table.write()
    return table


NEEDLESS = "None of 12 equality deletes hides a row, and none ever did"


@pytest.mark.parametrize("random_keys", [True, False])
def test_deletes_that_never_hid_a_row(random_keys: bool, tmp_path: Path) -> None:
    name = str(upserts(tmp_path / "t", 12, random_keys).folder)
    assert NEEDLESS in run("count", name).output
    assert json.loads(run("count", name, "-o", "json").output)["needless_equality_deletes"] == 12
    health = run("health", name, "--threshold", "equality-deletes=3", "--threshold", "small-files=3").output
    deletes = run("inspect", "deletes", name).output
    assert (NEEDLESS in health, NEEDLESS in deletes) == (not random_keys, not random_keys)
    assert ("icedive count TABLE tells whether" in deletes) == random_keys
    assert "bucket(" not in health + deletes
    assert "so a larger write.target-file-size-bytes makes no file of these commits larger" in health


def test_deletes_that_hid_a_row(tmp_path: Path) -> None:
    name = str(upserts(tmp_path / "t", 12, again=True).folder)
    assert "none ever did" not in run("count", name).output
    assert "none ever did" not in run("health", name, "--threshold", "equality-deletes=3").output


@pytest.mark.parametrize("what", ["expired", "compacted"])
def test_a_history_that_does_not_tell_whether_deletes_hid_rows(what: str, tmp_path: Path) -> None:
    table = upserts(tmp_path / "t", 12)
    if what == "expired":
        table.md["snapshots"].pop(0)
    else:
        table.md["snapshots"][-1]["summary"]["deleted-data-files"] = "1"
    table.write()
    assert "none ever did" not in run("count", str(table.folder)).output


def test_commits_that_write_a_file_of_the_target_size(tmp_path: Path) -> None:
    table = upserts(tmp_path / "t", 12)
    table.md["properties"]["write.target-file-size-bytes"] = "1000"
    table.write()
    health = run("health", str(table.folder), "--threshold", "small-files=0").output
    assert "makes no file of these commits larger" not in health


def test_whether_readers_open_deletes_that_hide_nothing(tmp_path: Path) -> None:
    table = upserts(tmp_path / "t", 12)
    name, option = str(table.folder), ("--threshold", "dangling-deletes=3")
    health, preview = run("health", name, *option).output, run("maintain", "preview", name, "dangling-deletes").output
    assert "no reader opens their files" in health
    assert "no reader opens the delete files" in preview
    assert "readers open some" not in health


def test_the_size_of_a_file_counts_delete_files(tmp_path: Path) -> None:
    table = upserts(tmp_path / "t", 2)
    sizes = [path.stat().st_size for path in table.folder.glob("data/*")]
    [totals] = writers_of(direct.open_table(str(table.folder)).metadata).writers
    assert totals.average_file_bytes == sum(sizes) // 4
    data = table.parquet("plain.parquet", {"id": [90], "name": ["b"]})
    table.append(data)
    table.md["snapshots"][-1]["summary"]["added-files-size"] = str(data["file_size_in_bytes"])
    table.write()
    [totals] = writers_of(direct.open_table(str(table.folder)).metadata).writers
    assert totals.average_file_bytes == data["file_size_in_bytes"]


# -- readers that show null for a column that only the partition has (ClickHouse/ClickHouse#110216) --------------------
def test_who_shows_null_for_a_column_that_files_lack(tmp_path: Path) -> None:
    table = Table(tmp_path / "t", [(1, "id", "int"), (2, "region", "string")], [(2, 1000, "region", "identity")])
    files = [
        table.parquet(f"region={name}/{at}.parquet", {"id": [at]}, partition={"region": name})
        for at, name in enumerate(("East", "West"))
    ]
    table.append(*files)
    name = str(table.folder)
    [finding] = [f for f in direct.doctor(name, deep=True).findings if f.rule == "readers-differ"]
    for reader in ("iceberg-go 0.7.0", "pyiceberg before 0.9", "ClickHouse before 26.8", "Auron", "Snowflake"):
        assert reader in finding.what
    assert finding.source.split(", ") == [
        "apache/iceberg-python#1401", "ClickHouse/ClickHouse#110216", "apache/auron#2527", "#9404",
    ]  # fmt: skip
    assert "some readers show null in it" in run("plan", name, "region = 'East'").output


# -- a conflict where a branch leads to nothing ------------------------------------------------------------------------
@pytest.mark.parametrize("branch", ["gone", "main", "none"])
def test_a_conflict_on_a_branch_that_leads_to_no_snapshot(branch: str, tmp_path: Path) -> None:
    table = Table(tmp_path / "t", [(1, "x", "int")])
    for number in range(2):
        table.append(table.parquet(f"{number}.parquet", {"x": [number]}))
    if branch == "gone":
        table.md["refs"][branch] = {"snapshot-id": 999, "type": "branch"}
    else:
        table.md["refs"].clear()
        table.md["current-snapshot-id"] = 999 if branch == "main" else -1
    table.write()
    name, option = str(table.folder), ("--branch", "gone") if branch == "gone" else ()
    for kind in ("append", "compaction"):
        told = run("check", "conflict", name, "snapshot-1", kind, *option).output
        wanted = "main has no current snapshot" if branch == "none" else f"branch '{branch}' leads to snapshot 999"
        assert wanted in told


# -- a compaction that leaves no equality delete, of the partitions that have one (flink-kickstarter#769) --------------
def deletes_of_one_partition(folder: Path, older: bool = False, everywhere: bool = False) -> Table:
    """Three partitions, with an equality delete in one of them. `older`: that one has an older file, too, which no row
    of the delete can name. `everywhere`: the delete is of a spec without partitions."""
    properties = {"write.target-file-size-bytes": "900"}
    spec = [(2, 1000, "p", "identity")]
    table = Table(folder, [(1, "id", "long"), (2, "p", "string")], [] if everywhere else spec, properties=properties)
    if everywhere:
        table.set_spec(spec, 1)
    for name in "abc":
        own = {"partition": {"p": name}}
        table.append(table.parquet(f"{name}.parquet", {"id": [1, 2], "p": [name, name]}, **own))
    if older:
        own = {"partition": {"p": "c" if everywhere else "a"}}
        table.append(table.parquet("older.parquet", {"id": [100], "p": ["a"]}, **own))
    delete = table.equality_delete("e.parquet", {"id": [1]}, partition={} if everywhere else {"p": "a"})
    manifest = table.manifest("deletes.avro", [(1, delete)], content=1, spec_id=0)
    table.snapshot("delete", [*table.lists[table.md["current-snapshot-id"]], manifest])
    return table


def compaction_line(table: Table) -> ProcedureLine:
    plan = plan_all(direct.open_table(str(table.folder)))
    return next(line for line in plan.lines if line.operation == "compact")


def test_one_equality_delete_has_its_partition_compacted_alone(tmp_path: Path) -> None:
    line = compaction_line(deletes_of_one_partition(tmp_path / "t"))
    assert "'delete-file-threshold', '1', 'remove-dangling-deletes', 'true'" in line.statement
    assert line.files == 1


@pytest.mark.parametrize("everywhere", [False, True])
def test_a_compaction_of_all_files_for_an_equality_delete_is_no_statement_of_the_plan(
    everywhere: bool, tmp_path: Path
) -> None:
    line = compaction_line(deletes_of_one_partition(tmp_path / "t", older=True, everywhere=everywhere))
    assert not line.statement
    assert "It leaves 1 equality delete, which pyiceberg, polars and Snowflake refuse." in line.why
    assert "'rewrite-all', 'true', 'remove-dangling-deletes', 'true'))" in line.why
    assert " rewrites 4 files (" in line.why


# -- what is said of a try, of other writers and of orphans is so on this table ----------------------------------------
def committed_by(folder: Path, writers: str, **properties: str) -> str:
    """Appends, ten seconds apart, each by the stream that a letter names; by nobody who is known for a dot."""
    table = Table(folder, [(1, "id", "long")], properties=properties)
    for number, writer in enumerate(writers):
        table.append(table.parquet(f"{number}.parquet", {"id": [number]}), step=10_000)
        if writer != ".":
            table.md["snapshots"][-1]["summary"] |= {"engine-name": "spark", "spark.sql.streaming.queryId": writer}
    table.write()
    return str(folder)


@pytest.mark.parametrize(
    ("writers", "is_told"), [("xaaab", True), ("xaabc", False), ("xaabb", False), ("xaa..", False), ("x....", False)]
)
def test_who_makes_most_commits_makes_more_than_half(writers: str, is_told: bool, tmp_path: Path) -> None:
    told = run("check", "conflict", committed_by(tmp_path / "t", writers), "snapshot-1", "append").output
    assert "usually one every 10 seconds" in told
    assert ("most of them by spark: stream a" in told) is is_told
    assert ("most of them" in told) is is_told


MERGE_FIRST = "merge manifests first"


def test_merging_manifests_first_is_advised_where_it_makes_a_try_shorter(tmp_path: Path) -> None:
    small, merging = {"commit.manifest.target-size-bytes": "1000"}, {"commit.manifest.min-count-to-merge": "3"}
    plain = committed_by(tmp_path / "plain", "aaaaa")
    full = committed_by(tmp_path / "full", "aaaaa", **small)  # each manifest is larger than the target
    merges = committed_by(tmp_path / "merges", "aaaaa", **merging)
    wanted = {
        (plain, "append"): False, (plain, "compaction"): True, (full, "append"): False, (full, "compaction"): False,
        (merges, "append"): True, (merges, "compaction"): True,
    }  # fmt: skip
    for (place, kind), is_advised in wanted.items():
        told = run("check", "conflict", place, "snapshot-1", kind).output
        assert "A try reads" in told
        assert (MERGE_FIRST in told) is is_advised, (place, kind)
        shown = run("maintain", "preview", place, "rewrite-manifests").output
        assert "would become about" in shown


@pytest.mark.parametrize("properties", [{}, {"gc.enabled": "false"}])
def test_an_orphan_is_not_said_to_be_removed_where_it_stays(properties: dict[str, str], tmp_path: Path) -> None:
    """remove_orphan_files fails where gc.enabled is false, and leaves files of under three days."""
    table = Table(tmp_path / "t", [(1, "id", "long")], properties=properties)
    for number in range(3):
        table.append(table.parquet(f"{number}.parquet", {"id": [number]}))
    older = table.md["metadata-log"][-1]["metadata-file"].rpartition("/")[2]
    assert "remove_orphan_files removes it" not in run("maintain", "file", str(table.folder), older).output
    table.md["properties"]["write.metadata.delete-after-commit.enabled"] = "true"
    table.md["metadata-log"] = table.md["metadata-log"][2:]
    table.write()
    told = run("storage", str(table.folder)).output
    assert "what was taken out before stays." in told
    assert "remove_orphan_files removes it" not in told
