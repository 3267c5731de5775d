"""Parquet manifests of format version 4 as the records and the schema of an Avro manifest, and back: what rewrites one
rewrites the other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from decimal import Context, Decimal, localcontext
from itertools import islice
from typing import IO, Any

import pyarrow as pa
import pyarrow.parquet as pq

from explorer.storage.projection import FIELD_ID, field_id

ROWS = 10_000
"""Rows of a row group that is written."""
SIMPLE: Mapping[str, pa.DataType] = {
    "boolean": pa.bool_(), "int": pa.int32(), "long": pa.int64(), "float": pa.float32(), "double": pa.float64(),
    "string": pa.string(), "bytes": pa.binary(),
}  # fmt: skip
LOGICAL: Mapping[tuple[str, bool | None], pa.DataType] = {
    ("date", None): pa.date32(), ("time-micros", None): pa.time64("us"),
    ("timestamp-micros", False): pa.timestamp("us"), ("timestamp-micros", True): pa.timestamp("us", "UTC"),
    ("timestamp-nanos", False): pa.timestamp("ns"), ("timestamp-nanos", True): pa.timestamp("ns", "UTC"),
}  # fmt: skip
"""Avro's logical types of numbers, and whether they are adjusted to UTC."""
MOST_DIGITS = 38
"""Of a decimal of the spec; Python rounds to 28 by itself."""
CODECS = ("zstd", "gzip", "snappy", "lz4", "brotli", "none")


def avro_schema(columns: pa.Schema) -> dict[str, Any]:
    """Return the schema that an Avro manifest of the same columns has.

    Raises:
        ValueError: A column is of a type that no manifest has.
    """
    return {"type": "record", "name": "manifest_entry", "fields": [_field(field) for field in columns]}


def records(table: pa.Table) -> Iterator[dict[str, Any]]:
    """Yield the rows of a manifest as an Avro manifest has them below its logical types: dates and times as numbers,
    decimals as bytes, maps as lists of pairs."""
    for batch in table.to_batches(ROWS):
        plain = [_plain(column) for column in batch.columns]
        restore = [_to_avro(field.type) for field in batch.schema]
        names = batch.schema.names
        for values in zip(*(column.to_pylist() for column in plain), strict=True):
            yield {name: to(value) for name, to, value in zip(names, restore, values, strict=True)}


def write_parquet(
    file: IO[bytes], schema: Mapping[str, Any], header: Mapping[str, str], codec: str, rows: Iterable[Mapping[str, Any]]
) -> int:
    """Write records as a Parquet file.

    Args:
        file: Where to.
        schema: Their Avro schema.
        header: The key-value metadata of the file.
        codec: How its pages are compressed; as zstd where it is none of CODECS.
        rows: The records, as `records` has them.

    Returns:
        The bytes that were written.

    Raises:
        ValueError, TypeError, pyarrow.ArrowInvalid: A record does not fit the schema.
    """
    columns = pa.schema([_arrow_field(field) for field in schema["fields"]])
    to = {field.name: _to_arrow(field.type) for field in columns}
    compression = codec if codec in CODECS else "zstd"
    began, left = file.tell(), iter(rows)
    with pq.ParquetWriter(file, columns, compression=compression, store_schema=False) as writer:
        while part := [{name: to[name](value) for name, value in row.items()} for row in islice(left, ROWS)]:
            writer.write_table(pa.Table.from_pylist(part, columns))
        writer.add_key_value_metadata(dict(header))
    return file.tell() - began


# -- schemas -----------------------------------------------------------------------------------------------------------
def _field(field: pa.Field) -> dict[str, Any]:
    kind = _avro_type(field.type, field_id(field))
    own: dict[str, Any] = {"name": field.name, "type": ["null", kind] if field.nullable else kind}
    if (number := field_id(field)) is not None:
        own["field-id"] = number
    return own


def _avro_type(kind: pa.DataType, number: int | None) -> Any:
    if pa.types.is_struct(kind):
        fields = [_field(kind.field(at)) for at in range(kind.num_fields)]
        return {"type": "record", "name": f"r{number or 0}", "fields": fields}
    if pa.types.is_map(kind):
        pair = [{**_field(kind.key_field), "name": "key"}, {**_field(kind.item_field), "name": "value"}]
        name = "_".join(f"{letter}{one.get('field-id', 0)}" for letter, one in zip("kv", pair, strict=True))
        return {"type": "array", "logicalType": "map", "items": {"type": "record", "name": name, "fields": pair}}
    if pa.types.is_list(kind):
        element, own = _avro_type(kind.value_type, None), field_id(kind.value_field)
        return {"type": "array", "items": element} | ({} if own is None else {"element-id": own})
    if pa.types.is_fixed_size_binary(kind):
        return {"type": "fixed", "name": f"fixed_{kind.byte_width}", "size": kind.byte_width}
    if pa.types.is_decimal(kind):
        return {"type": "bytes", "logicalType": "decimal", "precision": kind.precision, "scale": kind.scale}
    for (logical, utc), own_type in LOGICAL.items():
        if kind == own_type:
            base = "int" if logical == "date" else "long"
            return {"type": base, "logicalType": logical} | ({} if utc is None else {"adjust-to-utc": utc})
    simple = next((name for name, own_type in SIMPLE.items() if kind == own_type), None)
    if simple is None:
        raise ValueError(f"a column of the type {kind}, which no manifest has"[:100])
    return simple


def _arrow_field(field: Mapping[str, Any]) -> pa.Field:
    kind, optional = field["type"], isinstance(field["type"], list)
    own = next(option for option in kind if option != "null") if optional else kind
    metadata = {FIELD_ID: str(field["field-id"])} if "field-id" in field else None
    return pa.field(field["name"], _arrow_type(own), optional, metadata)


def _arrow_type(kind: Any) -> pa.DataType:
    if isinstance(kind, str):
        return SIMPLE[kind]
    if kind["type"] == "record":
        return pa.struct([_arrow_field(field) for field in kind["fields"]])
    if kind.get("logicalType") == "map":
        return pa.map_(*(_arrow_field(field) for field in kind["items"]["fields"]))
    if kind["type"] == "array":
        metadata = {FIELD_ID: str(kind["element-id"])} if "element-id" in kind else None
        return pa.list_(pa.field("element", _arrow_type(kind["items"]), False, metadata))
    if kind["type"] == "fixed":
        return pa.binary(kind["size"])
    if kind.get("logicalType") == "decimal":
        return pa.decimal128(kind["precision"], kind["scale"])
    return LOGICAL.get((kind.get("logicalType"), kind.get("adjust-to-utc")), SIMPLE[kind["type"]])


# -- values ------------------------------------------------------------------------------------------------------------
def _plain(array: pa.Array) -> pa.Array:
    """An array in which dates and times are numbers."""
    kind = array.type
    if pa.types.is_struct(kind) and kind.num_fields:
        return pa.StructArray.from_arrays(
            [_plain(part) for part in array.flatten()], [field.name for field in kind], mask=array.is_null()
        )
    if pa.types.is_date32(kind):
        return array.cast(pa.int32())
    return array.cast(pa.int64()) if pa.types.is_time(kind) or pa.types.is_timestamp(kind) else array


def _to_avro(kind: pa.DataType) -> Callable[[Any], Any]:
    """What makes Avro's value of one of Arrow."""
    if pa.types.is_struct(kind):
        inside = {kind.field(at).name: _to_avro(kind.field(at).type) for at in range(kind.num_fields)}
        return lambda value: value and {name: to(value[name]) for name, to in inside.items()}
    if pa.types.is_map(kind):
        return lambda value: None if value is None else [{"key": key, "value": item} for key, item in value]
    if pa.types.is_decimal(kind):
        return lambda value: None if value is None else _unscaled(value, kind.scale)
    return lambda value: value


def _to_arrow(kind: pa.DataType) -> Callable[[Any], Any]:
    """What makes Arrow's value of one of Avro."""
    if pa.types.is_struct(kind):
        inside = {kind.field(at).name: _to_arrow(kind.field(at).type) for at in range(kind.num_fields)}
        return lambda value: value and {name: to(value[name]) for name, to in inside.items()}
    if pa.types.is_map(kind):
        return lambda value: None if value is None else [(pair["key"], pair["value"]) for pair in value]
    if pa.types.is_decimal(kind):
        return lambda value: None if value is None else _scaled(value, kind.scale)
    return lambda value: value


def _unscaled(value: Decimal, scale: int) -> bytes:
    with localcontext(Context(MOST_DIGITS)):
        number = int(value.scaleb(scale))
    return number.to_bytes((number.bit_length() + 8) // 8, "big", signed=True)


def _scaled(value: bytes, scale: int) -> Decimal:
    with localcontext(Context(MOST_DIGITS)):
        return Decimal(int.from_bytes(value, "big", signed=True)).scaleb(-scale)
