"""The page before this app and the page now, in turns on one machine: what a first page costs a browser and the server,
what is sent, a step in the graph, and clicks of many sessions. Writes docs/pages.md.

    python -m benchmarks.page_pairs [--pairs 5] [--old ab84dd4] [--old-tree FOLDER] [--sessions 50]

The old commit is checked out into a worktree with an environment of its own, which takes minutes, unless `--old-tree`
is one that has both already. Each pair starts both servers anew and measures one after the other. The browser's CPU is
that of all of its processes from navigation until nothing has changed for two seconds; the server's is that of its
process. Clicks of many sessions are messages, as a browser sends them; nothing draws them. What counts is the ratio of
each pair: the times are of this machine, now."""

from __future__ import annotations

import argparse
import asyncio
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

import psutil
from playwright.async_api import CDPSession, Page, async_playwright

from benchmarks import pages
from benchmarks.clients import ROOT, Served, processor_s, serve
from benchmarks.sessions import SHOWN, TO_SNAPSHOT, Person, Times, generate_table
from explorer.table import open_table
from tests.browser.find_browser import FLAGS, find
from tests.support.small_tables import make_table

PAGE = ROOT / "docs" / "pages.md"
QUIET_S, STEPS = 2.0, 4
PACE_S = 6.0
OLD_SESSIONS = """
import asyncio, sys
from pathlib import Path
from benchmarks import sessions
told = asyncio.run(sessions.measured({sessions}, 0, {pace}, Path({folder!r})))
print(told["click answered, 95th percentile"].split()[0])
"""
"""Has the old commit's own benchmark measure its sessions."""


@dataclass(frozen=True)
class Contender:
    """A page: where its code is, how it is served, and what of it is looked for."""

    name: str
    tree: Path
    python: Path
    query: str
    node: str
    back: str
    forward: str
    prefix: str

    def serve(self) -> AbstractAsyncContextManager[Served]:
        return serve(tree=self.tree, python=str(self.python), prefix=self.prefix)


@dataclass
class Measured:
    """What one start of a page's server gave, by what it is."""

    browser_cpu: float = 0
    server_cpu: float = 0
    visible: float = 0
    kilobytes: float = 0
    steps: list[float] = field(default_factory=list)
    step_cpu: float = 0


async def settle(page: Page, processes: Sequence[psutil.Process]) -> None:
    """Wait until neither browser nor server has worked for two seconds."""
    before, since = sum(map(processor_s, processes)), time.perf_counter()
    while time.perf_counter() - since < QUIET_S:
        await page.wait_for_timeout(250)
        now = sum(map(processor_s, processes))
        if now - before > 0.02:
            before, since = now, time.perf_counter()


async def watch_bytes(session: CDPSession) -> list[int]:
    """A list to which the bytes of each answer and of each frame of a socket are appended."""
    sent: list[int] = []
    await session.send("Network.enable")
    session.on("Network.loadingFinished", lambda event: sent.append(int(event["encodedDataLength"])))
    session.on("Network.webSocketFrameReceived", lambda event: sent.append(len(event["response"]["payloadData"])))
    return sent


async def measure(contender: Contender, table: str) -> Measured:
    """A first page in a fresh browser, then steps in its graph."""
    result = Measured()
    async with contender.serve() as served, async_playwright() as playwright:
        process = served.process

        async def look(measured: bool) -> None:
            browser = await playwright.chromium.launch(executable_path=find(), args=FLAGS)
            mine = {
                one.pid: one
                for one in psutil.Process().children(recursive=True)
                if "headless" in one.name() or "chrom" in one.name()
            }
            context = await browser.new_context(viewport={"width": 1440, "height": 900})
            await context.request.get(served.entry, max_redirects=0)
            page = await context.new_page()
            sent = await watch_bytes(await context.new_cdp_session(page))
            browsers = list(mine.values())

            def browser_s() -> float:
                return sum(
                    processor_s(one)
                    for one in psutil.Process().children(recursive=True)
                    if one.pid in mine or any(p.pid in mine for p in one.parents())
                )

            await settle(page, browsers)
            before, spent, began = browser_s(), processor_s(process), time.perf_counter()
            await page.goto(f"{served.url}?table={quote(table)}{contender.query}", wait_until="commit")
            await page.locator(contender.node).first.wait_for()
            visible = time.perf_counter() - began
            await settle(page, [*browsers, process])
            if measured:
                result.visible = visible
                result.browser_cpu = browser_s() - before
                result.server_cpu = processor_s(process) - spent
                result.kilobytes = sum(sent) / 1000
                before = browser_s() + processor_s(process)
                for _ in range(STEPS):
                    for button in (contender.back, contender.forward):
                        began = time.perf_counter()
                        old = await page.locator(contender.node).all_inner_texts()
                        await page.locator(button).first.click()
                        while await page.locator(contender.node).all_inner_texts() == old:
                            await page.wait_for_timeout(10)
                        result.steps.append(time.perf_counter() - began)
                        await page.wait_for_timeout(600)
                result.step_cpu = (browser_s() + processor_s(process) - before) / (2 * STEPS)
            await browser.close()

        await look(False)  # what the server reads and compiles once
        await look(True)
    return result


async def many(contender: Contender, table: str, ids: list[str], sessions: int) -> list[float]:
    """Seconds until the tree of another snapshot is there, where many sessions do all that pages do."""
    times = Times()
    async with contender.serve() as served:
        people = [Person(number, table, ids, times) for number in range(sessions)]
        await asyncio.gather(*(one.live(served, PACE_S) for one in people))
    return times[TO_SNAPSHOT.format(SHOWN["table"])]


# -- contenders --------------------------------------------------------------------------------------------------------
def new_page(tree: Path = ROOT) -> Contender:
    return Contender(
        "new", tree, Path(sys.executable), "", "[role=treeitem]",
        "[aria-label^='Previous snapshot']", "[aria-label^='Next snapshot']", "ICEDIVE_",
    )  # fmt: skip


def old_page(tree: Path, python: Path) -> Contender:
    return Contender(
        "old", tree, python, "&view=graph", ".ix-node", "[aria-label^='Previous snapshot']",
        "[aria-label^='Next snapshot']", "ICEBERG_EXPLORER_",
    )  # fmt: skip


def check_out(commit: str) -> tuple[Path, Path]:
    """A worktree of a commit and the Python of its environment, made now if they are not there."""
    tree = ROOT / "benchmarks" / "data" / f"tree-{commit}"
    python = tree / ".venv" / "bin" / "python"
    if not tree.exists():
        subprocess.run(["git", "worktree", "add", "--detach", str(tree), commit], cwd=ROOT, check=True)
    if not python.exists():
        subprocess.run(["make", ".venv/.installed"], cwd=tree, check=True)
    return tree, python


def sessions_row(tree: Path, python: Path, sessions: int) -> tuple[str, float, float, list[float]]:
    """Clicks of many sessions on a million entries, at the old commit and now."""
    folder = generate_table()
    ids = [str(snapshot.snapshot_id) for snapshot in open_table(str(folder)).metadata.snapshots]
    times = sorted(asyncio.run(many(new_page(), str(folder), ids, sessions)))
    new = times[int(0.95 * len(times))]
    script = OLD_SESSIONS.format(sessions=sessions, pace=PACE_S, folder=str(folder))
    told = subprocess.run(
        [str(python), "-c", script], cwd=tree, env={**os.environ, "PYTHONPATH": str(tree)}, check=True,
        capture_output=True, text=True,
    )  # fmt: skip
    old = float(told.stdout.split()[-1])
    return f"another snapshot, {sessions} sessions, 95th percentile, s", old, new, [ratio(old, new)]


def ratio(old: float, new: float) -> float:
    return new / old if old else float("nan")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--pairs", type=int, default=5)
    options.add_argument("--old", default="ab84dd4")
    options.add_argument("--old-tree", type=Path)
    options.add_argument("--old-python", type=Path)
    options.add_argument("--sessions", type=int, default=50)
    chosen = options.parse_args()
    tree, python = (
        (chosen.old_tree, chosen.old_python or chosen.old_tree / ".venv/bin/python")
        if chosen.old_tree
        else check_out(chosen.old)
    )
    contenders = [old_page(tree, python), new_page()]
    measured: dict[str, list[Measured]] = {one.name: [] for one in contenders}
    with tempfile.TemporaryDirectory() as work:
        table = str(make_table(Path(work)))
        for number in range(chosen.pairs):
            for one in contenders if number % 2 else reversed(contenders):
                measured[one.name].append(asyncio.run(measure(one, table)))
                print(one.name, measured[one.name][-1], flush=True)
    names = {
        "browser_cpu": "browser CPU of a first page, s", "server_cpu": "server CPU of a session, s",
        "kilobytes": "sent to a fresh browser, kB", "visible": "graph visible after, s", "step_cpu": "CPU of a step, s",
    }  # fmt: skip
    rows = []
    for key, title in names.items():
        old, new = ([getattr(one, key) for one in measured[name]] for name in ("old", "new"))
        rows.append((title, statistics.median(old), statistics.median(new), [*map(ratio, old, new)]))
    old, new = ([statistics.median(one.steps) for one in measured[name]] for name in ("old", "new"))
    rows.append(("a step in the graph, s", statistics.median(old), statistics.median(new), [*map(ratio, old, new)]))
    if chosen.sessions:
        rows.append(sessions_row(tree, python, chosen.sessions))
    text = [
        f"{chosen.pairs} pairs on {os.cpu_count()} cores, Python {platform.python_version()}; medians:", "",
        f"| what | {chosen.old} | new page | ratio (least to most) |", "|---|--:|--:|--:|",
        *(f"| {title} | {a:.3g} | {b:.3g} | {statistics.median(r):.3f} ({min(r):.3f} to {max(r):.3f}) |"
          for title, a, b, r in rows),
    ]  # fmt: skip
    pages.put(PAGE, text)
    print("\n".join(text))


if __name__ == "__main__":
    main()
