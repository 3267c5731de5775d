"""A real browser, a real server of the page and a real JupyterLab, all on loopback."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import urlparse

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    Error,
    Locator,
    Page,
    Playwright,
    WebSocketRoute,
    expect,
    sync_playwright,
)

from tests.browser.find_browser import FLAGS, find
from tests.support.ports import free_port

PATIENCE_MS = 60_000
"""The machine may be busy, and slow."""
expect.set_options(timeout=PATIENCE_MS)
LOCAL = {"127.0.0.1", "localhost", "[::1]"}


AXE = files("axe_playwright_python").joinpath("axe.min.js").read_text()
VIOLATIONS = """async () => {
  const { violations } = await axe.run(document, { resultTypes: ["violations"] });
  return violations.filter(({ impact }) => ["serious", "critical"].includes(impact)).flatMap(({ id, nodes }) =>
    nodes.map(({ html }) => `${id} ${html.slice(0, 200)}`));
}"""
"""What axe (AXE) finds that is serious."""


@pytest.fixture(scope="session")
def chromium() -> str:
    """The browser's path."""
    path = find()
    assert path, "no browser: run `make browser`"
    return path


@pytest.fixture(scope="session")
def playwright(chromium: str) -> Iterator[Playwright]:
    """One a process: `find` may need one too, and goes first."""
    with sync_playwright() as started:
        yield started


@pytest.fixture(scope="session")
def browser(playwright: Playwright, chromium: str) -> Iterator[Browser]:
    started = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
    yield started
    started.close()


class Watched:
    """A page, and what went wrong on it: requests that left the machine, console errors, uncaught exceptions."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.outside: list[str] = []
        self.errors: list[str] = []
        page.set_default_timeout(PATIENCE_MS)
        page.on(
            "request",
            lambda r: (
                self.outside.append(r.url)
                if urlparse(r.url).scheme in ("http", "https", "ws", "wss") and urlparse(r.url).hostname not in LOCAL
                else None
            ),
        )
        page.on("console", lambda m: self.errors.append(m.text) if m.type == "error" else None)
        page.on("pageerror", lambda e: self.errors.append(str(e)))

    def clean(self) -> None:
        assert not self.outside
        assert not self.errors


class Served(str):
    """The URL of a server of the page; `entry` is the one it printed, with its token."""

    entry: str


def signed_in(browser: Browser, url: str, **options: Any) -> BrowserContext:
    """A browser's context of its own, with the cookie of the server, if it is one of the page."""
    context = browser.new_context(**options)
    if isinstance(url, Served):
        assert context.request.get(url.entry, max_redirects=0).status == 302
    return context


@pytest.fixture(scope="session")
def profile(
    playwright: Playwright, chromium: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[BrowserContext]:
    """One for all pages that are watched, on the disk: a browser that has been there before has the scripts, compiled
    (a tenth to a fifth of what a page costs)."""
    context = playwright.chromium.launch_persistent_context(
        tmp_path_factory.mktemp("profile"),
        executable_path=chromium,
        args=FLAGS,
        viewport={"width": 1280, "height": 800},
    )
    yield context
    context.close()


@pytest.fixture
def watched(profile: BrowserContext) -> Iterator[Watched]:
    """A page that remembers nothing but scripts: of a file, a notebook, or Panel."""
    profile.clear_cookies()
    page = profile.new_page()
    yield Watched(page)
    with contextlib.suppress(Error):  # a file has none
        page.evaluate("() => localStorage.clear()")
    profile.set_offline(False)
    for opened in profile.pages[1:]:  # without the first one, which stays empty, the browser would end
        opened.close()


class _Quiet(SimpleHTTPRequestHandler):
    """Serves files and logs nothing."""

    def log_message(self, *_: object) -> None:
        pass


@contextlib.contextmanager
def folder_served(folder: Path) -> Iterator[str]:
    """The address of a server of a folder's files."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(folder))) as files_server:
        threading.Thread(target=files_server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{files_server.server_address[1]}"
        files_server.shutdown()


@contextlib.contextmanager
def server(command: list[str], url: str, log: Path, environment: dict[str, str] | None = None) -> Iterator[str]:
    with log.open("wb") as out:
        process = subprocess.Popen(
            command, stdout=out, stderr=subprocess.STDOUT, env={**os.environ, **(environment or {})}
        )
        try:
            deadline = time.time() + 180
            while True:
                try:
                    urllib.request.urlopen(url, timeout=5).close()
                    break
                except urllib.error.HTTPError:  # it answers, if not to us
                    break
                except OSError:
                    assert process.poll() is None, log.read_text()
                    assert time.time() < deadline, log.read_text()
                    time.sleep(0.2)
            yield url
        finally:
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()


@pytest.fixture(scope="session")
def app(sandbox: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The page, as `icedive serve` serves it."""
    with served(tmp_path_factory.mktemp("app") / "log") as url:
        yield url


@contextlib.contextmanager
def page_of(browser: Browser, url: str, **options: Any) -> Iterator[Page]:
    """A page of a browser of its own, on which nothing goes wrong, and that asks nobody else."""
    context = signed_in(browser, url, **{"viewport": {"width": 1440, "height": 900}, **options})
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    watched = Watched(context.new_page())
    watched.page.on("dialog", lambda dialog: watched.errors.append(f"dialog: {dialog.message}"))
    yield watched.page
    watched.clean()
    context.close()


@pytest.fixture
def page(browser: Browser, app: Served) -> Iterator[Page]:
    with page_of(browser, app) as opened:
        yield opened


@contextlib.contextmanager
def served(log: Path, *options: str, host: str = "localhost", **environment: str) -> Iterator[Served]:
    """The page, by a server in a process of its own."""
    port = free_port()
    command = [sys.executable, "-u", "-m", "explorer.cli", "serve", "--port", str(port), *options]
    with server(command, f"http://{host}:{port}/", log, environment) as base:
        url = Served(base)
        url.entry = next(
            w for line in log.read_text().splitlines() if "explorer: http" in line for w in line.split()[-1:]
        )
        yield url


@pytest.fixture(scope="session")
def jupyter(sandbox: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """As `course` opens it."""
    folder = tmp_path_factory.mktemp("lab")
    own = {f"JUPYTER_{n}_DIR": str(folder / n.lower()) for n in ("CONFIG", "DATA", "RUNTIME")} | {
        "HOME": str(folder),
        "JUPYTERLAB_SETTINGS_DIR": str(folder / "s"),
        "JUPYTERLAB_WORKSPACES_DIR": str(folder / "w"),
    }
    port = free_port()
    options = [
        "--no-browser",
        "--ip=127.0.0.1",
        f"--port={port}",
        "--IdentityProvider.token=",
        "--LabApp.expose_app_in_browser=True",
        "--LabApp.news_url=",
    ]
    command = [sys.executable, "-m", "explorer.cli", "course", str(folder / "notebooks"), "--", *options]
    with server(command, f"http://localhost:{port}/lab", folder / "log", own) as url:
        yield url


class HeldMessages:
    """The messages of a page's server, which wait here while `are_held`, as behind a slow store."""

    def __init__(self, page: Page) -> None:
        self.are_held = False
        self.waiting: list[str | bytes] = []
        self._wires: list[WebSocketRoute] = []
        page.route_web_socket(re.compile("/ws$"), self._carry)

    def _carry(self, wire: WebSocketRoute) -> None:
        server = wire.connect_to_server()
        server.on_message(lambda text: self.waiting.append(text) if self.are_held else wire.send(text))
        self._wires.append(wire)

    def release(self) -> None:
        """Let those that wait through, and hold no more."""
        self.are_held = False
        for text in self.waiting:
            self._wires[-1].send(text)


def card(page: Page, name: str) -> Locator:
    """The card of the graph whose description matches a pattern."""
    return page.get_by_role("treeitem", name=re.compile(name)).first


def rail(page: Page, name: str) -> None:
    """Go to a mode."""
    page.get_by_role("navigation", name="Modes").get_by_role("button", name=name, exact=True).click()
