"""Tables of a delete that a filter may exclude by the delete's own metrics (iceberg#5852)."""

from __future__ import annotations

from pathlib import Path

from tests.cases.mini import Table

DELETES = ("whole row", "whole row without metrics", "key alone", "position")
FILTERS = {
    "true": 0, "id = 1": 0, "id = 2": 0, "id = 9": 0, "name = 1": 1, "name = 2": 0, "name > 2": 1, "name < 2": 1,
    "name is null": 1, "id = 1 or name = 1": 0, "id = 2 or name = 1": 1, "not (name = 2)": 1, "not (name >= 2)": 1,
    "name = 1 and id = 1": 1,
}  # fmt: skip
"""Filters, and how many deletes of a whole row they exclude by a column that these do not delete by."""


def with_delete(place: Path, kind: str) -> Path:
    """Write rows of two files, of which one of DELETES hides two, and a third that has one of them with another
    name."""
    table = Table(place, [(1, "id", "int", True), (2, "name", "int")])
    first = table.parquet("a.parquet", {"id": [1, 2], "name": [1, 1]})
    table.append(first, table.parquet("b.parquet", {"id": [1, 3], "name": [None, 5]}))
    whole = {"id": [1], "name": [2]}
    if kind == "position":
        delete = table.position_delete("d.parquet", [(first["file_path"], 0)])
    elif kind == "key alone":
        delete = table.equality_delete("d.parquet", {"id": [1]}, equality_ids=[1])
    else:
        delete = table.equality_delete("d.parquet", whole, equality_ids=[1])
        if "without" in kind:
            delete |= dict.fromkeys(("value_counts", "null_value_counts", "lower_bounds", "upper_bounds"))
    table.delta(data=[table.parquet("c.parquet", whole)], deletes=[delete])
    return place
