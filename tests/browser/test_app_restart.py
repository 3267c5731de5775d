"""A page outlives its server: what is shown stays, and it goes on when the server is back."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from pathlib import Path

from playwright.sync_api import Browser, expect

from tests.browser.conftest import Served, signed_in
from tests.support.ports import free_port


def start(port: int, log: Path) -> tuple[subprocess.Popen[bytes], str]:
    command = [sys.executable, "-u", "-m", "explorer.cli", "serve", "--port", str(port)]
    with log.open("wb") as out:
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT)
    while not (entry := re.search(r"http\S+token=\S+", log.read_text())):
        assert process.poll() is None, log.read_text()
        time.sleep(0.1)
    return process, entry[0]


def test_a_page_outlives_its_server(sandbox: Path, browser: Browser, tmp_path: Path) -> None:
    port = free_port()
    process, entry = start(port, tmp_path / "first")
    try:
        url = Served(f"http://localhost:{port}/")
        url.entry = entry
        context = signed_in(browser, url, viewport={"width": 1440, "height": 900})
        page = context.new_page()
        page.goto(f"{url}?table=demo.equality_deletes&snapshot=")
        expect(page.get_by_role("treeitem", name=re.compile("delete-1.parquet"))).to_be_visible()
        process.terminate()
        process.wait(60)
        expect(page.get_by_text("The connection to the server was lost")).to_be_visible()
        expect(page.get_by_role("treeitem", name=re.compile("delete-1.parquet"))).to_be_visible()
        process, _ = start(port, tmp_path / "second")
        expect(page.get_by_text("The connection to the server was lost")).to_have_count(0)
        page.get_by_role("navigation", name="Modes").get_by_role("button", name="Deletes").click()
        expect(page.get_by_role("region", name="Deletes")).to_contain_text("delete-1")
        context.close()
    finally:
        process.kill()
