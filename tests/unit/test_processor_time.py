"""A command ends when a table takes more of the processor than the bytes read of it are worth."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from explorer.cli import main
from explorer.errors import ExplorerError
from explorer.storage import cache, limits, processor_time
from explorer.table import Table
from tests.security.dimensions import make
from tests.support import direct
from tests.support.small_tables import make_table

LOST = 120
"""Seconds after which a loop that nobody ended fails its test."""


@pytest.fixture(autouse=True)
def unset(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(processor_time.VARIABLE, raising=False)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return make_table(tmp_path, 2)


def loop(*_: Any, **__: Any) -> None:
    """One that asks nobody whether to go on, and copes with all that is wrong."""
    until = time.monotonic() + LOST
    while time.monotonic() < until:
        try:
            sum(range(1000))
        except Exception:
            continue
    pytest.fail("nothing ended it")


def test_a_command_that_goes_on_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processor_time, "SECONDS", 0.05)
    monkeypatch.setattr(Table, "lifecycle", loop)
    result = CliRunner().invoke(main, ["history", "lifecycle", str(folder)])
    assert result.exit_code == 1
    assert result.stderr.startswith(f"icedive: {folder}: refused: the command took ")
    assert processor_time.VARIABLE in result.stderr
    assert "Traceback" not in result.output


def test_it_is_told_to_other_threads(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from explorer.progress import listener

    seen = []

    def wait(*_: Any, **__: Any) -> None:
        seen.append(listener())
        loop()

    monkeypatch.setattr(processor_time, "SECONDS", 0.05)
    monkeypatch.setattr(Table, "lifecycle", wait)
    CliRunner().invoke(main, ["history", "lifecycle", str(folder)])
    [watch] = seen
    assert watch is not None
    assert watch.cancelled


def test_what_comes_after_a_command_is_not_counted(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processor_time, "SECONDS", 60.0)
    assert CliRunner().invoke(main, ["history", "lifecycle", str(folder)]).exit_code == 0
    import signal

    assert signal.getitimer(signal.ITIMER_PROF) == (0.0, 0.0)


def test_the_same_bytes_count_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Or many lists in one file would buy time for each."""

    monkeypatch.setattr(limits.BytesRead, "counting", True)
    monkeypatch.setattr(limits.BytesRead, "_known", set())
    monkeypatch.setattr(limits.BytesRead, "_of_file", {})
    monkeypatch.setattr(limits.BytesRead, "total", 0)
    table = direct.open_table(str(folder))
    snapshot = table.metadata.snapshots[-1]
    table.reader.storage.read(snapshot.manifest_list)
    once = limits.BytesRead.total
    newest = folder / "metadata" / Path(table.metadata.metadata_location).name
    assert once == newest.stat().st_size + (folder / "metadata" / Path(snapshot.manifest_list).name).stat().st_size
    (folder / "metadata" / "link.avro").hardlink_to(folder / "metadata" / Path(snapshot.manifest_list).name)
    for path in (snapshot.manifest_list, snapshot.manifest_list, str(folder / "metadata" / "link.avro")):
        table.reader.storage.read(path)
    for offset in range(1, 50):  # parts that overlap, too
        table.reader.storage.read(snapshot.manifest_list, offset, 100)
    assert limits.BytesRead.total == once


def test_decoded_manifests_count_as_their_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether they are read, or are in the cache, or both: what was put there is not read again."""

    monkeypatch.setattr(cache, "SMALLEST", 1)
    monkeypatch.setenv("ICEDIVE_CACHE", str(tmp_path / "cache"))
    folder = make(tmp_path / "t", "entries", 200)
    told = []
    for _ in range(2):
        monkeypatch.setattr(limits.BytesRead, "counting", True)
        monkeypatch.setattr(limits.BytesRead, "_known", set())
        monkeypatch.setattr(limits.BytesRead, "_of_file", {})
        monkeypatch.setattr(limits.BytesRead, "total", 0)
        table = direct.open_table(str(folder))
        table.files().to_arrow()
        direct.open_table(str(folder)).files().to_arrow()  # which remembers nothing
        told.append(limits.BytesRead.total)
    assert told[0] == told[1]
    lists = [Path(str(table.metadata.current_snapshot.manifest_list)).name, Path(table.metadata.metadata_location).name]
    listed = [Path(m.manifest_path).name for m in table.tree.manifests(table.metadata.current_snapshot)]
    assert told[0] == sum((folder / "metadata" / name).stat().st_size for name in (*lists, *listed))


def test_more_bytes_buy_more_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(processor_time.VARIABLE, raising=False)
    assert processor_time.seconds_for(0) == processor_time.SECONDS
    assert processor_time.seconds_for(2_000_000) < 8  # of ten: Python starts in two
    assert processor_time.seconds_for(100_000_000) > 100
    monkeypatch.setenv(processor_time.VARIABLE, "60")
    assert processor_time.seconds_for(0) == 60
    monkeypatch.setenv(processor_time.VARIABLE, "a minute")
    with pytest.raises(ExplorerError, match="say how many seconds"):
        processor_time.seconds_for(0)


def test_the_time_of_children_counts(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While this process waits for them it takes none, and the system's timer stands still."""
    from explorer.storage.decoder_process import client

    def wait(*_: Any, **__: Any) -> None:
        until = time.monotonic() + LOST
        while time.monotonic() < until:
            time.sleep(0.05)
        pytest.fail("nothing ended it")

    began = time.monotonic()
    monkeypatch.setattr(processor_time, "CHILDREN_S", 0.05)
    monkeypatch.setattr(client, "processor_seconds", lambda: 100 * (time.monotonic() - began))
    monkeypatch.setattr(Table, "lifecycle", wait)
    result = CliRunner().invoke(main, ["history", "lifecycle", str(folder)])
    assert (result.exit_code, "refused: the command took" in result.stderr) == (1, True)
