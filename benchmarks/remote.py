"""How soon a table in a store answers, behind 0, 5 and 50 ms a request, against pyiceberg in the same run. Writes the
table of docs/remote.md.

    python -m benchmarks.remote [--commits 200]

The store is moto, on this machine, behind tests.servers.proxy; moto answers about 200 requests a second, which is what
is left of the times at 0 ms."""

from __future__ import annotations

import argparse
import os
import tempfile
import time
import urllib.request
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
from moto.server import ThreadedMotoServer
from pyiceberg.catalog.sql import SqlCatalog

import explorer
from tests.servers.proxy import Proxy

DOCS = Path(__file__).parents[1] / "docs" / "remote.md"
DELAYS_MS = (0, 5, 50)

QUESTIONS: dict[str, Callable[[explorer.Table], Any]] = {
    "show": lambda table: table.graph(),
    "entries": lambda table: table.entries(),
    "diff of neighbours": lambda table: table.diff("snapshot-20", "snapshot-21"),
    "commits": lambda table: table.commits(),
    "lifecycle": lambda table: table.lifecycle(),
    "deletes": lambda table: table.deletes(),
    "file": lambda table: table.file(table.metadata.snapshots and table.files()[0]["file_path"]),
    "fate of a row": lambda table: table.fate("id = 7"),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--commits", type=int, default=200)
    commits = parser.parse_args().commits
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    direct = f"http://{host}:{port}"
    urllib.request.urlopen(urllib.request.Request(f"{direct}/warehouse", method="PUT"))
    proxy = Proxy(direct)
    keys = {"s3.access-key-id": "key", "s3.secret-access-key": "hush", "s3.region": "us-east-1"}
    with tempfile.TemporaryDirectory() as folder:
        own = {"uri": f"sqlite:///{folder}/catalog.db", "warehouse": "s3://warehouse/wh", **keys}
        catalog = SqlCatalog("remote", **own, **{"s3.endpoint": direct})
        catalog.create_namespace("db")
        schema = pa.schema([("id", pa.int64()), ("fruit", pa.string())])
        table = catalog.create_table("db.t", schema)
        for i in range(commits):
            table.append(pa.table({"id": [i], "fruit": [f"fruit-{i}"]}, schema))
        far = SqlCatalog("remote", **own, **{"s3.endpoint": proxy.url})
        theirs = {
            "pyiceberg inspect.files": lambda: far.load_table("db.t").inspect.files(),
            "pyiceberg plan_files": lambda: list(far.load_table("db.t").scan().plan_files()),
        }
        lines = [
            "| question | ms a request | requests | at once | s | again: requests | s |",
            "|---|--:|--:|--:|--:|--:|--:|",
        ]
        opened = partial(explorer.open_table, table.metadata_location, properties={**keys, "s3.endpoint": proxy.url})
        for delay in DELAYS_MS:
            proxy.delay = delay / 1000
            for n, (name, ask) in enumerate(QUESTIONS.items()):
                os.environ["ICEBERG_EXPLORER_CACHE"] = f"{folder}/cache-{delay}-{n}"
                lines.append(line(name, delay, *(timed(proxy, lambda ask=ask: ask(opened())) for _ in range(2))))
            for name, act in theirs.items():
                lines.append(line(name, delay, *(timed(proxy, act) for _ in range(2))))
    server.stop()
    print("\n".join(lines))
    before, _, rest = DOCS.read_text().partition("<!-- measured -->\n")
    after = rest.partition("<!-- end -->")[2]
    DOCS.write_text("".join([before, "<!-- measured -->\n", "\n".join(lines), "\n<!-- end -->", after]))


def timed(proxy: Proxy, act: Callable[[], Any]) -> tuple[int, int, float]:
    """(requests, most at once, seconds)."""
    proxy.reset()
    began = time.perf_counter()
    act()
    return proxy.requests, proxy.peak, time.perf_counter() - began


def line(name: str, delay: int, first: tuple[int, int, float], again: tuple[int, int, float]) -> str:
    return f"| {name} | {delay} | {first[0]} | {first[1]} | {first[2]:.2f} | {again[0]} | {again[2]:.2f} |"


if __name__ == "__main__":
    main()
