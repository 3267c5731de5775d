"""Small tables whose Parquet file stores a column in another type than the spec's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from tests.cases.mini import Table

DAYS = [datetime(2020, 1, 1), datetime(2020, 1, 2)]
IN_UTC = [day.replace(tzinfo=timezone.utc) for day in DAYS]
MICROS = [int(day.timestamp()) * 1_000_000 for day in IN_UTC]
AMOUNTS = [Decimal("1.50"), Decimal("2.50")]
BYTES = [b"0123456789abcdef", b"0123456789abcdeg"]


@dataclass(frozen=True)
class Stored:
    """A column of a type, and as what a file stores it.

    Attributes:
        kind: The type of the table's column.
        array: What is stored.
        name: What that is called here.
        options: Of pyarrow's writer.
    """

    kind: str
    name: str
    array: pa.Array
    options: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.kind} as {self.name}"


NANOS = {"version": "2.6"}
INT96 = {"use_deprecated_int96_timestamps": True}
AS_NUMBER = {"store_decimal_as_integer": True}
RIGHT = [
    Stored("timestamp", "int96", pa.array(DAYS, pa.timestamp("ns")), INT96),
    Stored("timestamptz", "int96", pa.array(IN_UTC, pa.timestamp("ns", "UTC")), INT96),
    Stored("timestamp", "micros of UTC", pa.array(IN_UTC, pa.timestamp("us", "UTC"))),
    Stored("timestamptz", "micros of no zone", pa.array(DAYS, pa.timestamp("us"))),
    Stored("int", "int8", pa.array([1, -2], pa.int8())),
    Stored("long", "int16", pa.array([1, -2], pa.int16())),
]
"""What Spark reads rightly."""
BY_SOME = [Stored("date", "int32", pa.array([18262, 18263], pa.int32()))]
"""What Spark reads rightly, and others refuse."""
COMMON = [
    Stored("timestamp", "micros", pa.array(DAYS, pa.timestamp("us"))),
    Stored("long", "int32", pa.array([1, 2], pa.int32())),
    Stored("double", "float", pa.array([1.5, 2.5], pa.float32())),
    Stored("decimal(9,2)", "fixed", pa.array(AMOUNTS, pa.decimal128(9, 2))),
    Stored("decimal(9,2)", "int32", pa.array(AMOUNTS, pa.decimal128(9, 2)), AS_NUMBER),
    Stored("decimal(20,2)", "int64", pa.array(AMOUNTS, pa.decimal128(15, 2)), AS_NUMBER),
    Stored("uuid", "fixed", pa.array(BYTES, pa.binary(16))),
    Stored("string", "string", pa.array(["a", "b"])),
    Stored("fixed[16]", "fixed", pa.array(BYTES, pa.binary(16))),
]
"""The spec's types, what they were promoted from, and what writers use in their place."""
MISREAD = [
    Stored("timestamp", "millis", pa.array(DAYS, pa.timestamp("ms"))),
    Stored("timestamptz", "millis", pa.array(IN_UTC, pa.timestamp("ms", "UTC"))),
    Stored("timestamp", "nanos", pa.array(DAYS, pa.timestamp("ns")), NANOS),
    Stored("decimal(9,2)", "scale 3", pa.array([Decimal("1.500"), Decimal("2.500")], pa.decimal128(9, 3))),
    Stored("decimal(9,2)", "scale 1", pa.array([Decimal("1.5"), Decimal("2.5")], pa.decimal128(9, 1)), AS_NUMBER),
]
"""What Spark takes for other values."""
FAILS = [
    Stored("timestamp", "int64", pa.array(MICROS, pa.int64())),
    Stored("timestamp", "string", pa.array(["2020-01-01", "2020-01-02"])),
    Stored("date", "micros", pa.array(DAYS, pa.timestamp("us"))),
    Stored("int", "uint8", pa.array([1, 200], pa.uint8())),
    Stored("int", "int64", pa.array([1, 2], pa.int64())),
    Stored("int", "date", pa.array([date(1970, 1, 2), date(1970, 1, 3)])),
    Stored("long", "uint32", pa.array([1, 4_000_000_000], pa.uint32()), NANOS),
    Stored("long", "micros", pa.array(DAYS, pa.timestamp("us"))),
    Stored("long", "decimal", pa.array([Decimal(1), Decimal(2)], pa.decimal128(15, 0)), AS_NUMBER),
    Stored("float", "double", pa.array([1.5, 2.5])),
    Stored("double", "int32", pa.array([1, 2], pa.int32())),
    Stored("decimal(9,2)", "int32 alone", pa.array([150, 250], pa.int32())),
    Stored("string", "binary", pa.array([b"a", b"b"])),
    Stored("binary", "string", pa.array(["a", "b"])),
    Stored("binary", "fixed", pa.array(BYTES, pa.binary(16))),
    Stored("fixed[16]", "binary", pa.array(BYTES, pa.binary())),
    Stored("uuid", "binary", pa.array(BYTES, pa.binary())),
    Stored("boolean", "int32", pa.array([1, 0], pa.int32())),
]
"""What Spark fails on, with or without dictionaries."""


def write_table(folder: Path, stored: Stored, dictionary: bool = True, ids: bool = True, **options: Any) -> Table:
    """Write a table with the columns id and x, of one file without statistics in its manifest entry."""
    table = Table(folder, [(1, "id", "long"), (2, "x", stored.kind)], **options)
    fields = [pa.field("id", pa.int64()), pa.field("x", stored.array.type)]
    if ids:
        fields = [f.with_metadata({"PARQUET:field_id": str(i)}) for i, f in enumerate(fields, 1)]
    file = table.parquet("a.parquet", {"id": [1, 2]})
    place = folder / "data" / "a.parquet"
    rows = pa.table([pa.array([1, 2]), stored.array], schema=pa.schema(fields))
    pq.write_table(rows, place, use_dictionary=dictionary, **stored.options)
    for metrics in ("value_counts", "null_value_counts", "lower_bounds", "upper_bounds"):
        del file[metrics]
    table.append({**file, "file_size_in_bytes": place.stat().st_size})
    return table
