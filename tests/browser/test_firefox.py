"""The main journeys of the page in Firefox."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.browser.conftest import LOCAL, Served
from tests.browser.firefox import Firefox, find_firefox, firefox

TABLE = "table=demo.equality_deletes"


@pytest.fixture(scope="module")
def fox(app: Served, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Firefox]:
    path = find_firefox()
    if path is None:
        pytest.skip("Firefox is not here: apt-get install firefox-esr")
    with firefox(path, tmp_path_factory.mktemp("firefox")) as browser:
        browser.goto(app.entry)
        yield browser
        away = [url for url in browser.addresses if (urlsplit(url).hostname or "localhost") not in LOCAL]
        assert not [url for url in away if "mozilla" not in url]  # which it asks by itself
        assert not browser.errors


def test_a_table_opens_steps_and_is_inspected(app: Served, fox: Firefox, artifacts: Path) -> None:
    fox.goto(app)
    fox.click("button", "^equality_deletes")
    fox.see("treeitem", "delete-1.parquet")
    assert "equality_deletes" in fox.evaluate("document.title")
    fox.click("button", "^Previous snapshot")
    fox.see("treeitem", "^snapshot-2, snapshot, in view")
    fox.click("treeitem", "delete-1.parquet")
    fox.wait("document.querySelector('.inspector-title')?.textContent === 'delete-1.parquet'")
    assert "node=" in fox.evaluate("location.search")
    fox.picture(artifacts / "firefox.png")
    fox.type("Escape")
    fox.wait("!document.querySelector('.inspector-title')?.textContent?.includes('delete')")


def test_a_filter_is_planned(app: Served, fox: Firefox) -> None:
    fox.goto(f"{app}?table=demo.sorted_files&mode=plan")
    fox.wait("document.querySelector('.cm-content') !== null")
    fox.click("textbox", "^Filter$")
    fox.type("name = 'jack'")
    fox.type("Enter")
    fox.wait("document.body.textContent.includes('The scan reads 1 of 4 data files')")
    assert "jack" in fox.evaluate("decodeURIComponent(location.search)")


def test_lists_compare_and_back(app: Served, fox: Firefox) -> None:
    fox.goto(f"{app}?{TABLE}")
    fox.click("tab", "^Files$")
    fox.see("grid", "files")
    fox.wait("[...document.querySelectorAll('[role=gridcell]')].some((one) => one.textContent.includes('parquet'))")
    fox.click("button", "^Compare$")
    fox.wait("document.body.textContent.includes('data-3.parquet')")
    assert "mode=compare" in fox.evaluate("location.search")
    fox.back()
    fox.wait("!location.search.includes('mode=compare')")
    fox.goto(f"{app}?{TABLE}&mode=findings")
    fox.wait("/nothing wrong/i.test(document.body.textContent)")
