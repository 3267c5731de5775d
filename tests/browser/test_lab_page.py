"""The lab on the page: writers stepped, orders, races, what a commit changes in the graph."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from explorer.ui.browser import LOOK
from playwright.sync_api import Page, expect

from explorer.spec.commits.operations import operation_title
from tests.browser.conftest import Watched, tab, to
from tests.browser.test_rooms_fit import FITTING, settle


def lab_step(page: Any, button: str) -> None:
    found = page.get_by_role("button", name=button)
    expect(found).to_be_enabled(timeout=90_000)
    before = page.locator("svg circle[r='9']").count()
    found.click()
    expect(page.locator("svg circle[r='9']")).not_to_have_count(before)


def lab_choose(page: Page, place: int, words: str) -> None:
    """Choose in the lab's nth select."""
    page.locator(".MuiSelect-select:visible").nth(place).click()
    page.locator(".MuiListItemText-primary").get_by_text(words, exact=True).last.click()


def test_what_is_changed_and_changed_back_stays_so(dashboard: str, watched: Watched) -> None:
    """Panel's components would write back what they had drawn meanwhile (static/drawn.js)."""
    page = watched.page
    page.goto(f"{dashboard}?view=lab")
    expect(page.get_by_role("button", name="New run")).to_be_enabled()
    stayed = page.evaluate(
        """async () => {
          const models = Bokeh.documents.flatMap((document) => [...document._all_models.values()]);
          const all = models.filter((model) => model.data && model.data.disabled === false);
          const tell = (disabled) => all.forEach((model) => (model.data.disabled = disabled));
          const task = () => new Promise((resolve) => {
            const { port1, port2 } = new MessageChannel();
            port1.onmessage = resolve;
            port2.postMessage(0);
          });
          let stayed = 0;
          for (let i = 0; i < 12; i++) {
            tell(true);
            for (let n = 0; n < 1 + (i % 3); n++) await task();
            tell(false);
            await new Promise((resolve) => setTimeout(resolve, 100));
            stayed += all.filter((model) => model.data.disabled).length;
            tell(false);
          }
          return [all.length, stayed];
        }"""
    )
    assert stayed[0] > 5
    assert stayed[1] == 0
    expect(page.get_by_role("button", name="New run")).to_be_enabled()
    watched.clean()


def test_the_lab_plays_figure_4(dashboard: str, watched: Watched, artifacts: Path) -> None:
    """Two writers from one base; the second swap is lost, and its retry commits."""
    page = watched.page
    page.goto(f"{dashboard}?view=lab")
    page.get_by_role("button", name="New run").click()
    rows_now = page.locator(".tabulator:visible")
    rows_now.evaluate("grid => grid.classList.add('as-before')")
    lab_step(page, "Step A")
    expect(rows_now.and_(page.locator(".as-before"))).to_have_count(1)  # what says the same is not drawn anew
    for writer in "ABBABABAB":
        lab_step(page, f"Step {writer}")
    expect(page.locator(".as-before")).to_have_count(0)
    expect(page.get_by_text("swap: lost")).to_be_visible()
    expect(page.locator("svg text", has_text=re.compile("^catalog$"))).to_be_in_viewport(ratio=1)
    tab(page, "Graph, with what is not committed")
    staged = page.locator(
        '.ix-node[data-mark="staged"]'
    )  # the loser waits to apply again: its data file is in no snapshot
    expect(staged).to_have_count(1)
    assert staged.locator(".ix-box").evaluate("e => getComputedStyle(e).strokeDasharray") != "none"
    expect(page.locator('.ix-node[data-mark="orphan"][data-kind="metadata"]')).to_have_count(1)
    page.get_by_role(
        "button", name="Step B"
    ).click()  # it applies again: a snapshot, its list, its manifest and file are staged
    expect(staged).to_have_count(4)
    tab(page, "Sequence")
    page.get_by_role("button", name="Play", exact=True).click()  # one step after the other
    expect(page.get_by_text("swap: committed")).to_have_count(2)
    expect(page.get_by_text("Orphans")).to_be_visible()
    page.screenshot(path=artifacts / "lab.png")
    tab(page, "Graph, with what is not committed")
    expect(page.locator('.ix-node[data-label="snapshot-4"]')).to_be_visible()
    expect(staged).to_have_count(0)
    tab(page, "Steps and files")
    first = page.locator(".tabulator-row:visible").first
    expect(first).to_contain_text("swap")
    expect(first).to_be_in_viewport(ratio=1)  # tabs that are not looked at take no room above it
    watched.clean()


def test_the_lab_refuses_a_compaction_after_a_row_delta(dashboard: str, watched: Watched, artifacts: Path) -> None:
    """And a reader that began before goes on with its snapshot. At night."""
    page = watched.page
    page.context.add_cookies([{"name": LOOK, "value": "dark", "url": dashboard}])
    page.goto(f"{dashboard}?view=lab")
    lab_choose(page, 0, operation_title("compaction"))
    lab_choose(page, 1, operation_title("mor-delete"))
    lab_choose(page, 2, operation_title("read"))
    page.get_by_role("button", name="New run").click()
    for writer in "CCAABBBBBC":
        lab_step(page, f"Step {writer}")
    expect(page.get_by_text("What each lane loaded")).to_be_visible()
    expect(page.locator(".tabulator-cell").get_by_text("1 'one'; 2 'two'; 3 'three'", exact=True)).to_be_visible()
    expect(page.get_by_text("read: 3 rows")).to_be_visible()
    expect(
        page.get_by_text(
            "It is refused: snapshot-3 added position deletes for a data file that this commit rewrites (in p=a)"
        )
    ).to_be_visible()
    lab_step(page, "Step A")
    expect(page.get_by_text("apply: refused")).to_be_visible()
    expect(page.get_by_text("found new position delete for replaced data file").first).to_be_visible()
    page.evaluate(FITTING)
    settle(page)
    page.screenshot(path=artifacts / "lab-sequence-dark.png")
    assert page.evaluate("misfits()") == []
    tab(page, "Graph, with what is not committed")
    lit = page.locator('.ix-node[data-mark="conflict"]')
    expect(lit).to_have_count(2)
    assert sorted(lit.evaluate_all("found => found.map((e) => e.dataset.kind)")) == ["position_deletes", "snapshot"]
    expect(page.locator('.ix-node[data-mark="orphan"]')).to_have_count(1)
    page.screenshot(path=artifacts / "lab-conflict.png")
    watched.clean()


def test_the_lab_meets_faults_and_draws_all_orders(dashboard: str, watched: Watched, artifacts: Path) -> None:
    """A writer whose swap gets no answer begins again without looking: the row is there twice. Then every order of two
    appends."""
    page = watched.page
    page.goto(f"{dashboard}?view=lab")
    lab_choose(page, 1, operation_title("append") + ", by pyiceberg")
    page.get_by_role("button", name="New run").click()
    for _ in range(4):
        lab_step(page, "Step A")
    lab_choose(page, 5, "lose the answer to its swap")
    lab_step(page, "Step A")
    expect(page.get_by_text("swap: unknown")).to_be_visible()
    lab_choose(page, 5, "begin again without looking")
    for _ in range(6):
        lab_step(page, "Step A")
    expect(page.locator(".tabulator-cell").get_by_text("by A", exact=True)).to_have_count(2)
    lab_step(page, "Step B")
    lab_step(page, "Step B")
    lab_choose(page, 5, "kill it")
    lab_step(page, "Step B")
    expect(page.get_by_text("kill: killed")).to_be_visible()
    page.get_by_role("button", name="New run").click()
    expect(page.get_by_text("Three rows in two files")).to_be_visible()
    page.get_by_role("button", name="Play", exact=True).click()  # which would go on, and replace them
    page.get_by_role("button", name="All orders").click()
    expect(page.get_by_role("button", name="Cancel")).to_be_visible()
    expect(page.get_by_text("20 orders:")).to_be_visible(timeout=90_000)
    expect(page.get_by_text("the table as it was")).to_be_visible()
    expect(page.get_by_text("as if AB").first).to_be_attached()
    page.screenshot(path=artifacts / "lab-orders.png")
    tab(page, "Orders")
    page.locator(".tabulator-cell").get_by_text("AAABBB", exact=True).click()
    expect(page.get_by_text("swap: committed")).to_have_count(2)
    with page.expect_download() as saved:
        page.get_by_text("Save this run").click()
    page.get_by_role("button", name="New run").click()
    expect(page.get_by_text("swap: committed")).to_have_count(0)
    kept: Any = {"name": "run.json", "mimeType": "application/json", "buffer": saved.value.path().read_bytes()}
    page.locator("input[type=file]").set_input_files(kept)
    expect(page.get_by_text("swap: committed")).to_have_count(2)
    watched.clean()


def test_each_validation_is_a_switch(dashboard: str, watched: Watched) -> None:
    """A merge-on-read UPDATE after an append is not refused when the one validation that minds is off (that it is with
    all of them: tests/spark/test_lab.py)."""
    page = watched.page
    page.goto(f"{dashboard}?view=lab")
    lab_choose(page, 0, operation_title("mor-update"))
    page.get_by_role("button", name="Validations").click()
    page.get_by_text("validateNoConflictingDataFiles:").click()
    page.get_by_role("button", name="New run").click()
    for writer in "AABBBBBA":
        lab_step(page, f"Step {writer}")
    expect(page.get_by_text("apply: refused")).to_have_count(0)
    watched.clean()


def test_a_commit_comes_into_the_graph(dashboard: str, watched: Watched, artifacts: Path) -> None:
    """On a copy of one's own: a statement, its new parts in the graph, its files, swap and report; the table API; and
    reset."""
    page = watched.page
    page.goto(f"{dashboard}?table=demo.three_inserts&view=lab")
    to(page, "statement")
    expect(page.get_by_role("button", name="Run it")).to_be_disabled()
    page.get_by_role("button", name="Make a copy of my own").click()
    page.wait_for_url("**table=lab.three_inserts_*", timeout=90_000)
    expect(page.locator(".ix-where:visible")).to_contain_text("snapshot-3 of 3")
    page.locator("textarea:visible").fill("INSERT INTO t SELECT * FROM t LIMIT 1")
    page.get_by_role("button", name="Run it").click()
    expect(page.get_by_text("1 commit: the catalog swapped")).to_be_visible(timeout=60_000)
    expect(page.locator('.ix-node.ix-changed[data-label="snapshot-4"]')).to_be_visible()
    expect(page.locator(".ix-where:visible")).to_contain_text("snapshot-4 of 4 · append")
    page.screenshot(path=artifacts / "lab-statement.png")
    tab(page, "Files in order")
    expect(page.get_by_text("Compare-and-swap")).to_be_visible()
    tab(page, "Commit report")
    expect(page.get_by_text("total-duration")).to_be_visible()
    page.locator("textarea:visible").fill("DELETE FROM sandbox.demo.three_inserts")
    page.get_by_role("button", name="Run it").click()
    expect(page.get_by_text("may be written to").first).to_be_visible()
    page.get_by_role("button", name="Call it").click()
    expect(page.get_by_text("1 commit: the catalog swapped")).to_be_visible(timeout=60_000)
    tab(page, "Graph")
    page.get_by_role("button", name="Reset").click()
    expect(page.locator(".ix-where:visible")).to_contain_text("snapshot-3 of 3", timeout=60_000)
    watched.clean()


def test_a_conflict_is_explained_and_lit(dashboard: str, watched: Watched) -> None:
    page = watched.page
    page.goto(f"{dashboard}?table=demo.equality_deletes&view=lab")
    to(page, "conflict")
    page.get_by_label("it began at").fill("snapshot-1")
    page.keyboard.press("Enter")
    page.get_by_label("on rows where").fill("name = 'jack'")
    page.get_by_label("on rows where").press("Enter")
    page.get_by_role("button", name="Explain").click()
    expect(page.get_by_text("It is refused: snapshot-2 added")).to_be_visible()
    lit = page.locator('.ix-node[data-mark="conflict"]')
    expect(lit).to_have_count(5)
    assert {"snapshot-2", "snapshot-3", "delete-1.parquet"} <= set(
        lit.evaluate_all("found => found.map((e) => e.dataset.label)")
    )
    watched.clean()


def test_a_race_on_the_page(dashboard: str, watched: Watched) -> None:
    page = watched.page
    page.goto(f"{dashboard}?view=lab")
    to(page, "race")
    page.get_by_label("writer processes").fill("2")
    page.get_by_label("commits of each").fill("6")
    page.get_by_label("commits of each").press("Enter")
    page.get_by_role("button", name="Race", exact=True).click()
    expect(page.get_by_text("a second")).to_be_visible(timeout=60_000)
    to(page, "lab")  # what changes while it is not on the page asks nobody outside for anything
    page.wait_for_timeout(1500)
    to(page, "race")
    expect(page.get_by_text("12 acknowledged = 12 snapshots = 12 rows")).to_be_visible(timeout=90_000)
    expect(page.get_by_text("acknowledged commits")).to_be_visible()
    watched.clean()
