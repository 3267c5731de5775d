"""An agent: the official client of the protocol, with `icedive mcp` in a process of its own, over stdio or HTTP."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import psutil
from mcp import Client, StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

from explorer.app.hosts.agents.answers import MOST_CHARACTERS, QUOTED
from tests.support.helpers import run_apart

COMMAND = (sys.executable, "-m", "explorer.cli", "mcp")
DEMO = "sandbox.demo."
MOST = 2 * MOST_CHARACTERS
"""Characters of any answer, with all that is around its parts."""
Test = Callable[["Agent"], Awaitable[None]]


@dataclass
class Agent:
    """An agent that is connected. `pid` is the server's process."""

    client: Client
    pid: int

    async def ask(self, tool: str, /, **given: Any) -> dict[str, Any]:
        """The answer of a tool, which must be one, as JSON data."""
        data = await self.call(tool, given)
        assert "error" not in data, (tool, given, data["error"])
        return data

    async def refused(self, tool: str, /, **given: Any) -> str:
        """Why a tool gives no answer."""
        data = await self.call(tool, given)
        assert "error" in data, (tool, given, data)
        return str(data["error"])

    async def call(self, tool: str, given: Mapping[str, Any]) -> dict[str, Any]:
        """What a tool says; its text is the same data on one line, below what says that it is data."""
        result = await self.client.call_tool(tool, dict(given))
        (content,) = result.content
        head, line = content.text.split("\n")  # type: ignore[union-attr]
        assert head == QUOTED
        data: dict[str, Any] = json.loads(line)
        assert data == result.structured_content
        assert len(line) < MOST
        assert result.is_error == ("error" in data)
        return data


def texts(data: Mapping[str, Any]) -> str:
    """All that an answer's parts say, as one text."""
    return "\n".join(
        item if isinstance(item, str) else json.dumps(item) for part in data["parts"] for item in part["items"]
    )


def over_stdio(test: Test, *options: str, log: Path | None = None, **variables: str) -> None:
    """Run a test with an agent whose program started the server; `log` gets what that writes to stderr."""
    command, *first = COMMAND
    parameters = StdioServerParameters(command=command, args=[*first, *options], env={**os.environ, **variables})
    before = {child.pid for child in psutil.Process().children()}

    async def run() -> None:
        with open(log or os.devnull, "w") as file:
            async with Client(stdio_client(parameters, errlog=file)) as client:
                (pid,) = (one.pid for one in psutil.Process().children() if one.pid not in before and _is_ours(one))
                failed = await _failure(test, Agent(client, pid))
        if failed is not None:
            raise failed

    run_apart(run)


async def _failure(test: Test, agent: Agent) -> Exception | None:
    """Run a test; what it raises is raised later, outside the groups of the client's tasks, which would hide it."""
    try:
        await test(agent)
    except Exception as error:
        return error
    return None


def _is_ours(process: psutil.Process) -> bool:
    return "mcp" in process.cmdline()


@dataclass(frozen=True)
class Served:
    """A server that agents reach over HTTP: where, its token, and the URL of its page, with the token."""

    url: str
    token: str
    page: str
    pid: int

    @asynccontextmanager
    async def connect(self, mode: str = "auto") -> AsyncIterator[Agent]:
        """An agent with the token."""
        headers = {"Authorization": f"Bearer {self.token}"}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=120) as http,
            Client(streamable_http_client(self.url, http_client=http), mode=mode) as client,
        ):
            yield Agent(client, self.pid)

    def run(self, test: Test, mode: str = "auto") -> None:
        """Run a test with an agent."""

        async def work() -> None:
            async with self.connect(mode) as agent:
                failed = await _failure(test, agent)
            if failed is not None:
                raise failed

        run_apart(work)


@contextmanager
def served(*options: str, log: Path | None = None, **variables: str) -> Iterator[Served]:
    """A server over HTTP at a free port; `log` gets what it writes to stderr."""
    words = [*COMMAND, "--http", "--port", "0", *options]
    with (
        open(log or os.devnull, "w") as file,
        subprocess.Popen(words, stdout=subprocess.PIPE, stderr=file, text=True, env={**os.environ, **variables}) as own,
    ):
        try:
            assert own.stdout is not None
            agents, page = own.stdout.readline(), own.stdout.readline()
            found = re.match(r"Agents: (\S+) with the header Authorization: Bearer (\S+)", agents)
            assert found is not None, agents
            yield Served(found[1], found[2], page.split(": ", 1)[1].strip(), own.pid)
        finally:
            own.terminate()
            assert own.wait(60) == 0
