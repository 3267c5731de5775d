"""Table metadata (spec: "Table Metadata Fields"). Every object keeps `raw`, the JSON it came from, so no unknown field
is lost. A field that is absent or unreadable is None, never a made-up default, unless the spec gives the default."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

Json = Mapping[str, Any]


@dataclass(frozen=True)
class Field:
    """A schema field, flattened: `name` is the dotted path from the root, `type` the spec's JSON type."""

    id: int
    name: str
    type: Any
    required: bool
    doc: str | None = None


@dataclass(frozen=True)
class Schema:
    """A schema; `fields` are the top-level ones, `by_id` holds nested ones, list elements and map keys and values
    too."""

    schema_id: int
    fields: tuple[Field, ...]
    by_id: Mapping[int, Field]
    identifier_field_ids: tuple[int, ...]
    raw: Json = field(repr=False)


@dataclass(frozen=True)
class PartitionField:
    """A partition field: `source_ids` has several only for multi-argument transforms (v3)."""

    field_id: int
    name: str
    transform: str
    source_ids: tuple[int, ...]


@dataclass(frozen=True)
class PartitionSpec:
    """A partition spec; no fields means unpartitioned."""

    spec_id: int
    fields: tuple[PartitionField, ...]
    raw: Json = field(repr=False)


@dataclass(frozen=True)
class SortField:
    """A sort field (spec: "Sorting")."""

    transform: str
    source_ids: tuple[int, ...]
    direction: str
    null_order: str


@dataclass(frozen=True)
class SortOrder:
    """A sort order; id 0 is unsorted."""

    order_id: int
    fields: tuple[SortField, ...]
    raw: Json = field(repr=False)


@dataclass(frozen=True)
class Snapshot:
    """A snapshot (spec: "Snapshots"). `manifests` is v1's inline list of manifest paths, used when there is no
    `manifest_list`. v1 has no sequence numbers: the spec reads them as 0."""

    snapshot_id: int
    parent_snapshot_id: int | None
    sequence_number: int
    timestamp_ms: int | None
    manifest_list: str | None
    manifests: tuple[str, ...]
    summary: Mapping[str, str]
    schema_id: int | None
    first_row_id: int | None
    added_rows: int | None
    raw: Json = field(repr=False)

    @property
    def operation(self) -> str | None:
        """append, replace, overwrite or delete; None where the summary is missing (optional in v1)."""
        return self.summary.get("operation")


@dataclass(frozen=True)
class Ref:
    """A branch or tag (spec: "Snapshot References")."""

    name: str
    snapshot_id: int
    type: str
    min_snapshots_to_keep: int | None
    max_snapshot_age_ms: int | None
    max_ref_age_ms: int | None
    raw: Json = field(repr=False)


@dataclass(frozen=True)
class SnapshotLogEntry:
    """What became current when. Ids repeat after a rollback."""

    timestamp_ms: int
    snapshot_id: int


@dataclass(frozen=True)
class MetadataLogEntry:
    """A *previous* metadata file; the current one is not in its own log."""

    timestamp_ms: int
    metadata_file: str


@dataclass(frozen=True)
class StatisticsFile:
    """A Puffin statistics file, or a partition statistics file (`blob_metadata` is then empty)."""

    snapshot_id: int
    path: str
    file_size_in_bytes: int | None
    blob_metadata: tuple[Json, ...]
    kind: str
    raw: Json = field(repr=False)


@dataclass(frozen=True)
class TableMetadata:
    """One metadata file. `location` is where the table says it lives; `metadata_location` is the file that was read."""

    metadata_location: str
    format_version: int
    table_uuid: str | None
    location: str
    last_sequence_number: int
    last_updated_ms: int | None
    last_column_id: int | None
    last_partition_id: int | None
    next_row_id: int | None
    current_schema_id: int | None
    schemas: tuple[Schema, ...]
    default_spec_id: int | None
    partition_specs: tuple[PartitionSpec, ...]
    default_sort_order_id: int | None
    sort_orders: tuple[SortOrder, ...]
    properties: Mapping[str, str]
    current_snapshot_id: int | None
    snapshots: tuple[Snapshot, ...]
    refs: tuple[Ref, ...]
    snapshot_log: tuple[SnapshotLogEntry, ...]
    metadata_log: tuple[MetadataLogEntry, ...]
    statistics: tuple[StatisticsFile, ...]
    raw: Json = field(repr=False)
    memory: int = field(default=0, repr=False, compare=False)
    """Bytes of memory that its objects take at most."""

    @property
    def stored_location(self) -> str:
        """`location` as the file has it: with a slash at its end, if it has one there."""
        return str(self.raw.get("location") or "")

    def snapshot(self, snapshot_id: int | None) -> Snapshot | None:
        """The snapshot with that id, or None (expired, or never there)."""
        return self._by_id.get(snapshot_id)

    @cached_property
    def _by_id(self) -> dict[int | None, Snapshot]:
        return {s.snapshot_id: s for s in reversed(self.snapshots)}  # of two with one id, the first

    @cached_property
    def ordinals(self) -> dict[int, int]:
        """Snapshot id to 1, 2, 3... in the order of sequence numbers (v1: of the metadata file). Of two with one id
        that of the snapshot which is taken for both."""
        numbered = enumerate(self.by_number, 1)
        return {s.snapshot_id: number for number, s in numbered if self._by_id[s.snapshot_id] is s}

    @cached_property
    def by_number(self) -> tuple[Snapshot, ...]:
        """The snapshots in the order of their numbers."""
        return tuple(sorted(self.snapshots, key=lambda snapshot: snapshot.sequence_number))

    @property
    def current_snapshot(self) -> Snapshot | None:
        """The snapshot that `main` reads; None for an empty table."""
        return self.snapshot(self.current_snapshot_id)

    def schema(self, schema_id: int | None) -> Schema | None:
        """The schema with that id, or None."""
        return self._schemas_by_id.get(schema_id)

    def spec(self, spec_id: int | None) -> PartitionSpec | None:
        """The partition spec with that id, or None."""
        return self._specs_by_id.get(spec_id)

    def sort_order(self, order_id: int | None) -> SortOrder | None:
        """The sort order with that id, or None."""
        return self._orders_by_id.get(order_id)

    def field(self, field_id: int) -> Field | None:
        """The newest schema's idea of a field id: the current schema first, then the others, newest first."""
        return self._fields_by_id.get(field_id)

    @cached_property
    def _schemas_by_id(self) -> dict[int | None, Schema]:
        return {s.schema_id: s for s in reversed(self.schemas)}

    @cached_property
    def _specs_by_id(self) -> dict[int | None, PartitionSpec]:
        return {s.spec_id: s for s in reversed(self.partition_specs)}

    @cached_property
    def _orders_by_id(self) -> dict[int | None, SortOrder]:
        return {o.order_id: o for o in reversed(self.sort_orders)}

    @cached_property
    def _fields_by_id(self) -> dict[int, Field]:
        def age(schema: Schema) -> tuple[bool, int]:
            return schema.schema_id == self.current_schema_id, schema.schema_id

        fields: dict[int, Field] = {}
        for schema in sorted(self.schemas, key=age, reverse=True):
            for field_id, own_field in schema.by_id.items():
                fields.setdefault(field_id, own_field)
        return fields
