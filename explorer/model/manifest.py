"""Manifest lists and manifests (spec: "Manifest Lists", "Manifests")."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import pyarrow as pa

STATUS = {0: "EXISTING", 1: "ADDED", 2: "DELETED"}
MANIFEST_CONTENT = {0: "data", 1: "deletes"}
FILE_CONTENT = {0: "data", 1: "position deletes", 2: "equality deletes"}


ManifestKind = Literal["data_manifest", "delete_manifest"]
FileKind = Literal["data_file", "position_deletes", "equality_deletes", "deletion_vector"]


def file_kind(content: int, file_format: str) -> FileKind:
    """What an entry's file is: data_file, position_deletes, equality_deletes, or deletion_vector, which is content 1 in
    Puffin format (spec: "Data File Fields")."""
    if content == 1:
        return "deletion_vector" if file_format.lower() == "puffin" else "position_deletes"
    return "equality_deletes" if content == 2 else "data_file"


class FieldSummary(NamedTuple):
    """A partition field's summary in the manifest list; the bounds are still serialized (spec: "Appendix D")."""

    contains_null: bool
    contains_nan: bool | None
    lower_bound: bytes | None
    upper_bound: bytes | None


@dataclass(frozen=True)
class ManifestFile:
    """One record of a manifest list. A count that is None is unknown (v1), and must be taken as non-zero."""

    manifest_path: str
    manifest_length: int | None
    partition_spec_id: int
    content: int
    sequence_number: int
    min_sequence_number: int
    added_snapshot_id: int | None
    added_files_count: int | None
    existing_files_count: int | None
    deleted_files_count: int | None
    added_rows_count: int | None
    existing_rows_count: int | None
    deleted_rows_count: int | None
    partitions: tuple[FieldSummary, ...] | None
    key_metadata: bytes | None
    first_row_id: int | None
    raw: Mapping[str, Any] = field(repr=False)

    @property
    def kind(self) -> ManifestKind:
        """What it lists: `content` 0 is data files, all else delete files."""
        return "delete_manifest" if self.content else "data_manifest"

    @property
    def counts_no_live(self) -> bool:
        """Whether its counts say that no file in it is live: Iceberg Java does not open it then, and its next commit
        that merges manifests leaves it out."""
        return all(number is not None and number <= 0 for number in (self.added_files_count, self.existing_files_count))

    @property
    def is_only_deleted(self) -> bool:
        """Whether it lists only files that are gone, as its counts say."""
        return self.added_files_count == 0 and self.existing_files_count == 0 and bool(self.deleted_files_count)


@dataclass(frozen=True)
class ManifestHeader:
    """The Avro header of a manifest: the writer schema's JSON and the key-value metadata, as text."""

    codec: str
    schema: Any = field(repr=False)
    metadata: Mapping[str, str] = field(repr=False)


_LONG_MAP = pa.map_(pa.int32(), pa.int64())
_BYTES_MAP = pa.map_(pa.int32(), pa.binary())

NARROW_FIELDS = [
    pa.field("status", pa.int32()),
    pa.field("snapshot_id", pa.int64()),
    pa.field("sequence_number", pa.int64()),
    pa.field("file_sequence_number", pa.int64()),
    pa.field("content", pa.int32()),
    pa.field("file_path", pa.string()),
    pa.field("file_format", pa.string()),
    pa.field("record_count", pa.int64()),
    pa.field("file_size_in_bytes", pa.int64()),
    pa.field("split_offsets", pa.list_(pa.int64())),
    pa.field("equality_ids", pa.list_(pa.int32())),
    pa.field("sort_order_id", pa.int32()),
    pa.field("first_row_id", pa.int64()),
    pa.field("referenced_data_file", pa.string()),
    pa.field("content_offset", pa.int64()),
    pa.field("content_size_in_bytes", pa.int64()),
]
METRIC_FIELDS = [
    pa.field("key_metadata", pa.binary()),
    pa.field("column_sizes", _LONG_MAP),
    pa.field("value_counts", _LONG_MAP),
    pa.field("null_value_counts", _LONG_MAP),
    pa.field("nan_value_counts", _LONG_MAP),
    pa.field("lower_bounds", _BYTES_MAP),
    pa.field("upper_bounds", _BYTES_MAP),
]
ENTRY_SCHEMA = pa.schema([*NARROW_FIELDS, *METRIC_FIELDS])
"""The Arrow schema of stored entries, under the spec's names, with `data_file` flattened. `status`, `snapshot_id`,
`sequence_number` (the *data* sequence number) and `file_sequence_number` are as stored: null where null. A decoded
manifest has one more column, `partition`, a struct whose fields follow that manifest's own partition spec."""
FIELD_IDS = {
    "status": 0, "snapshot_id": 1, "sequence_number": 3, "file_sequence_number": 4, "content": 134, "file_path": 100,
    "file_format": 101, "partition": 102, "record_count": 103, "file_size_in_bytes": 104, "column_sizes": 108,
    "value_counts": 109, "null_value_counts": 110, "nan_value_counts": 137, "lower_bounds": 125, "upper_bounds": 128,
    "key_metadata": 131, "split_offsets": 132, "equality_ids": 135, "sort_order_id": 140, "first_row_id": 142,
    "referenced_data_file": 143, "content_offset": 144, "content_size_in_bytes": 145,
}  # fmt: skip
"""Field ids of ENTRY_SCHEMA's columns (and `partition`): writers' names are not to be trusted, their ids are."""


def without_metrics(entries: pa.Table) -> pa.Table:
    """Entries of which only the metrics cannot be read: these are null."""
    for metric in METRIC_FIELDS:
        entries = entries.append_column(metric, pa.nulls(entries.num_rows, metric.type))
    return entries
