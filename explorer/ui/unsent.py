"""Panel 1.9 may forget messages to a page: one that is written when those before it have just been sent finds the note
gone that there is something to send, and stays until the next one is written. Under load the last of an answer stayed
so: a page stood still in its progress, with all its buttons disabled.

The note stays while there is something to send."""

from __future__ import annotations

from typing import Any

from panel.io import document as panels

_send = panels._dispatch_msgs


async def _send_and_note(document: Any) -> None:
    await _send(document)
    if panels._WRITE_MSGS.get(document):
        panels._WRITE_BLOCK[document] = True


def remember() -> None:
    """From now on, in this process."""
    panels._dispatch_msgs = _send_and_note
