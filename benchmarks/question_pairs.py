"""Every question of benchmarks.size on a million entries, from the cache, by an older checkout and this one in turns.

    python -m benchmarks.question_pairs --old-tree FOLDER [--turns 2] [WORD ...]

`FOLDER` is a checkout of the older commit with its native module; WORDs choose questions by their names. Prints, for
each question, the processor time of the whole command, its ratio to the older one, and to decoding every manifest with
all columns from an empty cache (`files_full` of benchmarks.contenders)."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks.decode import HERE, WHOLE, make
from benchmarks.size import QUESTIONS
from explorer.table import open_table

LEFT_OUT = ("diff of the first and the last snapshot", "bundle")
"""The table has one snapshot; a bundle takes half an hour."""


def processor_seconds(command: Sequence[str], tree: Path, cache: str) -> float:
    """What a command takes by a checkout. Raises RuntimeError where it fails."""
    environment = {**os.environ, "ICEDIVE_CACHE": cache, "PYTHONPATH": str(tree)}
    process = subprocess.Popen(
        [sys.executable, "-m", *command], env=environment, cwd=tree, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    assert process.stderr is not None
    errors = process.stderr.read()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(errors.decode(errors="replace")[-500:])
    return used.ru_utime + used.ru_stime


def cold_decode(folder: Path) -> float:
    """Seconds of a decode of all columns from an empty cache, and of nothing else."""
    with tempfile.TemporaryDirectory() as cache:
        command = [sys.executable, "-m", "benchmarks.contenders", "files_full", str(folder)]
        environment = {**os.environ, "ICEDIVE_CACHE": cache}
        told = subprocess.run(command, env=environment, cwd=HERE.parent, check=True, capture_output=True, text=True)
        return float(json.loads(next(line for line in told.stdout.splitlines() if line.startswith("{")))["seconds"])


def main() -> None:
    """Measure, and print a row for each question."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*")
    parser.add_argument("--old-tree", type=Path, required=True)
    parser.add_argument("--turns", type=int, default=2)
    wanted = parser.parse_args()
    folder = make(*WHOLE[1:])
    data_file = str(open_table(str(folder)).files().to_arrow()["file_path"][0]).rpartition("/")[2]
    print("| question | before | now | of before | of a cold decode |\n|---|---:|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as cache:
        for name, (question, *options) in QUESTIONS.items():
            if name in LEFT_OUT or (wanted.words and not any(word in name for word in wanted.words)):
                continue
            words = [word.replace("del-0.parquet", data_file) for word in options]
            command = ["explorer.cli", *question.split(), str(folder), *words]
            processor_seconds(command, HERE.parent, cache)  # fills the cache
            turns = [
                [processor_seconds(command, tree, cache) for tree in (wanted.old_tree.resolve(), HERE.parent)]
                for _ in range(wanted.turns)
            ]
            before, now = (min(turn[at] for turn in turns) for at in (0, 1))
            cold = cold_decode(folder)
            print(f"| {name} | {before:.1f} | {now:.1f} | {now / before:.2f} | {now / cold:.1f} |", flush=True)


if __name__ == "__main__":
    main()
