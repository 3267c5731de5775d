"""Rules 42 and 63 over whole manifests: partition values against the counts and bounds of their own columns."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from explorer.spec.doctor.finding_helpers import Notes
from explorer.spec.doctor.partition_fields import PartField
from explorer.spec.doctor.remedy_cases import (
    HIVE_NULL,
    OF_DELETE,
    ONE_TOO_HIGH,
    PADDED,
    WRAPPED,
    effect_of_wrong_partition,
)
from explorer.spec.entries.numpy_columns import Flags
from explorer.spec.scan.ranges import counts, decode_bounds, look_up
from explorer.spec.values.transforms import as_java, from_bytes, has_place, is_narrow, parse_transform
from explorer.spec.values.values import internal_scalar, internal_value, partition_value, primitive_type

TIMES: Mapping[str, str] = {"hour": "h", "day": "D", "month": "M", "year": "Y"}
_NUMBERS = {"int", "long", "date", "timestamp", "timestamptz"}
_WHOLE_TEXT = 16
"""Bytes from which on bounds of texts and binaries may be cut: writers cut them to so many characters by default."""
_WRONG = "a partition field is not what {} makes of the column's bounds: one of them is wrong, and {}"


def own_bounds(
    table: pa.Table, values: pa.Array, part: PartField, live: Flags, required: bool, notes: Notes
) -> None:  # fmt: skip
    """Note live data files and equality deletes whose partition value contradicts what their own entry says of the
    column. Of deletes, one that its writer took from another transform than the data's is not told: these match.

    Args:
        table: Stored entries with their metrics.
        values: Their values of the partition field.
        part: The partition field.
        live: Which entries are live.
        required: Whether the column is never null.
        notes: Where to note them.
    """
    kind, transform = part.source, part.transform
    width = re.fullmatch(r"(?:truncate|bucket)\[0*([1-9]\d{0,9})\]", transform)
    has_order = transform in ("identity", *TIMES) or (width and int(width[1]) < 1 << 31)
    primitive = primitive_type(kind) if kind is not None else None
    if part.source_id is None or kind is None or not has_order or part.result is None or primitive is None:
        return
    if not parse_transform(transform).can_transform(primitive):  # a spec that is told of elsewhere
        return
    content = table["content"].fill_null(0).to_numpy()
    some = live & (table["record_count"].fill_null(0).to_numpy() > 0)
    _own_bounds(table, values, part, some & (content == 0), required, notes)
    deletes = some & (content == 2) & values.is_valid().to_numpy(zero_copy_only=False)
    if not deletes.any() or not (deletes := deletes & _goes_by(table, part.source_id)).any():
        return
    of_deletes = notes.others()
    _own_bounds(table, values, part, deletes, False, of_deletes)
    notes.is_cut_short |= of_deletes.is_cut_short
    for place in of_deletes.places():
        wrong = [row for row in of_deletes.rows(place) if row["rule"] == "partition-value"]
        others = [row for row in wrong if WRAPPED.rpartition("{}")[2] not in row["what"]]
        notes.take([{**row, "what": OF_DELETE, "severity": "warning"} for row in others], place)


def _goes_by(table: pa.Table, field_id: int) -> Flags:
    """Which entries have a field among their equality ids."""
    among = np.zeros(table.num_rows, bool)
    lists = table["equality_ids"].combine_chunks()
    lists = lists.chunk(0) if isinstance(lists, pa.ChunkedArray) and lists.num_chunks else lists
    if lists.null_count == len(lists):
        return among
    entries, ids = pc.list_parent_indices(lists).to_numpy(), pc.list_flatten(lists).to_numpy(zero_copy_only=False)
    among[entries[ids == field_id]] = True
    return among


def _own_bounds(
    table: pa.Table, values: pa.Array, part: PartField, data: Flags, required: bool, notes: Notes
) -> None:  # fmt: skip
    """Note some entries whose partition value contradicts their counts and bounds."""
    kind, transform = part.source, part.transform
    assert part.source_id is not None
    assert kind is not None
    lower, upper = (look_up(table, name, part.source_id) for name in ("lower_bounds", "upper_bounds"))
    _nulls(table, values, part, (lower, upper), data, required, notes)
    if lower.null_count == len(lower) and upper.null_count == len(upper):
        return
    data = data & values.is_valid().to_numpy(zero_copy_only=False)
    if transform.startswith("bucket["):
        _bucket(values, part, lower, upper, data, notes)
    elif kind in _NUMBERS and (pa.types.is_integer(values.type) or pa.types.is_temporal(values.type)):
        _numbers(values, part, lower, upper, data, notes)
    elif (kind, str(values.type)) in (("binary", "binary"), ("string", "string")):
        _texts(values, part, lower, upper, data, notes)
    elif kind.startswith("decimal") and pa.types.is_decimal(values.type):
        _decimals(values, part, lower, upper, data, notes)


def _nulls(
    table: pa.Table, values: pa.Array, part: PartField, bounds: tuple[pa.Array, pa.Array], data: Flags, required: bool,
    notes: Notes,
) -> None:  # fmt: skip
    """A partition field is null where the column is, and only there."""
    assert part.source_id is not None
    null = ~values.is_valid().to_numpy(zero_copy_only=False)
    of_nulls, of_values = (counts(table, name, part.source_id) for name in ("null_value_counts", "value_counts"))
    some = np.logical_or(*(bound.is_valid().to_numpy(zero_copy_only=False) for bound in bounds))
    some |= of_nulls.known & of_values.known & (of_nulls.values < of_values.values)
    effect = effect_of_wrong_partition(part.transform)
    what = f"a partition field is null, and by the entry's counts or bounds its column has values: {effect}"
    notes.add("partition-value", data & null & (some | required), what, "null", _ends_of(part, *bounds),
              column=part.name)  # fmt: skip
    if part.transform == "identity":  # files that Hive wrote may lack the column
        in_all = of_nulls.known & of_values.known & (of_values.values > 0) & (of_nulls.values == of_values.values)
        what = f"a partition field has a value, and by the entry's counts its column is null in all rows: {effect}"
        notes.add("partition-value", data & ~null & in_all, what, _value_texts(values, part), "null", column=part.name)
        return
    what = "a partition field has a value, and by the entry's counts its column has nulls too: filters skip rows"
    both = data & ~null & of_nulls.known & (of_nulls.values > 0)
    notes.add("partition-value", both, what, _value_texts(values, part), "null too", column=part.name)


def _numbers(values: pa.Array, part: PartField, lower: pa.Array, upper: pa.Array, data: Flags, notes: Notes) -> None:
    """Transforms that keep order, of numbers and times: the value lies between those of the column's bounds."""
    kind, transform = str(part.source), part.transform
    low, high = decode_bounds(lower, kind), decode_bounds(upper, kind)
    if low.values.dtype != np.int64 or high.values.dtype != np.int64:
        notes.is_cut_short = True
        return
    if kind.startswith("timestamp"):  # of a promoted date the bounds have 4 bytes
        data = data & ~(_is_short(lower) | _is_short(upper))
    numbers = values.cast(pa.int32()) if pa.types.is_date32(values.type) else values
    own = pc.fill_null(numbers.cast(pa.int64()), 0).to_numpy(zero_copy_only=False)
    first, last = (apply_transform(b.values, transform, kind) for b in (low, high))
    outside = data & ((low.known & (own < first)) | (high.known & (own > last)))
    early = outside & is_one_too_high(own, transform, kind) & (own - 1 >= first) & (own - 1 <= last)
    wrapped = np.zeros(len(own), bool)
    if is_narrow(transform, kind):
        by_java = [bound.known & (own == as_java(bound.values, transform, kind)) for bound in (low, high)]
        placed = [has_place(bound.values, transform, kind) for bound in (low, high)]
        outside |= data & high.known & ~placed[1]  # below all that there are
        wrapped = outside & ~early & np.logical_or(*by_java)
    what = _WRONG.format(transform, effect_of_wrong_partition(transform))

    def value_text(record: int) -> str:
        return str(partition_value(int(own[record]), transform, kind))

    def bounds(record: int) -> str:
        ends = (int(bound.values[record]) for bound in (low, high) if bound.known[record])
        return " to ".join(
            dict.fromkeys(str(partition_value(exact(v, transform, kind), transform, kind)) for v in ends)
        )

    notes.add("readers-differ", early, ONE_TOO_HIGH.format(transform), value_text, bounds, column=part.name)
    notes.add("partition-value", outside & ~early & ~wrapped, what, value_text, bounds, column=part.name)
    what = f"{what}; {overflow_words(transform, kind)}"
    notes.add("partition-value", wrapped, what, value_text, bounds, column=part.name)


def overflow_words(transform: str, kind: str) -> str:
    """Say that what a transform makes has no place where it is kept."""
    what, bits = ("the hour", 32) if transform == "hour" else ("what it makes", 64 if kind == "long" else 32)
    return f"{what} {WRAPPED.format(bits)}"


def _is_short(bounds: pa.Array) -> Flags:
    short: Flags = pc.fill_null(pc.less(pc.binary_length(bounds), 8), False).to_numpy(zero_copy_only=False)
    return short


def is_one_too_high(own: Any, transform: str, kind: str) -> Any:
    """Which partition values may be those that Iceberg up to 0.10.0 wrote, of times before 1970."""
    return (own <= 0) & (transform in (("year", "month") if kind == "date" else tuple(TIMES)))


def apply_transform(values: npt.NDArray[np.int64], transform: str, kind: str) -> npt.NDArray[np.int64]:
    """Whole numbers, days (of dates), microseconds or nanoseconds as what a transform makes of them; of what has no
    place the least number."""
    if transform == "identity":
        return values
    if transform.startswith("truncate["):
        return np.where(has_place(values, transform, kind), values - values % int(transform[9:-1]), -1 << 63)
    hour = 3_600_000_000 * (1000 if kind.endswith("_ns") else 1)
    if transform == "hour":
        return values // hour
    days = values if kind == "date" else values // (24 * hour)
    units: npt.NDArray[np.int64] = days.view("datetime64[D]").astype(f"datetime64[{TIMES[transform]}]").astype(np.int64)
    return units


def exact(value: int, transform: str, kind: str) -> int:
    """What a transform makes of one number, also where that has no place."""
    if transform.startswith("truncate["):
        return value - value % int(transform[9:-1])
    return int(apply_transform(np.array([value], np.int64), transform, kind)[0])


def _bucket(values: pa.Array, part: PartField, lower: pa.Array, upper: pa.Array, data: Flags, notes: Notes) -> None:
    """Where all values are one, the bucket is that value's."""
    same = data & pc.fill_null(pc.equal(lower, upper), False).to_numpy(zero_copy_only=False)
    if part.source in ("string", "binary"):
        same &= pc.fill_null(pc.less(pc.binary_length(lower), _WHOLE_TEXT), False).to_numpy(zero_copy_only=False)
    apply = _value_maker(part)
    wrong = np.zeros(len(same), bool)
    for record in np.flatnonzero(same).tolist():
        bucket = apply(lower[record].as_py())
        wrong[record] = bucket is not None and bucket != values[record].as_py()
    what = _WRONG.format(part.transform, effect_of_wrong_partition(part.transform))
    notes.add(
        "partition-value", wrong, what, _value_texts(values, part), _ends_of(part, lower, upper), column=part.name
    )


def _texts(values: pa.Array, part: PartField, lower: pa.Array, upper: pa.Array, data: Flags, notes: Notes) -> None:
    """Texts and binaries, as they are or truncated, which keeps order: bounds that are cut are in it too."""
    own = values.cast(pa.binary())
    try:
        first, last = (_cut(bound, part) for bound in (lower, upper))
    except pa.ArrowInvalid:  # bounds that are no texts, of which rule 40 tells
        notes.is_cut_short = True
        return
    outside = pc.or_(pc.fill_null(pc.less(own, first), False), pc.fill_null(pc.greater(own, last), False))
    hive = pc.fill_null(pc.equal(own, HIVE_NULL.encode()), False)  # which has a finding of its own
    wrong = data & pc.and_not(outside, hive).to_numpy(zero_copy_only=False)
    padded = _padded(own, first, last, wrong)
    ends = _ends_of(part, lower, upper)
    notes.add(
        "metrics-wrong", padded, f"a bound of a text {PADDED}", ends, _value_texts(values, part), column=part.name
    )
    wrong &= ~padded
    what = _WRONG.format(part.transform, effect_of_wrong_partition(part.transform))
    notes.add(
        "partition-value", wrong, what, _value_texts(values, part), _ends_of(part, lower, upper), column=part.name
    )


def _padded(own: pa.Array, first: pa.Array, last: pa.Array, wrong: Flags) -> Flags:
    """Which values lie within their bounds once NUL bytes at the ends of these are left out."""
    padded = np.zeros(len(wrong), bool)
    for record in np.flatnonzero(wrong).tolist():
        value, low, high = own[record].as_py(), first[record].as_py(), last[record].as_py()
        within = low is None or low.rstrip(b"\0") <= value
        padded[record] = within and (high is None or value <= high.rstrip(b"\0"))
    return padded


def _cut(bounds: pa.Array, part: PartField) -> pa.Array:
    """Bounds of texts or binaries as the transform makes them."""
    if part.transform == "identity":
        return bounds
    width = int(part.transform[9:-1])
    if part.source == "binary":
        return pc.binary_slice(bounds, 0, width)
    return pc.utf8_slice_codeunits(bounds.cast(pa.string()), 0, width).cast(pa.binary())


def _decimals(values: pa.Array, part: PartField, lower: pa.Array, upper: pa.Array, data: Flags, notes: Notes) -> None:
    """Decimals, as they are or truncated, which keeps order."""
    apply = _value_maker(part)
    wrong = np.zeros(len(data), bool)
    for record in np.flatnonzero(data).tolist():
        own, first, last = values[record].as_py(), apply(lower[record].as_py()), apply(upper[record].as_py())
        wrong[record] = (first is not None and own < first) or (last is not None and own > last)
    what = _WRONG.format(part.transform, effect_of_wrong_partition(part.transform))
    notes.add(
        "partition-value", wrong, what, _value_texts(values, part), _ends_of(part, lower, upper), column=part.name
    )


def _value_maker(part: PartField) -> Callable[[bytes | None], Any]:
    """What makes a partition value of a serialized bound; None of what is absent, or no value of its type."""
    primitive = primitive_type(part.source)
    assert primitive is not None
    apply = parse_transform(part.transform).transform(primitive)

    @lru_cache(maxsize=4096)
    def value_of(bound: bytes | None) -> Any:
        try:
            return None if bound is None else apply(internal_value(from_bytes(primitive, bound)))
        except Exception:  # whatever a damaged bound leads to
            return None

    return value_of


def _value_texts(values: pa.Array, part: PartField) -> Callable[[int], str]:
    """A record's partition value as people write it."""
    return lambda record: str(partition_value(internal_scalar(values[record]), part.transform, part.source))


def _ends_of(part: PartField, lower: pa.Array, upper: pa.Array) -> Callable[[int], str | None]:
    """What the transform makes of a record's bounds, as people write it; None where there are none."""
    apply = _value_maker(part)

    def ends(record: int) -> str | None:
        results = [value for bound in (lower, upper) if (value := apply(bound[record].as_py())) is not None]
        if part.transform.startswith("bucket[") and len(set(results)) > 1:
            return None  # of values between the bounds it may be any
        return " to ".join(dict.fromkeys(str(partition_value(v, part.transform, part.source)) for v in results)) or None

    return ends
