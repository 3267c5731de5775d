"""Pages in the making: each takes the thread that all pages have, so visitors have them made in turn.

For the event loop of one server: nothing here may be called from another thread."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import Counter, OrderedDict
from collections.abc import AsyncIterator, Callable

EACH, TOGETHER = 1, 4
"""Pages of one visitor that are made at once, and of all: to make one hardly ever waits for anything."""
WAITING, OPEN = 50, 500
"""Pages of one visitor that may wait for their turn, and that may be open: an office may share an address."""
REST, LONGEST_REST_S = 1.0, 1.0
"""After a page its visitor's next one waits so many times as long as that took, up to so many seconds."""
REMEMBERED = 10_000
"""Visitors of whom it is known when they had their last turn."""


class TooMany(Exception):
    """A visitor has so many pages that no more are made for now."""


class VisitorLeft(Exception):
    """Who waited for a page has left."""


class _Waiting:
    """A page that waits for its turn. It may leave."""

    def __init__(self, visitor: str) -> None:
        self.visitor = visitor
        self.called = asyncio.Event()
        self.left = False


class Arrivals:
    """Whose page is made next: of the visitors who have none in the making, the one whose last turn is the longest
    ago."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._waiting: list[_Waiting] = []
        self._making: Counter[str] = Counter()
        self._resting: set[str] = set()
        self._open: Counter[str] = Counter()
        self._last: OrderedDict[str, int] = OrderedDict()
        self._turns = 0

    def check(self, visitor: str) -> None:
        """Raise TooMany for a visitor who has as many pages as one may have."""
        waiting = sum(page.visitor == visitor for page in self._waiting)
        if waiting >= WAITING or self._open[visitor] >= OPEN:
            raise TooMany("You have very many pages open, or opened very many at once. Close some, or try again later.")

    @contextlib.asynccontextmanager
    async def turn(self, visitor: str, leaving: Callable[[Callable[[], None]], None]) -> AsyncIterator[None]:
        """While the visitor's page is made.

        Args:
            visitor: Who wants it: a name, or an address.
            leaving: Takes what is to be called when they leave.

        Raises:
            TooMany: They have as many as one may have.
            VisitorLeft: They left before it was their turn.
        """
        self.check(visitor)
        page = _Waiting(visitor)
        self._waiting.append(page)
        leaving(lambda: self._leave(page))
        self._call()
        try:
            await page.called.wait()
            if page.left:
                raise VisitorLeft
            began = self._clock()
            try:
                yield
            finally:
                self._finish(visitor, self._clock() - began)
        finally:
            if page in self._waiting:  # who waited was cancelled
                self._waiting.remove(page)

    def count_open_page(self, visitor: str) -> Callable[[], None]:
        """Count a page that is open now; call what is returned when it is no more."""
        self._open[visitor] += 1
        open_still = [True]

        def close() -> None:
            if open_still:
                open_still.clear()
                _count_down(self._open, visitor)

        return close

    def counts(self) -> tuple[int, int]:
        """How many pages are made, and how many wait."""
        return self._making.total(), len(self._waiting)

    def _leave(self, page: _Waiting) -> None:
        if page in self._waiting:
            self._waiting.remove(page)
            page.left = True
            page.called.set()

    def _call(self) -> None:
        while self._making.total() < TOGETHER:
            free = [p for p in self._waiting if self._making[p.visitor] < EACH and p.visitor not in self._resting]
            if not free:
                return
            page = min(free, key=lambda p: self._last.get(p.visitor, 0))  # of equals the oldest
            self._waiting.remove(page)
            self._making[page.visitor] += 1
            self._turns += 1
            self._last.pop(page.visitor, None)
            self._last[page.visitor] = self._turns
            if len(self._last) > REMEMBERED:
                self._last.popitem(last=False)
            page.called.set()

    def _finish(self, visitor: str, seconds: float) -> None:
        _count_down(self._making, visitor)
        self._resting.add(visitor)
        asyncio.get_running_loop().call_later(min(LONGEST_REST_S, REST * seconds), self._end_rest, visitor)
        self._call()

    def _end_rest(self, visitor: str) -> None:
        self._resting.discard(visitor)
        self._call()


def _count_down(counted: Counter[str], visitor: str) -> None:
    counted[visitor] -= 1
    if counted[visitor] <= 0:
        del counted[visitor]
