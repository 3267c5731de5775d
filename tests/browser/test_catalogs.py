"""Catalogs that a person adds on the page, and credentials of their own."""

from __future__ import annotations

import re
from pathlib import Path

from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import AXE, VIOLATIONS, card, page_of, served
from tests.support.small_tables import make_table, newest_metadata
from tests.support.token_catalog import SECRETS, token_catalog


def test_a_catalog_is_added_with_a_token_of_this_page_alone(browser: Browser, tmp_path: Path, artifacts: Path) -> None:
    """Another page sees the catalog, and is let in once it gives a token too. No secret is on a page or in the log."""
    home, log = tmp_path / "home", tmp_path / "log"
    home.mkdir(mode=0o700)
    table = make_table(tmp_path)
    with (
        token_catalog(newest_metadata(table)) as catalog,
        served(log, ICEDIVE_HOME=str(home)) as url,
        page_of(browser, url) as ann,
        page_of(browser, url) as bob,
    ):
        for page in (ann, bob):
            page.goto(url)
        ann.get_by_role("button", name="Browse catalogs").click()
        ann.get_by_role("button", name="Add a catalog").click()
        form = ann.get_by_role("form", name="Add a catalog")
        form.get_by_label("Name").fill("prod")
        form.get_by_label("Address").fill(catalog.url)
        form.get_by_label("Warehouse").fill(str(table.parent))
        add = form.get_by_role("button", name="Test and add")
        add.click()
        expect(form.get_by_role("alert")).to_contain_text("cannot be")
        form.get_by_role("button", name="Add a credential").click()
        form.get_by_label("Value", exact=True).fill(SECRETS["ann"])
        ann.evaluate(AXE)
        assert not ann.evaluate(VIOLATIONS)
        ann.screenshot(path=artifacts / "catalog-add.png")
        add.click()
        expect(form).to_have_count(0)
        tree = ann.get_by_role("tree", name="Catalogs")
        tree.get_by_role("button", name="prod", exact=True).click()
        tree.get_by_role("button", name="ann", exact=True).click()
        tree.get_by_role("button", name="t", exact=True).click()
        expect(card(ann, "^snapshot-1,")).to_be_visible()
        ann.get_by_role("navigation", name="Modes").get_by_role("button", name="Findings").click()
        expect(ann.locator(".mode-answer .answer")).to_be_visible()
        expect(ann.get_by_text("Save as")).to_have_count(0)  # a link carries no credentials
        ann.screenshot(path=artifacts / "catalog-added.png")

        bob.reload()
        bob.get_by_role("button", name="Browse catalogs").click()
        tree = bob.get_by_role("tree", name="Catalogs")
        tree.get_by_role("button", name="prod", exact=True).click()
        expect(tree.get_by_text("cannot be")).to_be_visible()
        give(bob, SECRETS["bob"])
        tree.get_by_role("button", name="prod", exact=True).click()
        expect(tree.get_by_role("button", name="bob", exact=True)).to_be_visible()
        expect(tree.get_by_role("button", name="ann", exact=True)).to_have_count(0)
        bob.evaluate(AXE)
        assert not bob.evaluate(VIOLATIONS)
        bob.screenshot(path=artifacts / "catalog-credentials.png")
        for page in (ann, bob):
            kept = page.evaluate("() => JSON.stringify([{...localStorage}, {...sessionStorage}, location.href])")
            assert not [secret for secret in SECRETS.values() if secret in page.content() + kept]
    told = log.read_text() + "".join(path.read_text() for path in home.rglob("*.json"))
    assert not [secret for secret in SECRETS.values() if secret in told]


def give(page: Page, secret: str) -> None:
    """Give a token for the catalog that was added."""
    page.get_by_role("button", name="Credentials for prod").click()
    form = page.get_by_role("form", name="Credentials for prod")
    form.get_by_label("Value", exact=True).fill("wrong")
    form.get_by_role("button", name="Use them").click()
    expect(form.get_by_role("alert")).to_contain_text(re.compile("prod"))
    form.get_by_label("Value", exact=True).fill(secret)
    form.get_by_role("button", name="Use them").click()
    expect(form).to_have_count(0)
