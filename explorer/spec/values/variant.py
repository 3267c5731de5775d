"""Variant values as JSON text (Parquet spec: "Variant Binary Encoding", "Variant Shredding"). Values may claim to share
their bytes: what comes out is counted, not only what goes in."""

from __future__ import annotations

import base64
import datetime
import decimal
import io
import itertools
import json
import math
import struct
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pyarrow as pa

MAX_DEPTH, GROWTH = 100, 64
"""How deep a value may nest, and how many times its bytes its text may have (names of keys are stored once)."""
CELL = 16
"""What a value of a shredded column is charged, also where it is null."""
_EPOCH = datetime.datetime(1970, 1, 1)
_DAY = 24 * 60 * 60 * 1_000_000
_NUMBERS = {3: "<b", 4: "<h", 5: "<i", 6: "<q", 7: "<d", 14: "<f"}
_DECIMALS = {8: 4, 9: 8, 10: 16}
_TIMES = {
    11: pa.date32(), 12: pa.timestamp("us", "UTC"), 13: pa.timestamp("us"), 17: pa.time64("us"),
    18: pa.timestamp("ns", "UTC"), 19: pa.timestamp("ns"),
}  # fmt: skip


def variant_text(metadata: bytes, value: bytes, room: int) -> str:
    """The JSON text of a value, of at most `room` characters; dates, times and uuids as text, binary in base64. Raises
    ValueError when damaged, or larger."""
    with _damage():
        text = _Value(metadata, value, room)
        text.write(0, 0)
        return text.out.getvalue()


@contextmanager
def _damage() -> Iterator[None]:
    try:
        yield
    except (IndexError, struct.error, OverflowError, ArithmeticError) as error:
        raise ValueError(f"a variant is damaged: {error}") from error


class VariantTexts:
    """The JSON texts of columns of variants, shredded ones too, of at most `room` characters together. All of it raises
    ValueError when damaged, or larger."""

    def __init__(self, room: int) -> None:
        self.room = room

    def of(self, array: pa.StructArray) -> list[str | None]:
        """Of a column (`metadata`, `value`, and where it is shredded `typed_value`); None where a row has no value."""
        return self._texts(array.field("metadata").to_pylist(), array, 0)

    def _texts(self, metadata: Sequence[bytes], array: pa.StructArray, depth: int) -> list[str | None]:
        """Of values that are whole in `value`, or columns in `typed_value`, or objects in both."""
        if depth > MAX_DEPTH:
            raise ValueError(f"a variant nests deeper than {MAX_DEPTH} levels")
        if not pa.types.is_struct(array.type):
            raise ValueError(f"a variant is shredded as {str(array.type)[:100]}")
        self._take(CELL * len(array))
        parts = dict(zip((f.name for f in array.type), array.flatten(), strict=True))
        nothing = pa.nulls(len(array))
        values, typed = parts.get("value", nothing).to_pylist(), parts.get("typed_value", nothing)
        if pa.types.is_struct(typed.type):
            return self._objects(metadata, values, typed, depth)
        texts = self._lists(metadata, typed, depth) if pa.types.is_list(typed.type) else self._leaves(typed)
        return [
            self._whole(names, value) if text is None else text
            for names, value, text in zip(metadata, values, texts, strict=True)
        ]

    def _whole(self, metadata: bytes, value: bytes | None) -> str | None:
        return None if value is None else self._take(variant_text(metadata, value, self.room))

    def _objects(
        self, metadata: Sequence[bytes], values: Sequence[bytes | None], typed: pa.StructArray, depth: int
    ) -> list[str | None]:
        """What `value` has beside `typed_value` are fields of the same object; names are in order, as in its own."""
        names = [f.name for f in typed.type]
        columns = [self._texts(metadata, column, depth + 1) for column in typed.flatten()]
        texts: list[str | None] = []
        for row, valid in enumerate(typed.is_valid().to_pylist()):
            value = values[row]
            if not valid:
                texts.append(self._whole(metadata[row], value))
                continue
            fields = {name: text for name, column in zip(names, columns, strict=True) if (text := column[row])}
            if value is not None:
                with _damage():
                    fields = _Value(metadata[row], value, self.room).fields() | fields
            inner = ",".join(f"{json.dumps(name)}:{fields[name]}" for name in sorted(fields))
            texts.append(self._take(f"{{{inner}}}"))
        return texts

    def _lists(self, metadata: Sequence[bytes], typed: pa.ListArray, depth: int) -> list[str | None]:
        starts = typed.offsets.to_pylist()
        values = typed.values.slice(starts[0], starts[-1] - starts[0])
        lengths = [b - a for a, b in itertools.pairwise(starts)]
        inner = [names for names, length in zip(metadata, lengths, strict=True) for _ in range(length)]
        items = iter(self._texts(inner, values, depth + 1))
        texts = [self._take(f"[{','.join(next(items) or 'null' for _ in range(n))}]") for n in lengths]
        return [text if valid else None for text, valid in zip(texts, typed.is_valid().to_pylist(), strict=True)]

    def _leaves(self, typed: pa.Array) -> list[str | None]:
        kind = next((number for number, arrow in _TIMES.items() if arrow == typed.type), None)
        if kind is not None:
            numbers = typed.cast(pa.int32() if kind == 11 else pa.int64()).to_pylist()
            return [None if n is None else self._take(_time_text(kind, n)) for n in numbers]
        is_uuid = typed.type == pa.binary(16)
        leaves = (uuid.UUID(bytes=value) if is_uuid and value else value for value in typed.to_pylist())
        return [None if value is None else self._take(_leaf_text(value)) for value in leaves]

    def _take(self, text_or_number: Any) -> Any:
        """Count a text, or a number of values."""
        self.room -= text_or_number if isinstance(text_or_number, int) else len(text_or_number)
        if self.room < 0:
            raise ValueError("the texts of variants are too large")
        return text_or_number


def _int(data: bytes, at: int, size: int) -> int:
    return int.from_bytes(_cut(data, at, size), "little")


def _cut(data: bytes, at: int, size: int) -> bytes:
    if at + size > len(data):
        raise IndexError("it is cut off")
    return data[at : at + size]


class _Names:
    """The names of keys, which are cut out when asked for."""

    def __init__(self, metadata: bytes) -> None:
        header = _int(metadata, 0, 1)
        if header & 0x0F != 1:
            raise ValueError(f"a variant's metadata has version {header & 0x0F}, not 1")
        self.data, self.width = metadata, (header >> 6) + 1
        self.count = _int(metadata, 1, self.width)
        self.start = 1 + self.width * (self.count + 2)
        if any(a > b for a, b in itertools.pairwise(self.offset(i) for i in range(self.count + 1))):
            raise ValueError("a variant's metadata is damaged: its offsets do not ascend")

    def offset(self, i: int) -> int:
        return _int(self.data, 1 + self.width * (i + 1), self.width)

    def __getitem__(self, i: int) -> str:
        if i >= self.count:
            raise IndexError(f"it has no name {i}")
        first = self.offset(i)
        return _cut(self.data, self.start + first, self.offset(i + 1) - first).decode()


class _Value:
    """A value's text while it is written. All of it is charged, a container before what is inside, so that there is no
    more work than text."""

    def __init__(self, metadata: bytes, data: bytes, room: int) -> None:
        self.names, self.data = _Names(metadata), data
        self.room = min(room, GROWTH * (len(metadata) + len(data)))
        self.out = io.StringIO()

    def charge(self, size: int) -> None:
        self.room -= size
        if self.room < 0:
            raise ValueError(f"a variant's text is too large, or more than {GROWTH} times its bytes")

    def put(self, text: str) -> None:
        self.charge(len(text))
        self.out.write(text)

    def write(self, at: int, depth: int) -> None:
        if depth > MAX_DEPTH:
            raise ValueError(f"a variant nests deeper than {MAX_DEPTH} levels")
        header = _int(self.data, at, 1)
        basic, header = header & 3, header >> 2
        if basic == 0:
            self.put(self.primitive(header, at + 1))
        elif basic == 1:
            self.put(json.dumps(_cut(self.data, at + 1, header).decode()))
        else:
            self.container(basic == 2, header, at + 1, depth)

    def container(self, is_object: bool, header: int, at: int, depth: int) -> None:
        opened = False
        for name, inside in self.inside(is_object, header, at):
            self.out.write("," if opened else "{" if is_object else "[")
            opened = True
            if is_object:
                self.put(json.dumps(name) + ":")
            self.write(inside, depth + 1)
        self.out.write(("" if opened else "{" if is_object else "[") + ("}" if is_object else "]"))

    def fields(self) -> dict[str, str]:
        """The texts of an object's fields, by name."""
        header, texts = _int(self.data, 0, 1), {}
        if header & 3 != 2:
            raise IndexError("beside a shredded object is a value that is no object")
        for name, inside in self.inside(True, header >> 2, 1):
            self.out = io.StringIO()
            self.write(inside, 1)
            texts[name] = self.out.getvalue()
        return texts

    def inside(self, is_object: bool, header: int, at: int) -> Iterator[tuple[str, int]]:
        """The names (of an object) and places of what is inside; all of it is charged first."""
        width = (header & 3) + 1
        large = header >> (4 if is_object else 2) & 1
        id_width = (header >> 2 & 3) + 1 if is_object else 0
        count, ids = _int(self.data, at, 4 if large else 1), at + (4 if large else 1)
        offsets = ids + count * id_width
        values = offsets + (count + 1) * width
        if values > len(self.data):
            raise IndexError("it is cut off")
        self.charge(2 + max(count - 1, 0))  # brackets and commas
        for i in range(count):
            name = self.names[_int(self.data, ids + i * id_width, id_width)] if is_object else ""
            yield name, values + _int(self.data, offsets + i * width, width)

    def primitive(self, kind: int, at: int) -> str:
        data = self.data
        if kind < 3:
            return ("null", "true", "false")[kind]
        if kind in _NUMBERS:
            value = struct.unpack_from(_NUMBERS[kind], data, at)[0]
            return json.dumps(value if math.isfinite(value) else str(value))
        if kind in _DECIMALS:
            unscaled = int.from_bytes(_cut(data, at + 1, _DECIMALS[kind]), "little", signed=True)
            digits = tuple(int(digit) for digit in str(abs(unscaled)))  # arithmetic would round to 28
            return format(decimal.Decimal((int(unscaled < 0), digits, -_int(data, at, 1))), "f")
        if kind in (15, 16):
            body = _cut(data, at + 4, _int(data, at, 4))
            return json.dumps(body.decode() if kind == 16 else base64.b64encode(body).decode())
        if kind == 20:
            return json.dumps(str(uuid.UUID(bytes=_cut(data, at, 16))))
        if kind not in _TIMES:
            raise ValueError(f"a variant has a value of the unknown type {kind}")
        return _time_text(kind, struct.unpack_from("<i" if kind == 11 else "<q", data, at)[0])


def _leaf_text(value: Any) -> str:
    """A value of a shredded column, as it would be told out of its bytes."""
    if isinstance(value, decimal.Decimal):
        return format(value, "f")
    if isinstance(value, uuid.UUID):
        return json.dumps(str(value))
    if isinstance(value, bytes):
        return json.dumps(base64.b64encode(value).decode())
    if isinstance(value, float):
        return json.dumps(value if math.isfinite(value) else str(value))
    if isinstance(value, bool | int | str):
        return json.dumps(value)
    raise ValueError(f"a variant is shredded into values that are {type(value).__name__}")


def _time_text(kind: int, number: int) -> str:
    try:
        return json.dumps(_moment(kind, number))
    except OverflowError:  # beyond the years 1 to 9999, or a day's end: as Arrow tells those of columns
        return json.dumps(pa.scalar(number, _TIMES[kind]).cast(pa.string()).as_py())


def _moment(kind: int, number: int) -> str:
    if kind == 11:
        return (_EPOCH.date() + datetime.timedelta(days=number)).isoformat()
    if kind == 17:
        if not 0 <= number < _DAY:
            raise OverflowError
        return (_EPOCH + datetime.timedelta(microseconds=number)).time().isoformat()
    micros, nanos = (number, "") if kind < 18 else (number // 1000, f"{number % 1000:03}")
    moment = (_EPOCH + datetime.timedelta(microseconds=micros)).isoformat(sep=" ", timespec="microseconds")
    return moment + nanos + ("+00:00" if kind in (12, 18) else "")
