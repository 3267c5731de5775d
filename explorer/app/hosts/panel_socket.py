"""The WebSocket of Panel's pages: what comes is checked (serving.messages) before Bokeh decodes it."""

from __future__ import annotations

import logging
from typing import Any

from bokeh.protocol.message import Message
from panel.io.server import WSHandler

from explorer.serving.allowance import Inflow
from explorer.serving.messages import Messages, RefusedMessage

log = logging.getLogger(__name__)
POLICY_VIOLATION, INTERNAL_ERROR = 1008, 1011
"""What a WebSocket is closed with (RFC 6455, 7.4.1)."""
BOKEH_ERROR, BOKEH_PROTOCOL_ERROR = 10000, 10001
"""What Bokeh closes one with, for a reason that quotes what failed."""
FAILED = "The server could not do this; its log says why."


class CheckedSocket(WSHandler):
    """Bokeh's handler; a connection ends with the first message that no page of ours sends."""

    def open(self, *args: Any, **options: Any) -> Any:
        """See Bokeh."""
        self._refused = False
        self._inflow = Inflow(self.request.remote_ip or "")
        self._messages = Messages(lambda: _Page(self.connection.session.document) if self.connection else None)
        return super().open(*args, **options)

    async def on_message(self, fragment: str | bytes) -> None:
        """See Bokeh."""
        if self._refused:  # what comes before the connection is closed
            return
        await self._inflow.wait(fragment)
        try:
            checked = self._messages.take(fragment)
        except RefusedMessage as refused:
            log.warning("a message of a page was refused: %s", refused)
            self._refused = True
            self.close(POLICY_VIOLATION, "refused")
            return
        await super().on_message(checked)

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
