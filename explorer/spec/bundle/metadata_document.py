"""A metadata file without its secrets (spec: "Table Metadata Fields").

Each part of the document has a handler that knows what the spec has there. A part that none of them knows, or that is
not as the spec has it, is left out and counted."""

from __future__ import annotations

import datetime
import json
import re
import uuid
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from explorer.model.metadata import PartitionField
from explorer.spec.bundle.ordered_values import family_of
from explorer.spec.bundle.replacements import NUMBER, PARTS, PRIMITIVE, TRANSFORM, Replacements, column_name
from explorer.spec.doctor.table_properties import KNOWN, OF_COLUMNS
from explorer.spec.values.values import EPOCH, readable

JsonHandler = Callable[[Any], Any]
NAME_MAPPING = "schema.name-mapping.default"
PATH_PROPERTIES = ("write.data.path", "write.metadata.path", "write.object-storage.path", "write.folder-storage.path")
WORDS = re.compile(
    r"true|false|none|hash|range|parquet|orc|avro|copy-on-write|merge-on-read|serializable|snapshot|partition|file|"
    r"zstd|snappy|gzip|lz4|brotli|lzo|uncompressed|deflate|full|counts|truncate\(\d{1,9}\)|v1|v2|auto|local|"
    r"distributed|speed|compression",
    re.IGNORECASE,
)
"""Values of Iceberg's own properties that are no secrets, beside numbers."""
_CHANGED = ("data-files", "delete-files", "equality-delete-files", "position-delete-files", "records", "files-size",
            "position-deletes", "equality-deletes", "dvs")  # fmt: skip
SUMMARY_NUMBERS = frozenset(
    {f"{verb}-{what}" for verb in ("added", "deleted", "removed", "total") for what in _CHANGED}
    | {
        "changed-partition-count", "deleted-duplicate-files", "entries-processed", "flink.max-committed-checkpoint-id",
        "manifests-created", "manifests-kept", "manifests-replaced", "partition-summaries-included",
        "replace-partitions", "source-snapshot-id", "spark.sql.streaming.epochId",
    }
)  # fmt: skip
SUMMARY_IDS = {
    "spark.app.id": "application", "app-id": "application", "app-name": "application-name", "wap.id": "wap",
    "published-wap-id": "wap", "flink.job-id": "job", "flink.operator-id": "operator", "trino_query_id": "query",
    "spark.sql.streaming.queryId": "query", "kafka.connect.commit-id": "commit", "kafka.connect.task-id": "task",
}  # fmt: skip
SUMMARY_WORDS = {
    "operation": re.compile("append|replace|overwrite|delete"),
    "engine-name": re.compile("spark|flink|trino|hive|presto|impala|dremio|starrocks|kafka-connect|pyiceberg", re.I),
    "engine-version": re.compile(r"\d{1,4}(\.\d{1,4}){0,3}"),
    "iceberg-version": re.compile(r"Apache Iceberg \d+\.\d+\.\d+(-SNAPSHOT)?( \(commit [0-9a-f]{40}\))?"),
}
GEO = ("geometry", "geography")
KEYS = frozenset({"encryption.key-id"})
"""Properties whose numbers may be secrets."""
BLOBS = "apache-datasketches-theta-v1|deletion-vector-v1"
UNLIKE_SPEC = (KeyError, TypeError, ValueError, AttributeError, OverflowError, RecursionError)
LEFT_OUT = "parts of metadata that are unknown or not as the spec has them, left out"


class MetadataDocument:
    """Writes metadata files anew.

    Args:
        new: What takes the place of what.
    """

    def __init__(self, new: Replacements) -> None:
        self.new = new
        log = {"timestamp-ms": _number, "snapshot-id": _number, "metadata-file": self._path}
        ref = {
            "snapshot-id": _number, "type": _word("branch|tag"), "min-snapshots-to-keep": _number,
            "max-snapshot-age-ms": _number, "max-ref-age-ms": _number,
        }  # fmt: skip
        spec = {"spec-id": _number, "fields": self.partition_fields}
        order = {"order-id": _number, "fields": self._list({
            "transform": self._transform, "source-id": _number, "source-ids": _numbers,
            "direction": _word("asc|desc"), "null-order": _word("nulls-first|nulls-last"),
        })}  # fmt: skip
        snapshot = {
            "snapshot-id": _number, "parent-snapshot-id": _number, "sequence-number": _number, "timestamp-ms": _number,
            "manifest-list": self._path, "manifests": self._each(self._path), "summary": self._summary,
            "schema-id": _number, "first-row-id": _number, "added-rows": _number,
            "key-id": lambda text: self.new.label("key", text),
        }  # fmt: skip
        blob = {
            "type": _word(BLOBS), "snapshot-id": _number, "sequence-number": _number, "fields": _numbers,
            "properties": self._ndv,
        }  # fmt: skip
        statistics = {
            "snapshot-id": _number, "statistics-path": self._path, "file-size-in-bytes": _number,
            "file-footer-size-in-bytes": _number, "blob-metadata": self._list(blob),
        }  # fmt: skip
        self._table: dict[str, JsonHandler] = {
            "format-version": _number, "table-uuid": self._uuid, "location": self._path,
            "last-sequence-number": _number, "last-updated-ms": _number, "last-column-id": _number,
            "schema": self.schema, "schemas": self._each(self.schema), "current-schema-id": _number,
            "partition-spec": self.partition_fields, "partition-specs": self._list(spec), "default-spec-id": _number,
            "last-partition-id": _number, "properties": self._properties, "current-snapshot-id": _number,
            "snapshots": self._list(snapshot), "snapshot-log": self._list(log), "metadata-log": self._list(log),
            "sort-orders": self._list(order), "default-sort-order-id": _number, "refs": self._refs(ref),
            "statistics": self._list(statistics), "partition-statistics": self._list(statistics),
            "next-row-id": _number, "encryption-keys": self._list({"key-id": lambda text: self.new.label("key", text)}),
        }  # fmt: skip

    def table(self, raw: Mapping[str, Any]) -> dict[str, Any]:
        """Write a metadata file's document anew.

        Args:
            raw: The document.

        Returns:
            The document without its secrets, its parts in the same order.
        """
        return self._object(raw, self._table)

    def _object(self, raw: Mapping[str, Any], parts: Mapping[str, JsonHandler]) -> dict[str, Any]:
        new = {}
        for key, value in raw.items():
            try:
                new[key] = None if value is None and key in parts else parts[key](value)
            except UNLIKE_SPEC:
                self.new.counts[LEFT_OUT] += 1
        return new

    def _each(self, handler: JsonHandler) -> JsonHandler:
        def each(values: Any) -> list[Any]:
            new = []
            for value in _as(list, values):
                try:
                    new.append(handler(value))
                except UNLIKE_SPEC:
                    self.new.counts[LEFT_OUT] += 1
            return new

        return each

    def _list(self, parts: Mapping[str, JsonHandler]) -> JsonHandler:
        return self._each(lambda raw: self._object(_as(dict, raw), parts))

    # -- parts --------------------------------------------------------------------------------------------------------
    def _path(self, text: Any) -> str:
        return self.new.path(_as(str, text))

    def _uuid(self, text: Any) -> str:
        return self.new.uuid(_as(str, text))

    def schema(self, raw: Mapping[str, Any]) -> dict[str, Any]:
        """Write a schema anew, whose columns are called by their ids. Raises TypeError and ValueError."""
        kept = {k: _numbers(raw[k]) if k.endswith("ids") else _number(raw[k])
                for k in ("schema-id", "identifier-field-ids") if raw.get(k) is not None}  # fmt: skip
        return {"type": "struct", **kept, "fields": self._fields(raw["fields"])}

    def _fields(self, fields: Any) -> list[dict[str, Any]]:
        new = []
        for field in _as(list, fields):
            self.new.counts["names of columns"] += 1
            self.new.counts["comments, left out"] += "doc" in field
            own = {"id": _number(field["id"]), "name": column_name(_number(field["id"]))}
            own |= {"required": bool(field.get("required")), "type": self._type(field["type"])}
            for key in ("initial-default", "write-default"):
                if field.get(key) is not None:
                    own |= self._object({key: field[key]}, {key: partial(self._default, own["id"], field["type"])})
            new.append(own)
        return new

    def _type(self, kind: Any) -> Any:
        if isinstance(kind, str):
            if PRIMITIVE.fullmatch(kind):
                return kind
            name = kind.partition("(")[0]
            if name not in GEO:
                self.new.counts["types that are unknown here, now `unknown`"] += 1
            return name if name in GEO else "unknown"
        if kind["type"] == "struct":
            return {"type": "struct", "fields": self._fields(kind["fields"])}
        if kind["type"] not in ("list", "map"):
            raise ValueError("no type of the spec")
        new: dict[str, Any] = {"type": kind["type"]}
        for part in PARTS:
            if part in kind:
                new |= {f"{part}-id": _number(kind[f"{part}-id"]), part: self._type(kind[part])}
                if part != "key":
                    new[f"{part}-required"] = bool(kind.get(f"{part}-required"))
        return new

    def _default(self, field_id: int, kind: Any, value: Any) -> Any:
        """A column's default value (spec: "Appendix C", JSON single-value serialization). Raises ValueError."""
        family = family_of(kind)
        if kind == "boolean" or family is None:
            return _as(bool, value)
        if family == "moment":
            moment = datetime.datetime.fromisoformat(value).replace(tzinfo=None)
            days, micros = (moment.date() - EPOCH.date()).days, (moment - EPOCH) // datetime.timedelta(microseconds=1)
            number = days if kind == "date" else micros * 1000 if "_ns" in kind else micros
            text = str(readable(self.new.value(field_id, number, kind), kind)).replace(" ", "T")
            return text.replace("Z", "+00:00")
        if family == "bytes":
            data = uuid.UUID(value).bytes if kind == "uuid" else bytes.fromhex(value)
            new = self.new.value(field_id, data, kind)
            return str(uuid.UUID(bytes=new)) if kind == "uuid" else new.hex()
        if kind.startswith("decimal"):
            digits, _, fraction = _as(str, value).partition(".")
            number = self.new.value(field_id, int(digits + fraction), kind)
            sign, text = "-" * (number < 0), str(abs(number)).rjust(len(fraction) + 1, "0")
            return f"{sign}{text[: -len(fraction)]}.{text[-len(fraction) :]}" if fraction else f"{sign}{text}"
        if kind == "time":
            of_day = datetime.datetime.combine(EPOCH.date(), datetime.time.fromisoformat(value))
            micros = (of_day - EPOCH) // datetime.timedelta(microseconds=1)
            return readable(self.new.value(field_id, micros, kind), kind)
        return self.new.value(field_id, value, kind)

    def partition_fields(self, fields: Any) -> list[dict[str, Any]]:
        """Write the fields of a partition spec anew. Raises TypeError and ValueError."""
        new = []
        for n, field in enumerate(_as(list, fields)):
            number = field.get("field-id", 1000 + n)
            sources = tuple(field.get("source-ids") or [field["source-id"]])
            own = PartitionField(number, field["name"], field["transform"], sources)
            kept = {key: _number(field[key]) for key in ("source-id", "field-id") if key in field}
            kept |= {"source-ids": _numbers(field["source-ids"])} if "source-ids" in field else {}
            self.new.counts["names of partition fields"] += 1
            new.append(kept | {"name": self.new.partition_name(own), "transform": self._transform(own.transform)})
        return new

    def _transform(self, text: Any) -> str:
        return text if TRANSFORM.fullmatch(_as(str, text)) else self.new.label("transform", text)

    def _refs(self, parts: Mapping[str, JsonHandler]) -> JsonHandler:
        def refs(raw: Any) -> dict[str, Any]:
            new = {}
            for name, ref in _as(dict, raw).items():
                kind = ref.get("type") if ref.get("type") in ("branch", "tag") else "ref"
                self.new.counts["names of branches and tags"] += name != "main"
                new["main" if name == "main" else self.new.label(kind, name)] = self._object(ref, parts)
            return new

        return refs

    def _summary(self, raw: Any) -> dict[str, str]:
        new = {}
        for key, value in _as(dict, raw).items():
            word = SUMMARY_WORDS.get(key)
            if key in SUMMARY_NUMBERS and (NUMBER.fullmatch(value) or value in ("true", "false")):
                new[key] = value
            elif key in SUMMARY_IDS or word is not None:
                new[key] = value if word and word.fullmatch(value) else self.new.label(SUMMARY_IDS.get(key, key), value)
                self.new.counts["texts in summaries"] += new[key] != value
            else:
                self.new.counts["keys of summaries, left out"] += 1
        return new

    def _ndv(self, raw: Any) -> dict[str, str]:
        return {key: value for key, value in _as(dict, raw).items() if key == "ndv" and NUMBER.fullmatch(value)}

    def _properties(self, raw: Any) -> dict[str, str]:
        new: dict[str, str] = {}
        for key, value in _as(dict, raw).items():
            name = next((f"{begin}{self.new.columns.get(key[len(begin) :], 'column')}"
                         for begin in OF_COLUMNS if key.startswith(begin)), key)  # fmt: skip
            if key in PATH_PROPERTIES:
                new[key] = self.new.path(value)
            elif key == NAME_MAPPING:
                new[key] = json.dumps(self._mapping(json.loads(value)))
            elif (key in KNOWN - KEYS or name != key) and (NUMBER.fullmatch(value) or WORDS.fullmatch(value)):
                new[name] = value
            else:
                self.new.counts["properties, left out"] += 1
        return new

    def _mapping(self, fields: Any) -> list[dict[str, Any]]:
        """A name mapping: a column's own name becomes its new one, any other name a word."""
        new = []
        for field in _as(list, fields):
            own: dict[str, Any] = {}
            if field.get("field-id") is not None:
                own["field-id"] = _number(field["field-id"])
            known = self.new.metadata.field(field["field-id"]) if own else None
            last = known.name.rpartition(".")[2] if known else None
            own["names"] = [
                name if name in PARTS and name == last
                else column_name(own["field-id"]) if name == last else self.new.label("name", name)
                for name in field.get("names", ())
            ]  # fmt: skip
            if "fields" in field:
                own["fields"] = self._mapping(field["fields"])
            new.append(own)
        return new


def _as(kind: type, value: Any) -> Any:
    if type(value) is not kind:
        raise TypeError(f"no {kind.__name__}")
    return value


def _number(value: Any) -> Any:
    return _as(int, value)


def _numbers(values: Any) -> list[int]:
    return [_number(value) for value in _as(list, values)]


def _word(words: str) -> JsonHandler:
    known = frozenset(words.split("|"))

    def word(value: Any) -> str:
        if value not in known:
            raise ValueError("no word of the spec")
        return str(value)

    return word
