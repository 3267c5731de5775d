"""The page for those who hear it, press keys only, magnify it four times, choose its colours, or print it: judged by
the browser's accessibility tree, by what has the focus, and by where things are."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import Served, signed_in

MOST_TABS = 60
REACHED = """element => {
    if (!element.isConnected) return "";  // drawn anew, as a list does that scrolls
    element.focus();
    element.scrollIntoView({ block: "nearest", inline: "nearest" });
    const box = element.getBoundingClientRect();
    const at = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
    return at !== null && (element.contains(at) || at.contains(element)) ? "" : element.outerHTML.slice(0, 200);
}"""


class Heard:
    """What a screen reader has of a page: the accessibility tree of Chromium."""

    def __init__(self, page: Page) -> None:
        self.page, self.cdp = page, page.context.new_cdp_session(page)

    def nodes(self) -> list[dict[str, Any]]:
        return [
            {
                **{name: (node.get(name) or {}).get("value", "") for name in ("role", "name", "description")},
                **{one["name"]: one["value"] for one in node.get("properties", [])},
                "id": node.get("backendDOMNodeId"),
            }
            for node in self.cdp.send("Accessibility.getFullAXTree")["nodes"]
        ]

    def focus(self) -> dict[str, Any]:
        """What has the focus; in a tree or a grid the active part of it."""
        nodes = self.nodes()
        [*_, focus] = [node for node in nodes if node.get("focused", {}).get("value")]
        active = focus.get("activedescendant", {}).get("relatedNodes")
        if not active:
            return focus
        return next(node for node in nodes if node["id"] == active[0]["backendDOMNodeId"])

    def said(self) -> str:
        """What is announced."""
        return " | ".join(self.page.get_by_role("status").all_inner_texts())

    def tab_to(self, role: str, name: str) -> None:
        for _ in range(MOST_TABS):
            self.page.keyboard.press("Tab")
            here = self.focus()
            if here["role"] == role and name in here["name"]:
                return
        raise AssertionError(f"no Tab leads to the {role} {name!r}")


def test_by_keys_and_ears_alone_one_finds_out_which_delete_hides_what(page: Page, app: Served) -> None:
    page.goto(f"{app}?table=demo.equality_deletes")
    expect(page.get_by_role("treeitem", name=re.compile("^snapshot-3"))).to_be_visible()
    heard = Heard(page)
    assert page.title().startswith("sandbox.demo.equality_deletes")
    heard.tab_to("button", "Deletes")
    page.keyboard.press("Enter")
    expect(page.get_by_role("treeitem", name=re.compile("^delete-1"))).to_be_visible()
    heard.tab_to("tree", "Metadata graph")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("treeitem", name=re.compile("^delete-1"))).to_have_attribute("aria-selected", "true")
    here = heard.focus()
    assert here["role"] == "treeitem"
    assert here["name"].startswith("delete-1.parquet, equality delete file")
    assert here["level"]["value"] == 2
    assert "data-1.parquet" in here["description"]
    expect(page.get_by_role("status").filter(has_text="applies to data-1.parquet")).to_have_count(1)
    said = heard.said()
    assert "does not apply to data-3.parquet, data-2.parquet" in said
    assert "the data's sequence number 3 is not < the delete's 2" in said
    page.keyboard.press("ArrowLeft")
    expect(page.get_by_role("status").filter(has_text="hidden by delete-1.parquet")).to_have_count(1)
    page.keyboard.press("Escape")
    expect(page.get_by_role("complementary", name="Inspector")).to_have_count(0)


def test_levels_and_folds_are_heard_also_from_afar(page: Page, app: Served) -> None:
    page.goto(f"{app}?table=demo.manifest_lifecycle")
    snapshot = page.get_by_role("treeitem", name=re.compile("^snapshot-5"))
    expect(snapshot).to_be_visible()
    heard = Heard(page)
    heard.tab_to("tree", "Metadata graph")
    page.keyboard.press("ArrowDown")
    expect(page.locator("[aria-selected=true][role=treeitem]")).to_have_count(1)
    first = heard.focus()
    assert {"level", "expanded", "selected"} <= set(first)
    for _ in range(14):
        page.keyboard.press("-")  # so far that cards are only painted
    page.keyboard.press("ArrowDown")
    expect(page.locator("[data-level=box]")).to_have_count(1)
    then = heard.focus()
    assert then["role"] == "treeitem"
    assert then["name"] != first["name"]


@pytest.mark.parametrize("place", ["", "&mode=deletes", "&mode=health", "&list=inspect+files", "&mode=ask"])
def test_all_can_be_reached_at_320_pixels(place: str, app: Served, browser: Browser) -> None:
    context = signed_in(browser, app, viewport={"width": 320, "height": 256})  # 1280 by 1024, magnified four times
    try:
        page = context.new_page()
        page.goto(f"{app}?table=demo.equality_deletes{place}")
        expect(page.get_by_role("main")).to_be_visible()
        page.wait_for_load_state("networkidle")
        expect(page.locator("[aria-busy=true]")).to_have_count(0)
        parts = page.locator("button:visible, a:visible, input:visible, [role=tab]:visible, [role=grid]:visible")
        assert parts.count() > 15
        unreached = [why for part in parts.element_handles() if (why := part.evaluate(REACHED))]
        assert not unreached, "\n".join(unreached)
    finally:
        context.close()


def test_forced_colours_show_what_is_chosen(page: Page, app: Served) -> None:
    page.emulate_media(forced_colors="active")
    page.goto(f"{app}?table=demo.equality_deletes&mode=deletes")
    for part in (page.locator(".rail-button[aria-current]"), page.locator(".tabs [aria-selected=true]").first):
        expect(part).to_be_visible()
        assert part.evaluate("element => getComputedStyle(element).outlineStyle") == "solid"
    page.get_by_role("treeitem", name=re.compile("^delete-1")).click()
    chosen = page.locator("[role=treeitem][aria-selected=true]")
    assert chosen.evaluate(
        "element => getComputedStyle(element).outlineStyle !== 'none' || getComputedStyle(element).boxShadow !== 'none'"
    )


def test_an_answer_prints_whole_and_without_controls(page: Page, app: Served, artifacts: Path) -> None:
    page.goto(f"{app}?table=demo.long_history&list=inspect+snapshots")
    rows = page.get_by_role("grid", name="snapshots").get_by_role("row")
    expect(rows.nth(5)).to_be_visible()
    assert rows.count() < 80
    page.emulate_media(media="print")
    expect(rows.nth(90)).to_be_attached()
    expect(page.get_by_role("navigation", name="Modes")).to_be_hidden()
    expect(page.get_by_role("button", name="Go to…")).to_be_hidden()
    cut = page.locator(".grid-box").evaluate("box => box.scrollHeight - box.clientHeight")
    assert cut <= 1
    page.screenshot(path=artifacts / "print.png", full_page=True)
