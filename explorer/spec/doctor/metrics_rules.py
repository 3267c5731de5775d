"""Rules 40, 59, 63 and 66 over the counts and bounds of whole manifests: what contradicts itself."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from explorer.spec.doctor.finding_helpers import Notes
from explorer.spec.doctor.promotions import PROMOTED_DATE, PROMOTED_TO
from explorer.spec.doctor.remedy_cases import BEYOND_KEY, MAYBE_PADDED, NAN_COUNTED
from explorer.spec.entries.numpy_columns import Flags, Ints, numbers_of
from explorer.spec.scan.ranges import decode_bounds
from explorer.spec.schemas.required_nulls import FAILS, SHOWS, spark_reading
from explorer.spec.values.values import decode_bound

WIDTHS = {
    "boolean": (1,), "int": (4,), "long": (8, 4), "float": (4,), "double": (8, 4), "date": (4,), "time": (8,),
    "timestamp": (8, 4), "timestamptz": (8,), "timestamp_ns": (8, 4), "timestamptz_ns": (8,), "uuid": (16,),
}  # fmt: skip
"""Bytes of a bound (spec: "Appendix D"); the second is that of a type which was promoted."""
CODES = {
    "int": "<i4", "long": "<i8", "float": "<f4", "double": "<f8", "date": "<i4", "time": "<i8", "timestamp": "<i8",
    "timestamptz": "<i8", "timestamp_ns": "<i8", "timestamptz_ns": "<i8",
}  # fmt: skip
DATE_WIDTH = 4
"""Bytes of a bound that is a date."""
_BYTES = ("string", "binary", "uuid", "fixed")
UNITS_LOST = {"us": (1, 1_000), "ns": (1, 1_000, 1_000_000)}
"""Of a time column's unit: what seconds from 2001 to 2039 are multiplied by when they stand in it as another unit."""
TOO_LARGE = (
    "its column sizes come to more than the file: they are of other files too, or of unpacked columns, and who "
    "estimates by them goes wrong"
)
NULL_AND_BOUNDED = (
    "a column is null in all rows by its counts, and yet has bounds: one of the two is wrong, and filters go by the "
    "counts and skip the file"
)
SHOWN = 10
"""Columns beyond its key that are told of an equality delete."""
EARLIEST, LATEST = 1_000_000_000, 2_200_000_000
"""Seconds of the years 2001 and 2039."""


def metric_notes(
    table: pa.Table, kinds: Mapping[int, str], names: Mapping[int, str], top: frozenset[int],
    required: Mapping[int, str], content: Ints, live: Flags, notes: Notes,
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
        value_counts = np.zeros(len(rows), np.int64)
        value_counts[at[of_rows]] = counts[of_rows]
        notes.add(
            "metrics-wrong",
            wrong,
            "record_count is not the number of values that its columns have",
            rows,
            lambda record: f"{value_counts[record]} values",
        )
    at, keys, counts = nulls
    if len(at) and required:
        for field_id, name in required.items():
            wrong = np.zeros(len(rows), bool)
            wrong[at[(keys == field_id) & (counts > 0)]] = True
            effect = spark_reading(kinds.get(field_id, ""))
            notes.add(
                "required-absent",
                wrong & live & (content == 0),
                f"a required column has nulls: {effect}",
                column=name,
                severity="warning" if effect == SHOWS else "error",
                refused="part" if effect == FAILS else "",
            )
    _null_and_bounded(table, values, nulls, names, notes, live & (content == 0))
    at, _, sizes = _flat(table, "column_sizes")
    file_sizes = table["file_size_in_bytes"].fill_null(0).to_numpy()
    total = np.bincount(at, np.maximum(sizes, 0), len(file_sizes)).astype(np.int64)
    notes.add(
        "metrics-wrong", live & (content == 0) & (file_sizes > 0) & (total > file_sizes), TOO_LARGE, total,
        lambda record: f"at most file_size_in_bytes, {file_sizes[record]}", severity="warning",
    )  # fmt: skip
    _beyond_keys(table, nulls, names, notes, live & (content == 2))
    _nan_counts(nans, kinds, names, notes, live & (content == 0))
    _bounds(table, kinds, names, notes, live & (content == 0))


def _null_and_bounded(
    table: pa.Table, values: Flat, nulls: Flat, names: Mapping[int, str], notes: Notes, data: Flags
) -> None:
    """Columns that are null in all rows by their counts, and have bounds all the same."""
    if not len(values[0]) or not len(nulls[0]):
        return
    own, own_nulls = _in_both(values, nulls)
    all_null = _pairs(own)[(own[2] > 0) & (own_nulls[2] == own[2])]
    if not len(all_null):
        return
    for at, keys, items in (_map(table, "lower_bounds"), _map(table, "upper_bounds")):
        lengths = pc.fill_null(pc.binary_length(items), 0).to_numpy(zero_copy_only=False)
        wrong = np.isin((at << 32) | keys, all_null) & (lengths > 0) & data[at]
        columns = np.unique(keys[wrong])
        for field_id in columns[:SHOWN].tolist():
            those = np.zeros(len(data), bool)
            those[at[wrong & (keys == field_id)]] = True
            notes.add("metrics-wrong", those, NULL_AND_BOUNDED, column=names.get(field_id, f"field {field_id}"))
        if wrong.any():
            notes.is_cut_short = True
            return


def _pairs(flat: Flat) -> Ints:
    """Entries and keys, as one number each."""
    return (flat[0] << 32) | flat[1]


def _in_both(some: Flat, others: Flat) -> tuple[Flat, Flat]:
    """What two columns of maps have for the same entries and keys; most writers give both of them to all columns."""
    if len(some[0]) == len(others[0]) and np.array_equal(some[0], others[0]) and np.array_equal(some[1], others[1]):
        return some, others
    places, other_places = _places_of_same(_pairs(some), _pairs(others))
    first, second = ((at[those], keys[those], counts[those]) for (at, keys, counts), those in (
        (some, places), (others, other_places)))  # fmt: skip
    return first, second


def _places_of_same(some: Ints, others: Ints) -> tuple[Ints, Ints]:
    """Where numbers are that are in both. Those of most writers are in order."""
    if len(some) and len(others) and np.all(some[1:] > some[:-1]) and np.all(others[1:] > others[:-1]):
        at = np.minimum(np.searchsorted(others, some), len(others) - 1)
        places = np.flatnonzero(others[at] == some)
        return places, at[places]
    _, first, second = np.intersect1d(some, others, return_indices=True)
    return first, second


def _beyond_keys(table: pa.Table, nulls: Flat, names: Mapping[int, str], notes: Notes, deletes: Flags) -> None:
    """Of rule 63: equality deletes whose entries tell of other columns than those that they delete by."""
    if not deletes.any():
        return
    lists = table["equality_ids"].combine_chunks()
    parents, keys = pc.list_parent_indices(lists).to_numpy(), pc.list_flatten(lists).fill_null(0).to_numpy()
    own_keys = (parents.astype(np.int64) << 32) | keys
    columns = [(at, ids) for at, ids, _ in (nulls, _map(table, "lower_bounds"), _map(table, "upper_bounds"))]
    at, ids = (np.concatenate(parts) for parts in zip(*columns, strict=True))
    beyond = deletes[at] & ~np.isin((at << 32) | ids, own_keys)
    columns_beyond = np.unique(ids[beyond])
    notes.is_cut_short |= len(columns_beyond) > SHOWN
    for own in columns_beyond[:SHOWN].tolist():
        those = np.zeros(len(deletes), bool)
        those[at[beyond & (ids == own)]] = True
        notes.add("readers-differ", those, BEYOND_KEY, severity="info", column=names.get(own, f"field {own}"))


def _nan_counts(nans: Flat, kinds: Mapping[int, str], names: Mapping[int, str], notes: Notes, data: Flags) -> None:
    """Of rule 63: NaN, which bounds leave out."""
    at, keys, counts = nans
    for field_id in np.unique(keys[counts > 0]).tolist():
        if kinds.get(field_id) in ("float", "double"):
            some = np.zeros(len(data), bool)
            some[at[(keys == field_id) & (counts > 0)]] = True
            notes.add("readers-differ", some & data, NAN_COUNTED, severity="info", column=names.get(field_id, ""))


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
    at, _, counts = some
    wrong = np.zeros(count, bool)
    wrong[at[counts < 0]] = True
    if most is not None and len(most[0]) and len(at):
        own, limits = _in_both(some, most)
        wrong[own[0][own[2] > limits[2]]] = True
    claim = f"{what} of a column are more than its values, or below 0" if most is not None else f"{what} is below 0"
    notes.add("metrics-wrong", wrong, claim)


def _bounds(table: pa.Table, kinds: Mapping[int, str], names: Mapping[int, str], notes: Notes, data: Flags) -> None:
    lower, upper = _map(table, "lower_bounds"), _map(table, "upper_bounds")
    ids = {i for _, keys, _ in (lower, upper) for i in pc.unique(pa.array(keys)).to_pylist()}
    for field_id in sorted(ids & set(kinds)):
        column = BoundedColumn(field_id, names.get(field_id, f"field {field_id}"), kinds[field_id])
        low, high = _of(lower, field_id), _of(upper, field_id)
        if not (_fit(notes, table, low, column) and _fit(notes, table, high, column)):
            notes.is_cut_short = True
            continue
        if column.kind in PROMOTED_TO:
            _dates(notes, table, low, column, data)
        if not np.array_equal(low[0], high[0]):
            _, low_places, high_places = np.intersect1d(low[0], high[0], return_indices=True)
            low, high = (
                (low[0][low_places], low[1].take(pa.array(low_places))),
                (high[0][high_places], high[1].take(pa.array(high_places))),
            )
        above = _above(low[1], high[1], column.kind)
        if column.kind == "uuid":
            above = _java_uuid_order(notes, table, low, high, above, column)
        if above.any():
            notes.add(
                "metrics-wrong",
                _mask(table, low[0][above]),
                "the lower bound of a column is above the upper bound: filters skip rows",
                _readable(low, column.kind),
                _readable(high, column.kind),
                column=column.name,
            )
        _times(notes, table, low, high, column)


def _dates(notes: Notes, table: pa.Table, low: Bound, column: BoundedColumn, data: Flags) -> None:
    """Of rule 63: bounds of a column of timestamps that are dates, as its files have it from before a promotion."""
    lengths = pc.fill_null(pc.binary_length(low[1]), 0).to_numpy(zero_copy_only=False)
    short = _mask(table, low[0][lengths == DATE_WIDTH])
    as_text = _readable(low, column.kind)
    notes.add("readers-differ", short & data, PROMOTED_DATE, as_text, "date", column=column.name, refused="part")


class BoundedColumn(NamedTuple):
    """A column that bounds are of."""

    field_id: int
    name: str
    kind: str


def _java_uuid_order(
    notes: Notes, table: pa.Table, low: Bound, high: Bound, above: Flags, column: BoundedColumn
) -> Flags:
    """Note UUIDs, which Iceberg Java 1.12 orders by signed numbers (apache/iceberg#14216). Returns which bounds are
    in no order."""
    first, last = (_first_bits(bound[1]) for bound in (low, high))
    signed = above & first & ~last
    what = (
        "its UUID bounds are in the signed order of Iceberg Java up to 1.12 (#14216): pyiceberg and DuckDB skip the "
        "file"
    )
    readable = _readable(low, column.kind), _readable(high, column.kind)
    notes.add("readers-differ", _mask(table, low[0][signed]), what, *readable, column=column.name)
    both = ~above & ~first & last
    what = (
        "its UUIDs lie on both sides of 80000000-…: Iceberg Java up to 1.12 compares them as signed numbers, skips it "
        "(#14216)"
    )
    notes.add("readers-differ", _mask(table, low[0][both]), what, *readable, severity="info", column=column.name)
    return above & ~signed


def _first_bits(bounds: pa.Array) -> Flags:
    """Which begin with a bit that is set."""
    begins: Flags = np.array([bool(value and value[0] & 0x80) for value in bounds.to_pylist()], bool)
    return begins


def _times(notes: Notes, table: pa.Table, low: Bound, high: Bound, column: BoundedColumn) -> None:
    """Of rule 66: times of January 1970 that are those of our years in another unit."""
    if not column.kind.startswith("timestamp") or not len(low[0]):
        return
    first, last = decode_bounds(low[1], column.kind), decode_bounds(high[1], column.kind)
    if first.values.dtype != np.int64 or last.values.dtype != np.int64:
        notes.is_cut_short = True
        return
    odd = np.zeros(len(low[0]), bool)
    for factor in UNITS_LOST["ns" if column.kind.endswith("_ns") else "us"]:
        odd |= (first.values >= EARLIEST * factor) & (last.values < LATEST * factor)
    what = (
        "by its bounds, its times are of January 1970, as those of today are when their unit is mistaken (seconds, "
        "milliseconds)"
    )
    low_text, high_text = _readable(low, column.kind), _readable(high, column.kind)
    odd &= first.known & last.known
    notes.add("value-suspect", _mask(table, low[0][odd]), what,
              lambda record: f"{low_text(record)} to {high_text(record)}", column=column.name)  # fmt: skip


Bound = tuple[Ints, pa.Array]
"""Bounds of one column: the entries they are of, and the bytes."""


def _of(bounds: tuple[Ints, Ints, pa.Array], field_id: int) -> Bound:
    at, keys, items = bounds
    places = np.flatnonzero(keys == field_id)
    return at[places], items.take(pa.array(places))


def _mask(table: pa.Table, places: Ints) -> Flags:
    """The entries at these places, as a mask."""
    mask = np.zeros(table.num_rows, bool)
    mask[places] = True
    return mask


def _fit(notes: Notes, table: pa.Table, bound: Bound, column: BoundedColumn) -> bool:
    """Whether bounds have a length that the type's values have, and are values of it."""
    kind = column.kind
    base = _base(kind)
    if base == "string":
        return _text_fits(notes, table, bound, column)
    widths = WIDTHS.get(base, tuple(range(1, 17)) if base == "decimal" else ())
    if not widths:
        return True
    lengths = pc.fill_null(pc.binary_length(bound[1]), widths[0]).to_numpy(zero_copy_only=False)
    odd = ~np.isin(lengths, widths) if len(widths) > 1 else lengths != widths[0]
    if odd.any():
        notes.add(
            "metrics-wrong",
            _mask(table, bound[0][odd]),
            f"a bound has a length that no {kind} has",
            _hex(bound),
            f"{widths[0]} bytes",
            column=column.name,
        )
    if base in ("float", "double") and not odd.any():
        nan = _are_nan(bound[1], lengths)
        what = "a bound is NaN, which bounds must leave out: readers skip nothing by it"
        notes.add("metrics-wrong", _mask(table, bound[0][nan]), what, severity="warning", column=column.name)
        return not nan.any()
    return not odd.any()


def is_nan(value: bytes | None) -> bool:
    """Whether a bound of a floating-point column is NaN."""
    if value is None or len(value) not in (4, 8):
        return False
    number = struct.unpack("<f" if len(value) == 4 else "<d", value)[0]
    return bool(number != number)


def _are_nan(values: pa.Array, lengths: Ints) -> Flags:
    """`is_nan` of each bound."""
    nan = np.zeros(len(values), bool)
    known = values.is_valid().to_numpy(zero_copy_only=False)
    for length, code in ((4, "<f4"), (8, "<f8")):
        those = known & (lengths == length)
        nan[those] = np.isnan(numbers_of(values.filter(pa.array(those)), code))
    return nan


def _text_fits(notes: Notes, table: pa.Table, bound: Bound, column: BoundedColumn) -> bool:
    """Whether bounds of text are text: Java and pyiceberg fail on a filter that decodes one cut inside a character."""
    try:
        bound[1].cast(pa.string())
        notes.add("value-suspect", _mask(table, bound[0][_ends_in_nul(bound[1])]), MAYBE_PADDED,
                  _readable(bound, column.kind), column=column.name)  # fmt: skip
        return True
    except pa.ArrowInvalid:
        notes.is_cut_short = True
        cut = np.array([not _is_text(value) for value in bound[1].to_pylist()], bool)
    notes.add(
        "metrics-wrong",
        _mask(table, bound[0][cut]),
        "a bound is no text, as when it is cut inside a character: Iceberg Java and pyiceberg fail on filters of it",
        _hex(bound),
        column=column.name,
        refused="part",
    )
    return True


def _ends_in_nul(bounds: pa.Array) -> Flags:
    lengths = pc.fill_null(pc.binary_length(bounds), 0)
    last = pc.binary_slice(bounds.cast(pa.binary()), -1)
    ends: Flags = pc.and_(pc.greater(lengths, 0), pc.fill_null(pc.equal(last, b"\0"), False)).to_numpy(
        zero_copy_only=False
    )
    return ends


def _is_text(value: bytes | None) -> bool:
    try:
        return value is None or value.decode() is not None
    except UnicodeDecodeError:
        return False


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
    low, high = decode_bounds(lower, kind), decode_bounds(upper, kind)
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

    def hex_of(record: int) -> str:
        value = bound[1][int(np.flatnonzero(bound[0] == record)[0])].as_py()
        return "" if value is None else f"0x{value.hex()[:64]}"

    return hex_of


def _readable(bound: Bound, kind: str) -> Callable[[int], str]:
    """A record's bound as people write it."""

    def text_of(record: int) -> str:
        value = bound[1][int(np.flatnonzero(bound[0] == record)[0])].as_py()
        return "" if value is None else str(decode_bound(value, kind))[:200]

    return text_of


def _decimal_above(lower: pa.Array, upper: pa.Array) -> Flags:
    both_valid = pc.and_(lower.is_valid(), upper.is_valid()).to_numpy(zero_copy_only=False)
    above = np.zeros(len(lower), bool)
    if both_valid.any():
        low, high = (pa.array(_widen(b.filter(pa.array(both_valid))), pa.binary(16)) for b in (lower, upper))
        above[both_valid] = pc.greater(low, high).to_numpy(zero_copy_only=False)
    return above


def _widen(bounds: pa.Array) -> list[bytes]:
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
