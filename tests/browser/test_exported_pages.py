"""Exported pages of the teaching tables, opened from disk: what they teach, their neighbours, and on a phone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

import explorer
from explorer.app.hosts.file import export_table
from explorer.lab.exercises.quiz import open_demo
from explorer.lab.scenarios.guides import GUIDES
from tests.browser.conftest import Served

PHONE = {"width": 390, "height": 800}


@pytest.fixture(scope="module")
def gallery(sandbox: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("gallery")
    explorer.gallery(folder)
    return folder


def opened(browser: Browser, file: Path, **options: object) -> Iterator[Page]:
    """A page from disk that asks for nothing but itself."""
    context = browser.new_context(**{"viewport": {"width": 1400, "height": 900}, **options})  # type: ignore[arg-type]
    page, asked, errors = context.new_page(), [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(file.as_uri())
    expect(page.get_by_role("treeitem").first).to_be_visible()
    yield page
    assert [url for url in asked if not url.startswith("file:")] == []
    assert errors == []
    context.close()


@pytest.fixture
def desk(browser: Browser, gallery: Path) -> Iterator[Page]:
    yield from opened(browser, gallery / "sandbox.demo.manifest_lifecycle.html")


@pytest.fixture
def phone(browser: Browser, gallery: Path) -> Iterator[Page]:
    file = gallery / "sandbox.demo.position_deletes.html"
    yield from opened(browser, file, viewport=PHONE, has_touch=True, is_mobile=True)


def card(page: Page, name: str) -> Locator:
    return page.get_by_role("treeitem", name=name).first


def test_a_page_says_what_its_table_teaches_and_asks(desk: Page, artifacts: Path) -> None:
    guide = GUIDES["manifest_lifecycle"]
    expect(desk.locator(".lesson")).to_contain_text("Five snapshots: a manifest is created")
    expect(desk.locator(".lesson")).to_contain_text("Part 1, fig. 7, 8")
    expect(desk.locator(".lesson")).to_contain_text(guide.watch)
    answer = desk.get_by_text(guide.questions[1].answer)
    expect(answer).to_be_hidden()
    desk.get_by_text(guide.questions[1].question).click()
    expect(answer).to_be_visible()
    desk.screenshot(path=artifacts / "exported-page.png")


def test_an_older_metadata_file_unfolds_and_its_snapshots_are_shown(desk: Page) -> None:
    edges = "() => document.querySelectorAll('path.graph-edge:not(.graph-dashed)').length"
    before = desk.evaluate(edges)
    card(desk, "metadata-2").locator(".graph-fold").click()
    desk.wait_for_function(f"before => ({edges})() > before", arg=before)
    expect(card(desk, "metadata-2")).to_contain_text("2 snapshots")
    card(desk, "metadata-2").locator(".graph-fold").click()
    desk.wait_for_function(f"before => ({edges})() === before", arg=before)


def test_pages_lead_to_the_one_before_the_one_after_and_the_index(desk: Page) -> None:
    desk.get_by_role("link", name="tracked_delete").click()
    expect(desk.locator(".crumb")).to_have_text("sandbox.demo.tracked_delete")
    desk.get_by_role("link", name="manifest_lifecycle").click()
    desk.get_by_role("link", name="All tables").click()
    expect(desk.get_by_role("link")).to_have_count(len(GUIDES))


def test_no_page_has_a_local_path(gallery: Path) -> None:
    for file in gallery.iterdir():
        text = file.read_text()
        assert str(Path.home()) not in text, file.name
        assert str(gallery.parent) not in text, file.name
        assert "file:/" not in text, file.name


def test_on_a_phone_cards_are_readable_and_the_inspector_is_below(phone: Page, artifacts: Path) -> None:
    wide = "() => document.documentElement.scrollWidth"
    assert phone.evaluate(wide) <= PHONE["width"]
    shown = card(phone, "snapshot-2").bounding_box()
    assert shown is not None
    assert shown["width"] > 130
    assert -10 <= shown["x"] <= PHONE["width"] - shown["width"]
    phone.screenshot(path=artifacts / "exported-phone.png")
    card(phone, "snapshot-2").tap()
    inspector = phone.locator(".inspector-box")
    expect(inspector).to_be_visible()
    below, graph = inspector.bounding_box(), phone.locator(".graph-stage").bounding_box()
    assert below is not None
    assert graph is not None
    assert below["y"] >= graph["y"] + graph["height"]
    assert below["width"] > PHONE["width"] - 20
    assert graph["height"] > 100
    phone.screenshot(path=artifacts / "exported-phone-inspector.png")
    phone.get_by_text("Merge-on-read: data-1 stays").tap()
    expect(phone.get_by_text(GUIDES["position_deletes"].watch)).to_be_visible()


def test_two_fingers_zoom(phone: Page) -> None:
    percent = phone.locator(".stage-tools").get_by_text("%")
    before = percent.inner_text()
    session = phone.context.new_cdp_session(phone)
    for kind, apart in (("touchStart", 20), ("touchMove", 40), ("touchMove", 80)):
        points = [{"x": 200 - apart, "y": 400, "id": 0}, {"x": 200 + apart, "y": 400, "id": 1}]
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
    session.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    expect(percent).not_to_have_text(before)
    assert int(percent.inner_text().split()[0]) > int(before.split()[0])


def test_a_page_of_one_table_stands_alone(sandbox: Path, tmp_path: Path, browser: Browser) -> None:
    export_table(open_demo("events"), tmp_path / "events.html")
    for page in opened(browser, tmp_path / "events.html"):
        expect(page.get_by_role("navigation", name="Other pages")).to_have_count(0)
        expect(page.locator(".lesson")).to_be_visible()


def test_the_lessons_urls_do_not_answer_its_questions(page: Page, app: Served) -> None:
    """What a teaching table shows is unfolded by who wants to know."""
    page.goto(f"{app}?table=demo.equality_deletes&snapshot=snapshot-1")
    expect(page.get_by_role("treeitem").first).to_be_visible()
    sentence = page.get_by_text("only in files with a lower data sequence number")
    expect(sentence).to_be_hidden()
    page.get_by_text("What it shows").click()
    expect(sentence).to_be_visible()
