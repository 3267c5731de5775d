"""The teaching tables as they come packed, and tables moved to another folder (Spark: tests/spark/test_packed.py)."""

from __future__ import annotations

import gzip
import io
import json
import subprocess
import sys
import time
from pathlib import Path

import fastavro
import pytest

import explorer
from explorer.errors import NotPossible
from explorer.lab import scenarios
from explorer.lab.scenarios import SCENARIOS, build_all, packed
from explorer.render.doctor import render_report
from explorer.spark_engine import gateway
from explorer.spark_engine.spark import SparkEngine
from explorer.storage.catalogs.sandbox_entries import catalog_entries, forget_entries
from explorer.storage.data_dirs import HOME_VARIABLE, sandbox_home
from explorer.storage.locks import only_process
from explorer.storage.table_move import move_table
from tests.support import direct

DELETES = ["position_deletes", "mixed_modes", "deletion_vectors", "equality_deletes", "partition_evolution"]
UNPACK = "from explorer.lab import scenarios; scenarios.unpack_all(scenarios.missing())"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data folder of its own, with a name that has to be escaped in many places."""
    folder = tmp_path / 'it\'s a "höme" folder'
    folder.mkdir(mode=0o700)
    monkeypatch.setenv(HOME_VARIABLE, str(folder))
    return folder


@pytest.mark.parametrize("name", DELETES)
def test_an_unpacked_table_is_whole(name: str, home: Path) -> None:
    running = gateway.is_running()
    packed.unpack(sandbox_home(), [name])
    assert gateway.is_running() == running
    table = direct.open_table(f"demo.{name}")
    report = direct.doctor(table, deep=True)
    assert all(f.rule == "delete-dangling" for f in report.findings), render_report(report)
    assert not table.problems
    assert table.metadata.location == f"file:{sandbox_home() / 'warehouse' / 'demo' / name}"


def test_commits_are_as_old_as_those_of_a_table_that_was_just_built(home: Path) -> None:
    packed.unpack(sandbox_home(), ["long_history"])
    metadata = direct.open_table("demo.long_history").metadata
    built = [s.timestamp_ms or 0 for s in metadata.snapshots]
    assert built == sorted(built)
    assert 0 <= time.time() * 1000 - built[-1] < 600_000
    assert [e.timestamp_ms for e in metadata.snapshot_log] == built
    assert [e.timestamp_ms for e in metadata.metadata_log] == sorted(e.timestamp_ms for e in metadata.metadata_log)


def test_only_what_is_missing_is_unpacked(home: Path) -> None:
    packed.unpack(sandbox_home(), ["three_inserts"])
    assert scenarios.available_names() == {"three_inserts"}
    first = direct.open_table("demo.three_inserts").metadata.table_uuid
    file = Path(direct.open_table("demo.three_inserts").metadata.metadata_location)
    (sandbox_home() / "warehouse" / "demo" / "three_inserts" / "metadata" / file.name).unlink()
    assert scenarios.available_names() == set()
    packed.GIVEN_UP, before = 1, packed.GIVEN_UP
    try:
        packed.unpack(sandbox_home(), ["three_inserts"])
    finally:
        packed.GIVEN_UP = before
    assert direct.open_table("demo.three_inserts").metadata.table_uuid != first
    assert not direct.doctor("demo.three_inserts", deep=True).findings


def test_copies_are_tables_of_their_own(home: Path) -> None:
    names = [scenarios.fresh_copy("three_inserts") for _ in range(2)]
    assert names == ["lab.three_inserts_1", "lab.three_inserts_2"]
    tables = [direct.open_table(name) for name in names]
    assert len({t.metadata.table_uuid for t in tables}) == 2
    assert [direct.live_rows(t).rows for t in tables] == [3, 3]
    fresh = scenarios.reset_copy(names[0])
    assert fresh == "lab.three_inserts_3"
    assert set(catalog_entries(sandbox_home())) == {"lab.three_inserts_2", fresh}
    with pytest.raises(explorer.TableNotFound, match="no teaching table 'nothing'"):
        scenarios.fresh_copy("nothing")
    with pytest.raises(explorer.TableNotFound, match="is no copy"):
        scenarios.reset_copy("demo.three_inserts")


def test_several_processes_unpack_at_once(home: Path) -> None:
    runs = [subprocess.Popen([sys.executable, "-c", UNPACK]) for _ in range(3)]
    assert [run.wait() for run in runs] == [0, 0, 0]
    assert scenarios.available_names() == {s.name for s in SCENARIOS}
    assert not list((sandbox_home() / "warehouse" / "demo").glob(".*"))
    for name in ("three_inserts", "position_deletes", "long_history"):
        assert not direct.doctor(f"demo.{name}").findings


def test_a_process_that_was_killed_before_the_catalog_knew(home: Path) -> None:
    packed.unpack(sandbox_home(), ["three_inserts"])
    forget_entries(sandbox_home(), ["demo.three_inserts"])
    packed.unpack(sandbox_home(), ["three_inserts"])
    assert direct.live_rows(direct.open_table("demo.three_inserts")).rows == 3


@pytest.mark.parametrize("name", DELETES)
def test_a_table_moved_there_and_back_is_the_same(name: str) -> None:
    files = packed._read(packed.FOLDER / f"{name}.tar.zst")
    files.pop(packed.ABOUT)
    place, other = f"{packed.PLACE}/{name}", "s3://a-bucket/with/a/much/longer/path/than/before/" + "x" * 300
    there = move_table(files, place, other, 5_000)
    back = move_table(there, other, place, -5_000)
    assert set(files) == set(back)

    def told(path: str, data: bytes) -> object:
        if data.startswith(b"Obj"):
            avro = fastavro.reader(io.BytesIO(data))
            return {**avro.metadata, "avro.schema": json.loads(avro.metadata["avro.schema"])}, list(avro)
        if ".metadata.json" in path:
            return {**json.loads(gzip.decompress(data) if ".gz." in path else data), "table-uuid": ""}
        return data

    for path in files:
        assert told(path, back[path]) == told(path, files[path]), path
    assert any(there[path] != files[path] for path in files if path.endswith(".avro"))
    for path, data in there.items():
        assert packed.PLACE not in str(told(path, data)), path


def test_nothing_that_is_packed_names_a_folder_of_the_machine_that_built_it() -> None:
    for file in packed.FOLDER.iterdir():
        for path, data in packed._read(file).items():
            for place in (b"/tmp/", b"/home/", b"/root/", b"/work/"):
                assert place not in data, (file, path)


def test_one_process_builds_at_a_time(home: Path) -> None:
    """Another would remove what the first one has finished; a process that is killed holds nothing up."""
    sandbox = home / "sandbox"
    sandbox.mkdir(mode=0o700, exist_ok=True)
    hold = (
        "import sys, time\nfrom pathlib import Path\nfrom explorer.storage.locks import only_process\n"
        "with only_process(Path(sys.argv[1]), 'builds'):\n    print('held', flush=True)\n    time.sleep(600)"
    )
    command = [sys.executable, "-c", hold, str(sandbox / ".building")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        with pytest.raises(NotPossible, match=r"another process builds teaching tables in .*: wait until it has ended"):
            build_all(SparkEngine(), [])
        other.kill()
    with only_process(sandbox / ".building", "builds"):
        pass
