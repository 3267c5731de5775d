"""What `make attacks` measures: any table of at most 2 MB of metadata gets an answer or a refusal within 10 seconds of
the processor and 1 GiB, and meanwhile a server answers an honest click within a second.

Both go by the clock, so no test of `make test` does it; what holds them there counts
(tests/unit/test_processor_time.py, tests/unit/test_background.py)."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
import random
import statistics
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from benchmarks.clients import Client, Refused, Served, serve
from explorer.storage import processor_time
from tests.security.bounds import ENDS, MOST_SECONDS, compact, measured
from tests.security.dimensions import DIMENSIONS, make
from tests.security.test_growth import COMMANDS

pytestmark = [
    pytest.mark.skipif("ICEDIVE_EVERY_BOUND" not in os.environ, reason="hours: make attacks does it"),
    pytest.mark.timeout(7_200),  # each runs fifty commands, on a machine that may be busy
]
STARTED_S = 2.0
"""What Python's start takes of the processor: commands are measured without it."""


@pytest.fixture(autouse=True)
def own_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """The limits are those of a person who sets none."""
    monkeypatch.delenv(processor_time.VARIABLE, raising=False)


WORST = {"snapshots": 110_000, "entries of one path": 250_000, "branches on a chain, of many ages": 60_000}
"""Dimensions whose largest tables keep the server busy for the longest; none has 2 MB of metadata."""
ATTACKERS, MANY, ATTACK_S, CLICKS = 3, 20, 90, 20
CLICK_S = 1.0
Stranger = Callable[[int, Served, list[Path]], Coroutine[Any, Any, None]]
HEAVY = ("doctor", "inspect files", "history lifecycle", "inspect deletes", "health", "overview", "show", "plan")


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzipped"])
@pytest.mark.parametrize("name", DIMENSIONS)
def test_small_metadata_takes_little(name: str, packed: bool, tmp_path: Path) -> None:
    limit = MOST_SECONDS - STARTED_S
    wrong = [
        f"{command} ({n:,}): {taken}"
        for _, n, command, taken in measured(tmp_path, [name], COMMANDS, packed, all_of_it=True)
        if taken.seconds > limit or taken.too_much or taken.code not in ENDS
    ]
    assert not wrong, "\n".join(wrong)


def test_an_honest_click_is_answered_meanwhile(tmp_path: Path) -> None:
    """A stranger's sessions open the worst tables, look at what takes longest, and come again."""
    worst = [compact(make(tmp_path / f"worst-{i}", name, n), True) for i, (name, n) in enumerate(WORST.items())]
    _check_clicks(tmp_path, worst, [_come_again] * ATTACKERS)


def test_an_honest_click_is_answered_beside_many_who_ask_little_again_and_again(tmp_path: Path) -> None:
    """Twenty sessions at the same address, each of which always has a question that takes half a second."""
    tables = [compact(make(tmp_path / f"table-{i}", name, n // 5), True) for i, (name, n) in enumerate(WORST.items())]
    _check_clicks(tmp_path, tables, [_ask_on] * MANY)


def _check_clicks(place: Path, tables: list[Path], strangers: list[Stranger]) -> None:
    honest = make(place / "honest", "commits, a manifest each", 20)
    alone, beside, share = asyncio.run(_clicks(honest, tables, place, strangers))
    told = f"alone {_told(alone)}, meanwhile {_told(beside)}, when the server had {share:.2f} of a core"
    print(told)
    assert len(beside) >= CLICKS, told
    assert statistics.quantiles(beside, n=20)[-1] * share < CLICK_S, told


def _told(seconds: list[float]) -> str:
    cut = statistics.quantiles(seconds, n=20)
    return f"median {statistics.median(seconds):.2f} s, 95 of 100 within {cut[-1]:.2f} s, slowest {max(seconds):.2f} s"


async def _clicks(
    honest: Path, tables: list[Path], work: Path, strangers: list[Stranger]
) -> tuple[list[float], list[float], float]:
    """Seconds that clicks on a small table took, alone and during the attack; and how much of a core the server, which
    always has something to do then, got from the machine."""
    async with serve(cache=str(work / "cache")) as served:
        client, table = await served.client(), str(honest)
        await client.request("open", table=table)
        names = itertools.cycle(f"snapshot-{n}" for n in range(2, 21))
        alone = [await _click(client, table, next(names)) for _ in range(20)]
        ends = time.monotonic() + ATTACK_S
        under_way = [asyncio.create_task(stranger(n, served, tables)) for n, stranger in enumerate(strangers)]
        await asyncio.sleep(5)
        beside, began, used = [], time.monotonic(), sum(served.process.cpu_times()[:2])
        while time.monotonic() < ends:
            beside.append(await _click(client, table, next(names)))
        used = sum(served.process.cpu_times()[:2]) - used
        for task in under_way:
            task.cancel()
        client.close()
        return alone, beside, min(1.0, used / (time.monotonic() - began))


async def _click(client: Client, table: str, name: str) -> float:
    """A person looks for a moment, then steps to a snapshot."""
    await asyncio.sleep(0.5)
    began = time.perf_counter()
    await client.request("graph", "graph", mode="table", table=table, snapshot=name)
    return time.perf_counter() - began


async def _come_again(number: int, served: Served, tables: list[Path]) -> None:
    rng = random.Random(number)
    while True:
        client, table, question = await served.client(), str(rng.choice(tables)), rng.choice(HEAVY)
        asked = [
            asyncio.create_task(client.request("graph", "graph", mode="table", table=table)),
            asyncio.create_task(_ask(client, question, table)),
        ]
        await asyncio.sleep(rng.uniform(1, 10))
        client.close()
        for task in asked:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError, Refused):
                await task


async def _ask_on(number: int, served: Served, tables: list[Path]) -> None:
    rng, client = random.Random(number), await served.client()
    while True:
        table = str(rng.choice(tables))
        with contextlib.suppress(Refused):
            await client.request("open", table=table)
            await _ask(client, rng.choice(HEAVY), table)


async def _ask(client: Client, question: str, table: str) -> None:
    arguments = {"where": "id = 1"} if question == "plan" else {}
    await client.request("ask", "ask", question=question, table=table, arguments=arguments)
