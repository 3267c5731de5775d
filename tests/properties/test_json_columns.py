"""JSON and CSV that are written column by column have the text that Python makes of each row."""

from __future__ import annotations

import datetime
import decimal
import io
import struct
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from explorer import native_module
from explorer.render.json_columns import cell_texts, json_lines
from explorer.render.row_formats import write_csv
from explorer.render.rows import json_rows
from explorer.render.text import json_text

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
SCALARS: list[tuple[pa.DataType, st.SearchStrategy[Any]]] = [
    (pa.int32(), st.integers(-(2**31), 2**31 - 1)), (pa.int64(), st.integers(-(2**63), 2**63 - 1)),
    (pa.bool_(), st.booleans()), (pa.string(), TEXTS), (pa.binary(), st.binary(max_size=6)),
    (pa.float64(), st.floats()), (pa.float32(), st.floats(width=32)), (pa.null(), st.none()),
    (pa.date32(), st.integers(-(2**31), 2**31 - 1).map(lambda day: pa.scalar(day, pa.int32()).cast(pa.date32()))),
    (pa.timestamp("us"), st.integers(-(2**63), 2**63 - 1)),
    (pa.timestamp("us", "UTC"), st.datetimes(timezones=st.just(datetime.timezone.utc))),
    (pa.timestamp("ns"), st.integers(-(2**63), 2**63 - 1)), (pa.time64("us"), st.times()),
    (pa.decimal128(20, 3), st.decimals(-(10**9), 10**9, places=3)), (pa.binary(3), st.binary(min_size=3, max_size=3)),
    (pa.uint64(), st.integers(0, 2**64 - 1)), (pa.duration("us"), st.integers(-(2**63), 2**63 - 1)),
]  # fmt: skip
NAMES = st.lists(TEXTS, min_size=0, max_size=3, unique=True)


def lists(inner: tuple[pa.DataType, st.SearchStrategy[Any]]) -> tuple[pa.DataType, st.SearchStrategy[Any]]:
    kind, values = inner
    return pa.list_(kind), st.lists(st.none() | values, max_size=3)


@st.composite
def kinds(draw: st.DrawFn, depth: int = 2) -> tuple[pa.DataType, st.SearchStrategy[Any]]:
    """A type, and values of it."""
    shape = draw(st.sampled_from(["scalar"] * 3 + (["list", "struct", "map"] if depth else [])))
    if shape == "scalar":
        return draw(st.sampled_from(SCALARS))
    if shape == "list":
        return lists(draw(kinds(depth - 1)))
    if shape == "struct":
        fields = [(name, draw(kinds(depth - 1))) for name in draw(NAMES)]
        values = st.fixed_dictionaries({name: st.none() | inner for name, (_, inner) in fields})
        return pa.struct([(name, kind) for name, (kind, _) in fields]), values
    key, keys = draw(st.sampled_from(SCALARS[:2] + SCALARS[3:5]))
    kind, inner = draw(kinds(depth - 1))
    return pa.map_(key, kind), st.lists(st.tuples(keys, st.none() | inner), max_size=3)


@st.composite
def tables(draw: st.DrawFn) -> pa.Table:
    """A part of a table in one or more chunks."""
    rows = draw(st.integers(0, 5))
    columns = {}
    for name in draw(NAMES):
        kind, values = draw(kinds())
        chunks = [
            pa.array([_value(one) for one in draw(st.lists(st.none() | values, min_size=rows, max_size=rows))], kind)
            for _ in range(2)
        ]
        if pa.types.is_string(kind) and draw(st.booleans()):
            chunks = [chunk.dictionary_encode() for chunk in chunks]
        columns[name] = pa.chunked_array(chunks, chunks[0].type)
    table = pa.table(columns)
    return table.slice(draw(st.integers(0, rows)), draw(st.integers(0, 2 * rows)))


def _value(value: Any) -> Any:
    """Values of dates come as Arrow's, since Python has not all of them."""
    if isinstance(value, pa.Scalar):
        return value
    if isinstance(value, list):
        return [tuple(map(_value, one)) if isinstance(one, tuple) else _value(one) for one in value]
    return {name: _value(one) for name, one in value.items()} if isinstance(value, dict) else value


@given(tables())
@example(pa.table({"a": pa.array([[(1, 2), (1, 3)], [(2, 1), (1, None)], None], pa.map_(pa.int32(), pa.int64()))}))
@example(pa.table({"é": pa.array(['\x00\u202e"\\', "é", "~\x7f"]), "d": pa.array([decimal.Decimal("1.50")] * 3)}))
def test_lines_are_those_of_the_rows(table: pa.Table) -> None:
    lines = "".join(f"{json_text(row, indent=None)}\n" for row in json_rows(table))
    for _ in with_and_without_native_module():
        assert json_lines(table) == lines


@given(tables())
def test_cells_are_those_of_the_rows(table: pa.Table) -> None:
    for name in table.column_names:
        values = [row[name] for row in json_rows(table.select([name]))]
        texts = [one if one is None or isinstance(one, str) else json_text(one, indent=None) for one in values]
        if not pa.types.is_null(table.schema.field(name).type):
            for _ in with_and_without_native_module():
                assert cell_texts(table[name]).to_pylist() == texts


@given(tables())
def test_csv_is_what_arrow_writes(table: pa.Table) -> None:
    texts = []
    for _ in with_and_without_native_module():
        write_csv([table], table.schema, file := io.BytesIO())
        texts.append(file.getvalue())
    assert texts[0] == texts[1]


def with_and_without_native_module() -> Iterator[None]:
    module = native_module.module
    for native_module.module in (module, None):
        yield
    native_module.module = module


@pytest.mark.skipif(native_module.module is None, reason="the native module is not built")
def test_entries_are_written_natively() -> None:
    """What entries have, and nothing else, so that nobody writes them slowly without notice."""
    counts = pa.array([[(1, 2), (3, None)], [], None], pa.map_(pa.int32(), pa.int64()))
    bounds = pa.array([[(1, b"\x00\xff")], None, [(2, None), (9, b"")]], pa.map_(pa.int32(), pa.binary()))
    lists = pa.array([[4, -(2**63)], None, []], pa.list_(pa.int64()))
    words = pa.array(["a", None, "b"]).dictionary_encode()
    rows = pa.StructArray.from_arrays([counts, bounds, lists, words], ["counts", "bounds", "lists", "words"])
    assert native_module.module.json_texts(rows.slice(1)).to_pylist() == [
        '{"counts": {}, "bounds": null, "lists": null, "words": null}',
        '{"counts": null, "bounds": {"2": null, "9": "0x"}, "lists": [], "words": "b"}',
    ]
    columns = [counts, bounds, lists, pa.array(['a"b', None, ""]), pa.array([True, None, False]), pa.array(["1.5"] * 3)]
    assert native_module.module.csv_rows(columns, [False] * 5 + [True]).decode().splitlines() == [
        '"{""1"": 2, ""3"": null}","{""1"": ""0x00ff""}","[4, -9223372036854775808]","a""b",true,1.5',
        '"{}",,,,,1.5',
        ',"{""2"": null, ""9"": ""0x""}","[]","",false,1.5',
    ]


@pytest.mark.skipif(native_module.module is None, reason="the native module is not built")
def test_what_is_damaged_or_unknown_is_not_written_natively() -> None:
    write = native_module.module.json_texts
    two = pa.array([[(1, 2), (1, 3)]], pa.map_(pa.int32(), pa.int64()))
    for array in (two, pa.array(["é"]), pa.array(['"']), pa.array([1.5]), pa.array([b"x"], pa.binary(1))):
        assert write(array) is None
    offsets = pa.py_buffer(struct.pack("<3i", 0, 5, 3))
    damaged = pa.Array.from_buffers(pa.string(), 2, [None, offsets, pa.py_buffer(b"abcde")])
    assert write(damaged) is None
    not_text = pa.Array.from_buffers(
        pa.string(), 1, [None, pa.py_buffer(struct.pack("<2i", 0, 1)), pa.py_buffer(b"\xff")]
    )
    assert write(not_text) is None
    nowhere = pa.DictionaryArray.from_buffers(pa.dictionary(pa.int32(), pa.string()), 1,
                                              [None, pa.py_buffer(struct.pack("<i", 7))], pa.array(["a"]))  # fmt: skip
    assert write(nowhere) is None
