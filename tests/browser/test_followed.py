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
from playwright.sync_api import expect

from tests.browser.conftest import PATIENCE_MS, Watched, served, show
from tests.unit.test_following import Home

EVERY = bool(os.environ.get("ICEDIVE_EVERY_COMMIT"))
SOON = 2.0
"""Seconds after which a commit is to be seen, where nothing else is done."""
WARM, ALL = 40, 200
"""Commits after which memory is measured."""
FLAT = 24
"""MiB that the others may add to it: the table's own metadata file grows by 300 bytes with each."""
NOTING = """() => {
  const find = (root) => {
    for (const element of root.querySelectorAll("*")) {
      if (element.classList.contains("ix-where")) return element;
      const inner = element.shadowRoot && find(element.shadowRoot);
      if (inner) return inner;
    }
    return null;
  };
  window.seen = [];
  setInterval(() => {
    const number = Number(/ of (\\d+)/.exec(find(document)?.textContent || "")?.[1] || 0);
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


def test_each_commit_of_two_writers_is_seen(dashboard: str, watched: Watched, tmp_path: Path, artifacts: Path) -> None:
    page, home, committed = watched.page, Home(tmp_path), dict[int, float]()
    show(page, f"{dashboard}?table={home.path}")
    page.get_by_text("follow", exact=True).click()
    page.evaluate(NOTING)
    for thread in write(home, 2, 6, 1.5, committed):
        while thread.is_alive():
            page.wait_for_timeout(100)
    expect(page.locator(".ix-where")).to_contain_text("snapshot-13 of 13")
    page.screenshot(path=artifacts / "followed-two-writers.png")
    chip = page.locator(".ix-chip", has_text="13").bounding_box()
    strip = page.locator(".ix-chips").bounding_box()
    assert chip
    assert strip
    assert chip["x"] + chip["width"] <= strip["x"] + strip["width"] + 1  # the newest is in sight
    seen = page.evaluate("() => window.seen")
    late = [
        next(at for number, at in seen if number >= number_of(home, snapshot_id)) / 1000 - done
        for snapshot_id, done in committed.items()
    ]
    print(f"seen after {', '.join(f'{seconds:.2f}' for seconds in sorted(late))} s")
    assert len(late) == 12
    assert max(late) < (SOON if EVERY else PATIENCE_MS / 1000)
    watched.clean()


@pytest.mark.skipif(not EVERY, reason="minutes: make follow")
def test_two_hundred_commits_leave_memory_flat(sandbox: Path, watched: Watched, tmp_path: Path) -> None:
    page, home = watched.page, Home(tmp_path)
    with served(tmp_path / "log") as url:
        port = str(urlsplit(url).port)
        process = next(p for p in psutil.process_iter(["cmdline"]) if port in (p.info["cmdline"] or []))
        page.goto(url.entry)
        show(page, f"{url}?table={home.path}")
        page.get_by_text("follow", exact=True).click()
        marks = []
        for until in (WARM, (WARM + ALL) // 2, ALL):
            already = len(home.opened().metadata.snapshots) - 1
            for thread in write(home, 2, (until - already) // 2, 0.0, {}):
                while thread.is_alive():
                    page.wait_for_timeout(200)
            expect(page.locator(".ix-where")).to_contain_text(f"of {until + 1}")
            page.wait_for_timeout(3_000)
            marks.append(process.memory_info().rss / 2**20)  # once idle
        print(f"memory after {WARM}, {(WARM + ALL) // 2}, {ALL} commits: {', '.join(f'{m:.1f}' for m in marks)} MiB")
        assert marks[-1] - marks[0] < FLAT
        watched.clean()
