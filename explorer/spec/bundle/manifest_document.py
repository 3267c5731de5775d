"""Manifest lists and manifests without their secrets (spec: "Manifest Lists", "Manifests").

Fields are found by their ids, or by their names where a file has no ids; those that the spec does not name are left
out. What a writer did otherwise than the spec has it stays as far as it is no text."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from explorer.model.manifest import FIELD_IDS
from explorer.model.metadata import PartitionField, PartitionSpec
from explorer.spec.bundle.metadata_document import UNLIKE_SPEC, MetadataDocument
from explorer.spec.bundle.replacements import NUMBER

AvroHandler = Callable[[Any], Any]
Reference = tuple[str, str, AvroHandler]
"""The name of a field as it is and as it becomes, and what makes its new value."""
OTHER_IDS = {"block_size_in_bytes": 105, "distinct_counts": 111}
"""Of older spec versions: numbers."""
TYPES = frozenset({"null", "boolean", "int", "long", "float", "double", "bytes", "string"})
TYPE_NAMES = re.compile(r"manifest_entry|manifest_file|data_file|partition|partition_field_summary|r\d{1,10}|"
                        r"k\d{1,10}_v\d{1,10}|fixed_\d{1,5}|decimal_\d{1,3}_\d{1,3}|uuid_fixed")  # fmt: skip
LOGICAL_TYPES = frozenset(
    {"date", "time-micros", "timestamp-micros", "timestamp-nanos", "timestamp-millis", "decimal", "uuid", "map"}
)
ATTRIBUTES = ("precision", "scale", "size", "element-id", "key-id", "value-id")
FORMATS = frozenset({"PARQUET", "AVRO", "ORC", "PUFFIN"})
HEADER_NUMBERS = ("schema-id", "partition-spec-id", "format-version", "snapshot-id", "parent-snapshot-id",
                  "sequence-number", "first-row-id")  # fmt: skip
PAIR = ("key", "value")
NUMBER_TYPES = frozenset({int, float, bool})
SUMMARY = ("contains_null", "contains_nan", "lower_bound", "upper_bound")


@dataclass(frozen=True)
class AvroDocument:
    """How an Avro file is written anew: its new schema and header, what makes a new record of an old one, and what
    looks only at those parts of a record that are replaced."""

    schema: Any = field(repr=False)
    header: Mapping[str, str]
    record: Callable[[Mapping[str, Any]], dict[str, Any]]
    collect: Callable[[Mapping[str, Any]], object]


class ManifestDocument:
    """Writes manifest lists and manifests anew.

    Args:
        document: What writes schemas and partition fields anew, and what takes the place of what.
        list_ids: The fields of a manifest list, by the spec's names.
        length_of: The new length of a manifest, by its path and the length that its record has.
    """

    def __init__(
        self, document: MetadataDocument, list_ids: Mapping[str, int], length_of: Callable[[str, int], int]
    ) -> None:
        self._document, self._new, self._length_of = document, document.new, length_of
        self._list_ids = {number: name for name, number in list_ids.items()}
        self._file_ids = {number: name for name, number in (FIELD_IDS | OTHER_IDS).items()}
        fields = [field for spec in self._new.metadata.partition_specs for field in spec.fields]
        fields.sort(key=lambda field: field.transform != "void")  # the last one counts
        self._any_spec = {key: field for field in fields for key in (field.name, field.field_id)}
        self._names: dict[str, str] = {}
        """What the types of one file are called now, by their names."""
        self._taken: set[str] = set()

    def manifest_list(self, schema: Any, header: Mapping[str, str]) -> AvroDocument:
        """Plan how a manifest list is written anew.

        Args:
            schema: The writer's Avro schema.
            header: The other metadata of its Avro header.

        Raises:
            KeyError, TypeError, ValueError, AttributeError: It is no manifest list.
        """
        self._begin()
        handlers = {500: self._new.path, 507: lambda summaries: summaries, 519: _zeros}
        fields, parts = self._record(schema, self._list_ids, handlers)
        names = {name: old for old, name, _ in parts}
        path, length = names["manifest_path"], names.get("manifest_length")
        spec_id, summaries = names.get("partition_spec_id"), names.get("partitions")

        def record(raw: Mapping[str, Any]) -> dict[str, Any]:
            spec = self._new.metadata.spec(raw[spec_id]) if spec_id else None
            new = _renamed(parts, raw)
            for old, name, _ in parts:
                if old == summaries:
                    new[name] = self._summaries(raw[old], spec)
                elif old == length:
                    new[name] = self._length_of(raw[path], raw[old])
            return new

        return AvroDocument(self._named(schema, fields), self._header(header), record, record)

    def manifest(self, schema: Any, header: Mapping[str, str]) -> AvroDocument:
        """Plan how a manifest is written anew; see `manifest_list`.

        Raises:
            KeyError, TypeError, ValueError, AttributeError: It is no manifest.
        """
        self._begin()
        file = next(f for f in schema["fields"] if f.get("field-id") == 2 or f["name"] == "data_file")
        inner = _record_of(file["type"])
        partition = next((f for f in inner["fields"] if f.get("field-id") == 102 or f["name"] == "partition"), None)
        own_spec = self._spec_of(header)
        part_fields, parts = self._partition(_record_of(partition["type"]), own_spec) if partition else ([], [])
        handlers: dict[int, AvroHandler] = {
            100: self._new.path, 143: lambda path: None if path is None else self._new.path(path),
            102: partial(_renamed, parts), 101: self._format, 125: self._bounds, 128: self._bounds, 131: _zeros,
        }  # fmt: skip
        inner_fields, inner_parts = self._record(inner, self._file_ids, handlers, {102: part_fields})
        own_handlers: dict[int, AvroHandler] = {2: lambda raw: self._data_file(raw, inner_parts)}
        ids = {0: "status", 1: "snapshot_id", 2: "data_file", 3: "sequence_number", 4: "file_sequence_number"}
        fields, top = self._record(schema, ids, own_handlers, {2: self._named(inner, inner_fields)})
        replaced = [(old, handler) for old, _, handler in inner_parts if handler is not _numbers]
        return AvroDocument(
            self._named(schema, fields),
            self._header(header),
            partial(_renamed, top),
            lambda raw: [handler(raw[file["name"]][old]) for old, handler in replaced],
        )

    def _begin(self) -> None:
        self._names, self._taken = {}, set()

    # -- schemas ------------------------------------------------------------------------------------------------------
    @staticmethod
    def _id(field: Mapping[str, Any], names: Mapping[int, str]) -> int | None:
        if "field-id" in field:
            return field["field-id"] if field["field-id"] in names else None
        return next((number for number, name in names.items() if name == field["name"]), None)

    def _record(
        self,
        record: Mapping[str, Any],
        names: Mapping[int, str],
        handlers: Mapping[int, AvroHandler],
        types: Mapping[int, Any] | None = None,
    ) -> tuple[list[dict[str, Any]], list[Reference]]:
        fields: list[dict[str, Any]] = []
        parts: list[Reference] = []
        for own in record["fields"]:
            number = self._id(own, names)
            if number is None:
                self._new.counts["fields of Avro files that the spec does not name, left out"] += 1
                continue
            name = names[number]
            kind = self._replaced_type(own["type"], (types or {})[number]) if number in (types or {}) else None
            new: dict[str, Any] = {"name": name, "type": self._type(own["type"]) if kind is None else kind}
            if "field-id" in own:
                new["field-id"] = number
            if "default" in own and own["default"] is None:
                new["default"] = None
            fields.append(new)
            parts.append((own["name"], name, handlers.get(number, _numbers)))
        return fields, parts

    def _replaced_type(self, kind: Any, new: Any) -> Any:
        """A type whose record, which may be optional, is another now."""
        record = new if isinstance(new, Mapping) else self._named(_record_of(kind), new)
        return [record if option != "null" else "null" for option in kind] if isinstance(kind, list) else record

    def _named(self, record: Mapping[str, Any], fields: Any) -> dict[str, Any]:
        return {"type": "record", "name": self._type_name(record.get("name", "record")), "fields": fields}

    def _type_name(self, name: str) -> str:
        if name not in self._names:
            is_free = TYPE_NAMES.fullmatch(name) and name not in self._taken
            self._names[name] = name if is_free else f"type_{len(self._names) + 1}"
            self._taken.add(self._names[name])
        return self._names[name]

    def _type(self, kind: Any) -> Any:
        if isinstance(kind, list):
            return [self._type(option) for option in kind]
        if isinstance(kind, str):
            return kind if kind in TYPES else self._names[kind]
        if isinstance(kind["type"], (list, Mapping)):
            return self._type(kind["type"])
        new: dict[str, Any] = {"type": kind["type"]}
        if kind["type"] == "record":
            new["name"] = self._type_name(kind["name"])
            is_pair = len(kind["fields"]) == len(PAIR)
            names = PAIR if is_pair else [own["name"] for own in kind["fields"]]
            new["fields"] = [self._inner_field(*own) for own in zip(names, kind["fields"], strict=True)]
        elif kind["type"] == "fixed":
            new["name"] = self._type_name(kind["name"])
        elif kind["type"] == "array":
            new["items"] = self._type(kind["items"])
        elif kind["type"] == "map":
            new["values"] = self._type(kind["values"])
        elif kind["type"] not in TYPES:
            raise ValueError(f"no type of the spec's manifests: {kind['type']!r}"[:100])
        if kind.get("logicalType") in LOGICAL_TYPES:
            new["logicalType"] = kind["logicalType"]
        if isinstance(kind.get("adjust-to-utc"), bool):
            new["adjust-to-utc"] = kind["adjust-to-utc"]
        return new | {key: kind[key] for key in ATTRIBUTES if type(kind.get(key)) is int}

    def _inner_field(self, name: str, own: Mapping[str, Any]) -> dict[str, Any]:
        """A field of a map's pair, or of a partition summary."""
        if name not in PAIR and name not in SUMMARY:
            raise ValueError("a record inside a manifest that the spec does not have")
        new = {"name": name, "type": self._type(own["type"])}
        if type(own.get("field-id")) is int:
            new["field-id"] = own["field-id"]
        return new | ({"default": None} if "default" in own and own["default"] is None else {})

    def _spec_of(self, header: Mapping[str, str]) -> Mapping[str | int, PartitionField]:
        """The partition fields of a manifest, by their ids and names; those of all specs, where it names none."""
        text = header.get("partition-spec-id", "")
        spec = self._new.metadata.spec(int(text)) if re.fullmatch(r"\d{1,9}", text) else None
        return {key: f for f in spec.fields for key in (f.name, f.field_id)} if spec else self._any_spec

    def _partition(
        self, record: Mapping[str, Any], spec: Mapping[str | int, PartitionField]
    ) -> tuple[list[dict[str, Any]], list[Reference]]:
        fields: list[dict[str, Any]] = []
        parts: list[Reference] = []
        for own in record["fields"]:
            has_id = type(own.get("field-id")) is int
            field = spec.get(own["field-id"] if has_id else own["name"])
            name = self._new.partition_name(field) if field else self._new.label("p", own["name"]).replace("-", "_")
            kept = {"field-id": own["field-id"]} if has_id else {}
            default = {"default": None} if "default" in own and own["default"] is None else {}
            fields.append({"name": name, "type": self._type(own["type"]), **kept, **default})
            parts.append((own["name"], name, partial(self._new.partition_value, field)))
        return fields, parts

    # -- values -------------------------------------------------------------------------------------------------------
    def _data_file(self, raw: Mapping[str, Any], parts: list[Reference]) -> dict[str, Any]:
        """A data file. Where a column's bounds tell its only value, whoever has its bucket sees that they do not fit:
        such bounds are left out."""
        new = _renamed(parts, raw)
        lower, upper = _pairs(new.get("lower_bounds")), _pairs(new.get("upper_bounds"))
        alike = {key for key in self._new.bucketed if key in lower and lower[key] == upper.get(key)}
        for name in ("lower_bounds", "upper_bounds") if alike else ():
            bounds = new[name]
            is_map = isinstance(bounds, Mapping)
            new[name] = (
                {key: data for key, data in bounds.items() if int(key) not in alike} if is_map
                else [pair for pair in bounds if pair["key"] not in alike]
            )  # fmt: skip
        return new

    def _bounds(self, value: Any) -> Any:
        """A map of bounds: as Avro's arrays of pairs, or as an Avro map."""
        if value is None:
            return None
        if isinstance(value, Mapping):
            pairs = [(key, self._new.bound(int(key), data)) for key, data in value.items()]
            return {key: data for key, data in pairs if data is not None}
        new = []
        for pair in value:
            key, data = pair.values()
            if (bound := self._new.bound(key, data)) is not None:
                new.append(dict(zip(PAIR, (key, bound), strict=True)))
        return new

    def _summaries(self, value: Any, spec: PartitionSpec | None) -> Any:
        if value is None:
            return None
        fields = spec.fields if spec else ()
        new = []
        for n, summary in enumerate(value):
            own: dict[str, Any] = {key: flag for key, flag in summary.items() if flag is None or isinstance(flag, bool)}
            for key, data in summary.items():
                if isinstance(data, bytes):
                    own[key] = self._new.partition_bound(fields[n], data) if n < len(fields) else None
            new.append(own)
        return new

    @staticmethod
    def _format(value: str) -> str:
        return value if value.upper() in FORMATS else "OTHER"

    # -- headers ------------------------------------------------------------------------------------------------------
    def _header(self, header: Mapping[str, str]) -> dict[str, str]:
        new: dict[str, str] = {}
        for key, text in header.items():
            is_number = key in HEADER_NUMBERS and (NUMBER.fullmatch(text) or text == "null")
            if is_number or (key == "content" and text in ("data", "deletes")):
                new[key] = text
            elif key in ("schema", "partition-spec"):
                try:
                    raw = json.loads(text)
                    made = self._document.schema(raw) if key == "schema" else self._document.partition_fields(raw)
                    new[key] = json.dumps(made)
                except UNLIKE_SPEC:
                    self._new.counts["parts of Avro headers, left out"] += 1
            elif not key.startswith("avro.") and key != "iceberg.schema":
                self._new.counts["parts of Avro headers, left out"] += 1
        return new


def _record_of(kind: Any) -> Mapping[str, Any]:
    options = kind if isinstance(kind, list) else [kind]
    return next(option for option in options if isinstance(option, Mapping) and option.get("type") == "record")


def _renamed(parts: list[Reference], raw: Mapping[str, Any]) -> dict[str, Any]:
    """A record with the new names and values of its parts."""
    return {new: handler(raw[old]) for old, new, handler in parts}


def _is_pair(item: Any) -> bool:
    """Whether an item of a map is two whole numbers, under the spec's names."""
    return (
        isinstance(item, dict) and len(item) == len(PAIR) and type(item.get("key")) is int
        and type(item.get("value")) is int
    )  # fmt: skip


def _pairs(bounds: Any) -> dict[int, bytes]:
    if isinstance(bounds, Mapping):
        return {int(key): data for key, data in bounds.items()}
    return {pair["key"]: pair["value"] for pair in bounds or ()}


def _zeros(value: Any) -> Any:
    return None if value is None else bytes(len(value))


def _numbers(value: Any) -> Any:
    """A value that is made of numbers alone. Raises TypeError for any other."""
    if value is None or type(value) in NUMBER_TYPES:
        return value
    if isinstance(value, list):
        return [item if _is_pair(item) else _numbers(item) for item in value]
    if isinstance(value, Mapping):
        if all(map(NUMBER.fullmatch, value)):
            return {key: _numbers(item) for key, item in value.items()}
        return dict(zip(PAIR, map(_numbers, value.values()), strict=True))
    raise TypeError("no number")
