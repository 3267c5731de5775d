"""Of rule 59: required columns that data files lack by what metadata says of when they were written."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from explorer.model.metadata import TableMetadata
from explorer.spec.doctor.finding_helpers import Notes
from explorer.spec.entries.numpy_columns import Flags, Ints
from explorer.spec.scan.ranges import counts
from explorer.spec.schemas.required_nulls import NOT_WRITTEN
from explorer.spec.schemas.schema_fields import absent_required_fields


@dataclass(frozen=True)
class LateColumn:
    """A required column without an initial default, and the snapshots that were committed by a schema without it."""

    name: str
    snapshots: Ints


def late_columns(metadata: TableMetadata) -> Mapping[int, LateColumn]:
    """Find the required columns that the table got after some of its snapshots.

    Args:
        metadata: The table's.

    Returns:
        They, by field id.
    """
    current = metadata.schema(metadata.current_schema_id)
    if current is None:
        return {}
    ids = {field.name: field.id for field in current.by_id.values()}
    before: dict[str, list[int]] = {}
    committed: dict[int | None, list[int]] = {}
    for snapshot in metadata.snapshots:
        committed.setdefault(snapshot.schema_id, []).append(snapshot.snapshot_id)
    for schema_id, snapshots in committed.items():
        schema = metadata.schema(schema_id)
        for name in absent_required_fields(current.raw["fields"], schema.by_id, ()) if schema else ():
            before.setdefault(name, []).extend(snapshots)
    return {ids[name]: LateColumn(name, np.array(own, np.int64)) for name, own in before.items() if name in ids}


def late_column_notes(
    table: pa.Table,
    late: Mapping[int, LateColumn],
    given: Collection[int],
    snapshot_ids: Ints,
    data: Flags,
    notes: Notes,
) -> None:
    """Note live data files of snapshots whose schema lacks a required column, and whose own counts do not have it.

    Args:
        table: Stored entries with their metrics.
        late: The columns.
        given: The field ids whose values the partition gives.
        snapshot_ids: The snapshot that added each entry.
        data: Which entries are live data files with rows.
        notes: Where to note them.
    """
    for field_id, column in late.items():
        lacks = data & np.isin(snapshot_ids, column.snapshots) if field_id not in given else np.zeros(len(data), bool)
        if lacks.any():
            lacks &= ~counts(table, "value_counts", field_id).known
            notes.add("required-absent", lacks, NOT_WRITTEN, severity="warning", column=column.name)
