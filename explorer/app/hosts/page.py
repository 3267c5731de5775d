"""The page of `icedive serve`: Tornado handlers behind the door of serving.access. Nothing here imports Panel."""

from __future__ import annotations

import asyncio
import gzip
import json
import logging
import secrets
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from html import escape
from typing import Any, BinaryIO, ClassVar, Protocol
from urllib.parse import urlencode

from tornado.httputil import HTTPServerRequest
from tornado.iostream import StreamClosedError
from tornado.web import Application, RequestHandler
from tornado.websocket import WebSocketClosedError, WebSocketHandler

from explorer.app.assets import asset
from explorer.app.downloads import TYPES as FILE_TYPES
from explorer.app.downloads import file_name
from explorer.app.protocol import Ask, BadMessage, parse, request_of
from explorer.app.rights import Rights
from explorer.app.session import Session
from explorer.errors import ExplorerError
from explorer.render.text import clean_lines
from explorer.serving.access import Doorkeeper
from explorer.serving.allowance import Inflow
from explorer.serving.connections import Connections, connection_limit, stream_of
from explorer.serving.open_pages import OpenPages, visitor_at
from explorer.spec.secrets.redaction import redact

log = logging.getLogger(__name__)
TITLE = "Iceberg metadata explorer"
PAGE = f"""<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(TITLE)}</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="icon" href="static/icon.svg">
<link rel="stylesheet" href="static/app.css"><script type="module" src="static/app.js"></script></head>
<body class="ice"><div id="app"><noscript>This page needs JavaScript. The command line answers the same
questions.</noscript></div></body></html>"""
TYPES = {
    "app.js": "text/javascript",
    "code-editor.js": "text/javascript",
    "app.css": "text/css",
    "icon.svg": "image/svg+xml",
    "licenses.txt": "text/plain; charset=utf-8",
}
"""The files that a page loads."""
OWNER = "icedive-owner"
"""The cookie by which a browser is known as the owner of its copies of teaching tables."""
POLICY_VIOLATION = 1008
"""What a WebSocket is closed with (RFC 6455, 7.4.1)."""
CHUNK = 256 << 10
"""Bytes of a file that are sent at a time."""
PATIENCE_S, SLOWEST = 60.0, 64 << 10
"""How long a browser may take for a file: so many seconds, and one more for so many bytes. Until then it keeps its
place among those that save, and the file its room on the disk."""
MOST_SAVES = 4
"""Files that are saved at once by one visitor; four times as many by all."""
MOST_UNSENT, MOST_UNSENT_TOGETHER = 64 << 20, 256 << 20
"""Characters of answers that wait for the pages of one visitor to take them; and for all pages, beyond which a visitor
may have an eighth."""


@cache
def _content(name: str, is_small: bool) -> bytes:
    """A file of the page as it is or `is_small`: compressed by gzip."""
    content = asset(name).encode()
    return gzip.compress(content, mtime=0) if is_small else content


class SignIn(Protocol):
    """Knows who somebody is."""

    settings: Mapping[str, Any]
    """Settings of the Tornado application that its pages belong to."""

    @property
    def routes(self) -> Sequence[tuple[str, type[RequestHandler]]]:
        """The pages on which people sign in and out."""

    async def user(self, handler: RequestHandler) -> str:
        """Return who asks; empty for somebody who has not signed in."""


class SignedIn(RequestHandler):
    """A handler for people who have signed in, where the server asks for it."""

    user = ""
    """Who asks, if the server knows it."""

    async def prepare(self) -> None:
        """See Tornado."""
        server = self.application
        if not isinstance(server, Server) or server.sign_in is None:
            return
        self.user = await server.sign_in.user(self)
        if not self.user:
            self._refuse(server)

    def _refuse(self, server: Server) -> None:
        """Answer somebody who has not signed in."""
        self.set_status(401)
        self.finish("Sign in first.")

    def _session(self, send: Callable[[str], None], rights: Rights) -> Session:
        address = self.request.remote_ip or ""
        owner = self.user or self.get_cookie(OWNER) or ""
        return Session(send, rights, self.user or address, visitor_at(address), owner)

    @property
    def _from(self) -> str:
        """Who asks, or else from where."""
        return self.user or visitor_at(self.request.remote_ip)


class PageHandler(SignedIn):
    """The page, which is the same for everybody: it asks for all else by its socket."""

    def get(self) -> None:
        """Send it; a browser that comes for the first time gets the name of an owner."""
        if not self.get_cookie(OWNER):
            path = f"{self.application.prefix}/" if isinstance(self.application, Server) else "/"
            secure = self.request.protocol == "https"
            self.set_cookie(
                OWNER, secrets.token_urlsafe(16), path=path, httponly=True, samesite="Strict", secure=secure
            )
        self.set_header("Content-Type", "text/html; charset=utf-8")
        self.finish(PAGE)

    def _refuse(self, server: Server) -> None:
        """Lead to the sign-in, which leads back."""
        self.redirect(f"{server.prefix}/login?{urlencode({'next': self.request.uri})}")


class FileHandler(SignedIn):
    """One of its files."""

    types: Mapping[str, str] = TYPES
    """The files that there are."""

    def get(self, name: str) -> None:
        """Send it; a browser asks again whether it has changed."""
        if name not in self.types:
            self.send_error(404)
            return
        self.set_header("Content-Type", self.types[name])
        self.set_header("Cache-Control", "no-cache")
        self.set_header("Vary", "Accept-Encoding")
        takes_gzip = "gzip" in self.request.headers.get("Accept-Encoding", "")
        if takes_gzip:
            self.set_header("Content-Encoding", "gzip")
        self.finish(_content(name, takes_gzip))


class DownloadHandler(SignedIn):
    """The answer to a question as a file."""

    def initialize(self, rights: Rights) -> None:
        """See Tornado."""
        self._rights = rights
        self._asked: Session | None = None

    _saves: ClassVar[Counter[str]] = Counter()
    """How many files are being made for each visitor."""

    async def get(self) -> None:
        """Send the file; what is wrong is said in a line of text."""
        visitor = self._from
        if self._saves[visitor] >= MOST_SAVES or self._saves.total() >= 4 * MOST_SAVES:
            self.set_status(429)
            self.finish("Other files are being saved: try again when they are.")
            return
        self._saves[visitor] += 1
        try:
            await self._save()
        finally:
            _leave(self._saves, visitor)
            if self._asked is not None:
                self._asked.close()

    async def _save(self) -> None:
        form = self.get_query_argument("format", "")
        try:
            arguments = parse(self.get_query_argument("arguments", "{}"))
            request = request_of({
                "type": "ask", "id": 1, "question": self.get_query_argument("question", ""), "arguments": arguments,
                "table": self.get_query_argument("table", ""), "catalog": self.get_query_argument("catalog", ""),
            })  # fmt: skip
            if form not in FILE_TYPES or not isinstance(request, Ask):
                raise BadMessage(f"a file is one of {', '.join(FILE_TYPES)}")
            self._asked = self._session(lambda _: None, self._rights)
            block = self.get_query_argument("block", "0")
            if not block.isdecimal() or len(block) > 4:
                raise BadMessage("block is the number of a list")
            task = self._asked.download(request, form, int(block))
            await asyncio.wait_for(asyncio.wrap_future(task.answer), None)  # what it raises is told, not logged
            file: BinaryIO = task.result()
        except (ExplorerError, ValueError) as error:
            self.set_status(400)
            self.set_header("Content-Type", "text/plain; charset=utf-8")
            self.finish(clean_lines(redact(str(error))))
            return
        self.set_header("Content-Type", FILE_TYPES[form])
        self.set_header("Content-Disposition", f'attachment; filename="{file_name(request, form)}"')
        self.set_header("Cache-Control", "no-store")
        until = time.monotonic() + PATIENCE_S
        with file, suppress(StreamClosedError):  # the browser is gone
            try:
                while chunk := file.read(CHUNK):
                    self.write(chunk)
                    await asyncio.wait_for(self.flush(), until - time.monotonic())
                    until += len(chunk) / SLOWEST
                await self.finish()
            except asyncio.TimeoutError:
                log.warning("a browser takes a file too slowly: its connection is closed")
                self.detach().close()

    def on_connection_close(self) -> None:
        """Nobody waits for it any more."""
        if self._asked is not None:
            self._asked.close()


class SocketHandler(SignedIn, WebSocketHandler):
    """The messages of one page."""

    _pages: ClassVar[OpenPages] = OpenPages()
    _unsent: ClassVar[Counter[str]] = Counter()
    """How many characters wait for the pages of each visitor to take them."""

    @classmethod
    def count(cls) -> int:
        """Return how many pages are open."""
        return len(cls._pages)

    def initialize(self, rights: Rights) -> None:
        """See Tornado."""
        self._rights = rights
        self._open_session: Session | None = None

    def check_origin(self, origin: str) -> bool:
        """The door has looked at it."""
        return True

    def get_compression_options(self) -> dict[str, Any]:
        """Compress what is sent, and take no more of what comes than what a message may have."""
        return {"compression_level": 1, "mem_level": 6}

    def open(self, *_: str, **__: str) -> None:
        """A page is there."""
        self._visitor = self._from
        self._inflow = Inflow(self._visitor)
        if not self._pages.add(self._visitor, self._end):
            self._end()
            return
        loop = asyncio.get_running_loop()

        def send(text: str) -> None:  # from any thread
            with suppress(RuntimeError):  # the server has ended
                loop.call_soon_threadsafe(lambda: loop.create_task(self._write(text)))

        self._open_session = self._session(send, self._rights)

    def _end(self) -> None:
        """There is no room for it."""
        self.close(POLICY_VIOLATION, "too many pages")

    async def _write(self, text: str) -> None:
        self._unsent[self._visitor] += len(text)
        try:
            own, most = self._unsent[self._visitor], MOST_UNSENT
            if own > (most if self._unsent.total() <= MOST_UNSENT_TOGETHER else most // 8):
                log.warning("a page does not take its answers: it is closed")
                self.close(POLICY_VIOLATION, "too slow")
                return
            with suppress(WebSocketClosedError):  # the page is gone
                await self.write_message(text)
        finally:
            _leave(self._unsent, self._visitor, len(text))

    async def on_message(self, message: str | bytes) -> None:
        """A request of the page, or something else, after which the connection is closed. Tornado takes no other
        message of the connection until this one is taken."""
        await self._inflow.wait(message)
        if self._open_session is None:  # it is closed
            return
        try:
            self._open_session.handle(message)
        except BadMessage as error:
            log.warning("a message of a page was refused: %s", error)
            self.close(POLICY_VIOLATION, "refused")

    def on_close(self) -> None:
        """The page is gone."""
        if self._open_session is not None:
            self._open_session.close()
            self._open_session = None
            self._pages.remove(self._visitor, self._end)


def _leave(counts: Counter[str], visitor: str, count: int = 1) -> None:
    """Count less for a visitor; one who has nothing any more is forgotten."""
    counts[visitor] -= count
    if counts[visitor] <= 0:
        del counts[visitor]


class Server(Application):
    """The page's server. Whatever is asked passes the door first.

    Args:
        access: The door.
        rights: What the pages' sessions may do.
        prefix: The path below which the page is served.
        sign_in: Knows who somebody is; None where the door is enough.
    """

    def __init__(self, access: Doorkeeper, rights: Rights, prefix: str = "", sign_in: SignIn | None = None) -> None:
        self.prefix, self.app_paths, self.sign_in = prefix, ("/",), sign_in
        self._door = access
        self.connections = Connections(connection_limit())
        routes: list[Any] = [
            (rf"{prefix}/", PageHandler),
            (rf"{prefix}/static/([\w.-]+)", FileHandler),
            (rf"{prefix}/ws", SocketHandler, {"rights": rights}),
            (rf"{prefix}/download", DownloadHandler, {"rights": rights}),
        ]
        if sign_in is not None:
            routes += [(f"{prefix}{path}", handler) for path, handler in sign_in.routes]
        settings = dict(sign_in.settings) if sign_in is not None else {}
        super().__init__(routes, **settings, websocket_ping_interval=20, log_function=_log_errors)
        access.prepare(self)

    def find_handler(self, request: HTTPServerRequest, **options: Any) -> Any:
        """See Tornado; the door first."""
        refused = self._door.admit(self, request)
        if refused is not None:
            return refused
        self.connections.admit(stream_of(request))
        return super().find_handler(request, **options)


def _log_errors(handler: RequestHandler) -> None:
    """An ordinary day logs nothing: what was refused is answered, and an error has its own line."""
    if handler.get_status() >= 500:
        log.error("%s %s: %d", handler.request.method, json.dumps(handler.request.path[:200]), handler.get_status())
