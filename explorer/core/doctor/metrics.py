"""Rules 40 and 59 over the counts and bounds of whole manifests: what contradicts itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from explorer.core.columns import Ints
from explorer.core.doctor.noting import Notes
from explorer.core.ranges import decoded

Flags = npt.NDArray[np.bool_]
WIDTHS = {
    "boolean": (1,), "int": (4,), "long": (8, 4), "float": (4,), "double": (8, 4), "date": (4,), "time": (8,),
    "timestamp": (8,), "timestamptz": (8,), "timestamp_ns": (8,), "timestamptz_ns": (8,), "uuid": (16,),
}  # fmt: skip
"""Bytes of a bound (spec: "Appendix D"); the second is that of a type which was promoted."""
CODES = {
    "int": "<i4", "long": "<i8", "float": "<f4", "double": "<f8", "date": "<i4", "time": "<i8", "timestamp": "<i8",
    "timestamptz": "<i8", "timestamp_ns": "<i8", "timestamptz_ns": "<i8",
}  # fmt: skip
_BYTES = ("string", "binary", "uuid", "fixed")


def metric_notes(
    table: pa.Table, kinds: Mapping[int, str], top: frozenset[int], required: Mapping[int, str], content: Ints,
    live: Flags, notes: Notes,
) -> None:  # fmt: skip
    """Counts against counts and rows, lower bounds against upper ones, bounds against their types."""
    values = _flat(table, "value_counts")
    nulls, nans = _flat(table, "null_value_counts"), _flat(table, "nan_value_counts")
    rows = table["record_count"].fill_null(-1).to_numpy()
    _below(notes, values, None, "a value count", len(rows))
    for some, what in ((nulls, "nulls"), (nans, "NaN values")):
        _below(notes, some, values, what, len(rows))
    at, keys, counts = values
    if len(at):
        of_rows = np.isin(keys, np.fromiter(top, np.int64, len(top))) & (content[at] == 0) & live[at]
        wrong = np.zeros(len(rows), bool)
        wrong[at[of_rows & (counts != rows[at])]] = True
        told = np.zeros(len(rows), np.int64)
        told[at[of_rows]] = counts[of_rows]
        notes.add(
            "metrics-wrong",
            wrong,
            "its record_count is not the number of values in its columns",
            rows,
            lambda record: f"{told[record]} values",
        )
    at, keys, counts = nulls
    if len(at) and required:
        for field_id, name in required.items():
            wrong = np.zeros(len(rows), bool)
            wrong[at[(keys == field_id) & (counts > 0)]] = True
            notes.add("required-absent", wrong & live & (content == 0), f"the required column {name!r} has nulls", None)
    _bounds(table, kinds, notes)


Flat = tuple[Ints, Ints, Ints]
"""Of each pair in a column of maps: the entry it is of, its key, its value."""


def _map(table: pa.Table, name: str) -> tuple[Ints, Ints, pa.Array]:
    column = table[name].combine_chunks()
    if isinstance(column, pa.ChunkedArray):
        column = column.chunk(0) if column.num_chunks else pa.array([], column.type)
    lengths = np.diff(column.offsets.to_numpy())
    start, end = (column.offsets[0].as_py(), column.offsets[-1].as_py()) if len(column) else (0, 0)
    keys = column.keys.slice(start, end - start) if len(column.keys) != end - start else column.keys
    items = column.items.slice(start, end - start) if len(column.items) != end - start else column.items
    return np.repeat(np.arange(len(lengths)), lengths), keys.to_numpy().astype(np.int64), items


def _flat(table: pa.Table, name: str) -> Flat:
    at, keys, items = _map(table, name)
    return at, keys, items.fill_null(0).to_numpy(zero_copy_only=False)


def _below(notes: Notes, some: Flat, most: Flat | None, what: str, count: int) -> None:
    """No count is below 0, or above the number of values."""
    at, keys, counts = some
    wrong = np.zeros(count, bool)
    wrong[at[counts < 0]] = True
    if most is not None and len(most[0]) and len(at):
        if len(at) == len(most[0]) and np.array_equal(at, most[0]) and np.array_equal(keys, most[1]):
            wrong[at[counts > most[2]]] = True
        else:
            pairs = (at << 32) | keys, (most[0] << 32) | most[1]
            _, mine, theirs = np.intersect1d(*pairs, return_indices=True)
            wrong[at[mine][counts[mine] > most[2][theirs]]] = True
    claim = f"{what} of a column are more than its values, or below 0" if most is not None else f"{what} is below 0"
    notes.add("metrics-wrong", wrong, claim)


def _bounds(table: pa.Table, kinds: Mapping[int, str], notes: Notes) -> None:
    lower, upper = _map(table, "lower_bounds"), _map(table, "upper_bounds")
    ids = {int(i) for _, keys, _ in (lower, upper) for i in np.unique(keys)}
    for field_id in sorted(ids & set(kinds)):
        low, high = _of(lower, field_id), _of(upper, field_id)
        if not (
            _fit(notes, table, low, field_id, kinds[field_id]) and _fit(notes, table, high, field_id, kinds[field_id])
        ):
            continue
        if not np.array_equal(low[0], high[0]):
            _, mine, theirs = np.intersect1d(low[0], high[0], return_indices=True)
            low, high = (low[0][mine], low[1].take(pa.array(mine))), (high[0][theirs], high[1].take(pa.array(theirs)))
        above = _above(low[1], high[1], kinds[field_id])
        if above.any():
            notes.add(
                "metrics-wrong",
                _marked(table, low[0][above]),
                f"the lower bound of column {field_id} is above the upper bound",
                _hex(low),
                _hex(high),
            )


Bound = tuple[Ints, pa.Array]
"""Bounds of one column: the entries they are of, and the bytes."""


def _of(bounds: tuple[Ints, Ints, pa.Array], field_id: int) -> Bound:
    at, keys, items = bounds
    places = np.flatnonzero(keys == field_id)
    return at[places], items.take(pa.array(places))


def _marked(table: pa.Table, places: Ints) -> Flags:
    """The entries at these places, as a mask."""
    mask = np.zeros(table.num_rows, bool)
    mask[places] = True
    return mask


def _fit(notes: Notes, table: pa.Table, bound: Bound, field_id: int, kind: str) -> bool:
    """Whether bounds have a length that the type's values have."""
    base = _base(kind)
    widths = WIDTHS.get(base, tuple(range(1, 17)) if base == "decimal" else ())
    if not widths:
        return True
    lengths = pc.fill_null(pc.binary_length(bound[1]), widths[0]).to_numpy(zero_copy_only=False)
    odd = ~np.isin(lengths, widths) if len(widths) > 1 else lengths != widths[0]
    if odd.any():
        notes.add(
            "metrics-wrong",
            _marked(table, bound[0][odd]),
            f"a bound of column {field_id} has a length that no {kind} has",
            _hex(bound),
            f"{widths[0]} bytes",
        )
    return not odd.any()


def _above(lower: pa.Array, upper: pa.Array, kind: str) -> Flags:
    base = _base(kind)
    if base in _BYTES:
        above: Flags = pc.fill_null(pc.greater(lower, upper), False).to_numpy(zero_copy_only=False)
        return above
    if base == "decimal":
        return _decimal_above(lower, upper)
    code = CODES.get(base)
    if code and not lower.null_count and not upper.null_count:
        one, other = (_numbers(bounds, code) for bounds in (lower, upper))
        if one is not None and other is not None:
            over_it: Flags = one > other
            return over_it
    low, high = decoded(lower, kind), decoded(upper, kind)
    over: Flags = low.known & high.known & np.asarray(low.values > high.values, bool)
    return over


def _numbers(bounds: pa.Array, code: str) -> npt.NDArray[Any] | None:
    """Bounds without nulls, all of a type's width, as numbers, as they lie in memory."""
    offsets = np.frombuffer(bounds.buffers()[1], np.int32)[bounds.offset : bounds.offset + len(bounds) + 1]
    width = np.dtype(code).itemsize
    if not len(bounds) or offsets[-1] - offsets[0] != width * len(bounds):
        return None
    return np.frombuffer(bounds.buffers()[2], code, len(bounds), int(offsets[0]))


def _base(kind: str) -> str:
    return kind.partition("[")[0].partition("(")[0]


def _hex(bound: Bound) -> Callable[[int], str]:
    """A record's bound as hex."""

    def told(record: int) -> str:
        value = bound[1][int(np.flatnonzero(bound[0] == record)[0])].as_py()
        return "" if value is None else f"0x{value.hex()[:64]}"

    return told


def _decimal_above(lower: pa.Array, upper: pa.Array) -> Flags:
    known = pc.and_(lower.is_valid(), upper.is_valid()).to_numpy(zero_copy_only=False)
    above = np.zeros(len(lower), bool)
    if known.any():
        low, high = (pa.array(_widened(b.filter(pa.array(known))), pa.binary(16)) for b in (lower, upper))
        above[known] = pc.greater(low, high).to_numpy(zero_copy_only=False)
    return above


def _widened(bounds: pa.Array) -> list[bytes]:
    """Big-endian numbers of any length as 16 bytes that order as they do."""
    lengths = pc.binary_length(bounds).to_numpy()
    starts = np.concatenate([[0], np.cumsum(lengths)[:-1]])
    data = np.frombuffer(b"".join(bounds.to_pylist()), np.uint8)
    wide = np.zeros((len(lengths), 16), np.uint8)
    for length in np.unique(lengths):
        rows = np.flatnonzero(lengths == length)
        digits = data[starts[rows][:, None] + np.arange(length)]
        wide[rows, : 16 - length] = np.where(digits[:, :1] > 127, 255, 0)
        wide[rows, 16 - length :] = digits
    wide[:, 0] ^= 128
    return [row.tobytes() for row in wide]
