"""A REST catalog's server that says what it may not: it names no code, and gets no secret that is not its own."""

from __future__ import annotations

import contextlib
import importlib
import json
import socket
import threading
import time
import tracemalloc
import zlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

import pytest
import requests

import explorer
from explorer.errors import ExplorerError, NotSupported, TableNotFound, UnreadableFile
from explorer.spec.filters.expressions import Constant
from explorer.spec.scan.plan import PlannerAnswer
from explorer.storage.catalogs import catalogs, deadlines, rest_planning
from explorer.storage.catalogs.answers import AnswerTooLong
from explorer.storage.locate import Location
from explorer.storage.storage import Storage
from explorer.storage.stores import SIGNING_URL, combine
from tests.security.test_catalog_answers import WAYS
from tests.security.test_catalog_answers import server as answering
from tests.support import direct
from tests.support.small_tables import make_table, newest_metadata
from tests.support.view_files import sound

KEYS = {"s3.access-key-id": "mine", "s3.secret-access-key": "hush", "s3.session-token": "hush-hush"}


class Server(ThreadingHTTPServer):
    """Answers as it is told, and notes what it is asked, bodies too."""

    def __init__(self) -> None:
        self.config: dict[str, Any] = {"defaults": {}, "overrides": {}}
        self.table: dict[str, Any] | None = None
        self.lists: Callable[[str, dict[str, str]], Any] = lambda path, query: None
        self.asked: list[str] = []
        self.special: Callable[[Handler], bool] = lambda request: False
        super().__init__(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server_address[1]}"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
        self.server.asked.append(f"{self.path} {self.headers} {body}")
        url = urlsplit(self.path)
        if self.server.special(self):
            return
        if self.path.startswith("/v1/config"):
            self.answer(200, self.server.config)
        elif "oauth" in self.path:
            self.answer(200, {"access_token": "t", "token_type": "bearer", "expires_in": 60})
        elif self.path.endswith("/tables/t") and self.server.table is not None:
            self.answer(200, self.server.table)
        elif (listed := self.server.lists(url.path, dict(parse_qsl(url.query)))) is not None:
            self.answer(200, listed)
        else:
            self.answer(404, {"error": {"message": "not here", "type": "NoSuchTableException", "code": 404}})

    do_POST = do_GET

    def answer(self, status: int, data: Any) -> None:
        body = json.dumps(data).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        pass


def pour(pause: float = 0) -> Callable[[Handler], bool]:
    """Answers without an end, in JSON and zipped, with a pause after each part."""

    def poured(request: Handler) -> bool:
        request.send_response(200)
        request.send_header("Content-Encoding", "gzip")
        request.end_headers()
        zipped = zlib.compressobj(wbits=31)
        part = b'["' + b" " * (1 << 20) if not pause else b" "
        with contextlib.suppress(OSError):  # who asked has gone
            while True:
                request.wfile.write(zipped.compress(part) + zipped.flush(zlib.Z_SYNC_FLUSH))
                time.sleep(pause)
        return True

    return poured


def send_on(to: str, status: int) -> Callable[[Handler], bool]:
    """Redirects everything to another server."""

    def sent_on(request: Handler) -> bool:
        request.send_response(status)
        request.send_header("Location", f"{to}{request.path}")
        request.send_header("Content-Length", "0")
        request.end_headers()
        return True

    return sent_on


@pytest.fixture
def servers() -> Iterator[tuple[Server, Server]]:
    """The configured one, and another."""
    pair = (Server(), Server())
    for server in pair:
        threading.Thread(target=server.serve_forever, daemon=True).start()
    yield pair
    for server in pair:
        server.shutdown()


def own(server: Server) -> dict[str, str]:
    return {"type": "rest", "uri": server.url, "credential": "me:client-hush", **KEYS}


@pytest.mark.parametrize("part", ["defaults", "overrides"])
def test_a_server_names_no_code_and_no_other_server(
    part: str, servers: tuple[Server, Server], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server, other = servers
    canary = tmp_path / "canary"
    (tmp_path / "planted.py").write_text(f"open({str(canary)!r}, 'w')\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    server.config[part] = {
        "auth": {"type": "custom", "impl": "subprocess.Popen", "custom": {"args": ["touch", str(canary)]}},
        "py-io-impl": "planted.FileIO", "py-catalog-impl": "planted.Catalog", "uri": other.url,
        "oauth2-server-uri": f"{other.url}/oauth", "rest.sigv4-enabled": "true", "s3.proxy-uri": other.url,
        "s3.retry-strategy-impl": "planted.Retry", "s3.signer": "planted", "s3.signer.uri": other.url,
        "ssl": {"cabundle": "/etc/hostname"}, "gcs.service.host": other.url, "adls.account-host": other.url,
    }  # fmt: skip
    with pytest.raises(TableNotFound, match="no table"):
        catalogs.pointer("mine", "db.t", own(server))
    assert not canary.exists()
    assert other.asked == []
    given = catalogs.load("mine", own(server)).given  # type: ignore[attr-defined]
    assert given == {}


def test_what_a_server_vends_is_given_and_hidden(servers: tuple[Server, Server], tmp_path: Path) -> None:
    server, _ = servers
    location = newest_metadata(make_table(tmp_path))
    server.config["defaults"] = {"s3.region": "eu-central-1", "prefix": "p"}
    server.table = {
        "metadata-location": str(location), "metadata": json.loads(location.read_text()),
        "config": {"s3.access-key-id": "theirs", "s3.secret-access-key": "vended-hush", "py-io-impl": "os.system"},
    }  # fmt: skip
    server.table["metadata"]["properties"] |= {"s3.endpoint": "http://table.example", "s3.access-key-id": "the table's"}
    pointer = catalogs.pointer("mine", "db.t", own(server))
    assert pointer.storage == {
        "s3.region": "eu-central-1", "s3.access-key-id": "theirs", "s3.secret-access-key": "vended-hush",
    }  # fmt: skip
    assert "vended-hush" not in repr(pointer)
    server.table["config"] = {"s3.remote-signing-enabled": "true"}
    keyless = {k: v for k, v in own(server).items() if k not in KEYS}
    assert SIGNING_URL not in catalogs.pointer("mine", "db.t", keyless).storage  # of a local file nothing is signed
    server.table["metadata-location"] = "s3://bucket/t/metadata/v1.metadata.json"
    assert catalogs.pointer("mine", "db.t", keyless).storage[SIGNING_URL] == f"{own(server)['uri']}/v1/aws/s3/sign"
    assert SIGNING_URL not in catalogs.pointer("mine", "db.t", own(server)).storage


def test_a_servers_endpoint_gets_no_keys_of_the_user() -> None:
    theirs = combine({**KEYS, "s3.region": "here"}, {"s3.endpoint": "http://theirs.example"})
    assert theirs == {"s3.region": "here", "s3.endpoint": "http://theirs.example", "s3.anonymous": "true"}
    vended = {"s3.endpoint": "http://theirs.example", "s3.access-key-id": "a", "s3.secret-access-key": "b"}
    assert combine(KEYS, vended) == vended
    same = {**KEYS, "s3.endpoint": "http://mine.example"}
    assert combine(same, {"s3.endpoint": "http://mine.example"}) == same
    assert combine(same, {"s3.access-key-id": "new"})["s3.secret-access-key"] == "hush"


def test_other_accounts_of_the_environment_have_other_cached_files(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = set()
    for name, value in (("AWS_ACCESS_KEY_ID", "a"), ("AWS_ACCESS_KEY_ID", "b"), ("AWS_ENDPOINT_URL", "http://x")):
        monkeypatch.setenv(name, value)
        seen.add(Storage([]).identity)
    seen.add(Storage([], {}, {"s3.endpoint": "http://y"}).identity)
    assert len(seen) == 4


def test_an_account_that_a_server_names_gets_no_keys_of_ours(servers: tuple[Server, Server]) -> None:
    server, _ = servers
    azure = {"adls.account-name": "acc", "adls.account-key": "hush", "adls.token": "hush", "adls.sas-token": "hush"}
    for said in ({"adls.connection-string": "https://evil.example"}, {"adls.account-name": "theirs"}):
        server.config["overrides"] = said
        given = catalogs.load("mine", {**own(server), **azure}).given  # type: ignore[attr-defined]
        assert given == said
        assert "hush" not in str([v for k, v in combine(azure, given).items()])
    assert combine(azure, {"adls.account-name": "acc"})["adls.account-key"] == "hush"
    server.config["overrides"] = {"s3.region": "x@127.0.0.1:1/", "client.region": "eu-west-1"}
    given = catalogs.load("mine", own(server)).given  # type: ignore[attr-defined]
    assert given == {"client.region": "eu-west-1"}  # a region becomes part of a host's name


def test_requests_are_signed_with_ones_own_keys(servers: tuple[Server, Server]) -> None:
    server, _ = servers
    keys = {"client.access-key-id": "AKIDMINE", "client.secret-access-key": "hush"}
    signing = {"rest.sigv4-enabled": "true", "rest.signing-region": "eu-west-1", "rest.signing-name": "glue"}
    with pytest.raises(TableNotFound, match="no table"):
        catalogs.pointer("mine", "db.t", {"type": "rest", "uri": server.url, **keys, **signing})
    assert len(server.asked) > 1
    for request in server.asked:
        assert "AWS4-HMAC-SHA256 Credential=AKIDMINE/" in request
        assert "/eu-west-1/glue/aws4_request" in request
        assert "hush" not in request


def test_namespaces_are_nested_and_come_in_pages(servers: tuple[Server, Server]) -> None:
    server, _ = servers
    pages = {"": ([["a"], ["b"]], "2"), "2": ([["c"]], None)}
    spaces = {"a": [["a", "inner"]]}
    tables = {"c": {"": (["t1", "t2"], "next"), "next": (["t2", "t3"], None)}, "a\x1finner": {"": (["deep"], None)}}

    def lists(path: str, query: dict[str, str]) -> Any:
        token = query.get("pageToken", "")
        if path == "/v1/namespaces" and "parent" in query:
            return {"namespaces": spaces.get(query["parent"], [])}
        if path == "/v1/namespaces":
            listed, following = pages[token]
            return {"namespaces": listed, "next-page-token": following}
        if path.endswith("/tables"):
            space = unquote(path.split("/")[3])
            names, following = tables.get(space, {"": ([], None)})[token]
            named = [{"namespace": space.split("\x1f"), "name": name} for name in names]
            return {"identifiers": named, "next-page-token": following}
        return None

    server.lists = lists
    properties = {"type": "rest", "uri": server.url}
    listed = [table.identifier for table in catalogs.tables("mine", properties)]
    assert listed == ["a.inner.deep", "c.t1", "c.t2", "c.t3"]
    before = len(server.asked)
    with pytest.raises(TableNotFound, match=r"it has: c\.t3, c\.t2, c\.t1"):
        catalogs.pointer("mine", "c.t33", properties)
    with pytest.raises(TableNotFound, match="its namespaces: a, b, c"):
        catalogs.pointer("mine", "db.t", properties)
    assert len(server.asked) - before < 10


def test_a_server_that_does_not_answer_is_not_waited_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("explorer.storage.catalogs.answers.TIMEOUT_S", (0.5, 0.5))
    with socket.create_server(("127.0.0.1", 0)) as silent:
        began = time.monotonic()
        with pytest.raises(TableNotFound, match="timed out"):
            catalogs.load("mine", {"type": "rest", "uri": f"http://127.0.0.1:{silent.getsockname()[1]}"})
    assert time.monotonic() - began < 20


@pytest.mark.parametrize("part", ["/v1/config", "/tables/t", "/namespaces"])
def test_an_answer_without_an_end_is_cut_off(
    part: str, servers: tuple[Server, Server], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("explorer.storage.catalogs.answers.ANSWER_BYTES", 4 << 20)
    server, _ = servers
    server.lists = lambda path, query: {"namespaces": []}
    poured = pour()
    server.special = lambda request: part in request.path and poured(request)

    def ask() -> object:
        return (
            list(catalogs.tables("mine", own(server)))
            if part == "/namespaces"
            else catalogs.pointer("mine", "db.t", own(server))
        )

    tracemalloc.start()
    with pytest.raises(TableNotFound, match=r"more than (4 MiB|512 KiB)"):
        ask()
    assert tracemalloc.get_traced_memory()[1] < 64 << 20
    tracemalloc.stop()


def test_an_answer_that_drips_is_not_waited_for(
    servers: tuple[Server, Server], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("explorer.storage.catalogs.answers.ANSWER_S", 0.5)
    server, _ = servers
    server.special = pour(pause=0.05)
    with pytest.raises(TableNotFound, match="takes more than"):
        catalogs.pointer("mine", "db.t", own(server))


THRIFT_REPLY = b"\x80\x01\x00\x02"
"""After which come the length of the method's name, and the name."""


@contextlib.contextmanager
def metastore(name: bytes, pause: float = 0, reply: bytes = THRIFT_REPLY) -> Iterator[dict[str, str]]:
    """A metastore of Hive's whose answers never end, and have a name of such a length: its catalog's properties."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def pour_out() -> None:
            with contextlib.suppress(OSError):
                while True:
                    asked, _ = listening.accept()
                    with asked, contextlib.suppress(OSError):
                        asked.recv(1 << 16)
                        asked.sendall(reply + name)
                        while True:
                            asked.sendall(b"x" * (1 if pause else 1 << 16))
                            time.sleep(pause)

        threading.Thread(target=pour_out, daemon=True).start()
        yield {"type": "hive", "uri": f"thrift://127.0.0.1:{listening.getsockname()[1]}"}


@pytest.mark.parametrize("length", [1 << 20, 16_000_000, (1 << 31) - 1])
def test_a_metastore_says_no_more_than_a_server_may(length: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a length that it claimed so much memory was taken at once; Thrift refuses the longest itself."""
    monkeypatch.setattr("explorer.storage.catalogs.answers.ANSWER_BYTES", 1 << 19)
    importlib.import_module("explorer.storage.catalogs.hive_catalogs")
    said = "its answer has more than|Length exceeded max allowed"
    tracemalloc.start()
    with metastore(length.to_bytes(4, "big")) as own, pytest.raises(TableNotFound, match=said):
        catalogs.pointer("mine", "db.t", own)
    assert tracemalloc.get_traced_memory()[1] < 8 << 20
    tracemalloc.stop()


def test_a_metastore_that_drips_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("explorer.storage.catalogs.answers.ANSWER_S", 0.5)
    with metastore((1000).to_bytes(4, "big"), 0.05) as own, pytest.raises(TableNotFound, match="takes more than"):
        catalogs.pointer("mine", "db.t", own)


def test_what_is_between_a_metastore_and_us_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kerberos reads frames from the socket, as this does: a whole one, however slowly its bytes come."""
    from thrift.transport.TTransport import TFramedTransport

    from explorer.storage.catalogs.hive_catalogs import BoundedTransport, TimedSocket

    class Framed(TFramedTransport):  # type: ignore[misc]  # thrift has no types
        def __init__(self, transport: Any) -> None:
            super().__init__(transport)
            self.transport = transport

    monkeypatch.setattr("explorer.storage.catalogs.answers.ANSWER_S", 0.5)
    with metastore((1000).to_bytes(4, "big"), 0.05, b"") as own:
        _, port = own["uri"].rsplit(":", 1)
        bare = TimedSocket("127.0.0.1", int(port))
        transport = BoundedTransport(Framed(bare), bare)
        transport.open()
        transport.write(b"asked")
        transport.flush()
        with pytest.raises(AnswerTooLong, match="takes more than"):
            transport.read(4)
        transport.close()


@pytest.mark.parametrize("way", WAYS)
def test_headers_of_glue_come_in_time(way: Callable[[Any], None], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deadlines, "SECONDS", 0.5)
    with answering(way) as (_, own):
        glue = {
            "type": "glue", "glue.endpoint": own["uri"], "glue.region": "us-east-1",
            "glue.access-key-id": "key", "glue.secret-access-key": "hush",
        }  # fmt: skip
        with pytest.raises(TableNotFound, match=r"takes more than 0\.5 s"):
            catalogs.pointer("mine", "db.t", glue)
    assert not [thread for thread in threading.enumerate() if thread.name == "deadline"]


@pytest.mark.parametrize(("limit", "pause", "told"), [("ANSWER_BYTES", 0.0, "has more"), ("ANSWER_S", 0.05, "takes")])
def test_glue_says_no_more_than_a_server_may(
    limit: str, pause: float, told: str, servers: tuple[Server, Server], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(f"explorer.storage.catalogs.answers.{limit}", 0.5 if pause else 1 << 16)
    server, _ = servers
    server.special = pour(pause)
    own = {
        "type": "glue", "glue.endpoint": server.url, "glue.region": "us-east-1",
        "glue.access-key-id": "key", "glue.secret-access-key": "hush",
    }  # fmt: skip
    with pytest.raises(TableNotFound, match=f"its answer {told}"):
        catalogs.pointer("mine", "db.t", own)


def glue_of(url: str) -> dict[str, str]:
    return {
        "type": "glue", "glue.endpoint": url, "glue.region": "us-east-1",
        "glue.access-key-id": "key", "glue.secret-access-key": "hush",
    }  # fmt: skip


def test_glue_is_asked_again_as_boto_does(servers: tuple[Server, Server]) -> None:
    server, other = servers
    place = {"table_type": "ICEBERG", "metadata_location": "s3://b/m"}
    answers = [(500, {}), (200, {"Table": {"Name": "t", "DatabaseName": "db", "Parameters": place}})]

    def special(request: Handler) -> bool:
        request.answer(*answers.pop(0))
        return True

    server.special = special
    assert catalogs.pointer("mine", "db.t", glue_of(server.url)).metadata_location == "s3://b/m"
    assert len(server.asked) == 2
    assert all("AWS4-HMAC-SHA256 Credential=key/" in asked and "hush" not in asked for asked in server.asked)
    answers.append((400, {"__type": "EntityNotFoundException", "Message": "not here"}))
    server.asked.clear()
    with pytest.raises(TableNotFound, match="no table"):
        catalogs.pointer("mine", "db.t", glue_of(server.url))
    server.special = send_on(other.url, 307)
    with pytest.raises(TableNotFound, match="another address"):
        catalogs.pointer("mine", "db.t", glue_of(server.url))
    assert other.asked == []


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (requests.exceptions.ConnectTimeout(), "Connect timeout on endpoint URL"),
        (requests.exceptions.ReadTimeout(), "Read timeout on endpoint URL"),
        (requests.exceptions.SSLError("hidden"), "SSL validation failed"),
        (requests.exceptions.ProxyError("http://me:hush@proxy"), "Failed to connect to proxy"),
        (requests.exceptions.ConnectionError(), "Could not connect to the endpoint URL"),
        (requests.exceptions.ChunkedEncodingError(), "Could not connect to the endpoint URL"),
    ],
    ids=repr,
)
def test_errors_of_connections_to_glue_are_botos(
    error: Exception, told: str, servers: tuple[Server, Server], monkeypatch: pytest.MonkeyPatch
) -> None:
    """By which boto decides whether it asks again: here once more."""
    server, _ = servers
    asked: list[str] = []

    def fail(adapter: object, request: Any, **options: Any) -> Any:
        asked.append(request.url)
        raise error

    monkeypatch.setattr("explorer.storage.catalogs.glue_catalogs.BoundedAdapter.send", fail)
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "2")
    monkeypatch.setattr("pyiceberg.catalog.glue.MAX_RETRIES", 1)
    with pytest.raises(TableNotFound, match=told) as caught:
        catalogs.pointer("mine", "db.t", glue_of(server.url))
    assert len(asked) == 2
    assert "hush" not in str(caught.value)


def test_all_answers_of_glue_are_bounded(servers: tuple[Server, Server], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("explorer.storage.catalogs.glue_catalogs.ALL_BYTES", 5_000)
    server, _ = servers

    def special(request: Handler) -> bool:
        request.answer(200, {"DatabaseList": [{"Name": f"db{len(server.asked)}"}], "NextToken": "more"})
        return True

    server.special = special
    with pytest.raises(TableNotFound, match="its answer has more than"):
        list(catalogs.tables("mine", glue_of(server.url)))
    assert len(server.asked) < 200


@pytest.mark.parametrize("status", [301, 302, 307, 308])
@pytest.mark.parametrize("part", ["/v1/config", "oauth", "/tables/t"])
def test_a_server_cannot_send_the_users_headers_elsewhere(
    part: str, status: int, servers: tuple[Server, Server]
) -> None:
    server, other = servers
    sent_on = send_on(other.url, status)
    server.special = lambda request: part in request.path and sent_on(request)
    with pytest.raises(TableNotFound, match="another address, which would get your credentials"):
        catalogs.pointer("mine", "db.t", {**own(server), "header.X-Api-Key": "hush"})
    assert other.asked == []


def test_views_of_a_rest_catalog(servers: tuple[Server, Server]) -> None:
    server, _ = servers
    answer = {
        "metadata-location": "s3://b/db/top/metadata/3.metadata.json",
        "metadata": sound(),
        "config": {"x": "hush"},
    }

    def lists(path: str, query: dict[str, str]) -> Any:
        if path == "/v1/namespaces":
            return {"namespaces": [] if "parent" in query else [["db"]]}
        if path == "/v1/namespaces/db/views":
            return {"identifiers": [{"namespace": ["db"], "name": "top"}]}
        return answer if path == "/v1/namespaces/db/views/top" else None

    server.lists = lists
    server.config["endpoints"] = [
        "GET /v1/{prefix}/namespaces", "GET /v1/{prefix}/namespaces/{namespace}/views",
        "GET /v1/{prefix}/namespaces/{namespace}/views/{view}",
    ]  # fmt: skip
    catalog = explorer.catalog("mine", properties=own(server))
    assert catalog.views().to_json() == [{"catalog": "mine", "identifier": "db.top"}]
    shown = catalog.views(name="db.top")
    assert shown.to_json()["metadata_location"] == answer["metadata-location"]
    assert "hush" not in str(shown.to_json()) + shown.to_text()
    with pytest.raises(TableNotFound, match=r"no view 'db\.other' in catalog 'mine'"):
        catalog.views(name="db.other")
    answer["metadata"] = {"view": 1}
    with pytest.raises(UnreadableFile, match="JSON of something else"):
        catalog.views(name="db.top")
    server.config["endpoints"] = ["GET /v1/{prefix}/namespaces"]
    with pytest.raises(TableNotFound, match="Server does not support endpoint"):
        catalog.views(name="db.top")


def task(path: Any) -> dict[str, Any]:
    return {"data-file": {"file-path": path}}


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ({"status": "completed", "file-scan-tasks": [task("s3://b/1"), task("s3://b/2")]}, 2),
        ({"status": "completed"}, 0),
        ({"status": "completed", "file-scan-tasks": [task("s3://b/1")], "plan-tasks": ["one"]}, 3),
        ({"status": "completed", "plan-tasks": ["again"]}, "its plan has more than 20 batches"),
        ({"status": "completed", "file-scan-tasks": [task(1)]}, "a task of its plan has no data file"),
        ({"status": "completed", "file-scan-tasks": {"a": 1}}, "its plan has no list of file-scan-tasks"),
        ({"status": "submitted", "plan-id": "x"}, "in the background, which is not waited for"),
        ({"status": "failed", "error": {"message": "no room, says client-hush"}}, "the plan is 'failed': no room"),
        ({"status": "cancelled"}, "the plan is 'cancelled': no reason is given"),
        ([], "no object of JSON"),
        (None, "not here"),
    ],
    ids=str,
)
def test_a_server_that_plans_scans(
    answer: Any, expected: int | str, servers: tuple[Server, Server], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rest_planning, "BATCHES", 20)
    server, other = servers

    def lists(path: str, query: dict[str, str]) -> Any:
        if path.endswith("/tables/t/plan"):
            return answer
        again = "again" in server.asked[-1]
        batch = {"plan-tasks": ["again"]} if again else {"file-scan-tasks": [task("s3://b/3"), task(other.url)]}
        return batch if path.endswith("/tables/t/tasks") else None

    server.lists = lists
    server.config["endpoints"] = [
        f"POST /v1/{{prefix}}/namespaces/{{namespace}}/tables/{{table}}/{name}" for name in ("plan", "tasks")
    ]
    place = Location("mine.db.t", "s3://b/m.json", "", "mine", "db.t", own(server))
    got = rest_planning.server_plan(place, 7, Constant(True), False)
    if isinstance(expected, int):
        assert isinstance(got, PlannerAnswer)
        assert got.files == expected
    else:
        assert isinstance(got, ExplorerError)
        assert expected in str(got)
        assert "hush" not in str(got)
    plan = next(asked for asked in server.asked if "/tables/t/plan" in asked)
    assert json.loads(plan[plan.rindex('{"snapshot-id"') :]) == {
        "snapshot-id": 7, "case-sensitive": True, "use-snapshot-schema": True, "filter": True,
    }  # fmt: skip
    assert other.asked == []


def test_a_server_that_plans_no_scans(servers: tuple[Server, Server], tmp_path: Path) -> None:
    server, _ = servers
    place = Location("mine.db.t", "s3://b/m.json", "", "mine", "db.t", own(server))
    refused = rest_planning.server_plan(place, 7, Constant(True), True)
    assert isinstance(refused, NotSupported)
    database = {"type": "sql", "uri": f"sqlite:///{tmp_path}/c.db", "warehouse": str(tmp_path)}
    for without in (replace(place, properties=database), replace(place, catalog=None)):
        assert rest_planning.server_plan(without, 7, Constant(True), True) is None


@pytest.mark.parametrize("said", ["Location does not exist: {}", "Failed to open input stream for file: {}"])
def test_a_metadata_file_that_a_servers_error_names_is_opened_by_the_same_rules(
    said: str, servers: tuple[Server, Server], tmp_path: Path
) -> None:
    server, _ = servers
    location = newest_metadata(make_table(tmp_path))

    def missing(request: Handler, path: object) -> bool:
        if "/tables/t" not in request.path:
            return False
        words = said.format(path)
        request.answer(404, {"error": {"message": words, "type": "NotFoundException", "code": 404}})
        return True

    server.special = lambda request: missing(request, "s3://b/db/t/metadata/1.metadata.json")
    assert catalogs.pointer("mine", "db.t", own(server)).metadata_location == "s3://b/db/t/metadata/1.metadata.json"
    row = catalogs.read_pointer("mine", "db.t", own(server)).row
    assert row["metadata-location"] == "s3://b/db/t/metadata/1.metadata.json"
    server.special = lambda request: missing(request, location)
    with pytest.raises(TableNotFound, match="a server may not choose what is opened here"):
        direct.open_table("db.t", catalog="mine", properties=own(server))
    for other in ("/etc/passwd", f"x y {location}", "x" * 5_000 + ".json"):
        server.special = lambda request, other=other: missing(request, other)  # type: ignore[misc]
        with pytest.raises(TableNotFound, match="no table"):
            catalogs.pointer("mine", "db.t", own(server))


@pytest.mark.parametrize("path", ["{}", "file:{}", "file://localhost{}"])
@pytest.mark.parametrize("warehouse", ["", "demo", "s3://bucket/warehouse"])
def test_a_server_opens_no_file_of_this_machine(
    path: str, warehouse: str, servers: tuple[Server, Server], tmp_path: Path
) -> None:
    server, _ = servers
    location = newest_metadata(make_table(tmp_path))
    metadata = json.loads(location.read_text())
    server.config["overrides"] = {"warehouse": str(tmp_path)}
    server.table = {"metadata-location": path.format(location), "metadata": metadata, "config": {}}
    known = {**own(server), **({"warehouse": warehouse} if warehouse else {})}
    with pytest.raises(TableNotFound, match="a server may not choose what is opened here"):
        direct.open_table("db.t", "mine", known)
    opened = direct.open_table("db.t", "mine", {**known, "warehouse": str(tmp_path)})
    assert opened.metadata.metadata_location.endswith(location.name)
