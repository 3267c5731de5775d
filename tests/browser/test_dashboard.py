"""The dashboard in a real browser, as a person uses it."""

from __future__ import annotations

import re
import shutil
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import Watched, node, show, signed_in, tab, to
from tests.golden.test_figures import FIGURE_8
from tests.unit.test_following import Home


def test_figure_8_step_by_step(dashboard: str, watched: Watched, artifacts: Path) -> None:
    page = watched.page
    show(page, f"{dashboard}?table=demo.manifest_lifecycle&snapshot=snapshot-1")
    for n, manifests in FIGURE_8.items():
        expect(page.locator(".ix-where")).to_contain_text(f"snapshot-{n} of 5")
        for manifest, files in manifests.items():
            expect(node(page, manifest)).to_be_visible()
            for file, status in files.items():
                expect(node(page, file)).to_have_attribute("data-status", status)
        kinds = page.locator('.ix-node[data-kind="data_manifest"]')
        expect(kinds).to_have_count(len(manifests))
        expect(page.locator('.ix-node[data-kind="data_file"]')).to_have_count(sum(len(f) for f in manifests.values()))
        page.wait_for_timeout(500)
        page.screenshot(path=artifacts / f"figure-8-snapshot-{n}.png")
        if n < 5:
            page.get_by_label("Next snapshot").click()
    watched.clean()


def test_inspector_fold_and_deep_link(dashboard: str, watched: Watched, artifacts: Path) -> None:
    page = watched.page
    show(page, f"{dashboard}?table=demo.manifest_lifecycle&snapshot=snapshot-3")
    node(page, "manifest-2").locator(".ix-head").click()
    side = page.locator(".ix-side")
    expect(side.locator("h3")).to_have_text("manifest-2")
    expect(side).to_contain_text("min_sequence_number")
    expect(side).to_contain_text("filtered out")
    expect(side).to_contain_text("its own Avro header")
    expect(side.locator("dt", has_text="added_snapshot_id")).to_have_attribute("title", re.compile("that wrote the"))
    page.wait_for_timeout(400)
    page.screenshot(path=artifacts / "inspector.png")
    smallest = """() => Math.min(...[...document.querySelectorAll("*")].flatMap(function texts(e) {
        const inner = e.shadowRoot ? [...e.shadowRoot.querySelectorAll("*")].flatMap(texts) : [];
        const drawn = e.matches("text.ix-head, text.ix-line");
        return drawn ? [e.getScreenCTM().d * parseFloat(getComputedStyle(e).fontSize)] : inner;
    }))"""
    assert page.evaluate(smallest) >= 12
    before = side.bounding_box()["width"]
    page.locator(".ix-grip").press("ArrowLeft")
    wide = side.bounding_box()["width"]
    assert wide > before
    page.wait_for_url("**node=m*")
    link = page.url
    node(page, "manifest-2").locator(".ix-fold").click()
    expect(node(page, "data-2.parquet")).to_have_count(0)
    node(page, "manifest-2").locator(".ix-fold").click()
    node(page, "data-2.parquet").locator(".ix-fold").click()
    expect(node(page, "row group 0")).to_be_visible()
    show(page, link)
    expect(page.locator(".ix-side h3")).to_have_text("manifest-2")
    assert side.bounding_box()["width"] == wide  # the browser keeps it
    page.locator(".ix-root").press("Escape")
    expect(side).to_contain_text("Click a node")
    page.keyboard.press("p")
    expect(side).not_to_be_visible()  # nothing to tell, and the room is wanted
    page.keyboard.press("p")
    expect(side).to_be_visible()
    page.go_back()
    expect(page.locator(".ix-side h3")).to_have_text("manifest-2")
    expect(page.locator(".ix-where")).to_contain_text("snapshot-3 of 5")
    header, field = page.locator("header"), page.get_by_label("Table, folder or metadata.json")
    to(page, "files")
    page.wait_for_url("**view=files*")
    field.fill("demo.three_inserts")
    field.press("Enter")
    expect(header).to_contain_text("sandbox.demo.three_inserts · snapshot-3 of 3 · main")
    page.wait_for_url("**table=demo.three_inserts*")
    page.go_back()
    expect(header).to_contain_text("sandbox.demo.manifest_lifecycle · snapshot-3 of 5")
    expect(page.locator(".bk-tab.bk-active:visible").nth(1)).to_have_text("Files")
    page.go_back()
    expect(page.locator(".ix-side h3")).to_have_text("manifest-2")
    page.go_forward()
    page.go_forward()
    expect(header).to_contain_text("sandbox.demo.three_inserts")
    watched.clean()


def test_file_shows_stored_and_logical_and_bounds(dashboard: str, watched: Watched) -> None:
    page = watched.page
    show(page, f"{dashboard}?table=demo.equality_deletes")
    page.locator('.ix-node[data-label="delete-1.parquet"] .ix-head').click()
    side = page.locator(".ix-side")
    for words in (
        "equality delete file",
        "equality_ids",
        "name (1)",
        "stored ADDED, reads as EXISTING",
        "inherited: the manifest list's sequence_number",
        "jack",
        "raw Avro record",
    ):
        expect(side).to_contain_text(words)
    watched.clean()


def test_keyboard_multi_select_and_zoom(dashboard: str, watched: Watched) -> None:
    page = watched.page
    show(page, f"{dashboard}?table=demo.manifest_lifecycle")
    page.locator(".ix-root").focus()
    page.keyboard.press("ArrowDown")
    chosen = page.locator(".ix-node.ix-selected")
    expect(chosen).to_have_attribute("data-label", "snapshot-5")
    page.keyboard.press("ArrowRight")
    expect(chosen).to_have_attribute("data-label", "manifest list 5")
    page.keyboard.press("ArrowRight")
    expect(chosen).to_have_attribute("data-label", "manifest-5")
    page.keyboard.press("Enter")
    expect(node(page, "data-4.parquet")).to_have_count(0)
    page.keyboard.press("[")
    expect(page.locator(".ix-where")).to_contain_text("snapshot-4 of 5")
    node(page, "snapshot-2").locator(".ix-head").click()
    node(page, "snapshot-3").locator(".ix-head").click(modifiers=["Shift"])
    expect(chosen).to_have_count(2)
    world = page.locator(".ix-world")
    before = world.get_attribute("transform")
    page.get_by_label("Zoom in").click()
    assert world.get_attribute("transform") != before
    head, around = node(page, "snapshot-2").locator(".ix-head"), page.locator("nav, .ix-bar, .bk-header")
    small, bars = head.bounding_box(), around.filter(visible=True).count()
    page.keyboard.press("p")  # presented: nothing but the graph, larger; keys step
    expect(around.filter(visible=True)).to_have_count(0)
    expect(page.locator("header")).not_to_be_visible()
    assert head.bounding_box()["height"] > 1.3 * small["height"]
    page.keyboard.press("PageDown")
    expect(page.locator(".ix-where")).to_contain_text("snapshot-5 of 5")
    page.keyboard.press("Escape")
    expect(around.filter(visible=True)).to_have_count(bars)
    focused = """() => {
        let found = document.activeElement;
        while (found.shadowRoot && found.shadowRoot.activeElement) found = found.shadowRoot.activeElement;
        return found.classList.contains("bk-tab") ? found.textContent : "";
    }"""
    page.get_by_label("Table, folder or metadata.json").focus()
    for _ in range(20):  # past the tree, and before what they show
        if page.evaluate(focused) == "Explore":
            break
        page.keyboard.press("Tab")
    views = {"Changes": "history", "Overview": "overview", "Lab": "lab", "Explore": "graph"}
    rooms = (("ArrowRight", "Changes"), ("Home", "Overview"), ("ArrowLeft", "Lab"), ("End", "Lab"))
    for key, name in (*rooms, ("ArrowRight", "Overview"), ("ArrowRight", "Explore")):
        page.keyboard.press(key)
        expect(page.locator(".bk-tab.bk-active:visible").first).to_have_text(name)
        page.wait_for_function(f"() => ({focused})() === '{name}'")
        page.wait_for_url(f"**view={views[name]}*")
    while page.evaluate(focused) != "Snapshots":  # past the other rooms, to the views of this one
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator(".bk-tab.bk-active:visible").nth(1)).to_have_text("Snapshots")
    watched.clean()


def test_another_table_beside(dashboard: str, watched: Watched) -> None:
    """It has a session of its own, and this page stays as it is."""
    page = watched.page
    show(page, f"{dashboard}?table=demo.manifest_lifecycle&view=graph")
    page.get_by_label("Another table beside").click()
    beside = page.frame_locator("iframe")
    expect(beside.locator(".ix-where")).to_contain_text("snapshot-5 of 5")
    beside.locator("header button").first.click()  # its tree of tables
    beside.get_by_text("equality_deletes", exact=True).click()
    expect(beside.locator(".ix-where")).to_contain_text("snapshot-3 of 3")
    expect(page.locator(".ix-where")).to_contain_text("snapshot-5 of 5")
    assert "manifest_lifecycle" in page.url
    page.get_by_label("Another table beside").click()
    expect(page.locator("iframe")).to_have_count(0)
    watched.clean()


def test_large_table_pages_and_search(dashboard: str, watched: Watched, artifacts: Path) -> None:
    page = watched.page
    show(page, f"{dashboard}?table=demo.long_history")
    expect(page.locator('.ix-node[data-kind="snapshot"]')).to_have_count(12)
    expect(page.locator('.ix-node[data-label="288 older snapshots"]')).to_be_visible()
    page.locator('.ix-node[data-kind="data_manifest"] .ix-fold').last.click()
    more = page.locator('.ix-node[data-kind="more"][data-label*="more data files"]')
    expect(more).to_have_attribute("data-label", "1,162 more data files")
    page.wait_for_timeout(500)
    page.screenshot(path=artifacts / "large-table.png")
    page.get_by_label("Fit the graph (f)").click()
    more.click()
    expect(page.locator('.ix-node[data-kind="more"][data-label*="previous data files"]')).to_be_visible()
    page.locator(".ix-search").fill("part-00934")
    expect(node(page, "part-00934.parquet")).to_have_count(1)
    expect(page.locator('.ix-node[data-kind="data_file"]')).to_have_count(1)
    expect(page.locator('.ix-node[data-kind="more"][data-label*="without a match"]').first).to_be_attached()
    page.locator(".ix-search").fill("")
    expect(page.locator('.ix-node[data-kind="data_file"]')).to_have_count(30)
    watched.clean()


def test_the_bar_shows_what_the_graph_was_asked(dashboard: str, watched: Watched) -> None:
    """Also when something else than the bar changed it."""
    page = watched.page
    show(page, f"{dashboard}?table=demo.manifest_lifecycle")
    files = page.locator('.ix-node[data-kind="data_file"]')
    expect(files).to_have_count(2)
    page.locator(".ix-search").fill("data-4.parquet")
    expect(files).to_have_count(1)
    page.locator('.ix-node[data-kind="more"][data-label="1 manifest without a match"]').click()
    expect(files).to_have_count(2)
    expect(page.locator(".ix-search")).to_have_value("")
    page.get_by_label("filtered entries").uncheck()
    page.get_by_text("three_inserts", exact=True).click()
    expect(page.locator(".ix-name")).to_have_text("sandbox.demo.three_inserts")
    expect(page.get_by_label("filtered entries")).to_be_checked()
    node(page, "snapshot-3").locator(".ix-head").click()  # of another table by now
    expect(page.locator(".ix-side h3")).to_have_text("snapshot-3")
    watched.clean()


def test_lists_filter_sort_and_download(dashboard: str, watched: Watched, artifacts: Path) -> None:
    page = watched.page
    page.goto(f"{dashboard}?table=demo.long_history&view=files")
    expect(page.get_by_text("1,200 files")).to_be_visible()
    rows = page.locator(".tabulator-row")
    expect(rows.first).to_be_visible()
    page.locator(".tabulator-header-filter input").first.press_sequentially("part-00042")
    expect(rows).to_have_count(1)
    page.screenshot(path=artifacts / "files.png")
    for kind in ("csv", "json", "parquet"):
        with page.expect_download() as caught:
            page.get_by_role("button", name=kind.upper()).click()
        path = caught.value.path()
        assert caught.value.suggested_filename == f"files.{kind}"
        assert path.stat().st_size > 10_000
    rows.first.get_by_text("PARQUET", exact=True).click()  # a click on an id may be one on the sign that copies it
    expect(page.locator(".ix-side h3")).to_have_text("part-00042.parquet")
    watched.clean()


def test_pick_a_table_and_switch_to_dark(dashboard: str, watched: Watched, artifacts: Path) -> None:
    page = watched.page
    page.set_viewport_size({"width": 1920, "height": 1080})
    show(page, dashboard)
    expect(page.locator(".ix-name")).to_have_text("sandbox.demo.manifest_lifecycle")
    page.get_by_label("Pin sandbox.demo.manifest_lifecycle").click()
    page.get_by_text("deletion_vectors", exact=True).click()
    expect(page.locator(".ix-name")).to_have_text("sandbox.demo.deletion_vectors")
    expect(page.locator('.ix-node[data-kind="deletion_vector"]')).to_have_count(2)
    show(page, f"{dashboard}?table=demo.three_inserts")  # the browser keeps what was pinned, and opened before
    kept = page.get_by_role("button", name=re.compile("^Open sandbox"))
    expect(kept.first).to_have_text("demo.manifest_lifecycle")
    expect(kept.nth(1)).to_have_text("demo.three_inserts")
    kept.nth(2).click()
    expect(page.locator(".ix-name")).to_have_text("sandbox.demo.deletion_vectors")
    page.get_by_label("Unpin sandbox.demo.manifest_lifecycle").click()
    page.get_by_label("Toggle theme").click()
    expect(page.locator(".ix-root")).to_have_class("ix-root ix-dark")
    page.get_by_label("What colours, shapes and marks mean").click()
    page.wait_for_timeout(400)
    page.screenshot(path=artifacts / "dark-1920.png")
    watched.clean()


def test_what_is_seen_first_and_a_pair_chosen_once(dashboard: str, watched: Watched, artifacts: Path) -> None:
    """Without a table what this is; its overview; what it is compared with, in the header, the diff and the URL."""
    page = watched.page
    page.emulate_media(color_scheme="dark")
    page.goto(dashboard)
    page.wait_for_function("() => document.body && getComputedStyle(document.body).colorScheme.includes('dark')")
    expect(page.get_by_text("An Iceberg table is a tree of files")).to_be_visible()
    page.screenshot(path=artifacts / "welcome.png")
    page.locator(".tabulator-row", has_text="branches_and_tags").click()
    expect(page.get_by_text("branch main: snapshot-5; tag opening: snapshot-1")).to_be_visible()
    expect(page.get_by_role("img", name="snapshots in time, the last 6 of 6")).to_have_count(1)
    expect(page.get_by_text("the table went back from snapshot-6 to its ancestor snapshot-5")).to_be_visible()
    expect(page.get_by_text("nothing wrong was found")).to_be_visible()
    page.screenshot(path=artifacts / "overview.png")
    page.get_by_role("button", name="✓ Doctor: ok").click()
    page.wait_for_url("**view=problems**")
    field = page.get_by_role("combobox", name="compare with")
    field.fill("opening")
    field.press("Enter")
    page.wait_for_url("**compare=opening*")
    to(page, "diff")
    expect(page.get_by_text("2 files added, 0 removed, net")).to_be_visible()
    page.locator(".MuiSelect-select").first.click()
    page.locator(".MuiListItemText-primary").get_by_text("snapshot-2", exact=True).click()
    page.wait_for_url("**compare=snapshot-2*")
    expect(field).to_have_value("snapshot-2")
    page.keyboard.press("Control+k")
    palette = page.get_by_role("combobox", name="Go to a table, view or snapshot")
    palette.fill("lifecy table")
    expect(page.get_by_role("option")).to_have_count(3)  # the last one searches files
    page.screenshot(path=artifacts / "palette.png")
    palette.press("Enter")
    page.wait_for_url("**table=sandbox.demo.manifest_lifecycle**")
    page.keyboard.press("Control+k")
    palette.fill("row history")
    palette.press("Enter")
    page.wait_for_url("**view=fate**")
    page.keyboard.press("Control+k")
    palette.fill("data-3")
    expect(page.get_by_role("option")).to_have_count(1)
    palette.press("Enter")
    page.wait_for_url("**view=graph**")
    expect(page.locator(".ix-node.ix-found", has_text="data-3").first).to_be_visible()
    page.keyboard.press("Control+k")
    palette.fill("compare snapshot-2")
    palette.press("Enter")
    page.wait_for_url("**view=diff**compare=snapshot-2**")
    page.keyboard.press("?")
    expect(page.get_by_text("the snapshot before, and after")).to_be_visible()
    expect(page.get_by_text("A manifest's record of one file")).to_have_count(1)
    page.screenshot(path=artifacts / "help.png")
    watched.clean()


def test_a_table_that_is_not_there_is_said_once_and_the_rest_goes_on(dashboard: str, watched: Watched) -> None:
    page = watched.page
    show(page, f"{dashboard}?table=demo.manifest_lifecycle")
    page.get_by_label("Table, folder or metadata.json").fill("demo.nothing_here")
    page.keyboard.press("Enter")
    expect(page.get_by_text("no table 'demo.nothing_here'")).to_be_visible()
    expect(page.locator(".ix-name")).to_have_text("sandbox.demo.manifest_lifecycle")
    page.goto(f"{dashboard}?table=demo.nothing_here&view=files")
    expect(page.get_by_text("no table 'demo.nothing_here'")).to_be_visible()
    expect(page.locator(".tabulator-row", has_text="three_inserts")).to_be_visible()  # to go on from
    watched.clean()


def test_a_damaged_table_opens_and_shows_where(
    dashboard: str, watched: Watched, tmp_path: Path, artifacts: Path
) -> None:
    from tests.support.small_tables import make_table

    table = make_table(tmp_path)
    victim = sorted((table / "metadata").glob("*-m0.avro"))[0]
    victim.write_text("no manifest at all <script>alert(1)</script>")
    page = watched.page
    show(page, f"{dashboard}?table={table}")
    bad = page.locator('.ix-node[data-kind="problem"]')
    expect(bad).to_have_count(1)
    expect(page.locator('.ix-node[data-kind="data_file"]')).to_have_count(2)
    bad.locator(".ix-head").click()
    expect(page.locator(".ix-side")).to_contain_text("not an Avro file")
    expect(page.locator(".ix-side")).to_contain_text(victim.name)
    page.screenshot(path=artifacts / "damaged.png")
    to(page, "plan")
    lost = "1 file that the manifest list counts is not found in its manifests"
    expect(page.get_by_text(lost)).to_be_visible()
    missing = page.get_by_text(
        "1 file of this table could not be read whole, and answers that need it lack what is lost"
    )
    expect(missing).to_contain_text(victim.name)
    warned = page.get_by_role("button", name="1 problem")
    expect(warned).to_be_visible()  # whatever view one is in
    page.screenshot(path=artifacts / "damaged-plan.png")
    warned.click()
    page.wait_for_url("**view=problems**")
    expect(page.locator(".tabulator-cell").get_by_text("not an Avro file").first).to_be_visible()
    expect(missing).to_be_hidden()  # it is what this view tells of
    field = page.get_by_label("Table, folder or metadata.json")
    field.fill("demo.three_inserts")
    field.press("Enter")
    expect(page.locator("header")).to_contain_text("three_inserts")
    expect(warned).to_have_count(0)
    watched.clean()


def test_places_that_moved(dashboard: str, watched: Watched, tmp_path: Path, artifacts: Path) -> None:
    from tests.support.small_tables import make_table

    table = make_table(tmp_path, commits=1)
    shutil.move(table / "data", tmp_path / "elsewhere")
    page = watched.page
    show(page, f"{dashboard}?table={table}")
    side, file = page.locator(".ix-side"), page.locator('.ix-node[data-kind="data_file"] .ix-head')
    file.click()
    expect(side).to_contain_text("does not exist")
    page.get_by_text("Places that moved").click()
    field = page.get_by_label("OLD=NEW, one a line")
    field.fill(f"{table}/data is elsewhere")
    field.blur()
    expect(page.get_by_text("is not OLD=NEW").first).to_be_visible()
    field.fill(f"s3://nowhere=/nowhere\n{table}/data={tmp_path}/elsewhere")
    field.blur()
    expect(side).not_to_contain_text("does not exist")
    page.get_by_label("Fit the graph (f)").click()  # beside the inspector, which stays open, there is not room for all
    file.click()
    expect(side).to_contain_text("fruit-0")
    page.screenshot(path=artifacts / "moved.png")
    watched.clean()


def test_a_table_is_followed(dashboard: str, watched: Watched, tmp_path: Path, artifacts: Path) -> None:
    page, home = watched.page, Home(tmp_path)
    show(page, f"{dashboard}?table={home.path}")
    expect(page.locator(".ix-where")).to_contain_text("snapshot-1 of 1")
    page.get_by_text("follow", exact=True).click()
    for number in (2, 3):
        home.commit()
        expect(page.locator(".ix-where")).to_contain_text(f"snapshot-{number} of {number}")
        expect(page.locator(".ix-changed").first).to_be_attached()
    page.screenshot(path=artifacts / "followed.png")
    tab(page, "Snapshots")
    expect(page.get_by_text("3 snapshots. Click one")).to_be_visible()
    home.commit()
    tab(page, "Graph")
    expect(page.locator(".ix-where")).to_contain_text("snapshot-4 of 4")
    page.get_by_text("follow · 1 s").click()
    home.commit()
    page.wait_for_timeout(1500)
    expect(page.locator(".ix-where")).to_contain_text("snapshot-4 of 4")
    watched.clean()


def test_sessions_do_not_see_each_other(dashboard: str, browser: Browser) -> None:
    first, second = signed_in(browser, dashboard), signed_in(browser, dashboard)
    a, b = first.new_page(), second.new_page()
    show(a, f"{dashboard}?table=demo.manifest_lifecycle&snapshot=snapshot-2")
    show(b, f"{dashboard}?table=demo.three_inserts")
    a.get_by_label("Next snapshot").click()
    expect(a.locator(".ix-where")).to_contain_text("snapshot-3 of 5")
    expect(b.locator(".ix-where")).to_contain_text("snapshot-3 of 3")
    expect(b.locator(".ix-name")).to_have_text("sandbox.demo.three_inserts")
    first.close()
    second.close()


def test_other_hosts_are_refused(dashboard: str) -> None:
    request = urllib.request.Request(dashboard, headers={"Host": "evil.example"})
    with pytest.raises(urllib.error.HTTPError, match="403"):
        urllib.request.urlopen(request)


def test_lifecycle_history_and_diff(dashboard: str, watched: Watched, artifacts: Path) -> None:
    page = watched.page
    page.goto(f"{dashboard}?table=demo.manifest_lifecycle&view=lifecycle")
    table = page.locator(".tabulator").first
    for words in (
        "created 2 / 0 / 0",
        "rewritten into manifest-2",
        "carried 0 / 1 / 1",
        "dropped",
        "carried 1 / 0 / 0",
    ):
        expect(table).to_contain_text(words)
    expect(page.get_by_text("it holds only DELETED entries")).to_be_visible()
    drawn = page.get_by_role("img", name="5 manifests by 5 snapshots: 2 rewritten, 1 dropped")
    expect(drawn).to_have_count(1)
    page.screenshot(path=artifacts / "lifecycle.png")
    last = page.get_by_text("it holds only DELETED entries")
    expect(last).not_to_be_in_viewport(ratio=1)
    table.hover()
    page.mouse.wheel(0, 2000)
    expect(last).to_be_in_viewport(ratio=1)
    page.mouse.wheel(0, -2000)
    table.get_by_text("carried 0 / 1 / 1").click()
    expect(page.locator(".ix-where")).to_contain_text("snapshot-3 of 5")
    expect(page.locator(".ix-side h3")).to_have_text("manifest-2")
    to(page, "diff")
    expect(page.get_by_text("1 file added, 0 removed, net")).to_be_visible()
    expect(node(page, "manifest-3")).to_have_attribute("data-status", "added")
    expect(node(page, "data-3.parquet")).to_have_attribute("data-status", "added")
    page.wait_for_timeout(300)
    page.screenshot(path=artifacts / "diff.png")
    node(page, "1 manifest kept, not decoded").click()
    expect(node(page, "manifest-2")).to_have_attribute("data-status", "kept")
    page.get_by_text("Manifests (1)").click()
    expect(page.get_by_text("1 manifest kept and not decoded")).to_be_visible()
    page.locator(".MuiSelect-select").first.click()
    page.locator(".MuiListItemText-primary").get_by_text("snapshot-1", exact=True).click()
    expect(node(page, "data-1.parquet")).to_have_attribute("data-status", "removed")
    page.goto(f"{dashboard}?table=demo.branches_and_tags&view=history")
    for words in (
        "staged for write-audit-publish",
        "cherry-picked from snapshot-3",
        "went back from snapshot-6 to its ancestor snapshot-5",
    ):
        expect(page.get_by_text(words).first).to_be_visible()
    expect(page.locator('.tabulator-cell[tabulator-field="lineage"] circle')).to_have_count(6)
    page.screenshot(path=artifacts / "history.png")
    page.get_by_text("Commits", exact=True).click()
    expect(page.get_by_text("write amplification 1.00")).to_be_visible()
    page.get_by_text("Metadata files", exact=True).click()
    expect(page.get_by_text("current snapshot id")).to_be_visible()
    watched.clean()


def test_the_life_of_a_file(dashboard: str, watched: Watched) -> None:
    page = watched.page
    show(page, f"{dashboard}?table=demo.manifest_lifecycle&snapshot=snapshot-2")
    node(page, "data-1.parquet").locator(".ix-head").click()
    page.get_by_label("Show the life of this file").click()
    side = page.locator(".ix-side")
    for words in (
        "Added by snapshot-1, deleted by snapshot-2",
        "Refs that read it: none",
        "snapshot-1 would have to expire",
    ):
        expect(side).to_contain_text(words)
    watched.clean()


def test_why_the_updated_row_is_hidden(dashboard: str, watched: Watched, artifacts: Path) -> None:
    """Figures 13 and 14: the row that was updated, the equality delete that hides the old one, and the sequence numbers
    that decide."""
    page = watched.page
    show(page, f"{dashboard}?table=demo.equality_deletes")
    node(page, "data-1.parquet").locator(".ix-head").click()
    side = page.locator(".ix-side")
    struck = side.locator("tr.ix-struck")
    expect(struck).to_have_count(1)
    expect(struck).to_contain_text("jack")
    expect(struck).to_contain_text("equality delete-1.parquet (sequence number 2)")
    expect(side).to_contain_text("the data's sequence number 1 is < the delete's 2")
    page.screenshot(path=artifacts / "file-rows.png")
    node(page, "delete-1.parquet").locator(".ix-head").click()
    expect(side).to_contain_text("what it holds")
    to(page, "deletes")
    expect(page.get_by_text("1 of 3 pairs of data and delete files apply; 0 deletes dangle.")).to_be_visible()
    expect(page.locator('.ix-edge[data-kind="applies"]')).to_have_count(1)
    expect(page.locator('.ix-edge[data-kind="does not apply"]')).to_have_count(2)
    page.screenshot(path=artifacts / "deletes.png")
    page.get_by_text("Pairs (3)").click()
    expect(page.get_by_text("the data's sequence number 3 is not < the delete's 2").first).to_be_visible()
    watched.clean()


def test_the_fate_of_a_row_and_row_diffs(dashboard: str, watched: Watched, artifacts: Path) -> None:
    page = watched.page
    page.goto(f"{dashboard}?table=demo.deletion_vectors&view=rows")
    to(page, "fate")
    page.get_by_label("which rows").fill("name = 'jack'")
    page.keyboard.press("Enter")
    expect(page.get_by_text("favorite_color: 'red' → 'yellow' (told by _row_id)")).to_be_visible()
    expect(page.get_by_text("is hidden by the deletion vector at 4").first).to_be_visible()
    page.screenshot(path=artifacts / "fate.png")
    page.get_by_label("which rows").fill("nam = 'jack'")
    page.keyboard.press("Enter")
    expect(page.get_by_text("does not fit")).to_be_visible()
    to(page, "row-diff")
    expect(
        page.get_by_text("0 inserted, 1 deleted, 0 updated, told by _row_id. 1 of 2 data files read.")
    ).to_be_visible()
    with page.expect_download() as caught:
        page.get_by_role("button", name="CSV").click()
    assert "sarah" in caught.value.path().read_text()
    watched.clean()


def test_read_through_spark_watch_and_cancel(dashboard: str, watched: Watched, artifacts: Path) -> None:
    page = watched.page
    page.goto(f"{dashboard}?table=demo.equality_deletes&view=rows")
    page.get_by_role("button", name="Run").click()
    expect(page.get_by_text("4 rows in")).to_be_visible(timeout=90_000)  # Spark may be starting
    expect(page.get_by_text("Scan report")).to_be_visible()
    page.screenshot(path=artifacts / "rows.png")
    page.get_by_text("sarah", exact=True).click()  # its data file, the delete, and both manifests light up
    expect(page.locator(".ix-node.ix-selected")).to_have_count(4)
    expect(page.locator(".ix-side h3")).to_have_text("data-1.parquet")
    to(page, "sql")
    query = page.get_by_label("A query: t is the table as opened")
    query.fill("SELECT count(*) FROM range(100000000000) WHERE hash(id) = 3")
    query.blur()
    page.get_by_role("button", name="Run").click()
    expect(page.get_by_text("of 2 tasks")).to_be_visible()
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_text("Cancelled.", exact=True)).to_be_visible()
    query.fill("DROP TABLE t")
    query.blur()
    page.get_by_role("button", name="Run").click()
    expect(page.get_by_text("DropTable is not on the list")).to_be_visible()
    watched.clean()


def test_two_sessions_read_two_versions_at_once(dashboard: str, browser: Browser) -> None:
    pages = [signed_in(browser, dashboard).new_page() for _ in range(2)]
    for page, version in zip(pages, ("snapshot-2", "snapshot-3"), strict=True):
        page.goto(f"{dashboard}?table=demo.manifest_lifecycle&view=rows&snapshot={version}")
        expect(page.get_by_label("version: snapshot, branch, tag or time")).to_have_value(version)
    for page in pages:
        page.get_by_role("button", name="Run").click()
    for page, rows in zip(pages, ("1 row in", "3 rows in"), strict=True):
        expect(page.get_by_text(rows)).to_be_visible(timeout=90_000)
        page.context.close()


def test_maintenance_on_a_copy(dashboard: str, watched: Watched, artifacts: Path) -> None:
    page = watched.page
    page.goto(f"{dashboard}?table=demo.position_deletes&view=maintain")
    expect(page.get_by_text("2 data files").first).to_be_visible()
    expect(page.get_by_text("CALL sandbox.system.rewrite_data_files(table => 'demo.position_deletes')")).to_be_visible()
    page.get_by_label("Copy this statement").click()
    expect(page.get_by_label("Copy this statement")).to_have_text(re.compile("^(copied|selected)"))
    expect(page.get_by_text("a file with too high a delete ratio")).to_be_visible()
    page.get_by_label("options: name=value; …").fill("delete-ratio-threshold=0.9; min-file=1")
    page.get_by_label("options: name=value; …").press("Enter")
    expect(page.get_by_text("no option 'min-file'")).to_be_visible()
    page.get_by_label("options: name=value; …").fill("delete-ratio-threshold=0.9")
    page.get_by_label("options: name=value; …").press("Enter")
    expect(page.get_by_text("Nothing would be rewritten: in none of 1 group")).to_be_visible()
    expect(page.get_by_text("options => map('delete-ratio-threshold', '0.9')")).to_have_count(0)  # it would do nothing
    expect(page.get_by_role("button", name="Run")).to_be_disabled()
    page.get_by_role("button", name="Make a copy to change").click()
    page.wait_for_url("**table=lab.position_deletes_*", timeout=90_000)
    expect(page.get_by_role("button", name="Run")).to_be_enabled()
    page.get_by_role("button", name="Run").click()
    expect(page.get_by_text("Before and after")).to_be_visible(timeout=60_000)
    page.screenshot(path=artifacts / "maintain.png")
    page.get_by_role("button", name="Open the table as it is now").click()
    to(page, "graph")
    expect(page.locator(".ix-where")).to_contain_text("snapshot-3 of 3 · replace")
    watched.clean()


def asked(page: Page, dashboard: str, table: str, where: str) -> None:
    """The Plan tab of a table, with a filter typed into it."""
    page.goto(f"{dashboard}?table=demo.{table}&view=plan")
    expect(page.get_by_text("after column metrics")).to_be_visible()
    page.get_by_label("a query for rows where").fill(where)
    page.get_by_label("a query for rows where").press("Enter")


def put_beside(page: Page, other: str) -> None:
    field = page.get_by_role("combobox", name="beside: a version, a table")
    field.fill(other)
    field.press("Enter")
    expect(field).to_have_value(other)
    page.get_by_role("button", name="Plan", exact=True).click()


def test_sorted_stands_beside_unsorted_and_sorting_is_estimated(
    dashboard: str, watched: Watched, artifacts: Path
) -> None:
    """Figure 16: both tables as funnels and bounds; what is estimated of the one is what the other reads."""
    page = watched.page
    asked(page, dashboard, "unsorted_files", "name = 'jack'")
    put_beside(page, "demo.sorted_files")
    expect(page.get_by_text("demo.sorted_files: name = 'jack'")).to_be_visible()
    reads = page.locator("svg text")
    expect(reads.filter(has_text="1 manifest, 4 data files, 12 rows")).to_have_count(4 + 3)  # after each stage
    expect(reads.filter(has_text="1 manifest, 1 data file, 3 rows")).to_contain_text("−3 files")
    expect(page.get_by_role("img", name="data files by the bounds of name")).to_have_count(2)
    page.screenshot(path=artifacts / "plans-beside.png", full_page=True)
    put_beside(page, "demo.no_such_table")
    expect(page.get_by_text("nor is it a table")).to_be_visible()
    put_beside(page, "")
    tab(page, "What would help")
    expect(page.locator(".tabulator-row:visible", has_text="sort by name").first).to_contain_text("25")
    page.screenshot(path=artifacts / "estimates.png")
    watched.clean()


def test_a_plan_says_what_is_read_and_why_not(dashboard: str, watched: Watched, artifacts: Path) -> None:
    """Figure 16 unsorted and sorted, a mistyped filter, and figure 17 with two specs."""
    page = watched.page
    asked(page, dashboard, "unsorted_files", "name = 'jack'")
    expect(page.get_by_text("the engine still asks name = 'jack' of the rows of 4 files")).to_be_visible()
    expect(page.locator("svg text", has_text="1 manifest, 4 data files, 12 rows")).to_have_count(4)
    asked(page, dashboard, "sorted_files", "name = 'jack'")
    expect(page.locator("svg text", has_text="1 manifest, 1 data file, 3 rows")).to_contain_text("−3 files")
    skipped = page.locator(".tabulator-row", has_text="data-4.parquet")
    expect(skipped).to_contain_text("skipped by column metrics")
    expect(skipped).to_contain_text("name = 'jack': its values begin at 'tom'")
    page.screenshot(path=artifacts / "plan.png")
    tab(page, "Map")
    drawn = page.get_by_role("img", name="4 files as 4 cells.")
    expect(drawn).to_have_accessible_name(re.compile("data-2.parquet[^;]*;[^.]*; read; data-3"))
    expect(drawn).to_have_accessible_name(re.compile("data-4.parquet.*; skipped by column metrics$"))
    page.screenshot(path=artifacts / "plan-map.png")
    tab(page, "Bounds")
    expect(page.locator("svg title", has_text="data-4.parquet: 'tom' to 'zoe'")).to_be_attached()
    page.get_by_label("a query for rows where").fill("nam = 'jack'")
    page.get_by_label("a query for rows where").press("Enter")
    expect(page.get_by_text("there is no column 'nam'; is 'name' meant?")).to_be_visible()
    page.get_by_label("a query for rows where").fill("name < 'b'")
    page.get_by_label("a query for rows where").press("Enter")
    expect(page.get_by_text("the engine still asks name < 'b' of the rows of 1 file")).to_be_visible()
    asked(page, dashboard, "bloom_filter", "badge = 'k77'")
    expect(page.get_by_text("the engine still asks badge = 'k77' of the rows of 3 files")).to_be_visible()
    tab(page, "Row groups")
    expect(page.get_by_text("1 of 3 row groups read.")).to_be_visible()
    expect(page.locator(".tabulator-row:visible", has_text="1,024 bytes: 'k77' is not in it")).to_have_count(2)
    page.screenshot(path=artifacts / "row-groups.png")
    asked(page, dashboard, "partition_evolution", "ts >= '2024-06-03' AND ts < '2024-06-04'")
    for projected in (
        "spec 0, ts_hour (hour): may match where ts_hour >= 2024-06-03-00 AND ts_hour <= 2024-06-03-23",
        "spec 1, ts_day (day): may match where ts_day >= 2024-06-03 AND ts_day <= 2024-06-03",
    ):
        expect(page.get_by_text(projected)).to_be_visible()
    tab(page, "Manifests")
    expect(page.locator(".tabulator-row:visible", has_text="its values end at 2024-06-01-02")).to_have_count(1)
    tab(page, "Partitions")
    skipped = page.locator("svg title", has_text="ts_day=2024-06-04, spec 1: 1 file skipped by partition")
    expect(skipped).to_be_attached()
    tab(page, "Graph")
    manifest = page.locator('.ix-node:visible[data-status="skipped"]', has_text="manifest-5")
    manifest.click()
    expect(page.get_by_text("ts_day <= 2024-06-03: its values begin at 2024-06-04")).to_be_visible()
    page.screenshot(path=artifacts / "plan-graph.png")
    put_beside(page, "snapshot-3")
    for version in ("snapshot-5", "snapshot-3"):
        expect(page.get_by_text(f"{version}: ts >= '2024-06-03 00:00:00Z' AND")).to_be_visible()
    watched.clean()
