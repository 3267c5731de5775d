"""Tables whose catalog signs each request to S3 itself, read of a store that refuses what is not signed. A signer
elsewhere gets no credentials, and what it answers is only the request that was asked for."""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest

import explorer
from explorer.errors import ExplorerError, NotSupported
from explorer.spark_engine.fileio import java_file_io
from explorer.storage.catalogs.signing import signing_settings
from explorer.storage.signed_requests import MOST_HEADERS
from explorer.storage.stores import SIGNING_URL
from tests.support.small_tables import make_table, newest_metadata

TOKEN, KEY = "canary-token-of-the-catalog", b"the store's own secret"
Change = Callable[[dict[str, Any]], Any]


def signature(method: str, url: str, headers: dict[str, str]) -> str:
    """What the store asks for: of the method, the address and the part that is read."""
    signed = f"{method} {url} {headers.get('Range', '')}"
    return hmac.new(KEY, signed.encode(), hashlib.sha256).hexdigest()


class Store(ThreadingHTTPServer):
    """A bucket below a folder, whose every request has to be signed."""

    daemon_threads = True

    def __init__(self, folder: Path) -> None:
        self.folder, self.asked = folder, list[str]()
        super().__init__(("127.0.0.1", 0), StoreHandler)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class Quiet(BaseHTTPRequestHandler):
    def say(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        pass


class StoreHandler(Quiet):
    server: Store

    def do_GET(self) -> None:
        self.server.asked.append(f"{self.command} {self.path}")
        wanted = signature(self.command, self.server.url + self.path, dict(self.headers))
        if TOKEN in str(self.headers) or self.headers.get("Authorization") != wanted:
            self.say(403, b"")
            return
        file = self.server.folder / unquote(self.path).removeprefix("/bucket/")
        if not file.is_file():
            self.say(404, b"")
            return
        data = file.read_bytes()
        if self.command == "HEAD":
            self.say(200, data)
            return
        first, _, last = self.headers["Range"].removeprefix("bytes=").partition("-")
        self.say(206, data[int(first) : int(last) + 1])

    do_HEAD = do_GET


class Catalog(ThreadingHTTPServer):
    """A REST catalog with one table, which signs requests to its store."""

    daemon_threads = True

    def __init__(self, store: Store, metadata: str, config: dict[str, Any], change: Change) -> None:
        self.store, self.metadata, self.config, self.change = store, metadata, config, change
        self.signed: list[dict[str, Any]] = []
        super().__init__(("127.0.0.1", 0), CatalogHandler)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class CatalogHandler(Quiet):
    server: Catalog

    def do_GET(self) -> None:
        path = urlsplit(self.path).path
        if self.headers.get("Authorization") != f"Bearer {TOKEN}":
            self.say(401, b'{"error": {"message": "no token", "type": "NotAuthorized", "code": 401}}')
        elif path == "/v1/config":
            self.say(200, b'{"defaults": {}, "overrides": {}}')
        elif path.endswith("/tables/t"):
            config = {"s3.remote-signing-enabled": "true", "s3.endpoint": self.server.store.url, **self.server.config}
            answer = {"metadata-location": self.server.metadata, "metadata": {}, "config": config}
            answer["remote-signing-config"] = {"properties": {"table": "7"}}
            self.say(200, json.dumps(answer).encode())
        else:
            self.say(404, b"{}")

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.headers.get("Authorization") != f"Bearer {TOKEN}":
            self.say(401, b"{}")
            return
        self.server.signed.append({"path": self.path, **body})
        headers = {name: values[0] for name, values in body["headers"].items()}
        answer = {"uri": body["uri"], "headers": {"Authorization": [signature(body["method"], body["uri"], headers)]}}
        self.say(200, json.dumps(self.server.change(answer) or answer).encode())


@contextlib.contextmanager
def servers(tmp_path: Path, config: dict[str, Any] | None = None, change: Change = lambda _: None) -> Iterator[Any]:
    """The store and the catalog, and the properties by which a person opens the catalog."""
    table = make_table(tmp_path)
    metadata = newest_metadata(table)
    text = metadata.read_text().replace(str(tmp_path), "s3://bucket").replace("file://s3:", "s3:")
    metadata.write_text(text)
    with contextlib.ExitStack() as stack:
        store = Store(tmp_path)
        catalog = Catalog(store, f"s3://bucket/{metadata.relative_to(tmp_path)}", config or {}, change)
        for server in (store, catalog):
            threading.Thread(target=server.serve_forever, daemon=True).start()
            stack.callback(server.server_close)
            stack.callback(server.shutdown)
        yield store, catalog, {"type": "rest", "uri": catalog.url, "token": TOKEN, "warehouse": "s3://bucket/"}


def opened(own: dict[str, str], folder: Path | None = None) -> explorer.Table:
    moved = {} if folder is None else {str(folder): "s3://bucket"}
    return explorer.open_table("db.t", catalog="signing", properties=own, roots=["s3://bucket/"], relocate=moved)


def test_a_table_is_read_by_signed_requests(tmp_path: Path) -> None:
    with servers(tmp_path) as (store, catalog, own):
        table = opened(own, tmp_path)
        assert len(table.metadata.snapshots) == 3
        assert len(table.inspect.files()) == 3
        assert table.data.history("id = 1").to_text()
        assert {one["path"] for one in catalog.signed} == {"/v1/aws/s3/sign"}
        assert all(one["properties"] == {"table": "7"} for one in catalog.signed)
        assert all(one["uri"].startswith(f"{store.url}/bucket/") for one in catalog.signed)
        assert store.asked
        assert TOKEN not in repr(table) + json.dumps(store.asked)


@pytest.mark.parametrize(
    "config",
    [
        {"s3.signer.uri": "http://elsewhere.example:1"},
        {"s3.signer.endpoint": "http://elsewhere.example/sign"},
        {"signer.uri": "https://127.0.0.1"},
        {"signer.uri": "http://127.0.0.1:1@elsewhere.example"},
    ],
)
def test_a_signer_elsewhere_gets_nothing(config: dict[str, str], tmp_path: Path) -> None:
    with servers(tmp_path, config) as (store, catalog, own):
        with pytest.raises(ExplorerError):
            opened(own)
        assert not catalog.signed
        assert not store.asked


@pytest.mark.parametrize(
    ("endpoint", "path"),
    [("v1/db/t/sign", "/v1/db/t/sign"), ("/v1/db/t/sign", "/v1/db/t/sign"), ("", "/v1/aws/s3/sign")],
)
def test_an_endpoint_is_below_the_catalog(endpoint: str, path: str) -> None:
    told = signing_settings({"signer.endpoint": endpoint}, "http://catalog:8181/")
    assert told[SIGNING_URL] == f"http://catalog:8181{path}"
    below = signing_settings({"s3.signer.endpoint": endpoint}, "http://catalog:8181/api")
    assert below[SIGNING_URL] == f"http://catalog:8181/api{path}"


@pytest.mark.parametrize(
    "change",
    [
        lambda answer: {**answer, "uri": "http://169.254.169.254/latest/meta-data"},
        lambda answer: {**answer, "uri": answer["uri"] + "x"},
        lambda answer: {**answer, "uri": answer["uri"].replace("bucket", "other")},
        lambda answer: {**answer, "uri": 5},
        lambda answer: {**answer, "headers": [1]},
        lambda answer: {**answer, "headers": {"Authorization": ["a\r\nX: b"]}},
        lambda answer: {**answer, "headers": {f"h{n}": ["x"] for n in range(MOST_HEADERS + 1)}},
        lambda answer: {**answer, "headers": {"Authorization": ["x" * 30_000]}},
        lambda answer: [answer],
        lambda answer: {**answer, "headers": {"Authorization": ["wrong"]}},
    ],
)
def test_only_the_request_that_was_asked_for_is_sent(change: Change, tmp_path: Path) -> None:
    with servers(tmp_path, change=change) as (store, catalog, own):
        with pytest.raises(ExplorerError) as told:
            opened(own)
        assert catalog.signed
        assert len(store.asked) <= 1  # the one with a wrong signature, which the store refuses
        assert TOKEN not in str(told.value)


def test_ones_own_keys_need_no_signer(tmp_path: Path) -> None:
    with servers(tmp_path) as (_, catalog, own):
        with contextlib.suppress(ExplorerError):
            opened({**own, "s3.access-key-id": "a", "s3.secret-access-key": "b", "s3.region": "us-east-1"})
        assert not catalog.signed


def test_spark_is_not_given_a_signer() -> None:
    with pytest.raises(NotSupported, match="let it vend credentials"):
        java_file_io("s3://bucket/t", {SIGNING_URL: "http://x"})
