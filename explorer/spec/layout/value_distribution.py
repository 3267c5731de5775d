"""How a column's values are spread over rows, as far as bounds tell: evenly between the bounds of each file."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal

import numpy as np
import numpy.typing as npt

from explorer.spec.scan.ranges import Values, join_values, values_of
from explorer.spec.values.ordering import float_keys, float_values

Floats = npt.NDArray[np.float64]
MOST, LEFT = 4096, 1024
"""Intervals that are kept, and what is left of more: as many with the same number of rows each."""
POINTS = 1 << 16
"""Places at which all intervals of a curve together are looked at, where there is room."""
_LARGEST = float(np.finfo(np.float64).max / 4)
_FURTHEST = float(2**64 - 2048)
_DAY_NS = 86_400_000_000_000
TINY = 1e-9
"""What a division may be off by."""
_LETTERS = 24
"""Letters of a text, behind what all have in common, that are looked at."""


@dataclass(frozen=True)
class Axis:
    """Values of one column as numbers of the same order, between which there is a middle, and back. `step` is what lies
    between a number and the next; 0 where there is none. `prefix` is what all texts begin with. Integers are counted
    from the lowest, since a float has no steps of one above 2**53."""

    numbers: Callable[[Values], Floats]
    values: Callable[[Floats], Values]
    step: float = 1
    prefix: str = ""
    letter: float = 0.0
    """Of texts, how far apart those are that differ in the first letter behind the prefix."""

    @classmethod
    def of(cls, kind: str, bounds: Values) -> Axis | None:
        """For values (see spec.scan.ranges.Bounds) between such bounds; None for a type that has no middle."""
        if kind in ("float", "double"):
            return cls(lambda v: np.clip(float_values(v), -_LARGEST, _LARGEST), float_keys, 0)
        if kind.startswith("decimal"):
            return cls(_floats, lambda n: values_of([Decimal(str(x)) for x in n.tolist()]), 0)
        if bounds.dtype != object:
            return _integers(bounds, _DAY_NS if "_ns" in kind else 1)
        if isinstance(bounds[0], (str, bytes)):
            return _letters(isinstance(bounds[0], bytes), bounds)
        return None


def _floats(values: Values) -> Floats:
    return np.array([float(v) for v in values]) if values.dtype == object else values.astype(np.float64)


def _integers(bounds: Values, unit: int) -> Axis:
    """Counted from the lowest, or from a multiple of `unit` below it; modulo 2**64, since that may be far away."""
    low, high = int(bounds.min()), int(bounds.max())
    first = low - low % unit if low - low % unit >= -(2**63) else low
    start, furthest = np.uint64(first % 2**64), high - first

    def numbers(values: Values) -> Floats:
        counted: Values = values.astype(np.int64).view(np.uint64) - start
        return counted.astype(np.float64)

    def values(numbers: Floats) -> Values:
        counted: Values = np.clip(np.rint(numbers), 0, _FURTHEST).astype(np.uint64)
        counted = np.minimum(counted, np.uint64(furthest)) + start
        return counted.view(np.int64)

    return Axis(numbers, values, max(1.0, 2 * float(np.spacing(float(furthest)))))


def _letters(raw: bool, bounds: Values) -> Axis:
    """Texts as numbers whose digits are letters, of which there are those between the lowest and the highest seen."""
    texts: list[str] = [v.decode("latin-1") if raw else v for v in set(bounds.tolist())]
    low, high = min(texts), max(texts)
    prefix = low[: next((at for at, (a, b) in enumerate(zip(low, high, strict=False)) if a != b), len(low))]
    start = len(prefix)
    seen = [ord(c) for t in texts for c in t[start : start + _LETTERS]] or [0]
    first, base = min(seen), max(seen) - min(seen) + 2
    places = min(_LETTERS, max(1, int(52 / math.log2(base))))

    def number(text: str) -> int:
        digits = [ord(c) - first + 1 for c in text[start : start + places]]
        total = 0
        for at in range(places):
            total = total * base + (digits[at] if at < len(digits) else 0)
        return total

    def text(number: int) -> str:
        letters = []
        for at in reversed(range(places)):
            digit = number // base**at % base
            if not digit:
                break
            letters.append(chr(first + digit - 1))
        return prefix + "".join(letters)

    def numbers(values: Values) -> Floats:
        of_text = {v: number(v.decode("latin-1") if raw else v) for v in set(values.tolist())}
        return np.fromiter(map(of_text.__getitem__, values.tolist()), np.float64, len(values))

    def values(numbers: Floats) -> Values:
        decoded = [text(max(0, int(n))) for n in np.rint(numbers).tolist()]
        return values_of([t.encode("latin-1") for t in decoded] if raw else decoded)

    return Axis(numbers, values, 1, prefix, float(base ** (places - 1)))


class Spread:
    """The bounds of a column in some files, weighted with their rows: at most MOST intervals. `nulls` are rows without
    a value."""

    def __init__(self, kind: str) -> None:
        self.nulls = 0.0
        self._kind = kind
        self._cells: list[tuple[Values, Values, Floats]] = []
        self._count = 0

    def add(self, lows: Values, highs: Values, rows: Floats) -> None:
        """Files with both bounds, and how many rows of each have a value."""
        if len(lows):
            self._cells.append((lows, highs, rows))
            self._count += len(lows)
        if self._count > MOST and (axis := Axis.of(self._kind, self.bounds)) and (curve := self.curve(axis)):
            self._cells = [(*curve.between(np.linspace(0, 1, LEFT + 1)), np.full(LEFT, curve.rows / LEFT))]
            self._count = LEFT

    @property
    def bounds(self) -> Values:
        """All lower and upper bounds that are kept."""
        return join_values([side for lows, highs, _ in self._cells for side in (lows, highs)])

    def curve(self, axis: Axis, points: int = POINTS) -> Curve | None:
        """The spread on an axis that was made of its bounds, or of these and more; None without any rows."""
        rows = np.concatenate([np.zeros(0), *(rows for *_, rows in self._cells)])
        if not rows.sum():
            return None
        lows, highs = (join_values([cell[side] for cell in self._cells]) for side in (0, 1))
        return Curve(axis, axis.numbers(lows), axis.numbers(highs), rows, points)


class Curve:
    """How many rows have a value up to a place of an axis: more and more between the bounds of a file, and no more
    between those of one and the next."""

    def __init__(self, axis: Axis, lows: Floats, highs: Floats, rows: Floats, points: int) -> None:
        self.axis, self.rows = axis, float(rows.sum())
        self.low, self.high = float(lows.min()), float(np.maximum(lows, highs).max())
        half = axis.step / 2
        lows, highs = lows - half, np.maximum(lows, highs) + half
        count = max(4, min(64, points // len(lows)))
        middles = (np.arange(count) + 0.5) / count
        first = np.argsort(lows, kind="stable")
        starts, ends = lows[first], np.maximum.accumulate(highs[first])
        apart = starts[1:] >= ends[:-1]
        begin, end = starts[np.append(True, apart)], ends[np.append(apart, True)]
        places = np.concatenate([begin, (lows[:, None] + (highs - lows)[:, None] * middles).ravel(), end])
        weights = np.concatenate([np.zeros(len(begin)), np.repeat(rows / count, count), np.zeros(len(end))])
        order = np.argsort(places, kind="stable")
        below = np.cumsum(weights[order])
        self._places = places[order]
        self._shares = (below - weights[order] / 2) / below[-1]
        begins, ended = order < len(begin), order >= len(places) - len(end)
        self._begins = self._places[begins] + half, self._shares[begins]
        self._ends = self._places[ended] - half, self._shares[ended]

    def at(self, shares: Floats) -> Values:
        """The values up to which such shares of the rows lie."""
        return self.axis.values(np.clip(np.interp(shares, self._shares, self._places), self.low, self.high))

    def between(self, shares: Floats) -> tuple[Values, Values]:
        """The lowest and the highest value between each of some shares of the rows and the next."""
        low, high = np.clip(shares[:-1], 0, 1), np.clip(shares[1:], 0, 1)
        begins, lower = self._begins[1], np.searchsorted(self._begins[1], low + TINY, "right") - 1
        ends, upper = self._ends[1], np.searchsorted(self._ends[1], high - TINY, "left")
        places = (
            np.where(begins[lower] >= low - TINY, self._begins[0][lower], np.interp(low, self._shares, self._places)),
            np.where(ends[upper] <= high + TINY, self._ends[0][upper], np.interp(high, self._shares, self._places)),
        )
        first, last = (self.axis.values(np.clip(p, self.low, self.high)) for p in places)
        return first, last

    def below(self, numbers: Floats) -> Floats:
        """Which share of the rows lies below each number of the axis."""
        shares: Floats = np.interp(numbers - self.axis.step / 2, self._places, self._shares)
        return shares
