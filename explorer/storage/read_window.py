"""Data and delete files of a store that one thread reads one after another: the next are fetched while it works on
one."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import Future
from itertools import takewhile
from typing import NamedTuple

from explorer.progress import Watch, listener
from explorer.storage.stores import EACH, requests

ROOM = 64 << 20
"""Bytes of files that are held."""


class FilePart(NamedTuple):
    """Bytes of a file from `offset` on, and the size of the whole file."""

    data: bytes
    offset: int
    file_size: int


class ReadWindow:
    """Files that are fetched before they are read, in the order in which they will be. Asked for a file, it lets go of
    those before it. Not safe to use from several threads."""

    def __init__(self, fetch: Callable[[str, int], FilePart], wanted: Iterable[tuple[str, int]]) -> None:
        """Begin to fetch.

        Args:
            fetch: Fetches at most so many bytes of a file, on another thread.
            wanted: Paths and the bytes to hold of each. They are asked for as there is room.
        """
        self._fetch, self._wanted = fetch, iter(wanted)
        self._flights: dict[str, tuple[int, Future[FilePart]]] = {}
        self._held = 0
        self._watch: Watch | None = listener()
        self._fill()

    def _fill(self) -> None:
        while len(self._flights) < EACH and self._held < ROOM and not (self._watch and self._watch.cancelled):
            path, size = next(self._wanted, ("", 0))
            if not path:
                return
            if path not in self._flights and 0 < size <= ROOM:
                self._flights[path] = size, requests().submit(self._fetch, path, size)
                self._held += size

    def _let_go(self, path: str) -> None:
        size, flight = self._flights.pop(path)
        flight.cancel()
        self._held -= size

    def part(self, path: str) -> FilePart | None:
        """Return what was fetched of a file; None where it is to be read now. Waits for who fetches it.

        Raises:
            UnreadableFile: The file could not be fetched.
        """
        if path not in self._flights:
            return None
        for earlier in list(takewhile(lambda one: one != path, self._flights)):
            self._let_go(earlier)
        self._fill()
        _, flight = self._flights[path]
        if flight.cancel():  # it still waits for its turn: others' requests may never end
            self._let_go(path)
            return None
        return flight.result()

    def close(self) -> None:
        """Let go of all files, and fetch no more."""
        self._wanted = iter(())
        for path in list(self._flights):
            self._let_go(path)
