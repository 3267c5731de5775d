"""How far long work is, and whether to go on: said once, for the dashboard, the command line and Python.

What loops over snapshots, manifests or files loops over `steps(...)`. Who waits for it listens with a `Watch`:

    watch = Watch()
    with watch.listening():
        table.fate("id = 7")      # meanwhile, from any thread: watch.done, watch.total, watch.what, watch.cancel()

Of loops inside loops the outermost tells how far it is, and each asks whether to go on. Without a watch `steps` returns
what it was given. What waits for others instead of looping (Spark, writer processes) uses `tell` and `cancelled`, and
does `as_one_step` what must not be stopped in the middle."""

from __future__ import annotations

import threading
from collections.abc import Hashable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from operator import length_hint
from typing import Literal, TypeVar

from explorer.errors import ExplorerError

T = TypeVar("T")
TOLD_S, TOLD_SHARE = 2, 0.05
"""Before so many seconds, and such a share, nobody knows how long it will take."""
Phase = Literal["queued", "planning", "running", "done", "failed", "cancelled"]


class Cancelled(ExplorerError):
    """Somebody said not to go on."""


@dataclass(frozen=True)
class Progress:
    """How far something is: its phase, `done` of `total` (0: not known) steps, what these are, and seconds so far."""

    phase: Phase
    done: int = 0
    total: int = 0
    what: str = ""
    seconds: float = 0.0

    def __str__(self) -> str:
        steps = f", {self.done:,} of {self.total:,} {self.what}" if self.total else ""
        return f"{self.phase}{steps}, {self.seconds:.1f} s{self._left()}"

    def _left(self) -> str:
        """How long it will take if it goes on as it did, where that says anything: not in the first seconds."""
        if self.seconds < TOLD_S or self.done < self.total * TOLD_SHARE or not self.total:
            return ""
        left = self.seconds * (self.total - self.done) / self.done
        return f", about {max(1, round(left)):,} s left"


class Watch:
    """Who waits for one piece of work: reads how far it is, and may cancel it. The work itself runs on one thread; all
    else may be called from any. `owner` is who asked for it, where several share what the work needs."""

    def __init__(self, owner: Hashable = None) -> None:
        self.owner = owner
        self.done, self.total, self.what = 0, 0, ""
        self.said = ""
        self._telling = False
        self._cancelled = threading.Event()

    @contextmanager
    def listening(self) -> Iterator[None]:
        """What this thread does in the block is watched."""
        token = _WATCH.set(self)
        try:
            yield
        finally:
            _WATCH.reset(token)

    @property
    def cancelled(self) -> bool:
        """Whether the work was told to stop."""
        return self._cancelled.is_set()

    def cancel(self) -> None:
        """Tell the work to stop at its next step."""
        self._cancelled.set()

    def tell(self, done: int, total: int, what: str) -> None:
        """The work is so far."""
        self.done, self.total, self.what = done, total, what

    def say(self, text: str) -> None:
        """Something to know of the answer: who makes it, and why."""
        self.said = text

    def steps(self, items: Iterable[T], total: int, what: str) -> Iterator[T]:
        """See the function of that name."""
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
            close = getattr(items, "close", None)  # a generator ends here, not wherever it is forgotten
            if close is not None:
                close()
            if outermost:
                self._telling = False
                self.tell(0, 0, "")


class PartWatch(Watch):
    """That of a part of the work, which another thread does: it ends with the whole, or when nobody needs the part."""

    def __init__(self, whole: Watch | None) -> None:
        super().__init__(whole.owner if whole is not None else None)
        self._whole = whole

    @property
    def cancelled(self) -> bool:
        return super().cancelled or (self._whole is not None and self._whole.cancelled)


_WATCH: ContextVar[Watch | None] = ContextVar("watch", default=None)


def steps(items: Iterable[T], what: str, total: int = 0) -> Iterator[T]:
    """The items, each a step of the work: `what` they are, in the plural, and how many, where they do not know it
    themselves. Raises Cancelled between two of them."""
    watch = _WATCH.get()
    return iter(items) if watch is None else watch.steps(items, total or length_hint(items), what)


@contextmanager
def as_one_step() -> Iterator[None]:
    """What this thread does in the block is no loop to who waits: it tells nothing, and is not stopped midway."""
    token = _WATCH.set(None)
    try:
        yield
    finally:
        _WATCH.reset(token)


def listener() -> Watch | None:
    """Who waits for what this thread does, if anybody listens."""
    return _WATCH.get()


def tell(done: int, total: int, what: str) -> None:
    """So far is what this thread does."""
    watch = _WATCH.get()
    if watch is not None:
        watch.tell(done, total, what)


def say(text: str) -> None:
    """Who waits for what this thread does should know this of the answer."""
    watch = _WATCH.get()
    if watch is not None:
        watch.say(text)


def check_cancelled() -> None:
    """Raise Cancelled if what this thread does was told to stop: for a loop that has no items to take `steps` over."""
    if cancelled():
        raise Cancelled("cancelled")


def cancelled() -> bool:
    """Whether what this thread does was told to stop."""
    watch = _WATCH.get()
    return watch is not None and watch.cancelled
