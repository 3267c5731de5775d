"""The map of more files than there are cells: a click on a cell shows its files, a button all of them again, and each
choice of colours is drawn."""

from __future__ import annotations

import re
from pathlib import Path

from playwright.sync_api import Page, expect

from explorer.spec.layout.file_map import CELLS
from tests.browser.conftest import Watched, tab
from tests.robustness.editing import Records, edit_avro
from tests.support.small_tables import partitioned

TIMES = CELLS // 130 + 1


def of_many_files(folder: Path) -> Path:
    """A table of 130 partitions, in each of which one file is listed by many names."""
    place = partitioned(folder)
    [manifest] = (place / "metadata").glob("*-m0.avro")

    def more(rows: Records) -> Records:
        paths = [(row, f"{row['data_file']['file_path']}-{at}") for row in rows for at in range(TIMES)]
        return [{**row, "data_file": {**row["data_file"], "file_path": path}} for row, path in paths]

    edit_avro(manifest, more)
    return place


LEGEND = """() => Bokeh.index.query_one((view) => view.model.type === "Legend")?.model.items
  .map((item) => item.label.value).join()"""
"""Nothing while one figure takes the place of another."""


def click_the_middle(page: Page) -> None:
    page.locator(".bk-Figure:visible").click()


def test_a_cell_is_looked_into_and_left_again(
    dashboard: str, watched: Watched, tmp_path: Path, artifacts: Path
) -> None:
    page, number = watched.page, 130 * TIMES
    page.goto(f"{dashboard}?table={of_many_files(tmp_path)}&view=files")
    tab(page, "Map")
    whole = page.get_by_text(f"{number:,} files: {number:,} ADDED. A cell is 2 files")
    expect(whole).to_be_visible()
    every = page.get_by_role("button", name="All files")
    expect(every).to_have_count(0)
    page.screenshot(path=artifacts / "map-of-many-files.png")
    click_the_middle(page)
    inside = page.get_by_text(re.compile(rf"^files [\d,]+ to [\d,]+ of {number:,}\. A cell is a file"))
    expect(inside).to_be_visible()
    colour_by = page.get_by_role("combobox", name="colour by")
    meanings = [page.evaluate(LEGEND)]
    for colours in ("partition", "size", "age", "deletes"):
        colour_by.click()
        page.get_by_role("menuitem", name=colours, exact=True).click()
        expect(colour_by).to_have_text(colours)
        page.wait_for_function(f"(before) => ![before, undefined].includes(({LEGEND})())", arg=meanings[-1])
        meanings.append(page.evaluate(LEGEND))
        expect(inside).to_be_visible()
    assert len(set(meanings)) == 5
    every.click()
    expect(whole).to_be_visible()
    expect(every).to_have_count(0)
    watched.clean()
