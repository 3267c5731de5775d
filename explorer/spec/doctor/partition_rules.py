"""Rules 32, 42, 63 and 66 over whole manifests: partition values against summaries and bounds of their columns."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any
from urllib.parse import unquote

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from explorer.model.manifest import FieldSummary
from explorer.spec.doctor.finding_helpers import Notes
from explorer.spec.doctor.partition_fields import PartField
from explorer.spec.doctor.remedy_cases import ENCODED, HIVE_NULL, PADDED
from explorer.spec.doctor.source_column_rules import own_bounds
from explorer.spec.entries.manifest_run import ManifestRun
from explorer.spec.values.ordering import comparable
from explorer.spec.values.transforms import from_bytes
from explorer.spec.values.values import internal_scalar, internal_value, partition_value, primitive_type, summary_bound

CODE = "%[0-9A-Fa-f]{2}"
"""A sign that is encoded in a URL."""


def partition_notes(
    table: pa.Table, spec: Sequence[PartField] | None, run: ManifestRun, live: npt.NDArray[np.bool_],
    metrics: bool, required: Collection[int], notes: Notes,
) -> None:  # fmt: skip
    """The live entries' partition values against the manifests' summaries in the list, and against the counts and
    bounds of their own columns, of which `required` are never null."""
    if not spec or not live.any():
        return
    struct = table["partition"].combine_chunks()
    struct = struct.chunk(0) if isinstance(struct, pa.ChunkedArray) and struct.num_chunks else struct
    names = [f.name for f in struct.type]
    for at, part in enumerate(spec):
        if str(part.field_id) not in names:
            continue
        values = pc.struct_field(struct, [names.index(str(part.field_id))])
        if pa.types.is_string(values.type) or pa.types.is_large_string(values.type):
            hive = pc.fill_null(pc.equal(values, HIVE_NULL), False).to_numpy(zero_copy_only=False) & live
            what = f"a partition field is {HIVE_NULL}, Hive's sign for null: IS NULL finds none of its rows"
            notes.add("value-suspect", hive, what, column=part.name)
            _encoded(table, values, part, live, notes)
        for place, (manifest, start, end) in enumerate(run.ranges()):
            if manifest.partitions is not None and at < len(manifest.partitions):
                own = notes.of(place, end)
                _summary(values.slice(start, end - start), manifest.partitions[at], part, live[start:end], own)
                notes.take(own.rows(), place)
        if metrics:
            own_bounds(table, values, part, live, part.source_id in required, notes)


def _encoded(
    table: pa.Table, values: pa.Array, part: PartField, live: npt.NDArray[np.bool_], notes: Notes
) -> None:  # fmt: skip
    """Values that a writer took from folders' names as they are. Others encode the signs of a code once more."""
    codes = pc.fill_null(pc.match_substring_regex(values, CODE), False).to_numpy(zero_copy_only=False) & live
    for record in np.flatnonzero(codes).tolist() if part.transform == "identity" else ():
        codes[record] = f"/{part.name}={values[record].as_py()}/" in (table["file_path"][record].as_py() or "")
    if part.transform == "identity":
        notes.add("value-suspect", codes, ENCODED, values, lambda n: unquote(values[n].as_py()), column=part.name)


def _summary(
    values: pa.Array, summary: FieldSummary, part: PartField, live: npt.NDArray[np.bool_], notes: Notes
) -> None:
    rule, column = "partition-summary", part.name

    def value_text(record: int) -> str:
        return str(partition_value(internal_scalar(values[record]), part.transform, part.source))

    null = ~values.is_valid().to_numpy(zero_copy_only=False) & live
    if not summary.contains_null:
        what = "a partition field is null here, and the manifest list says that it never is: readers skip the file"
        notes.add(rule, null, what, None, "contains_null: false", column=column)
    kind = part.result
    primitive = primitive_type(kind) if kind else None
    if primitive is None or part.transform == "void":
        return
    with_value = live & values.is_valid().to_numpy(zero_copy_only=False)
    if pa.types.is_floating(values.type):
        nan = with_value & pc.fill_null(pc.is_nan(values), False).to_numpy(zero_copy_only=False)
        if summary.contains_nan is False:
            what = "a partition field is NaN here, and the manifest list says that it never is: readers skip the file"
            notes.add(rule, nan, what, None, "contains_nan: false", column=column)
        with_value &= ~nan
    if not with_value.any() or kind == "uuid":  # readers differ in the order of UUIDs
        return
    for bound, least in ((summary.lower_bound, True), (summary.upper_bound, False)):
        if bound is None:
            what = "a partition field has values, and the manifest list has no bounds of it: readers skip the manifest"
            notes.add(rule, with_value, what, value_text, "bounds", column=column)
            return
        shown = str(summary_bound(bound, part.transform, part.source))[:200]
        try:
            limit = comparable(internal_value(from_bytes(primitive, bound)), kind)
        except Exception:  # whatever a damaged bound leads to
            what = "a bound of a partition field in the manifest list is no value of its type"
            notes.add(rule, with_value, what, value_text, f"0x{bound.hex()[:64]}", column=column)
            return
        own = _extreme(values, with_value, least)
        try:
            outside = comparable(own, kind) < limit if least else comparable(own, kind) > limit
        except TypeError:  # written as another type than the spec's
            continue
        if outside:
            record = _where(values, with_value, own)
            side = "below the lower" if least else "above the upper"
            what = f"a partition field is {side} bound in the manifest list: readers skip the file"
            if kind == "string" and bound.endswith(b"\0"):
                what = f"a bound of a partition field in the manifest list {PADDED}"
            notes.one(rule, what, value_text, shown, record, column)


def _extreme(values: pa.Array, chosen: npt.NDArray[np.bool_], least: bool) -> Any:
    some = values.filter(pa.array(chosen))
    if pa.types.is_boolean(some.type):
        some = some.cast(pa.int8())
    if pa.types.is_fixed_size_binary(some.type):
        some = some.cast(pa.binary())
    return internal_scalar((pc.min if least else pc.max)(some))


def _where(values: pa.Array, chosen: npt.NDArray[np.bool_], wanted: Any) -> int:
    return next(int(i) for i in np.flatnonzero(chosen) if internal_scalar(values[int(i)]) == wanted)
