"""Processes that end: whatever signal ends a command, its children and its temporary folders go with it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from explorer.storage.scratch import make_scratch, remove_abandoned, remove_scratch

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL)
LONG = (
    ["lab", "race", "--writers", "2", "--commits", "1000000"],
    ["lab", "race", "--kills", "100000"],
)


def not_as_under_nohup() -> None:
    """Take SIGHUP as usual, however the tests were started."""
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


def wait_for(holds: Callable[[], object], seconds: float = 60) -> object:
    until = time.monotonic() + seconds
    while not (found := holds()):
        assert time.monotonic() < until, "it did not come about"
        time.sleep(0.05)
    return found


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder for temporary files; what still works below it is killed in the end."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    yield tmp_path
    for process in processes_of(tmp_path):
        process.kill()


def processes_of(place: Path) -> list[psutil.Process]:
    """Processes whose folder for temporary files is a place."""
    mine = []
    for process in psutil.process_iter():
        try:
            if process.environ().get("TMPDIR") == str(place) and process.pid != os.getpid():
                mine.append(process)
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            continue
    return [process for process in mine if process.is_running() and process.status() != psutil.STATUS_ZOMBIE]


def folders(place: Path) -> list[str]:
    return sorted(path.name for path in place.glob("*icedive-*"))


@pytest.mark.parametrize("number", SIGNALS, ids=lambda number: number.name)
@pytest.mark.parametrize("words", LONG, ids=" ".join)
def test_a_command_takes_its_children_and_folders_with_it(
    words: list[str], number: signal.Signals, place: Path
) -> None:
    environment = {**os.environ, "TMPDIR": str(place), "ICEDIVE_HOME": str(place / "home")}
    command = [sys.executable, "-m", "explorer.cli", *words]
    with open(place / "log", "wb") as log:
        process = subprocess.Popen(
            command, stdout=log, stderr=log, env=environment, start_new_session=True, preexec_fn=not_as_under_nohup
        )
    wait_for(lambda: [*place.glob("icedive-*/*.acks")] or process.poll() is not None)
    assert process.poll() is None, (place / "log").read_text()
    process.send_signal(number)
    process.wait(60)
    wait_for(lambda: not processes_of(place))
    if number is signal.SIGKILL:
        assert folders(place)
        wait_for(lambda: remove_abandoned(place) or not folders(place))  # a process that ends still has files open
    assert folders(place) == []
    assert "Traceback" not in (place / "log").read_text()


def test_the_server_takes_its_folders_with_it(place: Path) -> None:
    for number in SIGNALS[:3]:
        environment = {**os.environ, "TMPDIR": str(place), "ICEDIVE_HOME": str(place / "home")}
        command = [sys.executable, "-m", "explorer.cli", "serve", "--port", "0"]
        with open(place / "log", "wb") as log:
            process = subprocess.Popen(
                command, stdout=log, stderr=log, env=environment, start_new_session=True,
                preexec_fn=not_as_under_nohup,
            )  # fmt: skip
        wait_for(lambda: b"http://" in (place / "log").read_bytes())
        process.send_signal(number)
        assert process.wait(60) == 0
        assert not processes_of(place)
        assert folders(place) == []
        assert "Traceback" not in (place / "log").read_text()


def test_folders_of_processes_that_live_stay(place: Path) -> None:
    folder = make_scratch("mine")
    assert (folder.stat().st_mode & 0o777, folder.parent) == (0o700, place)
    strange = place / "icedive-strange"
    strange.mkdir()  # nobody says that it is ours
    subprocess.run(
        [sys.executable, "-c", "from explorer.storage.scratch import make_scratch, Path\nimport sys, os\n"
         f"make_scratch('other')\nremains = sorted(path.name for path in Path({str(place)!r}).iterdir())\n"
         f"assert {folder.name!r} in remains and 'icedive-strange' in remains, remains\nos._exit(0)"],
        check=True,
    )  # fmt: skip
    assert [*place.glob("icedive-other-*")]  # it ended without removing it
    remove_abandoned(place)
    assert folders(place) == sorted([folder.name, "icedive-strange"])
    remove_scratch(folder)
    assert folders(place) == ["icedive-strange"]
