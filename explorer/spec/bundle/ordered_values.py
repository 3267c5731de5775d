"""Values that take the place of a table's own, in the same order and of the same length.

A value is a path of steps: a text of its characters, a time of year, month, day, hour and the rest. The values of a
column form a tree of such paths. Each step becomes its place among the steps beside it, so the new values tell which
value comes first, how long each is, and which begin alike, and nothing else. Transforms that keep the beginning of a
value (truncate of texts, year, month, day, hour) therefore hold between new values too (spec: "Partition
Transforms"). Numbers become their place, counted from zero, or
that in their block where a table truncates them."""

from __future__ import annotations

import datetime
import math
import struct
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any, Literal

import numpy as np

Family = Literal["text", "bytes", "moment", "number", "real"]
"""How the values of a column are ordered. The types that a column may be promoted to are in its family."""

DAY_US, HOUR_US = 86_400_000_000, 3_600_000_000
FIRST_YEAR = 2000
EPOCH = datetime.date(1970, 1, 1).toordinal()
SIGN = 0x80
"""The first bit of the first byte."""
LONGEST = 1_000_000
"""Bytes of a text that is replaced."""
LETTERS = "abcdefghijklmnopqrstuvwxyz"
IDEOGRAPHS, SYLLABLES, PLANES = (0x4E00, 0xA000), (0xAC00, 0xD7A4), 0x10000
ZERO = 1 << 127
"""What a packed number has as its zero."""
CALENDAR = {"year": 1, "month": 2, "day": 3, "hour": 4}
"""How many steps of a time a transform keeps."""


def family_of(kind: Any) -> Family | None:
    """Name the family of a column's type.

    Args:
        kind: The type, as the spec's JSON has it.

    Returns:
        The family; None where values of the type are not replaced in order: booleans, and what has no order here.
    """
    return _family(kind) if isinstance(kind, str) else None


@lru_cache
def _family(kind: str) -> Family | None:
    name = kind.partition("(")[0].partition("[")[0].strip()
    families: dict[str, Family] = {
        "string": "text", "uuid": "bytes", "fixed": "bytes", "binary": "bytes", "int": "number", "long": "number",
        "decimal": "number", "time": "number", "float": "real", "double": "real", "date": "moment",
    }  # fmt: skip
    return "moment" if name.startswith("timestamp") else families.get(name)


# -- packed values: bytes that are ordered as the values are ----------------------------------------------------------
def pack(value: Any, kind: str, transform: str = "identity") -> bytes | None:
    """Pack an internal value.

    Args:
        value: Of a date its days, of a time its microseconds or nanoseconds, of a decimal its digits as a whole
            number; what a transform of the calendar gives, if one is named.
        kind: The type of the column.
        transform: identity, year, month, day or hour.

    Returns:
        Bytes that are ordered as the values are; None for NaN, zero and infinity of a real number, which stay.

    Raises:
        ValueError, TypeError, OverflowError, AttributeError: It is no value of that type.
    """
    family = family_of(kind)
    if family in ("text", "bytes"):
        return within_longest(bytes(value.encode() if family == "text" else value))
    if family == "moment":
        return _pack_steps(_steps(value, kind, transform))
    if family == "real":
        if math.isnan(value) or math.isinf(value) or value == 0:
            return None
        bits = struct.unpack(">q", struct.pack(">d", abs(value)))[0]
        return _pack_number(bits if value > 0 else -bits)
    return _pack_number(int(value))


def within_longest(packed: bytes) -> bytes:
    """Return a packed text or bytes. Raises ValueError for one that is too long: each of its characters is a step."""
    if len(packed) > LONGEST:
        raise ValueError(f"a text of {len(packed):,} bytes: at most {LONGEST:,} are replaced")
    return packed


def unpack(packed: bytes, kind: str, transform: str = "identity") -> Any:
    """Return the internal value of what `in_order` made of a packed one."""
    family = family_of(kind)
    if family == "text":
        return packed.decode()
    if family == "bytes":
        return packed
    if family == "moment":
        return _moment(_unpack_steps(packed), kind, transform)
    number = int.from_bytes(packed, "big") - ZERO
    return float(number) if family == "real" else number


def _pack_number(value: int) -> bytes:
    return (value + ZERO).to_bytes(16, "big")


def _pack_steps(steps: tuple[int, ...]) -> bytes:
    sizes = (8, 1, 1, 1, 8)
    return b"".join((step + (1 << 63 if n == 0 else 0)).to_bytes(sizes[n], "big") for n, step in enumerate(steps))


def _unpack_steps(packed: bytes) -> list[int]:
    steps, at = [], 0
    for n, size in enumerate((8, 1, 1, 1, 8)):
        if at < len(packed):
            steps.append(int.from_bytes(packed[at : at + size], "big") - (1 << 63 if n == 0 else 0))
            at += size
    return steps


def _steps(value: int, kind: str, transform: str) -> tuple[int, ...]:
    if transform in ("year", "month"):
        months = value * 12 if transform == "year" else value
        return (months // 12, months % 12)[: CALENDAR[transform]]
    if transform == "hour":
        days, rest, last = value // 24, value % 24 * HOUR_US * 1000, 4
    elif transform == "day" or kind == "date":
        days, rest, last = value, 0, 3
    else:
        nanos = value if "_ns" in kind else value * 1000
        days, rest, last = nanos // (DAY_US * 1000), nanos % (DAY_US * 1000), 5
    year, month, day = _date(days)
    hour, rest = divmod(rest, HOUR_US * 1000)
    return (year, month, day, hour, rest)[:last]


def _date(days: int) -> tuple[int, int, int]:
    """A day as its year since 1970, its month and its day, both from 0."""
    try:
        date = datetime.date.fromordinal(days + EPOCH)
        return date.year - 1970, date.month - 1, date.day - 1
    except (ValueError, OverflowError):  # before the year 1 or after 9999
        day = np.datetime64(days, "D")
        month = day.astype("datetime64[M]")
        months = int(month.astype(np.int64))
        return months // 12, months % 12, int((day - month.astype("datetime64[D]")).astype(np.int64))


@lru_cache
def _first_day(month: int) -> int:
    return int(np.datetime64(month, "M").astype("datetime64[D]").astype(np.int64))


def _moment(steps: list[int], kind: str, transform: str) -> int:
    year, month, day, hour, rest = (steps + [0] * 5)[:5]
    if transform == "year":
        return year
    if transform == "month":
        return year * 12 + month
    first = _first_day(year * 12 + month)
    days = first + min(day, _first_day(year * 12 + month + 1) - first - 1)
    if transform == "hour":
        return days * 24 + hour
    if transform == "day" or kind == "date":
        return days
    unit = 1000 if "_ns" in kind else 1
    return min(days * DAY_US * unit + hour * HOUR_US * unit + rest, (1 << 63) - 1)


# -- the new values ---------------------------------------------------------------------------------------------------
def in_order(packed: Iterable[bytes], family: Family) -> Iterator[bytes]:
    """Give what takes the place of texts, bytes and times.

    Args:
        packed: All values of a column, each once, in order.
        family: text, bytes or moment.

    Yields:
        For each value the one that takes its place, in the same order.
    """
    before: list[int] = []
    places: list[int] = []
    for value in packed:
        steps = _steps_of(value, family)
        same = _alike(before, steps)
        places = places[:same] + [places[same] + 1 if same < len(before) else 0] * (same < len(steps))
        places += [0] * (len(steps) - len(places))
        if family == "bytes" and steps and steps[0] >= SIGN:  # some readers order UUIDs by it
            places[0] = max(places[0], SIGN)
        before = steps
        yield _from_places(places, steps, family)


def _steps_of(packed: bytes, family: Family) -> list[int]:
    return [ord(c) for c in packed.decode()] if family == "text" else (
        list(packed) if family == "bytes" else _unpack_steps(packed)
    )  # fmt: skip


def _alike(one: list[int], other: list[int]) -> int:
    return next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def _from_places(places: list[int], steps: list[int], family: Family) -> bytes:
    if family == "text":
        return "".join(map(letter, places)).encode()
    if family == "bytes":
        return bytes(places)
    new = [FIRST_YEAR - 1970 + 4 * place if n == 0 else place for n, place in enumerate(places)]
    return _pack_steps(tuple(new[:1] + steps[1:2] + new[2:]))  # a month stays: its length decides which days it has


def letter(place: int) -> str:
    """Return the character that stands for a place among characters; a later one for a later place."""
    if place < len(LETTERS):
        return LETTERS[place]
    place -= len(LETTERS)
    for first, end in (IDEOGRAPHS, SYLLABLES):
        if place < end - first:
            return chr(first + place)
        place -= end - first
    return chr(PLANES + place)


def numbers_in_order(numbers: Iterable[int], widths: Sequence[int], above: bool) -> Iterator[tuple[int, int]]:
    """Give what takes the place of numbers on one side of zero.

    A number is a path of steps too: which block of the first width, which part of the second width in it, and so on.
    So truncating a new number gives what takes the place of the truncated old one, and nothing of the number stays.

    Args:
        numbers: The numbers, each once: of zero and more in order, of less than zero backwards.
        widths: The widths to which the table truncates them, each a multiple of the next; the last is 1.
        above: Whether they are zero and more.

    Yields:
        Each number, and the one that takes its place. Zero stays zero.
    """
    sizes = [one // other for one, other in pairwise(widths)]
    first = [0, *((0,) * len(sizes) if above else sizes)]
    before: list[int] = []
    places: list[int] = []
    for number in numbers:
        steps, rest = [], number
        for width in widths:
            step, rest = divmod(rest, width)
            steps.append(step)
        same = _alike(before, steps)
        places = [*places[: same + 1], *first[len(places[: same + 1]) :]]
        for at in range(same, len(steps)):
            places[at] = places[at] + (1 if above else -1) if steps[at] else 0
        before = steps
        yield number, sum(place * width for place, width in zip(places, widths, strict=True))
