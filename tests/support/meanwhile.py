"""What another thread gets done while some work is under way."""

from __future__ import annotations

import threading
from collections.abc import Callable


def counted_meanwhile(work: Callable[[], object]) -> int:
    """Do work on this thread. Return how far another one counted until it was done."""
    counted, ended = [0], threading.Event()

    def count() -> None:
        while not ended.is_set():
            counted[0] += 1

    thread = threading.Thread(target=count)
    thread.start()
    try:
        before = counted[0]
        work()
        return counted[0] - before
    finally:
        ended.set()
        thread.join()
