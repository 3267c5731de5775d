"""How many connections a server has at once: a system gives a process so many files and sockets, and where they are
used up it opens no table and starts no decoder."""

from __future__ import annotations

import contextlib
from typing import Any

from tornado.httpserver import HTTPServer
from tornado.httputil import HTTPServerRequest
from tornado.iostream import IOStream

MOST_FILES = 8_192
"""Files and sockets that a server has, where the system allows as many."""
SHARE = 4
"""Connections that have not become pages take one of so many parts of these."""


def connection_limit() -> int:
    """Have the system allow the process as many files as it may; return how many connections it takes then."""
    try:
        import resource
    except ImportError:  # Windows allows so many
        return MOST_FILES // SHARE
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = MOST_FILES if hard == resource.RLIM_INFINITY else min(MOST_FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < most:
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
            soft = most
    return (most if soft == resource.RLIM_INFINITY else min(soft, MOST_FILES)) // SHARE


class Connections:
    """Those of a server. Where there are too many, the oldest ends over which nobody came who may come in; if there is
    none, the one over which nobody has asked for the longest.

    Args:
        most: How many there are at once.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._strangers: dict[IOStream, None] = {}
        self._known: dict[IOStream, None] = {}

    def add(self, stream: IOStream) -> None:
        """Count a new one; another one ends if there are too many."""
        if len(self._strangers) + len(self._known) >= self._most:
            oldest = next(iter(self._strangers or self._known))
            self.remove(oldest)
            oldest.close()
        self._strangers[stream] = None

    def admit(self, stream: IOStream | None) -> None:
        """Note that somebody who may come in has asked over one."""
        if stream is not None and (stream in self._strangers or stream in self._known):
            self.remove(stream)
            self._known[stream] = None

    def remove(self, stream: IOStream) -> None:
        """Note that one has ended, or has become the socket of a page, which is counted as such."""
        self._strangers.pop(stream, None)
        self._known.pop(stream, None)


class LimitedServer(HTTPServer):
    """Tornado's server, with so many connections at once.

    Args:
        application: What answers.
        connections: Its connections.
        options: What Tornado's server takes.
    """

    def initialize(self, application: Any, connections: Connections, **options: Any) -> None:  # type: ignore[override]
        """See Tornado."""
        super().initialize(application, **options)
        self._counted = connections

    def handle_stream(self, stream: IOStream, address: tuple[Any, ...]) -> None:
        """See Tornado: a connection has come."""
        self._counted.add(stream)
        super().handle_stream(stream, address)

    def on_close(self, server_conn: object) -> None:
        """See Tornado: a connection answers no request any more."""
        self._counted.remove(server_conn.stream)  # type: ignore[attr-defined]
        super().on_close(server_conn)


def stream_of(request: HTTPServerRequest) -> IOStream | None:
    """Return the connection over which a request came."""
    return getattr(request.server_connection, "stream", None)
