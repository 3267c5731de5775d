"""Two people on one dashboard: the long question of one does not hold up the other."""

from __future__ import annotations

import statistics

from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import Served, signed_in, to

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


def clicks(page: Page) -> list[float]:
    """Seconds from a click on a snapshot to the answer of the server on the page, some times."""
    where, taken = page.locator(".ix-where").element_handle(), []
    for i in range(CLICKS):
        button = page.get_by_label("Previous snapshot" if i % 2 == 0 else "Next snapshot").element_handle()
        taken.append(page.evaluate(ANSWERED, [button, where]))
        page.wait_for_timeout(100)
    return taken


def test_a_fate_over_300_snapshots_does_not_hold_up_another_session(dashboard: Served, browser: Browser) -> None:
    asking, clicking = (signed_in(browser, dashboard).new_page() for _ in range(2))
    asking.goto(f"{dashboard}?table=demo.long_history&view=rows")
    to(asking, "fate")
    clicking.goto(f"{dashboard}?table=demo.manifest_lifecycle&view=graph")
    expect(clicking.locator(".ix-where")).to_contain_text("snapshot-5 of 5")
    clicks(clicking)
    added = []
    for n in range(ROUNDS):
        alone = clicks(clicking)
        asking.get_by_label("which rows").fill(f"id >= {n}")
        asking.keyboard.press("Enter")
        progress = asking.get_by_text("of 300 snapshots")
        expect(progress).to_be_visible()
        before = progress.inner_text()
        beside = clicks(clicking)
        assert progress.inner_text() != before  # it was under way all the time, and went on
        asking.get_by_role("button", name="Cancel").click()
        expect(asking.get_by_text("Cancelled.", exact=True)).to_be_visible()
        added.append(max(of(beside) - of(alone) for of in (statistics.median, max)))
        most = max(MOST_ADDED_S, statistics.median(alone))  # on a machine so busy that a click alone takes longer
        if added[-1] <= most:
            break
    assert added[-1] <= most, f"seconds added to a click: {added}; alone {alone}, beside a fate {beside}"
    for page in (asking, clicking):
        page.context.close()
