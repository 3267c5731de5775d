"""Ids and paths in lists are copied, by mouse and by keyboard."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import Watched


def copied(page: Page) -> str:
    return str(page.evaluate("() => navigator.clipboard.readText()"))


def signed(page: Page, cell: Locator) -> Locator:
    """The sign of a cell that is pointed at, from elsewhere on the page; a list may be drawn anew at first."""
    sign = cell.get_by_role("button")
    for _ in range(20):
        page.get_by_text("Click one to see it").first.hover()
        cell.hover()
        page.wait_for_timeout(400)
        if sign.count():
            break
    return sign


def test_ids_and_paths_are_copied(dashboard: str, watched: Watched, artifacts: Path) -> None:
    page = watched.page
    page.context.grant_permissions(["clipboard-read", "clipboard-write"], origin=dashboard.rstrip("/"))
    page.goto(f"{dashboard}?table=demo.manifest_lifecycle&view=files")
    cell = page.locator('.tabulator-cell[tabulator-field="file_path"]').first
    expect(cell).to_have_text("data/data-4.parquet")
    sign = signed(page, cell)
    expect(sign).to_have_accessible_name("Copy file_path")
    page.screenshot(path=artifacts / "copied.png")
    for _ in range(2):  # what it says itself is not copied
        sign.click()
        expect(sign).to_have_text("copied")
        assert copied(page) == "data/data-4.parquet"
    expect(page.locator(".ix-side h3:visible")).to_have_count(0)  # the row was not clicked

    page.locator(".tabulator-tableholder").first.focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowRight"):
        page.keyboard.press(key)
    snapshot = page.locator('.tabulator-cell[tabulator-field="snapshot_id"]').nth(1)
    expect(snapshot.locator("button")).to_be_focused()
    page.keyboard.press("Control+c")
    expect(snapshot.locator("button")).to_have_text("copied")
    page.screenshot(path=artifacts / "copied-by-keyboard.png")
    assert copied(page).isdigit()
    assert snapshot.inner_text().startswith(copied(page))
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Copy file_path").nth(1)).to_have_text("copied")
    assert copied(page) == "data/data-3.parquet"
    watched.clean()


def test_what_cannot_be_copied_is_marked(dashboard: str, watched: Watched) -> None:
    """Where the browser lets no page write to its clipboard, the text is chosen for Ctrl+C."""
    page = watched.page
    page.goto(f"{dashboard}?table=demo.manifest_lifecycle&view=snapshots")
    cell = page.locator('.tabulator-cell[tabulator-field="snapshot-id"]').first
    expect(cell).to_be_visible()
    page.evaluate("() => { navigator.clipboard.writeText = () => Promise.reject(new Error('no')); }")
    signed(page, cell).click()
    page.evaluate("() => window.addEventListener('copy', () => { window.taken = true; })")
    expect(cell.get_by_role("button")).to_have_text("selected: press Ctrl+C")
    page.keyboard.press("Control+c")
    assert page.evaluate("() => window.taken")
    assert page.locator('.tabulator-cell[tabulator-field="operation"] button').count() == 0
    watched.clean()
