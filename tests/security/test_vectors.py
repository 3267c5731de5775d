"""Bitmaps of deletion vectors: as a library reads them, a container at a time, and refused where they are none."""

from __future__ import annotations

import random
import struct
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from pyroaring import BitMap64

from explorer.progress import Cancelled, Watch
from explorer.storage.formats import roaring

SHAPES: dict[str, Callable[[random.Random], Any]] = {
    "none": lambda draw: [],
    "one": lambda draw: [0],
    "few": lambda draw: draw.sample(range(100_000), 50),
    "a list that is full": lambda draw: draw.sample(range(65_536), 4096),
    "bits": lambda draw: draw.sample(range(65_536), 4097),
    "every second": lambda draw: range(0, 400_000, 2),
    "runs": lambda draw: [n for start in draw.sample(range(0, 1 << 20, 100), 60) for n in range(start, start + 50)],
    "far": lambda draw: [draw.randrange(1 << 62) for _ in range(200)],
    "the last": lambda draw: [(1 << 63) - 1, 65_535, 65_536, (1 << 32) - 1, 1 << 32],
    "all kinds": lambda draw: [*range(70_000), *range(1 << 20, 1 << 21, 3), *(1 << 40 | n for n in range(9))],
}


def bitmap(values: Any, runs: bool) -> bytes:
    made = BitMap64(values)
    if runs:
        made.run_optimize()
    return bytes(made.serialize())


@pytest.mark.parametrize("runs", [False, True])
@pytest.mark.parametrize("shape", SHAPES)
def test_positions_are_those_of_the_library(shape: str, runs: bool) -> None:
    values = SHAPES[shape](random.Random(7))
    data = bitmap(values, runs)
    read = roaring.positions(data, roaring.count(data))
    assert read.tolist() == sorted(set(values))
    assert read.dtype == np.int64


def test_a_small_vector_of_millions_is_made_in_portions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four kilobytes took the lock for a second."""
    data = bitmap(range(19_000_000), True)
    assert len(data) < 8_000
    parts, once = list[int](), roaring._values

    def noted(*asked: Any) -> Any:
        part = once(*asked)
        parts.append(len(part))
        return part

    monkeypatch.setattr(roaring, "_values", noted)
    assert roaring.count(data) == 19_000_000
    assert not parts  # nothing is made to count them
    watch = Watch()
    monkeypatch.setattr(roaring, "_values", lambda *asked: (len(parts) == 5 and watch.cancel()) or noted(*asked))
    with watch.listening(), pytest.raises(Cancelled):
        roaring.positions(data, 19_000_000)
    assert len(parts) == 6
    assert max(parts) <= roaring.SIZE


def damaged(values: Any, at: int, instead: bytes, runs: bool = False) -> bytes:
    data = bytearray(bitmap(values, runs))
    data[at : at + len(instead)] = instead
    return bytes(data)


WRONG = {
    "many bitmaps": struct.pack("<Q", 1 << 40),
    "cut off": bitmap(range(50), False)[:-1],
    "no cookie": damaged([1], 12, b"\xff\xff"),
    "many containers": damaged([1], 16, b"\xff\xff\xff\xff"),
    "a list that is not in order": damaged([1, 5, 9], -6, struct.pack("<HHH", 9, 5, 5)),
    "bits that are fewer": damaged(range(0, 20_000, 2), 22, struct.pack("<H", 9_000)),
    "containers not in order": damaged([1, 70_000], 24, struct.pack("<H", 0)),
    "bitmaps not in order": bitmap([1, 1 << 33], False)[:8] + bitmap([1], False)[8:] * 2,
    "runs that overlap": damaged([*range(100), *range(200, 300)], -4, struct.pack("<HH", 50, 99), True),
    "a run beyond the end": damaged([*range(100), *range(200, 300)], -4, struct.pack("<HH", 65_530, 99), True),
    "a position beyond 63 bits": bitmap([1 << 63], False),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_is_no_bitmap_is_refused(what: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011  # each says something else
        roaring.positions(WRONG[what], roaring.count(WRONG[what]))


def test_damage_is_refused_or_harmless() -> None:
    """And nothing else is raised; where the library takes it, too, both read the same."""
    draw = random.Random(11)
    for _ in range(2_000):
        shape = SHAPES[draw.choice(["few", "runs", "all kinds", "far"])](draw)
        data = bytearray(bitmap(list(shape)[:2_000], draw.random() < 0.5))
        for _ in range(draw.randrange(1, 4)):
            data[draw.randrange(min(len(data), 60))] = draw.randrange(256)
        try:
            theirs = list(BitMap64.deserialize(bytes(data)))
        except ValueError:
            theirs = None
        try:
            count = roaring.count(bytes(data))
            ours = roaring.positions(bytes(data), count).tolist() if count < 1_000_000 else theirs
        except ValueError:
            continue
        assert theirs is None or ours == theirs
        assert ours is None or ours == sorted(set(ours))
