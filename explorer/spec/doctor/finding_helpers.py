"""What is wrong with entries of a manifest, told of the first few and counted for all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from explorer.spec.doctor.rules import Severity
from explorer.spec.entries.numpy_columns import Ints
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
    """What is noted of the entries in `table`, which are of one manifest, or of several that follow each other:
    `starts` are the places of their first entries."""

    def __init__(self, table: pa.Table, starts: Sequence[int] | Ints = (0,)) -> None:
        self._table, self._starts = table, np.asarray(starts, np.int64)
        self._rows: list[list[dict[str, Any]]] = [[] for _ in starts]
        self.is_cut_short = False
        """Whether a rule left something out because of something else: of several manifests, it may be another's."""

    def add(
        self, rule: str, wrong: npt.NDArray[np.bool_], what: str, found: Any = None, expected: Any = None,
        severity: Severity | None = None, column: str = "", refused: str | Callable[[int], str] = "",
    ) -> None:  # fmt: skip
        """Note the entries that a mask is set for. `found` and `expected` are columns, functions of a record, or
        one text for all; `column` and `refused` as findings have them: `refused` may be a function of the manifest's
        place."""
        if not wrong.any():
            return
        records = np.flatnonzero(wrong)
        owners = np.searchsorted(self._starts, records, "right") - 1
        places, firsts, amounts = np.unique(owners, return_index=True, return_counts=True)
        for place, at, count in zip(places.tolist(), firsts.tolist(), amounts.tolist(), strict=True):
            shown = records[at : at + min(count, SHOWN)].tolist()
            paths = self._table["file_path"].take(shown).to_pylist()
            first = shown[0]
            self._rows[place].append(
                {
                    "rule": rule, "what": what, "severity": severity, "record": first - int(self._starts[place]),
                    "count": count, "found": _at(found, first), "expected": _at(expected, first), "path": paths[0],
                    "offset": self._table["content_offset"][first].as_py(), "examples": [str(p)[:500] for p in paths],
                    "column": column, "refused": refused(place) if callable(refused) else refused,
                }
            )  # fmt: skip

    def one(self, rule: str, what: str, value: Any, expected: Any, record: int, column: str = "") -> None:
        """Note one entry."""
        wrong = np.zeros(self._table.num_rows, bool)
        wrong[record] = True
        self.add(rule, wrong, what, value, expected, column=column)

    def others(self) -> Notes:
        """Notes of the same entries, of which nothing is noted."""
        return Notes(self._table, self._starts)

    def of(self, place: int, end: int) -> Notes:
        """Notes of the entries of one manifest, which end there."""
        start = int(self._starts[place])
        return Notes(self._table.slice(start, end - start))

    def take(self, rows: Iterable[dict[str, Any]], place: int) -> None:
        """Note of a manifest what other notes of the same entries have."""
        self._rows[place] += rows

    def rows(self, place: int = 0) -> list[dict[str, Any]]:
        """Those of a manifest, as NOTE."""
        return self._rows[place]

    def places(self) -> range:
        """The places of the manifests."""
        return range(len(self._starts))


def _at(values: Any, record: int) -> str | None:
    if values is None or isinstance(values, str):
        return values
    value = values(record) if callable(values) else values[record]
    value = python_value(value) if isinstance(value, pa.Scalar) else value
    return None if value is None else str(value)[:500]
