"""Rows of data files and contents of delete files, read here and now, without Spark.

Data files are Parquet, read by field id (spec: "Column Projection"): renamed, promoted, dropped and re-added columns
come out as the schema asks for them. Other formats say that they need Spark. Parquet is decoded in a child process
(io.isolated): a file of a kilobyte can hold a string of megabytes, a thousand times."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from pyiceberg.schema import Schema, prune_columns
from pyiceberg.table.name_mapping import NameMapping, parse_mapping_from_json
from pyiceberg.types import LongType, NestedField
from pyroaring import BitMap64

from explorer.core.deletes import PATH_ID, LiveFile
from explorer.errors import UnreadableFile
from explorer.io import budget, isolated
from explorer.io.puffin import read_footer
from explorer.io.storage import Storage
from explorer.model.metadata import TableMetadata

POSITION_ID, ROW_ID, LAST_UPDATED_ID = 2147483545, 2147483540, 2147483539
"""Reserved field ids: `pos`, `_row_id`, `_last_updated_sequence_number`."""
LINEAGE = (
    NestedField(ROW_ID, "_row_id", LongType(), required=False),
    NestedField(LAST_UPDATED_ID, "_last_updated_sequence_number", LongType(), required=False),
)
VECTOR_MAGIC = bytes.fromhex("d1d33964")
POSITIONS = pa.schema([pa.field("file_path", pa.string()), pa.field("pos", pa.int64())])
UNPACKING = 4
"""How many times its bytes a data file takes while it is decoded, about."""
SPARK = "read it through Spark"


def read_schema(metadata: TableMetadata, schema_id: int | None, extra_ids: Sequence[int] = ()) -> Schema:
    """A schema as pyiceberg has it (None: the current one), with top-level fields of other schemas that hold
    `extra_ids`. Raises UnreadableFile."""
    try:
        return _read_schema(metadata, schema_id, extra_ids)
    except Exception as error:  # pyiceberg refuses more than our lenient model does, with errors of its own
        cause = f"its schema is not one that rows can be read with: {type(error).__name__}: {error}"
        raise UnreadableFile(metadata.metadata_location, cause[:300]) from error


def _read_schema(metadata: TableMetadata, schema_id: int | None, extra_ids: Sequence[int]) -> Schema:
    known = metadata.schema(schema_id if schema_id is not None else metadata.current_schema_id) or metadata.schemas[-1]
    schema = Schema.model_validate(known.raw)
    missing = [i for i in extra_ids if i not in known.by_id]
    fields = list(schema.fields)
    for older in sorted(metadata.schemas, key=lambda s: s.schema_id, reverse=True):
        for field_id in list(missing):
            if field_id in older.by_id:
                owner = next(
                    f
                    for f in Schema.model_validate(older.raw).fields
                    if f.name == older.by_id[field_id].name.split(".")[0]
                )
                if owner.field_id not in {f.field_id for f in fields}:
                    taken = {f.name for f in fields}
                    name = owner.name if owner.name not in taken else f"{owner.name}#{owner.field_id}"
                    fields.append(NestedField(owner.field_id, name, owner.field_type, required=False))
                missing.remove(field_id)
    return Schema(*fields, schema_id=schema.schema_id, identifier_field_ids=schema.identifier_field_ids)


def _mapping(metadata: TableMetadata) -> NameMapping | None:
    text = metadata.properties.get("schema.name-mapping.default")
    return parse_mapping_from_json(text) if text else None


def _parquet(
    storage: Storage, file: LiveFile, ids: Iterable[int], names: Iterable[str] = ()
) -> tuple[pa.Table, pa.Schema, int]:
    """(the columns of these field ids, or of these names where they have no id; the file's whole schema; its number of
    rows). Raises UnreadableFile."""
    budget.within(file.record_count or 0, budget.ROWS, file.path, "rows, says its manifest", SPARK)
    data = storage.read(file.path)
    if data[-4:] != b"PAR1":
        raise UnreadableFile(file.path, f"not a Parquet file: it ends with {data[-4:]!r}, not b'PAR1'")
    with budget.reading(len(data) * UNPACKING, file.path):
        table = isolated.run("parquet", file.path, data, ids=sorted(ids), names=sorted(names))
    said = table.schema.metadata
    schema = pa.ipc.read_schema(pa.py_buffer(said[b"file_schema"]))
    return table.replace_schema_metadata(None), schema, int(said[b"file_rows"])


def data_rows(
    storage: Storage, file: LiveFile, schema: Schema, metadata: TableMetadata, lineage: bool = False
) -> pa.Table:
    """All rows of a data or equality delete file under a schema, deleted ones too, in file order. With `lineage` also
    `_row_id` and `_last_updated_sequence_number`, null where the file does not store them. Raises UnreadableFile."""
    from pyiceberg.io.pyarrow import _to_requested_schema, pyarrow_to_schema  # slow to import, and only rows need it

    if file.file_format.upper() != "PARQUET":
        raise UnreadableFile(file.path, f"{file.file_format} rows are read through Spark only")
    wanted = Schema(*schema.fields, *(LINEAGE if lineage else ()), schema_id=schema.schema_id)
    try:
        mapping = _mapping(metadata)
        names = {n for m in mapping or () if m.field_id in wanted.field_ids for n in m.names}
        table, arrow, rows = _parquet(storage, file, wanted.field_ids, names)
        stored = pyarrow_to_schema(arrow, mapping, downcast_ns_timestamp_to_us=False, format_version=3)
        pruned = prune_columns(stored, wanted.field_ids, select_full_types=False)
        table = table.select([f.name for f in pruned.fields])
        batch = (table.combine_chunks().to_batches() or [None])[0] if pruned.fields else None
        if batch is None:  # none of the columns is in the file, or it has no rows
            batch = pa.RecordBatch.from_arrays([pa.nulls(0 if pruned.fields else rows)], names=["_"])
            pruned = Schema()
        constants = _constants(file, metadata, wanted, stored)
        absent = [i for i in wanted.field_ids if i not in stored.field_ids]
        defaults = [constants.get(i, getattr(wanted.find_field(i), "initial_default", None)) for i in absent]
        made = rows * sum(8 + len(str(value)) for value in defaults)
        budget.within(made, budget.DECODED, file.path, "bytes in columns that it does not store", SPARK)
        requested = _to_requested_schema(
            wanted, pruned, batch, projected_missing_fields=constants, allow_timestamp_tz_mismatch=True
        )
    except UnreadableFile:
        raise
    except Exception as error:  # pyiceberg and Arrow raise many kinds of errors on files that do not fit
        raise UnreadableFile(file.path, f"its rows cannot be read: {type(error).__name__}: {error}") from error
    return pa.Table.from_batches([requested])


def _constants(file: LiveFile, metadata: TableMetadata, wanted: Schema, stored: Schema) -> dict[int, Any]:
    """Columns that the file lacks and whose value its identity partition says (spec: "Column Projection", rule 1)."""
    spec = metadata.spec(file.spec_id)
    constants = {}
    for part in spec.fields if spec else ():
        value = file.partition.get(str(part.field_id))
        if part.transform == "identity" and value is not None:
            for source in part.source_ids:
                if source in wanted.field_ids and source not in stored.field_ids:
                    constants[source] = value
    return constants


def position_deletes(storage: Storage, file: LiveFile) -> pa.Table:
    """A position delete file: `file_path`, `pos`, in file order (spec: "Position Delete Files"). Raises
    UnreadableFile."""
    table, _, _ = _parquet(storage, file, (PATH_ID, POSITION_ID), ("file_path", "pos"))
    ids = {int((f.metadata or {}).get(b"PARQUET:field_id", b"0")): f.name for f in table.schema}
    names = [ids.get(PATH_ID, "file_path"), ids.get(POSITION_ID, "pos")]
    missing = [n for n in names if n not in table.column_names]
    if missing:
        raise UnreadableFile(file.path, f"not a position delete file: it has no column {missing[0]!r}")
    try:
        return table.select(names).rename_columns(["file_path", "pos"]).cast(POSITIONS)
    except (pa.ArrowException, ValueError) as error:
        raise UnreadableFile(file.path, f"not a position delete file: {error}"[:300]) from error


def deletion_vector(storage: Storage, file: LiveFile) -> pa.Array:
    """The deleted positions of a deletion vector, ascending (Puffin spec: "deletion-vector-v1"). Raises UnreadableFile
    when the blob is not where the manifest says, or does not hold what it says."""
    path, offset, size = file.path, file.content_offset, file.content_size
    if offset is None or size is None or offset < 0 or size < 0:
        raise UnreadableFile(
            path, "the manifest gives no content_offset or content_size_in_bytes for this deletion vector"
        )
    blobs = [(b.get("offset"), b.get("length")) for b in read_footer(storage, path).get("blobs", [])]
    if (offset, size) not in blobs:
        raise UnreadableFile(
            path,
            f"the manifest places the vector at {offset} with {size} bytes; the Puffin footer has blobs at {blobs}",
        )
    blob = storage.read(path, offset, size)
    if size < 12 or len(blob) < size or blob[4:8] != VECTOR_MAGIC:
        raise UnreadableFile(
            path, f"no deletion vector at byte {offset}: its magic is {blob[4:8].hex()}, not {VECTOR_MAGIC.hex()}"
        )
    length = int.from_bytes(blob[:4], "big")
    if length != size - 8:
        raise UnreadableFile(path, f"the deletion vector at byte {offset} claims {length} bytes in a blob of {size}")
    if zlib.crc32(blob[4:-4]) != int.from_bytes(blob[-4:], "big"):
        raise UnreadableFile(path, f"the deletion vector at byte {offset} is damaged: its checksum does not fit")
    budget.within(file.record_count or 0, budget.ROWS, path, "deleted positions, says its manifest", SPARK)
    try:
        bitmaps = BitMap64.deserialize(blob[8:-4])
    except ValueError as error:
        raise UnreadableFile(
            path, f"the bitmap of the deletion vector at byte {offset} cannot be read: {error}"
        ) from error
    budget.within(len(bitmaps), budget.ROWS, path, "deleted positions in one vector", SPARK)
    if len(bitmaps) != file.record_count:
        raise UnreadableFile(
            path,
            f"the deletion vector at byte {offset} holds {len(bitmaps)} positions, "
            f"the manifest says {file.record_count}",
        )
    positions = np.fromiter(bitmaps, np.uint64, len(bitmaps))
    if len(positions) and positions[-1] >= 1 << 63:
        raise UnreadableFile(path, f"the deletion vector at byte {offset} has the position {positions[-1]}")
    return pa.array(positions.astype(np.int64))
