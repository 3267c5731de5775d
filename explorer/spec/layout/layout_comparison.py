"""The same rows in several layouts: what each cost to write, and what queries read of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from explorer.spec.filters.filter_text import column_text
from explorer.spec.scan.plan import Amount
from explorer.spec.text.units import count

DRAWN = 3
"""Columns of which queries are drawn."""
_WITHIN = (0.45, 0.55)
"""The share of the values below, and above which none of a drawn query lie."""

NOTHING = Amount(0, 0, 0, 0)


@dataclass(frozen=True)
class Layout:
    """Rows as they were laid: `how`, the seconds it took and what was written, then what each query reads of it. Where
    they could not be laid so, `why` says it, and there is nothing else."""

    name: str
    how: str
    why: str = ""
    seconds: float = 0.0
    written: Amount = NOTHING
    reads: tuple[Amount, ...] = ()

    @property
    def read(self) -> tuple[int, int]:
        """Files and bytes that all queries read together."""
        return sum(r.files or 0 for r in self.reads), sum(r.bytes or 0 for r in self.reads)


@dataclass(frozen=True)
class LayoutComparison:
    """So many rows of a table (`which_rows` tells which), the queries, where they come from, and the layouts."""

    table: str
    rows: int
    which_rows: str
    queries: tuple[str, ...]
    drawn: str
    layouts: tuple[Layout, ...]


def sample_queries(rows: pa.Table) -> tuple[tuple[str, ...], str]:
    """Queries for the middle tenth of the values of the first columns that order and have several values, and for that
    of two at once; and how they were drawn. None of rows without such a column."""
    ranges = dict(islice(_ranges(rows), DRAWN))
    if not ranges:
        return (), "no column has several numbers, times or texts"
    names, conditions = list(ranges), list(ranges.values())
    source = f"the middle tenth of the values of {', '.join(names)}"
    if len(conditions) == 1:
        return tuple(conditions), f"drawn of the rows: {source}"
    return (
        *conditions,
        f"{conditions[0]} AND {conditions[1]}",
    ), f"drawn of the rows: {source}; then {names[0]} and {names[1]} at once"


def _ranges(rows: pa.Table) -> Iterator[tuple[str, str]]:
    for field in rows.schema:
        values = rows[field.name]
        if not (pa.types.is_integer(field.type) or pa.types.is_floating(field.type) or _needs_quotes(field.type)):
            continue
        values = values.drop_null()
        if pa.types.is_floating(field.type):
            values = values.filter(pc.is_finite(values))
        values = values.take(pc.sort_indices(values))
        if not len(values) or values[0] == values[-1]:
            continue
        low, high = (values[int(len(values) * part)].as_py() for part in _WITHIN)
        name = column_text(field.name)
        below = "" if low == high else f" AND {name} < {_literal(high)}"
        yield field.name, f"{name} {'>=' if below else '='} {_literal(low)}{below}"


def _needs_quotes(kind: pa.DataType) -> bool:
    return any((pa.types.is_string(kind), pa.types.is_date(kind), pa.types.is_timestamp(kind)))


def _literal(value: Any) -> str:
    return str(value) if isinstance(value, (int, float)) else "'" + str(value).replace("'", "''") + "'"


def rows_words(rows: int, limit: int) -> str:
    """Which rows of a table were laid."""
    return f"the first {count(rows, 'row')} that Spark reads" if rows == limit else f"all {count(rows, 'row')}"
