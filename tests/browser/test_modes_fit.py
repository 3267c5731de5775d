"""Every mode of the page, on small and large pages, by day and night: what is written fits its frame, no text lies on
another, neither the page nor what is in it scrolls sideways, controls have names, texts stand out, and axe finds
nothing serious. A test run looks at every tab of every mode once at each size, on few tables; `make screens` looks at
all of them on every table, and leaves pictures in test-artifacts/screens. A test run leaves those of what does not fit,
and a text beside them tells what that is."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import AXE, VIOLATIONS, Served, page_of
from tests.support.small_tables import make_table, partitioned

EVERY = bool(os.environ.get("ICEDIVE_EVERY_SCREEN"))
SIZES = {"1024": (1024, 768), "1280": (1280, 800), "1440": (1440, 900), "1920": (1920, 1080), "2560": (2560, 1440),
         "1280 at 200 %": (640, 400)}  # fmt: skip
TEACHING = ("manifest_lifecycle", "equality_deletes", "deletion_vectors", "long_history")
MILLION = Path(__file__).parents[2] / "benchmarks" / "data" / "sessions-1M"
"""A million entries, where `make bench-sessions` has made them."""
TABLES = (*TEACHING, "damaged", "many_partitions", *(["million"] if EVERY and MILLION.exists() else []))
FILTERS = {
    "manifest_lifecycle": "fruit = 'apple'",
    "equality_deletes": "name = 'jack'",
    "deletion_vectors": "name = 'jack'",
    "long_history": "id > 1000",
}
TABS = {
    "plan": ("", "why", "where", "cost", "help"), "compare": ("", "rows", "commits", "manifests"),
    "deletes": ("", "layers", "count"), "findings": ("",), "health": ("", "columns", "map", "maintenance", "undo"),
    "rows": ("", "sql"), "lab": ("", "statement", "conflict", "race"),
}  # fmt: skip
LISTS = ("snapshots", "manifests", "files", "entries", "partitions", "columns")
QUESTIONS = ("overview", "inspect metadata", "inspect schema", "history lineage", "glossary")
PLACES: tuple[dict[str, str], ...] = (
    {},
    *({"mode": mode, "tab": tab} for mode, tabs in TABS.items() for tab in tabs),
    *({"list": f"inspect {name}"} for name in LISTS),
    *({"mode": "ask", "question": name} for name in QUESTIONS),
)
FITTING = Path(__file__).with_name("fitting.js").read_text()


@pytest.fixture(scope="module")
def places(sandbox: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Where the tables are, by their names."""
    damaged, large = make_table(tmp_path_factory.mktemp("damaged")), partitioned(tmp_path_factory.mktemp("large"))
    sorted((damaged / "metadata").glob("*-m0.avro"))[0].write_text("no manifest at all")
    folders = {"damaged": damaged, "many_partitions": large, "million": MILLION}
    return {name: f"demo.{name}" for name in TEACHING} | {name: str(folder) for name, folder in folders.items()}


def settle(page: Page) -> None:
    page.wait_for_function("() => settled()", polling=150, timeout=180_000)  # the doctor, over a million entries


def faults(page: Page, checks: Sequence[str]) -> list[str]:
    """What is wrong, and stays so."""
    found = [fault for check in checks for fault in page.evaluate(check)]
    if found:
        page.wait_for_timeout(1500)  # what is new in a graph shines for a moment
        settle(page)
        found = [fault for check in checks for fault in page.evaluate(check)]
    return found


@pytest.mark.timeout(7200 if EVERY else 600)
@pytest.mark.parametrize("size", SIZES)
def test_everything_fits(size: str, app: Served, browser: Browser, places: dict[str, str], artifacts: Path) -> None:
    folder, bad = artifacts / "screens", dict[str, list[str]]()
    folder.mkdir(exist_ok=True)
    wide, high = SIZES[size]
    shift = list(SIZES).index(size)  # so that all tests together look at each place on each table
    with page_of(browser, app, viewport={"width": wide, "height": high}) as page:
        page.add_init_script(FITTING)
        page.add_init_script(AXE)
        for at, place in enumerate(PLACES):
            one = TABLES[(at + shift) % len(TABLES)], ("light", "dark")[(at + shift) // len(TABLES) % 2]
            for table, theme in product(TABLES, ("light", "dark")) if EVERY else [one]:
                page.emulate_media(color_scheme=theme)  # type: ignore[arg-type]
                about = {"table": places[table], "filter": FILTERS.get(table, "id > 0"), **place}
                page.goto(f"{app}?{urlencode(about)}")
                settle(page)
                found = faults(page, ["misfits()", "unreachable()", *([VIOLATIONS] if EVERY or at % 3 == 0 else [])])
                name = re.sub(r"[^a-z0-9]+", "-", f"{table} {size} {theme} {' '.join(place.values())}").strip("-")
                if EVERY or found:
                    page.screenshot(path=folder / f"{name}.jpg", quality=85)
                if found:
                    bad[name] = found
                    (folder / f"{name}.txt").write_text("\n".join(found))
    assert not bad, "\n".join(f"{name}: {'; '.join(found[:6])}" for name, found in bad.items())


def test_parts_that_open_fit(app: Served, browser: Browser) -> None:
    """At 200 %: the inspector, the list of tables, what can be gone to, the help, the legend."""
    with page_of(browser, app, viewport={"width": 640, "height": 400}) as page:
        page.add_init_script(FITTING)
        page.goto(f"{app}?table=demo.manifest_lifecycle")
        expect(page.get_by_role("treeitem").first).to_be_visible()
        for opened, closed in (
            ("Show or hide the inspector", "Close the inspector"), ("sandbox / demo", "Close the list of tables"),
            ("Legend", "Legend"), ("Details", "Details"),
        ):  # fmt: skip
            page.get_by_role("button", name=opened).first.click()
            settle(page)
            assert faults(page, ["misfits()", "unreachable()"]) == [], opened
            page.get_by_role("button", name=closed).first.click()
        for key in ("?", "Control+k"):
            page.keyboard.press(key)
            expect(page.get_by_role("dialog")).to_be_visible()
            assert page.get_by_role("dialog").evaluate("(box) => box.scrollWidth <= box.clientWidth")
            page.keyboard.press("Escape")
