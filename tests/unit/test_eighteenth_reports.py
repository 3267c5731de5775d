"""Troubles of an eighteenth round of public reports, on tables that are built here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from click.testing import CliRunner

from explorer.cli import main
from explorer.render.estimates import change_rows, filter_rows
from explorer.render.plans import summary_lines
from explorer.reports.conflicts import explain_conflict
from explorer.reports.duplicate_keys import explain_keys
from explorer.reports.estimates import estimate
from explorer.reports.maintenance import preview
from explorer.reports.maintenance_plan import plan_all
from explorer.reports.readers import find_readers
from explorer.spec.commits.operations import operation_without
from tests.cases.mini import Table
from tests.support import direct
from tests.support.report_tables import found
from tests.support.small_tables import edit_metadata, make_table


@pytest.mark.parametrize(("isolation", "outcome"), [("serializable", "refused"), ("snapshot", "retry")])
def test_a_merge_without_a_filter_replaces_nobody_knows_which_files(
    tmp_path: Path, isolation: Any, outcome: str
) -> None:
    """apache/iceberg#13091: under snapshot isolation it commits if its rows are in other files (tried in Spark)."""
    table = Table(tmp_path / "t", [(1, "id", "long")], [(1, 1000, "id", "identity")])
    old = [table.parquet(f"{n}.parquet", {"id": [n]}, partition={"id": n}) for n in (1, 2)]
    table.append(*old)
    new = table.parquet("new.parquet", {"id": [1]}, partition={"id": 1})
    entries = [(2, old[0], {"sequence_number": 1}), (0, old[1], {"sequence_number": 1}), (1, new)]
    table.snapshot("overwrite", [table.manifest("r.avro", entries)])
    checks = operation_without("cow-merge", isolation, ()).validations
    decision = explain_conflict(direct.open_table(str(tmp_path / "t")), "snapshot-1", "cow-merge", checks)
    assert decision.outcome == outcome
    assert "removed a data file that this commit replaces" not in decision.words.split("It is refused if")[0]
    assert bool(decision.unless) is (outcome == "retry")


def test_no_change_is_offered_that_makes_the_whole_table_heavier(tmp_path: Path) -> None:
    """ray-project/ray#66133: a partition for each value of a unique key."""
    table = Table(tmp_path / "t", [(1, "id", "long")])
    for n in range(4):
        table.append(table.parquet(f"{n}.parquet", pa.table({"id": [*range(n, 4000, 4)]})))
    offered = estimate(direct.open_table(str(tmp_path / "t")), ["id = 7"])
    [row] = filter_rows(offered)
    assert row["helped_most_by"] == "sort by id"
    [by_id] = [one for one in change_rows(offered) if one["change"] == "partition by id"]
    assert by_id["because"].startswith("not offered, since the whole table would weigh")
    assert all(
        offered.changes[at].text != "partition by id" for at in (offered.best, offered.lightest) if at is not None
    )


def test_another_summary_is_no_reason_to_go_back(tmp_path: Path) -> None:
    place = make_table(tmp_path, 2)
    edit_metadata(place, lambda raw: raw["snapshots"][0]["summary"].update({"more": "1"}))
    [finding] = found(str(place), "snapshot-twice")
    assert (finding.severity, "backup" in finding.remedy, "register_table" in finding.remedy) == (
        "warning",
        False,
        False,
    )


def test_a_reader_that_shows_other_values_cannot_read_the_table(tmp_path: Path) -> None:
    """apache/iceberg#10742: add_files took nulls into a column that is NOT NULL."""
    table = Table(tmp_path / "t", [(1, "id", "long"), (2, "x", "long", True)])
    file = table.parquet("a.parquet", pa.table({"id": [1, 2], "x": pa.array([None, 5], pa.int64())}))
    table.append(file)
    answer = find_readers(direct.open_table(str(tmp_path / "t")))
    [spark] = [one for one in answer.verdicts if one.reader.id == "spark"]
    assert spark.answer == "wrong"


def test_files_outside_the_roots_are_not_called_missing(tmp_path: Path) -> None:
    table = Table(tmp_path / "t", [(1, "id", "long")])
    other = tmp_path / "other" / "b.parquet"
    other.parent.mkdir()
    file = table.parquet("b.parquet", {"id": [1]})
    (tmp_path / "t" / "data" / "b.parquet").rename(other)
    table.append(table.parquet("a.parquet", {"id": [1]}), {**file, "file_path": f"file://{other}"})
    seen = preview(direct.open_table(str(tmp_path / "t")), "compact", options={"rewrite-all": "true"})
    assert not seen.refusal
    assert any("outside the folders that may be read" in line for line in seen.words)
    assert seen.call


def test_an_incomplete_row_history_has_its_exit_code(tmp_path: Path) -> None:
    place = make_table(tmp_path, 2)
    next((place / "data").glob("*.parquet")).unlink()
    result = CliRunner().invoke(main, ["data", "history", str(place), "id > 0"])
    assert (result.exit_code, "at least" in result.stdout) == (3, True)


def test_maintenance_says_every_rule_that_keeps_snapshots(tmp_path: Path) -> None:
    plan = plan_all(direct.open_table(str(make_table(tmp_path, 3))))
    [line] = [line for line in plan.lines if line.operation == "expire"]
    assert line.why.count("Kept: ") >= 1
    assert line.why.startswith("Kept: ")


def test_an_operation_may_be_called_as_iceberg_calls_its_procedure(tmp_path: Path) -> None:
    place = make_table(tmp_path, 2)
    assert preview(direct.open_table(str(place)), "expire_snapshots").operation == "expire"
    result = CliRunner().invoke(main, ["maintain", "preview", str(place), "rewrite_data_files"])
    assert (result.exit_code, "Nothing would be rewritten" in result.stdout) == (0, True)


def test_appends_within_seconds_are_told_where_a_key_came_twice(tmp_path: Path) -> None:
    """trinodb/trino#31072: two MERGEs at once both inserted a key."""
    for step, is_told in ((400, True), (60_000, False)):
        table = Table(tmp_path / str(step), [(1, "id", "long")])
        table.append(table.parquet("a.parquet", {"id": [1, 2]}))
        table.append(table.parquet("b.parquet", {"id": [2, 3]}), step=step)
        opened = direct.open_table(str(tmp_path / str(step)))
        [one] = explain_keys(opened, [({"id": 2}, 2)], ["id"], None)
        assert ("0.4 s before" in one.why) is is_told


def test_wide_bounds_are_told_where_no_file_is_skipped(tmp_path: Path) -> None:
    table = Table(tmp_path / "t", [(1, "id", "long")])
    table.append(*(table.parquet(f"{n}.parquet", {"id": [n, 100 + n]}) for n in range(3)))
    told = list(summary_lines(direct.open_table(str(tmp_path / "t")).plan("id = 50")))
    assert any(line.startswith("no file is skipped by id: each file has bounds of it that span") for line in told)
