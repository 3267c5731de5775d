"""The page of `icedive serve` as a person uses it: roles, names and texts, no selectors of a framework."""

from __future__ import annotations

import json
import re
from pathlib import Path
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Browser, Download, Page, expect

from tests.browser.conftest import AXE, VIOLATIONS, Served, page_of, rail

TABLE = "table=demo.equality_deletes"
FILTER = "name+%3D+%27jack%27"
# Go to Plan, and write a filter in the task in which its field appears.
TYPE_AT_ONCE = """() => new Promise((written) => {
  new MutationObserver((_, observer) => {
    const field = document.querySelector("textarea[aria-label=Filter]");
    if (!field) return;
    observer.disconnect();
    field.value = "name = 'jack'";
    field.dispatchEvent(new Event("input", { bubbles: true }));
    written();
  }).observe(document.body, { childList: true, subtree: true });
  [...document.querySelectorAll("nav button")].find((button) => button.textContent.includes("Plan")).click();
})"""


# -- opening -----------------------------------------------------------------------------------------------------------
def test_a_teaching_table_opens_on_its_graph(page: Page, app: Served) -> None:
    page.goto(app)
    page.get_by_role("button", name=re.compile("^equality_deletes")).click()
    expect(page.get_by_role("treeitem", name=re.compile("delete-1.parquet"))).to_be_visible()
    expect(page).to_have_title(re.compile("sandbox.demo.equality_deletes"))
    assert "table=sandbox.demo.equality_deletes" in page.url
    expect(page.get_by_text("3 snapshots").first).to_be_visible()


def test_a_table_is_found_in_its_catalog(page: Page, app: Served) -> None:
    page.goto(app)
    page.get_by_role("button", name="Browse catalogs").click()
    panel = page.get_by_role("complementary", name="Tables")
    panel.get_by_role("button", name="sandbox").click()
    panel.get_by_role("button", name="demo").click()
    panel.get_by_label("Filter tables").fill("three")
    panel.get_by_role("button", name="three_inserts", exact=True).click()
    expect(page.get_by_role("treeitem", name=re.compile("snapshot-3")).first).to_be_visible()


def test_a_table_that_is_not_there_is_said(page: Page, app: Served) -> None:
    page.goto(f"{app}?table=demo.nothing")
    expect(page.get_by_role("alert")).to_contain_text("nothing")
    page.get_by_label("Open a table").fill("demo.three_inserts")
    page.keyboard.press("Enter")
    expect(page.get_by_role("treeitem", name=re.compile("snapshot-3")).first).to_be_visible()


# -- graph -------------------------------------------------------------------------------------------------------------
def test_steps_back_and_forward(page: Page, app: Served) -> None:
    page.goto(f"{app}?{TABLE}")
    snapshot = page.get_by_label("Snapshot", exact=True)
    expect(page.get_by_role("treeitem").first).to_be_visible()
    expect(snapshot).to_have_value("snapshot-3")
    page.keyboard.press("[")
    expect(snapshot).to_have_value("snapshot-2")
    assert "snapshot=" in page.url
    page.keyboard.press("[")
    expect(snapshot).to_have_value("snapshot-1")
    page.go_back()
    expect(snapshot).to_have_value("snapshot-2")
    page.go_forward()
    expect(snapshot).to_have_value("snapshot-1")
    page.reload()
    expect(snapshot).to_have_value("snapshot-1")


def test_a_click_inspects_and_the_link_keeps_it(page: Page, app: Served) -> None:
    page.goto(f"{app}?{TABLE}")
    page.get_by_role("treeitem", name=re.compile("delete-1.parquet")).click()
    inspector = page.get_by_role("complementary", name="Inspector")
    expect(inspector).to_contain_text("delete-1.parquet")
    expect(page).to_have_url(re.compile("node="))
    page.reload()
    expect(page.get_by_role("treeitem", name=re.compile("delete-1.parquet"))).to_have_attribute("aria-selected", "true")
    page.get_by_role("button", name="Close the inspector").click()
    expect(inspector).to_have_count(0)


def test_search_counts_what_it_finds(page: Page, app: Served) -> None:
    page.goto(f"{app}?{TABLE}")
    expect(page.get_by_role("treeitem").first).to_be_visible()
    page.get_by_label("Search the graph").fill("data-")
    expect(page.get_by_text(re.compile(r"^1 of \d"))).to_be_visible()
    page.get_by_label("Search the graph").fill("no such file")
    expect(page.get_by_text("Nothing found")).to_be_visible()


# -- modes -------------------------------------------------------------------------------------------------------------
def test_a_plan_says_what_is_read_and_why(page: Page, app: Served) -> None:
    page.goto(f"{app}?table=demo.sorted_files")
    rail(page, "Plan")
    page.get_by_label("Filter", exact=True).fill("name = 'jack'")
    page.keyboard.press("Enter")
    expect(page.get_by_text("The scan reads 1 of 4 data files (25%)")).to_be_visible()
    expect(page.get_by_role("treeitem", name=re.compile("data-2.parquet"))).to_be_visible()
    assert f"filter={FILTER}" in page.url
    page.get_by_role("tab", name="Why", exact=True).click()
    expect(page.get_by_role("grid", name="manifests")).to_contain_text("read")
    rows = page.get_by_role("grid", name="files")
    expect(rows).to_contain_text("skipped by column metrics")
    assert "tab=why" in page.url
    page.reload()
    expect(page.get_by_role("grid", name="files")).to_contain_text("skipped by column metrics")
    page.get_by_label("Filter", exact=True).fill("nothing = 1")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert").first).to_contain_text("nothing")


def test_what_is_typed_at_once_stays(page: Page, app: Served) -> None:
    page.route(re.compile("code-editor"), lambda _: None)  # the plain field stays
    page.goto(f"{app}?table=demo.sorted_files")
    expect(page.get_by_role("treeitem").first).to_be_visible()
    page.evaluate(TYPE_AT_ONCE)
    expect(page.get_by_text("Examples:")).to_be_visible()
    page.evaluate("() => new Promise((painted) => requestAnimationFrame(() => setTimeout(painted, 50)))")
    expect(page.get_by_label("Filter", exact=True)).to_have_value("name = 'jack'")


@pytest.mark.parametrize(
    ("mode", "tab", "text"),
    [
        ("Compare", "Files", "data-3"), ("Compare", "Rows", "1 inserted"), ("Compare", "Commits", "append"),
        ("Deletes", "Pairs", "delete-1"), ("Deletes", "Layers", "equality"), ("Deletes", "Visible rows", "visible"),
        ("Health", "Measures", "within"), ("Health", "Column statistics", "name"), ("Findings", "", "snapshots"),
        ("Health", "Storage", "of that"),
    ],
)  # fmt: skip
def test_every_mode_answers(mode: str, tab: str, text: str, page: Page, app: Served) -> None:
    page.goto(f"{app}?{TABLE}")
    expect(page.get_by_role("treeitem").first).to_be_visible()
    rail(page, mode)
    if tab:
        page.get_by_role("tablist", name=mode).get_by_role("tab", name=tab, exact=True).click()
    expect(page.get_by_role("region", name=mode)).to_contain_text(text)


# -- lists -------------------------------------------------------------------------------------------------------------
def test_a_row_of_a_list_leads_to_the_graph(page: Page, app: Served) -> None:
    page.goto(f"{app}?{TABLE}")
    page.get_by_role("tab", name="Files", exact=True).click()
    page.get_by_role("grid", name="files").get_by_role("row").nth(1).click()
    expect(page.get_by_role("complementary", name="Inspector")).to_contain_text(".parquet")


def test_rows_can_be_saved(page: Page, app: Served, tmp_path: Path) -> None:
    page.goto(f"{app}?{TABLE}&list=inspect+files")
    with page.expect_download() as waiting:
        page.get_by_role("link", name="CSV").click()
    saved: Download = waiting.value
    assert saved.suggested_filename == "demo-equality-deletes-inspect-files.csv"
    saved.save_as(tmp_path / "files.csv")
    assert (tmp_path / "files.csv").read_text().count("\n") == 5


# -- every question ----------------------------------------------------------------------------------------------------
def test_any_question_can_be_asked_by_its_form(page: Page, app: Served) -> None:
    page.goto(f"{app}?{TABLE}&mode=ask")
    listed = page.get_by_role("navigation", name="Questions")
    listed.get_by_role("button", name="Lifecycle").click()
    expect(page.get_by_text("manifest-1 ").first).to_be_visible()
    listed.get_by_role("button", name="History", exact=True).click()
    page.get_by_label("Filter", exact=True).fill("name = 'jack'")
    page.get_by_role("button", name="Ask").click()
    expect(page.locator("main")).to_contain_text("delete-1")


def test_contents_say_what_each_question_answers(page: Page, app: Served) -> None:
    page.goto(f"{app}?{TABLE}&mode=ask")
    page.get_by_role("button", name="Say who committed what").click()
    expect(page.locator("main")).to_contain_text("3 snapshots of 1 writer")
    expect(page).to_have_url(re.compile(r"question=history\+writers"))


def test_ctrl_k_goes_anywhere(page: Page, app: Served) -> None:
    page.goto(f"{app}?{TABLE}")
    expect(page.get_by_role("treeitem").first).to_be_visible()
    page.keyboard.press("Control+k")
    page.get_by_role("combobox", name="Go to").fill("snapshot-1")
    page.keyboard.press("Enter")
    expect(page.get_by_label("Snapshot", exact=True)).to_have_value("snapshot-1")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys and help")).to_be_visible()


# -- access ------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(
    "place",
    ["", f"?{TABLE}", f"?{TABLE}&mode=plan&filter={FILTER}", f"?{TABLE}&mode=findings", f"?{TABLE}&mode=health",
     f"?{TABLE}&mode=ask&question=plan", f"?{TABLE}&list=inspect+entries"],
)  # fmt: skip
def test_axe_finds_nothing_serious(place: str, scheme: str, browser: Browser, app: Served, artifacts: Path) -> None:
    with page_of(browser, app, viewport={"width": 1280, "height": 800}, color_scheme=scheme) as page:
        page.goto(f"{app}{place}")
        page.wait_for_load_state("networkidle")
        expect(page.get_by_text(re.compile("Connecting|Opening|Reading")).first).to_have_count(0)
        page.wait_for_timeout(600)
        page.evaluate(AXE)
        assert page.evaluate(VIOLATIONS) == []
        assert page.evaluate("() => document.documentElement.scrollWidth - innerWidth") <= 0
        page.screenshot(path=artifacts / f"app-{re.sub(r'[^a-z]+', '-', place)}-{scheme}.png")


def test_what_writes_is_carried_out_by_a_person_alone(app: Served, page: Page) -> None:
    """Neither a link to it, nor a reload, nor a tab that JupyterLab opens again."""
    sent: list[str] = []
    page.on("websocket", lambda socket: socket.on("framesent", lambda frame: sent.append(str(frame))))
    given = {"operation": "create-tag", "name": "of-a-link"}
    query = urlencode({
        "table": "demo.three_inserts", "mode": "ask", "question": "refs run", "arguments": json.dumps(given),
    })  # fmt: skip
    for visit in (lambda: page.goto(f"{app}?{query}"), page.reload):
        visit()
        run = page.locator(".question-view").get_by_role("button", name="Run", exact=True)
        expect(run).to_be_visible()
        page.wait_for_timeout(1000)
        assert not [frame for frame in sent if '"refs run"' in frame]
    run.click()
    expect(page.locator(".question-view .message").first).to_be_visible()  # this table may not be changed here
    assert [frame for frame in sent if '"refs run"' in frame]
