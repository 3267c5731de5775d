"""What public reports of trouble with Iceberg tables told, a twenty-ninth time."""

from __future__ import annotations

import json
import os
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from pyiceberg.exceptions import ResolveError
from pyiceberg.table import StaticTable, TableProperties

from explorer.cli import main
from explorer.reports.conflicts import explain_conflict
from explorer.spec.commits.commit import came_between, retry_words
from explorer.spec.doctor.findings import Finding
from tests.cases.mini import Table
from tests.support import direct
from tests.support.other_types import BY_SOME, COMMON, INT96, RIGHT, Stored, write_table

FAR, OLD, NEAR = datetime(3332, 12, 14, 11, 33, 10, 965000), datetime(1600, 1, 1), datetime(2020, 1, 1)


def types_found(folder: Path) -> list[Finding]:
    return [f for f in direct.doctor(str(folder), deep=True).findings if f.rule == "column-type"]


def read_by_pyiceberg(table: Table) -> list[Any]:
    place = str(table.folder / "metadata" / table.last)
    rows: list[Any] = StaticTable.from_metadata(place).scan().to_arrow()["x"].to_pylist()
    return rows


# -- times of INT96 ----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("times", "outside"), [([FAR, NEAR], 1), ([OLD, FAR], 2), ([NEAR, None], 0)])
@pytest.mark.parametrize("zone", [None, "UTC"])
def test_times_that_nanoseconds_cannot_tell(
    times: list[datetime | None], outside: int, zone: str | None, tmp_path: Path
) -> None:
    """apache/datafusion-comet#3856: other readers show other times, without an error."""
    kind = "timestamptz" if zone else "timestamp"
    stored = Stored(kind, "int96", pa.array(times, pa.timestamp("us", zone)), INT96)
    table = write_table(tmp_path / "t", stored)
    [finding] = types_found(tmp_path / "t")
    assert finding.severity == ("warning" if outside else "info")
    assert "rewrite-all" in finding.remedy
    assert ("Spark 4.1 and pyiceberg 0.12 read it right" in finding.what) == (not outside)
    assert ("Trino before 453 fails on it" in finding.what) == (not outside and zone is not None)
    if outside:
        assert f"{outside} value{'s are' if outside > 1 else ' is'} outside 1677-09-21 to 2262-04-11" in finding.what
        assert "pyarrow, so pyiceberg" in finding.what
    shown = [value and value.replace(tzinfo=None) for value in read_by_pyiceberg(table)]
    assert (shown == times) == (not outside)


def test_the_ends_of_what_nanoseconds_can_tell(tmp_path: Path) -> None:
    least, most = -(2**63 // 1000), (2**63 - 1) // 1000
    for name, numbers, severity in (("t", [least, most], "info"), ("o", [least - 1, most + 1], "warning")):
        times = pa.array(numbers, pa.int64()).cast(pa.timestamp("us"))
        table = write_table(tmp_path / name, Stored("timestamp", "int96", times, INT96))
        assert [f.severity for f in types_found(tmp_path / name)] == [severity]
        assert (read_by_pyiceberg(table) == times.to_pylist()) == (severity == "info")


def test_times_of_int96_inside_a_struct_a_list_and_a_map(tmp_path: Path) -> None:
    def own(name: str, kind: pa.DataType, number: int, nullable: bool = True) -> pa.Field:
        return pa.field(name, kind, nullable, {"PARQUET:field_id": str(number)})

    micros = pa.timestamp("us")
    inner = pa.struct([own("at.x", micros, 3), own("near", micros, 4)])
    pairs = pa.map_(own("key", pa.string(), 6, False), own("value", pa.list_(own("element", micros, 8)), 7))
    optional = {"required": False, "type": "timestamp"}
    fields = [
        (1, "s", {"type": "struct", "fields": [
            {"id": 3, "name": "at.x", **optional}, {"id": 4, "name": "near", **optional}]}),
        (2, "m", {"type": "map", "key-id": 6, "key": "string", "value-id": 7, "value-required": False, "value": {
            "type": "list", "element-id": 8, "element-required": False, "element": "timestamp"}}),
    ]  # fmt: skip
    table = Table(tmp_path / "t", fields)
    table.md["last-column-id"] = 8
    rows = [pa.array([{"at.x": FAR, "near": NEAR}], inner), pa.array([[("k", [NEAR, OLD])]], pairs)]
    written = pa.table(rows, schema=pa.schema([own("s", inner, 1), own("m", pairs, 2)]))
    file, place = table.parquet("a.parquet", written, ids=False), tmp_path / "t" / "data" / "a.parquet"
    pq.write_table(written, place, use_deprecated_int96_timestamps=True)
    table.append({**file, "file_size_in_bytes": place.stat().st_size})
    seen = {(f.severity, column) for f in types_found(tmp_path / "t") for column in f.columns}
    assert seen == {("warning", "s.at.x"), ("info", "s.near"), ("warning", "m.value.element")}


def test_a_row_history_says_which_times_others_show_otherwise(tmp_path: Path) -> None:
    times = pa.array([FAR, NEAR], pa.timestamp("us"))
    write_table(tmp_path / "t", Stored("timestamp", "int96", times, INT96))
    table = direct.open_table(str(tmp_path / "t"))
    current = table.metadata.current_snapshot
    assert current is not None
    of_far, of_near = ("\n".join(table.row_history(f"id = {i}").explain(current)) for i in (1, 2))
    assert "Another value of x is shown by readers that decode INT96 as nanoseconds" in of_far
    assert "INT96" not in of_near


@pytest.mark.parametrize("stored", [*RIGHT, *COMMON], ids=str)
def test_pyiceberg_reads_what_all_readers_are_said_to_take(stored: Stored, tmp_path: Path) -> None:
    table = write_table(tmp_path / "t", stored)
    begins = "a column is not stored in the spec's type: Spark 4.1 and pyiceberg 0.12 read it right"
    assert all(f.what.startswith(begins) for f in types_found(tmp_path / "t"))
    shown = [plain(value) for value in read_by_pyiceberg(table)]
    assert shown == [plain(value) for value in stored.array.to_pylist()]


def plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.astimezone(timezone.utc).replace(tzinfo=None) if value.tzinfo else value
    return getattr(value, "bytes", value)


def test_a_date_that_is_a_number_is_refused_by_pyiceberg(tmp_path: Path) -> None:
    table = write_table(tmp_path / "t", BY_SOME[0])
    with pytest.raises(ResolveError, match="Cannot promote an int to date"):
        read_by_pyiceberg(table)


# -- commits that a stale hint or path leaves out ----------------------------------------------------------------------
def three_commits(folder: Path) -> Table:
    table = Table(folder, [(1, "id", "long")])
    for number in (1, 2, 3):
        table.append(table.parquet(f"{number}.parquet", {"id": [number]}))
    return table


def metadata_files(folder: Path) -> list[Path]:
    return sorted((folder / "metadata").glob("*.metadata.json"))


def name_as_hadoop(folder: Path, hint: str) -> None:
    for number, path in enumerate(metadata_files(folder), 1):
        path.rename(path.with_name(f"v{number}.metadata.json"))
    (folder / "metadata" / "version-hint.text").write_text(hint)


def test_a_stale_hint_tells_of_writers_that_begin_there(tmp_path: Path) -> None:
    """ClickHouse/ClickHouse#120165."""
    three_commits(tmp_path / "t")
    newest = len(metadata_files(tmp_path / "t"))
    name_as_hadoop(tmp_path / "t", f"{newest - 1}")
    [finding] = [f for f in direct.doctor(str(tmp_path / "t")).findings if f.rule == "metadata-choice"]
    assert f"begins from version {newest - 1} may drop the commits after it" in finding.what
    assert "Let no writer and no maintenance that stops at the hint run" in finding.remedy


@pytest.mark.parametrize("hadoop", [True, False])
def test_an_earlier_metadata_file_that_is_named(hadoop: bool, tmp_path: Path) -> None:
    three_commits(tmp_path / "t")
    if hadoop:
        name_as_hadoop(tmp_path / "t", "1")
    *_, before, newest = metadata_files(tmp_path / "t")
    [finding] = [f for f in direct.doctor(str(before)).findings if f.rule == "metadata-choice"]
    assert finding.severity == "info"
    assert "an earlier metadata file of the table was opened by its path" in finding.what
    assert newest.name in finding.what
    assert "may drop the commits after it" in finding.what
    assert "metadata-choice" not in [f.rule for f in direct.doctor(str(newest)).findings]
    for command in ("overview", "show"):
        result = CliRunner().invoke(main, [command, str(before)])
        assert "an earlier metadata file of the table was opened by its path" in result.output + result.stderr


def test_a_newer_file_of_another_table_is_no_later_state(tmp_path: Path) -> None:
    three_commits(tmp_path / "t")
    *_, before, newest = metadata_files(tmp_path / "t")
    uuid = "11111111-2222-3333-4444-555555555555"
    newest.write_text(json.dumps(json.loads(newest.read_text()) | {"table-uuid": uuid, "metadata-log": []}))
    assert "opened by its path" not in " ".join(f.what for f in direct.doctor(str(before)).findings)


def begun(folder: Path) -> list[Finding]:
    return [f for f in direct.doctor(str(folder)).findings if "begins anew" in f.what]


@pytest.mark.parametrize("others", [True, False])
def test_a_history_that_begins_anew(others: bool, tmp_path: Path) -> None:
    table = three_commits(tmp_path / "t")
    table.md["metadata-log"] = []
    table.md["snapshots"] = table.md["snapshots"][-1:]
    table.md["snapshot-log"] = table.md["snapshot-log"][-1:]
    table.md["snapshots"][0].pop("parent-snapshot-id", None)
    newest = metadata_files(tmp_path / "t")[-1]
    newest.write_text(json.dumps(table.md))
    for path in metadata_files(tmp_path / "t")[: -1 if not others else 0]:
        path.unlink()
    [finding] = begun(tmp_path / "t")
    assert finding.severity == "info"
    assert "last-sequence-number is 3" in finding.what
    assert ("nothing in it leads back" in finding.what) == (not others)


def test_a_version_0_is_no_first_name(tmp_path: Path) -> None:
    table = Table(tmp_path / "t", [(1, "id", "long")])
    for path in metadata_files(tmp_path / "t"):
        path.unlink()
    table.md["metadata-log"] = []
    table.append(table.parquet("1.parquet", {"id": [2, 3]}))
    [path] = metadata_files(tmp_path / "t")
    content = json.loads(path.read_text()) | {"metadata-log": []}
    path.unlink()
    for name, expected in (("v0.metadata.json", 1), ("v1.metadata.json", 0)):
        path = path.with_name(name)
        path.write_text(json.dumps(content))
        found = begun(tmp_path / "t")
        assert len(found) == expected
        assert all("v0.metadata.json is no name" in f.what and "nothing in it leads back" in f.what for f in found)
        path.unlink()


def test_a_first_metadata_file_begins_nothing_anew(tmp_path: Path) -> None:
    Table(tmp_path / "t", [(1, "id", "long")])
    assert begun(tmp_path / "t") == []


# -- commits that try again --------------------------------------------------------------------------------------------
def test_a_commit_that_loses_the_swap_says_whose_tries_are_meant_and_who_came_first(tmp_path: Path) -> None:
    """apache/iceberg-go#1079: a writer that does not try again by itself."""
    three_commits(tmp_path / "t")
    notes = explain_conflict(direct.open_table(str(tmp_path / "t")), "snapshot-1", "append", ()).notes
    said = " ".join(notes)
    assert "Since its base came snapshot-2 (append), snapshot-3 (append)." in said
    assert "4 is the number of Iceberg Java, pyiceberg 0.12 and iceberg-rust" in said
    assert "iceberg-go 0.7 tries no more" in said
    assert TableProperties.COMMIT_NUM_RETRIES_DEFAULT == 4
    assert "iceberg-go 0.7" not in retry_words({"commit.retry.num-retries": "7"})
    assert came_between([f"snapshot-{n}" for n in range(9)]).endswith("snapshot-4 and 4 more.")


# -- what cannot be read, nobody knows ---------------------------------------------------------------------------------
def test_what_is_still_read_is_not_known_without_the_last_list(tmp_path: Path) -> None:
    """trinodb/trino#14104."""
    table = three_commits(tmp_path / "t")
    shown = CliRunner().invoke(main, ["history", "commits", str(tmp_path / "t")]).output
    assert "are still read at the end: write amplification 1.00" in shown
    lost = table.md["snapshots"][-1]
    (tmp_path / "t" / "metadata" / lost["manifest-list"].rpartition("/")[2]).unlink()
    shown = CliRunner().invoke(main, ["history", "commits", str(tmp_path / "t")]).output
    assert "0 B are still read" not in shown
    assert "how much of it is still read at the end is not known, since what snapshot-3 reads cannot be read" in shown
    answer = json.loads(CliRunner().invoke(main, ["history", "commits", str(tmp_path / "t"), "-o", "json"]).stdout)
    assert answer["bytes_kept"] is None
    assert "0 B of it still read" not in CliRunner().invoke(main, ["health", str(tmp_path / "t")]).output


@pytest.mark.parametrize("lost", [True, False])
def test_a_file_of_a_commit_that_cannot_be_read_is_of_no_refused_write(lost: bool, tmp_path: Path) -> None:
    table = three_commits(tmp_path / "t")
    begin = min(s["timestamp-ms"] for s in table.md["snapshots"]) / 1000
    stray = tmp_path / "t" / "data" / "stray.parquet"
    stray.write_bytes((tmp_path / "t" / "data" / "1.parquet").read_bytes())
    for path in (tmp_path / "t" / "data").glob("*.parquet"):
        os.utime(path, (begin + 0.5, begin + 0.5))
    if lost:
        name = table.md["snapshots"][-1]["manifest-list"].rpartition("/")[2]
        (tmp_path / "t" / "metadata" / name).unlink()
    shown = CliRunner().invoke(main, ["storage", str(tmp_path / "t")]).output
    assert ("between commits that are all there" in shown) == (not lost)
    assert ("between commits, not all readable" in shown) == lost


# -- compactions in vain -----------------------------------------------------------------------------------------------
def compacted(folder: Path, made: int, engine: str, spec: list[tuple[Any, ...]] | None = None) -> Path:
    """A table of eight small files, which a compaction of an engine is recorded to have made of eight."""
    table = Table(folder, [(1, "id", "long")], spec or [])
    partition = {"id": 1} if spec else {}
    files = [table.parquet(f"{n}.parquet", {"id": [1]}, partition=partition) for n in range(made)]
    table.append(*files)
    newest = metadata_files(folder)[-1]
    content = json.loads(newest.read_text())
    content["snapshots"][-1]["summary"] |= {
        "operation": "replace", "added-data-files": f"{made}", "deleted-data-files": "8", "engine-name": engine,
    }  # fmt: skip
    newest.write_text(json.dumps(content))
    return folder


@pytest.mark.parametrize(("made", "engine", "said"), [(8, "trino", True), (7, "trino", False), (8, "spark", False)])
def test_a_compaction_in_vain_is_told_of_before_the_next(made: int, engine: str, said: bool, tmp_path: Path) -> None:
    """trinodb/trino#21808."""
    folder = compacted(tmp_path / "t", made, engine)
    shown = CliRunner().invoke(main, ["maintain", "all", str(folder), "--statements", "trino"]).output
    assert "EXECUTE optimize" in shown
    assert ("The last compaction by Trino (snapshot-1) made 8 files of 8: it may do so again." in shown) == said
    assert ("at least one file for each of its writers" in shown) == said


def test_spark_says_so_of_its_own_and_gives_no_reason_of_trino(tmp_path: Path) -> None:
    shown = CliRunner().invoke(main, ["maintain", "all", str(compacted(tmp_path / "t", 8, "spark"))]).output
    assert "The last compaction by Spark (snapshot-1) made 8 files of 8" in shown
    assert "for each of its writers" not in shown
    spec = [(1, 1000, "id", "identity")]
    parted = compacted(tmp_path / "p", 8, "trino", spec)
    shown = CliRunner().invoke(main, ["maintain", "all", str(parted), "--statements", "trino"]).output
    assert "made 8 files of 8" in shown
    assert "for each of its writers" not in shown
