"""Troubles of a twenty-sixth round of public reports, on tables that are built here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from explorer.reports.readers import find_readers
from tests.cases.mini import Table, single
from tests.support import direct
from tests.support.feature_tables import OURS
from tests.support.report_tables import found
from tests.support.small_tables import edit_metadata, make_table
from tests.unit.test_cli import run

NO_START = "names no starting snapshot, so Iceberg looks through the whole history"
SET = "validateFromSnapshot"


# -- a commit without a starting snapshot (apache/iceberg#2482) --------------------------------------------------------
def four_commits(folder: Path, expired: bool = True, version: int = 2) -> Path:
    """A table of four appends of a row, of which the first two may have expired."""
    table = Table(folder, [(1, "id", "long")], version=version)
    for number in range(4):
        table.append(table.parquet(f"{number}.parquet", {"id": [number]}))
    if expired:
        table.md["snapshots"] = table.md["snapshots"][2:]
        table.md["snapshot-log"] = table.md["snapshot-log"][2:]
        table.save()
    return folder


WALKING = ["mor-update", "mor-delete", "mor-merge", "cow-update", "cow-delete", "compaction", "replace-partitions"]


@pytest.mark.parametrize("kind", WALKING)
def test_a_commit_without_a_start_needs_the_whole_history(kind: str, tmp_path: Path) -> None:
    isolation = ("--isolation", "snapshot")
    gone, whole = four_commits(tmp_path / "gone"), four_commits(tmp_path / "whole", expired=False)
    for place, refused in ((gone, True), (whole, False)):
        told = run("check", "conflict", str(place), "snapshot-1", kind, "--without", SET, *isolation)
        assert told.exit_code == 0
        assert (NO_START in told.output) == refused
        assert ("It is refused" in told.output) == refused
        assert ("it does not help to start the job again" in told.output) == refused
        assert ("apache/iceberg#3258" in told.output) == refused
        assert "start the compaction again" not in told.output
        assert NO_START not in run("check", "conflict", str(place), "snapshot-1", kind, *isolation).output


@pytest.mark.parametrize("kind", ["append", "equality-delete", "delete-files", "overwrite-filter", "fast-append"])
def test_what_does_not_look_back_needs_no_history(kind: str, tmp_path: Path) -> None:
    place = str(four_commits(tmp_path / "gone"))
    for base in ("snapshot-1", "null"):
        assert "refused" not in run("check", "conflict", place, base, kind, "--without", SET).output
    told = run("check", "conflict", place, "101", kind)
    assert told.exit_code == 1
    assert "so it does not need that snapshot" in told.output
    assert "start the job again" not in told.output


def test_compactions_of_version_1_look_for_no_deletes(tmp_path: Path) -> None:
    place = str(four_commits(tmp_path / "gone", version=1))
    assert "It commits" in run("check", "conflict", place, "null", "compaction").output
    assert NO_START in run("check", "conflict", place, "null", "cow-update").output


def test_a_compaction_replaces_files_whatever_the_filter(tmp_path: Path) -> None:
    place = str(four_commits(tmp_path / "gone"))
    assert NO_START in run("check", "conflict", place, "null", "compaction", "--where", "id = 9999").output


def test_the_sink_of_an_old_flink_is_told_what_helps(tmp_path: Path) -> None:
    gone, whole = four_commits(tmp_path / "gone"), four_commits(tmp_path / "whole", expired=False)
    also = ("--also", "validateDataFilesExist")
    for base in ("null", "snapshot-2", "102"):
        told = run("check", "conflict", str(gone), base, "equality-delete", *also).output
        assert NO_START in told
        assert "history.expire.max-snapshot-age-ms" not in told
        assert "apache/iceberg#3258" in told
    assert "It commits" in run("check", "conflict", str(whole), "null", "equality-delete", *also).output
    assert "It commits" in run("check", "conflict", str(gone), "null", "equality-delete").output


def test_a_branch_may_be_called_null(tmp_path: Path) -> None:
    place = make_table(tmp_path, 2)
    first = direct.open_table(str(place)).metadata.snapshots[0].snapshot_id
    assert "It commits" in run("check", "conflict", str(place), "null", "compaction").output
    branch = {"snapshot-id": first, "type": "branch"}
    edit_metadata(place, lambda data: data["refs"].update(null=branch))
    assert "It loses the swap" in run("check", "conflict", str(place), "null", "compaction").output


# -- the column of a partition field is dropped (Altinity/ClickHouse#2084) ---------------------------------------------
def test_the_remedy_says_which_columns_come_back(tmp_path: Path) -> None:
    """It said that both files have columns of the same names."""
    OURS["fault-dropped-source"](tmp_path / "t")
    [finding] = found(tmp_path / "t", "partition-source-dropped")
    assert "columns of the same names" not in finding.remedy
    assert "The older file has what the newer one lacks: 1 column (p)." in finding.remedy
    assert "Both have the same snapshots." in finding.remedy
    assert "That loses" not in finding.remedy
    assert finding.found == "source-id 3"


def with_schemas(folder: Path, then: list[str], now: list[str]) -> Table:
    """A table whose metadata files before the last have other columns, and whose last one cannot be opened."""
    fields = [(0 if name == "p" else number + 1, name, "string") for number, name in enumerate(then)]
    table = Table(folder, [(i or 9, name, kind) for i, name, kind in fields], [(9, 1000, "p", "identity")])
    table.append(table.parquet("a.parquet", {name: ["v"] for name in then}, partition={"p": "v"}))
    table.set_schema([(number + 1, name, "string") for number, name in enumerate(now)])
    table.save()
    return table


@pytest.mark.parametrize(("then", "now", "told"), [
    (["a", "b", "p"], ["a"], "The older file has what the newer one lacks: 2 columns (b, p)."),
    (["a", "p"], ["a", "b"], "That loses 1 column (b). The older file has what the newer one lacks: 1 column (p)."),
    (["a", "p"], ["c"], "1 column (p). Columns have other names there (a for c)."),
])  # fmt: skip
def test_going_back_is_told_in_both_directions(then: list[str], now: list[str], told: str, tmp_path: Path) -> None:
    with_schemas(tmp_path / "t", then, now)
    [finding] = found(tmp_path / "t", "partition-source-dropped")
    assert told in finding.remedy


def test_snapshots_that_expired_come_back_without_files(tmp_path: Path) -> None:
    table = with_schemas(tmp_path / "t", ["a", "p"], ["a"])
    first = table.md["snapshots"].pop()
    table.md["snapshot-log"].clear()
    table.md["current-snapshot-id"] = None
    table.md["refs"] = {}
    table.write()
    [finding] = found(tmp_path / "t", "partition-source-dropped")
    assert f"1 column (p), and 1 snapshot ({first['snapshot-id']}), whose files may be gone." in finding.remedy
    assert "the same snapshots" not in finding.remedy


def test_readers_say_who_reads_a_table_without_the_column_of_its_partition_field(tmp_path: Path) -> None:
    OURS["fault-dropped-source"](tmp_path / "t")
    answers = {v.reader.id: v.answer for v in find_readers(direct.open_table(str(tmp_path / "t"))).verdicts}
    assert {name for name, answer in answers.items() if answer == "yes"} >= {"pyiceberg", "polars", "clickhouse"}
    assert {name for name, answer in answers.items() if answer == "no"} >= {"spark", "trino", "duckdb"}


def test_a_spec_that_comes_from_no_schema_says_what_its_number_is(tmp_path: Path) -> None:
    table = Table(tmp_path / "t", [(1, "id", "long")])
    table.md["partition-specs"].append(Table.spec(5, [(77, 1001, "q", "identity")]))
    table.write()
    [finding] = found(tmp_path / "t", "partition-source-dropped")
    assert finding.found == "source-id 77"


# -- counts and bounds that are wrong (apache/iceberg#17558) -----------------------------------------------------------
NAN = float("nan")
WRONG_METRICS: dict[str, tuple[dict[str, Any], str, int]] = {
    "nulls": ({"null_value_counts": {1: 0, 2: 0}}, "x IS NULL", 1),
    "nulls_alone": ({"null_value_counts": {1: 0, 2: 4}, "lower_bounds": {}, "upper_bounds": {}}, "x = 1", 1),
    "nan": ({"nan_value_counts": {2: 0}}, "x = double('NaN')", 1),
    "nan_alone": ({"nan_value_counts": {2: 4}, "null_value_counts": {1: 0}}, "x = 1", 1),
    "values": ({"value_counts": {1: 4, 2: 1}}, "x = 1", 1),
    "upper": ({"upper_bounds": {2: single("double", 1.0)}}, "x = 2", 1),
    "lower": ({"lower_bounds": {2: single("double", 2.0)}}, "x = 1", 1),
}
"""By case: what the manifest says instead, a filter, and how many rows of the file it matches."""


def with_wrong_metrics(folder: Path, case: str, deletes: bool = False) -> Path:
    """A table of one file, of whose column x the manifest says something wrong; and a delete, if asked for."""
    table = Table(folder, [(1, "id", "long"), (2, "x", "double")])
    rows = {"id": [1, 2, 3, 4], "x": [1.0, 2.0, NAN, None]}
    file = table.parquet("a.parquet", rows) | {"nan_value_counts": {2: 1}} | WRONG_METRICS[case][0]
    table.append(file)
    if deletes:
        other = table.parquet("b.parquet", {"id": [5, 6], "x": [5.0, 6.0]}) | {"nan_value_counts": {2: 0}}
        table.append(other)
        table.delta(deletes=[table.position_delete("d.parquet", [(other["file_path"], 0)])])
    return folder


@pytest.mark.parametrize("deletes", [False, True])
@pytest.mark.parametrize("case", WRONG_METRICS)
def test_wrong_metrics_are_said_to_lose_rows_of_filters(case: str, deletes: bool, tmp_path: Path) -> None:
    finding = found(with_wrong_metrics(tmp_path / "t", case, deletes), "metrics-wrong", deep=True)[0]
    by = "they skip the file, and so miss its rows" if case in ("upper", "lower") else "IS NULL skips a file"
    assert by in finding.remedy
    assert ("answers MIN, MAX and COUNT" in finding.remedy) == (not deletes)
    assert ("That helps these aggregates alone: filters" in finding.remedy) == (not deletes)
    assert ("Until then filters" in finding.remedy) == deletes


def test_sizes_of_columns_skip_nothing(tmp_path: Path) -> None:
    table = Table(tmp_path / "t", [(1, "id", "long")])
    table.append(table.parquet("a.parquet", {"id": [1]}) | {"column_sizes": {1: 10**9}})
    [finding] = found(tmp_path / "t", "metrics-wrong")
    assert "filters" not in finding.remedy


# -- names of metadata files -------------------------------------------------------------------------------------------
def test_a_metadata_file_is_found_by_the_name_that_show_prints(tmp_path: Path) -> None:
    place = make_table(tmp_path, 3)
    assert "metadata-3 (current)" in run("show", str(place)).output
    by_name = run("history", "metadata", str(place), "metadata-1", "metadata-2")
    assert by_name.exit_code == 0
    assert by_name.output == run("history", "metadata", str(place), "1", "2").output
    told = run("history", "metadata", str(place), "metadata-9")
    assert told.exit_code == 1
    assert "the log has metadata-3, metadata-2, metadata-1, metadata-0" in told.output


def test_a_missing_argument_says_which_names_there_are(tmp_path: Path) -> None:
    place = str(make_table(tmp_path, 3))
    told = run("history", "metadata", place)
    assert told.exit_code == 2
    assert "Missing argument 'OLDER': there are metadata-3, metadata-2, metadata-1, metadata-0." in told.output
    told = run("check", "conflict", place)
    assert "Missing argument 'BASE': there are main, snapshot-3, snapshot-2, snapshot-1." in told.output
    assert "Missing argument 'OPERATION'." in run("check", "conflict", place, "main").output
    assert "Missing argument 'OLDER'." in run("history", "metadata", str(tmp_path / "none")).output
    assert "Missing argument 'TABLE'." in run("history", "metadata").output
