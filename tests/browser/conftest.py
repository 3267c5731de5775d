"""A real browser, a real dashboard process and a real JupyterLab, all on loopback."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlparse

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from tests.browser.find_browser import FLAGS, find

LOCAL = {"127.0.0.1", "localhost", "[::1]"}


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    path = find()
    assert path, "no browser: run `make browser`"
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield started
        started.close()


class Watched:
    """A page, and what went wrong on it: requests that left the machine, console errors, uncaught exceptions."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.outside: list[str] = []
        self.errors: list[str] = []
        page.set_default_timeout(20_000)
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


@pytest.fixture
def watched(browser: Browser) -> Iterator[Watched]:
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    yield Watched(context.new_page())
    context.close()


def free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return int(s.getsockname()[1])


@contextlib.contextmanager
def server(command: list[str], url: str, log: Path, environment: dict[str, str] | None = None) -> Iterator[str]:
    with log.open("wb") as out:
        process = subprocess.Popen(
            command, stdout=out, stderr=subprocess.STDOUT, env={**os.environ, **(environment or {})}
        )
        try:
            deadline = time.time() + 90
            while True:
                try:
                    urllib.request.urlopen(url, timeout=5).close()
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
def dashboard(sandbox: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    port = free_port()
    command = [sys.executable, "-m", "explorer.cli", "serve", "--port", str(port)]
    with server(command, f"http://localhost:{port}/", tmp_path_factory.mktemp("dashboard") / "log") as url:
        yield url


@pytest.fixture(scope="session")
def jupyter(sandbox: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    import shutil

    folder = tmp_path_factory.mktemp("lab")
    shutil.copytree(Path(__file__).parents[2] / "notebooks", folder / "notebooks")
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
        "--allow-root",
        "--IdentityProvider.token=",
        "--LabApp.expose_app_in_browser=True",
        "--LabApp.news_url=",
    ]
    command = [sys.executable, "-m", "jupyterlab", *options, f"--notebook-dir={folder / 'notebooks'}"]
    with server(command, f"http://localhost:{port}/lab", folder / "log", own) as url:
        yield url
