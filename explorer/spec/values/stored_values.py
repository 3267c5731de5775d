"""Values as Parquet stores them, and as Iceberg compares them (spec: "Parquet")."""

from __future__ import annotations

import datetime
import struct
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from explorer.spec.values.transforms import DECIMAL_BYTES
from explorer.spec.values.values import internal_value

Column = Mapping[str, Any]
"""A column of storage.formats.parquet.read_footer: type, logical_type, precision, scale."""
_TYPES = {
    "boolean": ("BOOLEAN",), "int": ("INT32",), "long": ("INT32", "INT64"), "float": ("FLOAT",),
    "double": ("FLOAT", "DOUBLE"), "date": ("INT32",), "time": ("INT64",), "string": ("BYTE_ARRAY",),
    "binary": ("BYTE_ARRAY",), "uuid": ("FIXED_LEN_BYTE_ARRAY",), "fixed": ("FIXED_LEN_BYTE_ARRAY",),
    "decimal": ("INT32", "INT64", "BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY"),
}  # fmt: skip
"""The types in which Iceberg stores its own, before a promotion too."""
_LEAST_NANOS, _MOST_NANOS = -(2**63 // 1000), (2**63 - 1) // 1000
"""The times that nanoseconds since 1970 can tell in 64 bits, in microseconds."""
JULIAN_EPOCH = 2_440_588
"""The Julian day of 1970-01-01."""


def column_decoder(column: Column, kind: str) -> Callable[[Any], Any] | None:
    """What makes an internal value of a stored one; it raises ValueError. None for a column that is stored otherwise
    than Iceberg does: times in milliseconds, unsigned numbers."""
    physical, logical = column["type"], column["logical_type"]
    if kind.startswith(("timestamp", "time")):
        unit = "nanoseconds" if "_ns" in kind else "microseconds"
        return _same if physical == "INT64" and f"timeUnit={unit}" in logical else None
    if physical not in _TYPES.get(kind.partition("(")[0].partition("[")[0], ()) or "isSigned=false" in logical:
        return None
    if kind.startswith("decimal"):
        return lambda v: Decimal(_unscaled(v)).scaleb(-column["scale"])
    return bytes.decode if kind == "string" else _same


def from_stored_in_java(column: Column, kind: str) -> Callable[[Any], Any] | None:
    """What makes an internal value of a stored one as Iceberg Java does where it tests row groups: whole numbers are
    taken as they are, times without regard to their unit, and INT96 for times (ParquetConversions)."""
    if column["type"] == "INT96" and kind in ("timestamp", "timestamptz"):
        return _micros
    return _same if is_whole(column, kind) else column_decoder(column, kind)


def count_beyond_nanos(values: pa.ChunkedArray | pa.Array, path: str) -> Iterator[tuple[str, int]]:
    """Count the times of a column, and of each field inside it, that nanoseconds since 1970 cannot tell.

    Args:
        values: The column.
        path: Its name.

    Yields:
        The path of a column of times, as schema_fields.walk_fields has it, and how many.
    """
    kind = values.type
    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
    if pa.types.is_struct(kind):
        for place, inside in enumerate(values.flatten()):
            yield from count_beyond_nanos(inside, f"{path}.{kind.field(place).name}")
    elif pa.types.is_map(kind):
        yield from count_beyond_nanos(values.keys, f"{path}.key")
        yield from count_beyond_nanos(values.items, f"{path}.value")
    elif pa.types.is_list(kind) or pa.types.is_large_list(kind):
        yield from count_beyond_nanos(values.flatten(), f"{path}.element")
    elif pa.types.is_timestamp(kind) and kind.unit == "us":
        micros = values.cast(pa.int64())
        outside = pc.or_(pc.less(micros, _LEAST_NANOS), pc.greater(micros, _MOST_NANOS))
        yield path, pc.sum(outside).as_py() or 0


def is_beyond_nanos(value: Any) -> bool:
    """Whether a value of a row, or one inside it, is a time that nanoseconds since 1970 cannot tell."""
    if isinstance(value, Mapping):
        return any(map(is_beyond_nanos, (*value.keys(), *value.values())))
    if isinstance(value, (list, tuple)):
        return any(map(is_beyond_nanos, value))
    if isinstance(value, datetime.datetime):
        return not _LEAST_NANOS <= internal_value(value) <= _MOST_NANOS
    return False


def is_whole(column: Column, kind: str) -> bool:
    """Whether Iceberg Java takes a column's stored numbers for internal values as they are."""
    numbers = kind in ("int", "long", "date") or kind.startswith("time")
    return numbers and column["type"] in ("INT32", "INT64")


def _unscaled(value: Any) -> int:
    """The digits of a decimal. Raises ValueError for more bytes than one has."""
    if not isinstance(value, bytes):
        return int(value)
    if len(value) > DECIMAL_BYTES:
        raise ValueError(f"{len(value):,} bytes are more than a decimal has")
    return int.from_bytes(value, "big", signed=True)


def _same(value: Any) -> Any:
    return value


def _micros(value: bytes) -> int:
    """Microseconds since 1970 of an INT96: nanoseconds of a day, and the Julian day."""
    day, nanos = int.from_bytes(value[8:], "little"), int.from_bytes(value[:8], "little")
    return (day - JULIAN_EPOCH) * 86_400_000_000 + nanos // 1000


def encode_value(value: Any, column: Column, kind: str) -> bytes | None:
    """An internal value in plain encoding, as it goes into a bloom filter; None where Iceberg does not look such a one
    up (ParquetBloomRowGroupFilter), or where the column cannot hold it."""
    physical = column["type"]
    if from_stored_in_java(column, kind) is None:
        return None
    try:
        if isinstance(value, Decimal):
            number = int(value.scaleb(column["scale"]))
            length = {"INT32": 4, "INT64": 8}.get(physical)
            most = length or (10 ** column["precision"]).bit_length() // 8 + 1
            return number.to_bytes(most, "little" if length else "big", signed=True)
        if physical in ("FLOAT", "DOUBLE"):
            return struct.pack("<f" if physical == "FLOAT" else "<d", value)
    except OverflowError:
        return None
    if physical in ("INT32", "INT64"):
        looked_up = ("int", "date") if physical == "INT32" else ("long", "time", "timestamp", "timestamptz")
        return struct.pack("<i" if physical == "INT32" else "<q", value) if kind in looked_up else None
    return value.encode() if isinstance(value, str) else value if isinstance(value, bytes) else None
