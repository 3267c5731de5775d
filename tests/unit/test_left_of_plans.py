"""What plans, estimates, deletes and histories left unsaid, or said wrongly, on tables that are built here."""

from __future__ import annotations

import json
import random
import uuid
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from pyiceberg.transforms import BucketTransform
from pyiceberg.types import StringType

from explorer.spec.scan.scan import Scan
from explorer.storage.file_rows import FileRows
from tests.cases.mini import Table
from tests.support import direct
from tests.support.small_tables import make_table, newest_metadata
from tests.unit.test_cli import run


# -- bounds that are cut, and bounds that are not ----------------------------------------------------------------------
def texts(folder: Path, values: list[list[Any]], bounds: int | None, kind: str = "string", **properties: str) -> str:
    """A table of a file for each list of texts, whose stored bounds have so many characters at most."""
    table = Table(folder, [(1, "id", "long"), (2, "k", kind)], properties=properties)
    for number, own in enumerate(values):
        file = table.parquet(f"{number}.parquet", {"id": list(range(len(own))), "k": own})
        encoded = [v.encode() if isinstance(v, str) else v for v in (min(own), max(own))]
        if bounds is not None:
            low, high = min(own)[:bounds], max(own)[:bounds]
            if isinstance(low, str):
                high = high[:-1] + chr(ord(high[-1]) + 1) if len(max(own)) > bounds else high
                encoded = [low.encode(), high.encode()]
            else:
                encoded = [low, high[:-1] + bytes([high[-1] + 1])]
        file["lower_bounds"][2], file["upper_bounds"][2] = encoded
        table.append(file)
    return str(table.folder)


MODE = "write.metadata.metrics.column.k"
ALIKE = [[f"order-of-2026-prefix-{number}"] * 2 for number in range(3)]
WIDE = [["a-text-that-is-far-too-long", "z-text-that-is-far-too-long"]] * 3


def advice(table: str, where: str) -> str:
    [line] = [line for line in run("plan", table, where).output.splitlines() if "no file is skipped by" in line]
    return line


def test_a_cut_is_blamed_where_bounds_show_it(tmp_path: Path) -> None:
    where = "k = 'order-of-2026-prefix-2'"
    cut = advice(texts(tmp_path / "cut", ALIKE, 16), where)
    assert "k: bounds keep its first 16 characters, and the filter asks for 22; where values begin alike" in cut
    assert f"{MODE} = truncate(22), and a rewrite" in cut
    whole = advice(texts(tmp_path / "whole", WIDE, None), "k = 'order-of-2026-prefix-2'")
    assert "16" not in whole
    assert "each file has bounds of it (the longest has 27 characters) that span what is asked for" in whole


def test_a_cut_is_not_blamed_where_bounds_are_apart_before_it(tmp_path: Path) -> None:
    told = advice(texts(tmp_path / "t", WIDE, 16), "k = 'order-of-2026-prefix-2'")
    assert "its bounds keep 16 characters, and these already span what is asked for: longer ones would skip no" in told
    assert "truncate(" not in told


def test_short_bounds_of_a_table_that_now_keeps_more(tmp_path: Path) -> None:
    told = advice(texts(tmp_path / "t", ALIKE, 16, **{MODE: "truncate(40)"}), "k = 'order-of-2026-prefix-2'")
    assert "bounds keep its first 16 characters, and the filter asks for 22. Writers keep 40 of them now" in told
    assert f"{MODE} = truncate(22)" not in told


def test_bytes_are_no_characters(tmp_path: Path) -> None:
    """Sixteen characters of two bytes each are a cut after sixteen."""
    alike = [["é" * 16 + f"{number}"] for number in (1, 1, 2)]
    told = advice(texts(tmp_path / "t", alike, 16), f"k = '{'é' * 16}2'")
    assert "bounds keep its first 16 characters, and the filter asks for 17" in told


@pytest.mark.parametrize(("bounds", "told"), [(None, "stored bounds have up to 22"), (16, "first 16 characters")])
def test_columns_say_how_long_stored_bounds_are(bounds: int | None, told: str, tmp_path: Path) -> None:
    table = texts(tmp_path / "t", ALIKE, bounds)
    output = run("inspect", "columns", table, "-o", "json").output
    assert told in output
    assert ("of up to 22 characters, more than the mode keeps" in output) == (bounds is None)


# -- estimates count deletes -------------------------------------------------------------------------------------------
def change_data(folder: Path, checkpoints: int, key: str = "long", values: Any = None, properties: Any = None) -> Table:
    """A table of a sink of change data: each checkpoint writes two rows, and an equality delete of their keys."""
    table = Table(folder, [(1, "id", key), (2, "name", "string")], properties=properties)
    for number in range(checkpoints):
        keys = values(number) if values else [number, number + 1]
        rows = table.parquet(f"d{number}.parquet", {"id": keys, "name": ["a"] * len(keys)})
        table.delta([rows], [table.equality_delete(f"e{number}.parquet", {"id": keys})])
    return table


def test_an_estimate_counts_deletes(tmp_path: Path) -> None:
    table = change_data(tmp_path / "t", 6, values=lambda number: [0, 9])
    name = str(table.folder)
    deletes = sum(path.stat().st_size for path in (table.folder / "data").glob("e[1-9]*"))
    answer = json.loads(run("scan", "estimate", name, "name = 'a'", "-o", "json").output)
    [asked], (now, *changes) = answer["filters"], answer["estimates"]
    assert (asked["data_files"], asked["delete_files"], asked["delete_bytes"]) == (6, 5, deletes)
    assert (now["delete_files"], now["delete_bytes"]) == (5, deletes)
    assert {change["delete_files"] for change in changes if change["bytes"] is not None} == {0}
    opened = 6 + sum(range(6))
    assert now["weight"] == opened * (4 << 20)
    assert asked["helped_most_by"], "the deletes are spared, if nothing else"
    told = run("scan", "estimate", name, "name = 'a'").output
    assert " of 6 files and " in told
    assert " of 5 delete files (weight " in told
    assert "no delete file is read after it" in told


def test_an_estimate_counts_no_delete_that_does_not_come_along(tmp_path: Path) -> None:
    table = change_data(tmp_path / "t", 3, values=lambda number: [10 * number, 10 * number + 1])
    answer = json.loads(run("scan", "estimate", str(table.folder), "name = 'a'", "-o", "json").output)
    assert answer["filters"][0]["delete_files"] == 0, "bounds keep each delete from each older file"
    assert "no delete file is read after it" not in str(answer["assumed"])


# -- equality deletes of random keys (apache/iceberg#12280) ------------------------------------------------------------
def random_keys(number: int) -> list[str]:
    return [str(uuid.UUID(int=random.Random(10 * number + at).getrandbits(128))) for at in range(40)]


def two_files_worth(table: Table) -> Table:
    """Set the target size so that the table's data fills two files."""
    held = sum(file.stat().st_size for file in table.folder.glob("data/d*.parquet"))
    table.md["properties"]["write.target-file-size-bytes"] = str(held // 2)
    table.write()
    return table


def test_how_far_bounds_confine_equality_deletes(tmp_path: Path) -> None:
    table = two_files_worth(change_data(tmp_path / "t", 8, "string", random_keys))
    told = run("inspect", "deletes", str(table.folder)).output
    assert (
        "bounds exclude 0% of 28 pairs of an equality delete and an older data file of its partition: of random" in told
    )
    assert "Partitions by bucket(2, id) would confine each delete to the files of its buckets" in told
    assert "  ALTER TABLE your_catalog.your_db.your_table ADD PARTITION FIELD bucket(2, id)\n" in told
    assert "Stop the writers before" in told
    health = run("health", str(table.folder), "--threshold", "equality-deletes=3").output
    assert "Partitions by bucket(2, id) would" in health


def test_bounds_that_confine_equality_deletes(tmp_path: Path) -> None:
    table = change_data(tmp_path / "t", 8, values=lambda number: [10 * number, 10 * number + 1])
    told = run("inspect", "deletes", str(table.folder)).output
    assert "bounds exclude 100% of 28 pairs of an equality delete" in told
    assert "bucket" not in told
    few = change_data(tmp_path / "few", 3, "string", random_keys)
    assert "bounds exclude 0% of 3 pairs" in run("inspect", "deletes", str(few.folder)).output
    assert "bucket" not in run("inspect", "deletes", str(few.folder)).output


def test_larger_tables_need_more_buckets(tmp_path: Path) -> None:
    table = change_data(tmp_path / "t", 8, "string", random_keys, properties={"write.target-file-size-bytes": "1000"})
    table.md["snapshots"][-1]["summary"]["total-files-size"] = "16000"
    table.save()
    assert "bucket(16, id)" in run("inspect", "deletes", str(table.folder)).output


# -- metadata files beside the log -------------------------------------------------------------------------------------
def test_metadata_of_the_folder_is_compared(tmp_path: Path) -> None:
    """A commit that lost its place in the log lies in the folder."""
    table = make_table(tmp_path, 2)
    newest = newest_metadata(table)
    stray = newest.with_name("00007-11111111-2222-4333-8444-555555555555.metadata.json")
    data = json.loads(newest.read_text())
    data["properties"]["owner"] = "somebody"
    stray.write_text(json.dumps(data))
    for name in (str(stray), f"file://{stray}", stray.name, "7", "metadata-7"):
        told = run("history", "metadata", str(newest), name)
        assert told.exit_code == 0, told.output
        assert "owner" in told.output
        assert f"{stray.name} lies in the folder, and the metadata log does not have it" in told.output + told.stderr
    assert "the metadata log does not have it" not in run("history", "metadata", str(newest), "1").output
    twin = stray.with_name("00007-21111111-2222-4333-8444-555555555555.metadata.json")
    twin.write_text(stray.read_text())
    assert "several metadata files of the folder are '7'" in run("history", "metadata", str(newest), "7").output
    told = run("history", "metadata", str(newest), "9").output
    assert "no metadata file '9': the log has " in told
    assert stray.name in told


# -- a rewrite of manifests that another step makes needless -----------------------------------------------------------
def planned(table: Table) -> dict[str, Any]:
    answer = json.loads(run("maintain", "all", str(table.folder), "-o", "json").output)
    return {line["operation"]: line for line in answer["procedures"]}


def test_no_rewrite_of_manifests_after_a_compaction_of_all_files(tmp_path: Path) -> None:
    table = change_data(tmp_path / "t", 0)
    for number in range(6):
        table.append(table.parquet(f"{number}.parquet", {"id": [number], "name": ["a"]}))
    lines = planned(table)
    assert lines["compact"]["statement"]
    assert not lines["rewrite-manifests"]["statement"]
    assert "The compaction before it writes all data files into new manifests" in lines["rewrite-manifests"]["why"]
    assert "in this order: compact, expire." in run("maintain", "all", str(table.folder)).output


def test_a_rewrite_of_manifests_that_a_compaction_leaves_something(tmp_path: Path) -> None:
    table = change_data(tmp_path / "t", 0)
    large = [table.parquet(f"{number}.parquet", {"id": list(range(3000)), "name": ["a"] * 3000}) for number in range(3)]
    table.md["properties"]["write.target-file-size-bytes"] = str(large[0]["file_size_in_bytes"])
    small = [table.parquet(f"small{number}.parquet", {"id": [number], "name": ["a"]}) for number in range(5)]
    for file in (*large, *small):
        table.append(file)
    lines = planned(table)
    assert lines["compact"]["files"] == 5
    assert lines["rewrite-manifests"]["statement"]
    assert "The compaction before it writes 5 of 8 data files into new manifests" in lines["rewrite-manifests"]["note"]


def test_no_rewrite_of_manifests_of_files_that_are_gone(tmp_path: Path) -> None:
    table = change_data(tmp_path / "t", 0)
    file = table.parquet("old.parquet", {"id": [1], "name": ["a"]})
    table.append(file)
    gone = table.manifest("gone.avro", [(2, file, {"sequence_number": 1})])
    new = table.manifest("new.avro", [(1, table.parquet("new.parquet", {"id": [2], "name": ["a"]}))])
    table.snapshot("overwrite", [gone, new], {})
    line = planned(table)["rewrite-manifests"]
    assert not line["statement"]
    assert "1 manifest of 2 lists only files that are gone" in line["why"]


# -- branches ----------------------------------------------------------------------------------------------------------
@pytest.fixture
def branched(tmp_path: Path) -> Table:
    """Two commits on main, three on a branch, one staged."""
    table = change_data(tmp_path / "t", 0)
    for number in range(2):
        table.append(table.parquet(f"{number}.parquet", {"id": [number], "name": ["a"]}))
    table.md["refs"]["audit"] = dict(table.md["refs"]["main"])
    for number in range(3):
        manifest = table.manifest(
            f"b{number}.avro", [(1, table.parquet(f"b{number}.parquet", {"id": [9], "name": ["b"]}))]
        )
        before = table.lists[table.md["refs"]["audit"]["snapshot-id"]]
        table.snapshot("append", [*before, manifest], {"engine-name": "spark", "app-name": "auditor"}, ref="audit")
    table.snapshot("append", [], {"wap.id": "w1"}, ref=None, parent=table.md["current-snapshot-id"])
    return table


def test_writers_and_health_tell_branches_apart(branched: Table) -> None:
    name = str(branched.folder)
    answer = json.loads(run("history", "writers", name, "-o", "json").output)
    branches = {one["writer"]: one["branches"] for one in answer["writers"]}
    assert branches["spark: auditor"] == [{"branch": "audit", "commits": 3}]
    assert branches["unknown"] == [{"branch": "main", "commits": 2}, {"branch": "no branch", "commits": 1}]
    assert [commit["branch"] for commit in answer["commits"]] == [*["main"] * 2, *["audit"] * 3, "no branch"]
    told = run("history", "writers", name).output
    assert "main 2, no branch 1" in told
    measures = json.loads(run("health", name, "-o", "json").output)["measures"]
    [words] = [one["words"] for one in measures if one["measure"] == "commits-per-hour"]
    assert "4 commits were not made on the way to this snapshot (audit 3, no branch 1), and not counted" in words


@pytest.mark.parametrize(
    "asked", [("check", "conflict", "snapshot-1", "append"), ("maintain", "all"), ("maintain", "preview", "compact")]
)
def test_answers_about_main_say_so(asked: tuple[str, ...], branched: Table) -> None:
    group, command, *rest = asked
    told = run(group, command, str(branched.folder), *rest).output
    assert "about main. Of the table's other branches (audit) it says nothing." in told
    alone = change_data(branched.folder.parent / "alone", 1)
    assert "other branches" not in run(group, command, str(alone.folder), *rest).output


# -- the history of rows under many deletes ----------------------------------------------------------------------------
def test_a_history_judges_each_delete_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each checkpoint is a snapshot, and lists the deletes of all before it: these are not read or judged again."""
    checkpoints = 12
    table = change_data(tmp_path / "t", checkpoints, values=lambda number: [0, 7, 9])
    pairs, judged = Counter[tuple[str, str]](), Counter[str]()
    held, judge = FileRows._held, Scan.deletes

    def count_held(self: FileRows, data: Any, delete: Any) -> Any:
        pairs[data.path, delete.path] += 1
        return held(self, data, delete)

    def count_judged(self: Scan, manifest: Any, *rest: Any) -> Any:
        judged[manifest.manifest_path] += 1
        return judge(self, manifest, *rest)

    monkeypatch.setattr(FileRows, "_held", count_held)
    monkeypatch.setattr(Scan, "deletes", count_judged)
    history = direct.open_table(str(table.folder)).row_history("id = 7")
    assert len(history.rows) == checkpoints
    assert [len(rows.visible) for rows in history.by_snapshot.values()] == [1] * checkpoints
    assert max(pairs.values()) == 1
    assert len(judged) == checkpoints
    assert max(judged.values()) <= 2  # by all columns, and by those that it deletes by


# -- counts of the manifest list that are wrong ------------------------------------------------------------------------
def test_a_plan_says_where_the_list_counts_otherwise(tmp_path: Path) -> None:
    table = change_data(tmp_path / "t", 0)
    right, wrong = (
        table.manifest(f"m{number}.avro", [(1, table.parquet(f"{number}.parquet", {"id": [number], "name": ["a"]}))])
        for number in range(2)
    )
    wrong |= {"added_rows_count": 500, "added_files_count": 3}
    table.snapshot("append", [right, wrong], {})
    name = str(table.folder)
    told = run("plan", name, "id >= 0").output
    assert (
        "⚠ the manifest list disagrees with 1 manifest that the plan has read: in m1.avro it counts 3 files and" in told
    )
    assert "500 rows, and the manifest has 1 file and 1 row. What is said of all data manifests is by the list" in told
    [row] = json.loads(run("plan", name, "id >= 0", "-o", "json").output)["wrong_counts"]
    assert (row["listed_files"], row["files"], row["listed_rows"], row["rows"]) == (3, 1, 500, 1)
    right |= {"added_rows_count": 1}
    wrong |= {"added_rows_count": 1, "added_files_count": 1}
    table.snapshot("replace", [right, wrong], {})
    assert "disagrees" not in run("plan", name, "id >= 0").output


def test_buckets_of_the_key_confine_deletes(tmp_path: Path) -> None:
    """Of 8 checkpoints that write to two buckets, a delete meets older files of its own bucket alone."""
    table = Table(tmp_path / "t", [(1, "id", "string")], spec=[(1, 1000, "id_bucket", "bucket[2]")])
    for number in range(8):
        data, deletes = [], []
        for bucket in range(2):
            place = {"partition": {"id_bucket": bucket}}
            keys = [key for key in random_keys(number) if bucket_of(key) == bucket]
            data.append(table.parquet(f"d{number}-{bucket}.parquet", {"id": keys}, **place))
            deletes.append(table.equality_delete(f"e{number}-{bucket}.parquet", {"id": keys}, **place))
        table.delta(data, deletes)
    told = run("inspect", "deletes", str(table.folder)).output
    assert "of 56 pairs of an equality delete and an older data file of its partition" in told, "of 4 times 28"
    assert "ADD PARTITION FIELD" not in told, "it has the buckets"


bucket_of = BucketTransform(num_buckets=2).transform(StringType())
