"""Who may talk to the server, and what its pages may do.

Every request, of a page, a file or the WebSocket, passes `Doorkeeper.admit` before any handler sees it:
the Host must be one of ours (a name that was re-bound to 127.0.0.1 is not), no other site may have sent it
(Sec-Fetch-Site, Origin), the path must be one that the server has, and the cookie must be that of this start. The
cookie is given for the token in the URL that the server prints, or for the password. Every answer carries a
Content-Security-Policy.

What a cookie cannot do: browsers send it to every port of a host, so another server on this machine that the person
visits can read it. Jupyter's cookies have the same weakness."""

from __future__ import annotations

import asyncio
import hmac
import re
import secrets
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from html import escape
from typing import Any
from urllib.parse import urlencode, urlsplit

from tornado.httputil import HTTPHeaders, HTTPServerRequest
from tornado.web import Application, OutputTransform, RequestHandler

from explorer.serving import logs
from explorer.serving.attempts import WAIT_S, Attempts
from explorer.storage.loopback import ip_address, is_loopback

OAUTH_ANSWER = ("code", "state", "scope", "iss", "session_state", "error", "error_description")
LOOPBACK = frozenset({"localhost", "127.0.0.1", "[::1]", "::1"})
"""Host names by which a browser on this machine addresses it."""
OWN_SITES = ("same-origin", "none")
"""Sec-Fetch-Site of our own pages, and of what a person types or opens from outside the browser."""
MOST_BYTES = 1 << 14
"""Of a request's body: the only one that a page sends holds a password."""
MOST_MESSAGE = 1 << 20
"""Bytes of one message of a WebSocket, or of a program."""
FOREIGN = (
    "This request came from another site, which may not open tables here. "
    "If you followed a link and trust it: click into the address bar and press Enter."
)
NO_BEARER = "Send the token that the server printed, as the header Authorization: Bearer TOKEN."
NO_TOKEN = "This server belongs to who started it: open the URL, with its token, that the server printed."
FOR_LOOPBACK = (
    "Only this machine is served, since nobody can log in: "
    "set ICEDIVE_PASSWORD and start the server anew to serve others."
)
POLICY = (
    # One script of ours, from this server: no inline script, handler, javascript: URL or eval runs.
    "script-src 'self'",
    # Styles of single elements are set by our script and by pictures of ours.
    "style-src 'self' 'unsafe-inline'",
    "default-src 'self'",
    "img-src 'self' data: blob:",
    "font-src 'self'",
    "connect-src 'self' ws://{host} wss://{host}",
    "worker-src 'none'",
    "frame-src 'none'",
    "object-src 'none'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'self'",
)
PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Iceberg metadata explorer</title>
<meta name="viewport" content="width=device-width"><style>
body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 30em; margin: 15vh auto; padding: 0 1em; color: #222 }}
input, button {{ font: inherit; padding: .4em .7em }}</style></head>
<body><h1>Iceberg metadata explorer</h1><p>{text}</p>{form}</body></html>"""
FORM = (
    '<form method="post"><label>Password <input type="password" name="password" autocomplete="current-password" '
    "autofocus required></label> <button>Log in</button></form>"
)

HandlerWithOptions = tuple[type[RequestHandler], dict[str, Any]]


def named_host(request: HTTPServerRequest) -> str:
    """Return the Host of a request as a policy may name it."""
    return request.host if re.fullmatch(r"[\w.:\[\]-]+", request.host) else "localhost"


class Headers(OutputTransform):
    """Says on every answer what a page may do: nothing but what POLICY allows."""

    def __init__(self, request: HTTPServerRequest) -> None:
        self.host = named_host(request)

    def policy(self) -> str:
        """The Content-Security-Policy."""
        return "; ".join(POLICY).format(host=self.host)

    def transform_first_chunk(
        self, status_code: int, headers: HTTPHeaders, chunk: bytes, finishing: bool
    ) -> tuple[int, HTTPHeaders, bytes]:
        """See Tornado."""
        headers["Content-Security-Policy"] = self.policy()
        headers["X-Content-Type-Options"] = "nosniff"
        headers["X-Frame-Options"] = "SAMEORIGIN"
        headers["Referrer-Policy"] = "same-origin"  # with no-referrer, the login form has the Origin `null`
        headers["Cross-Origin-Resource-Policy"] = "same-origin"
        if headers.get("Content-Type", "").startswith("text/html"):
            headers["Cache-Control"] = "no-store"
        return status_code, headers, chunk


class NonceHeaders(Headers):
    """Also marks our own scripts, where pages start by inline ones: their `policy_parts` have a place for the nonce. No
    text from outside is in such a page's HTML but as JSON that has no < in it."""

    policy_parts: Sequence[str] = ()

    def policy(self) -> str:
        """The policy, with a nonce of this answer."""
        self.nonce = secrets.token_urlsafe(16)
        return "; ".join(self.policy_parts).format(nonce=self.nonce, host=self.host)

    def transform_first_chunk(
        self, status_code: int, headers: HTTPHeaders, chunk: bytes, finishing: bool
    ) -> tuple[int, HTTPHeaders, bytes]:
        """See Tornado."""
        status_code, headers, chunk = super().transform_first_chunk(status_code, headers, chunk, finishing)
        self.is_page = headers.get("Content-Type", "").startswith("text/html")
        chunk = self.transform_chunk(chunk, finishing)
        if self.is_page and finishing:
            headers["Content-Length"] = str(len(chunk))
        return status_code, headers, chunk

    def transform_chunk(self, chunk: bytes, finishing: bool) -> bytes:
        """With marks, where it is of a page; no part of one ends within a tag."""
        return re.sub(rb"<script\b", b'<script nonce="' + self.nonce.encode() + b'"', chunk) if self.is_page else chunk


class Doorkeeper:
    """A door of one server. `hosts` are the names it goes by. Without a password only loopback is served, by token.
    With `oauth` the application signs people in, and no cookie of ours is needed. `open` are pages that
    are answered without any of that. `secure`: browsers come by https only, whatever a request says. `programs` are
    paths that programs call: they have no cookie, and send the token with each request."""

    def __init__(
        self, hosts: Collection[str] = (), password: str = "", oauth: bool = False,
        open: Mapping[str, type[RequestHandler]] | None = None, secure: bool = False, programs: Collection[str] = (),
    ) -> None:  # fmt: skip
        self.hosts = {*LOOPBACK, *(host.lower() for host in hosts)}
        self.password, self.oauth, self.open, self.secure = password, oauth, open or {}, secure
        self.programs = programs
        self.token = "" if password or oauth else secrets.token_urlsafe(32)
        self.cookie = secrets.token_urlsafe(32)
        self.attempts = Attempts()

    headers: type[OutputTransform] = Headers
    """Says on every answer what a page may do."""

    def prepare(self, application: Application) -> None:
        """Set what an application says on every answer, and how much it takes."""
        application.transforms.append(self.headers)
        application.settings["websocket_max_message_size"] = MOST_MESSAGE
        application.settings["serve_traceback"] = False
        logs.guard()

    def admit(self, application: Any, request: HTTPServerRequest) -> Any:
        """Return what answers a request in place of the application; None lets it through. The application has a
        `prefix`, and the paths of its documents as `app_paths`."""
        most = MOST_MESSAGE if self._is_for_programs(application, request) else MOST_BYTES
        request.connection.set_max_body_size(most)  # type: ignore[union-attr]
        answer = self._answer(application, request)
        if answer is None:
            return None
        handler, options = answer
        return application.get_handler_delegate(request, handler, options)

    def url(self, base: str) -> str:
        """What to print: the base, and the token if there is one."""
        return f"{base}?{urlencode({'token': self.token})}" if self.token else base

    def _answer(self, application: Any, request: HTTPServerRequest) -> HandlerWithOptions | None:
        """A handler of ours and its options; None lets the request through."""
        local, port = _local(request)
        path = request.path.rstrip("/")
        known = self.password or self.oauth or self._is_host(request.host_name.lower())  # probes ask by address
        asks = request.method in ("GET", "HEAD") and known
        if asks and (handler := self.open.get(path.removeprefix(application.prefix))):
            return handler, {}
        if not self.password and not self.oauth and not is_loopback(local):
            return Plain, {"status": 403, "text": FOR_LOOPBACK}
        if not self._is_host(request.host_name.lower()):
            return Plain, {"status": 403, "text": "This server does not go by that name."}
        if application.prefix and _claims(request):
            return Plain, {"status": 400, "text": "This request says itself from where it comes."}
        came_back = (self.oauth or self.password) and _came_back(request, application.prefix)
        if not came_back and is_foreign(request):
            return Plain, {"status": 403, "text": FOREIGN}
        if self._is_for_programs(application, request):
            return None if self._has_token(request) else (Plain, {"status": 401, "text": NO_BEARER})
        documents = {f"{application.prefix}{path}".rstrip("/") for path in ("/", *application.app_paths)}
        login = self.oauth and path.removeprefix(application.prefix) in ("/login", "/logout")
        if path not in documents and not _is_part(path, documents) and not login:
            return Plain, {"status": 404, "text": "There is no such page."}
        name = f"icedive-{port}"
        given = request.cookies.get(name)
        if self.oauth or (given is not None and _equal(given.value, self.cookie)):
            # Bokeh would take a session's id from the request: whoever gave it to a person would share their session
            chosen = {"bokeh-session-id", "bokeh-token"} & request.arguments.keys()
            if chosen or "Bokeh-Session-Id" in request.headers or (request.method != "GET" and path in documents):
                return Plain, {"status": 403, "text": "This request has something that the page never asks for."}
            request.headers.pop("Origin", None)  # looked at above, and held to more than Bokeh's list of origins
            return None
        if self.password and path in documents:
            return Login, {"access": self, "cookie": name, "path": application.prefix}
        token = request.query_arguments.get("token", [b""])[-1].decode(errors="replace")
        if self.token and path in documents and _equal(token, self.token):
            return Enter, {"access": self, "cookie": name, "path": application.prefix}
        return Plain, {"status": 401, "text": NO_TOKEN}

    def _is_for_programs(self, application: Any, request: HTTPServerRequest) -> bool:
        return request.path.removeprefix(application.prefix) in self.programs

    def _has_token(self, request: HTTPServerRequest) -> bool:
        scheme, _, given = request.headers.get("Authorization", "").partition(" ")
        return bool(self.token) and scheme.lower() == "bearer" and _equal(given.strip(), self.token)

    def _is_host(self, name: str) -> bool:
        # an address is no name that could be re-bound: where others are served, any of this machine's will do
        return name in self.hosts or (bool(self.password or self.oauth) and ip_address(name) is not None)


def _claims(request: HTTPServerRequest) -> bool:
    """Whether a request has headers that win over those that a proxy sets, and say something else: Tornado takes
    X-Real-Ip before X-Forwarded-For, and X-Scheme before X-Forwarded-Proto, and a proxy lets a visitor's pass."""
    headers = request.headers
    for claimed, told in (("X-Real-Ip", "X-Forwarded-For"), ("X-Scheme", "X-Forwarded-Proto")):
        if claimed in headers and headers[claimed].strip() != headers.get(told, "").split(",")[-1].strip():
            return True
    return False


class Plain(RequestHandler):
    """A page of one sentence of ours, whatever was asked for."""

    def initialize(self, status: int, text: str) -> None:
        """With an HTTP status."""
        self.status, self.text = status, text

    def prepare(self) -> None:
        """The whole answer."""
        _page(self, self.status, self.text)


class Door(RequestHandler):
    """Gives a cookie to who may come in."""

    def initialize(self, access: Doorkeeper, cookie: str, path: str) -> None:
        """With the name of the cookie, and the path that it is for: another server behind the same proxy may listen on
        a port of the same number."""
        self.access, self.name, self.path = access, cookie, path or "/"

    def let_in(self) -> None:
        """With the cookie of this process."""
        secure = self.access.secure or self.request.protocol == "https"
        self.set_cookie(
            self.name, self.access.cookie, path=self.path, httponly=True, samesite="Strict", secure=secure
        )  # fmt: skip


class Enter(Door):
    """Takes the token out of the address bar and gives the cookie for it."""

    def get(self) -> None:
        """To the same page without the token."""
        self.let_in()
        rest = [(k, v) for k, values in self.request.query_arguments.items() if k != "token" for v in values]
        self.redirect(self.request.path + ("?" + urlencode(rest) if rest else ""))


class Login(Door):
    """Asks for the password; nothing of it comes from elsewhere. The right one is let in at once, however many wrong
    ones wait for their answers."""

    def prepare(self) -> None:
        """See Tornado."""
        self._gone = asyncio.Event()

    def on_connection_close(self) -> None:
        """See Tornado."""
        self._gone.set()

    def get(self) -> None:
        """The form, which posts to the page that was asked for."""
        _page(self, 401, "Log in to see this page.", FORM)

    async def post(self) -> None:
        """To that page, if the password is right."""
        if not self.access.attempts.take(self.request.remote_ip or ""):
            _page(self, 429, "Too many attempts. Try again in a minute.", FORM)
            return
        if not _equal(self.get_body_argument("password", "", strip=False), self.access.password):
            with suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self._gone.wait(), WAIT_S)
                return  # nobody is there to be answered
            _page(self, 401, "That is not the password.", FORM)
            return
        self.let_in()
        self.redirect(self.request.uri or "/", status=303)


def _local(request: HTTPServerRequest) -> tuple[str, int]:
    """Address and port of this machine's end of the connection; neither for a Unix socket, or where who asked is
    gone."""
    end = request.connection.stream.socket  # type: ignore[union-attr]
    name = end and end.getsockname()
    return name[:2] if isinstance(name, tuple) else ("", 0)


def is_foreign(request: HTTPServerRequest) -> bool:
    """Whether a page of another site, or a frame that is not in one of ours, sent the request. Where a browser says
    nothing (plain HTTP to another machine), SameSite=Strict keeps the cookie from it."""
    headers = request.headers
    site = headers.get("Sec-Fetch-Site", "none")
    if site not in OWN_SITES:
        return True
    # a page of ours may be in a frame of one, and Chromium sends "empty" for a link that saves a file
    within = ("document", "iframe", "empty") if site == "same-origin" else ("document",)
    if headers.get("Sec-Fetch-Mode") == "navigate" and headers.get("Sec-Fetch-Dest", "document") not in within:
        return True
    origin = headers.get("Origin")
    try:
        return origin is not None and urlsplit(origin).netloc.lower() != request.host.lower()
    except ValueError:  # no URL at all
        return True


def _came_back(request: HTTPServerRequest, prefix: str) -> bool:
    """Whether somebody may have been sent here by who told who they are, such as a JupyterHub: a page without a table
    to open, or with the answer to Panel's own question. (A cookie comes along only from the same site.)"""
    path = request.path.rstrip("/").removeprefix(prefix)
    navigates = request.headers.get("Sec-Fetch-Dest", "document") == "document" and request.method == "GET"
    return navigates and path in ("", "/login") and request.query_arguments.keys() <= {*OAUTH_ANSWER, "next"}


def _is_part(path: str, documents: set[str]) -> bool:
    """Whether a path is the socket of a page, or one of the files that come with it."""
    own = ("ws", "download", "favicon.ico")
    return any(path in {f"{d}/{name}" for name in own} or path.startswith(f"{d}/static/") for d in documents)


def _equal(given: str, expected: str) -> bool:
    return hmac.compare_digest(given.encode(), expected.encode())


def _page(handler: RequestHandler, status: int, text: str, form: str = "") -> None:
    handler.set_status(status)
    handler.finish(PAGE.format(text=escape(text), form=form))
