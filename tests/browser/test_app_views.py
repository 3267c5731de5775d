"""Views of the page: long manifest lists, levels, editors, JSON, tables and previews, as a person uses them."""

from __future__ import annotations

import json
import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import HeldMessages, Served, card

TABLE = "table=demo.equality_deletes"
LONG = "table=demo.long_history&levels=few"
METADATA = f"{TABLE}&mode=ask&question=inspect+metadata"


# -- graph -------------------------------------------------------------------------------------------------------------
def test_many_manifests_are_groups_that_unfold(page: Page, app: Served) -> None:
    page.goto(f"{app}?{LONG}&snapshot=snapshot-95")
    group = card(page, "^snapshot-91 … snapshot-95, group of manifests")
    expect(group).to_contain_text("5 manifests · 20 files")
    group.dblclick()
    expect(card(page, r"^manifest-93,")).to_be_visible()
    expect(group).to_have_attribute("aria-expanded", "true")


def test_levels_fold_into_the_snapshots_and_the_link_keeps_it(page: Page, app: Served) -> None:
    page.goto(f"{app}?{TABLE}")
    expect(card(page, "^manifest list 3,")).to_be_visible()  # teaching tables show all levels
    levels = page.get_by_role("checkbox", name="All levels")
    levels.uncheck()
    expect(card(page, "^manifest list 3,")).to_have_count(0)
    expect(page).to_have_url(re.compile("levels=few"))
    page.reload()
    expect(card(page, "^snapshot-3,")).to_contain_text("4")
    expect(levels).not_to_be_checked()
    card(page, "^4 metadata files").click()
    expect(card(page, "^metadata-3,")).to_be_visible()
    expect(levels).to_be_checked()


def test_a_box_shows_the_choice_while_the_server_draws(page: Page, app: Served) -> None:
    """The server's messages wait here, as behind a slow store."""
    messages = HeldMessages(page)
    page.goto(f"{app}?{TABLE}")
    expect(card(page, "^manifest list 3,")).to_be_visible()
    messages.are_held = True
    for name in ("All levels", "Filtered entries"):
        page.get_by_role("checkbox", name=name).uncheck()
    page.wait_for_function("() => !document.querySelector('.stage-working')")  # a turn of the page, at the least
    for name in ("All levels", "Filtered entries"):
        expect(page.get_by_role("checkbox", name=name)).not_to_be_checked()
    expect(card(page, "^manifest list 3,")).to_be_visible()
    messages.release()
    expect(card(page, "^manifest list 3,")).to_have_count(0)
    for name in ("All levels", "Filtered entries"):
        expect(page.get_by_role("checkbox", name=name)).not_to_be_checked()


def test_no_chip_is_clipped_on_a_narrow_card(page: Page, app: Served) -> None:
    page.set_viewport_size({"width": 1024, "height": 800})
    page.goto(f"{app}?table=demo.long_history&snapshot=snapshot-95")
    expect(card(page, "group of manifests")).to_be_visible()
    clipped = page.evaluate(
        "() => [...document.querySelectorAll('.graph-chips')].filter((one) => one.scrollWidth > one.clientWidth + 1)"
        ".map((one) => one.textContent)"
    )
    assert clipped == []


# -- editors -----------------------------------------------------------------------------------------------------------
def test_a_filter_is_completed_planned_and_remembered(page: Page, app: Served) -> None:
    page.goto(f"{app}?table=demo.sorted_files&mode=plan")
    field = page.get_by_role("textbox", name="Filter", exact=True)
    expect(page.locator(".cm-content")).to_be_visible()
    field.click()
    page.keyboard.type("na")
    expect(page.get_by_role("option", name=re.compile("name.*string"))).to_be_visible()
    page.keyboard.press("Tab")
    page.keyboard.type("= 'jack'")
    page.keyboard.press("Enter")
    expect(page.get_by_text("The scan reads 1 of 4 data files (25%)")).to_be_visible()
    field.fill("")
    keys = "f + - ? p"  # elsewhere they zoom the graph, show help and fill the screen
    page.keyboard.type(keys)
    expect(field).to_have_text(keys)
    field.fill("name == = 1")
    page.keyboard.press("Enter")
    expect(page.locator(".cm-lintRange-error")).to_have_text("=")
    field.fill("")
    page.keyboard.press("ArrowUp")
    expect(field).to_have_text("name == = 1")
    page.keyboard.press("ArrowUp")
    expect(field).to_have_text("name = 'jack'")
    page.keyboard.press("Shift+Enter")
    page.keyboard.type("OR name = 'zoe'")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("zoe"))


# -- metadata.json -----------------------------------------------------------------------------------------------------
def test_the_metadata_file_is_searched_and_compared(page: Page, app: Served) -> None:
    page.goto(f"{app}?{METADATA}")
    tree = page.get_by_role("tree", name=re.compile(r"metadata\.json"))
    expect(tree.get_by_role("treeitem", name=re.compile("^format-version"))).to_be_visible()
    page.get_by_label("Search the JSON").fill("overwrite")
    expect(page.get_by_text(re.compile(r"^\d+ found"))).to_be_visible()
    expect(tree.get_by_role("treeitem", name=re.compile("operation")).first).to_contain_text('"overwrite"')
    page.get_by_label("Search the JSON").fill("no such name")
    expect(page.get_by_text("Nothing found")).to_be_visible()
    page.get_by_role("button", name="Compare with the one before").click()
    both = page.get_by_role("tree", name=re.compile(r"metadata\.json"))
    expect(both.get_by_role("treeitem", name=re.compile("last-sequence-number"))).to_contain_text("23")
    expect(both.get_by_role("treeitem", name=re.compile("^.?format-version"))).to_have_count(0)
    page.get_by_role("checkbox", name="Only changes").uncheck()
    expect(both.get_by_role("treeitem", name=re.compile("format-version"))).to_be_visible()
    both.focus()
    page.keyboard.press("End")
    page.keyboard.press("ArrowUp")
    expect(both.locator(".active")).to_have_count(1)


# -- tables ------------------------------------------------------------------------------------------------------------
def test_columns_are_chosen_and_widened(page: Page, app: Served) -> None:
    page.goto(f"{app}?{TABLE}&list=inspect+files")
    grid = page.get_by_role("grid", name="files")
    expect(grid.get_by_role("columnheader", name="record_count")).to_be_visible()
    page.get_by_role("button", name=re.compile("^Columns")).click()
    page.get_by_role("checkbox", name="record_count", exact=True).uncheck()
    page.keyboard.press("Escape")
    expect(grid.get_by_role("columnheader", name="record_count")).to_have_count(0)
    head = grid.get_by_role("columnheader").first
    before = head.bounding_box()
    assert before
    page.mouse.move(before["x"] + before["width"] - 3, before["y"] + 10)
    page.mouse.down()
    page.mouse.move(before["x"] + before["width"] + 97, before["y"] + 10, steps=4)
    page.mouse.up()
    after = head.bounding_box()
    assert after
    assert after["width"] == pytest.approx(before["width"] + 100, abs=8)


def test_selected_rows_are_copied(page: Page, app: Served) -> None:
    page.goto(f"{app}?{TABLE}&list=inspect+files")
    rows = page.get_by_role("grid", name="files").get_by_role("row")
    rows.nth(1).get_by_role("gridcell").nth(3).click(modifiers=["Control"])
    rows.nth(2).get_by_role("gridcell").nth(4).click(modifiers=["Control"])
    expect(page.get_by_text("2 selected")).to_be_visible()
    page.get_by_role("button", name=re.compile("^Copy")).click()
    page.get_by_role("button", name="As JSON").click()
    expect(page.get_by_text("2 rows copied")).to_be_visible()
    copied = json.loads(page.evaluate("() => navigator.clipboard.readText()"))
    assert len(copied) == 2
    assert isinstance(copied[0]["file_size_in_bytes"], int)
    page.get_by_role("button", name=re.compile(r"as SQL: IN")).click()
    page.wait_for_timeout(100)
    assert " IN (" in page.evaluate("() => navigator.clipboard.readText()")


def test_a_list_that_leads_nowhere_does_not_look_as_if(page: Page, app: Served) -> None:
    page.goto(f"{app}?{TABLE}&list=inspect+files")
    expect(page.get_by_role("grid", name="files")).to_have_css("cursor", "auto")
    expect(page.get_by_role("grid", name="files").get_by_role("row").nth(1)).to_have_css("cursor", "pointer")
    page.goto(f"{app}?{TABLE}&mode=ask&question=inspect+properties")
    expect(page.get_by_role("grid").get_by_role("row").nth(1)).to_have_css("cursor", "auto")


def test_what_no_row_matches_can_be_shown_again(page: Page, app: Served) -> None:
    page.goto(f"{app}?{TABLE}&list=inspect+files")
    page.get_by_label("Filter files").fill("record_count > 1000000")
    page.keyboard.press("Enter")
    expect(page.get_by_text("0 files match, of 4")).to_be_visible()
    page.get_by_role("button", name="Show all files").click()
    expect(page.get_by_text("4 files", exact=True)).to_be_visible()


# -- previews ----------------------------------------------------------------------------------------------------------
def test_a_link_is_previewed_under_the_pointer_and_by_space(page: Page, app: Served) -> None:
    page.goto(f"{app}?{TABLE}&list=inspect+files")
    grid = page.get_by_role("grid", name="files")
    grid.get_by_role("row").nth(1).get_by_role("gridcell").first.hover()
    preview = page.locator(".preview")
    expect(preview).to_contain_text("rows")
    page.mouse.move(700, 300)
    expect(preview).to_have_count(0)
    grid.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Space")
    expect(preview).to_contain_text(".parquet")
    page.keyboard.press("Escape")
    expect(preview).to_have_count(0)
