"""What the modes of the page answer, as a person asks: plans, comparisons, deletes, histories of rows, health."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.conftest import Served, card, page_of, rail, served
from tests.support.small_tables import partitioned


def answer(page: Page, mode: str) -> Locator:
    """The answer of a mode."""
    return page.get_by_role("region", name=mode)


def ask(page: Page, label: str, text: str) -> None:
    page.get_by_label(label, exact=True).fill(text)
    page.get_by_role("button", name="Ask", exact=True).click()


# -- plan --------------------------------------------------------------------------------------------------------------
def test_figure_16_unsorted_and_sorted(page: Page, app: Served, artifacts: Path) -> None:
    page.goto(f"{app}?table=demo.unsorted_files&mode=plan&filter=name+%3D+%27jack%27")
    expect(answer(page, "Plan")).to_contain_text("the engine still asks name = 'jack' of the rows of 4 files")
    stages = answer(page, "Plan").get_by_role("img").first
    expect(stages.get_by_text("1 manifest, 4 data files, 12 rows")).to_have_count(4)  # after each
    page.goto(f"{app}?table=demo.sorted_files&mode=plan&filter=name+%3D+%27jack%27")
    expect(stages.get_by_text("1 manifest, 1 data file, 3 rows")).to_contain_text("−3 files")
    expect(card(page, "^data-2.parquet, data file, read")).to_be_visible()
    expect(card(page, "^data-4.parquet, data file, skipped, .*its values begin at 'tom'")).to_be_visible()
    page.screenshot(path=artifacts / "plan.png")
    page.get_by_role("tab", name="Why", exact=True).click()
    skipped = page.get_by_role("row").filter(has_text="data-4.parquet")
    expect(skipped).to_contain_text("skipped by column metrics")
    expect(skipped).to_contain_text("its values begin at 'tom'")
    page.get_by_role("tab", name="What would help").click()
    expect(answer(page, "Plan")).to_contain_text("sort by name")
    filter_field = page.get_by_role("textbox", name="Filter", exact=True)
    filter_field.fill("nam = 'jack'")
    page.keyboard.press("Enter")
    expect(page.get_by_text("there is no column 'nam'; is 'name' meant?").first).to_be_visible()


def test_figure_17_of_two_specs(page: Page, app: Served, artifacts: Path) -> None:
    page.goto(
        f"{app}?table=demo.partition_evolution&mode=plan&filter=ts+%3E%3D+%272024-06-03%27+AND+ts+%3C+%272024-06-04%27"
    )
    expect(page.get_by_text("The scan reads 1 of 5 data files (20%)")).to_be_visible()
    for partition in ("ts_hour=2024-06-01-02", "ts_day=2024-06-04"):
        expect(answer(page, "Plan").get_by_text(partition).first).to_be_attached()
    expect(answer(page, "Plan")).to_contain_text("the engine still asks nothing more of the rows of 1 file")
    card(page, "^manifest-5, data manifest, skipped").click()
    side = page.get_by_role("complementary", name="Inspector")
    expect(side).to_contain_text("ts_day <= 2024-06-03: its values begin at 2024-06-04")
    page.screenshot(path=artifacts / "plan-graph.png")
    page.get_by_label("Snapshot", exact=True).fill("snapshot-3")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("snapshot="))
    expect(page.get_by_text("The scan reads 1 of 5 data files (20%)")).to_have_count(0)


def test_an_example_is_planned_by_a_click(page: Page, app: Served) -> None:
    page.goto(f"{app}?table=demo.sorted_files&mode=plan")
    page.get_by_role("button", name="name IS NOT NULL").click()
    expect(page.get_by_text("The scan reads 4 of 4 data files")).to_be_visible()


# -- compare -----------------------------------------------------------------------------------------------------------
def test_two_snapshots_are_compared(page: Page, app: Served, artifacts: Path) -> None:
    """With the parent, by a name in the link or a click on it; and with any other."""
    page.goto(f"{app}?table=demo.manifest_lifecycle&mode=compare&snapshot=snapshot-3")
    expect(answer(page, "Compare")).to_contain_text("snapshot-2 (")
    expect(card(page, "^manifest-3, data manifest, added")).to_be_visible()
    expect(card(page, "^data-3.parquet, data file, added")).to_be_visible()
    page.screenshot(path=artifacts / "diff.png")
    card(page, "^1 manifest kept, not decoded").click()
    expect(card(page, "^manifest-2, data manifest, kept")).to_be_visible()
    page.get_by_label("Compare with").fill("snapshot-1")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("before="))
    expect(card(page, "^data-1.parquet, data file, removed")).to_be_visible()
    expect(answer(page, "Compare")).to_contain_text("snapshot-1 (")
    page.go_back()
    expect(answer(page, "Compare")).to_contain_text("snapshot-2 (")
    page.keyboard.press("Control+k")
    page.get_by_role("combobox", name="Go to").fill("snapshot-5")
    page.keyboard.press("Enter")
    expect(answer(page, "Compare")).to_contain_text("snapshot-4 (")


def test_the_lifecycle_of_manifests(page: Page, app: Served, artifacts: Path) -> None:
    page.goto(f"{app}?table=demo.manifest_lifecycle&mode=compare&tab=manifests")
    for words in (
        "manifest-1 rewritten: its entries were written anew", "it holds only DELETED entries", "created 2/0/0",
        "dropped",
    ):  # fmt: skip
        expect(answer(page, "Compare")).to_contain_text(words)
    expect(answer(page, "Compare").get_by_role("img").first).to_be_visible()
    page.screenshot(path=artifacts / "lifecycle.png")
    page.get_by_role("row").filter(has_text="manifest-5").get_by_role("gridcell").first.click()
    expect(page.get_by_role("treeitem", selected=True)).to_have_accessible_name(re.compile("^manifest-5,"))


def test_the_lineage_and_the_log(page: Page, app: Served, artifacts: Path) -> None:
    page.goto(f"{app}?table=demo.branches_and_tags&mode=ask&question=history+lineage")
    for words in (
        "staged for write-audit-publish", "cherry-picked from snapshot-3",
        "went back from snapshot-6 to its ancestor snapshot-5",
    ):  # fmt: skip
        expect(page.get_by_role("main")).to_contain_text(words)
    page.screenshot(path=artifacts / "history.png")
    page.goto(f"{app}?table=demo.branches_and_tags&mode=compare&tab=commits")
    expect(answer(page, "Compare")).to_contain_text("write amplification 1.00")
    page.goto(f"{app}?table=demo.branches_and_tags&mode=ask&question=overview")
    for words in ("branch main: snapshot-5; tag opening: snapshot-1", "nothing wrong was found"):
        expect(page.get_by_role("main")).to_contain_text(words)


# -- rows that changed, and deletes ------------------------------------------------------------------------------------
def test_what_happened_to_a_row(page: Page, app: Served, artifacts: Path) -> None:
    page.goto(f"{app}?table=demo.deletion_vectors")
    lists = page.get_by_role("region", name="Lists")
    lists.get_by_role("tab", name="Why is a row gone?").click()
    ask(page, "Filter", "name = 'jack'")
    for words in ("favorite_color: 'red' → 'yellow' (told by _row_id)", "is hidden by the deletion vector at 4"):
        expect(lists).to_contain_text(words)
    page.screenshot(path=artifacts / "row-history.png")
    ask(page, "Filter", "nam = 'jack'")
    expect(page.get_by_text("does not fit").first).to_be_visible()
    page.goto(f"{app}?table=demo.deletion_vectors&mode=compare&tab=rows")
    said = "0 inserted, 1 deleted, 0 updated, told by _row_id. 1 of 2 data files read."
    expect(answer(page, "Compare")).to_contain_text(said)
    expect(answer(page, "Compare")).to_contain_text("sarah")


def test_which_delete_applies(page: Page, app: Served, artifacts: Path) -> None:
    page.goto(f"{app}?table=demo.equality_deletes&mode=deletes")
    pairs = answer(page, "Deletes").get_by_role("row")
    applies = page.get_by_role("row").filter(has=page.get_by_role("gridcell", name="True", exact=True))
    expect(applies).to_contain_text("data-1.parquet")
    expect(pairs.filter(has_text="the data's sequence number 3 is not < the delete's 2")).to_contain_text(
        "data-3.parquet"
    )
    expect(card(page, "^delete-1.parquet")).to_have_accessible_description(re.compile("applies to data-1.parquet"))
    page.screenshot(path=artifacts / "deletes.png")
    applies.get_by_text("delete-1.parquet").first.click()
    side = page.get_by_role("complementary", name="Inspector")
    expect(side.get_by_role("heading", name="delete-1.parquet")).to_be_visible()


# -- health ------------------------------------------------------------------------------------------------------------
def test_thresholds_are_set_and_a_catalog_is_measured(page: Page, app: Served, artifacts: Path) -> None:
    page.goto(f"{app}?table=demo.three_inserts&mode=health")
    expect(answer(page, "Health")).to_contain_text("15 measures within their thresholds")
    page.goto(f"{app}?table=demo.three_inserts&mode=ask&question=health")
    page.get_by_label("threshold, one a line").fill("small-files=1")
    page.get_by_role("button", name="Ask", exact=True).click()
    expect(page.get_by_role("main")).to_contain_text("Small files beyond those that their bytes fill")
    expect(page.get_by_role("main")).to_contain_text("above 1")
    page.goto(f"{app}?mode=ask&question=catalog+health")
    first = page.get_by_role("grid").get_by_role("row").nth(1)
    expect(first).to_contain_text("sandbox.demo.")
    expect(first).to_contain_text("warning")  # the worst first
    page.screenshot(path=artifacts / "health-catalog.png")


def test_maintenance_is_previewed_with_its_options(page: Page, app: Served) -> None:
    page.goto(f"{app}?table=demo.position_deletes&view=maintain")
    would = page.get_by_role("region", name="What it would do")
    expect(would).to_contain_text("a file with too high a delete ratio")
    call = "CALL sandbox.system.rewrite_data_files(table => 'demo.position_deletes')"
    expect(would).to_contain_text(call)
    would.get_by_role("button", name="Copy", exact=True).first.click()
    expect(would.get_by_role("button", name="Copied")).to_be_visible()
    assert page.evaluate("() => navigator.clipboard.readText()") == call
    page.get_by_text("More options", exact=True).click()
    options = page.get_by_label("option, one a line")
    options.fill("min-file=1")
    options.blur()
    expect(page.get_by_role("alert").first).to_contain_text("no option 'min-file'")
    options.fill("delete-ratio-threshold=0.9")
    options.blur()
    expect(would).to_contain_text("Nothing would be rewritten: in none of 1 group")
    expect(would).not_to_contain_text("CALL")


def test_names_of_partitions_are_text(page: Page, app: Served, tmp_path: Path) -> None:
    page.goto(f"{app}?table={partitioned(tmp_path)}&mode=health&tab=map")
    expect(answer(page, "Health")).to_contain_text("kind=<b>")
    assert page.locator("#mode-answer b", has_text="kind").count() == 0


# -- what is saved -----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("form", ["SVG", "HTML", "JSON", "TXT"])
def test_an_answer_is_saved(form: str, page: Page, app: Served) -> None:
    page.goto(f"{app}?table=demo.manifest_lifecycle&mode=compare")
    with page.expect_download() as caught:
        answer(page, "Compare").get_by_role("link", name=form, exact=True).click()
    assert caught.value.suggested_filename == f"demo-manifest-lifecycle-diff.{form.lower()}"
    content = caught.value.path().read_bytes()
    assert len(content) > 100
    if form == "SVG":
        assert len(list(ElementTree.fromstring(content).iter())) > 5


# -- links of the dashboard --------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("view", "mode", "words"),
    [
        ("overview", "Graph", ""), ("graph", "Graph", ""), ("snapshots", "Graph", "5 snapshots"),
        ("manifests", "Graph", "2 manifests"), ("files", "Graph", "2 files"), ("entries", "Graph", "entries"),
        ("partitions", "Graph", "partition"), ("diff", "Compare", "data-4.parquet"),
        ("history", "All questions", "Show the lineage"),
        ("lifecycle", "All questions", "created 2/0/0"), ("commits", "All questions", "write amplification"),
        ("metadata", "All questions", "format-version"), ("rows", "Rows", "Spark reads the rows"),
        ("sql", "Rows", "Query"),
        ("row-diff", "Compare", "1 inserted"), ("fate", "All questions", "what happened to the rows"),
        ("deletes", "Deletes", "0 deletes"), ("plan", "Plan", "Enter a filter"), ("health", "Health", "within"),
        ("problems", "Findings", "snapshots"), ("maintain", "Health", "2 data files"),
        ("undo", "Health", "main would go"), ("lab", "Lab", "New run"), ("statement", "Lab", "Make a copy of my own"),
        ("conflict", "Lab", "Explain"), ("race", "Lab", "Writer processes"),
        ("tables", "All questions", "Measure the health of every table"),
        ("export", "Graph", ""),
    ],
)  # fmt: skip
def test_links_of_the_dashboard_lead_on(view: str, mode: str, words: str, page: Page, app: Served) -> None:
    page.goto(f"{app}?table=demo.manifest_lifecycle&view={view}")
    current = page.get_by_role("navigation", name="Modes").locator("[aria-current=page]")
    expect(current).to_have_text(mode)
    expect(page.get_by_role("main")).to_contain_text(words)
    expect(page.get_by_role("alert")).to_have_count(0)


def test_a_link_with_a_snapshot_to_compare_leads_on(page: Page, app: Served) -> None:
    page.goto(f"{app}?table=demo.branches_and_tags&view=diff&compare=opening")
    expect(answer(page, "Compare")).to_contain_text("snapshot-1 (")
    expect(page.get_by_label("Compare with")).to_have_value(re.compile("snapshot-1|opening"))
    rail(page, "Graph")
    expect(card(page, "^snapshot-5,")).to_be_visible()


def test_a_row_is_shown_in_the_graph_of_its_mode(page: Page, app: Served) -> None:
    """Or else in the tree; Escape closes what it opened, from the list too."""
    page.goto(f"{app}?table=demo.equality_deletes&mode=deletes")
    expect(card(page, "^delete-1.parquet")).to_be_visible()  # until there is a graph of the mode, the tree has the file
    page.get_by_role("gridcell", name="delete-1.parquet").first.click()
    inspector = page.get_by_role("complementary", name="Inspector")
    expect(inspector).to_contain_text("does not apply to")
    assert "mode=deletes" in page.url
    page.keyboard.press("Escape")
    expect(inspector).to_have_count(0)
    page.get_by_role("group", name="Snapshots").get_by_role("button", name=re.compile("^snapshot-1,")).click()
    expect(page).to_have_url(re.compile("mode=deletes.*snapshot="))
    page.goto(f"{app}?table=demo.equality_deletes&mode=compare&tab=manifests")
    page.get_by_role("row").filter(has_text="manifest-1").get_by_role("gridcell").first.click()
    expect(page.get_by_role("treeitem", selected=True)).to_have_accessible_name(re.compile("^manifest-1,"))


def test_a_list_keeps_its_filter_and_order_in_the_url(page: Page, app: Served) -> None:
    page.goto(f"{app}?table=demo.equality_deletes&list=inspect+files&sort=-record_count&match=record_count+%3E+1")
    files = page.get_by_role("grid", name="files")
    expect(page.get_by_text("1 file matches, of 4")).to_be_visible()
    expect(files.get_by_role("columnheader", name="record_count")).to_have_attribute("aria-sort", "descending")
    page.get_by_role("searchbox", name="Filter files").fill("record_count = 1")
    page.keyboard.press("Enter")
    expect(page.get_by_text("3 files match, of 4")).to_be_visible()
    expect(page).to_have_url(re.compile(r"match=record_count\+%3D\+1"))
    page.get_by_role("tab", name="Snapshots").click()
    expect(page.get_by_role("grid", name="snapshots")).to_be_visible()
    assert "match=" not in page.url


def test_a_place_that_there_is_not_is_said(page: Page, app: Served) -> None:
    page.goto(f"{app}?table=demo.equality_deletes&mode=nothing")
    expect(page.get_by_role("treeitem", name=re.compile("^snapshot-3"))).to_be_visible()
    page.goto(f"{app}?table=demo.equality_deletes&node=nothing")
    expect(page.get_by_text("Nothing in this graph is named nothing.")).to_be_visible()


def test_a_plan_lists_manifests_that_are_skipped_whole(page: Page, app: Served) -> None:
    page.goto(f"{app}?table=demo.partition_evolution&mode=plan&tab=why&filter=ts+%3E+'2024-06-03'")
    expect(page.get_by_role("grid", name="manifests")).to_contain_text("skipped by its summaries")
    expect(page.get_by_role("grid", name="files").get_by_role("row")).to_have_count(3)


def test_answers_about_rows_are_rows(page: Page, app: Served) -> None:
    page.goto(f"{app}?table=demo.equality_deletes&mode=deletes&tab=count")
    expect(answer(page, "Deletes")).to_contain_text("4 visible rows: 5 in data files, less 1 that deletes hide")
    expect(page.get_by_role("grid")).to_contain_text("delete-1.parquet")
    page.goto(f"{app}?table=demo.equality_deletes&mode=compare&tab=rows&before=snapshot-1&snapshot=snapshot-2")
    expect(page.get_by_role("grid")).to_contain_text("inserted")


def test_a_day_of_use_leaves_nothing_in_the_log(browser: Browser, sandbox: Path, tmp_path: Path) -> None:
    """Pages are left before their answers come: nobody is told of it."""
    log = tmp_path / "log"
    with served(log) as own, page_of(browser, own) as page:
        for mode in ("", "plan&filter=name='a'", "compare", "deletes", "findings", "health", "lab", "ask"):
            for table in ("demo.equality_deletes", "demo.long_history"):
                page.goto(f"{own}?table={table}&mode={mode}", wait_until="commit")
        page.goto(f"{own}?table=demo.equality_deletes")
        expect(page.get_by_role("treeitem", name=re.compile("^snapshot-3"))).to_be_visible()
        lines = log.read_text().splitlines()
        assert [line for line in lines if not line.startswith("Iceberg metadata explorer: ")] == []
