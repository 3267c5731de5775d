"""Which columns of the lists of a table are told first, where there is no room for all."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from explorer.model.manifest import FILE_CONTENT, STATUS
from explorer.model.metadata import TableMetadata
from explorer.render.rows import json_rows
from explorer.spec.filters.display_values import TIMES
from explorer.spec.text.names import base_name
from explorer.spec.text.units import human_bytes, instant
from explorer.spec.values.values import column_values, partition_path_by_name

COLUMNS = {
    "snapshots": """snapshot snapshot-id parent-snapshot-id operation timestamp-ms sequence-number summary schema-id
        manifest-list""",
    "manifests": """manifest_path content added_files_count existing_files_count deleted_files_count added_rows_count
        existing_rows_count deleted_rows_count partition_spec_id sequence_number min_sequence_number added_snapshot_id
        manifest_length partitions""",
    "files": """file_path content file_format partition record_count file_size_in_bytes sequence_number snapshot_id
        spec_id sort_order_id""",
    "partitions": """partition spec_id record_count file_count total_data_file_size_in_bytes
        position_delete_record_count position_delete_file_count equality_delete_record_count
        equality_delete_file_count last_updated_ms
        last_updated_snapshot_id""",
    "entries": """file_path status logical_status reason content partition record_count file_size_in_bytes
        sequence_number file_sequence_number snapshot_id manifest_path""",
}
"""By what is listed."""


def with_times(rows: Iterable[Mapping[str, Any]], what: str) -> list[dict[str, Any]]:
    """Rows of a list as text tells them: times for milliseconds since 1970."""
    times = TIMES if what != "rows" else ()
    readable_rows = [dict(row) for row in rows]
    for row in readable_rows:
        row |= {name: instant(row[name]) for name in times if type(row.get(name)) is int}
    return readable_rows


def _clauses(reasons: Sequence[Mapping[str, Any]]) -> list[str]:
    """Why a delete applies or does not: the clauses that do not hold come first."""
    return [str(clause["words"]) for clause in sorted(reasons, key=lambda clause: bool(clause["holds"]))]


def _splits(splits: Sequence[Mapping[str, Any]]) -> list[str]:
    """The parts of files that a task reads."""
    return [f"{base_name(s['file_path'])} from byte {s['start']:,}: {human_bytes(s['length'])}" for s in splits]


OBJECTS: Mapping[str, Mapping[str, Callable[[Any], list[str]]]] = {
    "pairs": {"reasons": _clauses}, "tasks": {"splits": _splits},
}  # fmt: skip
"""By what is listed: columns whose values are lists of objects, and what is said of these."""


def in_words(part: pa.Table, what: str, metadata: TableMetadata | None) -> list[dict[str, Any]]:
    """Rows of a list as text tells them: times, and with a table's metadata also partitions as paths, and the spec's
    words for contents and statuses."""
    rows = with_times(json_rows(part), what)
    for name, words_of in OBJECTS.get(what, {}).items():
        for row in rows if name in part.column_names else ():
            row[name] = "; ".join(words_of(row[name] or ()))
    if metadata is None:
        return rows
    if {"partition", "spec_id"} <= set(part.column_names) and pa.types.is_struct(part["partition"].type):
        for row, value in zip(rows, column_values(part["partition"]), strict=True):
            row["partition"] = partition_path_by_name(value, metadata.spec(row["spec_id"]), metadata)
    for name, words in (("content", FILE_CONTENT), ("status", STATUS)):
        for row in rows if name in part.column_names else ():
            row[name] = words.get(row[name], row[name])
    return rows


def telling(what: str, columns: Collection[str]) -> list[str]:
    """Those columns of a list that are told first."""
    return [name for name in COLUMNS.get(what, "").split() if name in columns]


def first_columns(what: str, columns: Sequence[str]) -> list[str]:
    """Columns of a list, those that are told first before the others."""
    first = telling(what, columns)
    return [*first, *(name for name in columns if name not in first)]
