"""Tables whose partition values have no place in 32 or 64 bits, and wrapped round as Iceberg Java writes them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.cases.mini import Table

LONG, INT = -(1 << 63), -(1 << 31)
TABLES: dict[str, tuple[str, str, list[tuple[int, int]], list[int]]] = {
    "long": ("long", "truncate[10]", [(LONG, 9223372036854775806), (LONG + 5, 9223372036854775806), (5, 0)],
             [LONG, LONG + 2, LONG + 5, LONG + 8, -LONG - 1, 5, 100]),
    "int": ("int", "truncate[10]", [(INT, 2147483646), (INT + 7, 2147483646), (5, 0)],
            [INT, INT + 1, INT + 7, INT + 8, -INT - 1, 5, 100]),
    "wide": ("int", "truncate[2000000000]", [(1_500_000_000, -2_000_000_000), (-5, -2_000_000_000), (7, 0),
             (INT, 294967296)], [1_500_000_000, -5, 7, 8, INT, 2_000_000_000]),
}  # fmt: skip
"""By name: the column's type, the transform, each file's value and partition value, and values to ask for."""
OPERATORS = ("a = {}", "a < {}", "a <= {}", "a > {}", "a >= {}", "a != {}", "a IN ({}, 5)", "a NOT IN ({}, 77)")


def with_wrapped(folder: Path, name: str) -> Table:
    """One of TABLES, a row a file."""
    kind, transform, files, _ = TABLES[name]
    table = Table(folder, [(1, "a", kind)], [(1, 1000, "a_trunc", transform)])
    made: list[dict[str, Any]] = [
        table.parquet(f"{i}.parquet", {"a": [value]}, partition={"a_trunc": partition})
        for i, (value, partition) in enumerate(files)
    ]
    table.append(*made)
    return table
