"""Where a manifest's or a manifest list's writer schema keeps what the spec names, found by field id."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pyarrow as pa

from explorer.errors import UnreadableFile
from explorer.model.manifest import FIELD_IDS
from explorer.storage.formats.avro import Container

LIST_IDS = {
    "manifest_path": 500, "manifest_length": 501, "partition_spec_id": 502, "content": 517, "sequence_number": 515,
    "min_sequence_number": 516, "added_snapshot_id": 503, "added_files_count": 504, "existing_files_count": 505,
    "deleted_files_count": 506, "added_rows_count": 512, "existing_rows_count": 513, "deleted_rows_count": 514,
    "partitions": 507, "key_metadata": 519, "first_row_id": 520,
}  # fmt: skip


def fields_by_id(record: Mapping[str, Any]) -> dict[int, Mapping[str, Any]]:
    """The fields of an Avro record by their ids, whose types storage.formats.avro_schema saw to."""
    return {f["field-id"]: f for f in record["fields"] if "field-id" in f}


def has_ids(node: Any) -> bool:
    """Whether any field of an Avro schema has an id, deeper ones too."""
    if isinstance(node, list):
        return any(map(has_ids, node))
    if not isinstance(node, Mapping):
        return False
    inside = (node.get(part) for part in ("type", "items", "values", "fields"))
    return "field-id" in node or any(map(has_ids, inside))


def _with_ids(node: Any, ids: Mapping[str, int], inner: Mapping[str, Mapping[str, int]]) -> Any:
    """An Avro schema whose fields have the ids of their names; `inner` has those of the records in some fields."""
    if isinstance(node, list):
        return [_with_ids(option, ids, inner) for option in node]
    if not isinstance(node, Mapping) or not isinstance(node.get("fields"), list):
        return node
    fields = []
    for field in node["fields"]:
        kind = _with_ids(field["type"], inner[field["name"]], inner) if field["name"] in inner else field["type"]
        own = {"field-id": ids[field["name"]]} if field["name"] in ids else {}
        fields.append({**field, **own, "type": kind})
    return {**node, "fields": fields}


def with_ids_by_name(container: Container) -> Container:
    """A manifest or manifest list in which no field has an id, with ids by the names that the spec gives its fields,
    as Iceberg Java reads it; another as it is."""
    if has_ids(container.schema):
        return container
    names = {field.get("name") for field in container.schema["fields"]}
    if "data_file" not in names:
        return replace(container, schema=_with_ids(container.schema, LIST_IDS, {}))
    inner = {"data_file": FIELD_IDS, "partition": _partition_ids(container.metadata.get("partition-spec", ""))}
    return replace(container, schema=_with_ids(container.schema, {**FIELD_IDS, "data_file": 2}, inner))


def _partition_ids(text: str) -> dict[str, int]:
    """The ids of partition fields by name, of a manifest's header; nothing where it has none that can be read."""
    try:
        spec = json.loads(text)
        return {field["name"]: field["field-id"] for field in spec if type(field["field-id"]) is int}
    except (ValueError, TypeError, KeyError, RecursionError):
        return {}


def record_of(avro_type: Any) -> Mapping[str, Any] | None:
    """The record inside a possibly optional Avro type."""
    options = avro_type if isinstance(avro_type, list) else [avro_type]
    return next((o for o in options if isinstance(o, Mapping) and o.get("type") == "record"), None)


def _arrow_type(avro: Any) -> pa.DataType:
    """Arrow type of an Avro type as Iceberg writes partition values (spec: "Appendix A: Avro")."""
    if isinstance(avro, list):
        real = [option for option in avro if option != "null"]
        return _arrow_type(real[0]) if real else pa.null()
    kind, logical = (avro.get("type"), avro.get("logicalType")) if isinstance(avro, Mapping) else (avro, None)
    if isinstance(kind, (Mapping, list)):
        return _arrow_type(kind)
    if logical == "date":
        return pa.date32()
    if logical in ("timestamp-micros", "timestamp-nanos"):
        return pa.timestamp("us" if logical.endswith("micros") else "ns", "UTC" if avro.get("adjust-to-utc") else None)
    if logical == "time-micros":
        return pa.time64("us")
    if logical == "decimal":
        return pa.decimal128(avro["precision"], avro.get("scale", 0))
    simple = {
        "boolean": pa.bool_(),
        "int": pa.int32(),
        "long": pa.int64(),
        "float": pa.float32(),
        "double": pa.float64(),
    }
    if kind in simple:
        return simple[kind]
    return pa.string() if kind == "string" else pa.binary()


class ManifestLayout:
    """Where a manifest's writer schema keeps each of our columns, found by field id."""

    def __init__(self, container: Container) -> None:
        """Raises UnreadableFile when it is Avro, but no manifest."""
        self.path = container.path
        try:
            self._look_up(container)
        except (KeyError, TypeError, ValueError, AttributeError, pa.ArrowException) as error:
            raise UnreadableFile(self.path, f"Avro, but its schema is no manifest's: {error!r}"[:300]) from error

    def _look_up(self, container: Container) -> None:
        top = fields_by_id(container.schema)
        file = record_of(top[2]["type"]) if 2 in top else None  # data_file has field id 2
        if file is None:
            raise UnreadableFile(container.path, "Avro, but not a manifest: no record field has the id 2 (data_file)")
        inner = fields_by_id(file)
        self.data_file = top[2]["name"]
        self.top = {
            n: top[FIELD_IDS[n]]["name"]
            for n in ("status", "snapshot_id", "sequence_number", "file_sequence_number")
            if FIELD_IDS[n] in top
        }
        self.file = {n: inner[i]["name"] for n, i in FIELD_IDS.items() if i >= 100 and i in inner and n != "partition"}
        missing = [n for n in ("status",) if n not in self.top] + [n for n in ("file_path",) if n not in self.file]
        if missing:
            raise UnreadableFile(container.path, f"not a manifest: {', '.join(missing)} missing from the Avro schema")
        partition = record_of(inner[FIELD_IDS["partition"]]["type"]) if FIELD_IDS["partition"] in inner else None
        self.partition_name = inner[FIELD_IDS["partition"]]["name"] if partition else None
        self.partition = [
            (f["name"], str(f.get("field-id", 1000 + i)), _arrow_type(f["type"]))
            for i, f in enumerate((partition or {"fields": []})["fields"])
        ]
        self.maps = {
            n: self._entry(inner[i]["type"])
            for n, i in FIELD_IDS.items()
            if i in inner and n.endswith(("counts", "bounds", "sizes"))
        }

    @staticmethod
    def _entry(avro: Any) -> tuple[str, str] | None:
        """Names of the key and value fields of a map written as an array of records, which BigQuery makes optional;
        None for a real Avro map."""
        options = avro if isinstance(avro, list) else [avro]
        for option in options:
            if isinstance(option, Mapping) and option.get("type") == "array" and (pair := record_of(option["items"])):
                key, value = pair["fields"]
                return key["name"], value["name"]
        return None


def count_partition_fields(container: Container) -> int:
    """The fields of the partitions in a manifest, by its schema; 0 of what is no manifest."""
    try:
        return len(ManifestLayout(container).partition)
    except UnreadableFile:
        return 0
