"""Rows as files: CSV, Parquet, and JSON with a row on each line."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from explorer.progress import PartWatch, listener
from explorer.render.json_columns import cell_texts, csv_rows, is_flat, json_lines
from explorer.render.rows import JsonRows
from explorer.render.text import escape_json, json_text

T = TypeVar("T")
AT_ONCE, MOST_ROWS = 4 << 20, 4_000
"""Bytes, and number, of rows that become text at once."""
THREADS = 2
FORMULA = r"^\s*[=+\-@\x{ff1d}\x{ff0b}\x{ff0d}\x{ff20}]|^[\t\r\n]"
"""What a spreadsheet may compute, also in full-width signs."""
NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"


def write_csv(tables: Iterable[pa.Table], schema: pa.Schema, file: Any, for_spreadsheet: bool = False) -> None:
    """Write rows as CSV. Nested values are JSON, times have ISO form, bytes are hex text.

    Args:
        tables: The rows, in parts.
        schema: The schema of each part.
        file: A binary file.
        for_spreadsheet: Put an apostrophe before text that a spreadsheet would take for a formula.
    """
    flat = pa.schema([pa.field(f.name, f.type if _is_simple(f.type) else pa.string()) for f in schema])
    names = pa.chunked_array([flat.names], pa.string())
    names = (_without_formulas(names) if for_spreadsheet else names).to_pylist()
    head = pa.schema([pa.field(name, field.type) for name, field in zip(names, flat, strict=True)])
    headless = pa_csv.WriteOptions(include_header=False)

    def text(table: pa.Table) -> pa.Buffer | bytes:
        if not for_spreadsheet and (rows := csv_rows(table)) is not None:
            return rows
        columns = [_flat_column(table, field.name) for field in schema]
        if for_spreadsheet:
            columns = [_without_formulas(c) if pa.types.is_string(c.type) else c for c in columns]
        return _csv(pa.table(columns, schema=head), headless)

    file.write(_csv(head.empty_table(), pa_csv.WriteOptions()))
    for buffer in _on_threads(tables, text):
        file.write(buffer)


def _csv(table: pa.Table, options: pa_csv.WriteOptions) -> pa.Buffer:
    sink = pa.BufferOutputStream()
    pa_csv.write_csv(table, sink, options)
    return sink.getvalue()


def write_parquet(tables: Iterable[pa.Table], schema: pa.Schema, file: Any) -> None:
    """Write rows as Parquet. A struct without fields, such as the partition of an unpartitioned table, is null.

    Args:
        tables: The rows, in parts.
        schema: The schema of each part.
        file: A path, or a binary file.
    """
    stored = pa.schema([pa.field(field.name, _parquet_type(field.type)) for field in schema])
    flat = [field.name for field in stored if not pa.types.is_nested(field.type)]
    with pq.ParquetWriter(file, stored, use_dictionary=flat) as writer:  # bounds and counts hardly repeat
        for table in tables:
            columns = [_without_empty_structs(table[field.name], field.type) for field in schema]
            writer.write_table(pa.table(columns, schema=stored))


def json_array(rows: Iterable[Any]) -> Iterator[str]:
    """Return the text of a JSON array in pieces, a row on each line."""
    return _array(json_text(row, indent=None) for row in rows)


def table_pieces(tables: Iterable[pa.Table], is_array: bool) -> Iterator[str]:
    """Return rows as JSON in pieces, one for each part of the rows.

    Args:
        tables: The rows, in parts.
        is_array: Whether they are a JSON array; else each is an object on its own line.
    """
    ends = ",\n" if is_array else "\n"
    texts = _on_threads(tables, lambda table: json_lines(table, ends))
    return _array(text[: -len(ends)] for text in texts) if is_array else texts


def json_pieces(data: Mapping[str, Any]) -> Iterator[str]:
    """`json_text` of an object, in pieces: the elements of values that are iterators are made as they are needed."""
    for at, (name, value) in enumerate(data.items()):
        yield f"{',' if at else '{'}\n  {json_text(name)}: "
        if not isinstance(value, Iterator):
            yield _deeper(value, 2)
            continue
        if isinstance(value, JsonRows) and all(map(is_flat, value.schema.types)):
            texts = _on_threads(value.parts, lambda rows: json_lines(rows, ",\n    ", 4)[: -len(",\n    ")])
            value = (text for text in texts if text)
        else:
            value = (_deeper(element, 4) for element in value)
        empty = True
        for element in value:
            yield f"{'[' if empty else ','}\n    {element}"
            empty = False
        yield "[]" if empty else "\n  ]"
    yield "\n}" if data else "{}"


def _deeper(data: Any, spaces: int) -> str:
    """`json_text` that stands so far to the right. Python writes what has an indent by itself, and slowly."""
    line = "\n" + " " * spaces
    if isinstance(data, dict) and data and not any(isinstance(value, (dict, list)) for value in data.values()):
        text = json.dumps(data, ensure_ascii=False, separators=(f",{line}  ", ": "))
        return escape_json(f"{{{line}  {text[1:-1]}{line}}}")
    return json_text(data).replace("\n", line)


def _on_threads(tables: Iterable[pa.Table], change: Callable[[pa.Table], T]) -> Iterator[T]:
    """What a change makes of all rows, some of them at a time, in order. Those of a table are made on several threads,
    and given before the next table is asked for."""
    watch = PartWatch(listener())

    def change_watched(rows: pa.Table) -> T:
        with watch.listening():
            return change(rows)

    with ThreadPoolExecutor(THREADS) as threads:
        for table in tables:
            waiting: deque[Future[T]] = deque()
            for rows in _slices(table):
                waiting.append(threads.submit(change_watched, rows))
                if len(waiting) > THREADS:
                    yield waiting.popleft().result()
            yield from (future.result() for future in waiting)


def _slices(table: pa.Table) -> Iterator[pa.Table]:
    """The same rows in parts of AT_ONCE bytes, about, and MOST_ROWS at most: as text they are a few times as long."""
    rows = max(1, min(MOST_ROWS, table.num_rows * AT_ONCE // max(table.nbytes, 1)))
    return (table.slice(at, rows) for at in range(0, table.num_rows, rows))


def _array(pieces: Iterator[str]) -> Iterator[str]:
    first = next(pieces, None)
    yield "[]" if first is None else f"[\n{first}"
    for piece in pieces:
        yield f",\n{piece}"
    yield "\n" if first is None else "\n]\n"


def _is_simple(kind: pa.DataType) -> bool:
    """Whether CSV has the values of a type as they are."""
    types = pa.types
    tests = (types.is_integer, types.is_floating, types.is_string, types.is_boolean, types.is_null)
    return any(test(kind) for test in tests)


def _flat_column(table: pa.Table, name: str) -> pa.ChunkedArray:
    """A column as it is, or as text: JSON, where it is nested."""
    if _is_simple(table.schema.field(name).type):
        return table[name]
    return pa.chunked_array([cell_texts(table[name])])


def _without_formulas(texts: pa.ChunkedArray) -> pa.ChunkedArray:
    """Texts with an apostrophe before those that begin like a formula. Numbers stay."""
    is_formula = pc.and_not(pc.match_substring_regex(texts, FORMULA), pc.match_substring_regex(texts, NUMBER))
    quote, nothing = pa.scalar("'", texts.type), pa.scalar("", texts.type)
    return pc.if_else(is_formula, pc.binary_join_element_wise(quote, texts, nothing), texts)


def _parquet_type(kind: pa.DataType) -> pa.DataType:
    """A type as Parquet can store it: a struct without fields is null."""
    if not pa.types.is_struct(kind):
        return kind
    fields = [pa.field(field.name, _parquet_type(field.type)) for field in kind]
    return pa.struct(fields) if fields else pa.null()


def _without_empty_structs(column: pa.ChunkedArray, kind: pa.DataType) -> Any:
    """A column with nulls in place of structs without fields."""
    if _parquet_type(kind) == kind:
        return column
    if kind.num_fields == 0:
        return pa.nulls(len(column))
    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    parts = [_without_empty_structs(array.field(at), field.type) for at, field in enumerate(kind)]
    return pa.StructArray.from_arrays(parts, fields=list(_parquet_type(kind)), mask=array.is_null())
