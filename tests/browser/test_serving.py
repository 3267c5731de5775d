"""The page for a team: behind a reverse proxy, by OAuth, with health, metrics, quotas and an audit log."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlencode, urlsplit

import psutil
import pytest
from click.testing import CliRunner
from playwright.sync_api import Browser, Page, expect

from explorer.cli import main
from tests.browser.conftest import card, rail, served, signed_in
from tests.browser.test_access import ask
from tests.support.ports import free_port

TABLE, OPENED = "demo.three_inserts", "sandbox / demo / three_inserts"


@contextlib.contextmanager
def tls_ending_proxy(port: int, target: int) -> Iterator[None]:
    """Passes bytes on, and says on each request's head what a proxy that ends TLS says."""

    def pump(source: socket.socket, sink: socket.socket, head: bytes) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                if head and data.split(b"\r\n", 1)[0].endswith(b"HTTP/1.1"):
                    line, rest = data.split(b"\r\n", 1)
                    data = line + b"\r\n" + head + rest
                sink.sendall(data)
        for end in (source, sink):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    listening = socket.create_server(("127.0.0.1", port))

    def accept() -> None:
        with contextlib.suppress(OSError):
            while True:
                near, _ = listening.accept()
                far = socket.create_connection(("127.0.0.1", target))
                for pair in ((near, far, b"X-Forwarded-Proto: https\r\n"), (far, near, b"")):
                    threading.Thread(target=pump, args=pair, daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    yield
    listening.close()


def test_behind_a_proxy(sandbox: Path, tmp_path: Path, browser: Browser) -> None:
    outside = free_port()
    public = f"http://localhost:{outside}/iceberg"
    own = {"ICEDIVE_PASSWORD": "secret", "ICEDIVE_METRICS_TOKEN": "numbers"}
    with served(tmp_path / "log", "--prefix", public, **own) as url:
        target = urlsplit(url).port or 0
        with tls_ending_proxy(outside, target):
            assert url.entry == f"{public}/"
            status, headers, body = ask(public, "/iceberg/health")
            assert (status, json.loads(body)["status"]) == (200, "ok")
            assert ask(public, "/iceberg/metrics")[0] == 404
            assert ask(public, "/iceberg/metrics", Authorization="Bearer wrong")[0] == 404
            status, _, text = ask(public, "/iceberg/metrics", Authorization="Bearer numbers")
            assert (status, "icedive_sessions 0" in text) == (200, True)
            assert ask(public, "/iceberg/")[0] == 401
            _, headers, _ = ask(
                public, "/iceberg/", "POST", "password=secret", Content_Type="application/x-www-form-urlencoded"
            )
            assert "Secure" in headers["Set-Cookie"]
            page = browser.new_context().new_page()
            page.goto(f"{public}/?table={TABLE}&view=graph")
            page.get_by_label("Password").fill("secret")
            page.get_by_role("button", name="Log in").click()
            expect(page.get_by_role("button", name=OPENED)).to_be_visible()
            expect(card(page, "^snapshot-3,")).to_be_visible()
            with page.expect_download() as saved:
                page.get_by_role("tab", name="Files", exact=True).click()
                page.get_by_role("link", name="CSV").click()
            assert saved.value.path().read_text().count("\n") == 4
            assert json.loads(ask(public, "/iceberg/health")[2])["spark"] == "stopped"
            text = ask(public, "/iceberg/metrics", Authorization="Bearer numbers")[2]
            assert "icedive_sessions 1" in text
            page.context.close()


def test_a_prefix_may_be_a_path_and_hosts_are_allowed(sandbox: Path, tmp_path: Path) -> None:
    with served(
        tmp_path / "log", "--prefix", "/user/ada/proxy", "--allow-host", "hub.example", ICEDIVE_PASSWORD="x"
    ) as url:
        assert url.entry.endswith("/user/ada/proxy/")
        assert ask(url, "/user/ada/proxy/", Host="hub.example")[0] == 401  # the password is asked for
        assert ask(url, "/user/ada/proxy/", Host="elsewhere.example")[0] == 403
        assert ask(url, "/", Host="hub.example")[0] == 404
        # the hub, which may go by another name, has asked who somebody is, and sends them on; it opens no table
        sent = {"Host": "hub.example", "Sec_Fetch_Site": "same-site", "Sec_Fetch_Mode": "navigate"}
        assert ask(url, "/user/ada/proxy/", **sent, Sec_Fetch_Dest="document")[0] == 401
        assert ask(url, "/user/ada/proxy/?table=demo.x", **sent, Sec_Fetch_Dest="document")[0] == 403
        assert ask(url, "/user/ada/proxy/", **sent, Sec_Fetch_Dest="iframe")[0] == 403
        posted = {"Content_Type": "application/x-www-form-urlencoded", "Host": "hub.example"}
        assert ask(url, "/user/ada/proxy/", "POST", "password=x", **posted, Sec_Fetch_Site="same-site")[0] == 403
        _, headers, _ = ask(url, "/user/ada/proxy/", "POST", "password=x", **posted)
        assert "Path=/user/ada/proxy;" in f"{headers['Set-Cookie']};"  # another's server may have the same port


def test_by_https_only_a_cookie_says_so(sandbox: Path, tmp_path: Path) -> None:
    with served(tmp_path / "log", "--prefix", "https://hub.example/x", ICEDIVE_PASSWORD="x") as url:
        port = urlsplit(url).port
        posted = {"Content_Type": "application/x-www-form-urlencoded", "Host": "hub.example"}
        _, headers, _ = ask(f"http://localhost:{port}", "/x/", "POST", "password=x", **posted)
        assert {"Secure", "HttpOnly"} <= {part.strip() for part in headers["Set-Cookie"].split(";")}


def test_a_port_that_is_taken_is_said() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        told = CliRunner().invoke(main, ["serve", "--port", str(port)])
    assert told.exit_code == 1
    assert f"nothing can be served at 127.0.0.1, port {port}: Address already in use" in told.output
    assert "--port" in told.output


@pytest.mark.parametrize("prefix", ["iceberg", "ftp://a.example/x", "//a.example/x", "/x?y=1"])
def test_a_prefix_that_is_none_is_refused(prefix: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ICEDIVE_PASSWORD", "x")
    told = CliRunner().invoke(main, ["serve", "--port", "0", "--prefix", prefix])
    assert told.exit_code != 0
    assert "is neither a path such as /iceberg nor a URL" in told.output


@pytest.fixture
def provider() -> Iterator[str]:
    """An OAuth provider that knows everybody as ada@example.org."""

    class Provider(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            query = {k: v[0] for k, v in parse_qs(urlsplit(self.path).query).items()}
            if self.path.startswith("/authorize"):
                self.send_response(302)
                back = urlencode({"code": "a-code", "state": query["state"]})
                self.send_header("Location", f"{query['redirect_uri']}?{back}")
                self.end_headers()
                return
            known = self.headers["Authorization"] == "Bearer a-token"
            self.answer({"email": "ada@example.org"} if known else {})

        def do_POST(self) -> None:
            given = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
            right = given["code"] == ["a-code"] and given["client_secret"] == ["a-secret"]
            self.answer({"access_token": "a-token", "token_type": "bearer"} if right else {})

        def answer(self, data: dict[str, str]) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.wfile.write(json.dumps(data).encode())

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


def read_rows(page: Page) -> None:
    page.get_by_role("button", name="Read", exact=True).click()


def test_by_oauth(sandbox: Path, tmp_path: Path, browser: Browser, provider: str) -> None:
    own = {
        "PANEL_OAUTH_PROVIDER": "generic", "PANEL_OAUTH_KEY": "us", "PANEL_OAUTH_SECRET": "a-secret",
        "PANEL_COOKIE_SECRET": "c" * 32, "PANEL_OAUTH_AUTHORIZE_URL": f"{provider}/authorize",
        "PANEL_OAUTH_TOKEN_URL": f"{provider}/token", "PANEL_OAUTH_USER_URL": f"{provider}/user",
        "ICEDIVE_METRICS_TOKEN": "numbers",
        "ICEDIVE_QUOTAS": json.dumps({"reads": 1, "rows": 2, "seconds": 300}),
    }  # fmt: skip
    audit = tmp_path / "audit.jsonl"
    with served(tmp_path / "log", "--allow-sql", ICEDIVE_AUDIT=str(audit), **own) as url:
        assert "token" not in url.entry
        status, headers, _ = ask(url, "/")
        assert (status, urlsplit(headers["Location"]).path.lstrip(".")) == (302, "/login")
        for path in ("/ws", "/nothing"):
            assert ask(url, path)[0] >= 400
        assert ask(url, "/", Host="evil.example")[0] == 403
        assert ask(url, "/?bokeh-session-id=x")[0] == 403
        page = browser.new_context().new_page()
        page.goto(url)
        expect(page.get_by_label("Open a table")).to_be_visible(timeout=60_000)
        page.goto(f"{url}?table={TABLE}&view=rows")
        expect(page.get_by_role("button", name=OPENED)).to_be_visible(timeout=60_000)
        read_rows(page)
        expect(page.get_by_text("no read gives more here")).to_be_visible(timeout=120_000)
        text = ask(url, "/metrics", Authorization="Bearer numbers")[2]
        assert 'icedive_statements_total{kind="rows",outcome="answered"} 1' in text
        [line] = [json.loads(line) for line in audit.read_text().splitlines()]
        told = (line["who"], line["kind"], line["outcome"], line["rows"])
        assert told == ("ada@example.org", "rows", "answered", 2)
        assert "three_inserts" in line["tables"][0]
        page.context.close()


@pytest.fixture
def page_without_java(sandbox: Path, tmp_path: Path, browser: Browser) -> Iterator[tuple[Page, str]]:
    """A page whose server has read rows, and whose Java process has ended since."""
    with served(tmp_path / "log") as url:
        context = signed_in(browser, url)
        page = context.new_page()
        page.goto(f"{url}?table={TABLE}&view=rows")
        read_rows(page)
        expect(page.get_by_role("grid", name="rows")).to_contain_text("parquet", timeout=120_000)
        own = next(p for p in psutil.Process().children() if str(urlsplit(url).port) in p.cmdline())
        [java] = [p for p in own.children(recursive=True) if "java" in p.name()]
        java.kill()
        java.wait(20)
        yield page, url
        context.close()


def test_java_is_lost(page_without_java: tuple[Page, str]) -> None:
    """The page shows what needs none, and the next read starts another."""
    page, url = page_without_java
    assert json.loads(ask(url, "/health")[2])["spark"] == "lost"
    rail(page, "Graph")
    expect(card(page, "^snapshot-3, snapshot, current, in view")).to_be_visible()
    page.get_by_label("Previous snapshot").click()
    expect(card(page, "^snapshot-2, snapshot, in view")).to_be_visible()
    rail(page, "Deletes")
    expect(page.get_by_role("region", name="Deletes")).to_contain_text("0 pairs")
    rail(page, "Rows")
    read_rows(page)
    expect(page.get_by_role("grid", name="rows")).to_contain_text("parquet", timeout=120_000)
    assert json.loads(ask(url, "/health")[2])["spark"] == "ready"
