"""Decode manifests in turns with others, and write docs/decoding.md.

Each contender has a process of its own, and its time is the least of several rounds in which all had their turn, so
that a busy machine slows all of them. The first tables have a million entries in 1,000 manifests (gzip, ten columns);
the others differ in one thing and have a fifth of it."""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from explorer.native_module import decoder
from explorer.spark_engine.java import find_java, resolve_jars

HERE = Path(__file__).parent
GENERATOR = HERE.parent.parent / "shared" / "bench" / "gen.py"
ROUNDS = 3
WHOLE = ("1,000,000 entries, 1,000 manifests, 10 columns, gzip", 1_000_000, 1_000, 10, "gzip")
OTHERS: list[tuple[str, int, int, int, str]] = [
    ("100 manifests", 200_000, 100, 10, "gzip"),
    ("1,000 manifests", 200_000, 1_000, 10, "gzip"),
    ("200 columns", 20_000, 100, 200, "gzip"),
    ("zstd", 200_000, 100, 10, "zstd"),
    ("not compressed", 200_000, 100, 10, "uncompressed"),
]
OURS = ("floor", "files", "again files", "files_full", "again files_full")
MORE = ("files_without", "files_full_without", "jsonl", "csv", "parquet", "spark_full")
ONCE = ("pyiceberg_inspect_files",)
"""What takes minutes."""


def make(entries: int, manifests: int, columns: int, codec: str) -> Path:
    """A table; it is made once."""
    folder = HERE / "data" / f"decode-{entries}-{manifests}-{columns}-{codec}"
    if not folder.exists():
        jar = str(resolve_jars(find_java())[0])
        command = [sys.executable, str(GENERATOR), "--runtime-jar", jar, "--out", str(folder), "--codec", codec]
        sizes = ["--entries", str(entries), "--manifests", str(manifests), "--columns", str(columns)]
        subprocess.run([*command, *sizes], check=True, stdout=subprocess.DEVNULL)
    return folder


def seconds(name: str, folder: Path, home: Path) -> float:
    """One turn of a contender, with an empty cache unless it is `again`. Not a number where it cannot run."""
    cache = home / ("again" if name.startswith("again ") else "cold")
    if not name.startswith("again "):
        for kept in (cache, home / "again"):
            shutil.rmtree(kept, ignore_errors=True)
    cache.mkdir(parents=True, exist_ok=True)
    jars = cache / "jars"
    if not jars.exists():
        jars.symlink_to(resolve_jars(find_java())[0].parent)
    command = [sys.executable, "-m", "benchmarks.contenders", name.removeprefix("again "), str(folder)]
    environment = {**os.environ, "ICEDIVE_CACHE": str(cache)}
    if name.startswith("again "):
        subprocess.run(command, env=environment, cwd=HERE.parent, check=True, stdout=subprocess.DEVNULL)
    result = subprocess.run(command, env=environment, cwd=HERE.parent, capture_output=True, text=True)
    lines = [line for line in result.stdout.splitlines() if line.startswith("{")]
    if not lines:
        print(f"{name}: not measured: {(result.stderr.strip().splitlines() or ['?'])[-1][:200]}", flush=True)
    return float(json.loads(lines[-1])["seconds"]) if lines else float("nan")


def measure(names: tuple[str, ...], folder: Path, home: Path) -> dict[str, float]:
    """The least time of each."""
    least: dict[str, float] = {}
    for _ in range(ROUNDS):
        for name in names:
            took = seconds(name, folder, home)
            least[name] = min(took, least.get(name, took))
            print(f"{folder.name} {name}: {took:.2f} s", flush=True)
    return least


def main() -> None:
    """Measure, and write the page."""
    lines = [
        "# Decoding manifests",
        "",
        f"One run of `make bench-decode` on {os.cpu_count()} cores, Python {platform.python_version()}.",
        f"Decoder: {decoder()}. `floor` reads and inflates the manifests on one thread and decodes nothing.",
        "`files` is every live file without counts and bounds, `files_full` with them; `again` reads from the cache;",
        "`_without` has no native decoder: polars decodes.",
        "Without polars too, fastavro decodes in a child process, ten times slower than polars.",
        "`jsonl`, `csv` and `parquet` print all entries with counts and bounds.",
        "",
        f"## {WHOLE[0]}",
        "",
        "| contender | seconds | times the floor |",
        "|---|---:|---:|",
    ]
    with tempfile.TemporaryDirectory() as scratch:
        folder = make(*WHOLE[1:])
        least = measure((*OURS, *MORE), folder, Path(scratch))
        least |= {name: seconds(name, folder, Path(scratch)) for name in ONCE}
        lines += [f"| {name} | {took:.2f} | {took / least['floor']:.2f} |" for name, took in least.items()]
        lines += ["", "## Other tables, times their floor", "", f"| table | {' | '.join(OURS[1:])} |"]
        lines += ["|---|" + "---:|" * (len(OURS) - 1)]
        for what, entries, manifests, columns, codec in OTHERS:
            least = measure(OURS, make(entries, manifests, columns, codec), Path(scratch))
            ratios = [f"{least[name] / least['floor']:.2f}" for name in OURS[1:]]
            lines.append(f"| {entries:,} entries: {what} | {' | '.join(ratios)} |")
    (HERE.parent / "docs" / "decoding.md").write_text("\n".join([*lines, ""]))


if __name__ == "__main__":
    main()
