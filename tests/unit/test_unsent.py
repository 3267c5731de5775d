"""What is written to a page comes to it, whatever was sent just before (see ui.unsent)."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest
from bokeh.document import Document
from panel.io import document as panels

import explorer.ui.widgets  # noqa: F401  (has them remembered)


class Socket:
    """One that takes what it is sent only when it is told to."""

    def __init__(self) -> None:
        self.sent: list[str] = []
        self.taken: list[asyncio.Future[None]] = []

    def send(self, text: str) -> list[asyncio.Future[None]]:
        self.sent.append(text)
        self.taken.append(asyncio.get_running_loop().create_future())
        return self.taken[-1:]


class Connection:
    """What a document knows of a page."""

    def __init__(self, socket: Socket) -> None:
        self._socket = socket
        self.protocol = SimpleNamespace(create=lambda kind, events: events[0])


def test_nothing_stays_unsent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(panels.extra_socket_handlers, Socket, lambda page, msg: page._socket.send(msg))
    document, socket = Document(), Socket()
    page: Any = Connection(socket)

    async def written() -> None:
        for number, text in enumerate(["first", "second", "third"]):
            if number:
                socket.taken[-1].set_result(None)
            panels.schedule_write_events(document, [page], [text])  # type: ignore[list-item]
            for _ in range(5):
                await asyncio.sleep(0)

    asyncio.run(written())
    assert socket.sent == ["first", "second", "third"]
