"""Agents that start this program, and talk to it over its standard input and output."""

from __future__ import annotations

import asyncio
import os
import threading
import warnings
from contextlib import suppress
from typing import Any

from mcp.server.stdio import stdio_server

from explorer.app.hosts.agents.server import Agents
from explorer.app.hosts.agents.tables import Offered
from explorer.errors import IncompleteAnswer
from explorer.serving import logs, pools
from explorer.serving.access import MOST_MESSAGE


def answer(tables: Offered, version: str, page: str = "") -> None:
    """Answer one agent until it closes the standard input, or a signal ends the program.

    Args:
        tables: What it may open.
        version: The version of the program.
        page: The URL of a page that serves the same tables.
    """
    warnings.filterwarnings("ignore", category=IncompleteAnswer)  # each answer says it
    logs.guard()
    tables.restrict()
    try:
        asyncio.run(_answer(Agents(tables, version, page)))
    finally:
        pools.stop()


async def _answer(agents: Agents) -> None:
    server = agents.server()
    lines: Any = Lines()
    async with stdio_server(stdin=lines) as (read, write):
        await server.run(read, write, server.create_initialization_options())


class Lines:
    """The lines of the standard input, read by a thread that the end of the program does not wait for. What runs
    meanwhile, as Java does, reads nothing of it. A message that is too long ends it."""

    def __init__(self) -> None:
        self._lines: asyncio.Queue[bytes] = asyncio.Queue(1)
        self._loop = asyncio.get_running_loop()
        self._own = os.dup(0)
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)
        threading.Thread(target=self._read, name="stdin", daemon=True).start()

    def __aiter__(self) -> Lines:
        return self

    async def __anext__(self) -> str:
        line = await self._lines.get()
        if not line or len(line) > MOST_MESSAGE:
            raise StopAsyncIteration
        return line.decode("utf-8", "replace")

    def _read(self) -> None:
        line = b"\n"
        with suppress(RuntimeError), open(self._own, "rb") as file:  # the loop has ended
            while line and len(line) <= MOST_MESSAGE:
                line = file.readline(MOST_MESSAGE + 1)
                asyncio.run_coroutine_threadsafe(self._lines.put(line), self._loop).result()
