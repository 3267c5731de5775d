"""Parse metadata.json leniently: what is wrong becomes a Problem with a JSON pointer, the rest is kept."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from explorer.errors import UnreadableFile
from explorer.model.metadata import (
    Field,
    MetadataLogEntry,
    PartitionField,
    PartitionSpec,
    Schema,
    Snapshot,
    SnapshotLogEntry,
    SnapshotRef,
    SortField,
    SortOrder,
    StatisticsFile,
    TableMetadata,
)
from explorer.model.problem import Problem

T = TypeVar("T")
KNOWN_VERSIONS = (1, 2, 3)
MAX_METADATA_BYTES = 1 << 30


def parse_metadata(data: bytes, path: str) -> tuple[TableMetadata, list[Problem]]:
    """Parse the bytes of a metadata file, gzipped or not. Raises UnreadableFile when it is no table metadata at all."""
    text = _gunzip(data, path) if data[:2] == b"\x1f\x8b" else data
    problems: list[Problem] = []
    raw = _load_json(text, path, problems)
    if not isinstance(raw, dict) or "format-version" not in raw:
        raise UnreadableFile(path, "this is JSON, but not Iceberg table metadata: it has no `format-version`")
    reader = _Reader(raw, path, problems)
    return reader.table(), problems


def _gunzip(data: bytes, path: str) -> bytes:
    unpacker = zlib.decompressobj(31)
    try:
        text = unpacker.decompress(data, MAX_METADATA_BYTES)
    except zlib.error as error:
        raise UnreadableFile(path, f"gzip data is damaged: {error}") from error
    if unpacker.unconsumed_tail:
        raise UnreadableFile(path, f"unpacks to more than {MAX_METADATA_BYTES} bytes")
    if not unpacker.eof:
        raise UnreadableFile(path, f"gzip data is cut off after {len(data)} bytes")
    return text


def _load_json(text: bytes, path: str, problems: list[Problem]) -> Any:
    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        names = [name for name, _ in items]
        for name in sorted({n for n in names if names.count(n) > 1}) if len(set(names)) < len(names) else ():
            problems.append(Problem(path, f"the key {name!r} appears twice in one object; the last value is shown"))
        return dict(items)

    try:
        return json.loads(text, object_pairs_hook=pairs)
    except (json.JSONDecodeError, UnicodeDecodeError, RecursionError) as error:
        start = text[:12].decode("utf-8", "replace")
        raise UnreadableFile(path, f"not JSON ({error}); it starts with {start!r} and has {len(text)} bytes") from error


class _Reader:
    def __init__(self, raw: Mapping[str, Any], path: str, problems: list[Problem]) -> None:
        self.raw, self.path, self.problems = raw, path, problems

    def problem(self, pointer: str, cause: str, severity: str = "error") -> None:
        self.problems.append(Problem(self.path, cause, pointer, "the rest of the metadata is shown", severity))

    def get(self, source: Any, key: str, kind: type[T], pointer: str) -> T | None:
        """source[key] if it is of that kind; absent and null are None; anything else is a problem, and None."""
        value = source.get(key) if isinstance(source, Mapping) else None
        if value is None or (isinstance(value, kind) and not (kind is int and isinstance(value, bool))):
            return value
        self.problem(f"{pointer}/{key}", f"expected {kind.__name__}, found {json.dumps(value)[:60]}")
        return None

    def each(self, key: str, build: Callable[[Any, str], T]) -> Iterable[T]:
        for i, item in enumerate(self.get(self.raw, key, list, "") or []):
            pointer = f"/{key}/{i}"
            try:
                yield build(item, pointer)
            except (KeyError, TypeError, ValueError, AttributeError) as error:
                what = f"lacks {error}" if isinstance(error, KeyError) else str(error)
                self.problem(pointer, f"unreadable {key} element: {what}")

    def table(self) -> TableMetadata:
        raw = self.raw
        version = self.get(raw, "format-version", int, "") or 0
        if version not in KNOWN_VERSIONS:
            self.problem("/format-version", f"format version {version} is not known here; what is known of it is shown")
        schemas = tuple(self.each("schemas", lambda x, _: self.schema(x)))
        if not schemas and "schema" in raw:  # v1 wrote only `schema`
            schemas = (self.schema(raw["schema"]),)
        specs = tuple(self.each("partition-specs", lambda x, _: self.spec(x)))
        if not specs and isinstance(raw.get("partition-spec"), list):  # v1, as a bare list of fields
            specs = (self.spec({"spec-id": 0, "fields": raw["partition-spec"]}),)
        current = self.get(raw, "current-snapshot-id", int, "")
        current = None if current == -1 else current
        snapshots = tuple(self.each("snapshots", self.snapshot))
        refs = tuple(
            self.ref(name, item)
            for name, item in (self.get(raw, "refs", dict, "") or {}).items()
            if self.is_ref(name, item)
        )
        if not refs and current is not None:  # written before refs existed: main is the current snapshot
            refs = (SnapshotRef("main", current, "branch", None, None, None, {}),)
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
                self.each("snapshot-log", lambda x, _: SnapshotLogEntry(int(x["timestamp-ms"]), int(x["snapshot-id"])))
            ),
            metadata_log=tuple(
                self.each(
                    "metadata-log", lambda x, _: MetadataLogEntry(int(x["timestamp-ms"]), str(x["metadata-file"]))
                )
            ),
            statistics=(
                *self.each("statistics", lambda x, p: self.statistics(x, p, "statistics")),
                *self.each("partition-statistics", lambda x, p: self.statistics(x, p, "partition statistics")),
            ),
            raw=raw,
        )
        self.check(table)
        return table

    def check(self, table: TableMetadata) -> None:
        """Contradictions that decide whether the tree can be walked at all; the doctor has the long list."""
        if not table.location:
            self.problem("/location", "the table's location is missing", "warning")
        if table.schema(table.current_schema_id) is None:
            self.problem("/current-schema-id", f"schema {table.current_schema_id} is not in `schemas`")
        if table.current_snapshot_id is not None and table.current_snapshot is None:
            self.problem("/current-snapshot-id", f"snapshot {table.current_snapshot_id} is not in `snapshots`")
        for ref in table.refs:
            if table.snapshot(ref.snapshot_id) is None:
                self.problem(f"/refs/{ref.name}", f"points to snapshot {ref.snapshot_id}, which is not in `snapshots`")
        parents = {s.snapshot_id: s.parent_snapshot_id for s in table.snapshots}
        settled: set[int] = set()
        for start in parents:
            walk: list[int] = []
            at: int | None = start
            while at in parents and at not in settled and at not in walk:
                walk.append(at)
                at = parents[at]
            if at in walk:
                chain = " -> ".join(map(str, [*walk[walk.index(at) :], at]))
                self.problem("/snapshots", f"the parents of snapshot {start} run in a circle: {chain}")
            settled.update(walk)

    def schema(self, raw: Any) -> Schema:
        by_id: dict[int, Field] = {}

        def walk(fields: list[Any], prefix: str) -> list[Field]:
            found = []
            for item in fields:
                name = prefix + str(item["name"])
                found.append(Field(int(item["id"]), name, item["type"], bool(item.get("required")), item.get("doc")))
                by_id[found[-1].id] = found[-1]
                nested(item["type"], name + ".")
            return found

        def nested(kind: Any, prefix: str) -> None:
            if not isinstance(kind, Mapping):
                return
            if kind.get("type") == "struct":
                walk(kind["fields"], prefix)
            for part in ("element", "key", "value"):
                if f"{part}-id" in kind:
                    member = int(kind[f"{part}-id"])
                    by_id[member] = Field(
                        member, prefix + part, kind[part], bool(kind.get(f"{part}-required", part == "key"))
                    )
                    nested(kind[part], f"{prefix}{part}.")

        fields = tuple(walk(raw["fields"], ""))
        return Schema(int(raw.get("schema-id", 0)), fields, by_id, tuple(raw.get("identifier-field-ids") or ()), raw)

    def spec(self, raw: Any) -> PartitionSpec:
        fields = []
        for i, item in enumerate(raw["fields"]):
            sources = item["source-ids"] if "source-ids" in item else [item["source-id"]]
            # v1 did not require field ids: they count up from 1000 by position
            fields.append(
                PartitionField(int(item.get("field-id", 1000 + i)), item["name"], item["transform"], tuple(sources))
            )
        return PartitionSpec(int(raw["spec-id"]), tuple(fields), raw)

    def sort_order(self, raw: Any) -> SortOrder:
        fields = tuple(
            SortField(f["transform"], tuple(f.get("source-ids") or [f["source-id"]]), f["direction"], f["null-order"])
            for f in raw["fields"]
        )
        return SortOrder(int(raw["order-id"]), fields, raw)

    def snapshot(self, raw: Any, pointer: str) -> Snapshot:
        def number(key: str) -> int | None:
            return self.get(raw, key, int, pointer)

        return Snapshot(
            snapshot_id=int(raw["snapshot-id"]),
            parent_snapshot_id=number("parent-snapshot-id"),
            sequence_number=number("sequence-number") or 0,
            timestamp_ms=number("timestamp-ms"),
            manifest_list=self.get(raw, "manifest-list", str, pointer),
            manifests=tuple(self.get(raw, "manifests", list, pointer) or ()),
            summary={str(k): str(v) for k, v in (self.get(raw, "summary", dict, pointer) or {}).items()},
            schema_id=number("schema-id"),
            first_row_id=number("first-row-id"),
            added_rows=number("added-rows"),
            raw=raw,
        )

    def is_ref(self, name: str, raw: Any) -> bool:
        if isinstance(raw, Mapping) and isinstance(raw.get("snapshot-id"), int):
            return True
        self.problem(f"/refs/{name}", "unreadable ref: it has no whole-number `snapshot-id`")
        return False

    def ref(self, name: str, raw: Mapping[str, Any]) -> SnapshotRef:
        ages = (raw.get("min-snapshots-to-keep"), raw.get("max-snapshot-age-ms"), raw.get("max-ref-age-ms"))
        return SnapshotRef(name, raw["snapshot-id"], str(raw.get("type", "branch")), *ages, raw)

    def statistics(self, raw: Any, pointer: str, kind: str) -> StatisticsFile:
        path, size = str(raw["statistics-path"]), self.get(raw, "file-size-in-bytes", int, pointer)
        return StatisticsFile(int(raw["snapshot-id"]), path, size, tuple(raw.get("blob-metadata") or ()), kind, raw)
