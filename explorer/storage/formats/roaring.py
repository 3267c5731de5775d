"""Positions of a 64-bit Roaring bitmap (RoaringFormatSpec, "Extension for 64-bit implementations"), a container of at
most 65,536 at a time: a few kilobytes can hold millions, and while a library makes a list of all of them no other
thread goes on, and nobody can cancel."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from explorer.progress import check_cancelled

PLAIN, WITH_RUNS = 12346, 12347
"""The first number of a 32-bit bitmap: without and with runs."""
WITHOUT_OFFSETS = 4
"""Containers of a bitmap with runs that has no offsets of them."""
ARRAY, WORDS, SIZE = 4096, 8192, 1 << 16
"""Positions of which a container is a list of them at most, bytes of one that has a bit for each, and positions."""
Positions = npt.NDArray[np.int64]


@dataclass(frozen=True)
class _Container:
    """Where one is, what positions in it begin with, how many it has, and its kind: `runs`, `list` or `bits`."""

    at: int
    first: int
    count: int
    kind: str
    runs: int = 0


def count(data: bytes) -> int:
    """Return how many positions a bitmap has, without making them. Raises ValueError for what is no bitmap."""
    return sum(container.count for container in _containers(data))


def positions(data: bytes, size: int) -> Positions:
    """Return the positions of a bitmap.

    Args:
        data: The bitmap, in the portable form.
        size: How many it has: see `count`.

    Returns:
        The positions, ascending.

    Raises:
        ValueError: The data is no bitmap, or has another number of positions.
        Cancelled: Somebody said not to go on.
    """
    whole = np.empty(size, np.int64)
    done = 0
    for container in _containers(data):
        part = _values(data, container)
        if done + len(part) > size:
            raise ValueError("it has more positions than were counted")
        whole[done : done + len(part)] = part
        whole[done : done + len(part)] += container.first
        done += len(part)
    if done != size:
        raise ValueError("it has fewer positions than were counted")
    return whole


def _containers(data: bytes) -> Iterator[_Container]:
    bitmaps, at, before = _number(data, 0, 8), 8, -1
    if bitmaps > len(data) // 8:
        raise ValueError(f"it claims {bitmaps:,} bitmaps in {len(data):,} bytes")
    for _ in range(bitmaps):
        key, at = _number(data, at, 4), at + 4
        if key <= before:
            raise ValueError("its bitmaps are not in order")
        if key >= 1 << 31:
            raise ValueError(f"it has the position {key << 32:,}, which has no place in 63 bits")
        before = key
        at = yield from _bitmap(data, at, key << 32)


def _bitmap(data: bytes, at: int, first: int) -> Generator[_Container, None, int]:
    """The containers of a 32-bit bitmap; returns where it ends."""
    cookie = _number(data, at, 4)
    if cookie == PLAIN:
        number, at, marks = _number(data, at + 4, 4), at + 8, b""
    elif cookie & 0xFFFF == WITH_RUNS:
        number, at = (cookie >> 16) + 1, at + 4
        marks = _part(data, at, (number + 7) // 8)
        at += len(marks)
    else:
        raise ValueError("one of its bitmaps begins with another number than bitmaps do")
    if number > SIZE:
        raise ValueError(f"one of its bitmaps claims {number:,} containers")
    heads = np.frombuffer(_part(data, at, 4 * number), "<u2").reshape(number, 2).astype(np.int64)
    if number > 1 and (np.diff(heads[:, 0]) <= 0).any():
        raise ValueError("its containers are not in order")
    at += 4 * number
    if not marks or number >= WITHOUT_OFFSETS:
        at += len(_part(data, at, 4 * number))  # where each is: right behind the one before
    for n, (key, most) in enumerate(heads.tolist()):
        check_cancelled()
        begin = first + (key << 16)
        if marks and marks[n // 8] >> n % 8 & 1:
            runs = _number(data, at, 2)
            lengths = np.frombuffer(_part(data, at + 2, 4 * runs), "<u2")[1::2]
            yield _Container(at + 2, begin, int(lengths.sum(dtype=np.int64)) + runs, "runs", runs)
            at += 2 + 4 * runs
        elif most < ARRAY:
            _part(data, at, 2 * (most + 1))
            yield _Container(at, begin, most + 1, "list")
            at += 2 * (most + 1)
        else:
            _part(data, at, WORDS)
            yield _Container(at, begin, most + 1, "bits")
            at += WORDS
    return at


def _values(data: bytes, container: _Container) -> Positions:
    """What is in a container."""
    if container.kind == "runs":
        pairs = np.frombuffer(data, "<u2", 2 * container.runs, container.at).reshape(-1, 2).astype(np.int64)
        starts, lengths = pairs[:, 0], pairs[:, 1] + 1
        ends = starts + lengths
        if container.runs and (ends[-1] > SIZE or (starts[1:] < ends[:-1]).any()):
            raise ValueError("the runs of a container overlap, or are not in order")
        begins = np.cumsum(lengths) - lengths
        return np.arange(container.count, dtype=np.int64) + np.repeat(starts - begins, lengths)
    if container.kind == "list":
        values = np.frombuffer(data, "<u2", container.count, container.at).astype(np.int64)
        if (np.diff(values) <= 0).any():
            raise ValueError("the positions of a container are not in order")
        return values
    bits = np.unpackbits(np.frombuffer(data, np.uint8, WORDS, container.at), bitorder="little")
    values = np.flatnonzero(bits)
    if len(values) != container.count:
        raise ValueError(f"a container claims {container.count:,} positions and has {len(values):,}")
    return values


def _part(data: bytes, at: int, size: int) -> bytes:
    part = data[at : at + size]
    if len(part) < size:
        raise ValueError("it is cut off")
    return part


def _number(data: bytes, at: int, size: int) -> int:
    return int.from_bytes(_part(data, at, size), "little")
