"""Servers of the page, each in a process of its own, and clients that send them the page's messages as a browser does
(docs/protocol.md)."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
from tornado.httpclient import AsyncHTTPClient, HTTPRequest
from tornado.websocket import WebSocketClientConnection, websocket_connect

from tests.support.ports import free_port

ROOT = Path(__file__).parents[1]
LONGEST_S = 600
"""Nobody waits longer for an answer."""


@dataclass(frozen=True)
class Served:
    """A server: the URL with the token that opens it, its process, and the file with all that it prints."""

    entry: str
    process: psutil.Process
    log: Path

    @property
    def url(self) -> str:
        return self.entry.split("?")[0]

    async def client(self) -> Client:
        """Open the page, as a browser that has its scripts, and connect."""
        greeting = HTTPRequest(self.entry, follow_redirects=False)
        answer = await AsyncHTTPClient().fetch(greeting, raise_error=False)
        cookie = {"Cookie": answer.headers["Set-Cookie"].split(";")[0]}
        await AsyncHTTPClient().fetch(HTTPRequest(self.url, headers=cookie, request_timeout=LONGEST_S))
        address, headers = f"{self.url.replace('http', 'ws', 1)}ws", {**cookie, "Origin": self.url[:-1]}
        socket = await websocket_connect(HTTPRequest(address, headers=headers), max_message_size=1 << 28)
        return Client(socket)

    def processor_s(self) -> float:
        """Seconds of CPU that it has taken, with what it started."""
        return processor_s(self.process)

    def memory_mib(self) -> float:
        """Memory that it has, with what it started; what processes share counts once."""
        processes = [self.process, *self.process.children(recursive=True)]
        return sum(float(one.memory_full_info().pss) for one in processes if one.is_running()) / 2**20


def processor_s(process: psutil.Process) -> float:
    """Seconds of CPU of a process and of all that it started, also of what has ended."""
    total = 0.0
    for one in [process, *process.children(recursive=True)]:
        with contextlib.suppress(psutil.Error):
            ended = one.cpu_times()
            total += _own_s(one) + ended.children_user + ended.children_system
    return total


def _own_s(process: psutil.Process) -> float:
    """Seconds of CPU of a process itself. Linux tells them in nanoseconds by the clock that clock_getcpuclockid(3)
    names, other systems in hundredths."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError):
            return time.clock_gettime((~process.pid << 3) | 2)
    return sum(process.cpu_times()[:2])


@contextlib.asynccontextmanager
async def serve(
    home: str = "", cache: str = "", tree: Path = ROOT, python: str = sys.executable, prefix: str = "ICEDIVE_"
) -> AsyncIterator[Served]:
    """Start a server, of the code in `tree`; end it at the end. Its sandbox and its cache are of its own unless `home`
    and `cache` name their folders. Names of its environment variables begin with `prefix`."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as work:
        environment = {**os.environ, "PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1"}
        environment |= {f"{prefix}HOME": home or f"{work}/home", f"{prefix}CACHE": cache or f"{work}/cache"}
        command = [python, "-u", "-m", "explorer.cli", "serve", "--port", str(free_port())]
        log = Path(work) / "log"
        with log.open("w") as output:
            started = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, env=environment, cwd=tree)
        process = psutil.Process(started.pid)
        try:
            while not (entry := re.search(r"http\S+token=\S+", log.read_text())):
                assert started.poll() is None, log.read_text()
                await asyncio.sleep(0.1)
            yield Served(entry[0], process, log)
        finally:
            for one in [*process.children(recursive=True), process]:
                with contextlib.suppress(psutil.Error):
                    one.kill()
            started.wait()


class Refused(Exception):
    """The server answered with an error."""


class Client:
    """A browser's side of one session: sends requests and waits for their answers."""

    def __init__(self, socket: WebSocketClientConnection) -> None:
        self._socket = socket
        self._count = 0
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._newest: dict[str, int] = {}
        self._listening = asyncio.create_task(self._listen())

    async def request(self, kind: str, channel: str = "", **fields: object) -> Any:
        """Ask for something, and return the data of the answer. A newer request on the same channel cancels it: then
        None. Raises Refused."""
        if channel and (older := self._waiting.pop(self._newest.get(channel, 0), None)):
            older.set_result(None)
            await self._send("cancel", request=self._newest[channel])
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        number = await self._send(kind, answer, **fields)
        if channel:
            self._newest[channel] = number
        return await asyncio.wait_for(answer, LONGEST_S)

    async def _send(self, kind: str, answer: asyncio.Future[Any] | None = None, **fields: object) -> int:
        self._count += 1
        number = self._count
        if answer is not None:
            self._waiting[number] = answer
        await self._socket.write_message(json.dumps({"type": kind, "id": number, **fields}))
        return number

    async def _listen(self) -> None:
        while (text := await self._socket.read_message()) is not None:
            message = json.loads(text)
            if message["type"] == "progress" or not (answer := self._waiting.pop(message["id"], None)):
                continue
            if message["type"] == "answer":
                answer.set_result(message["data"])
            else:
                answer.set_exception(Refused(message["text"]))
        for answer in self._waiting.values():
            answer.set_exception(Refused("the connection was lost"))

    def close(self) -> None:
        self._listening.cancel()
        self._socket.close()
