"""A variant value as JSON text (Parquet spec: "Variant Binary Encoding"). Values may claim to share their bytes: what
comes out is counted, not only what goes in."""

from __future__ import annotations

import base64
import datetime
import decimal
import itertools
import json
import math
import struct
import uuid

MAX_DEPTH, GROWTH = 100, 64
"""How deep a value may nest, and how many times its bytes its text may have (names of keys are stored once)."""
_EPOCH = datetime.datetime(1970, 1, 1)
_NUMBERS = {3: "<b", 4: "<h", 5: "<i", 6: "<q", 7: "<d", 14: "<f"}
_DECIMALS = {8: 4, 9: 8, 10: 16}


def variant_text(metadata: bytes, value: bytes) -> str:
    """The JSON text of a value; dates, times and uuids as text, binary in base64. Raises ValueError when damaged."""
    try:
        return _Value(metadata, value).text(0, 0)
    except (IndexError, struct.error, OverflowError, ArithmeticError) as error:
        raise ValueError(f"a variant is damaged: {error}") from error


def _int(data: bytes, at: int, size: int) -> int:
    return int.from_bytes(_cut(data, at, size), "little")


def _cut(data: bytes, at: int, size: int) -> bytes:
    if at + size > len(data):
        raise IndexError("it is cut off")
    return data[at : at + size]


def _names(metadata: bytes) -> list[str]:
    header = _int(metadata, 0, 1)
    if header & 0x0F != 1:
        raise ValueError(f"a variant's metadata has version {header & 0x0F}, not 1")
    size = (header >> 6) + 1
    count = _int(metadata, 1, size)
    ends = _ints(metadata, 1 + size, count + 1, size)
    start = 1 + size * (count + 2)
    return [metadata[start + a : start + b].decode() for a, b in itertools.pairwise(ends)]


def _ints(data: bytes, at: int, count: int, size: int) -> list[int]:
    listed = _cut(data, at, count * size)
    return [int.from_bytes(listed[i : i + size], "little") for i in range(0, count * size, size or 1)]


class _Value:
    def __init__(self, metadata: bytes, data: bytes) -> None:
        self.names, self.data = _names(metadata), data
        self.room = GROWTH * (len(metadata) + len(data))

    def text(self, at: int, depth: int) -> str:
        if depth > MAX_DEPTH:
            raise ValueError(f"a variant nests deeper than {MAX_DEPTH} levels")
        header = _int(self.data, at, 1)
        basic, header = header & 3, header >> 2
        if basic < 2:
            size = header if basic else 0
            made = json.dumps(_cut(self.data, at + 1, size).decode()) if basic else self.primitive(header, at + 1)
            return self.counted(made)
        width = (header & 3) + 1
        large = header >> (4 if basic == 2 else 2) & 1
        id_width = (header >> 2 & 3) + 1 if basic == 2 else 0
        count, at = _int(self.data, at + 1, 4 if large else 1), at + (5 if large else 2)
        ids = _ints(self.data, at, count, id_width) if id_width else []
        at += count * id_width
        offsets = _ints(self.data, at, count + 1, width)[:-1]
        at += (count + 1) * width
        keys = [self.counted(json.dumps(self.names[i]) + ":") for i in ids] or [""] * count
        inside = ",".join(k + self.text(at + o, depth + 1) for k, o in zip(keys, offsets, strict=True))
        return f"{{{inside}}}" if basic == 2 else f"[{inside}]"

    def counted(self, text: str) -> str:
        self.room -= len(text) + 1
        if self.room < 0:
            raise ValueError(f"a variant's text is more than {GROWTH} times its bytes")
        return text

    def primitive(self, kind: int, at: int) -> str:
        data = self.data
        if kind < 3:
            return ("null", "true", "false")[kind]
        if kind in _NUMBERS:
            value = struct.unpack_from(_NUMBERS[kind], data, at)[0]
            return json.dumps(value if math.isfinite(value) else str(value))
        if kind in _DECIMALS:
            unscaled = int.from_bytes(_cut(data, at + 1, _DECIMALS[kind]), "little", signed=True)
            return format(decimal.Decimal(unscaled).scaleb(-_int(data, at, 1)), "f")
        if kind in (15, 16):
            body = _cut(data, at + 4, _int(data, at, 4))
            return json.dumps(body.decode() if kind == 16 else base64.b64encode(body).decode())
        if kind == 20:
            return json.dumps(str(uuid.UUID(bytes=_cut(data, at, 16))))
        return json.dumps(_moment(kind, struct.unpack_from("<i" if kind == 11 else "<q", data, at)[0]))


def _moment(kind: int, number: int) -> str:
    if kind == 11:
        return (_EPOCH.date() + datetime.timedelta(days=number)).isoformat()
    if kind == 17:
        return (_EPOCH + datetime.timedelta(microseconds=number)).time().isoformat()
    if kind not in (12, 13, 18, 19):
        raise ValueError(f"a variant has a value of the unknown type {kind}")
    micros, nanos = (number, "") if kind < 18 else (number // 1000, f"{number % 1000:03}")
    moment = (_EPOCH + datetime.timedelta(microseconds=micros)).isoformat(sep=" ", timespec="microseconds")
    return moment + nanos + ("+00:00" if kind in (12, 18) else "")
