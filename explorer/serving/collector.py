"""When Python's collector of circles looks through everything: it stops all threads for it, for half a second in a
process that has tables of many snapshots open.

By itself it looks whenever there is a quarter more than at the last time: under load again and again, in the middle of
somebody's click. Here it looks at what is new, after a while or when there is much of it, and through everything when
nobody waits. Most of what a session has goes without it, as soon as nothing leads there."""

from __future__ import annotations

import gc
import threading
import time
from collections.abc import Callable

import psutil

from explorer.serving.pools import Pool
from explorer.storage import limits

LOOK_S = 0.25
"""How often it is looked whether it is time: what is new by then takes no longer than a person notices."""
AGAIN_S = 60.0
"""Seconds after which it looks anew, at what is new, or through everything while nobody waits."""
NEVER = 1 << 30
"""Collections of young objects after which Python would look through everything by itself."""


class Collector:
    """Decides when to look.

    Args:
        memory: Says how many bytes of memory the process has.
    """

    def __init__(self, memory: Callable[[], int]) -> None:
        self._memory = memory
        self._new = self._everything = (time.monotonic(), memory())
        self._has_worked = False

    def look(self, is_busy: bool) -> None:
        """Look if it is time.

        Args:
            is_busy: Whether anybody waits for an answer.
        """
        self._has_worked |= is_busy
        now, memory = time.monotonic(), self._memory()
        (new_at, new_memory), (all_at, all_memory) = self._new, self._everything
        is_quiet = self._has_worked and not is_busy and now - all_at >= AGAIN_S
        everything = is_quiet or memory - all_memory >= 2 * limits.share(1)
        is_new = (self._has_worked and now - new_at >= AGAIN_S) or memory - new_memory >= limits.share(16)
        if everything:
            gc.unfreeze()
        if everything or is_new:
            gc.collect()
            gc.freeze()  # so that the next look is at what is new
            self._new = now, self._memory()
        if everything:
            self._everything, self._has_worked = self._new, is_busy


def start() -> None:
    """From now on look in this way, on a thread of its own, until the process ends."""
    young, middle, _ = gc.get_threshold()
    gc.set_threshold(young, middle, NEVER)
    gc.collect()
    gc.freeze()
    process = psutil.Process()
    collector = Collector(lambda: process.memory_info().rss)

    def run() -> None:
        while True:
            time.sleep(LOOK_S)
            collector.look(any(sum(pool.counts()) for pool in Pool.every))

    threading.Thread(target=run, name="collector", daemon=True).start()
