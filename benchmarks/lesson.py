"""The lesson of docs/lesson.md from start to end with simulated seats: so many real pages in headless Chromium, all on
one dashboard, which this starts. Writes what it measured into that page, with the load beside it.

    python -m benchmarks.lesson [--seats 30] [--spread 20] [--out docs/lesson.md]

Needs the teaching tables (`icedive demo`). In each part every seat begins within `spread` seconds, as a class
does that is told to. A part's time is from a person's click to what it brings; the browsers share this machine with
the server, which those of a class do not."""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import statistics
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any, NamedTuple

import psutil
from playwright.async_api import Page, async_playwright, expect

from benchmarks import pages
from benchmarks.screen import closed_at_end
from explorer.spec.commits.operations import operation_title
from explorer.ui.rooms import ROOMS, VIEWS
from tests.browser.find_browser import FLAGS, find
from tests.support.ports import free_port

PAGE = Path(__file__).parents[1] / "docs" / "lesson.md"
WAIT_MS = 900_000
Times = list[float]
FIGURE_4 = "AABBABABABBBB"
EXPIRED = "AABBBBBCCCCCA"


async def add_time(act: Awaitable[Any], times: Times) -> None:
    began = time.perf_counter()
    await act
    times.append(time.perf_counter() - began)


async def arrive(page: Page, url: str, times: Times) -> None:
    """Minute 0: the first table."""

    async def come() -> None:
        await page.goto(f"{url}?table=demo.three_inserts&view=graph", timeout=WAIT_MS)
        await page.wait_for_selector(".ix-node")

    await add_time(come(), times)


async def to(page: Page, view: str) -> None:
    """To a view: into its room, and there to it."""
    room = ROOMS[VIEWS[view]]
    for title in (room.title, room.views[view])[: min(2, len(room.views))]:
        await page.locator(".bk-tab:visible").get_by_text(title, exact=True).first.click()


async def another(page: Page, url: str, times: Times) -> None:
    """Minute 5: the table of figures 7 and 8, by a click in the tree."""

    async def come() -> None:
        await page.get_by_text("manifest_lifecycle", exact=True).click()
        await expect(page.locator(".ix-where:visible")).to_contain_text("snapshot-5 of 5")

    await add_time(come(), times)


async def history(page: Page, url: str, times: Times) -> None:
    """Minute 7: back to the first snapshot and forth to the last."""
    at = page.locator(".ix-where:visible")
    for label, snapshots in (("Previous snapshot", (4, 3, 2, 1)), ("Next snapshot", (2, 3, 4, 5))):
        for number in snapshots:

            async def step(label: str = label, number: int = number) -> None:
                await page.get_by_label(label).click()
                await expect(at).to_contain_text(f"snapshot-{number} of 5")

            await add_time(step(), times)


async def deletes(page: Page, url: str, times: Times) -> None:
    """Minute 16: another table, and which of its deletes apply to which files."""
    await page.get_by_text("equality_deletes", exact=True).click()
    await expect(page.locator(".ix-where:visible")).to_contain_text("snapshot-3 of 3")

    async def come() -> None:
        await to(page, "deletes")
        await expect(page.get_by_text("1 of 3 pairs of data and delete files apply")).to_be_visible()

    await add_time(come(), times)


async def row_history(page: Page, url: str, times: Times) -> None:
    """Minute 20: what became of jack."""
    await to(page, "fate")
    field = page.get_by_label("which rows")
    await field.fill("name = 'jack'")

    async def ask() -> None:
        await field.press("Enter")
        await expect(page.get_by_text("appeared").first).to_be_visible()

    await add_time(ask(), times)


async def choose(page: Page, place: int, words: str) -> None:
    await page.locator(".MuiSelect-select:visible").nth(place).click()
    await page.locator(".MuiListItemText-primary").get_by_text(words, exact=True).last.click()


async def begin(page: Page) -> None:
    await page.get_by_role("button", name="New run").click()
    await expect(page.get_by_text("Three rows in two files")).to_be_visible()


async def run(page: Page, order: str, times: Times) -> None:
    done = page.locator("svg circle[r='9']")
    for count, name in enumerate(order, 1):
        button = page.get_by_role("button", name=f"Step {name}")
        await expect(button).to_be_enabled()

        async def step(button: Any = button, count: int = count) -> None:
            await button.click()
            await expect(done).to_have_count(count)

        await add_time(step(), times)


async def enter(page: Page, url: str, times: Times) -> None:
    """Minute 25: the lab, and a run of two appends."""
    await to(page, "lab")
    await expect(page.get_by_role("button", name="New run")).to_be_enabled()
    await add_time(begin(page), times)


async def two(page: Page, url: str, times: Times) -> None:
    """Minute 26: figure 4, and the loser's next attempt."""
    await run(page, FIGURE_4, times)
    await expect(page.get_by_text("swap: committed")).to_have_count(2)


async def reader(page: Page, url: str, times: Times) -> None:
    """Minute 33: a reader, a copy-on-write DELETE and an expiry."""
    for place, kind in enumerate(("read", "cow-delete", "expire")):
        await choose(page, place, operation_title(kind))
    await begin(page)
    await run(page, EXPIRED, times)
    await expect(page.get_by_text("read: failed")).to_be_visible()


PARTS: tuple[tuple[str, Callable[[Page, str, Times], Awaitable[None]]], ...] = (
    ("0: the first table is on the screen", arrive),
    ("5: another table", another),
    ("7: a step through its history", history),
    ("16: which deletes apply", deletes),
    ("20: the row history of jack", row_history),
    ("25: a fresh run in the lab", enter),
    ("26: a step of a commit", two),
    ("33: a step of three lanes", reader),
)


class PartTimes(NamedTuple):
    """A part: the seconds of all clicks, how long the whole class took, the processor's seconds that the server took
    (with its Java), and the load at its end."""

    name: str
    times: Times
    took: float
    server: float
    load: float

    @property
    def row(self) -> str:
        times = sorted(self.times)
        most = times[min(len(times) - 1, int(len(times) * 0.95))]
        return (
            f"| {self.name} | {len(times)} | {statistics.median(times):.2f} | {most:.2f} | {times[-1]:.2f} | "
            f"{self.took:.0f} | {self.server:.0f} | {self.load:.1f} |"
        )


HEAD = (
    "| minute | clicks | median s | 95 of 100 within s | slowest s | all done after s | server's CPU s | load |",
    "|---|---|---|---|---|---|---|---|",
)


def processes(server: int) -> list[psutil.Process]:
    """The server and its Java."""
    return [psutil.Process(server), *psutil.Process(server).children(recursive=True)]


def processor(server: int) -> float:
    """The seconds that they have taken."""
    return sum(sum(one.cpu_times()[:2]) for one in processes(server))


async def lesson(url: str, entry: str, server: int, seats: int, spread: float) -> AsyncIterator[PartTimes]:
    """Every part, by all seats at once; before the first the teacher has waked Spark and the lab."""
    rng = random.Random(17)
    expect.set_options(timeout=WAIT_MS)
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=find(), args=FLAGS)
        pages_of_seats = []
        for _ in range(1 + seats):
            context = await browser.new_context(viewport={"width": 1280, "height": 800}, reduced_motion="reduce")
            await context.request.get(entry, max_redirects=0)
            page = await context.new_page()
            page.set_default_timeout(WAIT_MS)
            pages_of_seats.append(page)
        teacher = pages_of_seats.pop(0)
        await teacher.goto(f"{url}?view=lab", timeout=WAIT_MS)
        await begin(teacher)
        for name, part in PARTS:
            times: Times = []

            async def one(page: Page, part: Any = part, times: Times = times) -> None:
                await asyncio.sleep(rng.uniform(0, spread))
                await part(page, url, times)

            began, spent = time.perf_counter(), processor(server)
            await asyncio.gather(*(one(page) for page in pages_of_seats))
            took = time.perf_counter() - began
            yield PartTimes(name, times, took, processor(server) - spent, os.getloadavg()[0])
        await browser.close()


async def play(url: str, entry: str, server: int, chosen: argparse.Namespace) -> None:
    """The lesson; what is measured is written part by part."""
    begun = (
        f"{chosen.seats} pages of one headless Chromium and the server on one machine of {os.cpu_count()} cores; every "
        f"seat begins a part within {chosen.spread:g} s.",
        f"Load (runnable processes, of a minute) before: {os.getloadavg()[0]:.1f}.",
    )
    rows = []
    async for part in lesson(url, entry, server, chosen.seats, chosen.spread):
        rows.append(part.row)
        memory = sum(one.memory_info().rss for one in processes(server)) / 1e9
        lines = [*begun, f"The server, with Spark, takes {memory:.1f} GB at the end.", "", *HEAD, *rows]
        pages.put(chosen.out, lines)
        print(part.row)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seats", type=int, default=30)
    parser.add_argument("--spread", type=float, default=20)
    parser.add_argument("--out", type=Path, default=PAGE)
    chosen, port = parser.parse_args(), free_port()
    url = f"http://localhost:{port}/"
    with closed_at_end([sys.executable, "-m", "explorer.cli", "serve", "--port", str(port)]) as server:
        assert server.stdout
        entry = ""
        while not entry.startswith(url):
            entry = (server.stdout.readline().split() or [""])[-1]
        asyncio.run(play(url, entry, server.pid, chosen))


if __name__ == "__main__":
    main()
