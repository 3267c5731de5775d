"""Commands with Java: it ends with them, whatever ends them, and what they made for themselves goes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.unit.test_ends import SIGNALS, folders, place, processes_of, wait_for  # noqa: F401

pytestmark = pytest.mark.rest
LONG = (
    ["sql", "demo.three_inserts", "SELECT count(DISTINCT id * 7) FROM range(0, 100000000000)"],
    ["lab", "streaming"],
)


@pytest.mark.parametrize("number", SIGNALS[:3], ids=lambda number: number.name)
@pytest.mark.parametrize("words", LONG, ids=" ".join)
def test_java_ends_with_the_command(words: list[str], number: signal.Signals, sandbox: Path, place: Path) -> None:  # noqa: F811
    environment = {**os.environ, "TMPDIR": str(place), "ICEDIVE_HOME": str(sandbox.parent)}
    with open(place / "log", "wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "explorer.cli", *words], stdout=log, stderr=log, env=environment
        )
    wait_for(lambda: any(one.name() == "java" for one in processes_of(place)) or process.poll() is not None, 120)
    assert process.poll() is None, (place / "log").read_text()
    process.send_signal(number)
    process.wait(60)
    wait_for(lambda: not processes_of(place))
    assert folders(place) == []
    assert "Traceback" not in (place / "log").read_text()
