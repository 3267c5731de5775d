"""What Iceberg Java 1.12 refuses in a metadata file (Iceberg: TableMetadataParser and the parsers that it calls). Other
rules tell what else keeps Java from opening a table: their findings have `refused` set too."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from explorer.model.metadata import PartitionField, TableMetadata
from explorer.spec.doctor.findings import Finding, finding
from explorer.spec.doctor.java_schema import JsonKind, Presence, Refusal, SchemaCheck, is_kind, json_text, lacks
from explorer.spec.doctor.remedy_cases import (
    FORMER_NAME,
    NO_CURRENT_ID,
    NO_SCHEMA_FIELD,
    NULL_BY_VOID,
    OLD_FIELD,
    OLD_VOID,
    SAME_NAMES,
    VOID,
    VOID_WITHOUT_SOURCE,
)
from explorer.spec.doctor.table_properties import refused_values, unknown_properties
from explorer.spec.schemas.partition_names import clashing_names, former_names, voids_without_source
from explorer.spec.values.transforms import parse_transform
from explorer.spec.values.values import primitive_type

JAVA_NAMES = "'Cannot create identity partition sourced from different field in schema'"
HIGHEST_VERSION = 4
"""Of the format, which Java 1.12 opens."""
WantedField = tuple[str, JsonKind, Presence]
SNAPSHOT: tuple[WantedField, ...] = (
    ("snapshot-id", "long", "required"), ("sequence-number", "long", "if present"),
    ("parent-snapshot-id", "long", "if present"), ("timestamp-ms", "long", "required"),
    ("manifest-list", "text", "if present"), ("schema-id", "int", "optional"), ("first-row-id", "long", "optional"),
    ("added-rows", "long", "optional"), ("key-id", "text", "optional"), ("summary", "object", "if present"),
)  # fmt: skip
REF: tuple[WantedField, ...] = (
    ("snapshot-id", "long", "required"), ("type", "text", "required"), ("min-snapshots-to-keep", "int", "optional"),
    ("max-snapshot-age-ms", "long", "optional"), ("max-ref-age-ms", "long", "optional"),
)  # fmt: skip
STATISTICS: tuple[WantedField, ...] = (
    ("snapshot-id", "long", "required"), ("statistics-path", "text", "required"),
    ("file-size-in-bytes", "long", "required"),
)  # fmt: skip
BLOB: tuple[WantedField, ...] = (
    ("type", "text", "required"), ("snapshot-id", "long", "required"), ("sequence-number", "long", "required"),
    ("fields", "list", "required"),
)  # fmt: skip
PARTITION: tuple[WantedField, ...] = (
    ("source-id", "int", "required"), ("name", "text", "required"), ("transform", "text", "required"),
    ("field-id", "int", "if present"),
)  # fmt: skip
SORT: tuple[WantedField, ...] = (
    ("source-id", "int", "required"), ("transform", "text", "required"), ("direction", "text", "required"),
    ("null-order", "text", "required"),
)  # fmt: skip
LOGS = {
    "snapshot-log": (("timestamp-ms", "long", "required"), ("snapshot-id", "long", "required")),
    "metadata-log": (("timestamp-ms", "long", "required"), ("metadata-file", "text", "required")),
}
NAME_MAPPING = "schema.name-mapping.default"
SPARK_NUMBERS = {
    "read.split.target-size": 1, "read.split.planning-lookback": 1, "read.split.open-file-cost": 0,
    "read.parquet.vectorization.batch-size": 1, "read.orc.vectorization.batch-size": 1,
}  # fmt: skip
"""Table properties that Spark reads as numbers, and the least that it takes."""
_WIDTH = re.compile(r"(\w+)\[(\d+)\]")
_TRANSFORMS = ("identity", "year", "month", "day", "hour", "void")


def java_rules(meta: TableMetadata) -> Iterator[Finding]:
    """What Iceberg Java refuses, or Spark cannot read, in a metadata file."""
    here = partial(finding, file=meta.metadata_location, node=("metadata", meta.metadata_location), refused="table")
    raw = meta.raw
    version: Any = raw.get("format-version")
    if not (is_kind(version, "int") and 0 < version <= HIGHEST_VERSION):
        words = f"Iceberg Java 1.12 opens versions 1 to {HIGHEST_VERSION}"
        yield here("format-version-unknown", words, location="/format-version", found=json_text(version))
    for refusal in (*_table(raw), *_elements(raw), *_binding(meta)):
        yield here("metadata-field", refusal.words, location=refusal.pointer, found=refusal.found)
    for refusal, readers in _version_1_requirements(raw) if version == 1 else ():
        words = f"{refusal.words}, {OLD_FIELD}: {readers}"
        more: dict[str, Any] = {"refused": "", "severity": "warning"}
        yield here("metadata-field", words, location=refusal.pointer, found=refusal.found, **more)
    if version in (1, 2) and "current-snapshot-id" not in raw and not meta.snapshots:
        more = {"refused": "", "severity": "info"}
        yield here("metadata-field", NO_CURRENT_ID, location="/current-snapshot-id", **more)
    for place, field, spec_id in _void_fields(raw):
        name, is_old = str(field.get("name")), spec_id != raw.get("default-spec-id")
        column = _column_of(meta, field)
        if is_old and not column:
            continue
        if not is_old and any(one.name == name for one in voids_without_source(meta)):
            words = f"the partition spec has {json_text(name)}, {VOID_WITHOUT_SOURCE}"
            yield here("readers-differ", words, location=place, found="void", refused="", severity="warning",
                       columns=(name,))  # fmt: skip
            continue
        spec = f"partition spec {spec_id} has" if is_old else "the partition spec has"
        words = (
            f"{spec} {json_text(name)}, {OLD_VOID if is_old else VOID}: Spark, pyiceberg and DuckDB read the table, "
        )
        words += "other readers may not know the transform (Athena refused such a table, apache/iceberg#5637)"
        words += f"; {NULL_BY_VOID.format(json_text(column))}" if column else ""
        yield here(
            "readers-differ", words, location=place, found="void", refused="", severity="info",
            columns=(column,) if column else (),
        )  # fmt: skip
    for name, ids in clashing_names(meta).items():
        words = f"partition field {name[:100]!r} (ids {' and '.join(map(str, ids))}): {SAME_NAMES}"
        yield here(
            "readers-differ", words, location="/partition-specs", found=name[:100], refused="", severity="warning",
            columns=(name,),
        )  # fmt: skip
    for name, column in former_names(meta).items():
        words = f"partition field {name[:100]!r}, of column {column[:100]!r}, {FORMER_NAME}"
        yield here(
            "readers-differ", words, location="/partition-specs", found=name[:100], refused="", severity="info",
            columns=(name,),
        )  # fmt: skip
    for refusal in _spark_properties(meta.properties):
        yield here("property-refused", refusal.words, location=refusal.pointer, found=refusal.found)
    for refusal in refused_values(meta.properties):
        more = {"refused": "", "severity": "warning"}
        yield here("property-refused", refusal.words, location=refusal.pointer, found=refusal.found, **more)
    for refusal in unknown_properties(meta.properties):
        more = {"refused": "", "severity": "info"}
        yield here("property-refused", refusal.words, location=refusal.pointer, found=refusal.found, **more)
    for at, schema in enumerate(_list(raw, "schemas")):
        check = SchemaCheck(f"/schemas/{at}", False)
        refusals = list(check.refusals(schema))
        for refusal in refusals:
            rule = "field-id-conflict" if refusal.words[0].isdigit() else "metadata-field"
            yield here(rule, f"in schema {_id(schema)}, {refusal.words}", location=refusal.pointer, found=refusal.found)
        if not refusals and isinstance(schema, Mapping) and schema.get("schema-id") == meta.current_schema_id:
            for refusal in check.spark():
                where = " where spark.sql.caseSensitive is false, its default" if refusal.columns else ""
                words = f"{refusal.words}: the spec allows it, Spark 4.1 cannot read the table{where}"
                yield here(
                    "readers-differ", words, location=refusal.pointer, found=refusal.found, severity="error",
                    columns=refusal.columns,
                )  # fmt: skip


def _version_1_requirements(raw: Mapping[str, Any]) -> Iterator[tuple[Refusal, str]]:
    """What Iceberg Java does not ask for where the fields of version 2 are there, and others do (spec: "Table Metadata
    Fields"), with the readers that differ."""
    both = "Spark 4.1 reads the table, pyiceberg 0.12 cannot open it, nor could iceberg-rust (apache/iceberg-rust#1088)"
    if raw.get("schemas") and raw.get("schema") is None:
        yield Refusal("/schema", NO_SCHEMA_FIELD, json_text(raw["schema"]) if "schema" in raw else None), both
    if raw.get("partition-specs") and "partition-spec" not in raw:
        one = "Spark 4.1 and pyiceberg 0.12 read the table, iceberg-rust could not open it (apache/iceberg-rust#1087)"
        yield Refusal("/partition-spec", "the metadata file has no `partition-spec`", None), one
    elif raw.get("partition-specs") and raw["partition-spec"] is None:
        yield Refusal("/partition-spec", "`partition-spec` is null", "null"), both


def _void_fields(raw: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any], Any]]:
    """Partition fields that were removed (spec: "Partition Evolution"), those of the default spec first: where each is,
    the field, and its spec's id. One that several specs have is told once."""
    specs = [(at, s) for at, s in enumerate(_list(raw, "partition-specs")) if isinstance(s, Mapping)]
    told: set[str] = set()
    for at, spec in sorted(specs, key=lambda pair: pair[1].get("spec-id") != raw.get("default-spec-id")):
        for place, field in enumerate(_list(spec, "fields")):
            if isinstance(field, Mapping) and field.get("transform") == "void" and str(field.get("name")) not in told:
                told.add(str(field.get("name")))
                yield f"/partition-specs/{at}/fields/{place}", field, spec.get("spec-id")


def _column_of(meta: TableMetadata, field: Mapping[str, Any]) -> str:
    """The column that a partition field comes from, where it is still there and gives the field its name, as it does to
    a field of identity; else empty."""
    schema, source = meta.schema(meta.current_schema_id), field.get("source-id")
    column = schema.by_id.get(source) if schema is not None and isinstance(source, int) else None
    return column.name if column is not None and column.name == field.get("name") else ""


def _spark_properties(properties: Mapping[str, str]) -> Iterator[Refusal]:
    """Properties that Spark reads as numbers, and the name mapping."""
    for name, least in SPARK_NUMBERS.items():
        value = properties.get(name)
        if value is not None and not (re.fullmatch(r"[+-]?\d{1,18}", value) and int(value) >= least):
            words = f"the property {name} is no whole number of {least} or more"
            yield Refusal(f"/properties/{name}", words, value[:60])
    mapping = properties.get(NAME_MAPPING)
    if mapping is not None and (cause := _no_mapping(mapping)):
        yield Refusal(f"/properties/{NAME_MAPPING}", f"the name mapping {cause}", mapping[:60])


def _no_mapping(text: str) -> str:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return "is no JSON"
    return "" if isinstance(value, list) else "is no list"


def _id(schema: Any) -> str:
    return json_text(schema.get("schema-id")) if isinstance(schema, Mapping) else "?"


def _list(raw: Mapping[str, Any], key: str) -> list[Any]:
    value = raw.get(key)
    return value if isinstance(value, list) else []


def _table(raw: Mapping[str, Any]) -> Iterator[Refusal]:
    """The fields at the top."""
    version: Any = raw.get("format-version")
    newer = type(version) is int and version > 1
    needed: Presence = "required" if newer else "if present"
    wanted: list[WantedField] = [
        ("location", "text", "optional" if newer and version == HIGHEST_VERSION else "required"),
        ("last-updated-ms", "long", "required"), ("last-column-id", "int", "required"), ("schemas", "list", needed),
        ("partition-specs", "list", needed), ("sort-orders", "list", needed), ("properties", "object", "if present"),
        ("last-partition-id", "int", "required" if newer else "optional"), ("current-snapshot-id", "long", "optional"),
        ("refs", "object", "if present"), ("snapshots", "list", "if present"), ("statistics", "list", "if present"),
        ("partition-statistics", "list", "if present"), ("encryption-keys", "list", "if present"),
        ("table-uuid", "text", "optional"),
    ]  # fmt: skip
    for key, default in (("schemas", "current-schema-id"), ("partition-specs", "default-spec-id"),
                         ("sort-orders", "default-sort-order-id")):  # fmt: skip
        if key in raw or newer:
            wanted.append((default, "int", "required"))
    if newer:
        wanted.append(("last-sequence-number", "long", "required"))
    if newer and version > 2:
        wanted.append(("next-row-id", "long", "required"))
    if not newer and "schemas" not in raw:
        wanted.append(("schema", "object", "required"))
    if not newer and "partition-specs" not in raw:
        wanted.append(("partition-spec", "list", "required"))
    for name, kind, presence in wanted:
        yield from lacks(raw, name, kind, presence, "")
    for key in ("partition-specs", "sort-orders"):
        if raw.get(key) == []:
            yield Refusal(f"/{key}", f"`{key}` is empty")
    properties = raw.get("properties")
    for name, value in properties.items() if isinstance(properties, Mapping) else ():
        if not isinstance(value, str):
            yield Refusal("/properties", f"the property {name[:100]!r} is no text", f"a {type(value).__name__}")


def _elements(raw: Mapping[str, Any]) -> Iterator[Refusal]:
    """The elements of lists and of `refs`."""
    for at, snapshot in enumerate(_list(raw, "snapshots")):
        yield from _snapshot(snapshot, f"/snapshots/{at}")
    refs = raw.get("refs")
    for name, ref in refs.items() if isinstance(refs, Mapping) else ():
        yield from _object(ref, REF, f"/refs/{name[:100]}")
    for key, wanted in LOGS.items():
        for at, line in enumerate(_list(raw, key)):
            yield from _object(line, wanted, f"/{key}/{at}")  # type: ignore[arg-type]
    for at, file in enumerate(_list(raw, "statistics")):
        here = f"/statistics/{at}"
        footer: WantedField = ("file-footer-size-in-bytes", "long", "required")
        yield from _object(file, (*STATISTICS, footer, ("blob-metadata", "list", "required")), here)
        for n, blob in enumerate(_list(file, "blob-metadata") if isinstance(file, Mapping) else ()):
            yield from _object(blob, BLOB, f"{here}/blob-metadata/{n}")
    for at, file in enumerate(_list(raw, "partition-statistics")):
        yield from _object(file, STATISTICS, f"/partition-statistics/{at}")
    for at, key in enumerate(_list(raw, "encryption-keys")):
        names = ("key-id", "encrypted-key-metadata")
        yield from _object(key, tuple((n, "text", "required") for n in names), f"/encryption-keys/{at}")
    for at, spec in enumerate(_list(raw, "partition-specs")):
        yield from _fields(spec, "spec-id", PARTITION, f"/partition-specs/{at}")
    for at, order in enumerate(_list(raw, "sort-orders")):
        yield from _sort_order(order, f"/sort-orders/{at}")


def _object(node: Any, wanted: tuple[WantedField, ...], pointer: str) -> Iterator[Refusal]:
    if not isinstance(node, Mapping):
        yield Refusal(pointer, "it is not an object", json_text(node))
        return
    for name, kind, presence in wanted:
        yield from lacks(node, name, kind, presence, pointer)


def _fields(node: Any, own: str, wanted: tuple[WantedField, ...], pointer: str) -> Iterator[Refusal]:
    """A spec or sort order: its id, and its fields."""
    yield from _object(node, ((own, "int", "required"), ("fields", "list", "required")), pointer)
    fields = _list(node, "fields") if isinstance(node, Mapping) else []
    for at, item in enumerate(fields):
        yield from _object(item, wanted, f"{pointer}/fields/{at}")
    with_ids = sum(isinstance(item, Mapping) and "field-id" in item for item in fields)
    if wanted is PARTITION and 0 < with_ids < len(fields):
        yield Refusal(f"{pointer}/fields", f"{len(fields) - with_ids} of {len(fields)} fields have no `field-id`")


def _sort_order(order: Any, pointer: str) -> Iterator[Refusal]:
    yield from _fields(order, "order-id", SORT, pointer)
    if not isinstance(order, Mapping):
        return
    fields, own = _list(order, "fields"), order.get("order-id")
    if fields and own == 0:
        yield Refusal(f"{pointer}/fields", "sort order 0, which is the unsorted one, has fields")
    elif not fields and own != 0 and is_kind(own, "int"):
        yield Refusal(f"{pointer}/order-id", f"sort order {own} has no fields: the unsorted one is 0", own)
    for at, item in enumerate(fields):
        for name, allowed in (("direction", ("asc", "desc")), ("null-order", ("nulls-first", "nulls-last"))):
            value = item.get(name) if isinstance(item, Mapping) else None
            if isinstance(value, str) and value.lower() not in allowed:
                yield Refusal(
                    f"{pointer}/fields/{at}/{name}", f"`{name}` is none of {', '.join(allowed)}", json_text(value)
                )


def _snapshot(node: Any, pointer: str) -> Iterator[Refusal]:
    yield from _object(node, SNAPSHOT, pointer)
    if not isinstance(node, Mapping):
        return
    if "manifest-list" not in node:
        if not isinstance(node.get("manifests"), list):
            yield Refusal(f"{pointer}/manifest-list", "it has neither `manifest-list` nor `manifests`")
    elif is_kind(node.get("first-row-id"), "long"):
        if node["first-row-id"] < 0:
            yield Refusal(f"{pointer}/first-row-id", "`first-row-id` is below 0", node["first-row-id"])
        if node.get("added-rows") is None:
            yield Refusal(f"{pointer}/added-rows", "it has a `first-row-id`, and no `added-rows`")
    if is_kind(node.get("added-rows"), "long") and node["added-rows"] < 0 and "manifest-list" in node:
        yield Refusal(f"{pointer}/added-rows", "`added-rows` is below 0", node["added-rows"])
    summary = node.get("summary")
    for name, value in summary.items() if isinstance(summary, Mapping) else ():
        if not isinstance(value, str):
            yield Refusal(f"{pointer}/summary", f"{name[:100]!r} of the summary is no text", json_text(value))


def _binding(meta: TableMetadata) -> Iterator[Refusal]:
    """What specs and the default sort order make of the current schema."""
    current = meta.schema(meta.current_schema_id)
    columns = {f.name: f.id for f in current.by_id.values()} if current else {}
    for spec in meta.partition_specs:
        pointer = f"/partition-specs ({spec.spec_id})"
        default = spec.spec_id == meta.default_spec_id
        for part in spec.fields:
            name = part.name[:100]
            yield from _transform(meta, part, pointer, f"partition field {name!r}", default)
            source = part.source_ids[0] if part.source_ids else None
            meant = columns.get(part.name)
            if not part.name:
                yield Refusal(pointer, "a partition field has an empty name")
            elif current and meant not in (None, source) and source in current.by_id:
                words = f"partition field {name!r} has the name of another column than its source ({JAVA_NAMES})"
                yield Refusal(pointer, words, name)
    for order in meta.sort_orders:
        if order.order_id == meta.default_sort_order_id:
            for column in order.fields:
                pointer = f"/sort-orders ({order.order_id})"
                part = PartitionField(0, "", column.transform, column.source_ids)
                yield from _transform(meta, part, pointer, "the default sort order", True, sorting=True)


def _transform(
    meta: TableMetadata, part: PartitionField, pointer: str, who: str, default: bool, sorting: bool = False
) -> Iterator[Refusal]:
    transform = part.transform.lower()
    width = _WIDTH.fullmatch(transform)
    if width and width[1] in ("bucket", "truncate"):
        if len(width[2]) > 10 or not 0 < int(width[2]) < 1 << 31:
            yield Refusal(pointer, f"the transform of {who} has a width that is not above 0", part.transform[:60])
            return
    elif transform not in _TRANSFORMS and not sorting:
        words = f"the transform of {who} is none that Java has"
        if transform.removesuffix("s") in _TRANSFORMS:
            words += (
                f": Iceberg's word is `{transform.removesuffix('s')}`. Spark reads a copy of this file that has that "
                "word, registered under another name"
            )
        yield Refusal(pointer, words, part.transform[:60])
        return
    current = meta.schema(meta.current_schema_id)
    if transform == "void" or current is None or len(part.source_ids) != 1:
        return
    column = current.by_id.get(part.source_ids[0])
    if column is None:
        if default and sorting:  # of specs rule 11 tells
            yield Refusal(pointer, f"{who} comes from field {part.source_ids[0]}, which is not in the current schema")
    elif not isinstance(column.type, str):
        if default:
            yield Refusal(pointer, f"{who} comes from {column.name[:100]!r}, which is of no primitive type")
    elif (width or transform in _TRANSFORMS) and not _takes(transform, column.type):
        yield Refusal(pointer, f"the transform of {who} takes no {column.type[:40]}", part.transform[:60])
    elif default and not sorting and _in_collection(current.raw, part.source_ids[0]):
        yield Refusal(pointer, f"{who} comes from {column.name[:100]!r}, which is inside a list or a map")


def _takes(transform: str, kind: str) -> bool:
    """Whether a transform takes columns of a type; in doubt it does."""
    primitive = primitive_type(kind)
    return primitive is None or transform == "identity" or parse_transform(transform).can_transform(primitive)


def _in_collection(raw: Any, own: int, inside: bool = False) -> bool:
    """Whether a field is inside a list or a map of a schema's JSON."""
    if not isinstance(raw, Mapping):
        return False
    for item in raw.get("fields") or ():
        if (item.get("id") == own and inside) or _in_collection(item.get("type"), own, inside):
            return True
    return any(
        raw.get(f"{part}-id") == own or _in_collection(raw.get(part), own, True) for part in ("element", "key", "value")
    )
