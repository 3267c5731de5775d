"""Who may talk to the dashboard: the token, the cookie, other sites, other hosts, a password, and `panel serve`."""

from __future__ import annotations

import http.client
import re
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.conftest import Served, Watched, served, signed_in, to
from tests.security.web_cases import REQUESTS
from tests.support.ports import free_port


def ask(
    url: str, path: str = "/", method: str = "GET", body: str = "", **headers: str
) -> tuple[int, dict[str, str], str]:
    """(status, headers, body) of one request, with no cookies but those given."""
    where = urlsplit(url)
    connection = http.client.HTTPConnection(where.hostname or "", where.port or 80, timeout=30)
    connection.request(method, path, body or None, {k.replace("_", "-"): v for k, v in headers.items()})
    answer = connection.getresponse()
    return answer.status, dict(answer.getheaders()), answer.read().decode(errors="replace")


def cookie(url: Served) -> str:
    """What the token gives."""
    status, headers, _ = ask(url, url.entry.removeprefix(url.rstrip("/")))
    assert status == 302
    given = headers["Set-Cookie"]
    assert "HttpOnly" in given
    assert "SameSite=Strict" in given
    assert "token" not in headers["Location"]
    return given.partition(";")[0]


def test_nothing_is_to_be_had_without_the_token(dashboard: Served) -> None:
    paths = (
        "/",
        "/?table=demo.three_inserts",
        "/?token=",
        "/?token=wrong",
        "/ws",
        "/favicon.ico",
        "/static/js/bokeh.min.js",
    )
    for path in paths:
        status, headers, body = ask(dashboard, path)
        assert status == 401, path
        assert "Set-Cookie" not in headers
        assert "token" in body
    known = cookie(dashboard)
    for path in ("/", "/favicon.ico", "/static/js/bokeh.min.js"):
        assert ask(dashboard, path, Cookie=known)[0] == 200
    for wrong in (known + "x", known[:-1], known.partition("=")[0] + "=", "x=" + known.partition("=")[2]):
        assert ask(dashboard, "/", Cookie=wrong)[0] == 401


@pytest.mark.parametrize(("headers", "path"), [case[1:] for case in REQUESTS], ids=[case[0] for case in REQUESTS])
def test_refused_though_the_cookie_is_right(dashboard: Served, headers: dict[str, str], path: str) -> None:
    known = cookie(dashboard)
    status, answered, _ = ask(dashboard, path, Cookie=known, **headers)
    assert 400 <= status < 500
    assert "Location" not in answered


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS"])
def test_only_get(dashboard: Served, method: str) -> None:
    assert ask(dashboard, "/", method, Cookie=cookie(dashboard))[0] in (403, 405)


def test_a_large_body_is_not_read(dashboard: Served) -> None:
    where = urlsplit(dashboard)
    with socket.create_connection((where.hostname, where.port), timeout=30) as s:
        s.sendall(f"POST / HTTP/1.1\r\nHost: {where.netloc}\r\nContent-Length: 90000000\r\n\r\n".encode())
        assert re.match(rb"HTTP/1.1 4\d\d|$", s.recv(100))


def test_headers(dashboard: Served) -> None:
    for path in ("/", "/static/js/bokeh.min.js", "/nothing"):
        _, headers, _ = ask(dashboard, path, Cookie=cookie(dashboard))
        policy = headers["Content-Security-Policy"]
        assert "frame-ancestors 'self'" in policy
        assert "object-src 'none'" in policy
        assert "base-uri 'none'" in policy
        scripts = re.search(r"script-src ([^;]*)", policy)
        assert scripts
        assert "unsafe" not in scripts[1]
        assert "http" not in scripts[1]
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Referrer-Policy"] == "same-origin"


def test_the_token_leaves_the_address_bar(dashboard: Served, browser: Browser) -> None:
    context = browser.new_context()
    page = context.new_page()
    page.goto(dashboard.entry + "&table=demo.three_inserts&view=graph")
    expect(page.locator(".ix-name")).to_have_text("sandbox.demo.three_inserts", timeout=60_000)
    assert "token" not in page.url
    assert "token" not in page.evaluate("performance.getEntriesByType('navigation')[0].name")
    context.close()


@pytest.fixture
def other_site() -> Iterator[str]:
    """Another site on this machine, whose page is what `page` says."""

    class Site(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Site)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()


def test_another_site_opens_and_frames_nothing(dashboard: Served, browser: Browser, other_site: str) -> None:
    context = signed_in(browser, dashboard)
    page = context.new_page()
    target = f"{dashboard}?table=demo.three_inserts&view=graph"
    for site in (other_site, other_site.replace("127.0.0.1", "localhost")):  # another site; the same one, another port
        page.goto(site)
        page.set_content(f'<a href="{target}">look</a>')
        page.get_by_text("look").click()
        expect(page.get_by_text("came from another site")).to_be_visible()
        page.goto(site)
        page.set_content(f'<iframe src="{target}"></iframe>')
        page.wait_for_timeout(1000)
        assert not [f for f in page.frames[1:] if f.locator(".ix-name").count()]
        opened = page.evaluate(
            """url => new Promise((done) => { const s = new WebSocket(url, ["bokeh", "x"]);
            s.onopen = () => done("open"); s.onerror = () => done("refused"); })""",
            dashboard.replace("http", "ws") + "ws",
        )
        assert opened == "refused"
        got = page.evaluate(
            "url => fetch(url, {credentials: 'include'}).then((r) => r.text(), () => 'refused')", target
        )
        assert got == "refused"
    page.goto(target)  # as from the address bar
    expect(page.locator(".ix-name")).to_have_text("sandbox.demo.three_inserts", timeout=60_000)
    context.close()


@pytest.fixture(scope="module")
def shared(sandbox: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A dashboard for others: every address, and a password."""
    log = tmp_path_factory.mktemp("shared") / "log"
    with served(log, "--address", "0.0.0.0", "--allow-host", "tables.example", ICEDIVE_PASSWORD="a b&c") as url:
        yield url


def test_a_password_page_of_our_own(shared: Served, watched: Watched, artifacts: Path) -> None:
    page = watched.page
    assert "token" not in shared.entry
    page.goto(f"{shared}?table=demo.three_inserts&view=graph")
    field = page.get_by_label("Password")
    page.screenshot(path=artifacts / "login.png")
    field.fill("wrong")
    field.press("Enter")
    expect(page.get_by_text("not the password")).to_be_visible()
    page.get_by_label("Password").fill("a b&c")
    page.get_by_label("Password").press("Enter")
    expect(page.locator(".ix-name")).to_have_text("sandbox.demo.three_inserts", timeout=60_000)
    to(page, "rows")
    expect(page.get_by_text("Row diff")).to_be_visible()
    expect(page.get_by_text("SQL", exact=True)).to_have_count(0)
    expect(page.get_by_label("where (Spark SQL)")).to_have_count(0)
    to(page, "lab")
    expect(page.get_by_text("--allow-lab")).to_be_visible()
    expect(page.get_by_role("button", name="New run")).to_have_count(0)
    to(page, "maintain")
    expect(page.get_by_text("Previews only")).to_be_visible()
    expect(page.get_by_role("button", name="Run", exact=True)).to_be_disabled()
    watched.errors[:] = [e for e in watched.errors if "401" not in e]  # that of the login page itself
    watched.clean()


def test_hosts_and_origins_elsewhere(shared: Served) -> None:
    port = urlsplit(shared).port
    for name, status in {
        f"tables.example:{port}": 401,
        f"192.0.2.7:{port}": 401,
        f"{socket.gethostname()}:{port}": 401,
        "evil.example": 403,
    }.items():
        assert ask(shared, "/", Host=name)[0] == status, name
    form = {"Content_Type": "application/x-www-form-urlencoded", "Host": "tables.example"}
    right = ask(shared, "/?table=x", "POST", "password=a+b%26c", Origin="http://tables.example", **form)
    assert right[0] == 303
    assert right[1]["Location"] == "/?table=x"
    assert ask(shared, "/", "POST", "password=a+b%26c", Origin="http://evil.example", **form)[0] == 403
    assert ask(shared, "//evil.example/", "POST", "password=a+b%26c", Origin="http://tables.example", **form)[0] == 404


def test_panel_serve_goes_through_the_same_door(sandbox: Path, browser: Browser, tmp_path: Path) -> None:
    port, log = free_port(), tmp_path / "log"
    app = Path(__file__).parents[2] / "explorer" / "ui" / "app.py"
    command = [sys.executable, "-u", "-m", "panel", "serve", str(app), "--port", str(port)]
    with log.open("wb") as out:
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT)
    try:
        deadline = time.time() + 90
        while "App running" not in log.read_text() and "app running" not in log.read_text():
            assert time.time() < deadline, log.read_text()
            time.sleep(0.3)
        base = f"http://localhost:{port}/app"
        _, _, first = ask(base, "/app?table=demo.three_inserts")  # which puts the door there, and stays outside
        assert "token" in log.read_text(), log.read_text()
        assert "three_inserts" not in first
        assert ask(base, "/app")[0] == 401
        assert ask(base, "/app", Host="evil.example")[0] == 403
        outward = _outward_address()
        if outward:
            assert ask(f"http://{outward}:{port}/", "/app", Host=f"localhost:{port}")[0] == 403
        entry = re.search(r"explorer: (http\S+)", log.read_text())
        assert entry
        page = browser.new_context().new_page()
        page.goto(entry[1] + "&table=demo.three_inserts&view=graph")
        expect(page.locator(".ix-name")).to_have_text("sandbox.demo.three_inserts", timeout=60_000)
        page.context.close()
    finally:
        process.terminate()
        process.wait(30)


def _outward_address() -> str:
    """An address of this machine that is not loopback, if it has one; nothing is sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        try:
            s.connect(("192.0.2.1", 9))
        except OSError:
            return ""
        return str(s.getsockname()[0])
