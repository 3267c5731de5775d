"""One process takes a whole test file: its tests share a Spark, a page or tables, which two processes would spoil."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

MAKEFILE = Path(__file__).parents[2] / "Makefile"
TEST = """
import os, pathlib, pytest

@pytest.mark.parametrize("i", range(20))
def test_who_runs_me(i):
    pathlib.Path("who").joinpath(f"{__name__}-{os.environ['PYTEST_XDIST_WORKER']}").touch()
"""


def test_one_process_takes_a_whole_file(tmp_path: Path) -> None:
    found = re.search(r"^PROCESSES := (.+)$", MAKEFILE.read_text(), re.MULTILINE)
    assert found
    (tmp_path / "who").mkdir()
    names = [f"test_{i}" for i in range(4)]
    for name in names:
        (tmp_path / f"{name}.py").write_text(TEST)
    run = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", ".", *found[1].split()]
    subprocess.run(run, cwd=tmp_path, check=True, capture_output=True)
    files = sorted(path.name.rpartition("-")[0] for path in (tmp_path / "who").iterdir())
    assert files == names
