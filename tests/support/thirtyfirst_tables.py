"""Tables of the thirty-first reports of trouble."""

from __future__ import annotations

from pathlib import Path

from tests.cases.mini import Table


def with_numbers_that_went_back(folder: Path, low: int = 0, later: int = 2) -> Table:
    """Three appends, one of a number that is too low, without parent, and some after it (lakekeeper#949)."""
    table = Table(str(folder), [(1, "id", "long"), (2, "name", "string")])
    for n in range(3):
        table.append(table.parquet(f"f{n}.parquet", {"id": [3 * n + 1, 3 * n + 2, 3 * n + 3], "name": [f"n{n}"] * 3}))
    before = table.lists[table.md["current-snapshot-id"]]
    late = table.parquet("late.parquet", {"id": [100], "name": ["late"]})
    manifest = table.manifest("late-m0.avro", [(1, late)], seq=low)
    counts = {"added-data-files": "1", "added-records": "1"}
    how = {"parent": None, "list_header": {"sequence-number": str(low)}, "sequence-number": low}
    table.snapshot("append", [*before, manifest], counts, **how)
    table.md["last-sequence-number"] = low
    table.write()
    for n in range(later):
        table.append(table.parquet(f"g{n}.parquet", {"id": [200 + n], "name": ["after"]}))
    return table
