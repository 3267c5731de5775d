"""How much a page may send over its socket: a burst, and then so much a second."""

from __future__ import annotations

import asyncio
import time

BURST, EACH_SECOND, LEAST = 2 << 20, 128 << 10, 2 << 10
"""Characters at once, and each second; and as how many a message counts at least. Reading a million takes the event
loop up to 72 ms, and they come in a packed message of a thousand bytes."""
LARGE = 16 << 10
"""Larger messages count for the visitor too, whose pages share one allowance for them: small ones of an honest page
never wait for the large ones of another at the same address."""
MOST_KNOWN = 1_000


class Allowance:
    """What senders may still send."""

    def __init__(self) -> None:
        self._used: dict[object, tuple[float, float]] = {}
        """By sender: what counts as sent, and when it was counted; it grows less each second."""

    def take(self, sender: object, size: int) -> float:
        """Count a message.

        Args:
            sender: Who sends it.
            size: Its characters or bytes, unpacked.

        Returns:
            Seconds to wait before it is read.
        """
        now = time.monotonic()
        used, since = self._used.get(sender, (0.0, now))
        used = max(0.0, used - (now - since) * EACH_SECOND) + max(size, LEAST)
        self._used[sender] = used, now
        if len(self._used) > MOST_KNOWN:
            again_s = BURST / EACH_SECOND  # then all may be sent again
            self._used = {who: known for who, known in self._used.items() if now - known[1] < again_s}
        return max(0.0, used - BURST) / EACH_SECOND


_VISITORS = Allowance()


class Inflow:
    """What comes over one socket.

    Args:
        visitor: Whose page it is.
    """

    def __init__(self, visitor: str) -> None:
        self._visitor, self._own = visitor, Allowance()

    async def wait(self, message: str | bytes) -> None:
        """Wait until a message may be read; meanwhile the server takes no other of this socket (Tornado)."""
        pause = self._own.take("", len(message))
        if len(message) > LARGE:
            pause = max(pause, _VISITORS.take(self._visitor, len(message)))
        if pause:
            await asyncio.sleep(pause)
