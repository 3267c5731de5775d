"""The lesson of docs/lesson.md from start to end with simulated seats: each sends the messages of a page to one server,
which this starts. Nothing draws them. Writes what it measured into that page, with the load beside it.

    python -m benchmarks.lesson [--seats 30] [--spread 20]

In each part every seat begins within `spread` seconds, as a class does that is told to, and clicks again as soon as
everything that a click brings has come. A time is from a click until then. The server uses this machine's cache: it has
kept Spark's classes if Spark ran here before, as on a teacher's machine."""

from __future__ import annotations

import argparse
import asyncio
import os
import platform
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from benchmarks import pages
from benchmarks.clients import ROOT, Client, Served, serve
from explorer.storage.data_dirs import cache_home

APPENDS = ("append", "append")
FIGURE_4 = "AABBABABABBBB"
READER = ("read", "cow-delete", "expire")
EXPIRED = "AABBBBBCCCCCA"


@dataclass
class Seat:
    """A person of the class.

    Args:
        served: The server.
        times: Seconds that the clicks of the part under way took, of all seats.
    """

    served: Served
    times: list[float] = field(default_factory=list)
    client: Client = field(init=False)

    async def click(self, act: Awaitable[Any]) -> Any:
        """Do something, and note how long it took."""
        began = time.perf_counter()
        result = await act
        self.times.append(time.perf_counter() - began)
        return result

    async def open(self, table: str) -> Any:
        """The facts of a table and its graph; returns the facts."""
        facts = await self.client.request("open", table=table)
        await self.client.request("graph", table=table, levels=True)
        return facts

    async def first(self) -> None:
        """Minute 0: the page, and the first table."""

        async def come() -> None:
            self.client = await self.served.client()
            await self.client.request("hello")
            await self.open("demo.three_inserts")

        await self.click(come())

    async def another(self) -> None:
        """Minute 5: the table of figures 7 and 8."""
        await self.click(self.open("demo.manifest_lifecycle"))

    async def history(self) -> None:
        """Minute 7: back to the first snapshot and forth to the last."""
        table = "demo.manifest_lifecycle"
        newest_first = [one["id"] for one in (await self.client.request("open", table=table))["snapshots"]]

        async def step(snapshot: str) -> None:
            drawn = await self.client.request("graph", table=table, action={"type": "snapshot", "id": snapshot})
            assert drawn["snapshot"] == snapshot
            await self.client.request("facts", table=table, snapshot=snapshot)

        for snapshot in (*newest_first[1:], *newest_first[-2::-1]):
            await self.click(step(snapshot))

    async def deletes(self) -> None:
        """Minute 16: another table, and which of its deletes apply to which files."""
        table = "demo.equality_deletes"
        await self.open(table)
        asked = self.client.request("ask", table=table, question="inspect deletes")
        _, answer = await self.click(asyncio.gather(self.client.request("graph", table=table, mode="deletes"), asked))
        pairs = next(block for block in answer["blocks"] if block["kind"] == "rows")
        assert sorted(row[4] for row in pairs["rows"]) == ["False", "False", "True"]

    async def row_history(self) -> None:
        """Minute 20: what became of jack."""
        given = {"where": "name = 'jack'"}
        asked = self.client.request("ask", table="demo.equality_deletes", question="data history", arguments=given)
        assert "appeared" in str(await self.click(asked))

    async def lab(self, action: str, **arguments: object) -> Any:
        return (await self.client.request("lab", action=action, arguments=arguments)).get("run")

    async def new_run(self, operations: tuple[str, ...]) -> Any:
        return await self.lab("new", lanes=[{"operation": one} for one in operations])

    async def steps(self, order: str) -> list[tuple[str, str]]:
        """Step the lanes; returns what each step came to."""
        for writer in order:
            run = await self.click(self.lab("step", token=writer))
        return [(one["step"], one["outcome"]) for one in run["steps"]]

    async def begin(self) -> None:
        """Minute 25: the lab, and a run of two appends."""
        await self.lab("choices")
        await self.click(self.new_run(APPENDS))

    async def two(self) -> None:
        """Minute 26: figure 4, the loser's next attempt, and the graph of the run."""
        assert (await self.steps(FIGURE_4)).count(("swap", "committed")) == 2
        await self.client.request("graph", table="", mode="lab")

    async def reader(self) -> None:
        """Minute 33: a reader, a copy-on-write DELETE and an expiry."""
        await self.new_run(READER)
        assert ("read", "failed") in await self.steps(EXPIRED)

    async def copy(self) -> None:
        """Afterwards: a copy of a teaching table, which a student may change."""

        async def make() -> Any:
            given = {"teaching_table": "three_inserts"}
            made = await self.client.request("ask", question="lab copy", arguments=given)
            return await self.open(f"sandbox.{made['blocks'][0]['lines'][0]}")

        assert (await self.click(make()))["writing"] == "here"


PARTS: tuple[tuple[str, Callable[[Seat], Awaitable[None]]], ...] = (
    ("0: the page and its first table", Seat.first),
    ("5: another table", Seat.another),
    ("7: a step through its history", Seat.history),
    ("16: which deletes apply", Seat.deletes),
    ("20: the row history of jack", Seat.row_history),
    ("25: a fresh run in the lab", Seat.begin),
    ("26: a step of a commit", Seat.two),
    ("33: a step of three lanes", Seat.reader),
    ("after: a copy to change", Seat.copy),
)


async def play(served: Served, seats: int, spread: float) -> list[str]:
    """Play every part, by all seats at once; before the first the teacher has waked Spark and the lab.

    Returns:
        A row of a table for each part.
    """
    rng = random.Random(17)
    teacher = Seat(served, [])
    await teacher.first()
    await teacher.new_run(APPENDS)
    times: list[float] = []
    everybody = [Seat(served, times) for _ in range(seats)]
    rows = []
    for name, part in PARTS:
        times.clear()

        async def one(seat: Seat, part: Callable[[Seat], Awaitable[None]] = part) -> None:
            await asyncio.sleep(rng.uniform(0, spread))
            await part(seat)

        began, spent = time.perf_counter(), served.processor_s()
        await asyncio.gather(*map(one, everybody))
        took, spent = time.perf_counter() - began, served.processor_s() - spent
        rows.append(f"| {name} | {pages.spread(times)} | {took:.0f} | {spent:.1f} | {os.getloadavg()[0]:.1f} |")
        print(rows[-1], flush=True)
    return rows


async def measure(seats: int, spread: float) -> list[str]:
    """Return the lines of the document."""
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as home:
        demo = [sys.executable, "-m", "explorer.cli", "demo"]
        subprocess.run(demo, env={**os.environ, "ICEDIVE_HOME": home}, capture_output=True, check=True)
        async with serve(home, str(cache_home())) as served:
            rows = await play(served, seats, spread)
            memory = served.memory_mib()
    return [
        f"{seats} seats and their server on one machine of {os.cpu_count()} cores, Python {platform.python_version()}. "
        f"Every seat begins a part within {spread:g} s.",
        f"Load (runnable processes, of a minute) before: {load:.1f}. The server, with Spark, takes {memory:,.0f} MiB "
        "at the end.",
        "",
        "| minute | clicks | median s | 95 of 100 within s | slowest s | all after s | server's CPU s | load |",
        "|---|--:|--:|--:|--:|--:|--:|--:|", *rows,
    ]  # fmt: skip


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--seats", type=int, default=30)
    options.add_argument("--spread", type=float, default=20)
    chosen = options.parse_args()
    pages.put(ROOT / "docs" / "lesson-measured.md", asyncio.run(measure(chosen.seats, chosen.spread)))


if __name__ == "__main__":
    main()
