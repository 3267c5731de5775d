"""The pages that are open: so many of one visitor, and of all together. Where there is no room, a page ends of the
visitor who has most, so that nobody keeps others out by opening many."""

from __future__ import annotations

from collections.abc import Callable

from explorer.serving.attempts import network

MOST_OPEN, MOST_TOGETHER = 200, 500
"""Pages of one visitor (an office may share an address), and of all."""
Close = Callable[[], None]


def visitor_at(address: str | None) -> str:
    """Return who comes from an address: of IPv6 a network, of which somebody has 2**64 addresses.

    Args:
        address: The address, if it is known.
    """
    return network(address or "")


class OpenPages:
    """Those of one server."""

    def __init__(self) -> None:
        self._pages: dict[str, list[Close]] = {}

    def __len__(self) -> int:
        return sum(map(len, self._pages.values()))

    def add(self, visitor: str, close: Close) -> bool:
        """Take in a page, if there is room or somebody has more.

        Args:
            visitor: Whose it is.
            close: Ends it.

        Returns:
            Whether it may stay.
        """
        own = len(self._pages.get(visitor, ()))
        if own >= MOST_OPEN:
            return False
        if len(self) >= MOST_TOGETHER:
            most = max(self._pages, key=lambda one: len(self._pages[one]))
            if len(self._pages[most]) <= own + 1:
                return False
            oldest = self._pages[most][0]
            self.remove(most, oldest)
            oldest()
        self._pages.setdefault(visitor, []).append(close)
        return True

    def remove(self, visitor: str, close: Close) -> None:
        """A page is gone, if it was there."""
        pages = self._pages.get(visitor, [])
        if close in pages:
            pages.remove(close)
        if not pages:
            self._pages.pop(visitor, None)
