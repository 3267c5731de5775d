"""Questions that take long, off the page's thread: one `Job` a panel, on threads that all sessions share fairly."""

from __future__ import annotations

import hashlib
import logging
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from functools import cached_property, partial
from typing import Any, ClassVar, Protocol

import panel as pn
import panel_material_ui as pmui
from panel.io.callbacks import PeriodicCallback
from panel.io.state import set_curdoc

from explorer.engines.failures import explain
from explorer.engines.quotas import acting
from explorer.engines.spark import shared_engine
from explorer.errors import ExplorerError
from explorer.progress import Cancelled, Phase, Progress, Watch, cancelled, tell
from explorer.ui.widgets import note

TICK_MS = 100
QUIET_S, SHOWN_S, TASK_S = 0.4, 0.25, 0.05
"""What is over sooner than the first shows no progress; what takes longer shows it anew after each of the second, and
its end no sooner: Panel's React components write back what they have drawn, which undoes a change that came before.
The more tasks there are, the less often is progress shown: all that is sent waits behind the threads that compute."""


def viewer() -> str:
    """Who looks at this page: the name they logged in by, or their session's, shortened so that it opens nothing."""
    if pn.state.user:
        return str(pn.state.user)
    context: Any = pn.state.curdoc.session_context if pn.state.curdoc else None
    return f"session {hashlib.sha256(str(context.id).encode()).hexdigest()[:8]}" if context else ""


class Task:
    """Work under way, in the words of engines.reads.SparkRead. May be used from any thread."""

    def __init__(self, work: Callable[[], Any], owner: object) -> None:
        self.owner = owner
        self._work, self._who = work, viewer()
        self._watch = Watch()
        self.answer: Future[Any] = Future()
        self._asked = time.monotonic()

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
        return self._watch.said

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
            if cancelled():
                self.cancel()
            tell(self._watch.done, self._watch.total, self._watch.what)
            wait([self.answer], TICK_MS / 1000)
        return self.result()

    def run(self) -> None:
        """Do it, on this thread."""
        if not self.answer.set_running_or_notify_cancel():
            return
        try:
            with self._watch.listening(), acting(self._who):
                answer = self._work()
        except BaseException as error:  # who waits for it is told, whatever it is
            self.answer.set_exception(error)
        else:
            self.answer.set_result(answer)


class Pool:
    """So many threads for all sessions. Of the tasks that wait, one goes first whose owner has the fewest running, and
    no owner has more than `each`: whoever asks much waits, and the others do not."""

    every: ClassVar[list[Pool]] = []

    def __init__(self, name: str, threads: int, each: int) -> None:
        self.threads, self.each = threads, each
        self._executor = ThreadPoolExecutor(threads, thread_name_prefix=name)
        self._lock = threading.Lock()
        self._waiting: list[Task] = []
        self._running: list[Task] = []
        self.every.append(self)

    def submit(self, work: Callable[[], Any], owner: object) -> Task:
        """Have it done when it is its turn."""
        task = Task(work, owner)
        with self._lock:
            self._waiting.append(task)
            self._start()
        return task

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
        while len(self._running) < self.threads:
            busy = Counter(id(task.owner) for task in self._running)
            free = [task for task in self._waiting if busy[id(task.owner)] < self.each]
            if not free:
                return
            task = min(free, key=lambda waiting: busy[id(waiting.owner)])  # of equals the oldest
            self._waiting.remove(task)
            self._running.append(task)
            self._executor.submit(self._carry_out, task)

    def _carry_out(self, task: Task) -> None:
        task.run()
        with self._lock:
            self._running.remove(task)
            self._start()


def stop() -> None:
    """Cancel everything: the server ends."""
    for pool in Pool.every:
        pool.stop()


CLICKS = Pool("clicks", 2, 1)
"""For what a page stands still without: it does not queue behind the long answers of others."""
HERE = Pool("here", 2, 2)
"""For what computes in this process: Python computes on one core, so more threads would only slow the pages down."""
ELSEWHERE = Pool("elsewhere", 16, 2)
"""For what waits for Spark or other processes."""
AWAY = Pool("away", 16, 2)
"""For what waits for catalogs, whose servers may not answer."""


class Asked(Protocol):
    """What a page waits for: a Job, or a graph."""

    @property
    def busy(self) -> bool:
        """Whether an answer is still to come."""

    def look(self) -> None:
        """Show how far it is, or its end."""

    def drop(self) -> None:
        """Nobody waits any more."""


class Session:
    """The jobs of one page that are under way: looked after a few times a second and when one is over, cancelled with
    the page."""

    _all: ClassVar[dict[Any, Session]] = {}

    def __init__(self, document: Any) -> None:
        self.jobs: set[Asked] = set()
        self._document = document
        self._ticking = PeriodicCallback(callback=self._look, period=TICK_MS, background=True)
        if document is not None:
            document.on_session_destroyed(lambda _: self._end(document))

    @classmethod
    def current(cls) -> Session:
        """That of the page whose event is being handled; one for all where there is no page."""
        document = pn.state.curdoc
        if document not in cls._all:
            cls._all[document] = cls(document)
        return cls._all[document]

    @classmethod
    def pages(cls) -> list[Any]:
        """The pages that asked something and are still open."""
        return [document for document in list(cls._all) if document is not None]

    def submit(self, job: Asked, pool: Pool, work: Callable[[], Any]) -> Task:
        """Have the work of a job done, and look after the job from now on."""
        self.jobs.add(job)
        if not self._ticking.running:
            self._ticking.start()
        task = pool.submit(work, self)
        if self._document is not None:  # at once: the next look may be a tick away
            task.when_over(self._look_soon)
        return task

    def _look_soon(self) -> None:
        document = self._document
        if document is not None:
            with suppress(AttributeError):  # that of a page which is just being closed, on another thread, has no lists
                document.add_next_tick_callback(self._look)

    def leave(self, shown: Any) -> None:
        """Nobody will see any more what is shown there: stop what it waits for, but for what writes."""
        views = {id(part) for part in shown.select()}
        for job in list(self.jobs):
            if isinstance(job, Job) and job.open and id(job.view) in views:
                job.drop()

    def _look(self) -> None:
        with set_curdoc(self._document):  # Bokeh's is changed, for all threads, by each that tells of an answer
            for job in list(self.jobs):
                job.look()
        self.jobs = {job for job in self.jobs if job.busy}
        if not self.jobs:
            self._ticking.stop()

    def _end(self, document: Any) -> None:
        self._all.pop(document, None)
        for job in self.jobs:
            job.drop()
        self.jobs.clear()
        self._document = None


class Job:
    """The one question of a panel that may take long: asked with `start`, shown by `view` (a line of status; later a
    bar and a button to cancel), answered on the page's thread. A newer question replaces an older one, whose answer is
    never shown. From when progress is shown until the answer comes, `buttons` are disabled, and `box`, where the answer
    goes, is empty. `settled` is told when it is over, and whether it was answered."""

    def __init__(
        self,
        hint: str = "",
        buttons: Sequence[Any] = (),
        box: Any = None,
        pool: Pool = HERE,
        settled: Callable[[bool], None] = lambda _: None,
    ) -> None:
        self.status = note(hint, margin=(4, 10))
        self._line = pn.Row(self.status)
        self.view = pn.Column(self._line, sizing_mode="stretch_width")
        self._buttons, self._box, self._pool, self._settled = buttons, box, pool, settled
        self._cancels = True
        self._now: Task | None = None
        self._was: list[bool] | None = None
        self._done: Callable[[Any], None]
        self._meanwhile: Callable[[Progress], str]
        self._shown = 0.0
        self._spoken = False

    @cached_property
    def bar(self) -> Any:
        """How far it is; made when first shown, as most answers come sooner."""
        bar = pmui.LinearProgress(visible=False, sizing_mode="stretch_width", margin=(4, 10, 2, 10))
        self.view.append(bar)
        return bar

    @cached_property
    def cancel_button(self) -> Any:
        """To stop it; made like the bar."""
        button = pmui.Button(label="Cancel", variant="outlined", size="small", width=85, margin=(0, 10), visible=False)
        button.on_click(lambda _: self.cancel() if self._cancels else None)  # one not shown can be pressed, too
        self._line.append(button)
        return button

    @property
    def busy(self) -> bool:
        """Whether an answer is still to come."""
        return self._now is not None

    @property
    def open(self) -> bool:
        """Whether it may be asked now: what writes is not replaced."""
        return self._now is None or self._cancels

    def say(self, text: str) -> None:
        """Show a line of status; without text there is none."""
        self._spoken = True
        if self.status.object != text:
            self.status.object = text

    def start(
        self,
        work: Callable[[], Any],
        done: Callable[[Any], None],
        doing: str | Callable[[Progress], str],
        cancels: bool = True,
    ) -> None:
        """Ask: `work` is done on a thread, and `done(its result)` on the page's. `doing` says it in words, or
        makes of its progress what to say. Without `cancels` nobody may stop it, and what is asked before
        it is over (by a second click, say) is not done: it writes."""
        if not self.open:
            return
        self.cancel()
        self._now, self._done = Session.current().submit(self, self._pool, work), done
        self._meanwhile = doing if callable(doing) else partial(self._so_far, doing)
        self._cancels = cancels
        if self._was is None:
            self._shown = time.monotonic() + QUIET_S - SHOWN_S

    def cancel(self) -> None:
        """Stop what is being done, if it can be stopped."""
        if self._now is not None:
            self._now.cancel()

    def drop(self) -> None:
        """Nobody waits any more; what writes goes on."""
        if self._cancels:
            self.cancel()
        self._now = None

    def look(self) -> None:
        """Show how far it is, or its end."""
        if self._now is None:
            return
        waited, first = time.monotonic() - self._shown, self._was is None
        if self._now.over and (waited >= SHOWN_S or first):
            self._end(self._now)
        elif not self._now.over and waited >= max(SHOWN_S, 0 if first else TASK_S * sum(HERE.counts())):
            self._shown = time.monotonic()
            self._show(self._now.progress())

    def _show(self, progress: Progress) -> None:
        if self._box is not None and self._box.objects:
            self._box[:] = []
        if self._was is None:
            self._was = [button.disabled for button in self._buttons]
            for button in self._buttons:
                button.disabled = True
        self.bar.variant = "determinate" if progress.total else "indeterminate"
        self.bar.value = round(100 * progress.done / progress.total) if progress.total else 0
        self.bar.visible, self.cancel_button.visible = True, self._cancels
        self.say(self._meanwhile(progress))

    def _so_far(self, doing: str, progress: Progress) -> str:
        spark = shared_engine().state
        waits = f"; {spark}" if self._pool is ELSEWHERE and spark.phase != "ready" else ""
        return f"{doing} {str(progress).removeprefix('running, ')}{waits}"

    def _end(self, asked: Task) -> None:
        self._now = None
        if self._was is not None:
            self.bar.visible = self.cancel_button.visible = False
            for button, disabled in zip(self._buttons, self._was, strict=True):
                button.disabled = disabled
        self._was = None
        self._spoken = answered = False
        try:
            self._done(asked.result())
            answered = True
            if not self._spoken and not self.busy:  # else what was said meanwhile would stay
                self.say(asked.said)
        except Cancelled:
            self._fail("Cancelled.")
        except ExplorerError as error:
            self._fail(f"⚠ {error}")
        except Exception as error:  # nobody else would tell the person
            logging.getLogger(__name__).exception("work in the background failed")
            self._fail(f"⚠ {explain(error, shared_engine().lost)}")
        if not self.busy:
            self._settled(answered)

    def _fail(self, reason: str) -> None:
        if self._box is not None:
            self._box[:] = []
        self.say(reason)


def answered(work: Callable[[], Any], show: Callable[[Any], Sequence[Any]], doing: str, pool: Pool = HERE) -> Any:
    """A panel that is the answer to one question, asked now: `show` makes its parts of the result of `work`."""
    box = pn.Column(sizing_mode="stretch_both")
    job = Job(box=box, pool=pool)

    def fill(result: Any) -> None:
        box[:] = show(result)

    job.start(work, fill, doing)
    return pn.Column(job.view, box, sizing_mode="stretch_both")
