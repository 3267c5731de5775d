"""Parse metadata.json leniently: what is wrong becomes a Problem with a JSON pointer, the rest is kept."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from explorer.errors import UnreadableFile
from explorer.model.metadata import (
    Field,
    MetadataLogEntry,
    PartitionField,
    PartitionSpec,
    Ref,
    Schema,
    Snapshot,
    SnapshotLogEntry,
    SortField,
    SortOrder,
    StatisticsFile,
    TableMetadata,
)
from explorer.model.problem import Problem, Problems, ProblemSeverity
from explorer.progress import check_cancellation
from explorer.spec.doctor.snapshot_rules import walkable
from explorer.spec.schemas.schema_fields import MOST_NAME, MOST_PATH
from explorer.storage import limits
from explorer.storage.formats.json_text import Uncollected, load_json, memory_size
from explorer.storage.formats.puffin import is_blob

T = TypeVar("T")
KNOWN_VERSIONS = (1, 2, 3, 4)
VIEW = "this is the metadata of an Iceberg view, not of a table: icedive catalog views --name PATH shows it"
LONG = 1 << 63
"""Ids, times and sizes are signed 64-bit numbers."""


@dataclass(frozen=True)
class StateHead:
    """What tells the metadata files of a folder apart: the table, when it was updated, and the files before this."""

    table_uuid: str
    last_updated_ms: int
    earlier: tuple[str, ...]


def read_head(data: bytes, path: str) -> StateHead:
    """Read a metadata file's head; what is missing or of another type is empty or -1. Raises UnreadableFile when it is
    no table metadata at all."""
    raw = _load(unpacked(data, path), path, Problems(path))
    uuid, updated, log = raw.get("table-uuid"), raw.get("last-updated-ms"), raw.get("metadata-log")
    entries = [entry for entry in log if isinstance(entry, dict)] if isinstance(log, list) else []
    earlier = tuple(e["metadata-file"] for e in entries if isinstance(e.get("metadata-file"), str))
    last_updated = int(updated) if updated is not None and _is_long(updated) else -1
    return StateHead(uuid if isinstance(uuid, str) else "", last_updated, earlier)


def parse_metadata(data: bytes, path: str) -> tuple[TableMetadata, list[Problem]]:
    """Parse the bytes of a metadata file, gzipped or not. Raises UnreadableFile when it is no table metadata at all."""
    problems = Problems(path)
    text = unpacked(data, path)
    reader = _Reader(_load(text, path, problems), path, problems, memory_size(text))
    with Uncollected():
        return reader.table(), problems.as_list()


def unpacked(data: bytes, path: str) -> bytes:
    """The text of a metadata file, gzipped or not. Raises UnreadableFile."""
    return gunzip(data, path) if data[:2] == b"\x1f\x8b" else data


def _load(text: bytes, path: str, problems: Problems) -> dict[str, Any]:
    raw = load_json(text, path, problems)
    if isinstance(raw, dict) and "view-uuid" in raw:
        raise UnreadableFile(path, f"{VIEW}, which has no snapshots or files")
    if not isinstance(raw, dict) or "format-version" not in raw:
        raise UnreadableFile(path, "this is JSON, but not Iceberg table metadata: it has no `format-version`")
    return raw


def gunzip(data: bytes, path: str) -> bytes:
    """Unpack a metadata file. Raises UnreadableFile, also when it is packed more densely than those that are honest."""
    unpacker, most = zlib.decompressobj(31), limits.unpack_limit_of_metadata(len(data))
    try:
        text = unpacker.decompress(data, most)
    except zlib.error as error:
        raise UnreadableFile(path, f"gzip data is damaged: {error}") from error
    if unpacker.unconsumed_tail:
        fix = f"which is the most that is read here; set {limits.VARIABLE} to more"
        raise UnreadableFile(path, f"its {len(data):,} bytes unpack to more than {most:,}, {fix}")
    if not unpacker.eof:
        raise UnreadableFile(path, f"gzip data is cut off after {len(data)} bytes")
    return text


class _Reader:
    def __init__(self, raw: Mapping[str, Any], path: str, problems: Problems, memory: int) -> None:
        self.raw, self.path, self.problems, self.memory = raw, path, problems, memory

    def problem(
        self, pointer: str, cause: str, severity: ProblemSeverity = "error", rule: str = "metadata-field"
    ) -> None:
        self.problems.add(cause, pointer, "the rest of the metadata is shown", severity, rule)

    def get(self, source: Any, key: str, kind: type[T], pointer: str) -> T | None:
        """source[key] if it is of that kind; absent and null are None; anything else is a problem, and None."""
        value = source.get(key) if isinstance(source, Mapping) else None
        if kind is int and key.endswith("snapshot-id") and type(value) is int and not _is_long(value):
            own = (value + LONG) % (2 * LONG) - LONG
            cause = f"the id {str(value)[:40]} has no place in 64 bits, so other readers refuse it; shown as {own}"
            self.problem(f"{pointer}/{key}", cause, "warning", "id-beyond-64-bits")
            return own  # type: ignore[return-value]
        if value is None or (isinstance(value, kind) and (kind is not int or _is_long(value))):
            return value
        self.problem(f"{pointer}/{key}", f"expected {kind.__name__}, found {json.dumps(value)[:60]}")
        return None

    def one(self, key: str, build: Callable[[Any], T], item: Any) -> Iterable[T]:
        try:
            yield build(item)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            self.problem(f"/{key}", f"unreadable {key}: {error!r}"[:200])

    def snapshot_id(self, source: Any, pointer: str) -> int:
        """The id of a snapshot; one beyond 64 bits, which pyiceberg has written, is cut to them in the same way
        everywhere. Raises KeyError, TypeError."""
        value = self.get(source, "snapshot-id", int, pointer) if type(source["snapshot-id"]) is int else None
        return _long(source["snapshot-id"]) if value is None else value

    def each(self, key: str, build: Callable[[Any, str], T]) -> Iterable[T]:
        for i, item in enumerate(self.get(self.raw, key, list, "") or []):
            check_cancellation()
            pointer = f"/{key}/{i}"
            try:
                yield build(item, pointer)
            except (KeyError, TypeError, ValueError, AttributeError) as error:
                what = f"lacks {error}" if isinstance(error, KeyError) else str(error)
                self.problem(pointer, f"unreadable {key} element: {what}"[:200])

    def table(self) -> TableMetadata:
        raw = self.raw
        version = self.get(raw, "format-version", int, "") or 0
        if version not in KNOWN_VERSIONS:
            self.problem(
                "/format-version",
                f"format version {version} is not known here; what is known of it is shown",
                rule="format-version-unknown",
            )
        schemas = tuple(self.each("schemas", lambda x, _: parse_schema(x)))
        if not schemas and "schema" in raw:  # v1 wrote only `schema`
            schemas = tuple(self.one("schema", parse_schema, raw["schema"]))
        specs = tuple(self.each("partition-specs", lambda x, _: self.spec(x)))
        if not specs and isinstance(raw.get("partition-spec"), list):  # v1, as a bare list of fields
            specs = tuple(self.one("partition-spec", self.spec, {"spec-id": 0, "fields": raw["partition-spec"]}))
        current = self.get(raw, "current-snapshot-id", int, "")
        current = None if current == -1 else current
        snapshots = tuple(self.each("snapshots", self.snapshot))
        refs = tuple(
            self.ref(name, item)
            for name, item in (self.get(raw, "refs", dict, "") or {}).items()
            if self.is_ref(name, item)
        )
        if not refs and current is not None:  # written before refs existed: main is the current snapshot
            refs = (Ref("main", current, "branch", None, None, None, {}),)
        table = TableMetadata(
            metadata_location=self.path,
            format_version=version,
            table_uuid=self.get(raw, "table-uuid", str, ""),
            location=(self.get(raw, "location", str, "") or "").rstrip("/"),
            last_sequence_number=self.get(raw, "last-sequence-number", int, "") or 0,
            last_updated_ms=self.get(raw, "last-updated-ms", int, ""),
            last_column_id=self.get(raw, "last-column-id", int, ""),
            last_partition_id=self.get(raw, "last-partition-id", int, ""),
            next_row_id=self.get(raw, "next-row-id", int, ""),
            current_schema_id=self.get(raw, "current-schema-id", int, "") if "schemas" in raw else 0,
            schemas=schemas,
            default_spec_id=self.get(raw, "default-spec-id", int, "") if "partition-specs" in raw else 0,
            partition_specs=specs,
            default_sort_order_id=self.get(raw, "default-sort-order-id", int, ""),
            sort_orders=tuple(self.each("sort-orders", lambda x, _: self.sort_order(x))),
            properties={str(k): str(v) for k, v in (self.get(raw, "properties", dict, "") or {}).items()},
            current_snapshot_id=current,
            snapshots=snapshots,
            refs=refs,
            snapshot_log=tuple(
                self.each(
                    "snapshot-log", lambda x, p: SnapshotLogEntry(_long(x["timestamp-ms"]), self.snapshot_id(x, p))
                )
            ),
            metadata_log=tuple(
                self.each(
                    "metadata-log", lambda x, _: MetadataLogEntry(_long(x["timestamp-ms"]), _str(x["metadata-file"]))
                )
            ),
            statistics=(
                *self.each("statistics", lambda x, p: self.statistics(x, p, "statistics")),
                *self.each("partition-statistics", lambda x, p: self.statistics(x, p, "partition statistics")),
            ),
            raw=raw,
            memory=self.memory,
        )
        self.check(table)
        return table

    def check(self, table: TableMetadata) -> None:
        """Contradictions that decide whether the tree can be walked at all; the doctor has the long list."""
        if not table.location:
            self.problem("/location", "the table's location is missing", "warning")
        for inner in walkable(table):
            self.problem(inner.location, inner.what, rule=inner.rule)

    def spec(self, raw: Any) -> PartitionSpec:
        fields = []
        for i, item in enumerate(raw["fields"]):
            sources = item["source-ids"] if "source-ids" in item else [item["source-id"]]
            # v1 did not require field ids: they count up from 1000 by position
            ids = tuple(_long(source) for source in sources)
            field_id = _long(item.get("field-id", 1000 + i))
            fields.append(PartitionField(field_id, _name(item["name"]), _str(item["transform"]), ids))
        return PartitionSpec(_long(raw["spec-id"]), tuple(fields), raw)

    def sort_order(self, raw: Any) -> SortOrder:
        fields = tuple(
            SortField(
                _str(f["transform"]),
                tuple(_long(source) for source in f.get("source-ids") or [f["source-id"]]),
                _str(f["direction"]),
                _str(f["null-order"]),
            )
            for f in raw["fields"]
        )
        return SortOrder(_long(raw["order-id"]), fields, raw)

    def snapshot(self, raw: Any, pointer: str) -> Snapshot:
        def number(key: str) -> int | None:
            return self.get(raw, key, int, pointer)

        parent = number("parent-snapshot-id")
        if parent == -1:
            cause = "it is -1: some writers say so of a snapshot without a parent, where the spec has no such field"
            self.problem(f"{pointer}/parent-snapshot-id", cause, "info")
            parent = None
        return Snapshot(
            snapshot_id=self.snapshot_id(raw, pointer),
            parent_snapshot_id=parent,
            sequence_number=number("sequence-number") or 0,
            timestamp_ms=number("timestamp-ms"),
            manifest_list=self.get(raw, "manifest-list", str, pointer),
            manifests=tuple(_str(m) for m in self.get(raw, "manifests", list, pointer) or ()),
            summary={str(k): str(v) for k, v in (self.get(raw, "summary", dict, pointer) or {}).items()},
            schema_id=number("schema-id"),
            first_row_id=number("first-row-id"),
            added_rows=number("added-rows"),
            raw=raw,
        )

    def is_ref(self, name: str, raw: Any) -> bool:
        if len(name) > MOST_NAME:
            self.problem(f"/refs/{name[:50]}…", f"a name has {len(name):,} characters; at most {MOST_NAME:,} are read")
            return False
        if isinstance(raw, Mapping) and type(raw.get("snapshot-id")) is int:
            return True
        self.problem(f"/refs/{name}", "unreadable ref: it has no whole-number `snapshot-id`")
        return False

    def ref(self, name: str, raw: Mapping[str, Any]) -> Ref:
        keep, age, ref_age = (
            self.get(raw, key, int, f"/refs/{name}")
            for key in ("min-snapshots-to-keep", "max-snapshot-age-ms", "max-ref-age-ms")
        )
        return Ref(
            name, self.snapshot_id(raw, f"/refs/{name}"), str(raw.get("type", "branch")), keep, age, ref_age, raw
        )

    def statistics(self, raw: Any, pointer: str, kind: str) -> StatisticsFile:
        path, size = _str(raw["statistics-path"]), self.get(raw, "file-size-in-bytes", int, pointer)
        blobs = self.get(raw, "blob-metadata", list, pointer) or []
        if odd := [n for n, blob in enumerate(blobs) if not is_blob(blob)]:
            self.problem(f"{pointer}/blob-metadata/{odd[0]}", "unreadable blob: its type, fields or properties")
        own = tuple(blob for blob in blobs if is_blob(blob))
        return StatisticsFile(self.snapshot_id(raw, pointer), path, size, own, kind, raw)


def parse_schema(raw: Any) -> Schema:
    """A schema's JSON. Raises KeyError, TypeError, ValueError, AttributeError."""
    by_id: dict[int, Field] = {}

    def walk(fields: list[Any], prefix: str) -> list[Field]:
        parsed = []
        for item in fields:
            name, doc = _path(prefix + _str(item["name"])), item.get("doc")
            kind, required = _type(item["type"]), bool(item.get("required"))
            parsed.append(Field(_long(item["id"]), name, kind, required, None if doc is None else _str(doc)))
            by_id[parsed[-1].id] = parsed[-1]
            walk_inside(item["type"], name + ".")
        return parsed

    def walk_inside(kind: Any, prefix: str) -> None:
        if not isinstance(kind, Mapping):
            return
        if kind.get("type") == "struct":
            walk(kind["fields"], prefix)
        for part in ("element", "key", "value"):
            if f"{part}-id" in kind:
                member, required = _long(kind[f"{part}-id"]), bool(kind.get(f"{part}-required", part == "key"))
                by_id[member] = Field(member, _path(prefix + part), _type(kind[part]), required)
                walk_inside(kind[part], f"{prefix}{part}.")

    fields = tuple(walk(raw["fields"], ""))
    identifiers = tuple(_long(i) for i in raw.get("identifier-field-ids") or ())
    return Schema(_long(raw.get("schema-id", 0)), fields, by_id, identifiers, raw)


def _is_long(value: Any) -> bool:
    return type(value) is int and -LONG <= value < LONG


def _long(value: Any) -> int:
    if not _is_long(value):
        raise TypeError(f"expected a 64-bit number, found {json.dumps(value)[:60]}")
    return int(value)


def _str(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"expected text, found {json.dumps(value)[:60]}")
    return value


def _name(value: Any) -> str:
    return _short(_str(value), MOST_NAME, "a name")


def _path(path: str) -> str:
    return _short(path, MOST_PATH, "the path of a column")


def _short(text: str, most: int, what: str) -> str:
    if len(text) > most:
        raise ValueError(f"{what} has {len(text):,} characters; at most {most:,} are read")
    return text


def _type(value: Any) -> Any:
    """A type's JSON: a name, or an object."""
    if not isinstance(value, (str, Mapping)):
        raise TypeError(f"expected a type, found {json.dumps(value)[:60]}")
    return value
