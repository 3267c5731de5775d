"""A table of version 2 made one of version 4, as Iceberg Java 1.12 writes it: its manifests become Parquet files with
the columns that an Avro manifest has, by the same field ids; its manifest lists stay Avro."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import fastavro
import pyarrow as pa
import pyarrow.parquet as pq

ID = b"PARQUET:field_id"
MAPS = {
    "column_sizes": (117, 118, pa.int64()), "value_counts": (119, 120, pa.int64()),
    "null_value_counts": (121, 122, pa.int64()), "nan_value_counts": (138, 139, pa.int64()),
    "lower_bounds": (126, 127, pa.binary()), "upper_bounds": (129, 130, pa.binary()),
}  # fmt: skip
SIMPLE = {
    "boolean": pa.bool_(), "int": pa.int32(), "long": pa.int64(), "float": pa.float32(), "double": pa.float64(),
    "string": pa.string(), "bytes": pa.binary(), "date": pa.date32(), "timestamp-micros": pa.timestamp("us"),
    "time-micros": pa.time64("us"),
}  # fmt: skip


def as_version_4(place: Path) -> None:
    """Rewrite a table in its folder."""
    metadata = place / "metadata"
    for path in metadata.glob("*-m*.avro"):
        with path.open("rb") as file:
            reader = fastavro.reader(file)
            schema, records = json.loads(reader.metadata["avro.schema"]), list(reader)
            kept = {k: v for k, v in reader.metadata.items() if not k.startswith("avro.")}
        arrow = pa.schema([_field(field) for field in schema["fields"]])
        rows = pa.Table.from_pylist([_row(record) for record in records], arrow)
        path.with_suffix(".parquet").write_bytes(parquet_of(rows, {**kept, "format-version": "4"}))
        path.unlink()
    rewrite_lists(place)
    for path in metadata.glob("*.metadata.json"):
        path.write_text(json.dumps({**json.loads(path.read_text()), "format-version": 4, "next-row-id": 0}))


def rewrite_lists(place: Path) -> None:
    """Name the Parquet manifests in the manifest lists, with the lengths that they have now."""
    for path in (place / "metadata").glob("snap-*.avro"):
        with path.open("rb") as file:
            reader = fastavro.reader(file)
            schema, records = json.loads(reader.metadata["avro.schema"]), list(reader)
            kept = {k: v for k, v in reader.metadata.items() if not k.startswith("avro.")}
        for record in records:
            own = Path(record["manifest_path"].removeprefix("file://")).with_suffix(".parquet")
            record |= {"manifest_path": f"file://{own}", "manifest_length": own.stat().st_size}
        with path.open("wb") as file:
            fastavro.writer(file, schema, records, codec="deflate", metadata=kept)


def parquet_of(table: pa.Table, header: dict[str, str] | None = None) -> bytes:
    """A Parquet file, with key-value metadata."""
    out = io.BytesIO()
    with pq.ParquetWriter(out, table.schema, compression="zstd", store_schema=False) as writer:
        writer.write_table(table)
        writer.add_key_value_metadata(header or {})
    return out.getvalue()


def _field(field: dict[str, Any]) -> pa.Field:
    metadata = {ID: str(field["field-id"])} if "field-id" in field else None
    return pa.field(field["name"], _type(field["type"], field["name"]), metadata=metadata)


def _type(avro: Any, name: str) -> pa.DataType:
    if isinstance(avro, list):
        return _type(next(one for one in avro if one != "null"), name)
    if name in MAPS:
        key, value, kind = MAPS[name]
        return pa.map_(
            pa.field("key", pa.int32(), False, {ID: str(key)}), pa.field("value", kind, False, {ID: str(value)})
        )
    if not isinstance(avro, dict):
        return SIMPLE[avro]
    if avro["type"] == "record":
        return pa.struct([_field(field) for field in avro["fields"] if not _is_empty(field["type"])])
    if avro["type"] == "array":
        return pa.list_(pa.field("element", _type(avro["items"], ""), False, {ID: str(avro["element-id"])}))
    return SIMPLE[avro.get("logicalType", avro["type"])]


def _is_empty(avro: Any) -> bool:
    """The partition of an unpartitioned table: Parquet has no groups without fields."""
    return isinstance(avro, dict) and avro.get("fields") == []


def _row(value: Any) -> Any:
    """A record as Arrow takes it: maps are pairs."""
    if isinstance(value, dict):
        return {name: _row(one) for name, one in value.items()}
    if isinstance(value, list) and value and isinstance(value[0], dict) and set(value[0]) == {"key", "value"}:
        return [(one["key"], one["value"]) for one in value]
    return value
