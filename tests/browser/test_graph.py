"""The graph of the page as a person uses it: figure 8, the inspector, keys, presenting, captions, large tables."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import HeldMessages, Served, card, rail
from tests.golden.test_figures import FIGURE_8
from tests.support.small_tables import make_table

LIFECYCLE = "table=demo.manifest_lifecycle"
HISTORY = "table=demo.long_history"
SAYS = {"ADDED": "added", "EXISTING": "existing", "DELETED": "deleted", "filtered": "filtered"}
"""What a card says of its status."""
CAPTIONS = (
    "snapshot-1 added manifest-1 with 2 data files",
    "snapshot-2 rewrote manifest-1 as manifest-2: data-1.parquet DELETED",
    "snapshot-3 added manifest-3 with 1 data file",
    "snapshot-4 rewrote manifest-2 as manifest-4: data-2.parquet DELETED",
    "snapshot-5 added manifest-5 with 1 data file; dropped manifest-4, which held only DELETED entries",
)
MOVES_MS = 700
"""Milliseconds until a graph stands still."""


def cards(page: Page, pattern: str) -> Locator:
    """All cards whose description matches a pattern."""
    return page.get_by_role("treeitem", name=re.compile(pattern))


def snapshot(page: Page) -> Locator:
    """The field of the header that names the snapshot in view."""
    return page.get_by_label("Snapshot", exact=True)


def inspector(page: Page) -> Locator:
    return page.get_by_role("complementary", name="Inspector")


def top(part: Locator) -> float:
    box = part.bounding_box()
    assert box is not None
    return box["y"]


def is_on_stage(page: Page, part: Locator) -> bool:
    stage, box = page.get_by_role("tree", name="Metadata graph").bounding_box(), part.bounding_box()
    assert stage is not None
    if box is None:
        return False
    is_beside = stage["x"] <= box["x"] and box["x"] + box["width"] <= stage["x"] + stage["width"]
    return is_beside and stage["y"] <= box["y"] and box["y"] + box["height"] <= stage["y"] + stage["height"]


# -- stepping ----------------------------------------------------------------------------------------------------------
def test_figure_8_step_by_step(page: Page, app: Served, artifacts: Path) -> None:
    page.goto(f"{app}?{LIFECYCLE}&snapshot=snapshot-1")
    for number, manifests in FIGURE_8.items():
        expect(snapshot(page)).to_have_value(f"snapshot-{number}")
        expect(page.get_by_text(CAPTIONS[number - 1], exact=True)).to_be_visible()
        for manifest, files in manifests.items():
            expect(card(page, f"^{manifest}, data manifest")).to_be_visible()
            for file, status in files.items():
                expect(card(page, f"^{file}, data file, {SAYS[status]},")).to_be_visible()
        expect(cards(page, ", data manifest,")).to_have_count(len(manifests))
        expect(cards(page, ", data file,")).to_have_count(sum(len(files) for files in manifests.values()))
        page.wait_for_timeout(MOVES_MS)
        page.screenshot(path=artifacts / f"figure-8-snapshot-{number}.png")
        if number == 3:
            place = top(card(page, "^manifest-3,"))
        if number > 3:
            assert abs(top(card(page, "^manifest-3,")) - place) < 5  # a border may be lit
        if number < 5:
            page.get_by_label("Next snapshot").click()
    expect(page.get_by_label("snapshot-5, append")).to_have_attribute("aria-current", "true")
    page.get_by_label("First snapshot").click()
    expect(snapshot(page)).to_have_value("snapshot-1")
    page.get_by_role("button", name="Play the history").click()
    expect(snapshot(page)).to_have_value("snapshot-5")


def test_nothing_jumps_where_a_long_history_is_stepped_through(page: Page, app: Served) -> None:
    page.goto(f"{app}?{HISTORY}&snapshot=snapshot-147")
    expect(snapshot(page)).to_have_value("snapshot-147")
    for number in range(148, 156):
        page.wait_for_timeout(MOVES_MS)
        before = top(card(page, f"^snapshot-{number - 1},"))
        page.keyboard.press("]")
        expect(page.get_by_text(f"snapshot-{number} added manifest-{number} with 4 data files")).to_be_visible()
        page.wait_for_timeout(MOVES_MS)
        assert is_on_stage(page, card(page, f"^snapshot-{number},"))
        assert -1 < top(card(page, f"^snapshot-{number - 1},")) - before < 170  # only until the next one is in sight


def test_a_double_click_puts_a_snapshot_in_view(page: Page, app: Served) -> None:
    page.goto(f"{app}?{LIFECYCLE}")
    card(page, "^snapshot-2,").dblclick()
    expect(card(page, "^snapshot-2, snapshot, in view")).to_be_visible()
    expect(snapshot(page)).to_have_value("snapshot-2")
    assert "snapshot=" in page.url
    expect(page.get_by_text("1 rows")).to_have_count(0)
    expect(page.get_by_role("listitem").filter(has_text="1 row")).to_be_visible()
    page.go_back()
    expect(snapshot(page)).to_have_value("snapshot-5")


def test_a_double_click_counts_though_the_graph_moves_from_under_the_pointer(page: Page, app: Served) -> None:
    page.goto(f"{app}?{LIFECYCLE}")
    chosen = card(page, "^snapshot-2,")
    chosen.hover()
    page.mouse.down(click_count=1)
    page.mouse.up(click_count=1)
    page.mouse.down(click_count=2)
    expect(inspector(page).get_by_role("heading", name="snapshot-2")).to_be_visible()
    page.wait_for_timeout(MOVES_MS)
    page.mouse.up(click_count=2)
    expect(snapshot(page)).to_have_value("snapshot-2")


# -- inspecting --------------------------------------------------------------------------------------------------------
def test_the_inspector_tells_of_a_node_and_the_link_keeps_it(page: Page, app: Served, artifacts: Path) -> None:
    page.goto(f"{app}?{LIFECYCLE}&snapshot=snapshot-3")
    card(page, "^manifest-2,").click()
    side = inspector(page)
    expect(side.get_by_role("heading", name="manifest-2")).to_be_visible()
    for words in ("min_sequence_number", "filtered out", "its own header"):
        expect(side).to_contain_text(words)
    expect(side.get_by_text("added_snapshot_id", exact=True)).to_have_attribute("title", re.compile("that wrote the"))
    page.screenshot(path=artifacts / "inspector.png")
    expect(page).to_have_url(re.compile("node=m"))
    link = page.url
    side.get_by_role("button", name="Copy added_snapshot_id").click()
    assert page.evaluate("() => navigator.clipboard.readText()").isdigit()
    page.goto("about:blank")
    page.goto(link)
    expect(side.get_by_role("heading", name="manifest-2")).to_be_visible()
    expect(card(page, "^manifest-2,")).to_have_attribute("aria-selected", "true")
    page.get_by_role("tree", name="Metadata graph").press("Escape")
    expect(page.get_by_role("treeitem", selected=True)).to_have_count(0)
    expect(page).not_to_have_url(re.compile("node="))


def test_beside_the_inspector_names_stay_readable(page: Page, app: Served) -> None:
    """In a window as narrow as a cell of a notebook: what is selected stays in sight, at its size."""
    page.set_viewport_size({"width": 860, "height": 640})
    page.goto(f"{app}?table=demo.position_deletes")
    file = card(page, r"\.parquet, data file")
    expect(file).to_be_visible()
    before = file.bounding_box()
    file.click()
    expect(inspector(page)).to_be_visible()
    page.wait_for_timeout(MOVES_MS)
    after = file.bounding_box()
    assert before is not None
    assert after is not None
    assert after["width"] >= 0.95 * before["width"]
    assert is_on_stage(page, file)


def test_back_and_forward_lead_through_tables_and_modes(page: Page, app: Served) -> None:
    page.goto(f"{app}?{LIFECYCLE}&snapshot=snapshot-3")
    card(page, "^manifest-2,").click()
    expect(page).to_have_url(re.compile("node=m"))
    page.get_by_role("tab", name="Files", exact=True).click()
    expect(page.get_by_role("grid", name="files")).to_contain_text("data-3.parquet")
    page.get_by_role("button", name="sandbox / demo / manifest_lifecycle").click()
    page.get_by_label("Open", exact=True).fill("demo.three_inserts")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="sandbox / demo / three_inserts")).to_be_visible()
    expect(snapshot(page)).to_have_value("snapshot-3")
    page.go_back()
    expect(page.get_by_role("button", name="sandbox / demo / manifest_lifecycle")).to_be_visible()
    expect(page.get_by_role("grid", name="files")).to_contain_text("data-3.parquet")
    page.go_back()
    expect(page.get_by_role("grid", name="files")).to_have_count(0)
    expect(inspector(page).get_by_role("heading", name="manifest-2")).to_be_visible()
    page.go_forward()
    page.go_forward()
    expect(page.get_by_role("button", name="sandbox / demo / three_inserts")).to_be_visible()


def test_a_file_shows_what_is_stored_and_what_it_means_and_its_rows(page: Page, app: Served, artifacts: Path) -> None:
    """Figures 13 and 14: the row that was updated, the equality delete that hides the old one, and the sequence numbers
    that decide."""
    page.goto(f"{app}?table=demo.equality_deletes")
    card(page, "^delete-1.parquet").click()
    side = inspector(page)
    for words in (
        "equality delete file", "equality_ids", "name (1)", "stored ADDED, reads as EXISTING",
        "inherited: the manifest list's sequence_number", "jack", "raw record", "what it holds",
    ):  # fmt: skip
        expect(side).to_contain_text(words)
    card(page, "^data-1.parquet").click()
    hidden = side.get_by_role("row").filter(has_text="jack").filter(has_text="equality delete-1.parquet")
    expect(hidden).to_contain_text("(sequence number 2)")
    expect(hidden.get_by_role("cell").first).to_have_css("text-decoration-line", "line-through")
    expect(side).to_contain_text("the data's sequence number 1 is < the delete's 2")
    page.screenshot(path=artifacts / "file-rows.png")


def test_the_life_of_a_file_is_told(page: Page, app: Served) -> None:
    page.goto(f"{app}?{LIFECYCLE}&snapshot=snapshot-2")
    card(page, "^data-1.parquet").click()
    inspector(page).get_by_role("button", name="Show the life of this file").click()
    for words in (
        "Added by snapshot-1, deleted by snapshot-2", "Refs that read it: none", "snapshot-1 would have to expire",
    ):  # fmt: skip
        expect(inspector(page)).to_contain_text(words)


# -- keys --------------------------------------------------------------------------------------------------------------
def test_keys_lead_through_the_graph(page: Page, app: Served) -> None:
    page.goto(f"{app}?{LIFECYCLE}")
    expect(card(page, "^data-4.parquet")).to_be_visible()
    chosen = page.get_by_role("treeitem", selected=True)
    page.get_by_role("tree", name="Metadata graph").focus()
    for key, name in (
        ("ArrowDown", "snapshot-5"), ("ArrowDown", "snapshot-4"), ("ArrowUp", "snapshot-5"),
        ("ArrowRight", "manifest list 5"), ("ArrowRight", "manifest-5"), ("End", "manifest-3"), ("Home", "manifest-5"),
    ):  # fmt: skip
        page.keyboard.press(key)
        expect(chosen).to_have_accessible_name(re.compile(f"^{name},"))
    for key, count in (("Enter", 0), ("Space", 1)):
        page.keyboard.press(key)
        expect(cards(page, "^data-4.parquet")).to_have_count(count)
    page.keyboard.press("[")
    expect(snapshot(page)).to_have_value("snapshot-4")
    page.keyboard.press("PageDown")
    expect(snapshot(page)).to_have_value("snapshot-5")
    card(page, "^snapshot-2,").click()
    card(page, "^snapshot-3,").click(modifiers=["Shift"])
    expect(chosen).to_have_count(2)
    percent = page.get_by_text(re.compile(r"^\d+ %$"))
    before = percent.inner_text()
    page.keyboard.press("+")
    expect(percent).not_to_have_text(before)
    page.keyboard.press("f")
    page.keyboard.press("Escape")
    expect(chosen).to_have_count(0)


def test_each_of_two_keys_counts_though_the_server_is_slow(page: Page, app: Served) -> None:
    """The second is pressed before the first is answered."""
    messages = HeldMessages(page)
    page.goto(f"{app}?{LIFECYCLE}")
    card(page, "^manifest-5,").click()
    expect(inspector(page).get_by_role("heading", name="manifest-5")).to_be_visible()
    page.get_by_role("tree", name="Metadata graph").focus()
    messages.are_held = True
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    page.wait_for_timeout(MOVES_MS)
    assert messages.waiting
    messages.release()
    page.wait_for_timeout(MOVES_MS)
    expect(cards(page, "^data-4.parquet")).to_have_count(1)
    page.keyboard.press("Enter")
    expect(cards(page, "^data-4.parquet")).to_have_count(0)


def test_tabs_are_walked_by_arrows(page: Page, app: Served) -> None:
    page.goto(f"{app}?{LIFECYCLE}&mode=compare")
    files = page.get_by_role("tablist", name="Compare").get_by_role("tab", name="Files", exact=True)
    files.focus()
    for key, name, tab in (
        ("ArrowRight", "Rows", "rows"),
        ("ArrowRight", "Commits", "commits"),
        ("ArrowLeft", "Rows", "rows"),
    ):
        page.keyboard.press(key)
        chosen = page.get_by_role("tablist", name="Compare").get_by_role("tab", name=name, exact=True)
        expect(chosen).to_have_attribute("aria-selected", "true")
        expect(chosen).to_be_focused()
        assert f"tab={tab}" in page.url


def test_p_presents(page: Page, app: Served, artifacts: Path) -> None:
    """Nothing but the graph and its timeline, and larger; keys step."""
    page.goto(f"{app}?{LIFECYCLE}&snapshot=snapshot-3")
    expect(card(page, "^manifest-2,")).to_be_visible()
    page.wait_for_timeout(MOVES_MS)
    around = [
        page.get_by_role("banner"),
        page.get_by_role("navigation", name="Modes"),
        page.get_by_role("region", name="Lists"),
    ]
    small = card(page, "^manifest-2,").bounding_box()
    page.keyboard.press("p")
    for part in around:
        expect(part).to_be_hidden()
    page.wait_for_timeout(MOVES_MS)
    page.screenshot(path=artifacts / "presenting.png")
    large = card(page, "^manifest-2,").bounding_box()
    assert small
    assert large
    assert large["height"] > small["height"]
    page.keyboard.press("PageDown")
    expect(page.get_by_text(CAPTIONS[3])).to_be_visible()
    page.keyboard.press("Control+k")
    page.get_by_role("combobox", name="Go to").fill("snapshot-2")
    page.keyboard.press("Enter")
    expect(page.get_by_text(CAPTIONS[1])).to_be_visible()
    page.keyboard.press("p")
    for part in around:
        expect(part).to_be_visible()
    expect(snapshot(page)).to_have_value("snapshot-2")


# -- what is drawn -----------------------------------------------------------------------------------------------------
def test_what_is_unfolded_stays_where_it_was_clicked(page: Page, app: Served, artifacts: Path) -> None:
    page.goto(f"{app}?{HISTORY}")
    way = ("manifest-298.m1", "manifest list 300", "snapshot-300")
    expect(card(page, "^manifest-298.m1,")).to_be_visible()
    card(page, "^manifest-298.m1,").click()  # the inspector takes its room
    expect(inspector(page)).to_be_visible()
    page.wait_for_timeout(MOVES_MS)
    before = {name: top(card(page, f"^{name},")) for name in way}
    page.keyboard.press("Enter")
    expect(card(page, "^part-01188.parquet, data file")).to_be_visible()
    page.wait_for_timeout(MOVES_MS)
    assert all(abs(top(card(page, f"^{name},")) - y) < 20 for name, y in before.items())  # the strip takes its room
    assert cards(page, ", data file,").count() < 100  # of 1,192: what is near
    page.screenshot(path=artifacts / "large-table.png")


def test_a_large_table_is_paged_and_searched(page: Page, app: Served) -> None:
    """The search finds files of manifests that are folded."""
    page.goto(f"{app}?{HISTORY}")
    card(page, "^95 older metadata files").click()
    expect(card(page, "^metadata-294, metadata file")).to_be_visible()
    page.get_by_label("Search the graph").fill("part-00934")
    expect(card(page, "^part-00934.parquet")).to_be_visible()
    expect(page.get_by_text("1 of 1", exact=True)).to_be_visible()
    expect(cards(page, ", data file,")).to_have_count(1)
    expect(card(page, "without a match$")).to_be_attached()
    page.get_by_label("Search the graph").fill("")
    expect(cards(page, "without a match$")).to_have_count(0)


def test_entries_that_are_filtered_out_may_be_left_out(page: Page, app: Served) -> None:
    page.goto(f"{app}?{LIFECYCLE}&snapshot=snapshot-3")
    expect(card(page, "^data-1.parquet, data file, filtered")).to_be_visible()
    page.get_by_role("checkbox", name="Filtered entries").uncheck()
    expect(cards(page, "^data-1.parquet")).to_have_count(0)
    page.get_by_role("checkbox", name="Filtered entries").check()
    page.get_by_role("button", name="Legend").click()
    expect(page.get_by_text("filtered out: deleted by an earlier snapshot")).to_be_visible()


def test_a_damaged_table_opens_and_shows_where(page: Page, app: Served, tmp_path: Path, artifacts: Path) -> None:
    table = make_table(tmp_path)
    victim = sorted((table / "metadata").glob("*-m0.avro"))[0]
    victim.write_text("no manifest at all <script>alert(1)</script>")
    page.goto(f"{app}?table={table}")
    bad = cards(page, "^cannot be read, unreadable")
    expect(bad).to_have_count(1)
    expect(cards(page, ", data file,")).to_have_count(2)
    bad.click()
    expect(inspector(page)).to_contain_text("not an Avro file")
    expect(inspector(page)).to_contain_text(victim.name)
    page.screenshot(path=artifacts / "damaged.png")
    rail(page, "Findings")
    expect(page.get_by_role("region", name="Findings")).to_contain_text("not an Avro file")
    page.goto(f"{app}?table={table}&mode=plan&filter=id+%3E+0")
    lacks = page.get_by_text("1 file of this table could not be read whole, and answers that need it lack what is lost")
    expect(lacks).to_contain_text(victim.name)
    expect(page.get_by_role("region", name="Plan")).to_contain_text(
        "1 file that the manifest list counts is not found in its manifests"
    )
    page.goto(f"{app}?table=demo.three_inserts")
    expect(card(page, "^snapshot-3,")).to_be_visible()
    expect(page.get_by_text("could not be read whole")).to_have_count(0)


@pytest.mark.parametrize(
    ("name", "delete", "data"),
    [("deletion_vectors", ", deletion vector, added", ", data file, .*seq 1"),
     ("equality_deletes", "^delete-1.parquet, equality delete file", "^data-1.parquet"),
     ("position_deletes", ", position delete file", ", data file, .*seq 1")],
)  # fmt: skip
def test_deletes_are_told_with_what_they_hide(name: str, delete: str, data: str, page: Page, app: Served) -> None:
    """To a screen reader."""
    page.goto(f"{app}?table=demo.{name}")
    expect(card(page, delete)).to_have_accessible_description(re.compile("applies to "))
    expect(card(page, data)).to_have_accessible_description(re.compile("rows hidden by "))
