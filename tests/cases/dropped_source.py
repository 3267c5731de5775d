"""A table with a file of an older spec, whose source column was dropped (apache/iceberg#10234)."""

from __future__ import annotations

from pathlib import Path

from tests.cases.mini import Table


def with_dropped_source(place: Path, transform: str) -> Path:
    """Write two rows, each under a spec of its own; the first goes by column `trip`, which the schema has no more."""
    fields = [(1, "id", "int"), (2, "trip", "int"), (3, "distance", "int")]
    table = Table(place, fields, spec=[(2, 1000, "trip_part", transform)])
    old = table.parquet("a.parquet", {"id": [1], "trip": [0], "distance": [10]}, partition={"trip_part": 0})
    table.append(old)
    table.set_spec([(3, 1001, "distance_part", "identity")])
    table.set_schema([fields[0], fields[2]])
    table.append(table.parquet("b.parquet", {"id": [2], "distance": [20]}, partition={"distance_part": 20}))
    return place
