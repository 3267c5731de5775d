"""The built site (`make docs`) in a real browser: its pages, its search and its live tables, without a request to any
other host; and its links, all of them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag, urljoin, urlparse

import pytest
from playwright.sync_api import expect

from explorer.lab.scenarios import SCENARIOS
from tests.browser.conftest import PATIENCE_MS, Watched, folder_served
from tests.support.small_tables import make_table

SITE = Path(os.environ.get("ICEDIVE_SITE", "no site"))
pytestmark = pytest.mark.skipif("ICEDIVE_SITE" not in os.environ, reason="make test-docs builds the site")
LIVE = ("manifest_lifecycle", "equality_deletes", "deletion_vectors", "partition_evolution", "branches_and_tags")


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    with folder_served(SITE) as address:
        yield f"{address}"


class Links(HTMLParser):
    """What a page links to or loads, and its anchors."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.targets: list[tuple[str, str]] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name == "id" and value:
                self.anchors.add(value)
            if name in ("href", "src") and value is not None:
                self.targets.append((tag, value))


def test_every_link_leads_to_a_file_and_an_anchor_of_the_site() -> None:
    pages = {path: Links(path.read_text("utf-8")) for path in SITE.rglob("*.html") if path.parent.name != "tables"}
    assert len(pages) > 60
    wrong, loaded = [], []
    for path, page in pages.items():
        here = path.relative_to(SITE).as_posix()
        for tag, target in page.targets:
            url, anchor = urldefrag(target)
            if urlparse(url).scheme or url.startswith("//"):
                loaded += [(here, target)] * (tag not in ("a",))
                continue
            at = SITE / unquote(urljoin(here, url) if url else here).lstrip("/")
            if here == "404.html":
                continue
            if at.is_dir():
                at /= "index.html"
            if not at.is_file() or (anchor and at in pages and anchor not in pages[at].anchors):
                wrong.append((here, target))
    assert not wrong
    assert not loaded, "what a page loads comes with the site"


def test_no_list_became_a_paragraph() -> None:
    """The site's Markdown is not GitHub's: it needs an empty line before a list, and four spaces for a nested one."""
    for path in SITE.rglob("*.html"):
        if path.parent.name != "tables":
            text = re.sub(r"<(pre|code)\b.*?</\1>", "", path.read_text("utf-8"), flags=re.DOTALL)
            assert not re.search(r"<(?:p|li)>[^<]*\n\s*(?:[-*]|\d+\.) ", text), path


def test_every_teaching_table_is_a_live_page() -> None:
    text = (SITE / "teaching-tables.html").read_text("utf-8")
    for scenario in SCENARIOS:
        assert f'href="tables/sandbox.demo.{scenario.name}.html"' in text
        assert (SITE / "tables" / f"sandbox.demo.{scenario.name}.html").is_file()


def test_a_reader_goes_from_a_symptom_to_an_answer_to_a_live_table(
    watched: Watched, site: str, artifacts: Path
) -> None:
    page = watched.page
    page.goto(f"{site}/index.html")
    expect(page.get_by_role("heading", name="Iceberg metadata explorer", exact=False).first).to_be_visible()
    page.get_by_role("link", name="symptom", exact=True).click()
    page.get_by_role("link", name="What expiry deletes").click()
    expect(page.get_by_role("heading", name="Does expire_snapshots delete data?")).to_be_visible()
    page.screenshot(path=artifacts / "site-answer.png")
    page.get_by_role("link", name="demo.tracked_delete", exact=True).click()
    expect(page.get_by_role("treeitem", name=re.compile("^snapshot-3,"))).to_be_visible()
    watched.clean()


def test_the_search_finds_a_page(watched: Watched, site: str) -> None:
    page = watched.page
    page.goto(f"{site}/index.html")
    field = page.get_by_role("combobox", name="Search")
    for _ in range(PATIENCE_MS // 500):  # the script may not listen yet
        page.keyboard.press("Control+k")
        page.wait_for_timeout(500)
        if field.is_visible():
            break
    field.fill("CommitStateUnknown")
    found = page.get_by_role("option", name=re.compile("did it land", re.IGNORECASE)).first
    expect(found).to_be_visible()
    watched.clean()


def test_a_folder_is_read_where_the_site_has_the_page(watched: Watched, site: str, tmp_path: Path) -> None:
    page = watched.page
    page.goto(f"{site}/your-metadata.html")
    page.get_by_role("link", name="Open the page").click()
    page.get_by_label("Choose a folder").set_input_files(make_table(tmp_path, 2))
    expect(page.get_by_text("2 snapshots")).to_be_visible()
    page.get_by_role("button", name="Another table").click()
    page.get_by_role("link", name="Install it").click()
    expect(page.get_by_role("heading", name="Install").first).to_be_visible()
    watched.clean()


@pytest.mark.parametrize("name", LIVE)
def test_a_live_table_is_stepped_through(watched: Watched, site: str, name: str) -> None:
    page = watched.page
    page.goto(f"{site}/tables/sandbox.demo.{name}.html")
    page.get_by_label("First snapshot").click()
    expect(page.get_by_role("treeitem", name=re.compile("^snapshot-1,.*", re.DOTALL))).to_be_visible()
    before = page.get_by_role("treeitem").count()
    page.get_by_role("treeitem", name=re.compile("^manifest-1")).first.click()
    expect(page.get_by_role("complementary", name="Inspector")).to_contain_text("manifest")
    page.get_by_label("Next snapshot").click()
    expect(page.get_by_label("First snapshot")).to_be_enabled()
    assert before > 3
    watched.clean()
