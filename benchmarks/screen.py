"""How soon a table is on screen, in headless Chromium. Prints one JSON line.

    python -m benchmarks.screen [TABLE_FOLDER...]

Needs the teaching tables (`icedive demo`). `page` is from navigation to the first card of the graph in a fresh browser;
`open_<table>` from navigation to a table's URL to its cards; `compare_` and `findings_` from the click on the mode to
its answer."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from playwright.sync_api import sync_playwright

from tests.browser.conftest import rail
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
        page.goto(f"{entry}&table=demo.three_inserts")
        page.get_by_role("treeitem").first.wait_for()
        seconds_by_name["page"] = round(time.perf_counter() - began, 2)
        tables = {name: f"demo.{name}" for name in ("equality_deletes", "long_history", "deletion_vectors")}
        for name, place in {**tables, **{Path(folder).name: folder for folder in folders}}.items():
            began = time.perf_counter()
            page.goto(f"{url}?table={quote(place)}")
            page.get_by_role("treeitem").first.wait_for()
            seconds_by_name[f"open_{name}"] = round(time.perf_counter() - began, 2)
            if place in folders:
                page.wait_for_timeout(2000)  # the page is at rest when a person clicks
                for mode in ("Compare", "Findings"):
                    began = time.perf_counter()
                    rail(page, mode)
                    page.locator(".asked[aria-busy=false]").first.wait_for()
                    seconds_by_name[f"{mode.lower()}_{name}"] = round(time.perf_counter() - began, 2)
        browser.close()
    return seconds_by_name


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1:])))
