"""Who may talk to the page's server: the token, the cookie, other sites, other hosts, a password."""

from __future__ import annotations

import http.client
import re
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.conftest import Served, Watched, rail, served, signed_in
from tests.security.web_cases import REQUESTS


def ask(
    url: str, path: str = "/", method: str = "GET", body: str = "", **headers: str
) -> tuple[int, dict[str, str], str]:
    """(status, headers, body) of one request, with no cookies but those given."""
    where = urlsplit(url)
    connection = http.client.HTTPConnection(where.hostname or "", where.port or 80, timeout=30)
    connection.request(method, path, body or None, {k.replace("_", "-"): v for k, v in headers.items()})
    answer = connection.getresponse()
    return answer.status, dict(answer.getheaders()), answer.read().decode(errors="replace")


def opened(page: Page) -> Locator:
    """What says that a table is open."""
    return page.get_by_role("button", name="sandbox / demo / three_inserts")


def cookie(url: Served) -> str:
    """What the token gives."""
    status, headers, _ = ask(url, url.entry.removeprefix(url.rstrip("/")))
    assert status == 302
    given = headers["Set-Cookie"]
    assert "HttpOnly" in given
    assert "SameSite=Strict" in given
    assert "token" not in headers["Location"]
    return given.partition(";")[0]


def test_nothing_is_to_be_had_without_the_token(app: Served) -> None:
    paths = (
        "/",
        "/?table=demo.three_inserts",
        "/?token=",
        "/?token=wrong",
        "/ws",
        "/favicon.ico",
        "/static/app.js",
        "/download?question=show&format=json&table=demo.three_inserts",
    )
    for path in paths:
        status, headers, body = ask(app, path)
        assert status == 401, path
        assert "Set-Cookie" not in headers
        assert "token" in body
    known = cookie(app)
    for path in ("/", "/static/app.js", "/static/icon.svg"):
        assert ask(app, path, Cookie=known)[0] == 200
    for wrong in (known + "x", known[:-1], known.partition("=")[0] + "=", "x=" + known.partition("=")[2]):
        assert ask(app, "/", Cookie=wrong)[0] == 401


@pytest.mark.parametrize(("headers", "path"), [case[1:] for case in REQUESTS], ids=[case[0] for case in REQUESTS])
def test_refused_though_the_cookie_is_right(app: Served, headers: dict[str, str], path: str) -> None:
    known = cookie(app)
    status, answered, _ = ask(app, path, Cookie=known, **headers)
    assert 400 <= status < 500
    assert "Location" not in answered


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS"])
def test_only_get(app: Served, method: str) -> None:
    assert ask(app, "/", method, Cookie=cookie(app))[0] in (403, 405)


def test_a_large_body_is_not_read(app: Served) -> None:
    where = urlsplit(app)
    with socket.create_connection((where.hostname, where.port), timeout=30) as s:
        s.sendall(f"POST / HTTP/1.1\r\nHost: {where.netloc}\r\nContent-Length: 90000000\r\n\r\n".encode())
        assert re.match(rb"HTTP/1.1 4\d\d|$", s.recv(100))


def test_headers(app: Served) -> None:
    for path in ("/", "/static/app.js", "/nothing"):
        _, headers, _ = ask(app, path, Cookie=cookie(app))
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


def test_the_token_leaves_the_address_bar(app: Served, browser: Browser) -> None:
    context = browser.new_context()
    page = context.new_page()
    page.goto(app.entry + "&table=demo.three_inserts&view=graph")
    expect(opened(page)).to_be_visible()
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


def test_another_site_opens_and_frames_nothing(app: Served, browser: Browser, other_site: str) -> None:
    context = signed_in(browser, app)
    page = context.new_page()
    target = f"{app}?table=demo.three_inserts&view=graph"
    for site in (other_site, other_site.replace("127.0.0.1", "localhost")):  # another site; the same one, another port
        page.goto(site)
        page.set_content(f'<a href="{target}">look</a>')
        page.get_by_text("look").click()
        expect(page.get_by_text("came from another site")).to_be_visible()
        page.goto(site)
        page.set_content(f'<iframe src="{target}"></iframe>')
        page.wait_for_timeout(1000)
        assert not [f for f in page.frames[1:] if f.get_by_role("navigation", name="Modes").count()]
        socket_is = page.evaluate(
            """url => new Promise((done) => { const s = new WebSocket(url);
            s.onopen = () => done("open"); s.onerror = () => done("refused"); })""",
            app.replace("http", "ws") + "ws",
        )
        assert socket_is == "refused"
        got = page.evaluate(
            "url => fetch(url, {credentials: 'include'}).then((r) => r.text(), () => 'refused')", target
        )
        assert got == "refused"
    page.goto(target)  # as from the address bar
    expect(opened(page)).to_be_visible()
    context.close()


@pytest.fixture(scope="module")
def shared(sandbox: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server for others: every address, and a password."""
    log = tmp_path_factory.mktemp("shared") / "log"
    with served(log, "--address", "0.0.0.0", "--allow-host", "tables.example", ICEDIVE_PASSWORD="a b&c") as url:
        yield url


def test_a_password_page_of_our_own(shared: Served, browser: Browser, artifacts: Path) -> None:
    """And what others may not do: run SQL, write."""
    assert "token" not in shared.entry
    context = browser.new_context()
    watched = Watched(context.new_page())
    page = watched.page
    page.goto(f"{shared}?table=demo.three_inserts")
    field = page.get_by_label("Password")
    page.screenshot(path=artifacts / "login.png")
    field.fill("wrong")
    field.press("Enter")
    expect(page.get_by_text("not the password")).to_be_visible()
    page.get_by_label("Password").fill("a b&c")
    page.get_by_label("Password").press("Enter")
    expect(opened(page)).to_be_visible()
    rail(page, "Rows")
    expect(page.get_by_role("button", name="Read", exact=True)).to_be_visible()
    expect(page.get_by_role("tab", name="SQL")).to_have_count(0)
    expect(page.get_by_label("SQL", exact=True)).to_have_count(0)
    rail(page, "Lab")
    expect(page.get_by_text("--allow-lab").first).to_be_visible()
    expect(page.get_by_role("button", name="New run")).to_have_count(0)
    rail(page, "Health")
    page.get_by_role("tab", name="Maintenance").click()
    expect(page.get_by_role("region", name="What it would do")).to_contain_text("3 data files")
    expect(page.get_by_role("button", name="Run", exact=True)).to_have_count(0)
    expect(page.get_by_role("button", name="Make a copy of my own")).to_have_count(0)
    page.get_by_role("button", name="sandbox / demo").click()
    expect(page.get_by_role("complementary", name="Tables")).to_be_visible()
    expect(page.get_by_text("Places that moved")).to_have_count(0)
    watched.errors[:] = [e for e in watched.errors if "401" not in e]  # that of the login page itself
    watched.clean()
    context.close()


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
