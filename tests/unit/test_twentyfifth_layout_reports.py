"""Troubles of a twenty-fifth round of public reports that concern values, plans and compaction, on tables that are
built here."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import explorer
from explorer.errors import NotFoundInTable
from explorer.render.plans import plan_lines
from explorer.reports.maintenance.previews import preview
from explorer.reports.maintenance_plan import plan_all
from explorer.spec.text.printable import show_blanks
from tests.cases.mini import Table
from tests.support import direct
from tests.support.small_tables import edit_metadata, make_table
from tests.unit.test_cli import run

DAY, KEY = [(2, 1000, "day", "identity")], [(2, 1000, "key", "identity")]


def words(folder: Path, where: str) -> str:
    return "\n".join(plan_lines(direct.open_table(str(folder)).plan(where)))


# -- blanks ------------------------------------------------------------------------------------------------------------
def with_days(folder: Path, *commits: list[str]) -> Path:
    table = Table(folder, [(1, "id", "long"), (2, "day", "string")], spec=DAY)
    for number, days in enumerate(commits):
        table.append(
            *(
                table.parquet(f"{number}-{at}.parquet", {"id": [at], "day": [day]}, partition={"day": day})
                for at, day in enumerate(days)
            )
        )
    return folder


@pytest.mark.parametrize("commits", [(["20240131"], ["20240201 "]), (["20240131", "20240201 ", "20240203"],)])
def test_a_text_that_differs_by_a_blank_is_offered(commits: Any, tmp_path: Path) -> None:
    """apache/iceberg#15427: whether the manifest list or the manifest has it."""
    folder = with_days(tmp_path / "t", *commits)
    told = words(folder, "day = '20240201'")
    assert "did you mean '20240201 '? It is in day" in told
    assert "UPDATE with SET day = trim(day) WHERE day <> trim(day) removes them" in told
    history = explorer.open_table(str(folder)).data.history("day = '20240201'").to_text()
    assert "Did you mean '20240201 '?" in history
    assert "did you mean" not in words(folder, "day = '20240131'")
    assert "did you mean" not in words(folder, "day = '20240201 '")
    assert "did you mean '20240201 '?" in words(folder, "day IN ('x', '20240201')")


def test_bounds_and_capital_letters_are_alike_too(tmp_path: Path) -> None:
    table = Table(tmp_path / "t", [(1, "state", "string")])
    table.append(table.parquet("a.parquet", {"state": ["Open", "Open"]}))
    told = words(tmp_path / "t", "state = 'open'")
    assert "did you mean 'Open'? It is in state of 1 data file, and differs from 'open' by capital letters" in told
    assert "lower(state) = 'open' finds both" in told
    assert "did you mean" not in words(tmp_path / "t", "state = 'other'")


def test_blanks_at_the_ends_of_values_are_seen(tmp_path: Path) -> None:
    folder = str(with_days(tmp_path / "t", [" a", "b ", "c"]))
    listed = run("inspect", "partitions", folder).output
    assert all(f"day={text} " in listed for text in ("␣a", "b␣", "c"))
    profile = run("inspect", "profile", folder, "day").output
    assert all(text in profile for text in ("day=␣a", "day=b␣", " ␣a ", " b␣ "))
    as_json = run("inspect", "profile", folder, "day", "-o", "json").output
    assert '" a"' in as_json


@given(st.text(" ax", max_size=6))
def test_each_blank_has_a_sign(text: str) -> None:
    shown = show_blanks(text)
    assert len(shown) == len(text)
    assert shown.replace("␣", " ") == text
    assert not shown.startswith(" ")
    assert not shown.endswith(" ")


# -- identity partitions whose files have no such column ---------------------------------------------------------------
def test_files_of_the_partition_that_is_asked_for_are_not_to_be_written_anew(tmp_path: Path) -> None:
    """duckdb/duckdb-iceberg#396."""
    table = Table(tmp_path / "t", [(1, "id", "long"), (2, "key", "string")], spec=KEY)
    for load in range(2):
        table.append(
            *(table.parquet(f"{load}-{key}.parquet", {"id": [load]}, partition={"key": key}) for key in ("a", "b", "c"))
        )
    for where in ("key = 'a'", "key IN ('a', 'b')", "key = 'a' and id >= 0"):
        told = words(tmp_path / "t", where)
        assert "metadata records nothing of key" not in told
        assert "no file is skipped by key" not in told
        skipped = 2 if "IN" in where else 4
        assert f"{skipped} files are skipped by partition alone, since metadata has no bounds of key for them" in told
        assert "A reader that goes by bounds alone reads them" in told


# -- Kafka Connect -----------------------------------------------------------------------------------------------------
def stream(folder: Path, *complete: bool) -> Path:
    """A sink's commits, which are complete or partial; the last one has an equality delete."""
    table = Table(folder, [(1, "id", "long")])
    for number, is_complete in enumerate(complete):
        summary = {"kafka.connect.commit-id": f"c{number}"} | ({"kafka.connect.vtts": "1"} if is_complete else {})
        manifests = [table.manifest(f"m{number}.avro", [(1, table.parquet(f"{number}.parquet", {"id": [number]}))])]
        if number + 1 == len(complete):
            delete = table.equality_delete("eq.parquet", {"id": [number]})
            manifests.append(table.manifest("gone.avro", [(1, delete)], content=1))
        before = table.lists[table.md["current-snapshot-id"]] if number else []
        table.snapshot("overwrite", [*before, *manifests], summary)
    return folder


def test_a_delete_after_a_partial_commit_is_not_dropped_unseen(tmp_path: Path) -> None:
    """databricks/iceberg-kafka-connect#303."""
    table = direct.open_table(str(stream(tmp_path / "t", True, False, True)))
    seen = preview(table, "dangling-deletes")
    [row] = seen.tables["deletes"]
    assert "was partial: rows of that cycle came with this delete's commit" in row["may_be_needed"]
    assert not seen.call
    facade = explorer.open_table(str(tmp_path / "t"))
    assert "snapshot-2 is a partial commit of kafka connect" in facade.history.writers().to_text()


@pytest.mark.parametrize("complete", [(True, True, True), (False, False, False), (True, True, False)])
def test_complete_commits_and_sinks_without_times_are_not_partial(complete: tuple[bool, ...], tmp_path: Path) -> None:
    table = direct.open_table(str(stream(tmp_path / "t", *complete)))
    [row] = preview(table, "dangling-deletes").tables["deletes"]
    assert row["may_be_needed"] == ""
    assert "partial commit" not in explorer.open_table(str(tmp_path / "t")).history.writers().to_text()


# -- coarser partitions ------------------------------------------------------------------------------------------------
def test_a_coarser_transform_is_estimated_in_place_of_a_finer_one(tmp_path: Path) -> None:
    """apache/iceberg#8663: as Spark makes it, see tests/spark/test_estimates.py."""
    table = Table(tmp_path / "t", [(1, "id", "long"), (2, "at", "date")], spec=[(2, 1000, "at_day", "day")])
    days = [*range(19_000, 19_030), *range(19_100, 19_110)]  # January and February, April and May 2022
    for load in range(2):
        table.append(
            *(
                table.parquet(f"{load}-{day}.parquet", {"id": [load], "at": [day]}, partition={"at_day": day})
                for day in days
            )
        )
    opened = direct.open_table(str(tmp_path / "t"))
    found = direct.estimate(opened, "at >= '2022-01-10' AND at < '2022-01-12'")
    at = {change.text: place for place, change in enumerate(found.changes)}
    assert "partition by month(at)" not in at
    month = found.total(at["partition by month(at) instead of day(at)"])
    year = found.total(at["partition by year(at) instead of day(at)"])
    assert month is not None
    assert year is not None
    months = {(np.datetime64(day, "D").astype("M8[M]")) for day in days}
    whole = found.changes[at["partition by month(at) instead of day(at)"]].whole
    assert whole is not None
    assert (whole.files, whole.rows) == (len(months), 2 * len(days))
    assert (month.files, year.files, year.rows) == (1, 1, 2 * len(days))
    assert found.lightest == at["partition by month(at) instead of day(at)"]
    replaces, rewrite = found.changes[found.lightest].statements
    assert replaces.endswith("REPLACE PARTITION FIELD at_day WITH month(at)")
    assert "'rewrite-all', 'true'" in rewrite


# -- compaction --------------------------------------------------------------------------------------------------------
def test_groups_of_fewer_than_five_files_have_an_option(tmp_path: Path) -> None:
    """apache/iceberg#8663."""
    table = Table(tmp_path / "t", [(1, "id", "long"), (2, "day", "string")], spec=DAY)
    table.append(
        *(
            table.parquet(f"{day}-{at}.parquet", {"id": [at], "day": [day]}, partition={"day": day})
            for day, files in (("a", 1), ("b", 2), ("c", 4))
            for at in range(files)
        )
    )
    opened = direct.open_table(str(tmp_path / "t"))
    told = " ".join(preview(opened, "compact").words)
    assert (
        "With the option min-input-files=2 (-O min-input-files=2), 6 candidates in 2 groups would be rewritten" in told
    )
    assert "1 group is one small file alone in its partition" in told
    two = preview(opened, "compact", options={"min-input-files": "2"})
    assert two.words[1].startswith("2 groups of 6 files")
    assert "With the option" not in " ".join(two.words)
    [line] = [one for one in plan_all(opened).lines if one.operation == "compact"]
    assert line.why.startswith("Nothing would be rewritten")
    assert "With the option min-input-files=2" in line.why


# -- what was not looked at --------------------------------------------------------------------------------------------
def test_files_that_may_not_be_opened_are_not_said_to_be_right(tmp_path: Path) -> None:
    """duckdb/duckdb-iceberg#242: files that were added lie elsewhere."""
    table = Table(tmp_path / "t", [(1, "id", "long")])
    file = table.parquet("a.parquet", {"id": [1]})
    file["file_path"] = str(tmp_path / "raw" / "a.parquet")
    table.append(file)
    told = run("doctor", str(tmp_path / "t"), "--deep").output
    assert told.startswith("t: nothing wrong was found in what could be checked (")
    assert "0 files read" in told.splitlines()[0]
    assert "add them with --root" in told


# -- manifests and expiry (a twenty-sixth round) -----------------------------------------------------------------------
def test_manifests_without_live_files_are_not_too_many(tmp_path: Path) -> None:
    """apache/iceberg#8130: after a compaction each older manifest holds only DELETED entries until the next commit."""
    table = Table(tmp_path / "t", [(1, "id", "long")])
    files = [table.parquet(f"{n}.parquet", {"id": [n]}) for n in range(6)]
    for file in files:
        table.append(file)
    gone = [table.manifest(f"gone{n}.avro", [(2, file)]) for n, file in enumerate(files)]
    table.snapshot("replace", [*gone, table.manifest("all.avro", [(1, table.parquet("all.parquet", {"id": [1]}))])])
    opened = direct.open_table(str(tmp_path / "t"))
    [measure] = [m for m in direct.health(opened).measures if m.id == "small-manifests"]
    assert measure.value == 0
    told = " ".join(preview(opened, "rewrite-manifests").words)
    assert "6 manifests hold only DELETED entries: no planner opens them" in told
    words = " ".join(preview(opened, "expire", options={"older_than": "2999-01-01"}).words)
    assert "To find them, Spark reads 13 manifests of 7 snapshots; then it removes" in words
    assert "max_concurrent_deletes is ignored" in words


def test_deletes_that_old_data_keeps_are_told(tmp_path: Path) -> None:
    """trinodb/trino#25208: compacted files are newer than the deletes, and one old file is not."""
    table = Table(tmp_path / "t", [(1, "id", "long")])
    old, file = (table.parquet(f"{name}.parquet", {"id": [1, 2]}) for name in ("old", "file"))
    table.snapshot("append", [table.manifest("old.avro", [(1, old)]), table.manifest("file.avro", [(1, file)])])
    before = table.lists[table.md["current-snapshot-id"]]
    delete = table.position_delete("d.parquet", [(file["file_path"], 0)])
    gone = table.manifest("d.avro", [(1, delete)], content=1)
    table.snapshot("delete", [*before, gone])
    left = [m for m in before if "old.avro" in str(m)]
    merged = table.manifest("merged.avro", [(1, table.parquet("merged.parquet", {"id": [2]}))])
    table.snapshot("replace", [*left, gone, merged])
    opened = direct.open_table(str(tmp_path / "t"))
    told = " ".join(preview(opened, "dangling-deletes").words)
    assert "1 delete stays by itself: a commit drops a delete only if each live data file has a greater" in told
    assert "manifest old.avro has data of 1" in told


def test_a_time_before_a_log_that_is_not_there(tmp_path: Path) -> None:
    """GlareDB/glaredb#2603."""
    table = Table(tmp_path / "t", [(1, "id", "long")])
    table.append(table.parquet("a.parquet", {"id": [1]}))
    edit_metadata(tmp_path / "t", lambda metadata: metadata.pop("snapshot-log", None))
    with pytest.raises(NotFoundInTable, match="the metadata has no snapshot-log, which the spec allows"):
        direct.open_table(str(tmp_path / "t")).resolve("2999-01-01")


def test_removing_orphans_says_what_older_metadata_may_name(tmp_path: Path) -> None:
    """Basekick-Labs/arc#835."""
    place = make_table(tmp_path)
    (place / "data" / "lost.parquet").write_bytes(b"x")
    os.utime(place / "data" / "lost.parquet", (0, 0))
    words = " ".join(preview(direct.open_table(str(place)), "remove-orphans").words)
    assert "older metadata files of the log may name some of them: who goes back to one of these" in words
