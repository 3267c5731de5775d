"""A plan that keeps one manifest in a hundred of a million entries, against warm Iceberg (planFiles through py4j) and
pyiceberg (plan_files), in one run. Writes docs/planning.md.

    python -m benchmarks.planning"""

from __future__ import annotations

import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.run import GENERATOR, HERE
from explorer.table import Table, open_table

ENTRIES, MANIFESTS, TIMES = 1_000_000, 1_000, 7
WHERE = "ts >= '2024-03-01' AND ts < '2024-03-24'"


def generate_table() -> Path:
    """A million entries in a thousand manifests, partitioned by day and region, of the generator's."""
    from explorer.spark_engine.java import find_java, resolve_jars

    folder = HERE / "data" / "planning-1M"
    if not folder.exists():
        command = [sys.executable, str(GENERATOR), "--runtime-jar", str(resolve_jars(find_java())[0])]
        command += ["--out", str(folder), "--entries", str(ENTRIES), "--manifests", str(MANIFESTS)]
        subprocess.run(command, check=True)
    return folder


def time_plan(ask: Callable[[], int]) -> tuple[float, int]:
    """Milliseconds, and how many files are read."""
    start = time.perf_counter()
    files = ask()
    return (time.perf_counter() - start) * 1000, files


def files_of(opened: Any) -> int:
    """Plan, and say how many files are left."""
    return opened.plan(WHERE).left.files or 0


def main() -> None:
    from explorer.spark_engine.planners import iceberg_expression
    from explorer.spark_engine.spark import shared_engine
    from explorer.spark_engine.tables import FileAccess, iceberg_table

    folder = generate_table()

    def fresh() -> Table:
        """The table opened anew, of which no cache knows anything."""
        os.environ["ICEDIVE_CACHE"] = tempfile.mkdtemp()
        return open_table(str(folder))

    fresh().plan("ts < '2024-01-05'")  # as the JVM is: warm, with other manifests
    anew = [time_plan(partial(files_of, table)) for table in (fresh() for _ in range(TIMES))]
    opened = fresh()
    again = [time_plan(partial(files_of, opened)) for _ in range(TIMES)]
    session: Any = shared_engine().session()
    jvm = session._jvm
    java = iceberg_table(shared_engine(), session, FileAccess(opened.metadata.metadata_location), lambda _: None)
    condition = iceberg_expression(jvm, java, opened.plan(WHERE).bound)
    size = jvm.org.apache.iceberg.relocated.com.google.common.collect.Iterables.size
    iceberg_runs = [
        time_plan(lambda: int(size(java.newScan().filter(condition).planFiles()))) for _ in range(3 * TIMES)
    ]
    warm = iceberg_runs[-TIMES:]

    from pyiceberg.expressions import And, GreaterThanOrEqual, LessThan
    from pyiceberg.table import StaticTable

    static = StaticTable.from_metadata(opened.metadata.metadata_location)
    from_march: Any = GreaterThanOrEqual("ts", "2024-03-01T00:00:00+00:00")  # type: ignore[call-arg, arg-type]
    before_24th: Any = LessThan("ts", "2024-03-24T00:00:00+00:00")  # type: ignore[call-arg, arg-type]
    wanted = And(from_march, before_24th)
    python = [time_plan(lambda: len(list(static.scan(row_filter=wanted).plan_files()))) for _ in range(3)]
    counts = {n for _, n in (*anew, *again, *warm, *python)}
    assert len(counts) == 1, f"the planners differ: {counts}"
    first, second, theirs, slow = (statistics.median(ms for ms, _ in runs) for runs in (anew, again, warm, python))
    files = counts.pop()
    rows = [("this planner, first", first), ("this planner, again", second), ("Iceberg (Java), warm", theirs)]
    kept = sum(v.keeps for v in opened.plan(WHERE).manifests)
    lines = [
        "# Planning, measured", "",
        f"One run of `make bench-plan` on {os.cpu_count()} cores, Python {platform.python_version()}:",
        f"{ENTRIES:,} entries in {MANIFESTS:,} manifests. The filter keeps {kept} manifests and {files:,} files, and",
        f"all planners read the same files. All processes are warm. Times are medians of {TIMES} runs (pyiceberg: 3).",
        "The first plan opens the table again with an empty cache. It reads the manifest list and decodes the",
        "manifests that it keeps. The next plan has them in memory.", "",
        "| planner | ms | Iceberg's time is | pyiceberg's time is |", "|---|---:|---:|---:|",
        *(f"| {name} | {ms:.0f} | {theirs / ms:.1f}× | {slow / ms:.0f}× |" for name, ms in rows),
        f"| pyiceberg | {slow:.0f} | {theirs / slow:.2f}× | 1× |", "",
    ]  # fmt: skip
    text = "\n".join(lines)
    (HERE.parent / "docs" / "planning.md").write_text(text)
    print(text)


if __name__ == "__main__":
    main()
