"""Logging in to a REST catalog, its certificates and its proxy: what is sent, to whom, and within which limits."""

from __future__ import annotations

import base64
import shutil
import ssl
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from explorer.errors import TableNotFound
from explorer.storage.catalogs import catalogs, deadlines
from tests.security.test_catalog_answers import WAYS, say_nothing
from tests.security.test_catalog_answers import Handler as Waiting
from tests.security.test_catalog_answers import server as answering
from tests.security.test_catalogs import Handler, Server

LISTED = {"identifiers": [{"namespace": ["db"], "name": "t"}]}


def lists(path: str, query: dict[str, str]) -> Any:
    if path.endswith("/namespaces"):
        return {"namespaces": [] if "parent" in query else [["db"]]}
    return LISTED if path.endswith("/tables") else None


@pytest.fixture
def server() -> Iterator[Server]:
    serving = Server()
    serving.lists = lists
    threading.Thread(target=serving.serve_forever, daemon=True).start()
    yield serving
    serving.shutdown()


def names(server: Server, **own: Any) -> list[str]:
    properties = {"type": "rest", "uri": server.url, **own}
    return [table.identifier for table in catalogs.tables("mine", properties)]


def headers(server: Server, part: str) -> str:
    return next(asked for asked in server.asked if part in asked)


@pytest.mark.parametrize("status", [401, 419])
def test_a_token_that_is_over_is_asked_for_again_once(server: Server, status: int) -> None:
    tokens: list[str] = []

    def special(request: Handler) -> bool:
        if "oauth" in request.path:
            tokens.append(f"token-{len(tokens)}")
            request.answer(200, {"access_token": tokens[-1], "token_type": "bearer"})
            return True
        if request.path.endswith("/tables") and "token-0" in str(request.headers):
            request.answer(status, {"error": {"message": "over", "type": "NotAuthorizedException", "code": status}})
            return True
        return False

    server.special = special
    assert names(server, credential="me:hush", audience="them") == ["db.t"]
    assert tokens == ["token-0", "token-1"]
    asked = headers(server, "oauth")
    for part in ("grant_type=client_credentials", "client_id=me", "client_secret=hush", "audience=them"):
        assert part in asked
    assert "scope=catalog" in asked
    assert "Authorization" not in asked


def test_a_token_that_is_refused_is_not_asked_for_for_ever(server: Server) -> None:
    def special(request: Handler) -> bool:
        refused = request.path.endswith("/tables")
        if refused:
            request.answer(401, {"error": {"message": "no", "type": "NotAuthorizedException", "code": 401}})
        return refused

    server.special = special
    with pytest.raises(TableNotFound, match="UnauthorizedError: NotAuthorizedException: no"):
        names(server, credential="hush")
    assert len([asked for asked in server.asked if "oauth" in asked]) == 2
    assert "client_id" not in headers(server, "oauth")


def test_a_credential_that_is_refused(server: Server) -> None:
    def special(request: Handler) -> bool:
        request.answer(400, {"error": "invalid_client", "error_description": "unknown"})
        return True

    server.special = special
    with pytest.raises(TableNotFound, match=r"OAuthError: .*unknown"):
        names(server, credential="me:hush")


def test_nobody_logs_in_unasked(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also not by the person's .netrc."""
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login me password hush\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    assert names(server) == ["db.t"]
    assert names(server, credential="me:client") == ["db.t"]
    assert not [asked for asked in server.asked if "Basic" in asked or "None" in asked]


def test_other_ways_to_log_in(server: Server) -> None:
    basic = {"type": "basic", "basic": {"username": "me", "password": "hush"}}
    assert names(server, auth=basic) == ["db.t"]
    assert f"Basic {base64.b64encode(b'me:hush').decode()}" in headers(server, "/v1/config")
    server.asked.clear()
    assert names(server, token="given") == ["db.t"]
    assert "Bearer given" in headers(server, "/v1/config")
    server.asked.clear()
    settings = {"client_id": "me", "client_secret": "hush", "token_url": f"{server.url}/oauth", "scope": "all"}
    own = {"type": "custom", "impl": "pyiceberg.catalog.rest.auth.OAuth2AuthManager", "custom": settings}
    assert names(server, auth=own) == ["db.t"]
    assert f"Basic {base64.b64encode(b'me:hush').decode()}" in headers(server, "/oauth")
    assert "scope=all" in headers(server, "/oauth")


@pytest.mark.parametrize(
    ("ways", "told"),
    [
        ({"basic": {}}, "auth.type must be defined"),
        ({"type": "custom"}, "auth.impl must be specified"),
        ({"type": "basic", "impl": "a.B"}, "auth.impl can only be specified"),
        ({"type": "nosuch"}, "Could not load AuthManager class"),
    ],
)
def test_ways_that_there_are_not(server: Server, ways: dict[str, Any], told: str) -> None:
    with pytest.raises(TableNotFound, match=told):
        names(server, auth=ways)
    assert server.asked == []


def test_headers_and_places(server: Server) -> None:
    server.config = {"defaults": {"prefix": "p"}, "overrides": {"namespace-separator": "%2E"}}
    names(server, **{"header.X-Api-Key": "mine", "warehouse": "w"})
    assert "warehouse=w" in headers(server, "/v1/config")
    asked = headers(server, "/v1/p/namespaces/db/tables")
    assert "X-Api-Key: mine" in asked
    assert "X-Iceberg-Access-Delegation: vended-credentials" in asked


# -- proxies and TLS --------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("way", WAYS)
def test_an_answer_through_a_proxy_comes_in_time(
    way: Callable[[Waiting], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deadlines, "SECONDS", 0.5)
    with answering(way) as (proxy, own):
        monkeypatch.setenv("http_proxy", own["uri"])
        monkeypatch.setenv("no_proxy", "")
        with pytest.raises(TableNotFound, match=r"takes more than 0\.5 s"):
            catalogs.load("mine", {"type": "rest", "uri": "http://catalog.example"})
        assert proxy.asked


def test_no_proxy_of_socks_is_used(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "socks5://127.0.0.1:1")
    monkeypatch.setenv("no_proxy", "")
    with pytest.raises(TableNotFound, match="a proxy of SOCKS is not used here"):
        names(server)
    assert server.asked == []


def test_a_signed_request_has_one_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    """pyiceberg asks ten times more."""
    monkeypatch.setattr(deadlines, "SECONDS", 0.5)
    keys = {"client.access-key-id": "mine", "client.secret-access-key": "hush", "client.region": "us-east-1"}
    with answering(say_nothing) as (serving, own):
        with pytest.raises(TableNotFound, match=r"takes more than 0\.5 s"):
            [*catalogs.tables("mine", {**own, **keys, "rest.sigv4-enabled": "true"})]
        assert serving.asked == 3  # for its configuration, namespaces and this


@pytest.fixture
def certificate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file with a key and a certificate for 127.0.0.1, signed by itself."""
    for name in ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"):  # requests heeds them first
        monkeypatch.delenv(name, raising=False)
    program = shutil.which("openssl")
    if program is None:
        pytest.skip("openssl, which makes a certificate, is not here")
    file = tmp_path / "both.pem"
    subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1", "-days", "2"]
    made = [program, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", str(tmp_path / "key.pem")]
    subprocess.run([*made, *subject, "-out", str(tmp_path / "cert.pem")], check=True, capture_output=True)
    file.write_text((tmp_path / "key.pem").read_text() + (tmp_path / "cert.pem").read_text())
    return file


def with_tls(server: Any, certificate: Path) -> str:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    return f"https://127.0.0.1:{server.server_address[1]}"


def test_certificates_are_checked(server: Server, certificate: Path) -> None:
    server.url = with_tls(server, certificate)
    with pytest.raises(TableNotFound, match="certificate verify failed"):
        names(server)
    assert server.asked == []
    assert names(server, ssl={"cabundle": str(certificate)}) == ["db.t"]
    both = {"cabundle": str(certificate), "client": {"cert": str(certificate)}}
    assert names(server, ssl=both) == ["db.t"]


@pytest.mark.parametrize("way", WAYS)
def test_an_answer_by_tls_comes_in_time(
    way: Callable[[Waiting], None], certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deadlines, "SECONDS", 1.0)
    with answering(way) as (serving, own):
        own = {**own, "uri": with_tls(serving, certificate), "ssl": {"cabundle": str(certificate)}}  # type: ignore[dict-item]
        with pytest.raises(TableNotFound, match=r"takes more than 1\.0 s"):
            [*catalogs.tables("mine", own)]
    assert not [thread for thread in threading.enumerate() if thread.name == "deadline"]
