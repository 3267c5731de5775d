"""Rows of an answer for a table on a page: some at a time, sorted and filtered on the server."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from explorer.errors import NotFoundInTable, NotPossible
from explorer.model.metadata import TableMetadata
from explorer.queries.collection import Collection
from explorer.render.list_columns import COLUMNS, first_columns, in_words, telling
from explorer.render.text import cell
from explorer.spec.filters.display_values import TIMES
from explorer.spec.text.units import human_bytes
from explorer.spec.values.values import column_values

MOST = 1_000
"""Rows of one message."""
MOST_SORTED = 20_000_000
"""Rows that are sorted."""
LINKS: Mapping[str, str] = {
    "file_path": "file", "manifest_path": "manifest", "manifest-list": "manifest_list", "snapshot-id": "snapshot",
    "snapshot_id": "snapshot", "parent-snapshot-id": "snapshot", "added_snapshot_id": "snapshot",
    "last_updated_snapshot_id": "snapshot", "data_file": "file", "delete_file": "file", "_file": "data_file",
}  # fmt: skip
"""What the values of a column name, by its name: a page opens it."""
LISTS_OF_FILES = ("layers", "cells")
"""Lists whose column `path` is a file's; that of others is a column's."""
VERDICTS = ("change", "kind", "verdict", "because", "term", "reason")
"""What a question adds to the rows of a list: it is what the answer is about."""
_BYTES = re.compile(r"(^|_|-)(bytes|size|length)($|_|-)")


class RowPages:
    """The rows of one block. `metadata` is that of the table that they are about, if they are about one."""

    def __init__(self, rows: Collection, metadata: TableMetadata | None = None) -> None:
        self.rows, self._metadata = rows, metadata
        self._filters: dict[str, Collection] = {"": rows}
        self._orders: dict[tuple[str, str, bool], np.ndarray[Any, Any]] = {}

    def columns(self) -> list[dict[str, Any]]:
        """Return the columns: each one's name, how it is shown, what its values name, and whether it is shown first."""
        schema = self.rows.schema
        leading = telling(self.rows.what, schema.names)
        is_known = 2 * len(leading) > len(COLUMNS.get(self.rows.what, "").split())  # others only have the same name
        verdicts = [name for name in VERDICTS if name in schema.names and name not in leading]
        first = {*verdicts, *(leading if is_known else schema.names)}
        rest = [name for name in first_columns(self.rows.what, schema.names) if name not in verdicts]
        names = [*rest[:1], *verdicts, *rest[1:]]
        return [
            {
                "name": name,
                "kind": self._kind(name, schema.field(name).type),
                "link": self._link(name),
                "first": name in first,
            }
            for name in names
        ]

    def page(
        self, start: int = 0, count: int = 200, sort: str = "", descending: bool = False, where: str = ""
    ) -> dict[str, Any]:
        """Return some rows as text.

        Args:
            start: The first row.
            count: How many rows, at most MOST; with 0 all are counted.
            sort: The column by which they are sorted; their own order if empty.
            descending: Whether the largest comes first.
            where: A filter over the columns.

        Returns:
            `rows`, a list of texts each, null where a value is null; `exact`, of columns whose texts are rounded sizes
            or times the numbers themselves as texts, by the column's place; `total`, how many there are, null where
            that is not known yet; and `more`, whether others follow.

        Raises:
            NotFoundInTable: There is no such column, or the filter does not fit.
            NotPossible: So many rows are not sorted.
        """
        chosen = self._filtered(where)
        count = min(count, MOST)
        if sort:
            order = self._order(chosen, where, sort, descending)
            part = chosen.take(order[start : start + count])
            return self._answer(part, len(order), start)
        if count and start == 0 and not chosen.is_read:
            part = chosen.select(limit=count + 1).to_arrow()
            total = part.num_rows if part.num_rows <= count else None
            return self._answer(part.slice(0, count), total, start)
        total = len(chosen)
        return self._answer(chosen.take(np.arange(start, max(start, min(start + count, total)))), total, start)

    def _filtered(self, where: str) -> Collection:
        if where not in self._filters:
            self._filters = {"": self.rows, where: self.rows.select(where)}
            self._orders = {key: order for key, order in self._orders.items() if key[0] in self._filters}
        return self._filters[where]

    def _order(self, rows: Collection, where: str, sort: str, descending: bool) -> np.ndarray[Any, Any]:
        """Return the places of the rows in their order, nulls last."""
        key = (where, sort, descending)
        if key not in self._orders:
            if sort not in rows.columns:
                raise NotFoundInTable(f"{rows.what} have no column {sort!r}")
            if len(rows) > MOST_SORTED:
                raise NotPossible(f"{len(rows):,} rows are not sorted: filter them first, to {MOST_SORTED:,} at most")
            column = rows.select(columns=(sort,)).to_arrow()[sort]
            if pa.types.is_nested(column.type) or isinstance(column.type, pa.BaseExtensionType):
                column = pa.chunked_array([pa.array([cell(v) for v in column_values(column, "lossy")], pa.string())])
            direction = "descending" if descending else "ascending"
            self._orders = dict([*self._orders.items()][-1:])  # each has eight bytes a row
            self._orders[key] = pc.array_sort_indices(column, order=direction).to_numpy().astype(np.int64)
        return self._orders[key]

    def _answer(self, part: pa.Table, total: int | None, start: int) -> dict[str, Any]:
        kinds = {column["name"]: column["kind"] for column in self.columns()}
        rows = [
            [_text(row[name], kind) for name, kind in kinds.items()]
            for row in in_words(part, self.rows.what, self._metadata)
        ]
        exact = {
            str(at): [None if value is None else str(value) for value in part[name].to_pylist()]
            for at, (name, kind) in enumerate(kinds.items())
            if kind in ("bytes", "time")
        }
        return {"rows": rows, "exact": exact, "total": total, "more": total is None or start + len(rows) < total}

    def _link(self, name: str) -> str:
        """What the values of a column name; empty if a page opens nothing for them."""
        return "file" if name == "path" and self.rows.what in LISTS_OF_FILES else LINKS.get(name, "")

    def _kind(self, name: str, kind: pa.DataType) -> str:
        """How values are shown: times, sizes, numbers and texts stand and sort differently."""
        if not (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
            return "text"
        if name in TIMES and self.rows.what != "rows":
            return "time"
        named = name in LINKS or name.endswith(("id", "-ms", "_ms")) or name in ("content", "status")
        return "text" if named else "bytes" if _BYTES.search(name) and self.rows.what != "rows" else "number"


def _text(value: Any, kind: str) -> str | None:
    if value is None:
        return None
    if kind in ("number", "bytes") and isinstance(value, int) and not isinstance(value, bool):
        return human_bytes(value) if kind == "bytes" else f"{value:,}"
    return cell(value)
