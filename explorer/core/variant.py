"""A variant value as JSON text (Parquet spec: "Variant Binary Encoding"). Values may claim to share their bytes: what
comes out is counted, not only what goes in."""

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

import pyarrow as pa

MAX_DEPTH, GROWTH = 100, 64
"""How deep a value may nest, and how many times its bytes its text may have (names of keys are stored once)."""
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
    try:
        made = _Value(metadata, value, room)
        made.write(0, 0)
        return made.out.getvalue()
    except (IndexError, struct.error, OverflowError, ArithmeticError) as error:
        raise ValueError(f"a variant is damaged: {error}") from error


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
        width = (header & 3) + 1
        large = header >> (4 if is_object else 2) & 1
        id_width = (header >> 2 & 3) + 1 if is_object else 0
        count, ids = _int(self.data, at, 4 if large else 1), at + (4 if large else 1)
        offsets = ids + count * id_width
        values = offsets + (count + 1) * width
        if values > len(self.data):
            raise IndexError("it is cut off")
        self.charge(2 + max(count - 1, 0))  # brackets and commas
        self.out.write("{" if is_object else "[")
        for i in range(count):
            if i:
                self.out.write(",")
            if is_object:
                self.put(json.dumps(self.names[_int(self.data, ids + i * id_width, id_width)]) + ":")
            self.write(values + _int(self.data, offsets + i * width, width), depth + 1)
        self.out.write("}" if is_object else "]")

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
        number = struct.unpack_from("<i" if kind == 11 else "<q", data, at)[0]
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
