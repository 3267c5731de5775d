"""Files of stores that are fetched before they are asked for, each of them once."""

from __future__ import annotations

import contextlib
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future

from cachetools import TTLCache

from explorer.errors import UnreadableFile
from explorer.progress import Watch, listener
from explorer.storage.stores import EACH, requests

FAILED_S = 30.0
"""What could not be fetched ahead is not tried again at once by who asks for it."""
FAILED = 1000


class Prefetch:
    """`fetch` gets a file, and gives its bytes only where they could not be kept. Safe to use from several threads."""

    def __init__(self, fetch: Callable[[str], bytes | None]) -> None:
        self._fetch = fetch
        self._todo: deque[tuple[str, Watch | None]] = deque()
        self._flights: dict[str, Future[bytes | None]] = {}
        self._failed: TTLCache[str, UnreadableFile] = TTLCache(FAILED, FAILED_S)
        self._direct: set[str] = set()
        """Files that who needs them reads, without waiting for others."""
        self._lock = threading.Lock()

    def start(self, paths: Iterable[str]) -> None:
        """Fetch files, as many at once as one table's questions may. Returns at once. Stops when who waits for this
        thread's work cancels it."""
        watch = listener()
        with self._lock:
            self._todo.extend((path, watch) for path in paths)
        for _ in range(EACH):
            self._next()

    def _next(self) -> None:
        with self._lock:
            path = self._choose() if len(self._flights) < EACH else None
            if path is None:
                return
            flight = self._flights[path] = requests().submit(self._carry_out, path)
        flight.add_done_callback(lambda _: self._next())

    def _choose(self) -> str | None:
        while self._todo:
            path, watch = self._todo.popleft()
            is_claimed = any(path in others for others in (self._flights, self._failed, self._direct))
            if not is_claimed and not (watch is not None and watch.cancelled):
                return path
        return None

    def _carry_out(self, path: str) -> bytes | None:
        data = None
        try:
            data = self._fetch(path)
            if data is not None:  # nowhere to put them: no more than these are held
                with self._lock:
                    self._todo.clear()
            return data
        except UnreadableFile as error:
            with self._lock:
                self._failed[path] = error
            raise
        finally:
            if data is None:
                with self._lock:
                    self._flights.pop(path, None)

    @contextlib.contextmanager
    def take(self, path: str) -> Iterator[bytes | None]:
        """What was fetched and could not be kept; None where it is kept, or is to be read now: nobody else fetches it
        meanwhile. Waits for who does. Raises UnreadableFile for what failed, once."""
        with self._lock:
            flight, failed = self._flights.get(path), self._failed.pop(path, None)
            if failed is not None:
                raise failed
            if flight is None:
                self._direct.add(path)
        try:
            try:
                # What still waits for its turn is fetched here: others' requests may never end.
                data = flight.result() if flight is not None and not flight.cancel() else None
            finally:  # its failure is told once
                with self._lock:
                    self._failed.pop(path, None)
                    if self._flights.get(path) is flight:
                        self._flights.pop(path, None)
            yield data
        finally:
            with self._lock:
                self._direct.discard(path)
