"""How much of the processor's time a command, or a question of a page, takes for a table, at most: so much for the
bytes that it reads. And how much memory a command takes.

Files of a few kilobytes may unpack to millions of entries, and lists may name each other's parts in ways that nobody
foresaw. An honest table is far below this; what is not is refused, whatever loop or library is at it. The system counts
the time of a command and sends a signal, so this is of the main thread, and of systems that have such signals. Of a
question on a thread of a server, another thread looks at the time, on systems that tell it."""

from __future__ import annotations

import contextlib
import ctypes
import os
import re
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import ClassVar, TypeVar

from explorer.errors import ExplorerError
from explorer.progress import BytesRead, Cancelled, PartWatch, listener
from explorer.spec.text.units import human_bytes
from explorer.storage import limits

T = TypeVar("T")

VARIABLE = "ICEDIVE_SECONDS"
SECONDS, BYTES, SECONDS_PER_MB = 7.5, 2_000_000, 20.0
"""Seconds of the processor for a table of which no more than these bytes are read, beside the two in which Python
starts; and more for each megabyte beyond."""
CHILDREN_S = 0.5
"""The time of children is looked at each so many seconds."""
STARTED_BYTES, MEMORY_PER_BYTE = 192 << 20, 64
"""Bytes of memory that a command may have taken before it opens a table: they are part of its limit. And what it may
take for each byte beyond BYTES that it reads."""
MEMORY_S = 0.05
"""The memory is looked at each so many seconds."""
AGAIN_S = 0.25
"""What did not end is told again after so much of the processor."""
LOOK_S, GRACE_S = 0.25, 1.0
"""The time of questions is looked at each so many seconds. One that is refused and does not end at its next step, after
so much more of the processor, is ended where it is."""


class OutOfTime(BaseException):
    """A table takes too much of the processor or of memory. No Exception: who copes with damaged files does not cope
    with this."""


class _Limit:
    """That of this process: the table, what was taken before it began, and what was read since; `refused` says that it
    was too much. `turn` is another one with each table, and when one ends; `depth` says how many commands are within
    each other. `held` is the memory when it began, in bytes."""

    table = refused = ""
    began = 0.0
    held = 0
    turn = 0
    read = BytesRead()
    depth = 0


@contextlib.contextmanager
def time_limit() -> Iterator[None]:
    """What is begun in the block ends with the block. Raises ExplorerError for what took too long."""
    _Limit.depth += 1
    if _Limit.depth == 1:
        _Limit.refused = ""
    try:
        yield
    except (OutOfTime, Cancelled):  # where Python ignores the first, as in a callback, the next step is cancelled
        if not _Limit.refused:
            raise
        raise ExplorerError(_Limit.refused) from None
    finally:
        _Limit.depth -= 1
        if not _Limit.depth:
            _Limit.turn += 1
            _set(0)


def begin(table: str) -> None:
    """From now on the command is about this table, and its time is counted."""
    if not _Limit.depth or not hasattr(signal, "setitimer"):
        return
    _Limit.table, _Limit.refused, _Limit.began, _Limit.read = table, "", _processor_seconds(), BytesRead()
    if watch := listener():
        watch.bytes_read = _Limit.read
    _Limit.held = _held_bytes()
    seconds_for(0)
    memory_for(0)
    with contextlib.suppress(ValueError):  # not the main thread
        signal.signal(signal.SIGPROF, _look)
        _set(SECONDS)
        _Limit.turn += 1
        threading.Thread(target=_watch, args=(_Limit.turn,), name="time-limit", daemon=True).start()


def remove_limit() -> None:
    """The command goes on until somebody ends it."""
    if _Limit.depth:
        _Limit.turn += 1
        _set(0)


def _processor_seconds() -> float:
    """Seconds of this process, and of the children that decode for it."""
    from explorer.storage.decoder_process import client  # pyarrow takes a while, and help asks for no table

    return time.process_time() + client.processor_seconds()


def _held_bytes() -> int:
    """Bytes of memory of this process and of the children that decode for it, without mapped files, which the system
    takes back when it must. 0 where the system does not tell."""
    from explorer.storage.decoder_process import client

    with contextlib.suppress(OSError, ValueError):
        _, resident, shared, *_ = map(int, Path("/proc/self/statm").read_text().split())
        return (resident - shared) * os.sysconf("SC_PAGE_SIZE") + client.held_bytes()
    return 0


def _grown_bytes() -> int:
    """Bytes of memory taken since the command opened its table."""
    return _held_bytes() - _Limit.held


def _watch(turn: int) -> None:
    """Have the main thread look when there is too little left: the system's timer counts neither children nor
    memory."""
    from explorer.storage.decoder_process import client

    looks = 0
    while _Limit.depth and _Limit.turn == turn:
        time.sleep(MEMORY_S)
        looks += 1
        late = looks % round(CHILDREN_S / MEMORY_S) == 0 and (
            client.processor_seconds() > 0  # else the timer tells
            and seconds_for(_Limit.read.total) < _processor_seconds() - _Limit.began
        )
        if (late or _grown_bytes() > memory_for(_Limit.read.total)) and _Limit.depth and _Limit.turn == turn:
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGPROF)


def memory_for(read: int) -> int:
    """Bytes of memory that a command takes for so many bytes, beside what it had before it opened the table. Raises
    ExplorerError."""
    return limits.limit() - STARTED_BYTES + MEMORY_PER_BYTE * max(0, read - BYTES)


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
    read = _Limit.read.total
    taken = _processor_seconds() - _Limit.began
    left = seconds_for(read) - taken
    grown = _grown_bytes()
    if left > 0 and grown <= memory_for(read):
        _set(max(left, 0.01))
        return
    _set(AGAIN_S)
    if left > 0:
        took, most = f"{human_bytes(grown)} of memory", f"{human_bytes(memory_for(read))} are"
        variable = limits.VARIABLE
    else:
        took, most, variable = f"{taken:.1f} s of the processor", f"{seconds_for(read):.1f} s are", VARIABLE
    _Limit.refused = (
        f"{_Limit.table}: refused: the command took {took}, and for the {human_bytes(read)} "
        f"that it read of the table {most} the most; if you trust who wrote it, set {variable} "
        f"to more, or ask for less where the command has an option for that (--help lists them)"
    )
    if watch := listener():
        watch.cancel()  # for other threads
    raise OutOfTime(_Limit.refused)


# -- questions on other threads ---------------------------------------------------------------------------------------
def within_limit(work: Callable[[], T], read: BytesRead) -> T:
    """Do work on a thread of its own, which takes no more of the processor than what was read is worth.

    Args:
        work: The work; it may have threads and children of its own, where they watch for it (progress.PartWatch).
        read: What those who ask have read so far; what the work reads is added.

    Returns:
        What the work returns.

    Raises:
        ExplorerError: It took too long.
    """
    watch = _LimitedWatch(read)
    try:
        try:
            with watch.listening():
                _Looks.begin(watch)
                return work()
        finally:
            watch.leave()
    except (OutOfTime, Cancelled):
        if not watch.refused:
            raise
        raise ExplorerError(watch.refused) from None


class _LimitedWatch(PartWatch):
    """The watch of work that has a limit; `refused` says that it is beyond it."""

    def __init__(self, read: BytesRead) -> None:
        super().__init__(listener())
        self.bytes_read = read
        self.refused = ""

    def tell(self, done: int, total: int, what: str) -> None:
        """See Watch: who waits for the whole is told."""
        if self._whole is not None:
            self._whole.tell(done, total, what)

    def say(self, text: str) -> None:
        """See Watch; as above."""
        if self._whole is not None:
            self._whole.say(text)

    def look(self) -> None:
        """End what took too long: by its steps, or else where it is."""
        read = self.bytes_read.total if self.bytes_read else 0
        taken, most = self.processor_seconds, seconds_for(read)
        if taken > most + GRACE_S:
            self._end_threads()
        if taken > most and not self.refused:
            self.refused = (
                f"refused: the question took {taken:.1f} s of the processor, and for the {human_bytes(read)} that were "
                f"read {most:.1f} s are the most; ask for less, or set {VARIABLE} to more where the program starts"
            )
            self.cancel()

    def _end_threads(self) -> None:
        """Have OutOfTime raised where its threads are: each is at this work as long as its time is counted."""
        with self._clocks_lock:
            for thread in self._clocks:
                if isinstance(thread, int):
                    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(OutOfTime))

    def leave(self) -> None:
        """End no thread any more: it does other work now."""
        with contextlib.suppress(OutOfTime):  # which was on its way
            with self._clocks_lock:
                self._clocks.clear()
            _Looks.end(self)


class _Looks:
    """Looks after the work that has a limit, on a thread of its own."""

    _lock: ClassVar[threading.Lock] = threading.Lock()
    _watches: ClassVar[set[_LimitedWatch]] = set()
    _thread: ClassVar[threading.Thread | None] = None

    @classmethod
    def begin(cls, watch: _LimitedWatch) -> None:
        with cls._lock:
            cls._watches.add(watch)
            if cls._thread is None:
                cls._thread = threading.Thread(target=cls._run, name="time-limits", daemon=True)
                cls._thread.start()

    @classmethod
    def end(cls, watch: _LimitedWatch) -> None:
        with cls._lock:
            cls._watches.discard(watch)

    @classmethod
    def _run(cls) -> None:
        while True:
            time.sleep(LOOK_S)
            with cls._lock:
                if not cls._watches:
                    cls._thread = None
                    return
                watches = list(cls._watches)
            for watch in watches:
                watch.look()
