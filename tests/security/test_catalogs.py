"""A REST catalog's server that says what it may not: it names no code, and gets no secret that is not its own."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from explorer.errors import NotSupported, TableNotFound
from explorer.io import catalogs
from explorer.io.storage import Storage
from explorer.io.stores import combined
from tests.unit.small import make_table, newest_metadata

KEYS = {"s3.access-key-id": "mine", "s3.secret-access-key": "hush", "s3.session-token": "hush-hush"}


class Server(ThreadingHTTPServer):
    """Answers as it is told, and notes what it is asked, bodies too."""

    def __init__(self) -> None:
        self.config: dict[str, Any] = {"defaults": {}, "overrides": {}}
        self.table: dict[str, Any] | None = None
        self.asked: list[str] = []
        super().__init__(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server_address[1]}"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
        self.server.asked.append(f"{self.path} {self.headers} {body}")
        if self.path.startswith("/v1/config"):
            self.answer(200, self.server.config)
        elif "oauth" in self.path:
            self.answer(200, {"access_token": "t", "token_type": "bearer", "expires_in": 60})
        elif self.path.endswith("/tables/t") and self.server.table is not None:
            self.answer(200, self.server.table)
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
    with pytest.raises(NotSupported, match="remote signing"):
        catalogs.pointer("mine", "db.t", {k: v for k, v in own(server).items() if k not in KEYS})


def test_a_servers_endpoint_gets_no_keys_of_the_user() -> None:
    theirs = combined({**KEYS, "s3.region": "here"}, {"s3.endpoint": "http://theirs.example"})
    assert theirs == {"s3.region": "here", "s3.endpoint": "http://theirs.example", "s3.anonymous": "true"}
    vended = {"s3.endpoint": "http://theirs.example", "s3.access-key-id": "a", "s3.secret-access-key": "b"}
    assert combined(KEYS, vended) == vended
    same = {**KEYS, "s3.endpoint": "http://mine.example"}
    assert combined(same, {"s3.endpoint": "http://mine.example"}) == same
    assert combined(same, {"s3.access-key-id": "new"})["s3.secret-access-key"] == "hush"


def test_other_accounts_of_the_environment_have_other_cached_files(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = set()
    for name, value in (("AWS_ACCESS_KEY_ID", "a"), ("AWS_ACCESS_KEY_ID", "b"), ("AWS_ENDPOINT_URL", "http://x")):
        monkeypatch.setenv(name, value)
        seen.add(Storage([]).identity)
    seen.add(Storage([], {}, {"s3.endpoint": "http://y"}).identity)
    assert len(seen) == 4
