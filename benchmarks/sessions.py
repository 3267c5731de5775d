"""Fifty sessions on a million entries, each at another snapshot and in another mode; then a thousand pages that are
opened and closed. Writes what it measured into docs/sessions.md.

    python -m benchmarks.sessions [--sessions 50] [--opens 1000] [--pace 6 --pace 30] [--processes 1]

A session sends the messages of a page (docs/protocol.md), and nothing draws what it gets. `--pace` is the mean of the
seconds until a person clicks again. Each is measured on servers of its own, as many as `--processes` says, which share
their cache, as docs/serving.md describes it. Pages are opened and closed on the last one's."""

from __future__ import annotations

import argparse
import asyncio
import os
import platform
import random
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Awaitable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks import pages
from benchmarks.clients import ROOT, Client, Served, serve
from benchmarks.run import GENERATOR, HERE
from explorer.spark_engine.java import find_java, resolve_jars
from explorer.spark_engine.spark import shared_engine
from explorer.table import open_table

ENTRIES, MANIFESTS, SNAPSHOTS = 1_000_000, 100, 50
MODES: tuple[tuple[str, str, dict[str, str]], ...] = (
    ("table", "", {}), ("plan", "plan", {"where": "id = 5"}), ("diff", "diff", {"before": "snapshot-1"}),
    ("deletes", "inspect deletes", {}), ("findings", "doctor", {}), ("", "health", {}), ("", "inspect columns", {}),
    ("", "inspect map", {}), ("", "history commits", {}), ("", "history lifecycle", {}),
)  # fmt: skip
"""What the modes' graphs and questions are. Those without a graph are tabs of modes that show an answer alone."""
LISTS = ("inspect files", "inspect entries", "inspect manifests", "inspect partitions")
CLICKS = ("snapshot", "card", "snapshot", "list", "snapshot", "rows") * 2
REST_S = 20


def generate_table() -> Path:
    """A million entries of the generator's, and as many snapshots as there are sessions."""
    folder = HERE / "data" / "sessions-1M"
    if not folder.exists():
        command = [sys.executable, str(GENERATOR), "--runtime-jar", str(resolve_jars(find_java())[0])]
        command += ["--out", str(folder), "--entries", str(ENTRIES), "--manifests", str(MANIFESTS)]
        subprocess.run(command, check=True)
    missing = SNAPSHOTS - len(open_table(str(folder)).metadata.snapshots)
    if missing > 0:
        session: Any = shared_engine().session()
        settings = session._jsparkSession.sparkContext().hadoopConfiguration()
        table = session._jvm.org.apache.iceberg.hadoop.HadoopTables(settings).load(str(folder))
        for _ in range(missing):
            table.newFastAppend().commit()
        shared_engine().stop()
    return folder


@dataclass
class Measured:
    """What one run gave: seconds by kind of click, what went wrong, and what else there is to say."""

    times: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    failed: list[str] = field(default_factory=list)
    facts: dict[str, str] = field(default_factory=dict)

    async def click(self, kind: str, act: Awaitable[Any]) -> Any:
        """Do something, and note how long it took, unless it was cancelled."""
        began = time.perf_counter()
        result = await act
        if result is not None:
            self.times[kind].append(time.perf_counter() - began)
        return result


class Person:
    """Somebody who looks at a table in one mode and goes to other snapshots."""

    def __init__(self, number: int, table: str, ids: list[str], measured: Measured) -> None:
        self.rng = random.Random(number)
        self.graph, self.question, self.given = MODES[number % len(MODES)]
        self.list, self.is_list_open = LISTS[number % len(LISTS)], False
        self.table, self.ids, self.snapshot = table, ids, ids[number % len(ids)]
        self.measured = measured
        self.answers: set[asyncio.Task[Any]] = set()
        self.client: Client

    async def come(self, served: Served) -> None:
        """Open the page: its table, and its graph."""

        async def arrive() -> Any:
            self.client = await served.client()
            await self.client.request("hello")
            await self.client.request("open", table=self.table, snapshot=self.snapshot)
            return await self.draw()

        await self.measured.click("the page, its table and its graph", arrive())
        self.ask_mode()

    async def draw(self, **action: object) -> Any:
        """The graph of the mode; the tree where it has none."""
        mode = self.graph or "table"
        fields = {"filter": self.given.get("where", ""), "before": self.given.get("before", ""), "levels": False}
        drawn = await self.client.request(
            "graph", "graph", table=self.table, mode=mode, snapshot=self.snapshot, action=action, **fields
        )
        if mode == "table" and drawn["snapshot"] != self.snapshot:
            self.measured.failed.append(f"{self.question}: it shows {drawn['snapshot']}, not {self.snapshot}")
        return drawn

    def ask(self, kind: str, question: str, given: dict[str, str]) -> None:
        """Ask a question in place of the one of this kind that was asked before; nobody waits for the answer."""
        asked = self.client.request("ask", kind, table=self.table, question=question, arguments=given)
        task = asyncio.create_task(self.measured.click(kind, asked))
        self.answers.add(task)

    def ask_mode(self) -> None:
        at = {"after" if "before" in self.given else "snapshot": self.snapshot}
        if self.question:
            self.ask("the mode's answer", self.question, {**self.given, **({} if "history" in self.question else at)})

    async def go(self) -> Any:
        """To another snapshot: the graph; then facts and answers come as they are ready."""
        self.snapshot = self.rng.choice([one for one in self.ids if one != self.snapshot])
        self.ask_mode()
        if self.is_list_open:
            self.ask("a list's first rows", self.list, {"snapshot": self.snapshot})
        facts = self.client.request("facts", "facts", table=self.table, snapshot=self.snapshot)
        return (await asyncio.gather(self.draw(), facts))[0]

    async def select(self) -> Any:
        """A card, and what the inspector says of it."""
        nodes = (await self.draw())["picture"]["nodes"]
        return await self.draw(type="select", ids=[self.rng.choice(nodes)["id"]])

    def open_list(self) -> None:
        self.is_list_open = True
        self.ask("a list's first rows", self.list, {"snapshot": self.snapshot})

    async def scroll(self) -> Any:
        """Rows from somewhere in the list."""
        at, start = {"snapshot": self.snapshot}, self.rng.randrange(0, 100) * 200
        about = {"table": self.table, "question": self.list, "arguments": at, "block": 0}
        return await self.client.request("rows", start=start, count=200, **about)
