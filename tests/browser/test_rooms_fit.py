"""Every view of the dashboard, on small and large pages, by day and night: what is written there fits its frame, no
text lies on another, neither the page nor what is in it scrolls sideways, controls have names, texts stand out, and axe
finds nothing serious. A test run looks at every view once (axe at those of one table), `make screens` at each, and all
tabs within, on every table and in every way, a test for each table, and leaves pictures of them in
test-artifacts/screens: a test run only of what does not fit. A text beside them tells what that is."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from importlib.resources import files
from pathlib import Path

import pytest
from explorer.ui.rooms import ROOMS, VIEWS
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import Watched, to
from tests.support.small_tables import make_table, partitioned

EVERY = bool(os.environ.get("ICEDIVE_EVERY_SCREEN"))
SIZES = ((1280, 800), (1920, 1080))
SMALL = ((1024, 768), (640, 400))
"""The second is 1280 by 800 at 200%."""
LOOKS = [(size, theme) for theme in ("light", "dark") for size in SIZES]
TEACHING = ("manifest_lifecycle", "equality_deletes", "deletion_vectors", "long_history")
MILLION = Path(__file__).parents[2] / "benchmarks" / "data" / "sessions-1M"
"""A million entries, where `make bench-sessions` has made them."""
TABLES = (*TEACHING, "damaged", "many_partitions", *(["million"] if EVERY and MILLION.exists() else []))

FITTING = Path(__file__).with_name("fitting.js").read_text()
AXE = files("axe_playwright_python").joinpath("axe.min.js").read_text()
SERIOUS = """async () => {
  const { violations } = await axe.run(document, { resultTypes: ["violations"], iframes: false });
  const ours = ({ html }) => !html.includes("tabulator-table-body");  // a grid may not hold the pager that it holds
  return violations.filter(({ impact }) => ["serious", "critical"].includes(impact)).flatMap(({ id, nodes }) => (
    nodes.filter(ours).map(({ html }) => `axe: ${id} ${html.slice(0, 150)}`)));
}"""
FIT = "[...misfits(), ...unreachable()]"


@pytest.fixture
def places(sandbox: Path, tmp_path: Path) -> dict[str, str]:
    """Where the tables are, by their names."""
    damaged, large = make_table(tmp_path / "damaged"), partitioned(tmp_path / "large")
    sorted((damaged / "metadata").glob("*-m0.avro"))[0].write_text("no manifest at all")
    folders = {"damaged": damaged, "many_partitions": large, "million": MILLION}
    return {name: f"demo.{name}" for name in TEACHING} | {name: str(folder) for name, folder in folders.items()}


Look = tuple[tuple[int, int], str]


def looks(tables: Sequence[str]) -> Iterator[tuple[str, Look, Sequence[str]]]:
    """(a table, how the page is, what to look at): all of it, or every view once, on every table, each way."""
    views = list(VIEWS)
    for at, table in enumerate(tables):
        for way, look in sorted(enumerate(LOOKS), reverse=at % 2 == 1):  # so that night falls once a table
            mine = [
                name for n, name in enumerate(views) if (n % len(TABLES), n // len(TABLES) % len(LOOKS)) == (at, way)
            ]
            if chosen := views if EVERY else mine:
                yield table, look, chosen


def inner(page: Page, view: str) -> list[Locator]:
    """What to click on in a view: the tabs within it, or a node of the graph, which the inspector tells of."""
    if view == "graph":
        return [page.locator(".ix-node.ix-focus .ix-head")]
    room = ROOMS[VIEWS[view]]
    return page.locator(".bk-tab:visible").all()[len(ROOMS) + (len(room.views) if len(room.views) > 1 else 0) :]


def settle(page: Page, polling: int = 250) -> None:
    page.evaluate("settled(true)")
    page.wait_for_function("() => settled()", polling=polling, timeout=180_000)  # the doctor, over a million entries


def misfits(folder: Path, table: str) -> Path:
    """The text that tells what does not fit in pictures of a table."""
    return folder / f"{table}-misfits.txt"


def look_at(page: Page, picture: Path, bad: dict[str, list[str]], asked: Sequence[str], kept: bool = True) -> None:
    """Leave a picture, and what is wrong and stays so: at first fields have the colours of the day at night, too."""
    found = [what for wrong in asked for what in page.evaluate(wrong)]
    if found:
        page.wait_for_timeout(1000)
        settle(page)
        found = [what for wrong in asked for what in page.evaluate(wrong)]
    if kept or found:
        page.screenshot(path=picture, quality=85)
    if found:
        bad[picture.stem] = found
        table = picture.stem.partition("-")[0]
        with misfits(picture.parent, table).open("a") as told:  # at once: all of them take hours
            told.write(f"{picture.stem}: {'; '.join(found)}\n")


def made_small(page: Page, picture: Path, bad: dict[str, list[str]]) -> None:
    """What is shown is also looked at on small pages, and then has its size and the tree at the left again."""
    before = page.viewport_size
    assert before
    for wide, high in SMALL if EVERY else SMALL[-1:]:
        page.set_viewport_size({"width": wide, "height": high})
        settle(page, 150)
        look_at(page, picture.with_stem(f"{picture.stem}-at-{wide}"), bad, ["misfits()"], EVERY)
    page.set_viewport_size(before)
    page.get_by_label("Open drawer").click()


@pytest.mark.timeout(7200 if EVERY else 600)
@pytest.mark.parametrize("tables", [(name,) for name in TABLES] if EVERY else [TABLES], ids=lambda tables: tables[0])
def test_everything_fits(
    dashboard: str, watched: Watched, places: dict[str, str], artifacts: Path, tables: Sequence[str]
) -> None:
    page, folder = watched.page, artifacts / "screens"
    folder.mkdir(exist_ok=True)
    for table in tables:
        misfits(folder, table).unlink(missing_ok=True)
    page.add_init_script(FITTING)
    page.add_init_script(AXE)
    page.goto(f"{dashboard}?table={places[tables[0]]}&view=overview")
    expect(page.locator("header")).to_contain_text(Path(places[tables[0]]).name.removeprefix("demo."))
    now, bad, theme = tables[0], dict[str, list[str]](), "light"
    for table, (size, wanted), views in looks(tables):
        page.set_viewport_size({"width": size[0], "height": size[1]})
        if table != now:
            now = table
            page.get_by_label("Table, folder or metadata.json").fill(places[table])
            page.keyboard.press("Enter")
            expect(page.locator("header")).to_contain_text(Path(places[table]).name.removeprefix("demo."))
        if wanted != theme:
            theme = wanted
            page.get_by_label("Toggle theme").click()
        asked = [FIT, SERIOUS] if table == tables[0] else [FIT]  # axe takes a second
        for view in views:
            to(page, view)
            settle(page)
            name = f"{table}-{view}-{size[0]}-{theme}"
            look_at(page, folder / f"{name}.jpg", bad, asked, EVERY)
            parts = inner(page, view)
            for n, part in enumerate(parts if EVERY else parts[-1:]):
                part.click()
                settle(page)
                look_at(page, folder / f"{name}-{n}.jpg", bad, asked, EVERY)
            if size == SIZES[0] and (not EVERY or (table, theme) == (TABLES[0], "light")):
                made_small(page, folder / f"{name}.jpg", bad)
    if theme == "dark":
        page.get_by_label("Toggle theme").click()
    page.get_by_role("combobox", name="snapshot", exact=True).click()
    expect(page.get_by_role("option", selected=True)).to_be_visible()
    look_at(page, folder / f"{now}-choice.jpg", bad, ["unreachable()"], EVERY)  # it lies on the page
    assert not bad, "\n".join(f"{name}: {'; '.join(what[:6])}" for name, what in bad.items())
    watched.clean()
