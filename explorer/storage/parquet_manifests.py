"""Manifests that are Parquet files, as Iceberg Java 1.12 writes those of format version 4 (apache/iceberg#15634). Their
columns are those of an Avro manifest, with the same field ids. The manifest list is Avro still.

The file is decoded in the child of storage.decoder_process.client, within the limits of an Avro manifest."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from explorer.errors import UnreadableFile
from explorer.model.manifest import ENTRY_SCHEMA, FIELD_IDS, NARROW_FIELDS, ManifestHeader
from explorer.storage import limits
from explorer.storage.decoder_process import client
from explorer.storage.projection import field_id

MAGIC = b"PAR1"
DATA_FILE = 2
"""The field id of an entry's data file."""


def is_parquet(data: bytes) -> bool:
    """Whether the bytes of a manifest begin as a Parquet file does."""
    return data[:4] == MAGIC


def entries(data: bytes, path: str, metrics: bool) -> pa.Table:
    """Decode a Parquet manifest.

    Args:
        data: The file's bytes.
        path: The file, for errors.
        metrics: Whether to return the metric columns, too.

    Returns:
        The entries as stored, as `storage.manifests.entries` has them.

    Raises:
        UnreadableFile: It is damaged, too large, or no manifest.
    """
    table = client.run("parquet_manifest", path, data, metrics=metrics)
    most = limits.entry_limit(table.schema.field("partition").type.num_fields)
    limits.within(table.num_rows, most, path, "entries", f"set {limits.VARIABLE} to more")
    return table


def header(data: bytes, path: str) -> ManifestHeader:
    """Return what an Avro manifest has in its header: key-value metadata, and the codec. Raises UnreadableFile."""
    footer = data[-8 - int.from_bytes(data[-8:-4], "little") :]
    told = client.from_json(client.run("footer", path, footer, columns=[], ids=None)["footer"][0].as_py())
    chunks = [chunk for group in told["row_groups"] for chunk in group["columns"]]
    codec = chunks[0]["compression"].lower() if chunks else "uncompressed"
    kept = {name: text for name, text in told["key_value_metadata"].items() if name != "ARROW:schema"}
    return ManifestHeader(f"parquet, {codec}", None, kept)


def records(data: bytes, path: str, start: int, limit: int | None) -> list[dict[str, Any]]:
    """Return the rows of a Parquet manifest, every column as the writer wrote it. Raises UnreadableFile."""
    texts = client.run("parquet_records", path, data, start=start, limit=limit)["record"]
    return [client.from_json(text) for text in texts.to_pylist()]


# -- in the child ------------------------------------------------------------------------------------------------------
def entries_here(table: pa.Table, path: str, metrics: bool) -> pa.Table:
    """Return the columns of a Parquet manifest as `entries` has them. Raises UnreadableFile."""
    top = _by_id(table.schema)
    if DATA_FILE not in top or not pa.types.is_struct(table.schema.field(top[DATA_FILE]).type):
        raise UnreadableFile(path, "Parquet, but not a manifest: no column with fields has the field id 2 (data_file)")
    file = table.column(top[DATA_FILE]).combine_chunks()
    inside = _by_id(file.type)
    fields = list(ENTRY_SCHEMA if metrics else NARROW_FIELDS)
    arrays = []
    for field in fields:
        own_id = FIELD_IDS[field.name]
        if own_id in top:
            array = table.column(top[own_id]).combine_chunks()
        elif own_id in inside:
            array = pc.struct_field(file, [inside[own_id]])
        else:
            array = pa.nulls(table.num_rows, field.type)
        arrays.append(_cast(array, field.type))
    for name in ("status", "file_path"):
        column = arrays[[field.name for field in fields].index(name)]
        if column.null_count:
            raise UnreadableFile(path, f"entry {column.is_null().to_pylist().index(True)} has no {name}")
    at = inside.get(FIELD_IDS["partition"])
    partition = _partition(None if at is None else pc.struct_field(file, [at]), table.num_rows)
    return pa.table([*arrays, partition], schema=pa.schema([*fields, pa.field("partition", partition.type)]))


def _by_id(fields: pa.Schema | pa.StructType) -> dict[int, int]:
    """The places of fields by their ids."""
    listed = [fields.field(at) for at in range(len(fields) if isinstance(fields, pa.Schema) else fields.num_fields)]
    return {own: at for at, field in enumerate(listed) if (own := field_id(field)) is not None}


def _partition(stored: pa.Array | None, rows: int) -> pa.Array:
    """A partition struct whose fields are called by their field ids."""
    if stored is None or not pa.types.is_struct(stored.type) or not stored.type.num_fields:
        return pa.array([{}] * rows, pa.struct([]))
    arrays = [pc.struct_field(stored, [at]) for at in range(stored.type.num_fields)]
    fields = []
    for at, array in enumerate(arrays):
        if pa.types.is_fixed_size_binary(array.type):
            arrays[at] = array = array.cast(pa.binary())
        own = field_id(stored.type.field(at))
        fields.append(pa.field(str(1000 + at if own is None else own), array.type))
    return pa.StructArray.from_arrays(arrays, fields=fields)


def _cast(array: pa.Array, kind: pa.DataType) -> pa.Array:
    """An array of another type's names and widths."""
    if array.type == kind:
        return array
    if pa.types.is_map(kind) and pa.types.is_map(array.type):
        offsets, keys, items = array.offsets, array.keys.cast(kind.key_type), array.items.cast(kind.item_type)
        mask = array.is_null() if array.null_count else None
        return pa.MapArray.from_arrays(offsets, keys, items, mask=mask)
    return array.cast(kind)
