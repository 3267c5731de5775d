"""The collector of circles looks when nobody waits, after a while, or when there is much that is new."""

from __future__ import annotations

import gc
import subprocess
import sys
import weakref
from types import SimpleNamespace

import pytest

from explorer.serving import collector
from explorer.serving.collector import AGAIN_S, Collector
from explorer.storage import limits


class Circle:
    """What only the collector removes."""

    def __init__(self) -> None:
        self.itself = self


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """A collector whose clock and memory are set, and what it did."""
    state = SimpleNamespace(now=1_000.0, memory=0, did=[])
    monkeypatch.setattr(collector.time, "monotonic", lambda: state.now)
    for name in ("collect", "freeze", "unfreeze"):
        monkeypatch.setattr(collector.gc, name, lambda name=name: state.did.append(name))
    state.collector = Collector(lambda: state.memory)
    return state


def did(looks: SimpleNamespace, seconds: float, is_busy: bool) -> list[str]:
    looks.now += seconds
    looks.did.clear()
    looks.collector.look(is_busy)
    return list(looks.did)


NEW, EVERYTHING = ["collect", "freeze"], ["unfreeze", "collect", "freeze"]


def test_where_nothing_is_done_nothing_is_looked_at(looks: SimpleNamespace) -> None:
    assert [did(looks, AGAIN_S, False) for _ in range(20)] == [[]] * 20


def test_under_load_it_looks_at_what_is_new_alone(looks: SimpleNamespace) -> None:
    every = [did(looks, 1, True) for _ in range(600)]
    assert every.count(NEW) == 600 / AGAIN_S
    assert EVERYTHING not in every


def test_it_looks_through_everything_when_nobody_waits_and_once(looks: SimpleNamespace) -> None:
    assert did(looks, 1, True) == []
    assert did(looks, 1, False) == []
    assert did(looks, AGAIN_S, False) == EVERYTHING
    assert did(looks, 10 * AGAIN_S, False) == []


def test_it_looks_where_memory_grows(looks: SimpleNamespace) -> None:
    looks.memory += limits.share(16)
    assert did(looks, 1, True) == NEW
    assert did(looks, 1, True) == []
    looks.memory += 2 * limits.share(1)
    assert did(looks, 1, True) == EVERYTHING


def test_what_it_looks_at_is_removed() -> None:
    one = Collector(lambda: 0)
    first = weakref.ref(Circle())
    one._has_worked, one._new = True, (0.0, 0)
    one._everything = (float("inf"), 0)
    one.look(True)
    assert first() is None
    kept = Circle()
    second = weakref.ref(kept)
    one._new = (0.0, 0)
    one.look(True)  # which is there, and not looked at again
    del kept
    one._new = (0.0, 0)
    one.look(True)
    assert second() is not None
    one._everything = (0.0, 0)
    one.look(False)
    assert second() is None
    gc.unfreeze()


def test_python_looks_through_everything_no_more_by_itself() -> None:
    code = """
import gc
from explorer.serving import collector
collector.start()
seen = []
gc.callbacks.append(lambda phase, about: seen.append(about["generation"]))
many = [[[]] for _ in range(400_000)]
assert 1 in seen and 2 not in seen, set(seen)
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)
