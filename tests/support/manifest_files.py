"""Manifests of any kind that the spec allows, as files: which optional fields there are, in which order and under which
names, with which codec. For tests that hold decoders against each other."""

from __future__ import annotations

import io
import random
from collections.abc import Mapping
from typing import Any

import fastavro

from explorer.model.manifest import FIELD_IDS

LONG_MAP = {"column_sizes": 117, "value_counts": 119, "null_value_counts": 121, "nan_value_counts": 138}
BYTES_MAP = {"lower_bounds": 126, "upper_bounds": 129}
CODECS = ("null", "deflate", "zstandard", "snappy")
DECIMAL = {"logicalType": "decimal", "precision": 9, "scale": 2}
PARTITIONS: list[tuple[Any, Any]] = [
    ("int", 7), ("long", -(2**60)), ("string", "Zürich"), ("boolean", True), ("float", 1.5), ("double", -2.5),
    ("bytes", b"\x00\xff"), ({"type": "int", "logicalType": "date"}, 19_000),
    ({"type": "long", "logicalType": "timestamp-micros", "adjust-to-utc": True}, 1_700_000_000_000_000),
    ({"type": "long", "logicalType": "timestamp-micros", "adjust-to-utc": False}, -1),
    ({"type": "long", "logicalType": "time-micros"}, 3_600_000_000),
    ({"type": "fixed", "name": "uuid_fixed", "size": 16}, bytes(range(16))),
    ({"type": "fixed", "name": "decimal_9_2", "size": 4, **DECIMAL}, b"\xff\xff\xff\x85"),
]  # fmt: skip
"""Types of partition values, and a value as its bytes are written."""


def _pairs(name: str, value: Any, key_id: int) -> dict[str, Any]:
    fields = [
        {"name": "key", "type": "int", "field-id": key_id},
        {"name": "value", "type": value, "field-id": key_id + 1},
    ]
    record = {"type": "record", "name": f"k{key_id}_v{key_id + 1}", "fields": fields}
    return {"type": "array", "items": record, "logicalType": "map"}


def _list_of(items: str, **ids: int) -> dict[str, Any]:
    return {"type": "array", "items": items, **ids}


def field_types() -> dict[str, Any]:
    """The Avro type of each field of ENTRY_SCHEMA."""
    longs = ("snapshot_id", "sequence_number", "file_sequence_number", "record_count", "file_size_in_bytes",
             "first_row_id", "content_offset", "content_size_in_bytes")  # fmt: skip
    return {
        **dict.fromkeys(("status", "content", "sort_order_id"), "int"),
        **dict.fromkeys(longs, "long"),
        **dict.fromkeys(("file_path", "file_format", "referenced_data_file"), "string"),
        "key_metadata": "bytes",
        "split_offsets": _list_of("long", **{"element-id": 133}),
        "equality_ids": _list_of("int", **{"element-id": 136}),
        **{name: _pairs(name, "long", key) for name, key in LONG_MAP.items()},
        **{name: _pairs(name, "bytes", key) for name, key in BYTES_MAP.items()},
    }


def draw_schema(draw: random.Random) -> tuple[dict[str, Any], list[Any]]:
    """A writer's schema, and the value of each of its partition fields."""
    chosen = draw.sample(PARTITIONS, draw.randrange(4))
    partition = {
        "type": "record", "name": "r102",
        "fields": [{"name": f"p{i}", "type": ["null", kind], "default": None, "field-id": 1000 + i}
                   for i, (kind, _) in enumerate(chosen)],
    }  # fmt: skip
    kinds: dict[str, Any] = {**field_types(), "partition": partition}
    top_names = ("status", "snapshot_id", "sequence_number", "file_sequence_number")
    required = ("status", "file_path", "partition")
    top, inner = [], []
    for name, kind in kinds.items():
        if name not in required and draw.random() < 0.2:
            continue
        optional = name not in required and draw.random() < 0.6
        options = [["null", kind], [kind, "null"]][draw.random() < 0.2]
        called = name if draw.random() < 0.8 else f"{name}_of_a_writer"
        field = {"name": called, "type": options if optional else kind, "field-id": FIELD_IDS[name]}
        (top if name in top_names else inner).append(field)
    for n in range(draw.randrange(3)):
        record = {"type": "record", "name": f"x{n}", "fields": [{"name": "a", "type": "double"}]}
        kind = draw.choice(["long", ["null", "string"], _list_of("string"), {"type": "map", "values": "int"}, record])
        draw.choice([top, inner]).append({"name": f"unknown{n}", "type": kind, "field-id": 5000 + n})
    if draw.random() < 0.5:
        draw.shuffle(inner)
    top.append({"name": "data_file", "type": {"type": "record", "name": "r2", "fields": inner}, "field-id": 2})
    if draw.random() < 0.3:
        draw.shuffle(top)
    return {"type": "record", "name": "manifest_entry", "fields": top}, [value for _, value in chosen]


def _bare(node: Any) -> Any:
    """A schema without logical types: values are written as they are."""
    if isinstance(node, list):
        return [_bare(option) for option in node]
    if isinstance(node, Mapping):
        return {key: _bare(value) for key, value in node.items() if key != "logicalType"}
    return node


def _value(draw: random.Random, kind: Any) -> Any:
    if isinstance(kind, list):
        real = next(option for option in kind if option != "null")
        return None if draw.random() < 0.3 else _value(draw, real)
    if isinstance(kind, Mapping):
        if kind["type"] == "array":
            return [_value(draw, kind["items"]) for _ in range(draw.randrange(4))]
        if kind["type"] == "map":
            return {f"k{n}": _value(draw, kind["values"]) for n in range(draw.randrange(3))}
        return {field["name"]: _value(draw, field["type"]) for field in kind["fields"]}
    return {
        "int": lambda: draw.choice([0, 1, -1, 2**31 - 1, -(2**31), draw.randrange(1000)]),
        "long": lambda: draw.choice([0, -1, 2**63 - 1, -(2**63), draw.randrange(10**9)]),
        "string": lambda: draw.choice(["", "s3://b/ä/file.parquet", "x" * 70]),
        "bytes": lambda: draw.randbytes(draw.randrange(9)),
        "double": draw.random,
    }[kind]()


def draw_manifest(draw: random.Random) -> bytes:
    """A manifest: a sound file that some writer could make."""
    schema, values = draw_schema(draw)
    records = []
    for _ in range(draw.randrange(40)):
        record = {field["name"]: _value(draw, field["type"]) for field in schema["fields"] if field["field-id"] != 2}
        [data_file] = [field for field in schema["fields"] if field["field-id"] == 2]
        inner = data_file["type"]["fields"]
        [partition] = [field for field in inner if field["field-id"] == FIELD_IDS["partition"]]
        record["data_file"] = {f["name"]: _value(draw, f["type"]) for f in inner if f is not partition}
        parts = {f"p{i}": None if draw.random() < 0.2 else value for i, value in enumerate(values)}
        record["data_file"][partition["name"]] = parts
        [status] = [field["name"] for field in schema["fields"] if field["field-id"] == 0]
        record[status] = draw.randrange(3)
        records.append(record)
    packed = io.BytesIO()
    interval = draw.choice([100, 1000, 16_000])
    codec = draw.choice(CODECS)
    fastavro.writer(packed, _bare(schema), records, codec, sync_interval=interval, metadata={"format-version": "2"})
    return packed.getvalue()
