"""Partition transforms as Iceberg Java applies them, in 32 and 64 bits: what has no place there wraps round
(org.apache.iceberg.util.TruncateUtil, DateTimeUtil.microsToHours; apache/iceberg#13105, #9713).

The spec has no value for such a result. pyiceberg's numbers have no end: it looks for one that nobody wrote.
Its modules take half a second to import, so they are when the first value is asked for."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from explorer.spec.entries.numpy_columns import Ints

if TYPE_CHECKING:
    from pyiceberg.transforms import Transform
    from pyiceberg.types import PrimitiveType

Apply = Callable[[Any], Any]
_KNOWN = re.compile(r"identity|void|year|month|day|hour|(bucket|truncate)\[[1-9]\d{0,9}\]", re.ASCII)
_BITS = {"int": 32, "date": 32}
DECIMAL_BYTES = 16
"""Of a decimal of 38 digits, the most that there is (spec: "Primitive Types"). Making one of many more bytes takes time
by their square, in which nothing else runs."""


def parse_transform(text: str) -> Transform[Any, Any]:
    """Return the transform of that name. Raises what pyiceberg raises for one that it does not know."""
    from pyiceberg.transforms import parse_transform as parsed

    return parsed(text)


def from_bytes(kind: PrimitiveType, data: bytes) -> Any:
    """Return a serialized single value as pyiceberg has it in Python. Raises what pyiceberg raises for other bytes."""
    from pyiceberg.conversions import from_bytes as decoded

    if str(kind).startswith("decimal") and len(data) > DECIMAL_BYTES:
        raise ValueError(f"{len(data):,} bytes are more than a decimal has, which is at most {DECIMAL_BYTES}")
    return decoded(kind, data)


def wrap(value: int, bits: int) -> int:
    """A number as so many bits hold it, with a sign."""
    half = 1 << (bits - 1)
    return (value + half) % (1 << bits) - half


def step(value: int, number: int, kind: Any, wraps: bool = True) -> int:
    """The value so many further, of a column of a type: in Java the least comes after the greatest."""
    return wrap(value + number, _BITS.get(kind, 64)) if wraps else value + number


def transform_function(transform: str, primitive: PrimitiveType, wraps: bool = True) -> Apply:
    """What makes the results of a transform.

    Args:
        transform: As specs write it.
        primitive: The type of what it is applied to.
        wraps: Whether results wrap round as in Java, or are numbers without end.

    Returns:
        A function of an internal value; of None it makes None.
    """
    if wraps and is_narrow(transform, str(primitive)):
        return partial(_one, transform, str(primitive))
    return parse_transform(transform).transform(primitive)


def is_known(transform: str) -> bool:
    """Whether a transform is one of the spec's, with a width that there can be."""
    return _KNOWN.fullmatch(transform) is not None


def is_narrow(transform: str, kind: Any) -> bool:
    """Whether results of a transform may have no place in the type that holds them."""
    if transform == "hour":
        return kind in ("timestamp", "timestamptz")
    return transform.startswith("truncate[") and kind in ("int", "long")


def as_java(values: Ints, transform: str, kind: str) -> Ints:
    """What Java makes of many values; the transform is narrow."""
    if transform == "hour":
        return _in_bits(values // 3_600_000_000, 32)
    bits, width = _BITS.get(kind, 64), int(transform[9:-1])
    rest = _in_bits(np.fmod(values, width) + width, bits)  # which wraps round where the width is above half of 32 bits
    return _in_bits(values - np.fmod(rest, width), bits)


def has_place(values: Ints, transform: str, kind: str) -> Any:
    """Which values a narrow transform has results for that their type can hold."""
    if transform == "hour":
        hours = values // 3_600_000_000
        return (hours >= -(1 << 31)) & (hours < 1 << 31)
    rest = values % int(transform[9:-1])
    return values >= -(1 << (_BITS.get(kind, 64) - 1)) + rest


def _one(transform: str, kind: str, value: Any) -> Any:
    return None if value is None else int(as_java(np.array([value], np.int64), transform, kind)[0])


def _in_bits(values: Ints, bits: int) -> Ints:
    return values.astype(np.int32).astype(np.int64) if bits == 32 else values
