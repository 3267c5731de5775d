"""What metadata says of the values of each column, or of one column by partition."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import pyarrow as pa

from explorer.errors import NotFoundInTable, UnreadableFile
from explorer.model.metadata import Schema, Snapshot
from explorer.model.problem import Problem
from explorer.progress import steps
from explorer.queries.collection import Collection
from explorer.queries.metadata_tree import MetadataTree
from explorer.queries.scan import BuildTable
from explorer.spec.entries.lazy_table import Batches, Parts, all_alike
from explorer.spec.layout.column_profile import (
    THETA,
    DistinctValues,
    add_columns,
    add_partitions,
    by_column,
    by_partition_of,
    distinct_values,
    facts_of,
    profile_row,
    profile_schema,
)
from explorer.spec.layout.metrics_modes import primitive_columns
from explorer.spec.text.names import snapshot_name, snapshot_ordinals
from explorer.spec.values.values import partition_path_by_name, row_dicts
from explorer.storage.formats.puffin import read_blob
from explorer.storage.formats.theta import estimate

TEXT, NUMBER = pa.string(), pa.int64()
FACTS = [
    ("files", NUMBER), ("rows", NUMBER), ("values", NUMBER), ("nulls", NUMBER), ("null_share", TEXT), ("nans", NUMBER),
    ("lower_bound", TEXT), ("upper_bound", TEXT), ("bytes", NUMBER),
]  # fmt: skip
OF_COLUMNS = pa.schema([("column", TEXT), ("type", TEXT), *FACTS, ("distinct", NUMBER), ("distinct_as_of", TEXT),
                        ("lacks", TEXT)])  # fmt: skip
OF_PARTITIONS = pa.schema([("partition", TEXT), ("spec_id", pa.int32()), *FACTS, ("lacks", TEXT)])
MOST_SKETCH = 16 << 20
"""Bytes; the largest sketch that DataSketches makes has 2**20 hashes and more."""
AT_ONCE = 10_000
"""Partitions that are put into words at a time."""


def profile_columns(tree: MetadataTree, snapshot: Snapshot | None, schema: Schema, make: BuildTable) -> Collection:
    """Add up, for each column, what the live data files of a snapshot say of its values."""
    columns = primitive_columns(schema)
    kinds = {field_id: kind for field_id, _, kind in columns}
    listed = [m for m in tree.manifests(snapshot) if m.content == 0]
    own = profile_schema(pa.field("field_id", pa.int64()))
    parts = Parts(listed, True, partial(by_column, kinds), own, all_alike, folded=True)
    facts = add_columns(kinds, make(parts, "profile of columns")[0].read())
    estimates = distinct_values(tree.metadata, snapshot)
    ordinals = snapshot_ordinals(tree.metadata)
    rows = []
    for field_id, name, kind in columns:
        row = {"column": name, "type": kind, **profile_row(facts[field_id], kind)}
        if (of := estimates.get(field_id)) is not None:
            as_of = snapshot_name(of.snapshot_id, ordinals)
            row |= {"distinct": _distinct(tree, field_id, of), "distinct_as_of": as_of}
        rows.append(row)
    return Collection(pa.Table.from_pylist(rows, OF_COLUMNS), "columns")


def profile_partitions(
    tree: MetadataTree, snapshot: Snapshot | None, schema: Schema, column: str, make: BuildTable
) -> Collection:
    """Add up, for each partition, what the live data files of a snapshot say of one column's values.

    Raises:
        NotFoundInTable: There is no such column, or it has no values of its own.
    """
    columns = {name: (field_id, kind) for field_id, name, kind in primitive_columns(schema)}
    if column not in columns:
        raise NotFoundInTable(f"there is no column {column!r} with values of its own (columns: {', '.join(columns)})")
    field_id, kind = columns[column]
    parts = by_partition_of(field_id, kind, tree.entries(snapshot, metrics=True))
    if not parts.schema.names:
        return Collection(OF_PARTITIONS.empty_table(), "partitions")
    sums = add_partitions(kind, make(parts, f"profile of {column}")[0])

    def name(value: Any, spec_id: int) -> str:
        return partition_path_by_name(value, tree.metadata.spec(spec_id), tree.metadata) or "(no partition)"

    def read() -> Iterator[pa.Table]:
        for start in steps(range(0, sums.num_rows, AT_ONCE), "partitions"):
            rows = [
                {"partition": name(row["partition"], row["spec_id"]), "spec_id": row["spec_id"],
                 **profile_row(facts_of(row), kind)}
                for row in row_dicts(sums.slice(start, AT_ONCE))
            ]  # fmt: skip
            yield pa.Table.from_pylist(rows, OF_PARTITIONS)

    return Collection(Batches(OF_PARTITIONS, read), "partitions")


def _distinct(tree: MetadataTree, field_id: int, of: DistinctValues) -> int | None:
    """An estimate of distinct values; None, and a note, where it cannot be read."""
    if of.number is not None:
        return of.number
    try:
        return estimate(read_blob(tree.reader.storage, of.path, THETA, field_id, MOST_SKETCH))
    except UnreadableFile as error:
        cause = error.cause
    except ValueError as error:
        cause = f"its sketch of distinct values cannot be read: {error}"
    tree.note([Problem(of.path, cause, unaffected="the other facts are shown")])
    return None
