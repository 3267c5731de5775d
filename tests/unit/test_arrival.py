"""What a server keeps of pages that came and went, and what a session takes over of a page's first part."""

from __future__ import annotations

import asyncio
import gc
import time
import weakref
from pathlib import Path
from typing import Any

import panel as pn
import pytest
from tornado.httpclient import AsyncHTTPClient

from benchmarks.sessions import come
from explorer.progress import Cancelled, Watch, steps
from explorer.serving.pools import CLICKS, FIRST
from explorer.ui import app, first
from explorer.ui.access import Doorkeeper
from tests.unit.test_background import Gate, until


def test_of_a_page_that_was_closed_nothing_is_kept(whole: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    once = first.opened
    for module in (first, app):
        monkeypatch.setattr(module, "opened", lambda name, *more: opened.append(name) or once(name, *more))

    async def test() -> None:
        options: Any = {"start": False, "show": False, "verbose": False, "check_unused_sessions_milliseconds": 100}
        server: Any = pn.serve({"/": app.create}, port=0, **options)
        access = Doorkeeper()
        access.guard(server._tornado)
        server.start()
        url, cookie = f"http://localhost:{server.port}/", f"icedive-{server.port}={access.cookie}"
        before, pages = len(pn.state._views), []
        for _ in range(3):
            seat, _ = await come(url, cookie, table=str(whole), view="graph")
            pages += [weakref.ref(session.document) for session in server.get_sessions("/")]
            listening = asyncio.create_task(seat.listen())
            await until(lambda seat=seat: any("view=graph" in place for place in seat.places))
            listening.cancel()
            seat.socket.close()
            await until(lambda: not server.get_sessions("/"))
        server.stop()
        assert len(pages) == 3
        await asyncio.sleep(0.2)  # what the loop still holds
        gc.collect()
        assert [page for page in pages if page() is not None] == []
        assert len(pn.state._views) == before

    asyncio.run(test())
    assert opened == [str(whole)] * 3  # once a page, though its first part shows it, too


def test_who_waits_for_what_was_begun_is_told_and_can_cancel() -> None:
    gate, watch = Gate(), Watch()

    def begun() -> None:
        for _ in steps(range(1_000_000), "manifests"):
            gate.entered.set()
            gate.open.wait(0.005)

    task = CLICKS.submit(begun, object())
    assert gate.entered.wait(5)

    async def test() -> None:
        def join() -> None:
            with watch.listening():
                task.joined()

        joined = asyncio.create_task(asyncio.to_thread(join))
        await until(lambda: watch.what == "manifests" and watch.total == 1_000_000)
        watch.cancel()
        with pytest.raises(Cancelled):
            await joined

    asyncio.run(test())


def test_first_parts_take_no_clicks_and_end_when_nobody_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Requests for pages of tables that take long to open, whose sessions never come."""
    monkeypatch.setattr(first, "LEFT_S", 3600)
    began: list[str] = []

    def opened(name: str, *more: Any) -> Any:
        began.append(name)
        for _ in steps(range(1_000_000), "manifests"):
            time.sleep(0.005)

    monkeypatch.setattr(first, "opened", opened)

    async def test() -> None:
        server: Any = pn.serve({"/": app.create}, port=0, start=False, show=False, verbose=False)
        access = Doorkeeper()
        access.guard(server._tornado)
        server.start()
        headers = {"Cookie": f"icedive-{server.port}={access.cookie}"}
        client = AsyncHTTPClient(force_instance=True)
        url = f"http://localhost:{server.port}/?view=graph&table="
        pages = await asyncio.gather(*(client.fetch(f"{url}/slow/{n}", headers=headers) for n in range(6)))
        assert {page.code for page in pages} == {200}
        assert FIRST.counts()[0] == 1  # one address, one thread
        await asyncio.wait_for(asyncio.wrap_future(CLICKS.submit(lambda: None, "somebody").answer), 5)
        await until(lambda: CLICKS.counts() == (0, 0))
        FIRST.stop()
        await until(lambda: FIRST.counts() == (0, 0))
        assert len(began) < 6  # those that waited never began
        monkeypatch.setattr(first, "LEFT_S", 0.1)
        await client.fetch(f"{url}/slow/again", headers=headers)
        await until(lambda: FIRST.counts() == (0, 0))
        server.stop()

    asyncio.run(test())
    assert began[-1] == "/slow/again"
