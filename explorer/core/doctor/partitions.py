"""Rules 32 and 42 over whole manifests: partition values against summaries, and against bounds of their columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from pyiceberg.conversions import from_bytes

from explorer.core.doctor.noting import Notes
from explorer.core.ordering import comparable
from explorer.core.ranges import decoded, looked_up
from explorer.core.values import internal_value, primitive_type
from explorer.model.manifest import FieldSummary, ManifestFile

if TYPE_CHECKING:
    from explorer.core.doctor.facts import PartField

_ORDERED = {"int", "long", "date", "timestamp", "timestamptz"}
_UNITS = {"hour": "h", "day": "D", "month": "M", "year": "Y"}


def partition_notes(
    table: pa.Table, spec: Sequence[PartField] | None, manifest: ManifestFile, live: npt.NDArray[np.bool_],
    metrics: bool, notes: Notes,
) -> None:  # fmt: skip
    """The live entries' partition values against the manifest's summaries in the list and their own bounds."""
    if not spec or not live.any():
        return
    struct = table["partition"].combine_chunks()
    struct = struct.chunk(0) if isinstance(struct, pa.ChunkedArray) and struct.num_chunks else struct
    names = [f.name for f in struct.type]
    for at, part in enumerate(spec):
        if str(part.field_id) not in names:
            continue
        values = pc.struct_field(struct, [names.index(str(part.field_id))])
        if manifest.partitions is not None and at < len(manifest.partitions):
            _summary(values, manifest.partitions[at], part, live, notes)
        if metrics:
            _against_bounds(table, values, part, live, notes)


def _summary(values: pa.Array, told: FieldSummary, part: PartField, live: npt.NDArray[np.bool_], notes: Notes) -> None:
    here, rule = f"partition field {part.name!r}", "partition-summary"
    null = ~values.is_valid().to_numpy(zero_copy_only=False) & live
    if not told.contains_null:
        notes.add(
            rule,
            null,
            f"{here} is null here, and the manifest list says that it never is",
            None,
            "contains_null: false",
        )
    kind = part.result
    primitive = primitive_type(kind) if kind else None
    if primitive is None or part.transform == "void":
        return
    known = live & values.is_valid().to_numpy(zero_copy_only=False)
    if pa.types.is_floating(values.type):
        nan = known & pc.fill_null(pc.is_nan(values), False).to_numpy(zero_copy_only=False)
        if told.contains_nan is False:
            notes.add(
                rule,
                nan,
                f"{here} is NaN here, and the manifest list says that it never is",
                None,
                "contains_nan: false",
            )
        known &= ~nan
    if not known.any():
        return
    for bound, least in ((told.lower_bound, True), (told.upper_bound, False)):
        if bound is None:
            notes.add(rule, known, f"{here} has values, and the manifest list has no bounds of it", values)
            return
        try:
            limit = comparable(internal_value(from_bytes(primitive, bound)), kind)
        except Exception:  # whatever a damaged bound leads to
            notes.add(
                rule, known, f"a bound of {here} in the manifest list is no {kind}", values, f"0x{bound.hex()[:64]}"
            )
            return
        own = _extreme(values, known, least)
        try:
            outside = comparable(own, kind) < limit if least else comparable(own, kind) > limit
        except TypeError:  # written as another type than the spec's
            continue
        if outside:
            record = _where(values, known, own)
            side = "below the lower" if least else "above the upper"
            notes.one(
                rule,
                f"{here} is {side} bound in the manifest list: readers skip the file",
                values,
                str(limit)[:200],
                record,
            )


def _extreme(values: pa.Array, known: npt.NDArray[np.bool_], least: bool) -> Any:
    some = values.filter(pa.array(known))
    if pa.types.is_boolean(some.type):
        some = some.cast(pa.int8())
    if pa.types.is_fixed_size_binary(some.type):
        some = some.cast(pa.binary())
    return internal_value((pc.min if least else pc.max)(some).as_py())


def _where(values: pa.Array, known: npt.NDArray[np.bool_], wanted: Any) -> int:
    return next(int(i) for i in np.flatnonzero(known) if internal_value(values[int(i)].as_py()) == wanted)


def _against_bounds(
    table: pa.Table, values: pa.Array, part: PartField, live: npt.NDArray[np.bool_], notes: Notes
) -> None:
    """Transforms that keep order, of numbers and times: the value lies between those of the column's bounds."""
    if part.source_id is None or part.source not in _ORDERED or part.transform not in ("identity", *_UNITS):
        return
    if not (pa.types.is_integer(values.type) or pa.types.is_temporal(values.type)):
        return
    lower, upper = (looked_up(table, name, part.source_id) for name in ("lower_bounds", "upper_bounds"))
    if not (lower.null_count < len(lower) or upper.null_count < len(upper)):
        return
    low, high = decoded(lower, part.source), decoded(upper, part.source)
    if low.values.dtype != np.int64 or high.values.dtype != np.int64:
        return
    numbers = values.cast(pa.int32()) if pa.types.is_date32(values.type) else values
    own = pc.fill_null(numbers.cast(pa.int64()), 0).to_numpy(zero_copy_only=False)
    known = values.is_valid().to_numpy(zero_copy_only=False) & live & (table["content"].fill_null(0).to_numpy() == 0)
    first, last = (_transformed(b.values, part.transform, str(part.source)) for b in (low, high))
    outside = (low.known & (own < first)) | (high.known & (own > last))
    notes.add(
        "partition-value",
        known & outside,
        f"partition field {part.name!r} is not what {part.transform} makes of the column's bounds",
        values,
        lambda record: f"{first[record]} to {last[record]}",
    )


def _transformed(values: npt.NDArray[np.int64], transform: str, kind: str) -> npt.NDArray[np.int64]:
    if transform == "identity":
        return values
    times = values.view("datetime64[D]" if kind == "date" else "datetime64[us]")
    made: npt.NDArray[np.int64] = times.astype(f"datetime64[{_UNITS[transform]}]").astype(np.int64)
    return made
