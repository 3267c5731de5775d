"""Values that order as Iceberg orders those of their type."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt


def comparable(value: Any, kind: Any) -> Any:
    """An internal value as one that orders as Iceberg orders its type: of floats -0.0 before 0.0 and NaN last, of texts
    by code point, of bytes unsigned."""
    if kind in ("float", "double"):
        return int(float_keys(np.array([value], np.float64))[0])
    return int(value) if isinstance(value, bool) else value


def plain(kind: Any) -> Callable[[Any], Any]:
    """The way back from `comparable`, and from numpy."""
    if kind in ("float", "double"):
        return lambda value: float(float_values(np.array([value], np.int64))[0])
    return bool if kind == "boolean" else lambda value: value.item() if isinstance(value, np.generic) else value


def float_keys(values: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    """Floats as integers of the same order."""
    bits = values.view(np.int64)
    return np.where(bits < 0, bits ^ np.int64(0x7FFFFFFFFFFFFFFF), bits)


def float_values(keys: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """The way back."""
    return np.where(keys < 0, keys ^ np.int64(0x7FFFFFFFFFFFFFFF), keys).view(np.float64)
