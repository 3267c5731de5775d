"""Run all contenders, paired in one run, and write docs/benchmarks.md.

The tables come from the generator in ../shared/bench (Iceberg's own writers): 100,000 entries in 10 manifests and
1,000,000 in 1,000, ten columns with all metrics, gzip; the latter has a second snapshot, which deletes one file.
`--quick` leaves out the 1,000,000 entries of slow contenders."""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.tables import deep_history, with_one_change
from explorer.spark_engine.java import find_java, resolve_jars
from explorer.storage.cache import CACHE_VERSION

HERE = Path(__file__).parent
GENERATOR = HERE.parent.parent / "shared" / "bench" / "gen.py"
SIZES = {"100k": (100_000, 10), "1M": (1_000_000, 1_000)}
SLOW = ("fastavro", "pyiceberg_entries", "pyiceberg_inspect_files")


def table(size: str) -> Path:
    folder = HERE / "data" / size
    if not folder.exists():
        entries, manifests = SIZES[size]
        jar = resolve_jars(find_java())[0]
        command = [sys.executable, str(GENERATOR), "--runtime-jar", str(jar), "--out", str(folder)]
        subprocess.run([*command, "--entries", str(entries), "--manifests", str(manifests)], check=True)
    if size == "1M":
        with_one_change(folder)
    return folder


def measure(name: str, folder: Path, cache: Path) -> dict[str, Any] | None:
    environment = {**os.environ, "ICEDIVE_CACHE": str(cache)}
    shutil.rmtree(cache / f"manifests-{CACHE_VERSION}", ignore_errors=True) if not name.startswith("reopen") else None
    command = [sys.executable, "-m", "benchmarks.contenders", name.removeprefix("reopen_"), str(folder)]
    result = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=HERE.parent)
    lines = [line for line in result.stdout.splitlines() if line.startswith("{")]
    if not lines:
        print(f"{name}: not measured: {(result.stderr.strip().splitlines() or ['?'])[-1][:150]}", flush=True)
        return None
    data: dict[str, Any] = json.loads(lines[-1])
    print(f"{name:28} {data['seconds']:>9.2f} s {data['peak_mib']:>6} MiB", flush=True)
    return data


def run(size: str, quick: bool) -> tuple[str, dict[str, float]]:
    folder = table(size)
    names = [
        "first_screen",
        "floor",
        "ours_full",
        "reopen_ours_full",
        "ours_narrow",
        "reopen_ours_narrow",
        "ours_threads_1",
    ]
    names += ["warm_diff"] if size == "1M" else []
    names += ["spark_full", "spark_narrow", "duckdb"]
    names += [] if quick and size == "1M" else list(SLOW)
    with tempfile.TemporaryDirectory() as scratch:
        jars = Path(scratch, "jars")
        jars.symlink_to(resolve_jars(find_java())[0].parent)
        rows = {name: row for name in names if (row := measure(name, folder, Path(scratch)))}
    seconds = {name: row["seconds"] for name, row in rows.items()}
    base = seconds["ours_full"]
    lines = [
        f"## {size} entries, {SIZES[size][1]} manifests",
        "",
        "| contender | seconds | times ours (full) | peak MiB |",
        "|---|---:|---:|---:|",
    ]
    lines += [
        f"| {name} | {row['seconds']:.2f} | {row['seconds'] / base:.2f} | {row['peak_mib']} |"
        for name, row in rows.items()
    ]
    return "\n".join(lines), seconds


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--quick", action="store_true")
    quick = options.parse_args().quick
    parts = [
        "# Benchmarks",
        "",
        (
            f"One run of `make bench` on {os.cpu_count()} cores, Python {platform.python_version()}. Each contender "
            "has a process of its own."
        ),
        (
            "The cache is empty, except for the `reopen_` ones. `ours_full` decodes every column, `ours_narrow` all "
            "but the metric maps. Spark is"
        ),
        (
            "warm: the same query has run once. `warm_diff` opens the table again, with the libraries loaded. Spark's "
            "peak memory is only that of"
        ),
        "the Python side. `floor` reads and inflates, and decodes nothing.",
        "",
    ]
    for size in SIZES:
        text, seconds = run(size, quick)
        parts += [text, ""]
        ratios = {
            "inspect.files() / ours, full": ("pyiceberg_inspect_files", "ours_full"),
            "warm Spark entries, all columns / ours, full": ("spark_full", "ours_full"),
            "warm Spark entries, no metric maps / ours, narrow": ("spark_narrow", "ours_narrow"),
            "first decode / reopen, full": ("ours_full", "reopen_ours_full"),
            "first decode / reopen, narrow": ("ours_narrow", "reopen_ours_narrow"),
            "decoding everything, full / diff of a commit that changed one manifest": ("ours_full", "warm_diff"),
            "decoding everything, narrow / that diff": ("ours_narrow", "warm_diff"),
        }
        parts += [
            f"- {words}: {seconds[a] / seconds[b]:.1f}"
            for words, (a, b) in ratios.items()
            if a in seconds and b in seconds
        ]
        parts.append("")
    deep = HERE / "data" / "deep"
    deep_history(deep)
    screen = [sys.executable, "-m", "benchmarks.screen", str(table("1M")), str(deep)]
    result = subprocess.run(screen, capture_output=True, text=True, cwd=HERE.parent)
    if result.returncode == 0:
        data = json.loads(result.stdout.splitlines()[-1])
        parts += [
            "## On screen, in headless Chromium",
            "",
            "| what | seconds |",
            "|---|---:|",
        ]
        parts += [f"| {name} | {seconds} |" for name, seconds in data.items()]
        parts.append("")
    else:
        print(f"screen: not measured: {result.stderr.strip().splitlines()[-1][:200]}")
    result = subprocess.run(
        [sys.executable, "-m", "benchmarks.rowdiff"], capture_output=True, text=True, cwd=HERE.parent
    )
    lines = [line for line in result.stdout.splitlines() if line.startswith("{")]
    if lines:
        data = json.loads(lines[-1])
        words = (
            f"{data['files_read']} of {data['files']} data files differ (the table has 4 million rows; four "
            "were updated). Spark is warm."
        )
        parts += [
            "## Row diff against EXCEPT ALL both ways through Spark",
            "",
            words,
            "",
            "| | seconds |",
            "|---|---:|",
        ]
        parts += [f"| {name} | {data[name]} |" for name in ("row_diff", "naive_first", "naive")]
        parts += ["", f"- naive / row diff: {data['ratio']}", ""]
    else:
        print(f"row diff: not measured: {result.stderr.strip().splitlines()[-1][:200]}")
    result = subprocess.run(
        [sys.executable, "-m", "benchmarks.orders"], capture_output=True, text=True, cwd=HERE.parent
    )
    lines = [line for line in result.stdout.splitlines() if line.startswith("{")]
    if lines:
        parts += [
            "## All orders of some commits, on Iceberg itself",
            "",
            "Spark is warm; the serial orders are included. Graphviz draws them.",
            "",
        ]
        parts += ["| operations | orders | seconds to run | seconds to draw |", "|---|---:|---:|---:|"]
        parts += [
            f"| {name} | {row['orders']} | {row['run']} | {row['draw']} |"
            for name, row in json.loads(lines[-1]).items()
        ]
        parts.append("")
    else:
        print(f"orders: not measured: {result.stderr.strip().splitlines()[-1][:200]}")
    (HERE.parent / "docs" / "benchmarks.md").write_text("\n".join(parts))
    print("wrote docs/benchmarks.md")


if __name__ == "__main__":
    main()
