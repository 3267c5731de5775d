"""Data and delete files of a store that one thread reads one after another: the next are fetched while it works on
one."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import Future
from itertools import takewhile
from typing import NamedTuple

from explorer.progress import Watch, listener
from explorer.storage.stores import EACH, requests

MAX_HELD_BYTES = 64 << 20
"""Of the files that are held together. A larger file is not fetched ahead."""
MAX_NAMES_AHEAD = 2 * EACH
"""Names that are asked for before so many files were read."""


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
        self._held_bytes = self._names_ahead = 0
        self._last_read = ""
        self._waits_for_room: tuple[str, int] | None = None
        self._is_filling = False
        self._watch: Watch | None = listener()
        self._fill()

    def _fill(self) -> None:
        if self._is_filling:  # what names the files may read files itself
            return
        self._is_filling = True
        try:
            while len(self._flights) < EACH and (file := self._next()) is not None:
                path, size = file
                if path in self._flights or not 0 < size <= MAX_HELD_BYTES:
                    continue
                if self._held_bytes + size > MAX_HELD_BYTES:
                    self._waits_for_room = file
                    return
                self._flights[path] = size, requests().submit(self._fetch, path, size)
                self._held_bytes += size
        finally:
            self._is_filling = False

    def _next(self) -> tuple[str, int] | None:
        """The next file to fetch; None for now, or for good."""
        if self._watch and self._watch.cancelled:
            return None
        file, self._waits_for_room = self._waits_for_room, None
        if file is None and self._names_ahead < MAX_NAMES_AHEAD:
            file = next(self._wanted, None)
            self._names_ahead += 1
        return file

    def _let_go(self, path: str) -> None:
        size, flight = self._flights.pop(path)
        flight.cancel()
        self._held_bytes -= size

    def part(self, path: str) -> FilePart | None:
        """Return what was fetched of a file; None where it is to be read now. Waits for who fetches it.

        Raises:
            UnreadableFile: The file could not be fetched.
        """
        if self._is_filling:
            return None
        if path != self._last_read:
            self._last_read = path
            self._names_ahead -= 1
        if self._waits_for_room and self._waits_for_room[0] == path:  # its turn has come: those before it were read
            self._waits_for_room = None
            for earlier in list(self._flights):
                self._let_go(earlier)
        if path not in self._flights:
            self._fill()
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
        self._wanted, self._waits_for_room = iter(()), None
        for path in list(self._flights):
            self._let_go(path)
