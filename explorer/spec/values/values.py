"""Decode bounds and partition values to what a person reads (spec: "Appendix D", "Partition Transforms")."""

from __future__ import annotations

import contextlib
import datetime
import uuid
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing
import pyarrow as pa
import pyarrow.compute as pc

from explorer.model.manifest import FieldSummary
from explorer.model.metadata import PartitionSpec, TableMetadata
from explorer.spec.text.printable import show_blanks
from explorer.spec.values.ordering import uuid_key
from explorer.spec.values.transforms import from_bytes, parse_transform

if TYPE_CHECKING:
    from pyiceberg.types import PrimitiveType

PROMOTED_FROM = {"long": "int", "double": "float", "timestamp": "date", "timestamptz": "date"}
"""What a column was when its bounds were written with 4 bytes (spec: "Schema Evolution")."""
EPOCH = datetime.datetime(1970, 1, 1)


@lru_cache(maxsize=256)
def _primitive(kind: str) -> PrimitiveType | None:
    from pyiceberg.types import IcebergType, PrimitiveType

    try:
        parsed = IcebergType.model_validate(kind)
    except Exception:  # a type of a later spec version: shown as bytes
        return None
    return parsed if isinstance(parsed, PrimitiveType) else None


def primitive_type(kind: Any) -> PrimitiveType | None:
    """A type's JSON as pyiceberg's; None for a nested type, or one that it does not know."""
    return _primitive(kind) if isinstance(kind, str) else None


def decode_bound(data: bytes | None, kind: Any) -> Any:
    """A serialized single value as Python; hex text where the type is unknown or the bytes do not fit it."""
    if data is None:
        return None
    if isinstance(kind, str) and len(data) == 4:
        kind = PROMOTED_FROM.get(kind.removesuffix("_ns"), kind)
    primitive = primitive_type(kind)
    try:
        if primitive is None:
            raise ValueError
        return readable(from_bytes(primitive, data), kind)
    except Exception:  # damaged bounds must still be shown
        return f"0x{data.hex()}"


def bound_as_java_reads(data: bytes, kind: Any) -> Any:
    """Decode a serialized bound as Iceberg Java does (org.apache.iceberg.types.Conversions.fromByteBuffer).

    Of a long and of a double it takes 4 bytes for what they were before a promotion. It does so of times and timestamps
    too, where by the spec 4 bytes are the days of a date: Java takes them for microseconds.

    Args:
        data: The bytes.
        kind: The column's type, as the spec's JSON has it.

    Returns:
        The internal value: of a date its days, of a UUID its bytes.

    Raises:
        Exception: The bytes do not fit the type.
    """
    size = None
    if kind in ("int", "date", "float"):
        size = 4
    elif kind in ("long", "double", "time") or str(kind).startswith("timestamp"):
        size = 8 if len(data) >= 8 else 4
        kind = kind if size == 8 else "float" if kind == "double" else "int"
    primitive = primitive_type(kind)
    if primitive is None:
        raise ValueError(f"no bounds of type {kind}")
    value = from_bytes(primitive, data[:size])
    return getattr(value, "bytes", value)


def comparable_bound(data: bytes | None, kind: Any) -> Any:
    """A serialized bound as a value that orders as Iceberg's does; None where it is absent or cannot be told."""
    if data is None:
        return None
    try:
        value = bound_as_java_reads(data, kind)
    except Exception:  # damaged, or of an unknown type: no statement
        return None
    if kind == "uuid":
        return uuid_key(value)
    return value.encode() if isinstance(value, str) else value  # text orders by its UTF-8 bytes


def readable(value: Any, kind: Any) -> Any:
    """An Iceberg value as a person reads it: dates and times in ISO form (UTC), bytes as hex."""
    if value is None:
        return None
    if isinstance(kind, str) and isinstance(value, int):
        try:
            if kind == "date":
                return (EPOCH.date() + datetime.timedelta(days=value)).isoformat()
            if kind.startswith("timestamp"):
                micros = value // 1000 if "_ns" in kind else value
                zone = "Z" if kind.startswith("timestamptz") else ""
                return (EPOCH + datetime.timedelta(microseconds=micros)).isoformat(sep=" ") + zone
            if kind == "time":
                return (EPOCH + datetime.timedelta(microseconds=value)).time().isoformat()
        except OverflowError:  # before the year 1 or after 9999
            return str(value) if kind == "time" else far_time(value, kind)
    if isinstance(value, bytes):
        return str(uuid.UUID(bytes=value)) if kind == "uuid" and len(value) == 16 else f"0x{value.hex()}"
    if isinstance(value, (bool, int, float, str)):
        return value
    return str(value)


def far_time(value: int, kind: str) -> str:
    """A date or time beyond the years that Python has, in ISO form; a number where NumPy has none either."""
    unit: Any = "D" if kind == "date" else "ns" if "_ns" in kind else "us"
    try:
        text = str(np.datetime64(value, unit)).replace("T", " ")
    except OverflowError:
        return str(value)
    if text.startswith("-"):
        year, rest = text[1:].split("-", 1)
        text = f"-{int(year):04}-{rest}"
    return str(value) if text == "NaT" else text + ("Z" if kind.startswith("timestamptz") else "")


def source_type(metadata: TableMetadata, source_ids: tuple[int, ...]) -> Any:
    """The JSON type of a partition field's source column; None when the column was dropped from every schema."""
    field = metadata.field(source_ids[0]) if source_ids else None
    return field.type if field else None


def internal_value(value: Any) -> Any:
    """A value as Iceberg keeps it: of a date its days, of a time its microseconds (nanoseconds of what pandas has), of
    a UUID its bytes."""
    if hasattr(value, "nanosecond"):
        return int(value.value)
    if isinstance(value, datetime.datetime):
        return (value.replace(tzinfo=None) - EPOCH) // datetime.timedelta(microseconds=1)
    if isinstance(value, datetime.date):
        return (value - EPOCH.date()).days
    if isinstance(value, datetime.time):
        return ((value.hour * 60 + value.minute) * 60 + value.second) * 1_000_000 + value.microsecond
    return getattr(value, "bytes", value)


def internal_scalar(value: pa.Scalar) -> Any:
    """`internal_value` of an Arrow value, also of dates and times that Python has none for."""
    kind = value.type
    if not value.is_valid:
        return None
    if pa.types.is_date32(kind):
        return value.cast(pa.int32()).as_py()
    if pa.types.is_timestamp(kind):
        number = int(value.cast(pa.int64()).as_py())
        return number * {"s": 1_000_000, "ms": 1000}.get(kind.unit, 1)
    if pa.types.is_time64(kind):
        return int(value.cast(pa.int64()).as_py()) // (1000 if kind.unit == "ns" else 1)
    return internal_value(value.as_py())


def python_value(value: pa.Scalar) -> Any:
    """An Arrow value as Python's, or as text where Python has none: dates and times beyond the years 1 to 9999."""
    return _python_value(value, None)


_NUMPY_UNITS: Mapping[str, Literal["Y", "M", "D", "h"]] = {"year": "Y", "month": "M", "day": "D", "hour": "h"}


def partition_value(value: Any, transform: str, kind: Any) -> Any:
    """One partition value for people: month 650 is 2024-03, a bucket stays a number, null is "null"."""
    if value is None:
        return "null"
    number = internal_value(value)
    primitive = primitive_type(kind)
    try:
        if primitive is None:
            raise ValueError
        if transform == "identity" and kind == "uuid" and isinstance(number, bytes):
            return str(uuid.UUID(bytes=number))
        if transform == "identity" and isinstance(kind, str) and kind.endswith("_ns"):
            return _timestamp_with_nanoseconds(number, kind)
        return parse_transform(transform).to_human_string(primitive, number)
    except Exception:  # an unknown transform or a value that does not fit: shown as stored
        if transform in _NUMPY_UNITS and isinstance(number, int):  # before the year 1 or after 9999
            return str(np.datetime64(number, _NUMPY_UNITS[transform])).replace("T", "-")
        return str(readable(value, kind))


def _timestamp_with_nanoseconds(number: int, kind: str) -> str:
    """A timestamp in ISO form, as those of microseconds are, with nine digits of a second where it is not whole."""
    seconds, rest = divmod(number, 1_000_000_000)
    text = (EPOCH + datetime.timedelta(seconds=seconds)).isoformat()
    return text + (f".{rest:09}" if rest else "") + ("+00:00" if kind.startswith("timestamptz") else "")


def partition_path(partition: Mapping[str, Any] | None, spec: PartitionSpec | None, metadata: TableMetadata) -> str:
    """A partition struct (keys are partition field ids) as `name=value/name=value`; empty when unpartitioned."""
    return "/".join(f"{name}={value}" for name, value in partition_values(partition, spec, metadata))


def partition_values(
    partition: Mapping[str, Any] | None, spec: PartitionSpec | None, metadata: TableMetadata
) -> list[tuple[str, str]]:
    """The names and values of a partition struct (keys are partition field ids)."""
    field_of = {str(f.field_id): f for f in spec.fields} if spec else {}
    values = []
    for field_id, value in (partition or {}).items():
        field = field_of.get(field_id)
        if field is None:
            values.append((f"field {field_id}", show_blanks(f"{value}")))
        else:
            kind = source_type(metadata, field.source_ids)
            values.append((field.name, show_blanks(f"{partition_value(value, field.transform, kind)}")))
    return values


def partition_ranges(
    summaries: Sequence[FieldSummary] | None, spec: PartitionSpec | None, metadata: TableMetadata
) -> list[tuple[str, str]]:
    """The names of a manifest's partition fields, and the range of values of each that the manifest list tells."""
    ranges = []
    for (name, *bounds), summary in zip(partition_bounds(summaries, spec, metadata), summaries or (), strict=False):
        first, last = ("null" if bound is None else show_blanks(f"{bound}") for bound in bounds)
        nulls = ", null" if summary.contains_null and first != "null" else ""
        ranges.append((name, (first if first == last else f"{first} … {last}") + nulls))
    return ranges


def partition_bounds(
    summaries: Sequence[FieldSummary] | None, spec: PartitionSpec | None, metadata: TableMetadata
) -> list[tuple[str, Any, Any]]:
    """The names of a manifest's partition fields, and the least and the greatest value of each; None where the manifest
    list does not tell it."""
    bounds = []
    for field, summary in zip(spec.fields if spec else (), summaries or (), strict=False):
        kind = source_type(metadata, field.source_ids)
        first, last = (summary_bound(at, field.transform, kind) for at in (summary.lower_bound, summary.upper_bound))
        bounds.append((field.name, first, last))
    return bounds


def partition_path_by_name(
    partition: Mapping[str, Any] | None, spec: PartitionSpec | None, metadata: TableMetadata
) -> str:
    """`partition_path` for a unified partition struct (keys are names): only the fields of that spec."""
    if not partition or spec is None:
        return ""
    values = {str(f.field_id): partition.get(f.name, partition.get(f"{f.name}_{f.field_id}")) for f in spec.fields}
    return partition_path(values, spec, metadata)


def result_type(transform: str, kind: Any) -> Any:
    """The JSON type of a transform's result: what partition summaries in the manifest list are serialized as. None
    where nobody knows, as of a transform that the spec does not have."""
    from pyiceberg.transforms import UnknownTransform

    primitive = primitive_type(kind)
    try:
        parsed = parse_transform(transform)
        return None if primitive is None or isinstance(parsed, UnknownTransform) else str(parsed.result_type(primitive))
    except Exception:
        return None


def summary_bound(data: bytes | None, transform: str, kind: Any) -> Any:
    """A partition summary's bound for people."""
    if data is None:
        return None
    result = result_type(transform, kind)
    primitive = _primitive(result) if result else None
    try:
        if primitive is None:
            raise ValueError
        return partition_value(from_bytes(primitive, data), transform, kind)
    except Exception:
        return f"0x{data.hex()}"


def decode_metrics(row: Mapping[str, Any], metadata: TableMetadata) -> list[dict[str, Any]]:
    """An entry's metric maps as one row a column: field_id, name, type, column_size, value_count, null_value_count,
    nan_value_count, lower_bound, upper_bound (decoded)."""
    maps = {
        n: dict(row.get(n) or ())
        for n in (
            "column_sizes",
            "value_counts",
            "null_value_counts",
            "nan_value_counts",
            "lower_bounds",
            "upper_bounds",
        )
    }
    rows = []
    for field_id in sorted(set().union(*maps.values())):
        field = metadata.field(field_id)
        kind = field.type if field else {2147483546: "string", 2147483545: "long"}.get(field_id)
        name = (
            field.name
            if field
            else {2147483546: "file_path", 2147483545: "pos"}.get(field_id, f"(field {field_id}, in no schema)")
        )
        rows.append(
            {
                "field_id": field_id,
                "name": name,
                "type": kind if isinstance(kind, str) or kind is None else kind.get("type"),
                "column_size": maps["column_sizes"].get(field_id),
                "value_count": maps["value_counts"].get(field_id),
                "null_value_count": maps["null_value_counts"].get(field_id),
                "nan_value_count": maps["nan_value_counts"].get(field_id),
                "lower_bound": decode_bound(maps["lower_bounds"].get(field_id), kind),
                "upper_bound": decode_bound(maps["upper_bounds"].get(field_id), kind),
            }
        )
    return rows


def common_partition_type(metadata: TableMetadata, stored: Sequence[pa.Schema]) -> pa.StructType:
    """One struct type for the partitions of all specs: each partition field id once, under its spec name (with the id
    appended where two ids share a name), typed as the first of the manifests at hand stores it."""
    types: dict[str, pa.DataType] = {}
    for schema in stored:
        for field in schema.field("partition").type:
            types.setdefault(field.name, field.type)
    names: dict[str, str] = {}
    for spec in metadata.partition_specs:
        for part in spec.fields:
            names[str(part.field_id)] = part.name
    often = Counter(names.values())
    label = {i: (n if often[n] == 1 else f"{n}_{i}") for i, n in names.items()}
    return pa.struct(
        [pa.field(label.get(i, f"field_{i}"), types[i], metadata={"partition-field-id": i}) for i in types]
    )


def fields_left_out(stored: pa.Schema, conformed: pa.Schema) -> list[str]:
    """The partition field ids of a manifest that its entries have no more once they were conformed."""
    if "partition" not in conformed.names or not pa.types.is_struct(conformed.field("partition").type):
        return []
    field_ids = {field.metadata[b"partition-field-id"].decode() for field in conformed.field("partition").type}
    return [field.name for field in stored.field("partition").type if field.name not in field_ids]


def conform_partition(table: pa.Table, target: pa.StructType) -> pa.ChunkedArray:
    """A manifest's partition column as the unified type; fields of other specs are null."""
    column = (
        table["partition"].combine_chunks() if table.num_rows else pa.array([], table.schema.field("partition").type)
    )
    have = {f.name: i for i, f in enumerate(column.type)}
    arrays = []
    for field in target:
        field_id = field.metadata[b"partition-field-id"].decode()
        if field_id in have:
            source = column.field(have[field_id])
            arrays.append(source if source.type == field.type else source.cast(field.type, safe=False))
        else:
            arrays.append(pa.nulls(table.num_rows, field.type))
    if not arrays:
        return pa.array([{}] * table.num_rows, pa.struct([]))
    return pa.StructArray.from_arrays(arrays, fields=list(target))


def distinct_partitions(partition: pa.ChunkedArray) -> tuple[np.typing.NDArray[np.int64], np.typing.NDArray[np.int64]]:
    """A code for each row of a partition column, the same for the same partition, and a row for each code."""
    codes = partition.is_valid().to_numpy().astype(np.int64)
    for i in range(partition.type.num_fields if len(partition) else 0):
        column = pc.struct_field(partition, i).combine_chunks().dictionary_encode(null_encoding="encode")
        codes = codes * (len(column.dictionary) + 1) + column.indices.to_numpy(zero_copy_only=False)
        codes = np.unique(codes, return_inverse=True)[1]
    _, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
    return inverse, first


def partition_dicts(table: pa.Table) -> tuple[np.typing.NDArray[np.int64], list[dict[str, Any]]]:
    """A code for each row of entries, the same for the same partition, and the partition of each code (of null, an
    empty one)."""
    codes, first = distinct_partitions(table["partition"])
    return codes, [row["partition"] or {} for row in row_dicts(table.select(["partition"]).take(pa.array(first)))]


def no_rows(schema: pa.Schema) -> pa.Table:
    """A table of a schema without rows; Arrow's own way has none for a UUID inside a struct, list or map."""
    return pa.table([pa.nulls(0, field.type) for field in schema], schema=schema)


AT_ONCE = 100_000
"""Items of lists and maps that Arrow turns into Python's at once: nothing else runs meanwhile."""


def row_dicts(table: pa.Table, maps: Literal["lossy"] | None = None) -> list[dict[str, Any]]:
    """The rows as Python values; `maps` as pyarrow's maps_as_pydicts. What Python lacks becomes text, each value alone:
    dates and times beyond the years 1 to 9999. A map stays pairs where a key is no text or number."""
    if sum(map(_items, table.columns)) <= AT_ONCE:
        with contextlib.suppress(OverflowError, TypeError):
            return table.to_pylist(maps_as_pydicts=maps)  # type: ignore[no-any-return]
    columns = [column_values(column, maps) for column in table.columns]
    return [dict(zip(table.column_names, row, strict=True)) for row in zip(*columns, strict=True)]


def column_values(column: pa.ChunkedArray, maps: Literal["lossy"] | None = None) -> list[Any]:
    """The values of a column as `row_dicts` has them."""
    if len(column) > 1 and _items(column) > AT_ONCE:
        half = len(column) // 2
        return column_values(column.slice(0, half), maps) + column_values(column.slice(half), maps)
    try:
        if _items(column) <= AT_ONCE:
            return column.to_pylist(maps_as_pydicts=maps)  # type: ignore[no-any-return]
    except (OverflowError, TypeError):
        pass
    return [_python_value(value, maps) for value in column]


def _items(column: pa.ChunkedArray | pa.Array) -> int:
    """How many items the lists and maps of a column have, with those in them."""
    kind = column.type
    if not pa.types.is_nested(kind):
        return 0
    if isinstance(column, pa.ChunkedArray):
        return sum(_items(chunk) for chunk in column.chunks)
    if pa.types.is_struct(kind):
        return sum(_items(column.field(at)) for at in range(kind.num_fields))
    if pa.types.is_fixed_size_list(kind):
        return len(column) * int(kind.list_size)
    if not len(column) or not (pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_map(kind)):
        return 0
    first, last = column.offsets[0].as_py(), column.offsets[-1].as_py()
    inside: int = _items(column.values.slice(first, last - first))
    return int(last - first) + inside


def pandas_values(column: pa.ChunkedArray) -> Any:
    """A column for pandas, which has no dates beyond Python's either: such a column is of Python's values, and text."""
    try:
        return column.to_pandas(maps_as_pydicts="lossy")
    except (OverflowError, ValueError, TypeError):  # Arrow's own errors are among them
        return column_values(column, "lossy")


def _has_many_items(value: pa.Scalar) -> bool:
    if not value.is_valid or not pa.types.is_nested(value.type):
        return False
    if pa.types.is_struct(value.type):
        return any(map(_has_many_items, value.values()))
    return len(value.values) + _items(value.values) > AT_ONCE


def _python_value(value: pa.Scalar, maps: Literal["lossy"] | None) -> Any:
    try:
        if _has_many_items(value):  # each alone, so that others have their turn
            raise OverflowError
        return value.as_py(maps_as_pydicts=maps)
    except (OverflowError, TypeError):
        if pa.types.is_struct(value.type):
            return {name: _python_value(inner, maps) for name, inner in value.items()}
        if pa.types.is_map(value.type):
            entries = value.values
            pairs = [
                (_python_value(k, maps), _python_value(v, maps))
                for k, v in zip(entries.field(0), entries.field(1), strict=True)
            ]
            hashable = maps is not None and not pa.types.is_nested(value.type.key_type)
            return dict(pairs) if hashable else pairs
        if pa.types.is_nested(value.type):
            return [_python_value(inner, maps) for inner in value.values]
        if pa.types.is_date32(value.type):
            return far_time(value.cast(pa.int32()).as_py(), "date")
        if pa.types.is_timestamp(value.type) and value.type.unit in ("us", "ns"):
            kind = "timestamptz" if value.type.tz else "timestamp"
            return far_time(value.cast(pa.int64()).as_py(), kind + ("_ns" if value.type.unit == "ns" else ""))
        return value.cast(pa.string()).as_py()
