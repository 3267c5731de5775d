"""Structs in Thrift's compact protocol, as Parquet writes its own (thrift's doc/specs/thrift-compact-protocol.md)."""

from __future__ import annotations

import struct
from typing import Any

DEPTH = 16
"""How deep structs, lists and maps nest; Parquet's nest six deep."""
TRUE, FALSE, BYTE, INTS, DOUBLE, BINARY, LIST, SET, MAP, STRUCT, UUID = 1, 2, 3, (4, 5, 6), 7, 8, 9, 10, 11, 12, 13


class Compact:
    """Reads one value after the other. `at` is how far it came."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def struct(self, depth: int = DEPTH) -> dict[int, Any]:
        """The next struct, its values by field id. Raises ValueError where the bytes are none."""
        fields: dict[int, Any] = {}
        field_id = 0
        while head := self._take(1)[0]:
            field_id = field_id + (head >> 4) if head >> 4 else self._read_zigzag()
            kind = head & 15
            fields[field_id] = kind == TRUE if kind in (TRUE, FALSE) else self._value(kind, depth - 1)
        return fields

    def _value(self, kind: int, depth: int) -> Any:
        if depth < 0:
            raise ValueError(f"structs that nest deeper than {DEPTH}, at {self.at}")
        if kind in INTS:
            return self._read_zigzag()
        if kind == BINARY:
            return self._take(self._read_varint())
        if kind == STRUCT:
            return self.struct(depth)
        if kind in (LIST, SET):
            head = self._take(1)[0]
            return self._many(head >> 4 if head >> 4 != 15 else self._read_varint(), (head & 15,), depth)
        if kind == MAP:
            size = self._read_varint()
            kinds = self._take(1)[0] if size else 0
            return self._many(2 * size, (kinds >> 4, kinds & 15), depth)
        if kind in (TRUE, FALSE, BYTE):  # of a list
            return self._take(1)[0] == 1 if kind != BYTE else self._take(1)[0]
        if kind in (DOUBLE, UUID):
            return struct.unpack("<d", self._take(8))[0] if kind == DOUBLE else self._take(16)
        raise ValueError(f"type {kind} at {self.at}")

    def _many(self, count: int, kinds: tuple[int, ...], depth: int) -> list[Any]:
        """Items of a list, or keys and values of a map in turn. Each has a byte at least."""
        if count > len(self.data) - self.at:
            raise ValueError(f"{count:,} items in {len(self.data) - self.at:,} bytes, at {self.at}")
        return [self._value(kinds[i % len(kinds)], depth - 1) for i in range(count)]

    def _take(self, length: int) -> bytes:
        taken = self.data[self.at : self.at + length]
        if len(taken) != length:
            raise ValueError(f"ends early: {length:,} bytes at {self.at} of {len(self.data):,}")
        self.at += length
        return taken

    def _read_varint(self) -> int:
        number = 0
        for shift in range(0, 64, 7):
            byte = self._take(1)[0]
            number |= (byte & 0x7F) << shift
            if byte < 0x80:
                return number
        raise ValueError(f"a number that does not end, at {self.at}")

    def _read_zigzag(self) -> int:
        number = self._read_varint()
        return (number >> 1) ^ -(number & 1)
