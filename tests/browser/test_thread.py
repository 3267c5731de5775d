"""The graph keeps its thread: the way to what is unfolded or chosen stays in sight, and each step is told."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import Watched, node, show

CAPTIONS = (
    "snapshot-1 added manifest-1 with 2 data files",
    "snapshot-2 rewrote manifest-1 as manifest-2: data-1.parquet DELETED",
    "snapshot-3 added manifest-3 with 1 data file",
    "snapshot-4 rewrote manifest-2 as manifest-4: data-2.parquet DELETED",
    "snapshot-5 added manifest-5 with 1 data file; dropped manifest-4, which held only DELETED entries",
)
MOVES = 450
"""Milliseconds until a graph stands still, and some."""


def box(part: Locator) -> dict[str, float]:
    found = part.bounding_box()
    assert found is not None
    return {"left": found["x"], "top": found["y"], "right": found["x"] + found["width"],
            "bottom": found["y"] + found["height"]}  # fmt: skip


def on_stage(page: Page, label: str) -> bool:
    stage, card = box(page.locator(".ix-stage")), box(node(page, label))
    return all(stage[s] <= card[s] for s in ("left", "top")) and all(card[s] <= stage[s] for s in ("right", "bottom"))


def test_what_is_unfolded_stays_where_it_was_clicked_and_so_does_the_way(
    dashboard: str, watched: Watched, artifacts: Path
) -> None:
    page = watched.page
    show(page, f"{dashboard}?table=demo.long_history")
    way = ("manifest-298.m1", "manifest list 300", "snapshot-300")
    page.wait_for_timeout(MOVES)
    before = {label: box(node(page, label))["top"] for label in way}
    node(page, "manifest-298.m1").locator(".ix-fold").click()
    expect(page.locator('.ix-node[data-kind="data_file"]')).to_have_count(30)
    page.wait_for_timeout(MOVES)
    assert all(abs(box(node(page, label))["top"] - before[label]) < 3 for label in way)
    assert all(on_stage(page, label) for label in way)
    page.screenshot(path=artifacts / "thread-unfolded.png")
    watched.clean()


def test_steps_are_told_and_nothing_jumps_where_the_window_moves(dashboard: str, watched: Watched) -> None:
    page = watched.page
    show(page, f"{dashboard}?table=demo.manifest_lifecycle&snapshot=snapshot-1")
    for n, caption in enumerate(CAPTIONS, 1):
        expect(page.locator(".ix-caption")).to_have_text(caption)
        page.wait_for_timeout(MOVES)
        if n == 3:
            place = box(node(page, "manifest-3"))
        if n > 3:
            assert abs(box(node(page, "manifest-3"))["top"] - place["top"]) < 5  # a border may be lit
        if n < 5:
            page.get_by_label("Next snapshot").click()
    show(page, f"{dashboard}?table=demo.long_history&snapshot=snapshot-147")
    for n in range(148, 156):  # twelve snapshots are drawn, and another six of them once on the way
        page.wait_for_timeout(MOVES)
        tops = {label: box(node(page, label))["top"] for label in (f"snapshot-{n - 1}", f"manifest-{n - 1}")}
        page.get_by_label("Next snapshot").click()
        expect(page.locator(".ix-caption")).to_have_text(f"snapshot-{n} added manifest-{n} with 4 data files")
        page.wait_for_timeout(MOVES)
        assert on_stage(page, f"snapshot-{n}")
        moved = [box(node(page, label))["top"] - top for label, top in tops.items()]
        assert abs(moved[0] - moved[1]) < 2
        assert -1 < moved[0] < 170  # only as far as the next one comes into sight
    watched.clean()


def test_the_way_to_a_file_leads_back(dashboard: str, watched: Watched, artifacts: Path) -> None:
    page = watched.page
    show(page, f"{dashboard}?table=demo.manifest_lifecycle&snapshot=snapshot-3")
    parts = page.locator(".ix-way .ix-part")
    expect(parts).to_have_count(3)  # to the snapshot in view
    node(page, "data-3.parquet").locator(".ix-head").click()
    expect(page.locator(".ix-side h3")).to_have_text("data-3.parquet")
    expect(parts).to_have_count(6)
    told = parts.all_text_contents()
    assert told[1:] == ["metadata-5", "snapshot-3", "manifest list 3", "manifest-3", "data-3.parquet"]
    page.wait_for_timeout(MOVES)
    page.screenshot(path=artifacts / "thread-way.png")
    assert not on_stage(page, "metadata-5")
    page.locator(".ix-part", has_text="metadata-5").click()
    expect(page.locator(".ix-side h3")).to_have_text("metadata-5")
    page.wait_for_timeout(MOVES)
    assert on_stage(page, "metadata-5")
    expect(parts.last).to_have_attribute("aria-current", "true")
    watched.clean()


def test_the_small_map_hides_nothing_that_matters(dashboard: str, watched: Watched) -> None:
    page = watched.page
    page.set_viewport_size({"width": 1920, "height": 1080})
    show(page, f"{dashboard}?table=demo.long_history&snapshot=snapshot-150")
    small = page.locator(".ix-map")
    expect(small).to_be_visible()
    under = next(n for n in range(149, 120, -1) if box(node(page, f"manifest-{n}"))["bottom"] > box(small)["top"])
    node(page, f"manifest-{under}").locator(".ix-head").click(force=True)
    page.keyboard.press("ArrowDown")
    expect(page.locator(".ix-side h3")).to_have_text(f"manifest-{under - 1}")
    page.wait_for_timeout(MOVES)
    card, over = box(page.locator(".ix-selected")), box(small)
    assert card["right"] <= over["left"] or card["bottom"] <= over["top"]
    page.evaluate("() => document.documentElement.style.setProperty('--chrome', 'none')")  # as while presenting
    expect(small).to_be_hidden()
    page.evaluate("() => document.documentElement.style.removeProperty('--chrome')")
    expect(small).to_be_visible()
    page.set_viewport_size({"width": 1024, "height": 768})
    expect(small).to_be_hidden()
    watched.clean()
