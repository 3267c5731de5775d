"""A table at a glance: what it is, what it holds, and how it came to be so. Made of the metadata file and one manifest
list; whatever takes more is added where it is cheap."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from explorer.model.manifest import FileKind, ManifestFile
from explorer.model.metadata import PartitionField, PartitionSpec, Snapshot, SortField, SortOrder, TableMetadata
from explorer.spec.health.measures import Bars, Tile
from explorer.spec.overview.requirements import requirements
from explorer.spec.overview.summary_totals import totals
from explorer.spec.snapshots.lineage import LineageEntry, LogEntry, ancestry, current_log, lineage
from explorer.spec.snapshots.snapshot_names import without_current
from explorer.spec.text.names import first_named, snapshot_name, snapshot_ordinals
from explorer.spec.text.units import count, whole

_ADDED = {
    "rows": (("added-records",), ("deleted-records",)),
    "files": (("added-data-files", "added-delete-files"), ("deleted-data-files", "removed-delete-files")),
    "bytes": (("added-files-size",), ("removed-files-size",)),
}
AMOUNTS = tuple(_ADDED)
BRANCHES = 12
"""So many branches are compared with main."""


@dataclass(frozen=True)
class SnapshotCounts:
    """A snapshot in time. `added` and `removed` are rows, data and delete files, and bytes, as its summary counts them:
    None where it has no counts."""

    entry: LineageEntry
    added: Mapping[str, int | None]
    removed: Mapping[str, int | None]


@dataclass(frozen=True)
class SchemaColumn:
    """A column of the current schema: its type in words."""

    id: int
    name: str
    type: str
    required: bool
    doc: str


@dataclass(frozen=True)
class Assessment:
    """What is told of the current snapshot where all of its metadata is read: health and doctor in a sentence each,
    data files by size, partitions by bytes. Without a `doctor_level` it was not asked, and `doctor` says why."""

    health: str
    health_level: str
    doctor: str
    doctor_level: str
    sizes: Bars | None
    tiles: tuple[Tile, ...]


@dataclass(frozen=True)
class Overview:
    """A table as of one snapshot, `is_current` or not. Rows are `rows_recorded` in its summary, which ignores deletes,
    `rows_listed` in the data files of its manifest list, and `rows_counted` as readers see them: None where a summary
    or list is silent, or counting would read much. `delete_files` are told by kind where their manifests are read.
    `readers_need` is what not every reader knows (spec.overview.requirements).
    `catalog` is empty for a table that was opened by its path, `judged` None where it would read much."""

    table: str
    catalog: str
    location: str
    metadata_file: str
    format_version: int
    snapshot_id: int | None
    snapshot: str
    is_current: bool
    operation: str
    timestamp_ms: int | None
    age_ms: int | None
    refs: tuple[str, ...]
    rows_recorded: int | None
    rows_listed: int | None
    rows_counted: int | None
    data_files: int | None
    delete_files: int | None
    deletes: Mapping[FileKind, int] | None
    bytes: int | None
    columns: tuple[SchemaColumn, ...]
    schema_id: int | None
    schemas: int
    partitioned_by: str
    spec_id: int | None
    specs: int
    sorted_by: str
    order_id: int | None
    orders: int
    moments: tuple[SnapshotCounts, ...]
    log: tuple[LogEntry, ...]
    readers_need: tuple[str, ...] = ()
    judged: Assessment | None = None


def _ref_words(metadata: TableMetadata, ordinals: dict[int, int]) -> tuple[str, ...]:
    """Each branch and tag, where it points, and how far the first branches are ahead of main and behind it."""
    compared = [ref for ref in metadata.refs if ref.type == "branch" and ref.name != "main"][:BRANCHES]
    main = set(ancestry(metadata, metadata.current_snapshot_id)) if compared else set()
    notes = {ref.name: _distance(set(ancestry(metadata, ref.snapshot_id)), main) for ref in compared if main}
    return tuple(
        f"{ref.type} {ref.name}: {snapshot_name(ref.snapshot_id, ordinals)}{notes.get(ref.name, '')}"
        for ref in metadata.refs
    )


def _distance(branch: set[int], main: set[int]) -> str:
    """How many snapshots a branch has that main lacks, and the other way round; nothing where they are alike."""
    ahead, behind = len(branch - main), len(main - branch)
    parts = [
        f"{ahead:,} ahead of main" if ahead else "",
        f"{behind:,} behind {'it' if ahead else 'main'}" if behind else "",
    ]
    return f" ({', '.join(filter(None, parts))})" if ahead or behind else ""


def overview_of(
    table: str, catalog: str, metadata: TableMetadata, snapshot: Snapshot | None, listed: Sequence[ManifestFile],
    now_ms: int,
) -> Overview:  # fmt: skip
    """What the metadata file and a snapshot's manifest list tell."""
    ordinals = snapshot_ordinals(metadata)
    schema, spec = metadata.schema(metadata.current_schema_id), metadata.spec(metadata.default_spec_id)
    order = next((o for o in metadata.sort_orders if o.order_id == metadata.default_sort_order_id), None)
    totals_by_name = {t.name: t for t in totals(snapshot.summary, listed)} if snapshot else {}
    records = totals_by_name.get("total-records")
    data, deletes = (
        (totals_by_name[n].computed if n in totals_by_name else 0) for n in ("total-data-files", "total-delete-files")
    )
    rows = records.computed if records else 0
    by_id = {s.snapshot_id: s for s in metadata.snapshots}
    return Overview(
        table=table,
        catalog=catalog,
        location=metadata.stored_location,
        metadata_file=metadata.metadata_location,
        format_version=metadata.format_version,
        snapshot_id=snapshot.snapshot_id if snapshot else None,
        snapshot=snapshot_name(snapshot.snapshot_id, ordinals) if snapshot else _none(metadata),
        is_current=(snapshot.snapshot_id if snapshot else None) == metadata.current_snapshot_id,
        operation=(snapshot.operation or "unknown operation") if snapshot else "",
        timestamp_ms=snapshot.timestamp_ms if snapshot else None,
        age_ms=now_ms - snapshot.timestamp_ms if snapshot and snapshot.timestamp_ms is not None else None,
        refs=_ref_words(metadata, ordinals),
        rows_recorded=records.summary if records else 0,
        rows_listed=rows,
        rows_counted=rows if deletes == 0 else None,
        data_files=data,
        delete_files=deletes,
        deletes={} if deletes == 0 else None,
        bytes=whole(snapshot.summary.get("total-files-size")) if snapshot else 0,
        columns=tuple(SchemaColumn(f.id, f.name, type_words(f.type), f.required, f.doc or "") for f in schema.fields)
        if schema
        else (),
        schema_id=metadata.current_schema_id,
        schemas=len(metadata.schemas),
        partitioned_by=spec_words(spec, metadata),
        spec_id=metadata.default_spec_id,
        specs=len(metadata.partition_specs),
        sorted_by=order_words(order, metadata),
        order_id=metadata.default_sort_order_id,
        orders=len(metadata.sort_orders),
        moments=tuple(_moment(entry, by_id[entry.snapshot_id].summary) for entry in lineage(metadata)),
        log=tuple(current_log(metadata)),
        readers_need=tuple(requirements(metadata, listed, () if deletes == 0 else None)),
    )


def _none(metadata: TableMetadata) -> str:
    """What a table is told as of that has no current snapshot."""
    return "no current snapshot" if without_current(metadata) else "no snapshot"


def _moment(entry: LineageEntry, summary: Mapping[str, str]) -> SnapshotCounts:
    sides: tuple[dict[str, int | None], dict[str, int | None]] = ({}, {})
    for what, names in _ADDED.items():
        amounts = [[n for name in some if (n := whole(summary.get(name))) is not None] for some in names]
        silent = not any(amounts) and not any(name.startswith("total-") for name in summary)
        for side, numbers in zip(sides, amounts, strict=True):
            side[what] = None if silent else sum(numbers)
    return SnapshotCounts(entry, *sides)


def type_words(kind: Any) -> str:
    """A type of the spec's JSON in words: `list of string`."""
    if isinstance(kind, str):
        return kind
    parts = kind if isinstance(kind, Mapping) else {}
    if parts.get("type") == "list":
        return f"list of {type_words(parts.get('element'))}"
    if parts.get("type") == "map":
        return f"map of {type_words(parts.get('key'))} to {type_words(parts.get('value'))}"
    if parts.get("type") == "struct" and isinstance(parts.get("fields"), list):
        return f"struct of {count(len(parts['fields']), 'field')}"
    return "unknown type"


_WORDS = {"identity": "{}", "void": "nothing (void of {})", "year": "year of {}", "month": "month of {}",
          "day": "day of {}", "hour": "hour of {}"}  # fmt: skip


def transform_words(transform: str, source: str) -> str:
    """A transform of a column in words (spec: "Partition Transforms")."""
    if match := re.fullmatch(r"(bucket|truncate)\[(\d{1,10})\]", transform):
        kind, width = match.groups()
        return f"{source} hashed into {int(width):,} buckets" if kind == "bucket" else f"{source} cut to {int(width):,}"
    return _WORDS.get(transform, f"{transform} of {{}}").replace("{}", source)


def _source(ids: Sequence[int], metadata: TableMetadata) -> str:
    def name(field_id: int) -> str:
        field = metadata.field(field_id)
        return field.name if field else f"field {field_id}, which is gone"

    return first_named(ids, name, between=" and ") or "no field"


def spec_words(spec: PartitionSpec | None, metadata: TableMetadata) -> str:
    """A partition spec in words; `not partitioned` without fields."""

    def words(field: PartitionField) -> str:
        return transform_words(field.transform, _source(field.source_ids, metadata))

    return first_named(spec.fields if spec else (), words, between="; ") or "not partitioned"


def order_words(order: SortOrder | None, metadata: TableMetadata) -> str:
    """A sort order in words; `not sorted` without fields."""
    ways = {"asc": "ascending", "desc": "descending", "nulls-first": "nulls first", "nulls-last": "nulls last"}

    def word(text: str) -> str:
        return ways.get(text, text)

    def words(field: SortField) -> str:
        source = transform_words(field.transform, _source(field.source_ids, metadata))
        return f"{source}, {word(field.direction)}, {word(field.null_order)}"

    return first_named(order.fields if order else (), words, between="; ") or "not sorted"
