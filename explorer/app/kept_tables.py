"""The tables that all sessions of this process keep open, with what they know of them: so much memory of one visitor,
and of all together. What was opened first goes, of whichever page it is: a page opens its table again when it asks."""

from __future__ import annotations

import threading
from collections import Counter, OrderedDict
from collections.abc import Callable, Collection, Hashable

from explorer.storage import limits

ANSWERS = 2
"""How often the memory of its metadata a table counts: its answers and graphs take about as much."""


class KeptTables:
    """Which session keeps which table."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[tuple[Hashable, str], tuple[str, int, Callable[[], None]]] = OrderedDict()

    def note(self, session: Hashable, visitor: str, table: str, size: int, forget: Callable[[], None]) -> None:
        """Note that a session keeps a table, and have others forgotten for it where they are too large together.

        Args:
            session: The session.
            visitor: Whose it is.
            table: The table's name.
            size: Bytes of memory that its metadata takes.
            forget: Has the session forget it.
        """
        with self._lock:
            self._kept.pop((session, table), None)
            self._kept[session, table] = visitor, ANSWERS * size, forget
            late = [*self._too_much(visitor)]
        for forget_other in late:
            forget_other()

    def remove(self, session: Hashable, tables: Collection[str] | None = None) -> None:
        """Note that a session keeps these tables no more, or none at all.

        Args:
            session: The session.
            tables: The tables; all if left out.
        """
        with self._lock:
            for key in [key for key in self._kept if key[0] is session and (tables is None or key[1] in tables)]:
                del self._kept[key]

    def sizes(self) -> Counter[str]:
        """Return how many bytes are kept for each visitor."""
        sizes: Counter[str] = Counter()
        for visitor, size, _ in self._kept.values():
            sizes[visitor] += size
        return sizes

    def _too_much(self, visitor: str) -> list[Callable[[], None]]:
        """Let go of what was kept least lately, until there is room: first of a visitor who has too much, then of who
        has most. What has just come stays."""
        late, sizes, newest = [], self.sizes(), next(reversed(self._kept))
        while sizes[visitor] > limits.share(2) or sizes.total() > limits.share(1):
            whose = visitor if sizes[visitor] > limits.share(2) else sizes.most_common(1)[0][0]
            key = next((key for key, kept in self._kept.items() if kept[0] == whose and key != newest), None)
            if key is None:
                break
            _, size, forget = self._kept.pop(key)
            sizes[whose] -= size
            late.append(forget)
        return late


KEPT_TABLES = KeptTables()
"""Of this process."""
