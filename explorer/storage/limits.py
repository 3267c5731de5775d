"""How much of a stranger's file may be read, and how much of all files at once.

Sizes in files are claims: they are held against these limits before anything is read, and what comes out is counted as
it comes. Memory is the process's: `reading` keeps account of all reads that are under way, in every thread and session,
and of what the process already holds."""

from __future__ import annotations

import contextlib
import functools
import os
import re
import threading
import time
from collections.abc import Callable, Iterator

import psutil

from explorer.errors import ExplorerError, NotNow, UnreadableFile
from explorer.progress import check_cancellation
from explorer.spec.text.units import human_bytes

METADATA, MANIFEST, DATA, HINT = 256 << 20, 512 << 20, 1 << 30, 1 << 10
"""Bytes read of a metadata file (also once unzipped); of a manifest, manifest list or footer; of a data or delete file;
of a version hint."""
UNPACKED = 512 << 20
"""Unpacked bytes of one Avro file."""
UNPACKED_ANYWAY, DENSEST = 32 << 20, 64
"""A manifest or manifest list unpacks to no more than the first, and so many times its bytes: what Iceberg's writers
make is four to twenty times as dense as what it holds, what repeats one entry is a hundred times."""
LISTED = 250_000
"""Records of a manifest list."""
REPEATS = 10
"""How often one manifest counts in a snapshot: a few bytes of a list could name one of millions of entries again."""
ENTRIES = 5_000_000
"""Entries of a manifest."""
ITEMS = 100_000
"""Items of one list or map of an entry: a column each, or a part of the file. Python makes all of a value at once, and
nothing else runs meanwhile."""
EACH_ENTRY = 4 << 10
"""Bytes that a question takes of each entry of the manifest that it is at, beside what it keeps of others: the doctor
1,300. Iceberg's writers end a manifest at 8 MB, which are 150,000 of the smallest entries."""
EACH_PARTITION_VALUE = 128
"""Bytes that a question takes of each value of its partition, beside."""
ROWS = 20_000_000
"""Rows of a data file, and positions in a delete file or vector."""
MAX_NAMED_ROWS = 1_000_000
"""Rows that are named one by one: those that match the filter of a row history, those that a file's deletes hide."""
PARTITION_VALUES = 4_000_000
"""Values of a partition statistics file, its counts too: each becomes an object of Python."""
JSON_DEPTH = 100
"""How deep the values of a JSON text nest."""
LISTED_FILE = 256
"""Bytes that a file of a listing counts as read: its name, length and time."""
NAMES = 1_000_000
"""Names listed in a folder."""

VARIABLE = "ICEDIVE_MEMORY"
LIMIT, LEAST = 1 << 30, 512 << 20
"""Bytes of memory that questions may take, if $ICEDIVE_MEMORY says nothing; and at least: what decoding takes
is of the files."""
LARGE, GROWTH = 8 << 20, 32 << 20
"""Smaller reads are not counted; what is decoded counts when it has grown by so much."""
WAIT, LOOK_S = 30.0, 0.1
"""Seconds that a read waits for others to end; and after which it looks whether anybody still waits for it."""


_under_way = 0
_changed = threading.Condition()


@functools.cache
def limit() -> int:
    """Bytes of memory that the questions of this process may take together: of all reads under way, and what shares of
    it are kept; beside the 100 MiB of Python and its libraries. $ICEDIVE_MEMORY says it, such as 600M or 4G.
    Raises ExplorerError."""
    text = os.environ.get(VARIABLE, "").strip()
    if not text:
        return LIMIT
    match = re.fullmatch(r"(\d{1,6})\s*([mg])(i?b)?", text.lower())
    size = int(match[1]) << {"m": 20, "g": 30}[match[2]] if match else 0
    if size < LEAST:
        raise ExplorerError(f"{VARIABLE} is {text[:40]!r}: say 600M or 4G, and {human_bytes(LEAST)} at least")
    return size


def unpack_limit(size: int) -> int:
    """Bytes that a manifest or manifest list of this size may unpack to."""
    return min(UNPACKED, UNPACKED_ANYWAY + DENSEST * size)


def unpack_limit_of_metadata(size: int) -> int:
    """Bytes that a metadata file of this size may unpack to. A table of 200 columns that changed 300 times has 300
    schemas that hardly differ: they are 80 times as large as what they are packed to, and 7 MB."""
    return min(METADATA, share(64) + DENSEST * size)


def entry_limit(fields: int = 0) -> int:
    """Entries of a manifest, of so many partition fields, that are read: it is looked at as a whole, however small it
    is packed."""
    return min(ENTRIES, limit() // (EACH_ENTRY + fields * EACH_PARTITION_VALUE))


def share(part: int) -> int:
    """Bytes that may be kept for one purpose: so many parts of the limit."""
    return limit() // part


@functools.cache
def _most() -> int:
    """Bytes of memory beyond which the process reads nothing large any more, whatever takes them."""
    return max(2 * limit(), psutil.virtual_memory().total // 2)


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
    within(size, limit(), path, "bytes to unpack", f"set {VARIABLE} to more")
    require_memory(size, path)
    until = time.monotonic() + WAIT
    while not _add(size):
        check_cancellation()  # not under the lock: who asks may be made to wait
        if time.monotonic() >= until:
            cause = f"not read: {_under_way:,} bytes of other files are being read, and {limit():,} is the most at once"
            raise NotNow(path, f"{cause}; try again when they are done")
    try:
        yield
    finally:
        with _changed:
            _under_way -= size
            _changed.notify_all()


def _add(size: int) -> bool:
    """Whether there was room for a read within LOOK_S; it is counted then."""
    global _under_way
    with _changed:
        fits = _changed.wait_for(lambda: _under_way + size <= limit(), LOOK_S)
        if fits:
            _under_way += size
        return fits


@contextlib.contextmanager
def growing() -> Iterator[Callable[[int], bool]]:
    """While something is decoded whose size nobody knows before: a function that takes the bytes that it holds now, and
    says whether there is room for them. They count, as those of `reading` do, until the block ends."""
    held = 0

    def grow(size: int) -> bool:
        nonlocal held
        global _under_way
        if size > share(2):
            return False
        if size - held >= GROWTH:
            with _changed:
                if _under_way + size - held > limit():
                    return False
                _under_way += size - held
                held = size
        return True

    try:
        yield grow
    finally:
        global _under_way
        with _changed:
            _under_way -= held
            _changed.notify_all()


def require_memory(size: int, path: str) -> None:
    """Raise UnreadableFile when the process holds too much already to read that many bytes."""
    state = psutil.Process().memory_info()
    own = state.rss - getattr(state, "shared", 0)  # mapped cache files are not ours to count
    if own + size > _most():
        cause = f"not read: this process holds {own:,} bytes of memory, and {_most():,} is the most with this file's"
        raise NotNow(path, f"{cause} {size:,}; close other tables or restart")
