"""How soon a table is on screen, in headless Chromium, while Spark is still starting. Prints one JSON line.

    python -m benchmarks.screen [TABLE_FOLDER...]

Needs the teaching tables (`icedive demo`). `page` is from navigation to the first node of a fresh browser;
`open_<table>` from the click in the catalog tree, or from navigation to a folder's URL, to its nodes; `diff_` and
`history_` from the click on the tab to its first answer."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import quote

from playwright.sync_api import sync_playwright

from tests.browser.conftest import to
from tests.browser.find_browser import FLAGS, find
from tests.support.ports import free_port


@contextmanager
def closed_at_end(command: list[str]) -> Iterator[subprocess.Popen[str]]:
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        yield server
    finally:
        server.kill()
        server.wait()


def measure(folders: list[str]) -> dict[str, float | str]:
    port = free_port()
    url = f"http://localhost:{port}/"
    seconds_by_name: dict[str, float | str] = {}
    command = [sys.executable, "-m", "explorer.cli", "serve", "--port", str(port)]
    with closed_at_end(command) as server, sync_playwright() as playwright:
        assert server.stdout
        entry = ""
        while not entry.startswith(url):
            entry = (server.stdout.readline().split() or [""])[-1]
        browser = playwright.chromium.launch(executable_path=find(), args=FLAGS)
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        began = time.perf_counter()
        page.goto(f"{entry}&view=graph")
        page.wait_for_selector(".ix-node")
        seconds_by_name["page"] = round(time.perf_counter() - began, 2)
        for name in ("equality_deletes", "long_history", "deletion_vectors"):
            row = page.get_by_text(name, exact=True)
            began = time.perf_counter()
            row.click()
            page.locator(".ix-name", has_text=name).wait_for()
            seconds_by_name[f"open_{name}"] = round(time.perf_counter() - began, 2)
        seconds_by_name["spark"] = page.get_by_text("Spark:").inner_text()
        for folder in folders:
            began = time.perf_counter()
            page.goto(f"{url}?table={quote(folder)}&view=graph")
            page.wait_for_selector(".ix-node")
            name = folder.rsplit("/", 1)[-1]
            seconds_by_name[f"open_{name}"] = round(time.perf_counter() - began, 2)
            page.wait_for_timeout(2000)  # the page is at rest when a person clicks
            for view, sign in (
                ("diff", page.get_by_text("net", exact=False)),
                ("history", page.locator(".tabulator-cell circle").first),
            ):
                began = time.perf_counter()
                to(page, view)
                sign.wait_for()
                seconds_by_name[f"{view}_{name}"] = round(time.perf_counter() - began, 2)
        browser.close()
    return seconds_by_name


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1:])))
