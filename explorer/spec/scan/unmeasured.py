"""Data files that a plan reads because nothing is recorded of the filter's columns."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from explorer.model.metadata import TableMetadata
from explorer.spec.entries.numpy_columns import ints
from explorer.spec.filters.expressions import BoundTerm, Expression, predicates
from explorer.spec.scan.ranges import look_up

MOST_COLUMNS = 5
"""Columns of a filter that are looked at."""


@dataclass(frozen=True)
class UnmeasuredFiles:
    """Data files that a plan reads, by what is recorded of one column of the filter.

    Attributes:
        files: Those of which nothing is recorded.
        older: How many of these were written before the column was added.
        unbounded: Those without bounds, all of `files` among them.
        by_partition: Files without bounds that the plan skips, since their partition has the column's value.
    """

    files: int = 0
    older: int = 0
    unbounded: int = 0
    by_partition: int = 0

    def plus(self, files: int, older: int, unbounded: int, by_partition: int) -> UnmeasuredFiles:
        """Return the sum with those of another manifest."""
        return UnmeasuredFiles(
            self.files + files, self.older + older, self.unbounded + unbounded, self.by_partition + by_partition
        )


def filter_fields(bound: Expression) -> list[int]:
    """Return the field ids of the columns that a filter compares as they are, each once, at most MOST_COLUMNS."""
    terms = (leaf.term for leaf in predicates(bound))
    ids = (t.column.field_id for t in terms if isinstance(t, BoundTerm) and t.transform == "identity")
    return list(dict.fromkeys(ids))[:MOST_COLUMNS]


def older_snapshots(metadata: TableMetadata, bound: Expression) -> dict[int, list[int]]:
    """Return for each column of a filter the snapshots that are known to have been written before it was added.

    Args:
        metadata: The table's.
        bound: The filter.

    Returns:
        Ids of snapshots, by the column's field id.
    """
    schemas: dict[int, list[int]] = defaultdict(list)
    for snapshot in metadata.snapshots:
        if snapshot.schema_id is not None:
            schemas[snapshot.schema_id].append(snapshot.snapshot_id)
    without: dict[int, list[int]] = {}
    for field_id in filter_fields(bound):
        ids = {schema.schema_id for schema in metadata.schemas if field_id not in schema.by_id}
        without[field_id] = [own for schema_id in ids for own in schemas.get(schema_id or 0, ())]
    return without


def count_unmeasured(
    older: Mapping[int, Sequence[int]],
    entries: pa.Table,
    is_read: npt.NDArray[np.bool_],
    without_bounds: Mapping[int, npt.NDArray[np.bool_]],
    added_by: int,
) -> Iterator[dict[str, int]]:
    """Count the data files that are read of which nothing is recorded of a column, whose partition does not tell of it.

    Args:
        older: The filter's columns, each with the snapshots from before it (`older_snapshots`).
        entries: The entries of one manifest, with their metrics.
        is_read: Which of them are read, though it is not known that all their rows match.
        without_bounds: Which of them have no bounds, by column.
        added_by: The snapshot of entries that name none.

    Yields:
        For each column with files without bounds: field_id, files of which nothing is recorded, how many of them are
        older than the column, and files without bounds.
    """
    for field_id, snapshots in older.items():
        unbounded = is_read & without_bounds.get(field_id, False)
        if not unbounded.any():
            continue
        nothing = unbounded.copy()
        for name in ("value_counts", "null_value_counts"):
            if nothing.any():
                nothing &= look_up(entries, name, field_id).is_null().to_numpy(zero_copy_only=False)
        written_by = ints(entries["snapshot_id"], added_by)[nothing]
        is_older = int(np.isin(written_by, np.array(snapshots, np.int64)).sum())
        numbers = {"files": int(nothing.sum()), "older": is_older, "unbounded": int(unbounded.sum())}
        yield {"field_id": field_id, **numbers, "by_partition": 0}
