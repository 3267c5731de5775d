"""Why a file is still there, and when it can go."""

from __future__ import annotations

import os
import random
import time
from pathlib import Path
from typing import Any

import pytest

import explorer
from explorer.errors import NotFoundInTable
from explorer.spec.maintenance.file_stay import FileStay
from explorer.spec.snapshots.retention import MAX_REF_AGE, MAX_SNAPSHOT_AGE, MIN_SNAPSHOTS, expired_from_ms, retention
from tests.support.paper_tables import HOUR, on_paper
from tests.support.small_tables import make_table

NOW = 1_000 * HOUR
CASES = 150


def stay(table: Path, path: str) -> FileStay:
    return explorer.open_table(str(table)).maintain.file(path).value


def test_the_time_from_which_snapshots_can_go_is_that_of_the_policy() -> None:
    chance = random.Random(4)
    answers = {"never": 0, "some day": 0}
    for case in range(CASES):
        parents: list[int | None] = [None, *(chance.randrange(max(0, n - 3), n) + 1 for n in range(1, 8))]
        refs: dict[str, dict[str, Any]] = {"main": {"snapshot-id": 8, "type": "branch"}}
        for number in range(chance.randrange(3)):
            kind = chance.choice(["branch", "tag"])
            refs[f"r{number}"] = {"snapshot-id": chance.randrange(1, 9), "type": kind}
            if chance.random() < 0.6:
                refs[f"r{number}"]["max-ref-age-ms"] = chance.randrange(1, 40) * HOUR
            if kind == "branch" and chance.random() < 0.5:
                refs[f"r{number}"]["max-snapshot-age-ms"] = chance.randrange(1, 40) * HOUR
        names = (MAX_SNAPSHOT_AGE, MAX_REF_AGE)
        properties = {name: str(chance.randrange(1, 40) * HOUR) for name in names if chance.random() < 0.6}
        properties |= {MIN_SNAPSHOTS: str(chance.randrange(1, 3))}
        metadata = on_paper(parents, refs, properties, NOW)
        wanted = set(chance.sample(range(1, 9), chance.randrange(1, 4)))

        def is_gone(at_ms: int, metadata: Any = metadata, wanted: set[int] = wanted) -> bool:
            return not wanted & {s.snapshot_id for s in retention(metadata, at_ms).snapshots_to_keep}

        if is_gone(NOW):
            continue
        until = expired_from_ms(metadata, wanted, NOW)
        if until is None:
            answers["never"] += 1
            assert not is_gone(NOW + 10_000 * HOUR), case
        else:
            answers["some day"] += 1
            assert is_gone(until), case
            assert not is_gone(until - 1), case
    assert min(answers.values()) > CASES // 8, answers


def test_every_kind_of_file_that_metadata_names(tmp_path: Path) -> None:
    table = make_table(tmp_path, 3)
    opened = explorer.open_table(str(table))
    current = opened.metadata.current_snapshot
    assert current
    assert current.manifest_list
    a_list = stay(table, current.manifest_list)
    assert (a_list.kind, a_list.needed_by, a_list.until_ms) == ("manifest list", ("snapshot-3",), None)
    assert a_list.words[0] == "It is the manifest list of snapshot-3."
    assert a_list.words[-1] == "The current snapshot needs it. Each commit writes a new one for its own snapshot."
    [data] = [row["file_path"] for row in opened.inspect.files(snapshot="snapshot-1")]
    first = stay(table, data.rpartition("/")[2])
    assert (first.kind, first.needed_by) == ("data or delete file", ("snapshot-1", "snapshot-2", "snapshot-3"))
    older = opened.metadata.metadata_log[0].metadata_file
    assert stay(table, older).words[1].startswith("The log holds 100 (write.metadata.previous-versions-max). After ")
    assert stay(table, opened.metadata.metadata_location).kind == "metadata file"
    oldest = opened.metadata.by_number[0].manifest_list
    assert oldest
    [*_, last] = stay(table, oldest).words
    assert last.startswith("It can go from ")


def test_files_that_nothing_names_and_files_that_are_not_there(tmp_path: Path) -> None:
    table = make_table(tmp_path, 2)
    unused, young = table / "data/unused.parquet", table / "data/young.parquet"
    for file in (unused, young):
        file.write_bytes(b"PAR1")
    week = time.time() - 7 * 24 * 3600
    os.utime(unused, (week, week))
    old = stay(table, "unused.parquet")
    assert old.can_go
    assert "remove_orphan_files" in old.statement
    assert old.words[0] == "No snapshot of this table needs it."
    new = stay(table, "young.parquet")
    assert (new.can_go, new.kind) == (False, "unused file")
    assert new.until_ms is not None
    assert abs(new.until_ms / 1000 - time.time() - 3 * 24 * 3600) < 600
    with pytest.raises(NotFoundInTable, match="no metadata of this table names a file 'nowhere'"):
        stay(table, "nowhere")
    with pytest.raises(NotFoundInTable, match=r"'snap-' may mean 2 files: snap-"):
        stay(table, "snap-")
    data = explorer.open_table(str(table)).inspect.files()[0]["file_path"]
    (table / "data" / data.rpartition("/")[2]).unlink()
    gone = stay(table, data)
    assert gone.bytes is None
    assert gone.words[0].startswith("It is not there: metadata names a file that is missing (icedive doctor TABLE")


def test_a_table_whose_files_must_not_be_removed_says_so(tmp_path: Path) -> None:
    table = make_table(tmp_path, 2, **{"gc.enabled": "false"})
    oldest = explorer.open_table(str(table)).metadata.by_number[0].manifest_list
    assert oldest
    [*_, last] = stay(table, oldest).words
    assert last.startswith("Nothing removes it: the table's property gc.enabled is not true")
