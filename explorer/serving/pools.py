"""Work off the page's thread: on threads that all sessions share fairly."""

from __future__ import annotations

import math
import threading
import time
from collections import Counter
from collections.abc import Callable, Hashable
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor, wait
from typing import Any, ClassVar

from explorer.errors import NotPossible
from explorer.progress import Cancelled, Clock, Phase, Progress, Watch, is_cancelled, tell, thread_clock
from explorer.spark_engine.sql_guard.quotas import acting

LOOK_S = 0.1
"""How often work that waits for other work looks how far that is."""
LONG_S = 0.5
"""What takes longer is long: it goes on aside, where others need its thread."""
MOST_S = 10.0
"""What is aside may go on for so long while somebody waits for whom no thread is left at all."""
LEFT = 4
"""Threads that one visitor, with however many pages, leaves to others where nothing that is long goes on aside."""
LATELY_S, NEW_S, MOST_KNOWN = 60.0, 5.0, 1_000
"""Of two who wait, the one goes first whose work took less lately: of the last minute, with so many seconds for who is
new, for so many owners as are known."""
LIGHT_S, LIGHTEST_S = 0.1, 5.0
"""Work that has taken less of the processor than the first is light, for as long as the second: then it waits for
something else."""
TURN_S, REST_S, SHARE = 0.02, 0.005, 4
"""Work that is not light asks this often whether something light is under way, waits for it in such bits, and for no
longer than so many times what it worked: others' clicks slow it down, and never stop it. As much work as is under way,
so many times as long each waits: all together they leave as much to others as one alone."""


class PoolTask:
    """Work under way, in the words of spark_engine.read_queue.SparkRead. May be used from any thread. What it shares
    with the work of all pools (decoders) its visitor has a fair part of, where one is known, or else its owner."""

    def __init__(
        self, work: Callable[[], Any], owner: Hashable, who: str = "", visitor: str = "", computes: bool = True
    ) -> None:
        self.owner, self.visitor = owner, visitor
        self._computes = computes
        self._clock: Clock = time.thread_time
        self._clock_began = 0.0
        self._work, self._who = work, who
        self._watch = _Courteous(self, visitor or owner)
        self.answer: Future[Any] = Future()
        self._asked = time.monotonic()
        self.began = 0.0
        self.thread = 0
        self.aside = False
        """Whether it takes none of its pool's threads that short work is for."""
        self._ended = ""

    @property
    def long(self) -> bool:
        """Whether it runs for longer than what a person waits for."""
        return bool(self.began) and time.monotonic() - self.began >= LONG_S

    @property
    def is_light(self) -> bool:
        """Whether it is an answer that has hardly taken anything of the processor yet."""
        if not self._computes or not self.began:  # a thread is about to begin it
            return self._computes
        waited = time.monotonic() - self.began >= LIGHTEST_S
        return not waited and self._clock() - self._clock_began < LIGHT_S

    @property
    def over(self) -> bool:
        """Whether it is done, failed or cancelled."""
        return self.answer.done()

    def when_over(self, tell: Callable[[], None]) -> None:
        """Have it told, on any thread, that it is over."""
        self.answer.add_done_callback(lambda _: tell())

    def progress(self) -> Progress:
        """How far it is; seconds since it was asked."""
        watch, phase = self._watch, self._phase()
        return Progress(phase, watch.done, watch.total, watch.what, time.monotonic() - self._asked)

    @property
    def said(self) -> str:
        """What is to be known of its answer."""
        return self._watch.note

    def _phase(self) -> Phase:
        if not self.over:
            return "running" if self.answer.running() else "queued"
        if self.answer.cancelled():
            return "cancelled"
        error = self.answer.exception()
        return "done" if error is None else "cancelled" if isinstance(error, Cancelled) else "failed"

    def cancel(self) -> None:
        """Stop it: one that waits never starts, one that runs is told to stop at its next step."""
        self._watch.cancel()
        self.answer.cancel()

    def end(self, reason: str) -> None:
        """Stop it for a reason that is told."""
        self._ended = reason
        self._watch.cancel()

    def result(self, timeout: float | None = None) -> Any:
        """Its answer. Raises what it raised, Cancelled, or TimeoutError."""
        try:
            return self.answer.result(timeout)
        except CancelledError as error:
            raise Cancelled("cancelled") from error

    def joined(self) -> Any:
        """Its answer, for other work, which waits for it: who waits for that is told how far this is, and may cancel
        it. Raises as `result` does."""
        while not self.over:
            if is_cancelled():
                self.cancel()
            tell(self._watch.done, self._watch.total, self._watch.what)
            wait([self.answer], LOOK_S)
        return self.result()

    def run(self) -> None:
        """Do it, on this thread."""
        if not self.answer.set_running_or_notify_cancel():
            return
        self._clock = thread_clock()
        self._clock_began = self._clock()
        self.thread, self.began = threading.get_ident(), time.monotonic()
        try:
            with self._watch.listening(), acting(self._who):
                answer = self._work()
        except Cancelled as error:
            self.answer.set_exception(NotPossible(self._ended) if self._ended else error)
        except BaseException as error:  # who waits for it is told, whatever it is
            self.answer.set_exception(error)
        else:
            self.answer.set_result(answer)


class _Courteous(Watch):
    """That of a task: where it asks whether to go on, it lets light work of others go first."""

    def __init__(self, task: PoolTask, owner: Hashable) -> None:
        super().__init__(owner)
        self._task = task
        self._turn = 0.0

    @property
    def cancelled(self) -> bool:
        now = time.monotonic()
        if now >= self._turn and threading.get_ident() == self._task.thread and not self._task.is_light:
            heavy = max(1, Pool.count_heavy())
            rest = now + SHARE * TURN_S * heavy
            while now < rest and not super().cancelled and Pool.has_light(self._task):
                time.sleep(REST_S * heavy)
                now = time.monotonic()
            self._turn = now + TURN_S
        return super().cancelled


class Pool:
    """So many threads for all sessions. Of the tasks that wait, one goes first whose owner has the fewest running, or
    else took the least time lately, and no owner has more than `each`: whoever asks much waits, and the others do not.
    Where others wait, up to `aside` long tasks go on beside these threads; when there is no room for more, the one that
    took longest is ended after MOST_S for somebody who has none."""

    every: ClassVar[list[Pool]] = []

    def __init__(self, name: str, threads: int, each: int, aside: int = 0) -> None:
        self.name, self.threads, self.each, self.aside = name, threads, each, aside
        self._executor = ThreadPoolExecutor(threads + aside, thread_name_prefix=name)
        self._looking = False
        self._lock = threading.Lock()
        self._waiting: list[PoolTask] = []
        self._running: list[PoolTask] = []
        self._took: dict[int, tuple[float, float]] = {}
        """By owner: the seconds that their work took lately, and when that was counted."""
        self.every.append(self)

    def submit(self, work: Callable[[], Any], owner: Hashable, who: str = "", visitor: str = "") -> PoolTask:
        """Have it done when it is its turn; `who` asks is in the log of what is run, from where in `visitor`."""
        task = PoolTask(work, owner, who, visitor, bool(self.aside))
        with self._lock:
            self._waiting.append(task)
            self._start()
        return task

    @classmethod
    def has_light(cls, task: PoolTask) -> bool:
        """Whether something light is under way, of others."""
        return any(other is not task and other.is_light for pool in cls.every for other in list(pool._running))

    @classmethod
    def count_heavy(cls) -> int:
        """How much is under way that is not light."""
        return sum(not task.is_light for pool in cls.every for task in list(pool._running))

    def counts(self) -> tuple[int, int]:
        """How many are running, and how many wait."""
        with self._lock:
            return len(self._running), len(self._waiting)

    def stop(self) -> None:
        """Cancel everything."""
        with self._lock:
            for task in (*self._waiting, *self._running):
                task.cancel()

    def _start(self) -> None:
        self._waiting = [task for task in self._waiting if not task.over]
        while True:
            busy = Counter(task.owner for task in self._running)
            visits = Counter(task.visitor for task in self._running if task.visitor)
            most = max(self.each, self.threads - LEFT)
            free = [
                task for task in self._waiting
                if busy[task.owner] < self.each and (self.aside or visits[task.visitor] < most)
            ]  # fmt: skip
            if not free:
                return
            if sum(not task.aside for task in self._running) >= self.threads and not self._set_aside():
                self._make_room(any(not busy[task.owner] for task in free))
                return
            # of equals the oldest
            task = min(free, key=lambda one: (visits[one.visitor], busy[one.owner], self._use(one.owner)))
            self._waiting.remove(task)
            self._running.append(task)
            self._executor.submit(self._carry_out, task)

    def _use(self, owner: Hashable) -> float:
        """Seconds that an owner's work took lately: those of a minute ago count a third. Who is new goes before those
        whose work takes long, and after those who are known to ask little."""
        if (known := self._took.get(hash(owner))) is None:
            return NEW_S
        took, when = known
        return took * math.exp((when - time.monotonic()) / LATELY_S)

    def _note_use(self, task: PoolTask) -> None:
        now = time.monotonic()
        if len(self._took) > MOST_KNOWN:
            self._took = {who: use for who, use in self._took.items() if now - use[1] < 5 * LATELY_S}
        before = self._use(task.owner) if hash(task.owner) in self._took else 0.0
        self._took[hash(task.owner)] = before + (now - task.began if task.began else 0.0), now

    def _set_aside(self) -> bool:
        """Whether a long task has left its thread to others."""
        if sum(task.aside for task in self._running) < self.aside:
            for task in self._running:
                if task.long and not task.aside:
                    task.aside = True
                    return True
        return False

    def _make_room(self, needed: bool) -> None:
        """Look again soon; meanwhile end what took longest, if there is no room for somebody who has nothing yet."""
        if not self.aside:
            return
        if needed and sum(task.aside for task in self._running) >= self.aside:
            oldest = min((task for task in self._running if task.long), key=lambda task: task.began, default=None)
            if oldest and (ran := time.monotonic() - oldest.began) >= MOST_S:
                oldest.end(f"ended after {ran:.0f} s, since others wait and no thread is free: ask for less, or later")
        if not self._looking:
            self._looking = True
            timer = threading.Timer(LONG_S / 5, self._look)
            timer.daemon = True
            timer.start()

    def _look(self) -> None:
        with self._lock:
            self._looking = False
            self._start()

    def _carry_out(self, task: PoolTask) -> None:
        task.run()
        with self._lock:
            self._running.remove(task)
            self._note_use(task)
            self._start()


def stop() -> None:
    """Cancel everything: the server ends."""
    for pool in Pool.every:
        pool.stop()


CLICKS = Pool("clicks", 2, 1, aside=4)
"""For what a page stands still without: it does not queue behind the long answers of others."""
HERE = Pool("here", 2, 2, aside=4)
"""For what computes in this process: Python computes on one core, so more threads would only slow the pages down."""
ELSEWHERE = Pool("spark", 16, 2)
"""For what waits for Spark or other processes."""
AWAY = Pool("catalogs", 16, 2)
"""For what waits for catalogs, whose servers may not answer."""
