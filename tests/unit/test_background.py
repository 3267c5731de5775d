"""Work off the page's thread: progress and cancel, fair threads, and a panel's one question."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any

import panel as pn
import panel_material_ui as pmui
import pytest
from bokeh.document import Document
from panel.io.state import set_curdoc

from explorer.errors import NotFoundInTable, NotPossible
from explorer.progress import Cancelled, Progress, Watch, as_one_step, is_cancelled, steps, tell
from explorer.serving import pools
from explorer.serving.pools import Pool, PoolTask
from explorer.storage.locate import locate
from explorer.storage.reader import TableReader
from explorer.table import Table
from explorer.ui.background import Job, Session
from tests.support.small_tables import make_table


class Gate:
    """Work that goes step by step until it is let through; `entered` once it runs."""

    def __init__(self, answer: object = None) -> None:
        self.answer, self.entered, self.open = answer, threading.Event(), threading.Event()

    def __call__(self) -> object:
        self.entered.set()
        for _ in steps(range(10_000), "waits"):
            if self.open.wait(0.005):
                return self.answer
        raise AssertionError("nobody opened the gate")


@pytest.fixture
def pool() -> Iterator[Pool]:
    made = Pool("test", 3, 2)
    yield made
    made.stop()
    Pool.every.remove(made)


def on_a_page(test: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Run as the event loop that a page has."""
    asyncio.run(asyncio.wait_for(test(), 30))


async def until(holds: Callable[[], Any]) -> None:
    while not holds():
        await asyncio.sleep(0.01)


def test_how_long_it_takes_is_told_once_it_can_be_known() -> None:
    assert str(Progress("running", 10, 100, "manifests", 5.0)) == "running, 10 of 100 manifests, 5.0 s, about 45 s left"
    assert "left" not in str(Progress("running", 1, 100, "manifests", 5.0))  # too few to tell
    assert "left" not in str(Progress("running", 10, 100, "manifests", 1.0))
    assert "left" not in str(Progress("running", 10, 0, "", 5.0))


# -- progress and cancel ----------------------------------------------------------------------------------------------
def test_without_a_watch_nothing_is_counted() -> None:
    assert list(steps([1, 2], "numbers")) == [1, 2]
    tell(1, 2, "numbers")
    assert not is_cancelled()


def test_of_nested_loops_the_outermost_tells() -> None:
    watch = Watch()
    told = []
    with watch.listening():
        for _ in steps("ab", "letters"):
            for _ in steps(range(5), "numbers"):
                told.append((watch.done, watch.total, watch.what))
        for _ in steps((n for n in range(3)), "more", total=3):
            told.append((watch.done, watch.total, watch.what))
    assert told == [(0, 2, "letters")] * 5 + [(1, 2, "letters")] * 5 + [(n, 3, "more") for n in range(3)]


def test_a_cancelled_loop_stops_between_two_steps() -> None:
    watch, done = Watch(), []

    def work() -> None:
        for outer in steps(range(3), "outer"):
            for inner in steps(range(3), "inner"):
                done.append((outer, inner))
                if len(done) == 4:
                    watch.cancel()

    with watch.listening(), pytest.raises(Cancelled):
        work()
    assert done == [(0, 0), (0, 1), (0, 2), (1, 0)]
    assert not is_cancelled()


def test_what_is_one_step_is_not_stopped_in_the_middle() -> None:
    watch, done = Watch(), list[int]()
    watch.cancel()
    with watch.listening():
        with as_one_step():
            done += steps(range(3), "numbers")
            assert not is_cancelled()
        assert is_cancelled()
    assert (done, watch.total) == ([0, 1, 2], 0)


QUESTIONS: dict[str, Callable[[Table], object]] = {
    "fate": lambda table: table.row_history("id = 2"),
    "row diff": lambda table: table.row_diff("snapshot-1", "snapshot-6"),
    "diff": lambda table: table.diff("snapshot-1", "snapshot-6"),
    "lifecycle": lambda table: table.lifecycle(),
    "commits": lambda table: table.commits(),
    "deletes": lambda table: table.deletes(),
    "entries": lambda table: table.entries(),
    "a file's life": lambda table: table.file_life(table.files().to_arrow()["file_path"][0].as_py()),
    "graph": lambda table: table.graph(),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_table(tmp_path_factory.mktemp("table"), commits=6)


@pytest.mark.parametrize("what", QUESTIONS)
def test_long_questions_tell_how_far_they_are_and_can_be_cancelled(what: str, folder: Path) -> None:
    told = list[tuple[int, int, str]]()

    class Noting(Watch):
        def tell(self, done: int, total: int, what: str) -> None:
            told.append((done, total, what))

    with Noting().listening():
        QUESTIONS[what](Table(TableReader(locate(str(folder)))))
    loops = [step for step in told if step[1]]
    assert loops
    assert all(done < total and what for done, total, what in loops)
    assert told[-1] == (0, 0, "")  # between loops nobody knows how far it is
    watch = Watch()
    watch.cancel()
    with watch.listening(), pytest.raises(Cancelled):
        QUESTIONS[what](Table(TableReader(locate(str(folder)))))


# -- threads ----------------------------------------------------------------------------------------------------------
def test_one_visitor_leaves_threads_to_others() -> None:
    """With however many pages; and others go first."""
    wide = Pool("wide", 6, 2)
    greedy = [Gate() for _ in range(8)]
    tasks = [wide.submit(gate, f"page {n}", visitor="10.0.0.1") for n, gate in enumerate(greedy)]
    assert all(gate.entered.wait(5) for gate in greedy[:2])
    other = wide.submit(lambda: "answered", "page", visitor="10.0.0.2")
    assert other.result(5) == "answered"
    assert wide.counts()[1] == 6
    for gate, task in zip(greedy, tasks, strict=True):
        gate.open.set()
        task.result(10)


def test_one_owner_does_not_take_every_thread(pool: Pool) -> None:
    greedy = [Gate() for _ in range(6)]
    tasks = [pool.submit(gate, "greedy") for gate in greedy]
    assert all(gate.entered.wait(5) for gate in greedy[:2])
    modest = Gate("answer")
    asked = pool.submit(modest, "modest")
    assert modest.entered.wait(5)
    modest.open.set()
    assert asked.result(5) == "answer"
    assert [task.progress().phase for task in tasks] == ["running"] * 2 + ["queued"] * 4
    assert not any(gate.entered.is_set() for gate in greedy[2:])


def test_who_has_least_under_way_goes_first(pool: Pool) -> None:
    gates = {name: Gate() for name in ("a1", "b1", "b2", "a2", "c1")}
    for name, gate in gates.items():
        pool.submit(gate, name[0])
    running = ("a1", "b1", "b2")
    assert all(gates[name].entered.wait(5) for name in running)
    gates["b1"].open.set()  # a thread is free: c has none, a has one
    assert gates["c1"].entered.wait(5)
    assert not gates["a2"].entered.is_set()
    gates["c1"].open.set()
    assert gates["a2"].entered.wait(5)


@pytest.fixture
def one_thread(monkeypatch: pytest.MonkeyPatch) -> Iterator[Pool]:
    """A pool with a thread, and a place aside; what takes any time is long."""
    monkeypatch.setattr(pools, "LONG_S", 0.01)
    made = Pool("aside", 1, 1, aside=1)
    yield made
    made.stop()
    Pool.every.remove(made)


def test_what_takes_long_leaves_its_thread_to_others(one_thread: Pool) -> None:
    """Or two long questions of a stranger would hold up the clicks of all."""
    long = [Gate(n) for n in range(2)]
    tasks = [one_thread.submit(gate, f"stranger {n}") for n, gate in enumerate(long)]
    assert all(gate.entered.wait(30) for gate in long)  # one of them aside
    waiting = one_thread.submit(lambda: "answered", "honest")
    assert not waiting.answer.running()
    long[0].open.set()
    assert waiting.result(30) == "answered"
    assert not tasks[1].over
    long[1].open.set()
    assert tasks[1].result(30) == 1


def test_what_takes_longest_ends_for_who_has_no_thread(one_thread: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    long = [Gate(), Gate()]
    tasks = [one_thread.submit(gate, f"stranger {n}") for n, gate in enumerate(long)]
    assert all(gate.entered.wait(30) for gate in long)
    mine = one_thread.submit(lambda: "answered", "honest")
    monkeypatch.setattr(pools, "MOST_S", 0.05)
    assert mine.result(30) == "answered"
    with pytest.raises(NotPossible, match="since others wait and no thread is free"):
        tasks[0].result(30)
    assert tasks[0].progress().phase == "failed"


def test_what_takes_longest_goes_on_while_nobody_is_without(one_thread: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pools, "MOST_S", 0.0)
    long = [Gate(n) for n in range(2)]
    tasks = [one_thread.submit(gate, n) for n, gate in enumerate(long)]
    assert all(gate.entered.wait(30) for gate in long)
    again = one_thread.submit(lambda: 2, 0)  # who has a thread already
    time.sleep(0.3)
    assert not any(task.over for task in (*tasks, again))
    for gate in long:
        gate.open.set()
    assert [task.result(30) for task in (*tasks, again)] == [0, 1, 2]


def test_long_work_lets_short_work_go_first(one_thread: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pools, "SHARE", 10_000)
    done, enough = list[int](), threading.Event()

    def count() -> None:
        for n in steps(range(10**9), "numbers"):
            done.append(n)
            if enough.is_set():
                return

    task = one_thread.submit(count, "long")
    while not task.long:
        time.sleep(0.01)
    quick = Gate()
    monkeypatch.setattr(PoolTask, "long", property(lambda self: self is task))
    short = one_thread.submit(quick, "short")
    assert quick.entered.wait(30)
    time.sleep(2 * pools.TURN_S + 0.2)
    before = len(done)
    time.sleep(0.2)
    assert len(done) == before
    quick.open.set()
    short.result(30)
    while len(done) == before:
        time.sleep(0.01)
    enough.set()
    task.result(30)


def test_a_task_tells_its_phase_and_its_end(pool: Pool) -> None:
    gate = Gate(7)
    running = pool.submit(gate, "x")
    assert gate.entered.wait(5)
    assert running.progress().phase == "running"
    assert running.progress().what == "waits"
    gate.open.set()
    assert (running.result(5), running.progress().phase) == (7, "done")

    def fails() -> None:
        raise NotFoundInTable("no such thing")

    failing = pool.submit(fails, "x")
    with pytest.raises(NotFoundInTable):
        failing.result(5)
    assert failing.progress().phase == "failed"
    stopped = pool.submit(Gate(), "x")
    stopped.cancel()
    with pytest.raises(Cancelled):
        stopped.result(5)
    assert stopped.progress().phase == "cancelled"


def test_what_waits_and_is_cancelled_never_starts(pool: Pool) -> None:
    blocking = [Gate(), Gate()]
    for gate in blocking:
        pool.submit(gate, "x")
    waiting = Gate()
    task = pool.submit(waiting, "x")
    task.cancel()
    assert task.over
    blocking[0].open.set()
    last = Gate()
    pool.submit(last, "x")
    assert last.entered.wait(5)
    assert not waiting.entered.is_set()


# -- a panel's question -----------------------------------------------------------------------------------------------
def test_a_quick_answer_shows_no_progress(pool: Pool) -> None:
    async def test() -> None:
        button, answers = pmui.Button(), list[Any]()
        job = Job("before", [button], pool=pool)
        shown = list[bool]()
        button.param.watch(lambda event: shown.append(event.new), "disabled")
        job.start(lambda: threading.current_thread().name, answers.append, "Asking…")
        await until(lambda: not job.busy)
        assert answers
        assert answers[0].startswith("test")
        assert shown == []
        assert job.status.object == ""  # what stood there before answered something else
        assert not job.view.select((pmui.LinearProgress, pmui.Button))  # what most answers need not is not made

    on_a_page(test)


def test_a_slow_one_shows_how_far_it_is_and_can_be_cancelled(pool: Pool) -> None:
    async def test() -> None:
        settled, box = list[bool](), pn.Column("the last answer")
        button = pmui.Button(disabled=False)
        job = Job("", [button], box, pool, settled.append)
        gate = Gate()
        job.start(gate, lambda _: pytest.fail("it was cancelled"), "Asking…")
        await until(lambda: job.bar.visible)
        assert job.cancel_button.visible
        assert button.disabled
        assert job.status.object.startswith("Asking…")
        assert "of 10,000 waits" in job.status.object
        assert not box.objects  # what stood there answered another question
        job.cancel_button.clicks += 1
        await until(lambda: not job.busy)
        assert job.status.object == "Cancelled."
        assert not job.bar.visible
        assert not job.cancel_button.visible
        assert not button.disabled
        assert settled == [False]

    on_a_page(test)


def test_a_newer_question_replaces_the_older(pool: Pool) -> None:
    async def test() -> None:
        answers = list[Any]()
        job = Job(pool=pool)
        older, newer = Gate("older"), Gate("newer")
        job.start(older, answers.append, "Asking…")
        assert await asyncio.to_thread(older.entered.wait, 5)
        job.start(newer, answers.append, "Asking…")
        older.open.set()
        assert await asyncio.to_thread(newer.entered.wait, 5)
        await asyncio.sleep(0.2)  # the older one is over, and looked at by nobody
        assert job.busy
        assert answers == []
        newer.open.set()
        await until(lambda: not job.busy)
        assert answers == ["newer"]

    on_a_page(test)


def test_what_went_wrong_is_said(pool: Pool) -> None:
    def typo() -> None:
        raise NotFoundInTable("no column 'nam'")

    def fault() -> None:
        raise ZeroDivisionError("division by zero")

    async def test() -> None:
        for work, words in ((typo, "⚠ no column 'nam'"), (fault, "⚠ division by zero")):
            box = pn.Column("the last answer")
            job = Job(box=box, pool=pool)
            job.start(work, lambda _: pytest.fail("it failed"), "Asking…")
            await until(lambda job=job: not job.busy)
            assert job.status.object == words
            assert not box.objects

    on_a_page(test)


def test_what_shows_an_answer_may_fail_too(pool: Pool) -> None:
    async def test() -> None:
        def show(_: object) -> None:
            raise NotFoundInTable("gone meanwhile")

        job = Job(pool=pool)
        job.start(lambda: 1, show, "Asking…")
        await until(lambda: not job.busy)
        assert job.status.object == "⚠ gone meanwhile"

    on_a_page(test)


def test_what_writes_is_neither_cancelled_from_the_page_nor_replaced(pool: Pool) -> None:
    async def test() -> None:
        answers, gate = list[Any](), Gate("written")
        job = Job(pool=pool)
        job.start(gate, answers.append, "Writing…", cancels=False)
        await until(lambda: job.bar.visible)
        assert not job.cancel_button.visible
        job.cancel_button.clicks += 1  # a browser can press what is not shown
        job.start(lambda: pytest.fail("written twice"), answers.append, "Writing…")  # or press twice
        gate.open.set()
        await until(lambda: not job.busy)
        assert answers == ["written"]

    on_a_page(test)


def test_with_its_session_a_question_goes(pool: Pool) -> None:
    async def test() -> None:
        document, answers, gate = Document(), list[Any](), Gate()
        with set_curdoc(document):
            job = Job(pool=pool)
            job.start(gate, answers.append, "Asking…")
        assert await asyncio.to_thread(gate.entered.wait, 5)
        task: PoolTask | None = job._now
        assert task is not None
        for callback in list(document.callbacks.session_destroyed_callbacks):
            callback(None)
        await until(lambda: task.over)
        assert task.progress().phase == "cancelled"
        assert not job.busy
        assert answers == []

    on_a_page(test)


def test_two_sessions_are_two_owners(pool: Pool) -> None:
    async def test() -> None:
        gates = [Gate(), Gate(), Gate(), Gate()]
        documents = [Document(), Document()]
        for gate, document in zip(gates, [documents[0]] * 3 + [documents[1]], strict=True):
            with set_curdoc(document):
                Job(pool=pool).start(gate, lambda _: None, "Asking…")
        for i in (0, 1, 3):
            assert await asyncio.to_thread(gates[i].entered.wait, 5)
        assert not gates[2].entered.is_set()

    on_a_page(test)


def test_the_same_answer_twice_is_still_said(pool: Pool) -> None:
    async def test() -> None:
        job, answers = Job(pool=pool), list[int]()

        def done(answer: int) -> None:
            answers.append(answer)
            job.say("1 file added")

        for n in (1, 2):
            job.start(lambda n=n: n, done, "Comparing…")  # type: ignore[misc]
            await until(lambda n=n: len(answers) == n)  # type: ignore[misc]
            await until(lambda: not job.busy)
            assert (job.status.object, job.view.visible) == ("1 file added", True)

    on_a_page(test)


def test_the_page_answers_while_a_question_computes(pool: Pool) -> None:
    """Python computes on one thread at a time: what holds it gives way after some milliseconds."""

    def compute() -> int:
        return sum(i * i for _ in steps(range(40), "sums") for i in range(100_000))

    async def test() -> None:
        job, answers, pauses = Job(pool=pool), list[Any](), list[float]()
        job.start(compute, answers.append, "Computing…")
        while not answers:
            began = time.monotonic()
            await asyncio.sleep(0)
            sum(range(10_000))
            pauses.append(time.monotonic() - began)
            await asyncio.sleep(0.01)
        assert len(pauses) > 5
        assert sorted(pauses)[len(pauses) // 2] < 0.1

    on_a_page(test)


def test_an_answer_is_drawn_on_its_own_page() -> None:
    """Whichever page Bokeh takes for the current one, which a thread that tells of an answer changes for all threads:
    Panel would take that one's styles, which can be on one page only."""
    mine, other, drawn = Document(), Document(), []
    with set_curdoc(mine):
        job = Job(pool=Pool("own", 1, 1))
        job.start(lambda: None, lambda _: drawn.append(pn.state.curdoc), "…")
        session = Session.current()
    assert job._now is not None
    job._now.result(10)
    with set_curdoc(other):
        session._look()
    assert drawn == [mine]
