"""Columns of entries as numpy has them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


def ints(column: pa.ChunkedArray, null: int) -> Ints:
    """Whole numbers, with another one in place of nulls."""
    if column.null_count:
        column = pc.fill_null(column, pa.scalar(null, column.type))
    filled: Ints = column.to_numpy().astype(np.int64, copy=False)
    return filled


MOST = 1 << 50
"""No file has so many bytes or rows; of eight thousand that had, the sum would still be a number of 64 bits."""


def amounts(column: pa.ChunkedArray) -> Ints:
    """Sizes or counts, which are 0 where they are null. What no file can have is the nearest that one can."""
    return np.clip(ints(column, 0), 0, MOST)


def possible(amount: int) -> int:
    """A size or a count as `amounts` has it."""
    return min(max(amount, 0), MOST)


def total(column: Ints) -> int:
    """The sum of amounts, itself one: of a stranger's numbers it could pass 64 bits."""
    return possible(int(column.sum(dtype=np.float64)))


def narrow(column: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The same whole numbers, none of which is negative, in as few bytes as they need."""
    most = int(column.max(initial=0))
    # numpy makes floats of signed and unsigned numbers of 64 bits together
    return column.astype(np.int64 if most >= 1 << 32 else np.min_scalar_type(most))


def flags(column: Any) -> Flags:
    """Truths; null is false."""
    filled: Flags = (pc.fill_null(column, False) if column.null_count else column).to_numpy().astype(bool, copy=False)
    return filled


def map_keys(column: pa.ChunkedArray) -> Ints:
    """The keys of all maps of a column, which are numbers. A chunk may be a part of an array, whose keys are others'
    too."""
    keys = [np.zeros(0, np.int64)]
    for chunk in column.chunks:
        maps = chunk.drop_null()
        if len(maps):
            first, last = maps.offsets[0].as_py(), maps.offsets[-1].as_py()
            keys.append(maps.keys.slice(first, last - first).to_numpy(zero_copy_only=False))
    return np.concatenate(keys)


def numbers_of(column: pa.Array, code: str) -> npt.NDArray[Any]:
    """The numbers, of a numpy type, whose bytes the values of a binary column are: none is null, and each has the
    type's length."""
    _, offsets, data = column.buffers()
    if not len(column) or data is None:
        return np.zeros(0, code)
    ends = np.frombuffer(offsets, np.int32)[column.offset : column.offset + len(column) + 1]
    return np.frombuffer(memoryview(data)[int(ends[0]) : int(ends[-1])], code)
