"""Rows of one kind, as the Python API returns them: shown as a table, iterated as dicts, converted to anything."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from functools import partial
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from explorer.errors import NotFoundInTable
from explorer.extras import needs_extra
from explorer.model.manifest import METRIC_FIELDS
from explorer.queries.filters import arrow_columns, matching, parse_filter
from explorer.render.blocks import Block, Fact, FactTable, FoldedBlocks, Notice, Rows
from explorer.render.list_columns import first_columns, with_times
from explorer.render.row_formats import write_csv, write_parquet
from explorer.render.rows import columns_of, json_rows, plain
from explorer.render.text import cell, clean, not_typeset, render_stream
from explorer.spark_engine.engine_choice import Choice
from explorer.spark_engine.pipeline import Framed, change_rows, without_dictionaries
from explorer.spark_engine.read_queue import ScanReport, SparkRead
from explorer.spark_engine.spark import shared_engine
from explorer.spark_engine.user_spark import keep_active_session
from explorer.spark_engine.versions import spark_frame
from explorer.spec.entries.lazy_table import Batches
from explorer.spec.rows.spilled_rows import RowParts
from explorer.spec.text.names import base_name, shorten
from explorer.spec.text.printable import show_blanks
from explorer.spec.text.units import human_bytes
from explorer.spec.values.values import pandas_values, row_dicts
from explorer.storage.projection import children
from explorer.storage.spill import spool
from explorer.storage.whole_files import opened

if TYPE_CHECKING:
    import pandas
    import polars

METRICS = frozenset(field.name for field in METRIC_FIELDS)
"""Columns of files and entries that are read where they are asked for."""
SHOWN, ROWS_AT_FIRST = 20, 1000
"""Rows that are shown, and that a read through Spark gives where no other limit is asked for."""
CELL, SENTENCE, LINE, FEW = 48, 300, 32, 6
"""Characters of a cell that a notebook shows, of one with words where there are at most FEW columns, and of its line if
the table needs room."""


class Collection(Sequence[Mapping[str, Any]]):
    """An immutable list of rows under the spec's field names, as Arrow. `len()`, iteration and indexing give dicts. In
    a notebook the first rows show as a table.

    Rows that grow with the table are read as they are asked for: `iter_batches` and loops hold a part of them at a
    time. All else reads all of them, once, into memory or, when they are many, into a file, of which a part at a time
    is mapped: `to_arrow` and the like map it whole."""

    def __init__(
        self,
        rows: pa.Table | RowParts | Batches,
        what: str,
        frame: Framed | None = None,
        choice: Choice | None = None,
    ) -> None:
        self._rows = RowParts.of(rows) if isinstance(rows, pa.Table) else rows
        self.what, self._frame = what, frame
        self.choice = choice
        """Who makes the rows, and why, where this process and Spark can."""
        self._lock = threading.Lock()

    def _all(self) -> RowParts:
        """All rows, read now if they were not."""
        with self._lock:
            if isinstance(self._rows, Batches):
                self._rows = spool(self._rows.schema, self._rows.read())
            return self._rows

    def __reduce__(self) -> tuple[type[Collection], tuple[pa.Table, str]]:
        return Collection, (self.to_arrow(), self.what)

    @classmethod
    def of_rows(cls, rows: Sequence[Mapping[str, Any]], what: str) -> Collection:
        """Make a list of rows from dicts.

        Args:
            rows: The rows; columns are the union of their keys.
            what: What the rows are, in the plural.

        Returns:
            The list.

        Example:
            >>> explorer.Collection.of_rows([{"fruit": "apple"}, {"fruit": "fig"}], "fruits").columns
            ['fruit']
        """
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
        return len(self._all())

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return row_dicts(self._all().take(np.arange(*index.indices(len(self)))), "lossy")
        if not -len(self) <= index < len(self):
            raise IndexError(f"{self.what}: row {index} of {len(self)}")
        return row_dicts(self._all().take(np.array([index % len(self)])), "lossy")[0]

    def __iter__(self) -> Iterator[Mapping[str, Any]]:
        for batch in self.iter_batches(4096):
            yield from row_dicts(pa.Table.from_batches([batch]), "lossy")

    @property
    def is_read(self) -> bool:
        """Whether all rows were read already."""
        return not isinstance(self._rows, Batches)

    def take(self, places: np.ndarray[Any, Any]) -> pa.Table:
        """Return the rows at some places, in their order.

        Args:
            places: The numbers of the rows, from 0.

        Returns:
            The rows.
        """
        return self._all().take(places)

    def iter_batches(self, rows: int = 65_536) -> Iterator[pa.RecordBatch]:
        """Read the rows in batches, as they are asked for.

        Args:
            rows: The largest number of rows of a batch.

        Yields:
            Batches.

        Example:
            >>> table = explorer.open_table("demo.three_inserts")
            >>> [batch.num_rows for batch in table.inspect.files().iter_batches(2)]
            [2, 1]
        """
        for part in self.iter_tables():
            yield from part.to_batches(max_chunksize=rows)

    def iter_tables(self, rows: int | None = None) -> Iterator[pa.Table]:
        """Read the rows in parts as they are made.

        Args:
            rows: The largest number of rows of a part; as they are made if left out.

        Returns:
            The parts, as pyarrow.Table.

        Example:
            >>> table = explorer.open_table("demo.three_inserts")
            >>> sum(part.num_rows for part in table.inspect.files().iter_tables())
            3
        """
        if rows is None:
            return self._rows.read()
        return (pa.Table.from_batches([batch]) for batch in self.iter_batches(rows))

    def select(self, where: str = "", columns: Sequence[str] = (), limit: int | None = None) -> Collection:
        """Choose rows and columns.

        Args:
            where: A filter such as `status = 2 and partition.day > '2024-03-01'` (docs/filters.md).
            columns: The columns, in their order; all if left out.
            limit: The largest number of rows.

        Returns:
            The rows. Of nothing, as no manifest says what columns it would have, nothing is chosen.

        Raises:
            NotFoundInTable: There is no such column, or the filter does not fit.

        Example:
            >>> table = explorer.open_table("demo.three_inserts")
            >>> table.inspect.snapshots().select("snapshot = 'snapshot-2'", ["operation"]).to_json()
            [{'operation': 'append'}]
        """
        if not self._rows.schema.names:
            return self
        rows, frame = Batches(self._rows.schema, self._rows.read), self._frame
        if unknown := [name for name in columns if name not in rows.schema.names]:
            names = ", ".join(rows.schema.names)
            is_metric = unknown[0] in METRICS and self.what in ("files", "entries")
            more = "; --metrics (metrics=True) shows counts and bounds" if is_metric else ""
            raise NotFoundInTable(f"{self.what} have no column {unknown[0]!r} (columns: {names}){more}")
        if where.strip():
            bound = parse_filter(where, arrow_columns(rows.schema), what=self.what)
            match = partial(matching, bound=bound)
            frame = frame and change_rows(frame, rows.schema, match)
            rows = rows.map(match)
        if columns:
            frame = frame and _columns_of(frame, columns)
            rows = rows.map(lambda table: table.select(list(columns)))
        if limit is not None:
            frame = frame and _first_of(frame, limit)
            rows = _first(rows, limit)
        return Collection(rows, self.what, frame, self.choice)

    @property
    def schema(self) -> pa.Schema:
        """Names and Arrow types of the columns."""
        return self._rows.schema

    @property
    def columns(self) -> list[str]:
        """Column names."""
        return list(self.schema.names)

    def to_arrow(self) -> pa.Table:
        """Read all rows.

        Returns:
            The rows as a pyarrow.Table.

        Example:
            >>> table = explorer.open_table("demo.three_inserts")
            >>> table.inspect.files().to_arrow()["record_count"].to_pylist()
            [1, 1, 1]
        """
        return self._all().whole()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Hand the rows to whoever takes Arrow's C streams: DuckDB, polars, ibis, pyarrow."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def to_pandas(self) -> pandas.DataFrame:
        """Read all rows.

        Returns:
            The rows as a pandas.DataFrame.

        Example:
            >>> table = explorer.open_table("demo.three_inserts")
            >>> int(table.inspect.files().to_pandas()["record_count"].sum())
            3
        """
        with needs_extra():
            import pandas
        table = self.to_arrow()
        odd = [name for name in table.column_names if _is_odd(table.schema.field(name).type)]
        plain = table.drop_columns(odd)
        try:
            frame = plain.to_pandas(maps_as_pydicts="lossy")
        except (OverflowError, ValueError, TypeError):  # Arrow's own errors are among them
            frame = pandas.DataFrame(dict(zip(plain.column_names, map(pandas_values, plain.columns), strict=True)))
        for name in odd:
            values = [row[name] for row in row_dicts(table.select([name]), "lossy")]
            frame.insert(table.column_names.index(name), name, values)
        return frame

    def to_polars(self) -> polars.DataFrame:
        """Read all rows.

        Returns:
            The rows as a polars.DataFrame; maps become lists of key-value structs.

        Example:
            >>> table = explorer.open_table("demo.three_inserts")
            >>> table.inspect.files().to_polars()["record_count"].sum()
            3
        """
        with needs_extra():
            import polars
        return polars.DataFrame(polars.from_arrow(_maps_as_lists(self.to_arrow())))

    def to_spark(self, spark: Any = None) -> Any:
        """Have Spark read the rows. Entries, files and partitions, and what is selected of them, are read by its
        workers, from manifests; those that they cannot read are left out. Of a limit they are the first that Spark
        comes to.

        Args:
            spark: A Spark session; the embedded one if left out.

        Returns:
            The rows as a DataFrame of Spark.

        Raises:
            EngineError: Spark or Java is not available.

        Example:
            >>> table = explorer.open_table("demo.three_inserts")
            >>> table.inspect.files().to_spark().count()
            3
        """
        session = spark or shared_engine().session()
        if self._frame:
            return self._frame(session)
        with nullcontext() if spark else keep_active_session(session.sparkContext):
            return spark_frame(session, without_dictionaries(self.to_arrow()))

    def to_csv(self, file: Any, for_spreadsheet: bool = False) -> None:
        """Write the rows as CSV, as they are read. Nested values are JSON.

        Args:
            file: A path, or a binary file.
            for_spreadsheet: Put an apostrophe before text that a spreadsheet would take for a formula.
        """
        with opened(file) as binary:
            write_csv(self.iter_tables(), self.schema, binary, for_spreadsheet)

    def to_parquet(self, file: Any) -> None:
        """Write the rows as Parquet, as they are read. A struct without fields is null.

        Args:
            file: A path, or a binary file.
        """
        with opened(file) as binary:
            write_parquet(self.iter_tables(), self.schema, binary)

    def to_json(self) -> list[dict[str, Any]]:
        """Return the rows as JSON data.

        Returns:
            A dict for each row: bytes as hex, dates and times in ISO form.

        Example:
            >>> table = explorer.open_table("demo.three_inserts")
            >>> table.inspect.schema().select(columns=["name", "type"]).to_json()
            [{'name': 'fruit', 'type': 'string'}]
        """
        return json_rows(self.to_arrow())

    def to_text(self) -> str:
        """Return the rows as a text table.

        Returns:
            All rows.

        Example:
            >>> table = explorer.open_table("demo.three_inserts")
            >>> print(table.inspect.schema().select(columns=["name", "type"]).to_text(), end="")
            name   type
            fruit  string
        """
        return "".join(self.text_pieces())

    def text_pieces(self) -> Iterator[str]:
        """Return the text of `to_text` in pieces, as the rows are read."""
        rows = (row for part in self.iter_tables() for row in with_times(json_rows(part), self.what))
        return render_stream(rows, None, first_columns(self.what, self.columns))

    def blocks(self) -> Sequence[Block]:
        """Return the parts of a page that shows the rows.

        Returns:
            One block of rows.

        Example:
            >>> table = explorer.open_table("demo.three_inserts")
            >>> [type(block).__name__ for block in table.inspect.files().blocks()]
            ['Rows']
        """
        return [Rows(self)]

    def __repr__(self) -> str:
        more = f"… {len(self) - SHOWN:,} more rows\n" if len(self) > SHOWN else ""
        shown = with_times(self[:SHOWN], self.what)
        lines = "".join(render_stream(shown, None, first_columns(self.what, self.columns), fitting=True))
        return f"{self.what}: {len(self):,} rows\n{lines}{more}"

    def _repr_html_(self) -> str:
        head = "".join(f"<th style='text-align:left'>{escape(cell(name))}</th>" for name in self.columns)
        body = []
        for row in with_times(self[:SHOWN], self.what):
            body.append(f"<tr>{''.join(_html_cell(show_blanks(cell(plain(v))), len(row)) for v in row.values())}</tr>")
        more = f"<p>… {len(self) - SHOWN:,} more rows</p>" if len(self) > SHOWN else ""
        table = f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody></table>"
        return not_typeset(f"<div style='overflow-x:auto'>{table}{more}</div>")


def _html_cell(text: str, columns: int) -> str:
    """A cell of a notebook's table. A sentence has lines, if the columns are few; a name or a path has one."""
    is_sentence = len(text) > LINE and " " in text and columns <= FEW
    space = "white-space:normal;min-width:16em" if is_sentence else "white-space:nowrap"
    shown = escape(shorten(text, SENTENCE if is_sentence else CELL))
    return f"<td title='{escape(text, quote=True)}' style='text-align:left;{space}'>{shown}</td>"


def _is_odd(kind: pa.DataType, inside: bool = False) -> bool:
    """Whether pandas is not given a type by Arrow: a UUID or fixed bytes inside a list, map or struct."""
    if isinstance(kind, pa.BaseExtensionType) or pa.types.is_fixed_size_binary(kind):
        return inside
    return pa.types.is_nested(kind) and any(_is_odd(field.type, True) for field in children(kind))


class SparkRows(Collection):
    """Rows that Spark read, with the scan reports of its plan and which version and schema it was. `cut` says in words
    that these are the first of more rows; it is empty where they are all."""

    def __init__(self, table: pa.Table, reports: tuple[ScanReport, ...], version: str, cut: str = "") -> None:
        super().__init__(table, "rows")
        self.reports, self.words, self.cut = reports, version, cut

    @classmethod
    def of(cls, read: SparkRead, version: str) -> SparkRows:
        """From a read that is done. Warns where the limit that counts without another one cut it off."""
        rows = read.result()
        cut = f"{read.cut_note}{'' if read.cut else ' limit=None reads all'}" if read.cut_note else ""
        if cut and read.request.limit == ROWS_AT_FIRST:
            warnings.warn(cut, stacklevel=3)
        return cls(rows, read.reports, version, cut)

    def blocks(self) -> Sequence[Block]:
        """Return the parts of a page that shows the rows.

        Returns:
            What was read, the rows, and a scan report for each table.
        """
        told = [Notice(clean(text)) for text in (self.words, self.cut) if text]
        reports = [
            FoldedBlocks(f"Scan report of {clean(base_name(one.table))}", (_report(one),)) for one in self.reports
        ]
        return [*told, Rows(self), *reports]

    def __repr__(self) -> str:
        told = f"{clean(self.words)}\n" if self.words else ""
        return told + super().__repr__() + (f"{self.cut}\n" if self.cut else "")

    def _repr_html_(self) -> str:
        told = not_typeset(f"<p>{escape(clean(self.words))}</p>") if self.words else ""
        return told + super()._repr_html_() + (f"<p>{escape(self.cut)}</p>" if self.cut else "")


def _report(report: ScanReport) -> FactTable:
    """A scan report: what was scanned and skipped, the bytes, and how long planning took."""
    names = {
        "DataManifests": "data manifests", "DeleteManifests": "delete manifests", "DataFiles": "data files",
        "DeleteFiles": "delete files",
    }  # fmt: skip
    facts = []
    for name, words in names.items():
        scanned, skipped = report.pair(name)
        facts.append(Fact(words, f"{scanned:,} scanned, {skipped:,} skipped"))
    size = human_bytes(report.metrics.get("totalDataFileSize"))
    took = report.metrics.get("totalPlanningDuration", 0)
    return FactTable((*facts, Fact("bytes of data files", size), Fact("planning", f"{took:,} ms")))


def _columns_of(frame: Framed, columns: Sequence[str]) -> Framed:
    quoted = [f"`{name.replace('`', '``')}`" for name in columns]
    return lambda spark: frame(spark).select(*quoted)


def _first_of(frame: Framed, limit: int) -> Framed:
    return lambda spark: frame(spark).limit(limit)


def _first(rows: Batches, limit: int) -> Batches:
    def read() -> Iterator[pa.Table]:
        left = limit
        for part in rows.read():
            yield part.slice(0, left)
            left -= part.num_rows
            if left <= 0:
                return

    return Batches(rows.schema, read)


def _maps_as_lists(table: pa.Table) -> pa.Table:
    for i, field in enumerate(table.schema):
        if pa.types.is_map(field.type):
            items = pa.list_(pa.struct([("key", field.type.key_type), ("value", field.type.item_type)]))
            table = table.set_column(i, field.name, table.column(i).cast(items))
    return table
