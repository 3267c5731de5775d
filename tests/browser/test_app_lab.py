"""The Lab of the page, maintenance, rows and SQL, as a person uses them: roles, names and texts."""

from __future__ import annotations

import re
from pathlib import Path

from playwright.sync_api import Page, WebSocketRoute, expect

from explorer.spec.commits.operations import operation_title
from tests.browser.conftest import AXE, VIOLATIONS, Served, rail, signed_in

SLOW_MS = 120_000
"""Spark starts."""


def look(page: Page, path: Path) -> None:
    """What axe finds, and a picture to look at."""
    page.wait_for_timeout(1800)  # what is new in a graph shines for a moment
    page.evaluate(AXE)
    assert page.evaluate(VIOLATIONS) == []
    page.screenshot(path=path)


def new_run(page: Page) -> None:
    page.get_by_role("button", name="New run").click()
    expect(page.get_by_text("Three rows in two files")).to_be_visible(timeout=SLOW_MS)


def take(page: Page, writers: str) -> None:
    """Let writers take their steps."""
    for writer in writers:
        button = page.get_by_role("button", name=f"Step {writer}", exact=True)
        said = page.get_by_role("group", name="The run").inner_text()
        expect(button).to_be_enabled()
        button.click()
        expect(page.get_by_role("group", name="The run")).not_to_have_text(said, use_inner_text=True)


def test_writers_meet_step_by_step(page: Page, app: Served, artifacts: Path) -> None:
    """The second swap is lost; what is staged is dashed; the run plays on, is saved and replayed."""
    page.goto(app)
    rail(page, "Lab")
    new_run(page)
    take(page, "AABBABABAB")
    expect(page.get_by_text("swap: lost")).to_be_visible()
    expect(page.get_by_role("heading", name="If B went on now")).to_be_visible()
    expect(page.get_by_role("table", name="Files left behind")).to_contain_text("metadata.json")
    look(page, artifacts / "app-lab-sequence.png")
    page.get_by_role("tab", name="Graph, with what is not committed").click()
    staged = page.get_by_role("treeitem", name=re.compile("B-data"))
    expect(staged).to_be_visible()
    staged.click()
    expect(page.get_by_role("complementary", name="Inspector")).to_contain_text("B-data")
    page.get_by_role("tab", name="Steps and files").click()
    expect(page.get_by_role("table", name="Steps").get_by_role("row").nth(1)).to_contain_text("lost")
    page.get_by_role("button", name="Play", exact=True).click()
    expect(page.get_by_text("committed", exact=True).first).to_be_visible()
    expect(page.get_by_role("table", name="Steps").get_by_role("row").nth(1)).to_contain_text("committed")
    with page.expect_download() as saved:
        page.get_by_role("link", name="Save this run").click()
    new_run(page)
    page.get_by_label("A saved run").set_input_files(saved.value.path())
    page.get_by_role("tab", name="Sequence").click()
    expect(page.get_by_text("swap: committed")).to_have_count(2)


def test_a_validation_refuses_and_is_switched_off(page: Page, app: Served) -> None:
    page.goto(f"{app}?mode=lab")
    page.get_by_label("Lane A").select_option(label=operation_title("mor-update"))
    new_run(page)
    take(page, "AABBBBB")
    expect(page.get_by_text("It is refused: snapshot-3 added data files")).to_be_visible()
    take(page, "A")
    expect(page.get_by_role("heading", name="Why A was refused")).to_be_visible()
    page.get_by_text("Validations", exact=True).click()
    page.get_by_role("checkbox", name=re.compile("^validateNoConflictingDataFiles")).uncheck()
    new_run(page)
    take(page, "AABBBBBA")
    expect(page.get_by_text("Why A was refused")).to_have_count(0)


def test_a_compaction_is_refused_after_a_row_delta(page: Page, app: Served, artifacts: Path) -> None:
    """And a reader that began before goes on with its snapshot. At night."""
    page.emulate_media(color_scheme="dark")
    page.goto(f"{app}?mode=lab")
    for lane, kind in (("A", "compaction"), ("B", "mor-delete"), ("C", "read")):
        page.get_by_label(f"Lane {lane}").select_option(label=operation_title(kind))
    new_run(page)
    take(page, "CCAABBBBBC")
    loaded = page.get_by_role("table", name="What each lane has loaded")
    expect(loaded.get_by_role("row").filter(has_text="C")).to_contain_text("1 'one'; 2 'two'; 3 'three'")
    expect(page.get_by_text("C reads 3 rows of snapshot-2 of the table")).to_be_visible()
    expect(
        page.get_by_text(
            "It is refused: snapshot-3 added position deletes for a data file that this commit rewrites (in p=a)"
        )
    ).to_be_visible()
    take(page, "A")
    expect(page.get_by_text("apply: refused")).to_be_visible()
    expect(page.get_by_text("found new position delete for replaced data file").first).to_be_visible()
    page.get_by_role("tab", name="Graph, with what is not committed").click()
    expect(page.get_by_role("treeitem", name=re.compile("position delete.*conflict", re.I))).to_be_visible()
    expect(page.get_by_role("treeitem", name=re.compile("orphan", re.I)).first).to_be_visible()
    look(page, artifacts / "app-lab-conflict-dark.png")


def test_faults_and_every_order(page: Page, app: Served, artifacts: Path) -> None:
    page.goto(f"{app}?mode=lab")
    new_run(page)
    take(page, "AAAA")
    page.get_by_role("button", name="Lose answer: A").click()
    expect(page.get_by_text("swap: unknown")).to_be_visible()
    page.get_by_role("button", name="Begin again: A").click()
    take(page, "AAAAA")
    expect(page.get_by_role("table", name="Rows now").get_by_text("by A")).to_have_count(2)
    page.get_by_role("button", name="Kill: B").click()
    expect(page.get_by_text("kill: killed")).to_be_visible()
    page.get_by_role("button", name="Every order").click()
    expect(page.get_by_role("button", name="Cancel")).to_be_visible()
    expect(page.get_by_role("heading", name="20 orders")).to_be_visible(timeout=SLOW_MS)
    look(page, artifacts / "app-lab-orders.png")
    page.get_by_role("button", name="AAABBB", exact=True).click()
    expect(page.get_by_text("swap: committed")).to_have_count(2)


def test_a_run_is_played_again_after_the_connection_was_lost(page: Page, app: Served) -> None:
    """The run ends with its session; the page has kept what was done."""
    wires: list[WebSocketRoute] = []

    def carry(wire: WebSocketRoute) -> None:
        wires.append(wire)
        wire.connect_to_server()

    page.route_web_socket(re.compile("/ws$"), carry)
    page.goto(f"{app}?mode=lab")
    new_run(page)
    take(page, "AAB")
    wires[0].close()
    expect(page.get_by_text("It was played again.")).to_be_visible()
    expect(page.get_by_role("group", name="The run")).to_contain_text("next: apply")
    take(page, "AB")
    assert len(wires) == 2


def test_a_statement_comes_into_the_graph_of_an_own_copy(page: Page, app: Served, artifacts: Path) -> None:
    """What was typed before the copy is kept; another browser cannot reset the copy."""
    page.goto(f"{app}?table=demo.three_inserts&mode=lab&tab=statement")
    expect(page.get_by_role("button", name="Run", exact=True)).to_be_disabled()
    page.get_by_label(re.compile("^Statement")).fill("INSERT INTO t SELECT * FROM t LIMIT 1")
    page.get_by_role("button", name="Make a copy of my own").click()
    expect(page).to_have_url(re.compile("table=lab.three_inserts_"))
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.get_by_text("1 commit: the catalog swapped")).to_be_visible(timeout=SLOW_MS)
    expect(page.get_by_role("treeitem", name=re.compile("snapshot-4")).first).to_be_visible()
    expect(page.get_by_role("banner").get_by_label("Snapshot", exact=True)).to_have_value("snapshot-4")
    expect(page.get_by_role("heading", name="Iceberg's commit report")).to_be_visible()
    look(page, artifacts / "app-lab-statement.png")
    page.get_by_role("button", name="Call").click()
    expect(page.get_by_role("banner").get_by_label("Snapshot", exact=True)).to_have_value("snapshot-5", timeout=SLOW_MS)
    other = signed_in(page.context.browser, app, viewport={"width": 1440, "height": 900})  # type: ignore[arg-type]
    theirs = other.new_page()
    theirs.goto(page.url)
    expect(theirs.get_by_text("This copy belongs to somebody else.")).to_be_visible()
    expect(theirs.get_by_role("button", name="Reset the copy")).to_have_count(0)
    other.close()
    page.get_by_role("button", name="Reset the copy").click()
    expect(page.get_by_role("banner").get_by_label("Snapshot", exact=True)).to_have_value("snapshot-3")


def test_a_conflict_is_explained_and_lit(page: Page, app: Served, artifacts: Path) -> None:
    page.goto(f"{app}?table=demo.equality_deletes&view=conflict")
    page.get_by_label("Base", exact=True).fill("snapshot-1")
    page.get_by_label("Filter", exact=True).fill("name = 'jack'")
    page.get_by_role("button", name="Explain").click()
    expect(page.get_by_text("It is refused: snapshot-2 added")).to_be_visible()
    expect(page.get_by_role("treeitem", name=re.compile("delete-1.parquet.*conflict", re.I))).to_be_visible()
    look(page, artifacts / "app-lab-conflict.png")
    page.get_by_text("Validations", exact=True).click()
    for name in ("validateNoConflictingData", "validateNoConflictingDeletes"):
        page.get_by_role("checkbox", name=re.compile(rf"^{name}\b")).uncheck()
    expect(page.get_by_text("It is refused")).to_have_count(0)


def test_a_race_is_shown_while_it_runs(page: Page, app: Served) -> None:
    page.goto(f"{app}?mode=lab&tab=race")
    page.get_by_label("Writer processes").fill("2")
    page.get_by_label("Commits of each").fill("6")
    page.get_by_role("button", name="Race", exact=True).click()
    expect(page.get_by_text("a second")).to_be_visible(timeout=SLOW_MS)
    expect(page.get_by_text("12 commits were acknowledged; there are 12 snapshots and 12 rows")).to_be_visible(
        timeout=SLOW_MS
    )


def test_maintenance_is_previewed_and_run_on_a_copy(page: Page, app: Served, artifacts: Path) -> None:
    page.goto(f"{app}?table=demo.three_inserts")
    rail(page, "Health")
    page.get_by_role("tab", name="Maintenance").click()
    expect(page.get_by_text("3 data files").first).to_be_visible()
    page.get_by_role("combobox", name="operation").select_option("rewrite-manifests")
    expect(page.get_by_text("CALL sandbox.system.rewrite_manifests")).to_be_visible()
    look(page, artifacts / "app-maintenance.png")
    page.get_by_role("button", name="Make a copy of my own").click()
    expect(page).to_have_url(re.compile("table=lab.three_inserts_"))
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.get_by_text("It was carried out.")).to_be_visible(timeout=SLOW_MS)
    expect(page.get_by_role("banner").get_by_label("Snapshot", exact=True)).to_have_value("snapshot-4")
    page.get_by_role("tab", name="Branches and undo").click()
    expect(page.get_by_text("main would go from snapshot-4 to snapshot-3")).to_be_visible()
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.get_by_text("It was carried out.")).to_be_visible(timeout=SLOW_MS)
    expect(page.get_by_role("banner").get_by_label("Snapshot", exact=True)).to_have_value("snapshot-3")


def test_rows_lead_to_their_files_and_sql_is_remembered(page: Page, app: Served, artifacts: Path) -> None:
    page.goto(f"{app}?table=demo.equality_deletes")
    rail(page, "Rows")
    page.get_by_label("Filter", exact=True).fill("name = 'tom'")
    page.get_by_role("button", name="Read", exact=True).click()
    row = page.get_by_role("grid", name="rows").get_by_role("row").nth(1)
    expect(row).to_contain_text("data-1.parquet", timeout=SLOW_MS)
    expect(page.get_by_text("Scan report of")).to_be_visible()
    row.click()
    expect(page.get_by_role("heading", name="data-1.parquet, with the deletes that apply to it")).to_be_visible()
    for name in ("data-1.parquet", "delete-1.parquet"):
        chosen = page.get_by_role("treeitem", name=re.compile(name))
        expect(chosen).to_have_attribute("aria-selected", "true")
    look(page, artifacts / "app-rows.png")
    page.get_by_role("tab", name="SQL").click()
    page.get_by_label(re.compile("^Query")).fill("SELECT count(*) AS many FROM t@snapshot-1")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("grid", name="rows")).to_contain_text("many", timeout=SLOW_MS)
    page.reload()
    expect(page.get_by_label(re.compile("^Query"))).to_have_text("SELECT count(*) AS many FROM t@snapshot-1")
    page.get_by_label(re.compile("^Query")).fill("DROP TABLE t")
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.get_by_role("alert")).to_be_visible(timeout=SLOW_MS)


def test_sql_is_cancelled_and_refused(page: Page, app: Served) -> None:
    page.goto(f"{app}?table=demo.equality_deletes&mode=rows&tab=sql")
    expect(page.locator(".cm-content")).to_be_visible()  # else what is typed meanwhile goes into the plain field
    query = page.get_by_label(re.compile("^Query"))
    query.fill("SELECT count(*) FROM range(100000000000) WHERE hash(id) = 3")
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.get_by_text(re.compile(r"^[0-9.]+ s$|tasks")).first).to_be_visible(timeout=SLOW_MS)  # Spark is there
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_text(re.compile("ancelled")).first).to_be_visible()
    query.fill("DROP TABLE t")
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("DropTable is not on the list")


def test_layouts_are_written_and_compared(page: Page, app: Served) -> None:
    page.goto(f"{app}?table=demo.unsorted_files&mode=plan&filter=name+%3D+%27jack%27")
    page.get_by_role("tab", name="Layouts").click()
    page.get_by_role("button", name="Write and compare").click()
    expect(page.get_by_role("grid")).to_contain_text("z-ordered", timeout=SLOW_MS)
