"""The page's server: who comes in, what a page may do, what its messages and downloads may say."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Awaitable, Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import pytest
from tornado.httpclient import AsyncHTTPClient, HTTPClientError, HTTPRequest, HTTPResponse
from tornado.httpserver import HTTPServer
from tornado.web import create_signed_value
from tornado.websocket import WebSocketClientConnection, WebSocketClosedError, websocket_connect

from explorer.app.hosts import page
from explorer.app.hosts.oauth import VARIABLES, OAuthSignIn
from explorer.app.hosts.page import TYPES, Server, SocketHandler
from explorer.app.protocol import MOST_CHARACTERS
from explorer.app.rights import Rights
from explorer.serving import places
from explorer.serving.access import Doorkeeper
from explorer.serving.monitoring import HANDLERS
from tests.security.web_cases import MARKUP, REQUESTS
from tests.support.helpers import run_apart

Test = Callable[["Visitor"], Awaitable[None]]


class Visitor:
    """Somebody who talks to the server, with the cookie of its start."""

    def __init__(self, door: Doorkeeper, port: int, prefix: str = "") -> None:
        self.url, self.door, self.prefix = f"http://localhost:{port}", door, prefix
        self.cookie = f"icedive-{port}={door.cookie}"

    async def get(self, path: str, **headers: str) -> HTTPResponse:
        """An answer to a GET, whatever its status."""
        given = {"Cookie": self.cookie, **{name.replace("_", "-"): text for name, text in headers.items()}}
        request = HTTPRequest(f"{self.url}{path}", headers=given, follow_redirects=False)
        return await AsyncHTTPClient(force_instance=True).fetch(request, raise_error=False)

    async def connect(self, **headers: str) -> WebSocketClientConnection:
        """A socket of a page."""
        given = {"Cookie": self.cookie, "Origin": self.url, **headers}
        address = f"{self.url.replace('http', 'ws', 1)}{self.prefix}/ws"
        return await websocket_connect(HTTPRequest(address, headers=given), max_message_size=1 << 28)


async def ask(connection: WebSocketClientConnection, **message: Any) -> dict[str, Any]:
    await connection.write_message(json.dumps({"id": 1, **message}))
    while True:
        text = await connection.read_message()
        assert text is not None, "the connection was closed"
        answer: dict[str, Any] = json.loads(text)
        if answer["type"] != "progress":
            return answer


@pytest.fixture
def listening() -> Iterator[socket.socket]:
    with closing(socket.create_server(("127.0.0.1", 0))) as own:
        own.setblocking(False)
        yield own


def visit(listening: socket.socket, test: Test, rights: Rights | None = None, **options: Any) -> None:
    """Run a test against a server of its own."""
    prefix, sign_in = options.pop("prefix", ""), options.pop("sign_in", None)

    async def run() -> None:
        door = Doorkeeper(open=HANDLERS, oauth=sign_in is not None, **options)
        server = HTTPServer(Server(door, rights or Rights(), prefix, sign_in))
        server.add_socket(listening)
        try:
            await asyncio.wait_for(test(Visitor(door, listening.getsockname()[1], prefix)), 60)
        finally:
            server.stop()

    run_apart(run)


def test_nothing_comes_without_the_cookie(listening: socket.socket) -> None:
    async def test(visitor: Visitor) -> None:
        paths = ("/", "/ws", "/download?question=plan", *(f"/static/{name}" for name in TYPES))
        for path in paths:
            answer = await visitor.get(path, Cookie="")
            assert answer.code == 401, path
            assert "Set-Cookie" not in answer.headers
        with pytest.raises(HTTPClientError):
            await visitor.connect(Cookie="icedive-1=wrong")
        entered = await visitor.get(f"/?token={visitor.door.token}&table=demo.t", Cookie="")
        assert (entered.code, entered.headers["Location"]) == (302, "/?table=demo.t")
        assert all(part in entered.headers["Set-Cookie"] for part in ("HttpOnly", "SameSite=Strict"))
        assert (await visitor.get("/")).code == 200

    visit(listening, test)


@pytest.mark.parametrize(("headers", "path"), [case[1:] for case in REQUESTS], ids=[case[0] for case in REQUESTS])
def test_refused_though_the_cookie_is_right(listening: socket.socket, headers: dict[str, str], path: str) -> None:
    async def test(visitor: Visitor) -> None:
        answer = await visitor.get(path, **headers)
        assert 400 <= answer.code < 500

    visit(listening, test)


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://localhost:1"])
def test_no_other_site_connects(listening: socket.socket, origin: str) -> None:
    async def test(visitor: Visitor) -> None:
        with pytest.raises(HTTPClientError):
            await visitor.connect(Origin=origin)

    visit(listening, test)


def test_a_page_runs_one_script_of_ours(listening: socket.socket) -> None:
    async def test(visitor: Visitor) -> None:
        for path in ("/", "/static/app.js", "/nothing", f"/?{urlencode({'table': MARKUP[0].payload})}"):
            answer = await visitor.get(path)
            policy = dict(part.strip().split(" ", 1) for part in answer.headers["Content-Security-Policy"].split(";"))
            assert policy["script-src"] == "'self'"
            assert policy["default-src"] == "'self'"
            assert policy["frame-src"] == policy["object-src"] == policy["base-uri"] == "'none'"
            assert answer.headers["X-Content-Type-Options"] == "nosniff"
            assert MARKUP[0].payload.encode() not in answer.body
        body = (await visitor.get("/")).body.decode()
        assert body.count("<script") == 1
        assert "onerror" not in body

    visit(listening, test)


@pytest.mark.parametrize("name", ["../page.py", "..%2fpage.py", "sources.sha256", "app.js.map", "", "x" * 5000])
def test_only_listed_files_are_sent(listening: socket.socket, name: str) -> None:
    async def test(visitor: Visitor) -> None:
        assert (await visitor.get(f"/static/{name}")).code in (400, 404)

    visit(listening, test)


@pytest.mark.parametrize(
    "message",
    [
        b"\x00\x01",
        "{",
        "[]",
        '{"type":"hello"}',
        "x" * (MOST_CHARACTERS + 1),
        '{"id":' + "[" * 90_000,
        '{"id":[' + "[],[[]]," * 60_000 + "1]}",
    ],
    ids=["binary", "half", "list", "no id", "long", "deep", "many"],
)
def test_what_is_no_message_ends_the_connection(listening: socket.socket, message: bytes | str) -> None:
    async def test(visitor: Visitor) -> None:
        connection = await visitor.connect()
        await connection.write_message(message, binary=isinstance(message, bytes))
        assert await connection.read_message() is None
        other = await visitor.connect()
        assert (await ask(other, type="hello"))["type"] == "answer"

    visit(listening, test)


def test_a_page_that_takes_no_answers_is_closed(
    listening: socket.socket, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(page, "MOST_UNSENT", 100_000)

    async def test(visitor: Visitor) -> None:
        connection = await visitor.connect()
        for number in range(400):  # each answer has sixty kilobytes, and none is read
            with suppress(WebSocketClosedError):
                await connection.write_message(json.dumps({"type": "hello", "id": number + 1}))
            await asyncio.sleep(0)
            if "does not take its answers" in caplog.text:
                break
            if number % 20 == 19:
                await asyncio.sleep(0.05)
        assert "does not take its answers" in caplog.text

    visit(listening, test)


def test_pages_that_are_closed_are_forgotten(listening: socket.socket) -> None:
    async def test(visitor: Visitor) -> None:
        before = SocketHandler.count()
        connections = [await visitor.connect() for _ in range(5)]
        await ask(connections[-1], type="hello")
        assert SocketHandler.count() == before + 5
        for connection in connections:
            connection.close()
        while SocketHandler.count() > before:
            await asyncio.sleep(0.02)

    visit(listening, test)


def test_a_shared_server_opens_no_other_paths(
    listening: socket.socket, table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(places.VARIABLE, json.dumps([str(tmp_path)]))

    async def test(visitor: Visitor) -> None:
        connection = await visitor.connect()
        for kind in ("open", "graph", "facts"):
            refused = await ask(connection, type=kind, table=str(table))
            assert "is not below any of them" in refused["text"], kind
        asked = [
            {"type": "ask", "question": "doctor", "table": str(table)},
            {"type": "ask", "question": "catalog pointer", "table": str(table)},
            {"type": "rows", "question": "inspect files", "table": str(table), "block": 0},
            {"type": "offer", "kind": "columns", "table": str(table)},
            {"type": "ask", "question": "plan", "table": "demo.three_inserts",
             "arguments": {"where": "fruit = 'x'", "measure": True, "compare_with": [f"{table}@main"]}},
            {"type": "ask", "question": "check copy", "table": "demo.three_inserts",
             "arguments": {"other": str(table)}},
        ]  # fmt: skip
        for message in asked:
            refused = await ask(connection, **message)
            assert refused["type"] == "error", message
            assert "is not below any of them" in refused["text"] or "sandbox" in refused["text"], refused
        moved = await ask(connection, type="open", table="demo.three_inserts", moves=["/a=/b"])
        assert "follows no tables that have moved" in moved["text"]
        query = urlencode({"question": "inspect files", "table": str(table), "format": "csv"})
        answer = await visitor.get(f"/download?{query}")
        assert (answer.code, b"is not below any of them" in answer.body) == (400, True)

    visit(listening, test)


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ({"question": "nothing", "format": "csv"}, "there is no question"),
        ({"question": "glossary", "format": "exe"}, "a file is one of"),
        ({"question": "glossary", "format": "csv", "arguments": "["}, ""),
        ({"question": "glossary", "format": "csv", "arguments": "[]"}, "values of other types"),
        ({"question": "glossary", "format": "svg"}, "no picture"),
        (
            {"question": "lab copy", "format": "json", "arguments": '{"teaching_table":"x"}'},
            "the question would write or run again",
        ),
        ({"question": "glossary", "format": "json", "arguments": "[" * 5_000}, "nested at most"),
        ({"question": "glossary", "format": "json", "block": "x"}, ""),
        ({"question": "glossary", "format": "csv", "block": "-9"}, ""),
        ({"question": "scan estimate", "format": "json", "arguments": '{"write":true}'}, "would write or run again"),
        ({"question": "plan", "format": "json", "arguments": '{"measure":true}'}, "would write or run again"),
    ],
)
def test_downloads_say_what_is_wrong(listening: socket.socket, query: dict[str, str], text: str) -> None:
    async def test(visitor: Visitor) -> None:
        answer = await visitor.get(f"/download?{urlencode(query)}")
        assert answer.code == 400
        assert answer.headers["Content-Type"].startswith("text/plain")
        assert text in answer.body.decode()

    visit(listening, test)


def test_a_download_is_a_file_with_a_plain_name(listening: socket.socket, table: Path) -> None:
    async def test(visitor: Visitor) -> None:
        query = urlencode({"question": "inspect files", "table": str(table), "format": "csv"})
        answer = await visitor.get(f"/download?{query}")
        assert answer.code == 200
        name = answer.headers["Content-Disposition"].partition("filename=")[2].strip('"')
        assert name.endswith("-inspect-files.csv")
        assert name.replace("-", "").replace(".", "").isalnum()
        assert answer.body.count(b"\n") == 4

    visit(listening, test)


def test_below_a_prefix_all_is_below_it(listening: socket.socket) -> None:
    async def test(visitor: Visitor) -> None:
        assert (await visitor.get("/x/")).code == 200
        assert (await visitor.get("/x/static/app.js")).code == 200
        assert (await visitor.get("/static/app.js")).code == 404
        assert (await visitor.get("/x/health", Cookie="")).code == 200
        connection = await visitor.connect()
        assert (await ask(connection, type="hello"))["type"] == "answer"

    visit(listening, test, prefix="/x")


def test_with_a_password_a_form_comes_first(listening: socket.socket) -> None:
    async def test(visitor: Visitor) -> None:
        answer = await visitor.get("/", Cookie="")
        assert answer.code == 401
        assert b'type="password"' in answer.body

    visit(listening, test, password="right one")


@pytest.mark.parametrize("prefix", ["", "/x"])
def test_nobody_passes_who_has_not_signed_in(
    prefix: str, listening: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret, own = "c" * 32, "o" * 32
    for name in VARIABLES:
        monkeypatch.setenv(name, secret if "COOKIE" in name else "generic")

    def cookies(signed_with: str) -> str:
        return "; ".join(
            f"{name}={create_signed_value(signed_with, name, value).decode()}"
            for name, value in (("user", "ada"), ("access_token", "t"))
        )

    async def test(visitor: Visitor) -> None:
        for given in ("", "user=ada", "is_guest=1", cookies(own)):
            answer = await visitor.get(f"{prefix}/?table=t", Cookie=given)
            login = f"{prefix}/login?next={quote(f'{prefix}/?table=t', '')}"
            assert (answer.code, answer.headers["Location"]) == (302, login)
            for path in ("/ws", "/download?question=plan", "/static/app.js"):
                assert (await visitor.get(f"{prefix}{path}", Cookie=given)).code == 401, (path, given)
            with pytest.raises(HTTPClientError):
                await visitor.connect(Cookie=given)
        assert (await visitor.get(f"{prefix}/", Cookie=cookies(secret))).code == 200
        connection = await visitor.connect(Cookie=cookies(secret))
        assert (await ask(connection, type="hello"))["type"] == "answer"
        connection.close()
        assert (await visitor.get(f"{prefix}/", Cookie=cookies(secret), Host="evil.example")).code == 403

    visit(listening, test, prefix=prefix, sign_in=OAuthSignIn())
