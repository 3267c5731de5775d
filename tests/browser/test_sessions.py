"""Two people on one server: the long question of one does not hold up the other, nor does either see the other."""

from __future__ import annotations

import statistics

from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import Served, page_of

CLICKS = 12
MOST_ADDED_S = 0.3
ROUNDS = 3
"""What else the machine does may hold up a click, too: it is asked again."""
ANSWERED = """async ([button, where]) => {
    const before = where.textContent, began = performance.now();
    button.click();
    while (where.textContent === before) await new Promise((next) => setTimeout(next, 1));
    return (performance.now() - began) / 1000;
}"""
HISTORY = "mode=ask&question=data+history"


def clicks(page: Page) -> list[float]:
    """Seconds from a click on a snapshot to the answer of the server on the page, some times."""
    where, taken = page.locator(".caption").element_handle(), []
    for number in range(CLICKS):
        button = page.get_by_label("Previous snapshot" if number % 2 == 0 else "Next snapshot").element_handle()
        taken.append(page.evaluate(ANSWERED, [button, where]))
        page.wait_for_timeout(100)
    return taken


def test_a_history_over_300_snapshots_does_not_hold_up_another_session(app: Served, browser: Browser) -> None:
    with page_of(browser, app) as asking, page_of(browser, app) as clicking:
        asking.goto(f"{app}?table=demo.long_history&{HISTORY}")
        clicking.goto(f"{app}?table=demo.manifest_lifecycle")
        expect(clicking.get_by_text("snapshot-5 added manifest-5")).to_be_visible()
        clicks(clicking)
        added = []
        for number in range(ROUNDS):
            alone = clicks(clicking)
            asking.get_by_label("Filter", exact=True).fill(f"id >= {number}")
            asking.get_by_role("button", name="Ask", exact=True).click()
            progress = asking.get_by_text("of 300 snapshots")
            expect(progress).to_be_visible()
            before = progress.inner_text()
            beside = clicks(clicking)
            assert progress.inner_text() != before  # it was under way all the time, and went on
            asking.get_by_role("button", name="Cancel").click()
            expect(asking.get_by_text("ancelled").first).to_be_visible()
            added.append(max(of(beside) - of(alone) for of in (statistics.median, max)))
            most = max(MOST_ADDED_S, statistics.median(alone))  # on a machine so busy that a click alone takes longer
            if added[-1] <= most:
                break
        assert added[-1] <= most, f"seconds added to a click: {added}; alone {alone}, beside a history {beside}"


def test_sessions_do_not_see_each_other(app: Served, browser: Browser) -> None:
    with page_of(browser, app) as first, page_of(browser, app) as second:
        first.goto(f"{app}?table=demo.manifest_lifecycle&snapshot=snapshot-2")
        second.goto(f"{app}?table=demo.three_inserts")
        expect(second.get_by_label("Snapshot", exact=True)).to_have_value("snapshot-3")
        first.get_by_label("Next snapshot").click()
        expect(first.get_by_text("snapshot-3 added manifest-3 with 1 data file")).to_be_visible()
        expect(second.get_by_text("three_inserts").first).to_be_visible()
        expect(second.get_by_label("Snapshot", exact=True)).to_have_value("snapshot-3")
        expect(second.get_by_text("snapshot-3 added manifest-3 with 1 data file")).to_be_visible()
        first.keyboard.press("]")
        expect(first.get_by_label("Snapshot", exact=True)).to_have_value("snapshot-4")
        expect(second.get_by_label("Snapshot", exact=True)).to_have_value("snapshot-3")


def test_two_sessions_read_two_versions_at_once(app: Served, browser: Browser) -> None:
    with page_of(browser, app) as first, page_of(browser, app) as second:
        for page, version in ((first, "snapshot-2"), (second, "snapshot-3")):
            page.goto(f"{app}?table=demo.manifest_lifecycle&mode=rows&snapshot={version}")
            page.get_by_role("button", name="Read", exact=True).click()
        for page, rows in ((first, "1 row"), (second, "3 rows")):
            expect(page.get_by_role("status").get_by_text(rows, exact=True)).to_be_visible(timeout=120_000)
