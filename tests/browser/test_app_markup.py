"""A table whose every string is markup, in the new page: the strings are there, as text, and nothing else is."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import Served, Watched, served, signed_in
from tests.browser.test_markup import BAD, IMG, make_evil

MODES = {
    "plan": ("", "why", "where", "cost", "help"), "compare": ("", "rows", "commits", "manifests"),
    "deletes": ("", "layers", "count"), "findings": ("",), "health": ("", "columns", "clustering", "map"),
}  # fmt: skip
LISTS = ("inspect snapshots", "inspect manifests", "inspect files", "inspect entries", "inspect partitions")
QUESTIONS = (
    "inspect metadata",
    "inspect schema",
    "inspect properties",
    "inspect refs",
    "history lineage",
    "overview",
    "show",
)
SCRIPT = """() => {
  const script = document.createElement("script");
  script.textContent = "window.__ran = 1";
  document.body.append(script);
}"""


@pytest.fixture(scope="module")
def evil(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_evil(tmp_path_factory.mktemp("evil"), (f"{IMG}{n}" for n in itertools.count()))


@pytest.fixture(scope="module")
def app(sandbox: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("app") / "log", "--preview") as url:
        yield url


@pytest.fixture
def page(app: Served, browser: Browser) -> Iterator[Page]:
    """Without the Content-Security-Policy: what is markup would run."""
    context = signed_in(browser, app, bypass_csp=True, viewport={"width": 1500, "height": 1000})
    watched = Watched(context.new_page())
    watched.page.on("dialog", lambda dialog: watched.errors.append(f"dialog: {dialog.message}"))
    yield watched.page
    watched.clean()
    context.close()


def inert(page: Page) -> None:
    """No element of the page comes from a string; no script ran."""
    expect(page.get_by_text("Connecting…")).to_have_count(0)
    page.wait_for_timeout(400)
    assert page.evaluate(BAD) == []


def test_the_graph_and_its_inspector(evil: Path, app: Served, page: Page) -> None:
    page.goto(f"{app}?table={quote(str(evil))}")
    expect(page.get_by_role("treeitem").first).to_be_visible()
    inert(page)
    for number in range(page.get_by_role("treeitem").count()):
        page.get_by_role("treeitem").nth(number).dispatch_event("click")
        page.wait_for_timeout(100)
    expect(page.get_by_role("complementary", name="Inspector")).to_be_visible()
    inert(page)
    page.get_by_label("Search the graph").fill(IMG)
    page.get_by_role("button", name="Details").click()
    inert(page)
    page.keyboard.press("Control+k")
    inert(page)


@pytest.mark.parametrize("mode", MODES)
def test_every_mode(mode: str, evil: Path, app: Served, page: Page) -> None:
    for tab in MODES[mode]:
        page.goto(f"{app}?table={quote(str(evil))}&mode={mode}&tab={tab}&filter=id+%3E%3D+0")
        expect(page.locator("#mode-answer .answer, #mode-answer .message").first).to_be_visible()
        inert(page)


def test_lists_and_questions(evil: Path, app: Served, page: Page) -> None:
    for name in LISTS:
        page.goto(f"{app}?table={quote(str(evil))}&list={quote(name)}")
        expect(page.get_by_role("grid").get_by_role("row").nth(1)).to_be_visible()
        inert(page)
    for name in QUESTIONS:
        page.goto(f"{app}?table={quote(str(evil))}&mode=ask&question={quote(name)}")
        expect(page.locator(".answer").first).to_be_visible()
        inert(page)
    assert "<img src=x" in page.inner_text("body")


def test_errors_and_links(app: Served, page: Page) -> None:
    word = quote(IMG)
    page.goto(
        f"{app}?table={quote('/' + IMG)}&node={word}&snapshot={word}&mode={word}&question={word}&arguments={word}"
    )
    expect(page.get_by_text("<img src=x").first).to_be_visible()
    inert(page)
    page.goto(f"{app}?table=demo.three_inserts&mode=plan&filter={word}&before={word}&list={word}&tab={word}")
    expect(page.get_by_role("alert").first).to_be_visible()
    inert(page)


def test_the_policy_is_a_second_lock(app: Served, browser: Browser) -> None:
    context = signed_in(browser, app)
    page = context.new_page()
    page.goto(f"{app}?table=demo.three_inserts")
    expect(page.get_by_role("treeitem").first).to_be_visible()
    page.evaluate(
        "text => { const e = document.createElement('div'); e.innerHTML = text; document.body.append(e); }", IMG
    )
    page.evaluate(SCRIPT)
    page.evaluate("() => { location.href = 'javascript:window.__ran=1'; }")
    page.wait_for_timeout(500)
    assert page.evaluate("window.__ran") is None
    context.close()
