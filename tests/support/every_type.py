"""A table of version 3 with every type inside a struct, a list, a map and by itself, empty, null and with values."""

from __future__ import annotations

import datetime
import decimal
import uuid
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from tests.cases.mini import Table

UTC = datetime.timezone.utc
KINDS: dict[str, tuple[pa.DataType, list[Any]]] = {
    "boolean": (pa.bool_(), [True, False]),
    "int": (pa.int32(), [1, -2]),
    "long": (pa.int64(), [1 << 40, -1]),
    "float": (pa.float32(), [1.5, float("nan")]),
    "double": (pa.float64(), [2.25, float("-inf")]),
    "decimal(9,2)": (pa.decimal128(9, 2), [decimal.Decimal("1.25"), decimal.Decimal("-7.00")]),
    "date": (pa.date32(), [datetime.date(2024, 2, 29), datetime.date(1900, 1, 1)]),
    "time": (pa.time64("us"), [datetime.time(1, 2, 3, 4), datetime.time(0)]),
    "timestamp": (pa.timestamp("us"), [datetime.datetime(2024, 1, 1, 1, 1, 1, 1), datetime.datetime(1901, 1, 1)]),
    "timestamptz": (pa.timestamp("us", "UTC"), [datetime.datetime(2024, 1, 1, tzinfo=UTC)] * 2),
    "timestamp_ns": (pa.timestamp("ns"), [1_700_000_000_000_000_001, -1]),
    "timestamptz_ns": (pa.timestamp("ns", "UTC"), [1_700_000_000_000_000_001, -1]),
    "string": (pa.string(), ["x", ""]),
    "uuid": (pa.binary(16), [uuid.UUID(int=7).bytes, uuid.UUID(int=1 << 127).bytes]),
    "fixed[3]": (pa.binary(3), [b"\0\1\2", b"abc"]),
    "binary": (pa.binary(), [b"\xff", b""]),
    "geometry": (pa.binary(), [b"\1\1\0\0\0" + bytes(16), b"\1\1\0\0\0" + b"\xff" * 16]),
    "geography": (pa.binary(), [b"\1\1\0\0\0" + bytes(16)] * 2),
}
KEYS = tuple(kind for kind in KINDS if kind not in ("float", "double", "geometry", "geography"))


def _field(name: str, kind: pa.DataType, own: int, nullable: bool = True) -> pa.Field:
    return pa.field(name, kind, nullable, {"PARQUET:field_id": str(own)})


def every_type(folder: Path) -> Path:
    """Write the table, of two snapshots: the first with two rows of values, the second with one of nulls and one of
    nothing (empty lists and maps, structs of nulls)."""
    own = iter(range(100, 10_000))
    listed: list[tuple[int, str, Any]] = [(1, "id", "long")]
    stored = [_field("id", pa.int64(), 1)]
    rows: list[dict[str, Any]] = [{"id": n} for n in range(4)]
    for kind, (arrow, values) in KINDS.items():
        name = kind.split("(")[0].split("[")[0]
        plain, struct, inner, deep, deeper, items, item, maps, key, value = (next(own) for _ in range(10))
        listed.append((plain, name, kind))
        stored.append(_field(name, arrow, plain))
        fields = [{"id": inner, "name": "v", "required": False, "type": kind}]
        within = [{"id": deeper, "name": "w", "required": False, "type": kind}]
        fields.append({"id": deep, "name": "s", "required": False, "type": {"type": "struct", "fields": within}})
        listed.append((struct, f"{name}_struct", {"type": "struct", "fields": fields}))
        nested = pa.struct([_field("w", arrow, deeper)])
        stored.append(
            _field(f"{name}_struct", pa.struct([_field("v", arrow, inner), _field("s", nested, deep)]), struct)
        )
        listed.append(
            (items, f"{name}_list", {"type": "list", "element-id": item, "element": kind, "element-required": False})
        )
        stored.append(_field(f"{name}_list", pa.list_(_field("element", arrow, item)), items))
        key_kind, key_type = (kind, arrow) if kind in KEYS else ("string", pa.string())
        pair = {"key-id": key, "key": key_kind, "value-id": value, "value": kind, "value-required": False}
        listed.append((maps, f"{name}_map", {"type": "map", **pair}))
        both = _field("key", key_type, key, False), _field("value", arrow, value)
        stored.append(_field(f"{name}_map", pa.map_(*both), maps))
        keys = values if kind in KEYS else ["a", "b"]
        empty = {"": None, "_struct": {"v": None, "s": None}, "_list": [], "_map": []}
        for n, row in enumerate(rows):
            one = values[n % 2]
            full = {"": one, "_struct": {"v": one, "s": {"w": one}}, "_list": [one, None], "_map": [(keys[n % 2], one)]}
            for ending, what in (full if n < 2 else empty).items():
                row[name + ending] = None if n == 2 else what
    listed.append((2, "unknown", "unknown"))  # which no file stores
    table = Table(folder, listed, version=3)
    table.md["last-column-id"] = next(own) - 1
    for n, part in enumerate((rows[:2], rows[2:])):
        path = folder / "data" / f"part-{n}.parquet"
        pq.write_table(pa.Table.from_pylist(part, pa.schema(stored)), path)
        table.append(
            {
                "content": 0, "file_path": f"file://{path}", "file_format": "PARQUET", "partition": {},
                "record_count": len(part), "file_size_in_bytes": path.stat().st_size,
            }
        )  # fmt: skip
    return folder
