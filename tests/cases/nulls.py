"""A table of which a required column has a null in a file."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any

from explorer.spec.schemas.required_nulls import FAILS, OTHERS, SHOWS
from tests.cases.mini import Table

VALUES: Mapping[str, Any] = {
    "int": 1, "long": 1, "float": 1.0, "double": 1.0, "boolean": True, "date": date(2024, 1, 1),
    "timestamp": datetime(2024, 1, 1), "timestamptz": datetime(2024, 1, 1, tzinfo=timezone.utc), "string": "a",
    "binary": b"a", "uuid": b"0123456789abcdef", "fixed[4]": b"abcd", "decimal(9,2)": Decimal("1.00"),
    "decimal(38,2)": Decimal("1.00"),
}  # fmt: skip
"""By type: a value."""
EFFECTS = {kind: SHOWS if kind[:3] == "dec" else FAILS if kind[:3] in ("str", "bin", "uui", "fix") else OTHERS
           for kind in VALUES}  # fmt: skip


def with_null(folder: Path, kind: str, counted: bool = True) -> str:
    """Write two rows whose column b, of a kind, is required: the second has a null, which the manifest says if
    `counted`."""
    table = Table(folder, [(1, "a", "int"), (2, "b", kind, True)])
    file = table.parquet("x.parquet", {"a": [1, 2], "b": [VALUES[kind], None]})
    table.append(file if counted else file | {"null_value_counts": None})
    return str(folder)
