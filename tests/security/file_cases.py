"""Attacks by files, as data: (name, class, builder). A builder damages a table; it may return what to do instead of
reading everything the table has. Every case must end in an error or a problem that names the file."""

from __future__ import annotations

import gzip
import json
import os
import random
import struct
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from explorer.storage.rows import deletion_vector
from explorer.storage.storage import Storage
from tests.security.build import (
    SYNC,
    Victim,
    avro_file,
    delete_file,
    dictionary_bomb,
    long,
    parquet,
    roaring,
    text,
    vector_file,
    with_ids,
    zstd,
)

Builder = Callable[[Victim], Callable[[], Any] | None]


@dataclass(frozen=True)
class Case:
    """`harmless`: it must be read without a word, and in time."""

    name: str
    kind: str
    build: Builder
    harmless: bool = False


# -- Avro schemas -----------------------------------------------------------------------------------------------------
def record(name: str, *fields: Any, kind: str = "record", **more: Any) -> dict[str, Any]:
    return {"type": kind, "name": name, "fields": [{"name": f"f{i}", "type": t} for i, t in enumerate(fields)]} | more


def doubling(depth: int) -> Any:
    kind: Any = record("r0", "int")
    for i in range(depth):
        kind = record(f"r{i + 1}", kind, f"r{i}")
    return kind


def nested(depth: int) -> Any:
    kind: Any = "long"
    for i in range(depth):
        kind = record(f"n{i}", kind)
    return kind


def array(items: Any) -> dict[str, Any]:
    return {"type": "array", "items": items}


SCHEMAS: dict[str, Any] = {
    "refers to itself": record("a", ["null", "a"]),
    "refers to itself, an error": record("a", ["null", "a"], kind="error"),
    "refers to itself, a request": record("a", ["null", "a"], kind="request"),
    "refers to itself by its full name": record("m", ["null", "n.m"], namespace="n"),
    "refers to itself in its namespace": record("n.m", ["null", "m"]),
    "refers to itself by a dotted name": record("n.m", ["null", "n.m"]),
    "refers to itself in an inherited namespace": record("n.o", record("i", ["null", "i"])),
    "refers to itself through an array": record("a", array("a")),
    "refers to itself through a map": record("a", {"type": "map", "values": "a"}),
    "refers to itself through an object": record("a", ["null", {"type": "a"}]),
    "refer to each other": record("a", record("b", ["null", "a"])),
    "error in error": record("a", record("b", ["null", "a"], kind="error"), kind="error"),
    "doubles 38 times": doubling(38),
    "doubles 15 times": doubling(15),
    "nests 200 deep": nested(200),
    "fixed of 10^13": {"type": "fixed", "name": "f", "size": 10**13},
    "optional fixed of 10^13": ["null", {"type": "fixed", "name": "f", "size": 10**13}],
    "fixed of 2^63": {"type": "fixed", "name": "f", "size": 2**63},
    "fixed of -1": {"type": "fixed", "name": "f", "size": -1},
    "fixed of 1.5": {"type": "fixed", "name": "f", "size": 1.5},
    "fixed of true": {"type": "fixed", "name": "f", "size": True},
    "array of null": array("null"),
    "array of a null object": array({"type": "null"}),
    "array of a record of nothing": array(record("e")),
    "array of a named record of nothing": record("o", record("e"), array("e")),
    "array of an error of nothing": array(record("e", kind="error")),
    "array of a record of nulls": array(record("e", "null", "null")),
    "array of fixed 0": array({"type": "fixed", "name": "f", "size": 0}),
    "map of nothing": {"type": "map", "values": record("e")},
    "100,000 fields": record("w", *["int"] * 100_000),
    "30,000 branches": [{"type": "array", "items": "int"}] * 30_000,
    "20,000 symbols": {"type": "enum", "name": "e", "symbols": [f"s{i}" for i in range(20_000)]},
    "symbols that are numbers": {"type": "enum", "name": "e", "symbols": [1, 2]},
    "decimal of 10^9 digits": {"type": "fixed", "name": "d", "size": 16, "logicalType": "decimal", "precision": 10**9},
    "decimal of scale -1": {
        "type": "fixed", "name": "d", "size": 4, "logicalType": "decimal", "precision": 3, "scale": -1
    },
    "decimal without a precision": {"type": "bytes", "logicalType": "decimal"},
    "unknown type": "varchar",
    "unknown type in an object": {"type": "varchar"},
    "a type that is a number": 7,
    "a union in a union": [["null", "int"], "string"],
    "a union of nothing": [],
    "record without fields": {"type": "record", "name": "q"},
    "fields that are an object": {"type": "record", "name": "q", "fields": {"a": "int"}},
    "field without a name": {"type": "record", "name": "q", "fields": [{"type": "int"}]},
    "field without a type": {"type": "record", "name": "q", "fields": [{"name": "a"}]},
    "record without a name": {"type": "record", "fields": [{"name": "a", "type": "int"}]},
    "two fields of one name": {"type": "record", "name": "q", "fields": [{"name": "a", "type": "int"}] * 2},
}  # fmt: skip


def schema_case(kind: Any) -> Builder:
    def build(victim: Victim) -> None:
        victim.manifest_of(kind)

    return build


def header_case(schema: bytes) -> Builder:
    def build(victim: Victim) -> None:
        victim.manifest.write_bytes(avro_file(schema, (1, b"\0" * 64)))

    return build


def with_id(text_of_id: bytes) -> Builder:
    def build(victim: Victim) -> None:
        schema = json.dumps(victim.schema_with("int")).encode().replace(b"999", text_of_id)
        victim.manifest.write_bytes(avro_file(schema, (1, b"\0" * 64)))

    return build


HEADERS = {
    "a list": b"[]", "a name": b'"null"', "a number": b"5" * 5000, "no JSON": b"{", "text": b"\xff\xfe",
    "nests 100,000 deep": b'{"type":' * 100_000, "5 MB": b'"' + b"x" * (5 << 20) + b'"',
}  # fmt: skip


# -- Avro data --------------------------------------------------------------------------------------------------------
def data_case(kind: Any, *blocks: tuple[int, bytes]) -> Builder:
    def build(victim: Victim) -> None:
        victim.manifest_of(kind, *blocks)

    return build


def raw_case(raw: bytes, codec: str = "null") -> Builder:
    def build(victim: Victim) -> None:
        victim.manifest.write_bytes(avro_file(victim.schema_with("int"), raw=raw, codec=codec))

    return build


def bomb(codec: str, pack: Callable[[bytes], bytes]) -> Builder:
    def build(victim: Victim) -> None:
        block = pack(b"\0" * (600 << 20))
        victim.manifest.write_bytes(avro_file(victim.schema_with("int"), (1, block), codec=codec))

    return build


def deflated(data: bytes) -> bytes:
    packer = zlib.compressobj(1, zlib.DEFLATED, -15)
    return packer.compress(data) + packer.flush()


def many_metadata_entries(victim: Victim) -> None:
    victim.manifest.write_bytes(b"Obj\x01" + long(1 << 60) + b"\0" * 64)


def many_small_blocks(victim: Victim) -> None:
    """Each block is small, all together are not."""
    block = deflated(b"\0" * (8 << 20))
    victim.manifest.write_bytes(avro_file(victim.schema_with("int"), *[(1, block)] * 80, codec="deflate"))


def many_manifests(victim: Victim) -> None:
    schema = {
        "type": "record",
        "name": "manifest_file",
        "fields": [{"name": "manifest_path", "type": "string", "field-id": 500}],
    }
    victim.list.write_bytes(avro_file(schema, (10**7, deflated(b"\0" * 10**7)), codec="deflate"))


def wide_summaries(victim: Victim) -> None:
    summary = {"type": "record", "name": "s", "fields": [{"name": "contains_null", "type": "boolean", "field-id": 509}]}
    schema = {
        "type": "record",
        "name": "manifest_file",
        "fields": [
            {"name": "manifest_path", "type": "string", "field-id": 500},
            {"name": "partitions", "type": array(summary), "field-id": 507},
        ],
    }
    row = b"\0" + long(9_000_000) + b"\0" * 9_000_000 + b"\0"
    victim.list.write_bytes(avro_file(schema, (1, deflated(row)), codec="deflate"))


# -- JSON -------------------------------------------------------------------------------------------------------------
def json_case(change: Callable[[dict[str, Any]], Any]) -> Builder:
    def build(victim: Victim) -> None:
        victim.edit(change)

    return build


def json_text(old: str, new: str) -> Builder:
    def build(victim: Victim) -> None:
        said = json.dumps(json.loads(victim.metadata.read_text()))
        assert old in said
        victim.metadata.write_text(said.replace(old, new, 1))

    return build


def front(prefix: str) -> Builder:
    return json_text("{", "{" + prefix + ", ")


def chain(data: dict[str, Any]) -> None:
    """30,000 snapshots, the oldest last: each walk to the root is long."""
    last = data["snapshots"][-1]
    data["snapshots"] = [
        {**last, "snapshot-id": i, "parent-snapshot-id": i - 1 if i else None} for i in reversed(range(30_000))
    ]
    data |= {"current-snapshot-id": 29_999, "refs": {}, "snapshot-log": []}


def gzipped(victim: Victim) -> None:
    victim.metadata.write_bytes(gzip.compress(b" " * (260 << 20), 1))


def sparse_metadata(victim: Victim) -> None:
    os.truncate(victim.metadata, 1 << 40)


def million_snapshots(victim: Victim) -> None:
    one = '{"snapshot-id": 1, "timestamp-ms": 1, "summary": {"a": "b", "c": "d", "e": "f", "g": "h"}},'
    victim.metadata.write_text('{"format-version": 2, "snapshots": [' + one * 1_500_000 + "{}]}")


def set_field(**change: Any) -> Builder:
    return json_case(lambda data: data["schemas"][0]["fields"][0].update(change))


def set_snapshot(**change: Any) -> Builder:
    return json_case(lambda data: data["snapshots"][-1].update({k.replace("_", "-"): v for k, v in change.items()}))


def structs(depth: int) -> Any:
    kind: Any = "int"
    for _ in range(depth):
        kind = {"type": "struct", "fields": [{"id": 9, "name": "a", "required": True, "type": kind}]}
    return kind


def huge_hint(victim: Victim) -> None:
    os.truncate(_touched(victim.folder / "metadata" / "version-hint.text"), 1 << 40)


def _touched(path: Any) -> Any:
    path.touch()
    return path


# -- places -----------------------------------------------------------------------------------------------------------
def listed_at(path: str) -> Builder:
    return set_snapshot(manifest_list=path)


def linked(target: str) -> Builder:
    def build(victim: Victim) -> None:
        victim.list.unlink()
        victim.list.symlink_to(target)

    return build


def pipe(victim: Victim) -> None:
    victim.manifest.unlink()
    os.mkfifo(victim.manifest)


def folder(victim: Victim) -> None:
    victim.manifest.unlink()
    victim.manifest.mkdir()


def sparse(victim: Victim) -> None:
    os.truncate(victim.manifest, 1 << 40)


def sparse_rows(victim: Victim) -> None:
    os.truncate(victim.data, 1 << 40)


# -- Parquet, Puffin --------------------------------------------------------------------------------------------------
def rows_case(make: Callable[[Victim], bytes]) -> Builder:
    def build(victim: Victim) -> None:
        victim.data.write_bytes(make(victim))

    return build


def many_rows(victim: Victim) -> bytes:
    big = pa.DictionaryArray.from_arrays(pa.array([0] * 25_000_000, pa.int8()), pa.array(["x"]))
    return parquet(with_ids(pa.table({"id": pa.nulls(25_000_000, pa.int64()), "fruit": big})), compression="zstd")


def other_types(victim: Victim) -> bytes:
    """Column chunks that say other types than the schema, and the like."""
    rows = pa.table({"id": pa.array(range(300), pa.int64()), "fruit": [str(i) for i in range(300)]})
    whole = parquet(with_ids(rows), row_group_size=50, compression="none")
    length = int.from_bytes(whole[-8:-4], "little")
    start, draw = len(whole) - 8 - length, random.Random(5)
    damaged = bytearray(whole)
    for _ in range(6):
        damaged[draw.randrange(start, len(whole) - 8)] ^= 1 << draw.randrange(8)
    return bytes(damaged)


def footer_length(length: int) -> Callable[[Victim], bytes]:
    return lambda victim: victim.data.read_bytes()[:-8] + struct.pack("<I", length) + b"PAR1"


def not_text(victim: Victim) -> bytes:
    raw = pa.array([b"ok", b"\xff\xfe"], pa.binary())
    fruit = pa.StringArray.from_buffers(2, *raw.buffers()[1:])
    return parquet(with_ids(pa.table({"id": pa.array([1, 2], pa.int64()), "fruit": fruit})))


def vector_case(make: Callable[[], tuple[bytes, int]], count: int, **place: Any) -> Builder:
    def build(victim: Victim) -> Callable[[], Any]:
        data, size = make()
        path = victim.folder / "data" / "v.puffin"
        path.write_bytes(data)
        file = delete_file(path, place.get("size", size), count, place.get("offset", 4))
        return lambda: deletion_vector(Storage([str(victim.folder)]), file)

    return build


def everything() -> bytes:
    """2^32 positions in run containers: about a megabyte."""
    runs = b"".join(struct.pack("<HHH", 1, 0, 0xFFFF) for _ in range(65536))
    keys = b"".join(struct.pack("<HH", key, 0xFFFF) for key in range(65536))
    offsets = 4 + 8192 + len(keys) + 4 * 65536
    places = b"".join(struct.pack("<I", offsets + 6 * i) for i in range(65536))
    return struct.pack("<I", 12347 | 65535 << 16) + b"\xff" * 8192 + keys + places + runs


def lz4_bomb() -> tuple[bytes, int]:
    packed = pa.compress(b" " * (200 << 20), codec="lz4", asbytes=True)
    return vector_file(b"", bytes(packed), flags=1)


CASES = [
    *(Case(name, "schema", schema_case(kind)) for name, kind in SCHEMAS.items()),
    *(Case(f"a schema that is {name}", "schema", header_case(schema)) for name, schema in HEADERS.items()),
    *(
        Case(f"field id {name.decode()[:20]}", "schema", with_id(name))
        for name in (b"NaN", b"1e999", b"[]", b"null", b'"2"', b"9" * 30, b"1.5")
    ),
    Case("2^50 records in a byte", "avro", data_case("int", (1 << 50, b"\0"))),
    Case("-1 records", "avro", data_case("int", (-1, b"\0"))),
    Case("a record for each byte", "avro", data_case("int", (64, b"\0" * 64))),
    Case("2^60 items", "avro", data_case(array("boolean"), (1, long(1 << 60) + b"\0" * 64))),
    Case("2^60 items of two bytes", "avro",
         data_case(array(record("p", "int", "int")), (1, long(1 << 60) + b"\0" * 64))),
    Case("-2^60 items", "avro", data_case(array("boolean"), (1, long(-(1 << 60)) + long(1) + b"\0" * 64))),
    Case("-2^60 items in -1 bytes", "avro", data_case(array("int"), (1, long(-(1 << 60)) + long(-1) + b"\0" * 64))),
    Case("2^60 entries of a map", "avro", data_case({"type": "map", "values": "int"}, (1, long(1 << 60) + b"\0" * 64))),
    Case("a text of 2^60 bytes", "avro", data_case("string", (1, long(1 << 60) + b"\0" * 64))),
    Case("a text of -1 bytes", "avro", data_case("string", (1, long(-1) + b"\0" * 64))),
    Case("a text that is no UTF-8", "avro", data_case("string", (1, text(b"\xff\xfe") + b"\0" * 64))),
    Case("a branch that is not there", "avro", data_case(["null", "int", "string"], (1, long(77) + b"\0" * 64))),
    Case("a symbol that is not there", "avro",
         data_case({"type": "enum", "name": "e", "symbols": ["a"]}, (1, long(77) + b"\0" * 64))),
    Case("a number of eleven bytes", "avro", raw_case(b"\xff" * 11)),
    Case("a block of 2^60 bytes", "avro", raw_case(long(1) + long(1 << 60) + b"\0")),
    Case("a block of -1 bytes", "avro", raw_case(long(1) + long(-1) + SYNC)),
    Case("no sync marker", "avro", raw_case(long(1) + text(b"\0" * 64) + b"x" * 16)),
    Case("an unknown codec", "avro", raw_case(long(1) + text(b"\0" * 64) + SYNC, "brotli" * 1000)),
    Case("snappy that claims 500 MB", "avro", raw_case(
        long(1) + text(b"\x80\x80\xb4\xee\x01" + b"\0" * 8) + SYNC, "snappy")),
    Case("many metadata entries", "avro", many_metadata_entries),
    Case("a deflate bomb", "sizes", bomb("deflate", deflated)),
    Case("a zstandard bomb", "sizes", bomb("zstandard", zstd)),
    Case("a bomb of small blocks", "sizes", many_small_blocks),
    Case("10^7 manifests", "sizes", many_manifests),
    Case("9,000,000 partition summaries", "sizes", wide_summaries),
    Case("a gzip bomb", "sizes", gzipped),
    Case("metadata of a terabyte", "sizes", sparse_metadata),
    Case("1.5 million snapshots", "sizes", million_snapshots),
    Case("a version hint of a terabyte", "sizes", huge_hint, harmless=True),
    Case("a manifest of a terabyte", "sizes", sparse),
    Case("a data file of a terabyte", "sizes", sparse_rows),
    Case("50 GB of text in a kilobyte", "sizes", rows_case(lambda v: dictionary_bomb(50_000_000, 1000, False))),
    Case("50 GB of text as a dictionary", "sizes", rows_case(lambda v: dictionary_bomb(50_000_000, 1000, True))),
    Case("a gigabyte and a half of text", "sizes", rows_case(lambda v: dictionary_bomb(1_500_000, 1000, True))),
    Case("25 million rows", "sizes", rows_case(many_rows)),
    Case("a vector of 2^32 positions", "sizes", vector_case(lambda: vector_file(roaring([everything()])), 1 << 32)),
    Case("2^32 positions, says the vector", "sizes", vector_case(lambda: vector_file(roaring([everything()])), 3)),
    Case("an lz4 bomb in a Puffin footer", "sizes", vector_case(lz4_bomb, 3)),
    Case("one key 200,000 times", "json", front(", ".join(['"a": 1'] * 200_000))),
    Case("100,000 keys twice", "json", front(", ".join(f'"k{i}": 1' for i in [*range(100_000)] * 2))),
    Case("a key that is NaN", "json", front('"last-column-id": NaN')),
    Case("5,000 digits", "json", front('"x": ' + "9" * 5000)),
    Case("nests 100,000 deep", "json", front('"x": ' + "[" * 100_000 + "]" * 100_000)),
    Case("nests 900 deep", "json", front('"x": ' + '{"a":' * 900 + "1" + "}" * 900)),
    Case("nests deep behind brackets in text", "json", front('"y": "]]]]]]", "x": ' + "[" * 900 + "]" * 900)),
    Case("half a character", "json", front('"comment\\ud800": "\\udfff"')),
    Case("a chain of 30,000 snapshots", "json", json_case(chain), harmless=True),
    Case("a snapshot id beyond 64 bits", "json", set_snapshot(snapshot_id=1 << 70)),
    Case("a snapshot id of 1e999", "json", json_text('"snapshot-id": ', '"snapshot-id": 1e999, "was": ')),
    Case("a time beyond 64 bits", "json", set_snapshot(timestamp_ms=1 << 70)),
    Case("a schema id that is a list", "json", set_snapshot(schema_id=[1])),
    Case("a summary that is a list", "json", set_snapshot(summary=[1])),
    Case("manifests that are numbers", "json", set_snapshot(manifests=[1])),
    Case("a field id that is NaN", "json", json_text('"id": 1', '"id": NaN')),
    Case("a field id that is a list", "json", set_field(id=[1])),
    Case("a field type that is a number", "json", set_field(type=7)),
    Case("a field type that is a list", "json", set_field(type=["int"])),
    Case("a field name that is an object", "json", set_field(name={"a": 1})),
    Case("fields that are text", "json", json_case(lambda d: d["schemas"][0].update(fields="abc"))),
    Case("a struct of 60 structs", "json", set_field(type=structs(60))),
    Case("a schema that is a number", "json", json_case(lambda d: d.update(schemas=[7]))),
    Case("a spec whose fields are numbers", "json", json_case(lambda d: d["partition-specs"][0].update(fields=[7]))),
    Case("refs that are numbers", "json", json_case(lambda d: d.update(refs={"main": 7}))),
    Case("a location that is a list", "json", json_case(lambda d: d.update(location=["/"]))),
    Case("a list path with a NUL byte", "places", listed_at("/tmp/a\0b")),
    Case("a list path that is empty", "places", listed_at("")),
    Case("a list path that is a number", "places", set_snapshot(manifest_list=7)),
    Case("a list path of 100,000 names", "places", listed_at("/a" * 100_000)),
    Case("a list path that is a broken URL", "places", listed_at("s3://[bad/x")),
    Case("a list path on a web server", "places", listed_at("http://127.0.0.1:1/x.avro")),
    Case("a list path in a bucket", "places", listed_at("s3://bucket/x.avro")),
    Case("/etc/passwd", "places", listed_at("/etc/passwd")),
    Case("/etc/passwd in percents", "places", listed_at("file:///%65tc/passwd")),
    Case("/proc/self/environ", "places", listed_at("file:/proc/self/environ")),
    Case("/dev/zero", "places", listed_at("/dev/zero")),
    Case("a way out by dots", "places", lambda v: v.edit(
        lambda d: d["snapshots"][-1].update({"manifest-list": f"{v.folder}/data/../../../../../../../../etc/passwd"}))),
    Case("a link to /etc/passwd", "places", linked("/etc/passwd")),
    Case("a link to /dev/zero", "places", linked("/dev/zero")),
    Case("a link to itself", "places", lambda v: linked(str(v.list))(v)),
    Case("a pipe", "places", pipe),
    Case("a folder", "places", folder),
    Case("no Parquet", "parquet", rows_case(lambda v: b"PAR1" + b"x" * 100 + b"PAR1")),
    Case("a footer of 4 GB", "parquet", rows_case(footer_length(0xFFFFFFFF))),
    Case("a footer of no bytes", "parquet", rows_case(footer_length(0))),
    Case("a damaged footer", "parquet", rows_case(other_types)),
    Case("text that is no UTF-8", "parquet", rows_case(not_text)),
    Case("a footer of blobs that are numbers", "puffin", vector_case(lambda: vector_file(b"", b'{"blobs": [1]}'), 3)),
    Case("a footer that nests", "puffin", vector_case(lambda: vector_file(b"", b"[" * 5000), 3)),
    Case("a vector at -1", "puffin", vector_case(lambda: vector_file(b""), 3, offset=-1)),
    Case("a vector of -1 bytes", "puffin", vector_case(lambda: vector_file(b""), 3, size=-1)),
    Case("a vector of 2^63 positions", "puffin", vector_case(lambda: vector_file(b""), 1 << 63)),
    Case("a vector of 2^60 bitmaps", "puffin", vector_case(lambda: vector_file(struct.pack("<Q", 1 << 60)), 3)),
    Case("a vector that is cut off", "puffin", vector_case(lambda: vector_file(roaring([everything()[:9000]])), 3)),
]  # fmt: skip
