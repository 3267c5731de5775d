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
from explorer.storage.manifests import entry_table
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


def columns(data: bytes, path: str) -> pa.Table:
    """Return all columns of a Parquet manifest that have a field id, as they were written. Raises UnreadableFile."""
    return client.run("parquet_columns", path, data)


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
        arrays.append(array.cast(field.type))
    at = inside.get(FIELD_IDS["partition"])
    partition = {} if at is None else _partition(pc.struct_field(file, [at]))
    parts = list(partition.values())
    named = [pa.field(name, part.type) for name, part in partition.items()]
    return entry_table(path, fields, arrays, named, parts, table.num_rows)


def _by_id(fields: pa.Schema | pa.StructType) -> dict[int, int]:
    """The places of fields by their ids."""
    listed = [fields.field(at) for at in range(len(fields) if isinstance(fields, pa.Schema) else fields.num_fields)]
    return {own: at for at, field in enumerate(listed) if (own := field_id(field)) is not None}


def _partition(stored: pa.Array) -> dict[str, pa.Array]:
    """The columns of a partition struct, by their field ids."""
    columns = {}
    for at in range(stored.type.num_fields if pa.types.is_struct(stored.type) else 0):
        array, own = pc.struct_field(stored, [at]), field_id(stored.type.field(at))
        is_fixed = pa.types.is_fixed_size_binary(array.type)
        columns[str(1000 + at if own is None else own)] = array.cast(pa.binary()) if is_fixed else array
    return columns
