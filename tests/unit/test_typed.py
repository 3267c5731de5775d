"""The package's types as a program outside of it sees them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import explorer

EXAMPLE = """
import explorer

table: explorer.OpenTable = explorer.open_table("demo.three_inserts")
rows: explorer.Collection = table.inspect.entries(view="all", snapshot="snapshot-1")
paths: list[str] = [str(row["file_path"]) for row in rows.select("record_count > 0", ["file_path"])]
stages = table.plan("id = 1")
report = table.doctor(files=True)
worst: str | None = report.value.worst
text: str = report.to_text()
names = explorer.catalog("sandbox").tables(summary=True).to_json()
"""
WRONG = """
import explorer

explorer.open_table("t").inspect.entries(view="nothing")
explorer.open_table("t").history.commits(engine=3)
"""


def checked(text: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """mypy's judgement of a program."""
    file = folder / "program.py"
    file.write_text(text)
    options = ["--strict", "--config-file", os.devnull, "--cache-dir", str(folder), "--follow-imports", "silent"]
    command = [sys.executable, "-m", "mypy", *options, "--ignore-missing-imports", str(file)]
    environment = {**os.environ, "MYPYPATH": str(Path(explorer.__file__).parents[1])}
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, env=environment)


@pytest.mark.rest
def test_a_strict_program_outside_sees_the_types(tmp_path: Path) -> None:
    assert (Path(explorer.__file__).parent / "py.typed").is_file()
    right = checked(EXAMPLE, tmp_path)
    assert right.returncode == 0, right.stdout
    wrong = checked(WRONG, tmp_path)
    assert wrong.stdout.count("error: Argument") == 2, wrong.stdout
