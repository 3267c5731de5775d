"""The WebSocket of Panel's pages: what comes is checked (serving.messages) before Bokeh decodes it."""

from __future__ import annotations

import logging
from typing import Any, ClassVar

from bokeh.protocol.message import Message
from panel.io.server import WSHandler

from explorer.serving.allowance import Inflow
from explorer.serving.messages import Messages, RefusedMessage
from explorer.serving.open_pages import OpenPages, visitor_at

log = logging.getLogger(__name__)
POLICY_VIOLATION, INTERNAL_ERROR = 1008, 1011
"""What a WebSocket is closed with (RFC 6455, 7.4.1)."""
BOKEH_ERROR, BOKEH_PROTOCOL_ERROR = 10000, 10001
"""What Bokeh closes one with, for a reason that quotes what failed."""
FAILED = "The server could not do this; its log says why."


class CheckedSocket(WSHandler):
    """Bokeh's handler; a connection ends with the first message that no page of ours sends."""

    _pages: ClassVar[OpenPages] = OpenPages()
    _visitors: ClassVar[dict[str, str]] = {}
    """By the id of a session: who looks at it."""

    @classmethod
    def visitor_of(cls, session_id: str) -> str:
        """Return who looks at a session; empty where it did not come through our door. A session itself knows only
        what the browser says, also of where it comes from."""
        return cls._visitors.get(session_id, "")

    def open(self, *args: Any, **options: Any) -> Any:
        """See Bokeh."""
        self._refused = False
        self._visitor, self._session_id = visitor_at(self.request.remote_ip), ""
        self._inflow = Inflow(self._visitor)
        if not self._pages.add(self._visitor, self._end):
            self._end()
            return None
        self._messages = Messages(lambda: _Page(self.connection.session.document) if self.connection else None)
        return super().open(*args, **options)

    async def on_message(self, fragment: str | bytes) -> None:
        """See Bokeh."""
        if self._refused:  # what comes before the connection is closed
            return
        if self.connection is not None and not self._session_id:
            self._session_id = self.connection.session.id
            self._visitors[self._session_id] = self._visitor
        await self._inflow.wait(fragment)
        try:
            checked = self._messages.take(fragment)
        except RefusedMessage as refused:
            log.warning("a message of a page was refused: %s", refused)
            self._refused = True
            self.close(POLICY_VIOLATION, "refused")
            return
        await super().on_message(checked)

    def _end(self) -> None:
        """There is no room for it."""
        self._refused = True
        self.close(POLICY_VIOLATION, "too many pages")

    def on_close(self) -> None:
        """See Bokeh."""
        self._pages.remove(self._visitor, self._end)
        self._visitors.pop(self._session_id, None)
        super().on_close()

    async def send_message(self, message: Message[Any]) -> None:
        """See Bokeh, whose errors have a traceback and paths of this machine: they are in the log."""
        if message.msgtype == "ERROR":
            message.content = {"text": FAILED, "traceback": None}
        await super().send_message(message)

    def close(self, code: int | None = None, reason: str | None = None) -> None:
        """See Tornado. What Bokeh quotes is in the log."""
        if code in (BOKEH_ERROR, BOKEH_PROTOCOL_ERROR):
            log.error("a page's connection is closed: %s", reason)
            code, reason = (INTERNAL_ERROR, FAILED) if code == BOKEH_ERROR else (POLICY_VIOLATION, "refused")
        super().close(code, reason)


class _Page:
    """The models of a document, as serving.messages asks of them."""

    def __init__(self, document: Any) -> None:
        self._document = document

    def kind_of(self, model_id: str) -> str | None:
        """See serving.messages.Page."""
        try:
            return type(self._document.models[model_id]).__name__
        except KeyError:
            return None
