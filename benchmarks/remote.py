"""How soon a table in a store answers, behind 0, 5 and 50 ms a request, against pyiceberg in the same run. Writes the
table of docs/remote.md.

    python -m benchmarks.remote [--commits 200]

The store is versitygw, or moto where that is not on the PATH, on this machine, behind tests.servers.proxy. Who asks is
a process of its own, warm (it asked once before, with another cache), so that store and proxy cost it nothing but their
share of the processors."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
from moto.server import ThreadedMotoServer
from pyiceberg.catalog.sql import SqlCatalog

import explorer
from benchmarks import pages
from explorer.table import Table, open_table
from tests.servers.proxy import Proxy
from tests.servers.running import versitygw

DOCS = Path(__file__).parents[1] / "docs" / "remote.md"
DELAYS_MS = (0, 5, 50)

QUESTIONS: dict[str, Callable[[Table], Any]] = {
    "show": lambda table: table.graph(),
    "entries": lambda table: table.entries(),
    "diff of neighbours": lambda table: table.diff("snapshot-20", "snapshot-21"),
    "commits": lambda table: table.commits(),
    "lifecycle": lambda table: table.lifecycle(),
    "deletes": lambda table: table.deletes(),
    "file": lambda table: table.file_life(table.files()[0]["file_path"]),
    "row history": lambda table: table.row_history("id = 7"),
}
ENGINEERS: dict[str, Callable[[Any], Any]] = {
    "storage": lambda table: table.storage().value,
    "history writers": lambda table: table.history.writers().value,
    "history landed": lambda table: table.history.landed("snapshot-7").value,
    "history schemas": lambda table: table.history.schemas().value,
    "readers": lambda table: table.readers().value,
    "inspect profile": lambda table: table.inspect.profile().to_arrow(),
    "maintain all": lambda table: table.maintain.all().value,
    "maintain file": lambda table: table.maintain.file(table.inspect.files()[0]["file_path"]).value,
    "health": lambda table: table.health().value,
    "doctor": lambda table: table.doctor().value,
}
"""Questions that engineers bring, asked of the longest delay alone."""
KEYS = {"s3.access-key-id": "key", "s3.secret-access-key": "hush-hush", "s3.region": "us-east-1"}
THEIRS: dict[str, Callable[[Any], Any]] = {
    "pyiceberg inspect.files": lambda table: table.inspect.files(),
    "pyiceberg plan_files": lambda table: list(table.scan().plan_files()),
}


@contextlib.contextmanager
def store(folder: Path) -> Iterator[tuple[str, str]]:
    """(name, address) of a store with the bucket `warehouse`."""
    if shutil.which("versitygw"):
        with versitygw(folder, (KEYS["s3.access-key-id"], KEYS["s3.secret-access-key"])) as address:
            yield "versitygw", address
        return
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    urllib.request.urlopen(urllib.request.Request(f"http://{host}:{port}/warehouse", method="PUT"))
    yield "moto", f"http://{host}:{port}"
    server.stop()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--commits", type=int, default=200)
    parser.add_argument("--ask", nargs=4, metavar=("QUESTION", "METADATA", "URL", "FOLDER"), help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.ask:
        answer(*chosen.ask)
        return
    with tempfile.TemporaryDirectory() as folder, store(Path(folder)) as (name, direct):
        lines = [f"With {name}:", "", *measure(folder, direct, chosen.commits)]
    print("\n".join(lines))
    pages.put(DOCS, lines)


def measure(folder: str, direct: str, commits: int) -> list[str]:
    """A row for each question and delay."""
    proxy = Proxy(direct)
    own = {"uri": f"sqlite:///{folder}/catalog.db", "warehouse": "s3://warehouse/wh", **KEYS}
    catalog = SqlCatalog("remote", **own, **{"s3.endpoint": direct})
    catalog.create_namespace("db")
    schema = pa.schema([("id", pa.int64()), ("fruit", pa.string())])
    table = catalog.create_table("db.t", schema)
    for i in range(commits):
        table.append(pa.table({"id": [i], "fruit": [f"fruit-{i}"]}, schema))
    lines = [
        "| question | ms a request | requests | at once | s | again: requests | s |",
        "|---|--:|--:|--:|--:|--:|--:|",
    ]
    for delay in DELAYS_MS:
        proxy.delay = delay / 1000
        for question in (*QUESTIONS, *(ENGINEERS if delay == max(DELAYS_MS) else ()), *THEIRS):
            first, again = ask_twice(proxy, [question, table.metadata_location, proxy.url, folder])
            seconds = f"{first[0]} | {first[1]} | {first[2]:.2f} | {again[0]} | {again[2]:.2f}"
            lines.append(f"| {question} | {delay} | {seconds} |")
            print(lines[-1], flush=True)
    return lines


def ask_twice(proxy: Proxy, arguments: list[str]) -> list[tuple[int, int, float]]:
    """(requests, most at once, seconds), asked for the first time and again, by a process of its own."""
    command = [sys.executable, "-m", "benchmarks.remote", "--ask", *arguments]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        child.stdout.readline()  # warm
        answers = []
        for _ in range(2):
            proxy.reset()
            child.stdin.write("\n")
            child.stdin.flush()
            seconds = json.loads(child.stdout.readline())
            answers.append((proxy.requests, proxy.peak, seconds))
        child.stdin.close()
    return answers


def answer(question: str, location: str, url: str, folder: str) -> None:
    """Ask once to warm up, then with an empty cache, then again, each when a line comes in; print the seconds."""

    def ask() -> None:
        keys = {**KEYS, "s3.endpoint": url}
        if question in QUESTIONS:
            QUESTIONS[question](open_table(location, properties=keys))
            return
        if question in ENGINEERS:
            ENGINEERS[question](explorer.open_table(location, properties=keys))
            return
        own = {"uri": f"sqlite:///{folder}/catalog.db", "warehouse": "s3://warehouse/wh", **keys}
        THEIRS[question](SqlCatalog("remote", **own).load_table("db.t"))

    os.environ["ICEDIVE_CACHE"] = tempfile.mkdtemp(dir=folder)
    ask()
    os.environ["ICEDIVE_CACHE"] = tempfile.mkdtemp(dir=folder)
    print("warm", flush=True)
    for _ in sys.stdin:
        began = time.perf_counter()
        ask()
        print(json.dumps(time.perf_counter() - began), flush=True)


if __name__ == "__main__":
    main()
