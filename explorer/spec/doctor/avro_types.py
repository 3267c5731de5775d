"""The Avro schemas and headers of manifests and manifest lists against the spec, and what Iceberg Java refuses of them
(spec: "Manifests", "Manifest Lists"). Java asks for fields by id and casts what it gets."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any, NamedTuple

from explorer.spec.schemas.schema_fields import MOST_NAME

WIDER = {("int", "long"), ("float", "double")}
"""Avro types that readers widen: written, wanted."""
NUMBERS = {
    0: "int", 1: "long", 3: "long", 4: "long", 134: "int", 103: "long", 104: "long", 140: "int", 142: "long",
    144: "long", 145: "long", 501: "long", 502: "int", 517: "int", 515: "long", 516: "long", 503: "long",
    504: "int", 505: "int", 506: "int", 512: "long", 513: "long", 514: "long", 520: "long",
}  # fmt: skip
"""By field id: the spec's Avro type of fields that are numbers."""
TEXTS = {100: "string", 101: "string", 143: "string", 500: "string", 131: "bytes", 519: "bytes"}
LISTED = {132: "long", 135: "int"}
"""By field id: the type of a list's items."""
NAMES = {
    0: "status", 1: "snapshot_id", 2: "data_file", 3: "sequence_number", 4: "file_sequence_number", 134: "content",
    100: "file_path", 101: "file_format", 102: "partition", 103: "record_count", 104: "file_size_in_bytes",
    131: "key_metadata", 132: "split_offsets", 135: "equality_ids", 140: "sort_order_id", 142: "first_row_id",
    143: "referenced_data_file", 144: "content_offset", 145: "content_size_in_bytes", 500: "manifest_path",
    501: "manifest_length", 502: "partition_spec_id", 517: "content", 515: "sequence_number",
    516: "min_sequence_number", 503: "added_snapshot_id", 504: "added_files_count", 505: "existing_files_count",
    506: "deleted_files_count", 512: "added_rows_count", 513: "existing_rows_count", 514: "deleted_rows_count",
    519: "key_metadata", 520: "first_row_id",
}  # fmt: skip
NEEDED = {"manifest": (0, 2, 100, 101, 102, 103, 104), "manifest list": (500, 501, 502, 503)}
"""Fields without which Java reads nothing."""
NEWER = {"manifest": (134,), "manifest list": (517, 515, 516, 504, 505, 506, 512, 513, 514)}
"""Fields that the spec requires from version 2 on, and without which Java reads on."""
INHERITED = (1, 3)
"""Optional fields of manifests that Java takes from the manifest list where they are absent: since version 1, and 2.
Iceberg up to 0.14 had no file_sequence_number (4)."""
RECORDS: Mapping[tuple[str, int | None], tuple[str, ...]] = {
    ("manifest list", None): ("manifest_file",),
    ("manifest list", 507): ("r508", "partitions"),
    ("manifest", None): ("manifest_entry",),
    ("manifest", 2): ("r2", "data_file"),
    ("manifest", 102): ("r102", "partition"),
}
"""By file and field id, of the whole record None: the names of Avro records by which older Iceberg Java finds its
classes (up to 1.8 in manifest lists, up to 1.6 in manifests; since then it goes by field ids). The first is Java's."""
UP_TO = {"manifest list": "1.8", "manifest": "1.6"}
NAMES_OF_RECORDS = (
    "Iceberg Java up to {} finds its classes by the names of Avro records, and cannot read this {} (ClassCastException "
    "or ArrayStoreException); later versions, and pyiceberg, go by field ids"
)
HEADER = ("schema", "partition-spec")
NEWER_HEADER = ("partition-spec-id", "format-version", "content")
"""Keys of a manifest's header that the spec requires, the latter from version 2 on. It requires schema-id too, which
pyiceberg leaves out, and no reader misses."""


class Oddity(NamedTuple):
    """What differs from the spec: where, in words, what is written and what the spec has; whether Java refuses it."""

    place: str
    words: str
    found: str | None = None
    expected: str | None = None
    refused: bool = False
    minor: bool = False


WITHOUT_IDS = (
    "no field of its Avro schema has a field id: it is read by the fields' names, as Iceberg Java does; pyiceberg "
    "refuses it"
)


def odd_schema(
    schema: Any, kind: str, version: int, filled: Collection[str], partitioned: bool = True
) -> Iterator[Oddity]:
    """What is odd in the writer's schema of a `manifest` or `manifest list`; `filled` fields have values."""
    fields = dict(_fields(schema, kind))
    if not any(i in fields for i in NEEDED[kind]):
        if kind == "manifest" and isinstance(schema, Mapping) and schema.get("fields"):  # what opens a list tells of it
            yield Oddity("manifest_entry", WITHOUT_IDS)
        return
    for i in NEEDED[kind]:
        if i not in fields and (i != 102 or partitioned):
            yield Oddity(NAMES[i], f"`{NAMES[i]}` (field id {i}) is missing", refused=True)
        elif i in fields and _is_optional(fields[i]):
            yield Oddity(NAMES[i], f"`{NAMES[i]}` may be null, and the spec requires it", minor=i != 102)
    for i in NEWER[kind] if version > 1 else ():
        if i not in fields:
            yield Oddity(NAMES[i], f"`{NAMES[i]}` (field id {i}) is missing, which the spec requires from version 2 on")
    absent = [i for i in INHERITED[: min(version, 2)] if i not in fields] if kind == "manifest" else []
    if absent:
        names = ", ".join(f"`{NAMES[i]}`" for i in (*absent, *(j for j in (4,) if j not in fields and version > 1)))
        words = f"entries have no {names}: Iceberg Java and pyiceberg take what the manifest list says, and ClickHouse "
        yield Oddity("manifest_entry", f"{words}up to 26.8 refuses the manifest (ClickHouse#114480)", minor=True)
    for i, avro in fields.items():
        written, wanted = _plain(avro), NUMBERS.get(i) or TEXTS.get(i)
        if i in LISTED:
            items = written.get("items") if isinstance(written, Mapping) else None
            written, wanted = _plain(items), LISTED[i]
        if wanted is None or written == wanted or NAMES[i] not in filled:
            continue  # pyiceberg has equality_ids of 64 bits, which are null in data manifests
        refused = (written, wanted) not in WIDER
        name = f"the items of `{NAMES[i]}` have" if i in LISTED else f"`{NAMES[i]}` has"
        yield Oddity(NAMES[i], f"{name} another type than the spec's", _type_text(written), wanted, refused)


def record_names(schema: Any, kind: str) -> dict[int | None, str]:
    """The full names of the records in an Avro schema that older Iceberg Java goes by, by the field that has them."""
    root = _plain(schema)
    if not isinstance(root, Mapping):
        return {}
    names: dict[int | None, str] = {None: _full_name(root, "")}
    for own, record in _records(root, kind):
        names[own] = _full_name(record, names[None].rpartition(".")[0])
        for inner, deeper in _records(record, kind):
            names[inner] = _full_name(deeper, names[own].rpartition(".")[0])
    return {field: name for field, name in names.items() if name}


def _records(record: Mapping[str, Any], kind: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """The records in a record's fields, or in the lists there, that older Java finds by name, by field id."""
    for field in _record(record):
        own, inner = field.get("field-id"), _plain(field.get("type"))
        if isinstance(inner, Mapping) and inner.get("type") == "array":
            inner = _plain(inner.get("items"))
        if type(own) is int and (kind, own) in RECORDS and isinstance(inner, Mapping):
            yield own, inner


def odd_names(schema: Any, kind: str, partitioned: bool = True) -> Iterator[Oddity]:
    """Whether older Iceberg Java cannot tell the records of a `manifest` or `manifest list` by their names. Where no
    manifest is `partitioned`, a list has no records of partition summaries."""
    odd = {field: name for field, name in record_names(schema, kind).items() if name not in RECORDS[(kind, field)]}
    if not partitioned:
        odd.pop(507, None)
    if odd:
        wanted = ", ".join(RECORDS[(kind, field)][0] for field in odd)
        yield Oddity("names of records", NAMES_OF_RECORDS.format(UP_TO[kind], kind), ", ".join(odd.values()), wanted)


def _full_name(record: Mapping[str, Any], space: str) -> str:
    """A record's name with its namespace, which it has from the record around it where it says none."""
    name, own = record.get("name"), record.get("namespace", space)
    if not isinstance(name, str) or "." in name or not isinstance(own, str) or not own:
        return name if isinstance(name, str) else ""
    return f"{own[:MOST_NAME]}.{name}"


def odd_header(header: Mapping[str, str], version: int) -> Iterator[Oddity]:
    """Which keys of a manifest's header are missing."""
    own = header.get("format-version")
    wanted = HEADER if own == "1" or (own is None and version == 1) else (*HEADER, *NEWER_HEADER)
    missing = [key for key in wanted if key not in header]
    if missing:
        names = ", ".join(missing)
        yield Oddity("header", f"its header lacks {names}: the spec requires them, and some readers refuse it")


def _fields(schema: Any, kind: str) -> Iterator[tuple[int, Any]]:
    for field in _record(schema):
        if type(own := field.get("field-id")) is int:
            yield own, field.get("type")
            if own == 2 and kind == "manifest":
                yield from ((i, t) for i, t in _fields(_plain(field.get("type")), "data_file"))


def _record(avro: Any) -> list[Mapping[str, Any]]:
    fields = avro.get("fields") if isinstance(avro, Mapping) else None
    return [f for f in fields if isinstance(f, Mapping)] if isinstance(fields, list) else []


def _is_optional(avro: Any) -> bool:
    return isinstance(avro, list) and "null" in avro


def _plain(avro: Any) -> Any:
    """A type without the choice of null, and without a logical type."""
    options = [t for t in avro if t != "null"] if isinstance(avro, list) else [avro]
    own = options[0] if len(options) == 1 else avro
    if isinstance(own, Mapping) and own.get("type") not in ("array", "map", "record", "fixed", "enum"):
        return _plain(own.get("type"))
    return own


def _type_text(avro: Any) -> str:
    return avro if isinstance(avro, str) else str(avro)[:60]
