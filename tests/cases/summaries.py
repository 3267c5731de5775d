"""Tables of a manifest that has fewer partition summaries than its spec has fields."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.cases.mini import Table

OF_P = {"contains_null": False, "contains_nan": None, "lower_bound": b"a", "upper_bound": b"b"}
SUMMARIES: dict[int | None, list[dict[str, Any]] | None] = {0: [], 1: [OF_P], None: None}
"""By how many there are of the two that the spec has; None where the list says nothing of them."""
FILTERS = (
    ("true", -1), ("id = 1", -1), ("p = 'a'", 0), ("q = 1", 1), ("p = 'a' and q = 1", 1), ("p = 'z' and q = 1", 1),
    ("p = 'z' or q = 1", 1),
)  # fmt: skip
"""Filters, and the last partition field that each asks for."""


def with_summaries(place: Path, number: int | None, of_deletes: bool) -> Path:
    """Write a table of spec (p, q) with a manifest, of data or of an equality delete, that has `number` summaries."""
    fields = [(2, 1000, "p", "identity"), (3, 1001, "q", "identity")]
    table = Table(place, [(1, "id", "long"), (2, "p", "string"), (3, "q", "int")], spec=fields)
    first, second = (
        table.parquet(f"{p}.parquet", {"id": ids, "p": [p] * len(ids), "q": [q] * len(ids)}, partition={"p": p, "q": q})
        for ids, p, q in (([1, 2, 3], "a", 1), ([4, 5], "b", 2))
    )
    before = []
    entries = [(1, first), (1, second)]
    if of_deletes:
        table.append(first, second)
        before = table.lists[table.md["current-snapshot-id"]]
        entries = [(1, table.equality_delete("d.parquet", {"id": [2]}, partition={"p": "a", "q": 1}))]
    manifest = table.manifest("m1.avro", entries, content=int(of_deletes), partitions=SUMMARIES[number])
    table.snapshot("delete" if of_deletes else "append", [*before, manifest])
    table.save()
    return place
