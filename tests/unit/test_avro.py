"""The Avro container: every codec, and files made to crash, hang or fill the memory."""

from __future__ import annotations

import io
import json
import time

import fastavro
import pytest

from explorer.errors import UnreadableFile
from explorer.storage import limits, polars_decoder
from explorer.storage.formats import avro

SCHEMA = {
    "type": "record",
    "name": "r",
    "fields": [{"name": "a", "type": "long"}, {"name": "b", "type": ["null", "string"]}],
}
ROWS = [{"a": i, "b": None if i % 3 else f"text {i}"} for i in range(1000)]


def written(codec: str = "deflate", schema: object = SCHEMA, rows: object = ROWS) -> bytes:
    out = io.BytesIO()
    fastavro.writer(out, schema, rows, codec=codec, sync_interval=2000)  # type: ignore[arg-type]
    return out.getvalue()


def header(schema: object) -> bytes:
    text = json.dumps(schema).encode()
    return (
        b"Obj\x01"
        + avro.write_long(1)
        + avro.write_long(11)
        + b"avro.schema"
        + avro.write_long(len(text))
        + text
        + b"\x00"
        + b"s" * 16
    )


@pytest.mark.parametrize("codec", ["null", "deflate", "zstandard", "bzip2", "xz", "snappy"])
def test_every_codec(codec: str) -> None:
    container = avro.open_container(written(codec), "f.avro")
    assert list(avro.records(container)) == ROWS
    assert polars_decoder.read_columns(container).to_dicts() == ROWS
    assert list(avro.records(container, 990, 5)) == ROWS[990:995]


def test_every_cut_is_told_and_keeps_what_is_whole() -> None:
    data, opened, kept = written(), 0, set()
    for cut in range(0, len(data), 97):
        try:
            container = avro.open_container(data[:cut], "f.avro")
        except UnreadableFile as error:
            assert "f.avro" in str(error)
            continue
        rows = list(avro.records(container))
        opened += 1
        kept.add(len(rows))
        assert rows == ROWS[: len(rows)]
        assert container.problems, cut
    assert opened > 10
    assert len(kept) == 3  # none, the first of three blocks, the first two


def test_every_flipped_byte_is_survived() -> None:
    data = written()
    told = refused = 0
    for at in range(0, len(data), 13):
        damaged = data[:at] + bytes([data[at] ^ 0xFF]) + data[at + 1 :]
        try:
            container = avro.open_container(damaged, "f.avro")
            rows = list(avro.records(container))
        except UnreadableFile as error:
            assert error.path == "f.avro"
            refused += 1
            continue
        told += bool(container.problems)
        assert len(rows) <= len(ROWS)
        assert len(rows) == len(ROWS) or container.problems, at
    assert refused > 10
    assert told > 10


def test_a_schema_that_contains_itself_is_refused() -> None:
    schema = {"type": "record", "name": "r", "fields": [{"name": "next", "type": ["null", "r"]}]}
    with pytest.raises(UnreadableFile, match="refers to itself"):
        avro.open_container(header(schema), "f.avro")


def test_a_deep_schema_is_refused() -> None:
    schema: object = "long"
    for i in range(200):
        schema = {"type": "record", "name": f"r{i}", "fields": [{"name": "a", "type": schema}]}
    with pytest.raises(UnreadableFile, match="nests deeper"):
        avro.open_container(header(schema), "f.avro")


def test_arrays_of_nothing_are_refused() -> None:
    schema = {"type": "record", "name": "r", "fields": [{"name": "a", "type": {"type": "array", "items": "null"}}]}
    with pytest.raises(UnreadableFile, match="empty items"):
        avro.open_container(header(schema), "f.avro")


def test_a_huge_count_does_not_hang() -> None:
    began = time.monotonic()
    body = avro.write_long(1 << 50) + avro.write_long(1) + b"\x00" + b"s" * 16
    container = avro.open_container(header(SCHEMA) + body, "f.avro")
    assert "claims" in container.problems[0].cause
    assert time.monotonic() - began < 30


def test_a_bomb_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "UNPACKED", 100_000)
    for codec in ("deflate", "zstandard", "bzip2", "xz"):
        rows = [{"a": 1, "b": "x" * 1_000_000}]
        container = avro.open_container(written(codec, rows=rows), "f.avro")
        assert not container.blocks
        assert "unpacks to more" in container.problems[0].cause
