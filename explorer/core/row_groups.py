"""Row groups of a Parquet file that may hold rows of a filter, by the statistics of their column chunks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from explorer.core.binding import ABOVE, BELOW, literal_value
from explorer.core.expressions import BoundTerm, Expression
from explorer.core.filter_text import FilterError
from explorer.core.ordering import comparable
from explorer.core.pruning import Reason, judged
from explorer.core.ranges import Bounds, Ranges, values_of


@dataclass(frozen=True)
class GroupVerdict:
    """Whether a row group of a file is read, and why. `bytes` are uncompressed."""

    path: str
    ordinal: int
    rows: int
    bytes: int
    keeps: bool
    reason: Reason


def row_groups(bound: Expression, path: str, footer: Mapping[str, Any]) -> list[GroupVerdict]:
    """A verdict for each row group of a file, by its footer (see io.parquet.read_footer)."""
    groups = footer["row_groups"]
    place = {c["field_id"]: at for at, c in enumerate(footer["columns"]) if c["field_id"] is not None}

    def ranges(term: BoundTerm) -> Ranges | None:
        at = place.get(term.column.field_id)
        return (
            None if at is None else _ranges(groups, at, BoundTerm(term.column, "identity", term.column.kind)).of(term)
        )

    found = judged(bound, len(groups), ranges)
    return [
        GroupVerdict(path, g["ordinal"], g["num_rows"], g["total_byte_size"], bool(found.may[i]), found.reason(i))
        for i, g in enumerate(groups)
    ]


def _ranges(groups: Sequence[Mapping[str, Any]], at: int, term: BoundTerm) -> Ranges:
    chunks = [g["columns"][at] for g in groups]
    nulls = [c["null_count"] for c in chunks]
    only = np.array([n is not None and n == g["num_rows"] for n, g in zip(nulls, groups, strict=True)], bool)
    no = np.zeros(len(groups), bool)
    return Ranges(
        nulls_only=only, may_null=np.array([n is None or n > 0 for n in nulls], bool), nans_only=no, may_nan=~no,
        empty=only, sure_no_null=no, sure_no_nan=no,
        lower=_bounds([c["min"] for c in chunks], term, -0.0), upper=_bounds([c["max"] for c in chunks], term, 0.0),
    )  # fmt: skip


def _bounds(told: Sequence[Any], term: BoundTerm, zero: float) -> Bounds:
    """Statistics as values that order; what does not fit the type is not known. A zero may have either sign."""
    values = [zero if isinstance(v, float) and v == 0 else _value(v, term) for v in told]
    known = np.array([v is not None for v in values], bool)
    return Bounds(values_of([0 if v is None else comparable(v, term.kind) for v in values]), known)


def _value(told: Any, term: BoundTerm) -> Any:
    try:
        value = None if told is None else literal_value(told, term)
    except FilterError:
        return None
    return None if value in (ABOVE, BELOW) else value
