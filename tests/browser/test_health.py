"""The Health tab: pictures in both themes, thresholds, and a catalog's tables, of which a click opens one."""

from __future__ import annotations

import re
from pathlib import Path

from playwright.sync_api import expect

from tests.browser.conftest import Watched
from tests.support.small_tables import partitioned


def test_a_table_and_its_catalog(dashboard: str, watched: Watched, artifacts: Path) -> None:
    page = watched.page
    page.goto(f"{dashboard}?table=sandbox.demo.three_inserts&view=health")
    expect(page.get_by_text(re.compile(r"sandbox\.demo\.three_inserts: \d+ ok"))).to_be_visible()
    expect(page.get_by_role("img", name=re.compile("data files by size"))).to_have_count(1)
    page.get_by_label("beyond").fill("1")
    page.get_by_label("beyond").press("Enter")
    page.get_by_role("button", name="Set", exact=True).click()
    expect(page.get_by_text("Files that merging small ones would save: 2, above 1")).to_be_visible()
    page.get_by_text("All tables of its catalog").click()
    row = page.get_by_role("gridcell", name="sandbox.demo.long_history", exact=True)
    expect(row).to_be_visible()
    expect(page.locator(".tabulator-row").first).to_contain_text("small-files")  # the worst first
    page.locator(".tabulator-col", has_text="small-files").first.click()  # ascending: it comes last
    expect(page.locator(".tabulator-row").first).not_to_contain_text("small-files")
    page.screenshot(path=artifacts / "health-catalog.png")
    row.click()
    expect(page).to_have_url(re.compile("table=sandbox.demo.long_history&view=health"))
    expect(page.get_by_text(re.compile(r"sandbox\.demo\.long_history: 2 warning"))).to_be_visible()
    page.set_viewport_size({"width": 1920, "height": 1080})
    page.get_by_label("Toggle theme").click()
    page.wait_for_timeout(500)
    page.screenshot(path=artifacts / "health-dark-1920.png")
    watched.clean()


def test_names_of_partitions_are_text(dashboard: str, watched: Watched, tmp_path: Path, artifacts: Path) -> None:
    """No TeX, for which a page would ask another site, and no HTML."""
    page = watched.page
    page.goto(f"{dashboard}?table={partitioned(tmp_path)}&view=health")
    expect(page.get_by_role("img", name=re.compile("kind=<b>"))).to_have_count(1)
    page.wait_for_timeout(500)
    page.screenshot(path=artifacts / "health-partitions.png")
    watched.clean()
