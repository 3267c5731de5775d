"""Pages that visitors open at once: each has one made at a time, and others go ahead of who opens many."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import panel as pn
import pytest
from bokeh.document import Document
from panel.io.state import set_curdoc
from tornado.httpclient import AsyncHTTPClient

from explorer.serving import arrivals
from explorer.serving.arrivals import Arrivals, TooMany, VisitorLeft
from explorer.ui import app, visitors
from explorer.ui.access import Doorkeeper
from explorer.ui.first import FirstPage
from tests.support.helpers import run_apart
from tests.unit.test_background import until

STAY = {"unused_session_lifetime_milliseconds": 10**9}
"""Sessions of pages that nobody connects to stay, however slow the machine is."""


def stays(_: Callable[[], None]) -> None:
    """Who does not leave."""


class Makers:
    """Pages that are made when the test says so."""

    def __init__(self) -> None:
        self.arrivals = Arrivals(lambda: 0.0)
        self.order: list[str] = []
        self.done: dict[str, asyncio.Event] = {}
        self.tasks: dict[str, asyncio.Task[None]] = {}

    def come(self, page: str) -> None:
        """A page of the visitor whose name is its first letter."""
        self.done[page] = asyncio.Event()
        self.tasks[page] = asyncio.create_task(self._make(page))

    async def _make(self, page: str) -> None:
        async with self.arrivals.turn(page[0], stays):
            self.order.append(page)
            await self.done[page].wait()

    async def finish(self, page: str) -> None:
        await until(lambda: page in self.order)
        self.done[page].set()
        await self.tasks[page]


def test_a_visitor_has_one_page_made_at_a_time_and_others_go_ahead() -> None:
    async def test() -> None:
        makers = Makers()
        for n in range(10):
            makers.come(f"a{n}")
        await until(lambda: makers.arrivals.counts() == (1, 9))
        makers.come("b0")
        await until(lambda: makers.order == ["a0", "b0"])
        makers.come("b1")
        await makers.finish("b0")
        await makers.finish("a0")
        for page in ("b1", *(f"a{n}" for n in range(1, 10))):
            await makers.finish(page)
        assert makers.arrivals.counts() == (0, 0)
        assert not makers.arrivals._making

    run_apart(lambda: asyncio.wait_for(test(), 30))


def test_of_those_who_wait_one_goes_first_whose_last_turn_is_longest_ago(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrivals, "TOGETHER", 1)

    async def test() -> None:
        makers = Makers()
        for page in ("a0", "a1", "a2", "b0", "b1", "c0"):
            makers.come(page)
        for page in ("a0", "b0", "c0", "a1", "b1", "a2"):
            await makers.finish(page)
        assert makers.order == ["a0", "b0", "c0", "a1", "b1", "a2"]

    run_apart(lambda: asyncio.wait_for(test(), 30))


def test_the_thread_is_others_for_as_long_as_a_page_took(monkeypatch: pytest.MonkeyPatch) -> None:
    """What others wait for is done between two pages of one visitor."""

    async def test() -> None:
        rests: list[float] = []
        loop = asyncio.get_running_loop()
        later = loop.call_later
        monkeypatch.setattr(loop, "call_later", lambda s, *more: rests.append(s) or later(0, *more))
        now = [0.0]
        turns = Arrivals(lambda: now[0])

        async def make(seconds: float) -> None:
            async with turns.turn("a", stays):
                now[0] += seconds

        await asyncio.gather(make(0.25), make(60.0), make(0.1))
        assert rests == pytest.approx([0.25, arrivals.LONGEST_REST_S, 0.1])

    run_apart(lambda: asyncio.wait_for(test(), 30))


def test_who_leaves_waits_no_more() -> None:
    async def test() -> None:
        turns, held, leave = Arrivals(), asyncio.Event(), list[Callable[[], None]]()

        async def make(leaving: Callable[[Callable[[], None]], None]) -> None:
            async with turns.turn("a", leaving):
                await held.wait()

        first = asyncio.create_task(make(stays))
        late = asyncio.create_task(make(leave.append))
        other = asyncio.create_task(make(stays))
        await until(lambda: turns.counts() == (1, 2))
        leave[0]()
        with pytest.raises(VisitorLeft):
            await late
        other.cancel()
        with pytest.raises(asyncio.CancelledError):
            await other
        assert turns.counts() == (1, 0)
        leave[0]()
        held.set()
        await first
        assert turns.counts() == (0, 0)

    run_apart(lambda: asyncio.wait_for(test(), 30))


def test_a_visitor_has_so_many_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrivals, "WAITING", 3)
    monkeypatch.setattr(arrivals, "OPEN", 2)

    async def test() -> None:
        makers = Makers()
        for n in range(4):
            makers.come(f"a{n}")
        await until(lambda: makers.arrivals.counts() == (1, 3))
        with pytest.raises(TooMany):
            makers.arrivals.check("a")
        makers.arrivals.check("b")
        for n in range(4):
            await makers.finish(f"a{n}")
        closed = [makers.arrivals.count_open_page("a") for _ in range(2)]
        with pytest.raises(TooMany):
            makers.arrivals.check("a")
        closed[0]()
        closed[0]()
        makers.arrivals.check("a")
        makers.arrivals.count_open_page("a")
        with pytest.raises(TooMany):
            makers.arrivals.check("a")

    run_apart(lambda: asyncio.wait_for(test(), 30))


def test_of_many_visitors_the_last_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrivals, "REMEMBERED", 5)

    async def test() -> None:
        turns = Arrivals()
        for n in range(20):
            async with turns.turn(f"v{n}", stays):
                pass
        assert len(turns._last) == 5
        assert not turns._making
        assert not turns._open

    run_apart(lambda: asyncio.wait_for(test(), 30))


def test_pages_of_one_visitor_do_not_hold_up_those_of_another(whole: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Forty at once were made one after the other, and nobody else was answered for five seconds."""
    made: list[str] = []
    once = FirstPage._panels

    async def noted(self: FirstPage, *args: Any, **kwargs: Any) -> None:
        made.append(str(self.request.remote_ip))
        await once(self, *args, **kwargs)

    monkeypatch.setattr(FirstPage, "_panels", noted)
    monkeypatch.setattr(arrivals, "OPEN", 14)

    async def test() -> None:
        server: Any = pn.serve({"/": app.create}, port=0, start=False, show=False, verbose=False, **STAY)
        access = Doorkeeper()
        access.guard(server._tornado)
        server.start()
        headers = {"Cookie": f"icedive-{server.port}={access.cookie}"}
        client = AsyncHTTPClient(force_instance=True, max_clients=100, defaults={"request_timeout": 200})
        url = f"http://localhost:{server.port}/?view=graph&table={whole}"
        greedy = [
            asyncio.ensure_future(client.fetch(url, headers=headers, network_interface="127.0.0.2")) for _ in range(12)
        ]
        await until(lambda: len(made) >= 2)
        before = len(made)
        other = await client.fetch(url, headers=headers, network_interface="127.0.0.1")
        assert other.code == 200
        assert made.index("127.0.0.1") <= before + 2
        pages = await asyncio.gather(*greedy)
        assert {page.code for page in pages} == {200}
        assert made.count("127.0.0.2") == 12
        answers = [
            await client.fetch(url, headers=headers, network_interface="127.0.0.2", raise_error=False) for _ in range(3)
        ]
        assert [answer.code for answer in answers] == [200, 200, 429]
        server.stop()

    run_apart(lambda: asyncio.wait_for(test(), 300))


def test_a_name_is_the_one_that_was_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever sends the cookie of a guest is called one by Panel, in the audit log, too."""
    page = Document()
    monkeypatch.setattr(type(pn.state), "user", property(lambda _: "guest"))
    with set_curdoc(page):
        assert visitors.viewer() == "guest"
        visitors.remember_visitor(page, "jane", "10.0.0.1")
        assert (visitors.viewer(), visitors.visitor()) == ("jane", "jane")
        visitors.remember_visitor(page, "", "10.0.0.1")
        assert visitors.visitor() == "10.0.0.1"
        assert visitors._name() == ""
