"""Rows as JSON and CSV text: the same text as json_text makes of each row of json_rows, without a Python object for
each value. By the native module where it is and writes them, else column by column."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from explorer import native_module
from explorer.render.rows import plain
from explorer.render.text import json_text
from explorer.spec.values.values import column_values

NOT_PLAIN = r"[^ !#-\[\]-~]"
"""A character that JSON escapes, or that `json_text` does: only these strings are written one by one."""
NULL = "null"


def json_lines(table: pa.Table, end: str = "\n", indent: int | None = None) -> str:
    """Return each row of a table as a JSON object.

    Args:
        table: Rows of any types.
        end: What follows each object.
        indent: Spaces before an object's last line, where each value has a line of its own; only without nested values.

    Returns:
        The text of all rows; see `rows.plain` for values that JSON does not have.
    """
    table = table.combine_chunks()
    arrays = [(field.name, _one(table[at])) for at, field in enumerate(table.schema)]
    line = "" if indent is None else "\n" + " " * indent
    around = (f"{{{line}  ", f",{line}  ", f"{line}}}") if line else ("{", ", ", "}")
    pieces = [f"{around[at > 0]}{json_text(name)}: " for at, (name, _) in enumerate(arrays)]
    if native_module.module is not None and arrays:
        is_json = [not _is_written_natively(array) for _, array in arrays]
        columns = [_texts(array) if is_text else array for (_, array), is_text in zip(arrays, is_json, strict=True)]
        text: str | None = native_module.module.json_rows(pieces, columns, is_json, around[2] + end)
        if text is not None:
            return text
    if not arrays:
        return f"{{}}{end}" * int(table.num_rows)
    texts = [part for piece, (_, array) in zip(pieces, arrays, strict=True) for part in (piece, _texts(array))]
    return _joined(_join(*texts), around[2] + end)


def is_flat(kind: pa.DataType) -> bool:
    """Return whether a value of a type is written on one line, however far an object is indented."""
    return not pa.types.is_nested(kind.value_type if pa.types.is_dictionary(kind) else kind)


def csv_rows(table: pa.Table) -> bytes | None:
    """Return the rows of a table as CSV, written by the native module.

    Args:
        table: Rows of any types.

    Returns:
        The text of all rows; None where Arrow has to write them.
    """
    if native_module.module is None or not table.column_names:
        return None
    columns, are_written = [], []
    for column in table.columns:
        array = _one(column.combine_chunks())
        is_floating = pa.types.is_floating(array.type)
        if is_floating:
            array = array.cast(pa.string())
        elif pa.types.is_null(array.type):
            array = array.cast(pa.bool_())
        elif pa.types.is_binary(array.type) or not _is_written_natively(array) or pa.types.is_dictionary(array.type):
            array = cell_texts(pa.chunked_array([array]))
        columns.append(array)
        are_written.append(is_floating)
    rows: bytes | None = native_module.module.csv_rows(columns, are_written)
    return rows


def _is_written_natively(array: pa.Array) -> bool:
    """Whether the native module writes the texts of such values, if it writes each value."""
    if not _has_native_type(array.type):
        return False
    try:
        array.validate()
    except pa.ArrowInvalid:  # of a damaged file
        return False
    return True


def _has_native_type(kind: pa.DataType) -> bool:
    types = pa.types
    if types.is_map(kind):
        keys = types.is_int32(kind.key_type) or types.is_string(kind.key_type)
        return bool(keys) and _has_native_type(kind.item_type)
    if types.is_dictionary(kind):
        return bool(types.is_int32(kind.index_type)) and _has_native_type(kind.value_type)
    if types.is_struct(kind):
        return all(_has_native_type(field.type) for field in kind)
    if types.is_list(kind):
        return _has_native_type(kind.value_type)
    return any(test(kind) for test in (types.is_integer, types.is_boolean, types.is_string, types.is_binary))


def cell_texts(column: pa.ChunkedArray) -> pa.Array:
    """Return the values of a column as texts of cells: strings as they are, nested values as JSON, null as null."""
    array = _one(column.combine_chunks())
    if pa.types.is_dictionary(array.type):
        return cell_texts(pa.chunked_array([array.dictionary])).take(array.indices)
    if pa.types.is_string(array.type):
        return array
    if pa.types.is_nested(array.type):
        return pc.if_else(array.is_valid(), _texts(array), pa.scalar(None, pa.string()))
    if pa.types.is_binary(array.type):
        return _hex(array)
    return _each(array, lambda value: value if isinstance(value, str) else json_text(value, indent=None))


def _one(column: pa.ChunkedArray | pa.Array) -> pa.Array:
    if isinstance(column, pa.Array):
        return column
    return column.chunk(0) if column.num_chunks == 1 else pa.concat_arrays(column.chunks or [pa.array([], column.type)])


def _texts(array: pa.Array) -> pa.Array:
    """The JSON text of each value; of null too."""
    if native_module.module is not None and _is_written_natively(array):
        texts = native_module.module.json_texts(array)
        if texts is not None:
            return texts
    kind, types = array.type, pa.types
    if array.null_count == len(array):
        return pa.repeat(NULL, len(array))
    if types.is_boolean(kind) or types.is_integer(kind):
        texts = array.cast(pa.string())
    elif types.is_dictionary(kind):
        texts = _texts(array.dictionary).take(array.indices)
    elif types.is_string(kind):
        texts = _quoted(array)
    elif types.is_binary(kind):
        texts = _join('"', _hex(array), '"')
    elif types.is_list(kind):
        texts = _join("[", pc.binary_join(_over(array, _texts(_inner(array))), ", "), "]")
    elif types.is_struct(kind) and kind.num_fields == len({field.name for field in kind}):
        parts = [(field.name, _texts(pc.struct_field(array, at))) for at, field in enumerate(kind)]
        texts = _object(parts, len(array))
    elif types.is_map(kind) and _has_simple_keys(array):
        entries = _inner(array)
        keys = entries.field(0)
        named = _quoted(keys) if types.is_string(keys.type) else _join('"', keys.cast(pa.string()), '"')
        pairs = _join(named, ": ", _texts(entries.field(1)))
        texts = _join("{", pc.binary_join(_over(array, pairs), ", "), "}")
    else:
        texts = _each(array, lambda value: json_text(value, indent=None))
    return texts if not array.null_count else pc.if_else(array.is_valid(), texts, pa.scalar(NULL))


def _join(*parts: pa.Array | str) -> pa.Array:
    return pc.binary_join_element_wise(*parts, "")


def _object(parts: list[tuple[str, pa.Array]], rows: int) -> pa.Array:
    """Objects with these names and texts of values."""
    if not parts:
        return pa.array(["{}"] * rows, pa.string())
    pieces: list[pa.Array | str] = []
    for at, (name, texts) in enumerate(parts):
        pieces += [f"{', ' if at else '{'}{json_text(name)}: ", texts]
    return _join(*pieces, "}")


def _quoted(array: pa.Array) -> pa.Array:
    """Strings as JSON writes them."""
    quoted = _join('"', array, '"')
    is_odd = pc.fill_null(pc.match_substring_regex(array, NOT_PLAIN), False)
    if not is_odd.true_count:
        return quoted
    odd = pa.array([json_text(text) for text in array.filter(is_odd).to_pylist()], pa.string())
    return pc.replace_with_mask(quoted, is_odd, odd)


def _hex(array: pa.Array) -> pa.Array:
    """Bytes as 0x and hex digits: those of the whole buffer at once, with offsets twice as large."""
    _, offsets, data = array.buffers()
    at = (
        np.frombuffer(offsets, np.int32)[array.offset : array.offset + len(array) + 1] if offsets else np.zeros(1, "i4")
    )
    first, last = (int(at[0]), int(at[-1])) if len(at) else (0, 0)
    digits = bytes(memoryview(data)[first:last] if data else b"").hex().encode()
    doubled = pa.py_buffer(((at.astype(np.int64) - first) * 2).astype(np.int64).tobytes())
    texts = pa.Array.from_buffers(pa.large_string(), len(array), [None, doubled, pa.py_buffer(digits)])
    marked = _join("0x", texts.cast(pa.string()))
    return marked if not array.null_count else pc.if_else(array.is_valid(), marked, pa.scalar(None, pa.string()))


def _inner(array: pa.Array) -> pa.Array:
    """The values within lists, or the entries within maps, of a part of an array."""
    first, last = (array.offsets[0].as_py(), array.offsets[-1].as_py()) if len(array) else (0, 0)
    entries = array.values if not pa.types.is_map(array.type) else pa.StructArray.from_arrays(
        [array.keys, array.items], ["key", "value"]
    )  # fmt: skip
    return entries.slice(first, last - first)


def _over(array: pa.Array, texts: pa.Array) -> pa.ListArray:
    """Lists of texts as long as those of an array."""
    offsets = pc.subtract(array.offsets, array.offsets[0]) if len(array) else pa.array([0], pa.int32())
    return pa.ListArray.from_arrays(offsets, texts)


def _has_simple_keys(array: pa.MapArray) -> bool:
    """Whether keys are numbers or strings, and no map has one twice. Of two, a Python dictionary has the last value."""
    keys = _inner(array).field(0)
    if not (pa.types.is_integer(keys.type) or pa.types.is_string(keys.type)):
        return False
    values = keys if pa.types.is_integer(keys.type) else keys.dictionary_encode().indices
    numbers = values.to_numpy(zero_copy_only=False).astype(np.int64)
    lengths = np.diff(array.offsets.to_numpy())
    owners = np.repeat(np.arange(len(lengths)), lengths)
    same_map = owners[1:] == owners[:-1]
    if not np.any(same_map & (numbers[1:] <= numbers[:-1])):
        return True
    order = np.lexsort((numbers, owners))
    return not np.any((owners[order][1:] == owners[order][:-1]) & (numbers[order][1:] == numbers[order][:-1]))


def _each(array: pa.Array, text: Callable[[Any], str]) -> pa.Array:
    """The text of each value, made in Python: of floats, times, decimals and what has keys that JSON lacks. Few times
    and decimals are different: each text is made once."""
    if pa.types.is_temporal(array.type) or pa.types.is_decimal(array.type):
        encoded = array.dictionary_encode()
        return _made(encoded.dictionary, text).take(encoded.indices)
    return _made(array, text)


def _made(array: pa.Array, text: Callable[[Any], str]) -> pa.Array:
    values = column_values(pa.chunked_array([array]), "lossy")
    return pa.array([None if value is None else text(plain(value)) for value in values], pa.string())


def _joined(texts: Any, end: str) -> str:
    """All texts, each with an end, as one text."""
    ended = _join(texts, end)
    _, offsets, data = ended.buffers()
    at = np.frombuffer(offsets, np.int32)[ended.offset : ended.offset + len(ended) + 1]
    return memoryview(data)[int(at[0]) : int(at[-1])].tobytes().decode()
