"""How much of the processor's time a command takes for a table, at most: so much for the bytes that it reads.

Files of a few kilobytes may unpack to millions of entries, and lists may name each other's parts in ways that nobody
foresaw. An honest table is far below this; what is not is refused, whatever loop or library is at it. The system counts
the time and sends a signal, so this is of the main thread, and of systems that have such signals."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import threading
import time
from collections.abc import Iterator
from types import FrameType

from explorer.errors import ExplorerError
from explorer.progress import listener
from explorer.spec.text.units import human_bytes
from explorer.storage import limits

VARIABLE = "ICEDIVE_SECONDS"
SECONDS, BYTES, SECONDS_PER_MB = 7.5, 2_000_000, 20.0
"""Seconds of the processor for a table of which no more than these bytes are read, beside the two in which Python
starts; and more for each megabyte beyond."""
CHILDREN_S = 0.5
"""The time of children is looked at each so many seconds."""
AGAIN_S = 0.25
"""What did not end is told again after so much of the processor."""


class OutOfTime(BaseException):
    """A table takes too much of the processor. No Exception: who copes with damaged files does not cope with this."""


class _Limit:
    """That of this process: the table, and what was taken and read before it began. `turn` is another one with each
    table, and when one ends; `depth` says how many commands are within each other."""

    table = ""
    began = 0.0
    turn = 0
    read = 0
    depth = 0


@contextlib.contextmanager
def time_limit() -> Iterator[None]:
    """What is begun in the block ends with the block. Raises ExplorerError for what took too long."""
    _Limit.depth += 1
    try:
        yield
    except OutOfTime as refused:
        raise ExplorerError(str(refused)) from None
    finally:
        _Limit.depth -= 1
        if not _Limit.depth:
            _Limit.turn += 1
            _set(0)


def begin(table: str) -> None:
    """From now on the command is about this table, and its time is counted."""
    if not _Limit.depth or not hasattr(signal, "setitimer"):
        return
    _Limit.table, _Limit.began, _Limit.read = table, _processor_seconds(), limits.BytesRead.total
    limits.BytesRead.counting = True
    seconds_for(0)
    with contextlib.suppress(ValueError):  # not the main thread
        signal.signal(signal.SIGPROF, _look)
        _set(SECONDS)
        _Limit.turn += 1
        threading.Thread(target=_watch_children, args=(_Limit.turn,), name="time-limit", daemon=True).start()


def remove_limit() -> None:
    """The command goes on until somebody ends it."""
    if _Limit.depth:
        _Limit.turn += 1
        _set(0)


def _processor_seconds() -> float:
    """Seconds of this process, and of the children that decode for it."""
    from explorer.storage.decoder_process import client  # pyarrow takes a while, and help asks for no table

    return time.process_time() + client.processor_seconds()


def _watch_children(turn: int) -> None:
    """Have the main thread look while it waits for children: the system's timer counts this process alone."""
    from explorer.storage.decoder_process import client

    while _Limit.depth and _Limit.turn == turn:
        time.sleep(CHILDREN_S)
        late = client.processor_seconds() > SECONDS and seconds_for(limits.BytesRead.total - _Limit.read) < (
            _processor_seconds() - _Limit.began
        )
        if late and _Limit.depth and _Limit.turn == turn:
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGPROF)


def seconds_for(read: int) -> float:
    """Seconds for so many bytes. Raises ExplorerError."""
    text = os.environ.get(VARIABLE, "").strip()
    if text and not re.fullmatch(r"\d{1,9}", text):
        raise ExplorerError(f"{VARIABLE} is {text[:40]!r}: say how many seconds, such as 60")
    return max(float(text or 0), SECONDS + SECONDS_PER_MB * max(0, read - BYTES) / 1e6)


def _set(seconds: float) -> None:
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_PROF, seconds)


def _look(_: int, __: FrameType | None) -> None:
    read = limits.BytesRead.total - _Limit.read
    taken = _processor_seconds() - _Limit.began
    if (left := seconds_for(read) - taken) > 0:
        _set(max(left, 0.01))
        return
    _set(AGAIN_S)
    if watch := listener():
        watch.cancel()  # for other threads
    raise OutOfTime(
        f"{_Limit.table}: refused: the command took {taken:.1f} s of the processor, and for the {human_bytes(read)} "
        f"that it read of the table {seconds_for(read):.1f} s are the most; if you trust who wrote it, set {VARIABLE} "
        f"to more, or ask for less (--limit, --where)"
    )
