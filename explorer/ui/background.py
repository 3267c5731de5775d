"""Questions that take long, off the page's thread: one `Job` a panel."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cached_property, partial
from typing import Any, ClassVar, Protocol

import panel as pn
import panel_material_ui as pmui
from panel.io.callbacks import PeriodicCallback
from panel.io.state import set_curdoc

from explorer.errors import ExplorerError
from explorer.progress import Cancelled, Progress
from explorer.serving.pools import ELSEWHERE, HERE, Pool, PoolTask
from explorer.spark_engine.failures import explain
from explorer.spark_engine.spark import shared_engine
from explorer.spec.secrets.redaction import redact
from explorer.ui.visitors import submit
from explorer.ui.widgets import note

TICK_MS = 100
QUIET_S, SHOWN_S, TASK_S = 0.4, 0.25, 0.05
"""What is over sooner than the first shows no progress; what takes longer shows it anew after each of the second. The
more tasks there are, the less often is progress shown: all that is sent waits behind the threads that compute."""


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
    the page. `answered` is called when some are over."""

    _all: ClassVar[dict[Any, Session]] = {}

    def __init__(self, document: Any) -> None:
        self.jobs: set[Asked] = set()
        self.answered: Callable[[], None] = lambda: None
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

    def submit(self, job: Asked, pool: Pool, work: Callable[[], Any]) -> PoolTask:
        """Have the work of a job done, and look after the job from now on."""
        self.jobs.add(job)
        if not self._ticking.running:
            self._ticking.start()
        task = submit(pool, work, self)
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
            asked, self.jobs = self.jobs, {job for job in self.jobs if job.busy}
            if not self.jobs:
                self._ticking.stop()
            if self.jobs != asked:
                self.answered()

    def _end(self, document: Any) -> None:
        self._all.pop(document, None)
        for job in self.jobs:
            job.drop()
        self.jobs.clear()
        self._document, self.answered = None, lambda: None


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
        self._now: PoolTask | None = None
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
        rest = SHOWN_S if self._was is None else max(SHOWN_S, TASK_S * sum(HERE.counts()))
        if self._now.over:
            self._end(self._now)
        elif time.monotonic() - self._shown >= rest:
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

    def _end(self, asked: PoolTask) -> None:
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
            self._fail(f"⚠ {explain(error, shared_engine().is_lost)}")
        if not self.busy:
            self._settled(answered)

    def _fail(self, reason: str) -> None:
        if self._box is not None:
            self._box[:] = []
        self.say(redact(reason))


def answered(work: Callable[[], Any], show: Callable[[Any], Sequence[Any]], doing: str, pool: Pool = HERE) -> Any:
    """A panel that is the answer to one question, asked now: `show` makes its parts of the result of `work`."""
    box = pn.Column(sizing_mode="stretch_both", scroll=True)
    job = Job(box=box, pool=pool)

    def fill(result: Any) -> None:
        box[:] = show(result)

    job.start(work, fill, doing)
    return pn.Column(job.view, box, sizing_mode="stretch_both")
