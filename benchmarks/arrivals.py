"""How long a page takes to come, to a browser and from the server, alone and with others open. Writes docs/pages.md.

    python -m benchmarks.arrivals [--seats 30] [--open 36]

A browser's times are of headless Chromium, from navigation until what is named is seen, which is what stands there
first (ui.first), and until the page's own view has taken its place, in which everything can be used: in a browser that
has kept nothing, and again in the same one. A seat is what the server has of a page (benchmarks.sessions): nothing
draws it. The table is small, written by pyiceberg, so the times are those of the page and not of a table."""

from __future__ import annotations

import argparse
import asyncio
import os
import platform
import random
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from urllib.parse import quote

import psutil
from playwright.async_api import Page, async_playwright, expect

from benchmarks import pages
from benchmarks.sessions import Seat, come, server
from tests.browser.find_browser import FLAGS, find
from tests.support.small_tables import make_table

PAGE = Path(__file__).parents[1] / "docs" / "pages.md"
TIMES, STEPS = 5, 4


def seconds(many: Sequence[float]) -> str:
    return f"{statistics.median(many):.2f} s, {max(many):.2f} s"


async def time_of(act: Callable[[], Awaitable[object]]) -> float:
    began = time.perf_counter()
    await act()
    return time.perf_counter() - began


VISIBLE = {"overview": "text='What it is'", "graph": ".ix-node"}
"""What is to be seen of a view."""
SIZES = "() => performance.getEntriesByType('resource').reduce((a, r) => a + r.transferSize, 0)"


async def time_view(page: Page, url: str, view: str) -> tuple[float, float]:
    """Seconds until a view is seen, and until it is the page's own."""
    began = time.perf_counter()
    await page.goto(f"{url}&view={view}", wait_until="commit")
    await page.locator(VISIBLE[view]).first.wait_for()
    seen = time.perf_counter() - began
    await page.locator("#first").wait_for(state="detached")
    await page.locator(VISIBLE[view]).first.wait_for()
    return seen, time.perf_counter() - began


async def step(page: Page, label: str, number: int) -> None:
    """To another snapshot, by the graph's button."""
    await page.get_by_label(label).click()
    await expect(page.locator(".ix-where:visible")).to_contain_text(f"snapshot-{number} of")


async def measure_browser(url: str, cookie: str) -> dict[str, str]:
    """What one browser waits for."""
    name, value = cookie.split("=", 1)
    rows: dict[str, str] = {}
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=find(), args=FLAGS)
        for view in VISIBLE:
            fresh, again, sent = [], [], []
            for _ in range(TIMES):
                context = await browser.new_context(viewport={"width": 1280, "height": 800})
                await context.add_cookies([{"name": name, "value": value, "url": url.split("?")[0]}])
                page = await context.new_page()
                fresh.append(await time_view(page, url, view))
                await page.wait_for_timeout(1500)
                sent.append(await page.evaluate(SIZES) / 1e6)
                again.append(await time_view(page, url, view))
                await context.close()
            for what, times in (("fresh browser", fresh), ("the same browser again", again)):
                seen, own = zip(*times, strict=True)
                rows[f"the {view} is seen, {what}"] = seconds(seen)
                rows[f"the controls of the {view} are there, {what}"] = seconds(own)
            rows[f"sent to a fresh browser ({view})"] = f"{max(sent):.1f} MB"
        context = await browser.new_context(viewport={"width": 1280, "height": 800})
        await context.add_cookies([{"name": name, "value": value, "url": url.split("?")[0]}])
        page, clicks = await context.new_page(), []
        await time_view(page, url, "graph")
        await expect(page.locator(".ix-where:visible")).to_contain_text("snapshot-3 of")
        for _ in range(STEPS):
            for there in (("Previous snapshot", 2), ("Next snapshot", 3)):
                clicks.append(await time_of(lambda there=there: step(page, *there)))
        rows["a step to the snapshot beside"] = seconds(clicks[2:])
        await browser.close()
    return rows


async def measure_server(
    url: str, cookie: str, table: str, process: psutil.Process, seats: int, others: int
) -> dict[str, str]:
    """What the server needs for pages that nobody draws."""
    kept: list[Seat] = []
    listening: list[asyncio.Task[None]] = []

    def processor_s() -> float:
        return sum(process.cpu_times()[:2])

    async def sit(view: str = "graph") -> tuple[Seat, float]:
        seat, took = await come(url, cookie, table=table, view=view)
        kept.append(seat)
        listening.append(asyncio.create_task(seat.listen()))
        seat.last = time.perf_counter()
        await seat.quiet()
        return seat, took

    async def processor_of_session() -> float:
        before = processor_s()
        await sit()
        return processor_s() - before

    async def leave() -> None:
        for task in listening:
            task.cancel()
        for seat in kept:
            seat.socket.close()
        kept.clear()
        listening.clear()
        await asyncio.sleep(45)

    await sit()
    await sit("overview")
    rows = {"processor for a new session, alone": seconds([await processor_of_session() for _ in range(TIMES)])}
    for _ in range(others - len(kept)):
        await sit()
    rows[f"processor for a new session, {others} others open"] = seconds(
        [await processor_of_session() for _ in range(TIMES)]
    )
    await asyncio.sleep(10)
    before = processor_s()
    await asyncio.sleep(20)
    rows[f"processor while {len(kept)} are idle"] = f"{100 * (processor_s() - before) / 20:.1f} % of a core"
    await leave()
    waits: list[float] = []
    for _ in range(4):
        waits += [took for _, took in await asyncio.gather(*(sit() for _ in range(5)))]
    rows["20 pages, five at a time: sent whole after"] = seconds(waits)
    await leave()
    held = process.memory_info().rss
    rng, clicks, waits = random.Random(30), [], []

    async def stay() -> None:
        await asyncio.sleep(rng.uniform(0, 60))
        seat, took = await sit()
        waits.append(took)
        for number in (1, 2, 3, 1):
            await asyncio.sleep(rng.uniform(2, 8))
            clicks.append(await seat.click(f"snapshot-{number}"))

    await asyncio.gather(*(stay() for _ in range(seats)))
    rows[f"{seats} seats within a minute: sent whole after"] = seconds(waits)
    rows["a click of theirs: answered after"] = seconds(clicks)
    await leave()
    rows["memory that they left"] = f"{(process.memory_info().rss - held) / 2**20:.0f} MiB"
    return rows


async def measure(seats: int, others: int) -> dict[str, str]:
    with tempfile.TemporaryDirectory() as work:
        table = str(make_table(Path(work)))
        async with server(f"{work}/cache") as (url, cookie, process, _):
            rows = await measure_browser(f"{url}?table={quote(table)}", cookie)
            print(rows, flush=True)
            return rows | await measure_server(url, cookie, table, process, seats, others)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--seats", type=int, default=30)
    options.add_argument("--open", type=int, default=36)
    chosen = options.parse_args()
    rows = asyncio.run(measure(chosen.seats, chosen.open))
    text = [
        f"A run on {os.cpu_count()} cores, Python {platform.python_version()}; median, then worst:", "",
        "| what | measured |", "|---|---|", *(f"| {name} | {value} |" for name, value in rows.items()),
    ]  # fmt: skip
    pages.put(PAGE, text)
    print("\n".join(text))


if __name__ == "__main__":
    main()
