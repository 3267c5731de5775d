"""The ledger of storage: on random tables its groups add up to each byte, and say what each file is for."""

from __future__ import annotations

import os
import random
import time
import warnings
from pathlib import Path

import pyarrow as pa
import pytest

import explorer
from explorer.errors import IncompleteAnswer
from explorer.spec.layout.storage_ledger import StorageLedger
from tests.support.small_tables import make_table, new_table, newest_metadata, writable

SCHEMA = pa.schema([("id", pa.int64()), ("kind", pa.string())])
DAY = 24 * 3600


def bytes_below(*folders: Path) -> tuple[int, int]:
    """Files and bytes, without what the ledger is asked about."""
    files = [Path(top, name) for folder in folders for top, _, names in os.walk(folder) for name in names]
    return len(files), sum(file.lstat().st_size for file in files)


def ledger_of(place: Path, **options: object) -> StorageLedger:
    return explorer.open_table(place).storage(**options).value  # type: ignore[arg-type]


def random_table(place: Path, draw: random.Random) -> dict[str, int]:
    """A table of random commits, branches and tags, with files of each kind beside; returns how many unused ones."""
    table = new_table(place, SCHEMA)
    for number in range(draw.randrange(2, 9)):
        rows = pa.table({"id": range(number * 10, number * 10 + 5), "kind": ["ab"[number % 2]] * 5}, SCHEMA)
        step = draw.random()
        if step < 0.2 and number:
            table.delete(f"id = {draw.randrange(number * 10)}")
        elif step < 0.3 and number:
            table.overwrite(rows)
        else:
            table.append(rows)
        if draw.random() < 0.3 and table.current_snapshot():
            with table.manage_snapshots() as manage:
                snapshot = draw.choice(table.snapshots()).snapshot_id
                if draw.random() < 0.5:
                    manage.create_tag(snapshot, f"tag-{number}")
                else:
                    manage.create_branch(snapshot, f"branch-{number}")
    referenced = {snapshot.snapshot_id for snapshot in (ref for ref in table.metadata.refs.values())}
    free = [s.snapshot_id for s in table.snapshots() if s.snapshot_id not in referenced]
    if free and draw.random() < 0.6:  # pyiceberg leaves the files of what it expires
        table.maintenance.expire_snapshots().by_ids(draw.sample(free, draw.randrange(1, len(free) + 1))).commit()
    counts = {"unused": draw.randrange(4), "young": draw.randrange(3), "hidden": draw.randrange(3)}
    names = {"unused": "data/lost-{}.parquet", "young": "data/new-{}.parquet", "hidden": "data/_tmp/{}.parquet"}
    for group, number in counts.items():
        for at in range(number):
            file = place / names[group].format(at)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(b"x" * draw.randrange(1, 5000))
    for file in place.rglob("*"):
        if not file.name.startswith("new-"):
            os.utime(file, (time.time() - 30 * DAY,) * 2)
    return counts


@pytest.mark.parametrize("seed", range(20))
def test_all_bytes_of_random_tables_add_up(seed: int, tmp_path: Path) -> None:
    draw = random.Random(seed)
    place = tmp_path / "t"
    counts = random_table(place, draw)
    table = writable(place)
    gone = ""
    if seed % 4 == 3:  # an old file is lost
        gone = draw.choice(table.inspect.all_files()["file_path"].to_pylist())
        Path(gone.removeprefix("file://")).unlink()
    by = ("", "month", "partition")[seed % 3]
    ledger = ledger_of(place, by=by)
    assert (ledger.files, ledger.bytes) == bytes_below(place)
    current = table.inspect.files()
    assert sum(line.files for line in ledger.of("current").lines if line.kind == "data files") == len(
        set(current["file_path"].to_pylist()) - {gone}
    )
    named = set(table.inspect.all_files()["file_path"].to_pylist())
    for snapshot in table.snapshots():
        named |= {snapshot.manifest_list, *(m.manifest_path for m in snapshot.manifests(table.io))}
    named |= {table.metadata_location, *(entry.metadata_file for entry in table.metadata.metadata_log)}
    there = {f"file://{file}" for file in place.rglob("*") if file.is_file()}
    unnamed = there - named
    assert ledger.of("young").files == counts["young"]
    assert ledger.of("hidden").files == counts["hidden"]
    assert ledger.of("unused").files == len(unnamed) - counts["young"] - counts["hidden"]
    assert ledger.of("missing").files == len(named - there)
    if by:
        assert sum(row["bytes"] for row in ledger.parts) == ledger.bytes
    older = ledger.of("kept").bytes + ledger.of("expired").bytes
    assert sum(row["bytes"] for row in ledger.snapshots) == older


def test_a_lost_manifest_makes_amounts_at_least_and_prints_no_statement(tmp_path: Path) -> None:
    place = make_table(tmp_path)
    lost = writable(place).current_snapshot().manifests(writable(place).io)[0].manifest_path  # type: ignore[union-attr]
    Path(lost.removeprefix("file://")).unlink()
    for file in place.rglob("*"):
        os.utime(file, (time.time() - 30 * DAY,) * 2)
    with pytest.warns(IncompleteAnswer):
        answer = explorer.open_table(place).storage()
    unused = answer.value.of("unused")
    assert unused.title == "unused files (maybe in use)"
    assert (unused.files, unused.cleanup.statement) == (1, "")
    assert "at least" in answer.to_text().splitlines()[0]


def test_files_outside_the_folder_count_with_what_metadata_records(tmp_path: Path) -> None:
    place, data = tmp_path / "t", tmp_path / "elsewhere"
    table = new_table(place, SCHEMA, **{"write.data.path": f"file://{data}"})
    table.append(pa.table({"id": [1], "kind": ["a"]}, SCHEMA))
    ledger = ledger_of(place)
    assert ledger.elsewhere == bytes_below(data)
    assert (ledger.files, ledger.bytes) == bytes_below(place, data)


def test_what_only_unknown_metadata_refers_to_is_no_unused_file(tmp_path: Path) -> None:
    place = make_table(tmp_path, 2)
    before = newest_metadata(place)
    table = writable(place)
    table.append(pa.table({"id": [1], "fruit": ["b"]}))
    for file in place.rglob("*"):
        os.utime(file, (time.time() - 30 * DAY,) * 2)
    ledger = ledger_of(before)
    others = ledger.of("others")
    assert {line.kind: line.files for line in others.lines} == {
        "data files": 1, "manifests": 1, "manifest lists": 1, "metadata.json": 1,
    }  # fmt: skip
    assert "is newer than" in others.cleanup.words[0]
    assert ledger.of("unused").files == 0
    assert (ledger.files, ledger.bytes) == bytes_below(place)


def test_a_file_with_many_deletion_vectors_counts_once(sandbox: Path) -> None:
    table = explorer.open_table("demo.deletion_vectors")
    ledger = table.storage().value
    place = Path(table.engine.metadata.location.removeprefix("file:"))
    assert (ledger.files, ledger.bytes) == bytes_below(place)


def test_old_metadata_files_of_the_log_can_be_removed(tmp_path: Path) -> None:
    place = make_table(tmp_path, 14)
    table = writable(place).metadata
    cleanup = ledger_of(place).of("metadata").cleanup
    gone = [Path(entry.metadata_file.removeprefix("file://")) for entry in table.metadata_log][:-9]
    assert cleanup.frees == sum(file.stat().st_size for file in gone)
    assert "'write.metadata.previous-versions-max' = '10'" in cleanup.statement


@pytest.mark.parametrize("lost", ["manifest", "data file", "older metadata"])
def test_what_a_sick_table_is_recovered_from_stays(lost: str, tmp_path: Path) -> None:
    place = make_table(tmp_path, 14)
    table = writable(place)
    snapshot = table.current_snapshot()
    assert snapshot is not None
    gone = {
        "manifest": snapshot.manifests(table.io)[0].manifest_path,
        "data file": table.inspect.files()["file_path"][0].as_py(),
        "older metadata": table.metadata.metadata_log[-1].metadata_file,
    }[lost]
    Path(gone.removeprefix("file://")).unlink()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IncompleteAnswer)
        cleanup = ledger_of(place).of("metadata").cleanup
    if lost == "older metadata":  # a log may name files that are gone
        assert cleanup.statement
    else:
        assert (cleanup.statement, cleanup.frees) == ("", 0)
        assert "may be what this table is recovered from" in cleanup.words[0]


def test_costs_are_of_a_gib_and_month(tmp_path: Path) -> None:
    ledger = ledger_of(make_table(tmp_path, 1), price=1024.0**3)
    assert (ledger.cost(1024**2), ledger.cost(ledger.bytes)) == (1024**2, ledger.bytes)


def test_partitions_that_look_hidden_are_not_whatever_their_values(tmp_path: Path) -> None:
    place = tmp_path / "t"
    table = new_table(place, pa.schema([("_kind", pa.string())]))
    with table.update_spec() as spec:
        spec.add_identity("_kind")
    table.append(pa.table({"_kind": ["_x"]}))
    for name in ("data/_kind=_y/lost.parquet", "data/_other=y/lost.parquet"):
        (place / name).parent.mkdir(parents=True)
        (place / name).write_bytes(b"x")
    ledger = ledger_of(place)
    assert (ledger.of("young").files, ledger.of("hidden").files) == (1, 1)


def test_unused_files_tell_where_they_probably_come_from(tmp_path: Path) -> None:
    place = tmp_path / "t"
    table = new_table(place, SCHEMA, **{"write.metadata.previous-versions-max": "2"})
    for number in range(3):
        table.append(pa.table({"id": [number], "kind": ["a"]}, SCHEMA))
    snapshots = table.metadata.snapshots
    table.maintenance.expire_snapshots().by_ids([snapshots[0].snapshot_id]).commit()
    oldest, newest = (snapshots[at].timestamp_ms / 1000 for at in (1, 2))
    uuid = snapshots[1].manifest_list.rpartition("/")[2].split("-", 3)[3].removesuffix(".avro")
    planted = {
        f"metadata/{uuid}-m7.avro": (newest, "an earlier attempt of it"),
        "data/old.parquet": (oldest - DAY, "expiry, or failed write"),
        "data/failed.parquet": ((oldest + newest) / 2, "refused or killed write, or failed task"),
        "data/late.parquet": (newest + 1, "failed, lost or running write"),
    }
    for name, (written, _) in planted.items():
        (place / name).write_bytes(b"x" * 100)
        os.utime(place / name, (written,) * 2)
    ledger = ledger_of(place)
    told = {(row["kind"], row["likely_origin"]): row["files"] for row in ledger.origins}
    for _, origin in planted.values():
        assert sum(files for (_, its), files in told.items() if its == origin) >= 1, (origin, told)
    assert told["data files", "refused or killed write, or failed task"] == 1
    dropped = "metadata.json that the log does not have", "dropped from the log"
    assert told[dropped] == len([*place.glob("metadata/*.metadata.json")]) - 3
    assert told["manifests", "an earlier attempt of it"] == 1
    unused = sum(ledger.of(group).files for group in ("unused", "young"))
    assert sum(told.values()) == unused


def test_files_before_the_first_commit_are_of_a_write_that_failed_or_an_earlier_table(tmp_path: Path) -> None:
    table = new_table(tmp_path / "t", SCHEMA)
    table.append(pa.table({"id": [1], "kind": ["a"]}, SCHEMA))
    file = tmp_path / "t/data/earlier.parquet"
    file.write_bytes(b"x")
    os.utime(file, (table.metadata.snapshots[0].timestamp_ms / 1000 - DAY,) * 2)
    [row] = ledger_of(tmp_path / "t").origins
    assert (row["written"], row["files"]) == ("before the first commit", 1)
    assert row["likely_origin"] == "failed write, or earlier table"
