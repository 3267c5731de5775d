"""What a person opens and comes back to: tables by name, pinned and recent ones, places that moved, light and dark."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from explorer.lab.scenarios import SCENARIOS
from tests.browser.conftest import HeldMessages, Served, card, rail
from tests.support.small_tables import make_table


def tables(page: Page) -> None:
    """Open the list of tables."""
    page.get_by_role("banner").get_by_role("button").first.click()
    expect(page.get_by_role("complementary", name="Tables")).to_be_visible()


def test_a_mode_may_be_chosen_while_a_table_opens(page: Page, app: Served) -> None:
    """The page of who has opened nothing does not come back meanwhile, and one request opens the table."""
    messages = HeldMessages(page)
    page.goto(app)
    box = page.get_by_role("textbox", name="Open a table")
    box.fill("sandbox.demo.manifest_lifecycle")
    messages.are_held = True
    box.press("Enter")
    expect(box).to_have_count(0)
    rail(page, "Plan")
    expect(page.get_by_role("button", name="Plan", exact=True)).to_have_attribute("aria-current", "page")
    expect(box).to_have_count(0)
    messages.release()
    expect(page.get_by_role("button", name="sandbox / demo / manifest_lifecycle")).to_be_visible()
    page.get_by_role("textbox", name="Filter").fill("fruit = 'apple'")
    page.keyboard.press("Enter")
    expect(page.locator(".mode-answer")).to_be_visible()


def test_tables_are_pinned_and_remembered(page: Page, app: Served) -> None:
    for name in ("manifest_lifecycle", "deletion_vectors"):
        page.goto(f"{app}?table=sandbox.demo.{name}")
        expect(page.get_by_role("button", name=f"sandbox / demo / {name}")).to_be_visible()
        expect(card(page, "^snapshot-1,")).to_be_visible()
    tables(page)
    panel = page.get_by_role("complementary", name="Tables")
    expect(panel.get_by_role("heading", name="Recent")).to_be_visible()
    panel.get_by_role("button", name="Pin sandbox.demo.manifest_lifecycle").click()
    expect(panel.get_by_role("heading", name="Pinned")).to_be_visible()
    page.goto(app)  # another day
    page.get_by_role("button", name="Browse catalogs").click()
    panel.get_by_role("button", name="sandbox.demo.manifest_lifecycle", exact=True).first.click()
    expect(page.get_by_role("button", name="sandbox / demo / manifest_lifecycle")).to_be_visible()
    tables(page)
    panel.get_by_role("button", name="Pin sandbox.demo.manifest_lifecycle").first.click()
    expect(panel.get_by_role("heading", name="Pinned")).to_have_count(0)


def test_a_table_that_is_not_there_is_said_and_the_page_goes_on(page: Page, app: Served) -> None:
    page.goto(f"{app}?table=demo.manifest_lifecycle")
    expect(card(page, "^snapshot-5,")).to_be_visible()
    tables(page)
    page.get_by_label("Open", exact=True).fill("demo.nothing_here")
    page.keyboard.press("Enter")
    expect(page.get_by_text("no table 'demo.nothing_here'").first).to_be_visible()
    page.go_back()
    expect(card(page, "^snapshot-5,")).to_be_visible()
    page.goto(f"{app}?table=demo.nothing_here&view=files")
    expect(page.get_by_text("no table 'demo.nothing_here'").first).to_be_visible()
    page.get_by_role("button", name=re.compile("^three_inserts")).click()  # to go on from
    expect(card(page, "^snapshot-3,")).to_be_visible()


def test_places_that_moved(page: Page, app: Served, tmp_path: Path, artifacts: Path) -> None:
    table = make_table(tmp_path, commits=1)
    shutil.move(table / "data", tmp_path / "elsewhere")
    page.goto(f"{app}?table={table}")
    side = page.get_by_role("complementary", name="Inspector")
    card(page, ", data file,").click()
    expect(side).to_contain_text("does not exist")
    tables(page)
    page.get_by_text("Places that moved").click()
    field = page.get_by_label("Places that moved, OLD=NEW, one a line")
    field.fill(f"{table}/data is elsewhere")
    field.blur()
    expect(page.get_by_text("is not OLD=NEW").first).to_be_visible()
    field.fill(f"s3://nowhere=/nowhere\n{table}/data={tmp_path}/elsewhere")
    field.blur()
    card(page, ", data file,").click()
    expect(side).to_contain_text("fruit-0")
    expect(side).not_to_contain_text("does not exist")
    page.screenshot(path=artifacts / "moved.png")


def test_light_and_dark(page: Page, app: Served, artifacts: Path) -> None:
    """As the system is, until a person chooses; and that is kept."""
    scheme = "() => getComputedStyle(document.documentElement).colorScheme"
    page.emulate_media(color_scheme="dark")
    page.goto(f"{app}?table=demo.deletion_vectors")
    expect(card(page, ", deletion vector,")).to_be_visible()
    ground = "() => getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number).reduce((a, b) => a + b)"
    assert page.evaluate(ground) < 200
    page.get_by_role("button", name="Light or dark").click()
    assert page.evaluate(ground) > 500
    page.reload()
    expect(card(page, ", deletion vector,")).to_be_visible()
    assert page.evaluate(scheme) == "light"
    page.get_by_role("button", name="Light or dark").click()
    page.get_by_role("button", name="Legend").click()
    page.screenshot(path=artifacts / "dark.png")
    assert page.evaluate(ground) < 200


def test_ctrl_k_and_the_help(page: Page, app: Served, artifacts: Path) -> None:
    page.goto(f"{app}?table=demo.branches_and_tags")
    expect(card(page, "^snapshot-5,")).to_be_visible()
    for words, where in (
        ("tag opening", "snapshot="), ("compare", "mode=compare"), ("lifecycle:", "question=history\\+lifecycle"),
        ("demo.manifest_lifecycle", "manifest_lifecycle"),
    ):  # fmt: skip
        page.keyboard.press("Control+k")
        field = page.get_by_role("combobox", name="Go to")
        field.fill(words)
        expect(page.get_by_role("dialog").get_by_role("option").first).to_be_visible()
        field.press("Enter")
        expect(page).to_have_url(re.compile(where))
    page.keyboard.press("Control+k")
    page.get_by_role("combobox", name="Go to").fill("no such place")
    expect(page.get_by_text("Nothing has this name.")).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys and help")).to_contain_text("Previous and next snapshot")
    page.screenshot(path=artifacts / "help.png")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)


@pytest.mark.parametrize("name", [scenario.name for scenario in SCENARIOS])
def test_every_teaching_table_opens(name: str, page: Page, app: Served) -> None:
    """And each of its modes that asks nothing; nothing goes wrong (see `page`)."""
    page.goto(f"{app}?table=demo.{name}")
    expect(page.get_by_role("treeitem").first).to_be_visible()
    for mode in ("Compare", "Deletes", "Findings", "Health"):
        rail(page, mode)
        shown = page.get_by_role("region", name=mode)
        expect(shown.locator(".answer").or_(shown.get_by_role("status")).first).to_be_visible()
        expect(shown.get_by_role("alert").filter(has_not_text="Error: snapshot")).to_have_count(0)
