"""Dictionaries, bloom filters and page indexes of Parquet files: read, judged, and damaged."""

from __future__ import annotations

import random
import struct
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from explorer.errors import UnreadableFile
from explorer.model.metadata import Schema
from explorer.queries.filters import filter_columns, parse_filter
from explorer.spec.scan.bloom import may_hold
from explorer.spec.scan.chunk_tests import Unread
from explorer.spec.scan.row_groups import GroupVerdict, row_groups
from explorer.spec.values.stored_values import column_decoder
from explorer.storage.formats.parquet import plain_footer, read_footer
from explorer.storage.formats.parquet_chunks import BLOOM, decode_part, read_parts
from explorer.storage.formats.thrift import Compact
from explorer.storage.storage import Storage

FIELDS = [
    {"id": 1, "name": "id", "required": False, "type": "long"},
    {"id": 2, "name": "name", "required": False, "type": "string"},
    {
        "id": 3,
        "name": "at",
        "required": False,
        "type": {"type": "struct", "fields": [{"id": 4, "name": "place", "required": False, "type": "string"}]},
    },
]
SCHEMA = Schema(0, (), {}, (), {"type": "struct", "fields": FIELDS})
GROUP = 20


def write(path: Path, **options: Any) -> bytes:
    """Two row groups, whose names both lie between 'a' and 'z'; ids 0 to 39 in order; places of a struct."""
    names = ["a", "z", *(f"n{i}" for i in range(18)), "a", "z", *(f"m{i}" for i in range(18))]
    place = pa.struct([pa.field("place", pa.string(), metadata={"PARQUET:field_id": "4"})])
    fields = [("id", pa.int64(), "1"), ("name", pa.string(), "2"), ("at", place, "3")]
    schema = pa.schema([pa.field(n, t, metadata={"PARQUET:field_id": i}) for n, t, i in fields])
    rows = {"id": range(40), "name": names, "at": [{"place": n[0]} for n in names]}
    pq.write_table(pa.table(rows, schema), path, row_group_size=GROUP, **options)
    return path.read_bytes()


def judged(path: Path, where: str, noted: list[str] | None = None) -> list[GroupVerdict]:
    storage = Storage([str(path.parent)])
    footer = read_footer(storage, str(path), [1, 2, 4])

    def read(part: Any, chunks: Any) -> Iterator[Any]:
        for found in read_parts(storage, str(path), part, chunks, footer):
            if noted is not None and isinstance(found, Unread):
                noted.append(found.cause)
            yield found

    bound = parse_filter(where, filter_columns(SCHEMA), null_too=True)
    return row_groups(bound, str(path), footer, read, {})


def test_what_decides(tmp_path: Path) -> None:
    path = tmp_path / "f.parquet"
    write(path, use_dictionary=["at.place"], bloom_filter_options={"name": {"ndv": 20, "fpp": 0.001}})
    for where, by in (
        ("id = 3", ["", "statistics"]), ("name = 'm3'", ["bloom filter", ""]), ("name > 'y'", ["", ""]),
        ("name IN ('m3', 'n4')", ["", ""]), ("name IN ('k', 'l')", ["bloom filter", "bloom filter"]),
        ("at.place = 'm'", ["dictionary", ""]), ("at.place LIKE 'n%'", ["", "dictionary"]),
        ("at.place = 'm' OR name = 'k'", ["", ""]), ("at.place = 'm' AND name = 'n1'", ["dictionary", "bloom filter"]),
        ("truncate(1, name) = 'm'", ["", ""]), ("name != 'a'", ["", ""]),
    ):  # fmt: skip
        assert [g.by for g in judged(path, where)] == by, where
    skipped = judged(path, "at.place = 'm'")[0].reason
    assert str(skipped) == "at.place = 'm': dictionary of 3 values: 'a', 'z', 'n'; 'm' is not among them"
    kept, skipped = (g.reason for g in judged(path, "name = 'n3'"))
    assert skipped.text == "bloom filter of 64 bytes: 'n3' is not in it"
    assert kept.text.endswith("no dictionary of all its values; bloom filter of 64 bytes: 'n3' may be in it")


def test_a_bloom_filter_whose_length_is_not_told(tmp_path: Path) -> None:
    """Older writers tell only where it begins: what follows is none of its bits."""
    path = tmp_path / "f.parquet"
    write(path, use_dictionary=False, bloom_filter_options={"name": {"ndv": 20, "fpp": 0.001}}, write_page_index=True)
    storage = Storage([str(tmp_path)])
    footer = read_footer(storage, str(path), [2])
    for group in footer["row_groups"]:
        [(start, _)] = group["columns"][1]["parts"]["bloom filter"]
        group["columns"][1]["parts"]["bloom filter"] = [(start, BLOOM)]
    for name, keeps in (("n3", [True, False]), ("m17", [False, True]), ("a", [True, True])):
        bound = parse_filter(f"name = '{name}'", filter_columns(SCHEMA), null_too=True)
        found = row_groups(bound, str(path), footer, partial(read_parts, storage, str(path), footer=footer), {})
        assert [g.keeps for g in found] == keeps


def test_a_footer_too_large_to_be_looked_through(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "f.parquet"
    whole = write(path)
    monkeypatch.setattr("explorer.storage.formats.parquet.MAX_PLACES", 100)
    found = plain_footer(whole[-int.from_bytes(whole[-8:-4], "little") - 8 :], [1])
    assert "is looked through up to 100" in found["row_groups"][0]["columns"][0]["unread"]


@pytest.mark.parametrize(("kind", "physical", "logical", "known"), [
    ("int", "INT32", "", True), ("int", "INT64", "", False), ("long", "INT32", "", True),
    ("string", "INT32", "", False),
    ("int", "INT32", "Int(bitWidth=32, isSigned=false)", False), ("geometry(OGC:CRS84)", "BYTE_ARRAY", "", False),
])  # fmt: skip
def test_columns_that_are_stored_otherwise_than_iceberg_does(
    kind: str, physical: str, logical: str, known: bool
) -> None:
    assert (column_decoder({"type": physical, "logical_type": logical}, kind) is not None) == known


def test_pages(tmp_path: Path) -> None:
    path = tmp_path / "f.parquet"
    write(path, write_page_index=True, max_rows_per_page=5, use_dictionary=False)
    one, two = judged(path, "id = 7 AND name > 'a'")
    assert one.pages is not None
    assert one.pages.columns == (("id", 4, 1), ("name", 4, 1))
    assert (one.pages.rows, one.pages.reason) == (5, "rows 0 to 4: id = 7: its values end at 4")
    assert two.pages is None
    write(path, use_dictionary=False)
    assert [g.pages.reason for g in judged(path, "name = 'm1'") if g.pages] == ["no page index"] * 2


@pytest.mark.parametrize("codec", ["none", "snappy", "gzip", "zstd", "brotli", "lz4"])
def test_codecs(tmp_path: Path, codec: str) -> None:
    path = tmp_path / "f.parquet"
    write(path, compression=codec)
    noted: list[str] = []
    assert [g.by for g in judged(path, "name = 'm3'", noted)] == ["dictionary", ""], noted


def test_damage_keeps(tmp_path: Path) -> None:
    """Bytes that are lost or changed: the row groups that hold the row are read, or the footer is refused; what is
    wrong is said. Not of a bloom filter's own bits, of which any may be right."""
    path = tmp_path / "f.parquet"
    options = {
        "bloom_filter_options": {"name": True},
        "write_page_checksum": True,
        "use_dictionary": ["id", "at.place"],
    }
    whole = write(path, **options, write_page_index=True)
    footer = read_footer(Storage([str(tmp_path)]), str(path), [1, 2, 4])
    parts = [g["columns"][c]["parts"] for g in footer["row_groups"] for c in (0, 1)]
    rng = random.Random(1)
    for kind, wanted, where in (("dictionary", 0, "id = 25"), ("bloom filter", 1, "name = 'm3'")):
        start, length = parts[2 + wanted][kind][0]
        length = length if kind == "dictionary" else 12
        said = set()
        for _ in range(40):
            data = bytearray(whole)
            data[start + rng.randrange(length)] ^= 1 << rng.randrange(8)
            path.write_bytes(data)
            noted: list[str] = []
            assert judged(path, where, noted)[1].keeps, noted
            said.update(noted)
        assert said


def test_a_damaged_footer_is_refused_or_keeps(tmp_path: Path) -> None:
    path = tmp_path / "f.parquet"
    whole = write(path, write_page_index=True, bloom_filter_options={"name": True})
    length = int.from_bytes(whole[-8:-4], "little")
    rng = random.Random(2)
    for _ in range(30):
        data = bytearray(whole)
        data[-8 - rng.randrange(length) - 1] ^= 1 << rng.randrange(8)
        path.write_bytes(data)
        try:
            groups = judged(path, "name = 'm3' AND id < 60")
        except UnreadableFile:
            continue
        assert all(g.reason.text for g in groups)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "ends early"), (b"\x15", "ends early"), (b"\x18\xff\xff\xff\xff\x0f", "ends early"),
        (b"\x19\xf5\xff\xff\xff\xff\x0f", "items in"), (b"\x15" + b"\xff" * 12, "does not end"),
        (b"\x1c" * 40, "nest deeper"), (b"\x19\x1c" * 40, "nest deeper"), (b"\x1f\x00", "type 15"),
    ],
)  # fmt: skip
def test_thrift_that_is_none(data: bytes, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        Compact(data).struct()


def test_thrift() -> None:
    data = b"\x15\x03\x11\x12\x18\x02ab\x19\x25\x02\x04\x1b\x01\x58\x02\x01k\x00"
    assert Compact(data).struct() == {1: -2, 2: True, 3: False, 4: b"ab", 5: [1, 2], 6: [1, b"k"]}


@pytest.mark.parametrize(
    ("size", "packed", "count", "says"),
    [
        (1 << 30, 8, 1, "unpacked"), (8, 200, 1, "a dictionary page of"),
        (8, 8, 2, "a dictionary of 2 values in 8 bytes"),
        (8, 8, 1 << 20, "at most 524,288 are read"), (16, 8, 2, "not compressed"),
    ],
)  # fmt: skip
def test_dictionary_pages_that_lie(size: int, packed: int, count: int, says: str) -> None:
    def number(n: int) -> bytes:
        n, out = n << 1, b""
        while n > 127:
            n, out = n >> 7, out + bytes([n & 127 | 128])
        return out + bytes([n])

    head = b"\x15\x04\x15" + number(size) + b"\x15" + number(packed)
    head += b"\x4c\x15" + number(count) + b"\x15\x00\x00\x00"
    told = {"codec": 0, "type": "INT64", "length": 0}
    with pytest.raises(ValueError, match=says):
        decode_part(head + struct.pack("<q", 7), "dictionary", [], told)


def test_bits() -> None:
    bits = bytearray(64)
    assert not may_hold(bytes(bits), b"x")
    assert may_hold(b"\xff" * 64, b"x")


def test_columns_that_a_file_lacks(tmp_path: Path) -> None:
    path = tmp_path / "f.parquet"
    write(path)
    whole = judged(path, "")
    assert [(g.keeps, str(g.reason), g.pages) for g in whole] == [(True, "Iceberg is asked for every row", None)] * 2
    pq.write_table(pa.table({"other": pa.array([1, 2])}), path)  # of a file without field ids nobody knows
    assert [str(g.reason) for g in judged(path, "id = 1")] == ["id = 1: the file's columns have no field ids"]
    field = pa.field("other", pa.int64(), metadata={"PARQUET:field_id": "9"})
    pq.write_table(pa.table({"other": [1, 2]}, pa.schema([field])), path)
    (group,) = judged(path, "id = 1")
    assert str(group.reason) == "id = 1: id is null in all rows (the file has no such column)"
    assert judged(path, "id IS NULL")[0].keeps
    storage = Storage([str(tmp_path)])
    for where, keeps in (("id = 7", True), ("id = 8", False), ("id != 7", False), ("id IS NULL", False)):
        bound = parse_filter(where, filter_columns(SCHEMA), null_too=True)
        footer = read_footer(storage, str(path), [1])
        (group,) = row_groups(bound, str(path), footer, lambda *_: iter(()), {1: 7})
        assert group.keeps == keeps, where
    for default in ("abc", {"a": 1}, 1 << 70):
        footer = read_footer(storage, str(path), [1])
        (group,) = row_groups(bound, str(path), footer, lambda *_: iter(()), {1: default})
        assert (group.keeps, "does not fit its type" in group.reason.text) == (True, True)
