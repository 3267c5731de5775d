"""What a page shows before Bokeh, Panel and Material are there, and how its own view takes that over."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.conftest import Arriving, Served, Watched

SCRIPTS = re.compile(r"/static/.*\.js")


@contextmanager
def without_scripts(page: Page) -> Iterator[None]:
    """Bokeh's and Panel's scripts come only afterwards."""
    held: list[Route] | None = []

    def hold(route: Route) -> None:
        if held is None:
            route.continue_()
        else:
            held.append(route)

    page.route(SCRIPTS, hold)
    yield
    waiting, held = held, None
    for route in waiting:
        route.continue_()


def first(page: Page, url: str) -> None:
    known(page, url)
    Arriving.goto(page, url, wait_until="commit")
    waited_for(page)


def waited_for(page: Page) -> None:
    """What a page begins with is on it: where the machine is busy the server may not have waited for the table."""
    for _ in range(20):
        page.locator("#first .fx-bar").wait_for()
        if not page.locator("#first.fx-bare").count():
            return
        Arriving.reload(page, wait_until="commit")
    pytest.fail("twenty times the server has not waited for a table that it has open")


def known(page: Page, url: str) -> None:
    """The server has had the table open: one that takes half a second is not waited for, and a machine may be busy."""
    assert page.context.request.get(url).ok


def test_an_overview_before_there_are_scripts(dashboard: Served, watched: Watched) -> None:
    page = watched.page
    with without_scripts(page):
        first(page, f"{dashboard}?table=demo.position_deletes")
        shown = page.locator("#first")
        for text in ("What it is", "data files", "partitioned by", "delete files", "Starting…"):
            expect(shown.get_by_text(text, exact=True)).to_be_visible()
        expect(shown.get_by_text("demo.position_deletes · snapshot-")).to_be_visible()
        shown.get_by_text("Changes", exact=True).click()  # a link to that room
        expect(page).to_have_url(re.compile("table=demo.position_deletes&view=history"))
        expect(shown.get_by_text("Lineage and log")).to_be_visible()
    expect(page.locator(".bk-tab.bk-active:visible", has_text="Lineage and log")).to_be_visible()
    expect(shown).to_have_count(0)
    watched.clean()


def test_what_is_clicked_before_is_carried_out_then(dashboard: Served, watched: Watched) -> None:
    page = watched.page
    with without_scripts(page):
        first(page, f"{dashboard}?table=demo.manifest_lifecycle&view=graph")
        page.locator("#first").get_by_label("Previous snapshot").click()
        expect(page.locator("#first .ix-busy")).to_have_class(re.compile("ix-open"))
    expect(page.locator("#first")).to_have_count(0)
    expect(page.locator(".ix-where:visible")).to_contain_text("snapshot-4 of 5")
    expect(page).to_have_url(re.compile("snapshot="))
    watched.clean()


def test_what_is_chosen_before_is_inspected_then(dashboard: Served, watched: Watched) -> None:
    page = watched.page
    with without_scripts(page):
        first(page, f"{dashboard}?table=demo.manifest_lifecycle&view=graph")
        page.locator('#first .ix-node[data-label="snapshot-5"] .ix-head').click()
    expect(page.locator("#first")).to_have_count(0)
    expect(page).to_have_url(re.compile("node="))
    expect(page.locator(".ix-busy")).not_to_have_class(re.compile("ix-open"))
    watched.clean()


def test_who_knows_nothing_reads_what_this_is(dashboard: Served, watched: Watched) -> None:
    page = watched.page
    with without_scripts(page):
        first(page, dashboard)
        known(page, f"{dashboard}?table=sandbox.demo.three_inserts")
        page.locator("#first").get_by_text("sandbox.demo.three_inserts", exact=True).click()
        expect(page).to_have_url(re.compile("table=sandbox.demo.three_inserts"))
        waited_for(page)
        expect(page.locator("#first").get_by_text("What it is")).to_be_visible()
    expect(page.locator("#first")).to_have_count(0)
    expect(page.get_by_text("What it is", exact=True)).to_be_visible()
    watched.clean()


def test_dark_from_the_first_moment(dashboard: Served, watched: Watched) -> None:
    page = watched.page
    page.context.add_cookies([{"name": "icedive-look", "value": "dark", "url": dashboard}])
    with without_scripts(page):
        first(page, f"{dashboard}?table=demo.three_inserts")
        expect(page.locator("#first")).to_have_css("background-color", "rgb(18, 18, 18)")
    expect(page.locator("#first")).to_have_count(0)
    watched.clean()
