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
import re
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Awaitable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

from benchmarks import pages
from benchmarks.clients import ROOT, Client, Refused, Served, serve
from benchmarks.run import GENERATOR, HERE
from explorer.spark_engine.java import find_java, resolve_jars
from explorer.spark_engine.spark import shared_engine
from explorer.table import open_table

ENTRIES, MANIFESTS, SNAPSHOTS = 1_000_000, 100, 50
Asked = tuple[str, dict[str, str]]
MODES: tuple[tuple[str, Asked], ...] = (
    ("table", ("", {})), ("plan", ("plan", {"where": "id = 5"})), ("diff", ("diff", {"before": "snapshot-1"})),
    ("", ("health", {})), ("table", ("", {})), ("deletes", ("inspect deletes", {})), ("findings", ("doctor", {})),
    ("", ("inspect columns", {})), ("table", ("", {})), ("", ("inspect map", {})), ("", ("history commits", {})),
    ("", ("history lifecycle", {})),
)  # fmt: skip
"""The graphs of modes, empty where a mode or its tab has none, and their questions."""
SHOWN = {"": "no graph", "table": "the tree"}
TO_SNAPSHOT = "another snapshot: facts, and {}"
LISTS = ("inspect files", "inspect entries", "inspect manifests", "inspect partitions")
CLICKS = ("snapshot", "card", "snapshot", "list", "snapshot", "rows") * 2
PAGE, ARRIVE_S, REST_S = 200, 60, 20


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


class Times(defaultdict[str, list[float]]):
    """Seconds by kind of click, and why others of that kind were refused."""

    def __init__(self) -> None:
        super().__init__(list)
        self.refusals: defaultdict[str, list[str]] = defaultdict(list)

    async def note(self, kind: str, act: Awaitable[Any]) -> Any:
        """Do something, and note how long it took. Returns None if it was cancelled or refused."""
        began, result = time.perf_counter(), None
        try:
            result = await act
        except Refused as error:
            self.refusals[kind].append(str(error))
        if result is not None:
            self[kind].append(time.perf_counter() - began)
        return result

    def lines(self) -> list[str]:
        """A table of them, and the reasons without their numbers."""
        rows = [
            f"| {kind} | {pages.spread(self[kind])} | {len(self.refusals[kind])} |"
            for kind in sorted({*self, *self.refusals})
        ]
        reasons = sorted({re.sub(r"[0-9]+", "…", one) for refused in self.refusals.values() for one in refused})
        head = ["| click | times | median s | 95 of 100 within s | slowest s | refused |", "|---|--:|--:|--:|--:|--:|"]
        return [*head, *rows, "", f"- Reasons of what was refused: {'; '.join(reasons) or '-'}."]


class Person:
    """Somebody who looks at a table in one mode, and goes to other snapshots."""

    def __init__(self, number: int, table: str, ids: list[str], times: Times) -> None:
        self.rng = random.Random(number)
        self.graph, (self.question, self.given) = MODES[number % len(MODES)]
        self.list, self.is_list_open, self.total = LISTS[number % len(LISTS)], False, PAGE
        self.table, self.ids, self.snapshot = table, ids, ids[number % len(ids)]
        self.times = times
        self.nodes: list[str] = []
        self.asked: dict[str, Asked] = {}
        self.answers: list[asyncio.Task[Any]] = []
        """What comes when it is ready, while the person goes on."""
        self.client: Client

    async def live(self, served: Served, pace: float) -> None:
        """Come within a minute, click now and then, and wait for all answers."""
        await asyncio.sleep(self.rng.uniform(0, ARRIVE_S))
        await self.times.note("the page, the table and its graph", self.come(served))
        for kind in CLICKS:
            await asyncio.sleep(self.rng.uniform(pace / 3, pace * 5 / 3))
            if kind == "list":
                self.is_list_open = True
            elif kind == "rows":
                await self.times.note("rows from further down a list", self.rows())
            elif kind == "card" and self.nodes:
                await self.times.note("a card", self.draw(type="select", ids=[self.rng.choice(self.nodes)]))
            else:
                self.snapshot = self.rng.choice([one for one in self.ids if one != self.snapshot])
                await self.go()
            self.ask_all()
        await asyncio.gather(*self.answers)

    async def come(self, served: Served) -> bool:
        self.client = await served.client()
        await self.client.request("hello")
        await self.client.request("open", table=self.table, snapshot=self.snapshot)
        await self.draw()
        self.ask_all()
        return True

    async def go(self) -> None:
        """To the snapshot: as the page does, ask for all at once; the click is over with the graph and the facts."""
        self.ask_all()
        facts = self.client.request("facts", "facts", table=self.table, snapshot=self.snapshot)
        kind = TO_SNAPSHOT.format(SHOWN.get(self.graph, "the graph of an answer"))
        await self.times.note(kind, asyncio.gather(self.draw(), facts))

    async def draw(self, **action: object) -> Any:
        """The graph of the mode, if it has one."""
        if not self.graph:
            return None
        fields = {"filter": self.given.get("where", ""), "before": self.given.get("before", ""), "levels": False}
        about = {"table": self.table, "mode": self.graph, "snapshot": self.snapshot}
        drawn = await self.client.request("graph", "graph", **about, **fields, action=action)
        assert self.graph != "table" or drawn["snapshot"] == self.snapshot, f"it shows {drawn['snapshot']}"
        self.nodes = [node["id"] for node in drawn["picture"]["nodes"]]
        return drawn

    def ask_all(self) -> None:
        """Ask what the mode and the list show here, where it is not what they asked last."""
        at = {"after" if "before" in self.given else "snapshot": self.snapshot}
        asked = {"the mode's answer": (self.question, self.given | ({} if "history" in self.question else at))}
        if self.is_list_open:
            asked["the first rows of a list"] = (self.list, {"snapshot": self.snapshot})
        for kind, (question, given) in asked.items():
            if question and self.asked.get(kind) != (question, given):
                self.asked[kind] = question, given
                self.answers.append(asyncio.create_task(self.answer(kind, question, given)))

    async def answer(self, kind: str, question: str, given: dict[str, str]) -> None:
        """An answer; of a list that does not know how many rows it has, their number too."""
        about = {"table": self.table, "question": question, "arguments": given}
        answer = await self.times.note(kind, self.client.request("ask", kind, **about))
        if answer is None or question != self.list:
            return
        rows = next(block for block in answer["blocks"] if block["kind"] == "rows")
        if rows["total"] is None:
            counted = self.client.request("rows", "count", **about, block=0, start=0, count=0)
            rows = await self.times.note("the number of a list's rows", counted) or {"total": self.total}
        self.total = rows["total"]

    async def rows(self) -> Any:
        at, start = {"snapshot": self.snapshot}, self.rng.randrange(max(1, self.total // PAGE)) * PAGE
        about: dict[str, Any] = {"table": self.table, "question": self.list, "arguments": at}
        return await self.client.request("rows", **about, block=0, start=start, count=PAGE)


async def pass_by(served: Served, table: str, seconds: float = 0) -> None:
    """Open a page, and close it."""
    client = await served.client()
    await client.request("open", table=table)
    await client.request("graph", table=table, levels=False)
    await asyncio.sleep(seconds)
    client.close()


async def measure(sessions: int, opens: int, pace: float, table: str, count: int) -> list[str]:
    """Return what was measured with `count` servers, as lines of the document."""
    ids = [str(one.snapshot_id) for one in open_table(table).metadata.snapshots]
    times, marks, load = Times(), [], os.getloadavg()[0]
    async with AsyncExitStack() as stack:
        cache = stack.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True))
        servers = [await stack.enter_async_context(serve(cache=cache)) for _ in range(count)]

        def held() -> float:
            return sum(served.memory_mib() for served in servers)

        def spent() -> float:
            return sum(served.processor_s() for served in servers)

        for served in servers:
            await pass_by(served, table, 5)
        memory, before, began = [held()], spent(), time.perf_counter()
        people = [Person(number, table, ids, times) for number in range(sessions)]
        lives = (one.live(servers[number % count], pace) for number, one in enumerate(people))
        ended = await asyncio.gather(*lives, return_exceptions=True)
        used, took = spent() - before, time.perf_counter() - began
        memory.append(held())
        failed = [f"{one.question or 'graph'}: {error!r}" for one, error in zip(people, ended, strict=True) if error]
        failed += [line for served in servers for line in served.log.read_text().splitlines() if "Error" in line]
        idle = spent()
        await asyncio.sleep(REST_S)
        idle = (spent() - idle) / REST_S
        for one in people:
            if hasattr(one, "client"):  # else it was not even answered
                one.client.close()
        await asyncio.sleep(REST_S)
        memory.append(held())
        for number in range(opens):
            await pass_by(servers[number % count], table)
            if (number + 1) % max(1, opens // 10) == 0:
                marks.append(held())
    lines = [
        f"A click every {pace:g} s, {count} server process{'es' if count > 1 else ''}, {sessions} sessions:", "",
        *times.lines(),
        f"- Failed, or saw another's answer: {'; '.join([str(len(failed)), *failed[:5]])}.",
        f"- CPU of the servers: {used:.0f} s of {took:.0f}. When all are idle: {100 * idle:.1f} % of a core.",
        "- Memory with one page, after the last click, and when all have left: "
        f"{', '.join(f'{one:,.0f}' for one in memory)} MiB.",
        f"- Load (runnable processes, of a minute) before: {load:.1f}. At the end: {os.getloadavg()[0]:.1f}.",
    ]  # fmt: skip
    if marks:
        told = ", ".join(f"{one:,.0f}" for one in marks)
        lines.append(f"- Memory as {opens:,} more pages are opened and closed, after each tenth: {told} MiB.")
    print("\n".join(lines), flush=True)
    return lines


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--sessions", type=int, default=50)
    options.add_argument("--opens", type=int, default=1000)
    options.add_argument("--pace", type=float, action="append")
    options.add_argument("--processes", type=int, default=1)
    chosen = options.parse_args()
    paces, table = chosen.pace or [6, 30], str(generate_table())
    text = [f"Runs on {os.cpu_count()} cores, Python {platform.python_version()}."]
    for pace in paces:
        opens = chosen.opens if pace == paces[-1] else 0
        text += ["", *asyncio.run(measure(chosen.sessions, opens, pace, table, chosen.processes))]
    pages.put(ROOT / "docs" / "sessions.md", text)


if __name__ == "__main__":
    main()
