"""Report the progress of long work, and cancel it: one way for the page, the command line and Python.

Code that loops over snapshots, manifests or files loops over `steps(...)`. Code that waits for it uses a `Watch`:

    watch = Watch()
    with watch.listening():
        table.row_history("id = 7")  # meanwhile, from any thread: watch.done, watch.total, watch.what, watch.cancel()

If loops are nested, the outermost reports the progress; each of them checks for cancellation. Without a watch `steps`
returns its items unchanged. Work that waits for others instead of looping (Spark, writer processes) uses `tell` and
`is_cancelled`. Work that must not be stopped in the middle runs in `as_one_step`.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from operator import length_hint
from typing import Literal, TypeVar

from explorer.errors import ExplorerError

T = TypeVar("T")
ESTIMATE_AFTER_S, ESTIMATE_AFTER_SHARE = 2, 0.05
"""The remaining time is unknown before this many seconds, and before this share of the work."""
MOST_KNOWN = 100_000
"""Reads of which it is known that they were counted: a session may go on for days."""
Clock = Callable[[], float]
"""Says how many seconds of the processor a thread or process has taken."""
Phase = Literal["queued", "planning", "running", "done", "failed", "cancelled"]


class Cancelled(ExplorerError):
    """The work was cancelled."""


@dataclass(frozen=True)
class Progress:
    """The progress of some work: its phase; `done` of `total` steps (0 if unknown); what the steps are; and the seconds
    so far."""

    phase: Phase
    done: int = 0
    total: int = 0
    what: str = ""
    seconds: float = 0.0

    def __str__(self) -> str:
        steps = f", {self.done:,} of {self.total:,} {self.what}" if self.total else ""
        return f"{self.phase}{steps}, {self.seconds:.1f} s{self._remaining_time()}"

    def _remaining_time(self) -> str:
        """The remaining time at the present speed; empty in the first seconds, when it would mean little."""
        if self.seconds < ESTIMATE_AFTER_S or self.done < self.total * ESTIMATE_AFTER_SHARE or not self.total:
            return ""
        left = self.seconds * (self.total - self.done) / self.done
        return f", about {max(1, round(left)):,} s left"


class BytesRead:
    """Bytes that some work has read of tables' files, from wherever they came; the same bytes once, however often a
    table names them."""

    def __init__(self) -> None:
        self.total = 0
        self._known: set[int] = set()
        self._of_file: dict[int, int] = {}

    def note(self, size: int, whole: int, offset: int, *file: object) -> None:
        """So many bytes of a file of `whole` bytes were read from an offset; `file` identifies it. Of parts that
        overlap no more counts than the file has."""
        if (read_key := hash((size, offset, *file))) not in self._known:
            if len(self._known) >= MOST_KNOWN:  # no file counts for more than it has all the same
                self._known.clear()
            self._known.add(read_key)
            counted = self._of_file.get(hash(file), 0)
            more = max(0, min(size, whole - counted))
            self._of_file[hash(file)] = counted + more
            self.total += more


class Watch:
    """Someone who waits for one piece of work: reads its progress, and may cancel it. The work runs on one thread;
    every method may be called from any thread. `owner` is who asked for the work, if several people share its
    resources. `note` is what one should know about the answer."""

    def __init__(self, owner: Hashable = None) -> None:
        self.owner = owner
        self.done, self.total, self.what = 0, 0, ""
        self.note = ""
        self._telling = False
        self._cancelled = threading.Event()
        self._when_cancelled: list[Callable[[], None]] = []
        self.bytes_read: BytesRead | None = None
        self._clocks: dict[Hashable, tuple[Clock, float]] = {}
        self._spent = 0.0
        self._clocks_lock = threading.Lock()

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Watch the work of this thread in the block."""
        token = _WATCH.set(self)
        try:
            with self.counting(threading.get_ident(), thread_clock()):
                yield
        finally:
            _WATCH.reset(token)

    @contextmanager
    def counting(self, key: Hashable, clock: Clock) -> Iterator[None]:
        """Count what a processor does in the block for this work.

        Args:
            key: The thread or process that does it; what is counted already is not counted twice.
            clock: Says how many seconds of the processor that has taken so far.
        """
        if key in self._clocks:
            yield
            return
        began = clock()
        with self._clocks_lock:
            self._clocks[key] = clock, began
        try:
            yield
        finally:
            with self._clocks_lock:
                self._clocks.pop(key, None)
                self._spent += clock() - began

    @property
    def processor_seconds(self) -> float:
        """Seconds of the processor that the work has taken so far."""
        with self._clocks_lock:
            return self._spent + sum(clock() - began for clock, began in self._clocks.values())

    def note_read(self, size: int, whole: int, offset: int, *file: object) -> None:
        """Note that the work has read bytes; see BytesRead."""
        if self.bytes_read is not None:
            self.bytes_read.note(size, whole, offset, *file)

    @property
    def cancelled(self) -> bool:
        """Whether the work was told to stop."""
        return self._cancelled.is_set()

    def cancel(self) -> None:
        """Tell the work to stop at its next step."""
        self._cancelled.set()
        for tell in list(self._when_cancelled):
            tell()

    @contextmanager
    def when_cancelled(self, tell: Callable[[], None]) -> Iterator[None]:
        """In the block, call `tell` when the work is told to stop, on the thread that says so; now if it was already.
        For code that does not look, such as native code."""
        self._when_cancelled.append(tell)
        try:
            if self.cancelled:
                tell()
            yield
        finally:
            self._when_cancelled.remove(tell)

    def tell(self, done: int, total: int, what: str) -> None:
        """Set the progress."""
        self.done, self.total, self.what = done, total, what

    def say(self, text: str) -> None:
        """Set the note: what one should know about the answer."""
        self.note = text

    def steps(self, items: Iterable[T], total: int, what: str) -> Iterator[T]:
        """See the function of the same name."""
        outermost = not self._telling
        self._telling = True
        try:
            for done, item in enumerate(items):
                if self.cancelled:
                    raise Cancelled("cancelled")
                if outermost:
                    self.tell(done, total, what)
                yield item
        finally:
            close = getattr(items, "close", None)  # close a generator here, not when it is collected
            if close is not None:
                close()
            if outermost:
                self._telling = False
                self.tell(0, 0, "")


class PartWatch(Watch):
    """The watch of a part of the work on another thread. The part ends with the whole, or if nobody needs it."""

    def __init__(self, whole: Watch | None) -> None:
        super().__init__(whole.owner if whole is not None else None)
        self._whole = whole

    @property
    def cancelled(self) -> bool:
        return super().cancelled or (self._whole is not None and self._whole.cancelled)

    @contextmanager
    def when_cancelled(self, tell: Callable[[], None]) -> Iterator[None]:
        with super().when_cancelled(tell), nullcontext() if self._whole is None else self._whole.when_cancelled(tell):
            yield

    @contextmanager
    def counting(self, key: Hashable, clock: Clock) -> Iterator[None]:
        """See Watch; it is of the whole, too."""
        with nullcontext() if self._whole is None else self._whole.counting(key, clock), super().counting(key, clock):
            yield

    def note_read(self, size: int, whole: int, offset: int, *file: object) -> None:
        """See Watch; it is of the whole, too."""
        super().note_read(size, whole, offset, *file)
        if self._whole is not None:
            self._whole.note_read(size, whole, offset, *file)


def thread_clock() -> Clock:
    """The clock of this thread, which other threads may ask until it ends; where the system has none for them, it
    stands still for them."""
    if not hasattr(time, "pthread_getcpuclockid"):
        own, began = threading.get_ident(), time.thread_time()
        return lambda: time.thread_time() if threading.get_ident() == own else began
    number = time.pthread_getcpuclockid(threading.get_ident())
    return partial(time.clock_gettime, number)


_WATCH: ContextVar[Watch | None] = ContextVar("watch", default=None)


def steps(items: Iterable[T], what: str, total: int = 0) -> Iterator[T]:
    """Return the items; each is a step of the work. `what` names them in the plural. `total` is their number, if the
    items do not know it. Raises Cancelled between two items."""
    watch = _WATCH.get()
    return iter(items) if watch is None else watch.steps(items, total or length_hint(items), what)


@contextmanager
def as_one_step() -> Iterator[None]:
    """Do the work of this thread in the block as one step: it reports no progress and cannot be cancelled in the
    middle."""
    token = _WATCH.set(None)
    try:
        yield
    finally:
        _WATCH.reset(token)


def listener() -> Watch | None:
    """The watch of this thread's work, if there is one."""
    return _WATCH.get()


def note_read(size: int, whole: int, offset: int, *file: object) -> None:
    """Note that this thread's work has read bytes of a file; see BytesRead."""
    watch = _WATCH.get()
    if watch is not None:
        watch.note_read(size, whole, offset, *file)


def tell(done: int, total: int, what: str) -> None:
    """Report the progress of this thread's work."""
    watch = _WATCH.get()
    if watch is not None:
        watch.tell(done, total, what)


def say(text: str) -> None:
    """Note what one should know about the answer of this thread's work."""
    watch = _WATCH.get()
    if watch is not None:
        watch.say(text)


def check_cancellation() -> None:
    """Raise Cancelled if this thread's work was cancelled. For loops without items for `steps`."""
    if is_cancelled():
        raise Cancelled("cancelled")


@contextmanager
def when_cancelled(tell: Callable[[], None]) -> Iterator[None]:
    """In the block, call `tell` when this thread's work is cancelled, from whichever thread cancels it."""
    watch = _WATCH.get()
    with nullcontext() if watch is None else watch.when_cancelled(tell):
        yield


def is_cancelled() -> bool:
    """Whether this thread's work was cancelled."""
    watch = _WATCH.get()
    return watch is not None and watch.cancelled
