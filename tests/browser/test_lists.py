"""The lists of the page: sorted, filtered, saved, walked by keys, and what they hold is copied."""

from __future__ import annotations

import re
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import Served, card


def files_of(page: Page, app: Served, table: str) -> Locator:
    """The list of a table's files."""
    page.goto(f"{app}?table=demo.{table}&view=files")
    grid = page.get_by_role("grid", name="files")
    expect(grid.get_by_role("row").nth(1)).to_be_visible()
    return grid


def first_cell(grid: Locator) -> Locator:
    return grid.get_by_role("row").nth(1).get_by_role("gridcell").first


def copied(page: Page) -> str:
    return str(page.evaluate("() => navigator.clipboard.readText()"))


def test_a_long_list_is_sorted_filtered_and_leads_to_the_graph(page: Page, app: Served, artifacts: Path) -> None:
    grid = files_of(page, app, "long_history")
    expect(page.get_by_text("1,200 files", exact=True)).to_be_visible()
    size = grid.get_by_role("columnheader", name="file_size_in_bytes")
    for order in ("ascending", "descending", "none"):
        size.get_by_role("button").click()
        expect(size).to_have_attribute("aria-sort", order)
    page.get_by_label("Filter files").fill("file_size_in_bytes < 890 AND sequence_number = 300")
    page.keyboard.press("Enter")
    expect(page.get_by_text("1 file matches, of 1,200")).to_be_visible()
    name = first_cell(grid).inner_text()
    page.screenshot(path=artifacts / "files.png")
    first_cell(grid).click()
    expect(page.get_by_role("complementary", name="Inspector").get_by_role("heading", name=name)).to_be_visible()
    expect(page.get_by_role("treeitem", selected=True)).to_have_accessible_name(re.compile(f"^{name}"))
    page.get_by_label("Filter files").fill("no_such = 1")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert").first).to_contain_text("no_such")
    expect(page.get_by_text("No files are shown")).to_be_visible()
    expect(grid.get_by_role("row")).to_have_count(1)
    page.get_by_role("button", name="Show all files").click()
    expect(page.get_by_text("1,200 files", exact=True)).to_be_visible()


@pytest.mark.parametrize("table", ["long_history", "deletion_vectors", "partition_evolution"])
def test_the_example_in_a_filter_is_one(table: str, page: Page, app: Served) -> None:
    """What a list offers as an example can be entered, and something matches it."""
    page.goto(f"{app}?table=demo.{table}")
    lists = page.get_by_role("region", name="Lists")
    for name in ("Snapshots", "Manifests", "Files", "Entries", "Partitions"):
        lists.get_by_role("tab", name=name).click()
        field = lists.get_by_label(f"Filter {name.lower()}")
        expect(lists.get_by_role("grid", name=name.lower()).get_by_role("row").nth(1)).to_be_visible()
        example = str(field.get_attribute("placeholder")).removeprefix("Filter, such as ")
        field.fill(example)
        field.press("Enter")
        expect(lists.get_by_text(re.compile("^[1-9].* match(es)?(, of .*)?$"))).to_be_visible()
        expect(page.get_by_role("alert")).to_have_count(0)


def test_a_long_list_is_scrolled_to_its_end(page: Page, app: Served) -> None:
    grid = files_of(page, app, "long_history")
    grid.focus()
    page.keyboard.press("End")
    expect(grid.locator("[aria-rowindex='1201']")).to_be_visible()
    expect(grid.locator("[aria-rowindex='1201']").get_by_role("gridcell").first).to_contain_text("parquet")
    page.keyboard.press("Home")
    expect(grid.locator("[aria-rowindex='2']")).to_be_visible()


@pytest.mark.parametrize("form", ["CSV", "PARQUET", "JSON", "TXT"])
def test_all_rows_are_saved(form: str, page: Page, app: Served) -> None:
    files_of(page, app, "long_history")
    with page.expect_download() as caught:
        page.get_by_role("link", name=form, exact=True).click()
    path = caught.value.path()
    assert caught.value.suggested_filename == f"demo-long-history-inspect-files.{form.lower()}"
    assert path.stat().st_size > 10_000
    if form == "PARQUET":
        assert pq.read_table(path).num_rows == 1200


def test_rows_are_walked_and_copied_by_keys(page: Page, app: Served) -> None:
    grid = files_of(page, app, "manifest_lifecycle")
    grid.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Shift+ArrowDown")
    expect(page.get_by_text("2 selected")).to_be_visible()
    page.keyboard.press("Control+c")
    expect(page.get_by_text("2 rows copied")).to_be_visible()
    lines = copied(page).splitlines()
    assert lines[0].startswith("file_path\t")
    assert [line.partition("\t")[0][-14:] for line in lines[1:]] == ["data-4.parquet", "data-3.parquet"]
    page.keyboard.press("Enter")
    expect(page.get_by_role("complementary", name="Inspector")).to_contain_text("data-3.parquet")
    expect(card(page, "^data-3.parquet")).to_have_attribute("aria-selected", "true")


def test_a_list_follows_the_snapshot_in_view(page: Page, app: Served) -> None:
    grid = files_of(page, app, "manifest_lifecycle")
    expect(grid).to_contain_text("data-4.parquet")
    page.get_by_label("First snapshot").click()
    expect(grid).to_contain_text("data-1.parquet")
    expect(grid).not_to_contain_text("data-4.parquet")
