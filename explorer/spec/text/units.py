"""Numbers, sizes and times as people read them."""

from __future__ import annotations

import datetime
import re
from contextvars import ContextVar


def whole(text: str | None) -> int | None:
    """A property's text as a number of at most eighteen digits; None for anything else."""
    return int(text) if text is not None and len(text) < 19 and text.isascii() and text.isdigit() else None


def parse_int64(text: str | None) -> int | None:
    """A text as a signed number of 64 bits, such as an id; None for anything else."""
    number = int(text) if text and re.fullmatch(r"-?[0-9]{1,19}", text) else None
    return number if number is not None and -(1 << 63) <= number < 1 << 63 else None


def human_bytes(size: int | None) -> str:
    """1536 is `1.5 KiB`."""
    if size is None:
        return "?"
    value, units = float(size), ["B", "KiB", "MiB", "GiB", "TiB", "PiB"]
    for unit in units:
        if abs(value) < 1024 or unit == units[-1]:
            return f"{value:.0f} {unit}" if unit == "B" or value >= 100 else f"{value:.1f} {unit}"
        value /= 1024
    raise AssertionError


def count(number: int | None, noun: str = "", plural: str = "") -> str:
    """`1,234 rows`, `1 row`; `?` when unknown."""
    text = "?" if number is None else f"{number:,}"
    if not noun:
        return text
    return f"{text} {noun if number == 1 else plural or noun + 's'}"


LARGE = 10_000_000
"""From here on cards tell numbers by their first digits."""


def brief_count(number: int, noun: str) -> str:
    """`1,234 rows`, `110.2 billion rows`: what a card has room for."""
    if number < LARGE:
        return count(number, noun)
    size, word = (10**9, "billion") if number >= 10**9 else (10**6, "million")
    value = number / size
    return f"{value:,.0f} {word} {noun}s" if value >= 1000 else f"{value:.3g} {word} {noun}s"


SECOND, MINUTE, HOUR, DAY = 1000, 60_000, 3_600_000, 86_400_000
_SPANS = (("day", DAY), ("hour", HOUR), ("minute", MINUTE), ("second", SECOND))


def span(milliseconds: int | None) -> str:
    """How long in its largest unit: `3 days`; `?` when unknown."""
    if milliseconds is None:
        return "?"
    name, unit = next((s for s in _SPANS if abs(milliseconds) >= s[1]), _SPANS[-1])
    return count(abs(milliseconds) // unit, name)


def interval(milliseconds: int | None) -> str:
    """How long between two events: `3 days`, and below a second in milliseconds; `?` when unknown."""
    if milliseconds is not None and 0 < abs(milliseconds) < SECOND:
        return f"{abs(milliseconds)} ms"
    return span(milliseconds)


EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
TIME_ZONE: ContextVar[datetime.tzinfo | None] = ContextVar("time_zone", default=datetime.timezone.utc)
"""The zone in which texts tell the times of metadata; None is that of this machine. Values of columns stay in UTC."""


def instant(timestamp_ms: int | None, timespec: str = "milliseconds") -> str:
    """Milliseconds since the epoch as `2026-11-21 05:00:00.123 UTC`, or with the offset of another TIME_ZONE.

    Args:
        timestamp_ms: Milliseconds; None is unknown.
        timespec: The smallest unit that is told: milliseconds, seconds or minutes.

    Returns:
        The time with its sign; `?` if it is unknown, milliseconds if it is beyond the years 1 to 9999.
    """
    if timestamp_ms is None:
        return "?"
    zone = TIME_ZONE.get()
    try:
        moment = (EPOCH + datetime.timedelta(milliseconds=timestamp_ms)).astimezone(zone)
    except (OverflowError, ValueError, OSError):
        return f"{timestamp_ms} ms"
    text = moment.isoformat(" ", timespec)
    return text.replace("+00:00", " UTC") if zone is datetime.timezone.utc else text


def second(timestamp_ms: int | None) -> str:
    """The same to the second: `2026-11-21 05:00:00 UTC`."""
    return instant(timestamp_ms, "seconds")
