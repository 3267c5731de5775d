"""Agents that talk to a server over HTTP: the protocol's own handler, behind the door of the page's server, which also
serves the page that answers link to."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from tornado.iostream import StreamClosedError
from tornado.netutil import bind_sockets
from tornado.web import RequestHandler

from explorer.app.hosts.agents.server import WHO, Agents
from explorer.app.hosts.agents.tables import Offered
from explorer.app.hosts.agents.tools import RIGHTS
from explorer.app.hosts.page import Server
from explorer.app.hosts.serve import prepare, run
from explorer.serving import pools
from explorer.serving.access import Doorkeeper
from explorer.serving.allowance import Inflow
from explorer.serving.kept_cookie import KeptCookie
from explorer.serving.server_address import LOOPBACK, ServerAddress
from explorer.storage.data_dirs import cache_home

PATH = "/mcp"
MOST_SESSIONS = 100
"""Agents that have a session at once."""


class AgentsHandler(RequestHandler):
    """Hands a request to the protocol's handler, which speaks ASGI, and its answer to whoever asked."""

    def initialize(self, manager: StreamableHTTPSessionManager, inflow: Inflow) -> None:
        """See Tornado."""
        self._manager, self._inflow = manager, inflow
        self._gone = asyncio.Event()

    def on_connection_close(self) -> None:
        """Nobody waits for the answer any more."""
        self._gone.set()

    async def _hand_over(self) -> None:
        await self._inflow.wait(self.request.body)
        headers = self.request.headers.get_all()
        scope = {
            "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "scheme": "http", "root_path": "",
            "method": self.request.method, "path": PATH, "raw_path": PATH.encode(),
            "query_string": self.request.query.encode("latin-1"),
            "headers": [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers],
        }  # fmt: skip
        bodies = [self.request.body]

        async def receive() -> dict[str, Any]:
            if bodies:
                return {"type": "http.request", "body": bodies.pop(), "more_body": False}
            await self._gone.wait()
            return {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            with suppress(StreamClosedError):  # who asked is gone
                if message["type"] == "http.response.start":
                    self.set_status(message["status"])
                    for name, value in message.get("headers", ()):
                        self.set_header(name.decode("latin-1"), value.decode("latin-1"))
                else:
                    self.write(message.get("body", b""))
                    await self.flush()

        await self._manager.handle_request(scope, receive, send)

    get = post = delete = _hand_over


def serve(tables: Offered, version: str, port: int) -> None:
    """Serve agents, and the page, on loopback until it is interrupted.

    Args:
        tables: What they may open.
        version: The version of the program.
        port: The port; 0 takes one that is free.

    Raises:
        NotPossible: The port cannot be used.
    """
    prepare()
    tables.restrict()
    address = ServerAddress(LOOPBACK)
    try:
        sockets = bind_sockets(port, LOOPBACK)
    except OSError as error:
        raise address.port_error(port, error) from None
    listening_at = sockets[0].getsockname()[1]
    door = Doorkeeper(address.names, programs=(PATH,))
    kept = KeptCookie(cache_home() / "served", f"{LOOPBACK}-agents", listening_at)
    door.cookie = kept.take()
    page = address.url(listening_at)
    manager = StreamableHTTPSessionManager(Agents(tables, version, page).server(), max_sessions=MOST_SESSIONS)
    server = Server(door, RIGHTS)
    server.add_handlers(".*", [(PATH, AgentsHandler, {"manager": manager, "inflow": Inflow(WHO)})])
    told = (
        f"Agents: {page}{PATH[1:]} with the header Authorization: Bearer {door.token}\n"
        f"Iceberg metadata explorer: {door.url(page)}"
    )
    asyncio.run(run(server, sockets, told, kept, beside=manager.run()))
    pools.stop()
