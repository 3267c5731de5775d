"""What is wrong with entries of one manifest, told of the first few and counted for all."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from explorer.spec.doctor.rules import Severity
from explorer.spec.values.values import python_value

SHOWN = 3
"""Entries that are told of, of all that one thing is wrong with."""
NOTE = pa.struct(
    [
        ("rule", pa.string()), ("what", pa.string()), ("severity", pa.string()), ("record", pa.int64()),
        ("count", pa.int64()), ("found", pa.string()), ("expected", pa.string()), ("path", pa.string()),
        ("offset", pa.int64()), ("examples", pa.list_(pa.string())), ("column", pa.string()), ("refused", pa.string()),
    ]
)  # fmt: skip


class Notes:
    """What is noted of the entries in `table`."""

    def __init__(self, table: pa.Table) -> None:
        self._table = table
        self._rows: list[dict[str, Any]] = []

    def add(
        self, rule: str, wrong: npt.NDArray[np.bool_], what: str, found: Any = None, expected: Any = None,
        severity: Severity | None = None, column: str = "", refused: str = "",
    ) -> None:  # fmt: skip
        """Note the entries that a mask is set for. `found` and `expected` are columns, functions of a record, or
        one text for all; `column` and `refused` as findings have them."""
        if not wrong.any():
            return
        records = np.flatnonzero(wrong)[:SHOWN].tolist()
        paths = self._table["file_path"].take(records).to_pylist()
        first = records[0]
        self._rows.append(
            {
                "rule": rule, "what": what, "severity": severity, "record": first, "count": int(wrong.sum()),
                "found": _at(found, first), "expected": _at(expected, first), "path": paths[0],
                "offset": self._table["content_offset"][first].as_py(), "examples": [str(p)[:500] for p in paths],
                "column": column, "refused": refused,
            }
        )  # fmt: skip

    def one(self, rule: str, what: str, value: Any, expected: Any, record: int, column: str = "") -> None:
        """Note one entry."""
        wrong = np.zeros(self._table.num_rows, bool)
        wrong[record] = True
        self.add(rule, wrong, what, value, expected, column=column)

    def take(self, row: dict[str, Any]) -> None:
        """Note what other notes of the same table have."""
        self._rows.append(row)

    def rows(self) -> list[dict[str, Any]]:
        """As NOTE."""
        return self._rows


def _at(values: Any, record: int) -> str | None:
    if values is None or isinstance(values, str):
        return values
    value = values(record) if callable(values) else values[record]
    value = python_value(value) if isinstance(value, pa.Scalar) else value
    return None if value is None else str(value)[:500]
