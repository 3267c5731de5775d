"""Work off the page's thread: progress and cancel, and fair threads."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from explorer.errors import NotFoundInTable, NotPossible
from explorer.progress import Cancelled, Progress, Watch, as_one_step, is_cancelled, steps, tell
from explorer.serving import pools
from explorer.serving.pools import Pool, PoolTask
from explorer.storage.locate import locate
from explorer.storage.reader import TableReader
from explorer.table import Table
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
    monkeypatch.setattr(PoolTask, "is_light", property(lambda self: self is not task))
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


def test_work_is_light_until_it_has_computed_for_a_while(one_thread: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    """What waits takes nothing of the processor, and what waits for a catalog is never in a person's way."""
    if not hasattr(time, "pthread_getcpuclockid"):
        pytest.skip("the system does not tell what another thread has taken")
    gate = Gate()
    waits = one_thread.submit(gate, "waits")
    assert gate.entered.wait(30)
    time.sleep(2 * pools.LIGHT_S)
    assert waits.is_light
    assert PoolTask(lambda: None, "one").is_light
    assert not PoolTask(lambda: None, "one", computes=False).is_light
    monkeypatch.setattr(pools, "LIGHTEST_S", 0.1)
    assert not waits.is_light
    monkeypatch.undo()
    gate.open.set()
    waits.result(30)
    seen = list[bool]()

    def compute() -> None:
        until = time.thread_time() + 2 * pools.LIGHT_S
        seen.append(task.is_light)
        while time.thread_time() < until:
            pass
        seen.append(task.is_light)

    began = threading.Event()
    task = one_thread.submit(lambda: began.wait(30) and compute(), "computes")
    began.set()
    task.result(30)
    assert seen == [True, False]


@pytest.mark.parametrize("others", [0, 7])
def test_all_that_is_under_way_leaves_as_much_to_light_work_as_one(
    others: int, one_thread: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So much longer each waits: counted are the bits in which it does."""
    rests, now = list[float](), [100.0]
    monkeypatch.setattr(PoolTask, "is_light", property(lambda task: task.owner == "light"))
    heavy = [PoolTask(lambda: None, number) for number in range(1 + others)]
    monkeypatch.setattr(one_thread, "_running", [*heavy, PoolTask(lambda: None, "light")])
    monkeypatch.setattr(Pool, "every", [one_thread])
    heavy[0].thread = threading.get_ident()

    def sleep(seconds: float) -> None:
        rests.append(seconds)
        now[0] += seconds

    monkeypatch.setattr(pools, "time", SimpleNamespace(monotonic=lambda: now[0], sleep=sleep))
    assert not heavy[0]._watch.cancelled
    assert sum(rests) == pytest.approx(pools.SHARE * pools.TURN_S * (1 + others), rel=0.3)
    assert len(rests) <= pools.SHARE * pools.TURN_S / pools.REST_S + 1
    before = len(rests)
    assert not heavy[0]._watch.cancelled  # it is its turn
    assert len(rests) == before


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
