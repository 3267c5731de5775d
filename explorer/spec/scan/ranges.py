"""What metadata promises of the values of one field in many places: files, manifests, row groups.

Bounds promise only that no value is below the lower or above the upper one (spec: "Manifest Entry Fields")."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from explorer.model.manifest import ManifestFile
from explorer.spec.entries.numpy_columns import Ints, numbers_of
from explorer.spec.filters.expressions import BoundTerm
from explorer.spec.values.ordering import comparable, float_keys, plain
from explorer.spec.values.transforms import parse_transform, transform_function
from explorer.spec.values.values import bound_as_java_reads, primitive_type

Mask = npt.NDArray[np.bool_]
Values = npt.NDArray[Any]
_WIDTHS = {"int": (4, "<i4"), "date": (4, "<i4"), "long": (8, "<i8"), "time": (8, "<i8"), "float": (4, "<f4"),
           "double": (8, "<f8")}  # fmt: skip


@dataclass(frozen=True)
class Bounds:
    """The lower or the upper bound of each place; where it is not `known`, the value means nothing. `values` order as
    Iceberg's do, as 64-bit integers where the type allows, else as objects."""

    values: Values
    known: Mask


@dataclass(frozen=True)
class Ranges:
    """One field in many places, an item for each. `nulls_only` and `nans_only` are known for sure, `may_null` and
    `may_nan` are true in doubt. `empty` says that no value can be compared there. `sure_no_null` and `sure_no_nan` are
    what Iceberg asks before it says that all rows match: without any counts of NaN, there are none."""

    nulls_only: Mask
    may_null: Mask
    nans_only: Mask
    may_nan: Mask
    empty: Mask
    sure_no_null: Mask
    sure_no_nan: Mask
    lower: Bounds
    upper: Bounds
    nested: bool = False

    def __len__(self) -> int:
        return len(self.may_null)

    def take(self, places: npt.NDArray[Any]) -> Ranges:
        """Some places, by their numbers or a mask."""
        masks: dict[str, Any] = {name: getattr(self, name)[places] for name in _MASKS}
        lower, upper = (Bounds(b.values[places], b.known[places]) for b in (self.lower, self.upper))
        return replace(self, **masks, lower=lower, upper=upper)

    def of(self, term: BoundTerm) -> Ranges:
        """The ranges of a transform's results; without bounds where it does not keep the order."""
        if term.transform == "identity":
            return self
        primitive = primitive_type(term.column.kind)
        transform = parse_transform(term.transform)
        if primitive is None or not transform.preserves_order:
            nothing = Bounds(np.zeros(len(self), object), np.zeros(len(self), bool))
            return replace(self, lower=nothing, upper=nothing, may_null=np.ones(len(self), bool))
        apply = transform_function(term.transform, primitive)
        back = plain(term.column.kind)
        return replace(
            self,
            lower=_apply(self.lower, lambda v: apply(back(v)), term.kind),
            upper=_apply(self.upper, lambda v: apply(back(v)), term.kind),
        )


def join_values(arrays: Sequence[Values]) -> Values:
    """Values of several arrays, one after the other; of objects where some are."""
    some = [a for a in arrays if len(a)] or [np.zeros(0, np.int64)]
    return np.concatenate([a.astype(object) for a in some] if any(a.dtype == object for a in some) else some)


def order_numbers(values: Values) -> Values:
    """Numbers that order as bytes do, equal ones for equal values; other values as they are."""
    if values.dtype != object or not all(type(value) is bytes for value in values):
        return values
    numbers: Values = pc.rank(pa.array(values, pa.large_binary()), tiebreaker="dense").to_numpy().astype(np.int64)
    return numbers


_MASKS = ("nulls_only", "may_null", "nans_only", "may_nan", "empty", "sure_no_null", "sure_no_nan")


def after(parts: Sequence[Ranges]) -> Ranges:
    """The places of one part after those of another."""
    masks: dict[str, Any] = {name: np.concatenate([getattr(part, name) for part in parts]) for name in _MASKS}
    lower, upper = (
        Bounds(join_values([b.values for b in side]), np.concatenate([b.known for b in side]))
        for side in ([p.lower for p in parts], [p.upper for p in parts])
    )
    return Ranges(**masks, lower=lower, upper=upper, nested=any(p.nested for p in parts))


def merge_ranges(ranges: Ranges, starts: npt.NDArray[np.int64]) -> Ranges:
    """What holds for neighbouring places together, which begin at `starts`. Where no value is, a bound says nothing."""
    masks: dict[str, Any] = {
        name: (np.logical_or if name.startswith("may") else np.logical_and).reduceat(getattr(ranges, name), starts)
        for name in _MASKS
    }

    def bounds(of: Bounds, most: Callable[..., Any], reduce: np.ufunc) -> Bounds:
        has_bound = np.logical_and.reduceat(of.known | ranges.empty, starts) & np.logical_or.reduceat(of.known, starts)
        values = of.values
        if not of.known.all() and of.known.any():  # the highest changes no minimum
            values = np.where(of.known, values, most(values[of.known]))
        return Bounds(reduce.reduceat(values, starts), has_bound)

    return replace(
        ranges, **masks, lower=bounds(ranges.lower, max, np.minimum), upper=bounds(ranges.upper, min, np.maximum)
    )


def _apply(bounds: Bounds, apply: Callable[[Any], Any], kind: str) -> Bounds:
    results = []
    valid = bounds.known.copy()
    for at, value in enumerate(bounds.values.tolist()):
        try:
            results.append(comparable(apply(value), kind) if valid[at] else 0)
        except (ValueError, OverflowError, ArithmeticError):  # times beyond the year 9999
            results.append(0)
            valid[at] = False
    return Bounds(values_of(results), valid)


def values_of(values: Sequence[Any]) -> Values:
    """Values that order, as an array: of 64-bit integers where all are such."""
    if all(type(v) is int and -(2**63) <= v < 2**63 for v in values):
        return np.array(values, np.int64)
    array = np.empty(len(values), object)
    array[:] = values
    return array


def decode_bounds(data: pa.Array | pa.ChunkedArray, kind: Any, short_days: bool = False) -> Bounds:
    """Serialized bounds of one field (spec: "Appendix D"); what does not fit its type is not known. `short_days`: 4
    bytes of a timestamp are the days of a date (see spec.scan.reader_rules)."""
    column = data.combine_chunks() if isinstance(data, pa.ChunkedArray) else data
    valid = column.is_valid().to_numpy(zero_copy_only=False)
    if isinstance(kind, str) and valid.any():
        width, code = _WIDTHS.get(kind, (8, "<i8") if kind.startswith("timestamp") else (0, ""))
        lengths = pc.binary_length(column).drop_null()
        if width and pc.all(pc.equal(lengths, width)).as_py():
            numbers = numbers_of(column.drop_null(), code)
            keys = float_keys(numbers.astype(np.float64)) if code[1] == "f" else numbers.astype(np.int64)
            values = np.zeros(len(column), np.int64)
            values[valid] = keys
            nan = np.zeros(len(column), bool)
            if code[1] == "f":
                nan[valid] = np.isnan(numbers)
            return Bounds(values, valid & ~nan)
        if kind == "string" and (texts := _texts(column)) is not None:
            texts[~valid] = 0
            return Bounds(texts, valid)
        return _decode_once(column, kind, short_days)
    return _decode_singly(column.to_pylist(), kind, short_days)


def _texts(column: pa.Array) -> Values | None:
    """Bounds that are texts, each that occurs made once; None where any is no UTF-8."""
    coded = column.dictionary_encode()
    try:
        texts: Values = np.array([*coded.dictionary.cast(pa.string()).to_pylist(), None], object)
    except pa.ArrowInvalid:
        return None
    return texts[_places(coded)]


def _places(coded: pa.DictionaryArray) -> Ints:
    """Where the value of each row is in its dictionary; beyond its end where there is none."""
    places: Ints = coded.indices.fill_null(len(coded.dictionary)).to_numpy(zero_copy_only=False)
    return places


def _decode_once(column: pa.Array, kind: str, short_days: bool) -> Bounds:
    """Each value that occurs, decoded once."""
    coded = column.dictionary_encode()
    bounds = _decode_singly([*coded.dictionary.to_pylist(), None], kind, short_days)
    places = _places(coded)
    return Bounds(bounds.values[places], bounds.known[places])


def _decode_singly(data: list[bytes | None], kind: Any, short_days: bool) -> Bounds:
    primitive = primitive_type(kind)
    values: list[Any] = []
    valid = np.zeros(len(data), bool)
    for at, item in enumerate(data):
        value = None
        if item is not None and primitive is not None:
            try:
                value = bound_as_java_reads(item, kind)
                if short_days and len(item) == 4 and kind.startswith("timestamp"):
                    value *= 86_400_000_000 * (1000 if "_ns" in kind else 1)
                valid[at] = not (isinstance(value, float) and value != value)
            except Exception:  # damaged, or of another type: no statement
                value = None
        values.append(comparable(value, kind) if valid[at] else 0)
    return Bounds(values_of(values), valid)


def file_ranges(entries: pa.Table, field_id: int, kind: Any, nested: bool, short_days: bool = False) -> Ranges:
    """One column in the files of stored entries that have their metrics; `short_days` as `decode_bounds` has it."""
    n = entries.num_rows
    values, nulls, nans = (
        counts(entries, name, field_id) for name in ("value_counts", "null_value_counts", "nan_value_counts")
    )
    none = np.zeros(n, bool)
    any_nulls = entries["null_value_counts"].is_valid().to_numpy() if n else none
    nulls_only = values.known & nulls.known & (values.values == nulls.values)
    nans_only = values.known & nans.known & (values.values == nans.values)
    return Ranges(
        nulls_only=nulls_only, may_null=~nulls.known | (nulls.values != 0),
        nans_only=nans_only, may_nan=~nans.known | (nans.values != 0),
        empty=nulls_only | nans_only,
        sure_no_null=any_nulls & ~(nulls.known & (nulls.values > 0)),
        sure_no_nan=~(nans.known & (nans.values > 0)),
        lower=decode_bounds(look_up(entries, "lower_bounds", field_id), kind, short_days),
        upper=decode_bounds(look_up(entries, "upper_bounds", field_id), kind, short_days), nested=nested,
    )  # fmt: skip


def look_up(entries: pa.Table, name: str, field_id: int) -> pa.Array:
    """What a metrics map of entries has for one field."""
    column = entries[name].combine_chunks()
    if not len(column):
        return pa.nulls(0, column.type.item_type)
    return pc.map_lookup(column, pa.scalar(field_id, column.type.key_type), "last")


def counts(entries: pa.Table, name: str, field_id: int) -> Bounds:
    """What a map of counts has for one field in each file."""
    column = look_up(entries, name, field_id)
    valid = column.is_valid().to_numpy(zero_copy_only=False)
    return Bounds(column.fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64), valid)


def summary_ranges(manifests: Sequence[ManifestFile], at: int, kind: Any) -> Ranges:
    """The partition field in one place of its spec, in manifests of that spec that have summaries (spec: "Manifest
    Lists", field_summary). Without a lower bound there is no value but null and NaN."""
    summaries = [m.partitions[at] for m in manifests if m.partitions is not None]
    null = np.array([s.contains_null for s in summaries], bool)
    nan = np.array([bool(s.contains_nan) for s in summaries], bool)
    nan_told = np.array([s.contains_nan is not None for s in summaries], bool)
    lower = decode_bounds(pa.array([s.lower_bound for s in summaries], pa.binary()), kind)
    upper = decode_bounds(pa.array([s.upper_bound for s in summaries], pa.binary()), kind)
    none = np.array([s.lower_bound is None for s in summaries], bool)
    floating = kind in ("float", "double")
    may_nan = (nan | ~nan_told) if floating else np.zeros(len(summaries), bool)
    return Ranges(
        nulls_only=null & none & (nan_told & ~nan if floating else True), may_null=null,
        nans_only=nan & ~null & none, may_nan=may_nan, empty=none,
        sure_no_null=~null, sure_no_nan=~may_nan, lower=lower, upper=upper,
    )  # fmt: skip
