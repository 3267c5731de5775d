"""What public reports of trouble with Iceberg tables told, a thirty-first time."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from explorer.cli import main
from explorer.errors import NotFoundInTable
from explorer.render.plans import summary_lines
from explorer.spec.filters.filter_text import parse
from explorer.spec.filters.pushdown import Pushdown
from explorer.table import open_table
from tests.cases.mini import Table
from tests.support import direct
from tests.support.thirtyfirst_tables import with_numbers_that_went_back


def run(*words: str) -> str:
    return CliRunner().invoke(main, list(words)).output


# -- numbers that went back (lakekeeper/lakekeeper#949) ----------------------------------------------------------------
def test_a_commit_that_the_table_still_lists_is_not_lost(tmp_path: Path) -> None:
    table = with_numbers_that_went_back(tmp_path / "t")
    findings = direct.doctor(str(table.folder)).findings
    twice = [f for f in findings if f.rule == "sequence-twice"]
    assert {f.snapshots for f in twice} == {(101, 105)}
    assert "No row that snapshot 101 added is lost by it, since the table still lists its manifests" in twice[0].what
    assert not [f for f in findings if "did is lost" in f.what or "later snapshot" in f.what]


def test_a_commit_that_a_branch_has_is_not_lost(tmp_path: Path) -> None:
    """One number of two commits, of which a branch has the first."""
    table = Table(str(tmp_path / "t"), [(1, "id", "long")])
    table.append(table.parquet("a.parquet", {"id": [1]}))
    first = table.md["current-snapshot-id"]
    table.append(table.parquet("b.parquet", {"id": [2]}))
    second, kept = table.md["current-snapshot-id"], list(table.lists[first])
    added = table.manifest("c-m0.avro", [(1, table.parquet("c.parquet", {"id": [3]}))], seq=2)
    table.snapshot("append", [*kept, added], {"added-data-files": "1"}, parent=first, **{"sequence-number": 2})
    table.write()

    def said() -> str:
        return next(f.what for f in direct.doctor(str(table.folder)).findings if f.rule == "sequence-twice")

    assert f"what snapshot {second} did is lost" in said()
    table.md["refs"]["kept"] = {"snapshot-id": second, "type": "branch"}
    table.save()
    assert "lost" not in said()


@pytest.mark.parametrize(("low", "offered"), [(0, True), (-1, False)])
def test_the_number_can_be_raised_where_no_number_is_below_0(low: int, offered: bool, tmp_path: Path) -> None:
    table = with_numbers_that_went_back(tmp_path / "t", low)
    findings = direct.doctor(str(table.folder)).findings
    remedies = [f.remedy for f in findings if f.rule == "sequence-above-last" and "metadata.json" in f.file]
    assert remedies
    words = "register instead a copy of the current metadata file in which last-sequence-number is 3"
    assert all((words in remedy) is offered for remedy in remedies)


def test_the_number_is_not_raised_where_deletes_go_by_it(tmp_path: Path) -> None:
    table = Table(str(tmp_path / "t"), [(1, "id", "long")])
    table.append(table.parquet("a.parquet", {"id": [1, 2]}))
    gone = table.parquet("d.parquet", {"id": [1]})
    delete = table.manifest("d-m0.avro", [(1, gone | {"content": 2, "equality_ids": [1]})], content=1)
    table.snapshot("delete", [*table.lists[table.md["current-snapshot-id"]], delete], {"added-delete-files": "1"})
    table.md["last-sequence-number"] = 1
    table.write()
    remedies = [f.remedy for f in direct.doctor(str(table.folder)).findings if f.rule == "sequence-above-last"]
    assert remedies
    assert not [remedy for remedy in remedies if "register instead" in remedy]


def test_a_row_of_such_a_commit_comes_once_and_older_ones_were_there(tmp_path: Path) -> None:
    table = with_numbers_that_went_back(tmp_path / "t", later=0)
    late = run("data", "history", str(table.folder), "id = 100")
    assert (late.count("appeared"), late.count("came back")) == (1, 0)
    old = run("data", "history", str(table.folder), "id = 1")
    assert "snapshot-2 appeared: id=1, name=n0 (f0.parquet:0): added by this append" in old
    assert "snapshot-1 was there: id=1, name=n0 (f0.parquet:0): it was there already: snapshot-2 added its file" in old


# -- a number beside a column of texts (apache/iceberg#12491) ----------------------------------------------------------
def days(folder: Path) -> Table:
    table = Table(str(folder), [(1, "id", "long"), (2, "day", "string")])
    table.append(table.parquet("a.parquet", {"id": [1], "day": ["20250301"]}))
    return table


@pytest.mark.parametrize("where", ["day = 20250301", "day > 1.5", "day IN (1, 2)"])
def test_a_number_beside_texts_is_told_what_spark_does(where: str, tmp_path: Path) -> None:
    table = days(tmp_path / "t")
    says = run("plan", str(table.folder), where)
    assert "is no string, which day is: write it in quotes" in says
    assert "Spark takes the number too, but then it converts the column for each row, skips no file by it" in says
    assert "Spark" not in run("inspect", "files", str(table.folder), "--filter", "file_path = 3")
    with pytest.raises(NotFoundInTable, match="Spark takes the number too"):
        open_table(str(table.folder)).plan(where)


def test_what_spark_keeps_is_still_asked_of_rows(tmp_path: Path) -> None:
    table = open_table(str(days(tmp_path / "t").folder))
    plan = table.plan("day IS NOT NULL")
    alone, beside = (
        "\n".join(summary_lines(plan, pushed))
        for pushed in (None, Pushdown(parse("day IS NOT NULL"), ("CAST(day AS BIGINT) = 20250301L",)))
    )
    assert "the engine still asks day IS NOT NULL of the rows of 1 file" in alone
    assert "the engine still asks day IS NOT NULL, and all conditions that Spark keeps of the rows of 1 file" in beside
    assert "all rows match what Spark hands to Iceberg in 1 of 1 file" in beside


# -- columns that were dropped (apache/iceberg#5591) -------------------------------------------------------------------
def test_going_back_names_the_columns_that_do_not_come_along(tmp_path: Path) -> None:
    table = Table(str(tmp_path / "t"), [(1, "id", "long"), (2, "note", "string")])
    table.append(table.parquet("a.parquet", {"id": [1], "note": ["x"]}))
    fields = [{"id": 1, "name": "id", "type": "long", "required": False},
              {"id": 3, "name": "c2", "type": "string", "required": False}]  # fmt: skip
    table.md["schemas"].append({"type": "struct", "schema-id": 1, "fields": fields})
    table.md |= {"current-schema-id": 1, "last-column-id": 3}
    table.append(table.parquet("b.parquet", {"id": [2]}))
    said = run("refs", "preview", str(table.folder), "rollback", "-s", "snapshot-1")
    assert "The schema stays 1; that snapshot was written by schema 0." in said
    assert "Columns that were dropped since do not come back (note)" in said
    assert "(VERSION AS OF 101) or a tag see the old values until the snapshot expires" in said
    assert "Columns that were added since stay: c2." in said
    schemas = run("history", "schemas", str(table.folder))
    assert "older files keep its values, which time travel to a snapshot of an earlier schema alone reads" in schemas
