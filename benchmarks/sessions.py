"""Fifty sessions of the dashboard on a million entries, each at another snapshot and in another view; then a thousand
pages that are opened and closed. Writes what it measured into docs/sessions.md.

    python -m benchmarks.sessions [--sessions 50] [--opens 1000] [--pace 6 --pace 30] [--processes 2]

A session is what the server has of a page: it comes by HTTP and speaks Bokeh's protocol over its WebSocket, as a
browser does, and nothing draws it: two cores do not draw fifty pages. A click is what the page sends when a person
chooses another snapshot in the header; it is answered when the server says that the page is there, and what it shows
has come when nothing has been said for a while. `--pace` is the mean of the seconds until a person clicks again; each
is measured on servers of its own, as many as `--processes` says, among which sessions are dealt out and which share
their cache, as docs/serving.md describes it; pages are opened and closed on the last one's."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import psutil
from tornado.httpclient import AsyncHTTPClient, HTTPRequest
from tornado.websocket import WebSocketClientConnection, websocket_connect

from benchmarks import pages
from benchmarks.run import GENERATOR, HERE
from explorer.spark_engine.java import find_java, resolve_jars
from explorer.spark_engine.spark import shared_engine
from explorer.table import open_table
from explorer.ui import contents, rooms
from tests.support.ports import free_port

ENTRIES, MANIFESTS, SNAPSHOTS = 1_000_000, 100, 50
VIEWS = [name for name in rooms.VIEWS if name not in contents.ON_SPARK]
CLICKS, QUIET_S, LONGEST_S = 6, 1.5, 300
SEARCH = re.compile(r'"attr": ?"search", ?"new": ?"([^"]*)"')


def generate_table() -> Path:
    """A million entries of the generator's, and as many snapshots as there are sessions."""
    folder = HERE / "data" / "sessions-1M"
    if not folder.exists():
        command = [sys.executable, str(GENERATOR), "--runtime-jar", str(resolve_jars(find_java())[0])]
        command += ["--out", str(folder), "--entries", str(ENTRIES), "--manifests", str(MANIFESTS)]
        subprocess.run(command, check=True)
    newest = open_table(str(folder)).metadata
    missing = SNAPSHOTS - len(newest.snapshots)
    if missing > 0:
        session: Any = shared_engine().session()
        settings = session._jsparkSession.sparkContext().hadoopConfiguration()
        table = session._jvm.org.apache.iceberg.hadoop.HadoopTables(settings).load(str(folder))
        for _ in range(missing):
            table.newFastAppend().commit()
        shared_engine().stop()
    return folder


@dataclass
class Seat:
    """One session: what the server said of where its page is, and when it said something last."""

    socket: WebSocketClientConnection
    field: str
    """The id of the header's snapshot field."""
    places: list[str] = field(default_factory=list)
    last: float = 0.0
    errors: list[str] = field(default_factory=list)
    moved: asyncio.Event = field(default_factory=asyncio.Event)

    async def listen(self) -> None:
        """Note what comes, until the page is closed."""
        while (message := await self.socket.read_message()) is not None:
            self.last = time.perf_counter()
            text = message if isinstance(message, str) else ""
            for place in SEARCH.findall(text):
                self.places.append(json.loads(f'"{place}"'))
                self.moved.set()
            if '"msgtype": "ERROR"' in text:
                self.errors.append(text[:300])

    async def quiet(self) -> None:
        """Wait until all that was asked for has come."""
        until = time.perf_counter() + LONGEST_S
        while time.perf_counter() - self.last < QUIET_S:
            assert time.perf_counter() < until, "it never ends"
            await asyncio.sleep(0.1)

    async def click(self, name: str) -> float:
        """Choose a snapshot; seconds until the page is said to be there."""
        self.moved.clear()
        began = time.perf_counter()
        change = {"kind": "ModelChanged", "model": {"id": self.field}, "attr": "value", "new": name}
        await say(self.socket, "PATCH-DOC", {"events": [change]})
        await asyncio.wait_for(self.moved.wait(), LONGEST_S)
        self.last = time.perf_counter()
        return self.last - began


async def say(socket: WebSocketClientConnection, kind: str, content: dict[str, Any]) -> None:
    for part in ({"msgid": os.urandom(8).hex(), "msgtype": kind}, {}, content):
        await socket.write_message(json.dumps(part))


async def come(url: str, cookie: str, **query: str) -> tuple[Seat, float]:
    """Open a page; seconds until the server has sent all of it."""
    began = time.perf_counter()
    page_url = f"{url}?{urlencode(query)}"
    page = await AsyncHTTPClient().fetch(HTTPRequest(page_url, headers={"Cookie": cookie}, request_timeout=LONGEST_S))
    token = re.search(r'"token":"([^"]+)"', page.body.decode())
    assert token, "the page has no session"
    socket_request = HTTPRequest(
        page_url.replace("http", "ws", 1).replace("/?", "/ws?"), headers={"Cookie": cookie, "Origin": url[:-1]}
    )
    socket = await websocket_connect(socket_request, subprotocols=["bokeh", token[1]], max_message_size=1 << 28)
    for _ in range(3):
        await socket.read_message()  # that it hears us
    await say(socket, "PULL-DOC-REQ", {})
    document = ""
    while '"doc"' not in document:
        document = str(await socket.read_message())
    fields = [one for one in models(json.loads(document)) if one.get("attributes", {}).get("label") == "snapshot"]
    seat = Seat(socket, fields[0]["id"])
    ready = {"type": "event", "name": "document_ready", "values": {"type": "map"}}
    await say(socket, "PATCH-DOC", {"events": [{"kind": "MessageSent", "msg_type": "bokeh_event", "msg_data": ready}]})
    return seat, time.perf_counter() - began


def models(within: Any) -> list[dict[str, Any]]:
    """All models that a document has, at whatever depth."""
    if isinstance(within, dict):
        own = [within] if "attributes" in within and "id" in within else []
        return own + [m for value in within.values() for m in models(value)]
    return [m for value in within for m in models(value)] if isinstance(within, list) else []


@asynccontextmanager
async def server(cache: str) -> AsyncIterator[tuple[str, str, psutil.Process, Path]]:
    """A dashboard with this cache: its URL, a session's cookie, its process, and what it logs."""
    port = free_port()
    command = [sys.executable, "-u", "-m", "explorer.cli", "serve", "--port", str(port)]
    with tempfile.TemporaryDirectory() as work:
        environment = {**os.environ, "ICEDIVE_CACHE": cache, "ICEDIVE_HOME": f"{work}/home"}
        log = Path(work) / "log"
        with log.open("w") as errors:
            process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True, env=environment)
        assert process.stdout
        try:
            while not (entry := re.search(r"http\S+token=\S+", process.stdout.readline())):
                assert process.poll() is None, "the server has ended"
            asyncio.get_running_loop().run_in_executor(None, process.stdout.read)  # or it would wait to be read
            greeting = HTTPRequest(entry[0], follow_redirects=False)
            answer = await AsyncHTTPClient().fetch(greeting, raise_error=False)
            cookie = answer.headers["Set-Cookie"].split(";")[0]
            yield entry[0].split("?")[0], cookie, psutil.Process(process.pid), log
        finally:
            process.kill()


@dataclass
class Times:
    """Seconds of what all sessions did."""

    come: list[float] = field(default_factory=list)
    clicks: list[float] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)


async def one(
    number: int, url: str, cookie: str, folder: Path, ids: list[str], times: Times, pace: float
) -> Seat | None:
    """What one person does: comes, looks at other snapshots now and then, and must see what they asked for only."""
    rng = random.Random(number)
    view, chosen_ids = VIEWS[number % len(VIEWS)], [ids[number % len(ids)]]
    try:
        await asyncio.sleep(rng.uniform(0, 60))  # within a minute
        seat, seconds = await come(url, cookie, table=str(folder), view=view, snapshot=chosen_ids[0])
        times.come.append(seconds)
        listening = asyncio.create_task(seat.listen())
        seat.last = time.perf_counter()
        await seat.quiet()
        for _ in range(CLICKS):
            await asyncio.sleep(rng.uniform(pace / 3, pace * 5 / 3))
            at = rng.choice([n for n in range(len(ids)) if ids[n] != chosen_ids[-1]])
            chosen_ids.append(ids[at])
            times.clicks.append(await seat.click(f"snapshot-{at + 1}"))
        await seat.quiet()
        strange = [p for p in seat.places if not any(f"snapshot={i}" in p for i in chosen_ids)]
        times.failed += [f"{view}: {what}" for what in (*strange, *seat.errors)]
        if f"snapshot={chosen_ids[-1]}" not in seat.places[-1]:
            times.failed.append(f"{view}: it is at {seat.places[-1]}, not at {chosen_ids[-1]}")
    except Exception as error:
        times.failed.append(f"{view}: {error!r}")
        return None
    else:
        listening.cancel()
        return seat


async def pass_by(url: str, cookie: str, folder: Path, seconds: float = 0) -> None:
    """Open a page and close it."""
    seat, _ = await come(url, cookie, table=str(folder), view="graph")
    await asyncio.sleep(seconds)
    seat.socket.close()


async def measure(sessions: int, opens: int, pace: float, folder: Path, count: int = 1) -> dict[str, str]:
    """What was measured, by its name, of `count` servers."""
    ids = [str(s.snapshot_id) for s in open_table(str(folder)).metadata.snapshots]
    times = Times()
    async with AsyncExitStack() as stack:
        cache = stack.enter_context(tempfile.TemporaryDirectory())
        servers = [await stack.enter_async_context(server(cache)) for _ in range(count)]

        def held() -> float:
            return sum(float(process.memory_info().rss) / 2**20 for _, _, process, _ in servers)

        def processor_s() -> float:
            return sum(sum(process.cpu_times()[:2]) for _, _, process, _ in servers)

        for url, cookie, *_ in servers:
            await pass_by(url, cookie, folder, 5)
        before, spent, began = held(), processor_s(), time.perf_counter()
        coming = (one(n, *servers[n % count][:2], folder, ids, times, pace) for n in range(sessions))
        seats = await asyncio.gather(*coming)
        spent, seconds = processor_s() - spent, time.perf_counter() - began
        most = held()
        await asyncio.sleep(20)
        idle = processor_s()
        await asyncio.sleep(20)
        idle = (processor_s() - idle) / 20
        settled = held()
        for seat in seats:
            if seat:
                seat.socket.close()
        await asyncio.sleep(45)  # sessions that nobody has are thrown away
        after, marks = held(), []
        times.failed += [line for *_, log in servers for line in log.read_text().splitlines() if "Error" in line]
        print("sessions", times, before, most, settled, after, flush=True)
        for n in range(opens):
            await pass_by(*servers[n % count][:2], folder)
            if (n + 1) % max(1, opens // 10) == 0:
                await asyncio.sleep(40)
                marks.append(held())
                print(n + 1, marks[-1], flush=True)
    clicks = sorted(times.clicks)
    return {
        "sessions, clicks": f"{sessions}, {len(clicks)}",
        "failed, or saw another's": "; ".join([str(len(times.failed)), *times.failed[:5]]),
        "page sent whole, median and worst": f"{statistics.median(times.come):.2f} s, {max(times.come):.2f} s",
        "click answered, median": f"{statistics.median(clicks):.2f} s",
        "click answered, 95th percentile": f"{clicks[int(0.95 * len(clicks))]:.2f} s",
        "click answered, worst": f"{clicks[-1]:.2f} s",
        "the servers' processor": f"{spent:.0f} s of {seconds:.0f}",
        "their processor when all are idle": f"{100 * idle:.1f} % of a core",
        "memory: one page, all at work, all idle": f"{before:.0f}, {most:.0f}, {settled:.0f} MiB",
        "memory when all have left": f"{after:.0f} MiB",
        "memory as more pages are opened and closed": f"{', '.join(f'{m:.0f}' for m in marks) or '-'} MiB ({opens:,})",
    }


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--sessions", type=int, default=50)
    options.add_argument("--opens", type=int, default=1000)
    options.add_argument("--pace", type=float, action="append")
    options.add_argument("--processes", type=int, default=1)
    chosen = options.parse_args()
    paces, folder = chosen.pace or [6, 30], generate_table()
    opens = [0] * (len(paces) - 1) + [chosen.opens]
    columns = [
        asyncio.run(measure(chosen.sessions, n, pace, folder, chosen.processes))
        for pace, n in zip(paces, opens, strict=True)
    ]
    rows = [f"| {name} | {' | '.join(column[name] for column in columns)} |" for name in columns[0]]
    text = [
        f"A run on {os.cpu_count()} cores, Python {platform.python_version()}, {chosen.processes} server processes; "
        "a click every so many seconds:", "",
        f"| | {' | '.join(f'{pace:g} s' for pace in paces)} |", f"|---|{'---|' * len(paces)}", *rows,
    ]  # fmt: skip
    pages.put(HERE.parent / "docs" / "sessions.md", text)
    print("\n".join(text))


if __name__ == "__main__":
    main()
