"""One server, and damaged tables of the attack table one after the other (all of them under `make attacks`): it lives,
and answers the next click."""

from __future__ import annotations

import shutil
import time
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.conftest import served, signed_in
from tests.security import EVERY
from tests.security.build import Victim
from tests.security.file_cases import CASES
from tests.support.small_tables import make_table

EACH = 60
"""Seconds that opening one may take on a busy machine; what it may cost is held in tests/security/test_files.py."""


@pytest.mark.timeout(1200)
def test_a_server_outlives_them_all(sandbox: Path, browser: Browser, tmp_path: Path) -> None:
    honest = make_table(tmp_path / "honest")
    folders, waits = [], []
    for number, case in enumerate(CASES[:: 1 if EVERY else 34]):
        victim = Victim(Path(shutil.copytree(honest, tmp_path / f"case-{number}-" / "victim")))
        if case.build(victim) is None:  # else it is a file by itself, which no table names
            folders.append((case.name, victim.folder))
    assert len(folders) > 3
    with served(tmp_path / "log") as url:
        context = signed_in(browser, url, viewport={"width": 1280, "height": 800})
        page = context.new_page()
        page.goto(f"{url}?table=demo.manifest_lifecycle")
        for name, folder in folders:
            page.evaluate("() => { window.icediveTest = 1; }")  # the page stays the same one
            for place in (str(folder), "demo.manifest_lifecycle"):
                page.get_by_role("banner").get_by_role("button").first.click()
                page.get_by_label("Open", exact=True).fill(place)
                page.keyboard.press("Enter")
                opened = page.get_by_role("button", name="Details").or_(page.get_by_role("alert")).first
                deadline = time.time() + EACH
                while quote(place, safe="") not in page.url or not opened.is_visible():  # opened, or refused
                    assert time.time() < deadline, name
                    page.wait_for_timeout(50)
            expect(page.get_by_text("5 snapshots").first).to_be_visible(timeout=EACH * 1000)
            clicked = time.time()
            page.get_by_role("tab", name="Snapshots", exact=True).click()
            rows = page.get_by_role("grid", name="snapshots").get_by_role("row")
            expect(rows.nth(1)).to_be_visible(timeout=EACH * 1000)
            waits.append((time.time() - clicked, name))
            assert page.evaluate("window.icediveTest") == 1
        context.close()
    assert max(waits)[0] < 10, sorted(waits)[-3:]  # hardly anything, but for what else the machine may be busy with
