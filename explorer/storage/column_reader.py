"""The columns of a Parquet, ORC or Avro data file as it stores them, as Arrow whose fields carry their field ids. Runs
in the child of storage.decoder_process.client: none of the three decoders is to be trusted with a stranger's file.

Only columns that are asked for are decoded: the top-level ones of some field ids, or, in a file without any, of some
names, or else the places that these ids are."""

from __future__ import annotations

import functools
import io
from collections.abc import Collection, Iterator, Mapping
from typing import Any

import pyarrow as pa

from explorer.errors import UnreadableFile
from explorer.storage import limits as budget
from explorer.storage.projection import FIELD_ID, SPARK, children, field_id, has_ids

RECORDS = 4096
"""Avro records that are Python objects at a time."""


def columns(
    data: bytes, path: str, limits: Mapping[str, int], format: str, ids: list[int], names: list[str] | None
) -> pa.Table:
    """The columns; the schema's metadata has the file's whole Arrow schema as `file_schema`, and its number of rows as
    `file_rows`. Raises UnreadableFile, and what decoders raise."""
    table, schema, rows = _FORMATS[format](data, path, limits, set(ids), None if names is None else set(names))
    whole = {"file_schema": schema.serialize().to_pybytes(), "file_rows": str(rows)}
    return table.replace_schema_metadata(whole)


def _names_to_read(schema: pa.Schema, ids: Collection[int], names: Collection[str] | None) -> list[str]:
    if has_ids(schema):
        return [f.name for f in schema if field_id(f) in ids]
    if names is None:
        return [f.name for place, f in enumerate(schema, 1) if place in ids]
    return [f.name for f in schema if f.name in names]


_within = functools.partial(budget.within, fix=SPARK)
Stored = tuple[pa.Table, pa.Schema, int]


def _parquet(data: bytes, path: str, limits: Mapping[str, int], ids: set[int], names: set[str] | None) -> Stored:
    import pyarrow.parquet as pq

    opened = pq.ParquetFile(pa.BufferReader(data), coerce_int96_timestamp_unit="us", page_checksum_verification=True)
    schema, meta = opened.schema_arrow, opened.metadata
    _within(meta.num_rows, limits["rows"], path, "rows")
    wanted = _names_to_read(schema, ids, names)
    wanted_names = set(wanted)
    chosen = [i for i in range(meta.num_columns) if _tops(meta.schema.column(i).path) & wanted_names]
    groups = [meta.row_group(i) for i in range(meta.num_row_groups)]
    size = sum(g.column(i).total_uncompressed_size for g in groups for i in chosen)
    _within(size, limits["decoded"], path, "bytes in these columns, uncompressed")
    table = opened.read(columns=wanted, use_threads=False).select(wanted)
    # The writer may ask for dictionaries, which hide how much they are: one text, a thousand times.
    plain = pa.schema([_plain(f) for f in schema])
    table = table.cast(pa.schema([plain.field(name) for name in wanted]))
    _within(table.nbytes, limits["decoded"], path, "bytes once decoded")
    return table, plain, meta.num_rows


def _tops(path: str) -> set[str]:
    """The top-level columns that a leaf's path may be in: names may have dots themselves."""
    parts = path.split(".")
    return {".".join(parts[:n]) for n in range(1, min(len(parts), 100) + 1)}


def _orc(data: bytes, path: str, limits: Mapping[str, int], ids: set[int], names: set[str] | None) -> Stored:
    from pyarrow import orc

    opened = orc.ORCFile(pa.BufferReader(data))
    _within(opened.nrows, limits["rows"], path, "rows")
    schema = pa.schema([_plain(f) for f in opened.schema])
    wanted = _names_to_read(schema, ids, names)
    target = pa.schema([schema.field(name) for name in wanted])
    parts, size = [], 0
    for stripe in range(opened.nstripes if wanted else 0):
        try:
            batch = opened.read_stripe(stripe, columns=wanted)
        except pa.ArrowInvalid as error:  # Arrow has ORC's times in nanoseconds: 1677 to 2262
            raise UnreadableFile(path, f"{error}; read it through Spark"[:300]) from error
        parts.append(pa.Table.from_batches([batch]).select(wanted).cast(target))
        size += parts[-1].nbytes
        _within(size, limits["decoded"], path, "bytes once decoded")
    return pa.concat_tables(parts) if parts else target.empty_table(), schema, opened.nrows


def _plain(field: pa.Field) -> pa.Field:
    """A field without dictionaries, views and extension types, its id where Parquet has it, deeper ones too."""
    metadata = field.metadata or {}
    given = metadata.get(FIELD_ID, metadata.get(b"iceberg.id"))
    return pa.field(field.name, _plain_type(field.type), field.nullable, {FIELD_ID: given} if given else None)


def _plain_type(kind: pa.DataType) -> pa.DataType:
    if isinstance(kind, pa.BaseExtensionType):
        return _plain_type(kind.storage_type)
    if pa.types.is_dictionary(kind):
        return _plain_type(kind.value_type)
    if pa.types.is_string_view(kind):
        return pa.string()
    if pa.types.is_binary_view(kind):
        return pa.binary()
    inside = [_plain(f) for f in children(kind)]
    if pa.types.is_struct(kind):
        return pa.struct(inside)
    if pa.types.is_map(kind):
        return pa.map_(*inside)
    return pa.list_(inside[0]) if inside else kind


# -- Avro (spec: "Appendix A: Avro") ----------------------------------------------------------------------------------
def _avro(data: bytes, path: str, limits: Mapping[str, int], ids: set[int], names: set[str] | None) -> Stored:
    from explorer.storage.formats import avro  # Parquet needs neither it nor its decoders

    container = avro.open_container(data, path)
    for problem in container.problems:
        raise UnreadableFile(path, f"{problem.cause} ({problem.location})")
    _within(container.count, limits["rows"], path, "rows")
    types = _AvroTypes()
    walked = [types.field(f, "") for f in container.schema["fields"]]
    schema = pa.schema([field for _, field in walked])
    wanted = _names_to_read(schema, ids, names)
    writer = {"type": "record", "name": "table", "fields": [bare for bare, _ in walked]}
    reader = {**writer, "fields": [bare for bare, field in walked if field.name in wanted]}
    target = pa.schema([schema.field(name) for name in wanted])
    batches, size = [], 0
    for rows in _portions(container, writer, reader) if wanted else ():
        batches.append(pa.table([pa.array([r[f.name] for r in rows], f.type) for f in target], schema=target))
        size += batches[-1].nbytes
        _within(size, limits["decoded"], path, "bytes once decoded")
    return pa.concat_tables(batches) if batches else target.empty_table(), schema, container.count


def _portions(container: Any, writer: Any, reader: Any) -> Iterator[list[dict[str, Any]]]:
    """The records of an storage.formats.avro.Container under the reader's schema, RECORDS at a time; other fields are
    skipped."""
    import fastavro

    schemas = fastavro.parse_schema(writer), fastavro.parse_schema(reader)
    rows: list[Any] = []
    for block in container.blocks:
        stream = io.BytesIO(block.data)
        for _ in range(block.count):
            rows.append(fastavro.schemaless_reader(stream, *schemas))
            if len(rows) == RECORDS:
                yield rows
                rows = []
    if rows:
        yield rows


_PRIMITIVE = {
    "boolean": pa.bool_(), "int": pa.int32(), "long": pa.int64(), "float": pa.float32(), "double": pa.float64(),
    "string": pa.string(), "bytes": pa.binary(), "null": pa.null(),
}  # fmt: skip
_TIMES = {
    "date": pa.date32(), "time-millis": pa.time32("ms"), "time-micros": pa.time64("us"),
    "timestamp-millis": pa.timestamp("ms"), "timestamp-micros": pa.timestamp("us"),
    "timestamp-nanos": pa.timestamp("ns"),
}  # fmt: skip


class _AvroTypes:
    """Avro types (that storage.formats.avro_schema let pass) as Arrow's, beside bare ones that read the same bytes: no
    name refers to another type, and times stay numbers, since Python's end in the year 9999."""

    def __init__(self) -> None:
        self.named: dict[str, tuple[Any, str]] = {}
        self.count = 0

    def field(self, field: Mapping[str, Any], namespace: str) -> tuple[dict[str, Any], pa.Field]:
        bare, kind = self.type(field["type"], namespace)
        return {"name": field["name"], "type": bare}, _with_id(field["name"], kind, field.get("field-id"))

    def type(self, node: Any, namespace: str) -> tuple[Any, pa.DataType]:
        if isinstance(node, list):
            return self.union(node, namespace)
        if isinstance(node, str):
            if node in _PRIMITIVE:
                return node, _PRIMITIVE[node]
            node, namespace = self.named.get(f"{namespace}.{node}") or self.named[node]
        kind = node["type"]
        if kind in ("record", "error", "request", "fixed", "enum"):
            own = node.get("namespace", namespace)
            name = node["name"] if "." in node["name"] or not own else f"{own}.{node['name']}"
            self.named[name] = (node, namespace)
            self.count += 1
            return self.definition(node, f"n{self.count}", name.rpartition(".")[0])
        if kind == "array":
            bare, item = self.type(node["items"], namespace)
            return {"type": "array", "items": bare}, pa.list_(_with_id("element", item, node.get("element-id")))
        if kind == "map":
            bare, item = self.type(node["values"], namespace)
            key = _with_id("key", pa.string(), node.get("key-id"), nullable=False)
            return {"type": "map", "values": bare}, pa.map_(key, _with_id("value", item, node.get("value-id")))
        bare, arrow = self.type(kind, namespace)
        return self.logical(node, bare, arrow)

    def union(self, branches: list[Any], namespace: str) -> tuple[Any, pa.DataType]:
        """An optional value. Iceberg has no other unions: Arrow refuses their values as nulls, if they are wanted."""
        walked = [self.type(branch, namespace) for branch in branches]
        real = [arrow for bare, arrow in walked if bare != "null"]
        return [bare for bare, _ in walked], real[0] if len(real) == 1 else pa.null()

    def definition(self, node: Mapping[str, Any], name: str, namespace: str) -> tuple[Any, pa.DataType]:
        if node["type"] == "fixed":
            return self.logical(node, {"type": "fixed", "name": name, "size": node["size"]}, pa.binary(node["size"]))
        if node["type"] == "enum":
            return {"type": "enum", "name": name, "symbols": node["symbols"]}, pa.string()
        walked = [self.field(f, namespace) for f in node["fields"]]
        return {"type": "record", "name": name, "fields": [f for f, _ in walked]}, pa.struct([f for _, f in walked])

    def logical(self, node: Mapping[str, Any], bare: Any, arrow: pa.DataType) -> tuple[Any, pa.DataType]:
        name = node.get("logicalType")
        if name == "decimal":
            precision, scale = node["precision"], node.get("scale", 0)
            whole = bare if isinstance(bare, dict) else {"type": bare}
            decimal = {"logicalType": "decimal", "precision": precision, "scale": scale}
            return {**whole, **decimal}, pa.decimal128(precision, scale)
        if name in _TIMES:
            kind = _TIMES[name]
            return bare, pa.timestamp(kind.unit, "UTC") if node.get("adjust-to-utc") is True else kind
        return bare, arrow


def _with_id(name: str, kind: pa.DataType, field_id: Any, nullable: bool = True) -> pa.Field:
    return pa.field(name, kind, nullable, {FIELD_ID: str(field_id)} if type(field_id) is int else None)


_FORMATS = {"PARQUET": _parquet, "ORC": _orc, "AVRO": _avro}
