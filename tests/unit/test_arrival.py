"""What a server keeps of pages that came and went, and what a session takes over of a page's first part."""

from __future__ import annotations

import asyncio
import gc
import weakref
from pathlib import Path
from typing import Any

import panel as pn
import pytest

from benchmarks.sessions import come
from explorer.progress import Cancelled, Watch, steps
from explorer.ui import app, first
from explorer.ui.access import Access
from explorer.ui.pools import CLICKS
from tests.unit.test_background import Gate, until


def test_of_a_page_that_was_closed_nothing_is_kept(whole: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    once = first.opened
    for module in (first, app):
        monkeypatch.setattr(module, "opened", lambda name, *more: opened.append(name) or once(name, *more))

    async def test() -> None:
        options: Any = {"start": False, "show": False, "verbose": False, "check_unused_sessions_milliseconds": 100}
        server: Any = pn.serve({"/": app.create}, port=0, **options)
        access = Access()
        access.guard(server._tornado)
        server.start()
        url, cookie = f"http://localhost:{server.port}/", f"iceberg-explorer-{server.port}={access.cookie}"
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
