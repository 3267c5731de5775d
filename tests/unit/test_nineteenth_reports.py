"""Troubles of a nineteenth round of public reports, on tables that are built here."""

from __future__ import annotations

import json
from pathlib import Path

import fastavro
import pyarrow as pa
import pytest
from click.testing import CliRunner
from pyiceberg.types import LongType

from explorer.cli import main
from explorer.errors import StatementFailed
from explorer.render.doctor import by_summary_words
from explorer.render.plans import summary_lines
from explorer.reports.conflicts import explain_conflict
from explorer.reports.maintenance import preview
from explorer.reports.maintenance_plan import plan_all
from explorer.reports.readers import find_readers
from explorer.spark_engine.planners import push_down
from explorer.spec.commits.commit import Intent, LaterCommit, older_java_words, retry_words
from explorer.spec.commits.operations import KINDS
from explorer.spec.entries.live_files import LiveFile
from explorer.spec.scan.unmeasured import UnmeasuredFiles
from explorer.spec.text.units import interval
from explorer.table import open_table
from tests.cases.mini import Table
from tests.support import direct
from tests.support.report_tables import found
from tests.support.small_tables import make_table, newest_metadata, writable

ONE, BOTH, ANEW = [(1, "c1", "int")], [(1, "c1", "int"), (2, "c2", "int")], [(1, "c1", "int"), (3, "c2", "int")]


@pytest.fixture
def twice_named(tmp_path: Path) -> Path:
    """prestodb/presto#20621: files without field ids, and a column that was dropped and added again."""
    table = Table(tmp_path / "t", ONE)
    table.append(table.parquet("f1.parquet", {"c1": [1]}, ids=False))
    table.set_schema(BOTH)
    table.append(table.parquet("f2.parquet", {"c1": [2], "c2": [20]}, ids=False))
    table.set_schema(ONE)
    table.set_schema(ANEW)
    table.append(table.parquet("f3.parquet", {"c1": [3], "c2": [30]}, ids=False))
    return tmp_path / "t"


def test_a_column_that_spark_does_not_find_is_the_fault_and_not_its_counts(twice_named: Path) -> None:
    """The counts are right: they are those of the values that Spark does not find. A rewrite would lose them."""
    assert not found(str(twice_named), "metrics-wrong", deep=True)
    wrong, of_all = found(str(twice_named), "field-ids-absent", deep=True)
    assert (wrong.severity, of_all.severity) == ("error", "warning")
    assert wrong.file.endswith("f3.parquet")
    assert "so that c2 is null" in wrong.what
    assert "c2 was field 2, then 3" in wrong.remedy
    assert "CALL" not in wrong.remedy


def test_what_a_rewrite_would_lose_is_not_written_anew(twice_named: Path) -> None:
    seen = preview(direct.open_table(str(twice_named)), "compact", options={"rewrite-all": "true"})
    assert seen.call == ""
    assert "column 'c2' of" in seen.refusal
    assert "f3.parquet" in seen.refusal


def test_files_whose_columns_are_at_their_places_may_be_written_anew(tmp_path: Path) -> None:
    """Also where the name was given to another column later."""
    table = Table(tmp_path / "t", BOTH)
    table.append(*(table.parquet(f"{n}.parquet", {"c1": [n], "c2": [n]}, ids=False) for n in range(6)))
    assert preview(direct.open_table(str(tmp_path / "t")), "compact").call
    table.set_schema(ONE)
    table.set_schema(ANEW)
    table.append(table.parquet("new.parquet", {"c1": [7], "c2": [7]}))
    opened = direct.open_table(str(tmp_path / "t"))
    assert preview(opened, "compact").call
    assert [f.severity for f in found(str(tmp_path / "t"), "field-ids-absent", deep=True)] == ["warning"]


def test_columns_in_another_order_are_misread(tmp_path: Path) -> None:
    """Without field ids Spark takes each for the other."""
    table = Table(tmp_path / "t", BOTH)
    turned = pa.table({"c2": pa.array([1], pa.int32()), "c1": pa.array([2], pa.int32())})
    table.append(table.parquet("a.parquet", turned, ids=False))
    wrong = [f for f in found(str(tmp_path / "t"), "field-ids-absent", deep=True) if f.severity == "error"]
    assert {name for f in wrong for name in f.columns} == {"c1", "c2"}


def test_a_history_says_that_the_file_has_a_column_of_that_name(twice_named: Path) -> None:
    said = CliRunner().invoke(main, ["--wide", "data", "history", str(twice_named), "c1 = 3"]).output
    assert "the file has a column of that name without a field id" in said
    assert "Spark may show another value of c2" in said


def test_a_metadata_file_without_a_current_snapshot_is_mended_without_a_loss(tmp_path: Path) -> None:
    """Altinity/ClickHouse#1898: refs.main is there, current-snapshot-id is not. The remedy is done as it says."""
    place = make_table(tmp_path, 2)
    path = Path(newest_metadata(place))
    metadata = json.loads(path.read_text())
    del metadata["current-snapshot-id"]
    path.write_text(json.dumps(metadata))
    [finding] = found(str(path), "current-unlike-main")
    assert "no current snapshot" in finding.what
    assert "Nothing is lost" in finding.remedy
    copy = path.with_name("mended.metadata.json")
    copy.write_text(json.dumps({**metadata, "current-snapshot-id": metadata["refs"]["main"]["snapshot-id"]}))
    assert direct.live_rows(direct.open_table(str(copy))).rows == 4
    assert not found(str(copy), "current-unlike-main")


def test_a_count_tells_what_readers_show_that_count_by_the_summary(tmp_path: Path) -> None:
    """Altinity/ClickHouse#2236: a delete that hides nothing is taken off from total-records."""
    table = Table(tmp_path / "t", [(1, "id", "int")])
    data = table.parquet("a.parquet", {"id": [1, 2, 3]})
    table.append(data)
    gone = table.position_delete("d.parquet", [(str(tmp_path / "t/data/gone.parquet"), 0)])
    table.delta(deletes=[gone], operation="delete")
    path = Path(newest_metadata(tmp_path / "t"))
    metadata = json.loads(path.read_text())
    metadata["snapshots"][-1]["summary"] |= {"total-records": "3", "total-position-deletes": "1"}
    path.write_text(json.dumps(metadata))
    counted = direct.live_rows(direct.open_table(str(path)))
    assert (counted.rows, counted.by_summary) == (3, 2)
    assert "show that number" in by_summary_words(counted)
    [finding] = found(str(path), "delete-dangling")
    assert "takes off its positions" in finding.what


def test_equality_deletes_make_readers_count_by_reading(sandbox: Path) -> None:
    counted = direct.live_rows(open_table("demo.streaming_upserts"))
    assert counted.by_summary is None
    assert not by_summary_words(counted)


@pytest.fixture
def added_later(tmp_path: Path) -> Path:
    """apache/iceberg#10773: four files from before a column was added, and one with values of it."""
    place = make_table(tmp_path, 4)
    table = writable(place)
    with table.update_schema() as schema:
        schema.add_column("late", LongType())
    table.append(pa.table({"id": pa.array([9]), "fruit": ["x"], "late": pa.array([1])}))
    return place


@pytest.mark.parametrize("where", ["late IS NOT NULL", "late = 1"])
def test_a_plan_says_which_files_are_read_since_nothing_is_recorded(where: str, added_later: Path) -> None:
    table = direct.open_table(str(added_later))
    plan = table.plan(where)
    assert plan.unmeasured == {3: UnmeasuredFiles(4, 4, 4)}
    [line] = [line for line in summary_lines(plan) if "records nothing of late" in line]
    assert "4 files are read" in line
    assert "before the column was added" in line


def test_a_file_is_older_by_its_own_manifest(added_later: Path) -> None:
    """Manifests of one spec are looked at together, and entries may leave it to the manifest who added them."""
    table = writable(added_later)
    with table.transaction() as transaction:
        transaction.set_properties({"write.metadata.metrics.column.late": "none"})
    table.append(pa.table({"id": pa.array([9]), "fruit": ["x"], "late": pa.array([1])}))
    for manifest in (added_later / "metadata").glob("*-m0.avro"):
        with manifest.open("rb") as file:
            reader = fastavro.reader(file)
            schema, entries = reader.writer_schema, [{**entry, "snapshot_id": None} for entry in reader]  # type: ignore
            others = {name: text for name, text in reader.metadata.items() if not name.startswith("avro.")}
        with manifest.open("wb") as file:
            fastavro.writer(file, schema, entries, metadata=others)
    assert direct.open_table(str(added_later)).plan("late IS NOT NULL").unmeasured == {3: UnmeasuredFiles(5, 4, 5)}


def test_the_command_that_is_named_takes_those_files(added_later: Path) -> None:
    seen = preview(
        direct.open_table(str(added_later)), "compact", options={"rewrite-all": "true"}, where="late IS NULL"
    )
    assert len(seen.files) == 4
    assert seen.call


def test_a_plan_says_nothing_of_files_that_have_counts(added_later: Path) -> None:
    plan = direct.open_table(str(added_later)).plan("id > 0")
    assert plan.unmeasured == {}


def vector(path: str, of: str) -> LiveFile:
    return LiveFile(path, "deletion_vector", 0, {}, 1, 1, 1, 1, "m.avro", "PUFFIN", referenced_data_file=of)


def test_a_note_says_which_commits_older_java_refuses() -> None:
    """apache/iceberg#17764: two vectors of one data file since the base."""
    since = [
        LaterCommit(3, "snapshot-3", "delete", added_deletes=(vector("a.puffin", "d.parquet"),)),
        LaterCommit(4, "snapshot-4", "delete", added_deletes=(vector("b.puffin", "d.parquet"),)),
    ]
    other = LiveFile("other.parquet", "data_file", 0, {}, 1, 1, 1, 1, "m.avro")
    from_base = frozenset({"validateFromSnapshot"})
    words = older_java_words(Intent(KINDS["compaction"], from_base, replaced=(other,)), since)
    assert "snapshot-3 and snapshot-4 both added a deletion vector for d.parquet" in words
    assert not older_java_words(Intent(KINDS["compaction"], from_base, replaced=(other,)), since[:1])
    assert not older_java_words(Intent(KINDS["append"], frozenset()), since)


def test_a_commit_that_is_tried_again_says_when_it_gives_up(tmp_path: Path) -> None:
    """gbif/pipelines#1503: CommitFailedException after retries."""
    table = direct.open_table(str(make_table(tmp_path, 3)))
    decision = explain_conflict(table, "snapshot-1", "append", ())
    assert "After 4 more tries (commit.retry.num-retries), or 30 minutes" in " ".join(decision.notes)
    few = {"commit.retry.num-retries": "1", "commit.retry.total-timeout-ms": "90000"}
    assert "After 1 more try (commit.retry.num-retries), or 1.5 minutes" in retry_words(few)
    assert not explain_conflict(table, "snapshot-3", "append", ()).notes


def test_deletes_that_keep_readers_out_have_a_way_out(sandbox: Path) -> None:
    """StarRocks/starrocks#37122; the statement drops all four equality deletes there (tried in Spark)."""
    table = open_table("demo.streaming_upserts")
    answer = find_readers(direct.open_table(table.metadata.metadata_location))
    assert any("To be rid of equality deletes" in note for note in answer.notes)
    assert {"starrocks", "doris", "impala", "hive"} <= {verdict.reader.id for verdict in answer.verdicts}
    seen = preview(table, "compact")
    assert any("may stay listed" in words for words in seen.words)
    options = {"delete-file-threshold": "1", "remove-dangling-deletes": "true"}
    assert not any("may stay listed" in words for words in preview(table, "compact", options=options).words)


def test_old_metadata_files_are_told_of_beside_the_procedures(tmp_path: Path) -> None:
    """risingwavelabs/risingwave#13048: most of the folder."""
    plan = plan_all(direct.open_table(str(make_table(tmp_path, 52))))
    assert "No procedure removes the 52 older metadata files" in " ".join(plan.words)
    assert not plan_all(direct.open_table(str(make_table(tmp_path / "few", 3)))).beside


def test_a_moment_is_told_in_milliseconds() -> None:
    assert [interval(ms) for ms in (700, 0, 1500)] == ["700 ms", "0 seconds", "1 second"]


@pytest.mark.parametrize("query", ["SELECT * FROM t WHERE a = 1", " with x as (select 1) select * from x"])
def test_a_whole_query_is_no_condition(query: str) -> None:
    with pytest.raises(StatementFailed, match="what stands after WHERE"):
        push_down(None, None, None, query)  # type: ignore[arg-type]
