"""What the checks of strangers' files cost on honest tables: this code and that of another revision, in turns.

    python -m benchmarks.decode_guard TABLE_FOLDER --before REVISION [--rounds 7]

Each measurement is a process of its own with an empty cache. The best of all rounds counts, in CPU seconds too, since
others may use the machine. Prints one JSON line for each contender: seconds before and after, and their ratio."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

NAMES = ("ours_full", "ours_narrow", "ours_threads_1", "first_screen")
HERE = Path(__file__).parent.parent
_MEASURE = """import json, resource, sys, time
from benchmarks import contenders
run = lambda: getattr(contenders, sys.argv[1])(sys.argv[2])
began, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_SELF)
run()
after = resource.getrusage(resource.RUSAGE_SELF)
cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
print(json.dumps([time.perf_counter() - began, cpu]))"""


def measure(code: Path, name: str, folder: str, cache: Path) -> tuple[float, float]:
    """(seconds, CPU seconds) of one contender."""
    shutil.rmtree(cache, ignore_errors=True)
    environment = {**os.environ, "PYTHONPATH": str(code), "ICEDIVE_CACHE": str(cache)}
    command = [sys.executable, "-c", _MEASURE, name, folder]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=code, check=True)
    seconds, cpu = json.loads(done.stdout.splitlines()[-1])
    return seconds, cpu


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("folder")
    options.add_argument("--before", required=True)
    options.add_argument("--rounds", type=int, default=7)
    chosen = options.parse_args()
    folder = os.path.abspath(chosen.folder)
    with tempfile.TemporaryDirectory() as scratch:
        before, cache = Path(scratch, "before"), Path(scratch, "cache")
        before.mkdir()
        packed = subprocess.run(["git", "archive", chosen.before], cwd=HERE, capture_output=True, check=True).stdout
        subprocess.run(["tar", "-x", "-C", str(before)], input=packed, check=True)
        for name in NAMES:
            runs: dict[Path, list[tuple[float, float]]] = {before: [], HERE: []}
            for turn in range(chosen.rounds):
                for code in (before, HERE) if turn % 2 else (HERE, before):
                    runs[code].append(measure(code, name, folder, cache))
            best = {code: [min(values) for values in zip(*times, strict=True)] for code, times in runs.items()}
            row = {"name": name, "before": best[before][0], "after": best[HERE][0]}
            row |= {"ratio": best[HERE][0] / best[before][0], "cpu_ratio": best[HERE][1] / best[before][1]}
            print(json.dumps({k: round(v, 3) if isinstance(v, float) else v for k, v in row.items()}), flush=True)


if __name__ == "__main__":
    main()
