"""Figures are saved as SVG too, and say what their colours are; the overview's words are explained; notes wrap."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

from playwright.sync_api import expect

from explorer.spec.text.glossary import TERMS
from tests.browser.conftest import Watched


def test_a_figure_is_saved_as_svg_and_words_are_explained(dashboard: str, watched: Watched, artifacts: Path) -> None:
    page = watched.page
    page.goto(f"{dashboard}?table=demo.hidden_partitioning")
    expect(page.get_by_label("colours of partitions")).to_be_visible()  # all is drawn
    for how in ("click", "press"):
        page.mouse.move(5, 5)
        page.locator(".bk-Figure").last.hover()
        tool = page.get_by_title("Save as SVG").first
        expect(tool).to_be_visible()
        with page.expect_download() as caught:
            if how == "click":
                tool.click()
            else:
                tool.press("Enter")
        assert caught.value.suggested_filename == "partitions.svg"
        root = ElementTree.fromstring(caught.value.path().read_bytes())
        assert root.tag.endswith("svg")
        assert len(list(root.iter())) > 10
    word = page.locator("abbr", has_text="partitioned by")
    expect(word).to_have_attribute("title", f"partition spec: {TERMS['partition spec']}")
    word.focus()
    page.screenshot(path=artifacts / "overview-explained.png", full_page=True)
    watched.clean()


def test_notes_of_the_history_wrap(dashboard: str, watched: Watched, artifacts: Path) -> None:
    page = watched.page
    page.goto(f"{dashboard}?table=demo.branches_and_tags&view=history")
    page.set_viewport_size({"width": 1280, "height": 800})
    note = page.locator('.tabulator-cell[tabulator-field="notes"]', has_text="no ref leads to it").first
    expect(note).to_be_visible()
    expect(page.get_by_text("the table went back from snapshot-6")).to_be_visible()
    page.screenshot(path=artifacts / "history-notes.png")
    # without scrolling sideways; asked of the element that is there, since the grid may be drawn anew
    assert note.evaluate("cell => cell.getBoundingClientRect().right") <= 1280
    assert note.evaluate("cell => cell.scrollHeight <= cell.clientHeight && cell.scrollWidth <= cell.clientWidth")
    watched.clean()
