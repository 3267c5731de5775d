"""Columns of data files as a schema asks for them, in all three formats, written here as other engines write them."""

from __future__ import annotations

import datetime
import decimal
import io
import json
import math
import time
import tracemalloc
import uuid
from dataclasses import replace
from pathlib import Path
from typing import Any

import fastavro
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import orc

from explorer.errors import NotFoundInTable, UnreadableFile
from explorer.model.metadata import TableMetadata
from explorer.queries import row_reader
from explorer.queries.filters import filter_columns, parse_filter
from explorer.spec.entries.live_files import LiveFile
from explorer.spec.rows.row_diff import column_at
from explorer.spec.values.variant import VariantTexts, variant_text
from explorer.storage import file_rows
from explorer.storage import rows as contents
from explorer.storage.projection import FIELD_ID, name_mapping, project
from explorer.storage.projection import map_ids as mapped_field
from explorer.storage.storage import Storage
from tests.support.paper_tables import on_paper

Json = dict[str, Any]


def field(field_id: int, name: str, kind: Any, required: bool = False, **more: Any) -> Json:
    return {"id": field_id, "name": name, "type": kind, "required": required} | more


def struct(*fields: Json) -> Json:
    return {"type": "struct", "fields": list(fields)}


def listed(element_id: int, kind: Any) -> Json:
    return {"type": "list", "element-id": element_id, "element": kind, "element-required": False}


def mapped(key_id: int, key: Any, value_id: int, value: Any) -> Json:
    return {"type": "map", "key-id": key_id, "key": key, "value-id": value_id, "value": value, "value-required": False}


def stored(name: str, kind: pa.DataType, field_id: int | None = None, nullable: bool = True) -> pa.Field:
    return pa.field(name, kind, nullable, {FIELD_ID: str(field_id)} if field_id is not None else None)


def table_of(*fields: Json, spec: list[Json] | None = None, **properties: str) -> TableMetadata:
    def change(raw: Json) -> None:
        raw["schemas"][0]["fields"] = list(fields)
        raw["properties"] = properties
        if spec:
            raw["partition-specs"][0]["fields"] = spec

    return on_paper([None], change=change)


def parquet(table: pa.Table) -> bytes:
    out = io.BytesIO()
    pq.write_table(table, out)
    return out.getvalue()


def avro(schema: Json, rows: list[Json]) -> bytes:
    out = io.BytesIO()
    fastavro.writer(out, schema, rows, codec="deflate")
    return out.getvalue()


def orc_file(table: pa.Table) -> bytes:
    """pyarrow writes no ids: such a file is read by name mapping."""
    out = io.BytesIO()
    orc.write_table(table, out)
    return out.getvalue()


def live_file(folder: Path, data: bytes, file_format: str = "PARQUET", **more: Any) -> LiveFile:
    path = folder / f"data.{file_format.lower()}"
    path.write_bytes(data)
    return LiveFile(
        str(path), "data_file", 0, more.pop("partition", {}), 1, 1, 0, len(data), "m", file_format=file_format, **more
    )


def read(metadata: TableMetadata, file: LiveFile) -> list[Json]:
    schema = contents.read_schema(metadata, None)
    rows = contents.data_rows(Storage([str(Path(file.path).parent)]), file, schema, metadata)
    return rows.to_pylist()  # type: ignore[no-any-return]


def mapping(*entries: Json) -> dict[str, str]:
    return {"schema.name-mapping.default": json.dumps(entries)}


def test_lists_maps_and_structs_are_read_by_id(tmp_path: Path) -> None:
    """Renamed, promoted, dropped, added and reordered inside lists, map keys and values, and structs."""
    inner = pa.struct([stored("old", pa.int32(), 4), stored("gone", pa.string(), 5)])
    key = pa.struct([stored("k", pa.int32(), 10)])
    value = pa.list_(stored("element", pa.float32(), 9))
    kinds = [
        stored("l", pa.list_(stored("element", inner, 3)), 1),
        stored("m", pa.map_(stored("key", key, 7, False), stored("value", value, 8)), 6),
    ]
    rows = [
        {"l": [{"old": 1, "gone": "x"}, None, {"old": None, "gone": "y"}],
         "m": [({"k": 1}, [1.5, None]), ({"k": 2}, None)]},
        {"l": None, "m": None},
        {"l": [], "m": []},
    ]  # fmt: skip
    file = live_file(tmp_path, parquet(pa.Table.from_pylist(rows, pa.schema(kinds))))
    table = table_of(
        field(6, "m", mapped(7, struct(field(10, "kk", "long")), 8, listed(9, "double"))),
        field(1, "l", listed(3, struct(field(11, "added", "string"), field(4, "new", "long")))),
        field(12, "absent", mapped(13, "string", 14, listed(15, struct(field(16, "x", "int"))))),
    )
    assert read(table, file) == [
        {"m": [({"kk": 1}, [1.5, None]), ({"kk": 2}, None)],
         "l": [{"added": None, "new": 1}, None, {"added": None, "new": None}], "absent": None},
        {"m": None, "l": None, "absent": None},
        {"m": [], "l": [], "absent": None},
    ]  # fmt: skip


def test_what_a_file_lacks(tmp_path: Path) -> None:
    """The identity partition's value, also of a required column and when it is null; else the default; else null."""
    file = live_file(
        tmp_path, parquet(pa.table([[1, 2]], pa.schema([stored("id", pa.int64(), 1)]))),
        partition={"1000": datetime.date(2024, 1, 2), "1001": None},
    )  # fmt: skip
    spec = [
        {"field-id": 1000, "name": "day", "transform": "identity", "source-id": 2},
        {"field-id": 1001, "name": "p", "transform": "identity", "source-id": 3},
    ]
    address = struct(field(6, "city", "string", **{"initial-default": "Bern"}), field(7, "zip", "int"))
    table = table_of(
        field(2, "day", "date", required=True), field(3, "p", "string", required=True), field(1, "id", "long"),
        field(4, "n", "int", required=True, **{"initial-default": 7}),
        field(5, "address", address, **{"initial-default": {}}), field(8, "nothing", "uuid"), spec=spec,
    )  # fmt: skip
    expected = {
        "day": datetime.date(2024, 1, 2), "p": None, "n": 7, "address": {"city": "Bern", "zip": None}, "nothing": None
    }  # fmt: skip
    assert read(table, file) == [expected | {"id": 1}, expected | {"id": 2}]
    with pytest.raises(UnreadableFile, match="lacks the required column x, which has no initial default"):
        read(table_of(field(9, "x", "int", required=True)), file)


def test_identity_partitions_of_fields_inside_structs(tmp_path: Path) -> None:
    inner = pa.struct([stored("b", pa.int64(), 3)])
    data = parquet(pa.table([pa.array([{"b": 1}, None], inner)], pa.schema([stored("a", inner, 1)])))
    file = live_file(tmp_path, data, partition={"1000": 7, "1001": None})
    spec = [
        {"field-id": 1000, "name": "a.p", "transform": "identity", "source-id": 2},
        {"field-id": 1001, "name": "a.q", "transform": "identity", "source-id": 4},
    ]
    kind = struct(
        field(2, "p", "int", required=True), field(3, "b", "long"), field(4, "q", "int", **{"initial-default": 1})
    )
    assert read(table_of(field(1, "a", kind), spec=spec), file) == [{"a": {"p": 7, "b": 1, "q": None}}, {"a": None}]


DEFAULTS = [
    ("boolean", True, True), ("int", -3, -3), ("long", 1 << 40, 1 << 40), ("float", 1.5, 1.5), ("double", 2.25, 2.25),
    ("decimal(9, 2)", "14.20", decimal.Decimal("14.20")), ("date", "2017-11-16", datetime.date(2017, 11, 16)),
    ("time", "22:31:08.123456", datetime.time(22, 31, 8, 123456)),
    ("timestamp", "2017-11-16T22:31:08.123456", datetime.datetime(2017, 11, 16, 22, 31, 8, 123456)),
    ("timestamptz", "2017-11-16T22:31:08.123456+00:00",
     datetime.datetime(2017, 11, 16, 22, 31, 8, 123456, datetime.timezone.utc)),
    ("timestamp_ns", "2017-11-16T22:31:08.123456789", "2017-11-16 22:31:08.123456789"),
    ("timestamptz_ns", "2017-11-16T22:31:08.123456789+00:00", "2017-11-16 22:31:08.123456789+00:00"),
    ("string", "iceberg", "iceberg"), ("uuid", "f79c3e09-677c-4bbd-a479-3f349cb785e7",
     uuid.UUID("f79c3e09-677c-4bbd-a479-3f349cb785e7")), ("fixed[4]", "00010203", b"\0\1\2\3"),
    ("binary", "000102ff", b"\0\1\2\xff"), ("unknown", None, None), ("geometry(OGC:CRS84)", None, None),
    ("geography(OGC:CRS84, spherical)", None, None), ("variant", None, None),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "default", "value"), DEFAULTS, ids=[kind for kind, _, _ in DEFAULTS])
def test_every_type_has_its_default(kind: str, default: Any, value: Any, tmp_path: Path) -> None:
    file = live_file(tmp_path, parquet(pa.table([[1]], pa.schema([stored("id", pa.int64(), 1)]))))
    (row,) = read(table_of(field(2, "x", kind, **{"initial-default": default})), file)
    assert (str(row["x"]) if "_ns" in kind else row["x"]) == value


NAMES = mapping(
    {"field-id": 1, "names": ["old_id", "id"]},
    {"field-id": 2, "names": ["l"], "fields": [
        {"field-id": 3, "names": ["element"], "fields": [{"field-id": 4, "names": ["a"]}]}]},
    {"field-id": 5, "names": ["m"], "fields": [
        {"field-id": 6, "names": ["key"]},
        {"field-id": 7, "names": ["value"], "fields": [{"field-id": 8, "names": ["b"]}]}]},
)  # fmt: skip
UNNAMED = pa.schema([
    ("old_id", pa.int32()), ("l", pa.list_(pa.struct([("a", pa.int32()), ("z", pa.string())]))),
    ("m", pa.map_(pa.string(), pa.struct([("b", pa.int32())]))), ("other", pa.string()),
])  # fmt: skip


def test_a_name_mapping_of_avro_maps(tmp_path: Path) -> None:
    """Pairs in an array, where keys are no strings: structs inside are matched by name, too."""
    value = {"type": "record", "name": "v", "fields": [{"name": "b", "type": "int"}]}
    pair = {
        "type": "record",
        "name": "kv",
        "fields": [{"name": "key", "type": "int"}, {"name": "value", "type": value}],
    }
    maps = {"type": "array", "logicalType": "map", "items": pair}
    data = avro(
        {"type": "record", "name": "t", "fields": [{"name": "m", "type": maps}]},
        [{"m": [{"key": 1, "value": {"b": 2}}]}],
    )
    table = table_of(field(5, "m", mapped(6, "int", 7, struct(field(8, "b", "long")))), **NAMES)
    assert read(table, live_file(tmp_path, data, "AVRO")) == [{"m": [(1, {"b": 2})]}]


@pytest.mark.parametrize("file_format", ["PARQUET", "ORC"])
def test_a_name_mapping_may_leave_columns_out(file_format: str, tmp_path: Path) -> None:
    rows = pa.Table.from_pylist(
        [{"old_id": 1, "l": [{"a": 2, "z": "z"}], "m": [("k", {"b": 3})], "other": "o"}], UNNAMED
    )
    file = live_file(tmp_path, (parquet if file_format == "PARQUET" else orc_file)(rows), file_format)
    fields = (
        field(1, "id", "long"), field(2, "l", listed(3, struct(field(4, "a", "int"), field(9, "z", "string")))),
        field(5, "m", mapped(6, "string", 7, struct(field(8, "b", "long")))), field(10, "other", "string"),
    )  # fmt: skip
    (row,) = read(table_of(*fields, **NAMES), file)
    assert row == {"id": 1, "l": [{"a": 2, "z": None}], "m": [("k", {"b": 3})], "other": None}
    by_place = {"id": 1, "l": None, "m": None, "other": None}  # nothing is at the places 5 and 10
    by_name = {"id": None, "l": [{"a": 2, "z": "z"}], "m": [("k", {"b": 3})], "other": "o"}
    assert read(table_of(*fields), file) == [by_place if file_format == "PARQUET" else by_name]


def test_uuids_variants_and_places(tmp_path: Path) -> None:
    """A UUID inside a struct, in every way that writers store one; a variant as JSON text; geometry as bytes."""
    own = uuid.UUID("f79c3e09-677c-4bbd-a479-3f349cb785e7")
    variant = pa.struct([stored("metadata", pa.binary()), stored("value", pa.binary())])
    kinds = [
        stored("s", pa.struct([stored("u", pa.binary(16), 2), stored("t", pa.string(), 3)]), 1),
        stored("v", variant, 4),
        stored("g", pa.binary(), 5),
        stored("o", pa.struct([stored("w", variant, 7).with_nullable(False)]), 6),
    ]
    rows = [
        {"s": {"u": own.bytes, "t": str(own)}, "v": {"metadata": b"\1\1\0\1a", "value": b"\2\1\0\0\2\x0c\7"},
         "g": b"\1\2", "o": {"w": {"metadata": b"\1\0\0", "value": b"\x0c\7"}}},
        {"s": {"u": None, "t": None}, "v": None, "g": None, "o": None},
    ]  # fmt: skip
    file = live_file(tmp_path, parquet(pa.Table.from_pylist(rows, pa.schema(kinds))))
    table = table_of(
        field(1, "s", struct(field(2, "u", "uuid"), field(3, "t", "uuid"))), field(4, "v", "variant"),
        field(5, "g", "geometry(OGC:CRS84)"), field(6, "o", struct(field(7, "w", "variant", required=True))),
    )  # fmt: skip
    assert read(table, file) == [
        {"s": {"u": own, "t": own}, "v": '{"a":7}', "g": b"\1\2", "o": {"w": "7"}},
        {"s": {"u": None, "t": None}, "v": None, "g": None, "o": None},
    ]


@pytest.mark.parametrize("text", ["{", "[" * 5000])
def test_a_mapping_that_is_none(text: str, tmp_path: Path) -> None:
    file = live_file(tmp_path, parquet(pa.table({"id": [1]})))
    with pytest.raises(UnreadableFile, match=r"schema\.name-mapping\.default"):
        read(table_of(field(1, "id", "long"), **{"schema.name-mapping.default": text}), file)
    odd = mapping(*json.loads('[7, {"names": 7}, {"names": [[]], "fields": {}}, {"field-id": 1, "names": ["id", 3]}]'))
    assert read(table_of(field(1, "id", "long"), **odd), file) == [{"id": 1}]
    assert read(table_of(field(1, "id", "long"), **mapping()), file) == [{"id": None}]  # which leaves out every column


def test_what_does_not_fit_is_told(tmp_path: Path) -> None:
    data = pa.table([["x"], [1 << 40]], pa.schema([stored("t", pa.string(), 1), stored("n", pa.int64(), 2)]))
    file = live_file(tmp_path, parquet(data))
    for wanted, reason in (
        (field(1, "t", "int"), "t is stored as string, which is no int"),
        (field(1, "t", listed(3, "int")), "t is stored as string, which is no list"),
        (field(2, "n", "int"), "not in range"),
        (field(9, "x", "int", **{"initial-default": "seven"}), "x has a default that is no int"),
    ):
        with pytest.raises(UnreadableFile, match=reason):
            read(table_of(wanted), file)
    for kind in ("quaternion", "decimal(99, 2)", {"type": "list"}):
        with pytest.raises(UnreadableFile, match="its schema is not one that rows can be read with"):
            read(table_of(field(1, "t", kind)), file)
    with pytest.raises(UnreadableFile, match="two columns of one struct are called 'a'"):
        read(table_of(field(1, "a", "int"), field(2, "a", "int")), file)
    columns = table_of(field(1, "A", "string"), field(2, "a", "long"))  # which Spark cannot tell apart
    assert read(columns, file) == [{"A": "x", "a": 1 << 40}]


UUID_TYPE = {"type": "fixed", "name": "uuid_fixed", "size": 16, "logicalType": "uuid"}
DECIMAL_TYPE = {"type": "fixed", "name": "d_9_2", "size": 4, "logicalType": "decimal", "precision": 9, "scale": 2}
INSTANT = {"type": "long", "logicalType": "timestamp-micros", "adjust-to-utc": True}
ELEMENT = {"type": "record", "name": "r6", "fields": [{"name": "a", "type": "int", "field-id": 7}]}
PAIR = {
    "type": "record",
    "name": "k9_v10",
    "fields": [
        {"name": "key", "type": "int", "field-id": 9},
        {"name": "value", "type": ["null", "string"], "field-id": 10},
    ],
}
AVRO: Json = {"type": "record", "name": "table", "fields": [
    {"name": "first", "type": UUID_TYPE, "field-id": 1},
    {"name": "u", "type": ["null", "uuid_fixed"], "field-id": 2},
    {"name": "d", "type": DECIMAL_TYPE, "field-id": 3},
    {"name": "ts", "type": ["null", INSTANT], "field-id": 4},
    {"name": "l", "type": {"type": "array", "element-id": 6, "items": ["null", ELEMENT]}, "field-id": 5},
    {"name": "m", "type": {"type": "array", "logicalType": "map", "items": PAIR}, "field-id": 8},
    {"name": "sm", "type": ["null", {"type": "map", "key-id": 12, "value-id": 13, "values": "double"}], "field-id": 11},
    {"name": "day", "type": {"type": "int", "logicalType": "date"}, "field-id": 14},
    {"name": "either", "type": ["int", "string"], "field-id": 15},
]}  # fmt: skip


def test_avro_rows(tmp_path: Path) -> None:
    """As Iceberg writes them: one fixed type named twice, maps without string keys, times after the year 9999."""
    own = uuid.UUID("f79c3e09-677c-4bbd-a479-3f349cb785e7")
    row = {
        "first": own.bytes, "u": own.bytes, "d": decimal.Decimal("-1.25"), "ts": 1 << 60, "l": [{"a": 1}, None],
        "m": [{"key": 1, "value": None}], "sm": {"k": 0.5}, "day": datetime.date(1960, 1, 1), "either": "x",
    }  # fmt: skip
    file = live_file(tmp_path, avro(AVRO, [row, row | {"u": None, "ts": None, "sm": None}]), "AVRO")
    table = table_of(
        field(2, "u", "uuid"), field(3, "d", "decimal(20, 2)"), field(4, "ts", "timestamptz"),
        field(5, "l", listed(6, struct(field(7, "aa", "long"), field(20, "new", "int")))),
        field(8, "m", mapped(9, "long", 10, "string")), field(11, "sm", mapped(12, "string", 13, "double")),
        field(14, "day", "timestamp"),
    )  # fmt: skip
    schema = contents.read_schema(table, None)
    rows = contents.data_rows(Storage([str(tmp_path)]), file, schema, table)
    assert rows["ts"].cast(pa.int64()).to_pylist() == [1 << 60, None]
    assert rows.drop_columns(["ts"]).to_pylist() == [
        {"u": u, "d": decimal.Decimal("-1.25"), "l": [{"aa": 1, "new": None}, None], "m": [(1, None)], "sm": sm,
         "day": datetime.datetime(1960, 1, 1)}
        for u, sm in ((own, [("k", 0.5)]), (None, None))
    ]  # fmt: skip
    with pytest.raises(UnreadableFile, match="cannot be decoded"):
        read(table_of(field(15, "either", "int")), file)
    damaged = replace(file, path=str(tmp_path / "cut.avro"))
    Path(damaged.path).write_bytes(Path(file.path).read_bytes()[:-9])
    with pytest.raises(UnreadableFile, match="cut off"):
        read(table, damaged)


def test_times_that_arrow_has_no_room_for_in_orc(tmp_path: Path) -> None:
    far = pa.table({"ts": pa.array([datetime.datetime(3000, 1, 1)], pa.timestamp("us"))})
    file = live_file(tmp_path, orc_file(far), "ORC")
    with pytest.raises(UnreadableFile, match="out of range for nanosecond resolution; read it through Spark"):
        read(table_of(field(1, "ts", "timestamp"), **mapping({"field-id": 1, "names": ["ts"]})), file)


@pytest.mark.parametrize("file_format", ["PARQUET", "ORC", "AVRO"])
def test_position_deletes_of_every_format(file_format: str, tmp_path: Path) -> None:
    rows = pa.table({"file_path": ["a", "b"], "pos": pa.array([1, 2], pa.int64()), "row": ["x", "y"]})
    schema = {"type": "record", "name": "delete", "fields": [
        {"name": "path", "type": "string", "field-id": 2147483546},
        {"name": "at", "type": "long", "field-id": 2147483545}]}  # fmt: skip
    data = {
        "PARQUET": lambda: parquet(rows), "ORC": lambda: orc_file(rows),
        "AVRO": lambda: avro(schema, [{"path": "a", "at": 1}, {"path": "b", "at": 2}]),
    }[file_format]()  # fmt: skip
    file = live_file(tmp_path, data, file_format)
    read = contents.position_deletes(Storage([str(tmp_path)]), file)
    assert read.to_pylist() == [{"file_path": "a", "pos": 1}, {"file_path": "b", "pos": 2}]


def test_string_and_binary_views_are_read_as_what_they_view(tmp_path: Path) -> None:
    """As writers on Arrow declare them in the footer's ARROW:schema."""
    texts = pa.list_(stored("element", pa.string_view(), 4))
    kinds = [
        stored("t", pa.string_view(), 1), stored("b", pa.binary_view(), 2), stored("l", texts, 3),
    ]  # fmt: skip
    row = {"t": "text longer than twelve bytes", "b": b"\0" * 20, "l": ["one", None]}
    file = live_file(tmp_path, parquet(pa.table([[row[k.name]] for k in kinds], pa.schema(kinds))))
    table = table_of(field(1, "t", "string"), field(2, "b", "binary"), field(3, "l", listed(4, "string")))
    assert read(table, file) == [row]


def test_negative_positions_are_refused(tmp_path: Path) -> None:
    """Python and numpy would take them from the end: the last row hidden."""
    rows = pa.table({"file_path": ["a", "a"], "pos": pa.array([2, -1], pa.int64())})
    with pytest.raises(UnreadableFile, match=r"data\.parquet: row 1 deletes the position -1"):
        contents.position_deletes(Storage([str(tmp_path)]), live_file(tmp_path, parquet(rows)))


@pytest.mark.parametrize(("kind", "bytes_each"), [
    ("fixed[1000]", 1000), ("decimal(38, 2)", 16), ("uuid", 16), ("long", 8),
    (struct(field(3, "a", "fixed[500]"), field(4, "b", "fixed[500]")), 1000),
])  # fmt: skip
def test_absent_columns_take_no_more_than_there_is_room_for(kind: Any, bytes_each: int) -> None:
    absent = [field(1, "c", kind)]
    with pytest.raises(ValueError, match="too large"):
        project(pa.table({}), absent, 1000, {}, 1000 * bytes_each - 1)
    assert project(pa.table({}), absent, 1000, {}, 1000 * (bytes_each + 100)).nbytes >= 1000 * bytes_each
    with pytest.raises(ValueError, match="too large"):
        project(pa.table({}), absent, 1000, {1: None}, 1000 * bytes_each - 1)


def test_wide_schemas_and_mappings_take_time_in_proportion() -> None:
    wide = [field(i, f"c{i}", "int") for i in range(20_000)]
    mapping = name_mapping([{"field-id": i, "names": [f"c{i}"]} for i in range(20_000)])
    started = time.process_time()
    with pytest.raises(UnreadableFile, match="two columns of one struct are called 'c19999'"):
        contents.read_schema(table_of(*wide, field(20_000, "c19999", "int")), None)
    ids = [mapped_field(pa.field(f"c{i}", pa.int32()), mapping).metadata[FIELD_ID] for i in range(20_000)]
    assert ids == [str(i).encode() for i in range(20_000)]
    assert time.process_time() - started < 5  # quadratic, it is a minute


@pytest.mark.parametrize("file_format", ["PARQUET", "ORC", "AVRO"])
def test_columns_that_are_not_asked_for_are_not_decoded(file_format: str, tmp_path: Path) -> None:
    """The other column's bytes are overwritten, which only its decoder would notice."""
    schema = {"type": "record", "name": "t", "fields": [
        {"name": "id", "type": "long", "field-id": 1}, {"name": "junk", "type": "bytes", "field-id": 2}]}  # fmt: skip
    text = b"needle" * 50
    both = pa.table([[7], [text]], pa.schema([stored("id", pa.int64(), 1), stored("junk", pa.string(), 2)]))
    if file_format == "AVRO":
        schema["fields"][1]["type"] = "string"
        out = io.BytesIO()
        fastavro.writer(out, schema, [{"id": 7, "junk": text.decode()}], codec="null")
        data = out.getvalue()
    elif file_format == "ORC":
        out = io.BytesIO()
        orc.write_table(both, out, compression="uncompressed")
        data = out.getvalue()
    else:
        out = io.BytesIO()
        pq.write_table(both, out, compression="none", use_dictionary=False, write_statistics=False)
        data = out.getvalue()
    assert data.count(text) >= 1
    file = live_file(tmp_path, data.replace(text, b"\xff" * len(text)), file_format)
    names = mapping({"field-id": 1, "names": ["id"]}, {"field-id": 2, "names": ["junk"]})
    assert read(table_of(field(1, "id", "long"), **names), file) == [{"id": 7}]
    with pytest.raises(UnreadableFile):
        read(table_of(field(2, "junk", "string"), **names), file)


@pytest.mark.parametrize(("value", "text"), [
    (b"\x00", "null"), (b"\x04", "true"), (b"\x0c\x07", "7"), (b"\x09hi", '"hi"'), (b"\x03\x02\x00\x01\x02\x04\x08",
     "[true,false]"), (b"\x20\x02\x7d\x00\x00\x00", "1.25"), (b"\x2c\x01\x00\x00\x00", '"1970-01-02"'),
    (b"\x38\x00\x00\xc0\x3f", "1.5"), (b"\x3c\x02\x00\x00\x00hi", '"aGk="'), (b"\x40\x02\x00\x00\x00hi", '"hi"'),
])  # fmt: skip
def test_variants_as_text(value: bytes, text: str) -> None:
    assert variant_text(b"\1\0\0", value, 1000) == text


@pytest.mark.parametrize(("value", "text"), [
    (b"\x42\x01\x00\x00\x00\x00\x00\x01\x04", '{"a":true}'), (b"\x13\x01\x00\x00\x00\x00\x01\x04", "[true]"),
], ids=["object", "list"])  # fmt: skip
def test_what_is_large_has_a_count_of_four_bytes(value: bytes, text: str) -> None:
    assert variant_text(b"\1\1\0\1a", value, 1000) == text


def test_damaged_variants_end_soon() -> None:
    bomb = b"\x00"
    for _ in range(60):  # lists whose 200 items are all the next list
        count = 200
        bomb = bytes([3, count]) + b"\0" * (count + 1) + bomb
    for value in (bomb, b"", b"\x09", b"\xff" * 20, b"\x02\x05\x00", b"\x13" + b"\xff" * 4):
        with pytest.raises(ValueError, match="variant"):
            variant_text(b"\1\0\0", value, 1 << 30)


@pytest.mark.parametrize("inmost", [b"\x03\x00\x00", b"\x02\x00\x00"], ids=["lists", "objects"])
def test_empty_containers_are_charged(inmost: bytes) -> None:
    bomb, width = inmost, 16
    for _ in range(8):  # 16 ** 8 empty ones
        bomb = bytes([3, width]) + b"\0" * (width + 1) + bomb
    with pytest.raises(ValueError, match="64 times its bytes"):
        variant_text(b"\1\0\0", bomb, 1 << 30)


def test_a_variant_has_the_room_that_is_left() -> None:
    ten = b"\x03\x0a" + bytes(11) + b"\x04"  # ten times true
    assert len(variant_text(b"\1\0\0", ten, 51)) == 51
    with pytest.raises(ValueError, match="too large"):
        variant_text(b"\1\0\0", ten, 50)


def shredded(typed: Any, value: bytes | None = None, typed_kind: pa.DataType | None = None) -> pa.StructArray:
    """A column of one variant whose `typed_value` is given."""
    parts = [pa.array([b"\1\1\0\1a"]), pa.array([value], pa.binary()), pa.array([typed], typed_kind)]
    return pa.StructArray.from_arrays(parts, ["metadata", "value", "typed_value"])


@pytest.mark.parametrize(("typed", "kind", "text"), [
    (7, pa.int8(), "7"), (False, pa.bool_(), "false"), (math.inf, pa.float32(), '"inf"'), ('"', pa.string(), '"\\""'),
    (decimal.Decimal("1.50"), pa.decimal128(9, 2), "1.50"), (b"hi", pa.binary(), '"aGk="'),
    (bytes(16), pa.binary(16), f'"{uuid.UUID(int=0)}"'), (1, pa.date32(), '"1970-01-02"'),
    (1, pa.time64("us"), '"00:00:00.000001"'), (1, pa.timestamp("ns"), '"1970-01-01 00:00:00.000000001"'),
    (1700000000123456789, pa.timestamp("ns", "UTC"), '"2023-11-14 22:13:20.123456789+00:00"'),
    (253402300800000000, pa.timestamp("us", "UTC"), '"10000-01-01 00:00:00.000000Z"'),
    ([{"value": b"\0", "typed_value": None}, {"value": None, "typed_value": 5}],
     pa.list_(pa.struct({"value": pa.binary(), "typed_value": pa.int32()})), "[null,5]"),
    ({"b": {"typed_value": None}, "c": {"typed_value": "x"}},
     pa.struct({n: pa.struct({"typed_value": pa.string()}) for n in "cb"}), '{"c":"x"}'),
    (None, pa.string(), None),
])  # fmt: skip
def test_shredded_variants_as_text(typed: Any, kind: pa.DataType, text: str | None) -> None:
    assert VariantTexts(1000).of(shredded(typed, None, kind)) == [text]


def test_lists_of_some_of_the_rows() -> None:
    kind = pa.list_(pa.struct({"value": pa.binary(), "typed_value": pa.int32()}))
    one = [shredded([{"value": None, "typed_value": n}] * n, None, kind) for n in (1, 2, 3)]
    assert VariantTexts(1000).of(pa.concat_arrays(one).slice(1, 1)) == ["[2,2]"]


def test_a_variant_that_is_shredded_in_part(tmp_path: Path) -> None:
    kind, rest = pa.struct({"c": pa.struct({"typed_value": pa.int32()})}), b"\2\1\0\0\2\x0c\7"
    assert VariantTexts(1000).of(shredded({"c": {"typed_value": 1}}, rest, kind)) == ['{"a":7,"c":1}']
    assert VariantTexts(1000).of(shredded(None, b"\0", kind)) == ["null"]
    whole = pa.table({"v": shredded({"c": {"typed_value": 1}}, rest, kind)})
    file = live_file(tmp_path, parquet(whole.cast(pa.schema([stored("v", whole["v"].type, 1)]))))
    assert read(table_of(field(1, "v", "variant")), file) == [{"v": '{"a":7,"c":1}'}]


def test_damaged_shredded_variants() -> None:
    field, deep = pa.struct({"c": pa.struct({"typed_value": pa.int32()})}), pa.struct({"typed_value": pa.int32()})
    for _ in range(110):
        deep = pa.struct({"typed_value": pa.struct({"a": deep})})
    for array, told in (
        (shredded({"c": {"typed_value": 1}}, b"\0", field), "no object"),
        (shredded({"c": 1}, None, pa.struct({"c": pa.int32()})), "shredded as int32"),
        (shredded([(1, 2)], None, pa.map_(pa.int8(), pa.int8())), "values that are list"),
        (shredded(None, None, deep.field(0).type), "deeper than 100"),
        (pa.concat_arrays([shredded("x" * 90, None, pa.string())] * 40), "too large"),
    ):
        with pytest.raises(ValueError, match=told):
            VariantTexts(3000).of(array)


def test_names_of_variants_are_cut_out_when_asked_for() -> None:
    names = b"\x01\x02" + b"\x00\x01\x02" + b"ab"
    pair = b"\x02\x02\x00\x01\x00\x01\x02\x04\x08"
    assert variant_text(names, pair, 100) == '{"a":true,"b":false}'
    with pytest.raises(ValueError, match="no name 2"):
        variant_text(names, b"\x02\x01\x02\x00\x01\x04", 100)
    size, count = 40_000, 20_000  # every other name would be all 40 kB
    offsets = b"".join((i % 2 * size).to_bytes(4, "little") for i in range(count + 1))
    tracemalloc.start()
    with pytest.raises(ValueError, match="do not ascend"):
        variant_text(b"\xc1" + count.to_bytes(4, "little") + offsets + b"x" * size, b"\x00", 100)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 4 << 20


@pytest.mark.parametrize(("unscaled", "scale", "text"), [
    (10**37 + 1, 10, "1000000000000000000000000000.0000000001"), (-(10**37) - 1, 0, "-1" + "0" * 36 + "1"),
    (-5, 2, "-0.05"), (0, 2, "0.00"),
])  # fmt: skip
def test_decimals_of_variants_keep_all_digits(unscaled: int, scale: int, text: str) -> None:
    value = bytes([10 << 2, scale]) + unscaled.to_bytes(16, "little", signed=True)
    assert variant_text(b"\1\0\0", value, 100) == text


@pytest.mark.parametrize(("kind", "number", "arrow"), [
    (11, 2932897, pa.date32()), (11, -(1 << 31), pa.date32()), (12, 1 << 62, pa.timestamp("us", "UTC")),
    (13, -(1 << 62), pa.timestamp("us")), (17, 86_400_000_000, pa.time64("us")), (17, -1, pa.time64("us")),
])  # fmt: skip
def test_times_of_variants_beyond_pythons_read_as_those_of_columns(kind: int, number: int, arrow: pa.DataType) -> None:
    value = bytes([kind << 2]) + number.to_bytes(4 if kind == 11 else 8, "little", signed=True)
    whole = pa.array([number], pa.int32() if kind == 11 else pa.int64())
    assert json.loads(variant_text(b"\1\0\0", value, 100)) == whole.cast(arrow).cast(pa.string())[0].as_py()


DOTTED = [
    field(1, "a", struct(field(2, "b", "long"), field(3, "c", struct(field(4, "d", "long"))))), field(5, "a.b", "long"),
    field(6, "a.c", struct(field(7, "d", "long"))), field(8, "l", listed(9, "long")),
]  # fmt: skip


@pytest.mark.parametrize(("path", "field_id"), [("a.b", 5), ("a.c", 6), ("a.c.d", 7)])
def test_names_with_dots_mean_one_column_to_filters_keys_and_rows(path: str, field_id: int) -> None:
    """The one furthest out: bounds, values and pairs would be of different columns else."""
    schema = contents.read_schema(table_of(*DOTTED), None)
    flat = filter_columns(schema)
    assert flat[path].field_id == field_id
    rows = pa.table({"a": [{"b": 2, "c": {"d": 4}}], "a.b": [5], "a.c": [{"d": 7}], "l": [[9]]})
    assert column_at(rows, path).to_pylist() == ([{"d": 7}] if field_id == 6 else [field_id])
    if field_id != 6:  # Iceberg Java loads no table with two fields of one name
        with pytest.raises(NotFoundInTable, match="is ambiguous: it is the name of"):
            parse_filter(f"{path} = {field_id}", flat)
    assert row_reader.pairing_keys(schema, [path], False) == (path,)
    with pytest.raises(NotFoundInTable, match=r"l\.element"):
        row_reader.pairing_keys(schema, ["l.element"], False)


def test_equality_columns_go_by_id_where_names_have_dots() -> None:
    table = table_of(*DOTTED)
    fields = contents.equality_schema(table, [2, 5]).raw["fields"]
    assert [contents.field_place(fields, i) for i in (2, 5)] == [[0, 0], [1]]
    rows = pa.table({"a": [{"b": 2}], "a.b": [5]})
    keys = file_rows._keys(rows, contents.equality_schema(table, [2, 5]), [2, 5])
    assert [column.to_pylist() for column in keys] == [[2], [5]]
    with pytest.raises(UnreadableFile, match="column of id 9 is inside a list or map"):
        contents.equality_schema(table, [9])
