"""Agents that start this program, and talk to it over its standard input and output."""

from __future__ import annotations

import asyncio
import warnings

from mcp.server.stdio import stdio_server

from explorer.app.hosts.agents.server import Agents
from explorer.app.hosts.agents.tables import Offered
from explorer.errors import IncompleteAnswer
from explorer.serving import logs, pools


def answer(tables: Offered, version: str, page: str = "") -> None:
    """Answer one agent until it closes the standard input.

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
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())
