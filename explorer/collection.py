"""Rows of one kind, as the Python API returns them: shown as a table, iterated as dicts, converted to anything."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from explorer.core.names import shorten
from explorer.core.values import row_dicts
from explorer.views.rows import columns_of, plain
from explorer.views.text import cell, render_table

if TYPE_CHECKING:
    import pandas
    import polars

SHOWN = 20


class Collection(Sequence[Mapping[str, Any]]):
    """An immutable list of rows under the spec's field names, backed by an Arrow table.

    `len()`, iteration and indexing give dicts. In a notebook the first rows show as a table."""

    def __init__(self, table: pa.Table, what: str) -> None:
        self._table, self.what = table, what

    @classmethod
    def of_rows(cls, rows: Sequence[Mapping[str, Any]], what: str) -> Collection:
        """From dicts; columns are the union of their keys."""
        names = columns_of(rows)
        arrays = {}
        for name in names:
            values = [row.get(name) for row in rows]
            if any(isinstance(v, dict) for v in values):  # string maps: keys differ from row to row
                values = [None if v is None else [(k, str(x)) for k, x in v.items()] for v in values]
                arrays[name] = pa.array(values, pa.map_(pa.string(), pa.string()))
            else:
                arrays[name] = pa.array(values)
        return cls(pa.table(arrays), what)

    def __len__(self) -> int:
        return int(self._table.num_rows)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return row_dicts(self._table.take(list(range(*index.indices(len(self))))), "lossy")
        if not -len(self) <= index < len(self):
            raise IndexError(f"{self.what}: row {index} of {len(self)}")
        return row_dicts(self._table.slice(index % len(self), 1), "lossy")[0]

    def __iter__(self) -> Iterator[Mapping[str, Any]]:
        for batch in self._table.to_batches(max_chunksize=4096):
            yield from row_dicts(pa.Table.from_batches([batch]), "lossy")

    @property
    def columns(self) -> list[str]:
        """Column names."""
        return list(self._table.column_names)

    def to_arrow(self) -> pa.Table:
        """The rows as a pyarrow.Table; no copy."""
        return self._table

    def to_pandas(self) -> pandas.DataFrame:
        """The rows as a pandas.DataFrame."""
        return self._table.to_pandas(maps_as_pydicts="lossy")

    def to_polars(self) -> polars.DataFrame:
        """The rows as a polars.DataFrame; maps become lists of key-value structs."""
        import polars

        return polars.DataFrame(polars.from_arrow(_maps_as_lists(self._table)))

    def to_json(self) -> list[dict[str, Any]]:
        """The rows as JSON data: bytes as hex, dates and times in ISO form."""
        return [plain(row) for row in self]

    def __repr__(self) -> str:
        more = f"… {len(self) - SHOWN:,} more rows\n" if len(self) > SHOWN else ""
        return f"{self.what}: {len(self):,} rows\n{render_table(self[:SHOWN])}{more}"

    def _repr_html_(self) -> str:
        head = "".join(f"<th style='text-align:left'>{escape(name)}</th>" for name in self.columns)
        body = []
        for row in self[:SHOWN]:
            cells = "".join(
                f"<td title='{escape(cell(plain(v)), quote=True)}' style='text-align:left;white-space:nowrap'>"
                f"{escape(shorten(cell(plain(v)), 48))}</td>"
                for v in row.values()
            )
            body.append(f"<tr>{cells}</tr>")
        more = f"<p>… {len(self) - SHOWN:,} more rows</p>" if len(self) > SHOWN else ""
        table = f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody></table>"
        return f"<div style='overflow-x:auto'>{table}{more}</div>"


def _maps_as_lists(table: pa.Table) -> pa.Table:
    for i, field in enumerate(table.schema):
        if pa.types.is_map(field.type):
            items = pa.list_(pa.struct([("key", field.type.key_type), ("value", field.type.item_type)]))
            table = table.set_column(i, field.name, table.column(i).cast(items))
    return table
