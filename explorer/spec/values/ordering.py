"""Values that order as Iceberg Java 1.12 orders those of their type, which is the reference for every answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt


def comparable(value: Any, kind: Any) -> Any:
    """An internal value as one that orders as Iceberg orders its type: of floats -0.0 before 0.0 and NaN last, of texts
    by code point, of bytes unsigned, of UUIDs as Java does (see `uuid_key`)."""
    if kind in ("float", "double"):
        return int(float_keys(np.array([value], np.float64))[0])
    if kind == "uuid" and isinstance(value, bytes) and len(value) == 16:
        return uuid_key(value)
    return int(value) if isinstance(value, bool) else value


def plain(kind: Any) -> Callable[[Any], Any]:
    """The way back from `comparable`, and from numpy."""
    if kind in ("float", "double"):
        return lambda value: float(float_values(np.array([value], np.int64))[0])
    if kind == "uuid":
        return lambda value: uuid_key(value) if isinstance(value, bytes) and len(value) == 16 else value
    return bool if kind == "boolean" else lambda value: value.item() if isinstance(value, np.generic) else value


def uuid_key(value: bytes) -> bytes:
    """Turn a UUID's bytes into bytes that order as java.util.UUID.compareTo has it, and such bytes back.

    Java compares two signed numbers, so that 8… to f… come before 0… to 7… (apache/iceberg#14216). The spec orders the
    bytes unsigned, and so do pyiceberg and DuckDB.
    """
    return bytes([value[0] ^ 0x80, *value[1:8], value[8] ^ 0x80, *value[9:]])


def float_keys(values: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    """Floats as integers of the same order."""
    bits = values.view(np.int64)
    return np.where(bits < 0, bits ^ np.int64(0x7FFFFFFFFFFFFFFF), bits)


def float_values(keys: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """The way back."""
    return np.where(keys < 0, keys ^ np.int64(0x7FFFFFFFFFFFFFFF), keys).view(np.float64)
