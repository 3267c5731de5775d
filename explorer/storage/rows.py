"""Rows of data files and contents of delete files, read here and now, without Spark: Parquet, ORC and Avro.

A file is decoded in a child process (storage.decoder_process.client, storage.column_reader): one of a kilobyte can hold
a string of megabytes, a thousand times. What comes back is projected onto the schema by field id
(storage.projection)."""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from explorer.errors import UnreadableFile
from explorer.model.metadata import Schema, StatisticsFile, TableMetadata
from explorer.model.problem import Problems
from explorer.spec.deletes.deletes import PATH_ID
from explorer.spec.entries.live_files import LiveFile
from explorer.spec.rows.row_diff import field_places
from explorer.spec.schemas.schema_fields import walk_fields
from explorer.spec.text.names import first_of, shorten
from explorer.spec.text.units import count
from explorer.spec.values.values import result_type
from explorer.storage import limits
from explorer.storage.decoder_process import client
from explorer.storage.excerpts import quote
from explorer.storage.formats import parquet, roaring
from explorer.storage.formats.encryption import refuse_encrypted
from explorer.storage.formats.json_text import load_json
from explorer.storage.formats.puffin import NoPuffin, read_footer
from explorer.storage.metadata import parse_schema
from explorer.storage.projection import (
    SPARK,
    Unprojectable,
    arrow_type,
    constant_array,
    has_ids,
    ids_within,
    map_ids,
    mapping_by_names,
    name_mapping,
    paths_by_id,
    project,
    with_ids_by_place,
)
from explorer.storage.storage import Storage

POSITION_ID, ROW_ID, LAST_UPDATED_ID = 2147483545, 2147483540, 2147483539
"""Reserved field ids: `pos`, `_row_id`, `_last_updated_sequence_number`."""
LINEAGE = (
    {"id": ROW_ID, "name": "_row_id", "type": "long"},
    {"id": LAST_UPDATED_ID, "name": "_last_updated_sequence_number", "type": "long"},
)
LINEAGE_IDS = frozenset(field["id"] for field in LINEAGE)
POSITIONS = ({"id": PATH_ID, "name": "file_path", "type": "string"}, {"id": POSITION_ID, "name": "pos", "type": "long"})
POSITION_NAMES = name_mapping([{"field-id": f["id"], "names": [f["name"]]} for f in POSITIONS])
STATISTICS_COUNTS = {
    2: "spec_id", 3: "data_record_count", 4: "data_file_count", 5: "total_data_file_size_in_bytes",
    6: "position_delete_record_count", 7: "position_delete_file_count", 8: "equality_delete_record_count",
    9: "equality_delete_file_count", 13: "dv_count",
}  # fmt: skip
"""The columns of a partition statistics file that are numbers, by field id."""
READ_BY = b"read by"
"""In the metadata of rows of a file without field ids, where the table has no name mapping either: `places` or `names`,
as Iceberg Java reads such files."""
MAPPED = b"mapped"
"""In the metadata of rows of a file without field ids, where the table has a name mapping: `mapping_words`."""
ABSENT = b"absent"
"""In the metadata of rows of a file that lacks columns: `absent_words`."""
OF_PARTITION = b"of the partition"
"""In the metadata of rows of a data file with other values than its identity partition: `partition_words`."""
TOLD_COLUMNS = 10
"""Columns that are told of those that a name mapping finds under another name, and of those that it finds nowhere."""
OTHER_CONTENTS = b"other contents"
"""In the metadata of rows of a file that is not as its manifest entry says: a rule of the doctor's, and what is so."""
VECTOR_MAGIC = bytes.fromhex("d1d33964")
FORMATS = {
    "PARQUET": ("a Parquet file", "ends", b"PAR1"), "ORC": ("an ORC file", "starts", b"ORC"),
    "AVRO": ("an Avro file", "starts", b"Obj\x01"),
}  # fmt: skip
"""What files of each format start or end with."""
UNPACKING = 4
"""How many times its bytes a data file takes while it is decoded, about."""


def read_schema(metadata: TableMetadata, schema_id: int | None) -> Schema:
    """The schema that rows are read under; None: the current one. Raises UnreadableFile when it has types that are not
    known here, or two columns of one name."""
    schema_by_id = metadata.schema(schema_id if schema_id is not None else metadata.current_schema_id)
    if schema_by_id is None and not metadata.schemas:
        raise UnreadableFile(metadata.metadata_location, "the table has no schema that can be read")
    schema = schema_by_id or metadata.schemas[-1]
    try:
        _check_names(schema.raw)
        for field in schema.raw["fields"]:
            arrow_type(field["type"])
    except (ValueError, KeyError, TypeError, pa.ArrowException) as error:
        cause = f"its schema is not one that rows can be read with: {error}"
        raise UnreadableFile(metadata.metadata_location, cause[:300]) from error
    return schema


def _check_names(kind: Any) -> None:
    if not isinstance(kind, dict):
        return
    names = [f["name"] for f in kind.get("fields", ())]
    name, often = max(Counter(names).items(), key=lambda item: item[1], default=("", 0))
    if often > 1:
        raise ValueError(f"two columns of one struct are called {name!r}")
    inside = [f["type"] for f in kind.get("fields", ())]
    for inner in (*inside, *(kind.get(part) for part in ("element", "key", "value"))):
        _check_names(inner)


def equality_schema(metadata: TableMetadata, ids: Sequence[int]) -> Schema:
    """The columns of some field ids alone, within their structs, also those dropped since: under the name and type of
    the current schema, or else the newest that has them. Raises UnreadableFile."""
    order = (read_schema(metadata, None), *sorted(metadata.schemas, key=lambda s: s.schema_id, reverse=True))
    fields: list[dict[str, Any]] = []
    missing, taken = set(ids), set()
    for schema in order:
        wanted = missing & set(schema.by_id)
        missing -= wanted
        for field in schema.raw["fields"]:
            pruned = _prune(field, wanted)
            if pruned is not None:
                fields.append(pruned | {"name": field["name"] if field["name"] not in taken else f"#{field['id']}"})
                taken.add(fields[-1]["name"])
    if missing:
        raise UnreadableFile(metadata.metadata_location, f"no schema has the equality column of id {min(missing)}")
    if inside := [i for i in ids if not field_place(fields, i)]:
        cause = f"the equality column of id {min(inside)} is inside a list or map, where the spec allows none"
        raise UnreadableFile(metadata.metadata_location, cause)
    return parse_schema({"schema-id": order[0].schema_id, "fields": fields})


def field_place(fields: Sequence[Any], field_id: int) -> list[int]:
    """Where a field is among JSON fields, and in each struct inside; empty when it is in none."""
    for i, field in enumerate(fields):
        if field["id"] == field_id:
            return [i]
        kind = field["type"]
        inner = field_place(kind["fields"], field_id) if isinstance(kind, dict) and kind.get("type") == "struct" else []
        if inner:
            return [i, *inner]
    return []


def _prune(field: dict[str, Any], ids: set[int]) -> dict[str, Any] | None:
    """A JSON field with only what has these ids inside, and nothing required; None when that is nothing."""
    if field["id"] in ids:
        return field | {"required": False}
    kind = field["type"]
    inner = kind["fields"] if isinstance(kind, dict) and kind.get("type") == "struct" else ()
    kept = [p for f in inner if (p := _prune(f, ids)) is not None]
    return field | {"required": False, "type": {"type": "struct", "fields": kept}} if kept else None


def table_mapping(metadata: TableMetadata) -> Mapping[str, Any] | None:
    """The table's name mapping; None when it has none, which is not an empty one."""
    text = metadata.properties.get("schema.name-mapping.default")
    if text is None:
        return None
    try:
        path = metadata.metadata_location
        return name_mapping(load_json(text.encode(), path, Problems(path)))
    except UnreadableFile as error:
        cause = f"its property schema.name-mapping.default cannot be read: {error.cause}"
        raise UnreadableFile(metadata.metadata_location, cause) from error


def _columns(
    storage: Storage,
    file: LiveFile,
    fields: Sequence[Any],
    mapping: Mapping[str, Any] | None,
    absent: dict[int, Any],
) -> pa.Table:
    """The columns of JSON fields, of all rows of a file; see storage.projection.project. Raises UnreadableFile."""
    limits.within(file.record_count or 0, limits.ROWS, file.path, "rows, says its manifest", SPARK)
    if file.file_format not in FORMATS:
        raise UnreadableFile(file.path, f"{file.file_format or 'its format'} is no format that rows are read from")
    data, (kind, where, magic) = storage.read(file.path), FORMATS[file.file_format]
    at = data[-4:] if where == "ends" else data[: len(magic)]
    if at != magic:
        refuse_encrypted(data[:4], file.path)
        raise UnreadableFile(file.path, f"not {kind}: it {where} with {quote(at)}, not {magic!r}")
    ids, by_place = {f["id"] for f in fields}, mapping is None and file.file_format == "PARQUET"
    names_mapping = mapping_by_names({"fields": fields}) if mapping is None else mapping
    names = {name for name, entry in names_mapping.items() if entry["field-id"] in ids}
    with limits.reading(len(data) * UNPACKING, file.path):
        arguments = {"format": file.file_format, "ids": sorted(ids), "names": None if by_place else sorted(names)}
        table = client.run("columns", file.path, data, **arguments)
    whole = pa.ipc.read_schema(pa.py_buffer(table.schema.metadata[b"file_schema"]))
    rows = int(table.schema.metadata[b"file_rows"])
    without_ids = not has_ids(whole)
    if without_ids:
        whole = with_ids_by_place(whole) if by_place else pa.schema([map_ids(f, names_mapping) for f in whole])
    unfit = (ValueError, ArithmeticError, KeyError, TypeError, pa.ArrowException)
    try:
        table = table.cast(pa.schema([whole.field(name) for name in table.column_names]))
        projected = project(table, fields, rows, absent, limits.limit(), by_place and without_ids)
    except unfit as error:  # what Python and Arrow raise on values that are not what they are read as
        raise UnreadableFile(file.path, f"its rows cannot be read: {error}"[:500]) from error
    about: dict[bytes, str] = {}
    if (len(data), rows) != (file.size, file.record_count):
        about[OTHER_CONTENTS] = _other_contents(file, len(data), rows)
    if without_ids and len(whole) and mapping is None:
        about[READ_BY] = "places" if by_place else "names"
    elif without_ids and len(whole):
        about[MAPPED] = mapping_words(fields, whole, absent)
    if words := absent_words(fields, whole, absent, by_place and without_ids, MAPPED not in about):
        about[ABSENT] = words
    return projected.replace_schema_metadata(about) if about else projected


def _other_contents(file: LiveFile, size: int, rows: int) -> str:
    """The doctor's rule, and in words how a file differs from its manifest entry: it was written over, or its entry is
    wrong."""
    cause = (
        f"it has {count(size, 'byte')} and {count(rows, 'row')}, and its manifest entry says "
        f"{count(file.size, 'byte')} and {count(file.record_count, 'row')}"
    )
    if size != file.size and file.file_format == "PARQUET":
        cause += ": Iceberg Java opens a Parquet file by the recorded size, and fails"
    return f"{'record-count' if size == file.size else 'file-missing'} {cause}"


def mapping_words(fields: Sequence[Any], file: pa.Schema, constants: Mapping[int, Any]) -> str:
    """Say where the values of a file's columns come from that has no field ids.

    Args:
        fields: The JSON fields that are read.
        file: The file's schema, with the ids that the table's name mapping gives.
        constants: Values of identity partitions by column: they are not the file's.

    Returns:
        A sentence without its full stop: which columns have other names in the file, and which it has not.
    """
    paths = dict(paths_by_id(file))
    others: list[str] = []
    lacks: list[str] = []
    for names, field in field_places(fields):
        path, own = ".".join(names), field["id"]
        if own in LINEAGE_IDS or own in constants or any(path.startswith(f"{above}.") for above in lacks):
            continue
        if own not in paths:
            lacks.append(path)
        elif paths[own] != path:
            others.append(f"{path} from its column {paths[own]!r}")
    words = (
        "its file has no field ids, so its values come through the table's name mapping (schema.name-mapping.default)"
    )
    if others:
        words += f": {first_of(others, TOLD_COLUMNS)}"
    if lacks:
        words += f"; the mapping finds no column for {first_of(lacks, TOLD_COLUMNS)}"
    return words


def absent_words(
    fields: Sequence[Any],
    file: pa.Schema,
    constants: Mapping[int, Any],
    by_place: bool = False,
    with_nulls: bool = True,
) -> str:
    """Say which columns a file lacks, and what they are then (spec: "Column Projection").

    Args:
        fields: The JSON fields that are read.
        file: The file's schema, with field ids.
        constants: Values of identity partitions by column.
        by_place: Whether only the columns at the top have ids.
        with_nulls: Whether columns that are null for it are named too.

    Returns:
        A sentence without its full stop; empty where there is nothing to be said.
    """
    there = set(ids_within(file))
    partition: list[str] = []
    defaults: list[str] = []
    nulls: list[str] = []
    lacks: list[str] = []
    for path, field in walk_fields(fields):
        own, default = field["id"], field.get("initial-default")
        if own in there or own in LINEAGE_IDS or any(path.startswith(f"{up}.") for up in lacks):
            continue
        lacks.append(path)
        if by_place and "." in path:
            continue
        if own in constants:
            value = constants[own]
            partition.append(f"{path} = {'null' if value is None else shorten(repr(str(value)), 60)}")
        elif default is not None:
            defaults.append(f"{path} = {shorten(repr(default), 60)}")
        else:
            nulls.append(path)
    words = []
    if partition:
        words.append(f"{first_of(partition, TOLD_COLUMNS)} by its partition")
    if defaults:
        some = first_of(defaults, TOLD_COLUMNS)
        words.append(f"{some} by the schema's initial default (readers that do not know defaults show null)")
    if nulls and with_nulls:
        by_name = [name for name in nulls if by_place and name in file.names]
        others = [name for name in nulls if name not in by_name]
        for names, why in ((others, ", without an initial default"), (by_name, BY_PLACE)):
            are = "are" if len(names) > 1 else "is"
            words += [f"{first_of(names, TOLD_COLUMNS)} {are} null{why}"] if names else []
    return f"its file lacks columns that the schema has: {'; '.join(words)}" if words else ""


BY_PLACE = ": the file has a column of that name without a field id, and Spark goes by its place"
"""Why a column is null that a file has by name."""


def data_rows(
    storage: Storage, file: LiveFile, schema: Schema, metadata: TableMetadata, lineage: bool = False
) -> pa.Table:
    """All rows of a data or equality delete file under a schema, deleted ones too, in file order. With `lineage` also
    `_row_id` and `_last_updated_sequence_number`, null where the file does not store them. Raises UnreadableFile."""
    fields, constants = [*schema.raw["fields"], *(LINEAGE if lineage else ())], _constants(file, metadata)
    rows = _columns(storage, file, fields, table_mapping(metadata), constants)
    words = partition_words(schema.raw["fields"], rows, constants) if file.kind == "data_file" else ""
    return rows.replace_schema_metadata({**(rows.schema.metadata or {}), OF_PARTITION: words}) if words else rows


def partition_words(fields: Sequence[Any], rows: pa.Table, constants: Mapping[int, Any]) -> str:
    """Say which columns of a data file have other values than its partition (Iceberg Java: PartitionUtil.constantsMap).

    Args:
        fields: The JSON fields of the schema, in the order of the columns of `rows`.
        rows: The rows, with the values that the file stores.
        constants: Values of identity partitions by column.

    Returns:
        A sentence without its full stop; empty where all values are the partition's.
    """
    others: list[str] = []
    for at, field in enumerate(fields):
        if field["id"] not in constants:
            continue
        column, own = rows.column(at), constants[field["id"]]
        if own is None:
            differs = column.null_count < len(column)
        else:
            try:
                same = pc.equal(column, constant_array(own, field["type"])[0])
            except (Unprojectable, pa.ArrowException):  # a date that Python has none for
                continue
            differs = not pc.all(pc.fill_null(same, False)).as_py()
        if differs:
            others.append(f"{field['name']} = {'null' if own is None else repr(str(own))}")
    if not others:
        return ""
    return (
        f"Iceberg Java shows {first_of(others, TOLD_COLUMNS)} in every row of this file: it takes an identity column "
        "from the partition. pyiceberg shows what the file stores, as we do here"
    )


def value_words(rows: pa.Table) -> list[str]:
    """All that is to be said of where the values of a data file's rows come from, in sentences without full stops."""
    about = rows.schema.metadata or {}
    return [about[key].decode() for key in (MAPPED, OF_PARTITION, ABSENT) if key in about]


def _constants(file: LiveFile, metadata: TableMetadata) -> dict[int, Any]:
    """The values of its identity partition by source column (spec: "Column Projection", rule 1)."""
    spec = metadata.spec(file.spec_id)
    parts = [
        p for p in (spec.fields if spec else ()) if p.transform == "identity" and str(p.field_id) in file.partition
    ]
    return {source: file.partition[str(part.field_id)] for part in parts for source in part.source_ids}


def position_deletes(storage: Storage, file: LiveFile) -> pa.Table:
    """A position delete file: `file_path`, `pos`, in file order (spec: "Position Delete Files"). Raises UnreadableFile,
    also when a position is negative."""
    table = _columns(storage, file, [f | {"required": True} for f in POSITIONS], POSITION_NAMES, {})
    least = pc.min(table["pos"]).as_py()
    if least is not None and least < 0:
        row = pc.index(table["pos"], least).as_py()
        raise UnreadableFile(file.path, f"row {row} deletes the position {least}; positions start at 0")
    return table


def partition_statistics(storage: Storage, file: StatisticsFile, metadata: TableMetadata) -> pa.Table:
    """A partition statistics file (spec: "Partition Statistics File"): `partition`, a struct whose fields are called by
    their partition field ids, and the counts. Raises UnreadableFile."""
    kinds = {field.id: field.type for schema in metadata.schemas for field in schema.by_id.values()}
    parts: dict[int, Any] = {}
    for part in (part for spec in metadata.partition_specs for part in spec.fields):
        kind = result_type(part.transform, kinds.get(part.source_ids[0])) if len(part.source_ids) == 1 else None
        if kind is not None and part.transform != "void":
            parts.setdefault(part.field_id, {"id": part.field_id, "name": str(part.field_id), "type": kind})
    partition = {"id": 1, "name": "partition", "type": {"type": "struct", "fields": list(parts.values())}}
    counts = [{"id": own, "name": name, "type": "long"} for own, name in STATISTICS_COUNTS.items()]
    data_format = file.path.rpartition(".")[2].upper()
    if data_format == "PARQUET":
        values = parquet.read_footer(storage, file.path)["num_rows"] * (len(parts) + len(counts))
        limits.within(values, limits.PARTITION_VALUES, file.path, "values of partitions", "ask Spark")
    read_as = LiveFile(file.path, "data_file", 0, {}, None, None, 0, file.file_size_in_bytes or 0, "", data_format)
    return _columns(storage, read_as, [partition, *counts], {}, {})


def vector_place(file: LiveFile) -> tuple[int, int]:
    """The offset and size of a deletion vector in its file. Raises UnreadableFile where the manifest has them not."""
    offset, size = file.content_offset, file.content_size
    if offset is not None and size is not None and offset >= 0 and size >= 0:
        return offset, size
    place = {"content_offset": offset, "content_size_in_bytes": size}
    lacks = " and no ".join(name for name, value in place.items() if value is None or value < 0)
    raise UnreadableFile(file.path, f"the manifest gives no {lacks} for this deletion vector")


def vector_places(storage: Storage, path: str) -> frozenset[tuple[Any, Any]] | None:
    """The offset and length of each blob of a Puffin file; None of a file without its container, which some writers
    leave out: Iceberg's readers go by the manifest's offset, and never look. Raises UnreadableFile."""
    try:
        return frozenset((str(b.get("offset")), str(b.get("length"))) for b in read_footer(storage, path)["blobs"])
    except NoPuffin:
        return None


def deletion_vector(
    storage: Storage,
    file: LiveFile,
    places_of: Callable[[Storage, str], frozenset[tuple[Any, Any]] | None] = vector_places,
) -> pa.Array:
    """The deleted positions of a deletion vector, ascending (Puffin spec: "deletion-vector-v1"). `places_of` is
    `vector_places`, or remembers what that said: a file may have thousands of vectors. Raises UnreadableFile when the
    blob is not where the manifest says, or does not hold what it says."""
    path, (offset, size) = file.path, vector_place(file)
    places = places_of(storage, path)
    if places is not None and (str(offset), str(size)) not in places:
        some = first_of([f"{at} with {length}" for at, length in sorted(places)], 5)
        raise UnreadableFile(
            path,
            f"the manifest places the vector at {offset} with {size} bytes; the Puffin footer has blobs at {some}",
        )
    blob = storage.read(path, offset, size)
    if size < 12 or len(blob) < size or blob[4:8] != VECTOR_MAGIC:
        raise UnreadableFile(
            path, f"no deletion vector at byte {offset}: its magic is {quote(blob[4:8])}, not {VECTOR_MAGIC!r}"
        )
    length = int.from_bytes(blob[:4], "big")
    if length != size - 8:
        raise UnreadableFile(path, f"the deletion vector at byte {offset} claims {length} bytes in a blob of {size}")
    if zlib.crc32(blob[4:-4]) != int.from_bytes(blob[-4:], "big"):
        raise UnreadableFile(path, f"the deletion vector at byte {offset} is damaged: its checksum does not fit")
    limits.within(file.record_count or 0, limits.ROWS, path, "deleted positions, says its manifest", SPARK)
    try:
        bitmap = blob[8:-4]
        holds = roaring.count(bitmap)
        limits.within(holds, limits.ROWS, path, "deleted positions in one vector", SPARK)
        if holds != file.record_count:
            contradiction = f"holds {holds} positions, the manifest says {file.record_count}"
            raise UnreadableFile(path, f"the deletion vector at byte {offset} {contradiction}")
        return pa.array(roaring.positions(bitmap, holds))
    except ValueError as error:
        raise UnreadableFile(
            path, f"the bitmap of the deletion vector at byte {offset} cannot be read: {error}"
        ) from error
