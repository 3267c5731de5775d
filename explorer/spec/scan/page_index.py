"""Pages of a row group that may hold rows of a filter, by the column and offset indexes of its chunks (parquet-format's
PageIndex.md). Iceberg's own readers, Spark's too, read row groups whole; others skip such pages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from explorer.spec.filters.expressions import BoundTerm, Expression, predicates
from explorer.spec.scan.chunk_tests import Unread, chunk_ranges
from explorer.spec.scan.pruning import judge
from explorer.spec.scan.ranges import Ranges
from explorer.spec.values.stored_values import Column, column_decoder


@dataclass(frozen=True)
class Pages:
    """What a reader that uses page indexes reads of a row group: `rows`, and of each column (name, pages, pages that it
    reads). `reason` says why not the first that it leaves out, or why it leaves out none."""

    columns: tuple[tuple[str, int, int], ...]
    rows: int
    reason: str


def pages(bound: Expression, rows: int, indexes: Mapping[int, tuple[Column, Any]]) -> Pages:
    """The pages of a row group of so many rows that may match; of indexes (see
    storage.formats.parquet_chunks.read_parts) by field id, with the columns. Pages of different columns do not begin
    with the same rows, so runs of rows are judged, each in one page of each column."""
    terms = {t.column.field_id: t for p in predicates(bound) if isinstance(t := p.term, BoundTerm)}
    unread = [i.cause for _, i in indexes.values() if isinstance(i, Unread)]
    readable = {f: (c, i) for f, (c, i) in indexes.items() if not isinstance(i, Unread)}
    if not readable:
        return Pages((), rows, f"its page index is not used: {unread[0]}" if unread else "no page index")
    starts = np.unique(np.concatenate([index["rows"] for _, index in readable.values()]))
    page_of = {f: np.searchsorted(index["rows"], starts, "right") - 1 for f, (_, index) in readable.items()}

    def ranges(term: BoundTerm) -> Ranges | None:
        field = term.column.field_id
        if term.kind == "uuid":  # readers do not agree on the order of UUIDs (docs/readers.md)
            return None
        return _ranges(*readable[field], page_of[field].tolist(), term) if field in readable else None

    verdicts = judge(bound, len(starts), ranges)
    counts = np.diff(np.append(starts, rows))
    columns = [
        (terms[f].column.name, len(index["rows"]), len(np.unique(page_of[f][verdicts.may])))
        for f, (_, index) in readable.items()
    ]
    out = np.flatnonzero(~verdicts.may)
    at = int(out[0]) if len(out) else 0
    first = f"rows {starts[at]:,} to {starts[at] + counts[at] - 1:,}: " if len(out) else ""
    return Pages(tuple(columns), int(counts[verdicts.may].sum()), f"{first}{verdicts.reason(at)}")


def _ranges(column: Column, index: Mapping[str, Any], page_of: list[int], term: BoundTerm) -> Ranges:
    """Of each run of rows, by the page that it is in."""
    convert = column_decoder(column, term.column.kind)

    def value(stored: Any) -> Any:
        try:
            return None if stored is None or convert is None else convert(stored)
        except ValueError:  # texts may be cut inside a letter
            return None

    only, low, high = ([index[n][p] for p in page_of] for n in ("only_nulls", "min", "max"))
    nulls = [index["nulls"][p] if index["nulls"] else None for p in page_of]
    ranges = chunk_ranges(only, nulls, list(map(value, low)), list(map(value, high)), term.column.kind)
    return ranges.of(term)
