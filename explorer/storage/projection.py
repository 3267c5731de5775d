"""The columns of a data file as a table's schema asks for them, by field id (spec: "Column Projection").

Whatever the format, a file's columns come here as Arrow whose fields carry their ids (storage.column_reader). A field
that the file has is promoted and rearranged, deeper ones too; one that it lacks is the partition's value, its initial
default, or null. Nothing is guessed from names, but where a name mapping says so."""

from __future__ import annotations

import datetime
import decimal
import re
import uuid
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from explorer.model.metadata import Json
from explorer.spec.text.units import whole
from explorer.spec.values.variant import VariantTexts

FIELD_ID = b"PARQUET:field_id"
"""Where Arrow keeps a field's id; pyarrow's Parquet reader writes it there, and storage.column_reader for the other
formats."""
SPARK = "read it through Spark"
"""What to do with a file that is not read here."""

_SIMPLE = {
    "boolean": pa.bool_(), "int": pa.int32(), "long": pa.int64(), "float": pa.float32(), "double": pa.float64(),
    "date": pa.date32(), "time": pa.time64("us"), "timestamp": pa.timestamp("us"),
    "timestamptz": pa.timestamp("us", "UTC"), "timestamp_ns": pa.timestamp("ns"),
    "timestamptz_ns": pa.timestamp("ns", "UTC"), "string": pa.string(), "uuid": pa.uuid(), "binary": pa.binary(),
    "unknown": pa.null(), "variant": pa.string(),
}  # fmt: skip
_DECIMAL, _FIXED = re.compile(r"decimal\(\s*(\d{1,9})\s*,\s*(\d{1,9})\s*\)"), re.compile(r"fixed\[\s*(\d+)\s*\]")
_SPATIAL = re.compile(r"(geometry|geography)(\s*\(.*\))?", re.DOTALL)


class Unprojectable(ValueError):
    """A file's column is not what the schema asks for."""


def arrow_type(kind: Any) -> pa.DataType:
    """The Arrow type that rows have for a type's JSON (spec: "Schemas and Data Types"): geometry and geography are
    their bytes, a variant is its JSON text. Raises Unprojectable for a type that is not known."""
    if isinstance(kind, Mapping):
        if kind.get("type") == "struct":
            return pa.struct([pa.field(f["name"], arrow_type(f["type"])) for f in kind["fields"]])
        if kind.get("type") == "list":
            return pa.list_(pa.field("element", arrow_type(kind["element"])))
        if kind.get("type") == "map":
            key = pa.field("key", arrow_type(kind["key"]), nullable=False)
            return pa.map_(key, pa.field("value", arrow_type(kind["value"])))
    elif isinstance(kind, str):
        if kind in _SIMPLE:
            return _SIMPLE[kind]
        if match := _DECIMAL.fullmatch(kind):
            precision, scale = int(match[1]), int(match[2])
            if 1 <= precision <= 38 and scale <= precision:
                return pa.decimal128(precision, scale)
        elif (match := _FIXED.fullmatch(kind)) and len(match[1]) < 10:
            return pa.binary(int(match[1]))
        elif _SPATIAL.fullmatch(kind):
            return pa.binary()
    raise Unprojectable(f"the type {str(kind)[:60]} is not known here")


def field_id(field: pa.Field) -> int | None:
    """The id that a file gives a field."""
    text = (field.metadata or {}).get(FIELD_ID, b"")
    return whole(text.decode("latin-1"))


def has_ids(fields: Sequence[pa.Field]) -> bool:
    """Whether any field has one, deeper ones too; only files without are read by name mapping."""
    return any(field_id(f) is not None or has_ids(children(f.type)) for f in fields)


def children(kind: pa.DataType) -> list[pa.Field]:
    """The fields inside a type."""
    if isinstance(kind, pa.BaseExtensionType):
        return children(kind.storage_type)
    if pa.types.is_map(kind):
        return [kind.key_field, kind.item_field]
    return [kind.field(i) for i in range(kind.num_fields)] if pa.types.is_nested(kind) else []


def paths_by_id(fields: Sequence[pa.Field], above: str = "") -> Iterator[tuple[int, str]]:
    """The path of each column and each field inside structs, by its id; of those that have one."""
    for field in fields:
        own = field_id(field)
        if own is not None:
            yield own, above + field.name
        if pa.types.is_struct(field.type):
            yield from paths_by_id(children(field.type), f"{above}{field.name}.")


def ids_within(fields: Sequence[pa.Field]) -> Iterator[int]:
    """The ids of all fields, and of all that is inside them."""
    for field in fields:
        own = field_id(field)
        if own is not None:
            yield own
        yield from ids_within(children(field.type))


def name_mapping(value: Any) -> dict[str, Json]:
    """A name mapping's JSON by name, without what is none (spec: "Name Mapping Serialization"); of two entries with one
    name the first has it."""
    mapping: dict[str, Json] = {}
    for entry in value if isinstance(value, list) else ():
        if not isinstance(entry, Mapping):
            continue
        listed, own = entry.get("names"), entry.get("field-id")
        own_id = own if type(own) is int else None
        inside = {"field-id": own_id, "fields": name_mapping(entry.get("fields"))}
        for name in listed if isinstance(listed, list) else ():
            if isinstance(name, str):
                mapping.setdefault(name, inside)
    return mapping


def mapping_by_names(kind: Any) -> dict[str, Json]:
    """The name mapping that a type's JSON amounts to, as `name_mapping` returns it."""
    if not isinstance(kind, Mapping):
        return {}
    parts = [(f["name"], f["id"], f["type"]) for f in kind.get("fields", ())]
    parts += [(part, kind.get(f"{part}-id"), kind[part]) for part in ("element", "key", "value") if part in kind]
    return {name: {"field-id": own, "fields": mapping_by_names(inside)} for name, own, inside in parts}


def with_ids_by_place(schema: pa.Schema) -> pa.Schema:
    """A file's schema without ids, with those that Iceberg Java gives its columns: 1 to the first, 2 to the second,
    and none to what is inside."""
    return pa.schema([f.with_metadata({FIELD_ID: str(place)}) for place, f in enumerate(schema, 1)])


def map_ids(field: pa.Field, mapping: Mapping[str, Json], name: str | None = None) -> pa.Field:
    """A field of a file without ids, with those that a name mapping gives it and what is inside (spec: "Column
    Projection"). `name` is what the mapping calls it, where that is not its own."""
    entry = mapping.get(name or field.name)
    if entry is None:
        return field
    inner, kind = entry["fields"], field.type
    if pa.types.is_struct(kind):
        kind = pa.struct([map_ids(f, inner) for f in children(kind)])
    elif pa.types.is_map(kind):
        kind = pa.map_(map_ids(kind.key_field, inner, "key"), map_ids(kind.item_field, inner, "value"))
    elif pa.types.is_list(kind) or pa.types.is_large_list(kind):
        element, pair = kind.value_field, children(kind.value_type)
        if {"key", "value"} <= inner.keys() and len(pair) == 2:  # Avro's map of pairs
            both = [map_ids(pair[0], inner, "key"), map_ids(pair[1], inner, "value")]
            element = element.with_type(pa.struct(both))
        kind = (pa.list_ if pa.types.is_list(kind) else pa.large_list)(map_ids(element, inner, "element"))
    metadata = None if entry["field-id"] is None else {FIELD_ID: str(entry["field-id"]).encode()}
    return pa.field(field.name, kind, field.nullable, metadata)


def project(
    stored: pa.Table,
    fields: Sequence[Json],
    rows: int,
    partition: Mapping[int, Any],
    room: int,
    by_place: bool = False,
) -> pa.Table:
    """The columns of `fields` (a struct's JSON fields) from those of a file with `rows` rows; every one of these fields
    that the file has is among `stored`. `partition` has values of identity partitions by source id. `room` is how many
    bytes may come to be of what the file does not store. With `by_place` columns have their ids by `with_ids_by_place`:
    of a struct Iceberg Java then finds no field, and reads null. Raises Unprojectable, and what Arrow raises on values
    that do not fit."""
    projection = _Projection(room, partition, by_place)
    at = {field_id(f): i for i, f in reversed(list(enumerate(stored.schema)))}
    arrays = []
    for field in fields:
        name, own = field["name"], field["id"]
        if own in at:
            whole = stored.column(at[own]).combine_chunks()
            whole = pa.concat_arrays(whole.chunks) if isinstance(whole, pa.ChunkedArray) else whole
            arrays.append(projection.convert(whole, stored.schema.field(at[own]), field["type"], name))
        else:
            arrays.append(projection.missing(field, rows, name))
    schema = pa.schema([pa.field(f["name"], a.type) for f, a in zip(fields, arrays, strict=True)])
    return pa.Table.from_arrays(arrays, schema=schema)


class _Projection:
    """The projection of one file's columns; counts what comes to be that the file does not store: a default, or what
    variants share, may be large, a million times."""

    def __init__(self, room: int, partition: Mapping[int, Any], by_place: bool = False) -> None:
        self.room, self.partition, self.by_place = room, partition, by_place

    def take(self, size: int) -> None:
        """Count bytes before they come to be."""
        self.room -= size
        if self.room < 0:
            raise Unprojectable(f"columns that it does not store would be too large; {SPARK}")

    def convert(self, array: pa.Array, stored: pa.Field, kind: Any, path: str) -> pa.Array:
        """An array (without an offset) as a type's JSON asks for it; `stored` is its field, ids inside. `path` is for
        errors."""
        if isinstance(array, pa.ExtensionArray):
            array = array.storage
        if pa.types.is_null(array.type) or kind == "unknown" or (self.by_place and _is_struct(array.type)):
            return self.nulls(len(array), kind)
        if kind == "variant":
            return self.variants(array, path)
        if not isinstance(kind, Mapping):
            return _cast(array, kind, path)
        types = pa.types
        nested, inside = kind.get("type"), children(stored.type)
        if nested == "struct" and types.is_struct(array.type):
            return self.struct(array, inside, kind["fields"], path)
        if nested == "list" and (types.is_list(array.type) or types.is_large_list(array.type)):
            values = self.convert(array.values, inside[0], kind["element"], f"{path}.element")
            return _list(array, pa.list_(pa.field("element", values.type)), values)
        if nested == "map" and types.is_map(array.type):
            return self.map(array, (array.keys, array.items), inside, kind, path)
        if nested == "map" and types.is_list(array.type) and types.is_struct(array.type.value_type):
            entries, inside = array.values, children(inside[0].type)  # Avro's way where keys are no strings
            if len(inside) == 2 and not entries.null_count:
                return self.map(array, (entries.field(0), entries.field(1)), inside, kind, path)
        raise Unprojectable(f"{path} is stored as {str(array.type)[:100]}, which is no {nested}")

    def struct(self, array: pa.Array, inside: Sequence[pa.Field], fields: Sequence[Json], path: str) -> pa.Array:
        at = {field_id(f): i for i, f in reversed(list(enumerate(inside)))}
        parts, arrays = array.flatten(), []  # null where the struct is: a required field of it has anything there
        for field in fields:
            name, i = f"{path}.{field['name']}", at.get(field["id"])
            if i is None:
                arrays.append(self.missing(field, len(array), name))
            else:
                arrays.append(self.convert(parts[i], inside[i], field["type"], name))
        kind = pa.struct([pa.field(f["name"], a.type) for f, a in zip(fields, arrays, strict=True)])
        return pa.Array.from_buffers(kind, len(array), [array.buffers()[0]], array.null_count, children=arrays)

    def map(
        self, array: pa.Array, parts: tuple[pa.Array, pa.Array], inside: Sequence[pa.Field], kind: Json, path: str
    ) -> Any:
        if parts[0].null_count:
            raise Unprojectable(f"{path} has a key that is null")
        keys = self.convert(parts[0], inside[0], kind["key"], f"{path}.key")
        values = self.convert(parts[1], inside[1], kind["value"], f"{path}.value")
        map_type = pa.map_(pa.field("key", keys.type, nullable=False), pa.field("value", values.type))
        pairs = pa.StructArray.from_arrays([keys, values], fields=[map_type.key_field, map_type.item_field])
        return pa.Array.from_buffers(map_type, len(array), array.buffers()[:2], array.null_count, children=[pairs])

    def variants(self, array: pa.Array, path: str) -> pa.Array:
        names = [f.name for f in children(array.type)]
        if "metadata" not in names or not {"value", "typed_value"} & {*names}:
            raise Unprojectable(f"{path} is stored as {str(array.type)[:100]}, which is no variant")
        texts = VariantTexts(self.room)
        values = texts.of(array)
        self.room = texts.room
        return pa.array(values, pa.string())

    def missing(self, field: Json, rows: int, path: str) -> pa.Array:
        """A field that the file lacks, in a struct as well as at the top."""
        kind, default = field["type"], field.get("initial-default")
        if (own := self.partition.get(field["id"])) is not None:
            return self.repeat(constant_array(own, kind), rows)
        if field["id"] in self.partition:
            return self.nulls(rows, kind)
        if default is not None:
            return self.repeat(self.default(default, kind, path), rows)
        if field.get("required"):
            raise Unprojectable(f"it lacks the required column {path}, which has no initial default")
        return self.nulls(rows, kind)

    def repeat(self, one: pa.Array, rows: int) -> pa.Array:
        """An array of one value, that often."""
        self.take(rows * (one.nbytes + 1))
        return one.take(pa.nulls(rows, pa.int64()).fill_null(0))

    def default(self, value: Any, kind: Any, path: str) -> pa.Array:
        """A default's JSON as an array of one (spec: "JSON Single-Value Serialization", "Default Values"). Raises
        Unprojectable."""
        try:
            if isinstance(kind, Mapping) and kind.get("type") == "struct" and isinstance(value, Mapping):
                arrays = []
                for field in kind["fields"]:
                    given = value.get(str(field["id"]), field.get("initial-default"))
                    arrays.append(self.missing({**field, "initial-default": given}, 1, f"{path}.{field['name']}"))
                return pa.Array.from_buffers(arrow_type(kind), 1, [None], 0, children=arrays)
            if isinstance(kind, str):
                return _cast(pa.array([_from_json(value, kind)]), kind, path)
        except (ValueError, TypeError, AttributeError, ArithmeticError, pa.ArrowException) as error:
            raise Unprojectable(f"{path} has a default that is no {kind}: {value!r}"[:200]) from error
        raise Unprojectable(f"{path} has a default that no {str(kind)[:60]} can have")

    def nulls(self, rows: int, kind: Any) -> pa.Array:
        """Nulls of a type's JSON."""
        arrow_kind = arrow_type(kind)
        self.take(rows * _width(arrow_kind))
        return pa.nulls(rows, arrow_kind)


def _is_struct(kind: pa.DataType) -> bool:
    """Whether a type is a struct, or a list of nothing else."""
    is_list = pa.types.is_list(kind) or pa.types.is_large_list(kind)
    return _is_struct(kind.value_type) if is_list else pa.types.is_struct(kind)


def _width(kind: pa.DataType) -> int:
    """Bytes that a null takes, about: of a list or map, which then is empty, nothing that is inside."""
    if isinstance(kind, pa.BaseExtensionType):
        return _width(kind.storage_type)
    if pa.types.is_fixed_size_binary(kind) or pa.types.is_decimal(kind):
        return 1 + int(kind.byte_width)
    return 8 + (sum(_width(f.type) for f in kind) if pa.types.is_struct(kind) else 0)


def _list(array: pa.Array, kind: pa.DataType, values: pa.Array) -> pa.Array:
    if pa.types.is_large_list(array.type):
        array = array.cast(pa.list_(array.type.value_field))
    return pa.Array.from_buffers(kind, len(array), array.buffers()[:2], array.null_count, children=[values])


_WHOLE = (pa.types.is_integer,)
_BYTES = (pa.types.is_binary, pa.types.is_large_binary, pa.types.is_fixed_size_binary)
_TEXT = (pa.types.is_string, pa.types.is_large_string)
_MOMENT = (pa.types.is_timestamp, pa.types.is_date32)
_FROM = {
    "boolean": (pa.types.is_boolean,),
    "int": _WHOLE,
    "long": _WHOLE,
    "float": (pa.types.is_float16, pa.types.is_float32),
    "double": (pa.types.is_floating,),
    "date": (pa.types.is_date32, pa.types.is_int32),
    "time": (pa.types.is_time, pa.types.is_int64),
    "timestamp": _MOMENT,
    "timestamptz": _MOMENT,
    "string": (*_TEXT, *_BYTES),
    "uuid": (*_BYTES, *_TEXT),
    "fixed": _BYTES,
    "binary": (*_BYTES, *_TEXT),
    "geometry": (*_BYTES, *_TEXT),
    "geography": (*_BYTES, *_TEXT),
    "decimal": (pa.types.is_decimal,),
}
"""What each type may be stored as: as itself, as what was promoted to it (spec: "Schema Evolution"), and as writers
store it without its annotation."""


def _cast(array: pa.Array, kind: str, path: str) -> pa.Array:
    target = arrow_type(kind)
    family = re.split(r"[^a-z]", kind)[0]  # without what follows in brackets, and without _ns
    if not any(fits(array.type) for fits in _FROM[family]):
        raise Unprojectable(f"{path} is stored as {array.type}, which is no {kind}")
    if family == "uuid":
        return _uuids(array)
    if array.type == target:
        return array
    if pa.types.is_fixed_size_binary(array.type):
        array = array.cast(pa.binary())
    if pa.types.is_timestamp(array.type) and array.type.unit == "ns" and target.unit == "us":
        array = pc.floor_temporal(array.cast(pa.timestamp("ns")), unit="microsecond")
    return array.cast(target)


def _uuids(array: pa.Array) -> pa.Array:
    if any(is_text(array.type) for is_text in _TEXT):
        array = pa.array([None if v is None else uuid.UUID(v).bytes for v in array.to_pylist()], pa.binary(16))
    if array.type != pa.binary(16):
        array = array.cast(pa.binary()).cast(pa.binary(16))
    return pa.ExtensionArray.from_storage(pa.uuid(), array)


def _from_json(value: Any, kind: str) -> Any:
    """A default's JSON as something that Arrow takes for a stored value."""
    if kind in ("float", "double"):
        return pa.scalar(float(value), arrow_type(kind))
    if kind.startswith("decimal"):
        return decimal.Decimal(value)
    if kind == "date":
        return datetime.date.fromisoformat(value)
    if kind == "time":
        return datetime.time.fromisoformat(value)
    if kind.startswith("timestamp"):
        return pa.scalar(value).cast(arrow_type(kind))
    if kind == "binary" or kind.startswith("fixed"):
        return bytes.fromhex(value)
    return value


def constant_array(value: Any, kind: Any) -> pa.Array:
    """A partition value that is not null, as Arrow gave it to Python, as an array of one."""
    given = pa.array([value], arrow_type(kind)) if kind in ("float", "double") else pa.array([value])
    return _cast(given, kind, "the partition's value")
