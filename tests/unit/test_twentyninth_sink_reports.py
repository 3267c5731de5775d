"""Troubles of a twenty-ninth round of public reports: sinks, folders and expiry, on tables that are built here."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from pyiceberg.table import StaticTable

from explorer.reports.duplicate_keys import explain_keys
from explorer.spec.text.units import human_bytes
from tests.cases.mini import Table
from tests.support import direct
from tests.support.report_tables import found
from tests.support.small_tables import make_table
from tests.unit.test_cli import run
from tests.unit.test_twentyfirst_reports import age, raced


# -- a commit that hides its own rows (apache/iceberg#9773) ------------------------------------------------------------
def sink(folder: Path, identifier: bool = True, own: bool = True) -> Table:
    """An append, and a commit of two rows of one key with a position delete: of its own first row, or of a row of the
    append."""
    table = Table(folder, [(1, "id", "int", True), (2, "value", "string")])
    if identifier:
        table.md["schemas"][0]["identifier-field-ids"] = [1]
    first = table.parquet("first.parquet", {"id": [1], "value": ["value 1"]})
    table.append(first)
    second = table.parquet("second.parquet", {"id": [1, 1], "value": ["value 2", "value 3"]})
    hit = second if own else first
    table.delta([second], [table.position_delete("delete.parquet", [(hit["file_path"], 0)])])
    table.md["snapshots"][-1]["summary"] |= {"added-position-deletes": "1", "flink.job-id": "a"}
    table.write()
    return table


@pytest.mark.parametrize("own", [True, False])
@pytest.mark.parametrize("identifier", [True, False])
def test_a_row_that_its_own_commit_hid_is_shown(identifier: bool, own: bool, tmp_path: Path) -> None:
    table = sink(tmp_path / "t", identifier, own)
    history = direct.open_table(str(table.folder)).row_history("id = 1")
    told = [e for e in history.events if e.words.startswith("added and hidden at once")]
    text = run("data", "history", str(table.folder), "id = 1").output
    assert ("the data file still has it" in text.lower()) is own
    assert ("A sink with equality fields writes such deletes, in upsert mode or not" in text) is own
    assert ("Flink takes the table's identifier fields (id)" in text) is (own and identifier)
    assert ("DROP IDENTIFIER FIELDS id" in text) is (own and identifier)
    if own:
        [event] = told
        assert (event.what, event.row["value"], event.pos, event.snapshot) == ("deleted", "value 2", 0, "snapshot-2")
        assert "value='value 2'." in text
    else:
        assert not told


def test_a_row_stays_hidden_by_the_commit_that_added_it(tmp_path: Path) -> None:
    """A later commit tells it no second time."""
    table = sink(tmp_path / "t")
    table.append(table.parquet("third.parquet", {"id": [2], "value": ["x"]}))
    events = direct.open_table(str(table.folder)).row_history("").events
    assert [e.snapshot for e in events if "at once" in e.words] == ["snapshot-2"]


@pytest.mark.parametrize("own", [True, False])
def test_duplicates_that_a_sink_leaves_are_explained(own: bool, tmp_path: Path) -> None:
    table = sink(tmp_path / "t", own=own)
    if not own:
        table.append(table.parquet("third.parquet", {"id": [1], "value": ["value 4"]}))
    [told] = explain_keys(direct.open_table(str(table.folder)), [({"id": 1}, 2)], ["id"], None)
    assert ("hide only rows that it added itself, not the older row" in told.why) is own
    assert ("Drop the table's identifier fields" in told.why) is own


@pytest.mark.parametrize("own", [True, False])
def test_health_and_overview_warn_of_the_last_copy(own: bool, tmp_path: Path) -> None:
    table = sink(tmp_path / "t", own=own)
    text = run("health", str(table.folder)).output
    assert "what would help: compaction applies deletes" in text
    assert ("1 row was hidden by the commit that added it, and has never been visible. Comp" in text) is own
    assert ("rows that their own commit hid" in text) is own
    assert ("1 row hidden by the commit that added it" in run("overview", str(table.folder)).output) is own


# -- metadata files whose names have no version (ClickHouse/ClickHouse#68436) ------------------------------------------
def without_version(folder: Path, name: str = "v00001-34e20dae-5c6f-4d3e-abb6-4710cb2c43de.metadata.json") -> Path:
    """A table whose one metadata file has a name in which Iceberg finds no version; that file."""
    table = Table(folder, [(1, "id", "int")])
    table.append(table.parquet("a.parquet", {"id": [1, 2]}))
    newest = max(table.folder.glob("metadata/*.metadata.json"), key=lambda one: one.stat().st_mtime_ns)
    text = newest.read_text()
    for one in table.folder.glob("metadata/*.metadata.json"):
        one.unlink()
    for one in table.folder.glob("metadata/version-hint.text"):
        one.unlink()
    newest.with_name(name).write_text(text)
    return newest.with_name(name)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("v00001-34e20dae-5c6f-4d3e-abb6-4710cb2c43de.metadata.json", "ClickHouse 26.9 reads it, and older versions f"),
        ("backup.metadata.json", "ClickHouse fails on backup.metadata.json ('Bad metadata file name')"),
    ],
)
def test_a_name_without_a_version_and_clickhouse(name: str, words: str, tmp_path: Path) -> None:
    place = without_version(tmp_path / "t", name)
    [finding] = found(tmp_path / "t", "metadata-choice")
    assert words in finding.what
    assert "another table state that readers" not in finding.about.title
    assert "or fail" in finding.about.title
    assert "as v1.metadata.json beside it, and write 1 into version-hint.text" in finding.remedy
    assert "The old names stay in the folder" in finding.remedy
    assert words in run("readers", str(tmp_path / "t")).output
    assert "holds where they are given that file" not in run("readers", str(place)).output


def test_readers_of_the_folder_read_a_copy_with_a_version(tmp_path: Path) -> None:
    place = without_version(tmp_path / "t")
    shutil.copy(place, place.with_name("v1.metadata.json"))
    (place.parent / "version-hint.text").write_text("1")
    assert StaticTable.from_metadata(str(tmp_path / "t")).scan().to_arrow()["id"].to_pylist() == [1, 2]
    assert not found(tmp_path / "t", "metadata-choice")


# -- schemas that no snapshot uses (trinodb/trino#27357) ---------------------------------------------------------------
IN_TRINO = (
    "ALTER TABLE your_db.your_table EXECUTE expire_snapshots(retention_threshold => '7d', "
    "clean_expired_metadata => true)"
)


def many_schemas(folder: Path, number: int = 120) -> Table:
    """A table with two snapshots, and schemas of which they use two."""
    columns = [(1, "id", "int"), (2, "v", "string")]
    table = Table(folder, columns)
    table.append(table.parquet("a.parquet", {"id": [1], "v": ["a"]}))
    for at in range(1, number):
        table.set_schema([(1, "id", "int"), (2, f"v{at}", "string")], at)
    table.append(table.parquet("b.parquet", {"id": [2], f"v{number - 1}": ["b"]}))
    table.save()
    return table


def test_the_plan_for_trino_has_the_expiry_that_drops_schemas(tmp_path: Path) -> None:
    place = str(many_schemas(tmp_path / "t").folder)
    text = run("maintain", "all", place, "--statements", "trino").output
    assert f"In Trino, from 479 on, this keeps the snapshots of 7d, and what they use: {IN_TRINO}\n" in text
    assert "In Trino" not in run("maintain", "all", place).output
    few = str(many_schemas(tmp_path / "few", 3).folder)
    assert "In Trino" not in run("maintain", "all", few, "--statements", "trino").output


def test_the_preview_says_what_dropped_schemas_free_and_how_trino_drops_them(tmp_path: Path) -> None:
    table = many_schemas(tmp_path / "t")
    place, clean = str(table.folder), ("-O", "clean_expired_metadata=true")
    text = run("maintain", "preview", place, "expire", *clean).output
    gone = [one for one in table.md["schemas"] if one["schema-id"] != table.md["current-schema-id"]]  # both are old
    size = human_bytes(sum(len(json.dumps(one, separators=(",", ":"))) + 1 for one in gone))
    assert f"would drop {len(gone)} schemas that no snapshot left uses, {size} of the metadata file" in text
    assert IN_TRINO in text
    assert IN_TRINO not in run("maintain", "preview", place, "expire").output
    assert IN_TRINO not in run("maintain", "preview", place, "expire", *clean, "-O", "retain_last=2").output
    health = run("health", place).output
    assert f"{len(gone)} of them, {size}, no snapshot that stays needs" in health
    line = next(line for line in health.splitlines() if "clean_expired_metadata would take out besides" in line)
    assert line.split()[-2:] == size.split()


def test_health_of_one_schema_says_nothing_of_others(tmp_path: Path) -> None:
    assert "take out besides" not in run("health", str(many_schemas(tmp_path / "t", 1).folder)).output


# -- an older sort order that goes by a dropped column (apache/iceberg#16519) ------------------------------------------
@pytest.mark.parametrize("is_default", [True, False])
@pytest.mark.parametrize("is_dropped", [True, False])
def test_an_older_order_by_a_dropped_column_is_told(is_dropped: bool, is_default: bool, tmp_path: Path) -> None:
    table = Table(tmp_path / "t", [(1, "id", "int"), (2, "ts", "long")])
    for number in (1, 2):
        table.append(table.parquet(f"{number}.parquet", {"id": [number], "ts": [number]}))
    orders = {1: (1, 2), 2: (1,)}
    table.md["sort-orders"] += [
        {
            "order-id": number,
            "fields": [
                {"source-id": i, "transform": "identity", "direction": "asc", "null-order": "nulls-first"} for i in ids
            ],
        }
        for number, ids in orders.items()
    ]
    table.md["default-sort-order-id"] = 1 if is_default else 2
    if is_dropped:
        table.set_schema([(1, "id", "int")], 1)
    table.save()
    place = str(table.folder)
    fails = "writes of Spark with Iceberg 1.11.0, compaction among them, fail with 'Cannot find source column for sort"
    told = is_dropped and not is_default
    text = run("readers", place).output
    assert (fails in text) is told
    assert ("Sort order 1 goes by ts (field 2), which the schema has no more" in text) is told
    assert ("dropped since: ts (field 2)" in run("history", "schemas", place).output) is is_dropped
    if not is_default:
        compacts = run("maintain", "preview", place, "compact", "-O", "rewrite-all=true").output
        assert (fails in compacts) is told


# -- orphans that are rows of a refused commit (apache/iceberg-go#1079) ------------------------------------------------
@pytest.mark.parametrize("refused", [True, False])
def test_orphans_that_are_rows_of_a_refused_commit_are_asked_for_first(refused: bool, tmp_path: Path) -> None:
    place = raced(tmp_path)
    if not refused:
        place = make_table(tmp_path / "other", 2)
        (place / "data" / "stray.parquet").write_bytes(b"nothing leads here")
        age(place)
    [finding] = found(str(place), "orphan-files", files=True)
    words = "1 data file is of a commit that the table does not have (commit-unnamed): nobody has committed"
    assert (words in finding.what) is refused
    assert finding.remedy.startswith("First ask the writer of those files") is refused
