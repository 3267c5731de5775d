"""How much of a stranger's file may be read, and how much of all files at once.

Sizes in files are claims: they are held against these limits before anything is read, and what comes out is counted as
it comes. Memory is the process's: `reading` keeps account of all reads that are under way, in every thread and session,
and of what the process already holds."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator

import psutil

from explorer.errors import NotNow, UnreadableFile

METADATA, MANIFEST, DATA, HINT = 256 << 20, 512 << 20, 1 << 30, 1 << 10
"""Bytes read of a metadata file (also once unzipped); of a manifest, manifest list or footer; of a data or delete file;
of a version hint."""
UNPACKED = 512 << 20
"""Unpacked bytes of one Avro file."""
DECODED = 1 << 30
"""Bytes of Arrow that one file may become."""
LISTED = 250_000
"""Records of a manifest list."""
ENTRIES = 5_000_000
"""Entries of a manifest."""
ROWS = 20_000_000
"""Rows of a data file, and positions in a delete file or vector."""
TOLD = 1_000_000
"""Rows of which each is told on its own: what matches a fate's filter, what a file's deletes hide."""
JSON_VALUES, JSON_DEPTH = 8_000_000, 100
"""Values in one JSON text (a snapshot has about 25), and how deep they nest."""
NAMES = 1_000_000
"""Names listed in a folder."""

AT_ONCE = 2 << 30
"""Bytes of all reads under way."""
HELD = max(4 << 30, psutil.virtual_memory().total // 2)
"""Bytes of memory beyond which the process reads nothing large any more."""
LARGE = 8 << 20
"""Smaller reads are not counted."""
WAIT = 30.0
"""Seconds that a read waits for others to end."""

_under_way = 0
_changed = threading.Condition()


def within(size: int, limit: int, path: str, what: str = "bytes", fix: str = "") -> None:
    """Raise UnreadableFile when `size` is over `limit`, saying both, and what to do instead."""
    if size > limit:
        raise UnreadableFile(path, f"has {size:,} {what}; at most {limit:,} are read here{fix and '; ' + fix}")


@contextlib.contextmanager
def reading(size: int, path: str) -> Iterator[None]:
    """While bytes are read and unpacked: waits for other reads when all together would be too much. Raises
    UnreadableFile when they do not end, or when the process holds too much already."""
    if size < LARGE:
        yield
        return
    global _under_way
    within(size, AT_ONCE, path)
    require_memory(size, path)
    with _changed:
        if not _changed.wait_for(lambda: _under_way + size <= AT_ONCE, WAIT):
            cause = f"not read: {_under_way:,} bytes of other files are being read, and {AT_ONCE:,} is the most at once"
            raise NotNow(path, f"{cause}; try again when they are done")
        _under_way += size
    try:
        yield
    finally:
        with _changed:
            _under_way -= size
            _changed.notify_all()


def require_memory(size: int, path: str) -> None:
    """Raise UnreadableFile when the process holds too much already to read that many bytes."""
    state = psutil.Process().memory_info()
    own = state.rss - getattr(state, "shared", 0)  # mapped cache files are not ours to count
    if own + size > HELD:
        cause = f"not read: this process holds {own:,} bytes of memory, and {HELD:,} is the most with this file's"
        raise NotNow(path, f"{cause} {size:,}; close other tables or restart")
