"""Places that owners take in turn: who asks much waits, and the others do not."""

from __future__ import annotations

import contextlib
import threading
import time
from collections import Counter
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field

from explorer.progress import Cancelled, Watch, listener

LOOK_S = 0.1
"""How often who waits looks whether somebody cancelled, and what runs whether it is to end."""
LONG_S, MOST_S = 0.5, 10.0
"""What takes longer than the first leaves its place to owners who have none; what takes longer than the second ends for
an owner who has none, when nothing else can make room."""
REMEMBERED = 1_000
"""Owners of whom it is known when they had their last turn."""


@dataclass(eq=False)
class Turn:
    """One that waits or runs. `ended` says why it must end although somebody waits for it."""

    owner: Hashable
    watch: Watch | None
    number: int
    began: float = 0.0
    aside: bool = False
    ended: str = field(default="")

    @property
    def over(self) -> bool:
        """Whether it is to end: nobody waits for it, or others need its place."""
        return bool(self.ended) or (self.watch is not None and self.watch.cancelled)


class Turns:
    """So many places for all owners. Of those who wait one goes first whose owner has the fewest, and of equals the one
    whose last turn is the longest ago. No owner has more than `places`; up to `aside` more turns run for owners who
    have none, while long ones fill the places."""

    def __init__(self, places: int, aside: int) -> None:
        self.places, self.aside = places, aside
        self._changed = threading.Condition()
        self._waiting: list[Turn] = []
        self._running: list[Turn] = []
        self._last: dict[Hashable, int] = {}
        self._count = 0

    @contextlib.contextmanager
    def turn(self) -> Iterator[Turn]:
        """A place, for as long as the block takes. Raises Cancelled when who waits for it says so meanwhile."""
        watch = listener()
        with self._changed:
            self._count += 1
            turn = Turn(watch.owner if watch is not None else None, watch, self._count)
            self._waiting.append(turn)
        try:
            while not self._begins(turn):
                if turn.over:  # not under the lock: who asks may be made to wait
                    raise Cancelled("cancelled")
            yield turn
        finally:
            with self._changed:
                (self._running if turn.began else self._waiting).remove(turn)
                self._changed.notify_all()

    def counts(self) -> tuple[int, int]:
        """How many run, and how many wait."""
        with self._changed:
            return len(self._running), len(self._waiting)

    def _begins(self, turn: Turn) -> bool:
        """Whether a turn has begun, after a short wait if it had to."""
        with self._changed:
            if not self._is_next(turn):
                self._changed.wait(LOOK_S)
                if not self._is_next(turn):
                    return False
            turn.began = time.monotonic()
            self._waiting.remove(turn)
            self._running.append(turn)
            self._count += 1
            self._last.pop(turn.owner, None)
            self._last[turn.owner] = self._count
            if len(self._last) > REMEMBERED:
                del self._last[next(iter(self._last))]
            self._changed.notify_all()
            return True

    def _is_next(self, turn: Turn) -> bool:
        busy = Counter(running.owner for running in self._running)
        free = [waiting for waiting in self._waiting if busy[waiting.owner] < self.places]
        first = min(free, key=lambda w: (busy[w.owner], self._last.get(w.owner, 0), w.number), default=None)
        if first is not turn:
            return False
        if sum(not running.aside for running in self._running) < self.places:
            return True
        return not busy[turn.owner] and self._makes_room(busy)

    def _makes_room(self, busy: Counter[Hashable]) -> bool:
        """Whether a long turn has left its place. When there is no room for more of them, the longest of an owner who
        has the most ends after MOST_S."""
        now = time.monotonic()
        long = [running for running in self._running if now - running.began >= LONG_S]
        if sum(running.aside for running in self._running) < self.aside:
            for running in long:
                if not running.aside:
                    running.aside = True
                    return True
            return False
        worst = max(long, key=lambda running: (busy[running.owner], -running.began), default=None)
        if worst is not None and now - worst.began >= MOST_S:
            worst.ended = f"ended after {now - worst.began:.0f} s, since others wait and no place is free"
        return False
