"""A real browser, a real dashboard process and a real JupyterLab, all on loopback."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlparse

import pytest
from playwright.sync_api import Browser, BrowserContext, Error, Page, Playwright, expect, sync_playwright

from explorer.ui.rooms import ROOMS, VIEWS
from tests.browser.find_browser import FLAGS, find
from tests.support.ports import free_port

PATIENCE_MS = 60_000
"""The machine may be busy, and slow."""
expect.set_options(timeout=PATIENCE_MS)
LOCAL = {"127.0.0.1", "localhost", "[::1]"}


class Arriving:
    """Pages that came are those whose own view is there, not what stands there first (ui.first)."""

    goto, reload = Page.goto, Page.reload

    @classmethod
    def all_pages(cls) -> None:
        def goto(page: Page, url: str, **options: Any) -> Any:
            return cls.there(page, cls.goto(page, url, **options))

        def reload(page: Page, **options: Any) -> Any:
            return cls.there(page, cls.reload(page, **options))

        Page.goto, Page.reload = goto, reload  # type: ignore[method-assign]

    @staticmethod
    def there(page: Page, answer: Any) -> Any:
        page.wait_for_function("() => !document.getElementById('first')")
        return answer


Arriving.all_pages()


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
    """The URL of a dashboard; `entry` is the one it printed, with its token."""

    entry: str


def signed_in(browser: Browser, url: str, **options: Any) -> BrowserContext:
    """A browser's context of its own, with the cookie of the server, if it is a dashboard."""
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
def watched(profile: BrowserContext, request: pytest.FixtureRequest) -> Iterator[Watched]:
    """A page that remembers nothing but scripts."""
    profile.clear_cookies()
    if "dashboard" in request.fixturenames:
        assert profile.request.get(request.getfixturevalue("dashboard").entry, max_redirects=0).status == 302
    page = profile.new_page()
    yield Watched(page)
    with contextlib.suppress(Error):  # a file has none
        page.evaluate("() => localStorage.clear()")
    profile.set_offline(False)
    for opened in profile.pages[1:]:  # without the first one, which stays empty, the browser would end
        opened.close()


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
def dashboard(sandbox: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("dashboard") / "log") as url:
        yield url


@contextlib.contextmanager
def served(log: Path, *options: str, host: str = "localhost", **environment: str) -> Iterator[Served]:
    """A dashboard of its own process."""
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


def node(page: Page, label: str) -> object:
    return page.locator(f'.ix-node[data-label="{label}"]')


def show(page: Page, url: str) -> None:
    """A page with a graph: of a dashboard the one of its table, unless the URL says which view."""
    if urlparse(url).scheme == "http" and "view=" not in url:
        url += f"{'&' if '?' in url else '?'}view=graph"
    page.goto(url)
    page.wait_for_selector(".ix-node")


def to(page: Page, view: str) -> None:
    """To a view of the dashboard, by its name in URLs: into its room, and there to it."""
    room = ROOMS[VIEWS[view]]
    page.locator(".bk-tab:visible").get_by_text(room.title, exact=True).first.click()
    if len(room.views) > 1:
        page.locator(".bk-tab:visible").get_by_text(room.views[view], exact=True).first.click()


def tab(page: Page, name: str) -> None:
    page.locator(".bk-tab:visible").get_by_text(name, exact=True).last.click()
