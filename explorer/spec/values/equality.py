"""Which rows are equal. Equal rows get the same number, by which they are joined, counted and grouped."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from explorer.spec.entries.numpy_columns import Flags, Ints
from explorer.spec.values.values import row_dicts


def comparable(column: pa.ChunkedArray, signed_zero: bool = False) -> pa.ChunkedArray:
    """Make a column whose equality is the one that is meant.

    Args:
        column: Any column.
        signed_zero: Whether -0.0 is another number than 0.0.

    Returns:
        Nested values and decimals as text, which is equal when the values are; one NaN, and one zero unless they are
        signed. Everything else as it is, text and binary in Arrow's large types.
    """
    if isinstance(column.type, pa.BaseExtensionType):
        column = column.cast(column.type.storage_type)
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    kind = column.type
    if pa.types.is_nested(kind):
        nested = [row["v"] for row in row_dicts(pa.table({"v": column}))]
        texts = [None if value is None else _text(value) for value in nested]
        return pa.chunked_array([pa.array(texts, pa.large_string())])
    if pa.types.is_floating(kind):
        column = column.cast(pa.float32()) if pa.types.is_float16(kind) else column
        column = pc.if_else(pc.is_nan(column), pa.scalar(np.nan, column.type), column)
        return column if signed_zero else pc.if_else(pc.equal(column, 0.0), pa.scalar(0.0, column.type), column)
    if pa.types.is_decimal(kind) or pa.types.is_string(kind):
        return column.cast(pa.large_string())
    if pa.types.is_fixed_size_binary(kind):
        column = column.cast(pa.binary())
    return column.cast(pa.large_binary()) if pa.types.is_binary(column.type) else column


def bits(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """View numbers, dates and times as whole numbers of as many bits."""
    kind = column.type
    if pa.types.is_null(kind):
        return column.cast(pa.int8())
    if pa.types.is_integer(kind) or pa.types.is_boolean(kind):
        return column
    whole = pa.type_for_alias(f"int{kind.bit_width}")
    return pa.chunked_array([chunk.view(whole) for chunk in column.chunks], whole)


def number_rows(*tables: Sequence[pa.ChunkedArray]) -> list[Ints]:
    """Number the rows of tables from 0 on, in the order in which they come first.

    Args:
        tables: The `comparable` columns of each: as many, and of the same types. A column of nulls may have no type.

    Returns:
        The numbers of the rows of each table. Equal rows have the same number, whichever table they are in; null equals
        null.
    """
    lengths = [len(table[0]) for table in tables]
    numbers, known = np.zeros(sum(lengths), np.int64), min(1, sum(lengths))
    for columns in zip(*tables, strict=True):
        values, distinct = _number_values(columns)
        if known <= 1:
            numbers, known = values, distinct
        elif distinct > 1:
            numbers, known = _number_values([_as_column(numbers * distinct + values)])
    return np.split(numbers, np.cumsum(lengths)[:-1])


def join_rows(ones: Ints, others: Ints) -> tuple[Ints, Ints]:
    """Find the rows with the same number.

    Args:
        ones: Numbers of rows, as `number_rows` has them.
        others: Numbers of other rows.

    Returns:
        The places of both rows of each pair, in the order of the first.
    """
    count = int(max(ones.max(initial=-1), others.max(initial=-1))) + 1
    there = np.bincount(others, minlength=count)
    starts = np.cumsum(there) - there
    matches = there[ones]
    before = np.cumsum(matches) - matches
    first = np.repeat(np.arange(len(ones)), matches)
    at = np.arange(len(first)) + np.repeat(starts[ones] - before, matches)
    return first, np.argsort(others, kind="stable")[at]


def find_rows(rows: Sequence[pa.ChunkedArray], wanted: Sequence[pa.ChunkedArray]) -> Ints:
    """Find the rows that are equal to one of those that are wanted, which should be the fewer.

    Args:
        rows: The `comparable` columns of a table.
        wanted: The same columns of another one.

    Returns:
        The places of the rows, ascending.
    """
    places, numbers, wanted_numbers = _look_up(rows[0], wanted[0])
    for column, wanted_column in zip(rows[1:], wanted[1:], strict=True):
        there, values, wanted_values = _look_up(column.take(pa.array(places)), wanted_column)
        places, count = places[there], int(wanted_values.max(initial=0)) + 1
        pairs = numbers[there] * count + values, wanted_numbers * count + wanted_values
        there, numbers, wanted_numbers = _look_up(*map(_as_column, pairs))
        places = places[there]
    return places


def _look_up(column: pa.ChunkedArray, wanted: pa.ChunkedArray) -> tuple[Ints, Ints, Ints]:
    """The places of the values of a column that are wanted, the number of each, and the numbers of those wanted."""
    numbers, distinct = _encode(wanted)
    at = pc.index_in(_whole(column), distinct)
    return np.flatnonzero(at.is_valid().to_numpy()), at.drop_null().to_numpy().astype(np.int64), numbers


def is_among(numbers: Ints, others: Ints) -> Flags:
    """Say which of some rows have the number of one of the others."""
    there = np.zeros(int(max(numbers.max(initial=-1), others.max(initial=-1))) + 1, bool)
    there[others] = True
    among: Flags = there[numbers]
    return among


def first_places(numbers: Ints) -> Ints:
    """Find where each number, of all from 0 on, comes first."""
    first = np.zeros(int(numbers.max(initial=-1)) + 1, np.int64)
    first[numbers[::-1]] = np.arange(len(numbers))[::-1]  # of several the last one is kept
    return first


def group_places(values: Ints) -> Iterator[tuple[int, Ints]]:
    """Yield each value, in ascending order, and the places where it is."""
    order = np.argsort(values, kind="stable")
    for places in np.split(order, np.flatnonzero(np.diff(values[order])) + 1) if len(values) else ():
        yield int(values[places[0]]), places


def _number_values(columns: Sequence[pa.ChunkedArray]) -> tuple[Ints, int]:
    """Number the values of some columns together, and say how many there are."""
    kinds = [column.type for column in columns if not pa.types.is_null(column.type)]
    kind = kinds[0] if kinds else pa.int8()
    chunks = [chunk for column in columns for chunk in column.cast(kind).chunks]
    values, distinct = _encode(pa.chunked_array(chunks, kind))
    return values, len(distinct)


def _encode(column: pa.ChunkedArray) -> tuple[Ints, pa.Array]:
    """Number the values of a column, and list them."""
    encoded = _whole(column).dictionary_encode(null_encoding="encode").chunks
    numbers = [np.zeros(0, np.int64), *(chunk.indices.to_numpy() for chunk in encoded)]
    return np.concatenate(numbers), encoded[-1].dictionary if encoded else pa.array([], _whole(column).type)


def _whole(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Floating-point numbers as their bits, of which NaN is one, and -0.0 another than 0.0."""
    return bits(column) if pa.types.is_floating(column.type) else column


def _as_column(numbers: Ints) -> pa.ChunkedArray:
    return pa.chunked_array([pa.array(numbers)])


def _text(value: object) -> str:
    """A nested value as text that is equal when the values are: maps in any order."""
    if isinstance(value, dict):
        return "{" + ",".join(f"{k!r}:{_text(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        pairs = [_text(v) for v in value]
        is_map = value and all(isinstance(v, tuple) and len(v) == 2 for v in value)
        return "[" + ",".join(sorted(pairs) if is_map else pairs) + "]"
    if isinstance(value, tuple):
        return "(" + ",".join(_text(v) for v in value) + ")"
    if isinstance(value, float):
        return "nan" if value != value else repr(value + 0.0)
    return repr(value)
