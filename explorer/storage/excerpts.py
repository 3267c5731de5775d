"""Bytes of files in messages: helpful to who owns the file, and not for visitors of a shared server."""

from __future__ import annotations

import os

HIDDEN = "ICEDIVE_HIDE_BYTES"
"""Set where no message may quote a file; child processes have it from their parent."""


def hide_bytes() -> None:
    """From now on, quote no file in this process and those that it starts."""
    os.environ[HIDDEN] = "1"


def quote(data: bytes) -> str:
    """Return some bytes as a message may show them."""
    return "other bytes" if HIDDEN in os.environ else repr(data)
