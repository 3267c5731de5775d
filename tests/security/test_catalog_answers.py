"""What a REST catalog's server answers: what it becomes in memory, pages of lists without an end, and headers that come
byte by byte."""

from __future__ import annotations

import contextlib
import gzip
import json
import threading
import time
import tracemalloc
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from explorer.errors import TableNotFound
from explorer.progress import Cancelled, Watch
from explorer.storage import limits
from explorer.storage.catalogs import answers, catalogs, deadlines, rest

DEEP = b'{"identifiers":' + b"[" * 200_000
DENSE = {
    "lists": (b'{"identifiers":[', b"[],", b"[]]}"),
    "objects": (b'{"identifiers":[', b"{},", b"{}]}"),
    "numbers": (b'{"identifiers":[', b"0,", b"0]}"),
    "unknown": (b'{"identifiers":[],"x":[', b'{"":0},', b"0]}"),
}


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, answer: Callable[[Handler], Any]) -> None:
        self.answer, self.asked, self.over = answer, 0, threading.Event()
        super().__init__(("127.0.0.1", 0), Handler)


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        self.server.asked += 1
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.path.startswith("/v1/config"):
            self.say({"defaults": {}, "overrides": {}})
        elif self.path.split("?")[0].endswith("/namespaces"):
            self.say({"namespaces": [] if "parent" in self.path else [["db"]]})
        else:
            with contextlib.suppress(OSError):  # who asked has gone
                self.server.answer(self)

    do_POST = do_GET

    def say(self, data: Any, status: int = 200) -> None:
        body = data if isinstance(data, bytes) else json.dumps(data).encode()
        self.send_response(status)
        if body[:2] == b"\x1f\x8b":
            self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        pass


@contextlib.contextmanager
def server(answer: Callable[[Handler], Any]) -> Iterator[tuple[Server, dict[str, str]]]:
    """A server that answers so to all but its configuration and namespaces, and the properties of its catalog."""
    serving = Server(answer)
    threading.Thread(target=serving.serve_forever, daemon=True).start()
    try:
        yield serving, {"type": "rest", "uri": f"http://127.0.0.1:{serving.server_address[1]}"}
    finally:
        serving.over.set()
        serving.shutdown()
        serving.server_close()


def listed(own: dict[str, str]) -> list[str]:
    return [table.identifier for table in catalogs.tables("mine", own)]


# -- what answers become ----------------------------------------------------------------------------------------------
@pytest.mark.parametrize("shape", DENSE)
def test_an_answer_is_measured_before_it_is_parsed(shape: str) -> None:
    begin, part, end = DENSE[shape]
    body = gzip.compress(begin + part * (48_000_000 // len(part)) + end, 1)
    with server(lambda request: request.say(body)) as (_, own):
        tracemalloc.start()
        try:
            with pytest.raises(TableNotFound, match="bytes as objects in memory; at most"):
                listed(own)
            assert tracemalloc.get_traced_memory()[1] < 256 << 20
        finally:
            tracemalloc.stop()


@pytest.mark.parametrize("shape", ["lists", "objects", "numbers"])
def test_mistakes_of_an_answer_are_no_objects(shape: str) -> None:
    """pyiceberg makes an object of each, and a text of all of them: gigabytes."""
    begin, part, end = DENSE[shape]
    body = begin + part * (1_000_000 // len(part)) + end
    with server(lambda request: request.say(body)) as (_, own):
        tracemalloc.start()
        try:
            with pytest.raises(TableNotFound, match="what is no table's name") as caught:
                listed(own)
            assert tracemalloc.get_traced_memory()[1] < 100 << 20
        finally:
            tracemalloc.stop()
    assert len(str(caught.value)) < 500


def test_an_answer_does_not_nest_deep() -> None:
    with server(lambda request: request.say(DEEP)) as (_, own), pytest.raises(TableNotFound, match="levels of nesting"):
        listed(own)


def test_an_error_is_short() -> None:
    with server(lambda request: request.say(b'{"error":"' + b"x" * 2_000_000 + b'"}', 500)) as (_, own):
        with pytest.raises(TableNotFound, match="its answer has more than 512 KiB") as caught:
            listed(own)
        assert len(str(caught.value)) < 500


def test_of_a_table_where_its_metadata_is_is_read_alone() -> None:
    """And not what pyiceberg would make of the metadata that comes along."""
    said = {"metadata-location": "s3://b/m.json", "metadata": {"snapshots": [0] * 1000}, "config": {}}
    with server(lambda request: request.say(said)) as (_, own):
        assert catalogs.pointer("mine", "db.t", own).metadata_location == "s3://b/m.json"
        said["metadata-location"] = {}
        with pytest.raises(TableNotFound, match="its answer says not where"):
            catalogs.pointer("mine", "db.t", own)


# -- lists ------------------------------------------------------------------------------------------------------------
def endless(request: Handler) -> None:
    """Always one page more."""
    name = f"t{request.server.asked}"
    request.say({"identifiers": [{"namespace": ["db"], "name": name}], "next-page-token": name})


def test_a_list_has_so_many_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rest, "PAGES", 20)
    with server(endless) as (serving, own):
        with pytest.raises(TableNotFound, match="has more than 20 pages"):
            listed(own)
        assert serving.asked < 30


@pytest.mark.parametrize(
    ("limit", "most", "told"),
    [("ALL_BYTES", 3000, "its answer has more than"), ("REQUESTS", 30, "it was asked 30 times already")],
)
def test_all_answers_of_a_connection_are_bounded(
    limit: str, most: int, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answers, limit, most)
    with server(endless) as (serving, own):
        with pytest.raises(TableNotFound, match=told):
            listed(own)
        assert serving.asked < 100


def test_a_list_has_so_many_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "NAMES", 50)
    with server(endless) as (_, own), pytest.raises(TableNotFound, match="it lists more than 50"):
        listed(own)


def test_a_list_ends_when_it_is_cancelled() -> None:
    watch = Watch()

    def answer(request: Handler) -> None:
        if request.server.asked == 20:
            watch.cancel()
        endless(request)

    with server(answer) as (serving, own), watch.listening():
        with pytest.raises(Cancelled):
            listed(own)
        assert serving.asked == 20


# -- time -------------------------------------------------------------------------------------------------------------
def drip(request: Handler) -> None:
    """A header without an end."""
    request.wfile.write(b"HTTP/1.1 200 OK\r\nX: ")
    while not request.server.over.wait(0.01):
        request.wfile.write(b"a")
        request.wfile.flush()


def go_on(request: Handler) -> None:
    """Asks who asked to go on, again and again."""
    while not request.server.over.wait(0.01):
        request.wfile.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        request.wfile.flush()


def say_nothing(request: Handler) -> None:
    request.server.over.wait(60)


def stop_in_the_body(request: Handler) -> None:
    request.send_response(200)
    request.send_header("Content-Length", "1000")
    request.end_headers()
    request.wfile.write(b"{")
    request.wfile.flush()
    request.server.over.wait(60)


WAYS = [drip, go_on, say_nothing, stop_in_the_body]


@pytest.mark.parametrize("way", WAYS)
def test_an_answer_that_does_not_come_is_given_up(
    way: Callable[[Handler], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deadlines, "SECONDS", 0.5)
    with server(way) as (_, own), pytest.raises(TableNotFound, match=r"takes more than 0\.5 s"):
        listed(own)
    assert not [thread for thread in threading.enumerate() if thread.name == "deadline"]


@pytest.mark.parametrize("way", WAYS)
def test_an_answer_that_nobody_waits_for_is_given_up(way: Callable[[Handler], None]) -> None:
    watch = Watch()

    def answer(request: Handler) -> None:
        threading.Timer(0.2, watch.cancel).start()
        way(request)

    with server(answer) as (_, own), watch.listening(), pytest.raises(Cancelled):
        listed(own)


@pytest.mark.parametrize("answer", ["long", "elsewhere", "a token"])
def test_a_server_of_tokens_has_the_same_limits(answer: str) -> None:
    """pyiceberg asks it beside its session, without any, and follows redirects."""
    asked: list[str] = []

    def post(request: Handler) -> None:
        asked.append(request.path)
        if answer == "long":
            request.say(b'{"access_token":"' + b"x" * 2_000_000 + b'"}')
        elif answer == "elsewhere":
            request.send_response(307)
            request.send_header("Location", "/elsewhere")
            request.send_header("Content-Length", "0")
            request.end_headers()
        elif request.path == "/token":
            request.say({"access_token": "hush", "expires_in": 60})
        else:
            request.say({"identifiers": [{"namespace": ["db"], "name": "t"}]})

    with server(post) as (_, own):
        settings = {"client_id": "me", "client_secret": "hush", "token_url": f"{own['uri']}/token"}
        own |= {"auth": {"type": "oauth2", "oauth2": settings}}  # type: ignore[dict-item]
        if answer == "a token":
            assert listed(own) == ["db.t"]
        else:
            told = "more than 512 KiB" if answer == "long" else "to another address"
            with pytest.raises(TableNotFound, match=told):
                listed(own)
        assert "/elsewhere" not in asked


def test_connections_are_used_again() -> None:
    """With the deadline of each answer its own."""
    Handler.protocol_version, before = "HTTP/1.1", Handler.protocol_version
    try:
        pages = {"n": 0}

        def three(request: Handler) -> None:
            pages["n"] += 1
            time.sleep(0.05)
            more = {"next-page-token": "more"} if pages["n"] < 3 else {}
            request.say({"identifiers": [{"namespace": ["db"], "name": f"t{pages['n']}"}], **more})

        with server(three) as (_, own):
            assert listed(own) == ["db.t1", "db.t2", "db.t3"]
    finally:
        Handler.protocol_version = before
