"""Every question over entries, asked on the command line of tables with 1 and 10 million entries; writes docs/size.md.

The tables come from the generator of benchmarks.run: an append of all entries, 20,000 position delete files, an append,
a delete of one day. `--sizes 1M,10M` chooses (10M takes 8 minutes and 2.5 GB to make). Each question is a process of
its own: with an empty cache, and, where that took less than a minute, again. Its output is read and thrown away."""

from __future__ import annotations

import argparse
import gc
import json
import os
import platform
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.run import GENERATOR, HERE
from explorer.reports.doctor import diagnose
from explorer.reports.health import checkup
from explorer.reports.maintenance.runs import preview
from explorer.spark_engine.engine_choice import Engine
from explorer.spark_engine.java import find_java, resolve_jars
from explorer.spark_engine.spark import shared_engine
from explorer.table import open_table
from tests.servers.running import spark_cluster

SIZES = {"100k": (100_000, 20), "1M": (1_000_000, 100), "10M": (10_000_000, 2_000)}
DELETES = 20_000
LONGEST = 1_800
AGAIN = 60
"""Seconds; what took longer is not asked again."""
CLUSTER = json.dumps({"spark.executor.memory": "512m", "spark.pyspark.python": sys.executable})
BESIDE = {"10M": ["Iceberg's `files` on Spark `local[2]`"]}
BESIDE["100k"] = BESIDE["1M"] = [*BESIDE["10M"], "pyiceberg's inspect"]
"""Who else is asked; pyiceberg holds all entries in memory."""
BY_ENGINE = [
    "Each engine is one Python process. A cell has seconds, seconds again if the first run took less than a minute,",
    "and the peak memory of the process in MiB. `here` starts with an empty cache of decoded manifests; later",
    "questions use the filled cache. Spark starts before the first question. Each of its workers may use 0.5 GiB and",
    "decodes every time.",
]
QUESTIONS = {
    "show": ["show"],
    "a million entries, jsonl": ["inspect entries", "-o", "jsonl", "--limit", "1000000"],
    "entries of one partition, jsonl": ["inspect entries", "-o", "jsonl", "--filter", "partition.region = 'region-03'"],
    "a million files, two columns, jsonl": [
        "inspect files",
        "-o",
        "jsonl",
        "--columns",
        "file_path,record_count",
        "--limit",
        "1000000",
    ],
    "partitions": ["inspect partitions", "-o", "json"],
    "deletes, all pairs counted, 1,000 told": ["inspect deletes", "-o", "json", "--limit", "1000"],
    "deletes in layers": ["inspect deletes", "-o", "json", "--show", "layers"],
    "the map of all files, with deletes": ["inspect map", "-o", "json", "--deletes"],
    "lifecycle": ["history lifecycle", "-o", "json"],
    "diff of the first and the last snapshot": ["diff", "-o", "json", "snapshot-1", "snapshot-4"],
    "diff of nothing and the current snapshot": ["diff", "-o", "json", "none", "main"],
    "commits": ["history commits", "-o", "json"],
    "the life of one file": ["inspect file", "-o", "json", "del-0.parquet"],
    "what expiry would free": ["maintain preview", "-o", "json", "expire"],
    "health": ["health", "-o", "json"],
    "where the bytes are": ["storage", "-o", "json"],
    "where the bytes are, by partition": ["storage", "-o", "json", "--by", "partition"],
    "who wrote it": ["history writers", "-o", "json"],
    "whether a file landed": ["history landed", "del-0.parquet", "-o", "json"],
    "who can read it": ["readers", "-o", "json"],
    "all maintenance": ["maintain all", "-o", "json"],
    "why a file is still here": ["maintain file", "del-0.parquet", "-o", "json"],
    "schemas, specs and orders, and their files": ["history schemas", "-o", "json"],
    "profile of all columns": ["inspect profile", "-o", "json"],
    "profile of one column, by partition": ["inspect profile", "ts", "-o", "json"],
    "how files separate columns": ["inspect columns", "-o", "json", "--show", "clustering"],
    "health over time": ["history health", "-o", "json"],
    "plan of a filter": ["plan", "region = 'region-03' and id < 1000", "-o", "json"],
    "what a layout would help": ["scan estimate", "region = 'region-03' and id < 1000", "-o", "json"],
    "doctor": ["doctor", "-o", "json", "--fail-on", "never"],
    "doctor, with the folder's files": ["doctor", "-o", "json", "--fail-on", "never", "--files"],
    "what removing orphans would free": ["maintain preview", "-o", "json", "remove-orphans"],
    "bundle": ["export bundle", "{scratch}/bundle.zip"],
}


@dataclass(frozen=True)
class Measurement:
    """Seconds until the first line and to the end, and the most memory the process held, in MiB: its own, which the
    limit is for, and with the files that it had mapped."""

    first: float
    whole: float
    own: int
    peak: int

    def __str__(self) -> str:
        return f"{self.first:.1f} | {self.whole:.1f} | {self.own} / {self.peak}"


def table(size: str) -> Path:
    """A table of the generator's."""
    folder = HERE / "data" / f"deletes-{size}"
    if not folder.exists():
        entries, manifests = SIZES[size]
        jar = resolve_jars(find_java())[0]
        command = [sys.executable, str(GENERATOR), "--runtime-jar", str(jar), "--out", str(folder)]
        command += ["--entries", str(entries), "--manifests", str(manifests), "--deletes", str(DELETES)]
        subprocess.run(command, check=True)
    return folder


def ask(arguments: list[str], folder: Path, cache: str) -> Measurement | str:
    """One question; why it failed, if it did."""
    name, *more = arguments
    environment = {**os.environ, "ICEDIVE_CACHE": cache}
    start = time.perf_counter()
    with (
        tempfile.TemporaryDirectory() as scratch, tempfile.TemporaryFile() as errors,
        subprocess.Popen(
            [sys.executable, "-m", "explorer.cli", *name.split(), str(folder),
             *(word.replace("{scratch}", scratch) for word in more)],
            stdout=subprocess.PIPE, stderr=errors, env=environment, cwd=HERE.parent,
        ) as process,
    ):  # fmt: skip
        assert process.stdout is not None
        too_long = threading.Timer(LONGEST, process.kill)
        too_long.start()
        own: list[int] = [0]
        threading.Thread(target=watch, args=(process.pid, own), daemon=True).start()
        process.stdout.readline()
        first = time.perf_counter() - start
        while process.stdout.read(1 << 20):
            pass
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        whole = time.perf_counter() - start
        too_long.cancel()
        errors.seek(0)
        words = errors.read().decode(errors="replace").strip() or f"stopped after {whole:.0f} s"
    return Measurement(first, whole, own[0] >> 10, used.ru_maxrss >> 10) if process.returncode == 0 else words[-200:]


def watch(pid: int, own: list[int], over: threading.Event | None = None) -> None:
    """Note the most KiB that a process has of its own while it lives, looked at every 20 ms."""
    with suppress(OSError, StopIteration):  # it has ended
        while over is None or not over.is_set():
            status = Path(f"/proc/{pid}/status").read_text().splitlines()
            own[0] = max(own[0], int(next(line for line in status if line.startswith("RssAnon")).split()[1]))
            time.sleep(0.02)


ENGINES = {
    "partitions": lambda table, engine: table.partitions(engine=engine).to_arrow(),
    "diff of the first and the last snapshot": lambda table, engine: table.diff("snapshot-1", "snapshot-4", engine),
    "lifecycle": lambda table, engine: table.lifecycle(engine),
    "commits": lambda table, engine: table.commits(engine=engine),
    "deletes": lambda table, engine: table.deletes(engine=engine),
    "the life of one file": lambda table, engine: table.file_life("del-0.parquet", engine),
    "what expiry would free": lambda table, engine: preview(table, "expire", engine=engine),
    "health": lambda table, engine: checkup(table, engine=engine),
    "the doctor, quick": lambda table, engine: diagnose(table, engine=engine),
}


def by_engine(folder: Path, engine: Engine) -> None:
    """Print a line for each question of ENGINES: seconds, first and again, with a new Table each time, and the most MiB
    that this process had of its own meanwhile."""
    if engine == "spark":
        shared_engine().session()
    for name, question in ENGINES.items():
        print_times(name, lambda question=question: question(open_table(str(folder)), engine))  # type: ignore[misc]


def theirs(folder: Path, who: str) -> None:
    """Print such lines for what Iceberg's metadata tables on Spark, or pyiceberg, answer of the same."""
    from pyiceberg.table import StaticTable

    if who == "iceberg":
        session: Any = shared_engine().session()
        newest = open_table(str(folder)).metadata.metadata_location

        def question() -> None:
            files = session.read.format("iceberg").load(f"{newest}#files")
            files.groupBy("partition", "content").agg({"*": "count", "record_count": "sum"}).collect()
    else:
        static = StaticTable.from_metadata(open_table(str(folder)).metadata.metadata_location)

        def question() -> None:
            static.inspect.partitions()

    print_times("partitions", question)


def print_times(name: str, question: Callable[[], object]) -> None:
    """Print a question's line: it is asked, and again if that was soon answered."""
    own, over = [0], threading.Event()
    seconds: list[float] = []
    watching = threading.Thread(target=watch, args=(os.getpid(), own, over), daemon=True)
    watching.start()
    while not seconds or (len(seconds) < 2 and seconds[0] < AGAIN):
        began = time.perf_counter()
        question()
        seconds.append(time.perf_counter() - began)
        gc.collect()
    over.set()
    watching.join()
    print(name, *(f"{second:.1f}" for second in seconds), own[0] >> 10, sep="|", flush=True)


def engines(folder: Path, master: str, beside: Sequence[str]) -> list[str]:
    """Lines of both engines, of a cluster's Spark, and of others, as one table; each is a process of its own."""
    cluster = {"ICEDIVE_SPARK_MASTER": master, "ICEDIVE_SPARK_CONF": CLUSTER}
    engine_of = {
        "here": ("local", {}), "Spark `local[2]`": ("spark", {"ICEDIVE_SPARK_MASTER": "local[2]"}),
        "two workers of one core": ("spark", cluster),
        "Iceberg's `files` on Spark `local[2]`": ("iceberg", {"ICEDIVE_SPARK_MASTER": "local[2]"}),
        "pyiceberg's inspect": ("pyiceberg", {}),
    }  # fmt: skip
    heads = [*list(engine_of)[:3], *beside]
    rows: dict[str, list[str]] = {name: [] for name in ENGINES}
    for head in heads:
        who, settings = engine_of[head]
        with tempfile.TemporaryDirectory() as cache:
            own = {"ICEDIVE_CACHE": cache} if who == "local" else {}  # jars are there; workers keep theirs
            command = [sys.executable, "-m", "benchmarks.size", "--ask", who, str(folder)]
            environment = {**os.environ, **settings, **own}
            run = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=HERE.parent)
        print(head, run.stdout, run.stderr[-500:], sep="\n", flush=True)
        lines = [line.split("|") for line in run.stdout.splitlines() if "|" in line]
        cells = {name: " / ".join(more) for name, *more in lines}
        for name, row in rows.items():
            row.append(cells.get(name, "failed" if who in ("local", "spark") else ""))
    return [
        f"| question | {' | '.join(heads)} |", f"|---|{'---:|' * len(heads)}",
        *(f"| {name} | {' | '.join(row)} |" for name, row in rows.items()),
    ]  # fmt: skip


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--sizes", default="1M,10M")
    options.add_argument("--ask", nargs=2, metavar=("ENGINE", "FOLDER"), help="Only this: one engine, on a table.")
    options.add_argument("--out", type=Path, default=HERE.parent / "docs" / "size.md")
    chosen = options.parse_args()
    if chosen.ask:
        who, folder = chosen.ask[0], Path(chosen.ask[1])
        if who in ("iceberg", "pyiceberg"):
            theirs(folder, who)
        else:
            by_engine(folder, "spark" if who == "spark" else "local")
        return
    lines = [
        "# Large tables",
        "",
        f"One run of `make bench-size` on {os.cpu_count()} cores, Python {platform.python_version()}. Each question is",
        "a process of its own on the command line. It runs first with an empty cache. If that took less than a minute,",
        "it runs again. The tables show seconds until the first line and until the end, with the start of Python. They",
        "also show the peak memory in MiB: the process's own, and with mapped files, which the system can take back.",
        "The memory limit is 1 GiB, in addition to the memory of `show`.",
        "",
    ]
    for size in chosen.sizes.split(","):
        folder = table(size)
        entries, manifests = SIZES[size]
        lines += [
            f"## {entries:,} entries in {manifests:,} manifests, and {DELETES:,} delete files",
            "",
            "| question | first line | all | own / peak | again: first line | all | own / peak |",
            "|---|---:|---:|---:|---:|---:|---:|",
        ]
        for question, arguments in QUESTIONS.items():
            with tempfile.TemporaryDirectory() as cache:
                both = [ask(arguments, folder, cache)]
                if isinstance(both[0], Measurement) and both[0].whole < AGAIN:
                    both.append(ask(arguments, folder, cache))
            cells = [str(m) if isinstance(m, Measurement) else f"failed: {m} | |" for m in both]
            cells += ["| |"] * (2 - len(both))
            lines.append(f"| {question} | {' | '.join(cells)} |")
            print(lines[-1], flush=True)
        lines.append("")
        with tempfile.TemporaryDirectory() as work, spark_cluster(Path(work)) as master:
            lines += ["### By engine", "", *BY_ENGINE, "", *engines(folder, master, BESIDE[size]), ""]
        chosen.out.write_text("\n".join(lines))


if __name__ == "__main__":
    main()
