"""A page that follows a table to which two writers commit: each commit is shown, and two hundred leave nothing in the
server. How soon, and the long one, is `make follow`."""

from __future__ import annotations

import os
import random
import threading
import time
from pathlib import Path
from urllib.parse import urlsplit

import psutil
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import PATIENCE_MS, Served, card, page_of, rail, served
from tests.unit.test_following import Home

EVERY = bool(os.environ.get("ICEDIVE_EVERY_COMMIT"))
SOON = 2.0
"""Seconds after which a commit is to be seen, where nothing else is done."""
WARM, ALL = 40, 200
"""Commits after which memory is measured."""
FLAT = 24
"""MiB that the others may add to it: the table's own metadata file grows by 300 bytes with each."""
NOTING = """() => {
  window.seen = [];
  setInterval(() => {
    const card = document.querySelector("[role=treeitem][aria-label*=', current, in view']");
    const number = Number(/^snapshot-(\\d+)/.exec(card?.ariaLabel || "")?.[1] || 0);
    if (number > (window.seen.at(-1)?.[0] || 0)) window.seen.push([number, Date.now()]);
  }, 50);
}"""


def number_of(home: Home, snapshot_id: int) -> int:
    return home.opened().metadata.snapshot(snapshot_id).sequence_number  # type: ignore[union-attr]


def write(home: Home, writers: int, each: int, pause: float, committed: dict[int, float]) -> list[threading.Thread]:
    """Writers that commit at the same time, and when each commit was there."""

    def one(seed: int) -> None:
        chance = random.Random(seed)
        for _ in range(each):
            time.sleep(pause * chance.random())
            snapshot_id = home.commit()
            committed[snapshot_id] = time.time()

    threads = [threading.Thread(target=one, args=(seed,)) for seed in range(writers)]
    for thread in threads:
        thread.start()
    return threads


def follow(page: Page, url: str, home: Home) -> None:
    page.goto(f"{url}?table={home.path}")
    expect(card(page, "^snapshot-1, snapshot, current, in view")).to_be_visible()
    page.get_by_role("button", name="Follow", exact=True).click()


def test_a_table_is_followed_and_read_again(page: Page, app: Served, tmp_path: Path, artifacts: Path) -> None:
    home = Home(tmp_path)
    follow(page, app, home)
    for number in (2, 3):
        home.commit()
        expect(card(page, f"^snapshot-{number}, snapshot, current, in view")).to_be_visible()
        expect(page.get_by_label("Snapshot", exact=True)).to_have_value(f"snapshot-{number}")
        expect(page.get_by_role("listitem").filter(has_text="snapshots").first).to_contain_text(f"{number} snapshots")
    page.screenshot(path=artifacts / "followed.png")
    rail(page, "Health")
    expect(page.get_by_role("region", name="Health")).to_contain_text("within")
    home.commit()
    rail(page, "Graph")  # and goes on there
    expect(card(page, "^snapshot-4, snapshot, current, in view")).to_be_visible()
    page.get_by_role("button", name="Follow", exact=True).click()
    home.commit()
    page.wait_for_timeout(2500)
    expect(card(page, "^snapshot-4, snapshot, current, in view")).to_be_visible()
    page.get_by_role("button", name="Reload", exact=True).click()
    expect(card(page, "^snapshot-5, snapshot, current, in view")).to_be_visible()


def test_each_commit_of_two_writers_is_seen(page: Page, app: Served, tmp_path: Path, artifacts: Path) -> None:
    home, committed = Home(tmp_path), dict[int, float]()
    follow(page, app, home)
    page.evaluate(NOTING)
    for thread in write(home, 2, 6, 1.5, committed):
        while thread.is_alive():
            page.wait_for_timeout(100)
    expect(card(page, "^snapshot-13, snapshot, current, in view")).to_be_visible()
    page.screenshot(path=artifacts / "followed-two-writers.png")
    expect(page.get_by_role("button", name="snapshot-13, append")).to_be_in_viewport(
        ratio=0.9
    )  # the newest is in sight
    seen = page.evaluate("() => window.seen")
    late = [
        next(at for number, at in seen if number >= number_of(home, snapshot_id)) / 1000 - done
        for snapshot_id, done in committed.items()
    ]
    print(f"seen after {', '.join(f'{seconds:.2f}' for seconds in sorted(late))} s")
    assert len(late) == 12
    assert max(late) < (SOON if EVERY else PATIENCE_MS / 1000)


@pytest.mark.skipif(not EVERY, reason="minutes: make follow")
def test_two_hundred_commits_leave_memory_flat(sandbox: Path, browser: Browser, tmp_path: Path) -> None:
    home = Home(tmp_path)
    with served(tmp_path / "log") as url, page_of(browser, url) as page:
        port = str(urlsplit(url).port)
        process = next(p for p in psutil.process_iter(["cmdline"]) if port in (p.info["cmdline"] or []))
        follow(page, url, home)
        marks = []
        for until in (WARM, (WARM + ALL) // 2, ALL):
            already = len(home.opened().metadata.snapshots) - 1
            for thread in write(home, 2, (until - already) // 2, 0.0, {}):
                while thread.is_alive():
                    page.wait_for_timeout(200)
            expect(card(page, f"^snapshot-{until + 1}, snapshot, current")).to_be_visible()
            page.wait_for_timeout(3_000)
            marks.append(process.memory_info().rss / 2**20)  # once idle
        print(f"memory after {WARM}, {(WARM + ALL) // 2}, {ALL} commits: {', '.join(f'{m:.1f}' for m in marks)} MiB")
        assert marks[-1] - marks[0] < FLAT
